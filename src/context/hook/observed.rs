//! The files that have to be opened, by their names and stamps, and how far the look got.

use super::candidate::{Candidate, Verdict};
use super::context::Context;
use super::ids::Ids;
use super::round::Round;
use session_core::file::Unreadable;
use session_core::state::seen::{OthersSince, Walk};
use session_core::state::sessions::Record;
use session_format::time::Time;

#[derive(Default)]
pub struct Observed<'s, 'f> {
    /// The files that have to be opened.
    pub candidates: Vec<Candidate<'f>>,
    pub verdicts: Vec<Verdict>,
    pub bad: Vec<Unreadable>,
    /// The deadline came first: not every file was found.
    pub cut_short: bool,
    pub progress: Progress,
    /// This look's part of the circle of other projects' directories.
    pub round: Option<Round<'s, 'f>>,
    /// The ids of all sessions, if the look has seen all.
    pub ids: Option<Ids>,
}

/// The reach of a look.
#[derive(Debug, Default)]
pub struct Progress {
    /// Everything written before then was found, by the clock that files are stamped by.
    pub seen_until: Time,
    /// The walk over all files, if the deadline cut it short.
    pub walk: Option<Walk>,
    pub others_since: Option<OthersSince>,
    /// There are directories that were not gone into, and the round over them goes on.
    pub is_partial: bool,
}

impl<'s, 'f> Observed<'s, 'f> {
    /// A file without a record of its own; it may have moved from where there is one.
    pub fn add(
        &mut self,
        candidate: Candidate<'f>,
        moved: Option<(Record<'s>, bool)>,
        horizon: Time,
        context: &Context<'s, 'f>,
    ) {
        let candidate = match moved {
            Some(moved) => self.moved(candidate, moved, context),
            None => candidate,
        };
        self.consider(candidate, horizon, context);
    }

    /// A candidate, after a record of another path turned out to be its own; perhaps only the inode says so.
    pub fn moved(
        &mut self,
        candidate: Candidate<'f>,
        (record, by_inode): (Record, bool),
        context: &Context,
    ) -> Candidate<'f> {
        Candidate {
            moved_from: Some(record.path().to_owned()),
            seen: Some(context.seen(record, &mut self.bad)),
            by_inode,
            ..candidate
        }
    }

    pub fn consider(&mut self, candidate: Candidate<'f>, horizon: Time, context: &Context) {
        match candidate.consider(horizon, context) {
            Ok(candidate) => self.candidates.push(candidate),
            Err(verdict) => self.verdicts.push(verdict),
        }
    }
}
