//! Words to look for in place of one that no session says.

use super::cache::Text;
use super::query::{Query, Words};
use crate::fold::folded;
use session_format::hash::HashMap;

/// A word that no session says, and what to look for in its place.
pub struct Unsaid {
    word: String,
    letters: u64,
    /// The parts of an identifier; none if there is only one.
    parts: Vec<String>,
}

/// Candidates from a text: parts, and words that are like it, with how often they are said.
#[derive(Default)]
pub struct Others {
    parts: Words,
    words: HashMap<String, usize>,
}

impl Unsaid {
    /// Nothing longer is a word, and comparing it letter by letter would take for ever.
    pub fn new(word: &str) -> Option<Unsaid> {
        const LONGEST_WORD: usize = 64;
        let parts = Some(parts(word))
            .filter(|parts| parts.len() > 1)
            .unwrap_or_default();
        let folded = Some(folded(word))
            .filter(|folded| word.len() <= LONGEST_WORD && folded.len() <= LONGEST_WORD)?;
        Some(Unsaid {
            letters: letters(&folded),
            word: folded,
            parts,
        })
    }

    /// Adds the candidates of a text.
    pub(crate) fn others_in(&self, text: &Text) -> Others {
        let mut known: HashMap<&str, usize> = HashMap::default();
        for part in &text.parts {
            for said in part
                .text
                .split(|char: char| !char.is_alphanumeric() && char != '_')
            {
                if self.may_be_like(said) {
                    *known.entry(said).or_default() += 1;
                }
            }
        }
        let like = known
            .into_iter()
            .filter(|(said, _)| self.likeness(said) > ENOUGH);
        let words = like.map(|(said, count)| (said.to_owned(), count)).collect();
        Others {
            parts: Query::new(&self.parts, None).said_in(text),
            words,
        }
    }

    /// The parts, if all of them are said, or else the word with the fewest letters to change; of several, the one that is
    /// said most often.
    pub fn best<'o>(&self, all: impl Iterator<Item = &'o Others>) -> Option<String> {
        let (mut parts, mut words): (Words, HashMap<&str, usize>) = (0, HashMap::default());
        for others in all {
            parts |= others.parts;
            others
                .words
                .iter()
                .for_each(|(said, count)| *words.entry(said).or_default() += count);
        }
        if !self.parts.is_empty() && parts == Query::new(&self.parts, None).all() {
            return Some(self.parts.join(" "));
        }
        let words = words
            .into_iter()
            .map(|(said, count)| (self.likeness(said), count, said));
        let best =
            words.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(b.2.cmp(a.2)))?;
        Some(best.2.to_owned())
    }

    fn likeness(&self, said: &str) -> f64 {
        strsim::normalized_damerau_levenshtein(&self.word, said)
    }

    /// Tells most words that are not like it at once.
    fn may_be_like(&self, said: &str) -> bool {
        let word = &*self.word;
        // A change of one letter makes at most two differences between the letters of two words.
        let differences = || (self.letters ^ letters(said)).count_ones() as usize;
        said.len() > LENGTHS
            && said.len().abs_diff(word.len()) <= LENGTHS
            && (word.len() > 4 || said.chars().next() == word.chars().next())
            && 2 * differences() < word.len().max(said.len())
    }
}

/// The share of letters that must be right, and the most bytes by which the length may differ.
const ENOUGH: f64 = 0.75;
const LENGTHS: usize = 2;

/// The letters of a word as a set, in which some count as the same.
fn letters(word: &str) -> u64 {
    word.chars()
        .fold(0, |all, char| all | 1 << (u32::from(char) % u64::BITS))
}

/// `parse`, `empty` and `input` of `parseEmptyInput` and `parse_empty-input`.
fn parts(word: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut after_small = false;
    for char in word.chars() {
        if !char.is_alphanumeric() || after_small && char.is_uppercase() {
            parts.push(String::new());
        }
        after_small = char.is_lowercase() || char.is_numeric();
        if char.is_alphanumeric()
            && let Some(part) = parts.last_mut()
        {
            part.extend(char.to_lowercase());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.dedup();
    parts
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn the_parts_of_an_identifier() {
        for (word, expected) in [
            ("parseEmptyInput", "parse empty input"),
            ("parse_empty-input", "parse empty input"),
            ("HTTPServer2Go", "httpserver2 go"),
            ("src/a.rs", "src a rs"),
            ("word", "word"),
            ("...", ""),
        ] {
            assert_eq!(parts(word).join(" "), expected, "{word}");
        }
    }
}
