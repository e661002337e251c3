//! Finds transcripts: every file that fits a pattern of a format.
//!
//! Only names and stamps are read here, never what is inside a file. A directory or a file that cannot be looked at ends up
//! in `bad` and hides no other.

use std::cell::{Cell, RefCell};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::Session;
use crate::dir::{self, Dirs, Entry};
use crate::env::Env;
use crate::file::{self, Access, Stamp, Unreadable};
use crate::formats::AgentFormat;
use session_format::budget::Deadline;
use session_format::entry::{Id, Ids as IdSet};
use session_format::format::descriptor::Root;
use session_format::format::pattern::{Pattern, Segment, Spelling};
use session_format::hash::HashMap;

/// The directory of a root now.
pub fn root_dir(root: &Root, env: &Env) -> Option<PathBuf> {
    let moved = root.env.as_ref().and_then(|name| env.var(name));
    moved
        .map(|dir| env.expand(&dir.to_string_lossy()))
        .or_else(|| root.path.as_ref().map(|path| env.expand(path)))
}

/// The directory of the agent itself: a root may be the home directory, where it is `.agent` in there.
pub fn agent_dir(root: &Root, env: &Env) -> Option<PathBuf> {
    let first = root
        .files
        .first()
        .and_then(|pattern| pattern.0.first()?.literal());
    let dir = root_dir(root, env)?;
    Some(
        first
            .filter(|first| first.starts_with('.'))
            .map_or(dir.clone(), |hidden| dir.join(hidden)),
    )
}

/// The directory that a session's agent keeps sessions in, if it was found there: as far as all their paths are alike.
pub(super) fn kept_in(session: &Session, env: &Env) -> Option<PathBuf> {
    let dir = root_dir(session.root?, env)?;
    let starts = session
        .root?
        .files
        .iter()
        .map(|pattern| dir.join(pattern.dir()));
    starts
        .into_iter()
        .find(|start| session.path.starts_with(start))
        .or(Some(dir.clone()))
}

/// All formats and roots, each with the directory that it is in.
pub(super) fn roots<'f>(
    formats: &'f [AgentFormat],
    env: &Env,
) -> impl Iterator<Item = (&'f AgentFormat, &'f Root, PathBuf)> {
    let all = formats
        .iter()
        .flat_map(|format| format.head().roots.iter().map(move |root| (format, root)));
    all.filter_map(|(format, root)| Some((format, root, root_dir(root, env)?)))
}

/// All sessions of all formats. A file that two patterns reach is found once. With stamps it takes twice as long, but not
/// as long as asking for them later, path by path. If time runs out, there are fewer, and the flag is false.
pub fn sessions<'f>(
    formats: &'f [AgentFormat],
    env: &Env,
    stamps: bool,
    bad: &mut Vec<Unreadable>,
) -> (Vec<Session<'f>>, bool) {
    let mut found: Vec<Session<'f>> = Vec::new();
    let is_all = each(formats, env, bad, &mut |file, bad| {
        let stamp = if stamps {
            Unreadable::noted(file.stamp(), bad)
        } else {
            None
        };
        if stamp.is_some() == stamps {
            found.push(file.session(stamp));
        }
    });
    in_order(&mut found);
    (found, is_all)
}

/// A file that may be a transcript, as a directory lists it. The stamp and the session are made only on request.
pub struct Listing<'e, 'f> {
    entry: Entry<'e>,
    pub name: &'e str,
    /// The id in its name.
    pub id: Option<&'e str>,
    format: &'f AgentFormat,
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

    /// The stamp of the file now; none if it is gone.
    pub fn stamp(&self) -> Result<Option<Stamp>, Unreadable> {
        self.entry.stamp()
    }

    pub fn session(&self, stamp: Option<Stamp>) -> Session<'f> {
        let stem = || {
            Path::new(self.name)
                .file_stem()
                .and_then(OsStr::to_str)
                .unwrap_or_default()
        };
        let id = self.entry.listed_text(self.id.unwrap_or_else(stem));
        Session {
            stamp,
            ..Session::new(id, self.format, Some(self.root), self.entry.listed_path())
        }
    }
}

/// Takes a file that was found, and an error about it.
type Take<'t, 'f> = &'t mut dyn FnMut(Listing<'_, 'f>, &mut Vec<Unreadable>);

/// A directory that stands for a cwd, like `projects/-home-me-work/`, before a walk goes into it.
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
        for route in self
            .routes
            .iter()
            .filter(|route| !route.is_subagent && route.left.len() > 1)
        {
            let mut dir = self.path.to_path_buf();
            for segment in &route.left[..route.left.len() - 1] {
                dir.push(segment.literal()?);
                latest = latest.max(changed(&dir)?);
            }
        }
        Some(latest)
    }
}

/// Limits a walk to parts of the tree.
#[derive(Default, Clone, Copy)]
pub struct Guide<'g> {
    /// The transcripts of subagents follow the sessions of a directory, for the ids that this wants.
    pub subagents: Option<&'g dyn Fn(&str) -> bool>,
    /// Without it, every directory that stands for a cwd.
    pub enters: Option<&'g dyn Fn(&Branch) -> bool>,
    /// The directories that are open already.
    pub dirs: Option<&'g Dirs>,
    /// Without it, it takes as long as it takes.
    pub steps: Option<&'g Steps>,
}

/// A walk that ends when its time is over. The directories that matter most come first, and another walk begins elsewhere.
pub struct Steps {
    deadline: Deadline,
    /// Names that may stand for this directory, or for one below it, come first.
    first: PathBuf,
    /// The index to begin at among the others.
    turn: usize,
    listed: Cell<u32>,
    late: Cell<bool>,
    /// The directories that need not be gone through again, with all below them.
    done: RefCell<IdSet>,
}

impl Steps {
    /// So many directories are listed, however little time there is.
    const ALWAYS_LISTED: u32 = 32;
    /// Of so many it matters which come first.
    const ORDERED_FROM: usize = 256;

    /// A walk for which there is a part of all the time.
    pub fn new(env: &Env, deadline: &Deadline) -> Steps {
        // However long it took until now, there is a little time for it.
        let part = (deadline.allowed() / 3).max(deadline.taken() + deadline.allowed() / 8);
        let (deadline, turn) = (deadline.of(part), env.turn(usize::MAX));
        let (listed, late, done) = (Cell::default(), Cell::default(), RefCell::default());
        Steps {
            deadline,
            first: env.cwd.clone(),
            turn,
            listed,
            late,
            done,
        }
    }

    /// One that goes on where another ended.
    pub fn after(self, done: impl IntoIterator<Item = Id>) -> Steps {
        Steps {
            done: RefCell::new(done.into_iter().collect()),
            turn: 0,
            ..self
        }
    }

    /// For whoever waits for an answer.
    fn of(env: &Env) -> Option<Steps> {
        env.deadline.map(|deadline| Steps::new(env, &deadline))
    }

    /// True if the time is over.
    pub fn is_late(&self) -> bool {
        self.late.set(self.late.get() || self.deadline.is_over());
        self.late.get()
    }

    /// The directories that it has been to, with all below them, if its time was over before its end.
    pub fn into_done(self) -> Option<Vec<Id>> {
        self.late
            .get()
            .then(|| self.done.into_inner().into_iter().collect())
    }

    pub fn has_been_to(&self, dir: &Path) -> bool {
        self.done.borrow().contains(&id_of(dir))
    }

    /// It goes into a directory once more.
    pub fn again(&self, dir: &Path) {
        self.done.borrow_mut().remove(&id_of(dir));
    }

    /// True if a directory is listed now.
    fn lists(&self, dir: &Path) -> bool {
        self.listed.set(self.listed.get() + 1);
        let late = self.late.get() || self.listed.get() > Steps::ALWAYS_LISTED && self.is_late();
        !late && !self.has_been_to(dir)
    }

    fn order(&self, dirs: &mut [(PathBuf, &str)], spelling: Option<Spelling>) {
        if dirs.len() > Steps::ORDERED_FROM {
            dirs.rotate_left(self.turn % dirs.len());
            let is_first = |name: &str| {
                spelling.is_some_and(|spelling| spelling.may_be_below(name, &self.first))
            };
            dirs.sort_by_cached_key(|(_, name)| !is_first(name));
        }
    }
}

fn id_of(dir: &Path) -> Id {
    Id::of(dir.as_os_str().as_encoded_bytes())
}

/// Hands out every file that fits a pattern of a format; one that two patterns reach comes twice. Where somebody waits, as
/// many as there is time for; says whether that was all.
pub fn each<'f>(
    formats: &'f [AgentFormat],
    env: &Env,
    bad: &mut Vec<Unreadable>,
    take: Take<'_, 'f>,
) -> bool {
    let steps = Steps::of(env);
    each_with(
        formats,
        env,
        Guide {
            steps: steps.as_ref(),
            ..Guide::default()
        },
        bad,
        take,
    );
    steps.is_none_or(|steps| !steps.late.get())
}

/// The same, as far as the guide goes.
pub fn each_with<'f>(
    formats: &'f [AgentFormat],
    env: &Env,
    guide: Guide,
    bad: &mut Vec<Unreadable>,
    take: Take<'_, 'f>,
) {
    for (format, root, dir) in roots(formats, env) {
        let below: Vec<Pattern> = root
            .subagent_patterns()
            .filter(|_| guide.subagents.is_some())
            .collect();
        let sessions = root
            .files
            .iter()
            .map(|pattern| Route::new(&pattern.0, false));
        let below = below.iter().map(|pattern| Route::new(&pattern.0, true));
        let routes: Vec<Route> = sessions.chain(below).collect();
        let limits = Limits {
            guide,
            spelling: root.cwd,
        };
        files(
            &dir,
            &routes,
            limits,
            bad,
            &mut |entry,
                  name,
                  Route {
                      id,
                      is_subagent,
                      below_cwd,
                      ..
                  },
                  bad| {
                if is_subagent || !root.not.iter().any(|not| excludes(not, name)) {
                    take(
                        Listing {
                            entry,
                            name,
                            id,
                            format,
                            root,
                            is_subagent,
                            below_cwd,
                        },
                        bad,
                    );
                }
            },
        );
    }
}

/// The transcripts of a session's subagents, the one that was written last first. The id is the session's, whole.
pub fn subagents(session: &Session, id: &str, bad: &mut Vec<Unreadable>) -> Vec<(PathBuf, Stamp)> {
    let mut found: Vec<(PathBuf, Stamp)> = Vec::new();
    // Whose a session is was decided; a subagent's file must be the same user's, and nobody else's to write.
    let own = session
        .stamp
        .or_else(|| file::stamp(&session.path).ok().flatten())
        .map(|stamp| stamp.access.owner);
    let is_own = |access: Access| own.is_some_and(|own| access.is_only(own)) && !access.linked;
    for (dir, pattern) in subagent_dirs(session) {
        let bound: Vec<Segment> = pattern.iter().map(|segment| segment.bound(id)).collect();
        files(
            dir,
            &[Route::new(&bound, true)],
            Limits::default(),
            bad,
            &mut |entry, _, _, bad| {
                let stamp =
                    Unreadable::noted(entry.stamp(), bad).filter(|stamp| is_own(stamp.access));
                found.extend(stamp.map(|stamp| (entry.path(), stamp)));
            },
        );
    }
    found.sort_by(|(a, stamp), (b, other)| (other.modified, a).cmp(&(stamp.modified, b)));
    found.dedup_by(|(a, _), (b, _)| a == b);
    found
}

/// True if a subagent with the id of a session stands where that session's subagents do. A session that was copied to
/// another project has the same id.
pub(crate) fn is_subagent_place(session: &Session, path: &Path) -> bool {
    subagent_dirs(session).any(|(dir, _)| path.starts_with(dir))
}

/// The directories that a session's subagents are looked for in, and what their paths look like from there.
fn subagent_dirs<'s>(session: &'s Session) -> impl Iterator<Item = (&'s Path, &'s [Segment])> {
    session
        .roots()
        .iter()
        .flat_map(|root| &root.subagents)
        .filter_map(|pattern| {
            let up = pattern
                .0
                .iter()
                .take_while(|segment| segment.literal() == Some(".."))
                .count();
            Some((session.path.ancestors().nth(1 + up)?, &pattern.0[up..]))
        })
}

/// Every file below a directory that fits a pattern. What cannot be listed is passed over.
pub(crate) fn each_file(dir: &Path, pattern: &Pattern, take: &mut dyn FnMut(&Path)) {
    let route = [Route::new(&pattern.0, false)];
    files(
        dir,
        &route,
        Limits::default(),
        &mut Vec::new(),
        &mut |entry, _, _, _| take(&entry.path()),
    );
}

/// Sorts sessions by the bytes of their paths, each once; of several names the last stays.
pub(crate) fn in_order(sessions: &mut Vec<Session>) {
    // All directories begin alike, and most paths differ soon after that. What is in order already is sorted at once.
    let alike = sessions.split_first().map_or(0, |(first, others)| {
        let alike =
            |session: &Session| common_start(first.path.parts()[0], session.path.parts()[0]);
        others.iter().map(alike).min().unwrap_or(0)
    });
    sessions.sort_by_cached_key(|session| {
        let [dir, name] = session.path.parts();
        let mut key = [0; 16];
        key.iter_mut()
            .zip(dir[alike..].iter().chain(name))
            .for_each(|(key, byte)| *key = *byte);
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
    if a == b {
        a.len()
    } else {
        a.iter().zip(b).take_while(|(a, b)| a == b).count()
    }
}

/// The transcript with an id: in the directory that spells the cwd if it is there, else wherever it is.
pub fn by_id<'f>(
    formats: &'f [AgentFormat],
    env: &Env,
    id: &str,
) -> Result<Option<Session<'f>>, Unreadable> {
    ByIds::default().find(formats, env, id)
}

/// The same for many ids. After a few that are not where the cwd says, all files are listed once.
#[derive(Default)]
pub struct ByIds<'f> {
    missed: u32,
    /// All files were listed.
    listed: bool,
    all: HashMap<String, Vec<Session<'f>>>,
    unlisted: Vec<Unreadable>,
}

impl<'f> ByIds<'f> {
    /// So many are looked for one by one.
    const ONE_BY_ONE: u32 = 4;

    pub fn find(
        &mut self,
        formats: &'f [AgentFormat],
        env: &Env,
        id: &str,
    ) -> Result<Option<Session<'f>>, Unreadable> {
        let mut bad = Vec::new();
        for (format, root, dir) in roots(formats, env).filter(|_| !self.listed) {
            let spelt = root.cwd.map(|spelling| spelling.spell(&env.cwd));
            for path in root
                .files
                .iter()
                .filter_map(|pattern| filled(&dir, pattern, spelt.as_deref(), id))
            {
                if Unreadable::noted(file::stat(&path), &mut bad).is_some_and(|meta| meta.is_file())
                {
                    return Ok(Some(Session::new(id, format, Some(root), path)));
                }
            }
        }
        self.missed += 1;
        let elsewhere = match self.missed {
            ..=Self::ONE_BY_ONE => elsewhere(formats, env, id, &mut bad),
            _ => {
                if self.missed == Self::ONE_BY_ONE + 1 {
                    let (all, is_all) = sessions(formats, env, false, &mut self.unlisted);
                    self.listed = is_all;
                    for session in all {
                        self.all
                            .entry(session.id.to_string())
                            .or_default()
                            .push(session);
                    }
                }
                bad.extend(self.unlisted.iter().map(Unreadable::again));
                let fits = |session: &&Session| {
                    let name = session
                        .path
                        .parent()
                        .and_then(|dir| dir.file_name()?.to_str());
                    let spelling = session.root.and_then(|root| root.cwd);
                    name.zip(spelling)
                        .is_some_and(|(name, spelling)| spelling.fits(name, &env.cwd))
                };
                self.all
                    .get(id)
                    .and_then(|all| all.iter().find(fits).or(all.first()))
                    .cloned()
            }
        };
        // After an error it may still be somewhere.
        match bad.into_iter().next() {
            Some(error) if elsewhere.is_none() => Err(error),
            _ => Ok(elsewhere),
        }
    }
}

/// The transcript with an id in any directory that stands for a cwd.
fn elsewhere<'f>(
    formats: &'f [AgentFormat],
    env: &Env,
    id: &str,
    bad: &mut Vec<Unreadable>,
) -> Option<Session<'f>> {
    let deadline = env
        .deadline
        .map(|deadline| deadline.of(deadline.allowed() / 10));
    for (format, root, dir) in roots(formats, env) {
        let Some(spelling) = root.cwd else { continue };
        for pattern in &root.files {
            let mut there = Vec::new();
            for name in subdirs(&dir, pattern, bad) {
                if deadline.is_some_and(|deadline| deadline.is_over()) {
                    break;
                }
                let path = filled(&dir, pattern, Some(&name), id);
                let is_file = |path: &PathBuf| {
                    Unreadable::noted(file::stat(path), bad).is_some_and(|meta| meta.is_file())
                };
                there.extend(
                    path.filter(is_file)
                        .map(|path| (spelling.fits(&name, &env.cwd), path)),
                );
            }
            if let Some((_, path)) = there.into_iter().max_by_key(|(fits, _)| *fits) {
                return Some(Session::new(id, format, Some(root), path));
            }
        }
    }
    None
}

/// The session whose transcript is at a path, if that is where a format keeps them.
pub fn at<'f>(formats: &'f [AgentFormat], env: &Env, path: &Path) -> Option<Session<'f>> {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let is_none = |root: &Root| root.not.iter().any(|not| excludes(not, name));
    by_path(formats, env, path, &|root, below| {
        root.files
            .iter()
            .find_map(|files| files.id(below))
            .filter(|_| !is_none(root))
    })
}

/// The subagent's transcript at a path, with the id of its session.
pub fn subagent_at<'f>(formats: &'f [AgentFormat], env: &Env, path: &Path) -> Option<Session<'f>> {
    by_path(formats, env, path, &|root, below| {
        root.subagent_patterns()
            .find_map(|pattern| pattern.id(below))
    })
}

fn by_path<'f>(
    formats: &'f [AgentFormat],
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
    pattern
        .0
        .iter()
        .try_fold(dir.to_path_buf(), |path, segment| {
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
    let parent = before
        .into_iter()
        .try_fold(dir.to_path_buf(), |path, segment| {
            Some(path.join(segment.literal()?))
        });
    let entries = parent
        .map(|parent| dir::entries(&parent, bad))
        .unwrap_or_default();
    entries
        .iter()
        .filter_map(|entry| entry.name.to_str().map(str::to_owned))
        .collect()
}

fn excludes(not: &Pattern, name: &str) -> bool {
    not.0
        .last()
        .is_some_and(|segment| segment.fits(name).is_some())
}

/// The rest of a pattern below a directory, and the id that was in the names above it.
#[derive(Clone, Copy)]
struct Route<'p> {
    left: &'p [Segment],
    id: Option<&'p str>,
    is_subagent: bool,
    below_cwd: bool,
}

impl<'p> Route<'p> {
    fn new(left: &'p [Segment], is_subagent: bool) -> Route<'p> {
        Route {
            left,
            id: None,
            is_subagent,
            below_cwd: false,
        }
    }

    /// The rest of it below a name, if that fits.
    fn below<'n>(&self, name: &'n str) -> Option<Route<'n>>
    where
        'p: 'n,
    {
        let (segment, left) = self.left.split_first()?;
        let below_cwd = self.below_cwd || segment.is_cwd() && !left.is_empty();
        Some(Route {
            left,
            id: segment.fits(name)?.or(self.id),
            below_cwd,
            ..*self
        })
    }

    /// The directory that it leads to, if that has a name.
    fn literal(&self) -> Option<&'p str> {
        if let [first, _, ..] = self.left {
            first.literal()
        } else {
            None
        }
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

    /// True to go into a directory below some routes that lead there. Only one that stands for a cwd on all of them is
    /// asked about.
    fn enter(&self, path: &Path, name: &str, above: &[Route], routes: &[Route]) -> bool {
        let (Some(enters), Some(spelling)) = (self.guide.enters, self.spelling) else {
            return true;
        };
        let is_branch = routes.iter().all(|route| route.below_cwd)
            && !above.iter().any(|route| route.below_cwd);
        !is_branch
            || enters(&Branch {
                path,
                name,
                spelling,
                routes,
            })
    }
}

type TakeFile<'t> = &'t mut dyn FnMut(Entry, &str, Route, &mut Vec<Unreadable>);

/// Walks down some patterns at once, so that each directory is listed once, its files before what is below it. The depth is
/// the patterns', so a link that leads in a circle does no harm.
fn files(dir: &Path, routes: &[Route], limits: Limits, bad: &mut Vec<Unreadable>, take: TakeFile) {
    let go_on = |path: &Path, name: &str, bad: &mut Vec<Unreadable>, take: TakeFile| {
        let below = routes.iter().filter_map(|route| route.below(name));
        let below: Vec<Route> = below
            .filter(|route| !route.left.is_empty() && limits.wants(route))
            .collect();
        if !below.is_empty() && limits.enter(path, name, routes, &below) {
            files(path, &below, limits, bad, take);
        }
    };
    // Directories that have a name need not be looked for.
    let names: Option<Vec<&str>> = routes.iter().map(Route::literal).collect();
    if let Some(names) = names {
        for (_, name) in names
            .iter()
            .enumerate()
            .filter(|(index, name)| !names[..*index].contains(name))
        {
            go_on(&dir.join(name), name, bad, take);
        }
        return;
    }
    let steps = limits.guide.steps;
    if steps.is_some_and(|steps| !steps.lists(dir)) {
        return;
    }
    let mut dirs = Vec::new();
    let listed = match limits.guide.dirs {
        Some(dirs) => dirs.entries(dir, bad),
        None => dir::entries(dir, bad),
    };
    for entry in listed.iter() {
        let Some(kind) = Unreadable::noted(entry.kind(), bad) else {
            continue;
        };
        let Some(name) = entry.name.to_str() else {
            continue;
        };
        let may_be_dir = kind.is_dir() || kind.is_symlink();
        if may_be_dir && routes.iter().any(|route| route.left.len() > 1) {
            dirs.push((entry.path(), name));
        }
        let ends = routes
            .iter()
            .filter(|route| route.left.len() == 1 && !kind.is_dir());
        for route in ends.filter_map(|route| route.below(name)) {
            // A link that leads in a circle leads nowhere.
            let mut is_linked =
                || Unreadable::noted(file::if_reachable(file::stat(&entry.path())), bad);
            if kind.is_file() || kind.is_symlink() && is_linked().is_some_and(|meta| meta.is_file())
            {
                take(entry, name, route, bad);
            }
        }
    }
    if let Some(steps) = steps {
        steps.order(&mut dirs, limits.spelling);
    }
    dirs.iter()
        .for_each(|(path, name)| go_on(path, name, bad, take));
    let is_step = routes.iter().all(|route| route.below_cwd)
        || routes.iter().all(|route| route.left.len() == 1);
    if let Some(steps) = steps.filter(|steps| is_step && !steps.late.get()) {
        steps.done.borrow_mut().insert(id_of(dir));
    }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::disallowed_methods,
        reason = "tests read the files that they made"
    )]

    use super::*;
    use session_format::time::Time;
    use std::fs;
    use std::os::unix::fs::symlink;

    const ID: &str = "11111111-0000-4000-8000-000000000001";

    /// A home with one session of Claude Code in it.
    fn world() -> (tempfile::TempDir, Env, Vec<AgentFormat>) {
        let dir = tempfile::tempdir().expect("a directory");
        let home = dir.path().canonicalize().expect("a path");
        let env = Env::fixed(&home, home.join("work"), Time(0));
        fs::create_dir_all(home.join(".claude/projects/-any")).expect("directories");
        fs::write(
            home.join(format!(".claude/projects/-any/{ID}.jsonl")),
            "{}\n",
        )
        .expect("a file");
        (dir, env, crate::formats::known(Path::new("/nonexistent")).0)
    }

    fn found(formats: &[AgentFormat], env: &Env) -> (Vec<String>, Vec<PathBuf>) {
        let mut bad = Vec::new();
        let (sessions, _) = sessions(formats, env, true, &mut bad);
        (
            sessions
                .into_iter()
                .map(|session| session.id.to_string())
                .collect(),
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
        for (name, to) in [
            ("2", "2.jsonl"),
            ("3", "nowhere"),
            ("4", "/dev/null"),
            ("5", "."),
        ] {
            symlink(to, dir.join(format!("{name}.jsonl"))).expect("a link");
        }
        assert_eq!(found(&formats, &env), (vec![ID.into()], vec![]));
    }

    #[test]
    fn who_cannot_look_everywhere_does_not_say_nowhere() {
        let (_dir, env, formats) = world();
        let by_id = |id: &str| by_id(&formats, &env, id);
        let path = env.home.join(format!(".claude/projects/-any/{ID}.jsonl"));
        assert_eq!(by_id(ID).expect("no error").expect("a session").path, path);
        assert!(by_id("22222222").expect("no error").is_none());
        let circle = env.home.join(".claude/projects/-circle");
        symlink(&circle, &circle).expect("a link");
        assert_eq!(by_id(ID).expect("no error").expect("a session").path, path);
        assert_eq!(
            by_id("22222222").expect_err("an error").path,
            circle.join("22222222.jsonl")
        );
    }

    #[test]
    fn subagents_that_cannot_be_listed_are_an_error() {
        let (_dir, env, formats) = world();
        let (mut bad, (mut all, _)) =
            (Vec::new(), sessions(&formats, &env, false, &mut Vec::new()));
        let session = all.remove(0);
        assert_eq!((subagents(&session, ID, &mut bad).len(), bad.len()), (0, 0));
        let dir = session.path.with_extension("").join("subagents");
        fs::create_dir_all(dir.parent().expect("a parent")).expect("directories");
        symlink(&dir, &dir).expect("a link");
        assert_eq!(subagents(&session, ID, &mut bad), []);
        assert_eq!(bad.first().map(|bad| &bad.path), Some(&dir));
    }
}
