//! Steps that all languages share to read the head of a definition. Each gives nothing where its text is missing.

use session_format::boundary::substr;

/// The name that a text begins with.
pub fn name(text: &str) -> Option<&str> {
    let end = text
        .find(|char: char| !char.is_alphanumeric() && !matches!(char, '_' | '$'))
        .unwrap_or(text.len());
    let begins = text.starts_with(|char: char| char.is_alphabetic() || matches!(char, '_' | '$'));
    begins.then(|| substr(text, ..end))
}

/// The name that a text ends with.
pub(crate) fn last_name(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let before = text.trim_end_matches(|char: char| char.is_alphanumeric() || char == '_');
    name(substr(text, before.len()..))
}

/// The text after a word that it begins with.
pub fn after<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(word)?;
    rest.starts_with(char::is_whitespace)
        .then(|| rest.trim_start())
}

/// The text after the one of several words that it begins with.
pub(crate) fn after_one<'a>(text: &'a str, words: &str) -> Option<&'a str> {
    words
        .split_ascii_whitespace()
        .find_map(|word| after(text, word))
}

/// The text after all of the words that may come before a definition.
pub(crate) fn after_all<'a>(text: &'a str, words: &str) -> &'a str {
    let mut text = text.trim_start();
    while let Some(rest) = after_one(text, words) {
        text = rest;
    }
    text
}

/// The text after the bracket that closes the one it begins with.
pub(crate) fn after_brackets(text: &str) -> Option<&str> {
    let mut depth = 0usize;
    for (at, char) in text.char_indices() {
        match char {
            '(' => depth += 1,
            ')' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(substr(text, at + 1..));
                }
            }
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}
