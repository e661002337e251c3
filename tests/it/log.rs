//! `session-reader log`: what it shows of a session, and what it says about it. On real transcripts: see `transcripts`.

use serde_json::{Value, json};

use crate::support::claude::{answer, call, prompt, result, ten, user};
use crate::support::run::in_a_terminal;
use crate::support::script::Script;
use crate::support::world::{ID, ONE, World};

/// One line with a wrong clock ended a log that was limited by time.
#[test]
fn an_old_line_among_new_ones_does_not_end_the_log() {
    let world = World::new();
    let old = user("u2", 2, "wrong clock").replace("2026-11-16", "2026-11-01");
    world.claude(
        ID,
        &[user("u1", 1, "one"), old, user("u3", 3, "three")].concat(),
    );
    world
        .reader(&[ID, "--since", "1h"])
        .run()
        .success()
        .stdout(concat!(
            "2026-11-16 02:01  user       one\n",
            "           02:03  user       three\n",
        ));
}

/// Commands were shown relative to the working directory, as if they were paths.
#[test]
fn a_command_is_shown_as_it_was_run() {
    let world = World::new();
    let work = world.path("work");
    let (run, edit) = (
        format!("{}/run.sh --force", work.display()),
        work.join("src/a.rs"),
    );
    let script = Script::of(&world)
        .user("go")
        .calls("Bash", json!({"command": run}));
    script
        .calls("Edit", json!({"file_path": edit}))
        .save(&world, ID);
    world.reader(&[ID, "--lines", "2"]).run().success().stdout(&format!(
        "2026-11-16 01:01  assistant  [Bash {}/run.sh --force]\n           01:02  assistant  [Edit src/a.rs]\n",
        work.display()
    ));
}

/// What a client wrote with an unclosed bracket in it was shown twice.
#[test]
fn a_note_with_an_unclosed_bracket_is_shown_once() {
    let world = World::new();
    world.claude(
        ID,
        &user(
            "u1",
            1,
            "Caveat: The messages below were generated if a < b",
        ),
    );
    world.reader(&[ID, "--full"]).run().success().stdout(
        "2026-11-16 02:01  note       Caveat: The messages below were generated if a < b\n",
    );
}

/// 003-T22, 003-19, 003-20: what was said in full, a line per call, times; nothing else.
#[test]
fn a_claude_log_has_all_that_was_said_and_a_line_per_call() {
    let world = World::new();
    let message = |content: Value| json!({"id": "m1", "role": "assistant", "content": content});
    let script = Script::of(&world)
        .at("2026-11-16T02:00:00.000Z")
        .user("how do I deploy this?");
    let script = script.line(
        "assistant",
        message(json!([{"type": "thinking", "thinking": "hm"}])),
    );
    let text = json!({"type": "text", "text": "Like this:\n  make deploy"});
    let call =
        json!({"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "npm test"}});
    script
        .line("assistant", message(json!([text, call])))
        .result(true, "boom")
        .save(&world, ONE);
    world.reader(&["11111111"]).run().success().stdout(concat!(
        "2026-11-16 02:00  user       how do I deploy this?\n",
        "           02:00  assistant  Like this:\n",
        "                               make deploy\n",
        "           02:00  assistant  [Bash npm test] failed\n",
    ));
}

/// What a tool answered, in a Claude session.
fn tool_result(id: &str, text: &str) -> String {
    let content = [json!({"type": "tool_result", "tool_use_id": id, "content": text})];
    let message = json!({"role": "user", "content": content});
    let (uuid, time) = (format!("r-{id}"), "2026-11-16T02:02:00Z");
    json!({"type": "user", "uuid": uuid, "timestamp": time, "message": message}).to_string() + "\n"
}

/// An error as the client writes it.
fn error(minute: u32, text: &str) -> String {
    let content = [json!({"type": "text", "text": text})];
    let message = json!({"id": format!("x{minute}"), "model": "<synthetic>", "content": content});
    let (uuid, time) = (
        format!("e{minute}"),
        format!("2026-11-16T02:{minute:02}:00Z"),
    );
    let line = json!({"type": "assistant", "uuid": uuid, "timestamp": time, "isApiErrorMessage": true, "message": message});
    line.to_string() + "\n"
}

/// `log` alone is the last session.
#[test]
fn log_without_a_name_is_the_last_session() {
    let world = World::new();
    world.claude(
        ONE,
        &prompt(&world.path("work"), "2026-11-16T02:00:00Z", "older"),
    );
    world.claude(
        "22222222",
        &prompt(&world.path("work"), "2026-11-16T02:30:00Z", "newer"),
    );
    for args in [
        &["log"][..],
        &["log", "last"],
        &["--lines", "5"],
        &["--lines=5"],
    ] {
        world
            .reader(args)
            .run()
            .success()
            .stdout("2026-11-16 02:30  user       newer\n");
    }
}

/// The error that ended a session is shown; one that the session got over is not.
#[test]
fn only_the_error_that_ended_a_session_is_shown() {
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
    world
        .reader(&["log", "-n", "1"])
        .run()
        .success()
        .stdout("2026-11-16 02:04  error      API Error: 429\n");
    let rows = world.reader(&["log", "--json"]).run().success().json();
    assert_eq!(
        (rows.len(), &rows[2]["kind"], &rows[2]["mark"]),
        (3, &"mark".into(), &"error".into())
    );
    world.claude(
        ONE,
        &(lines.concat() + &prompt(&cwd, "2026-11-16T02:05:00Z", "again")),
    );
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
        + &tool_result("t1", &long.join("\n"));
    world.claude(ONE, &lines);
    let full = world.reader(&["log", "--full"]).run().success();
    assert_eq!(full.out().lines().count(), 2002);
    assert!(full.out().ends_with("line 2000\n"));
    let json = world
        .reader(&["log", "--full", "--json"])
        .run()
        .success()
        .json();
    assert_eq!(json[2]["text"], long.join("\n"));
    let two = "\
2026-11-16 02:00  user       go
           02:01  assistant  [Bash make]
           02:02  result     line 1
                             line 2
                             …
";
    for args in [
        &["log", "--results", "2"][..],
        &["log", "--full", "--results=2"],
        &["--results", "2"],
    ] {
        world.reader(args).run().success().stdout(two);
    }
    let whole = world.reader(&["log", "--results", "2000"]).run().success();
    assert_eq!(whole.out(), full.out());
    // A line may be a whole file.
    world.claude(
        ONE,
        &(lines
            + &call("2026-11-16T02:03:00Z", "t2", "cat")
            + &tool_result("t2", &"x".repeat(100_000))),
    );
    assert!(
        world
            .reader(&["log", "--results", "1"])
            .run()
            .success()
            .out()
            .len()
            < 1000
    );
    world
        .reader(&["log", "--results", "0"])
        .run()
        .status(2)
        .stdout("");
}

/// On a terminal the first line says what is shown; elsewhere there is none.
#[test]
fn on_a_terminal_the_first_line_says_what_is_shown() {
    let world = World::new();
    let cwd = world.path("work");
    let line = |number: usize| {
        prompt(
            &cwd,
            &format!("2026-11-16T02:{:02}:{:02}Z", number / 60, number % 60),
            "hello",
        )
    };
    world.claude(ONE, &(0..12).map(line).collect::<String>());
    // Alike for longer than eight characters.
    let other = "11111111-2222-4000-8000-000000000001";
    world.write(
        format!(".claude/projects/-else/{other}.jsonl"),
        (0..1200).map(line).collect::<String>(),
    );
    assert!(
        world
            .reader(&["11111111-0000"])
            .run()
            .success()
            .out()
            .starts_with("2026")
    );
    let head = |args: &str| {
        let shown = in_a_terminal(&world, args, ("NO_COLOR", "1"))?;
        shown.lines().next().map(str::to_owned)
    };
    let Some(first) = head("11111111-0000") else {
        return;
    };
    assert_eq!(first, "11111111-0000 (claude) in ~/work, all 12 entries");
    let shows =
        |args: &str, expected: &str| assert_eq!(head(args).as_deref(), Some(expected), "{args}");
    shows(
        "11111111-2222",
        "11111111-2222 (claude) in ~/work, last 50 of 1200 entries",
    );
    shows(
        "11111111-0000 -n 5 --since 2h",
        "11111111-0000 (claude) in ~/work, last 5 of 12 entries since then",
    );
    // So large a file is not counted.
    world.write(
        ".claude/projects/-else/33333333.jsonl",
        (0..4000).map(line).collect::<String>() + &" ".repeat(1 << 20) + "\n" + &line(0),
    );
    shows(
        "33333333 -n 3",
        "33333333 (claude) in ~/work, last 3 entries",
    );
    shows(
        "11111111-0000 -n 12",
        "11111111-0000 (claude) in ~/work, all 12 entries",
    );
    shows(
        "11111111-0000 --since 2h",
        "11111111-0000 (claude) in ~/work, all 12 entries since then",
    );
    world.write(
        "work/.volute/sessions/discord.json",
        format!(r#"{{"sessionId":"{ONE}"}}"#),
    );
    shows("discord", "discord (claude) in ~/work, all 12 entries");
    world.write("some/where.jsonl", line(0));
    shows(
        "~/some/where.jsonl",
        "~/some/where.jsonl (claude) in ~/work, 1 entry",
    );
    assert!(head("discord --json").is_some_and(|line| line.starts_with('{')));
    let dim = in_a_terminal(&world, "discord", ("X", "")).expect("script worked before");
    assert!(dim.starts_with("\u{1b}[2mdiscord"), "{dim:?}");
}

fn prompts(range: std::ops::Range<usize>) -> String {
    let first = range.start;
    let day = |minute| {
        if minute == first {
            "2026-11-16"
        } else {
            "          "
        }
    };
    range
        .map(|minute| format!("{} 02:0{minute}  user       prompt {minute}\n", day(minute)))
        .collect()
}

/// 003-D10, 003-T25: lines are entries shown, however much metadata stands behind them.
#[test]
fn lines_are_entries_shown() {
    let world = ten();
    for flags in [["--lines", "5"], ["-n", "5"], ["--lines=5", "--lines=5"]] {
        let flags = if flags[0].contains('=') {
            &flags[..1]
        } else {
            &flags[..]
        };
        world
            .reader(&[&["11111111"], flags].concat())
            .run()
            .success()
            .stdout(&prompts(5..10));
    }
    for lines in 1..=10 {
        world
            .reader(&["11111111", "--lines", &lines.to_string()])
            .run()
            .success()
            .stdout(&prompts(10 - lines..10));
    }
    world
        .reader(&["--lines", "3", "11111111"])
        .run()
        .success()
        .stdout(&prompts(7..10));
    world
        .reader(&["11111111"])
        .run()
        .success()
        .stdout(&prompts(0..10));
    world
        .reader(&["11111111", "--lines", &u64::MAX.to_string()])
        .run()
        .success()
        .stdout(&prompts(0..10));
}

/// Entries, not lines of the file or of the screen: results are none, and one line may hold several.
#[test]
fn lines_count_entries_where_a_line_has_several() {
    let world = World::new();
    let text = json!({"type": "text", "text": "one\ntwo\nthree"});
    let call =
        json!({"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}});
    let script = Script::of(&world)
        .user("go")
        .line("assistant", json!({"id": "m1", "content": [text, call]}));
    script.result(true, "out").save(&world, ONE);
    let run = |lines: &str| {
        world
            .reader(&["11111111", "--lines", lines])
            .run()
            .success()
            .out()
            .to_owned()
    };
    assert_eq!(
        run("1"),
        "2026-11-16 01:01  assistant  [Bash make] failed\n"
    );
    assert_eq!(run("2").lines().count(), 4);
    assert_eq!(run("3").lines().count(), 5);
}

/// Exit status 1: the session is there, and nothing was said in it.
#[test]
fn nothing_said_is_status_one() {
    let world = World::new();
    world.claude(ONE, "{\"type\":\"mode\",\"mode\":\"normal\"}\n");
    world
        .reader(&["11111111"])
        .run()
        .status(1)
        .stdout("")
        .stderr("session-reader: nothing was said in '11111111' yet\n");
    let world = ten();
    world
        .reader(&["11111111", "--since", "1m"])
        .run()
        .status(1)
        .stdout("")
        .stderr("session-reader: nothing was said in '11111111' since then\n");
    World::new().reader(&[]).run().status(1).stdout("");
}

#[test]
fn since_is_a_time_or_how_long_ago() {
    let world = ten();
    for (since, first) in [
        ("55m", 5),
        ("56m", 4),
        ("3300s", 5),
        ("2026-11-16T02:05:00Z", 5),
        ("2026-11-16T02:05", 5),
        ("2026-11-16T03:07:00+01:00", 7),
        ("2026-11-16", 0),
        ("30d", 0),
    ] {
        world
            .reader(&["11111111", "--since", since])
            .run()
            .success()
            .stdout(&prompts(first..10));
    }
    world
        .reader(&["11111111", "--since", "1h", "--lines", "2"])
        .run()
        .success()
        .stdout(&prompts(8..10));
}

/// Days by their names: the newest such day, from its midnight on.
#[test]
fn since_is_a_day_by_its_name() {
    let world = World::new();
    // The 16th, when it is now, is a Monday.
    let days = [
        "09T23:59", "10T00:00", "14T23:59", "15T00:00", "15T23:59", "16T00:00",
    ];
    let said = days.map(|day| prompt(&world.path("work"), &format!("2026-11-{day}:00Z"), day));
    world.claude(ONE, &said.concat());
    for (since, count) in [
        ("today", 1),
        ("Monday", 1),
        ("yesterday", 3),
        ("sunday", 3),
        ("saturday", 4),
        ("tuesday", 5),
    ] {
        let shown = world
            .reader(&["11111111", "--since", since])
            .run()
            .success();
        assert_eq!(
            shown.out().lines().count(),
            count,
            "{since}: {}",
            shown.out()
        );
    }
    // Midnight is where the user is: there it is still Sunday.
    let shown = world
        .reader(&["11111111", "--since", "today"])
        .env("TZ", "EST5")
        .run()
        .success();
    assert_eq!(shown.out().lines().count(), 2, "{}", shown.out());
    world
        .reader(&["11111111", "--since", "mo"])
        .run()
        .status(2)
        .stdout("")
        .stderr_has("not a time like 2h, 7d, today");
}

/// With --since alone there is no limit of fifty.
#[test]
fn since_shows_all_and_a_log_the_last_fifty() {
    let world = World::new();
    let line = |number: usize| {
        prompt(
            &world.path("work"),
            &format!("2026-11-16T02:{:02}:{:02}Z", number / 60, number % 60),
            &format!("p{number}"),
        )
    };
    world.claude(ONE, &(0..120).map(line).collect::<String>());
    let count = |args: &[&str]| world.reader(args).run().success().out().lines().count();
    assert_eq!(count(&["11111111"]), 50);
    assert_eq!(count(&["11111111", "--since", "1h"]), 120);
    assert_eq!(count(&["11111111", "--lines", "1000"]), 120);
}

/// A day is the user's day.
#[test]
fn a_date_is_a_day_where_the_user_is() {
    let world = World::new();
    let cwd = world.path("work");
    world.claude(
        ONE,
        &(prompt(&cwd, "2026-11-16T04:30:00Z", "before midnight")
            + &prompt(&cwd, "2026-11-16T05:30:00Z", "after midnight")),
    );
    let run = world
        .reader(&["11111111", "--since", "2026-11-16"])
        .env("TZ", "EST5")
        .env("SESSION_MONITOR_NOW", "2026-11-16T12:00:00Z");
    run.run()
        .success()
        .stdout("2026-11-16 00:30  user       after midnight\n");
}

/// 003-D20: the date is said where the day changes, and there only.
#[test]
fn the_date_is_shown_where_the_day_changes() {
    let world = World::new();
    let cwd = world.path("work");
    let times = [
        "2026-11-14T23:58:00Z",
        "2026-11-14T23:59:59Z",
        "2026-11-15T00:00:00Z",
        "2026-11-16T00:00:00Z",
        "2026-11-15T12:00:00Z",
    ];
    world.claude(
        ONE,
        &times
            .iter()
            .map(|time| prompt(&cwd, time, time))
            .collect::<String>(),
    );
    world.reader(&["11111111"]).run().success().stdout(
        "\
2026-11-14 23:58  user       2026-11-14T23:58:00Z
           23:59  user       2026-11-14T23:59:59Z
2026-11-15 00:00  user       2026-11-15T00:00:00Z
2026-11-16 00:00  user       2026-11-16T00:00:00Z
2026-11-15 12:00  user       2026-11-15T12:00:00Z
",
    );
}

/// Times are the user's: a zone by its name, in summer and winter, or as POSIX writes it; nonsense is UTC.
#[test]
fn times_are_local() {
    let world = World::new();
    let cwd = world.path("work");
    world.claude(
        ONE,
        &(prompt(&cwd, "2026-07-01T02:30:00Z", "summer")
            + &prompt(&cwd, "2026-11-16T02:30:00Z", "winter")),
    );
    let shown = |zone: &str| -> Vec<String> {
        let done = world.reader(&["11111111"]).env("TZ", zone).run().status(0);
        done.out()
            .lines()
            .map(|line| line[..16].to_owned())
            .collect()
    };
    assert_eq!(shown("UTC"), ["2026-07-01 02:30", "2026-11-16 02:30"]);
    assert_eq!(shown("EST5"), ["2026-06-30 21:30", "2026-11-15 21:30"]);
    assert_eq!(
        shown("EST5EDT,M3.2.0,M11.1.0"),
        ["2026-06-30 22:30", "2026-11-15 21:30"]
    );
    assert_eq!(
        shown("<+0530>-5:30"),
        ["2026-07-01 08:00", "2026-11-16 08:00"]
    );
    assert_eq!(
        shown("No/Such_Zone"),
        ["2026-07-01 02:30", "2026-11-16 02:30"]
    );
    if std::path::Path::new("/usr/share/zoneinfo/America/New_York").exists() {
        assert_eq!(
            shown("America/New_York"),
            ["2026-06-30 22:30", "2026-11-15 21:30"]
        );
        assert_eq!(
            shown(":America/New_York"),
            ["2026-06-30 22:30", "2026-11-15 21:30"]
        );
    }
    // Programs get the time as everybody writes it.
    let rows = world
        .reader(&["11111111", "--json"])
        .env("TZ", "EST5")
        .run()
        .success()
        .json();
    assert_eq!(rows[0]["time"], "2026-07-01T02:30:00.000Z");
}

/// 003-19, 003-20: in full, also thinking, results and marks; without, none of them.
#[test]
fn full_shows_what_a_log_leaves_out() {
    let world = World::new();
    let cwd = world.path("work");
    let thinking = json!({"type": "assistant", "uuid": "a0", "timestamp": "2026-11-16T02:00:30Z",
        "message": {"id": "m0", "content": [{"type": "thinking", "thinking": "hm"}]}});
    let lines = [
        prompt(&cwd, "2026-11-16T02:00:00Z", "go"),
        format!("{thinking}\n"),
        call("2026-11-16T02:01:00Z", "t1", "make"),
        result("2026-11-16T02:02:00Z", "t1", true),
        prompt(
            &cwd,
            "2026-11-16T02:03:00Z",
            "[Request interrupted by user]",
        ),
        answer(&cwd, "2026-11-16T02:04:00Z", "done"),
    ];
    world.claude(ONE, &lines.concat());
    world.reader(&["11111111"]).run().success().stdout(
        "\
2026-11-16 02:00  user       go
           02:01  assistant  [Bash make] failed
           02:04  assistant  done
",
    );
    world
        .reader(&["11111111", "--full"])
        .run()
        .success()
        .stdout(
            "\
2026-11-16 02:00  user       go
           02:00  thinking   hm
           02:01  assistant  [Bash make] failed
           02:02  result     out
           02:03  interrupt  [Request interrupted by user]
           02:04  assistant  done
",
        );
    let kinds = |args: &[&str]| -> Vec<String> {
        let rows = world.reader(args).run().success().json();
        rows.iter()
            .map(|row| row["kind"].as_str().expect("a kind").to_owned())
            .collect()
    };
    assert_eq!(kinds(&["11111111", "--json"]), ["text", "call", "text"]);
    assert_eq!(
        kinds(&["11111111", "--json", "--full"]),
        ["text", "thinking", "call", "result", "mark", "text"]
    );
}

#[test]
fn json_is_one_object_per_entry() {
    let world = World::new();
    let lines = prompt(
        &world.path("work"),
        "2026-11-16T02:00:00.25Z",
        "two\nlines \u{1b}[31m",
    ) + &call("2026-11-16T02:01:00Z", "t1", "make");
    world.claude(ONE, &(lines + &result("2026-11-16T02:02:00Z", "t1", true)));
    world.reader(&["11111111", "--json"]).run().success().objects(concat!(
        r#"{"time":"2026-11-16T02:00:00.250Z","role":"user","kind":"text","text":"two\nlines \u001b[31m"}"#,
        "\n",
        r#"{"time":"2026-11-16T02:01:00.000Z","role":"assistant","kind":"call","tool":"Bash","act":"run","subject":"make","failed":true}"#,
        "\n",
    ));
}

/// A file whose lines repeat each other is read from its start instead of being held, and shows the same.
#[test]
fn a_log_of_repetitions_is_not_held() {
    use session_core::read::log::last_within;
    use session_core::read::{Transcript, Wanted};
    let world = World::new();
    let line = |kind: &str, uuid: &str, text: &str| {
        let message =
            json!({"id": uuid, "role": kind, "content": [{"type": "text", "text": text}]});
        format!(
            "{}\n",
            json!({"type": kind, "uuid": uuid, "timestamp": "2026-11-16T02:01:00Z", "message": message})
        )
    };
    let mut lines = String::new();
    for number in 0..2000 {
        let own = number % 3 == 0 && number < 1500;
        let uuid = if own {
            format!("own-{number}")
        } else {
            format!("same-{}", number % 2)
        };
        lines += &line(
            if number % 2 == 0 { "user" } else { "assistant" },
            &uuid,
            &format!("text {number}"),
        );
    }
    let path = world.claude(ONE, &lines);
    let (formats, _) = session_core::formats::known(std::path::Path::new("/nonexistent"));
    let format = formats
        .iter()
        .find(|known| known.is_called("claude"))
        .expect("a format")
        .format();
    let transcript = Transcript::open(&path, format).expect("a transcript");
    for count in [0, 1, 2, 3, 10, 300, 1000] {
        let wanted = Wanted {
            count,
            ..Wanted::default()
        };
        let [held, read] =
            [u64::MAX, 1000].map(|most| last_within(&transcript, wanted, most).expect("a log"));
        assert_eq!(
            format!("{:?}", read.entries),
            format!("{:?}", held.entries),
            "{count}"
        );
        assert_eq!(read.entries.len(), count.min(502), "{count}");
        assert!(
            !held.exact
                || count == 0
                || (read.total, read.end, read.broken) == (held.total, held.end, held.broken),
            "{count}"
        );
    }
}
