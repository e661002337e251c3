//! However little time there is: what is said is whole, and what is not said comes later.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use session_monitor::budget::Deadline;
use session_monitor::read::Transcript;

use crate::hook::{ME, ONE, ago, asked, cursors};
use crate::resume::GOALS;
use crate::script::Script;
use crate::start::{GOAL, at_work, begins, start_text, started, told_of};
use crate::trouble::Tells::{Alpha, Beta, Both};
use crate::trouble::{Scene, heard, words};
use crate::world::{World, answer};

/// However little time there is: what is told is whole, and what is not told comes later.
#[test]
fn a_deadline_cuts_between_sessions() {
    let mut stages = Vec::new();
    for looks in 0.. {
        let scene = Scene::new();
        let mut call = scene.call();
        call.env("SESSION_CONTEXT_LOOKS", looks.to_string());
        let output = call.run();
        let (text, err) = (heard(&output), output.err());
        assert!(err.lines().all(|line| line.starts_with("session-context: ")), "{looks}: {err}");
        assert!(err.lines().count() == usize::from(text != words(Both)), "{looks}: {text}\n{err}");
        let next = scene.hears();
        for name in ["alpha", "beta"] {
            let times = usize::from(text.contains(name)) + usize::from(next.contains(name));
            assert_eq!(times, 1, "{looks}: {name}\n{text}\n{err}\n{next}");
        }
        assert_eq!(scene.hears(), "", "{looks}");
        let is_all = err.is_empty();
        stages.push(text);
        if is_all {
            break;
        }
    }
    stages.dedup();
    // The files may be equally new.
    let firsts = [Alpha, Beta].map(|one| [one, Both].map(words).to_vec());
    assert!(firsts.contains(&stages), "{stages:?}");
}

/// Whatever the deadline is, the exit is 0, and what is said is whole. No time is no reason to say that there is nothing.
#[test]
fn deadlines() {
    let world = World::new();
    let cwd = world.path("work");
    let filler: String = (0..40).map(|at| answer(&cwd, &ago(20), &format!("{at} {}", "x".repeat(100_000)))).collect();
    world.claude(ONE, &(at_work(&world, 30) + &filler));
    for number in 0..50 {
        asked(&world, &format!("{number:08}-2222"), 10, GOAL);
    }
    let mut outcomes = BTreeSet::new();
    for looks in (0..12).chain([16, 24, 40, 80, 160, 320]) {
        let _ = fs::remove_file(cursors(&world, ME));
        let asks = begins(&world, ME, "startup").to_string();
        let done = world.context(&[]).env("SESSION_CONTEXT_LOOKS", looks.to_string()).stdin(asks).run().status(0);
        let told = start_text(&done);
        assert!(!told.contains("first use"), "{looks}: {told}");
        assert!(told.is_empty() || told_of(&told) == "11111111", "{looks}: {told}");
        outcomes.insert(told.is_empty());
    }
    assert_eq!(outcomes, BTreeSet::from([true, false]), "too little time, and enough");
    fs::remove_file(cursors(&world, ME)).unwrap_or_default();
    assert_eq!(told_of(&started(&world)), "11111111", "with time enough");
}

/// Reading more than the end of a session stops when the time is over, and what was known before stays.
#[test]
fn reading_looks_at_the_clock() {
    let world = World::new();
    let script = (0..200).fold(Script::of(&world).user(GOALS[0]), |script, _| script.says("hm"));
    let path = script.save(&world, ONE);
    let (formats, _) = session_monitor::format::known(&world.path("none"));
    let format = formats.iter().find(|format| format.name == "agent-sdk").expect("a format");
    let file = Transcript::open(&path, format.detailed()).expect("a file");
    let over = Deadline::after(Duration::ZERO);
    assert!(file.continuity(0, Some(&over), None).expect("read").is_none());
    let all = file.continuity(0, Some(&Deadline::after(Duration::MAX)), None).expect("read");
    assert_eq!(all.expect("in time").messages, 201);
}
