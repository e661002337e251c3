//! `session-reader resume`: where a session stopped, for people, as codes and as JSON.
//!
//! The first part reads transcripts that the real clients wrote. Beside each `x.jsonl` of `testdata/` lies `x.resume.json`:
//! what a person finds who reads the log beside the raw lines, derived without this program.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use session_monitor::digest::Continuity;
use session_monitor::digest::continuity::{Blocker, FileChange, Item, Obstacle};
use session_monitor::render::resume::{Fitted, Stop};
use session_monitor::time::Time;

use crate::world::{Done, World, testdata};

const ONE: &str = "11111111-0000-4000-8000-000000000001";
const TWO: &str = "22222222-0000-4000-8000-000000000002";

// ---- Transcripts of real clients

fn transcripts(dir: &Path, found: &mut Vec<PathBuf>) {
    let mut paths: Vec<_> =
        std::fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("one").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            transcripts(&path, found);
        } else if path.extension().is_some_and(|end| end == "jsonl") {
            found.push(path);
        }
    }
}

fn real() -> Vec<PathBuf> {
    let mut found = Vec::new();
    transcripts(&testdata(""), &mut found);
    assert!(found.len() > 50, "{found:?}");
    found
}

fn json_of(done: &Done) -> Value {
    let all = done.json();
    assert_eq!(all.len(), 1, "{}", done.out());
    all.into_iter().next().expect("one object")
}

pub(crate) fn resumed(world: &World, args: &[&str]) -> Value {
    json_of(&world.reader(&[&["resume"], args, &["--json"]].concat()).run().success())
}

/// What is compared with a person's findings, in their form.
fn findings(all: &Value) -> Value {
    let rows = |list: &str, keys: &[&str]| -> Vec<Value> {
        let row = |item: &Value| match keys {
            [key] => item[key].clone(),
            keys => keys.iter().map(|key| item[key].clone()).collect(),
        };
        all[list].as_array().expect("a list").iter().map(row).collect()
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

/// What was asked, files, tasks, commands, ending and the rest are what a person finds. 002-05: all of it is read from disk.
#[test]
fn real_sessions_stopped_where_a_person_finds_they_did() {
    let world = World::new();
    let mut wrong = String::new();
    for path in real() {
        let name = path.display().to_string();
        let Ok(expected) = std::fs::read_to_string(path.with_extension("resume.json")) else {
            let nothing = world.reader(&["resume", &name, "--json"]).run().status(1).stdout("");
            assert_eq!(nothing.err(), format!("session-reader: nothing was said in {name}\n"));
            continue;
        };
        let expected: Value = serde_json::from_str(&expected).unwrap_or_else(|error| panic!("{name}: {error}"));
        let found = findings(&resumed(&world, &[&name]));
        for (key, expected) in expected.as_object().expect("an object") {
            if found[key] != *expected {
                wrong += &format!("{name}\n  {key}\n  expected: {expected}\n  got:      {}\n", found[key]);
            }
        }
        assert_eq!(expected.as_object().map(|all| all.len()), found.as_object().map(|all| all.len()), "{name}");
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// All texts in a line, also those in JSON within a string, in one line.
fn said(line: &str) -> String {
    fn collect(value: &Value, all: &mut String) {
        match value {
            Value::String(text) => {
                *all += text;
                all.push('\n');
                if let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str::<Value>(text) {
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
            if map.get("line").is_some_and(|line| *line != 0 || !map.contains_key("path")) {
                all.push(value);
            }
            map.values().for_each(|item| pointers(item, all));
        }
        _ => {}
    }
}

/// Every line that the JSON names holds what it is named for. A task may stand where it was changed, by its number.
fn assert_pointers(name: &str, content: &str, all: &Value) -> usize {
    let mut found = Vec::new();
    pointers(all, &mut found);
    for object in &found {
        let line = object["line"].as_u64().expect("a number") as usize;
        // What a subagent did stands in another file.
        if line == 0 && Path::new(name).with_extension("").is_dir() {
            continue;
        }
        let raw =
            content.lines().nth(line.wrapping_sub(1)).unwrap_or_else(|| panic!("{name}: no line {line}: {object}"));
        let said = said(raw);
        let text = ["text", "command", "path", "tool"].iter().find_map(|key| object[key].as_str()).expect("a text");
        let parts = [text, object["target"].as_str().unwrap_or_default(), object["name"].as_str().unwrap_or_default()];
        let here = parts.iter().all(|part| said.contains(&one_line(part)));
        assert!(here || said.contains("TaskUpdate"), "{name}: line {line} has not all of {object}\n{said}");
    }
    found.len()
}

#[test]
fn every_item_of_a_real_session_is_on_its_line() {
    let world = World::new();
    let mut count = 0;
    for path in real().iter().filter(|path| path.with_extension("resume.json").exists()) {
        let name = path.display().to_string();
        let content = std::fs::read_to_string(path).expect("UTF-8");
        count += assert_pointers(&name, &content, &resumed(&world, &[&name]));
    }
    assert!(count > 500, "{count}");
}

// ---- Sessions made by hand

/// A minute of the hour before two.
fn at(minute: usize) -> String {
    format!("2026-11-16T01:{minute:02}:00Z")
}

/// A Claude session, a line a minute.
pub(crate) struct Script {
    cwd: PathBuf,
    lines: Vec<String>,
    /// How many minutes were gone when it began.
    from: usize,
}

impl Script {
    fn new(cwd: PathBuf) -> Script {
        Script { cwd, lines: Vec::new(), from: 0 }
    }

    pub(crate) fn of(world: &World) -> Script {
        Script::new(world.path("work"))
    }

    fn now(&self) -> String {
        at(self.from + self.lines.len())
    }

    fn line(mut self, kind: &str, message: Value) -> Script {
        let id = format!("u{}-{}", self.from, self.lines.len());
        let line = json!({"type": kind, "uuid": id, "cwd": self.cwd, "timestamp": self.now(), "message": message});
        self.lines.push(line.to_string());
        self
    }

    pub(crate) fn user(self, text: &str) -> Script {
        self.line("user", json!({"role": "user", "content": text}))
    }

    pub(crate) fn says(self, text: &str) -> Script {
        let id = format!("m{}", self.lines.len());
        let usage = json!({"input_tokens": 1000, "output_tokens": 10});
        let content = [json!({"type": "text", "text": text})];
        self.line(
            "assistant",
            json!({"id": id, "role": "assistant", "model": "claude-opus", "content": content, "usage": usage}),
        )
    }

    /// A call that has no result.
    pub(crate) fn calls(self, tool: &str, input: Value) -> Script {
        let id = self.lines.len();
        let content = [json!({"type": "tool_use", "id": format!("t{id}"), "name": tool, "input": input})];
        self.line("assistant", json!({"id": format!("m{id}"), "role": "assistant", "content": content}))
    }

    /// What came of the call just made.
    pub(crate) fn result(self, failed: bool, text: &str) -> Script {
        let id = format!("t{}", self.lines.len() - 1);
        let content = [json!({"type": "tool_result", "tool_use_id": id, "is_error": failed, "content": text})];
        self.line("user", json!({"role": "user", "content": content}))
    }

    pub(crate) fn does(self, tool: &str, input: Value) -> Script {
        self.calls(tool, input).result(false, "ok")
    }

    pub(crate) fn runs(self, command: &str, failed: bool) -> Script {
        self.calls("Bash", json!({"command": command})).result(failed, "out")
    }

    fn writes(self, path: &str, content: &str) -> Script {
        self.does("Write", json!({"file_path": path, "content": content}))
    }

    pub(crate) fn raw(mut self, line: Value) -> Script {
        self.lines.push(line.to_string());
        self
    }

    fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// Where Claude Code would write it.
    pub(crate) fn save(&self, world: &World, id: &str) -> PathBuf {
        let plain = |char: char| if char.is_ascii_alphanumeric() { char } else { '-' };
        let dir: String = self.cwd.to_str().expect("UTF-8").chars().map(plain).collect();
        world.write(format!(".claude/projects/{dir}/{id}.jsonl"), self.text())
    }

    /// What the JSON says of it.
    pub(crate) fn json(&self) -> Value {
        let world = World::new();
        let path = world.write("s.jsonl", self.text());
        let all = resumed(&world, &[path.to_str().expect("UTF-8")]);
        assert_pointers("a script", &self.text(), &without_derived(&all));
        all
    }

    /// Its codes, without the project.
    fn codes(&self) -> Vec<String> {
        let world = World::new();
        let path = world.write("s.jsonl", self.text());
        let done = world.reader(&["resume", path.to_str().expect("UTF-8"), "--codes"]).run().success();
        done.out().lines().skip(1).map(str::to_owned).collect()
    }
}

/// Decisions and blockers may be put in other words than the transcript's, so only their lines can be checked.
fn without_derived(all: &Value) -> Value {
    let mut all = all.clone();
    for list in ["decisions", "blockers", "commits", "open_tasks"] {
        all[list] = json!([]);
    }
    all
}

pub(crate) fn texts(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().map(|item| item["text"].as_str().expect("a text")).collect()
}

pub(crate) fn kinds(all: &Value) -> Vec<(&str, &str)> {
    let blockers = all["blockers"].as_array().expect("a list");
    blockers.iter().map(|one| (one["kind"].as_str().expect("a kind"), one["text"].as_str().expect("a text"))).collect()
}

/// Everything that can happen to a session.
fn rich(world: &World) -> Script {
    const NO: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
    let question = "Which rounding should totals use?";
    let todo = |text: &str, state: &str| json!({"content": text, "status": state, "activeForm": text});
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

const RICH: &str = r#"Session     11111111-0000-4000-8000-000000000001 (claude)
Stopped     1h ago, 01:35; answered
Asked last  Let's go with bankers rounding for reports. Now update the changelog for the billing release
Then        tag it too
Said last   The changelog is up to date.
Files       src/billing/mod.rs  +1 -1, the last of 2 edits  01:19
            src/report/mod.rs  new, 2 lines  01:15
Functions   total, round  src/billing/mod.rs
            render  src/report/mod.rs
Commands    failed  cargo test
            ok  cargo test
            ok  git commit -qm 'Round invoice totals once'
            failed  cargo build --release
Commits     Round invoice totals once
Tasks       [x] Change total()
            [>] Update the manual
            [ ] Tell the customers
            [x] Write a property test
Decisions   Which rounding should totals use? Half even
            rejected the plan "Use decimals everywhere"
            approved the plan "Round once at the end"
Blockers    failing: cargo build --release
Summary     Summary: totals are rounded once.
Tokens      1k in, 10 out
Go on       claude --resume 11111111-0000-4000-8000-000000000001
"#;

/// What differs on a screen of 60 columns: long lines are cut, but never the command.
const NARROW: [(usize, &str); 2] = [
    (2, "Asked last  Let's go with bankers rounding for reports. Now…"),
    (5, "Files       src/billing/mod.rs  +1 -1, the last of 2 edits …"),
];

/// 004-F1, 004-F2, 004-F3: pure codes, one per line, in this order. What was taken from words says so.
const RICH_CODES: &str = "proj:work
impl:billing/mod.rs
impl:report/mod.rs
impl:total
impl:round
impl:render
test:cargo-test
done:Change-total()
done:Write-a-property-test
done:Round-invoice-totals-once
dec:Which-rounding-should-totals-use?-Half-even
dec:rejected-the-plan-'Use-decimals-everywhere'
dec:approved-the-plan-'Round-once-at-the-end'
dec:said:Let's-go-with-bankers-rounding-for-reports
block:failing:cargo-build---release
next:Update-the-manual
next:Tell-the-customers
next:said:Publish-version-1.4
";

/// All that there is to tell, in all three forms; and again, because reading consumes nothing.
// 002-01, 002-02, 002-06, 004-S2, 004-D1
#[test]
fn a_rich_session_in_all_forms() {
    let world = World::new();
    let script = rich(&world);
    let path = script.save(&world, ONE);
    let mut narrow: Vec<&str> = RICH.lines().collect();
    NARROW.iter().for_each(|(at, line)| narrow[*at] = line);
    for _ in 0..2 {
        world.reader(&["resume"]).run().success().stdout(RICH);
        world.reader(&["resume", "--codes"]).run().success().stdout(RICH_CODES);
        let small = world.reader(&["resume"]).env("COLUMNS", "60").run().success();
        assert_eq!(small.out().lines().collect::<Vec<_>>(), narrow);
    }
    let all = resumed(&world, &[]);
    let home = world.path("work").display().to_string();
    let below = |text: &Value| text.as_str().expect("a text").replace(&home, "~");
    let pick = |list: &str, keys: &[&str]| -> Vec<Value> {
        let row = |item: &Value| keys.iter().map(|key| item[*key].clone()).collect();
        all[list].as_array().expect("a list").iter().map(row).collect()
    };
    let files: Vec<_> = pick("files_modified", &["path", "action", "summary", "line", "timestamp"])
        .iter()
        .map(|file| json!([below(&file[0]), file[1], file[2], file[3], file[4]]))
        .collect();
    assert_eq!(
        json!(files),
        json!([
            ["~/src/report/mod.rs", "create", "new, 2 lines", 16, "2026-11-16T01:15:00.000Z"],
            ["~/src/billing/mod.rs", "edit", "+1 -1, the last of 2 edits", 20, "2026-11-16T01:19:00.000Z"],
        ])
    );
    let commands = [
        ("cargo test", true, true, 18),
        ("cargo test", false, true, 22),
        ("git commit -qm 'Round invoice totals once'", false, false, 28),
        ("cargo build --release", true, false, 30),
    ];
    assert_eq!(json!(pick("commands", &["command", "failed", "test", "line"])), json!(commands));
    let tasks = json!([
        ["Change total()", "done", 8],
        ["Update the manual", "active", 8],
        ["Tell the customers", "open", 8],
        ["Write a property test", "done", 12],
    ]);
    assert_eq!(json!(pick("tasks", &["text", "state", "line"])), tasks);
    assert_eq!(
        json!(pick("pending_tasks", &["text", "state"])),
        json!([["Update the manual", "active"], ["Tell the customers", "open"]])
    );
    assert_eq!(json!(pick("functions", &["name", "line"])), json!([["total", 14], ["round", 14], ["render", 16]]));
    assert_eq!(json!(pick("commits", &["text", "line"])), json!([["Round invoice totals once", 28]]));
    assert_eq!(json!(pick("decisions", &["line", "by"])), json!([[2, null], [4, null], [6, null], [24, "words"]]));
    assert_eq!(
        json!(pick("open_tasks", &["text", "line", "by"])),
        json!([["Update the manual", 8, null], ["Tell the customers", 8, null], ["Publish version 1.4", 36, "words"]])
    );
    assert_eq!(json!(pick("topics", &["text", "line"])), json!([["mod.rs", 20]]));
    let blockers = [("failing", "cargo build --release")];
    assert_eq!(kinds(&all), blockers);
    assert_eq!(
        json!(pick("recent_messages", &["role", "line"])),
        json!([["user", 1], ["user", 24], ["user", 35], ["assistant", 36]])
    );
    assert_eq!(all["tool_history"].as_array().map(Vec::len), Some(15));
    assert_eq!(
        json!([
            all["session_id"],
            all["agent"],
            all["path"],
            all["status"],
            all["ending"],
            all["model"],
            all["token_budget"]
        ]),
        json!([ONE, "claude", path, "idle", "answered", "claude-opus", {"used": 1010, "limit": null}])
    );
    assert_eq!(
        json!([all["started_at"], all["last_activity_at"]]),
        json!(["2026-11-16T01:00:00.000Z", "2026-11-16T01:35:00.000Z"])
    );
    assert_eq!(json!([all["summary"]["line"], all["resume"]]), json!([27, format!("claude --resume {ONE}")]));
    assert_eq!(all["current_work"]["last_agent_action"]["target"], "git commit -qm 'Round invoice totals once'");
    assert_pointers("rich", &script.text(), &without_derived(&all));
}

const KEYS: &str = "agent blockers commands commits corrections current_work cwd decisions done ending files_modified files_touched functions \
    last_activity_at messages model name open_tasks path pending_tasks pinned_facts recent_messages resume session_id \
    started_at state status subagent summary tags tasks title token_budget tokens tool_history topics";

/// The keys are all there, for a session with everything and for one with nothing.
// 002-06
#[test]
fn the_keys_of_the_json_are_always_all_there() {
    let world = World::new();
    for script in [rich(&world), Script::of(&world).user("hi")] {
        let all = script.json();
        let keys: Vec<_> = all.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!(keys, KEYS.split_whitespace().collect::<Vec<_>>());
        let work: Vec<_> = all["current_work"].as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!(
            work,
            ["intent", "is_directive", "last_agent_action", "last_user_message", "recap", "running", "thread_title"]
        );
        // What the model may have before it is not in a transcript of this agent.
        assert!(all["token_budget"]["used"].is_u64() && all["token_budget"]["limit"].is_null(), "{all}");
    }
}

fn codex_line(minute: usize, kind: &str, payload: Value) -> String {
    json!({"timestamp": at(minute), "type": kind, "payload": payload}).to_string() + "\n"
}

fn codex_said(minute: usize, role: &str, text: &str) -> String {
    let kind = if role == "user" { "input_text" } else { "output_text" };
    codex_line(
        minute,
        "response_item",
        json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}),
    )
}

fn codex_call(minute: usize, tool: &str, input: &Value, output: &str) -> String {
    let id = format!("call_{minute}");
    let call = match input.as_str() {
        Some(patch) => json!({"type": "custom_tool_call", "call_id": id, "name": tool, "input": patch}),
        None => json!({"type": "function_call", "call_id": id, "name": tool, "arguments": input.to_string()}),
    };
    let result = json!({"type": if input.is_string() { "custom_tool_call_output" } else { "function_call_output" }, "call_id": id, "output": output});
    codex_line(minute, "response_item", call) + &codex_line(minute, "response_item", result)
}

fn codex_meta(world: &World) -> String {
    codex_line(0, "session_meta", json!({"id": ONE, "cwd": world.path("work")}))
}

fn codex(world: &World, rest: &str) -> PathBuf {
    world.write(format!(".codex/sessions/2026/11/16/rollout-2026-11-16T01-00-00-{ONE}.jsonl"), codex_meta(world) + rest)
}

fn rich_codex() -> String {
    let exit = |code: u8| format!("Chunk ID: a\nProcess exited with code {code}\nOutput:\nx");
    let plan = json!({"plan": [{"step": "Round totals", "status": "completed"}, {"step": "Write the manual", "status": "in_progress"}]});
    let patch = "*** Begin Patch\n*** Update File: app/bill.py\n@@\n-def total():\n+def total(lines):\n*** End Patch\n";
    [
        codex_said(1, "user", "Please fix the rounding of all invoice totals"),
        codex_call(2, "update_plan", &plan, "Plan updated"),
        codex_call(3, "apply_patch", &json!(patch), "Exit code: 0\nOutput:\nSuccess."),
        codex_call(4, "exec_command", &json!({"cmd": "pytest -q"}), &exit(1)),
        codex_call(5, "shell", &json!({"command": ["bash", "-lc", "make build"]}), &exit(2)),
        codex_call(6, "exec_command", &json!({"cmd": "pytest -q"}), &exit(0)),
        codex_line(
            7,
            "event_msg",
            json!({"type": "token_count", "info": {"total_token_usage": {"input_tokens": 700, "output_tokens": 30}}}),
        ),
        codex_said(8, "user", "on part sur des entiers"),
        codex_said(9, "assistant", "Done with the tests."),
        codex_line(10, "event_msg", json!({"type": "turn_aborted", "reason": "interrupted"})),
    ]
    .concat()
}

/// The same of Codex: plans by `update_plan`, files by patches, outcomes by exit codes.
#[test]
fn a_rich_codex_session() {
    let world = World::new();
    codex(&world, &rich_codex());
    let text = "Session     11111111-0000-4000-8000-000000000001 (codex)
Stopped     1h ago, 01:10; interrupted
Asked last  on part sur des entiers
Said last   Done with the tests.
Files       app/bill.py  total(): +1 -1  01:03
Functions   total  app/bill.py
Commands    failed  pytest -q
            failed  make build
            ok  pytest -q
Tasks       [x] Round totals
            [>] Write the manual
Blockers    failing: make build
Tokens      700 in, 30 out
Go on       codex resume 11111111-0000-4000-8000-000000000001
";
    let codes = "proj:work\nimpl:bill.py\nimpl:total\ntest:pytest--q\ndone:Round-totals\ndec:said:on-part-sur-des-entiers\nblock:failing:make-build\nnext:Write-the-manual\n";
    for name in ["last", "11111111", "codex:11111111", "codex:on part sur des entiers", "entiers"] {
        world.reader(&["resume", name]).run().success().stdout(text);
        world.reader(&["resume", name, "--codes"]).run().success().stdout(codes);
    }
    let all = resumed(&world, &["last"]);
    let lines = |list: &str| -> Vec<u64> {
        all[list].as_array().into_iter().flatten().filter_map(|one| one["line"].as_u64()).collect()
    };
    assert_eq!(
        ["tasks", "files_modified", "commands", "decisions"].map(lines),
        [vec![3, 3], vec![5], vec![7, 9, 11], vec![14]]
    );
    assert_pointers("codex", &(codex_meta(&world) + &rich_codex()), &all);
}

/// The same of Pi, with the tools that it has.
#[test]
fn a_rich_pi_session() {
    let world = World::new();
    let line = |minute: usize, role: &str, mut rest: Value| {
        rest["role"] = json!(role);
        json!({"type": "message", "id": format!("p{minute}{role}"), "timestamp": at(minute), "message": rest})
            .to_string()
            + "\n"
    };
    let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
    let call = |minute: usize, tool: &str, input: Value, failed: bool| {
        let id = format!("c{minute}");
        let usage = json!({"input": 10, "cacheRead": 5, "cacheWrite": 0, "output": 1});
        let asked = json!({"content": [{"type": "toolCall", "id": id, "name": tool, "arguments": input}], "model": "stub", "usage": usage});
        line(minute, "assistant", asked)
            + &line(
                minute,
                "toolResult",
                json!({"toolCallId": id, "isError": failed, "content": [{"type": "text", "text": "out"}]}),
            )
    };
    let head = json!({"type": "session", "version": 3, "id": ONE, "timestamp": at(0), "cwd": world.path("work")})
        .to_string()
        + "\n";
    let lines = [
        head,
        line(1, "user", text("Add a retry to the upload client")),
        call(2, "write", json!({"path": "src/retry.ts", "content": "export function retry() {\n}\n"}), false),
        call(
            3,
            "edit",
            json!({"path": "src/retry.ts", "edits": [{"oldText": "{\n}", "newText": "{\n  again();\n}"}]}),
            false,
        ),
        call(4, "bash", json!({"command": "npm run build"}), true),
        json!({"type": "compaction", "id": "k", "timestamp": at(5), "summary": "A retry was added."}).to_string()
            + "\n",
        line(6, "user", text("Let's not retry on 4xx answers")),
        call(7, "bash", json!({"command": "npm test -- retry"}), false),
        line(
            8,
            "assistant",
            json!({"content": [], "stopReason": "error", "errorMessage": "429 rate limit", "model": "stub"}),
        ),
    ]
    .concat();
    let name = format!("2026-11-16T01-00-00-000Z_{ONE}.jsonl");
    let dir = world.path("work").display().to_string().trim_start_matches('/').replace('/', "-");
    let path = world.write(format!(".pi/agent/sessions/--{dir}--/{name}"), &lines);
    let expected = format!(
        "Session     {ONE} (pi)
Stopped     1h ago, 01:08; failed
Asked last  Let's not retry on 4xx answers
Files       src/retry.ts  new; +1 -0, the last of 2 edits  01:03
Functions   retry  src/retry.ts
Commands    failed  npm run build
            ok  npm test -- retry
Blockers    failing: npm run build
            limit: 429 rate limit
Summary     A retry was added.
Tokens      60 in, 4 out
Go on       pi --session {}
",
        path.display()
    );
    world.reader(&["resume"]).run().success().stdout(&expected);
    let codes = "proj:work\nimpl:retry.ts\nimpl:retry\ntest:npm-test----retry\ndec:said:Let's-not-retry-on-4xx-answers\nblock:failing:npm-run-build\nblock:limit:429-rate-limit\n";
    world.reader(&["resume", "--codes"]).run().success().stdout(codes);
    let all = resumed(&world, &[]);
    assert_pointers("pi", &lines, &all);
    assert_eq!(all["summary"]["line"], 9);
}

// ---- Budgets

/// What a code costs: three bytes are a token, and the end of the line is one more.
fn cost(code: &str) -> usize {
    code.len().div_ceil(3) + 1
}

/// A session with much of everything: files, decisions, tasks that are blocked.
fn much(world: &World, files: usize, decisions: usize, blockers: usize) -> Script {
    const NOUNS: [&str; 10] =
        ["sqlite", "postgres", "redis", "kafka", "nginx", "docker", "terraform", "grafana", "webpack", "pytest"];
    let mut script = Script::of(world).user("Move the whole backend to the new cluster");
    for file in 0..files {
        script = script.writes(&format!("/srv/backend/service{file}/handler_number_{file}.py"), "x = 1\n");
    }
    for noun in &NOUNS[..decisions] {
        script = script.user(&format!("let's use {noun} there"));
    }
    let todos: Vec<_> =
        (0..blockers).map(|at| json!({"content": format!("Waiting item number {at}"), "status": "blocked"})).collect();
    script.does("TodoWrite", json!({"todos": todos}))
}

fn count(codes: &[String], prefix: &str) -> usize {
    codes.iter().filter(|code| code.starts_with(prefix)).count()
}

/// Nothing is cut of a whole day's work.
// 004-S4, 004-E10
#[test]
fn twenty_files_ten_decisions_five_blockers() {
    let codes = much(&World::new(), 20, 10, 5).codes();
    assert_eq!(["impl:", "dec:", "block:task:"].map(|prefix| count(&codes, prefix)), [20, 10, 5], "{codes:#?}");
}

/// Under 1,500 tokens, counted honestly: four characters are a token at the most, and we count three.
// 004-S6, 002-15
#[test]
fn fifteen_files_eight_decisions_three_blockers() {
    let codes = much(&World::new(), 15, 8, 3).codes();
    assert_eq!(codes.len(), 26);
    let tokens: usize = codes.iter().map(|code| cost(code)).sum();
    let characters: usize = codes.iter().map(|code| code.chars().count() + 1).sum();
    assert!(tokens <= 1500 && characters / 4 <= tokens, "{tokens} {characters}");
}

/// Whatever the budget: whole codes, in their order, no more than it allows, and none left out that would fit.
/// Ours for 002-10 to 002-13, 002-D2 and 004-F6: no history is compacted, each reading makes its own choice, in the order
/// of the groups, and an allowance for each.
#[test]
fn codes_keep_to_every_budget() {
    let mut all = Continuity::default();
    let item = |text: String| Item { text, ..Item::default() };
    for at in 0..30 {
        let path = format!("/srv/backend/service{at}/{}.py", "handler_".repeat(at % 7 + 1));
        all.files.push(FileChange { path, edits: 1, ..FileChange::default() });
        all.decisions.push(item(format!("ünï cödé № {at} {}", "long ".repeat(at % 11))));
        all.blockers.push(Blocker { kind: Obstacle::Denied, item: item(format!("Bash command {at}")) });
        all.next.push(item(format!("step {at}")));
    }
    let stop = Stop {
        continuity: &all,
        id: ONE,
        name: None,
        agent: "codex",
        path: String::new(),
        project: "work".to_owned(),
        state: "idle",
        status: "idle",
        subagent: false,
        done: false,
        command: None,
        pins: Vec::new(),
        notes: Vec::new(),
        tags: Vec::new(),
        now: Time(0),
    };
    let whole = stop.codes(usize::MAX).lines;
    let total: usize = whole.iter().map(|code| cost(code)).sum();
    assert!(whole.len() == 121 && total > 1000, "{total}");
    let costs = |codes: &[String], prefix: &str| -> usize {
        codes.iter().filter(|code| code.starts_with(prefix)).map(|code| cost(code)).sum()
    };
    for budget in (0..=2000).chain(total - 40..=total) {
        let Fitted { lines: codes, left_out } = stop.codes(budget);
        assert_eq!(codes.len() + left_out, whole.len(), "{budget}");
        let used = costs(&codes, "");
        assert!(used <= budget, "{budget}: {used}");
        let characters: usize = codes.iter().map(|code| code.chars().count() + 1).sum();
        assert!(characters.div_ceil(4) <= budget, "{budget}: {characters}");
        let mut rest = whole.iter();
        assert!(codes.iter().all(|code| rest.any(|known| known == code)), "{budget}: not in their order");
        // Nothing is left out that there is room for.
        let mut missing = whole.iter().filter(|code| !codes.contains(code));
        assert!(codes.is_empty() || missing.all(|code| used + cost(code) > budget), "{budget}");
        // No group takes the room of another: each has its share, but for what is too long for the end of it.
        for (prefix, share) in [("impl:", 450), ("dec:", 250), ("block:", 200), ("next:", 200)] {
            let most = whole.iter().filter(|code| code.starts_with(prefix)).map(|code| cost(code)).max().unwrap_or(0);
            let due = (budget.saturating_sub(cost("proj:work")) * share / 1500).min(costs(&whole, prefix));
            assert!(costs(&codes, prefix) + most > due, "{budget}: {prefix}");
        }
    }
    // The newest files and decisions, and the first blockers and steps, stay.
    let some = stop.codes(150).lines;
    for kept in ["impl:service29/handler_handler_.py", "block:denied:Bash-command-0", "next:step-0"] {
        assert!(some.iter().any(|code| code == kept), "{some:?}");
    }
    assert_eq!(stop.codes(total), Fitted { lines: whole, left_out: 0 });
}

#[test]
fn the_budget_is_a_flag() {
    let world = World::new();
    rich(&world).save(&world, ONE);
    let run = |budget: &str| world.reader(&["resume", "--codes", "--budget", budget]).run();
    run("1").status(1).stdout("").stderr("session-reader: nothing fits into 1 tokens; see --budget\n");
    run("4")
        .status(0)
        .stdout("proj:work\n")
        .stderr("session-reader: 17 lines do not fit into 4 tokens; see --budget\n");
    // What is open comes before what was done.
    run("20").status(0).stdout("proj:work\nblock:failing:cargo-build---release\n");
    assert_eq!(resumed(&world, &["--budget", "77"])["token_budget"]["limit"], 77);
    for bad in ["-1", "x", "1.5", "", "0"] {
        let said = run(bad).status(2).stdout("");
        assert!(bad == "-1" || said.err().contains("not a number, 1 or more"), "{}", said.err());
    }
    world.reader(&["resume", "--codes", "--json"]).run().status(2).stdout("");
}

/// People may have a budget, too: whole lines, which session it is first, and something of every kind.
#[test]
fn the_text_keeps_to_every_budget() {
    let world = World::new();
    rich(&world).save(&world, ONE);
    let lines = |budget: usize| -> Vec<String> {
        let done = world.reader(&["resume", "--budget", &budget.to_string()]).run();
        done.out().lines().map(str::to_owned).collect()
    };
    let whole = lines(9000);
    assert_eq!(whole.join("\n") + "\n", world.reader(&["resume"]).run().success().out());
    let texts = |lines: &[String]| lines.iter().map(|line| line[12..].to_owned()).collect::<Vec<_>>();
    for budget in (1..700).step_by(7) {
        let some = lines(budget);
        // A label is printed once, but would cost as much as blanks do.
        assert!(some.iter().map(|line| cost(line)).sum::<usize>() <= budget, "{budget}");
        let mut rest = texts(&whole).into_iter();
        assert!(texts(&some).iter().all(|text| rest.any(|known| known == *text)), "{budget}: {some:?}");
        assert_eq!(some.first(), whole.first().filter(|first| cost(first) <= budget), "{budget}");
    }
    let some = lines(500).join("\n");
    for label in ["Files", "Tasks", "Decisions", "Blockers", "Summary", "Go on"] {
        assert!(some.contains(&format!("\n{label} ")), "{label}: {some}");
    }
}

/// The start of the next session costs far less than the history, which stays where it is.
// 002-11, 002-12, 002-13, 002-14, 004-S10
#[test]
fn codes_cost_less_than_the_history() {
    let world = World::new();
    let script = much(&world, 15, 8, 3);
    let path = script.save(&world, ONE);
    world.context(&["pin", &"x".repeat(300)]).run().status(0);
    let codes = world.reader(&["resume", "--codes"]).run().success().out().len();
    assert!(codes / 3 < 1500 && codes * 4 < script.text().len(), "{codes}");
    assert_eq!(std::fs::read_to_string(path).expect("still there"), script.text());
    let all = resumed(&world, &[]);
    assert_eq!(all["recent_messages"].as_array().map(Vec::len), Some(9));
}

// ---- What counts

/// Words are decisions only where they decide, with what was decided; the newest on a matter counts; their order is kept.
/// All of them are marked as taken from words.
// 002-12, 002-D3, 002-D4, 004-T6, 004-D4
#[test]
fn decisions() {
    let world = World::new();
    let said = |prompts: &[&str]| {
        let all = prompts.iter().fold(Script::of(&world), |script, text| script.user(text)).json();
        assert!(all["decisions"].as_array().into_iter().flatten().all(|one| one["by"] == "words"), "{all}");
        texts(&all["decisions"]).join("|")
    };
    for text in [
        "I am using redis and added a cache, created the module",
        "We implemented the retry logic yesterday",
        "Should we use redis here?",
        "> let's use the quoted thing",
    ] {
        assert_eq!(said(&[text]), "", "{text}");
    }
    let three = ["let's use zookeeper for locks", "on garde le format JSON", "let's use consul for locks and leases"];
    assert_eq!(said(&three), three.join("|"));
    let all = said(&["let's use PostgreSQL for the user table", "hm", "let's not use PostgreSQL for the user table"]);
    assert_eq!(all, "let's not use PostgreSQL for the user table");
    assert_eq!(said(&["let's use redis there"; 8]), "let's use redis there");
    // An agent decides nothing.
    let all = Script::of(&world).user("go").says("Let's use redis for the cache.").json();
    assert_eq!(texts(&all["decisions"]), [""; 0]);
}

/// What stands in the way is told by what happened; by words only if the last prompt says it outright.
// 004-D3, 004-T6
#[test]
fn blockers() {
    let world = World::new();
    let start = || Script::of(&world).user("Make the release of today");
    let none: [(&str, &str); 0] = [];
    for text in
        ["I need a new issue tracker", "there is an issue with this, it is unclear", "we need to unblock the queue"]
    {
        assert_eq!(kinds(&start().user(text).json()), none, "{text}");
    }
    let text = "I'm blocked because the licence key is missing";
    let said = start().user(text).json();
    assert_eq!((kinds(&said), &said["blockers"][0]["by"]), (vec![("said", text)], &json!("words")));
    assert_eq!(kinds(&start().user(text).user("thanks, I have it").json()), none);
    let cases: [(Script, &[(&str, &str)]); 8] = [
        (start().runs("cargo test", true).runs("cd x && cargo test 2>&1 | tail -3", false), &[]),
        (start().runs("cargo test", true).runs("cargo build", false), &[("failing", "cargo test")]),
        (start().runs("ls /nowhere", true).runs("cat contest.txt", true), &[]),
        (start().says("Shall I go on?"), &[]),
        (start().says("Shall I go on?").user("yes"), &[]),
        (start().calls("Bash", json!({"command": "make all"})), &[("crashed", "Bash make all")]),
        (
            start().calls("Bash", json!({"command": "rm x"})).result(true, "User rejected tool use"),
            &[("denied", "Bash rm x")],
        ),
        (
            start()
                .calls("Bash", json!({"command": "rm x"}))
                .result(true, "User rejected tool use")
                .runs("rm x", false),
            &[],
        ),
    ];
    for (script, expected) in &cases {
        assert_eq!(kinds(&script.json()), *expected, "{}", script.text());
    }
    let error = json!({"type": "assistant", "uuid": "e", "timestamp": at(9), "isApiErrorMessage": true, "message": {"id": "e", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: usage limit reached"}]}});
    let failed = start().raw(error);
    assert_eq!(
        (kinds(&failed.json()), &failed.json()["ending"]),
        (vec![("limit", "API Error: usage limit reached")], &json!("failed"))
    );
    assert_eq!(kinds(&failed.says("Back again.").json()), none);
}

/// A call without a result is a crash only when nobody is at work any more.
// 001-13
#[test]
fn a_session_that_is_at_work_has_not_crashed() {
    let world = World::new();
    let path = Script::of(&world).user("Make it").calls("Bash", json!({"command": "make"})).save(&world, ONE);
    let ends = [("2026-11-16T01:06:00Z", "active", 0, "working"), ("2026-11-16T01:06:01Z", "idle", 1, "unfinished")];
    for (now, status, crashed, ending) in ends {
        let done =
            world.reader(&["resume", path.to_str().expect("UTF-8"), "--json"]).env("SESSION_MONITOR_NOW", now).run();
        let all = json_of(&done.success());
        assert_eq!(
            (all["status"].as_str(), kinds(&all).len(), all["ending"].as_str()),
            (Some(status), crashed, Some(ending)),
            "{now}"
        );
    }
}

/// Three functions in two files are two file codes and three function codes; a failed edit is none.
// 004-S1, 004-T5, 004-F4, 004-F5
#[test]
fn files_functions_and_tests() {
    let world = World::new();
    let script = Script::of(&world)
        .user("Write the parser")
        .does("Edit", json!({"file_path": "/p/parse.py", "old_string": "", "new_string": "def parse():\n    pass\n\ndef parse_line():\n    pass\n"}))
        .writes("/p/emit.py", "class Emitter:\n    pass\n")
        .calls("Edit", json!({"file_path": "/p/never.py", "old_string": "a", "new_string": "def never(): pass"}))
        .result(true, "String to replace not found")
        .does("Edit", json!({"file_path": "/p/parse.py", "old_string": "a", "new_string": "b"}))
        .runs("pytest tests/", false)
        .runs("pytest tests/", false);
    let codes =
        ["impl:parse.py", "impl:emit.py", "impl:parse", "impl:parse_line", "impl:Emitter", "test:pytest-tests/"];
    assert_eq!(script.codes(), codes);
}

/// Equal names in two directories are two files; each is as short as it can be told from the other.
// 004-D2
#[test]
fn equal_base_names_are_told_apart() {
    let files = ["/p/a/mod.rs", "/p/b/mod.rs", "/p/c/lib.rs"];
    let script = files.iter().fold(Script::of(&World::new()).user("go"), |script, path| script.writes(path, "x"));
    assert_eq!(script.codes(), ["impl:a/mod.rs", "impl:b/mod.rs", "impl:lib.rs"]);
}

/// Only a test is a test.
// 004-D5
#[test]
fn tests_are_told_by_the_program_that_runs() {
    let world = World::new();
    let run = |command: &str, failed: bool| Script::of(&world).user("go").runs(command, failed).codes();
    for command in ["git checkout latest", "cat contest.txt", "ls tests", "echo cargo test", "grep -r test ."] {
        assert_eq!(run(command, false), [""; 0], "{command}");
    }
    for command in ["cargo test", "npm test", "pytest", "go test ./...", "npx vitest run"] {
        assert_eq!(count(&run(command, false), "test:"), 1, "{command}");
        assert_eq!(
            run(command, true).iter().map(|code| &code[..14]).collect::<Vec<_>>(),
            ["block:failing:"],
            "{command}"
        );
    }
}

/// What was done is not to be done; the rest stays.
// 004-T7
#[test]
fn next_is_what_was_not_done() {
    let world = World::new();
    let todo = |text: &str, state: &str| json!({"content": text, "status": state});
    let todos = json!({"todos": [todo("Add parser tests", "completed"), todo("Deploy to staging", "pending"), todo("Write the guide", "in_progress")]});
    let script = Script::of(&world)
        .user("Finish the parser")
        .does("TodoWrite", todos)
        .runs("git commit -m 'Update the changelog of the parser'", false)
        .says("Done.\n\n## Next steps\n- Adding tests for the parser\n- Updating the parser's changelog\n- Publish the crate\n");
    let open = [("Write the guide", None), ("Deploy to staging", None), ("Publish the crate", Some("words"))];
    assert_eq!(rows_of(&script.json(), "open_tasks", &["text", "by"]), json!(open));
    let codes = script.codes();
    assert_eq!(["done:", "next:", "next:said:"].map(|prefix| count(&codes, prefix)), [2, 3, 1], "{codes:#?}");
}

/// What the agent is told not to do after it did something, once, and marked as taken from words; not what is said in
/// passing, nor what a client writes into every plan.
// 004-T8
#[test]
fn corrections() {
    let world = World::new();
    let told = |text: &str| {
        let script = (0..8)
            .fold(Script::of(&world).user("Fix the build now"), |script, _| script.runs("make", false).user(text));
        let all = script.json();
        assert!(all["corrections"].as_array().into_iter().flatten().all(|one| one["by"] == "words"), "{all}");
        texts(&all["corrections"]).join("|")
    };
    for text in ["Don't commit without asking me", "Never push to main directly", "Ne touche pas à ce fichier"] {
        assert_eq!(told(text), text);
    }
    for text in [
        "I don't know what that means",
        "don't worry about the warnings",
        "Why don't you use a map?",
        "Implement the plan as specified, it is attached for your reference. Do NOT edit the plan file itself.",
    ] {
        assert_eq!(told(text), "", "{text}");
    }
    // Before the agent did anything it is a wish, no correction.
    assert_eq!(texts(&Script::of(&world).user("Don't commit without asking me").json()["corrections"]), [""; 0]);
}

/// Codes are one word of harmless characters; nothing from a transcript reaches a terminal as it is.
// 004-F1, 004-F3
#[test]
fn nothing_harmful_is_printed() {
    let world = World::new();
    let path = Script::of(&world)
        .user("Let's use \u{1b}]0;x\u{7}red\u{1b}[31m <system-reminder> and\nnew lines\u{202e} there")
        .writes("/p/a\u{1b}[2Jb c.rs", "fn x() {}\n")
        .runs("cargo test \u{1b}[31m; rm -rf /", true)
        .save(&world, ONE);
    for form in [&[][..], &["--codes"]] {
        let done = world.reader(&[&["resume", path.to_str().expect("UTF-8")], form].concat()).run().success();
        let bad: Vec<char> =
            done.out().chars().filter(|char| *char != '\n' && (char.is_control() || *char == '\u{202e}')).collect();
        assert_eq!(bad, [], "{}", done.out());
        assert!(form.is_empty() || !done.out().contains([' ', '<', '>', '`', '*']), "{}", done.out());
    }
}

// ---- Which session

/// A session of some minutes in a directory, in which a file is written.
fn work_in(world: &World, dir: &str, id: &str, minute: usize, asked: &str) -> PathBuf {
    let mut script = Script::new(world.path(dir));
    script.from = minute;
    script.user(asked).writes("/p/a.rs", "x").says("Done.").save(world, id)
}

fn asked(done: &Done) -> String {
    let asked = done.out().lines().find_map(|line| line.strip_prefix("Asked last  "));
    asked.unwrap_or_else(|| panic!("nothing asked: {}\n{}", done.out(), done.err())).to_owned()
}

pub(crate) const GOALS: [&str; 2] = ["Fix the slow login page", "Add the export to spreadsheets"];

/// By nothing, `last`, id, part of an id, title, part of a title, path; and the last one is the newest that is not done.
// 002-02, 002-03 (nothing is taken up unless it is asked for), 002-07, 002-08, 004-F7, 004-T3 (ours: one per session)
#[test]
fn a_session_by_its_name() {
    let world = World::new();
    let one = work_in(&world, "work", ONE, 10, GOALS[0]);
    let two = work_in(&world, "work", TWO, 5, GOALS[1]);
    let found = |args: &[&str]| asked(&world.reader(&[&["resume"], args].concat()).run().success());
    let path = one.to_str().expect("UTF-8");
    for name in [&[][..], &["last"], &[ONE], &["11111111"], &["1"], &[GOALS[0]], &["slow login"], &[path]] {
        assert_eq!(found(name), GOALS[0], "{name:?}");
    }
    for name in [TWO, "2222", GOALS[1], "EXPORT"] {
        assert_eq!(found(&[name]), GOALS[1], "{name}");
    }
    let unknown = "session-reader: no session is called 'nobody'; `session-reader list --all` shows what there is\n";
    world.reader(&["resume", "nobody"]).run().status(2).stdout("").stderr(unknown);
    let near = world.reader(&["resume", "slow loging"]).run().status(2).stdout("");
    assert!(near.err().starts_with("session-reader: no session is called 'slow loging'; the nearest:\n  11111111"));
    world.reader(&["resume", "the"]).run().status(2).stdout("").stderr_has("'the' fits 2 sessions");
    world.reader(&["resume", "/nowhere.jsonl"]).run().status(2).stdout("").stderr_has("/nowhere.jsonl");
    // Done is not last, but still there.
    world.context(&["done", "11111111"]).run().success();
    assert_eq!((found(&[]), found(&["last"]), found(&["1111"])), (GOALS[1].into(), GOALS[1].into(), GOALS[0].into()));
    world.context(&["done", "22222222"]).run().success();
    world.reader(&["resume"]).run().status(1).stdout("").stderr("session-reader: all sessions of this project in that time are done; `session-context done NAME --undo` takes that back, and `session-reader resume NAME` shows one\n");
    // Deleted is not found, and the other is.
    std::fs::remove_file(&two).expect("removed");
    world.reader(&["resume", "2222"]).run().status(2).stdout("");
    assert_eq!(found(&["1111"]), GOALS[0]);
}

/// Seven days, unless more are asked for. Nothing is deleted or archived, whatever is asked.
// 004-S3, 004-S5, 004-S9, 004-E4, 004-E6, 004-E7
#[test]
fn a_week_is_enough_unless_more_is_asked_for() {
    let world = World::new();
    let none =
        "session-reader: no sessions in this project; `session-reader formats` shows where they are looked for\n";
    world.reader(&["resume"]).run().status(1).stdout("").stderr(none);
    let nothing = |ago: &str| {
        format!(
            "session-reader: no session of this project stopped in that time; 11111111 stopped {ago} ago: --since looks further back\n"
        )
    };
    let path = work_in(&world, "work", ONE, 0, GOALS[0]);
    // It stopped at 01:03 on the 16th.
    let at =
        |now: &str, args: &[&str]| world.reader(&[&["resume"], args].concat()).env("SESSION_MONITOR_NOW", now).run();
    at("2026-11-23T01:02:00Z", &[]).success();
    for args in [&[][..], &["last"], &["--codes"], &["--json"]] {
        at("2026-11-24T01:04:00Z", args).status(1).stdout("").stderr(&nothing("8d"));
    }
    assert_eq!(asked(&at("2026-11-24T01:04:00Z", &["--since", "30d"]).success()), GOALS[0]);
    assert_eq!(asked(&at("2026-11-24T01:04:00Z", &["last", "--since=2026-11-01"]).success()), GOALS[0]);
    at("2026-11-24T01:04:00Z", &["--since", "7d"]).status(1);
    // By name it is found at any time.
    assert_eq!(asked(&at("2027-11-24T01:04:00Z", &["1111"]).success()), GOALS[0]);
    at("2026-11-16T02:00:00Z", &["--since", "10m"]).status(1).stdout("").stderr(&nothing("57m"));
    world.reader(&["resume", "--since", "soon"]).run().status(2).stdout("");
    // Two that are too old and one that is not.
    work_in(&world, "work", TWO, 30, GOALS[1]);
    assert!(path.exists());
    assert_eq!(asked(&at("2026-11-23T01:10:00Z", &[]).success()), GOALS[1]);
}

/// A question in passing is not the last session, if there is another one, however many commands it took to answer it.
// 002-D1
#[test]
fn a_question_in_passing_is_not_the_last_session() {
    let world = World::new();
    let mut passing = Script::of(&world);
    passing.from = 40;
    passing.user("What is in this directory").runs("ls", false).says("Nothing much.").save(&world, TWO);
    let topic = world.reader(&["resume", "--json"]).run().success();
    assert_eq!(json_of(&topic)["session_id"], TWO);
    work_in(&world, "work", ONE, 0, GOALS[0]);
    assert_eq!(asked(&world.reader(&["resume"]).run().success()), GOALS[0]);
}

/// The repository from anywhere in it and from its worktrees; another project is another world.
// 002-17, 002-D5, 004-S8, 004-T1, 004-T2
#[test]
fn projects_do_not_mix() {
    let world = World::new();
    world.write("repo/.git/HEAD", "ref: refs/heads/main\n");
    world.write("repo/.git/worktrees/tree/commondir", "../..\n");
    world.write("tree/.git", "gitdir: ../repo/.git/worktrees/tree\n");
    for dir in ["repo/src/deep", "plain", "other"] {
        std::fs::create_dir_all(world.path(dir)).expect("a directory");
    }
    work_in(&world, "repo", ONE, 0, GOALS[0]);
    work_in(&world, "plain", TWO, 20, GOALS[1]);
    world.context(&["pin", "only in the repository"]).dir(world.path("repo")).run().success();
    for dir in ["repo", "repo/src", "repo/src/deep", "tree"] {
        let done = world.reader(&["resume", "last"]).dir(world.path(dir)).run().success();
        assert_eq!(asked(&done), GOALS[0], "{dir}");
        assert!(done.out().contains("\nPinned      only in the repository\n"), "{dir}: {}", done.out());
        let codes = world.reader(&["resume", "--codes"]).dir(world.path(dir)).run().success();
        assert!(codes.out().starts_with("proj:repo\n"), "{dir}: {}", codes.out());
    }
    let done = world.reader(&["resume"]).dir(world.path("plain")).run().success();
    assert_eq!((asked(&done), done.out().contains("Pinned")), (GOALS[1].to_owned(), false));
    world.reader(&["resume", "--codes"]).dir(world.path("plain")).run().success().stdout("proj:plain\nimpl:a.rs\n");
    for dir in ["other", "work", ""] {
        world.reader(&["resume"]).dir(world.path(dir)).run().status(1).stdout("");
    }
    // By its id a session is found from anywhere, and its codes name its own project.
    let done = world.reader(&["resume", "1111", "--codes"]).dir(world.path("plain")).run().success();
    assert!(done.out().starts_with("proj:repo\n"), "{}", done.out());
    // A session begun in a worktree belongs to the repository, too.
    work_in(&world, "tree", TWO, 50, "Try another parser generator library");
    assert_eq!(
        asked(&world.reader(&["resume"]).dir(world.path("repo")).run().success()),
        "Try another parser generator library"
    );
}

/// What the user wrote comes with it: pins first, then notes with what was found, tags of this session.
// 002-17, 002-18, 004-F7
#[test]
fn pins_notes_and_tags() {
    let world = World::new();
    work_in(&world, "work", ONE, 10, GOALS[0]);
    for args in [
        &["pin", "the API is frozen"][..],
        &["pin", "never push", "--priority", "high"],
        &["note", "decision", "Use PostgreSQL 17"],
        &["note", "blocker", "Waiting for the licence"],
        &["note", "next", "Call the customer"],
        &["note", "fact", "Staging is down"],
        &["tag", "billing", "--session", "last"],
    ] {
        world.context(args).run().success();
    }
    let out = world.reader(&["resume"]).run().success();
    let rows = "Pinned      never push\n            the API is frozen\nAsked last  Fix the slow login page\n";
    let noted = "Decisions   Use PostgreSQL 17\nBlockers    Waiting for the licence\nNext        Call the customer\nFacts       Staging is down\n";
    assert!(
        out.out().contains(rows) && out.out().contains(noted) && out.out().contains("\nTags        billing\n"),
        "{}",
        out.out()
    );
    let codes =
        "proj:work\nimpl:a.rs\ndec:Use-PostgreSQL-17\nblock:noted:Waiting-for-the-licence\nnext:Call-the-customer\n";
    world.reader(&["resume", "--codes"]).run().success().stdout(codes);
    let all = resumed(&world, &[]);
    let by_user = |text: &str| json!({"text": text, "by": "user"});
    assert_eq!(
        all["pinned_facts"],
        json!([by_user("never push"), by_user("the API is frozen"), by_user("Staging is down")])
    );
    assert_eq!(
        (&all["decisions"][0], &all["open_tasks"][0], &all["tags"]),
        (&by_user("Use PostgreSQL 17"), &by_user("Call the customer"), &json!(["billing"]))
    );
    // A page that cannot be read is said, and nothing else is lost.
    let page = world.context(&["notes", "--path"]).run().success().out().trim_end().to_owned();
    std::fs::remove_file(&page).expect("removed");
    std::fs::create_dir(&page).expect("a directory in its place");
    let done = world.reader(&["resume"]).run().status(0).stderr_has("session-reader: ");
    assert_eq!(asked(&done), GOALS[0]);
}

/// A session that has nothing to tell is told all the same.
// 004-T4
#[test]
fn a_session_with_nothing_has_its_project() {
    let world = World::new();
    Script::of(&world).user("ok").save(&world, ONE);
    world.reader(&["resume", "--codes"]).run().success().stdout("proj:work\n");
    let text = format!(
        "Session     {ONE} (claude)\nStopped     2h ago, 01:00; unfinished\nAsked last  ok\nGo on       claude --resume {ONE}\n"
    );
    world.reader(&["resume"]).run().success().stdout(&text);
}

/// All sessions with id, begin, end, messages and tokens, the newest first; a fork tells what it shares with its origin.
// 002-04, 002-05, 002-18 (conflicts are in the tests of the hook)
#[test]
fn what_is_listed_can_be_resumed() {
    let world = World::new();
    world.install("agent-sdk/resume", "");
    let listed = world.reader(&["list", "--all", "--json"]).run().success().json();
    let times: Vec<_> = listed.iter().map(|row| row["updated"].as_str().expect("a time")).collect();
    assert!(times.len() > 4 && times.is_sorted_by(|a, b| a >= b), "{times:?}");
    for row in &listed {
        let all = resumed(&world, &[row["id"].as_str().expect("an id")]);
        let tokens =
            row["tokens"]["input"].as_u64().zip(row["tokens"]["output"].as_u64()).map(|(input, output)| input + output);
        let row = json!([row["id"], row["started"], row["updated"], row["messages"], row["path"], tokens]);
        let used = &findings(&all)["tokens"];
        assert_eq!(
            row,
            json!([all["session_id"], all["started_at"], all["last_activity_at"], all["messages"], all["path"], used])
        );
    }
    let said = |id: &str| {
        texts(&resumed(&world, &[id])["recent_messages"]).iter().map(|text| text.to_string()).collect::<Vec<_>>()
    };
    assert!(said("b0c2b5f0").starts_with(&said("69f05f44")));
}

/// Two sessions at work at once: each is what its id says, whichever was written last.
// 004-D6, 004-E1 to 004-E3 (nothing is captured: the transcript has it), 004-E5, 004-E8, 004-E9
#[test]
fn two_live_sessions_are_told_apart_by_their_ids() {
    let world = World::new();
    let paths = [work_in(&world, "work", ONE, 50, GOALS[0]), work_in(&world, "work", TWO, 51, GOALS[1])];
    for (id, path, expected) in [(ONE, &paths[0], GOALS[0]), (TWO, &paths[1], GOALS[1])] {
        for name in [id, path.to_str().expect("UTF-8")] {
            let done =
                world.reader(&["resume", name]).env("SESSION_MONITOR_NOW", "2026-11-16T01:55:00Z").run().success();
            assert_eq!(asked(&done), expected);
        }
    }
}

/// Sessions of a named home by their names.
#[test]
fn named_sessions() {
    let world = World::new();
    world.install("pi/volute@1.5.0", "");
    let run = |name: &str| asked(&world.reader(&["resume", name]).dir(world.path("cwd")).run().success());
    assert_eq!(run("discord-general"), "Deploy the billing service");
    assert_eq!(
        (run("main"), run("last")),
        ("Change the second item please".to_owned(), "Change the second item please".to_owned())
    );
}

// ---- Damage

/// A broken line costs that line and is said; a last line that is not finished is not broken; a corrupt file hides no other.
// 002-09, 004-S7
#[test]
fn broken_lines_are_skipped_and_said() {
    let world = World::new();
    let script = Script::of(&world).user(GOALS[0]).writes("/p/a.rs", "x").says("Done.");
    let lines: Vec<&String> = script.lines.iter().collect();
    let broken = format!(
        "{}\n{{\"type\":\"user\",\"mess\n\0\0\0\n{}\n{}\n{}\n{{\"type\":\"us",
        lines[0], lines[1], lines[2], lines[3]
    );
    let path = world.claude(ONE, &broken);
    for form in [&["resume"][..], &["resume", "--codes"]] {
        let done = world.reader(form).run().status(0);
        let said = format!(
            "session-reader: 1 of its lines could not be read: session-reader formats check {}\n",
            path.display()
        );
        assert_eq!(done.err(), said);
    }
    let all = resumed(&world, &[]);
    assert_eq!(
        (&all["files_modified"][0]["line"], &all["current_work"]["intent"]["text"]),
        (&json!(4), &json!(GOALS[0]))
    );
    // Nothing of it can be read.
    world.write(path.with_file_name(format!("{TWO}.jsonl")), [0xff; 5000]);
    assert_eq!(asked(&world.reader(&["resume"]).run().status(0)), GOALS[0]);
    let empty = world.write("empty.jsonl", "");
    let done = world.reader(&["resume", empty.to_str().expect("UTF-8")]).run();
    assert!(done.out().is_empty() && !done.err().is_empty(), "{}", done.err());
}

/// A call in a line of 5 MB, its keys in the order in which the client writes them.
fn long_call(minute: usize) -> String {
    let content = Value::from(format!("fn big() {{}}\n{}", "// y\n".repeat(1 << 20)));
    format!(
        r#"{{"type":"assistant","uuid":"b","timestamp":"{}","message":{{"id":"b","role":"assistant","content":[{{"type":"tool_use","id":"b","name":"Write","input":{{"file_path":"/p/big.rs","content":{content}}}}}]}}}}"#,
        at(minute)
    )
}

/// Lines of 5 MB, and a last line without its end.
#[test]
fn long_and_unfinished_lines() {
    let world = World::new();
    let mut script = Script::of(&world)
        .user(GOALS[0])
        .calls("Bash", json!({"command": "cargo test"}))
        .result(true, &"x".repeat(5 << 20));
    script.lines.push(long_call(4));
    let done = json!([{"type": "tool_result", "tool_use_id": "b", "content": "ok"}]);
    let script = script.line("user", json!({"role": "user", "content": done})).says("Shall I go on?");
    let text = script.text();
    let path = world.claude(ONE, text.trim_end());
    let all = resumed(&world, &[]);
    assert_eq!(findings(&all)["blockers"], json!([["failing", "cargo test"]]));
    assert_eq!(json!([all["files_modified"][0]["path"], all["files_modified"][0]["line"]]), json!(["/p/big.rs", 4]));
    std::fs::write(&path, &text[..text.len() - 20]).expect("written");
    let all = resumed(&world, &[]);
    assert_eq!(json!([all["ending"], all["files_modified"][0]["line"]]), json!(["unfinished", 4]));
}

// ---- What was wrong once

/// A file that is written anew in a line of several megabytes is created, and it is not a change of nothing.
#[test]
fn details_of_a_long_call() {
    let world = World::new();
    let mut script = Script::of(&world).user(GOALS[0]);
    script.lines.push(long_call(1));
    let done = json!([{"type": "tool_result", "tool_use_id": "b", "content": "ok"}]);
    let all = script.line("user", json!({"role": "user", "content": done})).json();
    assert_eq!(json!([all["files_modified"][0]["action"], all["functions"][0]["name"]]), json!(["create", "big"]));
}

/// A denied call is settled by the same call, not by any call whose subject its words happen to end with.
#[test]
fn denied_calls_are_settled_by_others() {
    let world = World::new();
    let all = Script::of(&world)
        .user("Push it to the server")
        .calls("Bash", json!({"command": "git push origin main"}))
        .result(true, "Permission to use Bash has been denied.")
        .does("Grep", json!({"pattern": "main"}))
        .json();
    assert_eq!(kinds(&all), [("denied", "Bash git push origin main")]);
}

/// A call that never gets a result (a search that the model's server does) is no crash when the work went on.
#[test]
fn calls_without_result_are_crashes() {
    let world = World::new();
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "rust csv"}});
    let lines = [
        codex_said(1, "user", "Find a crate for CSV files"),
        codex_line(2, "response_item", search),
        codex_said(3, "assistant", "Take csv."),
    ];
    codex(&world, &lines.concat());
    let all = resumed(&world, &["last"]);
    assert_eq!(kinds(&all), []);
    assert_eq!(all["tool_history"][0]["target"], "rust csv");
}

/// A patch over several files changes each of them in its own way; one that is new stays new when it is read.
#[test]
fn patches_over_several_files() {
    let world = World::new();
    let patch = "*** Begin Patch\n*** Add File: a.py\n+def one():\n+    pass\n*** Update File: b.py\n@@\n-x = 1\n+x = 2\n*** End Patch\n";
    codex(
        &world,
        &(codex_said(1, "user", "Split the module in two")
            + &codex_call(2, "apply_patch", &json!(patch), "Exit code: 0\n")
            + &codex_call(3, "exec_command", &json!({"cmd": "sed -n 1,9p a.py"}), "Process exited with code 0\n")),
    );
    let all = resumed(&world, &["last"]);
    let files: Vec<_> = all["files_modified"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|file| json!([file["path"], file["action"], file["summary"]]))
        .collect();
    assert_eq!(json!(files), json!([["a.py", "create", "new, 2 lines"], ["b.py", "edit", "+1 -1"]]));
    let functions = all["functions"].as_array().expect("a list");
    assert_eq!(
        functions.iter().map(|one| json!([one["name"], one["path"]])).collect::<Vec<_>>(),
        [json!(["one", "a.py"])]
    );
}

/// A patch or an edit that only adds lines to a file does not create it, nor does writing a file that was read before.
#[test]
fn additions_create_files() {
    let world = World::new();
    let patch = "*** Begin Patch\n*** Update File: b.py\n@@\n x = 1\n+y = 2\n*** End Patch\n";
    codex(
        &world,
        &(codex_said(1, "user", "Add the second value")
            + &codex_call(2, "apply_patch", &json!(patch), "Exit code: 0\n")),
    );
    let action = |all: &Value| all["files_modified"][0]["action"].clone();
    let overwritten = Script::of(&world)
        .user("Rewrite the whole guide")
        .does("Read", json!({"file_path": "/p/guide.md"}))
        .calls("Write", json!({"file_path": "/p/guide.md", "content": "new"}))
        .result(false, "The file /p/guide.md has been updated successfully.")
        .json();
    assert_eq!([action(&resumed(&world, &["last"])), action(&overwritten)], ["edit", "edit"]);
}

/// A file given by its path has the id that stands in it, and the command that really takes it up again.
#[test]
fn ids_of_files_given_by_path() {
    let world = World::new();
    let path = codex(&world, &rich_codex());
    let all = resumed(&world, &[path.to_str().expect("UTF-8")]);
    assert_eq!(json!([all["session_id"], all["resume"]]), json!([ONE, format!("codex resume {ONE}")]));
    for path in real() {
        let all = world.reader(&["resume", path.to_str().expect("UTF-8"), "--json"]).run();
        let Some(all) = all.json().pop() else { continue };
        let id = all["session_id"].as_str().expect("an id");
        assert!(!["rollout-", "session-", "events", "2026-"].iter().any(|start| id.starts_with(start)), "{id}");
    }
}

/// A code may end with a colon.
#[test]
fn codes_with_a_colon_at_the_end() {
    let todos = json!({"todos": [{"content": "Decide one of these:", "status": "pending"}]});
    let codes = Script::of(&World::new()).user("go").does("TodoWrite", todos).codes();
    assert_eq!(codes, ["next:Decide-one-of-these:"]);
}

/// Codes keep what tells things apart: paths with brackets, values with signs, commands without their plumbing.
#[test]
fn characters_dropped_from_codes() {
    let script = Script::of(&World::new())
        .user("let's use threshold=0.75 there")
        .writes("/p/app/[id].tsx", "x")
        .writes("/p/app/id.tsx", "x")
        .runs("cargo test 2>&1 | tail -5", false);
    let codes = script.codes();
    assert_eq!(count(&codes, "impl:"), 2, "{codes:#?}");
    assert_eq!(count(&codes, "test:cargo-test"), 1, "{codes:#?}");
    assert!(codes.contains(&"test:cargo-test".to_owned()), "{codes:#?}");
    assert!(codes.contains(&"dec:said:let's-use-threshold=0.75-there".to_owned()), "{codes:#?}");
}

/// The last twenty files are those that were changed last.
// 001-06
#[test]
fn last_twenty_files() {
    let script =
        (0..21).fold(Script::of(&World::new()).user("go"), |script, at| script.writes(&format!("/p/{at}.rs"), "x"));
    let all = script.writes("/p/0.rs", "y").json();
    let paths: Vec<_> =
        all["files_modified"].as_array().expect("a list").iter().map(|file| file["path"].clone()).collect();
    assert!(paths.len() == 20 && paths.contains(&json!("/p/0.rs")) && !paths.contains(&json!("/p/1.rs")), "{paths:?}");
}

/// heuristics 6.3 (5): a task that waits for another one is blocked.
#[test]
fn tasks_that_wait_for_others() {
    let world = World::new();
    let all = Script::of(&world)
        .user("Make the release")
        .calls("TaskCreate", json!({"subject": "Build it"}))
        .result(false, "Task #1 created successfully: Build it")
        .calls("TaskCreate", json!({"subject": "Ship it"}))
        .result(false, "Task #2 created successfully: Ship it")
        .does("TaskUpdate", json!({"taskId": "2", "addBlockedBy": ["1"]}))
        .json();
    assert_eq!(kinds(&all), [("task", "Ship it")]);
}

/// What was done to a file is more than its last edit: one that was written anew stays new, one that was there is
/// rewritten, and one that is gone is deleted. An edit that failed is no change, but is said if it was not made up for.
#[test]
fn what_was_done_to_a_file() {
    let world = World::new();
    let edit = |path: &str| json!({"file_path": path, "old_string": "a", "new_string": "b"});
    let write = |path: &str| json!({"file_path": path, "content": "a\nb\n"});
    let script = Script::of(&world)
        .user(GOALS[0])
        .does("Write", write("/p/new.rs"))
        .does("Edit", edit("/p/new.rs"))
        .calls("Write", write("/p/old.rs"))
        .result(false, "The file /p/old.rs has been updated successfully.")
        .does("Read", json!({"file_path": "/p/read.rs"}))
        .does("Write", write("/p/read.rs"))
        .does("Write", write("/p/read.rs"))
        .calls("Edit", edit("/p/lost.rs"))
        .result(true, "String to replace not found in file.")
        .calls("Edit", edit("/p/won.rs"))
        .result(true, "String to replace not found in file.")
        .does("Edit", edit("/p/won.rs"));
    let path = script.save(&world, ONE);
    let out = world.reader(&["resume"]).run().success().out().to_owned();
    let rows = "\
Files       /p/won.rs  +1 -1  01:17
            /p/read.rs  rewritten, 2 lines, the last of 2 edits  01:11
            /p/old.rs  rewritten, 2 lines  01:05
            /p/new.rs  new; +1 -1, the last of 2 edits  01:03
Failed      Edit  /p/lost.rs
";
    assert!(out.contains(rows), "{out}");
    let all = resumed(&world, &[]);
    let actions: Vec<_> = all["files_modified"].as_array().into_iter().flatten().map(|file| &file["action"]).collect();
    assert_eq!(json!(actions), json!(["create", "edit", "edit", "edit"]));
    let far = Script::of(&world).user(GOALS[0]).does("Read", json!({"file_path": "/p/far.rs"}));
    let far = (0..150).fold(far, |script, _| script.runs("make", false)).does("Write", write("/p/far.rs")).json();
    assert_eq!(far["files_modified"][0]["summary"], "rewritten, 2 lines");
    assert_pointers("files", &std::fs::read_to_string(path).expect("there"), &all);
}

/// An error is a limit only if it says so: who reads `limit` waits.
#[test]
fn limits_and_errors() {
    let world = World::new();
    for (text, kind) in [
        ("API Error: 400 bad request on purpose", "error"),
        ("API Error: 529 overloaded", "error"),
        ("API Error: 14290", "error"),
        ("API Error: 429 {}", "limit"),
        ("Claude AI usage limit reached|1770000000", "limit"),
        ("5-hour limit reached, resets 3pm", "limit"),
        ("You are over your usage limit", "limit"),
        ("This is your session limit", "limit"),
        ("You've hit your limit, resets 3pm", "limit"),
        ("Rate limit exceeded", "limit"),
        ("API Error: {\"type\":\"rate_limit_error\"}", "limit"),
        ("Quota exceeded for requests per day", "limit"),
        ("Too Many Requests", "limit"),
        ("Prompt is too long", "limit"),
        ("Your input exceeds the context window of this model", "limit"),
    ] {
        let error = json!({"type": "assistant", "isApiErrorMessage": true, "timestamp": at(1), "uuid": "e", "message": {"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": text}]}});
        let all = Script::of(&world).user(GOALS[0]).raw(error).json();
        assert_eq!(
            (kinds(&all), all["ending"].as_str(), all["state"].as_str()),
            (vec![(kind, text)], Some("failed"), Some("error"))
        );
    }
}

/// The agent's command is for the directory of the session, because agents look for their sessions there; a subagent's
/// transcript is taken up by none.
#[test]
fn the_command_leads_to_the_directory() {
    let world = World::new();
    work_in(&world, "some where", ONE, 0, GOALS[0]);
    let dir = world.path("some where");
    std::fs::create_dir_all(&dir).expect("made");
    let command = |cwd: &str| {
        let done = world.reader(&["resume", "11111111"]).dir(world.path(cwd)).run().success();
        done.out().lines().find_map(|line| line.strip_prefix("Go on       ")).map(str::to_owned)
    };
    assert_eq!(command("some where"), Some(format!("claude --resume {ONE}")));
    assert_eq!(command("work"), Some(format!("cd '{}' && claude --resume {ONE}", dir.display())));
    let file = testdata(
        "agent-sdk/subagent/.claude/projects/-home-dev-src-subagent/9950c695-d225-412e-82df-8b4099c5f5d4/subagents/agent-a3dc05de4d5c8cef3.jsonl",
    );
    let file = file.to_str().expect("UTF-8");
    let text = world.reader(&["resume", file]).run().success().out().to_owned();
    assert!(text.starts_with("Session     agent-a3dc05de4d5c8cef3 (claude, a subagent's)\n"), "{text}");
    assert!(!text.contains("Go on"), "{text}");
    assert_eq!(json!([resumed(&world, &[file])["subagent"], resumed(&world, &[file])["resume"]]), json!([true, null]));
}

/// A transcript from anywhere brings along what lies beside it.
#[test]
fn what_lies_beside_a_file_given_by_path() {
    let world = World::new();
    let gemini = testdata("gemini/tools-resume@0.61.0/.gemini/tmp/proj/chats/session-2026-11-16T02-40-53efae45.jsonl");
    let gemini = resumed(&world, &[gemini.to_str().expect("UTF-8")]);
    assert_eq!(gemini["cwd"], "/home/dev/src/proj");
    let copilot = testdata("copilot/tools-resume@1.0.102/.copilot/session-state");
    let mut named = std::fs::read_dir(copilot).expect("a directory").map(|entry| entry.expect("one").path());
    let named = named.find(|dir| dir.to_string_lossy().contains("017d6175")).expect("the session");
    assert_eq!(resumed(&world, &[named.join("events.jsonl").to_str().expect("UTF-8")])["title"], "Second one");
}

/// How full the model's memory is: as the client counted for the last request, else by what was said; and what it holds, if
/// the transcript tells. 002-15
#[test]
fn tokens() {
    let world = World::new();
    let said = Script::of(&world).user(&"abcd".repeat(100)).save(&world, ONE);
    assert_eq!(resumed(&world, &[said.to_str().expect("UTF-8")])["token_budget"], json!({"used": 100, "limit": null}));
    let codex = testdata("codex/tools-resume@0.166.0/.codex/sessions/2026/11/16");
    let mut files = Vec::new();
    transcripts(&codex, &mut files);
    for file in files {
        let raw = std::fs::read_to_string(&file).expect("there");
        let mut counts = raw.lines().filter_map(|line| {
            let line: Value = serde_json::from_str(line).ok()?;
            let info = &line["payload"]["info"];
            info.is_object().then(
                || json!({"used": info["last_token_usage"]["total_tokens"], "limit": info["model_context_window"]}),
            )
        });
        let budget = &resumed(&world, &[file.to_str().expect("UTF-8")])["token_budget"];
        assert_eq!(Some(budget), counts.next_back().as_ref(), "{}", file.display());
    }
}

/// `last` is one session wherever it is said: to look at it, to call it done, to tag it. Questions in passing are not meant.
#[test]
fn last_is_what_resume_shows() {
    let world = World::new();
    work_in(&world, "work", ONE, 20, GOALS[0]);
    work_in(&world, "work", TWO, 10, GOALS[1]);
    let passing = "33333333-0000-4000-8000-000000000003";
    Script::new(world.path("work")).user("what time is it?").says("Late.").save(&world, passing);
    let run = |args: &[&str]| world.context(args).run();
    let shown = || {
        let done = world.reader(&["resume", "last", "--json"]).run();
        done.json().first().map_or(String::new(), |all| all["session_id"].to_string())
    };
    for id in [ONE, TWO] {
        assert!(shown().contains(id), "{}", shown());
        run(&["tag", "x", "--session", "last"]).success().stdout(&format!("{id}: x\n"));
        run(&["done", "last"])
            .success()
            .stdout(&format!("{id} is done: no session is told any more that the work stopped there.\n"));
    }
    // The question is all there is left.
    assert!(shown().contains(passing), "{}", shown());
    run(&["done", "last"]).success();
    run(&["done", "last"]).status(1).stdout("").stderr_has("all sessions of this project in that time are done");
    // What was done last is taken back first.
    for id in [passing, TWO, ONE] {
        run(&["done", "last", "--undo"]).success().stdout(&format!("{id} is no longer done.\n"));
        run(&["done", id, "--undo"]).success().stdout(&format!("{id} was not done.\n"));
    }
    let none = "session-context: no session of this project is done\n";
    run(&["done", "last", "--undo"]).status(1).stdout("").stderr(none);
    assert!(shown().contains(ONE), "{}", shown());
}

/// Who is at work has not stopped: what runs is said, and no crash.
#[test]
fn a_session_at_work() {
    let world = World::new();
    let script = Script::of(&world).user(GOALS[0]).runs("make", false);
    script.calls("Bash", json!({"command": "cargo build --release"})).save(&world, ONE);
    let at = |now: &str| world.reader(&["resume"]).env("SESSION_MONITOR_NOW", now).run().success().out().to_owned();
    let live = at("2026-11-16T01:04:00Z");
    let rows =
        "At work     1m ago, 01:03\nAsked last  Fix the slow login page\nRunning     Bash  cargo build --release\n";
    assert!(live.contains(rows) && !live.contains("crashed"), "{live}");
    let dead = at("2026-11-16T01:30:00Z");
    assert!(dead.contains("\nStopped     27m ago, 01:03; unfinished\n"), "{dead}");
    assert!(
        dead.contains("\nBlockers    crashed: Bash cargo build --release\n") && !dead.contains("Running"),
        "{dead}"
    );
}

/// A call whose result was lost is no crash if the agent went on; of two at once, one may have crashed.
#[test]
fn a_lost_result_is_no_crash() {
    let world = World::new();
    let lost = Script::of(&world).user(GOALS[0]).calls("Edit", json!({"file_path": "/p/a.rs"}));
    let went_on = lost.runs("make", false).runs("make", false);
    assert_eq!(kinds(&went_on.json()), []);
    let prompted = Script::of(&world).user(GOALS[0]).calls("Bash", json!({"command": "make"})).user("and now?");
    assert_eq!(kinds(&prompted.json()), []);
    let call =
        |id: &str, command: &str| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
    let both = json!([call("one", "make one"), call("two", "make two")]);
    let result = json!([{"type": "tool_result", "tool_use_id": "two", "content": "ok"}]);
    let one = Script::of(&world)
        .user(GOALS[0])
        .line("assistant", json!({"role": "assistant", "id": "m", "content": both}))
        .line("user", json!({"role": "user", "content": result}));
    assert_eq!(kinds(&one.json()), [("crashed", "Bash make one")]);
}

// ---- Every branch

/// The one list of a script that a test is about, by some of its keys.
fn rows_of(all: &Value, list: &str, keys: &[&str]) -> Value {
    let row = |item: &Value| keys.iter().map(|key| item[*key].clone()).collect::<Value>();
    all[list].as_array().expect("a list").iter().map(row).collect()
}

/// An error of the client in the place of an answer.
fn api_error(minute: usize, text: &str) -> Value {
    let message = json!({"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": text}]});
    json!({"type": "assistant", "isApiErrorMessage": true, "timestamp": at(minute), "uuid": format!("e{minute}"), "message": message})
}

/// Lines may stand in another order than they happened: the earliest and the latest time count.
#[test]
fn the_first_and_the_last_time() {
    let said = |minute: usize| json!({"type": "user", "uuid": format!("x{minute}"), "timestamp": at(minute), "message": {"role": "user", "content": "go on"}});
    let script = [5, 2, 9, 7].iter().fold(Script::of(&World::new()), |script, minute| script.raw(said(*minute)));
    let all = script.json();
    assert_eq!(
        json!([all["started_at"], all["last_activity_at"]]),
        json!(["2026-11-16T01:02:00.000Z", "2026-11-16T01:09:00.000Z"])
    );
}

/// A fork repeats the beginning of its origin, and a session may move: what is said first is its own. A file in its place
/// has the id that it is called by, whatever stands in it.
#[test]
fn ids_and_directories_that_are_told_twice() {
    let world = World::new();
    let origin = codex_line(0, "session_meta", json!({"id": TWO, "cwd": world.path("other")}));
    let copy = world.write("copy.jsonl", codex_meta(&world) + &origin + &rich_codex());
    let all = resumed(&world, &[copy.to_str().expect("UTF-8")]);
    assert_eq!(
        json!([all["session_id"], all["cwd"], all["resume"]]),
        json!([ONE, world.path("work"), format!("codex resume {ONE}")])
    );
    let place = format!(".codex/sessions/2026/11/16/rollout-2026-11-16T01-00-00-{ONE}.jsonl");
    world.write(place, origin + &rich_codex());
    assert_eq!(resumed(&world, &["1111"])["session_id"], ONE);
}

/// A person's title goes before the agent's, whichever was given last; one that is empty is none.
#[test]
fn titles() {
    let world = World::new();
    let by_person = |text: &str| json!({"type": "custom-title", "customTitle": text});
    let by_agent = |text: &str| json!({"type": "ai-title", "aiTitle": text});
    let start = || Script::of(&world).user(GOALS[0]);
    for (script, title) in [
        (start(), GOALS[0]),
        (start().raw(by_agent("Login")), "Login"),
        (start().raw(by_person("Mine")).raw(by_agent("Login")), "Mine"),
        (start().raw(by_agent("Login")).raw(by_person("Mine")).raw(by_person(" ")), "Login"),
    ] {
        let all = script.json();
        assert_eq!(json!([all["title"], all["current_work"]["thread_title"]]), json!([title, title]));
    }
}

/// What a client counts for the whole session is no request, and never falls; what it counts for a message may be repeated,
/// early with less. The window stays known. Characters are counted, not bytes.
#[test]
fn odd_counts_of_tokens() {
    let world = World::new();
    let count = |minute: usize, total: [u64; 2], context: Option<u64>, window: Option<u64>| {
        let total = json!({"input_tokens": total[0], "output_tokens": total[1]});
        let info = json!({"total_token_usage": total, "last_token_usage": {"total_tokens": context}, "model_context_window": window});
        codex_line(minute, "event_msg", json!({"type": "token_count", "info": info}))
    };
    let used = |rest: &str| {
        codex(&world, &(codex_said(1, "user", &"éa".repeat(200)) + rest));
        let all = resumed(&world, &["last"]);
        json!([all["tokens"], all["token_budget"]])
    };
    let expected = |input: u64, output: u64, used: u64, limit: Option<u64>| json!([{"input": input, "output": output}, {"used": used, "limit": limit}]);
    let whole = count(2, [700, 30], None, None);
    assert_eq!(used(&whole), expected(700, 30, 100, None));
    let last = count(3, [900, 40], Some(55), Some(2000));
    assert_eq!(used(&(whole.clone() + &last)), expected(900, 40, 55, Some(2000)));
    assert_eq!(used(&(last + &whole)), expected(900, 40, 55, Some(2000)));
    // Who gives a budget knows better than the transcript.
    assert_eq!(resumed(&world, &["last", "--budget", "77"])["token_budget"]["limit"], 77);

    let part = |at: usize, input: u64, output: u64| json!({"id": "m", "role": "assistant", "content": [{"type": "text", "text": format!("Part {at}.")}], "usage": {"input_tokens": input, "output_tokens": output}});
    let script = [(100, 1), (50, 9), (100, 4), (100, 9)]
        .iter()
        .enumerate()
        .fold(Script::of(&world).user("go"), |script, (at, (input, output))| {
            script.line("assistant", part(at, *input, *output))
        });
    let all = script.json();
    assert_eq!(json!([all["tokens"], all["messages"]]), json!([{"input": 100, "output": 9}, 2]));
}

/// What was typed while the agent was busy may be written once more as a prompt: that is one. Typed twice, it is two.
#[test]
fn queued_prompts() {
    let world = World::new();
    let queued = |minute: usize, text: &str| json!({"type": "attachment", "uuid": format!("q{minute}"), "timestamp": at(minute), "attachment": {"type": "queued_command", "prompt": text, "commandMode": "prompt"}});
    let said = |script: Script| {
        let all = script.json();
        (texts(&all["recent_messages"]).join("|"), all["messages"].clone())
    };
    let start = || Script::of(&world).user("go");
    assert_eq!(
        said(start().raw(queued(1, "and the footer")).user("and the footer")),
        ("go|and the footer".into(), json!(2))
    );
    assert_eq!(
        said(start().raw(queued(1, "again")).raw(queued(2, "again")).user("again")),
        ("go|again|again".into(), json!(3))
    );
    assert_eq!(said(start().raw(queued(1, "one")).user("two").user("one")), ("go|one|two|one".into(), json!(4)));
}

/// A call is a message only if it is part of one; the list counts the same.
#[test]
fn calls_without_a_message_are_not_counted() {
    let world = World::new();
    codex(&world, &rich_codex());
    let listed = world.reader(&["list", "--json"]).run().success().json();
    assert_eq!(json!([resumed(&world, &["last"])["messages"], listed[0]["messages"]]), json!([3, 3]));
}

/// How it ended, and what stands in the way, is told by what came last, of whatever kind.
#[test]
fn what_comes_last_counts() {
    let world = World::new();
    let start = || Script::of(&world).user(GOALS[0]);
    let result = |script: Script, id: &str| {
        let content = json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]);
        script.line("user", json!({"role": "user", "content": content}))
    };
    let make = json!({"command": "make"});
    let failed = || start().raw(api_error(1, "API Error: 429 {}"));
    let crashed = ("crashed", "Bash make");
    type Case<'c> = (&'c str, Script, &'c str, &'c [(&'c str, &'c str)]);
    let cases: [Case; 9] = [
        ("a call", start().says("I begin.").calls("Bash", make.clone()), "unfinished", &[crashed]),
        ("a result", start().says("I begin.").runs("make", false), "unfinished", &[]),
        ("an answer", start().runs("make", false).says("Done."), "answered", &[]),
        ("a prompt", start().says("Shall I go on?").user("yes"), "unfinished", &[]),
        ("an error", failed(), "failed", &[("limit", "API Error: 429 {}")]),
        ("a prompt after an error", failed().user("go on"), "unfinished", &[]),
        ("a call after an error", failed().runs("make", false), "unfinished", &[]),
        ("an answer after an error", failed().says("Back again."), "answered", &[]),
        // What comes in after the user has stopped the agent does not start it again.
        (
            "a late result",
            result(start().calls("Bash", make).user("[Request interrupted by user for tool use]"), "t1"),
            "interrupted",
            &[],
        ),
    ];
    for (name, script, ending, blockers) in cases {
        let all = script.json();
        assert_eq!((all["ending"].as_str(), kinds(&all)), (Some(ending), blockers.to_vec()), "{name}");
    }
    // Three at once: who has said something after the results of two does not wait for the third.
    let call =
        |id: &str| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": format!("make {id}")}});
    let three = json!({"role": "assistant", "id": "m", "content": [call("one"), call("two"), call("three")]});
    let went_on = result(result(start().line("assistant", three), "two").says("On we go."), "three");
    let all = went_on.json();
    assert_eq!((all["ending"].as_str(), kinds(&all)), (Some("unfinished"), vec![]));
}

/// A call without a result is in the history only if it looked at something and the agent went on; in its place.
#[test]
fn calls_without_a_result_in_the_history() {
    let world = World::new();
    let targets = |all: &Value| rows_of(all, "tool_history", &["target"]);
    let make = json!({"command": "make"});
    let lost = Script::of(&world).user(GOALS[0]).calls("Bash", make).calls("Read", json!({"file_path": "/p/a"}));
    let lost = lost.calls("Read", json!({})).runs("ls", false).says("Done.");
    assert_eq!(targets(&lost.json()), json!([["/p/a"], ["ls"]]));
    let path = Script::of(&world).user(GOALS[0]).calls("Read", json!({"file_path": "/p/a"})).save(&world, ONE);
    let live = world.reader(&["resume", path.to_str().expect("UTF-8"), "--json"]);
    let live = json_of(&live.env("SESSION_MONITOR_NOW", "2026-11-16T01:02:00Z").run().success());
    assert_eq!(
        json!([live["ending"], targets(&live), live["current_work"]["running"]["target"]]),
        json!(["working", [], "/p/a"])
    );
    // A call that has no id never gets a result, and is done.
    let content = json!([{"type": "tool_use", "name": "Bash", "input": {"command": "make"}}]);
    let nameless = Script::of(&world)
        .user(GOALS[0])
        .line("assistant", json!({"role": "assistant", "id": "m", "content": content}));
    assert_eq!(rows_of(&nameless.json(), "commands", &["command", "failed"]), json!([["make", false]]));
}

/// The last thing the agent did is one that succeeded and that was done to something, as long as there is one.
#[test]
fn the_last_action() {
    let world = World::new();
    let start = || Script::of(&world).user(GOALS[0]);
    let todos = json!({"todos": []});
    for (script, action) in [
        (start().runs("make", false).runs("ls", true), json!(["Bash", "make"])),
        (start().runs("make", false).does("TodoWrite", todos.clone()), json!(["Bash", "make"])),
        (start().runs("make", false).does("Read", json!({})), json!(["Bash", "make"])),
        (start().runs("ls", true).does("TodoWrite", todos).runs("ls", true), json!(["TodoWrite", ""])),
        (start().runs("make", true).runs("ls", true), json!(["Bash", "ls"])),
        (start().says("Nothing."), json!([null, null])),
    ] {
        let action_of = &script.json()["current_work"]["last_agent_action"];
        assert_eq!(json!([action_of["tool"], action_of["target"]]), action);
    }
}

/// Of very much the newest stays: prompts, calls, messages, decisions; and of a long text both ends.
#[test]
fn the_newest_of_very_much() {
    let world = World::new();
    let start = || Script::of(&world).user(GOALS[0]);
    let many = (0..130).fold(start(), |script, at| {
        let id = format!("b{at}");
        let call = json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": format!("echo {at}")}}]);
        let result = json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]);
        script
            .raw(json!({"type": "user", "uuid": format!("p{at}"), "timestamp": at_second(at), "message": {"role": "user", "content": format!("number {at}")}}))
            .raw(json!({"type": "assistant", "uuid": format!("c{at}"), "timestamp": at_second(at), "message": {"id": id, "role": "assistant", "content": call}}))
            .raw(json!({"type": "user", "uuid": format!("r{at}"), "timestamp": at_second(at), "message": {"role": "user", "content": result}}))
    });
    let all = many.json();
    let targets = rows_of(&all, "tool_history", &["target"]);
    assert_eq!(targets, (80..130).map(|at| json!([format!("echo {at}")])).collect::<Value>());
    let said = rows_of(&all, "recent_messages", &["role", "text"]);
    assert_eq!(said, (110..130).map(|at| json!(["user", format!("number {at}")])).collect::<Value>());
    let commands = rows_of(&all, "commands", &["command"]);
    assert_eq!(commands.as_array().and_then(|all| all.last()), Some(&json!(["echo 129"])));
    // The text shows the last ten commands.
    let path = world.write("s.jsonl", many.text());
    let text = world.reader(&["resume", path.to_str().expect("UTF-8")]).run().success().out().to_owned();
    let shown: Vec<_> =
        text.lines().filter(|line| line[12..].starts_with("ok  echo ")).map(|line| &line[21..]).collect();
    assert_eq!(shown, (120..130).map(|at| at.to_string()).collect::<Vec<_>>(), "{text}");

    let names: Vec<String> = ('a'..='z').map(|char| format!("{}store", char.to_string().repeat(3))).collect();
    let decided = names.iter().fold(start(), |script, name| script.user(&format!("let's use {name} there")));
    let kept: Vec<String> = names[1..].iter().map(|name| format!("let's use {name} there")).collect();
    assert_eq!(texts(&decided.json()["decisions"]), kept);

    let long = "It took a while. ".repeat(1000);
    let said = start().says(&format!("{long}\n\n## Next steps\n- Publish the crate\n"));
    let path = world.write("long.jsonl", said.text());
    assert_eq!(texts(&resumed(&world, &[path.to_str().expect("UTF-8")])["open_tasks"]), ["Publish the crate"]);
}

/// A second of the hour before two.
fn at_second(second: usize) -> String {
    format!("2026-11-16T01:{:02}:{:02}Z", second / 60, second % 60)
}

/// Only what the user refused is a refusal, however the client puts it; a plan that failed otherwise was not rejected.
#[test]
fn refusals() {
    let world = World::new();
    let start = || Script::of(&world).user(GOALS[0]);
    let remove = json!({"command": "rm x"});
    for (result, denied) in [
        ("The user doesn't want to proceed with this tool use. The tool use was rejected.", true),
        ("The user doesn't want to take this action right now. STOP what you are doing.", true),
        ("\n Permission to use Bash with command rm x has been denied.", true),
        ("User rejected tool use", true),
        ("The user rejected this command", true),
        ("rm: cannot remove 'x': Permission denied", false),
        ("log: The user rejected this command", false),
    ] {
        let expected: &[_] = if denied { &[("denied", "Bash rm x")] } else { &[] };
        assert_eq!(kinds(&start().calls("Bash", remove.clone()).result(true, result).json()), expected, "{result}");
        // What succeeded was not refused, whatever it printed.
        assert_eq!(kinds(&start().calls("Bash", remove.clone()).result(false, result).json()), [], "{result}");
    }
    let planned = |plan: &str, failed: bool, result: &str| {
        let all = start().calls("ExitPlanMode", json!({"plan": plan})).result(failed, result).user("go on").json();
        (texts(&all["decisions"]).join("|"), kinds(&all).len())
    };
    let no = "The user doesn't want to proceed with this tool use.";
    assert_eq!(planned("\n\n- Use decimals\n- Test", true, no), ("rejected the plan \"Use decimals\"".into(), 0));
    assert_eq!(planned("* Use decimals", false, "ok"), ("approved the plan \"Use decimals\"".into(), 0));
    assert_eq!(planned("# Use decimals", true, "You are not in plan mode."), (String::new(), 0));
}

/// Answers are decisions: each of several, and one that is not in quotes.
#[test]
fn answers_to_questions() {
    let world = World::new();
    let ask = json!({"questions": [{"question": "Which database shall I use?"}, {"question": "Which cache?"}]});
    let answered = |failed: bool, result: &str| {
        let all = Script::of(&world).user("Choose").calls("AskUserQuestion", ask.clone()).result(failed, result).json();
        texts(&all["decisions"]).join("|")
    };
    let both = r#"User has answered: "Which database?"="PostgreSQL", "Which cache?"="none". You can now continue."#;
    assert_eq!(answered(false, both), "Which database? PostgreSQL|Which cache? none");
    assert_eq!(answered(false, "PostgreSQL it is. Thanks."), "Which database shall I use? PostgreSQL it is.");
    assert_eq!(answered(true, both), "");
}

/// What failed is the first line of a command that tests, builds or checks, and once; a commit that failed is none.
#[test]
fn failing_commands() {
    let world = World::new();
    let start = || Script::of(&world).user(GOALS[0]);
    for command in ["cargo test", "cargo build", "cargo clippy"] {
        let script = start().runs(command, true).runs(&format!("{command}\necho done"), true);
        assert_eq!(kinds(&script.json()), [("failing", command)], "{command}");
        assert_eq!(kinds(&start().runs(command, true).runs(command, false).json()), [], "{command}");
    }
    let first_line = start().runs("cargo test --all\necho done", true).json();
    assert_eq!(kinds(&first_line), [("failing", "cargo test --all")]);
    let commit = |failed: bool| start().runs("git commit -m 'Round totals'", failed).json()["commits"].clone();
    assert_eq!((texts(&commit(false)), texts(&commit(true))), (vec!["Round totals"], vec![]));
}

/// Files that come and go: one that is deleted is said so, and is nothing that was made.
#[test]
fn files_that_are_deleted() {
    let world = World::new();
    let patch = |minute: usize, lines: &str| {
        let patch = format!("*** Begin Patch\n{lines}*** End Patch\n");
        codex_call(minute, "apply_patch", &json!(patch), "Exit code: 0\n")
    };
    let lines = codex_said(1, "user", "Tidy up the modules")
        + &patch(2, "*** Add File: new.py\n+def one():\n+    pass\n")
        + &patch(3, "*** Delete File: new.py\n")
        + &patch(4, "*** Delete File: old.py\n")
        + &patch(5, "*** Add File: kept.py\n+x = 1\n");
    codex(&world, &lines);
    let rows = "\
Files       kept.py  new, 1 line  01:05
            old.py  deleted  01:04
            new.py  deleted, the last of 2 edits  01:03
";
    let text = world.reader(&["resume"]).run().success().out().to_owned();
    assert!(text.contains(rows), "{text}");
    let all = resumed(&world, &[]);
    assert_eq!(
        rows_of(&all, "files_modified", &["path", "action"]),
        json!([["new.py", "delete"], ["old.py", "delete"], ["kept.py", "create"]])
    );
    let codes = world.reader(&["resume", "--codes"]).run().success().out().to_owned();
    assert_eq!(codes.lines().filter(|code| code.ends_with(".py")).collect::<Vec<_>>(), ["impl:kept.py"]);
}

/// What clients say where a file was there before.
#[test]
fn files_that_were_there() {
    let world = World::new();
    for (result, summary) in [
        ("The file /p/a has been updated successfully.", "rewritten, 1 line"),
        ("Successfully overwrote file: /p/a", "rewritten, 1 line"),
        ("/p/a was overwritten", "rewritten, 1 line"),
        ("File created successfully at: /p/a", "new, 1 line"),
    ] {
        let write = json!({"file_path": "/p/a", "content": "x\n"});
        let all = Script::of(&world).user(GOALS[0]).calls("Write", write).result(false, result).json();
        assert_eq!(all["files_modified"][0]["summary"], summary, "{result}");
    }
    // A function that is edited twice is one.
    let edit = |body: &str| json!({"file_path": "/p/a.py", "old_string": "x", "new_string": format!("def total():\n    {body}\n")});
    let all = Script::of(&world).user(GOALS[0]).does("Edit", edit("one")).does("Edit", edit("two")).json();
    assert_eq!(rows_of(&all, "functions", &["name", "line"]), json!([["total", 2]]));
}

/// Tasks: a new list takes the place of the old one; a task is known by its id, which may stand in the answer; what a change
/// does not name stays as it was.
#[test]
fn tasks() {
    let world = World::new();
    let start = || Script::of(&world).user("Make the release");
    let tasks = |script: Script| rows_of(&script.json(), "tasks", &["text", "state", "line"]);
    let list = |text: &str| json!({"todos": [{"content": text, "status": "pending"}]});
    let again = start().does("TodoWrite", list("Old one")).does("TodoWrite", list("New one"));
    assert_eq!(tasks(again), json!([["New one", "open", 4]]));
    let failed = start().does("TodoWrite", list("Old one")).calls("TodoWrite", list("New one")).result(true, "no");
    assert_eq!(tasks(failed), json!([["Old one", "open", 2]]));

    let create = |text: &str| json!({"subject": text});
    let update = |script: Script, id: &str, rest: Value| {
        let mut input = rest;
        input["taskId"] = json!(id);
        script.does("TaskUpdate", input)
    };
    // The answer tells the number, or there is none, and they are counted.
    let told = start().calls("TaskCreate", create("Build it")).result(false, "Task #7 created");
    assert_eq!(tasks(update(told, "7", json!({"status": "completed"}))), json!([["Build it", "done", 4]]));
    let untold = || {
        start()
            .does("TaskCreate", create("Build it"))
            .calls("TaskCreate", create("Ship it"))
            .result(false, "Task # made")
    };
    assert_eq!(
        tasks(update(untold(), "2", json!({"status": "in_progress"}))),
        json!([["Build it", "open", 2], ["Ship it", "active", 6]])
    );
    let renamed =
        update(update(untold(), "2", json!({"status": "in_progress"})), "2", json!({"subject": "Ship it twice"}));
    assert_eq!(tasks(renamed), json!([["Build it", "open", 2], ["Ship it twice", "active", 8]]));
    assert_eq!(
        tasks(update(untold(), "9", json!({"status": "completed"}))),
        json!([["Build it", "open", 2], ["Ship it", "open", 4]])
    );

    // What is dropped is neither shown nor to be done; what is blocked is marked, and still to be done.
    let states = json!({"todos": [{"content": "Wait for Ana", "status": "blocked"}, {"content": "Rest", "status": "cancelled"}]});
    let script = start().does("TodoWrite", states);
    let all = script.json();
    assert_eq!(rows_of(&all, "pending_tasks", &["text", "state"]), json!([["Wait for Ana", "blocked"]]));
    let path = world.write("s.jsonl", script.text());
    let text = world.reader(&["resume", path.to_str().expect("UTF-8")]).run().success().out().to_owned();
    assert!(text.contains("\nTasks       [!] Wait for Ana\nBlockers    task: Wait for Ana\n"), "{text}");
    assert!(!text.contains("Rest"), "{text}");
}

/// A summary is told without what the client says before it, and without what it tells the model to do with it.
#[test]
fn summaries_are_bare() {
    let world = World::new();
    let before = "This session is being continued from a previous conversation that ran out of context.";
    for (told, bare) in [
        ("Totals are rounded.", "Totals are rounded."),
        (
            &format!("{before}\n\nTotals are rounded.\nContinue the conversation from where it left off."),
            "Totals are rounded.",
        ),
        (
            &format!("{before}\nTotals are rounded.\n\nPlease continue the conversation from where we left it."),
            "Totals are rounded.",
        ),
        ("Continue the conversation from where it left off.", "Continue the conversation from where it left off."),
        (before, before),
    ] {
        let summary = json!({"type": "user", "uuid": "c", "isCompactSummary": true, "timestamp": at(2), "message": {"role": "user", "content": told}});
        let all = Script::of(&world).user(GOALS[0]).says("Done.").raw(summary).json();
        assert_eq!(all["summary"]["text"], bare, "{told}");
    }
    // Without one, the last answer sums it up.
    assert_eq!(Script::of(&world).user(GOALS[0]).says("Done.").json()["summary"]["text"], "Done.");
}

/// What is next is told once; a prompt is next only until somebody answers it, and only if it asks for something.
#[test]
fn next_is_told_once() {
    let world = World::new();
    let next = |script: Script| texts(&script.json()["open_tasks"]).join("|");
    let start = || Script::of(&world).user("Make the release");
    let todos = json!({"todos": [{"content": "Publish the crate", "status": "pending"}]});
    let twice = start().does("TodoWrite", todos).says("Done.\n\n## Next steps\n- Publish the crate\n- Tell Ana\n");
    assert_eq!(next(twice), "Publish the crate|Tell Ana");
    assert_eq!(next(start().says("Done.").user(GOALS[1])), GOALS[1]);
    assert_eq!(next(start().says("Done.").user(GOALS[1]).says("Done.")), "");
    assert_eq!(next(start().says("Done.").user(GOALS[1]).calls("Bash", json!({"command": "make"}))), "");
    assert_eq!(next(start().says("Done.").user("ok thanks")), "");
}

/// Edits that failed are told until the next prompt; nothing else that failed is, and nothing makes up for it but success.
#[test]
fn edits_that_failed() {
    let world = World::new();
    let fails = |script: Script, tool: &str, path: &str| {
        let input = json!({"file_path": path, "old_string": "a", "new_string": "b"});
        script.calls(tool, input).result(true, "String to replace not found in file.")
    };
    let start = || Script::of(&world).user(GOALS[0]);
    let failed = |script: Script| {
        let path = world.write("s.jsonl", script.text());
        let text = world.reader(&["resume", path.to_str().expect("UTF-8")]).run().success().out().to_owned();
        let mut rows = text.lines().skip_while(|line| !line.starts_with("Failed "));
        let first = rows.next();
        first
            .into_iter()
            .chain(rows.take_while(|row| row.starts_with("  ")))
            .map(|row| row[12..].to_owned())
            .collect::<Vec<_>>()
            .join("|")
    };
    assert_eq!(failed(fails(start(), "Edit", "/p/a")), "Edit  /p/a");
    assert_eq!(failed(fails(start(), "Read", "/p/a").runs("ls", true)), "");
    assert_eq!(failed(fails(fails(start(), "Edit", "/p/a"), "Edit", "/p/b")), "Edit  /p/a|Edit  /p/b");
    assert_eq!(failed(fails(fails(start(), "Edit", "/p/a"), "Read", "/p/a")), "Edit  /p/a");
    let mended = json!({"file_path": "/p/a", "old_string": "a", "new_string": "b"});
    assert_eq!(failed(fails(start(), "Edit", "/p/a").does("Edit", mended)), "");
    assert_eq!(failed(fails(start(), "Edit", "/p/a").user("leave it")), "");
}

/// The shapes of a row: dates that are not today's, nothing where nothing is known, and every kind of row.
#[test]
fn rows() {
    let world = World::new();
    let shown = |script: &Script, columns: &str, now: &str| {
        script.save(&world, ONE);
        let run = world.reader(&["resume", "1111"]).env("COLUMNS", columns).env("SESSION_MONITOR_NOW", now);
        run.run().success().out().to_owned()
    };
    let script = Script::of(&world).user(GOALS[0]).writes("/p/a.rs", "x").user("tag it").says("Done.");
    let text = "\
Session     11111111-0000-4000-8000-000000000001 (claude)
Stopped     1d ago, 2026-11-16 01:04; answered
Asked last  Fix the slow login page
Then        tag it
Said last   Done.
Files       /p/a.rs  new, 1 line  2026-11-16 01:01
Tokens      1k in, 10 out
Go on       claude --resume 11111111-0000-4000-8000-000000000001
";
    assert_eq!(shown(&script, "160", "2026-11-17T03:00:00Z"), text);
    // Of many files the newest ten, and of many tokens as much as the list tells.
    let usage = json!({"role": "assistant", "id": "u", "content": [], "usage": {"input_tokens": 892_000_000, "output_tokens": 12_345}});
    let many = (0..13).fold(script, |script, at| script.writes(&format!("/p/{at}.rs"), "x")).line("assistant", usage);
    let many = shown(&many, "160", "2026-11-16T02:00:00Z");
    let (first, last) = ("Files       /p/12.rs  new, 1 line  01:29\n", "            /p/3.rs  new, 1 line  01:11\n");
    assert!(many.contains(first) && many.contains(&format!("{last}            +4 more\n")), "{many}");
    assert!(many.contains("\nTokens      892M in, 12k out\n"), "{many}");
    // A row has room for some words on any screen.
    let open = Script::of(&world).user(GOALS[0]).says("Done.").user("Add the export to spreadsheets for all customers");
    open.save(&world, ONE);
    world.context(&["done", ONE]).run().success();
    let text = "\
Session     11111111-0000-4000-…
Stopped     58m ago, 01:02; unf…
Asked last  Add the export to s…
Said last   Done.
Tokens      1k in, 10 out
Go on       claude --resume 11111111-0000-4000-8000-000000000001
";
    assert_eq!(shown(&open, "20", "2026-11-16T02:00:00Z"), text);
    let stopped = shown(&open, "80", "2026-11-16T02:00:00Z");
    assert_eq!(stopped.lines().nth(1), Some("Stopped     58m ago, 01:02; unfinished; marked done"));
    // Nobody knows when.
    let timeless = json!({"type": "user", "uuid": "x", "message": {"role": "user", "content": "hi there"}}).to_string();
    let path = world.write("timeless.jsonl", timeless + "\n");
    let text = world.reader(&["resume", path.to_str().expect("UTF-8")]).run().success().out().to_owned();
    assert_eq!(text.lines().nth(1), Some("Stopped     unfinished"), "{text}");
}

/// Whose name it has in its home comes first.
#[test]
fn the_name_in_the_first_row() {
    let world = World::new();
    world.write("work/.volute/sessions/discord.json", json!({"sessionId": ONE}).to_string());
    work_in(&world, "work", ONE, 0, GOALS[0]);
    // In a named home those without a name are nobody's.
    work_in(&world, "work", TWO, 30, GOALS[1]);
    let text = world.reader(&["resume"]).run().success().out().to_owned();
    assert_eq!(text.lines().next(), Some(&*format!("Session     discord, {ONE} (claude)")));
    assert_eq!(resumed(&world, &[])["name"], "discord");
}

/// What was read and what was edited: each file once, by the more of the two; not what failed; and also what was edited
/// longer ago than the history goes.
#[test]
fn files_that_were_touched() {
    let world = World::new();
    let file = |path: &str| json!({"file_path": path});
    let script = Script::of(&world).user(GOALS[0]).writes("/p/old.rs", "x");
    let script = (0..110).fold(script, |script, _| script.runs("make", false));
    let all = script
        .does("Read", file("/p/read.rs"))
        .does("Read", file("/p/both.rs"))
        .writes("/p/both.rs", "x")
        .writes("/p/later.rs", "x")
        .does("Read", file("/p/later.rs"))
        .calls("Read", file("/p/gone.rs"))
        .result(true, "File does not exist.")
        .json();
    assert_eq!(
        rows_of(&all, "files_touched", &["path", "act", "line"]),
        json!([
            ["/p/read.rs", "read", 224],
            ["/p/both.rs", "edit", 228],
            ["/p/later.rs", "edit", 230],
            ["/p/old.rs", "edit", 2]
        ])
    );
    let failed: Vec<_> = all["tool_history"].as_array().into_iter().flatten().map(|call| &call["failed"]).collect();
    assert_eq!(failed[failed.len() - 2..], [&json!(false), &json!(true)]);
}

/// Messages of both sides, in the order in which they were said.
#[test]
fn messages_of_both_sides() {
    let world = World::new();
    let all = Script::of(&world).user("one").says("Two.").user("three").says("Four.").json();
    let expected = json!([["user", "one"], ["assistant", "Two."], ["user", "three"], ["assistant", "Four."]]);
    assert_eq!(rows_of(&all, "recent_messages", &["role", "text"]), expected);
}

/// A code is told once, has at most 80 bytes and no dash at its end, and is none without a word; a test counts that passed.
#[test]
fn codes_that_are_odd() {
    let todo = |text: &str| json!({"content": text, "status": "pending"});
    let (cut, whole) = (format!("{} b", "a".repeat(79)), "c".repeat(80));
    let todos = json!({"todos": [todo(&cut), todo(&whole), todo(&format!("{whole}d")), todo("\u{200b}"), todo("same"), todo("same ")]});
    let script = Script::of(&World::new()).user("go").runs("pytest", true).runs("pytest", false).runs("pytest", false);
    let codes = script.runs("go test ./...", true).does("TodoWrite", todos).codes();
    let expected = [
        "test:pytest".to_owned(),
        "block:failing:go-test-./...".to_owned(),
        format!("next:{}", "a".repeat(79)),
        format!("next:{whole}"),
        "next:same".to_owned(),
    ];
    assert_eq!(codes, expected);
}

/// A shell takes the command, whatever the directory is called.
#[test]
fn the_command_is_quoted() {
    let world = World::new();
    for (dir, quoted) in [("it's here", r"it'\''s here"), ("a b", "a b"), ("$x", "$x")] {
        work_in(&world, dir, ONE, 0, GOALS[0]);
        let command = resumed(&world, &["1111"])["resume"].clone();
        let below = world.path("").display().to_string();
        let expected = format!("cd '{}/{quoted}' && claude --resume {ONE}", below.trim_end_matches('/'));
        assert_eq!(command, expected);
        std::fs::remove_dir_all(world.path(".claude")).expect("removed");
    }
    work_in(&world, "plain-1.0_x", ONE, 0, GOALS[0]);
    let plain = format!("cd {} && claude --resume {ONE}", world.path("plain-1.0_x").display());
    assert_eq!(resumed(&world, &["1111"])["resume"], plain);
}

/// Who asks from within a session means another one; a week is a week to the moment; and of many questions in passing the
/// last work is found still.
#[test]
fn the_last_session_is_another() {
    let world = World::new();
    work_in(&world, "work", ONE, 0, GOALS[0]);
    work_in(&world, "work", TWO, 10, GOALS[1]);
    let shown = |name: &str, value: &str| asked(&world.reader(&["resume"]).env(name, value).run().success());
    assert_eq!(shown("CLAUDE_CODE_SESSION_ID", TWO), GOALS[0]);
    assert_eq!(shown("CLAUDE_CODE_SESSION_ID", ONE), GOALS[1]);
    assert_eq!(shown("GEMINI_SESSION_ID", TWO), GOALS[1]);
    assert_eq!(shown("SESSION_MONITOR_NOW", "2026-11-23T01:13:00Z"), GOALS[1]);
    world.reader(&["resume"]).env("SESSION_MONITOR_NOW", "2026-11-23T01:13:00.001Z").run().status(1);
    for number in 0..15 {
        let mut passing = Script::of(&world);
        passing.from = 20 + number;
        passing.user("what time is it?").says("Late.").save(&world, &format!("4444{number:04}-0000"));
    }
    assert_eq!(shown("TERM", "dumb"), GOALS[1]);
}

/// One line that does not fit is said in the singular.
#[test]
fn one_line_too_many() {
    let world = World::new();
    Script::of(&world).user("hi").writes("/p/a.rs", "x").save(&world, ONE);
    let run = |budget: &str| world.reader(&["resume", "--codes", "--budget", budget]).run();
    run("5")
        .status(0)
        .stdout("proj:work\n")
        .stderr("session-reader: 1 line does not fit into 5 tokens; see --budget\n");
    run("9").success().stdout("proj:work\nimpl:a.rs\n");
}

/// Secrets are shown as they are, unless the user has set that they are not; in codes, which are for agents, never.
#[test]
fn secrets_may_be_hidden() {
    let world = World::new();
    let secret = "ghp_Ab1cdEFghIJklMNopQRstUVwxyz0123456789";
    Script::of(&world)
        .user(&format!("let's use \"{secret}\" for the upload"))
        .runs(&format!("cargo test --token {secret}"), true)
        .save(&world, ONE);
    for (form, always) in [(&[][..], false), (&["--codes"], true), (&["--json"], false)] {
        let run = |redact: &str| {
            let run = world.reader(&[&["resume"], form].concat()).env("SESSION_READER_REDACT", redact);
            run.run().success().out().to_owned()
        };
        let (shown, hidden) = (run("false"), run("true"));
        assert_eq!((shown.contains(secret), shown.contains("[redacted]")), (!always, always), "{shown}");
        assert!(!hidden.contains("ghp_") && hidden.contains("[redacted]"), "{hidden}");
        let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap_or(json!(text));
        assert_eq!(parsed(&hidden), parsed(&shown.replace(secret, "[redacted]")));
    }
}

/// A line that lists the conversation again adds nothing to it: neither what was said nor what was not, as in the list.
#[test]
fn what_is_listed_again_is_not_said_again() {
    let world = World::new();
    world.write(".gemini/tmp/work/.project_root", world.path("work").display().to_string());
    let message = |id: &str, kind: &str, text: &str| json!({"id": id, "timestamp": at(1), "type": kind, "content": [{"text": text}]});
    let (asked, answered) = (message("a", "user", GOALS[0]), message("b", "gemini", "Done."));
    let head = json!({"sessionId": ONE, "projectHash": "p", "startTime": at(0), "kind": "main"});
    let again = json!({"$set": {"messages": [asked, answered, message("c", "user", GOALS[1])]}});
    let lines = [head, asked, answered, again].map(|line| format!("{line}\n")).concat();
    world.write(".gemini/tmp/work/chats/session-2026-11-16T01-00-11111111.jsonl", lines);
    let all = resumed(&world, &["last"]);
    assert_eq!(texts(&all["recent_messages"]), [GOALS[0], "Done."]);
    let listed = world.reader(&["list", "--json"]).run().success().json();
    assert_eq!(json!([all["messages"], listed[0]["messages"]]), json!([2, 2]));
    // The name of the file has only the beginning of the id.
    assert_eq!(json!([all["session_id"], listed[0]["id"]]), json!([ONE, ONE]));
}

/// Whose turn it is follows from how it ended, as in the list; after an hour of silence it is nobody's.
#[test]
fn the_state_after_every_ending() {
    let world = World::new();
    let start = || Script::of(&world).user(GOALS[0]);
    for (script, ending, state) in [
        (start(), "working", "working"),
        (start().runs("make", false), "working", "working"),
        (start().says("Done."), "answered", "waiting"),
        (start().says("Shall I go on?"), "answered", "waiting"),
        (start().user("[Request interrupted by user]"), "interrupted", "waiting"),
        (start().raw(api_error(1, "API Error: 500")), "failed", "error"),
    ] {
        script.save(&world, ONE);
        let told = |now: &str| {
            let run = |args: &[&str]| json_of(&world.reader(args).env("SESSION_MONITOR_NOW", now).run().success());
            let (all, listed) = (run(&["resume", "1111", "--json"]), run(&["list", "--json"]));
            assert_eq!(all["state"], listed["state"], "{ending}");
            json!([all["ending"], all["state"]])
        };
        assert_eq!(told("2026-11-16T01:04:00Z"), json!([ending, state]));
        let (ending, state) =
            (if ending == "working" { "unfinished" } else { ending }, if state == "error" { state } else { "idle" });
        assert_eq!(told("2026-11-16T03:00:00Z"), json!([ending, state]));
    }
}

/// What came last says more: the last decisions and the last work stay. Shares are of what the head leaves, so that none
/// takes all of it.
#[test]
fn what_stays_in_a_small_budget() {
    let world = World::new();
    let codes = |budget: usize| {
        let done = world.reader(&["resume", "--codes", "--budget", &budget.to_string()]).run().status(0);
        done.out().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let done: Vec<_> = (0..9).map(|at| json!({"content": format!("Item {at}"), "status": "completed"})).collect();
    much(&world, 0, 9, 0).does("TodoWrite", json!({"todos": done})).save(&world, ONE);
    assert_eq!(
        codes(60),
        [
            "proj:work",
            "done:Item-6",
            "done:Item-7",
            "done:Item-8",
            "dec:said:let's-use-terraform-there",
            "dec:said:let's-use-grafana-there",
            "dec:said:let's-use-webpack-there"
        ]
    );
    much(&world, 8, 8, 8).save(&world, ONE);
    for at in 0..6 {
        world.context(&["note", "decision", &format!("{at} {}", "x".repeat(70))]).run().success();
    }
    let head: usize = codes(9000)
        .iter()
        .filter(|code| code.contains("xxx") || code.starts_with("proj:"))
        .map(|code| cost(code))
        .sum();
    let some = codes(head + 100);
    let counts = ["impl:", "dec:said:", "block:", "dec:"].map(|prefix| count(&some, prefix));
    assert_eq!(counts, [3, 1, 5, 7], "{some:#?}");
}
