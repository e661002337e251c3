//! The walk over all files outside of homes, for sessions that were never seen.
//!
//! It goes into the directories that [`Round`] says, asks each file that is not known for its stamp, and ends when its time is
//! over. Then the next look goes on with it.

use std::cell::RefCell;

use super::candidate::Candidate;
use super::context::{Context, lagging};
use super::ids::Ids;
use super::known::Known;
use super::observed::{Observed, Progress};
use super::round::Round;
use session_core::dir::Dirs;
use session_core::file::{Stamp, Unreadable};
use session_core::session::find::{self, Branch, Guide, Listing, Steps};
use session_core::state::seen::Walk;
use session_format::entry::{Id, Ids as IdSet};
use session_format::hash::HashSet;
use session_format::time::{DAY, HOUR, Time};

/// For how long a session may wait for a subagent without a word of its own.
const LONG: i64 = DAY;
/// For how long a directory that cannot be read holds up the clock.
const LOST: i64 = HOUR;

/// Walks over all files.
pub fn walk<'s, 'f>(
    known: Known<'s, 'f>,
    dirs: &Dirs,
    context: &Context<'s, 'f>,
) -> Observed<'s, 'f> {
    let Known {
        mut found,
        there,
        moved,
    } = known;
    let (horizon, others) = (context.horizon(), context.others_since());
    let mut bad = Vec::new();
    let mut round = round(moved.is_lost, horizon, context, &mut bad);
    // Where nothing is to be told, nobody asks for them.
    let mut ids =
        (!found.candidates.is_empty() || context.last_look_here().is_none()).then(Ids::default);
    let (mut walk, is_new) = begun(context);
    let steps = Steps::new(context.env, context.deadline).after(walk.dirs.drain(..));
    let mut files = Files::new(&walk, &steps);
    // A session that has been quiet for long has no subagent at work; there may be very many of them.
    let lively: RefCell<IdSet> = RefCell::new(walk.lively.drain(..).collect());
    let is_lively = |id: &str| {
        let mut ids = [Some(id), id.get(..8)].into_iter().flatten();
        ids.any(|id| lively.borrow().contains(&Id::of(id.as_bytes())))
    };
    let cell = RefCell::new(&mut round);
    let enters = |branch: &Branch| {
        let been = steps.has_been_to(branch.path);
        let enters = cell.borrow_mut().enters(branch, been);
        if been && enters {
            steps.again(branch.path);
        }
        enters
    };
    let guide = Guide {
        subagents: Some(&is_lively),
        enters: Some(&enters),
        dirs: Some(dirs),
        steps: Some(&steps),
    };
    find::each_with(
        context.formats,
        context.env,
        guide,
        &mut bad,
        &mut |file: Listing<'_, 'f>, bad| {
            ids.iter_mut()
                .for_each(|ids| ids.add(&file, context.observer));
            let horizon = if cell.borrow_mut().count(&file) {
                lagging(others.0)
            } else {
                horizon
            };
            let is_known = there
                .get(&Id(file.inode()))
                .is_some_and(|name| *name == file.name);
            let stamp = if is_known {
                None
            } else {
                files.stamp(&file, &mut walk, bad)
            };
            let is_recent =
                stamp.is_some_and(|stamp| stamp.changed_at().0 >= horizon.0.saturating_sub(LONG));
            if !file.is_subagent && (is_known || is_recent) {
                lively
                    .borrow_mut()
                    .extend(file.id.map(|id| Id::of(id.as_bytes())));
            }
            let Some(stamp) = stamp else { return };
            let moved = moved.of(file.id.unwrap_or_default(), file.name, stamp);
            let is_old = stamp.changed_at() < horizon && moved.is_none();
            if is_old && (!context.explain || file.is_subagent) {
                return;
            }
            let candidate =
                Candidate::new(file.session(Some(stamp)), stamp, file.is_subagent, None);
            // A file that two patterns, or two links, lead to is one.
            if context.view.sessions.get(&candidate.key).is_none()
                && files.new.insert((stamp.device, stamp.inode))
            {
                found.add(candidate, moved, horizon, context);
            }
        },
    );
    let been_to = steps.into_done();
    let late = been_to.is_some();
    // What was not found must be found again; but a directory that can never be read must not hold it up for ever.
    let lost = (!bad.is_empty()).then(|| Time(walk.began.0.saturating_sub(LOST)));
    let found_until = lost.map_or(walk.began, |lost| context.seen_until().max(lost));
    let (seen_until, since) = if late {
        (context.seen_until(), others)
    } else {
        (found_until, round.since(others, walk.began, lost))
    };
    found.progress = Progress {
        seen_until,
        others_since: Some(since),
        is_partial: round.goes_on(),
        walk: been_to.map(|dirs| Walk {
            lively: lively.into_inner().into_iter().collect(),
            dirs,
            ..walk
        }),
    };
    found.bad.extend(bad);
    found.cut_short |= late;
    found.ids = ids.filter(|_| is_new && !late && round.is_whole());
    found.round = (context.tells_projects_apart() && !late).then_some(round);
    found
}

/// A walk that was cut short goes on, past the files that it has been to. Says whether it is a new one.
fn begun(context: &Context) -> (Walk, bool) {
    let last = context.last_look_here().and_then(|look| look.walk.clone());
    let walk = last.unwrap_or_default();
    let is_new = walk.stamped.is_empty() && walk.dirs.is_empty();
    let began = if is_new {
        context.file_time()
    } else {
        walk.began
    };
    (Walk { began, ..walk }, is_new)
}

/// The part of the circle of other projects' directories that is due.
fn round<'s, 'f>(
    is_lost: bool,
    horizon: Time,
    context: &Context<'s, 'f>,
    bad: &mut Vec<Unreadable>,
) -> Round<'s, 'f> {
    let last = context.last_look_here();
    let is_settled =
        last.is_some_and(|look| look.walk.is_none()) && context.tells_projects_apart() && !is_lost;
    let judged = last.map(|look| &*look.judged).unwrap_or_default();
    let worktrees = if context.tells_projects_apart() {
        context.observer.project.worktrees(bad)
    } else {
        Vec::new()
    };
    // If a worktree is not known, neither is which directories are surely other projects'.
    let position = if is_settled && bad.is_empty() {
        context.position
    } else {
        None
    };
    Round::new(context, judged, horizon, position, worktrees)
}

/// The files that a walk asks for their stamps.
struct Files<'w> {
    steps: &'w Steps,
    /// Those that an earlier part of the same walk has asked.
    before: IdSet,
    count: u64,
    late: bool,
    new: HashSet<(u64, u64)>,
}

impl<'w> Files<'w> {
    fn new(walk: &Walk, steps: &'w Steps) -> Files<'w> {
        let before = walk.stamped.iter().copied().collect();
        Files {
            steps,
            before,
            count: 0,
            late: false,
            new: HashSet::default(),
        }
    }

    /// The stamp of a file that is not known, if there is time.
    fn stamp(
        &mut self,
        file: &Listing,
        walk: &mut Walk,
        bad: &mut Vec<Unreadable>,
    ) -> Option<Stamp> {
        // The ends of names tell more than their beginnings.
        let name = file.name.as_bytes();
        let id = Id(Id::of(&name[name.len().saturating_sub(20)..])
            .0
            .wrapping_add(file.inode()));
        if self.late || self.before.contains(&id) {
            return None;
        }
        // Asking for the time is cheap, but not for each of thousands.
        self.count += 1;
        self.late = self.count.is_multiple_of(256) && self.steps.is_late();
        let stamp = Unreadable::noted(file.stamp(), bad);
        walk.stamped.extend(stamp.map(|_| id));
        stamp
    }
}
