//! What a list says about a session. A tally can be put away and counted on from where it stopped; the result is the
//! same as counting in one go.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use super::basics::title;
use super::text::{cut, ends_of};
use super::{Basics, Ending, Fold, LastAsked, OpenEnd, Turns};
use session_format::entry::{Entry, Facts, Role, What};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally<S = String> {
    pub basics: Basics<S>,
    pub asked: LastAsked<S>,
    pub messages: u64,
    turns: Turns,
    pub broken: u64,
    /// Prompts that have not been looked at yet.
    #[serde(skip)]
    prompts: Vec<String>,
}

impl<S> Deref for Tally<S> {
    type Target = Basics<S>;

    fn deref(&self) -> &Basics<S> {
        &self.basics
    }
}

impl Fold for Tally {
    fn facts(&mut self, facts: &Facts) {
        self.basics.facts(facts);
    }

    fn entry(&mut self, entry: &Entry, _: u64) {
        self.basics.entry(entry);
        self.turns.take(entry);
        self.messages += u64::from(entry.begins);
        if let (true, Role::User, What::Text(text)) = (entry.begins, entry.role, &entry.what) {
            self.prompts.push(ends_of(text));
            if self.prompts.len() >= Tally::PROMPTS {
                self.settle();
            }
        }
    }
}

impl Tally {
    const PROMPT: usize = 120;
    const PROMPTS: usize = 64;

    /// Finds out what was last asked. Done once after many prompts, because looking at each costs more than reading it.
    pub fn settle(&mut self) {
        let prompts = std::mem::take(&mut self.prompts);
        self.asked.push_all(&prompts, |own| {
            match own.char_indices().nth(Tally::PROMPT) {
                Some((end, _)) => format!("{}…", cut(&own, end).trim_end()),
                None => own,
            }
        });
    }
}

impl<S: AsRef<str>> Tally<S> {
    /// True if it is of a session of its own, in which something was said.
    pub(crate) fn is_session(&self) -> bool {
        self.messages > 0 && !self.subagent
    }

    /// The ending so far, which says whose turn it is.
    pub fn ending(&self) -> Ending {
        self.turns.ending()
    }

    /// The call or error that it stopped at.
    pub fn open_end(&self) -> Option<OpenEnd> {
        self.turns.open_end()
    }

    /// Its title: the one somebody gave it, else the last substantive prompt.
    pub fn title(&self) -> Option<&str> {
        title([self.given_title(), self.asked.best().map(AsRef::as_ref)])
    }
}
