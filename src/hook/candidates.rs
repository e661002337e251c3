//! Which files have to be opened at a look.
//!
//! Names and stamps decide, not contents. A file is opened if it changed since it was seen, or, if it was never seen, since
//! the last look. A file or a name that is missing is remembered for days, because it may come back.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::news::{Candidate, Reason};
use super::survey::{Survey, Surveyor};
use crate::entry::Id;
use crate::file::{self, Stamp, Unreadable};
use crate::session::find::Listing;
use crate::session::{Home, Session, find};
use crate::state::cursors::{Look, Seen};
use crate::time::DAY;

const MICRO: i64 = 1000;
/// Files are stamped by a clock that may lag a little behind, in nanoseconds.
const LAG: i64 = 2_000_000_000;
/// For how long a session may wait for a subagent without a word of its own, in nanoseconds.
const LONG: i64 = 24 * 3600 * 1_000_000_000;
/// For how long a file or a name that is missing may come back.
const MISSING: i64 = 7 * DAY;

impl<'s, 'f> Surveyor<'s, 'f> {
    /// The files that have to be opened.
    pub(super) fn candidates(&self, survey: &mut Survey<'f>) -> Vec<Candidate<'s, 'f>> {
        match &self.observer.home {
            Some(home) => self.named(home, survey),
            None => self.found(survey),
        }
    }

    /// Files that were not written since then have nothing new; by the clock that stamps files, in nanoseconds.
    fn horizon(&self) -> i64 {
        let is_good = |look: &&Look| look.place == self.place && look.clock <= self.env.file_clock() / MICRO;
        match self.view.look.as_ref().filter(is_good) {
            Some(look) => look.clock.saturating_mul(MICRO).saturating_sub(LAG),
            // A first look, or one from elsewhere, or the clock was set back: all that may be news.
            None => {
                let window = self.env.now().0.saturating_sub(self.since().0);
                self.env.file_clock().saturating_sub(window.saturating_mul(MICRO * MICRO)).saturating_sub(LAG)
            }
        }
    }

    /// The sessions of a home that changed since the last look.
    fn named(&self, home: &Home, survey: &mut Survey<'f>) -> Vec<Candidate<'s, 'f>> {
        let horizon = self.horizon();
        let mut candidates = Vec::new();
        let mut there = HashSet::new();
        let names = match home.names() {
            Ok(names) => names,
            // Who does not know the names must not take them for missing.
            Err(bad) => {
                survey.bad.push(bad);
                return candidates;
            }
        };
        for name in names {
            let session = match home.session(&name, self.formats, self.env) {
                Ok(Some(session)) => session,
                // A name without a transcript, or one that is being written.
                Ok(None) => {
                    there.insert(name);
                    continue;
                }
                Err(bad) => {
                    there.insert(name);
                    survey.bad.extend(Some(bad).filter(|bad| !Home::is_torn(bad)));
                    continue;
                }
            };
            let stamp = match file::stat(&session.path) {
                Ok(Some(meta)) => Stamp::from(&meta),
                Ok(None) => continue,
                Err(bad) => {
                    survey.bad.push(bad);
                    there.insert(name);
                    continue;
                }
            };
            let path = session.path.to_string_lossy().into_owned();
            // A name may have got another session, or one that was seen before without it. What is left of the old one is
            // still to be told.
            let named = self.view.sessions.get(&name);
            let (old, seen) = match named {
                Some(seen) if seen.path.as_ref().is_some_and(|seen| *seen != path) => (named, None),
                seen => (None, seen),
            };
            let unnamed = self.view.sessions.get_key_value(&path).filter(|_| seen.is_none());
            let (moved_from, seen) = unnamed.map_or((None, seen), |(key, seen)| (Some(&**key), Some(seen)));
            there.insert(path);
            for (path, stamp) in find::subagents(&session, &session.id, &mut survey.bad) {
                let key = path.to_string_lossy().into_owned();
                there.insert(key.clone());
                let (seen, session) = (self.view.sessions.get(&key), Session { path, ..session.clone() });
                let candidate = Candidate { key, session, stamp, named: true, subagent: true, seen, moved_from: None };
                candidates.extend(self.consider(candidate, horizon, survey));
            }
            if let Some((key, old)) = old.and_then(|old| Some((old.path.as_ref()?, old))) {
                survey.forgotten.push(name.clone());
                candidates.extend(self.known(key, old, horizon, survey).ok().flatten());
            }
            there.insert(name.clone());
            let candidate = Candidate { key: name, session, stamp, named: true, subagent: false, seen, moved_from };
            candidates.extend(self.consider(candidate, horizon, survey));
        }
        for (key, seen) in self.view.sessions.iter().filter(|(key, _)| !there.contains(*key)) {
            match key.starts_with('/') {
                // Where a name was before.
                true => candidates.extend(self.known(key, seen, horizon, survey).ok().flatten()),
                false => self.missing(key, seen, survey),
            }
        }
        candidates.iter_mut().filter(|candidate| candidate.session.name.is_none()).for_each(|old| old.named = true);
        candidates
    }

    /// Whether a file has to be opened. If not, it is noted why.
    fn consider(
        &self,
        candidate: Candidate<'s, 'f>,
        horizon: i64,
        survey: &mut Survey<'f>,
    ) -> Option<Candidate<'s, 'f>> {
        let Candidate { session, stamp, seen, .. } = &candidate;
        let examined = examined(&session.path, *stamp);
        let was_examined = self.examined.contains(&examined) && !seen.is_some_and(|seen| seen.unread);
        let reason = match seen {
            _ if session.name.as_deref().is_some_and(Home::is_throw_away) => Some(Reason::ThrowAway),
            _ if self.observer.is(session) => Some(Reason::Own),
            Some(seen) if !has_changed(seen, *stamp) => Some(Reason::Unchanged),
            None if stamp.changed < horizon => Some(Reason::Old),
            _ => was_examined.then_some(Reason::Old),
        };
        let Some(reason) = reason else { return Some(candidate) };
        self.note_candidate(&candidate, reason, survey);
        survey.examined.extend(was_examined.then_some(examined));
        if let Some(back) = seen.filter(|seen| seen.absent.is_some() && candidate.moved_from.is_none()) {
            survey.remembered.push((candidate.key, Seen { absent: None, ..back.clone() }));
        }
        None
    }

    /// A session that has been seen, by its path, if it has to be opened. The error says that it is not there.
    fn known(
        &self,
        path: &str,
        seen: &'s Seen,
        horizon: i64,
        survey: &mut Survey<'f>,
    ) -> Result<Option<Candidate<'s, 'f>>, Missing> {
        let stamp = match file::stat(Path::new(path)) {
            Ok(Some(meta)) => Stamp::from(&meta),
            Ok(None) => {
                self.missing(path, seen, survey);
                return Err(Missing);
            }
            Err(bad) => {
                survey.bad.push(bad);
                return Ok(None);
            }
        };
        if !has_changed(seen, stamp) && seen.absent.is_none() && !self.explain {
            return Ok(None);
        }
        let session = find::at(self.formats, self.env, Path::new(path)).or_else(|| self.in_folder(path));
        let subagent = session.is_none();
        let Some(session) = session.or_else(|| find::subagent_at(self.formats, self.env, Path::new(path))) else {
            survey.forgotten.push(path.to_owned());
            return Ok(None);
        };
        let (key, seen) = (path.to_owned(), Some(seen));
        let candidate = Candidate { key, session, stamp, named: false, subagent, seen, moved_from: None };
        Ok(self.consider(candidate, horizon, survey))
    }

    /// A Pi session in a folder of the home.
    fn in_folder(&self, path: &str) -> Option<Session<'f>> {
        self.observer.home.as_ref()?.in_folder(Path::new(path), self.formats)
    }

    /// The sessions of the machine that changed since the last look.
    fn found(&self, survey: &mut Survey<'f>) -> Vec<Candidate<'s, 'f>> {
        let horizon = self.horizon();
        let mut candidates = Vec::new();
        let mut known: HashMap<u64, &str> = HashMap::with_capacity(self.view.sessions.len());
        // A file that is not there may have another path now.
        let mut moved: HashMap<(u64, u64), (&'s str, &'s Seen)> = HashMap::new();
        for (key, seen) in &self.view.sessions {
            match (self.known(key, seen, horizon, survey), seen.stamp) {
                (Ok(candidate), stamp) => {
                    candidates.extend(candidate);
                    known.extend(stamp.map(|(_, inode, ..)| (inode, file_name(key))));
                }
                (Err(Missing), Some((device, inode, ..))) => drop(moved.insert((device, inode), (&**key, seen))),
                (Err(Missing), None) => {}
            }
        }
        let mut bad = Vec::new();
        let mut new = HashSet::new();
        // A walk that was cut short goes on where it stopped.
        let walk = self.view.look.as_ref().filter(|look| look.place == self.place).and_then(|look| look.walk);
        let (done, began) = walk.unwrap_or((0, self.env.file_clock() / MICRO));
        let (mut count, mut stamped, mut late) = (0u64, 0, false);
        // A session that has been quiet for long has no subagent at work; there may be very many of them.
        let lively: RefCell<Vec<Id>> = RefCell::default();
        let is_lively = |id: &str| {
            let mut lively = lively.borrow_mut();
            // As good as sorted from the second question on.
            lively.sort_unstable();
            [Some(id), id.get(..8)].into_iter().flatten().any(|id| lively.binary_search(&Id::of(id.as_bytes())).is_ok())
        };
        find::each(self.formats, self.env, Some(&is_lively), &mut bad, &mut |file: Listing<'_, 'f>, bad| {
            // Asking for the time is cheap, but not for each of thousands.
            count += 1;
            late = late || count > done && (count - done) % 256 == 0 && self.deadline.is_over();
            let seen = known.get(&file.inode()).is_some_and(|name| *name == file.name);
            let passed = late || seen || count <= done;
            let stamp = if passed { None } else { Unreadable::noted(file.stamp(), bad) };
            stamped = if late { stamped } else { count };
            if !file.is_subagent && (seen || stamp.is_some_and(|stamp| stamp.changed >= horizon.saturating_sub(LONG))) {
                lively.borrow_mut().extend(file.id.map(|id| Id::of(id.as_bytes())));
            }
            let Some(stamp) = stamp else { return };
            let moved = moved.get(&(stamp.device, stamp.inode)).copied();
            let is_old = stamp.changed < horizon && moved.is_none();
            if is_old && (!self.explain || file.is_subagent) {
                return;
            }
            let session = file.session(Some(stamp));
            let key = self.key(&session);
            if self.view.sessions.contains_key(&key) {
                return;
            }
            // A file that two patterns, or two links, lead to is one.
            if !new.insert((stamp.device, stamp.inode)) {
                return;
            }
            let (moved_from, seen) = moved.map_or((None, None), |(key, seen)| (Some(key), Some(seen)));
            let subagent = file.is_subagent;
            let candidate = Candidate { key, session, stamp, named: false, subagent, seen, moved_from };
            candidates.extend(self.consider(candidate, horizon, survey));
        });
        survey.lost_sight = !bad.is_empty();
        survey.cut_short = late;
        survey.walk = late.then_some((stamped, began));
        survey.clock = Some(began);
        survey.bad.extend(bad);
        candidates
    }

    /// What is not there now may come back: a volume that was unmounted, a directory that was moved, a name that is being
    /// written. Only after days it is gone.
    pub(super) fn missing(&self, key: &str, seen: &Seen, survey: &mut Survey<'f>) {
        let now = self.env.now();
        match seen.absent {
            Some(absent) if now.0.saturating_sub(absent.0) > MISSING => survey.forgotten.push(key.to_owned()),
            Some(_) => {}
            None => survey.remembered.push((key.to_owned(), Seen { absent: Some(now), ..seen.clone() })),
        }
    }
}

/// A file or a name that is not there.
struct Missing;

fn has_changed(seen: &Seen, stamp: Stamp) -> bool {
    seen.unread || seen.stamp != Some(stamp.into())
}

/// Names a state of a file: its path and its stamp.
pub(super) fn examined(path: &Path, stamp: Stamp) -> u64 {
    let Stamp { device, inode, size, modified, .. } = stamp;
    let numbers = [device, inode, size, modified as u64].map(u64::to_le_bytes).concat();
    Id::of(&[path.as_os_str().as_encoded_bytes(), &numbers].concat()).0
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
