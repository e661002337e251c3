//! Files as a whole: what is there, when it was written, pipes and locks.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use session_core::file::created;

use crate::support::world::World;

/// Writes a file anew that is younger than all others. The clock of a file system is coarse.
pub fn make_younger(path: &Path, content: &str) {
    let born = |path: &Path| {
        let file = std::fs::File::open(path).expect("a file");
        created(&file, &file.metadata().expect("metadata"))
    };
    let mark = tempfile::NamedTempFile::new_in(path.parent().expect("a parent")).expect("a file");
    loop {
        let _ = std::fs::remove_file(path);
        std::fs::write(path, content).expect("a file");
        if born(path).is_none() || born(path) > born(mark.path()) {
            return;
        }
    }
}

/// All files below a directory: content, time of modification, mode. Directories have no content.
pub type Files = BTreeMap<PathBuf, (Option<Vec<u8>>, (i64, i64), u32)>;

pub fn files(dir: &Path) -> Files {
    let mut all = Files::new();
    let mut todo = vec![dir.to_path_buf()];
    while let Some(path) = todo.pop() {
        let Ok(meta) = std::fs::metadata(&path) else {
            continue;
        };
        let content = if meta.is_dir() {
            todo.extend(
                std::fs::read_dir(&path)
                    .expect("a directory")
                    .map(|entry| entry.expect("an entry").path()),
            );
            None
        } else {
            Some(std::fs::read(&path).expect("a file"))
        };
        all.insert(
            path,
            (
                content,
                (meta.mtime(), meta.mtime_nsec()),
                meta.mode() & 0o777,
            ),
        );
    }
    all
}

pub fn read_json(path: &Path) -> Value {
    serde_json::from_slice(
        &std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    )
    .expect("JSON")
}

/// The time it is for files.
pub fn file_clock(world: &World) -> SystemTime {
    fs::metadata(world.write("clock", ""))
        .and_then(|meta| meta.modified())
        .expect("a time")
}

pub fn written_ago(world: &World, path: &Path, seconds: u64) {
    let time = file_clock(world) - Duration::from_secs(seconds);
    File::options()
        .append(true)
        .open(path)
        .and_then(|file| file.set_modified(time))
        .expect("stamped");
}

pub fn file_time(time: &str) -> std::time::SystemTime {
    let time = session_format::time::Time::parse(time.as_bytes()).expect("a time");
    UNIX_EPOCH + Duration::from_millis(time.0.unsigned_abs())
}

/// A lock on a file, until it is dropped.
pub struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file is not enough: a process that another test is just starting may have it open, too.
        self.0.unlock().expect("unlocked");
    }
}

/// Locks a file that was made at some time.
pub fn lock(world: &World, below: &str, made: &str) -> Lock {
    let file = File::create(world.write(below, "")).expect("a file");
    file.set_modified(file_time(made)).expect("a time");
    file.lock().expect("a lock");
    Lock(file)
}

pub fn fifo(path: &Path) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    let _ = fs::remove_file(path);
    let path = std::ffi::CString::new(path.as_os_str().as_bytes()).expect("a path");
    // SAFETY: a valid string.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

/// The paths of all files below a directory, in their order.
pub fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    entries.sort();
    entries
        .into_iter()
        .flat_map(|path| {
            if path.is_dir() {
                files_below(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// Makes a file old enough to be known by its stamp.
pub fn settle(path: &Path) {
    let past = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    File::options()
        .append(true)
        .open(path)
        .and_then(|file| file.set_modified(past))
        .expect("an older file");
}

/// Puts a script into `bin`. Another process writes it: one that is started meanwhile by another test would have it open to
/// write, and then nobody can run it.
pub fn script(world: &World, name: &str, text: &str) {
    let path = world.path("bin").join(name);
    let done = std::process::Command::new("/bin/sh")
        .args([
            "-c",
            r#"mkdir -p "${2%/*}" && printf '#!/bin/sh\n%s\n' "$1" >"$2" && chmod 755 "$2""#,
            "sh",
            text,
        ])
        .arg(path)
        .status();
    assert!(done.expect("sh runs").success());
}
