//! `session-reader files`: who touched which file, conflicts first, and the history of one file.

use serde_json::{Value, json};

use crate::support::script::Script;
use crate::support::world::{ONE, THREE, TWO, World};

/// Two sessions that edit one file, one that reads it and edits another, and one elsewhere.
fn several() -> World {
    let world = World::new();
    let path = |below: &str| world.path(below).to_str().expect("UTF-8").to_owned();
    let edit = |script: Script, file: &str| {
        script.does(
            "Edit",
            json!({"file_path": file, "old_string": "a", "new_string": "b"}),
        )
    };
    let auth = path("work/src/auth.rs");
    let one = Script::of(&world).ago(50).user("Make the login safer");
    let one = edit(edit(one, &auth), "src/auth.rs")
        .ago(40)
        .user("And shorter");
    edit(one, &auth).save(&world, ONE);
    let two = Script::codex(&world, TWO).ago(20).user("Rename the login");
    two.patches(
        "*** Update File: src/auth.rs\n*** Move to: src/login.rs\n@@\n-a\n+b\n*** Add File: docs/login.md\n+new\n",
    )
    .save(&world, TWO);
    let three = Script::of(&world)
        .ago(10)
        .user("Look at it")
        .does("Read", json!({"file_path": auth}));
    let three = three
        .calls("Edit", json!({"file_path": auth}))
        .result(true, "no such text");
    three
        .writes(&path("work/notes.md"), "x\n")
        .save(&world, THREE);
    let elsewhere = Script::new(world.path("elsewhere"))
        .ago(5)
        .user("Elsewhere");
    edit(elsewhere, &auth).save(&world, "44444444-0000-4000-8000-000000000000");
    world
}

#[test]
fn conflicts_come_first_then_the_newest() {
    let world = several();
    world.reader(&["files"]).run().success().stdout(concat!(
        "  AGE  FILE           WHO\n",
        "! 20m  src/auth.rs    codex:22222222 moved 20m ago; claude:11111111 edited 3x 40m ago; 1 read it\n",
        "  10m  notes.md       claude:33333333 created\n",
        "  20m  docs/login.md  codex:22222222 created\n",
        "  20m  src/login.rs   codex:22222222 edited\n",
    ));
    // From a directory of the project, too; and with those who work elsewhere.
    let all = world.reader(&["files", "--all"]).run().success();
    let first = "!  5m  src/auth.rs    claude:44444444 edited 5m ago; codex:22222222 moved 20m ago; claude:11111111 edited 3x 40m ago; 1 read it";
    assert_eq!(all.out().lines().nth(1), Some(first));
    let lately = world.reader(&["files", "--since", "15m"]).run().success();
    lately.stdout("  AGE  FILE      WHO\n  10m  notes.md  claude:33333333 created\n");
    let read = world
        .reader(&["files", "--since", "15m", "--reads"])
        .run()
        .success();
    read.stdout(concat!(
        "  AGE  FILE         WHO\n",
        "  10m  notes.md     claude:33333333 created\n",
        "  10m  src/auth.rs  claude:33333333 read it\n"
    ));
}

/// What git did to files that a command names counts as what an editor does.
#[test]
fn git_touches_the_files_that_it_is_given() {
    let world = World::new();
    let script = Script::of(&world)
        .ago(9)
        .user("Tidy up")
        .runs("git restore src/a.rs", false);
    let script = script
        .runs("git rm old.rs && git mv b.rs c.rs", false)
        .runs("git checkout -- d.rs; ls", false);
    script.runs("git restore e.rs", true).save(&world, ONE);
    world.reader(&["files"]).run().success().stdout(concat!(
        "  AGE  FILE      WHO\n",
        "   9m  b.rs      claude:11111111 moved\n",
        "   9m  c.rs      claude:11111111 edited\n",
        "   9m  old.rs    claude:11111111 deleted\n",
        "   9m  src/a.rs  claude:11111111 edited\n",
    ));
}

/// Two sessions with more than an hour between them do not get in each other's way.
#[test]
fn a_conflict_is_two_sessions_close_together() {
    for (minutes, mark) in [(100, '!'), (101, ' ')] {
        let world = World::new();
        for (id, ago) in [(ONE, 40), (TWO, minutes)] {
            Script::of(&world)
                .ago(ago)
                .user("go")
                .writes("a.rs", "x")
                .save(&world, id);
        }
        let shown = world.reader(&["files"]).run().success();
        assert_eq!(
            shown
                .out()
                .lines()
                .nth(1)
                .and_then(|line| line.chars().next()),
            Some(mark),
            "{}",
            shown.out()
        );
    }
}

#[test]
fn the_history_of_a_file_is_everybodys() {
    let world = several();
    let history = concat!(
        "src/auth.rs  5 edits, 1 read by 4 sessions; --reads shows these, too\n",
        "2026-11-16 02:55  edited     claude  Elsewhere\n",
        "                  session-reader log 44444444 --at 2\n",
        "2026-11-16 02:40  moved      codex   Rename the login\n",
        "                  session-reader log 22222222 --at 3\n",
        "2026-11-16 02:20  edited     claude  And shorter\n",
        "                  session-reader log 11111111 --at 7\n",
        "2026-11-16 02:10  edited 2x  claude  Make the login safer\n",
        "                  session-reader log 11111111 --at 4\n",
    );
    // However it is named: relative, absolute, by its name, by the end of its path.
    let whole = world.path("work/src/auth.rs");
    for path in [
        "src/auth.rs",
        "./src/../src/auth.rs",
        "auth.rs",
        whole.to_str().expect("UTF-8"),
        "~/work/src/auth.rs",
    ] {
        world
            .reader(&["files", path])
            .run()
            .success()
            .stdout(history);
    }
    world
        .reader(&["files", "rs/auth.rs"])
        .run()
        .status(1)
        .stderr_has("did you mean src/auth.rs?");
    let from_above = world
        .reader(&["files", "src/auth.rs"])
        .dir(world.path(""))
        .run()
        .success();
    assert!(
        from_above.out().starts_with("work/src/auth.rs  5 edits"),
        "{}",
        from_above.out()
    );
    let reads = world
        .reader(&["files", "auth.rs", "--reads", "--since", "15m"])
        .run()
        .success();
    reads.stdout(concat!(
        "src/auth.rs  1 edit, 1 read by 2 sessions\n",
        "2026-11-16 02:55  edited  claude  Elsewhere\n",
        "                  session-reader log 44444444 --at 2\n",
        "2026-11-16 02:50  read    claude  Look at it\n",
        "                  session-reader log 33333333 --at 2\n",
    ));
}

/// The command of a history shows the call.
#[test]
fn a_history_is_opened_where_it_happened() {
    let world = several();
    let opened = world
        .reader(&["log", "11111111", "--at", "7", "-C", "0"])
        .run()
        .success();
    opened.stdout("2026-11-16 02:20  assistant  [Edit src/auth.rs]\n");
    let hits = world
        .reader(&["files", "auth.rs", "--json"])
        .run()
        .success()
        .json();
    for hit in &hits {
        let (session, line) = (
            hit["session"].as_str().expect("a session"),
            hit["line"].to_string(),
        );
        let opened = &world
            .reader(&["log", session, "--at", &line, "-C", "0", "--json"])
            .run()
            .success()
            .json()[0];
        assert_eq!(
            (&opened["tool"], &opened["time"]),
            (&hit["tool"], &hit["time"]),
            "{hit}"
        );
    }
    assert_eq!(hits.len(), 5);
}

#[test]
fn a_directory_is_everything_below_it() {
    let world = several();
    std::fs::create_dir_all(world.path("work/src")).expect("a directory");
    let expected = concat!(
        "src  6 edits, 1 read by 4 sessions; --reads shows these, too\n",
        "2026-11-16 02:55  edited     claude  src/auth.rs  Elsewhere\n",
        "                  session-reader log 44444444 --at 2\n",
        "2026-11-16 02:40  moved      codex   src/auth.rs  Rename the login\n",
        "                  session-reader log 22222222 --at 3\n",
        "2026-11-16 02:40  edited     codex   src/login.rs  Rename the login\n",
    );
    // Also once it is gone.
    for gone in [false, true] {
        let shown = world.reader(&["files", "src"]).run().success();
        assert!(shown.out().starts_with(expected), "{}", shown.out());
        if !gone {
            std::fs::remove_dir(world.path("work/src")).expect("removed");
        }
    }
}

#[test]
fn json_has_an_object_per_file() {
    let world = several();
    let files = world.reader(&["files", "--json"]).run().success().json();
    let session = |id: &str, agent: &str, title: &str, rest: Value| {
        let mut session = json!({"session": id, "handle": id[..8], "agent": agent, "title": title});
        session
            .as_object_mut()
            .expect("an object")
            .extend(rest.as_object().expect("an object").clone());
        session
    };
    assert_eq!(
        files[0],
        json!({
            "path": world.path("work/src/auth.rs"), "conflict": true, "time": "2026-11-16T02:40:00.000Z", "edits": 4, "reads": 1,
            "sessions": [
                session(TWO, "codex", "Rename the login",
                    json!({"acts": ["moved"], "edits": 1, "reads": 0, "time": "2026-11-16T02:40:00.000Z"})),
                session(ONE, "claude", "And shorter",
                    json!({"acts": ["edited"], "edits": 3, "reads": 0, "time": "2026-11-16T02:20:00.000Z"})),
                session(THREE, "claude", "Look at it",
                    json!({"acts": [], "edits": 0, "reads": 1, "time": "2026-11-16T02:50:00.000Z"})),
            ],
        })
    );
    let touches = world
        .reader(&["files", "login.md", "--json"])
        .run()
        .success()
        .json();
    let path = world.path("work/docs/login.md");
    assert_eq!(
        touches,
        [session(
            TWO,
            "codex",
            "Rename the login",
            json!({
                "path": path, "act": "created", "time": "2026-11-16T02:40:00.000Z", "tool": "apply_patch",
                "prompt": "Rename the login", "line": 3,
            })
        )]
    );
}

/// What a subagent edits, its session edited, for the prompt of its user; it opens in the subagent's own transcript.
#[test]
fn subagents_count_for_their_session() {
    let world = World::new();
    let file = Script::of(&world)
        .ago(30)
        .user("Split the parser")
        .says("I let others do it.")
        .save(&world, ONE);
    let subagent = Script::of(&world)
        .ago(20)
        .user("Write the lexer, says the agent")
        .writes("lexer.rs", "x\n")
        .text();
    let subagent = subagent.replace("\"type\":", "\"isSidechain\":true,\"type\":");
    let subagent = world.write(
        file.with_extension("").join("subagents/agent-a1.jsonl"),
        subagent,
    );
    world.reader(&["files"]).run().success().stdout(concat!(
        "  AGE  FILE      WHO\n",
        "  20m  lexer.rs  claude:11111111 created\n"
    ));
    world
        .reader(&["files", "lexer.rs"])
        .run()
        .success()
        .stdout(concat!(
            "lexer.rs  1 edit by 1 session\n",
            "2026-11-16 02:40  created  claude subagent  Split the parser\n",
            "                  session-reader log agent-a1 --at 2\n",
        ));
    let opened = world
        .reader(&["log", "agent-a1", "--at", "2", "-C", "0"])
        .run()
        .success();
    opened.stdout("2026-11-16 02:40  assistant  [Write lexer.rs]\n");
    assert_eq!(
        world
            .reader(&["files", "lexer.rs", "--json"])
            .run()
            .success()
            .json(),
        [json!({
            "session": ONE, "handle": "11111111", "agent": "claude", "title": "Split the parser",
            "path": world.path("work/lexer.rs"), "act": "created", "time": "2026-11-16T02:40:00.000Z", "tool": "Write",
            "prompt": "Split the parser", "line": 2, "subagent": true, "transcript": subagent,
        })]
    );
}

/// A fork begins with a copy of another session: what is in there was done once.
#[test]
fn a_fork_is_no_conflict_with_its_origin() {
    let world = World::new();
    let origin = || {
        Script::of(&world)
            .ago(30)
            .user("Begin")
            .writes("a.rs", "x\n")
    };
    origin().save(&world, ONE);
    origin()
        .ago(10)
        .user("Go on in the fork")
        .says("Yes.")
        .save(&world, TWO);
    world.reader(&["files"]).run().success().stdout(concat!(
        "  AGE  FILE  WHO\n",
        "  30m  a.rs  claude:11111111 created\n"
    ));
}

#[test]
fn nothing_found_is_said_and_why() {
    let world = several();
    let says = |args: &[&str], status: i32, why: &str| {
        let done = world
            .reader(&[&["files"], args].concat())
            .run()
            .status(status)
            .stdout("");
        assert_eq!(done.err(), format!("session-reader: {why}\n"));
    };
    says(
        &["auht.rs"],
        1,
        "no session touched 'auht.rs'; did you mean src/auth.rs?",
    );
    says(
        &["AUTH.RS"],
        1,
        "no session touched 'AUTH.RS'; did you mean src/auth.rs?",
    );
    says(
        &[""],
        2,
        "which file? Give its path, its name, or a directory",
    );
    says(&["qqqq"], 1, "no session touched 'qqqq'");
    says(
        &["auth.rs", "--since", "1m"],
        1,
        "no session touched 'auth.rs' since then",
    );
    says(
        &["--since", "1m"],
        1,
        "no file was edited in this project since then",
    );
    let none = World::new();
    none.reader(&["files"])
        .run()
        .status(1)
        .stderr_has("no sessions in this project; `session-reader formats`");
    let other = Script::new(none.path("elsewhere")).ago(9).user("hi");
    other.save(&none, TWO);
    none.reader(&["files"])
        .run()
        .status(1)
        .stderr_has("no sessions in this project; 1 elsewhere: --all shows them");
    Script::of(&none).ago(9).user("hi").save(&none, ONE);
    none.reader(&["files"])
        .run()
        .status(1)
        .stderr_has("in the last 7 days; --since 30d looks further back");
}

/// The end of a directory's path is enough, from wherever it is asked.
#[test]
fn a_directory_is_found_by_the_end_of_its_path() {
    let world = World::new();
    Script::of(&world)
        .ago(9)
        .user("go")
        .writes("deep/down/a.rs", "x\n")
        .save(&world, ONE);
    for path in ["down", "deep/down", "deep"] {
        let done = world
            .reader(&["files", path])
            .dir(world.path("elsewhere"))
            .run()
            .success();
        let place = world
            .path("work")
            .join(if path == "deep" { "deep" } else { "deep/down" });
        assert!(
            done.out().starts_with(&format!(
                "~/{}  1 edit",
                place.strip_prefix(world.path("")).expect("below").display()
            )),
            "{}",
            done.out()
        );
    }
}

/// A name that several files have: the one of this project, else a choice.
#[test]
fn of_several_files_of_a_name_the_one_of_this_project_is_meant() {
    let world = World::new();
    let elsewhere = world
        .path("elsewhere/mod.rs")
        .to_str()
        .expect("UTF-8")
        .to_owned();
    let script = || {
        Script::of(&world)
            .ago(9)
            .user("go")
            .writes(&elsewhere, "x\n")
    };
    script().writes("a/mod.rs", "x\n").save(&world, ONE);
    let one = world.reader(&["files", "mod.rs"]).run().success();
    assert!(
        one.out().starts_with("a/mod.rs  1 edit by 1 session\n"),
        "{}",
        one.out()
    );
    script()
        .writes("a/mod.rs", "x\n")
        .writes("b/mod.rs", "x\n")
        .save(&world, ONE);
    let several = world
        .reader(&["files", "mod.rs"])
        .run()
        .status(2)
        .stdout("");
    several.stderr(
        "session-reader: 'mod.rs' fits 2 files; name one of them:\n  a/mod.rs\n  b/mod.rs\n",
    );
    world.reader(&["files", "b/mod.rs"]).run().success();
    world.reader(&["files", "elsewhere/mod.rs"]).run().success();
    // What is to be typed is a word for a shell.
    script()
        .writes("my notes/a.md", "x\n")
        .writes("b/a.md", "x\n")
        .save(&world, ONE);
    let blank = world.reader(&["files", "a.md"]).run().status(2).stdout("");
    blank.stderr(
        "session-reader: 'a.md' fits 2 files; name one of them:\n  b/a.md\n  'my notes/a.md'\n",
    );
}

/// Names that JSON may escape are found as well.
#[test]
fn names_that_json_escapes_are_found() {
    for name in ["größe.md", "日本.txt", "two words.txt", "a\"b.txt", "a\\b"] {
        let world = World::new();
        let text = Script::of(&world)
            .ago(9)
            .user("go")
            .writes(name, "x\n")
            .text();
        let escape = |char: char| match char {
            char if char.is_ascii() => char.to_string(),
            char => char
                .encode_utf16(&mut [0; 2])
                .iter()
                .map(|unit| format!("\\u{unit:04x}"))
                .collect(),
        };
        world.claude(ONE, &text.chars().map(escape).collect::<String>());
        let shown = world
            .reader(&["files", name, "--json"])
            .run()
            .success()
            .json();
        assert_eq!(
            shown[0]["path"],
            json!(world.path("work").join(name)),
            "{name}"
        );
    }
}

/// A file that cannot be read hides no other.
#[test]
fn one_bad_transcript_hides_no_other() {
    let world = several();
    let bad = world.claude("55555555-0000-4000-8000-000000000000", "");
    std::fs::remove_file(&bad).expect("removed");
    std::os::unix::fs::symlink(&bad, &bad).expect("a link to itself");
    let shown = world.reader(&["files"]).run();
    assert_eq!(shown.out().lines().count(), 5, "{}", shown.out());
}
