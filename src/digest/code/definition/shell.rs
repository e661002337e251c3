//! Shell scripts: `build() {` and `function build {`.
//!
//! How a command line is read is for `code::line`; a script is looked at line by line like any other text.

use super::Definition;
use super::head::after;

pub fn definition<'a>(line: &'a str, _: &[&str]) -> Option<Definition<'a>> {
    let text = line.trim_start();
    let (text, word) = after(text, "function").map_or((text, false), |rest| (rest, true));
    let end = text.find(|char: char| !char.is_alphanumeric() && !matches!(char, '_' | '-' | ':')).unwrap_or(text.len());
    let rest = text[end..].trim_start();
    let called = rest.strip_prefix('(').is_some_and(|rest| rest.trim_start().starts_with(')'));
    let opens = called || word && (rest.is_empty() || rest.starts_with('{'));
    Definition::function(&text[..end]).filter(|_| end > 0 && opens)
}
