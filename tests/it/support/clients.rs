//! Transcripts that the real clients wrote, from `testdata/`.

use std::path::{Path, PathBuf};

use crate::support::files::{files, files_below, make_younger};
use crate::support::world::{World, path, testdata};

/// Transcripts of the real clients, as if all had worked here: what is told of each, newest first.
pub const SEEN: &str = r#"pi:01a1e246-da38 (5m ago, 2 messages): "Approach A in the fork", said "Approach A: use a queue."
pi:01a1e246-c934 (5m ago, 16 messages): "Say hello via partial id" -> updated notes.md, ran 1 command
copilot:"Second one" (13m ago, 3 messages): "Trigger a server error"; stopped by an error
copilot:"Create a notes file for me" (13m ago, 5 messages): "Change the second item please" -> updated notes.md, ran 1 command
qwen:2a09cfcf (18m ago, 1 message): "Say hello in the fork"; stopped by an error
qwen:e6b1e60f (18m ago, 3 messages): "Trigger a server error"; stopped by an error
qwen:1e2133c9 (18m ago, 7 messages): "Change the second item please" -> updated notes.md, ran 1 command
gemini:8b585e11 (19m ago, 2 messages): "Say hello in another directory with the same basename"
gemini:093f62fe (19m ago, 3 messages): "Trigger a server error"
gemini:53efae45 (19m ago, 7 messages): "Change the second item please" -> updated notes.md, ran 1 command
codex:01a1e236-2011 (23m ago, 2 messages): "Say hello in the fork"
codex:01a1e236-1d1d (24m ago, 2 messages): "Say hello in a second session"
codex:01a1e236-138c (24m ago, 10 messages): "Run a failing command", then "Unicode please" -> updated notes.md, ran 1 command
claude:48d9aa73 (34m ago, 15 messages): "[[script:basic]] again with tasks env" -> updated hello.py, ran 1 command
claude:7d335ab8 (34m ago, 15 messages): "[[script:basic]] again with explicit tools" -> updated hello.py, ran 1 command
claude:57a7acba (34m ago, 15 messages): "[[script:basic]] Please write hello.py and check it" -> updated hello.py, ran 1 command"#;

pub fn all_clients() -> World {
    let world = World::new();
    for case in [
        "agent-sdk/tools",
        "codex/tools-resume@0.166.0",
        "copilot/tools-resume@1.0.102",
        "gemini/tools-resume@0.61.0",
        "pi/tools-continue@1.5.0",
        "qwen/tools-resume@0.24.4",
    ] {
        world.install(case, "");
    }
    let work = path(&world, "work");
    for (file, (content, ..)) in files(&world.path("")) {
        let Some(Ok(mut text)) = content.map(String::from_utf8) else {
            continue;
        };
        for cwd in ["other/proj", "proj", "tools", "my proj.v1"] {
            text = text.replace(&format!("/home/dev/src/{cwd}"), &work);
        }
        std::fs::write(file, text).expect("written");
    }
    // The forks were made after what they are forks of.
    for name in [
        "da38-72ed-ba00-bc58d2734b58.jsonl",
        "2a09cfcf-9ac9-4b1f-a035-29fad0932766.jsonl",
    ] {
        let all = files(&world.path(""));
        let fork = all
            .keys()
            .find(|path| path.to_string_lossy().ends_with(name))
            .expect("a fork");
        make_younger(fork, &std::fs::read_to_string(fork).expect("text"));
    }
    world
}

/// A session of each client among [`all_clients`].
pub const OWN: [(&str, &str); 6] = [
    ("agent-sdk", "48d9aa73-5bcd-46b5-9a1c-edf24543bdb2"),
    ("codex", "01a1e236-138c-7902-aa86-f9833bd81c72"),
    ("gemini", "53efae45-62ff-462c-8eec-de11bf32e264"),
    ("qwen", "1e2133c9-0042-4f81-a7d1-2a1c024038ed"),
    ("copilot", "d4131d36-2254-4ab2-b00f-5d0c75e6a0ab"),
    ("pi", "01a1e246-c934-7531-8b62-e7a9e9284b45"),
];

/// The transcripts below a directory.
pub fn transcripts(dir: &Path) -> Vec<PathBuf> {
    let mut found = files_below(dir);
    found.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    found
}

/// All transcripts of `testdata/`.
pub fn real() -> Vec<PathBuf> {
    let found = transcripts(&testdata(""));
    assert!(found.len() > 50, "{found:?}");
    found
}

/// A directory `testdata/<format>/<case>/`.
pub struct Case {
    pub format: String,
    pub path: PathBuf,
}

impl Case {
    pub fn all() -> Vec<Case> {
        let formats = entries(&testdata(""));
        formats
            .iter()
            .filter(|path| path.is_dir())
            .flat_map(|dir| {
                entries(dir).into_iter().map(|path| Case {
                    format: name(dir),
                    path,
                })
            })
            .collect()
    }

    pub fn transcripts(&self) -> Vec<PathBuf> {
        transcripts(&self.path)
    }

    pub fn expected(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.path.join(file)).ok()
    }

    /// A world whose HOME is this case, and the directory below it that commands run in.
    pub fn world(&self) -> (World, &'static str) {
        let world = World::new();
        world.install(&format!("{}/{}", self.format, name(&self.path)), "");
        let dir = if self.path.join("cwd").is_dir() {
            "cwd"
        } else {
            "work"
        };
        (world, dir)
    }
}

pub fn name(path: &Path) -> String {
    path.file_name()
        .and_then(|name| name.to_str())
        .expect("a UTF-8 name")
        .to_owned()
}

pub fn entries(dir: &Path) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
}
