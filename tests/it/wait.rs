//! `session-reader wait`: it ends when a session comes to a state, and says which one and why.

use std::io::{BufRead, BufReader};
use std::process::Child;
use std::sync::mpsc::channel;

use crate::support::claude::{answer, call, prompt, runs};
use crate::support::script::Script;
use crate::support::world::{ID, ONE, TWO, World};

const EARLY: &str = "2026-11-16T02:58:00Z";
const LATE: &str = "2026-11-16T02:59:00Z";

/// A session that is at work.
fn at_work(world: &World) -> String {
    world.claude(
        ID,
        &prompt(&world.path("work"), EARLY, "fix the login page"),
    );
    format!(".claude/projects/{}/{ID}.jsonl", dir(world))
}

fn dir(world: &World) -> String {
    let path = world.path("work").display().to_string();
    path.chars()
        .map(|char| {
            if char.is_ascii_alphanumeric() {
                char
            } else {
                '-'
            }
        })
        .collect()
}

#[track_caller]
fn ended(child: Child) -> (Option<i32>, String, String) {
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn a_named_session_that_is_so_already_ends_the_wait() {
    let world = World::new();
    let file = at_work(&world);
    world.append(file, answer(&world.path("work"), LATE, "It works now."));
    world
        .reader(&["wait", "login"])
        .run()
        .success()
        .stdout("5e551000  waiting  answered 1m ago\n");
    let row = &world
        .reader(&["wait", "login", "--json"])
        .run()
        .success()
        .json()[0];
    assert_eq!(
        *row,
        world.reader(&["list", "--json"]).run().success().json()[0]
    );
    world
        .reader(&["wait", "login", "--until", "needs-you,waiting"])
        .run()
        .success();
}

#[test]
fn a_named_session_that_comes_to_it_ends_the_wait() {
    let world = World::new();
    let file = at_work(&world);
    let waiting = world
        .reader(&["wait", "login", "--until", "waiting"])
        .spawn();
    world.append(&file, call(EARLY, "t1", "make"));
    world.append(&file, answer(&world.path("work"), LATE, "It works now."));
    let (code, out, err) = ended(waiting);
    assert_eq!(
        (code, &*out, &*err),
        (Some(0), "5e551000  waiting  answered 1m ago\n", "")
    );
}

/// Without a name any session will do, also one that is so already, and whoever needs the user comes first.
#[test]
fn any_session_that_is_so_already_ends_the_wait() {
    let world = World::new();
    Script::of(&world)
        .ago(30)
        .user("an older question")
        .says("An answer.")
        .save(&world, ONE);
    let question = serde_json::json!({"questions": [{"question": "Redis or NATS?"}]});
    Script::of(&world)
        .ago(40)
        .user("store the sessions")
        .calls("AskUserQuestion", question)
        .save(&world, TWO);
    at_work(&world);
    let asks = "22222222  needs-you  question: Redis or NATS?\n";
    let answered = "11111111  waiting  answered 30m ago\n";
    let works = "5e551000  working  last seen thinking\n";
    for (args, expected) in [
        (&[][..], asks),
        (&["--until", "working", "--all"], works),
        (&["--until", "working"], works),
        (&["--until", "waiting"], answered),
        (&["--until", "waiting,working"], works),
        (&["--until", "waiting", "--each"], answered),
        (
            &["--until", "waiting,working,needs-you", "--each"],
            &[asks, works, answered].concat(),
        ),
        (&["older", "store", "--each"], &[asks, answered].concat()),
    ] {
        world
            .reader(&[&["wait", "--timeout", "0s"], args].concat())
            .run()
            .success()
            .stdout(expected)
            .stderr("");
    }
}

/// With --next it doesn't count that a session is so already, named or not.
#[test]
fn with_next_a_session_that_is_so_already_does_not_count() {
    let world = World::new();
    at_work(&world);
    let none = "session-reader: timed out: no session changed to working\n";
    for args in [
        &[][..],
        &["--all"],
        &["--each"],
        &["login"],
        &["login", "--each"],
    ] {
        let args = [
            &["wait", "--next", "--until", "working", "--timeout", "0s"],
            args,
        ]
        .concat();
        world.reader(&args).run().status(1).stdout("").stderr(none);
    }
}

#[test]
fn with_next_the_session_that_comes_to_it_ends_the_wait() {
    let world = World::new();
    let here = world.path("work");
    Script::of(&world)
        .ago(30)
        .user("an older question")
        .says("An answer.")
        .save(&world, ONE);
    let file = at_work(&world);
    let mut waiting = world.reader(&["wait", "--next"]).spawn();
    // Whether it looks before or after a line is written, it sees one answer after it has seen a prompt.
    for turn in 0..1000 {
        if waiting.try_wait().expect("a child").is_some() {
            break;
        }
        world.append(&file, prompt(&here, EARLY, &format!("and then, {turn}?")));
        // Each takes as long as a look of its own does.
        world.reader(&["list"]).run().success();
        world.append(&file, answer(&here, LATE, &format!("That, {turn}.")));
        world.reader(&["list"]).run().success();
    }
    let (code, out, err) = ended(waiting);
    assert_eq!(
        (code, &*out, &*err),
        (Some(0), "5e551000  waiting  answered 1m ago\n", "")
    );
}

/// With --each a state is told once, however soon one comes after the other.
#[test]
fn with_each_no_state_is_told_twice_in_a_row() {
    let world = World::new();
    let here = world.path("work");
    let file = at_work(&world);
    let mut waiting = world
        .reader(&["wait", "login", "--each", "--until", "waiting,working"])
        .spawn();
    let (sender, lines) = channel();
    let out = BufReader::new(waiting.stdout.take().expect("stdout"));
    std::thread::spawn(move || {
        out.lines()
            .try_for_each(|line| sender.send(line.expect("a line")))
    });
    let mut states = Vec::new();
    for turn in 0..1000 {
        let text = match turn % 2 {
            0 => answer(&here, LATE, &format!("That, {turn}.")),
            _ => prompt(&here, LATE, &format!("and then, {turn}?")),
        };
        world.append(&file, text);
        // That takes as long as a look of its own does.
        world.reader(&["list"]).run().success();
        states.extend(lines.try_iter());
        if states.len() >= 3 {
            break;
        }
    }
    waiting.kill().expect("killed");
    waiting.wait().expect("ended");
    assert!(states.len() >= 3, "{states:?}");
    for pair in states.windows(2) {
        assert_ne!(pair[0], pair[1], "{states:?}");
    }
}

#[test]
fn a_wait_that_is_over_says_so() {
    let world = World::new();
    at_work(&world);
    let none = |args: &[&str]| {
        let message = "session-reader: timed out: no session has stopped working\n";
        world
            .reader(args)
            .run()
            .status(1)
            .stdout("")
            .stderr(message);
    };
    none(&["wait", "--timeout", "0s"]);
    none(&["wait", "login", "--timeout", "0s"]);
    none(&["wait", "--all", "--timeout", "1ms"]);
}

#[test]
fn a_name_that_nobody_has_is_an_error() {
    let world = World::new();
    at_work(&world);
    let said = "session-reader: no session is called 'nobody'; `session-reader list --all` shows what there is\n";
    world
        .reader(&["wait", "nobody"])
        .run()
        .status(2)
        .stdout("")
        .stderr(said);
    let said = world
        .reader(&["wait", "--until", "tired"])
        .run()
        .status(2)
        .err()
        .to_owned();
    assert!(said.contains("'tired'"), "{said}");
}

/// Whoever is named and has stopped working, however long ago, is waited for no longer.
#[test]
fn a_session_that_stopped_long_ago_is_not_waited_for() {
    let world = World::new();
    Script::of(&world)
        .at("2026-11-16T00:30:00Z")
        .user("an older question")
        .says("An answer.")
        .save(&world, ONE);
    world
        .reader(&["wait", "older"])
        .run()
        .success()
        .stdout("11111111  idle  answered 2h ago\n");
    world.context(&["done", ONE]).run().success();
    world
        .reader(&["wait", "older"])
        .run()
        .success()
        .stdout("11111111  done\n");
}

/// Where there is no session yet, it says so and waits for one.
#[test]
fn where_there_is_no_session_yet_it_waits_for_one() {
    let world = World::new();
    let said = world
        .reader(&["wait", "--timeout", "0s"])
        .run()
        .status(1)
        .stdout("")
        .err()
        .to_owned();
    let lines: Vec<&str> = said.lines().collect();
    assert!(
        lines[0].contains("no sessions in this project") && lines[0].ends_with("waiting for one"),
        "{said}"
    );
    assert_eq!(
        lines[1..],
        ["session-reader: timed out: no session has stopped working"]
    );
}

/// Prints all that it is told, one line for each variable.
const TELL: &str = r#"for name in NAME STATE REASON PLACE ID CWD AGENT; do eval "printf '%s=%s\\n' $name \"\$SESSION_$name\""; done"#;

/// Without --each the command is the end of the wait, and its exit status counts.
#[test]
fn a_command_is_told_what_happened() {
    let world = World::new();
    let file = at_work(&world);
    world.append(file, answer(&world.path("work"), LATE, "It works now."));
    let told = format!(
        "NAME=5e551000\nSTATE=waiting\nREASON=answered 1m ago\nPLACE=\nID={ID}\nCWD={}\nAGENT=claude\n",
        world.path("work").display()
    );
    let script = format!("{TELL}; exit 7");
    world
        .reader(&["wait", "login", "--exec", "sh", "-c", &script])
        .process()
        .run()
        .status(7)
        .stdout(&told)
        .stderr("");
    // All that follows is the command's, and it has no input.
    world
        .reader(&["wait", "--exec", "echo", "--each", "-h", "--", "--json"])
        .process()
        .run()
        .success()
        .stdout("--each -h -- --json\n");
    world
        .reader(&["wait", "--exec", "cat"])
        .stdin("not this")
        .process()
        .run()
        .success()
        .stdout("");
}

#[test]
fn with_each_the_command_runs_for_each_and_may_fail() {
    let world = World::new();
    Script::of(&world)
        .ago(30)
        .user("an older question")
        .says("An answer.")
        .save(&world, ONE);
    at_work(&world);
    let script = "echo $SESSION_STATE $SESSION_ID; test $SESSION_STATE != working || exit 3";
    world
        .reader(
            &[
                &[
                    "wait",
                    "--timeout",
                    "0s",
                    "--until",
                    "working,waiting",
                    "--each",
                ][..],
                &["--exec", "sh", "-c", script],
            ]
            .concat(),
        )
        .process()
        .run()
        .status(0)
        .stdout(&format!("working {ID}\nwaiting {ONE}\n"))
        .stderr("session-reader: sh failed: exit status: 3\n");
}

#[test]
fn a_command_that_cannot_start_is_an_error() {
    let world = World::new();
    at_work(&world);
    for each in [&[][..], &["--each"]] {
        let args = ["wait", "--until", "working", "--timeout", "0s"];
        world
            .reader(&[&args, each, &["--exec", "/nowhere/notify", "-x"]].concat())
            .process()
            .run()
            .status(2)
            .stdout("")
            .stderr(
                "session-reader: /nowhere/notify cannot be started: No such file or directory (os error 2)\n",
            );
    }
    for bare in [
        &["wait", "--exec"][..],
        &["wait", "--json", "--exec", "true"],
    ] {
        world.reader(bare).process().run().status(2);
    }
}

/// What a transcript says is one line of text without secrets, and nothing in it is run.
#[test]
fn a_hostile_transcript_runs_nothing() {
    let world = World::new();
    let title =
        r"$(touch a) `touch b`; touch c\nghp_0123456789abcdefghijABCDEFGHIJ012345\u0000\u001b[31m";
    let title = r#"{"type":"custom-title","customTitle":"TITLE"}"#.replace("TITLE", title) + "\n";
    let file = at_work(&world);
    world.append(&file, title);
    world.append(&file, call(LATE, "t1", "$(touch d)' \\\"; touch e"));
    runs(&world, ID, "waiting", "permission prompt");
    let script = r#"printf '%s\n' "$SESSION_NAME" "$SESSION_REASON"; ls"#;
    world
        .reader(&["wait", "--exec", "sh", "-c", script])
        .process()
        .run()
        .success()
        .stdout("5e551000\npermission: Bash $(touch d)' \"; touch e\n")
        .stderr("");
}
