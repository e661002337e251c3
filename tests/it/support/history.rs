//! Six weeks of work.

use serde_json::{Value, json};

use crate::support::claude::prompt;
use crate::support::script::Script;
use crate::support::world::World;

/// A message of a model in a Claude session, with perhaps calls in it.
pub fn message(time: &str, id: &str, model: &str, calls: &[Value]) -> String {
    let content = [&[json!({"type": "text", "text": "I do it."})], calls].concat();
    let usage = json!({"input_tokens": 2000, "output_tokens": 300});
    let message = json!({"id": format!("m-{id}"), "role": "assistant", "model": model, "content": content, "usage": usage});
    let line = json!({"type": "assistant", "uuid": format!("a-{id}"), "timestamp": time, "message": message});
    line.to_string() + "\n"
}

pub fn edit(id: &str, path: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Edit", "input": {"file_path": path}})
}

pub fn run(id: &str, command: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}})
}

/// Six weeks from Monday, 2026-10-05: every working day a session of three prompts, ten minutes apart, in the morning, on three
/// days of five another of two prompts in the afternoon, with another agent.
pub fn history() -> World {
    let world = World::new();
    let cwd = world.path("work");
    let asked = [
        "Fix the crash in the importer, it fails when the list is empty",
        "now add tests for it and run them",
        "Can you review the changes before we merge?",
        "Explique pourquoi la page de connexion est si lente",
        "why does the nightly job not stop?",
        "refactor the parser so that it reads from a stream",
    ];
    let commands = [
        "cargo test -q",
        "git checkout latest",
        "cargo build && cargo clippy",
        "cat contest.txt",
    ];
    let files = [
        "src/import.rs",
        "src/parse.rs",
        "tests/import.rs",
        "README.md",
        "tools/report.py",
        "notes.txt",
        "src/sync.rs",
    ];
    for day in (0..42).filter(|day| day % 7 < 5) {
        let date = if day < 27 {
            format!("2026-10-{:02}", day + 5)
        } else {
            format!("2026-11-{:02}", day - 26)
        };
        let (morning, afternoon) = (8 + day % 3, 13 + day % 4);
        let mut lines = String::new();
        for number in 0..3 {
            let (index, id) = (3 * day + number, format!("{day}-{number}"));
            lines += &prompt(
                &cwd,
                &format!("{date}T{morning:02}:{number}0:00Z"),
                asked[index % asked.len()],
            );
            let file = format!("{}/{}", cwd.display(), files[index % files.len()]);
            let tools = [
                edit(&format!("e{id}"), &file),
                run(&format!("r{id}"), commands[index % commands.len()]),
            ];
            lines += &message(
                &format!("{date}T{morning:02}:{number}5:00Z"),
                &id,
                "claude-opus-5-5",
                &tools,
            );
        }
        world.claude(&format!("{day:08}-0000-4000-8000-000000000000"), &lines);
        if day % 7 < 3 {
            let mut script = Script::pi(&cwd, &format!("pi-{day}"));
            for number in 0..2 {
                let usage = json!({"input": 1000, "output": 100});
                let said = json!({"model": "gpt-5.5", "content": [{"type": "text", "text": "Done."}], "usage": usage});
                script = script.at(&format!("{date}T{afternoon}:{number}0:00Z"));
                script = script
                    .user(asked[(day + number) % asked.len()])
                    .message("assistant", said);
            }
            world.write(
                format!(".pi/agent/sessions/--any--/{day}_pi-{day}.jsonl"),
                script.text(),
            );
        }
    }
    world
}
