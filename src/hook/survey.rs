//! Which other sessions have something new, and what.
//!
//! Every transcript there is is looked at by its stamp alone; only those that were written since are opened. A session
//! that was seen before is read from where it was seen to; one that was not, from a bounded tail, and there only what is
//! later than the observer's first look, less an hour, is news.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use super::Observer;
use super::reading::{Candidate, New, Reader};
use crate::budget::{self, Deadline};
use crate::cursor::{Buffer, newest_lines};
use crate::digest::Activity;
use crate::entry::{Act, Entry, Id, Role, What};
use crate::env::Env;
use crate::format::Known;
use crate::locate::{self, Home, Listing, Project, Session, Stamp, Unreadable};
use crate::path::absolute;
use crate::settings::Settings;
use crate::state::cursors::{Look, Seen, View};
use crate::time::Time;
use crate::transcript::{Part, Transcript};

/// What a survey goes by.
pub struct Surveyor<'s, 'f> {
    pub env: &'s Env,
    pub settings: &'s Settings,
    pub formats: &'f [Known],
    pub observer: &'s Observer<'f>,
    pub view: &'s View,
    pub deadline: &'s Deadline,
    /// Keep note of every session, not only of those with news.
    pub explain: bool,
    project: Project,
    /// The end of the observer's own transcript, once it was needed.
    own: OnceCell<Part>,
}

/// What it found.
#[derive(Debug, Default)]
pub struct Survey<'f> {
    /// The sessions with news, newest first.
    pub news: Vec<News<'f>>,
    /// Sessions that went on without news, as they are seen now; and those that are still to be read.
    pub passed: Vec<(String, Seen)>,
    /// Keys of sessions that are gone.
    pub gone: Vec<String>,
    /// A file was opened: what is known of it has changed, or the clock has to move on.
    pub examined: bool,
    /// The deadline came first: not every file was read, or even found.
    pub cut_short: bool,
    pub lost_sight: bool,
    pub bad: Vec<Unreadable>,
    /// Why each session is told or not; only if that was asked for.
    pub why: Vec<Why>,
}

/// News of one session.
#[derive(Debug)]
pub struct News<'f> {
    /// What it is called among the cursors.
    pub key: String,
    pub session: Session<'f>,
    pub activity: Activity,
    /// Where the reading began, and where it ended.
    pub before: Seen,
    pub after: Seen,
    /// The files it edited, in full.
    pub edited: Vec<(PathBuf, Option<Time>)>,
    /// What was said, each in a number.
    pub prints: Vec<u32>,
}

/// Why a session is told, or is not.
#[derive(Debug)]
pub struct Why {
    pub path: PathBuf,
    pub agent: String,
    /// Its name, or its id.
    pub handle: String,
    pub named: bool,
    pub offset: Option<u64>,
    pub size: u64,
    pub reason: Reason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    News,
    Own,
    Unchanged,
    /// Not written since the last look, or within the window of the first.
    Old,
    Elsewhere,
    Subagent,
    Ignored,
    NothingSaid,
    ThrowAway,
    Late,
    Unreadable,
}

/// What a session has worked on: file, what it did, when.
pub type Touched = HashMap<PathBuf, (Act, Option<Time>)>;

const MICRO: i64 = 1000;
/// Files are stamped by a clock that may lag a little behind.
const LAG: i64 = 2_000_000_000;
/// For how long something that could not be found is looked for again, in microseconds.
pub const LOST: i64 = 3600 * 1_000_000;

impl<'s, 'f> Surveyor<'s, 'f> {
    pub fn new(
        env: &'s Env,
        settings: &'s Settings,
        formats: &'f [Known],
        observer: &'s Observer<'f>,
        view: &'s View,
        deadline: &'s Deadline,
    ) -> Surveyor<'s, 'f> {
        let project = Project::of(&env.cwd);
        Surveyor { env, settings, formats, observer, view, deadline, explain: false, project, own: OnceCell::new() }
    }

    pub fn survey(&self) -> Survey<'f> {
        let mut survey = Survey::default();
        let mut candidates = match &self.observer.home {
            Some(home) => self.named(home, &mut survey),
            None => self.found(&mut survey),
        };
        // What is known and what is newest first: that is what matters if time runs out.
        candidates.sort_by_key(|candidate| (!candidate.is_known(), std::cmp::Reverse(candidate.stamp.modified)));
        let mut reader = self.reader();
        let mut readings = Vec::new();
        for candidate in candidates {
            survey.examined = true;
            if self.deadline.is_over() {
                survey.cut_short = true;
                self.put_off(candidate, Reason::Late, &mut survey);
                continue;
            }
            match reader.read(&candidate) {
                Ok(Ok(new)) => readings.push((candidate, new)),
                Ok(Err(reason)) => self.leave(&candidate, reason, &mut survey),
                Err(error) if error.kind() == io::ErrorKind::NotFound => survey.gone.push(candidate.key),
                Err(error) => {
                    survey.bad.push(Unreadable { path: candidate.session.path.clone(), error });
                    self.put_off(candidate, Reason::Unreadable, &mut survey);
                }
            }
        }
        self.digest(readings, &mut survey);
        survey.news.sort_by_key(|news| std::cmp::Reverse(news.activity.time));
        survey
    }

    pub(super) fn reader(&self) -> Reader<'s> {
        Reader::new(self.env, self.settings, self.since(), self.project.clone())
    }

    /// What is to be read, and cannot be now, is not forgotten.
    fn put_off(&self, candidate: Candidate, reason: Reason, survey: &mut Survey<'f>) {
        self.note(survey, &candidate.session, candidate.stamp, reason);
        if candidate.seen.is_none() {
            survey.passed.push((candidate.key, Seen::untouched()));
        }
    }

    /// What does not count here.
    fn leave(&self, candidate: &Candidate<'_, 'f>, reason: Reason, survey: &mut Survey<'f>) {
        self.note(survey, &candidate.session, candidate.stamp, reason);
        if candidate.seen.is_some() && !candidate.is_known() {
            survey.gone.push(candidate.key.clone());
        }
    }

    /// Whether the observer has not been prompted before.
    pub fn is_first_prompt(&self) -> bool {
        let is_prompt = |entry: &Entry| entry.role == Role::User && matches!(entry.what, What::Text(_));
        !self.own().entries.iter().any(is_prompt)
    }

    pub fn project_dir(&self) -> &Path {
        self.project.dir()
    }

    /// The moment before which nothing was ever news.
    pub fn since(&self) -> Time {
        let first = || Time(self.env.now().0.saturating_sub(self.settings.first_look));
        self.view.look.as_ref().map_or_else(first, |look| look.since)
    }

    /// Files that were not written since then have nothing new; by the clock that stamps files, in nanoseconds.
    fn horizon(&self) -> i64 {
        let place = self.place();
        let is_good = |look: &&Look| look.place == place && look.clock <= self.env.file_clock() / MICRO;
        match self.view.look.as_ref().filter(is_good) {
            Some(look) => look.clock.saturating_mul(MICRO).saturating_sub(LAG),
            // A first look, or one from elsewhere, or the clock was set back: all that may be news.
            None => {
                let window = self.env.now().0.saturating_sub(self.since().0);
                self.env.file_clock().saturating_sub(window.saturating_mul(MICRO * MICRO)).saturating_sub(LAG)
            }
        }
    }

    /// What is remembered of this look.
    pub fn look(&self) -> Look {
        Look { place: self.place(), ..Look::new(self.since(), self.env.file_clock() / MICRO) }
    }

    /// Where the observer is, in a number.
    fn place(&self) -> u32 {
        let home = self.env.home.as_os_str().as_encoded_bytes();
        Id::of(&[home, &[0, self.settings.scope as u8], self.project.as_bytes()].concat()).short()
    }

    fn note(&self, survey: &mut Survey<'f>, session: &Session<'_>, stamp: Stamp, reason: Reason) {
        if self.explain {
            let key = self.key(session);
            survey.why.push(Why {
                path: session.path.clone(),
                agent: session.format.name.clone(),
                handle: session.name.clone().unwrap_or_else(|| session.id.clone()),
                named: session.name.is_some(),
                offset: self.view.sessions.get(&key).map(|seen| seen.offset),
                size: stamp.size,
                reason,
            });
        }
    }

    fn key(&self, session: &Session) -> String {
        session.name.clone().unwrap_or_else(|| session.path.to_string_lossy().into_owned())
    }

    /// The sessions of a home that were written since.
    fn named(&self, home: &Home, survey: &mut Survey<'f>) -> Vec<Candidate<'s, 'f>> {
        let horizon = self.horizon();
        let mut candidates = Vec::new();
        let names = home.names();
        for name in &names {
            let Some(session) = home.session(name, self.formats, self.env) else { continue };
            let Ok(stamp) = std::fs::metadata(&session.path).map(|meta| Stamp::from(&meta)) else { continue };
            let path = session.path.to_string_lossy();
            // A name may have got another session; then the rest of the old one is still to be told.
            let (old, seen) = match self.view.sessions.get(name) {
                Some(seen) if seen.path.as_ref().is_some_and(|seen| *seen != path) => (Some(seen), None),
                seen => (None, seen),
            };
            let reason = if Home::is_throw_away(name) {
                Some(Reason::ThrowAway)
            } else if self.observer.is(&session) {
                Some(Reason::Own)
            } else {
                self.idle(seen, stamp, horizon)
            };
            match reason {
                Some(reason) => self.note(survey, &session, stamp, reason),
                None => candidates.push(Candidate { key: name.clone(), session, stamp, named: true, seen }),
            }
            if let Some((key, old)) = old.and_then(|old| Some((old.path.clone()?, old))) {
                survey.gone.push(name.clone());
                candidates.extend(self.known(&key, old, horizon, survey));
            }
        }
        for (key, seen) in &self.view.sessions {
            match names.contains(key) {
                true => {}
                // Where a name was before.
                false if key.starts_with('/') => match self.known(key, seen, horizon, survey) {
                    Some(candidate) => candidates.push(Candidate { named: true, ..candidate }),
                    None => survey.gone.push(key.clone()),
                },
                false => survey.gone.push(key.clone()),
            }
        }
        candidates.iter_mut().filter(|candidate| candidate.session.name.is_none()).for_each(|old| old.named = true);
        candidates
    }

    /// Why there is no need to open a file.
    fn idle(&self, seen: Option<&Seen>, stamp: Stamp, horizon: i64) -> Option<Reason> {
        match seen {
            Some(seen) if seen.unread || seen.stamp != Some(stamp.into()) => None,
            Some(_) => Some(Reason::Unchanged),
            None => (stamp.modified < horizon).then_some(Reason::Old),
        }
    }

    /// A session that has been seen, by its path, if it was written since.
    fn known(&self, path: &str, seen: &'s Seen, horizon: i64, survey: &mut Survey<'f>) -> Option<Candidate<'s, 'f>> {
        let stamp = match std::fs::metadata(path) {
            Ok(meta) => Stamp::from(&meta),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                survey.gone.push(path.to_owned());
                return None;
            }
            // It may be there again at the next look.
            Err(error) => {
                survey.bad.push(Unreadable { path: path.into(), error });
                return None;
            }
        };
        let idle = self.idle(Some(seen), stamp, horizon);
        if idle.is_some() && !self.explain {
            return None;
        }
        let Some(session) = locate::at(self.formats, self.env, Path::new(path)).or_else(|| self.in_folder(path)) else {
            survey.gone.push(path.to_owned());
            return None;
        };
        match idle {
            Some(reason) => {
                self.note(survey, &session, stamp, reason);
                None
            }
            None => Some(Candidate { key: path.to_owned(), session, stamp, named: false, seen: Some(seen) }),
        }
    }

    /// A Pi session in a folder of the home.
    fn in_folder(&self, path: &str) -> Option<Session<'f>> {
        self.observer.home.as_ref()?.in_folder(Path::new(path), self.formats)
    }

    /// The sessions of the machine that were written since.
    fn found(&self, survey: &mut Survey<'f>) -> Vec<Candidate<'s, 'f>> {
        let horizon = self.horizon();
        let mut candidates = Vec::new();
        let mut known: HashMap<u64, &str> = HashMap::with_capacity(self.view.sessions.len());
        for (key, seen) in &self.view.sessions {
            candidates.extend(self.known(key, seen, horizon, survey));
            let gone = survey.gone.last() == Some(key);
            if let Some((_, inode, ..)) = seen.stamp.filter(|_| !gone) {
                known.insert(inode, file_name(key));
            }
        }
        // A file that has another name now is still the same.
        let moved: HashMap<(u64, u64), &Seen> = survey
            .gone
            .iter()
            .filter_map(|key| self.view.sessions.get(key))
            .filter_map(|seen| seen.stamp.map(|(device, inode, ..)| ((device, inode), seen)))
            .collect();
        let mut bad = Vec::new();
        let mut new = HashSet::new();
        let (mut count, mut late) = (0u32, false);
        locate::each(self.formats, self.env, &mut bad, &mut |file: Listing<'_, 'f>| {
            // Asking for the time is cheap, but not for each of thousands.
            count += 1;
            late = late || count % 256 == 0 && self.deadline.is_over();
            if late || known.get(&file.inode()).is_some_and(|name| *name == file.name()) {
                return;
            }
            let Some(stamp) = file.stamp() else { return };
            let seen = moved.get(&(stamp.device, stamp.inode)).copied();
            let old = stamp.modified < horizon && seen.is_none();
            if old && !self.explain {
                return;
            }
            let session = file.session(Some(stamp));
            let reason = match old {
                true => Some(Reason::Old),
                false => self.observer.is(&session).then_some(Reason::Own),
            };
            let key = self.key(&session);
            if self.view.sessions.contains_key(&key) {
                return;
            }
            match reason {
                Some(reason) => self.note(survey, &session, stamp, reason),
                // A file that two patterns, or two links, lead to is one.
                None if new.insert((stamp.device, stamp.inode)) => {
                    candidates.push(Candidate { key, session, stamp, named: false, seen });
                }
                None => {}
            }
        });
        survey.lost_sight = late || !bad.is_empty();
        survey.cut_short = late;
        survey.bad.extend(bad);
        candidates
    }

    /// What the readings amount to. What was copied from another session is that session's.
    fn digest(&self, mut readings: Vec<(Candidate<'s, 'f>, New)>, survey: &mut Survey<'f>) {
        if readings.iter().all(|(_, new)| new.part.entries.is_empty()) {
            return readings.into_iter().for_each(|(candidate, new)| self.pass(candidate, new, survey));
        }
        let mut told: HashSet<Id> = self.own().entries.iter().filter_map(print).collect();
        let ring = self.view.look.iter().flat_map(|look| &look.told).copied();
        let before: HashSet<u32> = ring.chain(self.view.sessions.values().filter_map(|seen| seen.print)).collect();
        // Whoever was there first wrote it: sessions that are known, then by age of the file.
        readings.sort_by_key(|(candidate, _)| {
            let born = std::fs::metadata(&candidate.session.path).and_then(|meta| meta.created()).ok();
            (!candidate.is_known(), born, candidate.stamp.modified)
        });
        for (candidate, mut new) in readings {
            let entries = &mut new.part.entries;
            // Of one that has been told, only new lines were read.
            if candidate.seen.is_none_or(|seen| seen.unread) {
                let copied = |entry: &Entry| print(entry).is_some_and(|print| before.contains(&print.short()));
                let copied = entries.iter().rposition(copied).map_or(0, |place| place + 1);
                entries.drain(..copied);
            }
            entries.retain(|entry| print(entry).is_none_or(|print| !told.contains(&print)));
            told.extend(entries.iter().filter_map(print));
            match Activity::of(entries, &new.before.last) {
                Some(activity) => self.report(candidate, new, activity, survey),
                None => self.pass(candidate, new, survey),
            }
        }
    }

    fn report(&self, candidate: Candidate<'s, 'f>, new: New, mut activity: Activity, survey: &mut Survey<'f>) {
        let New { part, before, mut after } = new;
        self.note(survey, &candidate.session, candidate.stamp, Reason::News);
        let before = Seen { path: candidate.path(), ..before };
        after.path = candidate.path();
        after.last = activity.last.clone();
        after.print = part.entries.iter().rev().find_map(print).map(Id::short);
        let cwd = after.cwd.as_deref().map_or(&*self.env.cwd, Path::new);
        // A file is one, however its path is written.
        let mut edited: Vec<(PathBuf, Option<Time>)> = Vec::new();
        activity.edited.retain(|(path, time)| {
            let path = absolute(cwd, path);
            let known = edited.iter_mut().find(|(known, _)| *known == path);
            let is_new = known.is_none();
            match known {
                Some((_, last)) => *last = (*last).max(*time),
                None => edited.push((path, *time)),
            }
            is_new
        });
        let said = part.entries.iter().filter(|entry| matches!(entry.what, What::Text(_)));
        let prints = said.filter_map(print).map(Id::short).collect();
        let Candidate { key, session, .. } = candidate;
        survey.news.push(News { key, session, activity, before, after, edited, prints });
    }

    fn pass(&self, candidate: Candidate<'s, 'f>, new: New, survey: &mut Survey<'f>) {
        self.leave(&candidate, Reason::NothingSaid, survey);
        if candidate.is_known() {
            let path = candidate.path();
            survey.passed.push((candidate.key, Seen { path, ..new.after }));
        }
    }

    /// The end of the observer's own transcript.
    pub fn own(&self) -> &Part {
        let read = |path: &Path| {
            let transcript = Transcript::open(path, self.observer.format.format())?;
            let start = newest_lines(&transcript.file, transcript.meta.len(), budget::OWN)?;
            transcript.part(start, &mut Buffer::default(), None)
        };
        let there = || self.observer.transcript.clone().filter(|path| path.is_file());
        let path = || there().or_else(|| self.find(&self.observer.id));
        // Without it, only a conflict may go untold.
        self.own.get_or_init(|| path().and_then(|path| read(&path).ok()).unwrap_or_default())
    }

    /// The transcript of the observer's agent that has an id in its name.
    pub(super) fn find(&self, id: &str) -> Option<PathBuf> {
        let mut found = None;
        let format = std::slice::from_ref(self.observer.format);
        locate::each(format, self.env, &mut Vec::new(), &mut |file| {
            if found.is_none() && file.id() == Some(id) {
                found = Some(file.session(None).path);
            }
        });
        found
    }

    /// How many bytes an id has in common with that of another session of its agent.
    pub fn shared_start(&self, session: &Session) -> usize {
        let mut shared = 0;
        locate::each(std::slice::from_ref(session.format), self.env, &mut Vec::new(), &mut |file| {
            if let Some(other) = file.id().filter(|other| *other != session.id) {
                shared = shared.max(locate::shared_start(&session.id, other));
            }
        });
        shared
    }

    /// What the observer has read and edited lately.
    pub fn own_files(&self) -> Touched {
        let mut touched = Touched::new();
        for entry in &self.own().entries {
            let What::Call(call) = &entry.what else { continue };
            if call.failed || !matches!(call.act, Act::Edit | Act::Read) {
                continue;
            }
            for path in &call.subjects {
                let place = touched.entry(absolute(&self.env.cwd, path)).or_insert((call.act, entry.time));
                // That it edited a file says more than that it read it afterwards.
                if call.act == Act::Edit || place.0 != Act::Edit {
                    *place = (call.act, entry.time);
                }
            }
        }
        touched
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What an entry says, in a number: equal for a copy of it, and for nothing else. None for what has no id to copy.
fn print(entry: &Entry) -> Option<Id> {
    let text = match &entry.what {
        What::Text(text) => text,
        What::Call(call) => &call.tool,
        _ => return None,
    };
    let time = entry.time.map_or(0, |time| time.0);
    entry.key.map(|key| Id::of(&[&key.0.to_le_bytes(), &time.to_le_bytes(), text.as_bytes()].concat()))
}
