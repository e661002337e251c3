//! Which sessions the hook tells of: those of this project, those of the machine, and what changes when somebody moves.

use std::fs;

use crate::support::claude::{answer, asked, prompt, said};
use crate::support::files::written_ago;
use crate::support::hook::{
    HOUR_IN_MICROS, block, hook, input, look, move_clock, on_machine, one_said, text, told,
    told_in, told_with,
};
use crate::support::times::ago;
use crate::support::world::{ME, ONE, THREE, TWO, World, path};

/// The project: the same directory, or the same repository with all its worktrees; the machine; and what is to be left alone.
#[test]
fn the_project_or_the_machine_decides_who_is_told() {
    let world = World::new();
    let bullet = |minutes: i64, dir: &str| {
        format!(
            "- {minutes}{minutes}{minutes}{minutes}{minutes}{minutes}{minutes}{minutes} ({minutes}m ago, 1 message): \"{dir}\""
        )
    };
    let dirs = ["repo", "repo/deep", "tree", "plain", "plain/below"];
    world.write("repo/.git/HEAD", "ref: refs/heads/main\n");
    world.write("repo/.git/worktrees/tree/commondir", "../..\n");
    world.write("tree/.git", "gitdir: ../repo/.git/worktrees/tree\n");
    for (minutes, dir) in (1..).zip(dirs) {
        std::fs::create_dir_all(world.path(dir)).expect("a directory");
        let id = minutes.to_string().repeat(8);
        world.write(
            format!(".claude/projects/-any/{id}.jsonl"),
            prompt(&world.path(dir), &ago(minutes), dir),
        );
    }
    let all: Vec<_> = (1..)
        .zip(dirs)
        .map(|(minutes, dir)| bullet(minutes, dir))
        .collect();
    let some =
        |wanted: &[usize]| block(&wanted.iter().map(|index| &*all[*index]).collect::<Vec<_>>());
    let mut number = 0;
    let mut ask = |dir: &str, args: &[&str], ignore: &str| {
        number += 1;
        let mut input = input(&world, &format!("observer-{number}"));
        input["cwd"] = path(&world, dir).into();
        text(
            &hook(&world, args, &input)
                .env("SESSION_CONTEXT_IGNORE", ignore)
                .run()
                .success(),
        )
    };
    for (dir, wanted) in [
        ("repo", &[0, 1, 2][..]),
        ("repo/elsewhere", &[0, 1, 2]),
        ("tree", &[0, 1, 2]),
        ("plain", &[3]),
        ("plain/below", &[4]),
        ("nowhere", &[]),
    ] {
        assert_eq!(ask(dir, &[], ""), some(wanted), "{dir}");
    }
    assert_eq!(
        ask("plain", &["--scope", "machine"], ""),
        on_machine(&some(&[0, 1, 2, 3, 4]))
    );
    assert_eq!(
        ask("plain", &["--scope=machine"], "~/repo:~/plain/below"),
        on_machine(&some(&[2, 3]))
    );
    assert_eq!(ask("repo", &[], &path(&world, "repo/deep")), some(&[0, 2]));
    assert_eq!(
        ask("repo/deep", &[], "~/repo"),
        "",
        "who is left alone is told nothing"
    );
}

/// 003-D08: the cwd in the file decides, whatever the directory is called; `CLAUDE_CONFIG_DIR` moves the transcripts.
#[test]
fn the_cwd_in_the_file_decides_not_its_directory() {
    let world = World::new();
    let cwd = world.path("my proj_v1.0/żółw");
    std::fs::create_dir_all(&cwd).expect("a directory");
    world.write(
        format!("elsewhere/projects/-whatever/{ONE}.jsonl"),
        prompt(&cwd, &ago(3), "x"),
    );
    let mut input = input(&world, ME);
    input["cwd"] = cwd.to_str().expect("UTF-8").into();
    input["transcript_path"] =
        path(&world, &format!("elsewhere/projects/-whatever/{ME}.jsonl")).into();
    hook(&world, &[], &input).run().success().stdout("");
    let moved = hook(&world, &[], &input)
        .env("CLAUDE_CONFIG_DIR", world.path("elsewhere"))
        .run()
        .success();
    assert_eq!(
        text(&moved),
        block(&["- 11111111 (3m ago, 1 message): \"x\""])
    );
}

fn elsewhere(world: &World, id: &str, minutes: i64, text: &str) -> std::path::PathBuf {
    world.write(
        format!(".claude/projects/-other/{id}.jsonl"),
        prompt(&world.path("other"), &ago(minutes), text),
    )
}

/// Many transcripts of another project do not keep this one's news waiting, and are looked into once.
#[test]
fn many_transcripts_elsewhere_keep_no_news_waiting() {
    const MANY: usize = 600;
    let world = World::new();
    written_ago(&world, &asked(&world, ME, 30, "mine"), 1200);
    let one = asked(&world, ONE, 9, "one");
    assert_eq!(told(&world), one_said(9, "one"));
    move_clock(&world, -HOUR_IN_MICROS / 2);
    world.append(&one, said(&world, 5, "important"));
    written_ago(&world, &one, 1200);
    fs::create_dir(world.path("other")).expect("a directory");
    let body = answer(&world.path("other"), &ago(8), "blah");
    let foreign = |number: usize| {
        format!(
            ".claude/projects/-other{}/{number:08x}-0000.jsonl",
            number % 30
        )
    };
    for number in 0..MANY {
        written_ago(&world, &world.write(foreign(number), &body), 600);
    }
    // There is not time enough for all of them.
    let late = hook(&world, &[], &input(&world, ME))
        .env("SESSION_CONTEXT_LOOKS", "200")
        .run()
        .status(0);
    assert_eq!(text(&late), one_said(5, "important"));
    assert!(
        late.err().contains("not everything was read"),
        "{}",
        late.err()
    );
    assert_eq!(told(&world), "");
    let why = world.context(&["explain", "--session", ME]).run().success();
    let quiet = format!("  {MANY} more: quiet since before the last look, here or elsewhere\n");
    assert!(why.out().contains(&quiet), "{}", why.out());
    assert_eq!(told(&world), "");
}

/// What did not fit is listed by a command that shows it.
#[test]
fn what_did_not_fit_is_listed_by_a_command_that_shows_it() {
    let world = World::new();
    fs::create_dir_all(world.path("other")).expect("a directory");
    for (id, text) in [
        (ONE, "a prompt of some length, which takes the room"),
        (TWO, "and another one that takes the room"),
    ] {
        elsewhere(&world, id, 9, text);
    }
    let told = told_with(&world, &["--scope", "machine", "--budget", "220"]);
    assert!(
        told.ends_with("\n- +1 more: session-reader list --all"),
        "{told}"
    );
}

/// A session that was seen from the whole machine is not told of in a project it does not belong to.
#[test]
fn what_was_seen_from_the_machine_is_not_told_in_another_project() {
    let world = World::new();
    fs::create_dir_all(world.path("other")).expect("a directory");
    let other = elsewhere(&world, ONE, 9, "secret");
    assert_eq!(told(&world), "");
    assert_eq!(
        told_with(&world, &["--scope", "machine"]),
        on_machine(&one_said(9, "secret"))
    );
    world.append(&other, prompt(&world.path("other"), &ago(5), "more"));
    assert_eq!(told(&world), "");
    assert_eq!(told(&world), "");
    assert_eq!(
        told_with(&world, &["--scope", "machine"]),
        on_machine(&one_said(5, "more"))
    );
}

/// An observer that moves is told of where it is, and of what came meanwhile when it is back.
#[test]
fn an_observer_that_moves_is_told_of_where_it_is() {
    let world = World::new();
    fs::create_dir_all(world.path("other")).expect("a directory");
    let one = asked(&world, ONE, 20, "one");
    assert_eq!(told(&world), one_said(20, "one"));
    world.append(&one, said(&world, 19, "two"));
    assert_eq!(told_in(&world, "other", &[]), "");
    // Passed over there, and written long before it is back.
    written_ago(&world, &asked(&world, TWO, 18, "meanwhile"), 600);
    elsewhere(&world, THREE, 17, "there");
    assert_eq!(
        told_in(&world, "other", &[]),
        block(&["- 33333333 (17m ago, 1 message): \"there\""])
    );
    let (two, one) = (
        "- 22222222 (18m ago, 1 message): \"meanwhile\"",
        "- 11111111 (19m ago, 1 message): \"two\"",
    );
    assert_eq!(told(&world), block(&[two, one]));
    assert_eq!(told(&world), "");
    assert_eq!(told_in(&world, "other", &[]), "");
}

/// Of a session that came into the project only what it said here counts.
#[test]
fn of_a_session_that_came_here_only_what_it_said_here_is_told() {
    for looked in [true, false] {
        let world = World::new();
        fs::create_dir_all(world.path("other")).expect("a directory");
        let there = |minutes: i64, text: &str| prompt(&world.path("other"), &ago(minutes), text);
        let one = elsewhere(&world, ONE, 20, "private");
        world.append(&one, there(19, "private too"));
        if looked {
            assert_eq!(told(&world), "");
        }
        world.append(
            &one,
            said(&world, 9, "now here") + &there(8, "away") + &said(&world, 7, "back"),
        );
        let expected = block(&["- 11111111 (7m ago, 2 messages): \"back\""]);
        assert_eq!(told(&world), expected, "looked: {looked}");
        world.append(&one, there(6, "gone"));
        assert_eq!(told(&world), "");
    }
}

/// A directory of the same repository is the same place.
#[test]
fn a_directory_of_the_same_repository_is_the_same_place() {
    let world = World::new();
    world.write("work/.git/HEAD", "ref: refs/heads/main\n");
    fs::create_dir_all(world.path("work/sub/deep")).expect("directories");
    let one = asked(&world, ONE, 20, "0");
    assert_eq!(told(&world), one_said(20, "0"));
    let place = look(&world)["place"].clone();
    assert!(place.as_u64().is_some_and(|place| place > 0), "{place}");
    for (minutes, dir) in [(15, "work/sub"), (14, "work/sub/deep"), (13, "work")] {
        world.append(&one, said(&world, minutes, dir));
        assert_eq!(told_in(&world, dir, &[]), one_said(minutes, dir));
        assert_eq!(look(&world)["place"], place, "{dir}");
    }
    fs::create_dir_all(world.path("other")).expect("a directory");
    elsewhere(&world, THREE, 5, "x");
    assert!(!told_in(&world, "other", &[]).is_empty());
    assert_ne!(look(&world)["place"], place);
}
