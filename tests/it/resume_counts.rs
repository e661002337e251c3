//! `session-reader resume`: what counts once. Messages, tokens, titles and times, however often they are written.

use serde_json::{Value, json};

use crate::support::clients::transcripts;
use crate::support::resume::{GOALS, resumed, rich_codex, rows_of, texts};
use crate::support::script::Script;
use crate::support::times::at;
use crate::support::world::{ONE, TWO, World, testdata};

/// How full the model's memory is: as the client counted for the last request, else by what was said; and what it holds, if
/// the transcript tells. 002-15
#[test]
fn tokens_are_the_clients_count_or_what_was_said() {
    let world = World::new();
    let said = Script::of(&world)
        .user(&"abcd".repeat(100))
        .save(&world, ONE);
    assert_eq!(
        resumed(&world, &[said.to_str().expect("UTF-8")])["token_budget"],
        json!({"used": 100, "limit": null})
    );
    let codex = testdata("codex/tools-resume@0.166.0/.codex/sessions/2026/11/16");
    for file in transcripts(&codex) {
        let raw = std::fs::read_to_string(&file).expect("there");
        let mut counts = raw.lines().filter_map(|line| {
            let line: Value = serde_json::from_str(line).ok()?;
            let info = &line["payload"]["info"];
            info.is_object().then(
                || json!({"used": info["last_token_usage"]["total_tokens"], "limit": info["model_context_window"]}),
            )
        });
        let budget = &resumed(&world, &[file.to_str().expect("UTF-8")])["token_budget"];
        assert_eq!(
            Some(budget),
            counts.next_back().as_ref(),
            "{}",
            file.display()
        );
    }
}

/// Lines may stand in another order than they happened: the earliest and the latest time count.
#[test]
fn the_earliest_and_the_latest_time_count() {
    let said = |minute: usize| json!({"type": "user", "uuid": format!("x{minute}"), "timestamp": at(minute), "message": {"role": "user", "content": "go on"}});
    let script = [5, 2, 9, 7]
        .iter()
        .fold(Script::of(&World::new()), |script, minute| {
            script.raw(said(*minute))
        });
    let all = script.json();
    assert_eq!(
        json!([all["started_at"], all["last_activity_at"]]),
        json!(["2026-11-16T01:02:00.000Z", "2026-11-16T01:09:00.000Z"])
    );
}

/// A fork repeats the beginning of its origin, and a session may move: what is said first is its own. A file in its place
/// has the id that it is called by, whatever stands in it.
#[test]
fn of_two_ids_or_directories_the_first_is_its_own() {
    let world = World::new();
    let script = rich_codex(&world);
    let mut origin = Script::codex(&world, TWO);
    origin.cwd = world.path("other");
    let copy = world.write(
        "copy.jsonl",
        script.head() + &origin.head() + &script.body(),
    );
    let all = resumed(&world, &[copy.to_str().expect("UTF-8")]);
    assert_eq!(
        json!([all["session_id"], all["cwd"], all["resume"]]),
        json!([ONE, world.path("work"), format!("codex resume {ONE}")])
    );
    let place = format!(".codex/sessions/2026/11/16/rollout-2026-11-16T01-00-00-{ONE}.jsonl");
    world.write(place, origin.head() + &script.body());
    assert_eq!(resumed(&world, &["1111"])["session_id"], ONE);
}

/// A person's title goes before the agent's, whichever was given last; one that is empty is none.
#[test]
fn a_persons_title_goes_before_the_agents() {
    let world = World::new();
    let by_person = |text: &str| json!({"type": "custom-title", "customTitle": text});
    let by_agent = |text: &str| json!({"type": "ai-title", "aiTitle": text});
    let start = || Script::of(&world).user(GOALS[0]);
    for (script, title) in [
        (start(), GOALS[0]),
        (start().raw(by_agent("Login")), "Login"),
        (
            start().raw(by_person("Mine")).raw(by_agent("Login")),
            "Mine",
        ),
        (
            start()
                .raw(by_agent("Login"))
                .raw(by_person("Mine"))
                .raw(by_person(" ")),
            "Login",
        ),
    ] {
        let all = script.json();
        assert_eq!(
            json!([all["title"], all["current_work"]["thread_title"]]),
            json!([title, title])
        );
    }
}

/// What a client counts for the whole session is no request, and never falls; what it counts for a message may be repeated,
/// early with less. The window stays known. Characters are counted, not bytes.
#[test]
fn counts_of_tokens_for_the_whole_session_are_no_request() {
    let world = World::new();
    let count = |total: [u64; 2], context: Option<u64>, window: Option<u64>| {
        let total = json!({"input_tokens": total[0], "output_tokens": total[1]});
        let info = json!({"total_token_usage": total, "last_token_usage": {"total_tokens": context}, "model_context_window": window});
        json!({"type": "token_count", "info": info})
    };
    let used = |counts: &[&Value]| {
        let script = Script::codex(&world, ONE).user(&"éa".repeat(200));
        counts
            .iter()
            .fold(script, |script, count| {
                script.item("event_msg", (*count).clone())
            })
            .save(&world, ONE);
        let all = resumed(&world, &["last"]);
        json!([all["tokens"], all["token_budget"]])
    };
    let expected = |input: u64, output: u64, used: u64, limit: Option<u64>| json!([{"input": input, "output": output}, {"used": used, "limit": limit}]);
    let whole = count([700, 30], None, None);
    assert_eq!(used(&[&whole]), expected(700, 30, 100, None));
    let last = count([900, 40], Some(55), Some(2000));
    assert_eq!(used(&[&whole, &last]), expected(900, 40, 55, Some(2000)));
    assert_eq!(used(&[&last, &whole]), expected(900, 40, 55, Some(2000)));
    // Who gives a budget knows better than the transcript.
    assert_eq!(
        resumed(&world, &["last", "--budget", "77"])["token_budget"]["limit"],
        77
    );

    let part = |at: usize, input: u64, output: u64| json!({"id": "m", "role": "assistant", "content": [{"type": "text", "text": format!("Part {at}.")}], "usage": {"input_tokens": input, "output_tokens": output}});
    let script = [(100, 1), (50, 9), (100, 4), (100, 9)]
        .iter()
        .enumerate()
        .fold(
            Script::of(&world).user("go"),
            |script, (at, (input, output))| script.line("assistant", part(at, *input, *output)),
        );
    let all = script.json();
    assert_eq!(
        json!([all["tokens"], all["messages"]]),
        json!([{"input": 100, "output": 9}, 2])
    );
}

/// What was typed while the agent was busy may be written once more as a prompt: that is one. Typed twice, it is two.
#[test]
fn a_queued_prompt_that_is_written_again_is_one() {
    let world = World::new();
    let queued = |minute: usize, text: &str| json!({"type": "attachment", "uuid": format!("q{minute}"), "timestamp": at(minute), "attachment": {"type": "queued_command", "prompt": text, "commandMode": "prompt"}});
    let said = |script: Script| {
        let all = script.json();
        (
            texts(&all["recent_messages"]).join("|"),
            all["messages"].clone(),
        )
    };
    let start = || Script::of(&world).user("go");
    assert_eq!(
        said(
            start()
                .raw(queued(1, "and the footer"))
                .user("and the footer")
        ),
        ("go|and the footer".into(), json!(2))
    );
    assert_eq!(
        said(
            start()
                .raw(queued(1, "again"))
                .raw(queued(2, "again"))
                .user("again")
        ),
        ("go|again|again".into(), json!(3))
    );
    assert_eq!(
        said(start().raw(queued(1, "one")).user("two").user("one")),
        ("go|one|two|one".into(), json!(4))
    );
}

/// A call is a message only if it is part of one; the list counts the same.
#[test]
fn calls_without_a_message_are_not_counted() {
    let world = World::new();
    rich_codex(&world).save(&world, ONE);
    let listed = world.reader(&["list", "--json"]).run().success().json();
    assert_eq!(
        json!([
            resumed(&world, &["last"])["messages"],
            listed[0]["messages"]
        ]),
        json!([3, 3])
    );
}

/// Messages of both sides, in the order in which they were said.
#[test]
fn messages_of_both_sides_are_in_their_order() {
    let world = World::new();
    let all = Script::of(&world)
        .user("one")
        .says("Two.")
        .user("three")
        .says("Four.")
        .json();
    let expected = json!([
        ["user", "one"],
        ["assistant", "Two."],
        ["user", "three"],
        ["assistant", "Four."]
    ]);
    assert_eq!(
        rows_of(&all, "recent_messages", &["role", "text"]),
        expected
    );
}

/// A line that lists the conversation again adds nothing to it: neither what was said nor what was not, as in the list.
#[test]
fn what_is_listed_again_is_not_said_again() {
    let world = World::new();
    world.write(
        ".gemini/tmp/work/.project_root",
        world.path("work").display().to_string(),
    );
    let message = |id: &str, kind: &str, text: &str| json!({"id": id, "timestamp": at(1), "type": kind, "content": [{"text": text}]});
    let (asked, answered) = (
        message("a", "user", GOALS[0]),
        message("b", "gemini", "Done."),
    );
    let head = json!({"sessionId": ONE, "projectHash": "p", "startTime": at(0), "kind": "main"});
    let again = json!({"$set": {"messages": [asked, answered, message("c", "user", GOALS[1])]}});
    let lines = [head, asked, answered, again]
        .map(|line| format!("{line}\n"))
        .concat();
    world.write(
        ".gemini/tmp/work/chats/session-2026-11-16T01-00-11111111.jsonl",
        lines,
    );
    let all = resumed(&world, &["last"]);
    assert_eq!(texts(&all["recent_messages"]), [GOALS[0], "Done."]);
    let listed = world.reader(&["list", "--json"]).run().success().json();
    assert_eq!(
        json!([all["messages"], listed[0]["messages"]]),
        json!([2, 2])
    );
    // The name of the file has only the beginning of the id.
    assert_eq!(
        json!([all["session_id"], listed[0]["id"]]),
        json!([ONE, ONE])
    );
}

/// A message that is written again with more in it counts as it was written last.
#[test]
fn an_answer_that_is_written_again_counts_as_written_last() {
    let world = World::new();
    let line = |id: &str, kind: &str, text: &str| {
        json!({"id": id, "timestamp": "2026-11-16T01:00:00.000Z", "type": kind, "content": text})
            .to_string()
            + "\n"
    };
    let head =
        json!({"sessionId": ONE, "projectHash": "x", "startTime": "2026-11-16T01:00:00.000Z"})
            .to_string()
            + "\n";
    let lines = head
        + &line("u1", "user", "Fix the slow login page")
        + &line("g1", "gemini", "Working on")
        + &line(
            "g1",
            "gemini",
            "Working on it. Shall I commit the whole handler?",
        );
    let path = world.write("session.jsonl", lines);
    let all = resumed(&world, &[path.to_str().expect("UTF-8")]);
    assert_eq!(
        all["summary"]["text"],
        "Working on it. Shall I commit the whole handler?"
    );
    assert_eq!(
        (&all["ending"], &all["messages"]),
        (&json!("answered"), &json!(2))
    );
}

/// Two prompts that were queued and are then written once more are two prompts, in the list and here.
#[test]
fn two_queued_prompts_are_two() {
    let world = World::new();
    let queued = |text: &str| {
        let attachment = json!({"type": "queued_command", "prompt": text, "commandMode": "prompt"});
        json!({"type": "attachment", "timestamp": "2026-11-16T01:05:00Z", "cwd": world.path("work"), "attachment": attachment})
    };
    let script = Script::of(&world)
        .user(GOALS[0])
        .raw(queued("and the tests"))
        .raw(queued("and the docs"));
    script
        .user("and the tests")
        .user("and the docs")
        .user("and the docs")
        .save(&world, ONE);
    let all = resumed(&world, &[]);
    let said = texts(&all["recent_messages"]);
    assert_eq!(
        said,
        [GOALS[0], "and the tests", "and the docs", "and the docs"]
    );
    let listed = world.reader(&["list", "--json"]).run().success().json();
    assert_eq!(
        (&listed[0]["messages"], &all["messages"]),
        (&json!(4), &json!(4))
    );
}

/// A session of Gemini whose messages stand only in a checkpoint is a session like any other.
#[test]
fn messages_that_are_only_listed_count() {
    let world = World::new();
    let said = |kind: &str, text: &str| json!({"id": kind, "timestamp": "2026-11-16T01:00:00.000Z", "type": kind, "content": text});
    let head = json!({"sessionId": ONE, "projectHash": "x", "kind": "main"});
    let listed = json!({"$set": {"messages": [said("user", GOALS[0]), said("gemini", "Done.")]}});
    let path = world.write("session.jsonl", format!("{head}\n{listed}\n"));
    let all = resumed(&world, &[path.to_str().expect("UTF-8")]);
    assert_eq!(
        json!([
            all["messages"],
            all["current_work"]["intent"]["text"],
            all["ending"]
        ]),
        json!([2, GOALS[0], "answered"])
    );
}
