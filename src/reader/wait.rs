//! `session-reader wait`: ends when a session is in a state, and says which one and why. For scripts and notifications.
//!
//! A session that is in that state already counts, unless `--next` asks for a change. With `--each` it goes on, so that a
//! script misses nothing between two of them. With `--exec` a command is run instead of printing: a list of words, so no text
//! of a transcript reaches a shell, and what happened is in its environment, cleaned by the gate.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::args::WaitArgs;
use super::monitor::Monitor;
use super::{Exit, Problem, Stage, as_command};
use session_core::ask::pending::Beside;
use session_core::session::index::{Listed, is_gone};
use session_core::session::place::place;
use session_core::session::{State, StateKind};
use session_core::show::gate::Gate;
use session_core::show::terminal::Tone;
use session_core::show::{json, place, state};
use session_format::hash::HashMap;
use session_format::path::destination;
use session_format::time::Time;

/// As a rule, the user waits until nobody is at work any more.
const UNTIL: [StateKind; 6] = [
    StateKind::NeedsYou,
    StateKind::Error,
    StateKind::Waiting,
    StateKind::Idle,
    StateKind::Done,
    StateKind::Gone,
];

pub fn run(args: &WaitArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let started = Instant::now();
    let named = args
        .names
        .iter()
        .map(|name| Ok(stage.resolve(name)?.session.path.to_path_buf()))
        .collect::<Result<Vec<_>, Problem>>()?;
    let until = if args.until.is_empty() {
        &UNTIL[..]
    } else {
        &args.until
    };
    let is_meant = |listed: &&Listed| {
        if named.is_empty() {
            args.all || listed.here
        } else {
            named.iter().any(|path| listed.session.path == *path)
        }
    };
    let mut monitor = Monitor::start(stage.env, stage.formats);
    stage.say_unreadable(&monitor.bad);
    stage.clear_read_errors();
    // A session doesn't count twice in the state that it was last seen in.
    let mut before = HashMap::default();
    if args.next {
        let now = stage.env.now();
        let all = monitor.sessions().iter();
        before.extend(
            all.map(|listed| (listed.session.path.to_path_buf(), seen(&listed.state(now)))),
        );
    }
    if named.is_empty() && !monitor.sessions().iter().any(|listed| is_meant(&listed)) {
        stage.say(format_args!(
            "{}; waiting for one",
            super::none(args.all, false, 0, "")
        ));
    }
    let mut exit = Exit::Nothing;
    // Those that have just begun to need the user, and when that was seen.
    let mut settling: HashMap<PathBuf, Instant> = HashMap::default();
    loop {
        let now = stage.env.now();
        let meant = monitor.sessions().iter().filter(is_meant);
        let mut meant: Vec<_> = meant
            .map(|listed| (seen(&listed.state(now)), listed))
            .collect();
        // Of several, the one that concerns the user most comes first.
        meant.sort_by_key(|((kind, _), _)| *kind);
        for (state, listed) in meant {
            let path = listed.session.path.to_path_buf();
            if is_fresh(state, now) && before.get(&path) != Some(&state) {
                let seen = settling.entry(path.clone()).or_insert_with(Instant::now);
                if seen.elapsed() < SETTLES {
                    continue;
                }
            }
            settling.remove(&path);
            if before.insert(path, state) != Some(state) && until.contains(&state.0) {
                exit = match &args.exec[..] {
                    [] => show(listed, args.json, stage)?,
                    words => execute(words, listed, args.each, stage)?,
                };
                if !args.each {
                    return Ok(exit);
                }
                stage.out.flush()?;
            }
        }
        if let Some(gone) = named.iter().find(|path| is_gone(path)) {
            return Problem::trouble(format!("{}: the transcript was removed", gone.display()));
        }
        loop {
            if args
                .timeout
                .is_some_and(|timeout| started.elapsed() >= timeout)
            {
                return if exit == Exit::Found {
                    Ok(exit)
                } else {
                    Problem::nothing(timed_out(args))
                };
            }
            if monitor.wait() || !settling.is_empty() {
                break;
            }
        }
    }
}

fn timed_out(args: &WaitArgs) -> String {
    let kinds = args
        .until
        .iter()
        .map(|kind| kind.name())
        .collect::<Vec<_>>()
        .join(" or ");
    let what = if args.next { "changed to" } else { "is" };
    let what = if kinds.is_empty() {
        "has stopped working".into()
    } else {
        format!("{what} {kinds}")
    };
    format!("timed out: no session {what}")
}

/// An agent says that it waits before its transcript says for what, and a reason that is told cannot be taken back.
const SETTLES: Duration = Duration::from_secs(1);

fn is_fresh((kind, since): (StateKind, Option<Time>), now: Time) -> bool {
    let is_new = |since: Time| now.0 - since.0 < SETTLES.as_millis() as i64;
    kind == StateKind::NeedsYou && since.is_some_and(is_new)
}

/// The part of a state that counts as a change. A session that needs the user again does so for another reason.
fn seen(state: &State) -> (StateKind, Option<Time>) {
    (
        state.kind,
        state.since.filter(|_| state.kind == StateKind::NeedsYou),
    )
}

/// Runs the user's command. One that is the end of the wait takes the place of this program, so that its exit status counts.
fn execute(
    words: &[OsString],
    listed: &Listed,
    goes_on: bool,
    stage: &mut Stage,
) -> Result<Exit, Problem> {
    let program = words[0].display();
    let mut command = as_command(words);
    describe(listed, stage.env.now(), &mut command);
    command.stdin(Stdio::null());
    stage.out.flush()?;
    let failed = if goes_on {
        match command.status() {
            Ok(status) if status.success() => return Ok(Exit::Found),
            Ok(status) => {
                stage.say(format_args!("{program} failed: {status}"));
                return Ok(Exit::Found);
            }
            Err(error) => error,
        }
    } else {
        command.exec()
    };
    Problem::trouble(format_args!("{program} cannot be started: {failed}"))
}

/// Puts what happened into the environment of a command. What is not known is empty, so that nothing is left from another.
fn describe(listed: &Listed, now: Time, command: &mut Command) {
    // It may go to a phone or stay on the screen, so secrets are hidden whatever is set.
    let gate = Gate::new(true);
    let state = listed.state(now);
    let place = place(&listed.presence).map(|place| place::words(&place));
    let values = [
        ("SESSION_NAME", listed.name_and_title().0.to_owned()),
        ("SESSION_STATE", state.kind.name().to_owned()),
        (
            "SESSION_REASON",
            gate.command(&state::reason(&state, Some(now)).unwrap_or_default())
                .into_owned(),
        ),
        ("SESSION_PLACE", place.unwrap_or_default()),
        ("SESSION_ID", listed.session.id.to_string()),
        // A command may go there.
        (
            "SESSION_CWD",
            listed
                .tally
                .cwd()
                .and_then(|cwd| gate.as_it_is(cwd))
                .filter(|cwd| destination(cwd).is_some())
                .unwrap_or_default()
                .to_owned(),
        ),
        ("SESSION_AGENT", listed.session.format.label().to_owned()),
    ];
    for (name, value) in values {
        command.env(name, &*gate.line(value));
    }
}

fn show(listed: &Listed, as_json: bool, stage: &mut Stage) -> Result<Exit, Problem> {
    let now = stage.env.now();
    if as_json {
        return stage.print_json(&json::listed(listed, &Beside::of_listed(listed, now), now));
    }
    let state = listed.state(now);
    let words = [
        Some(state.kind.name().to_owned()),
        state::reason(&state, Some(now)),
    ];
    let words: Vec<String> = words
        .into_iter()
        .flatten()
        .map(|text| stage.gate.line(text).into_owned())
        .collect();
    let name = stage
        .style
        .paint(Tone::Strong, &stage.gate.line(listed.name_and_title().0))
        .into_owned();
    stage.print_lines([format!("{name}  {}", words.join("  "))])
}
