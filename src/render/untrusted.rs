//! Text from other sessions, made fit to stand in a line that a model reads.
//!
//! A stranger wrote it. So it stays on its line, hides nothing, opens and closes no tag and no quote, and carries no
//! secret. What the line says about it is up to others.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

use crate::render::secrets::{REDACTED, redact};
use crate::render::terminal::flat;

/// How much of a text [`quote`] takes at first.
const TAKEN: usize = 8 * 1024;
/// How much has to follow what is shown, so that no secret that begins there lacks what it is known by.
const MARGIN: usize = 1024;
/// How far before a cut the end of a word is looked for.
const WORD: usize = 16;

/// What shows nothing, and so may hide something from whoever looks at the text.
const INVISIBLE: &[(char, char)] = &[
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// What stands for what: nothing that could be a tag or end the quote.
const REPLACED: &[(&str, char)] = &[("<＜﹤", '‹'), (">＞﹥", '›'), ("\"“”„‟＂«»〝〞〟❝❞⹂″ʺ🙶🙷🙸", '\'')];

/// What a program may turn into a tag, a quote or another of these, after an `&`.
const ENTITIES: &[&str] = &["lt", "gt", "quot", "amp", "nvlt", "nvgt", "num", "#"];

/// A text on one line, without what hides, what a terminal obeys, secrets, tags and double quotes.
pub fn harmless(text: &str) -> String {
    let visible: String = text.chars().filter(|char| !is_invisible(*char)).collect();
    let line = flat(&visible);
    let mut out = String::with_capacity(line.len());
    let redacted = redact(&line);
    for (at, char) in redacted.char_indices() {
        if char == '&' && is_entity(&redacted[at + 1..]) {
            // One before it would now stand before the rest.
            out.truncate(out.trim_end_matches('&').len());
            continue;
        }
        out.push(REPLACED.iter().find(|(chars, _)| chars.contains(char)).map_or(char, |(_, instead)| *instead));
    }
    out
}

fn is_invisible(char: char) -> bool {
    char >= INVISIBLE[0].0 && INVISIBLE.iter().any(|(first, last)| (*first..=*last).contains(&char))
}

fn is_entity(rest: &str) -> bool {
    let is_start = |entity: &&str| rest.get(..entity.len()).is_some_and(|start| start.eq_ignore_ascii_case(entity));
    ENTITIES.iter().any(|entity| is_start(&entity))
}

/// The length of a text in UTF-16 units. That is as long as any client counts it, in characters or in these.
pub fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// As much of a text as there is room for, with `…` where something is missing; up to the end of a word if one is near.
pub fn shorten(text: &str, room: usize) -> Cow<'_, str> {
    let Some(start) = overlong(text, room) else { return Cow::Borrowed(text) };
    if room == 0 {
        return Cow::Borrowed("");
    }
    let mut used = 0;
    let fits = |grapheme: &&str| {
        used += length(grapheme);
        used < room
    };
    let kept = start.graphemes(true).take_while(fits).map(str::len).sum();
    let kept = match redacted_around(text, kept) {
        Some(whole) => whole.start,
        None => word_end(text, kept),
    };
    Cow::Owned(format!("{}…", text[..kept].trim_end()))
}

/// The beginning of a text that is too long, just longer than the room.
fn overlong(text: &str, room: usize) -> Option<&str> {
    let mut used = 0;
    let (last, char) = text.char_indices().find(|(_, char)| {
        used += char.len_utf16();
        used > room
    })?;
    Some(&text[..last + char.len_utf8()])
}

/// The `[redacted]` that a cut would go through.
fn redacted_around(text: &str, cut: usize) -> Option<std::ops::Range<usize>> {
    let starts = cut.saturating_sub(REDACTED.len() - 1)..cut;
    let start = starts.into_iter().find(|at| text.get(*at..).is_some_and(|rest| rest.starts_with(REDACTED)))?;
    Some(start..start + REDACTED.len())
}

/// The end of the last whole word before a cut, or the cut if it is far.
fn word_end(text: &str, cut: usize) -> usize {
    let (before, after) = text.split_at(cut);
    if after.starts_with(char::is_whitespace) {
        return cut;
    }
    match before.rfind(char::is_whitespace) {
        Some(blank) if length(&before[blank..]) <= WORD && blank > cut / 2 => blank,
        _ => cut,
    }
}

/// A text that is harmless and in double quotes, no longer than the room; nothing if there is no room for a quote.
pub fn quote(text: &str, room: usize) -> String {
    let Some(room) = room.checked_sub(2).filter(|room| *room > 0) else { return String::new() };
    let mut taken = TAKEN;
    loop {
        let start = &text[..text.floor_char_boundary(taken)];
        let line = harmless(start);
        if start.len() == text.len() || overlong(&line, room + MARGIN).is_some() {
            return format!("\"{}\"", shorten(&line, room));
        }
        taken *= 2;
    }
}

/// A path that is harmless and no longer than the room: `…/deep/file.rs`.
pub fn path(text: &str, room: usize) -> String {
    let path = harmless(text);
    let mut left = length(&path);
    if left <= room || room == 0 {
        return if room == 0 { String::new() } else { path };
    }
    // A component, or a part of one if the last alone is too long.
    let (mut component, mut part) = (None, path.len());
    for (at, grapheme) in path.grapheme_indices(true) {
        if left < room {
            part = part.min(redacted_around(&path, at).map_or(at, |whole| whole.end));
            if component.is_none() && matches!(grapheme, "/" | "\\") && at + 1 < path.len() {
                component = Some(at);
            }
        }
        left -= length(grapheme);
    }
    format!("…{}", &path[component.unwrap_or(part)..])
}
