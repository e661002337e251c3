//! `session-context statusline`: one line about the other sessions, after the user's own status line.

use serde_json::json;

use crate::support::claude::{asked, call, calls, edit, prompt, runs, said_line};
use crate::support::hook::statusline;
use crate::support::run::program;
use crate::support::script::Script;
use crate::support::times::ago;
use crate::support::world::{ME, ONE, THREE, TWO, World, path};

/// A session that asks for permission, one that asks a question, one at work, and one that asks for the status line, which
/// would like to run something as well.
fn three_others() -> World {
    let world = World::new();
    let cwd = world.path("work");
    let at = |minutes: i64, text: &str| prompt(&cwd, &ago(minutes), text);
    world.claude(
        ONE,
        &(at(5, "clean up") + &call(&ago(4), "c1", "rm -rf build")),
    );
    let question = json!({"questions": [{"question": "Redis or NATS?"}]});
    let ask =
        json!([{"type": "tool_use", "id": "q", "name": "AskUserQuestion", "input": question}]);
    world.claude(
        TWO,
        &(at(7, "set up the whole queue for all our services") + &said_line(6, "q", "m", ask)),
    );
    world.claude(THREE, &(at(3, "test") + &call(&ago(2), "c3", "make test")));
    world.claude(ME, &(at(2, "mine") + &call(&ago(1), "c4", "ls")));
    runs(&world, ONE, "waiting", "permission prompt");
    runs(&world, TWO, "waiting", "input needed");
    runs(&world, THREE, "busy", "");
    runs(&world, ME, "waiting", "permission prompt");
    world
}

const LINE: &str = "2 need you: \"clean up\" (permission: Bash rm -rf build), 22222222 (question: Redis or NATS?) · 1 working\n";

#[test]
fn it_says_who_needs_the_user_and_why() {
    let world = three_others();
    statusline(&world, &[]).run().success().stdout(LINE);
    // A killed agent needs nobody, and works no more.
    world.write(
        format!(".claude/sessions/{ONE}.json"),
        r#"{"pid":1,"procStart":"1","sessionId":""}"#,
    );
    std::fs::remove_file(world.path(format!(".claude/sessions/{THREE}.json"))).expect("removed");
    statusline(&world, &[])
        .run()
        .success()
        .stdout("1 needs you: 22222222 (question: Redis or NATS?)\n");
}

#[test]
fn it_says_less_where_there_is_less_room() {
    let world = three_others();
    for (columns, wanted) in [
        ("200", LINE),
        (
            "104",
            "2 need you: \"clean up\" (permission: Bash rm…), 22222222 (question: Redis or …) · 1 working\n",
        ),
        ("60", "2 need you: \"clean up\", 22222222 · 1 working\n"),
        ("40", "2 need you · 1 working\n"),
        ("16", "2 need you …\n"),
    ] {
        statusline(&world, &[])
            .env("COLUMNS", columns)
            .run()
            .success()
            .stdout(wanted);
    }
}

#[test]
fn with_nothing_up_it_says_nothing() {
    let world = World::new();
    statusline(&world, &[]).run().success().stdout("");
    asked(&world, ME, 1, "only this one works");
    asked(&world, ONE, 90, "silent for longer than an hour");
    statusline(&world, &[]).run().success().stdout("");
    asked(&world, TWO, 2, "at work");
    statusline(&world, &[])
        .run()
        .success()
        .stdout("1 working\n");
}

#[test]
fn only_sessions_of_the_project_count() {
    let world = World::new();
    std::fs::create_dir(world.path("other")).expect("a directory");
    world.claude(ONE, &prompt(&world.path("other"), &ago(1), "elsewhere"));
    statusline(&world, &[]).run().success().stdout("");
    let anywhere = || statusline(&world, &[]).env("SESSION_CONTEXT_SCOPE", "machine");
    anywhere().run().success().stdout("1 working\n");
    anywhere()
        .env("SESSION_CONTEXT_IGNORE", world.path("other"))
        .run()
        .success()
        .stdout("");
    anywhere()
        .env("SESSION_CONTEXT_IGNORE", world.path("work"))
        .run()
        .success()
        .stdout("");
}

#[test]
fn a_file_that_another_session_edited_is_named() {
    let lines = |mine: &dyn Fn(&World) -> String, theirs: &dyn Fn(&World) -> String| {
        let world = World::new();
        let cwd = world.path("work");
        world.claude(ME, &(prompt(&cwd, &ago(100), "mine") + &mine(&world)));
        world.claude(ONE, &(prompt(&cwd, &ago(90), "theirs") + &theirs(&world)));
        statusline(&world, &[]).run().success().out().to_owned()
    };
    let edited = |minutes: i64, file: &'static str| {
        move |world: &World| edit(minutes, file, &path(world, &format!("work/{file}")))
    };
    let read = |minutes: i64| {
        move |world: &World| {
            calls(
                minutes,
                "r",
                &[&format!("Read {}", path(world, "work/a.rs"))],
            )
        }
    };
    let conflict = "1 working · ! a.rs\n";
    assert_eq!(
        lines(&edited(50, "a.rs"), &edited(2, "a.rs")),
        conflict,
        "both edited it"
    );
    assert_eq!(
        lines(&edited(1, "a.rs"), &edited(2, "a.rs")),
        "1 working\n",
        "it was edited again since"
    );
    assert_eq!(
        lines(&read(50), &edited(2, "a.rs")),
        conflict,
        "it was read before"
    );
    assert_eq!(
        lines(&read(1), &edited(2, "a.rs")),
        "1 working\n",
        "it has seen the change"
    );
    assert_eq!(
        lines(&edited(1, "b.rs"), &edited(2, "a.rs")),
        "1 working\n",
        "another file"
    );
    assert_eq!(
        lines(&edited(1, "a.rs"), &read(2)),
        "1 working\n",
        "it only read it"
    );
    assert_eq!(
        lines(&edited(1, "a.rs"), &edited(70, "a.rs")),
        "",
        "long ago"
    );
    let both = |minutes: i64| {
        move |world: &World| edited(minutes, "a.rs")(world) + &edited(minutes - 1, "b.rs")(world)
    };
    assert_eq!(
        lines(&both(9), &both(6)),
        "1 working · ! b.rs +1\n",
        "two files"
    );
}

/// A fork begins with a copy of another session: what is in there was done once.
#[test]
fn a_fork_is_no_conflict_with_its_origin() {
    let world = World::new();
    let origin = || {
        Script::of(&world)
            .ago(30)
            .user("Begin")
            .writes("a.rs", "x\n")
    };
    origin().ago(9).user("On").save(&world, ONE);
    origin()
        .ago(10)
        .user("Go on in the fork")
        .says("Yes.")
        .save(&world, ME);
    statusline(&world, &[])
        .run()
        .success()
        .stdout("1 working\n");
    origin()
        .ago(9)
        .user("On")
        .writes("a.rs", "y\n")
        .save(&world, ONE);
    origin()
        .ago(10)
        .user("Go on in the fork")
        .writes("a.rs", "z\n")
        .save(&world, ME);
    statusline(&world, &[])
        .run()
        .success()
        .stdout("1 working · ! a.rs\n");
}

#[test]
fn a_session_that_failed_is_named() {
    let world = three_others();
    let trouble = json!({
        "type": "assistant", "uuid": "e", "sessionId": THREE, "timestamp": ago(1), "isApiErrorMessage": true,
        "message": {"id": "x1", "role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 529"}]},
    });
    world.claude(
        THREE,
        &format!(
            "{}{trouble}\n",
            prompt(&world.path("work"), &ago(2), "test")
        ),
    );
    runs(&world, THREE, "idle", "");
    let line = statusline(&world, &[]).run().success().out().to_owned();
    assert!(
        line.starts_with("2 need you: ") && line.ends_with(" · 1 failed: test (API Error: 529)\n"),
        "{line}"
    );
}

/// It gets the same input, and what it prints comes first, byte by byte.
#[test]
fn the_users_own_status_line_comes_first() {
    let world = World::new();
    statusline(&world, &["--", "printf 'main \\033[1mx'"])
        .run()
        .success()
        .stdout("main \u{1b}[1mx");
    asked(&world, ONE, 1, "at work");
    statusline(&world, &["--", "printf 'main \\033[1mx'"])
        .run()
        .success()
        .stdout("main \u{1b}[1mx\n1 working\n");
    statusline(&world, &["--", "printf '%s\\n' \"a b\" | cat"])
        .run()
        .success()
        .stdout("a b\n1 working\n");
    statusline(&world, &["--", "printf", "%s+", "a b", "c"])
        .run()
        .success()
        .stdout("a b+c+\n1 working\n");
    statusline(&world, &["--", "cut -c1-7"])
        .run()
        .success()
        .stdout("{\"cwd\":\n1 working\n");
}

#[test]
fn ours_comes_whatever_theirs_does() {
    let world = World::new();
    asked(&world, ONE, 1, "at work");
    let failed = statusline(&world, &["--", "echo half; exit 3"])
        .run()
        .status(0)
        .stdout("1 working\n");
    assert_eq!(
        failed.err(),
        "session-context: the status line failed: exit status: 3\n"
    );
    statusline(&world, &["--", "no-such-program", "-x"])
        .run()
        .status(0)
        .stdout("1 working\n")
        .stderr_has("no-such-program: ");
    statusline(&world, &["--", "exec 0<&-; echo"])
        .run()
        .success()
        .stdout("\n1 working\n");
}

#[test]
fn what_is_no_json_asks_for_no_session() {
    let world = World::new();
    asked(&world, ME, 1, "at work");
    for asks in [
        "",
        "not JSON",
        "[]",
        r#"{"session_id": null, "cwd": "relative", "workspace": {}}"#,
        r#"{"session_id": 3}"#,
    ] {
        world
            .context(&["statusline"])
            .stdin(asks)
            .run()
            .success()
            .stdout("1 working\n");
    }
}

/// Secrets and control characters of a command do not reach the screen.
#[test]
fn what_others_wrote_is_cleaned() {
    let world = World::new();
    let command =
        "curl -H 'Authorization: Bearer ghp_0123456789abcdefghijABCDEFGHIJ012345' \\u001b[31mx";
    world.claude(
        ONE,
        &(prompt(&world.path("work"), &ago(2), "a\u{1b}]0;b") + &call(&ago(1), "c", command)),
    );
    runs(&world, ONE, "waiting", "permission prompt");
    let line = statusline(&world, &[]).run().success().out().to_owned();
    assert!(
        line.contains("permission: Bash curl")
            && !line.contains("ghp_")
            && !line.contains('\u{1b}'),
        "{line}"
    );
}

/// The files that have the status line, what is in them before, and what is in them then; `PROGRAM` is ours.
const INSTALLED: [(&str, &str, &str, &str); 8] = [
    (
        "claude",
        ".claude/settings.json",
        "{\"hooks\": {}, \"statusLine\": {\"type\": \"command\", \"command\": \"date\", \"refreshInterval\": 5}}",
        "{\"type\": \"command\", \"command\": \"PROGRAM statusline -- date\", \"refreshInterval\": 5}",
    ),
    (
        "qwen",
        ".qwen/settings.json",
        "{\"ui\": {}, \"hooks\": {\"Stop\": [], \"SessionStart\": []}}",
        "{\"ui\": {\"statusLine\": {\"type\": \"command\", \"command\": \"PROGRAM statusline\", \"refreshInterval\": 5}}",
    ),
    (
        "claude",
        ".claude/settings.json",
        "{\n  // mine\n  \"statusLine\": {\"type\": \"command\", \"command\": \"~/line.sh | cut -c'1-9'\", \"padding\": 0} // so\n}\n",
        "{\"type\": \"command\", \"command\": \"PROGRAM statusline -- '~/line.sh | cut -c'\\\\''1-9'\\\\'''\", \"padding\": 0, \"refreshInterval\": 5}",
    ),
    (
        "claude",
        ".claude/settings.json",
        "{\"statusLine\": {\"type\": \"command\", \"command\": \"date\", \"refreshInterval\": 1}}",
        "{\"type\": \"command\", \"command\": \"PROGRAM statusline -- date\", \"refreshInterval\": 1}",
    ),
    (
        "claude",
        ".claude/settings.json",
        "{\"model\": \"opus\"}",
        "\"statusLine\": {\"type\": \"command\", \"command\": \"PROGRAM statusline\", \"refreshInterval\": 5}",
    ),
    (
        "qwen",
        ".qwen/settings.json",
        "{\"ui\": {\"theme\": \"x\"}}",
        "{\"theme\": \"x\", \"statusLine\": {\"type\": \"command\", \"command\": \"PROGRAM statusline\", \"refreshInterval\": 5}}",
    ),
    (
        "qwen",
        ".qwen/settings.json",
        "{\"a\": 1}",
        "\"ui\": {\"statusLine\": {\"type\": \"command\", \"command\": \"PROGRAM statusline\", \"refreshInterval\": 5}}",
    ),
    (
        "copilot",
        ".copilot/settings.json",
        "{\"a\": 1}",
        "{\"a\": 1, \"statusLine\": {\"type\": \"command\", \"command\": \"PROGRAM statusline\", \"refreshInterval\": 5}}",
    ),
];

/// It is put around the user's own, whatever comes after that, and taken out again.
#[test]
fn install_puts_it_around_the_users_own_and_uninstall_takes_it_out() {
    for (agent, file, before, then) in INSTALLED {
        let world = World::new();
        let read = || std::fs::read_to_string(world.path(file)).expect("settings");
        world.write(file, before);
        let done = world
            .context(&["install", agent, "--statusline"])
            .run()
            .success();
        assert!(
            done.out().contains(&format!("\nstatus added to ~/{file}")),
            "{}",
            done.out()
        );
        let installed = read();
        assert!(
            installed.contains(&then.replace("PROGRAM", &program())),
            "{installed}"
        );
        for args in [&["install", agent, "--statusline"][..], &["install", agent]] {
            let again = world.context(args).run().success();
            assert!(
                again
                    .out()
                    .contains(&format!("\nstatus already installed in ~/{file}")),
                "{}",
                again.out()
            );
            assert_eq!(read(), installed);
        }
        world.context(&["uninstall", agent]).run().success();
        assert_eq!(read(), before, "from the backup");
        assert!(
            !world
                .path(format!("{file}.before-session-context"))
                .exists()
        );
        // The same where something else was changed since.
        let changed = |text: &str| text.replacen('{', "{\"new\": 1, ", 1);
        world
            .context(&["install", agent, "--statusline"])
            .run()
            .success();
        world.write(file, changed(&read()));
        world.context(&["uninstall", agent]).run().success();
        assert_eq!(read(), changed(before));
    }
}

#[test]
fn the_doctor_says_where_it_is() {
    let world = World::new();
    let lines = || {
        let doctor = world.context(&["doctor"]).run();
        let of_copilot = |line: &&str| line.contains(" copilot ");
        doctor
            .out()
            .lines()
            .filter(of_copilot)
            .map(str::to_owned)
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(lines(), "");
    world.write(".copilot/settings.json", "{}");
    world.context(&["install", "copilot"]).run().success();
    let hook = "ok copilot   no sessions; hook in ~/.copilot/hooks/session-monitor.json\n";
    let missing = "-- copilot   no status line: session-context install copilot --statusline";
    assert_eq!(lines(), format!("{hook}{missing}"));
    world
        .context(&["install", "copilot", "--statusline"])
        .run()
        .success();
    assert_eq!(
        lines(),
        format!("{hook}ok copilot   status line in ~/.copilot/settings.json")
    );
    let moved = "{\"statusLine\": {\"command\": \"/gone/session-context statusline\"}}";
    world.write(".copilot/settings.json", moved);
    let gone = "!! copilot   status line: ~/.copilot/settings.json runs /gone/session-context, which is not there; install it again";
    assert_eq!(lines(), format!("{hook}{gone}"));
    world.write(".copilot/settings.json", "{");
    // The same file may switch hooks off.
    let broken = "~/.copilot/settings.json:1:1: not JSON: unterminated object";
    assert_eq!(
        lines(),
        format!("!! copilot   no sessions; {broken}\n!! copilot   status line: {broken}")
    );
}

#[test]
fn a_status_line_that_cannot_be_kept_is_left_alone() {
    let world = World::new();
    let preset = "{\"ui\": {\"statusLine\": {\"type\": \"preset\", \"items\": [\"model\"]}}}";
    world.write(".qwen/settings.json", preset);
    let done = world
        .context(&["install", "qwen", "--statusline"])
        .run()
        .status(2);
    let why = "/.qwen/settings.json:1:9: \"ui.statusLine\" has no command that ours could be put around; remove it";
    assert!(done.err().contains(why), "{}", done.err());
    assert_eq!(
        std::fs::read_to_string(world.path(".qwen/settings.json")).expect("settings"),
        preset
    );
    // Whoever does not want one is not stopped by what is there.
    world.context(&["install", "qwen"]).run().success();
    world.write(".copilot/settings.json", "not JSON");
    world.context(&["install", "copilot"]).run().status(0);
    let none = world
        .context(&["install", "codex", "--statusline"])
        .run()
        .success();
    assert!(
        none.out()
            .contains("note   Codex has no status line for commands\n"),
        "{}",
        none.out()
    );
    world
        .context(&["install", "claude", "--statusline", "--project"])
        .run()
        .status(2);
}

/// What the user's status line leaves running keeps nobody waiting, and what it prints beyond a screen is no failure.
#[test]
fn what_theirs_leaves_behind_keeps_nobody_waiting() {
    let world = three_others();
    let fifo = world.path("fifo");
    crate::support::files::fifo(&fifo);
    let fast = statusline(
        &world,
        &["--", &format!("echo MINE; cat {} &", fifo.display())],
    )
    .run()
    .success();
    assert_eq!(fast.out(), format!("MINE\n{LINE}"));
    // Now it may end.
    drop(
        std::fs::File::options()
            .write(true)
            .open(&fifo)
            .expect("somebody reads"),
    );
    let long = statusline(&world, &["--", "yes | head -c 300000"])
        .run()
        .success();
    assert!(
        long.out().starts_with("y\ny\n") && long.out().ends_with(LINE) && long.out().len() < 70_000
    );
}

/// A status line that takes too long is ended, with all that it started, and ours comes without it.
#[test]
fn theirs_is_ended_if_it_takes_too_long() {
    let world = three_others();
    let fifo = world.path("fifo");
    crate::support::files::fifo(&fifo);
    let never = format!("cat {} | cat", fifo.display());
    let slow = statusline(&world, &["--", &never])
        .env("SESSION_MONITOR_PATIENCE", "1ns")
        .run()
        .status(0);
    assert_eq!(slow.out(), LINE);
    assert_eq!(
        slow.err(),
        "session-context: the status line took more than 4 seconds\n"
    );
}

/// One that prints without end is ended like any other, and little of what it prints is kept.
#[test]
fn theirs_is_ended_if_it_prints_without_end() {
    let world = three_others();
    let endless = statusline(&world, &["--", "yes"])
        .env("SESSION_MONITOR_PATIENCE", "50ms")
        .run()
        .status(0);
    assert_eq!(endless.out(), LINE);
    assert_eq!(
        endless.err(),
        "session-context: the status line took more than 4 seconds\n"
    );
}
