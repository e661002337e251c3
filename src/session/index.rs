//! The sessions there are, with what is known about each: found by `find`, counted by [`Tally`], and remembered.
//!
//! Counting reads every transcript once. `list.json` keeps the tallies by the file's identity (device, inode, size,
//! modification time). To count a file on that grew, it takes what `Once` knows of it as well; that is long, so
//! `once.json` has it, for files that were written lately, and is read only if a file grew. Without either, a file is
//! counted anew with the same result.

use std::collections::{HashMap, HashSet};
use std::hash::Hasher;
use std::io;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::beside::TitleIndex;
use super::ids::Shortener;
use super::{Home, Members, Session, State, find};
use crate::cursor::{Buffer, Cursor};
use crate::env::Env;
use crate::file::{Stamp, Unreadable};
use crate::fold::Tally;
use crate::format::Known;
use crate::read::tail::{self, StartAt};
use crate::read::{Lines, Transcript};
use crate::state::{self, notes::Marks};
use crate::time::Time;

/// A session and what is known about it.
#[derive(Debug, Clone)]
pub struct Listed<'f> {
    pub session: Session<'f>,
    pub tally: Box<Tally>,
    /// It belongs to the project, or to the named home, that the command runs in.
    pub here: bool,
    /// What the user noted about it.
    pub done: bool,
    pub tags: Vec<String>,
    /// As much of its id as tells it from all others.
    pub(super) short_id: String,
}

impl Listed<'_> {
    /// What the user types to get at it: its name here, else the beginning of its id.
    pub fn handle(&self) -> &str {
        self.session.name.as_deref().unwrap_or(&self.short_id)
    }

    /// Its name in this home, and its title.
    pub(super) fn called(&self) -> impl Iterator<Item = &str> {
        self.session.name.as_deref().into_iter().chain(self.tally.title())
    }

    /// How long ago something happened in it: `now`, `3m`, `2d`.
    pub fn age(&self, now: Time) -> String {
        self.tally.updated.map_or_else(|| "?".into(), |updated| updated.age(now).replace("just now", "now"))
    }

    pub fn has_tag(&self, name: &str) -> bool {
        self.tags.iter().any(|tag| tag.to_lowercase() == name.to_lowercase())
    }

    pub fn state(&self, now: Time) -> State {
        State::of(self.tally.ending(), self.tally.updated, self.done, now)
    }
}

/// What is kept about files in the cache.
#[derive(Serialize, Deserialize)]
struct Kept<F> {
    /// Another version counts differently: start anew.
    version: String,
    files: F,
}

#[derive(Clone, Serialize, Deserialize)]
struct Cached {
    path: String,
    stamp: Stamp,
    format: String,
    /// In a box, here and in [`Listed`], because it is large and moved around.
    tally: Box<Tally>,
    cursor: Cursor,
    /// What it takes to count on from there; kept apart, because it is long.
    #[serde(skip)]
    once: Option<Box<RawValue>>,
}

/// How long a file is expected to grow after it was written; in nanoseconds, like the other.
const LATELY: i64 = 24 * 3600 * 1_000_000_000;
/// A file that was written just now may be written again without a newer stamp.
const JUST_NOW: i64 = 100_000_000;

/// What the cache of this build counts. The formats are part of it: another descriptor reads other entries.
pub fn version(formats: &[Known]) -> String {
    /// Raised whenever a tally counts something else.
    const COUNTS: u32 = 4;
    let mut hasher = std::hash::DefaultHasher::new();
    formats.iter().for_each(|format| hasher.write(format.text().as_bytes()));
    format!("{}-{COUNTS}-{:x}", env!("CARGO_PKG_VERSION"), hasher.finish())
}

/// All sessions on the machine that somebody said something in, the newest first. Files that cannot be read are named in
/// `bad` and left out.
pub fn list<'f>(env: &Env, formats: &'f [Known], bad: &mut Vec<Unreadable>) -> Vec<Listed<'f>> {
    let mut sessions = find::sessions(formats, env, true, bad);
    if let Some(home) = Unreadable::noted(Home::above(env), bad) {
        sessions.extend(home.sessions(formats, env, bad));
        find::in_order(&mut sessions);
    }
    let [list, once] = ["list.json", "once.json"].map(|name| env.cache_dir().join(name));
    let version = version(formats);
    let old: Vec<Cached> = kept(&list, &version);
    let (counted, changed) = count(&sessions, old, || kept(&once, &version), env.file_clock(), bad);
    if changed {
        let files: Vec<&Cached> = counted.iter().flatten().collect();
        let to_count_on = files.iter().filter_map(|file| Some((&file.path, (file.cursor, file.once.as_ref()?))));
        keep(&once, &version, to_count_on.collect::<HashMap<_, _>>());
        keep(&list, &version, files);
    }
    let marks = Marks::read(env, bad);
    listed(env, sessions, counted, &marks, bad)
}

fn kept<F: DeserializeOwned + Default>(path: &Path, version: &str) -> F {
    let text = crate::file::read_to_string(path).unwrap_or_default();
    let kept = serde_json::from_str::<Kept<F>>(&text).ok().filter(|kept| kept.version == version);
    kept.map(|kept| kept.files).unwrap_or_default()
}

/// Without a cache the next list is slower and no different.
fn keep(path: &Path, version: &str, files: impl Serialize) {
    let text = serde_json::to_vec(&Kept { version: version.to_owned(), files });
    let _ = text.map(|text| state::replace(path, &text));
}

/// Tallies all sessions, from the cache where it knows them, and says whether the cache must change.
fn count(
    sessions: &[Session],
    old: Vec<Cached>,
    to_count_on: impl FnOnce() -> HashMap<String, (Cursor, Box<RawValue>)>,
    now: i64,
    bad: &mut Vec<Unreadable>,
) -> (Vec<Option<Cached>>, bool) {
    let mut counted: Vec<Option<Cached>> = Vec::with_capacity(sessions.len());
    let mut stale = Vec::new();
    let mut gone = false;
    // Both are in the order of their paths, so one pass finds what belongs together.
    let mut old = old.into_iter().peekable();
    for (index, session) in sessions.iter().enumerate() {
        let path = session.path.as_os_str().as_encoded_bytes();
        while old.next_if(|cached| cached.path.as_bytes() < path).is_some() {
            gone = true;
        }
        let cached = old.next_if(|cached| cached.path.as_bytes() == path);
        let cached = cached.filter(|cached| cached.format == session.format.name);
        let read_stamp = || std::fs::metadata(&session.path).map(|meta| Stamp::from(&meta));
        match session.stamp.map_or_else(read_stamp, Ok) {
            Ok(stamp) => {
                let fresh = cached.as_ref().is_some_and(|cached| cached.stamp == stamp);
                stale.extend((!fresh).then_some(index));
                let is_it = |cached: &Cached| (cached.stamp.device, cached.stamp.inode) == (stamp.device, stamp.inode);
                counted.push(cached.filter(is_it));
            }
            Err(error) => {
                say_unless_gone(error, session, bad);
                counted.push(None);
            }
        }
    }
    let changed = gone || !stale.is_empty() || old.next().is_some();
    if changed {
        let mut known = to_count_on();
        for cached in counted.iter_mut().flatten() {
            let known = known.remove(&cached.path).filter(|(cursor, _)| *cursor == cached.cursor);
            cached.once = known.filter(|_| is_lately(cached.stamp, now)).map(|(_, once)| once);
        }
    }
    let work =
        |index: &usize, buffer: &mut Buffer| (*index, recount(&sessions[*index], counted[*index].clone(), now, buffer));
    for (index, result) in in_parallel(&stale, work) {
        counted[index] = result.map_err(|error| say_unless_gone(error, &sessions[index], bad)).ok();
    }
    (counted, changed)
}

/// Works on all of them in a few threads, each with one buffer to read into. The results are in the order of the items.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T, &mut Buffer) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(items.len()).min(8);
    let work = || {
        let mut buffer = Buffer::default();
        let indices = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        indices.map_while(|index| Some((index, work(items.get(index)?, &mut buffer)))).collect::<Vec<_>>()
    };
    let mut done = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let own = work();
        let others = others.into_iter().flat_map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        own.into_iter().chain(others).collect::<Vec<_>>()
    });
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Whether a file was written lately, so that it is expected to grow.
pub fn is_lately(stamp: Stamp, now: i64) -> bool {
    stamp.modified == 0 || stamp.modified > now - LATELY
}

/// The stamp by which a file is known again. One that was written just now gets a stamp that none is like, so that it is
/// looked at again.
pub fn to_remember(stamp: Stamp, now: i64) -> Stamp {
    Stamp { modified: if stamp.modified > now - JUST_NOW { 0 } else { stamp.modified }, ..stamp }
}

/// A file that is gone by now is no trouble.
pub fn say_unless_gone(error: io::Error, session: &Session, bad: &mut Vec<Unreadable>) {
    if error.kind() != io::ErrorKind::NotFound {
        bad.push(Unreadable { path: session.path.clone(), error });
    }
}

/// Counts a file on from where it was counted to, if it is known what was read until then; else from its start.
fn recount(session: &Session, known: Option<Cached>, now: i64, buffer: &mut Buffer) -> io::Result<Cached> {
    let transcript = Transcript::open(&session.path, session.format.format())?;
    let stamp = Stamp::from(&transcript.meta);
    let lately = is_lately(stamp, now);
    let stamp = to_remember(stamp, now);
    let read = tail::start(&transcript.file, known.as_ref().map(|cached| cached.cursor.into()))?;
    let known = known.filter(|_| matches!(read, StartAt::Resume(_)));
    let (mut tally, from, mut once) = match known {
        Some(cached) if cached.cursor.offset == stamp.size => return Ok(Cached { stamp, ..cached }),
        Some(Cached { tally, cursor, once: Some(once), .. }) => match serde_json::from_str(once.get()) {
            Ok(once) => (tally, cursor.offset, once),
            Err(_) => Default::default(),
        },
        _ => Default::default(),
    };
    let read = transcript.fold(Lines { from, ..Lines::default() }, &mut once, buffer, &mut *tally)?;
    tally.settle();
    tally.broken += read.broken;
    let cursor = Cursor::at(&transcript.file, read.end)?;
    let once = lately.then(|| to_raw_value(&once)).and_then(Result::ok);
    let path = session.path.to_string_lossy().into_owned();
    let format = session.format.name.clone();
    Ok(Cached { path, stamp, format, tally, cursor, once })
}

fn listed<'f>(
    env: &Env,
    sessions: Vec<Session<'f>>,
    counted: Vec<Option<Cached>>,
    marks: &Marks,
    bad: &mut Vec<Unreadable>,
) -> Vec<Listed<'f>> {
    let mut members = Members::around(&env.cwd);
    let mut titles = TitleIndex::default();
    let mut files = HashSet::new();
    // Of two paths to one file, the one with a name counts.
    let mut sessions: Vec<_> = sessions.into_iter().zip(counted).collect();
    sessions.sort_by_key(|(session, _)| session.name.is_none());
    let mut all: Vec<Listed> = Vec::with_capacity(sessions.len());
    for (mut session, cached) in sessions {
        let Some(cached) = cached else { continue };
        // A link to a transcript is not another session.
        if !files.insert((cached.stamp.device, cached.stamp.inode)) {
            continue;
        }
        let mut tally = cached.tally;
        if tally.messages == 0 || tally.subagent {
            continue;
        }
        if session.root.is_some() {
            titles.complete_or_note(&mut tally.basics, &session, env);
        }
        let id = session.whole_id(tally.id.as_deref()).to_owned();
        session.id = id;
        if session.name.as_deref().is_some_and(Home::is_throw_away) {
            continue;
        }
        let here = session.name.is_some() || tally.cwds().any(|cwd| members.has(cwd));
        let (done, tags) = marks.of(&session.id);
        all.push(Listed { session, tally, here, done, tags, short_id: String::new() });
    }
    bad.append(&mut titles.bad);
    bad.append(&mut members.bad);
    let ids = Shortener::new(all.iter().map(|listed| listed.session.id.clone()));
    all.iter_mut().for_each(|listed| listed.short_id = ids.short(&listed.session.id).into());
    all.sort_by(|a, b| {
        b.tally.updated.cmp(&a.tally.updated).then_with(|| a.session.path.as_os_str().cmp(b.session.path.as_os_str()))
    });
    all
}

/// What to type for a session that was not found in a list: its name here, its file where no agent keeps it, or as much
/// of its id as tells it from those of all other files.
pub fn handle(session: &Session, env: &Env, formats: &[Known]) -> String {
    match (&session.name, session.root) {
        (Some(name), _) => name.clone(),
        (None, None) => env.tilde(&session.path),
        (None, Some(_)) => Shortener::of_files(formats, env, &mut Vec::new()).short(&session.id).into(),
    }
}
