//! `session-context`: see `session-context --help`.

use std::io::{BufWriter, IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;
use session_monitor::cmd::context::{self, Context};
use session_monitor::env::Env;
use session_monitor::render::terminal::Look;

fn main() -> ExitCode {
    command()
}

/// Everything but the hook: a command like any other.
fn command() -> ExitCode {
    let context = Context::parse();
    let env = Env::of_process();
    let stdout = std::io::stdout();
    let terminal = stdout.is_terminal();
    let look = Look { colour: env.colour(terminal), width: env.width(terminal) };
    let mut out = BufWriter::new(stdout.lock());
    let exit = context::run(context.command, &env, look, &mut out, &mut std::io::stderr());
    let _ = out.flush();
    ExitCode::from(exit as u8)
}
