//! A transcript: the file of a session, read through its format.
//!
//! The last entries from the end, everything from an offset, or a tally of the whole: all by the same steps, cursor to
//! lines, decode to entries, digest to what they amount to.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

use crate::budget::{self, Deadline};
use crate::cursor::{Backward, Buffer, Cursor, Forward, Line, newest_lines};
use crate::decode::{Decoder, Item, Outcome};
use crate::digest::{Continuity, Tally, weave};
use crate::entry::{Entry, Mark, TitleBy, What};
use crate::file;
use crate::format::{Format, Known};
use crate::locate::{self, Session, Unreadable};
use crate::time::{MINUTE, Time};

pub struct Transcript<'f> {
    pub file: File,
    pub meta: Metadata,
    format: &'f Format,
    /// Decode thinking and results, too.
    full: bool,
    /// Decode results to their end.
    whole: bool,
    subagent: bool,
}

/// Some entries of a transcript.
#[derive(Debug, Default)]
pub struct Log {
    pub entries: Vec<Entry<'static>>,
    /// How many entries there are to show. Not exact: a guess from how much of the file they took.
    pub total: usize,
    pub exact: bool,
    /// How many lines could not be read.
    pub broken: u64,
    /// Where the last line that was read ends.
    pub end: u64,
}

/// What the first lines of a transcript tell: a header, or the first line with a working directory.
#[derive(Debug, Default)]
pub struct Beginning {
    pub session: Option<String>,
    pub cwd: Option<String>,
    pub subagent: bool,
}

/// What a transcript says from an offset on.
#[derive(Debug, Default)]
pub struct Part {
    /// The conversation: what is written twice is in it once.
    pub entries: Vec<Entry<'static>>,
    pub cwds: Vec<String>,
    pub person_title: Option<String>,
    pub agent_title: Option<String>,
    /// Where the last line that was read ends.
    pub end: u64,
}

/// Which entries of a log are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    pub count: usize,
    pub since: Option<Time>,
    /// Also thinking and marks.
    pub full: bool,
    /// Also what tools answered.
    pub results: bool,
    /// Also a last line that has no newline yet, if it is whole.
    pub unfinished: bool,
}

impl Wanted {
    /// What a log shows: what was said and what was called; more if it was asked for.
    pub fn shows(&self, entry: &Entry) -> bool {
        let kind = match entry.what {
            What::Text(_) | What::Call(_) => true,
            What::Result { .. } => self.results,
            What::Thinking(_) | What::Mark(..) => self.full,
        };
        kind && self.is_in_time(entry)
    }

    fn is_in_time(&self, entry: &Entry) -> bool {
        self.since.is_none_or(|since| entry.time.is_some_and(|time| time >= since))
    }

    /// The error that ended a conversation, where marks are not shown anyway.
    fn ended_by(&self, entries: &[Entry<'static>]) -> Option<Entry<'static>> {
        let goes_on = |entry: &Entry| match entry.what {
            What::Mark(mark, _) => matches!(mark, Mark::Error | Mark::Interrupt),
            _ => true,
        };
        let last = entries.iter().rfind(|entry| goes_on(entry)).filter(|last| self.is_in_time(last) && !self.full);
        last.filter(|last| matches!(last.what, What::Mark(Mark::Error, _))).cloned()
    }
}

impl<'f> Transcript<'f> {
    pub fn open(path: &Path, format: &'f Format) -> io::Result<Transcript<'f>> {
        let file = open(path)?;
        let meta = file.metadata()?;
        Ok(Transcript { file, meta, format, full: false, whole: false, subagent: false })
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
        const OLD_LINES: usize = 100;
        let mut decoder = self.decoder();
        let mut backward = Backward::new(&self.file, self.meta.len())?;
        let size = self.meta.len();
        let mut log = Log { end: size, ..Log::default() };
        let mut start = size;
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
                start = line.offset();
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
                lines.push(entries);
            }
            // What a line lists again stands where it was said first, further up, if it was; only the whole file tells.
            let entries = lines.iter().rev().flatten().filter(|entry| complete || !entry.relisted).cloned();
            let mut woven = weave(entries, wanted.results);
            let error = wanted.ended_by(&woven);
            woven.retain(|entry| wanted.shows(entry));
            woven.extend(error);
            if woven.len() >= wanted.count || complete || old {
                log.exact = complete || old || start == 0;
                let guess = woven.len() as f64 * (size as f64 / (size - start).max(1) as f64);
                log.total = if log.exact { woven.len() } else { guess as usize };
                woven.drain(..woven.len().saturating_sub(wanted.count));
                log.entries = woven;
                return Ok(log);
            }
            // At least twice as many next time, so that a file full of repetitions is not woven over and over.
            enough = (shown + wanted.count - woven.len()).max(2 * shown);
        }
    }

    /// Hands out everything from an offset to the end of the last whole line; returns where that is, and how many lines
    /// were broken.
    pub fn from(&self, offset: u64, buffer: &mut Buffer, sink: &mut dyn FnMut(Item)) -> io::Result<(u64, u64)> {
        let mut decoder = self.decoder();
        let mut forward = Forward::new(&self.file, offset, self.meta.len(), buffer);
        let mut broken = 0;
        while let Some(line) = forward.next_line()? {
            broken += u64::from(decoder.line(line, sink)? == Outcome::Broken);
        }
        Ok((forward.offset(), broken))
    }

    /// What was written from an offset on; or only what was while the session was in some of its directories.
    pub fn part(
        &self,
        offset: u64,
        buffer: &mut Buffer,
        mut only: Option<&mut dyn FnMut(&str) -> bool>,
    ) -> io::Result<Part> {
        let mut part = Part::default();
        let mut entries = Vec::new();
        let mut counts = only.is_none();
        let (end, _) = self.from(offset, buffer, &mut |item| match item {
            Item::Facts(facts) => {
                if let (Some(only), Some(cwd)) = (&mut only, &facts.cwd) {
                    counts = only(cwd);
                }
                for cwd in [facts.cwd, facts.project].into_iter().flatten() {
                    if !part.cwds.iter().any(|known| *known == *cwd) {
                        part.cwds.push(cwd.into_owned());
                    }
                }
                match facts.title {
                    Some((TitleBy::Person, title)) => part.person_title = Some(title.into_owned()),
                    Some((TitleBy::Agent, title)) => part.agent_title = Some(title.into_owned()),
                    None => {}
                }
            }
            Item::Entry(entry) if counts => entries.push(entry.into_owned()),
            Item::Entry(_) => {}
        })?;
        // What a line lists again was said further up, unless this is all there is.
        if offset > 0 || entries.iter().any(|entry: &Entry| !entry.relisted) {
            entries.retain(|entry| !entry.relisted);
        }
        part.entries = weave(entries, false);
        part.end = end;
        Ok(part)
    }

    /// Where the session stopped, from an offset on, or only what it did in some of its directories; for a transcript that
    /// was opened with details. None if that takes longer than it may.
    pub fn continuity(
        &self,
        offset: u64,
        deadline: Option<&Deadline>,
        mut only: Option<&mut dyn FnMut(&str) -> bool>,
    ) -> io::Result<Option<Continuity>> {
        /// How many lines are read before somebody looks at the clock.
        const LINES: u64 = 64;
        let mut decoder = self.decoder();
        let mut buffer = Buffer::default();
        let mut forward = Forward::new(&self.file, offset, self.meta.len(), &mut buffer);
        let mut all = Continuity::default();
        all.partial = offset > 0;
        let mut number = 0;
        let mut counts = only.is_none();
        let mut take = |line: Line, finished: bool, all: &mut Continuity| -> io::Result<bool> {
            number += 1;
            let place = if offset == 0 { number } else { 0 };
            let outcome = decoder.line(line, &mut |item| match item {
                Item::Facts(facts) => {
                    if let (Some(only), Some(cwd)) = (&mut only, &facts.cwd) {
                        counts = only(cwd);
                    }
                    if counts {
                        all.facts(&facts);
                    }
                }
                Item::Entry(entry) if counts => all.entry(place, &entry),
                Item::Entry(_) => {}
            })?;
            all.broken += u64::from(outcome == Outcome::Broken && finished);
            Ok(number % LINES == 0 && deadline.is_some_and(Deadline::is_over))
        };
        while let Some(line) = forward.next_line()? {
            if take(line, true, &mut all)? {
                return Ok(None);
            }
        }
        if let Some(line) = forward.last() {
            take(line, false, &mut all)?;
        }
        Ok(Some(all))
    }

    /// What its first lines tell about it. The first few kilobytes do as a rule.
    pub fn beginning(&self) -> Beginning {
        const FEW: u64 = 8 * 1024;
        const MOST: u64 = 256 * 1024;
        self.first_lines(FEW).or_else(|| self.first_lines(MOST)).unwrap_or_default()
    }

    fn first_lines(&self, most: u64) -> Option<Beginning> {
        let mut buffer = Buffer::default();
        let mut forward = Forward::new(&self.file, 0, self.meta.len().min(most), &mut buffer);
        let mut decoder = self.decoder().subagent(true);
        let mut beginning = Beginning::default();
        let mut told = false;
        while let (false, Some(line)) = (told, forward.next_line().ok()?) {
            let read = decoder.line(line, &mut |item| {
                if let Item::Facts(facts) = item {
                    told |= facts.cwd.is_some() || facts.session.is_some();
                    beginning.subagent |= facts.subagent;
                    beginning.session = facts.session.map(|session| session.into_owned());
                    beginning.cwd = facts.cwd.map(|cwd| cwd.into_owned());
                }
            });
            read.ok()?;
        }
        told.then_some(beginning)
    }

    /// Counts on from where a tally stopped, or from the start if the file is not what it was.
    pub fn tally(&self, before: Option<(Cursor, Tally)>, buffer: &mut Buffer) -> io::Result<(Cursor, Tally)> {
        let before = before.filter(|(cursor, _)| cursor.holds(&self.file));
        let (offset, mut tally) = before.map_or((0, Tally::default()), |(cursor, tally)| (cursor.offset, tally));
        let (end, broken) = self.from(offset, buffer, &mut |item| match item {
            Item::Facts(facts) => tally.facts(&facts),
            Item::Entry(entry) => tally.entry(&entry),
        })?;
        tally.settle();
        tally.broken += broken;
        Ok((Cursor::at(&self.file, end)?, tally))
    }
}

fn open(path: &Path) -> io::Result<File> {
    file::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::IsADirectory => io::Error::other("is a directory, not a transcript"),
        _ => error,
    })
}

/// Where a session stopped, with what its subagents edited.
pub fn stopped(
    session: &Session,
    now: Time,
    deadline: &Deadline,
    only: Option<&mut dyn FnMut(&str) -> bool>,
) -> io::Result<Continuity> {
    let mut all = end_of(session, now, deadline, only)?;
    // What cannot be read of a subagent is said by who shows the session.
    add_subagents(&mut all, session, Some(deadline), &mut Vec::new());
    Ok(all)
}

/// Where its own transcript stopped: from its end, and from more of it if that does not tell what was asked and there is time.
fn end_of(
    session: &Session,
    now: Time,
    deadline: &Deadline,
    mut only: Option<&mut dyn FnMut(&str) -> bool>,
) -> io::Result<Continuity> {
    const MOST: u64 = 64 << 20;
    let transcript = Transcript::open(&session.path, session.format.detailed())?.full(true);
    let size = transcript.meta.len();
    let mut best = None;
    let mut most = budget::OWN;
    loop {
        let offset = newest_lines(&transcript.file, size, most)?;
        let only = only.as_mut().map(|only| &mut **only as &mut dyn FnMut(&str) -> bool);
        // The end is read however long it takes; it is not much.
        let in_time = best.as_ref().map(|_| deadline);
        let Some(mut all) = transcript.continuity(offset, in_time, only)? else { return Ok(best.unwrap_or_default()) };
        all.finish(all.is_quiet(now));
        if all.asked.substantive.is_some() || offset == 0 || most > MOST || deadline.is_over() {
            return Ok(all);
        }
        best = Some(all);
        most *= 16;
    }
}

/// Adds what a session's subagents edited, the newest first; with a deadline only their ends, as far as there is time.
pub fn add_subagents(all: &mut Continuity, session: &Session, deadline: Option<&Deadline>, bad: &mut Vec<Unreadable>) {
    // A file name may have only the beginning of the id.
    let whole = all.session.clone().filter(|id| id.starts_with(&session.id) && locate::is_id(id));
    for (path, stamp) in locate::subagents(session, whole.as_deref().unwrap_or(&session.id)) {
        if deadline.is_some_and(Deadline::is_over) {
            return;
        }
        let read = || {
            let transcript = Transcript::open(&path, session.format.detailed())?.full(true).subagent(true);
            let most = deadline.map_or(stamp.size, |_| budget::OWN);
            let start = newest_lines(&transcript.file, transcript.meta.len(), most)?;
            transcript.continuity(start, deadline, None)
        };
        match read() {
            Ok(Some(part)) => all.absorb(part),
            Ok(None) => return,
            Err(error) => bad.push(Unreadable { path, error }),
        }
    }
}

/// How the lines of a file fit a format.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Fit {
    pub matched: u64,
    pub ignored: u64,
    /// The broken lines: number and where it starts.
    pub broken: Vec<(u64, u64)>,
    pub entries: u64,
    /// Only as a subagent's do its lines count.
    pub subagent: bool,
}

impl Fit {
    fn of(file: &File, size: u64, format: &Format, subagent: bool) -> io::Result<Fit> {
        let mut decoder = Decoder::new(format).subagent(subagent);
        let mut buffer = Buffer::default();
        let mut forward = Forward::new(file, 0, size, &mut buffer);
        let mut fit = Fit { subagent, ..Fit::default() };
        let mut line = |line: crate::cursor::Line, finished: bool| -> io::Result<()> {
            let offset = line.offset();
            let mut entries = 0;
            let outcome = decoder.line(line, &mut |item| {
                // A file is known by what is said in it, and by the headers that tell about it.
                entries += match item {
                    Item::Facts(facts) => u64::from(facts.session.is_some()),
                    Item::Entry(_) => 1,
                };
            })?;
            fit.entries += entries;
            match outcome {
                Outcome::Matched => fit.matched += 1,
                Outcome::Ignored => fit.ignored += 1,
                Outcome::Broken if finished => {
                    let number = fit.matched + fit.ignored + fit.broken.len() as u64 + 1;
                    fit.broken.push((number, offset));
                }
                Outcome::Broken => {}
            }
            Ok(())
        };
        while let Some(next) = forward.next_line()? {
            line(next, true)?;
        }
        if let Some(last) = forward.last() {
            line(last, false)?;
        }
        Ok(fit)
    }
}

/// Recognises a transcript from its lines. The beginning decides; if it says nothing, more of it does.
pub fn recognise<'f>(path: &Path, formats: &'f [Known]) -> io::Result<Option<(&'f Known, Fit)>> {
    const BEGINNING: u64 = 512 * 1024;
    const MOST: u64 = 16 * 1024 * 1024;
    let file = open(path)?;
    let size = file.metadata()?.len();
    for limit in [BEGINNING.min(size), MOST.min(size)] {
        let mut best: Option<(&Known, Fit)> = None;
        for known in formats {
            for subagent in [false, true] {
                let fit = Fit::of(&file, limit, known.format(), subagent)?;
                if fit.entries > best.as_ref().map_or(0, |(_, best)| best.entries) {
                    best = Some((known, fit));
                }
            }
        }
        if best.is_some() {
            return Ok(best);
        }
    }
    Ok(None)
}

/// How all lines of a file fit a format.
pub fn fit(path: &Path, format: &Format, subagent: bool) -> io::Result<Fit> {
    let file = open(path)?;
    Fit::of(&file, file.metadata()?.len(), format, subagent)
}
