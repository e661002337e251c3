//! A log for people: a line per entry, what was said in full.
//!
//! The date is said where the day changes, and a call takes one line. Which entries are shown is up to `cmd/log.rs`.

use std::borrow::Cow;
use std::path::Path;

use crate::entry::{Act, Call, Entry, LongText, Mark, Role, What};
use crate::env::Zone;
use crate::search::Query;
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
    /// Words that are marked wherever they are.
    marked: Option<Query>,
    /// On a terminal, the next entry is shown as the one that was asked for.
    pub points_at_it: bool,
}

impl LogView {
    pub fn new(zone: Zone, gate: Gate, style: Style) -> LogView {
        LogView { zone, gate, style, day: String::new(), name: 0, marked: None, points_at_it: false }
    }

    pub fn marking(self, marked: Option<Query>) -> LogView {
        LogView { marked, ..self }
    }

    pub fn entry(&mut self, entry: &Entry, origin: &Origin) -> String {
        let (label, tone) = label(entry);
        let stamp = self.stamp(entry);
        let is_pointed_at = self.points_at_it && self.style.height.is_some();
        let pointer = if is_pointed_at { self.style.paint(Tone::Strong, "> ") } else { "  ".into() };
        let mut head = format!("{}{pointer}", self.style.paint(Tone::Faint, &stamp));
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
                return vec![self.painted(tone, &self.call_line(call, origin, room))];
            }
            What::Text(text) => (Tone::Plain, Cow::Borrowed(&**text)),
            What::Thinking(text) => (label(entry).1, text.text()),
            What::Mark(_, text) => (label(entry).1, Cow::Borrowed(&**text)),
            What::Result { failed, text, .. } => {
                let text = text.as_ref().map(LongText::text).filter(|text| !text.trim().is_empty());
                let text = text.map_or("(no text)".into(), |text| text.trim().to_owned().into());
                (if *failed { Tone::Alarm } else { Tone::Faint }, text)
            }
        };
        let text = self.gate.text(text.trim_end());
        let fitted = |line: &str| room.map_or_else(|| vec![line.to_owned()], |room| wrap(line, room));
        let lines = text.split('\n').map(str::trim_end).flat_map(fitted);
        lines.map(|line| self.painted(tone, &line)).collect()
    }

    fn painted(&self, tone: Tone, line: &str) -> String {
        let marked = self.marked.as_ref().map(|words| words.places_in(line)).unwrap_or_default();
        self.style.paint_marked(tone, line, &marked)
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
        let whole = text.text().into_owned();
        let whole = gate.hide(&*whole);
        let mut shown: Vec<_> = whole.trim().lines().take(lines).map(|line| cut(line, LINE)).collect();
        if whole.trim().lines().count() > lines {
            shown.push("…".into());
        }
        *text = LongText::Read(Cow::Owned(shown.join("\n")));
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
