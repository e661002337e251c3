//! Formats: how each agent writes its sessions, as data.
//!
//! A descriptor is one TOML file per agent. The built-in ones are part of the binary; a file of the same name in the
//! user's `formats/` directory replaces a built-in whole. Only the head of each file is read at the start (where sessions
//! live); the rest is compiled when a transcript of that format is opened, because parsing all of them costs more than
//! reading a session.

mod compile;
pub mod descriptor;
pub mod pattern;
pub mod prompt;
pub mod trie;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub use compile::{Alternatives, CallKeys, Format, ResultKeys, Rule, Shape, Test, Tool, UsageKeys};
use descriptor::{Descriptor, Head};

const BUILT_IN: [(&str, &str); 6] = [
    ("agent-sdk", include_str!("../../formats/agent-sdk.toml")),
    ("codex", include_str!("../../formats/codex.toml")),
    ("copilot", include_str!("../../formats/copilot.toml")),
    ("gemini", include_str!("../../formats/gemini.toml")),
    ("pi", include_str!("../../formats/pi.toml")),
    ("qwen", include_str!("../../formats/qwen.toml")),
];

/// A format that is known; compiled when first used.
#[derive(Debug)]
pub struct Known {
    pub name: String,
    head: OnceLock<Head>,
    /// The user's file, if it is not built in.
    pub file: Option<PathBuf>,
    text: std::borrow::Cow<'static, str>,
    compiled: OnceLock<Format>,
}

/// A descriptor that cannot be used, and why.
#[derive(Debug)]
pub struct Bad {
    pub file: PathBuf,
    pub why: String,
}

impl fmt::Display for Bad {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.file.display(), self.why.trim_end())
    }
}

impl Known {
    fn new(name: &str, file: Option<PathBuf>, text: std::borrow::Cow<'static, str>) -> Known {
        Known { name: name.into(), head: OnceLock::new(), file, text, compiled: OnceLock::new() }
    }

    /// What is needed to find sessions.
    pub fn head(&self) -> &Head {
        self.head.get_or_init(|| {
            let end = self.text.find("\n[line]").map_or(self.text.len(), |at| at + 1);
            // It is a part of what is checked when a user's file is read, and by a test of the built-in ones.
            toml::from_str(&self.text[..end]).expect("a descriptor has a head")
        })
    }

    /// A descriptor from a file, checked whole.
    pub fn read(file: &Path) -> Result<Known, Bad> {
        let bad = |why: String| Bad { file: file.into(), why };
        let name = file.file_stem().and_then(|stem| stem.to_str()).ok_or_else(|| bad("not a file name".into()))?;
        let text = std::fs::read_to_string(file).map_err(|error| bad(error.to_string()))?;
        let compiled = compiled(name, &text).map_err(bad)?;
        if !text.contains("\n[line]") {
            return Err(bad("no [line] table after the [[root]] tables".into()));
        }
        let known = Known::new(name, Some(file.into()), text.into());
        let _ = known.compiled.set(compiled);
        Ok(known)
    }

    /// The descriptor as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn format(&self) -> &Format {
        // A user's file was compiled when it was read, and a test compiles every built-in.
        self.compiled.get_or_init(|| compiled(&self.name, &self.text).expect("built-in descriptors compile"))
    }

    /// Whether the user means this format by a name.
    pub fn is_called(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name) || self.head().alias.iter().any(|alias| alias.eq_ignore_ascii_case(name))
    }
}

fn compiled(name: &str, text: &str) -> Result<Format, String> {
    let descriptor: Descriptor = toml::from_str(text).map_err(|error| error.to_string())?;
    Ok(Format::compile(name, descriptor))
}

/// All formats, by name, and the user's descriptors that could not be read. A broken one leaves the built-in in place.
pub fn known(user_dir: &Path) -> (Vec<Known>, Vec<Bad>) {
    let mut bad = Vec::new();
    let mut known: Vec<Known> = BUILT_IN.iter().map(|(name, text)| Known::new(name, None, (*text).into())).collect();
    for file in descriptors(user_dir) {
        match Known::read(&file) {
            Ok(user) => {
                known.retain(|built_in| built_in.name != user.name);
                known.push(user);
            }
            Err(error) => bad.push(error),
        }
    }
    known.sort_by(|a, b| a.name.cmp(&b.name));
    (known, bad)
}

fn descriptors(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut files: Vec<_> =
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_descriptors_compile() {
        let (known, bad) = known(Path::new("/nonexistent"));
        assert!(bad.is_empty());
        for format in &known {
            assert!(!format.head().roots.is_empty(), "{}", format.name);
            assert!(!format.format().line.rules.is_empty(), "{}", format.name);
        }
    }
}
