//! Sessions to go on with, and what `resume` says of them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::run::Done;
use crate::support::script::Script;
use crate::support::times::at;
use crate::support::world::{ONE, World};

pub fn json_of(done: &Done) -> Value {
    let all = done.json();
    assert_eq!(all.len(), 1, "{}", done.out());
    all.into_iter().next().expect("one object")
}

pub fn resumed(world: &World, args: &[&str]) -> Value {
    json_of(
        &world
            .reader(&[&["resume"], args, &["--json"]].concat())
            .run()
            .success(),
    )
}

/// What is compared with a person's findings, in their form.
pub fn findings(all: &Value) -> Value {
    let rows = |list: &str, keys: &[&str]| -> Vec<Value> {
        let row = |item: &Value| match keys {
            [key] => item[key].clone(),
            keys => keys.iter().map(|key| item[key].clone()).collect(),
        };
        all[list]
            .as_array()
            .expect("a list")
            .iter()
            .map(row)
            .collect()
    };
    let work = &all["current_work"];
    json!({
        "intent": work["intent"]["text"],
        "asked_last": work["last_user_message"]["text"],
        "files": rows("files_modified", &["path", "action"]),
        "tasks": rows("tasks", &["text", "state"]),
        "commands": rows("commands", &["command", "failed"]),
        "decisions": rows("decisions", &["text"]),
        "blockers": rows("blockers", &["kind", "text"]),
        "next": rows("open_tasks", &["text"]),
        "ending": all["ending"],
        "tokens": json!(["input", "output"].iter().filter_map(|key| all["tokens"][key].as_u64()).sum::<u64>()),
    })
}

/// All texts in a line, also those in JSON within a string, in one line.
pub fn said(line: &str) -> String {
    fn collect(value: &Value, all: &mut String) {
        match value {
            Value::String(text) => {
                *all += text;
                all.push('\n');
                if let Ok(inner @ (Value::Object(_) | Value::Array(_))) =
                    serde_json::from_str::<Value>(text)
                {
                    collect(&inner, all);
                }
            }
            Value::Number(number) => *all += &format!("{number}\n"),
            Value::Array(list) => list.iter().for_each(|item| collect(item, all)),
            // Changed files may be keys.
            Value::Object(map) => map.iter().for_each(|(key, item)| {
                *all += &format!("{key}\n");
                collect(item, all);
            }),
            _ => {}
        }
    }
    let mut all = String::new();
    collect(&serde_json::from_str(line).unwrap_or(Value::Null), &mut all);
    one_line(&all)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Every object with a `line`, wherever it is.
fn pointers<'v>(value: &'v Value, all: &mut Vec<&'v Value>) {
    match value {
        Value::Array(list) => list.iter().for_each(|item| pointers(item, all)),
        Value::Object(map) => {
            // What a subagent edited has no line here.
            if map
                .get("line")
                .is_some_and(|line| *line != 0 || !map.contains_key("path"))
            {
                all.push(value);
            }
            map.values().for_each(|item| pointers(item, all));
        }
        _ => {}
    }
}

/// Every line that the JSON names holds what it is named for. A task may stand where it was changed, by its number.
pub fn assert_pointers(name: &str, content: &str, all: &Value) -> usize {
    let mut found = Vec::new();
    pointers(all, &mut found);
    for object in &found {
        let line = object["line"].as_u64().expect("a number") as usize;
        // What a subagent did stands in another file.
        if line == 0 && Path::new(name).with_extension("").is_dir() {
            continue;
        }
        let raw = content
            .lines()
            .nth(line.wrapping_sub(1))
            .unwrap_or_else(|| panic!("{name}: no line {line}: {object}"));
        let said = said(raw);
        let text = ["text", "command", "path", "tool"]
            .iter()
            .find_map(|key| object[key].as_str())
            .expect("a text");
        let parts = [
            text,
            object["target"].as_str().unwrap_or_default(),
            object["name"].as_str().unwrap_or_default(),
        ];
        let here = parts.iter().all(|part| said.contains(&one_line(part)));
        assert!(
            here || said.contains("TaskUpdate"),
            "{name}: line {line} has not all of {object}\n{said}"
        );
    }
    found.len()
}

impl Script {
    /// What the JSON says of it.
    pub fn json(&self) -> Value {
        let world = World::new();
        let path = world.write("s.jsonl", self.text());
        let all = resumed(&world, &[path.to_str().expect("UTF-8")]);
        assert_pointers("a script", &self.text(), &without_derived(&all));
        all
    }

    /// Its codes, without the project.
    pub fn codes(&self) -> Vec<String> {
        let world = World::new();
        let path = world.write("s.jsonl", self.text());
        let done = world
            .reader(&["resume", path.to_str().expect("UTF-8"), "--codes"])
            .run()
            .success();
        done.out().lines().skip(1).map(str::to_owned).collect()
    }
}

/// Decisions and blockers may be put in other words than the transcript's, so only their lines can be checked.
pub fn without_derived(all: &Value) -> Value {
    let mut all = all.clone();
    for list in ["decisions", "blockers", "commits", "open_tasks"] {
        all[list] = json!([]);
    }
    all
}

pub fn texts(list: &Value) -> Vec<&str> {
    list.as_array()
        .expect("a list")
        .iter()
        .map(|item| item["text"].as_str().expect("a text"))
        .collect()
}

pub fn kinds(all: &Value) -> Vec<(&str, &str)> {
    let blockers = all["blockers"].as_array().expect("a list");
    blockers
        .iter()
        .map(|one| {
            (
                one["kind"].as_str().expect("a kind"),
                one["text"].as_str().expect("a text"),
            )
        })
        .collect()
}

/// Everything that can happen to a session.
pub fn rich(world: &World) -> Script {
    const NO: &str =
        "The user doesn't want to proceed with this tool use. The tool use was rejected.";
    let question = "Which rounding should totals use?";
    let todo =
        |text: &str, state: &str| json!({"content": text, "status": state, "activeForm": text});
    let path = |path: &str| world.path("work").join(path).display().to_string();
    let (billing, report) = (path("src/billing/mod.rs"), path("src/report/mod.rs"));
    Script::of(world)
        .user("Fix the rounding of invoice totals in the billing module")
        .calls("AskUserQuestion", json!({"questions": [{"question": question, "options": [{"label": "Half even"}]}]}))
        .result(false, &format!("User has answered your questions: \"{question}\"=\"Half even\". You can now continue."))
        .calls("ExitPlanMode", json!({"plan": "# Use decimals everywhere\n\n1. Replace f64"}))
        .result(true, NO)
        .calls("ExitPlanMode", json!({"plan": "# Round once at the end\n\n1. Change total()"}))
        .result(false, "User has approved your plan. You can now start coding.")
        .does("TodoWrite", json!({"todos": [todo("Change total()", "completed"), todo("Update the manual", "in_progress"), todo("Tell the customers", "pending")]}))
        .calls("TaskCreate", json!({"subject": "Write a property test", "description": "d"}))
        .result(false, "Task #1 created successfully: Write a property test")
        .does("TaskUpdate", json!({"taskId": "1", "status": "completed"}))
        .does("Edit", json!({"file_path": billing, "old_string": "fn total() -> f64 {\n    0.0\n}", "new_string": "fn total() -> f64 {\n    round(sum())\n}\n\nfn round(x: f64) -> f64 {\n    x\n}"}))
        .writes(&report, "pub fn render() {\n}\n")
        .runs("cargo test", true)
        .does("Edit", json!({"file_path": billing, "old_string": "    x\n", "new_string": "    x.round()\n"}))
        .runs("cargo test", false)
        .user("Let's go with bankers rounding for reports. Now update the changelog for the billing release")
        .calls("Bash", json!({"command": "git push origin main"}))
        .result(true, "Permission to use Bash with command git push origin main has been denied.")
        .raw(json!({"type": "user", "uuid": "c", "isCompactSummary": true, "timestamp": at(34), "message": {"role": "user", "content": "This session is being continued from a previous conversation.\nSummary: totals are rounded once."}}))
        .runs("git commit -qm 'Round invoice totals once'", false)
        .runs("cargo build --release", true)
        .calls("Bash", json!({"command": "sleep 100"}))
        .result(true, NO)
        .user("[Request interrupted by user for tool use]")
        .user("tag it too")
        .says("The changelog is up to date.\n\n**Next steps:**\n- Update the manual\n- Change total() in billing\n- Publish version 1.4\n\nShall I bump the version too?")
}

pub fn rich_codex(world: &World) -> Script {
    let exit = |code: u8| format!("Chunk ID: a\nProcess exited with code {code}\nOutput:\nx");
    let plan = json!({"plan": [{"step": "Round totals", "status": "completed"}, {"step": "Write the manual", "status": "in_progress"}]});
    let usage = json!({"total_token_usage": {"input_tokens": 700, "output_tokens": 30}});
    Script::codex(world, ONE)
        .user("Please fix the rounding of all invoice totals")
        .calls("update_plan", plan)
        .result(false, "Plan updated")
        .patches("*** Update File: app/bill.py\n@@\n-def total():\n+def total(lines):\n")
        .runs("pytest -q", true)
        .calls("shell", json!({"command": ["bash", "-lc", "make build"]}))
        .result(true, &exit(2))
        .runs("pytest -q", false)
        .item("event_msg", json!({"type": "token_count", "info": usage}))
        .user("on part sur des entiers")
        .says("Done with the tests.")
        .item(
            "event_msg",
            json!({"type": "turn_aborted", "reason": "interrupted"}),
        )
}

pub fn count(codes: &[String], prefix: &str) -> usize {
    codes.iter().filter(|code| code.starts_with(prefix)).count()
}

/// A session of some minutes in a directory, in which a file is written.
pub fn work_in(world: &World, dir: &str, id: &str, minute: usize, asked: &str) -> PathBuf {
    let mut script = Script::new(world.path(dir));
    script.from = minute;
    script
        .user(asked)
        .writes("/p/a.rs", "x")
        .says("Done.")
        .save(world, id)
}

pub fn asked(done: &Done) -> String {
    let asked = done
        .out()
        .lines()
        .find_map(|line| line.strip_prefix("Asked last  "));
    asked
        .unwrap_or_else(|| panic!("nothing asked: {}\n{}", done.out(), done.err()))
        .to_owned()
}

pub const GOALS: [&str; 2] = ["Fix the slow login page", "Add the export to spreadsheets"];

/// The one list of a script that a test is about, by some of its keys.
pub fn rows_of(all: &Value, list: &str, keys: &[&str]) -> Value {
    let row = |item: &Value| keys.iter().map(|key| item[*key].clone()).collect::<Value>();
    all[list]
        .as_array()
        .expect("a list")
        .iter()
        .map(row)
        .collect()
}
