//! `session-reader watch` where there is no terminal: one frame as text, from transcripts. Its screens and keys are tested
//! in `src/reader/watch/tests.rs`, and on a terminal in `watch_tmux.rs`.

use crate::support::claude::{prompt, runs};
use crate::support::script::Script;
use crate::support::times::ago;
use crate::support::world::{ONE, THREE, TWO, World};

fn user(id: &str, time: &str, text: &str) -> String {
    let line = serde_json::json!({
        "type": "user", "sessionId": id, "uuid": format!("{id}-{time}"), "cwd": "/none", "timestamp": format!("2026-11-16T{time}Z"),
        "message": {"role": "user", "content": text},
    });
    format!("{line}\n")
}

fn answer(id: &str, time: &str, content: &serde_json::Value) -> String {
    let line = serde_json::json!({
        "type": "assistant", "sessionId": id, "uuid": format!("{id}-{time}-a"), "cwd": "/none", "timestamp": format!("2026-11-16T{time}Z"),
        "message": {"id": format!("m{id}{time}"), "role": "assistant", "model": "m", "stop_reason": "end_turn", "content": content},
    });
    format!("{line}\n")
}

fn said(text: &str) -> serde_json::Value {
    serde_json::json!([{"type": "text", "text": text}])
}

const A: &str = "aaaa1111-0000-4000-8000-000000000001";
const B: &str = "bbbb2222-0000-4000-8000-000000000002";

#[test]
fn without_a_terminal_it_names_the_flag_for_a_frame() {
    let world = World::new();
    let done = world.reader(&["watch"]).run();
    assert_eq!((done.code(), done.out()), (Some(2), ""));
    assert_eq!(
        done.err(),
        "session-reader: watch needs a terminal; `session-reader watch --once` prints one frame as text\n"
    );
}

#[test]
fn a_frame_of_an_empty_home() {
    let world = World::new();
    let done = world.reader(&["watch", "--once"]).run();
    assert_eq!(done.err(), "");
    assert_eq!(
        done.out(),
        " no sessions                                                             ~/work\n  no sessions yet; `session-reader formats` shows where they are looked for\n"
    );
}

#[test]
fn a_frame_of_some_sessions() {
    let world = World::new();
    let question = serde_json::json!([{"type": "tool_use", "id": "t1", "name": "AskUserQuestion", "input": {"questions": [{"question": "Redis or NATS?",
        "options": [{"label": "Redis", "description": "is there already"}, {"label": "NATS"}]}]}}]);
    world.claude(
        A,
        &[
            user(A, "02:40:00", "pick a queue"),
            answer(A, "02:46:00", &question),
        ]
        .concat(),
    );
    world.claude(
        B,
        &[
            user(B, "01:10:00", "write the notes"),
            answer(B, "01:20:00", &said("They are written.")),
        ]
        .concat(),
    );
    let done = world.reader(&["watch", "--once", "--all"]).run();
    assert_eq!(done.err(), "");
    assert_eq!(
        done.out(),
        " 1 needs you                                                       all projects
 Needs you  1
▌ aaaa1111  claude  none  14m  question: Redis or NATS? · pick a queue

 Recent  1
  bbbb2222  claude  none   1h  idle     write the notes

── aaaa1111 · claude · /none · pick a queue ────────────────────────────────────
 2026-11-16
 02:40  user       pick a queue
 02:46  assistant  [AskUserQuestion Redis or NATS?]

 waits for you
   Redis or NATS?
     1. Redis: is there already
     2. NATS
"
    );
}

/// Below those at work the newest comes first, whatever its state, and each row says which that is.
#[test]
fn recency_goes_before_state() {
    let world = World::new();
    let session = |number: u32, time: &str, text: &str| {
        let id = format!("{number}{number}{number}{number}0000-0000-4000-8000-000000000000");
        Script::of(&world)
            .at(time)
            .user(text)
            .says("Yes.")
            .save(&world, &id);
        id
    };
    session(1, "2026-10-13T02:00:00Z", "an old question");
    session(2, "2026-11-16T00:00:00Z", "a question of this morning");
    let done = session(3, &ago(34), "finish it");
    session(4, &ago(50), "and then?");
    session(5, "2026-11-15T02:59:00Z", "a question of yesterday");
    let trouble = serde_json::json!({
        "type": "assistant", "uuid": "e", "sessionId": ONE, "timestamp": ago(90), "isApiErrorMessage": true,
        "message": {"id": "x1", "role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 529"}]},
    });
    world.claude(
        ONE,
        &format!(
            "{}{trouble}\n",
            prompt(&world.path("work"), &ago(90), "go on")
        ),
    );
    Script::of(&world)
        .at("2026-11-14T02:00:00Z")
        .user("stop here")
        .user("[Request interrupted by user]")
        .save(&world, TWO);
    Script::of(&world).ago(2).user("begin").save(&world, THREE);
    world.context(&["done", &done]).run().success();
    let shown = world.reader(&["watch", "--once"]).run().success();
    assert_eq!(
        shown.out().split("\n──").next().unwrap_or_default(),
        " 1 working · 1 waiting                                                   ~/work
 Working  1
▌ 33333333  claude   2m  last seen thinking · begin

 Recent  4
  33330000  claude  34m  done     finish it
  44440000  claude  50m  waiting  and then?
  11111111  claude   1h  error    API Error: 529 · go on
  22220000  claude   3h  idle     a question of this morning

 Earlier  3
  55550000  claude   1d  idle     a question of yesterday
  22222222  claude   2d  idle     interrupted · stop here
  11110000  claude  34d  idle     an old question
"
    );
}

/// The list and the screen say the same about a session: its state, why, and what it is called.
#[test]
fn the_list_says_the_same() {
    let world = World::new();
    let cwd = world.path("work");
    Script::of(&world)
        .ago(5)
        .user("stop here")
        .user("[Request interrupted by user]")
        .save(&world, ONE);
    let trouble = serde_json::json!({
        "type": "assistant", "uuid": "e", "sessionId": TWO, "timestamp": ago(90), "isApiErrorMessage": true,
        "error": "rate_limit",
        "message": {"id": "x1", "role": "assistant", "model": "<synthetic>",
            "content": [{"type": "text", "text": "usage limit reached|1794808800"}]},
    });
    world.claude(
        TWO,
        &format!("{}{trouble}\n", prompt(&cwd, &ago(90), "go on")),
    );
    let gemini = [
        serde_json::json!({"sessionId": "8b585e11-2eb8-459b-b1a6-75f9c89c4176", "projectHash": "9a", "kind": "main"}),
        serde_json::json!({"id": "m1", "timestamp": "2026-11-08T02:00:00Z", "type": "user", "content": [{"text": "explain the cron config"}]}),
        serde_json::json!({"id": "m2", "timestamp": "2026-11-08T02:01:00Z", "type": "gemini", "content": "It runs nightly.", "thoughts": [], "model": "g"}),
    ];
    world.write(
        ".gemini/tmp/app/.project_root",
        format!("{}\n", cwd.display()),
    );
    world.write(
        ".gemini/tmp/app/chats/session-2026-11-08T02-00-8b585e11.jsonl",
        gemini.map(|line| format!("{line}\n")).concat(),
    );
    world.reader(&["list"]).run().success().stdout(
        "\
NAME      AGENT   STATE    AGE  MSGS  TOKENS  TITLE
11111111  claude  waiting   5m     1       -  stop here
22222222  claude  error     1h     1       -  usage limit reached, resets in 3h · go on
8b585e11  gemini  idle      8d     2       -  explain the cron config
",
    );
    world.reader(&["watch", "--once"]).run().success().stdout(
        " 1 waiting                                                               ~/work
 Recent  2
▌ 11111111  claude   5m  waiting  interrupted · stop here
  22222222  claude   1h  error    usage limit reached, resets in 3h · go on

 Earlier  1
  8b585e11  gemini   8d  idle     explain the cron config

── 11111111 · claude · ~/work · stop here ──────────────────────────────────────
 2026-11-16
 02:55  user       stop here
",
    );
}

/// What is printed names commands and flags; there is nobody to press a key.
#[test]
fn a_frame_names_no_keys() {
    let world = World::new();
    for number in 0..24 {
        world.claude(
            &format!("{number:03}aaaaa"),
            &user("a", "00:10:00", "hello"),
        );
    }
    let last = |args: &[&str], cwd: &str| {
        std::fs::create_dir_all(world.path(cwd)).expect("a directory");
        let done = world
            .reader(&[&["watch", "--once"], args].concat())
            .dir(world.path(cwd))
            .run()
            .success();
        done.out().lines().last().unwrap_or_default().to_owned()
    };
    assert_eq!(
        last(&[], "work"),
        "  no sessions in this project; --all shows all projects"
    );
    assert_eq!(
        last(&["--all"], "work"),
        "  4 older: `session-reader list --all` shows them"
    );
    for number in 0..22 {
        world.claude(
            &format!("{number:03}bbbbb"),
            &prompt(&world.path("work"), "2026-11-16T00:10:00Z", "hello"),
        );
    }
    assert_eq!(
        last(&[], "work"),
        "  2 older: `session-reader list` shows them"
    );
}

/// Nothing that somebody wrote is obeyed by a terminal, and each session stays on its line.
#[test]
fn hostile_names_and_titles_stay_on_their_line() {
    let world = World::new();
    let evil = "a\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31m\r\nb\u{202e}c\tz \u{1b}[?1049l";
    let call = serde_json::json!([{"type": "tool_use", "id": "t1", "name": evil, "input": {"command": evil}}]);
    let title = format!(
        "{}\n",
        serde_json::json!({"type": "custom-title", "sessionId": A, "customTitle": evil})
    );
    let lines = [
        user(A, "02:40:00", evil),
        title,
        answer(A, "02:59:00", &call),
    ]
    .concat();
    world.claude(A, &lines);
    world.write(
        "work/.mind/sessions/x\u{1b}[31mred.json",
        format!("{{\"sessionId\":\"{A}\"}}"),
    );
    for colour in ["never", "always"] {
        let done = world
            .reader(&["watch", "--once", "--all", "--color", colour])
            .run();
        let bare: String = done.out().replace("\u{1b}[", "\u{0}");
        assert!(
            !bare.contains(['\u{1b}', '\u{7}', '\u{9b}', '\r', '\t', '\u{202e}']),
            "{bare:?}"
        );
        assert!(colour == "always" || !bare.contains('\u{0}'), "{bare:?}");
        assert!(
            !bare.contains("\u{0}2J") && !bare.contains("\u{0}?"),
            "{bare:?}"
        );
        assert_eq!(
            done.out()
                .lines()
                .filter(|line| line.contains("claude"))
                .count(),
            2,
            "{}",
            done.out()
        );
    }
}

fn header(world: &World, args: &[&str]) -> String {
    let done = world
        .reader(&[&["watch", "--once"], args].concat())
        .run()
        .success();
    done.out()
        .lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// As in `files`: what is in the copy was done once, and what a subagent does counts.
#[test]
fn a_fork_is_no_conflict_and_a_subagent_may_be_one() {
    let world = World::new();
    let origin = || {
        Script::of(&world)
            .ago(30)
            .user("Begin")
            .writes("a.rs", "x\n")
    };
    origin().save(&world, ONE);
    let fork = origin()
        .ago(10)
        .user("Go on in the fork")
        .says("Yes.")
        .save(&world, TWO);
    assert_eq!(header(&world, &[]), "1 working · 1 waiting ~/work");
    let subagent = Script::of(&world)
        .ago(5)
        .user("Change it, says the agent")
        .writes("a.rs", "y\n")
        .text();
    let subagent = subagent.replace("\"type\":", "\"isSidechain\":true,\"type\":");
    world.write(
        fork.with_extension("").join("subagents/agent-a1.jsonl"),
        subagent,
    );
    assert_eq!(
        header(&world, &[]),
        "1 working · 1 waiting ! a.rs: 22222222, 11111111 ~/work"
    );
    std::fs::create_dir(world.path("elsewhere")).expect("a directory");
    let elsewhere = world
        .reader(&["watch", "--once"])
        .dir(world.path("elsewhere"))
        .run()
        .success();
    assert!(!elsewhere.out().contains("a.rs"), "{}", elsewhere.out());
    let all = world
        .reader(&["watch", "--once", "--all"])
        .dir(world.path("elsewhere"))
        .run()
        .success();
    assert!(all.out().contains("! a.rs: "), "{}", all.out());
}

/// An error concerns the user for an hour; then it is one of many things that once were.
#[test]
fn an_old_error_concerns_nobody() {
    for (minutes, wanted) in [
        (59, "1 failed ~/work"),
        (61, "1 inactive ~/work"),
        (29 * 24 * 60, "1 inactive ~/work"),
    ] {
        let world = World::new();
        let trouble = serde_json::json!({
            "type": "assistant", "uuid": "e", "sessionId": ONE, "timestamp": ago(minutes), "isApiErrorMessage": true,
            "message": {"id": "x1", "role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 529"}]},
        });
        world.claude(
            ONE,
            &format!(
                "{}{trouble}\n",
                prompt(&world.path("work"), &ago(minutes), "go on")
            ),
        );
        assert_eq!(header(&world, &[]), wanted, "{minutes}");
        let state = world.reader(&["list", "--json"]).run().success().json()[0]["state"].clone();
        assert_eq!(state, "error", "the word stays");
    }
}

/// The picture in the README is made of this, so it is the same on every machine and at any time.
#[test]
fn the_demo_is_always_the_same() {
    let world = World::new();
    let run = || {
        world
            .reader(&["watch", "--once", "--demo"])
            .env("COLUMNS", "100")
            .run()
    };
    let done = run();
    assert_eq!((done.code(), done.err()), (Some(0), ""));
    if cfg!(target_os = "linux") {
        assert_eq!(done.out(), include_str!("watch_demo.txt"));
    }
    assert_eq!(run().out(), done.out());
    assert!(
        !world.path(".cache").exists() && !world.path(".state").exists(),
        "nothing of the user is touched"
    );
}

/// A log that cannot be read is said to be so.
#[test]
fn a_log_that_cannot_be_read_is_said() {
    let world = World::new();
    let path = world.claude(A, &user(A, "02:59:00", "go on"));
    // The list is made without the transcript, the log is not.
    world.reader(&["watch", "--once"]).run().success();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o000))
        .expect("closed");
    let done = world.reader(&["watch", "--once"]).without_rights().run();
    assert!(
        done.err()
            .contains(&format!("{A}.jsonl: Permission denied")),
        "{}{}",
        done.out(),
        done.err()
    );
}

/// Not every terminal says where its cursor is; and the editor runs where the user is.
#[test]
fn a_terminal_that_answers_nothing_will_do() {
    use crate::support::run::in_a_terminal_of;
    let world = World::new();
    let dir = world.path("work/below");
    std::fs::create_dir_all(&dir).expect("a directory");
    let lines = user(A, "02:59:00", "go on").replace(
        world.path("work").to_str().expect("UTF-8"),
        dir.to_str().expect("UTF-8"),
    );
    world.claude(A, &lines);
    let editor = ("EDITOR", "pwd > $HOME/where; :");
    let Some(out) = in_a_terminal_of(
        24,
        &world,
        "session-reader watch --all; echo ended $?",
        editor,
        "\u{c}o\u{c}q",
    ) else {
        return;
    };
    assert!(
        out.contains("ended 0") && !out.contains("\u{1b}[6n"),
        "{out:?}"
    );
    let place = std::fs::read_to_string(world.path("where")).expect("the editor ran");
    assert_eq!(place.trim(), world.path("work").to_str().expect("UTF-8"));
}

/// A file of the project is named as a person in there would, and a call that runs for long without a sign of life is said.
#[test]
fn a_reason_names_files_from_the_project_and_says_who_is_silent() {
    let world = World::new();
    let edit = serde_json::json!({
        "file_path": world.path("work/src/a.rs"), "old_string": "a", "new_string": "b",
    });
    Script::of(&world)
        .ago(4)
        .user("tidy up")
        .calls("Edit", edit)
        .save(&world, ONE);
    Script::of(&world)
        .ago(12)
        .user("test it")
        .calls("Bash", serde_json::json!({"command": "cargo test"}))
        .save(&world, TWO);
    runs(&world, ONE, "waiting", "permission prompt");
    runs(&world, TWO, "busy", "");
    let shown = world.reader(&["watch", "--once"]).run().success();
    for line in [
        "▌ 11111111  claude   4m  permission: Edit src/a.rs · tidy up",
        "  22222222  claude  12m  silent 12m in cargo test · test it",
    ] {
        assert!(
            shown.out().lines().any(|shown| shown == line),
            "{line}\n{}",
            shown.out()
        );
    }
    let rows = world.reader(&["list", "--json"]).run().success().json();
    assert_eq!(rows[0]["reason"], "permission: Edit src/a.rs");
    assert_eq!(rows[1]["reason"], "running Bash cargo test");
    let resume = world
        .reader(&["resume", ONE, "--json"])
        .run()
        .success()
        .json();
    assert_eq!(resume[0]["reason"], "permission: Edit src/a.rs");
}
