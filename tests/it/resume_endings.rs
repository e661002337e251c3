//! `session-reader resume`: how a session ended, what stands in its way, and what was done last.

use serde_json::{Value, json};
use session_core::process;

use crate::support::resume::{GOALS, json_of, kinds, resumed, rows_of, texts};
use crate::support::script::Script;
use crate::support::times::at;
use crate::support::world::{ONE, World};

/// What stands in the way is told by what happened; by words only if the last prompt says it outright.
// 004-D3, 004-T6
#[test]
fn blockers_are_told_by_what_happened() {
    let world = World::new();
    let start = || Script::of(&world).user("Make the release of today");
    let none: [(&str, &str); 0] = [];
    for text in [
        "I need a new issue tracker",
        "there is an issue with this, it is unclear",
        "we need to unblock the queue",
    ] {
        assert_eq!(kinds(&start().user(text).json()), none, "{text}");
    }
    let text = "I'm blocked because the licence key is missing";
    let said = start().user(text).json();
    assert_eq!(
        (kinds(&said), &said["blockers"][0]["by"]),
        (vec![("said", text)], &json!("words"))
    );
    assert_eq!(
        kinds(&start().user(text).user("thanks, I have it").json()),
        none
    );
    let cases: [(Script, &[(&str, &str)]); 8] = [
        (
            start()
                .runs("cargo test", true)
                .runs("cd x && cargo test 2>&1 | tail -3", false),
            &[],
        ),
        (
            start().runs("cargo test", true).runs("cargo build", false),
            &[("failing", "cargo test")],
        ),
        (
            start()
                .runs("ls /nowhere", true)
                .runs("cat contest.txt", true),
            &[],
        ),
        (start().says("Shall I go on?"), &[]),
        (start().says("Shall I go on?").user("yes"), &[]),
        // It may have run, waited or been killed: the transcript cannot tell.
        (start().calls("Bash", json!({"command": "make all"})), &[]),
        (
            start()
                .calls("Bash", json!({"command": "rm x"}))
                .result(true, "User rejected tool use"),
            &[("denied", "Bash rm x")],
        ),
        (
            start()
                .calls("Bash", json!({"command": "rm x"}))
                .result(true, "User rejected tool use")
                .runs("rm x", false),
            &[],
        ),
    ];
    for (script, expected) in &cases {
        assert_eq!(kinds(&script.json()), *expected, "{}", script.text());
    }
    let error = json!({"type": "assistant", "uuid": "e", "timestamp": at(9), "isApiErrorMessage": true, "message": {"id": "e", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: usage limit reached"}]}});
    let failed = start().raw(error);
    assert_eq!(
        (kinds(&failed.json()), &failed.json()["ending"]),
        (
            vec![("limit", "API Error: usage limit reached")],
            &json!("failed")
        )
    );
    assert_eq!(kinds(&failed.says("Back again.").json()), none);
}

/// Silence is no crash, however long it lasts: for an hour the agent is believed to be at work, then it left off.
// 001-13
#[test]
fn silence_is_no_crash() {
    let world = World::new();
    let path = Script::of(&world)
        .user("Make it")
        .calls("Bash", json!({"command": "make"}))
        .save(&world, ONE);
    let ends = [
        ("2026-11-16T02:01:00Z", "active", "working"),
        ("2026-11-16T02:01:01Z", "idle", "unfinished"),
    ];
    for (now, status, ending) in ends {
        let done = world
            .reader(&["resume", path.to_str().expect("UTF-8"), "--json"])
            .env("SESSION_MONITOR_NOW", now)
            .run();
        let all = json_of(&done.success());
        assert_eq!(
            (all["status"].as_str(), kinds(&all), all["ending"].as_str()),
            (Some(status), vec![], Some(ending)),
            "{now}"
        );
    }
}

/// Only whoever knows that the process is dead speaks of a crash: the registry has an entry, and the agent is gone.
#[test]
fn a_killed_agent_left_its_call_behind() {
    let world = World::new();
    Script::of(&world)
        .user("Make it")
        .calls("Bash", json!({"command": "make"}))
        .save(&world, ONE);
    for (status, reason) in [
        ("busy", "crashed while running Bash make"),
        ("waiting", "crashed while waiting for permission: Bash make"),
        ("asleep", "crashed; no result of Bash make"),
    ] {
        let domain = format!("pid:[{}]", process::namespace().expect("a namespace"));
        let entry = json!({"pid": std::process::id(), "procStart": "1", "pidDomain": domain, "sessionId": ONE, "status": status});
        world.write(".claude/sessions/1.json", entry.to_string());
        let run = |args: &[&str]| {
            world
                .reader(args)
                .env("SESSION_MONITOR_NOW", "2026-11-16T01:06:00Z")
                .run()
                .success()
        };
        let all = json_of(&run(&["resume", "--json"]));
        let found = json!([all["status"], all["state"], all["reason"], all["ending"]]);
        assert_eq!(
            found,
            json!(["idle", "gone", reason, "unfinished"]),
            "{status}"
        );
        assert_eq!(kinds(&all), [("crashed", "Bash make")], "{status}");
    }
}

/// A refusal stands in the way until something follows it, whatever that is.
#[test]
fn a_refusal_is_told_until_something_follows() {
    let world = World::new();
    let refused = || {
        Script::of(&world)
            .user("Push it to the server")
            .calls("Bash", json!({"command": "git push origin main"}))
            .result(true, "Permission to use Bash has been denied.")
    };
    assert_eq!(
        kinds(&refused().json()),
        [("denied", "Bash git push origin main")]
    );
    for went_on in [
        refused().does("Grep", json!({"pattern": "main"})),
        refused().says("Then I leave it."),
    ] {
        assert_eq!(kinds(&went_on.json()), [], "{}", went_on.text());
    }
}

/// A call that never gets a result (a search that the model's server does) is no crash when the work went on.
#[test]
fn a_call_without_a_result_is_no_crash_when_the_work_went_on() {
    let world = World::new();
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "rust csv"}});
    let script = Script::codex(&world, ONE)
        .user("Find a crate for CSV files")
        .item("response_item", search);
    script.says("Take csv.").save(&world, ONE);
    let all = resumed(&world, &["last"]);
    assert_eq!(kinds(&all), []);
    assert_eq!(all["tool_history"][0]["target"], "rust csv");
}

/// An error is a limit only if it says so: who reads `limit` waits.
#[test]
fn an_error_is_a_limit_only_if_it_says_so() {
    let world = World::new();
    for (text, kind) in [
        ("API Error: 400 bad request on purpose", "error"),
        ("API Error: 529 overloaded", "error"),
        ("API Error: 14290", "error"),
        ("API Error: 429 {}", "limit"),
        ("Claude AI usage limit reached|1770000000", "limit"),
        ("5-hour limit reached, resets 3pm", "limit"),
        ("You are over your usage limit", "limit"),
        ("This is your session limit", "limit"),
        ("You've hit your limit, resets 3pm", "limit"),
        ("Rate limit exceeded", "limit"),
        ("API Error: {\"type\":\"rate_limit_error\"}", "limit"),
        ("Quota exceeded for requests per day", "limit"),
        ("Too Many Requests", "limit"),
        ("Prompt is too long", "limit"),
        (
            "Your input exceeds the context window of this model",
            "limit",
        ),
    ] {
        let error = json!({"type": "assistant", "isApiErrorMessage": true, "timestamp": at(1), "uuid": "e", "message": {"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": text}]}});
        let all = Script::of(&world).user(GOALS[0]).raw(error).json();
        assert_eq!(
            (kinds(&all), all["ending"].as_str(), all["state"].as_str()),
            (vec![(kind, text)], Some("failed"), Some("error"))
        );
    }
}

/// A session at work has not stopped: what runs is said, for as long as the transcript is believed, and no crash.
#[test]
fn a_session_at_work_has_not_stopped() {
    let world = World::new();
    let script = Script::of(&world).user(GOALS[0]).runs("make", false);
    script
        .calls("Bash", json!({"command": "cargo build --release"}))
        .save(&world, ONE);
    let at = |now: &str| {
        world
            .reader(&["resume"])
            .env("SESSION_MONITOR_NOW", now)
            .run()
            .success()
            .out()
            .to_owned()
    };
    let live = at("2026-11-16T01:04:00Z");
    let rows = |seen: &str| {
        format!(
            "\
Session     11111111-0000-4000-8000-000000000001 (claude)
{seen}
Asked last  Fix the slow login page
Commands    ok  make
Go on       claude --resume 11111111-0000-4000-8000-000000000001
"
        )
    };
    let running = "last seen running or waiting for permission: Bash cargo build --release";
    assert_eq!(live, rows(&format!("At work     1m ago, 01:03; {running}")));
    assert_eq!(
        at("2026-11-16T01:30:00Z"),
        rows(&format!("At work     27m ago, 01:03; {running}"))
    );
    assert_eq!(
        at("2026-11-16T02:30:00Z"),
        rows("Stopped     1h ago, 01:03; unfinished")
    );
}

/// A call whose result was lost stands in nobody's way, also if it was one of two at once.
#[test]
fn a_lost_result_is_no_crash() {
    let world = World::new();
    let lost = Script::of(&world)
        .user(GOALS[0])
        .calls("Edit", json!({"file_path": "/p/a.rs"}));
    let went_on = lost.runs("make", false).runs("make", false);
    assert_eq!(kinds(&went_on.json()), []);
    let prompted = Script::of(&world)
        .user(GOALS[0])
        .calls("Bash", json!({"command": "make"}))
        .user("and now?");
    assert_eq!(kinds(&prompted.json()), []);
    let call = |id: &str, command: &str| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
    let both = json!([call("one", "make one"), call("two", "make two")]);
    let result = json!([{"type": "tool_result", "tool_use_id": "two", "content": "ok"}]);
    let one = Script::of(&world)
        .user(GOALS[0])
        .line(
            "assistant",
            json!({"role": "assistant", "id": "m", "content": both}),
        )
        .line("user", json!({"role": "user", "content": result}));
    assert_eq!(
        (kinds(&one.json()), one.json()["ending"].as_str()),
        (vec![], Some("unfinished"))
    );
}

/// An error of the client in the place of an answer.
fn api_error(minute: usize, text: &str) -> Value {
    let message = json!({"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": text}]});
    json!({"type": "assistant", "isApiErrorMessage": true, "timestamp": at(minute), "uuid": format!("e{minute}"), "message": message})
}

/// How it ended, and what stands in the way, is told by what came last, of whatever kind.
#[test]
fn what_comes_last_counts() {
    let world = World::new();
    let start = || Script::of(&world).user(GOALS[0]);
    let result = |script: Script, id: &str| {
        let content = json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]);
        script.line("user", json!({"role": "user", "content": content}))
    };
    let make = json!({"command": "make"});
    let failed = || start().raw(api_error(1, "API Error: 429 {}"));
    type Case<'c> = (&'c str, Script, &'c str, &'c [(&'c str, &'c str)]);
    let cases: [Case; 9] = [
        (
            "a call",
            start().says("I begin.").calls("Bash", make.clone()),
            "unfinished",
            &[],
        ),
        (
            "a result",
            start().says("I begin.").runs("make", false),
            "unfinished",
            &[],
        ),
        (
            "an answer",
            start().runs("make", false).says("Done."),
            "answered",
            &[],
        ),
        (
            "a prompt",
            start().says("Shall I go on?").user("yes"),
            "unfinished",
            &[],
        ),
        (
            "an error",
            failed(),
            "failed",
            &[("limit", "API Error: 429 {}")],
        ),
        (
            "a prompt after an error",
            failed().user("go on"),
            "unfinished",
            &[],
        ),
        (
            "a call after an error",
            failed().runs("make", false),
            "unfinished",
            &[],
        ),
        (
            "an answer after an error",
            failed().says("Back again."),
            "answered",
            &[],
        ),
        // What comes in after the user has stopped the agent does not start it again.
        (
            "a late result",
            result(
                start()
                    .calls("Bash", make)
                    .user("[Request interrupted by user for tool use]"),
                "t1",
            ),
            "interrupted",
            &[],
        ),
    ];
    for (name, script, ending, blockers) in cases {
        let all = script.json();
        assert_eq!(
            (all["ending"].as_str(), kinds(&all)),
            (Some(ending), blockers.to_vec()),
            "{name}"
        );
    }
    // Three at once: who has said something after the results of two does not wait for the third.
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": format!("make {id}")}});
    let three = json!({"role": "assistant", "id": "m", "content": [call("one"), call("two"), call("three")]});
    let went_on = result(
        result(start().line("assistant", three), "two").says("On we go."),
        "three",
    );
    let all = went_on.json();
    assert_eq!(
        (all["ending"].as_str(), kinds(&all)),
        (Some("unfinished"), vec![])
    );
}

/// A call without a result is in the history only if it looked at something and the agent went on; in its place.
#[test]
fn a_call_without_a_result_is_in_the_history_only_if_the_agent_went_on() {
    let world = World::new();
    let targets = |all: &Value| rows_of(all, "tool_history", &["target"]);
    let make = json!({"command": "make"});
    let lost = Script::of(&world)
        .user(GOALS[0])
        .calls("Bash", make)
        .calls("Read", json!({"file_path": "/p/a"}));
    let lost = lost
        .calls("Read", json!({}))
        .runs("ls", false)
        .says("Done.");
    assert_eq!(targets(&lost.json()), json!([["/p/a"], ["ls"]]));
    let path = Script::of(&world)
        .user(GOALS[0])
        .calls("Read", json!({"file_path": "/p/a"}))
        .save(&world, ONE);
    let live = world.reader(&["resume", path.to_str().expect("UTF-8"), "--json"]);
    let live = json_of(
        &live
            .env("SESSION_MONITOR_NOW", "2026-11-16T01:02:00Z")
            .run()
            .success(),
    );
    assert_eq!(
        json!([
            live["ending"],
            targets(&live),
            live["current_work"]["running"]["target"]
        ]),
        json!(["working", [], "/p/a"])
    );
    // A call that has no id never gets a result, and is done.
    let content = json!([{"type": "tool_use", "name": "Bash", "input": {"command": "make"}}]);
    let nameless = Script::of(&world).user(GOALS[0]).line(
        "assistant",
        json!({"role": "assistant", "id": "m", "content": content}),
    );
    assert_eq!(
        rows_of(&nameless.json(), "commands", &["command", "failed"]),
        json!([["make", false]])
    );
}

/// The last thing the agent did is one that succeeded and that was done to something, as long as there is one.
#[test]
fn the_last_action_is_one_that_succeeded() {
    let world = World::new();
    let start = || Script::of(&world).user(GOALS[0]);
    let todos = json!({"todos": []});
    for (script, action) in [
        (
            start().runs("make", false).runs("ls", true),
            json!(["Bash", "make"]),
        ),
        (
            start().runs("make", false).does("TodoWrite", todos.clone()),
            json!(["Bash", "make"]),
        ),
        (
            start().runs("make", false).does("Read", json!({})),
            json!(["Bash", "make"]),
        ),
        (
            start()
                .runs("ls", true)
                .does("TodoWrite", todos)
                .runs("ls", true),
            json!(["TodoWrite", ""]),
        ),
        (
            start().runs("make", true).runs("ls", true),
            json!(["Bash", "ls"]),
        ),
        (start().says("Nothing."), json!([null, null])),
    ] {
        let action_of = &script.json()["current_work"]["last_agent_action"];
        assert_eq!(json!([action_of["tool"], action_of["target"]]), action);
    }
}

/// Only what the user refused is a refusal, however the client puts it; a plan that failed otherwise was not rejected.
#[test]
fn only_what_the_user_refused_is_a_refusal() {
    let world = World::new();
    let start = || Script::of(&world).user(GOALS[0]);
    let remove = json!({"command": "rm x"});
    for (result, denied) in [
        (
            "The user doesn't want to proceed with this tool use. The tool use was rejected.",
            true,
        ),
        (
            "The user doesn't want to take this action right now. STOP what you are doing.",
            true,
        ),
        (
            "\n Permission to use Bash with command rm x has been denied.",
            true,
        ),
        ("User rejected tool use", true),
        ("The user rejected this command", true),
        ("rm: cannot remove 'x': Permission denied", false),
        ("log: The user rejected this command", false),
    ] {
        let expected: &[_] = if denied {
            &[("denied", "Bash rm x")]
        } else {
            &[]
        };
        assert_eq!(
            kinds(
                &start()
                    .calls("Bash", remove.clone())
                    .result(true, result)
                    .json()
            ),
            expected,
            "{result}"
        );
        // What succeeded was not refused, whatever it printed.
        assert_eq!(
            kinds(
                &start()
                    .calls("Bash", remove.clone())
                    .result(false, result)
                    .json()
            ),
            [],
            "{result}"
        );
    }
    let planned = |plan: &str, failed: bool, result: &str| {
        let all = start()
            .calls("ExitPlanMode", json!({"plan": plan}))
            .result(failed, result)
            .user("go on")
            .json();
        (texts(&all["decisions"]).join("|"), kinds(&all).len())
    };
    let no = "The user doesn't want to proceed with this tool use.";
    assert_eq!(
        planned("\n\n- Use decimals\n- Test", true, no),
        ("rejected the plan \"Use decimals\"".into(), 0)
    );
    assert_eq!(
        planned("* Use decimals", false, "ok"),
        ("approved the plan \"Use decimals\"".into(), 0)
    );
    assert_eq!(
        planned("# Use decimals", true, "You are not in plan mode."),
        (String::new(), 0)
    );
}

/// What failed is the first line of a command that tests, builds or checks, and once; a commit that failed is none.
#[test]
fn what_fails_is_the_first_line_of_a_check() {
    let world = World::new();
    let start = || Script::of(&world).user(GOALS[0]);
    for command in ["cargo test", "cargo build", "cargo clippy"] {
        let script = start()
            .runs(command, true)
            .runs(&format!("{command}\necho done"), true);
        assert_eq!(kinds(&script.json()), [("failing", command)], "{command}");
        assert_eq!(
            kinds(&start().runs(command, true).runs(command, false).json()),
            [],
            "{command}"
        );
    }
    let first_line = start().runs("cargo test --all\necho done", true).json();
    assert_eq!(kinds(&first_line), [("failing", "cargo test --all")]);
    let commit = |failed: bool| {
        start().runs("git commit -m 'Round totals'", failed).json()["commits"].clone()
    };
    assert_eq!(
        (texts(&commit(false)), texts(&commit(true))),
        (vec!["Round totals"], vec![])
    );
}

/// Edits that failed are told until the next prompt; nothing else that failed is, and nothing makes up for it but success.
#[test]
fn edits_that_failed_are_told_until_the_next_prompt() {
    let world = World::new();
    let fails = |script: Script, tool: &str, path: &str| {
        let input = json!({"file_path": path, "old_string": "a", "new_string": "b"});
        script
            .calls(tool, input)
            .result(true, "String to replace not found in file.")
    };
    let start = || Script::of(&world).user(GOALS[0]);
    let failed = |script: Script| {
        let path = world.write("s.jsonl", script.text());
        let text = world
            .reader(&["resume", path.to_str().expect("UTF-8")])
            .run()
            .success()
            .out()
            .to_owned();
        let mut rows = text.lines().skip_while(|line| !line.starts_with("Failed "));
        let first = rows.next();
        first
            .into_iter()
            .chain(rows.take_while(|row| row.starts_with("  ")))
            .map(|row| row[12..].to_owned())
            .collect::<Vec<_>>()
            .join("|")
    };
    assert_eq!(failed(fails(start(), "Edit", "/p/a")), "Edit  /p/a");
    assert_eq!(failed(fails(start(), "Read", "/p/a").runs("ls", true)), "");
    assert_eq!(
        failed(fails(fails(start(), "Edit", "/p/a"), "Edit", "/p/b")),
        "Edit  /p/a|Edit  /p/b"
    );
    assert_eq!(
        failed(fails(fails(start(), "Edit", "/p/a"), "Read", "/p/a")),
        "Edit  /p/a"
    );
    let mended = json!({"file_path": "/p/a", "old_string": "a", "new_string": "b"});
    assert_eq!(
        failed(fails(start(), "Edit", "/p/a").does("Edit", mended)),
        ""
    );
    assert_eq!(failed(fails(start(), "Edit", "/p/a").user("leave it")), "");
}

/// Whose turn it is follows from how it ended, as in the list; after an hour of silence it is nobody's.
#[test]
fn every_ending_has_the_state_that_the_list_shows() {
    let world = World::new();
    let start = || Script::of(&world).user(GOALS[0]);
    for (script, ending, state) in [
        (start(), "working", "working"),
        (start().runs("make", false), "working", "working"),
        (start().says("Done."), "answered", "waiting"),
        (start().says("Shall I go on?"), "answered", "waiting"),
        (
            start().user("[Request interrupted by user]"),
            "interrupted",
            "waiting",
        ),
        (
            start().raw(api_error(1, "API Error: 500")),
            "failed",
            "error",
        ),
    ] {
        script.save(&world, ONE);
        let told = |now: &str| {
            let run = |args: &[&str]| {
                json_of(
                    &world
                        .reader(args)
                        .env("SESSION_MONITOR_NOW", now)
                        .run()
                        .success(),
                )
            };
            let (all, listed) = (run(&["resume", "1111", "--json"]), run(&["list", "--json"]));
            assert_eq!(all["state"], listed["state"], "{ending}");
            json!([all["ending"], all["state"]])
        };
        assert_eq!(told("2026-11-16T01:04:00Z"), json!([ending, state]));
        let (ending, state) = (
            if ending == "working" {
                "unfinished"
            } else {
                ending
            },
            if state == "error" { state } else { "idle" },
        );
        assert_eq!(told("2026-11-16T03:00:00Z"), json!([ending, state]));
    }
}

/// "Anything else you want to tackle?" was told as an open question.
#[test]
fn a_courtesy_is_no_question() {
    let world = World::new();
    for courtesy in [
        "Anything else you want to tackle?",
        "What would you like to do next?",
        "Is there anything else?",
    ] {
        let all = Script::of(&world)
            .user(GOALS[0])
            .says(&format!("The login page is fast now. {courtesy}"))
            .json();
        assert_eq!(
            (kinds(&all), &all["ending"]),
            (vec![], &json!("answered")),
            "{courtesy}"
        );
    }
}

/// A session that had ended 16 hours before "stopped 2m ago": the client had put in "No response requested." and written down
/// an `/export`.
#[test]
fn what_a_client_puts_in_is_no_activity() {
    let world = World::new();
    let late = |kind: &str, model: Value, text: &str| {
        let message =
            json!({"role": kind, "model": model, "content": [{"type": "text", "text": text}]});
        json!({"type": kind, "uuid": text, "timestamp": "2026-11-16T02:58:00Z", "cwd": world.path("work"), "message": message})
    };
    Script::of(&world)
        .user(GOALS[0])
        .does("Write", json!({"file_path": "a.rs", "content": "x"}))
        .says("Done.")
        .raw(late(
            "assistant",
            json!("<synthetic>"),
            "No response requested.",
        ))
        .raw(late(
            "user",
            Value::Null,
            "<command-name>/export</command-name>\n<command-args></command-args>",
        ))
        .raw(late(
            "user",
            Value::Null,
            "<local-command-stdout>Exported to a.txt</local-command-stdout>",
        ))
        .save(&world, ONE);
    let listed = world.reader(&["list", "--json"]).run().success().json();
    let ended = json!("2026-11-16T01:03:00.000Z");
    assert_eq!(
        (
            &resumed(&world, &[])["last_activity_at"],
            &listed[0]["updated"]
        ),
        (&ended, &ended)
    );
    let told = world.context(&["explain"]).run().success();
    assert!(
        told.out()
            .contains("    - the last session, \"Fix the slow login page\", stopped 1h ago\n"),
        "{}",
        told.out()
    );
}

/// What failed is over when something of its kind passed or a commit was made: `npm test` was told as failing when all of
/// it was mended, committed and released. What was refused did not run, and the last failure comes first.
#[test]
fn a_failure_is_over_when_its_kind_passed() {
    let world = World::new();
    let script = || Script::of(&world).user(GOALS[0]);
    let failing = |script: Script| {
        let all = script.json();
        kinds(&all)
            .iter()
            .map(|(_, text)| (*text).to_owned())
            .collect::<Vec<_>>()
            .join("|")
    };
    let released = script()
        .runs("npm test", true)
        .runs("git commit -am 'Mend it'", false)
        .runs("npm publish", false);
    assert_eq!(failing(released), "");
    assert_eq!(
        failing(
            script()
                .runs("npm test", true)
                .runs("npx vitest run", false)
        ),
        ""
    );
    assert_eq!(
        failing(
            script()
                .runs("cargo test foo", true)
                .runs("cargo testament", false)
        ),
        "cargo test foo"
    );
    assert_eq!(
        failing(
            script()
                .runs("cargo test", true)
                .runs("git commit -am x", true)
        ),
        "cargo test"
    );
    let many = (0..30).fold(script().runs("cargo build", true), |script, at| {
        script.runs(&format!("pytest t{at}"), true)
    });
    assert_eq!(failing(many), "pytest t29|cargo build");
    let refused = script()
        .calls("Bash", json!({"command": "cargo test"}))
        .result(
            true,
            "The user doesn't want to proceed with this tool use. The tool use was rejected",
        );
    assert_eq!(kinds(&refused.json()), [("denied", "Bash cargo test")]);
    assert_eq!(refused.json()["commands"], json!([]));
}

/// Who asks waits for the user, also if the question is a call: it is told from the start, and no work is done.
#[test]
fn a_question_that_is_a_call_waits_for_the_user() {
    let world = World::new();
    let question = json!({"questions": [{"question": "Which file first: src/a.rs or src/b.rs?", "options": []}]});
    let path = Script::of(&world)
        .user(GOALS[0])
        .calls("AskUserQuestion", question)
        .save(&world, ONE);
    for now in ["2026-11-16T01:02:00Z", "2026-11-16T01:50:00Z"] {
        let done = world
            .reader(&["resume", path.to_str().expect("UTF-8"), "--json"])
            .env("SESSION_MONITOR_NOW", now)
            .run();
        let all = &done.success().json()[0];
        assert_eq!(
            kinds(all),
            [("question", "Which file first: src/a.rs or src/b.rs?")],
            "{now}"
        );
        assert_eq!(
            json!([all["ending"], all["current_work"]["running"]]),
            json!(["asked", null]),
            "{now}"
        );
        let listed = world
            .reader(&["list", "--json"])
            .env("SESSION_MONITOR_NOW", now)
            .run()
            .success()
            .json();
        assert_eq!(
            (&listed[0]["state"], &all["state"]),
            (&json!("needs-you"), &json!("needs-you")),
            "{now}"
        );
    }
}

/// What failed is not told as if it had been done.
#[test]
fn what_failed_is_not_told_as_done() {
    let world = World::new();
    Script::of(&world)
        .user(GOALS[0])
        .runs("terraform apply", true)
        .user("again")
        .save(&world, ONE);
    let told = world
        .context(&["explain"])
        .env("SESSION_MONITOR_NOW", "2026-11-16T01:30:00Z")
        .run()
        .success();
    let lines = "last asked \"Fix the slow login page\", then \"again\"\n    - more: session-reader resume 11111111\n";
    assert!(told.out().contains(lines), "{}", told.out());
}
