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
    for format in formats {
        for root in &format.head().roots {
            let Some(dir) = place(root, env) else { continue };
            for pattern in &root.files {
                files(&dir, &pattern.0, None, bad, &mut |entry, name, id| {
                    if !root.not.iter().any(|not| excludes(not, name)) {
                        take(Listing { entry, name, id, format, root });
                    }
                });
            }
        }
    }
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
    for format in formats {
        for root in &format.head().roots {
            let below = place(root, env).and_then(|dir| path.strip_prefix(dir).ok().map(Path::to_path_buf));
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let Some(below) = below.filter(|_| !root.not.iter().any(|not| excludes(not, name))) else { continue };
            if let Some(id) = root.files.iter().find_map(|pattern| pattern.id(&below)) {
                return Some(Session { id, name: None, format, root: Some(root), path: path.into(), stamp: None });
            }
        }
    }
    None
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

/// Walks down a pattern. The depth is the pattern's, so a link that leads in a circle does no harm.
fn files(
    dir: &Path,
    pattern: &[Segment],
    id: Option<&str>,
    bad: &mut Vec<Unreadable>,
    take: &mut dyn FnMut(&DirEntry, &str, Option<&str>),
) {
    let Some((segment, rest)) = pattern.split_first() else { return };
    if let (Some(name), false) = (segment.literal(), rest.is_empty()) {
        return files(&dir.join(name), rest, id, bad, take);
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
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let name = entry.file_name();
        let Some((name, fit)) = name.to_str().and_then(|name| Some((name, segment.fits(name)?))) else { continue };
        let id = fit.or(id);
        if !rest.is_empty() {
            if kind.is_dir() || kind.is_symlink() {
                files(&entry.path(), rest, id, bad, take);
            }
        } else if kind.is_file() || (kind.is_symlink() && entry.path().is_file()) {
            take(&entry, name, id);
        }
    }
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
    roots.iter().find_map(|root| aside(root, &session.path)).unwrap_or_default()
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
