//! Other processes: whether the one that wrote something still runs, and which files are locked.
//!
//! A number alone says nothing, because the system gives it to another process sooner or later; with the time that the
//! process started at, it is unique. The rules are here. `linux.rs` (from `/proc`) and `macos.rs` (from libproc and sysctl)
//! tell the same things, each from its system. What a system does not tell is not known, and nobody is told that a process
//! runs, or that it does not.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use session_format::hash::HashSet;

#[cfg(any(test, target_os = "macos"))]
mod macos_texts;
#[cfg(not(target_os = "macos"))]
#[path = "linux.rs"]
mod system;
#[cfg(target_os = "macos")]
#[path = "macos.rs"]
mod system;

pub use system::{PER_SECOND, locked, namespace};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Running {
    Yes,
    No,
    /// It may run on another machine, in another container, or the platform cannot tell.
    Unknown,
}

/// A process, as it described itself.
#[derive(Debug, Clone, Default)]
pub struct Claim<'c> {
    pub pid: u32,
    /// When it started, in the words of its system.
    pub start: &'c str,
    /// The namespace that numbers it, and perhaps the machine: `linux:MACHINE:pid:[4026531836]`, only the number, or `darwin`.
    pub namespace: &'c str,
}

impl Claim<'_> {
    /// This very process, not another one that got its number.
    pub fn running(&self) -> Running {
        if !system::is_here(self.namespace) {
            return Running::Unknown;
        }
        match system::has_started(self.pid, self.start) {
            Some(true) => Running::Yes,
            Some(false) => Running::No,
            None => Running::Unknown,
        }
    }
}

/// A process that has not ended.
#[derive(Debug)]
struct Process {
    name: String,
    parent: u32,
    /// The device of its terminal, or the number for none. Not every process tells.
    terminal: Option<u32>,
    /// By the system's clock for this, which has `PER_SECOND` ticks. Not every process tells.
    started: Option<u64>,
}

/// When a process started, in ticks; none if there is no such process, or it has ended.
pub fn started(pid: u32) -> Option<u64> {
    system::process(pid)?.started
}

/// A process has started another one after some time, which still runs and has this word in its command line.
pub(crate) fn has_child_since(pid: u32, ticks: u64, word: &str) -> bool {
    let is_later = |child: u32| started(child).is_some_and(|start| start > ticks);
    let has_word = |child| system::command_line(child).is_some_and(|line| line.contains(word));
    let is_it = |child: u32| is_later(child) && has_word(child);
    system::children(pid).into_iter().any(is_it)
}

/// Runs a program that should answer soon, and takes all that it prints. It is ended if it takes longer than that.
pub fn answer(command: &mut Command, limit: Duration) -> io::Result<Output> {
    let piped = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = piped.process_group(0).spawn()?;
    let group = rustix::process::Pid::from_child(&child);
    let (sender, answers) = channel();
    std::thread::Builder::new().spawn(move || sender.send(child.wait_with_output()))?;
    answers.recv_timeout(limit).unwrap_or_else(|_| {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        Err(io::ErrorKind::TimedOut.into())
    })
}

/// The terminal of a process: `/dev/pts/3`.
pub fn tty(pid: u32) -> Option<String> {
    system::terminal(system::process(pid)?.terminal?)
}

/// The variables of a process, as it was started with them. None of another user's process, or where the system does not tell.
pub fn variables(pid: u32, wanted: &[&str]) -> BTreeMap<String, String> {
    let bytes = system::environment(pid);
    let pairs = bytes.split(|byte| *byte == 0).filter_map(|pair| {
        let (name, value) = std::str::from_utf8(pair).ok()?.split_once('=')?;
        wanted.contains(&name).then(|| (name.into(), value.into()))
    });
    pairs.collect()
}

/// Deeper than anybody nests shells.
const DEPTH: usize = 32;

/// The program that a process's terminal belongs to: of those above it, the first that has another terminal, or none.
pub fn terminal_program(pid: u32) -> Option<String> {
    let own = system::process(pid)?;
    let mut above = own.parent;
    for _ in 0..DEPTH {
        let process = system::process(above).filter(|_| above > 1)?;
        if process.terminal.is_some() && process.terminal != own.terminal {
            return Some(process.name);
        }
        above = process.parent;
    }
    None
}

/// The processes above this one, the nearest first.
pub fn above() -> Vec<u32> {
    let parent = |pid: &u32| Some(system::process(*pid)?.parent).filter(|pid| *pid > 1);
    let first = Some(std::os::unix::process::parent_id()).filter(|pid| *pid > 1);
    std::iter::successors(first, parent).take(DEPTH).collect()
}

/// Files that processes keep locked.
#[derive(Debug, Default)]
pub struct Locked {
    /// With the processes that have them.
    pub files: Vec<(PathBuf, u32)>,
    /// The inodes of all files that anybody keeps locked.
    pub inodes: HashSet<u64>,
    /// No other inodes are locked.
    pub is_all: bool,
}

/// The process that runs us for somebody: of those above us, the first that is no shell. None if it cannot be told.
pub fn caller() -> Option<(u32, u64)> {
    const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "fish", "ksh"];
    let mut pid = std::os::unix::process::parent_id();
    // A shell in a shell, at the most a few times.
    for _ in 0..4 {
        let process = system::process(pid)?;
        if !SHELLS.contains(&&*process.name) {
            return if pid > 1 {
                Some((pid, process.started?))
            } else {
                None
            };
        }
        pid = process.parent;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the system is, it tells about this very process and its child.
    #[test]
    fn a_process_and_its_child_are_known() {
        let mut sleeping = Command::new("sleep")
            .arg("86399")
            .env("SESSION_MONITOR_TEST", "a = b")
            .stdin(Stdio::null())
            .spawn()
            .expect("sleep");
        let (own, child) = (std::process::id(), sleeping.id());
        let start = started(child).expect("a start time");
        let claim = |pid, start: &str| {
            let namespace = &*namespace().expect("a namespace");
            let claim = Claim {
                pid,
                start,
                namespace,
            };
            claim.running()
        };
        assert_eq!(claim(child, &start.to_string()), Running::Yes);
        assert_eq!(claim(child, &(start + 1).to_string()), Running::No);
        assert_eq!(claim(child, "yesterday"), Running::Unknown);
        assert_eq!(
            system::process(child).map(|process| process.parent),
            Some(own)
        );
        // The child may not have become `sleep` yet.
        while system::command_line(child).is_none_or(|line| !line.contains("86399")) {
            std::thread::yield_now();
        }
        assert!(has_child_since(own, start - 1, "86399"));
        assert!(!has_child_since(own, start, "86399"));
        assert!(!has_child_since(own, start - 1, "another"));
        let variables = variables(child, &["SESSION_MONITOR_TEST", "NOT_THERE"]);
        assert_eq!(
            variables.into_iter().collect::<Vec<_>>(),
            [("SESSION_MONITOR_TEST".to_owned(), "a = b".to_owned())]
        );
        sleeping.kill().expect("killed");
        sleeping.wait().expect("ended");
        assert_eq!(claim(child, &start.to_string()), Running::No);
    }
}
