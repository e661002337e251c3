//! The value of a name: where it begins, whether it is a secret, and where it ends.
//!
//! Whatever is not plainly something else is a secret: better a word hidden too many than a password shown. So the
//! questions here are what is none: code, a sentence that goes on, a placeholder. What links a name to a value is for
//! `announced`.

use memchr::{memchr, memmem};

use super::Secret;
use super::announced::private_key;
use super::kinds::{SHORTEST, is_random};
use super::quote::Quote;
use super::text::{
    NEAR, is_alphanumeric, is_blank, is_capital, is_digit, is_dotted, is_encoded, is_hex, is_listed, is_login,
    is_space, is_word, looked, near, run_end,
};
use super::words::{
    AUTHORIZATION, CODE, COOKIE, NAMES, NAMES_OF_PATHS, PATHS, PLACEHOLDERS, PROSE, SCHEMES, Sure, TALK,
};

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
    pub needs: Needs,
}

/// What a value has to look like to be hidden.
#[derive(Clone, Copy, PartialEq)]
pub enum Needs {
    Nothing,
    /// Letters with digits or signs among them, or quotes around it.
    Said,
    /// Letters and digits, that many in a row.
    Random(usize),
    /// As long as keys are.
    Long,
}

impl Needs {
    fn are_met(self, value: &[u8], is_quoted: bool) -> bool {
        let value = looked(&value[..value.len().min(NEAR)]);
        // An id of a session, or the beginning of one.
        let is_id = value.get(8) == Some(&b'-') && value.iter().all(|byte| is_hex(*byte) || *byte == b'-');
        // Something with a name of its own: a path, a test.
        let is_part = is_id
            || value.iter().all(|byte| byte.is_ascii_lowercase() || b"_0123456789".contains(byte))
                && value.contains(&b'_')
            || value.contains(&b'/')
            || memmem::find(value, b"::").is_some()
            || value.contains(&b'(');
        match self {
            Needs::Nothing => true,
            Needs::Said if is_quoted => !value.iter().any(|byte| is_space(*byte)) && !is_listed(CODE, value),
            Needs::Said => !is_part && (is_random(value, SHORTEST) || is_strong(value)) || is_long(value),
            Needs::Random(shortest) => !is_part && is_random(value, shortest) || is_long(value),
            Needs::Long => is_long(value),
        }
    }
}

/// Whether letters, digits and signs are mixed as only in a password: `p@$$w0rd`.
fn is_strong(value: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    let has_sign = value[..value.len().saturating_sub(1)].iter().any(|byte| b"!#$%^&*+=~?".contains(byte));
    value.len() >= SHORTEST && has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit) && has_sign
}

/// Whether this is as long as keys are, and as random.
fn is_long(value: &[u8]) -> bool {
    const LONG: usize = 20;
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    let runs = || value.split(|byte| !is_alphanumeric(*byte)).map(<[u8]>::len);
    let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && runs().any(|run| run > LONG / 2);
    value.len() >= LONG
        && value.iter().all(|byte| is_encoded(*byte) || *byte == b':')
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && (is_mixed || runs().any(|run| run >= LONG))
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
    let is_talk =
        if has_scheme { is_listed(TALK, word) } else { before.name == AUTHORIZATION && !is_random(word, SHORTEST) };
    if is_talk || is_other(text, start, quote.as_ref(), before) {
        return None;
    }
    if before.name == COOKIE {
        return cookies(text, start);
    }
    // Only what is sure to be hidden is followed to its end: that keeps the time linear.
    let head = &text[..text.len().min(start + NEAR + 1)];
    let head = &head[start..end(head, start, quote.as_ref())];
    if !before.needs.are_met(head, quote.is_some()) || is_placeholder(head) || quote.is_some() && is_label(head) {
        return None;
    }
    let end = end(text, start, quote.as_ref());
    // A private key in it may be longer than the value seems to be.
    let block = memmem::find(looked(&text[start..end]), b"-----BEGIN");
    let block = block.and_then(|block| private_key(text, start + block));
    Some(start..block.map_or(end, |block| block.end.max(end)))
}

/// The argument that begins here, without its quotes.
pub fn argument(text: &[u8], at: usize) -> Secret {
    let quote = Quote::opened(text, at);
    let start = quote.as_ref().map_or(at, |quote| quote.inside);
    start..end(text, start, quote.as_ref())
}

/// What follows a mark in the argument that begins here, unless it stands for something else.
pub fn secret_argument(text: &[u8], at: usize, mark: &str) -> Option<Secret> {
    let head = &text[..text.len().min(at + NEAR + 1)];
    let argued = argument(head, at);
    let start = argued.start + memmem::find(&head[argued.clone()], mark.as_bytes())? + mark.len();
    (!is_placeholder(&head[start..argued.end])).then(|| start..argument(text, at).end)
}

/// Over the scheme and the blanks in `Bearer …`.
fn after_scheme(text: &[u8], at: usize, name: &str) -> Option<usize> {
    let word = near(text, at, is_word);
    let end = at + word.len();
    let start = run_end(text, end, is_blank);
    let schemes = if name == AUTHORIZATION { SCHEMES } else { "bearer" };
    (start > end && is_listed(schemes, word)).then_some(start)
}

/// The values in `session=…; theme=dark`, from the first on.
fn cookies(text: &[u8], start: usize) -> Option<Secret> {
    let first = start + near(text, start, is_dotted).len() + 1;
    let head = &text[..text.len().min(first + NEAR + 1)];
    let values = head.get(first..cookies_end(head, start)).filter(|_| text[first - 1] == b'=')?;
    (is_random(values, SHORTEST) && !is_placeholder(values)).then(|| first..cookies_end(text, start))
}

fn cookies_end(text: &[u8], start: usize) -> usize {
    let end = run_end(text, start, |byte| is_login(byte) && byte != b';');
    let next = run_end(text, (end + 1).min(text.len()), is_blank);
    let has_next = text.get(end) == Some(&b';') && text.get(next + near(text, next, is_dotted).len()) == Some(&b'=');
    if has_next { cookies_end(text, next) } else { end }
}

/// Whether what begins here is plainly no value.
fn is_other(text: &[u8], start: usize, quote: Option<&Quote>, before: &Before) -> bool {
    let head = near(text, start, |byte| byte != b'\n');
    let is_other = match quote {
        Some(quote) => !before.is_quoted && quote.is_closing(text),
        None if before.is_shell => head.starts_with(b"$("),
        None => before.wants_quotes || is_code(head) || before.is_prose && is_prose(head),
    };
    let is_path = || PATHS.iter().any(|path| head.starts_with(path.as_bytes()));
    let word = near(head, 0, is_login);
    is_other || is_path() && (NAMES_OF_PATHS.contains(&before.name) || !is_random(word, SHORTEST))
}

/// Where a value ends, in quotes or without.
fn end(text: &[u8], start: usize, quote: Option<&Quote>) -> usize {
    quote.map_or_else(|| bare_end(text, start), |quote| quote.end(text, start))
}

/// Where a value without quotes ends.
fn bare_end(text: &[u8], start: usize) -> usize {
    let rest = &text[start..];
    let end = (0..rest.len()).find(|at| is_bare_end(&rest[*at..])).unwrap_or(rest.len());
    // What closes a bracket that is not its own is not the value's.
    let value = looked(&rest[..end]);
    let opens = [(b'(', b')'), (b'[', b']'), (b'{', b'}')].map(|(open, close)| (close, value.contains(&open)));
    let is_after = |byte: &u8| b",;.\\".contains(byte) || opens.contains(&(*byte, false));
    start + value.iter().rposition(|byte| !is_after(byte)).map_or(0, |last| last + 1)
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
        None | Some(b'"' | b'\'' | b'`' | b'\\' | b'{' | b'}' | b')' | b']') => name == 0,
        Some(byte) => name == 0 && is_space(*byte),
    }
}

/// Whether this is plainly no value: a type or a statement, another name with its value, an expression.
pub fn is_code(head: &[u8]) -> bool {
    let (word, rest) = first_word(head);
    let next_is = |is: fn(u8) -> bool| rest.get(1).is_some_and(|next| is(*next));
    let is_whole = match rest.first() {
        Some(b'.') => !next_is(is_alphanumeric),
        Some(b'(' | b':') => false,
        _ => true,
    };
    let is_letters = !word.is_empty() && word.iter().all(u8::is_ascii_alphabetic);
    let is_pair = is_letters && rest.first() == Some(&b':') && next_is(is_space);
    is_whole && (is_listed(CODE, word) || is_variable(word)) || is_pair || is_expression(head)
}

/// A variable or a type that is called like what it holds: `dbPassword`, `user_token`, `Token`, but not `supersecret`.
fn is_variable(word: &[u8]) -> bool {
    let Some(name) = name_at_end(word) else { return false };
    let starts = word.len() - name.len().min(word.len());
    let is_apart = starts == 0
        || word[starts - 1] == b'_'
        || word[starts].is_ascii_uppercase() && word[starts - 1].is_ascii_lowercase();
    is_apart && word.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
}

/// Whether this is a sentence that goes on: `it is`, `it's`.
fn is_prose(head: &[u8]) -> bool {
    let (word, rest) = first_word(head);
    let goes_on = match rest {
        [b' ', next, ..] => is_alphanumeric(*next) || !next.is_ascii() || b".`/$<\"".contains(next),
        [b'\'', _, b' ', ..] | [b'\'', _, _, b' ', ..] => true,
        _ => false,
    };
    goes_on && is_listed(PROSE, word)
}

fn first_word(head: &[u8]) -> (&[u8], &[u8]) {
    let is_end = |byte: &u8| is_space(*byte) || b",;)]}<>|[=?(.:\"'".contains(byte);
    head.split_at(head.iter().position(is_end).unwrap_or(head.len()))
}

/// A call, an index, a path that ends in the name of a secret, something in brackets, a substitution.
fn is_expression(head: &[u8]) -> bool {
    let is_open = |byte: Option<&u8>| byte.is_none_or(|byte| is_space(*byte) || b"([{\"'`".contains(byte));
    let closes = |rest: &[u8], close: u8| is_open(rest.first()) || memchr(close, rest).is_some();
    let path = near(head, 0, |byte| is_alphanumeric(byte) || b"_.:$?!<>&".contains(&byte));
    match (head, &head[path.len()..]) {
        ([b'$', b'(' | b'{', ..], _) => true,
        ([b'<', rest @ ..], _) => memchr(b'>', rest).is_some(),
        ([b'[', rest @ ..], _) => closes(rest, b']'),
        ([b'{', rest @ ..], _) => closes(rest, b'}'),
        (_, [b'(', rest @ ..]) => closes(rest, b')'),
        (_, [b'[', b'0'..=b'9', b']', ..] | [b'[', b'"' | b'\'' | b':' | b'$' | b'\\', ..]) => true,
        (_, rest) => {
            let is_over = rest.first().is_none_or(|byte| is_space(*byte) || b",;)]}\"'".contains(byte));
            let path = path.strip_suffix(b"!").unwrap_or(path);
            is_over && path.contains(&b'.') && path.iter().all(|byte| is_dotted(*byte)) && name_at_end(path).is_some()
        }
    }
}

/// The name that a text ends with, if its value is sure to be a secret.
fn name_at_end(text: &[u8]) -> Option<&'static str> {
    NAMES.iter().find(|(name, sure)| *sure != Sure::Maybe && ends_in(text, name)).map(|(name, _)| *name)
}

/// Whether a text ends in this name, in whatever case, with a blank as in [`NAMES`].
pub fn ends_in(text: &[u8], name: &str) -> bool {
    let mut rest = text;
    for wanted in name.bytes().rev() {
        rest = match rest {
            [before @ .., b'_' | b'-' | b'.' | b' '] if wanted == b' ' => before,
            _ if wanted == b' ' => rest,
            [before @ .., last] if last.to_ascii_lowercase() == wanted => before,
            _ => return false,
        };
    }
    true
}

/// Whether a value in quotes is the name of a type or what a field is called: `"token": "string"`, `"Token"`.
fn is_label(value: &[u8]) -> bool {
    is_listed(CODE, value) || NAMES.iter().any(|(name, _)| name.as_bytes().eq_ignore_ascii_case(value))
}

/// What a placeholder is wrapped in.
const WRAPS: &[(&str, &str)] = &[("${", "}"), ("$(", ")"), ("#{", "}"), ("{", "}"), ("<", ">"), ("[", "]"), ("%", "%")];

/// Whether a whole value stands for something else: `$TOKEN`, `<password>`, `********`, `%s`, nothing. It is what keeps
/// `[redacted]` as it is the second time.
pub fn is_placeholder(value: &[u8]) -> bool {
    if value.len() > NEAR {
        return false;
    }
    let Ok(text) = std::str::from_utf8(value) else { return false };
    let mut chars = text.chars();
    let is_row = chars.next().is_none_or(|first| !first.is_alphanumeric() && chars.all(|char| char == first));
    let is_masked = text.len() >= text.trim_end_matches(['x', 'X', '*', '.', '-']).len() + 4;
    let is_wrapped =
        WRAPS.iter().any(|(open, close)| text.strip_prefix(open).is_some_and(|inside| inside.ends_with(close)));
    let begins = |start: &str| text.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
    let is_asked = !text.bytes().any(is_digit) && PLACEHOLDERS.iter().any(|start| begins(start));
    // `$DB_HOST`, `$token`, but not `$ecret`; and `:token` or `@token` in a query.
    let is_variable = text.strip_prefix('$').is_some_and(|name| {
        name.bytes().all(|byte| is_capital(byte) || byte == b'_')
            || name.bytes().all(|byte| is_alphanumeric(byte) || byte == b'_') && name_at_end(name.as_bytes()).is_some()
    });
    let is_parameter =
        text.strip_prefix([':', '@']).is_some_and(|name| NAMES.iter().any(|(listed, _)| *listed == name));
    is_row || is_masked || is_wrapped || is_asked || is_variable || is_parameter || matches!(value, [b'%', _])
}
