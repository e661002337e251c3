//! The page about the user.

use std::path::PathBuf;

use super::line::{Kind, Note};
use super::page::Page;
use crate::env::Env;
use crate::time::Time;

/// The page about the user: the same whatever the project.
#[derive(Debug)]
pub struct Profile(Page);

impl Profile {
    /// Reads it, with what is wrong with it, as [`Notes::read`] does.
    pub fn read(env: &Env) -> (Profile, Vec<String>) {
        let mut wrong = Vec::new();
        let page = Page::read(Profile::path(env), Kind::OF_USER, env, &mut wrong);
        (Profile(page.unwrap_or_else(|error| Page::absent(error, &mut wrong))), wrong)
    }

    /// Reads it for somebody who will say if it cannot be read.
    pub fn open(env: &Env, wrong: &mut Vec<String>) -> Result<Profile, String> {
        Page::read(Profile::path(env), Kind::OF_USER, env, wrong).map(Profile)
    }

    /// Changes it, as [`Notes::change`] does.
    pub fn change<T>(
        env: &Env,
        wrong: &mut Vec<String>,
        change: impl FnOnce(&mut Profile) -> Result<T, String>,
    ) -> Result<T, String> {
        Page::change(Profile::path(env), Kind::OF_USER, "what holds for you in every project", env, wrong, |page| {
            let mut profile = Profile(std::mem::take(page));
            let result = change(&mut profile);
            *page = profile.0;
            result
        })
    }

    pub fn path(env: &Env) -> PathBuf {
        env.data_dir().join("profile.md")
    }

    /// The last word on it counts.
    pub fn role(&self, now: Time) -> Option<&Note> {
        self.notes(Kind::Role, now).last()
    }

    pub fn preferences(&self, now: Time) -> impl Iterator<Item = &Note> {
        self.notes(Kind::Preference, now)
    }

    pub fn rules(&self, now: Time) -> impl Iterator<Item = &Note> {
        self.notes(Kind::Rule, now)
    }

    fn notes(&self, kind: Kind, now: Time) -> impl Iterator<Item = &Note> {
        self.0.of(kind).filter(move |note| !note.is_expired(now))
    }

    /// Writes something down. There is one role, and one preference about a thing: `language: English`.
    pub fn put(&mut self, note: Note) -> Note {
        let (kind, text) = (note.kind, note.text.clone());
        let about = |text: &str| {
            let (about, _) = text.split_once([':', '='])?;
            Some(about.trim().to_lowercase()).filter(|about| !about.contains(char::is_whitespace))
        };
        self.0.put(note, |old| {
            let same = match kind {
                Kind::Role => true,
                Kind::Preference => about(&text).is_some() && about(&text) == about(&old.text),
                _ => false,
            };
            old.kind == kind && (same || old.text == text)
        })
    }

    /// Takes notes off the page: all, or if one of the ids is none, nothing.
    pub fn remove(&mut self, ids: &[u32]) -> Result<Vec<Note>, String> {
        self.0.remove(ids)
    }

    /// The ids of whatever is written as a role, over or not.
    pub fn roles(&self) -> Vec<u32> {
        self.0.of(Kind::Role).map(|role| role.id).collect()
    }
}
