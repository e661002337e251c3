//! What a session is doing, as far as its transcript and the user's own word tell.
//!
//! A state is what was so at the last line that was written; only the time since then, which the caller hands in, can
//! change it. Whose turn it is comes from `fold`.

use crate::entry::named;
use crate::fold::Ending;
use crate::time::{HOUR, Time};

named! {
    /// What a session is doing.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum State {
        Working = "working",
        Waiting = "waiting",
        Idle = "idle",
        Error = "error",
        /// The user said so, and nobody is at work.
        Done = "done",
    }
}

impl State {
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
}
