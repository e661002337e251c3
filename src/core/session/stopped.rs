//! Where a session stopped, with what its subagents did, and which of its lines count for a project.

use std::io;
use std::path::Path;

use super::{Members, Session, find};
use crate::file::Unreadable;
use crate::fold::Continuity;
use crate::read::Transcript;
use crate::settings::Settings;
use session_format::budget::{self, Deadline};
use session_format::entry::Position;

/// True if a line of a session counts: in this project, or anywhere for a session that began in it, but never in a
/// directory that is ignored.
pub fn counts_in(cwd: &str, began_here: bool, members: &mut Members, settings: &Settings) -> bool {
    (began_here || members.has(cwd)) && !settings.ignores(Path::new(cwd))
}

/// The end of a session by the lines that count, and its last directory if that had to be looked at.
pub fn stopped_here(
    session: &Session,
    began_here: bool,
    members: &mut Members,
    settings: &Settings,
    deadline: &Deadline,
) -> io::Result<(Continuity, Option<String>)> {
    let mut is_in = None;
    let mut counts = |cwd: &str| {
        is_in = Some(cwd.to_owned());
        counts_in(cwd, began_here, members, settings)
    };
    let everywhere = began_here && settings.ignore.is_empty();
    let only = if everywhere {
        None
    } else {
        Some(&mut counts as &mut dyn FnMut(&str) -> bool)
    };
    let all = stopped(session, deadline, only)?;
    Ok((all, is_in))
}

/// The end of a session, with the edits of its subagents.
pub fn stopped(
    session: &Session,
    deadline: &Deadline,
    only: Option<&mut dyn FnMut(&str) -> bool>,
) -> io::Result<Continuity> {
    let mut all = end_of(session, deadline, only)?;
    // The command that shows the session reports what cannot be read.
    add_subagents(&mut all, session, Some(deadline), &mut Vec::new());
    Ok(all)
}

/// The end of its own transcript; more of it is read if that does not tell what was asked and there is time.
fn end_of(
    session: &Session,
    deadline: &Deadline,
    mut only: Option<&mut dyn FnMut(&str) -> bool>,
) -> io::Result<Continuity> {
    const LONGEST_END: u64 = 64 << 20;
    let transcript = Transcript::open(&session.path, session.format.detailed())?.full(true);
    let mut best = None;
    let mut most = budget::OWN;
    loop {
        let from = match transcript.source.newest(most, deadline) {
            Ok(Some(from)) => from,
            Err(error) if !Deadline::is_late(&error) => return Err(error),
            _ => return Ok(best.unwrap_or_default()),
        };
        let only = only
            .as_mut()
            .map(|only| &mut **only as &mut dyn FnMut(&str) -> bool);
        // The end is read however long it takes; it is not much.
        let in_time = best.as_ref().map(|_| deadline);
        let Some(mut all) = transcript.continuity(from, in_time, only)? else {
            return Ok(best.unwrap_or_default());
        };
        all.finish();
        if all.asked.substantive.is_some()
            || from.is_start()
            || most > LONGEST_END
            || deadline.is_over()
        {
            return Ok(all);
        }
        best = Some(all);
        most *= 16;
    }
}

/// Adds what a session's subagents edited, the newest first; with a deadline only their ends, as far as there is time.
pub(crate) fn add_subagents(
    all: &mut Continuity,
    session: &Session,
    deadline: Option<&Deadline>,
    bad: &mut Vec<Unreadable>,
) {
    for (path, _) in find::subagents(session, session.whole_id(all.id.as_deref()), bad) {
        if deadline.is_some_and(Deadline::is_over) {
            return;
        }
        let read = || {
            let transcript = Transcript::open(&path, session.format.detailed())?
                .full(true)
                .subagent(true);
            let start = match deadline {
                None => Some(Position::START),
                Some(deadline) => transcript.source.newest(budget::OWN, deadline)?,
            };
            transcript.continuity(start.unwrap_or(transcript.source.end()), deadline, None)
        };
        match read() {
            Ok(Some(part)) => all.absorb(part),
            Ok(None) => return,
            Err(error) => bad.push(Unreadable { path, error }),
        }
    }
}
