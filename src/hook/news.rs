//! What is new in one transcript for one observer: everything after the place it has seen, or a bounded tail.
//!
//! Nothing is told here, and nothing is remembered: [`New`] says where reading began and where it ended, and whoever tells
//! the news moves the cursor.

use std::borrow::Cow;
use std::fs::Metadata;
use std::io;
use std::path::Path;

use crate::budget::{self, Deadline};
use crate::cursor::{Buffer, Cursor, newest_lines};
use crate::entry::Entry;
use crate::env::Env;
use crate::file::Stamp;
use crate::read::tail::{self, Position, StartAt};
use crate::read::{Part, Transcript};
use crate::secrets::redact;
use crate::session::beside::{self, TitleIndex};
use crate::session::trust::{Judge, Trust};
use crate::session::{Members, Project, Session};
use crate::settings::{Scope, Settings};
use crate::state::cursors::Seen;
use crate::time::Time;

/// A session whose file may have news.
pub struct Candidate<'v, 'f> {
    /// What it is called among the cursors.
    pub key: String,
    pub session: Session<'f>,
    pub stamp: Stamp,
    /// It has a name in the observer's home.
    pub named: bool,
    /// The file is a subagent's; all else is its session's.
    pub subagent: bool,
    /// How far it was seen.
    pub seen: Option<&'v Seen>,
    /// The key it had before its file got another path, if the inode tells the truth.
    pub moved_from: Option<&'v str>,
}

impl Candidate<'_, '_> {
    /// Its file, where that is not its key.
    pub fn path(&self) -> Option<String> {
        (self.named && !self.subagent).then(|| self.session.path.to_string_lossy().into_owned())
    }

    /// Whether something of it was told, or it was at least read.
    pub fn is_known(&self) -> bool {
        self.seen.is_some_and(|seen| !seen.is_untouched())
    }
}

/// Why a session is told, or is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    News,
    Own,
    Unchanged,
    /// Not written since the last look, or within the window of the first.
    Old,
    Elsewhere,
    Subagent,
    Ignored,
    NothingSaid,
    ThrowAway,
    /// It came with a repository.
    Tracked,
    /// Another user owns it.
    Foreign,
    /// No line begins within reach of its end.
    TooLong,
    Late,
    Unreadable,
}

/// What is new in a candidate.
pub struct New {
    pub part: Part,
    /// Where the reading began, and where it ended.
    pub before: Seen,
    pub after: Seen,
    pub meta: Metadata,
    /// It goes on where it was seen to; else everything in it is read for the first time, or again.
    pub resumed: bool,
}

/// Reads candidates for one observer.
pub struct Reader<'r> {
    env: &'r Env,
    settings: &'r Settings,
    deadline: &'r Deadline,
    /// What is older was never news.
    since: Time,
    members: Members,
    judge: Judge<'r>,
    pub titles: TitleIndex,
    buffer: Buffer,
    /// How many bytes were read so far.
    pub read: u64,
}

impl<'r> Reader<'r> {
    pub fn new(
        env: &'r Env,
        settings: &'r Settings,
        deadline: &'r Deadline,
        since: Time,
        project: Project,
    ) -> Reader<'r> {
        let (members, titles) = (Members::of(project), TitleIndex::default());
        let (judge, buffer) = (Judge::new(env), Buffer::default());
        Reader { env, settings, deadline, since, members, judge, titles, buffer, read: 0 }
    }

    /// Reads what is new, or says why it does not count. Out of time is the error [`io::ErrorKind::TimedOut`].
    pub fn read(&mut self, candidate: &Candidate) -> io::Result<Result<New, Reason>> {
        let session = &candidate.session;
        let transcript = Transcript::open(&session.path, session.format.format())?.subagent(candidate.subagent);
        let (file, size) = (&transcript.file, transcript.meta.len());
        match self.judge.trust(&session.path, &transcript.meta)? {
            Trust::Own => {}
            Trust::Tracked => return Ok(Err(Reason::Tracked)),
            Trust::Foreign => return Ok(Err(Reason::Foreign)),
        }
        let seen = candidate.seen.filter(|seen| !seen.is_untouched());
        let moved = candidate.moved_from.is_some();
        let start = tail::start(file, seen.map(|seen| Position { offset: seen.offset, mark: seen.mark, moved }))?;
        let seen = seen.filter(|_| start != StartAt::First);
        let mut cwd = seen.and_then(|seen| seen.cwd.clone());
        if seen.is_none() {
            let beginning = transcript.beginning();
            if beginning.subagent && !candidate.subagent {
                return Ok(Err(Reason::Subagent));
            }
            cwd = beginning.cwd.map_or_else(|| Ok(beside::beside(session)?.cwd), |cwd| io::Result::Ok(Some(cwd)))?;
        }
        if cwd.as_ref().is_some_and(|cwd| self.settings.ignores(Path::new(cwd))) {
            return Ok(Err(Reason::Ignored));
        }
        let anywhere = candidate.named || self.settings.scope == Scope::Machine;
        let began_here = anywhere || cwd.as_ref().is_some_and(|cwd| self.members.has(cwd));
        if !began_here && !self.ends_here(&transcript)? {
            // A directory that could not be looked at is not another project.
            return self.members.bad.pop().map_or(Ok(Err(Reason::Elsewhere)), |bad| Err(bad.into()));
        }
        let mut before = match (start, seen) {
            (StartAt::Resume(_), Some(seen)) => seen.clone(),
            // What it says may have been told before.
            (StartAt::Restart, Some(seen)) => self.again(seen),
            _ => Seen { after: Some(self.since), ..Seen::default() },
        };
        before = Seen { absent: None, slow: false, ..before };
        let unread = before.offset;
        let mut too_long = false;
        if size.saturating_sub(before.offset) > budget::NEWS {
            match newest_lines(file, size, budget::NEWS, self.deadline)? {
                Some(offset) => before.offset = offset.max(unread),
                // A line without end; what comes after it can be read one day.
                None => too_long = true,
            }
            before.more |= before.offset > unread;
        }
        if too_long && seen.is_none() {
            return Ok(Err(Reason::TooLong));
        }
        // What a session said before it came here is none of the observer's business.
        let members = &mut self.members;
        let mut is_here = |cwd: &str| members.has(cwd);
        let only = if began_here { None } else { Some(&mut is_here as &mut dyn FnMut(&str) -> bool) };
        let from = if too_long { size } else { before.offset };
        let mut part = transcript.part(from, &before.last, &mut self.buffer, only)?;
        if too_long {
            part.end = before.offset;
        }
        self.read += part.end.saturating_sub(before.offset);
        if let Some(after) = before.after {
            let dropped = drop_old(&mut part.entries, after, Time(candidate.stamp.modified / 1_000_000));
            before.more &= !dropped;
        }
        let offset = before.offset;
        before = before.at(Cursor::at(file, offset)?);
        before.cwd = cwd.or_else(|| part.cwds.first().cloned());
        let titled = self.title(session, &part, &before);
        let after = Seen {
            // An unfinished line is no reason to look again; whatever follows it is.
            stamp: Some(Stamp::from(&transcript.meta).into()),
            seen: Some(self.env.now()),
            // Of a file that was written anew, what it said before may come back bit by bit.
            after: before.after.filter(|_| seen.is_some()),
            by_person: titled.as_ref().is_some_and(|(_, by_person)| *by_person),
            // It is kept in a file: not with a secret in it.
            title: titled.map(|(title, _)| redact(title.trim()).into_owned()).filter(|title| !title.is_empty()),
            more: false,
            unread: false,
            last: part.last.clone(),
            ..before.clone()
        };
        let after = after.at(Cursor::at(file, part.end)?);
        let resumed = matches!(start, StartAt::Resume(_));
        Ok(Ok(New { part, before: Seen { unread: true, ..before }, after, meta: transcript.meta, resumed }))
    }

    /// A file that is not what it was: only what is later than the last look at it is news.
    fn again(&self, seen: &Seen) -> Seen {
        // If that look is in the future, the clock was set back, and its time says nothing.
        let looked = seen.seen.filter(|looked| *looked <= self.env.now());
        let after = looked.map_or(self.since, |looked| Time(looked.0.saturating_add(1)));
        let (title, print) = (seen.title.clone(), seen.print);
        Seen { after: Some(after), title, by_person: seen.by_person, print, last: seen.last.clone(), ..Seen::default() }
    }

    /// Whether a session belongs to the observer's project, and is one: if so, whether it began there.
    pub fn whereabouts(&mut self, session: &Session, named: bool) -> io::Result<Option<bool>> {
        let transcript = Transcript::open(&session.path, session.format.format())?;
        if self.judge.trust(&session.path, &transcript.meta)? != Trust::Own {
            return Ok(None);
        }
        let beginning = transcript.beginning();
        let cwd = beginning.cwd.map_or_else(|| Ok(beside::beside(session)?.cwd), |cwd| io::Result::Ok(Some(cwd)))?;
        let ignored = cwd.as_ref().is_some_and(|cwd| self.settings.ignores(Path::new(cwd)));
        let began = named || cwd.is_some_and(|cwd| self.is_here(&cwd));
        let here = began || self.ends_here(&transcript)?;
        Ok((here && !beginning.subagent && !ignored).then_some(began))
    }

    pub fn is_here(&mut self, cwd: &str) -> bool {
        self.members.has(cwd)
    }

    /// Whether a session that began elsewhere is in the project by now.
    fn ends_here(&mut self, transcript: &Transcript) -> io::Result<bool> {
        let size = transcript.meta.len();
        let start = newest_lines(&transcript.file, size, budget::WHEREABOUTS, self.deadline)?;
        let cwds = transcript.part(start.unwrap_or(size), &[], &mut self.buffer, None)?.cwds;
        Ok(cwds.iter().any(|cwd| self.members.has(cwd)))
    }

    /// The title, and whether a person gave it: the newest that a person gave, else the newest of the agent.
    fn title<'t>(&mut self, session: &Session, part: &'t Part, before: &'t Seen) -> Option<(Cow<'t, str>, bool)> {
        let by_person = part.basics.person_title.as_deref().map(Cow::Borrowed);
        let by_person = by_person.or_else(|| self.titles.person_title(session, self.env).map(Cow::Owned));
        let known = before.title.as_deref().map(|title| (Cow::Borrowed(title), before.by_person));
        let by_agent = part.basics.agent_title.as_deref().map(|title| (Cow::Borrowed(title), false));
        let known_by_person = known.clone().filter(|(_, by_person)| *by_person);
        by_person.map(|title| (title, true)).or(known_by_person).or(by_agent).or(known)
    }
}

/// Leaves out what is older; says whether there was any. What has no time has that of what came before it.
fn drop_old(entries: &mut Vec<Entry>, after: Time, otherwise: Time) -> bool {
    let count = entries.len();
    let mut time = None;
    entries.retain(|entry| {
        time = entry.time.or(time);
        time.unwrap_or(otherwise) >= after
    });
    entries.len() < count
}
