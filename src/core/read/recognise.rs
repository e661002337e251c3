//! Recognises from its lines which format a file is written in.

use std::io;
use std::path::Path;

use super::source::Source;
use crate::formats::AgentFormat;
use session_format::cursor::{Buffer, Line};
use session_format::decode::{Decoder, Item, Outcome};
use session_format::entry::Position;
use session_format::format::Format;

/// The lines of a file, counted by how they fit a format.
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
    fn of(source: &Source, end: Position, format: &Format, subagent: bool) -> io::Result<Fit> {
        let mut decoder = Decoder::new(format).subagent(subagent);
        let mut buffer = Buffer::default();
        let mut forward = source.forward(Position::START..end, &mut buffer);
        let mut fit = Fit {
            subagent,
            ..Fit::default()
        };
        let mut line = |line: Line, finished: bool| -> io::Result<()> {
            let offset = line.offset();
            let mut entries = 0;
            let outcome = decoder.line(line, &mut |item| {
                // Entries identify a format, and so do headers that name a session.
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
pub fn recognise<'f>(
    path: &Path,
    formats: &'f [AgentFormat],
) -> io::Result<Option<(&'f AgentFormat, Fit)>> {
    let source = Source::open(path)?;
    for most in [512 << 10, 16 << 20] {
        let end = source.end().min(Position::new(most));
        let mut best: Option<(&AgentFormat, Fit)> = None;
        for known in formats {
            for subagent in [false, true] {
                let fit = Fit::of(&source, end, known.format(), subagent)?;
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

/// Counts all lines of a file.
pub fn fit(path: &Path, format: &Format, subagent: bool) -> io::Result<Fit> {
    let source = Source::open(path)?;
    Fit::of(&source, source.end(), format, subagent)
}
