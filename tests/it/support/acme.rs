//! Acme, an agent that only a descriptor knows.

use serde_json::{Value, json};

use crate::support::world::World;

pub const DESCRIPTOR: &str = ".config/session-monitor/formats/acme.toml";

/// Acme writes `~/.acme/logs/ID.jsonl`, and has its hooks in `~/.acme/config.json`.
pub const ACME: &str = r#"# Acme 1.0, seen on 2026-11-16.
agent = "Acme"
label = "ac"
resume = "acme --session {id}"

[[root]]
env = "ACME_HOME"
path = "~/.acme"
files = ["logs/{id}.jsonl"]

[line]
time = "/at"

[[rule]]
when = { "/kind" = "header" }
session = "/id"
cwd = "/dir"

[[rule]]
when = { "/kind" = "prompt" }
role = "user"
content = "/text"

[[rule]]
when = { "/kind" = "reply" }
role = "assistant"
content = "/text"

[[rule]]
when = { "/kind" = "call" }
role = "assistant"
call = { tool = "/tool", input = "/with" }

[tools]
patch = { act = "edit", subject = "file" }

[hook]
prompts = ["onPrompt"]
starts = ["onStart"]
event = "/event"
session = "/session"
cwd = "/dir"
prompt = "/text"
reply = { text = "/say" }

[install]
dir = ".acme"
env = "ACME_HOME"
project = ".acme"
file = "config.json"
command = "run"
timeout = { seconds = 3 }
skills = "abilities"
off = [{ file = "config.json", key = "/quiet", is = true }]
trust = { file = "trust.toml", table = "/hooks", key = "hash", how = "run `acme trust`" }
notes = ["Acme reads its hooks when it starts"]
"#;

/// A line of Acme's.
pub fn line(kind: &str, mut line: Value) -> String {
    line["at"] = json!("2026-11-16T02:55:00Z");
    line["kind"] = json!(kind);
    line.to_string() + "\n"
}

/// A session of Acme's in the working directory, with one prompt.
pub fn log(world: &World, id: &str, text: &str) -> String {
    line("header", json!({"id": id, "dir": world.path("work")}))
        + &line("prompt", json!({"text": text}))
}
