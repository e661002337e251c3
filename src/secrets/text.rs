//! Bytes of a text: runs of characters of one kind, and how far a finder may look.
//!
//! A look ahead is either bounded by [`NEAR`] or goes over one run of an alphabet; that is what keeps the time linear. An
//! alphabet never splits a character: it has all bytes that are not ASCII, or none. What a run means is the finders' to say.

/// How far a finder looks to tell a secret from something else.
pub const NEAR: usize = 128;

pub type Alphabet = fn(u8) -> bool;

/// Where a run of characters ends.
pub fn run_end(text: &[u8], at: usize, alphabet: Alphabet) -> usize {
    text[at..].iter().position(|byte| !alphabet(*byte)).map_or(text.len(), |length| at + length)
}

/// The same, without the dots that end a sentence.
pub fn run_end_before_dots(text: &[u8], at: usize, alphabet: Alphabet) -> usize {
    let run = &text[at..run_end(text, at, alphabet)];
    at + run.iter().rposition(|byte| *byte != b'.').map_or(0, |last| last + 1)
}

/// A run of characters, or the beginning of it, which may be cut within a character.
pub fn near(text: &[u8], at: usize, alphabet: impl Fn(u8) -> bool) -> &[u8] {
    let rest = &text[at..];
    let rest = &rest[..rest.len().min(NEAR)];
    &rest[..rest.iter().position(|byte| !alphabet(*byte)).unwrap_or(rest.len())]
}

/// Over what the text says here.
pub fn after(text: &[u8], at: usize, said: &str) -> Option<usize> {
    text[at..].starts_with(said.as_bytes()).then_some(at + said.len())
}

/// Whether a word is one of these, in whatever case.
pub fn is_listed(words: &str, word: &[u8]) -> bool {
    words.split(' ').any(|listed| listed.as_bytes().eq_ignore_ascii_case(word))
}

pub fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

pub fn is_capital(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

pub fn is_word(byte: u8) -> bool {
    is_alphanumeric(byte) || matches!(byte, b'_' | b'-')
}

pub fn is_dotted(byte: u8) -> bool {
    is_word(byte) || byte == b'.'
}

/// Base64, also as it is written in an address.
pub fn is_encoded(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'%' | b'+' | b'/' | b'=')
}

/// What may be in `user:password@`.
pub fn is_login(byte: u8) -> bool {
    !is_space(byte) && !matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\')
}

pub fn is_dash(byte: u8) -> bool {
    byte == b'-'
}

pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_ahead_is_bounded_and_a_run_is_not() {
        let text = format!("{}. x", "a".repeat(2 * NEAR));
        assert_eq!(near(text.as_bytes(), 0, is_dotted).len(), NEAR);
        assert_eq!(run_end(text.as_bytes(), 0, is_dotted), 2 * NEAR + 1);
        assert_eq!(run_end_before_dots(text.as_bytes(), 0, is_dotted), 2 * NEAR);
    }

    #[test]
    fn no_alphabet_splits_a_character() {
        let alphabets =
            [is_alphanumeric, is_capital, is_word, is_dotted, is_encoded, is_login, is_dash, is_blank, is_space];
        for alphabet in alphabets as [Alphabet; 9] {
            assert!((0x80..=0xFF).all(|byte| alphabet(byte) == alphabet(0x80)));
        }
    }
}
