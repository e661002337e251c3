//! Finds transcripts: every file that fits a pattern of a format.
//!
//! Only names and stamps are read here, never what is inside a file. A directory or a file that cannot be looked at ends up
//! in `bad` and hides no other.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::Session;
use crate::dir::{self, Dirs, Entry};
use crate::env::Env;
use crate::file::{self, Stamp, Unreadable};
use crate::format::Known;
use crate::format::descriptor::Root;
use crate::format::pattern::{Pattern, Segment, Spelling};

/// Where a root is now.
pub fn root_dir(root: &Root, env: &Env) -> Option<PathBuf> {
    let moved = root.env.as_ref().and_then(|name| env.var(name));
    moved.map(|dir| env.expand(&dir.to_string_lossy())).or_else(|| root.path.as_ref().map(|path| env.expand(path)))
}

/// The directory of the agent itself: a root may be the home directory, where it is `.agent` in there.
pub fn agent_dir(root: &Root, env: &Env) -> Option<PathBuf> {
    let first = root.files.first().and_then(|pattern| pattern.0.first()?.literal());
    let dir = root_dir(root, env)?;
    Some(first.filter(|first| first.starts_with('.')).map_or(dir.clone(), |hidden| dir.join(hidden)))
}

/// All formats and roots, each with the directory that it is in.
pub(super) fn roots<'f>(formats: &'f [Known], env: &Env) -> impl Iterator<Item = (&'f Known, &'f Root, PathBuf)> {
    let all = formats.iter().flat_map(|format| format.head().roots.iter().map(move |root| (format, root)));
    all.filter_map(|(format, root)| Some((format, root, root_dir(root, env)?)))
}

/// All sessions of all formats. A file that two patterns reach is found once. With stamps it takes twice as long, but not
/// as long as asking for them later, path by path.
pub fn sessions<'f>(formats: &'f [Known], env: &Env, stamps: bool, bad: &mut Vec<Unreadable>) -> Vec<Session<'f>> {
    let mut found: Vec<Session<'f>> = Vec::new();
    each(formats, env, bad, &mut |file, bad| match stamps {
        true => found.extend(Unreadable::noted(file.stamp(), bad).map(|stamp| file.session(Some(stamp)))),
        false => found.push(file.session(None)),
    });
    in_order(&mut found);
    found
}

/// A file that may be a transcript, as a directory lists it. The stamp and the session are made only on request.
pub struct Listing<'e, 'f> {
    entry: Entry<'e>,
    pub name: &'e str,
    /// The id in its name.
    pub id: Option<&'e str>,
    format: &'f Known,
    root: &'f Root,
    /// It is the transcript of a subagent, and the id is that of its session.
    pub is_subagent: bool,
    /// It is below a directory that stands for a cwd.
    pub below_cwd: bool,
}

impl<'f> Listing<'_, 'f> {
    /// The number of the file, or of the link to it.
    pub fn inode(&self) -> u64 {
        self.entry.inode
    }

    /// What the file is like now; none if it is gone by now.
    pub fn stamp(&self) -> Result<Option<Stamp>, Unreadable> {
        self.entry.stamp()
    }

    pub fn session(&self, stamp: Option<Stamp>) -> Session<'f> {
        let stem = || Path::new(self.name).file_stem().and_then(OsStr::to_str).unwrap_or_default();
        let id = self.entry.listed_text(self.id.unwrap_or_else(stem));
        Session { stamp, ..Session::new(id, self.format, Some(self.root), self.entry.listed_path()) }
    }
}

/// Takes a file that was found, and an error about it.
type Take<'t, 'f> = &'t mut dyn FnMut(Listing<'_, 'f>, &mut Vec<Unreadable>);

/// A directory that stands for a cwd, before a walk goes into it.
pub struct Branch<'w> {
    pub path: &'w Path,
    pub name: &'w str,
    pub spelling: Spelling,
    routes: &'w [Route<'w>],
}

impl Branch<'_> {
    /// When a session last came or went, or the directory itself did, in nanoseconds since 1970. None if that cannot be told,
    /// as behind a link, which may lead somewhere else by now.
    pub fn changed(&self) -> Option<i64> {
        let changed = |dir: &Path| {
            let meta = file::lstat(dir).ok()?.filter(std::fs::Metadata::is_dir)?;
            Some(Stamp::from(&meta).changed)
        };
        let mut latest = changed(self.path)?;
        for route in self.routes.iter().filter(|route| !route.is_subagent && route.left.len() > 1) {
            let mut dir = self.path.to_path_buf();
            for segment in &route.left[..route.left.len() - 1] {
                dir.push(segment.literal()?);
                latest = latest.max(changed(&dir)?);
            }
        }
        Some(latest)
    }
}

/// Which parts of the tree a walk goes into.
#[derive(Default, Clone, Copy)]
pub struct Guide<'g> {
    /// The transcripts of subagents follow the sessions of a directory, for the ids that this wants.
    pub subagents: Option<&'g dyn Fn(&str) -> bool>,
    /// Without it, every directory that stands for a cwd.
    pub enters: Option<&'g dyn Fn(&Branch) -> bool>,
    /// The directories that are open already.
    pub dirs: Option<&'g Dirs>,
}

/// Hands out every file that fits a pattern of a format; one that two patterns reach comes twice.
pub fn each<'f>(formats: &'f [Known], env: &Env, bad: &mut Vec<Unreadable>, take: Take<'_, 'f>) {
    each_with(formats, env, Guide::default(), bad, take);
}

/// The same, as far as the guide goes.
pub fn each_with<'f>(formats: &'f [Known], env: &Env, guide: Guide, bad: &mut Vec<Unreadable>, take: Take<'_, 'f>) {
    for (format, root, dir) in roots(formats, env) {
        let below: Vec<Pattern> = root.subagent_patterns().filter(|_| guide.subagents.is_some()).collect();
        let sessions = root.files.iter().map(|pattern| Route::new(&pattern.0, false));
        let below = below.iter().map(|pattern| Route::new(&pattern.0, true));
        let routes: Vec<Route> = sessions.chain(below).collect();
        let limits = Limits { guide, spelling: root.cwd };
        files(&dir, &routes, limits, bad, &mut |entry, name, Route { id, is_subagent, below_cwd, .. }, bad| {
            if is_subagent || !root.not.iter().any(|not| excludes(not, name)) {
                take(Listing { entry, name, id, format, root, is_subagent, below_cwd }, bad);
            }
        });
    }
}

/// The transcripts of a session's subagents, the one that was written last first. The id is the session's, whole.
pub fn subagents(session: &Session, id: &str, bad: &mut Vec<Unreadable>) -> Vec<(PathBuf, Stamp)> {
    let mut found: Vec<(PathBuf, Stamp)> = Vec::new();
    for (dir, pattern) in subagent_dirs(session) {
        let bound: Vec<Segment> = pattern.iter().map(|segment| segment.bound(id)).collect();
        files(dir, &[Route::new(&bound, true)], Limits::default(), bad, &mut |entry, _, _, bad| {
            let path = entry.path();
            found.extend(Unreadable::noted(file::stat(&path), bad).map(|meta| (path, Stamp::from(&meta))));
        });
    }
    found.sort_by(|(a, stamp), (b, other)| (other.modified, a).cmp(&(stamp.modified, b)));
    found.dedup_by(|(a, _), (b, _)| a == b);
    found
}

/// Whether a subagent with the id of a session stands where that session's subagents do. A session that was copied to
/// another project has the same id.
pub fn is_subagent_place(session: &Session, path: &Path) -> bool {
    subagent_dirs(session).any(|(dir, _)| path.starts_with(dir))
}

/// The directories that a session's subagents are looked for in, and what their paths look like from there.
fn subagent_dirs<'s>(session: &'s Session) -> impl Iterator<Item = (&'s Path, &'s [Segment])> {
    session.roots().iter().flat_map(|root| &root.subagents).filter_map(|pattern| {
        let up = pattern.0.iter().take_while(|segment| segment.literal() == Some("..")).count();
        Some((session.path.ancestors().nth(1 + up)?, &pattern.0[up..]))
    })
}

/// Every file below a directory that fits a pattern. What cannot be listed is passed over.
pub fn each_file(dir: &Path, pattern: &Pattern, take: &mut dyn FnMut(&Path)) {
    let route = [Route::new(&pattern.0, false)];
    files(dir, &route, Limits::default(), &mut Vec::new(), &mut |entry, _, _, _| take(&entry.path()));
}

/// Sorts sessions by the bytes of their paths, each once; of several names the last stays.
pub fn in_order(sessions: &mut Vec<Session>) {
    // All directories begin alike, and most paths differ soon after that. What is in order already is sorted at once.
    let alike = sessions.split_first().map_or(0, |(first, others)| {
        let alike = |session: &Session| common_start(first.path.parts()[0], session.path.parts()[0]);
        others.iter().map(alike).min().unwrap_or(0)
    });
    sessions.sort_by_cached_key(|session| {
        let [dir, name] = session.path.parts();
        let mut key = [0; 16];
        key.iter_mut().zip(dir[alike..].iter().chain(name)).for_each(|(key, byte)| *key = *byte);
        u128::from_be_bytes(key)
    });
    sessions.sort_by(|a, b| a.path.cmp_listed(&b.path));
    sessions.dedup_by(|again, first| {
        let is_same = again.path.cmp_listed(&first.path).is_eq();
        if is_same {
            first.name = again.name.take().or(first.name.take());
        }
        is_same
    });
}

fn common_start(a: &[u8], b: &[u8]) -> usize {
    match a == b {
        true => a.len(),
        false => a.iter().zip(b).take_while(|(a, b)| a == b).count(),
    }
}

/// The transcript with an id: in the directory that spells the cwd if it is there, else wherever it is.
pub fn by_id<'f>(formats: &'f [Known], env: &Env, id: &str, cwd: &Path) -> Result<Option<Session<'f>>, Unreadable> {
    let mut elsewhere = None;
    let mut bad = Vec::new();
    for (format, root, dir) in roots(formats, env) {
        for pattern in &root.files {
            let mut transcript = |cwd: Option<&str>| {
                let path = filled(&dir, pattern, cwd, id)?;
                Unreadable::noted(file::stat(&path), &mut bad)?.is_file().then_some(path)
            };
            let session = |path| Session::new(id, format, Some(root), path);
            let spelt = root.cwd.map(|spelling| spelling.spell(cwd));
            if let Some(path) = transcript(spelt.as_deref()) {
                return Ok(Some(session(path)));
            }
            let Some(spelling) = root.cwd else { continue };
            let mut unlisted = Vec::new();
            let names = subdirs(&dir, pattern, &mut unlisted);
            let there = names.iter().filter_map(|name| Some((spelling.fits(name, cwd), transcript(Some(name))?)));
            if let Some((_, path)) = there.max_by_key(|(fits, _)| *fits) {
                elsewhere.get_or_insert(session(path));
            }
            bad.append(&mut unlisted);
        }
    }
    // After an error it may still be somewhere.
    bad.into_iter().next().filter(|_| elsewhere.is_none()).map_or(Ok(elsewhere), Err)
}

/// The session whose transcript is at a path, if that is where a format keeps them.
pub fn at<'f>(formats: &'f [Known], env: &Env, path: &Path) -> Option<Session<'f>> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_none = |root: &Root| root.not.iter().any(|not| excludes(not, name));
    by_path(formats, env, path, &|root, below| {
        root.files.iter().find_map(|files| files.id(below)).filter(|_| !is_none(root))
    })
}

/// The subagent's transcript at a path, with the id of its session.
pub fn subagent_at<'f>(formats: &'f [Known], env: &Env, path: &Path) -> Option<Session<'f>> {
    by_path(formats, env, path, &|root, below| root.subagent_patterns().find_map(|pattern| pattern.id(below)))
}

fn by_path<'f>(
    formats: &'f [Known],
    env: &Env,
    path: &Path,
    id: &dyn Fn(&Root, &Path) -> Option<String>,
) -> Option<Session<'f>> {
    roots(formats, env).find_map(|(format, root, dir)| {
        let id = id(root, path.strip_prefix(dir).ok()?)?;
        Some(Session::new(id, format, Some(root), path.to_path_buf()))
    })
}

/// A pattern with its cwd and id put in, if nothing else in it is open.
fn filled(dir: &Path, pattern: &Pattern, cwd: Option<&str>, id: &str) -> Option<PathBuf> {
    pattern.0.iter().try_fold(dir.to_path_buf(), |path, segment| {
        let name = match segment.literal() {
            Some(name) => name.to_owned(),
            None if segment.is_cwd() => cwd?.to_owned(),
            None => segment.with_id(id)?,
        };
        Some(path.join(name))
    })
}

/// The directories that stand for a cwd in a pattern.
fn subdirs(dir: &Path, pattern: &Pattern, bad: &mut Vec<Unreadable>) -> Vec<String> {
    let before = pattern.0.iter().take_while(|segment| !segment.is_cwd());
    let parent = before.into_iter().try_fold(dir.to_path_buf(), |path, segment| Some(path.join(segment.literal()?)));
    let entries = parent.map(|parent| dir::entries(&parent, bad)).unwrap_or_default();
    entries.iter().filter_map(|entry| entry.name.to_str().map(str::to_owned)).collect()
}

fn excludes(not: &Pattern, name: &str) -> bool {
    not.0.last().is_some_and(|segment| segment.fits(name).is_some())
}

/// What is left of a pattern below a directory, and the id that was in the names above it.
#[derive(Clone, Copy)]
struct Route<'p> {
    left: &'p [Segment],
    id: Option<&'p str>,
    is_subagent: bool,
    below_cwd: bool,
}

impl<'p> Route<'p> {
    fn new(left: &'p [Segment], is_subagent: bool) -> Route<'p> {
        Route { left, id: None, is_subagent, below_cwd: false }
    }

    /// What is left of it below a name, if that fits.
    fn below<'n>(&self, name: &'n str) -> Option<Route<'n>>
    where
        'p: 'n,
    {
        let (segment, left) = self.left.split_first()?;
        let below_cwd = self.below_cwd || segment.is_cwd() && !left.is_empty();
        Some(Route { left, id: segment.fits(name)?.or(self.id), below_cwd, ..*self })
    }

    /// The directory that it leads to, if that has a name.
    fn literal(&self) -> Option<&'p str> {
        self.left.first().filter(|_| self.left.len() > 1)?.literal()
    }
}

/// The guide, for the patterns of one root.
#[derive(Default, Clone, Copy)]
struct Limits<'g> {
    guide: Guide<'g>,
    spelling: Option<Spelling>,
}

impl Limits<'_> {
    fn wants(&self, route: &Route) -> bool {
        match (self.guide.subagents, route.id) {
            (Some(wanted), Some(id)) if route.is_subagent => wanted(id),
            _ => true,
        }
    }

    /// Whether to go into a directory below some routes that lead there. Only one that stands for a cwd on all of them is
    /// asked about.
    fn enter(&self, path: &Path, name: &str, above: &[Route], routes: &[Route]) -> bool {
        let (Some(enters), Some(spelling)) = (self.guide.enters, self.spelling) else { return true };
        let is_branch = routes.iter().all(|route| route.below_cwd) && !above.iter().any(|route| route.below_cwd);
        !is_branch || enters(&Branch { path, name, spelling, routes })
    }
}

type TakeFile<'t> = &'t mut dyn FnMut(Entry, &str, Route, &mut Vec<Unreadable>);

/// Walks down some patterns at once, so that each directory is listed once, its files before what is below it. The depth is
/// the patterns', so a link that leads in a circle does no harm.
fn files(dir: &Path, routes: &[Route], limits: Limits, bad: &mut Vec<Unreadable>, take: TakeFile) {
    let go_on = |path: &Path, name: &str, bad: &mut Vec<Unreadable>, take: TakeFile| {
        let below = routes.iter().filter_map(|route| route.below(name));
        let below: Vec<Route> = below.filter(|route| !route.left.is_empty() && limits.wants(route)).collect();
        if !below.is_empty() && limits.enter(path, name, routes, &below) {
            files(path, &below, limits, bad, take);
        }
    };
    // Directories that have a name need not be looked for.
    let names: Option<Vec<&str>> = routes.iter().map(Route::literal).collect();
    if let Some(names) = names {
        for (_, name) in names.iter().enumerate().filter(|(index, name)| !names[..*index].contains(name)) {
            go_on(&dir.join(name), name, bad, take);
        }
        return;
    }
    let mut dirs = Vec::new();
    let listed = match limits.guide.dirs {
        Some(dirs) => dirs.entries(dir, bad),
        None => dir::entries(dir, bad),
    };
    for entry in listed.iter() {
        let Some(kind) = Unreadable::noted(entry.kind(), bad) else { continue };
        let Some(name) = entry.name.to_str() else { continue };
        let may_be_dir = kind.is_dir() || kind.is_symlink();
        if may_be_dir && routes.iter().any(|route| route.left.len() > 1) {
            dirs.push((entry.path(), name));
        }
        let ends = routes.iter().filter(|route| route.left.len() == 1 && !kind.is_dir());
        for route in ends.filter_map(|route| route.below(name)) {
            // A link that leads in a circle leads nowhere.
            let mut is_linked = || Unreadable::noted(file::if_reachable(file::stat(&entry.path())), bad);
            if kind.is_file() || kind.is_symlink() && is_linked().is_some_and(|meta| meta.is_file()) {
                take(entry, name, route, bad);
            }
        }
    }
    dirs.iter().for_each(|(path, name)| go_on(path, name, bad, take));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests read the files that they made")]

    use super::*;
    use crate::time::Time;
    use std::fs;
    use std::os::unix::fs::symlink;

    const ID: &str = "11111111-0000-4000-8000-000000000001";

    /// A home with one session of Claude Code in it.
    fn world() -> (tempfile::TempDir, Env, Vec<Known>) {
        let dir = tempfile::tempdir().expect("a directory");
        let home = dir.path().canonicalize().expect("a path");
        let env = Env::fixed(&home, home.join("work"), Time(0));
        fs::create_dir_all(home.join(".claude/projects/-any")).expect("directories");
        fs::write(home.join(format!(".claude/projects/-any/{ID}.jsonl")), "{}\n").expect("a file");
        (dir, env, crate::format::known(Path::new("/nonexistent")).0)
    }

    fn found(formats: &[Known], env: &Env) -> (Vec<String>, Vec<PathBuf>) {
        let mut bad = Vec::new();
        let sessions = sessions(formats, env, true, &mut bad);
        (
            sessions.into_iter().map(|session| session.id.to_string()).collect(),
            bad.into_iter().map(|bad| bad.path).collect(),
        )
    }

    /// Links in a circle are an error that also root gets.
    #[test]
    fn a_directory_that_cannot_be_listed_is_an_error_and_hides_no_other() {
        let (_dir, env, formats) = world();
        let circle = env.home.join(".claude/projects/-circle");
        symlink(&circle, &circle).expect("a link");
        assert_eq!(found(&formats, &env), (vec![ID.into()], vec![circle]));
        // There is nothing to find where nothing is.
        fs::remove_dir_all(env.home.join(".claude")).expect("removed");
        assert_eq!(found(&formats, &env), (vec![], vec![]));
    }

    #[test]
    fn a_link_that_leads_nowhere_is_no_transcript() {
        let (_dir, env, formats) = world();
        let dir = env.home.join(".claude/projects/-any");
        for (name, to) in [("2", "2.jsonl"), ("3", "nowhere"), ("4", "/dev/null"), ("5", ".")] {
            symlink(to, dir.join(format!("{name}.jsonl"))).expect("a link");
        }
        assert_eq!(found(&formats, &env), (vec![ID.into()], vec![]));
    }

    #[test]
    fn who_cannot_look_everywhere_does_not_say_nowhere() {
        let (_dir, env, formats) = world();
        let by_id = |id: &str| by_id(&formats, &env, id, &env.cwd);
        let path = env.home.join(format!(".claude/projects/-any/{ID}.jsonl"));
        assert_eq!(by_id(ID).expect("no error").expect("a session").path, path);
        assert!(by_id("22222222").expect("no error").is_none());
        let circle = env.home.join(".claude/projects/-circle");
        symlink(&circle, &circle).expect("a link");
        assert_eq!(by_id(ID).expect("no error").expect("a session").path, path);
        assert_eq!(by_id("22222222").expect_err("an error").path, circle.join("22222222.jsonl"));
    }

    #[test]
    fn subagents_that_cannot_be_listed_are_an_error() {
        let (_dir, env, formats) = world();
        let (mut bad, mut all) = (Vec::new(), sessions(&formats, &env, false, &mut Vec::new()));
        let session = all.remove(0);
        assert_eq!((subagents(&session, ID, &mut bad).len(), bad.len()), (0, 0));
        let dir = session.path.with_extension("").join("subagents");
        fs::create_dir_all(dir.parent().expect("a parent")).expect("directories");
        symlink(&dir, &dir).expect("a link");
        assert_eq!(subagents(&session, ID, &mut bad), []);
        assert_eq!(bad.first().map(|bad| &bad.path), Some(&dir));
    }
}
