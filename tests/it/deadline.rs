//! However little time there is: what is said is whole, and what is not said comes later.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use serde_json::json;
use session_core::read::Transcript;
use session_format::budget::Deadline;
use session_format::entry::Position;

use crate::support::claude::{answer, asked, edits, prompt, runs, subagent};
use crate::support::hook::{cursors, hook, input, saved, text};
use crate::support::resume::GOALS;
use crate::support::run::Run;
use crate::support::script::Script;
use crate::support::start::{GOAL, at_work, begins, start_text, started, told_of};
use crate::support::times::ago;
use crate::support::trouble::Tells::{Alpha, Beta, Both};
use crate::support::trouble::{Scene, words};
use crate::support::world::{ME, ONE, TWO, World, home};

/// However little time there is: what is told is whole, and what is not told comes later.
#[test]
fn a_deadline_cuts_between_sessions() {
    let mut stages = Vec::new();
    for looks in 0.. {
        let scene = Scene::new();
        let mut call = scene.call();
        call.env("SESSION_CONTEXT_LOOKS", looks.to_string());
        let output = call.run();
        let (text, err) = (text(&output), output.err());
        assert!(
            err.lines()
                .all(|line| line.starts_with("session-context: ")),
            "{looks}: {err}"
        );
        assert!(
            err.lines().count() == usize::from(text != words(Both)),
            "{looks}: {text}\n{err}"
        );
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
fn whatever_the_deadline_the_reply_is_whole() {
    let world = World::new();
    let cwd = world.path("work");
    let filler: String = (0..40)
        .map(|at| answer(&cwd, &ago(20), &format!("{at} {}", "x".repeat(100_000))))
        .collect();
    world.claude(ONE, &(at_work(&world, 30) + &filler));
    for number in 0..50 {
        asked(&world, &format!("{number:08}-2222"), 10, GOAL);
    }
    let mut outcomes = BTreeSet::new();
    for looks in (0..12).chain([16, 24, 40, 80, 160, 320]) {
        let _ = fs::remove_file(cursors(&world, ME));
        let asks = begins(&world, ME, "startup").to_string();
        let done = world
            .context(&[])
            .env("SESSION_CONTEXT_LOOKS", looks.to_string())
            .stdin(asks)
            .run()
            .status(0);
        let told = start_text(&done);
        assert!(!told.contains("first use"), "{looks}: {told}");
        assert!(
            told.is_empty() || told_of(&told) == "11111111",
            "{looks}: {told}"
        );
        outcomes.insert(told.is_empty());
    }
    assert_eq!(
        outcomes,
        BTreeSet::from([true, false]),
        "too little time, and enough"
    );
    fs::remove_file(cursors(&world, ME)).unwrap_or_default();
    assert_eq!(told_of(&started(&world)), "11111111", "with time enough");
}

/// Reading more than the end of a session stops when the time is over, and what was known before stays.
#[test]
fn reading_stops_when_the_time_is_over() {
    let world = World::new();
    let script = (0..200).fold(Script::of(&world).user(GOALS[0]), |script, _| {
        script.says("hm")
    });
    let path = script.save(&world, ONE);
    let (formats, _) = session_core::formats::known(&world.path("none"));
    let format = formats
        .iter()
        .find(|format| format.name == "agent-sdk")
        .expect("a format");
    let file = Transcript::open(&path, format.detailed()).expect("a file");
    let over = Deadline::after(Duration::ZERO);
    assert!(
        file.continuity(Position::START, Some(&over), None)
            .expect("read")
            .is_none()
    );
    let all = file
        .continuity(Position::START, Some(&Deadline::after(Duration::MAX)), None)
        .expect("read");
    assert_eq!(all.expect("in time").messages, 201);
}

/// A hook that has time for so many looks at the clock: what it says, and whether it says that there was no time for more.
fn in_a_hurry(run: &dyn Fn() -> Run, looks: u32) -> (String, bool) {
    let in_use = "the cursors are in use";
    // A process that another test is just starting may hold the lock for a moment: that was no look.
    let done = loop {
        let done = run()
            .env("SESSION_CONTEXT_LOOKS", looks.to_string())
            .run()
            .status(0);
        if !done.err().contains(in_use) {
            break done;
        }
        std::thread::yield_now();
    };
    let late = ["not everything was read", "in time"]
        .iter()
        .any(|words| done.err().contains(words));
    assert!(late || done.err().is_empty(), "{}", done.err());
    (crate::support::hook::text(&done), late)
}

/// Looks until nothing new is told in time: each session is told once.
fn told_in_the_end(run: impl Fn() -> Run, looks: u32, wanted: &BTreeSet<String>) {
    let mut told: Vec<String> = Vec::new();
    for look in 0.. {
        assert!(look < 400, "{} of {} were told", told.len(), wanted.len());
        let (text, _) = in_a_hurry(&run, looks);
        told.extend(
            wanted
                .iter()
                .filter(|word| text.contains(&format!("\"{word}\"")))
                .cloned(),
        );
        if text.is_empty() && told.len() >= wanted.len() {
            break;
        }
    }
    assert_eq!(
        in_a_hurry(&run, 100_000),
        (String::new(), false),
        "with time enough"
    );
    let once: BTreeSet<String> = told.iter().cloned().collect();
    assert_eq!((once.len(), &once), (told.len(), wanted));
}

/// The walk over very many directories takes several looks, and begins with the observer's own.
#[test]
fn very_many_directories_take_several_looks() {
    const DIRS: usize = 300;
    let world = World::new();
    let mut wanted = BTreeSet::from(["here".to_owned()]);
    for number in 0..DIRS {
        let cwd = world.path(format!("p{number}"));
        let dashes = cwd
            .to_str()
            .expect("UTF-8")
            .replace(|char: char| !char.is_ascii_alphanumeric(), "-");
        let id = format!("{number:08}-2222-4000-8000-000000000000");
        world.write(
            format!(".claude/projects/{dashes}/{id}.jsonl"),
            prompt(&cwd, &ago(9), &format!("word {number}")),
        );
        wanted.insert(format!("word {number}"));
    }
    asked(&world, ONE, 20, "here");
    let run = || {
        hook(
            &world,
            &["--scope", "machine", "--budget", "9000"],
            &input(&world, ME),
        )
    };
    for looks in [0, 40] {
        let _ = fs::remove_file(cursors(&world, ME));
        let (_, late) = in_a_hurry(&run, looks);
        let seen = saved(&world, ME);
        let seen = seen[ME].as_object().expect("an object");
        assert!(
            late && seen.len() < 100,
            "{looks}: {} of {DIRS} were found",
            seen.len()
        );
        assert!(
            seen.keys().any(|key| key.contains(ONE)),
            "{looks}: the observer's own directory comes first"
        );
    }
    let _ = fs::remove_file(cursors(&world, ME));
    told_in_the_end(run, 40, &wanted);
}

/// What a session says itself comes before what its subagents did, however many there are.
#[test]
fn subagents_do_not_hide_what_their_session_says() {
    let world = World::new();
    asked(&world, ONE, 20, "its own words");
    for number in 0..50 {
        let edits = edits(&world, 2, &format!("s{number}"), &[&format!("{number}.rs")]);
        subagent(&world, ONE, &format!("agent-a{number}"), 8, &edits);
    }
    let run = || hook(&world, &[], &input(&world, ME));
    let (text, late) = in_a_hurry(&run, 0);
    assert!(late && text.contains("\"its own words\""), "{text}");
    let mut edited = 0;
    for _ in 0..60 {
        let (text, late) = in_a_hurry(&run, 0);
        edited += usize::from(text.contains(".rs"));
        if !late {
            break;
        }
    }
    assert_eq!(edited, 50, "what they edited follows");
    assert_eq!(in_a_hurry(&run, 1000), (String::new(), false));
}

/// Very many names whose transcripts are gone do not hide the one that has news, nor the observer's own.
#[test]
fn very_many_names_take_several_looks() {
    let world = World::new();
    let gone: Vec<(String, String)> = (0..100)
        .map(|number| (format!("n{number}"), format!("{number:08}-3333")))
        .collect();
    let mut names: Vec<(&str, &str)> = gone.iter().map(|(name, id)| (&**name, &**id)).collect();
    names.extend([("me", ME), ("one", ONE)]);
    home(&world, ".volute", &names);
    asked(&world, ONE, 9, "here");
    told_in_the_end(
        || hook(&world, &[], &input(&world, ME)),
        0,
        &BTreeSet::from(["here".to_owned()]),
    );
}

/// The status line has a deadline, too. What it has counted is kept, so that it gets to the end of a long session.
#[test]
fn a_status_line_in_a_hurry_keeps_what_it_counted() {
    let world = World::new();
    let script = (0..2000).fold(Script::of(&world).user(GOALS[0]), |script, _| {
        script.says("hm")
    });
    let path = script.save(&world, ONE);
    world.append(&path, prompt(&world.path("work"), &ago(1), "go on"));
    // One that nobody has written to for long need not be counted.
    let old = asked(&world, TWO, 9999, "old");
    fs::File::open(old)
        .and_then(|file| file.set_modified(std::time::UNIX_EPOCH))
        .expect("stamped");
    let line = |looks: Option<u32>| {
        let run = world
            .context(&["statusline"])
            .stdin(format!("{{\"session_id\":\"{ME}\"}}"));
        let run = looks.iter().fold(run, |run, looks| {
            run.env("SESSION_CONTEXT_LOOKS", looks.to_string())
        });
        let done = run.run().status(0);
        (done.out().to_owned(), done.err().to_owned())
    };
    let late = "session-context: not everything was read within 3600s\n";
    let mut lines: Vec<(String, String)> = Vec::new();
    while lines.last().is_none_or(|(out, _)| out.is_empty()) {
        assert!(lines.len() < 100, "{lines:?}");
        lines.push(line(Some(0)));
    }
    assert!(
        lines.len() > 2 && lines.iter().all(|(_, err)| err == late),
        "{lines:?}"
    );
    assert_eq!(lines.pop().map(|(out, _)| out), Some("1 working\n".into()));
    assert_eq!(line(None), ("1 working\n".into(), String::new()));
}

/// However many sessions were written to within the hour.
#[test]
fn a_status_line_reads_at_most_512_sessions_and_says_so() {
    let world = World::new();
    for number in 0..600 {
        asked(&world, &format!("{number:08}-2222"), 9, "at work");
    }
    let done = world.context(&["statusline"]).stdin("{}").run().status(0);
    assert_eq!(
        done.err(),
        "session-context: not everything was read within 3600s\n"
    );
    assert_eq!(done.out(), "512 working\n");
}

/// Of very many files that agents left behind, those that were written last are read first.
#[test]
fn of_very_many_agent_files_the_newest_are_read_first() {
    let world = World::new();
    asked(&world, ONE, 90, "here");
    for number in 0..300 {
        let killed = json!({"pid": 4_000_000 + number, "procStart": "1", "sessionId": TWO, "status": "busy"});
        let file = world.write(
            format!(".claude/sessions/{number}.json"),
            killed.to_string(),
        );
        fs::File::open(file)
            .and_then(|file| file.set_modified(std::time::UNIX_EPOCH))
            .expect("stamped");
    }
    runs(&world, ONE, "waiting", "permission prompt");
    let run = world
        .context(&["statusline"])
        .stdin(format!("{{\"session_id\":\"{ME}\"}}"));
    let done = run.env("SESSION_CONTEXT_LOOKS", "60").run().status(0);
    assert!(
        done.out().contains("needs you"),
        "{} {}",
        done.out(),
        done.err()
    );
    assert!(
        done.err().contains("not everything was read"),
        "{}",
        done.err()
    );
}
