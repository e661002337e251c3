//! `session-reader resume`: where a session stopped, for people, as codes and as JSON.
//!
//! The first part reads transcripts that the real clients wrote. Beside each `x.jsonl` of `testdata/` lies `x.resume.json`:
//! what a person finds who reads the log beside the raw lines, derived without this program.

use serde_json::{Map, Value, json};

use crate::support::clients::real;
use crate::support::resume::{
    GOALS, asked, assert_pointers, findings, kinds, resumed, rich, rich_codex, without_derived,
    work_in,
};
use crate::support::script::Script;
use crate::support::times::at;
use crate::support::world::{ONE, TWO, World};

/// What was asked, files, tasks, commands, ending and the rest are what a person finds. 002-05: all of it is read from disk.
#[test]
fn real_sessions_stopped_where_a_person_finds_they_did() {
    let world = World::new();
    let mut wrong = String::new();
    for path in real() {
        let name = path.display().to_string();
        let Ok(expected) = std::fs::read_to_string(path.with_extension("resume.json")) else {
            let nothing = world
                .reader(&["resume", &name, "--json"])
                .run()
                .status(1)
                .stdout("");
            assert_eq!(
                nothing.err(),
                format!("session-reader: nothing was said in {name}\n")
            );
            continue;
        };
        let expected: Value =
            serde_json::from_str(&expected).unwrap_or_else(|error| panic!("{name}: {error}"));
        let found = findings(&resumed(&world, &[&name]));
        for (key, expected) in expected.as_object().expect("an object") {
            if found[key] != *expected {
                wrong += &format!(
                    "{name}\n  {key}\n  expected: {expected}\n  got:      {}\n",
                    found[key]
                );
            }
        }
        assert_eq!(
            expected.as_object().map(Map::len),
            found.as_object().map(Map::len),
            "{name}"
        );
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn every_item_of_a_real_session_is_on_its_line() {
    let world = World::new();
    let mut count = 0;
    for path in real()
        .iter()
        .filter(|path| path.with_extension("resume.json").exists())
    {
        let name = path.display().to_string();
        let content = std::fs::read_to_string(path).expect("UTF-8");
        count += assert_pointers(&name, &content, &resumed(&world, &[&name]));
    }
    assert!(count > 500, "{count}");
}

const RICH: &str = r#"Session     11111111-0000-4000-8000-000000000001 (claude)
Stopped     1h ago, 01:35; answered
Asked last  Let's go with bankers rounding for reports. Now update the changelog for the billing release
Then        tag it too
Said last   The changelog is up to date.
Files       src/billing/mod.rs  +1 -1, the last of 2 edits  01:19
            src/report/mod.rs  new, 2 lines  01:15
Functions   total, round  src/billing/mod.rs
            render  src/report/mod.rs
Commands    failed  cargo test
            ok  cargo test
            ok  git commit -qm 'Round invoice totals once'
            failed  cargo build --release
Commits     Round invoice totals once
Tasks       [x] Change total()
            [>] Update the manual
            [ ] Tell the customers
            [x] Write a property test
Decisions   Which rounding should totals use? Half even
            rejected the plan "Use decimals everywhere"
            approved the plan "Round once at the end"
Blockers    failing: cargo build --release
Summary     Summary: totals are rounded once.
Tokens      1k in, 10 out
Go on       claude --resume 11111111-0000-4000-8000-000000000001
"#;

/// What differs on a screen of 60 columns: long lines are cut, but never the command.
const NARROW: [(usize, &str); 2] = [
    (
        2,
        "Asked last  Let's go with bankers rounding for reports. Now…",
    ),
    (
        5,
        "Files       src/billing/mod.rs  +1 -1, the last of 2 edits …",
    ),
];

/// 004-F1, 004-F2, 004-F3: pure codes, one per line, in this order. What was taken from words says so. The tasks are older
/// than the last prompt, so they are not what comes next.
const RICH_CODES: &str = "proj:work
impl:billing/mod.rs
impl:report/mod.rs
impl:total
impl:round
impl:render
test:cargo-test
done:Change-total()
done:Write-a-property-test
done:Round-invoice-totals-once
dec:Which-rounding-should-totals-use?-Half-even
dec:rejected-the-plan-'Use-decimals-everywhere'
dec:approved-the-plan-'Round-once-at-the-end'
dec:said:Let's-go-with-bankers-rounding-for-reports
block:failing:cargo-build---release
next:said:Update-the-manual
next:said:Publish-version-1.4
";

/// All that there is to tell, in all three forms; and again, because reading consumes nothing.
// 002-01, 002-02, 002-06, 004-S2, 004-D1
#[test]
fn a_rich_session_is_told_in_all_forms() {
    let world = World::new();
    let script = rich(&world);
    let path = script.save(&world, ONE);
    let mut narrow: Vec<&str> = RICH.lines().collect();
    NARROW.iter().for_each(|(at, line)| narrow[*at] = line);
    for _ in 0..2 {
        world.reader(&["resume"]).run().success().stdout(RICH);
        world
            .reader(&["resume", "--codes"])
            .run()
            .success()
            .stdout(RICH_CODES);
        let small = world
            .reader(&["resume"])
            .env("COLUMNS", "60")
            .run()
            .success();
        assert_eq!(small.out().lines().collect::<Vec<_>>(), narrow);
    }
    let all = resumed(&world, &[]);
    let home = world.path("work").display().to_string();
    let below = |text: &Value| text.as_str().expect("a text").replace(&home, "~");
    let pick = |list: &str, keys: &[&str]| -> Vec<Value> {
        let row = |item: &Value| keys.iter().map(|key| item[*key].clone()).collect();
        all[list]
            .as_array()
            .expect("a list")
            .iter()
            .map(row)
            .collect()
    };
    let files: Vec<_> = pick(
        "files_modified",
        &["path", "action", "summary", "line", "timestamp"],
    )
    .iter()
    .map(|file| json!([below(&file[0]), file[1], file[2], file[3], file[4]]))
    .collect();
    assert_eq!(
        json!(files),
        json!([
            [
                "~/src/report/mod.rs",
                "create",
                "new, 2 lines",
                16,
                "2026-11-16T01:15:00.000Z"
            ],
            [
                "~/src/billing/mod.rs",
                "edit",
                "+1 -1, the last of 2 edits",
                20,
                "2026-11-16T01:19:00.000Z"
            ],
        ])
    );
    let commands = [
        ("cargo test", true, true, 18),
        ("cargo test", false, true, 22),
        (
            "git commit -qm 'Round invoice totals once'",
            false,
            false,
            28,
        ),
        ("cargo build --release", true, false, 30),
    ];
    assert_eq!(
        json!(pick("commands", &["command", "failed", "test", "line"])),
        json!(commands)
    );
    let tasks = json!([
        ["Change total()", "done", 8],
        ["Update the manual", "active", 8],
        ["Tell the customers", "open", 8],
        ["Write a property test", "done", 12],
    ]);
    assert_eq!(json!(pick("tasks", &["text", "state", "line"])), tasks);
    assert_eq!(
        json!(pick("pending_tasks", &["text", "state"])),
        json!([
            ["Update the manual", "active"],
            ["Tell the customers", "open"]
        ])
    );
    assert_eq!(
        json!(pick("functions", &["name", "line"])),
        json!([["total", 14], ["round", 14], ["render", 16]])
    );
    assert_eq!(
        json!(pick("commits", &["text", "line"])),
        json!([["Round invoice totals once", 28]])
    );
    assert_eq!(
        json!(pick("decisions", &["line", "by"])),
        json!([[2, null], [4, null], [6, null], [24, "words"]])
    );
    assert_eq!(
        json!(pick("open_tasks", &["text", "line", "by"])),
        json!([
            ["Update the manual", 36, "words"],
            ["Publish version 1.4", 36, "words"]
        ])
    );
    assert_eq!(
        json!(pick("topics", &["text", "line"])),
        json!([["mod.rs", 20]])
    );
    let blockers = [("failing", "cargo build --release")];
    assert_eq!(kinds(&all), blockers);
    assert_eq!(
        json!(pick("recent_messages", &["role", "line"])),
        json!([["user", 1], ["user", 24], ["user", 35], ["assistant", 36]])
    );
    assert_eq!(all["tool_history"].as_array().map(Vec::len), Some(15));
    assert_eq!(
        json!([
            all["session_id"],
            all["agent"],
            all["path"],
            all["status"],
            all["ending"],
            all["model"],
            all["token_budget"]
        ]),
        json!([ONE, "claude", path, "idle", "answered", "claude-opus", {"used": 1010, "limit": null}])
    );
    assert_eq!(
        json!([all["started_at"], all["last_activity_at"]]),
        json!(["2026-11-16T01:00:00.000Z", "2026-11-16T01:35:00.000Z"])
    );
    assert_eq!(
        json!([all["summary"]["line"], all["resume"]]),
        json!([27, format!("claude --resume {ONE}")])
    );
    assert_eq!(
        all["current_work"]["last_agent_action"]["target"],
        "git commit -qm 'Round invoice totals once'"
    );
    assert_pointers("rich", &script.text(), &without_derived(&all));
}

const KEYS: &str = "agent blockers commands commits corrections current_work cwd decisions done ending files_modified files_touched functions \
    last_activity_at messages model name open_tasks path pending pending_tasks pinned_facts place reason recent_messages resume session_id \
    since source started_at state status subagent summary tags tasks title token_budget tokens tool_history topics";

/// The keys are all there, for a session with everything and for one with nothing.
// 002-06
#[test]
fn the_keys_of_the_json_are_always_all_there() {
    let world = World::new();
    for script in [rich(&world), Script::of(&world).user("hi")] {
        let all = script.json();
        let keys: Vec<_> = all
            .as_object()
            .expect("an object")
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(keys, KEYS.split_whitespace().collect::<Vec<_>>());
        let work: Vec<_> = all["current_work"]
            .as_object()
            .expect("an object")
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(
            work,
            [
                "intent",
                "is_directive",
                "last_agent_action",
                "last_user_message",
                "recap",
                "running",
                "thread_title"
            ]
        );
        // What the model may have before it is not in a transcript of this agent.
        assert!(
            all["token_budget"]["used"].is_u64() && all["token_budget"]["limit"].is_null(),
            "{all}"
        );
    }
}

/// The same of Codex: plans by `update_plan`, files by patches, outcomes by exit codes.
#[test]
fn a_rich_codex_session_is_told_in_all_forms() {
    let world = World::new();
    let script = rich_codex(&world);
    script.save(&world, ONE);
    let text = "Session     11111111-0000-4000-8000-000000000001 (codex)
Stopped     1h ago, 01:10; interrupted
Asked last  on part sur des entiers
Said last   Done with the tests.
Files       app/bill.py  total(): +1 -1  01:03
Functions   total  app/bill.py
Commands    failed  pytest -q
            failed  make build
            ok  pytest -q
Tasks       [x] Round totals
            [>] Write the manual
Blockers    failing: make build
Tokens      700 in, 30 out
Go on       codex resume 11111111-0000-4000-8000-000000000001
";
    let codes = "proj:work\nimpl:bill.py\nimpl:total\ntest:pytest--q\ndone:Round-totals\ndec:said:on-part-sur-des-entiers\nblock:failing:make-build\n";
    for name in [
        "last",
        "11111111",
        "codex:11111111",
        "codex:on part sur des entiers",
        "entiers",
    ] {
        world.reader(&["resume", name]).run().success().stdout(text);
        world
            .reader(&["resume", name, "--codes"])
            .run()
            .success()
            .stdout(codes);
    }
    let all = resumed(&world, &["last"]);
    let lines = |list: &str| -> Vec<u64> {
        all[list]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|one| one["line"].as_u64())
            .collect()
    };
    assert_eq!(
        ["tasks", "files_modified", "commands", "decisions"].map(lines),
        [vec![3, 3], vec![5], vec![7, 9, 11], vec![14]]
    );
    assert_pointers("codex", &script.text(), &all);
}

/// The same of Pi, with the tools that it has.
#[test]
fn a_rich_pi_session_is_told_in_all_forms() {
    let world = World::new();
    let again = json!([{"oldText": "{\n}", "newText": "{\n  again();\n}"}]);
    let limit = json!({"content": [], "stopReason": "error", "errorMessage": "429 rate limit", "model": "stub"});
    let script = Script::pi(&world.path("work"), ONE)
        .user("Add a retry to the upload client")
        .writes("src/retry.ts", "export function retry() {\n}\n")
        .does("edit", json!({"path": "src/retry.ts", "edits": again}))
        .runs("npm run build", true)
        .raw(json!({"type": "compaction", "id": "k", "timestamp": at(5), "summary": "A retry was added."}))
        .user("Let's not retry on 4xx answers")
        .runs("npm test -- retry", false)
        .message("assistant", limit);
    let path = script.save(&world, ONE);
    let expected = format!(
        "Session     {ONE} (pi)
Stopped     1h ago, 01:08; failed
Asked last  Let's not retry on 4xx answers
Files       src/retry.ts  new; +1 -0, the last of 2 edits  01:03
Functions   retry  src/retry.ts
Commands    failed  npm run build
            ok  npm test -- retry
Blockers    failing: npm run build
            limit: 429 rate limit
Summary     A retry was added.
Tokens      60 in, 4 out
Go on       pi --session {}
",
        path.display()
    );
    world.reader(&["resume"]).run().success().stdout(&expected);
    let codes = "proj:work\nimpl:retry.ts\nimpl:retry\ntest:npm-test----retry\ndec:said:Let's-not-retry-on-4xx-answers\nblock:failing:npm-run-build\nblock:limit:429-rate-limit\n";
    world
        .reader(&["resume", "--codes"])
        .run()
        .success()
        .stdout(codes);
    let all = resumed(&world, &[]);
    assert_pointers("pi", &script.text(), &all);
    assert_eq!(all["summary"]["line"], 9);
}

/// What the user wrote comes with it: pins first, then notes with what was found, tags of this session.
// 002-17, 002-18, 004-F7
#[test]
fn what_the_user_wrote_comes_with_it_pins_first() {
    let world = World::new();
    work_in(&world, "work", ONE, 10, GOALS[0]);
    for args in [
        &["pin", "the API is frozen"][..],
        &["pin", "never push", "--priority", "high"],
        &["note", "decision", "Use PostgreSQL 17"],
        &["note", "blocker", "Waiting for the licence"],
        &["note", "next", "Call the customer"],
        &["note", "fact", "Staging is down"],
        &["tag", "billing", "--session", "last"],
    ] {
        world.context(args).run().success();
    }
    let out = world.reader(&["resume"]).run().success();
    let rows = "Pinned      never push\n            the API is frozen\nAsked last  Fix the slow login page\n";
    let noted = "Decisions   Use PostgreSQL 17\nBlockers    Waiting for the licence\nNext        Call the customer\nFacts       Staging is down\n";
    assert!(
        out.out().contains(rows)
            && out.out().contains(noted)
            && out.out().contains("\nTags        billing\n"),
        "{}",
        out.out()
    );
    let codes = "proj:work\nimpl:a.rs\ndec:Use-PostgreSQL-17\nblock:noted:Waiting-for-the-licence\nnext:Call-the-customer\n";
    world
        .reader(&["resume", "--codes"])
        .run()
        .success()
        .stdout(codes);
    let all = resumed(&world, &[]);
    let by_user = |text: &str| json!({"text": text, "by": "user"});
    assert_eq!(
        all["pinned_facts"],
        json!([
            by_user("never push"),
            by_user("the API is frozen"),
            by_user("Staging is down")
        ])
    );
    assert_eq!(
        (&all["decisions"][0], &all["open_tasks"][0], &all["tags"]),
        (
            &by_user("Use PostgreSQL 17"),
            &by_user("Call the customer"),
            &json!(["billing"])
        )
    );
    // A page that cannot be read is said, and nothing else is lost.
    let page = world
        .context(&["notes", "--path"])
        .run()
        .success()
        .out()
        .trim_end()
        .to_owned();
    std::fs::remove_file(&page).expect("removed");
    std::fs::create_dir(&page).expect("a directory in its place");
    let done = world
        .reader(&["resume"])
        .run()
        .status(2)
        .stderr(&format!("session-reader: {page}: is a directory\n"));
    assert_eq!(asked(&done), GOALS[0]);
}

/// The shapes of a row: dates that are not today's, nothing where nothing is known, and every kind of row.
#[test]
fn rows_show_dates_and_fit_every_screen() {
    let world = World::new();
    let shown = |script: &Script, columns: &str, now: &str| {
        script.save(&world, ONE);
        let run = world
            .reader(&["resume", "1111"])
            .env("COLUMNS", columns)
            .env("SESSION_MONITOR_NOW", now);
        run.run().success().out().to_owned()
    };
    let script = Script::of(&world)
        .user(GOALS[0])
        .writes("/p/a.rs", "x")
        .user("tag it")
        .says("Done.");
    let text = "\
Session     11111111-0000-4000-8000-000000000001 (claude)
Stopped     1d ago, 2026-11-16 01:04; answered
Asked last  Fix the slow login page
Then        tag it
Said last   Done.
Files       /p/a.rs  new, 1 line  2026-11-16 01:01
Tokens      1k in, 10 out
Go on       claude --resume 11111111-0000-4000-8000-000000000001
";
    assert_eq!(shown(&script, "160", "2026-11-17T03:00:00Z"), text);
    // Of many files the newest ten, and of many tokens as much as the list tells.
    let usage = json!({"role": "assistant", "id": "u", "content": [], "usage": {"input_tokens": 892_000_000, "output_tokens": 12_345}});
    let many = (0..13)
        .fold(script, |script, at| {
            script.writes(&format!("/p/{at}.rs"), "x")
        })
        .line("assistant", usage);
    let many = shown(&many, "160", "2026-11-16T02:00:00Z");
    let (first, last) = (
        "Files       /p/12.rs  new, 1 line  01:29\n",
        "            /p/3.rs  new, 1 line  01:11\n",
    );
    assert!(
        many.contains(first) && many.contains(&format!("{last}            +4 more\n")),
        "{many}"
    );
    assert!(many.contains("\nTokens      892M in, 12k out\n"), "{many}");
    // A row has room for some words on any screen.
    let open = Script::of(&world)
        .user(GOALS[0])
        .says("Done.")
        .user("Add the export to spreadsheets for all customers");
    open.save(&world, ONE);
    world.context(&["done", ONE]).run().success();
    let text = "\
Session     11111111-0000-4000-…
At work     58m ago, 01:02; las…
Asked last  Add the export to s…
Said last   Done.
Tokens      1k in, 10 out
Go on       claude --resume 11111111-0000-4000-8000-000000000001
";
    assert_eq!(shown(&open, "20", "2026-11-16T02:00:00Z"), text);
    let stopped = shown(&open, "80", "2026-11-16T02:00:00Z");
    assert_eq!(
        stopped.lines().nth(1),
        Some("At work     58m ago, 01:02; last seen thinking; marked done")
    );
    // Nobody knows when.
    let timeless =
        json!({"type": "user", "uuid": "x", "message": {"role": "user", "content": "hi there"}})
            .to_string();
    let path = world.write("timeless.jsonl", timeless + "\n");
    let text = world
        .reader(&["resume", path.to_str().expect("UTF-8")])
        .run()
        .success()
        .out()
        .to_owned();
    assert_eq!(
        text.lines().nth(1),
        Some("Stopped     unfinished"),
        "{text}"
    );
}

/// Whose name it has in its home comes first.
#[test]
fn the_name_in_its_home_comes_first() {
    let world = World::new();
    world.write(
        "work/.volute/sessions/discord.json",
        json!({"sessionId": ONE}).to_string(),
    );
    work_in(&world, "work", ONE, 0, GOALS[0]);
    // In a named home those without a name are nobody's.
    work_in(&world, "work", TWO, 30, GOALS[1]);
    let text = world.reader(&["resume"]).run().success().out().to_owned();
    assert_eq!(
        text.lines().next(),
        Some(&*format!("Session     discord, {ONE} (claude)"))
    );
    assert_eq!(resumed(&world, &[])["name"], "discord");
}

/// A subagent of an agent that says so at the head of the file is one, too: there is nothing to take up.
#[test]
fn a_subagent_by_its_head_cannot_be_resumed() {
    let world = World::new();
    let meta = json!({"timestamp": "2026-11-16T01:00:00Z", "type": "session_meta", "payload": {"id": ONE, "cwd": world.path("work"), "source": {"subagent": "review"}}});
    let said = json!({"timestamp": "2026-11-16T01:00:01Z", "type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": GOALS[0]}]}});
    let path = world.write("agent.jsonl", format!("{meta}\n{said}\n"));
    let all = resumed(&world, &[path.to_str().expect("UTF-8")]);
    assert_eq!(json!([all["subagent"], all["resume"]]), json!([true, null]));
}
