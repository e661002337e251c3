//! Whose turn it is, and how a session ended, for the list, `resume` and the hook alike.
//!
//! What was said or done last decides. A question that the agent asked by a call keeps the floor with the user until it
//! is answered, whatever calls ran beside it. A question mark at the end of an answer was a courtesy or an offer too
//! often; a call that waits is a fact.

use serde::{Deserialize, Serialize};

use crate::entry::{Entry, Id, Mark, Role, What, named};

named! {
    /// How a session ended, as far as it did.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Ending {
        /// Nobody said anything.
        #[default]
        None = "none",
        /// The agent has answered.
        Answered = "answered",
        /// The agent has asked something.
        Asked = "asked",
        /// A prompt, a call or a result came last.
        Working = "working",
        Interrupted = "interrupted",
        Failed = "failed",
        /// A prompt, a call or a result came last, and then nothing for a while.
        Unfinished = "unfinished",
    }
}

/// Follows a session, entry by entry.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Turns {
    last: Ending,
    /// Calls that ask the user something and have no result. A call without an id has none ever.
    questions: Vec<Option<Id>>,
    /// There were results since the agent last said or did something.
    results: bool,
    /// How often the agent went on after results, or was prompted.
    pub round: u64,
}

impl Turns {
    pub fn take(&mut self, entry: &Entry) {
        if entry.renews {
            return;
        }
        self.last = match (&entry.what, entry.role) {
            (What::Text(_), Role::User) => {
                self.go_on(true);
                Ending::Working
            }
            (What::Text(_), Role::Assistant) => {
                self.go_on(self.results);
                Ending::Answered
            }
            (What::Call(call), _) => {
                self.go_on(self.results);
                self.questions.extend(call.asks.then_some(call.id));
                Ending::Working
            }
            (What::Result { call, .. }, _) => {
                self.results = true;
                self.questions.retain(|question| question != call);
                if self.last == Ending::Interrupted { Ending::Interrupted } else { Ending::Working }
            }
            (What::Mark(Mark::Interrupt, _), _) => Ending::Interrupted,
            (What::Mark(Mark::Error, _), _) => Ending::Failed,
            _ => self.last,
        };
    }

    /// When the agent goes on, calls without a result are no longer open.
    fn go_on(&mut self, goes_on: bool) {
        self.results = false;
        if goes_on {
            self.round += 1;
            self.questions.clear();
        }
    }

    pub fn ending(&self) -> Ending {
        let asked = self.last == Ending::Working && !self.questions.is_empty();
        if asked { Ending::Asked } else { self.last }
    }
}

/// Leaves out prompts that came to nothing because the user stopped the agent before it said or did anything. That it was
/// stopped stays.
pub fn without_dead_turns<'e, 'a>(entries: &'e [Entry<'a>]) -> Vec<&'e Entry<'a>> {
    let mut kept: Vec<&Entry> = Vec::with_capacity(entries.len());
    let mut alive = 0;
    for entry in entries {
        match (&entry.what, entry.role) {
            (What::Mark(Mark::Interrupt, _), _) => {
                kept.truncate(alive);
                kept.push(entry);
            }
            (What::Text(_), Role::Assistant) | (What::Call(_), _) => {
                kept.push(entry);
                alive = kept.len();
            }
            _ => kept.push(entry),
        }
    }
    kept
}
