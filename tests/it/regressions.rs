//! Bugs that got away once, each with its story.

use crate::world::World;

const ID: &str = "5e551000-0000-4000-8000-000000000001";

fn user(uuid: &str, minute: u32, text: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"{uuid}","timestamp":"2026-11-16T02:{minute:02}:00.000Z","message":{{"role":"user","content":"{text}"}}}}"#
    ) + "\n"
}

fn queued(uuid: &str, minute: u32, text: &str) -> String {
    format!(
        r#"{{"type":"attachment","uuid":"{uuid}","timestamp":"2026-11-16T02:{minute:02}:00.000Z","attachment":{{"type":"queued_command","prompt":"{text}","commandMode":"prompt"}}}}"#
    ) + "\n"
}

fn pi(id: &str, minute: u32, text: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","timestamp":"2026-11-16T02:{minute:02}:00.000Z","message":{{"role":"user","content":"{text}"}}}}"#
    )
}

/// A line cut off after a backslash in a key was walked past its end, and the slice after it took the program down.
#[test]
fn a_line_cut_in_an_escaped_key() {
    let world = World::new();
    world.claude(ID, &format!("{{\"type\":\"user\",\"abc\\\n{}", user("u1", 1, "after")));
    world
        .reader(&[ID])
        .run()
        .status(0)
        .stdout("2026-11-16 02:01  user       after\n")
        .stderr_has("1 line could not be read");
    world.reader(&["list", "--all"]).run().success();
}

/// Ids were compared byte by byte and then cut in the middle of a character.
#[test]
fn ids_that_differ_within_a_character() {
    let world = World::new();
    world.claude("aaaaaaaaaé", &user("u1", 1, "one"));
    world.claude("aaaaaaaaaè", &user("u2", 2, "two"));
    assert_eq!(world.reader(&["list", "--all", "--json"]).run().success().json().len(), 2);
    world.reader(&["list", "--all"]).run().success();
}

/// Tokens near the end of 64 bits were added up beyond it.
#[test]
fn token_counts_do_not_overflow() {
    let world = World::new();
    let answer = |id: u32| {
        format!(
            r#"{{"type":"assistant","uuid":"a{id}","timestamp":"2026-11-16T02:02:00Z","message":{{"id":"m{id}","content":[{{"type":"text","text":"x"}}],"usage":{{"input_tokens":18446744073709551615,"output_tokens":9}}}}}}"#
        ) + "\n"
    };
    world.claude(ID, &format!("{}{}", answer(1), answer(2)));
    let tokens = &world.reader(&["list", "--all", "--json"]).run().success().json()[0]["tokens"];
    assert_eq!(tokens["input"], u64::MAX);
    world.reader(&["list", "--all"]).run().success();
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
    assert_eq!(world.reader(&["list", "--all", "--json"]).run().success().json()[0]["messages"], 5);
}

/// A record behind one of no interest on the same line was left unread, because the walk stopped early.
#[test]
fn a_record_behind_an_ignored_one() {
    let world = World::new();
    let lines = [
        format!("{}\n", pi("a", 1, "first")),
        format!("{{\"type\":\"model_change\",\"id\":\"b\"}}{}\n", pi("c", 2, "no newline")),
        format!("{{\"type\":\"model_change\",\"id\":\"d\",\"x{}\n", pi("e", 3, "cut")),
        format!("{}\n", pi("f", 4, "last")),
    ];
    let path = world.write("some.jsonl", lines.concat());
    world
        .reader(&[path.to_str().expect("UTF-8")])
        .run()
        .status(0)
        .stdout(concat!(
            "2026-11-16 02:01  user       first\n",
            "           02:02  user       no newline\n",
            "           02:03  user       cut\n",
            "           02:04  user       last\n",
        ))
        .stderr_has("1 line could not be read");
}

/// A cut record with many objects in it used up the tries before the whole one behind it.
#[test]
fn a_record_behind_a_cut_one_of_many_objects() {
    let world = World::new();
    let edits = r#"{"old":"a","new":"b"},"#.repeat(200);
    let cut = format!(r#"{{"type":"assistant","uuid":"a1","message":{{"content":[{{"input":{{"edits":[{edits}"#);
    world.claude(ID, &format!("{cut}{}", user("u1", 1, "behind")));
    world.reader(&[ID]).run().status(0).stdout("2026-11-16 02:01  user       behind\n");
}

/// Long tool results used up the room that is kept of a long line, and what the user typed after them was lost.
#[test]
fn a_prompt_behind_many_long_results() {
    let world = World::new();
    let result = format!(r#"{{"type":"tool_result","tool_use_id":"t","content":"{}"}},"#, "x".repeat(5 << 20));
    let blocks = result.repeat(8);
    world.claude(
        ID,
        &format!(
            "{{\"type\":\"user\",\"uuid\":\"u1\",\"timestamp\":\"2026-11-16T02:01:00Z\",\"message\":{{\"content\":[{blocks}{{\"type\":\"text\",\"text\":\"typed after\"}}]}}}}\n"
        ),
    );
    world.reader(&[ID]).run().success().stdout("2026-11-16 02:01  user       typed after\n");
}

/// One line with a wrong clock ended a log that was limited by time.
#[test]
fn an_old_line_among_new_ones() {
    let world = World::new();
    let old = user("u2", 2, "wrong clock").replace("2026-11-16", "2026-11-01");
    world.claude(ID, &[user("u1", 1, "one"), old, user("u3", 3, "three")].concat());
    world
        .reader(&[ID, "--since", "1h"])
        .run()
        .success()
        .stdout(concat!("2026-11-16 02:01  user       one\n", "           02:03  user       three\n",));
}

/// A session that is known only from a list of what was said before was shown by `log` and missing from the list.
#[test]
fn a_session_of_relisted_messages() {
    let world = World::new();
    let header = r#"{"sessionId":"8b585e11-2eb8-459b-b1a6-75f9c89c4176","projectHash":"x","kind":"main"}"#;
    let list = r#"{"$set":{"messages":[{"id":"m1","timestamp":"2026-11-16T02:01:00Z","type":"user","content":[{"text":"hi"}]},{"id":"m2","timestamp":"2026-11-16T02:02:00Z","type":"gemini","content":"hello"}]}}"#;
    world.write(".gemini/tmp/p/chats/session-2026-11-16T02-00-8b585e11.jsonl", format!("{header}\n{list}\n{list}\n"));
    world
        .reader(&["8b585e11"])
        .run()
        .success()
        .stdout(concat!("2026-11-16 02:01  user       hi\n", "           02:02  assistant  hello\n",));
    assert_eq!(world.reader(&["list", "--all", "--json"]).run().success().json()[0]["messages"], 2);
}

/// A file in the working directory hid the session whose title it shares.
#[test]
fn a_bare_word_is_a_session_before_it_is_a_file() {
    let world = World::new();
    world.claude(ID, &user("u1", 1, "billing"));
    world.write("work/billing", "not a transcript");
    world.reader(&["billing"]).run().success().stdout("2026-11-16 02:01  user       billing\n");
}

/// Commands were shown relative to the working directory, as if they were paths.
#[test]
fn a_command_is_shown_as_it_was_run() {
    let world = World::new();
    let work = world.path("work");
    let call = |id: &str, tool: &str, key: &str, subject: String| {
        format!(
            r#"{{"type":"assistant","uuid":"{id}","timestamp":"2026-11-16T02:02:00Z","message":{{"id":"{id}","content":[{{"type":"tool_use","id":"t{id}","name":"{tool}","input":{{"{key}":"{subject}"}}}}]}}}}"#
        ) + "\n"
    };
    let prompt = user("u1", 1, "go").replace("\"uuid\"", &format!("\"cwd\":\"{}\",\"uuid\"", work.display()));
    let run = call("a1", "Bash", "command", format!("{}/run.sh --force", work.display()));
    let edit = call("a2", "Edit", "file_path", format!("{}/src/a.rs", work.display()));
    world.claude(ID, &[prompt, run, edit].concat());
    world.reader(&[ID, "--lines", "2"]).run().success().stdout(&format!(
        "2026-11-16 02:02  assistant  [Bash {}/run.sh --force]\n           02:02  assistant  [Edit src/a.rs]\n",
        work.display()
    ));
}

/// What a client wrote with an unclosed bracket in it was shown twice.
#[test]
fn an_unclosed_bracket_in_a_note() {
    let world = World::new();
    world.claude(ID, &user("u1", 1, "Caveat: The messages below were generated if a < b"));
    world
        .reader(&[ID, "--full"])
        .run()
        .success()
        .stdout("2026-11-16 02:01  note       Caveat: The messages below were generated if a < b\n");
}

/// An object that never ended was searched for its end after each of its members.
#[test]
fn a_long_line_of_one_key_is_read_in_time() {
    let world = World::new();
    let members = r#""kind":"human","#.repeat(100_000);
    let line = format!("{{\"type\":\"user\",\"origin\":{{{members}\"x\":1}},\"message\":{{\"content\":\"long\"}}}}\n");
    world.claude(ID, &format!("{line}{}", user("u2", 2, "after")));
    world
        .reader(&[ID])
        .run()
        .success()
        .stdout(concat!("                  user       long\n", "2026-11-16 02:02  user       after\n",));
}

/// A name that goes on where an id in a file name ends was taken for that id, whatever came after it.
#[test]
fn a_longer_id_is_compared_whole() {
    let world = World::new();
    let id = "8b585e11-2eb8-459b-b1a6-75f9c89c4176";
    let header = format!(r#"{{"sessionId":"{id}","projectHash":"x","kind":"main"}}"#);
    let prompt = r#"{"id":"m1","timestamp":"2026-11-16T02:01:00Z","type":"user","content":[{"text":"hi"}]}"#;
    world.write(".gemini/tmp/p/chats/session-2026-11-16T02-00-8b585e11.jsonl", format!("{header}\n{prompt}\n"));
    for name in ["8b585e11", "8b585e11-2eb8", id] {
        world.reader(&[name]).run().success().stdout("2026-11-16 02:01  user       hi\n");
    }
    world.reader(&["8b585e11-ffff"]).run().status(2).stdout("").stderr_has("no session is called '8b585e11-ffff'");
}
