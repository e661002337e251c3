//! What a search found, for people: a line for each session, and below it the entries that have the words in them.

use std::ops::Range;
use std::path::Path;

use crate::ask::log::Origin;
use crate::ask::search::{Correction, Excerpt, FileExcerpt, FoundEntry};
use crate::env::Zone;
use crate::search::Query;
use crate::search::cache::Source;
use crate::show::gate::Gate;
use crate::show::log::{Opener, call_subjects, label};
use crate::show::terminal::{Style, Tone, cut, pad, pad_left, width};
use session_format::entry::{Entry, What};
use session_format::time::Time;

/// How much of an entry is shown where no terminal sets a width.
const SNIPPET: usize = 200;
/// Room for the line, after a `>` or a blank.
const NUMBER: usize = 5;
/// How much of a word is said again that was not found.
pub const WORD: usize = 60;

/// That nobody says a word, and what is shown instead.
pub fn correction(Correction { word, instead }: &Correction, gate: Gate) -> String {
    let unsaid = format!("no session says \"{}\"", cut(word, WORD));
    match instead {
        None => unsaid,
        // It may be a secret, which only the words around it tell.
        Some(_) if gate.hides_secrets() => format!("{unsaid}; showing the nearest word"),
        Some(other) => format!("{unsaid}; showing \"{other}\""),
    }
}

pub struct SearchView<'q> {
    pub zone: Zone,
    pub gate: Gate,
    pub style: Style,
    pub query: &'q Query,
    /// Hits are marked with `>`, because there are other entries beside them.
    pub has_context: bool,
}

impl SearchView<'_> {
    /// A session, and the best of what it says: what stands in one transcript, then the command that opens it there.
    pub fn session(&self, excerpt: &Excerpt, now: Time, opener: &Opener) -> Vec<String> {
        let faint = |line: &str| self.style.paint(Tone::Faint, line).into_owned();
        let command = |subagent: Option<&Path>, line: Option<u32>| {
            let command = format!(
                "  {}",
                opener.command(excerpt.listed, subagent, line.map(u64::from))
            );
            // The name of a subagent must not be cut.
            faint(&if subagent.is_some() {
                command.into()
            } else {
                self.style.fit(&command)
            })
        };
        let mut lines = vec![self.title_line(excerpt, now)];
        for FileExcerpt {
            subagent,
            line,
            blocks,
        } in &excerpt.files
        {
            for (index, block) in blocks.iter().enumerate() {
                if index > 0 && self.has_context {
                    lines.push("--".to_owned());
                }
                lines.extend(block.iter().map(|found| self.entry(found, &excerpt.origin)));
            }
            lines.push(command(subagent.as_deref(), Some(*line)));
        }
        if excerpt.files.is_empty() {
            lines.push(command(None, None));
        }
        if excerpt.more > 0 {
            lines.push(faint(&format!("  {} more here", excerpt.more)));
        }
        lines
    }

    /// `aurora  claude  3d  Fix the retry of webhooks  (missing: timeout)`
    fn title_line(
        &self,
        Excerpt {
            listed, missing, ..
        }: &Excerpt,
        now: Time,
    ) -> String {
        /// The title is cut before what is missing.
        const TITLE: usize = 20;
        let SearchView {
            gate, style, query, ..
        } = self;
        let handle = gate.line(listed.handle());
        let about = format!(
            "  {}  {}",
            gate.line(listed.session.format.label()),
            listed.age(now)
        );
        let title = gate.line(listed.tally.title().unwrap_or_default());
        let title = if title.is_empty() {
            String::new()
        } else {
            format!("  {title}")
        };
        let room = style.width.map_or(usize::MAX, |all| {
            all.saturating_sub(width(&handle) + width(&about))
        });
        let missing: Vec<_> = missing.iter().map(|word| cut(word, WORD)).collect();
        let missing = if missing.is_empty() {
            String::new()
        } else {
            format!("  (missing: {})", missing.join(", "))
        };
        let missing = gate.line(missing.trim_start()).into_owned();
        let missing = if missing.is_empty() {
            missing
        } else {
            format!("  {missing}")
        };
        let missing = cut(&missing, room.saturating_sub(width(&title).min(TITLE)));
        let title = cut(&title, room.saturating_sub(width(&missing)));
        let title = style.paint_marked(Tone::Plain, &title, &query.places_in(&title));
        let (handle, about) = (
            style.paint(Tone::Strong, &handle),
            style.paint(Tone::Faint, &about),
        );
        format!(
            "{handle}{about}{title}{}",
            style.paint(Tone::Faint, &missing)
        )
    }

    /// An entry with the words in it marked, or one beside it.
    fn entry(
        &self,
        FoundEntry {
            entry,
            source,
            is_hit,
        }: &FoundEntry,
        origin: &Origin,
    ) -> String {
        let (head, room) = self.head(
            entry,
            *source,
            if *is_hit { Tone::Plain } else { Tone::Faint },
        );
        let text = self.text(entry, origin);
        if !is_hit {
            return format!(
                " {head}{}",
                self.style.paint(Tone::Faint, &cut(&text, room))
            );
        }
        let (text, marked) = snippet(&text, &self.query.places_in(&text), room);
        let pointer = self
            .style
            .paint(Tone::Strong, if self.has_context { ">" } else { " " });
        format!(
            "{pointer}{head}{}",
            self.style.paint_marked(Tone::Plain, &text, &marked)
        )
    }

    /// The line of the transcript, when it was and who said it; and the room that is left.
    fn head(&self, entry: &Entry, Source { file, line }: Source, tone: Tone) -> (String, usize) {
        let stamp = entry
            .time
            .map(|time| self.zone.local(time))
            .map_or(String::new(), |(day, time)| format!("{day} {time}"));
        let (role, role_tone) = if file > 0 {
            ("subagent", Tone::Plain)
        } else {
            label(entry)
        };
        let start = format!("{}  {stamp:16}", pad_left(&line.number.to_string(), NUMBER));
        let role = pad(role, 9);
        let used = 1 + width(&start) + width(&role) + 4;
        let room = self
            .style
            .width
            .map_or(SNIPPET, |all| all.saturating_sub(used).max(20));
        let tone = if matches!(tone, Tone::Plain) {
            role_tone
        } else {
            tone
        };
        (
            format!(
                "{}  {}  ",
                self.style.paint(Tone::Faint, &start),
                self.style.paint(tone, &role)
            ),
            room,
        )
    }

    fn text(&self, entry: &Entry, origin: &Origin) -> String {
        let text = match &entry.what {
            What::Call(call) => {
                let end = if call.failed { "] failed" } else { "]" };
                format!(
                    "[{}{end}",
                    format!("{} {}", call.tool, call_subjects(call, origin)).trim_end()
                )
            }
            What::Text(text) => text.to_string(),
            What::Result {
                text: Some(text), ..
            } => text.text().into_owned(),
            _ => String::new(),
        };
        self.gate.line(text).into_owned()
    }
}

/// As much of a text as fits around the first words that were looked for, and where in it they are.
fn snippet(text: &str, places: &[Range<usize>], room: usize) -> (String, Vec<Range<usize>>) {
    /// How much of what comes before the first word is shown.
    const BEFORE: usize = 30;
    let first = places.first().map_or(0, |place| place.start);
    let before = text.get(..first).unwrap_or_default();
    let (mut lead, mut rest) = ("", text);
    if width(before) > BEFORE && width(text) > room {
        let near = before
            .char_indices()
            .rev()
            .nth(BEFORE - 1)
            .map_or(before, |(at, _)| before.split_at(at).1);
        // At the beginning of a word, if there is one.
        let near = near.split_once(' ').map_or(near, |(_, near)| near);
        (lead, rest) = ("…", text.split_at(before.len() - near.len()).1);
    }
    let lead = cut(lead, room);
    let shown = cut(rest, room.saturating_sub(width(&lead)));
    // All of it that is not the `…` of the cut.
    let (start, kept) = (
        text.len() - rest.len(),
        rest.bytes()
            .zip(shown.bytes())
            .take_while(|(a, b)| a == b)
            .count(),
    );
    let moved = |at: usize| (at + lead.len()).checked_sub(start);
    let marked = places
        .iter()
        .filter(|place| (start..=start + kept).contains(&place.start) && place.end <= start + kept);
    let marked = marked
        .filter_map(|place| Some(moved(place.start)?..moved(place.end)?))
        .collect();
    (format!("{lead}{shown}"), marked)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts of all kinds at all widths: what is shown fits, and what is marked in it is what was looked for.
    #[test]
    fn any_text_fits_any_width() {
        const KINDS: [&str; 10] = [
            "a",
            " ",
            "日",
            "e\u{301}",
            "👩\u{200d}👧",
            "\u{200b}",
            "\u{7}",
            "…",
            "ß",
            "\u{fe0f}",
        ];
        let check = |text: &str, place: Range<usize>, room: usize| {
            let wanted = &text.get(place.clone()).expect("a place in the text");
            let (shown, marked) = snippet(text, std::slice::from_ref(&place), room);
            assert!(
                width(&shown) <= room,
                "{text:?} {place:?} {room}: {shown:?}"
            );
            assert!(
                marked
                    .iter()
                    .all(|at| shown.get(at.clone()) == Some(wanted)),
                "{text:?} {place:?} {room}: {shown:?}"
            );
            if width(text) <= room {
                assert_eq!((&*shown, &*marked), (text, std::slice::from_ref(&place)));
            }
            Style {
                colour: true,
                ..Style::default()
            }
            .paint_marked(Tone::Plain, &shown, &marked);
        };
        let bounds = |text: &str| {
            (0..=text.len())
                .filter(|at| text.is_char_boundary(*at))
                .collect::<Vec<_>>()
        };
        // All short texts with all their places.
        for number in 0..KINDS.len().pow(3) {
            let text: String = [1, 10, 100].map(|ten| KINDS[number / ten % 10]).concat();
            let bounds = bounds(&text);
            for (start, end) in bounds
                .iter()
                .flat_map(|start| bounds.iter().map(move |end| (*start, *end)))
            {
                (0..8)
                    .filter(|_| start < end)
                    .for_each(|room| check(&text, start..end, room));
            }
        }
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = |most: usize| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % most
        };
        for _ in 0..6000 {
            let (kinds, count) = (1 + random(KINDS.len()), random(260));
            let text: String = (0..count).map(|_| KINDS[random(kinds)]).collect();
            let bounds = bounds(&text);
            let (one, other) = (bounds[random(bounds.len())], bounds[random(bounds.len())]);
            // Often at the end, and the text a little too wide.
            let end = if random(2) == 0 {
                text.len()
            } else {
                one.max(other)
            };
            let room = if random(2) == 0 {
                width(&text).saturating_sub(random(4))
            } else {
                random(250)
            };
            check(&text, one.min(other).min(end)..end, room);
        }
    }
}
