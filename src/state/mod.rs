//! Files of our own: read whole, written whole, replaced in one step.

pub mod cursors;
pub mod journal;
pub mod notes;

use std::fs::{self, DirBuilder, DirEntry, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::budget::Deadline;
use crate::file;

/// Replaces a file. A reader sees the old content or the new, never a part; nobody but the user may read it.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    make_parent(path)?;
    let temporary = file::temporary_beside(path);
    // Made anew or not at all: whatever stands there already, a link above all, was put there by somebody else.
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    let written = file.write_all(content).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

pub fn make_parent(path: &Path) -> io::Result<()> {
    let dir = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Keeps other processes out as long as it lives.
#[derive(Debug)]
pub struct Lock {
    /// Held, not used: the lock goes with it.
    _file: File,
    path: PathBuf,
}

impl Lock {
    /// Waits no longer than the deadline; none if somebody else has it until then.
    pub fn take(path: &Path, deadline: &Deadline) -> io::Result<Option<Lock>> {
        make_parent(path)?;
        loop {
            let mut options = OpenOptions::new();
            let file = file::open_own(options.read(true).write(true).create(true).truncate(false).mode(0o600), path)?;
            while let Err(error) = file.try_lock() {
                match error {
                    TryLockError::Error(error) => return Err(error),
                    TryLockError::WouldBlock if deadline.is_over() => return Ok(None),
                    TryLockError::WouldBlock => std::thread::sleep(Duration::from_millis(1)),
                }
            }
            // Somebody may have removed the file in between, and then others lock another one.
            match fs::symlink_metadata(path) {
                Ok(there) if there.ino() == file.metadata()?.ino() => {
                    return Ok(Some(Lock { _file: file, path: path.into() }));
                }
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ if deadline.is_over() => return Ok(None),
                _ => {}
            }
        }
    }

    /// Removes the lock file. A process that waits for it notices, and makes a new one.
    pub fn remove(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}

/// Removes the temporary files that killed processes left in one of our directories. What cannot be removed stays.
pub fn remove_leftovers(dir: &Path, before: i64) {
    for path in old_files(dir, before).filter(|path| path.file_name().is_some_and(file::is_temporary)) {
        let _ = fs::remove_file(path);
    }
}

/// The files in one of our directories that nobody has touched since then, in seconds since 1970.
fn old_files(dir: &Path, before: i64) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let is_old = move |entry: &DirEntry| entry.metadata().is_ok_and(|meta| meta.is_file() && meta.mtime() < before);
    entries.filter(is_old).map(|entry| entry.path())
}
