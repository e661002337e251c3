//! `session-reader files`: who touched which file, and the history of one.
//!
//! It reads the sessions, and their subagents' transcripts, for what they touched; `fold/touched.rs` says what counts and
//! what a conflict is, `show/files.rs` how it looks. A transcript that cannot have anything to show is not read: one that
//! was not written since then, or in which the name of the file does not occur.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use super::args::FilesArgs;
use super::{Exit, Problem, Stage};
use crate::cursor::Buffer;
use crate::env::Env;
use crate::file::Unreadable;
use crate::fold::{Copies, Touch, Touched, folded};
use crate::hash::HashSet;
use crate::path::{absolute, base_name, shell_path};
use crate::progress::Progress;
use crate::read::once::Once;
use crate::read::{Lines, Transcript};
use crate::search::sieve::Sieve;
use crate::session::conflicts::conflicts;
use crate::session::index::{Listed, in_parallel, say_unless_gone};
use crate::session::{Members, Project, find, subagent};
use crate::show::files::{By, FileView, TouchedFile};
use crate::show::log::Opener;
use crate::time::{DAY, Time};

/// How far back the list of files goes.
const WEEK: i64 = 7 * DAY;

pub fn run(args: &FilesArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let sessions = stage.sessions();
    let week = Time(stage.env.now().0 - WEEK);
    let since = args.since.map(|since| since.time(stage.env)).or(args.path.is_none().then_some(week));
    // What a subagent edited before then, its session may still know.
    let known = since.map(|since| Time(since.0 - stage.settings.conflict_window));
    let written = known.map(|known| stage.env.file_clock_at(known));
    let mut reader = EditSearch { since, sieve: None, written, now: stage.env.now() };
    match &args.path {
        Some(path) => history(path, args, &sessions, &mut reader, stage),
        None => list(args, &sessions, &reader, stage),
    }
}

/// A line for each file.
fn list(args: &FilesArgs, sessions: &[Listed], reader: &EditSearch, stage: &mut Stage) -> Result<Exit, Problem> {
    let elsewhere = if args.all { 0 } else { sessions.iter().filter(|listed| !listed.here).count() };
    let sessions: Vec<&Listed> = sessions.iter().filter(|listed| args.all || listed.here).collect();
    if sessions.is_empty() {
        return Problem::nothing(super::none(args.all, false, elsewhere, "--all"));
    }
    let mut by_path: BTreeMap<PathBuf, Vec<By>> = BTreeMap::new();
    let Touches { shown, others, refreshed } = reader.read(&sessions, stage);
    let edited = shown.iter().map(|(session, touch)| (*session, touch));
    let known = edited.clone().chain(others.iter().map(|(session, touch)| (*session, touch)));
    let window = stage.settings.conflict_window;
    let conflicts = conflicts(&sessions, None, known, edited, refreshed.into_iter(), window, stage.env.now());
    let contested: HashSet<PathBuf> = conflicts.into_iter().map(|conflict| conflict.path).collect();
    for (session, touch) in shown {
        by_path.entry(touch.path.clone()).or_default().push(By { session, touch });
    }
    let files = by_path.into_iter().map(|(path, touches)| {
        let is_contested = contested.contains(&path);
        TouchedFile::new(path, touches, is_contested)
    });
    let mut files: Vec<TouchedFile> = files.filter(|file| args.reads || file.edits > 0).collect();
    if files.is_empty() {
        let place = if args.all { "on this machine" } else { "in this project" };
        let what = if args.reads { "touched" } else { "edited" };
        let hint =
            if args.since.is_none() { "in the last 7 days; --since 30d looks further back" } else { "since then" };
        return Problem::nothing(format_args!("no file was {what} {place} {hint}"));
    }
    files.sort_by_key(|file| (!file.conflict, std::cmp::Reverse(file.time)));
    let view = view(&sessions, stage, stage.env);
    if args.json {
        return files.iter().try_fold(Exit::Found, |_, file| stage.print_json(&view.file_json(file)));
    }
    let lines = view.table(&files);
    stage.print_lines(lines)
}

/// Everything that was done to a file, or to the files in a directory.
fn history(
    path: &str,
    args: &FilesArgs,
    sessions: &[Listed],
    reader: &mut EditSearch,
    stage: &mut Stage,
) -> Result<Exit, Problem> {
    if path.trim().is_empty() {
        return Problem::trouble("which file? Give its path, its name, or a directory");
    }
    let sessions: Vec<&Listed> = sessions.iter().collect();
    let mut target = absolute(&stage.env.cwd, &stage.env.expand(path).to_string_lossy());
    reader.sieve = sieve(path, &target);
    let mut touches = reader.read(&sessions, stage).shown;
    let mut found = matching(path, &target, &touches, stage);
    if found.is_empty() && reader.sieve.take().is_some() {
        // It may be a directory that is gone; and which name is like it, only all of them tell.
        touches = reader.read(&sessions, stage).shown;
        found = matching(path, &target, &touches, stage);
    }
    if found.is_empty()
        && let [dir] = &directories(path, &touches)[..]
    {
        target.clone_from(dir);
        found = matching(path, &target, &touches, stage);
    }
    let is_below = !found.is_empty() && found.iter().all(|file| file != &target && file.starts_with(&target));
    let view = view(&sessions, stage, stage.env);
    if found.is_empty() {
        return Problem::nothing(nothing(path, &touches, args, &view));
    }
    if found.len() > 1 && !is_below {
        const SHOWN: usize = 5;
        let mut names: String =
            found.iter().take(SHOWN).map(|file| format!("\n  {}", shell_path(&view.path(file)))).collect();
        if found.len() > SHOWN {
            names += &format!("\n  and {} more", found.len() - SHOWN);
        }
        return Problem::trouble(format_args!("'{path}' fits {} files; name one of them:{names}", found.len()));
    }
    let found: HashSet<PathBuf> = found.into_iter().collect();
    let mut all: Vec<By> = touches.into_iter().map(|(session, touch)| By { session, touch }).collect();
    all.retain(|by| found.contains(&by.touch.path));
    all.sort_by_key(|by| std::cmp::Reverse((by.touch.time, by.touch.line)));
    let any_edit = all.iter().any(|by| by.touch.deed.is_edit());
    let shows = |by: &&By| args.reads || !any_edit || by.touch.deed.is_edit();
    if args.json {
        return all.iter().filter(shows).try_fold(Exit::Found, |_, by| stage.print_json(&view.touch_json(by)));
    }
    let place = if is_below { Some(&*target) } else { None };
    let shown: Vec<&By> = all.iter().filter(shows).collect();
    let by_subagent = shown.iter().any(|by| by.touch.subagent.is_some());
    let subagents = if by_subagent { stage.search(subagent::all) } else { Vec::new() };
    let opener = Opener { env: stage.env, gate: stage.gate, subagents: &subagents };
    let mut lines = vec![view.head(place, &all, shown.len() < all.len())];
    lines.extend(view.history(place, &shown, &opener));
    stage.print_lines(lines)
}

fn view<'v>(sessions: &'v [&'v Listed<'v>], stage: &Stage<'_, 'v>, env: &'v Env) -> FileView<'v> {
    let root = Project::of(env, &env.cwd).dir().to_path_buf();
    FileView { sessions, env, root, gate: stage.gate, style: stage.style }
}

/// What tells transcripts that cannot have touched a path. None if its name is no part of what they wrote, because it is
/// that of a directory, or one of `.` and `..`.
fn sieve(path: &str, target: &Path) -> Option<Sieve> {
    let name = base_name(path);
    let is_sure = !name.is_empty() && name != "." && name != ".." && !target.is_dir();
    is_sure.then(|| Sieve::new([&*folded(name)].into_iter()))
}

/// The files that a path means: the very file, those below it, or those whose path ends like that, in this project if
/// there are any.
fn matching(path: &str, target: &Path, touches: &[(usize, Touch)], stage: &mut Stage) -> Vec<PathBuf> {
    let all: BTreeSet<&Path> = touches.iter().map(|(_, touch)| &*touch.path).collect();
    let of = |fits: &dyn Fn(&Path) -> bool| -> Vec<PathBuf> {
        all.iter().filter(|file| fits(file)).map(|file| file.to_path_buf()).collect()
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
    let mut members = Members::around(stage.env, &stage.env.cwd);
    let root = Project::of(stage.env, &stage.env.cwd);
    let mut is_here = |file: &&PathBuf| {
        // Below its directory, or in another worktree of it.
        let dir = file.parent().and_then(Path::to_str);
        file.starts_with(root.dir()) || dir.is_some_and(|dir| members.has(dir))
    };
    let here: Vec<PathBuf> = ends.iter().filter(&mut is_here).cloned().collect();
    stage.say_unreadable(&members.bad);
    if here.is_empty() { ends } else { here }
}

/// The directories of touched files whose paths end like that.
fn directories(path: &str, touches: &[(usize, Touch)]) -> Vec<PathBuf> {
    let end = Path::new(path.trim_start_matches("./"));
    let above = touches.iter().flat_map(|(_, touch)| touch.path.ancestors().skip(1));
    let ends: BTreeSet<&Path> = above.filter(|dir| end.is_relative() && dir.ends_with(end)).collect();
    ends.into_iter().map(Path::to_path_buf).collect()
}

/// Why there is no history, and what may be meant.
fn nothing(path: &str, touches: &[(usize, Touch)], args: &FilesArgs, view: &FileView) -> String {
    const ENOUGH: f64 = 0.6;
    let name = base_name(path).to_lowercase();
    let like = |touch: &Touch| {
        let known = touch.path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        strsim::normalized_damerau_levenshtein(&name, &known)
    };
    let all = touches.iter().map(|(_, touch)| (like(touch), touch)).filter(|(like, _)| *like > ENOUGH);
    let nearest = all.max_by(|(a, one), (b, other)| a.total_cmp(b).then_with(|| one.time.cmp(&other.time)));
    let hint = nearest.map(|(_, touch)| format!("; did you mean {}?", view.path(&touch.path)));
    let when = if args.since.is_some() { " since then" } else { "" };
    format!("no session touched '{path}'{when}{}", hint.unwrap_or_default())
}

/// What was touched, and when files were brought up to date, each with the number of the session.
struct Touches {
    shown: Vec<(usize, Touch)>,
    /// What is not shown because it was before then, or is a copy. Its session knows of it all the same.
    others: Vec<(usize, Touch)>,
    refreshed: Vec<(usize, Time)>,
}

/// What is read.
struct EditSearch {
    since: Option<Time>,
    /// Before which files of subagents are of no account, by the clock that files are stamped by.
    written: Option<i64>,
    /// Only transcripts that may have a name in them.
    sieve: Option<Sieve>,
    now: Time,
}

impl EditSearch {
    /// What these sessions touched, each by its number; what a fork copied counts for the session it was copied from.
    fn read(&self, sessions: &[&Listed], stage: &mut Stage) -> Touches {
        let size = |listed: &&Listed| listed.session.size();
        let progress = Progress::of(stage.env, "looking for edits", sessions.iter().map(size));
        let read = in_parallel(sessions, &progress, size, |listed, buffer| {
            let mut bad = Vec::new();
            (self.touches(listed, &mut bad, buffer), bad)
        });
        let mut bad = Vec::new();
        let (mut shown, mut others, mut refreshed) = (Vec::new(), Vec::new(), Vec::new());
        let mut copies = Copies::default();
        // The list has the newest first.
        for (session, (touches, unreadable)) in read.into_iter().enumerate().rev() {
            bad.extend(unreadable);
            let touches = touches.map_err(|error| say_unless_gone(error, &sessions[session].session, &mut bad));
            let is_wanted = |touch: &Touch| self.since.is_none_or(|since| touch.time.is_some_and(|time| time >= since));
            let (touches, times) = touches.unwrap_or_default();
            let (own, copied) = copies.own(touches.into_iter());
            let (wanted, before): (Vec<Touch>, Vec<Touch>) = own.into_iter().partition(is_wanted);
            shown.extend(wanted.into_iter().map(|touch| (session, touch)));
            others.extend(before.into_iter().chain(copied).map(|touch| (session, touch)));
            refreshed.extend(times.into_iter().map(|time| (session, time)));
        }
        stage.say_unreadable(&bad);
        Touches { shown, others, refreshed }
    }

    /// What a session and its subagents touched, and when it brought its files up to date.
    fn touches(
        &self,
        listed: &Listed,
        bad: &mut Vec<Unreadable>,
        buffer: &mut Buffer,
    ) -> io::Result<(Vec<Touch>, Vec<Time>)> {
        let session = &listed.session;
        let is_over = self.since.is_some_and(|since| listed.open_until(self.now).is_some_and(|until| until < since));
        let mut subagents = find::subagents(session, &session.id, bad);
        subagents.retain(|(_, stamp)| self.written.is_none_or(|written| stamp.modified >= written));
        if is_over && subagents.is_empty() {
            return Ok(Default::default());
        }
        let open = |path: &Path| Transcript::open(path, session.format.detailed()).map(|file| file.full(true));
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
            below.extend(Unreadable::noted(read().map_err(|error| Unreadable::new(&path, error)), bad));
        }
        if below.is_empty() && !self.may_have(&own, buffer)? {
            return Ok(Default::default());
        }
        let mut touched = Touched::from(listed.tally.first_cwd());
        own.fold(Lines::default(), &mut Once::default(), buffer, &mut touched)?;
        below.into_iter().for_each(|(subagent, path)| touched.absorb(subagent, &path));
        Ok(touched.finish())
    }

    fn may_have(&self, transcript: &Transcript, buffer: &mut Buffer) -> io::Result<bool> {
        self.sieve.as_ref().map_or(Ok(true), |sieve| sieve.lets_through(&transcript.source, buffer))
    }
}
