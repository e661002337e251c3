//! `session-reader`: see `session-reader --help`.

use std::io::{BufWriter, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Parser;
use session_monitor::cmd;
use session_monitor::cmd::args::{Reader, spelt_out};
use session_monitor::env::Env;
use session_monitor::render::terminal::Look;

fn main() -> ExitCode {
    let reader = Reader::parse_from(spelt_out(std::env::args_os()));
    let env = Env::of_process();
    let stop = Arc::new(AtomicBool::new(false));
    if reader.command.follows() {
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            let _ = signal_hook::flag::register(signal, Arc::clone(&stop));
        }
    }
    let stdout = std::io::stdout();
    let terminal = stdout.is_terminal();
    let look = Look { colour: env.colour(terminal), width: env.width(terminal) };
    let mut out = BufWriter::with_capacity(64 * 1024, stdout.lock());
    let exit = cmd::run(reader.command, &env, look, &mut out, &mut std::io::stderr(), &stop);
    let _ = out.flush();
    ExitCode::from(exit as u8)
}
