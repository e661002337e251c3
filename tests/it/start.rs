//! What a session is told when it begins: where the work stopped, and what was pinned; once, and at no cost to the news.
//!
//! Cases 000-01 to 000-19, 000-D1 to D5, 001-01 to 001-24 and 001-D1 to D5, each named at its test; 001-04, 001-20 and 001-21
//! are in `profile.rs`, 001-19 in `notes.rs`. Where a document wanted a file of state, there is none here: everything
//! comes from the transcripts.

use std::fs;

use serde_json::{Value, json};
use session_core::process;

use crate::support::agents::{AGENTS, agent, with_event};
use crate::support::claude::{
    answer, asked, calls, compacted, edit, line, prompt, tasks, title, used,
};
use crate::support::files::files;
use crate::support::hook::{HEADER as NEWS, block as news, cursors, hook, input, told};
use crate::support::start::{
    FIRST, GOAL, START, at_work, begins, changed, just_stopped, pi_begins, pi_text, pi_told,
    start_block, start_text, started, started_after, started_as, to_others, units, was_at_work,
    work_lines,
};
use crate::support::times::{DAY, HOUR, MINUTE, SECOND, ago, later};
use crate::support::world::{ME, ONE, THREE, TWO, World, path};

/// 000-01, 000-D2, 001-22: in a project without an earlier session that is said, and nothing else, whatever there is of
/// other projects and of files without content. State that is empty or broken is as none.
#[test]
fn the_first_session_of_a_project_is_told_that_it_is() {
    type Setting = fn(&World);
    let settings: [(&str, Setting); 8] = [
        ("nothing", |_| {}),
        ("its own transcript", |world| {
            drop(asked(world, ME, 1, GOAL));
        }),
        ("its own work", |world| {
            drop(world.claude(ME, &at_work(world, 1)));
        }),
        ("another project", |world| {
            fs::create_dir_all(world.path("other")).expect("a directory");
            world.write(
                ".claude/projects/-other/x.jsonl",
                prompt(&world.path("other"), &ago(9), GOAL),
            );
        }),
        ("an empty transcript", |world| drop(world.claude(ONE, ""))),
        ("a transcript of nothing", |world| {
            drop(world.claude(ONE, "oops\n{}\n[]\n"));
        }),
        ("a subagent", |world| {
            let mut said: Value =
                serde_json::from_str(&prompt(&world.path("work"), &ago(9), GOAL)).expect("JSON");
            said["isSidechain"] = true.into();
            world.claude(ONE, &line(said));
        }),
        ("an empty state", |world| {
            world.write(cursors(world, ME), "");
            let page = world
                .context(&["notes", "--path"])
                .run()
                .success()
                .out()
                .trim_end()
                .to_owned();
            world.write(page, "");
        }),
    ];
    for (name, set) in settings {
        let world = World::new();
        set(&world);
        let done = hook(&world, &[], &begins(&world, ME, "startup"))
            .run()
            .status(0);
        assert_eq!(
            (start_text(&done), done.err()),
            (start_block(&[FIRST]), ""),
            "{name}"
        );
    }
}

/// 001-23, 000-13: with earlier sessions, but nothing that matters now, nothing is said. What is done, or was asked in
/// passing, or ended a week ago is not where the work stopped; but it is no first use either.
#[test]
fn with_nothing_that_matters_nothing_is_said() {
    type Setting = fn(&World);
    let settings: [(&str, u64, Setting); 5] = [
        ("a week", 7 * DAY, |world| {
            drop(world.claude(ONE, &at_work(world, 0)));
        }),
        ("asked in passing", 0, |world| {
            drop(asked(world, ONE, 5, GOAL));
        }),
        ("only read", 0, |world| {
            let read = calls(4, "r", &["Read a.rs", "Grep main"]);
            world.claude(ONE, &(prompt(&world.path("work"), &ago(5), GOAL) + &read));
        }),
        ("answered with nothing to show", 0, |world| {
            let cwd = world.path("work");
            let tried = calls(4, "r", &["Bash ls", "!Edit a.rs"])
                + &answer(&cwd, &ago(4), "It is there already.");
            world.claude(ONE, &(prompt(&cwd, &ago(5), GOAL) + &tried));
        }),
        ("done", 0, |world| {
            world.claude(ONE, &at_work(world, 5));
            world.context(&["done", ONE]).run().success();
        }),
    ];
    for (name, after, set) in settings {
        let world = World::new();
        set(&world);
        assert_eq!(started_after(&world, after), "", "{name}");
        assert!(
            !cursors(&world, ME).exists(),
            "{name}: nothing was told, nothing is remembered"
        );
    }
}

/// 000-03, 000-16, 001-01, 001-02, 001-03, 001-05, 001-10, 001-11, 001-17: what is told goes by how long ago it
/// was: below ten minutes as if nothing had come between; below an hour with what was last asked, files, open task and the
/// last command that did something; below a week title and files; then nothing. The document had another step at 30
/// minutes, hours with minutes, "a few seconds", threads by their number and the profile after an hour: here the words
/// of time are those of the news, files stand for threads, and the profile is a command.
#[test]
fn the_longer_ago_it_stopped_the_less_is_told() {
    let world = World::new();
    world.claude(ONE, &at_work(&world, 0));
    // A result came last, and nobody has said anything since.
    let live = |when: &str| work_lines(&format!("11111111 was at work {when}"));
    let days = |when: &str| {
        let stopped = format!("- the last session, \"{GOAL}\", stopped {when}");
        let rest = [
            "- it changed src/install.sh, src/server.py",
            "- more: session-reader resume 11111111",
        ];
        [stopped]
            .into_iter()
            .chain(rest.map(String::from))
            .collect::<Vec<_>>()
    };
    for (age, expected) in [
        (0, live("just now")),
        (59 * SECOND, live("just now")),
        (MINUTE, live("1m ago")),
        (5 * MINUTE - SECOND, live("4m ago")),
        (5 * MINUTE, live("5m ago")),
        (10 * MINUTE, live("10m ago")),
        (30 * MINUTE, live("30m ago")),
        (HOUR - SECOND, live("59m ago")),
        (HOUR, live("1h ago")),
        (HOUR + SECOND, days("1h ago")),
        (DAY - SECOND, days("23h ago")),
        (DAY, days("1d ago")),
        (7 * DAY - SECOND, days("6d ago")),
        (7 * DAY, vec![]),
        (12 * DAY, vec![]),
    ] {
        assert_eq!(
            started_after(&world, age),
            start_block(&expected),
            "{age} s"
        );
    }
    // A session of tomorrow: its clock is wrong, or ours.
    world.claude(ONE, &at_work(&world, -90));
    assert_eq!(started(&world), start_block(&live("just now")));
}

/// 001-01, 001-02: the two stories as they stand there. "Testing now" is told as what was said after it.
#[test]
fn the_two_stories_are_told_as_written() {
    let world = World::new();
    let cwd = world.path("work");
    let edited = edit(7, "e", &path(&world, "work/install.sh"));
    let said = prompt(&cwd, &ago(8), "Update the version in the installer") + &edited;
    world.claude(
        ONE,
        &(said + &prompt(&cwd, &ago(5), "testing now") + &answer(&cwd, &ago(5), "Good.")),
    );
    let asked = "last asked \"Update the version in the installer\", then \"testing now\"";
    let first = format!("- {}; {asked}", just_stopped("11111111", 5));
    let rest = [
        "- it changed install.sh",
        "- it said \"Good.\"",
        "- more: session-reader resume 11111111",
    ];
    assert_eq!(
        started(&world),
        start_block(&[&[&*first], &rest[..]].concat())
    );
    let half = first.replace(
        &just_stopped("11111111", 5),
        "the last session, 11111111, stopped 35m ago",
    );
    let done = hook(&world, &[], &pi_begins(&world, ME, "let's resume"))
        .env("SESSION_MONITOR_NOW", later(30 * MINUTE));
    let (start, _) = pi_text(&done.run().success())
        .split_once(&format!("\n{NEWS}"))
        .map_or_else(
            || panic!("both blocks"),
            |(start, news)| (start.to_owned(), news.to_owned()),
        );
    let half: Vec<String> = [&*half]
        .iter()
        .chain(&rest)
        .map(ToString::to_string)
        .collect();
    assert_eq!(start, start_block(&to_others(half)));
}

/// What is open or in the way, and the last word or deed; nothing of what only looked at something. 001-10: the last command,
/// if it did something. 001-11: the first open task where none is at work.
#[test]
fn what_is_told_of_the_work() {
    let world = World::new();
    let cwd = world.path("work");
    let changed = || prompt(&cwd, &ago(9), GOAL) + &edit(8, "e", &path(&world, "work/a.rs"));
    let said = |text: &str| answer(&cwd, &ago(7), text);
    let run = |command: &str| used(7, "x", "Bash", json!({"command": command}), None);
    let todo = |list: &[(&str, &str)]| tasks(7, "t", list);
    let looked = [
        "Grep fn main",
        "WebFetch https://example.com/a",
        "Read b.rs",
        "Task Look at it",
        "Bash git log",
    ];
    let (stopped, at_work) = (just_stopped("11111111", 7), was_at_work("11111111", 7));
    for (end, how, rest) in [
        (
            said("Done. It works."),
            &stopped,
            "\n- it said \"Done. It works.\"",
        ),
        (
            said("The installer retries now. Shall I push it?"),
            &stopped,
            "\n- it said \"The installer retries now.\"",
        ),
        (
            todo(&[
                ("Write it", "completed"),
                ("Push it", "pending"),
                ("Rest", "pending"),
            ]),
            &at_work,
            "\n- open: \"Push it\"",
        ),
        (todo(&[("Write it", "completed")]), &at_work, ""),
        (
            todo(&[("Wait for Ana", "blocked")]),
            &at_work,
            "\n- blocked: \"Wait for Ana\"",
        ),
        (
            calls(7, "b", &["!Bash cargo test --all 2>&1 | tail"]),
            &at_work,
            "\n- cargo test fails",
        ),
        (
            calls(7, "b", &["!Bash cargo test", "Bash cargo test"]),
            &at_work,
            "\n- last it ran \"cargo test\"",
        ),
        (calls(7, "l", &looked), &at_work, ""),
        (
            run("sleep 999"),
            &format!("{at_work} (no result yet: sleep 999)"),
            "",
        ),
        (
            run("rm x") + &refused(7, "x", "User rejected tool use"),
            &at_work,
            "\n- not allowed: \"Bash rm x\"",
        ),
        (
            failed(7, "You've hit your limit"),
            &stopped,
            "\n- stopped by a limit: \"You've hit your limit\"",
        ),
        (
            failed(7, "API Error: 500"),
            &stopped,
            "\n- stopped by an error: \"API Error: 500\"",
        ),
        (
            prompt(&cwd, &ago(7), "ok") + "{\"type\":\"user\",\"mess",
            &at_work,
            "",
        ),
    ] {
        world.claude(ONE, &(changed() + &end));
        let first = format!("- {how}; last asked \"{GOAL}\"");
        let files = format!("- it changed a.rs{rest}");
        let _ = fs::remove_file(cursors(&world, ME));
        assert_eq!(
            started(&world),
            start_block(&[&*first, &files, "- more: session-reader resume 11111111"])
        );
    }
}

/// What the agent of the last session says of itself comes first: that it works, waits for its user or was killed.
#[test]
fn the_last_session_is_still_open() {
    let world = World::new();
    let make = used(4, "x", "Bash", json!({"command": "make"}), None);
    world.claude(ONE, &(changed(&world, 5, GOAL, "a.rs") + &make));
    let pid = std::process::id();
    let runs = process::started(pid).expect("it runs").to_string();
    let domain = format!("pid:[{}]", process::namespace().expect("a namespace"));
    let three_minutes_ago = 1_794_797_820_000_u64;
    for (status, start, how) in [
        (
            "busy",
            &*runs,
            "11111111 is working (running make) since 3m",
        ),
        (
            "waiting",
            &runs,
            "11111111 waits for its user (wants to run make) since 3m",
        ),
        ("busy", "1", "11111111 crashed while running make 4m ago"),
    ] {
        let entry = json!({"pid": pid, "procStart": start, "pidDomain": domain, "sessionId": ONE, "status": status,
            "statusUpdatedAt": three_minutes_ago});
        world.write(".claude/sessions/1.json", entry.to_string());
        let first = format!("- {how}; last asked \"{GOAL}\"");
        let _ = fs::remove_file(cursors(&world, ME));
        let lines = [
            &*first,
            "- it changed a.rs",
            "- more: session-reader resume 11111111",
        ];
        assert_eq!(started(&world), start_block(&lines), "{status} {start}");
    }
}

/// What came of a call that the user refused.
fn refused(minutes: i64, id: &str, text: &str) -> String {
    let content =
        json!([{"type": "tool_result", "tool_use_id": id, "is_error": true, "content": text}]);
    let message = json!({"role": "user", "content": content});
    line(
        json!({"type": "user", "uuid": format!("r-{id}"), "timestamp": ago(minutes), "message": message}),
    )
}

/// An error in the place of an answer.
fn failed(minutes: i64, text: &str) -> String {
    let message = json!({"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": text}]});
    line(
        json!({"type": "assistant", "uuid": "e", "isApiErrorMessage": true, "timestamp": ago(minutes), "message": message}),
    )
}

/// 001-09: the intent is what was last asked. A prompt that can be understood replaces it, a short one is told after it, an
/// acknowledgement changes nothing. Most rows were told wrong of real sessions: the prompts, in other words, the oldest
/// first. The start, `resume` and the title in the list agree; the text of a skill that a client puts in is no prompt.
#[test]
fn what_was_last_asked() {
    let log = "why does the pipeline fail?\n\n[INFO] building\nvalidate: lib/server/auth.ts\nlib/server/db.ts is ok";
    let (cache, import) = (
        "add a cache for the pages",
        "find out why the import is slow",
    );
    let chinese = "请把登录页面的错误提示改成中文";
    let wiki = "ask the knowledge base (i.e. the wiki) where the scripts are. Thanks";
    let (lexer, blocked) = (
        "what does the lexer do?",
        "I'm blocked because the key is missing",
    );
    let cases: [(&[&str], &str, &str); 12] = [
        (
            &[
                "i want to keep it for API testing",
                "still issues: login loops",
                "still issues: now a 500",
            ],
            "still issues: now a 500",
            "",
        ),
        (
            &["add a gitignore file", "help me apply for the grant"],
            "help me apply for the grant",
            "",
        ),
        (
            &["check the health endpoint", "deploy this"],
            "check the health endpoint",
            "deploy this",
        ),
        (&[cache, "revert everything"], cache, "revert everything"),
        (
            &[cache, "yes", "oui, merci", "push", "2", "/compact"],
            cache,
            "",
        ),
        (&[cache, log], "why does the pipeline fail?", ""),
        (
            &[
                cache,
                "ERROR: not registered\nPlease run 'az provider register'",
            ],
            cache,
            "",
        ),
        (
            &[chinese, "[INFO] Server started on port 8080"],
            chinese,
            "",
        ),
        (
            &[import, "use serena and ultrathink"],
            import,
            "use serena and ultrathink",
        ),
        (&[wiki], wiki, ""),
        (&[cache, lexer], lexer, ""),
        (&[cache, blocked], blocked, ""),
    ];
    for (prompts, asked, then) in cases {
        let world = World::new();
        let cwd = world.path("work");
        let said: String = prompts
            .iter()
            .zip(0..)
            .map(|(text, at)| prompt(&cwd, &ago(20 - at), text))
            .collect();
        let skill = json!({"type": "user", "uuid": "s", "isMeta": true, "timestamp": ago(5), "cwd": cwd, "message":
            {"role": "user", "content": "Base directory for this skill: /x\n\n- Validate all of the server code first"}});
        world.claude(
            ONE,
            &(said + &line(skill) + &edit(5, "e", &path(&world, "work/a.rs"))),
        );
        let then = if then.is_empty() {
            String::new()
        } else {
            format!(", then \"{then}\"")
        };
        let first = format!(
            "- {}; last asked \"{asked}\"{then}",
            was_at_work("11111111", 5)
        );
        assert_eq!(started(&world).lines().nth(1), Some(&*first), "{prompts:?}");
        let work = &world.reader(&["resume", "--json"]).run().success().json()[0]["current_work"];
        assert_eq!(
            (&work["intent"]["text"], &work["is_directive"]),
            (&json!(asked), &json!(true)),
            "{prompts:?}"
        );
        assert_eq!(
            world.reader(&["list", "--json"]).run().success().json()[0]["title"],
            asked,
            "{prompts:?}"
        );
    }
}

/// What the client itself says of where a session stands comes first, in place of the last answer, until somebody says more.
#[test]
fn a_recap_of_the_client_replaces_the_last_answer() {
    let world = World::new();
    let cwd = world.path("work");
    let recap = "Adding a retry to the installer; the retry works, next is its test.";
    let away = line(
        json!({"type": "system", "subtype": "away_summary", "uuid": "w", "timestamp": ago(4), "content": recap}),
    );
    let lines =
        changed(&world, 6, GOAL, "a.rs") + &answer(&cwd, &ago(5), "The retry works.") + &away;
    let told = |lines: &str| {
        world.claude(ONE, lines);
        let _ = fs::remove_file(cursors(&world, ME));
        let all = world
            .reader(&["resume", "--json"])
            .run()
            .success()
            .json()
            .remove(0);
        (
            started(&world),
            all["current_work"]["recap"]["text"].clone(),
        )
    };
    let expected = |how: String, then: &str, rest: [&str; 2]| {
        let first = format!("- {how}; last asked \"{GOAL}\"{then}");
        start_block(&[
            &*first,
            rest[0],
            rest[1],
            "- more: session-reader resume 11111111",
        ])
    };
    let told_first = format!("- its recap: \"{recap}\"");
    let recapped = expected(
        just_stopped("11111111", 5),
        "",
        [&told_first, "- it changed a.rs"],
    );
    assert_eq!(told(&lines), (recapped, json!(recap)));
    let row = format!("\nRecap       {recap}\nSaid last   The retry works.\n");
    assert!(
        world
            .reader(&["resume"])
            .run()
            .success()
            .out()
            .contains(&row)
    );
    let rest = ["- it changed a.rs", "- it said \"The retry works.\""];
    let said = expected(was_at_work("11111111", 2), ", then \"test it\"", rest);
    assert_eq!(
        told(&(lines + &prompt(&cwd, &ago(2), "test it"))),
        (said, Value::Null)
    );
}

/// One prompt, and the agent was at work when a limit, the user or the end of the power stopped it: that is the last session,
/// and no question in passing.
#[test]
fn one_prompt_that_broke_off_is_the_last_session() {
    let world = World::new();
    let cwd = world.path("work");
    let runs: String = (6..25)
        .rev()
        .map(|at| calls(at, &format!("b{at}"), &["Bash ls"]))
        .collect();
    let limit = "Claude AI usage limit reached|1770000000";
    let stopped = format!("- stopped by a limit: \"{limit}\"");
    for (end, how, rest) in [
        (
            runs + &failed(5, limit),
            just_stopped("11111111", 5),
            &[&*stopped][..],
        ),
        (
            calls(5, "d", &["Task Look for the lexer"]),
            was_at_work("11111111", 5),
            &[],
        ),
        (
            calls(6, "e", &["!Edit a.rs"])
                + &prompt(&cwd, &ago(5), "[Request interrupted by user]"),
            just_stopped("11111111", 5),
            &[],
        ),
    ] {
        world.claude(ONE, &(prompt(&cwd, &ago(26), GOAL) + &end));
        let first = format!("- {how}; last asked \"{GOAL}\"");
        let _ = fs::remove_file(cursors(&world, ME));
        assert_eq!(
            started(&world),
            start_block(
                &[
                    &[&*first],
                    rest,
                    &["- more: session-reader resume 11111111"]
                ]
                .concat()
            )
        );
    }
}

/// 001-12: three files at the most, the last first, as the session that begins would write them; the rest is counted.
#[test]
fn at_most_three_files_are_named() {
    let world = World::new();
    let cwd = world.path("work");
    fs::create_dir_all(world.path("work/deep")).expect("a directory");
    let all = [
        "work/a.rs",
        "work/deep/b.rs",
        "elsewhere/c.rs",
        "work/d.rs",
        "work/a.rs",
    ];
    for (count, expected) in [
        (1, "a.rs"),
        (2, "deep/b.rs, a.rs"),
        (3, "~/elsewhere/c.rs, deep/b.rs, a.rs"),
        (4, "d.rs, ~/elsewhere/c.rs, deep/b.rs and 1 more"),
        (5, "a.rs, d.rs, ~/elsewhere/c.rs and 1 more"),
    ] {
        let edits = all[..count]
            .iter()
            .zip(0..)
            .map(|(file, at)| edit(9 - at, &format!("e{at}"), &path(&world, file)));
        world.claude(
            ONE,
            &(prompt(&cwd, &ago(10), GOAL) + &edits.collect::<String>()),
        );
        let _ = fs::remove_file(cursors(&world, ME));
        let told = started(&world);
        assert_eq!(
            told.lines().nth(2),
            Some(&*format!("- it changed {expected}")),
            "{told}"
        );
    }
}

/// 000-12, 000-13: a title is cut, there are three files at the most, the last first, and what is not there leaves no empty
/// line. Every file counts, wherever it is and whatever it is called.
#[test]
fn titles_are_cut_and_nothing_leaves_an_empty_line() {
    let world = World::new();
    let cwd = world.path("work");
    let said = |text: &str| prompt(&cwd, &ago(3), text) + &prompt(&cwd, &ago(2), "ok");
    let edited = |files: &[&str]| -> String {
        let edits = files
            .iter()
            .zip(0..)
            .map(|(file, at)| edit(1, &format!("e{at}"), &path(&world, file)));
        edits.collect()
    };
    let long = "The long title of a session that says far too much about itself";
    let many = [
        "work/a.rs",
        "work/b.rs",
        "work/c.rs",
        "work/d.rs",
        "work/src/e.rs",
        "work/b.rs",
    ];
    let odd = [
        ".claude/plans/cheerful-honey-toasting.md",
        "work/plans/3f9a2b1c77de.md",
        "work/work.md",
        "work/src/lexer.rs",
    ];
    for (lines, first, files) in [
        (
            title("Short") + &said("ok"),
            "\"Short\", stopped 2h ago",
            "",
        ),
        (
            title(long) + &said("ok"),
            "\"The long title of a session that says far too…\", stopped 2h ago",
            "",
        ),
        (
            title("Short") + &said(GOAL),
            &*format!("\"Short\", stopped 2h ago; last asked \"{GOAL}\""),
            "",
        ),
        (said(GOAL), &*format!("\"{GOAL}\", stopped 2h ago"), ""),
        (said("ok"), "\"ok\", stopped 2h ago", ""),
        (
            said("ok") + &edited(&many),
            "\"ok\", stopped 2h ago",
            "\n- it changed b.rs, src/e.rs, d.rs and 2 more",
        ),
        (
            said("ok") + &edited(&odd),
            "\"ok\", stopped 2h ago",
            "\n- it changed src/lexer.rs, work.md, plans/3f9a2b1c77de.md and 1 more",
        ),
    ] {
        world.claude(ONE, &lines);
        let lines = [
            &*format!("- the last session, {first}{files}"),
            "- more: session-reader resume 11111111",
        ];
        assert_eq!(started_after(&world, 2 * HOUR), start_block(&lines));
    }
}

/// 000-05, 000-06, 000-12: the summary of a compaction is told if it is younger than two hours. In the document it stood in
/// for the last work; here it comes with it, where files and tasks are no longer told.
#[test]
fn the_summary_of_a_compaction_is_told_for_two_hours() {
    let world = World::new();
    let cwd = world.path("work");
    let summary = "We changed the parser. ".repeat(20);
    let said = || prompt(&cwd, &ago(30), GOAL) + &prompt(&cwd, &ago(29), "ok");
    world.claude(
        ONE,
        &(said() + &compacted(20, &summary) + &answer(&cwd, &ago(10), "Yes.")),
    );
    let summary_at = |after: u64| {
        let told = started_after(&world, after);
        assert!(units(&told) <= 500, "{told}");
        told.lines()
            .find(|line| line.contains("summary"))
            .unwrap_or_default()
            .to_owned()
    };
    let told = summary_at(HOUR);
    let text = told
        .strip_prefix("- its summary: \"")
        .and_then(|rest| rest.strip_suffix("…\""))
        .expect("a summary");
    assert!(
        summary.starts_with(text) && (130..=150).contains(&text.len()),
        "{told}"
    );
    assert_eq!(summary_at(30 * MINUTE), "", "files and tasks say more");
    // It was made twenty minutes ago.
    assert_ne!(summary_at(100 * MINUTE - SECOND), "");
    assert_eq!(summary_at(100 * MINUTE), "");
    assert_eq!(summary_at(5 * HOUR), "");
}

/// 000-06: by the age of the summary, not of what was said after it.
#[test]
fn an_old_summary_is_not_told() {
    let world = World::new();
    let cwd = world.path("work");
    let said = prompt(&cwd, &ago(179), GOAL) + &compacted(170, "We changed the parser.");
    world.claude(
        ONE,
        &(said + &prompt(&cwd, &ago(80), "ok") + &answer(&cwd, &ago(79), "Yes.")),
    );
    let told = started(&world);
    assert!(
        told.contains("stopped 1h ago") && !told.contains("summary"),
        "{told}"
    );
}

/// 000-02, 000-07, 000-09, 000-19: a session is told once, whatever it is told after that; another one is told, too. Nobody
/// has to end a session for that.
#[test]
fn a_session_is_told_once() {
    let world = World::new();
    world.claude(ONE, &at_work(&world, 5));
    let expected = start_block(&work_lines(&was_at_work("11111111", 5)));
    assert_eq!(started(&world), expected);
    assert!(cursors(&world, ME).exists());
    for _ in 0..2 {
        assert_eq!(started(&world), "", "the window was loaded again");
        assert!(!told(&world).contains(START));
    }
    assert_eq!(started_as(&world, TWO, "startup"), expected);
    assert_eq!(started_as(&world, TWO, "startup"), "");
    // Without what it remembers it is told again, as everything is.
    fs::remove_dir_all(world.path(".state")).expect("removed");
    assert_eq!(started(&world), expected);
}

/// 000-D1: two windows in turn are each told once; also those of an agent whose sessions begin with a prompt.
#[test]
fn two_windows_in_turn_are_each_told_once() {
    let world = World::new();
    world.claude(THREE, &at_work(&world, 5));
    let mut blocks = 0;
    for round in 0..4 {
        for id in [ONE, TWO] {
            let told = started_as(&world, id, "startup");
            assert_eq!(told.is_empty(), round > 0, "{id}: {told}");
            let (start, _) = pi_told(&world, id, "and now?");
            blocks += usize::from(!start.is_empty());
            assert_eq!(start.is_empty(), round > 0, "{id}: {start}");
        }
    }
    assert_eq!(blocks, 2);
}

/// Within the minute nobody counts minutes.
#[test]
fn within_the_minute_no_minutes_are_told() {
    let world = World::new();
    let lines = changed(&world, 1, "Add a cache for the pages", "a.rs")
        + &answer(&world.path("work"), &ago(0), "Done.");
    world.claude(ONE, &lines);
    let first = |told: &str| told.lines().nth(1).map(str::to_owned);
    let asked = "last asked \"Add a cache for the pages\"";
    assert_eq!(
        first(&started(&world)),
        Some(format!(
            "- 11111111 stopped just before this session; {asked}"
        ))
    );
    let later = started_after(&world, MINUTE);
    assert_eq!(
        first(&later),
        Some(format!(
            "- 11111111 stopped 1m ago, just before this session; {asked}"
        ))
    );
}

/// 001-15, 001-16, 001-24: pins come first, by their priority, until they are over, to the moment; before the state of the
/// work, not after it as in the document, because the issue wants them first. Threads and the profile are no part of it.
#[test]
fn pins_come_first_until_they_are_over() {
    let world = World::new();
    world
        .context(&["pin", "for a day", "--for", "1d"])
        .run()
        .success();
    world.context(&["pin", "for ever"]).run().success();
    world
        .context(&["pin", "above all", "--priority", "high"])
        .run()
        .success();
    world
        .context(&["note", "fact", "not a pin"])
        .run()
        .success();
    world
        .context(&["profile", "set", "role", "owner"])
        .run()
        .success();
    let pins = [
        "- pinned: above all",
        "- pinned: for a day",
        "- pinned: for ever",
    ];
    assert_eq!(
        started(&world),
        start_block(&[&pins[..], &[FIRST]].concat())
    );
    world.claude(ONE, &at_work(&world, 0));
    let with = |pins: &[&str], rest: Vec<String>| {
        start_block(&[pins.iter().map(ToString::to_string).collect(), rest].concat())
    };
    let near = work_lines("11111111 was at work just now");
    assert_eq!(started_after(&world, 0), with(&pins, near));
    assert_eq!(
        started_after(&world, DAY - SECOND).lines().nth(2),
        Some("- pinned: for a day")
    );
    assert_eq!(
        started_after(&world, DAY).lines().nth(2),
        Some("- pinned: for ever")
    );
    // Where there is nothing else to say, they still are.
    assert_eq!(
        started_after(&world, 9 * DAY),
        with(&["- pinned: above all", "- pinned: for ever"], vec![])
    );
    assert_eq!(
        pi_told(&world, ME, "hello").0.lines().nth(1),
        Some("- pinned: above all")
    );
    // Of another project they are none.
    let mut asks = begins(&world, TWO, "startup");
    fs::create_dir_all(world.path("other")).expect("a directory");
    asks["cwd"] = path(&world, "other").into();
    assert_eq!(
        start_text(&hook(&world, &[], &asks).run().success()),
        start_block(&[FIRST])
    );
}

/// A pin is told whole as long as there is room: half a rule may be the opposite of it. Who pins more is told so.
#[test]
fn pins_are_whole() {
    let world = World::new();
    let rule = "Do not touch the migrations directory; never run cargo sqlx migrate against the shared database, except on \
        staging when Ana has said yes in the channel";
    world.context(&["pin", rule]).run().success();
    assert_eq!(
        started(&world),
        start_block(&[&format!("- pinned: {rule}"), FIRST])
    );
    world.context(&["pin", "short"]).run().success();
    assert_eq!(
        started_as(&world, TWO, "startup"),
        start_block(&[&format!("- pinned: {rule}"), "- pinned: short", FIRST])
    );
    let long = "x".repeat(201);
    let said = "session-context: it is long: sessions are told its first 200 characters\n";
    world
        .context(&["pin", "--priority", "high", &long])
        .run()
        .status(0)
        .stderr(said);
    let told = started_as(&world, THREE, "startup");
    assert_eq!(
        told.lines().nth(1),
        Some(&*format!("- pinned: {}…", "x".repeat(199)))
    );
    assert_eq!(told.lines().nth(2), Some("- +2 more: session-context pins"));
}

/// 000-D5: each agent is told in its own form, which names the event where it has a name for it; and nothing but that.
#[test]
fn every_agent_is_told_in_its_own_form() {
    let world = World::new();
    world.claude(ONE, &at_work(&world, 5));
    let own = work_lines(&was_at_work("11111111", 5));
    for (agent, input, reply) in AGENTS {
        if agent == "pi" {
            continue;
        }
        let lines = start_block(&if agent == "agent-sdk" {
            own.clone()
        } else {
            to_others(own.clone())
        });
        let mut asks = input(&world, ME);
        asks.as_object_mut().expect("an object").remove("prompt");
        asks["source"] = if agent == "copilot" { "new" } else { "startup" }.into();
        let expected = match agent {
            "copilot" => reply(&lines),
            _ => {
                asks["hook_event_name"] = "SessionStart".into();
                with_event("SessionStart", &lines)
            }
        };
        for (number, args) in [&["--agent", agent][..], &[]].iter().enumerate() {
            let id = format!("aaaaaaa{number}-0000-4000-8000-00000000000a");
            for key in ["session_id", "sessionId"] {
                asks[key] = if asks[key].is_null() {
                    Value::Null
                } else {
                    (*id).into()
                };
            }
            let done = hook(&world, args, &asks).run().success();
            assert_eq!(
                done.json(),
                std::slice::from_ref(&expected),
                "{agent} {args:?}"
            );
            assert_eq!(done.out().matches('\n').count(), 1);
            hook(&world, args, &asks).run().success().stdout("");
        }
    }
    let lines = start_block(&to_others(own));
    // Copilot as an editor runs it: the event has a name.
    let asks = json!({"session_id": ME, "hook_event_name": "SessionStart", "cwd": world.path("work"), "source": "new"});
    let done = hook(&world, &["--agent", "copilot"], &asks).run().success();
    assert_eq!(done.json(), [json!({"additionalContext": lines})]);
    let done = hook(
        &world,
        &["--budget", "600"],
        &pi_begins(&world, ME, "hello"),
    )
    .run()
    .success();
    let news = news(&[format!(
        "- claude:11111111 (5m ago, 4 messages): \"{GOAL}\" -> edited 2 files (src/install.sh, src/server.py), ran 1 command"
    )]);
    assert_eq!(done.json(), [agent("pi").2(&format!("{lines}\n{news}"))]);
    hook(&world, &[], &pi_begins(&world, ME, "hello"))
        .run()
        .success()
        .stdout("");
}

/// Sessions of the real clients, each as the last one: what is told of it is what it did.
#[test]
fn sessions_of_real_clients_are_told_by_what_they_did() {
    const FAILED: &str = "- stopped by an error: \"400 stub: bad request on purpose\"";
    const HELLO: &str = "- it said \"Hello from the stub.\"";
    let cases: [(&str, &str, &str, &[&str]); 8] = [
        (
            "codex/tools-resume@0.166.0",
            "01a1e236-138c, stopped 24m",
            "Run a failing command\", then \"Unicode please",
            &[
                "- it changed notes.md",
                "- it said \"Zażółć gęślą jaźń 🦀 — 'quoted'\"",
            ],
        ),
        (
            "copilot/tools-resume@1.0.102",
            "017d6175 \"Second one\", stopped 13m",
            "Trigger a server error",
            &[FAILED, HELLO],
        ),
        (
            "gemini/tools-resume@0.61.0",
            "093f62fe was at work 19m",
            "Trigger a server error",
            &[HELLO],
        ),
        (
            "qwen/tools-resume@0.24.4",
            "2a09cfcf, stopped 18m",
            "Say hello in the fork",
            &[FAILED, HELLO],
        ),
        (
            "pi/tools-continue@1.5.0",
            "01a1e246-da38, stopped 15m",
            "Say hello via partial id\", then \"Approach A in the fork",
            &[
                "- it changed notes.md",
                "- it said \"Approach A: use a queue.\"",
            ],
        ),
        (
            "agent-sdk/tools",
            "48d9aa73, stopped 34m",
            "[[script:basic]] again with tasks env",
            &[
                "- it changed hello.py",
                "- it said \"Finished the basic script.\"",
            ],
        ),
        (
            "agent-sdk/killed",
            "aaaaaaaa-0000-4000-8000-000000000001, stopped 28m",
            "[[script:hang]] killed while the model streams\", then \"[[script:p2]] after kill 1",
            &["- it said \"Recovered.\""],
        ),
        (
            "agent-sdk/compact",
            "8da0d0b5, stopped 29m",
            "[[script:p3]] after compact",
            &["- it said \"Three.\""],
        ),
    ];
    for (case, stopped, asked, rest) in cases {
        let world = client(case);
        let after = if case.starts_with("pi/") {
            10 * MINUTE
        } else {
            0
        };
        let agent = case.split('/').next().filter(|agent| *agent != "agent-sdk");
        let stopped =
            agent.map_or_else(|| stopped.to_owned(), |agent| format!("{agent}:{stopped}"));
        let last = if stopped.contains(" was at work ") {
            ""
        } else {
            "the last session, "
        };
        let first = format!("- {last}{stopped} ago; last asked \"{asked}\"");
        let name = stopped.split([',', ' ']).next().expect("a name");
        let more = format!("- more: session-reader resume {name}");
        assert_eq!(
            started_after(&world, after),
            start_block(&[&[&*first], rest, &[&*more]].concat()),
            "{case}"
        );
        assert_eq!(world.reader(&["resume", name]).run().err(), "", "{case}");
    }
}

/// The title of a session is the one that everything else calls it by, wherever the client keeps it.
#[test]
fn titles_of_real_clients_are_those_of_the_list() {
    for (case, title) in [
        ("copilot/tools-resume@1.0.102", "Second one"),
        ("gemini/tools-resume@0.61.0", "Trigger a server error"),
        ("agent-sdk/tools", "[[script:basic]] again with tasks env"),
    ] {
        let told = started_after(&client(case), 2 * HOUR);
        assert!(
            told.contains(&format!(
                "\n- the last session, \"{title}\", stopped 2h ago"
            )),
            "{case}: {told}"
        );
    }
}

/// What a real client wrote, as if it had worked here.
fn client(case: &str) -> World {
    let world = World::new();
    world.install(case, "");
    for (file, (content, ..)) in files(&world.path("")) {
        let Some(Ok(text)) = content.map(String::from_utf8) else {
            continue;
        };
        let cwds = [
            "other/proj",
            "proj",
            "tools",
            "my proj.v1",
            "killed",
            "compact",
        ];
        let here = |text: String, cwd: &&str| {
            text.replace(&format!("/home/dev/src/{cwd}"), &path(&world, "work"))
        };
        fs::write(file, cwds.iter().fold(text, here)).expect("written");
    }
    world
}

/// The start is no look at the others: what they did in the hour before, and since, is told with the first prompt, as if
/// there had been no start; and once.
#[test]
fn the_start_is_no_look_at_the_others() {
    let world = World::new();
    let cwd = world.path("work");
    world.claude(ONE, &at_work(&world, 5));
    asked(&world, TWO, 40, "how do I deploy this?");
    asked(&world, THREE, 70, "longer ago");
    let bullets = [
        format!(
            "- 11111111 (5m ago, 4 messages): \"{GOAL}\" -> edited 2 files (src/install.sh, src/server.py), ran 1 command"
        ),
        "- 22222222 (40m ago, 1 message): \"how do I deploy this?\"".to_owned(),
    ];
    for source in ["startup", "clear", "compact", "resume"] {
        started_as(&world, ME, source);
    }
    assert_eq!(told(&world), news(&bullets));
    assert_eq!(told(&world), "");
    // A start in between, and one long before the first prompt.
    world.append(world.transcript(TWO), answer(&cwd, &ago(2), "Done."));
    started_as(&world, ME, "clear");
    assert_eq!(
        told(&world),
        news(&["- 22222222 (2m ago, 1 message): said \"Done.\""])
    );
    let other = "99999999-0000-4000-8000-000000000009";
    assert_ne!(started_as(&world, other, "startup"), "");
    world.append(
        world.transcript(TWO),
        answer(&cwd, &ago(-30), "Half an hour later."),
    );
    let asks = hook(&world, &[], &input(&world, other))
        .env("SESSION_MONITOR_NOW", later(3 * HOUR))
        .run()
        .success();
    let bullets = [
        "- 22222222 (2h ago, 3 messages): \"how do I deploy this?\"".to_owned(),
        bullets[0].replace("5m ago", "3h ago"),
    ];
    assert_eq!(crate::support::hook::text(&asks), news(&bullets));
}

/// 001-D2: nothing is written for the user, whatever is said; and a start leaves no file but what it remembers.
#[test]
fn nothing_is_written_by_itself() {
    let world = World::new();
    let cwd = world.path("work");
    world.claude(
        ONE,
        &(at_work(&world, 5)
            + &prompt(
                &cwd,
                &ago(4),
                "always use tabs, never push to main; my project is a shop",
            )),
    );
    for source in ["startup", "clear", "compact", "resume"] {
        let told = started_as(&world, ME, source);
        assert!(
            !told.contains("- pinned") && !told.contains("- decided"),
            "{told}"
        );
    }
    assert!(!world.path(".data").exists());
    assert!(told(&world).contains("11111111"));
}

/// 001-06, 001-07, 001-08, 001-13: what the document kept in a file of state is in the full account: 20 files with act, time
/// and summary; 50 calls with target and time; the last message; idle after an hour of silence, not five minutes: a build may take longer.
#[test]
fn the_full_account() {
    let world = World::new();
    let cwd = world.path("work");
    let edits: String = (0..30)
        .map(|at| {
            edit(
                10,
                &format!("e{at}"),
                &path(&world, &format!("work/f{at}.rs")),
            )
        })
        .collect();
    let runs: String = (0..60)
        .map(|at| calls(6, &format!("b{at}"), &[&format!("Bash echo {at}")]))
        .collect();
    world.claude(
        ONE,
        &(prompt(&cwd, &ago(12), GOAL) + &edits + &runs + &prompt(&cwd, &ago(5), "ok, go")),
    );
    let shown = |now: &str| {
        let done = world
            .reader(&["resume", "last", "--json"])
            .env("SESSION_MONITOR_NOW", now)
            .run()
            .success();
        done.json().remove(0)
    };
    let account = shown(&later(0));
    assert_eq!(
        (&account["status"], &account["last_activity_at"]),
        (&json!("active"), &json!("2026-11-16T02:55:00.000Z"))
    );
    // It was asked for something and has not answered: that is believed for an hour.
    assert_eq!(shown(&later(55 * MINUTE))["status"], "active");
    let idle = shown(&later(55 * MINUTE + SECOND));
    assert_eq!(
        (&idle["status"], &idle["last_activity_at"]),
        (&json!("idle"), &json!("2026-11-16T02:55:00.000Z"))
    );
    let files = account["files_modified"].as_array().expect("files");
    assert_eq!(
        (files.len(), &files[0]["path"], &files[19]["path"]),
        (
            20,
            &path(&world, "work/f10.rs").into(),
            &path(&world, "work/f29.rs").into()
        )
    );
    assert_eq!(
        (&files[19]["action"], &files[19]["timestamp"]),
        (&json!("edit"), &json!("2026-11-16T02:50:00.000Z"))
    );
    assert!(files[19]["summary"].is_string());
    let history = account["tool_history"].as_array().expect("calls");
    assert_eq!(history.len(), 50);
    assert!(
        history[49].to_string().contains("echo 59")
            && history[49].to_string().contains("2026-11-16T02:54:00.000Z")
    );
    let work = &account["current_work"];
    assert!(
        work["last_user_message"].to_string().contains("ok, go")
            && work["intent"].to_string().contains(GOAL)
    );
}
