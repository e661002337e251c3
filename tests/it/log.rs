//! `session-reader log` on real transcripts: every case of `testdata/` has the output expected of it beside it.

use crate::world::World;

/// 003-T22, 003-19, 003-20: what was said in full, a line per call, times; nothing else.
#[test]
fn a_claude_session() {
    let world = World::new();
    world.claude(
        "11111111-0000-4000-8000-000000000001",
        concat!(
            r#"{"type":"user","uuid":"u1","timestamp":"2026-11-16T02:00:00.000Z","message":{"role":"user","content":"how do I deploy this?"}}"#, "\n",
            r#"{"type":"assistant","uuid":"a1","timestamp":"2026-11-16T02:00:05.000Z","message":{"id":"m1","role":"assistant","content":[{"type":"thinking","thinking":"hm"}]}}"#, "\n",
            r#"{"type":"assistant","uuid":"a2","timestamp":"2026-11-16T02:00:06.000Z","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"Like this:\n  make deploy"},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"npm test"}}]}}"#, "\n",
            r#"{"type":"user","uuid":"u2","timestamp":"2026-11-16T02:00:07.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"boom"}]}}"#, "\n",
        ),
    );
    world.reader(&["11111111"]).run().success().stdout(concat!(
        "2026-11-16 02:00  user       how do I deploy this?\n",
        "           02:00  assistant  Like this:\n",
        "                               make deploy\n",
        "           02:00  assistant  [Bash npm test] failed\n",
    ));
}
