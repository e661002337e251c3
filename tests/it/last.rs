//! What `last` means: one rule, for every command and for a session that begins.

use std::ffi::OsString;
use std::sync::atomic::AtomicBool;

use Kind::{Asking, Done, Elsewhere, Passing, Worked};
use session_context::args as context;
use session_core::env::Env;
use session_core::show::terminal::Style;
use session_core::stage;
use session_format::time::Time;
use session_reader::args;

use crate::support::claude::{answer, prompt};
use crate::support::times::NOW;
use crate::support::world::World;

/// What a session is, the best for `last` first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Worked,
    Passing,
    Done,
    Asking,
    Elsewhere,
}

const KINDS: [Kind; 5] = [Worked, Passing, Done, Asking, Elsewhere];

/// A few sessions, the oldest first.
struct Sessions {
    world: World,
    kinds: Vec<Kind>,
}

fn id(index: usize) -> String {
    format!(
        "{0}{0}{0}{0}{0}{0}{0}{0}-0000-4000-8000-000000000000",
        index + 1
    )
}

/// What was asked in a session, and nowhere else.
fn asked(index: usize) -> String {
    format!("Rewrite the parser of chapter {index}")
}

impl Sessions {
    fn new(kinds: &[Kind]) -> Sessions {
        let world = World::new();
        let sessions = Sessions {
            world,
            kinds: kinds.to_vec(),
        };
        let world = &sessions.world;
        for (index, kind) in kinds.iter().enumerate() {
            let cwd = world.path(if *kind == Elsewhere {
                "elsewhere"
            } else {
                "work"
            });
            std::fs::create_dir_all(&cwd).expect("a directory");
            let at = |second: usize| format!("2026-11-16T02:{:02}:{second:02}Z", 8 * index);
            let mut lines = prompt(&cwd, &at(0), &asked(index)) + &answer(&cwd, &at(1), "Well.");
            if *kind != Passing {
                lines +=
                    &(prompt(&cwd, &at(2), &asked(index)) + &answer(&cwd, &at(3), "Rewritten."));
            }
            world.write(format!(".claude/projects/-any/{}.jsonl", id(index)), lines);
            if *kind == Done {
                sessions.context(&["done", &id(index)]);
            }
        }
        sessions
    }

    /// The index of the session that `last` must mean, and what that is.
    fn last(&self) -> Option<(Kind, usize)> {
        let all = self
            .kinds
            .iter()
            .enumerate()
            .rev()
            .map(|(index, kind)| (*kind, index));
        all.min_by_key(|(kind, _)| *kind)
    }

    fn env(&self) -> Env {
        let now = Time::parse(NOW.as_bytes()).expect("a time");
        let mut env = Env::fixed(&self.world.path(""), self.world.path("work"), now);
        for (name, dir) in [
            ("XDG_STATE_HOME", ".state"),
            ("XDG_DATA_HOME", ".data"),
            ("XDG_CACHE_HOME", ".cache"),
        ] {
            env = env.with(name, self.world.path(dir));
        }
        match self.asking() {
            Some(asking) => env.with("CLAUDE_CODE_SESSION_ID", id(asking)),
            None => env,
        }
    }

    fn asking(&self) -> Option<usize> {
        self.kinds.iter().position(|kind| *kind == Asking)
    }

    fn reader(&self, args: &[&str]) -> String {
        let env = self.env();
        let words = ["session-reader"].iter().chain(args).map(OsString::from);
        let command = args::parse(words, &env, false).expect("a command").command;
        // Who follows stops at once.
        let (mut out, mut err, stop) = (Vec::new(), Vec::new(), AtomicBool::new(true));
        session_reader::run(
            command,
            &env,
            Style::new(&env, false, None),
            &mut out,
            &mut err,
            &stop,
        );
        String::from_utf8([out, err].concat()).expect("UTF-8")
    }

    fn context(&self, args: &[&str]) -> String {
        let env = self.env();
        let words = ["session-context"].iter().chain(args).map(OsString::from);
        let command = stage::parse::<context::Context>(words, &env, false)
            .expect("a command")
            .command;
        let (mut out, mut err) = (Vec::new(), Vec::new());
        context::run(
            command,
            &env,
            Style::new(&env, false, None),
            &mut out,
            &mut err,
        );
        String::from_utf8([out, err].concat()).expect("UTF-8")
    }

    /// What a session is told when it begins.
    fn start(&self) -> String {
        let session = self.asking().map_or_else(|| "new".into(), id);
        let cwd = self.world.path("work");
        let input = serde_json::json!({"session_id": session, "hook_event_name": "SessionStart", "source": "startup", "cwd": cwd});
        self.world
            .context(&[])
            .stdin(input.to_string())
            .run()
            .success()
            .out()
            .to_owned()
    }

    /// Which sessions an output is about.
    fn named_in(&self, output: &str) -> Vec<usize> {
        let is_named =
            |index: &usize| output.contains(&id(*index)[..8]) || output.contains(&asked(*index));
        (0..self.kinds.len()).filter(is_named).collect()
    }

    #[track_caller]
    fn check(&self) {
        let (kind, index) = self.last().expect("a session");
        let is = |output: &str, means: bool| {
            let expected = if means { vec![index] } else { vec![] };
            assert_eq!(
                self.named_in(output),
                expected,
                "{:?}: {output}",
                self.kinds
            );
        };
        for args in [&["log", "last"][..], &["log"], &["log", "last", "--follow"]] {
            is(&self.reader(args), true);
        }
        // What is told at the start is where work stopped.
        is(&self.start(), kind == Worked);
        let of_explain = self.context(&["explain", "last"]);
        is(
            of_explain.lines().next().unwrap_or_default(),
            kind != Elsewhere,
        );
        is(&self.context(&["mute", "last"]), kind != Elsewhere);
        let is_open = !matches!(kind, Elsewhere | Done);
        is(&self.reader(&["resume", "last"]), is_open);
        is(&self.reader(&["resume"]), is_open);
        is(&self.context(&["tag", "x", "--session", "last"]), is_open);
        // What is done already is not passed over: `done last` twice must not finish two sessions.
        let newer = self.kinds[index..]
            .iter()
            .rposition(|kind| *kind == Done)
            .filter(|newer| is_open && *newer > 0);
        let finished = self.context(&["done", "last"]);
        match newer {
            Some(newer) => assert!(
                finished.starts_with(&format!("{} was done already; ", &id(index + newer)[..8]))
            ),
            None => is(&finished, is_open),
        }
    }
}

/// All worlds of one and of two sessions: the better kind is meant, and of one kind the newer.
#[test]
fn every_command_means_the_same_session() {
    for one in KINDS {
        Sessions::new(&[one]).check();
        for two in KINDS
            .into_iter()
            .filter(|two| one != Asking || *two != Asking)
        {
            Sessions::new(&[one, two]).check();
        }
    }
}

#[test]
fn last_is_the_newest_of_many() {
    Sessions::new(&[Worked, Worked, Done, Passing, Passing, Elsewhere, Asking]).check();
    Sessions::new(&[Passing, Done, Asking, Passing, Done, Elsewhere]).check();
    Sessions::new(&[Done, Asking, Elsewhere, Done, Elsewhere]).check();
}

#[test]
fn where_there_is_none_that_is_said() {
    let none = Sessions::new(&[]);
    assert_eq!(none.last(), None);
    let said =
        "no sessions in this project; `session-reader formats` shows where they are looked for\n";
    assert_eq!(
        none.reader(&["resume", "last"]),
        format!("session-reader: {said}")
    );
    for args in [
        &["done", "last"][..],
        &["mute", "last"],
        &["explain", "last"],
        &["tag", "x", "--session", "last"],
    ] {
        assert_eq!(
            none.context(args),
            format!("session-context: {said}"),
            "{args:?}"
        );
    }
    assert_eq!(
        none.reader(&["log", "last"]),
        format!("session-reader: {said}")
    );
    assert!(
        none.start()
            .contains("there is no earlier session of this project")
    );
}

/// Whoever only reads gets one of another project, and is told so. What changes a session, or goes on with it, takes none.
#[test]
fn one_of_another_project_is_named() {
    let said =
        "session-reader: 'last' is 11111111, a session in ~/elsewhere; this project has none\n";
    for args in [&["last"][..], &["log"], &["log", "last", "--json"]] {
        Sessions::new(&[Elsewhere])
            .world
            .reader(args)
            .run()
            .status(0)
            .stderr(said);
        Sessions::new(&[Worked])
            .world
            .reader(args)
            .run()
            .status(0)
            .stderr("");
    }
    let none = "session-reader: no sessions in this project; 1 elsewhere: `session-reader list --all` shows them\n";
    assert_eq!(
        Sessions::new(&[Elsewhere]).reader(&["resume", "last"]),
        none
    );
}

/// A session that is called `last` in a named home is meant by its name.
#[test]
fn a_session_may_be_called_last() {
    let sessions = Sessions::new(&[Worked, Worked]);
    for (index, name) in ["last", "other"].iter().enumerate() {
        let file = format!("work/.volute/sessions/{name}.json");
        sessions
            .world
            .write(file, format!(r#"{{"sessionId":"{}"}}"#, id(index)));
    }
    for args in [&["log", "last"][..], &["resume", "last"]] {
        assert_eq!(sessions.named_in(&sessions.reader(args)), [0], "{args:?}");
    }
    assert_eq!(
        sessions.context(&["tag", "x", "--session", "last"]),
        "last: x\n"
    );
}

/// A session that came here from another project and is done there is done here, too.
#[test]
fn done_is_done_in_every_project() {
    let sessions = Sessions::new(&[Worked, Worked]);
    let file = sessions
        .world
        .path(format!(".claude/projects/-any/{}.jsonl", id(1)));
    let elsewhere = sessions.world.path("elsewhere");
    std::fs::create_dir_all(&elsewhere).expect("a directory");
    let came_here = std::fs::read_to_string(&file).expect("a transcript");
    let began = prompt(&elsewhere, "2026-11-16T02:09:00Z", "Plan it")
        + &answer(&elsewhere, "2026-11-16T02:09:01Z", "Well.");
    std::fs::write(&file, began + &came_here).expect("written");
    assert_eq!(
        sessions.named_in(&sessions.reader(&["resume", "last"])),
        [1]
    );
    sessions
        .world
        .context(&["done", &id(1)])
        .dir(&elsewhere)
        .run()
        .success();
    assert_eq!(sessions.named_in(&sessions.start()), [0]);
    assert_eq!(
        sessions.named_in(&sessions.reader(&["resume", "last"])),
        [0]
    );
}
