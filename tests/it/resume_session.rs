//! `session-reader resume`: which session is meant by a name or none, and the command that takes it up again.

use serde_json::json;

use crate::support::claude::prompt;
use crate::support::clients::real;
use crate::support::resume::{
    GOALS, asked, findings, json_of, resumed, rich_codex, texts, work_in,
};
use crate::support::script::Script;
use crate::support::world::{ONE, TWO, World, testdata};

/// By nothing, `last`, id, part of an id, title, part of a title, path; and the last one is the newest that is not done.
// 002-02, 002-03 (nothing is taken up unless it is asked for), 002-07, 002-08, 004-F7, 004-T3 (ours: one per session)
#[test]
fn every_name_of_a_session_leads_to_it() {
    let world = World::new();
    let one = work_in(&world, "work", ONE, 10, GOALS[0]);
    let two = work_in(&world, "work", TWO, 5, GOALS[1]);
    let found = |args: &[&str]| asked(&world.reader(&[&["resume"], args].concat()).run().success());
    let path = one.to_str().expect("UTF-8");
    for name in [
        &[][..],
        &["last"],
        &[ONE],
        &["11111111"],
        &["1"],
        &[GOALS[0]],
        &["slow login"],
        &[path],
    ] {
        assert_eq!(found(name), GOALS[0], "{name:?}");
    }
    for name in [TWO, "2222", GOALS[1], "EXPORT"] {
        assert_eq!(found(&[name]), GOALS[1], "{name}");
    }
    let unknown = "session-reader: no session is called 'nobody'; `session-reader list --all` shows what there is\n";
    world
        .reader(&["resume", "nobody"])
        .run()
        .status(2)
        .stdout("")
        .stderr(unknown);
    let near = world
        .reader(&["resume", "slow loging"])
        .run()
        .status(2)
        .stdout("");
    assert!(near.err().starts_with(
        "session-reader: no session is called 'slow loging'; the nearest:\n  11111111"
    ));
    world
        .reader(&["resume", "the"])
        .run()
        .status(2)
        .stdout("")
        .stderr_has("'the' fits 2 sessions");
    world
        .reader(&["resume", "/nowhere.jsonl"])
        .run()
        .status(2)
        .stdout("")
        .stderr_has("/nowhere.jsonl");
    // Done is not last, but still there.
    world.context(&["done", "11111111"]).run().success();
    assert_eq!(
        (found(&[]), found(&["last"]), found(&["1111"])),
        (GOALS[1].into(), GOALS[1].into(), GOALS[0].into())
    );
    world.context(&["done", "22222222"]).run().success();
    world.reader(&["resume"]).run().status(1).stdout("").stderr("session-reader: all sessions of this project in that time are done; `session-context done NAME --undo` takes that back, and `session-reader resume NAME` shows one\n");
    // Deleted is not found, and the other is.
    std::fs::remove_file(&two).expect("removed");
    world.reader(&["resume", "2222"]).run().status(2).stdout("");
    assert_eq!(found(&["1111"]), GOALS[0]);
}

/// Seven days, unless more are asked for. Nothing is deleted or archived, whatever is asked.
// 004-S3, 004-S5, 004-S9, 004-E4, 004-E6, 004-E7
#[test]
fn a_week_is_enough_unless_more_is_asked_for() {
    let world = World::new();
    let none = "session-reader: no sessions in this project; `session-reader formats` shows where they are looked for\n";
    world
        .reader(&["resume"])
        .run()
        .status(1)
        .stdout("")
        .stderr(none);
    let nothing = |ago: &str| {
        format!(
            "session-reader: no session of this project stopped in that time; 11111111 stopped {ago} ago, and --since looks further back\n"
        )
    };
    let path = work_in(&world, "work", ONE, 0, GOALS[0]);
    // It stopped at 01:03 on the 16th.
    let at = |now: &str, args: &[&str]| {
        world
            .reader(&[&["resume"], args].concat())
            .env("SESSION_MONITOR_NOW", now)
            .run()
    };
    at("2026-11-23T01:02:00Z", &[]).success();
    for args in [&[][..], &["last"], &["--codes"], &["--json"]] {
        at("2026-11-24T01:04:00Z", args)
            .status(1)
            .stdout("")
            .stderr(&nothing("8d"));
    }
    assert_eq!(
        asked(&at("2026-11-24T01:04:00Z", &["--since", "30d"]).success()),
        GOALS[0]
    );
    assert_eq!(
        asked(&at("2026-11-24T01:04:00Z", &["last", "--since=2026-11-01"]).success()),
        GOALS[0]
    );
    at("2026-11-24T01:04:00Z", &["--since", "7d"]).status(1);
    // By name it is found at any time.
    assert_eq!(
        asked(&at("2027-11-24T01:04:00Z", &["1111"]).success()),
        GOALS[0]
    );
    at("2026-11-16T02:00:00Z", &["--since", "10m"])
        .status(1)
        .stdout("")
        .stderr(&nothing("57m"));
    world
        .reader(&["resume", "--since", "soon"])
        .run()
        .status(2)
        .stdout("");
    // Two that are too old and one that is not.
    work_in(&world, "work", TWO, 30, GOALS[1]);
    assert!(path.exists());
    assert_eq!(asked(&at("2026-11-23T01:10:00Z", &[]).success()), GOALS[1]);
}

/// A question in passing is not the last session, if there is another one, however many commands it took to answer it.
// 002-D1
#[test]
fn a_question_in_passing_is_not_the_last_session() {
    let world = World::new();
    let mut passing = Script::of(&world);
    passing.from = 40;
    passing
        .user("What is in this directory")
        .runs("ls", false)
        .says("Nothing much.")
        .save(&world, TWO);
    let topic = world.reader(&["resume", "--json"]).run().success();
    assert_eq!(json_of(&topic)["session_id"], TWO);
    work_in(&world, "work", ONE, 0, GOALS[0]);
    assert_eq!(asked(&world.reader(&["resume"]).run().success()), GOALS[0]);
}

/// The repository from anywhere in it and from its worktrees; another project is another world.
// 002-17, 002-D5, 004-S8, 004-T1, 004-T2
#[test]
fn projects_do_not_mix() {
    let world = World::new();
    world.write("repo/.git/HEAD", "ref: refs/heads/main\n");
    world.write("repo/.git/worktrees/tree/commondir", "../..\n");
    world.write("tree/.git", "gitdir: ../repo/.git/worktrees/tree\n");
    for dir in ["repo/src/deep", "plain", "other"] {
        std::fs::create_dir_all(world.path(dir)).expect("a directory");
    }
    work_in(&world, "repo", ONE, 0, GOALS[0]);
    work_in(&world, "plain", TWO, 20, GOALS[1]);
    world
        .context(&["pin", "only in the repository"])
        .dir(world.path("repo"))
        .run()
        .success();
    for dir in ["repo", "repo/src", "repo/src/deep", "tree"] {
        let done = world
            .reader(&["resume", "last"])
            .dir(world.path(dir))
            .run()
            .success();
        assert_eq!(asked(&done), GOALS[0], "{dir}");
        assert!(
            done.out()
                .contains("\nPinned      only in the repository\n"),
            "{dir}: {}",
            done.out()
        );
        let codes = world
            .reader(&["resume", "--codes"])
            .dir(world.path(dir))
            .run()
            .success();
        assert!(
            codes.out().starts_with("proj:repo\n"),
            "{dir}: {}",
            codes.out()
        );
    }
    let done = world
        .reader(&["resume"])
        .dir(world.path("plain"))
        .run()
        .success();
    assert_eq!(
        (asked(&done), done.out().contains("Pinned")),
        (GOALS[1].to_owned(), false)
    );
    world
        .reader(&["resume", "--codes"])
        .dir(world.path("plain"))
        .run()
        .success()
        .stdout("proj:plain\nimpl:a.rs\n");
    for dir in ["other", "work", ""] {
        world
            .reader(&["resume"])
            .dir(world.path(dir))
            .run()
            .status(1)
            .stdout("");
    }
    // By its id a session is found from anywhere, and its codes name its own project.
    let done = world
        .reader(&["resume", "1111", "--codes"])
        .dir(world.path("plain"))
        .run()
        .success();
    assert!(done.out().starts_with("proj:repo\n"), "{}", done.out());
    // A session begun in a worktree belongs to the repository, too.
    work_in(
        &world,
        "tree",
        TWO,
        50,
        "Try another parser generator library",
    );
    assert_eq!(
        asked(
            &world
                .reader(&["resume"])
                .dir(world.path("repo"))
                .run()
                .success()
        ),
        "Try another parser generator library"
    );
}

/// A session that has nothing to tell is told all the same.
// 004-T4
#[test]
fn a_session_with_nothing_has_its_project() {
    let world = World::new();
    Script::of(&world).user("ok").save(&world, ONE);
    world
        .reader(&["resume", "--codes"])
        .run()
        .success()
        .stdout("proj:work\n");
    let text = format!(
        "Session     {ONE} (claude)\nStopped     2h ago, 01:00; unfinished\nAsked last  ok\nGo on       claude --resume {ONE}\n"
    );
    world.reader(&["resume"]).run().success().stdout(&text);
}

/// All sessions with id, begin, end, messages and tokens, the newest first; a fork tells what it shares with its origin.
// 002-04, 002-05, 002-18 (conflicts are in the tests of the hook)
#[test]
fn what_is_listed_can_be_resumed() {
    let world = World::new();
    world.install("agent-sdk/resume", "");
    let listed = world
        .reader(&["list", "--all", "--json"])
        .run()
        .success()
        .json();
    let times: Vec<_> = listed
        .iter()
        .map(|row| row["updated"].as_str().expect("a time"))
        .collect();
    assert!(
        times.len() > 4 && times.is_sorted_by(|a, b| a >= b),
        "{times:?}"
    );
    for row in &listed {
        let all = resumed(&world, &[row["id"].as_str().expect("an id")]);
        let tokens = row["tokens"]["input"]
            .as_u64()
            .zip(row["tokens"]["output"].as_u64())
            .map(|(input, output)| input + output);
        let row = json!([
            row["id"],
            row["started"],
            row["updated"],
            row["messages"],
            row["path"],
            tokens
        ]);
        let used = &findings(&all)["tokens"];
        assert_eq!(
            row,
            json!([
                all["session_id"],
                all["started_at"],
                all["last_activity_at"],
                all["messages"],
                all["path"],
                used
            ])
        );
    }
    let said = |id: &str| {
        texts(&resumed(&world, &[id])["recent_messages"])
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert!(said("b0c2b5f0").starts_with(&said("69f05f44")));
}

/// Two sessions at work at once: each is what its id says, whichever was written last.
// 004-D6, 004-E1 to 004-E3 (nothing is captured: the transcript has it), 004-E5, 004-E8, 004-E9
#[test]
fn two_live_sessions_are_told_apart_by_their_ids() {
    let world = World::new();
    let paths = [
        work_in(&world, "work", ONE, 50, GOALS[0]),
        work_in(&world, "work", TWO, 51, GOALS[1]),
    ];
    for (id, path, expected) in [(ONE, &paths[0], GOALS[0]), (TWO, &paths[1], GOALS[1])] {
        for name in [id, path.to_str().expect("UTF-8")] {
            let done = world
                .reader(&["resume", name])
                .env("SESSION_MONITOR_NOW", "2026-11-16T01:55:00Z")
                .run()
                .success();
            assert_eq!(asked(&done), expected);
        }
    }
}

/// Sessions of a named home by their names.
#[test]
fn sessions_of_a_home_are_found_by_their_names() {
    let world = World::new();
    world.install("pi/volute@1.5.0", "");
    let run = |name: &str| {
        asked(
            &world
                .reader(&["resume", name])
                .dir(world.path("cwd"))
                .run()
                .success(),
        )
    };
    assert_eq!(run("discord-general"), "Deploy the billing service");
    assert_eq!(
        (run("main"), run("last")),
        (
            "Change the second item please".to_owned(),
            "Change the second item please".to_owned()
        )
    );
}

/// A file given by its path has the id that stands in it, and the command that really takes it up again.
#[test]
fn a_file_given_by_path_has_the_id_that_stands_in_it() {
    let world = World::new();
    let path = rich_codex(&world).save(&world, ONE);
    let all = resumed(&world, &[path.to_str().expect("UTF-8")]);
    assert_eq!(
        json!([all["session_id"], all["resume"]]),
        json!([ONE, format!("codex resume {ONE}")])
    );
    for path in real() {
        let all = world
            .reader(&["resume", path.to_str().expect("UTF-8"), "--json"])
            .run();
        let Some(all) = all.json().pop() else {
            continue;
        };
        let id = all["session_id"].as_str().expect("an id");
        assert!(
            !["rollout-", "session-", "events", "2026-"]
                .iter()
                .any(|start| id.starts_with(start)),
            "{id}"
        );
    }
}

/// The agent's command is for the directory of the session, because agents look for their sessions there; a subagent's
/// transcript is taken up by none.
#[test]
fn the_command_leads_to_the_directory() {
    let world = World::new();
    work_in(&world, "some where", ONE, 0, GOALS[0]);
    let dir = world.path("some where");
    std::fs::create_dir_all(&dir).expect("made");
    let command = |cwd: &str| {
        let done = world
            .reader(&["resume", "11111111"])
            .dir(world.path(cwd))
            .run()
            .success();
        done.out()
            .lines()
            .find_map(|line| line.strip_prefix("Go on       "))
            .map(str::to_owned)
    };
    assert_eq!(
        command("some where"),
        Some(format!("claude --resume {ONE}"))
    );
    assert_eq!(
        command("work"),
        Some(format!("cd '{}' && claude --resume {ONE}", dir.display()))
    );
    let file = testdata(
        "agent-sdk/subagent/.claude/projects/-home-dev-src-subagent/9950c695-d225-412e-82df-8b4099c5f5d4/subagents/agent-a3dc05de4d5c8cef3.jsonl",
    );
    let file = file.to_str().expect("UTF-8");
    let text = world
        .reader(&["resume", file])
        .run()
        .success()
        .out()
        .to_owned();
    assert!(
        text.starts_with("Session     agent-a3dc05de4d5c8cef3 (claude, a subagent's)\n"),
        "{text}"
    );
    assert!(!text.contains("Go on"), "{text}");
    assert_eq!(
        json!([
            resumed(&world, &[file])["subagent"],
            resumed(&world, &[file])["resume"]
        ]),
        json!([true, null])
    );
}

/// `last` is one session wherever it is said: to look at it, to call it done, to tag it. Questions in passing are not meant.
#[test]
fn last_is_what_resume_shows() {
    let world = World::new();
    work_in(&world, "work", ONE, 20, GOALS[0]);
    work_in(&world, "work", TWO, 10, GOALS[1]);
    let passing = "33333333-0000-4000-8000-000000000003";
    Script::new(world.path("work"))
        .user("what time is it?")
        .says("Late.")
        .save(&world, passing);
    let run = |args: &[&str]| world.context(args).run();
    let shown = || {
        let done = world.reader(&["resume", "last", "--json"]).run();
        done.json()
            .first()
            .map_or(String::new(), |all| all["session_id"].to_string())
    };
    for id in [ONE, TWO] {
        assert!(shown().contains(id), "{}", shown());
        run(&["tag", "x", "--session", "last"])
            .success()
            .stdout(&format!("{id}: x\n"));
        run(&["done", if id == ONE { "last" } else { id }])
            .success()
            .stdout(&format!(
                "{id} is done: new sessions are no longer told where it stopped.\n"
            ));
    }
    // The question is all there is left.
    assert!(shown().contains(passing), "{}", shown());
    // The last one is done already: another one is not finished in its place.
    let already =
        "11111111 was done already; to finish the one before it: session-context done 33333333\n";
    run(&["done", "last"]).success().stdout(already);
    run(&["done", passing]).success();
    run(&["done", "last"])
        .status(1)
        .stdout("")
        .stderr_has("all sessions of this project in that time are done");
    // What was done last is taken back first.
    for id in [passing, TWO, ONE] {
        run(&["done", "last", "--undo"])
            .success()
            .stdout(&format!("{id} is no longer done.\n"));
        run(&["done", id, "--undo"])
            .success()
            .stdout(&format!("{id} was not done.\n"));
    }
    let none = "session-context: no session of this project is done\n";
    run(&["done", "last", "--undo"])
        .status(1)
        .stdout("")
        .stderr(none);
    assert!(shown().contains(ONE), "{}", shown());
}

/// A shell takes the command, whatever the directory is called.
#[test]
fn the_command_is_quoted() {
    let world = World::new();
    for (dir, quoted) in [("it's here", r"it'\''s here"), ("a b", "a b"), ("$x", "$x")] {
        work_in(&world, dir, ONE, 0, GOALS[0]);
        let command = resumed(&world, &["1111"])["resume"].clone();
        let below = world.path("").display().to_string();
        let expected = format!(
            "cd '{}/{quoted}' && claude --resume {ONE}",
            below.trim_end_matches('/')
        );
        assert_eq!(command, expected);
        std::fs::remove_dir_all(world.path(".claude")).expect("removed");
    }
    work_in(&world, "plain-1.0_x", ONE, 0, GOALS[0]);
    let plain = format!(
        "cd {} && claude --resume {ONE}",
        world.path("plain-1.0_x").display()
    );
    assert_eq!(resumed(&world, &["1111"])["resume"], plain);
}

/// Who asks from within a session means another one; a week is a week to the moment; and of many questions in passing the
/// last work is found still.
#[test]
fn the_last_session_is_another() {
    let world = World::new();
    work_in(&world, "work", ONE, 0, GOALS[0]);
    work_in(&world, "work", TWO, 10, GOALS[1]);
    let shown = |name: &str, value: &str| {
        asked(&world.reader(&["resume"]).env(name, value).run().success())
    };
    assert_eq!(shown("CLAUDE_CODE_SESSION_ID", TWO), GOALS[0]);
    assert_eq!(shown("CLAUDE_CODE_SESSION_ID", ONE), GOALS[1]);
    assert_eq!(shown("GEMINI_SESSION_ID", TWO), GOALS[1]);
    assert_eq!(
        shown("SESSION_MONITOR_NOW", "2026-11-23T01:13:00Z"),
        GOALS[1]
    );
    world
        .reader(&["resume"])
        .env("SESSION_MONITOR_NOW", "2026-11-23T01:13:00.001Z")
        .run()
        .status(1);
    for number in 0..15 {
        let mut passing = Script::of(&world);
        passing.from = 20 + number;
        passing
            .user("what time is it?")
            .says("Late.")
            .save(&world, &format!("4444{number:04}-0000"));
    }
    assert_eq!(shown("TERM", "dumb"), GOALS[1]);
}

/// The command that takes a session up is made for copying: what stands in a transcript must not run there.
#[test]
fn an_id_is_not_for_the_shell() {
    let world = World::new();
    let id = "019aaaaa-0000-7000-8000-000000000001";
    let meta = json!({"timestamp": "2026-11-16T01:00:00Z", "type": "session_meta", "payload": {"id": format!("{id}; touch pwned #\u{1b}]0;PWNED\u{7}"), "cwd": world.path("work")}});
    let said = json!({"timestamp": "2026-11-16T01:00:01Z", "type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": GOALS[0]}]}});
    world.write(
        format!(".codex/sessions/2026/11/16/rollout-2026-11-16T01-00-00-{id}.jsonl"),
        format!("{meta}\n{said}\n"),
    );
    let resume = world.reader(&["resume"]).run().success();
    assert!(
        resume
            .out()
            .contains(&format!("\nGo on       codex resume {id}\n")),
        "{}",
        resume.out()
    );
    for command in ["mute", "unmute", "done"] {
        let done = world.context(&[command, "019aaaaa"]).run().success();
        assert!(!done.out().contains(['\u{1b}', '\u{7}']), "{}", done.out());
    }
}

/// What a session did in another project, its title and its clock are nobody's business here.
#[test]
fn what_a_session_did_elsewhere_is_not_told_here() {
    let world = World::new();
    std::fs::create_dir_all(world.path("other")).expect("made");
    let there = |time: &str, text: &str| prompt(&world.path("other"), time, text);
    let here = prompt(
        &world.path("work"),
        "2026-11-10T01:00:00Z",
        "Repair the search index of the shop",
    );
    let edit = json!({"type": "assistant", "timestamp": "2026-11-10T01:01:00Z", "cwd": world.path("work"), "message": {"role": "assistant", "id": "m", "content": [{"type": "tool_use", "id": "t", "name": "Write", "input": {"file_path": "a.rs", "content": "x"}}]}});
    let result = json!({"type": "user", "timestamp": "2026-11-10T01:02:00Z", "cwd": world.path("work"), "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]}});
    let title =
        json!({"type": "custom-title", "customTitle": "Other project title", "sessionId": ONE});
    let lines = there("2026-11-09T01:00:00Z", "begin elsewhere")
        + &here
        + &format!("{edit}\n{result}\n")
        + &there("2026-11-16T02:58:00Z", "and go on elsewhere")
        + &format!("{title}\n");
    world.write(format!(".claude/projects/-other/{ONE}.jsonl"), lines);
    let told = world.context(&["explain"]).run().success().out().to_owned();
    assert!(
        told.contains("stopped 6d ago") && !told.contains("Other project title"),
        "{told}"
    );
}

/// What a file calls its session becomes part of a command only if it is an id and nothing else.
#[test]
fn only_an_id_becomes_part_of_a_command() {
    let long = "a".repeat(129);
    for (id, is_one) in [
        ("a-b_c.1", true),
        ("--dangerously-skip-permissions", false),
        ("-p", false),
        ("a b", false),
        ("a;rm", false),
        ("$(rm)", false),
        ("é", false),
        (&long, false),
    ] {
        let world = World::new();
        world.claude(
            id,
            &crate::support::claude::prompt(&world.path("work"), "2026-11-16T02:30:00Z", "go on"),
        );
        let path = world.transcript(id);
        let done = world
            .reader(&["resume", path.to_str().expect("UTF-8")])
            .run()
            .status(0);
        assert_eq!(
            done.out().contains(&format!("claude --resume {id}")),
            is_one,
            "{id}: {}",
            done.out()
        );
        assert!(
            is_one || !done.out().contains("claude --resume"),
            "{id}: {}",
            done.out()
        );
        assert_eq!(
            done.err()
                .contains("no command to resume this session: the id has other characters"),
            !is_one,
            "{id}: {}",
            done.err()
        );
    }
}
