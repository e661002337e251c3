//! Reads the files that have to be opened, the most important first, until the deadline. At least one is read in every look.
//! A file that could not be read stays to be read, a missing one is kept for days, and an error is said and forgets nothing.

use std::io;

use super::candidate::{Candidate, Reason, Verdict};
use super::context::Context;
use super::reader::{New, Reader, Unread};
use session_core::file::Unreadable;
use session_format::budget::Deadline;
use session_format::time::HOUR;

/// Of so many sessions whose directory is away, the newest, it is asked at each look whether it is back.
const MOST_AWAY: usize = 16;

/// The new part of each file, and verdicts on the others.
#[derive(Default)]
pub struct Readings<'f> {
    pub new: Vec<(Candidate<'f>, New)>,
    pub verdicts: Vec<Verdict>,
    pub bad: Vec<Unreadable>,
    /// A file was opened: what is known of it has changed, or the clock has to move on.
    pub opened: bool,
    /// The deadline came first: not every file was read.
    pub cut_short: bool,
}

pub fn read<'f>(
    mut candidates: Vec<Candidate<'f>>,
    reader: &mut Reader,
    context: &Context,
) -> Readings<'f> {
    // What is known and what is newest first: that is what matters if time runs out. A session may have very many
    // subagents, which must not hide what it says itself.
    candidates.sort_by_key(|candidate| {
        let is_slow = candidate.seen.as_ref().is_some_and(|seen| seen.slow);
        (
            is_slow,
            candidate.subagent,
            !candidate.is_known(),
            std::cmp::Reverse(candidate.stamp.modified),
        )
    });
    let (mut all, mut away) = (Readings::default(), 0);
    for candidate in candidates {
        // However little time there is, every look gets a little further.
        if all.opened && reader.has_enough() {
            all.cut_short = true;
            all.verdicts.push(candidate.put_off(Reason::Late));
            continue;
        }
        all.opened = true;
        let verdict = match reader.read(&candidate) {
            Ok(new) => {
                all.new.push((candidate, new));
                continue;
            }
            // It may be this project's when its directory is back.
            Err(Unread::Left(Reason::Away))
                if away < MOST_AWAY && is_recent(&candidate, context) =>
            {
                away += 1;
                candidate.put_off(Reason::Away)
            }
            Err(Unread::Left(reason)) => candidate.leave(reason),
            Err(Unread::Failed(error)) if error.kind() == io::ErrorKind::NotFound => {
                candidate.lost(context.env.now())
            }
            Err(Unread::Failed(error)) if Deadline::is_late(&error) => {
                all.cut_short = true;
                candidate.too_slow()
            }
            Err(Unread::Failed(error)) => {
                all.bad.push(Unreadable {
                    path: candidate.session.path.to_path_buf(),
                    error,
                });
                candidate.put_off(Reason::Unreadable)
            }
        };
        all.verdicts.push(verdict);
    }
    all
}

/// The file was written to lately. Nobody waits for an older one.
fn is_recent(candidate: &Candidate, context: &Context) -> bool {
    context
        .file_time()
        .0
        .saturating_sub(candidate.stamp.modified_at().0)
        < HOUR
}
