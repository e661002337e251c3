//! Where the lines of a transcript come from: a file.
//!
//! Whoever is above `read` sees lines, positions and a stamp, never the file, so that a session whose client keeps it in a
//! database can be read in the same way. It is the file that was opened, and as long as it was then.

use std::fs::{File, Metadata};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use crate::file::{self, Stamp};
use session_format::budget::Deadline;
use session_format::cursor::{Backward, Buffer, Chunks, Cursor, Forward, newest_lines};
use session_format::entry::{Id, Position};

pub struct Source {
    pub(super) file: File,
    meta: Metadata,
}

impl Source {
    /// Opens a transcript. Whatever is not a file is an error.
    pub fn open(path: &Path) -> io::Result<Source> {
        let (file, meta) = file::open_stated(path).map_err(|error| match error.kind() {
            io::ErrorKind::IsADirectory => io::Error::other("is a directory, not a transcript"),
            _ => error,
        })?;
        Ok(Source { file, meta })
    }

    pub fn stamp(&self) -> Stamp {
        Stamp::from(&self.meta)
    }

    /// When it was made, where the file system knows.
    pub fn created(&self) -> Option<Duration> {
        file::created(&self.file, &self.meta)
    }

    pub fn end(&self) -> Position {
        Position::new(self.meta.len())
    }

    /// The start of the newest whole lines that are no longer than `most`; the last one counts even if it is longer. None
    /// if no line begins within reach. When the time is over, that is the error that [`Deadline::is_late`] knows.
    pub fn newest(&self, most: u64, deadline: &Deadline) -> io::Result<Option<Position>> {
        Ok(newest_lines(&self.file, self.meta.len(), most, deadline)?.map(Position::new))
    }

    pub fn forward<'s>(&'s self, lines: Range<Position>, buffer: &'s mut Buffer) -> Forward<'s> {
        Forward::new(&self.file, lines.start.number(), lines.end.number(), buffer)
    }

    pub fn backward(&self) -> io::Result<Backward<'_>> {
        Backward::new(&self.file, self.meta.len())
    }

    /// Everything from a position on, for whoever looks for something without decoding it.
    pub fn chunks<'s>(&'s self, from: Position, buffer: &'s mut Buffer) -> Chunks<'s> {
        Chunks::new(&self.file, from.number(), buffer)
    }

    pub fn cursor(&self, position: Position) -> io::Result<Cursor> {
        Cursor::at(&self.file, position.number())
    }

    /// A line begins at a position, by what the file is now.
    pub(super) fn is_line_start(&self, position: Position) -> io::Result<bool> {
        let offset = position.number();
        if offset == 0 || offset > self.file.metadata()?.len() {
            return Ok(offset == 0);
        }
        let mut byte = [0];
        self.file.read_exact_at(&mut byte, offset - 1)?;
        Ok(byte == *b"\n")
    }

    /// The hash of what comes before a position, or of parts all over it if that is much. The mark of a cursor alone does
    /// not tell a file from another that begins and ends alike.
    pub fn sample(&self, end: Position) -> io::Result<Id> {
        const PARTS: u64 = 64;
        const PART: u64 = 4096;
        let end = end.number();
        let mut bytes = vec![0; end.min(PARTS * PART) as usize];
        let step = end.saturating_sub(PART) / (PARTS - 1);
        for (index, part) in (0..).zip(bytes.chunks_mut(PART as usize)) {
            let offset = if end > PARTS * PART {
                index * step
            } else {
                index * PART
            };
            self.file.read_exact_at(part, offset)?;
        }
        Ok(Id::of(&bytes))
    }
}
