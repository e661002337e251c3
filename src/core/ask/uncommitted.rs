//! Which files of a working tree are not committed, as git says.
//!
//! Git is asked with a list of arguments and few variables, takes no lock that it need not take, and is ended when it takes
//! too long. Without git, or outside of a repository, nothing is known.

use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use crate::env::Env;
use crate::process;
use crate::session::checkout;

/// Git gets so much time.
const LIMIT: Duration = Duration::from_secs(3);

/// Files and directories that have something in them that is not committed.
#[derive(Debug)]
pub struct Uncommitted(Vec<PathBuf>);

impl Uncommitted {
    /// None if nobody can tell.
    pub fn of(dir: &Path, env: &Env) -> Option<Uncommitted> {
        let top = checkout(env, dir)?;
        let answer = status(&top, env)?;
        // A record is two letters, a blank and a path below the top, and ends with NUL.
        let paths = answer.split(|byte| *byte == 0).filter_map(|record| {
            let path = record.get(3..).filter(|path| !path.is_empty())?;
            Some(top.join(PathBuf::from(std::ffi::OsString::from_vec(path.to_vec()))))
        });
        Some(Uncommitted(paths.collect()))
    }

    pub fn has(&self, path: &Path) -> bool {
        // The session may have gone there by a link.
        let real = match (path.parent().map(Path::canonicalize), path.file_name()) {
            (Some(Ok(dir)), Some(name)) => dir.join(name),
            _ => path.to_path_buf(),
        };
        self.0.iter().any(|known| real.starts_with(known))
    }
}

fn status(top: &Path, env: &Env) -> Option<Vec<u8>> {
    // A filter runs a program for each file, and so does a file that git has to fetch first. A repository that somebody else
    // made may set both.
    let sets = [
        "--get-regexp",
        r"^(filter\..*|extensions\.partialclone|remote\..*\.promisor)$",
    ];
    for scope in ["--local", "--worktree"] {
        let config = ["config", scope, "--includes", "--name-only"];
        let answer = git(top, env, &[&config[..], &sets].concat())?;
        // 1 is for "there is none".
        if answer.status.code() != Some(1) {
            return None;
        }
    }
    let status = ["status", "--porcelain", "-z", "--no-renames"];
    let only = ["--untracked-files=normal", "--ignore-submodules=all"];
    let answer = git(top, env, &[&status[..], &only].concat())?;
    answer.status.success().then_some(answer.stdout)
}

fn git(top: &Path, env: &Env, args: &[&str]) -> Option<Output> {
    let mut git = Command::new("git");
    git.args(["--no-optional-locks", "--no-pager"])
        // What a repository may set that runs a program.
        .args([
            "-c",
            "core.fsmonitor=false",
            "-c",
            "core.hooksPath=/dev/null",
        ])
        .args(args)
        .current_dir(top)
        .env_clear()
        .env("GIT_NO_LAZY_FETCH", "1");
    for name in ["HOME", "PATH", "XDG_CONFIG_HOME"] {
        git.envs(env.var(name).map(|value| (name, value)));
    }
    process::answer(&mut git, LIMIT).ok()
}
