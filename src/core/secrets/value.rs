//! The value of a name: where it begins, whether it is a secret, and where it ends.
//!
//! Whatever is not plainly something else is a secret: better a word hidden too many than a password shown. So the
//! questions here are what is none: code, a sentence that goes on, a placeholder. What links a name to a value is for
//! `announced`.

use std::sync::LazyLock;

use memchr::{memchr, memmem};

use super::Secret;
use super::announced::private_key;
use super::kinds::{SHORTEST, is_random};
use super::quote::Quote;
use super::table::{
    AUTHORIZATION, CODE, COOKIE, NAMES, NAMES_OF_PATHS, PATHS, PLACEHOLDERS, PROSE, ROOTS, SCHEMES,
    Sure, TALK, WRAPPERS,
};
use super::text::{
    NEAR, after, is_alphanumeric, is_capital, is_digit, is_dotted, is_encoded, is_hex, is_login,
    is_space, is_word, looked, near, over_blanks, run_end,
};

/// The context before a value.
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

impl Before {
    /// A value in a sentence.
    pub fn plain(name: &'static str, needs: Needs) -> Before {
        Before {
            name,
            is_quoted: true,
            wants_quotes: false,
            is_prose: true,
            is_shell: false,
            needs,
        }
    }
}

/// The least that a value must look like to be hidden.
#[derive(Clone, Copy, PartialEq)]
pub enum Needs {
    Nothing,
    /// Anything in quotes, or more than a word: `token: Comma` is none.
    NoWord,
    /// Anything but the name of a type: `apiKey: KeyObject`.
    NoType,
    /// Letters with digits or signs among them, or quotes around it.
    Said,
    /// Letters and digits, that many in a row.
    Random(usize),
    /// Capitals, small letters and digits or signs, as in a password.
    Mixed,
    /// As long as keys are.
    Long,
}

impl Needs {
    pub(crate) fn are_met(self, value: &[u8], is_quoted: bool) -> bool {
        let value = looked(&value[..value.len().min(NEAR)]);
        // An id of a session, or the beginning of one.
        let is_id = || {
            value.get(8) == Some(&b'-') && value.iter().all(|byte| is_hex(*byte) || *byte == b'-')
        };
        // Something with a name of its own: a path, a test.
        let is_part = || {
            is_id()
                || value
                    .iter()
                    .all(|byte| byte.is_ascii_lowercase() || b"_0123456789".contains(byte))
                    && value.contains(&b'_')
                || is_slug(value)
                || is_pair(value)
                || value.contains(&b'/')
                || memmem::find(value, b"::").is_some()
                || value.contains(&b'(')
        };
        match self {
            Needs::Nothing => true,
            Needs::NoWord if is_quoted => !value.contains(&b' ') || is_random(value, SHORTEST),
            Needs::NoWord => !value.iter().all(u8::is_ascii_alphabetic) && !is_count(value),
            Needs::NoType => {
                let is_letters = value.iter().all(u8::is_ascii_alphabetic);
                let is_type = value.first().is_some_and(u8::is_ascii_uppercase)
                    && value.iter().any(u8::is_ascii_lowercase);
                is_quoted || !(is_count(value) || is_letters && is_type)
            }
            Needs::Mixed if is_quoted => {
                !is_part() && (is_random(value, SHORTEST) || is_strong(value))
            }
            Needs::Mixed => !is_part() && is_mixed(value) || is_long(value),
            Needs::Said if is_quoted => {
                !value.iter().any(|byte| is_space(*byte)) && !CODE.has(value)
            }
            Needs::Said => {
                !is_part() && (is_random(value, SHORTEST) || is_strong(value)) || is_long(value)
            }
            Needs::Random(shortest) => !is_part() && is_random(value, shortest) || is_long(value),
            Needs::Long => is_long(value),
        }
    }
}

/// True if this is the next of several: `attempts=3`.
fn is_pair(value: &[u8]) -> bool {
    let name = value
        .iter()
        .take_while(|byte| byte.is_ascii_lowercase() || **byte == b'_')
        .count();
    name >= 3 && matches!(value[name..], [b'=', next, ..] if next != b'=')
}

/// True if this is a small number: `max_token => 400`.
fn is_count(value: &[u8]) -> bool {
    value.len() <= 4 && value.iter().all(u8::is_ascii_digit)
}

/// True if letters, digits and signs are mixed as only in a password: `p@$$w0rd`.
fn is_strong(value: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    let has_sign = value[..value.len().saturating_sub(1)]
        .iter()
        .any(|byte| b"!#$%^&*+=~?".contains(byte));
    // `Winter_2025`, `Rainy-Day-7`
    let is_joined =
        value.len() >= SHORTEST + 2 && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let is_title = |part: &&[u8]| {
        part.len() >= 3 && part[0].is_ascii_uppercase() && part.iter().all(u8::is_ascii_alphabetic)
    };
    let has_titles = || value.split(|byte| *byte == b'-').filter(is_title).count() >= 2;
    let has_sign =
        has_sign || is_joined && (value.contains(&b'_') || value.contains(&b'@') || has_titles());
    value.len() >= SHORTEST && has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit) && has_sign
}

/// True if it has what password rules ask for: `Winter2025`, `kJ8#mPq2`.
fn is_mixed(value: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    let is_cased = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    value.len() >= SHORTEST + 2 && is_cased && is_random(value, SHORTEST) || is_strong(value)
}

/// True if these are small words with a number among them: `linux-cargo-v3-9a8b7c6d`.
fn is_slug(value: &[u8]) -> bool {
    let is_small = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    let is_word = |part: &[u8]| part.len() >= 3 && part.iter().all(u8::is_ascii_lowercase);
    value.iter().all(is_small)
        && value
            .split(|byte| *byte == b'-')
            .filter(|part| is_word(part))
            .count()
            >= 2
}

/// True if this is as long as keys are, and as random.
fn is_long(value: &[u8]) -> bool {
    const KEY_LENGTH: usize = 20;
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    let runs = || value.split(|byte| !is_alphanumeric(*byte)).map(<[u8]>::len);
    let is_mixed = has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && runs().any(|run| run > KEY_LENGTH / 2);
    value.len() >= KEY_LENGTH
        && value.iter().all(|byte| is_encoded(*byte) || *byte == b':')
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && (is_mixed || runs().any(|run| run >= KEY_LENGTH))
}

/// The value that begins here after blanks, without its quotes and its scheme, if it has to be hidden.
pub fn hidden(text: &[u8], at: usize, before: &Before) -> Option<Secret> {
    let over_scheme = |at| after_scheme(text, at, before.name).unwrap_or(at);
    let first = over_blanks(text, at);
    let bare = over_scheme(after_wrapper(text, first).unwrap_or(first));
    let quote = Quote::opened(text, bare);
    let inside = quote.as_ref().map_or(bare, |quote| quote.inside);
    let start = over_scheme(inside);
    let has_scheme = bare > first || start > inside;

    let word = near(text, start, |byte| is_login(byte) && byte != b',');
    let is_talk = if has_scheme {
        TALK.has(word)
    } else {
        before.name == AUTHORIZATION && !is_random(word, SHORTEST)
    };
    if is_talk || is_other(text, start, quote.as_ref(), before) {
        return None;
    }
    if before.name == COOKIE {
        return cookies(text, start);
    }
    // Only what is sure to be hidden is followed to its end: that keeps the time linear.
    let head = &text[..text.len().min(start + NEAR + 1)];
    let head = &head[start..end(head, start, quote.as_ref())];
    let is_cut = || {
        text.get(start + head.len())
            .is_some_and(|next| is_unspaced(*next))
    };
    let needs = match before.needs {
        _ if has_scheme => Needs::Nothing,
        Needs::Nothing | Needs::NoWord | Needs::NoType if quote.is_none() && is_cut() => {
            Needs::Said
        }
        needs => needs,
    };
    if !needs.are_met(head, quote.is_some())
        || is_placeholder(head)
        || quote.is_some() && is_label(head)
    {
        return None;
    }
    let end = end(text, start, quote.as_ref());
    // The beginning of a key, for those who know the rest: `sk-...`
    let is_begun = end - start <= 12
        && ["...", "…"]
            .iter()
            .any(|dots| text[end..].starts_with(dots.as_bytes()));
    if is_begun && !head.iter().any(u8::is_ascii_digit) {
        return None;
    }
    let end = if quote.is_none() {
        grouped_end(text, start, end)
    } else {
        end
    };
    // A private key in it may be longer than the value seems to be.
    let block = memmem::find(looked(&text[start..end]), b"-----BEGIN");
    let block = block.and_then(|block| private_key(text, start + block));
    Some(start..block.map_or(end, |block| block.end.max(end)))
}

/// The end of a code that is written in groups of four: `JBSW Y3DP EHPK 3PXP`.
fn grouped_end(text: &[u8], start: usize, first: usize) -> usize {
    const GROUP: usize = 4;
    let mut end = first;
    while end - start < NEAR
        && let Some([b' ', group @ ..]) = text.get(end..end + 1 + GROUP)
        && group.iter().all(|byte| is_alphanumeric(*byte))
        && !text
            .get(end + 1 + GROUP)
            .is_some_and(|next| is_alphanumeric(*next))
    {
        end += 1 + GROUP;
    }
    let is_code = first - start == GROUP && end - first >= 2 * (1 + GROUP);
    if is_code { end } else { first }
}

/// The argument that begins here, without its quotes.
pub fn argument(text: &[u8], at: usize) -> Secret {
    let quote = Quote::opened(text, at);
    let start = quote.as_ref().map_or(at, |quote| quote.inside);
    start..end(text, start, quote.as_ref())
}

/// The text after a mark in the argument that begins here, unless it is a placeholder.
pub(crate) fn secret_argument(text: &[u8], at: usize, mark: &str) -> Option<Secret> {
    let head = &text[..text.len().min(at + NEAR + 1)];
    let argued = argument(head, at);
    let start = argued.start + memmem::find(&head[argued.clone()], mark.as_bytes())? + mark.len();
    (!is_placeholder(&head[start..argued.end])).then(|| start..argument(text, at).end)
}

/// Over the scheme and the blanks in `Bearer …`.
fn after_scheme(text: &[u8], at: usize, name: &str) -> Option<usize> {
    let word = near(text, at, is_word);
    let end = at + word.len();
    let start = over_blanks(text, end);
    let is_scheme =
        name == AUTHORIZATION && SCHEMES.has(word) || word.eq_ignore_ascii_case(b"bearer");
    (start > end && is_scheme).then_some(start)
}

/// Over what makes a value of a text in quotes: `[]byte("…")`.
fn after_wrapper(text: &[u8], at: usize) -> Option<usize> {
    let open = WRAPPERS
        .iter()
        .find_map(|wrapper| after(text, at, wrapper))?;
    Quote::opened(text, open).map(|_| open)
}

/// The values in `session=…; theme=dark`, from the first on.
fn cookies(text: &[u8], start: usize) -> Option<Secret> {
    let first = start + near(text, start, is_dotted).len() + 1;
    let head = &text[..text.len().min(first + NEAR + 1)];
    let values = head
        .get(first..cookies_end(head, start))
        .filter(|_| text[first - 1] == b'=')?;
    (is_random(values, SHORTEST) && !is_placeholder(values))
        .then(|| first..cookies_end(text, start))
}

fn cookies_end(text: &[u8], start: usize) -> usize {
    let end = run_end(text, start, |byte| is_login(byte) && byte != b';');
    let next = over_blanks(text, (end + 1).min(text.len()));
    let has_next = text.get(end) == Some(&b';')
        && text.get(next + near(text, next, is_dotted).len()) == Some(&b'=');
    if has_next {
        cookies_end(text, next)
    } else {
        end
    }
}

/// True if what begins here is plainly no value.
fn is_other(text: &[u8], start: usize, quote: Option<&Quote>, before: &Before) -> bool {
    let head = near(text, start, |byte| byte != b'\n');
    let is_other = match quote {
        Some(quote) => !before.is_quoted && quote.is_closing(text),
        None if before.is_shell => {
            head.starts_with(b"$(") || head.starts_with(b"<") && memchr(b'>', head).is_some()
        }
        None => before.wants_quotes || is_code(head) || before.is_prose && is_prose(head),
    };
    let is_path = || PATHS.iter().any(|path| head.starts_with(path.as_bytes()));
    let word = near(head, 0, is_login);
    is_other || is_path() && (NAMES_OF_PATHS.contains(&before.name) || !is_random(word, SHORTEST))
}

/// The end of a value, in quotes or without.
fn end(text: &[u8], start: usize, quote: Option<&Quote>) -> usize {
    quote.map_or_else(|| bare_end(text, start), |quote| quote.end(text, start))
}

/// The end of a value without quotes.
fn bare_end(text: &[u8], start: usize) -> usize {
    let rest = &text[start..];
    let end = (0..rest.len())
        .find(|at| is_bare_end(&rest[*at..]))
        .unwrap_or(rest.len());
    // What closes a bracket that is not its own is not the value's.
    let value = looked(&rest[..end]);
    let value = value.strip_suffix("…".as_bytes()).unwrap_or(value);
    let opens = [(b'(', b')'), (b'[', b']'), (b'{', b'}')]
        .map(|(open, close)| (close, value.contains(&open)));
    let is_after = |byte: &u8| b",;.\\".contains(byte) || opens.contains(&(*byte, false));
    start
        + value
            .iter()
            .rposition(|byte| !is_after(byte))
            .map_or(0, |last| last + 1)
}

/// True if a character begins of a language that writes no blanks: no password has one, and the words after a value follow
/// it at once.
fn is_unspaced(byte: u8) -> bool {
    matches!(byte, 0xE3..=0xED | 0xEF)
}

/// Passwords contain `&`, `;` and `'`, so these end a value only before what looks like the next one.
fn is_bare_end(rest: &[u8]) -> bool {
    match rest {
        [byte, ..] if is_space(*byte) || is_unspaced(*byte) => true,
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

/// True if this is plainly no value: a type or a statement, another name with its value, an expression.
pub(crate) fn is_code(head: &[u8]) -> bool {
    let (word, rest) = first_word(head);
    let next_is = |is: fn(u8) -> bool| rest.get(1).is_some_and(|next| is(*next));
    let is_whole = match rest.first() {
        Some(b'.') => !next_is(is_alphanumeric),
        Some(b'(') => false,
        Some(b':') => rest.len() == 1,
        _ => true,
    };
    let is_letters = !word.is_empty() && word.iter().all(u8::is_ascii_alphabetic);
    let is_pair = is_letters && rest.first() == Some(&b':') && next_is(is_space);
    is_whole && (CODE.has(word) || is_variable(word)) || is_pair || is_expression(head)
}

/// A variable or a type that is called like what it holds: `dbPassword`, `user_token`, `Token`, but not `supersecret`.
fn is_variable(word: &[u8]) -> bool {
    let Some(name) = name_at_end(word) else {
        return false;
    };
    let starts = word.len() - name.len().min(word.len());
    let is_apart = starts == 0
        || word[starts - 1] == b'_'
        || word[starts].is_ascii_uppercase() && word[starts - 1].is_ascii_lowercase();
    is_apart
        && word
            .iter()
            .all(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
}

/// True if this is a sentence that goes on: `it is`, `it's`.
fn is_prose(head: &[u8]) -> bool {
    let (word, rest) = first_word(head);
    let goes_on = match rest {
        [b' ', next, ..] => is_alphanumeric(*next) || !next.is_ascii() || b".`/$<\"".contains(next),
        [b'\'', _, b' ', ..] | [b'\'', _, _, b' ', ..] => true,
        _ => false,
    };
    goes_on && PROSE.has(word)
}

fn first_word(head: &[u8]) -> (&[u8], &[u8]) {
    let is_end = |byte: &u8| is_space(*byte) || b",;)]}<>|[=?(.:\"'".contains(byte);
    head.split_at(head.iter().position(is_end).unwrap_or(head.len()))
}

/// A call, an index, a path that ends in the name of a secret, something in brackets, a substitution.
fn is_expression(head: &[u8]) -> bool {
    let is_open =
        |byte: Option<&u8>| byte.is_none_or(|byte| is_space(*byte) || b"([{\"'`".contains(byte));
    let closes = |rest: &[u8], close: u8| is_open(rest.first()) || memchr(close, rest).is_some();
    let path = near(head, 0, |byte| {
        is_alphanumeric(byte) || b"_.:$?!<>&".contains(&byte)
    });
    match (head, &head[path.len()..]) {
        ([b'$', b'(' | b'{', ..], _) => true,
        _ if is_reference(head) => true,
        ([b'<', rest @ ..], _) => memchr(b'>', rest).is_some(),
        ([b'[', rest @ ..], _) => closes(rest, b']'),
        ([b'{', rest @ ..], _) => closes(rest, b'}'),
        (_, [b'(', rest @ ..]) => closes(rest, b')'),
        // A call with types: `useState<string | null>(null)`.
        _ if memchr(b'<', path).is_some_and(|at| at > 0) && memmem::find(head, b">(").is_some() => {
            true
        }
        (_, [b'[', b'0'..=b'9', b']', ..] | [b'[', b'"' | b'\'' | b':' | b'$' | b'\\', ..]) => true,
        (_, rest) => {
            let is_over = rest
                .first()
                .is_none_or(|byte| is_space(*byte) || b",;)]}\"'".contains(byte));
            let path = path.strip_suffix(b"!").unwrap_or(path);
            let root = path.split(|byte| *byte == b'.').next().unwrap_or_default();
            let is_known = || name_at_end(path).is_some() || ROOTS.has(root);
            is_over
                && path.contains(&b'.')
                && path.iter().all(|byte| is_dotted(*byte))
                && is_known()
        }
    }
}

/// A variable, a path, an index or a macro: `$url->password`, `$value;`, `*semi`, `token::Brace`, `tokens[index]`, `Token![fn]`.
fn is_reference(head: &[u8]) -> bool {
    let is_word = |byte: u8| is_alphanumeric(byte) || byte == b'_';
    let sign = head.first().filter(|first| b"$&*\\".contains(first));
    let name = near(head, usize::from(sign.is_some()), |byte| {
        is_word(byte) || byte == b':'
    });
    let rest = &head[usize::from(sign.is_some()) + name.len()..];
    let is_over = rest.first().is_none_or(|byte| b" ,;)".contains(byte));
    let is_it = match sign {
        Some(b'$') => rest.starts_with(b"->") || rest.starts_with(b";"),
        Some(_) => is_over && name.iter().all(u8::is_ascii_alphabetic),
        None if is_over => memmem::find(name, b"::").is_some(),
        None => rest.starts_with(b"![") || matches!(rest, [b'[', next, ..] if is_word(*next)),
    };
    is_it && name.first().is_some_and(u8::is_ascii_alphabetic)
}

/// The name that a text ends with, if its value is sure to be a secret.
pub(crate) fn name_at_end(text: &[u8]) -> Option<&'static str> {
    let sure = ending(text).iter().filter(|(_, sure)| !sure.is_doubtful());
    sure.map(|(name, _)| *name).find(|name| ends_in(text, name))
}

/// The names that end with the last byte of a text, in whatever case.
fn ending(text: &[u8]) -> &'static [(&'static str, Sure)] {
    static BY_LAST: LazyLock<Vec<Vec<(&str, Sure)>>> = LazyLock::new(|| {
        let mut names = vec![Vec::new(); 256];
        for (kind, name) in NAMES
            .iter()
            .flat_map(|kind| kind.names.iter().map(move |name| (kind, *name)))
        {
            names[name.as_bytes()[name.len() - 1] as usize].push((name, kind.sure));
        }
        names
    });
    text.last()
        .map_or(&[], |last| &BY_LAST[last.to_ascii_lowercase() as usize])
}

/// The certainty of the name that a text is.
pub(crate) fn name_is(text: &[u8]) -> Option<Sure> {
    let is_it = |name: &str| name.len() == text.len() && ends_in(text, name);
    ending(text)
        .iter()
        .find(|(name, _)| is_it(name))
        .map(|(_, sure)| *sure)
}

/// True if a text ends in this name, in whatever case, with a blank as in [`NAMES`].
pub(crate) fn ends_in(text: &[u8], name: &str) -> bool {
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

/// True if a value in quotes is the name of a type or what a field is called: `"token": "string"`, `"Token"`.
fn is_label(value: &[u8]) -> bool {
    // Also the first of several: `required|string`.
    let first = value.split(|byte| *byte == b'|').next().unwrap_or_default();
    CODE.has(first) || name_is(value).is_some() || is_sentence(value)
}

/// True if this is what a user reads: `"resetPassword": "Reset your password"`, `"At least 12 characters"`.
fn is_sentence(value: &[u8]) -> bool {
    let is_begun = value
        .first()
        .is_some_and(|first| first.is_ascii_uppercase() || !first.is_ascii());
    let words = || {
        value
            .split(|byte| b" .,!?:".contains(byte))
            .filter(|word| !word.is_empty())
    };
    // A name may have a blank in it.
    let ends =
        (1..=value.len()).filter(|end| value.get(*end).is_none_or(|next| b" .,!?:".contains(next)));
    let names_one = || {
        ends.into_iter()
            .any(|end| name_at_end(&value[..end]).is_some())
    };
    let is_told = || words().nth(2).is_some() && words().any(|word| PROSE.has(word));
    is_begun
        && value.contains(&b' ')
        && !is_random(value, SHORTEST)
        && !is_strong(value)
        && (names_one() || is_told())
}

/// The wrapping of a placeholder.
const WRAPS: &[(&str, &str)] = &[
    ("${", "}"),
    ("$(", ")"),
    ("#{", "}"),
    ("{", "}"),
    ("<", ">"),
    ("[", "]"),
    ("%", "%"),
];

/// True if a whole value stands for something else: `$TOKEN`, `<password>`, `********`, `%s`, nothing. It is what keeps
/// `[redacted]` as it is the second time.
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    if value.len() > NEAR {
        return false;
    }
    let Ok(text) = std::str::from_utf8(value) else {
        return false;
    };
    let mut chars = text.chars();
    let is_row = chars
        .next()
        .is_none_or(|first| !first.is_alphanumeric() && chars.all(|char| char == first));
    let is_masked = text.len() >= text.trim_end_matches(['x', 'X', '*', '.', '-']).len() + 4;
    let is_wrapped = WRAPS.iter().any(|(open, close)| {
        let inside = text
            .strip_prefix(open)
            .and_then(|inside| inside.strip_suffix(close));
        // Maven writes what it encrypted in braces.
        inside.is_some_and(|inside| *open != "{" || !is_random(inside.as_bytes(), 2 * SHORTEST))
    });
    let begins = |start: &str| {
        text.get(..start.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(start))
    };
    let is_asked = !text.bytes().any(is_digit) && PLACEHOLDERS.iter().any(|start| begins(start));
    // `$DB_HOST`, `$token`, but not `$ecret`; and `:token` or `@token` in a query.
    let is_variable = text.strip_prefix('$').is_some_and(|name| {
        name.bytes().all(|byte| is_capital(byte) || byte == b'_')
            || name
                .bytes()
                .all(|byte| is_alphanumeric(byte) || byte == b'_')
                && name_at_end(name.as_bytes()).is_some()
    });
    let is_parameter = text
        .strip_prefix([':', '@'])
        .is_some_and(|name| NAMES.iter().any(|kind| kind.names.contains(&name)));
    is_row
        || is_masked
        || is_wrapped
        || is_asked
        || is_variable
        || is_parameter
        || matches!(value, [b'%', _])
}
