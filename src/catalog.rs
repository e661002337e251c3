//! The sessions there are, with what is known about each: found by `locate`, counted by `digest`, and remembered.
//!
//! Counting reads every transcript once. The cache keeps the tallies by the file's identity (device, inode, size,
//! modification time); a file that grew is counted on from where it was, and without the cache everything is counted
//! anew with the same result.

use std::collections::HashMap;
use std::hash::Hasher;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use crate::cursor::{Buffer, Cursor};
use crate::digest::{Seen, Tally, Turn};
use crate::env::Env;
use crate::format::Known;
use crate::locate::{self, Aside, Home, Project, Session, Stamp, Unreadable};
use crate::state::{self, notes::Marks};
use crate::time::{HOUR, Time};
use crate::transcript::{Transcript, recognise};

/// A session and what is known about it.
#[derive(Debug, Clone)]
pub struct Listed<'f> {
    pub session: Session<'f>,
    pub tally: Box<Tally>,
    /// It belongs to the project, or to the named home, that the command runs in.
    pub here: bool,
    /// What the user said of it.
    pub done: bool,
    pub tags: Vec<String>,
    /// How much of the id tells it from all others.
    id_length: usize,
}

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Working,
    Waiting,
    Idle,
    Error,
    /// The user said so, and nobody is at work.
    Done,
}

impl State {
    /// A file cannot say that its writer is gone, so after an hour of silence nobody is thought to be at work.
    pub fn of(turn: Turn, updated: Option<Time>, done: bool, now: Time) -> State {
        let silent = updated.is_none_or(|updated| now.0 - updated.0 > HOUR);
        match turn {
            _ if done && (silent || turn != Turn::Agent) => State::Done,
            Turn::Failed => State::Error,
            _ if silent => State::Idle,
            Turn::Agent => State::Working,
            Turn::User | Turn::None => State::Waiting,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            State::Working => "working",
            State::Waiting => "waiting",
            State::Idle => "idle",
            State::Error => "error",
            State::Done => "done",
        }
    }
}

impl Listed<'_> {
    /// What the user types to get at it: its name here, else the beginning of its id.
    pub fn handle(&self) -> &str {
        let id = self.session.id.get(..self.id_length).unwrap_or(&self.session.id);
        self.session.name.as_deref().unwrap_or(id)
    }

    pub fn has_tag(&self, name: &str) -> bool {
        self.tags.iter().any(|tag| tag.to_lowercase() == name.to_lowercase())
    }

    pub fn state(&self, now: Time) -> State {
        State::of(self.tally.turn, self.tally.updated, self.done, now)
    }
}

/// What is known about files, in the order of their paths.
#[derive(Deserialize)]
struct Cache {
    /// Another version counts differently: start anew.
    version: String,
    files: Vec<Cached>,
}

#[derive(Serialize)]
struct NewCache<'c> {
    version: &'c str,
    files: Vec<&'c Cached>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Cached {
    path: String,
    stamp: Stamp,
    format: String,
    /// In a box, here and in [`Listed`], because it is large and moved around.
    tally: Box<Tally>,
    cursor: Cursor,
    seen: Seen,
}

/// What the cache of this build counts. The formats are part of it: another descriptor reads other entries.
fn version(formats: &[Known]) -> String {
    let mut hasher = std::hash::DefaultHasher::new();
    formats.iter().for_each(|format| hasher.write(format.text().as_bytes()));
    format!("{}-{:x}", env!("CARGO_PKG_VERSION"), hasher.finish())
}

/// All sessions on the machine that somebody said something in, the newest first. Files that cannot be read are named in
/// `bad` and left out.
pub fn list<'f>(env: &Env, formats: &'f [Known], bad: &mut Vec<Unreadable>) -> Vec<Listed<'f>> {
    let mut sessions = locate::sessions(formats, env, true, bad);
    let home = Home::above(&env.cwd);
    let names = home.as_ref().map(|home| named(home, env, formats, &mut sessions)).unwrap_or_default();

    let path = env.cache_dir().join("list.json");
    let version = version(formats);
    let text = crate::file::read_to_string(&path).unwrap_or_default();
    let cache = serde_json::from_str::<Cache>(&text).ok().filter(|cache| cache.version == version);
    let old = cache.map(|cache| cache.files).unwrap_or_default();
    // A file that was written just now may be written again without a newer stamp.
    let settled = env.file_clock() - 100_000_000;
    let (counted, changed) = count(&sessions, old, settled, bad);
    if changed {
        let files = counted.iter().flatten().collect();
        if let Ok(text) = serde_json::to_vec(&NewCache { version: &version, files }) {
            // Without a cache the next list is slower and no different.
            let _ = state::replace(&path, &text);
        }
    }
    listed(env, sessions, counted, &names)
}

/// The sessions with a name in this home, added to those found elsewhere: path to name.
fn named<'f>(
    home: &Home,
    env: &Env,
    formats: &'f [Known],
    sessions: &mut Vec<Session<'f>>,
) -> HashMap<PathBuf, String> {
    let mut names = HashMap::new();
    for name in home.names() {
        if let Some(session) = home.session(&name, formats, env) {
            names.insert(session.path.clone(), name);
            sessions.push(session);
        }
    }
    locate::in_order(sessions);
    names
}

/// Tallies all sessions, from the cache where it knows them, and says whether the cache must change.
fn count(
    sessions: &[Session],
    old: Vec<Cached>,
    settled: i64,
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
        match session.stamp.map_or_else(|| stamp(&session.path), Ok) {
            Ok(stamp) => {
                let fresh = cached.as_ref().is_some_and(|cached| cached.stamp == stamp);
                stale.extend((!fresh).then_some(index));
                counted.push(
                    cached.filter(|cached| (cached.stamp.device, cached.stamp.inode) == (stamp.device, stamp.inode)),
                );
            }
            Err(error) => {
                say_unless_gone(error, session, bad);
                counted.push(None);
            }
        }
    }
    let changed = gone || !stale.is_empty() || old.next().is_some();
    let work = |index: &usize, buffer: &mut Buffer| {
        (*index, recount(&sessions[*index], counted[*index].clone(), settled, buffer))
    };
    for (index, result) in in_parallel(&stale, work) {
        counted[index] = result.map_err(|error| say_unless_gone(error, &sessions[index], bad)).ok();
    }
    (counted, changed)
}

/// Works on all of them in a few threads, each with one buffer to read into. The results are in the order of the items.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T, &mut Buffer) -> R + Sync) -> Vec<R> {
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get()).min(items.len()).min(8);
    let work = || {
        let mut buffer = Buffer::default();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            let result = work(item, &mut buffer);
            done.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((index, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// A file that is gone by now is no trouble.
pub fn say_unless_gone(error: io::Error, session: &Session, bad: &mut Vec<Unreadable>) {
    if error.kind() != io::ErrorKind::NotFound {
        bad.push(Unreadable { path: session.path.clone(), error });
    }
}

fn recount(session: &Session, cached: Option<Cached>, settled: i64, buffer: &mut Buffer) -> io::Result<Cached> {
    let transcript = Transcript::open(&session.path, session.format.format())?;
    let before = cached.map(|cached| (cached.cursor, Tally { seen: cached.seen, ..*cached.tally }));
    let (cursor, mut tally) = transcript.tally(before, buffer)?;
    let mut stamp = Stamp::from(&transcript.meta);
    if stamp.modified > settled {
        // No stamp is like this one: the next list looks at the file again.
        stamp.modified = 0;
    }
    let seen = std::mem::take(&mut tally.seen);
    let path = session.path.to_string_lossy().into_owned();
    let format = session.format.name.clone();
    Ok(Cached { path, stamp, format, tally: Box::new(tally), cursor, seen })
}

fn stamp(path: &Path) -> io::Result<Stamp> {
    std::fs::metadata(path).map(|meta| Stamp::from(&meta))
}

fn listed<'f>(
    env: &Env,
    sessions: Vec<Session<'f>>,
    counted: Vec<Option<Cached>>,
    names: &HashMap<PathBuf, String>,
) -> Vec<Listed<'f>> {
    let here = Project::of(&env.cwd);
    let mut projects: HashMap<String, bool> = HashMap::new();
    let mut in_project = |cwd: &str| *projects.entry(cwd.into()).or_insert_with(|| Project::of(Path::new(cwd)) == here);
    let mut titles: HashMap<*const (), HashMap<String, String>> = HashMap::new();
    let mut seen = std::collections::HashSet::new();
    let marks = Marks::read(env);
    // Of two paths to one file, the one with a name counts.
    let mut sessions: Vec<_> = sessions.into_iter().zip(counted).collect();
    if !names.is_empty() {
        sessions.sort_by_key(|(session, _)| !names.contains_key(&session.path));
    }
    let mut all: Vec<Listed> = Vec::with_capacity(sessions.len());
    for (mut session, cached) in sessions {
        let Some(cached) = cached else { continue };
        // A link to a transcript is not another session.
        if !seen.insert((cached.stamp.device, cached.stamp.inode)) {
            continue;
        }
        let mut tally = cached.tally;
        if tally.messages == 0 || tally.subagent {
            continue;
        }
        if let Some(root) = session.root {
            complete(&mut tally, locate::beside(&session));
            if root.titles.is_some() {
                let known = titles.entry(std::ptr::from_ref(root).cast()).or_insert_with(|| locate::titles(root, env));
                tally.person_title = known.get(&session.id).cloned().or(tally.person_title);
            }
        }
        if let Some(id) = tally.id.clone().filter(|id| id.starts_with(&session.id) && locate::is_id(id)) {
            session.id = id;
        }
        session.name = names.get(&session.path).cloned();
        if session.name.as_deref().is_some_and(Home::is_throw_away) {
            continue;
        }
        let here = session.name.is_some() || tally.cwds().any(&mut in_project);
        let (done, tags) = marks.of(&session.id);
        all.push(Listed { session, tally, here, done, tags, id_length: 0 });
    }
    tell_apart(&mut all);
    all.sort_by(|a, b| {
        b.tally.updated.cmp(&a.tally.updated).then_with(|| a.session.path.as_os_str().cmp(b.session.path.as_os_str()))
    });
    all
}

/// Finds how much of each id tells it from its neighbours.
fn tell_apart(all: &mut [Listed]) {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|a, b| all[*a].session.id.cmp(&all[*b].session.id));
    for place in 0..order.len() {
        let id = &all[order[place]].session.id;
        let near = [place.checked_sub(1), Some(place + 1)].into_iter().flatten().filter_map(|near| order.get(near));
        let shared = near.map(|near| locate::shared_start(id, &all[*near].session.id)).max().unwrap_or(0);
        all[order[place]].id_length = locate::short_id(id, shared).len();
    }
}

/// What the transcript does not say, the file beside it does.
fn complete(tally: &mut Tally, aside: Aside) {
    tally.first_cwd = tally.first_cwd.take().or(aside.cwd);
    let place = if aside.by_person { &mut tally.person_title } else { &mut tally.agent_title };
    *place = place.take().or(aside.title);
}

/// Why a name leads to no session, or to several.
#[derive(Debug)]
pub enum Unresolved {
    /// There is no name.
    Nameless,
    /// There is no session at all.
    None,
    /// No session is called that; these come nearest, if any does.
    Unknown(Vec<(String, String)>),
    Ambiguous(Vec<(String, String)>),
    Unreadable(Unreadable),
    /// A file that is no transcript of any known format.
    Unrecognised(PathBuf),
}

/// What a name leads to.
pub struct Resolved<'f> {
    pub session: Session<'f>,
    pub subagent: bool,
}

/// The session that the user means by a name: its name in this home, a file, an id; then what only reading all sessions
/// can tell: `last`, a title, the beginning of an id, a tag, a part of a title.
pub fn resolve<'f>(
    env: &Env,
    formats: &'f [Known],
    name: &str,
    bad: &mut Vec<Unreadable>,
) -> Result<Resolved<'f>, Unresolved> {
    // A title may be in quotes, as the hook writes it.
    let unquoted = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    let name = unquoted.filter(|name| !name.is_empty()).unwrap_or(name);
    if name.trim().is_empty() {
        return Err(Unresolved::Nameless);
    }
    let found = |session| Ok(Resolved { session, subagent: false });
    if let Some(session) = Home::above(&env.cwd).and_then(|home| home.session(name, formats, env)) {
        return found(session);
    }
    let path = env.expand(name);
    // A bare word is a session before it is a file.
    let looks_like_path = name.contains('/') || name.ends_with(".jsonl");
    if looks_like_path && path.is_file() {
        return by_path(env, formats, path);
    }
    if name.chars().count() >= 8 {
        let sessions = locate::sessions(formats, env, false, &mut Vec::new());
        let mut with_id = sessions.into_iter().filter(|session| session.id.starts_with(name));
        if let (Some(session), None) = (with_id.next(), with_id.next()) {
            return found(session);
        }
    }
    let mut all = list(env, formats, bad);
    match choose(&all, name) {
        Ok(listed) => found(listed.session.clone()),
        Err(Unresolved::Unknown(_) | Unresolved::None) if path.is_file() => by_path(env, formats, path),
        Err(Unresolved::Unknown(near)) => match of_agent(name, formats) {
            Some((format, name)) => {
                all.retain(|listed| listed.session.format.name == format.name);
                let by_handle = all.iter().find(|listed| listed.handle() == name);
                match by_handle.map_or_else(|| choose(&all, name), Ok) {
                    Ok(listed) => found(listed.session.clone()),
                    Err(Unresolved::None) => Err(Unresolved::Unknown(near)),
                    Err(unresolved) => Err(unresolved),
                }
            }
            None => Err(Unresolved::Unknown(near)),
        },
        Err(unresolved) => Err(unresolved),
    }
}

/// `codex:name`, as the hook calls a session of another agent; a title may be in quotes.
fn of_agent<'f, 'n>(name: &'n str, formats: &'f [Known]) -> Option<(&'f Known, &'n str)> {
    let (agent, name) = name.split_once(':')?;
    let format = formats.iter().find(|format| format.is_called(agent))?;
    Some((format, name.trim().trim_matches('"')))
}

/// The session of this home, or the file, that a name leads to by now; for who waits for it to begin.
pub fn begun<'f>(env: &Env, formats: &'f [Known], name: &str) -> Option<Resolved<'f>> {
    let named = Home::above(&env.cwd).and_then(|home| home.session(name, formats, env));
    let path = env.expand(name);
    match named {
        Some(session) => Some(Resolved { session, subagent: false }),
        None => path.is_file().then(|| by_path(env, formats, path).ok())?,
    }
}

/// A file of an agent's own directory has that agent's format; any other is recognised from its lines.
fn by_path<'f>(env: &Env, formats: &'f [Known], path: PathBuf) -> Result<Resolved<'f>, Unresolved> {
    if let Some(session) = locate::at(formats, env, &path) {
        return Ok(Resolved { session, subagent: false });
    }
    match recognise(&path, formats) {
        Ok(Some((format, fit))) => {
            let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let session = Session { id, name: None, format, root: None, path, stamp: None };
            Ok(Resolved { session, subagent: fit.subagent })
        }
        Ok(None) => Err(Unresolved::Unrecognised(path)),
        Err(error) => Err(Unresolved::Unreadable(Unreadable { path, error })),
    }
}

fn choose<'a, 'f>(all: &'a [Listed<'f>], name: &str) -> Result<&'a Listed<'f>, Unresolved> {
    let Some(newest) = all.first() else { return Err(Unresolved::None) };
    if name == "last" {
        return Ok(all.iter().find(|listed| listed.here).unwrap_or(newest));
    }
    let lower = name.to_lowercase();
    // A full stop is a part of too much.
    let is_word = lower.contains(char::is_alphanumeric);
    let is_part = |title: &str| is_word && title.to_lowercase().contains(&lower);
    let ways: [&dyn Fn(&Listed) -> bool; 4] = [
        &|listed| listed.tally.title() == Some(name),
        &|listed| listed.session.id.starts_with(name),
        &|listed| listed.has_tag(name),
        &|listed| listed.tally.title().is_some_and(is_part),
    ];
    for fits in ways {
        for here in [true, false] {
            let matches: Vec<_> = all.iter().filter(|listed| listed.here == here && fits(listed)).collect();
            match matches.as_slice() {
                [] => {}
                [one] => return Ok(one),
                several => return Err(Unresolved::Ambiguous(candidates(several.iter().copied()))),
            }
        }
    }
    let like = all.iter().map(|listed| (likeness(listed, &lower), listed));
    let mut near: Vec<_> = like.filter(|(likeness, _)| *likeness > 0).collect();
    near.sort_by_key(|(likeness, listed)| (std::cmp::Reverse(*likeness), !listed.here));
    Err(Unresolved::Unknown(candidates(near.into_iter().take(5).map(|(_, listed)| listed))))
}

fn candidates<'a, 'f: 'a>(listed: impl Iterator<Item = &'a Listed<'f>>) -> Vec<(String, String)> {
    let mut candidates: Vec<(String, String)> = Vec::new();
    for listed in listed {
        // Two files with one id are told apart by their paths.
        let known = candidates.iter().any(|(handle, _)| handle == listed.handle());
        let handle = if known { listed.session.path.display().to_string() } else { listed.handle().to_owned() };
        candidates
            .push((handle, format!("{}: {}", listed.session.format.name, listed.tally.title().unwrap_or_default())));
    }
    candidates
}

/// How many neighbouring pairs of letters a session's handle or title shares with a name.
fn likeness(listed: &Listed, name: &str) -> usize {
    let pairs = |text: &str| -> Vec<(char, char)> { text.chars().zip(text.chars().skip(1)).collect() };
    let wanted = pairs(name);
    let shared = |text: &str| pairs(&text.to_lowercase()).iter().filter(|pair| wanted.contains(pair)).count();
    shared(listed.handle()).max(listed.tally.title().map_or(0, |title| shared(&title[..title.floor_char_boundary(60)])))
}
