//! Which other sessions have something new, and what.
//!
//! Every transcript there is is looked at by its stamp alone; only those that changed since the last look are opened,
//! newest first, until the deadline. At least one is read in every look. What could not be read stays to be read, what is
//! missing is kept for days, and an error is said and forgets nothing.
//!
//! A session that was seen before is read from where it was seen to; one that was not, from a bounded tail, and there only
//! what is later than the observer's first look, less an hour, is news.

use std::cell::{OnceCell, Ref, RefCell};
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use super::Observer;
use super::candidates::examined;
use super::news::{Candidate, New, Reader, Reason};
use crate::budget::{self, Deadline};
use crate::entry::{Entry, Id, What};
use crate::env::Env;
use crate::file::{Stamp, Unreadable};
use crate::fold::Activity;
use crate::format::Known;
use crate::path::absolute;
use crate::read::Part;
use crate::read::once::fingerprint;
use crate::session::ids::Shortener;
use crate::session::{Project, Session, find};
use crate::settings::Settings;
use crate::state::cursors::{Look, Seen, View};
use crate::time::Time;

/// For how long something that could not be found is looked for again, in microseconds.
pub const LOST: i64 = 3600 * 1_000_000;

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
    pub(super) project: Project,
    /// The end of the observer's own transcript, once it was needed.
    pub(super) own: OnceCell<Part>,
    /// Hash of home, scope and project; a change means that the observer moved.
    pub(super) place: u32,
    /// Files that had no news at the last look, by path and stamp.
    pub(super) examined: HashSet<u64>,
    /// The ids of all sessions, once they were needed.
    ids: OnceCell<Shortener>,
    /// What could not be read on the way.
    pub(super) unreadable: RefCell<Vec<Unreadable>>,
}

/// What it found.
#[derive(Debug, Default)]
pub struct Survey<'f> {
    /// The sessions with news, newest first.
    pub news: Vec<News<'f>>,
    /// Sessions without news, as they are to be remembered: seen so far, still to be read, or missing.
    pub remembered: Vec<(String, Seen)>,
    /// Keys of sessions that are not to be remembered any more.
    pub forgotten: Vec<String>,
    /// Files that were opened in vain, by path and stamp: nobody has to open them again as long as both stay.
    pub examined: Vec<u64>,
    /// A file was opened: what is known of it has changed, or the clock has to move on.
    pub opened: bool,
    /// The deadline came first: not every file was read, or even found.
    pub cut_short: bool,
    /// A directory could not be read.
    pub lost_sight: bool,
    /// Where the walk over all files was cut short, and when it began, by the clock that files are stamped by.
    pub walk: Option<(u64, i64)>,
    /// When the walk that is complete now began, if it took more than one look.
    pub clock: Option<i64>,
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

impl<'s, 'f> Surveyor<'s, 'f> {
    pub fn new(
        env: &'s Env,
        settings: &'s Settings,
        formats: &'f [Known],
        observer: &'s Observer<'f>,
        view: &'s View,
        deadline: &'s Deadline,
    ) -> Surveyor<'s, 'f> {
        let project = observer.project.clone();
        let home = env.home.as_os_str().as_encoded_bytes();
        let place = Id::of(&[home, &[0, settings.scope as u8], project.as_bytes()].concat()).short();
        let last = view.look.as_ref().filter(|look| look.place == place);
        let examined = last.map(|look| look.examined.iter().copied().collect()).unwrap_or_default();
        let (explain, own, ids, unreadable) = (false, OnceCell::new(), OnceCell::new(), RefCell::default());
        Surveyor {
            env,
            settings,
            formats,
            observer,
            view,
            deadline,
            explain,
            project,
            own,
            place,
            examined,
            ids,
            unreadable,
        }
    }

    pub fn survey(&self) -> Survey<'f> {
        let mut survey = Survey::default();
        let mut candidates = self.candidates(&mut survey);
        // What is known and what is newest first: that is what matters if time runs out.
        let is_slow = |candidate: &Candidate| candidate.seen.is_some_and(|seen| seen.slow);
        candidates.sort_by_key(|candidate| {
            (is_slow(candidate), !candidate.is_known(), std::cmp::Reverse(candidate.stamp.modified))
        });
        let mut reader = self.reader();
        let mut readings = Vec::new();
        for candidate in candidates {
            // However little time there is, every look gets a little further.
            let no_more = self.deadline.is_half_over() || reader.read > budget::LOOK;
            if survey.opened && no_more {
                survey.cut_short = true;
                self.put_off(candidate, Reason::Late, &mut survey);
                continue;
            }
            survey.opened = true;
            match reader.read(&candidate) {
                Ok(Ok(new)) => readings.push((candidate, new)),
                Ok(Err(reason)) => self.leave(&candidate, reason, &mut survey),
                Err(error) if error.kind() == io::ErrorKind::NotFound => self.miss(candidate, &mut survey),
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                    survey.cut_short = true;
                    let seen = candidate.seen.cloned().unwrap_or_else(Seen::untouched);
                    survey.remembered.push((candidate.key.clone(), Seen { slow: true, ..seen }));
                    self.note_candidate(&candidate, Reason::Late, &mut survey);
                }
                Err(error) => {
                    survey.bad.push(Unreadable { path: candidate.session.path.clone(), error });
                    self.put_off(candidate, Reason::Unreadable, &mut survey);
                }
            }
        }
        self.digest(readings, &mut survey);
        survey.news.sort_by_key(|news| std::cmp::Reverse(news.activity.time));
        // A file that was found under another path was noted as missing first.
        let found: HashSet<&String> = survey.forgotten.iter().collect();
        survey.remembered.retain(|(key, seen)| seen.absent.is_none() || !found.contains(key));
        survey
    }

    pub(super) fn reader(&self) -> Reader<'s> {
        Reader::new(self.env, self.settings, self.deadline, self.since(), self.project.clone())
    }

    /// What is to be read, and cannot be now, is not forgotten.
    fn put_off(&self, candidate: Candidate, reason: Reason, survey: &mut Survey<'f>) {
        self.note_candidate(&candidate, reason, survey);
        if candidate.seen.is_none() {
            survey.remembered.push((candidate.key, Seen::untouched()));
        }
    }

    /// What does not count here. Nobody opens it again before it changes or the observer moves.
    fn leave(&self, candidate: &Candidate<'_, 'f>, reason: Reason, survey: &mut Survey<'f>) {
        self.note_candidate(candidate, reason, survey);
        survey.examined.push(examined(&candidate.session.path, candidate.stamp));
        if candidate.seen.is_some() && !candidate.is_known() {
            survey.forgotten.push(candidate.key.clone());
        }
    }

    /// A file that was there a moment ago.
    fn miss(&self, candidate: Candidate, survey: &mut Survey<'f>) {
        if let Some(seen) = candidate.seen.filter(|_| candidate.moved_from.is_none()) {
            self.missing(&candidate.key, seen, survey);
        }
    }

    /// What could not be read besides the sessions that were looked at.
    pub fn unreadable(&self) -> Ref<'_, Vec<Unreadable>> {
        self.unreadable.borrow()
    }

    pub fn project_dir(&self) -> &Path {
        self.project.dir()
    }

    /// The moment before which nothing was ever news.
    pub fn since(&self) -> Time {
        let first = Time(self.env.now().0.saturating_sub(self.settings.first_look));
        // If the clock was set back, the first look is still to come.
        self.view.look.as_ref().map_or(first, |look| look.since.min(first))
    }

    /// What is remembered of this look.
    pub fn look(&self) -> Look {
        let id = self.observer.home.is_some().then(|| self.observer.id.clone());
        Look { place: self.place, id, ..Look::new(self.since(), self.env.file_clock() / 1000) }
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
    pub(super) fn note_candidate(&self, candidate: &Candidate, reason: Reason, survey: &mut Survey<'f>) {
        if !candidate.subagent || reason == Reason::News {
            self.note(survey, &candidate.session, candidate.stamp, reason);
        }
    }

    pub(super) fn key(&self, session: &Session) -> String {
        session.name.clone().unwrap_or_else(|| session.path.to_string_lossy().into_owned())
    }

    /// What the readings amount to. What was copied from another session is that session's.
    fn digest(&self, mut readings: Vec<(Candidate<'s, 'f>, New)>, survey: &mut Survey<'f>) {
        if readings.iter().all(|(_, new)| new.part.entries.is_empty()) {
            return readings.into_iter().for_each(|(candidate, new)| self.pass(candidate, new, survey));
        }
        // In another file, only what has an id is surely a copy.
        let in_other_files = |entry: &Entry| entry.key.and_then(|_| fingerprint(entry));
        let mut told: HashSet<Id> = self.own().entries.iter().filter_map(in_other_files).collect();
        let ring = self.view.look.iter().flat_map(|look| &look.told).copied();
        let before: HashSet<u32> = ring.chain(self.view.sessions.values().filter_map(|seen| seen.print)).collect();
        // Whoever was there first wrote it: sessions that are known, then by age of the file.
        readings
            .sort_by_key(|(candidate, new)| (!candidate.is_known(), new.meta.created().ok(), candidate.stamp.modified));
        let mut subagents = Vec::new();
        for (candidate, mut new) in readings {
            let entries = &mut new.part.entries;
            // Where reading went on, only new lines were read. Else everything up to what was told last is old.
            if !new.resumed || candidate.seen.is_none_or(|seen| seen.unread) {
                let known = candidate.is_known();
                let print = |entry: &Entry| if known { fingerprint(entry) } else { in_other_files(entry) };
                let was_told = |entry: &Entry| print(entry).is_some_and(|print| before.contains(&print.short()));
                let old = entries.iter().rposition(was_told).map_or(0, |place| place + 1);
                entries.drain(..old);
            }
            entries.retain(|entry| in_other_files(entry).is_none_or(|print| !told.contains(&print)));
            told.extend(entries.iter().filter_map(in_other_files));
            match Activity::of(entries, new.part.ending) {
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

    /// A file that is the same under another path is not missing.
    fn forget_old_path(&self, candidate: &Candidate, new: &New, survey: &mut Survey<'f>) {
        if let Some(old) = candidate.moved_from.filter(|_| new.resumed) {
            survey.forgotten.push(old.to_owned());
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
        self.forget_old_path(&candidate, &new, survey);
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
            let other = find::at(self.formats, self.env, Path::new(key));
            key.contains(short) && other.is_some_and(|other| is_parent(&other, session))
        };
        session.name.clone().or_else(|| self.view.sessions.keys().find(|key| is_it(key)).cloned())
    }

    fn report(&self, candidate: Candidate<'s, 'f>, new: New, mut activity: Activity, survey: &mut Survey<'f>) {
        self.forget_old_path(&candidate, &new, survey);
        let New { part, before, mut after, .. } = new;
        self.note(survey, &candidate.session, candidate.stamp, Reason::News);
        let before = Seen { path: candidate.path(), ..before };
        after.path = candidate.path();
        after.print = part.entries.iter().rev().find_map(fingerprint).map(Id::short);
        let cwd = after.cwd.as_deref().map_or(&*self.env.cwd, Path::new);
        let mut edited = Vec::new();
        add_edits(std::mem::take(&mut activity.edited), cwd, &mut activity, &mut edited);
        let said = part.entries.iter().filter(|entry| matches!(entry.what, What::Text(_)));
        let prints = said.filter_map(fingerprint).map(Id::short).collect();
        let Candidate { key, session, .. } = candidate;
        let parts = vec![(key.clone(), before.clone(), after.clone())];
        survey.news.push(News { key, session, activity, before, after, edited, parts, prints });
    }

    fn pass(&self, candidate: Candidate<'s, 'f>, new: New, survey: &mut Survey<'f>) {
        self.forget_old_path(&candidate, &new, survey);
        if !candidate.is_known() || (candidate.moved_from.is_some() && !new.resumed) {
            return self.leave(&candidate, Reason::NothingSaid, survey);
        }
        self.note_candidate(&candidate, Reason::NothingSaid, survey);
        let path = candidate.path();
        survey.remembered.push((candidate.key, Seen { path, ..new.after }));
    }

    /// As much of a session's id as tells it from all others. They are all looked at once, however many are asked for.
    pub fn short_id<'i>(&self, session: &'i Session) -> &'i str {
        let all =
            self.ids.get_or_init(|| Shortener::of_files(self.formats, self.env, &mut self.unreadable.borrow_mut()));
        all.short(&session.id)
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
