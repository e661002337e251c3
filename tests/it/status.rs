//! `session-reader status`: one line for a bar.

use serde_json::json;

use crate::support::claude::{asked, call, prompt, runs, said_line};
use crate::support::times::ago;
use crate::support::world::{ID, ONE, THREE, TWO, World};

/// A session that asks for permission, one that asks a question, one that failed and one at work.
fn four() -> World {
    let world = World::new();
    let cwd = world.path("work");
    let at = |minutes: i64, text: &str| prompt(&cwd, &ago(minutes), text);
    let clean =
        at(5, "clean up") + &call(&ago(4), "c1", "rm -rf build and all that was ever in it");
    world.claude(ONE, &clean);
    let question = json!({"questions": [{"question": "Redis or NATS?"}]});
    let ask =
        json!([{"type": "tool_use", "id": "q", "name": "AskUserQuestion", "input": question}]);
    let queue = at(7, "set up the whole queue for all our services");
    world.claude(TWO, &(queue + &said_line(6, "q", "m", ask)));
    world.claude(THREE, &(at(3, "test") + &call(&ago(2), "c3", "make test")));
    let message = json!({"id": "e", "model": "<synthetic>", "role": "assistant", "content": "API Error: 500"});
    let error = json!({"type": "assistant", "uuid": "e1", "timestamp": ago(8), "isApiErrorMessage": true, "message": message});
    world.claude(ID, &(at(9, "deploy") + &error.to_string() + "\n"));
    runs(&world, ONE, "waiting", "permission prompt");
    runs(&world, TWO, "waiting", "input needed");
    runs(&world, THREE, "busy", "");
    runs(&world, ID, "idle", "");
    world
}

#[test]
fn it_counts_and_names_the_first_that_needs_the_user() {
    let world = four();
    let line = "2 need you · 1 failed · 1 working · \"clean up\": permission: Bash rm -rf bui…\n";
    for args in [
        &["status"][..],
        &["status", "--format", "plain"],
        &["status", "--all"],
    ] {
        world.reader(args).run().success().stdout(line).stderr("");
    }
    let colored = "#[fg=yellow,bold]2 need you#[default] · #[fg=red]1 failed#[default] · #[fg=cyan]1 working#[default] \
                   · \"clean up\": permission: Bash rm -rf bui…\n";
    world
        .reader(&["status", "--format", "tmux"])
        .run()
        .success()
        .stdout(colored);
    let said = &world
        .reader(&["status", "--format", "json"])
        .run()
        .success()
        .json()[0];
    let row = |id: &str, title: &str, state: &str, reason: &str, since: &str| {
        json!({
            "id": id, "handle": &id[..8], "agent": "claude", "title": title, "cwd": world.path("work"),
            "state": state, "reason": reason, "since": since,
        })
    };
    let expected = json!({
        "needs_you": 2, "failed": 1, "working": 1,
        "urgent": [
            row(ONE, "clean up", "needs-you", "permission: Bash rm -rf build and all that was ever in it", "2026-11-16T02:56:00.000Z"),
            row(TWO, "set up the whole queue for all our services", "needs-you", "question: Redis or NATS?", "2026-11-16T02:54:00.000Z"),
            row(ID, "deploy", "error", "API Error: 500", "2026-11-16T02:52:00.000Z"),
        ],
    });
    assert_eq!(*said, expected);
}

#[test]
fn with_nothing_up_it_is_empty() {
    let world = World::new();
    asked(&world, ONE, 90, "silent for longer than an hour");
    for format in ["plain", "tmux"] {
        world
            .reader(&["status", "--format", format])
            .run()
            .success()
            .stdout("")
            .stderr("");
    }
    world
        .reader(&["status", "--format", "json"])
        .run()
        .success()
        .objects("{\"needs_you\":0,\"failed\":0,\"working\":0,\"urgent\":[]}\n");
    asked(&world, TWO, 2, "at work");
    world
        .reader(&["status"])
        .run()
        .success()
        .stdout("1 working\n");
}

#[test]
fn with_all_it_is_about_the_whole_machine() {
    let world = World::new();
    std::fs::create_dir(world.path("other")).expect("a directory");
    world.claude(ONE, &prompt(&world.path("other"), &ago(1), "elsewhere"));
    world.reader(&["status"]).run().success().stdout("");
    // What the hook is to mention does not matter.
    world
        .reader(&["status"])
        .env("SESSION_CONTEXT_SCOPE", "machine")
        .run()
        .success()
        .stdout("");
    let all = || world.reader(&["status", "--all"]);
    all().run().success().stdout("1 working\n");
    all()
        .env("SESSION_CONTEXT_IGNORE", world.path("other"))
        .run()
        .success()
        .stdout("");
}

/// What a transcript says is no colour, no format and no command of tmux, and no second line.
#[test]
fn a_hostile_command_stays_a_text() {
    let world = World::new();
    let cwd = world.path("work");
    let command = "#(id)#[fg=red]\\n\\u001b[31m ghp_0123456789abcdefghijABCDEFGHIJ012345";
    world.claude(
        ONE,
        &(prompt(&cwd, &ago(5), "#{pid}") + &call(&ago(4), "c1", command)),
    );
    runs(&world, ONE, "waiting", "permission prompt");
    world
        .reader(&["status"])
        .run()
        .success()
        .stdout("1 needs you · \"#{pid}\": permission: Bash #(id)#[fg=…\n");
    world
        .reader(&["status", "--format", "tmux"])
        .run()
        .success()
        .stdout(
            "#[fg=yellow,bold]1 needs you#[default] · \"##{pid}\": permission: Bash ##(id)##[fg=…\n",
        );
}

/// What is wrong is said, and a bar that shows nothing of a program that fails shows the rest.
#[test]
fn a_file_that_cannot_be_read_hides_no_other() {
    let world = World::new();
    asked(&world, ONE, 2, "at work");
    let file = world.transcript(TWO);
    std::fs::create_dir_all(&file).expect("a directory");
    world
        .reader(&["status"])
        .run()
        .success()
        .stdout("1 working\n");
}

#[test]
fn a_format_that_nobody_knows_is_an_error() {
    let world = World::new();
    let done = world.reader(&["status", "--format", "xml"]).run().status(2);
    assert!(done.err().contains("plain, tmux, json"), "{}", done.err());
}
