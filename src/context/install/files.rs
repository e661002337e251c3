//! Careful changes to other programs' files: every new text is written beside its file first, and only when all that
//! worked do they take their places. A link stays a link, a mode stays a mode. A removal takes along the directories that
//! it leaves empty, but only those that we made.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use session_core::env::Env;
use session_core::file;
use session_core::state;
use session_format::boundary::substr;
use session_format::entry::Id;

/// A file that could not be read or changed.
#[derive(Debug)]
pub struct Trouble {
    /// The file, with the line and column if they are known.
    place: PathBuf,
    why: String,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.place.display(), self.why)
    }
}

impl Trouble {
    pub fn new(path: &Path, why: impl Into<String>) -> Trouble {
        Trouble {
            place: path.into(),
            why: why.into(),
        }
    }

    pub fn at(path: &Path, text: &str, byte: usize, why: &str) -> Trouble {
        let line = substr(text, ..byte).matches('\n').count() + 1;
        let column = substr(text, ..byte)
            .chars()
            .rev()
            .take_while(|char| *char != '\n')
            .count()
            + 1;
        let mut place = path.as_os_str().to_owned();
        place.push(format!(":{line}:{column}"));
        Trouble::new(Path::new(&place), why)
    }

    /// Adds what to do about it.
    pub fn with(mut self, advice: &str) -> Trouble {
        self.why += &format!("; {advice}");
        self
    }

    /// The message, with `~` for the home directory.
    pub fn shown(self, env: &Env) -> String {
        Trouble {
            place: env.tilde(&self.place).into(),
            ..self
        }
        .to_string()
    }
}

pub fn trouble(path: &Path) -> impl Fn(io::Error) -> Trouble {
    move |error| Trouble::new(path, error.to_string())
}

/// The content of a file, if it is there.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, Trouble> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Ok(found) if found.is_dir() => Err(Trouble::new(path, "is a directory, not a file")),
        // Reading a pipe would wait for ever.
        Ok(found) if !found.is_file() => Err(Trouble::new(path, "is not a regular file")),
        found => found
            .and_then(|_| file::read(path))
            .map(Some)
            .map_err(trouble(path)),
    }
}

#[derive(Default)]
pub struct Changes {
    writes: Vec<Replacement>,
    removals: Vec<PathBuf>,
}

struct Replacement {
    path: PathBuf,
    before: Option<Vec<u8>>,
    after: Vec<u8>,
    /// The file whose mode it gets.
    like: PathBuf,
}

impl Changes {
    /// Replaces the content that was read before. Writes happen in the order of these calls.
    pub fn write(&mut self, path: &Path, before: Option<Vec<u8>>, after: impl Into<Vec<u8>>) {
        self.writes.push(Replacement {
            path: path.into(),
            before,
            after: after.into(),
            like: path.into(),
        });
    }

    /// Copies a file to a path where nothing is yet.
    pub fn copy(&mut self, path: &Path, content: &[u8], to: &Path) {
        self.writes.push(Replacement {
            path: to.into(),
            before: None,
            after: content.into(),
            like: path.into(),
        });
    }

    /// Removes a file after all writing, and the directories made for it that are empty then.
    pub fn remove(&mut self, path: &Path) {
        self.removals.push(path.into());
    }

    /// The files that it changes, each with whether it is there afterwards.
    pub fn outcome(&self) -> impl Iterator<Item = (&Path, bool)> {
        let written = self.writes.iter().map(|write| (&*write.path, true));
        written.chain(self.removals.iter().map(|path| (&**path, false)))
    }

    pub fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.removals.is_empty()
    }

    pub fn carry_out(self, made: &Created) -> Result<(), Trouble> {
        let staged: Result<Vec<Staged>, Trouble> = self
            .writes
            .into_iter()
            .map(|write| Staged::new(write, made))
            .collect();
        for file in staged? {
            file.put()?;
        }
        for path in &self.removals {
            made.remove_file(path).map_err(trouble(path))?;
        }
        let dirs: BTreeSet<&Path> = self
            .removals
            .iter()
            .flat_map(|path| path.ancestors().skip(1))
            .collect();
        // Reversed: a directory sorts before its contents.
        dirs.into_iter()
            .rev()
            .try_for_each(|dir| made.remove_if_empty(dir).map_err(trouble(dir)))
    }
}

/// A file written beside its target. Dropping it removes it.
struct Staged<'m> {
    /// The path with symlinks resolved.
    target: PathBuf,
    temporary: PathBuf,
    before: Option<Vec<u8>>,
    /// The file that it is a copy of.
    original: Option<PathBuf>,
    dirs: Vec<PathBuf>,
    made: &'m Created,
}

impl Staged<'_> {
    fn new(
        Replacement {
            path,
            before,
            after,
            like,
        }: Replacement,
        made: &Created,
    ) -> Result<Staged<'_>, Trouble> {
        let target = followed(&path);
        let no_name = || Trouble::new(&path, "is no name of a file");
        let (dir, _) = target
            .parent()
            .zip(target.file_name())
            .ok_or_else(no_name)?;
        let temporary = file::temporary_beside(&target);
        let missing = dir
            .ancestors()
            .take_while(|dir| fs::symlink_metadata(dir).is_err());
        let dirs = missing.map(Path::to_owned).collect();
        let mode = fs::metadata(&like).map(|like| like.permissions()).ok();
        let original = Some(like).filter(|like| *like != path);
        let staged = Staged {
            temporary,
            before,
            original,
            dirs,
            target: target.clone(),
            made,
        };
        let dir = staged.dirs.iter().rev().try_for_each(|dir| made.make(dir));
        let written = dir.and_then(|()| staged.write(&after, mode));
        written.map_err(|error| {
            Trouble::new(
                &path,
                format!("cannot be written: {error}; nothing was changed"),
            )
        })?;
        Ok(staged)
    }

    fn write(&self, content: &[u8], mode: Option<Permissions>) -> io::Result<()> {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o644)
            .open(&self.temporary)?;
        if let Some(mode) = mode {
            file.set_permissions(mode)?;
        }
        file.write_all(content)?;
        file.sync_all()
    }

    fn put(mut self) -> Result<(), Trouble> {
        if read(&self.target)? != self.before {
            return Err(Trouble::new(
                &self.target,
                "was changed by another program just now; run this again",
            ));
        }
        let noted = match &self.original {
            // It was there without us.
            Some(original) => self.made.forget(&followed(original)),
            None if self.before.is_none() => self.made.note(&self.target, FILE),
            None => Ok(()),
        };
        noted
            .and_then(|()| fs::rename(&self.temporary, &self.target))
            .map_err(trouble(&self.target))?;
        self.dirs.clear();
        Ok(())
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.temporary);
        for dir in &self.dirs {
            let _ = self.made.remove_if_empty(dir);
        }
    }
}

/// The path with symlinks resolved, even if nothing is there.
pub fn followed(path: &Path) -> PathBuf {
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

/// The directories and files that `install` made, so that `uninstall` removes no others.
///
/// Each has a record in the state directory: a file named after the path, for a directory with its identity in it. A
/// directory that somebody removed and made again is not ours. Without a record an empty directory stays.
pub struct Created {
    records: PathBuf,
}

/// The record of a file. Unlike a directory it has no identity: editors replace it.
const FILE: &str = "file\n";

impl Created {
    pub fn new(env: &Env) -> Created {
        Created {
            records: env.state_dir().join("installed"),
        }
    }

    fn record(&self, path: &Path) -> PathBuf {
        self.records.join(format!(
            "{:016x}",
            Id::of(path.as_os_str().as_encoded_bytes()).0
        ))
    }

    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        match file::read_own(&self.record(path), 1 << 20) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            found => found.map(Some),
        }
    }

    fn note(&self, path: &Path, what: &str) -> io::Result<()> {
        state::replace(&self.record(path), what.as_bytes())
    }

    fn forget(&self, path: &Path) -> io::Result<()> {
        match fs::remove_file(self.record(path)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// True if nothing was there before the first install, where the links of a path lead.
    pub fn has_made(&self, path: &Path) -> bool {
        matches!(self.read(&followed(path)), Ok(Some(record)) if record == FILE.as_bytes())
    }

    fn make(&self, dir: &Path) -> io::Result<()> {
        // Whatever the user's mask is, nobody else may write there.
        match DirBuilder::new().mode(0o755).create(dir) {
            // Another install made it first.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
            made => made.and_then(|()| self.note(dir, &identity(dir)?)),
        }
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path).and_then(|()| self.forget(path))
    }

    /// Removes a directory if we made it and nothing is in it.
    fn remove_if_empty(&self, dir: &Path) -> io::Result<()> {
        let Some(made) = self.read(dir)? else {
            return Ok(());
        };
        if made != identity(dir)?.as_bytes() {
            return self.forget(dir);
        }
        match fs::remove_dir(dir) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => removed.and_then(|()| self.forget(dir)),
        }
    }
}

fn identity(dir: &Path) -> io::Result<String> {
    let found = fs::symlink_metadata(dir)?;
    Ok(format!(
        "{} {} {}\n",
        found.dev(),
        found.ino(),
        dir.display()
    ))
}
