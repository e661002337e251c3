//! A file that may have news, and what becomes of one that has none.

use std::path::{Path, PathBuf};

use super::context::Context;
use session_core::file::Stamp;
use session_core::session::trust;
use session_core::session::{Home, Session};
use session_core::state::seen::Seen;
use session_format::entry::{Id, Position};
use session_format::time::{DAY, Time};

/// For how long a file or a name that is missing may come back.
const MISSING: i64 = 7 * DAY;

/// A session whose file may have news.
#[derive(Clone)]
pub struct Candidate<'f> {
    /// The path of its file, by which it is remembered.
    pub key: String,
    pub session: Session<'f>,
    pub stamp: Stamp,
    /// The file is a subagent's; all else is its session's.
    pub subagent: bool,
    /// Its record, if there is one.
    pub seen: Option<Seen>,
    /// The key it had before its file got another path.
    pub moved_from: Option<String>,
    /// Only the inode says that it had that key.
    pub by_inode: bool,
}

impl<'f> Candidate<'f> {
    /// One that is where it was.
    pub fn new(
        session: Session<'f>,
        stamp: Stamp,
        subagent: bool,
        seen: Option<Seen>,
    ) -> Candidate<'f> {
        let key = session.path.to_string_lossy().into_owned();
        Candidate {
            key,
            session,
            stamp,
            subagent,
            seen,
            moved_from: None,
            by_inode: false,
        }
    }

    /// Something of it was told, or it was at least read.
    pub fn is_known(&self) -> bool {
        self.seen.as_ref().is_some_and(|seen| !seen.is_untouched())
    }

    /// Its name in a home; a subagent has none of its own.
    pub fn name(&self) -> Option<String> {
        if self.subagent {
            None
        } else {
            self.session.name.clone()
        }
    }

    /// Says if it has to be opened; if it was never seen, because it changed since then. If not, the verdict says why.
    pub(crate) fn consider(
        self,
        horizon: Time,
        context: &Context,
    ) -> Result<Candidate<'f>, Verdict> {
        let Candidate {
            session,
            stamp,
            seen,
            ..
        } = &self;
        let examined = examined(&session.path, *stamp);
        let before = context
            .last_look_here()
            .is_some_and(|look| look.examined.binary_search(&examined).is_ok());
        let was_examined = before && !seen.as_ref().is_some_and(|seen| seen.unread);
        let reason = match seen {
            _ if session.name.as_deref().is_some_and(Home::is_throw_away) => Reason::ThrowAway,
            _ if context.observer.is(session) => Reason::Own,
            // One that moved is opened once, so that it is known by its new path.
            Some(seen)
                if self.moved_from.is_none()
                    && !seen.unread
                    && seen.stamp == Some((*stamp).into()) =>
            {
                Reason::Unchanged
            }
            None if stamp.changed_at() < horizon => Reason::Old,
            _ if was_examined => Reason::Old,
            _ => return Ok(self),
        };
        let verdict = match seen {
            // It is back.
            Some(seen) if seen.absent.is_some() && self.moved_from.is_none() => {
                let seen = Seen {
                    absent: None,
                    ..seen.clone()
                };
                Verdict::keep(self.key.clone(), seen)
            }
            _ => Verdict::default(),
        };
        Err(Verdict {
            why: Why::of(&self, reason),
            examined: was_examined.then_some(examined),
            ..verdict
        })
    }

    /// The record of a file that was not read yet. Its name is part of it, because that may be unclear at the next look.
    fn untouched(&self) -> Seen {
        Seen {
            name: self.name(),
            ..Seen::untouched()
        }
    }

    /// Remembers a file that has to be read, and cannot be now.
    pub(crate) fn put_off(self, reason: Reason) -> Verdict {
        let why = Why::of(&self, reason);
        let verdict = match &self.seen {
            Some(_) => Verdict::default(),
            None => Verdict::keep(self.key.clone(), self.untouched()),
        };
        Verdict { why, ..verdict }
    }

    /// Leaves out a file that is not told, because it does not count here or said nothing. It is not opened again before it changes
    /// or the observer moves.
    pub fn leave(self, reason: Reason) -> Verdict {
        let path = &self.session.path;
        let is_quiet = !matches!(reason, Reason::Elsewhere | Reason::Away);
        let why = Why::of(&self, reason);
        let (examined, quiet) = (
            Some(examined(path, self.stamp)),
            is_quiet.then(|| path.to_path_buf()),
        );
        let verdict = match self.seen {
            Some(seen) if seen.is_untouched() => Verdict::forget(self.key),
            _ => Verdict::default(),
        };
        Verdict {
            why,
            examined,
            quiet,
            ..verdict
        }
    }

    /// Reading it took too long; others go first from now on.
    pub(crate) fn too_slow(self) -> Verdict {
        let why = Why::of(&self, Reason::Late);
        let untouched = self.untouched();
        let seen = self.seen.unwrap_or(untouched);
        // Only what was read is known to be the same file under another key.
        let key = self.moved_from.unwrap_or(self.key);
        Verdict {
            why,
            ..Verdict::keep(key, Seen { slow: true, ..seen })
        }
    }

    /// A file that was there a moment ago.
    pub fn lost(self, now: Time) -> Verdict {
        match self.seen {
            Some(seen) if self.moved_from.is_none() => Verdict::missing(&self.key, seen, now),
            _ => Verdict::default(),
        }
    }
}

/// Names a state of a file: its path and its stamp.
fn examined(path: &Path, stamp: Stamp) -> u64 {
    // When anything else about it changed counts, too: it may belong to the user by now.
    let Stamp {
        device,
        inode,
        size,
        modified,
        changed,
        access: _,
    } = stamp;
    let numbers = [device, inode, size, modified as u64, changed as u64]
        .map(u64::to_le_bytes)
        .concat();
    Id::of(&[path.as_os_str().as_encoded_bytes(), &numbers].concat()).0
}

/// The outcome for a file that is not told.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Nothing for a subagent's, and for a file that is not there.
    pub why: Option<Box<Why>>,
    /// Records from now on, by path; none for what goes.
    pub changes: Vec<(String, Option<Seen>)>,
    /// The state of the file: it is not opened again before that changes.
    pub examined: Option<u64>,
    /// The file, if it is this project's, or may be, and was read for nothing.
    pub quiet: Option<PathBuf>,
}

impl Verdict {
    fn change(key: impl Into<String>, seen: Option<Seen>) -> Verdict {
        Verdict {
            changes: vec![(key.into(), seen)],
            ..Verdict::default()
        }
    }

    pub fn keep(key: impl Into<String>, seen: Seen) -> Verdict {
        Verdict::change(key, Some(seen))
    }

    pub fn forget(key: impl Into<String>) -> Verdict {
        Verdict::change(key, None)
    }

    /// A file that is not there now may come back: a volume that was unmounted, a directory that was moved, a name that is being
    /// written. Only after days it is gone.
    pub fn missing(key: &str, seen: Seen, now: Time) -> Verdict {
        match seen.absent {
            Some(absent) if now.0.saturating_sub(absent.0) > MISSING => Verdict::forget(key),
            Some(_) => Verdict::default(),
            None => {
                let absent = Some(now);
                Verdict::keep(key, Seen { absent, ..seen })
            }
        }
    }
}

/// The reason a session is told, or is not.
#[derive(Debug)]
pub struct Why {
    pub path: PathBuf,
    pub agent: String,
    /// Its name, or its id.
    pub handle: String,
    pub named: bool,
    pub offset: Option<Position>,
    pub size: u64,
    pub reason: Reason,
}

impl Why {
    /// A subagent's file is only of interest if it is told.
    pub fn of(candidate: &Candidate, reason: Reason) -> Option<Box<Why>> {
        let Candidate {
            session,
            stamp,
            seen,
            ..
        } = candidate;
        let why = || Why {
            path: session.path.to_path_buf(),
            agent: session.format.name.clone(),
            handle: session
                .name
                .clone()
                .unwrap_or_else(|| session.id.to_string()),
            named: session.name.is_some(),
            offset: seen.as_ref().map(|seen| seen.offset),
            size: stamp.size,
            reason,
        };
        (!candidate.subagent || reason == Reason::News).then(|| Box::new(why()))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    News,
    Own,
    Unchanged,
    /// Not written since the last look, or within the window of the first.
    Old,
    Elsewhere,
    /// The directory it began in is not there now.
    Away,
    Subagent,
    Ignored,
    NothingSaid,
    ThrowAway,
    /// It is not the user's own.
    Foreign(trust::Why),
    /// No line begins within reach of its end.
    TooLong,
    Late,
    Unreadable,
}
