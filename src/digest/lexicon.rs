//! Lists of words, and whether a word is in one.
//!
//! A list is a text with blanks between the words, so that it reads like one. The lists themselves stand beside the
//! rules that use them; here is only how they are looked up.

use std::collections::HashSet;
use std::sync::OnceLock;

/// A long list, of which every word of a text is asked.
pub struct Lexicon {
    list: &'static str,
    words: OnceLock<HashSet<&'static str>>,
}

impl Lexicon {
    pub const fn of(list: &'static str) -> Lexicon {
        Lexicon { list, words: OnceLock::new() }
    }

    pub fn has(&self, word: &str) -> bool {
        self.words.get_or_init(|| self.list.split_ascii_whitespace().collect()).contains(word)
    }
}

/// Whether a short list has a word.
pub fn one_of(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_are_in_a_list() {
        static LIST: Lexicon = Lexicon::of("one two\n    three");
        for (word, wanted) in [("one", true), ("three", true), ("on", false), ("one two", false), ("", false)] {
            assert_eq!((LIST.has(word), one_of(LIST.list, word)), (wanted, wanted), "{word}");
        }
        assert!(!one_of("", ""));
    }
}
