//! A line of a notes file, as a person writes it:
//!
//! ```text
//! pin 1 (high, 2026-11-16, until 2026-11-23): the API is frozen until Friday
//! decision 2: PostgreSQL instead of SQLite
//! done 4f2a9c11-…
//! tag release: 4f2a9c11-…, 77aa0b1c-…
//! name 4f2a9c11-…: checkout tax
//! ```
//!
//! The id and the parentheses may be missing, and the line may be an item of a list. A line that does not begin with
//! a word of ours is the user's own; one that does and goes on otherwise is a mistake that is worth saying.

use std::fmt;
use std::ops::Range;

use session_format::entry::named;
use session_format::time::{DAY, Time};

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Kind {
        Pin = "pin",
        Decision = "decision",
        Blocker = "blocker",
        Next = "next",
        Fact = "fact",
        Role = "role",
        Preference = "preference",
        Rule = "rule",
    }
}

impl Kind {
    /// Kinds in the file of a project, and in the file about the user.
    pub const OF_PROJECT: &[Kind] = &[
        Kind::Pin,
        Kind::Decision,
        Kind::Blocker,
        Kind::Next,
        Kind::Fact,
    ];
    pub const OF_USER: &[Kind] = &[Kind::Role, Kind::Preference, Kind::Rule];
}

named! {
    /// In the order in which they are told.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Priority {
        High = "high",
        #[default]
        Normal = "normal",
        Low = "low",
    }
}

/// When something ends: as it is written, and the first moment at which it is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Until {
    pub written: String,
    pub end: Time,
}

/// Something the user wrote down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Unique in its file; 0 for a new note.
    pub id: u32,
    pub kind: Kind,
    /// One line of any length, as the user wrote it. Whoever shows it makes it harmless.
    pub text: String,
    pub priority: Priority,
    /// The day, or the time, as it is written.
    pub created: Option<String>,
    pub until: Option<Until>,
}

impl Note {
    pub fn is_expired(&self, now: Time) -> bool {
        self.until.as_ref().is_some_and(|until| until.end <= now)
    }

    /// It takes the place of another: there is one role, and one preference about a thing (`language: English`).
    pub fn replaces(&self, other: &Note) -> bool {
        let about = |note: &Note| {
            let (about, _) = note.text.split_once([':', '='])?;
            Some(about.trim().to_lowercase()).filter(|about| !about.contains(char::is_whitespace))
        };
        let is_same = match self.kind {
            Kind::Role => true,
            Kind::Preference => about(self).is_some() && about(self) == about(other),
            _ => false,
        };
        self.kind == other.kind && (is_same || self.text == other.text)
    }
}

/// The line itself.
impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let priority = (self.priority != Priority::Normal).then(|| self.priority.name().to_owned());
        let until = self
            .until
            .as_ref()
            .map(|until| format!("until {}", until.written));
        let known: Vec<String> = [priority, self.created.clone(), until]
            .into_iter()
            .flatten()
            .collect();
        write!(f, "{} {}", self.kind.name(), self.id)?;
        if !known.is_empty() {
            write!(f, " ({})", known.join(", "))?;
        }
        write!(f, ": {}", self.text)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Says {
    /// Nothing to us: a comment, a blank line, or whatever else the user keeps here.
    Nothing,
    /// With the place where its id is, or belongs.
    Note(Note, Range<usize>),
    /// A session that is complete.
    Done(String),
    /// Sessions with a tag.
    Tag(String, Vec<String>),
    /// The title that the user gave to a session.
    Name(String, String),
}

impl Says {
    /// The ids of the sessions that it is about.
    pub fn sessions(&self) -> &[String] {
        match self {
            Says::Done(id) | Says::Name(id, _) => std::slice::from_ref(id),
            Says::Tag(_, ids) => ids,
            _ => &[],
        }
    }
}

/// Numbers beyond this are no ids of ours.
pub(crate) const LARGEST_ID: u32 = 999_999_999;

const BLANKS: [char; 2] = [' ', '\t'];

/// Reads a line. The clock on the wall tells the moment at which it shows what the time would be in UTC.
pub fn parse(line: &[u8], kinds: &[Kind], wall: &dyn Fn(Time) -> Time) -> Result<Says, String> {
    let text = String::from_utf8_lossy(line);
    let start = text.trim_start_matches(['\u{feff}', ' ', '\t', '-', '*']);
    let (word, rest) = start.split_at(
        start
            .find(|char: char| !char.is_ascii_lowercase())
            .unwrap_or(start.len()),
    );
    if !rest.is_empty() && !rest.starts_with([' ', '\t', ':', '(', '\r', '\n']) {
        return Ok(Says::Nothing);
    }
    match word {
        "done" if kinds.contains(&Kind::Pin) => done(rest),
        "tag" if kinds.contains(&Kind::Pin) => tag(rest),
        "name" if kinds.contains(&Kind::Pin) => name(rest),
        _ => match Kind::named(word).filter(|kind| kinds.contains(kind)) {
            // All that stands before the id is as long in the text as in the line.
            Some(kind) => note(kind, rest, text.len() - rest.len(), wall),
            None => match kinds
                .iter()
                .find(|kind| strsim::damerau_levenshtein(word, kind.name()) == 1)
            {
                // What would be a note with the right word is hardly meant for anything else.
                Some(kind) if note(*kind, rest, 0, wall).is_ok() => Err(format!(
                    "'{word}' is not a kind of note; did you mean '{}'?",
                    kind.name()
                )),
                _ => Ok(Says::Nothing),
            },
        },
    }
}

fn note(kind: Kind, rest: &str, at: usize, wall: &dyn Fn(Time) -> Time) -> Result<Says, String> {
    let after = rest.trim_start_matches(BLANKS);
    let digits = after
        .find(|char: char| !char.is_ascii_digit())
        .unwrap_or(after.len());
    let (number, after) = after.split_at(digits);
    let from = if number.is_empty() {
        at
    } else {
        at + rest.len() - after.len() - digits
    };
    let after = after.trim_start_matches(BLANKS);
    let (known, after) = match after.strip_prefix('(') {
        Some(inside) => inside.split_once(')').ok_or("no ')' after '('")?,
        None => ("", after),
    };
    let text = after
        .trim_start_matches(BLANKS)
        .strip_prefix(':')
        .map(str::trim);
    let text = text.ok_or_else(|| format!("no ':' between '{}' and its text", kind.name()))?;
    if text.is_empty() {
        return Err("no text".into());
    }
    let id = number
        .parse()
        .ok()
        .filter(|id| *id <= LARGEST_ID)
        .unwrap_or(0);
    let mut note = Note {
        id,
        kind,
        text: text.into(),
        priority: Priority::Normal,
        created: None,
        until: None,
    };
    for known in known
        .split(',')
        .map(str::trim)
        .filter(|known| !known.is_empty())
    {
        if let Some(priority) = Priority::named(known) {
            note.priority = priority;
        } else if let Some(end) = known
            .strip_prefix("until")
            .filter(|end| end.starts_with(BLANKS))
            .map(str::trim)
        {
            let moment = moment(end, DAY, wall).ok_or_else(|| format!("'{end}' is not a date"))?;
            note.until = Some(Until {
                written: end.into(),
                end: moment,
            });
        } else if moment(known, 0, wall).is_some() {
            note.created = Some(known.into());
        } else {
            return Err(format!(
                "'{known}' is not high, normal, low, a date, or 'until' and a date"
            ));
        }
    }
    Ok(Says::Note(note, from..from + digits))
}

/// A date, or a time of any ISO form. A date is a whole day: its moment is so far after the beginning of it.
fn moment(text: &str, of_day: i64, wall: &dyn Fn(Time) -> Time) -> Option<Time> {
    if text.len() == 10 {
        let day = Time::parse(format!("{text}T00:00").as_bytes())?;
        return Some(wall(Time(day.0 + of_day)));
    }
    let time = Time::parse(text.as_bytes())?;
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b"-:.TtZz+ ".contains(&byte));
    let zoned = text.get(10..)?.contains(['Z', 'z', '+', '-']);
    plain.then(|| if zoned { time } else { wall(time) })
}

/// `done ID (date)`. An id is whatever a file may be called.
fn done(rest: &str) -> Result<Says, String> {
    let id = rest.trim();
    let dated = id.strip_suffix(')').and_then(|id| id.rsplit_once('('));
    let id = match dated.filter(|(_, date)| moment(date.trim(), 0, &|wall| wall).is_some()) {
        Some((id, _)) => id.trim_end(),
        None => id,
    };
    match id {
        "" => Err("no id of a session after 'done'".into()),
        // A sentence of the user's, as it seems; it must not be taken for a mark and then taken off.
        prose if prose.contains(BLANKS) && dated.is_none() => {
            Err(format!("'{prose}' is no id of a session"))
        }
        id => Ok(Says::Done(id.into())),
    }
}

/// `tag NAME: ID, ID`
fn tag(rest: &str) -> Result<Says, String> {
    let (tag, ids) = rest
        .split_once(':')
        .ok_or("no ':' between the tag and its sessions")?;
    let ids: Vec<String> = ids
        .split(',')
        .map(|id| id.trim().to_owned())
        .filter(|id| !id.is_empty())
        .collect();
    if let Some(prose) = ids.iter().find(|id| id.contains(BLANKS)) {
        return Err(format!("'{prose}' is no id of a session"));
    }
    match tag.trim() {
        "" => Err("no name of a tag after 'tag'".into()),
        _ if ids.is_empty() => Err("no session after the tag".into()),
        tag => Ok(Says::Tag(tag.into(), ids)),
    }
}

/// `name ID: TITLE`
fn name(rest: &str) -> Result<Says, String> {
    let (id, title) = rest
        .split_once(':')
        .ok_or("no ':' between the session and its name")?;
    match (id.trim(), title.trim()) {
        ("", _) => Err("no id of a session after 'name'".into()),
        (prose, _) if prose.contains(BLANKS) => Err(format!("'{prose}' is no id of a session")),
        (_, "") => Err("no name after the session".into()),
        (id, title) => Ok(Says::Name(id.into(), title.into())),
    }
}
