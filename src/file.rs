//! Opening files without being tricked.
//!
//! A named pipe in the place of a file would make whoever opens it wait for ever; here it is an error. Our own files are
//! never opened through a symbolic link: a cloned repository could point it at any file of the user.

use std::collections::hash_map::RandomState;
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// `O_NONBLOCK`: opening does not wait for the other end of a pipe. Without meaning for a file.
const NO_WAIT: OFlags = OFlags::NONBLOCK;

/// Opens a file for reading.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().read(true), OFlags::empty(), path)
}

/// Opens one of our own files as the options say. A symbolic link in its place is an error.
pub fn open_own(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    open_with(options, OFlags::NOFOLLOW, path).map_err(|error| match error.raw_os_error() {
        Some(code) if code == rustix::io::Errno::LOOP.raw_os_error() => {
            io::Error::other("a symbolic link, which is not followed here; remove it")
        }
        _ => error,
    })
}

fn open_with(options: &mut OpenOptions, flags: OFlags, path: &Path) -> io::Result<File> {
    let file = options.custom_flags((NO_WAIT | flags).bits() as i32).open(path)?;
    match file.metadata()?.file_type() {
        kind if kind.is_file() => Ok(file),
        kind if kind.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        _ => Err(io::Error::other("neither a file nor a directory")),
    }
}

pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads one of our own files.
pub fn read_own(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_own(OpenOptions::new().read(true), path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub fn read_to_string(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// A name beside a file that nobody can guess, for what is written there before it takes the file's place.
pub fn temporary_beside(path: &Path) -> PathBuf {
    // The standard library seeds every `RandomState` from the system's randomness.
    let random = RandomState::new().build_hasher().finish();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{random:016x}.tmp"))
}
