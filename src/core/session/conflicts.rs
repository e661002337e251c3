//! Recent touches of sessions, and the files over which they are in conflict.
//!
//! `fold/touched.rs` says what counts as touching a file and when an edit is in conflict with what another session knows.
//! Here it is asked for sessions: what a subagent does counts for its session, what a fork copied from another session it
//! knows but did not edit, and a session that was over when the edit was made is not misled by it. [`RecentTouches`] is for
//! whoever asks again and again: the end of a transcript is read once, and then as it grows.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use super::find;
use super::index::Listed;
use crate::env::Env;
use crate::file::{Stamp, Unreadable};
use crate::fold::{Copies, Deed, Knowledge, Touch, Touched};
use crate::formats::AgentFormat;
use crate::read::once::Once;
use crate::read::tail::{self, StartAt};
use crate::read::{Lines, Transcript};
use session_format::budget;
use session_format::cursor::{Buffer, Cursor};
use session_format::entry::Act;
use session_format::hash::{HashMap, HashSet};
use session_format::time::Time;

/// So many subagents of a session are looked at: those that wrote last.
pub const SUBAGENTS: usize = 20;

/// An edit that another session has not seen.
#[derive(Debug, PartialEq, Eq)]
pub struct Conflict {
    pub path: PathBuf,
    pub time: Time,
    /// The session that edited it and the one that has not seen that, by their index.
    pub by: usize,
    pub of: usize,
}

/// The conflicts that some edits are in with what sessions know: all that they touched, copied or long ago, and when they
/// brought their files up to date. Each edit counts for every session that was open when it was made, and for the one that
/// asks; of several edits of a file by one session, the last.
pub fn conflicts<'t>(
    sessions: &[&Listed],
    asks: Option<usize>,
    known: impl Iterator<Item = (usize, &'t Touch)>,
    edited: impl Iterator<Item = (usize, &'t Touch)>,
    refreshed: impl Iterator<Item = (usize, Time)>,
    window: i64,
    now: Time,
) -> Vec<Conflict> {
    let mut knowledge: Vec<Knowledge> = sessions.iter().map(|_| Knowledge::default()).collect();
    // Most files are known to one session only.
    let mut who: HashMap<&Path, BTreeSet<usize>> = HashMap::default();
    // What a subagent only read, its session does not know.
    for (number, touch) in
        known.filter(|(_, touch)| touch.subagent.is_none() || touch.deed.is_edit())
    {
        let act = if touch.deed == Deed::Read {
            Act::Read
        } else {
            Act::Edit
        };
        knowledge[number].add(touch.path.clone(), act, touch.time);
        who.entry(&touch.path).or_default().insert(number);
    }
    refreshed.for_each(|(number, time)| knowledge[number].refresh(Some(time)));
    let mut edits: BTreeMap<(&Path, usize), Time> = BTreeMap::new();
    for (by, touch) in edited.filter(|(_, touch)| touch.deed.is_edit()) {
        if let Some(time) = touch.time {
            let last = edits.entry((&touch.path, by)).or_insert(time);
            *last = time.max(*last);
        }
    }
    let mut found = Vec::new();
    for ((path, by), time) in edits {
        let misled = |of: &usize| {
            let is_open = || {
                sessions[*of]
                    .open_until(now)
                    .is_some_and(|until| time <= until)
            };
            let was_open = asks == Some(*of) || is_open();
            *of != by && was_open && knowledge[*of].overtaken(path, Some(time), window).is_some()
        };
        let of = who.get(path).into_iter().flatten().copied().filter(misled);
        found.extend(of.map(|of| Conflict {
            path: path.to_path_buf(),
            time,
            by,
            of,
        }));
    }
    found
}

/// The touches at the end of some transcripts.
pub struct RecentTouches {
    window: i64,
    of: HashMap<PathBuf, End>,
}

struct End {
    touched: Touched,
    once: Once,
    /// It was read up to here.
    cursor: Cursor,
    stamp: Option<Stamp>,
}

/// A file, and the sessions that are in conflict over it, by their number.
#[derive(Debug, PartialEq, Eq)]
pub struct ContestedFile {
    pub path: PathBuf,
    pub sessions: Vec<usize>,
}

impl RecentTouches {
    pub fn new(window: i64) -> RecentTouches {
        RecentTouches {
            window,
            of: HashMap::default(),
        }
    }

    /// The conflicts between these sessions now. The newest session comes first, as in a list. What is known of others
    /// is forgotten.
    fn conflicts(
        &mut self,
        sessions: &[&Listed],
        asks: Option<usize>,
        env: &Env,
    ) -> (Vec<Conflict>, Vec<Unreadable>) {
        // A status line asks every few seconds, as a rule of a session that is alone.
        if sessions.len() < 2 {
            self.of.clear();
            return Default::default();
        }
        let (now, mut bad) = (env.now(), Vec::new());
        let written = env.file_clock_at(Time(now.0 - self.window));
        let mut files: Vec<(usize, PathBuf)> = Vec::new();
        let mut subagents_of: HashSet<PathBuf> = HashSet::default();
        for (number, listed) in sessions.iter().enumerate() {
            // Whoever asks is looked at in any case.
            if env.is_late() && asks != Some(number) {
                continue;
            }
            let session = &listed.session;
            let format = session.format;
            match self.read(
                &session.path,
                session.stamp,
                format,
                listed.tally.first_cwd(),
                false,
            ) {
                Ok(()) => files.push((number, session.path.to_path_buf())),
                Err(error) => bad.extend(Unreadable::unless_gone(&session.path, error)),
            }
            let subagents = find::subagents(session, &session.id, &mut bad).into_iter();
            for (path, stamp) in subagents
                .filter(|(_, stamp)| stamp.modified >= written)
                .take(SUBAGENTS)
            {
                let read = self.read(&path, Some(stamp), format, listed.tally.first_cwd(), true);
                if Unreadable::noted(
                    read.map(Some)
                        .map_err(|error| Unreadable::new(&path, error)),
                    &mut bad,
                )
                .is_some()
                {
                    subagents_of.insert(path.clone());
                    files.push((number, path));
                }
            }
        }
        let current: HashSet<&Path> = files.iter().map(|(_, path)| &**path).collect();
        self.of.retain(|path, _| current.contains(&**path));
        let mut copies = Copies::default();
        let (mut known, mut edited, mut refreshed) = (Vec::new(), Vec::new(), Vec::new());
        for number in (0..sessions.len()).rev() {
            let all = || files.iter().filter(|(by, _)| *by == number);
            let own = || {
                all()
                    .filter(|(_, path)| !subagents_of.contains(path))
                    .filter_map(|(_, path)| self.of.get(path))
            };
            let every = all()
                .filter_map(|(_, path)| self.of.get(path))
                .flat_map(|end| end.touched.touches());
            let (edits, copied) = copies.own(every.filter(|touch| touch.deed.is_edit()));
            let reads = own()
                .flat_map(|end| end.touched.touches())
                .filter(|touch| !touch.deed.is_edit());
            known.extend(
                reads
                    .chain(copied)
                    .chain(edits.iter().copied())
                    .map(|touch| (number, touch)),
            );
            edited.extend(edits.into_iter().map(|touch| (number, touch)));
            refreshed.extend(
                own()
                    .flat_map(|end| end.touched.refreshed())
                    .map(|time| (number, *time)),
            );
        }
        let (known, edited, refreshed) =
            (known.into_iter(), edited.into_iter(), refreshed.into_iter());
        let mut found = conflicts(sessions, asks, known, edited, refreshed, self.window, now);
        found.retain(|conflict| now.0 - conflict.time.0 <= self.window);
        (found, bad)
    }

    /// The files over which these sessions are in conflict now.
    pub fn contested(
        &mut self,
        sessions: &[&Listed],
        env: &Env,
    ) -> (Vec<ContestedFile>, Vec<Unreadable>) {
        let (found, bad) = self.conflicts(sessions, None, env);
        let mut by_file: BTreeMap<PathBuf, BTreeSet<usize>> = BTreeMap::new();
        for Conflict { path, by, of, .. } in found {
            by_file.entry(path).or_default().extend([by, of]);
        }
        let of_file = |(path, all): (_, BTreeSet<_>)| ContestedFile {
            path,
            sessions: all.into_iter().collect(),
        };
        (by_file.into_iter().map(of_file).collect(), bad)
    }

    /// The files that others edited and one of these sessions has not seen since, the newest edit first.
    pub(crate) fn unseen_by(
        &mut self,
        own: usize,
        sessions: &[&Listed],
        env: &Env,
    ) -> (Vec<PathBuf>, Vec<Unreadable>) {
        let (mut found, bad) = self.conflicts(sessions, Some(own), env);
        found.retain(|conflict| conflict.of == own);
        found.sort_by_key(|conflict| std::cmp::Reverse(conflict.time));
        let mut paths: Vec<PathBuf> = Vec::new();
        for Conflict { path, .. } in found {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        (paths, bad)
    }

    /// Brings what is known of a transcript up to date.
    fn read(
        &mut self,
        path: &Path,
        stamp: Option<Stamp>,
        format: &AgentFormat,
        cwd: Option<&str>,
        subagent: bool,
    ) -> io::Result<()> {
        let known = self.of.get_mut(path);
        if known
            .as_ref()
            .is_some_and(|known| known.stamp.is_some() && known.stamp == stamp)
        {
            return Ok(());
        }
        let transcript = Transcript::open(path, format.format())?.subagent(subagent);
        let start = tail::start(
            &transcript.source,
            known.as_ref().map(|known| known.cursor.into()),
        )?;
        match known.filter(|_| matches!(start, StartAt::Resume(_))) {
            Some(End {
                touched,
                once,
                cursor,
                stamp: seen,
            }) => {
                let lines = Lines {
                    from: cursor.offset,
                    ..Lines::default()
                };
                let end = transcript
                    .fold(lines, once, &mut Buffer::default(), touched)?
                    .end;
                (*cursor, *seen) = (transcript.source.cursor(end)?, stamp);
            }
            None => {
                let mut touched = Touched::from(cwd);
                let end = transcript.fold_end(budget::OWN, &mut touched)?.end;
                let (once, cursor) = (Once::from(end, &[]), transcript.source.cursor(end)?);
                self.of.insert(
                    path.into(),
                    End {
                        touched,
                        once,
                        cursor,
                        stamp,
                    },
                );
            }
        }
        Ok(())
    }
}
