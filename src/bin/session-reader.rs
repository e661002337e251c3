//! `session-reader`: see `session-reader --help`.

use std::io::{BufWriter, IsTerminal};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use session_monitor::cmd;
use session_monitor::cmd::args::{self, ReaderCommand};
use session_monitor::env::Env;
use session_monitor::show::terminal::Style;

fn main() -> ExitCode {
    let env = Env::of_process();
    let stdout = std::io::stdout();
    let terminal = stdout.is_terminal();
    let reader = args::parse(std::env::args_os(), &env, terminal).unwrap_or_else(|error| error.exit());
    let stop = Arc::new(AtomicBool::new(false));
    if matches!(&reader.command, ReaderCommand::Log(args) if args.follow) {
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            let _ = signal_hook::flag::register(signal, Arc::clone(&stop));
        }
    }
    let style = Style::new(&env, terminal, cmd::wanted_colour(reader.colors.color));
    let mut out = BufWriter::with_capacity(64 * 1024, stdout.lock());
    // It writes out all that it has printed.
    let exit = cmd::run(reader.command, &env, style, &mut out, &mut std::io::stderr(), &stop);
    ExitCode::from(exit as u8)
}
