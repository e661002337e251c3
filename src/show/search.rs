//! What a search found, for people: a line for each session, and below it the entries that have the words in them.

use std::ops::Range;

use crate::entry::{Entry, What};
use crate::env::Zone;
use crate::search::Query;
use crate::search::cache::Source;
use crate::session::index::Listed;
use crate::show::gate::Gate;
use crate::show::log::{Origin, call_subjects, label};
use crate::show::terminal::{Style, Tone, cut, pad, pad_left, width};
use crate::time::Time;

/// How much of an entry is shown where no terminal sets a width.
const SNIPPET: usize = 200;
/// Room for the line, after a `>` or a blank.
const NUMBER: usize = 5;

/// `aurora  claude  3d  Fix the retry of webhooks  (missing: timeout)`
pub fn head(listed: &Listed, query: &Query, missing: &[&str], now: Time, gate: Gate, style: Style) -> String {
    /// The title is cut before what is missing.
    const TITLE: usize = 20;
    let handle = gate.line(listed.handle());
    let about = format!("  {}  {}", gate.line(listed.session.format.label()), listed.age(now));
    let title = gate.line(listed.tally.title().unwrap_or_default());
    let title = if title.is_empty() { String::new() } else { format!("  {title}") };
    let room = style.width.map_or(usize::MAX, |all| all.saturating_sub(width(&handle) + width(&about)));
    let missing = if missing.is_empty() { String::new() } else { format!("  (missing: {})", missing.join(", ")) };
    let missing = gate.line(missing.trim_start()).into_owned();
    let missing = if missing.is_empty() { missing } else { format!("  {missing}") };
    let missing = cut(&missing, room.saturating_sub(width(&title).min(TITLE)));
    let title = cut(&title, room.saturating_sub(width(&missing)));
    let title = style.paint_marked(Tone::Plain, &title, &query.places_in(&title));
    let (handle, about) = (style.paint(Tone::Strong, &handle), style.paint(Tone::Faint, &about));
    format!("{handle}{about}{title}{}", style.paint(Tone::Faint, &missing))
}

pub struct SearchView<'q> {
    zone: Zone,
    gate: Gate,
    style: Style,
    query: &'q Query,
    /// Hits are marked with `>`, because there are other entries beside them.
    points_at_hits: bool,
}

impl<'q> SearchView<'q> {
    pub fn new(zone: Zone, gate: Gate, style: Style, query: &'q Query, points_at_hits: bool) -> SearchView<'q> {
        SearchView { zone, gate, style, query, points_at_hits }
    }

    /// An entry with the words in it marked.
    pub fn hit(&self, entry: &Entry, source: Source, origin: &Origin) -> String {
        let (head, room) = self.head(entry, source, Tone::Plain);
        let text = self.text(entry, origin);
        let (text, marked) = snippet(&text, self.query, room);
        let pointer = if self.points_at_hits { ">" } else { " " };
        self.style.paint(Tone::Strong, pointer).into_owned()
            + &head
            + &self.style.paint_marked(Tone::Plain, &text, &marked)
    }

    /// An entry beside one.
    pub fn context(&self, entry: &Entry, source: Source, origin: &Origin) -> String {
        let (head, room) = self.head(entry, source, Tone::Faint);
        let text = self.text(entry, origin);
        format!(" {head}{}", self.style.paint(Tone::Faint, &cut(&text, room)))
    }

    /// The line of the transcript, when it was and who said it; and the room that is left.
    fn head(&self, entry: &Entry, Source { file, line }: Source, tone: Tone) -> (String, usize) {
        let stamp =
            entry.time.map(|time| self.zone.local(time)).map_or(String::new(), |(day, time)| format!("{day} {time}"));
        let (role, role_tone) = if file > 0 { ("subagent", Tone::Plain) } else { label(entry) };
        let start = format!("{}  {stamp:16}", pad_left(&line.number.to_string(), NUMBER));
        let role = pad(role, 9);
        let used = 1 + width(&start) + width(&role) + 4;
        let room = self.style.width.map_or(SNIPPET, |all| all.saturating_sub(used).max(20));
        let tone = if matches!(tone, Tone::Plain) { role_tone } else { tone };
        (format!("{}  {}  ", self.style.paint(Tone::Faint, &start), self.style.paint(tone, &role)), room)
    }

    fn text(&self, entry: &Entry, origin: &Origin) -> String {
        let text = match &entry.what {
            What::Call(call) => {
                let end = if call.failed { "] failed" } else { "]" };
                format!("[{}{end}", format!("{} {}", call.tool, call_subjects(call, origin)).trim_end())
            }
            What::Text(text) => text.to_string(),
            What::Result { text: Some(text), .. } => text.text().into_owned(),
            _ => String::new(),
        };
        self.gate.line(text).into_owned()
    }
}

/// As much of a text as fits around the first words that were looked for, and where in it they are.
fn snippet(text: &str, query: &Query, room: usize) -> (String, Vec<Range<usize>>) {
    /// How much of what comes before the first word is shown.
    const BEFORE: usize = 30;
    let places = query.places_in(text);
    let first = places.first().map_or(0, |place| place.start);
    let mut start = 0;
    if width(&text[..first]) > BEFORE && width(text) > room {
        let near = text[..first].char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
        // At the beginning of a word, if there is one.
        start = text[near..first].find(' ').map_or(near, |blank| near + blank + 1);
    }
    let lead = if start > 0 { "…" } else { "" };
    let shown = cut(&text[start..], room.saturating_sub(lead.len().min(1)));
    let end = if shown.ends_with('…') && shown.len() < text.len() - start {
        shown.len() - '…'.len_utf8()
    } else {
        shown.len()
    };
    let within = |place: &Range<usize>| place.start >= start && place.end - start <= end;
    let moved = |place: Range<usize>| place.start - start + lead.len()..place.end - start + lead.len();
    let marked = places.into_iter().filter(within).map(moved).collect();
    (format!("{lead}{shown}"), marked)
}
