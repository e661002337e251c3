//! Bytes of a transcript that is being written: whole lines forward from an offset, whole lines backward from the end.
//!
//! Everything is `pread` into one reused, page-aligned buffer, never mmap: a file that shrinks under a reader is then
//! just shorter. A line that does not fit the buffer is handed out piece by piece ([`LongLine`]), so that nobody has to
//! hold what nobody wants. What a line means is `decode`'s business.

mod backward;
mod chunks;
mod forward;

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

pub use backward::Backward;
pub use chunks::Chunks;
pub use forward::Forward;

use crate::budget::Deadline;
use crate::entry::{Id, Position};

/// The end of what was read: an offset just after a newline, and a hash of the bytes before it and of the first
/// of the file, by which one that was replaced or rewritten is told from one that only grew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Cursor {
    pub offset: Position,
    pub mark: u64,
}

impl Cursor {
    const MARKED: u64 = 64;

    pub fn at(file: &File, offset: u64) -> io::Result<Cursor> {
        if i64::try_from(offset).is_err() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let length = offset.min(Cursor::MARKED);
        let mut bytes = [0; 2 * Cursor::MARKED as usize];
        let (first, last) = bytes.split_at_mut(Cursor::MARKED as usize);
        file.read_exact_at(&mut first[..length as usize], 0)?;
        file.read_exact_at(&mut last[..length as usize], offset - length)?;
        Ok(Cursor {
            offset: Position::new(offset),
            mark: Id::of(&bytes).0,
        })
    }

    /// The file is still the same up to here. A file that cannot be read now is no reason to think it changed.
    pub fn holds(&self, file: &File) -> io::Result<bool> {
        match Cursor::at(file, self.offset.number()) {
            Ok(now) => Ok(now == *self),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// The start of the newest whole lines that make up at most `most` bytes before `end`; the last one counts even if it is
/// longer. None if no line begins within reach. When the time is over, that is the error that
/// [`Deadline::is_late`] knows.
pub fn newest_lines(
    file: &File,
    end: u64,
    most: u64,
    deadline: &Deadline,
) -> io::Result<Option<u64>> {
    /// The beginning of a line is looked for no further back.
    const REACH: u64 = 32 << 20;
    if end <= most {
        return Ok(Some(0));
    }
    let limit = end.saturating_sub(REACH.max(most));
    let mut backward = Backward::new(file, end)?;
    let mut start = None;
    while let Some((line_start, finished)) = backward.previous_start(limit, Some(deadline))? {
        if end - line_start > most && start.is_some() {
            break;
        }
        // What has no end yet is not a line.
        if finished {
            start = Some(line_start);
        }
    }
    Ok(start)
}

/// A line without its newline, where it starts in the file, and its bytes.
pub enum Line<'b> {
    Whole(u64, &'b [u8]),
    Long(LongLine<'b>),
}

impl Line<'_> {
    pub fn offset(&self) -> u64 {
        match self {
            Line::Whole(offset, _) => *offset,
            Line::Long(line) => line.offset,
        }
    }
}

/// A line as a sequence of pieces, of which one is in memory.
pub trait Pieces {
    fn piece(&self) -> &[u8];
    /// Goes on to the next piece; false if there is none, and then the piece stays.
    fn advance(&mut self) -> io::Result<bool>;
}

impl Pieces for &[u8] {
    fn piece(&self) -> &[u8] {
        self
    }

    fn advance(&mut self) -> io::Result<bool> {
        Ok(false)
    }
}

/// A line too long for the buffer, read again from its start.
pub struct LongLine<'b> {
    file: &'b File,
    buffer: &'b mut [u8],
    pub offset: u64,
    /// The start of the next piece, and the end of the line.
    next: u64,
    end: u64,
    filled: usize,
}

impl<'b> LongLine<'b> {
    fn new(file: &'b File, buffer: &'b mut [u8], range: Range<u64>) -> LongLine<'b> {
        LongLine {
            file,
            buffer,
            offset: range.start,
            next: range.start,
            end: range.end,
            filled: 0,
        }
    }
}

impl Pieces for LongLine<'_> {
    fn piece(&self) -> &[u8] {
        &self.buffer[..self.filled]
    }

    fn advance(&mut self) -> io::Result<bool> {
        let length = (self.buffer.len() as u64).min(self.end - self.next) as usize;
        if length == 0 {
            return Ok(false);
        }
        self.filled = read_at(self.file, &mut self.buffer[..length], self.next)?;
        self.next += self.filled as u64;
        if self.filled == 0 {
            // The file has become shorter; what was to come is not there any more.
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(true)
    }
}

/// One `pread`; 0 at the end of the file, wherever that is by now.
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    loop {
        match file.read_at(buffer, offset) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// As much as there is room for; less only at the end of the file.
fn read_all(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match read_at(file, &mut buffer[filled..], offset + filled as u64)? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

/// Memory that starts on a page. Reading into any other place can be three times slower: some CPUs copy slowly between
/// differently aligned pages, and an allocator returns large blocks 16 bytes past a page.
#[derive(Default)]
pub struct Buffer {
    memory: Vec<u8>,
    start: usize,
}

impl Buffer {
    const PAGE: usize = 4096;

    fn new(size: usize) -> Buffer {
        let mut buffer = Buffer::default();
        buffer.resize(size);
        buffer
    }

    fn resize(&mut self, size: usize) {
        if self.memory.len() < size + Buffer::PAGE {
            self.memory = vec![0; size + Buffer::PAGE];
            self.start = self
                .memory
                .as_ptr()
                .align_offset(Buffer::PAGE)
                .min(Buffer::PAGE);
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.memory[self.start..]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..]
    }
}
