//! Rust source as far as a test of its structure needs it: code without comments, texts and tests; the paths that it
//! names; the methods that it defines and calls. No types: who calls a method is told by the names of types in a file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A source file of a crate.
pub struct Source {
    pub path: PathBuf,
    /// Its module below the crate's root: `["hook", "ask"]`. Empty for the root itself.
    pub module: Vec<String>,
    pub text: String,
    pub code: String,
}

impl Source {
    /// The file or directory of a module that it is in: of `hook`, `ask` for `hook/ask.rs` and nothing for `hook/mod.rs`.
    pub fn part(&self, of: &[String]) -> Option<&str> {
        self.module.strip_prefix(of)?.first().map(String::as_str)
    }

    /// Every path that the file names, from the crate's root: `use super::{a::B, c}` in `hook/ask.rs` has `hook::a::B` and
    /// `hook::c`.
    pub fn paths(&self) -> BTreeSet<Vec<String>> {
        let mut all = BTreeSet::new();
        for (at, word) in words(&self.code) {
            let is_inner = self.code[..at].trim_end().ends_with("::");
            if matches!(word, "crate" | "super" | "self")
                && !is_inner
                && self.code[at + word.len()..].starts_with("::")
            {
                flatten(&self.code[at..], &[], &mut all);
            }
        }
        all.into_iter()
            .filter_map(|path| self.resolve(&path))
            .collect()
    }

    fn resolve(&self, path: &[String]) -> Option<Vec<String>> {
        let supers = path.iter().take_while(|word| *word == "super").count();
        let start = match path.first()?.as_str() {
            "crate" => Vec::new(),
            "self" => self.module.clone(),
            _ => self.module[..self.module.len().checked_sub(supers)?].to_vec(),
        };
        let rest = path
            .iter()
            .filter(|word| !matches!(word.as_str(), "crate" | "super" | "self"));
        Some(start.into_iter().chain(rest.cloned()).collect())
    }

    /// The methods that others may call, by the type that they belong to.
    pub fn methods(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for block in self.code.split("\nimpl").skip(1) {
            let (head, rest) = block.split_once('{').unwrap_or((block, ""));
            let body = rest.split("\n}").next().unwrap_or_default();
            // The methods of a trait belong to whoever defines the trait.
            let subject = after_generics(head).split('<').next().unwrap_or_default();
            let Some((_, name)) = words(subject).last().filter(|_| !head.contains(" for ")) else {
                continue;
            };
            let declared = body
                .split("\n    pub")
                .skip(1)
                .filter_map(|rest| rest.split_once("fn "));
            let methods = declared.filter(|(before, _)| !before.contains(['{', ';', '=', ':']));
            all.entry(name.to_owned())
                .or_default()
                .extend(methods.filter_map(|(_, rest)| first_word(rest)));
        }
        all
    }

    /// The methods that are called here, by name.
    pub fn calls(&self) -> BTreeSet<&str> {
        let called = |(at, word): (usize, &'_ str)| {
            let before = self.code[..at].chars().next_back();
            matches!(before, Some('.' | ':'))
                && self.code[at + word.len()..].starts_with(['(', ':'])
        };
        words(&self.code)
            .filter(|word| called(*word))
            .map(|(_, word)| word)
            .collect()
    }

    /// Whether a type is defined here.
    pub fn defines(&self, name: &str) -> bool {
        let defined = |kind: &str| {
            self.code
                .split(kind)
                .skip(1)
                .filter_map(first_word)
                .any(|word| word == name)
        };
        ["struct ", "enum ", "type "].into_iter().any(defined)
    }

    pub fn names(&self) -> BTreeSet<&str> {
        words(&self.code).map(|(_, word)| word).collect()
    }
}

/// The source files of a crate, without its tests.
pub fn sources(dir: &Path) -> Vec<Source> {
    let mut files = Vec::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(
                std::fs::read_dir(&path)
                    .expect("a directory")
                    .map(|entry| entry.expect("an entry").path()),
            );
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            let below = path.strip_prefix(dir).expect("below").with_extension("");
            let mut module: Vec<String> = below
                .iter()
                .map(|part| part.to_string_lossy().into_owned())
                .collect();
            if matches!(
                module.last().map(String::as_str),
                Some("mod" | "lib" | "main")
            ) {
                module.pop();
            }
            let text = std::fs::read_to_string(&path).expect("a source file");
            files.push(Source {
                code: code(&text),
                path,
                module,
                text,
            });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// The names of a text, each with its place.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let mut at = 0;
    std::iter::from_fn(move || {
        at += text[at..].find(is_part)?;
        let start = at;
        at += text[at..]
            .find(|char| !is_part(char))
            .unwrap_or(text.len() - at);
        Some((start, &text[start..at]))
    })
}

fn first_word(text: &str) -> Option<String> {
    words(text).next().map(|(_, word)| word.to_owned())
}

/// The head of an `impl` block without the parameters right after `impl`.
fn after_generics(head: &str) -> &str {
    let mut depth = 0;
    let ends = |char: char| {
        depth += i32::from(char == '<') - i32::from(char == '>');
        depth == 0
    };
    if head.starts_with('<') {
        head.find(ends).map_or("", |end| &head[end + 1..])
    } else {
        head
    }
}

/// The paths that begin here: `a::{b, c::d} …` has `a::b` and `a::c::d`.
fn flatten(text: &str, before: &[String], all: &mut BTreeSet<Vec<String>>) {
    let text = text.trim_start();
    let Some(group) = text.strip_prefix('{') else {
        let Some(word) = first_word(text).filter(|word| text.starts_with(word.as_str())) else {
            all.insert(before.to_vec());
            return;
        };
        let path = [before, std::slice::from_ref(&word)].concat();
        match text[word.len()..].strip_prefix("::") {
            Some(rest) => flatten(rest, &path, all),
            None => drop(all.insert(path)),
        }
        return;
    };
    let (mut depth, mut start) = (0, 0);
    for (at, char) in group.char_indices() {
        match char {
            '{' => depth += 1,
            '}' | ',' if depth == 0 => {
                if !group[start..at].trim().is_empty() {
                    flatten(&group[start..at], before, all);
                }
                start = at + 1;
                if char == '}' {
                    return;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
}

/// Source without comments, without what stands in quotes, and without what only tests have.
pub fn code(text: &str) -> String {
    without_tests(&without_texts(text))
}

fn without_texts(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let hashes = rest
            .strip_prefix('r')
            .map_or(0, |raw| raw.len() - raw.trim_start_matches('#').len());
        let is_raw = rest.starts_with(&format!("r{}\"", "#".repeat(hashes)))
            && !code.ends_with(char::is_alphanumeric);
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if is_raw {
            let (start, end) = (hashes + 2, format!("\"{}", "#".repeat(hashes)));
            rest[start..]
                .find(&end)
                .map_or(rest.len(), |at| start + at + end.len())
        } else if char == '"' || char == '\'' && is_character(rest) {
            quoted(rest)
        } else {
            code.push(char);
            rest = &rest[char.len_utf8()..];
            continue;
        };
        rest = &rest[length..];
    }
    code
}

/// A quotation mark that begins a character, and not the name of a lifetime.
fn is_character(text: &str) -> bool {
    let mut chars = text.chars().skip(1);
    chars.next() == Some('\\') || chars.next() == Some('\'')
}

/// The length of what stands in quotes, with them.
fn quoted(text: &str) -> usize {
    let mut is_escaped = false;
    let quote = text.chars().next();
    for (at, char) in text.char_indices().skip(1) {
        match char {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if Some(char) == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn without_tests(code: &str) -> String {
    let mut kept = String::new();
    let mut rest = code;
    while let Some((before, after)) = rest.split_once("#[cfg(test)]") {
        kept += before;
        let mut depth = 0;
        let ends = |char: char| {
            depth += i32::from("({[".contains(char)) - i32::from(")}]".contains(char));
            depth == 0 && (char == '}' || char == ';')
        };
        rest = after.find(ends).map_or("", |end| &after[end + 1..]);
    }
    kept + rest
}
