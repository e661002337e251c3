//! Hands the text to the agent and then remembers that it was told: print, flush, save, in this order.
//!
//! What could not be printed stays unread. What was printed and could not be saved is told again.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use super::Observer;
use super::survey::{self, Survey};
use crate::env::Env;
use crate::show::activity::Block;
use crate::state;
use crate::state::cursors::{self, Cursors, Look};

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

/// A new observer is a good moment to forget those that have not looked for long.
pub fn forget(cursors: &mut Cursors, observer: &Observer, env: &Env) {
    const LONG: i64 = 90 * 24 * 3600;
    let before = env.file_clock() / 1_000_000_000 - LONG;
    // Nobody writes for that long.
    let hour_ago = env.file_clock() / 1_000_000_000 - 3600;
    for dir in
        [env.state_dir(), env.cache_dir(), env.data_dir()].iter().map(PathBuf::as_path).chain(cursors.path().parent())
    {
        state::remove_leftovers(dir, hour_ago);
    }
    match (&observer.home, cursors.path().parent()) {
        // Who does not know all names forgets none.
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
    let changed = view.look.is_none() || survey.opened || moved || walked;
    for key in survey.forgotten {
        view.sessions.remove(&key);
    }
    view.sessions.extend(survey.remembered);
    let first = Look { clock: now.clock - survey::LOST, ..now.clone() };
    let look = view.look.get_or_insert(first);
    for (index, news) in survey.news.into_iter().enumerate() {
        let told = block.shown.contains(&index);
        if told {
            look.remember(&news.prints);
        }
        let seen = news.parts.into_iter().map(|(key, before, after)| (key, if told { after } else { before }));
        view.sessions.extend(seen);
    }
    look.place = now.place;
    look.since = now.since;
    look.id = now.id;
    // A look that did not get to all files knows nothing of the others.
    let others = look.examined.iter().filter(|_| look.walk.or(survey.walk).is_some());
    let examined: BTreeSet<u64> = others.chain(&survey.examined).copied().collect();
    look.examined = examined.into_iter().collect();
    // What was not found must be found again; but a directory that can never be read must not hold it up for ever.
    let is_complete = !survey.lost_sight && survey.walk.is_none();
    let seen_until = survey.clock.unwrap_or(now.clock);
    look.clock = if is_complete { seen_until } else { look.clock.max(now.clock - survey::LOST) };
    look.walk = survey.walk;
    changed
}
