//! Directories: what they list, and what the files in them are like.
//!
//! A look asks for every file that it knows and lists every directory that it may find others in. Most of what that costs is
//! the way down to a directory, so those that were asked for stay open here, and one is opened from the one above it.
//! That nothing is there is an answer; everything else that goes wrong is an error. There may be very many files, so the
//! path of one, a [`ListedPath`], and the id in it share the names that its directory listed.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::ffi::{CStr, OsStr, OsString};
use std::io;
use std::ops::{Deref, Range};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, SeekFrom, Stat, openat, seek, statat};

use crate::file::{self, Stamp, Unreadable};

/// So many directories stay open.
const KEPT_OPEN: usize = 64;

/// Directories that stay open.
#[derive(Default)]
pub struct Dirs {
    open: RefCell<Vec<(Vec<u8>, Rc<OwnedFd>)>>,
    /// For what the system lists.
    buffer: RefCell<Vec<u8>>,
}

/// The entries of a directory.
#[derive(Default)]
pub struct Listed {
    dir: Option<Rc<OwnedFd>>,
    names: Arc<Names>,
    entries: Vec<(Range<u32>, u64, FileType)>,
}

/// The path of a directory with a slash at its end, and the names of all that is in there, one after the other.
#[derive(Debug, Default)]
struct Names {
    bytes: Vec<u8>,
    dir: usize,
}

/// A part of a name that a directory listed, or any other text.
#[derive(Clone)]
pub struct ListedText {
    names: Arc<Names>,
    at: Range<u32>,
}

/// The path of a file, as a part of what its directory listed. It is put together when somebody wants it as a [`Path`].
#[derive(Clone)]
pub struct ListedPath {
    names: Arc<Names>,
    name: Range<u32>,
    whole: OnceLock<Arc<PathBuf>>,
}

/// A file or directory as its directory lists it.
#[derive(Clone, Copy)]
pub struct Entry<'l> {
    listed: &'l Listed,
    at: &'l Range<u32>,
    pub name: &'l OsStr,
    /// The number of the file, or of the link to it.
    pub inode: u64,
    kind: FileType,
}

/// The entries of a directory; none if it is not there. After an error only the rest is missing.
pub fn entries(dir: &Path, bad: &mut Vec<Unreadable>) -> Listed {
    Dirs::default().entries(dir, bad)
}

impl Dirs {
    /// The stamp of the file that a path leads to; none if nothing is there.
    pub fn stamp(&self, path: &Path) -> Result<Option<Stamp>, Unreadable> {
        // By its bytes, because this is asked for every session at every prompt.
        match split(path.as_os_str().as_bytes()).map(|(dir, name)| (self.beside_others(dir), name))
        {
            Some((Ok(dir), name)) => {
                file::there(path, || Ok(statat(&*dir, name, AtFlags::empty())?.into()))
            }
            // Whatever is wrong with the directory is said about the file.
            _ => Ok(file::stat(path)?.map(|meta| Stamp::from(&meta))),
        }
    }

    /// The entries of a directory; none if it is not there. After an error only the rest is missing.
    pub fn entries(&self, path: &Path, bad: &mut Vec<Unreadable>) -> Listed {
        let mut listed = Listed::default();
        let list = || {
            let dir = self.open(path.as_os_str().as_bytes())?;
            // It may have been listed before. A listing that was interrupted cannot go on, but it can begin again.
            seek(&*dir, SeekFrom::Start(0))?;
            let (mut bytes, mut entries) = (Vec::with_capacity(1 << 10), Vec::with_capacity(16));
            bytes.extend_from_slice(path.join("").as_os_str().as_bytes());
            let length = bytes.len();
            let result = each(
                dir.as_fd(),
                &mut self.buffer.borrow_mut(),
                &mut |name, inode, kind| {
                    // Nobody has four gigabytes of names in a directory; without this check a number could wrap.
                    let Ok(end) = u32::try_from(bytes.len() + name.count_bytes()) else {
                        return;
                    };
                    entries.push((bytes.len() as u32..end, inode, kind));
                    bytes.extend_from_slice(name.to_bytes());
                },
            );
            listed = Listed {
                dir: Some(dir),
                names: Arc::new(Names { bytes, dir: length }),
                entries,
            };
            result
        };
        bad.extend(file::there(path, list).err());
        listed
    }

    /// A directory that probably has others beside it, so that the one above is worth opening, too.
    fn beside_others(&self, path: &[u8]) -> io::Result<Rc<OwnedFd>> {
        if let (None, Some((above, _))) = (self.kept(path), split(path)) {
            self.open(above)?;
        }
        self.open(path)
    }

    fn open(&self, path: &[u8]) -> io::Result<Rc<OwnedFd>> {
        if let Some(dir) = self.kept(path) {
            return Ok(dir);
        }
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let above = split(path).and_then(|(above, name)| Some((self.kept(above)?, name)));
        let dir = Rc::new(match above {
            Some((above, name)) => openat(&*above, name, flags, Mode::empty())?,
            None => openat(CWD, path, flags, Mode::empty())?,
        });
        let mut open = self.open.borrow_mut();
        if open.len() == KEPT_OPEN {
            open.remove(0);
        }
        open.push((path.into(), dir.clone()));
        Ok(dir)
    }

    fn kept(&self, path: &[u8]) -> Option<Rc<OwnedFd>> {
        self.open
            .borrow()
            .iter()
            .rev()
            .find(|(open, _)| open == path)
            .map(|(_, dir)| dir.clone())
    }
}

impl Listed {
    pub fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        self.entries.iter().map(|(at, inode, kind)| {
            let name = OsStr::from_bytes(self.names.name(at));
            Entry {
                listed: self,
                at,
                name,
                inode: *inode,
                kind: *kind,
            }
        })
    }
}

impl Names {
    /// For a path or a text that no directory listed. Nobody has one of four gigabytes; it would be empty, because of one
    /// that was cut the last character might be broken.
    fn alone(bytes: Vec<u8>) -> (Arc<Names>, Range<u32>) {
        let end = u32::try_from(bytes.len()).unwrap_or_default();
        (Arc::new(Names { bytes, dir: 0 }), 0..end)
    }

    fn name(&self, at: &Range<u32>) -> &[u8] {
        &self.bytes[at.start as usize..at.end as usize]
    }

    fn path(&self, at: &Range<u32>) -> PathBuf {
        OsString::from_vec([&self.bytes[..self.dir], self.name(at)].concat()).into()
    }
}

impl Deref for ListedText {
    type Target = str;

    fn deref(&self) -> &str {
        // SAFETY: `Names::alone` was given a whole text, or `listed_text` found a text at this place; neither changes.
        unsafe { std::str::from_utf8_unchecked(self.names.name(&self.at)) }
    }
}

impl<T: Into<String>> From<T> for ListedText {
    fn from(text: T) -> ListedText {
        let (names, at) = Names::alone(text.into().into_bytes());
        ListedText { names, at }
    }
}

impl PartialEq for ListedText {
    fn eq(&self, other: &ListedText) -> bool {
        **self == **other
    }
}

impl std::fmt::Debug for ListedText {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

impl serde::Serialize for ListedText {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl ListedPath {
    /// The directory with a slash at its end, and the name; the path is one after the other.
    pub fn parts(&self) -> [&[u8]; 2] {
        [
            &self.names.bytes[..self.names.dir],
            self.names.name(&self.name),
        ]
    }

    /// A copy that is not kept here.
    pub fn to_path_buf(&self) -> PathBuf {
        self.names.path(&self.name)
    }

    /// Compares it with a path byte by byte: part by part would be several times slower.
    pub(crate) fn cmp_bytes(&self, path: &[u8]) -> Ordering {
        let [dir, name] = self.parts();
        match path.split_at_checked(dir.len()) {
            Some((start, rest)) => dir.cmp(start).then_with(|| name.cmp(rest)),
            // The directory alone is longer.
            None => dir.cmp(path),
        }
    }

    /// The same for two of them.
    pub(crate) fn cmp_listed(&self, other: &ListedPath) -> Ordering {
        let ([dir, name], [other_dir, other_name]) = (self.parts(), other.parts());
        if Arc::ptr_eq(&self.names, &other.names) {
            name.cmp(other_name)
        } else if dir.len() == other_dir.len() {
            dir.cmp(other_dir).then_with(|| name.cmp(other_name))
        } else {
            dir.iter()
                .chain(name)
                .cmp(other_dir.iter().chain(other_name))
        }
    }
}

impl Deref for ListedPath {
    type Target = Path;

    fn deref(&self) -> &Path {
        self.whole.get_or_init(|| self.to_path_buf().into())
    }
}

impl From<PathBuf> for ListedPath {
    fn from(path: PathBuf) -> ListedPath {
        let (names, name) = Names::alone(path.into_os_string().into_vec());
        ListedPath {
            names,
            name,
            whole: OnceLock::new(),
        }
    }
}

impl AsRef<Path> for ListedPath {
    fn as_ref(&self) -> &Path {
        self
    }
}

/// As paths: `a//b` is `a/b`.
impl<P: AsRef<Path>> PartialEq<P> for ListedPath {
    fn eq(&self, other: &P) -> bool {
        let ([_, name], other) = (self.parts(), other.as_ref());
        // Nearly all differ in their last part, and comparing part by part takes long.
        let last = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        other.as_os_str().as_bytes().ends_with(last) && **self == *other
    }
}

impl std::fmt::Debug for ListedPath {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.to_path_buf().fmt(f)
    }
}

impl Entry<'_> {
    pub fn path(&self) -> PathBuf {
        self.listed.names.path(self.at)
    }

    /// The same, in less memory.
    pub(crate) fn listed_path(&self) -> ListedPath {
        ListedPath {
            names: self.listed.names.clone(),
            name: self.at.clone(),
            whole: OnceLock::new(),
        }
    }

    /// A text that is a part of its name as a rule, in less memory then.
    pub(crate) fn listed_text(&self, text: &str) -> ListedText {
        let name = self.name.to_str().unwrap_or_default();
        // Most names begin with it, and looking for it takes longer.
        let start = if name.starts_with(text) {
            Some(0)
        } else {
            name.find(text)
        };
        // It ends no later than the name does, and that was checked.
        let at = start
            .map(|start| self.at.start + start as u32..self.at.start + (start + text.len()) as u32);
        at.map_or_else(
            || text.into(),
            |at| ListedText {
                names: self.listed.names.clone(),
                at,
            },
        )
    }

    /// Its own kind, which may be a link; none if it is gone by now.
    pub fn kind(&self) -> Result<Option<FileType>, Unreadable> {
        match self.kind {
            // Some file systems do not say it in a listing.
            FileType::Unknown => Ok(self
                .stat()?
                .map(|stat| FileType::from_raw_mode(stat.st_mode))),
            kind => Ok(Some(kind)),
        }
    }

    /// The stamp of the file that it leads to; none if nothing is there.
    pub fn stamp(&self) -> Result<Option<Stamp>, Unreadable> {
        match self.stat() {
            Ok(Some(stat)) if !FileType::from_raw_mode(stat.st_mode).is_symlink() => {
                Ok(Some(stat.into()))
            }
            _ => file::stamp(&self.path()),
        }
    }

    fn stat(&self) -> Result<Option<Stat>, Unreadable> {
        let dir = self.listed.dir.as_ref().map_or(CWD, |dir| dir.as_fd());
        let stat = || Ok(statat(dir, self.name, AtFlags::SYMLINK_NOFOLLOW)?);
        file::there(Path::new(""), stat).map_err(|bad| Unreadable {
            path: self.path(),
            ..bad
        })
    }
}

/// The directory of a path, and the name in there.
fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let slash = path
        .iter()
        .rposition(|byte| *byte == b'/')
        .filter(|slash| *slash > 0 && slash + 1 < path.len())?;
    Some((&path[..slash], &path[slash + 1..]))
}

type Each<'e> = &'e mut dyn FnMut(&CStr, u64, FileType);

#[cfg(target_os = "linux")]
fn each(dir: BorrowedFd, buffer: &mut Vec<u8>, each: Each) -> io::Result<()> {
    buffer.reserve(32 << 10);
    let mut all = rustix::fs::RawDir::new(dir, buffer.spare_capacity_mut());
    while let Some(entry) = all.next() {
        let entry = entry?;
        take(entry.file_name(), entry.ino(), entry.file_type(), each);
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn each(dir: BorrowedFd, _: &mut Vec<u8>, each: Each) -> io::Result<()> {
    for entry in rustix::fs::Dir::read_from(dir)? {
        let entry = entry?;
        take(entry.file_name(), entry.ino(), entry.file_type(), each);
    }
    Ok(())
}

fn take(name: &CStr, inode: u64, kind: FileType, each: Each) {
    if !matches!(name.to_bytes(), b"." | b"..") {
        each(name, inode, kind);
    }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::disallowed_methods,
        reason = "tests read the files that they made"
    )]

    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_what_is_not_there_is_silent() {
        let dir = tempfile::tempdir().expect("a directory");
        let circle = dir.path().join("circle");
        symlink(&circle, &circle).expect("a link");
        let mut bad = Vec::new();
        assert!(
            entries(&dir.path().join("none"), &mut bad)
                .iter()
                .next()
                .is_none()
                && bad.is_empty()
        );
        assert!(entries(&circle, &mut bad).iter().next().is_none());
        assert_eq!(
            bad.into_iter().map(|bad| bad.path).collect::<Vec<_>>(),
            [circle]
        );
    }

    /// However often and in whatever order a directory is asked for, through links and with more of them than stay open.
    #[test]
    fn each_listing_is_whole_and_each_stamp_is_the_files() {
        let root = tempfile::tempdir().expect("a directory");
        let (dirs, mut bad) = (Dirs::default(), Vec::new());
        let paths: Vec<PathBuf> = (0..2 * KEPT_OPEN)
            .map(|number| root.path().join(number.to_string()))
            .collect();
        for path in &paths {
            fs::create_dir(path).expect("a directory");
            fs::write(path.join("file"), path.to_str().expect("a name")).expect("a file");
            symlink("file", path.join("link")).expect("a link");
        }
        for path in paths.iter().chain(&paths[KEPT_OPEN..]).chain(&paths) {
            let stamp = Stamp::from(&fs::metadata(path.join("file")).expect("a file"));
            for name in ["file", "link"] {
                assert_eq!(dirs.stamp(&path.join(name)).expect("no error"), Some(stamp));
            }
            assert_eq!(dirs.stamp(&path.join("none")).expect("no error"), None);
            let listed = dirs.entries(path, &mut bad);
            let mut all: Vec<_> = listed
                .iter()
                .map(|entry| (entry.path(), entry.stamp().expect("no error")))
                .collect();
            all.sort_by(|(a, _), (b, _)| a.cmp(b));
            assert_eq!(
                all,
                [
                    (path.join("file"), Some(stamp)),
                    (path.join("link"), Some(stamp))
                ]
            );
            let links = listed.iter().filter(|entry| {
                entry
                    .kind()
                    .is_ok_and(|kind| kind == Some(FileType::Symlink))
            });
            assert_eq!(links.count(), 1);
        }
        assert_eq!(
            dirs.entries(root.path(), &mut bad).iter().count(),
            2 * KEPT_OPEN
        );
        assert!(bad.is_empty());
    }

    /// Paths and ids that share memory are what they would be each by itself, and so is their order.
    #[test]
    fn a_listed_path_is_the_path() {
        let root = tempfile::tempdir().expect("a directory");
        let dirs = ["a", "a/b", "a-b", "ab"].map(|dir| root.path().join(dir));
        let mut all: Vec<ListedPath> = ["", "x", "a//b", "/"]
            .map(|path| PathBuf::from(path).into())
            .to_vec();
        for dir in &dirs {
            fs::create_dir(dir).expect("a directory");
            for name in ["b.jsonl", "rollout-b.jsonl", "z"] {
                fs::write(dir.join(name), "").expect("a file");
            }
        }
        for dir in &dirs {
            for entry in entries(dir, &mut Vec::new()).iter() {
                let path = entry.listed_path();
                assert_eq!(
                    (&*path, path.to_path_buf()),
                    (&*dir.join(entry.name), dir.join(entry.name))
                );
                assert_eq!(
                    ["b", "rollout-b", "elsewhere", ""]
                        .map(|text| entry.listed_text(text).to_string()),
                    ["b", "rollout-b", "elsewhere", ""]
                );
                all.push(path);
            }
        }
        let bytes = |path: &ListedPath| path.as_os_str().as_bytes().to_vec();
        for (one, other) in all
            .iter()
            .flat_map(|one| all.iter().map(move |other| (one, other)))
        {
            let order = bytes(one).cmp(&bytes(other));
            assert_eq!(
                (one.cmp_listed(other), one.cmp_bytes(&bytes(other))),
                (order, order),
                "{one:?} {other:?}"
            );
            assert_eq!(one == other, order.is_eq());
        }
        assert_eq!(all[2], PathBuf::from("a/b"));
    }
}
