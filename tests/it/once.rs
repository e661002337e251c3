//! What counts once, a test for each rule: the list, `resume`, the profile, the log and the hook give the same number,
//! because all of them read through `read::once`.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};
use session_core::fold::{Activity, Continuity, Ending, Profile, Reading, Tally};
use session_core::formats::{self, AgentFormat};
use session_core::read::once::Once;
use session_core::read::{Before, Lines, Log, Transcript, Wanted, log};
use session_format::cursor::Buffer;
use session_format::entry::{Entry, Mark, Position, What};
use session_format::time::Time;

use crate::scene::Chance;
use crate::support::claude::{answer, call, prompt, result};
use crate::support::times::ago;
use crate::support::world::{World, testdata};

/// A transcript and the format that it is written in.
struct Session {
    world: World,
    path: PathBuf,
    format: AgentFormat,
}

impl Session {
    fn new(agent: &str, lines: impl AsRef<[u8]>) -> Session {
        let world = World::new();
        let path = world.write("session.jsonl", lines);
        Session {
            world,
            path,
            format: of(agent),
        }
    }

    fn transcript(&self) -> Transcript<'_> {
        Transcript::open(&self.path, self.format.format()).expect("a transcript")
    }

    fn list(&self) -> Tally {
        self.count(&mut Once::default(), Tally::default(), Position::START)
            .0
    }

    fn count(&self, once: &mut Once, mut tally: Tally, from: Position) -> (Tally, Position) {
        let lines = Lines {
            from,
            ..Lines::default()
        };
        let read = self
            .transcript()
            .fold(lines, once, &mut Buffer::default(), &mut tally)
            .expect("read");
        tally.settle();
        tally.broken += read.broken;
        (tally, read.end)
    }

    fn resume(&self) -> Continuity {
        let transcript = Transcript::open(&self.path, self.format.detailed())
            .expect("a transcript")
            .full(true);
        let mut all = transcript
            .continuity(Position::START, None, None)
            .expect("read")
            .expect("in time");
        all.finish();
        all
    }

    fn profile(&self, once: &mut Once) -> Profile {
        let wall = |time: Time| time;
        let mut reading = Reading::new(None, &wall);
        self.transcript()
            .fold(Lines::default(), once, &mut Buffer::default(), &mut reading)
            .expect("read");
        reading.finish("agent")
    }

    fn log(&self) -> Log {
        let wanted = Wanted {
            count: usize::MAX,
            full: true,
            unfinished: true,
            ..Wanted::default()
        };
        log::last(&self.transcript().full(true), wanted).expect("read")
    }

    /// What a hook tells that has seen the file up to an offset, and what it remembers then.
    fn hook(&self, from: Position, last: &[u32]) -> (Option<Activity>, Vec<u32>) {
        let (lines, before) = (
            Lines {
                from,
                ..Lines::default()
            },
            Before {
                last,
                ..Before::default()
            },
        );
        let part = self
            .transcript()
            .part(lines, before, &mut Buffer::default())
            .expect("read");
        (Activity::of(&part.entries, part.ending), part.last)
    }

    /// How many messages each of them counts: list, resume, profile, log, hook.
    fn messages(&self) -> [u64; 5] {
        let of_profile = self
            .profile(&mut Once::default())
            .agents()
            .first()
            .map_or(0, |(_, amount, _)| amount.messages);
        let of_log = self
            .log()
            .entries
            .iter()
            .filter(|entry| entry.begins)
            .count() as u64;
        let of_hook = self
            .hook(Position::START, &[])
            .0
            .map_or(0, |activity| activity.messages);
        [
            self.list().messages,
            self.resume().messages,
            of_profile,
            of_log,
            of_hook,
        ]
    }

    /// Input tokens: list, resume, profile.
    fn tokens(&self) -> [u64; 3] {
        [
            self.list().input,
            self.resume().input,
            self.profile(&mut Once::default()).input,
        ]
    }
}

fn of(agent: &str) -> AgentFormat {
    let (formats, _) = formats::known(Path::new("/nowhere"));
    formats
        .into_iter()
        .find(|format| format.name == agent)
        .expect("a format")
}

fn minute(minute: usize) -> String {
    format!("2026-11-16T02:{minute:02}:00Z")
}

fn texts(entries: &[Entry]) -> Vec<String> {
    let text = |entry: &Entry| match &entry.what {
        What::Text(text) => Some(text.to_string()),
        What::Call(call) => Some(format!("[{}]", call.tool)),
        _ => None,
    };
    entries.iter().filter_map(text).collect()
}

fn lines(all: &[Value]) -> String {
    all.iter().map(|line| format!("{line}\n")).collect()
}

/// Prompts and their answers, and all of that once more: a client that takes a session up may copy it, however long it
/// is.
#[test]
fn what_is_written_again_counts_once() {
    let cwd = Path::new("/work");
    let turn = |at: usize| {
        prompt(cwd, &minute(at), &format!("do part {at}")) + &answer(cwd, &minute(at), "Done.")
    };
    for count in [10, 40] {
        let all: String = (0..count).map(turn).collect();
        let session = Session::new("agent-sdk", format!("{all}{all}"));
        assert_eq!(session.messages(), [2 * count as u64; 5]);
        assert_eq!(session.tokens(), [1000 * count as u64; 3]);
        assert_eq!(
            session.profile(&mut Once::default()).prompts(),
            count as u64
        );
        assert_eq!(texts(&session.log().entries).len(), 2 * count);
    }
}

/// Copied results do not give the floor back to the agent.
#[test]
fn what_is_written_again_changes_no_turn() {
    let cwd = Path::new("/work");
    let all = [
        prompt(cwd, &minute(0), "run the tests"),
        call(&minute(1), "t1", "cargo test"),
        result(&minute(2), "t1", false),
        answer(cwd, &minute(3), "They pass."),
    ];
    let session = Session::new("agent-sdk", all.concat() + &all[..3].concat());
    assert_eq!(
        [session.list().ending(), session.resume().ending],
        [Ending::Answered; 2]
    );
}

/// A prompt typed while the agent was busy is written once more when the agent takes it up. The same words typed
/// again are another prompt.
#[test]
fn a_queued_prompt_counts_once() {
    let cwd = Path::new("/work");
    let queued = |at: usize, text: &str| {
        let attachment = json!({"type": "queued_command", "prompt": text, "commandMode": "prompt"});
        json!({"type": "attachment", "uuid": format!("q{at}"), "timestamp": minute(at), "attachment": attachment})
    };
    let mut text = prompt(cwd, &minute(0), "fix the login") + &lines(&[queued(1, "and the tests")]);
    text += &answer(cwd, &minute(2), "Fixed.");
    let before = Session::new("agent-sdk", &text);
    assert_eq!(before.messages(), [3; 5]);
    assert_eq!(before.list().ending(), Ending::Answered);

    text += &prompt(cwd, &minute(3), "and the tests");
    let taken_up = Session::new("agent-sdk", &text);
    assert_eq!(taken_up.messages(), [3; 5]);
    assert_eq!(
        [taken_up.list().ending(), taken_up.resume().ending],
        [Ending::Working; 2]
    );

    text += &prompt(cwd, &minute(4), "and the tests");
    assert_eq!(Session::new("agent-sdk", &text).messages(), [4; 5]);
}

/// No more prompts are remembered than may wait, and those are the newest.
#[test]
fn the_newest_of_many_queued_prompts_count_once() {
    let queued = |at: usize| {
        let attachment =
            json!({"type": "queued_command", "prompt": format!("p{at}"), "commandMode": "prompt"});
        json!({"type": "attachment", "uuid": format!("q{at}"), "timestamp": minute(at), "attachment": attachment})
    };
    let all: Vec<Value> = (0..40).map(queued).collect();
    let mut text = prompt(Path::new("/work"), &minute(0), "begin") + &lines(&all);
    // The last 32 are known again.
    (8..40).for_each(|at| text += &prompt(Path::new("/work"), &minute(at), &format!("p{at}")));
    assert_eq!(Session::new("agent-sdk", &text).messages(), [41; 5]);
}

/// A key that a line has twice counts once, the first time, whatever is under it.
#[test]
fn the_first_of_two_equal_keys_counts() {
    let block = |text: &str| json!([{"type": "text", "text": text}]);
    for (first, second, said) in [
        (block("first"), block("second"), "first"),
        (json!("first"), block("second"), "first"),
        (block("first"), json!("second"), "first"),
    ] {
        let line = json!({"type": "assistant", "uuid": "a", "timestamp": minute(1), "message": {"id": "m", "content": "C"}});
        let line = line.to_string().replace(
            r#""content":"C""#,
            &format!(r#""content":{first},"content":{second}"#),
        );
        let session = Session::new("agent-sdk", line + "\n");
        assert_eq!(texts(&session.log().entries), [said]);
    }
}

fn gemini(kind: &str, id: &str, text: &str) -> Value {
    json!({"id": id, "timestamp": minute(1), "type": kind, "content": text})
}

/// A checkpoint lists the conversation again. Where it is all there is, it counts.
#[test]
fn a_conversation_that_is_listed_again_counts_once() {
    let head = json!({"sessionId": "s", "projectHash": "x", "kind": "main"});
    let said = [
        gemini("user", "u1", "fix the login"),
        gemini("gemini", "g1", "Fixed."),
    ];
    let checkpoint = json!({"$set": {"messages": said}});
    let [user, agent] = said.clone();
    let written = Session::new(
        "gemini",
        lines(&[head.clone(), user, agent, checkpoint.clone()]),
    );
    assert_eq!(written.messages(), [2; 5]);
    let listed = Session::new(
        "gemini",
        lines(&[head.clone(), checkpoint.clone(), checkpoint.clone()]),
    );
    assert_eq!(listed.messages(), [2; 5]);
    let more = gemini("user", "u2", "and the tests");
    let goes_on = Session::new(
        "gemini",
        lines(&[head.clone(), checkpoint.clone(), more, checkpoint.clone()]),
    );
    assert_eq!(goes_on.messages(), [3; 5]);
    // Whoever reads only the end does not know what was said before, but that it was.
    let end = Position::new(lines(&[head]).len() as u64);
    assert_eq!(
        (
            goes_on.hook(end, &[]).0.map(|told| told.messages),
            listed.hook(end, &[]).0
        ),
        (Some(1), None)
    );
}

/// A message of five lines that all tell its tokens, the first ones fewer.
#[test]
fn a_message_in_five_lines_is_one() {
    let line = |at: u64, block: Value| {
        let usage = json!({"input_tokens": 100 + at, "output_tokens": 1});
        let message = json!({"id": "m1", "role": "assistant", "content": [block], "usage": usage});
        json!({"type": "assistant", "uuid": format!("a{at}"), "timestamp": minute(1), "message": message})
    };
    let text = |at: u64| line(at, json!({"type": "text", "text": format!("part {at}")}));
    let read = |at: u64| {
        line(
            at,
            json!({"type": "tool_use", "id": format!("t{at}"), "name": "Read", "input": {"file_path": "/a.rs"}}),
        )
    };
    let all = [text(0), text(1), read(2), read(3), text(4)];
    let session = Session::new(
        "agent-sdk",
        prompt(Path::new("/work"), &minute(0), "go") + &lines(&all),
    );
    assert_eq!(session.messages(), [2; 5]);
    assert_eq!(session.tokens(), [104; 3]);
    assert_eq!(
        texts(&session.log().entries),
        ["go", "part 0", "part 1", "[Read]", "[Read]", "part 4"]
    );
}

/// A message that is appended again in full, with more in it: its later version counts, and what is new in it.
#[test]
fn a_message_that_is_appended_again_is_one() {
    let first = gemini("gemini", "g1", "I look");
    let mut second = gemini("gemini", "g1", "I look at it.");
    second["tokens"] = json!({"input": 70, "output": 5});
    second["toolCalls"] = json!([{"id": "t1", "name": "read_file", "args": {"file_path": "/a.rs"}, "status": "success"}]);
    let head = json!({"sessionId": "s", "projectHash": "x", "kind": "main"});
    let session = Session::new(
        "gemini",
        lines(&[
            head,
            gemini("user", "u1", "look at a.rs"),
            first,
            second.clone(),
            second,
        ]),
    );
    assert_eq!(session.messages(), [2; 5]);
    assert_eq!(session.tokens(), [70; 3]);
    assert_eq!(
        texts(&session.log().entries),
        ["look at a.rs", "I look at it.", "[read_file]"]
    );
    let answers: Vec<_> = session
        .resume()
        .answers
        .into_iter()
        .map(|answer| answer.text)
        .collect();
    assert_eq!(answers, ["I look at it."]);
}

/// A fork begins with a copy of the session it left, and counts from there.
#[test]
fn a_fork_counts_from_where_it_left() {
    let cwd = Path::new("/work");
    let shared = prompt(cwd, &minute(0), "plan the release") + &answer(cwd, &minute(1), "Planned.");
    let parent = Session::new(
        "agent-sdk",
        shared.clone() + &prompt(cwd, &minute(2), "go on"),
    );
    let fork = Session::new(
        "agent-sdk",
        shared + &prompt(cwd, &minute(3), "do it differently"),
    );
    let stranger = Session::new("agent-sdk", prompt(cwd, &minute(0), "something else"));

    let mut once = Once::default();
    let whole = parent.profile(&mut once);
    let family = once.family();
    let mut of_fork = Once::after(once.into_ids());
    let rest = fork.profile(&mut of_fork);
    assert_eq!(
        [&whole, &rest].map(|profile| (profile.prompts(), profile.input)),
        [(2, 1000), (1, 0)]
    );
    assert_eq!(of_fork.family(), family);
    let mut other = Once::default();
    stranger.profile(&mut other);
    assert_ne!(other.family(), family);
}

/// A look that comes in the middle of a message: when the message goes on, that is no more messages.
#[test]
fn a_message_that_goes_on_after_a_look_is_no_news() {
    let cwd = Path::new("/work");
    let line = |uuid: &str, block: Value| {
        let message = json!({"id": "m1", "role": "assistant", "content": [block]});
        lines(&[
            json!({"type": "assistant", "uuid": uuid, "timestamp": minute(1), "message": message}),
        ])
    };
    let first = prompt(cwd, &minute(0), "look at a.rs")
        + &line("a1", json!({"type": "text", "text": "I look."}));
    let read =
        json!({"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/a.rs"}});
    let session = Session::new("agent-sdk", first.clone());
    let (told, last) = session.hook(Position::START, &[]);
    assert_eq!(told.expect("news").messages, 2);
    session.world.append(
        "session.jsonl",
        line("a2", read) + &line("a1", json!({"type": "text", "text": "I look."})),
    );
    let (told, after) = session.hook(Position::new(first.len() as u64), &last);
    let told = told.expect("it reads a file");
    assert_eq!((told.messages, told.reads, told.answer), (0, 0, None));
    assert_eq!(after, last);
}

/// Every transcript of every client, as the format it is kept under.
fn all_of_testdata() -> Vec<Session> {
    fn collect(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).expect("a directory") {
            match entry.expect("an entry").path() {
                path if path.is_dir() => collect(&path, found),
                path if path.extension().is_some_and(|end| end == "jsonl") => found.push(path),
                _ => {}
            }
        }
    }
    let mut paths = Vec::new();
    collect(&testdata(""), &mut paths);
    paths.sort();
    let session = |path: &PathBuf| {
        let below = path.strip_prefix(testdata("")).expect("below testdata");
        let agent = below
            .iter()
            .next()
            .and_then(|name| name.to_str())
            .expect("UTF-8");
        Session::new(agent, std::fs::read(path).expect("a transcript"))
    };
    paths.iter().map(session).collect()
}

/// Real sessions: whoever counts, and whoever says whose turn it is, says the same.
#[test]
fn all_agree_on_real_sessions() {
    let mut seen = 0;
    for session in all_of_testdata() {
        let [list, resume, profile, log, hook] = session.messages();
        assert_eq!([resume, profile, log], [list; 3]);
        // To the hook, a prompt that the user stopped before the agent did anything is no message.
        let is_interrupt = |entry: &Entry| matches!(entry.what, What::Mark(Mark::Interrupt, _));
        let stopped = session.log().entries.iter().any(is_interrupt);
        assert!(
            hook == list || stopped && hook < list,
            "{hook} of {list} in {}",
            session.path.display()
        );
        assert_eq!(session.list().ending(), session.resume().ending);
        assert_eq!(session.list().input, session.resume().input);
        seen += list;
    }
    assert!(seen > 100, "{seen} messages");
}

/// A file that grows, in pieces that end anywhere, is counted on as if it had been counted in one go.
#[test]
fn counting_on_is_counting_at_once() {
    let mut chance = Chance::new(10);
    for whole in all_of_testdata() {
        let bytes = std::fs::read(&whole.path).expect("a transcript");
        let (mut once, mut tally, mut counted, mut end) =
            (Once::default(), Tally::default(), Position::START, 0);
        let growing = Session {
            world: World::new(),
            path: PathBuf::new(),
            format: whole.format,
        };
        let growing = Session {
            path: growing.world.write("session.jsonl", ""),
            ..growing
        };
        while end < bytes.len() {
            end = (end + 1 + chance.below(bytes.len() / 4 + 1)).min(bytes.len());
            std::fs::write(&growing.path, &bytes[..end]).expect("a file");
            (tally, counted) = growing.count(&mut once, tally, counted);
            let mut at_once = Once::default();
            let expected = growing
                .count(&mut at_once, Tally::default(), Position::START)
                .0;
            // Put away and taken up, as the list does.
            let [on, anew] = [(&tally, &once), (&expected, &at_once)].map(|both| json!(both));
            assert_eq!(on[0], anew[0]);
            once = Once::deserialize(&on[1]).expect("the same");
            assert_eq!(once, Once::deserialize(&anew[1]).expect("the same"));
            tally = Tally::deserialize(&on[0]).expect("the same");
        }
    }
}

/// A question asked beside another call waits for its user, whichever of the two ended.
#[test]
fn a_question_beside_another_call_waits() {
    let block = |id: &str, name: &str, input: Value| json!({"type": "tool_use", "id": id, "name": name, "input": input});
    let question = block(
        "ask",
        "AskUserQuestion",
        json!({"questions": [{"question": "Which database?"}]}),
    );
    let read = block("read", "Read", json!({"file_path": "/a.rs"}));
    let message = |content: Value| {
        let message = json!({"id": "m1", "role": "assistant", "content": content});
        lines(&[
            json!({"type": "assistant", "uuid": "a1", "timestamp": minute(1), "message": message}),
        ])
    };
    let begin = prompt(Path::new("/work"), &minute(0), "set up the storage");
    for (calls, then, ending) in [
        (json!([question, read]), String::new(), Ending::Asked),
        (
            json!([question, read]),
            result(&minute(2), "read", false),
            Ending::Asked,
        ),
        (
            json!([read, question]),
            result(&minute(2), "read", false),
            Ending::Asked,
        ),
        (
            json!([question, read]),
            result(&minute(2), "ask", false),
            Ending::Working,
        ),
        (
            json!([question]),
            prompt(Path::new("/work"), &minute(2), "never mind"),
            Ending::Working,
        ),
        (json!([read]), String::new(), Ending::Working),
    ] {
        let session = Session::new(
            "agent-sdk",
            format!("{begin}{}{then}", message(calls.clone())),
        );
        let told = session.hook(Position::START, &[]).0.expect("news").ending;
        assert_eq!(
            [session.list().ending(), session.resume().ending, told],
            [ending; 3],
            "{calls} {then}"
        );
    }
}

/// However large the numbers that a client writes.
#[test]
fn token_sums_saturate() {
    let line = |id: &str| {
        let usage = json!({"input_tokens": u64::MAX, "output_tokens": u64::MAX, "cache_read_input_tokens": u64::MAX});
        let message = json!({"id": id, "role": "assistant", "content": "hm", "usage": usage});
        json!({"type": "assistant", "uuid": id, "timestamp": minute(1), "message": message})
    };
    let session = Session::new("agent-sdk", lines(&[line("a"), line("b")]));
    assert_eq!(session.tokens(), [u64::MAX; 3]);
    assert_eq!(session.resume().context(), u64::MAX);
}

/// The same call again in another message, and then its result: it is one call, and it has ended.
#[test]
fn a_call_that_is_written_in_two_messages_is_one() {
    let world = World::new();
    let line = |kind: &str, uuid: &str, message: Value| json!({"type": kind, "uuid": uuid, "cwd": world.path("work"), "timestamp": "2026-11-16T02:00:00Z", "message": message});
    let call = json!([{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]);
    let result =
        json!([{"type": "tool_result", "tool_use_id": "t", "is_error": true, "content": "no"}]);
    let lines = [
        line(
            "assistant",
            "a",
            json!({"id": "m", "role": "assistant", "content": call}),
        ),
        line(
            "assistant",
            "a",
            json!({"id": "n", "role": "assistant", "content": call}),
        ),
        line("user", "b", json!({"role": "user", "content": result})),
    ];
    let file = world.claude(
        "11111111-0000-4000-8000-000000000000",
        &lines.map(|line| line.to_string() + "\n").concat(),
    );
    let shown = world.reader(&["log"]).arg(&file).run().success();
    assert!(
        shown.out().ends_with("[Bash ls] failed\n") && shown.out().lines().count() == 1,
        "{}",
        shown.out()
    );
}

/// A message may be written again in full and be much longer then: what is kept of it stays within its limit.
#[test]
fn a_message_that_grows_is_kept_within_its_limit() {
    let world = World::new();
    let say = |text: &str| {
        let message = json!({"id": "g1", "timestamp": ago(4), "type": "gemini", "content": text});
        message.to_string() + "\n"
    };
    world.write(
        ".gemini/tmp/work/.project_root",
        world.path("work").to_str().expect("UTF-8"),
    );
    let head = json!({"sessionId": "12345678-0000", "projectHash": "x", "startTime": ago(9),
        "lastUpdated": ago(9), "kind": "main"});
    let prompt = |id: &str, text: &str| {
        json!({"id": id, "timestamp": ago(3), "type": "user", "content": [{"text": text}]})
            .to_string()
            + "\n"
    };
    let long = "long ".repeat(520_000);
    let lines = format!(
        "{head}\n{}{}{}{}",
        prompt("u1", "begin it"),
        say("short"),
        say(&long),
        prompt("u2", &long)
    );
    world.write(
        ".gemini/tmp/work/chats/session-2026-11-16T02-00-12345678.jsonl",
        lines,
    );
    assert!(crate::support::hook::told(&world).contains("gemini:12345678"));
}
