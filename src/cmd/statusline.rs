//! `session-context statusline`: one line about the other sessions, for an agent's status line.
//!
//! The user's own status line runs beside it, with the same input, and is printed first; if it fails or takes too long,
//! ours comes all the same. It runs every few seconds, so it opens only transcripts of sessions at work. It never fails:
//! whatever goes wrong is a line on stderr. `show/statusline.rs` has the words.

use std::ffi::OsString;
use std::io::{self, PipeReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use clap::Args;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
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
/// How many sessions are looked at for conflicts, the newest: a status line is made anew every few seconds.
const CONFLICTING: usize = 16;
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
    let input = if stage.env.has_terminal() { Ok(Vec::new()) } else { stage.env.stdin(stage.env.patience(PATIENCE)) };
    let input = input.unwrap_or_else(|problem| {
        stage.say(problem);
        Vec::new()
    });
    let deadline = Deadline::after(stage.env.patience(LONGEST));
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
    // Whoever may have edited a file since this session looked at it, whether or not it is still there.
    let may_conflict = |listed: &&Listed| {
        let updated = listed.tally.updated;
        let is_lately = updated.is_some_and(|updated| now.0 - updated.0 <= settings.conflict_window);
        is_own(listed) || is_lately && is_meant(listed)
    };
    let at_work: Vec<&Listed> = sessions.iter().filter(may_conflict).take(CONFLICTING).collect();
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
    /// What it prints; none when that is closed.
    stdout: Option<ChildStdout>,
    /// Closed when it has ended, and how it did.
    ended: PipeReader,
    status: Receiver<io::Result<ExitStatus>>,
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
        let (sender, status) = channel();
        let (ended, end) = io::pipe().map_err(|error| error.to_string())?;
        thread::spawn(move || {
            let _ = sender.send(child.wait());
            drop(end);
        });
        Ok(Some(Theirs { group, stdout, ended, status }))
    }

    /// All that it has printed when it ends; what it left running in the background may keep its output open.
    fn output(mut self, deadline: &Deadline) -> Result<Vec<u8>, String> {
        let (mut output, mut some) = (Vec::new(), [0; 4096]);
        loop {
            let left = Timespec::try_from(deadline.left()).ok();
            let mut fds = vec![PollFd::new(&self.ended, PollFlags::IN)];
            fds.extend(self.stdout.as_ref().map(|stdout| PollFd::new(stdout, PollFlags::IN)));
            match poll(&mut fds, left.as_ref()) {
                Err(Errno::INTR) => continue,
                Err(error) => return Err(format!("the status line: {error}")),
                Ok(0) => {
                    // It has not been waited for, so the number is still its own.
                    let _ = rustix::process::kill_process_group(self.group, rustix::process::Signal::TERM);
                    return Err(format!("the status line took more than {} seconds", LONGEST.as_secs()));
                }
                Ok(_) => {}
            }
            let is_ready = |fd: &PollFd| !fd.revents().is_empty();
            let (has_ended, has_more) = (is_ready(&fds[0]), fds.get(1).is_some_and(is_ready));
            // What it printed is there when it has ended, so there is nothing to wait for.
            if has_ended && (!has_more || output.len() >= MOST) {
                break;
            }
            if has_more {
                match self.stdout.as_mut().map_or(Ok(0), |stdout| stdout.read(&mut some)) {
                    // More is read, so that it can end, but not shown.
                    Ok(length @ 1..) => output.extend(&some[..length.min(MOST - output.len())]),
                    _ => self.stdout = None,
                }
            }
        }
        let status = self.status.recv().map_err(|error| error.to_string())?;
        let status = status.map_err(|error| error.to_string())?;
        if status.success() { Ok(output) } else { Err(format!("the status line failed: {status}")) }
    }
}
