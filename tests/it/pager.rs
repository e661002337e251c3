//! Long output on a terminal goes through `$PAGER`, and nothing else does.

use std::os::unix::fs::PermissionsExt;

use crate::support::claude::{prompt, ten};
use crate::support::run::in_a_terminal_of;
use crate::support::world::{TWO, World};

/// A world of ten prompts, and a pager that says what it got.
fn paged() -> World {
    let world = ten();
    script(&world, "pager", "echo \"paged $* LESS=$LESS\"; exec cat");
    world
}

fn script(world: &World, name: &str, line: &str) -> std::path::PathBuf {
    let path = world.write(name, format!("#!/bin/sh\n{line}\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a program");
    path
}

/// What a terminal of 8 rows shows, with a pager; none where there is no terminal to be had.
fn shown(world: &World, args: &str, pager: &str) -> Option<String> {
    in_a_terminal_of(
        8,
        world,
        &format!("session-reader {args}; echo \"exit $?\""),
        ("PAGER", pager),
        "",
    )
}

#[test]
fn long_output_is_paged() {
    let world = paged();
    let pager = world.path("pager").to_str().expect("UTF-8").to_owned();
    let Some(long) = shown(&world, "log 11111111", &pager) else {
        return;
    };
    assert!(
        long.starts_with("paged  LESS=FRX\n") && long.ends_with("prompt 9\nexit 0\n"),
        "{long}"
    );
    assert!(long.contains("\u{1b}[36muser"), "colours stay: {long:?}");
    assert_eq!(
        long.lines().filter(|line| line.contains("prompt")).count(),
        10,
        "{long}"
    );
    let with_words = shown(&world, "log 11111111", &format!("{pager} -a b")).expect("a terminal");
    assert!(
        with_words.starts_with("paged -a b LESS=FRX\n"),
        "{with_words}"
    );
    let by_shell =
        shown(&world, "log 11111111", &format!("{pager} | tr a-z A-Z")).expect("a terminal");
    assert!(
        by_shell.starts_with("PAGED") && by_shell.contains("PROMPT 9\n"),
        "{by_shell}"
    );
    for args in ["search prompt --limit 9 -C 3", "profile"] {
        let long = shown(&world, args, &pager).expect("a terminal");
        assert!(
            long.starts_with("paged") && long.ends_with("exit 0\n"),
            "{args}: {long}"
        );
    }
}

/// Whoever has options of their own for less sees colours, too, and not the codes for them.
#[test]
fn less_shows_colours_whatever_its_options_are() {
    let world = paged();
    for (pager, expected) in [
        ("less", "paged -R LESS=-iM\n"),
        ("pager", "paged  LESS=-iM\n"),
    ] {
        let path = script(&world, pager, "echo \"paged $* LESS=$LESS\"; exec cat");
        let line = format!(
            "session-reader -V >/dev/null; LESS=-iM {} log 11111111",
            env!("CARGO_BIN_EXE_session-reader")
        );
        let pager = ("PAGER", path.to_str().expect("UTF-8"));
        let Some(shown) = in_a_terminal_of(8, &world, &line, pager, "") else {
            return;
        };
        assert!(
            shown.starts_with(expected) && shown.contains("\u{1b}[36muser"),
            "{shown}"
        );
    }
}

#[test]
fn json_lists_and_pipes_are_not_paged() {
    let world = paged();
    let pager = world.path("pager").to_str().expect("UTF-8").to_owned();
    let Some(plain) = shown(&world, "log 11111111 --no-pager", &pager) else {
        return;
    };
    assert!(
        !plain.contains("paged") && plain.ends_with("prompt 9\nexit 0\n"),
        "{plain}"
    );
    for args in [
        "log 11111111 --lines 5",
        "log 11111111 --json",
        "list",
        "formats",
        "log 11111111 | cat",
    ] {
        let shown = shown(&world, args, &pager).expect("a terminal");
        assert!(
            !shown.contains("paged") && shown.ends_with("exit 0\n"),
            "{args}: {shown}"
        );
    }
    for off in ["", "cat"] {
        assert_eq!(
            shown(&world, "log 11111111", off).expect("a terminal"),
            plain,
            "PAGER={off:?}"
        );
    }
}

/// What is wrong is said once the pager is gone, the exit status is the command's, and quitting early is no error.
#[test]
fn a_pager_that_ends_early_or_is_missing_is_no_error() {
    let world = paged();
    let quits = script(&world, "quits", "head -n 1; echo 'that was enough'; exit 3");
    let Some(early) = shown(&world, "log 11111111", quits.to_str().expect("UTF-8")) else {
        return;
    };
    assert!(early.ends_with("that was enough\nexit 0\n"), "{early}");
    let missing = shown(&world, "log 11111111", "no-such-pager -x").expect("a terminal");
    let (text, end) = missing.split_once("prompt 9\n").expect("all of it");
    assert!(text.contains("prompt 0"), "{missing}");
    assert!(
        end.starts_with("session-reader: PAGER=no-such-pager -x: ") && end.ends_with("exit 0\n"),
        "{end}"
    );
    assert!(end.contains("; printed without it\n"), "{end}");
    let broken = prompt(
        &world.path("work"),
        "2026-11-16T02:00:00Z",
        &"line\n".repeat(9),
    ) + "{ broken\n";
    world.claude(TWO, &broken);
    let said = shown(
        &world,
        "log 22222222",
        &world.path("pager").to_string_lossy(),
    )
    .expect("a terminal");
    assert!(
        said.starts_with("paged")
            && said.contains("line\nsession-reader: 1 line could not be read"),
        "{said}"
    );
}
