//! What is found in a session: items with their places in the transcript.

use crate::digest::Turn;
use crate::digest::code::Work;
use crate::entry::{Act, TaskState};
use crate::time::Time;

/// Something that was said or found, and where.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Item {
    pub text: String,
    pub time: Option<Time>,
    /// The line of the transcript, counted from 1; 0 if only its end was read.
    pub line: u64,
    /// It was taken from what somebody said in so many words, which is weak evidence.
    pub from_words: bool,
}

/// A file that was changed.
#[derive(Debug, Clone, Default, PartialEq)]
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
    /// What was done to it, in one line.
    pub fn summary(&self) -> String {
        match self.edits {
            0 | 1 => self.last.clone(),
            edits if self.created && !self.deleted => format!("new; {}, the last of {edits} edits", self.last),
            edits => format!("{}, the last of {edits} edits", self.last),
        }
    }
}

/// A command that ran.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    pub command: String,
    pub work: Work,
    pub failed: bool,
    pub time: Option<Time>,
    pub line: u64,
}

/// A call, for the history of tools.
#[derive(Debug, Clone, PartialEq)]
pub struct Used {
    pub tool: String,
    pub act: Act,
    pub subject: String,
    pub failed: bool,
    pub time: Option<Time>,
    pub line: u64,
}

/// Something to be done.
#[derive(Debug, Clone, PartialEq)]
pub struct ToDo {
    pub text: String,
    pub state: TaskState,
    pub time: Option<Time>,
    pub line: u64,
}

/// What stands in the way, by its kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocker {
    pub kind: Obstacle,
    pub item: Item,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// A test, build or check failed last.
    Failing,
    /// The agent asked, and nobody answered.
    Question,
    /// The user did not allow a call.
    Denied,
    /// There is no more to be had for now: of the account, or of the room that a model has.
    Limit,
    /// The model, the network or the client failed.
    Error,
    /// A task is marked as blocked.
    Task,
    /// A call has no result.
    Crashed,
    /// The user said so.
    Said,
}

impl Obstacle {
    pub fn name(self) -> &'static str {
        match self {
            Obstacle::Failing => "failing",
            Obstacle::Question => "question",
            Obstacle::Denied => "denied",
            Obstacle::Limit => "limit",
            Obstacle::Error => "error",
            Obstacle::Task => "task",
            Obstacle::Crashed => "crashed",
            Obstacle::Said => "said",
        }
    }
}

/// How a session ended, as far as it did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ending {
    /// Nobody said anything.
    #[default]
    None,
    /// The agent has answered.
    Answered,
    /// The agent has asked something.
    Asked,
    /// A prompt, a call or a result came last.
    Working,
    Interrupted,
    Failed,
    /// A prompt, a call or a result came last, and then nothing for a while.
    Unfinished,
}

impl Ending {
    /// Whose turn it is after that.
    pub fn turn(self) -> Turn {
        match self {
            Ending::None => Turn::None,
            Ending::Working | Ending::Unfinished => Turn::Agent,
            Ending::Answered | Ending::Asked | Ending::Interrupted => Turn::User,
            Ending::Failed => Turn::Failed,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Ending::None => "none",
            Ending::Answered => "answered",
            Ending::Asked => "asked",
            Ending::Working => "working",
            Ending::Interrupted => "interrupted",
            Ending::Failed => "failed",
            Ending::Unfinished => "unfinished",
        }
    }
}
