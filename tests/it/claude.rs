//! Transcripts of Claude Code as they are in the wild, with lines of their true shape.
//!
//! Numbers such as 003-D12 are cases in docs/acceptance.md.

use serde_json::{Value, json};

use crate::support::claude::{answer_as_written as answer, lines, user};
use crate::support::reader::listed;
use crate::support::resume::{kinds, resumed, texts};
use crate::support::run::Done;
use crate::support::script::Script;
use crate::support::world::{ID, OTHER, World, encoded};

/// A prompt as Claude Code writes it, keys in its order, `at` being the time of day.
fn prompt(uuid: &str, at: &str, text: &str) -> String {
    let message = format!(r#"{{"role":"user","content":{}}}"#, json!(text));
    format!(
        r#"{{"parentUuid":null,"type":"user","message":{message},"uuid":"{uuid}","timestamp":"2026-08-01T{at}:00.000Z"}}"#
    )
}

/// The log of a Claude Code session of these lines.
fn claude(all: &[&str]) -> Done {
    let world = World::new();
    world.claude(ID, &lines(all));
    world.reader(&["log", ID]).run()
}

/// A row of the list for a session of Claude Code, idle and unnamed.
fn row(id: &str, title: &str, from: &str, to: &str, messages: u64, tokens: (u64, u64)) -> Value {
    let time = |at: &str| format!("2026-08-01T{at}:00.000Z");
    json!({
        "id": id, "name": null, "agent": "claude", "title": title, "cwd": null, "started": time(from), "updated": time(to),
        "state": "idle", "messages": messages, "tokens": {"input": tokens.0, "output": tokens.1},
    })
}

/// A line that is still being written is not read, and no reason to complain; once it is whole it is.
#[test]
fn q01_torn_last_line() {
    let world = World::new();
    let (first, second) = (prompt("u1", "10:00", "one"), prompt("u2", "10:01", "żółw"));
    let cut = second.find('ó').expect("there") + 1;
    let path = world.claude(ID, &format!("{first}\n"));
    let append = |bytes: &[u8]| world.append(&path, bytes);
    append(&second.as_bytes()[..cut]);
    world
        .reader(&["log", ID])
        .run()
        .success()
        .stdout("2026-08-01 10:00  user       one\n");
    assert_eq!(
        listed(&world),
        [row(ID, "one", "10:00", "10:00", 1, (0, 0))]
    );
    append(&second.as_bytes()[cut..]);
    append(b"\n");
    world
        .reader(&["log", ID])
        .run()
        .success()
        .stdout("2026-08-01 10:00  user       one\n           10:01  user       żółw\n");
    assert_eq!(
        listed(&world),
        [row(ID, "żółw", "10:00", "10:01", 2, (0, 0))]
    );
}

/// A cut record with the next one on the same line: the whole one is read, the loss is said.
#[test]
fn q02_spliced_record() {
    let spliced = format!(
        r#"{{"type":"pr-link","sessionId":"s1","prNu{}"#,
        prompt("u2", "10:01", "next")
    );
    let done = claude(&[
        &prompt("u1", "10:00", "one"),
        &spliced,
        &prompt("u3", "10:02", "three"),
    ]);
    let done = done.status(0).stderr_has("1 line could not be read");
    done.stdout(
        "2026-08-01 10:00  user       one\n           10:01  user       next\n           10:02  user       three\n",
    );
}

/// The same when the cut one is of the same kind as the line it swallowed.
#[test]
fn q02_spliced_metadata() {
    let title = r#"{"type":"custom-title","customTitle":"fix-login","sessionId":"s1"}"#;
    let world = World::new();
    world.claude(
        ID,
        &lines(&[
            &prompt("u1", "10:00", "one"),
            &format!(r#"{{"type":"mode","mo{title}"#),
        ]),
    );
    assert_eq!(
        listed(&world),
        [row(ID, "fix-login", "10:00", "10:00", 1, (0, 0))]
    );
}

/// The same when the cut falls into a record that is read anyway.
#[test]
fn q02_spliced_into_a_prompt() {
    let torn = r#"{"type":"user","uuid":"u1","timestamp":"2026-08-01T10:00:00.000Z","message":{"role":"user","content":"half a sen"#;
    let spliced = format!("{torn}{}", prompt("u2", "10:01", "next"));
    let done = claude(&[&spliced, &prompt("u3", "10:02", "three")])
        .status(0)
        .stderr_has("1 line could not be read");
    done.stdout("2026-08-01 10:01  user       next\n           10:02  user       three\n");
}

/// Two whole records on one line are two records.
#[test]
fn q03_missing_newline() {
    let both = format!(
        "{}{}",
        prompt("u1", "10:00", "one"),
        prompt("u2", "10:01", "two")
    );
    claude(&[&both])
        .success()
        .stdout("2026-08-01 10:00  user       one\n           10:01  user       two\n");
}

/// A run of NUL bytes before a record does not cost the record.
#[test]
fn q04_nul_run() {
    let filled = format!("{}{}", "\0".repeat(600), prompt("u2", "10:01", "two"));
    let done = claude(&[
        &prompt("u1", "10:00", "one"),
        &filled,
        &prompt("u3", "10:02", "three"),
    ]);
    done.status(0).stdout(
        "2026-08-01 10:00  user       one\n           10:01  user       two\n           10:02  user       three\n",
    );
}

/// A transcript that lost its last line and grew past its old size, and one that was rewritten to a larger size:
/// the list counts what is there now, not what it remembers.
#[test]
fn q05_q86_shrunk_and_rewritten_files_are_counted_anew() {
    let world = World::new();
    let (one, two) = (prompt("u1", "10:00", "one"), prompt("u2", "10:01", "two"));
    world.claude(ID, &lines(&[&one, &two]));
    assert_eq!(
        listed(&world),
        [row(ID, "two", "10:00", "10:01", 2, (0, 0))]
    );
    world.claude(
        ID,
        &lines(&[
            &one,
            &answer("a1", "10:03", "a longer line than the one before it"),
            &answer("a2", "10:04", "b"),
        ]),
    );
    assert_eq!(
        listed(&world),
        [row(ID, "one", "10:00", "10:04", 3, (2, 2))]
    );
    world.claude(ID, &lines(&[&prompt("u9", "11:00", &"x".repeat(3000))]));
    assert_eq!(
        listed(&world),
        [row(
            ID,
            &("x".repeat(120) + "…"),
            "11:00",
            "11:00",
            1,
            (0, 0)
        )]
    );
}

/// A line with a working directory.
fn at(cwd: &str, line: &str) -> String {
    line.replacen('{', &format!(r#"{{"cwd":{},"#, json!(cwd)), 1)
}

/// Title and working directory of each row.
fn places(rows: &[Value]) -> Vec<(&str, &str)> {
    rows.iter()
        .map(|row| {
            (
                row["title"].as_str().unwrap_or("?"),
                row["cwd"].as_str().unwrap_or("?"),
            )
        })
        .collect()
}

/// The working directory is what the lines say, first and last: a session that moved away is still listed in
/// the project where it began, and one from Windows has the directory it had there.
#[test]
fn q06_q15_q89_moved_sessions() {
    let world = World::new();
    let (work, elsewhere) = (world.path("work"), world.path("elsewhere"));
    let (work, elsewhere) = (
        work.to_str().expect("UTF-8"),
        elsewhere.to_str().expect("UTF-8"),
    );
    let relocated =
        json!({"type":"relocated","relocatedCwd":elsewhere,"sessionId":"s1"}).to_string();
    world.write(
        format!(".claude/projects/a/{ID}.jsonl"),
        lines(&[&at(work, &prompt("u1", "10:03", "moved")), &relocated]),
    );
    let windows = at(r"C:\Users\ana\src\app", &prompt("u5", "10:02", "build it"));
    world.write(
        format!(".claude/projects/C--Users-ana-src-app/{OTHER}.jsonl"),
        lines(&[&windows]),
    );
    assert_eq!(
        places(&world.reader(&["list", "--json"]).run().success().json()),
        [("moved", elsewhere)]
    );
    assert_eq!(
        places(&listed(&world)),
        [("moved", elsewhere), ("build it", r"C:\Users\ana\src\app")]
    );
}

/// A session in a worktree that is gone belongs to the repository that its worktree line names.
#[test]
fn q43_worktrees() {
    let world = World::new();
    let work = world.path("work");
    let state = json!({"type":"worktree-state","sessionId":"s1","worktreeSession":{"originalCwd":work,"worktreePath":"/gone/t1"}});
    let gone = |line: &str| at("/gone/t1", line);
    let all = [
        gone(&prompt("u2", "10:01", "in a worktree")),
        state.to_string(),
        gone(&answer("a2", "10:02", "ok")),
    ];
    world.write(
        format!(".claude/projects/b/{ID}.jsonl"),
        all.map(|line| line + "\n").concat(),
    );
    assert_eq!(
        places(&world.reader(&["list", "--json"]).run().success().json()),
        [("in a worktree", "/gone/t1")]
    );
}

/// A transcript that is gone is gone from the list, without a word.
#[test]
fn q07_vanished_file() {
    let world = World::new();
    let path = world.claude(ID, &lines(&[&prompt("u1", "10:00", "one")]));
    world.claude(OTHER, &lines(&[&prompt("u2", "10:01", "two")]));
    assert_eq!(listed(&world).len(), 2);
    std::fs::remove_file(path).expect("removed");
    assert_eq!(
        listed(&world),
        [row(OTHER, "two", "10:01", "10:01", 1, (0, 0))]
    );
}

/// 003-D12: the newest time written is the last activity: not the last line's, not the file's. A clock that runs
/// ahead is just now.
#[test]
fn q08_q91_activity_is_the_newest_timestamp() {
    let world = World::new();
    let mode = r#"{"type":"permission-mode","permissionMode":"acceptEdits","sessionId":"s1"}"#;
    world.claude(
        ID,
        &lines(&[
            &prompt("u1", "10:00", "one"),
            &answer("a1", "10:09", "late"),
            &prompt("u2", "10:05", "out of order"),
            mode,
        ]),
    );
    assert_eq!(
        listed(&world),
        [row(ID, "out of order", "10:00", "10:09", 3, (1, 1))]
    );
    let ahead = prompt("u3", "10:00", "from the future").replace("2026-08-01", "2027-01-01");
    world.claude(OTHER, &lines(&[&ahead]));
    let list = world.reader(&["list", "--all"]).run().success();
    let first = list
        .out()
        .lines()
        .find(|line| line.contains("from the future"))
        .expect("listed");
    assert!(first.contains(" now "), "{first}");
}

/// The last title wins however far from the end it is, a person's before the agent's, and both before the
/// first prompt. `summary` lines are titles of older versions.
#[test]
fn q09_q42_q48_titles() {
    let title = |lines_before: &[&str]| {
        let world = World::new();
        let filler = format!(
            r#"{{"type":"file-history-snapshot","messageId":"m","snapshot":{{"x":"{}"}}}}"#,
            "y".repeat(100_000)
        );
        let mut all = lines_before.to_vec();
        let url = prompt("u1", "10:00", "https://example.com/x");
        all.extend([&*filler, &*url]);
        world.claude(ID, &lines(&all));
        listed(&world)[0]["title"].as_str().map(str::to_owned)
    };
    let custom = |title: &str| {
        json!({"type":"custom-title","customTitle":title,"sessionId":"s1"}).to_string()
    };
    let ai = |title: &str| json!({"type":"ai-title","aiTitle":title,"sessionId":"s1"}).to_string();
    assert_eq!(title(&[]).as_deref(), Some("https://example.com/x"));
    assert_eq!(
        title(&[r#"{"type":"summary","summary":"Fix login","leafUuid":"u1"}"#]).as_deref(),
        Some("Fix login")
    );
    assert_eq!(
        title(&[&ai("One"), &ai("Login button bug")]).as_deref(),
        Some("Login button bug")
    );
    assert_eq!(
        title(&[
            &custom("old"),
            &custom("fix-login"),
            &ai("Login button bug")
        ])
        .as_deref(),
        Some("fix-login")
    );
}

/// 003-D14: blank lines, blanks, a byte order mark, and lines that are JSON but no record are stepped over.
#[test]
fn q10_d14_lines_that_are_no_records() {
    let bom = format!("\u{feff}{}", prompt("u1", "10:00", "one"));
    let done = claude(&[
        &bom,
        "",
        "   \t",
        "null",
        "42",
        "\"text\"",
        "[]",
        "true",
        "\r",
        &prompt("u2", "10:01", "two"),
    ]);
    done.success()
        .stdout("2026-08-01 10:00  user       one\n           10:01  user       two\n");
}

/// 003-T05, 003-T06: an invalid line between valid ones costs itself; a line of unknown type says nothing.
#[test]
fn t05_t06_invalid_and_unknown_lines() {
    let unknown = r#"{"type":"brand-new","timestamp":"2026-08-01T10:00:30.000Z","message":{"role":"user","content":"no"}}"#;
    let done = claude(&[
        &prompt("u1", "10:00", "one"),
        "{not json",
        unknown,
        &prompt("u2", "10:01", "two"),
    ]);
    done.status(0)
        .stderr_has("1 line could not be read")
        .stdout("2026-08-01 10:00  user       one\n           10:01  user       two\n");
}

/// A line of more than ten megabytes with a picture in it: the words beside the picture are read.
#[test]
fn q11_huge_line() {
    let image = format!(
        r#"{{"type":"user","uuid":"u3","sessionId":"s1","timestamp":"2026-08-01T10:01:00.000Z","message":{{"role":"user","content":[{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{}"}}}},{{"type":"text","text":"what is wrong here"}}]}}}}"#,
        "iVBORw0KGgo".repeat(1_000_000)
    );
    let done = claude(&[
        &prompt("u1", "10:00", "one"),
        &image,
        &answer("a1", "10:02", "nothing"),
    ]);
    done.success().stdout(concat!(
        "2026-08-01 10:00  user       one\n",
        "           10:01  user       what is wrong here\n",
        "           10:02  assistant  nothing\n",
    ));
}

/// 003-D13: half a character, NUL and escape sequences in a text harm neither the text nor the terminal.
#[test]
fn q12_q13_text_that_is_no_text() {
    let world = World::new();
    let line = |uuid: &str, text: &str| {
        format!(
            r#"{{"type":"user","uuid":"{uuid}","timestamp":"2026-08-01T10:00:00.000Z","message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    world.claude(
        ID,
        &lines(&[
            &line("u1", r"cut \ud83d"),
            &line("u2", r"a\u0000b\u001b[31mred\u001b[0m\u202e\u0007"),
            &line("u3", r"whole \ud83e\udd80"),
        ]),
    );
    world.reader(&["log", ID]).run().success().stdout(concat!(
        "2026-08-01 10:00  user       cut \u{fffd}\n",
        "           10:00  user       abred\n",
        "           10:00  user       whole 🦀\n",
    ));
    world.reader(&["log", ID, "--json"]).run().success().objects(concat!(
        r#"{"time":"2026-08-01T10:00:00.000Z","role":"user","kind":"text","text":"cut �"}"#,
        "\n",
        r#"{"time":"2026-08-01T10:00:00.000Z","role":"user","kind":"text","text":"a\u0000b\u001b[31mred\u001b[0m"#,
        "\u{202e}",
        r#"\u0007"}"#,
        "\n",
        r#"{"time":"2026-08-01T10:00:00.000Z","role":"user","kind":"text","text":"whole 🦀"}"#,
        "\n",
    ));
}

/// The result that holds the half character still says that the call failed.
#[test]
fn q12_lone_surrogate_in_a_result() {
    claude(&[
        r#"{"type":"assistant","uuid":"a1","timestamp":"2026-08-01T10:01:00.000Z","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"cat \ud83d"}}]}}"#,
        r#"{"type":"user","uuid":"u4","sessionId":"s1","timestamp":"2026-08-01T10:01:01.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","is_error":true,"content":"cut \ud83d"}]}}"#,
    ])
    .success()
    .stdout("2026-08-01 10:01  assistant  [Bash cat \u{fffd}] failed\n");
}

/// A session of that directory, reached by its name in a named home there.
fn by_name(world: &World, cwd: &str, encoded: &str) {
    world.write(
        format!("{cwd}/.volute/sessions/main.json"),
        json!({"sessionId": ID}).to_string(),
    );
    world.write(
        format!(".claude/projects/{encoded}/{ID}.jsonl"),
        lines(&[&prompt("u1", "10:00", "here")]),
    );
    let done = world.reader(&["log", "main"]).dir(world.path(cwd)).run();
    done.success().stdout("2026-08-01 10:00  user       here\n");
}

/// 003-T11, 003-T12: the directory of a session spells its cwd, slashes and dots as dashes; a long one is cut and
/// hashed; and one that spells something else is found all the same.
#[test]
fn q14_q16_t11_t12_encoded_directories() {
    let world = World::new();
    by_name(
        &world,
        "src/my.app_v1",
        &encoded(&world.path("src/my.app_v1")),
    );

    let world = World::new();
    let long = format!("{}/{}", "a".repeat(120), "b".repeat(120));
    by_name(
        &world,
        &long,
        &format!("{}-1x2y3z", &encoded(&world.path(&long))[..200]),
    );

    let world = World::new();
    by_name(&world, "src/app", "work");
}

/// Linked project directories, and links that lead in a circle, show a session once.
#[test]
fn q17_links() {
    let world = World::new();
    world.write(
        format!(".claude/projects/-real/{ID}.jsonl"),
        lines(&[&prompt("u1", "10:00", "one")]),
    );
    let projects = world.path(".claude/projects");
    std::os::unix::fs::symlink(projects.join("-real"), projects.join("-linked")).expect("a link");
    std::os::unix::fs::symlink(&projects, projects.join("-circle")).expect("a link");
    assert_eq!(
        listed(&world),
        [row(ID, "one", "10:00", "10:00", 1, (0, 0))]
    );
}

/// 003-D06: what lies under `subagents/` is no session; a subagent's lines in a main file are not the user's;
/// its own file is read when it is named, whatever its first line lacks.
#[test]
fn q18_q36_q37_subagents() {
    let world = World::new();
    let side = r#"{"type":"user","uuid":"u14","isSidechain":true,"agentId":"a7bf2fd","sessionId":"s1","timestamp":"2026-08-01T10:02:08.000Z","message":{"role":"user","content":"Find all endpoints"}}"#;
    let main = world.claude(
        ID,
        &lines(&[
            &prompt("u1", "10:00", "one"),
            side,
            &answer("a1", "10:03", "done"),
        ]),
    );
    let below = main.with_extension("").join("subagents");
    let agent = world.write(
        below.join("agent-a7bf2fd.jsonl"),
        lines(&[r#"{"type":"fork-context-ref","parentSession":"s1"}"#, side]),
    );
    let journal = world.write(
        below.join("journal.jsonl"),
        lines(&[r#"{"at":"2026-08-01T10:00:00.000Z","note":"x"}"#]),
    );
    world.write(main.with_file_name("agent-old.jsonl"), lines(&[side]));
    assert_eq!(
        listed(&world),
        [row(ID, "one", "10:00", "10:03", 2, (1, 1))]
    );
    world
        .reader(&["log", ID])
        .run()
        .success()
        .stdout("2026-08-01 10:00  user       one\n           10:03  assistant  done\n");
    let read = |path: &std::path::Path| world.reader(&["log", path.to_str().expect("UTF-8")]).run();
    read(&agent)
        .success()
        .stdout("2026-08-01 10:02  user       Find all endpoints\n");
    read(&journal)
        .status(2)
        .stdout("")
        .stderr_has("not a transcript of a known format");
}

const CHUNKS: [&str; 2] = [
    r#"{"type":"assistant","uuid":"a1","parentUuid":"u5","requestId":"req_1","sessionId":"s1","timestamp":"2026-08-01T10:02:05.000Z","message":{"id":"msg_1","role":"assistant","model":"claude-x","content":[{"type":"thinking","thinking":"","signature":"c2ln"}],"stop_reason":null,"usage":{"input_tokens":3,"output_tokens":5}}}"#,
    r#"{"type":"assistant","uuid":"a2","parentUuid":"a1","requestId":"req_1","sessionId":"s1","timestamp":"2026-08-01T10:02:06.000Z","message":{"id":"msg_1","role":"assistant","model":"claude-x","content":[{"type":"tool_use","id":"toolu_2","name":"Read","input":{"file_path":"/p/a.rs"}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":631}}}"#,
];

const QUEUED: &str = r#"{"type":"attachment","uuid":"t1","parentUuid":"a1","sessionId":"s1","timestamp":"2026-08-01T10:02:05.500Z","attachment":{"type":"queued_command","prompt":"also run the tests","commandMode":"prompt","origin":{"kind":"human"}}}"#;

/// 003-D09: one message over several lines, with another line in between, is one message, and its usage
/// counts once.
#[test]
fn q19_q20_q90_one_message_on_several_lines() {
    let world = World::new();
    world.claude(
        ID,
        &lines(&[
            &prompt("u5", "10:02", "build it"),
            CHUNKS[0],
            QUEUED,
            CHUNKS[1],
            CHUNKS[1],
        ]),
    );
    let mut expected = row(ID, "also run the tests", "10:02", "10:02", 3, (3, 631));
    expected["updated"] = json!("2026-08-01T10:02:06.000Z");
    assert_eq!(listed(&world), [expected]);
    world.reader(&["log", ID]).run().success().stdout(concat!(
        "2026-08-01 10:02  user       build it\n",
        "           10:02  user       also run the tests\n",
        "           10:02  assistant  [Read /p/a.rs]\n",
    ));
}

/// A prompt typed while the agent is busy appears up to three times and counts once; what a task reports through
/// the same queue is no prompt.
#[test]
fn q21_q22_queued_prompts() {
    let enqueue = r#"{"type":"queue-operation","operation":"enqueue","timestamp":"2026-08-01T10:02:05.400Z","sessionId":"s1","content":"also run the tests"}"#;
    let twin = prompt("u6", "10:03", "also run the tests");
    let task = r#"{"type":"queue-operation","operation":"enqueue","timestamp":"2026-08-01T10:03:00.000Z","sessionId":"s1","content":"<task-notification><task-id>ab12</task-id><tool-use-id>toolu_9</tool-use-id></task-notification>"}"#;
    let task_attached = r#"{"type":"attachment","uuid":"t3","sessionId":"s1","timestamp":"2026-08-01T10:03:00.000Z","attachment":{"type":"queued_command","commandMode":"prompt","prompt":"<task-notification><task-id>ab12</task-id></task-notification>"}}"#;
    let again = prompt("u7", "10:05", "also run the tests");
    let world = World::new();
    world.claude(
        ID,
        &lines(&[
            &prompt("u5", "10:02", "build it"),
            enqueue,
            QUEUED,
            &twin,
            task,
            task_attached,
            &again,
        ]),
    );
    world.reader(&["log", ID]).run().success().stdout(concat!(
        "2026-08-01 10:02  user       build it\n",
        "           10:02  user       also run the tests\n",
        "           10:05  user       also run the tests\n",
    ));
    assert_eq!(
        listed(&world),
        [row(ID, "also run the tests", "10:02", "10:05", 3, (0, 0))]
    );
}

/// A tool's answer is no prompt, neither inline nor saved elsewhere.
#[test]
fn q23_q41_tool_results() {
    claude(&[
        CHUNKS[1],
        r#"{"type":"user","uuid":"u6","parentUuid":"a2","sourceToolAssistantUUID":"a2","sessionId":"s1","timestamp":"2026-08-01T10:02:07.000Z","message":{"role":"user","content":[{"tool_use_id":"toolu_2","type":"tool_result","content":"fn main(){}"}]},"toolUseResult":{"type":"text","file":{"filePath":"/p/a.rs","numLines":1}}}"#,
        r#"{"type":"user","uuid":"u15","sessionId":"s1","timestamp":"2026-08-01T10:11:00.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_3","content":"<persisted-output>Full output saved to: /h/x.txt</persisted-output>"}]},"toolUseResult":{"persistedOutputPath":"/h/x.txt"}}"#,
    ])
    .success()
    .stdout("2026-08-01 10:02  assistant  [Read /p/a.rs]\n");
}

/// What stands in the user's name and was not typed.
#[test]
fn q24_to_q33_what_no_user_typed() {
    claude(&[
        &prompt("u0", "10:00", "real"),
        r#"{"type":"user","uuid":"u7","isMeta":true,"sessionId":"s1","timestamp":"2026-08-01T10:04:00.000Z","message":{"role":"user","content":"Base directory for this skill: /p/.claude/skills/x"}}"#,
        r#"{"type":"user","uuid":"u8","sessionId":"s1","timestamp":"2026-08-01T10:04:01.000Z","message":{"role":"user","content":"<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>src</command-args>"}}"#,
        r#"{"type":"system","subtype":"local_command","uuid":"y1","sessionId":"s1","timestamp":"2026-08-01T10:04:02.000Z","content":"<command-name>/rename</command-name><command-args>fix-login</command-args>"}"#,
        r#"{"type":"user","uuid":"u9","sessionId":"s1","timestamp":"2026-08-01T10:05:00.000Z","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}}"#,
        r#"{"type":"system","subtype":"informational","level":"warning","preventContinuation":true,"isMeta":false,"uuid":"y2","sessionId":"s1","timestamp":"2026-08-01T10:07:00.000Z","content":"UserPromptSubmit operation blocked by hook:\nno\n\nOriginal prompt: secret"}"#,
        r#"{"type":"attachment","uuid":"t2","sessionId":"s1","timestamp":"2026-08-01T10:08:00.000Z","attachment":{"type":"hook_additional_context","hookName":"UserPromptSubmit","hookEvent":"UserPromptSubmit","content":["[activity] 2 other sessions are active here"]}}"#,
        r#"{"type":"system","subtype":"compact_boundary","uuid":"y3","parentUuid":null,"logicalParentUuid":"a2","sessionId":"s1","timestamp":"2026-08-01T11:00:00.000Z","compactMetadata":{"trigger":"auto","preTokens":180000}}"#,
        r#"{"type":"user","uuid":"u13","parentUuid":"y3","isCompactSummary":true,"isVisibleInTranscriptOnly":true,"sessionId":"s1","timestamp":"2026-08-01T11:00:00.100Z","message":{"role":"user","content":"This session is being continued from a previous conversation. Summary: …"}}"#,
        &prompt("u20", "11:01", "real again"),
    ])
    .success()
    .stdout("2026-08-01 10:00  user       real\n           11:01  user       real again\n");
}

/// 003-D06: what a client put around a prompt is taken away, and a prompt that quotes a tag stays.
#[test]
fn q28_q29_q30_wrapped_prompts() {
    claude(&[
        r#"{"type":"user","uuid":"u10","sessionId":"s1","timestamp":"2026-08-01T10:06:00.000Z","message":{"role":"user","content":[{"type":"text","text":"<ide_opened_file>The user opened /p/a.rs</ide_opened_file>\nrename this function"}]}}"#,
        r#"{"type":"user","uuid":"u11","sessionId":"s1","timestamp":"2026-08-01T10:06:01.000Z","message":{"role":"user","content":"<system-reminder>date changed</system-reminder>\ncontinue"}}"#,
        r#"{"type":"user","uuid":"u12","sessionId":"s1","timestamp":"2026-08-01T10:06:02.000Z","message":{"role":"user","content":"<command-name> is what tag?"}}"#,
        r#"{"type":"user","uuid":"u17","sessionId":"s1","timestamp":"2026-08-01T10:06:03.000Z","message":{"role":"user","content":[{"type":"text","text":"<ide_selection>fn a()</ide_selection>"},{"type":"text","text":"why?"}]}}"#,
    ])
    .success()
    .stdout(concat!(
        "2026-08-01 10:06  user       rename this function\n",
        "           10:06  user       continue\n",
        "           10:06  user       <command-name> is what tag?\n",
        "           10:06  user       why?\n",
    ));
}

/// A uuid that appears again is the same line, a parent that leads in a circle does no harm, and an id that a
/// snapshot shares with a message takes nothing from it.
#[test]
fn q34_q38_q39_ids() {
    claude(&[
        &prompt("u5", "10:02", "build it"),
        r#"{"type":"file-history-snapshot","messageId":"u5","isSnapshotUpdate":false,"snapshot":{"messageId":"u5","trackedFileBackups":{},"timestamp":"2026-08-01T10:02:00.010Z"}}"#,
        r#"{"type":"assistant","uuid":"a9","parentUuid":"a9","sessionId":"s1","timestamp":"2026-08-01T10:09:00.000Z","message":{"id":"msg_9","role":"assistant","model":"claude-x","content":[{"type":"text","text":"ok"}]}}"#,
        &prompt("u5", "10:02", "build it"),
    ])
    .success()
    .stdout("2026-08-01 10:02  user       build it\n           10:09  assistant  ok\n");
}

/// A fork repeats its parent's lines; it is a session of its own, called by its file's name.
#[test]
fn q35_forks() {
    let world = World::new();
    let shared = r#"{"type":"user","uuid":"u5","parentUuid":null,"sessionId":"s2","sessionKind":"bg","timestamp":"2026-08-01T10:02:00.000Z","message":{"role":"user","content":"build it"}}"#;
    world.claude(ID, &lines(&[shared]));
    world.claude(
        OTHER,
        &lines(&[shared, &prompt("u6", "10:03", "another way")]),
    );
    let fork = row(OTHER, "another way", "10:02", "10:03", 2, (0, 0));
    assert_eq!(
        listed(&world),
        [fork, row(ID, "build it", "10:02", "10:02", 1, (0, 0))]
    );
}

/// What the client writes in the model's name when something failed is neither an answer nor usage, and a failed
/// turn shows in the list.
#[test]
fn q40_synthetic_answers() {
    let world = World::new();
    let failed = r#"{"type":"assistant","uuid":"a10","sessionId":"s1","timestamp":"2026-08-01T10:10:00.000Z","isApiErrorMessage":true,"message":{"id":"x1","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"API Error: 529"}],"usage":{"input_tokens":0,"output_tokens":0}}}"#;
    world.claude(ID, &lines(&[&prompt("u1", "10:00", "one"), failed]));
    let shown = "2026-08-01 10:00  user       one\n           10:10  error      API Error: 529\n";
    world.reader(&["log", ID]).run().success().stdout(shown);
    world
        .reader(&["log", ID, "--full"])
        .run()
        .success()
        .stdout(shown);
    let mut expected = row(ID, "one", "10:00", "10:10", 1, (0, 0));
    expected["state"] = json!("error");
    assert_eq!(listed(&world), [expected]);
}

/// Tools, fields and block types that nobody has heard of are shown as far as they can be.
#[test]
fn q44_q88_unknown_tools_and_fields() {
    claude(&[
        r#"{"type":"assistant","uuid":"a11","sessionId":"s1","timestamp":"2026-08-01T10:12:00.000Z","message":{"id":"msg_11","role":"assistant","model":"claude-x","content":[{"type":"tool_use","id":"toolu_4","name":"TaskUpdate","input":{"taskId":"3","status":"completed"}}]}}"#,
        r#"{"type":"assistant","uuid":"a12","new":{"deep":[1]},"timestamp":"2026-08-01T10:13:00.000Z","message":{"id":"msg_12","role":"assistant","content":[{"type":"hologram","x":1},{"type":"tool_use","id":"t5","name":"mcp__maps__find","input":{"query":"harbour"}},{"type":"tool_use","id":"t6","name":"Quantum","input":{"qubits":3}}],"stop_reason":"brand_new"}}"#,
    ])
    .success()
    .stdout(concat!(
        "2026-08-01 10:12  assistant  [TaskUpdate 3]\n",
        "           10:13  assistant  [mcp__maps__find harbour]\n",
        "           10:13  assistant  [Quantum]\n",
    ));
}

/// Numbers that are strings count; content that is null, and a message that is missing, cost nobody else.
#[test]
fn q45_q46_odd_values() {
    let world = World::new();
    world.claude(
        ID,
        &lines(&[
            &prompt("u1", "10:00", "one"),
            r#"{"type":"assistant","uuid":"a12","sessionId":"s1","timestamp":"2026-08-01T10:13:00.000Z","message":{"id":"msg_12","role":"assistant","content":[],"usage":{"input_tokens":"12","output_tokens":"7"}}}"#,
            r#"{"type":"user","uuid":"u16","sessionId":"s1","timestamp":"2026-08-01T10:14:00.000Z","message":{"role":"user","content":null}}"#,
            r#"{"type":"user","uuid":"u17","timestamp":"2026-08-01T10:14:00.000Z"}"#,
            r#"{"type":"user","uuid":null,"timestamp":null,"message":null}"#,
            r#"{"type":"assistant","uuid":7,"timestamp":{"a":1},"message":{"content":[null,3,"x",{"type":null},{"type":"text"},{"type":"tool_use"}]}}"#,
            &prompt("u2", "10:15", "two"),
        ]),
    );
    world
        .reader(&["log", ID])
        .run()
        .success()
        .stdout("2026-08-01 10:00  user       one\n           10:15  user       two\n");
    assert_eq!(
        listed(&world),
        [row(ID, "two", "10:00", "10:15", 2, (12, 7))]
    );
}

/// A session in which nothing was said, only a command given, is in no list.
#[test]
fn q47_probe_sessions() {
    let world = World::new();
    world.claude(
        ID,
        &lines(&[&prompt(
            "u1",
            "10:00",
            "<command-name>/usage</command-name>\n<command-message>usage</command-message>",
        )]),
    );
    world.reader(&["list", "--all"]).run().status(1).stdout("").stderr(
        "session-reader: no sessions on this machine; `session-reader formats` shows where they are looked for\n",
    );
}

/// 003-07, 003-T01, 003-T02, 003-T10, 003-T22, 003-D03: strings and blocks are prompts; calls have their main argument
/// and what they do, and files are named from the session's directory.
#[test]
fn t01_t02_t10_d03_claude() {
    let world = World::new();
    let call = |id: &str, name: &str, input: Value| json!({"type":"tool_use","id":id,"name":name,"input":input});
    let calls = json!([
        {"type":"text","text":"On it."},
        call("1", "Edit", json!({"file_path":"/p/home/MEMORY.md","old_string":"a","new_string":"b"})),
        call("2", "Read", json!({"file_path":"/q/x.md"})),
        call("3", "Grep", json!({"pattern":"fn  main\n","path":"/p"})),
        call("4", "Glob", json!({"pattern":"**/*.rs"})),
        call("5", "Bash", json!({"command":"npm test"})),
    ]);
    world.claude(
        ID,
        &lines(&[
            r#"{"type":"user","uuid":"u1","cwd":"/p","timestamp":"2026-08-01T10:00:00.000Z","message":{"role":"user","content":[{"type":"text","text":"as blocks"}]}}"#,
            &prompt("u2", "10:01", "as a string"),
            &json!({"type":"assistant","uuid":"a1","cwd":"/p","timestamp":"2026-08-01T10:02:00.000Z","message":{"id":"m","role":"assistant","content":calls}}).to_string(),
        ]),
    );
    world.reader(&["log", ID]).run().success().stdout(concat!(
        "2026-08-01 10:00  user       as blocks\n",
        "           10:01  user       as a string\n",
        "           10:02  assistant  On it.\n",
        "           10:02  assistant  [Edit home/MEMORY.md]\n",
        "           10:02  assistant  [Read /q/x.md]\n",
        "           10:02  assistant  [Grep fn main]\n",
        "           10:02  assistant  [Glob **/*.rs]\n",
        "           10:02  assistant  [Bash npm test]\n",
    ));
    let acts: Vec<_> = world
        .reader(&["log", ID, "--json"])
        .run()
        .success()
        .json()
        .iter()
        .filter_map(|line| line["act"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(acts, ["edit", "read", "search", "search", "run"]);
}

/// 003-D13, 003-D15: a long command is cut between characters, not in one, and line breaks in what a stranger wrote can
/// fake neither an entry nor a row.
#[test]
fn d13_d15_cut_and_flat() {
    let world = World::new();
    let family = "👩‍👩‍👧";
    let command = format!("echo {}", family.repeat(150));
    let calls = json!([{"type":"tool_use","id":"1","name":"Bash","input":{"command":command}}]);
    world.claude(
        ID,
        &lines(&[
            &prompt("u1", "10:00", "one\n2026-08-01 10:00  user       faked"),
            &json!({"type":"assistant","uuid":"a1","timestamp":"2026-08-01T10:02:00.000Z","message":{"id":"m","role":"assistant","content":calls}}).to_string(),
        ]),
    );
    // 200 columns: `echo `, 97 families of two, and the sign that something is missing.
    world.reader(&["log", ID]).run().success().stdout(&format!(
        "2026-08-01 10:00  user       one\n{}2026-08-01 10:00  user       faked\n           10:02  assistant  [Bash echo {}…]\n",
        " ".repeat(29),
        family.repeat(97),
    ));
    let rows = world.reader(&["list", "--all"]).run().success();
    assert_eq!(rows.out().lines().count(), 2, "{}", rows.out());
}

/// Claude's recap for a user who was away is a mark: nothing was said, and the client's hint is no part of it.
#[test]
fn recaps() {
    let recap = json!({
        "type": "system", "subtype": "away_summary", "uuid": "y1", "timestamp": "2026-08-01T10:09:00.000Z",
        "content": "Goal: fix the login. Done: the token check. Next: the tests. (disable recaps in /config)",
    });
    let world = World::new();
    let recap = recap.to_string();
    world.claude(
        ID,
        &lines(&[
            &prompt("u1", "10:00", "fix it"),
            &answer("a1", "10:01", "Done."),
            &recap,
        ]),
    );
    let said = "2026-08-01 10:00  user       fix it\n           10:01  assistant  Done.\n";
    world.reader(&["log", ID]).run().success().stdout(said);
    let recap = "           10:09  recap      Goal: fix the login. Done: the token check. Next: the tests.\n";
    world
        .reader(&["log", ID, "--full"])
        .run()
        .success()
        .stdout(&format!("{said}{recap}"));
    assert_eq!(
        (
            listed(&world)[0]["messages"].clone(),
            resumed(&world, &[ID])["ending"].clone()
        ),
        (json!(2), json!("answered"))
    );
}

/// What clients write in the user's name: none of it is a prompt. What merely begins alike is one.
#[test]
fn prompts_of_the_machine() {
    let machine = [
        "Unknown skill: deploy",
        "(no content)",
        "<ci-monitor-event>build 12 failed</ci-monitor-event>",
        "<webhook-event source=\"ci\">\nfailed\n</webhook-event>\nsee above",
        "<user-memory-input>remember this</user-memory-input>",
        "Base directory for this skill: /p/.claude/skills/x\n\n# X\n- do this",
    ];
    let typed = ["<ci-event> is what?", "<events>a</events>", "no content"];
    let texts = machine.iter().chain(&typed).enumerate();
    let all: Vec<_> = texts
        .map(|(at, text)| prompt(&format!("u{at}"), &format!("10:{at:02}"), text))
        .collect();
    let all: Vec<_> = all.iter().map(String::as_str).collect();
    claude(&all).success().stdout(concat!(
        "2026-08-01 10:06  user       <ci-event> is what?\n",
        "           10:07  user       <events>a</events>\n",
        "           10:08  user       no content\n",
    ));
}

/// Who asks for approval of a plan waits for the user, until there is an answer.
#[test]
fn a_pending_plan_in_the_list() {
    let world = World::new();
    let state = |script: &Script| {
        script.save(&world, ID);
        let list = world
            .reader(&["list", "--all", "--json"])
            .env("SESSION_MONITOR_NOW", "2026-11-16T01:04:00Z");
        list.run().success().json()[0]["state"].clone()
    };
    let planned = || {
        Script::of(&world)
            .user("Fix the prices")
            .calls("ExitPlanMode", json!({"plan": "# Use decimals"}))
    };
    assert_eq!(state(&planned()), "needs-you");
    assert_eq!(
        state(&planned().result(false, "User has approved your plan.")),
        "working"
    );
}

/// Who approves a plan and clears the context turns it down in the old session, and goes on with it in a new one: nothing
/// follows in the old. Where the session goes on, the plan was rejected.
#[test]
fn a_plan_that_another_session_carries_out_was_not_rejected() {
    let world = World::new();
    let no = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.";
    let stays = "The agent proposed a plan that was rejected by the user. The user chose to stay in plan mode rather than proceed with implementation.";
    let planned = |result: &str| {
        Script::of(&world)
            .user("Fix the prices")
            .calls("ExitPlanMode", json!({"plan": "# Use decimals"}))
            .result(true, result)
    };
    let decided = |script: Script| texts(&script.json()["decisions"]).join("|");
    assert_eq!(decided(planned(no)), "");
    assert_eq!(
        decided(planned(no).user("No, use cents")),
        "rejected the plan \"Use decimals\""
    );
    assert_eq!(
        decided(planned(stays).says("Then I'll use cents.")),
        "rejected the plan \"Use decimals\""
    );
    assert_eq!(
        decided(planned(no).calls("Read", json!({"file_path": "/p/a"}))),
        "rejected the plan \"Use decimals\""
    );
}

/// A plan that waits for its approval is a question to the user, as long as nothing came of it.
#[test]
fn a_pending_plan_waits_for_the_user() {
    let world = World::new();
    let planned = |plan: Value| {
        Script::of(&world)
            .user("Fix the prices")
            .calls("ExitPlanMode", plan)
    };
    let told = |script: Script| {
        let all = script.json();
        (
            all["ending"].clone(),
            kinds(&all)
                .first()
                .map(|(kind, text)| format!("{kind}: {text}")),
        )
    };
    let plan = json!({"plan": "# Use decimals\n\n- everywhere"});
    assert_eq!(
        told(planned(plan.clone())),
        (
            json!("asked"),
            Some("question: approve the plan \"Use decimals\"".into())
        )
    );
    // Newer clients keep the plan in a file.
    assert_eq!(
        told(planned(json!({}))),
        (json!("asked"), Some("question: approve the plan".into()))
    );
    assert_eq!(
        told(planned(plan).result(false, "User has approved your plan.")).1,
        None
    );
}

fn queued(uuid: &str, minute: u32, text: &str) -> String {
    format!(
        r#"{{"type":"attachment","uuid":"{uuid}","timestamp":"2026-11-16T02:{minute:02}:00.000Z","attachment":{{"type":"queued_command","prompt":"{text}","commandMode":"prompt"}}}}"#
    ) + "\n"
}

/// A queued prompt was remembered for ever, so that the same word typed much later was taken for its twin.
#[test]
fn a_queued_prompt_has_only_one_twin() {
    let world = World::new();
    let lines = [
        queued("q1", 1, "continue"),
        user("u1", 2, "continue"),
        user("u2", 3, "other"),
        queued("q2", 4, "go on"),
        user("u3", 5, "other"),
        user("u4", 6, "go on"),
    ];
    world.claude(ID, &lines.concat());
    world.reader(&[ID]).run().success().stdout(concat!(
        "2026-11-16 02:01  user       continue\n",
        "           02:03  user       other\n",
        "           02:04  user       go on\n",
        "           02:05  user       other\n",
        "           02:06  user       go on\n",
    ));
    assert_eq!(
        world
            .reader(&["list", "--all", "--json"])
            .run()
            .success()
            .json()[0]["messages"],
        5
    );
}
