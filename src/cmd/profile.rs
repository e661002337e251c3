//! `session-reader profile`

use std::collections::{HashMap, HashSet};
use std::io;

use super::args::ProfileArgs;
use super::{Exit, Stage};
use crate::catalog::{self, Listed};
use crate::cursor::Buffer;
use crate::decode::Item;
use crate::digest::{Origin, Profile, Reading};
use crate::entry::Id;
use crate::render::profile::{self, Scope};
use crate::state::notes;
use crate::time::Time;
use crate::transcript::Transcript;

pub fn run(args: &ProfileArgs, stage: &mut Stage) -> io::Result<Exit> {
    let mut bad = Vec::new();
    let mut all = catalog::list(stage.env, stage.formats, &mut bad);
    let since = args.since.map(|since| since.time(stage.env));
    all.retain(|listed| since.is_none_or(|since| listed.tally.updated.is_some_and(|updated| updated >= since)));
    let elsewhere = all.iter().filter(|listed| !listed.here).count();
    if !args.all {
        all.retain(|listed| listed.here);
    }
    let zone = stage.env.zone();
    let wall = |time: Time| zone.wall_clock(time);
    let mut profile = Profile::default();
    let mut read_sessions = 0;
    for (listed, read) in all.iter().zip(read_all(&all, since, &wall)) {
        match read {
            Ok(part) => {
                profile.merge(part);
                read_sessions += 1;
            }
            Err(error) => catalog::say_unless_gone(error, &listed.session, &mut bad),
        }
    }
    // A fork that says nothing of its own is a session, too, as in every list.
    if since.is_none() {
        profile.sessions = read_sessions;
    }
    let trouble = stage.say_unreadable(&bad)?;
    if profile.sessions == 0 {
        stage.say(super::none(args.all, since.is_some(), if args.all { 0 } else { elsewhere }, "--all"))?;
        return Ok(trouble.max(Exit::Nothing));
    }

    // What the user set on purpose, a line each.
    let now = stage.env.now();
    let (own, wrong) = notes::Profile::read(stage.env);
    wrong.iter().try_for_each(|wrong| stage.say(wrong))?;
    let named = |kind: &str, note: &notes::Note| format!("{kind}: {}", note.text);
    let set: Vec<String> = (own.role(now).map(|role| named("role", role)).into_iter())
        .chain(own.preferences(now).map(|note| named("preference", note)))
        .chain(own.rules(now).map(|note| named("rule", note)))
        .collect();

    let scope = Scope { all: args.all, since };
    if args.json {
        writeln!(stage.out, "{}", profile::json(&profile, scope, &set))?;
    } else {
        for line in profile::text(&profile, scope, &set, stage.look) {
            writeln!(stage.out, "{line}")?;
        }
    }
    Ok(trouble)
}

type Wall<'w> = &'w (dyn Fn(Time) -> Time + Sync);

/// The profile of each session. A fork counts from where it left the one that began alike and is older.
fn read_all(all: &[Listed], since: Option<Time>, wall: Wall) -> Vec<io::Result<Profile>> {
    let nothing = HashSet::new();
    let read = catalog::in_parallel(all, |listed, buffer| {
        read(listed, since, wall, &nothing, buffer).map(|read| (read.profile, read.origin))
    });
    let mut alike: HashMap<Origin, Vec<usize>> = HashMap::new();
    let mut profiles = Vec::with_capacity(read.len());
    for (index, read) in read.into_iter().enumerate() {
        let origin = read.as_ref().ok().and_then(|(_, origin)| *origin);
        origin.into_iter().for_each(|origin| alike.entry(origin).or_default().push(index));
        profiles.push(read.map(|(profile, _)| profile));
    }
    // Few sessions are forks, and only what those of one origin say is kept in memory.
    let families: Vec<Vec<usize>> = alike.into_values().filter(|family| family.len() > 1).collect();
    let again = catalog::in_parallel(&families, |family, buffer| {
        let mut told = HashSet::new();
        let mut members = Vec::new();
        // The list has the newest first.
        for &index in family.iter().rev() {
            let profile = self::read(&all[index], since, wall, &told, buffer).map(|read| {
                told.extend(read.said);
                read.profile
            });
            members.push((index, profile));
        }
        members
    });
    for (index, profile) in again.into_iter().flatten() {
        profiles[index] = profile;
    }
    profiles
}

struct Read {
    profile: Profile,
    origin: Option<Origin>,
    said: HashSet<Id>,
}

fn read(listed: &Listed, since: Option<Time>, wall: Wall, told: &HashSet<Id>, buffer: &mut Buffer) -> io::Result<Read> {
    let format = listed.session.format;
    let transcript = Transcript::open(&listed.session.path, format.format())?;
    let mut reading = Reading::new(since, wall, told);
    transcript.from(0, buffer, &mut |item| match item {
        Item::Facts(facts) => reading.facts(&facts),
        Item::Entry(entry) => reading.entry(&entry),
    })?;
    let origin = reading.origin();
    let (profile, said) = reading.finish(format.label());
    Ok(Read { profile, origin, said })
}
