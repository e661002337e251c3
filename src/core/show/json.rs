//! What a program gets of a log and of a list: the keys of each JSON object. The [`gate`](super::gate) writes them.
//!
//! A log entry leaves out the keys that do not apply; a list row always has all but the last of them.

use std::borrow::Cow;
use std::path::Path;

use crate::ask::pending::Beside;
use crate::ask::search::FoundEntry;
use crate::env::iso;
use crate::session::index::Listed;
use crate::session::trust::Trust;
use crate::show::{call, place, state};
use serde_json::Value;
use session_format::entry::{Call, Entry, LongText, What};
use session_format::time::Time;

pub use crate::show::object::{Object, object};

/// An entry, with the session it is from where there are several. A call that is open has no result yet.
pub fn entry(entry: &Entry, session: Option<&str>, is_open: bool) -> Object {
    let (kind, text, failed) = match &entry.what {
        What::Text(text) => ("text", Some(Cow::Borrowed(&**text)), None),
        What::Thinking(text) => ("thinking", Some(text.text()), None),
        What::Mark(_, text) => ("mark", Some(Cow::Borrowed(&**text)), None),
        What::Result { failed, text, .. } => {
            ("result", text.as_ref().map(LongText::text), Some(*failed))
        }
        What::Call(call) => ("call", None, Some(call.failed)),
        What::Permission { .. } => ("permission", None, None),
    };
    let mark = if let What::Mark(mark, _) = &entry.what {
        Some(mark.name())
    } else {
        None
    };
    let call = entry.call();
    let subjects = call.map(|call| &call.subjects);
    let line = object! {
        session,
        time: entry.time.map(iso),
        role: entry.role.name(),
        kind,
        mark,
        text,
        tool: call.map(|call| &call.tool),
        act: call.map(|call| call.act.name()),
        subject: subjects.and_then(|all| all.first()),
        subjects: subjects.filter(|all| all.len() > 1),
        input: call.and_then(input),
        failed,
        refused: call.is_some_and(|call| call.denied).then_some(true),
        pending: is_open.then_some(true),
    };
    line.without_nulls()
}

/// All that a call was made with, where that was read.
fn input(call: &Call) -> Option<Value> {
    let input = call.detail.as_ref()?.input.as_ref()?;
    serde_json::from_str(input).ok()
}

/// An entry that a search found: where it is, which words its session lacks, then what it says. A subagent's is a line of
/// the subagent's own transcript.
pub fn hit(
    found: &FoundEntry,
    listed: &Listed,
    subagent: Option<&Path>,
    missing: &[&str],
) -> Object {
    let session = &listed.session;
    let mut hit = object! {
        session: session.id,
        handle: listed.handle(),
        name: session.name,
        agent: session.format.label(),
        title: listed.tally.title(),
        missing: Some(missing).filter(|missing| !missing.is_empty()),
        subagent: subagent.map(|_| true),
        path: subagent.map(Path::to_string_lossy),
        line: found.source.line.number,
    };
    hit.0.extend(entry(&found.entry, None, false).0);
    hit.without_nulls()
}

/// A row of the list, with the user's words only where there are some.
pub fn listed(listed: &Listed, beside: &Beside, now: Time) -> Object {
    let (session, tally) = (&listed.session, &listed.tally);
    let state = listed.state(now);
    let mut row = object! {
        id: session.id,
        // What to type for it, as in the column NAME.
        handle: listed.handle(),
        name: session.name,
        agent: session.format.label(),
        title: tally.title(),
        cwd: tally.cwd(),
        path: session.path.to_path_buf().to_string_lossy(),
        started: tally.started.map(iso),
        updated: tally.updated.map(iso),
        state: state.kind.name(),
        reason: state::reason(&state, None),
        since: state.since.map(iso),
        source: state.source.name(),
        messages: tally.messages,
        tokens: object! { input: tally.input, output: tally.output },
    };
    let tags = Some(&listed.tags).filter(|tags| !tags.is_empty());
    let foreign = match listed.trust {
        Trust::Own => None,
        Trust::Foreign(why) => Some(why.as_str()),
    };
    row.0.extend(
        object! {
            pending: beside.pending.as_ref().map(call::pending),
            place: beside.place.as_ref().map(place::json),
            continues: listed.continues,
            tags,
            done: listed.done.then_some(true),
            foreign,
        }
        .without_nulls()
        .0,
    );
    row
}
