//! What `find` found: a line or an object for each session, and the part of a text that has the words.

use std::path::Path;

use crate::ask::find::{FoundHit, FoundLine};
use crate::env::iso;
use crate::search::typed::Typed;
use crate::show::gate::Gate;
use crate::show::object::{Object, object};
use crate::show::terminal::{Style, Tone};
use session_format::boundary::substr;

/// `a1b2c3d4  Fix the checkout tax`
pub fn line(hit: &FoundHit, gate: Gate, style: Style) -> String {
    let handle = gate.line(hit.listed.handle());
    let line = match hit.listed.tally.title() {
        Some(title) => format!("{handle}  {}", gate.line(title)),
        None => handle.to_string(),
    };
    let line = style.fit(&line);
    let name = substr(&line, ..handle.len().min(line.len()));
    format!(
        "{}{}",
        style.paint(Tone::Strong, name),
        substr(&line, name.len()..)
    )
}

/// The session, and the line that fits best. A subagent's is a line of the subagent's own transcript.
pub fn json(hit: &FoundHit) -> Object {
    let FoundHit { listed, line } = hit;
    let (session, tally) = (&listed.session, &listed.tally);
    let subagent = line.as_ref().and_then(|line| line.subagent.as_deref());
    let hit = object! {
        session: session.id,
        handle: listed.handle(),
        name: session.name,
        agent: session.format.label(),
        title: tally.title(),
        cwd: tally.cwd(),
        updated: tally.updated.map(iso),
        subagent: subagent.map(|_| true),
        path: subagent.unwrap_or(&session.path.to_path_buf()).to_string_lossy(),
        line: line.as_ref().map(|line| line.number),
        text: line.as_ref().map(|line| &line.said),
    };
    hit.without_nulls()
}

/// The directory to go to for a session: where it is resumed.
pub fn cwd<'h>(hit: &'h FoundHit) -> Option<&'h Path> {
    let tally = &hit.listed.tally;
    tally.first_cwd().or(tally.cwd()).map(Path::new)
}

/// The text of a line from shortly before the first of the words on.
pub fn around(line: &FoundLine, typed: &Typed, gate: Gate) -> String {
    const BEFORE: usize = 24;
    let text = gate.line(&*line.said);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let start = typed
        .places_in(&text)
        .first()
        .map_or(0, |place| place.start);
    if start <= BEFORE {
        return text;
    }
    let from = text.floor_char_boundary(start - BEFORE);
    let from = substr(&text, from..start)
        .find(' ')
        .map_or(from, |blank| from + blank + 1);
    format!("…{}", substr(&text, from..))
}
