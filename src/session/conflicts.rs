//! What sessions touched lately, and over which files they are in conflict, for whoever asks again and again.
//!
//! The rule is that of `session-reader files`: what a subagent does counts for its session, and what a fork copied from
//! another session is not its own edit. `fold/touched.rs` says what counts as touching a file and when two sessions are in
//! conflict; for one session, a file that it read before another one edited it is a conflict, too. The end of a
//! transcript is read once, and then as it grows.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use super::find;
use super::index::{Listed, say_unless_gone};
use crate::cursor::Buffer;
use crate::env::Env;
use crate::file::{Stamp, Unreadable};
use crate::fold::{Copies, TOGETHER, Touch, Touched, conflict};
use crate::format::Known;
use crate::read::once::Once;
use crate::read::{Lines, Transcript};
use crate::time::Time;

/// How many subagents of a session are looked at: those that wrote last.
const SUBAGENTS: usize = 20;

/// What was touched at the end of some transcripts.
pub struct Lately {
    /// How much of the end of a transcript is read.
    end: u64,
    of: HashMap<PathBuf, End>,
}

struct End {
    touched: Touched,
    once: Once,
    /// How far it was read.
    offset: u64,
    stamp: Option<Stamp>,
}

/// A file, and the sessions that are in conflict over it, by their number.
#[derive(Debug, PartialEq, Eq)]
pub struct ContestedFile {
    pub path: PathBuf,
    pub sessions: Vec<usize>,
}

impl Lately {
    pub fn new(end: u64) -> Lately {
        Lately { end, of: HashMap::new() }
    }

    /// What these sessions touched, each by its number. The newest comes first, as in a list. What is known of others is
    /// forgotten.
    pub fn touches(&mut self, sessions: &[&Listed], env: &Env, bad: &mut Vec<Unreadable>) -> Vec<(usize, &Touch)> {
        let written = env.file_clock_at(Time(env.now().0 - TOGETHER));
        let mut files: Vec<(usize, PathBuf)> = Vec::new();
        for (number, listed) in sessions.iter().enumerate() {
            let session = &listed.session;
            let format = session.format;
            match self.read(&session.path, session.stamp, format, listed.tally.first_cwd(), false) {
                Ok(()) => files.push((number, session.path.to_path_buf())),
                Err(error) => say_unless_gone(error, session, bad),
            }
            let subagents = find::subagents(session, &session.id, bad).into_iter();
            for (path, stamp) in subagents.filter(|(_, stamp)| stamp.modified >= written).take(SUBAGENTS) {
                let read = self.read(&path, Some(stamp), format, listed.tally.first_cwd(), true);
                if Unreadable::noted(read.map(Some).map_err(|error| Unreadable::new(&path, error)), bad).is_some() {
                    files.push((number, path));
                }
            }
        }
        let current: HashSet<&Path> = files.iter().map(|(_, path)| &**path).collect();
        self.of.retain(|path, _| current.contains(&**path));
        let (mut copies, mut all) = (Copies::default(), Vec::new());
        for number in (0..sessions.len()).rev() {
            let own = files.iter().filter(|(by, _)| *by == number).filter_map(|(_, path)| self.of.get(path));
            let (edits, reads): (Vec<&Touch>, Vec<&Touch>) =
                own.flat_map(|end| end.touched.touches()).partition(|touch| touch.deed.is_edit());
            // What a fork has read, it knows, wherever that was.
            all.extend(copies.own(edits).into_iter().chain(reads).map(|touch| (number, touch)));
        }
        all
    }

    /// The files over which these sessions are in conflict now.
    pub fn conflicts(&mut self, sessions: &[&Listed], env: &Env, bad: &mut Vec<Unreadable>) -> Vec<ContestedFile> {
        if sessions.len() < 2 {
            self.of.clear();
            return Vec::new();
        }
        let mut by_file: BTreeMap<&Path, Vec<(usize, Option<Time>)>> = BTreeMap::new();
        let now = env.now();
        for (number, touch) in self.touches(sessions, env, bad) {
            if touch.deed.is_edit() && touch.is_lately(now) {
                by_file.entry(&touch.path).or_default().push((number, touch.time));
            }
        }
        let conflicts = by_file.into_iter().filter(|(_, edits)| conflict(edits)).map(|(path, edits)| {
            let mut sessions: Vec<usize> = edits.into_iter().map(|(session, _)| session).collect();
            sessions.sort_unstable();
            sessions.dedup();
            ContestedFile { path: path.into(), sessions }
        });
        conflicts.collect()
    }

    /// The files over which one of these sessions is in conflict with another one now, the newest edit first.
    pub fn conflicts_of(
        &mut self,
        own: usize,
        sessions: &[&Listed],
        env: &Env,
        bad: &mut Vec<Unreadable>,
    ) -> Vec<PathBuf> {
        if sessions.len() < 2 {
            return Vec::new();
        }
        let now = env.now();
        let touches = self.touches(sessions, env, bad).into_iter();
        let (mine, theirs): (Vec<_>, Vec<_>) = touches.partition(|(number, _)| *number == own);
        let is_mine = |edit: &Touch| mine.iter().any(|(_, touch)| touch.path == edit.path && is_overtaken(touch, edit));
        let theirs = theirs.into_iter().map(|(_, touch)| touch);
        let mut edits: Vec<&Touch> =
            theirs.filter(|touch| touch.deed.is_edit() && touch.is_lately(now) && is_mine(touch)).collect();
        edits.sort_by_key(|edit| Reverse(edit.time));
        let mut paths: Vec<PathBuf> = Vec::new();
        for edit in edits {
            if !paths.contains(&edit.path) {
                paths.push(edit.path.clone());
            }
        }
        paths
    }

    /// Brings what is known of a transcript up to date.
    fn read(
        &mut self,
        path: &Path,
        stamp: Option<Stamp>,
        format: &Known,
        cwd: Option<&str>,
        subagent: bool,
    ) -> io::Result<()> {
        let known = self.of.get_mut(path);
        if known.as_ref().is_some_and(|known| known.stamp.is_some() && known.stamp == stamp) {
            return Ok(());
        }
        let transcript = Transcript::open(path, format.format())?.subagent(subagent);
        match known.filter(|known| known.offset <= transcript.meta.len()) {
            Some(End { touched, once, offset, stamp: seen }) => {
                let lines = Lines { from: *offset, ..Lines::default() };
                *offset = transcript.fold(lines, once, &mut Buffer::default(), touched)?.end;
                *seen = stamp;
            }
            None => {
                let mut touched = Touched::from(cwd);
                let offset = transcript.fold_end(self.end, &mut touched)?.end;
                self.of.insert(path.into(), End { touched, once: Once::from(offset, &[]), offset, stamp });
            }
        }
        Ok(())
    }
}

/// Whether what a session knows of a file is no longer so because another one edited it.
fn is_overtaken(own: &Touch, edit: &Touch) -> bool {
    match own.deed.is_edit() {
        true => conflict(&[(0, own.time), (1, edit.time)]),
        false => own.time < edit.time,
    }
}
