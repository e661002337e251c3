//! Opening files without being tricked.
//!
//! Opening a named pipe instead of a file would wait for ever; here it is an error. Our own files are never opened through a
//! symbolic link: a cloned repository could point it at any file of the user.

use std::ffi::OsStr;
use std::fs::{File, Metadata, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use rustix::fs::OFlags;

use session_format::hash::Seeded;
use session_format::time::Time;

/// `O_NONBLOCK`: opening does not wait for the other end of a pipe. Without meaning for a file.
const NO_WAIT: OFlags = OFlags::NONBLOCK;

pub const LINK: &str = "a symbolic link, which is not followed here; remove it";

/// Opens a file for reading.
pub fn open(path: &Path) -> io::Result<File> {
    open_stated(path).map(|(file, _)| file)
}

/// The same, with what the file is like.
pub(crate) fn open_stated(path: &Path) -> io::Result<(File, Metadata)> {
    open_with(OpenOptions::new().read(true), OFlags::empty(), path)
}

/// Opens one of our own files as the options say. A symbolic link in its place is an error.
pub(crate) fn open_own(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    open_own_with(options, path).map(|(file, _)| file)
}

/// The same, with what the file is like.
pub(crate) fn open_own_with(
    options: &mut OpenOptions,
    path: &Path,
) -> io::Result<(File, Metadata)> {
    open_with(options, OFlags::NOFOLLOW, path).map_err(|error| {
        if is_loop(&error) {
            io::Error::other(LINK)
        } else {
            error
        }
    })
}

fn open_with(
    options: &mut OpenOptions,
    flags: OFlags,
    path: &Path,
) -> io::Result<(File, Metadata)> {
    let file = options
        .custom_flags((NO_WAIT | flags).bits() as i32)
        .open(path)?;
    let meta = file.metadata()?;
    match meta.file_type() {
        kind if kind.is_file() => Ok((file, meta)),
        kind if kind.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        _ => Err(io::Error::other("neither a file nor a directory")),
    }
}

/// When an open file was made, after 1970, where the file system knows. With musl, as the hook is built, the standard library
/// does not ask for it.
pub fn created(file: &File, meta: &Metadata) -> Option<Duration> {
    let made = meta.created().ok();
    made.and_then(|made| made.duration_since(UNIX_EPOCH).ok())
        .or_else(|| birth(file))
}

#[cfg(target_os = "linux")]
fn birth(file: &File) -> Option<Duration> {
    use rustix::fs::{AtFlags, StatxFlags, statx};
    let stat = statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::BTIME).ok()?;
    let is_known = stat.stx_mask & StatxFlags::BTIME.bits() != 0;
    let seconds = u64::try_from(stat.stx_btime.tv_sec).ok()?;
    is_known.then(|| Duration::new(seconds, stat.stx_btime.tv_nsec))
}

#[cfg(not(target_os = "linux"))]
fn birth(_: &File) -> Option<Duration> {
    None
}

pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a small file of others. One that is larger than such files are is an error.
pub(crate) fn read_up_to(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if open(path)?.take(most + 1).read_to_end(&mut bytes)? as u64 > most {
        return Err(io::Error::other(format!("larger than {most} bytes")));
    }
    Ok(bytes)
}

/// Reads one of our own files. One that is larger than we would ever write it came from somebody else.
pub fn read_own(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let (file, meta) = open_own_with(OpenOptions::new().read(true), path)?;
    // Room for all of it and for one byte more, so that it is read in one go.
    let mut bytes = Vec::with_capacity(meta.len().min(most) as usize + 1);
    while bytes.len() as u64 <= most {
        bytes.reserve(1);
        match rustix::io::read(&file, rustix::buffer::spare_capacity(&mut bytes)) {
            Ok(0) => return Ok(bytes),
            Err(rustix::io::Errno::INTR) | Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::Error::other(format!(
        "larger than {most} bytes, and so not written by us; remove it"
    )))
}

/// As much of a file as there are bytes wanted of it.
pub fn beginning(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens what the user named as something to write to, and what is no file: a pipe or a device.
pub fn open_stream(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(path)
}

pub fn read_to_string(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// A name beside a file that nobody has and that is hard to guess, for what is written there before it takes the file's
/// place. Whoever makes it makes it anew or not at all.
pub fn temporary_beside(path: &Path) -> PathBuf {
    let random = Seeded::default().build_hasher().finish();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{random:016x}.tmp"))
}

/// [`temporary_beside`] made the name.
pub fn is_temporary(name: &OsStr) -> bool {
    let stem = name
        .to_str()
        .and_then(|name| name.strip_prefix('.')?.strip_suffix(".tmp"));
    let random = stem
        .and_then(|stem| stem.rsplit_once('.'))
        .map(|(_, random)| random);
    random.is_some_and(|random| {
        random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Tells one state of a file from another.
#[derive(Debug, Clone, Copy, serde::Serialize, serde::Deserialize)]
#[serde(from = "(u64, u64, u64, i64)", into = "(u64, u64, u64, i64)")]
pub struct Stamp {
    pub device: u64,
    pub inode: u64,
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified: i64,
    /// When anything about the file last changed, by its own account or the file system's. A copy that keeps the old
    /// modification time is new by this. It is not remembered.
    pub changed: i64,
    /// Not remembered either.
    pub access: Access,
}

/// Says who may have written a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    pub owner: u32,
    /// Anybody may write to it.
    pub open: bool,
    /// A link led to it.
    pub linked: bool,
}

impl Access {
    /// Nobody's, for what was not looked at.
    const UNKNOWN: Access = Access {
        owner: u32::MAX,
        open: true,
        linked: false,
    };

    fn new(owner: u32, mode: u32) -> Access {
        Access {
            owner,
            open: mode & 0o002 != 0,
            linked: false,
        }
    }

    /// Nobody but this user can have written it.
    pub(crate) fn is_only(self, user: u32) -> bool {
        self.owner == user && !self.open
    }

    /// The same file, reached through a link.
    pub fn linked(self) -> Access {
        Access {
            linked: true,
            ..self
        }
    }
}

/// The user, and the one whose home directory it is: root with the home of a user reads that user's sessions.
#[derive(Debug, Clone, Copy)]
pub struct Owners(pub [u32; 2]);

impl Owners {
    pub fn has(self, owner: u32) -> bool {
        self.0.contains(&owner)
    }

    /// Nobody but the user can have written the file.
    pub fn own(self, access: Access) -> bool {
        self.has(access.owner) && !access.open
    }

    /// Root could do anything to the user anyway.
    pub(crate) fn has_or_root(self, owner: u32) -> bool {
        owner == 0 || self.has(owner)
    }
}

impl Stamp {
    pub fn modified_at(&self) -> Time {
        Time::from_nanos(self.modified)
    }

    pub fn changed_at(&self) -> Time {
        Time::from_nanos(self.changed)
    }
}

impl PartialEq for Stamp {
    fn eq(&self, other: &Stamp) -> bool {
        <(u64, u64, u64, i64)>::from(*self) == (*other).into()
    }
}

impl From<(u64, u64, u64, i64)> for Stamp {
    fn from((device, inode, size, modified): (u64, u64, u64, i64)) -> Stamp {
        Stamp {
            device,
            inode,
            size,
            modified,
            changed: modified,
            access: Access::UNKNOWN,
        }
    }
}

impl From<Stamp> for (u64, u64, u64, i64) {
    fn from(stamp: Stamp) -> (u64, u64, u64, i64) {
        (stamp.device, stamp.inode, stamp.size, stamp.modified)
    }
}

impl From<&Metadata> for Stamp {
    fn from(meta: &Metadata) -> Stamp {
        let (modified, changed) = (
            nanos(meta.mtime(), meta.mtime_nsec()),
            nanos(meta.ctime(), meta.ctime_nsec()),
        );
        let (device, inode, size) = (meta.dev(), meta.ino(), meta.size());
        let access = Access::new(meta.uid(), meta.mode());
        Stamp {
            changed: modified.max(changed),
            access,
            ..Stamp::from((device, inode, size, modified))
        }
    }
}

#[allow(
    clippy::unnecessary_cast,
    clippy::cast_lossless,
    reason = "the types differ from system to system"
)]
impl From<rustix::fs::Stat> for Stamp {
    fn from(stat: rustix::fs::Stat) -> Stamp {
        let modified = nanos(stat.st_mtime as i64, stat.st_mtime_nsec as i64);
        let changed = nanos(stat.st_ctime as i64, stat.st_ctime_nsec as i64);
        let (device, inode, size) = (stat.st_dev as u64, stat.st_ino as u64, stat.st_size as u64);
        let access = Access::new(stat.st_uid, stat.st_mode as u32);
        Stamp {
            changed: modified.max(changed),
            access,
            ..Stamp::from((device, inode, size, modified))
        }
    }
}

fn nanos(seconds: i64, nanos: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

/// A file or directory that could not be read, or not be used.
#[derive(Debug)]
pub struct Unreadable {
    pub path: PathBuf,
    pub error: io::Error,
}

impl Unreadable {
    pub fn new(path: &Path, error: io::Error) -> Unreadable {
        Unreadable {
            path: path.into(),
            error,
        }
    }

    /// A file that is gone by now is no trouble.
    pub(crate) fn unless_gone(path: &Path, error: io::Error) -> Option<Unreadable> {
        (error.kind() != io::ErrorKind::NotFound).then(|| Unreadable::new(path, error))
    }

    /// A copy; the system's errors have none of their own.
    pub fn again(&self) -> Unreadable {
        Unreadable::new(
            &self.path,
            io::Error::new(self.error.kind(), self.error.to_string()),
        )
    }

    /// The answer, if there is one; an error joins the others.
    pub fn noted<T>(answer: Result<Option<T>, Unreadable>, bad: &mut Vec<Unreadable>) -> Option<T> {
        answer.unwrap_or_else(|error| {
            bad.push(error);
            None
        })
    }
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self.error.kind() {
            // The system's words for it say nothing about a file.
            io::ErrorKind::UnexpectedEof => {
                write!(
                    f,
                    "{}: got shorter while it was read; try again",
                    self.path.display()
                )
            }
            _ => write!(f, "{}: {}", self.path.display(), self.error),
        }
    }
}

impl From<Unreadable> for io::Error {
    fn from(unreadable: Unreadable) -> io::Error {
        io::Error::new(unreadable.error.kind(), unreadable.to_string())
    }
}

/// The file or directory that a path leads to; none if nothing is there.
pub fn stat(path: &Path) -> Result<Option<Metadata>, Unreadable> {
    there(path, || std::fs::metadata(path))
}

/// The path itself, which may be a link; none if nothing is there.
pub fn lstat(path: &Path) -> Result<Option<Metadata>, Unreadable> {
    there(path, || std::fs::symlink_metadata(path))
}

/// The stamp of the file that a path leads to, which knows whether a link did; none if nothing is there.
pub fn stamp(path: &Path) -> Result<Option<Stamp>, Unreadable> {
    let Some(meta) = lstat(path)? else {
        return Ok(None);
    };
    let stamp = Stamp::from(&meta);
    if !meta.is_symlink() {
        return Ok(Some(stamp));
    }
    let linked = |meta| Stamp {
        access: Stamp::from(&meta).access.linked(),
        ..Stamp::from(&meta)
    };
    Ok(stat(path)?.map(linked))
}

/// Links lead in a circle, or must not be followed.
pub(crate) fn is_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// Asks the file system. That nothing is there is an answer; everything else that goes wrong is an error.
pub fn there<T>(
    path: &Path,
    mut ask: impl FnMut() -> io::Result<T>,
) -> Result<Option<T>, Unreadable> {
    loop {
        return match ask() {
            Ok(answer) => Ok(Some(answer)),
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted => continue,
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
                _ => Err(Unreadable::new(path, error)),
            },
        };
    }
}

/// For a path that strangers named: where it can never lead anywhere for us, nothing is there.
pub(crate) fn if_reachable<T>(
    found: Result<Option<T>, Unreadable>,
) -> Result<Option<T>, Unreadable> {
    use io::ErrorKind::{InvalidFilename, InvalidInput, PermissionDenied};
    found.or_else(|bad| match bad.error.kind() {
        InvalidFilename | InvalidInput => Ok(None),
        _ if is_loop(&bad.error) => Ok(None),
        // What lies beyond a directory or a link that this user may not pass is of no use to them, and they may well work
        // beside it. But what can be looked at and is refused all the same is there: that it is refused is an error.
        PermissionDenied => match lstat(&bad.path) {
            Ok(meta) if meta.as_ref().is_none_or(Metadata::is_symlink) => Ok(None),
            Err(again) if again.error.kind() == PermissionDenied => Ok(None),
            _ => Err(bad),
        },
        _ => Err(bad),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_not_there_is_silent() {
        let dir = tempfile::tempdir().expect("a directory");
        let circle = dir.path().join("circle");
        std::os::unix::fs::symlink(&circle, &circle).expect("a link");
        for nothing in ["none", "none/below"] {
            assert!(
                stat(&dir.path().join(nothing))
                    .expect("an answer")
                    .is_none()
            );
        }
        assert!(is_loop(&stat(&circle).expect_err("an error").error));
        assert!(
            lstat(&circle)
                .expect("an answer")
                .is_some_and(|meta| meta.is_symlink())
        );
    }

    #[test]
    fn what_was_interrupted_is_asked_again() {
        let mut answers = [
            Ok(7),
            Err(io::ErrorKind::Interrupted),
            Err(io::ErrorKind::Interrupted),
        ]
        .to_vec();
        let answer = there(Path::new("x"), || {
            answers.pop().expect("an answer").map_err(io::Error::from)
        });
        assert_eq!((answer.expect("no error"), answers.len()), (Some(7), 0));
    }

    /// Every error names the file, and says what a person can do with it.
    #[test]
    fn errors_in_words() {
        let said = |error: io::Error| Unreadable::new(Path::new("/a/b"), error).to_string();
        assert_eq!(
            said(io::ErrorKind::UnexpectedEof.into()),
            "/a/b: got shorter while it was read; try again"
        );
        assert_eq!(
            said(io::Error::other("is a directory")),
            "/a/b: is a directory"
        );
    }
}
