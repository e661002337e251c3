//! What agents are doing, as their hooks noted it: a short file for each session, a line for each event.
//!
//! A hook must not keep its agent waiting, so it takes no lock: lines are appended, each in one write, and the newest
//! counts. A file that is long enough is cut to its last lines; a line that gets lost then is followed by another one.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::dir;
use crate::file;
use crate::process::{self, Claim, Running};
use session_format::format::live::Status;
use session_format::hash::HashSet;
use session_format::path::base_name;
use session_format::time::Time;

/// An event: what the agent is doing since then, and which process it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveNote {
    pub time: Time,
    pub status: Status,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// The agent: its number, when it started, and the namespace that numbers it; 0 if that is not known.
    pub pid: u32,
    pub start: String,
    pub namespace: String,
    /// When the hook started, by the same clock as the agent; 0 if that is not known.
    pub ticks: u64,
}

impl LiveNote {
    /// The agent that noted it.
    pub fn running(&self) -> Running {
        let Self {
            pid,
            start,
            namespace,
            ..
        } = self;
        if *pid == 0 {
            Running::Unknown
        } else {
            Claim {
                pid: *pid,
                start,
                namespace,
            }
            .running()
        }
    }

    /// The agent's process, if it runs here and has not left the session.
    pub fn pid(&self) -> Option<u32> {
        let is_here = self.running() == Running::Yes && self.status != Status::Ended;
        is_here.then_some(self.pid)
    }

    /// The agent, which runs, has started something since: what the user had to allow, for no hook tells that it
    /// was allowed. Other hooks of the same event are over sooner than anybody answers.
    pub(crate) fn is_answered(&self) -> bool {
        const SOON: u64 = process::PER_SECOND * 3 / 10;
        self.ticks > 0 && process::has_child_since(self.pid, self.ticks + SOON, self.program())
    }

    /// The name of the program that it asks for, which is in the command line of whatever runs it. Empty if that cannot
    /// be told, because a shell puts something else in its place.
    fn program(&self) -> &str {
        let word = self
            .subject
            .split_whitespace()
            .find(|word| !word.contains('='))
            .unwrap_or_default();
        let is_open = word.contains(|char| "$[`*?{\\…".contains(char));
        if is_open {
            ""
        } else {
            base_name(word.trim_matches(|char: char| !char.is_alphanumeric()))
        }
    }
}

#[derive(Debug, Default)]
pub struct LiveNotes {
    pub dir: PathBuf,
    /// All files there are, for whoever asks for very many sessions.
    names: Option<HashSet<OsString>>,
}

/// A longer file is cut to its last lines.
const CUT_AT: u64 = 16 << 10;
const KEPT_LINES: usize = 8;
/// Files of sessions in which nothing happened for so long, in seconds, are removed.
const OLD: i64 = 7 * 24 * 60 * 60;

impl LiveNotes {
    pub fn in_dir(state: &Path) -> LiveNotes {
        LiveNotes {
            dir: state.join("live"),
            names: None,
        }
    }

    /// The same for whoever asks for very many sessions, most of which have none.
    pub fn listed(self) -> LiveNotes {
        let names = dir::entries(&self.dir, &mut Vec::new())
            .iter()
            .map(|entry| entry.name.to_owned())
            .collect();
        LiveNotes {
            names: Some(names),
            ..self
        }
    }

    /// The file of a session. The id must be one that can stand in a file name.
    fn name(format: &str, id: &str) -> OsString {
        format!("{format}-{id}.jsonl").into()
    }

    /// Notes an event of a session, at a time in seconds since 1970 by the clock of files.
    pub fn append(&self, format: &str, id: &str, note: &LiveNote, now: i64) -> io::Result<()> {
        let path = self.dir.join(LiveNotes::name(format, id));
        let is_first = !path.exists();
        let file = super::append_line(&path, note)?;
        if is_first {
            // What another hook has removed is gone as well.
            super::old_files(&self.dir, now - OLD)
                .into_iter()
                .for_each(|old| _ = fs::remove_file(old));
        }
        if file.metadata()?.len() <= CUT_AT {
            return Ok(());
        }
        let bytes = file::read(&path)?;
        let is_note = |line: &&[u8]| serde_json::from_slice::<LiveNote>(line).is_ok();
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').filter(is_note).collect();
        let kept: Vec<u8> = lines[lines.len().saturating_sub(KEPT_LINES)..]
            .iter()
            .flat_map(|line| [line, &b"\n"[..]].concat())
            .collect();
        super::replace(&path, &kept)
    }

    /// There may be a note of a session.
    pub fn has(&self, format: &str, id: &str) -> bool {
        self.names
            .as_ref()
            .is_none_or(|names| names.contains(&LiveNotes::name(format, id)))
    }

    /// The newest note of a session. What cannot be read is as good as not there.
    pub fn newest(&self, format: &str, id: &str) -> Option<LiveNote> {
        if !self.has(format, id) {
            return None;
        }
        let bytes = file::read_own(&self.dir.join(LiveNotes::name(format, id)), 2 * CUT_AT).ok()?;
        let mut lines = bytes.rsplit(|byte| *byte == b'\n');
        lines.find_map(|line| serde_json::from_slice(line).ok())
    }
}
