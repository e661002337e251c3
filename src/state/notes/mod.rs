//! What only the user knows: a page of notes for each project, and a page about the user.
//!
//! A page is a text file and belongs to the user, who may change it with any editor. What we cannot read stays in it byte
//! for byte, and a change touches no line but its own, except that a line without an id of its own gets one. Nothing
//! is ever written here but at the user's word, and nothing is deleted because it is over. What a line says: [`line`].

pub mod line;
mod marks;
mod page;
mod profile;

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use line::Says;
pub use line::{Kind, Note, Priority, Until};
pub use marks::{Marks, is_same};
use page::{Page, end};
pub use profile::Profile;

use crate::entry::Id;
use crate::env::Env;
use crate::time::Time;

/// The page of a project, which is known by a directory (`Project::dir`).
#[derive(Debug)]
pub struct Notes(Page);

impl Notes {
    /// Reads it, with what is wrong with it. One that is not there is empty; one that cannot be read, too, for now.
    pub fn read(env: &Env, project: &Path) -> (Notes, Vec<String>) {
        let mut wrong = Vec::new();
        let page = Page::read(Notes::path(env, project), Kind::OF_PROJECT, env, &mut wrong);
        (Notes(page.unwrap_or_else(|error| Page::absent(error, &mut wrong))), wrong)
    }

    /// Reads it for somebody who will say if it cannot be read.
    pub fn open(env: &Env, project: &Path, wrong: &mut Vec<String>) -> Result<Notes, String> {
        Page::read(Notes::path(env, project), Kind::OF_PROJECT, env, wrong).map(Notes)
    }

    /// Changes it. Nobody else does meanwhile, and if the change fails, nothing is different.
    pub fn change<T>(
        env: &Env,
        project: &Path,
        wrong: &mut Vec<String>,
        change: impl FnOnce(&mut Notes) -> Result<T, String>,
    ) -> Result<T, String> {
        let path = Notes::path(env, project);
        let head = format!("notes of {}", env.tilde(project));
        Page::change(path, Kind::OF_PROJECT, &head, env, wrong, |page| {
            let mut notes = Notes(std::mem::take(page));
            let result = change(&mut notes);
            *page = notes.0;
            result
        })
    }

    /// Where it is: called like the directory, so that a person finds it, and by a hash of the whole path.
    pub fn path(env: &Env, project: &Path) -> PathBuf {
        let hash = Id::of(project.as_os_str().as_bytes()).0;
        let name = project.file_name().unwrap_or_default().to_string_lossy();
        let plain = |char: char| if char.is_alphanumeric() || "-_.".contains(char) { char } else { '-' };
        let name: String = name.trim_start_matches('.').chars().map(plain).collect();
        let name = if name.is_empty() { "root" } else { &name[..name.floor_char_boundary(100)] };
        env.data_dir().join("projects").join(format!("{name}-{:08x}.md", (hash ^ hash >> 32) as u32))
    }

    /// The pins that hold: by priority, then as they stand on the page, which is the oldest first.
    pub fn pins(&self, now: Time) -> Vec<&Note> {
        let mut pins: Vec<&Note> = self.notes(Kind::Pin, now).collect();
        pins.sort_by_key(|pin| pin.priority);
        pins
    }

    /// The notes of a kind that hold, as they stand on the page.
    pub fn notes(&self, kind: Kind, now: Time) -> impl Iterator<Item = &Note> {
        self.0.of(kind).filter(move |note| !note.is_expired(now))
    }

    /// The notes of a kind, also those that are over.
    pub fn all(&self, kind: Kind) -> impl Iterator<Item = &Note> {
        self.0.of(kind)
    }

    /// Whether the user called a session complete.
    pub fn is_done(&self, session: &str) -> bool {
        self.0.says().any(|says| matches!(says, Says::Done(id) if is_same(id, session)))
    }

    /// The sessions that are complete, as they stand on the page, each once.
    pub fn done(&self) -> Vec<&str> {
        let mut done: Vec<&str> = Vec::new();
        for says in self.0.says() {
            if let Says::Done(id) = says
                && !done.iter().any(|known| is_same(known, id))
            {
                done.push(id);
            }
        }
        done
    }

    /// The tags of a session, each once.
    pub fn tags(&self, session: &str) -> Vec<&str> {
        let has = |ids: &[&str]| ids.iter().any(|id| is_same(id, session));
        self.all_tags().into_iter().filter(|(_, ids)| has(ids)).map(|(tag, _)| tag).collect()
    }

    /// All tags with their sessions, as they stand on the page, each once.
    pub fn all_tags(&self) -> Vec<(&str, Vec<&str>)> {
        let mut tags: Vec<(&str, Vec<&str>)> = Vec::new();
        for says in self.0.says() {
            let Says::Tag(tag, ids) = says else { continue };
            let place = tags.iter().position(|(known, _)| known == tag).unwrap_or_else(|| {
                tags.push((tag, Vec::new()));
                tags.len() - 1
            });
            for id in ids {
                if !tags[place].1.iter().any(|known| is_same(known, id)) {
                    tags[place].1.push(id);
                }
            }
        }
        tags
    }

    /// Whether a session is marked by exactly this id.
    pub fn marks(&self, id: &str) -> bool {
        self.0.says().any(|says| match says {
            Says::Done(known) => known == id,
            Says::Tag(_, ids) => ids.iter().any(|known| known == id),
            _ => false,
        })
    }

    /// Writes a note down. One that says the same is the same note, and keeps its id.
    pub fn put(&mut self, note: Note) -> Note {
        let (kind, text) = (note.kind, note.text.clone());
        self.0.put(note, |old| old.kind == kind && old.text == text)
    }

    /// Takes notes off the page: all, or if one of the ids is none, nothing.
    pub fn remove(&mut self, ids: &[u32]) -> Result<Vec<Note>, String> {
        self.0.remove(ids)
    }

    /// Calls a session complete, or takes that back; false if it was so already.
    pub fn set_done(&mut self, session: &str, done: bool, today: &str) -> bool {
        let changes = self.is_done(session) != done;
        if changes && done {
            self.0.append(&format!("done {session} ({today})"), Says::Done(session.into()));
        } else if changes {
            self.0.lines.retain(|line| !matches!(&line.says, Says::Done(id) if is_same(id, session)));
        }
        changes
    }

    /// Gives a session a tag; false if it has it already.
    pub fn add_tag(&mut self, tag: &str, session: &str) -> bool {
        let is_new = !self.tags(session).contains(&tag);
        if is_new {
            self.0.append(&format!("tag {tag}: {session}"), Says::Tag(tag.into(), vec![session.into()]));
        }
        is_new
    }

    /// Takes a tag off a session; false if it has no such tag.
    pub fn remove_tag(&mut self, tag: &str, session: &str) -> bool {
        let had = self.tags(session).contains(&tag);
        self.0.lines.retain_mut(|line| {
            let Says::Tag(known, ids) = &mut line.says else { return true };
            let before = ids.len();
            if known == tag {
                ids.retain(|id| !is_same(id, session));
            }
            if ids.len() < before {
                line.bytes = [format!("tag {tag}: {}", ids.join(", ")).as_bytes(), end(&line.bytes)].concat();
            }
            !ids.is_empty()
        });
        had
    }
}
