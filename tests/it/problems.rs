//! A file of ours that cannot be read is named, and the rest is shown.

use crate::world::{World, prompt};

const ONE: &str = "11111111-0000-4000-8000-000000000001";

/// A directory in the place of a file: nobody can read it, not even root.
fn unreadable(world: &World, below: &str) -> String {
    world.write(format!("{below}/x"), "");
    world.path(below).display().to_string()
}

#[test]
fn the_list_names_a_notes_file_that_it_cannot_read() {
    let world = World::new();
    world.claude(ONE, &prompt(&world.path("work"), "2026-11-16T02:00:00Z", "fix the login page"));
    let listed = world.reader(&["list"]).run().success();
    let notes = unreadable(&world, ".data/session-monitor/projects/other.md");
    let again = world.reader(&["list"]).run().status(2);
    assert_eq!(again.out(), listed.out());
    again.stderr(&format!("session-reader: {notes}: is a directory\n"));
}

#[test]
fn the_doctor_names_a_journal_that_it_cannot_read() {
    let world = World::new();
    let journal = unreadable(&world, ".state/session-monitor/journal.jsonl");
    world.context(&["doctor"]).run().status(2).stderr(&format!("session-context: {journal}: is a directory\n"));
}
