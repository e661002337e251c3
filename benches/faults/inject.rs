//! Fails system calls of a program, from outside: a seccomp filter hands every call of the classes below to this process,
//! which lets it go on, answers with an error, or kills the program.
//!
//! Only calls that concern files below a directory or none at all count, and those on stdin and stdout: what the loader and the runtime
//! do on the way to `main` is the same on every run and none of our business. stderr never fails: it is the witness.

use std::ffi::{CStr, OsStr};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};

/// Calls that fail alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    Open,
    Read,
    Write,
    Stat,
    List,
    Rename,
    Unlink,
    Mkdir,
    Lock,
    Sync,
    Close,
    /// A thread that starts.
    Thread,
    /// Waiting for one of several files.
    Poll,
    Random,
}

impl Class {
    /// What such a call may answer. The first is what it answers when everything fails.
    pub fn errors(self) -> &'static [i32] {
        use libc::{EACCES, EAGAIN, EINTR, EIO, EMFILE, ENOLCK, ENOMEM, ENOSPC, ENOSYS};
        match self {
            Class::Open => &[EMFILE, EACCES, EIO, EINTR],
            Class::Read | Class::List => &[EIO, EINTR],
            Class::Write => &[ENOSPC, EIO, EINTR],
            Class::Stat => &[EIO, EACCES],
            Class::Rename => &[EIO, ENOSPC],
            Class::Unlink => &[EACCES],
            Class::Mkdir => &[ENOSPC, EACCES],
            Class::Lock => &[ENOLCK, EINTR],
            Class::Sync | Class::Close => &[EIO],
            Class::Thread => &[EAGAIN],
            Class::Poll => &[ENOMEM, EINTR],
            Class::Random => &[EIO, ENOSYS],
        }
    }
}

/// Where a call says which file it is about.
#[derive(Clone, Copy)]
enum About {
    /// A descriptor, in the first argument.
    File,
    /// A path, in the first argument.
    Path,
    /// A directory and a path below it, in the first two.
    At,
    /// No file.
    None,
    /// What is copied of the caller, in the first argument; all of it is a thread, less is another process.
    Flags,
    /// The same, in memory.
    FlagsAt,
}

/// The calls that can fail; what a platform lacks is not in its list.
const CALLS: &[(libc::c_long, Class, About)] = &[
    (libc::SYS_openat, Class::Open, About::At),
    (libc::SYS_read, Class::Read, About::File),
    (libc::SYS_readv, Class::Read, About::File),
    (libc::SYS_pread64, Class::Read, About::File),
    (libc::SYS_write, Class::Write, About::File),
    (libc::SYS_writev, Class::Write, About::File),
    (libc::SYS_pwrite64, Class::Write, About::File),
    (libc::SYS_ftruncate, Class::Write, About::File),
    (libc::SYS_copy_file_range, Class::Write, About::File),
    (libc::SYS_statx, Class::Stat, About::At),
    (libc::SYS_newfstatat, Class::Stat, About::At),
    (libc::SYS_readlinkat, Class::Stat, About::At),
    (libc::SYS_fstat, Class::Stat, About::File),
    (libc::SYS_getdents64, Class::List, About::File),
    (libc::SYS_renameat, Class::Rename, About::At),
    (libc::SYS_renameat2, Class::Rename, About::At),
    (libc::SYS_unlinkat, Class::Unlink, About::At),
    (libc::SYS_mkdirat, Class::Mkdir, About::At),
    (libc::SYS_flock, Class::Lock, About::File),
    (libc::SYS_fsync, Class::Sync, About::File),
    (libc::SYS_fdatasync, Class::Sync, About::File),
    (libc::SYS_close, Class::Close, About::File),
    (libc::SYS_clone, Class::Thread, About::Flags),
    (libc::SYS_clone3, Class::Thread, About::FlagsAt),
    (libc::SYS_ppoll, Class::Poll, About::None),
    (libc::SYS_epoll_pwait, Class::Poll, About::None),
    (libc::SYS_getrandom, Class::Random, About::None),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_poll, Class::Poll, About::None),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_epoll_wait, Class::Poll, About::None),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, Class::Open, About::Path),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_stat, Class::Stat, About::Path),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_lstat, Class::Stat, About::Path),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_readlink, Class::Stat, About::Path),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_rename, Class::Rename, About::Path),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_unlink, Class::Unlink, About::Path),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_rmdir, Class::Unlink, About::Path),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mkdir, Class::Mkdir, About::Path),
];

/// What happens to a program. Calls are counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    Nothing,
    /// One call fails.
    Fail(usize, i32),
    /// From one call on, all fail.
    FailFrom(usize),
    Kill(usize),
}

/// A call that counted: its class, and what it was about.
#[derive(Debug, Clone)]
pub struct Call {
    pub class: Class,
    pub about: String,
}

pub struct Done {
    pub output: Output,
    pub calls: Vec<Call>,
    /// It had to be killed because it did not end.
    pub hung: bool,
}

/// Where the program finds its own filter: higher than any descriptor that it opens.
const LISTENER: RawFd = 199;

/// Runs a program to its end while calls that concern files below a directory go as planned.
pub fn run(mut command: Command, below: &Path, plan: Plan) -> io::Result<Done> {
    let filter = filter();
    // SAFETY: between fork and exec only system calls are made, on memory that was there before.
    unsafe { command.pre_exec(move || install(&filter)) };
    let child = command.spawn()?;
    let pid = child.id();
    let listener = listener(&child)?;
    let output = std::thread::spawn(move || child.wait_with_output());
    let mut calls = Vec::new();
    let hung = !serve(&listener, pid, below, plan, &mut calls)?;
    drop(listener);
    let output = output
        .join()
        .map_err(|_| io::Error::other("the waiting thread has failed"))??;
    Ok(Done {
        output,
        calls,
        hung,
    })
}

/// A program for the kernel: every call of the list is handed out, all others go on.
fn filter() -> Vec<libc::sock_filter> {
    let step = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let mut filter = vec![step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0)];
    for (left, (number, ..)) in (1..=CALLS.len()).rev().zip(CALLS) {
        filter.push(step(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            left as u8,
            0,
            *number as u32,
        ));
    }
    filter.push(step(
        libc::BPF_RET | libc::BPF_K,
        0,
        0,
        libc::SECCOMP_RET_ALLOW,
    ));
    filter.push(step(
        libc::BPF_RET | libc::BPF_K,
        0,
        0,
        libc::SECCOMP_RET_USER_NOTIF,
    ));
    filter
}

fn checked(result: libc::c_long) -> io::Result<RawFd> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result as RawFd)
    }
}

/// In the child: from here on its calls are filtered.
fn install(filter: &[libc::sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_ptr().cast_mut(),
    };
    // SAFETY: plain system calls; the filter outlives them.
    unsafe {
        checked(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0).into())?;
        let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
        let mode = libc::SECCOMP_SET_MODE_FILTER;
        let listener = checked(libc::syscall(
            libc::SYS_seccomp,
            mode,
            flags,
            &raw const program,
        ))?;
        // The first one is closed by `exec`: to close it here would wait for somebody who listens.
        checked(libc::dup2(listener, LISTENER).into())?;
    }
    Ok(())
}

/// The child's end of its filter, taken over.
fn listener(child: &Child) -> io::Result<OwnedFd> {
    // SAFETY: plain system calls; what they return is ours.
    unsafe {
        let process =
            OwnedFd::from_raw_fd(checked(libc::syscall(libc::SYS_pidfd_open, child.id(), 0))?);
        let taken = checked(libc::syscall(
            libc::SYS_pidfd_getfd,
            process.as_raw_fd(),
            LISTENER,
            0,
        ))?;
        Ok(OwnedFd::from_raw_fd(taken))
    }
}

/// Answers all calls until the program and all that it started have ended; false if it had to be killed. Whoever it started has
/// its end of the filter, too, so without an answer a call of theirs would never return.
fn serve(
    listener: &OwnedFd,
    pid: u32,
    below: &Path,
    plan: Plan,
    calls: &mut Vec<Call>,
) -> io::Result<bool> {
    const PATIENCE_MS: i32 = 30_000;
    let mut is_killed = false;
    loop {
        let mut poll = libc::pollfd {
            fd: listener.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one valid entry.
        match unsafe { libc::poll(&raw mut poll, 1, PATIENCE_MS) } {
            0 => {
                is_killed = true;
                kill(pid);
                continue;
            }
            n if n < 0 => return Err(io::Error::last_os_error()),
            _ if poll.revents & libc::POLLIN == 0 => return Ok(!is_killed),
            _ => {}
        }
        // SAFETY: all zeros is a valid value, and what the kernel asks for.
        let mut request: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel writes one request.
        if unsafe {
            libc::ioctl(
                listener.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_RECV,
                &raw mut request,
            )
        } < 0
        {
            // The caller is gone by now.
            continue;
        }
        let call = what(&request, below);
        let number = calls.len();
        let error = match (&call, plan) {
            (Some(_), Plan::Kill(at)) if at == number => {
                // Whoever it has started is not killed with it, and waits for an answer.
                let is_own = Path::new(&format!("/proc/{pid}/task/{}", request.pid)).exists();
                kill(pid);
                if is_own {
                    calls.extend(call);
                    continue;
                }
                None
            }
            (Some(_), Plan::Fail(at, error)) if at == number => Some(error),
            (Some(call), Plan::FailFrom(at)) if at <= number => {
                call.class.errors().first().copied()
            }
            _ => None,
        };
        calls.extend(call);
        let flags = if error.is_some() {
            0
        } else {
            libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32
        };
        let mut answer = libc::seccomp_notif_resp {
            id: request.id,
            val: 0,
            error: -error.unwrap_or(0),
            flags,
        };
        // SAFETY: a whole answer. If the caller has gone meanwhile, nobody wants it.
        unsafe {
            libc::ioctl(
                listener.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_SEND,
                &raw mut answer,
            )
        };
    }
}

fn kill(pid: u32) {
    // SAFETY: it is our own child, and whoever waits for it has not been told that it ended.
    unsafe { libc::kill(pid as libc::pid_t, libc::SIGKILL) };
}

/// What a call is about, if it counts.
fn what(request: &libc::seccomp_notif, below: &Path) -> Option<Call> {
    let (_, class, about) = CALLS
        .iter()
        .find(|(number, ..)| *number == libc::c_long::from(request.data.nr))?;
    let [first, second, ..] = request.data.args;
    let path = match about {
        About::File => file(request.pid, first)?,
        About::Path => text(request.pid, first)?,
        About::At => {
            let path = text(request.pid, second)?;
            if path.is_absolute() {
                path
            } else {
                file(request.pid, first)?.join(path)
            }
        }
        About::None | About::Flags | About::FlagsAt => {
            let flags = match about {
                About::Flags => first,
                About::FlagsAt => u64::from_ne_bytes(bytes(request.pid, first)?),
                _ => libc::CLONE_THREAD as u64,
            };
            let call = Call {
                class: *class,
                about: String::new(),
            };
            return (flags & libc::CLONE_THREAD as u64 != 0).then_some(call);
        }
    };
    if matches!(about, About::File) && first <= 1 {
        let about = if first == 0 { "stdin" } else { "stdout" };
        return Some(Call {
            class: *class,
            about: about.into(),
        });
    }
    let about = path
        .strip_prefix(below)
        .ok()?
        .to_string_lossy()
        .into_owned();
    Some(Call {
        class: *class,
        about,
    })
}

/// The file of a descriptor.
fn file(pid: u32, number: u64) -> Option<PathBuf> {
    match number as i32 {
        libc::AT_FDCWD => fs::read_link(format!("/proc/{pid}/cwd")).ok(),
        number => fs::read_link(format!("/proc/{pid}/fd/{number}")).ok(),
    }
}

/// Some bytes in the memory of a process.
fn bytes<const COUNT: usize>(pid: u32, address: u64) -> Option<[u8; COUNT]> {
    let memory = fs::File::open(format!("/proc/{pid}/mem")).ok()?;
    let mut bytes = [0; COUNT];
    memory
        .read_exact_at(&mut bytes, address)
        .ok()
        .map(|()| bytes)
}

/// A path in the memory of a process.
fn text(pid: u32, address: u64) -> Option<PathBuf> {
    let memory = fs::File::open(format!("/proc/{pid}/mem")).ok()?;
    let mut bytes = [0; 4096];
    // As far as its page goes; a path rarely crosses one.
    let read = memory
        .read_at(&mut bytes, address)
        .ok()
        .filter(|_| address > 0)?;
    let path = CStr::from_bytes_until_nul(&bytes[..read]).ok()?;
    Some(PathBuf::from(OsStr::from_bytes(path.to_bytes())))
}
