//! `session-context live`: what an agent is doing, where only its hooks tell; and the hooks that `install --live` adds.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command};

use serde_json::{Value, json};
use session_core::process;

use crate::support::claude::{answer, with};
use crate::support::times::ago;
use crate::support::world::{World, skipped};

/// What is said of a session of Gemini whose transcript ends with a prompt.
const UNTOLD: &str =
    "working | thinking, interrupted, or a call is running or waiting for permission";
const ID: &str = "8b585e11-2eb8-459b-b1a6-75f9c89c4176";

fn notes(world: &World, agent: &str) -> Vec<Value> {
    let text =
        fs::read_to_string(world.path(format!(".state/session-monitor/live/{agent}-{ID}.jsonl")));
    text.unwrap_or_default()
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// Events as the real clients tell them, and what they mean.
#[test]
fn each_event_is_noted() {
    let permission =
        |tool: &str| json!({"tool_name": tool, "tool_input": {"command": "rm -rf build"}});
    let exec = json!({"type": "exec", "title": "Confirm", "command": "rm -rf build"});
    for (agent, event, more, wanted) in [
        (
            "codex",
            "UserPromptSubmit",
            json!({"prompt": "x"}),
            Some(("working", "", "")),
        ),
        (
            "codex",
            "PermissionRequest",
            permission("Bash"),
            Some(("permission", "Bash", "rm -rf build")),
        ),
        ("codex", "Stop", json!({}), Some(("ready", "", ""))),
        ("codex", "Interrupt", json!({}), Some(("ready", "", ""))),
        ("codex", "PreCompact", json!({}), None),
        (
            "gemini",
            "BeforeTool",
            permission("run_shell_command"),
            Some(("working", "run_shell_command", "rm -rf build")),
        ),
        (
            "gemini",
            "Notification",
            json!({"notification_type": "ToolPermission", "details": exec}),
            Some(("permission", "exec", "rm -rf build")),
        ),
        (
            "gemini",
            "Notification",
            json!({"notification_type": "Other"}),
            None,
        ),
        ("gemini", "AfterAgent", json!({}), Some(("ready", "", ""))),
        (
            "qwen",
            "PermissionRequest",
            permission("run_shell_command"),
            Some(("permission", "run_shell_command", "rm -rf build")),
        ),
        (
            "qwen",
            "Notification",
            json!({"notification_type": "permission_prompt"}),
            None,
        ),
        (
            "qwen",
            "Notification",
            json!({"notification_type": "idle_prompt"}),
            Some(("ready", "", "")),
        ),
        ("pi", "AgentStart", json!({}), Some(("working", "", ""))),
        ("pi", "SessionEnd", json!({}), Some(("ended", "", ""))),
    ] {
        let world = World::new();
        let mut input = with(with(more, "session_id", ID), "hook_event_name", event);
        input["cwd"] = json!("/p");
        world
            .context(&["live", "--agent", agent])
            .stdin(input.to_string())
            .process()
            .run()
            .success()
            .stdout("");
        let noted: Vec<Value> = notes(&world, agent);
        let text = |note: &Value, key: &str| note[key].as_str().unwrap_or_default().to_owned();
        let found = noted.first().map(|note| {
            (
                text(note, "status"),
                text(note, "tool"),
                text(note, "subject"),
            )
        });
        let wanted = wanted.map(|(status, tool, subject)| {
            (status.to_owned(), tool.to_owned(), subject.to_owned())
        });
        assert_eq!(found, wanted, "{agent} {event}");
        assert!(
            noted.iter().all(|note| note["pid"] == std::process::id()),
            "the one that runs the hook: {noted:?}"
        );
    }
}

/// A hook must not stop what the agent does.
#[test]
fn nothing_that_goes_wrong_is_told_to_the_agent() {
    let world = World::new();
    for (agent, input, said) in [
        ("codex", "", "stdin is not a JSON object"),
        ("codex", "[]", "stdin is not a JSON object"),
        (
            "codex",
            r#"{"hook_event_name":"Stop"}"#,
            "stdin does not say which session it is",
        ),
        (
            "codex",
            r#"{"hook_event_name":"Stop","session_id":"../x"}"#,
            "stdin does not say which session it is",
        ),
        ("claude", "{}", "the format of 'claude' has no [live.hook]"),
        ("nobody", "{}", "no agent is called 'nobody'"),
    ] {
        let done = world
            .context(&["live", "--agent", agent])
            .stdin(input)
            .run()
            .status(0)
            .stdout("");
        assert_eq!(done.err(), format!("session-context: {said}\n"));
    }
}

#[test]
fn the_notes_stay_short_and_have_no_secrets() {
    let world = World::new();
    let command = format!(
        "curl -H 'Authorization: Bearer ghp_0123456789abcdefghijABCDEFGHIJ012345' {}",
        "x".repeat(999)
    );
    let input = json!({"session_id": ID, "hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": command}});
    for _ in 0..100 {
        world
            .context(&["live", "--agent", "codex"])
            .stdin(input.to_string())
            .run()
            .success();
    }
    let path = world.path(format!(".state/session-monitor/live/codex-{ID}.jsonl"));
    let meta = fs::metadata(&path).expect("notes");
    assert!(meta.len() <= 17 << 10, "{}", meta.len());
    assert_eq!(meta.permissions().mode() & 0o777, 0o600);
    let last = notes(&world, "codex").pop().expect("a note");
    assert_eq!(last["status"], "permission");
    assert!(!last["subject"].to_string().contains("ghp_"), "{last}");
}

/// A process that does nothing until the test is over.
struct Agent(Child);

impl Agent {
    fn start(line: &str) -> Agent {
        Agent(
            Command::new("sh")
                .args(["-c", line])
                .spawn()
                .expect("a process"),
        )
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the list says of the only session of an agent, of which a hook noted something.
fn listed(world: &World, agent: &Agent, format: &str, note: &Value) -> String {
    let pid = agent.0.id();
    let time = |minutes: i64| {
        session_format::time::Time::parse(ago(minutes).as_bytes())
            .expect("a time")
            .0
    };
    let start = process::started(pid).expect("it runs").to_string();
    let mut whole = json!({
        "time": time(1), "status": "permission", "tool": "exec", "subject": "make", "pid": pid, "start": start,
        "namespace": process::namespace(), "ticks": u64::MAX / 2,
    });
    for (key, value) in note.as_object().expect("an object") {
        whole[key] = if key == "time" {
            time(value.as_i64().expect("minutes")).into()
        } else {
            value.clone()
        };
    }
    world.write(
        format!(".state/session-monitor/live/{format}-{ID}.jsonl"),
        format!("not JSON\n{whole}\n"),
    );
    let [listed] = &world.reader(&["list", "--json"]).run().success().json()[..] else {
        panic!("one session")
    };
    let text = |key: &str| listed[key].as_str().unwrap_or("-").to_owned();
    format!(
        "{} | {} | {}",
        text("state"),
        text("reason"),
        text("source")
    )
}

/// The same for a session that got a prompt two minutes ago.
fn state(agent: &Agent, note: &Value) -> String {
    let world = World::new();
    let header = json!({"sessionId": ID, "projectHash": "9a", "startTime": ago(3), "lastUpdated": ago(2), "kind": "main"});
    let said =
        json!({"id": "m1", "timestamp": ago(2), "type": "user", "content": [{"text": "hi"}]});
    world.write(
        ".gemini/tmp/app/.project_root",
        world.path("work").to_str().expect("UTF-8"),
    );
    world.write(
        ".gemini/tmp/app/chats/session-2026-11-16T02-57-8b585e11.jsonl",
        format!("{header}\n{said}\n"),
    );
    listed(&world, agent, "gemini", note)
}

/// A note counts until the transcript goes on, and as long as its agent runs.
#[test]
fn what_a_hook_noted_counts_until_the_transcript_goes_on() {
    let agent = Agent::start("exec sleep 1000");
    for (note, wanted) in [
        (
            json!({}),
            "needs-you | permission: exec make | hook".to_owned(),
        ),
        (
            json!({"status": "working"}),
            "working | running exec make | hook".to_owned(),
        ),
        (
            json!({"status": "working", "tool": ""}),
            "working | thinking | hook".to_owned(),
        ),
        (
            json!({"status": "ready"}),
            "waiting | interrupted | hook".to_owned(),
        ),
        (json!({"time": 3}), format!("{UNTOLD} | hook")),
        // Killed: the number is another process's by now.
        (
            json!({"start": "1"}),
            "gone | crashed while waiting for permission: exec make | hook".to_owned(),
        ),
        (
            json!({"start": "1", "status": "working"}),
            "gone | crashed while running exec make | hook".to_owned(),
        ),
        (
            json!({"start": "1", "status": "ready"}),
            "gone | ended | hook".to_owned(),
        ),
        (
            json!({"start": "1", "time": 3}),
            "gone | ended | hook".to_owned(),
        ),
        (
            json!({"start": "1", "status": "ended"}),
            "gone | ended | hook".to_owned(),
        ),
        // It went on to another session.
        (json!({"status": "ended"}), "gone | ended | hook".to_owned()),
        (
            json!({"status": "ended", "time": 3}),
            format!("{UNTOLD} | transcript"),
        ),
        // Nobody knows whether it runs.
        (
            json!({"pid": 0}),
            "needs-you | permission: exec make | hook".to_owned(),
        ),
        (
            json!({"namespace": "1"}),
            "needs-you | permission: exec make | hook".to_owned(),
        ),
        (
            json!({"pid": 0, "time": 3}),
            format!("{UNTOLD} | transcript"),
        ),
        // Of another release.
        (
            json!({"status": "asleep"}),
            format!("{UNTOLD} | transcript"),
        ),
    ] {
        assert_eq!(state(&agent, &note), wanted, "{note}");
    }
}

/// What a hook noted last may be old; the transcript has the call that the agent was killed in.
#[test]
fn a_killed_agent_crashed_in_its_last_call() {
    let agent = Agent::start("exec sleep 1000");
    let world = World::new();
    let header = json!({"type": "session", "version": 3, "id": ID, "timestamp": ago(4), "cwd": world.path("work")});
    let call =
        json!({"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "make"}});
    let message = |id: &str, message: Value| json!({"type": "message", "id": id, "timestamp": ago(2), "message": message});
    let said = message("a", json!({"role": "user", "content": "go"}));
    let called = message(
        "b",
        json!({"role": "assistant", "content": [call], "stopReason": "toolUse"}),
    );
    let path = format!(".pi/agent/sessions/--p--/2026-11-16T02-56-00-000Z_{ID}.jsonl");
    world.write(path, format!("{header}\n{said}\n{called}\n"));
    for (note, wanted) in [
        (
            json!({"status": "working", "time": 3}),
            "working | running bash make | hook",
        ),
        (
            json!({"status": "working", "time": 3, "start": "1"}),
            "gone | crashed while running bash make | hook",
        ),
        (
            json!({"status": "ready", "time": 1, "start": "1"}),
            "gone | ended while running bash make | hook",
        ),
    ] {
        assert_eq!(listed(&world, &agent, "pi", &note), wanted, "{note}");
    }
}

/// No hook tells that a command was allowed, but then the agent runs it.
#[test]
fn an_agent_that_runs_something_since_was_answered() {
    let mut agent = Agent::start("sleep 1000 & echo; wait");
    let children = format!("/proc/{pid}/task/{pid}/children", pid = agent.0.id());
    while fs::read_to_string(&children).is_ok_and(|children| children.trim().is_empty()) {
        std::thread::yield_now();
    }
    if !fs::exists(&children).unwrap_or(false) {
        return skipped("this system does not tell the children of a process");
    }
    for subject in [
        "sleep 1000",
        "X=1 ~/bin/sleep 9",
        "(sleep 1; make)",
        "$NAME 1",
    ] {
        let note = json!({"ticks": 1, "subject": subject});
        assert_eq!(
            state(&agent, &note),
            format!("working | running exec {subject} | hook")
        );
    }
    for unrelated in [json!({"ticks": 1}), json!({"subject": "sleep 1000"})] {
        let subject = unrelated["subject"].as_str().unwrap_or("make");
        assert_eq!(
            state(&agent, &unrelated),
            format!("needs-you | permission: exec {subject} | hook")
        );
    }
    let child = fs::read_to_string(&children).expect("children");
    let _ = agent.0.kill();
    let child = child.trim().parse().expect("one child");
    // SAFETY: the child of our own child, which was alive a moment ago and nobody else ends.
    unsafe { libc::kill(child, libc::SIGKILL) };
}

/// An agent that says itself what it is doing knows better.
#[test]
fn only_agents_that_need_it_get_the_hooks() {
    let world = World::new();
    world.claude(ID, &answer(&world.path("work"), &ago(1), "done"));
    let done = world
        .context(&["install", "claude", "--live"])
        .run()
        .success();
    assert!(
        done.out().contains(
            "note   Claude Code needs nothing for its live state: its own files tell it\n"
        ),
        "{}",
        done.out()
    );
    assert!(
        !fs::read_to_string(world.path(".claude/settings.json"))
            .expect("settings")
            .contains("live")
    );
}

#[test]
fn the_hooks_come_beside_the_ordinary_one_and_go_with_it() {
    for (agent, file, events) in [
        (
            "codex",
            ".codex/hooks.json",
            "Interrupt, PermissionRequest, SessionEnd, SessionStart, Stop, UserPromptSubmit",
        ),
        (
            "gemini",
            ".gemini/settings.json",
            "AfterAgent, BeforeAgent, BeforeTool, Notification, SessionEnd, SessionStart",
        ),
        (
            "qwen",
            ".qwen/settings.json",
            "Notification, PermissionRequest, SessionEnd, SessionStart, Stop, UserPromptSubmit",
        ),
    ] {
        let world = World::new();
        let before = "{\n  // mine\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"ding\"}]}]}\n}\n";
        world.write(file, before);
        world.context(&["install", agent]).run().success();
        let lacks = |out: &str| {
            out.contains(&format!(
                "  no live state: session-context install {agent} --live\n"
            ))
        };
        // Codex has yet to trust the hook itself.
        let doctor = world.context(&["doctor"]).run();
        assert!(
            lacks(doctor.out()) == (agent != "codex"),
            "{}",
            doctor.out()
        );
        let done = world.context(&["install", agent, "--live"]).run().success();
        assert!(
            done.out()
                .starts_with(&format!("hook   already installed in ~/{file} (")),
            "{}",
            done.out()
        );
        assert!(
            done.out()
                .contains(&format!("live   added to ~/{file} ({events})\n")),
            "{}",
            done.out()
        );
        let installed = fs::read_to_string(world.path(file)).expect("settings");
        assert_eq!(
            installed.matches(" live --agent ").count(),
            6,
            "{installed}"
        );
        assert!(
            installed.contains("// mine") && installed.contains("\"ding\""),
            "{installed}"
        );
        // Whoever installs it again keeps it.
        let again = world.context(&["install", agent]).run().success();
        assert!(
            again.out().contains(&format!(
                "live   already installed in ~/{file} ({events})\n"
            )),
            "{}",
            again.out()
        );
        assert_eq!(
            fs::read_to_string(world.path(file)).expect("settings"),
            installed
        );
        let doctor = world.context(&["doctor"]).run();
        assert!(
            doctor
                .out()
                .contains(&format!("~/{file} (with live state)"))
                || agent == "codex",
            "{}",
            doctor.out()
        );
        assert!(!lacks(doctor.out()), "{}", doctor.out());
        world.context(&["uninstall", agent]).run().success();
        assert_eq!(
            fs::read_to_string(world.path(file)).expect("settings"),
            before
        );
    }
}

#[test]
fn the_extension_for_pi_notes_it_if_that_is_wanted() {
    let world = World::new();
    let extension = || {
        fs::read_to_string(world.path(".pi/agent/extensions/session-context.ts"))
            .expect("the extension")
    };
    world.context(&["install", "pi"]).run().success();
    assert!(extension().contains("\nconst LIVE = false;\n"));
    for args in [&["install", "pi", "--live"][..], &["install", "pi"]] {
        world.context(args).run().success();
        assert!(extension().contains("\nconst LIVE = true;\n"));
    }
    world.context(&["uninstall", "pi"]).run().success();
    assert!(
        !world
            .path(".pi/agent/extensions/session-context.ts")
            .exists()
    );
}
