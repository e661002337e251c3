//! From one look to the next: what grew, was replaced, copied, moved, hidden or cut is told once, and nothing is lost.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;

use crate::support::claude::{answer, asked, calls, prompt, said};
use crate::support::files::{make_younger, written_ago};
use crate::support::hook::{
    HOUR_IN_MICROS, REQUEST, block, clock, hook, input, move_clock, one_said, text, told,
    told_after, told_to, told_with,
};
use crate::support::times::ago;
use crate::support::world::{ME, ONE, THREE, TWO, World, home, path};

/// 003-22, 003-23, 003-D04, 003-T18: a file that is not what it was is read from its start, and only what is later than
/// the last look is news.
#[test]
fn a_replaced_file_is_read_from_its_start() {
    let said = |world: &World, range: std::ops::Range<i64>, word: &str| -> String {
        range
            .map(|minute| {
                prompt(
                    &world.path("work"),
                    &ago(-minute),
                    &format!("{word} {minute}"),
                )
            })
            .collect()
    };
    type Change = fn(&Path, &str);
    let rename: Change = |path, text| {
        let new = path.with_extension("new");
        std::fs::write(&new, text).expect("a file");
        std::fs::rename(new, path).expect("renamed");
    };
    let in_place: Change = |path, text| std::fs::write(path, text).expect("a file");
    let recreate: Change = |path, text| {
        std::fs::remove_file(path).expect("removed");
        std::fs::write(path, text).expect("a file");
    };
    for (how, change) in [
        ("renamed", rename),
        ("in place", in_place),
        ("recreated", recreate),
    ] {
        // Minutes of the new file; before the look and after it; what is told ten minutes later.
        for (what, range, expected) in [
            (
                "larger, all new",
                1..7,
                Some("(4m ago, 6 messages): \"new 6\""),
            ),
            (
                "larger, half new",
                -5..4,
                Some("(7m ago, 3 messages): \"new 3\""),
            ),
            ("smaller", 1..2, Some("(9m ago, 1 message): \"new 1\"")),
            ("smaller and old", -3..-2, None),
            ("as large", 1..5, Some("(6m ago, 4 messages): \"new 4\"")),
            ("empty", 1..1, None),
        ] {
            let world = World::new();
            let path = world.claude(ONE, &said(&world, -4..0, "old"));
            assert_eq!(
                told(&world),
                block(&["- 11111111 (1m ago, 4 messages): \"old -1\""])
            );
            change(&path, &said(&world, range, "new"));
            let expected = expected.map_or(String::new(), |line| {
                block(&[&format!("- 11111111 {line}")])
            });
            assert_eq!(told_after(&world, 10), expected, "{how}: {what}");
            assert_eq!(told_after(&world, 10), "", "{how}: {what}");
            world.append(&path, prompt(&world.path("work"), &ago(-11), "after that"));
            let expected = block(&["- 11111111 (1m ago, 1 message): \"after that\""]);
            assert_eq!(told_after(&world, 12), expected, "{how}: {what}");
        }
    }
}

/// 003-26, 003-D01, 003-D02: a line that arrives in two parts, cut anywhere, is told once, when it is whole.
#[test]
fn a_line_that_comes_in_two_parts_is_told_once() {
    let world = World::new();
    let path = asked(&world, ONE, 30, "first");
    assert!(!told(&world).is_empty());
    let message = |split: usize| format!("żółw 🦀 {split:03}");
    let line = |split: usize| {
        format!(
            r#"{{"type":"user","uuid":"{split:03}","timestamp":"{}","message":{{"role":"user","content":"{}"}}}}"#,
            ago(1),
            message(split)
        ) + "\n"
    };
    let length = line(0).len();
    for split in 0..=length {
        let (message, line) = (message(split), line(split));
        world.append(&path, &line.as_bytes()[..split]);
        let told_now = told(&world);
        let expected = block(&[&format!("- 11111111 (1m ago, 1 message): \"{message}\"")]);
        assert_eq!(
            told_now,
            if split == length {
                expected.clone()
            } else {
                String::new()
            },
            "split at {split}"
        );
        world.append(&path, &line.as_bytes()[split..]);
        assert_eq!(
            told(&world),
            if split == length {
                String::new()
            } else {
                expected
            },
            "split at {split}"
        );
    }
}

/// 003-26: somebody writes all the while; every message is counted once.
#[test]
fn every_message_is_counted_once_while_somebody_writes() {
    let world = World::new();
    let cwd = world.path("work");
    let path = asked(&world, ONE, 30, "first");
    let count = |text: &str| -> usize {
        let (_, facts) = text
            .lines()
            .nth(1)
            .and_then(|line| line.split_once("ago, "))
            .unwrap_or(("", "0 "));
        facts
            .split(' ')
            .next()
            .and_then(|count| count.parse().ok())
            .expect("a number")
    };
    let mut counted = count(&told(&world));
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let text: String = (0..150)
                .map(|number| prompt(&cwd, &ago(1), &format!("żółw {number}")))
                .collect();
            text.as_bytes()
                .chunks(13)
                .for_each(|chunk| world.append(&path, chunk));
        });
        while !writer.is_finished() {
            counted += count(&told(&world));
        }
    });
    counted += count(&told(&world));
    assert_eq!(counted, 151);
    assert_eq!(told(&world), "");
}

/// 003-L03, 003-L04, 003-D18: a first look goes back an hour, or as far as is set; the next goes on from there.
#[test]
fn a_first_look_is_the_last_hour() {
    let world = World::new();
    let cwd = world.path("work");
    let one = world.claude(
        ONE,
        &(prompt(&cwd, &ago(120), "ask something ancient")
            + &answer(&cwd, &ago(61), "old")
            + &prompt(&cwd, &ago(60), "ask something recent")
            + &answer(&cwd, &ago(30), "yes")),
    );
    world.claude(TWO, &prompt(&cwd, &ago(61), "only old"));
    let first = |look: &str, id: &str| {
        text(
            &hook(&world, &[], &input(&world, id))
                .env("SESSION_CONTEXT_FIRST_LOOK", look)
                .run()
                .success(),
        )
    };
    assert_eq!(
        told(&world),
        block(&["- 11111111 (30m ago, 2 messages): \"ask something recent\""])
    );
    assert_eq!(told(&world), "");
    assert_eq!(first("1m", "o1"), "");
    assert_eq!(
        first("45m", "o2"),
        block(&["- 11111111 (30m ago, 1 message): said \"yes\""])
    );
    assert_eq!(
        first("2h", "o3"),
        block(&[
            "- 11111111 (30m ago, 4 messages): \"ask something recent\"",
            "- 22222222 (1h ago, 1 message): \"only old\""
        ])
    );
    // What was not news to the first look is none to the next, also when its file is written again.
    world.append(&one, answer(&cwd, &ago(-1), "more"));
    world.append(world.transcript(TWO), answer(&cwd, &ago(-1), "other"));
    let expected = block(&[
        "- 11111111 (1m ago, 1 message): said \"more\"",
        "- 22222222 (1m ago, 1 message): said \"other\"",
    ]);
    assert_eq!(told_after(&world, 2), expected);
}

/// A transcript of 3 MB: the newest is told from a bounded tail, and that there was more.
#[test]
fn of_a_long_transcript_the_newest_is_told_and_that_there_is_more() {
    let world = World::new();
    let cwd = world.path("work");
    let filler = "x".repeat(1000);
    let lines = |from: usize, word: &str| -> String {
        (from..from + 2000)
            .map(|number| prompt(&cwd, &ago(3), &format!("{word} {number} {filler}")))
            .collect()
    };
    let facts = |text: &str, word: &str| -> usize {
        let line = text
            .lines()
            .nth(1)
            .unwrap_or_else(|| panic!("a bullet: {text}"));
        let rest = line.strip_prefix("- 11111111 (3m ago, ").expect("a bullet");
        let (count, rest) = rest
            .split_once("+ messages): ")
            .unwrap_or_else(|| panic!("that there was more: {text}"));
        assert!(rest.starts_with(&format!("\"{word} ")), "{text}");
        count.parse().expect("a number")
    };
    let path = world.claude(ONE, &lines(0, "first"));
    assert!(std::fs::metadata(&path).expect("a file").len() > 3_000_000);
    let first = facts(&told(&world), "first");
    // A megabyte of texts is taken in.
    assert!((1000..1100).contains(&first), "{first}");
    assert_eq!(told(&world), "");
    world.append(&path, lines(5000, "second"));
    let second = facts(&told(&world), "second");
    assert!((100..1999).contains(&second), "{second}");
    assert_eq!(told(&world), "");
    world.append(&path, prompt(&cwd, &ago(1), "last"));
    assert_eq!(
        told(&world),
        block(&["- 11111111 (1m ago, 1 message): \"last\""])
    );
    // All that is within the hour is in the tail: then there was no more.
    let old: String = (0..2000)
        .map(|number| prompt(&cwd, &ago(90), &format!("{number} {filler}")))
        .collect();
    world.claude(TWO, &(old + &prompt(&cwd, &ago(2), "just this")));
    assert_eq!(
        told(&world),
        block(&["- 22222222 (2m ago, 1 message): \"just this\""])
    );
}

/// A last line longer than all budgets is read, and so is what follows it.
#[test]
fn a_line_longer_than_all_budgets_is_read() {
    let world = World::new();
    let cwd = world.path("work");
    let path = world.claude(
        ONE,
        &(prompt(&cwd, &ago(5), "before") + &prompt(&cwd, &ago(3), &"long ".repeat(500_000))),
    );
    let text = told(&world);
    assert!(
        text.contains("- 11111111 (3m ago, 1+ messages): \"long long"),
        "{text}"
    );
    world.append(path, prompt(&cwd, &ago(1), "after"));
    assert_eq!(
        told(&world),
        block(&["- 11111111 (1m ago, 1 message): \"after\""])
    );
}

/// What a fork copied from another session is told once: in the first look, in a later one, and of the observer's own.
#[test]
fn what_a_fork_copied_is_told_once() {
    let world = World::new();
    let cwd = world.path("work");
    let said = |minutes: std::ops::Range<i64>| -> String {
        minutes
            .rev()
            .map(|minute| prompt(&cwd, &ago(minute), &format!("said {minute}")))
            .collect()
    };
    let fork = |id: &str, lines: String| make_younger(&world.transcript(id), &lines);
    world.claude(ONE, &said(10..20));
    fork(TWO, said(10..20) + &prompt(&cwd, &ago(5), "in the fork"));
    let one = "- 11111111 (10m ago, 10 messages): \"said 10\"";
    let two = "- 22222222 (5m ago, 1 message): \"in the fork\"";
    assert_eq!(told(&world), block(&[two, one]));
    assert_eq!(told(&world), "");
    // A later fork of what was told.
    fork(
        THREE,
        said(10..20) + &prompt(&cwd, &ago(4), "in a later fork"),
    );
    assert_eq!(
        told(&world),
        block(&["- 33333333 (4m ago, 1 message): \"in a later fork\""])
    );
    // A fork of a fork, and one without anything of its own.
    fork(
        "44444444-0000",
        said(10..20) + &prompt(&cwd, &ago(4), "in a later fork") + &prompt(&cwd, &ago(3), "deeper"),
    );
    fork("55555555-0000", said(10..20));
    assert_eq!(
        told(&world),
        block(&["- 44444444 (3m ago, 1 message): \"deeper\""])
    );
    // The sessions see their forks: only what is new in them.
    assert_eq!(
        told_to(&world, ONE),
        block(&[
            "- 44444444 (3m ago, 1 message): \"deeper\"",
            "- 33333333 (4m ago, 1 message): \"in a later fork\"",
            two
        ])
    );
    assert_eq!(told(&world), "");
}

/// A fork that begins before the end of what was told: it has only a part of it.
#[test]
fn a_fork_from_further_up_is_told_once() {
    let world = World::new();
    let cwd = world.path("work");
    let said = |minutes: std::ops::Range<i64>| -> String {
        minutes
            .rev()
            .map(|minute| prompt(&cwd, &ago(minute), &format!("said {minute}")))
            .collect()
    };
    world.claude(ONE, &said(10..20));
    assert_eq!(
        told(&world),
        block(&["- 11111111 (10m ago, 10 messages): \"said 10\""])
    );
    make_younger(
        &world.transcript(TWO),
        &(said(15..20) + &prompt(&cwd, &ago(5), "another way")),
    );
    assert_eq!(
        told(&world),
        block(&["- 22222222 (5m ago, 1 message): \"another way\""])
    );
}

/// 003-06, 003-22: a name in a home leads to another file: from its start, what is later than the last look.
#[test]
fn a_name_that_leads_to_another_file_is_read_from_its_start() {
    let world = World::new();
    let cwd = world.path("work");
    home(&world, ".volute", &[("main", ME)]);
    let pi = |minutes: &[i64]| -> String {
        let said = minutes.iter().map(|minutes| json!({"type": "message", "id": format!("{minutes}"), "timestamp": ago(*minutes), "message": {"role": "user", "content": format!("said {minutes}")}}));
        std::iter::once(
            json!({"type": "session", "version": 3, "id": "p", "timestamp": ago(9), "cwd": cwd}),
        )
        .chain(said)
        .map(|line| format!("{line}\n"))
        .collect()
    };
    let old = world.write("work/.volute/pi-sessions/email/1_p.jsonl", pi(&[8, 7]));
    let past = std::fs::metadata(&old)
        .and_then(|meta| meta.modified())
        .expect("a time")
        - std::time::Duration::from_mins(1);
    std::fs::File::options()
        .append(true)
        .open(&old)
        .and_then(|file| file.set_modified(past))
        .expect("stamped");
    assert_eq!(
        told(&world),
        block(&["- pi:email (7m ago, 2 messages): \"said 7\""])
    );
    world.write(
        "work/.volute/pi-sessions/email/2_q.jsonl",
        pi(&[8, 7, -2, -3]),
    );
    assert_eq!(
        told_after(&world, 5),
        block(&["- pi:email (2m ago, 2 messages): \"said -3\""])
    );
    assert_eq!(told_after(&world, 5), "");
}

/// A copy of another session that is told first does not hide the session: each thing is told once, whatever the budget.
#[test]
fn a_copy_that_is_told_first_hides_no_session() {
    let world = World::new();
    let cwd = world.path("work");
    let said = |minutes: std::ops::Range<i64>| -> String {
        minutes
            .rev()
            .map(|minute| {
                prompt(
                    &cwd,
                    &ago(minute),
                    &format!("said {minute} {}", "blah ".repeat(20)),
                )
            })
            .collect()
    };
    world.claude(ONE, &said(10..20));
    make_younger(
        &world.transcript(TWO),
        &(said(10..20) + &prompt(&cwd, &ago(5), &"in the fork ".repeat(9))),
    );
    let ask = || {
        text(
            &hook(&world, &["--budget", "260"], &input(&world, ME))
                .run()
                .success(),
        )
    };
    let first = ask();
    assert!(
        first.contains("- 22222222 (5m ago, 1 message): \"in the fork")
            && first.ends_with("- +1 more: session-reader list"),
        "{first}"
    );
    let second = ask();
    assert!(
        second.contains("- 11111111 (10m ago, 10 messages): \"said 10"),
        "{second}"
    );
    assert_eq!(ask(), "");
}

/// A copy of what was told has nothing new, also if it ends with calls and much was told since; then it goes on.
fn copied(renamed: bool, much: bool, goes_on: bool) {
    let case = format!("renamed: {renamed}, much: {much}");
    let world = World::new();
    let spoken = said(&world, 9, REQUEST) + &answer(&world.path("work"), &ago(8), "I will edit it");
    let all = spoken + &calls(8, "c1", &["Edit a.rs"]) + &calls(7, "c2", &["Bash make"]);
    let one = world.claude(ONE, &all);
    let expected =
        format!("- 11111111 (7m ago, 4 messages): \"{REQUEST}\" -> updated a.rs, ran 1 command");
    assert_eq!(told(&world), block(&[expected]), "{case}");
    if much {
        let texts =
            (0..70).map(|number| answer(&world.path("work"), &ago(6), &format!("x{number}")));
        world.claude(THREE, &texts.collect::<String>());
        assert_eq!(
            told(&world),
            block(&["- 33333333 (6m ago, 70 messages): said \"x69\""]),
            "{case}"
        );
    }
    let copy = world.transcript(TWO);
    if renamed {
        fs::rename(one, &copy).expect("renamed");
    } else {
        make_younger(&copy, &all);
    }
    assert_eq!(told(&world), "", "{case}");
    if goes_on {
        assert_eq!(told(&world), "", "{case}");
        world.append(&copy, said(&world, 5, "own words"));
        assert_eq!(
            told(&world),
            block(&["- 22222222 (5m ago, 1 message): \"own words\""]),
            "{case}"
        );
    }
}

#[test]
fn a_copy_that_ends_with_calls_is_told_once() {
    copied(false, false, true);
    copied(false, true, true);
}

#[test]
fn a_renamed_file_that_ends_with_calls_is_told_once() {
    copied(true, false, false);
    copied(true, true, false);
}

#[test]
fn of_a_renamed_file_only_what_is_new_is_told() {
    copied(true, false, true);
    copied(true, true, true);
}

/// A directory that can never be read does not stop the clock.
#[test]
fn a_directory_that_can_never_be_read_does_not_stop_the_clock() {
    let world = World::new();
    let one = asked(&world, ONE, 9, "one");
    let bad = world.path(".claude/projects/-loop");
    symlink(&bad, &bad).expect("a link");
    assert_eq!(told_with(&world, &[]), one_said(9, "one"));
    for minutes in [5, 4] {
        move_clock(&world, -3 * HOUR_IN_MICROS);
        let before = clock(&world);
        world.append(&one, said(&world, minutes, "more"));
        let done = hook(&world, &[], &input(&world, ME))
            .run()
            .status(0)
            .stderr_has("-loop");
        assert_eq!(text(&done), one_said(minutes, "more"));
        assert!(
            clock(&world) >= before + HOUR_IN_MICROS,
            "{} after {before}",
            clock(&world)
        );
        assert_eq!(told_with(&world, &[]), "");
    }
    asked(&world, TWO, 3, "two");
    assert_eq!(
        told_with(&world, &[]),
        block(&["- 22222222 (3m ago, 1 message): \"two\""])
    );
    assert_eq!(told_with(&world, &[]), "");
}

/// What could not be read once is told when it can be, whatever was told meanwhile.
fn unreadable_once<Held>(
    known: bool,
    hold: impl Fn(&World, &Path) -> Held,
    release: impl Fn(&World, &Path, Held),
) {
    let world = World::new();
    let one = world.transcript(ONE);
    let two = asked(&world, TWO, 20, "two");
    if known {
        asked(&world, ONE, 21, "one");
    }
    assert!(told(&world).contains("two"));
    move_clock(&world, -HOUR_IN_MICROS / 2);
    world.append(&one, said(&world, 9, "unread"));
    written_ago(&world, &one, 600);
    let held = hold(&world, &one);
    for minutes in [8, 7] {
        world.append(&two, said(&world, minutes, "more"));
        let expected = format!("- 22222222 ({minutes}m ago, 1 message): \"more\"");
        assert_eq!(told_with(&world, &[]), block(&[expected]), "known: {known}");
    }
    release(&world, &one, held);
    assert_eq!(told(&world), one_said(9, "unread"), "known: {known}");
    assert_eq!(told(&world), "", "known: {known}");
}

/// Whoever opens the file is told to try again, also root.
#[cfg(target_os = "linux")]
fn lease(path: &Path) -> fs::File {
    use std::os::fd::AsRawFd;
    const F_SETSIG: libc::c_int = 10;
    let file = fs::File::options()
        .read(true)
        .write(true)
        .open(path)
        .expect("a file");
    // Somebody else may have it open for a moment: a child of another test, before it becomes its program.
    loop {
        // SAFETY: the descriptor is open. The signal for an open is one that does nothing by default.
        let leased = unsafe {
            libc::fcntl(file.as_raw_fd(), F_SETSIG, libc::SIGURG) == 0
                && libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_WRLCK) == 0
        };
        if leased {
            return file;
        }
        let error = std::io::Error::last_os_error();
        assert_eq!(
            error.kind(),
            std::io::ErrorKind::WouldBlock,
            "no lease: {error}"
        );
        std::thread::yield_now();
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_that_could_not_be_opened_once_is_told_later() {
    for known in [true, false] {
        unreadable_once(known, |_, one| lease(one), |_, _, file| drop(file));
    }
}

#[test]
fn a_file_that_was_a_loop_is_told_later() {
    let hold = |world: &World, one: &Path| {
        fs::rename(one, world.path("aside")).expect("moved");
        symlink(one, one).expect("a link");
    };
    let release =
        |world: &World, one: &Path, ()| fs::rename(world.path("aside"), one).expect("moved back");
    unreadable_once(true, hold, release);
}

/// What was told of sessions in a directory that could not be read once is not told again.
#[test]
fn a_directory_that_was_a_loop_is_not_told_again() {
    let world = World::new();
    let one = asked(&world, ONE, 21, "one");
    assert_eq!(told(&world), one_said(21, "one"));
    world.append(&one, said(&world, 20, "unread"));
    let (dir, aside) = (one.parent().expect("a parent"), world.path("aside"));
    fs::rename(dir, &aside).expect("moved");
    symlink(dir, dir).expect("a link");
    let texts = (0..70).map(|number| answer(&world.path("work"), &ago(9), &format!("x{number}")));
    world.write(
        format!(".claude/projects/-any/{TWO}.jsonl"),
        texts.collect::<String>(),
    );
    assert_eq!(
        told_with(&world, &[]),
        block(&["- 22222222 (9m ago, 70 messages): said \"x69\""])
    );
    assert_eq!(told_with(&world, &[]), "");
    fs::remove_file(dir)
        .and_then(|()| fs::rename(&aside, dir))
        .expect("moved back");
    assert_eq!(told(&world), one_said(20, "unread"));
    assert_eq!(told(&world), "");
}

/// Old content that comes back, at once or bit by bit, is not told again; what is new is.
fn comes_back(steps: &[usize]) {
    let world = World::new();
    let lines: Vec<String> = (0..12)
        .map(|number| said(&world, 30 - number, &format!("said {number}")))
        .collect();
    let one = world.claude(ONE, &lines.concat());
    assert_eq!(
        told(&world),
        block(&["- 11111111 (19m ago, 12 messages): \"said 11\""])
    );
    for (at, step) in steps.iter().enumerate() {
        // In place, as a program does that writes a file anew.
        fs::write(&one, lines[..*step].concat()).expect("written");
        assert_eq!(told(&world), "", "{steps:?}, step {at}");
    }
    world.append(&one, said(&world, -1, "new"));
    assert_eq!(told_after(&world, 2), one_said(1, "new"), "{steps:?}");
    assert_eq!(told_after(&world, 2), "", "{steps:?}");
}

#[test]
fn old_content_that_comes_back_is_not_told_again() {
    comes_back(&[0, 12]);
    comes_back(&[6, 12]);
}

#[test]
fn old_content_that_comes_back_bit_by_bit_is_not_told_again() {
    [
        &[0, 6, 12][..],
        &[6, 9, 12],
        &[6, 3, 9, 12],
        &[0, 3, 0, 6, 12],
    ]
    .into_iter()
    .for_each(comes_back);
}

/// A name that goes over to another session: the rest of the old one and all of the new one are told, once.
#[test]
fn a_name_that_goes_over_to_another_session_loses_nothing() {
    for unread in [false, true] {
        let world = World::new();
        home(&world, ".volute", &[("main", ME), ("discord", ONE)]);
        let one = asked(&world, ONE, 9, "one");
        assert_eq!(
            told(&world),
            block(&["- discord (9m ago, 1 message): \"one\""])
        );
        world.append(&one, said(&world, 8, "two"));
        if unread {
            let done = hook(&world, &["--budget", "90"], &input(&world, ME))
                .run()
                .status(0)
                .stdout("");
            assert!(
                done.err().contains("nothing fits into 90"),
                "{}",
                done.err()
            );
        }
        asked(&world, TWO, 7, "three");
        home(&world, ".volute", &[("discord", TWO)]);
        let all: String = (0..4).map(|_| told(&world) + "\n").collect();
        for (word, count) in [("\"one\"", 0), ("\"two\"", 1), ("\"three\"", 1)] {
            assert_eq!(
                all.matches(word).count(),
                count,
                "unread: {unread}, {word}\n{all}"
            );
        }
        assert!(
            all.contains("- discord (7m ago, 1 message): \"three\""),
            "{all}"
        );
        world.append(world.transcript(TWO), said(&world, 6, "four"));
        assert_eq!(
            told(&world),
            block(&["- discord (6m ago, 1 message): \"four\""])
        );
        // And back.
        home(&world, ".volute", &[("discord", ONE)]);
        world.append(&one, said(&world, 5, "five"));
        let back = told(&world) + &told(&world);
        assert_eq!(
            back,
            block(&["- discord (5m ago, 1 message): \"five\""]),
            "unread: {unread}"
        );
    }
}

/// A clock that was set back hides nothing.
#[test]
fn a_clock_that_was_set_back_hides_nothing() {
    let world = World::new();
    asked(&world, ONE, 9, "one");
    assert_eq!(told(&world), one_said(9, "one"));
    move_clock(&world, HOUR_IN_MICROS);
    asked(&world, TWO, 5, "said after it");
    assert_eq!(
        told(&world),
        block(&["- 22222222 (5m ago, 1 message): \"said after it\""])
    );
    assert_eq!(told(&world), "");
}

/// A file that was replaced is known by its beginning, too.
#[test]
fn a_replaced_file_of_equal_lines_is_known_by_its_beginning() {
    let world = World::new();
    let cwd = path(&world, "work");
    let lines = |word: &str, minutes: i64, count: usize| -> String {
        let end = "a-branch-with-a-quite-long-name-that-is-the-same-on-every-line-of-it";
        let line = |number: usize| {
            format!(
                r#"{{"type":"user","message":{{"role":"user","content":"{word} {number:02}"}},"uuid":"{word}{number:02}","timestamp":"{}","cwd":"{cwd}","gitBranch":"{end}"}}"#,
                ago(minutes)
            ) + "\n"
        };
        (0..count).map(line).collect()
    };
    let one = world.claude(ONE, &lines("old", 9, 10));
    assert_eq!(
        told(&world),
        block(&["- 11111111 (9m ago, 10 messages): \"old 09\""])
    );
    let (old, new) = (lines("old", 9, 10), lines("new", -1, 60));
    assert_eq!(
        old[old.len() - 64..],
        new[old.len() - 64..old.len()],
        "as if it only grew"
    );
    fs::write(&one, new).expect("written");
    assert_eq!(
        told_after(&world, 2),
        block(&["- 11111111 (1m ago, 60 messages): \"new 59\""])
    );
    assert_eq!(told_after(&world, 2), "");
}
