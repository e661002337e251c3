//! Which project a directory belongs to: its git repository with all worktrees, found by reading `.git`; outside a
//! repository, the directory itself.
//!
//! Directories are named by transcripts, so one that is gone, forbidden or no path at all is an ordinary answer. What the
//! file system fails at is an error: a session must not leave its project because a disk was slow.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::dir;
use crate::file::{self, Unreadable};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Project(PathBuf);

impl Project {
    /// What a person calls it: its directory's name.
    pub fn name(&self) -> String {
        self.dir().file_name().map_or_else(|| "root".into(), |name| name.to_string_lossy().into_owned())
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_os_str().as_encoded_bytes()
    }

    /// The project of a directory, or the directory itself if the file system fails.
    pub fn of(dir: &Path) -> Project {
        Project::noted(dir, &mut Vec::new())
    }

    /// The same; what fails is noted.
    pub fn noted(dir: &Path, bad: &mut Vec<Unreadable>) -> Project {
        Unreadable::noted(Project::find(dir).map(Some), bad).unwrap_or_else(|| Project(dir.into()))
    }

    /// A directory that is gone belongs where its nearest existing parent does, if that is in a repository.
    pub fn find(dir: &Path) -> Result<Project, Unreadable> {
        for existing in dir.ancestors() {
            let Some(real) = canonical(existing)? else { continue };
            for tree in real.ancestors() {
                if let Some(own) = git_dir(tree)?
                    && let Some(shared) = shared_dir(&own)?
                {
                    return Ok(Project(shared));
                }
            }
            let gone = dir.strip_prefix(existing).unwrap_or(Path::new(""));
            return Ok(Project(if gone.as_os_str().is_empty() { real } else { real.join(gone) }));
        }
        Ok(Project(dir.into()))
    }

    /// The directory it is known by. A directory keeps it when it becomes a repository.
    pub fn dir(&self) -> &Path {
        let git = self.0.file_name().is_some_and(|name| name == ".git");
        self.0.parent().filter(|_| git).unwrap_or(&self.0)
    }

    /// The worktrees that git knows of, without the main one. Some of them may be gone.
    pub fn worktrees(&self, bad: &mut Vec<Unreadable>) -> Vec<PathBuf> {
        let mut trees = Vec::new();
        for own in dir::entries(&self.0.join("worktrees"), bad).iter() {
            let Some(git) = Unreadable::noted(text(&own.path().join("gitdir")), bad) else { continue };
            let git = own.path().join(git.trim());
            let tree = git.parent().unwrap_or(&git);
            // Git can be set to write paths that start from its own directory.
            let is_relative = tree.starts_with(&self.0);
            trees.extend(if is_relative { Unreadable::noted(canonical(tree), bad) } else { Some(tree.into()) });
        }
        trees
    }
}

/// The working tree that a directory is in, if it is in a repository.
pub fn checkout(dir: &Path) -> Option<PathBuf> {
    let real = canonical(dir).ok()??;
    let tree = real.ancestors().find(|tree| git_dir(tree).is_ok_and(|git| git.is_some()));
    tree.map(Path::to_path_buf)
}

/// Which directories belong to a project. Each is looked at once.
#[derive(Debug)]
pub struct Members {
    project: Project,
    known: HashMap<String, bool>,
    /// What could not be looked at, and is taken for another project's.
    pub bad: Vec<Unreadable>,
}

impl Members {
    /// Those of the project that a directory belongs to.
    pub fn around(dir: &Path) -> Members {
        let mut bad = Vec::new();
        let project = Project::noted(dir, &mut bad);
        Members { bad, ..Members::of(project) }
    }

    pub fn of(project: Project) -> Members {
        Members { project, known: HashMap::new(), bad: Vec::new() }
    }

    pub fn has(&mut self, dir: &str) -> bool {
        if let Some(is_member) = self.known.get(dir) {
            return *is_member;
        }
        match Project::find(Path::new(dir)) {
            Ok(found) => *self.known.entry(dir.to_owned()).insert_entry(found == self.project).get(),
            Err(bad) => {
                if self.bad.iter().all(|known| known.path != bad.path) {
                    self.bad.push(bad);
                }
                false
            }
        }
    }
}

/// The directory in which git keeps what it knows of a working tree: `.git`, or what a file of that name points to, as in
/// a worktree or a submodule.
pub(super) fn git_dir(tree: &Path) -> Result<Option<PathBuf>, Unreadable> {
    /// A file that points somewhere is short.
    const LONGEST: u64 = 64 << 10;
    let git = tree.join(".git");
    let Some(meta) = file::if_reachable(file::stat(&git))? else { return Ok(None) };
    if meta.is_dir() {
        let head = file::if_reachable(file::stat(&git.join("HEAD")))?;
        return Ok(head.filter(std::fs::Metadata::is_file).map(|_| git));
    }
    if !meta.is_file() || meta.len() > LONGEST {
        return Ok(None);
    }
    let text = text(&git)?.unwrap_or_default();
    Ok(text.strip_prefix("gitdir:").map(|dir| tree.join(dir.trim())))
}

/// The directory that all worktrees of a repository share: a file in a worktree's own directory names it.
fn shared_dir(own: &Path) -> Result<Option<PathBuf>, Unreadable> {
    let shared = text(&own.join("commondir"))?.map_or_else(|| own.into(), |dir| own.join(dir.trim()));
    match canonical(&shared)? {
        // A pruned worktree names a directory that is gone: `<repository>/.git/worktrees/<name>`.
        None => own.ancestors().nth(2).map_or(Ok(None), canonical),
        shared => Ok(shared),
    }
}

fn text(path: &Path) -> Result<Option<String>, Unreadable> {
    let bytes = file::if_reachable(file::there(path, || file::read(path)))?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

fn canonical(path: &Path) -> Result<Option<PathBuf>, Unreadable> {
    file::if_reachable(file::there(path, || std::fs::canonicalize(path)))
}
