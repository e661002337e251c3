//! `session-reader log --follow`: new entries as they are written.
//!
//! `events` tells when to look at which file, and `ask/follow.rs` what is new in it.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::args::LogArgs;
use super::events::{FileEvents, Happened, LOOK};
use super::{Exit, Problem, Stage, entries};
use session_core::ask::follow::{Followed, FollowedFiles, wanted_of};
use session_core::read::Wanted;
use session_core::session::choose::{self, Resolved};
use session_core::show::figures::plural;
use session_core::show::log::LogView;

/// The time between two searches for new sessions where nothing tells of them.
const SEARCH: Duration = Duration::from_secs(2);
/// The shortest time between two searches: each lists all sessions, and many files may be made at once.
const PAUSE: Duration = Duration::from_millis(200);

/// Follows one session, from its last entries on.
pub fn one<'s>(
    resolved: Resolved<'s>,
    args: &LogArgs,
    stage: &mut Stage<'_, 's>,
) -> Result<Exit, Problem> {
    let wanted = entries::wanted(args, stage);
    let mut followed = stage.heard(Followed::new(resolved, None, None));
    let past = followed.past(wanted)?;
    let mut view = entries::view(args, stage);
    entries::head(
        &followed.resolved.session,
        &followed.origin,
        &past,
        args,
        stage,
    )?;
    for entry in &past.entries {
        entries::show(entry, &followed.origin, false, args, &mut view, stage)?;
    }
    follow(vec![followed], args, view, stage, |_| vec![])
}

/// Follows a session whose transcript does not exist yet, or is still empty.
pub fn late(name: &str, args: &LogArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    stage.say(format_args!("waiting for '{name}' to begin"));
    while !stage.stop.load(Ordering::Relaxed) {
        if let Some(resolved) = choose::begun(stage.env, stage.formats, name) {
            return one(resolved, args, stage);
        }
        std::thread::sleep(LOOK);
    }
    Ok(Exit::Found)
}

/// Follows all sessions of the project or machine, also those that begin later.
pub fn many(args: &LogArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let wanted = entries::wanted(args, stage);
    let shows_past = args.lines.is_some() || args.since.is_some();
    let mut files = FollowedFiles::default();
    let mut followed = files.begun(args.all, stage.ask());
    let mut past = Vec::new();
    for one in &mut followed {
        // A file that cannot be read now may be readable later.
        let entries = one.past(wanted).unwrap_or_default().entries;
        past.extend(
            entries
                .into_iter()
                .filter(|_| shows_past)
                .map(|entry| (one.origin.clone(), entry)),
        );
    }
    past.sort_by_key(|(_, entry)| entry.time);
    let mut view = entries::view(args, stage);
    for (origin, entry) in &past[past.len().saturating_sub(wanted.count)..] {
        entries::show(entry, origin, false, args, &mut view, stage)?;
    }
    stage.say(format_args!(
        "following {}",
        plural(followed.len(), "session")
    ));
    follow(followed, args, view, stage, |stage| {
        files.begun(args.all, stage.ask())
    })
}

/// Shows new entries until the user stops it.
fn follow<'s>(
    mut all: Vec<Followed<'s>>,
    args: &LogArgs,
    mut view: LogView,
    stage: &mut Stage<'_, 's>,
    mut begun: impl FnMut(&Stage<'_, 's>) -> Vec<Followed<'s>>,
) -> Result<Exit, Problem> {
    let wanted = Wanted {
        since: None,
        ..entries::wanted(args, stage)
    };
    let (mut searched, mut is_new) = (Instant::now(), false);
    let mut events = FileEvents::start();
    watch(&all, &mut events);
    let mut happened = Happened::anything();
    while !stage.stop.load(Ordering::Relaxed) {
        for one in all
            .iter_mut()
            .filter(|one| happened.to(&one.resolved.session.path))
        {
            match one.news(wanted) {
                Ok(entries) => {
                    one.complained = false;
                    for entry in wanted_of(&entries, wanted) {
                        entries::show(entry, &one.origin, false, args, &mut view, stage)?;
                    }
                }
                Err(error) if !one.complained => {
                    one.complained = true;
                    stage.say(format_args!(
                        "{}: {error}",
                        one.resolved.session.path.display()
                    ));
                }
                Err(_) => {}
            }
        }
        stage.out.flush()?;
        happened = events.wait();
        is_new |= happened.is_new;
        if is_due(is_new, searched.elapsed()) {
            let new = begun(stage);
            happened.anything |= !new.is_empty();
            all.extend(new);
            (searched, is_new) = (Instant::now(), false);
        }
        // A directory may be there again.
        if happened.anything {
            watch(&all, &mut events);
        }
    }
    Ok(Exit::Found)
}

/// It is time to search for new sessions, so long after the last search. A file that is new since then stays due.
fn is_due(is_new: bool, since: Duration) -> bool {
    since > if is_new { PAUSE } else { SEARCH }
}

fn watch(all: &[Followed], events: &mut FileEvents) {
    all.iter()
        .filter_map(|one| one.resolved.session.path.parent())
        .for_each(|dir| events.watch(dir));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// New sessions are searched for at once, but not in a row, and none that came in between is forgotten.
    #[test]
    fn when_to_search() {
        let ms = Duration::from_millis;
        let due = |is_new| [0, 150, 201, 1999, 2001].map(|since| is_due(is_new, ms(since)));
        assert_eq!(due(true), [false, false, true, true, true]);
        assert_eq!(due(false), [false, false, false, false, true]);
    }
}
