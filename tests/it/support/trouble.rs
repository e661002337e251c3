//! Help for tests of the hook in trouble: a scene of two sessions with news, a run with a fault in it, and the check
//! that nothing is lost: status 0, the whole reply or none, a line on stderr for each problem, and what could not be told
//! is told by the next run.
//!
//! Every transcript of a scene was last written a minute before the first look: what a run with a fault passes over is
//! found again because it was not told, and not because it is new.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use self::Tells::{Alpha, Beta, Both, Nothing};
use crate::support::claude::{prompt, with};
use crate::support::files::written_ago;
use crate::support::hook::{HEADER, cursors, input, text, told_to};
use crate::support::run::{Done, Run};
use crate::support::world::World;

pub const OBSERVER: &str = "00000000-0000-4000-8000-000000000000";
pub const ALPHA: &str = "aaaaaaaa-0000-4000-8000-00000000000a";
pub const BETA: &str = "bbbbbbbb-0000-4000-8000-00000000000b";

/// An observer and two other sessions that it has not heard of.
pub struct Scene(pub World);

/// A run with a fault.
pub struct Call {
    /// Always there, except while it is altered.
    run: Option<Run>,
    pub input: Vec<u8>,
}

impl Scene {
    pub fn new() -> Scene {
        let scene = Scene(World::new());
        let cwd = scene.0.path("work");
        scene.0.claude(
            OBSERVER,
            &prompt(&cwd, "2026-11-16T02:30:00Z", "what I asked myself"),
        );
        for id in [ALPHA, BETA] {
            scene.restore(id);
        }
        scene
    }

    /// Writes a session anew, as it was a minute ago.
    pub fn restore(&self, id: &str) {
        let (minute, name) = if id == ALPHA {
            (50, "alpha")
        } else {
            (40, "beta")
        };
        let lines = prompt(
            &self.0.path("work"),
            &format!("2026-11-16T02:{minute}:00Z"),
            &format!("{name} asks"),
        );
        written_ago(&self.0, &self.0.claude(id, &lines), 60);
    }

    pub fn path(&self, id: &str) -> PathBuf {
        self.0.transcript(id)
    }

    pub fn state(&self) -> PathBuf {
        self.0.path(".state/session-monitor")
    }

    pub fn cursors(&self) -> PathBuf {
        cursors(&self.0, OBSERVER)
    }

    pub fn call(&self) -> Call {
        // Characters of several bytes: what is cut anywhere is also cut within one.
        let input = with(input(&self.0, OBSERVER), "prompt", "go on, „please“")
            .to_string()
            .into_bytes();
        Call {
            run: Some(self.0.context(&[])),
            input,
        }
    }

    pub fn hears(&self) -> String {
        told_to(&self.0, OBSERVER)
    }
}

impl Call {
    pub fn arg(&mut self, args: &[&str]) {
        self.with(|run| args.iter().fold(run, Run::arg));
    }

    pub fn set(&mut self, key: &str, value: Value) {
        let mut input: Value = serde_json::from_slice(&self.input).expect("an object");
        match value {
            Value::Null => drop(input.as_object_mut().expect("an object").remove(key)),
            value => input[key] = value,
        }
        self.input = input.to_string().into_bytes();
    }

    pub fn with(&mut self, change: impl FnOnce(Run) -> Run) {
        self.run = self.run.take().map(change);
    }

    pub fn alter(&mut self, alteration: impl FnOnce(&mut Command) + Send + 'static) {
        self.with(|run| run.alter(alteration));
    }

    pub fn env(&mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) {
        self.with(|run| run.env(name, value));
    }

    pub fn run(self) -> Done {
        self.run.expect("a run").stdin(self.input).run()
    }
}

/// What a run tells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tells {
    Nothing,
    Both,
    Alpha,
    Beta,
}

pub fn words(tells: Tells) -> String {
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
pub struct Check(pub Tells, pub Tells, pub fn(&Scene));

pub const TOLD: Check = Check(Both, Nothing, |_| {});
pub const UNTOLD: Check = Check(Nothing, Both, |_| {});

impl Check {
    pub fn all(&self, faults: &[Fault]) {
        faults.iter().for_each(|fault| self.one(*fault));
    }

    pub fn one(&self, (name, says, make): Fault) {
        let Check(tells, then, mend) = self;
        let scene = Scene::new();
        let mut call = scene.call();
        make(&scene, &mut call);
        let output = call.run();
        let err = output.err();
        let shown = format!("{name}\n--- stdout\n{}--- stderr\n{err}---", output.out());
        assert_eq!(output.code(), Some(0), "{shown}");
        let text = text(&output);
        let lines: Vec<&str> = err.lines().collect();
        assert_eq!(
            lines.len(),
            says.len(),
            "a line for each of {says:?}: {shown}"
        );
        let is_said = |(line, part): (&&str, &&str)| {
            line.starts_with("session-context: ") && line.contains(part)
        };
        assert!(
            lines.iter().zip(says).all(is_said),
            "{says:?} is to be said: {shown}"
        );
        assert_eq!(text, words(*tells), "{shown}");
        mend(&scene);
        assert_eq!(
            scene.hears(),
            words(*then),
            "the run after the fault: {shown}"
        );
        assert_eq!(scene.hears(), "", "and then nothing is new: {shown}");
    }
}

/// Takes away whatever is in the place of our own files.
pub fn cleared(scene: &Scene) {
    for path in [scene.0.path(".state"), scene.state()] {
        let is_dir = path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        let _ = if is_dir {
            fs::set_permissions(&path, Permissions::from_mode(0o700))
        } else {
            fs::remove_file(&path)
        };
    }
    let _ = fs::remove_dir_all(scene.state());
}

pub const AGAIN: &str = "told again";
pub const JOURNAL: &str = "journal";
