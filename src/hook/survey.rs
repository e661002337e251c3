//! Which other sessions have something new, and what.
//!
//! Every transcript there is is looked at by its stamp alone; only those that were written since are opened. A session
//! that was seen before is read from where it was seen to; one that was not, from a bounded tail, and there only what is
//! later than the observer's first look, less an hour, is news.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::Observer;
use crate::budget::{self, Deadline};
use crate::cursor::{Buffer, Cursor, newest_lines};
use crate::digest::Activity;
use crate::entry::{Act, Entry, Id, What};
use crate::env::Env;
use crate::format::Known;
use crate::locate::{self, Project, Session, Stamp, Unreadable};
use crate::render::secrets::redact;
use crate::settings::{Scope, Settings};
use crate::state::cursors::{Seen, View};
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
    /// The end of the observer's own transcript, once it was needed.
    own: OnceCell<Part>,
    project: OnceCell<Project>,
}

/// What it found.
#[derive(Debug, Default)]
pub struct Survey<'f> {
    /// The sessions with news, newest first.
    pub news: Vec<News<'f>>,
    /// Sessions that went on without news, as they are seen now.
    pub passed: Vec<(String, Seen)>,
    /// Keys of sessions that are gone.
    pub gone: Vec<String>,
    /// A file was opened: what is known of it has changed, or the clock has to move on.
    pub examined: bool,
    /// The deadline came first.
    pub cut_short: bool,
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
    /// Not everything new was read.
    pub more: bool,
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

/// A session whose file was written since it was seen.
struct Candidate<'f> {
    key: String,
    session: Session<'f>,
    stamp: Stamp,
    named: bool,
}

/// What was read of a candidate.
struct Reading<'f> {
    candidate: Candidate<'f>,
    part: Part,
    before: Seen,
    after: Seen,
    more: bool,
}

const MICRO: i64 = 1000;
/// Files are stamped by a clock that may lag a little behind.
const LAG: i64 = 2_000_000_000;

impl<'s, 'f> Surveyor<'s, 'f> {
    pub fn new(
        env: &'s Env,
        settings: &'s Settings,
        formats: &'f [Known],
        observer: &'s Observer<'f>,
        view: &'s View,
        deadline: &'s Deadline,
    ) -> Surveyor<'s, 'f> {
        Surveyor {
            env,
            settings,
            formats,
            observer,
            view,
            deadline,
            explain: false,
            own: OnceCell::new(),
            project: OnceCell::new(),
        }
    }

    pub fn survey(&self) -> Survey<'f> {
        let mut survey = Survey::default();
        let mut candidates = match &self.observer.home {
            Some(_) => self.named(&mut survey),
            None => self.found(&mut survey),
        };
        // The newest first: they are what matters if time runs out.
        candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.stamp.modified));
        let mut readings = Vec::new();
        let mut buffer = Buffer::default();
        let mut projects = HashMap::new();
        for candidate in candidates {
            if self.deadline.is_over() {
                survey.cut_short = true;
                self.note(&mut survey, &candidate.session, candidate.stamp, Reason::Late);
                continue;
            }
            survey.examined = true;
            match self.examine(&candidate, &mut buffer, &mut projects) {
                Ok(Ok((part, before, after, more))) => {
                    readings.push(Reading { candidate, part, before, after, more });
                }
                Ok(Err(reason)) => self.note(&mut survey, &candidate.session, candidate.stamp, reason),
                Err(error) if error.kind() == io::ErrorKind::NotFound => survey.gone.push(candidate.key),
                Err(error) => {
                    self.note(&mut survey, &candidate.session, candidate.stamp, Reason::Unreadable);
                    survey.bad.push(Unreadable { path: candidate.session.path, error });
                }
            }
        }
        self.digest(readings, &mut survey);
        survey.news.sort_by_key(|news| std::cmp::Reverse(news.activity.time));
        survey
    }

    /// The moment before which nothing was ever news.
    pub fn since(&self) -> Time {
        self.view
            .look
            .as_ref()
            .map_or(Time(self.env.now().0.saturating_sub(self.settings.first_look)), |look| look.since)
    }

    /// Files that were not written since then have nothing new; by the clock that stamps files.
    fn horizon(&self) -> i64 {
        match &self.view.look {
            Some(look) if look.place == self.place() => look.clock.saturating_mul(MICRO).saturating_sub(LAG),
            Some(look) => {
                let window = self.env.now().0.saturating_sub(look.since.0);
                self.env.file_clock().saturating_sub(window.saturating_mul(MICRO * MICRO)).saturating_sub(LAG)
            }
            None => self.env.file_clock().saturating_sub(self.settings.first_look.saturating_mul(MICRO * MICRO)),
        }
    }

    /// Where the observer is, in a number.
    pub fn place(&self) -> u32 {
        let parts = [&self.env.home, &self.env.cwd].map(|path| path.as_os_str().as_encoded_bytes());
        let scope = [self.settings.scope as u8];
        Id::of(&[parts[0], b"\0", parts[1], &scope].concat()).short()
    }

    /// What the clock is now, for the next look.
    pub fn clock(&self) -> i64 {
        self.env.file_clock() / MICRO
    }

    fn note(&self, survey: &mut Survey<'f>, session: &Session<'f>, stamp: Stamp, reason: Reason) {
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
    fn named(&self, survey: &mut Survey<'f>) -> Vec<Candidate<'f>> {
        let Some(home) = &self.observer.home else { return Vec::new() };
        let horizon = self.horizon();
        let mut candidates = Vec::new();
        let names = home.names();
        survey.gone.extend(self.view.sessions.keys().filter(|key| !names.contains(key)).cloned());
        for name in names {
            let Some(session) = home.session(&name, self.formats, self.env) else { continue };
            let Ok(stamp) = std::fs::metadata(&session.path).map(|meta| Stamp::from(&meta)) else { continue };
            let reason = if locate::Home::is_throw_away(&name) {
                Some(Reason::ThrowAway)
            } else if self.observer.is(&session) {
                Some(Reason::Own)
            } else {
                self.idle(self.view.sessions.get(&name), stamp, horizon)
            };
            match reason {
                Some(reason) => self.note(survey, &session, stamp, reason),
                None => candidates.push(Candidate { key: name, session, stamp, named: true }),
            }
        }
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

    /// The sessions of the machine that were written since.
    fn found(&self, survey: &mut Survey<'f>) -> Vec<Candidate<'f>> {
        let horizon = self.horizon();
        let mut candidates = Vec::new();
        let mut known: HashSet<u64> = HashSet::with_capacity(self.view.sessions.len());
        for (key, seen) in &self.view.sessions {
            let path = Path::new(key);
            let Ok(meta) = std::fs::metadata(path) else {
                survey.gone.push(key.clone());
                continue;
            };
            let stamp = Stamp::from(&meta);
            known.insert(stamp.inode);
            let reason = self.idle(Some(seen), stamp, horizon);
            if reason.is_some() && !self.explain {
                continue;
            }
            let Some(session) = locate::at(self.formats, self.env, path) else {
                survey.gone.push(key.clone());
                continue;
            };
            match reason {
                Some(reason) => self.note(survey, &session, stamp, reason),
                None => candidates.push(Candidate { key: key.clone(), session, stamp, named: false }),
            }
        }
        let mut bad = Vec::new();
        let (mut count, mut late) = (0u32, false);
        locate::each(self.formats, self.env, &mut bad, &mut |file| {
            // Asking for the time is cheap, but not for each of thousands.
            count += 1;
            late = late || count % 256 == 0 && self.deadline.is_over();
            if late || known.contains(&file.inode()) {
                return;
            }
            let Some(stamp) = file.stamp() else { return };
            let old = stamp.modified < horizon;
            if old && !self.explain {
                return;
            }
            let session = file.session(Some(stamp));
            if old {
                return self.note(survey, &session, stamp, Reason::Old);
            }
            if self.observer.is(&session) {
                return self.note(survey, &session, stamp, Reason::Own);
            }
            // A file that two patterns, or two links, lead to is one.
            if known.insert(stamp.inode) {
                candidates.push(Candidate { key: self.key(&session), session, stamp, named: false });
            }
        });
        survey.bad.extend(bad);
        survey.cut_short = late;
        candidates
    }

    /// Reads what is new in a file: what it says, where reading began and ended, and whether there was more.
    #[allow(clippy::type_complexity, reason = "it is taken apart at once")]
    fn examine(
        &self,
        candidate: &Candidate<'f>,
        buffer: &mut Buffer,
        projects: &mut HashMap<String, bool>,
    ) -> io::Result<Result<(Part, Seen, Seen, bool), Reason>> {
        let session = &candidate.session;
        let transcript = Transcript::open(&session.path, session.format.format())?;
        let seen = self.view.sessions.get(&candidate.key);
        let size = transcript.meta.len();
        let mut more = false;
        let mut cwd = seen.and_then(|seen| seen.cwd.clone());
        let mut before = match seen {
            Some(seen) if holds(seen, &transcript) => seen.clone(),
            // Truncated or replaced: what it says may have been told before.
            Some(seen) => {
                let after = seen.seen.map_or(self.since(), |seen| Time(seen.0.saturating_add(1)));
                Seen { after: Some(after), ..Seen::default() }
            }
            None => {
                let beginning = transcript.beginning();
                if beginning.subagent {
                    return Ok(Err(Reason::Subagent));
                }
                cwd = beginning.cwd;
                let offset = newest_lines(&transcript.file, size, budget::FIRST_LOOK)?;
                more = offset > 0;
                Seen { offset, after: Some(self.since()), ..Seen::default() }
            }
        };
        if size - before.offset.min(size) > budget::NEWS {
            before.offset = newest_lines(&transcript.file, size, budget::NEWS)?.max(before.offset);
            more = true;
        }
        let mut part = transcript.part(before.offset, buffer)?;
        if cwd.is_none()
            && let Some(root) = session.root
        {
            cwd = locate::beside(root, &session.path).cwd;
        }
        let cwds: Vec<&str> = cwd.iter().chain(&part.cwds).map(String::as_str).collect();
        if cwds.iter().any(|cwd| self.settings.ignores(Path::new(cwd))) {
            return Ok(Err(Reason::Ignored));
        }
        let known = candidate.named || seen.is_some() || self.settings.scope == Scope::Machine;
        if !known && !cwds.iter().any(|cwd| self.is_here(cwd, projects)) {
            return Ok(Err(Reason::Elsewhere));
        }
        if let Some(after) = before.after {
            more &= !drop_old(&mut part.entries, after, Time(candidate.stamp.modified / (MICRO * MICRO)));
        }
        before = before.clone().at(Cursor::at(&transcript.file, before.offset)?);
        before.cwd = cwd.clone();
        before.title = seen.and_then(|seen| seen.title.clone());
        let person = part.person_title.take().or_else(|| indexed_title(session, self.env));
        let title = person.or_else(|| before.title.clone()).or(part.agent_title.take());
        let after = Seen {
            // An unfinished line is no reason to look again; whatever follows it is.
            stamp: Some(Stamp::from(&transcript.meta).into()),
            seen: Some(self.env.now()),
            last: before.last.clone(),
            // It is kept in a file: not with a secret in it.
            title: title.map(|title| redact(title.trim()).into_owned()).filter(|title| !title.is_empty()),
            cwd: part.cwds.last().cloned().or(cwd),
            ..Seen::default()
        };
        let after = after.at(Cursor::at(&transcript.file, part.end)?);
        Ok(Ok((part, before, after, more)))
    }

    fn is_here(&self, cwd: &str, projects: &mut HashMap<String, bool>) -> bool {
        let own = || self.project.get_or_init(|| Project::of(&self.env.cwd));
        *projects.entry(cwd.to_owned()).or_insert_with(|| Project::of(Path::new(cwd)) == *own())
    }

    /// What the readings amount to. What was copied from another session is that session's.
    fn digest(&self, mut readings: Vec<Reading<'f>>, survey: &mut Survey<'f>) {
        if readings.iter().all(|reading| reading.part.entries.is_empty()) {
            return self.pass(readings, survey);
        }
        let mut told: HashSet<Id> = self.own().entries.iter().filter_map(print).collect();
        let before: HashSet<u32> = self.view.look.iter().flat_map(|look| &look.told).copied().collect();
        // Whoever was there first wrote it: sessions that are known, then by age of the file.
        readings.sort_by_key(|reading| {
            let known = self.view.sessions.contains_key(&reading.candidate.key);
            let born = std::fs::metadata(&reading.candidate.session.path).and_then(|meta| meta.created()).ok();
            (!known, born, reading.candidate.stamp.modified)
        });
        for mut reading in readings {
            let entries = &mut reading.part.entries;
            // Of one that has been told, only new lines were read.
            if self.view.sessions.get(&reading.candidate.key).is_none_or(|seen| seen.unread) {
                let copied = |entry: &Entry| print(entry).is_some_and(|print| before.contains(&print.short()));
                let copied = entries.iter().rposition(copied).map_or(0, |place| place + 1);
                entries.drain(..copied);
            }
            entries.retain(|entry| print(entry).is_none_or(|print| !told.contains(&print)));
            told.extend(entries.iter().filter_map(print));
            match Activity::of(entries, &reading.before.last) {
                Some(activity) => self.report(reading, activity, survey),
                None => self.pass(vec![reading], survey),
            }
        }
    }

    fn report(&self, reading: Reading<'f>, activity: Activity, survey: &mut Survey<'f>) {
        let Reading { candidate, part, before, mut after, more } = reading;
        self.note(survey, &candidate.session, candidate.stamp, Reason::News);
        after.last = activity.last.clone();
        let cwd = after.cwd.as_deref().map_or(&*self.env.cwd, Path::new);
        let edited = activity.edited.iter().map(|(path, time)| (absolute(cwd, path), *time)).collect();
        let before = Seen { unread: true, ..before };
        let said = part.entries.iter().filter(|entry| matches!(entry.what, What::Text(_)));
        let prints = said.filter_map(print).map(Id::short).collect();
        survey.news.push(News {
            key: candidate.key,
            session: candidate.session,
            activity,
            more,
            before,
            after,
            edited,
            prints,
        });
    }

    fn pass(&self, readings: Vec<Reading<'f>>, survey: &mut Survey<'f>) {
        for Reading { candidate, after, .. } in readings {
            self.note(survey, &candidate.session, candidate.stamp, Reason::NothingSaid);
            if self.view.sessions.contains_key(&candidate.key) {
                survey.passed.push((candidate.key, after));
            }
        }
    }

    /// The end of the observer's own transcript.
    pub fn own(&self) -> &Part {
        let read = |path: &Path| {
            let transcript = Transcript::open(path, self.observer.format.format())?;
            let start = newest_lines(&transcript.file, transcript.meta.len(), budget::OWN)?;
            transcript.part(start, &mut Buffer::default())
        };
        let path = || self.observer.transcript.clone().or_else(|| self.find(&self.observer.id));
        // Without it, only a conflict may go untold.
        self.own.get_or_init(|| path().and_then(|path| read(&path).ok()).unwrap_or_default())
    }

    /// The transcript of the observer's agent that has an id in its name.
    fn find(&self, id: &str) -> Option<PathBuf> {
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

/// Whether a file still is what it was when it was seen.
fn holds(seen: &Seen, transcript: &Transcript) -> bool {
    match seen.mark {
        Some(mark) => Cursor { offset: seen.offset, mark }.holds(&transcript.file),
        // Written by another hand: at least it must stand after a line.
        None => {
            let mut byte = [0];
            let before = seen.offset.checked_sub(1);
            seen.offset <= transcript.meta.len()
                && before.is_none_or(|at| transcript.file.read_exact_at(&mut byte, at).is_ok() && byte[0] == b'\n')
        }
    }
}

/// Leaves out what is older; says whether there was any. What has no time has that of what came before it.
fn drop_old(entries: &mut Vec<Entry>, after: Time, otherwise: Time) -> bool {
    let count = entries.len();
    let mut time = None;
    entries.retain(|entry| {
        time = entry.time.or(time);
        time.unwrap_or(otherwise) >= after
    });
    entries.len() < count
}

/// The title that a file next to the transcript, or an index, gives it.
fn indexed_title(session: &Session, env: &Env) -> Option<String> {
    let root = session.root?;
    let aside = locate::beside(root, &session.path);
    let beside = aside.title.filter(|_| aside.by_person);
    beside.or_else(|| root.titles.as_ref().and_then(|_| locate::titles(root, env).remove(&session.id)))
}

/// A path as it is from the root, without `.` and `..`.
fn absolute(cwd: &Path, path: &str) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in cwd.join(path).components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                whole.pop();
            }
            part => whole.push(part),
        }
    }
    whole
}
