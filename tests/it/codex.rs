//! Transcripts of Codex as they are in the wild: patches, scripts, paginated histories.

use serde_json::{Value, json};

use crate::support::claude::lines;
use crate::support::reader::{listed, log_of_file};
use crate::support::resume::resumed;
use crate::support::script::Script;
use crate::support::times::ago;
use crate::support::world::{ID, OTHER, World};

/// What Codex says twice is shown once; scaffolding is no prompt; arguments are read out of their string
/// even if it is cut; a patch names its files; an exit code is a failure.
#[test]
fn q61_to_q65_q70_codex() {
    log_of_file(&[
        r#"{"timestamp":"2026-08-01T10:00:00.000Z","type":"session_meta","payload":{"id":"t1","cwd":"/p"}}"#,
        r#"{"timestamp":"2026-08-01T10:00:00.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n  <cwd>/p</cwd>\n</environment_context>"}]}}"#,
        r#"{"timestamp":"2026-08-01T10:00:00.000Z","type":"event_msg","payload":{"type":"user_message","message":"fix it"}}"#,
        r#"{"timestamp":"2026-08-01T10:00:00.001Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"fix it"}]}}"#,
        r#"{"timestamp":"2026-08-01T10:00:01.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"cargo test\",\"workdir\":\"/p\"}","call_id":"call_1"}}"#,
        r#"{"timestamp":"2026-08-01T10:00:02.000Z","type":"response_item","payload":{"type":"custom_tool_call","status":"completed","call_id":"call_2","name":"apply_patch","input":"*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** Add File: /p/b.rs\n+z\n*** End Patch"}}"#,
        r#"{"timestamp":"2026-08-01T10:00:03.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_1","output":"Process exited with code 101\nerror: x"}}"#,
        r#"{"timestamp":"2026-08-01T10:00:04.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\",\"justification\":\"bec","call_id":"call_3"}}"#,
        r#"{"timestamp":"2026-08-01T10:00:05.000Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"npm test\"]}","call_id":"call_4"}}"#,
        r#"{"timestamp":"2026-08-01T11:00:00.000Z","type":"compacted","payload":{"message":"Summary of work","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"fix it"}]}]}}"#,
        r#"{"timestamp":"2026-08-01T11:00:01.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}"#,
    ])
    .success()
    .stdout(concat!(
        "2026-08-01 10:00  user       fix it\n",
        "           10:00  assistant  [exec_command cargo test] failed\n",
        "           10:00  assistant  [apply_patch src/a.rs, b.rs]\n",
        "           10:00  assistant  [exec_command ls]\n",
        "           10:00  assistant  [shell npm test]\n",
        "           11:00  assistant  Done.\n",
    ));
}

/// Totals count, whatever null stands between them; the first header is the session's own, however long; an
/// archived session stays, with either file name; a compressed one and a subagent's are no sessions that can be read.
#[test]
fn q66_q67_q68_codex_files() {
    let world = World::new();
    let meta = |id: &str, source: Value| {
        json!({"timestamp":"2026-08-01T10:00:00.000Z","type":"session_meta","payload":{"id":id,"session_id":id,"forked_from_id":"t1","cwd":"/p","source":source,"base_instructions":{"text":"x".repeat(150_000)}}}).to_string()
    };
    let user = r#"{"timestamp":"2026-08-01T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"fix it"}]}}"#;
    let count = |input: u64, output: u64| {
        json!({"timestamp":"2026-08-01T10:00:04.000Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":input,"output_tokens":output},"last_token_usage":{"input_tokens":5,"output_tokens":1}}}}).to_string()
    };
    let null = r#"{"timestamp":"2026-08-01T10:00:04.000Z","type":"event_msg","payload":{"type":"token_count","info":null,"rate_limits":{"primary":{"used_percent":3.0}}}}"#;
    let (id, archived, side) = (
        "0190ab00-aaaa-7bbb-8ccc-000000000001",
        "0190ab00-aaaa-7bbb-8ccc-000000000002",
        "0190ab00-aaaa-7bbb-8ccc-000000000003",
    );
    let talk = |id: &str| {
        lines(&[
            &meta(id, json!("exec")),
            &meta("t1", json!("exec")),
            user,
            &count(5, 1),
            null,
            &count(10, 2),
            &count(10, 2),
            null,
        ])
    };
    world.write(
        format!(".codex/sessions/2026/08/01/rollout-2026-08-01T10-00-00-{id}.jsonl"),
        talk(id),
    );
    world.write(
        format!(".codex/archived_sessions/rollout-2026-08-01T10-00-00-{archived}.jsonl"),
        talk(archived),
    );
    world.write(
        format!(".codex/sessions/2026/08/01/rollout-2026-08-01T10-00-00-{OTHER}.jsonl.zst"),
        talk(OTHER),
    );
    let spawned = json!({"subagent":{"thread_spawn":{"parent_thread_id":"t1","depth":1}}});
    world.write(
        format!(".codex/sessions/2026/08/01/rollout-2026-08-01T10-00-01-{side}.jsonl"),
        lines(&[&meta(side, spawned), user]),
    );
    let expected = |id: &str| {
        json!({
            "id": id, "name": null, "agent": "codex", "title": "fix it", "cwd": "/p", "started": "2026-08-01T10:00:00.000Z",
            "updated": "2026-08-01T10:00:01.000Z", "state": "idle", "messages": 1, "tokens": {"input": 10, "output": 2},
        })
    };
    assert_eq!(listed(&world), [expected(archived), expected(id)]);
}

/// A rollout of a thread has both ids in its name; the session is called by the thread's.
#[test]
fn q68_codex_rollout_of_a_thread() {
    let world = World::new();
    let (thread, rollout) = (
        "0190ab00-aaaa-7bbb-8ccc-000000000001",
        "0190ab00-aaaa-7bbb-8ccc-000000000009",
    );
    let meta = json!({"timestamp":"2026-08-01T10:00:00.000Z","type":"session_meta","payload":{"id":thread,"cwd":"/p"}})
        .to_string();
    let user = r#"{"timestamp":"2026-08-01T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"fix it"}]}}"#;
    world.write(
        format!(".codex/sessions/2026/08/01/rollout-2026-08-01T10-00-00-{thread}_{rollout}.jsonl"),
        lines(&[&meta, user]),
    );
    let ids: Vec<_> = listed(&world).iter().map(|row| row["id"].clone()).collect();
    assert_eq!(ids, [thread]);
    world
        .reader(&["log", thread])
        .run()
        .success()
        .stdout("2026-08-01 10:00  user       fix it\n");
}

/// A paginated history says everything in items; the log reads the same.
#[test]
fn q69_codex_paginated() {
    log_of_file(&[
        r#"{"timestamp":"2026-08-01T10:00:00.000Z","ordinal":0,"type":"session_meta","payload":{"id":"t1","cwd":"/p","history_mode":"paginated"}}"#,
        r#"{"timestamp":"2026-08-01T10:00:00.000Z","ordinal":11,"type":"response_item","payload":{"type":"message","id":"m1","role":"user","content":[{"type":"input_text","text":"fix it"}]}}"#,
        r#"{"timestamp":"2026-08-01T10:00:00.000Z","ordinal":12,"type":"event_msg","payload":{"type":"item_completed","turn_id":"1","item":{"type":"UserMessage","id":"i0","content":[{"type":"text","text":"fix it"}]}}}"#,
        r#"{"timestamp":"2026-08-01T10:00:00.000Z","ordinal":13,"type":"event_msg","payload":{"type":"item_completed","turn_id":"1","item":{"type":"AgentMessage","id":"i1"}}}"#,
    ])
    .success()
    .stdout("2026-08-01 10:00  user       fix it\n");
}

/// A line of a Codex rollout, `at` being the time of day.
fn codex(at: &str, kind: &str, payload: Value) -> String {
    json!({"timestamp": format!("2026-08-01T{at}:00.000Z"), "type": kind, "payload": payload})
        .to_string()
}

fn codex_says(at: &str, role: &str, text: &str) -> String {
    let kind = if role == "user" {
        "input_text"
    } else {
        "output_text"
    };
    codex(
        at,
        "response_item",
        json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}),
    )
}

fn codex_call(at: &str, tool: &str, id: &str, input: &str) -> String {
    codex(
        at,
        "response_item",
        json!({"type": "custom_tool_call", "name": tool, "call_id": id, "input": input}),
    )
}

fn codex_result(at: &str, id: &str, texts: &[&str]) -> String {
    let output: Vec<_> = texts
        .iter()
        .map(|text| json!({"type": "input_text", "text": text}))
        .collect();
    codex(
        at,
        "response_item",
        json!({"type": "custom_tool_call_output", "call_id": id, "output": output}),
    )
}

fn codex_patched(at: &str, id: &str, success: bool, changes: Value) -> String {
    codex(
        at,
        "event_msg",
        json!({"type": "patch_apply_end", "call_id": id, "success": success, "stdout": "", "changes": changes}),
    )
}

/// A Codex session of these lines, as `resume --json` tells it.
fn codex_resumed(all: &[String]) -> Value {
    let world = World::new();
    let head = codex(
        "10:00",
        "session_meta",
        json!({"id": ID, "cwd": "/p", "source": "cli"}),
    );
    let text = format!("{head}\n{}\n", all.join("\n"));
    let path = world.write(
        format!(".codex/sessions/2026/08/01/rollout-2026-08-01T10-00-00-{ID}.jsonl"),
        text,
    );
    resumed(&world, &[path.to_str().expect("UTF-8")])
}

/// The files that were changed, each with what was done to it.
fn modified(all: &Value) -> Vec<(&str, &str)> {
    let files = all["files_modified"].as_array().expect("a list");
    files
        .iter()
        .map(|file| {
            (
                file["path"].as_str().expect("a path"),
                file["summary"].as_str().expect("text"),
            )
        })
        .collect()
}

/// Codex in code mode: the commands are inside scripts, and only an event tells what was edited. Whether a command failed
/// is known where the script hands on how it ended.
#[test]
fn codex_code_mode() {
    let script = |command: &str| {
        format!(
            "const r = await tools.exec_command({{cmd: {command}, workdir: \"/p\"}});\ntext(r);"
        )
    };
    let ended = |code: u8| {
        format!(r#"{{"chunk_id":"1","wall_time_seconds":0.1,"exit_code":{code},"output":"x"}}"#)
    };
    let head = "Script completed\nWall time 0.1 seconds\nOutput:\n";
    let lines = [
        codex(
            "10:00",
            "session_meta",
            json!({"id": ID, "cwd": "/p", "source": "cli"}),
        ),
        codex_says("10:00", "user", "fix the tests"),
        codex_call("10:01", "exec", "c1", &script("\"cargo test\"")),
        codex_result("10:01", "c1", &[head, &ended(101)]),
        codex_call(
            "10:02",
            "exec",
            "c2",
            "const patch = \"*** Begin Patch\\n…\";\ntext(await tools.apply_patch(patch));",
        ),
        codex_patched(
            "10:02",
            "exec-1",
            true,
            json!({"/p/src/a.rs": {"type": "update"}, "/p/b": {"type": "add"}}),
        ),
        codex_result(
            "10:02",
            "c2",
            &["Script completed\nWall time 0.1 seconds\nOutput:\n", "{}"],
        ),
        codex_patched(
            "10:03",
            "exec-2",
            false,
            json!({"/p/c": {"type": "delete"}}),
        ),
        codex_call(
            "10:04",
            "exec",
            "c3",
            &(script("'git status'") + &script("`git diff`")),
        ),
        codex_result("10:04", "c3", &[head, &ended(0)]),
        codex_call("10:05", "exec", "c4", &script("\"make\"")),
        codex_result(
            "10:05",
            "c4",
            &["Script failed\nWall time 1.4 seconds\nOutput:\n"],
        ),
    ];
    log_of_file(&lines.each_ref().map(String::as_str))
        .success()
        .stdout(concat!(
            "2026-08-01 10:00  user       fix the tests\n",
            "           10:01  assistant  [exec cargo test] failed\n",
            "           10:02  assistant  [exec const patch = \"*** Begin Patch\\n…\";]\n",
            "           10:02  assistant  [patch_apply_end b, src/a.rs]\n",
            "           10:03  assistant  [patch_apply_end c] failed\n",
            "           10:04  assistant  [exec git status, git diff]\n",
            "           10:05  assistant  [exec make] failed\n",
        ));
}

/// What Codex reports of a patch says which files are new and which are gone; a patch that is itself in the transcript, or
/// a file that is read or written again later, counts once.
#[test]
fn codex_patches() {
    let add = json!({"type": "add", "content": "# P\n\ntext\n"});
    let update =
        json!({"type": "update", "unified_diff": "@@ -1 +1 @@\n-x\n+y\n", "move_path": null});
    let all = codex_resumed(&[
        codex_says("10:00", "user", "write a readme"),
        codex_patched(
            "10:01",
            "exec-1",
            true,
            json!({"/p/README.md": add, "/p/old": {"type": "delete", "content": "x"}}),
        ),
        codex_call(
            "10:02",
            "exec",
            "c1",
            r#"text(await tools.exec_command({cmd: "sed -n 1,20p README.md"}))"#,
        ),
        codex_result(
            "10:02",
            "c1",
            &["Script completed\nWall time 0.1 seconds\nOutput:\n", "# P"],
        ),
        // The same patch as a call, as its result and as a report.
        codex_call(
            "10:03",
            "apply_patch",
            "c2",
            "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** End Patch",
        ),
        codex_patched("10:03", "c2", true, json!({"/p/src/a.rs": update})),
        codex_result(
            "10:03",
            "c2",
            &["Success. Updated the following files:\nM src/a.rs\n"],
        ),
        // Rewritten: deleted and added by one patch.
        codex_call(
            "10:04",
            "apply_patch",
            "c3",
            "*** Begin Patch\n*** Delete File: n.md\n*** Add File: n.md\n+1\n+2\n*** End Patch",
        ),
        codex_result(
            "10:04",
            "c3",
            &["Success. Updated the following files:\nM n.md\n"],
        ),
        codex_patched(
            "10:05",
            "exec-2",
            true,
            json!({"/p/x": {"type": "update", "unified_diff": "", "move_path": "/p/y"}}),
        ),
        codex_patched(
            "10:06",
            "exec-3",
            false,
            json!({"/p/never": {"type": "add", "content": "1"}}),
        ),
        codex_says("10:07", "assistant", "Done."),
    ]);
    let created: Vec<_> = all["files_modified"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|file| &file["action"])
        .collect();
    let mut found: Vec<_> = modified(&all)
        .into_iter()
        .zip(created)
        .map(|((path, how), action)| (path, how, action.as_str().expect("text")))
        .collect();
    found.sort_unstable();
    let expected = [
        ("/p/README.md", "new, 3 lines", "create"),
        ("/p/old", "deleted", "delete"),
        ("/p/x", "+0 -0", "edit"),
        ("/p/y", "+0 -0", "edit"),
        ("n.md", "rewritten, 2 lines", "edit"),
        ("src/a.rs", "+1 -1", "edit"),
    ];
    assert_eq!(found, expected);
}

/// The same where the history is paginated: the reports are items. The command that ran a patch stays one that ran.
#[test]
fn codex_file_changes() {
    let changed = |at: &str, id: &str, status: &str, path: &str| {
        let item = json!({"type": "FileChange", "id": id, "changes": {path: {"type": "add", "content": "1\n"}}, "status": status});
        codex(
            at,
            "event_msg",
            json!({"type": "item_completed", "thread_id": ID, "item": item}),
        )
    };
    let lines = [
        codex(
            "10:00",
            "session_meta",
            json!({"id": ID, "cwd": "/p", "source": "cli"}),
        ),
        codex_says("10:00", "user", "write it"),
        codex_call(
            "10:01",
            "apply_patch",
            "c1",
            "*** Begin Patch\n*** Add File: a\n+1\n*** End Patch",
        ),
        changed("10:01", "c1", "completed", "/p/a"),
        codex_call(
            "10:02",
            "exec",
            "c2",
            "text(await tools.exec_command({cmd: \"apply_patch < x.patch\"}))",
        ),
        changed("10:02", "c2", "completed", "/p/b"),
        changed("10:03", "exec-1", "declined", "/p/c"),
    ];
    log_of_file(&lines.each_ref().map(String::as_str))
        .success()
        .stdout(concat!(
            "2026-08-01 10:00  user       write it\n",
            "           10:01  assistant  [apply_patch a]\n",
            "           10:02  assistant  [exec apply_patch < x.patch]\n",
            "           10:02  assistant  [FileChange b]\n",
            "           10:03  assistant  [FileChange c] failed\n",
        ));
}

/// A report of changes that is too long for the buffer tells its files all the same.
#[test]
fn codex_long_patches() {
    let changes = json!({"/p/big": {"type": "add", "content": "x\n".repeat(400_000)}, "/p/small": {"type": "update"}});
    let lines = [
        codex(
            "10:00",
            "session_meta",
            json!({"id": ID, "cwd": "/p", "source": "cli"}),
        ),
        codex_says("10:00", "user", "write it"),
        codex_patched("10:01", "exec-1", true, changes),
    ];
    let log = "2026-08-01 10:00  user       write it\n           10:01  assistant  [patch_apply_end big, small]\n";
    log_of_file(&lines.each_ref().map(String::as_str))
        .success()
        .stdout(log);
}

/// Whoever looks after a command that runs already runs none.
#[test]
fn polls_are_no_commands() {
    let script = ["TaskOutput", "TaskStop", "BashOutput"].iter().fold(
        Script::of(&World::new())
            .user("Wait for it")
            .runs("make", false),
        |script, tool| script.does(tool, json!({"task_id": "b1"})),
    );
    let ran = script.json();
    let ran: Vec<_> = ran["commands"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|ran| ran["command"].as_str())
        .collect();
    assert_eq!(ran, [Some("make")]);
}

/// A command that hands a patch to `apply_patch` is an edit of its files, however it is called; and the client's report of
/// it is the same edit again.
#[test]
fn patches_in_commands_are_edits() {
    const PATCH: &str = "*** Begin Patch\n*** Update File: src/cart.rs\n@@\n-old\n+new\n*** Add File: src/tax.rs\n+fn tax() {}\n*** End Patch";
    let line = |kind: &str, payload: Value| {
        json!({"timestamp": "2026-08-01T10:00:00.000Z", "type": kind, "payload": payload})
            .to_string()
    };
    let call = |name: &str, arguments: Value| {
        line(
            "response_item",
            json!({"type": "function_call", "name": name, "call_id": "c1", "arguments": arguments.to_string()}),
        )
    };
    let heredoc = format!("cd /p && apply_patch <<'EOF'\n{PATCH}\nEOF\n");
    for (call, expected) in [
        (
            call("exec_command", json!({"cmd": heredoc})),
            "[exec_command src/cart.rs, src/tax.rs]",
        ),
        (
            call("shell", json!({"command": ["bash", "-lc", heredoc]})),
            "[shell src/cart.rs, src/tax.rs]",
        ),
        (
            call("shell", json!({"command": ["apply_patch", PATCH]})),
            "[shell src/cart.rs, src/tax.rs]",
        ),
        (
            call("shell_command", json!({"command": heredoc})),
            "[shell_command src/cart.rs, src/tax.rs]",
        ),
        (
            call("exec_command", json!({"cmd": "which apply_patch"})),
            "[exec_command which apply_patch]",
        ),
    ] {
        let world = World::new();
        let all = [
            line("session_meta", json!({"id": ID, "cwd": "/p"})),
            line(
                "response_item",
                json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "round the total"}]}),
            ),
            call,
            line(
                "event_msg",
                json!({"type": "patch_apply_end", "call_id": "c1", "success": true, "changes": {"src/cart.rs": {"type": "update", "unified_diff": "-old\n+new"}}}),
            ),
        ];
        let is_edit = expected.contains("cart");
        let all: Vec<&str> = all
            .iter()
            .map(String::as_str)
            .take(if is_edit { 4 } else { 3 })
            .collect();
        let path = world.write("some.jsonl", lines(&all));
        let path = path.to_str().expect("UTF-8");
        let log = world.reader(&["log", path]).run().success();
        assert_eq!(
            log.out().lines().skip(1).collect::<Vec<_>>(),
            [format!("           10:00  assistant  {expected}")]
        );
        let told = world
            .reader(&["resume", path, "--json"])
            .run()
            .success()
            .json()
            .remove(0);
        let expected = [("src/cart.rs", "+1 -1"), ("src/tax.rs", "new, 1 line")];
        assert_eq!(modified(&told), if is_edit { &expected[..] } else { &[] });
    }
}

/// What the user took back is over: nobody is at work on it, and a prompt that came to nothing is not told.
#[test]
fn a_turn_that_was_taken_back_is_over() {
    let world = World::new();
    let line = |minutes: i64, kind: &str, payload: Value| {
        json!({"timestamp": ago(minutes), "type": kind, "payload": payload}).to_string()
    };
    let said = |minutes: i64, text: &str| {
        line(
            minutes,
            "response_item",
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}),
        )
    };
    let all = [
        line(
            9,
            "session_meta",
            json!({"id": OTHER, "cwd": world.path("work")}),
        ),
        said(5, "rewrite the whole parser"),
        line(
            4,
            "event_msg",
            json!({"type": "thread_rolled_back", "num_turns": 1}),
        ),
    ];
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    world.write(
        format!(".codex/sessions/2026/11/16/rollout-2026-11-16T02-50-00-{OTHER}.jsonl"),
        lines(&all),
    );
    assert_eq!(listed(&world)[0]["state"], "waiting");
    assert!(!crate::support::hook::told(&world).contains("parser"));
}

/// An answered turn that was taken back is not quoted and does not count; what it did to files was done.
#[test]
fn an_answered_turn_that_was_taken_back_is_not_quoted() {
    let line = |kind: &str, payload: Value| (kind.to_owned(), payload);
    let said = |role: &str, text: &str| {
        let kind = if role == "user" {
            "input_text"
        } else {
            "output_text"
        };
        let content = json!([{"type": kind, "text": text}]);
        line(
            "response_item",
            json!({"type": "message", "role": role, "content": content}),
        )
    };
    let patch = "*** Begin Patch\n*** Add File: src/tax.rs\n+tax\n*** End Patch";
    let patched =
        json!({"type": "custom_tool_call", "call_id": "c1", "name": "apply_patch", "input": patch});
    let done = json!({"type": "custom_tool_call_output", "call_id": "c1", "output": "Success"});
    let back = |turns: u32| {
        line(
            "event_msg",
            json!({"type": "thread_rolled_back", "num_turns": turns}),
        )
    };
    let aborted = || {
        line(
            "event_msg",
            json!({"type": "turn_aborted", "reason": "interrupted"}),
        )
    };
    let first = || {
        vec![
            said("user", "round the invoice totals once"),
            said("assistant", "Rounded."),
        ]
    };
    let second = || {
        let calls = [
            line("response_item", patched.clone()),
            line("response_item", done.clone()),
        ];
        let mut all = vec![said("user", "rewrite the whole parser")];
        all.extend(calls);
        all.push(said("assistant", "The parser is new."));
        all
    };
    let never = || vec![said("user", "drop the old database"), aborted()];
    let quoted = "(2m ago, 2 messages): \"round the invoice totals once\"";
    for (turns, expected) in [
        (
            [first(), second()].concat(),
            "(2m ago, 4 messages): \"rewrite the whole parser\" -> updated src/tax.rs",
        ),
        (
            [first(), second(), vec![back(1)]].concat(),
            &format!("{quoted} -> updated src/tax.rs")[..],
        ),
        (
            [first(), second(), vec![back(2)]].concat(),
            "(2m ago) -> updated src/tax.rs",
        ),
        ([first(), never(), vec![back(1)]].concat(), quoted),
        (
            [first(), second(), never(), vec![back(2)]].concat(),
            &format!("{quoted} -> updated src/tax.rs"),
        ),
        (
            [second(), vec![back(1)], first()].concat(),
            &format!("{quoted} -> updated src/tax.rs"),
        ),
    ] {
        let world = World::new();
        let meta = line(
            "session_meta",
            json!({"id": OTHER, "cwd": world.path("work")}),
        );
        let time = ago(2);
        let stamped = std::iter::once(&meta).chain(&turns).map(|(kind, payload)| {
            json!({"timestamp": time, "type": kind, "payload": payload}).to_string()
        });
        let all: Vec<String> = stamped.collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        world.write(
            format!(".codex/sessions/2026/11/16/rollout-2026-11-16T02-50-00-{OTHER}.jsonl"),
            lines(&all),
        );
        let told = crate::support::hook::told(&world);
        assert!(told.contains(expected), "{expected}\n{told}");
    }
}
