//! Transcripts of Pi, and of OpenClaw, which writes the same.

use serde_json::json;

use crate::support::claude::lines;
use crate::support::reader::{listed, log_of_file};
use crate::support::world::World;

const PI: &str = ".pi/agent/sessions/--p--";

/// 003-08, 003-T03, 003-T04, 003-T23: what was said and called in a Pi session. A line without its own time has the
/// message's, in another unit.
#[test]
fn t03_t04_t23_q51_pi() {
    log_of_file(&[
        r#"{"type":"session","version":3,"id":"0190ab00-aaaa-7bbb-8ccc-000000000001","timestamp":"2026-08-01T10:00:00.000Z","cwd":"/p"}"#,
        r#"{"type":"message","id":"a1b2c3d4","parentId":null,"timestamp":"2026-08-01T10:00:01.000Z","message":{"role":"user","content":"hello","timestamp":1785578401000}}"#,
        r#"{"type":"message","id":"e5f6a7b8","parentId":"a1b2c3d4","timestamp":"2026-08-01T10:01:00.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Looking."},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls -la"}},{"type":"toolCall","id":"c2","name":"edit","arguments":{"path":"/p/src/a.rs"}}],"stopReason":"toolUse"}}"#,
        r#"{"type":"message","id":"f1f1f1f1","parentId":"e5f6a7b8","timestamp":"2026-08-01T10:01:01.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"no"}],"isError":true}}"#,
        r#"{"type":"message","id":"f2f2f2f2","parentId":"f1f1f1f1","message":{"role":"user","content":[{"type":"text","text":"later"}],"timestamp":1785578700000}}"#,
    ])
    .success()
    .stdout(concat!(
        "2026-08-01 10:00  user       hello\n",
        "           10:01  assistant  Looking.\n",
        "           10:01  assistant  [bash ls -la] failed\n",
        "           10:01  assistant  [edit src/a.rs]\n",
        "           10:05  user       later\n",
    ));
}

/// A session with a header and nothing else is not there yet; a fork is called by its own id wherever its
/// parent was; what a future version writes is left alone; usage that was set to zero subtracts nothing.
#[test]
fn q49_q54_q56_q60_pi_headers() {
    let world = World::new();
    let header = r#"{"type":"session","version":3,"id":"0190ab00-aaaa-7bbb-8ccc-000000000001","timestamp":"2026-08-01T10:00:00.000Z","cwd":"/p"}"#;
    world.write(
        format!("{PI}/2026-08-01T10-00-00-000Z_0190ab00-aaaa-7bbb-8ccc-000000000001.jsonl"),
        lines(&[header]),
    );
    world.reader(&["list", "--all"]).run().status(1);
    world
        .reader(&["log", "0190ab00-aaaa-7bbb-8ccc-000000000001"])
        .run()
        .status(1)
        .stdout("")
        .stderr_has("nothing was said");

    let fork = r#"{"type":"session","version":3,"id":"n2","timestamp":"2026-08-02T10:00:00.000Z","cwd":"/p","parentSession":"C:\\Users\\ana\\.pi\\agent\\sessions\\--p--\\x.jsonl"}"#;
    let answer = |id: &str, tokens: u64| {
        json!({"type":"message","id":id,"timestamp":"2026-08-02T10:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"ok"}],"usage":{"input":tokens,"output":tokens,"cacheRead":0,"cacheWrite":0},"stopReason":"stop"}}).to_string()
    };
    let user = r#"{"type":"message","id":"a1b2c3d4","timestamp":"2026-08-02T10:00:01.000Z","message":{"role":"user","content":"hello"}}"#;
    world.write(
        format!("{PI}/2026-08-02T10-00-00-000Z_n2.jsonl"),
        lines(&[fork, user, &answer("b1", 7), &answer("b2", 0)]),
    );
    let v4 = r#"{"kind":"header","version":4,"id":"n4","createdAt":1785578400000,"cwd":"/p"}"#;
    world.write(
        format!("{PI}/2026-08-03T10-00-00-000Z_n4.jsonl"),
        lines(&[v4]),
    );
    let expected = json!({
        "id": "n2", "name": null, "agent": "pi", "title": "hello", "cwd": "/p", "started": "2026-08-02T10:00:00.000Z",
        "updated": "2026-08-02T10:00:02.000Z", "state": "idle", "messages": 3, "tokens": {"input": 7, "output": 7},
    });
    assert_eq!(listed(&world), [expected]);
}

/// The oldest version has no ids; what an extension put in, what a compaction kept, the user's own
/// shell and a moved head are not prompts.
#[test]
fn q50_to_q57_pi_lines() {
    let all = [
        r#"{"type":"session","id":"old-1","timestamp":"2025-11-01T10:00:00.000Z","cwd":""}"#,
        r#"{"type":"message","timestamp":"2026-08-01T10:00:01.000Z","message":{"role":"user","content":"hello"}}"#,
        r#"{"type":"message","timestamp":"2026-08-01T10:00:02.000Z","message":{"role":"user","content":"hello"}}"#,
        r#"{"type":"custom_message","id":"i9j0k1l2","parentId":"a1b2c3d4","timestamp":"2026-08-01T10:00:01.100Z","customType":"activity","content":"2 sessions active","display":false}"#,
        r#"{"type":"message","id":"b1b1b1b1","parentId":"a1b2c3d4","timestamp":"2026-08-01T10:05:00.000Z","message":{"role":"bashExecution","command":"ls","output":"a\n","exitCode":0,"cancelled":false,"truncated":false,"excludeFromContext":true,"timestamp":1785578700000}}"#,
        r#"{"type":"compaction","id":"f6a7b8c9","parentId":"a1b2c3d4","timestamp":"2026-08-01T11:00:00.000Z","summary":"Did X","tokensBefore":50000,"retainedTail":[{"role":"user","content":"hello"}],"details":{"readFiles":["a.rs"],"modifiedFiles":["b.rs"]}}"#,
        r#"{"type":"leaf","id":"0190ab14","parentId":"0190ab13","timestamp":"2026-08-01T12:00:05.600Z","targetId":"0190ab10"}"#,
    ];
    log_of_file(&all)
        .success()
        .stdout("2026-08-01 10:00  user       hello\n           10:00  user       hello\n");
    let world = World::new();
    let path = world.write("some.jsonl", lines(&all));
    world
        .reader(&["log", path.to_str().expect("UTF-8"), "--full"])
        .run()
        .success()
        .stdout(concat!(
            "2026-08-01 10:00  user       hello\n",
            "           10:00  user       hello\n",
            "           10:00  note       2 sessions active\n",
            "           10:05  command    ls\n",
            "           11:00  compacted  Did X\n",
        ));
}

/// Beside OpenClaw's transcripts lie archives and traces, which are not sessions.
#[test]
fn q59_openclaw_neighbours() {
    let world = World::new();
    let talk = lines(&[
        r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-08-01T10:00:00.000Z","cwd":"/p"}"#,
        r#"{"type":"message","id":"a1b2c3d4","timestamp":"2026-08-01T10:00:01.000Z","message":{"role":"user","content":"hello"}}"#,
    ]);
    for name in [
        "s1.jsonl",
        "s1.jsonl.reset.2026-08-01T04-00-00Z",
        "s1.jsonl.zst",
        "s1.trajectory.jsonl",
        "s1.checkpoint.2.jsonl",
    ] {
        world.write(format!(".openclaw/agents/main/sessions/{name}"), &talk);
    }
    let expected = json!({
        "id": "s1", "name": null, "agent": "pi", "title": "hello", "cwd": "/p", "started": "2026-08-01T10:00:00.000Z",
        "updated": "2026-08-01T10:00:01.000Z", "state": "idle", "messages": 1, "tokens": {"input": 0, "output": 0},
    });
    assert_eq!(listed(&world), [expected]);
}
