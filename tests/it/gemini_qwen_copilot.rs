//! Transcripts of Gemini, Qwen and Copilot as they are in the wild.

use serde_json::json;

use crate::support::claude::lines;
use crate::support::reader::{listed, log_of_file};
use crate::support::world::{ID, World};

const GEMINI: &str = r#"{"sessionId":"8b585e11-2eb8-459b-b1a6-75f9c89c4176","projectHash":"9a","startTime":"2026-08-01T10:00:00.000Z","lastUpdated":"2026-08-01T10:00:00.000Z","kind":"main"}"#;

const GEMINI_USER: &str =
    r#"{"id":"m1","timestamp":"2026-08-01T10:00:00.000Z","type":"user","content":[{"text":"hi"}]}"#;
const GEMINI_CALLED: &str = r#"{"id":"m2","timestamp":"2026-08-01T10:00:02.000Z","type":"gemini","content":"Done","thoughts":[],"tokens":{"input":10,"output":2,"cached":0,"thoughts":1,"total":13},"model":"gemini-x","toolCalls":[{"id":"c1","name":"read_file","args":{"file_path":"a.rs"},"status":"success","timestamp":"2026-08-01T10:00:01.500Z"},{"id":"c2","name":"replace","args":{"file_path":"b.rs"},"status":"error"}]}"#;

/// A message that is appended again is the same message with more in it; lines that patch the header say
/// nothing. What a user took back was said all the same, so a rewind removes nothing from the log.
#[test]
fn q71_q72_gemini_messages_again() {
    let first = r#"{"id":"m2","timestamp":"2026-08-01T10:00:02.000Z","type":"gemini","content":"Do","thoughts":[],"tokens":{"input":10,"output":2,"cached":0,"thoughts":1,"total":13},"model":"gemini-x"}"#;
    let all = [
        GEMINI,
        GEMINI_USER,
        first,
        r#"{"$set":{"lastUpdated":"2026-08-01T10:00:03.000Z"}}"#,
        GEMINI_CALLED,
        r#"{"$rewindTo":"m2"}"#,
        r#"{"id":"m3","timestamp":"2026-08-01T10:01:00.000Z","type":"user","content":[{"text":"other"},{"text":"<hook_context>2 sessions</hook_context>"}]}"#,
    ];
    log_of_file(&all).success().stdout(concat!(
        "2026-08-01 10:00  user       hi\n",
        "           10:00  assistant  Done\n",
        "           10:00  assistant  [read_file a.rs]\n",
        "           10:00  assistant  [replace b.rs] failed\n",
        "           10:01  user       other\n",
    ));
    let world = World::new();
    world.write(".gemini/tmp/app/.project_root", "/src/app\n");
    world.write(
        ".gemini/tmp/app/chats/session-2026-08-01T10-00-8b585e11.jsonl",
        lines(&all),
    );
    let expected = json!({
        "id": "8b585e11-2eb8-459b-b1a6-75f9c89c4176", "name": null, "agent": "gemini", "title": "other", "cwd": "/src/app",
        "started": "2026-08-01T10:00:00.000Z", "updated": "2026-08-01T10:01:00.000Z", "state": "idle", "messages": 3,
        "tokens": {"input": 10, "output": 3},
    });
    assert_eq!(
        listed(&world),
        [expected],
        "74: the cwd is in a file above the chats"
    );
}

/// A checkpoint lists all messages again: none is shown twice, the times stay, and one that is only there is shown.
#[test]
fn q73_gemini_checkpoints() {
    let only = r#"{"$set":{"messages":[{"id":"m0","timestamp":"2026-08-01T09:59:00.000Z","type":"user","content":[{"text":"before"}]}]}}"#;
    let again = r#"{"$set":{"messages":[{"id":"m0","timestamp":"2026-08-01T12:00:00.000Z","type":"user","content":[{"text":"before"}]},{"id":"m1","timestamp":"2026-08-01T12:00:00.000Z","type":"user","content":[{"text":"hi"}]},{"id":"m2","timestamp":"2026-08-01T12:00:00.000Z","type":"gemini","content":[{"text":"Done"},{"functionCall":{"id":"c1","name":"read_file","args":{"file_path":"a.rs"}}},{"functionCall":{"id":"c2","name":"replace","args":{"file_path":"b.rs"}}}]}]}}"#;
    let last =
        r#"{"id":"m4","timestamp":"2026-08-01T12:01:00.000Z","type":"user","content":"last"}"#;
    log_of_file(&[GEMINI, only, GEMINI_USER, GEMINI_CALLED, again, last, again])
        .success()
        .stdout(concat!(
            "2026-08-01 09:59  user       before\n",
            "           10:00  user       hi\n",
            "           10:00  assistant  Done\n",
            "           10:00  assistant  [read_file a.rs]\n",
            "           10:00  assistant  [replace b.rs] failed\n",
            "           12:01  user       last\n",
        ));
}

/// In Qwen the subtype says whether a user line is a prompt, and what a hook added is a tagged part of it.
#[test]
fn q75_qwen_prompts() {
    let user = |uuid: &str, extra: &str, text: &str| {
        format!(
            r#"{{"uuid":"{uuid}","parentUuid":null,"sessionId":"s","timestamp":"2026-08-01T10:00:00.000Z","type":"user",{extra}"cwd":"/p","version":"0.9","message":{{"role":"user","parts":[{text}]}}}}"#
        )
    };
    log_of_file(&[
        &user("q1", "", r#"{"text":"fix it"},{"text":"<qwen:user-prompt-submit-context>2 sessions</qwen:user-prompt-submit-context>"}"#),
        &user("q2", r#""subtype":"notification","#, r#"{"text":"a task ended"}"#),
        &user("q3", r#""subtype":"cron","#, r#"{"text":"nightly"}"#),
        &user("q4", r#""subtype":"mid_turn_user_message","#, r#"{"text":"and this"}"#),
        r#"{"uuid":"q5","timestamp":"2026-08-01T10:00:01.000Z","type":"assistant","cwd":"/p","message":{"role":"model","parts":[{"text":"hm","thought":true},{"text":"Done"},{"functionCall":{"id":"c1","name":"edit","args":{"file_path":"/p/a.rs"}}}]}}"#,
        r#"{"uuid":"q6","timestamp":"2026-08-01T10:00:02.000Z","type":"tool_result","cwd":"/p","message":{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"edit","response":{"error":"no"}}}]},"toolCallResult":{"callId":"c1","status":"error"}}"#,
    ])
    .success()
    .stdout(concat!(
        "2026-08-01 10:00  user       fix it\n",
        "           10:00  user       and this\n",
        "           10:00  assistant  Done\n",
        "           10:00  assistant  [edit a.rs] failed\n",
    ));
}

/// On Windows the directory is in lower case; the cwd is the one in the lines.
#[test]
fn q76_qwen_on_windows() {
    let world = World::new();
    let user = r#"{"uuid":"q1","timestamp":"2026-08-01T10:00:00.000Z","type":"user","cwd":"C:\\Users\\Ana\\App","message":{"role":"user","parts":[{"text":"fix it"}]}}"#;
    world.write(
        format!(".qwen/projects/c--users-ana-app/chats/{ID}.jsonl"),
        lines(&[user]),
    );
    let rows = listed(&world);
    assert_eq!(
        (rows.len(), &rows[0]["id"], &rows[0]["cwd"]),
        (1, &json!(ID), &json!(r"C:\Users\Ana\App"))
    );
}

/// Copilot writes a prompt twice in one record and a call in two events, and line separators of Unicode into
/// strings, which end no line.
#[test]
fn q77_q78_q79_copilot() {
    log_of_file(&[
        r#"{"type":"session.start","id":"e0","timestamp":"2026-08-01T10:00:00.000Z","data":{"sessionId":"s","context":{"cwd":"/p"}}}"#,
        r#"{"type":"user.message","id":"e1","parentId":"e0","timestamp":"2026-08-01T10:00:00.000Z","data":{"content":"fix it","transformedContent":"<current_datetime>…</current_datetime>\nfix it","attachments":[]}}"#,
        "{\"type\":\"user.message\",\"id\":\"e2\",\"timestamp\":\"2026-08-01T10:00:01.000Z\",\"data\":{\"content\":\"one\u{2028}two\u{2029}three\"}}",
        r#"{"type":"assistant.message","id":"e3","timestamp":"2026-08-01T10:00:02.000Z","data":{"messageId":"m","content":"","toolRequests":[{"toolCallId":"c1","name":"bash","arguments":{"command":"false"}}]}}"#,
        r#"{"type":"tool.execution_start","id":"e4","timestamp":"2026-08-01T10:00:03.000Z","data":{"toolCallId":"c1","toolName":"bash","arguments":{"command":"false"}}}"#,
        r#"{"type":"tool.execution_complete","id":"e5","parentId":"e4","timestamp":"2026-08-01T10:00:05.000Z","data":{"toolCallId":"c1","success":false,"result":{"content":"exit 1"}}}"#,
    ])
    .success()
    .stdout(concat!(
        "2026-08-01 10:00  user       fix it\n",
        "           10:00  user       one\n",
        "                             two\n",
        "                             three\n",
        "           10:00  assistant  [bash false] failed\n",
    ));
}
