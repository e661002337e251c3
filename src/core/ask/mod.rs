//! Answers: which sessions there are and what state they are in, what was said in them, where they stopped, and who touched
//! which file.
//!
//! A question is a value, and so is its answer. Nothing here prints, parses a command line or knows a terminal: commands, the
//! screen and the status line show what they are answered (`show/`).
//!
//! Which file uses which:
//! ```text
//! search, follow ──▶ log
//! find ──▶ search
//! resume ──▶ pending
//! handover ──▶ resume, uncommitted
//! files, follow, noted, profile, recap, restore ──▶ list
//! restore ──▶ resume
//! ```

pub mod files;
pub mod find;
pub mod follow;
pub mod handover;
pub mod list;
pub mod log;
pub mod noted;
pub mod pending;
pub mod profile;
pub mod recap;
pub mod restore;
pub mod resume;
pub mod search;
pub mod status;
pub mod uncommitted;

use crate::env::Env;
use crate::file::Unreadable;
use crate::formats::AgentFormat;
use crate::settings::Settings;

/// Everything a question needs beside itself.
#[derive(Clone, Copy)]
pub struct Asker<'a, 'f> {
    pub env: &'a Env,
    pub formats: &'f [AgentFormat],
    pub settings: &'a Settings,
}

/// An answer, and the files that could not be read for it.
pub type Answer<T> = (T, Vec<Unreadable>);

impl<'f> Asker<'_, 'f> {
    /// Asks a function that names the files it could not read.
    pub fn look<T>(
        self,
        look: impl FnOnce(&Env, &'f [AgentFormat], &mut Vec<Unreadable>) -> T,
    ) -> Answer<T> {
        let mut bad = Vec::new();
        (look(self.env, self.formats, &mut bad), bad)
    }
}
