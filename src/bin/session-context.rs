//! `session-context`: see `session-context --help`.

#![cfg_attr(all(target_os = "linux", target_env = "gnu"), no_main)]

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};

use rustix::stdio::{stdin, stdout};
use session_context::args::{self, Context};
use session_context::hook::{Run, note_fault};
use session_core::arena::Arena;
use session_core::env::Env;
use session_core::show::terminal::Style;
use session_core::stage;

session_core::program!(run);

#[global_allocator]
static ARENA: Arena = Arena::new();

fn run() -> u8 {
    ARENA.warm();
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    if !args::is_hook(&words, stdin().is_terminal()) {
        return command();
    }
    std::panic::set_hook(Box::new(|panic| {
        let fault = format!(
            "a fault of its own: {}",
            panic.to_string().replace('\n', " ")
        );
        let _ = writeln!(std::io::stderr(), "session-context: {fault}");
        note_fault(&fault, &Env::of_process());
        std::process::exit(0);
    }));
    // Not through `stdout()`, which takes a closed one for a success.
    let stdout = stdout().try_clone_to_owned().map(File::from);
    let mut out: Box<dyn Write> = match stdout {
        Ok(stdout) => Box::new(stdout),
        Err(_) => Box::new(std::io::stdout()),
    };
    Run::new(&mut out, &mut std::io::stderr()).answer(words.into_iter(), Env::of_process());
    0
}

/// Everything but the hook: a command like any other.
fn command() -> u8 {
    let env = Env::of_process();
    let stdout = std::io::stdout();
    let terminal = stdout.is_terminal();
    let context: Context =
        stage::parse(std::env::args_os(), &env, terminal).unwrap_or_else(|error| error.exit());
    let style = Style::new(&env, terminal, stage::wanted_colour(context.colors.color));
    let mut out = BufWriter::new(stdout.lock());
    // It writes out all that it has printed.
    args::run(
        context.command,
        &env,
        style,
        &mut out,
        &mut std::io::stderr(),
    ) as u8
}
