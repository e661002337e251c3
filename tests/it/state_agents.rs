//! What state a session is in while its agent runs, from the files that real agents write: transcripts of `testdata`, cut
//! where the moment was, with a lock or a registry file beside them as the agent keeps it. Processes and locks are real.

use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::time::UNIX_EPOCH;

use serde_json::{Value, json};
use session_core::process;

use crate::support::files::{file_time, lock};
use crate::support::world::{ONE, World, skipped, testdata};

const NOW: &str = "2026-11-16T02:55:00Z";

/// The state of the one session there is, why, and where that is known from.
fn state(world: &World) -> String {
    let rows = world
        .reader(&["list", "--all", "--json"])
        .env("SESSION_MONITOR_NOW", NOW)
        .run()
        .success()
        .json();
    let word = |key: &str| rows[0][key].as_str().unwrap_or("-").to_owned();
    assert_eq!(rows.len(), 1, "{rows:?}");
    format!("{}: {} ({})", word("state"), word("reason"), word("source"))
}

/// A world with the first lines of a transcript of `testdata`.
fn world(case: &str, transcript: &str, lines: usize) -> World {
    let text = std::fs::read_to_string(testdata(case).join(transcript)).expect("a transcript");
    let world = World::new();
    world.write(
        transcript,
        text.split_inclusive('\n').take(lines).collect::<String>(),
    );
    world
}

/// Whether nobody can have a lock unseen. In a container it is not known that an agent is gone.
fn sees_all_locks() -> bool {
    let sees = process::namespace().is_some_and(|own| own == "4026531836");
    if !sees {
        skipped("this is a container, from which not all locks can be seen");
    }
    sees
}

const COPILOT: (&str, &str) = (
    "copilot/permissions@1.0.102",
    ".copilot/session-state/8ff29b11-11b7-4c9f-98c0-11540cd83377/events.jsonl",
);
const HOLD: &str = ".copilot/session-state/8ff29b11-11b7-4c9f-98c0-11540cd83377/inuse.4711.hold";

/// Copilot writes which call waits for permission, and keeps a lock from the first prompt on.
#[test]
fn copilot_says_which_call_waits() {
    for (lines, expected) in [
        (5, "working: thinking (lock)"),
        (7, "waiting: interrupted (lock)"),
        (
            12,
            "working: running bash touch tool-ran.txt; sleep 300 (lock)",
        ),
        (
            13,
            "needs-you: permission: bash touch tool-ran.txt; sleep 300 (lock)",
        ),
        (
            14,
            "working: running bash touch tool-ran.txt; sleep 300 (lock)",
        ),
        (16, "waiting: interrupted (lock)"),
        // Two at once: it asks for one after the other.
        (
            24,
            "needs-you: permission: bash touch a-ran.txt; sleep 3 (lock)",
        ),
        (
            25,
            "needs-you: permission: bash touch b-ran.txt; sleep 4 (lock)",
        ),
        (27, "working: running bash touch b-ran.txt; sleep 4 (lock)"),
        (28, "working: thinking (lock)"),
        (33, "waiting: answered (lock)"),
    ] {
        let world = world(COPILOT.0, COPILOT.1, lines);
        let _held = lock(&world, HOLD, "2026-11-16T02:52:10Z");
        assert_eq!(state(&world), expected, "{lines} lines");
    }
}

/// Who was killed has left its lock file behind, and who resumes removes it. Nobody is at work in either case.
#[test]
fn copilot_killed_or_resumed_is_not_at_work() {
    if !sees_all_locks() {
        return;
    }
    for (lines, how) in [(13, "waiting for permission:"), (14, "running")] {
        let world = world(COPILOT.0, COPILOT.1, lines);
        let held = lock(&world, HOLD, "2026-11-16T02:52:10Z");
        drop(held);
        assert_eq!(
            state(&world),
            format!("gone: crashed while {how} bash touch tool-ran.txt; sleep 300 (lock)")
        );
        std::fs::remove_file(world.path(HOLD)).expect("removed");
        assert_eq!(state(&world), "waiting: interrupted (transcript)");
        let _held = lock(&world, HOLD, "2026-11-16T02:54:00Z");
        assert_eq!(
            state(&world),
            "waiting: interrupted (lock)",
            "it was locked after all that"
        );
    }
}

/// `qwen` with a screen has a file in `sessions/`; a child stands in for it.
struct Qwen {
    child: Child,
}

impl Qwen {
    fn start() -> Qwen {
        let child = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("cat runs");
        Qwen { child }
    }

    /// What it writes about itself; `late` is by how much its start is wrong.
    fn register(&self, world: &World, started: &str, late: u64) {
        let pid = self.child.id();
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("a boot id");
        let start = process::started(pid).expect("it runs") + late;
        let namespace: u64 = process::namespace()
            .expect("a namespace")
            .parse()
            .expect("a number");
        let since = file_time(started)
            .duration_since(UNIX_EPOCH)
            .expect("after 1970")
            .as_millis() as u64;
        let said = json!({"schemaVersion": 1, "pid": pid, "procStart": format!("{}:{start}", boot.trim()), "pidNs": namespace,
            "sessionId": QWEN, "startedAt": since, "kind": "tui"});
        world.write(format!(".qwen/sessions/{pid}.json"), said.to_string());
    }

    fn kill(mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("over");
    }
}

const QWEN: &str = "e6f5d34b-a53a-4b52-973f-3b10f731002a";

fn qwen(lines: usize) -> World {
    let transcript = format!(".qwen/projects/-home-dev-src-proj/chats/{QWEN}.jsonl");
    world("qwen/interrupted@0.24.4", &transcript, lines)
}

/// Qwen says that it runs, but not what it is at. It writes nothing when it is stopped before it says something.
#[test]
fn qwen_says_that_it_runs_but_not_what() {
    for (lines, expected) in [
        (3, "working: thinking, or interrupted (registry)"),
        (
            8,
            "working: running or waiting for permission: run_shell_command touch tool-ran.txt; sleep 300 (registry)",
        ),
        (10, "waiting: interrupted (registry)"),
        (17, "working: thinking, or interrupted (registry)"),
        (19, "waiting: answered (registry)"),
        (
            24,
            "working: running or waiting for permission: write_file new.txt (registry)",
        ),
        (26, "waiting: interrupted (registry)"),
        (30, "error: 429 Rate limit reached for requests (registry)"),
        (40, "error: 400 bad request on purpose (registry)"),
    ] {
        let (world, agent) = (qwen(lines), Qwen::start());
        agent.register(&world, "2026-11-16T02:40:00Z", 0);
        assert_eq!(state(&world), expected, "{lines} lines");
        agent.kill();
    }
}

/// A file of a process that is over, or that is another one by now, makes no session live.
#[test]
fn a_registry_file_of_another_process_makes_no_session_live() {
    let (world, agent) = (qwen(8), Qwen::start());
    let pending =
        "running or waiting for permission: run_shell_command touch tool-ran.txt; sleep 300";
    let crashed =
        "gone: crashed; no result of run_shell_command touch tool-ran.txt; sleep 300 (registry)";
    // `qwen -p` has no such file, so without one nothing is known.
    assert_eq!(
        state(&world),
        format!("working: last seen {pending} (transcript)")
    );
    agent.register(&world, "2026-11-16T02:40:00Z", 1);
    assert_eq!(state(&world), crashed, "another process has its number");
    agent.register(&world, "2026-11-16T02:40:00Z", 0);
    assert_eq!(state(&world), format!("working: {pending} (registry)"));
    agent.kill();
    assert_eq!(state(&world), crashed);
    let again = Qwen::start();
    again.register(&world, "2026-11-16T02:45:00Z", 0);
    assert_eq!(
        state(&world),
        "waiting: interrupted (registry)",
        "it was started after that call"
    );
    again.kill();
}

/// Pi never asks for permission, and nothing tells whether it runs.
#[test]
fn pi_never_asks_and_nobody_knows_if_it_runs() {
    let sessions = ".pi/agent/sessions/--home-dev-src-proj--/";
    let one = "2026-11-16T02-39-46-383Z_01a1ea97-e84c-72ea-bcbe-b3f68343a233.jsonl";
    let other = "2026-11-16T02-52-08-405Z_01a1eaa3-3ad4-77c3-add3-a76153247b5e.jsonl";
    let limit = r#"error: 429: {"message":"Rate limit reached for requests","type":"stub_error","code":"stub"} (transcript)"#;
    for (file, lines, expected) in [
        (one, 5, "working: last seen thinking (transcript)"),
        (one, 6, "waiting: interrupted (transcript)"),
        (
            one,
            8,
            "working: last seen running bash touch tool-ran.txt; sleep 300 (transcript)",
        ),
        (one, 10, "waiting: interrupted (transcript)"),
        (one, 12, limit),
        (one, 18, "waiting: answered (transcript)"),
        (other, 6, "waiting: interrupted (transcript)"),
    ] {
        let world = world("pi/interrupted@1.5.0", &format!("{sessions}{file}"), lines);
        assert_eq!(state(&world), expected, "{lines} lines of {file}");
    }
}

/// Codex, shortened to what counts. A daemon keeps the lock; who resumes a session makes it anew.
#[test]
fn codex_keeps_a_lock_while_it_runs() {
    if !sees_all_locks() {
        return;
    }
    let id = "01a1eaa2-b4c7-76f1-8672-e3769e045735";
    let line = |second: u32, kind: &str, payload: Value| {
        json!({"timestamp": format!("2026-11-16T02:51:{second:02}.000Z"), "type": kind, "payload": payload}).to_string()
            + "\n"
    };
    let call = |name: &str, arguments: Value| {
        let call = json!({"type": "function_call", "name": name, "arguments": arguments.to_string(), "call_id": "call_1"});
        line(3, "response_item", call)
    };
    let meta = line(
        1,
        "session_meta",
        json!({"id": id, "cwd": "/home/dev/src/proj"}),
    );
    let prompt = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go on"}]});
    let start = meta + &line(2, "response_item", prompt);
    let run = call(
        "exec_command",
        json!({"cmd": "make test", "sandbox_permissions": "require_escalated"}),
    );
    let question = call(
        "request_user_input",
        json!({"questions": [{"id": "db", "question": "Which database?"}]}),
    );
    let limit = json!({"type": "task_complete", "last_agent_message": null, "error": {"message":
        "exceeded retry limit, last status: 429 Too Many Requests"}});
    let aborted = json!({"type": "turn_aborted", "reason": "interrupted"});
    let pending = "working: running or waiting for permission: exec_command make test (lock)";
    for (lines, runs, gone) in [
        (
            String::new(),
            "working: thinking (lock)",
            "gone: ended (lock)",
        ),
        (
            run.clone(),
            pending,
            "gone: crashed; no result of exec_command make test (lock)",
        ),
        (
            run + &line(4, "event_msg", aborted),
            "waiting: interrupted (lock)",
            "gone: ended (lock)",
        ),
        (
            question,
            "needs-you: question: Which database? (lock)",
            "gone: crashed before it was answered: request_user_input Which database? (lock)",
        ),
        (
            line(4, "event_msg", limit),
            "error: exceeded retry limit, last status: 429 Too Many Requests (lock)",
            "gone: exceeded retry limit, last status: 429 Too Many Requests (lock)",
        ),
    ] {
        let world = World::new();
        world.write(
            format!(".codex/sessions/2026/11/16/rollout-2026-11-16T02-51-00-{id}.jsonl"),
            start.clone() + &lines,
        );
        let lock_file = format!(".codex/thread-writer-locks/{id}.lock");
        let held = lock(&world, &lock_file, "2026-11-16T02:50:59Z");
        assert_eq!(state(&world), runs);
        drop(held);
        // A program that another test is just starting has the lock, too, for a moment.
        let is_gone = (0..100).any(|_| state(&world) == gone);
        assert!(is_gone, "{} is not {gone}", state(&world));
        let _held = lock(&world, &lock_file, "2026-11-16T02:54:00Z");
        let resumed = if runs.starts_with("error") {
            runs
        } else {
            "waiting: interrupted (lock)"
        };
        assert_eq!(state(&world), resumed, "{lines}");
    }
}

/// Gemini writes a call when it has ended, so a session that seems to think or to have answered may be in one.
#[test]
fn gemini_may_be_in_a_call_that_it_has_not_written() {
    let line = |second: u32, id: &str, kind: &str, more: Value| {
        let mut line = json!({"id": id, "timestamp": format!("2026-11-16T02:51:{second:02}.000Z"), "type": kind});
        line.as_object_mut()
            .expect("an object")
            .append(&mut more.as_object().expect("an object").clone());
        line.to_string() + "\n"
    };
    let head = json!({"sessionId": "8b585e11-2eb8-459b-b1a6-75f9c89c4176", "projectHash": "9a", "kind": "main"})
        .to_string()
        + "\n";
    let prompt = line(1, "m1", "user", json!({"content": [{"text": "go on"}]}));
    let said = |text: &str| {
        line(
            2,
            "m2",
            "gemini",
            json!({"content": text, "thoughts": [], "model": "gemini-x"}),
        )
    };
    let cancelled = line(3, "m3", "info", json!({"content": "Request cancelled."}));
    let why = json!({"functionResponse": {"id": "c1", "response": {"error": "[Operation Cancelled] Reason: User denied execution."}}});
    let call = json!([{"id": "c1", "name": "run_shell_command", "args": {"command": "make"}, "status": "cancelled", "result": [why]}]);
    let stopped = line(4, "m4", "gemini", json!({"content": "", "toolCalls": call}));
    let result = line(5, "m5", "user", json!({"content": [why]}));
    let unknown = "or a call is running or waiting for permission (transcript)";
    for (lines, expected) in [
        (vec![], format!("working: thinking, interrupted, {unknown}")),
        (
            vec![said("")],
            format!("working: thinking, interrupted, {unknown}"),
        ),
        (
            vec![said("I will run it.")],
            format!("waiting: answered, {unknown}"),
        ),
        (
            vec![cancelled.clone()],
            "waiting: interrupted (transcript)".into(),
        ),
        (
            vec![said("I will run it."), cancelled, stopped, result],
            "waiting: interrupted (transcript)".into(),
        ),
        (
            vec![line(
                2,
                "m2",
                "error",
                json!({"content": "[API Error: 429]"}),
            )],
            "error: limit: [API Error: 429] (transcript)".into(),
        ),
    ] {
        let world = World::new();
        world.write(".gemini/tmp/app/.project_root", "/home/dev/src/proj\n");
        let all = head.clone() + &prompt + &lines.concat();
        world.write(
            ".gemini/tmp/app/chats/session-2026-11-16T02-51-8b585e11.jsonl",
            all,
        );
        assert_eq!(state(&world), expected, "{lines:?}");
    }
}

/// A registry file that its agent is writing at this moment says nothing about any session, and least of all that none runs.
#[test]
fn a_half_written_registry_file_says_nothing() {
    let world = World::new();
    let cwd = world.path("work");
    world.claude(
        ONE,
        &crate::support::claude::prompt(&cwd, "2026-11-16T02:59:00Z", "go"),
    );
    let gone = || world.reader(&["list", "--json"]).run().success().json()[0]["state"].clone();
    std::fs::create_dir_all(world.path(".claude/sessions")).expect("a directory");
    assert_eq!(gone(), "gone");
    for torn in ["", "{", r#"{"pid":1} leftover"#] {
        world.write(".claude/sessions/1.json", torn);
        assert_eq!(gone(), "working", "{torn:?}");
    }
    world.write(".claude/sessions/1.json", "{}");
    assert_eq!(gone(), "gone");
}

/// A word of the registry that nobody knows is no state, and what the agent waited for before is over.
#[test]
fn an_unknown_word_of_a_registry_is_no_state() {
    let world = World::new();
    let cwd = world.path("work");
    let calls = crate::support::claude::prompt(&cwd, "2026-11-16T02:53:00Z", "go")
        + &crate::support::claude::call("2026-11-16T02:54:00Z", "t1", "make");
    world.claude(ONE, &calls);
    let pid = std::process::id();
    let start = process::started(pid).expect("it runs").to_string();
    let domain = format!("pid:[{}]", process::namespace().expect("a namespace"));
    for (status, waits_for, expected) in [
        ("busy", "", "working: running Bash make (registry)"),
        (
            "busy",
            "permission prompt",
            "working: running Bash make (registry)",
        ),
        (
            "waiting",
            "permission prompt",
            "needs-you: permission: Bash make (registry)",
        ),
        (
            "waiting",
            "something new",
            "needs-you: permission: Bash make (registry)",
        ),
        (
            "compacting",
            "",
            "working: running or waiting for permission: Bash make (registry)",
        ),
    ] {
        let entry = json!({"pid": pid, "procStart": start, "pidDomain": domain, "sessionId": ONE, "status": status,
            "waitingFor": waits_for, "statusUpdatedAt": 1_794_900_000_000_u64});
        world.write(".claude/sessions/1.json", entry.to_string());
        assert_eq!(state(&world), expected, "{status} {waits_for}");
    }
}

/// A lock is on a file, not on all that its process has open.
#[test]
fn a_lock_on_another_file_does_not_count() {
    if !sees_all_locks() {
        return;
    }
    let world = world(COPILOT.0, COPILOT.1, 13);
    let _open = File::create(world.write(HOLD, "")).expect("a file");
    let _held = lock(&world, "other.lock", "2026-11-16T02:52:10Z");
    assert_eq!(
        state(&world),
        "gone: crashed while waiting for permission: bash touch tool-ran.txt; sleep 300 (lock)"
    );
}
