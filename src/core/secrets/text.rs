//! Bytes of a text: runs of one alphabet, and how far a finder may look.
//!
//! Every look at the text goes through here, so that a test can count the bytes: a look is bounded by [`NEAR`], or it goes
//! over one run. An alphabet has all bytes that are not ASCII, or none, so that no run ends within a character.

use memchr::memrchr;

/// A finder looks no further to tell a secret from something else.
pub const NEAR: usize = 128;

pub type Alphabet = fn(u8) -> bool;

#[cfg(test)]
thread_local! {
    /// The number of bytes looked at.
    pub(crate) static LOOKED_AT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Counts the bytes of a look, in tests only.
pub fn looked(bytes: &[u8]) -> &[u8] {
    #[cfg(test)]
    LOOKED_AT.with(|count| count.set(count.get() + bytes.len() + 1));
    bytes
}

/// The run of an alphabet that begins here.
pub fn run(text: &[u8], at: usize, alphabet: impl Fn(u8) -> bool) -> &[u8] {
    let rest = &text[at..];
    looked(
        &rest[..rest
            .iter()
            .position(|byte| !alphabet(*byte))
            .unwrap_or(rest.len())],
    )
}

/// The end of a run.
pub(crate) fn run_end(text: &[u8], at: usize, alphabet: Alphabet) -> usize {
    at + run(text, at, alphabet).len()
}

/// The end of a run, without the dots that end a sentence.
pub(crate) fn run_end_before_dots(text: &[u8], at: usize, alphabet: Alphabet) -> usize {
    let run = run(text, at, alphabet);
    at + run
        .iter()
        .rposition(|byte| *byte != b'.')
        .map_or(0, |last| last + 1)
}

/// The position after the blanks that begin here.
pub(crate) fn over_blanks(text: &[u8], at: usize) -> usize {
    run_end(text, at, is_blank)
}

/// The position after those of these signs that begin here.
pub fn over(text: &[u8], at: usize, signs: &[u8]) -> usize {
    at + near(text, at, |byte| signs.contains(&byte)).len()
}

/// The beginning of a run, which may end within a character.
pub fn near(text: &[u8], at: usize, alphabet: impl Fn(u8) -> bool) -> &[u8] {
    run(&text[..text.len().min(at + NEAR)], at, alphabet)
}

/// The end of the run that ends here.
pub(crate) fn near_before(text: &[u8], at: usize, alphabet: impl Fn(u8) -> bool) -> &[u8] {
    let before = &text[at.saturating_sub(NEAR)..at];
    looked(
        &before[before
            .iter()
            .rposition(|byte| !alphabet(*byte))
            .map_or(0, |last| last + 1)..],
    )
}

/// The length of the run of such bytes at the end.
pub(crate) fn length_at_end(text: &[u8], alphabet: impl Fn(u8) -> bool) -> usize {
    text.iter()
        .rev()
        .take_while(|byte| alphabet(**byte))
        .count()
}

/// The end of the line before this position.
pub(crate) fn line_before(text: &[u8], at: usize) -> &[u8] {
    let before = &text[at.saturating_sub(NEAR)..at];
    looked(&before[memrchr(b'\n', before).map_or(0, |last| last + 1)..])
}

/// The position after what the text says here.
pub fn after(text: &[u8], at: usize, said: &str) -> Option<usize> {
    text[at..]
        .starts_with(said.as_bytes())
        .then_some(at + said.len())
}

/// A list of words, split at blanks, the shorter first; or at `;` where one may have a blank in it.
pub struct Words {
    pub text: &'static str,
    /// For each length, a bit for each first letter and for each last: nearly every word is not listed, and this tells
    /// at once.
    letters: [(u32, u32); LENGTHS],
    /// Where the words of each length begin.
    starts: [usize; LENGTHS],
}

/// Words that are longer count as this long.
const LENGTHS: usize = 16;

const fn length(word: usize) -> usize {
    if word < LENGTHS { word } else { LENGTHS - 1 }
}

impl Words {
    pub const fn new(text: &'static str) -> Words {
        let (mut letters, mut starts) = ([(0, 0); LENGTHS], [text.len(); LENGTHS]);
        let (bytes, mut start, mut at) = (text.as_bytes(), 0, 0);
        while at <= bytes.len() {
            if at == bytes.len() || matches!(bytes[at], b' ' | b';') {
                if at > start {
                    let length = length(at - start);
                    letters[length].0 |= 1 << (bytes[start] & 31);
                    letters[length].1 |= 1 << (bytes[at - 1] & 31);
                    if start < starts[length] {
                        starts[length] = start;
                    }
                }
                start = at + 1;
            }
            at += 1;
        }
        Words {
            text,
            letters,
            starts,
        }
    }

    /// True if one of the words may be this one, in whatever case.
    pub(crate) fn may_have(&self, word: &[u8]) -> bool {
        let (first, last) = self.letters[length(word.len())];
        let is_in = |letters: u32, letter: Option<&u8>| {
            letter.is_some_and(|letter| letters >> (letter & 31) & 1 != 0)
        };
        is_in(first, word.first()) && is_in(last, word.last())
    }

    /// True if this is one of the words, in whatever case.
    pub fn has(&self, word: &[u8]) -> bool {
        let listed = &self.text.as_bytes()[self.starts[length(word.len())]..];
        // By bytes: the words are short, and looking for a character begins with more work than that.
        let mut words = listed
            .split(|byte| *byte == b' ')
            .take_while(|listed| listed.len() <= word.len());
        self.may_have(word) && words.any(|listed| listed.eq_ignore_ascii_case(word))
    }
}

macro_rules! alphabets {
    ($($(#[$doc:meta])* $name:ident: $byte:ident => $has:expr;)*) => {
        $($(#[$doc])* pub fn $name($byte: u8) -> bool { $has })*

        #[cfg(test)]
        const ALPHABETS: &[Alphabet] = &[$($name),*];
    };
}

alphabets! {
    is_alphanumeric: byte => byte.is_ascii_alphanumeric();
    is_digit: byte => byte.is_ascii_digit();
    is_hex: byte => byte.is_ascii_hexdigit();
    is_capital: byte => byte.is_ascii_uppercase() || byte.is_ascii_digit();
    is_uuid: byte => is_hex(byte) || byte == b'-';
    is_constant: byte => is_capital(byte) || byte == b'_';
    is_word: byte => is_alphanumeric(byte) || matches!(byte, b'_' | b'-');
    is_dotted: byte => is_word(byte) || matches!(byte, b'.' | b'~');
    /// Part of an address.
    is_path: byte => is_word(byte) || matches!(byte, b'/' | b':');
    /// Base64 as it is written in an address.
    is_escaped: byte => is_dotted(byte) || matches!(byte, b'%' | b'=');
    /// Base64, however it is written.
    is_encoded: byte => is_escaped(byte) || matches!(byte, b'+' | b'/');
    /// Part of `user:password@`.
    is_login: byte => !is_space(byte) && !matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\');
    is_graphic: byte => byte.is_ascii_graphic();
    is_line: byte => byte != b'\n';
    is_dash: byte => byte == b'-';
    is_blank: byte => matches!(byte, b' ' | b'\t');
    is_space: byte => byte.is_ascii_whitespace();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_ahead_is_bounded_and_a_run_is_not() {
        let text = format!("{}. x", "a".repeat(2 * NEAR));
        assert_eq!(near(text.as_bytes(), 0, is_dotted).len(), NEAR);
        assert_eq!(
            near_before(text.as_bytes(), 2 * NEAR, is_dotted).len(),
            NEAR
        );
        assert_eq!(run_end(text.as_bytes(), 0, is_dotted), 2 * NEAR + 1);
        assert_eq!(run_end_before_dots(text.as_bytes(), 0, is_dotted), 2 * NEAR);
    }

    #[test]
    fn no_alphabet_splits_a_character() {
        for alphabet in ALPHABETS {
            assert!((0x80..=0xFF).all(|byte| alphabet(byte) == alphabet(0x80)));
        }
    }
}
