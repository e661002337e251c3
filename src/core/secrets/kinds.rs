//! Keys that are known by their looks: the finder for the kinds of `table`.
//!
//! A prefix alone is no key (`the AKIA prefix`): enough has to follow it, of the right characters, and it has to look
//! random. Keys that are known only by the words around them are for `announced`.

use super::Secret;
use super::table::{ANY, KeyKind, Stretch, TECHNICAL, UNITS};
use super::text::{
    NEAR, after, is_alphanumeric, is_dotted, is_encoded, is_space, length_at_end, looked, near,
    near_before, run, run_end, run_end_before_dots,
};

impl KeyKind {
    /// The key whose prefix is here, if it is this one.
    pub fn find(&self, text: &[u8], at: usize, prefix: &str) -> Option<Secret> {
        let body = after(text, at, prefix)?;
        let start = self
            .start(text, at)
            .filter(|start| !is_in_blob(text, *start, prefix))?;
        // `agent-sdk-<id>` is what files of ours are called.
        if prefix == "sdk-" && text[..start].ends_with(b"agent-") {
            return None;
        }
        let (last, parts) = self.body.split_last()?;
        let from = parts
            .iter()
            .try_fold(body, |at, part| after(text, end_of(text, at, part)?, "."))?;
        // A long prefix, a mark in the middle and dots where they belong tell enough; `sk-` or `Bearer` do not.
        let near = near(text, from, last.0);
        let has_digit = || near.iter().any(u8::is_ascii_digit) || is_random(near, KEY_LENGTH);
        let tells = start < at
            || from > body
            || body - at > 3 && !self.shows_prefix && !is_row(near) && has_digit();
        let is_known = tells || is_random(near, SHORTEST);
        let end = is_known.then(|| end_of(text, from, last))??;
        // There may be more parts than those that make it known.
        let end = if from > body && last.2 == ANY {
            run_end_before_dots(text, from, is_dotted)
        } else {
            end
        };
        let end = if self.is_block {
            block_end(text, end)
        } else {
            end
        };
        Some(if self.shows_prefix { body } else { start }..end)
    }

    /// The start of the key that has its prefix here. It begins a word.
    fn start(&self, text: &[u8], at: usize) -> Option<usize> {
        let (alphabet, least, most) = self.before;
        let before = looked(&text[at.saturating_sub(most)..at]);
        let length = length_at_end(before, alphabet);
        (length >= least && is_word_start(text, at - length)).then_some(at - length)
    }
}

/// The end of a run, if it is long enough and not too long. A long one without a limit is sure to be hidden.
fn end_of(text: &[u8], at: usize, (alphabet, least, most): &Stretch) -> Option<usize> {
    let limit = if *most == ANY { *least } else { most + 1 };
    let length = run(&text[..text.len().min(at + limit)], at, alphabet).len();
    match *most {
        _ if length < *least => None,
        ANY => Some(run_end_before_dots(text, at, *alphabet)),
        most => (length <= most
            && !text
                .get(at + length)
                .is_some_and(|next| is_alphanumeric(*next)))
        .then_some(at + length),
    }
}

/// The shortest line of a key, but for the last.
const LINE: usize = 40;

/// The end of the lines of Base64 that go on after this position. Only the last of them is short.
fn block_end(text: &[u8], mut end: usize) -> usize {
    loop {
        let start = run_end(text, end, |byte| is_space(byte) || byte == b'\\');
        let escaped = text[end..start].ends_with(b"\\") && text.get(start) == Some(&b'n');
        let line = run(text, start + usize::from(escaped), is_encoded);
        let is_whole = line.len() >= LINE;
        if start == end || !(is_whole || line.ends_with(b"=") || is_random(line, SHORTEST)) {
            return end;
        }
        end = start + usize::from(escaped) + line.len();
        if !is_whole {
            return end;
        }
    }
}

/// The start of the lines of Base64 that end here; here if there are none.
pub(crate) fn block_start(text: &[u8], at: usize) -> usize {
    let (mut start, mut is_last) = (at, true);
    loop {
        let end = start - length_at_end(&text[..start], |byte| is_space(byte) || byte == b'\\');
        // The `n` of an escaped newline belongs to the gap.
        let end = if text[..end].ends_with(b"\\n") {
            end - 2
        } else {
            end
        };
        let line = length_at_end(looked(&text[..end]), is_encoded);
        if line < if is_last { 4 } else { LINE } {
            return start;
        }
        (start, is_last) = (end - line, false);
    }
}

/// True if Base64 goes on here that is longer than a path: a picture, not a key.
fn is_in_blob(text: &[u8], at: usize, prefix: &str) -> bool {
    let is_base64 = |byte: u8| is_alphanumeric(byte) || matches!(byte, b'+' | b'/');
    prefix.bytes().all(is_base64)
        && text[..at]
            .last()
            .is_some_and(|last| matches!(last, b'+' | b'/'))
        && near_before(text, at, is_base64).len() > NEAR - LINE / 2
}

/// True if a word begins here, also after an escaped newline (`\n`), `%3D` or `\u003d`.
fn is_word_start(text: &[u8], at: usize) -> bool {
    let is_hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    match &text[..at] {
        [.., last] if !is_alphanumeric(*last) => true,
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', a, b] if is_hex(&[*a, *b]) => true,
        [.., b'\\', b'u', a, b, c, d] if is_hex(&[*a, *b, *c, *d]) => true,
        before => before.is_empty(),
    }
}

/// The shortest run of letters and digits that looks random.
pub(crate) const SHORTEST: usize = 6;
/// From here on it looks random whatever it consists of.
const KEY_LENGTH: usize = 20;

/// True if this looks like a key rather than like words: letters with digits among them, or no end of letters.
pub(crate) fn is_random(text: &[u8], shortest: usize) -> bool {
    looked(text)
        .split(|byte| !is_alphanumeric(*byte))
        .any(|run| {
            let is_mixed =
                || run.iter().any(u8::is_ascii_digit) && run.iter().any(u8::is_ascii_alphabetic);
            (run.len() >= shortest && is_mixed() || run.len() >= KEY_LENGTH && !is_camel(run))
                && !is_row(run)
                && !is_technical(run)
        })
}

/// True if these are words in one: `standardSchedulerSettings`. By chance, half of the letters are capitals.
fn is_camel(run: &[u8]) -> bool {
    let capitals = run.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    run.iter().all(u8::is_ascii_alphabetic) && capitals > 0 && run.len() >= 4 * (capitals + 1)
}

/// True if somebody wrote `xxxx` for a key.
fn is_row(text: &[u8]) -> bool {
    text.iter().all(|byte| byte.eq_ignore_ascii_case(&b'x'))
}

/// True if this is a word of the trade that has digits in it: `sha256`, `32bytes`.
fn is_technical(word: &[u8]) -> bool {
    let name = &word[..word
        .iter()
        .rposition(|byte| !byte.is_ascii_digit())
        .map_or(0, |last| last + 1)];
    let is_numbered = [b"value".as_slice(), b"key", b"param"].contains(&name);
    let unit = &word[word.iter().take_while(|byte| byte.is_ascii_digit()).count()..];
    is_numbered || TECHNICAL.has(word) || unit.len() < word.len() && UNITS.has(unit)
}
