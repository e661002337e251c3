//! The sessions that were seen before: which changed, which are missing, and which may be elsewhere now.

use std::path::Path;

use super::candidate::{Candidate, Verdict};
use super::context::Context;
use super::names::Names;
use super::observed::Observed;
use session_core::dir::Dirs;
use session_core::file::Stamp;
use session_core::session::Session;
use session_core::state::seen::Seen;
use session_core::state::sessions::Record;
use session_format::entry::{ById, Id};
use session_format::hash::HashMap;
use session_format::path::base_name;
use session_format::time::Time;

/// So many sessions that have been seen are looked at in any case.
const MANY_KNOWN: usize = 4096;

/// A look at the sessions that were seen before.
#[derive(Default)]
pub struct Known<'s, 'f> {
    pub found: Observed<'s, 'f>,
    /// The names of their files by inode.
    pub there: ById<&'s str>,
    pub moved: Moved<'s>,
}

/// Records whose files are not where they were.
#[derive(Default)]
pub struct Moved<'s> {
    /// By the path that a name has now.
    by_path: HashMap<String, Record<'s>>,
    /// A file may be elsewhere under the same name, or at least with the same inode.
    by_name: HashMap<(String, &'s str), Record<'s>>,
    by_inode: HashMap<(u64, u64), Record<'s>>,
    /// A file was there a look ago, and may be anywhere now, under a name that it has had for long.
    pub is_lost: bool,
}

impl<'s> Moved<'s> {
    /// The record of a file that is at this path by its name in the home.
    pub fn to(&self, path: &str) -> Option<(Record<'s>, bool)> {
        Some((*self.by_path.get(path)?, false))
    }

    /// The record that a file had elsewhere, and whether only the inode says so.
    pub fn of(&self, id: &str, name: &str, stamp: Stamp) -> Option<(Record<'s>, bool)> {
        if self.by_name.is_empty() && self.by_inode.is_empty() {
            return None;
        }
        match self.by_name.get(&(id.to_owned(), name)) {
            Some(record) => Some((*record, false)),
            None => Some((*self.by_inode.get(&(stamp.device, stamp.inode))?, true)),
        }
    }

    fn add(&mut self, record: Record<'s>, seen: &Seen, session: Option<Session>) {
        self.is_lost |= seen.absent.is_none();
        let name = |old: Session| ((old.id.to_string(), base_name(record.path())), record);
        self.by_name.extend(session.map(name));
        self.by_inode.extend(
            seen.stamp
                .map(|(device, inode, ..)| ((device, inode), record)),
        );
    }
}

/// Looks at the sessions that were seen before.
pub fn known<'s, 'f>(
    names: Option<&Names<'f>>,
    dirs: &Dirs,
    context: &Context<'s, 'f>,
) -> Known<'s, 'f> {
    let (sessions, horizon) = (&context.view.sessions, context.horizon());
    let mut known = Known::default();
    known.there.reserve(sessions.len());
    // However many there are, the rest comes another time, when the look begins with another.
    let count = sessions.len();
    let first = if count > MANY_KNOWN {
        context.env.turn(count)
    } else {
        0
    };
    for (number, record) in sessions.iter().cycle().skip(first).take(count).enumerate() {
        // In a home, a record that is passed over would be taken for a session that is new under its name.
        let is_many = names.is_none() && number >= MANY_KNOWN && number.is_multiple_of(256);
        if is_many && context.deadline.is_time_to_tell() {
            known.found.cut_short = true;
            break;
        }
        match names {
            Some(names) => known.add_named(record, names, dirs, horizon, context),
            None => known.add(record, dirs, horizon, context),
        }
    }
    known.find_untouched(context);
    known
}

impl<'s, 'f> Known<'s, 'f> {
    /// A session by its path, without a name.
    fn add(&mut self, record: Record<'s>, dirs: &Dirs, horizon: Time, context: &Context<'s, 'f>) {
        let stamp = match dirs.stamp(Path::new(record.path())) {
            Ok(Some(stamp)) => stamp,
            Ok(None) => return self.add_missing(record, context),
            Err(bad) => return self.found.bad.push(bad),
        };
        self.there.insert(Id(stamp.inode), base_name(record.path()));
        if record.is_unchanged(stamp) && !context.explain {
            return;
        }
        let Some((session, subagent)) = context.at(record.path()) else {
            return self.push_verdict(Verdict::forget(record.path()));
        };
        let mut seen = context.seen(record, &mut self.found.bad);
        seen.name = None;
        let candidate = Candidate::new(session, stamp, subagent, Some(seen));
        self.found.consider(candidate, horizon, context);
    }

    fn push_verdict(&mut self, verdict: Verdict) {
        self.found.verdicts.push(verdict);
    }

    fn add_missing(&mut self, record: Record<'s>, context: &Context<'s, 'f>) {
        let mut seen = context.seen(record, &mut self.found.bad);
        seen.name = None;
        let session = context.at(record.path()).map(|(session, _)| session);
        self.moved.add(record, &seen, session);
        self.push_verdict(Verdict::missing(record.path(), seen, context.env.now()));
    }

    /// A session in a home, where a name may have got another session, or a session another name.
    fn add_named(
        &mut self,
        record: Record<'s>,
        names: &Names<'f>,
        dirs: &Dirs,
        horizon: Time,
        context: &Context<'s, 'f>,
    ) {
        let key = record.path();
        let seen = context.seen(record, &mut self.found.bad);
        if let Some(file) = names.at(key) {
            let name = file.name();
            let is_renamed = seen.name != name;
            let seen = Seen { name, ..seen };
            if is_renamed {
                self.push_verdict(Verdict::keep(key, seen.clone()));
            }
            let candidate = Candidate {
                seen: Some(seen),
                ..file.clone()
            };
            return self.found.consider(candidate, horizon, context);
        }
        let Some(name) = &seen.name else {
            return self.add(record, dirs, horizon, context);
        };
        if names.unclear.contains(name) {
            return;
        }
        let Some(file) = names.called(name) else {
            return self.push_verdict(Verdict::missing(key, seen, context.env.now()));
        };
        let is_same = |(old, _): (Session, bool)| old.id == file.session.id;
        if !key.starts_with('/') || context.at(key).is_some_and(is_same) {
            self.moved.by_path.insert(file.key.clone(), record);
            return;
        }
        // What is left of the session that had the name is still to be told.
        self.push_verdict(Verdict::keep(key, Seen { name: None, ..seen }));
        self.add(record, dirs, horizon, context);
    }

    /// One that was found here and not read yet may have been told from where it was since then.
    fn find_untouched(&mut self, context: &Context) {
        let is_untouched =
            |candidate: &Candidate| candidate.seen.as_ref().is_some_and(Seen::is_untouched);
        for mut candidate in std::mem::take(&mut self.found.candidates) {
            let (id, name) = (&candidate.session.id, base_name(&candidate.key));
            if is_untouched(&candidate)
                && let Some(moved) = self.moved.of(id, name, candidate.stamp)
            {
                candidate = self.found.moved(candidate, moved, context);
            }
            self.found.candidates.push(candidate);
        }
    }
}
