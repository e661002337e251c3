//! What an agent gives its hook: which prompts count, and what happens if it is broken, cut, slow or no input at all.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::agents::agent;
use crate::support::claude::{asked, prompt};
use crate::support::files::{files, files_below};
use crate::support::hook::{block, hook, input, one_said, text};
use crate::support::run::Run;
use crate::support::times::ago;
use crate::support::trouble::Tells::{Both, Nothing};
use crate::support::trouble::{Call, OBSERVER, Scene, TOLD, UNTOLD, words};
use crate::support::world::{ME, ONE, TWO, World};

/// No output and nothing moves: neither before the first look nor after it. That a session begins is in `start.rs`.
#[test]
fn prompts_that_nobody_typed_are_told_nothing() {
    // Prompts, or events (with an `@`), or an agent within the agent (with a `&`).
    let cases: [(&str, &[&str]); 6] = [
        (
            "agent-sdk",
            &[
                "<task-notification>\n<task-id>b1</task-id>\n</task-notification>\nRead the output",
                "<cross-session-message from=\"x\">hi</cross-session-message>",
                "<teammate-message id=\"x\">hi</teammate-message>",
                "<system-reminder>be brief</system-reminder>",
                "<local-command-stdout>x</local-command-stdout>",
                "Stop hook feedback: go on",
                "",
                " \n",
                "&a1",
                "@Stop",
                "@SessionEnd",
                "@PreToolUse",
            ],
        ),
        (
            "codex",
            &[
                "",
                "<environment_context>\n<cwd>/x</cwd>\n</environment_context>",
                "<subagent_notification>{}</subagent_notification>",
                "<turn_aborted>x</turn_aborted>",
                "# AGENTS.md instructions for /x",
                "@Stop",
            ],
        ),
        (
            "gemini",
            &[
                "",
                "<session_context>x</session_context>",
                "<hook_context>x</hook_context>",
                "@AfterAgent",
            ],
        ),
        (
            "qwen",
            &["", "<system-reminder>x</system-reminder>", "&a1", "@Stop"],
        ),
        ("copilot", &["", " "]),
        (
            "pi",
            &["", "[Inter-session message] from main: hi", "@Stop"],
        ),
    ];
    for (agent, prompts) in cases {
        let (_, input, _) = self::agent(agent);
        let world = World::new();
        let path = asked(&world, ONE, 5, "news");
        for looked in [false, true] {
            if looked {
                assert!(
                    hook(&world, &[], &input(&world, ME))
                        .run()
                        .success()
                        .out()
                        .contains("news"),
                    "{agent}"
                );
                world.append(&path, prompt(&world.path("work"), &ago(1), "later news"));
            }
            let before = files(&world.path(".state"));
            for text in prompts {
                let mut asks = input(&world, ME);
                match text.split_at_checked(1) {
                    Some(("@", event)) => {
                        asks["hook_event_name"] = event.into();
                        asks.as_object_mut().expect("an object").remove("prompt");
                    }
                    Some(("&", id)) => asks["agent_id"] = id.into(),
                    _ => asks["prompt"] = (*text).into(),
                }
                for args in [&[][..], &["--agent", agent]] {
                    hook(&world, args, &asks).run().success().stdout("");
                    assert!(
                        files(&world.path(".state")) == before,
                        "{agent} {asks} moves something"
                    );
                }
            }
        }
        assert!(
            hook(&world, &[], &input(&world, ME))
                .run()
                .success()
                .out()
                .contains("later news"),
            "{agent}"
        );
    }
}

/// A command that a user typed is a prompt.
#[test]
fn commands_are_prompts() {
    for (agent, prompt) in [
        ("agent-sdk", "/review src"),
        ("gemini", "/review src"),
        ("codex", "see <environment_context>"),
        ("agent-sdk", "what is <task-notification> for?"),
    ] {
        let (_, input, _) = self::agent(agent);
        let world = World::new();
        asked(&world, ONE, 5, "news");
        let mut asks = input(&world, ME);
        asks["prompt"] = prompt.into();
        assert!(
            hook(&world, &[], &asks)
                .run()
                .success()
                .out()
                .contains("news"),
            "{agent} {prompt}"
        );
    }
}

/// Another event of Copilot, which does not name its events.
#[test]
fn copilot_events_without_a_prompt_are_told_nothing() {
    let world = World::new();
    asked(&world, ONE, 5, "news");
    let mut asks = agent("copilot").1(&world, ME);
    asks.as_object_mut().expect("an object").remove("prompt");
    asks["reason"] = "complete".into();
    hook(&world, &["--agent", "copilot"], &asks)
        .run()
        .success()
        .stdout("");
    assert!(files(&world.path(".state")).is_empty());
}

/// 003-25, 003-L08, 003-L09: whatever comes on stdin, the exit is 0, stdout is empty, and one line says what is wrong.
#[test]
fn input_that_is_none_costs_one_line_on_stderr() {
    let world = World::new();
    asked(&world, ONE, 5, "news");
    let no_session = "stdin does not say which session asks";
    let with = |key: &str, value: Value| {
        let mut input = input(&world, ME);
        input[key] = value;
        input.to_string().into_bytes()
    };
    let cases: Vec<(Vec<u8>, &[&str], &str)> = vec![
        (
            b"".into(),
            &[],
            "nothing on stdin; an agent's hook gives a JSON object there",
        ),
        (
            b" \n".into(),
            &[],
            "nothing on stdin; an agent's hook gives a JSON object there",
        ),
        (b"hello".into(), &[], "stdin is not a JSON object"),
        (b"[1]".into(), &[], "stdin is not a JSON object"),
        (
            b"{\"session_id\": \"x\"".into(),
            &[],
            "stdin is not a JSON object",
        ),
        (b"\xff\xfe{}".into(), &[], "stdin is not a JSON object"),
        (b"{}".into(), &[], no_session),
        (with("session_id", Value::Null), &[], no_session),
        (with("session_id", "".into()), &[], no_session),
        (
            input(&world, ME).to_string().into_bytes()[..150].into(),
            &[],
            "stdin is not a JSON object",
        ),
        (
            with("prompt", "x".into()),
            &["--agent", "nobody"],
            "no agent is called 'nobody'",
        ),
    ];
    for (stdin, args, problem) in cases {
        let shown = String::from_utf8_lossy(&stdin).into_owned();
        let done = world.context(args).stdin(stdin).run().status(0).stdout("");
        assert_eq!(
            done.err(),
            format!("session-context: {problem}\n"),
            "{shown}"
        );
    }
    assert!(!world.path(".state/session-monitor/cursors").exists());
    // Much of it is fine, also if it comes late or is never read.
    let big = with("prompt", "long ".repeat(400_000).into());
    let done = world.context(&[]).stdin(big.clone()).run().success();
    assert_eq!(
        text(&done),
        block(&["- 11111111 (5m ago, 1 message): \"news\""])
    );
    world
        .context(&[])
        .env("SESSION_CONTEXT", "off")
        .stdin(big)
        .run()
        .success()
        .stdout("");
}

/// Blanks cost nothing, however many there are. What is longer than any prompt is said and not read.
#[test]
fn input_of_any_length_has_an_end() {
    const MB: usize = 1 << 20;
    let world = World::new();
    asked(&world, ONE, 5, "news");
    let asks = |id: &str| input(&world, id).to_string();
    let (blanks, more) = (" ".repeat(20 * MB), "\n".repeat(70 * MB));
    let answer = |stdin: String| world.context(&[]).process().stdin(stdin).run().status(0);
    let told = block(&["- 11111111 (5m ago, 1 message): \"news\""]);
    assert_eq!(
        text(&answer(format!("{blanks}{}", asks("a1")))),
        told,
        "before"
    );
    assert_eq!(
        text(&answer(format!("{}{blanks}", asks("a2")))),
        told,
        "after"
    );
    let refused = "session-context: stdin: more than 16 MB, not read\n";
    let long = asks("a3").replacen('{', &format!("{{\"x\":\"{}\",", "x".repeat(17 * MB)), 1);
    for stdin in [
        long,
        format!("{more}{}", asks("a4")),
        format!("{{{blanks}}}{blanks}x"),
    ] {
        assert_eq!(answer(stdin).stdout("").err(), refused);
    }
}

/// No directory has a path of a megabyte. Who says so is taken to be where the program runs, and a session that says so
/// is nowhere.
#[test]
fn a_cwd_that_is_too_long_is_none() {
    let world = World::new();
    let far = "/a".repeat(500_000);
    asked(&world, ONE, 5, "news");
    world.claude(TWO, &prompt(Path::new(&far), &ago(4), "far"));
    let mut asks = input(&world, ME);
    for cwd in [json!(far), json!(world.path("work"))] {
        asks["cwd"] = cwd;
        asks["session_id"] = format!("{}{ME}", asks["cwd"].as_str().map_or(0, str::len)).into();
        let done = hook(&world, &[], &asks).run().success();
        assert_eq!(
            text(&done),
            block(&["- 11111111 (5m ago, 1 message): \"news\""])
        );
        let asks = json!({"cwd": asks["cwd"], "session_id": ME}).to_string();
        let line = world.context(&["statusline"]).stdin(asks).run().success();
        assert!(line.out().contains("1 "), "{}", line.out());
    }
}

/// Stdin that pauses, wherever, is waited for; one that stays open after a whole object is not.
#[test]
fn stdin_is_waited_for_until_the_object_is_whole() {
    let world = World::new();
    asked(&world, ONE, 9, "one");
    let ask = |id: &str| {
        let mut input = input(&world, id);
        input["effort"] = json!({"level": {"of": "high"}});
        input["a"] = "{}".into();
        let input = input.to_string();
        let inner: Vec<usize> = input.match_indices('}').map(|(at, _)| at + 1).collect();
        assert!(inner.len() >= 4, "{input}");
        (input, inner)
    };
    let answered = |input: &str, pauses: &[usize], open: bool| {
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        let hook = world.context(&[]);
        let child = hook.alter(|command| _ = command.stdin(reader)).spawn();
        std::thread::scope(|scope| {
            let written = scope.spawn(|| {
                let mut from = 0;
                for to in pauses {
                    let _ = writer.write_all(&input.as_bytes()[from..*to]);
                    // Longer than the hook waits after what looks whole: the pause is what is tested.
                    std::thread::sleep(Duration::from_millis(40));
                    from = *to;
                }
                let _ = writer.write_all(&input.as_bytes()[from..]);
                // Closed here, or when it has answered.
                open.then_some(writer)
            });
            let output = if open {
                let output = child.wait_with_output();
                drop(written.join());
                output
            } else {
                drop(written.join());
                child.wait_with_output()
            };
            let output = output.expect("the program runs");
            assert_eq!(
                String::from_utf8_lossy(&output.stderr),
                "",
                "{pauses:?}, open: {open}"
            );
            let reply: Value = serde_json::from_slice(&output.stdout).expect("an answer");
            assert_eq!(
                reply["hookSpecificOutput"]["additionalContext"],
                one_said(9, "one"),
                "{pauses:?}"
            );
        });
    };
    let (_, inner) = ask(ME);
    for (number, at) in inner[..inner.len() - 1].iter().enumerate() {
        answered(
            &ask(&format!("{number}{}", &ME[1..])).0,
            &[*at],
            number % 2 == 0,
        );
    }
    answered(&ask(&format!("b{}", &ME[1..])).0, &inner, false);
    answered(&ask(&format!("c{}", &ME[1..])).0, &[], true);
    answered(&(ask(&format!("d{}", &ME[1..])).0 + "\n\n"), &[], true);
}

#[test]
fn input_that_is_none_is_said() {
    const NOTHING: &str = "nothing on stdin";
    const NOT: &str = "stdin is not a JSON object";
    const WHO: &str = "which session asks";
    const TIME: &str = "stdin: nothing, or no end of it";
    let (zeros, deep) = ("\0".repeat(4096), "[".repeat(1 << 20));
    let deeper = "{\"a\":".repeat(1 << 18);
    let inputs = [
        ("", NOTHING),
        (" \n\t \r\n", NOTHING),
        ("go on, please", NOT),
        ("[{}]", NOT),
        ("\"go on\"", NOT),
        ("12", NOT),
        ("null", NOT),
        (&zeros, NOT),
        (&deep, NOT),
        (&deeper, NOT),
        ("{}", WHO),
    ];
    for (asking, says) in inputs {
        let name: String = asking.chars().take(20).collect();
        UNTOLD.one((&name, &[says], &|_, call| call.input = asking.into()));
    }
    for id in [
        Value::Null,
        json!(""),
        json!([OBSERVER]),
        json!({"id": OBSERVER}),
        json!(null),
    ] {
        UNTOLD.one((&id.to_string(), &[WHO], &|_, call| {
            call.set("session_id", id.clone());
        }));
    }
    UNTOLD.all(&[
        ("two objects", &[NOT], &|_, call| {
            call.input = [&*call.input, b"\n", &*call.input].concat();
        }),
        ("closed", &[NOTHING], &|_, call| {
            // SAFETY: one system call.
            call.alter(|command| unsafe { _ = command.pre_exec(|| Ok(_ = libc::close(0))) });
        }),
    ]);
    for length in [0, 100] {
        UNTOLD.one(("kept open", &[TIME], &|_, call| {
            call.with(Run::stdin_stays_open);
            call.input.truncate(length);
            call.env("SESSION_CONTEXT_DEADLINE", "1ns");
        }));
    }
}

#[test]
fn input_of_any_content_is_taken() {
    let values = [
        ("prompt", json!("x".repeat(5 << 20))),
        ("prompt", json!("a\0b\u{7f}\u{1b}[2J")),
        ("cwd", Value::Null),
        ("cwd", json!("../elsewhere")),
        ("cwd", json!(7)),
        ("transcript_path", Value::Null),
        ("transcript_path", json!("")),
        ("transcript_path", json!("../../x.jsonl")),
        ("transcript_path", json!("/nonexistent/x.jsonl")),
        ("transcript_path", json!("/tmp")),
        ("transcript_path", json!("/etc/passwd")),
        ("transcript_path", json!("/dev/zero")),
    ];
    for (key, value) in values {
        TOLD.one((key, &[], &|_, call| call.set(key, value.clone())));
    }
    TOLD.all(&[
        ("lone surrogates", &[], &|_, call| {
            replace(call, "go on", "\\ud800 \\udc00\\ud800");
        }),
        ("blanks around it", &[], &|_, call| {
            call.input = [b" \n\t", &*call.input, b"\r\n \n"].concat();
        }),
        ("over many lines", &[], &|_, call| {
            replace(call, ",\"", "\n,\r\n\t\"");
        }),
    ]);
    for prompt in [&b"go \xff\xfe\xc3 on"[..], b"go \0 on", b"go\ton"] {
        let scene = Scene::new();
        let mut call = scene.call();
        let at = call
            .input
            .windows(5)
            .position(|part| part == b"go on")
            .expect("the prompt");
        call.input.splice(at..at + 5, prompt.iter().copied());
        let output = call.run();
        // Either it is understood, or that is said.
        let text = text(&output);
        let lines = output.err().lines().count();
        assert_eq!(
            lines,
            usize::from(text.is_empty()),
            "{prompt:?}: {}",
            output.err()
        );
        assert_eq!(
            scene.hears(),
            words(if text.is_empty() { Both } else { Nothing }),
            "{prompt:?}"
        );
    }
}

fn replace(call: &mut Call, from: &str, to: &str) {
    call.input = String::from_utf8_lossy(&call.input)
        .replace(from, to)
        .into_bytes();
}

/// A session may be called anything; its cursors stay where cursors are.
#[test]
fn a_session_id_is_no_path() {
    let long = "x".repeat(10 << 10);
    for id in [
        json!("../../../../escaped"),
        json!("/etc/passwd"),
        json!(".."),
        json!("a/b\\c\n\u{1b}[31m\0"),
        json!(long),
        json!(17),
    ] {
        let scene = Scene::new();
        let run = || {
            let mut call = scene.call();
            call.set("session_id", id.clone());
            call.run()
        };
        let (first, second) = (run(), run());
        // A number is an id, or none; that is said.
        let known = first.err().is_empty();
        assert!(known || id.is_number(), "{id}: {}", first.err());
        assert_eq!(
            text(&first),
            words(if known { Both } else { Nothing }),
            "{id}"
        );
        assert_eq!(text(&second), "", "{id}");
        let dir = scene.state().join("cursors");
        let made: Vec<_> = files_below(&scene.0.path(""))
            .into_iter()
            .filter(|path| path.to_string_lossy().contains("escaped"))
            .collect();
        assert!(
            made.is_empty() || made.iter().all(|path| path.starts_with(&dir)),
            "{id}: {made:?}"
        );
    }
}

/// Every beginning of an input is no input.
#[test]
fn cut_input_is_said_and_costs_nothing() {
    let scene = Scene::new();
    let whole = scene.call().input;
    for length in 1..whole.len() {
        let mut call = scene.call();
        call.input.truncate(length);
        let output = call.run();
        let err = output.err();
        assert_eq!(
            (text(&output).as_str(), err),
            ("", "session-context: stdin is not a JSON object\n"),
            "{length} bytes"
        );
    }
    assert_eq!(scene.hears(), words(Both));
}
