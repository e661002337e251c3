//! `session-reader`: see `session-reader --help`.

#![cfg_attr(all(target_os = "linux", target_env = "gnu"), no_main)]

use std::io::{BufWriter, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use session_context::args::Context;
use session_core::env::Env;
use session_core::show::terminal::Style;
use session_core::stage;
use session_reader::args::{self, ReaderCommand};
use session_reader::pager::Pager;

session_core::program!(run);

/// Sets the flag when nobody reads the output any more, as after `--follow | head -1`. If this thread cannot start, the
/// next line that is written ends it.
fn end_with_reader(stop: Arc<AtomicBool>) {
    let _ = std::thread::Builder::new().spawn(move || {
        let stdout = std::io::stdout();
        let mut output = [PollFd::new(&stdout, PollFlags::empty())];
        let mut ended = poll(&mut output, None);
        while ended == Err(Errno::INTR) {
            ended = poll(&mut output, None);
        }
        stop.fetch_or(ended.is_ok(), Ordering::Relaxed);
    });
}

fn run() -> u8 {
    let mut env = Env::of_process();
    let stdout = std::io::stdout();
    let terminal = stdout.is_terminal();
    if terminal && std::io::stderr().is_terminal() {
        // The cursor stays at the start of the line, so that whatever comes next writes over it.
        env.progress = Some(|line| {
            let width =
                terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0));
            eprint!("{line:.0$}\x1b[K\r", width.saturating_sub(1));
        });
    }
    let mut reader =
        args::parse(std::env::args_os(), &env, terminal).unwrap_or_else(|error| error.exit());
    if let ReaderCommand::Complete(args) = &mut reader.command {
        args.context = Some(Box::new(stage::command::<Context>(&env, terminal)));
    }
    let stop = Arc::new(AtomicBool::new(false));
    if matches!(&reader.command, ReaderCommand::Log(args) if args.follow) {
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            let _ = signal_hook::flag::register(signal, Arc::clone(&stop));
        }
        end_with_reader(Arc::clone(&stop));
    }
    let style = Style::new(&env, terminal, stage::wanted_colour(reader.colors.color));
    let mut out = BufWriter::with_capacity(64 * 1024, stdout.lock());
    let rows = style.height.filter(|_| reader.is_paged());
    let mut stderr = std::io::stderr();
    let mut pager = Pager::new(&mut out, &env, rows);
    let mut err = pager.err(&mut stderr);
    // It writes out all that it has printed.
    let exit = session_reader::run(reader.command, &env, style, &mut pager, &mut err, &stop);
    pager.finish(&mut stderr);
    exit as u8
}
