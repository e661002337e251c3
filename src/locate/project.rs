//! Which project a directory belongs to: its git repository with all worktrees, found by reading `.git`; outside a
//! repository, the directory itself.

use std::path::{Path, PathBuf};

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

    /// A directory that is gone belongs where its nearest existing parent does, if that is in a repository.
    pub fn of(dir: &Path) -> Project {
        let existing = dir.ancestors().find(|dir| dir.exists());
        let there = existing.and_then(|existing| Some((existing, std::fs::canonicalize(existing).ok()?)));
        let Some((existing, real)) = there else { return Project(dir.into()) };
        let repository = real.ancestors().find_map(|dir| git_dir(&dir.join(".git")));
        Project(repository.unwrap_or_else(|| match dir.strip_prefix(existing) {
            Ok(gone) if !gone.as_os_str().is_empty() => real.join(gone),
            _ => real,
        }))
    }

    /// The directory it is known by. A directory keeps it when it becomes a repository.
    pub fn dir(&self) -> &Path {
        let git = self.0.file_name().is_some_and(|name| name == ".git");
        self.0.parent().filter(|_| git).unwrap_or(&self.0)
    }
}

/// The directory that all worktrees of a repository share. In a worktree, `.git` is a file that names the worktree's own
/// directory, and a file there names the shared one.
fn git_dir(git: &Path) -> Option<PathBuf> {
    if git.join("HEAD").is_file() {
        return std::fs::canonicalize(git).ok();
    }
    let text = crate::file::read_to_string(git).ok()?;
    let own = git.parent()?.join(text.strip_prefix("gitdir:")?.trim());
    let shared = match crate::file::read_to_string(&own.join("commondir")) {
        Ok(path) => own.join(path.trim()),
        Err(_) => own.clone(),
    };
    std::fs::canonicalize(&shared).ok().or_else(|| removed_worktree(&own))
}

/// A pruned worktree names a directory that is gone: `<repository>/.git/worktrees/<name>`.
fn removed_worktree(own: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(own.parent()?.parent()?).ok()
}
