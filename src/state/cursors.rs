//! How far a session has seen the others.
//!
//! `{"main":{"discord":{"offset":12345,…}}}`: observer, other session, place. In a named home one file is shared by all
//! observers; elsewhere each has its own. Whoever works with the file holds its lock from reading to writing, and writes
//! back what belongs to others as it stood there.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::Lock;
use crate::budget::Deadline;
use crate::cursor::Cursor;
use crate::time::Time;

/// How far one other session has been seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    pub offset: u64,
    /// Hash of the bytes before the offset, in hexadecimal; a file by another hand may lack it.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "hex")]
    pub mark: Option<u64>,
    /// What the file was like then: device, inode, size, modification time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<(u64, u64, u64, i64)>,
    /// There is something after the offset that has not been told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unread: bool,
    /// There was more before it than could be read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
    /// When it was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Time>,
    /// Only what is later is news.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Time>,
    /// The last messages that were told, shortened ids: what is written again is not news.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last: Vec<u32>,
    /// The last thing that was told, by all it says: a copy of it in another file is not news there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub print: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_person: bool,
    /// The file, where it is not the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

impl Seen {
    /// For a file that is to be read, and could not be yet.
    pub fn untouched() -> Seen {
        Seen { unread: true, ..Seen::default() }
    }

    pub fn is_untouched(&self) -> bool {
        self.unread && self.mark.is_none() && self.stamp.is_none()
    }

    pub fn at(self, cursor: Cursor) -> Seen {
        Seen { offset: cursor.offset, mark: Some(cursor.mark), ..self }
    }
}

/// What an observer remembers of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// The version of what is written here; a newer one is not understood.
    #[serde(default)]
    pub version: u32,
    /// Nothing from before this was ever news: the first look, less its window.
    pub since: Time,
    /// When it looked last, by the clock that files are stamped by, in microseconds.
    pub clock: i64,
    /// Hash of the project and scope; a different value means that the observer moved.
    #[serde(default)]
    pub place: u32,
    /// The last things that were told, by all they say: a copy in another file is not news there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<u32>,
    /// It was told where the work stopped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub started: bool,
    /// The user wants this session to be told nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub muted: bool,
}

pub const VERSION: u32 = 1;

impl Look {
    /// How many things that were told are remembered.
    const TOLD: usize = 64;

    pub fn new(since: Time, clock: i64) -> Look {
        Look { version: VERSION, since, clock, place: 0, told: Vec::new(), started: false, muted: false }
    }

    pub fn remember(&mut self, told: &[u32]) {
        self.told.extend(told);
        let excess = self.told.len().saturating_sub(Look::TOLD);
        self.told.drain(..excess);
    }
}

/// What an observer has seen.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct View {
    /// Nothing before its first look.
    pub look: Option<Look>,
    pub sessions: BTreeMap<String, Seen>,
}

/// The key of [`Look`] among the sessions; no session can be called that.
const OWN: &str = ".";

impl Serialize for View {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(look) = &self.look {
            map.serialize_entry(OWN, look)?;
        }
        self.sessions.iter().try_for_each(|(key, seen)| map.serialize_entry(key, seen))?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for View {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<View, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = View;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object of sessions")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<View, A::Error> {
                let mut view = View::default();
                while let Some(key) = map.next_key::<String>()? {
                    if key == OWN {
                        view.look = Some(map.next_value()?);
                    } else {
                        view.sessions.insert(key, map.next_value()?);
                    }
                }
                Ok(view)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// The file, held for one observer.
#[derive(Debug)]
pub struct Cursors {
    path: PathBuf,
    observer: String,
    others: BTreeMap<String, Box<RawValue>>,
    pub view: View,
    /// The lock, if there is one; without it nothing is written.
    lock: Option<Lock>,
}

impl Cursors {
    /// Locks and reads the file; none if another process works with it until the deadline. What cannot be read is taken
    /// as not there, and said.
    pub fn open(path: PathBuf, observer: &str, deadline: &Deadline, say: &mut dyn FnMut(String)) -> Option<Cursors> {
        match Lock::take(&path.with_extension("lock"), deadline) {
            Ok(Some(lock)) => Some(Cursors { lock: Some(lock), ..Cursors::read(path, observer, say) }),
            Ok(None) => None,
            Err(error) => {
                say(format!("{}: {error}; what is told now will be told again", path.display()));
                // What is wrong with it has been said.
                Some(Cursors::read(path, observer, &mut |_| {}))
            }
        }
    }

    /// Reads the file for somebody who will not change it.
    pub fn read(path: PathBuf, observer: &str, say: &mut dyn FnMut(String)) -> Cursors {
        let mut absent = |why: String| say(format!("{}: {why}; taken as not there", path.display()));
        let mut others = match crate::file::read_own(&path) {
            Ok(text) if text.is_empty() => BTreeMap::new(),
            Ok(text) => serde_json::from_slice::<BTreeMap<String, Box<RawValue>>>(&text).unwrap_or_else(|error| {
                absent(format!("no cursors ({error})"));
                BTreeMap::new()
            }),
            Err(error) => {
                if !matches!(error.kind(), io::ErrorKind::NotFound) {
                    absent(error.to_string());
                }
                BTreeMap::new()
            }
        };
        let own = others.remove(observer).map(|own| serde_json::from_str::<View>(own.get()));
        let view = match own {
            None => View::default(),
            Some(Ok(view)) if view.look.as_ref().is_some_and(|look| look.version > VERSION) => {
                absent("written by a newer version".into());
                View::default()
            }
            Some(Ok(view)) => view,
            Some(Err(error)) => {
                absent(format!("no cursors of {observer} ({error})"));
                View::default()
            }
        };
        Cursors { path, observer: observer.into(), others, view, lock: None }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves out observers that have no name any more and have not looked since then, in seconds since 1970.
    pub fn forget_others(&mut self, names: &[String], before: i64) {
        self.others.retain(|observer, view| {
            let view = serde_json::from_str::<View>(view.get()).ok();
            let looked = view.and_then(|view| view.look).map(|look| look.clock / 1_000_000);
            names.contains(observer) || looked.is_none_or(|looked| looked >= before)
        });
    }

    /// Writes it back, if it is held.
    pub fn save(&self) -> io::Result<()> {
        if self.lock.is_none() {
            return Ok(());
        }
        struct All<'c>(&'c Cursors);
        impl Serialize for All<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                self.0.others.iter().try_for_each(|(observer, view)| map.serialize_entry(observer, view))?;
                map.serialize_entry(&self.0.observer, &self.0.view)?;
                map.end()
            }
        }
        super::replace(&self.path, &serde_json::to_vec(&All(self))?)
    }
}

/// Deletes what sessions have seen that have not looked since then, in seconds since 1970. What cannot be deleted stays,
/// and so do locks: somebody may hold one.
pub fn forget(dir: &Path, before: i64) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let is_view = entry.path().extension().is_some_and(|end| end == "json");
        if is_view && entry.metadata().is_ok_and(|meta| meta.mtime() < before) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

mod hex {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(mark: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:016x}", mark.unwrap_or_default()))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map(Some).map_err(serde::de::Error::custom)
    }
}
