//! Which entries a log shows, and what came of looking for them.

use super::once::{Once, OpenCalls};
use crate::fold::{folded, searched};
use session_format::entry::{Act, Call, Entry, Id, Mark, Position, Role, What};
use session_format::time::{MINUTE, Time};

/// Narrows down a log. An entry fits if all of it holds.
#[derive(Debug, Clone, Default)]
pub struct Slice {
    /// A word that it says, made comparable.
    pub word: Option<String>,
    pub act: Option<Act>,
    /// Only what failed.
    pub errors: bool,
    /// Only what the user said.
    pub prompts: bool,
    /// Only what stands there.
    pub at: Option<Target>,
    /// So many entries around each that fits are shown as well.
    pub context: usize,
    /// Of the results, only those that tell why a call failed.
    pub only_reasons: bool,
}

impl Slice {
    /// `call` is the one that a result belongs to, if it is known.
    pub fn fits(&self, entry: &Entry, call: Option<&Call>) -> bool {
        let call = entry.call().or(call);
        let is_prompt = entry.role == Role::User && matches!(entry.what, What::Text(_));
        (!self.errors || failed(entry))
            && (is_prompt || !self.prompts)
            && self
                .act
                .is_none_or(|act| call.is_some_and(|call| call.act == act))
            && self
                .word
                .as_ref()
                .is_none_or(|word| folded(&text(entry)).contains(word))
    }
}

pub(super) fn failed(entry: &Entry) -> bool {
    match &entry.what {
        What::Call(Call { failed, .. }) | What::Result { failed, .. } => *failed,
        What::Mark(mark, _) => *mark == Mark::Error,
        _ => false,
    }
}

/// The text that a word is looked for in: the same as for a search, and what `--full` adds.
fn text(entry: &Entry) -> String {
    match &entry.what {
        What::Thinking(text) => text.text().into_owned(),
        What::Mark(_, text) => text.to_string(),
        _ => searched(entry, true).unwrap_or_default(),
    }
}

/// Something in a transcript, by where or when it was written, or by the client's own id of it.
#[derive(Debug, Clone, Copy)]
pub enum Target {
    /// A line of the file, from 1.
    Line(u64),
    Time(Time),
    Id(Id),
}

/// Which entries of a log are wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'w> {
    pub count: usize,
    pub since: Option<Time>,
    pub until: Option<Time>,
    /// Only those that fit.
    pub slice: Option<&'w Slice>,
    /// Also thinking and marks.
    pub full: bool,
    /// Also what tools answered.
    pub results: bool,
    /// Also a last line that has no newline yet, if it is whole.
    pub unfinished: bool,
}

impl Wanted<'_> {
    /// So much from the past ends a search: one line with a wrong clock is not the past yet.
    pub(super) const PAST: usize = 100;

    /// A log shows texts and calls; more if it was asked for.
    pub fn shows(&self, entry: &Entry) -> bool {
        let kind = match entry.what {
            What::Text(_) | What::Call(_) => true,
            What::Result { .. } => self.results,
            // A log shows only the error that ended it; who looks for something may look for any.
            What::Mark(Mark::Error, _) if self.slice.is_some() => true,
            What::Mark(_, ref text) => self.full && !text.is_empty(),
            What::Thinking(_) => self.full,
            What::Permission { .. } => false,
        };
        kind && self.is_in_time(entry)
    }

    pub(super) fn is_in_time(&self, entry: &Entry) -> bool {
        self.since
            .is_none_or(|since| entry.time.is_some_and(|time| time >= since))
            && self
                .until
                .is_none_or(|until| entry.time.is_some_and(|time| time <= until))
    }

    /// Keeps the entries that are shown, and the error that ended the conversation, where marks are not shown anyway.
    pub(super) fn shown(&self, mut entries: Vec<Entry<'static>>) -> Vec<Entry<'static>> {
        let last = entries.iter().rfind(|entry| entry.is_activity());
        let ended_by = last.filter(|last| {
            matches!(last.what, What::Mark(Mark::Error, _)) && self.is_in_time(last)
        });
        let ended_by = if self.full { None } else { ended_by.cloned() };
        entries.retain(|entry| self.shows(entry));
        entries.extend(ended_by);
        entries
    }

    /// Too early to stand among lines that are wanted, even if clocks differ a little.
    pub(super) fn is_past(&self, time: Option<Time>) -> bool {
        self.since
            .zip(time)
            .is_some_and(|(since, time)| time.0 < since.0 - 10 * MINUTE)
    }
}

/// Some entries of a transcript.
#[derive(Debug, Default)]
pub struct Log {
    pub entries: Vec<Entry<'static>>,
    /// Before which of them some are left out.
    pub gaps: Vec<usize>,
    /// Which of them fit a slice, where others are shown around them.
    pub hits: Vec<usize>,
    /// Calls that have no result yet and may not be among them.
    pub open: OpenCalls,
    /// The number of entries that could be shown. Not exact: a guess from how much of the file they took.
    pub total: usize,
    pub exact: bool,
    /// The number of lines that were read, and of those that could not be.
    pub lines: u64,
    pub broken: u64,
    /// The end of the last line that was read, and what to go on with from there.
    pub end: Position,
    pub once: Once,
}
