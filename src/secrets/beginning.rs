//! Words that are known by how they begin: whether one begins here, and who knows it.
//!
//! Nearly every word of a text is asked, so three bytes decide, by a table made of the finders' own: whatever they know is
//! let through, and little else. What the word is, and where it ends, is for `key`, `webhook` and `authorization` to say.

use super::Secret;
use super::authorization::{self, BEARER};
use super::key::{self, KEYS, SHORT, WEB_TOKEN};
use super::text::is_alphanumeric;
use super::webhook::{self, WEBHOOKS};

/// For each of the first three places, and each byte there, a bit per list that has it in that place: three bytes without
/// a common bit begin nothing known. A shorter beginning does not compile.
type Table = [[u32; 256]; 3];

/// The first bits are the rows of [`KEYS`].
const BEGINNINGS: Table = {
    let mut bits = [[0; 256]; 3];
    let mut row = 0;
    while row < KEYS.len() {
        bits = with_list(bits, KEYS[row].2, row);
        row += 1;
    }
    bits = with_list(bits, WEBHOOKS, row);
    bits = with_list(bits, &[WEB_TOKEN, SHORT], row + 1);
    with_list(bits, BEARER, row + 1)
};

const fn with_list(mut bits: Table, beginnings: &[&str], list: usize) -> Table {
    let mut index = 0;
    while index < beginnings.len() {
        let beginning = beginnings[index].as_bytes();
        assert!(beginning[0].is_ascii_alphanumeric(), "nobody would ask here");
        let mut place = 0;
        while place < bits.len() {
            bits[place][beginning[place] as usize] |= 1 << list;
            place += 1;
        }
        index += 1;
    }
    bits
}

/// The bytes with which something known begins.
pub const FIRST: [bool; 256] = {
    let mut first = [false; 256];
    let mut byte = 0;
    while byte < first.len() {
        first[byte] = BEGINNINGS[0][byte] != 0;
        byte += 1;
    }
    first
};

/// The secret in a word that begins here.
pub fn known(text: &[u8], at: usize) -> Option<Secret> {
    let lists = BEGINNINGS.iter().zip(&text[at..]).fold(u32::MAX, |lists, (bits, byte)| lists & bits[*byte as usize]);
    if lists == 0 || !is_start(text, at) {
        return None;
    }
    key::listed(text, at, lists)
        .or_else(|| key::short(text, at))
        .or_else(|| key::web_token(text, at))
        .or_else(|| webhook::webhook(text, at))
        .or_else(|| authorization::bearer(text, at))
}

/// Whether a word begins here, also after an escaped newline (`\n`), `%3D` or `\u003d`.
fn is_start(text: &[u8], at: usize) -> bool {
    let is_hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    match &text[..at] {
        [.., last] if !is_alphanumeric(*last) => true,
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', a, b] if is_hex(&[*a, *b]) => true,
        [.., b'\\', b'u', a, b, c, d] if is_hex(&[*a, *b, *c, *d]) => true,
        before => before.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use crate::secrets::check::{assert_hidden, assert_kept};

    #[test]
    fn a_word_begins_after_what_is_no_letter_or_digit_even_written_as_some() {
        assert_hidden(&["token%3D⟦ghp_16C7e42F292c6912E7710c838347Ae178B4a⟧"]);
        assert_kept(&["task-ant-farm", "risk-free"]);
    }
}
