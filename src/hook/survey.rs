//! Which other sessions have something new, and what.
//!
//! Every transcript there is is looked at by its stamp alone; only those that were written since are opened. A session
//! that was seen before is read from where it was seen to; one that was not, from a bounded tail, and there only what is
//! later than the observer's first look, less an hour, is news.

use std::cell::{OnceCell, RefCell};
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
    /// The files that it and its subagents edited, in full.
    pub edited: Vec<(PathBuf, Option<Time>)>,
    /// All that was read for it, its own transcript and those of its subagents: what each is called among the cursors,
    /// and where the reading began and ended. They count as seen together or not at all.
    pub parts: Vec<(String, Seen, Seen)>,
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
/// For how long a session may wait for a subagent without a word of its own, in nanoseconds.
const LONG: i64 = 24 * 3600 * 1_000_000_000;
/// How many of its own subagents an observer looks at.
const MOST_SUBAGENTS: usize = 20;

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
        self.note_candidate(&candidate, reason, survey);
        if candidate.seen.is_none() {
            survey.passed.push((candidate.key, Seen::untouched()));
        }
    }

    /// What does not count here.
    fn leave(&self, candidate: &Candidate<'_, 'f>, reason: Reason, survey: &mut Survey<'f>) {
        self.note_candidate(candidate, reason, survey);
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

    /// Hash of home, scope and project; a change means that the observer moved.
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

    /// What becomes of a subagent's file is only of interest if it is told.
    fn note_candidate(&self, candidate: &Candidate, reason: Reason, survey: &mut Survey<'f>) {
        if !candidate.subagent || reason == Reason::News {
            self.note(survey, &candidate.session, candidate.stamp, reason);
        }
    }

    fn key(&self, session: &Session) -> String {
        session.name.clone().unwrap_or_else(|| session.path.to_string_lossy().into_owned())
    }

    /// The sessions of a home that were written since.
    fn named(&self, home: &Home, survey: &mut Survey<'f>) -> Vec<Candidate<'s, 'f>> {
        let horizon = self.horizon();
        let mut candidates = Vec::new();
        let mut of_subagents = HashSet::new();
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
            let own = self.observer.is(&session);
            for (path, stamp) in locate::subagents(&session, &session.id) {
                let key = path.to_string_lossy().into_owned();
                let seen = self.view.sessions.get(&key);
                let counts = !own && !Home::is_throw_away(name) && self.idle(seen, stamp, horizon).is_none();
                if counts {
                    let (key, session) = (key.clone(), Session { path, ..session.clone() });
                    candidates.push(Candidate { key, session, stamp, named: true, subagent: true, seen });
                }
                of_subagents.insert(key);
            }
            let reason = if Home::is_throw_away(name) {
                Some(Reason::ThrowAway)
            } else if own {
                Some(Reason::Own)
            } else {
                self.idle(seen, stamp, horizon)
            };
            match reason {
                Some(reason) => self.note(survey, &session, stamp, reason),
                None => {
                    let key = name.clone();
                    candidates.push(Candidate { key, session, stamp, named: true, subagent: false, seen });
                }
            }
            if let Some((key, old)) = old.and_then(|old| Some((old.path.clone()?, old))) {
                survey.gone.push(name.clone());
                candidates.extend(self.known(&key, old, horizon, survey));
            }
        }
        for (key, seen) in &self.view.sessions {
            match names.contains(key) || of_subagents.contains(key) {
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
        let session = locate::at(self.formats, self.env, Path::new(path)).or_else(|| self.in_folder(path));
        let subagent = session.is_none();
        let Some(session) = session.or_else(|| locate::subagent_at(self.formats, self.env, Path::new(path))) else {
            survey.gone.push(path.to_owned());
            return None;
        };
        let candidate = Candidate { key: path.to_owned(), session, stamp, named: false, subagent, seen: Some(seen) };
        match idle {
            Some(reason) => {
                self.note_candidate(&candidate, reason, survey);
                None
            }
            None => Some(candidate),
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
        // A session that has been quiet for long has no subagent at work; there may be very many of them.
        let lively: RefCell<Vec<Id>> = RefCell::default();
        let is_lively = |id: &str| {
            let mut lively = lively.borrow_mut();
            // As good as sorted from the second question on.
            lively.sort_unstable();
            [Some(id), id.get(..8)].into_iter().flatten().any(|id| lively.binary_search(&Id::of(id.as_bytes())).is_ok())
        };
        locate::each_with_subagents(self.formats, self.env, &is_lively, &mut bad, &mut |file: Listing<'_, 'f>| {
            // Asking for the time is cheap, but not for each of thousands.
            count += 1;
            late = late || count % 256 == 0 && self.deadline.is_over();
            let seen = known.get(&file.inode()).is_some_and(|name| *name == file.name());
            let stamp = if late || seen { None } else { file.stamp() };
            if !file.is_subagent && (seen || stamp.is_some_and(|stamp| stamp.modified >= horizon.saturating_sub(LONG)))
            {
                lively.borrow_mut().extend(file.id().map(|id| Id::of(id.as_bytes())));
            }
            let Some(stamp) = stamp else { return };
            let seen = moved.get(&(stamp.device, stamp.inode)).copied();
            let old = stamp.modified < horizon && seen.is_none();
            let subagent = file.is_subagent;
            if old && (!self.explain || subagent) {
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
            let candidate = Candidate { key, session, stamp, named: false, subagent, seen };
            match reason {
                Some(reason) => self.note_candidate(&candidate, reason, survey),
                // A file that two patterns, or two links, lead to is one.
                None if new.insert((stamp.device, stamp.inode)) => candidates.push(candidate),
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
        let mut subagents = Vec::new();
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
                Some(activity) if !candidate.subagent => self.report(candidate, new, activity, survey),
                // Of all that a subagent does, its edits count.
                Some(activity) if !activity.edited.is_empty() => subagents.push((candidate, new, activity.edited)),
                _ => self.pass(candidate, new, survey),
            }
        }
        for (candidate, new, edited) in subagents {
            self.credit(candidate, new, edited, survey);
        }
    }

    /// What a subagent edited, its session edited, whether that has other news or none.
    fn credit(
        &self,
        candidate: Candidate<'s, 'f>,
        new: New,
        edited: Vec<(String, Option<Time>)>,
        survey: &mut Survey<'f>,
    ) {
        let New { before, after, .. } = new;
        let parent = survey.news.iter().position(|news| is_parent(&news.session, &candidate.session));
        let index = parent.unwrap_or_else(|| {
            self.note_candidate(&candidate, Reason::News, survey);
            let (key, session) = (self.parent_key(&candidate.session), candidate.session.clone());
            let known = key.as_ref().and_then(|key| self.view.sessions.get(key));
            let after = Seen { title: known.and_then(|seen| seen.title.clone()), ..after.clone() };
            let key = key.unwrap_or_else(|| candidate.key.clone());
            let (activity, before) = (Activity::default(), before.clone());
            survey.news.push(News {
                key,
                session,
                activity,
                before,
                after,
                edited: vec![],
                parts: vec![],
                prints: vec![],
            });
            survey.news.len() - 1
        });
        let news = &mut survey.news[index];
        news.activity.time = edited.iter().map(|(_, time)| *time).max().flatten().max(news.activity.time);
        let cwd = after.cwd.as_deref().map_or(&*self.env.cwd, Path::new);
        add_edits(edited, cwd, &mut news.activity, &mut news.edited);
        news.parts.push((candidate.key, before, after));
    }

    /// What the session of a subagent is called among the cursors, if it is there.
    fn parent_key(&self, session: &Session) -> Option<String> {
        let short = &session.id[..session.id.floor_char_boundary(8)];
        let is_it = |key: &str| {
            let other = locate::at(self.formats, self.env, Path::new(key));
            key.contains(short) && other.is_some_and(|other| is_parent(&other, session))
        };
        session.name.clone().or_else(|| self.view.sessions.keys().find(|key| is_it(key)).cloned())
    }

    fn report(&self, candidate: Candidate<'s, 'f>, new: New, mut activity: Activity, survey: &mut Survey<'f>) {
        let New { part, before, mut after } = new;
        self.note(survey, &candidate.session, candidate.stamp, Reason::News);
        let before = Seen { path: candidate.path(), ..before };
        after.path = candidate.path();
        after.last = activity.last.clone();
        after.print = part.entries.iter().rev().find_map(print).map(Id::short);
        let cwd = after.cwd.as_deref().map_or(&*self.env.cwd, Path::new);
        let mut edited = Vec::new();
        add_edits(std::mem::take(&mut activity.edited), cwd, &mut activity, &mut edited);
        let said = part.entries.iter().filter(|entry| matches!(entry.what, What::Text(_)));
        let prints = said.filter_map(print).map(Id::short).collect();
        let Candidate { key, session, .. } = candidate;
        let parts = vec![(key.clone(), before.clone(), after.clone())];
        survey.news.push(News { key, session, activity, before, after, edited, parts, prints });
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
        // Without it, only a conflict may go untold.
        self.own.get_or_init(|| self.own_path().and_then(|path| self.end_of(&path, false).ok()).unwrap_or_default())
    }

    fn own_path(&self) -> Option<PathBuf> {
        let there = self.observer.transcript.clone().filter(|path| path.is_file());
        there.or_else(|| self.find(&self.observer.id))
    }

    /// The end of a transcript of the observer, or of one of its subagents.
    fn end_of(&self, path: &Path, subagent: bool) -> io::Result<Part> {
        let transcript = Transcript::open(path, self.observer.format.format())?.subagent(subagent);
        let start = newest_lines(&transcript.file, transcript.meta.len(), budget::OWN)?;
        transcript.part(start, &mut Buffer::default(), None)
    }

    /// What the observer's subagents have edited lately, as far as there is time to look.
    fn own_subagents(&self) -> Vec<Entry<'static>> {
        let Some(path) = self.own_path() else { return Vec::new() };
        let (id, format) = (self.observer.id.clone(), self.observer.format);
        let own = Session { id, name: None, format, root: None, path, stamp: None };
        let mut files = locate::subagents(&own, &own.id);
        files.truncate(MOST_SUBAGENTS);
        let read = files.iter().take_while(|_| !self.deadline.is_over());
        let parts = read.filter_map(|(path, _)| self.end_of(path, true).ok());
        let is_edit = |entry: &Entry| matches!(&entry.what, What::Call(call) if call.act == Act::Edit);
        parts.flat_map(|part| part.entries).filter(is_edit).collect()
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
        for entry in self.own().entries.iter().chain(&self.own_subagents()) {
            let What::Call(call) = &entry.what else { continue };
            if call.failed || !matches!(call.act, Act::Edit | Act::Read) {
                continue;
            }
            for path in &call.subjects {
                let place = touched.entry(absolute(&self.env.cwd, path)).or_insert((call.act, entry.time));
                // That it edited a file says more than that it read it afterwards.
                if (call.act == Act::Edit && entry.time >= place.1) || place.0 != Act::Edit {
                    *place = (call.act, entry.time);
                }
            }
        }
        touched
    }
}

/// Whether a session is the one that a subagent's transcript belongs to. An id may be shortened in a file name.
fn is_parent(session: &Session, subagent: &Session) -> bool {
    let shortened = session.id.len() >= 8 && subagent.id.starts_with(&session.id);
    session.format.name == subagent.format.name && (session.id == subagent.id || shortened)
}

/// Adds files to those that were edited. A file is one, however its path is written.
fn add_edits(
    more: Vec<(String, Option<Time>)>,
    cwd: &Path,
    activity: &mut Activity,
    edited: &mut Vec<(PathBuf, Option<Time>)>,
) {
    let mut index: HashMap<PathBuf, usize> = (0..).zip(&*edited).map(|(at, (path, _))| (path.clone(), at)).collect();
    for (path, time) in more {
        let place = absolute(cwd, &path);
        match index.get(&place).map(|at| &mut edited[*at]) {
            Some((_, last)) => *last = (*last).max(time),
            None => {
                index.insert(place.clone(), edited.len());
                edited.push((place, time));
                activity.edited.push((path, time));
            }
        }
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Fingerprint of an entry, which only copies of it share. None for what has no id.
fn print(entry: &Entry) -> Option<Id> {
    let text = match &entry.what {
        What::Text(text) => text,
        What::Call(call) => &call.tool,
        _ => return None,
    };
    let time = entry.time.map_or(0, |time| time.0);
    entry.key.map(|key| Id::of(&[&key.0.to_le_bytes(), &time.to_le_bytes(), text.as_bytes()].concat()))
}
