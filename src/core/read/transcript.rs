//! A transcript: the file of a session, read through its format.
//!
//! There is one way through it, [`Transcript::fold`]: lines from a position on, decoded to entries, of which those that
//! count ([`Once`]) go to a fold. Only `log`, which wants the last entries, reads lines from the end.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::once::{Conversation, Once, last_messages};
use super::source::Source;
use crate::fold::{Basics, Continuity, Ending, Fold, OpenEnd, Turns};
use session_format::budget::{self, Deadline};
use session_format::cursor::{Buffer, Line};
use session_format::decode::{Decoder, Item, Outcome};
use session_format::entry::{Call, Entry, Facts, Position};
use session_format::format::Format;

pub struct Transcript<'f> {
    pub source: Source,
    format: &'f Format,
    /// Decode thinking and results, too.
    full: bool,
    /// Decode results to their end.
    whole: bool,
    subagent: bool,
    /// Until when what is kept of it is brought up to date.
    pub deadline: Option<Deadline>,
}

/// A header, or the first line with a working directory.
#[derive(Debug, Default)]
pub struct Beginning {
    pub session: Option<String>,
    pub cwd: Option<String>,
    pub subagent: bool,
}

/// The content of a transcript from a position on.
#[derive(Debug, Default)]
pub struct Part {
    /// The conversation: what is written twice is in it once.
    pub entries: Vec<Entry<'static>>,
    pub basics: Basics,
    /// All directories that it was in.
    pub cwds: Vec<String>,
    pub ending: Ending,
    /// The work that is going on, as far as these lines tell.
    pub open_end: Option<OpenEnd>,
    /// For the next look: short ids of the last messages, and the calls that have no result yet.
    pub last: Vec<u32>,
    pub open: Vec<Call<'static>>,
    pub results: bool,
    /// The end of the last line that was read.
    pub end: Position,
    /// Bytes of the texts that were read; if they were too many, the oldest are left out.
    pub size: u64,
    pub is_cut: bool,
    /// The deadline came first.
    pub is_late: bool,
    conversation: Conversation,
    turns: Turns,
}

/// The last look's memory of the lines before those that are read.
#[derive(Debug, Default)]
pub struct Before<'b> {
    pub last: &'b [u32],
    /// Calls that had no result yet, and whether others had one since the agent last did something.
    pub open: Vec<Call<'static>>,
    pub results: bool,
    pub basics: Basics,
}

/// Which lines of a transcript are read.
#[derive(Default)]
pub struct Lines<'s> {
    /// The start of the first one, and the number of lines before it.
    pub from: Position,
    pub before: u64,
    /// Only those that were written while the session was in one of these directories.
    pub only: Option<&'s mut dyn FnMut(&str) -> bool>,
    /// It was in one of them before the first of these lines.
    pub here: bool,
    /// None any more after that.
    pub deadline: Option<&'s Deadline>,
    /// Also a last line that has no newline yet.
    pub unfinished: bool,
}

#[derive(Debug, Default)]
pub struct Read {
    /// The end of the last whole line.
    pub end: Position,
    /// The number of lines up to there, and of those that could not be read.
    pub lines: u64,
    pub broken: u64,
    /// The deadline came first.
    pub cut_short: bool,
}

impl<'f> Transcript<'f> {
    pub fn open(path: &Path, format: &'f Format) -> io::Result<Transcript<'f>> {
        let source = Source::open(path)?;
        Ok(Transcript {
            source,
            format,
            full: false,
            whole: false,
            subagent: false,
            deadline: None,
        })
    }

    pub fn full(self, full: bool) -> Transcript<'f> {
        Transcript { full, ..self }
    }

    pub fn whole(self, whole: bool) -> Transcript<'f> {
        Transcript { whole, ..self }
    }

    /// Reads a subagent's file as what it is, instead of leaving its lines out.
    pub fn subagent(self, subagent: bool) -> Transcript<'f> {
        Transcript { subagent, ..self }
    }

    pub(super) fn decoder(&self) -> Decoder<'f> {
        Decoder::new(self.format)
            .full(self.full)
            .whole(self.whole)
            .subagent(self.subagent)
    }

    /// Hands what counts of some lines to a fold.
    pub fn fold(
        &self,
        wanted: Lines,
        once: &mut Once,
        buffer: &mut Buffer,
        fold: &mut dyn Fold,
    ) -> io::Result<Read> {
        /// After so many lines, or bytes, somebody looks at the clock.
        const LINES: u64 = 64;
        const BYTES: u64 = 1 << 20;
        let mut looked = wanted.from.number();
        let mut decoder = self.decoder();
        let mut forward = self.source.forward(wanted.from..self.source.end(), buffer);
        let mut read = Read::default();
        let mut number = wanted.before;
        let mut only = wanted.only;
        let mut counts = only.is_none() || wanted.here;
        let mut take = |line: Line, number: u64, is_whole: bool| {
            fold.line(Position::new(line.offset()));
            // By reference, because an entry is large and there are many.
            let outcome = decoder.line(line, &mut |mut item| match &mut item {
                Item::Facts(facts) => {
                    if let (Some(only), Some(cwd)) = (&mut only, &facts.cwd) {
                        counts = only(cwd);
                    }
                    if counts {
                        once.facts(facts);
                        fold.facts(facts);
                    }
                }
                Item::Entry(_) if !counts => {}
                Item::Entry(entry) if once.find_copy(entry) => fold.copied(),
                Item::Entry(entry) => {
                    if once.entry(entry) {
                        fold.entry(entry, number);
                    }
                }
            })?;
            // The last line may still be written.
            if outcome == Outcome::Broken && is_whole {
                fold.unreadable(number);
            }
            io::Result::Ok(outcome)
        };
        while let Some(line) = forward.next_line()? {
            number += 1;
            read.broken += u64::from(take(line, number, true)? == Outcome::Broken);
            if number.is_multiple_of(LINES) || forward.offset() - looked > BYTES {
                looked = forward.offset();
                if wanted.deadline.is_some_and(Deadline::is_over) {
                    return Ok(Read {
                        end: Position::new(looked),
                        lines: number,
                        cut_short: true,
                        ..read
                    });
                }
            }
        }
        let end = Position::new(forward.offset());
        if let Some(line) = if wanted.unfinished {
            forward.last()
        } else {
            None
        } {
            take(line, number + 1, false)?;
        }
        Ok(Read {
            end,
            lines: number,
            ..read
        })
    }

    /// Hands the lines at the end, so many bytes at the most, to a fold.
    pub(crate) fn fold_end(&self, most: u64, fold: &mut dyn Fold) -> io::Result<Read> {
        let from = self.newest_or_all(most)?;
        self.fold(
            Lines {
                from,
                ..Lines::default()
            },
            &mut Once::from(from, &[]),
            &mut Buffer::default(),
            fold,
        )
    }

    pub(super) fn newest_or_all(&self, most: u64) -> io::Result<Position> {
        Ok(self
            .source
            .newest(most, &Deadline::after(Duration::MAX))?
            .unwrap_or(Position::START))
    }

    /// The entries of the line that begins at a position.
    pub(crate) fn line_at(
        &self,
        position: Position,
        buffer: &mut Buffer,
    ) -> io::Result<Vec<Entry<'static>>> {
        let mut forward = self.source.forward(position..self.source.end(), buffer);
        let mut entries = Vec::new();
        if let Some(line) = forward.next_line()? {
            self.decoder().line(line, &mut |item| {
                if let Item::Entry(entry) = item {
                    entries.push(entry.into_owned());
                }
            })?;
        }
        Ok(entries)
    }

    /// The content of some lines, after what is known from before them.
    pub fn part(&self, lines: Lines, before: Before, buffer: &mut Buffer) -> io::Result<Part> {
        let Before {
            last,
            open,
            results,
            basics,
        } = before;
        let turns = Turns::waiting_for(&open, results);
        let earlier = open
            .iter()
            .filter_map(|call| Some((call.id?, call.clone())))
            .collect();
        let conversation = Conversation::new(false, earlier);
        let mut part = Part {
            basics,
            conversation,
            turns,
            ..Part::default()
        };
        let mut once = Once::from(lines.from, last);
        let read = self.fold(lines, &mut once, buffer, &mut part)?;
        (part.end, part.is_late) = (read.end, read.cut_short);
        part.is_cut |= part.conversation.keep_newest(budget::NEWS);
        let unresolved;
        (part.entries, unresolved) = std::mem::take(&mut part.conversation).finish();
        let new = part.entries.iter().filter_map(Entry::open_call);
        let earlier = open
            .iter()
            .filter(|call| call.id.is_some_and(|id| unresolved.contains_key(&id)));
        let waits = |call: &Call<'static>| Call {
            waits: part.turns.waits(call),
            ..call.clone()
        };
        part.open = earlier.chain(new).map(waits).collect();
        part.results = part.turns.has_results();
        part.last = last_messages(last, &part.entries);
        (part.ending, part.open_end) = (part.turns.ending(), part.turns.open_end());
        Ok(part)
    }

    /// The content of the lines at the end, so many bytes at the most; nothing if no line begins there.
    pub fn end_part(
        &self,
        most: u64,
        deadline: &Deadline,
        buffer: &mut Buffer,
    ) -> io::Result<Part> {
        let from = self
            .source
            .newest(most, deadline)?
            .unwrap_or(self.source.end());
        self.part(
            Lines {
                from,
                ..Lines::default()
            },
            Before::default(),
            buffer,
        )
    }

    /// The end of the session, from a position on, or only what it did in some of its directories; for a transcript that
    /// was opened with details. None if that takes longer than it may.
    pub fn continuity<'s>(
        &self,
        from: Position,
        deadline: Option<&'s Deadline>,
        only: Option<&'s mut dyn FnMut(&str) -> bool>,
    ) -> io::Result<Option<Continuity>> {
        let mut all = Continuity::default();
        all.partial = !from.is_start();
        let wanted = Lines {
            from,
            only,
            deadline,
            unfinished: true,
            ..Lines::default()
        };
        let read = self.fold(
            wanted,
            &mut Once::from(from, &[]),
            &mut Buffer::default(),
            &mut all,
        )?;
        all.broken = read.broken;
        Ok((!read.cut_short).then_some(all))
    }

    /// The first few kilobytes tell it as a rule.
    pub fn beginning(&self) -> io::Result<Beginning> {
        let few = self.first_lines(8 << 10)?;
        Ok(if few.is_some() {
            few
        } else {
            self.first_lines(256 << 10)?
        }
        .unwrap_or_default())
    }

    fn first_lines(&self, most: u64) -> io::Result<Option<Beginning>> {
        let mut buffer = Buffer::default();
        let mut forward = self.source.forward(
            Position::START..self.source.end().min(Position::new(most)),
            &mut buffer,
        );
        let mut decoder = self.decoder().subagent(true);
        let mut beginning = Beginning::default();
        let mut found = false;
        while let (false, Some(line)) = (found, forward.next_line()?) {
            decoder.line(line, &mut |item| {
                if let Item::Facts(facts) = item {
                    found |= facts.cwd.is_some() || facts.session.is_some();
                    beginning.subagent |= facts.subagent;
                    beginning.session = facts
                        .session
                        .take()
                        .map(Cow::into_owned)
                        .or(beginning.session.take());
                    beginning.cwd = facts
                        .cwd
                        .take()
                        .map(Cow::into_owned)
                        .or(beginning.cwd.take());
                }
            })?;
        }
        Ok(found.then_some(beginning))
    }
}

impl Fold for Part {
    fn facts(&mut self, facts: &Facts) {
        self.basics.facts(facts);
        for cwd in [&facts.cwd, &facts.project].into_iter().flatten() {
            if !self.cwds.iter().any(|known| *known == **cwd) {
                self.cwds.push(cwd.to_string());
            }
        }
    }

    fn entry(&mut self, entry: &Entry, _: u64) {
        self.basics.entry(entry);
        self.turns.take(entry);
        self.size += entry.size();
        self.conversation.take(entry.clone().into_owned());
        // Now and then, because it moves all others.
        if self.conversation.size > 2 * budget::NEWS {
            self.is_cut |= self.conversation.keep_newest(budget::NEWS);
        }
    }
}
