//! Which project a directory belongs to: its git repository with all worktrees, found by reading `.git`; outside a
//! repository, the directory itself.
//!
//! Directories are named by transcripts, so one that is gone, forbidden or no path at all is an ordinary answer. What the
//! file system fails at is an error: a session must not leave its project because a disk was slow.
//!
//! Sessions of one project are shown to each other, so a directory joins a repository only by proof. Whoever packs an
//! archive can put a `.git` into it that names any repository. What counts is a repository that the user or root owns, and
//! that names the directory as one of its own.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::dir;
use crate::env::Env;
use crate::file::{self, Owners, Unreadable};
use session_format::hash::HashMap;
use session_format::path::is_too_long;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Project(PathBuf);

impl Project {
    /// Its directory's name.
    pub fn name(&self) -> String {
        self.dir()
            .file_name()
            .map_or_else(|| "root".into(), |name| name.to_string_lossy().into_owned())
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_os_str().as_encoded_bytes()
    }

    /// The project of a directory, or the directory itself if the file system fails.
    pub fn of(env: &Env, dir: &Path) -> Project {
        Project::noted(env, dir, &mut Vec::new())
    }

    /// The same; what fails is noted.
    pub fn noted(env: &Env, dir: &Path, bad: &mut Vec<Unreadable>) -> Project {
        Unreadable::noted(Project::find(env.owners(), dir).map(Some), bad)
            .unwrap_or_else(|| Project(dir.into()))
    }

    /// A directory that is gone belongs where its nearest existing parent does, if that is in a repository.
    fn find(owners: Owners, dir: &Path) -> Result<Project, Unreadable> {
        // Whoever names one that cannot be does not make us try each of its parts.
        if is_too_long(dir) {
            return Ok(Project(dir.into()));
        }
        for existing in dir.ancestors() {
            let Some(real) = canonical(existing)? else {
                continue;
            };
            for tree in real.ancestors() {
                if let Some(Git::Proven { shared, .. }) = git(owners, tree)? {
                    return Ok(Project(shared));
                }
            }
            let gone = dir.strip_prefix(existing).unwrap_or(Path::new(""));
            return Ok(Project(if gone.as_os_str().is_empty() {
                real
            } else {
                real.join(gone)
            }));
        }
        Ok(Project(dir.into()))
    }

    /// True if it is a repository, and not a directory outside all of them.
    fn is_repository(&self) -> bool {
        self.0.join("HEAD").symlink_metadata().is_ok()
    }

    /// The directory it is known by. A directory keeps it when it becomes a repository.
    pub fn dir(&self) -> &Path {
        match self.0.parent() {
            Some(dir) if self.0.ends_with(".git") => dir,
            _ => &self.0,
        }
    }

    /// The worktrees that git knows of, without the main one. Some of them may be gone.
    pub fn worktrees(&self, bad: &mut Vec<Unreadable>) -> Vec<PathBuf> {
        let mut trees = Vec::new();
        for own in dir::entries(&self.0.join("worktrees"), bad).iter() {
            let Some(git) = Unreadable::noted(text(&own.path().join("gitdir")), bad) else {
                continue;
            };
            let git = own.path().join(git.trim());
            let tree = git.parent().unwrap_or(&git);
            // Git can be set to write paths that start from its own directory.
            let is_relative = tree.starts_with(&self.0);
            trees.extend(if is_relative {
                Unreadable::noted(canonical(tree), bad)
            } else {
                Some(tree.into())
            });
        }
        trees
    }
}

/// The working tree that a directory is in, if it is in a repository.
pub fn checkout(env: &Env, dir: &Path) -> Option<PathBuf> {
    let real = canonical(dir).ok()??;
    let is_top = |tree: &&Path| matches!(git(env.owners(), tree), Ok(Some(Git::Proven { .. })));
    real.ancestors().find(is_top).map(Path::to_path_buf)
}

/// Tells which directories belong to a project. Each is looked at once.
#[derive(Debug)]
pub struct Members {
    project: Project,
    owners: Owners,
    home: PathBuf,
    known: HashMap<String, bool>,
    /// The worktrees that the repository knows of, once a directory that is gone may have been in one.
    worktrees: Option<Vec<PathBuf>>,
    /// Directories that could not be looked at. They count as another project's.
    pub bad: Vec<Unreadable>,
}

impl Members {
    /// Those of the project that a directory belongs to.
    pub fn around(env: &Env, dir: &Path) -> Members {
        let mut bad = Vec::new();
        let project = Project::noted(env, dir, &mut bad);
        Members {
            bad,
            ..Members::of(env, project)
        }
    }

    pub fn of(env: &Env, project: Project) -> Members {
        Members {
            project,
            owners: env.owners(),
            home: env.home.clone(),
            known: HashMap::default(),
            worktrees: None,
            bad: Vec::new(),
        }
    }

    pub fn has(&mut self, dir: &str) -> bool {
        if let Some(is_member) = self.known.get(dir) {
            return *is_member;
        }
        match Project::find(self.owners, Path::new(dir)) {
            Ok(found) => {
                // What is left of another repository is not a worktree of this one.
                let may_be_worktree = !found.is_repository();
                let is_member =
                    found == self.project || may_be_worktree && self.has_worktree(Path::new(dir));
                self.known.insert(dir.to_owned(), is_member);
                is_member
            }
            Err(bad) => {
                self.note(bad);
                false
            }
        }
    }

    /// True if a directory that is not there now was in a worktree: the repository knows of those that are away.
    fn has_worktree(&mut self, dir: &Path) -> bool {
        if !is_away(dir) {
            return false;
        }
        if self.worktrees.is_none() {
            let mut bad = Vec::new();
            self.worktrees = Some(self.project.worktrees(&mut bad));
            bad.into_iter().for_each(|bad| self.note(bad));
        }
        // The directory that all of the user's are in is no worktree.
        self.worktrees
            .iter()
            .flatten()
            .any(|tree| dir.starts_with(tree) && !self.home.starts_with(tree))
    }

    fn note(&mut self, bad: Unreadable) {
        if self.bad.iter().all(|known| known.path != bad.path) {
            self.bad.push(bad);
        }
    }
}

/// True if a directory is not there now. It may come back, so what is said of it without it holds for this moment only.
pub fn is_away(dir: &Path) -> bool {
    !is_too_long(dir) && matches!(file::stat(dir), Ok(None))
}

/// The repository that the `.git` of a directory names.
#[derive(Debug)]
pub(super) enum Git {
    /// A working tree begins there. `own` has what git knows of this tree, `shared` what it knows of all of them.
    Proven { own: PathBuf, shared: PathBuf },
    /// It names a repository that is not there, is another user's, or does not know of this directory.
    Unproven,
}

/// The repository whose working tree begins at a directory, if one does.
pub(super) fn git(owners: Owners, tree: &Path) -> Result<Option<Git>, Unreadable> {
    let git = tree.join(".git");
    let Some(meta) = file::if_reachable(file::lstat(&git))? else {
        return Ok(None);
    };
    // Another user's is not looked into: what is in there could be anything.
    if !owners.has_or_root(meta.uid()) {
        return Ok(Some(Git::Unproven));
    }
    let named = match meta.file_type() {
        kind if kind.is_dir() => None,
        kind if kind.is_symlink() => Some(git.clone()),
        kind if kind.is_file() => {
            let text = text(&git)?.unwrap_or_default();
            let Some(dir) = text.strip_prefix("gitdir:") else {
                return Ok(None);
            };
            Some(tree.join(dir.trim()))
        }
        _ => return Ok(None),
    };
    let own = match &named {
        Some(dir) => canonical(dir)?,
        // Without a head it is no repository. Git takes a link for one, also to a branch that is kept elsewhere.
        None => file::if_reachable(file::lstat(&git.join("HEAD")))?
            .filter(|head| !head.is_dir())
            .map(|_| git.clone()),
    };
    let Some(own) = own else {
        return Ok(named.map(|_| Git::Unproven));
    };
    let is_users = |dir: &Path| {
        let meta = file::if_reachable(file::stat(dir))?;
        Ok(meta.is_some_and(|meta| owners.has_or_root(meta.uid())))
    };
    let shared = shared_dir(&own)?;
    let is_proven = is_users(&own)?
        && match &shared {
            // A worktree: one of those that its repository keeps a list of.
            Some(shared) => {
                let is_listed = canonical(&own)?
                    .is_some_and(|own| own.parent() == Some(&shared.join("worktrees")));
                is_listed && is_users(shared)? && names(&own, "gitdir", &git)?.unwrap_or(true)
            }
            None => named.is_none() || names_in_config(&own, tree)?,
        };
    let shared = shared.map_or_else(|| canonical(&own), |shared| Ok(Some(shared)))?;
    Ok(Some(match shared.filter(|_| is_proven) {
        Some(shared) => Git::Proven { own, shared },
        None => Git::Unproven,
    }))
}

/// The directory that all worktrees of a repository share, if a worktree's own directory names one.
fn shared_dir(own: &Path) -> Result<Option<PathBuf>, Unreadable> {
    let Some(named) = text(&own.join("commondir"))? else {
        return Ok(None);
    };
    let shared = own.join(named.trim());
    // One that is not there has no list.
    Ok(Some(canonical(&shared)?.unwrap_or(shared)))
}

/// True if a file in a directory of git's names a path; none if there is no such file.
fn names(own: &Path, file: &str, path: &Path) -> Result<Option<bool>, Unreadable> {
    let Some(named) = text(&own.join(file))? else {
        return Ok(None);
    };
    is_same(&own.join(named.trim()), path).map(Some)
}

/// True if the directory of a repository says in its settings that a directory is its working tree, as a submodule's does.
fn names_in_config(own: &Path, tree: &Path) -> Result<bool, Unreadable> {
    let config = text(&own.join("config"))?.unwrap_or_default();
    let mut in_core = false;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            in_core = line
                .trim_matches(['[', ']'])
                .trim()
                .eq_ignore_ascii_case("core");
        }
        let value = line
            .split_once('=')
            .filter(|(key, _)| in_core && key.trim().eq_ignore_ascii_case("worktree"));
        if let Some((_, dir)) = value {
            return is_same(&own.join(dir.trim().trim_matches('"')), tree);
        }
    }
    Ok(false)
}

fn is_same(a: &Path, b: &Path) -> Result<bool, Unreadable> {
    Ok(canonical(a)?.is_some_and(|a| canonical(b).ok().flatten() == Some(a)))
}

/// A file of git's that points somewhere, or its settings: all of them are short.
fn text(path: &Path) -> Result<Option<String>, Unreadable> {
    const LONGEST_FILE: u64 = 256 << 10;
    if file::if_reachable(file::stat(path))?
        .is_none_or(|meta| meta.len() > LONGEST_FILE || !meta.is_file())
    {
        return Ok(None);
    }
    let bytes = file::if_reachable(file::there(path, || file::read_up_to(path, LONGEST_FILE)))?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

fn canonical(path: &Path) -> Result<Option<PathBuf>, Unreadable> {
    file::if_reachable(file::there(path, || std::fs::canonicalize(path)))
}
