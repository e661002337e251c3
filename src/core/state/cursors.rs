//! The files of cursors: how far an observer has seen the other sessions.
//!
//! In a named home one JSON file is shared by all observers: `{"main":{"discord":{"offset":12345,…}}}`: observer, other
//! session, offset. There sessions go by their names, and by paths everywhere else. An observer outside of homes has a file of its own,
//! which is read at every prompt: a table behind a checksum, of which [`Sessions`] says how it is read in parts. An older version
//! wrote JSON there, too, which is taken over once.
//!
//! A process holds the file's lock from reading to writing, and writes the entries of other observers back as they were.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::value::{RawValue, to_raw_value};

use super::seen::{Look, Seen, VERSION};
use super::sessions::{Changes, Details, RECORD, Sessions};
use super::{Lock, checksum};
use crate::file;
use session_format::budget::Deadline;
use session_format::time::SECOND;

/// The largest file that is read, in bytes: thousands of sessions for each of many observers.
const MOST: u64 = 32 << 20;
/// The name of the look among the sessions of a JSON file, which no session can have.
const LOOK: &str = ".";
/// The beginning of a table: its kind and version.
const HEAD: &str = "session-monitor cursors 1\n";
/// Before the contents of a table: the head, a checksum, and how long each part is.
const FIXED: usize = HEAD.len() + 8 + PARTS * 8;
/// The look, the files that it examined, the fingerprints, the records, paths and titles, and details.
const PARTS: usize = 6;

/// The place of an observer's cursors.
#[derive(Debug, Clone)]
pub enum CursorFile {
    /// In the file of a home, beside those of others.
    Shared(PathBuf),
    /// In a table.
    Own(PathBuf),
}

impl CursorFile {
    pub fn path(&self) -> &Path {
        match self {
            CursorFile::Shared(path) | CursorFile::Own(path) => path,
        }
    }
}

/// Everything that an observer has seen.
#[derive(Debug, Default)]
pub struct View {
    /// Nothing before its first look.
    pub look: Option<Look>,
    pub sessions: Sessions,
}

type Object = BTreeMap<String, Box<RawValue>>;

impl View {
    /// Reads one from JSON. There a session with a name goes by that, and its path stands inside.
    fn from_json(text: &str) -> io::Result<View> {
        let mut entries: Object = serde_json::from_str(text)?;
        let look = entries
            .remove(LOOK)
            .map(|look| serde_json::from_str(look.get()))
            .transpose()?;
        let mut all = Changes::new();
        for (key, entry) in entries {
            let mut seen: Seen = serde_json::from_str(entry.get())?;
            let is_path = key.starts_with('/');
            let path = seen
                .path
                .take()
                .filter(|_| !is_path)
                .unwrap_or_else(|| key.clone());
            seen.name = (!is_path).then_some(key);
            // A name without a file says nothing that the name itself does not.
            if seen.is_untouched() && !path.starts_with('/') {
                continue;
            }
            // Two names may have stood for one file, one after the other. The later look at it counts.
            let age = |seen: &Seen| (seen.absent.is_none(), seen.seen_at);
            let other = all.get(&path).and_then(Option::as_ref);
            if other.is_none_or(|other| age(other) <= age(&seen)) {
                all.insert(path, Some(seen));
            }
        }
        Ok(View {
            look,
            sessions: Sessions::default().with(all)?,
        })
    }

    fn to_json(&self) -> io::Result<Box<RawValue>> {
        let mut entries = Object::new();
        for record in self.sessions.iter() {
            let mut seen = record.seen().unwrap_or_else(|_| Seen::untouched());
            let path = record.path().to_owned();
            // A name is one session's.
            let name = seen.name.take().filter(|name| !entries.contains_key(name));
            let key = name.unwrap_or_else(|| path.clone());
            if entries.contains_key(&key) {
                continue;
            }
            seen.path = (key != path).then_some(path);
            entries.insert(key, to_raw_value(&seen)?);
        }
        if let Some(look) = &self.look {
            entries.insert(LOOK.into(), to_raw_value(look)?);
        }
        Ok(to_raw_value(&entries)?)
    }

    /// Reads a table. Its details stay in the file.
    fn from_table(path: &Path) -> io::Result<View> {
        let broken = || io::Error::other("no cursors (not as they were written)");
        let (file, meta) = file::open_own_with(OpenOptions::new().read(true), path)?;
        if meta.len() == 0 {
            return Ok(View::default());
        }
        let mut fixed = [0; FIXED];
        file.read_exact_at(&mut fixed, 0).map_err(|_| broken())?;
        let (head, rest) = fixed.split_at(HEAD.len());
        if head != HEAD.as_bytes() {
            let family = HEAD
                .trim_end_matches(|char: char| char.is_ascii_whitespace() || char.is_ascii_digit());
            let newer = io::Error::other("written by a newer version");
            return Err(if head.starts_with(family.as_bytes()) {
                newer
            } else {
                broken()
            });
        }
        let number = |at: usize| {
            rest.as_chunks()
                .0
                .get(at)
                .map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        let [sum, look, examined, told, count, texts, details] = std::array::from_fn(number);
        let lengths = [look, examined.saturating_mul(8), told.saturating_mul(4)];
        let index = count.saturating_mul(RECORD as u64).saturating_add(texts);
        let first = lengths
            .iter()
            .fold(0, |sum: u64, length| sum.saturating_add(*length));
        let start = (FIXED as u64).saturating_add(first).saturating_add(index);
        if start.saturating_add(details) != meta.len() || meta.len() > MOST {
            return Err(broken());
        }
        let mut head = vec![0; (first + index) as usize];
        file.read_exact_at(&mut head, FIXED as u64)?;
        let records = head.split_off(first as usize);
        if sum != checksum_of(&rest[8..], &head, &records) {
            return Err(broken());
        }
        let (look, numbers) = head.split_at(look as usize);
        let (examined, told) = numbers.split_at(lengths[1] as usize);
        let look = if look.is_empty() {
            None
        } else {
            Some(serde_json::from_slice::<Look>(look)?)
        };
        let look = look.map(|look| Look {
            examined: examined
                .as_chunks()
                .0
                .iter()
                .map(|bytes| u64::from_le_bytes(*bytes))
                .collect(),
            fingerprints: told
                .as_chunks()
                .0
                .iter()
                .map(|bytes| u32::from_le_bytes(*bytes))
                .collect(),
            ..look
        });
        let sessions = Sessions {
            index: records,
            count: count as usize,
            details: Details::File {
                file,
                start,
                length: details,
            },
        };
        Ok(View { look, sessions })
    }

    fn to_table(&self) -> io::Result<Vec<u8>> {
        let (mut look, mut examined, mut told) = (Vec::new(), Vec::new(), Vec::new());
        if let Some(whole) = &self.look {
            examined = whole
                .examined
                .iter()
                .flat_map(|number| number.to_le_bytes())
                .collect();
            told = whole
                .fingerprints
                .iter()
                .flat_map(|number| number.to_le_bytes())
                .collect();
            look = serde_json::to_vec(&Look {
                examined: vec![],
                fingerprints: vec![],
                ..whole.clone()
            })?;
        }
        let Sessions { index, count, .. } = &self.sessions;
        let details = self.sessions.all_details()?;
        let texts = index.len() - count * RECORD;
        let lengths = [
            look.len(),
            examined.len() / 8,
            told.len() / 4,
            *count,
            texts,
            details.len(),
        ];
        let lengths = lengths.map(|length| (length as u64).to_le_bytes()).concat();
        let head = [look, examined, told].concat();
        let sum = checksum_of(&lengths, &head, index).to_le_bytes();
        Ok([HEAD.as_bytes(), &sum, &lengths, &head, index, &details].concat())
    }
}

fn checksum_of(lengths: &[u8], head: &[u8], index: &[u8]) -> u64 {
    [HEAD.as_bytes(), lengths, head, index]
        .into_iter()
        .fold(0, checksum)
}

/// An observer's cursors, held for it.
#[derive(Debug)]
pub struct Cursors {
    file: CursorFile,
    observer: String,
    /// Other observers' entries of a shared file.
    others: Object,
    pub view: View,
    /// The file of an earlier version that these cursors come from.
    taken_over: Option<PathBuf>,
    /// The lock, if there is one; without it nothing is written.
    lock: Option<Lock>,
}

impl Cursors {
    /// Locks and reads the file; none if another process works with it until the deadline. What cannot be read is taken
    /// as not there, and said.
    pub fn open(
        file: CursorFile,
        observer: &str,
        deadline: &Deadline,
        say: &mut dyn FnMut(String),
    ) -> Option<Cursors> {
        match Lock::take(&file.path().with_extension("lock"), deadline) {
            Ok(Some(lock)) => Some(Cursors {
                lock: Some(lock),
                ..Cursors::read(file, observer, say)
            }),
            Ok(None) => None,
            Err(error) => {
                say(format!(
                    "{}: {error}; what is told now will be told again",
                    file.path().display()
                ));
                // What is wrong with it has been said.
                Some(Cursors::read(file, observer, &mut |_| {}))
            }
        }
    }

    /// Reads the file without the lock, for a caller that does not change it.
    pub fn read(file: CursorFile, observer: &str, say: &mut dyn FnMut(String)) -> Cursors {
        let (mut others, mut taken_over) = (Object::new(), None);
        let mut read = match &file {
            CursorFile::Own(path) => (path.clone(), View::from_table(path)),
            CursorFile::Shared(path) => (path.clone(), shared(path, observer, &mut others)),
        };
        if let (CursorFile::Own(path), (_, Err(error))) = (&file, &read)
            && error.kind() == io::ErrorKind::NotFound
        {
            let old = path.with_extension("json");
            read = (old.clone(), shared(&old, observer, &mut Object::new()));
            taken_over = fs::exists(&old).unwrap_or_default().then_some(old);
        }
        let is_newer = |view: &View| {
            view.look
                .as_ref()
                .is_some_and(|look| look.version > VERSION)
        };
        let view = match read {
            (path, Ok(view)) if is_newer(&view) => Err((path, "written by a newer version".into())),
            (_, Ok(view)) => Ok(view),
            (_, Err(error)) if error.kind() == io::ErrorKind::NotFound => Ok(View::default()),
            (path, Err(error)) => Err((path, error.to_string())),
        };
        let view = view.unwrap_or_else(|(path, why)| {
            say(format!("{}: {why}; taken as not there", path.display()));
            View::default()
        });
        Cursors {
            file,
            observer: observer.into(),
            others,
            view,
            taken_over,
            lock: None,
        }
    }

    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Drops observers that no longer have a name and have not looked since then, in seconds since 1970.
    pub fn forget_others(&mut self, names: &[String], before: i64) {
        self.others.retain(|observer, view| {
            let looked = look_of(view).map(|look| look.looked().unwrap_or(look.since));
            names.contains(observer) || looked.is_none_or(|looked| looked.0 / SECOND >= before)
        });
    }

    /// The position among other projects' directories; none if that cannot be remembered. It moves with every look, so it
    /// stands in the lock file, which costs next to nothing to write. If it cannot be read, the look gets to all of them.
    pub fn position(&self) -> Option<u64> {
        self.lock.as_ref()?.number().ok()
    }

    pub fn set_position(&self, position: u64) -> io::Result<()> {
        self.lock
            .as_ref()
            .map_or(Ok(()), |lock| lock.set_number(position))
    }

    /// Writes what the observer has seen after a look, if the file is held.
    pub fn save(&self, look: Look, changes: Changes) -> io::Result<()> {
        if self.lock.is_none() {
            return Ok(());
        }
        let view = View {
            look: Some(look),
            sessions: self.view.sessions.with(changes)?,
        };
        match &self.file {
            CursorFile::Shared(path) => super::replace(path, self.json(&view)?.as_bytes()),
            CursorFile::Own(path) => {
                super::replace(path, &view.to_table()?)?;
                // Where the table is deleted one day, nothing older should come back. If it stays, that is no harm now.
                self.taken_over
                    .iter()
                    .for_each(|old| drop(fs::remove_file(old)));
                Ok(())
            }
        }
    }

    /// The cursors as a shared file has them.
    pub fn to_json(&self) -> io::Result<String> {
        self.json(&self.view)
    }

    fn json(&self, view: &View) -> io::Result<String> {
        let own = view.to_json()?;
        let mut all: BTreeMap<&str, &RawValue> = self
            .others
            .iter()
            .map(|(name, view)| (&**name, &**view))
            .collect();
        all.insert(&self.observer, &own);
        Ok(serde_json::to_string(&all)?)
    }
}

/// Reads a JSON file, with the entries of others.
fn shared(path: &Path, observer: &str, others: &mut Object) -> io::Result<View> {
    let none = |error: io::Error| io::Error::other(format!("no cursors ({error})"));
    let text = file::read_own(path, MOST)?;
    if text.is_empty() {
        return Ok(View::default());
    }
    *others = serde_json::from_slice(&text).map_err(|error| none(error.into()))?;
    let none_of =
        |error: io::Error| io::Error::other(format!("no cursors of {observer} ({error})"));
    others.remove(observer).map_or_else(
        || Ok(View::default()),
        |own| View::from_json(own.get()).map_err(none_of),
    )
}

/// The look of one of several observers in a file.
fn look_of(view: &RawValue) -> Option<Look> {
    let entries: Object = serde_json::from_str(view.get()).ok()?;
    serde_json::from_str(entries.get(LOOK)?.get()).ok()
}

/// The name of the observer with an id, as a shared file knows it from an earlier look.
pub fn observer_with(path: &Path, id: &str) -> Option<String> {
    let text = file::read_own(path, MOST).ok()?;
    let all: Object = serde_json::from_slice(&text).ok()?;
    all.into_iter()
        .filter(|(_, view)| view.get().contains(id))
        .find_map(|(observer, view)| {
            (look_of(&view)?.id.as_deref() == Some(id) && observer != id).then_some(observer)
        })
}

/// Deletes the files of sessions that have not looked since then, in seconds since 1970, and their locks. A file that
/// somebody works with, or that cannot be deleted, stays.
pub fn forget(dir: &Path, before: i64) {
    for path in super::old_files(dir, before) {
        let [table, old, lock] = ["bin", "json", "lock"].map(|end| path.with_extension(end));
        if ![&table, &old, &lock].contains(&&path) {
            continue;
        }
        let Ok(Some(lock)) = Lock::take(&lock, &Deadline::after(Duration::ZERO)) else {
            continue;
        };
        if [&table, &old]
            .iter()
            .all(|file| fs::metadata(file).map_or(true, |meta| meta.mtime() < before))
        {
            let _ = fs::remove_file(&table);
            let _ = fs::remove_file(&old);
            let _ = lock.remove();
        }
    }
}
