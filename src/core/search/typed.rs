//! What somebody types to find a session, a key at a time, and how well a text fits it.
//!
//! A word fits where it stands as a whole word, where it is a part of one, in humps (`CheTax` in `checkout_tax`) or in
//! parts of a path (`src/find` in `src/core/ask/find.rs`), and if it has five letters or more, where one of them is
//! wrong. Texts are folded as in `fold/said.rs`.

use std::ops::Range;

use memchr::memmem::Finder;

use super::query::{folded_places, is_whole};
use super::signature::Signature;
use crate::fold::folded;
use session_format::boundary::substr;

/// How well a text fits a word, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    Exact,
    Part,
    Typo,
}

/// The words that were typed.
#[derive(Debug, Clone, Default)]
pub struct Typed {
    pub words: Vec<TypedWord>,
}

#[derive(Debug, Clone)]
pub struct TypedWord {
    word: String,
    finder: Finder<'static>,
    /// Its humps, or the parts of a path; none if it has only one.
    parts: Vec<Finder<'static>>,
    is_path: bool,
    /// What a word with one wrong letter begins or ends with; none if it is too short to be taken for another one.
    halves: Option<[Finder<'static>; 2]>,
}

/// The fewest letters of a word in which one may be wrong, and the most: nothing longer is a word.
const SHORTEST: usize = 5;
const LONGEST: usize = 64;
/// A name or a path is no longer; what goes on for longer is data.
const LONGEST_NAME: usize = 1024;
/// As many words as anybody types.
const MOST_WORDS: usize = 16;

impl Typed {
    /// Of a line as it is typed: words, and phrases in quotes. While somebody types, the other quotation mark may be missing.
    pub fn new(line: &str) -> Typed {
        let is_quoted = line.matches('"').count().is_multiple_of(2);
        let mut words = Vec::new();
        for (index, part) in line.split('"').enumerate() {
            if is_quoted && index % 2 == 1 {
                words.push(part);
            } else {
                words.extend(part.split_whitespace());
            }
        }
        let words = words.into_iter().map(TypedWord::new);
        Typed {
            words: words
                .filter(|word| !word.word.is_empty())
                .take(MOST_WORDS)
                .collect(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The places of the words in a text as it is, in order and apart from each other.
    pub fn places_in(&self, text: &str) -> Vec<Range<usize>> {
        folded_places(text, |folded, take| {
            for word in &self.words {
                word.each(folded, true, |place, _| {
                    take(place.clone());
                    Some(place.end)
                });
            }
        })
    }
}

impl TypedWord {
    fn new(typed: &str) -> TypedWord {
        let word = folded(typed).trim().to_owned();
        let finder = |word: &str| Finder::new(word.as_bytes()).into_owned();
        let is_path = typed.contains('/');
        let parts = if is_path {
            typed.split('/').map(str::to_owned).collect()
        } else {
            humps(typed)
        };
        let mut parts: Vec<Finder> = parts
            .iter()
            .map(|part| folded(part))
            .filter(|part| !part.is_empty())
            .map(|part| finder(&part))
            .collect();
        if parts.len() < 2 {
            parts.clear();
        }
        TypedWord {
            finder: finder(&word),
            halves: halves(&word).map(|half| half.map(finder)),
            word,
            parts,
            is_path,
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.word
    }

    pub(crate) fn len(&self) -> usize {
        self.word.len()
    }

    /// True if it has only one or two letters. They are in every text, so only words count that begin with them.
    pub(crate) fn is_short(&self) -> bool {
        self.word.chars().count() < 3
    }

    /// True if it is long enough to be taken for another word.
    pub(crate) fn may_be_wrong(&self) -> bool {
        self.halves.is_some()
    }

    /// How well a text fits it at the best.
    pub fn fit(&self, text: &str, typos: bool) -> Option<Fit> {
        let mut best = None;
        self.each(text, typos, |place, fit| {
            best = Some(best.map_or(fit, |best| fit.min(best)));
            (fit != Fit::Exact).then_some(place.end)
        });
        best
    }

    /// False if a text with these letters does not fit it.
    pub(crate) fn may_be_in(&self, signature: &Signature, typos: bool) -> bool {
        let may_hold = |finder: &Finder| signature.may_hold(finder.needle());
        let is_there = match self.is_short() {
            true => signature.may_begin(self.word.as_bytes()),
            false => may_hold(&self.finder),
        };
        is_there
            || !self.parts.is_empty() && self.parts.iter().all(may_hold)
            || typos
                && self.halves.as_ref().is_some_and(|[start, end]| {
                    // A letter of another script is several bytes.
                    if self.word.is_ascii() {
                        signature.may_hold_like(self.word.as_bytes())
                    } else {
                        signature.may_begin(start.needle()) || signature.may_end(end.needle())
                    }
                })
    }

    /// Hands out the places that fit it best, with how well each does. `take` says where to go on. Where a text has the
    /// word, what is only like it does not count.
    pub(crate) fn each(
        &self,
        text: &str,
        typos: bool,
        mut take: impl FnMut(Range<usize>, Fit) -> Option<usize>,
    ) {
        let mut is_there = false;
        let mut visit = |place: Range<usize>, fit: Fit| {
            is_there = true;
            take(place, fit)
        };
        self.each_literal(text, &mut visit);
        if is_there {
            return;
        }
        let mut visit = |place: Range<usize>, fit: Fit| {
            is_there = true;
            take(place, fit)
        };
        if !self.parts.is_empty() {
            self.each_in_parts(text, &mut visit);
        }
        if typos && !is_there {
            self.each_typo(text, &mut take);
        }
    }

    fn each_literal(&self, text: &str, take: &mut dyn FnMut(Range<usize>, Fit) -> Option<usize>) {
        let is_short = self.is_short();
        let mut from = 0;
        while let Some(at) = next(&self.finder, text, from) {
            let end = at + self.word.len();
            let next = if is_whole(text, at, end) {
                take(at..end, Fit::Exact)
            } else if is_short && substr(text, ..at).ends_with(char::is_alphanumeric) {
                Some(end)
            } else {
                take(at..end, Fit::Part)
            };
            let Some(next) = next else { return };
            from = next;
        }
    }

    /// The parts in their order, in one word or in one path.
    fn each_in_parts(&self, text: &str, take: &mut dyn FnMut(Range<usize>, Fit) -> Option<usize>) {
        let Some((first, others)) = self.parts.split_first() else {
            return;
        };
        let is_inside = |char: char| match self.is_path {
            true => !char.is_whitespace(),
            false => char.is_alphanumeric() || matches!(char, '_' | '-'),
        };
        let mut from = 0;
        while let Some(at) = next(first, text, from) {
            from = at + first.needle().len();
            // Nobody knows where humps were in a folded text, so what is short must begin a word.
            if (self.is_path || first.needle().len() < 3)
                && substr(text, ..at).ends_with(char::is_alphanumeric)
            {
                continue;
            }
            let rest = substr(text, from..from.saturating_add(LONGEST_NAME));
            let run = substr(
                rest,
                ..rest.find(|char| !is_inside(char)).unwrap_or(rest.len()),
            );
            let end = others.iter().try_fold(0, |end, part| {
                Some(next(part, run, end)? + part.needle().len())
            });
            if let Some(end) = end {
                let Some(next) = take(at..from + end, Fit::Part) else {
                    return;
                };
                from = next;
            }
        }
    }

    /// Words with one wrong letter: one too many, one too few, another one, or two that changed places.
    fn each_typo(&self, text: &str, take: &mut dyn FnMut(Range<usize>, Fit) -> Option<usize>) {
        let Some([start, end]) = &self.halves else {
            return;
        };
        let is_like = |said: &str| {
            said.len().abs_diff(self.word.len()) < LONGEST
                && strsim::osa_distance(&self.word, said) <= 1
        };
        let is_other = |char: char| !char.is_alphanumeric();
        // The end of the word is right or its beginning is, and the other half may be anything.
        let mut from = 0;
        while let Some(at) = next(start, text, from) {
            from = at + start.needle().len();
            // Only a beginning is looked at further: a long word may have the half very often.
            if substr(text, ..at).ends_with(char::is_alphanumeric) {
                continue;
            }
            let rest = substr(text, at..);
            let length = rest.find(is_other).unwrap_or(rest.len());
            if is_like(substr(rest, ..length)) {
                let Some(next) = take(at..at + length, Fit::Typo) else {
                    return;
                };
                from = next;
            }
        }
        let mut from = 0;
        while let Some(at) = next(end, text, from) {
            from = at + end.needle().len();
            if substr(text, from..).starts_with(char::is_alphanumeric) {
                continue;
            }
            let before = substr(text, ..from);
            let begin = before
                .char_indices()
                .rev()
                .take(self.word.len() + 2)
                .take_while(|(_, char)| !is_other(*char))
                .last()
                .map_or(from, |(at, _)| at);
            let said = substr(text, begin..from);
            // Those with a right beginning were found.
            if !said.as_bytes().starts_with(start.needle())
                && !substr(text, ..begin).ends_with(char::is_alphanumeric)
                && is_like(said)
            {
                let Some(next) = take(begin..from, Fit::Typo) else {
                    return;
                };
                from = next;
            }
        }
    }
}

/// The next place of a word, from some byte on.
fn next(finder: &Finder, text: &str, from: usize) -> Option<usize> {
    Some(from + finder.find(text.as_bytes().get(from..)?)?)
}

/// The halves of a word without a letter in the middle: of a word with one wrong letter, one of them is right.
fn halves(word: &str) -> Option<[&str; 2]> {
    let count = word.chars().count();
    if !(SHORTEST..=LONGEST).contains(&count) || !word.chars().all(char::is_alphabetic) {
        return None;
    }
    let at = |number: usize| word.char_indices().nth(number).map(|(at, _)| at);
    let middle = count / 2;
    Some([substr(word, ..at(middle)?), substr(word, at(middle + 1)?..)])
}

/// `Che` and `Tax` of `CheTax`.
fn humps(word: &str) -> Vec<String> {
    let mut humps = vec![String::new()];
    let mut after_small = false;
    for char in word.chars() {
        if after_small && char.is_uppercase() {
            humps.push(String::new());
        }
        after_small = char.is_lowercase() || char.is_numeric();
        if let Some(hump) = humps.last_mut() {
            hump.push(char);
        }
    }
    humps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_well_a_text_fits_a_word() {
        use Fit::{Exact, Part, Typo};
        let cases = [
            ("tax", "The checkout tax.", Some(Exact)),
            ("TAX", "The checkout tax.", Some(Exact)),
            ("tax", "CheckoutTax is wrong", Some(Part)),
            ("tax", "taxonomy, tax", Some(Exact)),
            ("tax", "tay", None),
            ("résumé", "the resume of it", Some(Exact)),
            // One or two letters are the beginning of a word.
            ("ta", "checkout tax", Some(Part)),
            ("ax", "checkout tax", None),
            ("db", "the DB is down", Some(Exact)),
            // Humps.
            ("CheTax", "fn checkoutTax()", Some(Part)),
            ("CheTax", "fn checkout_tax()", Some(Part)),
            ("CheTax", "checkout-tax", Some(Part)),
            ("CheTax", "applyCheckoutTax", Some(Part)),
            ("chTa", "applyCheckoutTax", None),
            ("CheTax", "checkout tax", None),
            ("CheTax", "taxCheckout", None),
            ("parEmpInp", "parse_empty_input", Some(Part)),
            // Paths.
            ("src/auth.rs", "edit src/auth.rs now", Some(Exact)),
            ("c/auth", "edit src/auth.rs now", Some(Part)),
            ("src/find", "src/core/ask/find.rs", Some(Part)),
            ("ask/find", "/src/core/ask/deep/find.rs", Some(Part)),
            ("src/find", "src/core find.rs", None),
            ("find/src", "src/find.rs", None),
            // One wrong letter in five or more.
            ("chekout", "the checkout", Some(Typo)),
            ("checkkout", "the checkout", Some(Typo)),
            ("chackout", "the checkout", Some(Typo)),
            ("hceckout", "the checkout", Some(Typo)),
            ("chekcout", "the checkout", Some(Typo)),
            ("checkotu", "the checkout", Some(Typo)),
            ("xheckout", "(checkout)", Some(Typo)),
            ("checkoux", "(checkout)", Some(Typo)),
            ("checkouts", "checkout.", Some(Typo)),
            ("ocheckout", "checkout.", Some(Typo)),
            ("chekot", "the checkout", None),
            ("queu", "the queue", Some(Part)),
            ("quue", "the queue", None),
            ("qeueu", "the queue", None),
            ("quuee", "the queue", Some(Typo)),
            ("tset1", "test1", None),
            ("привте", "скажи привет", Some(Typo)),
            ("日本", "日本語", Some(Part)),
            // A phrase.
            ("\"rate limit\"", "the rate limit", Some(Exact)),
            ("\"rate limit\"", "the limit rate", None),
        ];
        for (typed, text, expected) in cases {
            let typed = Typed::new(typed);
            let text = folded(text);
            let [word] = &typed.words[..] else {
                panic!("one word: {typed:?}")
            };
            assert_eq!(word.fit(&text, true), expected, "{word:?} in {text}");
            if let Some(fit) = expected {
                let signature = Signature::of(&[text.as_bytes()]);
                assert!(word.may_be_in(&signature, true), "{word:?} in {text}");
                let without = word.fit(&text, false);
                assert_eq!(without.is_some(), fit != Typo, "{word:?} in {text}");
            }
        }
    }

    /// A word of a megabyte is no word, and is not read again from each place where it might begin.
    #[test]
    fn a_very_long_word_is_looked_at_once() {
        let long = "checktax".repeat(1 << 17);
        for (typed, expected) in [("checktox", None), ("CheZax", None), ("c/z", None)] {
            let fit = TypedWord::new(typed).fit(&long, true);
            assert_eq!(fit, expected, "{typed}");
        }
    }

    #[test]
    fn every_single_mistake_is_found() {
        let word = "lighthouse";
        let letters: Vec<char> = word.chars().collect();
        let mut wrong = Vec::new();
        for at in 0..letters.len() {
            let mut without = letters.clone();
            without.remove(at);
            let (mut other, mut more) = (letters.clone(), letters.clone());
            other[at] = 'x';
            more.insert(at, 'x');
            wrong.extend([without, other, more]);
            if at > 0 {
                let mut swapped = letters.clone();
                swapped.swap(at - 1, at);
                wrong.push(swapped);
            }
        }
        for typed in wrong.iter().map(|wrong| wrong.iter().collect::<String>()) {
            let fit = TypedWord::new(&typed).fit("see the lighthouse, there", true);
            // Without its first or last letter, it is a part.
            assert!(fit >= Some(Fit::Part), "{typed}: {fit:?}");
        }
    }

    #[test]
    fn a_line_is_split_into_words_and_phrases() {
        for (line, words) in [
            ("retry  webhook", &["retry", "webhook"][..]),
            ("\"Rate limit\" retry", &["rate limit", "retry"]),
            ("say \"hi", &["say", "hi"]),
            (" ", &[]),
            ("\"\"", &[]),
        ] {
            let typed = Typed::new(line);
            let found: Vec<&str> = typed.words.iter().map(|word| &*word.word).collect();
            assert_eq!(found, words, "{line}");
        }
    }

    #[test]
    fn the_places_of_words_in_a_text_as_it_is() {
        let places = |typed: &str, text: &str| {
            let places = Typed::new(typed).places_in(text);
            places
                .into_iter()
                .map(|place| substr(text, place).to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            places("tax checkot", "The Checkout TAX"),
            ["Checkout", "TAX"]
        );
        assert_eq!(places("CheTax", "a checkout_tax()"), ["checkout_tax"]);
        assert_eq!(places("strasse", "Die Straße 7"), ["Straße"]);
        assert_eq!(places("x", "nothing"), [""; 0]);
    }
}
