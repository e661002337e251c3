//! A log for people: a line per entry, what was said in full.
//!
//! The date is said where the day changes, and a call takes one line. Which entries are shown is up to `cmd/log.rs`.

use std::borrow::Cow;
use std::path::Path;

use crate::entry::{Act, Call, Entry, Mark, Role, What};
use crate::env::Zone;
use crate::show::gate::Gate;
use crate::show::terminal::{Style, Tone, cut, pad, width, wrap};

/// `2026-01-31 14:25`
const STAMP: usize = 16;
const ROLE: usize = 9;
const LEAST: usize = 20;
/// The longest command or pattern shown where no terminal sets a width.
const SUBJECT: usize = 200;

pub struct LogView {
    zone: Zone,
    gate: Gate,
    style: Style,
    /// The day of the last entry, which is not said again.
    day: String,
    /// Room for the name of the session, where there are several.
    name: usize,
}

impl LogView {
    pub fn new(zone: Zone, gate: Gate, style: Style) -> LogView {
        LogView { zone, gate, style, day: String::new(), name: 0 }
    }

    pub fn entry(&mut self, entry: &Entry, origin: &Origin) -> String {
        let (label, tone) = label(entry);
        let stamp = self.stamp(entry);
        let mut head = format!("{}  ", self.style.paint(Tone::Faint, &stamp));
        let mut indent = STAMP + 2;
        if let Some(session) = &origin.label {
            let session = self.gate.line(session);
            let session = cut(&session, 20);
            self.name = self.name.max(width(&session));
            head += &format!("{}  ", self.style.paint(Tone::Strong, &pad(&session, self.name)));
            indent += self.name + 2;
        }
        head += &format!("{}  ", self.style.paint(tone, &pad(label, ROLE)));
        indent += ROLE + 2;

        // Where too little room is left beside the head, the text goes below it.
        let beside = self.style.width.is_none_or(|width| width >= indent + LEAST);
        let indent = if beside { indent } else { 2 };
        let body = self.body(entry, origin, indent);
        let margin = format!("\n{}", " ".repeat(indent));
        let first = if beside { "" } else { &margin };
        format!("{}{first}{}", if beside { &head } else { head.trim_end() }, body.join(&margin))
    }

    /// Date and time where the day changes, else the time alone.
    fn stamp(&mut self, entry: &Entry) -> String {
        let Some(time) = entry.time else { return " ".repeat(STAMP) };
        let (day, time) = self.zone.local(time);
        if day == self.day {
            return format!("{:STAMP$}", format!("           {time}"));
        }
        self.day = day;
        format!("{} {time}", self.day)
    }

    /// The lines of an entry, broken where the terminal ends.
    fn body(&self, entry: &Entry, origin: &Origin, indent: usize) -> Vec<String> {
        let room = self.style.width.map(|width| width.saturating_sub(indent).max(LEAST));
        let (tone, text) = match &entry.what {
            What::Call(call) => {
                let tone = if call.failed { Tone::Alarm } else { Tone::Plain };
                return vec![self.style.paint(tone, &self.call_line(call, origin, room)).into_owned()];
            }
            What::Text(text) => (Tone::Plain, &**text),
            What::Thinking(text) | What::Mark(_, text) => (label(entry).1, &**text),
            What::Result { failed, text, .. } => {
                let text = text.as_deref().map(str::trim).filter(|text| !text.is_empty());
                (if *failed { Tone::Alarm } else { Tone::Faint }, text.unwrap_or("(no text)"))
            }
        };
        let text = self.gate.text(text.trim_end());
        let fitted = |line: &str| room.map_or_else(|| vec![line.to_owned()], |room| wrap(line, room));
        let lines = text.split('\n').map(str::trim_end).flat_map(fitted);
        lines.map(|line| self.style.paint(tone, &line).into_owned()).collect()
    }

    /// `[Edit home/MEMORY.md]`, `[Bash npm test] failed`
    fn call_line(&self, call: &Call, origin: &Origin, room: Option<usize>) -> String {
        let subject = call_subjects(call, origin);
        let subject = self.gate.line(&*subject);
        let end = if call.failed { "] failed" } else { "]" };
        let tool = self.gate.line(&*call.tool);
        if subject.is_empty() {
            return format!("[{tool}{end}");
        }
        let used = width(&tool) + 2 + end.len();
        let room = room.map_or(SUBJECT, |room| room.saturating_sub(used).max(8));
        format!("[{tool} {}{end}", cut(&subject, room))
    }
}

/// What a call is about; paths as they are seen from where the session began.
pub fn call_subjects(call: &Call, origin: &Origin) -> String {
    let is_path = matches!(call.act, Act::Edit | Act::Read);
    let shown = |subject| if is_path { origin.relative(subject) } else { subject };
    call.subjects.iter().map(|subject| shown(&**subject)).collect::<Vec<_>>().join(", ")
}

/// An entry with only the first lines of a result. A line may be a whole file, so it is shortened as well.
pub fn shortened(entry: &Entry, lines: usize, gate: Gate) -> Entry<'static> {
    const LINE: usize = 500;
    let mut entry = entry.clone().into_owned();
    if let What::Result { text: Some(text), .. } = &mut entry.what {
        let whole = gate.hide(&**text);
        let mut shown: Vec<_> = whole.trim().lines().take(lines).map(|line| cut(line, LINE)).collect();
        if whole.trim().lines().count() > lines {
            shown.push("…".into());
        }
        *text = Cow::Owned(shown.join("\n"));
    }
    entry
}

#[derive(Debug, Default, Clone)]
pub struct Origin {
    /// What its session is called, where entries of several are shown.
    pub label: Option<String>,
    /// Paths below it are shown relative to it.
    pub cwd: Option<String>,
}

impl Origin {
    fn relative<'s>(&self, subject: &'s str) -> &'s str {
        let below = |cwd: &String| Path::new(subject).strip_prefix(cwd).ok().and_then(|path| path.to_str());
        self.cwd.as_ref().and_then(below).filter(|path| !path.is_empty()).unwrap_or(subject)
    }
}

pub fn label(entry: &Entry) -> (&'static str, Tone) {
    match (&entry.what, entry.role) {
        (What::Thinking(_), _) => ("thinking", Tone::Faint),
        (What::Result { .. }, _) => ("result", Tone::Faint),
        (What::Mark(Mark::Error, _), _) => ("error", Tone::Alarm),
        (What::Mark(Mark::Compaction, _), _) => ("compacted", Tone::Faint),
        (What::Mark(mark, _), _) => (mark.name(), Tone::Faint),
        (_, Role::User) => ("user", Tone::User),
        (_, role) => (role.name(), Tone::Plain),
    }
}
