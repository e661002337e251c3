//! `Authorization: Bearer …`: the word before the secret, and what people say of it without giving it away.
//!
//! The scheme stays and what follows it goes, with or without the name of the header before it. After the name of the
//! header is a value like any other, so `value` asks here what is special about it.

use super::Secret;
use super::key::is_random;
use super::name::AUTHORIZATION;
use super::text::{is_blank, is_encoded, is_listed, is_word, near, run_end, run_end_before_dots};

/// The one scheme that tells a secret without the name of the header, and how people write it.
const ANYWHERE: &str = "bearer";
pub const BEARER: &[&str] = &["Bearer", "bearer", "BEARER"];

/// What the value of `Authorization` begins with.
const SCHEMES: &str = "bearer basic token apikey api-key key bot";

/// What follows a scheme where people talk about it.
const TALK: &str = "token tokens auth authentication authorization header headers scheme";

/// `Bearer …` on its own.
pub fn bearer(text: &[u8], at: usize) -> Option<Secret> {
    let start = after_word(text, at, ANYWHERE)?;
    let end = run_end_before_dots(text, start, |byte| is_encoded(byte) || matches!(byte, b'.' | b'~'));
    let is_call = text.get(end) == Some(&b'(');
    (!is_call && is_random(&text[start..end])).then_some(start..end)
}

/// Over the scheme and the blanks in `Bearer …`, in the value of this name.
pub fn after_scheme(text: &[u8], at: usize, name: &str) -> Option<usize> {
    after_word(text, at, if name == AUTHORIZATION { SCHEMES } else { ANYWHERE })
}

fn after_word(text: &[u8], at: usize, words: &str) -> Option<usize> {
    let word = near(text, at, is_word);
    let end = at + word.len();
    let start = run_end(text, end, is_blank);
    (start > end && is_listed(words, word)).then_some(start)
}

/// Whether a value is none by its first word: `Authorization: Bearer token required`, `authorization: admins only`.
pub fn is_talk(name: &str, has_scheme: bool, word: &[u8]) -> bool {
    if has_scheme { is_listed(TALK, word) } else { name == AUTHORIZATION && !is_random(word) }
}

#[cfg(test)]
mod tests {
    use crate::secrets::check::{assert_hidden, assert_kept};

    #[test]
    fn what_follows_a_scheme_goes() {
        assert_hidden(&[
            "Authorization: Bearer ⟦abc⟧",
            "curl -H 'Authorization: Basic ⟦dXNlcjpwYXNz⟧' x",
            "Authorization: Token ⟦9944b09199c62bcf⟧",
            "Authorization: ⟦9944b09199c62bcf⟧",
            "\"Authorization\": \"Bearer ⟦abc.def-ghi⟧\", \"x\": 1",
            "Bearer ⟦a1b2c3d4e5f6⟧.",
            "token: Bearer ⟦abc⟧",
        ]);
    }

    #[test]
    fn variables_and_talk_stay() {
        assert_kept(&[
            "curl -H \"Authorization: Bearer $TOKEN\" https://x",
            "headers: { Authorization: `Bearer ${token}` }",
            "\"Authorization\": f\"Bearer {token}\"",
            "\"Authorization\": \"Bearer \" + token",
            "Authorization: Bearer token required",
            "Authorization: Basic auth is off",
            "authorization: admins only",
            "bearer of bad news; a bearer token; Bearer authentication",
        ]);
    }
}
