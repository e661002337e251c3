//! Secrets in a text, replaced by `[redacted]`.
//!
//! One pass over the bytes that stops where a secret may begin, and asks the finders: `key`, `webhook` and `block` know it
//! by its looks, `authorization`, `login`, `flag` and `assignment` by what stands before it. In doubt it goes: better a
//! word hidden too many than a password shown. Escape sequences and invisible characters can hide one: they go before.
//!
//! The time is linear: a finder that finds nothing has looked no further than `text::NEAR`, or over a run of characters in
//! which no finder of its kind begins.

mod assignment;
mod authorization;
mod beginning;
mod block;
#[cfg(test)]
mod check;
mod code;
mod flag;
mod key;
mod login;
mod name;
mod placeholder;
mod quote;
mod text;
mod value;
mod webhook;

use std::borrow::Cow;
use std::ops::Range;

use assignment::SEPARATORS;

pub const REDACTED: &str = "[redacted]";

/// Where a secret is: not empty, and whole characters.
type Secret = Range<usize>;

/// The text with every secret replaced; borrowed if there is none.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut found = Vec::new();
    find(text.as_bytes(), 0..text.len(), &mut found);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for secret in found {
        // One that begins within the last only goes on with it.
        if secret.start >= copied {
            out.push_str(&text[copied..secret.start]);
            out.push_str(REDACTED);
        }
        copied = copied.max(secret.end);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// The secrets that begin in a stretch of the text, by their beginnings.
fn find(text: &[u8], stretch: Range<usize>, found: &mut Vec<Secret>) {
    let Range { start: mut at, end } = stretch;
    let next = |at: usize| text[..end].get(at..)?.iter().position(|byte| STOPS[*byte as usize]);
    while let Some(skipped) = next(at) {
        at += skipped;
        match announced(text, at).filter(|secret| secret.start < end) {
            Some(secret) => {
                // Between what announces it and the secret there may be another: `https://key:password@host`.
                find(text, at + 1..secret.start, found);
                at = secret.end;
                found.push(secret);
            }
            None => at += 1,
        }
    }
}

/// The secret that this byte announces, never before the byte.
fn announced(text: &[u8], at: usize) -> Option<Secret> {
    match text[at] {
        b'-' => {
            block::private_key(text, at).or_else(|| flag::with_secret(text, at)).or_else(|| login::after_flag(text, at))
        }
        b'>' => assignment::element(text, at),
        byte if byte.is_ascii_alphanumeric() => beginning::known(text, at),
        _ => login::in_address(text, at).or_else(|| assignment::assigned(text, at)),
    }
}

/// The bytes at which [`announced`] may find something.
const STOPS: [bool; 256] = {
    let mut stops = beginning::FIRST;
    let mut index = 0;
    while index < SEPARATORS.len() {
        stops[SEPARATORS[index].as_bytes()[0] as usize] = true;
        index += 1;
    }
    stops[b'-' as usize] = true;
    stops[b'>' as usize] = true;
    stops
};

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::check::KEY;
    use super::*;

    /// Whatever stands around a key, it goes; and nothing of it panics.
    #[test]
    fn no_neighbour_saves_a_key() {
        let parts: Vec<_> = "token|password|\"|'|`|“|”|=|:| |\\|\\\"|://|@|/|-u|--token|-|-----BEGIN PRIVATE KEY-----|\
            é|日|{|}|(|)|[|]|<|>|$|Bearer|Authorization|the|,|;|&|.|\n|eyJ|sk-|api|key|\\n|1|str|='''|*"
            .split('|')
            .collect();
        let mut seed = 1_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        for _ in 0..30_000 {
            let mut text = String::new();
            for _ in 0..random(8) {
                text += parts[random(parts.len())];
            }
            text = format!("{text} {KEY} ");
            for _ in 0..random(8) {
                text += parts[random(parts.len())];
            }
            assert!(!redact(&text).contains(KEY), "{text:?}");
        }
    }

    #[test]
    fn the_time_is_linear() {
        let units = [
            ("sk-", 1 << 20),
            ("://a:b", 1 << 20),
            ("sk-_", 1 << 16),
            ("http://a:b/", 1 << 16),
            ("token=a(", 1 << 16),
            ("token={", 1 << 16),
            ("token='{", 1 << 16),
            ("password:“", 1 << 16),
            ("password:“\n", 1 << 16),
            ("token=\\\\\\\\\"", 1 << 16),
            ("\"token\": \"\", ", 1 << 16),
            ("token=a&b", 1 << 16),
            ("pwd=/", 1 << 16),
            ("authorization=", 1 << 16),
            ("authorization: “", 1 << 16),
            ("-u “a:// ", 1 << 16),
            ("-u “a: ", 1 << 16),
            ("--token ", 1 << 16),
            ("eyJ-", 1 << 18),
            ("eyJ.", 1 << 16),
            ("eyJaaaaaaaaaa.", 1 << 16),
            ("-----BEGIN PRIVATE KEY", 1 << 16),
            ("-----BEGIN PRIVATE KEY----- END ", 1 << 16),
            ("<password>", 1 << 16),
            ("=", 1 << 16),
            ("-", 1 << 16),
            (" ", 1 << 16),
        ];
        for (unit, size) in units {
            for end in ["", "}'”.a@b"] {
                let text = unit.repeat(size / unit.len()) + end;
                let start = Instant::now();
                redact(&text);
                assert!(start.elapsed() < Duration::from_secs(10), "{unit} {end}: {:?}", start.elapsed());
            }
        }
    }
}
