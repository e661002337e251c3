//! A file of our own that grows: records by their keys, of which the newest of a key counts.
//!
//! A change appends its records, and nobody ever writes into what is there, so that readers need no lock. When too much of
//! the file is of no use any more, another one takes its place. Every record has a checksum, which covers the version, too.
//! Reading ends at the first record that is not as it was written: a process was killed at its work, or a disk has failed.
//! Then the next change writes the file anew. What a key or a value means is up to whoever keeps it.
//!
//! The rest of a record is read only when it is asked for, so that a table may be larger than memory.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write};
use std::num::NonZero;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::{checksum, replace_with};
use crate::file;

/// A table as it was when it was opened.
pub struct Table {
    path: PathBuf,
    file: Option<File>,
    head: String,
    /// Every checksum begins with it.
    seed: u64,
    size: u64,
    /// Not all of it can be used.
    is_damaged: bool,
    /// A record can be added; one at a time.
    can_add: Mutex<bool>,
}

/// A record of a table.
pub struct Record<'r> {
    pub key: &'r [u8],
    pub value: &'r [u8],
    pub place: Place,
}

/// The offset of a record, the lengths of its parts, and the checksum of its rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Never at the start of the file, where the head is.
    offset: NonZero<u64>,
    lengths: [u32; 3],
    rest_sum: [u8; 8],
}

impl Place {
    /// Of a record that begins like this.
    fn of(offset: u64, fixed: &[u8]) -> Option<Place> {
        let length = |at: usize| Some(u32::from_le_bytes(*fixed.get(at..)?.first_chunk()?));
        let rest_sum = *fixed.get(20..)?.first_chunk()?;
        Some(Place {
            offset: NonZero::new(offset)?,
            lengths: [length(0)?, length(4)?, length(8)?],
            rest_sum,
        })
    }

    pub(crate) fn rest_length(self) -> usize {
        self.lengths[2] as usize
    }

    fn size(self) -> u64 {
        FIXED as u64 + self.lengths.iter().copied().map(u64::from).sum::<u64>()
    }
}

/// A record to write: one already in the file, or new bytes.
pub enum Content {
    Old(Place),
    New(Vec<u8>),
}

/// Before the key, the value and the rest of a record come their lengths, the checksum of the lengths, the key and the
/// value, and that of the rest.
const FIXED: usize = 3 * 4 + 2 * 8;
/// So much that is of no use is no reason to write a table anew.
const UNUSED: u64 = 64 << 10;

impl Table {
    /// Opens a table. It has nothing if there is none, or none of this version.
    pub fn open(path: PathBuf, version: &str) -> Table {
        let head = format!("session-monitor table {version}\n");
        let seed = checksum(0, head.as_bytes());
        let options = |append: bool| OpenOptions::new().read(true).append(append).to_owned();
        // Where we may not write, it can be read all the same.
        let file = file::open_own(&mut options(true), &path)
            .or_else(|_| file::open_own(&mut options(false), &path));
        let mut found = vec![0; head.len()];
        let file = file
            .ok()
            .filter(|file| file.read_exact_at(&mut found, 0).is_ok() && found == head.as_bytes());
        let size = file
            .as_ref()
            .and_then(|file| file.metadata().ok())
            .map_or(0, |meta| meta.len());
        Table {
            path,
            file,
            seed,
            size,
            is_damaged: false,
            can_add: Mutex::new(true),
            head,
        }
    }

    /// Hands out all records in the order they were written, without what is long about them.
    pub fn each(&mut self, mut take: impl FnMut(Record)) {
        let Some(file) = &self.file else { return };
        let mut offset = self.head.len() as u64;
        let mut window = Window {
            file,
            start: offset,
            bytes: Vec::new(),
        };
        while !self.is_damaged && offset < self.size {
            match self.next(&mut window, offset) {
                Some(record) => {
                    offset += record.place.size();
                    take(record);
                }
                None => self.is_damaged = true,
            }
        }
    }

    /// The record at an offset, if its key and its value are as they were written.
    fn next<'w>(&self, window: &'w mut Window, offset: u64) -> Option<Record<'w>> {
        let place = Place::of(offset, window.get(offset, FIXED)?)?;
        if place.size() > self.size - offset {
            return None;
        }
        let [key, value, _] = place.lengths.map(|length| length as usize);
        let (fixed, body) = window.get(offset, FIXED + key + value)?.split_at(FIXED);
        let (key, value) = body.split_at(key);
        (fixed[12..20] == check(self.seed, &fixed[..12], body)).then_some(Record {
            key,
            value,
            place,
        })
    }

    /// The long part of a record, if it is as it was written.
    pub fn rest(&self, place: Place) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.rest_into(place, &mut bytes, 0).then_some(bytes)
    }

    /// Reads what is long about a record into memory that is used again, from some position on, and says whether it is as
    /// it was written.
    pub(crate) fn rest_into(&self, place: Place, memory: &mut Vec<u8>, at: usize) -> bool {
        let length = place.rest_length();
        memory.resize(memory.len().max(at + length), 0);
        let (rest, start) = (
            &mut memory[at..at + length],
            place.offset.get() + place.size() - length as u64,
        );
        let is_read = self
            .file
            .as_ref()
            .is_some_and(|file| file.read_exact_at(rest, start).is_ok());
        is_read && place.rest_sum == check(self.seed, &[], rest)
    }

    /// A record as bytes; none if it is too long to be kept.
    pub fn record(&self, key: &[u8], value: &[u8], rest: &[&[u8]]) -> Option<Content> {
        let lengths = [
            key.len(),
            value.len(),
            rest.iter().map(|part| part.len()).sum(),
        ];
        let mut bytes = Vec::with_capacity(FIXED + lengths.iter().sum::<usize>());
        for length in lengths {
            bytes.extend(u32::try_from(length).ok()?.to_le_bytes());
        }
        bytes.resize(FIXED, 0);
        [key, value]
            .iter()
            .chain(rest)
            .for_each(|part| bytes.extend(*part));
        let (fixed, body) = bytes.split_at_mut(FIXED);
        let (body, rest) = body.split_at(key.len() + value.len());
        let sum = check(self.seed, &fixed[..12], body);
        fixed[12..20].copy_from_slice(&sum);
        fixed[20..].copy_from_slice(&check(self.seed, &[], rest));
        Some(Content::New(bytes))
    }

    /// Adds a record at once, and says where it is. None if that is not possible now; [`Table::update`] makes it so.
    pub fn add(&self, record: &Content) -> Option<Place> {
        let Content::New(bytes) = record else {
            return None;
        };
        let mut file = self.file.as_ref().filter(|_| !self.is_damaged)?;
        let mut can_add = self.can_add.lock().unwrap_or_else(PoisonError::into_inner);
        // Behind a part of a record nobody would find another one.
        *can_add = *can_add && file.write_all(bytes).is_ok();
        let end = file.stream_position().ok().filter(|_| *can_add)?;
        Place::of(end.checked_sub(bytes.len() as u64)?, bytes)
    }

    /// This becomes the content of the table if the rest of it is added. `clean`: what is not named must not stay.
    pub(crate) fn can_grow(&self, content: &[Content], clean: bool) -> bool {
        let used = content
            .iter()
            .map(|one| {
                if let Content::Old(place) = one {
                    place.size()
                } else {
                    0
                }
            })
            .sum::<u64>();
        let unused = (self.size - used.min(self.size)).saturating_sub(self.head.len() as u64);
        self.file.is_some() && !self.is_damaged && !clean && unused <= UNUSED.max(used)
    }

    /// Makes this the content of the table: by adding what is new, or anew if it is damaged or much of it is of no use any
    /// more.
    pub fn update(&self, content: &[Content], clean: bool) -> io::Result<()> {
        let Some(mut file) = self.file.as_ref().filter(|_| self.can_grow(content, clean)) else {
            return self.replace(content);
        };
        // In one piece, so that another process that adds something at the same time comes before or after it.
        let new = content.iter().filter_map(|one| {
            if let Content::New(bytes) = one {
                Some(&bytes[..])
            } else {
                None
            }
        });
        let new = new.collect::<Vec<_>>().concat();
        if new.is_empty() {
            Ok(())
        } else {
            file.write_all(&new)
        }
    }

    fn replace(&self, content: &[Content]) -> io::Result<()> {
        replace_with(&self.path, |out| {
            out.write_all(self.head.as_bytes())?;
            let mut old = Vec::new();
            for one in content {
                match (one, &self.file) {
                    (Content::New(bytes), _) => out.write_all(bytes)?,
                    (Content::Old(place), Some(file)) => {
                        old.resize(place.size() as usize, 0);
                        file.read_exact_at(&mut old, place.offset.get())?;
                        out.write_all(&old)?;
                    }
                    (Content::Old(_), None) => {}
                }
            }
            Ok(())
        })
    }
}

/// A part of a file.
struct Window<'f> {
    file: &'f File,
    start: u64,
    bytes: Vec<u8>,
}

impl Window<'_> {
    /// So much is read where one record follows the other, and where a long one was stepped over.
    const NEXT: usize = 64 << 10;
    const AFTER_GAP: usize = 4 << 10;

    /// Some bytes; none if the file ends before.
    fn get(&mut self, offset: u64, length: usize) -> Option<&[u8]> {
        let end = self.start + self.bytes.len() as u64;
        if offset < self.start || offset + length as u64 > end {
            let block = if offset <= end {
                Window::NEXT
            } else {
                Window::AFTER_GAP
            };
            self.start = offset;
            self.bytes.resize(block.max(length), 0);
            let mut filled = 0;
            while filled < length {
                match self
                    .file
                    .read_at(&mut self.bytes[filled..], offset + filled as u64)
                {
                    Ok(read) if read > 0 => filled += read,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    _ => break,
                }
            }
            self.bytes.truncate(filled);
        }
        self.bytes
            .get((offset - self.start) as usize..)?
            .get(..length)
    }
}

/// The checksum of some bytes, after those that are in front of them.
fn check(seed: u64, first: &[u8], then: &[u8]) -> [u8; 8] {
    checksum(checksum(seed, first), then).to_le_bytes()
}
