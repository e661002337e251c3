//! Files of our own: read whole, written whole, replaced in one step.

pub mod cursors;
pub mod journal;
pub mod live;
pub mod notes;
pub mod seen;
pub mod sessions;
pub mod table;

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::dir;
use crate::file;
use session_format::budget::Deadline;

/// Replaces a file. A reader sees the old content or the new, never a part; nobody but the user may read it.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    replace_with(path, |file| file.write_all(content))
}

/// The same with content that is written piece by piece.
pub fn replace_with(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    make_parent(path)?;
    let temporary = file::temporary_beside(path);
    // Made anew or not at all: whatever stands there already, a link above all, was put there by somebody else.
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&temporary)?;
    let mut file = BufWriter::new(file);
    let written = write(&mut file)
        .and_then(|()| file.flush())
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Appends a line of JSON in one write, so that two processes do not write into each other's lines.
fn append_line(path: &Path, line: &impl serde::Serialize) -> io::Result<File> {
    make_parent(path)?;
    let mut file = file::open_own(
        OpenOptions::new().append(true).create(true).mode(0o600),
        path,
    )?;
    let mut line = serde_json::to_vec(line)?;
    line.push(b'\n');
    file.write_all(&line).map(|()| file)
}

pub fn make_parent(path: &Path) -> io::Result<()> {
    let dir = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Keeps other processes out as long as it lives.
#[derive(Debug)]
pub struct Lock {
    /// The lock goes with it.
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Waits no longer than the deadline; none if somebody else has it until then.
    pub fn take(path: &Path, deadline: &Deadline) -> io::Result<Option<Lock>> {
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600);
        loop {
            let (file, meta) = match file::open_own_with(&mut options, path) {
                // Most of the time the directory is there.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    make_parent(path)?;
                    file::open_own_with(&mut options, path)?
                }
                opened => opened?,
            };
            while let Err(error) = file.try_lock() {
                match error {
                    TryLockError::Error(error) => return Err(error),
                    TryLockError::WouldBlock if deadline.is_over() => return Ok(None),
                    TryLockError::WouldBlock => std::thread::sleep(Duration::from_millis(1)),
                }
            }
            // Somebody may have removed the file in between, and then others lock another one.
            match fs::symlink_metadata(path) {
                Ok(there) if there.ino() == meta.ino() => {
                    return Ok(Some(Lock {
                        file,
                        path: path.into(),
                    }));
                }
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ if deadline.is_over() => return Ok(None),
                _ => {}
            }
        }
    }

    /// A number that stands in the lock file itself; 0 in a new one.
    pub fn number(&self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        match self.file.read_at(&mut bytes, 0)? {
            8 => Ok(u64::from_le_bytes(bytes)),
            _ => Ok(0),
        }
    }

    pub(crate) fn set_number(&self, number: u64) -> io::Result<()> {
        self.file.write_all_at(&number.to_le_bytes(), 0)
    }

    /// Removes the lock file. A process that waits for it notices, and makes a new one.
    pub fn remove(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}

/// Removes the temporary files that killed processes left in one of our directories. What cannot be removed stays.
pub fn remove_leftovers(dir: &Path, before: i64) {
    for path in old_files(dir, before)
        .into_iter()
        .filter(|path| path.file_name().is_some_and(file::is_temporary))
    {
        let _ = fs::remove_file(path);
    }
}

/// The files in one of our directories that nobody has touched since then, in seconds since 1970.
fn old_files(dir: &Path, before: i64) -> Vec<PathBuf> {
    let entries = dir::entries(dir, &mut Vec::new());
    let is_old = |path: &PathBuf| {
        fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file() && meta.mtime() < before)
    };
    entries
        .iter()
        .map(|entry| entry.path())
        .filter(is_old)
        .collect()
}

/// Tells bytes that are not as they were written. Four sums at a time, because some files are checked whole at every use;
/// each step can be undone, so that one wrong word is always found.
pub(crate) fn checksum(seed: u64, bytes: &[u8]) -> u64 {
    let step = |sum: u64, word: u64| {
        (sum ^ word)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29)
    };
    let mut sums = [seed, 1, 2, 3];
    let (blocks, rest) = bytes.as_chunks::<32>();
    for block in blocks {
        let (words, _) = block.as_chunks::<8>();
        sums.iter_mut()
            .zip(words)
            .for_each(|(sum, word)| *sum = step(*sum, u64::from_le_bytes(*word)));
    }
    let mut last = [0; 32];
    last[..rest.len()].copy_from_slice(rest);
    let (words, _) = last.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    sums.into_iter().chain(words).fold(bytes.len() as u64, step)
}
