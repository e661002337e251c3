//! The programs, run in a world: in this process where that will do, as processes or in a terminal where it must be.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use clap::ColorChoice;
use rustix::process::{Resource, Rlimit, setrlimit};
use session_context::args::{self as context, Context};
use session_context::hook;
use session_core::env::Env;
use session_core::show::terminal::Style;
use session_core::stage;

use crate::support::times::NOW;
use crate::support::world::{World, scratch, skipped};

pub const READER: &str = "session-reader";

/// When a program counts as hanging, so that it does not hang all tests. No test expects anything to be faster than that.
pub const WATCHDOG: Duration = Duration::from_mins(15);

/// Something done to a process before it starts.
type Alteration = Box<dyn FnOnce(&mut Command) + Send>;

/// A program with its arguments and environment.
///
/// It runs in this process, through the functions that the programs call, because a process costs more than most of what
/// is tested. What only a process can show makes it one: `process`, `alter`, `stdout_to`, `stdin_stays_open`, `spawn`.
pub struct Run {
    program: &'static str,
    args: Vec<OsString>,
    vars: BTreeMap<OsString, OsString>,
    dir: PathBuf,
    input: Vec<u8>,
    stays_open: bool,
    out: Option<Stdio>,
    is_process: bool,
    alterations: Vec<Alteration>,
}

impl Run {
    pub fn new(world: &World, program: &'static str, args: &[&str]) -> Run {
        let home = world.path("");
        let mut vars = vec![
            ("HOME", home.clone().into_os_string()),
            ("TZ", "UTC".into()),
        ];
        vars.push(("SESSION_MONITOR_NOW", NOW.into()));
        // However busy the machine is. A test of a deadline sets its own.
        vars.extend(
            ["SESSION_CONTEXT_DEADLINE", "SESSION_MONITOR_PATIENCE"]
                .map(|name| (name, "1h".into())),
        );
        for (name, dir) in [
            ("XDG_CONFIG_HOME", ".config"),
            ("XDG_CACHE_HOME", ".cache"),
            ("XDG_STATE_HOME", ".state"),
            ("XDG_DATA_HOME", ".data"),
        ] {
            vars.push((name, home.join(dir).into_os_string()));
        }
        Run {
            program,
            args: args.iter().map(OsString::from).collect(),
            vars: vars
                .into_iter()
                .map(|(name, value)| (name.into(), value))
                .collect(),
            dir: home.join("work"),
            input: Vec::new(),
            stays_open: false,
            out: None,
            is_process: false,
            alterations: Vec::new(),
        }
    }

    /// What the program gets on stdin.
    pub fn stdin(mut self, input: impl Into<Vec<u8>>) -> Run {
        self.input = input.into();
        self
    }

    /// Nobody closes its stdin before it ends.
    pub fn stdin_stays_open(mut self) -> Run {
        self.stays_open = true;
        self.process()
    }

    /// Where stdout goes, for a test of output that does not arrive.
    pub fn stdout_to(mut self, out: impl Into<Stdio>) -> Run {
        self.out = Some(out.into());
        self.process()
    }

    pub fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Run {
        self.vars.insert(name.into(), value.as_ref().into());
        self
    }

    pub fn env_remove(mut self, name: &str) -> Run {
        self.vars.remove(std::ffi::OsStr::new(name));
        self
    }

    pub fn arg(mut self, arg: impl Into<OsString>) -> Run {
        self.args.push(arg.into());
        self
    }

    pub fn dir(mut self, dir: impl AsRef<Path>) -> Run {
        self.dir = dir.as_ref().to_path_buf();
        self
    }

    /// Runs it as a process of its own.
    pub fn process(mut self) -> Run {
        self.is_process = true;
        self
    }

    /// Runs it as a process of its own to which something is done before it starts.
    pub fn alter(mut self, alteration: impl FnOnce(&mut Command) + Send + 'static) -> Run {
        self.alterations.push(Box::new(alteration));
        self.process()
    }

    /// A process without root's right to read and write everything. Only Linux has a way to take that from root.
    #[cfg(not(target_os = "linux"))]
    pub fn without_rights(self) -> Run {
        self.process()
    }

    /// A process without root's right to read and write everything.
    #[cfg(target_os = "linux")]
    pub fn without_rights(self) -> Run {
        use std::os::unix::process::CommandExt;
        const DAC_OVERRIDE: libc::c_ulong = 1;
        const DAC_READ_SEARCH: libc::c_ulong = 2;
        let drop_rights = || {
            for right in [DAC_OVERRIDE, DAC_READ_SEARCH] {
                // SAFETY: no pointers. Who is not root has neither the right nor the right to drop it.
                unsafe { libc::prctl(libc::PR_CAPBSET_DROP, right, 0, 0, 0) };
            }
            Ok(())
        };
        // SAFETY: system calls, nothing shared.
        self.alter(move |command| unsafe { _ = command.pre_exec(drop_rights) })
    }

    fn shown(&self) -> String {
        let args: Vec<_> = self.args.iter().map(|arg| arg.to_string_lossy()).collect();
        format!("{} {}", self.program, args.join(" "))
    }

    fn path(&self) -> &'static Path {
        Path::new(if self.program == READER {
            env!("CARGO_BIN_EXE_session-reader")
        } else {
            env!("CARGO_BIN_EXE_session-context")
        })
    }

    fn command(&mut self) -> Command {
        let mut command = Command::new(self.path());
        command
            .args(&self.args)
            .env_clear()
            .envs(&self.vars)
            .current_dir(&self.dir);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(out) = self.out.take() {
            command.stdout(out);
        }
        command
    }

    /// Runs it to its end.
    pub fn run(self) -> Done {
        let shown = self.shown();
        let (sender, receiver) = std::sync::mpsc::channel();
        let (pid, held) = if self.is_process {
            let (child, held) = self.start();
            let pid = child.id();
            std::thread::spawn(move || {
                let output = child.wait_with_output().expect("the program runs");
                let (code, out, err) = (output.status.code(), output.stdout, output.stderr);
                sender.send(Ended {
                    code,
                    out,
                    err,
                    cpu: Duration::ZERO,
                })
            });
            (Some(pid), held)
        } else {
            // As much stack as the first thread of a process has.
            let thread = std::thread::Builder::new().stack_size(8 << 20);
            let measured = move || {
                let start = cpu_time();
                let ended = self.run_here();
                sender.send(Ended {
                    cpu: cpu_time().saturating_sub(start),
                    ..ended
                })
            };
            thread.spawn(measured).expect("a thread");
            (None, None)
        };
        let ended = receiver.recv_timeout(WATCHDOG);
        drop(held);
        if let (Err(RecvTimeoutError::Timeout), Some(pid)) = (&ended, pid) {
            // SAFETY: it is our own child, and it has not been waited for.
            unsafe { libc::kill(pid as libc::pid_t, libc::SIGKILL) };
        }
        let ended = ended.unwrap_or_else(|error| match error {
            RecvTimeoutError::Timeout => panic!("$ {shown}\nstill runs after {WATCHDOG:?}"),
            RecvTimeoutError::Disconnected => panic!("$ {shown}\npanicked"),
        });
        Done { ended, shown }
    }

    /// What the program would do, without the program. The two `main` functions do the same.
    fn run_here(self) -> Ended {
        let program = self.path().canonicalize().expect("the program");
        let env = Env::given(self.vars, self.dir, Some(self.input)).of_program(program);
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let argv = || std::iter::once(self.program.into()).chain(self.args.iter().cloned());
        let style = |colors: ColorChoice| Style::new(&env, false, stage::wanted_colour(colors));
        let exit = if self.program == READER {
            let stop = AtomicBool::new(false);
            session_reader::args::parse(argv(), &env, false).map(|reader| {
                let style = style(reader.colors.color);
                session_reader::run(reader.command, &env, style, &mut out, &mut err, &stop)
            })
        } else if context::is_hook(&self.args, false) {
            hook::Run::new(&mut out, &mut err).answer(self.args.into_iter(), env);
            return Ended {
                code: Some(0),
                out,
                err,
                cpu: Duration::ZERO,
            };
        } else {
            stage::parse::<Context>(argv(), &env, false).map(|context| {
                let style = style(context.colors.color);
                context::run(context.command, &env, style, &mut out, &mut err)
            })
        };
        let code = exit.map_or_else(
            |error| {
                let text = error.render().to_string().into_bytes();
                *(if error.use_stderr() {
                    &mut err
                } else {
                    &mut out
                }) = text;
                error.exit_code()
            },
            |exit| exit as i32,
        );
        Ended {
            code: Some(code),
            out,
            err,
            cpu: Duration::ZERO,
        }
    }

    /// Starts the process; whoever has what comes with it keeps its stdin open.
    fn start(mut self) -> (Child, Option<std::io::PipeWriter>) {
        use std::io::Write;
        let mut command = self.command();
        let mut held = None;
        if !self.input.is_empty() || self.stays_open {
            // Through a pipe, as from an agent.
            let (reader, mut writer) = std::io::pipe().expect("a pipe");
            command.stdin(reader);
            if self.stays_open {
                writer
                    .write_all(&self.input)
                    .expect("less than a pipe holds");
                held = Some(writer);
            } else {
                // It may be more than a pipe holds, and a program need not read it.
                std::thread::spawn(move || writer.write_all(&self.input));
            }
        }
        self.alterations
            .into_iter()
            .for_each(|alter| alter(&mut command));
        (command.spawn().expect("the program starts"), held)
    }

    /// Starts a process with its output in pipes, for a test that reads along or runs several at once.
    pub fn spawn(self) -> Child {
        self.start().0
    }
}

/// Runs several at the same time.
pub fn at_once(runs: Vec<Run>) -> Vec<Done> {
    let gate = std::sync::Barrier::new(runs.len());
    let go = |run: Run| {
        gate.wait();
        run.run()
    };
    std::thread::scope(|scope| {
        let all: Vec<_> = runs
            .into_iter()
            .map(|run| scope.spawn(|| go(run)))
            .collect();
        all.into_iter()
            .map(|one| one.join().expect("it ends"))
            .collect()
    })
}

/// How a program ended; without a code, by a signal.
struct Ended {
    code: Option<i32>,
    out: Vec<u8>,
    err: Vec<u8>,
    cpu: Duration,
}

/// The CPU time that this thread has taken so far.
fn cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a call with a valid place for the result.
    assert_eq!(
        unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) },
        0
    );
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// What a program did. Every failed expectation shows all of it.
pub struct Done {
    ended: Ended,
    shown: String,
}

impl Done {
    pub fn out(&self) -> &str {
        std::str::from_utf8(&self.ended.out).expect("valid UTF-8 on stdout")
    }

    pub fn err(&self) -> &str {
        std::str::from_utf8(&self.ended.err).expect("valid UTF-8 on stderr")
    }

    /// The exit status, if no signal ended it.
    pub fn code(&self) -> Option<i32> {
        self.ended.code
    }

    /// The CPU time that it took, if it was no process.
    pub fn cpu(&self) -> Duration {
        self.ended.cpu
    }

    fn all(&self) -> String {
        format!(
            "$ {}\nstatus {:?}\n--- stdout\n{}--- stderr\n{}---",
            self.shown,
            self.ended.code,
            self.out(),
            self.err()
        )
    }

    #[track_caller]
    pub fn status(self, expected: i32) -> Done {
        assert_eq!(self.ended.code, Some(expected), "{}", self.all());
        self
    }

    /// Status 0 and nothing on stderr.
    #[track_caller]
    pub fn success(self) -> Done {
        assert_eq!(self.err(), "", "{}", self.all());
        self.status(0)
    }

    /// The whole of stdout.
    #[track_caller]
    pub fn stdout(self, expected: &str) -> Done {
        assert_eq!(self.out(), expected, "{}", self.all());
        self
    }

    /// The whole of stderr.
    #[track_caller]
    pub fn stderr(self, expected: &str) -> Done {
        assert_eq!(self.err(), expected, "{}", self.all());
        self
    }

    #[track_caller]
    pub fn stderr_has(self, part: &str) -> Done {
        assert!(
            self.err().contains(part),
            "stderr lacks {part:?}\n{}",
            self.all()
        );
        self
    }

    /// The lines of stdout as JSON. Those of a command must have the number of a schema, which is left out here; a hook's have
    /// the form that its agent wants.
    #[track_caller]
    pub fn json(&self) -> Vec<serde_json::Value> {
        let out = if self.shown.contains("json") {
            &without_schema(self.out())
        } else {
            self.out()
        };
        out.lines()
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
            })
            .collect()
    }

    /// The whole of stdout, objects that end with the number of their schema.
    #[track_caller]
    pub fn objects(self, expected: &str) -> Done {
        assert_eq!(without_schema(self.out()), expected, "{}", self.all());
        self
    }
}

/// Lines of JSON without the number of the schema, which is the last key of each.
#[track_caller]
pub fn without_schema(lines: &str) -> String {
    let rest = |line: &str| {
        let rest = line.strip_suffix(",\"schema\":1}");
        rest.unwrap_or_else(|| panic!("no schema: {line}"))
            .to_owned()
            + "}\n"
    };
    lines.lines().map(rest).collect()
}

pub fn limit(command: &mut Command, resource: Resource, most: u64) {
    // SAFETY: a system call, nothing shared.
    unsafe {
        command.pre_exec(move || {
            Ok(setrlimit(
                resource,
                Rlimit {
                    current: Some(most),
                    maximum: Some(most),
                },
            )?)
        });
    }
}

pub fn in_a_terminal(world: &World, args: &str, variable: (&str, &str)) -> Option<String> {
    in_a_terminal_of(24, world, &format!("session-reader {args}"), variable, "")
}

/// Runs a program in a terminal of its own of 80 columns and so many rows, by `script` from util-linux, with something
/// typed in; none where there is no `script`.
pub fn in_a_terminal_of(
    rows: u32,
    world: &World,
    line: &str,
    variable: (&str, &str),
    typed: &str,
) -> Option<String> {
    use std::io::Write;
    let programs = std::path::Path::new(env!("CARGO_BIN_EXE_session-reader"))
        .parent()
        .expect("a directory");
    let child = Command::new("/usr/bin/script")
        .args([
            "-qec",
            &format!("stty cols 80 rows {rows}; {}/{line}", programs.display()),
            "/dev/null",
        ])
        .env_clear()
        .env("HOME", world.path(""))
        .env("PATH", "/usr/bin:/bin")
        .env("TERM", "xterm")
        .env("TZ", "UTC")
        .env("SESSION_MONITOR_NOW", NOW)
        // Nobody is there to quit a pager.
        .env("PAGER", "cat")
        .env(variable.0, variable.1)
        .current_dir(world.path("work"))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        skipped("a test on a terminal: there is no `script` on this machine");
        return None;
    };
    // It may have ended without reading anything.
    let _ = child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(typed.as_bytes());
    let done = child.wait_with_output().expect("it ends");
    Some(
        String::from_utf8(done.stdout)
            .expect("UTF-8")
            .replace('\r', ""),
    )
}

/// Runs the test that calls it once more, in a process of its own, and says so; a test that hears it returns. The programs
/// free nothing that ends with them, so it stays here: a test that runs very many of them leaves gigabytes behind, and one
/// that starts processes by `fork` copies the tables of all that, which takes longer than most tests.
#[track_caller]
pub fn ran_in_own_process() -> bool {
    use std::io::Write;
    const IS_OWN: &str = "SESSION_MONITOR_OWN_PROCESS";
    let thread = std::thread::current();
    // With one thread, tests run in the first one, which has no name of a test.
    let test = thread.name().filter(|name| name.contains("::"));
    let Some(test) = test.filter(|_| std::env::var_os(IS_OWN).is_none()) else {
        return false;
    };
    let mut command = Command::new(std::env::current_exe().expect("the tests"));
    command
        .args(["--exact", test, "--nocapture"])
        .env(IS_OWN, "1")
        .env("TMPDIR", scratch());
    let done = command.output().expect("the tests run");
    let _ = std::io::stderr().write_all(&done.stderr);
    let out = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.success() && out.contains("1 passed"),
        "{out}{}",
        String::from_utf8_lossy(&done.stderr)
    );
    true
}

/// The path of `session-context`.
pub fn program() -> String {
    let path = Path::new(env!("CARGO_BIN_EXE_session-context"))
        .canonicalize()
        .expect("the program");
    path.to_str().expect("UTF-8").to_owned()
}
