//! The last entries of a transcript, as a log shows them: read from its end, and no further than needed.

use std::io;

use super::once::{Conversation, Once, OpenCalls};
use super::slice::Sliced;
use super::transcript::{Lines, Transcript};
use super::wanted::{Log, Slice, Wanted};
use crate::fold::Fold;
use session_format::cursor::{Backward, Buffer};
use session_format::decode::{Decoder, Item, Outcome};
use session_format::entry::{Entry, Position};

/// So many bytes of entries are held while there are not enough of them.
const HELD: u64 = 32 << 20;
/// Memory of an entry beside its text.
const ENTRY: u64 = 256;

pub fn last(transcript: &Transcript, wanted: Wanted) -> io::Result<Log> {
    match wanted.slice {
        Some(slice) => last_that_fit(transcript, wanted, slice),
        None => last_within(transcript, wanted, HELD),
    }
}

/// The same without a slice. If lines at the end repeat each other so often that there are still not enough when so many
/// bytes of entries are held, the file is read from its start.
pub fn last_within(transcript: &Transcript, wanted: Wanted, most: u64) -> io::Result<Log> {
    let mut lines = LastLines::new(transcript, wanted)?;
    let mut enough = wanted.count;
    loop {
        lines.read_back(enough, most)?;
        if lines.held > most {
            return from_start(transcript, wanted);
        }
        let (entries, once) = lines.conversation();
        if entries.len() >= wanted.count || lines.is_over() {
            return Ok(lines.log(entries, once, transcript.source.end()));
        }
        // At least twice as many next time, so that a file full of repetitions is not read over and over.
        enough = (lines.shown + wanted.count - entries.len()).max(2 * lines.shown);
    }
}

/// The lines at the end of a transcript, as far as they were read.
struct LastLines<'t, 'f> {
    decoder: Decoder<'f>,
    backward: Backward<'t>,
    wanted: Wanted<'t>,
    /// The entries of each line, the last line first.
    lines: Vec<Vec<Entry<'static>>>,
    /// The range of these lines.
    start: Position,
    end: Position,
    /// The number of entries that would be shown if none were a repetition, and the memory of all.
    shown: usize,
    held: u64,
    broken: u64,
    /// The number of lines in a row that were older than wanted.
    past: usize,
}

impl<'t, 'f> LastLines<'t, 'f> {
    fn new(transcript: &'t Transcript<'f>, wanted: Wanted<'t>) -> io::Result<LastLines<'t, 'f>> {
        let (decoder, backward, end) = (
            transcript.decoder(),
            transcript.source.backward()?,
            transcript.source.end(),
        );
        Ok(LastLines {
            decoder,
            backward,
            wanted,
            lines: vec![],
            start: end,
            end,
            shown: 0,
            held: 0,
            broken: 0,
            past: 0,
        })
    }

    /// Lines further up cannot add anything.
    fn is_over(&self) -> bool {
        self.start.is_start() || self.past > Wanted::PAST
    }

    fn read_back(&mut self, enough: usize, most: u64) -> io::Result<()> {
        let wanted = self.wanted;
        while self.shown < enough && self.held <= most && !self.is_over() {
            let Some((line, finished)) = self.backward.previous_line()? else {
                self.start = Position::START;
                break;
            };
            self.start = Position::new(line.offset());
            if !finished && !wanted.unfinished {
                self.end = self.start;
                continue;
            }
            let mut entries = Vec::new();
            let outcome = self.decoder.line(line, &mut |item| match item {
                Item::Facts(facts) if facts.time.is_none() => {}
                Item::Facts(facts) => {
                    self.past = if wanted.is_past(facts.time) {
                        self.past + 1
                    } else {
                        0
                    }
                }
                Item::Entry(entry) => entries.push(entry.into_owned()),
            })?;
            self.broken += u64::from(outcome == Outcome::Broken && finished);
            self.shown += entries
                .iter()
                .filter(|entry| wanted.shows(entry) && !entry.relisted)
                .count();
            self.held += entries
                .iter()
                .map(|entry| entry.size() + ENTRY)
                .sum::<u64>();
            self.lines.push(entries);
        }
        Ok(())
    }

    /// The entries shown of the lines so far, each once.
    fn conversation(&self) -> (Vec<Entry<'static>>, Once) {
        let mut once = Once::from(self.start, &[]);
        let mut conversation = Conversation::new(self.wanted.results, OpenCalls::default());
        for mut entry in self.lines.iter().rev().flatten().cloned() {
            if once.entry(&mut entry) {
                conversation.take(entry);
            }
        }
        (self.wanted.shown(conversation.entries), once)
    }

    fn log(&self, mut entries: Vec<Entry<'static>>, once: Once, size: Position) -> Log {
        let (exact, found) = (self.is_over(), entries.len());
        let guess = found as f64 * (size.number() as f64 / size.since(self.start).max(1) as f64);
        let total = if exact { found } else { guess as usize };
        entries.drain(..found.saturating_sub(self.wanted.count));
        Log {
            entries,
            total,
            exact,
            broken: self.broken,
            end: self.end,
            once,
            ..Log::default()
        }
    }
}

/// The last entries that are shown, of a file that is read from its start: no more than twice as many are held.
struct Newest<'w> {
    conversation: Conversation,
    wanted: Wanted<'w>,
    /// The number of dropped entries that would be shown.
    dropped: usize,
    /// With how many entries the oldest are dropped again.
    room: usize,
}

impl Newest<'_> {
    const LEAST_ROOM: usize = 256;
}

impl Fold for Newest<'_> {
    fn entry(&mut self, entry: &Entry, _: u64) {
        self.conversation.take(entry.clone().into_owned());
        let entries = &self.conversation.entries;
        if entries.len() < self.room {
            return;
        }
        let shown = entries
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, entry)| self.wanted.shows(entry));
        let first = shown
            .map(|(index, _)| index)
            .nth(self.wanted.count.max(1) - 1)
            .unwrap_or(0);
        self.dropped += entries[..first]
            .iter()
            .filter(|entry| self.wanted.shows(entry))
            .count();
        self.conversation.forget(first);
        self.room = Newest::LEAST_ROOM.max(self.conversation.entries.len().saturating_mul(2));
    }
}

fn from_start(transcript: &Transcript, wanted: Wanted) -> io::Result<Log> {
    let conversation = Conversation::new(wanted.results, OpenCalls::default());
    let mut newest = Newest {
        conversation,
        wanted,
        dropped: 0,
        room: Newest::LEAST_ROOM,
    };
    let mut once = Once::default();
    let lines = Lines {
        unfinished: wanted.unfinished,
        ..Lines::default()
    };
    let read = transcript.fold(lines, &mut once, &mut Buffer::default(), &mut newest)?;
    let mut entries = wanted.shown(newest.conversation.entries);
    let total = newest.dropped + entries.len();
    entries.drain(..entries.len().saturating_sub(wanted.count));
    Ok(Log {
        entries,
        once,
        exact: true,
        total,
        broken: read.broken,
        end: read.end,
        ..Log::default()
    })
}

/// The last entries that fit a slice: from the end of the file, and from more and more of it until there are enough. Lines
/// are counted from its start.
fn last_that_fit(transcript: &Transcript, wanted: Wanted, slice: &Slice) -> io::Result<Log> {
    let mut most = if slice.at.is_some() {
        u64::MAX
    } else {
        1 << 20
    };
    loop {
        let from = transcript.newest_or_all(most)?;
        let fold = |mut sliced| {
            let mut once = Once::from(from, &[]);
            let lines = Lines {
                from,
                unfinished: wanted.unfinished,
                ..Lines::default()
            };
            let read = transcript.fold(lines, &mut once, &mut Buffer::default(), &mut sliced)?;
            io::Result::Ok((sliced, read, once))
        };
        let (mut sliced, mut read, mut once) = fold(Sliced::new(wanted, slice))?;
        let exact = from.is_start();
        if exact || sliced.is_enough() {
            let listed = sliced
                .position
                .map(|position| transcript.line_at(position, &mut Buffer::default()));
            if let Some(again) = sliced.again(&listed.transpose()?.unwrap_or_default()) {
                (sliced, read, once) = fold(again)?;
            }
            return Ok(Log {
                exact,
                lines: read.lines,
                broken: read.broken,
                end: read.end,
                once,
                ..sliced.finish()
            });
        }
        most *= 16;
    }
}
