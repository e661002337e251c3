//! What single characters may do to whoever reads them, as data: to a terminal, to a person, to a model.
//!
//! Nothing here knows what a secret is or who reads; that is [`gate`](super::gate).

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::Chars;

use session_format::boundary::substr;

/// Ranges of characters that show nothing, so that they may hide something: what joins, what orders, private use.
#[rustfmt::skip]
const INVISIBLE: &[[u32; 2]] = &[
    [0xad, 0xad], [0x34f, 0x34f], [0x600, 0x605], [0x61c, 0x61c], [0x6dd, 0x6dd], [0x70f, 0x70f],
    [0x890, 0x891], [0x8e2, 0x8e2], [0x115f, 0x1160], [0x17b4, 0x17b5], [0x180b, 0x180f], [0x200b, 0x200f],
    [0x202a, 0x202e], [0x2060, 0x206f], [0x2800, 0x2800], [0x3164, 0x3164], [0xe000, 0xf8ff], [0xfdd0, 0xfdef],
    [0xfe00, 0xfe0f], [0xfeff, 0xfeff], [0xffa0, 0xffa0], [0xfff0, 0xfffb], [0xfffe, 0xffff], [0x110bd, 0x110bd],
    [0x110cd, 0x110cd], [0x13430, 0x1345f], [0x1bca0, 0x1bca3], [0x1d173, 0x1d17a], [0xe0000, 0xe0fff], [0xf0000, 0x10_ffff],
];

/// Characters that look like a tag's brackets or like a double quote, and what a model reads in their place.
const LOOK_ALIKES: &[(&str, char)] = &[
    ("<＜﹤〈\u{2329}⟨❮❬❰⟪《˂ᐸᚲ⧼⦑≪⋖⋘⩹⪡⫷︽︿𝈶", '‹'),
    (">＞﹥〉\u{232a}⟩❯❭❱⟫》˃ᐳ⧽⦒≫⋗⋙⩺⪢⫸︾﹀𝈷", '›'),
    ("\"“”„‟＂«»〝〞〟❝❞⹂″ʺ🙶🙷🙸״ˮ〃‶❠", '\''),
];

/// What a program may turn into a tag, a quote or another of these, after an `&`.
const ENTITIES: &[&str] = &["lt", "gt", "quot", "amp", "nvlt", "nvgt", "num", "#"];

pub(crate) fn is_invisible(char: char) -> bool {
    let char = char as u32;
    char >= INVISIBLE[0][0]
        && INVISIBLE
            .iter()
            .any(|[first, last]| (first..=last).contains(&&char))
}

pub fn visible(text: &str) -> Cow<'_, str> {
    if text.contains(is_invisible) {
        text.replace(is_invisible, "").into()
    } else {
        text.into()
    }
}

/// The same text in characters whose width all terminals agree on: where they do not, a cell is drawn that nothing wipes again.
pub fn of_known_width(text: &str) -> Cow<'_, str> {
    let other = |char: char| match char {
        // The parts that these are drawn from.
        '\u{e33}' => Some("\u{e4d}\u{e32}".to_owned()),
        '\u{eb3}' => Some("\u{ecd}\u{eb2}".to_owned()),
        // Two of them are a flag; their letters say the same.
        '\u{1f1e6}'..='\u{1f1ff}' => {
            let letter = char as u32 - 0x1f1e6 + u32::from(b'A');
            Some(char::from_u32(letter).map(String::from).unwrap_or_default())
        }
        // Signs around the number that follows.
        '\u{600}'..='\u{605}'
        | '\u{6dd}'
        | '\u{70f}'
        | '\u{890}'
        | '\u{891}'
        | '\u{8e2}'
        | '\u{110bd}'
        | '\u{110cd}' => Some(String::new()),
        _ => None,
    };
    if text.is_ascii() || !text.chars().any(|char| other(char).is_some()) {
        return Cow::Borrowed(text);
    }
    let known = |char: char| other(char).unwrap_or_else(|| char.into());
    Cow::Owned(text.chars().map(known).collect())
}

/// The text without tags, double quotes, and the entities that could become either.
pub(crate) fn without_tags(text: &str) -> String {
    without(text, LOOK_ALIKES)
}

/// The same, but double quotes stay.
pub(crate) fn without_brackets(text: &str) -> String {
    without(text, &LOOK_ALIKES[..2])
}

fn without(text: &str, look_alikes: &[(&str, char)]) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, char) in text.char_indices() {
        if char == '&' && is_entity(substr(text, at + 1..)) {
            // An ampersand before this one would now stand before the rest.
            out.truncate(out.trim_end_matches('&').len());
        } else if char.is_ascii_alphanumeric() || char == ' ' {
            out.push(char);
        } else {
            out.push(
                look_alikes
                    .iter()
                    .find(|(all, _)| all.contains(char))
                    .map_or(char, |(_, instead)| *instead),
            );
        }
    }
    out
}

fn is_entity(rest: &str) -> bool {
    ENTITIES.iter().any(|entity| {
        rest.get(..entity.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(entity))
    })
}

/// The text without anything a terminal would obey: escape sequences, control characters, and characters that change
/// the direction of what follows. Newlines stay, tabs become blanks.
pub fn clean(text: &str) -> Cow<'_, str> {
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n'));
    if plain || !text.chars().any(|char| is_obeyed(char) || char == '\t') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\u{1b}' | '\u{9b}' | '\u{9d}' | '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}' => {
                skip_sequence(char, &mut chars);
            }
            '\t' => out.push_str("    "),
            '\u{2028}' | '\u{2029}' | '\u{85}' | '\u{b}' | '\u{c}' => out.push('\n'),
            char if is_obeyed(char) => {}
            char => out.push(char),
        }
    }
    Cow::Owned(out)
}

fn is_obeyed(char: char) -> bool {
    (char.is_control() && char != '\n')
        || matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Steps over an escape sequence: `ESC [ … letter`, `ESC ] … BEL` or `… ESC \`, `ESC x`. It ends at a newline at the
/// latest, so that a stray escape cannot swallow the text after it.
fn skip_sequence(start: char, chars: &mut Peekable<Chars>) {
    let is_short = match start {
        '\u{1b}' => match chars.next_if(char::is_ascii_graphic) {
            Some('[') => true,
            Some(']' | 'P' | 'X' | '^' | '_') => false,
            _ => return,
        },
        start => start == '\u{9b}',
    };
    while let Some(next) = chars.next_if(|next| *next != '\n') {
        match next {
            ' '..='?' if is_short => {}
            '\u{7}' | '\u{9c}' => return,
            _ if is_short => return,
            '\u{1b}' => {
                chars.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_a_terminal_obeys_gets_through() {
        assert_eq!(clean("a\u{1b}[31mred\u{1b}[0m b"), "ared b");
        assert_eq!(
            clean("\u{1b}]0;title\u{7}x\u{1b}]8;;http://e\u{1b}\\y"),
            "xy"
        );
        assert_eq!(clean("\u{1b}]unclosed\nnext"), "\nnext");
        assert_eq!(clean("\u{9b}2Jx\u{1b}cy\u{1b}"), "xy");
        assert_eq!(clean("a\u{0}\u{7}\u{8}\r\nb\u{7f}\u{85}c"), "a\nb\nc");
        assert_eq!(clean("a\u{202e}b\u{2066}c\u{feff}"), "abc");
        assert_eq!(clean("a\tb"), "a    b");
        assert_eq!(clean("e\u{301} 👩‍👩‍👧 日本"), "e\u{301} 👩‍👩‍👧 日本");
    }

    /// Every pair of Unicode's angle brackets, and what people take for one.
    #[test]
    fn no_look_alike_of_a_tag_is_left() {
        let pairs = [
            "<>",
            "＜＞",
            "﹤﹥",
            "〈〉",
            "\u{2329}\u{232a}",
            "⟨⟩",
            "❮❯",
            "❬❭",
            "❰❱",
            "⟪⟫",
            "《》",
            "˂˃",
            "ᐸᐳ",
            "⧼⧽",
            "⦑⦒",
            "≪≫",
            "⋖⋗",
            "⋘⋙",
            "⩹⩺",
            "⪡⪢",
            "⫷⫸",
            "︽︾",
            "︿﹀",
            "𝈶𝈷",
            "‹›",
        ];
        for pair in pairs {
            let (open, close) = pair.split_at(pair.chars().next().map_or(0, char::len_utf8));
            assert_eq!(
                without_tags(&format!("{open}/system-reminder{close}")),
                "‹/system-reminder›",
                "{pair}"
            );
        }
    }

    #[test]
    fn private_use_and_format_characters_are_invisible() {
        for char in [
            '\u{e000}',
            '\u{f8ff}',
            '\u{f0000}',
            '\u{10fffd}',
            '\u{13430}',
            '\u{1345f}',
            '\u{e0041}',
            '\u{110cd}',
        ] {
            assert_eq!(visible(&format!("a{char}b")), "ab", "{:x}", char as u32);
        }
        assert_eq!(visible("e\u{301} 日本 it's"), "e\u{301} 日本 it's");
    }

    #[test]
    fn what_terminals_disagree_on_is_written_in_another_way() {
        for (text, shown) in [
            ("plain, é, 日本 👩", "plain, é, 日本 👩"),
            ("น\u{e33}", "น\u{e4d}\u{e32}"),
            ("🇩🇪 and 🇺🇸", "DE and US"),
            ("\u{600}12\u{6dd}", "12"),
        ] {
            assert_eq!(of_known_width(text), shown);
        }
    }
}
