//! The entries of a session, and where they come from.

use std::io;
use std::path::Path;

use super::{Answer, Asker};
use crate::file::Unreadable;
use crate::fold::Tally;
use crate::read::once::Once;
use crate::read::{self, Lines, Log, Passage, Settled, Transcript, Wanted};
use crate::session::beside::TitleIndex;
use crate::session::choose::Resolved;
use crate::session::{Session, beside};
use session_format::cursor::Buffer;
use session_format::entry::{Entry, What};

pub fn open<'f>(
    Resolved {
        session, subagent, ..
    }: &Resolved<'f>,
    wanted: Wanted,
) -> io::Result<Transcript<'f>> {
    // In full, calls have all that they are called with.
    let format = if wanted.full {
        session.format.detailed()
    } else {
        session.format.format()
    };
    let transcript = Transcript::open(&session.path, format)?.subagent(*subagent);
    Ok(transcript
        .full(wanted.full || wanted.results)
        .whole(wanted.results))
}

/// The last entries that are wanted.
pub fn last(resolved: &Resolved, wanted: Wanted) -> Result<Log, Unreadable> {
    let log = open(resolved, wanted).and_then(|transcript| read::log::last(&transcript, wanted));
    log.map_err(|error| Unreadable::new(&resolved.session.path, error))
}

/// Hands a whole session on, passage by passage and in little memory, and returns what is known about all of it.
pub fn whole(
    resolved: &Resolved,
    asker: Asker,
    wanted: Wanted,
    sink: &mut dyn FnMut(Passage),
) -> Result<Answer<Tally>, Unreadable> {
    let lines = Lines {
        unfinished: wanted.unfinished,
        ..Lines::default()
    };
    let mut all = (Settled::new(wanted, sink), Some(Tally::default()));
    let read = open(resolved, wanted).and_then(|transcript| {
        transcript.fold(
            lines,
            &mut Once::default(),
            &mut Buffer::default(),
            &mut all,
        )
    });
    let read = read.map_err(|error| Unreadable::new(&resolved.session.path, error))?;
    let (settled, tally) = all;
    settled.finish();
    let mut tally = tally.unwrap_or_default();
    tally.settle();
    tally.broken = read.broken;
    let mut titles = TitleIndex::default();
    titles.complete_or_note(&mut tally.basics, &resolved.session, asker.env);
    Ok((tally, titles.bad))
}

/// The index of the first of the calls that the session ends with and that have no result yet.
pub fn first_open(entries: &[Entry]) -> usize {
    let is_settled = |entry: &Entry| match &entry.what {
        What::Call(call) => call.ended || call.id.is_none(),
        What::Permission { .. } => false,
        _ => true,
    };
    entries
        .iter()
        .rposition(is_settled)
        .map_or(0, |last| last + 1)
}

#[derive(Debug, Default, Clone)]
pub struct Origin {
    /// The name of the session, if entries of several are shown.
    pub label: Option<String>,
    /// Paths below it are shown relative to it.
    pub cwd: Option<String>,
}

impl Origin {
    /// The directory is the one a session began in: wherever the agent went from there, its log looks the same.
    pub fn of(session: &Session, label: Option<String>) -> Answer<Origin> {
        let mut bad = Vec::new();
        let beginning = session.open().and_then(|file| file.beginning());
        let beginning = beginning.map_err(|error| Unreadable::new(&session.path, error));
        let inside = Unreadable::noted(beginning.map(|beginning| beginning.cwd), &mut bad);
        let cwd = inside.or_else(|| {
            Unreadable::noted(beside::beside(session).map(|aside| aside.cwd), &mut bad)
        });
        (Origin { label, cwd }, bad)
    }

    pub fn relative<'s>(&self, subject: &'s str) -> &'s str {
        let below = |cwd: &String| {
            Path::new(subject)
                .strip_prefix(cwd)
                .ok()
                .and_then(|path| path.to_str())
        };
        self.cwd
            .as_ref()
            .and_then(below)
            .filter(|path| !path.is_empty())
            .unwrap_or(subject)
    }
}
