//! With `redact` on, no command shows a secret, wherever it stands; and one file of the source is the gate for all.

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use session_core::env::Env;
use session_core::show::terminal::Style;
use session_format::time::Time;
use session_reader::args;

use crate::support::claude::{answer, call, prompt, result};
use crate::support::files::files_below;
use crate::support::times::NOW;
use crate::support::world::{ONE, TWO, World};

const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
const NINE: &str = "99999999-0000-4000-8000-000000000009";

/// Two sessions with the secret in the title, the directory, a prompt, an answer, a command, its result, a file name, a
/// task and an error; and it is in a tag, a pin, every kind of note, the user's profile, a setting and a descriptor.
fn world_full_of_secrets() -> World {
    let world = World::new();
    let cwd = world.path(format!("work/{SECRET}"));
    std::fs::create_dir_all(&cwd).expect("a directory");
    for (id, minute) in [(ONE, 40), (TWO, 50)] {
        let time = |second: u8| format!("2026-11-16T02:{minute}:{second:02}Z");
        let edit = format!(
            r#"{{"type":"assistant","uuid":"e-{id}","timestamp":"{}","message":{{"id":"e-{id}","role":"assistant","content":[{{"type":"tool_use","id":"e1","name":"Edit","input":{{"file_path":"src/{SECRET}.rs","old_string":"a","new_string":"fn {SECRET}() {{}}"}}}}]}}}}"#,
            time(5),
        );
        let tasks = format!(
            r#"{{"type":"assistant","uuid":"t-{id}","timestamp":"{}","message":{{"id":"t-{id}","role":"assistant","content":[{{"type":"tool_use","id":"t1","name":"TodoWrite","input":{{"todos":[{{"content":"rotate {SECRET}","status":"pending"}}]}}}}]}}}}"#,
            time(6),
        );
        let error = format!(
            r#"{{"type":"system","subtype":"api_error","uuid":"x-{id}","timestamp":"{}","error":{{"formatted":"401 for {SECRET}"}}}}"#,
            time(30),
        );
        let title = format!(r#"{{"type":"custom-title","customTitle":"deploy with {SECRET}"}}"#);
        let lines = [
            prompt(
                &cwd,
                &time(1),
                &format!("please deploy it with {SECRET} to production"),
            ),
            call(
                &time(2),
                "c1",
                &format!("curl -H 'X-Key: {SECRET}' https://example.com"),
            ),
            result(&time(3), "c1", true).replace("\"out\"", &format!("\"denied: {SECRET}\"")),
            edit + "\n" + &tasks + "\n" + &title + "\n",
            answer(
                &cwd,
                &time(20),
                &format!("I deployed it with {SECRET}, and it works."),
            ),
            error + "\n",
        ];
        world.claude(id, &lines.concat());
    }
    for (words, kind) in [
        ("pin", "pin"),
        ("note decision", "d"),
        ("note blocker", "b"),
        ("note next", "n"),
        ("note fact", "f"),
    ] {
        let args: Vec<&str> = words.split(' ').collect();
        let text = format!("{kind} {SECRET}");
        world
            .context(&[&args[..], &[text.as_str()]].concat())
            .run()
            .success();
    }
    world
        .context(&["profile", "set", "rule", &format!("never use {SECRET}")])
        .run()
        .success();
    world
        .context(&["tag", &format!("t-{SECRET}"), "--session", ONE])
        .run()
        .success();
    world.context(&["done", ONE]).run().success();
    world.write(
        ".config/session-monitor/config.toml",
        format!("budget = \"{SECRET}\"\n"),
    );
    world.write(
        format!(".config/session-monitor/formats/{SECRET}.toml"),
        "agent = 1\n",
    );
    world
}

/// Every command that shows anything, in every form.
#[test]
fn no_command_shows_a_secret() {
    let world = world_full_of_secrets();
    let cwd = world.path(format!("work/{SECRET}"));
    // Something of the hook's for the doctor to show.
    let input = format!(
        r#"{{"hook_event_name":"UserPromptSubmit","session_id":"{NINE}","prompt":"hi","cwd":{cwd:?}}}"#
    );
    world.claude(NINE, &prompt(&cwd, "2026-11-16T02:55:00Z", "look around"));
    world.context(&[]).stdin(input).run();
    let missing = format!("/nowhere/{SECRET}.jsonl");
    let unknown = format!("x-{SECRET}");
    let transcript = world.transcript(ONE).display().to_string();
    let reader: [&[&str]; 35] = [
        &["list"],
        &["list", "--all"],
        &["list", "--json"],
        &["find", "deploy", "--print"],
        &["find", "deploy", "--json"],
        &["find", "deploy", "--cwd"],
        &["log", ONE],
        &["log", ONE, "--full"],
        &["log", ONE, "--results", "1"],
        &["log", ONE, "--json", "--full"],
        &["log", ONE, "--json", "--results", "1"],
        &["resume", ONE],
        &["resume", ONE, "--json"],
        &["resume"],
        &["resume", ONE, "--md"],
        &["continue", ONE, "--print"],
        &["continue", ONE, "--with", &unknown],
        &["restore"],
        &["restore", "--print"],
        &["recap", "--all"],
        &["recap", "--all", "--md"],
        &["recap", "--all", "--json"],
        &["deploy"],
        &["deplyo"],
        &["log", &unknown],
        &["log", &missing],
        &["list", "--agent", &unknown],
        &["status", "--format", "json"],
        &["profile"],
        &["profile", "--json"],
        &["capabilities"],
        &["capabilities", "--json"],
        &["formats"],
        &["formats", "check", &transcript],
        &["formats", "check", &missing],
    ];
    let context: [&[&str]; 13] = [
        &["pins"],
        &["pins", "--json"],
        &["notes"],
        &["notes", "--json"],
        &["tags"],
        &["tags", "--json"],
        &["profile"],
        &["profile", "--json"],
        &["doctor"],
        &["explain", &unknown],
        &["mute", &unknown],
        &["done", &unknown],
        &["tag", "x", "--session", &unknown],
    ];
    let all = reader
        .map(|args| (true, args))
        .into_iter()
        .chain(context.map(|args| (false, args)));
    for (is_reader, args) in all {
        let shown = |redact: &str| {
            let run = if is_reader {
                world.reader(args)
            } else {
                world.context(args)
            };
            let done = run
                .env("SESSION_READER_REDACT", redact)
                .env("COLUMNS", "200")
                .run();
            format!("{}{}", done.out(), done.err())
        };
        let (open, hidden) = (shown("off"), shown("on"));
        assert!(
            open.contains(SECRET),
            "{args:?} shows it, so that there is something to hide:\n{open}"
        );
        assert!(hidden.contains("[redacted]"), "{args:?}\n{hidden}");
        assert!(!hidden.contains("ghp_"), "{args:?}\n{hidden}");
    }
    // Who follows is stopped at once, after what was said so far.
    for args in [
        &["log", ONE, "--follow"][..],
        &["log", "--follow", "--all", "--lines", "9"],
    ] {
        let shown = |redact: &str| {
            let now = Time::parse(NOW.as_bytes()).expect("a time");
            let env =
                Env::fixed(&world.path(""), cwd.clone(), now).with("SESSION_READER_REDACT", redact);
            let words = ["session-reader"].iter().chain(args).map(OsString::from);
            let command = args::parse(words, &env, false).expect("a command").command;
            let (mut out, mut err, stop) = (Vec::new(), Vec::new(), AtomicBool::new(true));
            session_reader::run(
                command,
                &env,
                Style::new(&env, false, None),
                &mut out,
                &mut err,
                &stop,
            );
            String::from_utf8([out, err].concat()).expect("UTF-8")
        };
        assert!(shown("off").contains(SECRET), "{args:?}");
        let hidden = shown("on");
        assert!(
            hidden.contains("[redacted]") && !hidden.contains("ghp_"),
            "{args:?}\n{hidden}"
        );
    }
    // Made for a model: never with a secret, whatever is set.
    world.append(
        &transcript,
        prompt(
            &cwd,
            "2026-11-16T02:56:00Z",
            &format!("now deploy it with {SECRET} again"),
        ),
    );
    for args in [&["explain", NINE, "--all"][..], &["explain", NINE]] {
        let done = world.context(args).env("COLUMNS", "200").run();
        let told: Vec<&str> = done
            .out()
            .lines()
            .filter(|line| line.starts_with("    "))
            .collect();
        assert!(
            told.concat().contains("[redacted]") && !told.concat().contains("ghp_"),
            "{args:?}\n{}",
            done.out()
        );
    }
    let codes = world.reader(&["resume", ONE, "--codes"]).run();
    assert!(
        codes.out().contains("[redacted]") && !codes.out().contains("ghp_"),
        "{}",
        codes.out()
    );
}

/// A secret that would be cut is hidden before: no beginning of it is left at the edge of a narrow terminal.
#[test]
fn what_is_cut_is_hidden_first() {
    let world = world_full_of_secrets();
    for width in ["20", "34", "48", "62", "76"] {
        for args in [
            &["list", "--all"][..],
            &["resume", ONE],
            &["log", ONE, "--full"],
            &["deploy"],
        ] {
            let done = world
                .reader(args)
                .env("SESSION_READER_REDACT", "on")
                .env("COLUMNS", width)
                .run();
            assert!(
                !done.out().contains("ghp") && !done.err().contains("ghp"),
                "{args:?} {width}\n{}",
                done.out()
            );
        }
    }
}

/// Secrets are looked for by the gate, and by those two who keep a part of a text: what is cut off cannot be searched
/// any more. Nobody else cleans a text by hand.
#[test]
fn only_the_gate_hides_and_cleans() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let allowed: [(&str, &[&str]); 2] = [
        (
            "secrets::",
            &[
                "core/show/gate.rs",
                "core/fold/text.rs",
                "context/hook/reader.rs",
            ],
        ),
        ("characters::", &["core/show/gate.rs"]),
    ];
    let mut wrong = Vec::new();
    for path in files_below(&src)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
    {
        let below = path
            .strip_prefix(&src)
            .expect("below src")
            .display()
            .to_string();
        let text = std::fs::read_to_string(&path).expect("a source file");
        for (used, by) in allowed {
            let uses = text
                .lines()
                .any(|line| !line.trim_start().starts_with("//") && line.contains(used));
            if uses && !by.contains(&&*below) && !below.starts_with("core/secrets/") {
                wrong.push(format!("{below} uses {used}"));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}
