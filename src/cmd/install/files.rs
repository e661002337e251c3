//! Files of others, changed carefully: all that is to be written is written beside its place first, and only when that
//! worked is anything put there. A link stays a link, a mode stays a mode.

use std::fmt;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::edit::Fault;
use crate::file;

/// A file that could not be read or changed.
#[derive(Debug)]
pub struct Trouble {
    path: PathBuf,
    /// Line and column.
    at: Option<(usize, usize)>,
    why: String,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}:", self.path.display())?;
        if let Some((line, column)) = self.at {
            write!(f, "{line}:{column}:")?;
        }
        write!(f, " {}", self.why)
    }
}

impl Trouble {
    pub fn new(path: &Path, why: impl Into<String>) -> Trouble {
        Trouble { path: path.into(), at: None, why: why.into() }
    }

    pub fn at(path: &Path, Fault { line, column, why }: Fault) -> Trouble {
        Trouble { path: path.into(), at: Some((line, column)), why }
    }
}

fn trouble(path: &Path) -> impl Fn(io::Error) -> Trouble {
    move |error| Trouble::new(path, error.to_string())
}

/// The content of a file, if it is there.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, Trouble> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Ok(found) if found.is_dir() => Err(Trouble::new(path, "is a directory, not a file")),
        // A pipe would be waited for.
        Ok(found) if !found.is_file() => Err(Trouble::new(path, "is not a regular file")),
        found => found.and_then(|_| file::read(path)).map(Some).map_err(trouble(path)),
    }
}

/// What is to be done to files.
#[derive(Debug, Default)]
pub struct Changes {
    writes: Vec<Replacement>,
    removals: Vec<(PathBuf, PathBuf)>,
}

#[derive(Debug)]
struct Replacement {
    path: PathBuf,
    before: Option<Vec<u8>>,
    after: Vec<u8>,
    /// The file whose mode it gets.
    like: PathBuf,
}

impl Changes {
    /// Replaces what was read before. In this order.
    pub fn write(&mut self, path: &Path, before: Option<Vec<u8>>, after: impl Into<Vec<u8>>) {
        self.writes.push(Replacement { path: path.into(), before, after: after.into(), like: path.into() });
    }

    /// Copies a file to a place where nothing is yet.
    pub fn copy(&mut self, path: &Path, content: &[u8], to: &Path) {
        self.writes.push(Replacement { path: to.into(), before: None, after: content.into(), like: path.into() });
    }

    /// Removes a file, and the directories that are empty then, up to a directory that stays. After all writing.
    pub fn remove(&mut self, path: &Path, below: &Path) {
        self.removals.push((path.into(), below.into()));
    }

    pub fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.removals.is_empty()
    }

    pub fn carry_out(self) -> Result<(), Trouble> {
        let staged: Result<Vec<Staged>, Trouble> = self.writes.into_iter().map(Staged::new).collect();
        for file in staged? {
            file.put()?;
        }
        for (path, below) in &self.removals {
            fs::remove_file(path).map_err(trouble(path))?;
            let parents = path.ancestors().skip(1).take_while(|dir| *dir != below && dir.starts_with(below));
            // The first that is not empty ends it.
            let _ = parents.map(fs::remove_dir).find(Result::is_err);
        }
        Ok(())
    }
}

/// A file that is written, but not in its place yet. Dropped, it leaves nothing behind.
struct Staged {
    /// Where it goes, at the end of all links.
    target: PathBuf,
    temporary: PathBuf,
    before: Option<Vec<u8>>,
    /// Directories that were made for it.
    made: Vec<PathBuf>,
}

impl Staged {
    fn new(Replacement { path, before, after, like }: Replacement) -> Result<Staged, Trouble> {
        let target = followed(&path);
        let no_name = || Trouble::new(&path, "is no name of a file");
        let (dir, _) = target.parent().zip(target.file_name()).ok_or_else(no_name)?;
        let temporary = file::temporary_beside(&target);
        let missing = dir.ancestors().take_while(|dir| fs::symlink_metadata(dir).is_err());
        let made = missing.map(Path::to_owned).collect();
        let mode = fs::metadata(&like).map(|like| like.permissions()).ok();
        let staged = Staged { temporary, before, made, target: target.clone() };
        let dir = fs::create_dir_all(dir);
        let written = dir.and_then(|()| staged.write(&after, mode));
        written.map_err(|error| Trouble::new(&path, format!("cannot be written: {error}; nothing was changed")))?;
        Ok(staged)
    }

    fn write(&self, content: &[u8], mode: Option<Permissions>) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&self.temporary)?;
        if let Some(mode) = mode {
            file.set_permissions(mode)?;
        }
        file.write_all(content)?;
        file.sync_all()
    }

    fn put(mut self) -> Result<(), Trouble> {
        if read(&self.target)? != self.before {
            return Err(Trouble::new(&self.target, "was changed by another program just now; run this again"));
        }
        fs::rename(&self.temporary, &self.target).map_err(trouble(&self.target))?;
        self.made.clear();
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.temporary);
        for dir in &self.made {
            let _ = fs::remove_dir(dir);
        }
    }
}

/// Where a path ends when links are followed, also if nothing is there.
fn followed(path: &Path) -> PathBuf {
    const LINKS: usize = 40;
    let mut at = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&at) {
            Ok(link) => at = at.parent().unwrap_or(Path::new("/")).join(link),
            Err(_) => break,
        }
    }
    at
}
