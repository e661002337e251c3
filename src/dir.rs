//! Directories: what they list, and what the files in them are like.
//!
//! A look asks for every file that it knows and lists every directory that it may find others in. Most of what that costs is
//! the way down to a directory, so those that were asked for stay open here, and one is opened from the one above it.
//! That nothing is there is an answer; everything else that goes wrong is an error.

use std::cell::RefCell;
use std::ffi::{CStr, OsStr};
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, SeekFrom, Stat, openat, seek, statat};

use crate::file::{self, Stamp, Unreadable};

/// How many directories stay open.
const MOST: usize = 64;

/// Directories that stay open.
#[derive(Default)]
pub struct Dirs {
    open: RefCell<Vec<(Vec<u8>, Rc<OwnedFd>)>>,
    /// For what the system lists.
    buffer: RefCell<Vec<u8>>,
}

/// What a directory lists.
#[derive(Default)]
pub struct Listed {
    path: PathBuf,
    dir: Option<Rc<OwnedFd>>,
    /// The names of all, one after the other.
    names: Vec<u8>,
    entries: Vec<(Range<usize>, u64, FileType)>,
}

/// A file or directory as its directory lists it.
#[derive(Clone, Copy)]
pub struct Entry<'l> {
    listed: &'l Listed,
    pub name: &'l OsStr,
    /// The number of the file, or of the link to it.
    pub inode: u64,
    kind: FileType,
}

/// What a directory lists; nothing if it is not there. After an error only the rest is missing.
pub fn entries(dir: &Path, bad: &mut Vec<Unreadable>) -> Listed {
    Dirs::default().entries(dir, bad)
}

impl Dirs {
    /// What the file is like that a path leads to; none if nothing is there.
    pub fn stamp(&self, path: &Path) -> Result<Option<Stamp>, Unreadable> {
        // By its bytes, because this is asked for every session at every prompt.
        match split(path.as_os_str().as_bytes()).map(|(dir, name)| (self.beside_others(dir), name)) {
            Some((Ok(dir), name)) => file::there(path, || Ok(statat(&*dir, name, AtFlags::empty())?.into())),
            // Whatever is wrong with the directory is said about the file.
            _ => Ok(file::stat(path)?.map(|meta| Stamp::from(&meta))),
        }
    }

    /// What a directory lists; nothing if it is not there. After an error only the rest is missing.
    pub fn entries(&self, path: &Path, bad: &mut Vec<Unreadable>) -> Listed {
        let mut listed = Listed::default();
        let list = || {
            let dir = self.open(path.as_os_str().as_bytes())?;
            // It may have been listed before. A listing that was interrupted cannot go on, but it can begin again.
            seek(&*dir, SeekFrom::Start(0))?;
            let (names, entries) = (Vec::with_capacity(1 << 10), Vec::with_capacity(16));
            listed = Listed { path: path.into(), dir: Some(dir.clone()), names, entries };
            each(dir.as_fd(), &mut self.buffer.borrow_mut(), &mut |name, inode, kind| {
                let start = listed.names.len();
                listed.names.extend_from_slice(name.to_bytes());
                listed.entries.push((start..listed.names.len(), inode, kind));
            })
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
        if open.len() == MOST {
            open.remove(0);
        }
        open.push((path.into(), dir.clone()));
        Ok(dir)
    }

    fn kept(&self, path: &[u8]) -> Option<Rc<OwnedFd>> {
        self.open.borrow().iter().rev().find(|(open, _)| open == path).map(|(_, dir)| dir.clone())
    }
}

impl Listed {
    pub fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        self.entries.iter().map(|(name, inode, kind)| {
            let name = OsStr::from_bytes(&self.names[name.clone()]);
            Entry { listed: self, name, inode: *inode, kind: *kind }
        })
    }
}

impl Entry<'_> {
    pub fn path(&self) -> PathBuf {
        self.listed.path.join(self.name)
    }

    /// What it is itself, which may be a link; none if it is gone by now.
    pub fn kind(&self) -> Result<Option<FileType>, Unreadable> {
        match self.kind {
            // Some file systems do not say it in a listing.
            FileType::Unknown => Ok(self.stat()?.map(|stat| FileType::from_raw_mode(stat.st_mode))),
            kind => Ok(Some(kind)),
        }
    }

    /// What the file is like that it leads to; none if nothing is there.
    pub fn stamp(&self) -> Result<Option<Stamp>, Unreadable> {
        match self.stat() {
            Ok(Some(stat)) if !FileType::from_raw_mode(stat.st_mode).is_symlink() => Ok(Some(stat.into())),
            _ => Ok(file::stat(&self.path())?.map(|meta| Stamp::from(&meta))),
        }
    }

    fn stat(&self) -> Result<Option<Stat>, Unreadable> {
        let dir = self.listed.dir.as_ref().map_or(CWD, |dir| dir.as_fd());
        let stat = || Ok(statat(dir, self.name, AtFlags::SYMLINK_NOFOLLOW)?);
        file::there(Path::new(""), stat).map_err(|bad| Unreadable { path: self.path(), ..bad })
    }
}

/// The directory of a path, and the name in there.
fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let slash = path.iter().rposition(|byte| *byte == b'/').filter(|slash| *slash > 0 && slash + 1 < path.len())?;
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
    #![allow(clippy::disallowed_methods, reason = "tests read the files that they made")]

    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_what_is_not_there_is_silent() {
        let dir = tempfile::tempdir().expect("a directory");
        let circle = dir.path().join("circle");
        symlink(&circle, &circle).expect("a link");
        let mut bad = Vec::new();
        assert!(entries(&dir.path().join("none"), &mut bad).iter().next().is_none() && bad.is_empty());
        assert!(entries(&circle, &mut bad).iter().next().is_none());
        assert_eq!(bad.into_iter().map(|bad| bad.path).collect::<Vec<_>>(), [circle]);
    }

    /// However often and in whatever order a directory is asked for, through links and with more of them than stay open.
    #[test]
    fn each_listing_is_whole_and_each_stamp_is_the_files() {
        let root = tempfile::tempdir().expect("a directory");
        let (dirs, mut bad) = (Dirs::default(), Vec::new());
        let paths: Vec<PathBuf> = (0..2 * MOST).map(|number| root.path().join(number.to_string())).collect();
        for path in &paths {
            fs::create_dir(path).expect("a directory");
            fs::write(path.join("file"), path.to_str().expect("a name")).expect("a file");
            symlink("file", path.join("link")).expect("a link");
        }
        for path in paths.iter().chain(&paths[MOST..]).chain(&paths) {
            let stamp = Stamp::from(&fs::metadata(path.join("file")).expect("a file"));
            for name in ["file", "link"] {
                assert_eq!(dirs.stamp(&path.join(name)).expect("no error"), Some(stamp));
            }
            assert_eq!(dirs.stamp(&path.join("none")).expect("no error"), None);
            let listed = dirs.entries(path, &mut bad);
            let mut all: Vec<_> = listed.iter().map(|entry| (entry.path(), entry.stamp().expect("no error"))).collect();
            all.sort_by(|(a, _), (b, _)| a.cmp(b));
            assert_eq!(all, [(path.join("file"), Some(stamp)), (path.join("link"), Some(stamp))]);
            let links = listed.iter().filter(|entry| entry.kind().is_ok_and(|kind| kind == Some(FileType::Symlink)));
            assert_eq!(links.count(), 1);
        }
        assert_eq!(dirs.entries(root.path(), &mut bad).iter().count(), 2 * MOST);
        assert!(bad.is_empty());
    }
}
