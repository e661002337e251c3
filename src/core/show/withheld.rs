//! What a text for others leaves out beside control characters: secrets and the paths of home directories, counted, and for
//! a review kept with what stands around them.
//!
//! A home directory tells who somebody is. Known are the user's own, and those below `/home`, `/Users` and `C:\Users`, also
//! as agents spell a directory in the name of another one (`/-home-me-work`). Each becomes `~`.

use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use memchr::memmem::Finder;

use session_format::boundary::substr;
use session_format::entry::{ById, Id};

/// Where homes are.
const PARENTS: [&str; 8] = [
    "/home/",
    "/Users/",
    "\\Users\\",
    "\\\\Users\\\\",
    "/-home-",
    "/-Users-",
    "/--home-",
    "/--Users-",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Secret,
    Home,
}

/// Something that was left out.
#[derive(Debug)]
pub struct Item {
    pub kind: Kind,
    pub text: String,
    /// What stands around it in its line, without other secrets.
    pub before: String,
    pub after: String,
    /// The line of the transcript that it was first seen in.
    pub line: u64,
    pub times: u64,
}

/// All that was left out, each different text once.
#[derive(Debug)]
pub struct Withheld {
    homes: Vec<Home>,
    /// Texts are kept for a review; otherwise they are only counted.
    keeps: bool,
    found: Mutex<Found>,
}

#[derive(Debug, Default)]
struct Found {
    line: u64,
    known: ById<usize>,
    items: Vec<Item>,
    /// Secrets and homes.
    counts: [u64; 2],
}

/// A beginning of paths.
#[derive(Debug)]
struct Home {
    finder: Finder<'static>,
    length: usize,
    /// The name of the user follows.
    is_parent: bool,
    /// It is written with dashes in the place of slashes: no dash belongs to the name.
    has_dashes: bool,
}

impl Home {
    fn new(text: &str, is_parent: bool, has_dashes: bool) -> Home {
        Home {
            finder: Finder::new(text.as_bytes()).into_owned(),
            length: text.len(),
            is_parent,
            has_dashes,
        }
    }
}

impl Withheld {
    pub fn new(home: &Path, keeps: bool) -> Withheld {
        let parents = PARENTS.map(|parent| Home::new(parent, true, parent.starts_with("/-")));
        let own = home.to_str().map(|home| home.trim_end_matches('/'));
        let own = own
            .filter(|home| home.len() > 1)
            .into_iter()
            .flat_map(|home| {
                let dashes = home.replace(|char: char| !char.is_ascii_alphanumeric(), "-");
                [
                    Home::new(home, false, false),
                    Home::new(&format!("/{dashes}"), false, true),
                ]
            });
        Withheld {
            homes: own.chain(parents).collect(),
            keeps,
            found: Mutex::default(),
        }
    }

    /// What is found from now on stands in this line of the transcript.
    pub fn at_line(&self, line: u64) {
        self.lock().line = line;
    }

    /// The number of different secrets, and of different paths in a home.
    pub fn counts(&self) -> [u64; 2] {
        self.lock().counts
    }

    pub fn take_items(&self) -> Vec<Item> {
        std::mem::take(&mut self.lock().items)
    }

    fn lock(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn note_secrets(&self, text: &str, places: &[Range<usize>]) {
        self.note(Kind::Secret, text, places, places);
    }

    fn note(&self, kind: Kind, text: &str, places: &[Range<usize>], hidden: &[Range<usize>]) {
        if places.is_empty() {
            return;
        }
        let mut found = self.lock();
        for place in places {
            let secret = substr(text, place.clone());
            let id = Id::of(secret.as_bytes()).part(kind as u8, 0);
            let count = found.known.len();
            if let Some(known) = found.known.get(&id).copied() {
                if let Some(item) = found.items.get_mut(known) {
                    item.times += 1;
                }
                continue;
            }
            found.known.insert(id, count);
            found.counts[kind as usize] += 1;
            if self.keeps {
                let [before, after] = around(text, place, hidden);
                let line = found.line;
                found.items.push(Item {
                    kind,
                    text: secret.to_owned(),
                    before,
                    after,
                    line,
                    times: 1,
                });
            }
        }
    }

    /// The text with `~` in the place of every home.
    pub(super) fn without_homes(&self, text: &str) -> Option<String> {
        let places = self.homes_in(text);
        if places.is_empty() {
            return None;
        }
        let whole: Vec<Range<usize>> = places
            .iter()
            .map(|place| place.start..path_end(text, place.end))
            .collect();
        self.note(Kind::Home, text, &whole, &[]);
        let mut out = String::with_capacity(text.len());
        let mut copied = 0;
        for place in places {
            out.push_str(substr(text, copied..place.start));
            // A name that stands for a path is a name: its slash is not a part of it.
            out.push_str(if text.as_bytes()[place.start..].starts_with(b"/-") {
                "/~"
            } else {
                "~"
            });
            copied = place.end;
        }
        out.push_str(substr(text, copied..));
        Some(out)
    }

    /// The bytes of each home in a text, in order.
    fn homes_in(&self, text: &str) -> Vec<Range<usize>> {
        let bytes = text.as_bytes();
        let mut places: Vec<Range<usize>> = Vec::new();
        for home in &self.homes {
            let found = home.finder.find_iter(bytes);
            places.extend(found.filter_map(|start| home.place(bytes, start)));
        }
        places.sort_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
        let mut end = 0;
        places.retain(|place| {
            let is_next = place.start >= end;
            end = if is_next { place.end } else { end };
            is_next
        });
        places
    }
}

impl Home {
    /// The home that begins here: not in the middle of another path, and not another one that begins alike.
    fn place(&self, text: &[u8], start: usize) -> Option<Range<usize>> {
        let is_name = |byte: &u8| {
            byte.is_ascii_alphanumeric()
                || !byte.is_ascii()
                || (!self.has_dashes && b"._-".contains(byte))
        };
        let end = start + self.length;
        let name = text[end..].iter().take_while(|byte| is_name(byte)).count();
        if (name == 0) == self.is_parent {
            return None;
        }
        let end = end + if self.is_parent { name } else { 0 };
        let before = start.checked_sub(1).map(|at| text[at]);
        // The drive goes with it.
        if text[start] == b'\\' {
            let drive = before
                .filter(|byte| *byte == b':')
                .and(start.checked_sub(2));
            return drive
                .filter(|at| text[*at].is_ascii_alphabetic())
                .map(|at| at..end);
        }
        let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.~".contains(&byte);
        let is_inside = !self.has_dashes && before.is_some_and(is_inside);
        (!is_inside).then_some(start..end)
    }
}

/// The end of the path that goes on here.
fn path_end(text: &str, from: usize) -> usize {
    let ends = |char: char| char.is_whitespace() || "\"'`<>|;,:()[]{}*?$&".contains(char);
    let end = substr(text, from..)
        .find(ends)
        .map_or(text.len(), |end| from + end);
    from + substr(text, from..end).trim_end_matches('.').len()
}

/// What stands before and after a place in its line, as much as tells what it is about. Other hidden places stay hidden.
fn around(text: &str, place: &Range<usize>, hidden: &[Range<usize>]) -> [String; 2] {
    const AROUND: usize = 60;
    let line_start = substr(text, ..place.start)
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let line_end = substr(text, place.end..)
        .find('\n')
        .map_or(text.len(), |at| place.end + at);
    let start = text
        .ceil_char_boundary(place.start.saturating_sub(AROUND))
        .max(line_start);
    let end = text.floor_char_boundary(place.end + AROUND).min(line_end);
    let shown = |range: Range<usize>| {
        let mut out = String::new();
        let mut at = range.start;
        for other in hidden
            .iter()
            .filter(|other| other.start < range.end && other.end > range.start)
        {
            out += substr(text, at..other.start.max(at));
            out.push('…');
            at = other.end.min(range.end);
        }
        out + substr(text, at..range.end)
    };
    [shown(start..place.start), shown(place.end..end)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_home_becomes_a_tilde_and_nothing_else_does() {
        let withheld = Withheld::new(Path::new("/srv/people/ada"), true);
        for (text, expected) in [
            ("cd /srv/people/ada/work", "cd ~/work"),
            ("/srv/people/ada", "~"),
            ("/srv/people/adam/x", "/srv/people/adam/x"),
            ("/home/me/x /home/me", "~/x ~"),
            ("file:///Users/J.Doe/x", "file://~/x"),
            (
                "C:\\Users\\me\\x and C:\\\\Users\\\\me\\\\x",
                "~\\x and ~\\\\x",
            ),
            (
                "/x/.claude/projects/-home-me-work/1.jsonl",
                "/x/.claude/projects/~-work/1.jsonl",
            ),
            (
                "/x/.pi/agent/sessions/--Users-me-work--/2.jsonl",
                "/x/.pi/agent/sessions/~-work--/2.jsonl",
            ),
            (
                "~/.claude/projects/-srv-people-ada-work",
                "~/.claude/projects/~-work",
            ),
            (
                "src/home/view.rs /home/ my-home-page",
                "src/home/view.rs /home/ my-home-page",
            ),
            (
                "https://example.com/home/about",
                "https://example.com/home/about",
            ),
            ("PATH=/bin:/home/me/bin", "PATH=/bin:~/bin"),
            ("\"/home/日本/x\"", "\"~/x\""),
        ] {
            let shown = withheld.without_homes(text);
            assert_eq!(shown.as_deref().unwrap_or(text), expected);
        }
        assert_eq!(withheld.counts(), [0, 12]);
    }
}
