//! Whose turn it is, and how a session ended, for the list, `resume` and the hook alike.
//!
//! What was said or done last decides. A question that the agent asked by a call keeps the floor with the user until it
//! is answered, whatever calls ran beside it. A question mark at the end of an answer was a courtesy or an offer too
//! often; a call that waits is a fact.
//!
//! [`Turns::open_end`] says what a session is doing: the call without a result, or the error it ended with.

use serde::{Deserialize, Serialize};

use session_format::boundary::substr;
use session_format::entry::{Act, Call, Entry, Id, Mark, Role, What, named};

named! {
    /// The way a session ended, as far as it did.
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
    }
}

/// Follows a session, entry by entry.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Turns {
    last: Ending,
    /// Calls without a result. One without an id never has any.
    open: Vec<OpenCall>,
    /// The texts of the open calls in a row, or the last error. There is a call in every other line, so room
    /// is made for them only once.
    texts: String,
    /// The last error was a limit.
    limit: bool,
    /// There were results since the agent last said or did something.
    results: bool,
    /// Counts each time the agent went on after results or was prompted.
    pub round: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct OpenCall {
    id: Option<Id>,
    act: Act,
    asks: bool,
    waits: bool,
    /// Positions in the texts: start of the tool, start of the subject, end of the subject.
    texts: [u32; 3],
}

/// The open end of a session: a call or an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenEnd {
    /// This call has no result yet.
    Call(Doing),
    /// This went wrong, because of a limit perhaps.
    Trouble { text: String, limit: bool },
}

/// A call that has no result yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Doing {
    pub tool: String,
    /// Empty if it has none.
    pub subject: String,
    pub act: Act,
    /// It waits for the user to answer, or to approve a plan.
    pub asks: bool,
    /// It waits for the user to allow it, as the transcript says.
    pub waits: bool,
}

impl Turns {
    /// More open calls than this are not told apart, and longer texts are cut.
    const OPEN: usize = 32;
    const TEXT: usize = 300;

    /// Goes on with a session that was waiting for the results of these calls; whether others had come since the agent last
    /// did something.
    pub(crate) fn waiting_for(calls: &[Call], results: bool) -> Turns {
        let mut turns = Turns::default();
        calls.iter().for_each(|call| turns.add(call));
        turns.last = if calls.is_empty() {
            Ending::None
        } else {
            Ending::Working
        };
        turns.results = results;
        turns
    }

    /// True if results came since the agent last did something.
    pub(crate) fn has_results(&self) -> bool {
        self.results
    }

    /// True if the user has to allow a call first, as the transcript says.
    pub fn waits(&self, call: &Call) -> bool {
        self.open
            .iter()
            .any(|open| open.waits && open.id == call.id)
    }

    pub fn take(&mut self, entry: &Entry) {
        if entry.renews {
            return;
        }
        if let What::Permission { call, waits } = entry.what {
            self.open
                .iter_mut()
                .filter(|open| open.id == Some(call))
                .for_each(|open| open.waits = waits);
            return;
        }
        if self.last == Ending::Failed && entry.is_activity() {
            self.texts.clear();
        }
        self.last = match (&entry.what, entry.role) {
            // What is typed while a call runs does not end the call.
            (What::Text(_), Role::User) if entry.queued && !self.open.is_empty() => Ending::Working,
            (What::Text(_), Role::User) => {
                self.go_on(true);
                Ending::Working
            }
            // The agent may end its turn without a word.
            (What::Text(_) | What::Mark(Mark::Note, _), Role::Assistant) => {
                self.go_on(self.results);
                Ending::Answered
            }
            (What::Call(call), _) => {
                self.go_on(self.results);
                self.add(call);
                Ending::Working
            }
            (What::Result { call, stopped, .. }, _) => {
                // Where another call beside it came to something, the agent goes on with that.
                let stops = self.last == Ending::Interrupted || *stopped && !self.results;
                self.results = true;
                self.open.retain(|open| open.id != *call);
                if stops {
                    Ending::Interrupted
                } else {
                    Ending::Working
                }
            }
            (What::Mark(Mark::Interrupt, _), _) => Ending::Interrupted,
            (What::Mark(Mark::Error, text), _) => {
                self.forget();
                self.add_text(text);
                self.limit = entry.limit;
                Ending::Failed
            }
            _ => self.last,
        };
    }

    fn add(&mut self, call: &Call) {
        if self.open.is_empty() {
            self.texts.clear();
        }
        if self.open.len() < Turns::OPEN {
            let starts = self.texts.len() as u32;
            let texts = [
                starts,
                self.add_text(&call.tool),
                self.add_text(call.subjects.first().map_or("", |one| one)),
            ];
            self.open.push(OpenCall {
                id: call.id,
                act: call.act,
                asks: call.asks,
                waits: call.waits,
                texts,
            });
        }
    }

    /// Adds as much of a text as is kept, and says where it ends.
    fn add_text(&mut self, text: &str) -> u32 {
        let kept = substr(text, ..text.floor_char_boundary(Turns::TEXT));
        // A word that is cut could be a secret that nobody recognises any more.
        let whole = if kept.len() < text.len() {
            kept.rfind(char::is_whitespace).unwrap_or(0)
        } else {
            kept.len()
        };
        self.texts += substr(kept, ..whole);
        self.texts.len() as u32
    }

    fn forget(&mut self) {
        self.open.clear();
        self.texts.clear();
    }

    /// When the agent goes on, calls without a result are no longer open.
    fn go_on(&mut self, goes_on: bool) {
        self.results = false;
        if goes_on {
            self.round += 1;
            self.forget();
        }
    }

    pub fn ending(&self) -> Ending {
        let asked = self.last == Ending::Working && self.open.iter().any(|open| open.asks);
        if asked { Ending::Asked } else { self.last }
    }

    /// The call or error that it stopped at. Agents do one call after the other, so of several it is at the first; but one that
    /// asks the user goes before the others, and then one that the user has to allow.
    pub fn open_end(&self) -> Option<OpenEnd> {
        match self.last {
            Ending::Failed => Some(OpenEnd::Trouble {
                text: self.texts.clone(),
                limit: self.limit,
            }),
            Ending::Working => {
                let asks = self.open.iter().find(|open| open.asks);
                let waits = || self.open.iter().find(|open| open.waits);
                let open = asks.or_else(waits).or(self.open.first())?;
                let OpenCall {
                    act,
                    asks,
                    waits,
                    texts: [tool, subject, end],
                    ..
                } = *open;
                let text = |from: u32, to: u32| {
                    self.texts
                        .get(from as usize..to as usize)
                        .unwrap_or_default()
                        .into()
                };
                Some(OpenEnd::Call(Doing {
                    tool: text(tool, subject),
                    subject: text(subject, end),
                    act,
                    asks,
                    waits,
                }))
            }
            _ => None,
        }
    }
}

/// Leaves out prompts that came to nothing because the user stopped the agent before it said or did anything, and what was
/// said in turns that the user took back. That it was stopped stays, and so do calls: what they did was done. With each
/// entry, whether its turn was taken back.
pub(crate) fn without_dead_turns<'e, 'a>(entries: &'e [Entry<'a>]) -> Vec<(&'e Entry<'a>, bool)> {
    let mut kept: Vec<(&Entry, bool)> = Vec::with_capacity(entries.len());
    let mut alive = 0;
    for (entry, taken_back) in entries.iter().zip(taken_back(entries)) {
        match (&entry.what, entry.role) {
            (What::Mark(Mark::Interrupt, _), _) => {
                kept.truncate(alive);
                kept.push((entry, false));
            }
            (What::Text(_), Role::Assistant) if !taken_back => {
                kept.push((entry, false));
                alive = kept.len();
            }
            (What::Call(_), _) => {
                kept.push((entry, taken_back));
                alive = kept.len();
            }
            _ if taken_back => {}
            _ => kept.push((entry, false)),
        }
    }
    kept
}

/// Of each entry, whether the user took back its turn.
fn taken_back(entries: &[Entry]) -> Vec<bool> {
    let mut taken = vec![false; entries.len()];
    let mut prompts: Vec<usize> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        if matches!(entry.what, What::Text(_)) && entry.role == Role::User {
            prompts.push(at);
        }
        if entry.takes_back > 0 {
            // A turn that began before all of these goes with all that is left of it.
            let left = prompts.len().checked_sub(entry.takes_back as usize);
            let from = left
                .and_then(|left| prompts.get(left))
                .copied()
                .unwrap_or(0);
            prompts.truncate(left.unwrap_or(0));
            taken[from..at].fill(true);
        }
    }
    taken
}
