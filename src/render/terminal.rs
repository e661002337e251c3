//! What a terminal may see of a stranger's text, and how wide it is.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::env::Env;

/// How output looks: on a terminal it is coloured and fitted to the width.
#[derive(Debug, Clone, Copy, Default)]
pub struct Look {
    pub colour: bool,
    pub width: Option<usize>,
    /// Rows of the terminal; none where the output goes elsewhere.
    pub height: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
pub enum Tone {
    Plain,
    Faint,
    Strong,
    User,
    Alarm,
    /// Somebody waits for the user.
    Call,
}

impl Look {
    /// How output to stdout looks. `colour` is what the user asked for, if anything.
    pub fn new(env: &Env, terminal: bool, colour: Option<bool>) -> Look {
        let colour = colour.unwrap_or_else(|| env.colour(terminal));
        Look { colour, width: env.width(terminal), height: terminal.then(|| env.height()) }
    }

    pub fn paint(self, tone: Tone, text: &str) -> Cow<'_, str> {
        use owo_colors::OwoColorize;
        match tone {
            _ if !self.colour || text.is_empty() => Cow::Borrowed(text),
            Tone::Plain => Cow::Borrowed(text),
            Tone::Faint => Cow::Owned(text.dimmed().to_string()),
            Tone::Strong => Cow::Owned(text.bold().to_string()),
            Tone::User => Cow::Owned(text.cyan().to_string()),
            Tone::Alarm => Cow::Owned(text.red().to_string()),
            Tone::Call => Cow::Owned(text.yellow().bold().to_string()),
        }
    }
}

/// The text without anything a terminal would obey: escape sequences, control characters, and characters that change
/// the direction of what follows. Newlines stay, tabs become blanks.
pub fn clean(text: &str) -> Cow<'_, str> {
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n'));
    if plain || !text.chars().any(|char| is_unsafe(char) || char == '\t') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\u{1b}' | '\u{9b}' | '\u{9d}' | '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}' => sequence(char, &mut chars),
            '\t' => out.push_str("    "),
            '\u{2028}' | '\u{2029}' | '\u{85}' | '\u{b}' | '\u{c}' => out.push('\n'),
            char if is_unsafe(char) => {}
            char => out.push(char),
        }
    }
    Cow::Owned(out)
}

fn is_unsafe(char: char) -> bool {
    (char.is_control() && char != '\n')
        || matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Steps over an escape sequence: `ESC [ … letter`, `ESC ] … BEL` or `… ESC \`, `ESC x`. It ends at a newline at the
/// latest, so that a stray escape cannot swallow the text after it.
fn sequence(start: char, chars: &mut std::iter::Peekable<std::str::Chars>) {
    let kind = match start {
        '\u{1b}' => match chars.peek() {
            Some('[' | ']' | 'P' | 'X' | '^' | '_') => chars.next().unwrap_or_default(),
            Some(next) if next.is_ascii_graphic() => {
                chars.next();
                return;
            }
            _ => return,
        },
        '\u{9b}' => '[',
        _ => ']',
    };
    while let Some(&next) = chars.peek() {
        if next == '\n' {
            return;
        }
        chars.next();
        match (kind, next) {
            ('[', '@'..='~') => return,
            ('[', ' '..='?') => {}
            ('[', _) => return,
            (_, '\u{7}' | '\u{9c}') => return,
            (_, '\u{1b}') => {
                chars.next_if(|next| *next == '\\');
                return;
            }
            _ => {}
        }
    }
}

pub fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// A text on one line.
pub fn flat(text: &str) -> Cow<'_, str> {
    let is_flat = text.bytes().all(|byte| matches!(byte, b'!'..=b'~' | b' ')) && !text.contains("  ");
    if is_flat && text.trim().len() == text.len() {
        return Cow::Borrowed(text);
    }
    let cleaned = clean(text);
    let words: Vec<_> = cleaned.split_whitespace().collect();
    Cow::Owned(words.join(" "))
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

/// Text filled up with blanks to a width.
pub fn pad(text: &str, room: usize) -> String {
    text.to_owned() + blanks(room.saturating_sub(width(text)))
}

/// Text with blanks before it up to a width.
pub fn pad_left(text: &str, room: usize) -> String {
    blanks(room.saturating_sub(width(text))).to_owned() + text
}

fn blanks(count: usize) -> &'static str {
    const BLANKS: &str = "                                                                ";
    &BLANKS[..count.min(BLANKS.len())]
}

/// Breaks a line at blanks so that it fits; a word that is too long by itself is broken where it must be.
pub fn wrap(line: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut current = String::new();
    let mut used = 0;
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
    fn nothing_a_terminal_obeys_gets_through() {
        assert_eq!(clean("a\u{1b}[31mred\u{1b}[0m b"), "ared b");
        assert_eq!(clean("\u{1b}]0;title\u{7}x\u{1b}]8;;http://e\u{1b}\\y"), "xy");
        assert_eq!(clean("\u{1b}]unclosed\nnext"), "\nnext");
        assert_eq!(clean("\u{9b}2Jx\u{1b}cy\u{1b}"), "xy");
        assert_eq!(clean("a\u{0}\u{7}\u{8}\r\nb\u{7f}\u{85}c"), "a\nb\nc");
        assert_eq!(clean("a\u{202e}b\u{2066}c\u{feff}"), "abc");
        assert_eq!(clean("a\tb"), "a    b");
        assert_eq!(clean("e\u{301} 👩‍👩‍👧 日本"), "e\u{301} 👩‍👩‍👧 日本");
    }

    #[test]
    fn every_cut_is_a_prefix_that_fits() {
        let text = "e\u{301}👩‍👩‍👧日本x";
        for room in 0..12 {
            let cut = cut(text, room);
            assert!(cut.width() <= room, "{room}: {cut}");
            let kept = cut.strip_suffix('…').unwrap_or(&cut);
            assert!(text.starts_with(kept) && text.graphemes(true).any(|g| kept.ends_with(g) || kept.is_empty()));
        }
    }

    #[test]
    fn wrapped_lines_fit_and_lose_nothing() {
        let text = "the quick brown 狐 jumps over averyveryverylongword indeed";
        for room in 2..60 {
            let lines = wrap(text, room);
            assert!(lines.iter().all(|line| line.width() <= room), "{room}: {lines:?}");
            let letters = |text: &str| text.replace(' ', "");
            assert_eq!(letters(&lines.concat()), letters(text));
        }
    }
}
