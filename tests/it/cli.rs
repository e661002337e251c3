//! The command line: flags, exit status, streams, colours, times.

use std::io::Read;

use serde_json::json;

use crate::support::claude::{answer, prompt, ten};
use crate::support::run::in_a_terminal;
use crate::support::script::Script;
use crate::support::world::{ONE, World};

/// 003-D11: what cannot be meant is an error that says how it is done.
#[test]
fn bad_flags_are_errors_with_usage() {
    let world = ten();
    for args in [
        &["11111111", "--lines", "0"][..],
        &["11111111", "--lines", "abc"],
        &["11111111", "--lines", "-1"],
        &["11111111", "--lines", "1.5"],
        &["11111111", "--lines"],
        &["11111111", "--since", "soon"],
        &["11111111", "--frobnicate"],
        &["11111111", "22222222"],
        &["--frobnicate"],
        &["-x"],
        &["list", "--lines", "5"],
        &["list", "extra"],
        &["log", "11111111", "--all"],
        &["formats", "frobnicate"],
        &["formats", "check"],
    ] {
        let done = world.reader(args).run().status(2).stdout("");
        let shown = done.err();
        assert!(shown.starts_with("error: "), "{args:?}: {shown}");
        assert!(
            shown.contains("Usage: session-reader") || shown.contains("--help"),
            "{args:?}: {shown}"
        );
        assert!(!shown.contains('\u{1b}'), "{args:?}: {shown}");
    }
}

/// The bare command and one of flags only are the list.
#[test]
fn the_bare_command_is_the_list() {
    let world = ten();
    let list = world.reader(&["list"]).run().success().out().to_owned();
    world.reader(&[]).run().success().stdout(&list);
    let json = world
        .reader(&["list", "--json"])
        .run()
        .success()
        .out()
        .to_owned();
    world.reader(&["--json"]).run().success().stdout(&json);
    world
        .reader(&["--all", "--json"])
        .run()
        .success()
        .stdout(&json);
}

/// What follows a flag of the list is no name of a session.
#[test]
fn flags_of_the_list_need_no_command() {
    let world = ten();
    let json = world
        .reader(&["list", "--json"])
        .run()
        .success()
        .out()
        .to_owned();
    world
        .reader(&["--agent", "claude", "--json"])
        .run()
        .success()
        .stdout(&json);
    world
        .reader(&["--json", "--since", "7d"])
        .run()
        .success()
        .stdout(&json);
}

/// A reader that has seen enough ends us, without a word: `session-reader … | head -1`. The log is longer than a pipe holds.
#[test]
fn a_closed_pipe_is_no_error() {
    let world = World::new();
    let line = |number: usize| {
        prompt(
            &world.path("work"),
            "2026-11-16T02:00:00Z",
            &format!("{number} {}", "long ".repeat(200)),
        )
    };
    world.claude(ONE, &(0..200).map(line).collect::<String>());
    for args in [
        &["log", "11111111", "--lines", "200"][..],
        &["log", "11111111", "--lines", "200", "--json"],
        &["list"],
        &["profile"],
        &["--help"],
        &["formats"],
    ] {
        for read in [0, 10] {
            let mut child = world.reader(args).spawn();
            let mut out = child.stdout.take().expect("stdout");
            out.read_exact(&mut vec![0; read]).expect("a beginning");
            drop(out);
            let output = child.wait_with_output().expect("it ends");
            assert_eq!(
                String::from_utf8_lossy(&output.stderr),
                "",
                "{args:?} after {read}"
            );
            assert_eq!(output.status.code(), Some(0), "{args:?} after {read}");
        }
    }
}

/// Colours are for terminals, and not for those who said that they want none.
#[test]
fn colour_is_for_terminals() {
    let world = ten();
    for args in [
        &["list"][..],
        &["11111111"],
        &["profile"],
        &["--help"],
        &["formats"],
    ] {
        let shown = world
            .reader(args)
            .env("TERM", "xterm")
            .env("CLICOLOR_FORCE", "")
            .run()
            .success();
        assert!(!shown.out().contains('\u{1b}'), "{args:?}");
    }
    let Some(coloured) = in_a_terminal(&world, "11111111", ("X", "")) else {
        return;
    };
    assert!(coloured.contains("\u{1b}["), "{coloured:?}");
    for variable in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        for args in ["list", "11111111", "11111111 --lines 0", "--help"] {
            let plain = in_a_terminal(&world, args, variable).expect("script worked before");
            assert!(
                !plain.contains('\u{1b}'),
                "{args} with {variable:?}: {plain:?}"
            );
        }
    }
}

/// The flag wins over the variables, and of those the one that forbids.
#[test]
fn colour_can_be_asked_for() {
    let world = ten();
    let coloured = |args: &[&str], variables: &[(&str, &str)]| {
        let run = variables
            .iter()
            .fold(world.reader(args), |run, (name, value)| {
                run.env(name, value)
            });
        run.run().success().out().contains('\u{1b}')
    };
    let (force, no) = (("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1"));
    assert!(coloured(&["list", "--color", "always"], &[]));
    assert!(coloured(&["--color=always"], &[no]));
    assert!(coloured(&["11111111", "--color", "always"], &[]));
    assert!(coloured(&["list"], &[force]));
    assert!(!coloured(&["list"], &[force, no]));
    assert!(!coloured(&["list"], &[("CLICOLOR_FORCE", "0")]));
    assert!(!coloured(&["list", "--color", "never"], &[force]));
    assert!(!coloured(&["--color", "auto"], &[]));
    world
        .reader(&["list", "--color", "pink"])
        .run()
        .status(2)
        .stdout("")
        .stderr_has("auto, always, never");
    // Before a command of the other program, too; a hook takes it for a flag that it does not know.
    world
        .context(&["--color", "never", "tags"])
        .run()
        .status(1)
        .stderr_has("no tags in this project");
    world
        .context(&["--color", "never"])
        .stdin("{}")
        .run()
        .status(0)
        .stdout("")
        .stderr_has("unknown argument '--color'");
}

/// What waits for the user stands out.
#[test]
fn states_have_their_colours() {
    let world = World::new();
    let cwd = world.path("work");
    let asked = |time: &str| prompt(&cwd, time, "go");
    world.claude(
        ONE,
        &(asked("2026-11-16T02:50:00Z") + &answer(&cwd, "2026-11-16T02:51:00Z", "done")),
    );
    world.claude("22222222", &asked("2026-11-16T02:50:00Z"));
    world.claude("33333333", &asked("2026-11-01T02:50:00Z"));
    let question = json!({"questions": [{"question": "Which one?"}]});
    Script::of(&world)
        .ago(5)
        .user("go")
        .calls("AskUserQuestion", question)
        .save(&world, "44444444");
    let shown = world.reader(&["list", "--color", "always"]).run().success();
    for state in [
        "\u{1b}[1m\u{1b}[33mneeds-you",
        "\u{1b}[36mworking",
        "\u{1b}[2midle",
    ] {
        assert!(shown.out().contains(state), "{:?}", shown.out());
    }
}

/// An escape sequence from a transcript reaches no terminal, also where ours do.
#[test]
fn only_our_own_escape_sequences_reach_a_terminal() {
    let world = World::new();
    world.claude(
        ONE,
        &prompt(
            &world.path("work"),
            "2026-11-16T02:00:00Z",
            "a\u{1b}[31mb\u{1b}]0;title\u{7}c\u{9b}2Jd\u{202e}e",
        ),
    );
    world
        .reader(&["11111111"])
        .run()
        .success()
        .stdout("2026-11-16 02:00  user       abcde\n");
    let Some(shown) = in_a_terminal(&world, "11111111", ("X", "")) else {
        return;
    };
    assert!(
        shown.contains("abcde") && !shown.contains("\u{1b}[31m") && !shown.contains("\u{1b}]"),
        "{shown:?}"
    );
}

#[test]
fn text_is_wrapped_to_the_width() {
    let world = World::new();
    world.claude(
        ONE,
        &prompt(
            &world.path("work"),
            "2026-11-16T02:00:00Z",
            "the quick brown fox jumps over the lazy dog",
        ),
    );
    world
        .reader(&["11111111"])
        .env("COLUMNS", "50")
        .run()
        .success()
        .stdout(concat!(
            "2026-11-16 02:00  user       the quick brown fox\n",
            "                             jumps over the lazy\n",
            "                             dog\n",
        ));
    for nonsense in ["0", "-5", "wide", ""] {
        let whole = "2026-11-16 02:00  user       the quick brown fox jumps over the lazy dog\n";
        world
            .reader(&["11111111"])
            .env("COLUMNS", nonsense)
            .run()
            .success()
            .stdout(whole);
    }
}

/// Every command of both programs, and nothing.
fn command_lines() -> Vec<(&'static str, Vec<&'static str>)> {
    let reader = [
        " ",
        "list",
        "log",
        "files",
        "resume",
        "profile",
        "formats",
        "formats check",
    ];
    let context = [
        " ",
        "demo",
        "install",
        "uninstall",
        "explain",
        "doctor",
        "mute",
        "unmute",
        "pin",
        "pins",
        "unpin",
        "note",
        "notes",
        "done",
        "tag",
        "tags",
        "profile",
        "profile set",
        "profile remove",
    ];
    let of = |program, lines: &[&'static str]| -> Vec<_> {
        lines
            .iter()
            .map(|line| (program, line.split_whitespace().collect()))
            .collect()
    };
    [
        of("session-reader", &reader),
        of("session-context", &context),
    ]
    .concat()
}

/// Help fits 80 columns, and a narrower or wider terminal as well; `-h` is one screen.
#[test]
fn help_fits_the_terminal() {
    let world = World::new();
    for (program, line) in command_lines() {
        for flag in ["-h", "--help"] {
            let args = [&line[..], &[flag]].concat();
            let run = || {
                if program == "session-reader" {
                    world.reader(&args)
                } else {
                    world.context(&args)
                }
            };
            for (columns, most) in [("", 80), ("60", 60)] {
                let shown = run().env("COLUMNS", columns).run().success();
                // A usage line is never broken.
                for line in shown
                    .out()
                    .lines()
                    .filter(|line| most == 80 || !line.starts_with("Usage: "))
                {
                    assert!(
                        line.chars().count() <= most,
                        "{program} {args:?} in {most}: {line}"
                    );
                }
            }
            let lines = run().run().success().out().lines().count();
            assert!(flag == "--help" || lines <= 24, "{program} {args:?}");
        }
    }
    let wide = world
        .reader(&["profile", "--help"])
        .env("COLUMNS", "200")
        .run()
        .success();
    assert!(
        wide.out().lines().any(|line| line.chars().count() > 120),
        "{}",
        wide.out()
    );
}

/// Help says what there is: commands, exit status, and every variable that is read.
#[test]
fn help_mentions_everything() {
    let world = World::new();
    let help = world.reader(&["--help"]).run().success().out().to_owned();
    world.reader(&["-h"]).run().success();
    world.reader(&["help"]).run().success().stdout(&help);
    // In whichever order one asks, the help is that of the command.
    for command in ["search", "list", "log"] {
        for flag in ["-h", "--help"] {
            let help = world
                .reader(&[command, flag])
                .run()
                .success()
                .out()
                .to_owned();
            world.reader(&[flag, command]).run().success().stdout(&help);
        }
    }
    let words = [
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "COPILOT_HOME",
        "GEMINI_CLI_HOME",
        "QWEN_HOME",
        "QWEN_RUNTIME_DIR",
        "PI_CODING_AGENT_DIR",
        "PI_CODING_AGENT_SESSION_DIR",
        "OPENCLAW_STATE_DIR",
        "XDG_CONFIG_HOME",
        "XDG_CACHE_HOME",
        "TZ",
        "NO_COLOR",
        "CLICOLOR_FORCE",
        "COLUMNS",
        "SESSION_MONITOR_NOW",
        "log",
        "list",
        "profile",
        "formats",
        "Exit status",
        "Examples",
    ];
    for word in words {
        assert!(help.contains(word), "{word}");
    }
    let context = world.context(&["--help"]).run().success();
    for variable in variables() {
        let known = help.contains(&variable) || context.out().contains(&variable);
        assert!(known, "{variable} is read, and in no help");
    }
    world.reader(&["--version"]).run().success().stdout(concat!(
        "session-reader ",
        env!("CARGO_PKG_VERSION"),
        "\n"
    ));
    for command in ["log", "list", "profile", "formats"] {
        let shown = world.reader(&[command, "--help"]).run().success();
        assert!(
            shown.out().contains(&format!("session-reader {command}")),
            "{}",
            shown.out()
        );
    }
}

/// The variables that descriptors name and that `env` asks for.
fn variables() -> Vec<String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root.join("formats"))
        .expect("formats")
        .flatten()
    {
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        found.extend(
            text.lines().filter_map(|line| {
                Some(line.strip_prefix("env = \"")?.split_once('"')?.0.to_owned())
            }),
        );
    }
    let env = std::fs::read_to_string(root.join("src/core/env.rs")).expect("env.rs");
    for call in [".var(\"", ".is_set(\"", ".dir(\"", "OsStr::new(\""] {
        found.extend(
            env.split(call)
                .skip(1)
                .filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())),
        );
    }
    // These belong to everybody, and to tests.
    found.retain(|name| {
        ![
            "HOME",
            "TERM",
            "SESSION_MONITOR_PATIENCE",
            "SESSION_CONTEXT_LOOKS",
        ]
        .contains(&name.as_str())
    });
    assert!(found.len() >= 14, "{found:?}");
    found
}

/// 003-T05: a broken line is said, and how to find it.
#[test]
fn broken_lines_are_said() {
    let world = World::new();
    let path = world.claude(
        ONE,
        &(prompt(&world.path("work"), "2026-11-16T02:00:00Z", "before")
            + "{ broken\n"
            + &prompt(&world.path("work"), "2026-11-16T02:01:00Z", "after")),
    );
    let done = world.reader(&["11111111"]).run().status(0);
    let done =
        done.stdout("2026-11-16 02:00  user       before\n           02:01  user       after\n");
    done.stderr_has(&format!("session-reader formats check {}", path.display()));
    let check = world
        .reader(&["formats", "check", path.to_str().expect("UTF-8")])
        .run()
        .success();
    let offset = prompt(&world.path("work"), "2026-11-16T02:00:00Z", "before").len();
    assert!(
        check.out().ends_with(&format!(
            "2 lines matched, 0 ignored, 1 broken\nbroken: line 2, at byte {offset}\n"
        )),
        "{}",
        check.out()
    );
}

/// A last line without its newline: shown when it is whole, passed over in silence when it is not.
#[test]
fn a_last_line_without_newline_is_shown_when_whole() {
    let world = World::new();
    let first = prompt(&world.path("work"), "2026-11-16T02:00:00Z", "first");
    let second = prompt(&world.path("work"), "2026-11-16T02:01:00Z", "second");
    let one = "2026-11-16 02:00  user       first\n";
    for end in 0..second.len() {
        world.claude(ONE, &(first.clone() + &second[..end]));
        let whole = end == second.len() - 1;
        let expected = if whole {
            one.to_owned() + "           02:01  user       second\n"
        } else {
            one.to_owned()
        };
        if whole || end % 23 == 0 {
            world
                .reader(&["11111111"])
                .run()
                .success()
                .stdout(&expected);
        }
    }
}

/// 003-D16: a transcript of more than 512 MiB. Slow without optimisation, so it is run by name.
#[test]
#[ignore = "writes 600 MB"]
fn a_transcript_of_more_than_512_mib_is_read() {
    use std::io::Write;
    let world = World::new();
    let cwd = world.path("work");
    let path = world.claude(ONE, &prompt(&cwd, "2026-11-16T02:00:00Z", "the first"));
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(path)
        .expect("the transcript");
    let filler = format!(
        "{{\"type\":\"progress\",\"data\":\"{}\"}}\n",
        "x".repeat(1 << 20)
    );
    (0..600).for_each(|_| file.write_all(filler.as_bytes()).expect("written"));
    file.write_all(prompt(&cwd, "2026-11-16T02:30:00Z", "the last").as_bytes())
        .expect("written");
    world
        .reader(&["11111111", "--lines", "2"])
        .run()
        .success()
        .stdout("2026-11-16 02:00  user       the first\n           02:30  user       the last\n");
    assert_eq!(
        world.reader(&["list", "--json"]).run().success().json()[0]["messages"],
        2
    );
}
