//! Which other sessions have something new, and what.
//!
//! The stamp of a transcript says whether it changed since the last look. Only those that did are opened, newest first,
//! until the deadline. At least one is read in every look. What could not be read stays to be read, what is
//! missing is kept for days, and an error is said and forgets nothing.
//!
//! A session that was seen before is read from where it was seen to; one that was not, from a bounded tail, and there only
//! what is later than the observer's first look, less an hour, is news.

use std::cell::{OnceCell, Ref, RefCell};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::Observer;
use super::candidates::{Ids, examined};
use super::news::{Candidate, New, Reader, Reason};
use crate::boundary::substr;
use crate::budget::{self, Deadline};
use crate::cursor::Buffer;
use crate::entry::{Entry, Id, Ids as IdSet, Position, What};
use crate::env::Env;
use crate::file::{Stamp, Unreadable};
use crate::fold::{Activity, OpenEnd};
use crate::format::Known;
use crate::hash::{HashMap, HashSet};
use crate::path::absolute;
use crate::read::Part;
use crate::read::once::fingerprint;
use crate::read::tail::StartAt;
use crate::session::ids::Shortener;
use crate::session::{Session, find};
use crate::settings::Settings;
use crate::state::cursors::{Judged, Look, Seen, View, Walk};
use crate::state::lazy_seen::LazySeen;
use crate::time::{HOUR, Time};

/// Everything that a survey depends on.
pub struct Surveyor<'s, 'f> {
    pub env: &'s Env,
    pub settings: &'s Settings,
    pub formats: &'f [Known],
    pub observer: &'s Observer<'f>,
    pub view: &'s View,
    pub deadline: &'s Deadline,
    /// Keep note of every session, not only of those with news.
    pub explain: bool,
    /// Where to go on with other projects' directories. Without it, every look gets to all of them.
    pub position: Option<u64>,
    /// Hash of home, scope and project; a change means that the observer moved.
    pub(super) scope: u32,
    /// Files that had no news at the last look, by path and stamp.
    pub(super) examined: HashSet<u64>,
    pub(super) cache: Cache<'f>,
}

/// What is found out at most once, when it is needed.
#[derive(Default)]
pub(super) struct Cache<'f> {
    /// The observer as a session, and the end of its transcript.
    pub own_session: OnceCell<Option<Session<'f>>>,
    pub own: OnceCell<Part>,
    /// Whether that may have anything in common with the news; what is taken for it if not.
    pub overlaps: OnceCell<bool>,
    pub nothing: Part,
    /// The ids of all sessions, from a walk over their files.
    pub ids: OnceCell<Ids>,
    shortener: OnceCell<Shortener>,
    /// For reading the observer's own transcripts.
    pub buffer: RefCell<Buffer>,
    /// What could not be read on the way.
    pub unreadable: RefCell<Vec<Unreadable>>,
}

/// What a survey found.
#[derive(Debug, Default)]
pub struct Survey<'f> {
    /// The sessions with news, newest first.
    pub news: Vec<News<'f>>,
    /// Sessions without news, as they are to be remembered: seen so far, still to be read, or missing.
    pub remembered: Vec<(String, Seen)>,
    /// Keys of sessions that are not to be remembered any more.
    pub forgotten: Vec<String>,
    /// Files that had no news, by path and stamp. They are not opened again before one of the two changes.
    pub examined: Vec<u64>,
    /// A file was opened: what is known of it has changed, or the clock has to move on.
    pub opened: bool,
    /// The deadline came first: not every file was read, or even found.
    pub cut_short: bool,
    /// How far the walk over all files got before the deadline cut it short.
    pub walk: Option<Walk>,
    /// There are directories that were not gone into, and the round over them goes on.
    pub is_partial: bool,
    /// As in [`Look`]: which directories are other projects', and since when there may be news in them.
    pub judged: Vec<Judged>,
    pub round: Option<(Time, Time)>,
    /// Where the next look goes on with them.
    pub position: Option<u64>,
    /// More is known about directories than before, or the clock has to move on.
    pub moved_on: bool,
    /// Files of this project, or what may be, that have nothing to tell yet.
    pub quiet: Vec<PathBuf>,
    /// What was written before then was found, by the clock that files are stamped by.
    pub seen_until: Time,
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
    pub open_end: Option<OpenEnd>,
    /// There was more than could be read.
    pub more: bool,
    pub title: Option<String>,
    /// Where it began, and where it is.
    pub cwd: Option<String>,
    pub last_cwd: Option<String>,
    /// The files that it and its subagents edited, in full.
    pub edited: Vec<(PathBuf, Option<Time>)>,
    /// All that was read for it, its own transcript and those of its subagents: what each is called among the cursors,
    /// and where the reading began and ended. They count as seen together or not at all.
    pub parts: Vec<(String, Seen, Seen)>,
    /// Fingerprints of what was said.
    pub fingerprints: Vec<u32>,
}

/// Why a session is told, or is not.
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

/// Of so many sessions whose directory is away, the newest, it is asked at each look whether it is back.
const MOST_AWAY: usize = 16;

impl<'s, 'f> Surveyor<'s, 'f> {
    pub fn new(
        env: &'s Env,
        settings: &'s Settings,
        formats: &'f [Known],
        observer: &'s Observer<'f>,
        view: &'s View,
        deadline: &'s Deadline,
    ) -> Surveyor<'s, 'f> {
        let home = env.home.as_os_str().as_encoded_bytes();
        let scope = Id::of(&[home, &[0, settings.scope as u8], observer.project.as_bytes()].concat()).short();
        let last = view.look.as_ref().filter(|look| look.scope == scope);
        let examined = last.map(|look| look.examined.iter().copied().collect()).unwrap_or_default();
        let (explain, position, cache) = (false, None, Cache::default());
        Surveyor { env, settings, formats, observer, view, deadline, explain, position, scope, examined, cache }
    }

    pub fn survey(&self) -> Survey<'f> {
        let mut survey = Survey::default();
        let (mut candidates, round) = self.candidates(&mut survey);
        // What is known and what is newest first: that is what matters if time runs out. A session may have very many
        // subagents, which must not hide what it says itself.
        let is_slow = |candidate: &Candidate| candidate.seen.is_some_and(|seen| seen.slow);
        candidates.sort_by_key(|candidate| {
            (is_slow(candidate), candidate.subagent, !candidate.is_known(), std::cmp::Reverse(candidate.stamp.modified))
        });
        let mut reader = self.reader();
        let (mut readings, mut away) = (Vec::new(), 0);
        for candidate in candidates {
            // However little time there is, every look gets a little further.
            let no_more = reader.reading.is_over() || reader.read > budget::LOOK;
            if survey.opened && no_more {
                survey.cut_short = true;
                self.put_off(candidate, Reason::Late, &mut survey);
                continue;
            }
            survey.opened = true;
            match reader.read(&candidate) {
                Ok(Ok(new)) => readings.push((candidate, new)),
                // It may be this project's when its directory is back.
                Ok(Err(Reason::Away)) if away < MOST_AWAY && self.is_recent(&candidate) => {
                    away += 1;
                    self.put_off(candidate, Reason::Away, &mut survey);
                }
                Ok(Err(reason)) => self.leave(&candidate, reason, &mut survey),
                Err(error) if error.kind() == io::ErrorKind::NotFound => self.miss(candidate, &mut survey),
                Err(error) if Deadline::is_late(&error) => {
                    survey.cut_short = true;
                    let seen = candidate.seen.cloned().unwrap_or_else(Seen::untouched);
                    // Only what was read is known to be the same file under another key.
                    let key = candidate.moved_from.unwrap_or(&candidate.key).to_owned();
                    survey.remembered.push((key, Seen { slow: true, ..seen }));
                    self.note_candidate(&candidate, Reason::Late, &mut survey);
                }
                Err(error) => {
                    survey.bad.push(Unreadable { path: candidate.session.path.to_path_buf(), error });
                    self.put_off(candidate, Reason::Unreadable, &mut survey);
                }
            }
        }
        survey.bad.append(&mut reader.titles.bad);
        // What was read into is there already.
        self.cache.buffer.replace(std::mem::take(&mut reader.buffer));
        self.digest(readings, &mut survey);
        round.into_iter().for_each(|round| round.close(&mut reader, self, &mut survey));
        survey.news.sort_by_key(|news| std::cmp::Reverse(news.activity.time));
        // A file that was found under another path was noted as missing first.
        let found: HashSet<&String> = survey.forgotten.iter().collect();
        survey.remembered.retain(|(key, seen)| seen.absent.is_none() || !found.contains(key));
        survey
    }

    pub(super) fn reader(&self) -> Reader<'s> {
        Reader::new(self.env, self.settings, self.deadline, self.since(), self.observer.project.clone())
    }

    /// Remembers a file that has to be read, and cannot be now.
    fn put_off(&self, candidate: Candidate, reason: Reason, survey: &mut Survey<'f>) {
        self.note_candidate(&candidate, reason, survey);
        if candidate.seen.is_none() {
            survey.remembered.push((candidate.key, Seen::untouched()));
        }
    }

    /// Whether a file was written to lately. For what was not, nobody waits.
    fn is_recent(&self, candidate: &Candidate) -> bool {
        self.file_time().0.saturating_sub(candidate.stamp.modified_at().0) < HOUR
    }

    /// Leaves out a file that does not count here. It is not opened again before it changes or the observer moves.
    fn leave(&self, candidate: &Candidate<'_, 'f>, reason: Reason, survey: &mut Survey<'f>) {
        self.note_candidate(candidate, reason, survey);
        survey.examined.push(examined(&candidate.session.path, candidate.stamp));
        survey.quiet.extend(
            (!matches!(reason, Reason::Elsewhere | Reason::Away)).then(|| candidate.session.path.to_path_buf()),
        );
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
        self.cache.unreadable.borrow()
    }

    pub fn project_dir(&self) -> &Path {
        self.observer.project.dir()
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
        Look { scope: self.scope, id, ..Look::new(self.since()) }
    }

    fn note(&self, survey: &mut Survey<'f>, session: &Session<'_>, stamp: Stamp, reason: Reason) {
        if self.explain {
            let key = key(session);
            survey.why.push(Why {
                path: session.path.to_path_buf(),
                agent: session.format.name.clone(),
                handle: session.name.clone().unwrap_or_else(|| session.id.to_string()),
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

    /// What the readings amount to. What was copied from another session is that session's.
    fn digest(&self, mut readings: Vec<(Candidate<'s, 'f>, New)>, survey: &mut Survey<'f>) {
        if readings.iter().all(|(_, new)| new.part.entries.is_empty()) {
            return readings.into_iter().for_each(|(candidate, new)| self.pass(candidate, new, survey));
        }
        self.compare(&readings);
        // In another file, only what has an id is surely a copy.
        let in_other_files = |entry: &Entry| entry.key.and_then(|_| fingerprint(entry));
        let mut claimed: IdSet = self.own_for_news().entries.iter().filter_map(in_other_files).collect();
        let ring = self.view.look.iter().flat_map(|look| look.fingerprints.numbers());
        let reported = ring.chain(self.view.sessions.values().filter_map(LazySeen::fingerprint));
        let reported: IdSet = reported.map(|short| Id(short.into())).collect();
        // Whoever was there first wrote it: sessions that are known, then by age of the file.
        readings.sort_by_key(|(candidate, new)| (!candidate.is_known(), new.created, candidate.stamp.modified));
        let mut subagents = Vec::new();
        for (candidate, mut new) in readings {
            let entries = &mut new.part.entries;
            // Where reading went on, only new lines were read. Else everything up to what was told last is old. So it is in
            // a file that was once rewritten: what it said before may come back bit by bit.
            let may_repeat = |seen: &Seen| seen.unread || seen.after.is_some();
            if !matches!(new.start, StartAt::Resume(_)) || candidate.seen.is_none_or(may_repeat) {
                let known = candidate.is_known();
                let fingerprint = if known { fingerprint } else { in_other_files };
                let was_reported =
                    |entry: &Entry| fingerprint(entry).is_some_and(|id| reported.contains(&Id(id.short().into())));
                let old = entries.iter().rposition(was_reported).map_or(0, |last| last + 1);
                entries.drain(..old);
            }
            entries.retain(|entry| in_other_files(entry).is_none_or(|id| !claimed.contains(&id)));
            claimed.extend(entries.iter().filter_map(in_other_files));
            match Activity::of(entries, new.part.ending) {
                Some(activity) if !candidate.subagent => self.report(candidate, new, activity, survey),
                // Of all that a subagent does, its edits count, and what it does to the repository.
                Some(activity) if !activity.edited.is_empty() || !activity.git.is_empty() => {
                    subagents.push((candidate, new, activity));
                }
                _ => self.pass(candidate, new, survey),
            }
        }
        for (candidate, new, activity) in subagents {
            self.credit(candidate, new, activity, survey);
        }
    }

    /// What a subagent edited, its session edited, whether that has other news or none.
    fn credit(&self, candidate: Candidate<'s, 'f>, new: New, done: Activity, survey: &mut Survey<'f>) {
        forget_old_path(&candidate, &new, survey);
        let (edited, git) = (done.edited, done.git);
        let last_cwd = new.part.basics.cwd().map(str::to_owned);
        let New { before, after, .. } = new;
        let parent = survey.news.iter().position(|news| is_parent(&news.session, &candidate.session));
        let index = parent.unwrap_or_else(|| {
            self.note_candidate(&candidate, Reason::News, survey);
            let (key, session) = (self.parent_key(&candidate.session), candidate.session.clone());
            let known = key.as_ref().and_then(|key| self.view.sessions.get(key));
            survey.news.push(News {
                title: known.and_then(|seen| seen.title.clone()),
                key: key.unwrap_or_else(|| candidate.key.clone()),
                session,
                activity: Activity::default(),
                open_end: None,
                more: before.more,
                cwd: after.cwd.clone(),
                last_cwd,
                edited: vec![],
                parts: vec![],
                fingerprints: vec![],
            });
            survey.news.len() - 1
        });
        let news = &mut survey.news[index];
        let times = edited.iter().map(|(_, time)| *time).chain(git.iter().map(|(_, time)| *time));
        news.activity.time = times.max().flatten().max(news.activity.time);
        news.activity.git.extend(git);
        let cwd = after.cwd.as_deref().map_or(&*self.env.cwd, Path::new);
        add_edits(edited, cwd, &mut news.activity, &mut news.edited);
        news.parts.push((candidate.key, before, after));
    }

    /// What the session of a subagent is called among the cursors, if it is there.
    fn parent_key(&self, session: &Session) -> Option<String> {
        let short = substr(&session.id, ..session.id.floor_char_boundary(8));
        let at = |key: &str| find::at(self.formats, self.env, Path::new(key));
        let is_it = |key: &str| key.contains(short) && at(key).is_some_and(|other| is_parent(&other, session));
        session.name.clone().or_else(|| self.view.sessions.keys().find(|key| is_it(key)).cloned())
    }

    fn report(&self, candidate: Candidate<'s, 'f>, new: New, mut activity: Activity, survey: &mut Survey<'f>) {
        forget_old_path(&candidate, &new, survey);
        let New { part, before, mut after, .. } = new;
        self.note(survey, &candidate.session, candidate.stamp, Reason::News);
        let before = Seen { path: candidate.path(), ..before };
        after.path = candidate.path();
        after.fingerprint = part.entries.iter().rev().find_map(fingerprint).map(Id::short).or(after.fingerprint);
        let cwd = after.cwd.as_deref().map_or(&*self.env.cwd, Path::new);
        let mut edited = Vec::new();
        add_edits(std::mem::take(&mut activity.edited), cwd, &mut activity, &mut edited);
        let said = part.entries.iter().filter(|entry| matches!(entry.what, What::Text(_)));
        let fingerprints = said.filter_map(fingerprint).map(Id::short).collect();
        let Candidate { key, session, .. } = candidate;
        let (more, title, cwd) = (before.more, after.title.clone(), after.cwd.clone());
        let parts = vec![(key.clone(), before, after)];
        let last_cwd = part.basics.cwd().map(str::to_owned).or_else(|| cwd.clone());
        let open_end = part.open_end;
        survey.news.push(News {
            key,
            session,
            activity,
            open_end,
            more,
            title,
            cwd,
            last_cwd,
            edited,
            parts,
            fingerprints,
        });
    }

    fn pass(&self, candidate: Candidate<'s, 'f>, new: New, survey: &mut Survey<'f>) {
        forget_old_path(&candidate, &new, survey);
        if !candidate.is_known() || new.start == StartAt::First {
            return self.leave(&candidate, Reason::NothingSaid, survey);
        }
        self.note_candidate(&candidate, Reason::NothingSaid, survey);
        let path = candidate.path();
        survey.remembered.push((candidate.key, Seen { path, ..new.after }));
    }

    /// As much of a session's id as tells it from all others; all of it if there was no time to look at the others.
    pub fn short_id<'i>(&self, session: &'i Session) -> &'i str {
        // Two patterns may reach one file.
        let all = || self.ids().all.lines().collect::<BTreeSet<_>>();
        let shortener = self.cache.shortener.get_or_init(|| Shortener::new(all().into_iter().map(str::to_owned)));
        if self.ids().all.is_empty() { &session.id } else { shortener.short(&session.id) }
    }
}

/// What a session is called among the cursors.
pub(super) fn key(session: &Session) -> String {
    session.name.clone().unwrap_or_else(|| session.path.to_string_lossy().into_owned())
}

/// A file that is the same under another path is not missing.
fn forget_old_path(candidate: &Candidate, new: &New, survey: &mut Survey) {
    if let Some(old) = candidate.moved_from.filter(|_| new.start != StartAt::First) {
        survey.forgotten.push(old.to_owned());
    }
}

/// Whether a session is the one that a subagent's transcript belongs to.
fn is_parent(session: &Session, subagent: &Session) -> bool {
    session.format.name == subagent.format.name && session.has_id(&subagent.id)
}

/// Adds files to those that were edited. A file is one, however its path is written.
fn add_edits(
    more: Vec<(String, Option<Time>)>,
    cwd: &Path,
    activity: &mut Activity,
    edited: &mut Vec<(PathBuf, Option<Time>)>,
) {
    // There may be very many subagents that edited one file each.
    let few = more.len() < 8;
    let known = |(at, (path, _)): (usize, &(PathBuf, Option<Time>))| (path.clone(), at);
    let mut index: HashMap<PathBuf, usize> =
        if few { HashMap::default() } else { edited.iter().enumerate().map(known).collect() };
    for (path, time) in more {
        let whole = absolute(cwd, &path);
        let is_it = |(path, _): &(PathBuf, Option<Time>)| path.as_os_str() == whole.as_os_str();
        let at = if few { edited.iter().position(is_it) } else { index.get(&whole).copied() };
        match at.map(|at| &mut edited[at]) {
            Some((_, last)) => *last = (*last).max(time),
            None => {
                index.insert(whole.clone(), edited.len());
                edited.push((whole, time));
                activity.edited.push((path, time));
            }
        }
    }
}
