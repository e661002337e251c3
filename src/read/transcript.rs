//! A transcript: the file of a session, read through its format.
//!
//! There is one way through it, [`Transcript::fold`]: lines from a position on, decoded to entries, of which those that
//! count ([`Once`]) go to a fold. A log, which wants the last entries, goes the same way over lines read from the end.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::once::{Conversation, Once, OpenCalls, last_messages};
use super::slice::{Slice, Sliced};
use super::source::Source;
use crate::budget::{self, Deadline};
use crate::cursor::{Buffer, Line};
use crate::decode::{Decoder, Item, Outcome};
use crate::entry::{Call, Entry, Facts, Id, Mark, Position, What};
use crate::fold::{Basics, Continuity, Ending, Fold, OpenEnd, Turns};
use crate::format::Format;
use crate::time::{MINUTE, Time};

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
    /// How many entries there are to show. Not exact: a guess from how much of the file they took.
    pub total: usize,
    pub exact: bool,
    /// How many lines were read, and how many could not be.
    pub lines: u64,
    pub broken: u64,
    /// Where the last line that was read ends, and what to go on with from there.
    pub end: Position,
    pub once: Once,
}

/// How many bytes of entries a log holds while it looks for enough of them.
const HELD: u64 = 32 << 20;

/// What the first lines of a transcript tell: a header, or the first line with a working directory.
#[derive(Debug, Default)]
pub struct Beginning {
    pub session: Option<String>,
    pub cwd: Option<String>,
    pub subagent: bool,
}

/// What a transcript says from a position on.
#[derive(Debug, Default)]
pub struct Part {
    /// The conversation: what is written twice is in it once.
    pub entries: Vec<Entry<'static>>,
    pub basics: Basics,
    /// All directories that it was in.
    pub cwds: Vec<String>,
    pub ending: Ending,
    /// What it is doing, as far as these lines tell.
    pub open_end: Option<OpenEnd>,
    /// For the next look: short ids of the last messages, and the calls that have no result yet.
    pub last: Vec<u32>,
    pub open: Vec<Call<'static>>,
    pub results: bool,
    /// Where the last line that was read ends.
    pub end: Position,
    /// How long the texts are that were read, and whether the oldest of them were left out because they were too many.
    pub size: u64,
    pub is_cut: bool,
    /// The deadline came first.
    pub is_late: bool,
    conversation: Conversation,
    turns: Turns,
}

/// What the last look remembers of the lines before those that are read.
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
    /// Where the first of them starts, and how many lines come before it.
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

/// How far a transcript was read.
#[derive(Debug, Default)]
pub struct Read {
    /// Where the last whole line ends.
    pub end: Position,
    /// How many lines there are up to there, and how many of those that were read could not be.
    pub lines: u64,
    pub broken: u64,
    /// The deadline came first.
    pub cut_short: bool,
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
    /// What a log shows: what was said and what was called; more if it was asked for.
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

    fn is_in_time(&self, entry: &Entry) -> bool {
        self.since.is_none_or(|since| entry.time.is_some_and(|time| time >= since))
            && self.until.is_none_or(|until| entry.time.is_some_and(|time| time <= until))
    }

    /// The error that ended a conversation, where marks are not shown anyway.
    fn ended_by(&self, entries: &[Entry<'static>]) -> Option<Entry<'static>> {
        let last = entries.iter().rfind(|entry| entry.is_activity());
        let last = last.filter(|last| self.is_in_time(last) && !self.full);
        last.filter(|last| matches!(last.what, What::Mark(Mark::Error, _))).cloned()
    }
}

/// The last entries that are shown, of a file that is read from its start: no more than twice as many are held.
struct Newest<'w> {
    conversation: Conversation,
    wanted: Wanted<'w>,
    /// How many that would be shown were dropped.
    dropped: usize,
    /// With how many entries the oldest are dropped again.
    room: usize,
}

impl<'w> Newest<'w> {
    const LEAST: usize = 256;

    fn new(wanted: Wanted<'w>) -> Newest<'w> {
        let conversation = Conversation::new(wanted.results, OpenCalls::default());
        Newest { conversation, wanted, dropped: 0, room: Newest::LEAST }
    }
}

impl Fold for Newest<'_> {
    fn entry(&mut self, entry: &Entry, _: u64) {
        self.conversation.take(entry.clone().into_owned());
        let entries = &self.conversation.entries;
        if entries.len() < self.room {
            return;
        }
        let shown = entries.iter().enumerate().rev().filter(|(_, entry)| self.wanted.shows(entry));
        let first = shown.map(|(index, _)| index).nth(self.wanted.count.max(1) - 1).unwrap_or(0);
        self.dropped += entries[..first].iter().filter(|entry| self.wanted.shows(entry)).count();
        self.conversation.forget(first);
        self.room = Newest::LEAST.max(self.conversation.entries.len().saturating_mul(2));
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

impl<'f> Transcript<'f> {
    pub fn open(path: &Path, format: &'f Format) -> io::Result<Transcript<'f>> {
        let source = Source::open(path)?;
        Ok(Transcript { source, format, full: false, whole: false, subagent: false, deadline: None })
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

    fn decoder(&self) -> Decoder<'f> {
        Decoder::new(self.format).full(self.full).whole(self.whole).subagent(self.subagent)
    }

    /// The last entries, read from the end and no further than needed.
    pub fn last(&self, wanted: Wanted) -> io::Result<Log> {
        match wanted.slice {
            Some(slice) => self.slice(wanted, slice),
            None => self.last_within(wanted, HELD),
        }
    }

    /// The same. If lines at the end repeat each other so often that there are still not enough when so many bytes of
    /// entries are held, the file is read from its start.
    pub fn last_within(&self, wanted: Wanted, most: u64) -> io::Result<Log> {
        /// What an entry takes beside its text.
        const ENTRY: u64 = 256;
        let mut held = 0;
        const OLD_LINES: usize = 100;
        let mut decoder = self.decoder();
        let mut backward = self.source.backward()?;
        let end = self.source.end();
        let mut log = Log { end, ..Log::default() };
        let mut start = end;
        let mut lines: Vec<Vec<Entry<'static>>> = Vec::new();
        let mut enough = wanted.count;
        let mut shown = 0;
        let mut old_lines = 0;
        loop {
            let mut old = false;
            let mut complete = false;
            while shown < enough && !old {
                let Some((line, finished)) = backward.previous_line()? else {
                    complete = true;
                    break;
                };
                start = Position::new(line.offset());
                if !finished && !wanted.unfinished {
                    log.end = start;
                    continue;
                }
                let mut entries = Vec::new();
                let outcome = decoder.line(line, &mut |item| match item {
                    Item::Facts(facts) => {
                        let limit = wanted.since.map(|since| Time(since.0 - 10 * MINUTE));
                        // One line with a wrong clock is not the past yet.
                        if let Some((time, limit)) = facts.time.zip(limit) {
                            old_lines = if time < limit { old_lines + 1 } else { 0 };
                            old |= old_lines > OLD_LINES;
                        }
                    }
                    Item::Entry(entry) => entries.push(entry.into_owned()),
                })?;
                log.broken += u64::from(outcome == Outcome::Broken && finished);
                shown += entries.iter().filter(|entry| wanted.shows(entry) && !entry.relisted).count();
                held += entries.iter().map(|entry| entry.size() + ENTRY).sum::<u64>();
                if held > most {
                    return self.last_from_start(wanted);
                }
                lines.push(entries);
            }
            let mut once = Once::from(if complete { Position::START } else { start }, &[]);
            let mut conversation = Conversation::new(wanted.results, OpenCalls::default());
            for mut entry in lines.iter().rev().flatten().cloned() {
                if once.entry(&mut entry) {
                    conversation.take(entry);
                }
            }
            let mut entries = conversation.entries;
            let error = wanted.ended_by(&entries);
            entries.retain(|entry| wanted.shows(entry));
            entries.extend(error);
            if entries.len() >= wanted.count || complete || old {
                log.exact = complete || old || start.is_start();
                let guess = entries.len() as f64 * (end.number() as f64 / end.since(start).max(1) as f64);
                log.total = if log.exact { entries.len() } else { guess as usize };
                entries.drain(..entries.len().saturating_sub(wanted.count));
                return Ok(Log { entries, once, ..log });
            }
            // At least twice as many next time, so that a file full of repetitions is not read over and over.
            enough = (shown + wanted.count - entries.len()).max(2 * shown);
        }
    }

    fn last_from_start(&self, wanted: Wanted) -> io::Result<Log> {
        let (mut once, mut newest) = (Once::default(), Newest::new(wanted));
        let lines = Lines { unfinished: wanted.unfinished, ..Lines::default() };
        let read = self.fold(lines, &mut once, &mut Buffer::default(), &mut newest)?;
        let mut entries = newest.conversation.entries;
        let error = wanted.ended_by(&entries);
        entries.retain(|entry| wanted.shows(entry));
        entries.extend(error);
        let total = newest.dropped + entries.len();
        entries.drain(..entries.len().saturating_sub(wanted.count));
        Ok(Log { entries, once, exact: true, total, broken: read.broken, end: read.end, ..Log::default() })
    }

    /// The last entries that fit: from the end of the file, and from more and more of it until there are enough. Lines are
    /// counted from its start.
    fn slice(&self, wanted: Wanted, slice: &Slice) -> io::Result<Log> {
        let mut most = if slice.at.is_some() { u64::MAX } else { 1 << 20 };
        loop {
            let from = self.newest_or_all(most)?;
            let fold = |mut sliced| {
                let mut once = Once::from(from, &[]);
                let lines = Lines { from, unfinished: wanted.unfinished, ..Lines::default() };
                let read = self.fold(lines, &mut once, &mut Buffer::default(), &mut sliced)?;
                io::Result::Ok((sliced, read, once))
            };
            let (mut sliced, mut read, mut once) = fold(Sliced::new(wanted, slice))?;
            let exact = from.is_start();
            if exact || sliced.is_enough() {
                let listed =
                    sliced.position.map(|position| self.line_at(position, &mut Buffer::default())).transpose()?;
                if let Some(again) = sliced.again(&listed.unwrap_or_default()) {
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

    /// Hands what counts of some lines to a fold.
    pub fn fold(&self, wanted: Lines, once: &mut Once, buffer: &mut Buffer, fold: &mut dyn Fold) -> io::Result<Read> {
        /// How many lines, or bytes, are read before somebody looks at the clock.
        const LINES: u64 = 64;
        const BYTES: u64 = 1 << 20;
        let mut looked = wanted.from.number();
        let mut decoder = self.decoder();
        let mut forward = self.source.forward(wanted.from..self.source.end(), buffer);
        let mut read = Read::default();
        let mut number = wanted.before;
        let mut only = wanted.only;
        let mut counts = only.is_none() || wanted.here;
        let mut take = |line: Line, number: u64| {
            fold.line(Position::new(line.offset()));
            // By reference, because an entry is large and there are many.
            decoder.line(line, &mut |mut item| match &mut item {
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
            })
        };
        while let Some(line) = forward.next_line()? {
            number += 1;
            read.broken += u64::from(take(line, number)? == Outcome::Broken);
            if number.is_multiple_of(LINES) || forward.offset() - looked > BYTES {
                looked = forward.offset();
                if wanted.deadline.is_some_and(Deadline::is_over) {
                    return Ok(Read { end: Position::new(looked), lines: number, cut_short: true, ..read });
                }
            }
        }
        let end = Position::new(forward.offset());
        if let Some(line) = if wanted.unfinished { forward.last() } else { None } {
            take(line, number + 1)?;
        }
        Ok(Read { end, lines: number, ..read })
    }

    /// Hands the lines at the end, so many bytes at the most, to a fold.
    pub fn fold_end(&self, most: u64, fold: &mut dyn Fold) -> io::Result<Read> {
        let from = self.newest_or_all(most)?;
        self.fold(Lines { from, ..Lines::default() }, &mut Once::from(from, &[]), &mut Buffer::default(), fold)
    }

    fn newest_or_all(&self, most: u64) -> io::Result<Position> {
        Ok(self.source.newest(most, &Deadline::after(Duration::MAX))?.unwrap_or(Position::START))
    }

    /// The entries of the line that begins at a position.
    pub fn line_at(&self, position: Position, buffer: &mut Buffer) -> io::Result<Vec<Entry<'static>>> {
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

    /// What some lines say, after what is known from before them.
    pub fn part(&self, lines: Lines, before: Before, buffer: &mut Buffer) -> io::Result<Part> {
        let Before { last, open, results, basics } = before;
        let turns = Turns::waiting_for(&open, results);
        let earlier = open.iter().filter_map(|call| Some((call.id?, call.clone()))).collect();
        let conversation = Conversation::new(false, earlier);
        let mut part = Part { basics, conversation, turns, ..Part::default() };
        let mut once = Once::from(lines.from, last);
        let read = self.fold(lines, &mut once, buffer, &mut part)?;
        (part.end, part.is_late) = (read.end, read.cut_short);
        part.is_cut |= part.conversation.keep_newest(budget::NEWS);
        let unresolved;
        (part.entries, unresolved) = std::mem::take(&mut part.conversation).finish();
        let new = part.entries.iter().filter_map(|entry| match &entry.what {
            What::Call(call) if call.id.is_some() && !call.ended => Some(call),
            _ => None,
        });
        let earlier = open.iter().filter(|call| call.id.is_some_and(|id| unresolved.contains_key(&id)));
        let waits = |call: &Call<'static>| Call { waits: part.turns.waits(call), ..call.clone() };
        part.open = earlier.chain(new).map(waits).collect();
        part.results = part.turns.has_results();
        part.last = last_messages(last, &part.entries);
        (part.ending, part.open_end) = (part.turns.ending(), part.turns.open_end());
        Ok(part)
    }

    /// What the lines at the end say, so many bytes at the most; nothing if no line begins there.
    pub fn end_part(&self, most: u64, deadline: &Deadline, buffer: &mut Buffer) -> io::Result<Part> {
        let from = self.source.newest(most, deadline)?.unwrap_or(self.source.end());
        self.part(Lines { from, ..Lines::default() }, Before::default(), buffer)
    }

    /// Where the session stopped, from a position on, or only what it did in some of its directories; for a transcript that
    /// was opened with details. None if that takes longer than it may.
    pub fn continuity<'s>(
        &self,
        from: Position,
        deadline: Option<&'s Deadline>,
        only: Option<&'s mut dyn FnMut(&str) -> bool>,
    ) -> io::Result<Option<Continuity>> {
        let mut all = Continuity::default();
        all.partial = !from.is_start();
        let wanted = Lines { from, only, deadline, unfinished: true, ..Lines::default() };
        let read = self.fold(wanted, &mut Once::from(from, &[]), &mut Buffer::default(), &mut all)?;
        all.broken = read.broken;
        Ok((!read.cut_short).then_some(all))
    }

    /// What its first lines tell about it. The first few kilobytes do as a rule.
    pub fn beginning(&self) -> io::Result<Beginning> {
        const FEW: u64 = 8 * 1024;
        const MOST: u64 = 256 * 1024;
        let few = self.first_lines(FEW)?;
        Ok(if few.is_some() { few } else { self.first_lines(MOST)? }.unwrap_or_default())
    }

    fn first_lines(&self, most: u64) -> io::Result<Option<Beginning>> {
        let mut buffer = Buffer::default();
        let mut forward = self.source.forward(Position::START..self.source.end().min(Position::new(most)), &mut buffer);
        let mut decoder = self.decoder().subagent(true);
        let mut beginning = Beginning::default();
        let mut found = false;
        while let (false, Some(line)) = (found, forward.next_line()?) {
            decoder.line(line, &mut |item| {
                if let Item::Facts(facts) = item {
                    found |= facts.cwd.is_some() || facts.session.is_some();
                    beginning.subagent |= facts.subagent;
                    beginning.session = facts.session.take().map(Cow::into_owned).or(beginning.session.take());
                    beginning.cwd = facts.cwd.take().map(Cow::into_owned).or(beginning.cwd.take());
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
