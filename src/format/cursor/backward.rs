//! Lines backward from the end: the last entries of a file of any size, without looking at the rest.

use std::fs::File;
use std::io;
use std::ops::Range;

use memchr::memrchr;

use super::{Buffer, Line, LongLine, read_all};
use crate::budget::Deadline;

pub struct Backward<'f> {
    file: &'f File,
    block: Buffer,
    /// The part of the file that is in `block`.
    loaded: Range<u64>,
    /// The end of the line that is looked for (its newline, or the end of an unfinished last line); none when done.
    line_end: Option<u64>,
    /// The end of the file has no newline yet.
    unfinished: bool,
    /// For a line that crosses blocks.
    line: Option<Buffer>,
}

impl<'f> Backward<'f> {
    const BLOCK: u64 = 64 * 1024;
    /// The longest line that is handed out whole although it crosses blocks.
    const LINE: usize = 256 * 1024;

    pub fn new(file: &'f File, size: u64) -> io::Result<Backward<'f>> {
        let mut backward = Backward {
            file,
            block: Buffer::new(Backward::BLOCK as usize),
            loaded: size..size,
            line_end: None,
            unfinished: false,
            line: None,
        };
        if backward.load_before(size)? {
            let finished = backward.bytes().last() == Some(&b'\n');
            backward.unfinished = !finished;
            backward.line_end = Some(backward.loaded.end - u64::from(finished));
        }
        Ok(backward)
    }

    /// The line before the last one handed out, and whether it ends in a newline.
    pub fn previous_line(&mut self) -> io::Result<Option<(Line<'_>, bool)>> {
        let Some(end) = self.line_end else {
            return Ok(None);
        };
        let Some((start, finished)) = self.previous_start(0, None)? else {
            return Ok(None);
        };
        Ok(Some((self.bytes_of(start..end)?, finished)))
    }

    /// The start of that line; the line itself is passed over. It looks no further back than `limit`, and only as long as
    /// there is time.
    pub(crate) fn previous_start(
        &mut self,
        limit: u64,
        deadline: Option<&Deadline>,
    ) -> io::Result<Option<(u64, bool)>> {
        let Some(end) = self.line_end else {
            return Ok(None);
        };
        let start = loop {
            let known = end.min(self.loaded.end).saturating_sub(self.loaded.start) as usize;
            if let Some(newline) = memrchr(b'\n', &self.bytes()[..known]) {
                break self.loaded.start + newline as u64 + 1;
            }
            if self.loaded.start == 0 {
                break 0;
            }
            if deadline.is_some_and(Deadline::is_over) {
                return Err(io::ErrorKind::TimedOut.into());
            }
            if self.loaded.start <= limit || !self.load_before(self.loaded.start)? {
                self.line_end = None;
                return Ok(None);
            }
        };
        self.line_end = start.checked_sub(1);
        Ok(Some((start, !std::mem::take(&mut self.unfinished))))
    }

    fn bytes(&self) -> &[u8] {
        &self.block.bytes()[..(self.loaded.end - self.loaded.start) as usize]
    }

    /// Loads the block that ends at an offset; false if the file is shorter than that by now.
    fn load_before(&mut self, end: u64) -> io::Result<bool> {
        let start = end.saturating_sub(Backward::BLOCK);
        let wanted = (end - start) as usize;
        let read = read_all(self.file, &mut self.block.bytes_mut()[..wanted], start)?;
        // Only at the very end may less come than was there a moment ago.
        let complete = read == wanted || self.loaded.is_empty();
        self.loaded = start..start + read as u64;
        Ok(complete && read > 0)
    }

    fn bytes_of(&mut self, line: Range<u64>) -> io::Result<Line<'_>> {
        let length = (line.end - line.start) as usize;
        if line.start >= self.loaded.start && line.end <= self.loaded.end {
            let from = (line.start - self.loaded.start) as usize;
            return Ok(Line::Whole(
                line.start,
                &self.block.bytes()[from..from + length],
            ));
        }
        let buffer = self
            .line
            .get_or_insert_with(|| Buffer::new(Backward::LINE))
            .bytes_mut();
        if length > Backward::LINE {
            return Ok(Line::Long(LongLine::new(self.file, buffer, line)));
        }
        let read = read_all(self.file, &mut buffer[..length], line.start)?;
        Ok(Line::Whole(line.start, &buffer[..read]))
    }
}
