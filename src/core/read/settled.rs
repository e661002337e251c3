//! A whole transcript in order and in little memory: each entry once, in its last version, and a call with its results.
//!
//! A later line may say how a call ended, or say an entry again. So the last entries are held until that is unlikely: a call
//! until its result is there, the rest until some more have come. Nothing is held beyond a limit.

use super::once::{Conversation, OpenCalls};
use super::wanted::Wanted;
use crate::fold::Fold;
use session_format::entry::{ById, Entry, Facts, LongText, Position, What};

/// A piece of a transcript, ready to be shown.
pub enum Passage<'p> {
    /// An entry, and the line it begins in. Results that belong to a call come with it.
    Entry {
        entry: &'p Entry<'static>,
        results: Vec<Entry<'static>>,
        line: u64,
    },
    /// So many images were in a line.
    Images { count: u32, line: u64 },
    /// A line could not be read.
    Unreadable { line: u64 },
}

/// Hands the parts of a transcript on, when nothing more is to be expected of them.
pub struct Settled<'s> {
    wanted: Wanted<'s>,
    sink: &'s mut dyn FnMut(Passage),
    conversation: Conversation,
    /// The line of each entry that is held.
    lines: Vec<u64>,
    /// Images and unreadable lines, each with the number of the held entry that it stands before.
    others: Vec<(usize, Passage<'static>)>,
    /// The line that is read.
    line: u64,
    /// Bytes of the texts that are held, and from how many entries or bytes on some are handed on.
    size: usize,
    room: usize,
    /// An entry was handed on, so what stands after it is a part of what is wanted.
    has_begun: bool,
}

impl<'s> Settled<'s> {
    /// So many entries may have come since a version that is written again.
    const HELD: usize = 128;
    /// The most that is held, if a call has no result for long.
    const MOST: usize = 4096;
    const BYTES: usize = 4 << 20;

    pub fn new(wanted: Wanted<'s>, sink: &'s mut dyn FnMut(Passage)) -> Settled<'s> {
        Settled {
            has_begun: wanted.since.is_none(),
            wanted,
            sink,
            conversation: Conversation::new(true, OpenCalls::default()),
            lines: Vec::new(),
            others: Vec::new(),
            line: 0,
            size: 0,
            room: 2 * Settled::HELD,
        }
    }

    /// Hands on all that is left.
    pub fn finish(mut self) {
        self.hand_on(self.conversation.entries.len());
    }

    /// Hands on what is old enough and settled; a call without a result waits until too much is held.
    fn hand_on_settled(&mut self) {
        let entries = &self.conversation.entries;
        let is_too_much = entries.len() > Settled::MOST || self.size > Settled::BYTES;
        let old = if is_too_much {
            entries.len()
        } else {
            entries.len() - Settled::HELD
        };
        let is_open = |entry: &Entry| entry.open_call().is_some();
        let open = entries.iter().position(is_open).filter(|_| !is_too_much);
        self.hand_on(open.map_or(old, |open| open.min(old)));
        self.room = self.conversation.entries.len() + Settled::HELD;
    }

    /// Hands on so many entries, and what stands among them.
    fn hand_on(&mut self, count: usize) {
        let mut results: ById<Vec<usize>> = ById::default();
        for (index, entry) in self.conversation.entries.iter().enumerate() {
            if let What::Result {
                call: Some(call),
                text: Some(_),
                ..
            } = &entry.what
            {
                results.entry(*call).or_default().push(index);
            }
        }
        let mut others = std::mem::take(&mut self.others).into_iter().peekable();
        for index in 0..count {
            while let Some((_, other)) = others.next_if(|(before, _)| *before <= index) {
                self.other(other);
            }
            let of_call = self.conversation.entries[index]
                .call()
                .and_then(|call| call.id);
            let of_call = of_call
                .and_then(|id| results.remove(&id))
                .unwrap_or_default();
            let taken = of_call.into_iter().map(|at| self.take_result(at)).collect();
            let (entry, line) = (&self.conversation.entries[index], self.lines[index]);
            let is_shown = match &entry.what {
                What::Result { text, .. } => text.is_some(),
                What::Permission { .. } => false,
                _ => true,
            };
            if is_shown && self.wanted.is_in_time(entry) {
                self.has_begun = true;
                (self.sink)(Passage::Entry {
                    entry,
                    results: taken,
                    line,
                });
            }
        }
        let is_all = count == self.conversation.entries.len();
        while let Some((_, other)) = others.next_if(|(before, _)| is_all || *before < count) {
            self.other(other);
        }
        self.others = others
            .map(|(before, other)| (before - count, other))
            .collect();
        self.conversation.forget(count);
        self.lines.drain(..count);
        self.size = self.conversation.entries.iter().map(weight).sum();
    }

    /// The result, which is not shown where it stands.
    fn take_result(&mut self, index: usize) -> Entry<'static> {
        let entry = &mut self.conversation.entries[index];
        let taken = entry.clone();
        if let What::Result { text, .. } = &mut entry.what {
            *text = None;
        }
        taken
    }

    fn other(&mut self, other: Passage) {
        if self.has_begun {
            (self.sink)(other);
        }
    }
}

/// Bytes of an entry's texts.
fn weight(entry: &Entry) -> usize {
    let long = |text: &LongText| match text {
        LongText::Written(bytes, _) => bytes.len(),
        LongText::Read(text) => text.len(),
    };
    match &entry.what {
        What::Thinking(text) => long(text),
        What::Result { text, .. } => text.as_ref().map_or(0, long),
        What::Call(call) => {
            let input = call
                .detail
                .as_ref()
                .and_then(|detail| detail.input.as_ref());
            // It is there once more, taken apart.
            2 * input.map_or(0, String::len)
        }
        _ => entry.size() as usize,
    }
}

impl Fold for Settled<'_> {
    fn line(&mut self, _: Position) {
        self.line += 1;
    }

    fn facts(&mut self, facts: &Facts) {
        if facts.images > 0 {
            let images = Passage::Images {
                count: facts.images,
                line: self.line,
            };
            self.others.push((self.conversation.entries.len(), images));
        }
    }

    fn entry(&mut self, entry: &Entry, line: u64) {
        let held = self.conversation.entries.len();
        self.size += weight(entry);
        self.conversation.take(entry.clone().into_owned());
        if self.conversation.entries.len() > held {
            self.lines.push(line);
        }
        if self.conversation.entries.len() >= self.room || self.size > Settled::BYTES {
            self.hand_on_settled();
        }
    }

    fn unreadable(&mut self, line: u64) {
        self.others.push((
            self.conversation.entries.len(),
            Passage::Unreadable { line },
        ));
    }
}
