//! `session-reader log`: what it shows of a session, and what it says about it. On real transcripts: see `transcripts`.

use crate::cli::in_a_terminal;
use crate::world::{World, answer, call, prompt};

const ONE: &str = "11111111-0000-4000-8000-000000000001";

/// 003-T22, 003-19, 003-20: what was said in full, a line per call, times; nothing else.
#[test]
fn a_claude_session() {
    let world = World::new();
    world.claude(
        "11111111-0000-4000-8000-000000000001",
        concat!(
            r#"{"type":"user","uuid":"u1","timestamp":"2026-11-16T02:00:00.000Z","message":{"role":"user","content":"how do I deploy this?"}}"#, "\n",
            r#"{"type":"assistant","uuid":"a1","timestamp":"2026-11-16T02:00:05.000Z","message":{"id":"m1","role":"assistant","content":[{"type":"thinking","thinking":"hm"}]}}"#, "\n",
            r#"{"type":"assistant","uuid":"a2","timestamp":"2026-11-16T02:00:06.000Z","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"Like this:\n  make deploy"},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"npm test"}}]}}"#, "\n",
            r#"{"type":"user","uuid":"u2","timestamp":"2026-11-16T02:00:07.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"boom"}]}}"#, "\n",
        ),
    );
    world.reader(&["11111111"]).run().success().stdout(concat!(
        "2026-11-16 02:00  user       how do I deploy this?\n",
        "           02:00  assistant  Like this:\n",
        "                               make deploy\n",
        "           02:00  assistant  [Bash npm test] failed\n",
    ));
}

/// What a tool answered, in a Claude session.
fn result(id: &str, text: &str) -> String {
    let text = serde_json::Value::from(text);
    format!(
        r#"{{"type":"user","uuid":"r-{id}","timestamp":"2026-11-16T02:02:00Z","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":{text}}}]}}}}"#
    ) + "\n"
}

/// An error as the client writes it.
fn error(minute: u32, text: &str) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"e{minute}","timestamp":"2026-11-16T02:{minute:02}:00Z","isApiErrorMessage":true,"message":{{"id":"x{minute}","model":"<synthetic>","content":[{{"type":"text","text":"{text}"}}]}}}}"#
    ) + "\n"
}

/// `log` alone is the last session.
#[test]
fn the_log_of_nobody_is_the_last_ones() {
    let world = World::new();
    world.claude(ONE, &prompt(&world.path("work"), "2026-11-16T02:00:00Z", "older"));
    world.claude("22222222", &prompt(&world.path("work"), "2026-11-16T02:30:00Z", "newer"));
    for args in [&["log"][..], &["log", "last"], &["--lines", "5"], &["--lines=5"]] {
        world.reader(args).run().success().stdout("2026-11-16 02:30  user       newer\n");
    }
}

/// The error that ended a session is shown; one that the session got over is not.
#[test]
fn the_error_that_ended_it() {
    let world = World::new();
    let cwd = world.path("work");
    let lines = [
        prompt(&cwd, "2026-11-16T02:00:00Z", "go"),
        error(1, "API Error: 529"),
        answer(&cwd, "2026-11-16T02:02:00Z", "fine"),
        error(3, "API Error: 500"),
        error(4, "API Error: 429"),
    ];
    world.claude(ONE, &lines.concat());
    let shown = "\
2026-11-16 02:00  user       go
           02:02  assistant  fine
           02:04  error      API Error: 429
";
    world.reader(&["log"]).run().success().stdout(shown);
    world.reader(&["log", "-n", "1"]).run().success().stdout("2026-11-16 02:04  error      API Error: 429\n");
    let rows = world.reader(&["log", "--json"]).run().success().json();
    assert_eq!((rows.len(), &rows[2]["kind"], &rows[2]["mark"]), (3, &"mark".into(), &"error".into()));
    world.claude(ONE, &(lines.concat() + &prompt(&cwd, "2026-11-16T02:05:00Z", "again")));
    let shown = world.reader(&["log"]).run().success().out().to_owned();
    assert!(!shown.contains("error"), "{shown}");
}

/// `--full` shows results to their end, `--results` their first lines.
#[test]
fn results_are_whole_or_as_long_as_asked() {
    let world = World::new();
    let long: Vec<String> = (1..=2000).map(|number| format!("line {number}")).collect();
    let lines = prompt(&world.path("work"), "2026-11-16T02:00:00Z", "go")
        + &call("2026-11-16T02:01:00Z", "t1", "make")
        + &result("t1", &long.join("\n"));
    world.claude(ONE, &lines);
    let full = world.reader(&["log", "--full"]).run().success();
    assert_eq!(full.out().lines().count(), 2002);
    assert!(full.out().ends_with("line 2000\n"));
    let json = world.reader(&["log", "--full", "--json"]).run().success().json();
    assert_eq!(json[2]["text"], long.join("\n"));
    let two = "\
2026-11-16 02:00  user       go
           02:01  assistant  [Bash make]
           02:02  result     line 1
                             line 2
                             …
";
    for args in [&["log", "--results", "2"][..], &["log", "--full", "--results=2"], &["--results", "2"]] {
        world.reader(args).run().success().stdout(two);
    }
    let whole = world.reader(&["log", "--results", "2000"]).run().success();
    assert_eq!(whole.out(), full.out());
    // A line may be a whole file.
    world.claude(ONE, &(lines + &call("2026-11-16T02:03:00Z", "t2", "cat") + &result("t2", &"x".repeat(100_000))));
    assert!(world.reader(&["log", "--results", "1"]).run().success().out().len() < 1000);
    world.reader(&["log", "--results", "0"]).run().status(2).stdout("");
}

/// On a terminal the first line says what is shown; elsewhere there is none.
#[test]
fn a_terminal_is_told_what_it_sees() {
    let world = World::new();
    let cwd = world.path("work");
    let line = |number: usize| prompt(&cwd, &format!("2026-11-16T02:{:02}:{:02}Z", number / 60, number % 60), "hello");
    world.claude(ONE, &(0..12).map(line).collect::<String>());
    // Alike for longer than eight characters.
    let other = "11111111-2222-4000-8000-000000000001";
    world.write(format!(".claude/projects/-else/{other}.jsonl"), (0..1200).map(line).collect::<String>());
    assert!(world.reader(&["11111111-0000"]).run().success().out().starts_with("2026"));
    let head = |args: &str| {
        let shown = in_a_terminal(&world, args, ("NO_COLOR", "1"))?;
        shown.lines().next().map(str::to_owned)
    };
    let Some(first) = head("11111111-0000") else { return };
    assert_eq!(first, "11111111-0000 (claude) in ~/work, all 12 entries");
    let shows = |args: &str, expected: &str| assert_eq!(head(args).as_deref(), Some(expected), "{args}");
    shows("11111111-2222", "11111111-2222 (claude) in ~/work, last 50 of about 1200 entries");
    shows("11111111-0000 -n 5 --since 2h", "11111111-0000 (claude) in ~/work, last 5");
    shows("11111111-0000 -n 12", "11111111-0000 (claude) in ~/work, all 12 entries");
    shows("11111111-0000 --since 2h", "11111111-0000 (claude) in ~/work, all 12 entries since then");
    world.write("work/.volute/sessions/discord.json", format!(r#"{{"sessionId":"{ONE}"}}"#));
    shows("discord", "discord (claude) in ~/work, all 12 entries");
    world.write("some/where.jsonl", line(0));
    shows("~/some/where.jsonl", "~/some/where.jsonl (claude) in ~/work, 1 entry");
    assert!(head("discord --json").is_some_and(|line| line.starts_with('{')));
    let dim = in_a_terminal(&world, "discord", ("X", "")).expect("script worked before");
    assert!(dim.starts_with("\u{1b}[2mdiscord"), "{dim:?}");
}
