//! Settings and flags of the hook. One that is wrong is said, and the default is used.

use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::support::claude::{asked, prompt};
use crate::support::hook::{block, hook, input, on_machine, text};
use crate::support::run::Run;
use crate::support::times::ago;
use crate::support::trouble::Tells::{Both, Nothing};
use crate::support::trouble::{Check, OBSERVER, Scene, TOLD, UNTOLD};
use crate::support::world::{ME, ONE, TWO, World, path};

/// The file, then variables, then flags; what is wrong is said, and passed over.
#[test]
fn flags_go_before_variables_and_those_before_the_file() {
    let world = World::new();
    asked(&world, ONE, 3, "x");
    std::fs::create_dir_all(world.path("there")).expect("a directory");
    world.write(
        format!(".claude/projects/-any/{TWO}.jsonl"),
        prompt(&world.path("there"), &ago(4), "y"),
    );
    let (one, two) = (
        "- 11111111 (3m ago, 1 message): \"x\"",
        "- 22222222 (4m ago, 1 message): \"y\"",
    );
    let (project, machine) = (block(&[one]), on_machine(&block(&[one, two])));
    let only_one = on_machine(&project);
    let config = path(&world, ".config/session-monitor/config.toml");
    let (span, number) = (
        "not a time span like",
        "not a number of characters from 1 to 9000; ignored",
    );
    let tiny = "nothing fits into 9 characters; see --budget".to_owned();
    type Case<'a> = (
        &'a str,
        &'a [(&'a str, &'a str)],
        &'a [&'a str],
        &'a str,
        &'a [String],
    );
    let (scope, budget) = ("SESSION_CONTEXT_SCOPE", "SESSION_CONTEXT_BUDGET");
    let cases: [Case; 22] = [
        ("", &[], &[], &project, &[]),
        ("scope = 'machine'", &[], &[], &machine, &[]),
        (
            "scope = 'machine'",
            &[(scope, "project")],
            &[],
            &project,
            &[],
        ),
        (
            "scope = 'machine'",
            &[(scope, "project")],
            &["--scope", "machine"],
            &machine,
            &[],
        ),
        ("scope = 'machine'", &[(scope, "")], &[], &machine, &[]),
        ("budget = 9", &[], &[], "", std::slice::from_ref(&tiny)),
        ("budget = 9", &[(budget, "500")], &[], &project, &[]),
        (
            "",
            &[(budget, "500")],
            &["--budget", "9"],
            "",
            std::slice::from_ref(&tiny),
        ),
        ("first_look = '1m'", &[], &[], "", &[]),
        ("deadline = '2s'\nredact = true", &[], &[], &project, &[]),
        (
            "ignore = ['~/there', '/nowhere']\nscope = 'machine'",
            &[],
            &[],
            &only_one,
            &[],
        ),
        ("ignore = ['~/work']", &[], &[], "", &[]),
        (
            "budget = 0",
            &[],
            &[],
            &project,
            &[format!("{config}: budget = 0: {number}")],
        ),
        (
            "budget = 'many'",
            &[],
            &[],
            &project,
            &[format!("{config}: budget = many: {number}")],
        ),
        (
            "scope = 'x'",
            &[],
            &[],
            &project,
            &[format!(
                "{config}: scope = x: neither project nor machine; ignored"
            )],
        ),
        (
            "first_look = 7",
            &[],
            &[],
            &project,
            &[format!(
                "{config}: first_look = 7: {span} 30m or 2h; ignored"
            )],
        ),
        (
            "deadline = 'x'",
            &[],
            &[],
            &project,
            &[format!(
                "{config}: deadline = x: {span} 300ms or 1s; ignored"
            )],
        ),
        (
            "colour = 1",
            &[],
            &[],
            &project,
            &[format!("{config}: colour = 1: no such setting; ignored")],
        ),
        (
            "",
            &[(budget, "-1")],
            &[],
            &project,
            &[format!("{budget}=-1: {number}")],
        ),
        (
            "",
            &[],
            &["--budget", "9001"],
            &project,
            &[format!("--budget 9001: {number}")],
        ),
        (
            "",
            &[],
            &["--budget"],
            &project,
            &["--budget needs a value, ignored".into()],
        ),
        (
            "",
            &[],
            &["--frobnicate", "--budget=x", "--scope=machine"],
            &machine,
            &[
                "unknown argument '--frobnicate', ignored; see session-context --help".into(),
                format!("--budget x: {number}"),
            ],
        ),
    ];
    for (number, (file, variables, flags, expected, problems)) in cases.into_iter().enumerate() {
        world.write(".config/session-monitor/config.toml", file);
        let run = hook(&world, flags, &input(&world, &format!("observer-{number}")));
        let done = variables
            .iter()
            .fold(run, |run, (name, value)| run.env(name, value))
            .run()
            .status(0);
        assert_eq!(
            text(&done),
            *expected,
            "{file} {variables:?} {flags:?}: {}",
            done.err()
        );
        let expected: String = problems
            .iter()
            .map(|problem| format!("session-context: {problem}\n"))
            .collect();
        assert_eq!(done.err(), expected, "{file} {variables:?} {flags:?}");
    }
    world.write(".config/session-monitor/config.toml", "\nbudget 9");
    let done = hook(&world, &[], &input(&world, ME)).run().status(0);
    assert_eq!(text(&done), project);
    let start = format!("session-context: {config}:2: ");
    assert!(
        done.err().starts_with(&start) && done.err().ends_with("; taken as empty\n"),
        "{}",
        done.err()
    );
}

#[test]
fn flags_that_are_wrong_are_said_and_passed_over() {
    let long = "99999999999999999999";
    let faults: [(&[&str], &[&str]); 15] = [
        (&["--budget", "0"], &["--budget 0: "]),
        (&["--budget=abc"], &["--budget abc: "]),
        (&["--budget", "-1"], &["--budget -1: "]),
        (&["--budget", long], &[long]),
        (&["--budget="], &["--budget"]),
        (&["--budget"], &["--budget needs a value"]),
        (&["--scope", "moon"], &["--scope moon: "]),
        (&["--scope"], &["--scope needs a value"]),
        (&["--agent"], &["--agent needs a value"]),
        (&["--nonsense"], &["--nonsense"]),
        (&["-x"], &["'-x'"]),
        (&["-"], &["'-'"]),
        (&["--scope", "project", "extra"], &["extra"]),
        (
            &["--nonsense", "--budget", "x", "extra"],
            &["--nonsense", "extra", "--budget x"],
        ),
        (&["--a\nb\u{1b}[31m"], &["--a b"]),
    ];
    for (args, says) in faults {
        TOLD.one((&args.join(" "), says, &|_, call| call.arg(args)));
    }
    let bytes = std::ffi::OsStr::from_bytes(b"--\xff\xfe");
    TOLD.one(("not UTF-8", &["unknown argument"], &|_, call| {
        call.with(|run| run.arg(bytes));
    }));
    UNTOLD.all(&[
        (
            "agent unknown",
            &["no agent is called 'emacs'"],
            &|_, call| call.arg(&["--agent", "emacs"]),
        ),
        ("agent empty", &["no agent is called ''"], &|_, call| {
            call.arg(&["--agent="]);
        }),
    ]);
}

const CONFIG: &str = ".config/session-monitor/config.toml";
const FORMATS: &str = ".config/session-monitor/formats";

#[test]
fn settings_that_are_wrong_are_said_and_the_default_is_used() {
    let check = Check(Both, Nothing, |scene| {
        fs::remove_dir_all(scene.0.path(".config")).expect("removed");
    });
    let files: [(&str, &[u8], &[&str]); 12] = [
        (CONFIG, b"budget = 500\nscope = = 2\n", &["config.toml:2"]),
        (CONFIG, b"budget = \"\xff\"", &["config.toml"]),
        (CONFIG, b"bugdet = 500", &["bugdet"]),
        (CONFIG, b"ignore = 5", &["ignore"]),
        (CONFIG, b"[budget]\nx = 1", &["budget"]),
        (
            CONFIG,
            b"budget = [1]\nscope = 3\nfirst_look = true",
            &["budget", "first_look", "scope"],
        ),
        (CONFIG, b"budget = -1\nscope = \"\"", &["budget", "scope"]),
        (
            ".config/session-monitor/formats/agent-sdk.toml",
            b"agent = ",
            &["agent-sdk.toml"],
        ),
        (
            ".config/session-monitor/formats/mine.toml",
            b"",
            &["mine.toml"],
        ),
        (
            ".config/session-monitor/formats/mine.toml",
            b"\xff\0",
            &["mine.toml"],
        ),
        (FORMATS, b"", &[]),
        (CONFIG, b"", &[]),
    ];
    for (file, content, says) in files {
        check.one((&String::from_utf8_lossy(content), says, &|scene, _| {
            _ = scene.0.write(file, content);
        }));
    }
    for below in [CONFIG, ".config/session-monitor/formats/mine.toml"] {
        let name = &below[below.len() - 9..];
        let make = |scene: &Scene| {
            fs::create_dir_all(scene.0.path(below).parent().expect("a parent")).expect("made");
        };
        check.all(&[
            ("a directory", &[name], &|scene, _| {
                fs::create_dir_all(scene.0.path(below)).expect("a directory");
            }),
            ("a link to itself", &[name], &|scene, _| {
                make(scene);
                symlink(scene.0.path(below), scene.0.path(below)).expect("a link");
            }),
            ("not readable", &[name], &|scene, call| {
                scene.0.write(below, "budget = 1");
                fs::set_permissions(scene.0.path(below), Permissions::from_mode(0o000))
                    .expect("permissions");
                call.with(Run::without_rights);
            }),
        ]);
    }
    let names = [
        "SESSION_CONTEXT_BUDGET",
        "SESSION_CONTEXT_SCOPE",
        "SESSION_CONTEXT_FIRST_LOOK",
    ];
    TOLD.all(&[
        ("bad variables", &names, &|_, call| {
            names.iter().for_each(|name| call.env(name, "moon\nshine"));
        }),
        ("a window without end", &[], &|_, call| {
            call.env("SESSION_CONTEXT_FIRST_LOOK", "290000000years");
        }),
    ]);
}

/// Muting must not fail because a setting is large.
#[test]
fn a_window_without_end_can_be_muted() {
    let scene = Scene::new();
    let mute = scene
        .0
        .context(&["mute"])
        .env("SESSION_CONTEXT_FIRST_LOOK", "290000000years");
    mute.env("CLAUDE_CODE_SESSION_ID", OBSERVER).run().status(0);
    assert_eq!(scene.hears(), "");
}
