//! Which session `last` means, for every command, and for a session that begins.
//!
//! The newest session of this project that is not the one that asks, is not done, and is more than a question in passing.
//! If there is none: such a question, then what is done or to be left alone, the session that asks, and one of another
//! project. [`Standing`] says which of these it is.

use std::io;
use std::time::Duration;

use super::index::{Listed, list};
use super::{Members, ids, stopped};
use crate::env::Env;
use crate::file::Unreadable;
use crate::fold::Continuity;
use crate::formats::AgentFormat;
use crate::settings::Settings;
use session_format::budget::Deadline;

/// The claim of a session to be the last one, the best first. Of two with the same claim the newer is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    Worked,
    /// A question in passing that left nothing.
    Passing,
    Done,
    /// The user wants it left alone.
    Ignored,
    /// It is the session that asks.
    Asking,
    Elsewhere,
}

/// At most so many sessions are read to find one that was worked in.
pub const TRIES: usize = 60;

/// The standing of a session of this project, and where it stopped if that had to be read. One in which something goes on is no
/// question in passing.
pub fn standing(
    asks: bool,
    done: bool,
    stop: impl FnOnce() -> io::Result<Continuity>,
    goes_on: impl FnOnce(&Continuity) -> bool,
) -> io::Result<(Standing, Option<Continuity>)> {
    if asks || done {
        return Ok((
            if asks {
                Standing::Asking
            } else {
                Standing::Done
            },
            None,
        ));
    }
    let stop = stop()?;
    let worked = stop.messages > 0 && (!stop.is_one_shot() || goes_on(&stop));
    Ok((
        if worked {
            Standing::Worked
        } else {
            Standing::Passing
        },
        Some(stop),
    ))
}

/// The session that `last` means.
pub struct Last<'f> {
    pub listed: Listed<'f>,
    pub standing: Standing,
    /// The number of sessions in other projects.
    pub elsewhere: usize,
    /// The newest session of this project that is done, if it is newer.
    pub newer_done: Option<String>,
}

/// Finds the last session; none if there is no session at all.
pub fn last<'f>(
    env: &Env,
    formats: &'f [AgentFormat],
    bad: &mut Vec<Unreadable>,
) -> Option<Last<'f>> {
    last_of(None, env, formats, bad)
}

/// The last session of an agent, if one is named.
pub(crate) fn last_of<'f>(
    agent: Option<&AgentFormat>,
    env: &Env,
    formats: &'f [AgentFormat],
    bad: &mut Vec<Unreadable>,
) -> Option<Last<'f>> {
    let mut all = list(env, formats, bad);
    all.retain(|listed| agent.is_none_or(|agent| agent.name == listed.session.format.name));
    let elsewhere = all.iter().filter(|listed| !listed.here).count();
    // A session may be called that.
    let named = all
        .iter()
        .position(|listed| listed.session.name.as_deref() == Some("last"));
    let mut best = named.map(|index| (Standing::Worked, index));
    let deadline = Deadline::after(env.patience(Duration::from_secs(5)));
    let mut members = Members::around(env, &env.cwd);
    // What is wrong with the settings is said by whoever runs a command.
    let (settings, _) = Settings::read(env);
    // In a named home those without a name are nobody's.
    let has_names = all.iter().any(|listed| listed.session.name.is_some());
    let mut tries = 0;
    let mut done = None;
    for (index, listed) in all.iter().enumerate() {
        if best.is_some_and(|(standing, _)| standing == Standing::Worked) {
            break;
        }
        let session = &listed.session;
        let standing = if !listed.here || has_names && session.name.is_none() {
            Standing::Elsewhere
        } else if settings.ignores_session(
            listed
                .tally
                .first_cwd()
                .into_iter()
                .chain(listed.tally.cwd()),
        ) {
            Standing::Ignored
        } else {
            let asks = ids::asking(session.format, env).is_some_and(|id| session.has_id(&id));
            let stop = || {
                if tries == TRIES {
                    return Ok(Continuity::default());
                }
                tries += 1;
                let began_here = session.name.is_some()
                    || listed.tally.first_cwd().is_some_and(|cwd| members.has(cwd));
                let stop =
                    stopped::stopped_here(session, began_here, &mut members, &settings, &deadline);
                stop.map(|(stop, _)| stop)
            };
            let goes_on = |_: &Continuity| listed.state(env.now()).goes_on();
            let found = standing(asks, listed.done, stop, goes_on)
                .map_err(|error| Unreadable::new(&session.path, error));
            Unreadable::noted(found.map(Some), bad)
                .map_or(Standing::Passing, |(standing, _)| standing)
        };
        done = done.or((standing == Standing::Done).then_some(index));
        best = best.into_iter().chain([(standing, index)]).min();
    }
    // The list has reported the others.
    let new = members
        .bad
        .into_iter()
        .filter(|new| bad.iter().all(|known| known.path != new.path));
    bad.extend(new.collect::<Vec<_>>());
    best.map(|(standing, index)| {
        let newer_done = done
            .filter(|done| *done < index)
            .map(|done| all[done].handle().to_owned());
        Last {
            listed: all.swap_remove(index),
            standing,
            elsewhere,
            newer_done,
        }
    })
}
