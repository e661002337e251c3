//! Records of the sessions that an observer has seen, by the paths of their transcripts.
//!
//! A look asks every record for its stamp, and few for more. So the records have a fixed size and stand in the order of their
//! paths. Behind them come the paths and titles. The rest of a record, its detail, is JSON, as in a home's file, and is read from
//! the file only when somebody asks for it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::checksum;
use super::seen::Seen;
use crate::file::Stamp;

/// Device, inode, size and modification time; where the detail is, its length and checksum; where the path is, its length,
/// the length of the title behind it; the fingerprint. The stamp of what has to be read, or is missing, is all zeros, which
/// is no file's. So are a title and a fingerprint that are not there.
pub(crate) const RECORD: usize = 64;

#[derive(Debug, Default)]
pub struct Sessions {
    /// The records, then the paths and titles.
    pub(super) index: Vec<u8>,
    pub(super) count: usize,
    pub(super) details: Details,
}

/// The details, which most looks don't need.
#[derive(Debug)]
pub(super) enum Details {
    Memory(Vec<u8>),
    /// From a position on.
    File {
        file: File,
        start: u64,
        length: u64,
    },
}

impl Default for Details {
    fn default() -> Details {
        Details::Memory(Vec::new())
    }
}

/// New records by their paths. One without a value goes.
pub type Changes = BTreeMap<String, Option<Seen>>;

/// The record of one session.
#[derive(Debug, Clone, Copy)]
pub struct Record<'t> {
    fixed: &'t [u8; RECORD],
    sessions: &'t Sessions,
}

impl Sessions {
    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn fixed(&self) -> &[[u8; RECORD]] {
        self.index
            .get(..self.count * RECORD)
            .unwrap_or_default()
            .as_chunks()
            .0
    }

    fn record<'t>(&'t self, fixed: &'t [u8; RECORD]) -> Record<'t> {
        Record {
            fixed,
            sessions: self,
        }
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = Record<'_>> + Clone {
        self.fixed().iter().map(|fixed| self.record(fixed))
    }

    /// The records from a path on.
    fn from(&self, path: &str) -> impl Iterator<Item = Record<'_>> {
        let first = self
            .fixed()
            .partition_point(|fixed| self.record(fixed).path_bytes() < path.as_bytes());
        self.fixed()[first..].iter().map(|fixed| self.record(fixed))
    }

    pub fn get(&self, path: &str) -> Option<Record<'_>> {
        self.from(path)
            .next()
            .filter(|record| record.path() == path)
    }

    /// Some path begins like this.
    pub fn any_below(&self, start: &str) -> bool {
        self.from(start)
            .next()
            .is_some_and(|record| record.path().starts_with(start))
    }

    /// All details, one after the other.
    pub(super) fn all_details(&self) -> io::Result<Vec<u8>> {
        match &self.details {
            Details::Memory(bytes) => Ok(bytes.clone()),
            Details::File {
                file,
                start,
                length,
            } => {
                let mut bytes = vec![0; *length as usize];
                file.read_exact_at(&mut bytes, *start)?;
                Ok(bytes)
            }
        }
    }

    /// The sessions after some changes. What did not change is copied as it is.
    pub fn with(&self, mut changes: Changes) -> io::Result<Sessions> {
        let details = self.all_details()?;
        let mut after = Builder::default();
        for old in self.iter() {
            while let Some(entry) = changes.first_entry()
                && entry.key().as_str() < old.path()
            {
                after.add(entry.remove_entry())?;
            }
            match changes.remove_entry(old.path()) {
                Some(changed) => after.add(changed)?,
                None => after.copy(old, &details)?,
            }
        }
        changes
            .into_iter()
            .try_for_each(|changed| after.add(changed))?;
        Ok(after.finish())
    }
}

impl<'t> Record<'t> {
    fn number(self, at: usize) -> u64 {
        self.fixed
            .get(at..)
            .and_then(<[u8]>::first_chunk)
            .map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    fn small(self, at: usize) -> usize {
        self.fixed
            .get(at..)
            .and_then(<[u8]>::first_chunk)
            .map_or(0, |bytes| u32::from_le_bytes(*bytes)) as usize
    }

    fn bytes(self, after: usize, length: usize) -> &'t [u8] {
        let start = self.sessions.count * RECORD + self.small(48) + after;
        self.sessions
            .index
            .get(start..start + length)
            .unwrap_or_default()
    }

    /// The path as it is compared: checking its characters takes longer.
    fn path_bytes(self) -> &'t [u8] {
        self.bytes(0, self.small(52))
    }

    pub fn path(self) -> &'t str {
        std::str::from_utf8(self.path_bytes()).unwrap_or_default()
    }

    pub fn title(self) -> Option<&'t str> {
        let title = std::str::from_utf8(self.bytes(self.small(52), self.small(56))).ok()?;
        Some(title).filter(|title| !title.is_empty())
    }

    pub fn fingerprint(self) -> Option<u32> {
        Some(self.small(60) as u32).filter(|fingerprint| *fingerprint != 0)
    }

    /// The session has been read, and its file is as it was then.
    pub fn is_unchanged(self, stamp: Stamp) -> bool {
        let Stamp {
            device,
            inode,
            size,
            modified,
            ..
        } = stamp;
        [device, inode, size, modified as u64] == [0, 8, 16, 24].map(|at| self.number(at))
    }

    /// All that is known of it, or what is wrong with that.
    pub fn seen(self) -> Result<Seen, String> {
        let (start, length) = (self.number(32), self.small(40));
        let mut read = Vec::new();
        let detail = match &self.sessions.details {
            Details::Memory(bytes) => bytes
                .get(start as usize..)
                .and_then(|rest| rest.get(..length)),
            Details::File {
                file,
                start: first,
                length: all,
            } => {
                let end = start.checked_add(length as u64);
                if end.is_some_and(|end| end <= *all) {
                    read.resize(length, 0);
                    let is_read = file.read_exact_at(&mut read, first + start).is_ok();
                    is_read.then_some(&*read)
                } else {
                    None
                }
            }
        };
        let sound = detail.filter(|detail| sum(detail) as usize == self.small(44));
        let seen =
            sound.map(|detail| serde_json::from_slice(detail).map_err(|error| error.to_string()));
        seen.unwrap_or_else(|| Err("not as it was written".into()))
    }
}

/// Sessions in the order of their paths, as they are put together.
#[derive(Default)]
struct Builder {
    records: Vec<u8>,
    texts: Vec<u8>,
    details: Vec<u8>,
}

impl Builder {
    fn add(&mut self, (path, seen): (String, Option<Seen>)) -> io::Result<()> {
        let Some(seen) = seen else { return Ok(()) };
        let (device, inode, size, modified) = match seen.stamp {
            Some(stamp) if !seen.unread && seen.absent.is_none() => stamp,
            _ => (0, 0, 0, 0),
        };
        let stamp = [device, inode, size, modified as u64]
            .map(u64::to_le_bytes)
            .concat();
        let detail = serde_json::to_vec(&seen)?;
        let title = seen.title.as_deref().unwrap_or_default();
        self.push(
            &stamp,
            &detail,
            sum(&detail),
            [&path, title],
            seen.fingerprint.unwrap_or_default(),
        )
    }

    fn copy(&mut self, old: Record, details: &[u8]) -> io::Result<()> {
        let (start, length) = (old.number(32) as usize, old.small(40));
        let detail = details
            .get(start..)
            .and_then(|rest| rest.get(..length))
            .unwrap_or_default();
        let texts = [old.path(), old.title().unwrap_or_default()];
        self.push(
            &old.fixed[..32],
            detail,
            old.small(44) as u32,
            texts,
            old.fingerprint().unwrap_or_default(),
        )
    }

    fn push(
        &mut self,
        stamp: &[u8],
        detail: &[u8],
        sum: u32,
        texts: [&str; 2],
        fingerprint: u32,
    ) -> io::Result<()> {
        let short = |length: usize| u32::try_from(length).map_err(io::Error::other);
        let [path, title] = texts;
        let (at, length) = (short(self.texts.len())?, short(detail.len())?);
        self.records.extend(stamp);
        self.records
            .extend((self.details.len() as u64).to_le_bytes());
        for number in [
            length,
            sum,
            at,
            short(path.len())?,
            short(title.len())?,
            fingerprint,
        ] {
            self.records.extend(number.to_le_bytes());
        }
        self.texts.extend(path.bytes().chain(title.bytes()));
        self.details.extend(detail);
        Ok(())
    }

    fn finish(self) -> Sessions {
        let count = self.records.len() / RECORD;
        Sessions {
            index: [self.records, self.texts].concat(),
            count,
            details: Details::Memory(self.details),
        }
    }
}

fn sum(detail: &[u8]) -> u32 {
    checksum(0, detail) as u32
}
