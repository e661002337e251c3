//! Tells from the bytes of a transcript if it may have anything in common with some news.
//!
//! Conflicts, copies and equal titles are rare, and looking for a few words is ten times as fast as decoding all lines. A yes
//! may be wrong, and then the lines are decoded for nothing. A no is never wrong: a file, a time or a title that
//! could be written in a way that is not looked for here counts as a yes.

use std::path::Path;

use memchr::memmem::Finder;

use session_core::read::once::fingerprint;
use session_format::entry::{Act, Entry, What};
use session_format::path::absolute;
use session_format::time::Time;

/// The times, files and titles to look for.
#[derive(Default)]
pub struct Overlap {
    /// Times of entries that have an id: a copy has the same time.
    times: Vec<Time>,
    /// Files that were edited, each with its name.
    files: Vec<(Finder<'static>, Vec<u8>)>,
    titles: Vec<Finder<'static>>,
    /// There is something that cannot be looked for.
    pub unclear: bool,
}

impl Overlap {
    /// More than this, and decoding is as fast.
    const MOST: usize = 12;

    /// Adds what is new in a session that is in a directory.
    pub fn add(&mut self, entries: &[Entry], title: Option<&str>, cwd: &Path) {
        for entry in entries {
            if entry.key.is_some() && fingerprint(entry).is_some() {
                self.unclear |= entry.time.is_none();
                self.times.extend(entry.time);
            }
            let What::Call(call) = &entry.what else {
                continue;
            };
            match call.act {
                Act::Edit => call
                    .subjects
                    .iter()
                    .for_each(|path| self.add_file(&absolute(cwd, path))),
                // Whether the observer has looked at its checkout since, its own commands tell.
                Act::Run => {
                    self.unclear |= call.subjects.iter().any(|command| command.contains("git "));
                }
                _ => {}
            }
        }
        // Of a title, the longest part that every client writes as it is.
        let runs = title.map(|title| {
            title.split(|char: char| !matches!(char, ' '..='~') || "\"\\/".contains(char))
        });
        match runs.and_then(|runs| runs.max_by_key(|run| run.len())) {
            None => {}
            Some("") => self.unclear = true,
            Some(run) => self.titles.push(Finder::new(run.trim()).into_owned()),
        }
    }

    fn add_file(&mut self, path: &Path) {
        let path = path.as_os_str().as_encoded_bytes();
        if self.files.iter().any(|(_, known)| known == path) {
            return;
        }
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+@".contains(byte);
        let name = path
            .rsplit(|byte| *byte == b'/')
            .next()
            .filter(|name| !name.is_empty());
        match name.filter(|_| path.iter().all(is_plain)) {
            Some(name) => self
                .files
                .push((Finder::new(name).into_owned(), path.to_vec())),
            None => self.unclear = true,
        }
    }

    /// Says whether some bytes may have anything of it. Times stand under one of these keys, and paths that do not begin at
    /// the root begin at `cwd`.
    pub fn search(mut self, keys: &[&str], cwd: &Path) -> Search {
        self.times.sort_unstable();
        let cwd = absolute(cwd, "").into_os_string().into_encoded_bytes();
        // The root is the one directory with a slash at its end.
        let cwd = cwd.strip_suffix(b"/").unwrap_or(&cwd).to_vec();
        // A directory may be called `.`, and so may those above it.
        let is_above = |(_, path): &(_, Vec<u8>)| cwd.starts_with(path);
        let count = self.files.len() + self.titles.len();
        let unclear = self.unclear || count > Overlap::MOST || self.files.iter().any(is_above);
        let keys = keys
            .iter()
            .map(|key| Finder::new(&format!("\"{key}\"")).into_owned())
            .collect();
        Search {
            keys,
            cwd,
            escape: Finder::new("\\u00"),
            overlap: Overlap { unclear, ..self },
        }
    }
}

/// A search for an [`Overlap`].
pub struct Search {
    overlap: Overlap,
    keys: Vec<Finder<'static>>,
    cwd: Vec<u8>,
    escape: Finder<'static>,
}

impl Search {
    /// The answer is yes, whatever is in the transcript.
    pub fn is_pointless(&self) -> bool {
        self.overlap.unclear
    }

    /// True if a piece of a transcript may have something in common with the news.
    pub fn finds(&self, piece: &[u8]) -> bool {
        let Overlap {
            times,
            files,
            titles,
            unclear,
        } = &self.overlap;
        // A letter may be written as a number, though no client does that.
        let is_letter = |at: usize| matches!(piece.get(at + 4), Some(b'2'..=b'7'));
        let is_shared = |at: usize| {
            time_at(&piece[at..]).is_some_and(|time| times.binary_search(&time).is_ok())
        };
        *unclear
            || self.escape.find_iter(piece).any(is_letter)
            || self.keys.iter().any(|key| {
                key.find_iter(piece)
                    .any(|at| is_shared(at + key.needle().len()))
            })
            || files.iter().any(|(name, path)| {
                name.find_iter(piece)
                    .any(|at| may_be(&piece[..at], path, &self.cwd))
            })
            || titles.iter().any(|title| title.find(piece).is_some())
    }
}

/// The time that a text begins with, after a colon. What is not written to its end is none.
fn time_at(text: &[u8]) -> Option<Time> {
    let value = text
        .trim_ascii_start()
        .strip_prefix(b":")?
        .trim_ascii_start();
    match value.strip_prefix(b"\"") {
        Some(inside) => {
            Time::parse(&inside[..inside.iter().take(64).position(|byte| *byte == b'"')?])
        }
        None => {
            let end = value
                .iter()
                .take(64)
                .position(|byte| b",} ]\n\r\t".contains(byte))?;
            Time::from_number(std::str::from_utf8(&value[..end]).ok()?.parse().ok()?)
        }
    }
}

/// True if a path may be meant where its name follows some bytes. Read backward, one directory after the other is that
/// of the path, up to its beginning or, if it is below the working directory, up to there.
fn may_be(mut before: &[u8], path: &[u8], cwd: &[u8]) -> bool {
    let mut dirs = path
        .rsplitn(2, |byte| *byte == b'/')
        .nth(1)
        .unwrap_or_default();
    loop {
        let Some(slash) = before.strip_suffix(b"/") else {
            return before.is_empty() || dirs == cwd;
        };
        let escapes = slash
            .iter()
            .rev()
            .take_while(|byte| **byte == b'\\')
            .count();
        before = &slash[..slash.len() - escapes];
        let mut parts = dirs.rsplitn(2, |byte| *byte == b'/');
        let name = parts.next().unwrap_or_default();
        // With dots, or a slash too many, or cut off, it takes more to tell.
        if name.is_empty()
            || before.len() < name.len()
            || before.ends_with(b".")
            || before.ends_with(b"/")
        {
            return true;
        }
        let Some(rest) = before.strip_suffix(name) else {
            return false;
        };
        (before, dirs) = (rest, parts.next().unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use session_format::entry::{Id, Role};

    const PATH: &str = "/home/me/work/src/auth.rs";

    fn finds(path: &str, piece: &str) -> bool {
        finds_from("/home/me/work", path, piece)
    }

    fn finds_from(cwd: &str, path: &str, piece: &str) -> bool {
        let mut overlap = Overlap::default();
        overlap.add_file(Path::new(path));
        overlap
            .search(&["timestamp"], Path::new(cwd))
            .finds(piece.as_bytes())
    }

    /// However a path is written, it is found; of other files only those are taken for it that look like it from their end.
    #[test]
    fn a_file_is_found_however_it_is_written() {
        for (piece, found) in [
            (r#"{"file_path":"/home/me/work/src/auth.rs"}"#, true),
            (r#"{"file_path":"\/home\/me\/work\/src\/auth.rs"}"#, true),
            (
                r#"{"arguments":"{\"path\":\"\\\/home\\\/me\\\/work\\\/src\\\/auth.rs\"}"}"#,
                true,
            ),
            (r#"{"file_path":"src/auth.rs"}"#, true),
            (r#"{"file_path":"./src/auth.rs"}"#, true),
            (r#"{"file_path":"src/../src/auth.rs"}"#, true),
            (r#"{"file_path":"src//auth.rs"}"#, true),
            (r#"{"file_path":"/home/me/work/src/x/../auth.rs"}"#, true),
            (r#"{"file_path":"src/\u0061uth.rs"}"#, true),
            (r"*** Update File: src/auth.rs\n@@", true),
            ("me/work/src/auth.rs", true),
            (r#"{"file_path":"/home/me/other/src/auth.rs"}"#, false),
            (r#"{"file_path":"/srv/src/auth.rs"}"#, false),
            (r#"{"file_path":"auth.rs"}"#, false),
            (r#"{"file_path":"lib/auth.rs"}"#, false),
            (
                r#"{"file_path":"/home/me/work/src/main.rs","stdout":"\u001b[1m"}"#,
                false,
            ),
        ] {
            assert_eq!(finds(PATH, piece), found, "{piece}");
        }
    }

    /// Some paths may be written in a way that is not looked for.
    #[test]
    fn some_files_cannot_be_looked_for() {
        for path in [
            "/home/me/work",
            "/home",
            "/",
            "/home/me/work/two words.rs",
            "/home/me/work/é.rs",
            "/a\\b",
        ] {
            assert!(finds(path, ""), "{path}");
        }
        assert!(!finds("/a", "") && finds("/a", "\"/a\""));
        // From the root, and from a directory in it.
        for (cwd, path, piece) in [
            ("/", "/a", "\"a\""),
            ("/", "/etc/hosts", "\"etc/hosts\""),
            ("/etc", "/etc/hosts", "\"hosts\""),
        ] {
            assert!(
                finds_from(cwd, path, piece) && !finds_from(cwd, path, "\"other/hosts\""),
                "{cwd} {path}"
            );
        }
    }

    #[test]
    fn a_copy_has_the_same_time() {
        let said = |key: Option<u64>, time: Option<i64>| Entry {
            time: time.map(Time),
            role: Role::User,
            what: What::Text("x".into()),
            key: key.map(Id),
            message: None,
            queued: false,
            relisted: false,
            limit: false,
            takes_back: 0,
            begins: false,
            renews: false,
        };
        for (entry, piece, found) in [
            (
                said(Some(1), Some(1_700_000_000_000)),
                r#""timestamp":"2023-11-14T22:13:20Z""#,
                true,
            ),
            (
                said(Some(1), Some(1_700_000_000_000)),
                r#""timestamp" : 1700000000000}"#,
                true,
            ),
            (
                said(Some(1), Some(1_700_000_000_001)),
                r#""timestamp":"2023-11-14T22:13:20Z""#,
                false,
            ),
            (
                said(Some(1), Some(1_700_000_000_000)),
                r#""time":"2023-11-14T22:13:20Z""#,
                false,
            ),
            (
                said(None, Some(1_700_000_000_000)),
                r#""timestamp":"2023-11-14T22:13:20Z""#,
                false,
            ),
            (said(Some(1), None), "", true),
        ] {
            let mut overlap = Overlap::default();
            overlap.add(&[entry], None, Path::new("/"));
            let found_now = overlap
                .search(&["timestamp"], Path::new("/x"))
                .finds(piece.as_bytes());
            assert_eq!(found_now, found, "{piece}");
        }
    }

    #[test]
    fn a_title_is_found_by_what_is_plain_in_it() {
        for (title, piece, found) in [
            ("Fix the login", r#""title":"Fix the login""#, true),
            (
                "Fix the \"new\" login",
                r#""title":"Fix the \"new\" login""#,
                true,
            ),
            (
                "Fix the naïve login",
                r#""title":"Fix the na\u00efve login""#,
                true,
            ),
            ("Fix the login", r#""title":"Fix the logout""#, false),
            ("登录", "", true),
        ] {
            let mut overlap = Overlap::default();
            overlap.add(&[], Some(title), Path::new("/"));
            assert_eq!(
                overlap.search(&[], Path::new("/x")).finds(piece.as_bytes()),
                found,
                "{title}"
            );
        }
    }
}
