//! How text looks on a terminal: colours, columns, and lines that fit its width.
//!
//! Text comes here through the [`gate`](super::gate), and is cut only after that.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::env::Env;

/// On a terminal, output is coloured and fitted to the width.
#[derive(Debug, Clone, Copy, Default)]
pub struct Style {
    pub colour: bool,
    pub width: Option<usize>,
    /// Rows of the terminal; none where the output goes elsewhere.
    pub height: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Faint,
    Strong,
    User,
    Alarm,
    /// Somebody waits for the user.
    Call,
}

impl Style {
    /// How output to stdout looks. `colour` is what the user asked for, if anything.
    pub fn new(env: &Env, terminal: bool, colour: Option<bool>) -> Style {
        let colour = colour.unwrap_or_else(|| env.colour(terminal));
        Style {
            colour,
            width: env.width(terminal),
            height: terminal.then(|| env.height()),
        }
    }

    /// A line, cut to the width.
    pub fn fit(self, line: &str) -> Cow<'_, str> {
        cut(line, self.width.unwrap_or(usize::MAX))
    }

    pub fn paint(self, tone: Tone, text: &str) -> Cow<'_, str> {
        use owo_colors::OwoColorize;
        match tone {
            Tone::Plain => Cow::Borrowed(text),
            _ if !self.colour || text.is_empty() => Cow::Borrowed(text),
            Tone::Faint => Cow::Owned(text.dimmed().to_string()),
            Tone::Strong => Cow::Owned(text.bold().to_string()),
            Tone::User => Cow::Owned(text.cyan().to_string()),
            Tone::Alarm => Cow::Owned(text.red().to_string()),
            Tone::Call => Cow::Owned(text.yellow().bold().to_string()),
        }
    }

    /// A text in which some places stand out.
    pub(crate) fn paint_marked(self, tone: Tone, text: &str, marked: &[Range<usize>]) -> String {
        let (mut out, mut at) = (String::new(), 0);
        for place in marked {
            // A place that is not one is not marked, and nothing of the text is lost.
            if let (Some(before), Some(marked)) =
                (text.get(at..place.start), text.get(place.clone()))
            {
                out += &self.paint(tone, before);
                out += &self.paint(Tone::Call, marked);
                at = place.end;
            }
        }
        out + &self.paint(tone, text.get(at..).unwrap_or_default())
    }
}

pub fn width(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.width()
    }
}

/// As much of a text as fits, with `…` where something is missing. Characters that belong together stay together.
pub fn cut(text: &str, room: usize) -> Cow<'_, str> {
    if width(text) <= room {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    let mut used = 0;
    for grapheme in text.graphemes(true) {
        used += grapheme.width();
        if used + 1 > room {
            break;
        }
        out.push_str(grapheme);
    }
    if room > 0 {
        out.push('…');
    }
    Cow::Owned(out)
}

pub fn pad(text: &str, room: usize) -> String {
    format!(
        "{text}{:blanks$}",
        "",
        blanks = room.saturating_sub(width(text))
    )
}

pub fn pad_left(text: &str, room: usize) -> String {
    format!(
        "{:blanks$}{text}",
        "",
        blanks = room.saturating_sub(width(text))
    )
}

/// Rows as lines: each column is as wide as its widest cell, but the last ends where its text ends.
pub fn aligned<const COLUMNS: usize>(
    rows: &[[String; COLUMNS]],
    to_the_right: &[usize],
) -> Vec<String> {
    let widest = |column: usize| {
        rows.iter()
            .map(|row| width(&row[column]))
            .max()
            .unwrap_or(0)
    };
    let widths: [usize; COLUMNS] = std::array::from_fn(widest);
    let cell = |(column, text): (usize, &String)| {
        if to_the_right.contains(&column) {
            pad_left(text, widths[column])
        } else {
            pad(text, widths[column])
        }
    };
    let line = |row: &[String; COLUMNS]| {
        row.iter()
            .enumerate()
            .map(cell)
            .collect::<Vec<_>>()
            .join("  ")
    };
    rows.iter()
        .map(line)
        .map(|line| line.trim_end().to_owned())
        .collect()
}

/// Breaks a line at blanks so that it fits; a word that is too long by itself is broken where it must be.
pub fn wrap(line: &str, room: usize) -> Vec<String> {
    let (mut lines, mut current, mut used) = (Vec::new(), String::new(), 0);
    for word in line.split_inclusive(' ') {
        let needed = word.trim_end_matches(' ').width();
        if used > 0 && used + needed > room {
            lines.push(std::mem::take(&mut current));
            used = 0;
        }
        for grapheme in word.graphemes(true) {
            let wide = grapheme.width();
            if used + wide > room && used > 0 {
                if grapheme == " " {
                    continue;
                }
                lines.push(std::mem::take(&mut current));
                used = 0;
            }
            current.push_str(grapheme);
            used += wide;
        }
    }
    lines.push(current);
    for line in &mut lines {
        line.truncate(line.trim_end_matches(' ').len());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cut_is_a_prefix_that_fits() {
        let text = "e\u{301}👩‍👩‍👧日本x";
        for room in 0..12 {
            let cut = cut(text, room);
            assert!(cut.width() <= room, "{room}: {cut}");
            let kept = cut.strip_suffix('…').unwrap_or(&cut);
            assert!(
                text.starts_with(kept)
                    && text
                        .graphemes(true)
                        .any(|g| kept.ends_with(g) || kept.is_empty())
            );
        }
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [["a", "1", "x"], ["日本", "100", ""]].map(|row| row.map(str::to_owned));
        assert_eq!(aligned(&rows, &[1]), ["a       1  x", "日本  100"]);
        assert_eq!(aligned::<2>(&[], &[]), [""; 0]);
    }

    #[test]
    fn wrapped_lines_fit_and_lose_nothing() {
        let text = "the quick brown 狐 jumps over averyveryverylongword indeed";
        for room in 2..60 {
            let lines = wrap(text, room);
            assert!(
                lines.iter().all(|line| line.width() <= room),
                "{room}: {lines:?}"
            );
            let letters = |text: &str| text.replace(' ', "");
            assert_eq!(letters(&lines.concat()), letters(text));
        }
    }
}
