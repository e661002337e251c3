//! The thing that a session waits for, whole: in `list --json`, `resume` and `resume --json`.

use serde_json::{Value, json};

use crate::support::claude::runs;
use crate::support::script::Script;
use crate::support::world::{ONE, World};

/// A session whose last call waits for the user.
fn waiting(calls: &[(&str, Value)], waits_for: &str) -> World {
    let world = World::new();
    let mut script = Script::of(&world).ago(3).user("clean up the shop");
    for (tool, input) in calls {
        script = script.calls(tool, input.clone());
    }
    script.save(&world, ONE);
    runs(&world, ONE, "waiting", waits_for);
    world
}

fn pending(world: &World) -> Value {
    let listed = world.reader(&["list", "--json"]).run().success();
    let listed: Value = serde_json::from_str(listed.out()).expect("JSON");
    let resumed = world.reader(&["resume", "--json", ONE]).run().success();
    let resumed: Value = serde_json::from_str(resumed.out()).expect("JSON");
    assert_eq!(listed["pending"], resumed["pending"]);
    listed["pending"].clone()
}

/// The lines of `resume` that say it.
fn resumed(world: &World) -> String {
    let resumed = world.reader(&["resume", ONE]).run().success();
    let rest = resumed
        .out()
        .lines()
        .skip_while(|line| !line.starts_with("Waits for"));
    let lines: Vec<&str> = rest
        .take_while(|line| {
            line.starts_with("Waits for") || line.is_empty() || line.starts_with(' ')
        })
        .map(str::trim_end)
        .collect();
    lines.join("\n")
}

const TOLD: &str = r##""permission" "Bash"
"cargo test [30 flags] --last"
Waits for   cargo test [30 flags] --last

"permission" "Edit"
"edits WORK/src/tax.rs\n-let tax = 0;\n+let tax = net / 5;\n let sum = net;"
Waits for   edits WORK/src/tax.rs
            -let tax = 0;
            +let tax = net / 5;
             let sum = net;

"permission" "Write"
"writes WORK/notes.md\n+# Notes\n+\n+- one\n+- two"
Waits for   writes WORK/notes.md
            +# Notes
            +
            +- one
            +- two

"question" "AskUserQuestion"
"Redis or NATS?\n  1. Redis: is there already\n  2. NATS: is faster"
Waits for   Redis or NATS?
              1. Redis: is there already
              2. NATS: is faster

"plan" "ExitPlanMode"
"# Plan\n\n1. Read the tax table\n2. Round once"
Waits for   Plan

            1. Read the tax table
            2. Round once

"##;

#[test]
fn each_kind_is_told_whole() {
    // Longer than any line on a screen, and told to its end.
    let long = format!("cargo test {}--last", "--very-long-flag ".repeat(30));
    let cases = [
        (("Bash", json!({"command": long})), "permission prompt"),
        (
            (
                "Edit",
                json!({"file_path": "WORK/src/tax.rs", "old_string": "let tax = 0;\nlet sum = net;", "new_string": "let tax = net / 5;\nlet sum = net;"}),
            ),
            "permission prompt",
        ),
        (
            (
                "Write",
                json!({"file_path": "WORK/notes.md", "content": "# Notes\n\n- one\n- two\n"}),
            ),
            "permission prompt",
        ),
        (
            (
                "AskUserQuestion",
                json!({"questions": [{"question": "Redis or NATS?", "header": "Queue", "multiSelect": false,
                    "options": [{"label": "Redis", "description": "is there already"}, {"label": "NATS", "description": "is faster"}]}]}),
            ),
            "input needed",
        ),
        (
            (
                "ExitPlanMode",
                json!({"plan": "# Plan\n\n1. Read the tax table\n2. Round once"}),
            ),
            "input needed",
        ),
    ];
    let mut told = String::new();
    for ((tool, input), waits_for) in cases {
        let world = waiting(&[(tool, input)], waits_for);
        let pending = pending(&world);
        told += &format!("{} {}\n", pending["kind"], pending["tool"]);
        told += &format!("{}\n{}\n\n", pending["detail"], resumed(&world));
    }
    assert_eq!(
        told.replace(&"--very-long-flag ".repeat(30), "[30 flags] "),
        TOLD
    );
}

/// An agent does one call after the other: of two, the dialog of Claude Code shows the first.
#[test]
fn of_two_open_calls_it_is_the_first() {
    let world = waiting(
        &[
            ("Bash", json!({"command": "rm -rf build"})),
            ("Bash", json!({"command": "rm -rf /tmp/cache"})),
        ],
        "permission prompt",
    );
    assert_eq!(pending(&world)["detail"], "rm -rf build");
    assert_eq!(resumed(&world), "Waits for   rm -rf build");
}
