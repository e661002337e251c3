//! What somebody types to find a session, what is asked for it, and what is answered.

use std::path::PathBuf;

use super::view::WatchRow;
use session_core::search::typed::Typed;

/// What is typed, and what came of it.
#[derive(Debug, Default)]
pub struct Finder {
    pub text: String,
    pub typed: Typed,
    /// In all projects.
    pub all: bool,
    /// What is said of the answer.
    pub note: String,
    /// It is all that there is: `session-reader find`.
    pub is_alone: bool,
    /// Enter ends the program, which then prints what was picked.
    pub picks: bool,
    /// What is shown fits what is typed; until then Enter waits.
    pub is_answered: bool,
    pub enters: bool,
    /// What was selected before one began to find.
    pub before: Option<(PathBuf, Option<u64>)>,
    /// An answer that came while the log had the whole screen.
    pub late: Option<Answer>,
}

/// A question for the thread.
pub struct Request {
    pub number: u64,
    pub line: String,
    pub all: bool,
    /// The sessions are to be looked at anew.
    pub is_fresh: bool,
}

#[derive(Debug)]
pub struct Answer {
    pub number: u64,
    pub rows: Vec<WatchRow>,
    pub note: String,
    /// A file that cannot be read.
    pub trouble: Option<String>,
}
