//! What a session's subagents edit is the session's work: in bullets, in conflicts, in the files of `resume` and of the
//! start. They are no sessions, and what they are told and say is nobody's prompt or message.

use serde_json::{Value, json};

use crate::support::claude::{asked, calls, edits, of_subagent, prompt, result, subagent, work};
use crate::support::files::written_ago;
use crate::support::hook::{block, hook, input, saved, text, told, told_after, told_to};
use crate::support::resume::resumed;
use crate::support::times::ago;
use crate::support::world::{ME, ONE, TWO, World, home, path};

const ASKED: &str = "rewrite the login of the shop";

/// The edits are told with what the session itself did, each file once. Nothing else of the subagents is.
#[test]
fn edits_count_for_the_session() {
    let world = World::new();
    let own = asked(&world, ONE, 9, ASKED);
    world.append(
        own,
        calls(8, "c1", &["Task the shop"]) + &edits(&world, 7, "c2", &["a.rs"]),
    );
    let more = edits(&world, 5, "s1", &["a.rs", "b.rs"])
        + &calls(4, "s2", &["Bash make", "Read c.rs", "!Edit d.rs"]);
    subagent(&world, ONE, "agent-1", 8, &more);
    subagent(
        &world,
        ONE,
        "workflows/wf_1/agent-2",
        8,
        &edits(&world, 3, "w1", &["e.rs"]),
    );
    // The control log of a workflow, and one that edited nothing.
    subagent(
        &world,
        ONE,
        "workflows/wf_1/journal",
        8,
        &edits(&world, 2, "j1", &["j.rs"]),
    );
    subagent(&world, ONE, "agent-3", 8, &calls(1, "r1", &["Read c.rs"]));
    let bullet = format!(
        "- 11111111 (3m ago, 3 messages): \"{ASKED}\" -> edited 3 files (a.rs, b.rs, e.rs), delegated 1 task"
    );
    assert_eq!(told(&world), block(&[bullet]));
    assert_eq!(told(&world), "");
}

/// A subagent goes on while its session waits for it: then only the edits are told, under the session's name.
#[test]
fn edits_of_subagents_are_told_while_their_session_waits() {
    let world = World::new();
    let own = asked(&world, ONE, 9, ASKED);
    let file = subagent(&world, ONE, "agent-1", 8, "");
    assert_eq!(
        told(&world),
        block(&[format!("- 11111111 (9m ago, 1 message): \"{ASKED}\"")])
    );
    world.append(
        &file,
        of_subagent(&edits(&world, 5, "s1", &["a.rs", "b.rs"])),
    );
    assert_eq!(
        told(&world),
        block(&["- 11111111 (5m ago) -> edited 2 files (a.rs, b.rs)"])
    );
    assert_eq!(told(&world), "");
    world.append(&file, of_subagent(&edits(&world, 4, "s2", &["c.rs"])));
    subagent(
        &world,
        ONE,
        "agent-2",
        8,
        &edits(&world, 2, "s3", &["c.rs"]),
    );
    assert_eq!(
        told(&world),
        block(&["- 11111111 (2m ago) -> updated c.rs"])
    );
    // What was told of it stays told, and its own words are told as ever.
    world.append(own, edits(&world, 1, "c1", &["d.rs"]));
    assert_eq!(
        told(&world),
        block(&["- 11111111 (1m ago, 1 message) -> updated d.rs"])
    );
}

/// A session is called by its title also when only its subagents did something.
#[test]
fn a_session_that_waits_is_called_by_its_title() {
    let world = World::new();
    let own = asked(&world, ONE, 9, ASKED);
    world.append(
        own,
        json!({"type": "custom-title", "customTitle": "shop"}).to_string() + "\n",
    );
    let file = subagent(&world, ONE, "agent-1", 8, "");
    assert_eq!(
        told(&world),
        block(&[format!("- \"shop\" (9m ago, 1 message): \"{ASKED}\"")])
    );
    world.append(&file, of_subagent(&edits(&world, 5, "s1", &["a.rs"])));
    assert_eq!(
        told(&world),
        block(&["- \"shop\" (5m ago) -> updated a.rs"])
    );
    world.append(&file, of_subagent(&edits(&world, 4, "s2", &["a.rs"])));
    assert_eq!(
        told(&world),
        block(&["- \"shop\" (4m ago) -> updated a.rs"])
    );
}

/// Both ways: the other session's subagent edited my file, and mine edited the other session's.
#[test]
fn edits_of_subagents_are_conflicts_both_ways() {
    let theirs = World::new();
    theirs.claude(
        ME,
        &(prompt(&theirs.path("work"), &ago(50), "mine") + &edits(&theirs, 10, "m1", &["a.rs"])),
    );
    asked(&theirs, ONE, 9, ASKED);
    subagent(
        &theirs,
        ONE,
        "agent-1",
        8,
        &edits(&theirs, 5, "s1", &["a.rs"]),
    );
    let bullet = format!("- 11111111 (5m ago, 1 message): \"{ASKED}\" -> updated a.rs");
    let line = "- ! 11111111 edited a.rs 5m ago; you edited it 10m ago";
    assert_eq!(told(&theirs), block(&[line, &bullet]));

    let mine = World::new();
    asked(&mine, ME, 50, "mine");
    // It read the one and edited the other; and it edited a file before I did.
    let done = calls(40, "s0", &[&format!("Read {}", work(&mine, "b.rs"))])
        + &edits(&mine, 10, "s1", &["a.rs", "c.rs"]);
    subagent(&mine, ME, "agent-1", 45, &done);
    mine.append(mine.transcript(ME), edits(&mine, 7, "m1", &["c.rs"]));
    let own = asked(&mine, ONE, 9, ASKED);
    mine.append(own, edits(&mine, 5, "t1", &["a.rs", "b.rs"]));
    let bullet =
        format!("- 11111111 (5m ago, 3 messages): \"{ASKED}\" -> edited 2 files (a.rs, b.rs)");
    assert_eq!(told(&mine), block(&[line, &bullet]));
    mine.append(mine.transcript(ONE), edits(&mine, 4, "t2", &["c.rs"]));
    let line = "- ! 11111111 edited c.rs 4m ago; you edited it 7m ago";
    assert_eq!(
        told(&mine),
        block(&[line, "- 11111111 (4m ago, 1 message) -> updated c.rs"])
    );
}

/// What the observer's own subagents do is no news to it; to others it is.
#[test]
fn my_own_subagents_are_news_only_to_others() {
    let world = World::new();
    asked(&world, ME, 9, ASKED);
    let file = subagent(&world, ME, "agent-1", 8, &edits(&world, 5, "s1", &["a.rs"]));
    assert_eq!(told(&world), "");
    world.append(&file, of_subagent(&edits(&world, 4, "s2", &["b.rs"])));
    assert_eq!(told(&world), "");
    let bullet =
        format!("- aaaaaaaa (4m ago, 1 message): \"{ASKED}\" -> edited 2 files (a.rs, b.rs)");
    assert_eq!(told_to(&world, TWO), block(&[bullet]));
}

/// At a first look only the last hour counts, line by line.
#[test]
fn a_first_look_takes_the_last_hour_line_by_line() {
    let world = World::new();
    asked(&world, ONE, 9, ASKED);
    let old = edits(&world, 70, "s1", &["a.rs"]);
    subagent(
        &world,
        ONE,
        "agent-1",
        90,
        &(old + &edits(&world, 50, "s2", &["b.rs"])),
    );
    let bullet = format!("- 11111111 (9m ago, 1 message): \"{ASKED}\" -> updated b.rs");
    assert_eq!(told(&world), block(&[bullet]));
}

/// All parts of what is told of a session count as seen together: not when it did not fit, nor when nobody got it.
#[test]
fn seen_together_or_not_at_all() {
    let world = World::new();
    asked(&world, ONE, 9, ASKED);
    let file = subagent(
        &world,
        ONE,
        "agent-1",
        8,
        &edits(&world, 5, "s1", &["a.rs", "b.rs"]),
    );
    let bullet =
        format!("- 11111111 (5m ago, 1 message): \"{ASKED}\" -> edited 2 files (a.rs, b.rs)");
    let small = || {
        hook(&world, &["--budget", "20"], &input(&world, ME))
            .run()
            .status(0)
            .stdout("")
    };
    small().stderr_has("nothing fits");
    small().stderr_has("nothing fits");
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .expect("/dev/full");
    hook(&world, &[], &input(&world, ME))
        .stdout_to(full)
        .run()
        .status(0)
        .stderr_has("nothing counts as told");
    assert_eq!(told(&world), block(&[bullet]));
    // The same while the session itself waits.
    world.append(&file, of_subagent(&edits(&world, 4, "s2", &["c.rs"])));
    small();
    world.append(&file, of_subagent(&edits(&world, 3, "s3", &["d.rs"])));
    small();
    assert_eq!(
        told(&world),
        block(&["- 11111111 (3m ago) -> edited 2 files (c.rs, d.rs)"])
    );
    assert_eq!(told(&world), "");
}

/// The deadline holds for them, too: what could not be read is read the next time.
#[test]
fn what_was_not_read_in_time_is_read_next_time() {
    let world = World::new();
    asked(&world, ONE, 9, ASKED);
    let file = subagent(
        &world,
        ONE,
        "agent-1",
        8,
        &edits(&world, 5, "s1", &["a.rs"]),
    );
    written_ago(&world, &file, 60);
    // One file is read however little time there is, the newest.
    let late = hook(&world, &[], &input(&world, ME))
        .env("SESSION_CONTEXT_DEADLINE", "1ns")
        .run();
    assert_eq!(
        text(&late.status(0)),
        block(&[format!("- 11111111 (9m ago, 1 message): \"{ASKED}\"")])
    );
    assert_eq!(
        told(&world),
        block(&["- 11111111 (5m ago) -> updated a.rs"])
    );
}

/// A file that was replaced is read from its start, and only what is later than the last look is news. One that is missing
/// is remembered.
#[test]
fn a_replaced_file_is_read_anew_and_a_missing_one_remembered() {
    let world = World::new();
    asked(&world, ONE, 9, ASKED);
    let file = subagent(
        &world,
        ONE,
        "agent-1",
        8,
        &edits(&world, 5, "s1", &["a.rs"]),
    );
    told(&world);
    let again = edits(&world, 5, "s1", &["a.rs"]) + &edits(&world, -1, "s2", &["b.rs"]);
    subagent(&world, ONE, "agent-1", 7, &again);
    assert_eq!(
        told_after(&world, 2),
        block(&["- 11111111 (1m ago) -> updated b.rs"])
    );
    let known = || saved(&world, ME)[ME].as_object().expect("an object").len();
    let before = known();
    std::fs::remove_file(&file).expect("removed");
    assert_eq!((told_after(&world, 3), known()), (String::new(), before));
}

/// In a named home the edits are told under the name, and remembered by the file.
#[test]
fn in_a_named_home_edits_are_told_under_the_name() {
    let world = World::new();
    home(&world, ".volute", &[("main", ME), ("discord", ONE)]);
    asked(&world, ONE, 9, ASKED);
    let file = subagent(
        &world,
        ONE,
        "agent-1",
        8,
        &edits(&world, 5, "s1", &["a.rs"]),
    );
    let bullet = format!("- discord (5m ago, 1 message): \"{ASKED}\" -> updated a.rs");
    assert_eq!(told(&world), block(&[bullet]));
    assert_eq!(told(&world), "");
    world.append(&file, of_subagent(&edits(&world, 4, "s2", &["b.rs"])));
    assert_eq!(told(&world), block(&["- discord (4m ago) -> updated b.rs"]));
    assert_eq!(told(&world), "");
    assert_eq!(told(&world), "");
    world.append(&file, of_subagent(&edits(&world, 3, "s3", &["a.rs"])));
    assert_eq!(told(&world), block(&["- discord (3m ago) -> updated a.rs"]));
    // My own are no news here, either.
    asked(&world, ME, 9, "mine");
    subagent(&world, ME, "agent-1", 8, &edits(&world, 1, "s4", &["c.rs"]));
    assert_eq!(told(&world), "");
}

/// `explain` says the same, and lists no subagent that has nothing to tell.
#[test]
fn explain_says_the_same() {
    let world = World::new();
    asked(&world, ONE, 9, ASKED);
    let file = subagent(&world, ONE, "agent-1", 8, "");
    subagent(&world, ONE, "agent-2", 8, "");
    asked(&world, ME, 9, "mine");
    told(&world);
    world.append(&file, of_subagent(&edits(&world, 5, "s1", &["a.rs"])));
    let done = world.context(&["explain", "--session", ME, "--all"]).run();
    let out = done.out();
    assert!(
        out.contains("\n    - 11111111 (5m ago) -> updated a.rs\n"),
        "{out}"
    );
    assert_eq!(
        out.lines().filter(|line| line.contains(ONE)).count(),
        2,
        "{out}"
    );
    assert!(
        out.contains(" told\n") && out.contains("nothing new since it was seen\n"),
        "{out}"
    );
}

/// The files of a session are also those that its subagents edited, each once, with how it was left.
#[test]
fn resume_and_start_have_the_files_of_subagents() {
    let world = World::new();
    let own = asked(&world, ONE, 90, ASKED);
    world.append(own, edits(&world, 85, "c1", &["a.rs"]));
    let wrote = |minutes: i64, id: &str, file: &str, text: &str| {
        let content = json!([{"type": "tool_use", "id": id, "name": "Write", "input": {"file_path": file, "content": text}}]);
        let message = json!({"id": id, "role": "assistant", "content": content});
        json!({"type": "assistant", "uuid": id, "timestamp": ago(minutes), "message": message})
            .to_string()
            + "\n"
            + &result(&ago(minutes), id, false)
    };
    let more = edits(&world, 80, "s1", &["a.rs"]) + &wrote(79, "s2", "b.rs", "one\ntwo\n");
    subagent(&world, ONE, "agent-1", 88, &more);
    let all = resumed(&world, &[ONE]);
    let files: Vec<_> = all["files_modified"]
        .as_array()
        .expect("a list")
        .iter()
        .collect();
    let mut found: Vec<_> = files
        .iter()
        .map(|file| json!([file["path"], file["summary"], file["line"]]))
        .collect();
    found.sort_by_key(Value::to_string);
    let both = json!("+0 -0, the last of 2 edits");
    assert_eq!(
        found,
        [
            json!([work(&world, "a.rs"), both, 0]),
            json!(["b.rs", "new, 2 lines", 0])
        ]
    );
    assert_eq!(all["messages"], 2);

    // A session that only delegated has files to show for it, and is where the work stopped.
    let world = World::new();
    asked(&world, ONE, 50, ASKED);
    subagent(
        &world,
        ONE,
        "agent-1",
        48,
        &edits(&world, 40, "s1", &["src/a.rs"]),
    );
    let mut begins = input(&world, ME);
    (begins["hook_event_name"], begins["source"]) = ("SessionStart".into(), "startup".into());
    let done = hook(&world, &[], &begins).run().success();
    assert!(done.out().contains("src/a.rs"), "{}", done.out());
    assert!(
        !done.out().contains("look into the whole"),
        "{}",
        done.out()
    );
}

/// They are no sessions.
#[test]
fn subagents_are_no_sessions() {
    let world = World::new();
    asked(&world, ONE, 9, ASKED);
    subagent(
        &world,
        ONE,
        "agent-1",
        8,
        &edits(&world, 5, "s1", &["a.rs"]),
    );
    let rows = world
        .reader(&["list", "--all", "--json"])
        .run()
        .success()
        .json();
    let shown: Vec<_> = rows
        .iter()
        .map(|row| (row["id"].as_str(), row["messages"].as_u64()))
        .collect();
    assert_eq!(shown, [(Some(ONE), Some(1))]);
}

/// The same for agents that keep the files of subagents elsewhere.
#[test]
fn subagents_of_other_agents_count_alike() {
    let world = World::new();
    let cwd = path(&world, "work");
    let dir: String = cwd
        .chars()
        .map(|char| {
            if char.is_ascii_alphanumeric() {
                char
            } else {
                '-'
            }
        })
        .collect();
    let qwen = |kind: &str, minutes: i64, id: &str, part: Value| {
        let side = id.starts_with('s');
        json!({"uuid": id, "sessionId": ONE, "timestamp": ago(minutes), "type": kind, "cwd": cwd, "isSidechain": side, "message": {"parts": [part]}})
            .to_string()
            + "\n"
    };
    let write = |file: &str| json!({"functionCall": {"id": file, "name": "write_file", "args": {"file_path": file, "content": "1"}}});
    world.write(
        format!(".qwen/projects/{dir}/chats/{ONE}.jsonl"),
        qwen("user", 9, "u1", json!({"text": ASKED})),
    );
    let lines = qwen("user", 8, "s1", json!({"text": "look"}))
        + &qwen("assistant", 5, "s2", write("a.rs"))
        + &qwen(
            "tool_result",
            5,
            "s3",
            json!({"functionResponse": {"id": "a.rs", "name": "write_file", "response": {"output": "ok"}}}),
        );
    world.write(
        format!(".qwen/projects/{dir}/subagents/{ONE}/agent-x.jsonl"),
        lines,
    );

    let gemini = |id: &str, kind: &str| {
        json!({"sessionId": id, "projectHash": "0", "startTime": ago(9), "kind": kind}).to_string()
            + "\n"
    };
    let wrote = |minutes: i64, id: &str, file: &str| {
        let args = json!({"file_path": file, "content": "1"});
        let call = json!({"id": file, "name": "write_file", "args": args, "status": "success"});
        json!({"id": id, "timestamp": ago(minutes), "type": "gemini", "content": "", "toolCalls": [call]}).to_string()
            + "\n"
    };
    world.write(".gemini/tmp/work/.project_root", &cwd);
    let chats = ".gemini/tmp/work/chats";
    let main = gemini(TWO, "main")
        + &(json!({"id": "u1", "timestamp": ago(8), "type": "user", "content": [{"text": ASKED}]})
            .to_string()
            + "\n");
    let file = world.write(
        format!("{chats}/session-2026-11-16T02-51-22222222.jsonl"),
        main,
    );
    let lines = gemini("sub", "subagent") + &wrote(4, "g1", "b.rs");
    let below = world.write(format!("{chats}/{TWO}/sub.jsonl"), lines);
    let bullets = [
        format!("- gemini:22222222 (4m ago, 1 message): \"{ASKED}\" -> updated b.rs"),
        format!("- qwen:11111111 (5m ago, 1 message): \"{ASKED}\" -> updated a.rs"),
    ];
    assert_eq!(told(&world), block(&bullets));
    world.append(&below, wrote(3, "g2", "c.rs"));
    assert_eq!(
        told(&world),
        block(&["- gemini:22222222 (3m ago) -> updated c.rs"])
    );
    assert_eq!(
        text(&hook(&world, &[], &input(&world, ME)).run().success()),
        ""
    );
    let files = resumed(&world, &[file.to_str().expect("UTF-8")])["files_modified"].clone();
    assert_eq!(files.as_array().map(Vec::len), Some(2), "{files}");
}
