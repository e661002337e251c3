//! Files that are files. A named pipe in the place of one would make whoever opens it wait for ever; here it is an error.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// `O_NONBLOCK`: opening does not wait for the other end of a pipe. Without meaning for a file.
const WITHOUT_WAITING: i32 = rustix::fs::OFlags::NONBLOCK.bits() as i32;

/// Opens a file for reading.
pub fn open(path: &Path) -> io::Result<File> {
    open_as(OpenOptions::new().read(true), path)
}

/// Opens a file as the options say.
pub fn open_as(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.custom_flags(WITHOUT_WAITING).open(path)?;
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

pub fn read_to_string(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
    Ok(text)
}
