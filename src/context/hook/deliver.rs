//! Hands the text to the agent and then remembers that it was told. They stand here in the order in which they are called:
//! `print` and `remember` by `Run::at_prompt`, then `forget` (at a first look), `save` and `set_position` by `Run::look_and_tell`.
//!
//! News that could not be printed stays unread. News that was printed and could not be saved is told again.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use super::Observer;
use super::context::Context;
use super::observed::Progress;
use super::report::Report;
use session_core::env::Env;
use session_core::show::activity::Block;
use session_core::state;
use session_core::state::cursors::{self, Cursors};
use session_core::state::seen::Look;
use session_core::state::sessions::Changes;
use session_format::time::{DAY, HOUR, SECOND};

/// Prints a reply. Only then may anything count as told.
pub fn print(reply: &str, out: &mut dyn Write) -> Result<(), String> {
    let written = out
        .write_all(format!("{reply}\n").as_bytes())
        .and_then(|()| out.flush());
    written.map_err(|error| format!("stdout: {error}; nothing counts as told"))
}

/// The state after a look, as it is to be saved.
pub struct Memory {
    pub look: Look,
    pub changes: Changes,
    /// There is anything to write.
    pub is_new: bool,
    /// The next look's position in the circle of other projects' directories.
    pub position: Option<u64>,
}

/// What to save: cursors that are past what was told. Nothing is written here.
pub fn remember(report: Report, block: &Block, context: &Context) -> Memory {
    let Report {
        news,
        verdicts,
        progress,
        other_dirs,
        opened,
        ..
    } = report;
    let Progress {
        seen_until,
        walk,
        others_since,
        is_partial,
    } = progress;
    let (last, now) = (context.view.look.as_ref(), context.new_look());
    let walked = walk.is_some() || last.is_some_and(|look| look.walk.is_some());
    // A look that did not get to all files knows nothing of the others.
    let before = last
        .filter(|_| walked || is_partial)
        .map(|look| &*look.examined)
        .unwrap_or_default();
    let examined: BTreeSet<u64> = before
        .iter()
        .copied()
        .chain(verdicts.iter().filter_map(|verdict| verdict.examined))
        .collect();
    // What was found out later counts.
    let mut changes: Changes = verdicts
        .into_iter()
        .flat_map(|verdict| verdict.changes)
        .collect();
    let is_new = last.is_none() || opened || !changes.is_empty() || walked || other_dirs.is_new;
    let mut look = last.cloned().unwrap_or_else(|| now.clone());
    for (index, news) in news.into_iter().enumerate() {
        let is_told = block.shown.contains(&index);
        if is_told {
            look.add_fingerprints(&news.fingerprints);
        }
        changes.extend(news.parts.into_iter().map(|part| {
            (
                part.key,
                Some(if is_told {
                    part.if_told
                } else {
                    part.if_untold
                }),
            )
        }));
    }
    look.set_looked(seen_until);
    let others_since = others_since.filter(|since| *since != (seen_until, seen_until));
    let (examined, judged) = (examined.into_iter().collect(), other_dirs.judged);
    let look = Look {
        scope: now.scope,
        since: now.since,
        id: now.id,
        examined,
        walk,
        judged,
        others_since,
        ..look
    };
    Memory {
        look,
        changes,
        is_new,
        position: other_dirs.position,
    }
}

/// A new observer is a good moment to forget those that have not looked for long.
pub fn forget(cursors: &mut Cursors, observer: &Observer, env: &Env) {
    const LONG: i64 = 90 * DAY;
    let seconds_before_now = |span: i64| env.file_clock() / 1_000_000_000 - span / SECOND;
    let before = seconds_before_now(LONG);
    // No write takes an hour.
    let hour_ago = seconds_before_now(HOUR);
    for dir in [env.state_dir(), env.cache_dir(), env.data_dir()]
        .iter()
        .map(PathBuf::as_path)
        .chain(cursors.path().parent())
    {
        state::remove_leftovers(dir, hour_ago);
    }
    match (&observer.home, cursors.path().parent()) {
        // If the names cannot be listed, none is forgotten.
        (Some(home), _) => home
            .names()
            .into_iter()
            .for_each(|names| cursors.forget_others(&names, before)),
        (None, Some(dir)) => cursors::forget(dir, before),
        (None, None) => {}
    }
}

/// Writes the cursors.
pub fn save(cursors: &Cursors, look: Look, changes: Changes) -> Result<(), String> {
    let saved = cursors.save(look, changes);
    saved.map_err(|error| {
        format!(
            "{}: {error}; this will be told again",
            cursors.path().display()
        )
    })
}

/// Remembers where the next look goes on with other projects' directories.
pub fn set_position(cursors: &Cursors, position: u64) -> Result<(), String> {
    let lock = cursors.path().with_extension("lock");
    cursors.set_position(position).map_err(|error| {
        format!(
            "{}: {error}; other projects are looked at late",
            lock.display()
        )
    })
}
