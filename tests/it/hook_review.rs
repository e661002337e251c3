//! What a strict reviewer found in the hook: a test for each, through the program.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::hook::{
    AGENTS, HEADER, ME, ONE, REQUEST, THREE, TWO, ago, all_clients, asked, block, calls, cursors, edit, home, hook,
    input, line, make_younger, on_machine, path, read_json, text, told, told_after, told_to, transcript,
};
use crate::world::{World, answer, prompt};

const SECOND: i64 = 1_000_000;
const HOUR: i64 = 3600 * SECOND;
const DAY: u64 = 24 * 3600;

/// What the session is told that asks from a directory, with some arguments; also if something is wrong.
fn told_in(world: &World, dir: &str, args: &[&str]) -> String {
    let mut input = input(world, ME);
    input["cwd"] = path(world, dir).into();
    text(&hook(world, args, &input).run().status(0))
}

fn told_with(world: &World, args: &[&str]) -> String {
    told_in(world, "work", args)
}

/// The time it is for files.
fn file_clock(world: &World) -> SystemTime {
    fs::metadata(world.write("clock", "")).and_then(|meta| meta.modified()).expect("a time")
}

pub(crate) fn written_ago(world: &World, path: &Path, seconds: u64) {
    let time = file_clock(world) - Duration::from_secs(seconds);
    File::options().append(true).open(path).and_then(|file| file.set_modified(time)).expect("stamped");
}

/// What the session that asks remembers of its last look.
fn look(world: &World) -> Value {
    read_json(&cursors(world, ME))[ME]["."].clone()
}

fn clock(world: &World) -> i64 {
    look(world)["clock"].as_i64().expect("a number")
}

/// As if the last look had been later, or earlier.
fn move_clock(world: &World, by: i64) {
    let mut saved = read_json(&cursors(world, ME));
    saved[ME]["."]["clock"] = (clock(world) + by).into();
    fs::write(cursors(world, ME), saved.to_string()).expect("written");
}

fn said(world: &World, minutes: i64, text: &str) -> String {
    prompt(&world.path("work"), &ago(minutes), text)
}

fn elsewhere(world: &World, id: &str, minutes: i64, text: &str) -> std::path::PathBuf {
    world.write(format!(".claude/projects/-other/{id}.jsonl"), prompt(&world.path("other"), &ago(minutes), text))
}

fn one_said(minutes: i64, text: &str) -> String {
    block(&[format!("- 11111111 ({minutes}m ago, 1 message): \"{text}\"")])
}

/// 1: A copy of what was told has nothing new, also if it ends with calls and much was told since; then it goes on.
fn copied(renamed: bool, much: bool, goes_on: bool) {
    let case = format!("renamed: {renamed}, much: {much}");
    let world = World::new();
    let spoken = said(&world, 9, REQUEST) + &answer(&world.path("work"), &ago(8), "I will edit it");
    let all = spoken + &calls(8, "c1", &["Edit a.rs"]) + &calls(7, "c2", &["Bash make"]);
    let one = world.claude(ONE, &all);
    let expected = format!("- 11111111 (7m ago, 4 messages): \"{REQUEST}\" -> updated a.rs, ran 1 command");
    assert_eq!(told(&world), block(&[expected]), "{case}");
    if much {
        let texts = (0..70).map(|number| answer(&world.path("work"), &ago(6), &format!("x{number}")));
        world.claude(THREE, &texts.collect::<String>());
        assert_eq!(told(&world), block(&["- 33333333 (6m ago, 70 messages): said \"x69\""]), "{case}");
    }
    let copy = transcript(&world, TWO);
    if renamed {
        fs::rename(one, &copy).expect("renamed");
    } else {
        make_younger(&copy, &all);
    }
    assert_eq!(told(&world), "", "{case}");
    if goes_on {
        assert_eq!(told(&world), "", "{case}");
        world.append(&copy, said(&world, 5, "own words"));
        assert_eq!(told(&world), block(&["- 22222222 (5m ago, 1 message): \"own words\""]), "{case}");
    }
}

#[test]
fn a_copy_that_ends_with_calls() {
    copied(false, false, true);
    copied(false, true, true);
}

#[test]
fn a_renamed_file_that_ends_with_calls() {
    copied(true, false, false);
    copied(true, true, false);
}

#[test]
fn a_renamed_file_that_goes_on() {
    copied(true, false, true);
    copied(true, true, true);
}

/// 2: Many transcripts of another project do not keep this one's news waiting, and are looked into once.
#[test]
fn many_transcripts_elsewhere() {
    const MANY: usize = 600;
    let world = World::new();
    written_ago(&world, &asked(&world, ME, 30, "mine"), 1200);
    let one = asked(&world, ONE, 9, "one");
    assert_eq!(told(&world), one_said(9, "one"));
    move_clock(&world, -HOUR / 2);
    world.append(&one, said(&world, 5, "important"));
    written_ago(&world, &one, 1200);
    // Decoding all of them takes longer than there is time.
    let body = answer(&world.path("other"), &ago(8), "blah").repeat(400);
    let foreign = |number: usize| format!(".claude/projects/-other{}/{number:08x}-0000.jsonl", number % 30);
    for number in 0..MANY {
        written_ago(&world, &world.write(foreign(number), &body), 600);
    }
    let ask = |deadline: &str| hook(&world, &[], &input(&world, ME)).env("SESSION_CONTEXT_DEADLINE", deadline).run();
    assert_eq!(text(&ask("2s").status(0)), one_said(5, "important"));
    assert_eq!(text(&ask("50s").success()), "");
    // Whoever opens one again finds something to tell.
    for number in 0..MANY {
        written_ago(&world, &world.write(foreign(number), said(&world, 4, "here")), 600);
    }
    let why = world.context(&["explain", "--session", ME]).run().success();
    let quiet = format!("  {} more: quiet since before the last look, here or elsewhere\n", MANY + 1);
    assert!(why.out().contains(&quiet), "all of them, and its own: {}", why.out());
    assert_eq!(told(&world), "");
}

/// 3: A directory that can never be read does not stop the clock.
#[test]
fn a_directory_that_can_never_be_read() {
    let world = World::new();
    let one = asked(&world, ONE, 9, "one");
    let bad = world.path(".claude/projects/-loop");
    symlink(&bad, &bad).expect("a link");
    assert_eq!(told_with(&world, &[]), one_said(9, "one"));
    for minutes in [5, 4] {
        move_clock(&world, -3 * HOUR);
        let before = clock(&world);
        world.append(&one, said(&world, minutes, "more"));
        let done = hook(&world, &[], &input(&world, ME)).run().status(0).stderr_has("-loop");
        assert_eq!(text(&done), one_said(minutes, "more"));
        assert!(clock(&world) >= before + HOUR, "{} after {before}", clock(&world));
        assert_eq!(told_with(&world, &[]), "");
    }
    asked(&world, TWO, 3, "two");
    assert_eq!(told_with(&world, &[]), block(&["- 22222222 (3m ago, 1 message): \"two\""]));
    assert_eq!(told_with(&world, &[]), "");
}

/// 3: What could not be read once is told when it can be, whatever was told meanwhile.
fn unreadable_once<Held>(known: bool, hold: impl Fn(&World, &Path) -> Held, release: impl Fn(&World, &Path, Held)) {
    let world = World::new();
    let one = transcript(&world, ONE);
    let two = asked(&world, TWO, 20, "two");
    if known {
        asked(&world, ONE, 21, "one");
    }
    assert!(told(&world).contains("two"));
    move_clock(&world, -HOUR / 2);
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
fn lease(path: &Path) -> File {
    use std::os::fd::AsRawFd;
    const F_SETSIG: libc::c_int = 10;
    let file = File::options().read(true).write(true).open(path).expect("a file");
    // Somebody else may have it open for a moment: a child of another test, before it becomes its program.
    for _ in 0..100 {
        // SAFETY: the descriptor is open. The signal for an open is one that does nothing by default.
        let leased = unsafe {
            libc::fcntl(file.as_raw_fd(), F_SETSIG, libc::SIGURG) == 0
                && libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_WRLCK) == 0
        };
        if leased {
            return file;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("no lease: {}", std::io::Error::last_os_error());
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_that_could_not_be_opened() {
    for known in [true, false] {
        unreadable_once(known, |_, one| lease(one), |_, _, file| drop(file));
    }
}

#[test]
fn a_file_that_was_a_loop() {
    let hold = |world: &World, one: &Path| {
        fs::rename(one, world.path("aside")).expect("moved");
        symlink(one, one).expect("a link");
    };
    let release = |world: &World, one: &Path, ()| fs::rename(world.path("aside"), one).expect("moved back");
    unreadable_once(true, hold, release);
}

/// 3: What was told of sessions in a directory that could not be read once is not told again.
#[test]
fn a_directory_that_was_a_loop() {
    let world = World::new();
    let one = asked(&world, ONE, 21, "one");
    assert_eq!(told(&world), one_said(21, "one"));
    world.append(&one, said(&world, 20, "unread"));
    let (dir, aside) = (one.parent().expect("a parent"), world.path("aside"));
    fs::rename(dir, &aside).expect("moved");
    symlink(dir, dir).expect("a link");
    let texts = (0..70).map(|number| answer(&world.path("work"), &ago(9), &format!("x{number}")));
    world.write(format!(".claude/projects/-any/{TWO}.jsonl"), texts.collect::<String>());
    assert_eq!(told_with(&world, &[]), block(&["- 22222222 (9m ago, 70 messages): said \"x69\""]));
    assert_eq!(told_with(&world, &[]), "");
    fs::remove_file(dir).and_then(|()| fs::rename(&aside, dir)).expect("moved back");
    assert_eq!(told(&world), one_said(20, "unread"));
    assert_eq!(told(&world), "");
}

/// 4: Old content that comes back, at once or bit by bit, is not told again; what is new is.
fn comes_back(steps: &[usize]) {
    let world = World::new();
    let lines: Vec<String> = (0..12).map(|number| said(&world, 30 - number, &format!("said {number}"))).collect();
    let one = world.claude(ONE, &lines.concat());
    assert_eq!(told(&world), block(&["- 11111111 (19m ago, 12 messages): \"said 11\""]));
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
fn old_content_that_comes_back() {
    comes_back(&[0, 12]);
    comes_back(&[6, 12]);
}

#[test]
fn old_content_that_comes_back_bit_by_bit() {
    [&[0, 6, 12][..], &[6, 9, 12], &[6, 3, 9, 12], &[0, 3, 0, 6, 12]].into_iter().for_each(comes_back);
}

/// 5: A name that goes over to another session: the rest of the old one and all of the new one are told, once.
#[test]
fn a_name_that_goes_over() {
    for unread in [false, true] {
        let world = World::new();
        home(&world, ".volute", &[("main", ME), ("discord", ONE)]);
        let one = asked(&world, ONE, 9, "one");
        assert_eq!(told(&world), block(&["- discord (9m ago, 1 message): \"one\""]));
        world.append(&one, said(&world, 8, "two"));
        if unread {
            let done = hook(&world, &["--budget", "90"], &input(&world, ME)).run().status(0).stdout("");
            assert!(done.err().contains("nothing fits into 90"), "{}", done.err());
        }
        asked(&world, TWO, 7, "three");
        home(&world, ".volute", &[("discord", TWO)]);
        let all: String = (0..4).map(|_| told(&world) + "\n").collect();
        for (word, count) in [("\"one\"", 0), ("\"two\"", 1), ("\"three\"", 1)] {
            assert_eq!(all.matches(word).count(), count, "unread: {unread}, {word}\n{all}");
        }
        assert!(all.contains("- discord (7m ago, 1 message): \"three\""), "{all}");
        world.append(transcript(&world, TWO), said(&world, 6, "four"));
        assert_eq!(told(&world), block(&["- discord (6m ago, 1 message): \"four\""]));
        // And back.
        home(&world, ".volute", &[("discord", ONE)]);
        world.append(&one, said(&world, 5, "five"));
        let back = told(&world) + &told(&world);
        assert_eq!(back, block(&["- discord (5m ago, 1 message): \"five\""]), "unread: {unread}");
    }
}

/// 6: A session that was seen from the whole machine is not told of in a project it does not belong to.
#[test]
fn seen_with_another_scope() {
    let world = World::new();
    fs::create_dir_all(world.path("other")).expect("a directory");
    let other = elsewhere(&world, ONE, 9, "secret");
    assert_eq!(told(&world), "");
    assert_eq!(told_with(&world, &["--scope", "machine"]), on_machine(&one_said(9, "secret")));
    world.append(&other, prompt(&world.path("other"), &ago(5), "more"));
    assert_eq!(told(&world), "");
    assert_eq!(told(&world), "");
    assert_eq!(told_with(&world, &["--scope", "machine"]), on_machine(&one_said(5, "more")));
}

/// 6: An observer that moves is told of where it is, and of what came meanwhile when it is back.
#[test]
fn an_observer_that_moves() {
    let world = World::new();
    fs::create_dir_all(world.path("other")).expect("a directory");
    let one = asked(&world, ONE, 20, "one");
    assert_eq!(told(&world), one_said(20, "one"));
    world.append(&one, said(&world, 19, "two"));
    assert_eq!(told_in(&world, "other", &[]), "");
    // Passed over there, and written long before it is back.
    written_ago(&world, &asked(&world, TWO, 18, "meanwhile"), 600);
    elsewhere(&world, THREE, 17, "there");
    assert_eq!(told_in(&world, "other", &[]), block(&["- 33333333 (17m ago, 1 message): \"there\""]));
    let (two, one) = ("- 22222222 (18m ago, 1 message): \"meanwhile\"", "- 11111111 (19m ago, 1 message): \"two\"");
    assert_eq!(told(&world), block(&[two, one]));
    assert_eq!(told(&world), "");
    assert_eq!(told_in(&world, "other", &[]), "");
}

/// 6: Of a session that came into the project only what it said here counts.
#[test]
fn a_session_that_came_here() {
    for looked in [true, false] {
        let world = World::new();
        fs::create_dir_all(world.path("other")).expect("a directory");
        let there = |minutes: i64, text: &str| prompt(&world.path("other"), &ago(minutes), text);
        let one = elsewhere(&world, ONE, 20, "private");
        world.append(&one, there(19, "private too"));
        if looked {
            assert_eq!(told(&world), "");
        }
        world.append(&one, said(&world, 9, "now here") + &there(8, "away") + &said(&world, 7, "back"));
        let expected = block(&["- 11111111 (7m ago, 2 messages): \"back\""]);
        assert_eq!(told(&world), expected, "looked: {looked}");
        world.append(&one, there(6, "gone"));
        assert_eq!(told(&world), "");
    }
}

/// 7: A clock that was set back hides nothing.
#[test]
fn a_clock_that_was_set_back() {
    let world = World::new();
    asked(&world, ONE, 9, "one");
    assert_eq!(told(&world), one_said(9, "one"));
    move_clock(&world, HOUR);
    asked(&world, TWO, 5, "said after it");
    assert_eq!(told(&world), block(&["- 22222222 (5m ago, 1 message): \"said after it\""]));
    assert_eq!(told(&world), "");
}

/// 8: A directory of the same repository is the same place.
#[test]
fn a_directory_of_the_same_repository() {
    let world = World::new();
    world.write("work/.git/HEAD", "ref: refs/heads/main\n");
    fs::create_dir_all(world.path("work/sub/deep")).expect("directories");
    let one = asked(&world, ONE, 20, "0");
    assert_eq!(told(&world), one_said(20, "0"));
    let place = look(&world)["place"].clone();
    assert!(place.as_u64().is_some_and(|place| place > 0), "{place}");
    // Looking at everything again would find it.
    written_ago(&world, &asked(&world, TWO, 19, "old"), 600);
    for (minutes, dir) in [(15, "work/sub"), (14, "work/sub/deep"), (13, "work")] {
        world.append(&one, said(&world, minutes, dir));
        assert_eq!(told_in(&world, dir, &[]), one_said(minutes, dir));
        assert_eq!(look(&world)["place"], place, "{dir}");
    }
    fs::create_dir_all(world.path("other")).expect("a directory");
    elsewhere(&world, THREE, 5, "x");
    assert!(!told_in(&world, "other", &[]).is_empty());
    assert_ne!(look(&world)["place"], place);
}

/// 9: The newest title of an agent counts; one by a person counts more.
#[test]
fn newer_titles() {
    let world = World::new();
    let one = world.claude(ONE, "");
    let by_agent = |title: &str| line(json!({"type": "ai-title", "aiTitle": title}));
    let by_person = |title: &str| line(json!({"type": "custom-title", "customTitle": title}));
    for (minutes, titles, expected) in [
        (9, by_agent("Fix the parser"), "Fix the parser"),
        (8, by_agent("Write the notes"), "Write the notes"),
        (7, String::new(), "Write the notes"),
        (6, by_person("Mine"), "Mine"),
        (5, by_agent("Too late"), "Mine"),
        (4, by_person("Mine again") + &by_agent("Later"), "Mine again"),
        (3, String::new(), "Mine again"),
    ] {
        world.append(&one, said(&world, minutes, "x") + &titles);
        assert_eq!(told(&world), block(&[format!("- \"{expected}\" ({minutes}m ago, 1 message): \"x\"")]));
    }
}

/// 10: That there was more than could be read is not forgotten while it waits.
#[test]
fn more_than_could_be_read_waits() {
    let world = World::new();
    let one = asked(&world, ONE, 9, "one");
    assert_eq!(told(&world), one_said(9, "one"));
    let big = |number: usize| answer(&world.path("work"), &ago(5), &format!("{number} {}", "x".repeat(1000)));
    world.append(&one, (0..700).map(big).collect::<String>());
    assert!(fs::metadata(&one).expect("a file").len() > 2 << 20);
    for _ in 0..2 {
        hook(&world, &["--budget", "90"], &input(&world, ME)).run().status(0).stdout("").stderr_has("nothing fits");
    }
    let text = told(&world);
    let count = text.split(" (5m ago, ").nth(1).and_then(|rest| rest.split_once("+ messages)"));
    let count = count.and_then(|(count, _)| count.parse::<u32>().ok()).unwrap_or_else(|| panic!("{text}"));
    assert!((100..700).contains(&count), "{text}");
    world.append(&one, said(&world, 4, "after"));
    assert_eq!(told(&world), one_said(4, "after"));
}

/// 11: A new observer forgets those that have not looked for long; locks stay, somebody may hold one.
#[test]
fn what_is_forgotten() {
    let world = World::new();
    asked(&world, ONE, 9, "one");
    let file = |name: &str, days: u64| {
        let path = world.write(format!(".state/session-monitor/cursors/{name}"), "{}");
        written_ago(&world, &path, days * DAY);
        path
    };
    let all = || [file("agent-sdk-a.json", 100), file("a.lock", 100), file("b.json", 80), file("b.lock", 80)];
    let left = |files: &[std::path::PathBuf]| files.iter().map(|file| file.exists()).collect::<Vec<_>>();
    let files = all();
    assert_eq!(told(&world), one_said(9, "one"));
    assert_eq!(left(&files), [false, true, true, true]);
    // Only a first look does it.
    let files = all();
    world.append(transcript(&world, ONE), said(&world, 8, "two"));
    assert_eq!(told(&world), one_said(8, "two"));
    assert_eq!(left(&files), [true; 4]);
    assert!(!told_to(&world, TWO).is_empty());
    assert_eq!(left(&files), [false, true, true, true]);
}

/// 12: Stdin that pauses, wherever, is waited for; one that stays open after a whole object is not.
#[test]
fn stdin_that_pauses_or_stays_open() {
    let world = World::new();
    asked(&world, ONE, 9, "one");
    let ask = |id: &str| {
        let mut input = input(&world, id);
        input["effort"] = json!({"level": {"of": "high"}});
        input["a"] = "{}".into();
        let input = input.to_string();
        let inner: Vec<usize> = input.match_indices('}').map(|(at, _)| at + 1).collect();
        assert!(inner.len() >= 4, "{input}");
        (input, inner)
    };
    let answered = |input: &str, pauses: &[usize], open: bool| {
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        let child = Command::new(env!("CARGO_BIN_EXE_session-context"))
            .env_clear()
            .env("HOME", world.path(""))
            .env("XDG_STATE_HOME", world.path(".state"))
            .env("SESSION_MONITOR_NOW", crate::world::NOW)
            .env("SESSION_CONTEXT_DEADLINE", "20s")
            .current_dir(world.path("work"))
            .stdin(reader)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        std::thread::scope(|scope| {
            let written = scope.spawn(|| {
                let mut from = 0;
                for to in pauses {
                    let _ = writer.write_all(&input.as_bytes()[from..*to]);
                    std::thread::sleep(Duration::from_millis(40));
                    from = *to;
                }
                let _ = writer.write_all(&input.as_bytes()[from..]);
                // Closed here, or when it has answered.
                open.then_some(writer)
            });
            let output = if open {
                let output = child.wait_with_output();
                drop(written.join());
                output
            } else {
                drop(written.join());
                child.wait_with_output()
            };
            let output = output.expect("the program runs");
            assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{pauses:?}, open: {open}");
            let reply: Value = serde_json::from_slice(&output.stdout).expect("an answer");
            assert_eq!(reply["hookSpecificOutput"]["additionalContext"], one_said(9, "one"), "{pauses:?}");
        });
    };
    let (_, inner) = ask(ME);
    for (number, at) in inner[..inner.len() - 1].iter().enumerate() {
        answered(&ask(&format!("{number}{}", &ME[1..])).0, &[*at], number % 2 == 0);
    }
    answered(&ask(&format!("b{}", &ME[1..])).0, &inner, false);
    answered(&ask(&format!("c{}", &ME[1..])).0, &[], true);
    answered(&(ask(&format!("d{}", &ME[1..])).0 + "\n\n"), &[], true);
}

/// 13: A file that was replaced is known by its beginning, too.
#[test]
fn a_file_of_equal_lines() {
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
    assert_eq!(told(&world), block(&["- 11111111 (9m ago, 10 messages): \"old 09\""]));
    let (old, new) = (lines("old", 9, 10), lines("new", -1, 60));
    assert_eq!(old[old.len() - 64..], new[old.len() - 64..old.len()], "as if it only grew");
    fs::write(&one, new).expect("written");
    assert_eq!(told_after(&world, 2), block(&["- 11111111 (1m ago, 60 messages): \"new 59\""]));
    assert_eq!(told_after(&world, 2), "");
}

/// 14: In a named home, a new observer drops those that have no name and have not looked for long; all else stays.
#[test]
fn observers_of_a_home_that_are_dropped() {
    let world = World::new();
    home(&world, ".volute", &[("main", ME), ("discord", ONE), ("old-name", TWO)]);
    asked(&world, ONE, 9, "one");
    let now = file_clock(&world).duration_since(SystemTime::UNIX_EPOCH).expect("a time").as_micros() as i64;
    let view = |observer: &str, days: i64| {
        let clock = now - days * 24 * HOUR;
        format!(
            r#""{observer}": {{ ".":{{"version":1, "since":0,"clock": {clock},"theirs":[1,2.50]}},"discord":{{"offset": 7}}}}"#
        )
    };
    let by_another = r#""x":{"discord":{"offset": 7, "theirs":"\u0041"}}"#.to_owned();
    let stays = [view("old-name", 100), view("new-gone", 80), by_another];
    let goes = [view("old-gone", 100), view("33333333-0000", 91)];
    let file = world.path("work/.volute/session-cursors.json");
    let write = |all: Vec<&String>| {
        let all: Vec<&str> = all.into_iter().map(String::as_str).collect();
        fs::write(&file, format!("{{{}}}", all.join(","))).expect("written");
    };
    write(goes.iter().chain(&stays).collect());
    assert_eq!(told(&world), block(&["- discord (9m ago, 1 message): \"one\""]));
    let saved = fs::read_to_string(&file).expect("a file");
    let bytes = |view: &String| view.split_once('{').map(|(_, rest)| format!("{{{rest}")).expect("an object");
    let raw: std::collections::BTreeMap<String, Box<serde_json::value::RawValue>> =
        serde_json::from_str(&saved).expect("JSON");
    assert_eq!(raw.keys().collect::<Vec<_>>(), ["main", "new-gone", "old-name", "x"]);
    for (name, view) in ["old-name", "new-gone", "x"].iter().zip(&stays) {
        assert_eq!(raw[*name].get(), bytes(view).trim(), "{name}");
    }
    assert_eq!(told(&world), "");
}

/// 15: A fault of its own is where somebody sees it.
#[test]
#[cfg(debug_assertions)]
fn a_fault_is_noted() {
    let world = World::new();
    asked(&world, ONE, 9, "one");
    let done = hook(&world, &[], &input(&world, ME)).env("SESSION_CONTEXT_FAULT", "panic").run().status(0).stdout("");
    assert!(done.err().contains("asked for by SESSION_CONTEXT_FAULT"), "{}", done.err());
    let journal = fs::read_to_string(world.path(".state/session-monitor/journal.jsonl")).expect("a journal");
    let note: Value = serde_json::from_str(&journal).expect("one note");
    let trouble = note["trouble"][0].as_str().unwrap_or_default();
    assert!(trouble.starts_with("a fault of its own: ") && trouble.contains("SESSION_CONTEXT_FAULT"), "{journal}");
    let doctor = world.context(&["doctor"]).run();
    let shown = doctor.out().split_once("\nLast problem").map(|(_, rest)| rest).unwrap_or_default();
    assert!(shown.contains("asked for by SESSION_CONTEXT_FAULT"), "{}", doctor.out());
    assert_eq!(told(&world), one_said(9, "one"), "nothing is lost");
}

/// What sessions are called in a block, each once.
fn labels(text: &str) -> BTreeSet<String> {
    let name = |line: &str| {
        let line = line.strip_prefix("- ")?;
        let line = line.strip_prefix("! ").unwrap_or(line);
        let end = line.find(" (").into_iter().chain(line.find(" edited ")).min()?;
        Some(line[..end].to_owned())
    };
    text.lines().skip(1).filter_map(name).collect()
}

/// 16: What a session is called leads to it, and to no other; also when one of those asks that begin alike.
#[test]
fn names_lead_to_sessions() {
    let world = all_clients();
    let own = [
        ("agent-sdk", "48d9aa73-5bcd-46b5-9a1c-edf24543bdb2"),
        ("codex", "01a1e236-138c-7902-aa86-f9833bd81c72"),
        ("gemini", "53efae45-62ff-462c-8eec-de11bf32e264"),
        ("qwen", "1e2133c9-0042-4f81-a7d1-2a1c024038ed"),
        ("copilot", "d4131d36-2254-4ab2-b00f-5d0c75e6a0ab"),
        ("pi", "01a1e246-c934-7531-8b62-e7a9e9284b45"),
    ];
    let mut all = BTreeSet::new();
    for ((agent, input, _), (_, own)) in AGENTS.into_iter().zip(own) {
        for (id, scope, count) in [(ME, "project", 16), (TWO, "machine", 16), (own, "project", 15)] {
            let args = ["--agent", agent, "--budget", "9000", "--scope", scope];
            let done = hook(&world, &args, &input(&world, id)).run().success();
            let reply = done.json().remove(0);
            let places = ["/hookSpecificOutput/additionalContext", "/additionalContext", "/message/content"];
            let text = places.iter().find_map(|at| reply.pointer(at)?.as_str()).expect("a text");
            // Before it may be what a session is told when it begins.
            let labels = labels(&text[text.find("[Session Activity]").expect("a block")..]);
            assert_eq!(labels.len(), count, "{agent}: {text}");
            all.extend(labels);
        }
    }
    // With and without the agent, by id and by title.
    assert!(all.len() >= 32, "{all:?}");
    for label in &all {
        let done = world.reader(&[label, "--lines", "1"]).run().success();
        assert!(!done.out().is_empty(), "{label}");
    }
}

/// 17: A title that is not one session's alone is not what it is called.
#[test]
fn titles_that_are_not_unique() {
    let world = World::new();
    let title = |title: &str| line(json!({"type": "custom-title", "customTitle": title}));
    let session = |id: &str, minutes: i64, name: &str| world.claude(id, &(said(&world, minutes, "x") + &title(name)));
    session(ME, 30, "Mine");
    session(ONE, 9, "Twin");
    session(TWO, 8, "Twin");
    session(THREE, 7, "Mine");
    session("44444444-0000", 6, "Single");
    let called = |all: &[(&str, i64)]| {
        let bullets = all.iter().map(|(name, minutes)| format!("- {name} ({minutes}m ago, 1 message): \"x\""));
        block(&bullets.collect::<Vec<_>>())
    };
    let expected = called(&[("\"Single\"", 6), ("33333333", 7), ("22222222", 8), ("11111111", 9)]);
    assert_eq!(told(&world), expected);
    // A twin of what was told before.
    session("55555555-0000", 5, "Single");
    assert_eq!(told(&world), called(&[("55555555", 5)]));
    world.append(transcript(&world, "44444444-0000"), said(&world, 4, "x"));
    assert_eq!(told(&world), called(&[("44444444", 4)]));
}

/// 18: Conflicts first, and as many as fit; then the sessions, newest first, none before a newer one.
#[test]
fn what_comes_first() {
    let world = World::new();
    let long = format!("{}/{}.rs", "d".repeat(20), "f".repeat(60));
    let id = |number: i64| format!("{}-0000", number.to_string().repeat(8));
    let conflicts = [(3, &*long), (5, "a.rs"), (8, "b.rs")];
    world.claude(ME, &conflicts.iter().map(|(at, file)| edit(30, &format!("m{at}"), file)).collect::<String>());
    for number in 1..=9 {
        let file = conflicts.iter().find(|(at, _)| *at == number).map(|(_, file)| *file);
        let done = file.map_or_else(String::new, |file| edit(number, &format!("t{number}"), file));
        world.claude(&id(number), &(said(&world, number, &"word ".repeat(number as usize)) + &done));
    }
    let mut passed_over = 0;
    for budget in (150..900).step_by(10) {
        let mut input = input(&world, ME);
        input["session_id"] = format!("observer-{budget}").into();
        let text = text(&hook(&world, &["--budget", &budget.to_string()], &input).run().status(0));
        assert!(text.encode_utf16().count() <= budget, "{budget}: {text}");
        let lines: Vec<&str> = text.lines().collect();
        let number = |line: &str| line.trim_start_matches(['-', ' ', '!'])[..1].parse::<i64>().unwrap_or(0);
        let is_conflict = |line: &&&str| line.starts_with("- ! ");
        let first: Vec<i64> = lines.iter().filter(is_conflict).map(|line| number(line)).collect();
        assert!(text.is_empty() || lines[0] == HEADER, "{text}");
        assert!(lines.iter().skip(1).take(first.len()).all(|line| line.starts_with("- ! ")), "{budget}: {text}");
        let plain = lines.iter().skip(1 + first.len()).filter(|line| !line.starts_with("- +"));
        let plain: Vec<i64> = plain.map(|line| number(line)).collect();
        assert!(plain.is_sorted_by(|a, b| a < b) && plain.iter().all(|number| *number > 0), "{budget}: {text}");
        assert!(first.is_sorted(), "{budget}: {text}");
        let (theirs, others): (Vec<i64>, Vec<i64>) =
            plain.iter().partition(|number| conflicts.iter().any(|(at, _)| at == *number));
        assert_eq!(theirs, first, "{budget}: {text}");
        assert_eq!(others, [1, 2, 4, 6, 7, 9][..others.len()], "{budget}: {text}");
        passed_over += usize::from(!first.contains(&3) && !first.is_empty());
    }
    assert!(passed_over > 0, "a long conflict keeps no short one out");
}
