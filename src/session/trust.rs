//! Whose words a transcript holds: the user's own sessions wrote it, or somebody else put it there.
//!
//! A file that git tracks came with a repository, and one that belongs to another user came from that user. An agent must
//! see neither. Git is not run: its index, a sorted list of the tracked paths, is read once for each working tree, and only
//! if a transcript lies in one.

use std::collections::HashMap;
use std::fs::Metadata;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::project::git_dir;
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
#[derive(Debug)]
pub struct Judge {
    /// The user, and the one whose home directory it is: root with the home of a user reads that user's sessions.
    users: [Option<u32>; 2],
    /// The working tree that a directory lies in, if any.
    trees: HashMap<PathBuf, Option<Rc<Tree>>>,
}

#[derive(Debug)]
struct Tree {
    dir: PathBuf,
    /// A split index keeps most paths in a second file; one that was deleted since is still in there, and still counts.
    indexes: Vec<Index>,
}

/// An index file that was read through once.
#[derive(Debug)]
struct Index {
    bytes: Vec<u8>,
    /// It does not say how long its object ids are: SHA-1's 20 bytes, or SHA-256's 32.
    id_length: usize,
    /// The id of the file that it is split from; empty if it is whole.
    shared: String,
}

impl Judge {
    pub fn new(env: &Env) -> Judge {
        let at_home = file::stat(&env.home).ok().flatten().map(|home| home.uid());
        Judge { users: [Some(env.user()), at_home], trees: HashMap::new() }
    }

    /// Whether the user owns a file or directory.
    pub fn is_own(&self, meta: &Metadata) -> bool {
        self.users.contains(&Some(meta.uid()))
    }

    /// Whose a transcript is. The metadata are those of the file that was opened.
    pub fn trust(&mut self, path: &Path, meta: &Metadata) -> Result<Trust, Unreadable> {
        if !self.is_own(meta) {
            return Ok(Trust::Foreign);
        }
        Ok(if self.is_tracked(path)? { Trust::Tracked } else { Trust::Own })
    }

    /// Whether git tracks a file, or anything in a directory.
    pub fn is_tracked(&mut self, path: &Path) -> Result<bool, Unreadable> {
        // A link may lead into a working tree, or out of one.
        let path = std::fs::canonicalize(path).map_err(|error| Unreadable::new(path, error))?;
        let tree = path.parent().map_or(Ok(None), |dir| self.tree(dir))?;
        Ok(tree.is_some_and(|tree| tree.tracks(&path)))
    }

    fn tree(&mut self, dir: &Path) -> Result<Option<Rc<Tree>>, Unreadable> {
        if let Some(tree) = self.trees.get(dir) {
            return Ok(tree.clone());
        }
        let tree = match git_dir(dir)? {
            Some(git) => Some(Rc::new(Tree { dir: dir.into(), indexes: indexes(&git)? })),
            None => dir.parent().map_or(Ok(None), |above| self.tree(above))?,
        };
        self.trees.insert(dir.into(), tree.clone());
        Ok(tree)
    }
}

impl Tree {
    fn tracks(&self, path: &Path) -> bool {
        let Ok(below) = path.strip_prefix(&self.dir) else { return false };
        let wanted = below.as_os_str().as_bytes();
        let is_below = |path: &[u8], dir: &[u8]| path.strip_prefix(dir).is_some_and(|rest| rest.starts_with(b"/"));
        // A sparse index has directories as well, each with a slash at its end.
        let is_in = |path: &[u8]| path.ends_with(b"/") && wanted.starts_with(path);
        self.indexes.iter().any(|index| {
            let mut found = false;
            parse(&index.bytes, index.id_length, &mut |path| {
                found = path == wanted || is_below(path, wanted) || is_in(path);
                // What is in a directory comes after what is only called like it: `a.rs` before `a/b`.
                found || path > wanted && !path.starts_with(wanted)
            });
            found
        })
    }
}

fn indexes(git: &Path) -> Result<Vec<Index>, Unreadable> {
    let mut indexes: Vec<Index> = read_index(&git.join("index"))?.into_iter().collect();
    if let Some(split) = indexes.first().filter(|index| !index.shared.is_empty()) {
        indexes.extend(read_index(&git.join(format!("sharedindex.{}", split.shared)))?);
    }
    Ok(indexes)
}

/// An index file, if there is one.
fn read_index(path: &Path) -> Result<Option<Index>, Unreadable> {
    /// Some half a million paths.
    const LARGEST: u64 = 64 << 20;
    let Some(meta) = file::stat(path)? else { return Ok(None) };
    if meta.len() > LARGEST {
        return Err(Unreadable::new(path, io::Error::other("too large to tell which transcripts git tracks")));
    }
    let Some(bytes) = file::there(path, || file::read(path))? else { return Ok(None) };
    let parsed = |id_length| Some((id_length, parse(&bytes, id_length, &mut |_| false)?));
    let parsed = [20, 32].into_iter().find_map(parsed);
    let index = parsed.map(|(id_length, shared)| Some(Index { bytes, id_length, shared }));
    index.ok_or_else(|| Unreadable::new(path, io::Error::other("not an index of git, or of a version not known here")))
}

/// Reads an index of version 2, 3 or 4 (gitformat-index(5)): a header, the entries, extensions, and a checksum. None if it
/// is anything else; else the id of the file that it is split from, unless `is_enough` stops it at a path.
fn parse(bytes: &[u8], id_length: usize, is_enough: &mut dyn FnMut(&[u8]) -> bool) -> Option<String> {
    /// What git knows of a file, before the object id.
    const STAT: usize = 40;
    const EXTENDED: u8 = 0x40;
    let rest = &mut bytes.get(..bytes.len().checked_sub(id_length)?)?;
    let is_index = rest.split_off(..4)? == b"DIRC";
    let version = number(rest).filter(|version| is_index && (2..=4).contains(version))?;
    let mut path = Vec::new();
    for _ in 0..number(rest)? {
        let before = rest.len();
        rest.split_off(..STAT + id_length)?;
        if rest.split_off(..2)?[0] & EXTENDED != 0 {
            rest.split_off(..2)?;
        }
        path.truncate(if version == 4 { path.len().checked_sub(varint(rest)?)? } else { 0 });
        path.extend_from_slice(rest.split_off(..memchr::memchr(0, rest)?)?);
        if is_enough(&path) {
            return Some(String::new());
        }
        // A NUL, or as many as fill it up to a multiple of eight.
        rest.split_off(..if version == 4 { 1 } else { 8 - (before - rest.len()) % 8 })?;
    }
    let mut shared = String::new();
    while !rest.is_empty() {
        let is_link = rest.split_off(..4)? == b"link";
        let length = number(rest)? as usize;
        let data = rest.split_off(..length)?;
        if is_link {
            let id = data.get(..id_length)?;
            let is_split = id.iter().any(|byte| *byte != 0);
            shared = id.iter().filter(|_| is_split).map(|byte| format!("{byte:02x}")).collect();
        }
    }
    Some(shared)
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(rest.split_off(..4)?.try_into().ok()?))
}

/// A number as git packs it: seven bits to a byte, the highest first.
fn varint(rest: &mut &[u8]) -> Option<usize> {
    let mut value: usize = 0;
    loop {
        let byte = *rest.split_off_first()?;
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
            let index = read_index(&repository.path("tree/.git/index")).expect("an index").expect("a file");
            let mut count = 0;
            parse(&index.bytes, index.id_length, &mut |_| {
                count += 1;
                false
            });
            assert_eq!(count, 2000, "version {version}");
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
                assert!(parse(&whole[..length], 20, &mut |_| false).is_none(), "version {version}, {length} bytes");
                let mut wrong = whole.clone();
                wrong[length] ^= 0x81;
                let _ = [20, 32].map(|id_length| parse(&wrong, id_length, &mut |_| false));
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
