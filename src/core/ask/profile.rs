//! Statistics about the user's work, from the sessions of this project or of the machine.

use std::io;

use super::list::{ListQuery, Listing, sessions};
use super::{Answer, Asker};
use crate::env::Env;
use crate::file::Unreadable;
use crate::fold::{Profile, Reading};
use crate::parallel::in_parallel;
use crate::progress::Progress;
use crate::read::once::{Family, Once};
use crate::read::{Lines, Transcript};
use crate::session::index::Listed;
use crate::state::notes::{Notes, Owner};
use session_format::cursor::Buffer;
use session_format::entry::Ids;
use session_format::hash::HashMap;
use session_format::time::Time;

pub struct Profiled {
    pub profile: Profile,
    /// Of every project, and since when.
    pub all: bool,
    pub since: Option<Time>,
    /// The role, preferences and rules that the user set, a line each, and the mistakes in their file.
    pub set: Vec<String>,
    pub wrong: Vec<String>,
    /// The number of sessions of other projects that were left out.
    pub elsewhere: usize,
}

pub fn profile(all: bool, since: Option<Time>, asker: Asker) -> Answer<Profiled> {
    let env = asker.env;
    let (found, mut bad) = sessions(asker);
    let Listing {
        sessions,
        elsewhere,
    } = ListQuery {
        all,
        since,
        ..ListQuery::default()
    }
    .pick(found, env.now());
    let zone = env.zone();
    let (mut profile, mut read_sessions) = (Profile::default(), 0);
    for (listed, read) in sessions
        .iter()
        .zip(read_all(env, &sessions, since, &|time| {
            zone.wall_clock(time)
        }))
    {
        match read {
            Ok(part) => {
                profile.merge(part);
                read_sessions += 1;
            }
            Err(error) => bad.extend(Unreadable::unless_gone(&listed.session.path, error)),
        }
    }
    // A fork without messages of its own is still a session, as in every list.
    if since.is_none() {
        profile.sessions = read_sessions;
    }
    let (own, wrong) = Notes::read(env, Owner::User);
    let set = own
        .about_user(env.now())
        .map(|note| format!("{}: {}", note.kind.name(), note.text))
        .collect();
    (
        Profiled {
            profile,
            all,
            since,
            set,
            wrong,
            elsewhere,
        },
        bad,
    )
}

type Wall<'w> = &'w (dyn Fn(Time) -> Time + Sync);

/// The profile of each session. A fork counts from where it left its origin, the older session with the same beginning.
fn read_all(
    env: &Env,
    all: &[Listed],
    since: Option<Time>,
    wall: Wall,
) -> Vec<io::Result<Profile>> {
    let size = |listed: &Listed| listed.session.size();
    let progress = Progress::of(env, "reading", all.iter().map(size));
    let read = in_parallel(all, &progress, size, |listed, buffer| {
        let (profile, once) = read(listed, since, wall, Once::default(), buffer)?;
        Ok((profile, once.family()))
    });
    let mut families: HashMap<Family, Vec<usize>> = HashMap::default();
    let mut profiles = Vec::with_capacity(read.len());
    for (index, read) in read.into_iter().enumerate() {
        let family = read.as_ref().ok().and_then(|(_, family)| *family);
        family
            .into_iter()
            .for_each(|family| families.entry(family).or_default().push(index));
        profiles.push(read.map(|(profile, _)| profile));
    }
    // Few sessions are forks, so only the ids of one family at a time are in memory.
    let families: Vec<Vec<usize>> = families
        .into_values()
        .filter(|family| family.len() > 1)
        .collect();
    let again = in_parallel(
        &families,
        &Progress::silent(),
        |_| 0,
        |family, buffer| {
            let mut said = Ids::default();
            // The list has the newest first.
            let members = family.iter().rev().map(|&index| {
                let once = Once::after(std::mem::take(&mut said));
                let profile =
                    self::read(&all[index], since, wall, once, buffer).map(|(profile, once)| {
                        said = once.into_ids();
                        profile
                    });
                (index, profile)
            });
            members.collect::<Vec<_>>()
        },
    );
    for (index, profile) in again.into_iter().flatten() {
        profiles[index] = profile;
    }
    profiles
}

fn read(
    listed: &Listed,
    since: Option<Time>,
    wall: Wall,
    mut once: Once,
    buffer: &mut Buffer,
) -> io::Result<(Profile, Once)> {
    let format = listed.session.format;
    let mut reading = Reading::new(since, wall);
    Transcript::open(&listed.session.path, format.format())?.fold(
        Lines::default(),
        &mut once,
        buffer,
        &mut reading,
    )?;
    Ok((reading.finish(format.label()), once))
}
