//! Reads the new part of one transcript, in three steps: which file it is, where reading goes on, and what it says from there.
//!
//! Nothing is told here, and nothing is remembered: [`New`] says where reading began and where it ended, and whoever tells
//! the news moves the cursor.

use std::io;
use std::path::Path;
use std::time::Duration;

use super::candidate::{Candidate, Reason};
use super::context::Context;
use session_core::env::Env;
use session_core::file::{self, Access};
use session_core::fold::{Basics, Continuity};
use session_core::read::once::drop_old;
use session_core::read::tail::{self, LastRead, StartAt};
use session_core::read::{Before, Lines, Part, Transcript};
use session_core::secrets::{redact, redact_command};
use session_core::session::beside::{self, TitleIndex};
use session_core::session::stopped::{counts_in, stopped_here};
use session_core::session::trust::{Judge, Trust};
use session_core::session::{Members, Session, is_away};
use session_core::settings::Settings;
use session_core::show::gate::{Gate, visible};
use session_core::state::seen::{OpenCall, Seen};
use session_format::budget::{self, Deadline};
use session_format::cursor::Buffer;
use session_format::entry::{Act, Position};
use session_format::time::Time;

/// The new part of a candidate.
pub struct New {
    pub part: Part,
    /// Its record before the new part, for news that is not told; and after it, for news that is told or where there is none.
    pub if_untold: Seen,
    pub if_told: Seen,
    /// The time its file was made, where that is known.
    pub created: Option<Duration>,
    pub start: StartAt,
}

/// The reason a candidate was not read.
pub enum Unread {
    /// It does not count here.
    Left(Reason),
    /// Out of time is the error that [`Deadline::is_late`] knows.
    Failed(io::Error),
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Unread {
        Unread::Failed(error)
    }
}

/// The file that was seen before, or another.
struct Identity<'c> {
    start: StartAt,
    seen: Option<&'c Seen>,
    /// The directory it began in.
    cwd: Option<String>,
}

/// The place where reading goes on.
struct Place {
    before: Seen,
    /// The session's last words count.
    here: bool,
    began_here: bool,
    last_cwd: Option<String>,
}

/// The lines from there.
struct Reading {
    part: Part,
    /// The position of the first line; there may be more before it that was not read.
    from: Position,
    more: bool,
    /// The session's directory, if that matters.
    last_cwd: Option<String>,
}

/// Reads candidates for one observer.
pub struct Reader<'r> {
    env: &'r Env,
    settings: &'r Settings,
    deadline: &'r Deadline,
    /// After that no more files are read for news.
    reading_ends: Deadline,
    /// Nothing older was ever news.
    since: Time,
    /// A session counts wherever it is.
    takes_all: bool,
    members: Members,
    judge: Judge,
    pub titles: TitleIndex,
    pub buffer: Buffer,
    /// The bytes that were read so far.
    read: u64,
}

impl<'r> Reader<'r> {
    pub fn new(context: &Context<'r, '_>) -> Reader<'r> {
        let Context {
            env,
            settings,
            deadline,
            ..
        } = *context;
        Reader {
            env,
            settings,
            deadline,
            reading_ends: deadline.for_reading(),
            since: context.since(),
            takes_all: context.takes_all(),
            members: Members::of(env, context.observer.project.clone()),
            judge: Judge::new(env),
            titles: TitleIndex::default(),
            buffer: Buffer::default(),
            read: 0,
        }
    }

    /// There is no time to read more for news, or it would be too much.
    pub fn has_enough(&self) -> bool {
        self.reading_ends.is_over() || self.read > budget::LOOK
    }

    pub fn is_time_to_tell(&self) -> bool {
        self.deadline.is_time_to_tell()
    }

    /// Reads what is new, or says why it does not count.
    pub fn read(&mut self, candidate: &Candidate) -> Result<New, Unread> {
        let new = self.read_unsure(candidate);
        let certain = self.certain(());
        match new {
            // Its own trouble says what becomes of it.
            Err(Unread::Failed(_)) => new,
            _ => certain.map_err(Unread::from).and(new),
        }
    }

    fn read_unsure(&mut self, candidate: &Candidate) -> Result<New, Unread> {
        let format = candidate.session.format.format();
        let transcript =
            Transcript::open(&candidate.session.path, format)?.subagent(candidate.subagent);
        let identity = self.identify(candidate, &transcript)?;
        let place = self.place(&identity, &transcript)?;
        let reading = self.reading(&transcript, &place, identity.seen.is_some())?;
        let is_whole = reading.from.is_start() && !candidate.subagent;
        if reading.part.basics.subagent && is_whole {
            return Err(Unread::Left(Reason::Subagent));
        }
        if self.ignores(reading.last_cwd.as_deref()) {
            return Err(Unread::Left(Reason::Ignored));
        }
        Ok(self.close(candidate, &transcript, identity, place, reading)?)
    }

    fn ignores(&self, cwd: Option<&str>) -> bool {
        self.settings.ignores_session(cwd.into_iter())
    }

    fn identify<'c>(
        &mut self,
        candidate: &'c Candidate,
        transcript: &Transcript,
    ) -> Result<Identity<'c>, Unread> {
        let session = &candidate.session;
        if let Trust::Foreign(why) = self.trust(session, transcript)? {
            return Err(Unread::Left(Reason::Foreign(why)));
        }
        let (seen, by_inode) = (
            candidate.seen.as_ref().filter(|seen| !seen.is_untouched()),
            candidate.by_inode,
        );
        let last = seen.map(|seen| LastRead {
            offset: seen.offset,
            mark: seen.mark,
            by_inode,
        });
        let start = tail::start(&transcript.source, last)?;
        let seen = seen.filter(|_| start != StartAt::First);
        let cwd = match seen {
            Some(seen) => seen.cwd.clone(),
            None => {
                let beginning = transcript.beginning()?;
                if beginning.subagent && !candidate.subagent {
                    return Err(Unread::Left(Reason::Subagent));
                }
                began_in(beginning.cwd, session)?
            }
        };
        if self.ignores(cwd.as_deref()) {
            return Err(Unread::Left(Reason::Ignored));
        }
        Ok(Identity { start, seen, cwd })
    }

    fn place(&mut self, identity: &Identity, transcript: &Transcript) -> Result<Place, Unread> {
        let Identity { start, seen, cwd } = identity;
        let began_here = self.takes_all || cwd.as_ref().is_some_and(|cwd| self.members.has(cwd));
        let resumed = seen.filter(|_| matches!(start, StartAt::Resume(_)));
        let last_cwd = resumed.and_then(|seen| seen.last_cwd.clone());
        let here = match &last_cwd {
            Some(cwd) => counts_in(cwd, began_here, &mut self.members, self.settings),
            None => began_here,
        };
        if !began_here && !here && !self.ends_here(transcript)? {
            let is_away = cwd.as_deref().is_some_and(|cwd| is_away(Path::new(cwd)));
            return Err(Unread::Left(if is_away {
                Reason::Away
            } else {
                Reason::Elsewhere
            }));
        }
        let before = match (resumed, seen) {
            (Some(seen), _) => (*seen).clone(),
            // What it says may have been told before.
            (None, Some(seen)) => self.after_rewrite(seen),
            (None, None) => Seen {
                after: Some(self.since),
                ..Seen::default()
            },
        };
        Ok(Place {
            before: Seen {
                absent: None,
                slow: false,
                ..before
            },
            here,
            began_here,
            last_cwd,
        })
    }

    /// Reads at most as many of the newest lines as a look has time for.
    fn reading(
        &mut self,
        transcript: &Transcript,
        place: &Place,
        is_known: bool,
    ) -> Result<Reading, Unread> {
        let (source, unread) = (&transcript.source, place.before.offset);
        // What a first look finds is old as a rule, so it begins with little.
        let mut most = if place.before.after.is_some() {
            budget::NEWS
        } else {
            budget::FILE
        };
        // What was read by then can still be told in time.
        let (in_time, never) = (self.reading_ends, Deadline::after(Duration::MAX));
        let mut deadline = Some(&in_time);
        loop {
            let start = if source.end().since(unread) > most {
                source
                    .newest(most, deadline.unwrap_or(&never))?
                    .map(|start| start.max(unread))
            } else {
                Some(unread)
            };
            if start.is_none() && !is_known {
                return Err(Unread::Left(Reason::TooLong));
            }
            // After a line without end there may be more one day.
            let from = start.unwrap_or(source.end());
            let (mut part, last_cwd) = self.lines(transcript, place, from, deadline)?;
            if part.is_late {
                // The newest of it can be read at any time.
                (most, deadline) = (budget::NEWS, None);
                continue;
            }
            let Some(start) = start else {
                part.end = unread;
                return Ok(Reading {
                    part,
                    from: unread,
                    more: place.before.more,
                    last_cwd,
                });
            };
            let first = part.entries.iter().find_map(|entry| entry.time);
            let is_old = place
                .before
                .after
                .is_some_and(|after| first.is_some_and(|first| first < after));
            if start == unread
                || part.is_cut
                || most >= budget::FILE
                || deadline.is_none()
                || is_old
            {
                let more = place.before.more || start > unread || part.is_cut;
                return Ok(Reading {
                    part,
                    from: start,
                    more,
                    last_cwd,
                });
            }
            most *= 8;
        }
    }

    /// The lines from a position on, and the session's directory after them if that matters.
    fn lines(
        &mut self,
        transcript: &Transcript,
        place: &Place,
        from: Position,
        deadline: Option<&Deadline>,
    ) -> io::Result<(Part, Option<String>)> {
        let Place {
            before,
            here,
            began_here,
            last_cwd,
        } = place;
        let (person_title, agent_title) = said_titles(before);
        let basics = Basics {
            person_title,
            agent_title,
            ..Basics::default()
        };
        let open = before.open.iter().map(OpenCall::to_call).collect();
        let known = Before {
            last: &before.last,
            open,
            results: before.results,
            basics,
        };
        let mut last_cwd = last_cwd.clone();
        let (members, settings) = (&mut self.members, self.settings);
        // What a session said before it came to this project, or in a directory that is ignored, is not told here.
        let mut counts = |cwd: &str| {
            if last_cwd.as_deref() != Some(cwd) {
                last_cwd = Some(cwd.to_owned());
            }
            counts_in(cwd, *began_here, members, settings)
        };
        let everywhere = *began_here && settings.ignore.is_empty();
        let only = if everywhere {
            None
        } else {
            Some(&mut counts as &mut dyn FnMut(&str) -> bool)
        };
        let lines = Lines {
            from,
            only,
            here: *here,
            deadline,
            ..Lines::default()
        };
        let part = transcript.part(lines, known, &mut self.buffer)?;
        Ok((part, last_cwd))
    }

    /// Puts together the lines and the records.
    fn close(
        &mut self,
        candidate: &Candidate,
        transcript: &Transcript,
        identity: Identity,
        place: Place,
        reading: Reading,
    ) -> io::Result<New> {
        let Reading {
            mut part,
            from,
            mut more,
            last_cwd,
        } = reading;
        self.read += part.size;
        if let Some(after) = place.before.after {
            more &= !drop_old(&mut part.entries, after, candidate.stamp.modified_at());
        }
        let cwd = identity.cwd.or_else(|| part.cwds.first().cloned());
        let before = Seen {
            more,
            cwd,
            name: candidate.name(),
            unread: true,
            ..place.before
        };
        let before = before.at(transcript.source.cursor(from)?);
        let said = (
            kept(part.basics.person_title.as_deref()),
            kept(part.basics.agent_title.as_deref()),
        );
        self.titles
            .complete_or_note(&mut part.basics, &candidate.session, self.env);
        let mut after = Seen {
            // An unfinished line is no reason to look again; whatever follows it is.
            stamp: Some(transcript.source.stamp().into()),
            seen_at: Some(self.env.now()),
            // Of a file that was written anew, what it said before may come back bit by bit.
            after: before.after.filter(|_| identity.seen.is_some()),
            title: kept(part.basics.given_title()),
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
        Ok(New {
            part,
            if_untold: before,
            if_told: after,
            created: transcript.source.created(),
            start: identity.start,
        })
    }

    /// Judges by the opened file if a transcript is the user's own.
    fn trust(&mut self, session: &Session, transcript: &Transcript) -> io::Result<Trust> {
        let linked = file::lstat(&session.path)?.is_none_or(|meta| meta.is_symlink());
        let access = Access {
            linked,
            ..transcript.source.stamp().access
        };
        Ok(self.judge.trust(session, access, self.env)?)
    }

    /// The place a session stopped at, and its directory if that had to be looked at.
    pub fn stopped(
        &mut self,
        session: &Session,
        began_here: bool,
    ) -> io::Result<(Continuity, Option<String>)> {
        stopped_here(
            session,
            began_here,
            &mut self.members,
            self.settings,
            &self.deadline.for_writing(),
        )
    }

    /// An answer, unless a directory could not be looked at: then it is not known what belongs to the project.
    pub fn certain<T>(&mut self, answer: T) -> io::Result<T> {
        let bad = std::mem::take(&mut self.members.bad).pop();
        bad.map_or(Ok(answer), |bad| Err(bad.into()))
    }

    /// Begins again in a file that was rewritten: only what is later than the last look at it is news.
    fn after_rewrite(&self, seen: &Seen) -> Seen {
        // If that look is in the future, the clock was set back, and its time says nothing.
        let looked = seen.seen_at.filter(|looked| *looked <= self.env.now());
        let after = looked.map_or(self.since, |looked| Time(looked.0.saturating_add(1)));
        let Seen {
            title,
            by_person,
            said_titles,
            fingerprint,
            last,
            open,
            ..
        } = seen.clone();
        Seen {
            after: Some(after),
            title,
            by_person,
            said_titles,
            fingerprint,
            last,
            open,
            ..Seen::default()
        }
    }

    /// None if it is no session of the observer's project; else if it began there.
    pub fn whereabouts(&mut self, session: &Session) -> io::Result<Option<bool>> {
        let transcript = Transcript::open(&session.path, session.format.format())?;
        if self.trust(session, &transcript)? != Trust::Own {
            return Ok(None);
        }
        let beginning = transcript.beginning()?;
        let cwd = began_in(beginning.cwd, session)?;
        let began = session.name.is_some() || cwd.as_ref().is_some_and(|cwd| self.members.has(cwd));
        let is_anywhere = began && self.settings.ignore.is_empty();
        let end = if is_anywhere {
            Basics::default()
        } else {
            self.end_of(&transcript)?.basics
        };
        let ignored = self
            .settings
            .ignores_session(cwd.as_deref().into_iter().chain(end.cwd()));
        let here = began || self.ends_here(&transcript)?;
        self.certain((here && !beginning.subagent && !ignored).then_some(began))
    }

    /// The session began in another project, in a directory that the name of the one it is kept in stands for.
    pub fn began_elsewhere(&mut self, session: &Session, name: &str) -> io::Result<bool> {
        let beginning = Transcript::open(&session.path, session.format.format())?.beginning()?;
        let spelling = session.root.and_then(|root| root.cwd);
        let is_kept_for =
            |cwd: &String| spelling.is_some_and(|spelling| spelling.fits(name, Path::new(cwd)));
        let cwd = began_in(beginning.cwd, session)?.filter(is_kept_for);
        let elsewhere = cwd.is_some_and(|cwd| !self.members.has(&cwd));
        self.certain(elsewhere)
    }

    /// A session that began elsewhere is in the project by now.
    fn ends_here(&mut self, transcript: &Transcript) -> io::Result<bool> {
        let cwds = self.end_of(transcript)?.cwds;
        Ok(cwds.iter().any(|cwd| self.members.has(cwd)))
    }

    /// As much of the end of a transcript as says where the session is.
    fn end_of(&mut self, transcript: &Transcript) -> io::Result<Part> {
        transcript.end_part(budget::WHEREABOUTS, self.deadline, &mut self.buffer)
    }
}

/// A title as it is kept in a file: not with a secret in it.
fn kept(title: Option<&str>) -> Option<String> {
    title
        .map(|title| Gate::new(true).hide(title.trim()).into_owned())
        .filter(|title| !title.is_empty())
}

/// The titles in a transcript so far, by a person and by the agent.
fn said_titles(seen: &Seen) -> (Option<String>, Option<String>) {
    let only = || {
        if seen.by_person {
            (seen.title.clone(), None)
        } else {
            (None, seen.title.clone())
        }
    };
    seen.said_titles.clone().unwrap_or_else(only)
}

/// The directory that a session began in: its first lines tell, or a file beside them.
fn began_in(told: Option<String>, session: &Session) -> io::Result<Option<String>> {
    match told {
        Some(cwd) => Ok(Some(cwd)),
        None => Ok(beside::beside(session)?.cwd),
    }
}
