//! `session-reader log --follow`: every entry once, as it is written. Nothing here sleeps: a test writes, and waits for
//! what must come of it.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};

use crate::scene::Chance;
use crate::support::claude::{answer, call, prompt, result};
use crate::support::run::WATCHDOG;
use crate::support::world::{ONE, TWO, World};

/// A program that runs, and its streams line by line.
struct Following {
    child: Child,
    out: Receiver<String>,
    err: Receiver<String>,
}

fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines() {
            let Ok(()) = sender.send(line.expect("UTF-8")) else {
                return;
            };
        }
    });
    receiver
}

impl Following {
    fn start(world: &World, args: &[&str]) -> Following {
        let mut child = world.reader(args).spawn();
        let out = lines(child.stdout.take().expect("stdout"));
        let err = lines(child.stderr.take().expect("stderr"));
        Following { child, out, err }
    }

    #[track_caller]
    fn shows(&self, expected: &str) {
        assert_eq!(self.out.recv_timeout(WATCHDOG).as_deref(), Ok(expected));
    }

    #[track_caller]
    fn says(&self, expected: &str) {
        assert_eq!(self.err.recv_timeout(WATCHDOG).as_deref(), Ok(expected));
    }

    /// Ends it as a user does. It has shown all that there was, and complains about nothing.
    #[track_caller]
    fn stop(self) {
        self.stop_by(libc::SIGINT);
    }

    #[track_caller]
    fn stop_by(mut self, signal: i32) {
        let id = i32::try_from(self.child.id()).expect("a process id");
        // SAFETY: the child has not been waited for, so the id is its own.
        assert_eq!(unsafe { libc::kill(id, signal) }, 0);
        let status = self.child.wait().expect("it ends");
        let left = |stream: &Receiver<String>| -> Vec<String> { stream.iter().collect() };
        assert_eq!((left(&self.out), left(&self.err)), (vec![], vec![]));
        assert_eq!(status.code(), Some(0));
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A session here with one prompt, and its path below HOME.
fn begun(world: &World, id: &str, text: &str) -> PathBuf {
    let path = world.claude(
        id,
        &prompt(&world.path("work"), "2026-11-16T02:00:00Z", text),
    );
    path.strip_prefix(world.path(""))
        .expect("below HOME")
        .to_owned()
}

fn shown(minute: usize, text: &str) -> String {
    format!("           02:{minute:02}  user       {text}")
}

fn said(world: &World, minute: usize, text: &str) -> String {
    prompt(
        &world.path("work"),
        &format!("2026-11-16T02:{minute:02}:00Z"),
        text,
    )
}

/// 003-D01, 003-D02: what is written in pieces, cut within a line and within a character, is shown whole and once.
#[test]
fn entries_come_once_however_they_are_written() {
    let world = World::new();
    let path = begun(&world, ONE, "first");
    let following = Following::start(&world, &["11111111", "--follow"]);
    following.shows("2026-11-16 02:00  user       first");
    let mut chance = Chance::new(3);
    let mut half = Vec::new();
    for minute in 1..20 {
        // The rest of the last line and a part of this one are written at once: when the last is shown, the part has
        // been seen, too.
        let line = said(&world, minute, &format!("żółw 🐢 日本 {minute}"));
        let line = line.as_bytes();
        let character = line
            .windows(4)
            .position(|bytes| bytes == "🐢".as_bytes())
            .expect("a turtle");
        let cut = if minute % 2 == 0 {
            character + 1 + minute % 3
        } else {
            1 + chance.below(line.len() - 1)
        };
        half.extend_from_slice(&line[..cut]);
        world.append(&path, &half);
        half = line[cut..].to_vec();
        if minute > 1 {
            following.shows(&shown(minute - 1, &format!("żółw 🐢 日本 {}", minute - 1)));
        }
    }
    world.append(&path, &half);
    following.shows(&shown(19, "żółw 🐢 日本 19"));
    following.stop();
}

/// Written byte by byte in random pieces, as fast as it goes.
#[test]
fn entries_come_once_when_they_come_fast() {
    let world = World::new();
    let path = begun(&world, ONE, "first");
    let following = Following::start(&world, &["11111111", "--follow"]);
    following.shows("2026-11-16 02:00  user       first");
    let text: String = (0..600)
        .map(|number| said(&world, number % 60, &format!("ünï {number}")))
        .collect();
    let mut chance = Chance::new(4);
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let (now, later) = rest.split_at(rest.len().min(1 + chance.below(400)));
        world.append(&path, now);
        rest = later;
    }
    for number in 0..600 {
        following.shows(&shown(number % 60, &format!("ünï {number}")));
    }
    following.stop();
}

/// Only the last entries are shown first, and with what was written meanwhile nothing is lost.
#[test]
fn it_starts_with_the_last_entries() {
    let world = World::new();
    let path = begun(&world, ONE, "first");
    for minute in 1..5 {
        world.append(&path, said(&world, minute, &format!("p{minute}")));
    }
    let unfinished = said(&world, 5, "p5");
    world.append(&path, &unfinished[..unfinished.len() - 1]);
    let following = Following::start(&world, &["--follow", "--lines", "2", "11111111"]);
    following.shows("2026-11-16 02:03  user       p3");
    following.shows(&shown(4, "p4"));
    world.append(&path, "\n");
    following.shows(&shown(5, "p5"));
    following.stop();
}

/// A line that is written again, and metadata, are no news.
#[test]
fn what_was_shown_is_not_shown_again() {
    let world = World::new();
    let path = begun(&world, ONE, "first");
    let following = Following::start(&world, &["11111111", "--follow"]);
    following.shows("2026-11-16 02:00  user       first");
    let again = prompt(&world.path("work"), "2026-11-16T02:00:00Z", "first");
    world.append(
        &path,
        again
            + "{\"type\":\"mode\",\"mode\":\"normal\"}\n{ broken\n\n"
            + &said(&world, 1, "second"),
    );
    following.shows(&shown(1, "second"));
    following.stop();
}

/// A call is shown when it is made, and again when it has failed.
#[test]
fn a_failed_call_is_reported() {
    let world = World::new();
    let path = begun(&world, ONE, "first");
    world.append(&path, call("2026-11-16T02:01:00Z", "t0", "before"));
    let following = Following::start(&world, &["11111111", "--follow"]);
    following.shows("2026-11-16 02:00  user       first");
    following.shows("           02:01  assistant  [Bash before]");
    world.append(
        &path,
        call("2026-11-16T02:02:00Z", "t1", "make")
            + &call("2026-11-16T02:02:00Z", "t2", "make install"),
    );
    following.shows("           02:02  assistant  [Bash make]");
    following.shows("           02:02  assistant  [Bash make install]");
    world.append(
        &path,
        result("2026-11-16T02:03:00Z", "t1", true) + &result("2026-11-16T02:03:00Z", "t2", false),
    );
    following.shows("           02:03  assistant  [Bash make] failed");
    world.append(&path, result("2026-11-16T02:04:00Z", "t0", true));
    following.shows("           02:04  assistant  [Bash before] failed");
    following.stop();
}

/// Another file in its place is read from its start; what is in both is not shown again.
#[test]
fn a_replaced_file_is_read_from_its_start() {
    let world = World::new();
    let path = begun(&world, ONE, "first");
    let old = std::fs::read_to_string(world.path(&path)).expect("a transcript");
    let following = Following::start(&world, &["11111111", "--follow"]);
    following.shows("2026-11-16 02:00  user       first");
    let replace = |content: String| {
        std::fs::rename(world.write("other", content), world.path(&path)).expect("replaced");
    };
    replace(said(&world, 1, "inserted") + &old + &said(&world, 2, "appended"));
    following.shows(&shown(1, "inserted"));
    following.shows(&shown(2, "appended"));
    // Shorter than before.
    replace(said(&world, 3, "x"));
    following.shows(&shown(3, "x"));
    // As long as before.
    replace(said(&world, 4, "y"));
    following.shows(&shown(4, "y"));
    world.append(&path, said(&world, 5, "and on"));
    following.shows(&shown(5, "and on"));
    following.stop();
}

/// Quirk 5: cut off and written on in place.
#[test]
fn a_truncated_file_is_read_from_its_start() {
    let world = World::new();
    let path = begun(&world, ONE, "first");
    let following = Following::start(&world, &["11111111", "--follow"]);
    following.shows("2026-11-16 02:00  user       first");
    world.write(
        &path,
        said(&world, 1, "a longer text than there was before"),
    );
    following.shows(&shown(1, "a longer text than there was before"));
    world.write(&path, said(&world, 2, "short"));
    following.shows(&shown(2, "short"));
    following.stop();
}

/// The same number of bytes, written over in place.
#[test]
fn a_file_written_over_with_as_many_bytes_is_read_again() {
    let world = World::new();
    let path = begun(&world, ONE, "first");
    let following = Following::start(&world, &["11111111", "--follow"]);
    following.shows("2026-11-16 02:00  user       first");
    world.append(&path, said(&world, 1, "other"));
    following.shows(&shown(1, "other"));
    let content = std::fs::read_to_string(world.path(&path)).expect("a transcript");
    world.write(&path, content.replace("other", "again"));
    following.shows(&shown(1, "again"));
    following.stop();
}

/// A file that goes away and comes back.
#[test]
fn a_file_that_vanishes_may_come_back() {
    let world = World::new();
    let path = begun(&world, ONE, "first");
    let other = begun(&world, TWO, "another");
    let following = Following::start(&world, &["--follow"]);
    following.says("session-reader: following 2 sessions");
    std::fs::remove_file(world.path(&path)).expect("removed");
    world.append(&other, said(&world, 1, "meanwhile"));
    following.shows("2026-11-16 02:01  22222222  user       meanwhile");
    world.write(&path, said(&world, 2, "back"));
    following.shows("           02:02  11111111  user       back");
    following.stop();
}

/// A transcript that does not exist yet, given by its path.
#[test]
fn a_file_may_appear_late() {
    let world = World::new();
    let path = world.path("work/late.jsonl");
    let name = path.to_str().expect("UTF-8");
    let following = Following::start(&world, &["log", name, "--follow"]);
    following.says(&format!("session-reader: waiting for '{name}' to begin"));
    world.write("work/late.jsonl", said(&world, 0, "at last"));
    following.shows("2026-11-16 02:00  user       at last");
    world.append("work/late.jsonl", said(&world, 1, "and on"));
    following.shows(&shown(1, "and on"));
    following.stop();
}

/// A session of this home that has a name and no transcript yet.
#[test]
fn a_named_session_may_begin_late() {
    let world = World::new();
    world.write(
        "work/.volute/sessions/discord.json",
        format!("{{\"sessionId\":\"{ONE}\"}}"),
    );
    let following = Following::start(&world, &["discord", "--follow"]);
    following.says("session-reader: waiting for 'discord' to begin");
    begun(&world, ONE, "at last");
    following.shows("2026-11-16 02:00  user       at last");
    following.stop();
}

/// Who waits for a file that never comes can stop waiting.
#[test]
fn waiting_can_be_ended() {
    let world = World::new();
    let following = Following::start(&world, &["log", "never.jsonl", "--follow"]);
    following.says("session-reader: waiting for 'never.jsonl' to begin");
    following.stop();
}

/// A name that nobody will ever have is an error at once.
#[test]
fn an_unknown_name_is_not_waited_for() {
    let world = World::new();
    begun(&world, ONE, "first");
    world
        .reader(&["nobody", "--follow"])
        .run()
        .status(2)
        .stdout("")
        .stderr_has("no command or session is called 'nobody'");
}

/// Without a name all sessions of the project are followed, also one that begins later, and no others.
#[test]
fn a_project_is_followed() {
    let world = World::new();
    let one = begun(&world, ONE, "old one");
    let two = begun(&world, TWO, "old two");
    let elsewhere = ".claude/projects/-else/99999999.jsonl";
    world.write(
        elsewhere,
        prompt(Path::new("/else"), "2026-11-16T02:00:00Z", "elsewhere"),
    );
    let following = Following::start(&world, &["--follow"]);
    following.says("session-reader: following 2 sessions");
    world.append(
        elsewhere,
        prompt(Path::new("/else"), "2026-11-16T02:01:00Z", "not here"),
    );
    world.append(&one, said(&world, 1, "in one"));
    following.shows("2026-11-16 02:01  11111111  user       in one");
    world.append(
        &two,
        answer(
            &world.path("work"),
            "2026-11-16T02:02:00Z",
            "in two\nand a line",
        ),
    );
    following.shows("           02:02  22222222  assistant  in two");
    following.shows("                                       and a line");
    let three = begun(&world, "33333333-0000", "a new session");
    following.shows("           02:00  33333333  user       a new session");
    world.append(&three, said(&world, 3, "goes on"));
    following.shows("           02:03  33333333  user       goes on");
    following.stop();
}

/// A session that comes into the project while it is followed: what it said elsewhere is not shown.
#[test]
fn a_session_may_come_into_the_project() {
    let world = World::new();
    begun(&world, ONE, "old one");
    let elsewhere = ".claude/projects/-else/99999999.jsonl";
    let there = |minute: usize, text: &str| {
        prompt(
            Path::new("/else"),
            &format!("2026-11-16T02:{minute:02}:00Z"),
            text,
        )
    };
    world.write(
        elsewhere,
        there(0, "elsewhere") + &there(1, "elsewhere, too"),
    );
    let following = Following::start(&world, &["--follow"]);
    following.says("session-reader: following 1 session");
    world.append(elsewhere, said(&world, 2, "now here"));
    following.shows("2026-11-16 02:02  99999999  user       now here");
    world.append(elsewhere, said(&world, 3, "and on"));
    following.shows("           02:03  99999999  user       and on");
    following.stop();
}

#[test]
fn a_machine_is_followed_as_json() {
    let world = World::new();
    let one = begun(&world, ONE, "old one");
    let elsewhere = ".claude/projects/-else/99999999.jsonl";
    world.write(
        elsewhere,
        prompt(Path::new("/else"), "2026-11-16T02:00:00Z", "elsewhere"),
    );
    let following = Following::start(&world, &["log", "--follow", "--all", "--json"]);
    following.says("session-reader: following 2 sessions");
    world.append(&one, said(&world, 1, "here"));
    following
        .shows(r#"{"session":"11111111","time":"2026-11-16T02:01:00.000Z","role":"user","kind":"text","text":"here","schema":1}"#);
    world.append(elsewhere, call("2026-11-16T02:02:00Z", "t1", "make"));
    following.shows(
        r#"{"session":"99999999","time":"2026-11-16T02:02:00.000Z","role":"assistant","kind":"call","tool":"Bash","act":"run","subject":"make","failed":false,"schema":1}"#,
    );
    begun(&world, "33333333-0000", "a new session");
    following.shows(r#"{"session":"33333333","time":"2026-11-16T02:00:00.000Z","role":"user","kind":"text","text":"a new session","schema":1}"#);
    following.stop();
}

#[test]
fn following_one_session_is_said_in_the_singular() {
    let world = World::new();
    begun(&world, ONE, "first");
    let following = Following::start(&world, &["--follow"]);
    following.says("session-reader: following 1 session");
    following.stop();
}

/// An empty project is followed, too: the first session may begin at any time.
#[test]
fn an_empty_project_is_followed() {
    let world = World::new();
    let following = Following::start(&world, &["--follow"]);
    following.says("session-reader: following 0 sessions");
    begun(&world, ONE, "the first of all");
    following.shows("2026-11-16 02:00  11111111  user       the first of all");
    following.stop();
}

/// With --lines, what was said last in any of them comes first, in the order of time.
#[test]
fn a_project_is_followed_from_its_last_entries() {
    let world = World::new();
    let one = begun(&world, ONE, "one, first");
    let two = begun(&world, TWO, "two, first");
    world.append(&one, said(&world, 2, "one, later"));
    world.append(&two, said(&world, 1, "two, later"));
    let following = Following::start(&world, &["--follow", "--lines", "2"]);
    following.shows("2026-11-16 02:01  22222222  user       two, later");
    following.shows("           02:02  11111111  user       one, later");
    following.says("session-reader: following 2 sessions");
    world.append(&two, said(&world, 3, "news"));
    following.shows("           02:03  22222222  user       news");
    following.stop();
}

#[test]
fn one_session_is_followed_as_json() {
    let world = World::new();
    let path = begun(&world, ONE, "first");
    let following = Following::start(&world, &["11111111", "--follow", "--json"]);
    following
        .shows(r#"{"time":"2026-11-16T02:00:00.000Z","role":"user","kind":"text","text":"first","schema":1}"#);
    world.append(&path, said(&world, 1, "second"));
    following.shows(
        r#"{"time":"2026-11-16T02:01:00.000Z","role":"user","kind":"text","text":"second","schema":1}"#,
    );
    following.stop();
}

/// A name on disk is a stranger's text: in front of an entry it is as harmless as the entry.
#[test]
fn the_names_of_sessions_are_shown_without_escape_sequences() {
    let world = World::new();
    let path = begun(&world, "\u{1b}[31mred", "first");
    let following = Following::start(&world, &["--follow"]);
    following
        .err
        .recv_timeout(WATCHDOG)
        .expect("how many sessions are followed");
    world.append(&path, said(&world, 1, "second"));
    following.shows("2026-11-16 02:01  red  user       second");
    following.stop();
}

#[test]
fn a_request_to_end_is_enough() {
    let world = World::new();
    begun(&world, ONE, "first");
    let following = Following::start(&world, &["11111111", "--follow"]);
    following.shows("2026-11-16 02:00  user       first");
    following.stop_by(libc::SIGTERM);
}

/// `--follow | head -1` ends with the next entry after the reader has gone.
#[test]
fn a_closed_pipe_ends_it() {
    let world = World::new();
    let path = begun(&world, ONE, "first");
    let mut child = world.reader(&["11111111", "--follow"]).spawn();
    let mut out = BufReader::new(child.stdout.take().expect("stdout"));
    out.read_line(&mut String::new()).expect("the first line");
    drop(out);
    world.append(&path, said(&world, 1, "second"));
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), output.stderr), (Some(0), vec![]));
}

/// A file that was replaced used to be shown from its start wherever entries have no ids by which they are known again,
/// and a list of what was said before was shown as news.
#[test]
fn what_was_said_before_is_no_news() {
    let world = World::new();
    let codex = |minute: usize, text: &str| {
        format!(
            r#"{{"timestamp":"2026-11-16T02:{minute:02}:00Z","type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}}}"#
        ) + "\n"
    };
    let path = world.write(
        "some.jsonl",
        codex(1, "one") + &codex(2, "two") + &codex(3, "three"),
    );
    let following = Following::start(
        &world,
        &[path.to_str().expect("UTF-8"), "--follow", "--lines", "1"],
    );
    following.shows("2026-11-16 02:03  user       three");
    let rewritten = codex(0, "before")
        + &codex(1, "one")
        + &codex(2, "two")
        + &codex(3, "three")
        + &codex(4, "four");
    std::fs::rename(world.write("other", rewritten), &path).expect("replaced");
    following.shows(&shown(4, "four"));
    following.stop();

    let said = |id: usize| {
        format!(
            r#"{{"id":"m{id}","timestamp":"2026-11-16T02:{id:02}:00Z","type":"user","content":[{{"text":"text {id}"}}]}}"#
        )
    };
    let gemini = world.write(
        "gemini.jsonl",
        format!("{}\n{}\n{}\n", said(1), said(2), said(3)),
    );
    let following = Following::start(
        &world,
        &[gemini.to_str().expect("UTF-8"), "--follow", "--lines", "1"],
    );
    following.shows("2026-11-16 02:03  user       text 3");
    let again = format!(
        "{{\"$set\":{{\"messages\":[{},{},{}]}}}}\n{}\n",
        said(1),
        said(2),
        said(3),
        said(4)
    );
    world.append("gemini.jsonl", again);
    following.shows(&shown(4, "text 4"));
    following.stop();
}

/// Only what fits is shown, also of a call that was under way before.
#[test]
fn a_slice_is_followed() {
    let world = World::new();
    let file = begun(&world, ONE, "begin");
    let lint = |id: &str, command: &str| call("2026-11-16T02:00:30Z", id, command);
    let failed =
        |id: &str, minute: usize| result(&format!("2026-11-16T02:{minute:02}:00Z"), id, true);
    world.append(
        &file,
        lint("t0", "cargo clippy") + &failed("t0", 1) + &lint("t1", "cargo test"),
    );
    let follow =
        |args: &[&str]| Following::start(&world, &[&["11111111", "--follow"], args].concat());
    let (prompts, errors, grep) = (
        follow(&["--prompts"]),
        follow(&["--errors"]),
        follow(&["--grep", "BEGIN"]),
    );
    prompts.shows("2026-11-16 02:00  user       begin");
    grep.shows("2026-11-16 02:00  user       begin");
    errors.shows("2026-11-16 02:00  assistant  [Bash cargo clippy] failed");
    errors.shows("           02:01  result     out");
    world.append(&file, failed("t1", 2));
    errors.shows("           02:02  assistant  [Bash cargo test] failed");
    errors.shows("           02:02  result     out");
    world.append(
        &file,
        answer(&world.path("work"), "2026-11-16T02:02:00Z", "it failed"),
    );
    world.append(&file, said(&world, 3, "begin again"));
    prompts.shows(&shown(3, "begin again"));
    grep.shows(&shown(3, "begin again"));
    [prompts, errors, grep]
        .into_iter()
        .for_each(Following::stop);
}
