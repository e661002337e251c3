//! Which files have to be opened at a look.
//!
//! Names and stamps decide, not contents. A file is opened if it changed since it was seen, or, if it was never seen, since
//! the last look. A file or a name that is missing is remembered for days, because it may come back. Which directories are
//! looked into at all is up to [`Round`].

use std::cell::RefCell;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use super::Observer;
use super::news::{Candidate, Reason};
use super::round::Round;
use super::survey::{self, Survey, Surveyor};
use crate::dir::Dirs;
use crate::entry::{ById, Id, Ids as IdSet};
use crate::file::{self, Stamp, Unreadable};
use crate::hash::{HashMap, HashSet};
use crate::path::base_name;
use crate::session::find::{Branch, ByIds, Guide, Listing, Steps};
use crate::session::home::{MANY_NAMES, in_turn};
use crate::session::{Home, Session, find};
use crate::settings::Scope;
use crate::state::cursors::{Look, Seen, Walk};
use crate::state::lazy_seen::LazySeen;
use crate::time::{DAY, HOUR, SECOND, Time};

/// How far the clock that stamps files may lag behind.
const LAG: i64 = 2 * SECOND;
/// For how long a session may wait for a subagent without a word of its own.
const LONG: i64 = DAY;
/// For how long a file or a name that is missing may come back.
const MISSING: i64 = 7 * DAY;
/// So many sessions that have been seen are looked at in any case.
const MANY_KNOWN: usize = 4096;
/// For how long a directory that cannot be read holds up the clock.
const LOST: i64 = HOUR;

impl<'s, 'f> Surveyor<'s, 'f> {
    /// The files that have to be opened, and the round over other projects' directories that this look is part of.
    pub(super) fn candidates(&self, survey: &mut Survey<'f>) -> (Vec<Candidate<'s, 'f>>, Option<Round<'s, 'f>>) {
        match &self.observer.home {
            Some(home) => (self.named(home, survey), None),
            None => self.found(survey),
        }
    }

    /// The last look, if it was at the same sessions.
    fn last_look(&self) -> Option<&'s Look> {
        self.view.look.as_ref().filter(|look| look.scope == self.scope)
    }

    /// What was written before then was found by the last look; by the clock that stamps files.
    fn seen_until(&self) -> Time {
        let now = self.file_time();
        // In a home, a session may get its name long after its words.
        let look = self.last_look().filter(|_| self.observer.home.is_none());
        look.and_then(Look::looked).filter(|looked| *looked <= now).unwrap_or_else(|| {
            // A first look, or one from elsewhere, or the clock was set back: all that may be news.
            Time(now.0.saturating_sub(self.env.now().0.saturating_sub(self.since().0)))
        })
    }

    /// A file that was never seen and not written since then has nothing new.
    fn horizon(&self) -> i64 {
        self.seen_until().0.saturating_sub(LAG)
    }

    /// The same for files among other projects', which not every look gets to: since when they may have news, and since when
    /// they may have at the end of this round.
    fn others_until(&self) -> (Time, Time) {
        let until = self.seen_until();
        let round = self.last_look().and_then(|look| look.round).unwrap_or((until, until));
        (round.0.min(until), round.1.min(until))
    }

    pub(super) fn file_time(&self) -> Time {
        // A test lets time pass without waiting.
        let ahead = self.env.var("SESSION_CONTEXT_AHEAD").filter(|_| cfg!(debug_assertions));
        let ahead = ahead.and_then(|seconds| seconds.to_str()?.parse::<i64>().ok()).unwrap_or_default();
        Time(Time::from_nanos(self.env.file_clock()).0 + ahead * SECOND)
    }

    /// The sessions of a home that changed since the last look.
    fn named(&self, home: &Home, survey: &mut Survey<'f>) -> Vec<Candidate<'s, 'f>> {
        survey.seen_until = self.file_time();
        let mut candidates = Vec::new();
        let mut there = HashSet::default();
        let dirs = Dirs::default();
        let names = match home.names() {
            Ok(names) => names,
            // If the names cannot be listed, none of them counts as missing.
            Err(bad) => {
                survey.bad.push(bad);
                return candidates;
            }
        };
        let (mut ids, mut asked) = (ByIds::default(), 0);
        for name in in_turn(&names, self.env).cloned() {
            asked += 1;
            // However many names there are, the rest comes another time.
            if self.deadline.is_time_to_tell() && asked > MANY_NAMES {
                survey.cut_short = true;
                there.insert(name);
                continue;
            }
            let session = match home.session_among(&name, self.formats, self.env, &mut ids) {
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
            let is_other = |old: &String| self.at(old).is_none_or(|(old, _)| old.id != session.id);
            let (old, seen) = match named {
                Some(seen) if seen.path.as_ref().is_some_and(is_other) => (named, None),
                seen => (None, seen.map(Deref::deref)),
            };
            let unnamed = self.view.sessions.get_key_value(&path).filter(|_| seen.is_none());
            let (moved_from, seen) = unnamed.map_or((None, seen), |(key, seen)| (Some(&**key), Some(&**seen)));
            there.insert(path);
            for (path, stamp) in find::subagents(&session, &session.id, &mut survey.bad) {
                let key = path.to_string_lossy().into_owned();
                there.insert(key.clone());
                let (seen, session) =
                    (self.view.sessions.get(&key).map(Deref::deref), Session { path: path.into(), ..session.clone() });
                let candidate = Candidate { named: true, subagent: true, ..Candidate::new(key, session, stamp, seen) };
                candidates.extend(self.consider(candidate, self.horizon(), survey));
            }
            if let Some((key, old)) = old.and_then(|old| Some((old.path.as_ref()?, old))) {
                survey.forgotten.push(name.clone());
                // From now on it is known by its path, also if there is nothing to read.
                survey.remembered.push((key.clone(), Seen { path: None, ..Seen::clone(old) }));
                candidates.extend(self.known(key, old, &dirs, survey).ok().and_then(|known| known.candidate));
            }
            there.insert(name.clone());
            let candidate = Candidate { named: true, moved_from, ..Candidate::new(name, session, stamp, seen) };
            candidates.extend(self.consider(candidate, self.horizon(), survey));
        }
        survey.cut_short |= asked > MANY_NAMES && self.env.is_late();
        for (key, seen) in self.view.sessions.iter().filter(|(key, _)| !there.contains(*key)) {
            match key.starts_with('/') {
                // Where a name was before.
                true => {
                    let known = self.known(key, seen, &dirs, survey);
                    candidates.extend(known.ok().and_then(|known| known.candidate));
                }
                false => self.missing(key, seen, survey),
            }
        }
        candidates.iter_mut().filter(|candidate| candidate.session.name.is_none()).for_each(|old| old.named = true);
        candidates
    }

    /// Whether a file has to be opened: if it was never seen, because it changed since then. If not, it is noted why.
    fn consider(&self, candidate: Candidate<'s, 'f>, since: i64, survey: &mut Survey<'f>) -> Option<Candidate<'s, 'f>> {
        let Candidate { session, stamp, seen, .. } = &candidate;
        let examined = examined(&session.path, *stamp);
        let was_examined = self.examined.contains(&examined) && !seen.is_some_and(|seen| seen.unread);
        let reason = match seen {
            _ if session.name.as_deref().is_some_and(Home::is_throw_away) => Some(Reason::ThrowAway),
            _ if self.observer.is(session) => Some(Reason::Own),
            // One that moved is opened once, so that it is known by its new path.
            Some(seen) if candidate.moved_from.is_none() && !has_changed(seen, *stamp) => Some(Reason::Unchanged),
            None if stamp.changed_at().0 < since => Some(Reason::Old),
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
        seen: &'s LazySeen,
        dirs: &Dirs,
        survey: &mut Survey<'f>,
    ) -> Result<Known<'s, 'f>, Missing> {
        let stamp = match dirs.stamp(Path::new(path)) {
            Ok(Some(stamp)) => stamp,
            Ok(None) => {
                self.missing(path, seen, survey);
                return Err(Missing);
            }
            Err(bad) => {
                survey.bad.push(bad);
                return Ok(Known::default());
            }
        };
        let mut known = Known { inode: Some(stamp.inode), candidate: None };
        if seen.rests(stamp) && !self.explain {
            return Ok(known);
        }
        let Some((session, subagent)) = self.at(path) else {
            survey.forgotten.push(path.to_owned());
            return Ok(known);
        };
        let candidate = Candidate { subagent, ..Candidate::new(path.to_owned(), session, stamp, Some(seen)) };
        known.candidate = self.consider(candidate, self.horizon(), survey);
        Ok(known)
    }

    /// The session whose transcript is at a path, and whether it is a subagent's.
    fn at(&self, path: &str) -> Option<(Session<'f>, bool)> {
        let (path, home) = (Path::new(path), self.observer.home.as_ref());
        let session = find::at(self.formats, self.env, path);
        let session = session.or_else(|| home?.in_folder(path, self.formats));
        let subagent = || find::subagent_at(self.formats, self.env, path).map(|session| (session, true));
        session.map(|session| (session, false)).or_else(subagent)
    }

    /// The sessions of the machine that changed since the last look.
    fn found(&self, survey: &mut Survey<'f>) -> (Vec<Candidate<'s, 'f>>, Option<Round<'s, 'f>>) {
        let (horizon, others) = (self.horizon(), self.others_until());
        let others_horizon = others.0.0.saturating_sub(LAG);
        let mut candidates = Vec::new();
        let dirs = Dirs::default();
        let mut known: ById<&str> = ById::default();
        known.reserve(self.view.sessions.len());
        // A file that is not there may be elsewhere now: under the same name, or at least with the same inode.
        let mut moved_by_name: HashMap<(String, &str), (&'s str, &'s Seen)> = HashMap::default();
        let mut moved_by_inode: HashMap<(u64, u64), (&'s str, &'s Seen)> = HashMap::default();
        // However many there are, the rest comes another time, when the look begins with another.
        let count = self.view.sessions.len();
        let first = if count > MANY_KNOWN { self.env.turn(count) } else { 0 };
        for (number, (key, seen)) in self.view.sessions.iter().cycle().skip(first).take(count).enumerate() {
            if number >= MANY_KNOWN && number.is_multiple_of(256) && self.deadline.is_time_to_tell() {
                survey.cut_short = true;
                break;
            }
            match self.known(key, seen, &dirs, survey) {
                Ok(Known { inode, candidate }) => {
                    candidates.extend(candidate);
                    known.extend(inode.map(|inode| (Id(inode), base_name(key))));
                }
                Err(Missing) => {
                    let seen = &**seen;
                    moved_by_name
                        .extend(self.at(key).map(|(old, _)| ((old.id.to_string(), base_name(key)), (&**key, seen))));
                    moved_by_inode.extend(seen.stamp.map(|(device, inode, ..)| ((device, inode), (&**key, seen))));
                }
            }
        }
        // One that was found here and not read yet may have been told from where it was since then.
        for candidate in candidates.iter_mut().filter(|candidate| candidate.seen.is_some_and(Seen::is_untouched)) {
            let name = (candidate.session.id.to_string(), base_name(&candidate.key));
            let inode = (candidate.stamp.device, candidate.stamp.inode);
            let by_name = moved_by_name.get(&name).copied();
            if let Some((key, seen)) = by_name.or_else(|| moved_by_inode.get(&inode).copied()) {
                (candidate.moved_from, candidate.seen) = (Some(key), Some(seen));
                candidate.by_inode = by_name.is_none();
            }
        }
        let mut bad = Vec::new();
        let mut new = HashSet::default();
        // A file that was there a look ago may be anywhere now, under a name that it has had for long.
        let is_lost = |(_, seen): &(&str, &Seen)| seen.absent.is_none();
        let lost = moved_by_name.values().chain(moved_by_inode.values()).any(is_lost);
        let last = self.last_look().filter(|look| look.walk.is_none() && self.judges() && !lost);
        let judged = self.last_look().map(|look| &*look.judged).unwrap_or_default();
        let worktrees = if self.judges() { self.observer.project.worktrees(&mut bad) } else { Vec::new() };
        // If a worktree is not known, neither is which directories are surely other projects'.
        let position = last.filter(|_| bad.is_empty()).and(self.position);
        let round = Round::new(self, judged, horizon, position, worktrees);
        let round = RefCell::new(round);
        // Where nothing is to be told, nobody asks for them.
        let mut ids = (!candidates.is_empty() || self.last_look().is_none()).then(Ids::default);
        // A walk that was cut short goes on, past the files that it has been to.
        let mut walk = self.last_look().and_then(|look| look.walk.clone()).unwrap_or_default();
        let is_new = walk.stamped.is_empty() && walk.dirs.is_empty();
        walk.began = if is_new { self.file_time() } else { walk.began };
        let before: IdSet = walk.stamped.iter().copied().collect();
        let steps = Steps::new(self.env, self.deadline).after(walk.dirs.drain(..));
        let mut count = 0u64;
        let mut late = false;
        // A session that has been quiet for long has no subagent at work; there may be very many of them.
        let lively: RefCell<IdSet> = RefCell::new(walk.lively.drain(..).collect());
        let is_lively = |id: &str| {
            let lively = lively.borrow();
            [Some(id), id.get(..8)].into_iter().flatten().any(|id| lively.contains(&Id::of(id.as_bytes())))
        };
        let enters = |branch: &Branch| {
            let been = steps.has_been_to(branch.path);
            let enters = round.borrow_mut().enters(branch, been);
            if been && enters {
                steps.again(branch.path);
            }
            enters
        };
        let guide =
            Guide { subagents: Some(&is_lively), enters: Some(&enters), dirs: Some(&dirs), steps: Some(&steps) };
        find::each_with(self.formats, self.env, guide, &mut bad, &mut |file: Listing<'_, 'f>, bad| {
            ids.iter_mut().for_each(|ids| ids.add(&file, self.observer));
            let horizon = if round.borrow_mut().count(&file) { others_horizon } else { horizon };
            let seen = known.get(&Id(file.inode())).is_some_and(|name| *name == file.name);
            // The ends of names tell more than their beginnings.
            let name = file.name.as_bytes();
            let id = Id(Id::of(&name[name.len().saturating_sub(20)..]).0.wrapping_add(file.inode()));
            let mut stamp = None;
            if !seen && !late && !before.contains(&id) {
                // Asking for the time is cheap, but not for each of thousands.
                count += 1;
                late = count.is_multiple_of(256) && steps.is_late();
                stamp = Unreadable::noted(file.stamp(), bad);
                walk.stamped.extend(stamp.map(|_| id));
            }
            let changed = stamp.map(|stamp| stamp.changed_at().0);
            if !file.is_subagent && (seen || changed.is_some_and(|changed| changed >= horizon.saturating_sub(LONG))) {
                lively.borrow_mut().extend(file.id.map(|id| Id::of(id.as_bytes())));
            }
            let Some(stamp) = stamp else { return };
            let id = || file.id.unwrap_or_default().to_owned();
            let by_name = if moved_by_name.is_empty() { None } else { moved_by_name.get(&(id(), file.name)).copied() };
            let moved = by_name.or_else(|| moved_by_inode.get(&(stamp.device, stamp.inode)).copied());
            let is_old = stamp.changed_at().0 < horizon && moved.is_none();
            if is_old && (!self.explain || file.is_subagent) {
                return;
            }
            let session = file.session(Some(stamp));
            let key = survey::key(&session);
            if self.view.sessions.contains_key(&key) {
                return;
            }
            // A file that two patterns, or two links, lead to is one.
            if !new.insert((stamp.device, stamp.inode)) {
                return;
            }
            let (moved_from, seen) = moved.map_or((None, None), |(key, seen)| (Some(key), Some(seen)));
            let (subagent, by_inode) = (file.is_subagent, moved_from.is_some() && by_name.is_none());
            let candidate = Candidate { subagent, moved_from, by_inode, ..Candidate::new(key, session, stamp, seen) };
            candidates.extend(self.consider(candidate, horizon, survey));
        });
        let round = round.into_inner();
        let been_to = steps.into_done();
        let late = been_to.is_some();
        // What was not found must be found again; but a directory that can never be read must not hold it up for ever.
        let lost = (!bad.is_empty()).then(|| Time(walk.began.0.saturating_sub(LOST)));
        survey.cut_short |= late;
        survey.seen_until = match (late, lost) {
            (true, _) => self.seen_until(),
            (false, Some(lost)) => self.seen_until().max(lost),
            (false, None) => walk.began,
        };
        survey.round = Some(if late { others } else { round.since(others, walk.began, lost) });
        survey.is_partial = round.goes_on();
        survey.judged = judged.to_vec();
        survey.walk = been_to.map(|dirs| Walk { lively: lively.into_inner().into_iter().collect(), dirs, ..walk });
        survey.bad.extend(bad);
        ids.into_iter().filter(|_| is_new && !late && round.is_whole()).for_each(|ids| drop(self.cache.ids.set(ids)));
        (candidates, Some(round).filter(|_| self.judges() && !late))
    }

    /// Whether it matters which project a directory is of.
    fn judges(&self) -> bool {
        self.settings.scope == Scope::Project && !self.explain
    }

    /// What the names of all files tell, from a walk that was made anyway, or from one for this if there is time.
    pub(super) fn ids(&self) -> &Ids {
        self.cache.ids.get_or_init(|| {
            let mut ids = Ids::default();
            if !self.deadline.is_over() {
                let bad = &mut self.cache.unreadable.borrow_mut();
                // If some are missing, nobody knows how many are alike.
                if !find::each(self.formats, self.env, bad, &mut |file, _| ids.add(&file, self.observer)) {
                    ids.all.clear();
                }
            }
            ids
        })
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

/// A session that has been seen: which file it is now, and whether it has to be opened.
#[derive(Default)]
struct Known<'s, 'f> {
    inode: Option<u64>,
    candidate: Option<Candidate<'s, 'f>>,
}

/// What a walk over all files finds by their names alone: the ids of the sessions, a line for each, and the file of the
/// observer's own.
#[derive(Default)]
pub(super) struct Ids {
    pub all: String,
    pub own: Option<PathBuf>,
}

impl Ids {
    pub fn add(&mut self, file: &Listing, observer: &Observer) {
        let Some(id) = file.id.filter(|_| !file.is_subagent) else { return };
        self.all.push_str(id);
        self.all.push('\n');
        if id == observer.id && self.own.is_none() {
            let session = file.session(None);
            self.own = (session.format.name == observer.format.name).then_some(session.path.to_path_buf());
        }
    }
}

fn has_changed(seen: &Seen, stamp: Stamp) -> bool {
    seen.unread || seen.stamp != Some(stamp.into())
}

/// Names a state of a file: its path and its stamp.
pub(super) fn examined(path: &Path, stamp: Stamp) -> u64 {
    // When anything else about it changed counts, too: it may belong to the user by now.
    let Stamp { device, inode, size, modified, changed, access: _ } = stamp;
    let numbers = [device, inode, size, modified as u64, changed as u64].map(u64::to_le_bytes).concat();
    Id::of(&[path.as_os_str().as_encoded_bytes(), &numbers].concat()).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Deadline;
    use crate::env::Env;
    use crate::settings::Settings;
    use crate::state::cursors::View;

    /// In a home, a session may be named long after its transcript was written, so what no look has seen may be news
    /// however many looks there were since. Elsewhere the last look has seen all files.
    #[test]
    fn a_name_may_come_later_than_its_transcript() {
        const NOW: Time = Time(100 * DAY);
        let dir = tempfile::tempdir().expect("a directory");
        let (settings, formats) = (Settings::default(), crate::format::known(Path::new("/nonexistent")).0);
        let deadline = Deadline::after(settings.deadline);
        let env = Env::fixed(dir.path(), dir.path().join("work"), NOW);
        for (named, ago) in [(false, 0), (true, 5 * HOUR)] {
            if named {
                std::fs::create_dir_all(env.cwd.join(".volute/sessions")).expect("directories");
            }
            let observer = Observer::new(&formats[0], "me", None, &env, &settings);
            assert_eq!(observer.home.is_some(), named);
            let mut view = View::default();
            let scope = Surveyor::new(&env, &settings, &formats, &observer, &view, &deadline).scope;
            let looked = Time::from_nanos(env.file_clock());
            let mut look = Look { scope, ..Look::new(Time(NOW.0 - 5 * HOUR)) };
            look.set_looked(looked);
            view.look = Some(look);
            let surveyor = Surveyor::new(&env, &settings, &formats, &observer, &view, &deadline);
            let distance = surveyor.horizon() + LAG + ago - looked.0;
            assert!((0..HOUR).contains(&distance), "named: {named}, {distance}");
        }
    }
}
