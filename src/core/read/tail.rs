//! Where to go on reading a transcript.
//!
//! The hook, the list and `--follow` all ask here, so they agree on what a file is. It is the one that was read before if
//! its mark holds: the hash of the bytes before the offset and of the first bytes. The path alone says nothing, because a
//! file may be replaced, and neither does the inode, because the next file gets it once this one is deleted.

use std::io;

use super::source::Source;
use session_format::cursor::Cursor;
use session_format::entry::Position;

/// The end of what the last look read.
#[derive(Debug, Clone, Copy)]
pub struct LastRead {
    pub offset: Position,
    /// None if another program wrote the cursor.
    pub mark: Option<u64>,
    /// Nothing but the inode says that it is this file.
    pub by_inode: bool,
}

impl From<Cursor> for LastRead {
    fn from(cursor: Cursor) -> LastRead {
        LastRead {
            offset: cursor.offset,
            mark: Some(cursor.mark),
            by_inode: false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartAt {
    /// Nothing of this file was read before.
    First,
    /// Everything before this position was read, and it is still the same.
    Resume(Position),
    /// The file was truncated, rewritten or replaced.
    Restart,
}

/// Says where to go on in a transcript that was read before.
pub fn start(source: &Source, read: Option<LastRead>) -> io::Result<StartAt> {
    let Some(LastRead {
        offset,
        mark,
        by_inode,
    }) = read
    else {
        return Ok(StartAt::First);
    };
    let holds = match mark {
        // Where nothing was read, nothing tells the file from another.
        _ if by_inode && offset.is_start() => false,
        Some(mark) => Cursor { offset, mark }.holds(&source.file)?,
        // At least it must stand after a line.
        None => source.is_line_start(offset)?,
    };
    if holds {
        return Ok(StartAt::Resume(offset));
    }
    // If only the inode spoke for it, that was used again: this is another file.
    Ok(if by_inode {
        StartAt::First
    } else {
        StartAt::Restart
    })
}
