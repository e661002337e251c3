//! Help for tests of the hook in trouble: a scene of two sessions with news, a run with a fault in it, and the check
//! that nothing is lost: status 0, the whole reply or none, a line on stderr for each problem, and what could not be told
//! is told by the next run.
//!
//! Every transcript of a scene was last written a minute before the first look: what a run with a fault passes over is
//! found again because it was not told, and not because it is new.

use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use self::Tells::{Alpha, Beta, Both, Nothing};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde_json::{Value, json};

use crate::hook::{HEADER, transcript};
use crate::world::{Done, Run, World, prompt};

pub const OBSERVER: &str = "00000000-0000-4000-8000-000000000000";
pub const ALPHA: &str = "aaaaaaaa-0000-4000-8000-00000000000a";
pub const BETA: &str = "bbbbbbbb-0000-4000-8000-00000000000b";

/// The hook as it runs in a world.
pub fn context(world: &World, args: &[&str]) -> Run {
    world.context(args)
}

/// What Claude Code gives the hook of a session.
pub fn asking(world: &World, session: &str) -> Value {
    json!({"session_id": session, "transcript_path": transcript(world, session), "cwd": world.path("work"),
           "permission_mode": "default", "hook_event_name": "UserPromptSubmit", "prompt": "go on, „please“"})
}

/// The text that a run put into the prompt, if its output is the whole of one reply.
#[track_caller]
pub fn heard(done: &Done) -> String {
    let (out, err) = (done.out(), done.err());
    assert_eq!(done.code(), Some(0), "{out}{err}");
    if out.is_empty() {
        return String::new();
    }
    assert!(out.ends_with('\n') && out.matches('\n').count() == 1, "not one line: {out}");
    let reply: Value = serde_json::from_str(out).unwrap_or_else(|error| panic!("{error}: {out}"));
    assert_eq!(reply["hookSpecificOutput"]["hookEventName"], "UserPromptSubmit");
    let text = reply["hookSpecificOutput"]["additionalContext"].as_str().expect("a text").to_owned();
    assert!(!text.is_empty(), "an empty text is better not said");
    text
}

/// An ordinary run for a session: what it is told. Nothing may be wrong.
#[track_caller]
pub fn hears(world: &World, session: &str, args: &[&str]) -> String {
    let done = context(world, args).stdin(asking(world, session).to_string()).run();
    assert_eq!(done.err(), "");
    heard(&done)
}

/// An observer and two other sessions that it has not heard of.
pub(crate) struct Scene(pub(crate) World);

/// A run with a fault.
pub(crate) struct Call {
    /// Always there, except while it is altered.
    run: Option<Run>,
    pub(crate) input: Vec<u8>,
}

impl Scene {
    pub(crate) fn new() -> Scene {
        let scene = Scene(World::new());
        let cwd = scene.0.path("work");
        scene.0.claude(OBSERVER, &prompt(&cwd, "2026-11-16T02:30:00Z", "what I asked myself"));
        for id in [ALPHA, BETA] {
            scene.restore(id);
        }
        scene
    }

    /// Writes a session anew, as it was a minute ago.
    pub(crate) fn restore(&self, id: &str) {
        let (minute, name) = if id == ALPHA { (50, "alpha") } else { (40, "beta") };
        let lines = prompt(&self.0.path("work"), &format!("2026-11-16T02:{minute}:00Z"), &format!("{name} asks"));
        age(&self.0.claude(id, &lines), 60);
    }

    pub(crate) fn path(&self, id: &str) -> PathBuf {
        transcript(&self.0, id)
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.0.path(".state/session-monitor")
    }

    pub(crate) fn cursors(&self) -> PathBuf {
        self.state().join(format!("cursors/agent-sdk-{OBSERVER}.bin"))
    }

    pub(crate) fn call(&self) -> Call {
        let input = asking(&self.0, OBSERVER).to_string().into_bytes();
        Call { run: Some(context(&self.0, &[])), input }
    }

    pub(crate) fn hears(&self) -> String {
        hears(&self.0, OBSERVER, &[])
    }
}

impl Call {
    pub(crate) fn arg(&mut self, args: &[&str]) {
        self.with(|run| args.iter().fold(run, Run::arg));
    }

    pub(crate) fn set(&mut self, key: &str, value: Value) {
        let mut input: Value = serde_json::from_slice(&self.input).expect("an object");
        match value {
            Value::Null => drop(input.as_object_mut().expect("an object").remove(key)),
            value => input[key] = value,
        }
        self.input = input.to_string().into_bytes();
    }

    pub(crate) fn with(&mut self, change: impl FnOnce(Run) -> Run) {
        self.run = self.run.take().map(change);
    }

    pub(crate) fn alter(&mut self, alteration: impl FnOnce(&mut Command) + Send + 'static) {
        self.with(|run| run.alter(alteration));
    }

    pub(crate) fn env(&mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) {
        self.with(|run| run.env(name, value));
    }

    pub(crate) fn run(self) -> Done {
        self.run.expect("a run").stdin(self.input).run()
    }
}

/// Sets the time of a file back by some seconds.
pub(crate) fn age(path: &Path, seconds: u64) {
    #[allow(clippy::disallowed_methods, reason = "the clock that stamps files is the real one")]
    let then = SystemTime::now() - Duration::from_secs(seconds);
    File::options().append(true).open(path).and_then(|file| file.set_modified(then)).expect("an older file");
}

pub(crate) fn fifo(path: &Path) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    let _ = fs::remove_file(path);
    let path = std::ffi::CString::new(path.as_os_str().as_bytes()).expect("a path");
    // SAFETY: a valid string.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

pub(crate) fn limit(command: &mut Command, resource: Resource, most: u64) {
    // SAFETY: a system call, nothing shared.
    unsafe {
        command.pre_exec(move || Ok(setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?));
    }
}

/// What a run tells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Tells {
    Nothing,
    Both,
    Alpha,
    Beta,
}

pub(crate) fn words(tells: Tells) -> String {
    let alpha = "- aaaaaaaa (10m ago, 1 message): \"alpha asks\"";
    let beta = "- bbbbbbbb (20m ago, 1 message): \"beta asks\"";
    match tells {
        Nothing => String::new(),
        Both => format!("{HEADER}\n{alpha}\n{beta}"),
        Alpha => format!("{HEADER}\n{alpha}"),
        Beta => format!("{HEADER}\n{beta}"),
    }
}

/// A fault: its name, a part of each line that is said, and what makes it.
type Fault<'f> = (&'f str, &'f [&'f str], &'f dyn Fn(&Scene, &mut Call));

/// What a run with a fault tells, what the next one tells, and how the fault ends in between.
pub(crate) struct Check(pub(crate) Tells, pub(crate) Tells, pub(crate) fn(&Scene));

pub(crate) const TOLD: Check = Check(Both, Nothing, |_| {});
pub(crate) const UNTOLD: Check = Check(Nothing, Both, |_| {});

impl Check {
    pub(crate) fn all(&self, faults: &[Fault]) {
        faults.iter().for_each(|fault| self.one(*fault));
    }

    pub(crate) fn one(&self, (name, says, make): Fault) {
        let Check(tells, then, mend) = self;
        let scene = Scene::new();
        let mut call = scene.call();
        make(&scene, &mut call);
        let output = call.run();
        let err = output.err();
        let shown = format!("{name}\n--- stdout\n{}--- stderr\n{err}---", output.out());
        assert_eq!(output.code(), Some(0), "{shown}");
        let text = heard(&output);
        let lines: Vec<&str> = err.lines().collect();
        assert_eq!(lines.len(), says.len(), "a line for each of {says:?}: {shown}");
        let is_said = |(line, part): (&&str, &&str)| line.starts_with("session-context: ") && line.contains(part);
        assert!(lines.iter().zip(says).all(is_said), "{says:?} is to be said: {shown}");
        assert_eq!(text, words(*tells), "{shown}");
        mend(&scene);
        assert_eq!(scene.hears(), words(*then), "the run after the fault: {shown}");
        assert_eq!(scene.hears(), "", "and then nothing is new: {shown}");
    }
}

pub(crate) fn files_below(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// Takes away whatever is in the place of our own files.
pub(crate) fn cleared(scene: &Scene) {
    for path in [scene.0.path(".state"), scene.state()] {
        let is_dir = path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        let _ = if is_dir { fs::set_permissions(&path, Permissions::from_mode(0o700)) } else { fs::remove_file(&path) };
    }
    let _ = fs::remove_dir_all(scene.state());
}

pub(crate) const AGAIN: &str = "told again";
pub(crate) const JOURNAL: &str = "journal";
