//! `session-reader profile`: reads the sessions for the statistics that `show/profile.rs` shows.

use std::io;

use super::args::ProfileArgs;
use super::{Exit, Problem, Stage};
use crate::cursor::Buffer;
use crate::entry::Ids;
use crate::env::Env;
use crate::fold::{Profile, Reading};
use crate::hash::HashMap;
use crate::progress::Progress;
use crate::read::once::{Family, Once};
use crate::read::{Lines, Transcript};
use crate::session::index::{self, Listed};
use crate::show::profile::{self, Coverage};
use crate::state::notes::{Notes, Owner};
use crate::time::Time;

pub fn run(args: &ProfileArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let mut bad = Vec::new();
    let mut all = index::list(stage.env, stage.formats, &mut bad);
    let since = args.since.map(|since| since.time(stage.env));
    all.retain(|listed| since.is_none_or(|since| listed.tally.updated.is_some_and(|updated| updated >= since)));
    let elsewhere = all.iter().filter(|listed| !listed.here).count();
    if !args.all {
        all.retain(|listed| listed.here);
    }
    let zone = stage.env.zone();
    let (mut profile, mut read_sessions) = (Profile::default(), 0);
    for (listed, read) in all.iter().zip(read_all(stage.env, &all, since, &|time| zone.wall_clock(time))) {
        match read {
            Ok(part) => {
                profile.merge(part);
                read_sessions += 1;
            }
            Err(error) => index::say_unless_gone(error, &listed.session, &mut bad),
        }
    }
    // A fork without messages of its own is still a session, as in every list.
    if since.is_none() {
        profile.sessions = read_sessions;
    }
    stage.say_unreadable(&bad);
    if profile.sessions == 0 {
        let elsewhere = if args.all { 0 } else { elsewhere };
        return Problem::nothing(super::none(args.all, since.is_some(), elsewhere, "--all"));
    }

    // What the user set on purpose, a line each.
    let (own, wrong) = Notes::read(stage.env, Owner::User);
    stage.say_all(&wrong);
    let own = own.about_user(stage.env.now());
    let set: Vec<String> = own.map(|note| format!("{}: {}", note.kind.name(), note.text)).collect();
    let coverage = Coverage { all: args.all, since };
    if args.json {
        return stage.print_json(&profile::json(&profile, coverage, &set));
    }
    stage.print_lines(profile::text(&profile, coverage, &set, stage.gate, stage.style))
}

type Wall<'w> = &'w (dyn Fn(Time) -> Time + Sync);

/// The profile of each session. A fork counts from where it left its origin, the older session with the same beginning.
fn read_all(env: &Env, all: &[Listed], since: Option<Time>, wall: Wall) -> Vec<io::Result<Profile>> {
    let size = |listed: &Listed| listed.session.size();
    let progress = Progress::of(env, "reading", all.iter().map(size));
    let read = index::in_parallel(all, &progress, size, |listed, buffer| {
        let (profile, once) = read(listed, since, wall, Once::default(), buffer)?;
        Ok((profile, once.family()))
    });
    let mut families: HashMap<Family, Vec<usize>> = HashMap::default();
    let mut profiles = Vec::with_capacity(read.len());
    for (index, read) in read.into_iter().enumerate() {
        let family = read.as_ref().ok().and_then(|(_, family)| *family);
        family.into_iter().for_each(|family| families.entry(family).or_default().push(index));
        profiles.push(read.map(|(profile, _)| profile));
    }
    // Few sessions are forks, so only the ids of one family at a time are in memory.
    let families: Vec<Vec<usize>> = families.into_values().filter(|family| family.len() > 1).collect();
    let again = index::in_parallel(
        &families,
        &Progress::silent(),
        |_| 0,
        |family, buffer| {
            let mut said = Ids::default();
            // The list has the newest first.
            let members = family.iter().rev().map(|&index| {
                let once = Once::after(std::mem::take(&mut said));
                let profile = self::read(&all[index], since, wall, once, buffer).map(|(profile, once)| {
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
    Transcript::open(&listed.session.path, format.format())?.fold(Lines::default(), &mut once, buffer, &mut reading)?;
    Ok((reading.finish(format.label()), once))
}
