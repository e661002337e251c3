//! The names in a prompt that an earlier session is known by: a file it edited, a function it wrote, its tag, its title.
//!
//! A name is found as it is written, never by the meaning of a word: `auth.rs` is a name wherever it stands, `run` is one
//! only before brackets: in back-ticks it may be a command or a branch. So a hint is true by construction.

use super::Continuity;
use session_format::boundary::substr;
use session_format::path::base_name;
use session_format::time::Time;

/// A name for an earlier session in a prompt.
#[derive(Debug, Clone, PartialEq)]
pub enum Name {
    File(String),
    Function(String),
    Tag(String),
    Title(String),
}

/// The name that a prompt has for a session, the edits behind it, and their time.
pub fn named(
    prompt: &str,
    session: &Continuity,
    tags: &[&str],
) -> Option<(Name, u64, Option<Time>)> {
    let tokens = tokens(prompt);
    let files = session.files.iter().filter(|file| {
        tokens
            .iter()
            .any(|token| names_file(token.text, &file.path))
    });
    let file = files.max_by_key(|file| file.edits).map(|file| {
        (
            Name::File(base_name(&file.path).to_owned()),
            file.edits,
            file.time,
        )
    });
    let function = || {
        let names = |name: &str| {
            tokens
                .iter()
                .any(|token| token.text == name && (token.is_call || is_identifier(name)))
        };
        let (_, found) = session
            .functions
            .iter()
            .rev()
            .find(|(_, function)| names(&function.text))?;
        Some((Name::Function(found.text.clone()), 1, found.time))
    };
    let lower = spaced(prompt);
    let says = |words: &str| lower.contains(&spaced(words));
    let tag = || {
        tags.iter()
            .find(|tag| says(tag))
            .map(|tag| (Name::Tag((*tag).to_owned()), 1, session.updated))
    };
    let title = || {
        let given = session
            .given_title()
            .filter(|title| title.split_whitespace().nth(1).is_some())?;
        says(given).then(|| (Name::Title(given.to_owned()), 1, session.updated))
    };
    file.or_else(function).or_else(tag).or_else(title)
}

/// A word of a prompt without the signs around it.
struct Token<'p> {
    text: &'p str,
    /// Called like a function.
    is_call: bool,
}

fn tokens(prompt: &str) -> Vec<Token<'_>> {
    let words =
        prompt.split(|char: char| char.is_whitespace() || "\"“”'’,;()[]{}<>@".contains(char));
    let around = |char: char| matches!(char, '`' | '.' | ':' | '!' | '?' | '*' | '…');
    let mut tokens: Vec<Token> = Vec::new();
    for word in words.filter(|word| !word.is_empty()) {
        let text = word.trim_end_matches(around).trim_start_matches(['`', '*']);
        let text = without_line(text.strip_prefix("./").unwrap_or(text)).trim_end_matches('`');
        let is_call = substr(
            prompt,
            word.as_ptr() as usize - prompt.as_ptr() as usize + word.len()..,
        )
        .starts_with("()");
        tokens.push(Token { text, is_call });
    }
    tokens
}

/// A path without the line that may follow it: `src/auth.rs:42`, `src/auth.rs#L4`.
fn without_line(path: &str) -> &str {
    let end = path.find([':', '#']).filter(|at| {
        let rest = substr(path, at + 1..).trim_start_matches('L');
        rest.starts_with(|char: char| char.is_ascii_digit())
    });
    substr(path, ..end.unwrap_or(path.len()))
}

/// `auth.rs`, `src/auth.rs`, `.env` and `Makefile` name a file; `auth` does not.
fn names_file(token: &str, path: &str) -> bool {
    let is_name = token.contains(['.', '/']) || token.starts_with(char::is_uppercase);
    let ends = || {
        path.strip_suffix(token)
            .is_some_and(|before| before.is_empty() || before.ends_with(['/', '\\']))
    };
    is_name && token.len() > 2 && ends()
}

/// `user_id`, `getUser`, `UserStore`: no word of a language is written so.
fn is_identifier(name: &str) -> bool {
    let inner = name.trim_matches('_');
    inner.contains('_')
        || inner
            .chars()
            .zip(inner.chars().skip(1))
            .any(|(a, b)| a.is_lowercase() && b.is_uppercase())
}

/// A text in lower case with a blank around each word, so that only whole words are found in it.
fn spaced(text: &str) -> String {
    let words = text
        .split(|char: char| !char.is_alphanumeric())
        .filter(|word| !word.is_empty());
    format!(" {} ", words.collect::<Vec<_>>().join(" ").to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fold::continuity::{FileChange, Finding};

    /// 000-04, 000-14, 000-15, 000-D3
    #[test]
    fn only_names_name_a_session() {
        let file = |path: &str, edits| FileChange {
            path: path.into(),
            edits,
            ..FileChange::default()
        };
        let function = |name: &str| {
            (
                "src/auth.rs".to_owned(),
                Finding {
                    text: name.into(),
                    ..Finding::default()
                },
            )
        };
        let mut session = Continuity::default();
        session.files = vec![
            file("src/auth.rs", 1),
            file("/p/src/login/mod.rs", 5),
            file("Makefile", 1),
            file("run", 1),
            file(".gitignore", 1),
        ];
        session.functions = vec![function("parse_line"), function("run"), function("getUser")];
        session.basics.agent_title = Some("Payment gateway".into());
        let named =
            |prompt: &str| named(prompt, &session, &["release", "beta two"]).map(|(name, ..)| name);
        for (prompt, wanted) in [
            ("look at auth.rs again", Some(Name::File("auth.rs".into()))),
            (
                "what about `src/auth.rs`?",
                Some(Name::File("auth.rs".into())),
            ),
            ("see ./src/auth.rs:42", Some(Name::File("auth.rs".into()))),
            (
                "see `src/auth.rs`:42 and src/auth.rs#L4",
                Some(Name::File("auth.rs".into())),
            ),
            (
                "(auth.rs), and login/mod.rs!",
                Some(Name::File("mod.rs".into())),
            ),
            (
                "the Makefile is broken",
                Some(Name::File("Makefile".into())),
            ),
            ("see @src/auth.rs", Some(Name::File("auth.rs".into()))),
            (
                "add it to .gitignore",
                Some(Name::File(".gitignore".into())),
            ),
            ("see https://example.org/src/auth.rs", None),
            ("see /elsewhere/src/auth.rs", None),
            ("all .rs files, e.g. those...", None),
            ("is auth broken? run it, makefile", None),
            ("oauth.rs", None),
            (
                "why does parse_line drop it",
                Some(Name::Function("parse_line".into())),
            ),
            (
                "call getUser() first",
                Some(Name::Function("getUser".into())),
            ),
            ("`getUser` hangs", Some(Name::Function("getUser".into()))),
            // A command, a branch or a key in back-ticks is not a function.
            ("`run` hangs", None),
            ("run() hangs", Some(Name::Function("run".into()))),
            ("run hangs", None),
            ("prepare the Release!", Some(Name::Tag("release".into()))),
            ("is beta-two out?", Some(Name::Tag("beta two".into()))),
            ("releases", None),
            (
                "go on with the payment  gateway.",
                Some(Name::Title("Payment gateway".into())),
            ),
            ("payment of the gateway", None),
            ("", None),
        ] {
            assert_eq!(named(prompt), wanted, "{prompt}");
        }
    }
}
