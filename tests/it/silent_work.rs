//! Work that nobody speaks of: who is at work is not idle, and who has nothing to say has not been interrupted.

use serde_json::{Value, json};

use crate::support::claude::lines;
use crate::support::hook::{hook, input, text};
use crate::support::reader::listed;
use crate::support::times::ago;
use crate::support::world::{ID, ME, World};

fn world(path: &str, all: &[Value]) -> World {
    let world = World::new();
    let all: Vec<String> = all.iter().map(Value::to_string).collect();
    world.write(
        path,
        lines(&all.iter().map(String::as_str).collect::<Vec<_>>()),
    );
    world
}

/// The state of the one session there is, and why.
fn state(world: &World) -> String {
    let rows = world
        .reader(&["list", "--all", "--json"])
        .run()
        .success()
        .json();
    assert_eq!(rows.len(), 1, "{rows:?}");
    format!(
        "{}: {}",
        rows[0]["state"].as_str().unwrap_or("-"),
        rows[0]["reason"].as_str().unwrap_or("-")
    )
}

/// What a subagent or a command does is told by `progress` lines: they are activity, and nobody's words.
#[test]
fn progress_of_claude_is_activity() {
    let at = |minutes: i64, more: Value| {
        let mut line = json!({"timestamp": ago(minutes), "cwd": "/p", "uuid": format!("u{minutes}"), "isSidechain": false});
        line.as_object_mut()
            .expect("an object")
            .extend(more.as_object().expect("an object").clone());
        line
    };
    let call = json!([{"type": "tool_use", "id": "t1", "name": "Task", "input": {"description": "look for tests"}}]);
    let progress = |kind: &str| json!({"type": "progress", "toolUseID": "x", "parentToolUseID": "t1", "data": {"type": kind, "agentId": "a1", "message": {"type": "assistant", "uuid": "inner", "timestamp": ago(1), "message": {"content": [{"type": "text", "text": "found some"}]}}}});
    let begin = [
        at(
            170,
            json!({"type": "user", "message": {"role": "user", "content": "look for the tests that fail"}}),
        ),
        at(
            169,
            json!({"type": "assistant", "message": {"id": "m1", "role": "assistant", "content": call}}),
        ),
    ];
    let path = format!(".claude/projects/-p/{ID}.jsonl");
    let silent = world(&path, &begin);
    assert!(state(&silent).starts_with("idle: "), "{}", state(&silent));
    let busy = world(
        &path,
        &[&begin[..], &[at(2, progress("agent_progress"))]].concat(),
    );
    assert_eq!(
        state(&busy),
        "working: last seen running or waiting for permission: Task look for tests"
    );
    let row = &listed(&busy)[0];
    assert_eq!(
        (&row["updated"], &row["messages"]),
        (&json!(ago(2).replace('Z', ".000Z")), &json!(2))
    );
    assert!(
        !busy
            .reader(&["log", ID, "--full"])
            .run()
            .success()
            .out()
            .contains("found some")
    );
    // A hook of the user's is none of the agent's work.
    let hooked = world(
        &path,
        &[&begin[..], &[at(2, progress("hook_progress"))]].concat(),
    );
    assert!(state(&hooked).starts_with("idle: "));
}

/// Who has a suggested prompt sent has asked for it.
#[test]
fn an_accepted_suggestion_is_a_prompt() {
    let world = World::new();
    let line = json!({"type": "user", "uuid": "u1", "timestamp": ago(5), "cwd": world.path("work"), "promptSource": "suggestion_accepted", "origin": {"kind": "human"}, "message": {"role": "user", "content": "run the tests of the parser"}});
    world.claude(ID, &(line.to_string() + "\n"));
    let told = text(&hook(&world, &[], &input(&world, ME)).run().success());
    assert!(told.contains("run the tests of the parser"), "{told}");
}

/// Copilot ends a turn with an empty message when there is nothing to say.
#[test]
fn copilot_may_end_without_a_word() {
    let line = |number: i64, kind: &str, data: Value| json!({"type": kind, "data": data, "id": format!("e{number}"), "timestamp": ago(30 - number)});
    let run = |last: Value| {
        let path = format!(".copilot/session-state/{ID}/events.jsonl");
        let all = [
            line(
                0,
                "session.start",
                json!({"sessionId": ID, "context": {"cwd": "/p"}}),
            ),
            line(
                1,
                "user.message",
                json!({"content": "delete the old branches"}),
            ),
            line(
                2,
                "assistant.message",
                json!({"messageId": "m1", "content": "", "toolRequests": [{"toolCallId": "c1", "name": "bash"}]}),
            ),
            line(
                3,
                "tool.execution_start",
                json!({"toolCallId": "c1", "toolName": "bash", "arguments": {"command": "git branch -D old"}}),
            ),
            line(
                4,
                "tool.execution_complete",
                json!({"toolCallId": "c1", "success": true, "result": {"content": "ok"}}),
            ),
            line(5, "assistant.message", last),
            line(6, "assistant.turn_end", json!({"turnId": "1"})),
            line(7, "session.shutdown", json!({"shutdownType": "routine"})),
        ];
        let world = world(&path, &all);
        let full = world.reader(&["log", ID, "--full"]).run().success();
        (
            state(&world),
            full.out()
                .lines()
                .filter(|line| line.contains("note"))
                .count(),
        )
    };
    assert_eq!(
        run(json!({"messageId": "m2", "content": "", "toolRequests": []})),
        ("waiting: answered".into(), 0)
    );
    // It announced another call, which never ran.
    assert_eq!(
        run(json!({"messageId": "m2", "content": "", "toolRequests": [{"toolCallId": "c2", "name": "bash"}]})).0,
        "waiting: interrupted"
    );
}

/// In Qwen, Esc during a request leaves an error of the client's own.
#[test]
fn qwen_stopped_by_the_user_is_interrupted() {
    let line = |number: i64, more: Value| {
        let mut line = json!({"uuid": format!("q{number}"), "sessionId": ID, "timestamp": ago(30 - number), "cwd": "/p"});
        line.as_object_mut()
            .expect("an object")
            .extend(more.as_object().expect("an object").clone());
        line
    };
    let run = |message: &str| {
        let error = json!({"event.name": "qwen-code.api_error", "error_message": message, "error_type": "APIUserAbortError"});
        let path = format!(".qwen/projects/-p/chats/{ID}.jsonl");
        state(&world(
            &path,
            &[
                line(
                    1,
                    json!({"type": "user", "message": {"role": "user", "parts": [{"text": "delete the old branches"}]}}),
                ),
                line(
                    2,
                    json!({"type": "system", "subtype": "ui_telemetry", "systemPayload": {"uiEvent": error}}),
                ),
            ],
        ))
    };
    assert_eq!(run("Request was aborted."), "waiting: interrupted");
    assert_eq!(run("connect ECONNREFUSED"), "error: connect ECONNREFUSED");
}
