//! `session-context statusline`: one line about the other sessions, for an agent's status line.
//!
//! The user's own status line runs beside it, with the same input, and is printed first; if it fails or takes too long,
//! ours comes all the same. It never fails: whatever goes wrong is a line on stderr. `ask/status.rs` knows what there is to
//! say, `show/statusline.rs` has the words.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use clap::Args;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde::Deserialize;
use signal_hook::SigId;
use signal_hook::consts::SIGCHLD;
use signal_hook::low_level::{pipe, unregister};

use super::{Exit, Problem, Stage};
use session_core::ask::Asker;
use session_core::ask::status::{Own, status};
use session_core::show::statusline::StatusLine;
use session_format::budget::Deadline;
use session_format::path::is_too_long;

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
    let input = if stage.env.has_terminal() {
        Ok(Vec::new())
    } else {
        stage.env.stdin(stage.env.patience(PATIENCE))
    };
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
    stage.clear_read_errors();
    stage.print_lines(Some(ours).filter(|line| !line.is_empty()))
}

/// The line about the other sessions, which may be empty.
fn ours(asks: StatusInput, stage: &mut Stage) -> String {
    let cwd = asks
        .cwd
        .or(asks.workspace.and_then(|workspace| workspace.current_dir));
    let cwd = cwd.filter(|cwd| cwd.is_absolute() && !is_too_long(cwd));
    let mut env = cwd.map_or_else(|| stage.env.clone(), |cwd| stage.env.at(cwd));
    env.deadline = Some(Deadline::after(stage.settings.deadline).by_test_clock(env.test_clock()));
    let own = Own {
        id: asks.session_id,
        transcript: asks.transcript_path,
    };
    let status = stage.heard(status(
        &own,
        Asker {
            env: &env,
            ..stage.ask()
        },
    ));
    if status.cut_short {
        stage.say(format_args!(
            "not everything was read within {:?}",
            stage.settings.deadline
        ));
    }
    let room = stage
        .style
        .width
        .map_or(usize::MAX, |width| width.saturating_sub(MARGIN));
    StatusLine {
        status: &status,
        now: env.now(),
    }
    .fit(room)
}

/// The user's own status line, while it runs.
struct Theirs {
    child: Child,
    /// What it has not read yet; it need not.
    input: Vec<u8>,
    /// Where it reads that, and what it prints; none when closed.
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    ended: EndedChildren,
}

impl Theirs {
    fn start(words: &[OsString], input: Vec<u8>, cwd: &Path) -> Result<Option<Theirs>, String> {
        let Some((first, rest)) = words.split_first() else {
            return Ok(None);
        };
        let mut command = match rest {
            [] => Command::new("sh"),
            _ => Command::new(first),
        };
        match rest {
            [] => command.arg("-c").arg(first),
            _ => command.args(rest),
        };
        let command = command
            .current_dir(cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        // Before it starts, so that its end is not missed.
        let ended = EndedChildren::new().map_err(|error| format!("the status line: {error}"))?;
        // A group of its own, so that all of it can be ended.
        let spawned = command.process_group(0).spawn();
        let mut child = spawned.map_err(|error| format!("{}: {error}", first.display()))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        if let Some(stdin) = &stdin {
            rustix::io::ioctl_fionbio(stdin, true)
                .map_err(|error| format!("the status line: {error}"))?;
        }
        Ok(Some(Theirs {
            child,
            input,
            stdin,
            stdout,
            ended,
        }))
    }

    /// All that it has printed when it ends; what it left running in the background may keep its output open.
    fn output(mut self, deadline: &Deadline) -> Result<Vec<u8>, String> {
        let (mut output, mut some, mut ended) = (Vec::new(), [0; 4096], None::<ExitStatus>);
        loop {
            // What prints without end is always ready, so the clock counts and not only the wait.
            if deadline.is_over() && ended.is_none() {
                // It has not been waited for, so the number is still its own.
                let group = rustix::process::Pid::from_child(&self.child);
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::TERM);
                return Err(format!(
                    "the status line took more than {} seconds",
                    LONGEST.as_secs()
                ));
            }
            // What it printed is there when it has ended, so there is nothing to wait for.
            let patience = if ended.is_some() {
                Duration::ZERO
            } else {
                deadline.left()
            };
            let (stdin, stdout) = (self.stdin.as_ref(), self.stdout.as_ref());
            let mut fds = vec![PollFd::new(&self.ended.stream, PollFlags::IN)];
            fds.extend(stdout.map(|stdout| PollFd::new(stdout, PollFlags::IN)));
            fds.extend(stdin.map(|stdin| PollFd::new(stdin, PollFlags::OUT)));
            match poll(&mut fds, Timespec::try_from(patience).ok().as_ref()) {
                Err(Errno::INTR) => continue,
                Err(error) => return Err(format!("the status line: {error}")),
                Ok(_) => {}
            }
            let is_ready = |fd: &PollFd| !fd.revents().is_empty();
            let has_ended = is_ready(&fds[0]);
            let has_more = stdout.is_some() && fds.get(1).is_some_and(is_ready);
            let reads = stdin.is_some() && fds.last().is_some_and(is_ready);
            if let Some(status) = ended.filter(|_| !has_more || output.len() >= MOST) {
                return if status.success() {
                    Ok(output)
                } else {
                    Err(format!("the status line failed: {status}"))
                };
            }
            if has_ended {
                let _ = (&self.ended.stream).read(&mut some);
                ended = self.child.try_wait().map_err(|error| error.to_string())?;
            }
            if reads {
                self.give();
            }
            if has_more {
                match self
                    .stdout
                    .as_mut()
                    .map_or(Ok(0), |stdout| stdout.read(&mut some))
                {
                    // More is read, so that it can end, but not shown.
                    Ok(length @ 1..) => output.extend(&some[..length.min(MOST - output.len())]),
                    _ => self.stdout = None,
                }
            }
        }
    }

    /// Gives it as much of its input as it takes now.
    fn give(&mut self) {
        let given = self
            .stdin
            .as_mut()
            .map_or(Ok(0), |stdin| stdin.write(&self.input));
        match given {
            Ok(length @ 1..) => drop(self.input.drain(..length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            // It has closed it.
            _ => self.input.clear(),
        }
        if self.input.is_empty() {
            self.stdin = None;
        }
    }
}

/// Says when a child of ours has ended, any of them, to whoever waits for several things.
struct EndedChildren {
    stream: UnixStream,
    signal: SigId,
}

impl EndedChildren {
    fn new() -> io::Result<EndedChildren> {
        let (stream, end) = UnixStream::pair()?;
        stream.set_nonblocking(true)?;
        Ok(EndedChildren {
            stream,
            signal: pipe::register(SIGCHLD, end)?,
        })
    }
}

impl Drop for EndedChildren {
    fn drop(&mut self) {
        unregister(self.signal);
    }
}
