//! What is new in one transcript: from where it was seen to, or from a bounded tail.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::survey::Reason;
use crate::budget;
use crate::cursor::{Buffer, Cursor, newest_lines};
use crate::entry::Entry;
use crate::env::Env;
use crate::locate::{self, Project, Session, Stamp};
use crate::secrets::redact;
use crate::settings::{Scope, Settings};
use crate::state::cursors::Seen;
use crate::time::Time;
use crate::transcript::{Part, Transcript};

/// A session whose file was written since it was seen.
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

/// What is new in a candidate.
pub struct New {
    pub part: Part,
    /// Where the reading began, and where it ended.
    pub before: Seen,
    pub after: Seen,
}

/// Reads candidates for one observer.
pub struct Reader<'r> {
    env: &'r Env,
    settings: &'r Settings,
    /// What is older was never news.
    since: Time,
    places: Places,
    buffer: Buffer,
}

impl<'r> Reader<'r> {
    pub fn new(env: &'r Env, settings: &'r Settings, since: Time, here: Project) -> Reader<'r> {
        let places = Places { project: here, known: HashMap::new() };
        Reader { env, settings, since, places, buffer: Buffer::default() }
    }

    /// Reads what is new, or says why it does not count.
    pub fn read(&mut self, candidate: &Candidate) -> io::Result<Result<New, Reason>> {
        let session = &candidate.session;
        let transcript = Transcript::open(&session.path, session.format.format())?.subagent(candidate.subagent);
        let (file, size) = (&transcript.file, transcript.meta.len());
        let seen = candidate.seen.filter(|seen| !seen.is_untouched());
        let mut cwd = seen.and_then(|seen| seen.cwd.clone());
        if seen.is_none() {
            let beginning = transcript.beginning();
            if beginning.subagent && !candidate.subagent {
                return Ok(Err(Reason::Subagent));
            }
            cwd = beginning.cwd.or_else(|| locate::beside(session).cwd);
        }
        if cwd.as_ref().is_some_and(|cwd| self.settings.ignores(Path::new(cwd))) {
            return Ok(Err(Reason::Ignored));
        }
        let anywhere = candidate.named || self.settings.scope == Scope::Machine;
        let began_here = anywhere || cwd.as_ref().is_some_and(|cwd| self.places.is_here(cwd));
        if !began_here && !self.ends_here(&transcript)? {
            return Ok(Err(Reason::Elsewhere));
        }
        let mut before = self.beginning_of_news(seen, &transcript)?;
        if size.saturating_sub(before.offset) > budget::NEWS {
            before.offset = newest_lines(file, size, budget::NEWS)?.max(before.offset);
            before.more = true;
        }
        // What a session said before it came here is none of the observer's business.
        let places = &mut self.places;
        let mut is_here = |cwd: &str| places.is_here(cwd);
        let only = if began_here { None } else { Some(&mut is_here as &mut dyn FnMut(&str) -> bool) };
        let mut part = transcript.part(before.offset, &mut self.buffer, only)?;
        if let Some(after) = before.after {
            before.more &= !drop_old(&mut part.entries, after, Time(candidate.stamp.modified / 1_000_000));
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
            ..before.clone()
        };
        let after = after.at(Cursor::at(file, part.end)?);
        Ok(Ok(New { part, before: Seen { unread: true, ..before }, after }))
    }

    /// Whether a session belongs to the observer's project, and is one: if so, whether it began there.
    pub fn whereabouts(&mut self, session: &Session, named: bool) -> io::Result<Option<bool>> {
        let transcript = Transcript::open(&session.path, session.format.format())?;
        let beginning = transcript.beginning();
        let cwd = beginning.cwd.or_else(|| locate::beside(session).cwd);
        let ignored = cwd.as_ref().is_some_and(|cwd| self.settings.ignores(Path::new(cwd)));
        let began = named || cwd.is_some_and(|cwd| self.is_here(&cwd));
        let here = began || self.ends_here(&transcript).is_ok_and(|here| here);
        Ok((here && !beginning.subagent && !ignored).then_some(began))
    }

    pub fn is_here(&mut self, cwd: &str) -> bool {
        self.places.is_here(cwd)
    }

    /// Where the reading begins.
    fn beginning_of_news(&self, seen: Option<&Seen>, transcript: &Transcript) -> io::Result<Seen> {
        Ok(match seen {
            Some(seen) if holds(seen, transcript) => seen.clone(),
            // Truncated or replaced: what it says may have been told before.
            Some(seen) => {
                let after = seen.seen.map_or(self.since, |seen| Time(seen.0.saturating_add(1)));
                Seen { after: Some(after), title: seen.title.clone(), by_person: seen.by_person, ..Seen::default() }
            }
            None => {
                let offset = newest_lines(&transcript.file, transcript.meta.len(), budget::NEWS)?;
                Seen { offset, after: Some(self.since), more: offset > 0, ..Seen::default() }
            }
        })
    }

    /// Whether a session that began elsewhere is in the project by now.
    fn ends_here(&mut self, transcript: &Transcript) -> io::Result<bool> {
        let start = newest_lines(&transcript.file, transcript.meta.len(), budget::WHEREABOUTS)?;
        let cwds = transcript.part(start, &mut self.buffer, None)?.cwds;
        Ok(cwds.iter().any(|cwd| self.places.is_here(cwd)))
    }

    /// The title, and whether a person gave it: the newest that a person gave, else the newest of the agent.
    fn title<'t>(&self, session: &Session, part: &'t Part, before: &'t Seen) -> Option<(Cow<'t, str>, bool)> {
        let by_person = part.person_title.as_deref().map(Cow::Borrowed);
        let by_person = by_person.or_else(|| locate::indexed_title(session, self.env).map(Cow::Owned));
        let known = before.title.as_deref().map(|title| (Cow::Borrowed(title), before.by_person));
        let by_agent = part.agent_title.as_deref().map(|title| (Cow::Borrowed(title), false));
        let known_by_person = known.clone().filter(|(_, by_person)| *by_person);
        by_person.map(|title| (title, true)).or(known_by_person).or(by_agent).or(known)
    }
}

/// Which directories belong to a project.
struct Places {
    project: Project,
    known: HashMap<String, bool>,
}

impl Places {
    fn is_here(&mut self, cwd: &str) -> bool {
        if let Some(here) = self.known.get(cwd) {
            return *here;
        }
        let here = Project::of(Path::new(cwd)) == self.project;
        self.known.insert(cwd.to_owned(), here);
        here
    }
}

/// Whether a file still is what it was when it was seen.
fn holds(seen: &Seen, transcript: &Transcript) -> bool {
    match seen.mark {
        Some(mark) => Cursor { offset: seen.offset, mark }.holds(&transcript.file),
        // Written by another hand: at least it must stand after a line.
        None => {
            let mut byte = [0];
            let before = seen.offset.checked_sub(1);
            seen.offset <= transcript.meta.len()
                && before.is_none_or(|at| transcript.file.read_exact_at(&mut byte, at).is_ok() && byte[0] == b'\n')
        }
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
