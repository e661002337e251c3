//! What macOS tells about processes and locks, from libproc and sysctl. It is compiled and linted, but has never run.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::ptr;

use super::{Locked, Process, macos_texts};
use crate::file;
use session_format::hash::HashMap;

/// A process started at so many microseconds since 1970.
pub const PER_SECOND: u64 = 1_000_000;

/// The only one: processes are not numbered anew for containers.
const NAMESPACE: &str = "darwin";

// Of `sys/proc_info.h` and `stdlib.h`; libc does not have them.
const PROC_UID_ONLY: u32 = 4;
const PROC_PPID_ONLY: u32 = 6;
const PROC_PIDFDVNODEINFO: c_int = 1;

#[repr(C)]
struct OpenFile {
    flags: u32,
    status: u32,
    offset: i64,
    kind: i32,
    guard_flags: u32,
    file: libc::vnode_info,
}

unsafe extern "C" {
    fn devname_r(
        device: libc::dev_t,
        kind: libc::mode_t,
        name: *mut c_char,
        size: c_int,
    ) -> *mut c_char;
}

/// Another user's process tells only its name and its parent.
pub fn process(pid: u32) -> Option<Process> {
    if let Some(info) = info::<libc::proc_bsdinfo>(pid, libc::PROC_PIDTBSDINFO) {
        let names = [&info.pbi_name[..], &info.pbi_comm[..]].map(name);
        return (info.pbi_status != libc::SZOMB).then_some(Process {
            name: names.into_iter().find(|name| !name.is_empty())?,
            parent: info.pbi_ppid,
            terminal: Some(info.e_tdev),
            started: Some(info.pbi_start_tvsec * PER_SECOND + info.pbi_start_tvusec),
        });
    }
    let info = info::<libc::proc_bsdshortinfo>(pid, libc::PROC_PIDT_SHORTBSDINFO)?;
    (info.pbsi_status != libc::SZOMB).then_some(Process {
        name: name(&info.pbsi_comm),
        parent: info.pbsi_ppid,
        terminal: None,
        started: None,
    })
}

/// A process started when it says it did: in microseconds, as we write it, or to the second, as `ps` prints it. None if that
/// cannot be told.
pub fn has_started(pid: u32, said: &str) -> Option<bool> {
    let Some(process) = process(pid) else {
        return Some(false);
    };
    let started = process.started?;
    match said.parse::<u64>() {
        Ok(said) => Some(said == started),
        Err(_) => Some(macos_texts::second(said)? == started / PER_SECOND),
    }
}

/// A process that names another namespace runs in a container, or its home is shared with another system.
pub fn is_here(namespace: &str) -> bool {
    ["", NAMESPACE].contains(&namespace)
}

#[allow(clippy::unnecessary_wraps, reason = "elsewhere there may be none")]
pub fn namespace() -> Option<String> {
    Some(NAMESPACE.to_owned())
}

pub fn children(pid: u32) -> Vec<u32> {
    processes(PROC_PPID_ONLY, pid)
}

pub fn command_line(pid: u32) -> Option<String> {
    let buffer = arguments(pid)?;
    let (arguments, _) = macos_texts::arguments_and_variables(&buffer)?;
    Some(String::from_utf8_lossy(arguments).into_owned())
}

/// The variables that a process was started with, each with a zero after it.
pub fn environment(pid: u32) -> Vec<u8> {
    let buffer = arguments(pid).unwrap_or_default();
    macos_texts::arguments_and_variables(&buffer)
        .map_or_else(Vec::new, |(_, variables)| variables.to_vec())
}

/// The file of a terminal: `/dev/ttys003`. None if there is no such device.
pub fn terminal(device: u32) -> Option<String> {
    let mut name: [c_char; 64] = [0; 64];
    // SAFETY: it writes no more than it may, and a zero at the end.
    let found = unsafe {
        devname_r(
            device as libc::dev_t,
            libc::S_IFCHR,
            name.as_mut_ptr(),
            name.len() as c_int,
        )
    };
    let name = self::name(&name);
    // What has no name comes back as its numbers, or as `??`.
    (!found.is_null() && name.starts_with("tty")).then(|| format!("/dev/{name}"))
}

/// Those of some files that a process keeps locked (flock). `F_GETLK` says whether a lock would have to wait, also for one of
/// flock, and takes none; it does not say for whom, so the process is the one of this user that has the file open.
pub fn locked(_: &[&Path], files: &dyn Fn() -> Vec<PathBuf>) -> Locked {
    let mut locked = Locked {
        is_all: true,
        ..Locked::default()
    };
    let mut held = HashMap::default();
    for path in files() {
        match file::open(&path).and_then(|file| Ok((is_locked(&file)?, file.metadata()?))) {
            Ok((true, meta)) => {
                locked.inodes.insert(meta.ino());
                held.insert((meta.dev() as u32, meta.ino()), path);
            }
            Ok((false, _)) => {}
            Err(_) => locked.is_all = false,
        }
    }
    if held.is_empty() {
        return locked;
    }
    for pid in processes(PROC_UID_ONLY, rustix::process::geteuid().as_raw()) {
        for file in open_files(pid) {
            let path = held.remove(&file);
            locked.files.extend(path.map(|path| (path, pid)));
        }
        if held.is_empty() {
            break;
        }
    }
    locked
}

fn is_locked(file: &File) -> std::io::Result<bool> {
    let mut lock = libc::flock {
        l_start: 0,
        l_len: 0,
        l_pid: 0,
        l_type: libc::F_WRLCK,
        l_whence: libc::SEEK_SET as i16,
    };
    // SAFETY: an open file, and a lock to be written over.
    let asked = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETLK, &raw mut lock) };
    if asked == -1 {
        Err(std::io::Error::last_os_error())
    } else {
        Ok(lock.l_type != libc::F_UNLCK)
    }
}

/// The files that a process has open, by device and inode.
fn open_files(pid: u32) -> Vec<(u32, u64)> {
    let ask = |buffer: *mut c_void, size| {
        // SAFETY: the buffer has that size.
        unsafe { libc::proc_pidinfo(pid as c_int, libc::PROC_PIDLISTFDS, 0, buffer, size) }
    };
    let is_file = |fd: &libc::proc_fdinfo| fd.proc_fdtype == libc::PROX_FDTYPE_VNODE as u32;
    let file = |fd: libc::proc_fdinfo| {
        let open: OpenFile = filled(|buffer, size| {
            // SAFETY: the buffer has that size.
            unsafe {
                libc::proc_pidfdinfo(pid as c_int, fd.proc_fd, PROC_PIDFDVNODEINFO, buffer, size)
            }
        })?;
        Some((open.file.vi_stat.vst_dev, open.file.vi_stat.vst_ino))
    };
    list(ask)
        .into_iter()
        .filter(is_file)
        .filter_map(file)
        .collect()
}

/// The processes of a kind: those of a user, or of a parent.
fn processes(kind: u32, of: u32) -> Vec<u32> {
    // SAFETY: the buffer has that size.
    list(|buffer, size| unsafe { libc::proc_listpids(kind, of, buffer, size) })
}

/// The arguments and variables of a process as the system gives them; none of another user's.
fn arguments(pid: u32) -> Option<Vec<u8>> {
    /// As much as a program may be started with (`ARG_MAX`).
    const LONGEST: usize = 1 << 20;
    let mut name = [libc::CTL_KERN, libc::KERN_PROCARGS2, pid as c_int];
    let mut buffer = vec![0; LONGEST];
    let mut size = buffer.len();
    // SAFETY: name and buffer have those sizes.
    let failed = unsafe {
        libc::sysctl(
            name.as_mut_ptr(),
            name.len() as u32,
            buffer.as_mut_ptr().cast(),
            &raw mut size,
            ptr::null_mut(),
            0,
        )
    };
    buffer.truncate(size);
    (failed == 0).then_some(buffer)
}

fn info<T>(pid: u32, kind: c_int) -> Option<T> {
    // SAFETY: the buffer has that size.
    filled(|buffer, size| unsafe { libc::proc_pidinfo(pid as c_int, kind, 0, buffer, size) })
}

/// A record that a function of libproc fills. It returns how much of it is there.
fn filled<T>(ask: impl FnOnce(*mut c_void, c_int) -> c_int) -> Option<T> {
    let size = size_of::<T>() as c_int;
    let mut record = MaybeUninit::<T>::zeroed();
    // SAFETY: the system has filled all of it, and it has nothing but numbers.
    (ask(record.as_mut_ptr().cast(), size) == size).then(|| unsafe { record.assume_init() })
}

/// A list that a function of libproc fills. It returns how many bytes of it are there, or would be if there is no buffer.
fn list<T>(ask: impl Fn(*mut c_void, c_int) -> c_int) -> Vec<T> {
    /// For what is new since we asked how many there are.
    const MORE: usize = 32;
    let length = |bytes: c_int| usize::try_from(bytes).unwrap_or(0) / size_of::<T>();
    let room = match length(ask(ptr::null_mut(), 0)) {
        0 => return Vec::new(),
        known => known + MORE,
    };
    let mut all: Vec<T> = Vec::with_capacity(room);
    let bytes = ask(all.as_mut_ptr().cast(), (room * size_of::<T>()) as c_int);
    // SAFETY: the system has filled as much of it, and it has nothing but numbers.
    unsafe { all.set_len(length(bytes).min(room)) };
    all
}

/// A text up to its zero, or the whole of it.
fn name(text: &[c_char]) -> String {
    let bytes: Vec<u8> = text.iter().map(|char| *char as u8).chain([0]).collect();
    CStr::from_bytes_until_nul(&bytes)
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}
