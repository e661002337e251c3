//! What the hook reported to which session, and what went wrong: the last few hundred lines, for `doctor` and `explain`.
//!
//! Hardly anybody sees the stderr of a hook; `doctor` shows the lines here.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::file::{self, Unreadable};
use session_format::time::Time;

/// One run of the hook that said something, or wanted to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HookRun {
    pub time: Option<Time>,
    pub agent: String,
    /// The session that was told.
    pub session: String,
    pub cwd: String,
    /// The time it took, in microseconds.
    pub micros: u64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trouble: Vec<String>,
}

pub struct Journal {
    path: PathBuf,
}

impl Journal {
    /// When the file is longer than this, it becomes the older half, and what was the older half goes.
    const ROTATED_AT: u64 = 128 << 10;

    pub fn in_dir(state: &Path) -> Journal {
        Journal {
            path: state.join("journal.jsonl"),
        }
    }

    fn older(&self) -> PathBuf {
        self.path.with_extension("old.jsonl")
    }

    pub fn append(&self, run: &HookRun) -> io::Result<()> {
        if fs::symlink_metadata(&self.path).is_ok_and(|journal| journal.len() > Journal::ROTATED_AT)
        {
            match fs::rename(&self.path, self.older()) {
                // Another hook has just done it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                moved => moved?,
            }
        }
        super::append_line(&self.path, run).map(drop)
    }

    /// All that is kept, the oldest first; a broken line is left out.
    pub fn read(&self) -> Result<Vec<HookRun>, Unreadable> {
        let mut runs = Vec::new();
        for path in [self.older(), self.path.clone()] {
            match file::read_to_string(&path) {
                Ok(text) => runs.extend(
                    text.lines()
                        .filter_map(|line| serde_json::from_str(line).ok()),
                ),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Unreadable { path, error }),
            }
        }
        Ok(runs)
    }
}
