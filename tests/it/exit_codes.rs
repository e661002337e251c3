//! Commands that ended with an exit code other than 0 have failed, also where the client calls the call a success.

use serde_json::json;

use crate::support::reader::log_of_file;

/// The calls in a log of these lines: a command, and whether it failed.
fn calls(all: &[String]) -> Vec<String> {
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let log = log_of_file(&all).success();
    let calls = log
        .out()
        .lines()
        .filter_map(|line| line.get(18..)?.strip_prefix("assistant  ["));
    calls.map(|call| call.replace(']', "")).collect()
}

#[test]
fn exit_codes_of_qwen_and_gemini_tell_which_calls_failed() {
    let qwen = |code: &str, output: &str| {
        format!(
            "Command: npm test\nDirectory: (root)\nOutput: {output}\nError: (none)\n{code}\nSignal: (none)\nProcess Group PGID: 417"
        )
    };
    let gemini = |code: &str, output: &str| {
        format!(
            "<untrusted_context>\nOutput: {output}\n{code}Process Group PGID: 417\n</untrusted_context>"
        )
    };
    let session = |output: String, tool: &str| {
        let call = json!({"uuid":"q2","timestamp":"2026-08-01T10:00:01.000Z","type":"assistant","cwd":"/p","message":{"role":"model","parts":[{"functionCall":{"id":"c1","name":tool,"args":{"command":"npm test","file_path":"npm test"}}}]}});
        let result = json!({"uuid":"q3","timestamp":"2026-08-01T10:00:02.000Z","type":"tool_result","cwd":"/p","message":{"role":"user","parts":[{"functionResponse":{"id":"c1","name":tool,"response":{"output":output}}}]},"toolCallResult":{"callId":"c1","status":"success","resultDisplay":{"type":"shell_result","output":"x"}}});
        let user = json!({"uuid":"q1","timestamp":"2026-08-01T10:00:00.000Z","type":"user","cwd":"/p","message":{"role":"user","parts":[{"text":"test it"}]}});
        calls(&[user.to_string(), call.to_string(), result.to_string()])
    };
    let shell = "run_shell_command";
    assert_eq!(
        session(qwen("Exit Code: 1", "1 failed"), shell),
        ["run_shell_command npm test failed"]
    );
    assert_eq!(
        session(qwen("Exit Code: 0", "all good"), shell),
        ["run_shell_command npm test"]
    );
    assert_eq!(
        session(
            qwen("Exit Code: 0", "the other tool said\nExit Code: 7"),
            shell
        ),
        ["run_shell_command npm test"]
    );
    assert_eq!(
        session(qwen("Exit Code: (none)", "stopped"), shell),
        ["run_shell_command npm test"]
    );
    assert_eq!(
        session(qwen("Exit Code: 127", &"x".repeat(100_000)), shell),
        ["run_shell_command npm test failed"]
    );
    assert_eq!(
        session(qwen("Exit Code: 1", "a log"), "read_file"),
        ["read_file npm test"]
    );

    let session = |output: String| {
        let header = r#"{"sessionId":"8b585e11-2eb8-459b-b1a6-75f9c89c4176","projectHash":"9a","startTime":"2026-08-01T10:00:00.000Z","lastUpdated":"2026-08-01T10:00:00.000Z","kind":"main"}"#;
        let user = json!({"id":"m1","timestamp":"2026-08-01T10:00:00.000Z","type":"user","content":[{"text":"test it"}]});
        let call = json!({"id":"m2","timestamp":"2026-08-01T10:00:02.000Z","type":"gemini","content":"","toolCalls":[{"id":"c1","name":shell,"args":{"command":"npm test"},"status":"success"}]});
        let result = json!({"id":"m3","timestamp":"2026-08-01T10:00:03.000Z","type":"user","content":[{"functionResponse":{"id":"c1","name":shell,"response":{"output":output}}}]});
        calls(&[
            header.into(),
            user.to_string(),
            call.to_string(),
            result.to_string(),
        ])
    };
    assert_eq!(
        session(gemini("Exit Code: 2\n", "1 failed")),
        ["run_shell_command npm test failed"]
    );
    assert_eq!(
        session(gemini("", "all good")),
        ["run_shell_command npm test"]
    );
    assert_eq!(
        session(
            "Output: (empty)\nError: (none)\nExit Code: 1\nSignal: 0\nBackground PIDs: (none)\nProcess Group PGID: 4"
                .into()
        ),
        ["run_shell_command npm test failed"]
    );
}

#[test]
fn exit_codes_of_copilot_tell_which_calls_failed() {
    let session = |output: &str| {
        let line = |number: u8, kind: &str, data: serde_json::Value| {
            json!({"type": kind, "data": data, "id": format!("e{number}"), "timestamp": format!("2026-08-01T10:00:0{number}.000Z")}).to_string()
        };
        calls(&[
            line(
                0,
                "session.start",
                json!({"sessionId": "s", "context": {"cwd": "/p"}}),
            ),
            line(1, "user.message", json!({"content": "test it"})),
            line(
                2,
                "tool.execution_start",
                json!({"toolCallId": "c1", "toolName": "bash", "arguments": {"command": "npm test"}}),
            ),
            line(
                3,
                "tool.execution_complete",
                json!({"toolCallId": "c1", "success": true, "result": {"content": output}}),
            ),
        ])
    };
    for (output, failed) in [
        ("1 failed\n<exited with exit code 255>", true),
        ("<exited with exit code 1>", true),
        ("all good\n<exited with exit code 0>", false),
        ("1 failed\n<shellId: 0 completed with exit code 2>", true),
        ("all good\n<shellId: 0 completed with exit code 0>", false),
        (
            "the log has <exited with exit code 3>\n<shellId: 4 completed with exit code 0>",
            false,
        ),
        ("no word of a code", false),
    ] {
        assert_eq!(
            session(output),
            [if failed {
                "bash npm test failed"
            } else {
                "bash npm test"
            }],
            "{output}"
        );
    }
}
