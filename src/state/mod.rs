//! Files of our own: read whole, written whole, replaced in one step.

pub mod cursors;
pub mod journal;
pub mod notes;

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
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

/// Keeps other processes out as long as it lives. The file stays: deleting it would let two in at once.
#[derive(Debug)]
pub struct Lock(#[allow(dead_code, reason = "it is held, not used")] File);

impl Lock {
    /// Waits no longer than the deadline; none if somebody else has it until then.
    pub fn take(path: &Path, deadline: &Deadline) -> io::Result<Option<Lock>> {
        make_parent(path)?;
        let mut options = OpenOptions::new();
        let file = file::open_own(options.read(true).write(true).create(true).truncate(false).mode(0o600), path)?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Lock(file))),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if deadline.is_over() => return Ok(None),
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }
}
