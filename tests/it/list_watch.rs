//! `session-reader list --watch`: the table again whenever it is different, until nobody looks any more.
//!
//! It runs in this process, before a screen that does something whenever it is shown a frame, and goes away in the end.
//! So no test waits for anything but the next frame.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::atomic::AtomicBool;

use session_core::env::Env;
use session_core::show::terminal::Style;
use session_core::stage::Exit;
use session_format::time::Time;
use session_reader::args;

use crate::support::claude::{answer, prompt};
use crate::support::script::Script;
use crate::support::times::NOW;
use crate::support::world::{ID, ONE, TWO, World};

const EARLY: &str = "2026-11-16T02:58:00Z";
const LATE: &str = "2026-11-16T02:59:00Z";
const CLEARED: &str = "\x1b[2J";

type Act<'a> = Box<dyn FnOnce() + 'a>;

struct Screen<'a> {
    written: Vec<u8>,
    frames: Vec<String>,
    /// What to do after each frame. After the last of them there is no screen any more.
    acts: VecDeque<Act<'a>>,
}

impl Write for Screen<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.written.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.frames
            .push(String::from_utf8(std::mem::take(&mut self.written)).expect("UTF-8"));
        let act = self.acts.pop_front().ok_or(io::ErrorKind::BrokenPipe)?;
        act();
        Ok(())
    }
}

/// What is on the screen, frame by frame, if something is done after each of them but the last.
fn frames(world: &World, acts: Vec<Act>) -> Vec<String> {
    frames_with(world, &[], acts)
}

fn env(world: &World) -> Env {
    let now = Time::parse(NOW.as_bytes()).expect("a time");
    Env::fixed(&world.path(""), world.path("work"), now).with("COLUMNS", "80")
}

fn frames_with(world: &World, args: &[&str], acts: Vec<Act>) -> Vec<String> {
    let env = env(world);
    let words = ["session-reader", "list", "--watch"]
        .iter()
        .chain(args)
        .map(OsString::from);
    let command = args::parse(words, &env, true).expect("a command").command;
    let mut screen = Screen {
        written: Vec::new(),
        frames: Vec::new(),
        acts: acts.into(),
    };
    let (mut err, style) = (Vec::new(), Style::new(&env, true, Some(false)));
    let exit = session_reader::run(
        command,
        &env,
        style,
        &mut screen,
        &mut err,
        &AtomicBool::new(false),
    );
    assert_eq!(
        (exit, String::from_utf8_lossy(&err)),
        (Exit::Found, "".into())
    );
    // The program writes out what is left when it ends, which is nothing.
    assert_eq!(screen.frames.pop().as_deref(), Some(""));
    if let Some(first) = screen.frames.first_mut() {
        *first = first
            .strip_prefix(CLEARED)
            .expect("a screen without what was there before")
            .to_owned();
    }
    screen.frames
}

/// The bytes of a frame: from the top, each line cleared to its end, nothing left below the last.
fn frame(lines: &[&str]) -> String {
    format!(
        "\x1b[H{}\x1b[J",
        lines
            .iter()
            .map(|line| format!("{line}\x1b[K\n"))
            .collect::<String>()
    )
}

const HEADS: &str = "NAME      AGENT   STATE    AGE  MSGS  TOKENS  TITLE";

#[test]
fn the_table_follows_what_sessions_do() {
    let world = World::new();
    let here = world.path("work");
    let file = world.claude(ID, &prompt(&here, EARLY, "fix the login page"));
    let acts: Vec<Act> = vec![
        Box::new(|| world.append(&file, answer(&here, LATE, "It works now."))),
        Box::new(|| {
            drop(
                Script::of(&world)
                    .ago(1)
                    .user("write the release notes")
                    .says("Done.")
                    .save(&world, ONE),
            );
        }),
        Box::new(|| std::fs::remove_file(&file).expect("removed")),
    ];
    let notes = "11111111  claude  waiting   1m     2      1k  write the release notes";
    let expected = [
        frame(&[
            HEADS,
            "5e551000  claude  working   2m     1       -  fix the login page",
        ]),
        frame(&[
            HEADS,
            "5e551000  claude  waiting   1m     2      1k  fix the login page",
        ]),
        frame(&[
            HEADS,
            notes,
            "5e551000  claude  waiting   1m     2      1k  fix the login page",
        ]),
        frame(&[HEADS, notes]),
    ];
    assert_eq!(frames(&world, acts), expected);
}

#[test]
fn an_empty_list_says_so_until_a_session_begins() {
    let world = World::new();
    let acts: Vec<Act> = vec![Box::new(|| {
        drop(
            Script::of(&world)
                .ago(1)
                .user("write the release notes")
                .save(&world, TWO),
        );
    })];
    let expected = [
        frame(&[
            "no sessions in this project; `session-reader formats` shows where they are looked for",
        ]),
        frame(&[
            HEADS,
            "22222222  claude  working   1m     1       -  write the release notes",
        ]),
    ];
    assert_eq!(frames(&world, acts), expected);
}

/// A table that is longer than the terminal would scroll away, so no flag makes it longer, and none is named that would.
#[test]
fn what_does_not_fit_is_counted_and_no_flag_is_promised_that_shows_it() {
    let world = World::new();
    let rows = env(&world).height().max(8) - 3;
    let total = rows + 5;
    for number in 0..total {
        world.claude(
            &format!("{number:03}aaaaa"),
            &prompt(&world.path("work"), EARLY, "hello"),
        );
    }
    let last = |args: &[&str]| {
        let frame = frames_with(&world, args, vec![]).pop().expect("a frame");
        let mut lines: Vec<_> = frame.split("\x1b[K\n").map(str::to_owned).collect();
        (lines.len() - 3, lines.swap_remove(lines.len() - 2))
    };
    let taller =
        format!("5 more: a taller terminal shows them, or --limit {total} without --watch");
    assert_eq!(last(&[]), (rows, taller.clone()));
    assert_eq!(last(&["--limit", &total.to_string()]), (rows, taller));
    assert_eq!(
        last(&["--limit", "2"]),
        (2, format!("{} more: --limit {total} shows all", total - 2))
    );
}

#[test]
fn without_a_terminal_it_names_what_scripts_use() {
    let done = World::new().reader(&["list", "--watch"]).run();
    assert_eq!((done.code(), done.out()), (Some(2), ""));
    assert_eq!(
        done.err(),
        "session-reader: list --watch needs a terminal; `session-reader wait` is for scripts\n"
    );
}
