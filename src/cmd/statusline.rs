//! `session-context statusline`: one line about the other sessions, for an agent's status line.
//!
//! The user's own status line runs beside it, with the same input, and is printed first; if it fails or takes too long,
//! ours comes all the same. It runs every few seconds, so it opens only transcripts of sessions at work. It never fails:
//! whatever goes wrong is a line on stderr. `show/statusline.rs` has the words.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use clap::Args;
use serde::Deserialize;

use super::{Exit, Problem, Stage};
use crate::budget::Deadline;
use crate::session::conflicts::RecentTouches;
use crate::session::index::Listed;
use crate::session::live::Presence;
use crate::settings::Scope;
use crate::show::statusline::{Other, StatusLine};
use crate::time::Time;

#[derive(Debug, Args)]
pub struct StatuslineArgs {
    /// Your own status line, which is printed first
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// How long the agent may take to say which session asks, and how long the user's own status line may take.
const PATIENCE: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(4);
/// The most that is shown of it.
const MOST: usize = 64 << 10;
/// How long to wait for more of it once it has ended.
const REST: Duration = Duration::from_millis(50);
/// Agents indent a status line.
const MARGIN: usize = 4;

/// What an agent says. All agents that have a status line say it as Claude Code does.
#[derive(Debug, Default, Deserialize)]
struct StatusInput {
    session_id: Option<String>,
    transcript_path: Option<PathBuf>,
    cwd: Option<PathBuf>,
    workspace: Option<Workspace>,
}

#[derive(Debug, Deserialize)]
struct Workspace {
    current_dir: Option<PathBuf>,
}

pub fn run(args: &StatuslineArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let input = if stage.env.has_terminal() { Ok(Vec::new()) } else { stage.env.stdin(PATIENCE) };
    let input = input.unwrap_or_else(|problem| {
        stage.say(problem);
        Vec::new()
    });
    let deadline = Deadline::after(LONGEST);
    let asks: StatusInput = serde_json::from_slice(&input).unwrap_or_default();
    let theirs = Theirs::start(&args.command, input, &stage.env.cwd);
    let theirs = theirs.map_err(|error| stage.say(error)).unwrap_or_default();
    let ours = ours(asks, stage);
    if let Some(theirs) = theirs {
        match theirs.output(&deadline) {
            Ok(output) => {
                stage.out.write_all(&output)?;
                if !ours.is_empty() && !output.is_empty() && !output.ends_with(b"\n") {
                    writeln!(stage.out)?;
                }
            }
            Err(problem) => stage.say(problem),
        }
    }
    // An agent shows nothing of a status line that fails.
    stage.forgive();
    stage.print_lines(Some(ours).filter(|line| !line.is_empty()))
}

/// The line about the other sessions, which may be empty.
fn ours(asks: StatusInput, stage: &mut Stage) -> String {
    let cwd = asks.cwd.or(asks.workspace.and_then(|workspace| workspace.current_dir));
    let env = cwd.filter(|cwd| cwd.is_absolute()).map_or_else(|| stage.env.clone(), |cwd| stage.env.at(cwd));
    let stage = &mut stage.at(&env);
    let (settings, now) = (stage.settings, env.now());
    if settings.ignores(&env.cwd) {
        return String::new();
    }
    let sessions = stage.sessions();
    let is_own = |listed: &Listed| {
        asks.session_id.as_ref().is_some_and(|id| listed.session.has_id(id))
            || asks.transcript_path.as_deref() == Some(&*listed.session.path)
    };
    let is_meant = |listed: &Listed| {
        let is_ignored = settings.ignores_session(listed.tally.first_cwd().into_iter().chain(listed.tally.cwd()));
        (listed.here || settings.scope == Scope::Machine) && !is_ignored
    };
    let own = sessions.iter().find(|listed| is_own(listed));
    let others = sessions.iter().filter(|listed| !is_own(listed) && is_meant(listed) && is_lively(listed, now));
    let others: Vec<Other> = others.map(|listed| (listed, listed.state(now))).collect();
    let worked = |listed: &&Listed| {
        let is_lately = listed.is_recent(now);
        is_own(listed) || is_lately && others.iter().any(|(other, _)| std::ptr::eq(*other, *listed))
    };
    // In the order of the list.
    let at_work: Vec<&Listed> = sessions.iter().filter(worked).collect();
    let mine = at_work.iter().position(|listed| is_own(listed));
    let (mut recent, mut bad) = (RecentTouches::new(settings.conflict_window), Vec::new());
    let conflicts = mine.map(|mine| recent.unseen_by(mine, &at_work, &env, &mut bad)).unwrap_or_default();
    stage.say_unreadable(&bad);
    let conflicts: Vec<String> = conflicts.iter().map(|path| env.shown(path, None)).collect();
    let format = own.map(|own| &*own.session.format.name);
    let room = stage.style.width.map_or(usize::MAX, |width| width.saturating_sub(MARGIN));
    StatusLine { others: &others, conflicts: &conflicts, format, now }.fit(room)
}

/// Its agent runs, or may: something happened in it within the hour for which a silent session is thought to be at work.
fn is_lively(listed: &Listed, now: Time) -> bool {
    match listed.presence {
        Presence::Runs(_) => true,
        Presence::Unknown => listed.is_recent(now),
        Presence::Killed(_) | Presence::Closed => false,
    }
}

/// The user's own status line, while it runs.
struct Theirs {
    group: rustix::process::Pid,
    /// What it prints, bit by bit, and how it ended.
    output: Receiver<Vec<u8>>,
    ended: Receiver<io::Result<ExitStatus>>,
}

impl Theirs {
    fn start(words: &[OsString], input: Vec<u8>, cwd: &Path) -> Result<Option<Theirs>, String> {
        let Some((first, rest)) = words.split_first() else { return Ok(None) };
        let mut command = match rest {
            [] => Command::new("sh"),
            _ => Command::new(first),
        };
        match rest {
            [] => command.arg("-c").arg(first),
            _ => command.args(rest),
        };
        let command = command.current_dir(cwd).stdin(Stdio::piped()).stdout(Stdio::piped());
        // A group of its own, so that all of it can be ended.
        let spawned = command.process_group(0).spawn();
        let mut child = spawned.map_err(|error| format!("{}: {error}", first.display()))?;
        let group = rustix::process::Pid::from_child(&child);
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        // It need not read its input.
        thread::spawn(move || stdin.map(|mut stdin: ChildStdin| stdin.write_all(&input)));
        let (sender, output) = channel();
        thread::spawn(move || {
            let (Some(mut stdout), mut some) = (stdout, [0; 4096]) else { return };
            while let Ok(length @ 1..) = stdout.read(&mut some) {
                // Nobody may be waiting for it any more.
                let _ = sender.send(some[..length].to_vec());
            }
        });
        let (sender, ended) = channel();
        thread::spawn(move || sender.send(child.wait()));
        Ok(Some(Theirs { group, output, ended }))
    }

    /// All that it has printed when it ends; what it left running in the background may keep its output open.
    fn output(self, deadline: &Deadline) -> Result<Vec<u8>, String> {
        let Ok(ended) = self.ended.recv_timeout(deadline.left()) else {
            // It has not been waited for, so the number is still its own.
            let _ = rustix::process::kill_process_group(self.group, rustix::process::Signal::TERM);
            return Err(format!("the status line took more than {} seconds", LONGEST.as_secs()));
        };
        let status = ended.map_err(|error| error.to_string())?;
        if !status.success() {
            return Err(format!("the status line failed: {status}"));
        }
        let mut output = Vec::new();
        while let Ok(some) = self.output.recv_timeout(REST) {
            output.extend(some);
            if output.len() >= MOST {
                output.truncate(MOST);
                break;
            }
        }
        Ok(output)
    }
}
