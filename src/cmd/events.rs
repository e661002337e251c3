//! What happens to files: whoever follows some is woken when one of them is written, made, replaced or removed.
//!
//! [`FileEvents`] asks the operating system; only `session-reader` uses it, so that the hook's program stays small.
//! [`Polling`] just lets time pass. Events may get lost, and where none can be had somebody has to look, so a wait may also
//! end with the advice to look at everything.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use notify::event::ModifyKind;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

/// How long a wait lasts at the most, and how often to look at files that nobody watches.
pub const LOOK: Duration = Duration::from_millis(150);
/// How often to look at files that are watched.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What has happened during a wait.
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
        Happened { anything: true, ..Happened::default() }
    }

    /// Whether something surely happened to a file, and it is not only time to look.
    pub fn is_told(&self) -> bool {
        !self.names.is_empty()
    }

    pub fn to(&self, path: &Path) -> bool {
        self.anything || path.file_name().is_some_and(|name| self.names.contains(name))
    }
}

pub trait Events {
    /// Watches a directory, if that is possible. It may be watched already.
    fn watch(&mut self, dir: &Path);

    /// Waits for something to happen in the directories that are watched, but not for long.
    fn wait(&mut self) -> Happened;
}

/// For files that nobody watches.
pub struct Polling;

impl Events for Polling {
    fn watch(&mut self, _: &Path) {}

    fn wait(&mut self) -> Happened {
        std::thread::sleep(LOOK);
        Happened::anything()
    }
}

/// Events of the operating system.
pub struct FileEvents {
    watcher: RecommendedWatcher,
    events: Receiver<notify::Result<Event>>,
    /// The directories to watch, and whether the system watches them. It does not if one cannot be watched or was removed.
    dirs: HashMap<PathBuf, bool>,
    looked: Instant,
}

impl FileEvents {
    /// Polls where the system has no events to give.
    pub fn start() -> Box<dyn Events> {
        FileEvents::new().map_or_else(|_| Box::new(Polling) as Box<dyn Events>, |events| Box::new(events))
    }

    fn new() -> notify::Result<FileEvents> {
        let (sender, events) = channel();
        // Reading a file is an event as well, and must not lead to reading it again.
        let is_change = |event: &notify::Result<Event>| !matches!(event, Ok(event) if event.kind.is_access());
        let send = move |event| {
            if is_change(&event) {
                let _ = sender.send(event);
            }
        };
        let watcher = notify::recommended_watcher(send)?;
        Ok(FileEvents { watcher, events, dirs: HashMap::new(), looked: Instant::now() })
    }

    /// Something may happen in a directory without an event.
    fn is_blind(&self) -> bool {
        self.dirs.values().any(|is_watched| !is_watched)
    }

    fn take(&mut self, event: notify::Result<Event>, happened: &mut Happened) {
        let Ok(event) = event else {
            happened.anything = true;
            return;
        };
        happened.anything |= event.need_rescan();
        happened.is_new |= matches!(event.kind, EventKind::Create(_) | EventKind::Modify(ModifyKind::Name(_)));
        for path in &event.paths {
            if let Some(is_watched) = self.dirs.get_mut(path).filter(|_| event.kind.is_remove()) {
                *is_watched = false;
            }
            happened.names.extend(path.file_name().map(ToOwned::to_owned));
        }
    }
}

impl Events for FileEvents {
    fn watch(&mut self, dir: &Path) {
        if self.dirs.get(dir) != Some(&true) {
            let is_watched = !is_remote(dir) && self.watcher.watch(dir, RecursiveMode::NonRecursive).is_ok();
            self.dirs.insert(dir.to_owned(), is_watched);
        }
    }

    fn wait(&mut self) -> Happened {
        let mut happened = Happened::default();
        match self.events.recv_timeout(LOOK) {
            Ok(event) => {
                self.take(event, &mut happened);
                while let Ok(event) = self.events.try_recv() {
                    self.take(event, &mut happened);
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                happened.anything = self.is_blind() || self.looked.elapsed() >= LOOK_AGAIN;
            }
            Err(RecvTimeoutError::Disconnected) => return Polling.wait(),
        }
        if happened.anything {
            self.looked = Instant::now();
        }
        happened
    }
}

/// Whether others may write to a directory from elsewhere, of which the system here knows nothing.
#[cfg(target_os = "linux")]
fn is_remote(dir: &Path) -> bool {
    /// NFS, SMB (three of them), 9P, FUSE.
    const REMOTE: [u32; 6] = [0x6969, 0x517b, 0xfe53_4d42, 0xff53_4d42, 0x0102_1997, 0x6573_5546];
    rustix::fs::statfs(dir).is_ok_and(|found| REMOTE.contains(&(found.f_type as u32)))
}

#[cfg(not(target_os = "linux"))]
fn is_remote(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests write the files that are watched")]

    use super::*;
    use std::fs;

    /// Waits until something has happened to a file; the time to look at everything does not count.
    fn wait_for(events: &mut dyn Events, name: &str) -> Happened {
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
        assert!(!wait_for(&mut *events, "old").is_new);
        fs::write(path("new"), "1").expect("a file");
        let happened = wait_for(&mut *events, "new");
        assert!(happened.is_new && happened.to(&path("new")) && !happened.to(&path("other")));
        fs::rename(path("new"), path("renamed")).expect("renamed");
        assert!(wait_for(&mut *events, "renamed").is_new);
        fs::remove_file(path("renamed")).expect("removed");
        wait_for(&mut *events, "renamed");
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
        let happened = wait_for(&mut *events, "end");
        assert!(!happened.names.contains(&OsString::from("file")), "{happened:?}");
    }

    /// A directory that was removed is polled only until it is there again.
    #[test]
    fn a_directory_that_comes_back_is_watched_again() {
        let above = tempfile::tempdir().expect("a directory");
        let dir = above.path().join("dir");
        fs::create_dir(&dir).expect("a directory");
        let mut events = FileEvents::new().expect("events");
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
