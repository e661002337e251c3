//! Touched files with the sessions that touched them, and the history of one file.
//!
//! The sessions and their subagents' transcripts are read for what they touched; `fold/touched.rs` says what counts and what a
//! conflict is. A transcript that cannot have anything to tell is not read: one that was not written since then, or in which the
//! name of the file does not occur.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use super::list::{ListQuery, Listing, sessions};
use super::{Answer, Asker};
use crate::env::Env;
use crate::file::Unreadable;
use crate::fold::{Copies, Deed, Touch, Touched, folded};
use crate::parallel::in_parallel;
use crate::progress::Progress;
use crate::read::once::Once;
use crate::read::{Lines, Transcript};
use crate::search::sieve::Sieve;
use crate::session::conflicts::conflicts;
use crate::session::index::Listed;
use crate::session::{Members, Project, find};
use session_format::cursor::Buffer;
use session_format::hash::HashSet;
use session_format::path::{absolute, base_name};
use session_format::time::Time;

/// A touch, and the number of the session that made it.
pub struct By {
    pub session: usize,
    pub touch: Touch,
}

impl By {
    fn pair(&self) -> (usize, &Touch) {
        (self.session, &self.touch)
    }
}

/// A file and all that was done to it.
pub struct TouchedFile {
    pub path: PathBuf,
    pub conflict: bool,
    pub edits: usize,
    /// When it was last edited; if it was only read, when that was.
    pub time: Option<Time>,
    /// A session each, the last editor first.
    pub who: Vec<Who>,
}

/// The deeds of one session on one file.
pub struct Who {
    pub session: usize,
    /// Each deed but reading, with how often.
    pub deeds: Vec<(Deed, usize)>,
    pub reads: usize,
    pub time: Option<Time>,
}

impl TouchedFile {
    fn new(path: PathBuf, touches: Vec<By>, conflict: bool) -> TouchedFile {
        let edits = || touches.iter().filter(|by| by.touch.deed.is_edit());
        let mut sessions: Vec<usize> = touches.iter().map(|by| by.session).collect();
        sessions.sort_unstable();
        sessions.dedup();
        let mut who: Vec<Who> = sessions
            .into_iter()
            .map(|session| Who::new(session, &touches))
            .collect();
        who.sort_by_key(|who| (who.deeds.is_empty(), std::cmp::Reverse(who.time)));
        let time = who.first().and_then(|who| who.time);
        TouchedFile {
            path,
            conflict,
            edits: edits().count(),
            time,
            who,
        }
    }
}

impl Who {
    pub fn edits(&self) -> usize {
        self.deeds.iter().map(|(_, count)| count).sum()
    }

    fn new(session: usize, touches: &[By]) -> Who {
        let own = || {
            touches
                .iter()
                .filter(|by| by.session == session)
                .map(|by| &by.touch)
        };
        let count = |deed: Deed| own().filter(|touch| touch.deed == deed).count();
        let deeds = Deed::ALL
            .into_iter()
            .filter(|deed| deed.is_edit())
            .map(|deed| (deed, count(deed)));
        let deeds: Vec<_> = deeds.filter(|(_, count)| *count > 0).collect();
        let counts = |touch: &&Touch| touch.deed.is_edit() || deeds.is_empty();
        let time = own().filter(counts).filter_map(|touch| touch.time).max();
        Who {
            session,
            reads: count(Deed::Read),
            time,
            deeds,
        }
    }
}

/// Files that were touched.
pub struct Files<'f> {
    pub sessions: Vec<Listed<'f>>,
    /// The number of sessions of other projects that were left out.
    pub elsewhere: usize,
    /// Those in conflict first, then the newest.
    pub files: Vec<TouchedFile>,
}

/// The files that were edited since then; with `reads`, also those that were only read.
pub fn files<'f>(all: bool, reads: bool, since: Time, asker: Asker<'_, 'f>) -> Answer<Files<'f>> {
    let (found, mut bad) = sessions(asker);
    let (window, now) = (asker.settings.conflict_window, asker.env.now());
    let Listing {
        sessions,
        elsewhere,
    } = ListQuery {
        all,
        ..ListQuery::default()
    }
    .pick(found, now);
    let (
        Touches {
            shown,
            others,
            refreshed,
        },
        unreadable,
    ) = TouchReader::since(Some(since), asker).read(&sessions, asker.env);
    bad.extend(unreadable);
    let edited = shown.iter().map(By::pair);
    let known = edited.clone().chain(others.iter().map(By::pair));
    let members: Vec<&Listed> = sessions.iter().collect();
    let conflicts = conflicts(
        &members,
        None,
        known,
        edited,
        refreshed.into_iter(),
        window,
        now,
    );
    let contested: HashSet<PathBuf> = conflicts
        .into_iter()
        .map(|conflict| conflict.path)
        .collect();
    let mut by_path: BTreeMap<PathBuf, Vec<By>> = BTreeMap::new();
    for by in shown {
        by_path.entry(by.touch.path.clone()).or_default().push(by);
    }
    let files = by_path.into_iter().map(|(path, touches)| {
        let is_contested = contested.contains(&path);
        TouchedFile::new(path, touches, is_contested)
    });
    let mut files: Vec<TouchedFile> = files.filter(|file| reads || file.edits > 0).collect();
    files.sort_by_key(|file| (!file.conflict, Reverse(file.time)));
    (
        Files {
            sessions,
            elsewhere,
            files,
        },
        bad,
    )
}

/// The answer to [`history`]; touches name sessions by their index.
pub struct FileHistory<'f> {
    pub sessions: Vec<Listed<'f>>,
    pub meant: Meant,
}

/// The files that a path means.
pub enum Meant {
    /// One file, or all below a directory, and everything that was done to them, the newest first.
    Found {
        dir: Option<PathBuf>,
        touches: Vec<By>,
    },
    /// Several files have such a path.
    Several(Vec<PathBuf>),
    /// None; perhaps this one was meant.
    Nothing { nearest: Option<PathBuf> },
}

/// The history of the file that a path means, or of the files in a directory.
pub fn history<'f>(
    path: &str,
    since: Option<Time>,
    asker: Asker<'_, 'f>,
) -> Answer<FileHistory<'f>> {
    let (env, (sessions, mut bad)) = (asker.env, sessions(asker));
    let mut target = absolute(&env.cwd, &env.expand(path).to_string_lossy());
    let mut members = Members::around(env, &env.cwd);
    let mut read = |sieve: Option<Sieve>| {
        let (touches, unreadable) = TouchReader {
            sieve,
            ..TouchReader::since(since, asker)
        }
        .read(&sessions, env);
        bad.extend(unreadable);
        touches.shown
    };
    let sieve = sieve(path, &target);
    let is_sieved = sieve.is_some();
    let mut touches = read(sieve);
    let mut found = matching(path, &target, &touches, &mut members, env);
    if found.is_empty() && is_sieved {
        // It may be a directory that is gone; and which name is like it, only all of them tell.
        touches = read(None);
        found = matching(path, &target, &touches, &mut members, env);
    }
    if found.is_empty()
        && let [dir] = &directories(path, &touches)[..]
    {
        target.clone_from(dir);
        found = matching(path, &target, &touches, &mut members, env);
    }
    bad.extend(members.bad);
    let is_below = !found.is_empty()
        && found
            .iter()
            .all(|file| file != &target && file.starts_with(&target));
    let meant = if found.is_empty() {
        Meant::Nothing {
            nearest: nearest(path, &touches),
        }
    } else if found.len() > 1 && !is_below {
        Meant::Several(found)
    } else {
        let found: HashSet<PathBuf> = found.into_iter().collect();
        touches.retain(|by| found.contains(&by.touch.path));
        touches.sort_by_key(|by| Reverse((by.touch.time, by.touch.line)));
        Meant::Found {
            dir: is_below.then_some(target),
            touches,
        }
    };
    (FileHistory { sessions, meant }, bad)
}

/// Rules out transcripts that cannot have touched a path. None if its name is no part of what they wrote, because it is
/// that of a directory, or one of `.` and `..`.
fn sieve(path: &str, target: &Path) -> Option<Sieve> {
    let name = base_name(path);
    let is_sure = !name.is_empty() && name != "." && name != ".." && !target.is_dir();
    is_sure.then(|| Sieve::new([&*folded(name)].into_iter()))
}

/// The files that a path means: the very file, those below it, or those whose path ends like that, in this project if
/// there are any.
fn matching(
    path: &str,
    target: &Path,
    touches: &[By],
    members: &mut Members,
    env: &Env,
) -> Vec<PathBuf> {
    let all: BTreeSet<&Path> = touches.iter().map(|by| &*by.touch.path).collect();
    let of = |fits: &dyn Fn(&Path) -> bool| -> Vec<PathBuf> {
        all.iter()
            .filter(|file| fits(file))
            .map(|file| file.to_path_buf())
            .collect()
    };
    if all.contains(target) {
        return vec![target.to_path_buf()];
    }
    let below: Vec<PathBuf> = of(&|file| file.starts_with(target));
    if !below.is_empty() {
        return below;
    }
    let end = Path::new(path.trim_start_matches("./"));
    let ends: Vec<PathBuf> = of(&|file| end.is_relative() && file.ends_with(end));
    let root = Project::of(env, &env.cwd);
    let mut is_here = |file: &&PathBuf| {
        // Below its directory, or in another worktree of it.
        let dir = file.parent().and_then(Path::to_str);
        file.starts_with(root.dir()) || dir.is_some_and(|dir| members.has(dir))
    };
    let here: Vec<PathBuf> = ends.iter().filter(&mut is_here).cloned().collect();
    if here.is_empty() { ends } else { here }
}

/// The directories of touched files whose paths end like that.
fn directories(path: &str, touches: &[By]) -> Vec<PathBuf> {
    let end = Path::new(path.trim_start_matches("./"));
    let above = touches
        .iter()
        .flat_map(|by| by.touch.path.ancestors().skip(1));
    let ends: BTreeSet<&Path> = above
        .filter(|dir| end.is_relative() && dir.ends_with(end))
        .collect();
    ends.into_iter().map(Path::to_path_buf).collect()
}

/// The touched file whose name is most like that of a path, if one is.
fn nearest(path: &str, touches: &[By]) -> Option<PathBuf> {
    const ENOUGH: f64 = 0.6;
    let name = base_name(path).to_lowercase();
    let like = |touch: &Touch| {
        let known = touch
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        strsim::normalized_damerau_levenshtein(&name, &known)
    };
    let all = touches
        .iter()
        .map(|by| (like(&by.touch), &by.touch))
        .filter(|(like, _)| *like > ENOUGH);
    let nearest =
        all.max_by(|(a, one), (b, other)| a.total_cmp(b).then_with(|| one.time.cmp(&other.time)));
    nearest.map(|(_, touch)| touch.path.clone())
}

/// Touches, and the times at which files were brought up to date, each with the index of the session.
#[derive(Default)]
struct Touches {
    shown: Vec<By>,
    /// Too old to be shown, or copies. Their session knows of them all the same.
    others: Vec<By>,
    refreshed: Vec<(usize, Time)>,
}

/// Reads transcripts for touches.
struct TouchReader {
    since: Option<Time>,
    /// Before which files of subagents are of no account, by the clock that files are stamped by.
    modified_after: Option<i64>,
    /// Only transcripts that may have a name in them.
    sieve: Option<Sieve>,
    now: Time,
}

impl TouchReader {
    fn since(since: Option<Time>, asker: Asker) -> TouchReader {
        // What a subagent edited before then, its session may still know.
        let known = since.map(|since| Time(since.0 - asker.settings.conflict_window));
        let modified_after = known.map(|known| asker.env.file_clock_at(known));
        TouchReader {
            since,
            modified_after,
            sieve: None,
            now: asker.env.now(),
        }
    }

    /// All touches of these sessions. A fork's copies count for the session they were copied from.
    fn read(&self, sessions: &[Listed], env: &Env) -> Answer<Touches> {
        let size = |listed: &Listed| listed.session.size();
        let progress = Progress::of(env, "looking for edits", sessions.iter().map(size));
        let read = in_parallel(sessions, &progress, size, |listed, buffer| {
            self.touches(listed, buffer)
        });
        let (mut all, mut bad, mut copies) = (Touches::default(), Vec::new(), Copies::default());
        // The list has the newest first.
        for (session, read) in read.into_iter().enumerate().rev() {
            let ((touches, times), unreadable) = match read {
                Ok(read) => read,
                Err(error) => {
                    bad.extend(Unreadable::unless_gone(
                        &sessions[session].session.path,
                        error,
                    ));
                    continue;
                }
            };
            bad.extend(unreadable);
            let is_wanted = |touch: &Touch| {
                self.since
                    .is_none_or(|since| touch.time.is_some_and(|time| time >= since))
            };
            let (own, copied) = copies.own(touches.into_iter());
            let (wanted, before): (Vec<Touch>, Vec<Touch>) = own.into_iter().partition(is_wanted);
            let by = |touch| By { session, touch };
            all.shown.extend(wanted.into_iter().map(by));
            all.others.extend(before.into_iter().chain(copied).map(by));
            all.refreshed
                .extend(times.into_iter().map(|time| (session, time)));
        }
        (all, bad)
    }

    /// The touches of a session and its subagents, and the times at which it brought its files up to date.
    fn touches(
        &self,
        listed: &Listed,
        buffer: &mut Buffer,
    ) -> io::Result<Answer<(Vec<Touch>, Vec<Time>)>> {
        let (session, mut bad) = (&listed.session, Vec::new());
        let is_over = self.since.is_some_and(|since| {
            listed
                .open_until(self.now)
                .is_some_and(|until| until < since)
        });
        let mut subagents = find::subagents(session, &session.id, &mut bad);
        subagents.retain(|(_, stamp)| {
            self.modified_after
                .is_none_or(|after| stamp.modified >= after)
        });
        if is_over && subagents.is_empty() {
            return Ok((Default::default(), bad));
        }
        let open = |path: &Path| {
            Transcript::open(path, session.format.detailed()).map(|file| file.full(true))
        };
        let own = open(&session.path)?;
        let mut below = Vec::new();
        for (path, _) in subagents {
            let mut read = || -> io::Result<Option<(Touched, PathBuf)>> {
                let transcript = open(&path)?.subagent(true);
                if !self.may_have(&transcript, buffer)? {
                    return Ok(None);
                }
                let mut touched = Touched::from(None);
                transcript.fold(Lines::default(), &mut Once::default(), buffer, &mut touched)?;
                Ok(Some((touched, path.clone())))
            };
            below.extend(Unreadable::noted(
                read().map_err(|error| Unreadable::new(&path, error)),
                &mut bad,
            ));
        }
        if below.is_empty() && !self.may_have(&own, buffer)? {
            return Ok((Default::default(), bad));
        }
        let mut touched = Touched::from(listed.tally.first_cwd());
        own.fold(Lines::default(), &mut Once::default(), buffer, &mut touched)?;
        below
            .into_iter()
            .for_each(|(subagent, path)| touched.absorb(subagent, &path));
        Ok((touched.finish(), bad))
    }

    fn may_have(&self, transcript: &Transcript, buffer: &mut Buffer) -> io::Result<bool> {
        self.sieve.as_ref().map_or(Ok(true), |sieve| {
            sieve.lets_through(&transcript.source, buffer)
        })
    }
}
