//! Lines forward from an offset.

use std::fs::File;
use std::io;
use std::ops::Range;

use memchr::memchr;

use super::{Buffer, Line, LongLine, read_at};

/// Reads `[from, to)` line by line. Only lines that end in a newline are handed out; what comes after the last newline
/// is still being written.
pub struct Forward<'f> {
    file: &'f File,
    buffer: &'f mut Buffer,
    /// In the buffer and not handed out yet. Reads always fill the second half, which is aligned; the rest of a
    /// line that the last read cut off is moved to the end of the first half, right before it.
    unread: Range<usize>,
    /// The end of `unread` in the file.
    position: u64,
    to: u64,
}

impl<'f> Forward<'f> {
    /// Half of the buffer: the most that is read at once, and the longest line handed out whole.
    const HALF: usize = 128 * 1024;

    pub fn new(file: &'f File, from: u64, to: u64, buffer: &'f mut Buffer) -> Forward<'f> {
        buffer.resize(2 * Forward::HALF);
        Forward {
            file,
            buffer,
            unread: 0..0,
            position: from,
            to,
        }
    }

    /// The offset of the next line: everything before it has been handed out.
    pub fn offset(&self) -> u64 {
        self.position - self.unread.len() as u64
    }

    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = 0;
        loop {
            let found = memchr(
                b'\n',
                &self.buffer.bytes()[self.unread.start + searched..self.unread.end],
            );
            if let Some(at) = found {
                let line = self.unread.start..self.unread.start + searched + at;
                let offset = self.offset();
                self.unread.start = line.end + 1;
                return Ok(Some(Line::Whole(offset, &self.buffer.bytes()[line])));
            }
            searched = self.unread.len();
            if searched >= Forward::HALF {
                let offset = self.offset();
                return Ok(self.find_newline()?.map(|end| self.long(offset..end)));
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// The rest after the last newline, once `next_line` has said that there is no more: a line that is being written, or
    /// one that never got its newline. If it does not fit the buffer, it is left alone.
    pub fn last(&mut self) -> Option<Line<'_>> {
        let offset = self.offset();
        let line = self.unread.clone();
        self.unread.start = self.unread.end;
        (!line.is_empty()).then(|| Line::Whole(offset, &self.buffer.bytes()[line]))
    }

    fn fill(&mut self) -> io::Result<bool> {
        let kept = Forward::HALF - self.unread.len();
        let bytes = self.buffer.bytes_mut();
        bytes.copy_within(self.unread.clone(), kept);
        let length = self
            .to
            .saturating_sub(self.position)
            .min(Forward::HALF as u64) as usize;
        let read = read_at(
            self.file,
            &mut bytes[Forward::HALF..Forward::HALF + length],
            self.position,
        )?;
        self.unread = kept..Forward::HALF + read;
        self.position += read as u64;
        Ok(read > 0)
    }

    /// The end of the line that fills the buffer. Its beginning is dropped and read again by whoever wants it.
    fn find_newline(&mut self) -> io::Result<Option<u64>> {
        let mut at = self.position;
        loop {
            let length = self.to.saturating_sub(at).min(Forward::HALF as u64) as usize;
            let half = &mut self.buffer.bytes_mut()[Forward::HALF..Forward::HALF + length];
            let read = read_at(self.file, half, at)?;
            if read == 0 {
                // Not finished: leave the offset where the line starts.
                self.position = self.offset();
                self.unread = 0..0;
                self.to = self.position;
                return Ok(None);
            }
            if let Some(newline) = memchr(b'\n', &half[..read]) {
                return Ok(Some(at + newline as u64));
            }
            at += read as u64;
        }
    }

    fn long(&mut self, line: Range<u64>) -> Line<'_> {
        self.unread = 0..0;
        self.position = line.end + 1;
        Line::Long(LongLine::new(self.file, self.buffer.bytes_mut(), line))
    }
}
