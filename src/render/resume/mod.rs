//! Where a session stopped, in full: for people ([`text`]), as compact codes ([`codes`]) and as JSON ([`json`]).
//!
//! All three say the same things; they differ in form, and in what a budget leaves out ([`share`]).

mod codes;
mod json;
mod share;
mod text;

pub use share::Fitted;

use crate::digest::Continuity;
use crate::time::Time;

/// A session and what is known beside its transcript.
pub struct Stop<'a> {
    pub continuity: &'a Continuity,
    pub id: &'a str,
    /// Its name in a named home.
    pub name: Option<&'a str>,
    pub agent: &'a str,
    pub path: String,
    pub project: String,
    /// It is a subagent's transcript, part of a session.
    pub subagent: bool,
    /// As in the list, and whether anybody has written in the last minutes.
    pub state: &'static str,
    pub status: &'static str,
    /// The agent's own command that takes it up again.
    pub command: Option<String>,
    pub pins: Vec<String>,
    /// What the user noted: kind and text.
    pub notes: Vec<(&'static str, String)>,
    pub tags: Vec<String>,
    pub done: bool,
    pub now: Time,
}

impl Stop<'_> {
    fn noted(&self, kind: &str) -> impl Iterator<Item = &str> {
        self.notes.iter().filter(move |(known, _)| *known == kind).map(|(_, text)| text.as_str())
    }
}
