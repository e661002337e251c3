//! Whose words a transcript holds: the user's own sessions wrote it, or somebody else put it there.
//!
//! This is asked where sessions are listed, and there are two answers. A session is the user's own if its file belongs to the
//! user, not everybody may write to it, no version control around it tracks it, and no link led to it out of the directory
//! that its agent keeps sessions in. Whatever cannot be shown to be so is foreign: nobody is told of it.
//!
//! Git is not run: its index, a list of the tracked paths, is read once for each working tree, and only if a transcript lies
//! in one. What Mercurial, Jujutsu or Subversion track is not known here, so nothing below their directories is the user's.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::project::{Git, git};
use super::{Session, find};
use crate::env::Env;
use crate::file::{self, Access, Owners, Unreadable};
use session_format::hash::HashMap;

/// The origin of a transcript; nobody is told of another than the user's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trust {
    #[default]
    Own,
    Foreign(Why),
}

impl Trust {
    pub fn is_own(self) -> bool {
        self == Trust::Own
    }
}

/// True if a session is the user's own, for all that can be seen now.
pub fn is_own(session: &Session, env: &Env) -> Result<bool, Unreadable> {
    let Some(stamp) = file::stamp(&session.path)? else {
        return Ok(false);
    };
    Ok(Judge::new(env).trust(session, stamp.access, env)?.is_own())
}

/// Why a transcript is not the user's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// Git tracks it.
    Tracked,
    AnotherUser,
    /// Everybody may write to it.
    Open,
    /// A link leads to it, out of the directory of the sessions.
    Linked,
    /// Something around it may track it, and does not say.
    Unknown,
}

impl Why {
    /// As an end of "it is not told: …".
    pub fn as_str(self) -> &'static str {
        match self {
            Why::Tracked => "came with the repository (git tracks it)",
            Why::AnotherUser => "another user's file",
            Why::Open => "everybody may write to it",
            Why::Linked => "a link leads to it, out of the agent's directory",
            Why::Unknown => "may have come with a repository: what is tracked there cannot be read",
        }
    }
}

/// Marks of a directory that some other version control keeps, or that was unpacked from such a one.
const OTHER_VERSION_CONTROL: [&str; 8] = [
    ".hg",
    ".jj",
    ".svn",
    ".bzr",
    "_darcs",
    ".fslckout",
    ".hg_archival.txt",
    ".git_archival.txt",
];

/// Judges transcripts, and remembers the directories.
#[derive(Debug)]
pub struct Judge {
    owners: Owners,
    /// The surroundings of a directory, by its real path, or why they cannot be told.
    places: HashMap<PathBuf, Result<Rc<Around>, Unreadable>>,
    /// The directory that was asked about last: sessions are listed one directory after the other.
    last: Option<Rc<TranscriptDir>>,
}

/// A directory of transcripts.
#[derive(Debug)]
struct TranscriptDir {
    path: PathBuf,
    real: PathBuf,
    /// The directory that an agent keeps sessions in, without links; none if these were not found in one.
    root: Option<PathBuf>,
    /// It is not below that directory.
    is_outside: bool,
    place: Rc<Around>,
    /// Version control knows something in it. Where it does not, no file has to be looked for.
    has_tracked: bool,
}

/// The version control around the files of a directory.
#[derive(Debug, Default)]
struct Around {
    /// The nearest working tree.
    tree: Option<Rc<Tree>>,
    unknown: bool,
}

impl Around {
    /// The working trees, the nearest first.
    fn trees(&self) -> impl Iterator<Item = &Tree> {
        std::iter::successors(self.tree.as_deref(), |tree| tree.around.as_deref())
    }
}

#[derive(Debug)]
struct Tree {
    dir: PathBuf,
    /// A split index keeps most paths in a second file; one that was deleted since is still in there, and still counts.
    indexes: Vec<Index>,
    /// One that this one lies in.
    around: Option<Rc<Tree>>,
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
        Judge {
            owners: env.owners(),
            places: HashMap::default(),
            last: None,
        }
    }

    /// Judges the transcript of a session, or of one of its subagents.
    pub fn trust(
        &mut self,
        session: &Session,
        access: Access,
        env: &Env,
    ) -> Result<Trust, Unreadable> {
        let Access {
            owner,
            open,
            linked,
        } = access;
        let [dir, name] = match session.path.parts().map(OsStr::from_bytes) {
            // It was not found in a directory that was listed.
            [dir, _] if dir.is_empty() => [
                session.path.parent().map_or(dir, Path::as_os_str),
                session.path.file_name().unwrap_or(dir),
            ],
            parts => parts,
        };
        let root = || find::kept_in(session, env);
        // Outside the user's home it may be the system that keeps sessions for all.
        let is_system = || owner == 0 && root().is_some_and(|root| !root.starts_with(&env.home));
        if !self.owners.has(owner) && !is_system() {
            return Ok(Trust::Foreign(Why::AnotherUser));
        }
        if open {
            return Ok(Trust::Foreign(Why::Open));
        }
        let Some(dir) = self.dir(Path::new(dir), &root)? else {
            return Ok(Trust::Foreign(Why::Unknown));
        };
        let mut why = dir.place.unknown.then_some(Why::Unknown);
        if linked {
            match canonical(&session.path)? {
                Some(real) if is_outside(&real, dir.root.as_deref()) => why = Some(Why::Linked),
                Some(real) => why = self.around(&real)?,
                None => why = Some(Why::Unknown),
            }
        } else if dir.is_outside {
            why = Some(Why::Linked);
        } else if dir.has_tracked {
            why = self.around(&dir.real.join(name))?;
        }
        Ok(why.map_or(Trust::Own, Trust::Foreign))
    }

    /// True if a file or directory is the user's own, as far as its owner and its modes say.
    pub fn is_own(&self, access: Access) -> bool {
        self.owners.own(access)
    }

    /// A reason why a file, or anything in a directory, may not be the user's own: version control around it.
    pub fn tracks(&mut self, path: &Path) -> Result<Option<Why>, Unreadable> {
        // What a link leads to is tracked or not, and so is the link; here it is the link that counts.
        let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
            return Ok(None);
        };
        let Some(path) = canonical(dir)?.map(|dir| dir.join(name)) else {
            return Ok(None);
        };
        // A repository of its own may have been left behind there, as a submodule is by another branch.
        if git(self.owners, &path)?.is_some() || has_other(&path)? {
            return Ok(Some(Why::Tracked));
        }
        self.around(&path)
    }

    /// The same for a path without links.
    fn around(&mut self, real: &Path) -> Result<Option<Why>, Unreadable> {
        let place = real
            .parent()
            .map_or_else(|| Ok(Rc::default()), |dir| self.place(dir))?;
        Ok(if place.trees().any(|tree| tree.tracks(real)) {
            Some(Why::Tracked)
        } else {
            place.unknown.then_some(Why::Unknown)
        })
    }

    /// Looks at a directory of transcripts; none if it is gone by now.
    fn dir(
        &mut self,
        path: &Path,
        root: &dyn Fn() -> Option<PathBuf>,
    ) -> Result<Option<Rc<TranscriptDir>>, Unreadable> {
        let is_it = |dir: &&Rc<TranscriptDir>| dir.path.as_os_str() == path.as_os_str();
        if let Some(dir) = self.last.as_ref().filter(is_it) {
            return Ok(Some(dir.clone()));
        }
        let Some(real) = canonical(path)? else {
            return Ok(None);
        };
        let root = match root() {
            // A root that is gone has nothing in it.
            Some(root) => Some(canonical(&root)?.unwrap_or(root)),
            None => None,
        };
        let place = self.place(&real)?;
        let is_outside = is_outside(&real, root.as_deref());
        let has_tracked = place.trees().any(|tree| tree.may_track_in(&real));
        let dir = Rc::new(TranscriptDir {
            path: path.into(),
            is_outside,
            has_tracked,
            place,
            real,
            root,
        });
        self.last = Some(dir.clone());
        Ok(Some(dir))
    }

    fn place(&mut self, dir: &Path) -> Result<Rc<Around>, Unreadable> {
        if let Some(place) = self.places.get(dir) {
            return place.as_ref().map(Rc::clone).map_err(Unreadable::again);
        }
        let place = self.look_around(dir);
        self.places.insert(
            dir.into(),
            place.as_ref().map(Rc::clone).map_err(Unreadable::again),
        );
        place
    }

    fn look_around(&mut self, dir: &Path) -> Result<Rc<Around>, Unreadable> {
        let above = dir
            .parent()
            .map_or_else(|| Ok(Rc::default()), |above| self.place(above))?;
        let (mut tree, mut unknown) = (above.tree.clone(), above.unknown || has_other(dir)?);
        match git(self.owners, dir)? {
            Some(Git::Proven { own, .. }) => match indexes(&own) {
                Ok(indexes) => {
                    tree = Some(Rc::new(Tree {
                        dir: dir.into(),
                        indexes,
                        around: tree,
                    }));
                }
                Err(bad) if bad.error.kind() == io::ErrorKind::InvalidData => unknown = true,
                Err(bad) => return Err(bad),
            },
            Some(Git::Unproven) => unknown = true,
            None if unknown == above.unknown => return Ok(above),
            None => {}
        }
        Ok(Rc::new(Around { tree, unknown }))
    }
}

fn is_outside(real: &Path, root: Option<&Path>) -> bool {
    root.is_some_and(|root| !real.starts_with(root))
}

fn has_other(dir: &Path) -> Result<bool, Unreadable> {
    for name in OTHER_VERSION_CONTROL {
        if file::if_reachable(file::lstat(&dir.join(name)))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn canonical(path: &Path) -> Result<Option<PathBuf>, Unreadable> {
    file::there(path, || std::fs::canonicalize(path))
}

impl Tree {
    fn tracks(&self, path: &Path) -> bool {
        let Ok(below) = path.strip_prefix(&self.dir) else {
            return false;
        };
        let wanted = below.as_os_str().as_bytes();
        // What is in a directory comes after what is only called like it: `a.rs` before `a/b`.
        let is_past = |path: &[u8]| path > wanted && !path.starts_with(wanted);
        self.has(|path| is_it(path.iter().copied(), wanted.iter().copied()), is_past)
            // Where case is no difference, or some characters are none, the index may spell it in another way.
            || self.is_spelt_freely(below) && self.has_like(wanted)
    }

    /// False if no file in a directory is tracked, however it is spelt.
    fn may_track_in(&self, dir: &Path) -> bool {
        let below = dir.strip_prefix(&self.dir).map(Path::as_os_str);
        below.is_ok_and(|below| below.is_empty() || self.has_like(below.as_bytes()))
    }

    /// True if the index has a path that is spelt like this one.
    fn has_like(&self, wanted: &[u8]) -> bool {
        self.has(|path| is_it(plain(path), plain(wanted)), |_| false)
    }

    /// True if there is such a path, before one that is past it.
    fn has(&self, is_it: impl Fn(&[u8]) -> bool, is_past: impl Fn(&[u8]) -> bool) -> bool {
        self.indexes.iter().any(|index| {
            let mut found = false;
            parse(&index.bytes, index.id_length, &mut |path| {
                found = is_it(path);
                found || is_past(path)
            });
            found
        })
    }

    /// True if the file system takes another spelling of a path for the same.
    fn is_spelt_freely(&self, below: &Path) -> bool {
        let flip = |byte: &u8| {
            if byte.is_ascii_lowercase() {
                byte.to_ascii_uppercase()
            } else {
                byte.to_ascii_lowercase()
            }
        };
        let flipped: Vec<u8> = below.as_os_str().as_bytes().iter().map(flip).collect();
        let inode = |path: &Path| {
            file::lstat(path)
                .ok()
                .flatten()
                .map(|meta| (meta.dev(), meta.ino()))
        };
        let flipped = inode(&self.dir.join(OsStr::from_bytes(&flipped)));
        flipped.is_some() && flipped == inode(&self.dir.join(below))
    }
}

/// True if a path of an index is this file or directory, or lies in it, or is a directory around it: a sparse index has
/// directories as well, each with a slash at its end.
fn is_it(path: impl Iterator<Item = u8>, wanted: impl Iterator<Item = u8>) -> bool {
    let (mut path, mut wanted, mut last) = (path, wanted, 0);
    loop {
        match (path.next(), wanted.next()) {
            (Some(one), Some(other)) if one == other => last = one,
            (None | Some(b'/'), None) => return true,
            (None, Some(_)) => return last == b'/',
            _ => return false,
        }
    }
}

/// A path as it is compared where spelling is free: only its letters and digits, in lower case, and its slashes.
fn plain(path: &[u8]) -> impl Iterator<Item = u8> {
    let is_kept = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'/';
    path.iter().filter(is_kept).map(u8::to_ascii_lowercase)
}

fn indexes(git: &Path) -> Result<Vec<Index>, Unreadable> {
    let mut indexes: Vec<Index> = read_index(&git.join("index"))?.into_iter().collect();
    if let Some(split) = indexes.first().filter(|index| !index.shared.is_empty()) {
        indexes.extend(read_index(
            &git.join(format!("sharedindex.{}", split.shared)),
        )?);
    }
    Ok(indexes)
}

/// An index file, if there is one. What is too large, or no index of a version known here, is no data.
fn read_index(path: &Path) -> Result<Option<Index>, Unreadable> {
    /// Some half a million paths.
    const LARGEST_INDEX: u64 = 64 << 20;
    let Some(meta) = file::lstat(path)? else {
        return Ok(None);
    };
    if meta.len() > LARGEST_INDEX || !meta.is_file() {
        return Err(Unreadable::new(path, io::ErrorKind::InvalidData.into()));
    }
    let Some(bytes) = file::there(path, || file::read_up_to(path, LARGEST_INDEX))? else {
        return Ok(None);
    };
    let parsed = |id_length| Some((id_length, parse(&bytes, id_length, &mut |_| false)?));
    let parsed = [20, 32].into_iter().find_map(parsed);
    let index = parsed.map(|(id_length, shared)| {
        Some(Index {
            bytes,
            id_length,
            shared,
        })
    });
    index.ok_or_else(|| Unreadable::new(path, io::ErrorKind::InvalidData.into()))
}

/// Reads an index of version 2, 3 or 4 (gitformat-index(5)): a header, the entries, extensions, and a checksum. None if it
/// is anything else; else the id of the file that it is split from, unless `is_enough` stops it at a path.
fn parse(
    bytes: &[u8],
    id_length: usize,
    is_enough: &mut dyn FnMut(&[u8]) -> bool,
) -> Option<String> {
    /// The length of an entry before the object id.
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
        path.truncate(if version == 4 {
            path.len().checked_sub(varint(rest)?)?
        } else {
            0
        });
        path.extend_from_slice(rest.split_off(..memchr::memchr(0, rest)?)?);
        if is_enough(&path) {
            return Some(String::new());
        }
        // A NUL, or as many as fill it up to a multiple of eight.
        rest.split_off(
            ..if version == 4 {
                1
            } else {
                8 - (before - rest.len()) % 8
            },
        )?;
    }
    let mut shared = String::new();
    while !rest.is_empty() {
        let is_link = rest.split_off(..4)? == b"link";
        let length = number(rest)? as usize;
        let data = rest.split_off(..length)?;
        if is_link {
            let id = data.get(..id_length)?;
            let is_split = id.iter().any(|byte| *byte != 0);
            shared = id
                .iter()
                .filter(|_| is_split)
                .map(|byte| format!("{byte:02x}"))
                .collect();
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
        value = value
            .checked_mul(128)?
            .checked_add(usize::from(byte & 127))?;
        if byte & 128 == 0 {
            return Some(value);
        }
        value += 1;
    }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::disallowed_methods,
        reason = "tests read the files that they made"
    )]

    use super::*;
    use crate::file::Stamp;
    use session_format::time::Time;

    /// A session that was found nowhere in particular.
    fn session(path: PathBuf) -> Session<'static> {
        let formats = Box::leak(Box::new(crate::formats::known(Path::new("/nonexistent")).0));
        Session::new("x", &formats[0], None, path)
    }

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
            git.env("HOME", self.0.path())
                .env("PATH", "/usr/local/bin:/usr/bin:/bin")
                .env("GIT_CONFIG_NOSYSTEM", "1");
            let output = git.output().expect("git runs");
            assert!(
                output.status.success(),
                "git {args:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
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
            let stamp = Stamp::from(&std::fs::metadata(&path).expect("a file"));
            let is_link = std::fs::symlink_metadata(&path)
                .expect("a file")
                .is_symlink();
            let access = Access {
                linked: is_link,
                ..stamp.access
            };
            Judge::new(&env).trust(&session(path), access, &env)
        }

        #[track_caller]
        fn is(&self, below: &str, expected: Trust) {
            assert_eq!(
                self.try_trust(below).expect("an answer"),
                expected,
                "{below}"
            );
        }
    }

    const MINE: &str = "tree/.volute/pi-sessions/mine/2026_1.jsonl";
    const THEIRS: &str = "tree/.volute/pi-sessions/theirs/2026_2.jsonl";

    /// A repository that brings a transcript along, another one that is ignored, and one that git has not heard of.
    fn with_transcripts(init: &[&str]) -> Repository {
        let repository = Repository::new(init);
        for path in [
            MINE,
            THEIRS,
            "tree/.volute/pi-sessions/theirs/2026_3.jsonl",
            "tree/ignored/2026_4.jsonl",
        ] {
            repository.write(path);
        }
        std::fs::write(repository.path("tree/.gitignore"), "ignored\n").expect("a file");
        repository.git(&[
            "add",
            ".gitignore",
            ".volute/pi-sessions/theirs/2026_2.jsonl",
        ]);
        repository
    }

    #[track_caller]
    fn only_theirs_is_tracked(repository: &Repository) {
        repository.is(THEIRS, Trust::Foreign(Why::Tracked));
        repository.is("tree/.gitignore", Trust::Foreign(Why::Tracked));
        for own in [
            MINE,
            "tree/.volute/pi-sessions/theirs/2026_3.jsonl",
            "tree/ignored/2026_4.jsonl",
        ] {
            repository.is(own, Trust::Own);
        }
    }

    #[test]
    fn what_git_tracks_is_not_the_users_in_any_version_of_the_index() {
        let repository = with_transcripts(&[]);
        only_theirs_is_tracked(&repository);
        for version in ["4", "3", "2"] {
            repository.git(&[
                "update-index",
                "--force-write-index",
                "--index-version",
                version,
            ]);
            only_theirs_is_tracked(&repository);
        }
        // An entry with more flags makes it version 3.
        repository.write("tree/later.jsonl");
        repository.git(&["add", "--intent-to-add", "later.jsonl"]);
        assert_eq!(
            std::fs::read(repository.path("tree/.git/index")).expect("an index")[7],
            3
        );
        only_theirs_is_tracked(&repository);
        repository.is("tree/later.jsonl", Trust::Foreign(Why::Tracked));
        // Taken off the index, it is nobody else's any more.
        repository.git(&[
            "rm",
            "-q",
            "--cached",
            ".volute/pi-sessions/theirs/2026_2.jsonl",
        ]);
        repository.is(THEIRS, Trust::Own);
    }

    #[test]
    fn other_kinds_of_index() {
        only_theirs_is_tracked(&with_transcripts(&["--object-format=sha256"]));
        let split = with_transcripts(&[]);
        split.git(&["update-index", "--split-index"]);
        split.write("tree/more.jsonl");
        split.git(&["add", "more.jsonl"]);
        assert!(
            std::fs::read(split.path("tree/.git/index"))
                .expect("an index")
                .windows(4)
                .any(|at| at == b"link")
        );
        only_theirs_is_tracked(&split);
        split.is("tree/more.jsonl", Trust::Foreign(Why::Tracked));
        let sparse = with_transcripts(&[]);
        sparse.write("tree/deep/down/a.txt");
        sparse.git(&["add", "deep"]);
        sparse.git(&["commit", "-qm", "x"]);
        sparse.git(&["sparse-checkout", "set", "--sparse-index", ".volute"]);
        sparse.write("tree/deep/down/a.txt");
        only_theirs_is_tracked(&sparse);
        sparse.is("tree/deep/down/a.txt", Trust::Foreign(Why::Tracked));
    }

    #[test]
    fn a_worktree_has_an_index_of_its_own() {
        let repository = with_transcripts(&[]);
        repository.git(&["commit", "-qm", "x"]);
        repository.git(&["worktree", "add", "-q", "../other"]);
        repository.git(&[
            "rm",
            "-q",
            "--cached",
            ".volute/pi-sessions/theirs/2026_2.jsonl",
        ]);
        repository.is(THEIRS, Trust::Own);
        repository.is(
            "other/.volute/pi-sessions/theirs/2026_2.jsonl",
            Trust::Foreign(Why::Tracked),
        );
        repository.write("other/.volute/pi-sessions/mine/2026_1.jsonl");
        repository.is("other/.volute/pi-sessions/mine/2026_1.jsonl", Trust::Own);
    }

    #[test]
    fn links_are_followed_to_where_the_file_is() {
        let repository = with_transcripts(&[]);
        std::os::unix::fs::symlink(repository.path(THEIRS), repository.path("linked.jsonl"))
            .expect("a link");
        std::os::unix::fs::symlink(repository.path("tree"), repository.path("to-tree"))
            .expect("a link");
        repository.is("linked.jsonl", Trust::Foreign(Why::Tracked));
        repository.is(
            &THEIRS.replace("tree", "to-tree"),
            Trust::Foreign(Why::Tracked),
        );
        repository.is(&MINE.replace("tree", "to-tree"), Trust::Own);
    }

    /// A file system that takes `a` for `A` has one file by both names. Two names of one file are as near as others come.
    #[test]
    fn another_spelling_of_the_same_file_is_tracked() {
        let repository = Repository::new(&[]);
        repository.write("tree/DIR/ONE.JSONL");
        repository.write("tree/DIR/TWO.JSONL");
        repository.git(&["add", "-A"]);
        repository.write("tree/dir/two.jsonl");
        std::fs::hard_link(
            repository.path("tree/DIR/ONE.JSONL"),
            repository.path("tree/dir/one.jsonl"),
        )
        .expect("a link");
        repository.is("tree/dir/one.jsonl", Trust::Foreign(Why::Tracked));
        repository.is("tree/dir/two.jsonl", Trust::Own);
    }

    #[test]
    fn one_path_among_thousands() {
        let repository = Repository::new(&[]);
        for number in 0..2000 {
            // Names of every length around the places where entries are filled up.
            repository.write(&format!(
                "tree/dir{}/{}{number}.jsonl",
                number % 40,
                "x".repeat(number % 23)
            ));
        }
        repository.git(&["add", "."]);
        repository.write("tree/dir1/own.jsonl");
        for version in ["2", "4"] {
            repository.git(&["update-index", "--index-version", version]);
            let index = read_index(&repository.path("tree/.git/index"))
                .expect("an index")
                .expect("a file");
            let mut count = 0;
            parse(&index.bytes, index.id_length, &mut |_| {
                count += 1;
                false
            });
            assert_eq!(count, 2000, "version {version}");
            repository.is("tree/dir1/x1.jsonl", Trust::Foreign(Why::Tracked));
            repository.is(
                &format!("tree/dir39/{}1999.jsonl", "x".repeat(21)),
                Trust::Foreign(Why::Tracked),
            );
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
    fn what_a_broken_index_tracks_is_not_known() {
        let repository = with_transcripts(&[]);
        for version in ["2", "4"] {
            repository.git(&["update-index", "--index-version", version]);
            let path = repository.path("tree/.git/index");
            let whole = std::fs::read(&path).expect("an index");
            for length in 0..whole.len() {
                assert!(
                    parse(&whole[..length], 20, &mut |_| false).is_none(),
                    "version {version}, {length} bytes"
                );
                let mut wrong = whole.clone();
                wrong[length] ^= 0x81;
                let _ = [20, 32].map(|id_length| parse(&wrong, id_length, &mut |_| false));
            }
        }
        std::fs::write(repository.path("tree/.git/index"), "").expect("a file");
        repository.is(THEIRS, Trust::Foreign(Why::Unknown));
    }

    #[test]
    fn what_another_user_owns_is_not_the_users() {
        let home = tempfile::tempdir().expect("a directory");
        let env = Env::fixed(home.path(), home.path().into(), Time(0));
        let mut foreign = PathBuf::from("/proc/1/status");
        if env.user() == 0 {
            foreign = home.path().join("x.jsonl");
            std::fs::write(&foreign, "x").expect("a file");
            std::os::unix::fs::chown(&foreign, Some(12345), None)
                .expect("root may give files away");
        }
        let access = Stamp::from(&std::fs::metadata(&foreign).expect("a file")).access;
        assert_eq!(
            Judge::new(&env)
                .trust(&session(foreign.clone()), access, &env)
                .expect("an answer"),
            Trust::Foreign(Why::AnotherUser)
        );
        // The owner of HOME is the user, whoever runs this.
        let env = Env::fixed(&foreign, home.path().into(), Time(0));
        assert_eq!(
            Judge::new(&env)
                .trust(&session(foreign.clone()), access, &env)
                .expect("an answer"),
            Trust::Own
        );
    }
}
