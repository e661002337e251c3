//! `session-context` as a hook: the other sessions are told once, to every agent in its own form.
//!
//! What is said of a session is in `news.rs`, how much in `budget.rs`, of which sessions in `scope.rs`, from look to look
//! in `looks.rs`, and what goes wrong in `cursors.rs`, `input.rs`, `deadline.rs` and `surroundings.rs`. The reader's
//! acceptance cases have their tests elsewhere: 003-19, 003-20, 003-T22, 003-D10, D20, 003-T25 in `log.rs`; 003-T23 in
//! `transcripts.rs`; 003-D11, D16 in `cli.rs`; 003-04 to 003-06, 003-T24, 003-T26 to T31 in `names.rs`.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::agents::{AGENTS, agent};
use crate::support::claude::{answer, asked, call, calls, line, prompt, result, said};
use crate::support::clients::{OWN, SEEN, all_clients};
use crate::support::hook::{
    HEADER, REQUEST, block, cursors, hook, input, one_said, text, told, told_to,
};
use crate::support::times::ago;
use crate::support::world::{ME, ONE, THREE, TWO, World, path};

/// 003-01, 003-02, 003-11, 003-13, 003-16, 003-17, 003-21, 003-D03, 003-L02, 003-T13 to T16, 003-03 and 003-27 (there is
/// no network and no PATH): the other sessions, newest first, once; never the one that asks. 003-T08: two edits, a command and
/// a prompt are two messages, and the newest substantive prompt is quoted.
#[test]
fn the_other_sessions_are_told_once() {
    let world = World::new();
    let cwd = world.path("work");
    let mine = asked(&world, ME, 1, "what I asked myself");
    assert_eq!(told(&world), "", "nobody else");
    let done = calls(3, "c1", &["Edit a.rs", "Edit b.rs", "Bash make"]);
    world.claude(
        ONE,
        &(prompt(&cwd, &ago(4), "how do I deploy this?") + &done),
    );
    asked(&world, TWO, 20, "new cron config request");
    let expected = [
        "- 11111111 (3m ago, 2 messages): \"how do I deploy this?\" -> edited 2 files (a.rs, b.rs), ran 1 command",
        "- 22222222 (20m ago, 1 message): \"new cron config request\"",
    ];
    assert_eq!(told(&world), block(&expected));
    assert_eq!(told(&world), "");
    world.append(mine, prompt(&cwd, &ago(0), "mine again"));
    assert_eq!(told(&world), "");
    world.append(world.transcript(TWO), answer(&cwd, &ago(2), "Done."));
    assert_eq!(
        told(&world),
        block(&["- 22222222 (2m ago, 1 message): said \"Done.\""])
    );
    assert_eq!(told(&world), "");
}

/// 003-09, 003-10: each observer has cursors of its own.
#[test]
fn every_observer_is_told() {
    let world = World::new();
    asked(&world, ONE, 5, "one");
    asked(&world, TWO, 6, "two");
    let (one, two) = (
        "- 11111111 (5m ago, 1 message): \"one\"",
        "- 22222222 (6m ago, 1 message): \"two\"",
    );
    for _ in 0..2 {
        for (id, bullets) in [
            (ME, &[one, two][..]),
            (ONE, &[two]),
            (TWO, &[one]),
            (THREE, &[one, two]),
        ] {
            let again = cursors(&world, id).exists();
            assert_eq!(
                told_to(&world, id),
                if again { String::new() } else { block(bullets) }
            );
        }
    }
}

/// A block, after what a session is told when it begins: only Pi has no event for that, and says it with a first prompt.
fn with_start(told: &Value, block: &str) -> String {
    let text = told["message"]["content"].as_str().unwrap_or_default();
    let (start, _) = text.split_once(HEADER).unwrap_or_default();
    start.to_owned() + block
}

/// 003-17, 003-18: each agent is told in its own form, whether or not it says who it is. The text is the same.
#[test]
fn every_agent_is_told_in_its_own_form() {
    let world = World::new();
    let cwd = world.path("work");
    let lines = prompt(&cwd, &ago(4), "how do I deploy this?") + &calls(3, "c1", &["Bash make"]);
    // It got its answer, so no session is told at its start that this one broke off.
    world.claude(ONE, &(lines + &answer(&cwd, &ago(3), "By make.")));
    for (agent, input, reply) in AGENTS {
        let label = if agent == "agent-sdk" { "" } else { "claude:" };
        let bullet = format!(
            "- {label}11111111 (3m ago, 3 messages): \"how do I deploy this?\" -> ran 1 command"
        );
        for (number, args) in [
            &[][..],
            &["--agent", agent],
            &[&*format!("--agent={agent}")],
        ]
        .iter()
        .enumerate()
        {
            let id = format!("aaaaaaa{number}-0000-4000-8000-00000000000a");
            let done = hook(&world, args, &input(&world, &id)).run().success();
            assert_eq!(done.json(), [reply(&block(&[&bullet]))], "{agent} {args:?}");
            assert_eq!(done.out().matches('\n').count(), 1);
            hook(&world, args, &input(&world, &id))
                .run()
                .success()
                .stdout("");
        }
    }
    let done = hook(&world, &["--agent", "claude-code"], &input(&world, ME))
        .run()
        .success();
    assert!(text(&done).contains("deploy"), "an alias is a name");
}

/// 003-08, 003-T20: sessions of all six formats, written by the real clients, are told to each of the six.
#[test]
fn sessions_of_all_agents_see_each_other() {
    let world = all_clients();
    for (agent, input, reply) in AGENTS {
        let own = format!("{}:", agent.replace("agent-sdk", "claude"));
        let bullets: Vec<_> = SEEN
            .lines()
            .map(|line| format!("- {}", line.strip_prefix(&own).unwrap_or(line)))
            .collect();
        let done = hook(&world, &["--budget", "9000"], &input(&world, ME))
            .run()
            .success();
        let [told] = &done.json()[..] else {
            panic!("{agent}: {}", done.out())
        };
        assert_eq!(*told, reply(&with_start(told, &block(&bullets))), "{agent}");
        hook(&world, &["--budget", "9000"], &input(&world, ME))
            .run()
            .success()
            .stdout("");
    }
}

/// No session is told of itself, also where the name of a file has only a part of its id.
#[test]
fn no_session_is_told_of_itself() {
    let world = all_clients();
    for (agent, id) in OWN {
        let asks = self::agent(agent).1(&world, id);
        let done = hook(&world, &["--budget", "9000", "--agent", agent], &asks)
            .run()
            .success();
        let (_, out) = done.out().split_once(HEADER).expect("a block");
        let out = out.replace("\\n- ! ", "");
        assert_eq!(out.matches("\\n- ").count(), 15, "{agent}: {out}");
        assert!(
            !out.contains(&format!("\\n- {}", &id[..13])),
            "{agent}: {out}"
        );
    }
}

/// A session that began in another project and came here. Copilot and Codex write the directory once in a while; all that
/// comes until the next time is told, also where there is more of it than is read. What is stepped over was not left out.
#[test]
fn a_session_that_came_here_is_told_at_every_look() {
    let (here, there) = (
        |world: &World| path(world, "work"),
        |world: &World| path(world, "other"),
    );
    let copilot = |kind: &str, id: &str, minutes: i64, data: Value| {
        line(json!({"type": kind, "data": data, "id": id, "timestamp": ago(minutes)}))
    };
    let codex = |kind: &str, minutes: i64, payload: Value| {
        line(json!({"timestamp": ago(minutes), "type": kind, "payload": payload}))
    };
    let copilot_comes = |kind: &str, id: &str, minutes: i64, cwd: String| {
        copilot(
            kind,
            id,
            minutes,
            json!({"sessionId": TWO, "context": {"cwd": cwd}}),
        )
    };
    let copilot_asked = |minutes: i64, text: &str| {
        copilot(
            "user.message",
            &format!("u{minutes}"),
            minutes,
            json!({"content": text}),
        )
    };
    let codex_asked = |minutes: i64, text: &str| {
        let content = json!([{"type": "input_text", "text": text}]);
        codex(
            "response_item",
            minutes,
            json!({"type": "message", "role": "user", "content": content}),
        )
    };

    let world = World::new();
    let file = format!(".copilot/session-state/{TWO}/events.jsonl");
    world.write(
        &file,
        copilot_comes("session.start", "s", 40, there(&world)) + &copilot_asked(39, "elsewhere"),
    );
    assert_eq!(told(&world), "");
    world.append(
        &file,
        copilot_comes("session.resume", "r", 30, here(&world))
            + &copilot_asked(29, "rewrite the lexer"),
    );
    assert_eq!(
        told(&world),
        block(&["- copilot:22222222 (29m ago, 1 message): \"rewrite the lexer\""])
    );
    world.append(&file, copilot_asked(9, "rewrite the parser"));
    assert_eq!(
        told(&world),
        block(&["- copilot:22222222 (9m ago, 1 message): \"rewrite the parser\""])
    );
    let long = copilot(
        "tool.execution_start",
        "t",
        8,
        json!({"toolCallId": "t", "pad": "x".repeat(3 << 19)}),
    );
    world.append(&file, long + &copilot_asked(8, "and now the printer"));
    assert_eq!(
        told(&world),
        block(&["- copilot:22222222 (8m ago, 1 message): \"and now the printer\""])
    );
    let long = copilot(
        "user.message",
        "long",
        8,
        json!({"content": "x ".repeat(3 << 18)}),
    );
    world.append(&file, long + &copilot_asked(7, "and now the linker"));
    assert_eq!(
        told(&world),
        block(&["- copilot:22222222 (7m ago, 1+ messages): \"and now the linker\""])
    );
    // What it does after it left is not told.
    world.append(
        &file,
        copilot_comes("session.resume", "l", 6, there(&world))
            + &copilot_asked(5, "elsewhere again"),
    );
    assert_eq!(told(&world), "");
    world.append(&file, copilot_asked(4, "still elsewhere"));
    assert_eq!(told(&world), "");

    let world = World::new();
    let file = ".codex/sessions/2026/11/16/rollout-2026-11-16T02-40-00-01a1e236-1111-7000-8000-000000000001.jsonl";
    let head = json!({"id": "01a1e236-1111-7000-8000-000000000001", "cwd": there(&world)});
    let came = codex("turn_context", 20, json!({"cwd": here(&world)}))
        + &codex_asked(20, "fix the parser here");
    world.write(file, codex("session_meta", 30, head) + &came);
    assert_eq!(
        told(&world),
        block(&["- codex:01a1e236 (20m ago, 1 message): \"fix the parser here\""])
    );
    world.append(file, codex_asked(10, "and document it"));
    assert_eq!(
        told(&world),
        block(&["- codex:01a1e236 (10m ago, 1 message): \"and document it\""])
    );
}

/// A look may fall between a call and its result. What comes of it is told then, and once: that it ran, or that a test
/// fails; nothing if it failed and was no test.
#[test]
fn a_result_that_comes_after_a_look_is_told_once() {
    let fails = |minutes: i64| block(&[format!("- 11111111 ({minutes}m ago); cargo test fails")]);
    let ran = block(&["- 11111111 (5m ago) -> ran 1 command"]);
    for (command, open, failed, then) in [
        (
            "cd x && cargo test 2>&1 | tail",
            "\"cd x && cargo test 2›&1 | tail\"",
            true,
            fails(5),
        ),
        ("cargo test", "cargo test", false, ran),
        ("cat missing", "cat missing", true, String::new()),
    ] {
        let world = World::new();
        let file = asked(&world, ONE, 9, REQUEST);
        world.append(&file, call(&ago(8), "t1", command));
        let first = format!(
            "- 11111111 (8m ago, 2 messages): \"fix the login page\"; no result yet: {open}"
        );
        assert_eq!(told(&world), block(&[first]));
        // Something else meanwhile.
        world.append(&file, calls(7, "c2", &["Edit a.rs"]));
        let meanwhile =
            format!("- 11111111 (7m ago, 1 message) -> updated a.rs; no result yet: {open}");
        assert_eq!(told(&world), block(&[meanwhile]));
        world.append(&file, result(&ago(5), "t1", failed));
        assert_eq!(told(&world), then, "{command}");
        world.append(&file, result(&ago(5), "t1", failed));
        assert_eq!(told(&world), "", "{command}: once");
    }
}

/// A call that was told as pending and then refused or stopped by the user is told as that, and once. One that came and
/// went between two looks is not.
#[test]
fn a_call_that_is_broken_off_after_a_look_is_told_as_that() {
    let came = |text: &str| {
        let content = json!([{"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": text}]);
        let message = json!({"role": "user", "content": content});
        line(json!({"type": "user", "uuid": "r1", "timestamp": ago(5), "message": message}))
    };
    let refused =
        came("The user doesn't want to proceed with this tool use. The tool use was rejected");
    let stopped = came("<error>Command was aborted before completion</error>")
        + &prompt(
            Path::new("/work"),
            &ago(5),
            "[Request interrupted by user for tool use]",
        );
    for (end, how) in [(&refused, "refused"), (&stopped, "did not finish")] {
        let world = World::new();
        let file = asked(&world, ONE, 9, REQUEST);
        world.append(&file, call(&ago(8), "t1", "rm -rf build"));
        let open =
            "- 11111111 (8m ago, 2 messages): \"fix the login page\"; no result yet: rm -rf build";
        assert_eq!(told(&world), block(&[open]));
        world.append(&file, end);
        assert_eq!(
            told(&world),
            block(&[format!("- 11111111 (5m ago); {how}: rm -rf build")])
        );
        assert_eq!(told(&world), "");

        let world = World::new();
        let file = asked(&world, ONE, 9, REQUEST);
        world.append(&file, call(&ago(8), "t1", "rm -rf build") + end);
        assert_eq!(
            told(&world),
            block(&["- 11111111 (5m ago, 2 messages): \"fix the login page\""]),
            "{how}"
        );
    }
}

/// An error is news if it ended the work, and not if the agent went on; a note of a client that will try again is none.
#[test]
fn an_error_is_told_if_it_ended_the_work() {
    let error = |minutes: i64| {
        let message = json!({"id": "e", "model": "<synthetic>", "role": "assistant", "content": "API Error: 500"});
        line(
            json!({"type": "assistant", "uuid": format!("e{minutes}"), "timestamp": ago(minutes), "isApiErrorMessage": true, "message": message}),
        )
    };
    let retry = line(
        json!({"type": "system", "subtype": "api_error", "uuid": "r", "timestamp": ago(8), "error": {"formatted": "529 overloaded"}, "retryAttempt": 1}),
    );
    let world = World::new();
    let file = asked(&world, ONE, 9, REQUEST);
    assert_eq!(told(&world), one_said(9, REQUEST));
    world.append(&file, retry);
    assert_eq!(told(&world), "");
    world.append(&file, error(7));
    assert_eq!(
        told(&world),
        block(&["- 11111111 (7m ago); stopped by an error"])
    );
    assert_eq!(told(&world), "");
    world.append(
        &file,
        error(6) + &answer(&world.path("work"), &ago(5), "Done now."),
    );
    assert_eq!(
        told(&world),
        block(&["- 11111111 (5m ago, 1 message): said \"Done now.\""])
    );
    // A fork has a copy of it.
    let copy = std::fs::read_to_string(&file).expect("a transcript");
    world.append(&file, error(4));
    assert_eq!(
        told(&world),
        block(&["- 11111111 (4m ago); stopped by an error"])
    );
    world.claude(TWO, &(copy + &error(4)));
    assert_eq!(told(&world), "");
}

/// The hook calls a session as the list does: by a title that a file beside the transcript has, or by that of the
/// transcript, until it is taken back; then by the agent's.
#[test]
fn the_hook_and_the_list_agree_on_titles() {
    let title_in_list = |world: &World| {
        let done = world.reader(&["list", "--json"]).run().success();
        done.json()[0]["title"]
            .as_str()
            .expect("a title")
            .to_owned()
    };
    let world = World::new();
    let dir = format!(".copilot/session-state/{TWO}");
    let cwd = path(&world, "work");
    let event = |kind: &str, minutes: i64, data: Value| {
        line(
            json!({"type": kind, "data": data, "id": format!("{kind}{minutes}"), "timestamp": ago(minutes)}),
        )
    };
    let beside = |name: &str, by_person: bool| {
        format!("id: {TWO}\ncwd: {cwd}\nname: {name}\nuser_named: {by_person}\n")
    };
    world.write(
        format!("{dir}/events.jsonl"),
        event(
            "session.start",
            40,
            json!({"sessionId": TWO, "context": {"cwd": cwd}}),
        ),
    );
    for (minutes, name, by_person) in [
        (9, "Fix the login", false),
        (8, "My login", true),
        (7, "Login fixes", false),
    ] {
        world.write(format!("{dir}/workspace.yaml"), beside(name, by_person));
        world.append(
            format!("{dir}/events.jsonl"),
            event("user.message", minutes, json!({"content": REQUEST})),
        );
        let bullet = format!("- copilot:\"{name}\" ({minutes}m ago, 1 message): \"{REQUEST}\"");
        assert_eq!(
            (told(&world), title_in_list(&world)),
            (block(&[bullet]), name.to_owned())
        );
    }

    let world = World::new();
    let file = asked(&world, ONE, 20, REQUEST);
    let by_person =
        |title: &str| line(json!({"type": "custom-title", "customTitle": title, "sessionId": ONE}));
    let by_agent =
        |title: &str| line(json!({"type": "ai-title", "aiTitle": title, "sessionId": ONE}));
    for (minutes, lines, name, title) in [
        (9, by_agent("Parser"), "\"Parser\"", "Parser"),
        (8, by_person("my parser"), "\"my parser\"", "my parser"),
        (7, by_agent("Parser work"), "\"my parser\"", "my parser"),
        (6, by_person(""), "\"Parser work\"", "Parser work"),
        (5, by_agent(""), "11111111", REQUEST),
    ] {
        world.append(&file, lines + &said(&world, minutes, REQUEST));
        let told = told(&world);
        let count = if minutes == 9 {
            "2 messages"
        } else {
            "1 message"
        };
        assert_eq!(
            told,
            block(&[format!("- {name} ({minutes}m ago, {count}): \"{REQUEST}\"")])
        );
        assert_eq!(title_in_list(&world), title);
    }
}
