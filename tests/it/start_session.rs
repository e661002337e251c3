//! Which session a new one is told of: the last one of this project in which somebody worked.

use std::fs;

use serde_json::{Value, json};

use crate::support::claude::{answer, asked, edit, line, prompt, tasks, used};
use crate::support::clients::all_clients;
use crate::support::files::{read_json, written_ago};
use crate::support::hook::{block as news, cursors, hook};
use crate::support::start::{
    FIRST, GOAL, at_work, begins, changed, just_stopped, pi_begins, pi_text, start_block,
    start_text, started, started_after, started_as, told_of, was_at_work, work_lines,
};
use crate::support::times::{HOUR, ago};
use crate::support::world::{ME, ONE, THREE, TWO, World, home, path};

/// Of many questions in passing so many are opened, and the work before them is found; before more of them it is not, but
/// that is no first use.
#[test]
fn work_is_found_before_many_questions_in_passing() {
    let world = World::new();
    let one = world.claude(ONE, &at_work(&world, 30));
    written_ago(&world, &one, 1800);
    for number in 0..59 {
        asked(&world, &format!("2{number:07}-2222"), 10, GOAL);
    }
    assert_eq!(told_of(&started(&world)), "11111111");
    asked(&world, "20000059-2222", 10, GOAL);
    assert_eq!(started_as(&world, TWO, "startup"), "");
}

/// 000-10, 000-11, 001-D1: the last is the one that was at work last, by what was said in it and not by its file; whatever
/// the one that begins is about. Of several at once, each has its own state, and the newest is told whole.
#[test]
fn the_last_session_is_the_one_at_work_last() {
    let world = World::new();
    let one = world.claude(
        ONE,
        &changed(&world, 9, "Add a cache to the pages", "cache.rs"),
    );
    let two = world.claude(
        TWO,
        &changed(&world, 6, "Remove the old parser module", "parser.rs"),
    );
    let three = world.claude(
        THREE,
        &changed(&world, 30, "Write the manual of the tool", "manual.md"),
    );
    let again = || {
        let _ = fs::remove_file(cursors(&world, ME));
        started(&world)
    };
    let of = |name: &str, how: String, asked: &str, file: &str, said: &str| {
        start_block(&[
            format!("- {how}; last asked \"{asked}\""),
            format!("- it changed {file}{said}"),
            format!("- more: session-reader resume {name}"),
        ])
    };
    let second = of(
        "22222222",
        was_at_work("22222222", 6),
        "Remove the old parser module",
        "parser.rs",
        "",
    );
    assert_eq!(again(), second);
    // A file that was written later, with nothing in it that was said later: copied, or opened and closed again.
    for stamps in [
        [10, 5000, 20],
        [5000, 10, 20],
        [20, 5000, 10],
        [5000, 6000, 7000],
    ] {
        [&one, &two, &three]
            .into_iter()
            .zip(stamps)
            .for_each(|(path, ago)| written_ago(&world, path, ago));
        assert_eq!(again(), second, "{stamps:?}");
    }
    world.append(
        &three,
        line(json!({"type": "summary", "summary": "a title, and no time"})),
    );
    assert_eq!(again(), second);
    // Both at once: nothing of the one gets into what is told of the other.
    world.append(&one, answer(&world.path("work"), &ago(4), "Done."));
    let said = "\n- it said \"Done.\"";
    assert_eq!(
        again(),
        of(
            "11111111",
            just_stopped("11111111", 4),
            "Add a cache to the pages",
            "cache.rs",
            said
        )
    );
    world.context(&["done", ONE]).run().success();
    assert_eq!(again(), second, "one that is done");
    fs::remove_file(two).expect("removed");
    assert_eq!(told_of(&again()), "33333333", "one that is gone");
    world.context(&["done", "--undo", ONE]).run().success();
    assert_eq!(told_of(&again()), "11111111");
}

/// What is none: subagents, throw-aways, questions in passing, other projects; a worktree of the same one is.
#[test]
fn sessions_that_are_not_the_last() {
    let world = World::new();
    world.write("work/.git/HEAD", "ref: refs/heads/main\n");
    world.write("work/.git/worktrees/tree/gitdir", path(&world, "tree/.git"));
    world.write("work/.git/worktrees/tree/commondir", "../..");
    world.write(
        "tree/.git",
        format!("gitdir: {}", path(&world, "work/.git/worktrees/tree")),
    );
    fs::create_dir_all(world.path("other")).expect("a directory");
    world.claude(ONE, &at_work(&world, 30));
    let expected = start_block(&work_lines("11111111 was at work 30m ago"));
    asked(&world, TWO, 3, "Explain the parser of this project to me");
    let mut inside: Value =
        serde_json::from_str(&prompt(&world.path("work"), &ago(2), GOAL)).expect("JSON");
    inside["isSidechain"] = true.into();
    world.claude(THREE, &line(inside));
    let other =
        prompt(&world.path("other"), &ago(1), GOAL) + &edit(1, "e2", &path(&world, "other/x.rs"));
    world.write(".claude/projects/-other/44444444-0000.jsonl", &other);
    assert_eq!(started(&world), expected);
    // What is widened are the news; the work is that of this project.
    let done = hook(
        &world,
        &["--scope", "machine"],
        &begins(&world, TWO, "startup"),
    )
    .run()
    .success();
    assert_eq!(start_text(&done), expected);
    let tree =
        prompt(&world.path("tree"), &ago(1), GOAL) + &edit(1, "e3", &path(&world, "tree/y.rs"));
    world.write(".claude/projects/-tree/55555555-0000.jsonl", &tree);
    let told = started_as(&world, "66666666-0000", "startup");
    assert_eq!(told_of(&told), "55555555", "{told}");
    assert!(
        told.contains("\n- it changed y.rs\n"),
        "as the session in the worktree would write it: {told}"
    );
    // A project that is to be left alone.
    world.write(
        ".config/session-monitor/config.toml",
        "ignore = [\"~/work\"]\n",
    );
    hook(&world, &[], &begins(&world, "77777777-0000", "startup"))
        .run()
        .success()
        .stdout("");
}

/// Of a session that came here from another project only what it did here is told.
#[test]
fn of_a_session_that_came_here_only_what_it_did_here_is_told() {
    let world = World::new();
    fs::create_dir_all(world.path("other")).expect("a directory");
    let there = prompt(
        &world.path("other"),
        &ago(9),
        "Write the manual of the tool",
    ) + &edit(9, "e1", &path(&world, "other/manual.md"))
        + &tasks(9, "t", &[("Print it", "in_progress")]);
    let here = prompt(&world.path("work"), &ago(6), "Add a cache to the pages")
        + &edit(5, "e2", &path(&world, "work/cache.rs"));
    world.write(
        format!(".claude/projects/-other/{ONE}.jsonl"),
        there + &here,
    );
    let told = started(&world);
    let lines: Vec<_> = told.lines().skip(1).collect();
    assert_eq!(
        lines[0],
        format!(
            "- {}; last asked \"Add a cache to the pages\"",
            was_at_work("11111111", 5)
        )
    );
    assert!(
        lines[1].starts_with("- it changed ")
            && lines[1].ends_with("cache.rs")
            && !told.contains("manual"),
        "{told}"
    );
    assert!(!told.contains("Print it"), "{told}");
}

/// On a machine with much other work the last session of this project is still found, or at least it is not said that
/// there is none.
#[test]
fn much_work_elsewhere_does_not_hide_the_last_session() {
    let world = World::new();
    fs::create_dir_all(world.path("other")).expect("a directory");
    let one = world.claude(ONE, &at_work(&world, 30));
    written_ago(&world, &one, 1800);
    for number in 0..200 {
        let said = prompt(&world.path("other"), &ago(1), GOAL);
        world.write(
            format!(".claude/projects/-other/{number:08}-0000.jsonl"),
            said,
        );
    }
    assert_eq!(
        started(&world),
        start_block(&work_lines("11111111 was at work 30m ago"))
    );
}

/// A long session of which only the end is read is no question in passing, though there is one prompt at its end.
#[test]
fn a_long_session_is_no_question_in_passing() {
    let world = World::new();
    let cwd = world.path("work");
    let read = |at| {
        used(
            4,
            &format!("r{at}"),
            "Read",
            json!({"file_path": "a.rs"}),
            Some(&"x".repeat(4000)),
        )
    };
    let said = prompt(&cwd, &ago(5), "Explain the parser of this project to me");
    let lines = at_work(&world, 30) + &(0..300).map(read).collect::<String>() + &said + &read(300);
    world.claude(ONE, &lines);
    let told = started(&world);
    assert_eq!(told_of(&told), "11111111", "{told}");
}

/// What it is called leads to the session, and to no other, also where ids begin alike.
#[test]
fn names_lead_to_the_session() {
    let world = all_clients();
    let told = started(&world);
    let name = told_of(&told);
    let shown = world.reader(&["resume", &name]).run();
    assert!(
        !name.is_empty() && shown.err().is_empty(),
        "{told}: {}",
        shown.err()
    );
}

/// In a named home the sessions are those of the home, by their names; throw-aways are not where the work stopped.
#[test]
fn in_a_named_home_sessions_go_by_their_names() {
    for dir in [".volute", ".mind"] {
        let world = World::new();
        home(
            &world,
            dir,
            &[("main", ME), ("discord", ONE), ("new-1", TWO)],
        );
        assert_eq!(started(&world), start_block(&[FIRST]), "{dir}");
        world.claude(ONE, &at_work(&world, 5));
        world.claude(
            TWO,
            &changed(&world, 1, "Remove the old parser module", "b.rs"),
        );
        world.claude(
            THREE,
            &changed(&world, 2, "Write the manual of the tool", "manual.md"),
        );
        fs::remove_file(world.path(format!("work/{dir}/session-cursors.json")))
            .expect("it was told");
        let lines = work_lines(&was_at_work("discord", 5))
            .iter()
            .map(|line| line.replace("11111111", "discord"))
            .collect::<Vec<_>>();
        assert_eq!(started(&world), start_block(&lines), "{dir}");
        assert_eq!(started(&world), "");
        let saved = read_json(&world.path(format!("work/{dir}/session-cursors.json")));
        assert_eq!(saved["main"]["."]["started"], true, "{saved}");
        // An observer without a name has its own start, and what it is told moves nobody else's.
        assert_eq!(started_as(&world, THREE, "startup"), start_block(&lines));
        let after = read_json(&world.path(format!("work/{dir}/session-cursors.json")));
        assert_eq!(after["main"], saved["main"]);
        world.context(&["done", "discord"]).run().success();
        assert_eq!(started_as(&world, "99999999-0000", "startup"), "");
    }
}

/// Pi in a named home: each name has a folder, and the first prompt of one is told of the others.
#[test]
fn pi_in_a_named_home_is_told_of_the_others() {
    let world = World::new();
    let session = |name: &str, id: &str, minutes: i64, texts: &[&str]| {
        let file = format!("work/.volute/pi-sessions/{name}/2026-11-16T02-00-00-000Z_{id}.jsonl");
        let head = json!({"type": "session", "version": 3, "id": id, "timestamp": ago(minutes), "cwd": world.path("work")});
        let said = texts.iter().zip(0..).map(|(text, at)| {
            line(json!({"type": "message", "id": format!("m{at}"), "timestamp": ago(minutes - at), "message": {"role": "user", "content": text}}))
        });
        world.write(file, line(head) + &said.collect::<String>())
    };
    session("discord", ONE, 6, &[GOAL, "ok"]);
    session("new-1", TWO, 3, &["Remove the old parser module", "ok"]);
    let own = session("main", ME, 2, &[]);
    let mut asks = pi_begins(&world, ME, "hello");
    asks["transcript_path"] = own.to_str().into();
    let told = pi_text(
        &hook(&world, &["--agent", "pi", "--budget", "9000"], &asks)
            .run()
            .success(),
    );
    let first = format!("- {}; last asked \"{GOAL}\"", was_at_work("discord", 5));
    let bullet = format!("- discord (5m ago, 2 messages): \"{GOAL}\"");
    let news = news(&[bullet]);
    assert_eq!(
        told,
        format!(
            "{}\n{news}",
            start_block(&[&*first, "- more: session-reader resume discord"])
        )
    );
    hook(&world, &["--agent", "pi"], &asks)
        .run()
        .success()
        .stdout("");
}

/// For the last session as for the first prompt: what no user typed was not asked and is no title, and a session with one
/// real prompt and no file is still one that was asked in passing.
#[test]
fn what_no_user_typed_was_not_asked() {
    let world = World::new();
    let cwd = world.path("work");
    let machine = [
        "<task-notification>\nRemove all of the files now\n</task-notification>",
        "<local-command-stdout>Build the whole thing again</local-command-stdout>",
        "<command-name>/model</command-name>",
        "<system-reminder>Write everything in capitals now</system-reminder>",
    ];
    let noise: String = machine
        .iter()
        .zip(1..)
        .map(|(text, at)| prompt(&cwd, &ago(50 - at), text))
        .collect();
    world.claude(ONE, &(noise.clone() + &prompt(&cwd, &ago(6), GOAL)));
    assert_eq!(started(&world), "", "one prompt");
    let edited = edit(5, "e", &path(&world, "work/a.rs"));
    world.claude(
        ONE,
        &(prompt(&cwd, &ago(60), GOAL) + &noise + &edited + &prompt(&cwd, &ago(5), machine[0])),
    );
    let first = format!("- {}; last asked \"{GOAL}\"", was_at_work("11111111", 5));
    let lines = [
        &*first,
        "- it changed a.rs",
        "- more: session-reader resume 11111111",
    ];
    assert_eq!(started(&world), start_block(&lines));
    let far = format!("- the last session, \"{GOAL}\", stopped 2h ago");
    assert!(
        started_after(&world, 2 * HOUR)
            .lines()
            .nth(1)
            .is_some_and(|line| line.starts_with(&far))
    );
}

/// What changed files was at work, though nobody typed a sentence: a command, another session or a schedule began it.
#[test]
fn work_that_nobody_typed_is_work() {
    for first in [
        "<command-message>fix-issue</command-message>\n<command-name>/fix-issue</command-name>\n<command-args>12</command-args>",
        "<teammate-message id=\"main\">Remove the old parser module</teammate-message>",
        "<task-notification>\nRemove the old parser module\n</task-notification>",
    ] {
        let world = World::new();
        world.claude(ONE, &changed(&world, 5, first, "a.rs"));
        let told = started(&world);
        assert!(!told.contains("first use"), "{first}: {told}");
        assert_eq!(told_of(&told), "11111111", "{first}: {told}");
    }
}
