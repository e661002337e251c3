//! A world for a test: a temporary HOME with sessions in it, a fixed clock, and the programs run in it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// The time it is in every test, unless a test says otherwise.
pub const NOW: &str = "2026-11-16T03:00:00Z";

pub struct World {
    dir: tempfile::TempDir,
}

impl World {
    pub fn new() -> World {
        let world = World { dir: tempfile::tempdir().expect("a temporary directory") };
        std::fs::create_dir_all(world.path("work")).expect("a working directory");
        world
    }

    /// A path below HOME. `work` is where programs run.
    pub fn path(&self, below: impl AsRef<Path>) -> PathBuf {
        // The real path, because agents resolve links before they write a working directory down.
        self.dir.path().canonicalize().expect("HOME exists").join(below)
    }

    pub fn write(&self, below: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(below);
        assert!(path.starts_with(self.path("")), "a test writes below its own HOME");
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("parent directories");
        std::fs::write(&path, content).expect("a file");
        path
    }

    pub fn append(&self, below: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        use std::io::Write;
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(self.path(below)).expect("a file");
        file.write_all(content.as_ref()).expect("appended");
    }

    /// Copies a directory of `testdata/` to a place below HOME.
    pub fn install(&self, testdata: &str, below: &str) {
        copy(&self::testdata(testdata), &self.path(below));
    }

    /// A Claude Code transcript of a session in the working directory.
    pub fn claude(&self, id: &str, lines: &str) -> PathBuf {
        let cwd = self.path("work");
        let dir: String = cwd
            .to_str()
            .expect("UTF-8")
            .chars()
            .map(|char| if char.is_ascii_alphanumeric() { char } else { '-' })
            .collect();
        self.write(format!(".claude/projects/{dir}/{id}.jsonl"), lines)
    }

    /// `session-context` with some arguments, ready to run.
    pub fn context(&self, args: &[&str]) -> Run {
        Run::new(self, env!("CARGO_BIN_EXE_session-context"), args)
    }

    /// `session-reader` with some arguments, ready to run.
    pub fn reader(&self, args: &[&str]) -> Run {
        Run::new(self, env!("CARGO_BIN_EXE_session-reader"), args)
    }
}

pub fn testdata(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(below)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a directory");
    for entry in std::fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())) {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).expect("a copy");
        }
    }
}

/// A program with its arguments and environment.
pub struct Run {
    command: Command,
    shown: String,
    out: Option<Stdio>,
}

impl Run {
    fn new(world: &World, program: &str, args: &[&str]) -> Run {
        let mut command = Command::new(program);
        command.args(args).env_clear().current_dir(world.path("work")).stdin(Stdio::null());
        command.env("HOME", world.path("")).env("TZ", "UTC").env("SESSION_MONITOR_NOW", NOW);
        for (name, dir) in [
            ("XDG_CONFIG_HOME", ".config"),
            ("XDG_CACHE_HOME", ".cache"),
            ("XDG_STATE_HOME", ".state"),
            ("XDG_DATA_HOME", ".data"),
        ] {
            command.env(name, world.path(dir));
        }
        let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or(program);
        Run { command, shown: format!("{name} {}", args.join(" ")), out: None }
    }

    /// What the program gets on stdin: through a pipe, as from an agent.
    pub fn stdin(mut self, input: impl Into<Vec<u8>>) -> Run {
        use std::io::Write;
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        let input = input.into();
        self.command.stdin(reader);
        // It may be more than a pipe holds, and a program need not read it.
        std::thread::spawn(move || writer.write_all(&input));
        self
    }

    /// Where stdout goes, for a test of output that does not arrive.
    pub fn stdout_to(mut self, out: impl Into<Stdio>) -> Run {
        self.out = Some(out.into());
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Run {
        self.command.env(name, value);
        self
    }

    pub fn dir(mut self, dir: impl AsRef<Path>) -> Run {
        self.command.current_dir(dir);
        self
    }

    /// Runs it to its end. One that hangs must not hang all tests.
    pub fn run(mut self) -> Done {
        const PATIENCE: Duration = Duration::from_secs(60);
        let out = self.out.take().unwrap_or_else(Stdio::piped);
        let child = self.command.stdout(out).stderr(Stdio::piped()).spawn().expect("the program starts");
        let pid = child.id();
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(child.wait_with_output()));
        let output = receiver.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            // SAFETY: it is our own child, and it has not been waited for.
            unsafe { libc::kill(pid as libc::pid_t, libc::SIGKILL) };
            panic!("$ {}\nstill runs after {PATIENCE:?}", self.shown)
        });
        Done { output: output.expect("the program runs"), shown: self.shown }
    }

    /// Starts it with its output in pipes, for a test that reads along.
    pub fn spawn(mut self) -> Child {
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    }
}

/// What a program did. Every failed expectation shows all of it.
pub struct Done {
    output: Output,
    shown: String,
}

impl Done {
    pub fn out(&self) -> &str {
        std::str::from_utf8(&self.output.stdout).expect("valid UTF-8 on stdout")
    }

    pub fn err(&self) -> &str {
        std::str::from_utf8(&self.output.stderr).expect("valid UTF-8 on stderr")
    }

    fn all(&self) -> String {
        format!("$ {}\n{}\n--- stdout\n{}--- stderr\n{}---", self.shown, self.output.status, self.out(), self.err())
    }

    #[track_caller]
    pub fn status(self, expected: i32) -> Done {
        assert_eq!(self.output.status.code(), Some(expected), "{}", self.all());
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
        assert!(self.err().contains(part), "stderr lacks {part:?}\n{}", self.all());
        self
    }

    /// The lines of stdout as JSON.
    #[track_caller]
    pub fn json(&self) -> Vec<serde_json::Value> {
        self.out()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
            .collect()
    }
}

/// A line of a Claude session with an id made from what it says.
fn line(kind: &str, cwd: &Path, time: &str, content: &str) -> String {
    let (cwd, uuid) = (cwd.display(), format!("{kind}-{time}-{content}").replace('"', "'"));
    let content = serde_json::Value::from(content);
    format!(
        r#"{{"type":"{kind}","uuid":{},"cwd":"{cwd}","timestamp":"{time}","message":{{"id":{},"role":"{kind}","content":{content},"usage":{{"input_tokens":1000,"output_tokens":500}}}}}}"#,
        serde_json::Value::from(uuid.clone()),
        serde_json::Value::from(uuid),
    ) + "\n"
}

/// A prompt in a Claude session.
pub fn prompt(cwd: &Path, time: &str, text: &str) -> String {
    line("user", cwd, time, text)
}

/// An answer in a Claude session, of 1,500 tokens.
pub fn answer(cwd: &Path, time: &str, text: &str) -> String {
    line("assistant", cwd, time, text)
}

/// A command that the agent ran, in a Claude session.
pub fn call(time: &str, id: &str, command: &str) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"call-{id}","timestamp":"{time}","message":{{"id":"m-{id}","role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":"{command}"}}}}]}}}}"#
    ) + "\n"
}

/// What came of a command.
pub fn result(time: &str, id: &str, failed: bool) -> String {
    format!(
        r#"{{"type":"user","uuid":"result-{id}","timestamp":"{time}","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","is_error":{failed},"content":"out"}}]}}}}"#
    ) + "\n"
}

/// xorshift64*: enough chance for a test, the same on every machine.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// A number below a limit.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}
