//! The process: environment variables, directories, clock, time zone. Nothing else asks for them.

#![allow(clippy::disallowed_methods)] // This is where they are allowed.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::file::{self, Owners};
use session_format::boundary::substr;
use session_format::budget::Deadline;
use session_format::path::absolute;
use session_format::time::Time;

/// The longest input of a hook, and the most that comes on stdin with the blanks before it.
const INPUT_BYTES: usize = 16 << 20;
const STDIN_BYTES: usize = 64 << 20;

/// The place for a program's files on macOS. What may be deleted is in a directory of its own in there.
const SUPPORT: &str = "Library/Application Support/session-monitor";

#[derive(Clone, Default)]
pub struct Env {
    vars: BTreeMap<OsString, OsString>,
    pub home: PathBuf,
    pub cwd: PathBuf,
    fixed_now: Option<Time>,
    /// Stands for stdin where the caller is no process of its own.
    input: Option<Vec<u8>>,
    /// Stands for the running program where the caller is another one.
    program: Option<PathBuf>,
    /// When the answer has to be there, if somebody waits for it.
    pub deadline: Option<Deadline>,
    /// Shows a person how far long work is. An empty line takes the last one away.
    pub progress: Option<fn(&str)>,
    /// The format and id of the session that asks, where that is known better than from the variables.
    pub asking: Option<(String, String)>,
    /// The working directory cannot be told: it was removed, for one.
    lacks_cwd: bool,
}

impl Env {
    /// The environment of this process.
    pub fn of_process() -> Env {
        let cwd = std::env::current_dir();
        let lacks_cwd = cwd.is_err();
        Env {
            lacks_cwd,
            ..Env::given(
                std::env::vars_os(),
                cwd.unwrap_or_else(|_| PathBuf::from("/")),
                None,
            )
        }
    }

    /// An environment of these variables. Without an input, stdin is the process's.
    pub fn given(
        vars: impl IntoIterator<Item = (OsString, OsString)>,
        cwd: PathBuf,
        input: Option<Vec<u8>>,
    ) -> Env {
        let vars: BTreeMap<_, _> = vars.into_iter().collect();
        let home = vars
            .get(OsStr::new("HOME"))
            .map(PathBuf::from)
            .filter(|home| home.is_absolute());
        let fixed_now = vars
            .get(OsStr::new("SESSION_MONITOR_NOW"))
            .and_then(|now| Time::parse(now.as_encoded_bytes()));
        Env {
            home: home
                .or_else(std::env::home_dir)
                .unwrap_or_else(|| PathBuf::from("/")),
            cwd,
            vars,
            fixed_now,
            input,
            ..Env::default()
        }
    }

    /// A made-up environment: a home, a directory, and a clock that stands still.
    pub fn fixed(home: &Path, cwd: PathBuf, now: Time) -> Env {
        let vars = BTreeMap::from([("TZ".into(), "UTC".into())]);
        Env {
            vars,
            home: home.into(),
            cwd,
            fixed_now: Some(now),
            ..Env::default()
        }
    }

    /// The same environment with a variable set.
    pub fn with(mut self, name: &str, value: impl Into<OsString>) -> Env {
        self.vars.insert(name.into(), value.into());
        self
    }

    /// The same environment for another program than the running one.
    pub fn of_program(mut self, program: PathBuf) -> Env {
        self.program = Some(program);
        self
    }

    /// A copy of this environment with another working directory.
    pub fn at(&self, cwd: PathBuf) -> Env {
        Env {
            cwd,
            lacks_cwd: false,
            ..self.clone()
        }
    }

    /// An error if nobody knows which project this is about: `/` stands for a working directory that is gone, and is none.
    pub fn check_cwd(&self) -> Result<(), &'static str> {
        if self.lacks_cwd {
            Err("the working directory was removed; change to one that exists")
        } else {
            Ok(())
        }
    }

    /// Makes a directory for a while; the caller deletes it.
    pub fn temporary_dir(&self, name: &str) -> std::io::Result<PathBuf> {
        let path = std::env::temp_dir().join(format!(
            "{name}-{}-{}",
            std::process::id(),
            self.file_clock()
        ));
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .map(|()| path)
    }

    /// A variable, if it is set to something.
    pub fn var(&self, name: &str) -> Option<&OsStr> {
        self.vars
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }

    /// A variable that only debug builds obey.
    fn set_by_test(&self, name: &str) -> Option<&str> {
        if cfg!(debug_assertions) {
            self.var(name)?.to_str()
        } else {
            None
        }
    }

    /// A limit for something that usually does not take so long. Tests have more patience, so that it makes no
    /// difference how busy the machine is.
    pub fn patience(&self, usual: Duration) -> Duration {
        self.set_by_test("SESSION_MONITOR_PATIENCE")
            .and_then(|span| humantime::parse_duration(span).ok())
            .unwrap_or(usual)
    }

    /// Somebody waits, and there is only time left to tell what was found.
    pub fn is_late(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| deadline.is_time_to_tell())
    }

    /// The first of very many things, if there is no time for all: each time another one.
    pub fn turn(&self, count: usize) -> usize {
        (self.file_clock() / 1000).unsigned_abs() as usize % count.max(1)
    }

    /// A clock for tests, as [`Deadline::after_looks`] has it.
    pub fn test_clock(&self) -> Option<u32> {
        self.set_by_test("SESSION_CONTEXT_LOOKS")?.parse().ok()
    }

    /// The user has switched the hook off.
    pub fn is_off(&self) -> bool {
        self.var("SESSION_CONTEXT")
            .is_some_and(|value| value == "off")
    }

    pub fn now(&self) -> Time {
        self.fixed_now
            .unwrap_or_else(|| Time::from_nanos(self.file_clock()))
    }

    /// The clock that files are stamped by, in nanoseconds since 1970, whatever time is taken for now.
    pub fn file_clock(&self) -> i64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        // Enough until the year 2262.
        since.map_or(0, |since| since.as_nanos() as i64)
    }

    /// A moment by the clock that files are stamped by.
    pub(crate) fn file_clock_at(&self, time: Time) -> i64 {
        self.file_clock()
            .saturating_sub((self.now().0.saturating_sub(time.0)).saturating_mul(1_000_000))
    }

    /// Everything on stdin, if it comes within a time and is not too long; an agent that keeps it open must not keep the
    /// prompt waiting. Leading blanks are dropped; after very many trailing blanks the rest is ignored.
    pub fn stdin(&self, patience: Duration) -> Result<Vec<u8>, String> {
        use rustix::buffer::spare_capacity;
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        if let Some(input) = &self.input {
            return Ok(input.clone());
        }
        // The one of the standard library makes room for what it reads, and here nothing is left over.
        let stdin = rustix::stdio::stdin();
        let mut input = Vec::with_capacity(4 * 1024);
        // Where the last word ends, so that blanks behind it are looked at once. And how much has come in all.
        let (mut end, mut came) = (0, 0);
        let is_json = |input: &[u8]| serde_json::from_slice::<serde::de::IgnoredAny>(input).is_ok();
        let started = Instant::now();
        loop {
            let mut left = patience.saturating_sub(started.elapsed());
            // What looks whole is taken as whole if nothing more comes at once: somebody may keep his end open.
            let whole = input[..end].ends_with(b"}");
            if whole {
                left = left.min(Duration::from_millis(20));
            }
            let left = Timespec {
                tv_sec: left.as_secs() as i64,
                tv_nsec: left.subsec_nanos().into(),
            };
            let ready = poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&left));
            if ready == Ok(0) {
                // A brace may end a part of it only.
                if whole && is_json(&input) {
                    return Ok(input);
                }
                if started.elapsed() >= patience {
                    return Err("stdin: nothing, or no end of it, in time".into());
                }
                continue;
            }
            input.reserve(1024);
            match rustix::io::read(stdin, spare_capacity(&mut input)) {
                Ok(0) => return Ok(input),
                Ok(length) => {
                    let before = input.len() - length;
                    let word = input[before..]
                        .iter()
                        .rposition(|byte| !byte.is_ascii_whitespace());
                    end = word.map_or(end, |word| before + word + 1);
                    came += length;
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(format!("stdin: {error}")),
            }
            if end == 0 {
                input.clear();
            }
            if input.len() > INPUT_BYTES || came > STDIN_BYTES {
                input.truncate(end);
                let problem = || format!("stdin: more than {} MB, not read", INPUT_BYTES >> 20);
                return Some(input)
                    .filter(|input| is_json(input))
                    .ok_or_else(problem);
            }
        }
    }

    /// The user whose files this process makes.
    pub fn user(&self) -> u32 {
        rustix::process::geteuid().as_raw()
    }

    /// Whose files are the user's own.
    pub(crate) fn owners(&self) -> Owners {
        let home = file::stat(&self.home).ok().flatten();
        Owners([
            self.user(),
            home.map_or_else(|| self.user(), |home| home.uid()),
        ])
    }

    /// The file of the running program.
    pub fn program(&self) -> std::io::Result<PathBuf> {
        self.program.clone().map_or_else(std::env::current_exe, Ok)
    }

    /// `~` and `~/…` in a path that a user or a descriptor wrote.
    pub fn expand(&self, path: &str) -> PathBuf {
        match path.strip_prefix('~') {
            Some("") => self.home.clone(),
            Some(rest) if rest.starts_with('/') => self.home.join(substr(rest, 1..)),
            _ => self.cwd.join(path),
        }
    }

    pub fn config_dir(&self) -> PathBuf {
        self.dir("XDG_CONFIG_HOME", ".config", SUPPORT)
    }

    pub fn cache_dir(&self) -> PathBuf {
        self.dir("XDG_CACHE_HOME", ".cache", "Library/Caches/session-monitor")
    }

    pub fn state_dir(&self) -> PathBuf {
        self.dir(
            "XDG_STATE_HOME",
            ".local/state",
            "Library/Application Support/session-monitor/state",
        )
    }

    /// For what the user wrote: nothing in it may be deleted.
    pub fn data_dir(&self) -> PathBuf {
        self.dir("XDG_DATA_HOME", ".local/share", SUPPORT)
    }

    /// The XDG directory where its variable is set or the platform has none of its own, else the platform's.
    fn dir(&self, xdg: &str, unix: &str, mac: &str) -> PathBuf {
        let chosen = self
            .var(xdg)
            .map(PathBuf::from)
            .filter(|dir| dir.is_absolute());
        match chosen {
            None if cfg!(target_os = "macos") => self.home.join(mac),
            chosen => chosen
                .unwrap_or_else(|| self.home.join(unix))
                .join("session-monitor"),
        }
    }

    /// Variables whose values are of no use, with what is used instead.
    pub fn problems(&self) -> Vec<String> {
        let bad = |name: &str, is_bad: bool, instead: &str| {
            let value = self.var(name).filter(|_| is_bad)?;
            Some(format!("{name}={}: {instead}", value.to_string_lossy()))
        };
        let is_unknown =
            self.var("TZ").is_some_and(|zone| zone != "UTC") && self.time_zone().is_none();
        let zone = bad("TZ", is_unknown, "not a known time zone; UTC is used");
        let no_time = "not a time like 2026-11-16T12:00:00Z; the clock is used";
        zone.into_iter()
            .chain(bad(
                "SESSION_MONITOR_NOW",
                self.fixed_now.is_none(),
                no_time,
            ))
            .collect()
    }

    /// Width of the output: `COLUMNS`, else the terminal's, else as wide as it gets.
    pub fn width(&self, terminal: bool) -> Option<usize> {
        let asked = self
            .var("COLUMNS")
            .and_then(|text| text.to_str()?.parse().ok())
            .filter(|width| *width > 0);
        asked.or_else(|| {
            terminal.then(|| {
                terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0))
            })
        })
    }

    /// Rows of the terminal.
    pub fn height(&self) -> usize {
        terminal_size::terminal_size().map_or(24, |(_, height)| usize::from(height.0))
    }

    /// Colours, if the user did not say: on a terminal that can, or where `CLICOLOR_FORCE` asks for them; never
    /// where `NO_COLOR` forbids it.
    pub fn colour(&self, terminal: bool) -> bool {
        let forced = self.var("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        let can = terminal && self.var("TERM").is_none_or(|term| term != "dumb");
        (forced || can) && self.var("NO_COLOR").is_none()
    }

    /// The command that shows long output, as the user set it; empty if nothing is to.
    pub fn pager(&self) -> Option<String> {
        let set = self
            .vars
            .get(OsStr::new("PAGER"))
            .map(|pager| pager.to_string_lossy().trim().to_owned());
        // A terminal that cannot move its cursor cannot be paged.
        let cannot = self.var("TERM").is_none_or(|term| term == "dumb");
        if cannot { Some(String::new()) } else { set }
    }

    /// The user set the options of less.
    pub fn sets_less(&self) -> bool {
        self.vars.contains_key(OsStr::new("LESS"))
    }

    /// Somebody can type an answer.
    pub fn has_terminal(&self) -> bool {
        self.input.is_none() && std::io::stdin().is_terminal()
    }

    /// A line that somebody types at the terminal.
    pub fn answer(&self) -> String {
        let mut line = String::new();
        let _ = std::io::stdin().read_line(&mut line);
        line.trim().to_lowercase()
    }

    pub fn zone(&self) -> Zone {
        Zone(self.time_zone().unwrap_or(jiff::tz::TimeZone::UTC))
    }

    /// The zone that `TZ` names, else the machine's. The file is read directly: a time zone database looks at every
    /// zone there is first, which costs more than showing a session.
    fn time_zone(&self) -> Option<jiff::tz::TimeZone> {
        use jiff::tz::TimeZone;
        let file = |path: &Path| TimeZone::tzif("", &crate::file::read(path).ok()?).ok();
        match self.var("TZ").map(|zone| zone.to_string_lossy()) {
            None => file(Path::new("/etc/localtime")),
            Some(zone) => {
                let name = zone.trim_start_matches(':');
                file(&Path::new("/usr/share/zoneinfo").join(name))
                    .or_else(|| TimeZone::posix(name).ok())
            }
        }
    }

    /// The user's descriptors.
    pub fn formats_dir(&self) -> PathBuf {
        self.config_dir().join("formats")
    }

    /// A path as a person writes it, with `~` for the home directory.
    pub fn tilde(&self, path: &Path) -> String {
        // Comparing paths part by part takes long, and most do not even begin alike.
        let home = self.home.as_os_str().as_encoded_bytes();
        if !path
            .as_os_str()
            .as_encoded_bytes()
            .starts_with(home.strip_suffix(b"/").unwrap_or(home))
        {
            return path.to_string_lossy().into_owned();
        }
        match path.strip_prefix(&self.home) {
            Ok(rest) if rest.as_os_str().is_empty() => "~".into(),
            Ok(rest) => format!("~/{}", rest.display()),
            Err(_) => path.display().to_string(),
        }
    }

    /// The file that a shell would run for a word.
    pub fn installed(&self, word: &str) -> Option<PathBuf> {
        let is_program = |path: &PathBuf| {
            let meta = file::stat(path).ok().flatten();
            meta.is_some_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        };
        if word.contains('/') {
            return Some(self.cwd.join(word)).filter(is_program);
        }
        let path = self.var("PATH").unwrap_or("/usr/bin:/bin".as_ref());
        std::env::split_paths(path)
            .map(|dir| self.cwd.join(dir).join(word))
            .find(is_program)
    }

    /// A path relative to the working directory, else to the session's directory, else with `~`.
    pub fn shown(&self, path: &Path, cwd: Option<&str>) -> String {
        let below = |dir: &Path| {
            path.strip_prefix(dir)
                .ok()
                .map(|below| below.display().to_string())
        };
        below(&self.cwd)
            .or_else(|| below(Path::new(cwd?)))
            .unwrap_or_else(|| self.tilde(path))
    }

    /// The same for a path as the session wrote it, which may be relative.
    pub fn shown_from(&self, cwd: Option<&str>, path: &str) -> String {
        self.shown(&absolute(cwd.map_or(&*self.cwd, Path::new), path), cwd)
    }
}

/// Makes a function that returns an exit status the `main` of a program.
///
/// With glibc it takes the place of what Rust does before `main`. Most of that is reading `/proc/self/maps` to recognise a
/// stack overflow, which costs a hook a tenth of an empty program at every prompt. The kernel ends a program that overflows
/// its stack all the same.
#[macro_export]
macro_rules! program {
    ($run:path) => {
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        #[unsafe(no_mangle)]
        extern "C" fn main() -> std::ffi::c_int {
            $crate::env::start();
            std::process::exit(i32::from($run()))
        }

        #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
        fn main() -> std::process::ExitCode {
            // Rust has done most of it, but not for files that get too long.
            $crate::env::start();
            $run().into()
        }
    };
}

extern "C" fn nothing(_: libc::c_int) {}

/// Does what a Rust program relies on: stdin, stdout and stderr are open, so that no file that is opened later is taken for
/// one of them, and writing to a closed pipe, or more to a file than the user may, is an error and not the end.
pub fn start() {
    let mut streams = [0, 1, 2].map(|fd| libc::pollfd {
        fd,
        events: 0,
        revents: 0,
    });
    // SAFETY: system calls on a live array, a constant path, and signals with a handler that does nothing or none.
    unsafe {
        libc::poll(streams.as_mut_ptr(), 3, 0);
        for _closed in streams
            .iter()
            .filter(|stream| stream.revents & libc::POLLNVAL != 0)
        {
            // It becomes the lowest descriptor that is not open.
            libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        }
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        // Unlike one that is ignored, a signal with a handler is as usual in the programs that we start.
        libc::signal(
            libc::SIGXFSZ,
            nothing as extern "C" fn(libc::c_int) as libc::sighandler_t,
        );
    }
}

/// The time zone of the user.
pub struct Zone(jiff::tz::TimeZone);

impl Zone {
    /// The moment when clocks here show what `wall` is in UTC.
    pub fn of_wall_clock(&self, wall: Time) -> Time {
        let civil = jiff::tz::TimeZone::UTC.to_datetime(timestamp(wall));
        self.0
            .to_timestamp(civil)
            .map_or(wall, |stamp| Time(stamp.as_millisecond()))
    }

    /// The time that clocks here show at a moment, held as if it were UTC.
    pub fn wall_clock(&self, time: Time) -> Time {
        Time(time.0 + 1000 * i64::from(self.0.to_offset(timestamp(time)).seconds()))
    }

    /// `UTC`, `UTC+5:30`: what tells somebody elsewhere when that was.
    pub fn offset(&self, time: Time) -> String {
        let minutes = self.0.to_offset(timestamp(time)).seconds() / 60;
        let sign = if minutes < 0 { '-' } else { '+' };
        match (minutes.abs() / 60, minutes.abs() % 60) {
            (0, 0) => "UTC".into(),
            (hours, 0) => format!("UTC{sign}{hours}"),
            (hours, minutes) => format!("UTC{sign}{hours}:{minutes:02}"),
        }
    }

    /// Date and time of day: `2026-01-31`, `14:25`.
    pub fn local(&self, time: Time) -> (String, String) {
        let local = self.0.to_datetime(timestamp(time));
        (
            local.date().to_string(),
            local.strftime("%H:%M").to_string(),
        )
    }
}

fn timestamp(time: Time) -> jiff::Timestamp {
    jiff::Timestamp::from_millisecond(time.0).unwrap_or_default()
}

/// `2026-11-16T02:36:14.044Z`, for machines.
pub fn iso(time: Time) -> String {
    jiff::Timestamp::from_millisecond(time.0)
        .map_or_else(|_| String::new(), |stamp| format!("{stamp:.3}"))
}
