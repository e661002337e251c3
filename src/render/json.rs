//! One JSON object per line. Keys that do not apply are left out of a log entry; a list row always has all of them.

use serde::Serialize;

use crate::catalog::Listed;
use crate::entry::{Entry, What};
use crate::env::iso;
use crate::time::Time;

#[derive(Serialize, Default)]
pub struct LogLine<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    role: &'static str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mark: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    act: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subjects: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<bool>,
}

/// An entry, with the session it is from where there are several.
pub fn entry(entry: &Entry, session: Option<&str>) -> String {
    let line = LogLine { session, time: entry.time.map(iso), role: entry.role.name(), ..LogLine::default() };
    written(&match &entry.what {
        What::Text(text) => LogLine { kind: "text", text: Some(text), ..line },
        What::Thinking(text) => LogLine { kind: "thinking", text: Some(text), ..line },
        What::Mark(mark, text) => LogLine { kind: "mark", mark: Some(mark.name()), text: Some(text), ..line },
        What::Result { failed, text, .. } => {
            LogLine { kind: "result", text: text.as_deref(), failed: Some(*failed), ..line }
        }
        What::Call(call) => LogLine {
            kind: "call",
            tool: Some(&call.tool),
            act: Some(call.act.name()),
            subject: call.subjects.first().map(|subject| &**subject),
            subjects: if call.subjects.len() > 1 {
                call.subjects.iter().map(|subject| &**subject).collect()
            } else {
                vec![]
            },
            failed: Some(call.failed),
            ..line
        },
    })
}

#[derive(Serialize)]
pub(super) struct Tokens {
    pub input: u64,
    pub output: u64,
}

#[derive(Serialize)]
struct ListLine<'a> {
    id: &'a str,
    /// What to type for it, as in the column NAME.
    handle: &'a str,
    name: Option<&'a str>,
    agent: &'a str,
    title: Option<&'a str>,
    cwd: Option<&'a str>,
    path: String,
    started: Option<String>,
    updated: Option<String>,
    state: &'static str,
    messages: u64,
    tokens: Tokens,
    /// These two only where the user said so.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    tags: &'a [String],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    done: bool,
}

pub fn listed(listed: &Listed, now: Time) -> String {
    let tally = &listed.tally;
    written(&ListLine {
        id: &listed.session.id,
        handle: listed.handle(),
        name: listed.session.name.as_deref(),
        agent: listed.session.format.label(),
        title: tally.title(),
        cwd: tally.cwd(),
        path: listed.session.path.to_string_lossy().into_owned(),
        started: tally.started.map(iso),
        updated: tally.updated.map(iso),
        state: listed.state(now).name(),
        messages: tally.messages,
        tokens: Tokens { input: tally.input, output: tally.output },
        tags: &listed.tags,
        done: listed.done,
    })
}

/// The line. JSON leaves the control characters from U+007F on as they are, but a terminal may obey them.
pub fn written(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).unwrap_or_default();
    if !json.contains(|char| ('\u{7f}'..='\u{9f}').contains(&char)) {
        return json;
    }
    let escape = |char: char| match char {
        '\u{7f}'..='\u{9f}' => format!("\\u{:04x}", char as u32),
        char => char.to_string(),
    };
    json.chars().map(escape).collect()
}
