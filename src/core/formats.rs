//! The formats that are known: those built in, and the user's own.
//!
//! `build.rs` reads and compiles the built-in descriptors; a file of the same name in the user's `formats/` directory replaces
//! a built-in whole. Each part of a built-in is loaded when it is first needed.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::FileType;
use serde::Deserialize;
use session_format::entry::Id;
use session_format::format::Format;
use session_format::format::descriptor::{Descriptor, Head, Hook, Prompt, Talk};
use session_format::format::install::Install;
use session_format::format::live::Live;

use crate::dir;
use crate::file::{self, Unreadable};

/// By name, in order: a hash of the descriptor, and its parts as `build.rs` stores them.
#[allow(clippy::unreadable_literal)] // A hash.
static BUILT_IN: &[(&str, Id, [&[u8]; 6])] = &include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

/// An agent's format.
#[derive(Debug)]
pub struct AgentFormat {
    pub name: String,
    /// The user's file, if it is not built in.
    pub file: Option<PathBuf>,
    /// Hash of the descriptor as written: a changed one may read other entries from the same lines.
    pub fingerprint: Id,
    head: Lazy<Head>,
    talk: Lazy<Talk>,
    compiled: Lazy<Format>,
    detailed: Lazy<Format>,
    live: Lazy<Live>,
    install: Lazy<Option<Install>>,
}

/// A part of a descriptor. What the build stored is decoded when it is first used.
#[derive(Debug)]
struct Lazy<T> {
    stored: &'static [u8],
    /// In a box, because a format is large, and most of them are never used.
    value: OnceLock<Box<T>>,
}

impl<T: Deserialize<'static>> Lazy<T> {
    fn stored(stored: &'static [u8]) -> Lazy<T> {
        Lazy {
            stored,
            value: OnceLock::new(),
        }
    }

    fn read(value: T) -> Lazy<T> {
        Lazy {
            stored: &[],
            value: Box::new(value).into(),
        }
    }

    fn get(&self) -> &T {
        // A test decodes every built-in.
        self.value.get_or_init(|| {
            postcard::from_bytes(self.stored).expect("the build stored it with these types")
        })
    }
}

/// The word of `start` that the first prompt takes the place of.
const PROMPT: &str = "{prompt}";

impl AgentFormat {
    /// A descriptor from a file, checked whole.
    pub fn read(file: &Path) -> Result<AgentFormat, Unreadable> {
        let bad = |why: String| Unreadable::new(file, io::Error::other(why.trim_end()));
        let name = file
            .file_stem()
            .and_then(|stem| stem.to_str())
            .ok_or_else(|| bad("not a file name".into()))?;
        let text = file::read_to_string(file).map_err(|error| Unreadable::new(file, error))?;
        let written: Descriptor = toml::from_str(&text).map_err(|error| bad(error.to_string()))?;
        let [compiled, detailed] =
            [false, true].map(|detailed| Lazy::read(Format::compile(name, &written, detailed)));
        let (head, talk, live, install) = written.parts();
        if install.is_some()
            && talk
                .hook
                .as_ref()
                .is_none_or(|hook| hook.prompts.is_empty())
        {
            return Err(bad(
                "[install] needs a [hook] table that says how the hook talks".into(),
            ));
        }
        let places = head.start.iter().filter(|word| *word == PROMPT).count();
        if !head.start.is_empty() && (places != 1 || head.start[0] == PROMPT) {
            return Err(bad(
                "start: a list of words, a program and its arguments, one of which is \"{prompt}\""
                    .into(),
            ));
        }
        Ok(AgentFormat {
            name: name.into(),
            file: Some(file.into()),
            fingerprint: Id::of(text.as_bytes()),
            compiled,
            detailed,
            head: Lazy::read(head),
            talk: Lazy::read(talk),
            live: Lazy::read(live),
            install: Lazy::read(install),
        })
    }

    /// Enough to find sessions.
    pub fn head(&self) -> &Head {
        self.head.get()
    }

    pub fn format(&self) -> &Format {
        self.compiled.get()
    }

    /// The same format, with what calls carry.
    pub fn detailed(&self) -> &Format {
        self.detailed.get()
    }

    /// The agent's hook, if it has one.
    pub fn hook(&self) -> Option<&Hook> {
        self.talk.get().hook.as_ref()
    }

    /// Tells the user's words from those that no user typed.
    pub fn prompt(&self) -> &Prompt {
        &self.talk.get().prompt
    }

    /// The agent's files while it runs.
    pub fn live(&self) -> &Live {
        self.live.get()
    }

    /// The place of its hooks and skills, if that is known.
    pub fn install(&self) -> Option<&Install> {
        self.install.get().as_ref()
    }

    /// The words that start it with a first prompt, if it takes one.
    pub fn start(&self, prompt: &str) -> Option<Vec<String>> {
        let word = |word: &String| if word == PROMPT { prompt } else { word }.to_owned();
        let words: Vec<String> = self.head().start.iter().map(word).collect();
        (!words.is_empty()).then_some(words)
    }

    /// The prefix of its sessions' names for other agents: `codex` in `codex:fix-login`.
    pub fn label(&self) -> &str {
        self.head().label.as_deref().unwrap_or(&self.name)
    }

    /// The user may mean this format by a name.
    pub fn is_called(&self, name: &str) -> bool {
        let aliases = self.head().alias.iter().map(String::as_str);
        aliases
            .chain([&*self.name, self.label()])
            .any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// All formats, by name, and the user's descriptors that could not be read. A broken one leaves the built-in in place.
pub fn known(user_dir: &Path) -> (Vec<AgentFormat>, Vec<Unreadable>) {
    let mut bad = Vec::new();
    let mut known: Vec<AgentFormat> = BUILT_IN.iter().map(built_in).collect();
    for entry in descriptors(user_dir) {
        match entry.and_then(|file| AgentFormat::read(&file)) {
            Ok(user) => {
                known.retain(|other| other.name != user.name);
                known.push(user);
            }
            Err(error) => bad.push(error),
        }
    }
    known.sort_by(|a, b| a.name.cmp(&b.name));
    (known, bad)
}

fn built_in((name, fingerprint, parts): &'static (&str, Id, [&[u8]; 6])) -> AgentFormat {
    let [head, talk, compiled, detailed, live, install] = parts;
    AgentFormat {
        name: (*name).into(),
        file: None,
        fingerprint: *fingerprint,
        head: Lazy::stored(head),
        talk: Lazy::stored(talk),
        compiled: Lazy::stored(compiled),
        detailed: Lazy::stored(detailed),
        live: Lazy::stored(live),
        install: Lazy::stored(install),
    }
}

/// The user's descriptors, in subdirectories, too. What is hidden is not looked at: it may be a `.git`.
fn descriptors(dir: &Path) -> Vec<Result<PathBuf, Unreadable>> {
    /// A hook must not walk a whole disk because of a mistake. Links are not followed.
    const DEPTH: usize = 4;
    fn walk(dir: &Path, depth: usize, found: &mut Vec<Result<PathBuf, Unreadable>>) {
        let mut bad = Vec::new();
        let listed = dir::entries(dir, &mut bad);
        let mut entries: Vec<_> = listed
            .iter()
            .filter(|entry| !entry.name.as_encoded_bytes().starts_with(b"."))
            .collect();
        entries.sort_unstable_by_key(|entry| entry.name);
        for entry in entries {
            let (path, kind) = (entry.path(), Unreadable::noted(entry.kind(), &mut bad));
            if kind.is_some_and(FileType::is_dir) && depth > 1 {
                walk(&path, depth - 1, found);
            }
            // A directory of that name was meant as something else; reading it says so.
            if path.extension().is_some_and(|end| end == "toml") {
                found.push(Ok(path));
            }
        }
        found.extend(bad.into_iter().map(Err));
    }
    let mut found = Vec::new();
    walk(dir, DEPTH, &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All parts of a format in the form that the build stores.
    fn parts(known: &AgentFormat) -> [Vec<u8>; 6] {
        let parts = [
            postcard::to_stdvec(known.head()),
            postcard::to_stdvec(known.talk.get()),
            postcard::to_stdvec(known.format()),
            postcard::to_stdvec(known.detailed()),
            postcard::to_stdvec(known.live()),
            postcard::to_stdvec(known.install.get()),
        ];
        parts.map(|part| part.expect("bytes"))
    }

    /// The build stored what the files say, and it decodes to the same again.
    #[test]
    fn built_in_descriptors_are_what_is_written() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../formats");
        let written: Vec<_> = descriptors(&dir)
            .into_iter()
            .map(|file| AgentFormat::read(&file.expect("a path")).expect("sound"))
            .collect();
        let (built_in, bad) = known(Path::new("/nonexistent"));
        assert!(bad.is_empty());
        let names = |known: &[AgentFormat]| {
            known
                .iter()
                .map(|known| known.name.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&built_in), names(&written));
        for ((built_in, written), (.., stored)) in built_in.iter().zip(&written).zip(BUILT_IN) {
            assert_eq!(
                built_in.fingerprint, written.fingerprint,
                "{}",
                written.name
            );
            assert!(parts(written) == *stored, "{}", written.name);
            assert!(parts(built_in) == *stored, "{}", written.name);
            assert!(
                !built_in.format().line.rules.is_empty() && built_in.hook().is_some(),
                "{}",
                written.name
            );
        }
    }
}
