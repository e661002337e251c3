//! Tells from the bytes of a transcript, without decoding them, that it cannot hold some words.
//!
//! A word as the search compares it is lower case and without accents; in a transcript its letters may be capitals, have
//! accents, or be written as `\u00e9`. Two neighbours in the word that are rare together are looked for, each as itself or
//! hidden in another character, and where they stand, the letters around them. Whatever may hide a letter counts as that
//! letter, so a file is let through in vain at times and never held back wrongly. What was really said is for others to
//! find out. A word of which any two neighbours may be one character (`fi`, `th`) is in every file, as far as is known here.

use std::io;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use crate::fold::{fold_each, folded};
use crate::read::Source;
use session_format::cursor::Buffer;
use session_format::entry::Position;
use session_format::hash::HashSet;

/// The letters and digits of the words that are looked for: of each word the longest run.
pub struct Sieve {
    runs: Vec<Option<LetterRun>>,
}

struct LetterRun {
    letters: Vec<u8>,
    /// The start of the pair that is looked for.
    pair: usize,
    /// For each character up to the last Latin one, where it may stand in the run: such with accents are in every text.
    latin: Vec<Vec<(usize, usize)>>,
}

impl Sieve {
    /// Of words that were made comparable. A word without two letters or digits in a row may be anywhere.
    pub fn new<'w>(words: impl Iterator<Item = &'w str>) -> Sieve {
        let run = |word: &str| {
            let runs = word.split(|char: char| !char.is_ascii_alphanumeric());
            let letters = runs
                .max_by_key(|run| run.len())
                .filter(|run| run.len() > 1)?
                .as_bytes()
                .to_vec();
            let common = |at: &usize| commonness(letters[*at]) * commonness(letters[*at + 1]);
            let pairs = (0..letters.len() - 1)
                .filter(|at| !IN_ONE.contains(&[letters[*at], letters[*at + 1]]));
            let pair = pairs.min_by_key(common)?;
            let latin = (0..LATIN)
                .map(|code| overlaps(&letters, char::from_u32(code).unwrap_or_default()))
                .collect();
            Some(LetterRun {
                letters,
                pair,
                latin,
            })
        };
        Sieve {
            runs: words.map(run).collect(),
        }
    }

    /// True if a transcript may hold all words.
    pub(crate) fn lets_through(&self, source: &Source, buffer: &mut Buffer) -> io::Result<bool> {
        Ok(self.missing(source, u64::MAX, 0, buffer)? == 0)
    }

    /// Those of some words (as bits) that a transcript cannot hold. Of `any`, one is as good as all.
    pub fn missing(
        &self,
        source: &Source,
        words: u64,
        any: u64,
        buffer: &mut Buffer,
    ) -> io::Result<u64> {
        let bit = |index: usize| 1 << index;
        let anywhere = self
            .runs
            .iter()
            .enumerate()
            .filter(|(_, run)| run.is_none());
        let anywhere = anywhere.fold(0, |words, (index, _)| words | bit(index));
        let words = if words & any & anywhere != 0 {
            words & !any
        } else {
            words
        };
        let runs = self
            .runs
            .iter()
            .enumerate()
            .filter_map(|(index, run)| Some((bit(index), run.as_ref()?)));
        let mut wanted: Vec<(u64, &LetterRun)> = runs.filter(|(bit, _)| words & bit != 0).collect();
        let mut chunks = source.chunks(Position::START, buffer);
        while !wanted.is_empty()
            && let Some(bytes) = chunks.next_chunk()?
        {
            let there = wanted
                .iter()
                .filter(|(_, run)| run.may_be_in(bytes))
                .fold(0, |there, (bit, _)| there | bit);
            let done = if there & any != 0 { there | any } else { there };
            wanted.retain(|(bit, _)| done & bit == 0);
        }
        Ok(wanted.iter().fold(0, |missing, (bit, _)| missing | bit))
    }
}

/// The rough frequency of a letter or digit in text and code, from 1.
fn commonness(letter: u8) -> usize {
    const COMMON_FIRST: &[u8] = b"etaoinsrlcdumpfghbyvw0kx1jqz2";
    COMMON_FIRST.len() + 1
        - COMMON_FIRST
            .iter()
            .position(|known| *known == letter)
            .unwrap_or(COMMON_FIRST.len())
}

impl LetterRun {
    fn may_be_in(&self, bytes: &[u8]) -> bool {
        let pair = [self.letters[self.pair], self.letters[self.pair + 1]];
        let is_it = |at: usize| match (bytes[at], bytes.get(at + 1)) {
            // In JSON that stands in a string of JSON, the backslash is escaped itself.
            (b'\\', _) => {
                let start = at - backslashes(bytes[..at].iter().rev());
                self.is_hidden(bytes, start, at + ESCAPE, escaped(&bytes[at..]))
            }
            (0xc0.., _) => self.is_in_char(bytes, at),
            (_, Some(0xc0..)) => self.is_in_char(bytes, at + 1),
            (0x80.., _) => bytes[..at]
                .iter()
                .rposition(|byte| *byte >= 0xc0)
                .is_some_and(|at| self.is_in_char(bytes, at)),
            _ => self.is_around(bytes, at, at + 2, self.pair, self.pair + 2),
        };
        any_place(bytes, pair, is_it)
    }

    /// True if the run may stand around the character that begins there.
    fn is_in_char(&self, bytes: &[u8], at: usize) -> bool {
        let (char, length) = char_at(&bytes[at..]);
        self.is_hidden(bytes, at, at + length, char)
    }

    /// True if the run may stand around a character that is compared as others: with it, or with a part of what it is
    /// compared as, where the run begins or ends there.
    fn is_hidden(&self, bytes: &[u8], start: usize, end: usize, char: Option<char>) -> bool {
        let Some(char) = char.filter(|char| !is_itself(*char)) else {
            return false;
        };
        let is_around = |(from, to): &(usize, usize)| self.is_around(bytes, start, end, *from, *to);
        match self.latin.get(char as usize) {
            Some(places) => places.iter().any(is_around),
            None => overlaps(&self.letters, char).iter().any(is_around),
        }
    }

    /// True if the rest of the run stands before and after a part of it, as far as that can be told.
    fn is_around(&self, bytes: &[u8], start: usize, end: usize, from: usize, to: usize) -> bool {
        let (before, after) = (&self.letters[..from], &self.letters[to..]);
        let bytes_after = bytes.get(end..).unwrap_or_default();
        let reach = &bytes[start.saturating_sub((ESCAPE + 2) * before.len())..start];
        let is_escape = |at: usize| {
            let run = backslashes(bytes_after[at..].iter());
            run > 0 && bytes_after.get(at + run) == Some(&b'u')
        };
        stand(bytes_after.iter(), after.iter(), is_escape)
            && (stand(bytes[..start].iter().rev(), before.iter().rev(), |_| false)
                || reach.windows(2).any(|two| two == b"\\u"))
    }
}

/// The end of the Latin characters.
const LATIN: u32 = 0x250;

/// From where to where of a run a character may stand for: all that it is compared as, or the end of that where the run
/// begins, or the beginning where the run ends.
fn overlaps(letters: &[u8], char: char) -> Vec<(usize, usize)> {
    let mut parts = Vec::new();
    fold_each(char.encode_utf8(&mut [0; 4]), &mut |part, _| {
        parts.push(u8::try_from(part).unwrap_or(0));
    });
    let (count, length) = (parts.len(), letters.len());
    let overlap = |shift: usize| {
        let (from, to, before) = (
            shift.saturating_sub(count),
            shift.min(length),
            count.saturating_sub(shift),
        );
        let fits = parts
            .get(before..before + (to - from))
            .is_some_and(|part| letters[from..to] == *part);
        (fits && (count == 0 || to > from)).then_some((from, to))
    };
    (0..=count + length).filter_map(overlap).collect()
}

/// The length of `\u00e9`.
const ESCAPE: usize = 6;

/// Counts the backslashes that come first.
fn backslashes<'b>(bytes: impl Iterator<Item = &'b u8>) -> usize {
    bytes.take_while(|byte| **byte == b'\\').count()
}

/// True if a character is compared as no letter or digit of ASCII, for the ranges that fill whole files: Cyrillic, signs,
/// arrows and boxes, Chinese, Japanese and Korean.
fn is_itself(char: char) -> bool {
    matches!(
        char,
        '\u{400}'..='\u{482}'
            | '\u{48a}'..='\u{52f}'
            | '\u{2010}'..='\u{2027}'
            | '\u{2190}'..='\u{23ff}'
            | '\u{2500}'..='\u{27bf}'
            | '\u{3041}'..='\u{3096}'
            | '\u{30a1}'..='\u{30fa}'
            | '\u{3400}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7a3}'
    )
}

/// True if letters stand there, up to one that may be any: it is written in other ways, or outside of these bytes.
fn stand<'l>(
    bytes: impl Iterator<Item = &'l u8>,
    letters: impl Iterator<Item = &'l u8>,
    is_escape: impl Fn(usize) -> bool,
) -> bool {
    for (at, (byte, letter)) in bytes.zip(letters).enumerate() {
        if byte.to_ascii_lowercase() != *letter {
            return *byte >= 0x80 || is_escape(at);
        }
    }
    true
}

/// The character of `\u00e9`, or of two such that belong together.
fn escaped(bytes: &[u8]) -> Option<char> {
    let unit = |at: usize| {
        let digits = std::str::from_utf8(bytes.get(at..at + 6)?.strip_prefix(b"\\u")?).ok()?;
        u16::from_str_radix(digits, 16).ok()
    };
    let next =
        ESCAPE + backslashes(bytes.get(ESCAPE..).unwrap_or_default().iter()).saturating_sub(1);
    let units = [unit(0)?, unit(next).unwrap_or_default()];
    char::decode_utf16(units).next()?.ok()
}

/// The character at a place, and how many bytes it has; none if it is broken. Those that are in every text come first.
fn char_at(bytes: &[u8]) -> (Option<char>, usize) {
    let inner = |byte: u8| u32::from(byte & 0x3f);
    match *bytes {
        [first @ 0xc2..=0xdf, second @ 0x80..=0xbf, ..] => (
            char::from_u32(u32::from(first & 0x1f) << 6 | inner(second)),
            2,
        ),
        [
            first @ 0xe1..=0xec,
            second @ 0x80..=0xbf,
            third @ 0x80..=0xbf,
            ..,
        ] => (
            char::from_u32(u32::from(first & 0xf) << 12 | inner(second) << 6 | inner(third)),
            3,
        ),
        _ => {
            let length = match bytes[0] {
                0xc0..0xe0 => 2,
                0xe0..0xf0 => 3,
                _ => 4,
            };
            let char = bytes
                .get(..length)
                .and_then(|bytes| std::str::from_utf8(bytes).ok()?.chars().next());
            (char, length)
        }
    }
}

/// The ranges of characters that are compared as several letters or digits.
const COMPARED_AS_SEVERAL: [RangeInclusive<char>; 8] = [
    '\u{c6}'..='\u{1f3}',
    '\u{1e9e}'..='\u{1e9e}',
    '\u{20a8}'..='\u{20a8}',
    '\u{2116}'..='\u{217b}',
    '\u{2469}'..='\u{249b}',
    '\u{3250}'..='\u{33ff}',
    '\u{fb00}'..='\u{fb06}',
    '\u{1f12d}'..='\u{1f190}',
];

/// Letters that may stand together in one character.
static IN_ONE: LazyLock<HashSet<[u8; 2]>> = LazyLock::new(|| {
    let parts = |char: char| folded(char.encode_utf8(&mut [0; 4])).into_bytes();
    let pairs = |parts: Vec<u8>| {
        parts
            .windows(2)
            .map(|two| [two[0], two[1]])
            .collect::<Vec<_>>()
    };
    COMPARED_AS_SEVERAL
        .into_iter()
        .flatten()
        .map(parts)
        .flat_map(pairs)
        .collect()
});

/// True if there is such a place among those where a pair of letters may stand: where both stand as they are, where one
/// does beside a character that is not ASCII, where two such characters meet, and where `\u` does.
fn any_place(bytes: &[u8], pair: [u8; 2], is_it: impl FnMut(usize) -> bool) -> bool {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has what the function is compiled for.
        return unsafe { avx2::any_place(bytes, pair, is_it) };
    }
    any_place_slowly(bytes, 0, pair, is_it)
}

fn any_place_slowly(
    bytes: &[u8],
    from: usize,
    [first, second]: [u8; 2],
    mut is_it: impl FnMut(usize) -> bool,
) -> bool {
    (from..bytes.len()).any(|at| {
        let (byte, next) = (bytes[at], bytes.get(at + 1).copied().unwrap_or_default());
        let is_place = (byte.to_ascii_lowercase() == first || byte >= 0x80)
            && (next.to_ascii_lowercase() == second || next >= 0xc0)
            || byte == b'\\' && next == b'u';
        is_place && is_it(at)
    })
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi8, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256,
        _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8,
    };

    const WIDTH: usize = 32;

    #[target_feature(enable = "avx2")]
    pub(crate) fn any_place(
        bytes: &[u8],
        pair: [u8; 2],
        mut is_it: impl FnMut(usize) -> bool,
    ) -> bool {
        let all = |byte: u8| _mm256_set1_epi8(byte as i8);
        let [first, second] = pair.map(all);
        let (lower, backslash, u) = (all(0x20), all(b'\\'), all(b'u'));
        let (and, or, is) = (
            |a, b| _mm256_and_si256(a, b),
            |a, b| _mm256_or_si256(a, b),
            |bytes, wanted| _mm256_cmpeq_epi8(bytes, wanted),
        );
        // Only the highest bit of each byte counts. From 0xc0 on, the one below it is set as well.
        let begins = |bytes| and(bytes, _mm256_add_epi8(bytes, bytes));
        let places = |block: &[u8], from: usize| {
            let (here, next) = (load(block, from), load(block, from + 1));
            let letters = and(
                or(here, is(or(here, lower), first)),
                or(begins(next), is(or(next, lower), second)),
            );
            or(letters, and(is(here, backslash), is(next, u)))
        };
        let bits = |bytes| u64::from(_mm256_movemask_epi8(bytes) as u32);
        let mut at = 0;
        while let Some(block) = bytes.get(at..at + 2 * WIDTH + 1) {
            let (one, two) = (places(block, 0), places(block, WIDTH));
            // Most blocks have none.
            if bits(or(one, two)) != 0 {
                let mut found = bits(one) | bits(two) << WIDTH;
                while found != 0 {
                    if is_it(at + found.trailing_zeros() as usize) {
                        return true;
                    }
                    found &= found - 1;
                }
            }
            at += 2 * WIDTH;
        }
        super::any_place_slowly(bytes, at, pair, is_it)
    }

    #[allow(clippy::cast_ptr_alignment)] // The load is one that needs no alignment.
    #[target_feature(enable = "avx2")]
    fn load(block: &[u8], from: usize) -> __m256i {
        let bytes: &[u8; WIDTH] = block[from..].first_chunk().unwrap_or(&[0; WIDTH]);
        // SAFETY: the load is of these 32 bytes.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }
}

#[cfg(test)]
mod tests {
    use session_format::boundary::substr;

    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_is_passed_over_hides_no_letter() {
        for char in ('\0'..=char::MAX).filter(|char| is_itself(*char)) {
            let parts = folded(char.encode_utf8(&mut [0; 4]));
            assert!(
                !parts.is_empty() && !parts.contains(|part: char| part.is_ascii_alphanumeric()),
                "{char}"
            );
        }
    }

    #[test]
    fn characters_that_are_compared_as_several_letters_are_known() {
        for char in '\0'..=char::MAX {
            let parts = folded(char.encode_utf8(&mut [0; 4]));
            let is_several = parts
                .as_bytes()
                .windows(2)
                .any(|two| two.iter().all(u8::is_ascii_alphanumeric));
            let is_known = COMPARED_AS_SEVERAL
                .iter()
                .any(|range| range.contains(&char));
            assert!(!is_several || is_known, "{char} U+{:x}", char as u32);
        }
    }

    /// A word whose letters are written in any mix of ways, at any place of a longer text, is never held back.
    #[test]
    fn a_word_that_is_there_is_let_through() {
        let mut seed = 0x2545_f491_4f6c_dd1d_u64;
        let mut random = move |below: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed >> 11) as usize % below
        };
        // Each character, by the letters that it is compared as.
        let mut written: BTreeMap<String, Vec<char>> = BTreeMap::new();
        for char in ('0'..=char::MAX).filter(|char| !char.is_whitespace()) {
            let parts = folded(char.encode_utf8(&mut [0; 4]));
            if parts.bytes().all(|part| part.is_ascii_alphanumeric()) {
                written.entry(parts).or_default().push(char);
            }
        }
        let fillers = [
            "na\u{ef}ve ",
            "\u{2014} ",
            "plain text, ",
            "\u{65e5}\u{672c}",
            "\\n",
            "\u{2500}\u{2500}",
            "ol\u{e9} ",
        ];
        for word in ["fi", "th", "vii", "oe"] {
            assert!(
                Sieve::new(std::iter::once(word)).runs[0].is_none(),
                "{word} may be in one character"
            );
        }
        for word in [
            "lighthouse",
            "path",
            "strasse",
            "schema",
            "abc10",
            "naive",
            "authors",
            "x9",
        ] {
            let sieve = Sieve::new(std::iter::once(word));
            let run = sieve.runs[0].as_ref().expect("letters");
            for _ in 0..20_000 {
                let mut text: String = (0..random(12))
                    .map(|_| fillers[random(fillers.len())])
                    .collect();
                let plain = random(5);
                let mut rest = word;
                while !rest.is_empty() {
                    let taken = if random(3) == 0 {
                        1 + random(rest.len().min(4))
                    } else {
                        1
                    };
                    let Some(ways) = written.get(substr(rest, ..taken)) else {
                        continue;
                    };
                    let char = match random(5) < plain {
                        true => ways[random(ways.len().min(2))],
                        false => ways[random(ways.len())],
                    };
                    let mut units = [0; 2];
                    match random(8) {
                        0 => char
                            .encode_utf16(&mut units)
                            .iter()
                            .for_each(|unit| text += &format!("\\u{unit:04x}")),
                        _ => text.push(char),
                    }
                    if random(12) == 0 {
                        text.push(written[""][random(written[""].len())]);
                    }
                    rest = substr(rest, taken..);
                }
                text.extend((0..random(12)).map(|_| fillers[random(fillers.len())]));
                assert!(run.may_be_in(text.as_bytes()), "{word} in {text}");
            }
        }
    }

    /// With and without vectors, the same places are looked at.
    #[test]
    fn vectors_find_the_same_places() {
        let text =
            "The caf\u{e9}s \u{2014} na\u{ef}ve CAFE, \\u00e9 \u{65e5}\u{672c}\u{8a9e} f\u{e9} \u{df}e ".repeat(9);
        let mut bytes = text.into_bytes();
        bytes.extend([0xc3, b'f', b'e', 0x80, b'e', 0xff, 0xfe, b'f', 0xe2]);
        for from in 0..bytes.len() {
            let bytes = &bytes[from..];
            let (mut fast, mut slow) = (vec![], vec![]);
            let note = |places: &mut Vec<usize>, at| {
                places.push(at);
                false
            };
            any_place(bytes, *b"fe", |at| note(&mut fast, at));
            any_place_slowly(bytes, 0, *b"fe", |at| note(&mut slow, at));
            assert_eq!(fast, slow, "from {from}");
        }
    }

    /// For every character that is compared as others: all that may be looked for in it and around it.
    #[test]
    fn whatever_is_compared_as_a_letter_hides_one() {
        let mut tried = 0;
        for char in ('\u{80}'..=char::MAX).filter(|char| !char.is_whitespace()) {
            let text = format!("ab{char}cd");
            let said = folded(&text);
            if said.is_ascii() || said.chars().count() != 5 {
                for run in said.split(|char: char| !char.is_ascii_alphanumeric()) {
                    for (start, end) in (0..run.len())
                        .flat_map(|start| (start + 2..=run.len()).map(move |end| (start, end)))
                    {
                        let sieve = Sieve::new(std::iter::once(substr(run, start..end)));
                        // Two that may be one character are looked for nowhere.
                        let Some(run) = sieve.runs[0].as_ref() else {
                            continue;
                        };
                        let mut units = [0; 2];
                        let escape = char
                            .encode_utf16(&mut units)
                            .iter()
                            .map(|unit| format!("\\u{unit:04x}"))
                            .collect::<String>();
                        for written in [
                            text.clone(),
                            format!("ab{escape}cd"),
                            format!("ab{}cd", escape.replace("\\u", "\\\\u")),
                        ] {
                            assert!(run.may_be_in(written.as_bytes()), "{} in {written}", &said);
                            tried += 1;
                        }
                    }
                }
            }
        }
        assert!(tried > 10_000, "{tried}");
    }
}
