//! The program `session-reader`: a file per command.
//!
//! Arguments become a question, `ask` answers it, `show` says how the answer looks. Only the screen of `watch`, the pages of
//! `export` and the table of `formats` draw themselves.
//!
//! Which file uses which:
//! ```text
//! log ──▶ follow ──▶ entries, events
//! log ──▶ entries
//! list, wait, watch ──▶ monitor ──▶ events
//! find ──▶ watch ──▶ go ──▶ tmux
//! restore ──▶ tmux
//! watch ──▶ continued ──▶ resume
//! capabilities ──▶ mcp
//! capabilities, complete, continued, entries, export, files, find, follow, formats, go, list, log, mcp, profile, recap, restore, resume, search, status, wait, watch ──▶ args
//! ```

pub mod args;
mod capabilities;
mod complete;
mod continued;
mod entries;
mod events;
mod export;
mod files;
mod find;
mod follow;
mod formats;
mod go;
mod list;
mod log;
mod mcp;
mod monitor;
pub mod pager;
mod profile;
mod recap;
mod restore;
mod resume;
mod search;
mod status;
mod tmux;
mod wait;
mod watch;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use args::ReaderCommand;
use session_core::ask;
use session_core::env::Env;
use session_core::show::terminal::{Style, Tone};
use session_core::stage::{Exit, Problem, Stage, command, none, on_stage, parsed};

/// Prints a line that is beside the point, as much of it as fits.
fn print_faint(line: &str, stage: &mut Stage) -> io::Result<()> {
    let line = stage
        .style
        .paint(Tone::Faint, &stage.style.fit(line))
        .into_owned();
    writeln!(stage.out, "{line}")
}

/// Runs a command of `session-reader`.
pub fn run(
    command: ReaderCommand,
    env: &Env,
    style: Style,
    out: &mut dyn Write,
    err: &mut dyn Write,
    stop: &AtomicBool,
) -> Exit {
    // `formats check` reports only on the file it checks.
    let checks = matches!(&command, ReaderCommand::Formats { action } if action.is_some());
    on_stage(
        "session-reader",
        env,
        style,
        out,
        err,
        stop,
        |stage, bad_formats, bad_settings| {
            stage.say_all(bad_settings);
            stage.say_all(bad_formats.iter().filter(|_| !checks));
            dispatch(command, stage)
        },
    )
}

/// Runs a command on a stage that is there.
fn dispatch(command: ReaderCommand, stage: &mut Stage) -> Result<Exit, Problem> {
    match command {
        ReaderCommand::Log(args) => log::run(&args, stage),
        ReaderCommand::List(args) => list::run(&args, stage),
        ReaderCommand::Status(args) => status::run(&args, stage),
        ReaderCommand::Wait(args) => wait::run(&args, stage),
        ReaderCommand::Profile(args) => profile::run(&args, stage),
        ReaderCommand::Formats { action } => formats::run(action.as_ref(), stage),
        ReaderCommand::Files(args) => files::run(&args, stage),
        ReaderCommand::Go(args) => go::run(&args, stage),
        ReaderCommand::Resume(args) => resume::run(&args, stage),
        ReaderCommand::Recap(args) => recap::run(&args, stage),
        ReaderCommand::Restore(args) => restore::run(&args, stage),
        ReaderCommand::Continue(args) => continued::run(&args, stage),
        ReaderCommand::Search(args) => search::run(&args, stage),
        ReaderCommand::Find(args) => find::run(&args, stage),
        ReaderCommand::Export(args) => export::run(&args, stage),
        ReaderCommand::Completions(args) => complete::script(&args, stage),
        ReaderCommand::Complete(args) => complete::run(args, stage),
        ReaderCommand::Watch(args) => watch::run(args, stage),
        ReaderCommand::Mcp => mcp::run(stage),
        ReaderCommand::Capabilities(args) => capabilities::run(&args, stage),
    }
}

/// A command of a list of words.
fn as_command(words: &[OsString]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}
