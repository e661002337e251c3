//! The words of a search, and where a text has them.
//!
//! A word counts wherever its letters stand, also inside of another word or identifier. In a search it counts in its other
//! forms, too: `retry` is found in `retries`. A word with blanks in it is a phrase, which a session must have as it is.

use std::ops::Range;

use memchr::memmem::Finder;

use super::cache::{Part, Source, Text};
use super::rank::Evidence;
use super::sieve::Sieve;
use super::signature::Signature;
use crate::fold::{fold_each, folded};
use session_format::boundary::substr;
use session_format::entry::Role;
use session_format::time::Time;

/// A set of words. The lower half has the words that are there as they are, the upper half those in another form.
pub type Words = u64;

/// As many words as fit into [`Words`].
pub const MOST_WORDS: usize = 32;

/// The words whose flag is set.
pub(crate) fn bits(flags: impl Iterator<Item = bool>) -> Words {
    flags
        .zip(0..)
        .fold(0, |all, (is_set, index)| all | u64::from(is_set) << index)
}

/// All words of a set, in whatever form.
pub(crate) fn in_any_form(words: Words) -> Words {
    (words | words >> MOST_WORDS) & u64::from(u32::MAX)
}

#[derive(Clone)]
pub struct Query {
    terms: Vec<Term>,
    /// Only as whole words.
    pub whole: bool,
    pub role: Option<Role>,
    pub since: Option<Time>,
    /// Only in sessions that have a call with this path.
    file: Option<Finder<'static>>,
}

#[derive(Clone)]
struct Term {
    typed: String,
    /// Folded as the said texts are.
    word: String,
    /// Looks for the word, or for the stem that all its forms begin with.
    finder: Finder<'static>,
}

impl Term {
    fn new(typed: &str) -> Term {
        let word = folded(typed).trim_end().to_owned();
        Term {
            typed: typed.to_owned(),
            finder: Finder::new(word.as_bytes()).into_owned(),
            word,
        }
    }

    /// Also finds words that begin alike. Only scripts with small letters have such endings.
    fn with_forms(mut self) -> Term {
        const SHORTEST_WORD: usize = 5;
        const SHORTEST_STEM: usize = 4;
        let count = self.word.chars().count();
        if count >= SHORTEST_WORD && self.word.chars().all(char::is_lowercase) {
            let stem: String = self
                .word
                .chars()
                .take(SHORTEST_STEM.max(count * 2 / 3))
                .collect();
            self.finder = Finder::new(stem.as_bytes()).into_owned();
        }
        self
    }

    fn is_phrase(&self) -> bool {
        self.word.contains(' ')
    }

    fn stem(&self) -> &str {
        std::str::from_utf8(self.finder.needle()).unwrap_or_default()
    }

    /// The next place from some byte on, and whether the word stands there as it is.
    fn next(&self, text: &str, from: usize, whole: bool) -> Option<(Range<usize>, bool)> {
        let (bytes, stem) = (text.as_bytes(), self.finder.needle());
        let mut from = from;
        loop {
            let at = from + self.finder.find(bytes.get(from..)?)?;
            let end = at + self.word.len();
            if bytes[at..].starts_with(self.word.as_bytes()) && (!whole || is_whole(text, at, end))
            {
                return Some((at..end, true));
            }
            if stem.len() < self.word.len()
                && let Some(end) = self.end_of_form(text, at)
            {
                return Some((at..end, false));
            }
            from = at + 1;
        }
    }

    /// The end of a word that begins at the stem, if only its ending makes it another one.
    fn end_of_form(&self, text: &str, at: usize) -> Option<usize> {
        if substr(text, ..at).ends_with(char::is_alphanumeric) {
            return None;
        }
        let said = substr(text, at..);
        let said = substr(
            said,
            ..said
                .find(|char: char| !char.is_alphanumeric())
                .unwrap_or(said.len()),
        );
        let common = said
            .chars()
            .zip(self.word.chars())
            .take_while(|(said, own)| said == own)
            .count();
        let [mut short, mut long] = [said, &self.word].map(|word| word.chars().count() - common);
        if short > long {
            (short, long) = (long, short);
        }
        // `retry` and `retries`, not `retry` and `retrieve`; `migrate` and `migration`, not `stripe` and `strict`.
        (short <= common / 3 && long <= common / 2 + 1).then_some(at + said.len())
    }
}

/// Places that are looked for in a folded text, as places of the text as it is, in order and apart from each other.
pub(super) fn folded_places(
    text: &str,
    find: impl FnOnce(&str, &mut dyn FnMut(Range<usize>)),
) -> Vec<Range<usize>> {
    let (mut folded, mut origins) = (String::new(), Vec::new());
    fold_each(text, &mut |char, at| {
        folded.push(char);
        origins.resize(folded.len(), at);
    });
    let end_of = |at: usize| {
        substr(text, at..)
            .chars()
            .next()
            .map_or(at, |char| at + char.len_utf8())
    };
    let mut places: Vec<Range<usize>> = Vec::new();
    find(&folded, &mut |place| {
        places.push(origins[place.start]..end_of(origins[place.end - 1]));
    });
    places.sort_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
    places.dedup_by(|next, last| next.start < last.end);
    places
}

pub(super) fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    !substr(text, ..start).ends_with(is_part) && !substr(text, end..).starts_with(is_part)
}

impl Query {
    /// Each word as it is.
    pub fn new(words: &[String], file: Option<&str>) -> Query {
        let terms = words
            .iter()
            .map(|word| Term::new(word))
            .filter(|term| !term.word.is_empty());
        Query {
            terms: terms.take(MOST_WORDS).collect(),
            whole: false,
            role: None,
            since: None,
            file: file
                .map(|file| Term::new(file.trim_start_matches("./")).finder)
                .filter(|file| !file.needle().is_empty()),
        }
    }

    /// Each word in all its forms, unless only whole words count.
    pub fn with_forms(mut self) -> Query {
        if !self.whole {
            self.terms = self.terms.into_iter().map(Term::with_forms).collect();
        }
        self
    }

    /// The same words, wherever and whenever they were said.
    pub fn anywhere(&self) -> Query {
        Query {
            role: None,
            since: None,
            file: None,
            ..self.clone()
        }
    }

    /// The same with other words in place of some.
    pub fn with(&self, others: &[(usize, String)]) -> Query {
        let mut terms = Vec::new();
        for (index, term) in self.terms.iter().enumerate() {
            let instead = others.iter().find(|(replaced, _)| *replaced == index);
            match instead {
                Some((_, words)) => {
                    let typed = term.typed.clone();
                    let other = |word: &str| Term {
                        typed: typed.clone(),
                        ..Term::new(word).with_forms()
                    };
                    terms.extend(words.split(' ').map(other));
                }
                None => terms.push(term.clone()),
            }
        }
        terms.truncate(MOST_WORDS);
        Query {
            terms,
            file: self.file.clone(),
            ..*self
        }
    }

    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    pub fn has_file(&self) -> bool {
        self.file.is_some()
    }

    pub fn len(&self) -> usize {
        self.terms.len()
    }

    pub fn all(&self) -> Words {
        (1 << self.terms.len()) - 1
    }

    /// False if a text with these letters, in a session with this title, is no evidence of anything.
    pub(crate) fn may_be_evident(&self, signatures: &[Signature], title: &str) -> bool {
        let is_possible = |(_, term): &(usize, &Term)| {
            signatures
                .iter()
                .any(|signature| signature.may_hold(term.finder.needle()))
        };
        let possible = self.terms.iter().enumerate().filter(is_possible);
        let possible = possible.fold(0, |all, (index, _)| all | 1 << index);
        let has = |possible: Words| possible != 0 && possible & self.phrases() == self.phrases();
        has(possible) || has(possible | in_any_form(self.in_title(title)))
    }

    /// The words that a session must have.
    pub fn phrases(&self) -> Words {
        bits(self.terms.iter().map(Term::is_phrase))
    }

    /// Some of the words as the user typed them, with their numbers; phrases are left out.
    pub fn words(&self, words: Words) -> impl Iterator<Item = (usize, &str)> {
        let terms = self
            .terms
            .iter()
            .enumerate()
            .filter(move |(index, _)| words & !self.phrases() & 1 << index != 0);
        terms.map(|(index, term)| (index, &*term.typed))
    }

    /// Some of the words as the user typed them, each once.
    pub fn typed(&self, words: Words) -> Vec<&str> {
        let mut typed: Vec<&str> = Vec::new();
        for (index, term) in self.terms.iter().enumerate() {
            if words & 1 << index != 0 && !typed.contains(&&*term.typed) {
                typed.push(&term.typed);
            }
        }
        typed
    }

    /// The words of a folded text.
    pub(crate) fn found_in(&self, text: &str) -> Words {
        let mut words = 0;
        for (index, term) in self.terms.iter().enumerate() {
            let mut from = 0;
            while let Some((place, as_it_is)) = term.next(text, from, self.whole) {
                words |= bit(index, as_it_is);
                from = if as_it_is { text.len() } else { place.end };
            }
        }
        words
    }

    /// Tells files that cannot hold the words: one for each, then the path that a call must have.
    pub(crate) fn sieve(&self) -> Sieve {
        let file = self
            .file
            .iter()
            .map(|file| std::str::from_utf8(file.needle()).unwrap_or_default());
        Sieve::new(self.terms.iter().map(Term::stem).chain(file))
    }

    /// The words of the sieve that a session must have.
    pub fn required(&self) -> Words {
        self.phrases() | u64::from(self.file.is_some()) << self.terms.len()
    }

    /// The words that a title has, where a title counts at all.
    pub(crate) fn in_title(&self, title: &str) -> Words {
        if self.role.is_none() && self.since.is_none() {
            self.found_in(&folded(title))
        } else {
            0
        }
    }

    /// True if one of the words is in a text as it is.
    pub fn is_in(&self, text: &str) -> bool {
        self.found_in(&folded(text)) != 0
    }

    /// The places of the words in a text as it is, in order and apart from each other.
    pub fn places_in(&self, text: &str) -> Vec<Range<usize>> {
        folded_places(text, |folded, take| {
            for term in &self.terms {
                let mut from = 0;
                while let Some((place, _)) = term.next(folded, from, self.whole) {
                    from = place.end;
                    take(place);
                }
            }
        })
    }

    /// The words that a text has, whoever said them and when.
    pub(crate) fn said_in(&self, text: &Text) -> Words {
        let is_said = |term: &Term| {
            text.parts
                .iter()
                .any(|part| term.next(part.text, 0, self.whole).is_some())
        };
        bits(self.terms.iter().map(is_said))
    }

    fn takes(&self, Source { file, line }: Source) -> bool {
        // What a subagent is asked, no user said.
        let is_asked = file > 0 && line.role == Role::User;
        self.role.is_none_or(|role| role == line.role && !is_asked)
            && self
                .since
                .is_none_or(|since| line.time.is_some_and(|time| time >= since))
    }

    /// True if a session has a call with the path that is asked for.
    fn may_be(&self, parts: &[Part]) -> bool {
        let is_call = |Part { lines, .. }: &Part, place: usize| lines.get(lines.at(place)).is_call;
        self.file.as_ref().is_none_or(|file| {
            parts.iter().any(|part| {
                file.find_iter(part.text.as_bytes())
                    .any(|place| is_call(part, place))
            })
        })
    }

    /// The entries of a session that have some of the words, in the order they were written.
    pub fn hits(&self, text: &Text) -> Vec<Hit> {
        let parts = &text.parts;
        if !self.may_be(parts) {
            return Vec::new();
        }
        let mut hits = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            let next = parts
                .get(number + 1)
                .filter(|next| next.file == part.file && next.lines.count() > 0);
            for (index, words) in self
                .words_by_line(part)
                .into_iter()
                .enumerate()
                .filter(|(_, words)| *words != 0)
            {
                let source = Source {
                    file: part.file,
                    line: part.lines.get(index),
                };
                if self.takes(source) {
                    let is_last = index + 1 == part.lines.count();
                    let next = if is_last {
                        next.map(|next| next.lines.get(0))
                    } else {
                        Some(part.lines.get(index + 1))
                    };
                    let is_last_word = next.is_none_or(|next| next.role == Role::User);
                    hits.push(Hit {
                        index: part.first + index,
                        source,
                        words,
                        is_last_word,
                    });
                }
            }
        }
        hits
    }

    /// The words in each line of a part; nothing at all if there are none.
    fn words_by_line(&self, Part { text, lines, .. }: &Part) -> Vec<Words> {
        let mut words = Vec::new();
        for (number, term) in self.terms.iter().enumerate() {
            let mut from = 0;
            while let Some((place, as_it_is)) = term.next(text, from, self.whole) {
                let index = lines.at(place.start);
                if words.is_empty() {
                    words = vec![0; lines.count()];
                }
                words[index] |= bit(number, as_it_is);
                // How often an entry says it makes no difference.
                let is_last = index + 1 == lines.count();
                let end = if is_last {
                    text.len()
                } else {
                    lines.get(index + 1).start as usize
                };
                from = if as_it_is {
                    end.max(place.end)
                } else {
                    place.end
                };
            }
        }
        words
    }

    /// The evidence of a session; none if it has no word, or lacks one that it must have. The title counts as something
    /// that was said.
    pub(crate) fn evidence(&self, hits: &[Hit], text: &Text, title: &str) -> Option<Evidence> {
        let in_title = if hits.is_empty() && !self.may_be(&text.parts) {
            0
        } else {
            self.in_title(title)
        };
        let evidence = Evidence::new(self.len(), text.length(), in_title, hits);
        let has = evidence.has();
        (has != 0 && has & self.phrases() == self.phrases()).then_some(evidence)
    }
}

fn bit(index: usize, as_it_is: bool) -> Words {
    1 << if as_it_is { index } else { index + MOST_WORDS }
}

/// The kind of an entry: a prompt of the user's, then something that was said, then a call.
pub(crate) fn kind(Source { file, line }: Source) -> usize {
    match line.role {
        _ if line.is_call => 2,
        Role::User if file == 0 => 0,
        _ => 1,
    }
}

/// An entry with some of the words in it.
#[derive(Clone)]
pub struct Hit {
    /// Its number among all entries of the session.
    pub index: usize,
    pub source: Source,
    pub words: Words,
    /// A prompt follows, or nothing.
    is_last_word: bool,
}

impl Hit {
    pub fn kind(&self) -> usize {
        kind(self.source)
    }

    /// True if it says what the session was about: a prompt, or the answer at the end of a turn.
    pub(crate) fn is_passage(&self) -> bool {
        self.kind() == 0 || self.kind() == 1 && self.is_last_word
    }
}
