//! `session-reader resume`: files, functions, patches, tests and commits, also from damaged and very long lines.

use serde_json::{Value, json};

use crate::support::resume::{
    GOALS, asked, assert_pointers, count, findings, resumed, rows_of, texts,
};
use crate::support::script::Script;
use crate::support::times::at;
use crate::support::world::{ONE, TWO, World, testdata};

/// Three functions in two files are two file codes and three function codes; a failed edit is none.
// 004-S1, 004-T5, 004-F4, 004-F5
#[test]
fn files_functions_and_tests_have_a_code_each() {
    let world = World::new();
    let script = Script::of(&world)
        .user("Write the parser")
        .does("Edit", json!({"file_path": "/p/parse.py", "old_string": "", "new_string": "def parse():\n    pass\n\ndef parse_line():\n    pass\n"}))
        .writes("/p/emit.py", "class Emitter:\n    pass\n")
        .calls("Edit", json!({"file_path": "/p/never.py", "old_string": "a", "new_string": "def never(): pass"}))
        .result(true, "String to replace not found")
        .does("Edit", json!({"file_path": "/p/parse.py", "old_string": "a", "new_string": "b"}))
        .runs("pytest tests/", false)
        .runs("pytest tests/", false);
    let codes = [
        "impl:parse.py",
        "impl:emit.py",
        "impl:parse",
        "impl:parse_line",
        "impl:Emitter",
        "test:pytest-tests/",
    ];
    assert_eq!(script.codes(), codes);
}

/// Equal names in two directories are two files; each is as short as it can be told from the other.
// 004-D2
#[test]
fn equal_base_names_are_told_apart() {
    let files = ["/p/a/mod.rs", "/p/b/mod.rs", "/p/c/lib.rs"];
    let script = files
        .iter()
        .fold(Script::of(&World::new()).user("go"), |script, path| {
            script.writes(path, "x")
        });
    assert_eq!(
        script.codes(),
        ["impl:a/mod.rs", "impl:b/mod.rs", "impl:lib.rs"]
    );
}

/// Only a test is a test.
// 004-D5
#[test]
fn tests_are_told_by_the_program_that_runs() {
    let world = World::new();
    let run =
        |command: &str, failed: bool| Script::of(&world).user("go").runs(command, failed).codes();
    for command in [
        "git checkout latest",
        "cat contest.txt",
        "ls tests",
        "echo cargo test",
        "grep -r test .",
    ] {
        assert_eq!(run(command, false), [""; 0], "{command}");
    }
    for command in [
        "cargo test",
        "npm test",
        "pytest",
        "go test ./...",
        "npx vitest run",
    ] {
        assert_eq!(count(&run(command, false), "test:"), 1, "{command}");
        assert_eq!(
            run(command, true)
                .iter()
                .map(|code| &code[..14])
                .collect::<Vec<_>>(),
            ["block:failing:"],
            "{command}"
        );
    }
}

/// A broken line costs that line and is said; a last line that is not finished is not broken; a corrupt file hides no other.
// 002-09, 004-S7
#[test]
fn broken_lines_are_skipped_and_said() {
    let world = World::new();
    let script = Script::of(&world)
        .user(GOALS[0])
        .writes("/p/a.rs", "x")
        .says("Done.");
    let lines: Vec<&String> = script.lines.iter().collect();
    let broken = format!(
        "{}\n{{\"type\":\"user\",\"mess\n\0\0\0\n{}\n{}\n{}\n{{\"type\":\"us",
        lines[0], lines[1], lines[2], lines[3]
    );
    let path = world.claude(ONE, &broken);
    for form in [&["resume"][..], &["resume", "--codes"]] {
        let done = world.reader(form).run().status(0);
        let said = format!(
            "session-reader: 1 of its lines could not be read: session-reader formats check {}\n",
            path.display()
        );
        assert_eq!(done.err(), said);
    }
    let all = resumed(&world, &[]);
    assert_eq!(
        (
            &all["files_modified"][0]["line"],
            &all["current_work"]["intent"]["text"]
        ),
        (&json!(4), &json!(GOALS[0]))
    );
    // Nothing of it can be read.
    world.write(path.with_file_name(format!("{TWO}.jsonl")), [0xff; 5000]);
    assert_eq!(asked(&world.reader(&["resume"]).run().status(0)), GOALS[0]);
    let empty = world.write("empty.jsonl", "");
    let done = world
        .reader(&["resume", empty.to_str().expect("UTF-8")])
        .run();
    assert!(
        done.out().is_empty() && !done.err().is_empty(),
        "{}",
        done.err()
    );
}

/// A call in a line of 5 MB, its keys in the order in which the client writes them.
fn long_call(minute: usize) -> String {
    let content = Value::from(format!("fn big() {{}}\n{}", "// y\n".repeat(1 << 20)));
    format!(
        r#"{{"type":"assistant","uuid":"b","timestamp":"{}","message":{{"id":"b","role":"assistant","content":[{{"type":"tool_use","id":"b","name":"Write","input":{{"file_path":"/p/big.rs","content":{content}}}}}]}}}}"#,
        at(minute)
    )
}

/// Lines of 5 MB, and a last line without its end.
#[test]
fn long_and_unfinished_lines_are_read() {
    let world = World::new();
    let mut script = Script::of(&world)
        .user(GOALS[0])
        .calls("Bash", json!({"command": "cargo test"}))
        .result(true, &"x".repeat(5 << 20));
    script.lines.push(long_call(4));
    let done = json!([{"type": "tool_result", "tool_use_id": "b", "content": "ok"}]);
    let script = script
        .line("user", json!({"role": "user", "content": done}))
        .says("Shall I go on?");
    let text = script.text();
    let path = world.claude(ONE, text.trim_end());
    let all = resumed(&world, &[]);
    assert_eq!(
        findings(&all)["blockers"],
        json!([["failing", "cargo test"]])
    );
    assert_eq!(
        json!([
            all["files_modified"][0]["path"],
            all["files_modified"][0]["line"]
        ]),
        json!(["/p/big.rs", 4])
    );
    std::fs::write(&path, &text[..text.len() - 20]).expect("written");
    let all = resumed(&world, &[]);
    assert_eq!(
        json!([all["ending"], all["files_modified"][0]["line"]]),
        json!(["unfinished", 4])
    );
}

/// A file that is written anew in a line of several megabytes is created, and it is not a change of nothing.
#[test]
fn a_file_written_in_a_very_long_line_is_new() {
    let world = World::new();
    let mut script = Script::of(&world).user(GOALS[0]);
    script.lines.push(long_call(1));
    let done = json!([{"type": "tool_result", "tool_use_id": "b", "content": "ok"}]);
    let all = script
        .line("user", json!({"role": "user", "content": done}))
        .json();
    assert_eq!(
        json!([
            all["files_modified"][0]["action"],
            all["functions"][0]["name"]
        ]),
        json!(["create", "big"])
    );
}

/// A patch over several files changes each of them in its own way; one that is new stays new when it is read.
#[test]
fn a_patch_over_several_files_changes_each_in_its_way() {
    let world = World::new();
    Script::codex(&world, ONE)
        .user("Split the module in two")
        .patches("*** Add File: a.py\n+def one():\n+    pass\n*** Update File: b.py\n@@\n-x = 1\n+x = 2\n")
        .runs("sed -n 1,9p a.py", false)
        .save(&world, ONE);
    let all = resumed(&world, &["last"]);
    let files: Vec<_> = all["files_modified"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|file| json!([file["path"], file["action"], file["summary"]]))
        .collect();
    assert_eq!(
        json!(files),
        json!([
            ["a.py", "create", "new, 2 lines"],
            ["b.py", "edit", "+1 -1"]
        ])
    );
    let functions = all["functions"].as_array().expect("a list");
    assert_eq!(
        functions
            .iter()
            .map(|one| json!([one["name"], one["path"]]))
            .collect::<Vec<_>>(),
        [json!(["one", "a.py"])]
    );
}

/// A patch or an edit that only adds lines to a file does not create it, nor does writing a file that was read before.
#[test]
fn additions_do_not_create_files() {
    let world = World::new();
    Script::codex(&world, ONE)
        .user("Add the second value")
        .patches("*** Update File: b.py\n@@\n x = 1\n+y = 2\n")
        .save(&world, ONE);
    let action = |all: &Value| all["files_modified"][0]["action"].clone();
    let overwritten = Script::of(&world)
        .user("Rewrite the whole guide")
        .does("Read", json!({"file_path": "/p/guide.md"}))
        .calls(
            "Write",
            json!({"file_path": "/p/guide.md", "content": "new"}),
        )
        .result(false, "The file /p/guide.md has been updated successfully.")
        .json();
    assert_eq!(
        [action(&resumed(&world, &["last"])), action(&overwritten)],
        ["edit", "edit"]
    );
}

/// The last twenty files are those that were changed last.
// 001-06
#[test]
fn the_last_twenty_files_are_told() {
    let script = (0..21).fold(Script::of(&World::new()).user("go"), |script, at| {
        script.writes(&format!("/p/{at}.rs"), "x")
    });
    let all = script.writes("/p/0.rs", "y").json();
    let paths: Vec<_> = all["files_modified"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|file| file["path"].clone())
        .collect();
    assert!(
        paths.len() == 20
            && paths.contains(&json!("/p/0.rs"))
            && !paths.contains(&json!("/p/1.rs")),
        "{paths:?}"
    );
}

/// What was done to a file is more than its last edit: one that was written anew stays new, one that was there is
/// rewritten, and one that is gone is deleted. An edit that failed is no change, but is said if it was not made up for.
#[test]
fn what_was_done_to_a_file_is_more_than_its_last_edit() {
    let world = World::new();
    let edit = |path: &str| json!({"file_path": path, "old_string": "a", "new_string": "b"});
    let write = |path: &str| json!({"file_path": path, "content": "a\nb\n"});
    let script = Script::of(&world)
        .user(GOALS[0])
        .does("Write", write("/p/new.rs"))
        .does("Edit", edit("/p/new.rs"))
        .calls("Write", write("/p/old.rs"))
        .result(false, "The file /p/old.rs has been updated successfully.")
        .does("Read", json!({"file_path": "/p/read.rs"}))
        .does("Write", write("/p/read.rs"))
        .does("Write", write("/p/read.rs"))
        .calls("Edit", edit("/p/lost.rs"))
        .result(true, "String to replace not found in file.")
        .calls("Edit", edit("/p/won.rs"))
        .result(true, "String to replace not found in file.")
        .does("Edit", edit("/p/won.rs"));
    let path = script.save(&world, ONE);
    let out = world.reader(&["resume"]).run().success().out().to_owned();
    let rows = "\
Files       /p/won.rs  +1 -1  01:17
            /p/read.rs  rewritten, 2 lines, the last of 2 edits  01:11
            /p/old.rs  rewritten, 2 lines  01:05
            /p/new.rs  new; +1 -1, the last of 2 edits  01:03
Failed      Edit  /p/lost.rs
";
    assert!(out.contains(rows), "{out}");
    let all = resumed(&world, &[]);
    let actions: Vec<_> = all["files_modified"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|file| &file["action"])
        .collect();
    assert_eq!(json!(actions), json!(["create", "edit", "edit", "edit"]));
    let far = Script::of(&world)
        .user(GOALS[0])
        .does("Read", json!({"file_path": "/p/far.rs"}));
    let far = (0..150)
        .fold(far, |script, _| script.runs("make", false))
        .does("Write", write("/p/far.rs"))
        .json();
    assert_eq!(far["files_modified"][0]["summary"], "rewritten, 2 lines");
    assert_pointers(
        "files",
        &std::fs::read_to_string(path).expect("there"),
        &all,
    );
}

/// A transcript from anywhere brings along what lies beside it.
#[test]
fn a_file_given_by_path_brings_what_lies_beside_it() {
    let world = World::new();
    let gemini = testdata(
        "gemini/tools-resume@0.61.0/.gemini/tmp/proj/chats/session-2026-11-16T02-40-53efae45.jsonl",
    );
    let gemini = resumed(&world, &[gemini.to_str().expect("UTF-8")]);
    assert_eq!(gemini["cwd"], "/home/dev/src/proj");
    let copilot = testdata("copilot/tools-resume@1.0.102/.copilot/session-state");
    let mut named = std::fs::read_dir(copilot)
        .expect("a directory")
        .map(|entry| entry.expect("one").path());
    let named = named
        .find(|dir| dir.to_string_lossy().contains("017d6175"))
        .expect("the session");
    assert_eq!(
        resumed(
            &world,
            &[named.join("events.jsonl").to_str().expect("UTF-8")]
        )["title"],
        "Second one"
    );
}

/// Files that come and go: one that is deleted is said so, and is nothing that was made.
#[test]
fn files_that_are_deleted_are_said_so() {
    let world = World::new();
    Script::codex(&world, ONE)
        .user("Tidy up the modules")
        .patches("*** Add File: new.py\n+def one():\n+    pass\n")
        .patches("*** Delete File: new.py\n")
        .patches("*** Delete File: old.py\n")
        .patches("*** Add File: kept.py\n+x = 1\n")
        .save(&world, ONE);
    let rows = "\
Files       kept.py  new, 1 line  01:05
            old.py  deleted  01:04
            new.py  deleted, the last of 2 edits  01:03
";
    let text = world.reader(&["resume"]).run().success().out().to_owned();
    assert!(text.contains(rows), "{text}");
    let all = resumed(&world, &[]);
    assert_eq!(
        rows_of(&all, "files_modified", &["path", "action"]),
        json!([
            ["new.py", "delete"],
            ["old.py", "delete"],
            ["kept.py", "create"]
        ])
    );
    let codes = world
        .reader(&["resume", "--codes"])
        .run()
        .success()
        .out()
        .to_owned();
    assert_eq!(
        codes
            .lines()
            .filter(|code| code.ends_with(".py"))
            .collect::<Vec<_>>(),
        ["impl:kept.py"]
    );
}

/// What clients say where a file was there before.
#[test]
fn files_that_were_there_before_are_not_new() {
    let world = World::new();
    for (result, summary) in [
        (
            "The file /p/a has been updated successfully.",
            "rewritten, 1 line",
        ),
        ("Successfully overwrote file: /p/a", "rewritten, 1 line"),
        ("/p/a was overwritten", "rewritten, 1 line"),
        ("File created successfully at: /p/a", "new, 1 line"),
    ] {
        let write = json!({"file_path": "/p/a", "content": "x\n"});
        let all = Script::of(&world)
            .user(GOALS[0])
            .calls("Write", write)
            .result(false, result)
            .json();
        assert_eq!(all["files_modified"][0]["summary"], summary, "{result}");
    }
    // A function that is edited twice is one.
    let edit = |body: &str| json!({"file_path": "/p/a.py", "old_string": "x", "new_string": format!("def total():\n    {body}\n")});
    let all = Script::of(&world)
        .user(GOALS[0])
        .does("Edit", edit("one"))
        .does("Edit", edit("two"))
        .json();
    assert_eq!(
        rows_of(&all, "functions", &["name", "line"]),
        json!([["total", 2]])
    );
}

/// What was read and what was edited: each file once, by the more of the two; not what failed; and also what was edited
/// longer ago than the history goes.
#[test]
fn a_file_is_touched_once_by_the_more_of_read_and_edit() {
    let world = World::new();
    let file = |path: &str| json!({"file_path": path});
    let script = Script::of(&world).user(GOALS[0]).writes("/p/old.rs", "x");
    let script = (0..110).fold(script, |script, _| script.runs("make", false));
    let all = script
        .does("Read", file("/p/read.rs"))
        .does("Read", file("/p/both.rs"))
        .writes("/p/both.rs", "x")
        .writes("/p/later.rs", "x")
        .does("Read", file("/p/later.rs"))
        .calls("Read", file("/p/gone.rs"))
        .result(true, "File does not exist.")
        .json();
    assert_eq!(
        rows_of(&all, "files_touched", &["path", "act", "line"]),
        json!([
            ["/p/read.rs", "read", 224],
            ["/p/both.rs", "edit", 228],
            ["/p/later.rs", "edit", 230],
            ["/p/old.rs", "edit", 2]
        ])
    );
    let failed: Vec<_> = all["tool_history"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|call| &call["failed"])
        .collect();
    assert_eq!(failed[failed.len() - 2..], [&json!(false), &json!(true)]);
}

/// One prompt and no Edit, but a commit or a task: that is work, and the next session is told of it.
#[test]
fn a_commit_or_a_task_without_edits_is_work() {
    let world = World::new();
    let release = || Script::of(&world).user("Please release version 1.4 of the parser today");
    let passing = "33333333-0000-4000-8000-000000000003";
    release().says("It is not ready.").save(&world, passing);
    let last = || {
        resumed(&world, &[])["session_id"]
            .as_str()
            .map(str::to_owned)
    };
    for work in [
        release().runs(
            "sed -i s/1.3/1.4/ Cargo.toml && git commit -am 'Version 1.4' && git push",
            false,
        ),
        release().does(
            "TodoWrite",
            json!({"todos": [{"content": "Publish it", "status": "pending"}]}),
        ),
    ] {
        work.save(&world, ONE);
        assert_eq!(last().as_deref(), Some(ONE));
    }
    assert_eq!(texts(&resumed(&world, &[passing])["commits"]), [""; 0]);
}

/// Every commit of a command counts, also if something else is done in it.
#[test]
fn every_commit_of_a_command_counts() {
    let world = World::new();
    let both = "cargo test && git commit -m \"First thing\" a.rs && git commit -m \"Second thing\" b.rs && git push";
    let all = Script::of(&world).user(GOALS[0]).runs(both, false).json();
    assert_eq!(texts(&all["commits"]), ["First thing", "Second thing"]);
}

/// A file is one file, whether it is written from the root or from where the session is.
#[test]
fn one_file_in_two_spellings_is_one() {
    let world = World::new();
    let edit =
        |path: &str, new: &str| json!({"file_path": path, "old_string": "a", "new_string": new});
    let whole = world.path("work/src/a.rs");
    let script = Script::of(&world)
        .user(GOALS[0])
        .does("Edit", edit("src/a.rs", "fn one() {}"))
        .does(
            "Edit",
            edit(whole.to_str().expect("UTF-8"), "fn one() {}\nfn two() {}"),
        )
        .does("Edit", edit("src/../src/a.rs", "b"));
    script.save(&world, ONE);
    let all = resumed(&world, &[]);
    let files: Vec<_> = all["files_modified"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    assert_eq!(
        (files.len(), &files[0]["path"], &files[0]["summary"]),
        (1, &json!("src/a.rs"), &json!("+1 -1, the last of 3 edits"))
    );
    // For the others, too.
    let told = world
        .context(&["explain"])
        .env("SESSION_MONITOR_NOW", "2026-11-16T01:10:00Z")
        .run()
        .success();
    assert!(
        told.out().contains("-> updated src/a.rs\n"),
        "{}",
        told.out()
    );
    let functions: Vec<_> = all["functions"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|one| &one["name"])
        .collect();
    assert_eq!(json!(functions), json!(["one", "two"]));
}

/// A patch of Codex keeps its files and functions however long its line is: over 256 KB they were lost.
#[test]
fn a_large_patch_of_codex_keeps_its_files() {
    let world = World::new();
    let line = |kind: &str, payload: Value| {
        json!({"timestamp": "2026-11-16T01:00:00Z", "type": kind, "payload": payload}).to_string()
            + "\n"
    };
    for size in [10, 20_000, 60_000] {
        let body: String = (0..size).map(|_| "+    x = 1\n").collect();
        let patch = format!(
            "*** Begin Patch\n*** Add File: gen.py\n+def generated():\n{body}*** End Patch\n"
        );
        let lines = line(
            "session_meta",
            json!({"id": ONE, "cwd": world.path("work")}),
        ) + &line(
            "response_item",
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": GOALS[0]}]}),
        ) + &line(
            "response_item",
            json!({"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": patch}),
        ) + &line(
            "response_item",
            json!({"type": "custom_tool_call_output", "call_id": "c", "output": "Exit code: 0"}),
        );
        let path = world.write("patch.jsonl", lines);
        let all = resumed(&world, &[path.to_str().expect("UTF-8")]);
        let file = &all["files_modified"][0];
        let summary = format!("new, {} lines", size + 1);
        assert_eq!(
            json!([file["path"], file["action"], file["summary"]]),
            json!(["gen.py", "create", summary]),
            "{size}"
        );
        assert_eq!(all["functions"][0]["name"], "generated", "{size}");
    }
}

/// A new file is new also if there is nothing in it.
#[test]
fn an_empty_file_is_new() {
    let world = World::new();
    let all = Script::of(&world)
        .user(GOALS[0])
        .does(
            "Write",
            json!({"file_path": "/p/__init__.py", "content": ""}),
        )
        .json();
    let file = &all["files_modified"][0];
    assert_eq!(
        json!([file["action"], file["summary"]]),
        json!(["create", "new, 0 lines"])
    );
}

/// A commit counts if git says that it was made, whatever came of the push; and does not if there was nothing to commit.
#[test]
fn a_commit_counts_if_git_says_that_it_was_made() {
    let world = World::new();
    let run = |command: &str, failed: bool, told: &str| {
        let script = Script::of(&world)
            .user(GOALS[0])
            .calls("Bash", json!({"command": command}));
        texts(&script.result(failed, told).json()["commits"]).len()
    };
    let both = "git commit -am 'Mend the parser' && git push";
    assert_eq!(
        run(
            both,
            true,
            "[main abc1234] Mend the parser\n 1 file changed\nerror: failed to push"
        ),
        1
    );
    assert_eq!(run(both, true, "error: gpg failed to sign the data"), 0);
    assert_eq!(
        run(
            "git commit -m nothing || true",
            false,
            "nothing to commit, working tree clean"
        ),
        0
    );
}
