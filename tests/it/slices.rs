//! Slices of a log: `--until`, `--grep`, `--act`, `--errors` and `--prompts`, alone and together.

use std::collections::BTreeSet;

use serde_json::json;

use crate::support::run::{Done, in_a_terminal};
use crate::support::script::Script;
use crate::support::world::{ONE, World};

/// A prompt, a command that fails, an edit, a command that works; then another prompt and an edit that fails.
fn session() -> World {
    let world = World::new();
    let script = Script::of(&world)
        .ago(60)
        .user("Fix the Café menu")
        .says("I run the tests.")
        .ago(50);
    let script = script
        .calls("Bash", json!({"command": "cargo test"}))
        .result(true, "error: 1\nerror: 2");
    let script = script
        .ago(40)
        .writes("menu.rs", "x\n")
        .runs("cargo build", false)
        .ago(30);
    let script = script
        .user("Now the CAFE list")
        .says("Done.")
        .calls("Edit", json!({"file_path": "list.rs"}));
    script.result(true, "no such file").save(&world, ONE);
    world
}

#[track_caller]
fn shows(world: &World, args: &[&str], expected: &[&str]) {
    let shown = world
        .reader(&[&["log", "11111111"], args].concat())
        .run()
        .success();
    let stampless = |line: &str| line.get(18..).unwrap_or(line).to_owned();
    let shown: Vec<String> = shown.out().lines().map(stampless).collect();
    assert_eq!(shown, expected, "{args:?}");
}

const FIX: &str = "user       Fix the Café menu";
const RUN: &str = "assistant  I run the tests.";
const TEST: &str = "assistant  [Bash cargo test] failed";
const WRITE: &str = "assistant  [Write menu.rs]";
const BUILD: &str = "assistant  [Bash cargo build]";
const LIST: &str = "user       Now the CAFE list";
const DONE: &str = "assistant  Done.";
const EDIT: &str = "assistant  [Edit list.rs] failed";

#[test]
fn each_slice_shows_what_it_says() {
    let world = session();
    shows(&world, &["--prompts"], &[FIX, LIST]);
    shows(&world, &["--act", "edit"], &[WRITE, EDIT]);
    shows(&world, &["--act", "run"], &[TEST, BUILD]);
    // As a search does: whatever the case or accents, also in commands and file names.
    shows(&world, &["--grep", "cafe"], &[FIX, LIST]);
    shows(&world, &["--grep", "LIST"], &[LIST, EDIT]);
    shows(&world, &["--grep", "the café"], &[FIX, LIST]);
    let why = [
        "result     error: 1",
        "           error: 2",
        EDIT,
        "result     no such file",
    ];
    shows(&world, &["--errors"], &[&[TEST][..], &why].concat());
    shows(
        &world,
        &["--errors", "--results", "1"],
        &[TEST, why[0], "           …", EDIT, why[3]],
    );
    shows(&world, &["--until", "45m"], &[FIX, RUN, TEST]);
    shows(
        &world,
        &["--until", "2026-11-16T02:10:00Z", "--since", "55m"],
        &[TEST],
    );
}

#[test]
fn slices_go_together() {
    let world = session();
    shows(&world, &["--prompts", "--grep", "list"], &[LIST]);
    shows(
        &world,
        &["--act", "edit", "--errors"],
        &[EDIT, "result     no such file"],
    );
    shows(&world, &["--act", "run", "--until", "45m"], &[TEST]);
    shows(
        &world,
        &["--act", "run", "--results", "5"],
        &[
            TEST,
            "result     error: 1",
            "           error: 2",
            BUILD,
            "result     out",
        ],
    );
    let none = world
        .reader(&["log", "11111111", "--prompts", "--act", "edit"])
        .run()
        .status(1);
    none.stdout("")
        .stderr("session-reader: nothing in '11111111' fits\n");
}

/// `--lines` counts what fits; `-C` shows what stands around it, with `--` where something is left out.
#[test]
fn lines_count_what_fits_and_context_is_shown_around_it() {
    let world = session();
    shows(&world, &["--prompts", "--lines", "1"], &[LIST]);
    // What tells why a call failed comes with the call.
    shows(
        &world,
        &["--errors", "--lines", "1"],
        &[EDIT, "result     no such file"],
    );
    shows(
        &world,
        &["--prompts", "-C", "1"],
        &[FIX, RUN, "--", BUILD, LIST, DONE],
    );
    shows(
        &world,
        &["--prompts", "-C", "1", "--lines", "1"],
        &[BUILD, LIST, DONE],
    );
    shows(
        &world,
        &["--prompts", "-C", "9"],
        &[FIX, RUN, TEST, WRITE, BUILD, LIST, DONE, EDIT],
    );
    shows(
        &world,
        &["--grep", "menu", "-C", "1"],
        &[FIX, RUN, TEST, WRITE, BUILD],
    );
}

/// Context is what a log shows. Results are none of it: they come with their calls, and only to say why one failed.
#[test]
fn results_are_no_context() {
    let world = session();
    let why = ["result     error: 1", "           error: 2"];
    shows(
        &world,
        &["--errors", "-C", "1"],
        &[
            RUN,
            TEST,
            why[0],
            why[1],
            WRITE,
            "--",
            DONE,
            EDIT,
            "result     no such file",
        ],
    );
    let last = [BUILD, LIST, DONE, EDIT, "result     no such file"];
    shows(&world, &["--errors", "-C", "3", "--lines", "1"], &last);
    // A call that began before the time that is asked for, and failed after it.
    let world = World::new();
    let script = Script::of(&world)
        .ago(60)
        .user("go")
        .calls("Bash", json!({"command": "make"}));
    script.ago(5).result(true, "no rule").save(&world, ONE);
    shows(
        &world,
        &["--errors", "--since", "10m"],
        &["assistant  [Bash make] failed", "result     no rule"],
    );
    // A result that says the word is shown with its call.
    shows(
        &world,
        &["--grep", "rule", "--full"],
        &["assistant  [Bash make] failed", "result     no rule"],
    );
}

/// A call may fail long after it was made; what stood around it is still shown.
#[test]
fn a_call_that_fails_late_keeps_its_context() {
    let world = World::new();
    let call = |id: &str, command: &str| {
        json!({"type": "assistant", "uuid": id, "timestamp": "2026-11-16T02:52:00Z", "message": {"id": id, "role": "assistant",
            "content": [{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]}})
    };
    let result = json!({"type": "user", "uuid": "r", "timestamp": "2026-11-16T02:53:00Z", "message": {"role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "late", "is_error": true, "content": "too late"}]}});
    let mut script = Script::of(&world)
        .ago(20)
        .user("go")
        .says("before")
        .raw(call("late", "make"))
        .says("after");
    for number in 0..9 {
        script = script.says(&format!("meanwhile {number}"));
    }
    script.raw(result).says("end").save(&world, ONE);
    let [before, after] = ["assistant  before", "assistant  after"];
    let failed = "assistant  [Bash make] failed";
    shows(
        &world,
        &["--errors", "-C", "1"],
        &[before, failed, after, "result     too late"],
    );
    shows(
        &world,
        &["--grep", "make", "-C", "1"],
        &[before, failed, after],
    );
    // The line of a result is about its call.
    shows(&world, &["--at", "14", "-C", "1"], &[before, failed, after]);
}

#[test]
fn json_has_the_same_entries() {
    let world = session();
    let errors = world
        .reader(&["log", "11111111", "--errors", "--json", "--act", "edit"])
        .run()
        .success()
        .json();
    let time = "2026-11-16T02:30:00.000Z";
    let call = json!({"time": time, "role": "assistant", "kind": "call", "tool": "Edit", "act": "edit", "subject": "list.rs", "failed": true});
    let result = json!({"time": time, "role": "system", "kind": "result", "text": "no such file", "failed": true});
    assert_eq!(errors, [call, result]);
}

/// A day counts whole, as an end.
#[test]
fn until_a_day_takes_the_whole_day() {
    let world = World::new();
    let script = Script::of(&world)
        .at("2026-11-14T23:00:00Z")
        .user("saturday");
    script
        .at("2026-11-15T23:59:00Z")
        .user("sunday")
        .at("2026-11-16T01:00:00Z")
        .user("monday")
        .save(&world, ONE);
    let [saturday, sunday, monday] = [
        "user       saturday",
        "user       sunday",
        "user       monday",
    ];
    for (until, expected) in [
        ("yesterday", &[saturday, sunday][..]),
        ("2026-11-15", &[saturday, sunday]),
        ("saturday", &[saturday]),
        ("today", &[saturday, sunday, monday]),
    ] {
        shows(&world, &["--until", until], expected);
    }
    world
        .reader(&["log", "11111111", "--until", "2026-11-15"])
        .env("TZ", "Asia/Tokyo")
        .run()
        .success();
}

/// A time of day is the last such time, and its minute counts whole; so does that of a day.
#[test]
fn since_and_until_a_time_of_day() {
    let world = World::new();
    let script = Script::of(&world)
        .at("2026-11-15T14:24:59Z")
        .user("before")
        .at("2026-11-15T14:25:30Z")
        .user("then");
    script
        .at("2026-11-16T02:00:30Z")
        .user("at two")
        .at("2026-11-16T02:01:00Z")
        .user("after")
        .save(&world, ONE);
    let [before, then, two, after] =
        ["before", "then", "at two", "after"].map(|said| format!("user       {said}"));
    // It is three o'clock now, so that 14:25 was yesterday.
    shows(&world, &["--until", "02:00"], &[&before, &then, &two]);
    shows(&world, &["--since", "02:00"], &[&two, &after]);
    shows(
        &world,
        &["--since", "14:25", "--until", "02:00"],
        &[&then, &two],
    );
    shows(&world, &["--until", "2026-11-15 14:25"], &[&before, &then]);
    shows(
        &world,
        &["--since", "2026-11-15 14:25", "--until", "14:25"],
        &[&then],
    );
    world
        .reader(&["log", "11111111", "--until", "25:00"])
        .run()
        .status(2)
        .stderr_has("monday, 14:25 or 2026-01-31");
}

#[test]
fn what_cannot_be_meant_is_an_error() {
    let world = session();
    for (args, why) in [
        (
            &["--act", "edt"][..],
            "edit, read, search, run, fetch, delegate, plan, other",
        ),
        (
            &["--grep", " "],
            "give a word that has letters or digits in it",
        ),
        (&["-C", "2"], "required"),
        (&["--follow", "--until", "1h"], "cannot be used with"),
        (&["--follow", "--prompts", "-C", "1"], "cannot be used with"),
        (&["--at", "3", "--errors"], "cannot be used with"),
        (&["--at", "0"], "lines count from 1"),
        (&["--at", "a b"], "neither a line, a time nor an id"),
        (
            &["--at", "abc"],
            "nothing in '11111111' has that id; --at takes a line like 120, a time like 14:25 or 2h",
        ),
    ] {
        world
            .reader(&[&["log", "11111111"], args].concat())
            .run()
            .status(2)
            .stdout("")
            .stderr_has(why);
    }
}

/// An error of the model or the network is one, and what a machine said is looked through with `--full`.
#[test]
fn errors_that_are_no_calls_are_errors() {
    let world = World::new();
    let error = json!({"id": "e", "role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 500"}]});
    let script = Script::of(&world).ago(9).user("go");
    let line = json!({"type": "assistant", "uuid": "e1", "timestamp": "2026-11-16T02:52:00Z", "isApiErrorMessage": true, "message": error});
    script.raw(line).says("It works again.").save(&world, ONE);
    shows(&world, &["--errors"], &["error      API Error: 500"]);
    shows(
        &world,
        &["--grep", "api error", "--full"],
        &["error      API Error: 500"],
    );
    shows(
        &world,
        &["--grep", "api error"],
        &["error      API Error: 500"],
    );
    shows(
        &world,
        &["--at", "2", "-C", "0"],
        &["error      API Error: 500"],
    );
    let works = "assistant  It works again.";
    shows(
        &world,
        &["--at", "2", "-C", "1"],
        &["user       go", "error      API Error: 500", works],
    );
}

/// However far up it is, it is found; what is read from the middle of a file is the same as from its start.
#[test]
fn a_slice_of_a_long_file_is_the_same_from_the_middle() {
    let world = World::new();
    let mut script = Script::of(&world).ago(600).user("the very first needle");
    for number in 0..3000 {
        script = script
            .ago(500)
            .calls("Bash", json!({"command": format!("step {number}")}));
        script = script.result(number % 1000 == 500, &"x".repeat(700));
    }
    let file = script.ago(5).says("the last needle").save(&world, ONE);
    assert!(std::fs::metadata(file).expect("a file").len() > 2 << 20);
    shows(
        &world,
        &["--grep", "needle"],
        &[
            "user       the very first needle",
            "assistant  the last needle",
        ],
    );
    shows(
        &world,
        &["--grep", "needle", "--lines", "1"],
        &["assistant  the last needle"],
    );
    shows(
        &world,
        &["--prompts"],
        &["user       the very first needle"],
    );
    let failed = |number: usize| format!("assistant  [Bash step {number}] failed");
    let shown = world
        .reader(&["log", "11111111", "--errors", "--json"])
        .run()
        .success();
    let calls: Vec<String> = (shown.json().iter().filter(|entry| entry["kind"] == "call"))
        .map(|entry| {
            format!(
                "assistant  [Bash {}] failed",
                entry["subject"].as_str().expect("a command")
            )
        })
        .collect();
    assert_eq!(calls, [500, 1500, 2500].map(failed));
    shows(
        &world,
        &["--grep", "step 1500", "-C", "1"],
        &[
            "assistant  [Bash step 1499]",
            &failed(1500),
            "assistant  [Bash step 1501]",
        ],
    );
}

/// With what stands around it, the entry that was asked for is pointed at on a terminal.
#[test]
fn the_entry_that_was_asked_for_is_pointed_at() {
    let world = session();
    let Some(shown) = in_a_terminal(&world, "log 11111111 --at 2 -C 1", ("X", "")) else {
        return;
    };
    assert!(
        shown
            .lines()
            .next()
            .is_some_and(|head| head.contains("3 entries")),
        "{shown}"
    );
    let pointed_at: Vec<&str> = shown.lines().filter(|line| line.contains("> ")).collect();
    assert!(
        matches!(*pointed_at, [line] if line.contains("I run the tests.")),
        "{shown}"
    );
}

/// On a terminal the word stands out, and the head says how many there are.
#[test]
fn on_a_terminal_the_word_stands_out() {
    let world = session();
    let Some(shown) = in_a_terminal(&world, "log 11111111 --grep cafe", ("X", "")) else {
        return;
    };
    let found = shown.lines().next().expect("a head");
    assert!(
        found.contains("11111111 (claude) in ~/work, 2 entries"),
        "{found}"
    );
    for word in ["Café", "CAFE"] {
        assert!(
            shown.contains(&format!("\u{1b}[1m\u{1b}[33m{word}\u{1b}[39m\u{1b}[0m")),
            "{shown:?}"
        );
    }
}

/// Whichever command prints where something stands, `log --at` opens it: a command, the number of a line, a time.
#[test]
fn every_position_that_is_printed_can_be_opened() {
    let world = session();
    let listed = &world.reader(&["list", "--json"]).run().success().json()[0];
    let path = listed["path"].as_str().expect("a path");
    let broken = std::fs::read_to_string(path)
        .expect("a file")
        .replacen('\n', "\n{ broken\n", 1);
    std::fs::write(path, broken).expect("a file");
    let mut printed = BTreeSet::new();
    let after = |done: &Done, words: &str, end: char| -> Vec<String> {
        let found = done
            .out()
            .lines()
            .filter_map(|line| line.split_once(words)?.1.split(end).next());
        found.map(str::to_owned).collect()
    };
    for args in [
        &["search", "cafe"][..],
        &["search", "menu", "-C", "1"],
        &["files", "menu.rs"],
    ] {
        printed.extend(after(
            &world.reader(args).run().success(),
            " log 11111111 --at ",
            ' ',
        ));
        for hit in world
            .reader(&[args, &["--json"]].concat())
            .run()
            .success()
            .json()
        {
            printed.extend([
                hit["line"].to_string(),
                hit["time"].as_str().expect("a time").to_owned(),
            ]);
        }
    }
    printed.extend(after(
        &world.reader(&["formats", "check", path]).run().success(),
        "broken: line ",
        ',',
    ));
    let log = world.reader(&["log", "11111111"]).run().status(0);
    printed.extend(
        log.out()
            .lines()
            .map(|line| line.get(..16).expect("a time").trim().to_owned()),
    );
    let expected = [
        "1",
        "2",
        "6",
        "10",
        "02:30",
        "2026-11-16 02:00",
        "2026-11-16T02:20:00.000Z",
    ];
    for position in expected {
        assert!(printed.contains(position), "{position} in {printed:?}");
    }
    for position in printed {
        world
            .reader(&["log", "11111111", "--at", &position, "-C", "0"])
            .run()
            .status(0);
    }
}
