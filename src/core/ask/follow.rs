//! A session that is read on as it is written.
//!
//! A file that was replaced is read from its start, and only what is later than all that was known before is news. What counts
//! once, and which call failed, are rules of `read::once`.

use std::io;
use std::path::PathBuf;

use super::list::sessions;
use super::log::{self, Origin};
use super::{Answer, Asker};
use crate::env::Env;
use crate::file::{Stamp, Unreadable};
use crate::fold::Fold;
use crate::read::once::{Conversation, Once, OpenCalls, drop_old, fingerprint};
use crate::read::tail::{self, StartAt};
use crate::read::{Lines, Log, Wanted};
use crate::session::Home;
use crate::session::choose::Resolved;
use session_format::cursor::{Buffer, Cursor};
use session_format::entry::{Call, Entry, Id, Mark, Position, What};
use session_format::hash::{HashMap, HashSet};
use session_format::time::Time;

pub struct Followed<'f> {
    pub resolved: Resolved<'f>,
    pub origin: Origin,
    cursor: Option<Cursor>,
    stamp: Option<Stamp>,
    once: Once,
    calls: OpenCalls,
    /// Entries before this time are old, and so are these of that very moment.
    newest: Option<Time>,
    latest: Vec<Id>,
    /// It was said that it cannot be read.
    pub complained: bool,
}

impl<'f> Followed<'f> {
    /// A session that is called so, of which what is older than the newest is not to be shown.
    pub fn new(
        resolved: Resolved<'f>,
        label: Option<String>,
        newest: Option<Time>,
    ) -> Answer<Followed<'f>> {
        let (origin, bad) = Origin::of(&resolved.session, label);
        let followed = Followed {
            origin,
            resolved,
            cursor: None,
            stamp: None,
            once: Once::default(),
            calls: OpenCalls::default(),
            newest,
            latest: Vec::new(),
            complained: false,
        };
        (followed, bad)
    }

    /// Adds entries to those that are known, and returns what to show of them.
    fn take(&mut self, entries: Vec<Entry<'static>>, wanted: Wanted) -> Vec<Entry<'static>> {
        let mut conversation = Conversation::new(wanted.results, std::mem::take(&mut self.calls));
        for entry in entries {
            if entry.time >= self.newest {
                if entry.time > self.newest {
                    self.latest.clear();
                }
                self.newest = entry.time;
                self.latest.extend(fingerprint(&entry));
            }
            conversation.take(entry);
        }
        let (mut entries, calls) = conversation.finish();
        self.calls = calls;
        // A call that was shown before is shown once more only if it failed.
        entries.retain(
            |entry| !matches!(&entry.what, What::Call(call) if entry.renews && !call.failed),
        );
        entries
    }

    /// Reads what was written so far; `news` goes on from there.
    pub fn past(&mut self, wanted: Wanted) -> Result<Log, Unreadable> {
        let mut log = log::last(&self.resolved, wanted)?;
        let session = &self.resolved.session;
        let cursor = session
            .open()
            .and_then(|transcript| transcript.source.cursor(log.end));
        self.cursor = Some(cursor.map_err(|error| Unreadable::new(&session.path, error))?);
        self.once = std::mem::take(&mut log.once);
        self.calls = std::mem::take(&mut log.open);
        self.take(log.entries.clone(), wanted);
        Ok(log)
    }

    /// The entries written since the last look.
    pub fn news(&mut self, wanted: Wanted) -> io::Result<Vec<Entry<'static>>> {
        let meta = match std::fs::metadata(&self.resolved.session.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            meta => meta?,
        };
        let stamp = Some(Stamp::from(&meta));
        if stamp == self.stamp {
            return Ok(vec![]);
        }
        let transcript = log::open(&self.resolved, wanted)?;
        let (from, known) = match tail::start(&transcript.source, self.cursor.map(Into::into))? {
            StartAt::Resume(offset) => (offset, None),
            StartAt::First | StartAt::Restart => (Position::START, self.newest),
        };
        let mut new: Vec<Entry> = Vec::new();
        let lines = Lines {
            from,
            ..Lines::default()
        };
        let end = transcript
            .fold(lines, &mut self.once, &mut Buffer::default(), &mut new)?
            .end;
        if let Some(known) = known {
            drop_old(&mut new, known, known);
            new.retain(|entry| {
                fingerprint(entry).is_none_or(|print| !self.latest.contains(&print))
            });
        }
        self.cursor = Some(transcript.source.cursor(end)?);
        self.stamp = stamp;
        Ok(self.take(new, wanted))
    }
}

impl Fold for Vec<Entry<'static>> {
    fn entry(&mut self, entry: &Entry, _: u64) {
        self.push(entry.clone().into_owned());
    }
}

/// Which sessions are followed, and which may be one day.
#[derive(Default)]
pub struct FollowedFiles {
    followed: HashSet<PathBuf>,
    /// Until when the others were at work elsewhere. That is not shown if they come into the project.
    elsewhere: HashMap<PathBuf, Time>,
}

impl FollowedFiles {
    /// The sessions that have to be followed from now on.
    pub fn begun<'f>(&mut self, all: bool, asker: Asker<'_, 'f>) -> Vec<Followed<'f>> {
        let mut begun = Vec::new();
        // What cannot be read now may be readable later.
        for listed in sessions(asker).0 {
            let path = listed.session.path.to_path_buf();
            if !all && !listed.here {
                let updated = listed
                    .tally
                    .updated
                    .map(|updated| Time(updated.0.saturating_add(1)));
                self.elsewhere
                    .extend(updated.map(|after| (path.clone(), after)));
            } else if self.followed.insert(path.clone()) {
                let (label, newest) = (listed.handle().to_owned(), self.elsewhere.remove(&path));
                begun.push(Followed::new(listed.session.into(), Some(label), newest).0);
            }
        }
        begun
    }
}

/// True for a new entry that is wanted. An error may turn out to be the end.
pub fn shows_new(entry: &Entry, wanted: Wanted) -> bool {
    wanted.shows(entry) || matches!(entry.what, What::Mark(Mark::Error, _))
}

/// The new entries that are wanted.
pub fn wanted_of<'e>(
    entries: &'e [Entry<'static>],
    wanted: Wanted<'e>,
) -> impl Iterator<Item = &'e Entry<'static>> {
    entries.iter().filter(move |entry| match wanted.slice {
        Some(slice) => wanted.shows(entry) && slice.fits(entry, call_of(entry, entries)),
        None => shows_new(entry, wanted),
    })
}

/// The call that a result belongs to, if it is among these entries.
fn call_of<'e>(result: &Entry, all: &'e [Entry<'static>]) -> Option<&'e Call<'static>> {
    let What::Result { call: Some(id), .. } = &result.what else {
        return None;
    };
    all.iter()
        .filter_map(Entry::call)
        .find(|call| call.id == Some(*id))
}

/// True for a name that leads to nothing now but may lead to a session later.
pub fn may_appear(name: &str, env: &Env) -> bool {
    name.ends_with(".jsonl") || is_named_here(name, env)
}

/// True for a name that this home knows, with or without a transcript.
pub fn is_named_here(name: &str, env: &Env) -> bool {
    // An unreadable home is reported where the sessions are listed.
    let names = Home::above(env).and_then(|home| home.map(|home| home.names()).transpose());
    names.is_ok_and(|names| names.is_some_and(|names| names.iter().any(|known| known == name)))
}
