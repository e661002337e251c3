//! Watches files: whoever follows some is woken when one of them is written, made, replaced or removed.
//!
//! [`FileEvents`] asks the operating system; only `session-reader` uses it, so that the hook's program stays small. Events
//! may get lost, and where none can be had somebody has to look, so a wait may also end with the advice to look at
//! everything.

use session_format::hash::{HashMap, HashSet};

#[cfg(target_os = "linux")]
use std::ffi::OsStr;
use std::ffi::OsString;
use std::io;
#[cfg(target_os = "linux")]
use std::mem::MaybeUninit;
#[cfg(target_os = "linux")]
use std::os::{fd::OwnedFd, unix::ffi::OsStrExt};
use std::path::{Path, PathBuf};
#[cfg(not(target_os = "linux"))]
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The longest wait, and the time between two looks at files that nobody watches.
pub const LOOK: Duration = Duration::from_millis(150);
/// The time between two looks at files that are watched.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The changes during a wait.
#[derive(Debug, Default)]
pub struct Happened {
    /// The names of the files that something happened to. The system may spell their directories in other ways.
    names: HashSet<OsString>,
    /// One of them was not there before.
    pub is_new: bool,
    /// It is time to look at all of them.
    pub anything: bool,
}

impl Happened {
    pub fn anything() -> Happened {
        Happened {
            anything: true,
            ..Happened::default()
        }
    }

    /// Something surely happened to a file, and it is not only time to look.
    pub fn is_told(&self) -> bool {
        !self.names.is_empty()
    }

    pub fn to(&self, path: &Path) -> bool {
        self.anything
            || path
                .file_name()
                .is_some_and(|name| self.names.contains(name))
    }
}

/// Something that has happened in a directory.
#[derive(Default)]
struct Change {
    /// The file that it happened to.
    name: Option<OsString>,
    is_new: bool,
    /// The directory itself was removed, and is no longer watched.
    gone: Option<PathBuf>,
    /// More has happened than the system can tell.
    is_unclear: bool,
}

/// Events of the operating system.
pub struct FileEvents {
    /// None where the system has no events to give; then a wait only lets time pass.
    watcher: Option<Watcher>,
    /// The directories to watch, and whether the system watches them. It does not if one cannot be watched or was removed.
    dirs: HashMap<PathBuf, bool>,
    looked: Instant,
}

impl FileEvents {
    pub fn start() -> FileEvents {
        FileEvents {
            watcher: Watcher::new().ok(),
            dirs: HashMap::default(),
            looked: Instant::now(),
        }
    }

    /// Something may happen in a directory without an event.
    fn is_blind(&self) -> bool {
        self.dirs.values().any(|is_watched| !is_watched)
    }

    /// Watches a directory, if that is possible. It may be watched already.
    pub fn watch(&mut self, dir: &Path) {
        if let Some(watcher) = &mut self.watcher
            && self.dirs.get(dir) != Some(&true)
        {
            let is_watched = !is_remote(dir) && watcher.watch(dir).is_ok();
            self.dirs.insert(dir.to_owned(), is_watched);
        }
    }

    /// Waits for something to happen in the directories that are watched, but not for long.
    pub fn wait(&mut self) -> Happened {
        let mut happened = Happened::default();
        let Some(Ok(changes)) = self.watcher.as_mut().map(|watcher| watcher.wait(LOOK)) else {
            std::thread::sleep(LOOK);
            return Happened::anything();
        };
        if changes.is_empty() {
            happened.anything = self.is_blind() || self.looked.elapsed() >= LOOK_AGAIN;
        }
        for Change {
            name,
            is_new,
            gone,
            is_unclear,
        } in changes
        {
            happened.is_new |= is_new;
            happened.anything |= is_unclear;
            happened.names.extend(name);
            if let Some(is_watched) = gone.and_then(|gone| self.dirs.get_mut(&gone)) {
                *is_watched = false;
            }
        }
        if happened.anything {
            self.looked = Instant::now();
        }
        happened
    }
}

/// inotify without a thread of its own, which might not start, and nobody would know.
#[cfg(target_os = "linux")]
struct Watcher {
    inotify: OwnedFd,
    /// Each directory, by the number that the system gave it. It may have several names.
    dirs: Vec<(i32, PathBuf)>,
}

#[cfg(target_os = "linux")]
impl Watcher {
    fn new() -> io::Result<Watcher> {
        use rustix::fs::inotify::{CreateFlags, init};
        Ok(Watcher {
            inotify: init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?,
            dirs: Vec::new(),
        })
    }

    fn watch(&mut self, dir: &Path) -> io::Result<()> {
        use rustix::fs::inotify::{WatchFlags, add_watch};
        // Reading a file is an event as well, and must not lead to reading it again.
        let changes = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MODIFY
            | WatchFlags::ATTRIB
            | WatchFlags::MOVE
            | WatchFlags::DELETE_SELF;
        let number = add_watch(&self.inotify, dir, changes | WatchFlags::ONLYDIR)?;
        self.dirs.push((number, dir.to_owned()));
        Ok(())
    }

    /// The changes, if any come before so much time has passed.
    fn wait(&mut self, longest: Duration) -> io::Result<Vec<Change>> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        use rustix::fs::inotify::{ReadFlags, Reader};
        use rustix::io::Errno;
        let longest = Timespec::try_from(longest).map_err(io::Error::other)?;
        match poll(
            &mut [PollFd::new(&self.inotify, PollFlags::IN)],
            Some(&longest),
        ) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut changes = Vec::new();
        let mut buffer = [MaybeUninit::uninit(); 16 << 10];
        let mut events = Reader::new(&self.inotify, &mut buffer);
        loop {
            let event = match events.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => return Ok(changes),
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            let what = event.events();
            let name = event
                .file_name()
                .map(|name| OsStr::from_bytes(name.to_bytes()).to_owned());
            let is_new =
                what.intersects(ReadFlags::CREATE | ReadFlags::MOVED_FROM | ReadFlags::MOVED_TO);
            changes.push(Change {
                name,
                is_new,
                gone: None,
                is_unclear: what.contains(ReadFlags::QUEUE_OVERFLOW),
            });
            if what.contains(ReadFlags::IGNORED) {
                let gone = self
                    .dirs
                    .extract_if(.., |(number, _)| *number == event.wd());
                changes.extend(gone.map(|(_, dir)| Change {
                    gone: Some(dir),
                    ..Change::default()
                }));
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
struct Watcher {
    watcher: notify::RecommendedWatcher,
    events: Receiver<notify::Result<notify::Event>>,
}

#[cfg(not(target_os = "linux"))]
impl Watcher {
    fn new() -> io::Result<Watcher> {
        let (sender, events) = channel();
        // Reading a file is an event as well, and must not lead to reading it again.
        let is_change = |event: &notify::Result<notify::Event>| !matches!(event, Ok(event) if event.kind.is_access());
        let send = move |event| {
            if is_change(&event) {
                let _ = sender.send(event);
            }
        };
        let watcher = notify::recommended_watcher(send).map_err(io::Error::other)?;
        Ok(Watcher { watcher, events })
    }

    fn watch(&mut self, dir: &Path) -> io::Result<()> {
        use notify::Watcher as _;
        self.watcher
            .watch(dir, notify::RecursiveMode::NonRecursive)
            .map_err(io::Error::other)
    }

    /// The changes, if any come before so much time has passed.
    fn wait(&mut self, longest: Duration) -> io::Result<Vec<Change>> {
        use notify::EventKind::{Create, Modify};
        let first = match self.events.recv_timeout(longest) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(error) => return Err(io::Error::other(error)),
        };
        let mut changes = Vec::new();
        for event in first.into_iter().chain(self.events.try_iter()) {
            let Ok(event) = event else {
                changes.push(Change {
                    is_unclear: true,
                    ..Change::default()
                });
                continue;
            };
            let is_new = matches!(
                event.kind,
                Create(_) | Modify(notify::event::ModifyKind::Name(_))
            );
            changes.push(Change {
                is_new,
                is_unclear: event.need_rescan(),
                ..Change::default()
            });
            changes.extend(event.paths.into_iter().map(|path| Change {
                name: path.file_name().map(ToOwned::to_owned),
                gone: Some(path).filter(|_| event.kind.is_remove()),
                ..Change::default()
            }));
        }
        Ok(changes)
    }
}

/// Others may write to a directory from elsewhere, of which the system here knows nothing.
#[cfg(target_os = "linux")]
fn is_remote(dir: &Path) -> bool {
    /// NFS, SMB (three of them), 9P, FUSE.
    const REMOTE: [u32; 6] = [
        0x6969,
        0x517b,
        0xfe53_4d42,
        0xff53_4d42,
        0x0102_1997,
        0x6573_5546,
    ];
    rustix::fs::statfs(dir).is_ok_and(|found| REMOTE.contains(&(found.f_type as u32)))
}

#[cfg(not(target_os = "linux"))]
fn is_remote(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::disallowed_methods,
        reason = "tests write the files that are watched"
    )]

    use super::*;
    use std::fs;

    /// Waits until something has happened to a file; the time to look at everything does not count.
    fn wait_for(events: &mut FileEvents, name: &str) -> Happened {
        loop {
            let happened = events.wait();
            if happened.names.contains(&OsString::from(name)) {
                return happened;
            }
        }
    }

    #[test]
    fn what_is_done_to_a_file_is_told() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = |name: &str| dir.path().join(name);
        fs::write(path("old"), "1").expect("a file");
        let mut events = FileEvents::start();
        events.watch(dir.path());
        events.watch(dir.path());
        fs::write(path("old"), "2").expect("written");
        assert!(!wait_for(&mut events, "old").is_new);
        fs::write(path("new"), "1").expect("a file");
        let happened = wait_for(&mut events, "new");
        assert!(happened.is_new && happened.to(&path("new")) && !happened.to(&path("other")));
        fs::rename(path("new"), path("renamed")).expect("renamed");
        assert!(wait_for(&mut events, "renamed").is_new);
        fs::remove_file(path("renamed")).expect("removed");
        wait_for(&mut events, "renamed");
    }

    /// Reading is no event, or whoever looks at a file would be told to look at it again.
    #[test]
    fn looking_at_a_file_is_no_event() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join("file"), "1").expect("a file");
        let mut events = FileEvents::start();
        events.watch(dir.path());
        fs::read(dir.path().join("file")).expect("read");
        fs::write(dir.path().join("end"), "1").expect("a file");
        let happened = wait_for(&mut events, "end");
        assert!(
            !happened.names.contains(&OsString::from("file")),
            "{happened:?}"
        );
    }

    /// A directory that was removed is polled only until it is there again.
    #[test]
    fn a_directory_that_comes_back_is_watched_again() {
        let above = tempfile::tempdir().expect("a directory");
        let dir = above.path().join("dir");
        fs::create_dir(&dir).expect("a directory");
        let mut events = FileEvents::start();
        events.watch(&dir);
        assert!(!events.is_blind());
        fs::remove_dir(&dir).expect("removed");
        while !events.is_blind() {
            events.wait();
        }
        events.watch(&dir);
        assert!(events.is_blind());
        fs::create_dir(&dir).expect("a directory");
        events.watch(&dir);
        assert!(!events.is_blind());
        fs::write(dir.join("new"), "1").expect("a file");
        assert!(wait_for(&mut events, "new").is_new);
    }

    #[test]
    fn what_cannot_be_watched_is_looked_at() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut events = FileEvents::start();
        events.watch(&dir.path().join("none"));
        assert!(events.wait().anything);
    }
}
