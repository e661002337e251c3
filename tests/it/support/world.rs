//! A world for a test: a temporary HOME with sessions in it, and what its sessions are called.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::run::{READER, Run};

pub const ID: &str = "5e551000-0000-4000-8000-000000000001";
pub const OTHER: &str = "5e551000-0000-4000-8000-000000000002";

pub const ME: &str = "aaaaaaaa-0000-4000-8000-00000000000a";
pub const ONE: &str = "11111111-0000-4000-8000-000000000001";
pub const TWO: &str = "22222222-0000-4000-8000-000000000002";
pub const THREE: &str = "33333333-0000-4000-8000-000000000003";

pub struct World {
    _dir: tempfile::TempDir,
    /// Its real path, because agents resolve links before they write a working directory down.
    home: PathBuf,
}

impl World {
    pub fn new() -> World {
        let dir = tempfile::tempdir_in(scratch()).expect("a temporary directory");
        let home = dir.path().canonicalize().expect("HOME exists");
        std::fs::create_dir(home.join("work")).expect("a working directory");
        World { _dir: dir, home }
    }

    /// A path below HOME. `work` is where programs run.
    pub fn path(&self, below: impl AsRef<Path>) -> PathBuf {
        self.home.join(below)
    }

    pub fn write(&self, below: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(below);
        assert!(
            path.starts_with(self.path("")),
            "a test writes below its own HOME"
        );
        if std::fs::write(&path, &content).is_err() {
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("parent directories");
            std::fs::write(&path, content).expect("a file");
        }
        path
    }

    pub fn append(&self, below: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        use std::io::Write;
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(self.path(below))
            .expect("a file");
        file.write_all(content.as_ref()).expect("appended");
    }

    /// Copies a directory of `testdata/` to a place below HOME.
    pub fn install(&self, testdata: &str, below: &str) {
        copy(&self::testdata(testdata), &self.path(below));
    }

    /// A Claude Code transcript of a session in the working directory.
    pub fn claude(&self, id: &str, lines: &str) -> PathBuf {
        self.write(self.transcript(id), lines)
    }

    /// Where the transcript of a Claude session in the working directory is.
    pub fn transcript(&self, id: &str) -> PathBuf {
        self.path(format!(
            ".claude/projects/{}/{id}.jsonl",
            encoded(&self.path("work"))
        ))
    }

    pub fn read(&self, below: impl AsRef<Path>) -> String {
        let path = self.path(below);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// `session-context` with some arguments, ready to run.
    pub fn context(&self, args: &[&str]) -> Run {
        Run::new(self, "session-context", args)
    }

    /// `session-reader` with some arguments, ready to run.
    pub fn reader(&self, args: &[&str]) -> Run {
        Run::new(self, READER, args)
    }
}

pub fn path(world: &World, below: &str) -> String {
    world.path(below).to_str().expect("UTF-8").to_owned()
}

/// A named home with a Claude session of each name; the id is made of the name.
pub fn home(world: &World, dir: &str, names: &[(&str, &str)]) {
    for (name, id) in names {
        world.write(
            format!("work/{dir}/sessions/{name}.json"),
            json!({"sessionId": id}).to_string(),
        );
    }
}

/// Where temporary directories go: into memory, if there is room, and nobody set TMPDIR. The programs sync what they write,
/// and on a busy disk the tests would do little else than wait for that.
pub fn scratch() -> PathBuf {
    const ENOUGH: u64 = 4 << 30;
    let memory = Path::new("/dev/shm");
    let has_room =
        || rustix::fs::statvfs(memory).is_ok_and(|fs| fs.f_bavail * fs.f_frsize >= ENOUGH);
    if std::env::var_os("TMPDIR").is_none() && has_room() {
        memory.to_owned()
    } else {
        std::env::temp_dir()
    }
}

/// A directory as Claude Code spells it in the name of another one.
pub fn encoded(dir: &Path) -> String {
    dir.to_str()
        .expect("UTF-8")
        .replace(|char: char| !char.is_ascii_alphanumeric(), "-")
}

/// Says what is not tested on this machine, whether the test passes or not: `.ci/run` counts these lines.
pub fn skipped(what: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "skipped: {what}");
}

pub fn testdata(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata")
        .join(below)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a directory");
    for entry in
        std::fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()))
    {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).expect("a copy");
        }
    }
}
