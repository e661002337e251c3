//! The command line of `session-context`, without the hook itself, and its commands.

use std::io::Write;
use std::sync::atomic::AtomicBool;

use clap::{Parser, Subcommand};

use super::install::{self, InstallArgs};
use super::{Exit, Stage};
use crate::env::Env;
use crate::format;
use crate::render::terminal::Look;

/// Tell a coding agent what happened in its other sessions.
#[derive(Debug, Parser)]
#[command(name = "session-context", version)]
pub struct Context {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Put the hook and the skill into an agent's own settings
    Install(InstallArgs),
    /// Take them out again
    Uninstall(InstallArgs),
}

/// Runs a command of `session-context`.
pub fn run(command: Command, env: &Env, look: Look, out: &mut dyn Write, err: &mut dyn Write) -> Exit {
    let (formats, bad) = format::known(&env.formats_dir());
    let never = AtomicBool::new(false);
    let mut stage = Stage { program: "session-context", env, look, out, err, formats: &formats, stop: &never };
    let broken_formats = bad.iter().try_for_each(|bad| stage.say(bad));
    let result = broken_formats.and_then(|()| match command {
        Command::Install(args) => install::install(&args, &mut stage),
        Command::Uninstall(args) => install::uninstall(&args, &mut stage),
    });
    stage.end(result)
}
