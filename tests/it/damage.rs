//! Any bytes as a transcript: a damaged, huge or changing line costs itself only, little memory, and no crash.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::scene::Chance;
use crate::support::claude::user;
use crate::support::run::{Done, Run};
use crate::support::world::{ID, World};

fn pi(id: &str, minute: u32, text: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","timestamp":"2026-11-16T02:{minute:02}:00.000Z","message":{{"role":"user","content":"{text}"}}}}"#
    )
}

/// A line cut off after a backslash in a key was walked past its end, and the slice after it took the program down.
#[test]
fn a_line_cut_in_an_escaped_key_costs_itself_only() {
    let world = World::new();
    world.claude(
        ID,
        &format!("{{\"type\":\"user\",\"abc\\\n{}", user("u1", 1, "after")),
    );
    world
        .reader(&[ID])
        .run()
        .status(0)
        .stdout("2026-11-16 02:01  user       after\n")
        .stderr_has("1 line could not be read");
    world.reader(&["list", "--all"]).run().success();
}

/// A record behind one of no interest on the same line was left unread, because the walk stopped early.
#[test]
fn a_record_behind_an_ignored_one_is_read() {
    let world = World::new();
    let lines = [
        format!("{}\n", pi("a", 1, "first")),
        format!(
            "{{\"type\":\"model_change\",\"id\":\"b\"}}{}\n",
            pi("c", 2, "no newline")
        ),
        format!(
            "{{\"type\":\"model_change\",\"id\":\"d\",\"x{}\n",
            pi("e", 3, "cut")
        ),
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
fn a_record_behind_a_cut_one_of_many_objects_is_read() {
    let world = World::new();
    let edits = r#"{"old":"a","new":"b"},"#.repeat(200);
    let cut = format!(
        r#"{{"type":"assistant","uuid":"a1","message":{{"content":[{{"input":{{"edits":[{edits}"#
    );
    world.claude(ID, &format!("{cut}{}", user("u1", 1, "behind")));
    world
        .reader(&[ID])
        .run()
        .status(0)
        .stdout("2026-11-16 02:01  user       behind\n");
}

/// Long tool results used up the room that is kept of a long line, and what the user typed after them was lost.
#[test]
fn a_prompt_behind_many_long_results_is_read() {
    let world = World::new();
    let result = format!(
        r#"{{"type":"tool_result","tool_use_id":"t","content":"{}"}},"#,
        "x".repeat(5 << 20)
    );
    let blocks = result.repeat(8);
    world.claude(
        ID,
        &format!(
            "{{\"type\":\"user\",\"uuid\":\"u1\",\"timestamp\":\"2026-11-16T02:01:00Z\",\"message\":{{\"content\":[{blocks}{{\"type\":\"text\",\"text\":\"typed after\"}}]}}}}\n"
        ),
    );
    world
        .reader(&[ID])
        .run()
        .success()
        .stdout("2026-11-16 02:01  user       typed after\n");
}

/// An object that never ended was searched for its end after each of its members.
#[test]
fn a_long_line_of_one_key_is_read_in_time() {
    let world = World::new();
    let members = r#""kind":"human","#.repeat(100_000);
    let line = format!(
        "{{\"type\":\"user\",\"origin\":{{{members}\"x\":1}},\"message\":{{\"content\":\"long\"}}}}\n"
    );
    world.claude(ID, &format!("{line}{}", user("u2", 2, "after")));
    world.reader(&[ID]).run().success().stdout(concat!(
        "                  user       long\n",
        "2026-11-16 02:02  user       after\n",
    ));
}

/// A format: where a transcript of it goes, a prompt in it, and lines of every kind it knows.
struct Kind {
    path: &'static str,
    prompt: &'static str,
    samples: &'static [&'static str],
}

impl Kind {
    fn prompt(&self, number: usize) -> String {
        self.prompt.replace("NUMBER", &number.to_string())
    }
}

const KINDS: [Kind; 6] = [
    Kind {
        path: ".claude/projects/-work/5e550000-0000-4000-8000-000000000000.jsonl",
        prompt: r#"{"type":"user","uuid":"uNUMBER","cwd":"/work","timestamp":"2026-11-16T02:00:00.000Z","message":{"role":"user","content":"marker NUMBER."}}"#,
        samples: &[
            r#"{"parentUuid":null,"isSidechain":false,"promptId":"p","type":"user","message":{"role":"user","content":"Ünïcödé 🎉👩‍👩‍👧 日本語 \"quotes\" \\back\\slash\n\nnew\tline \u0007\u001b[31m \u009b31m \ud83d\udc69 end"},"uuid":"s1","timestamp":"2026-11-16T02:28:46.010Z","cwd":"/home/dev/src/resume","sessionId":"s","version":"2.1.325"}"#,
            r#"{"type":"assistant","uuid":"s2","timestamp":"2026-11-16T02:00:05.000Z","message":{"id":"m1","role":"assistant","model":"claude-x","content":[{"type":"thinking","thinking":"hm \u001b]0;title\u0007","signature":"c2ln"},{"type":"text","text":"Like this:\n  make deploy"},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"npm \u001b[2J test","timeout":5e3}}],"usage":{"input_tokens":3,"cache_read_input_tokens":1e3,"output_tokens":-5}}}"#,
            r#"{"type":"user","uuid":"s3","timestamp":"2026-11-16T02:00:07.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"cut \ud83d"}]}]},"toolUseResult":{"stdout":"x","filenames":[]}}"#,
            r#"{"type":"attachment","uuid":"s4","timestamp":"2026-11-16T02:00:08.000Z","attachment":{"type":"queued_command","prompt":"also run the tests","commandMode":"prompt","origin":{"kind":"human"}}}"#,
            r#"{"type":"custom-title","customTitle":"fix\u001b[31m-login","sessionId":"s1"}"#,
            r#"{"type":"user","uuid":"s5","timestamp":"2026-11-16T02:06:00.000Z","message":{"role":"user","content":[{"type":"text","text":"<ide_opened_file>The user opened /p/a.rs</ide_opened_file>\nrename this function"}]}}"#,
        ],
    },
    Kind {
        path: ".codex/sessions/2026/11/16/rollout-2026-11-16T02-36-14-01a1e236-5556-7d73-8331-9ae8329bf077.jsonl",
        prompt: r#"{"timestamp":"2026-11-16T02:36:14.744Z","type":"response_item","payload":{"type":"message","id":"msg_NUMBER","role":"user","content":[{"type":"input_text","text":"marker NUMBER."}]}}"#,
        samples: &[
            r#"{"timestamp":"2026-11-16T02:36:14.081Z","ordinal":0,"type":"session_meta","payload":{"id":"01a1e236-5556-7d73-8331-9ae8329bf077","cwd":"/home/dev/src/proj","base_instructions":{"text":"filler"}}}"#,
            r#"{"timestamp":"2026-11-16T02:36:15.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"cargo \\u001b[31m test\",\"workdir\":\"/p\"}","call_id":"call_1"}}"#,
            r#"{"timestamp":"2026-11-16T02:36:16.000Z","type":"response_item","payload":{"type":"custom_tool_call","status":"completed","call_id":"call_2","name":"apply_patch","input":"*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** End Patch"}}"#,
            r#"{"timestamp":"2026-11-16T02:36:17.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_1","output":"Process exited with code 101\nerror: x"}}"#,
            r#"{"timestamp":"2026-11-16T02:36:18.000Z","type":"response_item","payload":{"type":"local_shell_call","call_id":"call_3","action":{"type":"exec","command":["bash","-lc","ls \u0085"]}}}"#,
            r#"{"timestamp":"2026-11-16T02:36:19.000Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":1200,"output_tokens":40}}}}"#,
        ],
    },
    Kind {
        path: ".copilot/session-state/017d6175-4212-49d6-81dd-586aa00db1bd/events.jsonl",
        prompt: r#"{"type":"user.message","data":{"content":"marker NUMBER."},"id":"uNUMBER","timestamp":"2026-11-16T02:46:24.160Z"}"#,
        samples: &[
            r#"{"type":"session.start","data":{"sessionId":"017d6175-4212-49d6-81dd-586aa00db1bd","version":1,"selectedModel":"gpt-4.1","contextTier":null,"context":{"cwd":"/home/dev"}},"id":"s1","timestamp":"2026-11-16T02:46:23.846Z"}"#,
            r#"{"type":"assistant.message","data":{"messageId":"m","model":"gpt-4.1","content":"Hello \u001b[0m from the stub.","reasoningText":"hm\u0000","toolRequests":[]},"id":"s2","timestamp":"2026-11-16T02:46:25.000Z"}"#,
            r##"{"type":"tool.execution_start","data":{"toolCallId":"call_000002","toolName":"create","arguments":{"path":"/home/dev/notes\u007f.md","file_text":"# Notes\n\n- first item\n"}},"id":"s3","timestamp":"2026-11-16T02:46:26.000Z"}"##,
            r#"{"type":"tool.execution_complete","data":{"toolCallId":"call_000002","success":false,"result":{"content":"no\u001bspace"}},"id":"s4","timestamp":"2026-11-16T02:46:27.000Z"}"#,
        ],
    },
    Kind {
        path: ".gemini/tmp/work/chats/session-2026-11-16T02-40-8b585e11.jsonl",
        prompt: r#"{"id":"uNUMBER","timestamp":"2026-11-16T02:40:19.222Z","type":"user","content":[{"text":"marker NUMBER."}]}"#,
        samples: &[
            r#"{"sessionId":"8b585e11-2eb8-459b-b1a6-75f9c89c4176","projectHash":"9ae6","startTime":"2026-11-16T02:40:19.207Z","kind":"main"}"#,
            r#"{"$set":{"messages":[{"id":"d049","timestamp":"2026-11-16T02:40:19.208Z","type":"user","content":[{"text":"<session_context>\nThis is the Gemini CLI.</session_context>"}]}]}}"#,
            r#"{"id":"s1","timestamp":"2026-11-16T02:40:04.413Z","type":"gemini","content":"I'll create\u009b it.","thoughts":[{"subject":"Planning","description":"the \u001b[1mfile."}],"tokens":{"input":1200,"output":40,"thoughts":3},"model":"gemini-2.5-flash","toolCalls":[{"id":"c1","name":"write_file","args":{"file_path":"a.rs"},"status":"error","resultDisplay":"no \u001b[5m"}]}"#,
            r#"{"$rewindTo":"m2"}"#,
        ],
    },
    Kind {
        path: ".pi/agent/sessions/--work--/2026-11-16T02-30-20-475Z_01a1e230-f038-75bd-a277-dd929a638220.jsonl",
        prompt: r#"{"type":"message","id":"uNUMBER","parentId":null,"timestamp":"2026-11-16T02:30:16.660Z","message":{"role":"user","content":[{"type":"text","text":"marker NUMBER."}],"timestamp":1794796216657}}"#,
        samples: &[
            r#"{"type":"session","version":3,"id":"01a1e230-f038-75bd-a277-dd929a638220","timestamp":"2026-11-16T02:30:20.475Z","cwd":"/home/dev/src/proj"}"#,
            r#"{"type":"message","id":"s1","timestamp":"2026-11-16T02:30:16.756Z","message":{"role":"assistant","content":[{"type":"text","text":"Hello\u001b[0m from the stub."},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls \u0000"}}],"model":"stub-model","usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4},"stopReason":"error","errorMessage":"500\u001bc"}}"#,
            r#"{"type":"message","id":"s2","timestamp":"2026-11-16T02:30:17.000Z","message":{"role":"toolResult","toolCallId":"c1","isError":true,"content":[{"type":"text","text":"boom \u001b[31m"}]}}"#,
            r#"{"type":"compaction","id":"s3","timestamp":"2026-11-16T02:31:00.000Z","summary":"Did X","tokensBefore":50000,"retainedTail":[{"role":"user","content":"hello"}]}"#,
            r#"{"type":"session_info","id":"s4","timestamp":"2026-11-16T02:31:01.000Z","name":"a \u001b[31mname"}"#,
        ],
    },
    Kind {
        path: ".qwen/projects/-work/chats/e6b1e60f-60f5-4238-a304-16d2574e7c28.jsonl",
        prompt: r#"{"uuid":"uNUMBER","sessionId":"e6b1e60f","timestamp":"2026-11-16T02:41:36.132Z","type":"user","provenance":"real_user","cwd":"/work","message":{"role":"user","parts":[{"text":"marker NUMBER."}]}}"#,
        samples: &[
            r#"{"uuid":"s1","timestamp":"2026-11-16T02:41:37.201Z","type":"assistant","cwd":"/home/dev/src/my proj.v1","model":"qwen","message":{"role":"model","parts":[{"text":"hm","thought":true},{"text":"I'll create \u001b[7m it."},{"functionCall":{"id":"c1","name":"write_file","args":{"file_path":"a\u001b.rs"}}}]},"usageMetadata":{"promptTokenCount":12,"candidatesTokenCount":7}}"#,
            r#"{"uuid":"s2","timestamp":"2026-11-16T02:41:38.201Z","type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"write_file","response":{"error":"\u001b[31mno"}}}]},"toolCallResult":{"callId":"c1","status":"error","resultDisplay":"no\u0007"}}"#,
            r#"{"uuid":"s3","timestamp":"2026-11-16T02:41:39.201Z","type":"system","subtype":"custom_title","systemPayload":{"customTitle":"t\u001b[31m","titleSource":"auto"}}"#,
        ],
    },
];

/// Lines no client should write, and some do.
fn odd_lines(prompt: &str) -> Vec<Vec<u8>> {
    let deep = |open: &str, close: &str, depth: usize| open.repeat(depth) + &close.repeat(depth);
    let inside = |content: String| {
        prompt
            .replace(r#""marker NUMBER.""#, &content)
            .replace("NUMBER", "odd")
            .into_bytes()
    };
    let mut lines: Vec<Vec<u8>> = [
        "",
        " ",
        "\r",
        "\u{feff}",
        "null",
        "true",
        "42",
        "-1e999",
        "\"text\"",
        "[]",
        "{}",
        "[null]",
        "{\"type\":null}",
        "{\"type\":\"user\"",
        "}{",
        "]",
        "{,}",
        "{\"a\":}",
        "\0\0\0\0",
        "{\"type\":\"user\",\"message\":null}",
        "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":null}}",
        "{\"\":\"\"}",
        "{\"type\":7,\"type\":[]}",
    ]
    .map(|line| line.as_bytes().to_vec())
    .into();
    lines.push(b"\xff\xfe\xfd".to_vec());
    lines.push(
        b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"\xff\xc3\x28 \xed\xa0\x80\"}}".to_vec(),
    );
    lines.push(deep("[", "]", 100_000).into_bytes());
    lines.push(deep("{\"a\":", "}", 50_000).into_bytes());
    lines.push("[".repeat(300_000).into_bytes());
    lines.push(inside(deep("[", "]", 3_000)));
    lines.push(inside(
        deep("{\"content\":", "}", 3_000).replace(":}", ":1}"),
    ));
    lines.push(inside(format!("[{}0]", "0,".repeat(100_000))));
    lines.push(inside(format!(
        "[{}0]",
        "{\"type\":\"text\",\"text\":null},".repeat(10_000)
    )));
    lines.push(inside("null".into()));
    lines.push(inside("-12.5e-7".into()));
    lines.push(inside(r#""one","content":"two","content":3"#.into()));
    lines.push(inside(r#""\ud83d \udc00 \ud83d\ud83d \u12""#.into()));
    lines.push(inside(
        r#""lone \ud83d, control \u0000\u001b[31m\u009b1m\u0085, bidi \u202e""#.into(),
    ));
    lines.push(
        String::from_utf8(inside("\"x\"".into()))
            .expect("text")
            .replace("\"type\"", "\"\\u0074ype\"")
            .into_bytes(),
    );
    lines.retain(|line| !line.contains(&b'\n'));
    lines
}

/// A real line with something done to it.
fn mutated(samples: &[&str], chance: &mut Chance) -> Vec<u8> {
    let mut line = samples[chance.below(samples.len())].as_bytes().to_vec();
    for _ in 0..=chance.below(3) {
        let at = chance.below(line.len() + 1);
        let to = (at + chance.below(40)).min(line.len());
        match chance.below(8) {
            0 if at < line.len() => line[at] ^= 1 << chance.below(8),
            1 => line.truncate(at),
            2 => drop(line.drain(at..to)),
            3 => {
                let other = samples[chance.below(samples.len())].as_bytes();
                line.truncate(at);
                line.extend_from_slice(&other[chance.below(other.len())..]);
            }
            4 => {
                let piece = line[at..to].to_vec();
                line.splice(at..at, piece);
            }
            5 => drop(line.splice(at..at, vec![0; chance.below(700)])),
            6 => drop(line.splice(at..to, [0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80])),
            _ => drop(line.splice(at..at, br#"{"type":"#.to_vec())),
        }
    }
    line.retain(|byte| *byte != b'\n');
    line
}

fn random_bytes(chance: &mut Chance) -> Vec<u8> {
    let letters = b"{}[]\":,\\u0et nrfalse\0\x1b\xff\xc3\x9b-1.";
    let any = chance.below(2) == 0;
    let byte = |chance: &mut Chance| {
        if any {
            chance.next() as u8
        } else {
            letters[chance.below(letters.len())]
        }
    };
    let length = chance.below(300);
    (0..length)
        .map(|_| byte(chance))
        .filter(|byte| *byte != b'\n')
        .collect()
}

/// No character of it is one that a terminal obeys.
#[track_caller]
fn assert_harmless(text: &str) {
    let obeyed = text.chars().find(|char| char.is_control() && *char != '\n');
    assert_eq!(
        obeyed,
        None,
        "in {:?}",
        text.lines().find(|line| line.chars().any(char::is_control))
    );
}

/// Puts lines between prompts, and finds all prompts, in order and once, in every form of the log.
#[track_caller]
fn assert_neighbours_stay(kind: &Kind, between: &[Vec<u8>]) {
    let world = World::new();
    let mut content = Vec::new();
    for (number, line) in between.iter().enumerate() {
        content.extend_from_slice(kind.prompt(number).as_bytes());
        content.push(b'\n');
        content.extend_from_slice(line);
        content.push(b'\n');
    }
    content.extend_from_slice(kind.prompt(between.len()).as_bytes());
    content.push(b'\n');
    let path = world.write(kind.path, content);
    let path = path.to_str().expect("UTF-8");
    let expected: Vec<usize> = (0..=between.len()).collect();
    for flags in [&[][..], &["--full"], &["--json"], &["--full", "--json"]] {
        let done = world
            .reader(&[&["log", path, "--lines", "1000000"], flags].concat())
            .run()
            .status(0);
        assert_harmless(done.out());
        assert_harmless(done.err());
        let shown = done
            .out()
            .split("marker ")
            .skip(1)
            .filter_map(|rest| rest.split_once('.')?.0.parse().ok());
        let shown: Vec<usize> = shown.collect();
        let missing = expected.iter().find(|number| !shown.contains(number));
        let what = missing.map(|number| {
            String::from_utf8_lossy(between.get(*number).unwrap_or(&between[number - 1]))
        });
        assert!(
            shown == expected,
            "{} {flags:?}: shown {}, missing {missing:?} near {what:?}",
            kind.path,
            shown.len()
        );
    }
    for args in [&["list", "--all"][..], &["list", "--all", "--json"]] {
        let done = world.reader(args).run().status(0);
        assert_harmless(done.out());
    }
}

/// 003-T05, 003-D14: `null`, numbers, duplicate keys, lone surrogates, depth, width: a line costs itself only.
#[test]
fn odd_lines_cost_themselves_only() {
    for kind in &KINDS {
        assert_neighbours_stay(kind, &odd_lines(kind.prompt));
    }
}

/// 003-T05: whatever happens to a line, its neighbours stay.
#[test]
fn mutated_lines_cost_themselves_only() {
    for (seed, kind) in KINDS.iter().enumerate() {
        let mut chance = Chance::new(seed as u64 + 1);
        let lines: Vec<_> = (0..1000)
            .map(|_| mutated(kind.samples, &mut chance))
            .collect();
        assert_neighbours_stay(kind, &lines);
    }
}

#[test]
fn random_lines_cost_themselves_only() {
    for (seed, kind) in KINDS.iter().enumerate() {
        let mut chance = Chance::new(seed as u64 + 100);
        let lines: Vec<_> = (0..500).map(|_| random_bytes(&mut chance)).collect();
        assert_neighbours_stay(kind, &lines);
    }
}

#[test]
fn every_prefix_of_a_line_costs_itself_only() {
    for kind in &KINDS {
        let prefixes = kind
            .samples
            .iter()
            .flat_map(|line| (0..line.len()).map(|end| line.as_bytes()[..end].to_vec()));
        assert_neighbours_stay(kind, &prefixes.collect::<Vec<_>>());
    }
}

/// It ended with one of its own statuses; what it printed.
#[track_caller]
fn assert_ended(run: Run) -> Done {
    let done = run.run();
    assert!(
        matches!(done.code(), Some(0..=2)),
        "{:?}: {}",
        done.code(),
        done.err()
    );
    done
}

/// A file of nothing but chance, whatever it is called and however it is asked for.
#[test]
fn random_files_do_no_harm() {
    for seed in 0..12 {
        let world = World::new();
        let mut chance = Chance::new(seed);
        let content: Vec<u8> = (0..chance.below(20))
            .flat_map(|_| [random_bytes(&mut chance), b"\n".to_vec()].concat())
            .collect();
        let kind = &KINDS[seed as usize % KINDS.len()];
        let known = world.write(kind.path, &content);
        let other = world.write("work/any.jsonl", &content);
        for path in [known, other] {
            let path = path.to_str().expect("UTF-8");
            for args in [
                &["log", path, "--full"][..],
                &["log", path, "--json"],
                &["formats", "check", path],
                &["list"],
            ] {
                let done = assert_ended(world.reader(args));
                assert_harmless(done.out());
                assert_harmless(done.err());
            }
        }
    }
}

/// A name on disk is a stranger's text, too.
#[test]
fn escape_sequences_in_file_names_reach_no_terminal() {
    let world = World::new();
    let kind = &KINDS[0];
    world.write(
        ".claude/projects/-work/\u{1b}[31mred\u{9b}1m.jsonl",
        kind.prompt(1) + "\n",
    );
    for args in [&["list", "--all"][..], &["no such name"], &["formats"]] {
        let done = world.reader(args).run();
        assert_harmless(done.out());
        assert_harmless(done.err());
    }
}

#[test]
fn escape_sequences_in_the_names_of_bad_files_reach_no_terminal() {
    let world = World::new();
    let bad = world.write("work/\u{1b}[31mred.jsonl", "nothing known\n");
    let done = world
        .reader(&["log", bad.to_str().expect("UTF-8")])
        .run()
        .status(2);
    assert_harmless(done.err());
}

/// Writes `start`, a run of one letter, and `end`.
fn write_long(file: &mut File, start: &str, megabytes: usize, end: &str) {
    let run = vec![b'x'; 1 << 20];
    file.write_all(start.as_bytes()).expect("written");
    (0..megabytes).for_each(|_| file.write_all(&run).expect("written"));
    file.write_all(end.as_bytes()).expect("written");
}

fn peak_kilobytes(child: &Child) -> u64 {
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("a running process");
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .expect("a peak");
    peak.trim()
        .trim_end_matches(" kB")
        .parse()
        .expect("a number")
}

/// Reads lines until one has a text in it. The program runs on, so that it can be measured.
fn read_until(out: impl std::io::Read, last: &str) -> String {
    let mut all = String::new();
    for line in BufReader::new(out).lines() {
        let line = line.expect("a line");
        all += &line;
        all.push('\n');
        if line.contains(last) {
            break;
        }
    }
    all
}

fn stop(mut child: Child) {
    child.kill().expect("killed");
    child.wait().expect("ended");
}

/// Lines of 40 MB that nobody wants to see are stepped over, backward in the log and forward in the list.
#[test]
fn huge_lines_are_stepped_over_in_little_memory() {
    let world = World::new();
    let kind = &KINDS[0];
    let path = world.write(kind.path, kind.prompt(1) + "\n");
    let mut file = OpenOptions::new()
        .append(true)
        .open(&path)
        .expect("the transcript");
    write_long(
        &mut file,
        r#"{"type":"progress","uuid":"x1","data":""#,
        40,
        "\"}\n",
    );
    write_long(&mut file, r#"{""#, 40, "\":1,\"type\":\"progress\"}\n");
    write_long(
        &mut file,
        r#"{"type":"user","uuid":"x2","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":""#,
        40,
        "\"}]},\"timestamp\":\"2026-11-16T02:00:01.000Z\"}\n",
    );
    writeln!(file, "{}", kind.prompt(2)).expect("written");

    let mut log = world
        .reader(&["log", path.to_str().expect("UTF-8"), "--follow"])
        .spawn();
    let mut list = world.reader(&["--follow", "--all"]).spawn();
    // Without a reader they would end before they are measured.
    let (mut out, mut err) = (
        log.stdout.take().expect("stdout"),
        list.stderr.take().expect("stderr"),
    );
    let shown = read_until(&mut out, "marker 2.");
    let said = read_until(&mut err, "following");
    let (in_log, in_list) = (peak_kilobytes(&log), peak_kilobytes(&list));
    stop(log);
    stop(list);
    assert_eq!(
        shown,
        "2026-11-16 02:00  user       marker 1.\n           02:00  user       marker 2.\n"
    );
    assert!(said.contains("following 1 session"), "{said}");
    assert!(
        in_log <= 16 * 1024 && in_list <= 16 * 1024,
        "log {in_log} kB, list {in_list} kB"
    );
}

/// Quirk 11: the prompt stands behind its picture.
#[test]
fn a_prompt_behind_a_large_picture_is_shown() {
    let world = World::new();
    let kind = &KINDS[0];
    let path = world.write(kind.path, "");
    let mut file = OpenOptions::new()
        .append(true)
        .open(&path)
        .expect("the transcript");
    write_long(
        &mut file,
        r#"{"type":"user","uuid":"u1","timestamp":"2026-11-16T02:00:00.000Z","message":{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":""#,
        20,
        "\"}},{\"type\":\"text\",\"text\":\"what is wrong here\"}]}}\n",
    );
    let expected = "2026-11-16 02:00  user       what is wrong here\n";
    world
        .reader(&[path.to_str().expect("UTF-8")])
        .run()
        .success()
        .stdout(expected);
    let listed = world
        .reader(&["list", "--all", "--json"])
        .run()
        .success()
        .json();
    assert_eq!(listed[0]["title"], "what is wrong here");
}

/// Says that it is over, also when a test fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A file that shrinks, grows and is replaced while it is read: an answer or none, never a crash.
#[test]
fn a_file_that_changes_while_it_is_read_does_no_harm() {
    let world = World::new();
    let kind = &KINDS[0];
    let lines: String = (0..3000).map(|number| kind.prompt(number) + "\n").collect();
    let path = world.write(kind.path, &lines);
    let other = world.path("other.jsonl");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut chance = Chance::new(7);
            while !done.load(Ordering::Relaxed) {
                let file = OpenOptions::new()
                    .write(true)
                    .open(&path)
                    .expect("the transcript");
                match chance.below(3) {
                    0 => file
                        .set_len(chance.below(lines.len()) as u64)
                        .expect("shorter"),
                    1 => file.write_all_at(lines.as_bytes(), 0).expect("whole again"),
                    _ => {
                        std::fs::write(&other, &lines[..chance.below(lines.len())])
                            .expect("another");
                        std::fs::rename(&other, &path).expect("replaced");
                    }
                }
            }
        });
        let _stop = Stop(&done);
        let name = path.to_str().expect("UTF-8");
        let commands = [
            &["log", name, "--lines", "2000"][..],
            &["list", "--all"],
            &["formats", "check", name],
        ];
        for args in commands.iter().cycle().take(30) {
            assert_ended(world.reader(args));
        }
    });
}
