//! Brings what is kept of a transcript up to date.
//!
//! The list keeps its tallies, a search its texts, and `resume` where sessions stopped. All of them ask here how to go on,
//! so that none of them trusts a file for another reason: one with the same stamp is the same; one that grew, and whose mark
//! holds, is read on from there; any other is read from its start.

use std::io;

use serde::{Deserialize, Serialize};

use super::once::Once;
use super::tail::{self, StartAt};
use super::transcript::{Lines, Transcript};
use crate::file::Stamp;
use crate::fold::Fold;
use session_format::cursor::{Buffer, Cursor};
use session_format::entry::Position;

/// A position in a transcript, and its file as it was then.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Reached {
    pub stamp: Stamp,
    pub cursor: Cursor,
    /// The number of lines up to there.
    pub lines: u64,
}

/// Something kept, up to date.
pub struct Renewed<F> {
    pub reached: Reached,
    /// None if nothing was written since.
    pub new: Option<Addition<F>>,
}

/// A fold that has taken in what came from a position on.
pub struct Addition<F> {
    pub from: Position,
    pub fold: F,
    pub once: Once,
    /// The number of its lines that could not be read.
    pub broken: u64,
    /// The deadline came first.
    pub cut_short: bool,
}

/// A file that was written is expected to grow for so long; in nanoseconds, like the other.
const LATELY: i64 = 24 * 3600 * 1_000_000_000;
/// A file that was written just now may be written again without a newer stamp.
const JUST_NOW: i64 = 100_000_000;

impl Reached {
    /// A file that was written lately is expected to grow.
    pub fn is_lately(&self, now: i64) -> bool {
        self.stamp.modified == 0 || self.stamp.modified > now - LATELY
    }
}

/// Reads what was written since it was kept. `go_on` gives the fold and what counts once up to there, if they are known;
/// otherwise `fold` takes the whole file.
pub(crate) fn renew<F: Fold>(
    transcript: &Transcript,
    kept: Option<Reached>,
    go_on: impl FnOnce() -> Option<(F, Once)>,
    fold: impl FnOnce() -> F,
    now: i64,
    buffer: &mut Buffer,
) -> io::Result<Renewed<F>> {
    let stamp = transcript.source.stamp();
    // One that was written just now gets a stamp that none is like, so that it is looked at again.
    let stamp = Stamp {
        modified: if stamp.modified > now - JUST_NOW {
            0
        } else {
            stamp.modified
        },
        ..stamp
    };
    // A file in the place of another may look like it at both ends, and so may one that was written over: then it has
    // another stamp, and is not longer.
    let is_same = |kept: &Reached| kept.stamp == stamp && stamp.modified != 0;
    let is_it = |kept: &Reached| {
        kept.stamp.inode == stamp.inode && (kept.stamp.size != stamp.size || is_same(kept))
    };
    let kept = kept.filter(is_it);
    let start = tail::start(&transcript.source, kept.map(|kept| kept.cursor.into()))?;
    let kept = if matches!(start, StartAt::Resume(_)) {
        kept
    } else {
        None
    };
    if let Some(kept) = kept.filter(|kept| kept.cursor.offset == transcript.source.end()) {
        return Ok(Renewed {
            reached: Reached { stamp, ..kept },
            new: None,
        });
    }
    let (mut fold, mut once, from, before) = match kept.and_then(|kept| Some((kept, go_on()?))) {
        Some((Reached { cursor, lines, .. }, (fold, once))) => (fold, once, cursor.offset, lines),
        None => (fold(), Once::default(), Position::START, 0),
    };
    let lines = Lines {
        from,
        before,
        deadline: transcript.deadline.as_ref(),
        ..Lines::default()
    };
    let read = transcript.fold(lines, &mut once, buffer, &mut fold)?;
    // What the deadline cut short is like no file, and is read on from there.
    let stamp = if read.cut_short {
        Stamp {
            modified: 0,
            size: read.end.number(),
            ..stamp
        }
    } else {
        stamp
    };
    let reached = Reached {
        stamp,
        cursor: transcript.source.cursor(read.end)?,
        lines: read.lines,
    };
    Ok(Renewed {
        reached,
        new: Some(Addition {
            from,
            fold,
            once,
            broken: read.broken,
            cut_short: read.cut_short,
        }),
    })
}
