//! Each agent's hook: what it is given, and the form of its reply.

use serde_json::{Value, json};

use crate::support::hook::input;
use crate::support::world::{World, path};

/// Each agent: what its hook is given for a prompt (by what a session is called, and where its transcript is), and how the
/// text goes into its reply. `clients.md` says which fields there are.
pub type Agent = (&'static str, fn(&World, &str) -> Value, fn(&str) -> Value);

pub const AGENTS: [Agent; 6] = [
    ("agent-sdk", input, hook_output),
    (
        "codex",
        |world, id| {
            let file = format!(".codex/sessions/2026/11/16/rollout-2026-11-16T02-00-00-{id}.jsonl");
            let more = json!({"turn_id": "t1", "model": "gpt-5.5", "permission_mode": "default"});
            asks(world, id, "UserPromptSubmit", &file, more)
        },
        hook_output,
    ),
    (
        "gemini",
        |world, id| {
            let file = format!(
                ".gemini/tmp/work/chats/session-2026-11-16T02-00-{}.jsonl",
                &id[..8]
            );
            asks(
                world,
                id,
                "BeforeAgent",
                &file,
                json!({"timestamp": "2026-11-16T03:00:00Z"}),
            )
        },
        |text| with_event("BeforeAgent", &text.replace("->", "→")),
    ),
    (
        "qwen",
        |world, id| {
            let more = json!({"timestamp": "2026-11-16T03:00:00Z", "prompt_id": "p1", "submitted_prompt": "go on"});
            asks(
                world,
                id,
                "UserPromptSubmit",
                &format!(".qwen/projects/-work/chats/{id}.jsonl"),
                more,
            )
        },
        |text| hook_output(&text.replace("->", "→")),
    ),
    (
        "copilot",
        |world, id| json!({"sessionId": id, "timestamp": 1_794_798_000_000_u64, "cwd": world.path("work"), "prompt": "x"}),
        |text| json!({"additionalContext": text}),
    ),
    (
        "pi",
        |world, id| {
            let file = format!(".pi/agent/sessions/--work--/2026-11-16T02-00-00-000Z_{id}.jsonl");
            asks(world, id, "UserPromptSubmit", &file, json!({}))
        },
        |text| json!({"message": {"customType": "session-update", "display": true, "content": text}}),
    ),
];

pub fn agent(name: &str) -> Agent {
    AGENTS
        .into_iter()
        .find(|(agent, ..)| *agent == name)
        .expect("an agent")
}

/// What most agents give their hooks, and what one adds to it.
pub fn asks(world: &World, id: &str, event: &str, transcript: &str, mut more: Value) -> Value {
    more["session_id"] = id.into();
    more["hook_event_name"] = event.into();
    more["transcript_path"] = path(world, transcript).into();
    more["cwd"] = path(world, "work").into();
    more["prompt"] = "go on".into();
    more
}

fn hook_output(text: &str) -> Value {
    with_event("UserPromptSubmit", text)
}

pub fn with_event(event: &str, text: &str) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})
}
