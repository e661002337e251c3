//! The memory of an observer: of itself, and of each session that it has seen.

use std::borrow::Cow;
use std::ops::Not;

use serde::{Deserialize, Serialize};

use session_format::boundary::substr;
use session_format::cursor::Cursor;
use session_format::entry::{Act, Call, Id, Position};
use session_format::time::Time;

/// The record of one other session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    pub offset: Position,
    /// Hash of the bytes before the offset, in hexadecimal; a file by another hand may lack it.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "hex")]
    pub mark: Option<u64>,
    /// The state of the file then: device, inode, size, modification time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stamp: Option<(u64, u64, u64, i64)>,
    /// There is something after the offset that has not been told.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub unread: bool,
    /// There was more before it than could be read.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub more: bool,
    #[serde(rename = "seen", skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<Time>,
    /// Only what is later is news.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Time>,
    /// The last messages that were told, shortened ids: what is written again is not news.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last: Vec<u32>,
    /// The last thing that was told, by all it says: a copy of it in another file is not news there.
    #[serde(rename = "print", skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<u32>,
    /// Calls that had no result yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<OpenCall>,
    /// Others had one since the agent last did something.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub results: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Not::not")]
    pub by_person: bool,
    /// The titles in the transcript, by a person and by the agent, unless the title above is the only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said_titles: Option<(Option<String>, Option<String>)>,
    /// Its name in the observer's home.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its transcript, in the file of a home, where the name is the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The directory it began in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Its directory at the offset, if it began in another project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_cwd: Option<String>,
    /// Since when the file, or the name, is not there. It may come back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absent: Option<Time>,
    /// Reading it took too long; others go first.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub slow: bool,
}

/// A call without a result: its id, what it does, whether it asks the user, its tool, what it is about, and whether it
/// waits for permission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenCall(
    Id,
    Act,
    bool,
    String,
    Vec<String>,
    #[serde(default, skip_serializing_if = "Not::not")] bool,
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
            let short = call
                .subjects
                .iter()
                .filter(|text| text.len() <= OpenCall::TEXT);
            let subjects = short
                .take(OpenCall::SUBJECTS)
                .map(|text| kept(call.act, text))
                .collect();
            let tool = substr(&call.tool, ..call.tool.floor_char_boundary(OpenCall::TEXT));
            Some(OpenCall(
                call.id?,
                call.act,
                call.asks,
                kept(Act::Other, tool),
                subjects,
                call.waits,
            ))
        };
        calls[calls.len().saturating_sub(OpenCall::CALLS)..]
            .iter()
            .filter_map(open)
            .collect()
    }

    pub fn to_call(&self) -> Call<'static> {
        let OpenCall(id, act, asks, tool, subjects, waits) = self.clone();
        let subjects = subjects.into_iter().map(Cow::Owned).collect();
        Call {
            id: Some(id),
            act,
            asks,
            waits,
            tool: Cow::Owned(tool),
            subjects,
            ..Call::default()
        }
    }
}

impl Seen {
    /// For a file that is to be read, and could not be yet.
    pub fn untouched() -> Seen {
        Seen {
            unread: true,
            ..Seen::default()
        }
    }

    pub fn is_untouched(&self) -> bool {
        self.unread && self.mark.is_none() && self.stamp.is_none()
    }

    pub fn at(self, cursor: Cursor) -> Seen {
        Seen {
            offset: cursor.offset,
            mark: Some(cursor.mark),
            ..self
        }
    }
}

/// What an observer remembers of its last look.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// The version of what is written here; a newer one is not understood.
    #[serde(default)]
    pub version: u32,
    /// Nothing from before this was ever news: the first look, less its window.
    pub since: Time,
    /// When it looked last, by the clock that files are stamped by, in microseconds; 0 if it never did.
    pub clock: i64,
    /// Hash of the user's home directory, the scope and the project; a different value means that the observer moved.
    #[serde(default, rename = "place")]
    pub scope: u32,
    /// Files that had no news, by path and stamp. They are not opened again before one of the two changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examined: Vec<u64>,
    /// A walk over all files that the deadline cut short: the next look goes on with it. An earlier version wrote one as
    /// `walk`, which is passed over: that walk starts anew.
    #[serde(rename = "unfinished", skip_serializing_if = "Option::is_none")]
    pub walk: Option<Walk>,
    /// Directories of sessions, sorted, so that not every look goes through other projects' sessions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<Judged>,
    /// None if every look has got to all files.
    #[serde(rename = "round", skip_serializing_if = "Option::is_none")]
    pub others_since: Option<OthersSince>,
    /// The id of the observer, by which it keeps its name while its name file is missing or half written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// A text for the beginning of the session was told: where the work stopped, or what its first prompt names.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub started: bool,
    /// The user muted the hook for this session.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub muted: bool,
    /// Fingerprints of the last things that were told: a copy in another file is not news there.
    #[serde(default, rename = "told", skip_serializing_if = "Vec::is_empty")]
    pub fingerprints: Vec<u32>,
}

/// Since when other projects' files may have news, which not every look gets to: now, and once the circle of their directories is
/// through.
pub type OthersSince = (Time, Time);

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

impl Look {
    /// Of an observer that has not looked yet.
    pub fn new(since: Time) -> Look {
        Look {
            version: VERSION,
            since,
            ..Look::default()
        }
    }

    /// When it looked last, by the clock that files are stamped by; none if it never did.
    pub fn looked(&self) -> Option<Time> {
        (self.clock != 0).then_some(Time(self.clock / 1000))
    }

    /// Adds to the fingerprints; of very many the last are kept.
    pub fn add_fingerprints(&mut self, more: &[u32]) {
        const MOST: usize = 512;
        self.fingerprints.extend(more);
        let surplus = self.fingerprints.len().saturating_sub(MOST);
        self.fingerprints.drain(..surplus);
    }

    pub fn set_looked(&mut self, clock: Time) {
        self.clock = clock.0.saturating_mul(1000);
    }
}

mod hex {
    use serde::{Deserialize, Deserializer, Serializer};

    #[allow(clippy::ref_option)] // This is what serde calls.
    pub fn serialize<S: Serializer>(mark: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:016x}", mark.unwrap_or_default()))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<u64>, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16)
            .map(Some)
            .map_err(serde::de::Error::custom)
    }
}
