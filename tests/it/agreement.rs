//! Every command gives the same answer: one corpus of sessions, every command that speaks of a session asked about each,
//! and one table of what they must all say.
//!
//! A [`View`] is a command. It answers the questions that its output answers, in the words of the table. A question that two
//! commands answer must have one answer, and that is the one in the table. [`views`] takes every command there is apart, so a
//! new command joins the table or the tests do not compile.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use session_context::args::ContextCommand;
use session_core::process;
use session_reader::args::ReaderCommand;

use crate::support::claude::with;
use crate::support::clients::all_clients;
use crate::support::hook::{hook, input, text};
use crate::support::run::{Done, at_once};
use crate::support::script::Script;
use crate::support::times::ago;
use crate::support::world::{ME, ONE, TWO, World};

/// What commands say of session ONE: a question and its answer.
type Answers = Vec<(&'static str, String)>;

struct View {
    name: &'static str,
    asks: fn(&World) -> Answers,
}

/// The commands that speak of a session. Both matches are here for the compiler: what is new must be put in one of the lists.
fn views() -> Vec<View> {
    let reader = |command: &ReaderCommand| match command {
        ReaderCommand::List(_)
        | ReaderCommand::Log(_)
        | ReaderCommand::Watch(_)
        | ReaderCommand::Files(_)
        | ReaderCommand::Resume(_)
        | ReaderCommand::Continue(_)
        | ReaderCommand::Status(_)
        | ReaderCommand::Wait(_) => true,
        // They speak of words, of a terminal, of a person, of what was done or open before, and of formats.
        ReaderCommand::Search(_)
        | ReaderCommand::Go(_)
        | ReaderCommand::Find(_)
        | ReaderCommand::Profile(_)
        | ReaderCommand::Recap(_)
        | ReaderCommand::Restore(_)
        | ReaderCommand::Export(_)
        // Its tools are other commands.
        | ReaderCommand::Mcp
        | ReaderCommand::Capabilities(_)
        | ReaderCommand::Completions(_)
        | ReaderCommand::Complete(_)
        | ReaderCommand::Formats { .. } => false,
    };
    let context = |command: &ContextCommand| match command {
        ContextCommand::Explain(_) | ContextCommand::Statusline(_) => true,
        // They speak of made-up sessions, of settings and of what the user wrote.
        ContextCommand::Demo
        | ContextCommand::Install(_)
        | ContextCommand::Uninstall(_)
        | ContextCommand::Doctor
        | ContextCommand::Mute(_)
        | ContextCommand::Unmute(_)
        | ContextCommand::Pin(_)
        | ContextCommand::Pins(_)
        | ContextCommand::Unpin(_)
        | ContextCommand::Note(_)
        | ContextCommand::Notes(_)
        | ContextCommand::Done(_)
        | ContextCommand::Name(_)
        | ContextCommand::Tag(_)
        | ContextCommand::Tags(_)
        | ContextCommand::Profile(_)
        | ContextCommand::Live(_) => false,
    };
    let _ = (reader, context);
    vec![
        View {
            name: "list --json",
            asks: list,
        },
        View {
            name: "list",
            asks: plain_list,
        },
        View {
            name: "watch --once",
            asks: watch,
        },
        View {
            name: "wait",
            asks: wait,
        },
        View {
            name: "resume --json",
            asks: resume,
        },
        View {
            name: "resume",
            asks: plain_resume,
        },
        View {
            name: "resume --codes",
            asks: codes,
        },
        View {
            name: "continue --print",
            asks: note,
        },
        View {
            name: "files",
            asks: files,
        },
        View {
            name: "log last",
            asks: log,
        },
        View {
            name: "statusline",
            asks: statusline,
        },
        View {
            name: "status",
            asks: status,
        },
        View {
            name: "hook",
            asks: prompt_hook,
        },
        View {
            name: "start",
            asks: start_hook,
        },
        View {
            name: "explain",
            asks: explain,
        },
    ]
}

const STATES: [&str; 7] = [
    "needs-you",
    "error",
    "working",
    "waiting",
    "idle",
    "done",
    "gone",
];

fn yes(holds: bool) -> String {
    if holds { "yes" } else { "no" }.into()
}

/// The row of session ONE, if it is in the list.
fn row(world: &World) -> Option<Value> {
    let rows = world.reader(&["list", "--json"]).run().json();
    rows.into_iter().find(|row| row["id"] == ONE)
}

fn list(world: &World) -> Answers {
    let Some(row) = row(world) else {
        return vec![("here", "no".into())];
    };
    let word = |key: &str| row[key].as_str().unwrap_or("-").to_owned();
    vec![
        ("here", "yes".into()),
        ("state", word("state")),
        ("reason", word("reason")),
        ("title", word("title")),
        ("crashed", yes(word("reason").starts_with("crashed"))),
        ("permission", yes(word("reason").starts_with("permission"))),
    ]
}

fn plain_list(world: &World) -> Answers {
    let rows = world.reader(&["list"]).run();
    let Some(row) = rows.out().lines().find(|row| row.contains(&ONE[..8])) else {
        return vec![("here", "no".into())];
    };
    vec![
        ("here", "yes".into()),
        (
            "state",
            row.split_whitespace().nth(2).unwrap_or_default().into(),
        ),
    ]
}

/// Which heading of the screen it is under.
fn watch(world: &World) -> Answers {
    let screen = world
        .reader(&["watch", "--once"])
        .env("COLUMNS", "200")
        .env("LINES", "60")
        .run();
    let row = screen
        .out()
        .lines()
        .position(|line| line.contains(&ONE[..8]));
    let Some(row) = row else {
        return vec![("here", "no".into())];
    };
    let lines: Vec<&str> = screen.out().lines().take(row).collect();
    let urgent = ["Needs you", "Failed", "Working"];
    let heading = lines.iter().rev().find_map(|line| {
        urgent
            .into_iter()
            .find(|head| line.trim().starts_with(head))
    });
    let is_other = lines.iter().rev().map(|line| line.trim()).find(|line| {
        let first = line.split("  ").next().unwrap_or_default();
        urgent.contains(&first) || ["Recent", "Earlier"].contains(&first)
    });
    let heading = heading.filter(|heading| is_other.is_some_and(|line| line.starts_with(heading)));
    vec![
        ("here", "yes".into()),
        ("needs you", yes(heading == Some("Needs you"))),
        ("works", yes(heading == Some("Working"))),
    ]
}

/// The one state that a script need not wait for.
fn wait(world: &World) -> Answers {
    // At once: whoever waits in vain looks again after a second.
    let waits =
        STATES.map(|state| world.reader(&["wait", ONE, "--until", state, "--timeout", "1ms"]));
    let ended = STATES.iter().zip(at_once(waits.into()));
    let states: Vec<&str> = ended
        .filter(|(_, done)| done.code() == Some(0))
        .map(|(state, _)| *state)
        .collect();
    vec![("state", states.join(" and "))]
}

fn resume(world: &World) -> Answers {
    let all = world
        .reader(&["resume", ONE, "--json"])
        .run()
        .json()
        .remove(0);
    let word = |key: &str| all[key].as_str().unwrap_or("-").to_owned();
    let has = |kind: &str| {
        all["blockers"]
            .as_array()
            .expect("blockers")
            .iter()
            .any(|blocker| blocker["kind"] == kind)
    };
    let files = all["files_modified"]
        .as_array()
        .expect("files")
        .iter()
        .map(|file| file["path"].as_str().expect("a path"));
    vec![
        ("state", word("state")),
        ("reason", word("reason")),
        ("title", word("title")),
        ("crashed", yes(has("crashed"))),
        ("permission", yes(has("permission"))),
        (
            "works",
            yes(word("state") == "working"
                && word("status") == "active"
                && word("ending") != "unfinished"),
        ),
        ("marked done", all["done"].to_string()),
        (
            "edited",
            files
                .map(|path| path.rsplit('/').next().expect("a name"))
                .collect::<Vec<_>>()
                .join(" "),
        ),
    ]
}

fn plain_resume(world: &World) -> Answers {
    let shown = world.reader(&["resume", ONE]).env("COLUMNS", "400").run();
    let second = shown.out().lines().nth(1).unwrap_or_default().to_owned();
    vec![
        ("works", yes(second.starts_with("At work"))),
        ("needs you", yes(second.starts_with("Needs you"))),
        ("crashed", yes(second.contains("crashed"))),
        (
            "marked done",
            yes(second.contains("marked done"))
                .replace("yes", "true")
                .replace("no", "false"),
        ),
    ]
}

fn note(world: &World) -> Answers {
    let note = world.reader(&["continue", ONE, "--print"]).run();
    let has = |label: &str| yes(note.out().contains(label));
    let mut lines = note.out().lines();
    let session = lines.find(|line| line.starts_with("- Session: "));
    let state = session
        .and_then(|line| line.split("; ").nth(2))
        .unwrap_or_default();
    vec![
        (
            "state",
            state.split(',').next().unwrap_or_default().to_owned(),
        ),
        ("crashed", has("- Not finished when it crashed: ")),
        ("permission", has("- Waits for permission: ")),
    ]
}

fn codes(world: &World) -> Answers {
    let codes = world.reader(&["resume", ONE, "--codes"]).run();
    let has = |code: &str| yes(codes.out().contains(code));
    vec![
        ("crashed", has("block:crashed")),
        ("permission", has("block:permission")),
    ]
}

fn files(world: &World) -> Answers {
    let edited = world.reader(&["files", "--json"]).run().json();
    let by_one = |file: &&Value| {
        file["sessions"]
            .as_array()
            .expect("sessions")
            .iter()
            .any(|by| by["session"] == ONE && by["edits"] != 0)
    };
    let names = edited
        .iter()
        .filter(by_one)
        .map(|file| file["path"].as_str().expect("a path"));
    let mut names: Vec<&str> = names
        .map(|path| path.rsplit('/').next().expect("a name"))
        .collect();
    names.sort_unstable();
    vec![("edited", names.join(" "))]
}

/// `last` is one session for everybody, and a call without a result is open.
fn log(world: &World) -> Answers {
    let all = world.reader(&["log", ONE, "--json"]).run().json();
    let is_open = all.iter().any(|entry| entry["pending"] == true);
    let refused = all.iter().any(|entry| entry["refused"] == true);
    let mut answers = vec![("open call", yes(is_open)), ("refused", yes(refused))];
    answers.extend(last(world));
    answers
}

fn last(world: &World) -> Answers {
    let last = world.reader(&["resume", "last", "--json"]).run();
    let id = |done: &Done| done.json().first().map(|all| all["session_id"] == ONE);
    let first = world
        .reader(&["log", "last", "--lines", "1", "--json"])
        .run();
    let one = world.reader(&["log", ONE, "--lines", "1", "--json"]).run();
    match id(&last) {
        None => vec![],
        Some(is_one) => vec![
            ("last", yes(is_one)),
            ("last", yes(first.out() == one.out())),
        ],
    }
}

fn statusline(world: &World) -> Answers {
    let asks = json!({"session_id": ME, "cwd": world.path("work")});
    let line = world.context(&["statusline"]).stdin(asks.to_string()).run();
    vec![
        ("needs you", yes(line.out().contains("1 needs you"))),
        ("works", yes(line.out().contains("1 working"))),
        ("failed", yes(line.out().contains("1 failed"))),
    ]
}

fn status(world: &World) -> Answers {
    let said = &world
        .reader(&["status", "--format", "json"])
        .run()
        .success()
        .json()[0];
    let line = world.reader(&["status"]).run().success();
    for (key, words) in [
        ("needs_you", "need"),
        ("failed", "failed"),
        ("working", "working"),
    ] {
        let count = said[key].as_u64().expect("a count");
        let parts = line.out().trim_end().split(" · ");
        let counts: Vec<&str> = parts
            .filter(|part| part.starts_with(&format!("{count} {words}")))
            .collect();
        assert_eq!(
            counts.len(),
            usize::from(count > 0),
            "{said}\n{}",
            line.out()
        );
    }
    let rows = said["urgent"].as_array().expect("rows");
    let Some(row) = rows.iter().find(|row| row["id"] == ONE) else {
        return vec![("needs you", "no".into()), ("failed", "no".into())];
    };
    let word = |key: &str| row[key].as_str().unwrap_or("-").to_owned();
    let needs_you = row["state"] == "needs-you";
    vec![
        ("needs you", yes(needs_you)),
        ("failed", yes(!needs_you)),
        ("state", word("state")),
        ("reason", word("reason")),
        ("title", word("title")),
    ]
}

/// The bullet about session ONE, from what it did on.
fn bullet(text: &str) -> Option<String> {
    let line = text
        .lines()
        .find(|line| line.starts_with("- ") && line.contains("message"))?;
    Some(
        line.rsplit_once("\" ->")
            .map(|(_, did)| did)
            .or_else(|| line.rsplit_once("\";").map(|(_, state)| state))
            .map_or_else(String::new, |rest| rest.trim().to_owned()),
    )
}

fn of_bullet(text: &str) -> Answers {
    let Some(told) = bullet(text) else {
        return vec![("mentioned", "no".into())];
    };
    let edited = told
        .split("updated ")
        .nth(1)
        .map(|rest| rest.split([';', ',']).next().unwrap_or_default().trim());
    vec![
        ("mentioned", "yes".into()),
        ("crashed", yes(told.contains("crashed"))),
        ("edited", edited.unwrap_or_default().to_owned()),
        ("told", told),
    ]
}

fn prompt_hook(world: &World) -> Answers {
    of_bullet(&text(&hook(world, &[], &input(world, TWO)).run().success()))
}

fn explain(world: &World) -> Answers {
    let told = world.context(&["explain"]).run();
    let block = told
        .out()
        .split("[Session Activity]")
        .nth(1)
        .unwrap_or_default();
    let block = block
        .lines()
        .map(str::trim_start)
        .take_while(|line| !line.starts_with("Why"))
        .collect::<Vec<_>>();
    of_bullet(&block.join("\n"))
}

fn start_hook(world: &World) -> Answers {
    let mut asks = with(input(world, TWO), "hook_event_name", "SessionStart");
    asks["source"] = json!("startup");
    let done = hook(world, &[], &asks).run().success();
    let reply = done.json().first().cloned().unwrap_or_default();
    let told = reply["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let Some(line) = told
        .lines()
        .find(|line| line.contains(&ONE[..8]) || line.contains("the last session"))
    else {
        return vec![("told at start", "no".into())];
    };
    vec![
        ("told at start", "yes".into()),
        (
            "works",
            yes(line.contains("is working") || line.contains("was at work")),
        ),
        ("needs you", yes(line.contains("waits for its user"))),
        ("crashed", yes(line.contains("crashed"))),
        ("stopped", yes(line.contains("stopped"))),
    ]
}

/// A process that an agent's file can name, until it is dropped.
struct Agent(Child);

impl Agent {
    fn start() -> Agent {
        let child = Command::new("sleep")
            .arg("1000000")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        Agent(child.expect("sleep starts"))
    }

    /// Writes what Claude Code writes while it runs.
    fn says(&self, world: &World, status: &str, waits_for: &str) {
        let pid = self.0.id();
        let start = process::started(pid).expect("it runs").to_string();
        let domain = format!("pid:[{}]", process::namespace().expect("a namespace"));
        let entry = json!({"pid": pid, "procStart": start, "pidDomain": domain, "sessionId": ONE, "status": status, "waitingFor": waits_for});
        world.write(".claude/sessions/1.json", entry.to_string());
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const TASK: &str = "clean the build and test the lot";

/// A session that was prompted some minutes ago.
fn prompted(world: &World, minutes: i64) -> Script {
    Script::of(world).ago(minutes).user(TASK)
}

fn bash(script: Script, command: &str) -> Script {
    script.calls("Bash", json!({"command": command}))
}

/// What is said and done in a session, and what its agent says of itself: status and what it waits for; dead or alive.
struct Case {
    name: &'static str,
    session: fn(&World) -> Script,
    agent: Option<(&'static str, &'static str, bool)>,
    /// Whether there is a directory of agents that run.
    complete: bool,
    set: fn(&World),
    /// What every command must say that answers the question.
    truth: &'static [(&'static str, &'static str)],
}

fn nothing(_: &World) {}

fn ignore_private(world: &World) {
    let dir = world.path("work/private");
    world.write(
        ".config/session-monitor/config.toml",
        format!("ignore = [\"{}\"]\n", dir.display()),
    );
}

const CASE: Case = Case {
    name: "",
    session: |world| prompted(world, 7),
    agent: None,
    complete: false,
    set: nothing,
    truth: &[],
};

fn cases() -> Vec<Case> {
    const ANSWERED: fn(&World) -> Script = |world| prompted(world, 7).says("All is clean.");
    const CALLS: fn(&World) -> Script = |world| bash(prompted(world, 7), "cargo test");
    const EDITS: fn(&World) -> Script = |world| {
        prompted(world, 7).calls(
            "Edit",
            json!({"file_path": world.path("work/a.rs"), "old_string": "a", "new_string": "b"}),
        )
    };
    const EDITED: fn(&World) -> Script = |world| {
        EDITS(world)
            .result(false, "The file has been updated")
            .says("Done.")
    };
    const FAILED: fn(&World) -> Script = |world| {
        let message = json!({"id": "e", "model": "<synthetic>", "role": "assistant", "content": "API Error: 500"});
        let error = json!({"type": "assistant", "uuid": "e1", "timestamp": ago(6), "isApiErrorMessage": true, "message": message});
        bash(prompted(world, 7), "make")
            .result(false, "ok")
            .raw(error)
    };
    const WAITS: (&str, &str, bool) = ("waiting", "permission prompt", true);
    vec![
        Case {
            name: "a build that runs for seven minutes",
            session: CALLS,
            agent: Some(("busy", "", true)),
            truth: &[
                ("open call", "yes"),
                ("state", "working"),
                ("reason", "running Bash cargo test"),
                ("works", "yes"),
                ("stopped", "no"),
                ("told at start", "yes"),
                ("told", "running cargo test"),
            ],
            ..CASE
        },
        Case {
            name: "a command that waits for permission",
            session: |world| bash(prompted(world, 7), "rm -rf build"),
            agent: Some(WAITS),
            truth: &[
                ("open call", "yes"),
                ("permission", "yes"),
                ("state", "needs-you"),
                ("reason", "permission: Bash rm -rf build"),
                ("needs you", "yes"),
                ("stopped", "no"),
                ("told at start", "yes"),
                ("told", "wants to run rm -rf build"),
            ],
            ..CASE
        },
        Case {
            name: "an edit that waits for permission",
            session: EDITS,
            agent: Some(WAITS),
            truth: &[
                ("open call", "yes"),
                ("permission", "yes"),
                ("state", "needs-you"),
                ("needs you", "yes"),
                ("stopped", "no"),
                ("told at start", "yes"),
                ("edited", ""),
                ("told", "wants to edit a.rs"),
            ],
            ..CASE
        },
        Case {
            name: "an edit that was made",
            session: EDITED,
            agent: Some(("idle", "", true)),
            truth: &[
                ("state", "waiting"),
                ("reason", "answered"),
                ("edited", "a.rs"),
                ("told", "updated a.rs"),
                ("stopped", "yes"),
            ],
            ..CASE
        },
        Case {
            name: "an edit that was refused",
            session: |world| {
                let refused = "The user doesn't want to proceed with this tool use. The tool use was rejected";
                EDITS(world)
                    .result(true, refused)
                    .user("[Request interrupted by user for tool use]")
            },
            agent: Some(("idle", "", true)),
            truth: &[
                ("refused", "yes"),
                ("state", "waiting"),
                ("reason", "interrupted"),
                ("edited", ""),
                ("told", ""),
                ("stopped", "yes"),
            ],
            ..CASE
        },
        Case {
            name: "a question",
            session: |world| {
                prompted(world, 7).calls(
                    "AskUserQuestion",
                    json!({"questions": [{"question": "Redis or NATS?"}]}),
                )
            },
            agent: Some(("waiting", "input needed", true)),
            truth: &[
                ("open call", "yes"),
                ("state", "needs-you"),
                ("reason", "question: Redis or NATS?"),
                ("needs you", "yes"),
                ("stopped", "no"),
                ("told at start", "yes"),
                ("told", "asks \"Redis or NATS?\""),
            ],
            ..CASE
        },
        Case {
            name: "a plan",
            session: |world| prompted(world, 7).calls("ExitPlanMode", json!({"plan": "# Move on"})),
            agent: Some(WAITS),
            truth: &[
                ("open call", "yes"),
                ("state", "needs-you"),
                ("reason", "plan to approve"),
                ("needs you", "yes"),
                ("stopped", "no"),
                ("told at start", "yes"),
                ("told", "wants its plan approved"),
            ],
            ..CASE
        },
        Case {
            name: "killed while a command ran",
            session: CALLS,
            agent: Some(("busy", "", false)),
            truth: &[
                ("open call", "yes"),
                ("state", "gone"),
                ("reason", "crashed while running Bash cargo test"),
                ("crashed", "yes"),
                ("failed", "yes"),
                ("stopped", "no"),
                ("told at start", "yes"),
                ("told", "crashed while running cargo test"),
            ],
            ..CASE
        },
        Case {
            name: "closed while a command waited or ran",
            session: |world| bash(prompted(world, 7), "rm -rf build"),
            complete: true,
            truth: &[
                ("open call", "yes"),
                ("state", "gone"),
                ("reason", "ended; no result of Bash rm -rf build"),
                ("stopped", "yes"),
                ("told", "ended; no result of rm -rf build"),
            ],
            ..CASE
        },
        Case {
            name: "only its transcript tells, and a call is open",
            session: CALLS,
            truth: &[
                ("open call", "yes"),
                ("state", "working"),
                (
                    "reason",
                    "last seen running or waiting for permission: Bash cargo test",
                ),
                ("works", "yes"),
                ("stopped", "no"),
                ("told at start", "yes"),
                ("told", "no result yet: cargo test"),
            ],
            ..CASE
        },
        Case {
            name: "only its transcript tells, and it has answered",
            session: ANSWERED,
            truth: &[
                ("state", "waiting"),
                ("reason", "answered"),
                ("told", ""),
                ("stopped", "yes"),
            ],
            ..CASE
        },
        Case {
            name: "an error",
            session: FAILED,
            agent: Some(("idle", "", true)),
            truth: &[
                ("state", "error"),
                ("reason", "API Error: 500"),
                ("failed", "yes"),
                ("told", "ran 1 command; stopped by an error"),
                ("stopped", "yes"),
            ],
            ..CASE
        },
        Case {
            name: "done after an error",
            session: FAILED,
            set: |world| _ = world.context(&["done", ONE]).run().success(),
            truth: &[
                ("state", "done"),
                ("reason", "-"),
                ("marked done", "true"),
                ("told", "ran 1 command"),
                ("last", "yes"),
            ],
            ..CASE
        },
        Case {
            name: "done in the second repository of a session that moved",
            session: |world| {
                std::fs::create_dir_all(world.path("second/.git")).expect("a directory");
                world.write("second/.git/HEAD", "ref: refs/heads/main\n");
                let mut moved = ANSWERED(world);
                moved.cwd = world.path("second");
                let mut back = moved
                    .user("and now here, with the second one")
                    .says("Done here.");
                back.cwd = world.path("work");
                back
            },
            set: |world| {
                _ = world
                    .context(&["done", ONE])
                    .dir(world.path("second"))
                    .run()
                    .success();
            },
            truth: &[("state", "done"), ("marked done", "true"), ("told", "")],
            ..CASE
        },
        Case {
            name: "it began in an ignored directory",
            session: |world| {
                let mut elsewhere = Script::new(world.path("work/private")).ago(7).user(TASK);
                elsewhere.cwd = world.path("work");
                elsewhere.says("It is clean.")
            },
            set: ignore_private,
            truth: &[
                ("state", "waiting"),
                ("mentioned", "no"),
                ("told at start", "no"),
            ],
            ..CASE
        },
        Case {
            name: "it is in an ignored directory",
            session: |world| {
                let mut there = ANSWERED(world);
                there.cwd = world.path("work/private");
                there.user("a secret matter in here")
            },
            set: ignore_private,
            truth: &[
                ("state", "working"),
                ("works", "yes"),
                ("mentioned", "no"),
                ("told at start", "no"),
            ],
            ..CASE
        },
        Case {
            name: "idle, after hours",
            session: |world| prompted(world, 170).says("All is clean."),
            truth: &[("state", "idle"), ("mentioned", "-")],
            ..CASE
        },
        Case {
            name: "a title that the agent gave it",
            session: |world| {
                ANSWERED(world).raw(json!({"type": "ai-title", "aiTitle": "Clean builds"}))
            },
            truth: &[
                ("state", "waiting"),
                ("title", "Clean builds"),
                ("told", ""),
            ],
            ..CASE
        },
        Case {
            name: "a title of the user's own",
            session: |world| {
                ANSWERED(world).raw(json!({"type": "custom-title", "customTitle": "Clean builds"}))
            },
            set: |world| {
                world
                    .context(&[
                        "name",
                        ONE,
                        "spring cleaning of all that was ever built here",
                    ])
                    .run()
                    .success();
            },
            truth: &[
                ("state", "waiting"),
                ("title", "spring cleaning of all that was ever built here"),
                ("told", ""),
            ],
            ..CASE
        },
    ]
}

/// What is so unless a case says otherwise.
const USUAL: [(&str, &str); 12] = [
    ("open call", "no"),
    ("refused", "no"),
    ("permission", "no"),
    ("here", "yes"),
    ("crashed", "no"),
    ("works", "no"),
    ("needs you", "no"),
    ("failed", "no"),
    ("marked done", "false"),
    ("edited", ""),
    ("title", TASK),
    ("last", "yes"),
];

#[test]
fn every_command_gives_the_same_answer() {
    let mut wrong = String::new();
    for case in cases() {
        let world = World::new();
        std::fs::create_dir_all(world.path("work/private")).expect("a directory");
        (case.session)(&world).save(&world, ONE);
        let agent = case.agent.map(|(status, waits_for, alive)| {
            let agent = Agent::start();
            agent.says(&world, status, waits_for);
            if alive { Some(agent) } else { None }
        });
        if case.complete {
            std::fs::create_dir_all(world.path(".claude/sessions")).expect("a directory");
        }
        (case.set)(&world);
        let mut truth: BTreeMap<&str, &str> = USUAL
            .into_iter()
            .chain(case.truth.iter().copied())
            .collect();
        truth.entry("mentioned").or_insert("yes");
        let ignored = truth["mentioned"] == "no";
        for view in views() {
            for (question, answer) in (view.asks)(&world) {
                let expected = truth.get(question).copied().unwrap_or("-");
                // Who is told nothing of a session is told nothing of its state; a status line says nothing of it, too.
                let is_silent = ignored && view.name == "statusline" && answer == "no";
                if expected != "-" && answer != expected && !is_silent {
                    wrong += &format!(
                        "{}\n  {} says {question}: {answer:?}, not {expected:?}\n",
                        case.name, view.name
                    );
                }
            }
        }
        drop(agent);
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// The sessions that real clients wrote: whoever lists one and whoever looks into it say the same.
#[test]
fn sessions_of_every_agent_are_the_same_in_a_list_and_alone() {
    let world = all_clients();
    let rows = world
        .reader(&["list", "--all", "--json"])
        .run()
        .success()
        .json();
    assert!(rows.len() > 15, "{}", rows.len());
    for row in rows {
        let id = row["id"].as_str().expect("an id");
        let alone = world
            .reader(&["resume", id, "--json"])
            .run()
            .success()
            .json()
            .remove(0);
        for (in_list, in_resume) in [
            ("id", "session_id"),
            ("agent", "agent"),
            ("title", "title"),
            ("state", "state"),
            ("reason", "reason"),
            ("since", "since"),
            ("source", "source"),
            ("updated", "last_activity_at"),
            ("messages", "messages"),
            ("tokens", "tokens"),
        ] {
            assert_eq!(row[in_list], alone[in_resume], "{in_list} of {id}");
        }
        let state = row["state"].as_str().expect("a state");
        world
            .reader(&["wait", id, "--until", state, "--timeout", "1ms"])
            .run()
            .success();
    }
}

/// What this session did with a file and what another one did, each with its minute: who warns of it. What begins with `=`
/// was done in a session that this one is a fork of.
#[test]
fn a_conflict_is_one_everywhere() {
    type Deeds<'d> = &'d [(&'d str, i64)];
    let cases: [(&str, Deeds, Deeds, bool); 15] = [
        (
            "edited before they did",
            &[("edit", 50)],
            &[("edit", 2)],
            true,
        ),
        (
            "read before they edited",
            &[("read", 50)],
            &[("edit", 2)],
            true,
        ),
        (
            "edited hours before they did",
            &[("edit", 170)],
            &[("edit", 2)],
            true,
        ),
        (
            "read after they edited",
            &[("edit", 50), ("read", 1)],
            &[("edit", 2)],
            false,
        ),
        (
            "edited after they did",
            &[("edit", 1)],
            &[("edit", 2)],
            false,
        ),
        (
            "looked by git after they edited",
            &[("edit", 50), ("git diff", 1)],
            &[("edit", 2)],
            false,
        ),
        (
            "pulled after they edited",
            &[("edit", 50), ("git pull", 1)],
            &[("edit", 2)],
            false,
        ),
        (
            "looked by git before they edited",
            &[("edit", 50), ("git diff", 9)],
            &[("edit", 2)],
            true,
        ),
        ("they only read it", &[("edit", 50)], &[("read", 2)], false),
        ("their edit failed", &[("edit", 50)], &[("!edit", 2)], false),
        (
            "their edit waits for permission",
            &[("edit", 50)],
            &[("?edit", 2)],
            false,
        ),
        (
            "my edit waits for permission",
            &[("?edit", 50)],
            &[("edit", 2)],
            false,
        ),
        (
            "edited in the session that I am a fork of",
            &[("=edit", 170)],
            &[("edit", 2)],
            true,
        ),
        (
            "read in the session that I am a fork of",
            &[("=read", 170)],
            &[("edit", 2)],
            true,
        ),
        (
            "read after the fork and their edit",
            &[("=edit", 170), ("read", 1)],
            &[("edit", 2)],
            false,
        ),
    ];
    for (name, mine, theirs, conflict) in cases {
        let world = World::new();
        let save = |id: &str, deeds: Deeds| {
            let mut script = Script::of(&world).ago(175).user(TASK);
            for (deed, minutes) in deeds {
                let file = json!({"file_path": world.path("work/a.rs"), "old_string": "a", "new_string": "b"});
                script = script.ago(*minutes);
                script = match deed.trim_start_matches('=') {
                    "edit" => script.does("Edit", file),
                    "!edit" => script
                        .calls("Edit", file)
                        .result(true, "String to replace not found"),
                    "?edit" => script.calls("Edit", file),
                    "read" => script.does("Read", file),
                    command => script.runs(command, false),
                };
                if deed.starts_with('=') {
                    script.save(&world, TWO);
                }
            }
            // Both are still at it, unless one waits for its user.
            let waits = deeds.iter().any(|(deed, _)| deed.starts_with('?'));
            let script = if waits {
                script
            } else {
                script.ago(1).says("So far.")
            };
            script.save(&world, id);
        };
        save(ME, mine);
        save(ONE, theirs);
        let said = |text: &str| text.contains("! ") && text.contains("a.rs");
        let told = text(&hook(&world, &[], &input(&world, ME)).run().success());
        let asks = json!({"session_id": ME, "cwd": world.path("work")});
        let line = world.context(&["statusline"]).stdin(asks.to_string()).run();
        let files = world.reader(&["files", "--json"]).run().json();
        let screen = world
            .reader(&["watch", "--once"])
            .env("COLUMNS", "200")
            .run();
        let lately = world
            .reader(&["files", "--since", "10m", "--json"])
            .run()
            .json();
        let marked = |files: &[Value]| files.iter().any(|file| file["conflict"] == true);
        // The screen and the list of files are about all sessions: whoever edited last is not misled, the other one is.
        let anybody = conflict || name == "edited after they did";
        for (who, warns, expected) in [
            ("hook", said(&told), conflict),
            ("statusline", said(line.out()), conflict),
            ("files", marked(&files), anybody),
            ("files --since", marked(&lately), anybody),
            (
                "watch",
                screen.out().contains("! a.rs") || screen.out().contains("a.rs: "),
                anybody,
            ),
        ] {
            assert_eq!(
                warns,
                expected,
                "{name}: {who}\n{told}\n{}\n{}",
                line.out(),
                screen.out()
            );
        }
    }
}

/// What a session did in an ignored directory does not make it the last one, for a session that begins or for anybody.
#[test]
fn what_was_done_in_an_ignored_directory_counts_for_nobody() {
    let world = World::new();
    ignore_private(&world);
    let mut passing = prompted(&world, 9);
    passing.cwd = world.path("work/private");
    let mut passing = passing
        .user("a secret matter in here")
        .writes("secret.rs", "x\n");
    passing.cwd = world.path("work");
    passing.says("All is clean.").save(&world, TWO);
    prompted(&world, 30)
        .writes("a.rs", "x\n")
        .says("It is done.")
        .save(&world, ONE);
    let mut asks = with(input(&world, ME), "hook_event_name", "SessionStart");
    asks["source"] = json!("startup");
    let told = hook(&world, &[], &asks)
        .run()
        .success()
        .json()
        .remove(0)
        .to_string();
    assert!(
        told.contains(&format!("session-reader resume {}", &ONE[..8])),
        "{told}"
    );
    for command in [&["resume", "--json"][..], &["resume", "last", "--json"]] {
        let shown = world
            .reader(command)
            .env("CLAUDE_CODE_SESSION_ID", ME)
            .run()
            .success();
        assert_eq!(shown.json()[0]["session_id"], ONE, "{command:?}");
    }
    let log = |name: &str| {
        world
            .reader(&["log", name, "--json"])
            .env("CLAUDE_CODE_SESSION_ID", ME)
            .run()
    };
    assert_eq!(log("last").out(), log(ONE).out());
}

/// Whichever sessions there are: a session that begins is told of the one that `last` means, for every command.
#[test]
fn the_last_session_is_the_same_for_everybody() {
    const THREE: &str = "33333333-0000-4000-8000-000000000003";
    const KINDS: [&str; 4] = ["worked", "passing", "done", "elsewhere"];
    let sessions = [ONE, TWO, THREE];
    for number in 0..KINDS.len().pow(3) {
        let kinds = [0, 1, 2].map(|at| KINDS[number / KINDS.len().pow(at) % KINDS.len()]);
        let world = World::new();
        std::fs::create_dir_all(world.path("other")).expect("a directory");
        for (minutes, (id, kind)) in [20, 30, 40].into_iter().zip(sessions.iter().zip(kinds)) {
            let dir = if kind == "elsewhere" { "other" } else { "work" };
            let script = Script::new(world.path(dir)).ago(minutes).user(TASK);
            let script = if kind == "passing" {
                script
            } else {
                script.writes("a.rs", "x\n")
            };
            script.says("It is done.").save(&world, id);
            if kind == "done" {
                world.context(&["done", id]).run().success();
            }
        }
        let Some(at) = kinds.iter().position(|kind| *kind == "worked") else {
            continue;
        };
        let mut asks = with(input(&world, ME), "hook_event_name", "SessionStart");
        asks["source"] = json!("startup");
        let told = hook(&world, &[], &asks)
            .run()
            .success()
            .json()
            .remove(0)
            .to_string();
        let name = &sessions[at][..8];
        assert!(
            told.contains(&format!("session-reader resume {name}")),
            "{kinds:?}: {told}"
        );
        let asking = |command: &[&str]| {
            world
                .reader(command)
                .env("CLAUDE_CODE_SESSION_ID", ME)
                .run()
                .success()
        };
        assert_eq!(
            asking(&["resume", "--json"]).json()[0]["session_id"],
            sessions[at],
            "{kinds:?}"
        );
        assert_eq!(
            asking(&["resume", "last", "--json"]).json()[0]["session_id"],
            sessions[at],
            "{kinds:?}"
        );
        let log = |name: &str| asking(&["log", name, "--json"]).out().to_owned();
        assert_eq!(log("last"), log(sessions[at]), "{kinds:?}");
    }
}
