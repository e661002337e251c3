//! Completions: what the program says may come next, and that bash, zsh and fish take it from there.

use std::process::Command;

use session_context::demo;

use crate::support::run::{READER, Run};
use crate::support::world::{World, skipped};

/// The project of the demo, with a tag on one of its sessions.
fn shop() -> World {
    let world = World::new();
    demo::write(&world.path("")).expect("the sessions of the demo");
    let tag = ["tag", "release", "--session", "a11ce000"];
    here(&world, world.context(&tag)).success();
    world
}

fn here(world: &World, run: Run) -> crate::support::run::Done {
    run.dir(world.path("shop"))
        .env("SESSION_MONITOR_NOW", demo::NOW)
        .run()
}

/// What may come next in the shop, a line each, with its meaning after a tab.
fn after(world: &World, words: &[&str]) -> String {
    let args = [&["__complete", "--"], words].concat();
    let done = here(world, Run::new(world, READER, &args).process());
    done.success().out().to_owned()
}

fn words(world: &World, words: &[&str]) -> Vec<String> {
    let first = |line: &str| line.split('\t').next().unwrap_or_default().to_owned();
    after(world, words).lines().map(first).collect()
}

#[test]
fn sessions_come_with_agent_age_and_title() {
    let world = shop();
    assert_eq!(
        after(&world, &["session-reader", "log", ""]),
        "last\tthe last session of this project\n\
         a11ce000\tclaude, 3m: make the checkout total include tax\n\
         5e551011\tclaude, 11m: add a coupon field to the checkout\n\
         c0de8000\tcodex, 22m: why is the nightly import slow?\n\
         91000000\tpi, 48m: write the release notes for 2.4\n"
    );
}

#[test]
fn each_place_has_its_own_words() {
    let world = shop();
    for (line, expected) in [
        (&["session-reader", "re"][..], "resume restore recap"),
        (&["session-reader", "c0"], "c0de8000"),
        (&["/usr/bin/session-reader", "a11ce000", "--fo"], "--follow"),
        (&["session-reader", "--no-pager", "lo"], "log"),
        (&["session-reader", "--ta"], "--tag"),
        (
            &["session-reader", "log", "a11ce000", "--act", "re"],
            "read",
        ),
        (&["session-reader", "log", "--act=ed"], "--act=edit"),
        (&["session-reader", "log", "--act", "=", "ed"], "edit"),
        (
            &["session-reader", "list", "--state", "idle,do"],
            "idle,done",
        ),
        (&["session-reader", "list", "--tag", ""], "release"),
        (
            &["session-reader", "list", "--agent", "co"],
            "codex copilot",
        ),
        (&["session-reader", "continue", "last", "--with", "p"], "pi"),
        (&["session-reader", "wait", "a11ce000", "c"], "c0de8000"),
        (&["session-reader", "formats", ""], "check"),
        (&["session-reader", "search", ""], ""),
        (&["session-reader", "list", "--since", ""], ""),
        (&["session-reader", "completions", ""], "bash zsh fish"),
        (&["session-context", "un"], "uninstall unmute unpin"),
        (&["session-context", "done", "c"], "c0de8000"),
        (&["session-context", "install", "qw"], "qwen"),
        (&["session-context", "tag", "rel"], "release"),
        (&["session-context", "note", "de"], "decision"),
        (
            &["session-context", "tag", "x", "--session", "91"],
            "91000000",
        ),
        (&["session-context", "install", "--sh"], "--shell"),
    ] {
        assert_eq!(words(&world, line).join(" "), expected, "{line:?}");
    }
}

/// A name or a title is somebody else's text, and a shell reads what is completed.
#[test]
fn what_a_shell_could_take_for_something_else_is_left_out() {
    let world = shop();
    for tag in ["two words", "$(id)", "a;b", "`id`", "'"] {
        here(&world, world.context(&["tag", tag, "--session", "last"])).success();
    }
    assert_eq!(
        words(&world, &["session-reader", "list", "--tag", ""]),
        ["release"]
    );
}

/// A shell with the script of the programs, and the programs on its PATH.
fn in_shell(world: &World, shell: &str, args: &[&str], script: &str) -> Option<String> {
    if Command::new(shell).arg("--version").output().is_err() {
        skipped(&format!(
            "completions in {shell}: it is not on this machine"
        ));
        return None;
    }
    let printed = Run::new(world, READER, &["completions", shell])
        .run()
        .success();
    world.write("script", printed.out());
    let programs = std::path::Path::new(env!("CARGO_BIN_EXE_session-reader"));
    let path = std::env::var("PATH").expect("a PATH");
    let done = Command::new(shell)
        .args(args)
        .arg(script)
        .current_dir(world.path("shop"))
        .env_clear()
        .env("HOME", world.path(""))
        .env("XDG_DATA_HOME", world.path(".data"))
        .env("SESSION_MONITOR_NOW", demo::NOW)
        .env(
            "PATH",
            format!(
                "{}:{path}",
                programs.parent().expect("a directory").display()
            ),
        )
        .output()
        .expect("a shell");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(text(&done.stderr), "", "{shell}");
    Some(text(&done.stdout))
}

#[test]
fn bash_completes() {
    let world = shop();
    let script = "source ../script
        typed() {
            COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1))
            _session_monitor
            printf '%s|' \"${COMPREPLY[@]}\"
            echo
        }
        typed session-reader log c
        typed session-context install qw
        typed session-reader search ''
        complete -p session-context";
    if let Some(out) = in_shell(&world, "bash", &["--norc", "-c"], script) {
        assert_eq!(
            out,
            "c0de8000|\nqwen|\n|\ncomplete -o default -F _session_monitor session-context\n"
        );
    }
}

#[test]
fn fish_completes() {
    let world = shop();
    let script = "source ../script; complete -C 'session-reader log c'; complete -C 'session-context done a1'";
    if let Some(out) = in_shell(&world, "fish", &["--no-config", "-c"], script) {
        assert_eq!(
            out,
            "c0de8000\tcodex, 22m: why is the nightly import slow?\n\
             a11ce000\tclaude, 3m: make the checkout total include tax\n"
        );
    }
}

/// Its own functions that draw the menu need a terminal, so they are replaced by one that prints.
#[test]
fn zsh_completes() {
    let world = shop();
    let script = "
        compdef() { print -r -- \"$@\" }
        _describe() { print -rl -- \"${(@P)3}\" }
        _files() { print files }
        typed() { words=(\"$@\") CURRENT=$#; _session_monitor }
        source ../script
        typed session-reader log c
        typed session-context install qw
        typed session-reader search ''";
    if let Some(out) = in_shell(&world, "zsh", &["-f", "-c"], script) {
        assert_eq!(
            out,
            "_session_monitor session-reader session-context\n\
             c0de8000:codex, 22m: why is the nightly import slow?\nqwen:\nfiles\n"
        );
    }
}

#[test]
fn install_shows_where_they_go_and_writes_nothing() {
    let world = World::new();
    let done = world.context(&["install", "--shell"]).run().success();
    for shell in ["bash", "zsh", "fish"] {
        let line = format!("session-reader completions {shell}");
        assert!(done.out().contains(&line), "{}", done.out());
    }
    world
        .context(&["install", "--shell", "--all"])
        .run()
        .status(2);
}
