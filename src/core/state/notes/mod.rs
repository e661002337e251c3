//! What only the user knows: a notes file for each project, and one about the user.
//!
//! The files belong to the user, who may change them with any editor. What we cannot read stays byte for byte, and a
//! change touches no line but its own, except that a line without an id of its own gets one. We write only what the user
//! asks for, and expired notes stay until the user deletes them. What a line says: [`line`]; reading and writing: `file`.

mod file;
pub mod line;
mod marks;

use file::NoteLine;
pub use file::Owner;
use line::Says;
pub use line::{Kind, Note, Priority, Until};
pub use marks::{Marks, is_same};

use session_format::hash::HashSet;
use session_format::time::Time;

/// A notes file, line by line.
#[derive(Debug, Default)]
pub struct Notes {
    lines: Vec<NoteLine>,
}

impl Notes {
    fn says(&self) -> impl Iterator<Item = &Says> {
        self.lines.iter().map(|line| &line.says)
    }

    /// The notes of a kind in the order of the file, expired ones too.
    pub fn all(&self, kind: Kind) -> impl Iterator<Item = &Note> {
        self.says().filter_map(move |says| match says {
            Says::Note(note, _) if note.kind == kind => Some(note),
            _ => None,
        })
    }

    /// The notes of a kind that hold, in the order of the file.
    pub fn notes(&self, kind: Kind, now: Time) -> impl Iterator<Item = &Note> {
        self.all(kind).filter(move |note| !note.is_expired(now))
    }

    /// The pins that hold: by priority, then the oldest first.
    pub fn pins(&self, now: Time) -> Vec<&Note> {
        let mut pins: Vec<&Note> = self.notes(Kind::Pin, now).collect();
        pins.sort_by_key(|pin| pin.priority);
        pins
    }

    /// Notes that hold about the user: the role that was set last, preferences, rules.
    pub fn about_user(&self, now: Time) -> impl Iterator<Item = &Note> {
        let role = self.notes(Kind::Role, now).last();
        role.into_iter()
            .chain(self.notes(Kind::Preference, now))
            .chain(self.notes(Kind::Rule, now))
    }

    /// The user called a session complete.
    pub fn is_done(&self, session: &str) -> bool {
        self.says()
            .any(|says| matches!(says, Says::Done(id) if is_same(id, session)))
    }

    /// The sessions that are complete, in the order of the file, each once.
    pub fn done(&self) -> Vec<&str> {
        let mut done = Vec::new();
        for says in self.says() {
            if let Says::Done(id) = says {
                add_new(&mut done, id);
            }
        }
        done
    }

    /// The tags of a session, each once.
    pub fn tags(&self, session: &str) -> Vec<&str> {
        let has = |ids: &[&str]| ids.iter().any(|id| is_same(id, session));
        self.all_tags()
            .into_iter()
            .filter(|(_, ids)| has(ids))
            .map(|(tag, _)| tag)
            .collect()
    }

    /// All tags with their sessions, in the order of the file, each once.
    pub fn all_tags(&self) -> Vec<(&str, Vec<&str>)> {
        let mut tags: Vec<(&str, Vec<&str>)> = Vec::new();
        for says in self.says() {
            let Says::Tag(tag, ids) = says else { continue };
            let index = tags
                .iter()
                .position(|(known, _)| known == tag)
                .unwrap_or_else(|| {
                    tags.push((tag, Vec::new()));
                    tags.len() - 1
                });
            ids.iter().for_each(|id| add_new(&mut tags[index].1, id));
        }
        tags
    }

    /// A session is marked by exactly this id.
    pub fn marks(&self, id: &str) -> bool {
        self.says()
            .any(|says| says.sessions().iter().any(|known| known == id))
    }

    /// Writes a note in the place of the last that it replaces, else at the end. There is one role, and one preference
    /// about a thing (`language: English`). A note with the same text is the same note, and keeps its id.
    pub fn put(&mut self, mut note: Note) -> Note {
        let mut ids = HashSet::default();
        let mut old = None;
        for line in &mut self.lines {
            let Says::Note(other, _) = &line.says else {
                continue;
            };
            ids.insert(other.id);
            if note.replaces(other) {
                note.id = other.id;
                note.created = other
                    .created
                    .clone()
                    .filter(|_| other.text == note.text)
                    .or(note.created);
                old = Some(line);
            }
        }
        match old {
            Some(line) => {
                line.set(&note.to_string());
                line.says = Says::Note(note.clone(), 0..0);
            }
            None => {
                note.id = file::free_id(&ids);
                self.append(&note.to_string(), Says::Note(note.clone(), 0..0));
            }
        }
        note
    }

    /// Removes notes: all, or none if one of the ids does not exist.
    pub fn remove(&mut self, ids: &[u32]) -> Result<Vec<Note>, String> {
        let mut removed: Vec<Note> = Vec::new();
        for id in ids {
            // The same id twice means it once.
            if removed.iter().any(|note| note.id == *id) {
                continue;
            }
            let is_it =
                |line: &NoteLine| matches!(&line.says, Says::Note(note, _) if note.id == *id);
            match self
                .lines
                .iter()
                .position(is_it)
                .map(|index| self.lines.remove(index).says)
            {
                Some(Says::Note(note, _)) => removed.push(note),
                _ => return Err(format!("nothing has the id {id}")),
            }
        }
        Ok(removed)
    }

    /// Calls a session complete, or takes that back; false if it was so already.
    pub fn set_done(&mut self, session: &str, done: bool, today: &str) -> bool {
        let changes = self.is_done(session) != done;
        if changes && done {
            self.append(
                &format!("done {session} ({today})"),
                Says::Done(session.into()),
            );
        } else if changes {
            self.lines
                .retain(|line| !matches!(&line.says, Says::Done(id) if is_same(id, session)));
        }
        changes
    }

    /// The title that the user gave to a session; the last one counts.
    pub fn name(&self, session: &str) -> Option<&str> {
        let names = self.says().filter_map(|says| match says {
            Says::Name(id, name) if is_same(id, session) => Some(&**name),
            _ => None,
        });
        names.last()
    }

    /// Gives a session a title, or takes it back. Returns the one it had.
    pub fn set_name(&mut self, session: &str, name: Option<&str>) -> Option<String> {
        let before = self.name(session).map(str::to_owned);
        if before.as_deref() != name {
            self.lines
                .retain(|line| !matches!(&line.says, Says::Name(id, _) if is_same(id, session)));
            if let Some(name) = name {
                let says = Says::Name(session.into(), name.into());
                self.append(&format!("name {session}: {name}"), says);
            }
        }
        before
    }

    /// Gives a session a tag; false if it has it already.
    pub fn add_tag(&mut self, tag: &str, session: &str) -> bool {
        let is_new = !self.tags(session).contains(&tag);
        if is_new {
            self.append(
                &format!("tag {tag}: {session}"),
                Says::Tag(tag.into(), vec![session.into()]),
            );
        }
        is_new
    }

    /// Takes a tag off a session; false if it has no such tag.
    pub fn remove_tag(&mut self, tag: &str, session: &str) -> bool {
        let had = self.tags(session).contains(&tag);
        self.lines.retain_mut(|line| {
            let Says::Tag(known, ids) = &mut line.says else {
                return true;
            };
            let before = ids.len();
            ids.retain(|id| known != tag || !is_same(id, session));
            let (is_shorter, is_empty) = (ids.len() < before, ids.is_empty());
            if is_shorter {
                let left = format!("tag {tag}: {}", ids.join(", "));
                line.set(&left);
            }
            !is_empty
        });
        had
    }
}

/// Adds the id of a session that is not there yet.
fn add_new<'a>(ids: &mut Vec<&'a str>, id: &'a str) {
    if !ids.iter().any(|known| is_same(known, id)) {
        ids.push(id);
    }
}
