//! Grok Build runs the hooks in Claude Code's settings, and throws away what they print at a prompt.

use serde_json::{Value, json};

use crate::support::claude::{asked, prompt, with};
use crate::support::files::files;
use crate::support::hook::{cursors, hook, input, text};
use crate::support::times::ago;
use crate::support::world::{ME, ONE, World};

/// What Grok gives a hook: its own fields beside those of Claude Code.
fn grok(world: &World, event: (&str, &str)) -> Value {
    let own = json!({"hookEventName": event.0, "sessionId": ME, "workspaceRoot": world.path("work"), "promptId": "p1"});
    let mut input = with(input(world, ME), "hook_event_name", event.1);
    input
        .as_object_mut()
        .expect("an object")
        .extend(own.as_object().expect("an object").clone());
    input
}

/// It is told nothing, and nothing counts as told: the news is there for the next prompt that can be answered.
#[test]
fn news_is_not_lost_in_grok() {
    let world = World::new();
    asked(&world, ONE, 5, "round the total to cents");
    let all = |args: &[&str]| {
        for event in [
            ("user_prompt_submit", "UserPromptSubmit"),
            ("session_start", "SessionStart"),
        ] {
            hook(&world, args, &grok(&world, event))
                .run()
                .success()
                .stdout("");
        }
    };
    all(&["--agent", "agent-sdk"]);
    assert!(!cursors(&world, ME).exists());
    let told = |args: &[&str]| text(&hook(&world, args, &input(&world, ME)).run().success());
    let first = told(&["--agent", "agent-sdk"]);
    assert!(first.contains("round the total to cents"), "{first}");
    // Nor does it take away what comes later.
    let more = prompt(&world.path("work"), &ago(3), "sort the list of items");
    world.append(world.transcript(ONE), more);
    let before = files(&world.path(".state"));
    all(&["--agent", "agent-sdk"]);
    all(&[]);
    assert_eq!(files(&world.path(".state")), before);
    let next = told(&[]);
    assert!(next.contains("sort the list of items"), "{next}");
}
