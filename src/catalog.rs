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
    /// How many bytes of the id tell it from all others.
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
    pub const ALL: [State; 5] = [State::Working, State::Waiting, State::Idle, State::Error, State::Done];

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
        self.session.name.as_deref().unwrap_or(self.short_id())
    }

    /// As much of its id as tells it from all others.
    fn short_id(&self) -> &str {
        self.session.id.get(..self.id_length).unwrap_or(&self.session.id)
    }

    /// Its name in this home, and its title.
    fn called(&self) -> impl Iterator<Item = &str> {
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
    /// Raised whenever a tally counts something else.
    const COUNTS: u32 = 2;
    let mut hasher = std::hash::DefaultHasher::new();
    formats.iter().for_each(|format| hasher.write(format.text().as_bytes()));
    format!("{}-{COUNTS}-{:x}", env!("CARGO_PKG_VERSION"), hasher.finish())
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
    let before = cached.map(|Cached { cursor, mut tally, seen, .. }| {
        tally.seen = seen;
        (cursor, *tally)
    });
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

/// What to type for a session that was not found in a list: its name here, its file where no agent keeps it, or as much
/// of its id as tells it from those of all other files.
pub fn handle(session: &Session, env: &Env, formats: &[Known]) -> String {
    match (&session.name, session.root) {
        (Some(name), _) => name.clone(),
        (None, None) => env.tilde(&session.path),
        (None, Some(_)) => {
            let all = locate::sessions(formats, env, false, &mut Vec::new());
            let others = all.iter().filter(|other| other.path != session.path);
            let shared = others.map(|other| locate::shared_start(&session.id, &other.id)).max().unwrap_or(0);
            locate::short_id(&session.id, shared).into()
        }
    }
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
    /// No session is called that; these come near, the nearest first.
    Unknown(Vec<Candidate>),
    /// All of these are called that, the newest first.
    Ambiguous(Vec<Candidate>),
    Unreadable(Unreadable),
    /// A file that is no transcript of any known format.
    Unrecognised(PathBuf),
}

/// A session that may be meant: what to type for it, its agent, age, directory and title.
pub type Candidate = [String; 5];

/// What a name leads to.
pub struct Resolved<'f> {
    pub session: Session<'f>,
    pub subagent: bool,
}

/// The session that the user means by a name: its name in this home, a file, a whole id; then what only reading all
/// sessions can tell, see [`choose`].
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
    // What can only be an id needs no other session to be read.
    if name.len() >= 8 && looks_like_id(name) {
        let sessions = locate::sessions(formats, env, false, &mut Vec::new());
        let mut with_id = sessions.into_iter().filter(|session| session.id.starts_with(name));
        if let (Some(session), None) = (with_id.next(), with_id.next()) {
            return found(session);
        }
    }
    let mut all = list(env, formats, bad);
    let Some(newest) = all.first() else {
        return if path.is_file() { by_path(env, formats, path) } else { Err(Unresolved::None) };
    };
    if name == "last" {
        return Ok(all.iter().find(|listed| listed.here).unwrap_or(newest).into());
    }
    if let Some(listed) = choose(&all, name, &EXACTLY, env)? {
        return Ok(listed.into());
    }
    // A file that is no transcript may still be what a session is about.
    let file = path.is_file().then(|| by_path(env, formats, path));
    if let Some(Ok(transcript)) = file {
        return Ok(transcript);
    }
    if let Some(listed) = choose(&all, name, &ROUGHLY, env)? {
        return Ok(listed.into());
    }
    if let Some(Err(no_transcript)) = file {
        return Err(no_transcript);
    }
    let agent = of_agent(name, formats);
    let name = agent.map_or(name, |(_, name)| name);
    if let Some((format, name)) = agent {
        all.retain(|listed| listed.session.format.name == format.name);
        if let Some(listed) = choose(&all, name, &[&EXACTLY[..], &ROUGHLY].concat(), env)? {
            return Ok(listed.into());
        }
    }
    Err(Unresolved::Unknown(nearest(&all, name, env)))
}

impl<'f> From<&Listed<'f>> for Resolved<'f> {
    fn from(listed: &Listed<'f>) -> Resolved<'f> {
        Resolved { session: listed.session.clone(), subagent: false }
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

/// Whether a session is what a name means: as it is typed, and in lower case with single blanks.
type Way = fn(&Listed, &str, &str) -> bool;

/// The ways in which a name is a session's, the best first: name here, title, tag, beginning of the id.
const EXACTLY: [Way; 4] = [
    |listed, name, _| listed.session.name.as_deref() == Some(name),
    |listed, name, _| listed.tally.title().is_some_and(|title| title.split_whitespace().eq(name.split_whitespace())),
    |listed, name, _| listed.has_tag(name),
    |listed, name, _| listed.session.id.starts_with(name),
];

/// The ways in which a name is a part of a session's: its name or title begins so, or has it somewhere.
const ROUGHLY: [Way; 2] = [
    |listed, _, lower| listed.called().any(|called| words(called).starts_with(lower)),
    |listed, _, lower| {
        let given = [&listed.session.name, &listed.tally.person_title, &listed.tally.agent_title];
        let long = lower.chars().nth(2).is_some();
        // A prompt that stands for a title has too many words in it for just any part of them.
        long && (given.into_iter().flatten().any(|called| words(called).contains(lower))
            || listed.tally.title().is_some_and(|title| has_word(&words(title), lower)))
    },
];

/// Whether a word of a text begins like this.
fn has_word(text: &str, start: &str) -> bool {
    text.match_indices(start).any(|(at, _)| !text[..at].ends_with(char::is_alphanumeric))
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The one session that a name means in the first of these ways in which it means any; those of this project go first.
fn choose<'a, 'f>(
    all: &'a [Listed<'f>],
    name: &str,
    ways: &[Way],
    env: &Env,
) -> Result<Option<&'a Listed<'f>>, Unresolved> {
    let lower = words(name);
    // A full stop is a part of too much.
    for fits in ways.iter().filter(|_| lower.contains(char::is_alphanumeric)) {
        for here in [true, false] {
            let matches: Vec<_> =
                all.iter().filter(|listed| listed.here == here && fits(listed, name, &lower)).collect();
            match matches.as_slice() {
                [] => {}
                [one] => return Ok(Some(one)),
                several => return Err(Unresolved::Ambiguous(candidates(several, name, env))),
            }
        }
    }
    Ok(None)
}

/// The sessions that are called almost like a name, the nearest first; of two, the one of this project.
fn nearest(all: &[Listed], name: &str, env: &Env) -> Vec<Candidate> {
    let called = words(name);
    let mut near: Vec<_> = all.iter().map(|listed| (nearness(listed, &called), listed)).collect();
    near.retain(|(nearness, _)| *nearness > 0.6);
    near.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(other.here.cmp(&one.here)));
    let near: Vec<_> = near.into_iter().map(|(_, listed)| listed).collect();
    candidates(&near, name, env)
}

fn looks_like_id(name: &str) -> bool {
    let is_id = name.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_id && name.contains(|char: char| char.is_ascii_digit())
}

/// Who asks by an id is answered with ids.
fn candidates(all: &[&Listed], name: &str, env: &Env) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = Vec::new();
    for listed in all {
        let handle = if looks_like_id(name) { listed.short_id() } else { listed.handle() };
        // Two files with one id are told apart by their paths.
        let is_taken = candidates.iter().any(|candidate| candidate[0] == handle);
        let handle = if is_taken { listed.session.path.display().to_string() } else { handle.to_owned() };
        let age = listed.age(env.now());
        let cwd = listed.tally.cwd().map_or_else(|| "?".into(), |cwd| env.tilde(Path::new(cwd)));
        let title = listed.tally.title().unwrap_or_default().to_owned();
        candidates.push([handle, listed.session.format.label().to_owned(), age, cwd, title]);
    }
    candidates
}

/// How much the words of a name are like words of what a session is called, from 0 to 1. The end of a long title says
/// little about it.
fn nearness(listed: &Listed, name: &str) -> f64 {
    const BEGINNING: usize = 60;
    fn words(text: &str) -> impl Iterator<Item = &str> {
        text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty())
    }
    let like = |called: &str| {
        let called = called[..called.floor_char_boundary(BEGINNING)].to_lowercase();
        let best =
            |word| words(&called).map(|other| strsim::normalized_damerau_levenshtein(word, other)).fold(0.0, f64::max);
        words(name).map(best).sum::<f64>() / words(name).count().max(1) as f64
    };
    listed.called().chain([&*listed.session.id]).map(like).fold(0.0, f64::max)
}
