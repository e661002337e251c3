//! What is found in a session: items with their lines in the transcript.

use serde::{Deserialize, Serialize};

use session_format::entry::{Act, TaskState, named};
use session_format::time::Time;

/// Something that was said or found, and where.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub text: String,
    pub time: Option<Time>,
    /// The line of the transcript, counted from 1; 0 if only its end was read.
    pub line: u64,
    /// Matched by a phrase: weak evidence.
    pub from_words: bool,
}

impl Finding {
    /// One that no phrase was needed for.
    pub fn new(text: String, time: Option<Time>, line: u64) -> Finding {
        Finding {
            text,
            time,
            line,
            from_words: false,
        }
    }
}

/// A file that was changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FileChange {
    pub path: String,
    /// The last change, in one line.
    pub last: String,
    pub created: bool,
    pub deleted: bool,
    pub edits: u64,
    pub time: Option<Time>,
    pub line: u64,
}

impl FileChange {
    /// The change in one line.
    pub fn summary(&self) -> String {
        match self.edits {
            0 | 1 => self.last.clone(),
            edits if self.created && !self.deleted => {
                format!("new; {}, the last of {edits} edits", self.last)
            }
            edits => format!("{}, the last of {edits} edits", self.last),
        }
    }
}

/// A call, for the history of tools, and for that of commands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Used {
    pub tool: String,
    pub act: Act,
    pub subject: String,
    pub failed: bool,
    pub time: Option<Time>,
    pub line: u64,
}

/// Something to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToDo {
    pub state: TaskState,
    pub item: Finding,
}

/// Something that stands in the way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Blocker {
    pub kind: Obstacle,
    pub item: Finding,
}

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Obstacle {
        /// A test, build or check failed last.
        Failing = "failing",
        /// The agent asked, and nobody answered.
        Question = "question",
        /// The user did not allow a call.
        Denied = "denied",
        /// There is no more to be had for now: of the account, or of the room that a model has.
        Limit = "limit",
        /// The model, the network or the client failed.
        Error = "error",
        /// A task is marked as blocked.
        Task = "task",
        /// The agent was killed before a call had a result. Whoever knows the session's state adds this and the next.
        Crashed = "crashed",
        /// A call waits for the user to allow it.
        Permission = "permission",
        /// The user said so.
        Said = "said",
    }
}
