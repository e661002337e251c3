//! Which sessions say some words, and where.
//!
//! All words must be in one session. A session in which they stand together comes before one in which they are far apart;
//! of two alike, the newer comes first. What subagents said belongs to their session ([`sources`]); [`cache`] has the texts.

pub mod cache;
pub mod sieve;
pub mod sources;

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use memchr::memmem::Finder;

use crate::entry::Role;
use crate::fold::{fold_each, folded};
use crate::time::Time;
use cache::{Part, Source, Text};
use sieve::Sieve;

/// What is looked for.
pub struct Query {
    words: Vec<Finder<'static>>,
    /// Only as whole words.
    pub whole: bool,
    pub role: Option<Role>,
    pub since: Option<Time>,
    /// Only in sessions that have a call with this path.
    file: Option<Finder<'static>>,
}

impl Query {
    /// A word with blanks in it is a phrase.
    pub fn new(words: &[String], file: Option<&str>) -> Query {
        let finder = |word: &str| Finder::new(folded(word).trim_end().as_bytes()).into_owned();
        let words = words.iter().map(|word| finder(word)).filter(|word| !word.needle().is_empty()).collect();
        Query {
            words,
            whole: false,
            role: None,
            since: None,
            file: file.map(|file| finder(file.trim_start_matches("./"))),
        }
    }

    /// The same words, wherever and whenever they were said.
    pub fn anywhere(&self) -> Query {
        Query { words: self.words.clone(), whole: self.whole, role: None, since: None, file: None }
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| std::str::from_utf8(word.needle()).unwrap_or_default())
    }

    /// Where a text that was made comparable has a word.
    pub fn places<'q>(&'q self, word: usize, text: &'q str) -> impl Iterator<Item = usize> + 'q {
        let length = self.words[word].needle().len();
        let is_part = |char: char| char.is_alphanumeric() || char == '_';
        let is_whole = move |at: &usize| !text[..*at].ends_with(is_part) && !text[at + length..].starts_with(is_part);
        self.words[word].find_iter(text.as_bytes()).filter(move |at| !self.whole || is_whole(at))
    }

    /// All words of a text, as bits.
    pub fn found_in(&self, text: &str) -> u64 {
        let has = |word: &usize| self.places(*word, text).next().is_some();
        (0..self.words.len()).filter(has).fold(0, |all, word| all | 1 << word)
    }

    /// What tells files that cannot hold all words. The path that a call must have is one of them.
    pub fn sieve(&self) -> Sieve {
        let words = self.words.iter().chain(&self.file);
        Sieve::new(words.map(|word| std::str::from_utf8(word.needle()).unwrap_or_default()))
    }

    /// The words that a title has, as bits, where a title counts at all.
    pub fn in_title(&self, title: &str) -> u64 {
        if self.role.is_none() && self.since.is_none() { self.found_in(&folded(title)) } else { 0 }
    }

    /// Whether one of the words is in a text as it is.
    pub fn is_in(&self, text: &str) -> bool {
        self.found_in(&folded(text)) != 0
    }

    /// Where the words are in a text as it is, in order and apart from each other.
    pub fn places_in(&self, text: &str) -> Vec<Range<usize>> {
        let (mut folded, mut origins) = (String::new(), Vec::new());
        fold_each(text, &mut |char, at| {
            folded.push(char);
            origins.resize(folded.len(), at);
        });
        let end_of = |at: usize| text[at..].chars().next().map_or(at, |char| at + char.len_utf8());
        let mut places: Vec<Range<usize>> = Vec::new();
        for (index, word) in self.words().enumerate() {
            let found = self.places(index, &folded);
            places.extend(found.map(|at| origins[at]..end_of(origins[at + word.len() - 1])));
        }
        places.sort_by_key(|place| place.start);
        places.dedup_by(|next, last| next.start < last.end);
        places
    }

    fn all(&self) -> u64 {
        (1 << self.words.len()) - 1
    }

    fn takes(&self, Source { file, line }: Source) -> bool {
        // What a subagent is asked, no user said.
        let is_asked = file > 0 && line.role == Role::User;
        self.role.is_none_or(|role| role == line.role && !is_asked)
            && self.since.is_none_or(|since| line.time.is_some_and(|time| time >= since))
    }

    /// Whether all words are in a session, and how near to each other. `title` counts as something that was said in it.
    pub fn find(&self, text: &Text, title: &str) -> Option<Found> {
        if self.words.len() != 1 {
            return self.search(text, title).map(Found::from);
        }
        // One word is as near as can be wherever it is, so the first place is enough for now.
        let parts = text.parts();
        let is_taken = |part: &Part, place: usize| {
            self.takes(Source { file: part.file, line: part.lines.get(part.lines.at(place)) })
        };
        let is_said = || parts.iter().any(|part| self.places(0, part.text).any(|place| is_taken(part, place)));
        let is_found = self.may_be(&parts) && (self.in_title(title) != 0 || is_said());
        is_found.then(|| Found { rank: 0, matches: OnceCell::new() })
    }

    /// Whether a session has a call with the path that is asked for.
    fn may_be(&self, parts: &[Part]) -> bool {
        self.file.as_ref().is_none_or(|file| touches(parts, file))
    }

    /// What of a session fits, if all words are in it.
    pub fn search(&self, text: &Text, title: &str) -> Option<Matches> {
        let parts = text.parts();
        if !self.may_be(&parts) {
            return None;
        }
        let mut hits: BTreeMap<usize, (Source, u64)> = BTreeMap::new();
        let in_title = self.in_title(title);
        let mut all = in_title;
        for Part { file, first, text, lines } in parts {
            for word in 0..self.words.len() {
                let mut from = 0;
                while let Some(place) = text.get(from..).and_then(|rest| self.places(word, rest).next()) {
                    let index = lines.at(from + place);
                    let source = Source { file, line: lines.get(index) };
                    if self.takes(source) {
                        hits.entry(first + index).or_insert((source, 0)).1 |= 1 << word;
                        all |= 1 << word;
                    }
                    // How often an entry says it makes no difference.
                    from = if index + 1 < lines.count() { lines.get(index + 1).start as usize } else { text.len() };
                }
            }
        }
        if all != self.all() {
            return None;
        }
        let distance = distance(&hits, in_title, self.all());
        let hits = hits.into_iter().map(|(index, (source, words))| (index, source, words)).collect();
        Some(Matches { distance, hits })
    }
}

/// A session that has the words. What fits in it is found out when it is shown, if it can be: most are not.
pub struct Found {
    pub rank: usize,
    matches: OnceCell<Matches>,
}

impl Found {
    /// What fits, by the same text and title.
    pub fn matches(&self, query: &Query, text: &Text, title: &str) -> &Matches {
        self.matches.get_or_init(|| query.search(text, title).unwrap_or_default())
    }
}

impl From<Matches> for Found {
    fn from(matches: Matches) -> Found {
        Found { rank: matches.rank(), matches: matches.into() }
    }
}

/// What was found in one session.
#[derive(Default)]
pub struct Matches {
    /// Over how many entries the words are spread.
    distance: usize,
    /// The entries, in the order they were written: which one of the session it is, where, and the words in it as bits.
    pub hits: Vec<(usize, Source, u64)>,
}

impl Matches {
    /// Near, not so near, far.
    fn rank(&self) -> usize {
        match self.distance {
            0 => 0,
            1..=10 => 1,
            _ => 2,
        }
    }

    /// The entries to show, the best first: those with the most words in them, the newest first. Of several that stand in one
    /// line of the transcript, one is enough to find them.
    pub fn best(&self) -> Vec<(usize, Source)> {
        let mut hits: Vec<_> = self.hits.iter().rev().collect();
        let top = hits.iter().map(|(_, _, words)| words.count_ones()).max().unwrap_or(0);
        // Where all words stand together, entries with only one of them say less.
        hits.retain(|(_, _, words)| words.count_ones() == top || self.distance > 0);
        hits.sort_by_key(|(_, _, words)| std::cmp::Reverse(words.count_ones()));
        let mut offsets = HashSet::new();
        hits.retain(|(_, source, _)| offsets.insert((source.file, source.line.offset)));
        hits.into_iter().map(|(index, source, _)| (*index, *source)).collect()
    }
}

/// The least number of entries between which all words are.
fn distance(hits: &BTreeMap<usize, (Source, u64)>, in_title: u64, all: u64) -> usize {
    if in_title == all {
        return 0;
    }
    let mut last: [Option<usize>; 64] = [None; 64];
    let said = hits.values().fold(0, |said, (_, words)| said | words);
    let wanted: Vec<usize> = (0..64).filter(|word| said & 1 << word != 0).collect();
    let mut least = usize::MAX;
    for (index, (_, words)) in hits {
        for word in wanted.iter().filter(|word| words & 1 << **word != 0) {
            last[*word] = Some(*index);
        }
        let first = wanted.iter().map(|word| last[*word]).try_fold(*index, |first, last| Some(first.min(last?)));
        least = first.map_or(least, |first| least.min(index - first));
    }
    least
}

fn touches(parts: &[Part], file: &Finder) -> bool {
    let is_call = |Part { lines, .. }: &Part, place: usize| lines.get(lines.at(place)).is_call;
    parts.iter().any(|part| file.find_iter(part.text.as_bytes()).any(|place| is_call(part, place)))
}

/// The word in these texts that is most like one that is not there.
pub fn nearest(word: &str, texts: &[Text]) -> Option<String> {
    const ENOUGH: f64 = 0.7;
    let first = word.chars().next()?;
    let mut seen = HashSet::new();
    let mut best = (ENOUGH, None);
    for Part { text, .. } in texts.iter().flat_map(Text::parts) {
        for known in text.split(|char: char| !char.is_alphanumeric() && char != '_') {
            let is_near = known.len().abs_diff(word.len()) <= 2 && (known.starts_with(first) || word.len() > 4);
            if !is_near || known.len() < 3 || !seen.insert(known) {
                continue;
            }
            let likeness = strsim::normalized_damerau_levenshtein(word, known);
            if likeness > best.0 {
                best = (likeness, Some(known.to_owned()));
            }
        }
    }
    best.1
}
