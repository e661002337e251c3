//! A file of ours that cannot be read is named, and the rest is shown.

use crate::support::claude::prompt;
use crate::support::world::{ONE, World};

/// A directory in the place of a file: nobody can read it, not even root.
fn unreadable(world: &World, below: &str) -> String {
    world.write(format!("{below}/x"), "");
    world.path(below).display().to_string()
}

#[test]
fn the_list_names_a_notes_file_that_it_cannot_read() {
    let world = World::new();
    world.claude(
        ONE,
        &prompt(
            &world.path("work"),
            "2026-11-16T02:00:00Z",
            "fix the login page",
        ),
    );
    let listed = world.reader(&["list"]).run().success();
    let notes = unreadable(&world, ".data/session-monitor/projects/other.md");
    let again = world.reader(&["list"]).run().status(2);
    assert_eq!(again.out(), listed.out());
    again.stderr(&format!("session-reader: {notes}: is a directory\n"));
}

/// A session is found and muted, whatever is wrong with another one; and what is wrong is said once.
#[test]
fn another_file_is_no_failure_of_a_command_that_worked() {
    let world = World::new();
    world.claude(
        ONE,
        &prompt(
            &world.path("work"),
            "2026-11-16T02:00:00Z",
            "fix the login page",
        ),
    );
    let bad = unreadable(
        &world,
        ".claude/projects/-bad/22222222-0000-4000-8000-000000000002.jsonl",
    );
    let said = format!("session-context: {bad}: is a directory\n");
    for args in [
        &["mute", "fix the login page"][..],
        &["unmute", "last"],
        &["tag", "x", "--session", "last"],
    ] {
        let done = world.context(args).run().status(0);
        assert!(["", &said].contains(&done.err()), "{}", done.err());
    }
    let explained = world.context(&["explain", "fix the login page"]).run();
    assert!(
        explained.err().matches(&bad).count() <= 1,
        "{}",
        explained.err()
    );
    world.context(&["mute", ONE]).run().status(0);
    let muted = format!(
        "{ONE} (claude) would be told nothing: it is muted; `session-context unmute {ONE}` undoes that.\n"
    );
    world.context(&["explain", ONE]).run().stdout(&muted);
}

/// Variables of no use are said, and what is used instead.
#[test]
fn bad_variables_are_said() {
    let world = World::new();
    world.claude(
        ONE,
        &prompt(
            &world.path("work"),
            "2026-11-16T02:00:00Z",
            "fix the login page",
        ),
    );
    let said = "session-reader: TZ=Mars/Phobos: not a known time zone; UTC is used\n";
    world
        .reader(&["last"])
        .env("TZ", "Mars/Phobos")
        .run()
        .status(0)
        .stderr(said);
    let said = "session-reader: SESSION_MONITOR_NOW=soon: not a time like 2026-11-16T12:00:00Z; the clock is used\n";
    world
        .reader(&["last"])
        .env("SESSION_MONITOR_NOW", "soon")
        .run()
        .status(0)
        .stderr(said);
}

/// An agent that is not there is not there for `formats`, `doctor` and `install` alike.
#[test]
fn an_agent_that_is_not_there_is_there_for_no_command() {
    let world = World::new();
    let formats = world.reader(&["formats"]).run().success();
    assert!(!formats.out().contains("0 sessions"), "{}", formats.out());
    let pi = r#"{"type":"message","id":"p1","timestamp":"2026-11-01T00:00:00Z","message":{"role":"user","content":"hello"}}"#;
    world.write(
        "work/.volute/pi-sessions/main/1_eeeeeeee-0000.jsonl",
        format!("{pi}\n"),
    );
    let doctor = world.context(&["doctor"]).run();
    assert!(
        doctor.out().contains("no hook; there is no ~/.pi/agent\n"),
        "{}",
        doctor.out()
    );
}

/// The name of a copied file is no id: no agent could go on with it.
#[test]
fn a_copied_file_without_an_id_cannot_be_gone_on_with() {
    let world = World::new();
    let line =
        r#"{"type":"user","uuid":"x","message":{"role":"user","content":"fix the login page"}}"#;
    let path = world.write("copy.jsonl", format!("{line}\n"));
    let shown = world
        .reader(&["resume", path.to_str().expect("UTF-8")])
        .run()
        .success();
    assert!(!shown.out().contains("Go on"), "{}", shown.out());
    // But a name may be one.
    let path = world.write("4f2a9c11.jsonl", format!("{line}\n"));
    let shown = world
        .reader(&["resume", path.to_str().expect("UTF-8")])
        .run()
        .success();
    assert!(
        shown.out().contains("claude --resume 4f2a9c11\n"),
        "{}",
        shown.out()
    );
}

#[test]
fn the_doctor_names_a_journal_that_it_cannot_read() {
    let world = World::new();
    let journal = unreadable(&world, ".state/session-monitor/journal.jsonl");
    world
        .context(&["doctor"])
        .run()
        .status(2)
        .stderr(&format!("session-context: {journal}: is a directory\n"));
}
