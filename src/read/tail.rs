//! Opens transcripts, and says where to go on reading one.
//!
//! The hook, the list and `--follow` all ask here, so they agree on what a file is. It is the one that was read before if
//! its mark holds: the hash of the bytes before the offset and of the first bytes. The path alone says nothing, because a
//! file may be replaced, and neither does the inode, because the next file gets it once this one is deleted.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::cursor::Cursor;
use crate::file;

/// How far a file was read.
#[derive(Debug, Clone, Copy)]
pub struct Position {
    pub offset: u64,
    /// None if another program wrote the cursor.
    pub mark: Option<u64>,
    /// Nothing but the inode says that it is this file.
    pub by_inode: bool,
}

impl From<Cursor> for Position {
    fn from(cursor: Cursor) -> Position {
        Position { offset: cursor.offset, mark: Some(cursor.mark), by_inode: false }
    }
}

/// Where reading begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartAt {
    /// Nothing of this file was read before.
    First,
    /// Everything before this offset was read, and it is still the same.
    Resume(u64),
    /// The file was truncated, rewritten or replaced.
    Restart,
}

/// Opens a transcript. Whatever is not a file is an error.
pub fn open(path: &Path) -> io::Result<File> {
    file::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::IsADirectory => io::Error::other("is a directory, not a transcript"),
        _ => error,
    })
}

/// Says where to go on in a file that was read before.
pub fn start(file: &File, read: Option<Position>) -> io::Result<StartAt> {
    let Some(Position { offset, mark, by_inode }) = read else { return Ok(StartAt::First) };
    let holds = match mark {
        // Where nothing was read, nothing tells the file from another.
        _ if by_inode && offset == 0 => false,
        Some(mark) => Cursor { offset, mark }.holds(file)?,
        // At least it must stand after a line.
        None => is_line_start(file, offset)?,
    };
    Ok(match holds {
        true => StartAt::Resume(offset),
        // The inode was used again: this is another file.
        false if by_inode => StartAt::First,
        false => StartAt::Restart,
    })
}

fn is_line_start(file: &File, offset: u64) -> io::Result<bool> {
    if offset == 0 || offset > file.metadata()?.len() {
        return Ok(offset == 0);
    }
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset - 1)?;
    Ok(byte == *b"\n")
}
