//! `session-reader list`: the table at every width, what it says about a session, and the cache that nobody notices.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use crate::scene::Chance;
use crate::support::claude::{answer, call, prompt, result};
use crate::support::files::{files_below, settle};
use crate::support::reader::rows;
use crate::support::run::in_a_terminal_of;
use crate::support::script::Script;
use crate::support::world::{ID, ONE, TWO, World};

/// Tokens near the end of 64 bits were added up beyond it.
#[test]
fn token_counts_do_not_overflow() {
    let world = World::new();
    let answer = |id: u32| {
        format!(
            r#"{{"type":"assistant","uuid":"a{id}","timestamp":"2026-11-16T02:02:00Z","message":{{"id":"m{id}","content":[{{"type":"text","text":"x"}}],"usage":{{"input_tokens":18446744073709551615,"output_tokens":9}}}}}}"#
        ) + "\n"
    };
    world.claude(ID, &format!("{}{}", answer(1), answer(2)));
    let tokens = &world
        .reader(&["list", "--all", "--json"])
        .run()
        .success()
        .json()[0]["tokens"];
    assert_eq!(tokens["input"], u64::MAX);
    world.reader(&["list", "--all"]).run().success();
    world.reader(&["resume", ID]).run().success();
    world.reader(&["profile", "--all"]).run().success();
}

/// A session that is known only from a list of what was said before was shown by `log` and missing from the list.
#[test]
fn a_session_known_only_from_a_relisting_is_listed() {
    let world = World::new();
    let header =
        r#"{"sessionId":"8b585e11-2eb8-459b-b1a6-75f9c89c4176","projectHash":"x","kind":"main"}"#;
    let list = r#"{"$set":{"messages":[{"id":"m1","timestamp":"2026-11-16T02:01:00Z","type":"user","content":[{"text":"hi"}]},{"id":"m2","timestamp":"2026-11-16T02:02:00Z","type":"gemini","content":"hello"}]}}"#;
    world.write(
        ".gemini/tmp/p/chats/session-2026-11-16T02-00-8b585e11.jsonl",
        format!("{header}\n{list}\n{list}\n"),
    );
    world.reader(&["8b585e11"]).run().success().stdout(concat!(
        "2026-11-16 02:01  user       hi\n",
        "           02:02  assistant  hello\n",
    ));
    assert_eq!(
        world
            .reader(&["list", "--all", "--json"])
            .run()
            .success()
            .json()[0]["messages"],
        2
    );
}

/// Sessions of two agents here in every state, and one elsewhere.
fn several() -> World {
    let world = World::new();
    let here = world.path("work");
    let session = |id: &str, lines: String| {
        world.claude(&format!("{id}-0000-4000-8000-000000000000"), &lines)
    };
    session(
        "aaaaaaaa",
        prompt(
            &here,
            "2026-11-16T02:58:00Z",
            "a prompt that the agent works on",
        ) + &call("2026-11-16T02:59:30Z", "t1", "make"),
    );
    session(
        "bbbbbbbb",
        prompt(
            &here,
            "2026-11-16T02:30:00Z",
            "日本語のとても長いタイトルはどこかで切られます",
        ) + &answer(&here, "2026-11-16T02:31:00Z", "done"),
    );
    session(
        "cccccccc",
        prompt(
            &here,
            "2026-11-14T03:00:00Z",
            "👩‍👩‍👧 family emoji 🎉 in a title\nthat has two lines",
        ) + &answer(&here, "2026-11-14T03:00:10Z", "done"),
    );
    session(
        "dddddddd",
        prompt(&here, "2026-11-16T00:00:00Z", "fails")
            + "{\"type\":\"assistant\",\"uuid\":\"e1\",\"timestamp\":\"2026-11-16T00:01:00Z\",\"isApiErrorMessage\":true,\"message\":{\"model\":\"<synthetic>\",\"content\":[{\"type\":\"text\",\"text\":\"API Error: 529\"}]}}\n",
    );
    world.write(
        ".pi/agent/sessions/--any--/1_eeeeeeee-0000.jsonl",
        format!("{{\"type\":\"session\",\"id\":\"eeeeeeee-0000\",\"cwd\":\"{}\",\"timestamp\":\"2026-11-01T00:00:00Z\"}}\n", here.display())
            + "{\"type\":\"message\",\"id\":\"p1\",\"timestamp\":\"2026-11-01T00:00:00Z\",\"message\":{\"role\":\"user\",\"content\":\"from pi\"}}\n",
    );
    let elsewhere = world.path("a/very/long/directory/name/elsewhere");
    world.write(
        ".claude/projects/-else/ffffffff-0000.jsonl",
        prompt(&elsewhere, "2026-11-16T02:59:59Z", "elsewhere, the newest"),
    );
    world
}

fn table(world: &World, args: &[&str], columns: Option<&str>) -> String {
    let run = world.reader(args);
    let run = if let Some(columns) = columns {
        run.env("COLUMNS", columns)
    } else {
        run
    };
    run.run().success().out().to_owned()
}

/// 002-04: newest first, with agent, state, age, messages, tokens and title.
#[test]
fn the_table_has_a_row_per_session_newest_first() {
    let expected = "\
NAME      AGENT   STATE    AGE  MSGS  TOKENS  TITLE
aaaaaaaa  claude  working  now     2       -  a prompt that the agent works on
bbbbbbbb  claude  waiting  29m     2      1k  日本語のとても長いタイトルはどこかで切られます
dddddddd  claude  error     2h     1       -  API Error: 529 · fails
cccccccc  claude  idle      1d     2      1k  👩‍👩‍👧 family emoji 🎉 in a title that has two lines
eeeeeeee  pi      idle     15d     1       -  from pi
";
    let world = several();
    assert_eq!(table(&world, &["list"], None), expected);
    assert_eq!(table(&world, &[], None), expected, "the bare command");
    assert_eq!(
        table(&world, &["list"], Some("120")),
        expected,
        "wide enough"
    );
}

/// One long name is cut before a column goes for all.
#[test]
fn a_long_name_is_cut_first() {
    let world = World::new();
    let cwd = world.path("work");
    world.claude(ONE, &prompt(&cwd, "2026-11-16T02:00:00Z", "hello"));
    let name = "a-name-that-somebody-made-very-long";
    world.write(
        format!("work/.volute/sessions/{name}.json"),
        format!(r#"{{"sessionId":"{ONE}"}}"#),
    );
    let expected = "\
NAME                AGENT   STATE    AGE  MSGS  TOKENS  TITLE
a-name-that-someb…  claude  working   1h     1       -  hello
";
    assert_eq!(table(&world, &["list"], Some("80")), expected);
}

/// Columns go, the least important first, and titles are cut where a character ends.
#[test]
fn the_table_fits_the_terminal() {
    let world = several();
    let eighty = "\
NAME      AGENT   STATE    AGE  MSGS  TOKENS  TITLE
aaaaaaaa  claude  working  now     2       -  a prompt that the agent works on
bbbbbbbb  claude  waiting  29m     2      1k  日本語のとても長いタイトルはどこ…
dddddddd  claude  error     2h     1       -  API Error: 529 · fails
cccccccc  claude  idle      1d     2      1k  👩‍👩‍👧 family emoji 🎉 in a title tha…
eeeeeeee  pi      idle     15d     1       -  from pi
";
    assert_eq!(table(&world, &["list"], Some("80")), eighty);
    let sixty = "\
NAME      AGENT   STATE    AGE  TITLE
aaaaaaaa  claude  working  now  a prompt that the agent wor…
bbbbbbbb  claude  waiting  29m  日本語のとても長いタイトル…
dddddddd  claude  error     2h  API Error: 529 · fails
cccccccc  claude  idle      1d  👩‍👩‍👧 family emoji 🎉 in a tit…
eeeeeeee  pi      idle     15d  from pi
";
    assert_eq!(table(&world, &["list"], Some("60")), sixty);
    let forty = "\
NAME      STATE    AGE  TITLE
aaaaaaaa  working  now  a prompt that t…
bbbbbbbb  waiting  29m  日本語のとても…
dddddddd  error     2h  API Error: 529 …
cccccccc  idle      1d  👩‍👩‍👧 family emoji…
eeeeeeee  idle     15d  from pi
";
    assert_eq!(table(&world, &["list"], Some("40")), forty);
}

/// No row is wider than the terminal, however wide that is, and no title ends in half a character.
#[test]
fn no_row_is_wider_than_the_terminal() {
    use unicode_width::UnicodeWidthStr;
    let world = several();
    for columns in (30..=130).step_by(5) {
        for args in [&["list"][..], &["list", "--all"]] {
            let shown = table(&world, args, Some(&columns.to_string()));
            let widest = shown
                .lines()
                .map(UnicodeWidthStr::width)
                .max()
                .expect("a row");
            assert!(widest <= columns, "{widest} > {columns}:\n{shown}");
            assert!(shown.lines().all(|line| line == line.trim_end()), "{shown}");
        }
    }
}

/// Two columns for each of its characters, and the column is no wider than for others.
#[test]
fn a_directory_of_wide_characters_is_cut_like_any_other() {
    let world = World::new();
    let long = Path::new("/data").join("long/".repeat(12));
    world.claude(
        ONE,
        &prompt(&long, "2026-11-16T02:58:00Z", "the first title"),
    );
    world.claude(
        TWO,
        &prompt(
            &Path::new("/data").join("長".repeat(60)),
            "2026-11-16T02:59:00Z",
            "the second title",
        ),
    );
    let expected = "\
NAME      AGENT   STATE    AGE  MSGS  TOKENS  WHERE                                     TITLE
22222222  claude  working   1m     1       -  …長長長長長長長長長長長長長長長長長長長   the second title
11111111  claude  working   2m     1       -  …ong/long/long/long/long/long/long/long/  the first title
";
    assert_eq!(table(&world, &["list", "--all"], None), expected);
}

#[test]
fn all_shows_this_project_first_and_where_the_others_are() {
    let shown = table(&several(), &["list", "--all"], None);
    let expected = "\
NAME      AGENT   STATE    AGE  MSGS  TOKENS  WHERE                                   TITLE
aaaaaaaa  claude  working  now     2       -  ~/work                                  a prompt that the agent works on
bbbbbbbb  claude  waiting  29m     2      1k  ~/work                                  日本語のとても長いタイトルはどこかで切られます
dddddddd  claude  error     2h     1       -  ~/work                                  API Error: 529 · fails
cccccccc  claude  idle      1d     2      1k  ~/work                                  👩‍👩‍👧 family emoji 🎉 in a title that has two lines
eeeeeeee  pi      idle     15d     1       -  ~/work                                  from pi
ffffffff  claude  working  now     1       -  ~/a/very/long/directory/name/elsewhere  elsewhere, the newest
";
    assert_eq!(shown, expected);
}

/// Where it gets narrow, the directory stays longer than the counts, and its end longer than its beginning.
#[test]
fn where_outlives_the_counts() {
    let world = several();
    let shown = table(&world, &["list", "--all"], Some("80"));
    let expected = "\
NAME      AGENT   STATE    AGE  WHERE                   TITLE
aaaaaaaa  claude  working  now  ~/work                  a prompt that the agent…
bbbbbbbb  claude  waiting  29m  ~/work                  日本語のとても長いタイ…
dddddddd  claude  error     2h  ~/work                  API Error: 529 · fails
cccccccc  claude  idle      1d  ~/work                  👩‍👩‍👧 family emoji 🎉 in a…
eeeeeeee  pi      idle     15d  ~/work                  from pi
ffffffff  claude  working  now  …ectory/name/elsewhere  elsewhere, the newest
";
    assert_eq!(shown, expected);
    assert!(
        table(&world, &["list", "--all"], Some("70"))
            .starts_with("NAME      AGENT   STATE    AGE  WHERE")
    );
    assert!(
        table(&world, &["list", "--all"], Some("60"))
            .starts_with("NAME      AGENT   STATE    AGE  TITLE")
    );
}

/// A terminal gets what fits on it, and is told of the rest; a pipe and a program get all.
#[test]
fn a_long_list_fits_the_screen() {
    let world = World::new();
    for number in 10..40 {
        let said = prompt(
            &world.path("work"),
            &format!("2026-11-16T02:{number}:00Z"),
            "hello",
        );
        world.claude(&format!("{number}aaaaaa"), &said);
    }
    let count = |args: &[&str]| world.reader(args).run().status(0).out().lines().count();
    assert_eq!(count(&["list"]), 31);
    assert_eq!(count(&["list", "--limit", "5"]), 6);
    assert_eq!(count(&["list", "--limit", "5", "--json"]), 5);
    assert_eq!(count(&["--limit=50"]), 31);
    // That a limit leaves some out is said where it is in nobody's way; a program has asked for it.
    let more = "session-reader: 25 more sessions: --limit 30 shows all\n";
    for (args, said) in [
        (&["list", "--limit", "5"][..], more),
        (&["list", "--limit", "5", "--json"], ""),
        (&["list", "--limit", "30"], ""),
        (&["list"], ""),
    ] {
        world.reader(args).run().status(0).stderr(said);
    }
    world
        .reader(&["list", "--limit", "0"])
        .run()
        .status(2)
        .stdout("")
        .stderr_has("1 or more");
    let on = |rows: u32, args: &str| in_a_terminal_of(rows, &world, args, ("NO_COLOR", "1"), "");
    let Some(shown) = on(20, "session-reader") else {
        return;
    };
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(
        (lines.len(), lines[1].starts_with("39aaaaaa")),
        (19, true),
        "{shown}"
    );
    assert_eq!(lines[18], "13 more: --limit 30 shows all");
    for (rows, args, expected) in [
        (32, "session-reader", 31),
        (31, "session-reader", 30),
        (20, "session-reader list --limit 30", 31),
        (20, "session-reader list --limit 3", 5),
        (20, "session-reader list --json", 30),
    ] {
        let shown = on(rows, args).expect("script worked before");
        assert_eq!(
            shown.lines().count(),
            expected,
            "{rows} rows, {args}: {shown}"
        );
    }
}

/// All commands count the same sessions: those in which somebody said something, without subagents.
#[test]
fn all_commands_count_the_same_sessions() {
    let world = several();
    let cwd = world.path("work");
    world.claude("99999999-0000", "{\"type\":\"mode\",\"mode\":\"normal\"}\n");
    world.install("agent-sdk/subagent", "");
    world.install("pi/volute@1.5.0/cwd", "work");
    // A fork that says nothing of its own.
    let said = prompt(&cwd, "2026-11-16T02:30:00Z", "to be forked");
    world.claude("12121212-0000", &said);
    world.claude("34343434-0000", &said);
    let listed = world
        .reader(&["list", "--all", "--json"])
        .run()
        .success()
        .json();
    let of = |agent: &str| listed.iter().filter(|row| row["agent"] == agent).count();
    let (claude, pi) = (of("claude"), of("pi"));
    assert_eq!((listed.len(), pi), (claude + pi, 3));

    let formats = world.reader(&["formats"]).run().success().out().to_owned();
    let counted = |line: &str| {
        line.split(": ")
            .nth(1)
            .and_then(|count| count.split(' ').next()?.parse::<usize>().ok())
    };
    assert_eq!(
        formats.lines().filter_map(counted).sum::<usize>(),
        listed.len(),
        "{formats}"
    );
    assert!(formats.contains(&format!(
        "agent-sdk   Claude Code   ~/.claude ($CLAUDE_CONFIG_DIR): {claude} sessions"
    )));
    assert!(formats.contains("~/work/.volute: 2 sessions"), "{formats}");
    let doctor = world.context(&["doctor"]).run().out().to_owned();
    assert!(
        doctor.contains(&format!(" {claude} sessions, ")) && doctor.contains(" 3 sessions, "),
        "{doctor}"
    );
    let profile = world
        .reader(&["profile", "--all", "--json"])
        .run()
        .success()
        .json();
    assert_eq!(profile[0]["sessions"], listed.len());
}

#[test]
fn flags_choose_sessions() {
    let world = several();
    let ids = |args: &[&str]| -> Vec<String> {
        let rows = world
            .reader(&[&["list", "--json"], args].concat())
            .run()
            .success()
            .json();
        rows.iter()
            .map(|row| row["id"].as_str().expect("an id")[..2].to_owned())
            .collect()
    };
    assert_eq!(ids(&[]), ["aa", "bb", "dd", "cc", "ee"]);
    assert_eq!(ids(&["--all"]), ["aa", "bb", "dd", "cc", "ee", "ff"]);
    assert_eq!(ids(&["--agent", "pi"]), ["ee"]);
    assert_eq!(ids(&["--agent", "Claude"]), ["aa", "bb", "dd", "cc"]);
    assert_eq!(
        ids(&["--agent", "agent-sdk", "--since", "1h"]),
        ["aa", "bb"]
    );
    assert_eq!(ids(&["--state", "waiting"]), ["bb"]);
    assert_eq!(ids(&["--state", "idle,error"]), ["dd", "cc", "ee"]);
    assert_eq!(ids(&["--state", "working", "--all"]), ["aa", "ff"]);
    assert_eq!(ids(&["--all", "--limit", "2"]), ["aa", "bb"]);
    world
        .reader(&["list", "--state", "done"])
        .run()
        .status(1)
        .stdout("")
        .stderr_has("no sessions like that");
    let states = "[possible values: needs-you, error, working, waiting, idle, done, gone]";
    world
        .reader(&["list", "--state", "busy"])
        .run()
        .status(2)
        .stdout("")
        .stderr_has(states);
    assert_eq!(ids(&["--since", "2026-11-10"]), ["aa", "bb", "dd", "cc"]);
    assert_eq!(
        ids(&["--since", "2026-11-16T00:01:00Z"]),
        ["aa", "bb", "dd"]
    );
    assert_eq!(ids(&["--since", "1000d", "--all"]).len(), 6);
    world
        .reader(&["list", "--since", "1s"])
        .run()
        .status(1)
        .stdout("");
    world
        .reader(&["list", "--agent", "gemini"])
        .run()
        .status(1)
        .stdout("");
    world
        .reader(&["list", "--agent", "emacs"])
        .run()
        .status(2)
        .stdout("")
        .stderr("session-reader: no agent is called 'emacs'; there are: claude, codex, copilot, gemini, pi, qwen\n");
    world
        .reader(&["list", "--since", "yesterday-ish"])
        .run()
        .status(2)
        .stdout("")
        .stderr_has("yesterday-ish");
}

/// 002-04, 002-06: all keys are always present.
#[test]
fn json_rows_have_all_keys() {
    let world = World::new();
    let path = world.claude(
        ONE,
        &(prompt(&world.path("work"), "2026-11-16T02:00:00.5Z", "hello")
            + &answer(&world.path("work"), "2026-11-16T02:01:00Z", "hi")),
    );
    let expected = format!(
        "{{\"id\":\"{ONE}\",\"handle\":\"11111111\",\"name\":null,\"agent\":\"claude\",\"title\":\"hello\",\"cwd\":\"{}\",\"path\":\"{}\",\"started\":\"2026-11-16T02:00:00.500Z\",\"updated\":\"2026-11-16T02:01:00.000Z\",\"state\":\"waiting\",\"reason\":\"answered\",\"since\":\"2026-11-16T02:01:00.000Z\",\"source\":\"transcript\",\"messages\":2,\"tokens\":{{\"input\":1000,\"output\":500}}}}\n",
        world.path("work").display(),
        path.display(),
    );
    world
        .reader(&["list", "--json"])
        .run()
        .success()
        .objects(&expected);
    // Without a time, a directory or an answer the keys stay.
    let world = World::new();
    world.claude(
        ONE,
        "{\"type\":\"user\",\"message\":{\"content\":\"hello\"}}\n",
    );
    let row = world
        .reader(&["list", "--all", "--json"])
        .run()
        .success()
        .json()
        .remove(0);
    let keys: Vec<_> = row
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    let mut all: Vec<_> =
        "id handle name agent title cwd path started updated state reason since source messages tokens"
            .split_whitespace()
            .collect();
    all.sort_unstable();
    assert_eq!(
        {
            let mut keys = keys;
            keys.sort_unstable();
            keys
        },
        all
    );
    assert!(row["updated"].is_null() && row["cwd"].is_null() && row["state"] == "idle");
}

fn state(world: &World) -> String {
    let rows = world.reader(&["list", "--json"]).run().success().json();
    rows[0]["state"].as_str().expect("a state").to_owned()
}

/// Whose turn it is, as long as somebody may be there.
#[test]
fn the_state_says_whose_turn_it_is() {
    let world = World::new();
    let cwd = world.path("work");
    world.claude(ONE, &prompt(&cwd, "2026-11-16T02:50:00Z", "do it"));
    assert_eq!(state(&world), "working", "the agent was asked");
    let path = world
        .claude(ONE, "")
        .strip_prefix(world.path(""))
        .expect("below HOME")
        .to_owned();
    let step = |line: String, expected: &str| {
        world.append(&path, line);
        assert_eq!(state(&world), expected);
    };
    step(prompt(&cwd, "2026-11-16T02:50:00Z", "do it"), "working");
    step(call("2026-11-16T02:51:00Z", "t1", "make"), "working");
    step(result("2026-11-16T02:52:00Z", "t1", true), "working");
    step(answer(&cwd, "2026-11-16T02:53:00Z", "done"), "waiting");
    step(prompt(&cwd, "2026-11-16T02:54:00Z", "again"), "working");
    let interrupt = prompt(
        &cwd,
        "2026-11-16T02:54:30Z",
        "[Request interrupted by user]",
    );
    step(interrupt, "waiting");
    // 003-D12: the newest time counts, not the last line's; a clock that runs ahead is now.
    step(
        prompt(&cwd, "2026-11-15T00:00:00Z", "out of order"),
        "working",
    );
    step(
        answer(&cwd, "2027-01-01T00:00:00Z", "from the future"),
        "waiting",
    );
    let shown = world.reader(&["list"]).run().success().out().to_owned();
    assert!(shown.contains("waiting  now"), "{shown}");
}

/// After an hour of silence nobody is thought to be at work.
#[test]
fn silence_is_idle() {
    for (time, expected) in [
        ("2026-11-16T02:00:00Z", "working"),
        ("2026-11-16T01:59:59Z", "idle"),
    ] {
        let world = World::new();
        world.claude(ONE, &prompt(&world.path("work"), time, "do it"));
        assert_eq!(state(&world), expected, "{time}");
    }
}

/// 003-L10: files in which nobody said anything are no sessions.
#[test]
fn sessions_without_a_word_are_not_listed() {
    let world = World::new();
    world.claude(
        ONE,
        "{\"type\":\"permission-mode\",\"permissionMode\":\"plan\"}\n",
    );
    world.claude("22222222", "");
    world.reader(&["list"]).run().status(1).stdout("").stderr(
        "session-reader: no sessions in this project; `session-reader formats` shows where they are looked for\n",
    );
    world.reader(&["list", "--all"]).run().status(1).stdout("").stderr(
        "session-reader: no sessions on this machine; `session-reader formats` shows where they are looked for\n",
    );
}

/// A subagent's work is part of a session, and no session itself, also where only the head of the file says so.
#[test]
fn subagents_are_not_listed() {
    let world = World::new();
    let cwd = world.path("work").display().to_string();
    let said = r#"{"timestamp":"2026-11-16T02:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}"#;
    let rows = |source: &str| {
        let head = format!(
            r#"{{"timestamp":"2026-11-16T02:00:00Z","type":"session_meta","payload":{{"id":"{ONE}","cwd":"{cwd}","source":{source}}}}}"#
        );
        let file = format!(".codex/sessions/2026/11/16/rollout-2026-11-16T02-00-00-{ONE}.jsonl");
        world.write(file, format!("{head}\n{said}\n"));
        world
            .reader(&["list", "--all", "--json"])
            .run()
            .json()
            .len()
    };
    assert_eq!(rows("\"cli\""), 1);
    assert_eq!(rows(r#"{"subagent":"review"}"#), 0);
}

#[test]
fn an_empty_project_says_how_many_are_elsewhere() {
    let world = World::new();
    world.write(
        ".claude/projects/-else/f1.jsonl",
        prompt(Path::new("/else"), "2026-11-16T02:00:00Z", "one"),
    );
    world
        .reader(&[])
        .run()
        .status(1)
        .stdout("")
        .stderr("session-reader: no sessions in this project; 1 elsewhere: --all shows them\n");
    world.write(
        ".claude/projects/-else/f2.jsonl",
        prompt(Path::new("/else"), "2026-11-16T02:00:00Z", "two"),
    );
    world
        .reader(&[])
        .run()
        .status(1)
        .stdout("")
        .stderr("session-reader: no sessions in this project; 2 elsewhere: --all shows them\n");
}

// The cache.

const CACHE: &str = ".cache/session-monitor/list.bin";

fn forget(world: &World) {
    fs::remove_file(world.path(CACHE)).expect("a cache");
}

/// Files that were written a moment ago are looked at again; these were not.
fn settle_all(dir: &Path) {
    files_below(dir).iter().for_each(|path| settle(path));
}

#[test]
fn a_second_run_says_the_same_and_writes_nothing() {
    let world = several();
    settle_all(&world.path(""));
    let first = (rows(&world), table(&world, &["list", "--all"], Some("100")));
    let cache = fs::read(world.path(CACHE)).expect("a cache");
    let written = fs::metadata(world.path(CACHE))
        .and_then(|meta| meta.modified())
        .expect("a time");
    assert_eq!(
        (rows(&world), table(&world, &["list", "--all"], Some("100"))),
        first
    );
    assert_eq!(fs::read(world.path(CACHE)).expect("a cache"), cache);
    assert_eq!(
        fs::metadata(world.path(CACHE))
            .and_then(|meta| meta.modified())
            .expect("a time"),
        written
    );
}

#[test]
fn the_cache_is_nobody_elses() {
    let world = several();
    rows(&world);
    let mode = |path: &str| {
        fs::metadata(world.path(path))
            .expect("it is there")
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(mode(CACHE), 0o600);
    assert_eq!(mode(".cache/session-monitor"), 0o700);
    let files: Vec<_> = fs::read_dir(world.path(".cache/session-monitor"))
        .expect("a directory")
        .flatten()
        .collect();
    assert_eq!(files.len(), 1, "the list and no temporary file: {files:?}");
}

/// A conversation of every kind of line that a count must get right across a cut.
fn conversation(cwd: &Path) -> String {
    let mut text = String::new();
    for minute in 10..40 {
        let time = |second: u32| format!("2026-11-16T02:{minute}:{second:02}Z");
        text += &prompt(cwd, &time(0), &format!("prompt {minute} ünïcödé 🎉"));
        text += &prompt(cwd, &time(0), &format!("prompt {minute} ünïcödé 🎉"));
        for part in ["thinking", "text", "more"] {
            text += &format!(
                r#"{{"type":"assistant","uuid":"{part}{minute}","timestamp":"{}","message":{{"id":"msg{minute}","content":[{{"type":"text","text":"{part}"}}],"usage":{{"input_tokens":{},"output_tokens":{minute}}}}}}}"#,
                time(5),
                part.len(),
            );
            text.push('\n');
        }
        text += &call(&time(6), &format!("t{minute}"), "make");
        text += &result(&time(7), &format!("t{minute}"), minute % 3 == 0);
        text += &format!(
            "{{\"type\":\"attachment\",\"uuid\":\"q{minute}\",\"timestamp\":\"{}\",\"attachment\":{{\"type\":\"queued_command\",\"prompt\":\"queued {minute}\"}}}}\n",
            time(8)
        );
        text += &prompt(cwd, &time(9), &format!("queued {minute}"));
        text += "{ broken\n";
    }
    text
}

/// A file that grows, in pieces that end anywhere, is counted on as if it had been counted in one go.
#[test]
fn counting_on_equals_counting_anew() {
    for seed in 0..4 {
        let world = World::new();
        let text = conversation(&world.path("work")).into_bytes();
        let path = world
            .claude(ONE, "")
            .strip_prefix(world.path(""))
            .expect("below HOME")
            .to_owned();
        world.claude(
            "99999999",
            &prompt(&world.path("work"), "2026-11-16T02:00:00Z", "another"),
        );
        let mut chance = Chance::new(seed);
        let mut at = 0;
        let most = [60, 700, 3000, 8000][seed as usize];
        let mut looks = 0;
        while at < text.len() && looks < 25 {
            let end = if looks == 24 {
                text.len()
            } else {
                (at + 1 + chance.below(most)).min(text.len())
            };
            world.append(&path, &text[at..end]);
            at = end;
            looks += 1;
            let counted_on = rows(&world);
            let cache = fs::read(world.path(CACHE)).expect("a cache");
            forget(&world);
            assert_eq!(counted_on, rows(&world), "seed {seed}, {at} bytes");
            fs::write(world.path(CACHE), cache).expect("the old cache");
        }
        let all = world.reader(&["list", "--json"]).run().success().json();
        assert_eq!(
            all[0]["messages"],
            30 * 4,
            "prompt, answer, call, queued prompt"
        );
    }
}

/// 003-D04: another file under the same name is counted anew, whatever its size.
#[test]
fn a_replaced_or_truncated_file_is_counted_anew() {
    let world = World::new();
    let cwd = world.path("work");
    let old = prompt(&cwd, "2026-11-16T02:00:00Z", "old 1")
        + &prompt(&cwd, "2026-11-16T02:01:00Z", "old 2");
    let same = old.replace("old", "new");
    let larger = same.clone() + &prompt(&cwd, "2026-11-16T02:02:00Z", "new 3");
    let shorter = prompt(&cwd, "2026-11-16T02:00:00Z", "short");
    for (content, title, messages) in [
        (&same, "new 2", 2),
        (&larger, "new 3", 3),
        (&shorter, "short", 1),
    ] {
        // Written over, and put in its place by a rename.
        for rename in [false, true] {
            let path = world.claude(ONE, &old);
            rows(&world);
            if rename {
                fs::rename(world.write("other", content), &path).expect("replaced");
            } else {
                fs::write(&path, content).expect("written over");
            }
            let row = world
                .reader(&["list", "--json"])
                .run()
                .success()
                .json()
                .remove(0);
            assert_eq!(
                (&row["title"], &row["messages"]),
                (&title.into(), &messages.into()),
                "rename: {rename}"
            );
        }
    }
}

/// Quirk 5: a file that lost its last line, and then grew past where it was.
#[test]
fn a_file_that_shrank_and_grew_is_counted_anew() {
    let world = World::new();
    let cwd = world.path("work");
    let path = world.claude(
        ONE,
        &(prompt(&cwd, "2026-11-16T02:00:00Z", "stays")
            + &prompt(&cwd, "2026-11-16T02:01:00Z", "goes")),
    );
    rows(&world);
    let file = OpenOptions::new()
        .write(true)
        .open(&path)
        .expect("the file");
    file.set_len(prompt(&cwd, "2026-11-16T02:00:00Z", "stays").len() as u64)
        .expect("shorter");
    let below = path.strip_prefix(world.path("")).expect("below HOME");
    for number in 0..3 {
        world.append(
            below,
            answer(&cwd, "2026-11-16T02:02:00Z", &format!("comes {number}")),
        );
    }
    let counted_on = rows(&world);
    forget(&world);
    assert_eq!(counted_on, rows(&world));
}

/// A file that is gone is gone from the list, and one that comes back is there again.
#[test]
fn a_removed_file_is_forgotten() {
    let world = several();
    let before = rows(&world);
    let path = world.path(".claude/projects/-else/ffffffff-0000.jsonl");
    let content = fs::read(&path).expect("a transcript");
    fs::remove_file(&path).expect("removed");
    assert_eq!(rows(&world).lines().count(), before.lines().count() - 1);
    fs::write(&path, content).expect("back again");
    assert_eq!(rows(&world), before);
}

#[test]
fn a_corrupt_cache_is_no_cache() {
    let world = several();
    settle_all(&world.path(""));
    let expected = rows(&world);
    let cache = fs::read(world.path(CACHE)).expect("a cache");
    let half = &cache[..cache.len() / 2];
    let other_version = String::from_utf8_lossy(&cache)
        .replacen("\"version\":\"", "\"version\":\"9", 1)
        .replace("\"messages\":2", "\"messages\":7");
    for content in [
        b"".as_slice(),
        b"{}",
        b"null",
        b"\xff\xfe",
        b"[1,2",
        half,
        other_version.as_bytes(),
    ] {
        fs::write(world.path(CACHE), content).expect("a corrupt cache");
        assert_eq!(
            rows(&world),
            expected,
            "{}",
            String::from_utf8_lossy(&content[..content.len().min(40)])
        );
        assert_eq!(
            fs::read(world.path(CACHE)).expect("a cache").len(),
            cache.len(),
            "it is written anew"
        );
    }
    forget(&world);
    fs::create_dir(world.path(CACHE)).expect("a directory in its place");
    assert_eq!(rows(&world), expected);
}

#[test]
fn a_cache_that_cannot_be_written_does_no_harm() {
    let world = several();
    let expected = rows(&world);
    let file = world.write("a-file", "");
    for cache in [
        file.clone(),
        file.join("below"),
        "/proc/nowhere".into(),
        "relative".into(),
    ] {
        let done = world
            .reader(&["list", "--all", "--json"])
            .env("XDG_CACHE_HOME", cache)
            .run()
            .success();
        assert_eq!(done.out(), expected);
    }
    assert!(
        !world.path("work/relative").exists(),
        "XDG directories are absolute or not there"
    );
}

// Files that are no files.

fn forbid(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("other rights");
}

/// 002-09: a file that cannot be read is named, and does not hide the others.
#[test]
fn an_unreadable_file_is_named_and_the_others_are_shown() {
    let world = World::new();
    let cwd = world.path("work");
    world.claude(ONE, &prompt(&cwd, "2026-11-16T02:00:00Z", "hello"));
    let bad = world.claude("22222222", &prompt(&cwd, "2026-11-16T02:00:00Z", "secret"));
    forbid(&bad, 0);
    let stderr = format!(
        "session-reader: {}: Permission denied (os error 13)\n",
        bad.display()
    );
    for _ in 0..2 {
        let done = world
            .reader(&["list", "--json"])
            .without_rights()
            .run()
            .status(2)
            .stderr(&stderr);
        let rows = done.json();
        assert_eq!((rows.len(), &rows[0]["title"]), (1, &"hello".into()));
    }
    world
        .reader(&["22222222"])
        .without_rights()
        .run()
        .status(2)
        .stdout("")
        .stderr(&stderr);
    world
        .reader(&["hello"])
        .without_rights()
        .run()
        .status(0)
        .stdout("2026-11-16 02:00  user       hello\n");
}

#[test]
fn an_unreadable_directory_is_named_and_the_others_are_shown() {
    let world = World::new();
    world.claude(
        ONE,
        &prompt(&world.path("work"), "2026-11-16T02:00:00Z", "hello"),
    );
    let bad = world.path(".claude/projects/-bad");
    fs::create_dir(&bad).expect("a directory");
    forbid(&bad, 0);
    let done = world
        .reader(&["list", "--json"])
        .without_rights()
        .run()
        .status(2);
    assert_eq!(done.json().len(), 1);
    done.stderr(&format!(
        "session-reader: {}: Permission denied (os error 13)\n",
        bad.display()
    ));
}

#[test]
fn a_cache_directory_without_rights_does_no_harm() {
    let world = several();
    let expected = rows(&world);
    let dir = world.path(".cache/session-monitor");
    world.append(".claude/projects/-else/ffffffff-0000.jsonl", "\n");
    for mode in [0o500, 0] {
        forbid(&dir, mode);
        let done = world
            .reader(&["list", "--all", "--json"])
            .without_rights()
            .run()
            .success();
        assert_eq!(done.out(), expected);
    }
}

/// A directory, a dangling link and a pipe with the name of a transcript: passed over, and nobody waits for the pipe.
#[test]
fn what_is_no_file_is_passed_over() {
    let world = World::new();
    let path = world.claude(
        ONE,
        &prompt(&world.path("work"), "2026-11-16T02:00:00Z", "hello"),
    );
    let dir = path.parent().expect("a parent");
    fs::create_dir(dir.join("directory.jsonl")).expect("a directory");
    std::os::unix::fs::symlink("nowhere", dir.join("dangling.jsonl")).expect("a link");
    std::os::unix::fs::symlink(".", dir.join("circle")).expect("a link");
    let pipe =
        std::ffi::CString::new(dir.join("pipe.jsonl").to_str().expect("UTF-8")).expect("no NUL");
    // SAFETY: the path is a C string that lives as long as the call.
    assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
    std::os::unix::net::UnixListener::bind(dir.join("s.jsonl")).expect("a socket");
    let rows = world.reader(&["list", "--json"]).run().success().json();
    assert_eq!(rows.len(), 1);
}

/// Quirk 17: a project directory reached by two names has its sessions once.
#[test]
fn a_linked_project_directory_is_listed_once() {
    let world = World::new();
    let path = world.claude(
        ONE,
        &prompt(&world.path("work"), "2026-11-16T02:00:00Z", "hello"),
    );
    let dir = path.parent().expect("a parent");
    std::os::unix::fs::symlink(dir, dir.with_file_name("-a-link")).expect("a link");
    std::os::unix::fs::symlink(".", dir.with_file_name("-circle")).expect("a link");
    fs::hard_link(&path, dir.join("22222222.jsonl")).expect("a hard link");
    for _ in 0..2 {
        let rows = world.reader(&["list", "--json"]).run().success().json();
        assert_eq!(rows.len(), 1, "{rows:?}");
    }
}

/// Two that are alike for longer than eight characters are shown with what tells them apart.
#[test]
fn names_in_the_table_lead_to_their_sessions() {
    let world = World::new();
    for id in [
        "01a1e236-1111-7000",
        "01a1e236-2222-7000",
        "01a1e237-1111-7000",
        "x",
    ] {
        world.claude(id, &prompt(&world.path("work"), "2026-11-16T02:00:00Z", id));
    }
    let shown = table(&world, &["list"], None);
    let names: Vec<_> = shown
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().next().expect("a name"))
        .collect();
    assert_eq!(names, ["01a1e236-1111", "01a1e236-2222", "01a1e237", "x"]);
    for (name, title) in names.iter().zip([
        "01a1e236-1111-7000",
        "01a1e236-2222-7000",
        "01a1e237-1111-7000",
        "x",
    ]) {
        world
            .reader(&["log", name])
            .run()
            .success()
            .stdout(&format!("2026-11-16 02:00  user       {title}\n"));
    }
}

/// How full the model's context is, where the client says how much it has and takes.
#[test]
fn the_used_context_is_told_in_per_cent() {
    let world = World::new();
    let usage =
        |tokens: u64| json!({"input_tokens": tokens, "output_tokens": 0, "total_tokens": tokens});
    let info = json!({"total_token_usage": usage(90_000), "last_token_usage": usage(63_900), "model_context_window": 100_000});
    Script::codex(&world, ONE)
        .ago(9)
        .user("count them")
        .item("event_msg", json!({"type": "token_count", "info": info}))
        .save(&world, ONE);
    let resumed = world.reader(&["resume", ONE]).run().success();
    assert!(
        resumed
            .out()
            .contains("Tokens      90k in, 0 out, context 63% full\n"),
        "{}",
        resumed.out()
    );
    let frame = world.reader(&["watch", "--once"]).run().success();
    assert!(
        frame.out().contains(" · codex · ctx 63% · "),
        "{}",
        frame.out()
    );
}
