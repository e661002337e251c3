//! Languages that define by a word: `fn`, `def`, `class`.
//!
//! The word comes first, after modifiers at the most, so that prose and strings define nothing.

use super::Definition;
use super::head::{after_all, after_one, name};

/// The words of a language: those that may come before, those that define a function, those that define a class.
pub struct Keywords {
    pub before: &'static str,
    pub functions: &'static str,
    pub classes: &'static str,
}

impl Keywords {
    pub fn definition<'a>(&self, line: &'a str) -> Option<Definition<'a>> {
        let text = after_all(line, self.before);
        match after_one(text, self.functions) {
            Some(rest) => function(rest),
            None => class(after_one(text, self.classes)?),
        }
    }
}

/// Kotlin's type parameters and receivers, Ruby's `self.` and PHP's reference are no part of a name.
fn function(rest: &str) -> Option<Definition<'_>> {
    let rest = rest.strip_prefix('<').and_then(|rest| Some(rest.split_once('>')?.1.trim_start())).unwrap_or(rest);
    let head = rest.split(['(', ' ', ';', '{', ':', '=']).next().unwrap_or_default();
    let own = head.rsplit('.').next().unwrap_or(head).trim_start_matches('&');
    let whole = name(own)?;
    let hidden = whole.starts_with("__") && whole.ends_with("__");
    Definition::function(whole).filter(|_| !hidden)
}

/// Prose in a comment or a text goes on with a word.
fn class(rest: &str) -> Option<Definition<'_>> {
    let whole = name(rest)?;
    let next = rest[whole.len()..].trim_start();
    let prose = next.starts_with(char::is_alphabetic)
        && !["extends", "implements", "where"].iter().any(|word| next.starts_with(word));
    Definition::class(whole).filter(|_| !prose)
}
