//! Calls without a result, look by look: what is wanted or running is never told as done, and what became of it is told
//! when it is known.

use serde_json::json;
use session_core::state::seen::OpenCall;
use session_format::entry::{Call, Id};

use crate::support::claude::line;
use crate::support::files::lock;
use crate::support::hook::{block, told};
use crate::support::script::Script;
use crate::support::times::ago;
use crate::support::world::{ME, ONE, TWO, World, path};

const TASK: &str = "clean the build";
const REFUSED: &str =
    "The user doesn't want to proceed with this tool use. The tool use was rejected";

/// What is told of a session that was asked to clean up, has made a call, and then gets on.
fn looks(steps: &[&dyn Fn(Script) -> Script]) -> Vec<String> {
    let world = World::new();
    let mut script = Script::of(&world).ago(9).user(TASK);
    let mut all = Vec::new();
    for step in steps {
        script = step(script);
        script.save(&world, ONE);
        all.push(told(&world));
    }
    all
}

fn calls(command: &'static str) -> impl Fn(Script) -> Script {
    move |script| script.calls("Bash", json!({"command": command}))
}

#[test]
fn a_command_is_told_as_run_when_its_result_is_there() {
    let told = looks(&[
        &calls("make all"),
        &|script| script.ago(5).result(false, "ok"),
        &|script| script,
    ]);
    let first = block(&[format!(
        "- 11111111 (9m ago, 2 messages): \"{TASK}\"; no result yet: make all"
    )]);
    assert_eq!(
        told,
        [
            &first,
            &block(&["- 11111111 (5m ago) -> ran 1 command"]),
            ""
        ]
    );
}

#[test]
fn an_edit_is_told_as_made_when_its_result_is_there() {
    let edit = |script: Script| {
        script.calls(
            "Edit",
            json!({"file_path": "hello.md", "old_string": "a", "new_string": "b"}),
        )
    };
    let told = looks(&[&edit, &|script| {
        script.ago(5).result(false, "ok").says("Done.")
    }]);
    let first = block(&[format!(
        "- 11111111 (9m ago, 2 messages): \"{TASK}\"; no result yet: hello.md"
    )]);
    let second = block(&["- 11111111 (5m ago, 1 message): said \"Done.\" -> updated hello.md"]);
    assert_eq!(told, [first, second]);
}

/// What is told of a Copilot session that was asked to clean up, line by line: kind, id and minutes. Copilot writes down
/// what it asks its user to allow.
fn copilot_looks(steps: &[&[(&str, &str, i64)]]) -> Vec<String> {
    let world = World::new();
    let file = format!(".copilot/session-state/{TWO}/events.jsonl");
    let mut count = 0;
    let mut write = |kind: &str, id: &str, minutes: i64| {
        count += 1;
        let data = match kind {
            "session.start" => json!({"sessionId": TWO, "context": {"cwd": path(&world, "work")}}),
            "user.message" => json!({"content": TASK}),
            "permission.requested" => json!({"permissionRequest": {"toolCallId": id}}),
            _ => {
                json!({"toolCallId": id, "toolName": "bash", "arguments": {"command": format!("make {id}")}, "success": true})
            }
        };
        let event = json!({"type": kind, "id": format!("event-{count}"), "timestamp": ago(minutes), "data": data});
        world.append(&file, line(event));
    };
    world.write(&file, "");
    // Its agent runs.
    let _hold = lock(
        &world,
        &format!(".copilot/session-state/{TWO}/inuse.4711.hold"),
        &ago(10),
    );
    write("session.start", "", 10);
    write("user.message", "", 9);
    let mut look = |step: &&[(&str, &str, i64)]| {
        step.iter()
            .for_each(|(kind, id, minutes)| write(kind, id, *minutes));
        told(&world)
    };
    steps.iter().map(&mut look).collect()
}

/// Two calls wait for permission at once: what becomes of the first does not let the second one run.
#[test]
fn a_second_wish_is_still_a_wish_at_the_next_look() {
    let start = "tool.execution_start";
    let (asks, allowed, done) = (
        "permission.requested",
        "permission.completed",
        "tool.execution_complete",
    );
    let told = copilot_looks(&[
        &[
            (start, "one", 8),
            (start, "two", 8),
            (asks, "one", 8),
            (asks, "two", 8),
        ],
        &[(allowed, "one", 5), (done, "one", 5)],
        &[(allowed, "two", 4)],
        &[(done, "two", 3)],
    ]);
    let first = block(&[format!(
        "- copilot:22222222 (8m ago, 1 message): \"{TASK}\"; wants to run make one"
    )]);
    let second = block(&["- copilot:22222222 (5m ago) -> ran 1 command; wants to run make two"]);
    assert_eq!(
        told,
        [
            &first,
            &second,
            "",
            &block(&["- copilot:22222222 (3m ago) -> ran 1 command"])
        ]
    );
}

/// A look may come between a call and the question whether it is allowed. What is allowed by then is no news.
#[test]
fn a_wish_after_a_look_is_told() {
    let (asks, allowed) = ("permission.requested", "permission.completed");
    let told = copilot_looks(&[
        &[("tool.execution_start", "one", 8)],
        &[(asks, "one", 7)],
        &[],
        &[(allowed, "one", 6), (asks, "one", 5), (allowed, "one", 5)],
    ]);
    assert_eq!(
        told[1..],
        [
            &block(&["- copilot:22222222 (7m ago); wants to run make one"]),
            "",
            ""
        ]
    );
}

/// What an earlier version wrote of a call has no word on permission.
#[test]
fn an_open_call_of_an_earlier_version_is_read() {
    let call = |waits: bool| Call {
        id: Some(Id(7)),
        tool: "bash".into(),
        waits,
        ..Call::default()
    };
    for (waits, length) in [(false, 5), (true, 6)] {
        let written = json!(OpenCall::newest(&[call(waits)], |_, text| text.to_owned()));
        assert_eq!(
            written[0].as_array().map(Vec::len),
            Some(length),
            "{written}"
        );
        let read: Vec<OpenCall> = serde_json::from_value(written).expect("calls");
        assert_eq!(read[0].to_call(), call(waits));
    }
}

/// Told as wanted before, so that it was refused is news; not told before, it is none.
#[test]
fn a_refusal_is_told_to_whom_the_wish_was_told() {
    let stop = |script: Script| {
        script
            .ago(5)
            .result(true, REFUSED)
            .user("[Request interrupted by user for tool use]")
    };
    let told = looks(&[&calls("rm -rf build"), &stop]);
    assert_eq!(
        told[1],
        block(&["- 11111111 (5m ago); refused: rm -rf build"])
    );
    let told = looks(&[&|script| stop(calls("rm -rf build")(script))]);
    assert_eq!(
        told,
        [block(&[format!(
            "- 11111111 (5m ago, 2 messages): \"{TASK}\""
        )])]
    );
    let aborted = "<error>Command was aborted before completion</error>";
    let told = looks(&[&calls("make all"), &move |script| {
        script.ago(5).result(true, aborted)
    }]);
    assert_eq!(
        told[1],
        block(&["- 11111111 (5m ago); did not finish: make all"])
    );
}

/// A session that was killed and went on without the result: the command is never told as run.
#[test]
fn a_call_that_never_ends_is_never_told_as_done() {
    let told = looks(&[&calls("make all"), &|script| {
        script
            .ago(5)
            .user("and now the docs")
            .says("They are written.")
    }]);
    let second = block(&[
        "- 11111111 (5m ago, 2 messages): \"and now the docs\", said \"They are written.\"",
    ]);
    assert_eq!(told[1], second);
}

/// What was typed while it ran does not end it.
#[test]
fn a_prompt_that_waits_does_not_end_a_call() {
    let queued = |script: Script| {
        script.ago(6).raw(json!({"type": "attachment", "uuid": "q1", "timestamp": ago(6),
            "attachment": {"type": "queued_command", "commandMode": "prompt", "prompt": "and mind the docs please"}}))
    };
    let told = looks(&[&calls("make all"), &queued]);
    let second = block(&[
        "- 11111111 (6m ago, 1 message): \"and mind the docs please\"; no result yet: make all",
    ]);
    assert_eq!(told[1], second);
}

/// A check that was running at the last look and failed since.
#[test]
fn a_check_fails_after_a_look() {
    let told = looks(&[&calls("cargo test"), &|script| {
        script.ago(5).result(true, "1 failed")
    }]);
    assert_eq!(told[1], block(&["- 11111111 (5m ago); cargo test fails"]));
}

/// The call was made long before the edit, and this session has read the file in between.
#[test]
fn an_edit_is_made_when_it_is_allowed() {
    let world = World::new();
    let file = json!({"file_path": world.path("work/a.rs"), "old_string": "a", "new_string": "b"});
    Script::of(&world)
        .ago(30)
        .user("mine")
        .ago(6)
        .does("Read", file.clone())
        .save(&world, ME);
    let theirs = Script::of(&world)
        .ago(12)
        .user(TASK)
        .ago(10)
        .calls("Edit", file);
    theirs.ago(2).result(false, "ok").save(&world, ONE);
    let conflict = "- ! 11111111 edited a.rs 2m ago; you read it 6m ago";
    let bullet = format!("- 11111111 (2m ago, 2 messages): \"{TASK}\" -> updated a.rs");
    assert_eq!(told(&world), block(&[conflict, &bullet]));
}

/// What git puts in the place of a file is an edit of it, if the command names the file and is sure to have done so.
#[test]
fn a_file_that_git_restores_is_edited() {
    for (command, is_edit) in [
        ("git checkout -- a.rs", true),
        ("cargo fmt && git restore a.rs", true),
        ("git checkout -- a.rs; ls", false),
        ("git restore --staged a.rs", false),
    ] {
        let world = World::new();
        let file = json!({"file_path": world.path("work/a.rs")});
        Script::of(&world)
            .ago(30)
            .user("mine")
            .ago(6)
            .does("Read", file)
            .save(&world, ME);
        Script::of(&world)
            .ago(12)
            .user(TASK)
            .ago(2)
            .runs(command, false)
            .save(&world, ONE);
        let bullet = format!("- 11111111 (2m ago, 2 messages): \"{TASK}\" -> ");
        let expected = match is_edit {
            true => block(&[
                "- ! 11111111 edited a.rs 2m ago; you read it 6m ago",
                &(bullet + "updated a.rs, ran 1 command"),
            ]),
            false => block(&[bullet + "ran 1 command"]),
        };
        assert_eq!(told(&world), expected, "{command}");
    }
}

#[test]
fn commits_pushes_and_branches_are_facts() {
    for (commands, clause) in [
        (
            &["git commit -m 'tax in totals'"][..],
            " -> ran 1 command; committed \"tax in totals\"",
        ),
        (
            &["git commit -m one", "git commit -m two && git push"],
            " -> ran 2 commands; committed 2 times, last \"two\" and pushed",
        ),
        (&["git push"], " -> ran 1 command; pushed"),
        (
            &["git commit -m one; ls", "git push & wait"],
            " -> ran 2 commands",
        ),
        (
            &["git commit -m 'DB_PASSWORD=hunter2xyz RELEASE=blue42 deploys'"],
            " -> ran 1 command; committed \"DB_PASSWORD=[redacted] RELEASE=[redacted] deploys\"",
        ),
        (&["git status", "git log"], " -> ran 2 commands"),
    ] {
        let world = World::new();
        let script = Script::of(&world).ago(9).user(TASK);
        let script = commands
            .iter()
            .fold(script, |script, command| script.runs(command, false));
        script.save(&world, ONE);
        let count = commands.len() + 1;
        let expected = format!("- 11111111 (9m ago, {count} messages): \"{TASK}\"{clause}");
        assert_eq!(told(&world), block(&[expected]));
    }
}

/// Another session's switch of branch moves the files of everybody in this checkout; not of another worktree.
#[test]
fn another_branch_in_this_checkout_comes_first() {
    let world = World::new();
    world.write("work/.git/HEAD", "ref: refs/heads/main\n");
    Script::of(&world)
        .ago(9)
        .user(TASK)
        .runs("git switch -c tax", false)
        .save(&world, ONE);
    // Who begins later has seen no other files.
    let bullet = format!("- 11111111 (9m ago, 2 messages): \"{TASK}\" -> ran 1 command");
    let fact = format!("{bullet}; switched to tax");
    assert_eq!(told(&world), block(&[&fact]));
    let world = World::new();
    world.write("work/.git/HEAD", "ref: refs/heads/main\n");
    Script::of(&world).ago(30).user("mine").save(&world, ME);
    Script::of(&world)
        .ago(9)
        .user(TASK)
        .runs("git switch -c tax", false)
        .save(&world, ONE);
    let warning = "- ! 11111111 switched this checkout to tax 9m ago";
    assert_eq!(told(&world), block(&[warning, &bullet]));
    // Whoever has looked since knows.
    let world = World::new();
    world.write("work/.git/HEAD", "ref: refs/heads/main\n");
    Script::of(&world)
        .ago(30)
        .user("mine")
        .ago(3)
        .runs("git pull", false)
        .save(&world, ME);
    Script::of(&world)
        .ago(9)
        .user(TASK)
        .runs("git stash", false)
        .save(&world, ONE);
    assert_eq!(told(&world), block(&[&bullet]));
}

/// Text and question are one message, and a look may come between them.
#[test]
fn a_question_alone_is_told() {
    let part = |script: Script, block: serde_json::Value| {
        script.ago(8).line(
            "assistant",
            json!({"id": "m1", "role": "assistant", "content": [block]}),
        )
    };
    let question = json!({"questions": [{"question": "Redis or NATS?"}]});
    let told = looks(&[
        &|script| part(script, json!({"type": "text", "text": "I have to ask."})),
        &|script| {
            part(
                script,
                json!({"type": "tool_use", "id": "q", "name": "AskUserQuestion", "input": question}),
            )
        },
    ]);
    assert_eq!(
        told[1],
        block(&["- 11111111 (8m ago); asks \"Redis or NATS?\""])
    );
}

#[test]
fn many_calls_at_once_are_told_when_they_end() {
    let edit = |script: Script, number: usize| {
        let block = json!({"type": "tool_use", "id": format!("e{number}"), "name": "Edit",
            "input": {"file_path": format!("f{number}.rs"), "old_string": "a", "new_string": "b"}});
        script.line(
            "assistant",
            json!({"id": "m1", "role": "assistant", "content": [block]}),
        )
    };
    let end = |script: Script, number: usize| {
        let block =
            json!({"type": "tool_result", "tool_use_id": format!("e{number}"), "content": "ok"});
        script.line("user", json!({"role": "user", "content": [block]}))
    };
    let told = looks(&[&|script| (0..20).fold(script, edit), &|script| {
        (0..20).fold(script.ago(5), end)
    }]);
    assert_eq!(
        told[1],
        block(&["- 11111111 (5m ago) -> edited 20 files (f0.rs, f1.rs, f2.rs and 17 more)"])
    );
}

/// Whatever else there is to say of a session, that it edited my file is told.
#[test]
fn a_conflict_fits_into_every_block() {
    let world = World::new();
    let dir = "a-rather-long-directory-name/another-one-that-is-long";
    let file = world.path(format!("work/{dir}/checkout_totals.rs"));
    let edit = json!({"file_path": file, "old_string": "a", "new_string": "b"});
    Script::of(&world)
        .ago(30)
        .user("mine")
        .does("Read", edit.clone())
        .save(&world, ME);
    let subject = "tax in totals and in every other column of the report";
    Script::of(&world)
        .ago(9)
        .user("make the checkout total include the tax of the country that the customer lives in, and round it well")
        .does("Edit", edit)
        .runs(&format!("git commit -m '{subject}' && git push && git switch -c a-long-name-for-a-branch"), false)
        .runs("cargo test --workspace", true)
        .calls("AskUserQuestion", json!({"questions": [{"question": format!("{subject}? ").repeat(4)}]}))
        .save(&world, ONE);
    let told = told(&world);
    assert!(
        told.contains("- ! 11111111 edited ")
            && told.contains("checkout_totals.rs 9m ago; you read it 30m ago"),
        "{told}"
    );
    assert!(told.chars().count() <= 500, "{told}");
}
