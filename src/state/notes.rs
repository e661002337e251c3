//! What only the user knows: a page of notes for each project, and a page about the user.
//!
//! A page is a text file and belongs to the user, who may change it with any editor. What we cannot read stays in it byte
//! for byte, and a change touches no line but its own, except that a line without an id of its own gets one. Nothing
//! is ever written here but at the user's word, and nothing is deleted because it is over. What a line says: [`line`].

pub mod line;

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use line::{Kind, Note, Priority, Until};
use line::{Says, parse};

use super::Lock;
use crate::budget::Deadline;
use crate::entry::Id;
use crate::env::Env;
use crate::time::Time;

/// How long another process may keep a page.
const PATIENCE: Duration = Duration::from_secs(10);
/// An id may be shortened to this.
const LEAST_ID: usize = 8;
/// No clock goes further: the year 9000.
const FAR: i64 = 221_845_305_600_000;

/// The page of a project, which is known by a directory (`Project::dir`).
#[derive(Debug)]
pub struct Notes(Page);

impl Notes {
    /// Reads it, with what is wrong with it. One that is not there is empty; one that cannot be read, too, for now.
    pub fn read(env: &Env, project: &Path) -> (Notes, Vec<String>) {
        let mut wrong = Vec::new();
        let page = Page::read(Notes::path(env, project), Kind::OF_PROJECT, env, &mut wrong);
        (Notes(page.unwrap_or_else(|error| Page::absent(error, &mut wrong))), wrong)
    }

    /// Reads it for somebody who will say if it cannot be read.
    pub fn open(env: &Env, project: &Path, wrong: &mut Vec<String>) -> Result<Notes, String> {
        Page::read(Notes::path(env, project), Kind::OF_PROJECT, env, wrong).map(Notes)
    }

    /// Changes it. Nobody else does meanwhile, and if the change fails, nothing is different.
    pub fn change<T>(
        env: &Env,
        project: &Path,
        wrong: &mut Vec<String>,
        change: impl FnOnce(&mut Notes) -> Result<T, String>,
    ) -> Result<T, String> {
        let path = Notes::path(env, project);
        let head = format!("notes of {}", env.tilde(project));
        Page::change(path, Kind::OF_PROJECT, &head, env, wrong, |page| {
            let mut notes = Notes(std::mem::take(page));
            let result = change(&mut notes);
            *page = notes.0;
            result
        })
    }

    /// Where it is: called like the directory, so that a person finds it, and by a hash of the whole path.
    pub fn path(env: &Env, project: &Path) -> PathBuf {
        let hash = Id::of(project.as_os_str().as_bytes()).0;
        let name = project.file_name().unwrap_or_default().to_string_lossy();
        let plain = |char: char| if char.is_alphanumeric() || "-_.".contains(char) { char } else { '-' };
        let name: String = name.trim_start_matches('.').chars().map(plain).collect();
        let name = if name.is_empty() { "root" } else { &name[..name.floor_char_boundary(100)] };
        env.data_dir().join("projects").join(format!("{name}-{:08x}.md", (hash ^ hash >> 32) as u32))
    }

    /// The pins that hold: by priority, then as they stand on the page, which is the oldest first.
    pub fn pins(&self, now: Time) -> Vec<&Note> {
        let mut pins: Vec<&Note> = self.notes(Kind::Pin, now).collect();
        pins.sort_by_key(|pin| pin.priority);
        pins
    }

    /// The notes of a kind that hold, as they stand on the page.
    pub fn notes(&self, kind: Kind, now: Time) -> impl Iterator<Item = &Note> {
        self.0.of(kind).filter(move |note| !note.is_expired(now))
    }

    /// The notes of a kind, also those that are over.
    pub fn all(&self, kind: Kind) -> impl Iterator<Item = &Note> {
        self.0.of(kind)
    }

    /// Whether the user called a session complete.
    pub fn is_done(&self, session: &str) -> bool {
        self.0.says().any(|says| matches!(says, Says::Done(id) if is_same(id, session)))
    }

    /// The sessions that are complete, as they stand on the page, each once.
    pub fn done(&self) -> Vec<&str> {
        let mut done: Vec<&str> = Vec::new();
        for says in self.0.says() {
            if let Says::Done(id) = says
                && !done.iter().any(|known| is_same(known, id))
            {
                done.push(id);
            }
        }
        done
    }

    /// The tags of a session, each once.
    pub fn tags(&self, session: &str) -> Vec<&str> {
        let has = |ids: &[&str]| ids.iter().any(|id| is_same(id, session));
        self.all_tags().into_iter().filter(|(_, ids)| has(ids)).map(|(tag, _)| tag).collect()
    }

    /// All tags with their sessions, as they stand on the page, each once.
    pub fn all_tags(&self) -> Vec<(&str, Vec<&str>)> {
        let mut tags: Vec<(&str, Vec<&str>)> = Vec::new();
        for says in self.0.says() {
            let Says::Tag(tag, ids) = says else { continue };
            let place = tags.iter().position(|(known, _)| known == tag).unwrap_or_else(|| {
                tags.push((tag, Vec::new()));
                tags.len() - 1
            });
            for id in ids {
                if !tags[place].1.iter().any(|known| is_same(known, id)) {
                    tags[place].1.push(id);
                }
            }
        }
        tags
    }

    /// Whether a session is marked by exactly this id.
    pub fn marks(&self, id: &str) -> bool {
        self.0.says().any(|says| match says {
            Says::Done(known) => known == id,
            Says::Tag(_, ids) => ids.iter().any(|known| known == id),
            _ => false,
        })
    }

    /// Writes a note down. One that says the same is the same note, and keeps its id.
    pub fn put(&mut self, note: Note) -> Note {
        let (kind, text) = (note.kind, note.text.clone());
        self.0.put(note, |old| old.kind == kind && old.text == text)
    }

    /// Takes notes off the page: all, or if one of the ids is none, nothing.
    pub fn remove(&mut self, ids: &[u32]) -> Result<Vec<Note>, String> {
        self.0.remove(ids)
    }

    /// Calls a session complete, or takes that back; false if it was so already.
    pub fn set_done(&mut self, session: &str, done: bool, today: &str) -> bool {
        let changes = self.is_done(session) != done;
        if changes && done {
            self.0.append(&format!("done {session} ({today})"), Says::Done(session.into()));
        } else if changes {
            self.0.lines.retain(|line| !matches!(&line.says, Says::Done(id) if is_same(id, session)));
        }
        changes
    }

    /// Gives a session a tag; false if it has it already.
    pub fn add_tag(&mut self, tag: &str, session: &str) -> bool {
        let is_new = !self.tags(session).contains(&tag);
        if is_new {
            self.0.append(&format!("tag {tag}: {session}"), Says::Tag(tag.into(), vec![session.into()]));
        }
        is_new
    }

    /// Takes a tag off a session; false if it has no such tag.
    pub fn remove_tag(&mut self, tag: &str, session: &str) -> bool {
        let had = self.tags(session).contains(&tag);
        self.0.lines.retain_mut(|line| {
            let Says::Tag(known, ids) = &mut line.says else { return true };
            let before = ids.len();
            if known == tag {
                ids.retain(|id| !is_same(id, session));
            }
            if ids.len() < before {
                line.bytes = [format!("tag {tag}: {}", ids.join(", ")).as_bytes(), end(&line.bytes)].concat();
            }
            !ids.is_empty()
        });
        had
    }
}

/// What the user said of sessions, on the pages of all projects: an id is that of one session wherever it is written.
#[derive(Debug, Default)]
pub struct Marks(HashMap<String, Vec<Says>>);

impl Marks {
    /// Reads them. What is wrong with a page is said to who asks for that page.
    pub fn read(env: &Env) -> Marks {
        let mut marks = Marks::default();
        let pages = std::fs::read_dir(env.data_dir().join("projects")).into_iter().flatten().flatten();
        let mut pages: Vec<PathBuf> = pages.map(|page| page.path()).collect();
        pages.retain(|page| page.extension().is_some_and(|end| end == "md"));
        pages.sort();
        for path in pages {
            let page = Page::read(path, Kind::OF_PROJECT, env, &mut Vec::new()).unwrap_or_default();
            for says in page.lines.into_iter().map(|line| line.says) {
                let ids = match &says {
                    Says::Done(id) => std::slice::from_ref(id),
                    Says::Tag(_, ids) => ids,
                    _ => continue,
                };
                for id in ids {
                    marks.0.entry(beginning(id).to_owned()).or_default().push(says.clone());
                }
            }
        }
        marks
    }

    /// Whether a session is done, and its tags.
    pub fn of(&self, session: &str) -> (bool, Vec<String>) {
        let mut tags: Vec<String> = Vec::new();
        let mut done = false;
        for says in self.0.get(beginning(session)).into_iter().flatten() {
            match says {
                Says::Done(id) => done |= is_same(id, session),
                Says::Tag(tag, ids) if !tags.contains(tag) && ids.iter().any(|id| is_same(id, session)) => {
                    tags.push(tag.clone());
                }
                _ => {}
            }
        }
        (done, tags)
    }
}

/// As much of an id as it cannot be shortened by.
fn beginning(id: &str) -> &str {
    &id[..id.floor_char_boundary(LEAST_ID)]
}

/// The page about the user: the same whatever the project.
#[derive(Debug)]
pub struct Profile(Page);

impl Profile {
    /// Reads it, with what is wrong with it, as [`Notes::read`] does.
    pub fn read(env: &Env) -> (Profile, Vec<String>) {
        let mut wrong = Vec::new();
        let page = Page::read(Profile::path(env), Kind::OF_USER, env, &mut wrong);
        (Profile(page.unwrap_or_else(|error| Page::absent(error, &mut wrong))), wrong)
    }

    /// Reads it for somebody who will say if it cannot be read.
    pub fn open(env: &Env, wrong: &mut Vec<String>) -> Result<Profile, String> {
        Page::read(Profile::path(env), Kind::OF_USER, env, wrong).map(Profile)
    }

    /// Changes it, as [`Notes::change`] does.
    pub fn change<T>(
        env: &Env,
        wrong: &mut Vec<String>,
        change: impl FnOnce(&mut Profile) -> Result<T, String>,
    ) -> Result<T, String> {
        Page::change(Profile::path(env), Kind::OF_USER, "what holds for you in every project", env, wrong, |page| {
            let mut profile = Profile(std::mem::take(page));
            let result = change(&mut profile);
            *page = profile.0;
            result
        })
    }

    pub fn path(env: &Env) -> PathBuf {
        env.data_dir().join("profile.md")
    }

    /// The last word on it counts.
    pub fn role(&self, now: Time) -> Option<&Note> {
        self.notes(Kind::Role, now).last()
    }

    pub fn preferences(&self, now: Time) -> impl Iterator<Item = &Note> {
        self.notes(Kind::Preference, now)
    }

    pub fn rules(&self, now: Time) -> impl Iterator<Item = &Note> {
        self.notes(Kind::Rule, now)
    }

    fn notes(&self, kind: Kind, now: Time) -> impl Iterator<Item = &Note> {
        self.0.of(kind).filter(move |note| !note.is_expired(now))
    }

    /// Writes something down. There is one role, and one preference about a thing: `language: English`.
    pub fn put(&mut self, note: Note) -> Note {
        let (kind, text) = (note.kind, note.text.clone());
        let about = |text: &str| {
            let (about, _) = text.split_once([':', '='])?;
            Some(about.trim().to_lowercase()).filter(|about| !about.contains(char::is_whitespace))
        };
        self.0.put(note, |old| {
            let same = match kind {
                Kind::Role => true,
                Kind::Preference => about(&text).is_some() && about(&text) == about(&old.text),
                _ => false,
            };
            old.kind == kind && (same || old.text == text)
        })
    }

    /// Takes notes off the page: all, or if one of the ids is none, nothing.
    pub fn remove(&mut self, ids: &[u32]) -> Result<Vec<Note>, String> {
        self.0.remove(ids)
    }

    /// The ids of whatever is written as a role, over or not.
    pub fn roles(&self) -> Vec<u32> {
        self.0.of(Kind::Role).map(|role| role.id).collect()
    }
}

/// Whether two ids are of one session: one may be shortened in the name of a file, and by hand.
pub fn is_same(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    short == long || short.len() >= LEAST_ID && long.starts_with(short)
}

/// A file of lines.
#[derive(Debug, Default)]
struct Page {
    lines: Vec<Line>,
    /// The file as it was.
    content: Vec<u8>,
}

#[derive(Debug)]
struct Line {
    /// With the end of the line, if it has one.
    bytes: Vec<u8>,
    says: Says,
}

impl Page {
    fn absent(error: String, wrong: &mut Vec<String>) -> Page {
        wrong.push(format!("{error}; taken as not there"));
        Page::default()
    }

    fn read(path: PathBuf, kinds: &[Kind], env: &Env, wrong: &mut Vec<String>) -> Result<Page, String> {
        let content = match std::fs::read(&path) {
            Ok(content) => content,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        let zone = LazyCell::new(|| env.zone());
        let wall = |wall: Time| if wall.0 < FAR { zone.of_wall_clock(wall) } else { wall };
        let mut lines = Vec::new();
        for (number, bytes) in (1..).zip(content.split_inclusive(|byte| *byte == b'\n')) {
            let says = parse(bytes, kinds, &wall).unwrap_or_else(|why| {
                wrong.push(format!("{}:{number}: {why}; skipped", path.display()));
                Says::Nothing
            });
            lines.push(Line { bytes: bytes.into(), says });
        }
        let mut page = Page { lines, content };
        page.number();
        Ok(page)
    }

    /// Gives an id to every note that has none, or one that another has, too.
    fn number(&mut self) {
        let mut known = HashSet::new();
        let mut without = Vec::new();
        for (index, line) in self.lines.iter().enumerate() {
            if let Says::Note(note, _) = &line.says
                && (note.id == 0 || !known.insert(note.id))
            {
                without.push(index);
            }
        }
        for index in without {
            let free = self.free(&known);
            known.insert(free);
            let Line { bytes, says: Says::Note(note, place) } = &mut self.lines[index] else { continue };
            note.id = free;
            let number = if place.start == place.end { format!(" {free}") } else { free.to_string() };
            bytes.splice(place.clone(), number.into_bytes());
        }
    }

    /// The next id: none is taken again as long as a later one is there.
    fn free(&self, known: &HashSet<u32>) -> u32 {
        let last = known.iter().max().copied().unwrap_or(0);
        if last < line::MOST { last + 1 } else { (1..).find(|id| !known.contains(id)).unwrap_or(line::MOST) }
    }

    /// Reads, changes and writes it while nobody else does. It is written if something in it has changed.
    fn change<T>(
        path: PathBuf,
        kinds: &[Kind],
        head: &str,
        env: &Env,
        wrong: &mut Vec<String>,
        change: impl FnOnce(&mut Page) -> Result<T, String>,
    ) -> Result<T, String> {
        // If it is a link, what it leads to is replaced, not the link.
        let path = std::fs::canonicalize(&path).unwrap_or(path);
        let trouble = |error: io::Error| format!("{}: {error}", path.display());
        let lock = Lock::take(&path.with_extension("lock"), &Deadline::after(PATIENCE)).map_err(trouble)?;
        let Some(_lock) = lock else {
            return Err(format!("{}: another process is busy with it; try again", path.display()));
        };
        let mut page = Page::read(path.clone(), kinds, env, wrong)?;
        let content = std::mem::take(&mut page.content);
        if content.is_empty() {
            let head: String = head.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
            let head = format!("# session-monitor: {head}. One line each; change or delete them as you like.");
            page.append(&head, Says::Nothing);
            page.append("", Says::Nothing);
        }
        let untouched = page.lines.len();
        let done = change(&mut page)?;
        let changed = page.lines.iter().flat_map(|line| line.bytes.iter().copied()).collect::<Vec<u8>>();
        let only_head = content.is_empty() && page.lines.len() == untouched;
        if changed != content && !only_head {
            super::replace(&path, &changed).map_err(trouble)?;
        }
        Ok(done)
    }

    fn says(&self) -> impl Iterator<Item = &Says> {
        self.lines.iter().map(|line| &line.says)
    }

    fn of(&self, kind: Kind) -> impl Iterator<Item = &Note> {
        self.says().filter_map(move |says| match says {
            Says::Note(note, _) if note.kind == kind => Some(note),
            _ => None,
        })
    }

    /// A line at the end, which ends as the others do.
    fn append(&mut self, text: &str, says: Says) {
        let style = match self.lines.first() {
            Some(first) if end(&first.bytes) == b"\r\n" => "\r\n",
            _ => "\n",
        };
        if let Some(last) = self.lines.last_mut()
            && end(&last.bytes).is_empty()
        {
            last.bytes.extend_from_slice(style.as_bytes());
        }
        self.lines.push(Line { bytes: format!("{text}{style}").into_bytes(), says });
    }

    /// Writes a note in the place of the last that is the same, else at the end.
    fn put(&mut self, mut note: Note, same: impl Fn(&Note) -> bool) -> Note {
        let mut known = HashSet::new();
        let mut old = None;
        for line in &mut self.lines {
            let Says::Note(other, _) = &line.says else { continue };
            known.insert(other.id);
            if same(other) {
                note.id = other.id;
                note.created = other.created.clone().filter(|_| other.text == note.text).or(note.created);
                old = Some(line);
            }
        }
        match old {
            Some(line) => {
                line.bytes = [note.to_string().as_bytes(), end(&line.bytes)].concat();
                line.says = Says::Note(note.clone(), 0..0);
            }
            None => {
                note.id = self.free(&known);
                self.append(&note.to_string(), Says::Note(note.clone(), 0..0));
            }
        }
        note
    }

    fn remove(&mut self, ids: &[u32]) -> Result<Vec<Note>, String> {
        let mut removed: Vec<Note> = Vec::new();
        for id in ids {
            // Who names one twice means it once.
            if removed.iter().any(|note| note.id == *id) {
                continue;
            }
            let is_it = |line: &Line| matches!(&line.says, Says::Note(note, _) if note.id == *id);
            match self.lines.iter().position(is_it).map(|place| self.lines.remove(place).says) {
                Some(Says::Note(note, _)) => removed.push(note),
                _ => return Err(format!("nothing has the id {id}")),
            }
        }
        Ok(removed)
    }
}

/// The end of a line: a newline, with or without a carriage return, or nothing.
fn end(line: &[u8]) -> &[u8] {
    let newline = line.len() - usize::from(line.ends_with(b"\n"));
    let start = newline - usize::from(line[..newline].ends_with(b"\r") && newline < line.len());
    &line[start..]
}
