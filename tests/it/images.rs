//! Prompts with pasted screenshots: a look is limited by time and by what it takes in, not by what it steps over.

use serde_json::json;

use crate::support::hook::{block, told};
use crate::support::script::Script;
use crate::support::world::{ONE, World};

/// A prompt with an image of so many megabytes.
fn with_image(script: Script, text: &str, megabytes: usize) -> Script {
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A".repeat(megabytes << 20)}});
    script.line(
        "user",
        json!({"role": "user", "content": [{"type": "text", "text": text}, image]}),
    )
}

#[test]
fn a_prompt_with_a_screenshot_is_quoted_and_counted() {
    let world = World::new();
    let first = with_image(Script::of(&world).ago(9), "what is wrong on this page?", 2)
        .says("The button is too wide.");
    first.save(&world, ONE);
    let bullet = "- 11111111 (9m ago, 2 messages): \"what is wrong on this page?\"";
    assert_eq!(told(&world), block(&[bullet]));
    // After a look, too, and behind some more.
    let next = with_image(first.ago(5), "and on this one over here?", 3).says("The same.");
    with_image(next, "compare it with the first one", 3)
        .says("They differ.")
        .save(&world, ONE);
    let bullet = "- 11111111 (5m ago, 4 messages): \"compare it with the first one\"";
    assert_eq!(told(&world), block(&[bullet]));
}

#[test]
fn a_first_look_finds_the_title_before_the_screenshots() {
    let world = World::new();
    let titled = Script::of(&world)
        .ago(9)
        .user("begin")
        .raw(json!({"type": "custom-title", "customTitle": "Wide buttons"}));
    let script = with_image(
        with_image(titled, "see the first page here", 2),
        "compare the footer on the second page",
        2,
    );
    script.says("I see.").save(&world, ONE);
    assert_eq!(
        told(&world),
        block(&[
            "- \"Wide buttons\" (9m ago, 4 messages): \"compare the footer on the second page\""
        ])
    );
}

/// What a first look has to step over is bounded: a conversation of hours ago stays unread.
#[test]
fn old_screenshots_are_not_looked_at() {
    let world = World::new();
    let old = with_image(
        with_image(Script::of(&world).ago(170), "old one", 2),
        "old two",
        2,
    );
    old.ago(4)
        .user("what about the footer of it?")
        .save(&world, ONE);
    assert_eq!(
        told(&world),
        block(&["- 11111111 (4m ago, 1 message): \"what about the footer of it?\""])
    );
}
