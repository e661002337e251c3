//! The value of a name: where it begins, whether it is one, and where it ends.
//!
//! Whatever is not plainly something else is a value, so the questions here are all about what is none; those about its
//! text are answered by `code` and `placeholder`, those about its name by `name` and `authorization`.

use super::Secret;
use super::authorization::{after_scheme, is_talk};
use super::block::end_of_block_in;
use super::code::{is_code, is_prose};
use super::name::is_path;
use super::placeholder::is_placeholder;
use super::quote::Quote;
use super::text::{is_alphanumeric, is_blank, is_dotted, is_login, is_space, near, run_end};

/// What is known of a value from what stands before it.
pub struct Before {
    pub name: &'static str,
    /// The name is in quotes, so that a quote after it opens the value and closes nothing.
    pub is_quoted: bool,
    pub wants_quotes: bool,
    /// It may be a sentence that goes on.
    pub is_prose: bool,
    /// `NAME=value`, where a value is taken as it is.
    pub is_shell: bool,
}

/// The value that begins here after blanks, without its quotes and its scheme, if it has to be hidden.
pub fn hidden(text: &[u8], at: usize, before: &Before) -> Option<Secret> {
    let over_scheme = |at| after_scheme(text, at, before.name).unwrap_or(at);
    let first = run_end(text, at, is_blank);
    let bare = over_scheme(first);
    let quote = Quote::opened(text, bare);
    let inside = quote.as_ref().map_or(bare, |quote| quote.inside);
    let start = over_scheme(inside);
    let has_scheme = bare > first || start > inside;

    let word = near(text, start, |byte| is_login(byte) && byte != b',');
    if is_other(text, start, quote.as_ref(), before) || is_talk(before.name, has_scheme, word) {
        return None;
    }
    let value = start..end(text, start, quote.as_ref());
    if is_placeholder(&text[value.clone()]) {
        return None;
    }
    // A private key in it may be longer than the value seems to be.
    let end = end_of_block_in(text, &value).map_or(value.end, |end| end.max(value.end));
    Some(start..end)
}

/// Whether what begins here is plainly no value.
fn is_other(text: &[u8], start: usize, quote: Option<&Quote>, before: &Before) -> bool {
    let head = near(text, start, |byte| byte != b'\n');
    let is_other = match quote {
        Some(quote) => !before.is_quoted && quote.is_closing(text),
        None if before.is_shell => head.starts_with(b"$("),
        None => before.wants_quotes || is_code(head) || before.is_prose && is_prose(head),
    };
    is_other || is_path(before.name, head)
}

/// Where a value ends, in quotes or without.
pub fn end(text: &[u8], start: usize, quote: Option<&Quote>) -> usize {
    quote.map_or_else(|| bare_end(text, start), |quote| quote.end(text, start))
}

/// Where a value without quotes ends.
fn bare_end(text: &[u8], start: usize) -> usize {
    let rest = &text[start..];
    let end = (0..rest.len()).find(|at| is_bare_end(&rest[*at..])).unwrap_or(rest.len());
    // What closes a bracket that is not its own is not the value's.
    let opens = [(b'(', b')'), (b'[', b']'), (b'{', b'}')].map(|(open, close)| (close, rest[..end].contains(&open)));
    let is_after = |byte: &u8| b",;.\\".contains(byte) || opens.contains(&(*byte, false));
    start + rest[..end].iter().rposition(|byte| !is_after(byte)).map_or(0, |last| last + 1)
}

/// Passwords contain `&`, `;` and `'`, so these end a value only before what looks like the next one.
fn is_bare_end(rest: &[u8]) -> bool {
    match rest {
        [byte, ..] if is_space(*byte) => true,
        [b'\\', b'n' | b'r' | b't', next @ ..] => is_next(next),
        [b'&' | b';' | b',' | b'|', next @ ..] => next.first() == rest.first() || is_next(next),
        [b'"' | b'\'' | b'`', next @ ..] => next.first().is_none_or(|next| !is_alphanumeric(*next)),
        _ => false,
    }
}

/// `user=…`, or the end of what was before.
fn is_next(rest: &[u8]) -> bool {
    let name = near(rest, 0, is_dotted).len();
    match rest.get(name) {
        Some(b'=' | b':') => name > 0,
        Some(b'"' | b'\'' | b'`' | b'\\' | b'{' | b'}' | b')' | b']') => name == 0,
        Some(byte) => name == 0 && is_space(*byte),
        None => name == 0,
    }
}

#[cfg(test)]
mod tests {
    use crate::secrets::check::assert_hidden;

    #[test]
    fn a_value_without_quotes_ends_before_the_next() {
        assert_hidden(&[
            "K_TOKEN=⟦abc⟧; curl x",
            "K_TOKEN=⟦abc⟧&&curl x",
            "K_TOKEN=⟦abc⟧ curl -H \"Authorization: Bearer $K_TOKEN\" x",
            "Server=x;Password=⟦abc⟧;Database=y",
            "AccountKey=⟦abc+/==⟧;EndpointSuffix=core",
            "https://h/?access_token=⟦abc⟧&user=me",
            "f(token=⟦abc⟧, user=1)",
            "token=⟦abc⟧,user=bob",
            "PASSWORD=⟦hunter2⟧\\nUSER=bob",
            "password: ⟦hunter2⟧.",
        ]);
    }

    #[test]
    fn a_value_may_look_like_anything() {
        assert_hidden(&[
            "password: ⟦Summer2024!⟧ ok",
            "password: ⟦don't4get⟧ ok",
            "Password: ⟦the⟧",
            "PASSWORD=⟦P4ss&w0rd,x;y!⟧ x",
            "aws_secret_access_key = ⟦/JalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY⟧",
            "das Paßwort, password: ⟦pässwörd⟧ wörks",
            "password: ⟦{x9kq!⟧",
            "password=⟦new-pass⟧",
            "password=⟦x.secret-2⟧",
            "PASSWORD=⟦Ab(9z⟧ run (now)",
        ]);
    }
}
