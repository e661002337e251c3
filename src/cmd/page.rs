//! What the commands about a page of notes share: a note made of words, a page changed or read aloud, a line shown.

use std::io;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::Serialize;

use super::Stage;
use crate::env::{Env, iso};
use crate::locate::Project;
use crate::render::terminal::{flat, width, wrap};
use crate::state::notes::{Kind, Note, Notes, Priority};

pub fn kind(kinds: &'static [Kind]) -> impl TypedValueParser<Value = Kind> {
    let names = PossibleValuesParser::new(kinds.iter().map(|kind| kind.name()));
    names.try_map(|name| Kind::named(&name).ok_or("no such kind"))
}

/// A note of today, on one line; none if its words say nothing that can be seen.
pub fn note(kind: Kind, words: &[String], env: &Env) -> Option<Note> {
    let text = flat(&words.join(" ")).into_owned();
    let created = Some(today(env));
    (width(&text) > 0).then_some(Note { id: 0, kind, text, priority: Priority::Normal, created, until: None })
}

pub fn today(env: &Env) -> String {
    env.zone().local(env.now()).0
}

/// Changes the notes of a project; none if they could not be changed, which has been said.
pub fn changed<T>(
    project: &Project,
    stage: &mut Stage,
    change: impl FnOnce(&mut Notes) -> Result<T, String>,
) -> io::Result<Option<T>> {
    let mut wrong = Vec::new();
    let result = Notes::change(stage.env, project.dir(), &mut wrong, change);
    said(result, wrong, stage)
}

/// The notes of this project; none if they cannot be read, which has been said.
pub fn opened(stage: &mut Stage) -> io::Result<Option<Notes>> {
    let mut wrong = Vec::new();
    let result = Notes::open(stage.env, Project::of(&stage.env.cwd).dir(), &mut wrong);
    said(result, wrong, stage)
}

/// What came of a page; what is wrong with it is said.
pub fn said<T>(result: Result<T, String>, wrong: Vec<String>, stage: &mut Stage) -> io::Result<Option<T>> {
    wrong.iter().try_for_each(|wrong| stage.say(wrong))?;
    match result {
        Ok(done) => Ok(Some(done)),
        Err(error) => stage.say(error).map(|()| None),
    }
}

/// Shows a line. Nothing of it is left out: where the terminal ends, it goes on below, set in.
pub fn show(line: &str, stage: &mut Stage) -> io::Result<()> {
    const INDENT: &str = "    ";
    const LEAST: usize = 16;
    let line = flat(line);
    let Some(room) = stage.look.width.filter(|room| *room < width(&line)) else {
        return writeln!(stage.out, "{line}");
    };
    let lines = wrap(&line, room.saturating_sub(INDENT.len()).max(LEAST));
    let indents = std::iter::once("").chain(std::iter::repeat(INDENT));
    lines.iter().zip(indents).try_for_each(|(line, indent)| writeln!(stage.out, "{indent}{line}"))
}

/// Shows a note, or gives it to a program.
pub fn show_note(note: &Note, json: bool, stage: &mut Stage) -> io::Result<()> {
    let expired = note.is_expired(stage.env.now());
    if json {
        return object(&Shown::of(note, expired), stage);
    }
    show(&format!("{}{note}", if expired { "expired: " } else { "" }), stage)
}

/// Gives something to a program. JSON leaves the control characters from U+007F on as they are, but a terminal may obey
/// them, and nobody wrote them on purpose.
pub fn object(shown: &impl Serialize, stage: &mut Stage) -> io::Result<()> {
    let json = serde_json::to_string(shown).unwrap_or_default();
    writeln!(stage.out, "{}", json.replace(|char| ('\u{7f}'..='\u{9f}').contains(&char), ""))
}

/// A note for a program; always all keys.
#[derive(Serialize)]
struct Shown<'n> {
    id: u32,
    kind: &'static str,
    text: &'n str,
    priority: &'static str,
    until: Option<String>,
    created: Option<&'n str>,
    expired: bool,
}

impl<'n> Shown<'n> {
    fn of(note: &'n Note, expired: bool) -> Shown<'n> {
        let until = note.until.as_ref().map(|until| match iso(until.end) {
            beyond if beyond.is_empty() => until.written.clone(),
            end => end,
        });
        let (kind, priority) = (note.kind.name(), note.priority.name());
        Shown { id: note.id, kind, text: &note.text, priority, until, created: note.created.as_deref(), expired }
    }
}
