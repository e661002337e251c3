//! The JSON Schemas in `docs/schemas/` say what the commands print: every object fits its schema, and has no key that is not in it.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::clients::{Case, all_clients};
use crate::support::history::history;
use crate::support::run::Done;
use crate::support::world::World;

fn schema(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/schemas/{name}.json"));
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).expect("JSON")
}

/// The keywords that our schemas have. Others are an error, so that none is passed over.
const KEYWORDS: [&str; 9] = [
    "$schema",
    "title",
    "description",
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "const",
];

fn is_of(value: &Value, kind: &Value) -> bool {
    match kind.as_str().expect("a type") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type {other}"),
    }
}

/// What is wrong with a value, with the place of it.
fn check(value: &Value, schema: &Value, place: &str, wrong: &mut Vec<String>) {
    let rules = schema.as_object().expect("a schema");
    let unknown = rules.keys().find(|key| !KEYWORDS.contains(&key.as_str()));
    assert_eq!(unknown, None, "{place}");
    let types = match &schema["type"] {
        Value::Array(types) => types.clone(),
        Value::Null => Vec::new(),
        one => vec![one.clone()],
    };
    if !types.is_empty() && !types.iter().any(|kind| is_of(value, kind)) {
        wrong.push(format!("{place} is {value}"));
    }
    let has_value = |allowed: &Value| allowed.as_array().is_none_or(|all| all.contains(value));
    if !has_value(&schema["enum"]) || rules.get("const").is_some_and(|only| only != value) {
        wrong.push(format!("{place} is {value}"));
    }
    for item in value.as_array().into_iter().flatten() {
        check(
            item,
            rules.get("items").unwrap_or(&json!({})),
            &format!("{place}[]"),
            wrong,
        );
    }
    let (Some(object), Some(known)) = (value.as_object(), schema["properties"].as_object()) else {
        return;
    };
    for (key, value) in object {
        match known.get(key) {
            Some(schema) => check(value, schema, &format!("{place}.{key}"), wrong),
            None => wrong.push(format!("{place}.{key} is not in the schema")),
        }
    }
    let required = schema["required"].as_array().into_iter().flatten();
    let missing = required
        .filter_map(Value::as_str)
        .filter(|key| !object.contains_key(*key));
    wrong.extend(missing.map(|key| format!("{place}.{key} is missing")));
}

/// Every line of an output fits a schema; and how many there are.
#[track_caller]
fn fits(name: &str, done: &Done) -> usize {
    let (schema, mut wrong) = (schema(name), Vec::new());
    for line in done.out().lines() {
        let object = serde_json::from_str(line).expect("JSON");
        check(&object, &schema, name, &mut wrong);
    }
    wrong.sort();
    wrong.dedup();
    assert_eq!(wrong, [""; 0]);
    done.out().lines().count()
}

#[test]
fn real_transcripts_fit() {
    let (mut rows, mut entries) = (0, 0);
    for case in Case::all() {
        let (world, dir) = case.world();
        let run = |args: &[&str]| world.reader(args).dir(world.path(dir)).run();
        let list = run(&["list", "--all", "--json"]);
        rows += fits("list", &list);
        for row in list.json() {
            let called = row["name"]
                .as_str()
                .unwrap_or(row["id"].as_str().expect("an id"));
            entries += fits(
                "log",
                &run(&["log", called, "--full", "--lines", "1000", "--json"]),
            );
            fits("resume", &run(&["resume", called, "--json"]));
        }
        fits(
            "recap",
            &run(&["recap", "--all", "--since", "3650d", "--json"]),
        );
        fits("profile", &run(&["profile", "--all", "--json"]));
        let files = run(&["files", "--all", "--reads", "--since", "3650d", "--json"]);
        fits("files", &files);
        for file in files.json().iter().take(3) {
            fits(
                "history",
                &run(&[
                    "files",
                    file["path"].as_str().expect("a path"),
                    "--reads",
                    "--json",
                ]),
            );
        }
    }
    assert!(rows > 50 && entries > 500, "{rows} {entries}");
}

#[test]
fn every_command_fits() {
    let world = all_clients();
    let run = |args: &[&str]| world.reader(args).run().status(0);
    assert!(
        fits(
            "search",
            &run(&["search", "notes", "hello", "--results", "--json"])
        ) > 10
    );
    assert!(fits("find", &run(&["find", "o", "--json"])) > 5);
    fits("status", &run(&["status", "--all", "--format", "json"]));
    fits("list", &run(&["wait", "--json"]));
    fits(
        "profile",
        &history().reader(&["profile", "--json"]).run().success(),
    );
    for args in [
        &["pin", "the API is frozen", "--for", "7d"][..],
        &["note", "decision", "PostgreSQL"],
        &["done", "48d9aa73"],
        &["tag", "release", "--session", "48d9aa73"],
    ] {
        world.context(args).run().success();
    }
    let run = |args: &[&str]| world.context(args).run().success();
    assert_eq!(fits("notes", &run(&["pins", "--json"])), 1);
    assert_eq!(fits("notes", &run(&["notes", "--json"])), 2);
    assert_eq!(fits("tags", &run(&["tags", "--json"])), 1);
}

/// A program can ask what there is before it uses it: the commands whose objects have a schema, and the tools.
#[test]
fn a_build_says_what_it_can_do() {
    let world = World::new();
    let said = world.reader(&["capabilities", "--json"]).run().success();
    assert_eq!(fits("capabilities", &said), 1);
    let said = &said.json()[0];
    assert_eq!(said["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(
        said["formats"],
        json!(["agent-sdk", "codex", "copilot", "gemini", "pi", "qwen"])
    );
    assert_eq!(
        said["mcp"]["tools"],
        json!([
            "list_sessions",
            "read_session",
            "search_sessions",
            "file_history",
            "resume_session",
            "who_needs_me"
        ])
    );
    let commands = said["commands"].as_array().expect("commands");
    for command in said["json"].as_array().expect("commands") {
        assert!(commands.contains(command));
        let name = command.as_str().expect("a name");
        schema(if name == "wait" { "list" } else { name });
    }
    let said = world.reader(&["capabilities"]).run().success();
    assert!(
        said.out()
            .contains("\nmcp       list_sessions, read_session"),
        "{}",
        said.out()
    );
}
