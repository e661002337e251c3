//! Secrets in a text, replaced by `[redacted]`: what is hidden, and nothing about who shows it.
//!
//! One pass over the bytes that stops where a secret may be announced and asks who knows: `kinds` by the looks of a key,
//! `announced` by what stands before it; `columns` reads tables. What they know is data: a new kind of key, name or program,
//! and a word of prose or code, is a row in `table.toml`. In doubt it goes: better a word hidden too many than a password shown.
//!
//! The time is linear: a finder that finds nothing has looked no further than a bound, or over a run in which no finder of
//! its kind begins. Escape sequences and invisible characters can hide a secret: they go before.

mod announced;
mod columns;
mod kinds;
#[cfg(test)]
#[path = "../../../tests/it/made_up.rs"]
mod made_up;
mod quote;
mod table;
mod text;
mod value;

use std::borrow::Cow;
use std::ops::Range;

use announced::{
    flagged, here_string, in_address, in_dsn, in_pgpass, named, operand, piped, private_key,
    slashed,
};
use table::{KINDS, KeyKind, NAMES, OPERANDS, OperandKind, Sure};

pub const REDACTED: &str = "[redacted]";

/// The bytes of a secret: not empty, and whole characters.
type Secret = Range<usize>;

/// Finds the secret that something at this position of a text announces.
type Finder = fn(&[u8], usize) -> Option<Secret>;

/// The text with every secret replaced; borrowed if there is none.
pub fn redact(text: &str) -> Cow<'_, str> {
    match &places(text)[..] {
        [] => Cow::Borrowed(text),
        places => Cow::Owned(replaced(text, places)),
    }
}

/// The text with each of its [`places`] replaced.
pub fn replaced(text: &str, places: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for secret in places {
        out.push_str(&text[copied..secret.start]);
        out.push_str(REDACTED);
        copied = secret.end;
    }
    out.push_str(&text[copied..]);
    out
}

/// The bytes of each secret in a text, in order; none of them overlap.
pub fn places(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    find(text.as_bytes(), 0..text.len(), &mut found);
    columns::find(text, &mut found);
    // Some are announced by what follows them.
    found.sort_by_key(|secret| secret.start);
    // One that begins within the last only goes on with it.
    found.dedup_by(|secret, last| {
        let goes_on = secret.start < last.end;
        last.end = last.end.max(if goes_on { secret.end } else { 0 });
        goes_on
    });
    found
}

/// The text up to a position, for whoever keeps no more of it. A secret that the cut goes through, or that is known by what
/// follows, is hidden before: nobody would know the rest of it.
pub fn cut(text: &str, at: usize) -> Cow<'_, str> {
    /// Text further away does not make a secret of the part that is kept.
    const MARGIN: usize = 4 << 10;
    let kept = &text[..text.floor_char_boundary(at)];
    if kept.len() == text.len() {
        return Cow::Borrowed(text);
    }
    let redacted = redact(&text[..text.floor_char_boundary(kept.len() + MARGIN)]);
    let rest = redact(kept);
    // With something after it, one that the cut goes through may look like something else.
    if redacted.starts_with(&*rest) && !rest.ends_with(REDACTED) {
        return Cow::Borrowed(kept);
    }
    Cow::Owned(redacted[..redacted.floor_char_boundary(at)].to_owned())
}

/// The secrets that are announced in a stretch of the text.
fn find(text: &[u8], stretch: Range<usize>, found: &mut Vec<Secret>) {
    let Range { start: mut at, end } = stretch;
    // Nothing begins in the last two bytes: they would not even be the beginning of something.
    let windows = &text[..text.len().min(end + BEGINNING - 1)];
    while let Some(skipped) = windows.get(at..).and_then(|rest| {
        rest.windows(BEGINNING)
            .position(|bytes| STARTS.begun(bytes) != 0)
    }) {
        at += skipped;
        let is_one = |secret: &Secret| {
            secret.start < end && !secret.is_empty() && !is_hidden(&text[secret.clone()])
        };
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

/// True if there is nothing to hide any more, but for signs around the mark.
fn is_hidden(secret: &[u8]) -> bool {
    let is_sign = |byte: &u8| !byte.is_ascii_alphanumeric() && byte.is_ascii() && *byte != b'[';
    let signs = secret.iter().take_while(|byte| is_sign(byte)).count();
    let rest = secret[signs..].strip_prefix(REDACTED.as_bytes());
    rest.is_some_and(|rest| rest.iter().all(is_sign))
}

/// The secret that is announced here, or that begins here.
fn announced(text: &[u8], at: usize) -> Option<Secret> {
    let mut bits = STARTS.begun(&text[at..at + BEGINNING]);
    let mut head = [0; HEAD];
    head.iter_mut()
        .zip(&text[at..])
        .for_each(|(to, from)| *to = *from);
    let head = u64::from_le_bytes(head);
    while bits != 0 {
        let begun = STARTS
            .of(bits.trailing_zeros() as usize)
            .iter()
            .filter(|start| head & start.mask == start.head);
        let found = begun.into_iter().find_map(|start| match start.who {
            Finds::Kind(kind) => kind.find(text, at, start.text),
            Finds::Sign(finder) => finder(text, at),
            Finds::Operand(kind) => operand(text, at, kind),
            Finds::Name(sure) => named(text, at, start.text, sure),
        });
        if found.is_some() {
            return found;
        }
        bits &= bits - 1;
    }
    None
}

/// Other signs that announce a secret, with their finders.
const SIGNS: &[(&str, Finder)] = &[
    ("---", private_key),
    ("-", flagged),
    ("/p", flagged),
    ("/gp:", flagged),
    ("/rp", flagged),
    ("://", in_address),
    ("|", piped),
    ("<<<", here_string),
    (" / ", slashed),
    (":", in_pgpass),
    ("@", in_dsn),
];

/// So many bytes decide whether something may begin: at nearly every byte of a text the answer is no.
const BEGINNING: usize = 3;

/// So many bytes are compared at once before a finder is asked.
const HEAD: usize = 8;

/// The beginning of something that announces a secret.
#[derive(Clone, Copy)]
struct Start {
    text: &'static str,
    who: Finds,
    /// Its first bytes, and which bits of them count: those before a blank in a name, in whatever case.
    head: u64,
    mask: u64,
}

#[derive(Clone, Copy)]
enum Finds {
    Kind(&'static KeyKind),
    Sign(Finder),
    Operand(&'static OperandKind),
    Name(Sure),
}

/// All beginnings, put in order when the program is compiled: a hook has no time for that.
struct Starts {
    /// For each index and each byte, the bits of what has that byte at that index. Beginnings with the same first byte have
    /// a bit; names have others, for they are in whatever case.
    table: [[u128; 256]; BEGINNING],
    /// All, bit by bit, and where those of each bit end.
    all: [Start; COUNT],
    ends: [u16; BITS],
}

const BITS: usize = u128::BITS as usize;

/// The number of beginnings.
const COUNT: usize = {
    let (mut count, mut at) = (SIGNS.len() + OPERANDS.len(), 0);
    while at < KINDS.len() {
        count += KINDS[at].prefixes.len();
        at += 1;
    }
    at = 0;
    while at < NAMES.len() {
        count += NAMES[at].names.len();
        at += 1;
    }
    count
};

static STARTS: Starts = Starts::new();

impl Starts {
    const fn new() -> Starts {
        let listed = listed();
        let mut starts = Starts {
            table: [[0; 256]; BEGINNING],
            all: listed,
            ends: [0; BITS],
        };
        // The bit of each first byte, and whether there is one: of names, and of others.
        let (mut bits, mut used) = ([[BITS; 256]; 2], 0);
        let mut at = 0;
        while at < COUNT {
            let bit =
                &mut bits[listed[at].is_name() as usize][listed[at].text.as_bytes()[0] as usize];
            if *bit == BITS {
                *bit = if used < BITS { used } else { BITS - 1 };
                used += 1;
            }
            starts.add(&listed[at], *bit);
            at += 1;
        }
        let (mut sorted, mut bit) = (0, 0);
        while bit < BITS {
            at = 0;
            while at < COUNT {
                let own =
                    bits[listed[at].is_name() as usize][listed[at].text.as_bytes()[0] as usize];
                if own == bit {
                    starts.all[sorted] = listed[at];
                    sorted += 1;
                }
                at += 1;
            }
            starts.ends[bit] = sorted as u16;
            bit += 1;
        }
        starts
    }

    /// The bits of what may begin with these bytes.
    fn begun(&self, bytes: &[u8]) -> u128 {
        self.table[0][bytes[0] as usize]
            & self.table[1][bytes[1] as usize]
            & self.table[2][bytes[2] as usize]
    }

    fn of(&self, bit: usize) -> &[Start] {
        let start = if bit == 0 { 0 } else { self.ends[bit - 1] };
        &self.all[start as usize..self.ends[bit] as usize]
    }

    const fn add(&mut self, start: &Start, bit: usize) {
        let (mut index, mask, head) = (0, start.mask.to_le_bytes(), start.head.to_le_bytes());
        while index < BEGINNING {
            let mut byte = 0;
            while byte < 256 {
                // A blank in a name may be missing, and what follows a short beginning may be anything.
                if byte as u8 & mask[index] == head[index] {
                    self.table[index][byte] |= 1 << bit;
                }
                byte += 1;
            }
            index += 1;
        }
    }
}

/// All beginnings, as they are tried.
#[allow(
    clippy::large_stack_arrays,
    reason = "it is on no stack but the compiler's"
)]
const fn listed() -> [Start; COUNT] {
    let mut all = [Start::new("", Finds::Sign(flagged)); COUNT];
    let (mut count, mut kind) = (0, 0);
    while kind < KINDS.len() {
        let mut at = 0;
        while at < KINDS[kind].prefixes.len() {
            all[count] = Start::new(KINDS[kind].prefixes[at], Finds::Kind(&KINDS[kind]));
            (count, at) = (count + 1, at + 1);
        }
        kind += 1;
    }
    let mut at = 0;
    while at < SIGNS.len() {
        all[count] = Start::new(SIGNS[at].0, Finds::Sign(SIGNS[at].1));
        (count, at) = (count + 1, at + 1);
    }
    at = 0;
    while at < OPERANDS.len() {
        all[count] = Start::new(OPERANDS[at].start, Finds::Operand(&OPERANDS[at]));
        (count, at) = (count + 1, at + 1);
    }
    kind = 0;
    while kind < NAMES.len() {
        at = 0;
        while at < NAMES[kind].names.len() {
            all[count] = Start::new(NAMES[kind].names[at], Finds::Name(NAMES[kind].sure));
            (count, at) = (count + 1, at + 1);
        }
        kind += 1;
    }
    all
}

impl Start {
    const fn new(text: &'static str, who: Finds) -> Start {
        let is_name = matches!(who, Finds::Name(_));
        let (mut head, mut mask) = ([0; HEAD], [0; HEAD]);
        let (bytes, mut at) = (text.as_bytes(), 0);
        while at < bytes.len() && at < HEAD && !(is_name && bytes[at] == b' ') {
            mask[at] = if is_name && bytes[at].is_ascii_alphabetic() {
                !0x20
            } else {
                !0
            };
            head[at] = bytes[at] & mask[at];
            at += 1;
        }
        Start {
            text,
            who,
            head: u64::from_le_bytes(head),
            mask: u64::from_le_bytes(mask),
        }
    }

    const fn is_name(&self) -> bool {
        matches!(self.who, Finds::Name(_))
    }
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
            starts
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        match char {
            '=' if is_name(shown[word..shown.len() - 1].trim_end_matches('+')) => {
                let end = value_end(&redacted[at + 1..], quote);
                shown.push_str(if end == 0 { "" } else { REDACTED });
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

/// The end of a variable's value: of the shell's word, or of the quotes that it stands within.
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
            char if quote.is_none() && (char.is_whitespace() || ";&|)".contains(char)) => {
                return at;
            }
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::text::LOOKED_AT;
    use super::*;

    /// The number of bytes that the finders look at in so much of a text.
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
            (
                "docker run -e \"STRIPE=abcdefghijk\" img",
                "docker run -e \"STRIPE=[redacted]\" img",
            ),
            (
                "git commit -m \"set x=1\" && git push",
                "git commit -m \"set x=[redacted]\" && git push",
            ),
            (
                "cargo test --features=a -Dx=1",
                "cargo test --features=a -Dx=1",
            ),
            ("a == b && c", "a == b && c"),
            ("(X=1;Y=2)", "(X=[redacted];Y=[redacted])"),
            ("X=$(echo hunter2) make", "X=[redacted] make"),
            ("X+=hunter2 make", "X+=[redacted] make"),
            ("X=a\\ hunter2 make", "X=[redacted] make"),
        ] {
            assert_eq!(redact_command(command), shown, "{command}");
        }
    }

    /// Wherever a text is cut, no part of a secret is left that the rest would not be known by.
    #[test]
    fn a_cut_leaves_no_half_of_a_secret() {
        let tail = " and so on".repeat(1000);
        let secret = "Qz7vWx2LmN9pRt4Yk8";
        for text in [
            format!("please use ghp_{secret} for it{tail}"),
            format!("the password is {secret} for it{tail}"),
            format!("log in with {secret} as the password{tail}"),
            format!("https://bob:{secret}@host/x{tail}"),
        ] {
            for at in 0..100 {
                let kept = cut(&text, at);
                assert!(
                    kept.len() <= at && !redact(&kept).contains(&secret[..4]),
                    "{at}: {kept}"
                );
            }
        }
        assert_eq!(cut("a plain text", 7), "a plain");
        assert_eq!(
            cut("password=hunter2 ok", 18),
            "password=hunter2 o",
            "a whole secret is for the gate to hide"
        );
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
                assert!(
                    twice <= 2 * once + once / 4 + 4096,
                    "{unit:?} {end:?}: {once} and then {twice}"
                );
                assert!(twice <= 2 * SIZE * 600, "{unit:?} {end:?}: {twice}");
            }
        }
    }

    /// The table lets through whatever somebody knows.
    #[test]
    fn every_beginning_is_in_the_table() {
        for bit in 0..BITS {
            let starts = STARTS.of(bit);
            for Start { text, who, .. } in starts {
                let is_in =
                    |text: &str| STARTS.begun(format!("{text}0000").as_bytes()) & 1 << bit != 0;
                let written = [
                    text.to_ascii_uppercase(),
                    text.replace(' ', "_"),
                    text.replace(' ', ""),
                ];
                let is_name = matches!(who, Finds::Name(_));
                assert!(
                    is_in(text) && (!is_name || written.iter().all(|text| is_in(text))),
                    "{text}"
                );
            }
        }
    }
}
