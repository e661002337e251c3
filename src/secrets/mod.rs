//! Secrets in a text, replaced by `[redacted]`: what is hidden, and nothing about who shows it.
//!
//! One pass over the bytes that stops where a secret may be announced and asks who knows: `kinds` by the looks of a key,
//! `announced` by what stands before it. What they know is data: a new kind of key is a line in `kinds`, a new word or
//! program a line in `words`. In doubt it goes: better a word hidden too many than a password shown.
//!
//! The time is linear: a finder that finds nothing has looked no further than a bound, or over a run in which no finder of
//! its kind begins. Escape sequences and invisible characters can hide a secret: they go before.

mod announced;
mod kinds;
mod quote;
mod text;
mod value;
mod words;

use std::borrow::Cow;
use std::ops::Range;

use announced::{flagged, here_string, in_address, named, piped, private_key};
use kinds::KINDS;
use words::NAMES;

pub const REDACTED: &str = "[redacted]";

/// Where a secret is: not empty, and whole characters.
type Secret = Range<usize>;

/// Finds the secret that something at this position of a text announces.
type Finder = fn(&[u8], usize) -> Option<Secret>;

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

/// The secrets that are announced in a stretch of the text.
fn find(text: &[u8], stretch: Range<usize>, found: &mut Vec<Secret>) {
    let Range { start: mut at, end } = stretch;
    // Nothing begins in the last two bytes: they would not even be the beginning of something.
    let windows = &text[..text.len().min(end + BEGINNING - 1)];
    while let Some(skipped) =
        windows.get(at..).and_then(|rest| rest.windows(BEGINNING).position(|bytes| begun(bytes) != 0))
    {
        at += skipped;
        let is_one = |secret: &Secret| secret.start < end && !secret.is_empty() && !is_hidden(&text[secret.clone()]);
        match announced(text, at).filter(is_one) {
            Some(secret) => {
                // Between what announces it and the secret there may be another: `https://key:password@host`.
                find(text, at + 1..secret.start, found);
                at = secret.end.max(at + 1);
                found.push(secret);
            }
            None => at += 1,
        }
    }
}

/// Whether there is nothing to hide any more, but for signs around the mark.
fn is_hidden(secret: &[u8]) -> bool {
    let is_sign = |byte: &u8| !byte.is_ascii_alphanumeric() && byte.is_ascii() && *byte != b'[';
    let signs = secret.iter().take_while(|byte| is_sign(byte)).count();
    let rest = secret[signs..].strip_prefix(REDACTED.as_bytes());
    rest.is_some_and(|rest| rest.iter().all(is_sign))
}

/// The secret that is announced here, or that begins here.
fn announced(text: &[u8], at: usize) -> Option<Secret> {
    let mut bits = begun(&text[at..at + BEGINNING]);
    while bits != 0 {
        let bit = bits.trailing_zeros() as usize;
        let found = match bit.checked_sub(KINDS.len() + SIGNS.len()) {
            Some(name) => NAMES.iter().skip(name).step_by(NAME_BITS).find_map(|name| named(text, at, name)),
            None => KINDS.get(bit).map_or_else(|| SIGNS[bit - KINDS.len()].1(text, at), |kind| kind.find(text, at)),
        };
        if found.is_some() {
            return found;
        }
        bits &= bits - 1;
    }
    None
}

/// What else announces a secret, and who knows.
const SIGNS: &[(&str, Finder)] =
    &[("---", private_key), ("-", flagged), ("://", in_address), ("|", piped), ("<<<", here_string)];

/// How many bytes decide whether something may begin: at nearly every byte of a text the answer is no.
const BEGINNING: usize = 3;
/// A kind and a sign have a bit each; names share the others.
const NAME_BITS: usize = u128::BITS as usize - KINDS.len() - SIGNS.len();

/// The bits of the kinds, signs and names that may begin with these bytes.
fn begun(bytes: &[u8]) -> u128 {
    BEGINNINGS[0][bytes[0] as usize] & BEGINNINGS[1][bytes[1] as usize] & BEGINNINGS[2][bytes[2] as usize]
}

/// For each index and each byte, the bits of what has that byte at that index.
type Table = [[u128; 256]; BEGINNING];

static BEGINNINGS: Table = {
    let mut table = [[0; 256]; BEGINNING];
    let mut row = 0;
    while row < KINDS.len() {
        let mut index = 0;
        while index < KINDS[row].prefixes.len() {
            table = with_beginning(table, KINDS[row].prefixes[index], row, false);
            index += 1;
        }
        row += 1;
    }
    row = 0;
    while row < SIGNS.len() {
        table = with_beginning(table, SIGNS[row].0, KINDS.len() + row, false);
        row += 1;
    }
    row = 0;
    while row < NAMES.len() {
        table = with_beginning(table, NAMES[row].0, KINDS.len() + SIGNS.len() + row % NAME_BITS, true);
        row += 1;
    }
    table
};

const fn with_beginning(mut table: Table, beginning: &str, bit: usize, is_name: bool) -> Table {
    let beginning = beginning.as_bytes();
    let mut is_any = false;
    let mut index = 0;
    while index < BEGINNING {
        // A blank in a name may be missing, and what follows a short beginning may be anything.
        is_any |= index >= beginning.len() || is_name && beginning[index] == b' ';
        let mut byte = 0;
        while byte < 256 {
            let wanted = if is_any { byte } else { beginning[index] as usize };
            if wanted == byte || is_name && (wanted as u8).to_ascii_uppercase() as usize == byte {
                table[index][byte] |= 1 << bit;
            }
            byte += 1;
        }
        index += 1;
    }
    table
}

/// Hides secrets in a command. There a variable may hold one under any name, so what it is set to is hidden, too.
pub fn redact_command(command: &str) -> String {
    let redacted = redact(command);
    let mut shown = String::with_capacity(redacted.len());
    // The quotes that the text so far is within, and where the current word began in what is shown.
    let (mut quote, mut word): (Option<char>, usize) = (None, 0);
    let mut rest = redacted.char_indices().peekable();
    while let Some((at, char)) = rest.next() {
        shown.push(char);
        let is_name = |name: &str| {
            let starts = name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_');
            starts && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        match char {
            '=' if is_name(shown[word..shown.len() - 1].trim_end_matches('+')) => {
                let end = value_end(&redacted[at + 1..], quote);
                shown.push_str(if end == 0 { "" } else { "[redacted]" });
                while rest.next_if(|(next, _)| *next < at + 1 + end).is_some() {}
            }
            '\'' | '"' if quote.is_none_or(|open| open == char) => {
                quote = if quote.is_some() { None } else { Some(char) };
                word = shown.len();
            }
            char if char.is_whitespace() || ";&|(".contains(char) => word = shown.len(),
            _ => {}
        }
    }
    shown
}

/// Where the value of a variable ends: at the end of the shell's word, or of the quotes that it stands within.
fn value_end(text: &str, within: Option<char>) -> usize {
    let (mut quote, mut escaped, mut depth) = (within, false, 0u32);
    for (at, char) in text.char_indices() {
        match char {
            _ if escaped => escaped = false,
            '(' if quote.is_none() => depth += 1,
            ')' if quote.is_none() && depth > 0 => depth -= 1,
            _ if depth > 0 && quote.is_none() && !"'\"".contains(char) => {}
            '\\' if quote != Some('\'') => escaped = true,
            char if within == Some(char) => return at,
            '\'' | '"' if within.is_none() && quote.is_none() => quote = Some(char),
            char if within.is_none() && quote == Some(char) => quote = None,
            char if quote.is_none() && (char.is_whitespace() || ";&|)".contains(char)) => return at,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::text::LOOKED_AT;
    use super::*;

    /// How many bytes the finders look at in so much of a text.
    fn looks(unit: &str, size: usize, end: &str) -> usize {
        let text = unit.repeat(size / unit.len()) + end;
        LOOKED_AT.set(0);
        redact(&text);
        LOOKED_AT.get()
    }

    #[test]
    fn what_a_variable_is_set_to_in_a_command_is_hidden() {
        for (command, shown) in [
            ("K=abc make", "K=[redacted] make"),
            ("K=; make", "K=; make"),
            ("env A=1 B='x y' make", "env A=[redacted] B=[redacted] make"),
            ("K=ab\"cd hunter2\" run", "K=[redacted] run"),
            ("K=\"ab\\\"cdhunter2\" run", "K=[redacted] run"),
            ("docker run -e \"STRIPE=abcdefghijk\" img", "docker run -e \"STRIPE=[redacted]\" img"),
            ("git commit -m \"set x=1\" && git push", "git commit -m \"set x=[redacted]\" && git push"),
            ("cargo test --features=a -Dx=1", "cargo test --features=a -Dx=1"),
            ("a == b && c", "a == b && c"),
            ("(X=1;Y=2)", "(X=[redacted];Y=[redacted])"),
            ("X=$(echo hunter2) make", "X=[redacted] make"),
            ("X+=hunter2 make", "X+=[redacted] make"),
            ("X=a\\ hunter2 make", "X=[redacted] make"),
        ] {
            assert_eq!(redact_command(command), shown, "{command}");
        }
    }

    /// Twice the text, twice the work: whatever is begun over and over again, whether or not it ends at last.
    #[test]
    fn long_texts_take_linear_time() {
        let units: Vec<&str> = "sk-|://a:b|sk-_|http://a:b/|token=a(|token={|token='{|password:“|password:“\n|\
            token=\\\\\\\\\"|\"token\": \"\", |token=a&b|pwd=/|authorization=|authorization: “|-u “a:// |-u “a: |\
            --token |eyJ-|eyJ.|eyJaaaaaaaaaa.|-----BEGIN PRIVATE KEY|-----BEGIN PRIVATE KEY----- END |<password>|=|-| |\
            key: “|key=“a |key“ |key |password is “|the key is |cookie: a=;|cookie=a=b;|set cookie: a=b; |\
            echo 'x |sudo -S <<< '|mysql -p'|curl -b “|curl -b a,|token, value=“|MTA.|MTA-|:AA|8Q~|-us|\
            AC00|0123456789abcdef0123456789abcdef-|Passwort für |clé|sig=|Bearer |key\t\t\t\t"
            .split('|')
            .chain(["echo a | sudo -S ", "| password | ", "|", "echo '|sudo -S ", "<", "<<< ", "-p ", "- "])
            .collect();
        const SIZE: usize = 1 << 11;
        for unit in units {
            for end in ["", "}'”.a@b a1b2c3d4e5f6"] {
                let (once, twice) = (looks(unit, SIZE, end), looks(unit, 2 * SIZE, end));
                assert!(twice <= 2 * once + once / 4 + 4096, "{unit:?} {end:?}: {once} and then {twice}");
                assert!(twice <= 2 * SIZE * 600, "{unit:?} {end:?}: {twice}");
            }
        }
    }

    /// The table lets through whatever somebody knows.
    #[test]
    fn every_beginning_is_in_the_table() {
        let is_in = |text: &str, bit: usize| begun(format!("{text}0000").as_bytes()) & 1 << bit != 0;
        for (bit, kind) in KINDS.iter().enumerate() {
            assert!(kind.prefixes.iter().all(|prefix| is_in(prefix, bit)));
        }
        for (index, (name, _)) in NAMES.iter().enumerate() {
            for written in [name.to_string(), name.to_ascii_uppercase(), name.replace(' ', "_"), name.replace(' ', "")]
            {
                assert!(is_in(&written, KINDS.len() + SIGNS.len() + index % NAME_BITS), "{written}");
            }
        }
    }
}
