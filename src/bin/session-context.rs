//! `session-context`: see `session-context --help`.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;

use clap::Parser;
use session_monitor::cmd::context::{self, Context};
use session_monitor::env::Env;
use session_monitor::hook::{Run, note_fault};
use session_monitor::render::terminal::Look;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let first = args.next();
    // Whatever is no command is the hook, with a wrong argument: a hook that fails would stop the prompt.
    let is_hook = match first.as_ref().map(|arg| arg.to_string_lossy()) {
        Some(arg) if arg.starts_with('-') => !matches!(&*arg, "-h" | "--help" | "-V" | "--version"),
        Some(arg) if context::is_command(&arg) => false,
        _ => !std::io::stdin().is_terminal(),
    };
    if !is_hook {
        return command();
    }
    std::panic::set_hook(Box::new(|panic| {
        let fault = format!("a fault of its own: {}", panic.to_string().replace('\n', " "));
        let _ = writeln!(std::io::stderr(), "session-context: {fault}");
        note_fault(&fault, &Env::of_process());
        std::process::exit(0);
    }));
    // Not through `stdout()`, which takes a closed one for a success.
    let stdout = std::io::stdout().as_fd().try_clone_to_owned().map(File::from);
    let mut out: Box<dyn Write> = match stdout {
        Ok(stdout) => Box::new(stdout),
        Err(_) => Box::new(std::io::stdout()),
    };
    Run::new(&mut out, &mut std::io::stderr()).answer(first.into_iter().chain(args), Env::of_process());
    ExitCode::SUCCESS
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
