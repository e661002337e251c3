//! What is new in one transcript for one observer: everything after the place it has seen, or a bounded tail.
//!
//! Nothing is told here, and nothing is remembered: [`New`] says where reading began and where it ended, and whoever tells
//! the news moves the cursor.

use std::io;
use std::path::Path;
use std::time::Duration;

use crate::budget::{self, Deadline};
use crate::cursor::Buffer;
use crate::entry::Act;
use crate::env::Env;
use crate::file::{self, Access, Stamp};
use crate::fold::{Basics, Continuity};
use crate::read::once::drop_old;
use crate::read::tail::{self, LastRead, StartAt};
use crate::read::{Before, Lines, Part, Transcript};
use crate::secrets::{redact, redact_command};
use crate::session::beside::{self, TitleIndex};
use crate::session::stopped::{counts_in, stopped_here};
use crate::session::trust::{Judge, Trust, Why};
use crate::session::{Members, Project, Session, is_away};
use crate::settings::{Scope, Settings};
use crate::show::gate::{Gate, visible};
use crate::state::cursors::{OpenCall, Seen};
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
    /// The key it had before its file got another path.
    pub moved_from: Option<&'v str>,
    /// Only the inode says that it had that key.
    pub by_inode: bool,
}

impl<'v, 'f> Candidate<'v, 'f> {
    /// A session that is where it was, has no name and is no subagent's.
    pub fn new(key: String, session: Session<'f>, stamp: Stamp, seen: Option<&'v Seen>) -> Candidate<'v, 'f> {
        Candidate { key, session, stamp, named: false, subagent: false, seen, moved_from: None, by_inode: false }
    }

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    News,
    Own,
    Unchanged,
    /// Not written since the last look, or within the window of the first.
    Old,
    Elsewhere,
    /// The directory it began in is not there now.
    Away,
    Subagent,
    Ignored,
    NothingSaid,
    ThrowAway,
    /// It is not the user's own.
    Foreign(Why),
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
    /// When its file was made, where that is known.
    pub created: Option<Duration>,
    pub start: StartAt,
}

/// Reads candidates for one observer.
pub struct Reader<'r> {
    env: &'r Env,
    settings: &'r Settings,
    deadline: &'r Deadline,
    /// After that no more files are read for news.
    pub(super) reading: Deadline,
    /// What is older was never news.
    since: Time,
    members: Members,
    judge: Judge,
    pub titles: TitleIndex,
    pub(super) buffer: Buffer,
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
        let (members, titles) = (Members::of(env, project), TitleIndex::default());
        let (judge, buffer) = (Judge::new(env), Buffer::default());
        let reading = deadline.for_reading();
        Reader { env, settings, deadline, reading, since, members, judge, titles, buffer, read: 0 }
    }

    /// Reads what is new, or says why it does not count. Out of time is the error that [`Deadline::is_late`] knows.
    pub fn read(&mut self, candidate: &Candidate) -> io::Result<Result<New, Reason>> {
        let session = &candidate.session;
        let transcript = Transcript::open(&session.path, session.format.format())?.subagent(candidate.subagent);
        if let Trust::Foreign(why) = self.trust(session, &transcript)? {
            return Ok(Err(Reason::Foreign(why)));
        }
        let seen = candidate.seen.filter(|seen| !seen.is_untouched());
        let by_inode = candidate.by_inode;
        let start = tail::start(
            &transcript.source,
            seen.map(|seen| LastRead { offset: seen.offset, mark: seen.mark, by_inode }),
        )?;
        let seen = seen.filter(|_| start != StartAt::First);
        let mut cwd = seen.and_then(|seen| seen.cwd.clone());
        if seen.is_none() {
            let beginning = transcript.beginning()?;
            if beginning.subagent && !candidate.subagent {
                return Ok(Err(Reason::Subagent));
            }
            cwd = began_in(beginning.cwd, session)?;
        }
        if self.settings.ignores_session(cwd.as_deref().into_iter()) {
            return Ok(Err(Reason::Ignored));
        }
        let anywhere = candidate.named || self.settings.scope == Scope::Machine;
        let began_here = anywhere || cwd.as_ref().is_some_and(|cwd| self.members.has(cwd));
        let resumed = seen.filter(|_| matches!(start, StartAt::Resume(_)));
        let last_cwd = resumed.and_then(|seen| seen.last_cwd.clone());
        let here = match &last_cwd {
            Some(cwd) => counts_in(cwd, began_here, &mut self.members, self.settings),
            None => began_here,
        };
        if !began_here && !here && !self.ends_here(&transcript)? {
            let is_away = cwd.as_deref().is_some_and(|cwd| is_away(Path::new(cwd)));
            return self.sure(Ok(Err(if is_away { Reason::Away } else { Reason::Elsewhere })));
        }
        let mut before = match (start, seen) {
            (StartAt::Resume(_), Some(seen)) => seen.clone(),
            // What it says may have been told before.
            (StartAt::Restart, Some(seen)) => self.again(seen),
            _ => Seen { after: Some(self.since), ..Seen::default() },
        };
        before = Seen { absent: None, slow: false, ..before };
        let went = Went { here, began_here, last_cwd };
        let Some((mut part, last_cwd)) = self.part(&transcript, &mut before, went, seen.is_some())? else {
            return self.sure(Ok(Err(Reason::TooLong)));
        };
        if part.basics.subagent && before.offset.is_start() && !candidate.subagent {
            return Ok(Err(Reason::Subagent));
        }
        if self.settings.ignores_session(last_cwd.as_deref().into_iter()) {
            return Ok(Err(Reason::Ignored));
        }
        self.read += part.size;
        if let Some(after) = before.after {
            let dropped = drop_old(&mut part.entries, after, candidate.stamp.modified_at());
            before.more &= !dropped;
        }
        let offset = before.offset;
        before = before.at(transcript.source.cursor(offset)?);
        before.cwd = cwd.or_else(|| part.cwds.first().cloned());
        // Both are kept in a file: not with a secret in them.
        let kept = |title: Option<String>| {
            title.map(|title| Gate::new(true).hide(title.trim()).into_owned()).filter(|title| !title.is_empty())
        };
        let said = (kept(part.basics.person_title.clone()), kept(part.basics.agent_title.clone()));
        self.titles.complete_or_note(&mut part.basics, session, self.env);
        let mut after = Seen {
            // An unfinished line is no reason to look again; whatever follows it is.
            stamp: Some(transcript.source.stamp().into()),
            seen_at: Some(self.env.now()),
            // Of a file that was written anew, what it said before may come back bit by bit.
            after: before.after.filter(|_| seen.is_some()),
            title: kept(part.basics.given_title().map(str::to_owned)),
            by_person: part.basics.person_title.is_some(),
            said_titles: None,
            more: false,
            unread: false,
            last: part.last.clone(),
            open: OpenCall::newest(&part.open, |act, text| match act {
                Act::Run => redact_command(&visible(text)),
                _ => redact(&visible(text)).into_owned(),
            }),
            results: part.results,
            last_cwd: last_cwd.filter(|cwd| before.cwd.as_ref() != Some(cwd)),
            ..before.clone()
        };
        after.said_titles = Some(said).filter(|said| *said != said_titles(&after));
        let after = after.at(transcript.source.cursor(part.end)?);
        let created = transcript.source.created();
        let new = New { part, before: Seen { unread: true, ..before }, after, created, start };
        self.sure(Ok(Ok(new)))
    }

    /// What is new in a transcript, and where the session is if that matters: at most as many of the newest lines as a look
    /// has time for; `before` then says that there was more. None if no line begins within reach.
    fn part(
        &mut self,
        transcript: &Transcript,
        before: &mut Seen,
        went: Went,
        is_known: bool,
    ) -> io::Result<Option<(Part, Option<String>)>> {
        let (source, unread) = (&transcript.source, before.offset);
        let everywhere = went.began_here && self.settings.ignore.is_empty();
        // What a first look finds is old as a rule, so it begins with little.
        let is_first = before.after.is_some();
        let mut most = if is_first { budget::NEWS } else { budget::FILE };
        // What was read by then can still be told in time.
        let (in_time, never) = (self.reading, Deadline::after(Duration::MAX));
        let mut deadline = Some(&in_time);
        loop {
            let start = match source.end().since(unread) > most {
                true => source.newest(most, deadline.unwrap_or(&never))?.map(|start| start.max(unread)),
                false => Some(unread),
            };
            if start.is_none() && !is_known {
                return Ok(None);
            }
            let (person_title, agent_title) = said_titles(before);
            let basics = Basics { person_title, agent_title, ..Basics::default() };
            let open = before.open.iter().map(OpenCall::to_call).collect();
            let known = Before { last: &before.last, open, results: before.results, basics };
            let mut last_cwd = went.last_cwd.clone();
            let (members, settings) = (&mut self.members, self.settings);
            // What a session said before it came to this project, or in a directory that is ignored, is not told here.
            let mut counts = |cwd: &str| {
                if last_cwd.as_deref() != Some(cwd) {
                    last_cwd = Some(cwd.to_owned());
                }
                counts_in(cwd, went.began_here, members, settings)
            };
            let only = if everywhere { None } else { Some(&mut counts as &mut dyn FnMut(&str) -> bool) };
            // After a line without end there may be more one day.
            let from = start.unwrap_or(source.end());
            let lines = Lines { from, only, here: went.here, deadline, ..Lines::default() };
            let mut part = transcript.part(lines, known, &mut self.buffer)?;
            if part.is_late {
                // The newest of it can be read at any time.
                (most, deadline) = (budget::NEWS, None);
                continue;
            }
            let is_old = |after: Time| {
                let first = part.entries.iter().find_map(|entry| entry.time);
                first.is_some_and(|first| first < after)
            };
            let is_enough = from == unread || part.is_cut || most >= budget::FILE || deadline.is_none();
            if is_enough || before.after.is_some_and(is_old) || start.is_none() {
                if let Some(start) = start {
                    before.offset = start;
                    before.more |= start > unread || part.is_cut;
                } else {
                    part.end = unread;
                }
                return Ok(Some((part, last_cwd)));
            }
            most *= 8;
        }
    }

    /// Whose a transcript is, by what was opened.
    fn trust(&mut self, session: &Session, transcript: &Transcript) -> io::Result<Trust> {
        let linked = file::lstat(&session.path)?.is_none_or(|meta| meta.is_symlink());
        let access = Access { linked, ..transcript.source.stamp().access };
        Ok(self.judge.trust(session, access, self.env)?)
    }

    /// Where a session stopped, and in which directory if that had to be looked at.
    pub fn stopped(&mut self, session: &Session, began_here: bool) -> io::Result<(Continuity, Option<String>)> {
        stopped_here(session, began_here, &mut self.members, self.settings, &self.deadline.for_writing())
    }

    /// An answer, unless a directory could not be looked at: then it is not known what belongs to the project.
    pub fn sure<T>(&mut self, answer: io::Result<T>) -> io::Result<T> {
        let bad = std::mem::take(&mut self.members.bad).pop();
        bad.map_or(answer, |bad| Err(bad.into()))
    }

    /// Where to begin in a file that was rewritten: only what is later than the last look at it is news.
    fn again(&self, seen: &Seen) -> Seen {
        // If that look is in the future, the clock was set back, and its time says nothing.
        let looked = seen.seen_at.filter(|looked| *looked <= self.env.now());
        let after = looked.map_or(self.since, |looked| Time(looked.0.saturating_add(1)));
        let Seen { title, by_person, said_titles, fingerprint, last, open, .. } = seen.clone();
        Seen { after: Some(after), title, by_person, said_titles, fingerprint, last, open, ..Seen::default() }
    }

    /// Whether a session belongs to the observer's project, and is one: if so, whether it began there.
    pub fn whereabouts(&mut self, session: &Session, named: bool) -> io::Result<Option<bool>> {
        let transcript = Transcript::open(&session.path, session.format.format())?;
        if self.trust(session, &transcript)? != Trust::Own {
            return Ok(None);
        }
        let beginning = transcript.beginning()?;
        let cwd = began_in(beginning.cwd, session)?;
        let began = named || cwd.as_ref().is_some_and(|cwd| self.is_here(cwd));
        let is_anywhere = began && self.settings.ignore.is_empty();
        let end = if is_anywhere { Basics::default() } else { self.end_of(&transcript)?.basics };
        let ignored = self.settings.ignores_session(cwd.as_deref().into_iter().chain(end.cwd()));
        let here = began || self.ends_here(&transcript)?;
        self.sure(Ok((here && !beginning.subagent && !ignored).then_some(began)))
    }

    /// Whether a session began in another project, in a directory that the name of the one it is kept in stands for.
    pub fn began_elsewhere(&mut self, session: &Session, name: &str) -> io::Result<bool> {
        let beginning = Transcript::open(&session.path, session.format.format())?.beginning()?;
        let spelling = session.root.and_then(|root| root.cwd);
        let is_kept_for = |cwd: &String| spelling.is_some_and(|spelling| spelling.fits(name, Path::new(cwd)));
        let cwd = began_in(beginning.cwd, session)?.filter(is_kept_for);
        let elsewhere = cwd.is_some_and(|cwd| !self.is_here(&cwd));
        self.sure(Ok(elsewhere))
    }

    pub fn is_here(&mut self, cwd: &str) -> bool {
        self.members.has(cwd)
    }

    /// Whether a session that began elsewhere is in the project by now.
    fn ends_here(&mut self, transcript: &Transcript) -> io::Result<bool> {
        let cwds = self.end_of(transcript)?.cwds;
        Ok(cwds.iter().any(|cwd| self.members.has(cwd)))
    }

    /// As much of the end of a transcript as says where the session is.
    fn end_of(&mut self, transcript: &Transcript) -> io::Result<Part> {
        transcript.end_part(budget::WHEREABOUTS, self.deadline, &mut self.buffer)
    }
}

/// Where a session has been before the lines that are read.
struct Went {
    /// What it said last counts.
    here: bool,
    began_here: bool,
    last_cwd: Option<String>,
}

/// The titles in a transcript so far, by a person and by the agent.
fn said_titles(seen: &Seen) -> (Option<String>, Option<String>) {
    let only = || if seen.by_person { (seen.title.clone(), None) } else { (None, seen.title.clone()) };
    seen.said_titles.clone().unwrap_or_else(only)
}

/// The directory that a session began in: its first lines tell, or a file beside them.
fn began_in(told: Option<String>, session: &Session) -> io::Result<Option<String>> {
    match told {
        Some(cwd) => Ok(Some(cwd)),
        None => Ok(beside::beside(session)?.cwd),
    }
}
