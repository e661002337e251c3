//! `session-context name`: the user's own title for a session, of any agent, which every command shows.

use std::path::PathBuf;

use crate::support::claude::{answer, call, prompt, runs};
use crate::support::hook::{statusline, told_to};
use crate::support::times::ago;
use crate::support::world::{ME, ONE, TWO, World};

/// A session that has a title of its client, and one that has none.
fn shop() -> World {
    let world = World::new();
    let cwd = world.path("work");
    let titled = r#"{"type":"custom-title","customTitle":"their own"}"#.to_owned() + "\n";
    let log = prompt(&cwd, &ago(6), "make the total include tax")
        + &titled
        + &answer(&cwd, &ago(5), "It does.")
        + &prompt(&cwd, &ago(3), "and the webhook?");
    world.claude(ONE, &log);
    world.claude(TWO, &prompt(&cwd, &ago(9), "look at the queue"));
    world
}

/// The notes file of the project.
fn notes(world: &World) -> PathBuf {
    let dir = world.path(".data/session-monitor/projects");
    let mut files = std::fs::read_dir(dir).expect("notes");
    files.next().expect("one file").expect("a file").path()
}

#[test]
fn every_command_shows_it() {
    let world = shop();
    world
        .context(&["name", "11111111", "checkout", "tax"])
        .run()
        .success()
        .stdout(&format!("{ONE} is called 'checkout tax' now.\n"));
    let line = std::fs::read_to_string(notes(&world)).expect("notes");
    assert!(
        line.ends_with(&format!("\nname {ONE}: checkout tax\n")),
        "{line}"
    );
    let shows = |args: &[&str], line: &str| {
        let done = world.reader(args).run().success();
        let is_there = done.out().lines().any(|shown| shown.trim_end() == line);
        assert!(is_there, "{args:?}: {line}\n{}", done.out());
        assert!(!done.out().contains("their own"), "{}", done.out());
    };
    // With and without what is kept from before.
    for _ in 0..2 {
        shows(
            &["list"],
            "11111111  claude  working   3m     3      1k  checkout tax",
        );
    }
    shows(
        &["watch", "--once"],
        "▌ checkout tax  claude   3m  last seen thinking · make the total include tax",
    );
    shows(
        &["resume", "checkout tax"],
        &format!("Session     {ONE} (claude), checkout tax"),
    );
    shows(&["search", "webhook"], "11111111  claude  3m  checkout tax");
    shows(&["search", "tax"], "11111111  claude  3m  checkout tax");
    // It finds the session.
    shows(
        &["log", "check", "--lines", "1"],
        "2026-11-16 02:57  user       and the webhook?",
    );
    assert!(
        told_to(&world, ME).contains(r#"- "checkout tax" (3m ago, 3 messages): "#),
        "{}",
        told_to(&world, ME)
    );
    let file = world.transcript(ONE);
    let before = std::fs::read_to_string(&file).expect("a transcript");
    std::fs::write(&file, before + &call(&ago(1), "c1", "rm -rf build")).expect("written");
    runs(&world, ONE, "waiting", "permission prompt");
    let line = r#"1 needs you: "checkout tax" (permission: Bash rm -rf build)"#;
    statusline(&world, &[])
        .run()
        .success()
        .stdout(&format!("{line}\n"));
    shows(
        &["status"],
        r#"1 needs you · "checkout tax": permission: Bash rm -rf bui…"#,
    );
}

#[test]
fn it_can_be_changed_and_taken_back() {
    let world = shop();
    let name = |args: &[&str]| world.context(&[&["name"], args].concat()).run();
    let title = || {
        let rows = world.reader(&["list", "--json"]).run().success().json();
        rows[0]["title"].as_str().expect("a title").to_owned()
    };
    name(&["11111111", "one"]).success();
    name(&["one", "two: the second"])
        .success()
        .stdout(&format!("{ONE} is called 'two: the second' now.\n"));
    name(&["11111111", "two: the second"])
        .success()
        .stdout(&format!("{ONE} is called 'two: the second' already.\n"));
    assert_eq!(title(), "two: the second");
    let text = std::fs::read_to_string(notes(&world)).expect("notes");
    assert_eq!(text.matches("\nname ").count(), 1, "{text}");
    // A person changes it in the file, with a shorter id.
    let changed = text.replace(
        &format!("name {ONE}: two: the second"),
        "- name 11111111 : three",
    );
    std::fs::write(notes(&world), changed).expect("written");
    assert_eq!(title(), "three");
    name(&["three", "--clear"])
        .success()
        .stdout(&format!("{ONE} is no longer called 'three'.\n"));
    assert_eq!(title(), "their own");
    name(&["11111111", "--clear"])
        .status(1)
        .stderr(&format!("session-context: {ONE} has no name of yours\n"));
    name(&["11111111"]).status(2);
    name(&["11111111", "x", "--clear"]).status(2);
    name(&["11111111", " "])
        .status(2)
        .stderr("session-context: a name has to have something in it; --clear takes one back\n");
    name(&["nobody", "x"]).status(2);
}

/// A title is one line without anything that a terminal would obey, also where it was typed.
#[test]
fn a_hostile_title_is_one_line_of_text() {
    let world = shop();
    let title = "a\nname 22222222: b\u{1b}[31m\u{7}\u{202e}c";
    world.context(&["name", ONE, title]).run().success();
    let text = std::fs::read_to_string(notes(&world)).expect("notes");
    assert_eq!(text.matches("\nname ").count(), 1, "{text:?}");
    let list = world.reader(&["list"]).run().success();
    let rows: Vec<&str> = list.out().lines().collect();
    assert_eq!(rows.len(), 3, "{}", list.out());
    assert!(rows[2].ends_with("look at the queue"), "{}", list.out());
    assert!(
        !list.out().contains(['\u{1b}', '\u{7}', '\u{202e}']),
        "{:?}",
        list.out()
    );
}

/// While it is open, what its client calls it is a name for it; the user's own comes first.
#[test]
fn the_name_of_its_client_counts() {
    let world = shop();
    runs(&world, TWO, "idle", "");
    let file = format!(".claude/sessions/{TWO}.json");
    let mut said: serde_json::Value = serde_json::from_str(&world.read(&file)).expect("JSON");
    said["name"] = "shop-1d".into();
    world.write(&file, said.to_string());
    let watched = world.reader(&["watch", "--once"]).run().success();
    assert!(watched.out().contains("shop-1d"), "{}", watched.out());
    let named = world.reader(&["log", "shop-1d"]).run().success();
    assert!(named.out().contains("look at the queue"), "{}", named.out());
    world
        .context(&["name", "shop-1d", "the queue"])
        .run()
        .success()
        .stdout(&format!("{TWO} is called 'the queue' now.\n"));
    let watched = world.reader(&["watch", "--once"]).run().success();
    let shown = watched.out();
    assert!(
        shown.contains("the queue") && !shown.contains("shop-1d"),
        "{shown}"
    );
}
