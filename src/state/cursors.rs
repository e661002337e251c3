//! How far a session has seen the others.
//!
//! `{"main":{"discord":{"offset":12345,…}}}`: observer, other session, offset. In a named home one file is shared by all
//! observers; elsewhere each has its own. A process holds the file's lock from reading to writing, and writes the entries
//! of other observers back as they were. The file is read at every prompt, so what was seen of a session is decoded only when
//! somebody asks for more than its stamp; see [`LazySeen`].

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::Lock;
use super::lazy_seen::{self, LazySeen, Ring};
use crate::boundary::substr;
use crate::budget::Deadline;
use crate::cursor::Cursor;
use crate::entry::{Act, Call, Id, Position};
use crate::time::{SECOND, Time};

/// How far one other session has been seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    pub offset: Position,
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
    #[serde(default, rename = "seen", skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<Time>,
    /// Only what is later is news.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Time>,
    /// The last messages that were told, shortened ids: what is written again is not news.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last: Vec<u32>,
    /// The last thing that was told, by all it says: a copy of it in another file is not news there.
    #[serde(default, rename = "print", skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<u32>,
    /// Calls that had no result yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<OpenCall>,
    /// Others had one since the agent last did something.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub results: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_person: bool,
    /// The titles in the transcript, by a person and by the agent, unless the title above is the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said_titles: Option<(Option<String>, Option<String>)>,
    /// The file, where it is not the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Where it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Where it was at the offset, if it began in another project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_cwd: Option<String>,
    /// Since when the file, or the name, is not there. It may come back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<Time>,
    /// Reading it took too long; others go first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub slow: bool,
}

/// A call without a result: its id, what it does, whether it asks the user, its tool, what it is about, and whether it
/// waits for permission. It is written as an array, because [`lazy_seen::cut`] takes a brace for the end of an entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenCall(
    Id,
    Act,
    bool,
    String,
    Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")] bool,
);

impl OpenCall {
    /// The most calls that are remembered, the most subjects of one, and the longest text: the file is read at every
    /// prompt. A longer subject is left out, and nothing of it is told when the result comes.
    const CALLS: usize = 32;
    const SUBJECTS: usize = 64;
    const TEXT: usize = 4096;

    /// The newest of some calls, with their texts as `kept` leaves them.
    pub fn newest(calls: &[Call], kept: impl Fn(Act, &str) -> String) -> Vec<OpenCall> {
        let open = |call: &Call| {
            let short = call.subjects.iter().filter(|text| text.len() <= OpenCall::TEXT);
            let subjects = short.take(OpenCall::SUBJECTS).map(|text| kept(call.act, text)).collect();
            let tool = substr(&call.tool, ..call.tool.floor_char_boundary(OpenCall::TEXT));
            Some(OpenCall(call.id?, call.act, call.asks, kept(Act::Other, tool), subjects, call.waits))
        };
        calls[calls.len().saturating_sub(OpenCall::CALLS)..].iter().filter_map(open).collect()
    }

    pub fn to_call(&self) -> Call<'static> {
        let OpenCall(id, act, asks, tool, subjects, waits) = self.clone();
        let subjects = subjects.into_iter().map(Cow::Owned).collect();
        Call { id: Some(id), act, asks, waits, tool: Cow::Owned(tool), subjects, ..Call::default() }
    }
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// The version of what is written here; a newer one is not understood.
    #[serde(default)]
    pub version: u32,
    /// Nothing from before this was ever news: the first look, less its window.
    pub since: Time,
    /// When it looked last, by the clock that files are stamped by, in microseconds; 0 if it never did.
    pub clock: i64,
    /// Hash of the project and scope; a different value means that the observer moved.
    #[serde(default, rename = "place")]
    pub scope: u32,
    /// Files that had no news, by path and stamp. They are not opened again before one of the two changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examined: Vec<u64>,
    /// A walk over all files that the deadline cut short: the next look goes on with it. An earlier version wrote one as
    /// `walk`, which is passed over: that walk starts anew.
    #[serde(default, rename = "unfinished", skip_serializing_if = "Option::is_none")]
    pub walk: Option<Walk>,
    /// Directories of sessions, sorted, so that not every look goes through other projects' sessions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<Judged>,
    /// Since when files among other projects' may have news; and since when at the end of the round over them. None if every
    /// look has got to all files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<(Time, Time)>,
    /// The id of the observer, by which it keeps its name while its name file is missing or half written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The hook has reported where the work stopped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub started: bool,
    /// The user muted the hook for this session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub muted: bool,
    /// Fingerprints of the last things that were told: a copy in another file is not news there. They stand at the end, where
    /// [`Look::cut`] looks for them.
    #[serde(default, rename = "told", skip_serializing_if = "Ring::is_empty")]
    pub fingerprints: Ring,
}

/// A directory, by the hash of its path, with the number of its sessions if they are another project's. One without a number
/// may have sessions of this project.
pub type Judged = (Id, Option<u32>);

/// A walk over all files that takes more than one look. It knows the files by name and inode, in whatever order they come
/// next time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Walk {
    /// When it began, by the clock that files are stamped by.
    pub began: Time,
    /// The files it has been to, and the directories, with all below them.
    pub stamped: Vec<Id>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dirs: Vec<Id>,
    /// Of these, the sessions that may have a subagent at work.
    pub lively: Vec<Id>,
}

pub const VERSION: u32 = 1;

/// The largest file that is read, in bytes: thousands of sessions for each of many observers.
const MOST: u64 = 32 << 20;

impl Look {
    /// Of an observer that has not looked yet.
    pub fn new(since: Time) -> Look {
        Look { version: VERSION, since, ..Look::default() }
    }

    /// When it looked last, by the clock that files are stamped by; none if it never did.
    pub fn looked(&self) -> Option<Time> {
        (self.clock != 0).then_some(Time(self.clock / 1000))
    }

    /// Reads one at the beginning of a text, and says how long it is there, if this program wrote it with fingerprints.
    fn cut(text: &str) -> Option<(Look, usize)> {
        // There is no such key but in a look, and no such text in a string, where a quote has a backslash before it.
        let told = lazy_seen::find(text, TOLD)?;
        let numbers = told + TOLD.len() - 1;
        let end = numbers + lazy_seen::find_byte(substr(text, numbers..), b']')? + 1;
        let list = substr(text, numbers..end);
        // All bytes are looked at, which is faster than to stop at the first that is wrong.
        let is_inside = |byte: u8| matches!(byte, b'0'..=b'9' | b',');
        let sound = substr(list, 1..list.len() - 1).bytes().fold(true, |sound, byte| sound & is_inside(byte));
        if !sound || !substr(text, end..).starts_with('}') {
            return None;
        }
        let look = serde_json::from_str(&format!("{}}}", substr(text, ..told))).ok()?;
        Some((Look { fingerprints: Ring::written(list), ..look }, end + 1))
    }

    pub fn set_looked(&mut self, clock: Time) {
        self.clock = clock.0.saturating_mul(1000);
    }
}

/// What an observer has seen.
#[derive(Debug, Default, PartialEq)]
pub struct View {
    /// Nothing before its first look. It stands among the sessions, under a name that no session can have.
    pub look: Option<Look>,
    pub sessions: BTreeMap<String, LazySeen>,
}

/// The name of the look among the sessions.
const LOOK: &str = ".";
/// How its fingerprints begin. There are many, and at most prompts nobody asks for them.
const TOLD: &str = ",\"told\":[";

impl View {
    /// Reads one that is a part of a text.
    fn read(text: &Rc<String>, at: Range<usize>) -> serde_json::Result<View> {
        View::cut(text, at.clone()).map_or_else(|| serde_json::from_str(substr(text, at)), Ok)
    }

    /// The same for what this program wrote: the sessions are only cut out. None if it looks different in any way.
    fn cut(text: &Rc<String>, at: Range<usize>) -> Option<View> {
        let look = substr(text, at.clone()).strip_prefix("{\".\":")?;
        let (first, len) = Look::cut(look).or_else(|| {
            let mut looks = serde_json::Deserializer::from_str(look).into_iter();
            Some((looks.next()?.ok()?, looks.byte_offset()))
        })?;
        let sessions = lazy_seen::cut(text, at.end - look.len() + len..at.end)?;
        Some(View { look: Some(first), sessions })
    }

    fn to_json(&self) -> serde_json::Result<String> {
        let look = self.look.iter().map(|look| Ok((LOOK, serde_json::to_string(look)?.into())));
        object(look.chain(self.sessions.iter().map(|(key, kept)| Ok((&**key, kept.to_json()?)))))
    }

    /// Notes how far sessions have been seen.
    pub fn extend(&mut self, sessions: impl IntoIterator<Item = (String, Seen)>) {
        self.sessions.extend(sessions.into_iter().map(|(key, seen)| (key, seen.into())));
    }
}

/// By hand: what serde makes of `flatten` reads everything into values of its own first.
impl<'de> Deserialize<'de> for View {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<View, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = View;

            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("the sessions that an observer has seen")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut entries: M) -> Result<View, M::Error> {
                let mut view = View::default();
                while let Some(key) = entries.next_key::<String>()? {
                    match &*key {
                        LOOK => view.look = Some(entries.next_value()?),
                        _ => drop(view.sessions.insert(key, entries.next_value::<Seen>()?.into())),
                    }
                }
                Ok(view)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// An object of values that are JSON already.
fn object<'a>(
    entries: impl Iterator<Item = serde_json::Result<(&'a str, Cow<'a, str>)>>,
) -> serde_json::Result<String> {
    let mut all = String::from("{");
    for entry in entries {
        let (key, value) = entry?;
        all.push_str(if all.len() > 1 { "," } else { "" });
        all.push_str(&serde_json::to_string(key)?);
        all.push(':');
        all.push_str(&value);
    }
    all.push('}');
    Ok(all)
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

    /// Reads the file without the lock, for a caller that does not change it.
    pub fn read(path: PathBuf, observer: &str, say: &mut dyn FnMut(String)) -> Cursors {
        let mut absent = |why: String| say(format!("{}: {why}; taken as not there", path.display()));
        let mut others: BTreeMap<String, Box<RawValue>> = BTreeMap::new();
        let mut own = None;
        match crate::file::read_own(&path, MOST).map(String::from_utf8) {
            Ok(Ok(text)) => {
                let text = Rc::new(text);
                own = observer_alone(&text, observer).map(Ok);
                if own.is_none() && !text.is_empty() {
                    match serde_json::from_str(&text) {
                        Ok(all) => others = all,
                        Err(error) => absent(format!("no cursors ({error})")),
                    }
                }
            }
            Ok(Err(error)) => absent(format!("no cursors ({error})")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => absent(error.to_string()),
        }
        let mut view = View::default();
        let among = || {
            let own = Rc::new(String::from(Box::<str>::from(others.remove(observer)?)));
            Some(View::read(&own, 0..own.len()))
        };
        match own.or_else(among) {
            None => {}
            Some(Ok(own)) if own.look.as_ref().is_some_and(|look| look.version > VERSION) => {
                absent("written by a newer version".into());
            }
            Some(Ok(own)) => view = own,
            Some(Err(error)) => absent(format!("no cursors of {observer} ({error})")),
        }
        Cursors { path, observer: observer.into(), others, view, lock: None }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Drops observers that no longer have a name and have not looked since then, in seconds since 1970.
    pub fn forget_others(&mut self, names: &[String], before: i64) {
        self.others.retain(|observer, view| {
            let view = serde_json::from_str::<View>(view.get()).ok();
            let looked = view.and_then(|view| view.look).map(|look| look.looked().unwrap_or(look.since));
            names.contains(observer) || looked.is_none_or(|looked| looked.0 / SECOND >= before)
        });
    }

    /// Where to go on with other projects' directories; none if that cannot be remembered. It moves with every look, so it
    /// stands in the lock file, which costs next to nothing to write. If it cannot be read, the look gets to all of them.
    pub fn position(&self) -> Option<u64> {
        self.lock.as_ref()?.number().ok()
    }

    pub fn set_position(&self, position: u64) -> io::Result<()> {
        self.lock.as_ref().map_or(Ok(()), |lock| lock.set_number(position))
    }

    /// Writes it back, if it is held.
    pub fn save(&self) -> io::Result<()> {
        if self.lock.is_none() {
            return Ok(());
        }
        super::replace(&self.path, self.to_json()?.as_bytes())
    }

    /// The whole file as it is to be written.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let own = self.view.to_json()?;
        let mut all: BTreeMap<&str, &str> = self.others.iter().map(|(name, view)| (&**name, view.get())).collect();
        all.insert(&self.observer, &own);
        object(all.into_iter().map(|(name, view)| Ok((name, view.into()))))
    }

    /// What turned out to be no cursors when they were needed.
    pub fn wrong(&self) -> impl Iterator<Item = String> {
        let wrong = self.view.sessions.iter().filter_map(|(key, kept)| Some((key, kept.wrong()?)));
        wrong.map(|(key, why)| format!("{}: no cursor of {key} ({why}); taken as not there", self.path.display()))
    }
}

/// Reads the file of an observer that has one for itself, as most have: in one go, because it is read at every prompt.
fn observer_alone(text: &Rc<String>, observer: &str) -> Option<View> {
    let own = text.strip_prefix(&*format!("{{\"{observer}\":"))?.strip_suffix('}')?;
    View::read(text, text.len() - 1 - own.len()..text.len() - 1).ok()
}

/// The name of the observer with an id, as the file knows it from an earlier look.
pub fn observer_with(path: &Path, id: &str) -> Option<String> {
    let text = crate::file::read_own(path, MOST).ok()?;
    let all: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(&text).ok()?;
    all.into_iter().filter(|(_, view)| view.get().contains(id)).find_map(|(observer, view)| {
        let look = serde_json::from_str::<View>(view.get()).ok()?.look?;
        (look.id.as_deref() == Some(id) && observer != id).then_some(observer)
    })
}

/// Deletes the files of sessions that have not looked since then, in seconds since 1970, and their locks. A file that
/// somebody works with, or that cannot be deleted, stays.
pub fn forget(dir: &Path, before: i64) {
    for path in super::old_files(dir, before) {
        let view = path.with_extension("json");
        let lock = path.with_extension("lock");
        if path != view && path != lock {
            continue;
        }
        let Ok(Some(lock)) = Lock::take(&lock, &Deadline::after(Duration::ZERO)) else { continue };
        if std::fs::metadata(&view).map_or(true, |meta| meta.mtime() < before) {
            let _ = std::fs::remove_file(&view);
            let _ = lock.remove();
        }
    }
}

mod hex {
    use serde::{Deserialize, Deserializer, Serializer};

    #[allow(clippy::ref_option)] // This is what serde calls.
    pub fn serialize<S: Serializer>(mark: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:016x}", mark.unwrap_or_default()))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map(Some).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever wrote a file, and in whatever order: cutting it reads it as serde does, or leaves it to serde.
    #[test]
    fn what_is_cut_out_is_what_serde_reads() {
        let looks = [
            (r#"{"version":1,"since":5,"clock":9,"place":3,"muted":true,"told":[7,4294967295]}"#, true),
            (r#"{"version":1,"since":5,"clock":9,"told":[7,8],"examined":[1],"muted":true}"#, true),
            (r#"{"version":1,"since":5,"clock":9,"id":",\"told\":[1]}"}"#, true),
            (r#"{"version":1,"since":5,"clock":9,"told":[]}"#, true),
            (r#"{"version":1,"since":5,"clock":9,"told":[7}"#, false),
            (r#"{"since":"no time","clock":9,"told":[7]}"#, false),
        ];
        let sessions = [
            (r#"{"offset":7,"mark":"00000000000000ff","stamp":[1,2,3,4],"title":"a } b"}"#, true),
            (r#"{"offset":7,"mark":"00000000000000ff","stamp":[1,2,3,-4],"slow":true,"unread":true}"#, true),
            (r#"{"offset":7,"mark":"00000000000000ff","stamp":[1,9999999999999999999,18446744073709551615,4]}"#, true),
            (r#"{"offset":7,"title":"},\"x\":{\"offset\":1}","absent":4}"#, true),
            (r#"{"offset":7,"mark":"00000000000000ff","stamp":[1,18446744073709551616,3,4]}"#, false),
            (r#"{"offset":7,"mark":"00000000000000ff","stamp":[1,2,3,9223372036854775808]}"#, false),
            (r#"{"offset":7,"mark":"00000000000000ff","stamp":[1,2,3]}"#, false),
        ];
        for (look, look_is_sound) in looks {
            for (session, session_is_sound) in sessions {
                let text = Rc::new(format!(r#"{{".":{look},"/a":{session},"/b":{}}}"#, sessions[0].0));
                let read = View::read(&text, 0..text.len());
                let judge = serde_json::from_str::<View>(&text);
                assert_eq!(read.as_ref().ok(), judge.as_ref().ok(), "{text}");
                assert_eq!(judge.is_ok(), look_is_sound && session_is_sound, "{text}");
            }
        }
    }
}
