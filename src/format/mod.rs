//! Formats: how each agent writes its sessions, as data.
//!
//! A descriptor is one TOML file per agent. The built-in ones are part of the binary; a file of the same name in the
//! user's `formats/` directory replaces a built-in whole. A file has three parts, each read when it is needed, because
//! parsing all of them costs more than reading a session: the head says where sessions live, the body (from `[line]` on)
//! how to read them, and the `[install]` table at the end where the agent keeps its hooks.

mod compile;
pub mod descriptor;
pub mod install;
pub mod pattern;
pub mod prompt;
pub mod trie;

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::Deserialize;
use walkdir::{DirEntry, WalkDir};

pub use compile::{Format, Shape};
use descriptor::{Body, Head, Hook, Prompt};
pub use descriptor::{CallKeys, ResultKeys, Rule, Test, Tool};
use install::Install;

use crate::file::{self, Unreadable};

const BUILT_IN: [(&str, &str); 6] = [
    ("agent-sdk", include_str!("../../formats/agent-sdk.toml")),
    ("codex", include_str!("../../formats/codex.toml")),
    ("copilot", include_str!("../../formats/copilot.toml")),
    ("gemini", include_str!("../../formats/gemini.toml")),
    ("pi", include_str!("../../formats/pi.toml")),
    ("qwen", include_str!("../../formats/qwen.toml")),
];

/// A format that is known; compiled when first used.
#[derive(Debug, Default)]
pub struct Known {
    pub name: String,
    head: OnceLock<Head>,
    /// The user's file, if it is not built in.
    pub file: Option<PathBuf>,
    text: Cow<'static, str>,
    talk: OnceLock<Talk>,
    compiled: OnceLock<Format>,
    detailed: OnceLock<Format>,
    install: OnceLock<Option<Install>>,
}

/// The end of a descriptor.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct End {
    install: Install,
}

/// The two tables that are enough to answer a hook when there is nothing to tell.
#[derive(Debug, Deserialize)]
struct Talk {
    #[serde(default)]
    prompt: Prompt,
    hook: Option<Hook>,
}

impl Known {
    fn new(name: &str, file: Option<PathBuf>, text: Cow<'static, str>) -> Known {
        Known { name: name.into(), file, text, ..Known::default() }
    }

    /// A descriptor from a file, checked whole.
    pub fn read(file: &Path) -> Result<Known, Unreadable> {
        let bad = |why: String| Unreadable::new(file, io::Error::other(why.trim_end()));
        let name = file.file_stem().and_then(|stem| stem.to_str()).ok_or_else(|| bad("not a file name".into()))?;
        let text = file::read_to_string(file).map_err(|error| Unreadable::new(file, error))?;
        let known = Known::new(name, Some(file.into()), text.into());
        let _ = known.head.set(head(&known.text).map_err(bad)?);
        let _ = known.compiled.set(compiled(name, &known.text, false).map_err(bad)?);
        let _ = known.install.set(install(&known.text).map_err(bad)?);
        if known.install().is_some() && known.hook().is_none_or(|hook| hook.prompts.is_empty()) {
            return Err(bad("[install] needs a [hook] table that says how the hook talks".into()));
        }
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

    /// The same format, with what calls carry.
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

    /// Where the agent keeps its hooks and skills, if that is known.
    pub fn install(&self) -> Option<&Install> {
        self.install.get_or_init(|| install(&self.text).expect("built-in descriptors have sound tables")).as_ref()
    }

    /// The prefix of its sessions' names for other agents: `codex` in `codex:fix-login`.
    pub fn label(&self) -> &str {
        self.head().label.as_deref().unwrap_or(&self.name)
    }

    /// Whether the user means this format by a name.
    pub fn is_called(&self, name: &str) -> bool {
        let aliases = self.head().alias.iter().map(String::as_str);
        aliases.chain([&*self.name, self.label()]).any(|known| known.eq_ignore_ascii_case(name))
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
    let body: Body = part(text, body_start(text)?, install_start(text))?;
    Ok(Format::compile(name, body, detailed))
}

fn install(text: &str) -> Result<Option<Install>, String> {
    let start = install_start(text);
    if start == text.len() { Ok(None) } else { part(text, start, text.len()).map(|end: End| Some(end.install)) }
}

/// Where the `[install]` table begins; the end of the text if there is none.
fn install_start(text: &str) -> usize {
    text.find("\n[install]").map_or(text.len(), |newline| newline + 1)
}

/// A part of a descriptor. Blank lines stand in for what comes before it, so that an error names the right line.
fn part<T: serde::de::DeserializeOwned>(text: &str, start: usize, end: usize) -> Result<T, String> {
    let lines_before = "\n".repeat(text[..start].matches('\n').count());
    toml::from_str(&(lines_before + text.get(start..end).unwrap_or_default())).map_err(|error| error.to_string())
}

/// All formats, by name, and the user's descriptors that could not be read. A broken one leaves the built-in in place.
pub fn known(user_dir: &Path) -> (Vec<Known>, Vec<Unreadable>) {
    let mut bad = Vec::new();
    let mut known: Vec<Known> = BUILT_IN.iter().map(|(name, text)| Known::new(name, None, (*text).into())).collect();
    for entry in descriptors(user_dir) {
        match entry.and_then(|file| Known::read(&file)) {
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

/// The user's descriptors, in subdirectories, too. What is hidden is not looked at: it may be a `.git`.
fn descriptors(dir: &Path) -> impl Iterator<Item = Result<PathBuf, Unreadable>> {
    /// A hook must not walk a whole disk because of a link or a mistake.
    const DEPTH: usize = 4;
    let is_hidden = |entry: &DirEntry| entry.depth() > 0 && entry.file_name().as_encoded_bytes().starts_with(b".");
    let is_absent = |error: Option<&io::Error>| error.is_some_and(|error| error.kind() == io::ErrorKind::NotFound);
    let tree = WalkDir::new(dir).max_depth(DEPTH).sort_by_file_name().into_iter();
    tree.filter_entry(move |entry| !is_hidden(entry)).filter_map(move |entry| match entry {
        Ok(entry) => entry.path().extension().is_some_and(|end| end == "toml").then(|| Ok(entry.into_path())),
        Err(error) if error.depth() == 0 && is_absent(error.io_error()) => None,
        Err(error) => {
            let file = error.path().unwrap_or(Path::new("formats"));
            Some(Err(Unreadable::new(file, io::Error::other(error.to_string()))))
        }
    })
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
