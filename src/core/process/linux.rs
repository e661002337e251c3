//! What Linux tells about processes and locks, from `/proc`. Where there is none, as in some containers, nothing is known.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::{Locked, Process};
use crate::dir;
use crate::file;
use session_format::boundary::substr;

/// The ticks of the clock by which processes start, for all programs of any kernel.
pub const PER_SECOND: u64 = 100;

pub fn process(pid: u32) -> Option<Process> {
    let stat = text(&format!("/proc/{pid}/stat"))?;
    // The name stands in brackets and may have anything in it.
    let (before, fields) = stat.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    let is_over = matches!(*fields.first()?, "Z" | "X" | "x");
    (!is_over).then_some(Process {
        name: name.to_owned(),
        parent: fields.get(1)?.parse().ok()?,
        terminal: fields
            .get(4)
            .and_then(|device| device.parse::<i32>().ok())
            .map(|device| device as u32),
        started: fields.get(19).and_then(|start| start.parse().ok()),
    })
}

/// A process started when it says it did: `START`, as in `/proc/PID/stat`, perhaps with the id of the boot before it,
/// `BOOT:START`. None if that cannot be told.
pub fn has_started(pid: u32, said: &str) -> Option<bool> {
    let (boot, start) = said.rsplit_once(':').unwrap_or(("", said));
    let start = start.parse::<u64>().ok()?;
    let is_this_boot = boot.is_empty() || BOOT.as_ref().is_none_or(|own| own == boot);
    Some(is_this_boot && process(pid).and_then(|process| process.started) == Some(start))
}

/// The namespace that a process names, if it names one, is ours: its digits are at the end, and a machine, if there is one, is
/// this one.
pub fn is_here(namespace: &str) -> bool {
    let Some(own) = &*NAMESPACE else {
        return false;
    };
    let named = namespace.trim_end_matches(']');
    let is_machine =
        |part: &&str| part.len() == 32 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let machine = namespace.split(':').find(is_machine);
    let number = substr(
        named,
        named
            .rfind(|char: char| !char.is_ascii_digit())
            .map_or(0, |at| at + 1)..,
    );
    namespace.is_empty()
        || number == own
            && machine.is_none_or(|machine| MACHINE.as_ref().is_some_and(|own| own == machine))
}

/// The number of the namespace that numbers our processes.
pub fn namespace() -> Option<String> {
    NAMESPACE.clone()
}

pub fn children(pid: u32) -> Vec<u32> {
    let threads = dir::entries(Path::new(&format!("/proc/{pid}/task")), &mut Vec::new());
    let children = threads
        .iter()
        .filter_map(|thread| text(thread.path().join("children").to_str()?));
    let numbers = |children: String| -> Vec<u32> {
        children
            .split_ascii_whitespace()
            .filter_map(|child| child.parse().ok())
            .collect()
    };
    children.flat_map(numbers).collect()
}

pub fn command_line(pid: u32) -> Option<String> {
    text(&format!("/proc/{pid}/cmdline"))
}

/// The variables that a process was started with, each with a zero after it.
pub fn environment(pid: u32) -> Vec<u8> {
    /// A larger environment than the system allows.
    const LONGEST: u64 = 4 << 20;
    file::read_up_to(Path::new(&format!("/proc/{pid}/environ")), LONGEST).unwrap_or_default()
}

/// The file of a terminal.
pub fn terminal(device: u32) -> Option<String> {
    let (major, minor) = (device >> 8 & 0xfff, device & 0xff | device >> 12 & 0xf_ff00);
    match major {
        4 if minor < 64 => Some(format!("/dev/tty{minor}")),
        4 => Some(format!("/dev/ttyS{}", minor - 64)),
        // Each of these has 256 of them, or its numbers go on.
        136..=143 => Some(format!("/dev/pts/{}", (major - 136) * 256 + minor)),
        _ => None,
    }
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
/// from whoever wants it at that moment. The system lists all locks, so nobody has to say which files may be.
pub fn locked(dirs: &[&Path], _: &dyn Fn() -> Vec<PathBuf>) -> Locked {
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

#[cfg(test)]
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
