//! Paths as descriptors write them: `projects/{cwd}/{id}.jsonl`.
//!
//! A pattern is matched segment by segment, so a walk opens only directories that can lead to a match. `*` is any text
//! within a segment, `?` one character; `{id}` and `{cwd}` match like `*` and say what the text is.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::written::two_forms;
use crate::boundary::substr;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Pattern(pub Vec<Segment>);

two_forms!(Pattern, written as String);

/// One segment: literal parts with holes between them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// The segment with `*` for every hole.
    glob: String,
    /// Which hole, counted from the left, is the id or the cwd.
    id: Option<usize>,
    cwd: bool,
    /// The place of the `*`, if there is one and no `?`.
    hole: Option<usize>,
}

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Pattern, String> {
        text.split('/')
            .map(Segment::parse)
            .collect::<Result<_, _>>()
            .map(Pattern)
    }
}

impl Pattern {
    /// The directory that all paths that fit are below.
    pub fn dir(&self) -> PathBuf {
        let above = &self.0[..self.0.len().saturating_sub(1)];
        above.iter().map_while(Segment::literal).collect()
    }

    /// The id in a path that fits the pattern.
    pub fn id(&self, path: &Path) -> Option<String> {
        let names: Option<Vec<&str>> = path.iter().map(|name| name.to_str()).collect();
        let names = names.filter(|names| names.len() == self.0.len())?;
        let mut id = None;
        for (segment, name) in self.0.iter().zip(names) {
            id = segment.fits(name)?.or(id);
        }
        id.map(str::to_owned)
    }
}

impl Segment {
    fn parse(text: &str) -> Result<Segment, String> {
        let glob = text.replace("{id}", "*").replace("{cwd}", "*");
        if glob.is_empty() || glob.contains(['{', '}']) {
            return Err(format!(
                "`{text}` is no path segment: a name with `*`, `?`, `{{id}}` or `{{cwd}}` in it"
            ));
        }
        let id = text.find("{id}").map(|at| {
            substr(text, ..at)
                .replace("{cwd}", "*")
                .matches('*')
                .count()
        });
        let hole = glob
            .find('*')
            .filter(|_| glob.matches('*').count() == 1 && !glob.contains('?'));
        Ok(Segment {
            glob,
            id,
            cwd: text.contains("{cwd}"),
            hole,
        })
    }

    /// The id in a name that fits, if the pattern has one; none if the name does not fit.
    pub fn fits<'n>(&self, name: &'n str) -> Option<Option<&'n str>> {
        // With one hole, as in most patterns, there is nothing to try out.
        if let Some(at) = self.hole {
            let hole = name
                .strip_prefix(substr(&self.glob, ..at))?
                .strip_suffix(substr(&self.glob, at + 1..))?;
            return Some(self.id.map(|_| hole));
        }
        let mut holes = Vec::new();
        fits(self.glob.as_bytes(), name.as_bytes(), 0, &mut holes).then(|| {
            let (start, end) = *self.id.and_then(|hole| holes.get(hole))?;
            name.get(start..end)
        })
    }

    /// The one name that fits, if there is only one.
    pub fn literal(&self) -> Option<&str> {
        (!self.glob.contains(['*', '?'])).then_some(&self.glob)
    }

    pub fn is_cwd(&self) -> bool {
        self.cwd
    }

    /// The same with the id put in, where the id is all that is open.
    pub fn bound(&self, id: &str) -> Segment {
        match self.with_id(id) {
            Some(glob) => Segment {
                glob,
                id: None,
                cwd: false,
                hole: None,
            },
            None => self.clone(),
        }
    }

    /// The name with the id put in, if the id is all that is open.
    pub fn with_id(&self, id: &str) -> Option<String> {
        (self.id == Some(0) && self.glob.matches(['*', '?']).count() == 1)
            .then(|| self.glob.replace('*', id))
    }
}

/// Matches from the left; a `*` takes as little as it can, and more when the rest does not fit.
fn fits(glob: &[u8], name: &[u8], at: usize, holes: &mut Vec<(usize, usize)>) -> bool {
    match glob.split_first() {
        None => at == name.len(),
        Some((b'*', rest)) => {
            let depth = holes.len();
            (at..=name.len()).any(|end| {
                holes.truncate(depth);
                holes.push((at, end));
                fits(rest, name, end, holes)
            })
        }
        Some((b'?', rest)) => {
            let width = name
                .get(at..)
                .and_then(|rest| std::str::from_utf8(rest).ok()?.chars().next())
                .map(char::len_utf8);
            width.is_some_and(|width| fits(rest, name, at + width, holes))
        }
        Some((byte, rest)) => name.get(at) == Some(byte) && fits(rest, name, at + 1, holes),
    }
}

/// The form of a working directory in a file name. All spellings lose something, so they are only used to look
/// in the likely place first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Spelling {
    /// Everything but ASCII letters and digits is a dash, by UTF-16 unit; a name over 200 ends in a hash.
    Alphanumeric,
    /// `--a-b--`: the first slash dropped, slashes and colons as dashes.
    Pi,
}

impl Spelling {
    /// The name of a directory, as far as it can be told: beyond 200 characters only its beginning.
    pub fn spell(self, cwd: &Path) -> String {
        let cwd = cwd.to_string_lossy();
        match self {
            Spelling::Alphanumeric => cwd.encode_utf16().map(alphanumeric).collect(),
            Spelling::Pi => {
                let middle: String = cwd
                    .strip_prefix('/')
                    .unwrap_or(&cwd)
                    .chars()
                    .map(pi)
                    .collect();
                format!("--{middle}--")
            }
        }
    }

    pub fn fits(self, name: &str, cwd: &Path) -> bool {
        // Most names are another directory's.
        if !self.may_be_below(name, cwd) {
            return false;
        }
        let spelt = self.spell(cwd);
        match (self, spelt.get(..200)) {
            (Spelling::Alphanumeric, Some(start)) if spelt.len() > 200 => name.starts_with(start),
            _ => name == spelt,
        }
    }

    /// A name may stand for a directory or for something below it, and also for another one.
    pub fn may_be_below(self, name: &str, dir: &Path) -> bool {
        // The hook asks this for every worktree and every directory, so nothing is copied.
        let dir = dir.to_string_lossy();
        let mut name = name.chars();
        let is_next = |char| name.next() == Some(char);
        match self {
            Spelling::Alphanumeric => dir.encode_utf16().take(200).map(alphanumeric).all(is_next),
            Spelling::Pi => "--"
                .chars()
                .chain(dir.strip_prefix('/').unwrap_or(&dir).chars().map(pi))
                .all(is_next),
        }
    }
}

fn alphanumeric(unit: u16) -> char {
    u8::try_from(unit)
        .ok()
        .filter(u8::is_ascii_alphanumeric)
        .map_or('-', char::from)
}

fn pi(char: char) -> char {
    if matches!(char, '/' | '\\' | ':') {
        '-'
    } else {
        char
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments() {
        let id = |pattern: &str, name: &'static str| Segment::parse(pattern).unwrap().fits(name);
        assert_eq!(id("{id}.jsonl", "a-b.jsonl"), Some(Some("a-b")));
        assert_eq!(id("{id}.jsonl", "a-b.json"), None);
        assert_eq!(
            id("*_{id}.jsonl", "2026-11-16T02-56-33-401Z_my_own.jsonl"),
            Some(Some("my_own"))
        );
        assert_eq!(
            id(
                "rollout-????-??-??T??-??-??-{id}.jsonl",
                "rollout-2026-11-16T02-35-57-01a1.jsonl"
            ),
            Some(Some("01a1"))
        );
        assert_eq!(id("agent-*.jsonl", "agent-7.jsonl"), Some(None));
        assert_eq!(id("events.jsonl", "events.jsonl"), Some(None));
        assert_eq!(id("?", "ż"), Some(None));
        assert!(Segment::parse("{name}.jsonl").is_err());
        assert_eq!(
            Segment::parse("{id}.jsonl").unwrap().with_id("x"),
            Some("x.jsonl".into())
        );
    }

    #[test]
    fn spellings() {
        let spell = |cwd: &str| Spelling::Alphanumeric.spell(Path::new(cwd));
        assert_eq!(spell("/Users/foo/home"), "-Users-foo-home");
        assert_eq!(spell("/a/my_proj.v1 x"), "-a-my-proj-v1-x");
        assert_eq!(spell("/a/ünïcode-日本"), "-a--n-code---");
        assert_eq!(spell("/🦀"), "---");
        assert_eq!(
            Spelling::Pi.spell(Path::new("/tmp/x/my proj.v1_x:y-żółw")),
            "--tmp-x-my proj.v1_x-y-żółw--"
        );
        let long = format!("/{}", "d".repeat(300));
        assert!(
            Spelling::Alphanumeric.fits(&format!("-{}-1x2y3z", "d".repeat(199)), Path::new(&long))
        );
        assert!(
            !Spelling::Alphanumeric.fits(&format!("-{}-1x2y3z", "d".repeat(198)), Path::new(&long))
        );
        let below =
            |spelling: Spelling, name: &str| spelling.may_be_below(name, Path::new("/a/b.c"));
        assert!(
            ["-a-b-c", "-a-b-c-d"]
                .iter()
                .all(|name| below(Spelling::Alphanumeric, name))
        );
        assert!(
            !["-a-b", "-a-b-d"]
                .iter()
                .any(|name| below(Spelling::Alphanumeric, name))
        );
        assert!(
            ["--a-b.c--", "--a-b.c-d--"]
                .iter()
                .all(|name| below(Spelling::Pi, name))
        );
        assert!(
            !["--a-b", "--a-b-c--"]
                .iter()
                .any(|name| below(Spelling::Pi, name))
        );
        let deep = format!("-{}-1x2y3z", "d".repeat(199));
        assert!(Spelling::Alphanumeric.may_be_below(&deep, &Path::new(&long).join("e")));
    }
}
