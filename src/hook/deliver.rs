//! Hands the text to the agent and then remembers that it was told: print, flush, save, in this order.
//!
//! What could not be printed stays unread. What was printed and could not be saved is told again.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use super::Observer;
use super::survey::Survey;
use crate::env::Env;
use crate::show::activity::Block;
use crate::state;
use crate::state::cursors::{self, Cursors, Look};
use crate::time::{DAY, HOUR, SECOND};

/// Prints a reply. Only then may anything count as told.
pub fn print(reply: &str, out: &mut dyn Write) -> Result<(), String> {
    let written = out.write_all(format!("{reply}\n").as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| format!("stdout: {error}; nothing counts as told"))
}

/// Writes the cursors.
pub fn save(cursors: &Cursors) -> Result<(), String> {
    let saved = cursors.save();
    saved.map_err(|error| format!("{}: {error}; this will be told again", cursors.path().display()))
}

/// Remembers where the next look goes on with other projects' directories.
pub fn set_position(cursors: &Cursors, position: u64) -> Result<(), String> {
    let lock = cursors.path().with_extension("lock");
    cursors
        .set_position(position)
        .map_err(|error| format!("{}: {error}; other projects are looked at late", lock.display()))
}

/// A new observer is a good moment to forget those that have not looked for long.
pub fn forget(cursors: &mut Cursors, observer: &Observer, env: &Env) {
    const LONG: i64 = 90 * DAY;
    let seconds_before_now = |span: i64| env.file_clock() / 1_000_000_000 - span / SECOND;
    let before = seconds_before_now(LONG);
    // No write takes an hour.
    let hour_ago = seconds_before_now(HOUR);
    for dir in
        [env.state_dir(), env.cache_dir(), env.data_dir()].iter().map(PathBuf::as_path).chain(cursors.path().parent())
    {
        state::remove_leftovers(dir, hour_ago);
    }
    match (&observer.home, cursors.path().parent()) {
        // If the names cannot be listed, none is forgotten.
        (Some(home), _) => home.names().into_iter().for_each(|names| cursors.forget_others(&names, before)),
        (None, Some(dir)) => cursors::forget(dir, before),
        (None, None) => {}
    }
}

/// Moves the cursors past what was told; says whether there is anything to write.
pub fn settle(cursors: &mut Cursors, survey: Survey, block: &Block, now: Look) -> bool {
    let view = &mut cursors.view;
    let walked = survey.walk.is_some() || view.look.as_ref().is_some_and(|look| look.walk.is_some());
    let moved = !survey.forgotten.is_empty() || !survey.remembered.is_empty();
    let changed = view.look.is_none() || survey.opened || moved || walked || survey.moved_on;
    for key in survey.forgotten {
        view.sessions.remove(&key);
    }
    view.extend(survey.remembered);
    let mut fingerprints = Vec::new();
    for (index, news) in survey.news.into_iter().enumerate() {
        let told = block.shown.contains(&index);
        if told {
            fingerprints.extend(&news.fingerprints);
        }
        let seen = news.parts.into_iter().map(|(key, before, after)| (key, if told { after } else { before }));
        view.extend(seen);
    }
    let look = view.look.get_or_insert_with(|| now.clone());
    look.fingerprints.push(&fingerprints);
    look.scope = now.scope;
    look.since = now.since;
    look.id = now.id;
    // A look that did not get to all files knows nothing of the others.
    let others = look.examined.iter().filter(|_| walked || survey.is_partial);
    let examined: BTreeSet<u64> = others.chain(&survey.examined).copied().collect();
    look.examined = examined.into_iter().collect();
    look.set_looked(survey.seen_until);
    look.walk = survey.walk;
    look.judged = survey.judged;
    look.round = survey.round.filter(|(before, circle)| (*before, *circle) != (survey.seen_until, survey.seen_until));
    changed
}
