//! Lists of words, and whether a word is in one.
//!
//! A list is a text with blanks between the words, so that it reads like one. It stands beside the rule that uses it.

/// Whether a list has a word.
pub fn one_of(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}
