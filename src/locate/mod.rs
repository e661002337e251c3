//! Finds transcripts: every file that fits a pattern of a format, and the named sessions of a home.
//!
//! Only names are read here. What is inside a transcript, also the working directory that decides which project it
//! belongs to, is `decode`'s business.

mod home;
mod project;

use std::collections::HashMap;
use std::fs::{DirEntry, Metadata};
use std::io;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};

pub use home::Home;
pub use project::Project;

use crate::env::Env;
use crate::format::Known;
use crate::format::descriptor::{Pointer, Root, Titles};
use crate::format::pattern::{Pattern, Segment};

/// A session: where its transcript is, and what it is called.
#[derive(Debug, Clone)]
pub struct Session<'f> {
    pub id: String,
    /// Its name in a named home.
    pub name: Option<String>,
    pub format: &'f Known,
    /// The root it was found under; none for a file given by path.
    pub root: Option<&'f Root>,
    pub path: PathBuf,
    /// What the file was like when it was found, if that was asked for.
    pub stamp: Option<Stamp>,
}

/// What tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(from = "(u64, u64, u64, i64)", into = "(u64, u64, u64, i64)")]
pub struct Stamp {
    pub device: u64,
    pub inode: u64,
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified: i64,
}

impl From<(u64, u64, u64, i64)> for Stamp {
    fn from((device, inode, size, modified): (u64, u64, u64, i64)) -> Stamp {
        Stamp { device, inode, size, modified }
    }
}

impl From<Stamp> for (u64, u64, u64, i64) {
    fn from(stamp: Stamp) -> (u64, u64, u64, i64) {
        (stamp.device, stamp.inode, stamp.size, stamp.modified)
    }
}

impl From<&Metadata> for Stamp {
    fn from(meta: &Metadata) -> Stamp {
        let modified = meta.mtime().saturating_mul(1_000_000_000).saturating_add(meta.mtime_nsec());
        Stamp { device: meta.dev(), inode: meta.ino(), size: meta.size(), modified }
    }
}

/// A place that could not be read.
#[derive(Debug)]
pub struct Unreadable {
    pub path: PathBuf,
    pub error: io::Error,
}

/// Where a root is now.
pub fn place(root: &Root, env: &Env) -> Option<PathBuf> {
    let moved = root.env.as_ref().and_then(|name| env.var(name));
    moved.map(|dir| env.expand(&dir.to_string_lossy())).or_else(|| root.path.as_ref().map(|path| env.expand(path)))
}

/// All sessions of all formats. A file that two patterns reach is found once. With stamps it takes twice as long, but not
/// as long as asking for them later, path by path.
pub fn sessions<'f>(formats: &'f [Known], env: &Env, stamps: bool, bad: &mut Vec<Unreadable>) -> Vec<Session<'f>> {
    let mut found: Vec<Session<'f>> = Vec::new();
    each(formats, env, bad, &mut |file| found.push(file.session(stamps.then(|| file.stamp()).flatten())));
    in_order(&mut found);
    found
}

/// A file that may be a transcript, as a directory lists it. Whoever wants only some of many pays only for those.
pub struct Listing<'e, 'f> {
    entry: &'e DirEntry,
    name: &'e str,
    id: Option<&'e str>,
    format: &'f Known,
    root: &'f Root,
    /// It is the transcript of a subagent, and the id is that of its session.
    pub is_subagent: bool,
}

impl<'f> Listing<'_, 'f> {
    pub fn name(&self) -> &str {
        self.name
    }

    /// The id in its name.
    pub fn id(&self) -> Option<&str> {
        self.id
    }

    /// The number of the file, or of the link to it.
    pub fn inode(&self) -> u64 {
        self.entry.ino()
    }

    pub fn stamp(&self) -> Option<Stamp> {
        let meta = self.entry.metadata().ok()?;
        // The entry of a link is the link.
        let meta = if meta.is_symlink() { std::fs::metadata(self.entry.path()).ok()? } else { meta };
        Some(Stamp::from(&meta))
    }

    pub fn session(&self, stamp: Option<Stamp>) -> Session<'f> {
        let path = self.entry.path();
        let stem = || path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let id = self.id.map_or_else(stem, str::to_owned);
        Session { id, name: None, format: self.format, root: Some(self.root), path, stamp }
    }
}

/// Hands out every file that fits a pattern of a format. One that two patterns reach comes twice.
pub fn each<'f>(formats: &'f [Known], env: &Env, bad: &mut Vec<Unreadable>, take: &mut dyn FnMut(Listing<'_, 'f>)) {
    walk(formats, env, None, bad, take);
}

/// The same, and after the sessions of a directory the transcripts of their subagents, for the ids that are wanted.
pub fn each_with_subagents<'f>(
    formats: &'f [Known],
    env: &Env,
    wanted: &dyn Fn(&str) -> bool,
    bad: &mut Vec<Unreadable>,
    take: &mut dyn FnMut(Listing<'_, 'f>),
) {
    walk(formats, env, Some(wanted), bad, take);
}

fn walk<'f>(
    formats: &'f [Known],
    env: &Env,
    subagents: Option<&dyn Fn(&str) -> bool>,
    bad: &mut Vec<Unreadable>,
    take: &mut dyn FnMut(Listing<'_, 'f>),
) {
    for format in formats {
        for root in &format.head().roots {
            let Some(dir) = place(root, env) else { continue };
            let below: Vec<Pattern> = root.subagent_patterns().filter(|_| subagents.is_some()).collect();
            let sessions = root.files.iter().map(|pattern| Route { left: &pattern.0, id: None, is_subagent: false });
            let below = below.iter().map(|pattern| Route { left: &pattern.0, id: None, is_subagent: true });
            let routes: Vec<Route> = sessions.chain(below).collect();
            let wanted = |route: &Route| match (subagents, route.id) {
                (Some(wanted), Some(id)) if route.is_subagent => wanted(id),
                _ => true,
            };
            files(&dir, &routes, &wanted, bad, &mut |entry, name, Route { id, is_subagent, .. }| {
                if is_subagent || !root.not.iter().any(|not| excludes(not, name)) {
                    take(Listing { entry, name, id, format, root, is_subagent });
                }
            });
        }
    }
}

/// The transcripts of a session's subagents, the one that was written last first. The id is the session's, whole.
pub fn subagents(session: &Session, id: &str) -> Vec<(PathBuf, Stamp)> {
    let roots = session.root.map_or(&*session.format.head().roots, std::slice::from_ref);
    let mut found: Vec<(PathBuf, Stamp)> = Vec::new();
    for pattern in roots.iter().flat_map(|root| &root.subagents) {
        let up = pattern.0.iter().take_while(|segment| segment.literal() == Some("..")).count();
        let Some(dir) = session.path.ancestors().nth(1 + up) else { continue };
        let bound: Vec<Segment> = pattern.0[up..].iter().map(|segment| segment.bound(id)).collect();
        let route = Route { left: &bound, id: None, is_subagent: true };
        // Whoever cannot read the directory of a session's subagents cannot read the session, and that is said.
        files(dir, &[route], &|_| true, &mut Vec::new(), &mut |entry, _, _| {
            let stamp = std::fs::metadata(entry.path()).map(|meta| Stamp::from(&meta));
            found.extend(stamp.ok().map(|stamp| (entry.path(), stamp)));
        });
    }
    found.sort_by(|(a, seen), (b, other)| (other.modified, a).cmp(&(seen.modified, b)));
    found.dedup_by(|(a, _), (b, _)| a == b);
    found
}

/// How much of an id must be shown: eight characters, or as many parts as tell it from all others that begin alike. Ids
/// that begin with the time are alike for a minute.
pub fn short_id(id: &str, shared: usize) -> &str {
    let shared = id.floor_char_boundary(shared);
    let length = if shared < 8 { 8 } else { id[shared..].find('-').map_or(id.len(), |dash| shared + dash) };
    &id[..id.ceil_char_boundary(length.min(id.len()))]
}

/// How many bytes two ids begin with alike.
pub fn shared_start(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

/// Sorts sessions by path, each once. By bytes: comparing paths part by part is several times slower.
pub fn in_order(sessions: &mut Vec<Session>) {
    sessions.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
    sessions.dedup_by(|a, b| a.path.as_os_str() == b.path.as_os_str());
}

/// The transcript with an id: in the directory that spells the cwd if it is there, else wherever it is.
pub fn by_id<'f>(formats: &'f [Known], env: &Env, id: &str, cwd: &Path) -> Option<Session<'f>> {
    let mut elsewhere = None;
    for format in formats {
        for root in &format.head().roots {
            let Some(dir) = place(root, env) else { continue };
            for pattern in &root.files {
                let path = |cwd: Option<&str>| filled(&dir, pattern, cwd, id);
                let session = |path| Session { id: id.into(), name: None, format, root: Some(root), path, stamp: None };
                let spelt = root.cwd.map(|spelling| spelling.spell(cwd));
                if let Some(path) = path(spelt.as_deref()).filter(|path| path.is_file()) {
                    return Some(session(path));
                }
                let Some(spelling) = root.cwd else { continue };
                let here = subdirs(&dir, pattern).into_iter().filter_map(|name| {
                    path(Some(&name)).filter(|path| path.is_file()).map(|path| (spelling.fits(&name, cwd), path))
                });
                if let Some((_, path)) = here.max_by_key(|(fits, _)| *fits) {
                    elsewhere.get_or_insert(session(path));
                }
            }
        }
    }
    elsewhere
}

/// The session whose transcript is at a path, if that is where a format keeps them.
pub fn at<'f>(formats: &'f [Known], env: &Env, path: &Path) -> Option<Session<'f>> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_none = |root: &Root| root.not.iter().any(|not| excludes(not, name));
    by_path(formats, env, path, &|root, below| {
        root.files.iter().find_map(|files| files.id(below)).filter(|_| !is_none(root))
    })
}

/// The subagent's transcript at a path, with the id of its session.
pub fn subagent_at<'f>(formats: &'f [Known], env: &Env, path: &Path) -> Option<Session<'f>> {
    by_path(formats, env, path, &|root, below| root.subagent_patterns().find_map(|pattern| pattern.id(below)))
}

fn by_path<'f>(
    formats: &'f [Known],
    env: &Env,
    path: &Path,
    id: &dyn Fn(&Root, &Path) -> Option<String>,
) -> Option<Session<'f>> {
    let roots = formats.iter().flat_map(|format| format.head().roots.iter().map(move |root| (format, root)));
    roots.into_iter().find_map(|(format, root)| {
        let dir = place(root, env)?;
        let id = id(root, path.strip_prefix(dir).ok()?)?;
        Some(Session { id, name: None, format, root: Some(root), path: path.into(), stamp: None })
    })
}

/// A pattern with its cwd and id put in, if nothing else in it is open.
fn filled(dir: &Path, pattern: &Pattern, cwd: Option<&str>, id: &str) -> Option<PathBuf> {
    pattern.0.iter().try_fold(dir.to_path_buf(), |path, segment| {
        let name = match segment.literal() {
            Some(name) => name.to_owned(),
            None if segment.is_cwd() => cwd?.to_owned(),
            None => segment.with_id(id)?,
        };
        Some(path.join(name))
    })
}

/// The directories that stand for a cwd in a pattern.
fn subdirs(dir: &Path, pattern: &Pattern) -> Vec<String> {
    let before = pattern.0.iter().take_while(|segment| !segment.is_cwd());
    let parent = before.into_iter().try_fold(dir.to_path_buf(), |path, segment| Some(path.join(segment.literal()?)));
    let entries = parent.and_then(|parent| std::fs::read_dir(parent).ok());
    entries.into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

fn excludes(not: &Pattern, name: &str) -> bool {
    not.0.last().is_some_and(|segment| segment.fits(name).is_some())
}

/// What is left of a pattern below a directory, and the id that the names above it told.
#[derive(Clone, Copy)]
struct Route<'p> {
    left: &'p [Segment],
    id: Option<&'p str>,
    is_subagent: bool,
}

impl<'p> Route<'p> {
    /// What is left of it below a name, if that fits.
    fn below<'n>(&self, name: &'n str) -> Option<Route<'n>>
    where
        'p: 'n,
    {
        let (segment, left) = self.left.split_first()?;
        Some(Route { left, id: segment.fits(name)?.or(self.id), is_subagent: self.is_subagent })
    }

    /// The directory that it leads to, if that has a name.
    fn literal(&self) -> Option<&'p str> {
        self.left.first().filter(|_| self.left.len() > 1)?.literal()
    }
}

/// Walks down some patterns at once, so that each directory is listed once, its files before what is below it. The depth is
/// the patterns', so a link that leads in a circle does no harm.
fn files(
    dir: &Path,
    routes: &[Route],
    wanted: &dyn Fn(&Route) -> bool,
    bad: &mut Vec<Unreadable>,
    take: &mut dyn FnMut(&DirEntry, &str, Route),
) {
    let names: Vec<Option<&str>> = routes.iter().map(Route::literal).collect();
    let go_on = |path: &Path, name: &str, bad: &mut Vec<Unreadable>, take: &mut dyn FnMut(&DirEntry, &str, Route)| {
        let below = routes.iter().filter_map(|route| route.below(name));
        let below: Vec<Route> = below.filter(|route| !route.left.is_empty() && wanted(route)).collect();
        if !below.is_empty() {
            files(path, &below, wanted, bad, take);
        }
    };
    // Directories that have a name need not be looked for.
    if names.iter().all(Option::is_some) {
        let names: Vec<&str> = names.into_iter().flatten().collect();
        let mut gone_on: Vec<&str> = Vec::new();
        for name in names {
            if !gone_on.contains(&name) {
                gone_on.push(name);
                go_on(&dir.join(name), name, bad, take);
            }
        }
        return;
    }
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) => {
            if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) {
                bad.push(Unreadable { path: dir.into(), error });
            }
            return;
        }
    };
    let mut dirs = Vec::new();
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let may_be_dir = kind.is_dir() || kind.is_symlink();
        if may_be_dir && routes.iter().any(|route| route.left.len() > 1) {
            dirs.push((entry.path(), name.to_owned()));
        }
        let ends = routes.iter().filter(|route| route.left.len() == 1 && !kind.is_dir());
        for route in ends.filter_map(|route| route.below(name)) {
            if kind.is_file() || (kind.is_symlink() && entry.path().is_file()) {
                take(&entry, name, route);
            }
        }
    }
    dirs.iter().for_each(|(path, name)| go_on(path, name, bad, take));
}

/// The titles that an index file under a root gives to session ids; the last of an id wins.
pub fn titles(root: &Root, env: &Env) -> HashMap<String, String> {
    let Some((index, dir)) = root.titles.as_ref().zip(place(root, env)) else { return HashMap::new() };
    let text = crate::file::read(&dir.join(&index.file)).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().filter_map(|line| title(index, line)).collect()
}

fn title(index: &Titles, line: &str) -> Option<(String, String)> {
    let value: serde_json::Value = serde_json::from_str(line).ok()?;
    let text = |pointer: &Pointer| {
        pointer
            .0
            .iter()
            .try_fold(&value, |value, key| value.get(key))
            .and_then(|value| value.as_str())
            .map(str::to_owned)
    };
    Some((text(&index.id)?, text(&index.person)?))
}

/// What a small file next to a transcript says about it.
#[derive(Debug, Default, Clone)]
pub struct Aside {
    pub cwd: Option<String>,
    pub title: Option<String>,
    pub by_person: bool,
}

/// What lies beside a session's transcript; one from anywhere may have brought it along.
pub fn beside(session: &Session) -> Aside {
    let roots = session.root.map_or(&*session.format.head().roots, std::slice::from_ref);
    // A subagent's transcript is in a directory of its own.
    let paths = || session.path.ancestors().take(2);
    roots.iter().find_map(|root| paths().find_map(|path| aside(root, path))).unwrap_or_default()
}

fn aside(root: &Root, transcript: &Path) -> Option<Aside> {
    let (beside, dir) = root.beside.as_ref().zip(transcript.parent())?;
    let text = crate::file::read_to_string(&dir.join(&beside.file)).ok()?;
    let value = |key: &Option<String>| match key.as_deref()? {
        "*" => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        key => text.lines().find_map(|line| {
            let value = line.strip_prefix(key)?.strip_prefix(':')?.trim();
            Some(value.trim_matches(['"', '\'']).to_owned()).filter(|value| !value.is_empty())
        }),
    };
    Some(Aside {
        cwd: value(&beside.cwd),
        title: value(&beside.title),
        by_person: value(&beside.by_person).as_deref() == Some("true"),
    })
}

/// Whether a text from inside a transcript may be the id of a session: what is no plain word is taken for none.
pub fn is_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

/// The title that a file next to the transcript, or an index, says a person gave it.
pub fn indexed_title(session: &Session, env: &Env) -> Option<String> {
    let aside = beside(session);
    let indexed = || titles(session.root.filter(|root| root.titles.is_some())?, env).remove(&session.id);
    aside.title.filter(|_| aside.by_person).or_else(indexed)
}
