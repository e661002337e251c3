//! `session-reader profile`: what the history says about how its user works, and what it does not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::claude::{call, prompt, result};
use crate::support::history::{edit, history, message, run};
use crate::support::run::Done;
use crate::support::script::Script;
use crate::support::world::{ONE, TWO, World};

fn shown(world: &World, args: &[&str], columns: &str) -> String {
    world
        .reader(&[&["profile"], args].concat())
        .env("COLUMNS", columns)
        .run()
        .success()
        .out()
        .to_owned()
}

fn object(world: &World, args: &[&str]) -> Value {
    let mut rows = world
        .reader(&[&["profile", "--json"], args].concat())
        .run()
        .success()
        .json();
    assert_eq!(rows.len(), 1, "one object");
    rows.remove(0)
}

/// 001-04, 001-21: active hours, how long a session lasts, and common tasks come from the history.
#[test]
fn the_page_tells_hours_sessions_and_tasks() {
    let world = history();
    let eighty = "\
This project, 2026-10-05 to 2026-11-13: 48 sessions on 30 of 40 days

Sessions    1.2 per day, 1.6 per active day, median length 25m
Hours       ················██████····▃▃▃▃▃▃▃▃··············
            0     3     6     9     12    15    18    21
            mostly 08:00-11:00, 13:00-15:00
Weekdays    Mon █  Tue █  Wed █  Thu ▅  Fri ▅  Sat ·  Sun ·
Prompts     126, median 8 words, 43 characters
Code        Rust 4 files, Markdown 1, Python 1
Runs        build 23 commands, lint 23, git 23, test 22
Agents       71%  claude  180 messages in 30 sessions
             29%  pi       72 messages in 18 sessions
Models       71%  claude-opus-5-5  90 messages in 30 sessions
             29%  gpt-5.5          36 messages in 18 sessions
Tokens      216k in, 30k out
";
    assert_eq!(shown(&world, &[], "80"), eighty);
    assert_eq!(shown(&world, &[], "160"), eighty);
    let sixty = [
        (
            "48 sessions on 30 of 40 days",
            "48 sessions on 30 of\n40 days",
        ),
        (
            "1.6 per active day, median",
            "1.6 per active day,\n            median",
        ),
        ("90 messages in 30 sessions", "90 msgs in 30 sess."),
        ("36 messages in 18 sessions", "36 msgs in 18 sess."),
    ];
    let sixty = sixty
        .iter()
        .fold(eighty.to_owned(), |page, (wide, narrow)| {
            page.replace(wide, narrow)
        });
    assert_eq!(shown(&world, &[], "60"), sixty);
    let forty = "\
This project, 2026-10-05 to 2026-11-13:
48 sessions on 30 of 40 days

Sessions    1.2 per day,
            1.6 per active day,
            median length 25m
Hours       ········███··▃▃▃▃·······
            0  3  6  9  12 15 18 21
            mostly 08:00-11:00,
            13:00-15:00
Weekdays    Mon █  Tue █  Wed █  Thu ▅
            Fri ▅  Sat ·  Sun ·
Prompts     126, median 8 words,
            43 characters
Code        Rust 4 files, Markdown 1,
            Python 1
Runs        build 23 commands, lint 23,
            git 23, test 22
Agents       71%  claude  180 msgs
             29%  pi       72 msgs
Models       71%  claude-opus-…  90 msgs
             29%  gpt-5.5        36 msgs
Tokens      216k in, 30k out
";
    assert_eq!(shown(&world, &[], "40"), forty);
}

#[test]
fn the_object_has_all_of_it() {
    let expected = r#"{"scope":"project","since":null,"from":"2026-10-05","to":"2026-11-13","days":40,"active_days":30,"sessions":48,"sessions_per_day":1.2,"sessions_per_active_day":1.6,"median_session_minutes":25.0,"prompts":126,"median_prompt_words":8,"median_prompt_characters":43,"hours":[0,0,0,0,0,0,0,0,30,30,30,0,0,10,10,8,8,0,0,0,0,0,0,0],"active_hours":["08:00-11:00","13:00-15:00"],"weekdays":[30,30,30,18,18,0,0],"languages":[],"code":[{"language":"Rust","files":4,"share":0.667},{"language":"Markdown","files":1,"share":0.167},{"language":"Python","files":1,"share":0.167}],"tasks":[],"commands":[{"class":"build","commands":23,"share":0.253},{"class":"lint","commands":23,"share":0.253},{"class":"git","commands":23,"share":0.253},{"class":"test","commands":22,"share":0.242}],"agents":[{"agent":"claude","sessions":30,"messages":180,"share":0.714},{"agent":"pi","sessions":18,"messages":72,"share":0.286}],"models":[{"model":"claude-opus-5-5","sessions":30,"messages":90,"share":0.714},{"model":"gpt-5.5","sessions":18,"messages":36,"share":0.286}],"tokens":{"input":216000,"output":30600},"relationship":null,"set":[]}"#;
    history()
        .reader(&["profile", "--json"])
        .run()
        .success()
        .objects(&(expected.to_owned() + "\n"));
}

/// Transcripts that the real clients wrote; of those with a fork, how many prompts and messages it has copied.
const REAL: [(&str, u64, u64); 7] = [
    ("agent-sdk/tools", 0, 0),
    ("agent-sdk/subagent", 0, 0),
    ("codex/tools-resume@0.166.0", 0, 0),
    ("copilot/tools-resume@1.0.102", 0, 0),
    ("gemini/tools-resume@0.61.0", 0, 0),
    ("pi/tools-continue@1.5.0", 6, 16),
    ("qwen/tools-resume@0.24.4", 2, 3),
];

#[test]
fn sessions_of_all_agents_count() {
    let world = World::new();
    REAL.iter().for_each(|(case, ..)| world.install(case, ""));
    let expected = "\
This machine, 2026-11-16: 20 sessions

Sessions    median length under 1m
Hours       too little to tell
Weekdays    too little to tell
Prompts     34, median 5 words, 26 characters
Code        Markdown 3 files, Python 1
Runs        too little to tell
Agents       50%  claude   62 messages in 7 sessions
             14%  pi       18 messages in 2 sessions
             11%  codex    14 messages in 3 sessions
             10%  gemini   12 messages in 3 sessions
              9%  qwen     11 messages in 3 sessions
              6%  copilot   8 messages in 2 sessions
Models       60%  claude-opus-5-5   55 messages in 7 sessions
             19%  stub-model        17 messages in 4 sessions
              9%  gpt-5.5            8 messages in 3 sessions
              8%  gemini-2.5-flash   7 messages in 3 sessions
              4%  gpt-4.1            4 messages in 2 sessions
Tokens      687k in, 4k out
";
    assert_eq!(shown(&world, &["--all"], "80"), expected);
}

/// The numbers are those of the list and of the logs, less what a fork has copied.
#[test]
fn the_profile_counts_as_the_list_does() {
    for (case, copied_prompts, copied_messages) in REAL {
        let world = World::new();
        world.install(case, "");
        let profile = object(&world, &["--all"]);
        let rows = world
            .reader(&["list", "--all", "--json"])
            .run()
            .success()
            .json();
        let sum = |key: &dyn Fn(&Value) -> u64| rows.iter().map(key).sum::<u64>();
        let number = |value: &Value| value.as_u64().expect("a number");
        let typed = |row: &Value| {
            let log = world
                .reader(&[
                    "log",
                    row["path"].as_str().expect("a path"),
                    "--lines",
                    "1000",
                    "--json",
                ])
                .run();
            log.json()
                .iter()
                .filter(|entry| entry["role"] == "user" && entry["kind"] == "text")
                .count() as u64
        };
        assert_eq!(profile["sessions"], rows.len(), "{case}");
        assert_eq!(profile["prompts"], sum(&typed) - copied_prompts, "{case}");
        assert_eq!(
            profile["agents"][0]["messages"],
            sum(&|row| number(&row["messages"])) - copied_messages,
            "{case}"
        );
        if copied_messages == 0 {
            for side in ["input", "output"] {
                assert_eq!(
                    profile["tokens"][side],
                    sum(&|row| number(&row["tokens"][side])),
                    "{case}"
                );
            }
        }
    }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    use unicode_width::UnicodeWidthStr;
    let world = history();
    let long = message(
        "2026-11-13T10:00:00Z",
        "long",
        &"a-very-long-model-name-".repeat(9),
        &[],
    );
    world.claude(
        ONE,
        &(prompt(&world.path("work"), "2026-11-13T10:00:00Z", "hello") + &long),
    );
    for columns in (36..=160).step_by(4) {
        let shown = shown(&world, &[], &columns.to_string());
        let widest = shown
            .lines()
            .map(UnicodeWidthStr::width)
            .max()
            .expect("a line");
        assert!(widest <= columns, "{widest} > {columns}:\n{shown}");
        assert!(shown.lines().all(|line| line == line.trim_end()), "{shown}");
    }
}

/// Nothing is known: a sentence, and status 1.
#[test]
fn an_empty_history_is_said_with_status_one() {
    let world = World::new();
    for args in [&["profile"][..], &["profile", "--json"]] {
        world.reader(args).run().status(1).stdout("").stderr(
            "session-reader: no sessions in this project; `session-reader formats` shows where they are looked for\n",
        );
    }
    world.write(
        ".claude/projects/-else/ffffffff-0000.jsonl",
        prompt(Path::new("/else"), "2026-11-16T02:00:00Z", "hello"),
    );
    let hint = "session-reader: no sessions in this project; 1 elsewhere: --all shows them\n";
    world
        .reader(&["profile"])
        .run()
        .status(1)
        .stdout("")
        .stderr(hint);
    world
        .reader(&["profile", "--all", "--since", "1h"])
        .run()
        .success();
    let old = "session-reader: no sessions like that on this machine\n";
    world
        .reader(&["profile", "--all", "--since", "30m"])
        .run()
        .status(1)
        .stdout("")
        .stderr(old);
    world
        .reader(&["profile", "--since", "soon"])
        .run()
        .status(2)
        .stdout("")
        .stderr_has("not a time like");
    world
        .reader(&["profile", "extra"])
        .run()
        .status(2)
        .stdout("")
        .stderr_has("Usage");
}

/// 001-18: what one prompt tells is little, and the page says so.
#[test]
fn one_prompt_is_too_little() {
    let world = World::new();
    world.claude(
        ONE,
        &prompt(&world.path("work"), "2026-11-16T02:00:00Z", "fix the login"),
    );
    let page = "\
This project, 2026-11-16: 1 session

Sessions    too little to tell
Hours       too little to tell
Weekdays    too little to tell
Prompts     1
Code        too little to tell
Runs        too little to tell
Agents      100%  claude  1 message in 1 session
Models      too little to tell
Tokens      too little to tell
";
    assert_eq!(shown(&world, &[], "80"), page);
    let object = r#"{"scope":"project","since":null,"from":"2026-11-16","to":"2026-11-16","days":1,"active_days":1,"sessions":1,"sessions_per_day":null,"sessions_per_active_day":null,"median_session_minutes":null,"prompts":1,"median_prompt_words":null,"median_prompt_characters":null,"hours":[0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"active_hours":[],"weekdays":[1,0,0,0,0,0,0],"languages":[],"code":[],"tasks":[],"commands":[],"agents":[{"agent":"claude","sessions":1,"messages":1,"share":1.0}],"models":[],"tokens":{"input":0,"output":0},"relationship":null,"set":[]}"#;
    world
        .reader(&["profile", "--json"])
        .run()
        .success()
        .objects(&(object.to_owned() + "\n"));
}

/// Hours are those of the clock on the user's wall, in summer and in winter, and so are days.
#[test]
fn hours_are_local() {
    let world = World::new();
    let cwd = world.path("work");
    // The clocks of Berlin go back on Sunday, 2026-10-25, at 01:00 UTC.
    let times = [
        "2026-10-24T07:30:00Z",
        "2026-10-25T00:30:00Z",
        "2026-10-25T01:30:00Z",
        "2026-10-26T08:30:00Z",
        "2026-10-26T23:30:00Z",
    ];
    world.claude(
        ONE,
        &times
            .map(|time| prompt(&cwd, time, &format!("hello at {time}")))
            .concat(),
    );
    let told = |zone: &str| {
        let rows = world
            .reader(&["profile", "--json"])
            .env("TZ", zone)
            .run()
            .success()
            .json();
        let hours = rows[0]["hours"]
            .as_array()
            .expect("hours")
            .iter()
            .enumerate();
        let hours: Vec<String> = hours
            .filter(|(_, count)| **count != 0)
            .map(|(hour, count)| format!("{hour}:{count}"))
            .collect();
        format!(
            "{} {} {} {}",
            hours.join(" "),
            rows[0]["weekdays"],
            rows[0]["from"],
            rows[0]["to"]
        )
        .replace('"', "")
    };
    assert_eq!(
        told("UTC"),
        "0:1 1:1 7:1 8:1 23:1 [2,0,0,0,0,1,2] 2026-10-24 2026-10-26"
    );
    let berlin = "0:1 2:2 9:2 [1,1,0,0,0,1,2] 2026-10-24 2026-10-27";
    assert_eq!(told("CET-1CEST,M3.5.0,M10.5.0/3"), berlin);
    let tokyo = "8:1 9:1 10:1 16:1 17:1 [1,1,0,0,0,1,2] 2026-10-24 2026-10-27";
    assert_eq!(told("JST-9"), tokyo);
    if Path::new("/usr/share/zoneinfo/Asia/Tokyo").exists() {
        assert_eq!(told("Asia/Tokyo"), tokyo);
        assert_eq!(told("Europe/Berlin"), berlin);
    }
}

/// Half an hour of silence ends a stretch of work, in one session as in several.
#[test]
fn silence_ends_a_stretch() {
    let world = World::new();
    let cwd = world.path("work");
    let said = |times: &[&str]| -> String {
        times
            .iter()
            .map(|time| {
                prompt(
                    &cwd,
                    &format!("2026-11-{time}:00Z"),
                    &format!("hello at {time}"),
                )
            })
            .collect()
    };
    // 60 minutes, 10 minutes, and none; written in no order, as some clients do.
    world.claude(
        ONE,
        &said(&[
            "10T09:30", "10T09:00", "10T10:00", "10T10:31", "10T10:41", "12T00:00",
        ]),
    );
    assert_eq!(object(&world, &[])["median_session_minutes"], 10.0);
    world.claude(TWO, &said(&["10T23:50", "11T00:10", "11T00:20"]));
    let both = object(&world, &[]);
    assert_eq!(
        both["median_session_minutes"], 10.0,
        "of 0, 10, 30 and 60 the lower middle"
    );
    assert_eq!(
        (&both["days"], &both["active_days"], &both["sessions"]),
        (&3.into(), &3.into(), &2.into())
    );
    let at_thirty = object(&world, &["--since", "2026-11-10T10:31:00Z"]);
    assert_eq!(at_thirty["median_session_minutes"], 10.0);
    assert_eq!(
        at_thirty["prompts"], 6,
        "what was before is left out of a session that goes on"
    );
}

/// What no user typed, what a subagent did and what failed is not what the user does.
#[test]
fn only_what_the_user_did_counts() {
    let world = World::new();
    let cwd = world.path("work");
    let time = "2026-11-16T02:00:00Z";
    let by_machine = [
        "<system-reminder>fix the fix</system-reminder>",
        "<task-notification>fix it</task-notification>",
        "<command-name>/clear</command-name>",
        "[Request interrupted by user]",
    ];
    let mut lines = prompt(&cwd, time, "hello there");
    lines += &by_machine.map(|text| prompt(&cwd, time, text)).concat();
    let side = json!({"type": "user", "isSidechain": true, "uuid": "side", "timestamp": time, "message": {"content": "fix the side"}});
    lines += &format!("{side}\n");
    for (number, failed) in [false, false, false, true, true].into_iter().enumerate() {
        let (id, path) = (format!("t{number}"), format!("src/{number}.rs"));
        lines += &message(time, &id, "some-model", &[edit(&id, &path)]);
        lines += &result(time, &id, failed);
    }
    // The same file by its whole path, and once more.
    let again = [
        edit("t8", &format!("{}/src/0.rs", cwd.display())),
        edit("t9", "./src/0.rs"),
    ];
    lines += &message(time, "last", "some-model", &again);
    let path = world.claude(ONE, &lines);
    let side = path.with_extension("").join("subagents/agent-1.jsonl");
    fs::create_dir_all(side.parent().expect("a parent")).expect("a directory");
    fs::write(side, prompt(&cwd, time, "fix everything")).expect("a file");
    let told = object(&world, &[]);
    assert_eq!(
        (&told["prompts"], &told["sessions"]),
        (&1.into(), &1.into()),
        "{told}"
    );
    assert_eq!(
        told["code"].to_string(),
        r#"[{"files":3,"language":"Rust","share":1.0}]"#
    );
    assert_eq!(told["models"][0]["messages"], 6);
}

/// A command is what its program and arguments are, not what letters stand in it.
#[test]
fn commands_by_program_and_arguments() {
    let world = World::new();
    let time = "2026-11-16T02:00:00Z";
    let commands = [
        "git checkout latest",
        "cat contest.txt",
        "echo cargo test",
        "test -f build",
        "cd app && npm test",
        "make -j4",
        "cargo fmt && cargo clippy",
        "bash -lc 'kubectl apply -f test.yaml'",
    ];
    let ran = commands.iter().enumerate().map(|(number, command)| {
        let id = number.to_string();
        // A test that failed was run all the same.
        call(time, &id, command) + &result(time, &id, number == 4)
    });
    world.claude(
        ONE,
        &(prompt(&world.path("work"), time, "hello") + &ran.collect::<String>()),
    );
    let told = object(&world, &[])["commands"]
        .as_array()
        .expect("a list")
        .clone();
    let told: Vec<String> = told
        .iter()
        .map(|class| format!("{} {}", class["class"], class["commands"]))
        .collect();
    assert_eq!(
        told,
        [
            "\"test\" 1",
            "\"build\" 1",
            "\"lint\" 1",
            "\"git\" 1",
            "\"deploy\" 1"
        ]
    );
}

/// A fork begins with a copy of all that was said before; that was said once.
#[test]
fn what_a_fork_copied_counts_once() {
    let world = World::new();
    let cwd = world.path("work");
    let said = prompt(&cwd, "2026-11-16T01:00:00Z", "in the beginning")
        + &message(
            "2026-11-16T01:01:00Z",
            "1",
            "some-model",
            &[run("r1", "make")],
        );
    let own = prompt(&cwd, "2026-11-16T02:00:00Z", "in the fork")
        + &message("2026-11-16T02:01:00Z", "2", "another-model", &[]);
    world.claude(ONE, &said);
    let alone = object(&world, &[]);
    world.claude(TWO, &(said.clone() + &own));
    world.claude("33333333-0000-4000-8000-000000000003", &said);
    let both = object(&world, &[]);
    assert_eq!(
        (&both["sessions"], &both["prompts"]),
        (&3.into(), &2.into()),
        "a fork that said nothing is a session, as in the list: {both}"
    );
    assert_eq!(both["agents"][0]["messages"], 4);
    let models: Vec<_> = both["models"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|model| &model["messages"])
        .collect();
    assert_eq!(models, [1, 1], "{both}");
    assert_eq!(
        alone["tokens"].to_string(),
        r#"{"input":2000,"output":300}"#
    );
    assert_eq!(both["tokens"].to_string(), r#"{"input":4000,"output":600}"#);
}

/// `--since` cuts through sessions: words, files and tokens of before do not count.
#[test]
fn since_cuts_through_a_session() {
    let world = World::new();
    let cwd = world.path("work");
    let turn = |day: &str| {
        prompt(&cwd, day, &format!("hello {day}")) + &message(day, day, "some-model", &[])
    };
    world.claude(
        ONE,
        &(turn("2026-09-01T00:00:00Z") + &turn("2026-11-15T00:00:00Z")),
    );
    // Codex writes totals: what was used since is the difference.
    let id = "01a1e236-2011-7000-8000-000000000000";
    let mut script = Script::codex(&world, id);
    for (time, count) in [
        ("2026-09-01T00:00:00Z", 1000),
        ("2026-11-15T00:00:00Z", 1700),
    ] {
        let total = json!({"total_token_usage": {"input_tokens": count, "output_tokens": count}});
        script = script
            .at(time)
            .user("hi")
            .item("event_msg", json!({"type": "token_count", "info": total}));
    }
    script.save(&world, id);
    let told = |args: &[&str]| {
        let told = object(&world, args);
        format!(
            "{} {} {} {}",
            told["sessions"], told["prompts"], told["from"], told["tokens"]
        )
    };
    assert_eq!(
        told(&[]),
        r#"2 4 "2026-09-01" {"input":5700,"output":2300}"#
    );
    assert_eq!(
        told(&["--since", "7d"]),
        r#"2 2 "2026-11-15" {"input":2700,"output":1000}"#
    );
}

/// One file that cannot be read is named; the others count. A line that is broken costs that line.
#[test]
fn a_broken_file_does_not_hide_the_others() {
    let world = World::new();
    let cwd = world.path("work");
    let time = "2026-11-16T02:00:00Z";
    world.claude(
        ONE,
        &(prompt(&cwd, time, "one") + "{\"type\":\"us\n\0\0\0\n[]\n" + &prompt(&cwd, time, "two")),
    );
    let bad = world.claude(TWO, &prompt(&cwd, time, "secret"));
    let sessions = |done: &Done| {
        done.json()[0]["sessions"]
            .as_u64()
            .zip(done.json()[0]["prompts"].as_u64())
    };
    // Known from the list before it was forbidden, and not known.
    let all = world.reader(&["profile", "--json"]).run().success();
    assert_eq!(sessions(&all), Some((2, 3)));
    fs::set_permissions(&bad, fs::Permissions::from_mode(0o0)).expect("other rights");
    let stderr = format!(
        "session-reader: {}: Permission denied (os error 13)\n",
        bad.display()
    );
    for _ in 0..2 {
        let done = world
            .reader(&["profile", "--json"])
            .without_rights()
            .run()
            .status(2)
            .stderr(&stderr);
        assert_eq!(sessions(&done), Some((1, 2)));
        let _ = fs::remove_dir_all(world.path(".cache"));
    }
    fs::remove_file(&bad).expect("a file");
    fs::create_dir(&bad).expect("a directory");
    let done = world.reader(&["profile", "--json"]).run();
    assert_eq!(sessions(&done), Some((1, 2)));
}

/// 001-20: who says in several sessions that the project is theirs, owns it; once may be a slip.
#[test]
fn an_owner_says_so() {
    let world = World::new();
    let cwd = world.path("work");
    world.claude(
        ONE,
        &prompt(&cwd, "2026-11-16T02:00:00Z", "In my project the tests fail"),
    );
    assert!(object(&world, &[])["relationship"].is_null());
    world.claude(
        TWO,
        &prompt(&cwd, "2026-11-16T02:00:00Z", "j'ai créé un module, regarde"),
    );
    assert_eq!(object(&world, &[])["relationship"], "owner");
    let page = shown(&world, &[], "100");
    let line = "Owner       so say 2 prompts of 2 sessions (\"my project\", \"I created\")\n";
    assert!(page.ends_with(line), "{page}");
}

/// 001-D2: no rule is made of words like "always" and "never", and nothing is written down but the cache of the list.
#[test]
fn no_rules_are_made_up() {
    let world = World::new();
    let cwd = world.path("work");
    let rules = [
        "always use tabs",
        "never touch the tests",
        "toujours en français",
        "I prefer short answers",
    ];
    let lines = (0..20).map(|number| {
        let time = format!("2026-11-{:02}T02:00:00Z", number % 15 + 1);
        prompt(
            &cwd,
            &time,
            &format!("{} {number}", rules[number % rules.len()]),
        )
    });
    world.claude(ONE, &lines.collect::<String>());
    let page = shown(&world, &[], "80");
    let told = object(&world, &[]);
    for word in ["always", "never", "toujours", "prefer", "tabs"] {
        assert!(
            !page.contains(word) && !told.to_string().contains(word),
            "{word}: {page}"
        );
    }
    assert_eq!(told["set"].to_string(), "[]");
    let mut written: Vec<_> = fs::read_dir(world.path(""))
        .expect("HOME")
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    written.sort();
    assert_eq!(written, [".cache", ".claude", "work"]);
}

/// A name in a transcript is a stranger's text.
#[test]
fn no_escape_sequence_reaches_the_terminal() {
    let world = World::new();
    let time = "2026-11-16T02:00:00Z";
    let model = message(time, "1", "evil\u{1b}[31m\u{202e}\nmodel", &[]);
    world.claude(ONE, &(prompt(&world.path("work"), time, "hello") + &model));
    let page = shown(&world, &[], "80");
    assert!(
        page.contains("evil model") && !page.contains(['\u{1b}', '\u{202e}']),
        "{page}"
    );
}
