//! Prompts that a client wraps in text of its own: only what somebody typed is quoted, listed, searched and compared.

use serde_json::json;

use crate::support::claude::{answer, asked, calls, lines, prompt};
use crate::support::hook::{hook, input, text};
use crate::support::reader::{listed, log_of_file};
use crate::support::run::Done;
use crate::support::script::Script;
use crate::support::times::ago;
use crate::support::world::{ONE, World};

const ID: &str = "0190ab00-aaaa-7bbb-8ccc-000000000001";

/// A Codex session of these prompts, each with an answer.
fn codex(prompts: &[&str]) -> Vec<String> {
    let line = |kind: &str, payload: serde_json::Value| {
        json!({"timestamp": "2026-08-01T10:00:00.000Z", "type": kind, "payload": payload})
            .to_string()
    };
    let mut all = vec![line("session_meta", json!({"id": ID, "cwd": "/p"}))];
    for text in prompts {
        let says = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
        all.push(line("response_item", says("user", "input_text", text)));
        all.push(line(
            "response_item",
            says("assistant", "output_text", "Ok."),
        ));
    }
    all
}

/// The prompts in the log of a file of these lines.
fn prompts(log: &Done) -> Vec<String> {
    let lines = log
        .out()
        .lines()
        .filter_map(|line| line.get(18..)?.strip_prefix("user       "));
    lines.map(str::to_owned).collect()
}

fn typed(all: &[String]) -> Vec<String> {
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    prompts(&log_of_file(&all).success())
}

/// What `resume` says of a session after a label.
fn resumed(world: &World, label: &str) -> Option<String> {
    let done = world
        .reader(&["resume", ID])
        .env("COLUMNS", "4000")
        .run()
        .status(0);
    Some(
        done.out()
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{label:12}")))?
            .to_owned(),
    )
}

const IDE: &str = "# Context from my IDE setup:\n\n## Active file: src/cart.rs\n\n## Open tabs:\n- cart.rs: src/cart.rs\n- tax.rs: src/tax.rs\n\n## My request for Codex:\n";
const FILES: &str =
    "\n# Files mentioned by the user:\n\n## shot.png: /tmp/shot.png\n\n## My request for Codex:\n";

#[test]
fn what_an_editor_wraps_around_a_codex_prompt_is_taken_off() {
    for (written, expected) in [
        (
            format!("{IDE}round the total to cents"),
            Some("round the total to cents"),
        ),
        (
            format!("{FILES}why is the button grey?\n"),
            Some("why is the button grey?"),
        ),
        (
            IDE.replace("for Codex", "") + "sort the list of items",
            Some("sort the list of items"),
        ),
        (
            IDE.replace("Codex:", "ChatGPT: ") + "sort the list of items",
            Some("sort the list of items"),
        ),
        // The last heading counts: a file may have quoted one.
        (
            format!("{FILES}old words\n## My request for Codex:\nthe new words count"),
            Some("the new words count"),
        ),
        // Attachments, and nothing typed.
        (
            "# Files mentioned by the user:\n\n## notes.txt: /tmp/notes.txt\n".into(),
            None,
        ),
        (IDE.into(), None),
        // Somebody quotes a heading, or writes about the wrapper.
        (
            "what does \"## My request for Codex:\" mean?".into(),
            Some("what does \"## My request for Codex:\" mean?"),
        ),
        // A skill is typed by its name, and the client puts the path behind it.
        (
            "[$deploy](/home/me/.codex/skills/deploy/SKILL.md) to the staging server".into(),
            Some("to the staging server"),
        ),
        (
            "[$a](/s/a/SKILL.md) [$b](/s/b/SKILL.md) compare these two".into(),
            Some("compare these two"),
        ),
        (
            "[$deploy](/home/me/.codex/skills/deploy/SKILL.md)".into(),
            None,
        ),
        (
            "[$5 off](a note) is wrong".into(),
            Some("[$5 off](a note) is wrong"),
        ),
        (
            format!("{IDE}[$deploy](/s/deploy/SKILL.md) to production now"),
            Some("to production now"),
        ),
        // An app that hands over what somebody typed among other things.
        (
            "Input contract:\n- mode: edit\nuser_request: make the logo larger".into(),
            Some("make the logo larger"),
        ),
        ("Input contract: JSON without a request".into(), None),
    ] {
        let expected: Vec<&str> = expected.into_iter().collect();
        assert_eq!(typed(&codex(&[&written])), expected, "{written}");
    }
    let skill = codex(&["[$deploy](/s/deploy/SKILL.md)"]);
    let world = World::new();
    let path = world.write(
        "some.jsonl",
        lines(&skill.iter().map(String::as_str).collect::<Vec<_>>()),
    );
    let log = world
        .reader(&["log", path.to_str().expect("UTF-8"), "--full"])
        .run()
        .success();
    assert!(log.out().contains("command    $deploy\n"), "{}", log.out());
}

/// The wrapper is no title, is not found, and is not what `resume` quotes.
#[test]
fn an_editors_tabs_are_nobodys_words() {
    let world = World::new();
    let all = codex(&[&format!("{IDE}round the total to cents")]);
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let path = format!(".codex/sessions/2026/08/01/rollout-2026-08-01T10-00-00-{ID}.jsonl");
    world.write(path, lines(&all));
    let rows = listed(&world);
    assert_eq!(
        (rows.len(), &rows[0]["title"]),
        (1, &json!("round the total to cents"))
    );
    assert_eq!(
        resumed(&world, "Asked last").as_deref(),
        Some("round the total to cents")
    );
    let search = |words: &str| world.reader(&["search", "--all", words]).run();
    assert!(
        search("total to cents")
            .status(0)
            .out()
            .contains("round the total to cents")
    );
    search("tax.rs").status(1);
}

/// The files that an editor has open recall nothing; a file that the user names does.
#[test]
fn open_tabs_recall_nothing() {
    let world = World::new();
    let cwd = world.path("work");
    let edit = calls(179, "c1", &["Edit src/tax.rs"]);
    world.claude(
        ID,
        &(prompt(&cwd, &ago(180), "fix the tax of all orders")
            + &edit
            + &answer(&cwd, &ago(178), "Done.")),
    );
    let told = |observer: &str, words: &str| {
        let mut input = input(&world, observer);
        input["prompt"] = words.into();
        text(&hook(&world, &["--agent", "codex"], &input).run().success())
    };
    assert_eq!(
        told(
            "0190ab00-0000-7bbb-8ccc-00000000000a",
            &format!("{IDE}round the total to cents")
        ),
        ""
    );
    let named = told(
        "0190ab00-0000-7bbb-8ccc-00000000000b",
        &format!("{IDE}look at tax.rs again"),
    );
    assert!(named.contains("tax.rs was edited"), "{named}");
}

/// A Pi or OpenClaw session of these prompts and answers.
fn pi(said: &[(&str, &str)]) -> Vec<String> {
    let mut all = vec![
        json!({"type":"session","version":3,"id":ID,"timestamp":"2026-08-01T10:00:00.000Z","cwd":"/p"}).to_string(),
    ];
    all.extend(said.iter().enumerate().map(|(number, (role, text))| {
        let content = [json!({"type": "text", "text": text})];
        json!({"type":"message","id":format!("m{number}"),"timestamp":format!("2026-08-01T10:00:{number:02}.000Z"),"message":{"role":role,"content":content,"stopReason":"stop"}}).to_string()
    }));
    all
}

#[test]
fn openclaw_envelopes_are_taken_off() {
    let info = "Conversation info (untrusted metadata):\n```json\n{\n  \"message_id\": \"7\"\n}\n```\n\nSender (untrusted metadata):\n```json\n{\n  \"name\": \"Ana\"\n}\n```\n\n";
    for (written, expected) in [
        ("[Telegram Ana (@ana) id:42 2026-01-29 10:00 UTC] book the room\n[message_id: 7]".to_owned(), Some("book the room")),
        ("[WhatsApp +1555 +2m Sun 2026-01-18 00:19:42 PST] book the room [message_id: 3B05]".into(), Some("book the room")),
        ("[Sun 2026-01-18 00:19 GMT+1] book the room".into(), Some("book the room")),
        (format!("{info}book the room"), Some("book the room")),
        (format!("{info}[message_id: om_1]\nbook the room"), Some("book the room")),
        ("System: [2026-02-05 17:26:32 PST] Gateway connected.\nSystem: [2026-02-05 17:26:55 PST] Node: up.\n\n[WhatsApp +1555 2026-02-05 17:27 PST] book the room\n[message_id: 3B]".into(), Some("book the room")),
        (format!("[Queued messages while agent was busy]\n\n---\nQueued #1\n{info}book the room\n\n---\nQueued #2\n{info}and a table"), Some("book the room")),
        ("System: [2026-02-05 17:26:32 PST] Gateway connected.".into(), None),
        ("Read HEARTBEAT.md if it exists (workspace context). Follow it strictly.".into(), None),
        ("A new session was started via /new or /reset. Greet the user.".into(), None),
        ("Pre-compaction memory flush. Store durable memories now.".into(), None),
        // A skill comes with its text; what was typed after its name follows.
        ("<skill name=\"plan\" location=\"/s/plan/SKILL.md\">\nReferences are relative to /s/plan.\n\nThink.\n</skill>\n\nbook the room".into(), Some("book the room")),
        ("<skill name=\"plan\" location=\"/s/plan/SKILL.md\">\nThink.\n</skill>".into(), None),
        // Brackets of a person.
        ("[urgent] book the room".into(), Some("[urgent] book the room")),
    ] {
        let expected: Vec<&str> = expected.into_iter().collect();
        let typed = typed(&pi(&[("user", &written), ("assistant", "Ok.")]));
        assert_eq!(typed, expected, "{written}");
    }
    let world = World::new();
    let queued = "[Queued messages while agent was busy]\n\n---\nQueued #1\nbook the room\n\n---\nQueued #2\n[Telegram Ana id:42 2026-01-29 10:00 UTC] and a table";
    let all = pi(&[
        ("user", queued),
        (
            "user",
            "<skill name=\"plan\" location=\"/s/plan/SKILL.md\">\nThink.\n</skill>",
        ),
    ]);
    let path = world.write(
        "some.jsonl",
        lines(&all.iter().map(String::as_str).collect::<Vec<_>>()),
    );
    world
        .reader(&["log", path.to_str().expect("UTF-8"), "--full"])
        .run()
        .success()
        .stdout(concat!(
            "2026-08-01 10:00  user       book the room\n",
            "                             and a table\n",
            "           10:00  command    /plan\n",
        ));
}

/// A heartbeat is no talk: neither the prompt nor the answer, and the session is as old as what was said before.
#[test]
fn heartbeats_are_silent() {
    let world = World::new();
    let all = pi(&[
        ("user", "book the room for the board"),
        ("assistant", "Booked."),
        (
            "user",
            "Read HEARTBEAT.md if it exists (workspace context).",
        ),
        ("assistant", "HEARTBEAT_OK"),
    ]);
    world.write(
        format!(".openclaw/agents/main/sessions/{ID}.jsonl"),
        lines(&all.iter().map(String::as_str).collect::<Vec<_>>()),
    );
    let row = &listed(&world)[0];
    assert_eq!(
        (&row["messages"], &row["updated"]),
        (&json!(2), &json!("2026-08-01T10:00:01.000Z"))
    );
    assert_eq!(resumed(&world, "Said last").as_deref(), Some("Booked."));
    world.reader(&["log", ID]).run().success().stdout(concat!(
        "2026-08-01 10:00  user       book the room for the board\n",
        "           10:00  assistant  Booked.\n",
    ));
}

/// Claude Code says in the user's name that a hook stopped a prompt.
#[test]
fn a_hook_that_stopped_a_prompt_is_nobodys_prompt() {
    let world = World::new();
    let cwd = world.path("work");
    let stopped = "Operation stopped by hook: commit your work first";
    world.claude(
        ID,
        &(prompt(&cwd, &ago(9), "round the total to cents") + &prompt(&cwd, &ago(8), stopped)),
    );
    assert_eq!(
        prompts(&world.reader(&["log", ID]).run().success()),
        ["round the total to cents"]
    );
}

/// Whoever wraps a text thousands of times over must not use up the stack.
#[test]
fn a_text_that_is_wrapped_over_and_over_does_no_harm() {
    let world = World::new();
    let deep = "[Slack ]".repeat(20_000) + "fix the login page";
    Script::pi(&world.path("work"), "0000")
        .ago(9)
        .user(&deep)
        .says("Done.")
        .save(&world, "0000");
    asked(&world, ONE, 5, "a healthy session beside it");
    assert!(crate::support::hook::told(&world).contains("a healthy session beside it"));
    world.reader(&["list"]).run().success();
}
