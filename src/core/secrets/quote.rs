//! A value in quotes: where they open, and where they close.
//!
//! A quote closes with as many backslashes as it opened with, so that JSON within JSON ends where it should; one that does
//! not close ends with its line. Whether what is inside is a value is for `value` to say.

use memchr::{memchr2_iter, memmem};

use super::text::{is_space, length_at_end, line_before, looked, near};

const QUOTES: &[(&str, &str)] = &[
    ("\"", "\""),
    ("'", "'"),
    ("`", "`"),
    ("“", "”"),
    ("‘", "’"),
    ("„", "“"),
    ("«", "»"),
    ("「", "」"),
    ("『", "』"),
];

/// More backslashes than that are something else.
const MOST_ESCAPES: usize = 7;

pub struct Quote {
    /// The start of the text in it.
    pub inside: usize,
    close: &'static str,
    /// The number of backslashes before the quote, as in JSON within JSON.
    escapes: usize,
    /// Three quotes, which go over lines.
    is_triple: bool,
}

impl Quote {
    /// A quote that opens here, also `b"…"` or `$'…'`.
    pub fn opened(text: &[u8], at: usize) -> Option<Quote> {
        let prefix = near(text, at, |byte| b"bBcCfFrRuUL$@".contains(&byte)).len();
        let at = if prefix > 2 { at } else { at + prefix };
        let escapes = near(text, at, |byte| byte == b'\\').len();
        let (open, close) = QUOTES
            .iter()
            .find(|(open, _)| text[at + escapes..].starts_with(open.as_bytes()))?;
        let length = escapes + open.len();
        let is_triple = is_thrice(&text[at..], length);
        let inside = at + if is_triple { 3 * length } else { length };
        (escapes <= MOST_ESCAPES).then_some(Quote {
            inside,
            close,
            escapes,
            is_triple,
        })
    }

    /// True if it closes what was opened before, as in `"Enter password: ")`: it is the second of two on its line, and
    /// what follows does not look like a value.
    pub(crate) fn is_closing(&self, text: &[u8]) -> bool {
        let line = line_before(text, self.inside);
        let mark = &line[line.len().saturating_sub(self.escapes + self.close.len())..];
        let marks = memmem::find_iter(line, mark).filter(|at| *at == 0 || line[at - 1] != b'\\');
        let is_even = self.close.is_ascii() && marks.count() % 2 == 0;
        is_even
            && text
                .get(self.inside)
                .is_none_or(|byte| is_space(*byte) || b",;)]}+".contains(byte))
    }

    /// The position of the closing quote; the end of the line if there is none.
    pub fn end(&self, text: &[u8], from: usize) -> usize {
        let rest = &text[from..];
        let first = self.close.as_bytes()[0];
        for at in memchr2_iter(first, if self.is_triple { first } else { b'\n' }, rest) {
            if rest[at] == b'\n' {
                return from + looked(&rest[..at]).len();
            }
            let slashes = length_at_end(&rest[..at], |byte| byte == b'\\');
            let start = at - slashes.min(self.escapes);
            let is_escaped = slashes > self.escapes && (self.escapes > 0 || slashes % 2 == 1);
            let is_whole =
                !self.is_triple || is_thrice(&rest[start..], at + self.close.len() - start);
            if !is_escaped && is_whole && rest[at..].starts_with(self.close.as_bytes()) {
                return from + looked(&rest[..start]).len();
            }
        }
        from + looked(rest).len()
    }
}

/// True if a text begins with the same thing three times.
fn is_thrice(text: &[u8], length: usize) -> bool {
    text.len() >= 3 * length && text[..2 * length] == text[length..3 * length]
}
