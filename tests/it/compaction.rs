//! What a session is told of its own work after a compaction, a `/clear` or a resume.

use std::fs;

use serde_json::json;

use crate::support::agents::agent;
use crate::support::claude::{asked, compacted, prompt, used};
use crate::support::clients::all_clients;
use crate::support::files::files;
use crate::support::hook::{cursors, hook, told};
use crate::support::start::{
    ATTACKS, FIRST, GOAL, SECRETS, at_work, begins, changed, check, just_stopped, pi_asked,
    start_block, start_text, started, started_as, told_of, was_at_work, work_lines,
};
use crate::support::times::ago;
use crate::support::world::{ME, ONE, THREE, TWO, World};

/// What was cleared away was this agent's work in this directory, whoever was at work since; also a question in passing.
/// Where there is none, nothing is said: it is not the first use.
#[test]
fn what_was_cleared_was_the_same_agents() {
    let world = World::new();
    world.claude(ONE, &at_work(&world, 9));
    pi_asked(
        &world,
        TWO,
        2,
        "Rewrite the whole pipeline in another language",
    );
    assert_eq!(
        started_as(&world, ME, "clear"),
        start_block(&work_lines(&just_stopped("11111111", 9)))
    );
    // Below it is another project, and if it is the same one, another directory.
    let elsewhere = prompt(
        &world.path("work/below"),
        &ago(1),
        "Draw a logo for the shop page",
    );
    world.claude(THREE, &elsewhere);
    assert_eq!(told_of(&started_as(&world, ME, "clear")), "11111111");
    world.write("work/.git/HEAD", "ref: refs/heads/main\n");
    assert_eq!(told_of(&started_as(&world, ME, "clear")), "11111111");
    world.claude(
        THREE,
        &prompt(
            &world.path("work"),
            &ago(1),
            "Draw a logo for the shop page",
        ),
    );
    assert_eq!(told_of(&started_as(&world, ME, "clear")), "33333333");
    let world = World::new();
    pi_asked(
        &world,
        TWO,
        2,
        "Rewrite the whole pipeline in another language",
    );
    assert_eq!(started_as(&world, ME, "clear"), "");
}

/// After a `/clear` the transcript may be another one, or the same: who has one of its own is told of itself. What was decided
/// is told with it: what the user wrote down first, then the newest plans and answers, three in all; nothing from words.
#[test]
fn what_was_decided_before_a_clear_is_told_after_it() {
    let world = World::new();
    let plan = |name: &str| {
        used(
            8,
            name,
            "ExitPlanMode",
            json!({"plan": format!("# {name}")}),
            Some("ok"),
        )
    };
    let plans: String = ["Serde", "Redis", "Tokio", "Axum"].map(plan).concat();
    let said = prompt(
        &world.path("work"),
        &ago(7),
        "Let's use nginx for the server",
    );
    world.claude(ONE, &(changed(&world, 9, GOAL, "a.rs") + &plans + &said));
    // What is there of its own has nothing in it.
    world.claude(ME, "");
    let decided = |source: &str| {
        let told = started_as(&world, ME, source);
        told.lines()
            .find_map(|line| line.strip_prefix("- decided: "))
            .unwrap_or_default()
            .to_owned()
    };
    let [axum, tokio, redis] =
        ["Axum", "Tokio", "Redis"].map(|name| format!("\"approved the plan '{name}'\""));
    assert_eq!(decided("clear"), format!("{axum}; {tokio}; {redis}"));
    world
        .context(&["note", "decision", "PostgreSQL"])
        .run()
        .success();
    assert_eq!(decided("clear"), format!("\"PostgreSQL\"; {axum}; {tokio}"));
    world.claude(
        ME,
        &changed(&world, 3, "Remove the old parser module", "b.rs"),
    );
    let own = [
        "- this session was last asked \"Remove the old parser module\"",
        "- it changed b.rs",
        "- decided: \"PostgreSQL\"",
    ];
    assert_eq!(started_as(&world, ME, "clear"), start_block(&own));
    assert_eq!(started_as(&world, ME, "compact"), start_block(&own));
    // Its own work is no news to one that begins.
    let _ = fs::remove_file(cursors(&world, ME));
    let other = started_as(&world, ME, "startup");
    assert_eq!(told_of(&other), "11111111", "{other}");
}

/// After a compaction of a session in which nobody asked for anything and nothing was done, nothing is said; and its
/// transcript is found by its id where the agent does not say where it is.
#[test]
fn a_compaction_of_nothing_is_told_nothing() {
    let world = World::new();
    asked(
        &world,
        ME,
        5,
        "<task-notification>\nRemove all of the files now\n</task-notification>",
    );
    assert_eq!(started_as(&world, ME, "compact"), "");
    world.claude(ME, &changed(&world, 3, GOAL, "a.rs"));
    let mut asks = begins(&world, ME, "compact");
    asks.as_object_mut()
        .expect("an object")
        .remove("transcript_path");
    let own = [
        &*format!("- this session was last asked \"{GOAL}\""),
        "- it changed a.rs",
    ];
    assert_eq!(
        start_text(&hook(&world, &[], &asks).run().success()),
        start_block(&own)
    );
}

/// How it begins: one that goes on knows what it knew; after a `/clear` it is another, and so it is told, too. Nothing of
/// it is remembered where nothing was told.
#[test]
fn how_a_session_begins_decides_what_it_is_told() {
    for (source, tells, again) in [
        ("startup", true, false),
        ("new", true, false),
        ("", true, false),
        ("something else", true, false),
        ("clear", true, true),
        ("resume", false, false),
        ("fork", false, false),
    ] {
        let world = World::new();
        world.claude(ONE, &at_work(&world, 5));
        let first = if source == "clear" {
            just_stopped("11111111", 5)
        } else {
            was_at_work("11111111", 5)
        };
        let expected = start_block(&work_lines(&first));
        let told = started_as(&world, ME, source);
        assert_eq!(
            told,
            if tells {
                expected.clone()
            } else {
                String::new()
            },
            "{source}"
        );
        assert_eq!(
            !started_as(&world, ME, source).is_empty(),
            again,
            "{source}"
        );
        if !tells {
            assert!(files(&world.path(".state")).is_empty(), "{source}");
            assert_eq!(started(&world), expected, "after {source}");
        }
    }
    // Without a source, and by an agent within the agent.
    let world = World::new();
    let mut asks = begins(&world, ME, "");
    asks.as_object_mut().expect("an object").remove("source");
    asks["agent_id"] = "a1".into();
    hook(&world, &[], &asks).run().success().stdout("");
    assert!(files(&world.path(".state")).is_empty());
    asks.as_object_mut().expect("an object").remove("agent_id");
    assert_eq!(
        start_text(&hook(&world, &[], &asks).run().success()),
        start_block(&[FIRST])
    );
}

/// 001-D5, 001-14: after a compaction a session is told what it was doing itself, as often as that happens: what was last
/// asked, files, decisions, and the open task if nothing was asked since. What the document kept of a topic (ten files, five actions) and cleared is here the
/// transcript, of which nothing is deleted.
#[test]
fn after_a_compaction_a_session_is_told_of_itself() {
    let world = World::new();
    let cwd = world.path("work");
    let question = json!({"questions": [{"question": "Which database?", "options": []}]});
    let answered = r#"User has answered your questions: "Which database?"="PostgreSQL"."#;
    let lines = at_work(&world, 30)
        + &used(25, "q", "AskUserQuestion", question, Some(answered))
        + &prompt(&cwd, &ago(20), "Let's use tokio for the server")
        + &used(
            15,
            "p",
            "ExitPlanMode",
            json!({"plan": "# Move to tokio\n1. a"}),
            Some("ok"),
        )
        + &compacted(1, "A summary of it all");
    world.claude(ME, &lines);
    world.claude(
        ONE,
        &changed(&world, 2, "Remove the old parser module", "b.rs"),
    );
    world.context(&["pin", "the API is frozen"]).run().success();
    let expected = start_block(&[
        "- pinned: the API is frozen",
        "- this session was last asked \"Let's use tokio for the server\"",
        "- it changed src/install.sh, src/server.py",
        "- last it ran \"cargo build\"",
        "- decided: \"approved the plan 'Move to tokio'\"; \"Which database? PostgreSQL\"",
    ]);
    for _ in 0..2 {
        assert_eq!(started_as(&world, ME, "compact"), expected);
    }
    // That is no look at the others, and no beginning.
    assert!(told(&world).contains("- 11111111 (2m ago"));
}

/// The other agents that forget: each is told of itself, though its transcript is written by another hand.
#[test]
fn real_clients_are_told_of_themselves_after_a_compaction() {
    let world = all_clients();
    for (agent, id, asked, file) in [
        (
            "codex",
            "01a1e236-138c-7902-aa86-f9833bd81c72",
            "Run a failing command\", then \"Unicode please\"",
            "notes.md",
        ),
        (
            "qwen",
            "1e2133c9-0042-4f81-a7d1-2a1c024038ed",
            "Change the second item please\"",
            "notes.md",
        ),
        (
            "agent-sdk",
            "48d9aa73-5bcd-46b5-9a1c-edf24543bdb2",
            "[[script:basic]] again with tasks env\"",
            "hello.py",
        ),
    ] {
        let mut asks = self::agent(agent).1(&world, id);
        let all = files(&world.path(""));
        let own = all
            .keys()
            .find(|path| path.to_string_lossy().ends_with(&format!("{id}.jsonl")))
            .expect("a transcript");
        asks.as_object_mut().expect("an object").remove("prompt");
        asks["transcript_path"] = own.to_str().into();
        asks["hook_event_name"] = "SessionStart".into();
        asks["source"] = "compact".into();
        let told = start_text(&hook(&world, &["--agent", agent], &asks).run().success());
        let lines = format!("\n- this session was last asked \"{asked}\n- it changed {file}\n");
        assert!(told.contains(&lines), "{agent}: {told}");
    }
}

/// Without its own transcript there is nothing to remind it of: the work of another is not its own.
#[test]
fn without_its_own_transcript_nothing_is_told_after_a_compaction() {
    let world = World::new();
    world.claude(ONE, &at_work(&world, 5));
    world.context(&["pin", "the API is frozen"]).run().success();
    assert_eq!(
        started_as(&world, ME, "compact"),
        start_block(&["- pinned: the API is frozen"])
    );
}

/// The same of the session itself, after a compaction.
#[test]
fn decisions_of_strangers_are_cleaned_after_a_compaction() {
    for piece in ATTACKS.iter().chain(SECRETS) {
        let world = World::new();
        let cwd = world.path("work");
        let plan = used(
            5,
            "p",
            "ExitPlanMode",
            json!({"plan": format!("# {piece}")}),
            Some("ok"),
        );
        let answered = format!("\"Which {piece}?\"=\"{piece}\"");
        let question = used(
            4,
            "q",
            "AskUserQuestion",
            json!({"questions": [{"question": piece}]}),
            Some(&answered),
        );
        let said = prompt(&cwd, &ago(3), &format!("Let's use {piece} for the server"));
        world.claude(
            ME,
            &(changed(&world, 6, GOAL, "a.rs") + &plan + &question + &said),
        );
        let told = started_as(&world, ME, "compact");
        check(&told, "decided");
    }
}
