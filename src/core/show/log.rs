//! A log for people: a line per entry, what was said in full.
//!
//! The date is said where the day changes, and a call takes one line. Which entries are shown is up to whoever asks. Here is
//! also the command that opens a log at a line, for those who found something there.

use std::borrow::Cow;
use std::path::Path;

use crate::ask::log::Origin;
use crate::env::{Env, Zone};
use crate::search::Query;
use crate::session::index::Listed;
use crate::session::{Session, subagent};
use crate::show::call::{self, CallLine};
use crate::show::gate::Gate;
use crate::show::terminal::{Style, Tone, cut, pad, width, wrap};
use session_format::boundary::substr;
use session_format::entry::{Act, Call, Entry, LongText, Mark, Role, What};
use session_format::path::{shell_path, shell_word};

/// `2026-01-31 14:25`
const STAMP: usize = 16;
const TIME: usize = 5;
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
    /// A day has a line of its own, which leaves more room for what was said.
    is_narrow: bool,
}

/// A part of a line, and how it looks.
pub type Piece = (Tone, String);

/// An entry: what stands to the left of its text, and the lines of the text.
struct Parts {
    head: Vec<Piece>,
    /// How far the text is indented, and whether it begins in the line of the head.
    indent: usize,
    is_beside: bool,
    body: Vec<Vec<Piece>>,
}

impl LogView {
    pub fn new(zone: Zone, gate: Gate, style: Style) -> LogView {
        LogView {
            zone,
            gate,
            style,
            day: String::new(),
            name: 0,
            marked: None,
            points_at_it: false,
            is_narrow: false,
        }
    }

    pub fn narrow(self) -> LogView {
        LogView {
            is_narrow: true,
            ..self
        }
    }

    pub fn marking(self, marked: Option<Query>) -> LogView {
        LogView { marked, ..self }
    }

    pub fn entry(&mut self, entry: &Entry, origin: &Origin) -> String {
        let Parts {
            head,
            indent,
            is_beside,
            body,
        } = self.parts(entry, origin);
        let paint = |pieces: &[Piece]| {
            pieces
                .iter()
                .map(|(tone, text)| self.style.paint(*tone, text))
                .collect()
        };
        let (head, body): (String, Vec<String>) =
            (paint(&head), body.iter().map(|line| paint(line)).collect());
        let margin = format!("\n{}", " ".repeat(indent));
        let first = if is_beside { "" } else { &margin };
        format!(
            "{}{first}{}",
            if is_beside { &head } else { head.trim_end() },
            body.join(&margin)
        )
    }

    /// The same in pieces, for a screen.
    pub fn lines(&mut self, entry: &Entry, origin: &Origin) -> Vec<Vec<Piece>> {
        let day = self.day.clone();
        let Parts {
            mut head,
            indent,
            is_beside,
            body,
        } = self.parts(entry, origin);
        let mut lines = Vec::with_capacity(body.len() + 1);
        if self.is_narrow && self.day != day {
            lines.push(vec![(Tone::Faint, self.day.clone())]);
        }
        if !is_beside {
            lines.push(std::mem::take(&mut head));
        }
        for mut line in body {
            if head.is_empty() {
                head.push((Tone::Plain, " ".repeat(indent)));
            }
            head.append(&mut line);
            lines.push(std::mem::take(&mut head));
        }
        lines
    }

    fn parts(&mut self, entry: &Entry, origin: &Origin) -> Parts {
        let (label, tone) = label(entry);
        let stamp = self.stamp(entry);
        let is_pointed_at = self.points_at_it && self.style.height.is_some();
        let pointer = if is_pointed_at {
            (Tone::Strong, "> ")
        } else {
            (Tone::Plain, "  ")
        };
        let mut indent = stamp.len() + 2;
        let mut head = vec![(Tone::Faint, stamp), (pointer.0, pointer.1.into())];
        if let Some(session) = &origin.label {
            let session = self.gate.line(session);
            let session = cut(&session, 20);
            self.name = self.name.max(width(&session));
            head.extend([
                (Tone::Strong, pad(&session, self.name)),
                (Tone::Plain, "  ".into()),
            ]);
            indent += self.name + 2;
        }
        head.extend([(tone, pad(label, ROLE)), (Tone::Plain, "  ".into())]);
        indent += ROLE + 2;

        // Where too little room is left beside the head, the text goes below it.
        let is_beside = self.style.width.is_none_or(|width| width >= indent + LEAST);
        let indent = if is_beside { indent } else { 2 };
        Parts {
            head,
            indent,
            is_beside,
            body: self.body(entry, origin, indent),
        }
    }

    /// Date and time where the day changes, else the time alone.
    fn stamp(&mut self, entry: &Entry) -> String {
        let room = if self.is_narrow { TIME } else { STAMP };
        let Some(time) = entry.time else {
            return " ".repeat(room);
        };
        let (day, time) = self.zone.local(time);
        if self.is_narrow {
            self.day = day;
            return time;
        }
        if day == self.day {
            return format!("{:STAMP$}", format!("           {time}"));
        }
        self.day = day;
        format!("{} {time}", self.day)
    }

    /// The lines of an entry, broken where the terminal ends.
    fn body(&self, entry: &Entry, origin: &Origin, indent: usize) -> Vec<Vec<Piece>> {
        let room = self
            .style
            .width
            .map(|width| width.saturating_sub(indent).max(LEAST));
        let (tone, text) = match &entry.what {
            What::Call(call) => {
                let tone = if call.failed {
                    Tone::Alarm
                } else {
                    Tone::Plain
                };
                let line = self.marked(tone, &self.call_line(call, origin, room));
                return std::iter::once(line)
                    .chain(self.called_with(call, origin, room))
                    .collect();
            }
            What::Text(text) => (Tone::Plain, Cow::Borrowed(&**text)),
            What::Thinking(text) => (label(entry).1, text.text()),
            What::Permission { .. } => return Vec::new(),
            What::Mark(_, text) => (label(entry).1, Cow::Borrowed(&**text)),
            What::Result { failed, text, .. } => {
                let text = text
                    .as_ref()
                    .map(LongText::text)
                    .filter(|text| !text.trim().is_empty());
                let text = text.map_or("(no text)".into(), |text| text.trim().to_owned().into());
                (if *failed { Tone::Alarm } else { Tone::Faint }, text)
            }
        };
        let text = self.gate.text(text.trim_end());
        let fitted =
            |line: &str| room.map_or_else(|| vec![line.to_owned()], |room| wrap(line, room));
        let lines = text.split('\n').map(str::trim_end).flat_map(fitted);
        lines.map(|line| self.marked(tone, &line)).collect()
    }

    fn marked(&self, tone: Tone, line: &str) -> Vec<Piece> {
        let places = self
            .marked
            .as_ref()
            .map(|words| words.places_in(line))
            .unwrap_or_default();
        let (mut pieces, mut at) = (Vec::with_capacity(1 + 2 * places.len()), 0);
        for place in places {
            pieces.extend([
                (tone, substr(line, at..place.start).to_owned()),
                (Tone::Call, substr(line, place.clone()).to_owned()),
            ]);
            at = place.end;
        }
        pieces.push((tone, substr(line, at..).to_owned()));
        pieces
    }

    /// All that a call was made with, where that was read and its line does not say it.
    fn called_with(&self, call: &Call, origin: &Origin, room: Option<usize>) -> Vec<Vec<Piece>> {
        let is_whole = call
            .detail
            .as_ref()
            .is_some_and(|detail| detail.input.is_some());
        if !is_whole {
            return Vec::new();
        }
        let shown = |path: &str| origin.relative(path).to_owned();
        let lines = call::lines(call, usize::MAX, self.gate, &shown);
        let line = self.call_line(call, origin, room);
        let is_said = |(_, text): &CallLine| {
            let value = text.split_once(": ").map_or(&**text, |(_, value)| value);
            line.contains(&*self.gate.line(shown(value)))
                || line.contains(&*self.gate.line(&**text))
        };
        let lines: Vec<CallLine> = lines.into_iter().skip_while(is_said).collect();
        let fitted = call::fitted(&lines, room.unwrap_or(usize::MAX));
        fitted
            .iter()
            .map(|(tone, line)| self.marked(*tone, line))
            .collect()
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
    let shown = |subject| {
        if is_path {
            origin.relative(subject)
        } else {
            subject
        }
    };
    call.subjects
        .iter()
        .map(|subject| shown(&**subject))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The first lines of a result that the gate has passed, and how many are left out. A line may be a whole file, so it is
/// shortened as well.
pub fn first_lines(text: &str, lines: usize) -> (String, usize) {
    const LINE: usize = 500;
    if lines == usize::MAX {
        return (text.to_owned(), 0);
    }
    let mut all = text.lines();
    let shown: Vec<_> = all
        .by_ref()
        .take(lines)
        .map(|line| cut(line, LINE))
        .collect();
    (shown.join("\n"), all.count())
}

/// An entry with only the first lines of a result.
pub fn shortened(entry: &Entry, lines: usize, gate: Gate) -> Entry<'static> {
    let mut entry = entry.clone().into_owned();
    if let What::Result {
        text: Some(text), ..
    } = &mut entry.what
    {
        let whole = text.text().into_owned();
        let whole = gate.hide(&*whole);
        let (mut shown, more) = first_lines(whole.trim(), lines);
        if more > 0 {
            shown += "\n…";
        }
        *text = LongText::Read(Cow::Owned(shown));
    }
    entry
}

/// What to type to open a log. No two of these subagents may be told by the same name.
pub struct Opener<'v> {
    pub env: &'v Env,
    pub gate: Gate,
    pub subagents: &'v [Session<'v>],
}

impl Opener<'_> {
    /// `session-reader log NAME --at LINE`: the log of a session, or of the subagent of it whose transcript is here.
    pub fn command(&self, listed: &Listed, subagent: Option<&Path>, line: Option<u64>) -> String {
        let name = match subagent {
            None => shell_word(&self.gate.line(listed.handle())),
            Some(path) => {
                let name = subagent::name(path, self.subagents)
                    .map_or_else(|| self.env.tilde(path), str::to_owned);
                shell_path(&self.gate.line(&name))
            }
        };
        let at = line.map_or_else(String::new, |line| format!(" --at {line}"));
        format!("session-reader log {name}{at}")
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
