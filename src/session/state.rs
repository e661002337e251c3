//! What a session is doing, as far as its transcript and the user's own word tell.
//!
//! A state is what was so at the last line that was written; only the time since then, which the caller hands in, can
//! change it. Whose turn it is comes from `fold`.

use crate::fold::Ending;
use crate::time::{HOUR, Time};

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Working,
    Waiting,
    Idle,
    Error,
    /// The user said so, and nobody is at work.
    Done,
}

impl State {
    pub const ALL: [State; 5] = [State::Working, State::Waiting, State::Idle, State::Error, State::Done];

    /// A file cannot say that its writer is gone, so after an hour of silence nobody is thought to be at work.
    pub fn of(ending: Ending, updated: Option<Time>, done: bool, now: Time) -> State {
        let silent = updated.is_none_or(|updated| now.0 - updated.0 > HOUR);
        let works = !silent && matches!(ending, Ending::Working | Ending::Unfinished);
        match ending {
            _ if done && !works => State::Done,
            Ending::Failed => State::Error,
            _ if silent => State::Idle,
            _ if works => State::Working,
            _ => State::Waiting,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            State::Working => "working",
            State::Waiting => "waiting",
            State::Idle => "idle",
            State::Error => "error",
            State::Done => "done",
        }
    }
}
