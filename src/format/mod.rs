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

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::Deserialize;

pub use compile::{Alternatives, CallKeys, Format, ResultKeys, Rule, Shape, Test, Tool, UsageKeys};
use descriptor::{Body, Head, Hook, Prompt};

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
    text: Cow<'static, str>,
    talk: OnceLock<Talk>,
    compiled: OnceLock<Format>,
    detailed: OnceLock<Format>,
}

/// The two tables that are enough to answer a hook when there is nothing to tell.
#[derive(Debug, Deserialize)]
struct Talk {
    #[serde(default)]
    prompt: Prompt,
    hook: Option<Hook>,
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
    fn new(name: &str, file: Option<PathBuf>, text: Cow<'static, str>) -> Known {
        let name = name.into();
        let (head, talk, compiled, detailed) = Default::default();
        Known { name, head, file, text, talk, compiled, detailed }
    }

    /// A descriptor from a file, checked whole.
    pub fn read(file: &Path) -> Result<Known, Bad> {
        let bad = |why: String| Bad { file: file.into(), why };
        let name = file.file_stem().and_then(|stem| stem.to_str()).ok_or_else(|| bad("not a file name".into()))?;
        let text = crate::file::read_to_string(file).map_err(|error| bad(error.to_string()))?;
        let known = Known::new(name, Some(file.into()), text.into());
        let _ = known.head.set(head(&known.text).map_err(bad)?);
        let _ = known.compiled.set(compiled(name, &known.text, false).map_err(bad)?);
        Ok(known)
    }

    /// What is needed to find sessions.
    pub fn head(&self) -> &Head {
        // A user's file was checked when it was read, and a test checks every built-in.
        self.head.get_or_init(|| head(&self.text).expect("built-in descriptors have a head"))
    }

    /// The descriptor as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn format(&self) -> &Format {
        self.compiled.get_or_init(|| compiled(&self.name, &self.text, false).expect("built-in descriptors compile"))
    }

    /// The same, for who wants to know what calls carry.
    pub fn detailed(&self) -> &Format {
        self.detailed.get_or_init(|| compiled(&self.name, &self.text, true).expect("it compiled without details"))
    }

    fn talk(&self) -> &Talk {
        self.talk.get_or_init(|| {
            let written = [section(&self.text, "prompt"), section(&self.text, "hook")].concat();
            toml::from_str(&written).expect("built-in descriptors have sound tables")
        })
    }

    /// How the agent's hook talks, if it has one.
    pub fn hook(&self) -> Option<&Hook> {
        self.compiled.get().map_or_else(|| &self.talk().hook, |format| &format.hook).as_ref()
    }

    /// What of the user's words no user typed.
    pub fn prompt(&self) -> &Prompt {
        self.compiled.get().map_or_else(|| &self.talk().prompt, |format| &format.prompt)
    }

    /// How its sessions are called where other agents' are told of them.
    pub fn label(&self) -> &str {
        self.head().label.as_deref().unwrap_or(&self.name)
    }

    /// Whether the user means this format by a name.
    pub fn is_called(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name) || self.head().alias.iter().any(|alias| alias.eq_ignore_ascii_case(name))
    }
}

/// Where the body begins. What comes before says where sessions live, and is all that most runs need of a format.
fn body_start(text: &str) -> Result<usize, String> {
    let start = text.find("\n[line]").map(|newline| newline + 1);
    start.ok_or_else(|| "no [line] table; it comes after the [[root]] tables".into())
}

/// One table of a descriptor, from its header to the next. Only for built-in ones, which write headers plainly; a user's
/// file has been parsed whole.
fn section<'t>(text: &'t str, name: &str) -> &'t str {
    let header = format!("\n[{name}]\n");
    let Some(start) = text.find(&header).map(|newline| newline + 1) else { return "" };
    let end = text[start..].find("\n[").map_or(text.len(), |end| start + end + 1);
    &text[start..end]
}

fn head(text: &str) -> Result<Head, String> {
    toml::from_str(&text[..body_start(text)?]).map_err(|error| error.to_string())
}

fn compiled(name: &str, text: &str, detailed: bool) -> Result<Format, String> {
    let start = body_start(text)?;
    // Blank lines in place of the head, so that an error names the right line.
    let body = "\n".repeat(text[..start].matches('\n').count()) + &text[start..];
    let body: Body = toml::from_str(&body).map_err(|error| error.to_string())?;
    Ok(Format::compile(name, body, detailed))
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
            // The tables that are read alone say the same as the whole.
            let alone = format!("{:?}{:?}", format.hook(), format.prompt());
            assert!(!format.format().line.rules.is_empty(), "{}", format.name);
            assert_eq!(alone, format!("{:?}{:?}", format.hook(), format.prompt()));
            assert!(format.hook().is_some(), "{}", format.name);
        }
    }
}
