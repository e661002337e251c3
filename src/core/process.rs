//! Other processes: whether the one that wrote something still runs, and which files are locked.
//!
//! A number alone says nothing, because the system gives it to another process sooner or later; with the time that the
//! process started at, it is unique. All of this is read from `/proc`. Where there is none, nothing is known, and nobody
//! is told that a process runs, or that it does not.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::dir;
use crate::file;
use session_format::boundary::substr;
use session_format::hash::HashSet;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Running {
    Yes,
    No,
    /// It may run on another machine, in another container, or the platform cannot tell.
    Unknown,
}

/// A process, as it described itself.
#[derive(Debug, Clone, Default)]
pub struct Claim<'c> {
    pub pid: u32,
    /// When it started, as in `/proc/PID/stat`; perhaps with the id of the boot before it: `BOOT:START`.
    pub start: &'c str,
    /// The namespace that numbers it, and perhaps the machine: `linux:MACHINE:pid:[4026531836]`, or only the number.
    pub namespace: &'c str,
}

impl Claim<'_> {
    /// This very process, not another one that got its number.
    pub fn running(&self) -> Running {
        let Some(own) = &*NAMESPACE else {
            return Running::Unknown;
        };
        if !self.namespace.is_empty() && !self.is_of(own) {
            return Running::Unknown;
        }
        let (boot, start) = self.start.rsplit_once(':').unwrap_or(("", self.start));
        let Ok(start) = start.parse::<u64>() else {
            return Running::Unknown;
        };
        if !boot.is_empty() && BOOT.as_ref().is_some_and(|own| own != boot) {
            return Running::No;
        }
        if started(self.pid) == Some(start) {
            Running::Yes
        } else {
            Running::No
        }
    }

    /// The namespace that it names is ours: its digits are at the end, and a machine, if there is one, is this one.
    fn is_of(&self, own: &str) -> bool {
        let named = self.namespace.trim_end_matches(']');
        let is_machine =
            |part: &&str| part.len() == 32 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        let machine = self.namespace.split(':').find(is_machine);
        let number = substr(
            named,
            named
                .rfind(|char: char| !char.is_ascii_digit())
                .map_or(0, |at| at + 1)..,
        );
        number == own
            && machine.is_none_or(|machine| MACHINE.as_ref().is_some_and(|own| own == machine))
    }
}

/// When a process started, in ticks since the machine did; none if there is no such process, or it has ended.
pub fn started(pid: u32) -> Option<u64> {
    let (_, fields) = stat(pid)?;
    let is_over = matches!(&**fields.first()?, "Z" | "X" | "x");
    if is_over {
        None
    } else {
        fields.get(19)?.parse().ok()
    }
}

/// The name of a process, and its state with all that follows in `/proc/PID/stat`.
fn stat(pid: u32) -> Option<(String, Vec<String>)> {
    let stat = text(&format!("/proc/{pid}/stat"))?;
    // The name stands in brackets and may have anything in it.
    let (before, fields) = stat.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    Some((
        name.to_owned(),
        fields.split_ascii_whitespace().map(str::to_owned).collect(),
    ))
}

/// A process has started another one after some time, which still runs and has this word in its command line.
pub(crate) fn has_child_since(pid: u32, ticks: u64, word: &str) -> bool {
    let threads = dir::entries(Path::new(&format!("/proc/{pid}/task")), &mut Vec::new());
    let children = threads
        .iter()
        .filter_map(|thread| text(thread.path().join("children").to_str()?));
    let is_later = |child: &str| {
        child
            .parse()
            .ok()
            .and_then(started)
            .is_some_and(|start| start > ticks)
    };
    let has_word = |child: &str| {
        text(&format!("/proc/{child}/cmdline")).is_some_and(|line| line.contains(word))
    };
    let is_it = |child: &str| is_later(child) && has_word(child);
    children
        .into_iter()
        .any(|children| children.split_ascii_whitespace().any(is_it))
}

/// Runs a program that should answer soon, and takes all that it prints. It is ended if it takes longer than that.
pub fn answer(command: &mut Command, limit: Duration) -> io::Result<Output> {
    let piped = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = piped.process_group(0).spawn()?;
    let group = rustix::process::Pid::from_child(&child);
    let (sender, answers) = channel();
    std::thread::Builder::new().spawn(move || sender.send(child.wait_with_output()))?;
    answers.recv_timeout(limit).unwrap_or_else(|_| {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        Err(io::ErrorKind::TimedOut.into())
    })
}

/// The terminal of a process: `/dev/pts/3`.
pub fn tty(pid: u32) -> Option<String> {
    let (_, fields) = stat(pid)?;
    let device = fields.get(4)?.parse::<i32>().ok()? as u32;
    let (major, minor) = (device >> 8 & 0xfff, device & 0xff | device >> 12 & 0xf_ff00);
    match major {
        4 if minor < 64 => Some(format!("/dev/tty{minor}")),
        4 => Some(format!("/dev/ttyS{}", minor - 64)),
        // Each of these has 256 of them, or its numbers go on.
        136..=143 => Some(format!("/dev/pts/{}", (major - 136) * 256 + minor)),
        _ => None,
    }
}

/// The variables of a process, as it was started with them. None of another user's process, or where the system does not tell.
pub fn variables(pid: u32, wanted: &[&str]) -> BTreeMap<String, String> {
    /// A larger environment than the system allows.
    const LONGEST: u64 = 4 << 20;
    let read = file::read_up_to(Path::new(&format!("/proc/{pid}/environ")), LONGEST);
    let bytes = read.unwrap_or_default();
    let pairs = bytes.split(|byte| *byte == 0).filter_map(|pair| {
        let (name, value) = std::str::from_utf8(pair).ok()?.split_once('=')?;
        wanted.contains(&name).then(|| (name.into(), value.into()))
    });
    pairs.collect()
}

/// Deeper than anybody nests shells.
const DEPTH: usize = 32;

/// The program that a process's terminal belongs to: of those above it, the first that has another terminal, or none.
pub fn terminal_program(pid: u32) -> Option<String> {
    let (_, own) = stat(pid)?;
    let mut above: u32 = own.get(1)?.parse().ok()?;
    for _ in 0..DEPTH {
        let (name, fields) = stat(above).filter(|_| above > 1)?;
        if fields.get(4) != own.get(4) {
            return Some(name);
        }
        above = fields.get(1)?.parse().ok()?;
    }
    None
}

/// The processes above this one, the nearest first.
pub fn above() -> Vec<u32> {
    let parent = |pid: &u32| stat(*pid)?.1.get(1)?.parse().ok().filter(|pid| *pid > 1);
    let first = Some(std::os::unix::process::parent_id()).filter(|pid| *pid > 1);
    std::iter::successors(first, parent).take(DEPTH).collect()
}

/// The number of the namespace that numbers our processes.
pub fn namespace() -> Option<String> {
    NAMESPACE.clone()
}

// These stay the same as long as we run, and are asked for with every file of an agent.
static NAMESPACE: LazyLock<Option<String>> = LazyLock::new(|| {
    let link = fs::read_link("/proc/self/ns/pid").ok()?;
    let link = link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?;
    Some(link.to_owned())
});
static BOOT: LazyLock<Option<String>> = LazyLock::new(|| text("/proc/sys/kernel/random/boot_id"));
static MACHINE: LazyLock<Option<String>> = LazyLock::new(|| text("/etc/machine-id"));

fn text(path: &str) -> Option<String> {
    file::read(Path::new(path))
        .ok()
        .map(|bytes| String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

/// Files that processes keep locked.
#[derive(Debug, Default)]
pub struct Locked {
    /// With the processes that have them.
    pub files: Vec<(PathBuf, u32)>,
    /// The inodes of all files that anybody keeps locked.
    pub inodes: HashSet<u64>,
    /// No other inodes are locked.
    pub is_all: bool,
}

/// All locks there are. The system hands them out a page at a time, and when one is released in between, another one is
/// left out. So a table that takes several pages is read until it is the same twice, and whatever any reading has counts: a
/// lock that is missed would pass for an agent that was killed.
fn lock_table(read: &mut dyn FnMut() -> Option<String>) -> Option<String> {
    const PAGE: usize = 4096;
    /// No line is longer.
    const LINE: usize = 128;
    const TIMES: usize = 8;
    let mut last = read()?;
    let mut all = last.clone();
    for _ in 1..TIMES {
        if last.len() + LINE < PAGE {
            break;
        }
        let again = read()?;
        if again == last {
            break;
        }
        all.push('\n');
        all += &again;
        last = again;
    }
    Some(all)
}

/// The files below some directories that a process keeps locked (flock). Asking for a lock to find that out would take it
/// from whoever wants it at that moment.
pub fn locked(dirs: &[&Path]) -> Locked {
    let Some(locks) = lock_table(&mut || text("/proc/locks")) else {
        return Locked::default();
    };
    // From inside a container, the locks of processes outside cannot be seen.
    let mut locked = Locked {
        is_all: namespace().is_some_and(|own| own == FIRST_NAMESPACE),
        ..Locked::default()
    };
    let mut holders: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
    for (pid, file) in locks.lines().filter_map(flock) {
        locked.inodes.insert(file.1);
        holders.entry(pid).or_default().push(file);
    }
    for (pid, held) in holders {
        // Of another user's process, only the inodes are known.
        let open = dir::entries(Path::new(&format!("/proc/{pid}/fd")), &mut Vec::new());
        let is_held = |descriptor: &Path| {
            fs::metadata(descriptor).is_ok_and(|meta| {
                let of_device = || held.iter().filter(|(device, _)| *device == meta.dev());
                // Some file systems give a lock another device than the file. Then that it is open has to do.
                of_device().next().is_none() || of_device().any(|(_, inode)| *inode == meta.ino())
            })
        };
        let below = |file: &PathBuf| dirs.iter().any(|dir| file.starts_with(dir));
        for descriptor in open.iter().map(|descriptor| descriptor.path()) {
            let file = fs::read_link(&descriptor).ok().filter(below);
            let file = file.filter(|_| is_held(&descriptor));
            locked.files.extend(file.map(|file| (file, pid)));
        }
    }
    locked
}

/// The number that the system gives the namespace it starts with.
const FIRST_NAMESPACE: &str = "4026531836";

/// The process that holds a lock and the file, by device and inode: `1: FLOCK ADVISORY WRITE 42 fd:01:1234 0 EOF`.
fn flock(line: &str) -> Option<(u32, (u64, u64))> {
    let mut fields = line.split_ascii_whitespace().skip(1);
    fields.next().filter(|kind| *kind == "FLOCK")?;
    let pid = fields.nth(2)?.parse().ok()?;
    let mut file = fields.next()?.split(':');
    let mut number = || u32::from_str_radix(file.next()?, 16).ok();
    // Systems differ in how wide this number is.
    let device = rustix::fs::makedev(number()?, number()?) as u64;
    Some((pid, (device, file.next()?.parse().ok()?)))
}

/// The process that runs us for somebody: of those above us, the first that is no shell. None if it cannot be told.
pub fn caller() -> Option<(u32, u64)> {
    const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "fish", "ksh"];
    let mut pid = std::os::unix::process::parent_id();
    // A shell in a shell, at the most a few times.
    for _ in 0..4 {
        let (name, fields) = stat(pid)?;
        if !SHELLS.contains(&&*name) {
            return if pid > 1 {
                Some((pid, started(pid)?))
            } else {
                None
            };
        }
        pid = fields.get(1)?.parse().ok()?;
    }
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_one_reading_leaves_out_is_there() {
        // As it is read, without the end of its last line.
        let lines = |left_out: usize| -> String {
            let line = |number| {
                format!("{number}: FLOCK  ADVISORY  WRITE {number} fd:01:{number} 0 EOF\n")
            };
            let all: String = (1..=200)
                .filter(|number| *number != left_out)
                .map(line)
                .collect();
            all.trim_end().to_owned()
        };
        let mut readings = [lines(150), lines(1), lines(9), lines(9)].into_iter();
        let all = lock_table(&mut || readings.next()).expect("a table");
        for number in [1, 9, 150] {
            assert!(
                all.lines()
                    .any(|line| line.starts_with(&format!("{number}: "))),
                "{number}"
            );
        }
        // One that takes a page is read once.
        let short = "1: FLOCK  ADVISORY  WRITE 1 fd:01:1 0 EOF\n";
        let mut readings = std::iter::once(short.to_owned());
        assert_eq!(lock_table(&mut || readings.next()).as_deref(), Some(short));
    }
}
