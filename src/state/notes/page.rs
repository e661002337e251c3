//! A file of lines that belongs to the user: read, changed while nobody else does, and written whole or not at all.
//!
//! What a line says is for [`line`](super::line); a line that says nothing of ours is kept as it is.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::line::{self, Kind, Note, Says, parse};
use crate::budget::Deadline;
use crate::env::Env;
use crate::file;
use crate::state::{Lock, replace};
use crate::time::Time;

/// How long another process may keep a page.
const PATIENCE: Duration = Duration::from_secs(10);
/// No clock goes further: the year 9000.
const FAR: i64 = 221_845_305_600_000;

/// A file of lines.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub lines: Vec<Line>,
    /// The file as it was.
    content: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct Line {
    /// With the end of the line, if it has one.
    pub bytes: Vec<u8>,
    pub says: Says,
}

impl Page {
    pub fn absent(error: String, wrong: &mut Vec<String>) -> Page {
        wrong.push(format!("{error}; taken as not there"));
        Page::default()
    }

    pub fn read(path: PathBuf, kinds: &[Kind], env: &Env, wrong: &mut Vec<String>) -> Result<Page, String> {
        let content = match file::read(&path) {
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
    pub fn change<T>(
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
            replace(&path, &changed).map_err(trouble)?;
        }
        Ok(done)
    }

    pub fn says(&self) -> impl Iterator<Item = &Says> {
        self.lines.iter().map(|line| &line.says)
    }

    pub fn of(&self, kind: Kind) -> impl Iterator<Item = &Note> {
        self.says().filter_map(move |says| match says {
            Says::Note(note, _) if note.kind == kind => Some(note),
            _ => None,
        })
    }

    /// A line at the end, which ends as the others do.
    pub fn append(&mut self, text: &str, says: Says) {
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
    pub fn put(&mut self, mut note: Note, same: impl Fn(&Note) -> bool) -> Note {
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

    pub fn remove(&mut self, ids: &[u32]) -> Result<Vec<Note>, String> {
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
pub(super) fn end(line: &[u8]) -> &[u8] {
    let newline = line.len() - usize::from(line.ends_with(b"\n"));
    let start = newline - usize::from(line[..newline].ends_with(b"\r") && newline < line.len());
    &line[start..]
}
