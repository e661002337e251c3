//! A file of our own that grows: records by their keys, of which the newest of a key counts.
//!
//! A change appends its records, and nobody ever writes into what is there, so that readers need no lock. When too much of
//! the file is of no use any more, another one takes its place. Every record has a checksum, which covers the version, too.
//! Reading ends at the first record that is not as it was written: a process was killed at its work, or a disk has failed.
//! Then the next change writes the file anew. What a key or a value means is up to whoever keeps it.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::num::NonZero;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use super::{checksum, replace_with};
use crate::file;

/// A table as it was when it was opened.
pub struct Table {
    path: PathBuf,
    file: Option<File>,
    head: String,
    /// What every checksum begins with.
    seed: u64,
    size: u64,
    /// Not all of it can be used.
    is_damaged: bool,
}

/// A record of a table.
pub struct Record<'r> {
    pub key: &'r [u8],
    pub value: &'r [u8],
    pub place: Place,
}

/// Where a record is, and how long its parts are.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Never at the start of the file, where the head is.
    offset: NonZero<u64>,
    lengths: [u32; 3],
}

impl Place {
    fn size(self) -> u64 {
        FIXED as u64 + self.lengths.iter().copied().map(u64::from).sum::<u64>()
    }
}

/// A record of the table as it shall be: one that is there, or another one.
pub enum Content {
    Old(Place),
    New(Vec<u8>),
}

/// Before the key, the value and the rest of a record come their lengths, the checksum of the lengths, the key and the
/// value, and that of the rest.
const FIXED: usize = 3 * 4 + 2 * 8;
/// So much that is of no use is no reason to write a table anew.
const LITTLE: u64 = 64 << 10;

impl Table {
    /// Opens a table. It has nothing if there is none, or none of this version.
    pub fn open(path: PathBuf, version: &str) -> Table {
        let head = format!("session-monitor table {version}\n");
        let seed = checksum(0, head.as_bytes());
        let options = |append: bool| OpenOptions::new().read(true).append(append).to_owned();
        // Where we may not write, it can be read all the same.
        let file = file::open_own(&mut options(true), &path).or_else(|_| file::open_own(&mut options(false), &path));
        let mut found = vec![0; head.len()];
        let file = file.ok().filter(|file| file.read_exact_at(&mut found, 0).is_ok() && found == head.as_bytes());
        let size = file.as_ref().and_then(|file| file.metadata().ok()).map_or(0, |meta| meta.len());
        Table { path, file, seed, size, is_damaged: false, head }
    }

    /// Hands out all records in the order they were written, without what is long about them.
    pub fn each(&mut self, mut take: impl FnMut(Record)) {
        let Some(file) = &self.file else { return };
        let mut reader = BufReader::with_capacity(64 << 10, file);
        let mut offset = self.head.len() as u64;
        let mut bytes = Vec::new();
        self.is_damaged = reader.seek(SeekFrom::Start(offset)).is_err();
        while !self.is_damaged && offset < self.size {
            match self.next(&mut reader, offset, &mut bytes) {
                Ok(Some(place)) => {
                    let (key, value) = bytes.split_at(place.lengths[0] as usize);
                    take(Record { key, value, place });
                    offset += place.size();
                }
                _ => self.is_damaged = true,
            }
        }
    }

    /// Reads the key and the value of the next record, if it is as it was written.
    fn next(&self, reader: &mut BufReader<&File>, offset: u64, bytes: &mut Vec<u8>) -> io::Result<Option<Place>> {
        let mut fixed = [0; FIXED];
        reader.read_exact(&mut fixed)?;
        let Some(offset_of) = NonZero::new(offset) else { return Ok(None) };
        let place = Place {
            offset: offset_of,
            lengths: [0, 4, 8].map(|at| u32::from_le_bytes(*fixed[at..].first_chunk().unwrap_or(&[0; 4]))),
        };
        if place.size() > self.size - offset {
            return Ok(None);
        }
        bytes.resize(place.lengths[0] as usize + place.lengths[1] as usize, 0);
        reader.read_exact(bytes)?;
        reader.seek_relative(i64::from(place.lengths[2]))?;
        Ok((fixed[12..20] == check(self.seed, &fixed[..12], bytes)).then_some(place))
    }

    /// What is long about a record, if it is as it was written.
    pub fn rest(&self, place: Place) -> Option<Vec<u8>> {
        let mut bytes = vec![0; place.lengths[2] as usize];
        let mut fixed = [0; FIXED];
        let file = self.file.as_ref()?;
        file.read_exact_at(&mut fixed, place.offset.get()).ok()?;
        file.read_exact_at(&mut bytes, place.offset.get() + place.size() - u64::from(place.lengths[2])).ok()?;
        (fixed[20..] == check(self.seed, &[], &bytes)).then_some(bytes)
    }

    /// A record as bytes; none if it is too long to be kept.
    pub fn record(&self, key: &[u8], value: &[u8], rest: &[u8]) -> Option<Content> {
        let mut bytes = Vec::with_capacity(FIXED + key.len() + value.len() + rest.len());
        for part in [key, value, rest] {
            bytes.extend(u32::try_from(part.len()).ok()?.to_le_bytes());
        }
        let body = [key, value].concat();
        let first = check(self.seed, &bytes, &body);
        bytes.extend(first);
        bytes.extend(check(self.seed, &[], rest));
        bytes.extend(body);
        bytes.extend(rest);
        Some(Content::New(bytes))
    }

    /// Makes this the content of the table: by adding what is new, or anew if it is damaged or much of it is of no use any
    /// more. `clean`: what is not named must not stay in it.
    pub fn update(&self, content: &[Content], clean: bool) -> io::Result<()> {
        let used = content.iter().map(|one| if let Content::Old(place) = one { place.size() } else { 0 }).sum::<u64>();
        let unused = (self.size - used.min(self.size)).saturating_sub(self.head.len() as u64);
        let Some(mut file) = self.file.as_ref().filter(|_| !self.is_damaged && !clean && unused <= LITTLE.max(used))
        else {
            return self.replace(content);
        };
        // In one piece, so that another process that adds something at the same time comes before or after it.
        let new = content.iter().filter_map(|one| if let Content::New(bytes) = one { Some(&bytes[..]) } else { None });
        let new = new.collect::<Vec<_>>().concat();
        if new.is_empty() { Ok(()) } else { file.write_all(&new) }
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

/// The checksum of some bytes, after those that are in front of them.
fn check(seed: u64, first: &[u8], then: &[u8]) -> [u8; 8] {
    checksum(checksum(seed, first), then).to_le_bytes()
}
