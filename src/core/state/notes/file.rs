//! Reading a notes file, and changing it while nobody else does: it is written whole or not at all.
//!
//! What a line says is for [`line`](super::line); a line that says nothing of ours is kept as it is.

use std::cell::LazyCell;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Notes;
use super::line::{self, Kind, Says, parse};
use crate::env::Env;
use crate::file::{self, Unreadable};
use crate::state::{Lock, replace};
use session_format::boundary::substr;
use session_format::budget::Deadline;
use session_format::entry::Id;
use session_format::hash::HashSet;
use session_format::time::Time;

/// Whom a notes file is about. A project is known by its directory (`Project::dir`).
#[derive(Debug, Clone, Copy)]
pub enum Owner<'p> {
    Project(&'p Path),
    User,
}

impl<'p> From<&'p Path> for Owner<'p> {
    fn from(project: &'p Path) -> Owner<'p> {
        Owner::Project(project)
    }
}

impl Owner<'_> {
    fn kinds(self) -> &'static [Kind] {
        match self {
            Owner::Project(_) => Kind::OF_PROJECT,
            Owner::User => Kind::OF_USER,
        }
    }

    /// The file of a project is called like its directory, so that a person finds it, and by a hash of the whole path.
    fn path(self, env: &Env) -> PathBuf {
        let Owner::Project(project) = self else {
            return env.data_dir().join("profile.md");
        };
        let hash = Id::of(project.as_os_str().as_bytes()).0;
        let name = project.file_name().unwrap_or_default().to_string_lossy();
        let plain = |char: char| {
            if char.is_alphanumeric() || "-_.".contains(char) {
                char
            } else {
                '-'
            }
        };
        let name: String = name.trim_start_matches('.').chars().map(plain).collect();
        let name = if name.is_empty() {
            "root"
        } else {
            substr(&name, ..name.floor_char_boundary(100))
        };
        env.data_dir()
            .join("projects")
            .join(format!("{name}-{:08x}.md", (hash ^ hash >> 32) as u32))
    }

    /// The first line of a new file.
    fn head(self, env: &Env) -> String {
        let about = match self {
            Owner::Project(project) => format!("notes of {}", env.tilde(project)),
            Owner::User => "what holds for you in every project".into(),
        };
        let about = about.replace(char::is_control, " ");
        format!("# session-monitor: {about}. One line each; change or delete them as you like.")
    }
}

#[derive(Debug)]
pub(super) struct NoteLine {
    /// With the end of the line, if it has one.
    pub bytes: Vec<u8>,
    pub says: Says,
}

impl NoteLine {
    /// Replaces the text, and keeps the end of the line.
    pub fn set(&mut self, text: &str) {
        self.bytes = [text.as_bytes(), self.end()].concat();
    }

    /// A newline, with or without a carriage return, or nothing.
    fn end(&self) -> &[u8] {
        let ends: [&[u8]; 2] = [b"\r\n", b"\n"];
        ends.into_iter()
            .find(|end| self.bytes.ends_with(end))
            .unwrap_or_default()
    }
}

impl Notes {
    /// Reads a file, with a sentence for each line that is skipped. A missing file is empty; so is one that cannot be read, for now.
    pub fn read<'p>(env: &Env, owner: impl Into<Owner<'p>>) -> (Notes, Vec<String>) {
        let mut problems = Vec::new();
        let notes = Notes::open(env, owner, &mut problems).unwrap_or_else(|why| {
            problems.push(format!("{why}; taken as not there"));
            Notes::default()
        });
        (notes, problems)
    }

    /// Reads a file for a caller who reports that it cannot be read.
    pub fn open<'p>(
        env: &Env,
        owner: impl Into<Owner<'p>>,
        problems: &mut Vec<String>,
    ) -> Result<Notes, String> {
        let owner = owner.into();
        let path = owner.path(env);
        let content = content(&path).map_err(|unreadable| unreadable.to_string())?;
        Ok(Notes::parse(&content, &path, owner.kinds(), env, problems))
    }

    /// Changes a file. Nobody else does meanwhile, and if the change fails, the file stays as it is.
    pub fn change<'p, T>(
        env: &Env,
        owner: impl Into<Owner<'p>>,
        problems: &mut Vec<String>,
        change: impl FnOnce(&mut Notes) -> Result<T, String>,
    ) -> Result<T, String> {
        /// Another process may keep the file for so long.
        const PATIENCE: Duration = Duration::from_secs(10);
        let owner = owner.into();
        let path = owner.path(env);
        // If it is a link, what it leads to is replaced, not the link.
        let path = std::fs::canonicalize(&path).unwrap_or(path);
        let trouble = |error: io::Error| format!("{}: {error}", path.display());
        let lock = Lock::take(
            &path.with_extension("lock"),
            &Deadline::after(env.patience(PATIENCE)),
        )
        .map_err(trouble)?;
        let Some(_lock) = lock else {
            return Err(format!(
                "{}: another process is busy with it; try again",
                path.display()
            ));
        };
        let content = content(&path).map_err(|unreadable| unreadable.to_string())?;
        let mut notes = Notes::parse(&content, &path, owner.kinds(), env, problems);
        if content.is_empty() {
            notes.append(&owner.head(env), Says::Nothing);
            notes.append("", Says::Nothing);
        }
        let untouched = notes.lines.len();
        let done = change(&mut notes)?;
        let changed: Vec<u8> = notes
            .lines
            .iter()
            .flat_map(|line| line.bytes.iter().copied())
            .collect();
        let only_head = content.is_empty() && notes.lines.len() == untouched;
        if changed != content && !only_head {
            replace(&path, &changed).map_err(trouble)?;
        }
        Ok(done)
    }

    pub fn path<'p>(env: &Env, owner: impl Into<Owner<'p>>) -> PathBuf {
        owner.into().path(env)
    }

    fn parse(
        content: &[u8],
        path: &Path,
        kinds: &[Kind],
        env: &Env,
        problems: &mut Vec<String>,
    ) -> Notes {
        /// No clock goes further: the year 9000.
        const FAR: i64 = 221_845_305_600_000;
        let zone = LazyCell::new(|| env.zone());
        let wall = |wall: Time| {
            if wall.0 < FAR {
                zone.of_wall_clock(wall)
            } else {
                wall
            }
        };
        let mut notes = Notes::default();
        for (number, bytes) in (1..).zip(content.split_inclusive(|byte| *byte == b'\n')) {
            let says = parse(bytes, kinds, &wall).unwrap_or_else(|why| {
                problems.push(format!("{}:{number}: {why}; skipped", path.display()));
                Says::Nothing
            });
            notes.lines.push(NoteLine {
                bytes: bytes.into(),
                says,
            });
        }
        notes.number();
        notes
    }

    /// The lines of a project's file, wherever it is; what is wrong in it is for the commands of that project to say.
    pub(super) fn of_project(path: &Path, env: &Env) -> Result<Notes, Unreadable> {
        content(path)
            .map(|content| Notes::parse(&content, path, Kind::OF_PROJECT, env, &mut Vec::new()))
    }

    /// Gives an id to every note that has none, or the id of an earlier note.
    fn number(&mut self) {
        let mut ids = HashSet::default();
        let mut without = Vec::new();
        for line in &mut self.lines {
            if let Says::Note(note, _) = &line.says
                && (note.id == 0 || !ids.insert(note.id))
            {
                without.push(line);
            }
        }
        for NoteLine { bytes, says } in without {
            let Says::Note(note, digits) = says else {
                continue;
            };
            note.id = free_id(&ids);
            ids.insert(note.id);
            let blank = if digits.start == digits.end { " " } else { "" };
            bytes.splice(digits.clone(), format!("{blank}{}", note.id).into_bytes());
        }
    }

    /// Adds a line at the end, which ends as the others do.
    pub(super) fn append(&mut self, text: &str, says: Says) {
        let end = match self.lines.first() {
            Some(first) if first.end() == b"\r\n" => "\r\n",
            _ => "\n",
        };
        if let Some(last) = self.lines.last_mut().filter(|last| last.end().is_empty()) {
            last.bytes.extend_from_slice(end.as_bytes());
        }
        self.lines.push(NoteLine {
            bytes: format!("{text}{end}").into_bytes(),
            says,
        });
    }
}

/// The next id: none is used again as long as a later one is there.
pub(super) fn free_id(ids: &HashSet<u32>) -> u32 {
    let last = ids.iter().max().copied().unwrap_or(0);
    if last < line::LARGEST_ID {
        last + 1
    } else {
        (1..line::LARGEST_ID)
            .find(|id| !ids.contains(id))
            .unwrap_or(line::LARGEST_ID)
    }
}

/// The content of a file; nothing if it is not there.
fn content(path: &Path) -> Result<Vec<u8>, Unreadable> {
    match file::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        content => content.map_err(|error| Unreadable::new(path, error)),
    }
}
