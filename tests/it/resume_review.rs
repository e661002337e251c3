//! What a strict reader found wrong with where a session stopped, each with its story.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use session_monitor::budget::Deadline;
use session_monitor::transcript::Transcript;

use crate::resume::{GOALS, Script, kinds, resumed, texts};
use crate::world::{World, prompt};

const ONE: &str = "11111111-0000-4000-8000-000000000001";

fn next(all: &Value) -> Vec<&str> {
    texts(&all["open_tasks"])
}

/// "Anything else you want to tackle?" was told as an open question.
#[test]
fn a_courtesy_is_no_question() {
    let world = World::new();
    for courtesy in ["Anything else you want to tackle?", "What would you like to do next?", "Is there anything else?"]
    {
        let all = Script::of(&world).user(GOALS[0]).says(&format!("The login page is fast now. {courtesy}")).json();
        assert_eq!((kinds(&all), &all["ending"]), (vec![], &json!("answered")), "{courtesy}");
    }
}

/// A session that had ended 16 hours before "stopped 2m ago": the client had put in "No response requested." and written down
/// an `/export`.
#[test]
fn nobody_said_anything_since() {
    let world = World::new();
    let late = |kind: &str, model: Value, text: &str| {
        let message = json!({"role": kind, "model": model, "content": [{"type": "text", "text": text}]});
        json!({"type": kind, "uuid": text, "timestamp": "2026-11-16T02:58:00Z", "cwd": world.path("work"), "message": message})
    };
    Script::of(&world)
        .user(GOALS[0])
        .does("Write", json!({"file_path": "a.rs", "content": "x"}))
        .says("Done.")
        .raw(late("assistant", json!("<synthetic>"), "No response requested."))
        .raw(late("user", Value::Null, "<command-name>/export</command-name>\n<command-args></command-args>"))
        .raw(late("user", Value::Null, "<local-command-stdout>Exported to a.txt</local-command-stdout>"))
        .save(&world, ONE);
    let listed = world.reader(&["list", "--json"]).run().success().json();
    let ended = json!("2026-11-16T01:03:00.000Z");
    assert_eq!((&resumed(&world, &[])["last_activity_at"], &listed[0]["updated"]), (&ended, &ended));
    let told = world.context(&["explain"]).run().success();
    assert!(
        told.out().contains("    - the last session, \"Fix the slow login page\", stopped 1h ago\n"),
        "{}",
        told.out()
    );
}

/// "Add tests for the logout page" was taken for done, because those for the login page were.
#[test]
fn open_tasks_that_sound_like_done_ones() {
    let world = World::new();
    let todo = |text: &str, state: &str| json!({"content": text, "status": state});
    let todos = json!({"todos": [
        todo("Add tests for login page", "completed"),
        todo("Add tests for logout page", "pending"),
        todo("Add tests for signup page", "pending"),
    ]});
    let script = Script::of(&world).user(GOALS[0]).does("TodoWrite", todos);
    assert_eq!(next(&script.json()), ["Add tests for logout page", "Add tests for signup page"]);
    // What was only said is done if a task says so.
    let said = script.says("**Next steps:**\n- Add the tests for the login page\n- Publish the new version today");
    assert_eq!(
        next(&said.json()),
        ["Add tests for logout page", "Add tests for signup page", "Publish the new version today"]
    );
}

/// What failed is over when something of its kind passed or a commit was made: `npm test` was told as failing when all of
/// it was mended, committed and released. What was refused did not run, and the last failure comes first.
#[test]
fn what_failed_last() {
    let world = World::new();
    let script = || Script::of(&world).user(GOALS[0]);
    let failing = |script: Script| {
        let all = script.json();
        kinds(&all).iter().map(|(_, text)| (*text).to_owned()).collect::<Vec<_>>().join("|")
    };
    let released = script().runs("npm test", true).runs("git commit -am 'Mend it'", false).runs("npm publish", false);
    assert_eq!(failing(released), "");
    assert_eq!(failing(script().runs("npm test", true).runs("npx vitest run", false)), "");
    assert_eq!(failing(script().runs("cargo test foo", true).runs("cargo testament", false)), "cargo test foo");
    assert_eq!(failing(script().runs("cargo test", true).runs("git commit -am x", true)), "cargo test");
    let many =
        (0..30).fold(script().runs("cargo build", true), |script, at| script.runs(&format!("pytest t{at}"), true));
    assert_eq!(failing(many), "pytest t29|cargo build");
    let refused = script()
        .calls("Bash", json!({"command": "cargo test"}))
        .result(true, "The user doesn't want to proceed with this tool use. The tool use was rejected");
    assert_eq!(kinds(&refused.json()), [("denied", "Bash cargo test")]);
    assert_eq!(refused.json()["commands"], json!([]));
}

/// One prompt and no Edit, but a commit or a task: that is work, and the next session is told of it.
#[test]
fn work_without_edits() {
    let world = World::new();
    let release = || Script::of(&world).user("Please release version 1.4 of the parser today");
    let passing = "33333333-0000-4000-8000-000000000003";
    release().says("It is not ready.").save(&world, passing);
    let last = || resumed(&world, &[])["session_id"].as_str().map(str::to_owned);
    for work in [
        release().runs("sed -i s/1.3/1.4/ Cargo.toml && git commit -am 'Version 1.4' && git push", false),
        release().does("TodoWrite", json!({"todos": [{"content": "Publish it", "status": "pending"}]})),
    ] {
        work.save(&world, ONE);
        assert_eq!(last().as_deref(), Some(ONE));
    }
    assert_eq!(texts(&resumed(&world, &[passing])["commits"]), [""; 0]);
}

/// Every commit of a command counts, also if something else is done in it.
#[test]
fn several_commits_in_one_command() {
    let world = World::new();
    let both = "cargo test && git commit -m \"First thing\" a.rs && git commit -m \"Second thing\" b.rs && git push";
    let all = Script::of(&world).user(GOALS[0]).runs(both, false).json();
    assert_eq!(texts(&all["commits"]), ["First thing", "Second thing"]);
}

/// A file is one file, whether it is written from the root or from where the session is.
#[test]
fn one_file_in_two_spellings() {
    let world = World::new();
    let edit = |path: &str, new: &str| json!({"file_path": path, "old_string": "a", "new_string": new});
    let whole = world.path("work/src/a.rs");
    let script = Script::of(&world)
        .user(GOALS[0])
        .does("Edit", edit("src/a.rs", "fn one() {}"))
        .does("Edit", edit(whole.to_str().expect("UTF-8"), "fn one() {}\nfn two() {}"))
        .does("Edit", edit("src/../src/a.rs", "b"));
    script.save(&world, ONE);
    let all = resumed(&world, &[]);
    let files: Vec<_> = all["files_modified"].as_array().into_iter().flatten().collect();
    assert_eq!(
        (files.len(), &files[0]["path"], &files[0]["summary"]),
        (1, &json!("src/a.rs"), &json!("+1 -1, the last of 3 edits"))
    );
    // For the others, too.
    let told = world.context(&["explain"]).env("SESSION_MONITOR_NOW", "2026-11-16T01:10:00Z").run().success();
    assert!(told.out().contains("-> updated src/a.rs\n"), "{}", told.out());
    let functions: Vec<_> = all["functions"].as_array().into_iter().flatten().map(|one| &one["name"]).collect();
    assert_eq!(json!(functions), json!(["one", "two"]));
}

/// A message that is written again with more in it counts as it was written last.
#[test]
fn an_answer_that_is_written_again() {
    let world = World::new();
    let line = |id: &str, kind: &str, text: &str| {
        json!({"id": id, "timestamp": "2026-11-16T01:00:00.000Z", "type": kind, "content": text}).to_string() + "\n"
    };
    let head =
        json!({"sessionId": ONE, "projectHash": "x", "startTime": "2026-11-16T01:00:00.000Z"}).to_string() + "\n";
    let lines = head
        + &line("u1", "user", "Fix the slow login page")
        + &line("g1", "gemini", "Working on")
        + &line("g1", "gemini", "Working on it. Shall I commit the whole handler?");
    let path = world.write("session.jsonl", lines);
    let all = resumed(&world, &[path.to_str().expect("UTF-8")]);
    assert_eq!(all["summary"]["text"], "Working on it. Shall I commit the whole handler?");
    assert_eq!((&all["ending"], &all["messages"]), (&json!("answered"), &json!(2)));
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
    assert!(resume.out().contains(&format!("\nGo on       codex resume {id}\n")), "{}", resume.out());
    for command in ["mute", "unmute", "done"] {
        let done = world.context(&[command, "019aaaaa"]).run().success();
        assert!(!done.out().contains(['\u{1b}', '\u{7}']), "{}", done.out());
    }
}

/// Without secrets is not with escape sequences.
#[test]
fn redacted_json_is_still_escaped() {
    let world = World::new();
    Script::of(&world).user("Fix the \u{9b}31m slow login page, password=hunter22").save(&world, ONE);
    let done = world.reader(&["resume", "--json"]).env("SESSION_READER_REDACT", "true").run().success();
    assert!(!done.out().contains('\u{9b}') && done.out().contains("\\u009b"), "{}", done.out());
    assert!(done.out().contains("[redacted]") && !done.out().contains("hunter22"), "{}", done.out());
}

/// A sentence on the page that begins with a word of ours is never taken for a mark, nor off the page.
#[test]
fn sentences_are_no_marks() {
    let world = World::new();
    let page = world.context(&["notes", "--path"]).run().success().out().trim_end().to_owned();
    let text = "done with the migration of users\ntag everyone: who was there\n";
    std::fs::write(&page, text).expect("written");
    let said = world.context(&["done", "last", "--undo"]).run().status(1).stdout("");
    assert!(said.err().contains("'with the migration of users' is no id of a session; skipped"), "{}", said.err());
    assert!(said.err().contains("'who was there' is no id of a session; skipped"), "{}", said.err());
    assert_eq!(std::fs::read_to_string(&page).expect("there"), text);
}

/// What a session did in another project, its title and its clock are nobody's business here.
#[test]
fn a_visit_long_ago() {
    let world = World::new();
    std::fs::create_dir_all(world.path("other")).expect("made");
    let there = |time: &str, text: &str| prompt(&world.path("other"), time, text);
    let here = prompt(&world.path("work"), "2026-11-10T01:00:00Z", "Repair the search index of the shop");
    let edit = json!({"type": "assistant", "timestamp": "2026-11-10T01:01:00Z", "cwd": world.path("work"), "message": {"role": "assistant", "id": "m", "content": [{"type": "tool_use", "id": "t", "name": "Write", "input": {"file_path": "a.rs", "content": "x"}}]}});
    let result = json!({"type": "user", "timestamp": "2026-11-10T01:02:00Z", "cwd": world.path("work"), "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]}});
    let title = json!({"type": "custom-title", "customTitle": "Other project title", "sessionId": ONE});
    let lines = there("2026-11-09T01:00:00Z", "begin elsewhere")
        + &here
        + &format!("{edit}\n{result}\n")
        + &there("2026-11-16T02:58:00Z", "and go on elsewhere")
        + &format!("{title}\n");
    world.write(format!(".claude/projects/-other/{ONE}.jsonl"), lines);
    let told = world.context(&["explain"]).run().success().out().to_owned();
    assert!(told.contains("stopped 6d ago") && !told.contains("Other project title"), "{told}");
}

/// Thousands of tasks and failures are told in no time: comparing each with each once took a quarter of a minute.
#[test]
fn thousands_of_tasks() {
    let world = World::new();
    let todo = |at: usize| {
        let state = if at.is_multiple_of(2) { "completed" } else { "pending" };
        json!({"content": format!("Rework the handler number {at} of the service"), "status": state})
    };
    let todos: Vec<Value> = (0..4000).map(todo).collect();
    let script = Script::of(&world).user(GOALS[0]).does("TodoWrite", json!({"todos": todos}));
    let steps: String = (0..2000).map(|at| format!("- Check the answer number {at} of the service\n")).collect();
    script.says(&format!("## Next steps\n{steps}")).save(&world, ONE);
    let start = Instant::now();
    resumed(&world, &[]);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

/// A patch of Codex keeps its files and functions however long its line is: over 256 KB they were lost.
#[test]
fn a_large_patch_of_codex() {
    let world = World::new();
    let line = |kind: &str, payload: Value| {
        json!({"timestamp": "2026-11-16T01:00:00Z", "type": kind, "payload": payload}).to_string() + "\n"
    };
    for size in [10, 20_000, 60_000] {
        let body: String = (0..size).map(|_| "+    x = 1\n").collect();
        let patch = format!("*** Begin Patch\n*** Add File: gen.py\n+def generated():\n{body}*** End Patch\n");
        let lines = line("session_meta", json!({"id": ONE, "cwd": world.path("work")}))
            + &line(
                "response_item",
                json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": GOALS[0]}]}),
            )
            + &line(
                "response_item",
                json!({"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": patch}),
            )
            + &line(
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

/// Two prompts that were queued and are then written once more are two prompts, in the list and here.
#[test]
fn two_queued_prompts() {
    let world = World::new();
    let queued = |text: &str| {
        let attachment = json!({"type": "queued_command", "prompt": text, "commandMode": "prompt"});
        json!({"type": "attachment", "timestamp": "2026-11-16T01:05:00Z", "cwd": world.path("work"), "attachment": attachment})
    };
    let script = Script::of(&world).user(GOALS[0]).raw(queued("and the tests")).raw(queued("and the docs"));
    script.user("and the tests").user("and the docs").user("and the docs").save(&world, ONE);
    let all = resumed(&world, &[]);
    let said = texts(&all["recent_messages"]);
    assert_eq!(said, [GOALS[0], "and the tests", "and the docs", "and the docs"]);
    let listed = world.reader(&["list", "--json"]).run().success().json();
    assert_eq!((&listed[0]["messages"], &all["messages"]), (&json!(4), &json!(4)));
}

/// Reading more than the end of a session stops when the time is over, and what was known before stays.
#[test]
fn reading_looks_at_the_clock() {
    let world = World::new();
    let script = (0..200).fold(Script::of(&world).user(GOALS[0]), |script, _| script.says("hm"));
    let path = script.save(&world, ONE);
    let (formats, _) = session_monitor::format::known(&world.path("none"));
    let format = formats.iter().find(|format| format.name == "agent-sdk").expect("a format");
    let file = Transcript::open(&path, format.detailed()).expect("a file");
    let over = Deadline::after(Duration::ZERO);
    assert!(file.continuity(0, Some(&over), None).expect("read").is_none());
    let all = file.continuity(0, Some(&Deadline::after(Duration::from_secs(600))), None).expect("read");
    assert_eq!(all.expect("in time").messages, 201);
}

/// A session of Gemini whose messages stand only in a checkpoint is a session like any other.
#[test]
fn messages_that_are_only_listed() {
    let world = World::new();
    let said = |kind: &str, text: &str| json!({"id": kind, "timestamp": "2026-11-16T01:00:00.000Z", "type": kind, "content": text});
    let head = json!({"sessionId": ONE, "projectHash": "x", "kind": "main"});
    let listed = json!({"$set": {"messages": [said("user", GOALS[0]), said("gemini", "Done.")]}});
    let path = world.write("session.jsonl", format!("{head}\n{listed}\n"));
    let all = resumed(&world, &[path.to_str().expect("UTF-8")]);
    assert_eq!(
        json!([all["messages"], all["current_work"]["intent"]["text"], all["ending"]]),
        json!([2, GOALS[0], "answered"])
    );
}

/// A new file is new also if there is nothing in it.
#[test]
fn an_empty_file() {
    let world = World::new();
    let all =
        Script::of(&world).user(GOALS[0]).does("Write", json!({"file_path": "/p/__init__.py", "content": ""})).json();
    let file = &all["files_modified"][0];
    assert_eq!(json!([file["action"], file["summary"]]), json!(["create", "new, 0 lines"]));
}

/// A subagent of an agent that says so at the head of the file is one, too: there is nothing to take up.
#[test]
fn a_subagent_by_its_head() {
    let world = World::new();
    let meta = json!({"timestamp": "2026-11-16T01:00:00Z", "type": "session_meta", "payload": {"id": ONE, "cwd": world.path("work"), "source": {"subagent": "review"}}});
    let said = json!({"timestamp": "2026-11-16T01:00:01Z", "type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": GOALS[0]}]}});
    let path = world.write("agent.jsonl", format!("{meta}\n{said}\n"));
    let all = resumed(&world, &[path.to_str().expect("UTF-8")]);
    assert_eq!(json!([all["subagent"], all["resume"]]), json!([true, null]));
}

/// Who asks waits for the user, also if the question is a call: it is told from the start, and no work is done.
#[test]
fn a_question_that_is_a_call() {
    let world = World::new();
    let question = json!({"questions": [{"question": "Which file first: src/a.rs or src/b.rs?", "options": []}]});
    let path = Script::of(&world).user(GOALS[0]).calls("AskUserQuestion", question).save(&world, ONE);
    for now in ["2026-11-16T01:02:00Z", "2026-11-16T01:50:00Z"] {
        let done =
            world.reader(&["resume", path.to_str().expect("UTF-8"), "--json"]).env("SESSION_MONITOR_NOW", now).run();
        let all = &done.success().json()[0];
        assert_eq!(kinds(all), [("question", "Which file first: src/a.rs or src/b.rs?")], "{now}");
        assert_eq!(json!([all["ending"], all["current_work"]["running"]]), json!(["asked", null]), "{now}");
        let listed = world.reader(&["list", "--json"]).env("SESSION_MONITOR_NOW", now).run().success().json();
        assert_eq!((&listed[0]["state"], &all["state"]), (&json!("waiting"), &json!("waiting")), "{now}");
    }
}

/// A commit counts if git says that it was made, whatever came of the push; and does not if there was nothing to commit.
#[test]
fn commits_as_git_tells_of_them() {
    let world = World::new();
    let run = |command: &str, failed: bool, told: &str| {
        let script = Script::of(&world).user(GOALS[0]).calls("Bash", json!({"command": command}));
        texts(&script.result(failed, told).json()["commits"]).len()
    };
    let both = "git commit -am 'Mend the parser' && git push";
    assert_eq!(run(both, true, "[main abc1234] Mend the parser\n 1 file changed\nerror: failed to push"), 1);
    assert_eq!(run(both, true, "error: gpg failed to sign the data"), 0);
    assert_eq!(run("git commit -m nothing || true", false, "nothing to commit, working tree clean"), 0);
}

/// Punctuation is a part of too many titles to be a name.
#[test]
fn a_full_stop_is_no_name() {
    let world = World::new();
    Script::of(&world).user("Fix the slow login page. Now.").save(&world, ONE);
    for name in [".", "..", ":"] {
        world.reader(&["resume", name]).run().status(2).stdout("");
        world.context(&["done", name]).run().status(2).stdout("");
    }
    world.reader(&["resume", "."]).run().status(2).stderr("session-reader: .: is a directory, not a transcript\n");
}

/// What failed is not told as if it had been done.
#[test]
fn what_ran_last_and_failed() {
    let world = World::new();
    Script::of(&world).user(GOALS[0]).runs("terraform apply", true).user("again").save(&world, ONE);
    let told = world.context(&["explain"]).env("SESSION_MONITOR_NOW", "2026-11-16T01:30:00Z").run().success();
    let lines = "last asked \"Fix the slow login page\", then \"again\"\n    - more: session-reader resume 11111111\n";
    assert!(told.out().contains(lines), "{}", told.out());
}
