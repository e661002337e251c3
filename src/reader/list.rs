//! `session-reader list`: which sessions there are, in this project or on the machine.
//!
//! `ask/list.rs` says which; the table is made by `show/list.rs`.

use std::io::Write;
use std::time::{Duration, Instant};

use super::args::ListArgs;
use super::monitor::Monitor;
use super::{Exit, Problem, Stage, ask};
use session_core::ask::list::{ListQuery, Listing};
use session_core::ask::pending::Beside;
use session_core::show::terminal::Style;
use session_core::show::{json, list};

/// The time after which the ages are brought up to date.
const TICK: Duration = Duration::from_secs(20);

pub fn run(args: &ListArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    stage.known_agent(args.agent.as_deref())?;
    if args.watch {
        return watch(args, stage);
    }
    let listing = stage.heard(ask::list::list(&query(args, stage), stage.ask()));
    show(args, listing, stage)
}

fn query<'q>(args: &'q ListArgs, stage: &Stage) -> ListQuery<'q> {
    ListQuery {
        all: args.all,
        agent: args.agent.as_deref(),
        states: &args.state,
        tag: args.tag.as_deref(),
        since: args.since.map(|since| since.time(stage.env)),
    }
}

/// The table, again whenever something in it may be different.
fn watch(args: &ListArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    if stage.style.height.is_none() {
        return Problem::trouble(
            "list --watch needs a terminal; `session-reader wait` is for scripts",
        );
    }
    let mut monitor = Monitor::start(stage.env, stage.formats);
    stage.say_unreadable(&monitor.bad);
    let mut shown = Vec::new();
    write!(stage.out, "\x1b[2J")?;
    let size = |stage: &Stage| Style {
        height: Some(stage.env.height()),
        width: stage.env.width(true),
        ..stage.style
    };
    loop {
        let mut frame = Vec::new();
        let style = size(stage);
        let mut inner = Stage {
            out: &mut frame,
            err: stage.err,
            style,
            goes_on: true,
            ..*stage
        };
        let listing = query(args, &inner).pick(monitor.sessions().to_vec(), inner.env.now());
        match show(args, listing, &mut inner) {
            Err(Problem::Nothing(message)) => writeln!(frame, "{}", stage.gate.text(&message))?,
            result => drop(result?),
        }
        if frame != shown {
            // From the top, with every line cleared before it is written: nothing flickers.
            let lines = String::from_utf8_lossy(&frame).replace('\n', "\x1b[K\n");
            write!(stage.out, "\x1b[H{lines}\x1b[J")?;
            stage.out.flush()?;
            shown = frame;
        }
        // Ages change without an event.
        let drawn = Instant::now();
        let is_same = |other: Style| (other.width, other.height) == (style.width, style.height);
        while !monitor.wait() && drawn.elapsed() < TICK && is_same(size(stage)) {}
    }
}

fn show(args: &ListArgs, mut listing: Listing, stage: &mut Stage) -> Result<Exit, Problem> {
    let now = stage.env.now();
    if args.all {
        listing.here_first();
    }
    // A person looks for who cannot go on; a program asks for that.
    if stage.style.height.is_some() && !args.json {
        listing.urgent_first(now);
    }
    let shown = show_rows(args, &listing, stage);
    stage.leave(listing);
    shown
}

fn show_rows(args: &ListArgs, listing: &Listing, stage: &mut Stage) -> Result<Exit, Problem> {
    let (all, elsewhere, now) = (&listing.sessions, listing.elsewhere, stage.env.now());
    if all.is_empty() {
        return Problem::nothing(super::none(
            args.all,
            query(args, stage).is_narrow(),
            elsewhere,
            "--all",
        ));
    }
    // On a terminal, the heading, the line about the others and the shell's next prompt need room, too.
    let screen = stage
        .style
        .height
        .filter(|rows| !args.json && all.len() + 2 > *rows)
        .map(|rows| rows.max(8) - 3);
    // While it is watched, what does not fit would scroll the table away.
    let is_cut =
        args.watch && screen.is_some_and(|rows| args.limit.is_none_or(|limit| limit > rows));
    let limit = if is_cut {
        screen
    } else {
        args.limit.or(screen)
    };
    let total = all.len();
    let shown = &all[..limit.unwrap_or(total).min(total)];
    let more = total - shown.len();
    if args.json {
        shown.iter().try_for_each(|listed| {
            stage
                .print_json(&json::listed(listed, &Beside::of_listed(listed, now), now))
                .map(drop)
        })?;
    } else {
        stage.print_lines(list::table(
            shown,
            stage.env,
            stage.gate,
            stage.style,
            args.all,
        ))?;
        if more > 0 {
            let line = if is_cut {
                format!(
                    "{more} more: a taller terminal shows them, or --limit {total} without --watch"
                )
            } else {
                format!("{more} more: --limit {total} shows all")
            };
            // In a pipe it would pass for a session.
            match stage.style.height {
                Some(_) => super::print_faint(&line, stage)?,
                None => stage.say(format_args!(
                    "{more} more sessions: --limit {total} shows all"
                )),
            }
        }
    }
    Ok(Exit::Found)
}
