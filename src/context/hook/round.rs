//! Chooses the directories of other projects that a look goes into.
//!
//! Agents that name a directory after the cwd keep projects apart, and other projects may have thousands of sessions. A look
//! goes into every directory that may hold a session of this project, that a file came to, or that nothing is known of. Only
//! what is appended to an old session among another project's waits for its turn: each look takes directories with at most
//! [`FILES`] sessions together, or one that has more, in a circle. Any two looks in a row take more than [`FILES`] together. So with `n`
//! sessions in other projects, each is looked at within `2 * n / FILES` looks, rounded up, and in every look if `n` is at most
//! [`FILES`].
//!
//! The position in the circle is the id of a directory, so that it holds when others come and go. It stands in the lock file,
//! because it moves with every look, and replacing the cursors each time would cost as much as the look itself.

use std::path::{Path, PathBuf};

use super::candidate::Verdict;
use super::context::Context;
use super::reader::Reader;
use session_core::file::Unreadable;
use session_core::session::Session;
use session_core::session::find::{Branch, Listing};
use session_core::state::cursors::View;
use session_core::state::seen::Judged;
use session_format::entry::Id;
use session_format::time::Time;

/// A look goes through so many sessions of other projects, unless one directory has more.
const FILES: u32 = 256;
/// At most so many directories are judged in one look; each takes an open file.
const JUDGED: usize = 64;

/// One look's part of the circle.
pub struct Round<'s, 'f> {
    view: &'s View,
    /// The findings of earlier looks, sorted.
    judged: &'s [Judged],
    /// The directories whose names may stand for this project.
    own: Vec<&'s Path>,
    /// Sessions below these directories belong to the project as well.
    and_below: bool,
    /// The worktrees there are now. Another project may be spelt like one, so none is judged under such a name.
    worktrees: Vec<PathBuf>,
    /// A directory that has not changed since then has no new files.
    horizon: Time,
    part: Stretch,
    dirs: Vec<Dir<'f>>,
    /// A directory was gone into because a file came or went.
    changed: bool,
}

/// A directory that the walk came by.
struct Dir<'f> {
    id: Id,
    path: PathBuf,
    judged: Option<Judged>,
    entered: bool,
    /// An earlier look of the same walk went into it.
    been: bool,
    /// Its name may stand for this project.
    by_name: bool,
    /// It is not to be judged: its name, a worktree's name or a cursor says that it may have sessions of this project.
    own: bool,
    files: u32,
    /// One of its sessions.
    sample: Option<Session<'f>>,
}

/// A part of the circle of ids: those at most `reach` after `from`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stretch {
    from: u64,
    /// The distance to the first directory that is not in it; none if all are.
    reach: Option<u64>,
}

impl Stretch {
    const ALL: Stretch = Stretch {
        from: 0,
        reach: None,
    };

    /// Directories from a position on, as many as a look goes into.
    fn of(judged: &[Judged], from: u64) -> Stretch {
        let start = judged.partition_point(|(id, _)| id.0 < from);
        let (before, after) = judged.split_at(start);
        let mut left = FILES;
        for (id, files) in after
            .iter()
            .chain(before)
            .filter_map(|(id, files)| Some((id, (*files)?)))
        {
            // A directory without sessions is work, too.
            let files = files.max(1);
            if files > left && left < FILES {
                return Stretch {
                    from,
                    reach: Some(id.0.wrapping_sub(from)),
                };
            }
            left = left.saturating_sub(files);
        }
        Stretch { from, reach: None }
    }

    fn has(self, id: Id) -> bool {
        self.reach
            .is_none_or(|reach| id.0.wrapping_sub(self.from) < reach)
    }

    /// The start of the next part; none if this one is the whole circle.
    fn next(self) -> Option<u64> {
        self.reach.map(|reach| self.from.wrapping_add(reach))
    }

    /// It has the last of the circle: with it, each directory has had its turn since the circle began.
    fn is_last(self) -> bool {
        self.reach
            .is_none_or(|reach| self.from.checked_add(reach).is_none())
    }
}

impl<'s, 'f> Round<'s, 'f> {
    /// The part that is due; all of it if there is no position.
    pub fn new(
        context: &Context<'s, 'f>,
        judged: &'s [Judged],
        horizon: Time,
        position: Option<u64>,
        worktrees: Vec<PathBuf>,
    ) -> Round<'s, 'f> {
        let project = &context.observer.project;
        let (dir, cwd) = (project.dir(), &*context.env.cwd);
        let own = if dir == cwd {
            vec![dir]
        } else {
            vec![dir, cwd]
        };
        let and_below = dir.as_os_str().as_encoded_bytes() != project.as_bytes();
        let part = position.map_or(Stretch::ALL, |position| Stretch::of(judged, position));
        let (view, dirs, changed) = (context.view, Vec::new(), false);
        Round {
            view,
            judged,
            own,
            and_below,
            worktrees,
            horizon,
            part,
            dirs,
            changed,
        }
    }

    /// Decides if the look goes into a directory; `been`: an earlier look of the same walk did.
    pub fn enters(&mut self, branch: &Branch, been: bool) -> bool {
        let id = Id::of(branch.path.as_os_str().as_encoded_bytes());
        let judged = self
            .judged
            .binary_search_by_key(&id, |(id, _)| *id)
            .ok()
            .map(|at| self.judged[at]);
        let by_name = self.own.iter().any(|dir| match self.and_below {
            true => branch.spelling.may_be_below(branch.name, dir),
            false => branch.spelling.fits(branch.name, dir),
        });
        // A worktree may be new, so that earlier looks did not go into its directory: its name does not count as by_name.
        let is_worktree = |tree: &PathBuf| branch.spelling.may_be_below(branch.name, tree);
        let own = by_name || self.has_cursor(branch.path) || self.worktrees.iter().any(is_worktree);
        // Something new may be in its own directories at any time; of those that are spelt like it there may be very many.
        let been = been
            && !self
                .own
                .iter()
                .any(|dir| branch.spelling.fits(branch.name, dir));
        let mut entered = own || judged.and_then(|(_, files)| files).is_none() || self.part.has(id);
        if !entered && !been {
            let changed = branch
                .changed()
                .map(|changed| Time::from_nanos(changed) >= self.horizon);
            self.changed |= changed == Some(true);
            entered = changed != Some(false);
        }
        let path = branch.path.to_path_buf();
        self.dirs.push(Dir {
            id,
            path,
            judged,
            entered: entered || been,
            been,
            by_name,
            own,
            files: 0,
            sample: None,
        });
        entered && !been
    }

    /// A session in the directory has been seen. It and its subagents are looked at each time.
    fn has_cursor(&self, dir: &Path) -> bool {
        self.view
            .sessions
            .any_below(&[&*dir.to_string_lossy(), "/"].concat())
    }

    /// Counts a file of the directory that the walk is in. Says whether some looks may leave the directory out.
    pub fn count(&mut self, file: &Listing<'_, 'f>) -> bool {
        let Some(dir) = self.dirs.last_mut().filter(|_| file.below_cwd) else {
            return false;
        };
        if !file.is_subagent {
            dir.files += 1;
            if dir.sample.is_none() && !dir.own && matches!(dir.judged, None | Some((_, Some(0)))) {
                dir.sample = Some(file.session(None));
            }
        }
        !dir.by_name
    }

    /// All directories were gone into.
    pub fn is_whole(&self) -> bool {
        self.dirs.iter().all(|dir| dir.entered)
    }

    /// Some directory was not gone into, and has not had its turn in this circle.
    pub fn goes_on(&self) -> bool {
        !self.is_whole() && !self.part.is_last()
    }

    /// Since when the files of other directories may have news, after a look that began at a time. What could not be read must
    /// be found again, but not for ever.
    pub fn since(
        &self,
        (before, circle): (Time, Time),
        began: Time,
        lost: Option<Time>,
    ) -> (Time, Time) {
        match lost {
            _ if self.goes_on() => (before, circle),
            Some(lost) => (before.max(lost), began),
            None if self.is_whole() => (began, began),
            None => (circle, began),
        }
    }

    /// Ends it: says which directories are another project's, and where the next look goes on.
    pub fn close(
        mut self,
        reader: &mut Reader,
        bad: &[Unreadable],
        verdicts: &[Verdict],
    ) -> OtherDirs {
        self.dirs
            .retain(|dir| !dir.own && !bad.iter().any(|bad| bad.path.starts_with(&dir.path)));
        let known = |dir: &Dir| dir.entered && !dir.been;
        let files = self.dirs.iter().map(|dir| {
            if known(dir) {
                dir.files.into()
            } else {
                u64::from(FILES) + 1
            }
        });
        // Where there are few, each look goes into all of them, whatever they are.
        let few = files.sum::<u64>() <= FILES.into();
        let mut left = JUDGED;
        let mut judge = |dir: &Dir| dir.judge(reader, &mut left, verdicts);
        let mut judged: Vec<Judged> = if few {
            Vec::new()
        } else {
            self.dirs.iter().filter_map(&mut judge).collect()
        };
        judged.sort_unstable();
        let ends_round = self.part.reach.is_some() && self.part.is_last();
        let is_new = self.changed || ends_round || judged != self.judged;
        OtherDirs {
            judged,
            position: self.part.next(),
            is_new,
        }
    }
}

impl Dir<'_> {
    /// Says if it is another project's, as far as that can be told now.
    fn judge(&self, reader: &mut Reader, left: &mut usize, verdicts: &[Verdict]) -> Option<Judged> {
        if self.been {
            return self.judged;
        }
        let files = match (self.judged, &self.sample) {
            (_, Some(sample)) => {
                if *left == 0 || reader.is_time_to_tell() {
                    return None;
                }
                *left -= 1;
                let name = self.path.file_name()?.to_str()?;
                // What cannot be read now is judged another time.
                reader
                    .began_elsewhere(sample, name)
                    .ok()?
                    .then_some(self.files)
            }
            // The first file to come is noticed.
            (None | Some((_, Some(_))), None) if self.entered => Some(self.files),
            (judged, None) => judged?.1,
        };
        let is_inside = |verdict: &Verdict| {
            verdict
                .quiet
                .as_ref()
                .is_some_and(|path| path.starts_with(&self.path))
        };
        Some((
            self.id,
            if verdicts.iter().any(is_inside) {
                None
            } else {
                files
            },
        ))
    }
}

/// What is known of other projects' directories after a look.
#[derive(Debug, Default)]
pub struct OtherDirs {
    /// All directories that were judged, those of this project, too.
    pub judged: Vec<Judged>,
    /// The next look's position among them.
    pub position: Option<u64>,
    /// More is known than before, or the clock has to move on.
    pub is_new: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Directories with a made-up number of sessions each, some of which are not other projects'.
    fn directories(seed: u64, count: u64) -> Vec<Judged> {
        let hash = |number: u64| Id::of(&[seed.to_le_bytes(), number.to_le_bytes()].concat()).0;
        let mut all: Vec<Judged> = (0..count)
            .map(|number| {
                let files = (hash(number) % 400) as u32;
                (
                    Id(hash(number + count).rotate_left(17)),
                    (!files.is_multiple_of(9)).then_some(files),
                )
            })
            .collect();
        all.sort_unstable();
        all
    }

    /// Wherever the circle is, each directory has its turn within twice as many looks as it takes to go through all sessions,
    /// no look goes through too many, and whoever has looked until the end of the circle has been to all since its beginning.
    #[test]
    fn each_directory_has_its_turn() {
        for seed in 0..200 {
            let judged = directories(seed, seed % 40);
            let others: Vec<(Id, u32)> = judged
                .iter()
                .filter_map(|(id, files)| Some((*id, (*files)?.max(1))))
                .collect();
            let files: u32 = others.iter().map(|(_, files)| files).sum();
            let most = 2 * files.div_ceil(FILES);
            let mut position = Id::of(&seed.to_le_bytes()).0;
            let (mut left, mut looks): (Vec<Id>, u32) =
                (others.iter().map(|(id, _)| *id).collect(), 0);
            let mut since_last: Option<Vec<Id>> = None;
            while looks < 3 * most {
                let part = Stretch::of(&judged, position);
                looks += 1;
                let had: Vec<(Id, u32)> = others
                    .iter()
                    .copied()
                    .filter(|(id, _)| part.has(*id))
                    .collect();
                let sum: u32 = had.iter().map(|(_, files)| files).sum();
                assert!(
                    sum <= FILES || had.len() == 1,
                    "seed {seed}: {sum} sessions in {} directories",
                    had.len()
                );
                left.retain(|id| !part.has(*id));
                assert!(
                    left.is_empty() || looks < most,
                    "seed {seed}: {left:?} had no turn in {most} looks"
                );
                if part.is_last() {
                    let rest: Vec<Id> = since_last.unwrap_or_default();
                    let missed: Vec<&Id> = rest.iter().filter(|id| !part.has(**id)).collect();
                    assert!(
                        missed.is_empty(),
                        "seed {seed}: {missed:?} had no turn in a whole circle"
                    );
                    // The last part of a circle may have the first of the next in it.
                    since_last = Some(
                        others
                            .iter()
                            .map(|(id, _)| *id)
                            .filter(|id| !part.has(*id))
                            .collect(),
                    );
                } else if let Some(rest) = &mut since_last {
                    rest.retain(|id| !part.has(*id));
                }
                match part.next() {
                    Some(next) => position = next,
                    None => assert_eq!(had.len(), others.len(), "seed {seed}: one part is all"),
                }
            }
        }
    }
}
