//! Files that two sessions work on: said first, whatever else there is to say.

use crate::support::agents::agent;
use crate::support::claude::{asked, calls, edit, prompt};
use crate::support::clients::{SEEN, all_clients};
use crate::support::files::files;
use crate::support::hook::{block, hook, input, nine, text, told};
use crate::support::times::ago;
use crate::support::world::{ME, ONE, TWO, World, path};

/// What several sessions edited comes first, whoever they are: the edits that came after the observer's own.
#[test]
fn conflicts_with_sessions_of_all_agents() {
    let world = all_clients();
    let id = "01a1e236-138c-7902-aa86-f9833bd81c72";
    let mut asks = agent("codex").1(&world, id);
    let all = files(&world.path(""));
    let own = all
        .keys()
        .find(|path| path.to_string_lossy().ends_with(&format!("{id}.jsonl")))
        .expect("a transcript");
    asks["transcript_path"] = own.to_str().into();
    let others = [
        "pi:01a1e246-c934 edited notes.md 5m",
        "copilot:\"Create a notes file for me\" edited notes.md 13m",
        "qwen:1e2133c9 edited notes.md 18m",
        "gemini:53efae45 edited notes.md 19m",
    ];
    let mut bullets: Vec<String> = others
        .map(|line| format!("- ! {line} ago; you edited it 24m ago"))
        .to_vec();
    let seen = SEEN
        .lines()
        .filter(|line| !line.starts_with("codex:01a1e236-138c"));
    bullets.extend(seen.map(|line| format!("- {}", line.strip_prefix("codex:").unwrap_or(line))));
    let done = hook(&world, &["--budget", "9000"], &asks).run().success();
    assert_eq!(done.json(), [agent("codex").2(&block(&bullets))]);
}

/// What another session edited, and this one edited or read before and has not seen since, comes first.
#[test]
fn conflicts_come_first() {
    let work = |world: &World, name: &str| path(world, &format!("work/{name}"));
    type Did<'a> = &'a dyn Fn(&World) -> String;
    let check = |row: &str, mine: Did, theirs: Did, expected: &[&str]| {
        let world = World::new();
        let cwd = world.path("work");
        world.claude(ME, &(prompt(&cwd, &ago(50), "mine") + &mine(&world)));
        world.claude(ONE, &(prompt(&cwd, &ago(8), "theirs") + &theirs(&world)));
        asked(&world, TWO, 1, "unrelated");
        assert_eq!(told(&world), block(expected), "{row}");
    };
    let theirs = |world: &World| edit(2, "t1", &work(world, "src/auth.rs"));
    let read = |minutes: i64| {
        move |world: &World| {
            calls(
                minutes,
                "r1",
                &[&format!("Read {}", work(world, "src/auth.rs"))],
            )
        }
    };
    let edited =
        |minutes: i64| move |world: &World| edit(minutes, "m1", &work(world, "src/auth.rs"));
    let both = |one: Did<'_>, two: Did<'_>, world: &World| one(world) + &two(world);
    let two = "- 22222222 (1m ago, 1 message): \"unrelated\"";
    let one = "- 11111111 (2m ago, 2 messages): \"theirs\" -> updated src/auth.rs";
    let after_my_edit = "- ! 11111111 edited src/auth.rs 2m ago; you edited it 10m ago";
    let conflict = [after_my_edit, two, one];

    check("I edited it before", &edited(10), &theirs, &conflict);
    let after_my_look = "- ! 11111111 edited src/auth.rs 2m ago; you read it 9m ago";
    check(
        "I read it before",
        &read(9),
        &theirs,
        &[after_my_look, two, one],
    );
    check(
        "I edited it and read it",
        &|world| both(&edited(10), &read(5), world),
        &theirs,
        &conflict,
    );
    check(
        "their path is relative",
        &edited(10),
        &|_| edit(2, "t1", "./src/../src/auth.rs"),
        &conflict,
    );
    check(
        "my path is relative",
        &|_| edit(10, "m1", "src/auth.rs"),
        &theirs,
        &conflict,
    );
    let other = |minutes: i64, id: &'static str| {
        move |world: &World| edit(minutes, id, &work(world, "b.rs"))
    };
    let of_two = "- ! 11111111 edited src/auth.rs (+1 more) 2m ago; you edited it 10m ago";
    let two_files =
        "- 11111111 (2m ago, 3 messages): \"theirs\" -> edited 2 files (b.rs, src/auth.rs)";
    let mine_of_two = |world: &World| both(&edited(10), &other(11, "m2"), world);
    let theirs_of_two = |world: &World| both(&other(3, "t0"), &theirs, world);
    check(
        "we edited two files",
        &mine_of_two,
        &theirs_of_two,
        &[of_two, two, two_files],
    );

    for last in [
        "Read src/auth.rs",
        "Edit src/auth.rs",
        "Bash git diff",
        "Bash git pull",
        "Bash git stash",
    ] {
        let seen = |world: &World| edited(10)(world) + &calls(1, "s1", &[last]);
        check(
            &format!("I have seen it since: {last}"),
            &seen,
            &theirs,
            &[two, one],
        );
    }
    let failed = |id: &'static str, minutes: i64| {
        move |world: &World| {
            calls(
                minutes,
                id,
                &[&format!("!Edit {}", work(world, "src/auth.rs"))],
            )
        }
    };
    let nothing_done =
        |minutes: i64| format!("- 11111111 ({minutes}m ago, 2 messages): \"theirs\"");
    check(
        "they only read it",
        &edited(10),
        &read(9),
        &[two, &nothing_done(8)],
    );
    check(
        "their edit failed",
        &edited(10),
        &failed("t1", 2),
        &[two, &nothing_done(2)],
    );
    check("my edit failed", &failed("m1", 10), &theirs, &[two, one]);
    check(
        "I edited another file",
        &|world| edit(10, "m1", &work(world, "src/auth.rs2")),
        &theirs,
        &[two, one],
    );
}

/// An edit is a conflict only if this session knew the file not too long before it; how long is a setting.
#[test]
fn a_conflict_needs_two_sessions_within_the_window() {
    let theirs = "- 11111111 (2m ago, 2 messages): \"theirs\" -> updated a.rs";
    let conflict = "- ! 11111111 edited a.rs 2m ago; you edited it 40m ago";
    for (variable, config, expected) in [
        ("", "", &[conflict, theirs][..]),
        ("38m", "", &[conflict, theirs]),
        ("37m", "", &[theirs]),
        ("", "conflict_window = \"37m\"\n", &[theirs]),
        ("38m", "conflict_window = \"37m\"\n", &[conflict, theirs]),
    ] {
        let world = World::new();
        let cwd = world.path("work");
        world.write(".config/session-monitor/config.toml", config);
        world.claude(
            ME,
            &(prompt(&cwd, &ago(50), "mine") + &edit(40, "m1", &path(&world, "work/a.rs"))),
        );
        world.claude(
            ONE,
            &(prompt(&cwd, &ago(8), "theirs") + &edit(2, "t1", &path(&world, "work/a.rs"))),
        );
        let asks = hook(&world, &[], &input(&world, ME));
        let asks = if variable.is_empty() {
            asks
        } else {
            asks.env("SESSION_MONITOR_CONFLICT_WINDOW", variable)
        };
        assert_eq!(
            text(&asks.run().success()),
            block(expected),
            "{variable:?} {config:?}"
        );
    }
}

/// What is told when this session and another one edited a file, whose name begins at a place in this one's transcript.
fn told_of(file: &str, place: usize, written: &dyn Fn(String) -> String) -> String {
    let world = World::new();
    let cwd = world.path("work");
    let file = path(&world, &format!("work/{file}"));
    let name = file.rsplit('/').next().expect("a name");
    let mine = |filler: usize| {
        format!("{{\"type\":\"{}\"}}\n", "x".repeat(filler)) + &edit(10, "m1", &file)
    };
    let filler = place.saturating_sub(mine(0).find(name).expect("the name"));
    world.claude(ME, &written(mine(filler)));
    world.claude(
        ONE,
        &(prompt(&cwd, &ago(8), "theirs") + &edit(2, "t1", &file)),
    );
    told(&world)
}

/// However this session wrote down the path of a file, it is the same file.
#[test]
fn a_conflict_is_found_however_the_path_is_written() {
    type Written<'a> = &'a dyn Fn(String) -> String;
    let ways: [(&str, &str, Written); 6] = [
        ("as it is", "src/auth.rs", &|line| line),
        ("escaped slashes", "src/auth.rs", &|line| {
            line.replace('/', "\\/")
        }),
        ("a letter by its number", "src/auth.rs", &|line| {
            line.replace("auth.rs", "\\u0061uth.rs")
        }),
        ("a detour", "src/auth.rs", &|line| {
            line.replace("src/auth.rs", "src/./auth.rs")
        }),
        ("a comma in the name", "src/a,b.rs", &|line| line),
        ("an accent by its number", "src/naïve.rs", &|line| {
            line.replace('ï', "\\u00ef")
        }),
    ];
    for (way, file, written) in ways {
        let shown = if file.contains(',') {
            format!("\"{file}\"")
        } else {
            file.to_owned()
        };
        let conflict = format!("- ! 11111111 edited {shown} 2m ago; you edited it 10m ago");
        let theirs = format!("- 11111111 (2m ago, 2 messages): \"theirs\" -> updated {shown}");
        assert_eq!(
            told_of(file, 0, written),
            block(&[&conflict, &theirs]),
            "{way}"
        );
    }
}

/// A transcript is looked through piece by piece. Wherever a piece ends, the path is found.
#[test]
fn a_conflict_is_found_wherever_the_path_stands() {
    let conflict = "- ! 11111111 edited src/auth.rs 2m ago; you edited it 10m ago";
    let theirs = "- 11111111 (2m ago, 2 messages): \"theirs\" -> updated src/auth.rs";
    for end in [0, 128 << 10, 256 << 10] {
        for before in [0, 1, 3, 7, 20] {
            let place = usize::max(end, before) - before;
            assert_eq!(
                told_of("src/auth.rs", place, &|line| line),
                block(&[conflict, theirs]),
                "{place}"
            );
        }
    }
}

/// A conflict is told even when there is no room for the newest session.
#[test]
fn a_conflict_goes_before_what_is_newer() {
    let world = nine();
    world.claude(ME, &edit(30, "m1", &path(&world, "work/a.rs")));
    let eight = world.transcript("88888888-0000-4000-8000-000000000000");
    world.append(eight, edit(8, "t1", &path(&world, "work/a.rs")));
    let expected = [
        "- ! 88888888 edited a.rs 8m ago; you edited it 30m ago",
        "- 11111111 (1m ago, 1 message): \"request-1 wants more blah blah blah blah blah\"",
        "- 22222222 (2m ago, 1 message): \"request-2 wants more blah blah blah blah blah blah blah blah blah blah\"",
        "- 88888888 (8m ago, 2 messages): \"request-8 wants more\" -> updated a.rs",
        "- +6 more: session-reader list",
    ];
    assert_eq!(
        told(&world).lines().collect::<Vec<_>>(),
        block(&expected).lines().collect::<Vec<_>>()
    );
}

/// Two worktrees have two files of the same name: no conflict.
#[test]
fn worktrees_do_not_conflict() {
    let world = World::new();
    world.write("work/.git/HEAD", "ref: refs/heads/main\n");
    world.write("work/.git/worktrees/tree/commondir", "../..\n");
    world.write("tree/.git", "gitdir: ../work/.git/worktrees/tree\n");
    world.claude(
        ME,
        &(prompt(&world.path("work"), &ago(50), "mine")
            + &edit(10, "m1", &path(&world, "work/src/a.rs"))),
    );
    let theirs = |id: &str, minutes: i64, file: &str| {
        world.write(
            format!(".claude/projects/-any/{id}.jsonl"),
            prompt(&world.path("tree"), &ago(minutes), "theirs") + &edit(minutes, id, file),
        );
    };
    theirs(ONE, 2, &path(&world, "tree/src/a.rs"));
    theirs(TWO, 3, "src/a.rs");
    let expected = [ONE, TWO].iter().zip([2, 3]).map(|(id, minutes)| {
        format!(
            "- {} ({minutes}m ago, 2 messages): \"theirs\" -> updated src/a.rs",
            &id[..8]
        )
    });
    let expected: Vec<_> = expected.collect();
    assert_eq!(told(&world), block(&[&expected[0], &expected[1]]));
}
