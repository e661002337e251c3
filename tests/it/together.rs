//! Many at once: hooks of many observers over one cursor file, writers in the middle of a line, the same hook twice, and
//! commands in between. Each message is told to each observer once, and no reader ever sees half a cursor file.
//!
//! Prompts are numbered in each session. The quote is the newest prompt, so its number must be one less than all that
//! were told by then; that leaves no room for one that is lost or told twice.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use serde_json::Value;
use session_core::state::journal::{HookRun, Journal};

use crate::scene::Chance;
use crate::support::claude::prompt;
use crate::support::hook::{HEADER, input, told_to, told_to_with};
use crate::support::run::{Done, Run, at_once};
use crate::support::trouble::{ALPHA, BETA, OBSERVER};
use crate::support::world::World;

/// Prompt `number` of a session, with characters of every length.
fn numbered(world: &World, session: &str, number: usize) -> String {
    let (minute, second) = (number / 60 % 60, number % 60);
    let time = format!("2026-11-16T02:{minute:02}:{second:02}Z");
    prompt(
        &world.path("work"),
        &time,
        &format!("{session} says {number} äß€𝄞"),
    )
}

fn append(world: &World, session: &str, text: impl AsRef<[u8]>) {
    world.append(
        world
            .transcript(session)
            .strip_prefix(world.path(""))
            .expect("below HOME"),
        text,
    );
}

/// How many prompts of each session somebody was told.
#[derive(Debug, Default, Clone, PartialEq)]
struct Heard(BTreeMap<String, usize>);

impl Heard {
    /// Takes in what was told; each session has to go on where it was left.
    #[track_caller]
    fn hear(&mut self, text: &str) {
        let mut lines = text.lines();
        assert!(text.is_empty() || lines.next() == Some(HEADER), "{text}");
        for line in lines.filter(|line| !line.starts_with("- +")) {
            let (session, count, number) =
                bullet(line).unwrap_or_else(|| panic!("what is this? {line}"));
            let heard = self.0.entry(session.to_owned()).or_default();
            *heard += count;
            assert_eq!(
                number + 1,
                *heard,
                "{session} has told {heard} by now: {line}"
            );
        }
    }
}

/// `- s03 (2m ago, 4 messages): "s03 says 17 …"`: the session, 4, 17.
fn bullet(line: &str) -> Option<(&str, usize, usize)> {
    let (session, rest) = line.strip_prefix("- ")?.split_once(" (")?;
    let (facts, quote) = rest.split_once("): \"")?;
    let count = facts.split_once(", ")?.1.split_once(" message")?.0;
    let number = quote.split_once(" says ")?.1.split_once(' ')?.0;
    Some((session, count.parse().ok()?, number.parse().ok()?))
}

/// Runs the hooks of some sessions at once.
fn hooks(world: &World, sessions: &[&str], args: &[&str]) -> Vec<Run> {
    sessions
        .iter()
        .map(|session| world.context(args).stdin(input(world, session).to_string()))
        .collect()
}

#[track_caller]
fn text(done: &Done) -> String {
    assert_eq!(done.err(), "");
    crate::support::hook::text(done)
}

/// Ends the watching also where a test fails.
struct Ends<'s>(&'s AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Reads a file all the time while something else goes on: once there, it is always there and always whole.
fn watched<T>(path: &Path, body: impl FnOnce() -> T) -> T {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let (mut seen, mut reads) = (false, 0);
            while !stop.load(Ordering::Relaxed) {
                match fs::read(path) {
                    Ok(content) => {
                        let whole = serde_json::from_slice::<BTreeMap<String, Value>>(&content);
                        assert!(
                            whole.is_ok(),
                            "{whole:?}: {}",
                            String::from_utf8_lossy(&content)
                        );
                        (seen, reads) = (true, reads + 1);
                    }
                    Err(error) => assert!(!seen, "{error}"),
                }
                // Leave the hooks a processor.
                std::thread::yield_now();
            }
            reads
        });
        let ends = Ends(&stop);
        let result = body();
        drop(ends);
        assert!(watcher.join().expect("the file was whole all the time") > 0);
        result
    })
}

/// A home where sessions have names; the name of a session is its id as well.
fn home(names: &[String]) -> (World, PathBuf) {
    let world = World::new();
    for name in names {
        world.write(
            format!("work/.volute/sessions/{name}.json"),
            format!("{{\"sessionId\":\"{name}\"}}"),
        );
        world.claude(name, "");
    }
    let cursors = world.path("work/.volute/session-cursors.json");
    (world, cursors)
}

fn crowd(rounds: usize) {
    let names: Vec<String> = (0..20).map(|number| format!("s{number:02}")).collect();
    let sessions: Vec<&str> = names.iter().map(String::as_str).collect();
    let (world, cursors) = home(&names);
    let mut chance = Chance::new(rounds as u64);
    let mut written: BTreeMap<String, usize> = BTreeMap::new();
    let mut heard = vec![Heard::default(); names.len()];
    watched(&cursors, || {
        for _ in 0..rounds {
            for _ in 0..=chance.below(8) {
                let name = &names[chance.below(names.len())];
                let number = written.entry(name.clone()).or_default();
                append(&world, name, numbered(&world, name, *number));
                *number += 1;
            }
            let budget = ["200", "500", "9000"][chance.below(3)];
            for (heard, output) in
                heard
                    .iter_mut()
                    .zip(at_once(hooks(&world, &sessions, &["--budget", budget])))
            {
                heard.hear(&text(&output));
            }
        }
    });
    for (heard, name) in heard.iter_mut().zip(&sessions) {
        heard.hear(&told_to_with(&world, name, &["--budget", "9000"]));
        assert_eq!(
            told_to_with(&world, name, &["--budget", "9000"]),
            "",
            "{name}"
        );
        let mut others = written.clone();
        others.remove(*name);
        assert_eq!(heard.0, others, "{name}");
    }
    let all: BTreeMap<String, Value> =
        serde_json::from_slice(&fs::read(&cursors).expect("cursors")).expect("whole cursors");
    assert!(all.keys().eq(&names), "{:?}", all.keys());
    assert_eq!(
        fs::metadata(&cursors)
            .expect("cursors")
            .permissions()
            .mode()
            & 0o777,
        0o600
    );
    let listed = fs::read_dir(world.path("work/.volute"))
        .expect("the home")
        .flatten();
    let mut left: Vec<_> = listed
        .map(|entry| entry.file_name().into_string().expect("UTF-8"))
        .collect();
    left.sort();
    assert_eq!(
        left,
        ["session-cursors.json", "session-cursors.lock", "sessions"]
    );
}

#[test]
fn twenty_observers_share_one_file() {
    crowd(15);
}

#[test]
#[ignore = "takes minutes in a debug build; the same with fewer rounds is above"]
fn twenty_observers_share_one_file_for_long() {
    crowd(200);
}

/// Sessions grow by pieces of any length, in the middle of lines and characters, while two observers look on.
fn while_written(seed: u64, named: bool) {
    let ids = if named {
        ["alpha", "beta", "one", "two"]
    } else {
        [ALPHA, BETA, OBSERVER, "1-other-observer"]
    };
    let (sessions, observers) = ids.split_at(2);
    let names: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
    let world = if named { home(&names).0 } else { World::new() };
    let shown = |id: &str| {
        if named {
            id.to_owned()
        } else {
            id[..8].to_owned()
        }
    };
    let count = 60;
    let content: Vec<Vec<u8>> = sessions
        .iter()
        .map(|id| {
            (0..count)
                .map(|number| numbered(&world, &shown(id), number))
                .collect::<String>()
                .into_bytes()
        })
        .collect();
    let cwd = world.path("work");
    for id in ids {
        world.claude(id, "");
    }
    for (id, observer) in observers.iter().zip(["one", "two"]) {
        append(&world, id, prompt(&cwd, "2026-11-16T02:00:00Z", observer));
    }
    let (pace, go) = mpsc::sync_channel::<()>(0);
    let mut heard = [Heard::default(), Heard::default()];
    let mut own: [Vec<String>; 2] = Default::default();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let go = go;
            let mut chance = Chance::new(seed);
            let mut written = [0, 0];
            while written[0] < content[0].len() || written[1] < content[1].len() {
                // A burst for each run of a hook, and the hook runs meanwhile.
                go.recv().expect("hooks run");
                for _ in 0..chance.below(12) {
                    let which = chance.below(2);
                    let rest = &content[which][written[which]..];
                    let most = [3, 40, 400, 2000][chance.below(4)];
                    let piece = &rest[..rest.len().min(chance.below(most) + 1)];
                    append(&world, sessions[which], piece);
                    written[which] += piece.len();
                }
            }
        });
        while !writer.is_finished() {
            for (place, observer) in observers.iter().enumerate() {
                if pace.try_send(()).is_err() {
                    std::thread::yield_now();
                }
                let text = told_to(&world, observer);
                // The two observers hear of each other, once.
                let (others, said): (Vec<&str>, Vec<&str>) = text
                    .lines()
                    .partition(|line| line.ends_with("\"one\"") || line.ends_with("\"two\""));
                own[place].extend(others.iter().map(|line| (*line).to_owned()));
                heard[place].hear(&if said == [HEADER] {
                    String::new()
                } else {
                    said.join("\n")
                });
            }
        }
        drop(pace);
    });
    let all: BTreeMap<String, usize> = sessions.iter().map(|id| (shown(id), count)).collect();
    for (place, observer) in observers.iter().enumerate() {
        heard[place].hear(&told_to(&world, observer));
        assert_eq!(heard[place].0, all, "{observer}");
        assert_eq!(own[place].len(), 1, "{:?}", own[place]);
    }
}

#[test]
fn what_is_being_written_is_told_once() {
    for seed in 0..3 {
        while_written(seed, false);
        while_written(seed, true);
    }
}

/// The hook is installed twice, for the user and for the project: it is told once.
#[test]
fn the_same_observer_twice_is_told_once() {
    for named in [true, false] {
        let names = ["main".to_owned(), "talk".to_owned()];
        let world = if named { home(&names).0 } else { World::new() };
        let mut heard = Heard::default();
        for id in ["main", "talk"] {
            world.claude(id, "");
        }
        for number in 0..10 {
            append(&world, "talk", numbered(&world, "talk", number));
            let both = hooks(&world, &["main", "main"], &[])
                .into_iter()
                .map(Run::process);
            let texts: Vec<String> = at_once(both.collect())
                .iter()
                .map(text)
                .filter(|text| !text.is_empty())
                .collect();
            assert_eq!(texts.len(), 1, "named {named}, round {number}: {texts:?}");
            heard.hear(&texts[0]);
        }
        assert_eq!(heard.0, BTreeMap::from([("talk".to_owned(), 10)]));
    }
}

/// Muting, unmuting and explaining while the hook runs: nothing is lost, and the last word counts.
#[test]
fn commands_and_hooks_get_along() {
    let names = ["main".to_owned(), "talk".to_owned(), "else".to_owned()];
    let (world, cursors) = home(&names);
    let mut heard = Heard::default();
    let command = |name: &str| world.context(&[name]).env("CLAUDE_CODE_SESSION_ID", "main");
    let done = |run: Run| run.run().success().out().to_owned();
    let mut chance = Chance::new(7);
    let rounds = 25;
    watched(&cursors, || {
        for number in 0..rounds {
            append(&world, "talk", numbered(&world, "talk", number));
            let mut runs = hooks(&world, &["main", "else", "main"], &[]);
            runs.extend(
                (0..chance.below(4))
                    .map(|_| command(["mute", "unmute", "explain"][chance.below(3)])),
            );
            let outputs = at_once(runs);
            outputs[3..]
                .iter()
                .for_each(|done| assert_eq!((done.code(), done.err()), (Some(0), "")));
            at_once(
                (0..chance.below(3))
                    .map(|_| command(["explain", "unmute"][chance.below(2)]))
                    .collect(),
            );
            let texts = [text(&outputs[0]), text(&outputs[2])];
            assert!(texts.iter().any(String::is_empty), "{texts:?}");
            texts.iter().for_each(|text| heard.hear(text));
        }
    });
    append(&world, "talk", numbered(&world, "talk", rounds));
    assert_eq!(
        done(command("mute")),
        "main is muted; `session-context unmute main` undoes it.\n"
    );
    assert_eq!(told_to_with(&world, "main", &[]), "");
    assert!(done(command("explain")).contains("it is muted"));
    assert_eq!(
        done(command("unmute")),
        "main is told about the others again.\n"
    );
    let explained = done(command("explain"));
    let text = told_to_with(&world, "main", &[]);
    assert!(
        text.lines().all(|line| explained.contains(line)),
        "{explained}\n{text}"
    );
    heard.hear(&text);
    assert_eq!(heard.0, BTreeMap::from([("talk".to_owned(), rounds + 1)]));
    assert_eq!(told_to_with(&world, "main", &[]), "");
}

/// The journal is moved aside when it is full. A hook that found it gone at that moment complained, and one test of
/// thousands of hooks failed now and then.
#[test]
fn a_full_journal_is_moved_aside_by_one_of_many() {
    let world = World::new();
    let note = HookRun {
        text: "x".repeat(40 << 10),
        ..HookRun::default()
    };
    let append = |_: usize| {
        Journal::in_dir(&world.path(".state"))
            .append(&note)
            .expect("noted");
    };
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..100).for_each(append));
        }
    });
    assert!(
        !Journal::in_dir(&world.path(".state"))
            .read()
            .expect("a journal")
            .is_empty()
    );
}
