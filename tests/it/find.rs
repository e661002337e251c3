//! `session-reader find`, printed: what fits, in which order, and what a script gets. The screen is in `watch_tmux.rs`.

use serde_json::json;

use crate::support::script::Script;
use crate::support::world::{ME, ONE, THREE, TWO, World};

/// The newest first: one that is called so, one that says it, one that says it in part, and one of another project.
fn several() -> World {
    let world = World::new();
    Script::of(&world)
        .ago(40)
        .user("Round the checkout tax")
        .says("Done.")
        .save(&world, ONE);
    Script::of(&world)
        .ago(30)
        .user("Look at the prices")
        .says("The tax of the checkout is added twice.")
        .does(
            "Edit",
            json!({"file_path": world.path("work/src/core/ask/prices.rs")}),
        )
        .user("Fix that")
        .save(&world, TWO);
    Script::of(&world)
        .ago(20)
        .user("Rename it")
        .says("It is called applyCheckoutTax now.")
        .save(&world, THREE);
    Script::new(world.path("shop"))
        .ago(10)
        .user("Write the release notes")
        .says("A lighthouse is in them.")
        .save(&world, ME);
    world
}

/// The sessions that are printed, by the first digit of their names.
fn found(world: &World, typed: &[&str]) -> String {
    let done = world
        .reader(&[&["find", "--print"], typed].concat())
        .process()
        .run();
    let names = done.out().lines().map(|line| line.chars().next());
    names.map(|name| name.unwrap_or(' ')).collect()
}

#[test]
fn what_fits_and_in_which_order() {
    let world = several();
    let me = &ME[..1];
    for (typed, expected) in [
        // The title first, then the whole word, then a part of one.
        (&["tax"][..], "123"),
        (&["TAX"], "123"),
        (&["checkout", "tax"], "123"),
        (&["tax", "checkout"], "123"),
        (&["ax"], ""),
        (&["ta"], "12"),
        // All words, wherever they are.
        (&["tax", "twice"], "2"),
        (&["tax", "prices"], "2"),
        (&["prices", "lighthouse"], ""),
        (&["checkout tax"], "1"),
        (&["tax of the"], "2"),
        // One wrong letter in five or more, after all others.
        (&["chekcout"], "123".split_at(2).0),
        (&["twicee", "tax"], "2"),
        (&["twixx"], ""),
        (&["txa"], ""),
        // Humps and paths.
        (&["CheTax"], "3"),
        (&["appTax"], "3"),
        (&["src/prices"], "2"),
        (&["ask/prices.rs"], "2"),
        (&["prices/ask"], ""),
        // Ids, agents and directories; other projects only where nothing fits here.
        (&["22222222"], "2"),
        (&["222"], ""),
        (&["claude", "tax"], "123"),
        (&["work", "lighthouse"], ""),
        (&["lighthouse"], me),
        (&["shop"], me),
        (&["shop", "relase"], me),
        (&["--all", "claude"], &format!("{me}321")),
        (&["claude"], "321"),
        (&["nowhere"], ""),
    ] {
        assert_eq!(found(&world, typed), expected, "{typed:?}");
    }
    // Nothing typed: by recency.
    assert_eq!(found(&world, &[]), "321");
    assert_eq!(found(&world, &["--all"]), format!("{me}321"));
}

#[test]
fn the_newest_first_where_they_fit_equally_well() {
    let world = World::new();
    for (id, minutes) in [(ONE, 30), (TWO, 10), (THREE, 20)] {
        Script::of(&world)
            .ago(minutes)
            .user("Look around")
            .says("An otter swims here.")
            .save(&world, id);
    }
    assert_eq!(found(&world, &["otter"]), "231");
    assert_eq!(found(&world, &["ottr"]), "");
    assert_eq!(found(&world, &["ottre"]), "231");
    // What was just said is found.
    world.append(
        world.transcript(ONE),
        Script::of(&world).ago(1).user("A badger, too.").text(),
    );
    assert_eq!(found(&world, &["otter"]), "123");
    assert_eq!(found(&world, &["badger"]), "1");
    // Words that stand together are worth more.
    world.append(
        world.transcript(TWO),
        Script::of(&world)
            .ago(5)
            .user("An otter and a badger.")
            .text(),
    );
    assert_eq!(found(&world, &["badger", "otter"]), "21");
}

#[test]
fn lines_directories_and_objects() {
    let world = several();
    world
        .reader(&["find", "tax", "--print"])
        .run()
        .success()
        .stdout(concat!(
            "11111111  Round the checkout tax\n",
            "22222222  Fix that\n",
            "33333333  Rename it\n",
        ));
    // Where nobody can pick, the newest is what one gets.
    world
        .reader(&["find", "--cwd"])
        .process()
        .run()
        .success()
        .stdout(&format!("{}\n", world.path("work").display()));
    world
        .reader(&["find", "--cwd", "lighthuose"])
        .run()
        .success()
        .stdout(&format!("{}\n", world.path("shop").display()));
    let found = world
        .reader(&["find", "twice", "tax", "--json"])
        .run()
        .success()
        .json();
    assert_eq!(
        found,
        [json!({
            "session": TWO,
            "handle": "22222222",
            "agent": "claude",
            "title": "Fix that",
            "cwd": world.path("work"),
            "updated": "2026-11-16T02:30:00.000Z",
            "path": world.transcript(TWO),
            "line": 2,
            "text": "The tax of the checkout is added twice.",
        })]
    );
    for flags in [&["--print"][..], &["--cwd"], &["--json"], &[]] {
        world
            .reader(&[&["find", "nowhere"], flags].concat())
            .run()
            .status(1)
            .stdout("")
            .stderr("session-reader: no session on this machine fits all of this\n");
    }
    World::new()
        .reader(&["find", "--print"])
        .process()
        .run()
        .status(1)
        .stderr("session-reader: no sessions yet; `session-reader formats` shows where they are looked for\n");
    world.reader(&["find", "  "]).run().status(2).stderr(
        "session-reader: nothing to look for: give a word, or none for the newest sessions\n",
    );
    world.reader(&["find", "--cwd", "--print"]).run().status(2);
}

#[test]
fn what_a_subagent_said_is_its_sessions() {
    let world = World::new();
    let file = Script::of(&world)
        .ago(5)
        .user("pick a queue")
        .save(&world, ONE);
    let subagent = Script::of(&world).ago(4).says("A heron blocks the lock.");
    let subagent = subagent
        .text()
        .replace("\"type\":", "\"isSidechain\":true,\"type\":");
    let path = file.with_extension("").join("subagents/agent-a1.jsonl");
    world.write(&path, subagent);
    let found = world.reader(&["find", "heron", "--json"]).run().success();
    let found = &found.json()[0];
    assert_eq!(
        [&found["session"], &found["subagent"], &found["path"]],
        [&json!(ONE), &json!(true), &json!(path)]
    );
}

/// Titles, lines and directories are written by strangers.
#[test]
fn nothing_from_a_transcript_reaches_the_terminal_as_it_is() {
    let world = World::new();
    let hostile = "An otter\u{1b}]0;owned\u{7}\u{1b}[2J\rand\u{202e} a\u{9b}31m badger";
    Script::of(&world).ago(5).user(hostile).save(&world, ONE);
    let done = world.reader(&["find", "otter", "--print"]).run().success();
    let line = done.out().strip_suffix('\n').expect("a line");
    assert!(
        line.starts_with("11111111  An otter")
            && !line.contains(|char: char| char.is_control() || char == '\u{202e}'),
        "{line:?}"
    );
    let done = world.reader(&["find", "otter", "--json"]).run().success();
    assert!(
        !done.out().trim_end().contains(char::is_control),
        "{:?}",
        done.out()
    );
    // A shell would get it as it is, or not at all; and from where it is, `-` and `..` lead elsewhere.
    for odd in ["/a\u{1b}[2Jb", "-", "../.."] {
        let world = World::new();
        Script::new(odd.into())
            .ago(5)
            .user("An otter")
            .save(&world, ONE);
        world
            .reader(&["find", "otter", "--all", "--cwd"])
            .run()
            .status(2)
            .stdout("")
            .stderr("session-reader: the directory of 11111111 has something in its name that must not be shown\n");
    }
}

/// A damaged cache only costs time.
#[test]
fn a_damaged_cache_hides_nothing() {
    let world = several();
    assert_eq!(found(&world, &["tax"]), "123");
    let path = world.path(".cache/session-monitor/said.bin");
    let whole = std::fs::read(&path).expect("a cache");
    for at in (0..whole.len()).step_by(97) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x20;
        std::fs::write(&path, &bytes).expect("written");
        let done = world.reader(&["find", "tax", "--print"]).run().success();
        assert_eq!(done.out().lines().count(), 3, "{at}");
        std::fs::write(&path, &whole[..at]).expect("written");
        let done = world.reader(&["find", "tax", "--print"]).run().success();
        assert_eq!(done.out().lines().count(), 3, "cut at {at}");
    }
}
