//! Lines and sessions as Claude Code writes them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use session_core::process;

use crate::support::times::ago;
use crate::support::world::{ONE, World, path};

pub fn line(value: Value) -> String {
    value.to_string() + "\n"
}

/// Lines of a file, each ended.
pub fn lines(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

pub fn with(mut value: Value, key: &str, to: impl Into<Value>) -> Value {
    value[key] = to.into();
    value
}

/// A line of a Claude session with an id made from what it says.
pub fn message_line(kind: &str, cwd: &Path, time: &str, content: &str) -> String {
    let (cwd, uuid) = (
        cwd.display(),
        format!("{kind}-{time}-{content}").replace('"', "'"),
    );
    let content = serde_json::Value::from(content);
    format!(
        r#"{{"type":"{kind}","uuid":{},"cwd":"{cwd}","timestamp":"{time}","message":{{"id":{},"role":"{kind}","content":{content},"usage":{{"input_tokens":1000,"output_tokens":500}}}}}}"#,
        serde_json::Value::from(uuid.clone()),
        serde_json::Value::from(uuid),
    ) + "\n"
}

/// A prompt in a Claude session.
pub fn prompt(cwd: &Path, time: &str, text: &str) -> String {
    message_line("user", cwd, time, text)
}

/// An answer in a Claude session, of 1,500 tokens.
pub fn answer(cwd: &Path, time: &str, text: &str) -> String {
    message_line("assistant", cwd, time, text)
}

/// An answer as Claude Code writes it, keys in its order, `at` being the time of day.
pub fn answer_as_written(uuid: &str, at: &str, text: &str) -> String {
    let content = format!(r#"[{{"type":"text","text":{}}}]"#, json!(text));
    let message = format!(
        r#"{{"model":"claude-x","id":"msg_{uuid}","role":"assistant","content":{content},"usage":{{"input_tokens":1,"output_tokens":1}}}}"#
    );
    format!(
        r#"{{"parentUuid":null,"message":{message},"type":"assistant","uuid":"{uuid}","timestamp":"2026-08-01T{at}:00.000Z"}}"#
    )
}

pub fn user(uuid: &str, minute: u32, text: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"{uuid}","timestamp":"2026-11-16T02:{minute:02}:00.000Z","message":{{"role":"user","content":"{text}"}}}}"#
    ) + "\n"
}

pub fn said(world: &World, minutes: i64, text: &str) -> String {
    prompt(&world.path("work"), &ago(minutes), text)
}

/// A command that the agent ran, in a Claude session.
pub fn call(time: &str, id: &str, command: &str) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"call-{id}","timestamp":"{time}","message":{{"id":"m-{id}","role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":"{command}"}}}}]}}}}"#
    ) + "\n"
}

/// What came of a command.
pub fn result(time: &str, id: &str, failed: bool) -> String {
    format!(
        r#"{{"type":"user","uuid":"result-{id}","timestamp":"{time}","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","is_error":{failed},"content":"out"}}]}}}}"#
    ) + "\n"
}

/// A line of a Claude agent's message.
pub fn said_line(minutes: i64, id: &str, message: &str, content: Value) -> String {
    let message = json!({"id": message, "role": "assistant", "content": content});
    line(json!({"type": "assistant", "uuid": id, "timestamp": ago(minutes), "message": message}))
}

/// A call of a Claude agent with any input, and what came of it.
pub fn used(minutes: i64, id: &str, tool: &str, input: Value, result: Option<&str>) -> String {
    let content = json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]);
    let message = json!({"id": format!("m-{id}"), "role": "assistant", "content": content});
    let call =
        json!({"type": "assistant", "uuid": id, "timestamp": ago(minutes), "message": message});
    let came = |text: &str| {
        let content =
            json!([{"type": "tool_result", "tool_use_id": id, "is_error": false, "content": text}]);
        json!({"type": "user", "uuid": format!("r-{id}"), "timestamp": ago(minutes), "message": {"role": "user", "content": content}})
    };
    line(call) + &result.map_or(String::new(), |text| line(came(text)))
}

/// A message of a Claude agent with calls in it, and what came of each: `Edit a.rs`, or `!Edit a.rs` if it failed.
pub fn calls(minutes: i64, id: &str, calls: &[&str]) -> String {
    let (mut blocks, mut results) = (Vec::new(), String::new());
    for (at, call) in calls.iter().enumerate() {
        let (tool, subject) = call
            .trim_start_matches('!')
            .split_once(' ')
            .unwrap_or((call, ""));
        let key = match tool {
            "Bash" => "command",
            "Grep" | "Glob" => "pattern",
            "WebFetch" => "url",
            "Task" => "description",
            "NotebookEdit" => "notebook_path",
            _ => "file_path",
        };
        let id = format!("{id}-{at}");
        results += &result(&ago(minutes), &id, call.starts_with('!'));
        blocks.push(json!({"type": "tool_use", "id": id, "name": tool, "input": {key: subject}}));
    }
    said_line(minutes, id, &format!("m-{id}"), Value::from(blocks)) + &results
}

pub fn edit(minutes: i64, id: &str, file: &str) -> String {
    calls(minutes, id, &[&format!("Edit {file}")])
}

/// Two edits of files in the working directory.
pub fn edits(world: &World, minutes: i64, id: &str, files: &[&str]) -> String {
    files
        .iter()
        .map(|file| edit(minutes, &format!("{id}-{file}"), &work(world, file)))
        .collect()
}

pub fn work(world: &World, file: &str) -> String {
    path(world, &format!("work/{file}"))
}

pub fn tasks(minutes: i64, id: &str, tasks: &[(&str, &str)]) -> String {
    let all: Vec<Value> = tasks
        .iter()
        .map(|(text, state)| json!({"content": text, "status": state}))
        .collect();
    used(minutes, id, "TodoWrite", json!({"todos": all}), Some("ok"))
}

pub fn title(text: &str) -> String {
    line(json!({"type": "custom-title", "customTitle": text}))
}

/// What a client writes when it has forgotten most of a session.
pub fn compacted(minutes: i64, text: &str) -> String {
    line(
        json!({"type": "user", "uuid": format!("c{minutes}"), "timestamp": ago(minutes), "isCompactSummary": true,
                "message": {"role": "user", "content": text}}),
    )
}

/// A Claude session in the working directory that got one prompt.
pub fn asked(world: &World, id: &str, minutes: i64, text: &str) -> PathBuf {
    world.claude(id, &prompt(&world.path("work"), &ago(minutes), text))
}

/// A session of ten prompts, a minute apart, and metadata behind them.
pub fn ten() -> World {
    let world = World::new();
    let cwd = world.path("work");
    let said = (0..10).map(|minute| {
        prompt(
            &cwd,
            &format!("2026-11-16T02:0{minute}:00Z"),
            &format!("prompt {minute}"),
        )
    });
    let metadata = "{\"type\":\"permission-mode\",\"permissionMode\":\"plan\"}\n{\"type\":\"mode\",\"mode\":\"normal\"}\n";
    world.claude(ONE, &(said.collect::<String>() + &metadata.repeat(20)));
    world
}

/// The file of a subagent of a Claude session: what it was told, and these lines.
pub fn subagent(world: &World, session: &str, name: &str, minutes: i64, lines: &str) -> PathBuf {
    let file = world
        .transcript(session)
        .with_extension("")
        .join(format!("subagents/{name}.jsonl"));
    let begun = prompt(
        &world.path("work"),
        &ago(minutes),
        "look into the whole of the shop",
    );
    world.write(file, of_subagent(&(begun + lines)))
}

/// Lines as they stand in the file of a subagent.
pub fn of_subagent(lines: &str) -> String {
    let mark = |line: &str| {
        let mut line: Value = serde_json::from_str(line).expect("JSON");
        (line["isSidechain"], line["agentId"]) = (true.into(), "a1".into());
        line.to_string() + "\n"
    };
    lines.lines().map(mark).collect()
}

/// Its agent runs, and says what it is at.
pub fn runs(world: &World, id: &str, status: &str, waits_for: &str) {
    let pid = std::process::id();
    let start = process::started(pid).expect("it runs").to_string();
    let domain = format!("pid:[{}]", process::namespace().expect("a namespace"));
    let entry = json!({"pid": pid, "procStart": start, "pidDomain": domain, "sessionId": id});
    let entry = with(with(entry, "status", status), "waitingFor", waits_for);
    world.write(format!(".claude/sessions/{id}.json"), entry.to_string());
}
