//! `session-reader search` in the transcripts of subagents: what they said and did belongs to their session.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::script::Script;
use crate::support::world::{ONE, TWO, World};

/// A session that asked a subagent, and one that did not.
fn world() -> (World, PathBuf) {
    let world = World::new();
    let file = Script::of(&world)
        .ago(30)
        .user("Why does the webhook fail?")
        .says("I let others look.")
        .save(&world, ONE);
    let subagent = Script::of(&world)
        .ago(20)
        .user("Look into the retry of the webhook")
        .says("A heron blocks the lock.");
    let subagent = of_subagent(
        &subagent
            .does("Bash", json!({"command": "make otter"}))
            .text(),
    );
    let subagent = world.write(
        file.with_extension("").join("subagents/agent-a1.jsonl"),
        subagent,
    );
    Script::of(&world)
        .ago(10)
        .user("Only the webhook here.")
        .save(&world, TWO);
    (world, subagent)
}

fn of_subagent(lines: &str) -> String {
    lines.replace("\"type\":", "\"isSidechain\":true,\"type\":")
}

/// What a search prints as JSON; with and without the cache it is the same.
fn hits(world: &World, args: &[&str]) -> Vec<Value> {
    let search = |more: &[&str]| {
        world
            .reader(&[&["search", "--json"], args, more].concat())
            .run()
            .json()
    };
    let hits = search(&[]);
    assert_eq!(search(&["--no-cache"]), hits, "{args:?}");
    assert_eq!(search(&[]), hits, "{args:?} from the cache");
    hits
}

/// The sessions and lines of what is found; `a1` stands before a line of the subagent.
fn found(world: &World, args: &[&str]) -> Vec<String> {
    let place = |hit: &Value| {
        let file = hit["path"].as_str().map_or("", |path| {
            if path.ends_with("agent-a1.jsonl") {
                "a1:"
            } else {
                "?:"
            }
        });
        assert_eq!(hit.get("subagent").is_some(), !file.is_empty());
        format!(
            "{} {file}{}",
            hit["handle"].as_str().expect("a handle"),
            hit["line"]
        )
    };
    hits(world, args).iter().map(place).collect()
}

#[test]
fn it_is_found_in_its_session() {
    let (world, subagent) = world();
    assert_eq!(found(&world, &["heron"]), ["11111111 a1:2"]);
    assert_eq!(
        found(&world, &["webhook"]),
        ["22222222 1", "11111111 1", "11111111 a1:1"]
    );
    assert_eq!(found(&world, &["webhook", "--file", "nosuch"]), [""; 0]);
    assert_eq!(
        found(&world, &["otter", "--since", "1d"]),
        ["11111111 a1:3"]
    );
    // Which transcript of a session has a word makes no difference.
    assert_eq!(
        found(&world, &["others", "heron"]),
        ["11111111 a1:2", "11111111 2"]
    );
    assert_eq!(
        found(&world, &["only", "heron"]),
        ["22222222 1", "11111111 a1:2"]
    );
    // What a subagent is asked, its agent wrote.
    assert_eq!(
        found(&world, &["webhook", "--role", "user"]),
        ["22222222 1", "11111111 1"]
    );
    assert_eq!(
        found(&world, &["heron", "--role", "assistant"]),
        ["11111111 a1:2"]
    );
    let hit = json!({
        "session": ONE, "handle": "11111111", "agent": "claude", "title": "Why does the webhook fail?", "subagent": true,
        "path": subagent, "line": 2, "time": "2026-11-16T02:40:00.000Z", "role": "assistant", "kind": "text",
        "text": "A heron blocks the lock.",
    });
    assert_eq!(hits(&world, &["heron"]), [hit]);
}

/// A session that was copied to another project has the same id there; its subagents stayed where they were.
#[test]
fn a_copy_of_a_session_has_no_subagents() {
    let (world, _) = world();
    let other = world.path("other");
    fs::create_dir(&other).expect("a directory");
    Script::new(other.clone())
        .ago(5)
        .user("Why does the webhook fail?")
        .save(&world, ONE);
    world
        .reader(&["search", "fail", "--json"])
        .dir(&other)
        .run()
        .status(0);
    world
        .reader(&["search", "heron", "--json"])
        .dir(&other)
        .run()
        .status(1)
        .stdout("");
}

/// Each transcript of a session is opened by a command of its own.
#[test]
fn each_transcript_is_opened_by_its_own_command() {
    let (world, subagent) = world();
    world
        .reader(&["search", "lock", "-C", "1"])
        .run()
        .success()
        .stdout(concat!(
            "11111111  claude  30m  Why does the webhook fail?\n",
            "     1  2026-11-16 02:40  subagent   Look into the retry of the webhook\n",
            ">    2  2026-11-16 02:40  subagent   A heron blocks the lock.\n",
            "     3  2026-11-16 02:40  subagent   [Bash make otter]\n",
            "  session-reader log agent-a1 --at 2\n",
        ));
    // A command stands below what it opens.
    world
        .reader(&["search", "others", "heron"])
        .run()
        .success()
        .stdout(concat!(
            "11111111  claude  30m  Why does the webhook fail?\n",
            "     2  2026-11-16 02:40  subagent   A heron blocks the lock.\n",
            "  session-reader log agent-a1 --at 2\n",
            "     2  2026-11-16 02:30  assistant  I let others look.\n",
            "  session-reader log 11111111 --at 2\n",
        ));
    let log = |name: &str| world.reader(&["log", name, "--at", "2", "-C", "0"]).run();
    let said = "2026-11-16 02:40  assistant  A heron blocks the lock.\n";
    log("agent-a1").success().stdout(said);
    log(subagent.to_str().expect("UTF-8"))
        .success()
        .stdout(said);
}

/// A subagent is found by the name of its file, by the id in there, and by the beginning of one; none other may have it.
#[test]
fn a_subagent_is_found_by_its_name_and_id() {
    let (world, subagent) = world();
    let long = subagent.with_file_name("agent-aea06f95535ea803b.jsonl");
    fs::rename(&subagent, &long).expect("renamed");
    let log = |name: &str| world.reader(&["log", name, "--at", "2", "-C", "0"]).run();
    let said = "2026-11-16 02:40  assistant  A heron blocks the lock.\n";
    for name in [
        "agent-aea06f95535ea803b",
        "aea06f95535ea803b",
        "agent-aea0",
        "aea06f95",
    ] {
        log(name).success().stdout(said);
    }
    log("agent-aea07")
        .status(2)
        .stdout("")
        .stderr_has("no session is called 'agent-aea07'");
    let search = || {
        world
            .reader(&["search", "heron"])
            .run()
            .success()
            .out()
            .to_owned()
    };
    assert!(
        search().ends_with("  session-reader log agent-aea06f95535ea803b --at 2\n"),
        "{}",
        search()
    );
    // With one more of that name, its path is what tells it; a shell takes it as one word.
    let project = world.path(".claude/projects/my work");
    fs::rename(long.ancestors().nth(3).expect("a project"), &project).expect("renamed");
    let copy = format!(".claude/projects/other/{TWO}/subagents/agent-aea06f95535ea803b.jsonl");
    world.write(
        copy,
        of_subagent(&Script::of(&world).ago(20).says("A stork.").text()),
    );
    let path =
        format!("~/'.claude/projects/my work/{ONE}/subagents/agent-aea06f95535ea803b.jsonl'");
    assert!(
        search().ends_with(&format!("  session-reader log {path} --at 2\n")),
        "{}",
        search()
    );
    let both = log("agent-aea06f95535ea803b").status(2).stdout("");
    both.stderr_has(
        "'agent-aea06f95535ea803b' fits 2 sessions; name one of them:\n  ~/.claude/projects/",
    );
}

#[test]
fn what_it_wrote_just_now_is_found_and_what_is_gone_is_not_kept() {
    let (world, subagent) = world();
    let cache = world.path(".cache/session-monitor/said.bin");
    assert_eq!(found(&world, &["lynx"]), [""; 0]);
    world.append(
        &subagent,
        of_subagent(&Script::of(&world).ago(1).says("And a lynx.").text()),
    );
    assert_eq!(found(&world, &["lynx"]), ["11111111 a1:5"]);
    let late = subagent.with_file_name("agent-a2.jsonl");
    fs::rename(&subagent, &late).expect("renamed");
    assert_eq!(hits(&world, &["heron"])[0]["path"], json!(late));
    fs::remove_file(&late).expect("removed");
    assert_eq!(found(&world, &["heron"]), [""; 0]);
    let kept = fs::read(&cache).expect("a cache");
    assert!(
        !kept.windows(5).any(|word| word == b"heron"),
        "what was deleted is gone"
    );
}

/// One that cannot be read hides nothing else, whether it is decoded or not.
#[test]
fn one_that_cannot_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let (world, subagent) = world();
    fs::set_permissions(&subagent, fs::Permissions::from_mode(0o000)).expect("no rights");
    for args in [
        &["others"][..],
        &["others", "--no-cache"],
        &["only", "--no-cache"],
        &["heron", "--no-cache"],
    ] {
        let done = world
            .reader(&[&["search"], args].concat())
            .without_rights()
            .run();
        assert!(
            done.err().contains("agent-a1.jsonl"),
            "{args:?}: {}",
            done.err()
        );
        assert_eq!(
            done.out().contains("I let others look."),
            args[0] == "others",
            "{args:?}"
        );
    }
}
