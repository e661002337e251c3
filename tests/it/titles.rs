//! What a session is called: titles that clients write, and sessions that are none.

use serde_json::{Value, json};

use crate::support::claude::{answer_as_written as answer, lines, prompt, with};
use crate::support::hook::{hook, input, text};
use crate::support::times::ago;
use crate::support::world::{ID, ME, World};

fn titles(world: &World) -> Vec<String> {
    let rows = world.reader(&["list", "--all", "--json"]).run().json();
    rows.iter()
        .map(|row| row["title"].as_str().unwrap_or("-").to_owned())
        .collect()
}

fn summary(text: &str, leaf: &str) -> String {
    json!({"type": "summary", "summary": text, "leafUuid": leaf}).to_string()
}

fn said(uuid: &str) -> String {
    let content = json!([{"type": "text", "text": "round the total to cents"}]);
    json!({"type": "user", "uuid": uuid, "timestamp": "2026-08-01T10:00:00.000Z", "message": {"role": "user", "content": content}})
        .to_string()
}

/// Older versions of Claude Code write the summaries of other sessions into a transcript. One counts only if the line it
/// is about is in the file, before it or after it.
#[test]
fn summaries_of_other_sessions_are_no_titles() {
    let (own, foreign) = (
        summary("Rounding", "a1"),
        summary("Logo colours", "elsewhere"),
    );
    let (prompt, reply) = (said("u1"), answer("a1", "10:01", "Done."));
    for (all, expected) in [
        (vec![&foreign, &prompt, &reply], "round the total to cents"),
        (vec![&prompt, &reply, &foreign], "round the total to cents"),
        (vec![&own, &prompt, &reply], "Rounding"),
        (vec![&foreign, &own, &foreign, &prompt, &reply], "Rounding"),
        (vec![&prompt, &reply, &own], "Rounding"),
        (vec![&prompt, &reply, &own, &foreign], "Rounding"),
    ] {
        let all: Vec<&str> = all.into_iter().map(String::as_str).collect();
        let world = World::new();
        world.claude(ID, &lines(&all));
        assert_eq!(titles(&world), [expected], "{all:?}");
        // Read on from any line, it is the same.
        let world = World::new();
        let path = world.claude(ID, "");
        for line in &all {
            world.append(&path, lines(&[line]));
            titles(&world);
        }
        assert_eq!(titles(&world), [expected], "line by line: {all:?}");
    }
}

/// The hook calls a session by the same title as the list.
#[test]
fn the_hook_knows_no_foreign_titles_either() {
    let world = World::new();
    let cwd = world.path("work");
    world.claude(
        ID,
        &(lines(&[&summary("Logo colours", "elsewhere")])
            + &prompt(&cwd, &ago(5), "round the total to cents")),
    );
    let told = text(&hook(&world, &[], &input(&world, ME)).run().success());
    assert!(
        told.contains("round the total to cents") && !told.contains("Logo"),
        "{told}"
    );
}

const CODEX: &str = "0190ab00-aaaa-7bbb-8ccc-000000000001";
const HELPER: &str = "0190ab00-aaaa-7bbb-8ccc-000000000002";

fn codex(world: &World, id: &str, lines_after: &[Value]) {
    let mut all = vec![json!({"timestamp": "2026-08-01T10:00:00.000Z", "type": "session_meta", "payload": {"id": id, "cwd": "/p", "source": "vscode"}}).to_string()];
    all.extend(lines_after.iter().map(Value::to_string));
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    world.write(
        format!(".codex/sessions/2026/08/01/rollout-2026-08-01T10-00-00-{id}.jsonl"),
        lines(&all),
    );
}

fn message(role: &str, text: &str) -> Value {
    let kind = if role == "user" {
        "input_text"
    } else {
        "output_text"
    };
    json!({"timestamp": "2026-08-01T10:00:01.000Z", "type": "response_item", "payload": {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}})
}

/// Codex writes a new name of a session into its transcript, whoever gave it, and into an index, which goes first.
#[test]
fn codex_names_come_from_its_index_then_its_transcript() {
    let world = World::new();
    let named = |name: Value| json!({"timestamp": "2026-08-01T10:00:02.000Z", "type": "event_msg", "payload": {"type": "thread_name_updated", "thread_id": CODEX, "thread_name": name}});
    let all = [
        message("user", "round the total to cents"),
        named(json!("Totals")),
        named(json!("Rounding of totals")),
        named(Value::Null),
    ];
    codex(&world, CODEX, &all);
    assert_eq!(titles(&world), ["Rounding of totals"]);
    world.write(
        ".codex/session_index.jsonl",
        json!({"id": CODEX, "thread_name": "By hand"}).to_string() + "\n",
    );
    assert_eq!(titles(&world), ["By hand"]);
}

/// The extension for an editor asks Codex for titles in sessions of its own. Those are listed nowhere, and told to nobody;
/// but who quotes such a prompt in the middle of a session has a session all the same.
#[test]
fn helpers_are_no_sessions() {
    const ASKS: &str = "You are a helpful assistant. You will be presented with a user prompt, and your job is to provide a short title for a task that will be created from that prompt.\nUser prompt:\nround the total";
    let world = World::new();
    codex(
        &world,
        HELPER,
        &[
            message("user", "<environment_context>\n</environment_context>"),
            message("user", ASKS),
            message("assistant", "{\"title\":\"Rounding\"}"),
        ],
    );
    assert_eq!(titles(&world), [""; 0]);
    world
        .reader(&["search", "--all", "Rounding"])
        .run()
        .status(1);
    let here = json!({"timestamp": ago(4), "type": "turn_context", "payload": {"cwd": world.path("work")}});
    let helper: Vec<Value> = [
        here,
        message("user", ASKS),
        message("assistant", "{\"title\":\"Rounding\"}"),
    ]
    .into();
    let recent = helper
        .into_iter()
        .map(|line| with(line, "timestamp", ago(4)))
        .collect::<Vec<_>>();
    codex(&world, HELPER, &recent);
    assert_eq!(
        text(&hook(&world, &[], &input(&world, ME)).run().success()),
        ""
    );
    codex(
        &world,
        CODEX,
        &[
            message("user", "round the total to cents"),
            message("assistant", "Ok."),
            message("user", ASKS),
        ],
    );
    assert_eq!(titles(&world), ["round the total to cents"]);
}
