//! Whose words a transcript holds: the user's own sessions wrote it, or somebody else put it there.
//!
//! A file that git tracks came with a repository, and one that belongs to another user came from that user. An agent must
//! see neither. Git is not run: its index, a list of the tracked paths, is read once for each working tree, and only if a
//! transcript lies in one.

use std::collections::{HashMap, HashSet};
use std::fs::Metadata;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::project::git_dir;
use crate::entry::Id;
use crate::env::Env;
use crate::file::{self, Unreadable};

/// Where a transcript comes from; an agent is shown only its user's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    Own,
    /// Git tracks it.
    Tracked,
    /// Another user owns it.
    Foreign,
}

/// Judges transcripts, and remembers the working trees.
pub struct Judge<'e> {
    env: &'e Env,
    /// The working tree that a directory lies in, if any.
    trees: HashMap<PathBuf, Option<Rc<Tree>>>,
}

struct Tree {
    dir: PathBuf,
    tracked: HashSet<Id>,
}

impl<'e> Judge<'e> {
    pub fn new(env: &'e Env) -> Judge<'e> {
        Judge { env, trees: HashMap::new() }
    }

    /// Whose a transcript is. The metadata are those of the file that was opened.
    pub fn trust(&mut self, path: &Path, meta: &Metadata) -> Result<Trust, Unreadable> {
        // Root with the home of a user reads that user's sessions.
        let is_own =
            meta.uid() == self.env.user() || file::stat(&self.env.home)?.is_some_and(|home| home.uid() == meta.uid());
        if !is_own {
            return Ok(Trust::Foreign);
        }
        // A link may lead into a working tree, or out of one.
        let path = std::fs::canonicalize(path).map_err(|error| Unreadable::new(path, error))?;
        let tree = path.parent().map_or(Ok(None), |dir| self.tree(dir))?;
        Ok(if tree.is_some_and(|tree| tree.tracks(&path)) { Trust::Tracked } else { Trust::Own })
    }

    fn tree(&mut self, dir: &Path) -> Result<Option<Rc<Tree>>, Unreadable> {
        if let Some(tree) = self.trees.get(dir) {
            return Ok(tree.clone());
        }
        let tree = match git_dir(dir)? {
            Some(git) => Some(Rc::new(Tree { dir: dir.into(), tracked: tracked(&git)? })),
            None => dir.parent().map_or(Ok(None), |above| self.tree(above))?,
        };
        self.trees.insert(dir.into(), tree.clone());
        Ok(tree)
    }
}

impl Tree {
    fn tracks(&self, path: &Path) -> bool {
        let Ok(below) = path.strip_prefix(&self.dir) else { return false };
        // A sparse index has directories as well, each with a slash at its end.
        let dirs = below.ancestors().skip(1).map(|dir| [dir.as_os_str().as_bytes(), b"/"].concat());
        self.tracked.contains(&Id::of(below.as_os_str().as_bytes()))
            || dirs.into_iter().any(|dir| self.tracked.contains(&Id::of(&dir)))
    }
}

/// The paths that a repository tracks in one working tree, as hashes. A split index keeps most of them in a second file; one
/// that was deleted since is still in there, and still counts.
fn tracked(git: &Path) -> Result<HashSet<Id>, Unreadable> {
    let (mut tracked, shared) = read_index(&git.join("index"))?;
    if let Some(shared) = shared {
        tracked.extend(read_index(&git.join(format!("sharedindex.{shared}")))?.0);
    }
    Ok(tracked)
}

/// The paths in an index file, and the id of the file that it is split from.
fn read_index(path: &Path) -> Result<(HashSet<Id>, Option<String>), Unreadable> {
    /// Some half a million paths.
    const LARGEST: u64 = 64 << 20;
    let Some(meta) = file::stat(path)? else { return Ok(Default::default()) };
    if meta.len() > LARGEST {
        return Err(Unreadable::new(path, io::Error::other("too large to tell which transcripts git tracks")));
    }
    let Some(bytes) = file::there(path, || file::read(path))? else { return Ok(Default::default()) };
    // The index does not say how long its object ids are: SHA-1's 20 bytes, or SHA-256's 32.
    let parsed = [20, 32].into_iter().find_map(|id_length| parse(&bytes, id_length));
    parsed.ok_or_else(|| Unreadable::new(path, io::Error::other("not an index of git, or of a version not known here")))
}

/// Reads an index of version 2, 3 or 4 (gitformat-index(5)): a header, the entries, extensions, and a checksum. None if it
/// is anything else.
fn parse(bytes: &[u8], id_length: usize) -> Option<(HashSet<Id>, Option<String>)> {
    /// What git knows of a file, before the object id.
    const STAT: usize = 40;
    const EXTENDED: u16 = 0x4000;
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let version = number(4).filter(|version| bytes.starts_with(b"DIRC") && (2..=4).contains(version))?;
    let mut paths = HashSet::new();
    let mut path = Vec::new();
    let mut at = 12;
    for _ in 0..number(8)? {
        let start = at;
        at += STAT + id_length;
        let flags = u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?);
        at += if flags & EXTENDED != 0 { 4 } else { 2 };
        let kept = if version == 4 { path.len().checked_sub(varint(bytes, &mut at)?)? } else { 0 };
        let rest = bytes.get(at..)?;
        let length = memchr::memchr(0, rest)?;
        path.truncate(kept);
        path.extend_from_slice(&rest[..length]);
        paths.insert(Id::of(&path));
        at += length + 1;
        if version < 4 {
            // Filled up with NULs to a multiple of eight.
            at = start + (at - start).next_multiple_of(8);
        }
    }
    let end = bytes.len().checked_sub(id_length)?;
    let mut shared = None;
    while at < end {
        let data = at + 8..at.checked_add(8)?.checked_add(number(at + 4)? as usize)?;
        if bytes.get(at..at + 4)? == b"link" {
            let id = bytes.get(data.start..data.start + id_length)?;
            shared = id.iter().any(|byte| *byte != 0).then(|| id.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        at = data.end;
    }
    (at == end).then_some((paths, shared))
}

/// A number as git packs it: seven bits to a byte, the highest first.
fn varint(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut value: usize = 0;
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value = value.checked_mul(128)?.checked_add(usize::from(byte & 127))?;
        if byte & 128 == 0 {
            return Some(value);
        }
        value += 1;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests read the files that they made")]

    use super::*;
    use crate::time::Time;

    /// A home with a repository in it, made by git itself.
    struct Repository(tempfile::TempDir);

    impl Repository {
        fn new(init: &[&str]) -> Repository {
            let repository = Repository(tempfile::tempdir().expect("a directory"));
            std::fs::create_dir(repository.path("tree")).expect("a directory");
            repository.git(&[&["init", "-q"], init].concat());
            repository
        }

        fn path(&self, below: &str) -> PathBuf {
            self.0.path().join(below)
        }

        fn git(&self, args: &[&str]) {
            let mut git = std::process::Command::new("git");
            git.args(["-c", "user.name=x", "-c", "user.email=x@x"])
                .args(args)
                .current_dir(self.path("tree"))
                .env_clear();
            git.env("HOME", self.0.path()).env("PATH", "/usr/local/bin:/usr/bin:/bin").env("GIT_CONFIG_NOSYSTEM", "1");
            let output = git.output().expect("git runs");
            assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        }

        fn write(&self, below: &str) -> PathBuf {
            let path = self.path(below);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
            std::fs::write(&path, "x\n").expect("a file");
            path
        }

        fn try_trust(&self, below: &str) -> Result<Trust, Unreadable> {
            let env = Env::fixed(self.0.path(), self.path("tree"), Time(0));
            let path = self.path(below);
            Judge::new(&env).trust(&path, &std::fs::metadata(&path).expect("a file"))
        }

        #[track_caller]
        fn is(&self, below: &str, expected: Trust) {
            assert_eq!(self.try_trust(below).expect("an answer"), expected, "{below}");
        }
    }

    const MINE: &str = "tree/.volute/pi-sessions/mine/2026_1.jsonl";
    const THEIRS: &str = "tree/.volute/pi-sessions/theirs/2026_2.jsonl";

    /// A repository that brings a transcript along, another one that is ignored, and one that git has not heard of.
    fn with_transcripts(init: &[&str]) -> Repository {
        let repository = Repository::new(init);
        for path in [MINE, THEIRS, "tree/.volute/pi-sessions/theirs/2026_3.jsonl", "tree/ignored/2026_4.jsonl"] {
            repository.write(path);
        }
        std::fs::write(repository.path("tree/.gitignore"), "ignored\n").expect("a file");
        repository.git(&["add", ".gitignore", ".volute/pi-sessions/theirs/2026_2.jsonl"]);
        repository
    }

    #[track_caller]
    fn only_theirs_is_tracked(repository: &Repository) {
        repository.is(THEIRS, Trust::Tracked);
        repository.is("tree/.gitignore", Trust::Tracked);
        for own in [MINE, "tree/.volute/pi-sessions/theirs/2026_3.jsonl", "tree/ignored/2026_4.jsonl"] {
            repository.is(own, Trust::Own);
        }
    }

    #[test]
    fn what_git_tracks_is_not_the_users_in_any_version_of_the_index() {
        let repository = with_transcripts(&[]);
        only_theirs_is_tracked(&repository);
        for version in ["4", "3", "2"] {
            repository.git(&["update-index", "--force-write-index", "--index-version", version]);
            only_theirs_is_tracked(&repository);
        }
        // An entry with more flags makes it version 3.
        repository.write("tree/later.jsonl");
        repository.git(&["add", "--intent-to-add", "later.jsonl"]);
        assert_eq!(std::fs::read(repository.path("tree/.git/index")).expect("an index")[7], 3);
        only_theirs_is_tracked(&repository);
        repository.is("tree/later.jsonl", Trust::Tracked);
        // Taken off the index, it is nobody else's any more.
        repository.git(&["rm", "-q", "--cached", ".volute/pi-sessions/theirs/2026_2.jsonl"]);
        repository.is(THEIRS, Trust::Own);
    }

    #[test]
    fn other_kinds_of_index() {
        only_theirs_is_tracked(&with_transcripts(&["--object-format=sha256"]));
        let split = with_transcripts(&[]);
        split.git(&["update-index", "--split-index"]);
        split.write("tree/more.jsonl");
        split.git(&["add", "more.jsonl"]);
        assert!(std::fs::read(split.path("tree/.git/index")).expect("an index").windows(4).any(|at| at == b"link"));
        only_theirs_is_tracked(&split);
        split.is("tree/more.jsonl", Trust::Tracked);
        let sparse = with_transcripts(&[]);
        sparse.write("tree/deep/down/a.txt");
        sparse.git(&["add", "deep"]);
        sparse.git(&["commit", "-qm", "x"]);
        sparse.git(&["sparse-checkout", "set", "--sparse-index", ".volute"]);
        sparse.write("tree/deep/down/a.txt");
        only_theirs_is_tracked(&sparse);
        sparse.is("tree/deep/down/a.txt", Trust::Tracked);
    }

    #[test]
    fn a_worktree_has_an_index_of_its_own() {
        let repository = with_transcripts(&[]);
        repository.git(&["commit", "-qm", "x"]);
        repository.git(&["worktree", "add", "-q", "../other"]);
        repository.git(&["rm", "-q", "--cached", ".volute/pi-sessions/theirs/2026_2.jsonl"]);
        repository.is(THEIRS, Trust::Own);
        repository.is("other/.volute/pi-sessions/theirs/2026_2.jsonl", Trust::Tracked);
        repository.write("other/.volute/pi-sessions/mine/2026_1.jsonl");
        repository.is("other/.volute/pi-sessions/mine/2026_1.jsonl", Trust::Own);
    }

    #[test]
    fn links_are_followed_to_where_the_file_is() {
        let repository = with_transcripts(&[]);
        std::os::unix::fs::symlink(repository.path(THEIRS), repository.path("linked.jsonl")).expect("a link");
        std::os::unix::fs::symlink(repository.path("tree"), repository.path("to-tree")).expect("a link");
        repository.is("linked.jsonl", Trust::Tracked);
        repository.is(&THEIRS.replace("tree", "to-tree"), Trust::Tracked);
        repository.is(&MINE.replace("tree", "to-tree"), Trust::Own);
    }

    #[test]
    fn one_path_among_thousands() {
        let repository = Repository::new(&[]);
        for number in 0..2000 {
            // Names of every length around the places where entries are filled up.
            repository.write(&format!("tree/dir{}/{}{number}.jsonl", number % 40, "x".repeat(number % 23)));
        }
        repository.git(&["add", "."]);
        repository.write("tree/dir1/own.jsonl");
        for version in ["2", "4"] {
            repository.git(&["update-index", "--index-version", version]);
            let (paths, _) = read_index(&repository.path("tree/.git/index")).expect("an index");
            assert_eq!(paths.len(), 2000, "version {version}");
            repository.is("tree/dir1/x1.jsonl", Trust::Tracked);
            repository.is(&format!("tree/dir39/{}1999.jsonl", "x".repeat(21)), Trust::Tracked);
            repository.is("tree/dir1/own.jsonl", Trust::Own);
        }
    }

    #[test]
    fn outside_a_repository_and_in_an_empty_one() {
        let repository = Repository::new(&[]);
        repository.write(MINE);
        repository.write("outside.jsonl");
        repository.is(MINE, Trust::Own);
        repository.is("outside.jsonl", Trust::Own);
    }

    /// Whatever is in the place of an index, there is an answer or an error: no panic, and never the user's word for it.
    #[test]
    fn a_broken_index_is_an_error() {
        let repository = with_transcripts(&[]);
        for version in ["2", "4"] {
            repository.git(&["update-index", "--index-version", version]);
            let path = repository.path("tree/.git/index");
            let whole = std::fs::read(&path).expect("an index");
            for length in 0..whole.len() {
                assert!(parse(&whole[..length], 20).is_none(), "version {version}, {length} bytes");
                let mut wrong = whole.clone();
                wrong[length] ^= 0x81;
                let _ = (parse(&wrong, 20), parse(&wrong, 32));
            }
        }
        std::fs::write(repository.path("tree/.git/index"), "").expect("a file");
        let error = repository.try_trust(THEIRS).expect_err("an error");
        assert_eq!(error.error.to_string(), "not an index of git, or of a version not known here");
    }

    #[test]
    fn what_another_user_owns_is_not_the_users() {
        let home = tempfile::tempdir().expect("a directory");
        let env = Env::fixed(home.path(), home.path().into(), Time(0));
        let mut foreign = PathBuf::from("/proc/1/status");
        if env.user() == 0 {
            foreign = home.path().join("x.jsonl");
            std::fs::write(&foreign, "x").expect("a file");
            std::os::unix::fs::chown(&foreign, Some(12345), None).expect("root may give files away");
        }
        let meta = std::fs::metadata(&foreign).expect("a file");
        assert_eq!(Judge::new(&env).trust(&foreign, &meta).expect("an answer"), Trust::Foreign);
        // The owner of HOME is the user, whoever runs this.
        let env = Env::fixed(&foreign, home.path().into(), Time(0));
        assert_eq!(Judge::new(&env).trust(&foreign, &meta).expect("an answer"), Trust::Own);
    }
}
