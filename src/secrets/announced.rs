//! Secrets that are known by what stands before them: a name, a flag, a program, an address, the first line of a key.
//!
//! A finder is given where such a thing may begin and says what is hidden, or nothing. The words are data (`words`); where a
//! value ends, and what is none, is for `value` to say.

use memchr::{memchr, memmem, memrchr};

use super::kinds::{SHORTEST, is_random};
use super::quote::Quote;
use super::text::{
    NEAR, after, is_alphanumeric, is_blank, is_capital, is_dash, is_digit, is_dotted, is_line, is_listed, is_login,
    is_space, is_word, looked, near, near_before, run, run_end,
};
use super::value::{self, Before, Needs, ends_in, is_code, is_placeholder};
use super::words::{Form, KNOWN_TO_ALL, LINKS, LINKS_AFTER_VERB, PROGRAMS, READERS, Sure, VERBS};
use super::{REDACTED, Secret};

/// What stands between a name and its value; the longer first.
const SEPARATORS: &[&str] =
    &["===", "==", "=>", ":=", ":-", ":**", "=", ":", "：", "＝", "%3D", "%3d", "%3A", "%3a", "\\u003d"];

/// The value of a name that begins here.
pub fn named(text: &[u8], at: usize, &(name, sure): &(&'static str, Sure)) -> Option<Secret> {
    let (end, sure) = after_name(text, at, name, sure)?;
    if name.ends_with("key") && KNOWN_TO_ALL.split(';').any(|word| ends_in(&text[at.saturating_sub(NEAR)..at], word)) {
        return None;
    }
    // Its value is hidden already, so whatever follows is not.
    let signs = near(text, end, |byte| !is_alphanumeric(byte) && byte != b'[').len();
    if text[end + signs..].starts_with(REDACTED.as_bytes()) {
        return None;
    }
    let is_closer = |byte: u8| is_blank(byte) || b"\"'`[]*\\?!+".contains(&byte);
    let closed = end + run(text, end, is_closer).len();
    assigned(text, at, end..closed, name, sure)
        .or_else(|| element(text, end, sure))
        .or_else(|| cell(text, closed, name))
        .or_else(|| flag_argument(text, at, end, name, sure))
        .or_else(|| said(text, at, end, name, sure))
        .or_else(|| adjacent(text, end, name, sure))
}

/// The position after a name, and how sure it still is with what belongs to it: `PASSWORD_2`, `STRIPE_KEY_LIVE`.
fn after_name(text: &[u8], at: usize, name: &str, sure: Sure) -> Option<(usize, Sure)> {
    let mut end = at;
    for wanted in name.bytes() {
        match text.get(end)? {
            b'_' | b'-' | b'.' | b' ' if wanted == b' ' => end += 1,
            _ if wanted == b' ' => {}
            byte if byte.to_ascii_lowercase() == wanted => end += 1,
            _ => return None,
        }
    }
    let more = end + near(text, end, |byte| is_capital(byte) || byte == b'_').len();
    let is_number = text[end..more].iter().all(|byte| is_digit(*byte) || *byte == b'_');
    let is_apart = text.get(end) == Some(&b'_') && matches!(text.get(more), Some(b'=' | b':'));
    Some(match () {
        () if is_number => (more, sure),
        () if is_apart => (more, Sure::Maybe),
        () => (end, sure),
    })
}

/// `PASSWORD=…`, `"api_key": "…"`, `db.password = …`, `token => '…'`, `"name": "TOKEN", "value": "…"`
fn assigned(text: &[u8], at: usize, closers: Secret, name: &'static str, sure: Sure) -> Option<Secret> {
    let position = value_word(text, closers.end).unwrap_or(closers.end);
    let separator = SEPARATORS.iter().find(|separator| text[position..].starts_with(separator.as_bytes()))?;
    let mut next = position + separator.len();
    if *separator == ":" {
        if text[next..].starts_with(b":") || text[next..].starts_with(b"//") {
            return None;
        }
        next = after_type(text, next).unwrap_or(next);
    }
    let is_prose = text.get(next).is_some_and(|byte| is_blank(*byte));
    let line_end = run_end(text, next, is_blank);
    if let Some(line) = ["\n", "\\n"].iter().find_map(|newline| after(text, line_end, newline)) {
        return hidden_if(text, line, name, Needs::Said);
    }
    let is_shell = *separator == "=" && text[at..closers.end].last().is_some_and(|last| is_capital(*last)) && !is_prose;
    let before = Before {
        name,
        is_quoted: text[closers].iter().any(|byte| matches!(byte, b'"' | b'\'')),
        wants_quotes: separator.starts_with("=="),
        is_prose,
        is_shell,
        needs: match sure {
            Sure::Maybe if is_shell => Needs::Random(SHORTEST),
            Sure::Maybe => Needs::Random(SHORTEST + 1),
            _ => Needs::Nothing,
        },
    };
    value::hidden(text, next, &before)
}

/// Over `, "value"` and the like, where a value has its own name.
fn value_word(text: &[u8], at: usize) -> Option<usize> {
    // An `n` for a newline that is escaped.
    let start = at + near(text, at, |byte| is_space(byte) || b",\"'\\n".contains(&byte)).len();
    let end = after(text, start, "value")?;
    Some(end + near(text, end, |byte| is_blank(byte) || b"\"'\\".contains(&byte)).len())
}

/// Over the type in `token: &str = "…"`.
fn after_type(text: &[u8], at: usize) -> Option<usize> {
    let start = run_end(text, at, is_blank);
    let kind = near(text, start, |byte| is_alphanumeric(byte) || b"_<>&'[]|?. ".contains(&byte));
    let end = start + kind.len();
    let is_set = text.get(end) == Some(&b'=') && !matches!(text.get(end + 1), Some(b'=' | b'>'));
    (is_set && is_code(kind)).then_some(end + 1)
}

/// `<password>…</password>`
fn element(text: &[u8], end: usize, sure: Sure) -> Option<Secret> {
    let start = after(text, end, ">").filter(|_| sure != Sure::Maybe)?;
    let inside = near(text, start, |byte| byte != b'<' && byte != b'\n');
    let end = start + inside.len();
    (text[end..].starts_with(b"</") && !is_placeholder(inside)).then_some(start..end)
}

/// `| password | … |`
fn cell(text: &[u8], closed: usize, name: &'static str) -> Option<Secret> {
    let next = after(text, closed, "|").filter(|next| text.get(*next).is_some_and(|byte| is_blank(*byte)))?;
    hidden_if(text, next, name, Needs::Random(SHORTEST))
}

/// `--password …`, and `"--password", "…"` in a list of arguments. What begins with a dash is the next flag.
fn flag_argument(text: &[u8], at: usize, end: usize, name: &'static str, sure: Sure) -> Option<Secret> {
    let before = near_before(text, at, is_dotted);
    let flag = &text[at - before.len()..end];
    if !flag.starts_with(b"-") || flag.starts_with(b"--no-") || flag.starts_with(b"--with-") {
        return None;
    }
    let (start, wants_quotes) = argument_start(text, end).filter(|(start, _)| text.get(*start) != Some(&b'-'))?;
    let needs = if sure == Sure::Maybe { Needs::Random(SHORTEST) } else { Needs::Nothing };
    value::hidden(text, start, &Before { name, is_quoted: true, wants_quotes, is_prose: true, is_shell: false, needs })
}

/// Where the argument of a flag is that ends here, and whether it is the next of a list.
fn argument_start(text: &[u8], at: usize) -> Option<(usize, bool)> {
    let closed = at + near(text, at, |byte| matches!(byte, b'\\' | b'"' | b'\'')).len();
    let is_list = closed > at && text.get(closed) == Some(&b',');
    let start = run_end(text, closed + usize::from(is_list), is_blank);
    let is_set = text.get(at) == Some(&b'=');
    (is_list || is_set || start > closed).then_some((start + usize::from(is_set), is_list))
}

/// `the password for staging is …`: a few words, and one that links them to the value.
fn said(text: &[u8], at: usize, end: usize, name: &'static str, sure: Sure) -> Option<Secret> {
    const WORDS: usize = 6;
    let is_after_verb = || {
        let before = near_before(text, at, is_line);
        let words = before.rsplit(|byte| byte.is_ascii() && !byte.is_ascii_alphabetic());
        words.take(WORDS).any(|word| is_listed(VERBS, word))
    };
    let mut next = end + near(text, end, |byte| b"\"'`*".contains(&byte)).len();
    for _ in 0..WORDS {
        let start = run_end(text, next, is_blank);
        let word = near(text, start, |byte| !is_space(byte));
        if start == next || word.last().is_none_or(|last| b".,;!?|)".contains(last)) {
            return None;
        }
        next = start + word.len();
        if word.ends_with(b":") || is_listed(LINKS, word) || is_listed(LINKS_AFTER_VERB, word) && is_after_verb() {
            let next = after(text, run_end(text, next, is_blank), ":").unwrap_or(next);
            return hidden_if(text, next, name, if sure == Sure::Maybe { Needs::Long } else { Needs::Said });
        }
    }
    None
}

/// `password hunter2`, and a key after any name.
fn adjacent(text: &[u8], end: usize, name: &'static str, sure: Sure) -> Option<Secret> {
    let next = end + near(text, end, |byte| b"\"'`*".contains(&byte)).len();
    let needs = if sure == Sure::Password { Needs::Said } else { Needs::Long };
    text.get(next).filter(|byte| is_blank(**byte))?;
    hidden_if(text, next, name, needs)
}

/// A value in a sentence, if it looks like a secret.
fn hidden_if(text: &[u8], at: usize, name: &'static str, needs: Needs) -> Option<Secret> {
    let before = Before { name, is_quoted: true, wants_quotes: false, is_prose: true, is_shell: false, needs };
    value::hidden(text, at, &before)
}

/// The argument of a program's flag for its password, or the password in `-u user:password`.
pub fn flagged(text: &[u8], at: usize) -> Option<Secret> {
    if at > 0 && is_word(text[at - 1]) {
        return None;
    }
    let flag = near(text, at, is_dotted);
    let command = || near_before(text, at, |byte| !b"\n|;&`".contains(&byte));
    let of_program = PROGRAMS.iter().find_map(|(programs, flags, form)| {
        let listed = flags.split(' ').find(|listed| flag.starts_with(listed.as_bytes()))?;
        let end = at + listed.len();
        let attached =
            Some(end).filter(|end| listed.len() == 2 && text.get(*end).is_some_and(|byte| !b" =,-\n".contains(byte)));
        let next = || argument_start(text, end).map(|(start, _)| start).filter(|start| text.get(*start) != Some(&b'-'));
        let (start, mark) = match form {
            Form::Attached => (attached?, ""),
            Form::Argument => (next().or(attached)?, ""),
            Form::After(mark) => (next().or(attached)?, *mark),
        };
        runs_one(command(), programs).then(|| value::secret_argument(text, start, mark))?
    });
    of_program.or_else(|| login_flag(text, at, flag))
}

/// Whether a command has all the words of one of these programs.
fn runs_one(command: &[u8], programs: &str) -> bool {
    let has = |word: &str| {
        memmem::find_iter(looked(command), word).any(|at| {
            let around = [command[..at].last(), command.get(at + word.len())];
            around.into_iter().flatten().all(|byte| !is_word(*byte))
        })
    };
    programs.split(';').any(|program| program.split(' ').all(has))
}

/// The password in `-u user:password`, or the token in `-u token:`.
fn login_flag(text: &[u8], at: usize, name: &[u8]) -> Option<Secret> {
    let is_short = matches!(name, [b'-', letters @ .., b'u' | b'U'] if letters.iter().all(u8::is_ascii_alphabetic));
    if !is_short && !matches!(name, b"--user" | b"--proxy-user") {
        return None;
    }
    let (at, _) = argument_start(text, at + name.len())?;
    let start = Quote::opened(text, at).map_or(at, |quote| quote.inside);
    let user = near(text, start, |byte| byte != b':' && is_login(byte));
    let colon = start + user.len();
    let password = text[colon..].strip_prefix(b":")?;
    if password.starts_with(b"//") || is_number(user) && is_number(near(password, 0, is_word)) {
        return None;
    }
    password_or_token(text, value::argument(text, at), colon, |user| is_random(user, SHORTEST))
}

/// The password in `echo password | sudo -S`.
pub fn piped(text: &[u8], at: usize) -> Option<Secret> {
    let mark = mark_of_reader(near(text, at + 1, |byte| !b"\n|".contains(&byte)))?;
    let (text, line) = (&text[..at], near_before(text, at, is_line));
    let echo = |name: &str| memmem::rfind(line, name.as_bytes()).map(|echo| at - line.len() + echo + name.len());
    let mut next = run_end(text, echo("echo ").max(echo("printf "))?, is_blank);
    // Flags, and the format of `printf`.
    while text.get(next) == Some(&b'-') || memchr(b'%', &text[value::argument(text, next)]).is_some() {
        let end = run_end(text, value::argument(text, next).end, |byte| !is_space(byte));
        next = run_end(text, end, is_blank);
    }
    value::secret_argument(text, next, mark)
}

/// The password in `sudo -S <<< password`.
pub fn here_string(text: &[u8], at: usize) -> Option<Secret> {
    let next = after(text, at, "<<<").filter(|next| text.get(*next) != Some(&b'<'))?;
    let mark = mark_of_reader(near_before(text, at, is_line))?;
    value::secret_argument(text, run_end(text, next, is_blank), mark)
}

/// What stands before the password that a command reads.
fn mark_of_reader(command: &[u8]) -> Option<&'static str> {
    READERS.iter().find(|(programs, _)| runs_one(command, programs)).map(|(_, mark)| *mark)
}

/// The password in `scheme://user:password@host`, or the token in `scheme://token@host`.
pub fn in_address(text: &[u8], at: usize) -> Option<Secret> {
    let scheme = &text[..at];
    if !text[at..].starts_with(b"://") || !scheme.last().is_some_and(|last| is_alphanumeric(*last)) {
        return None;
    }
    let start = at + 3;
    let end = run_end(text, start, |byte| is_login(byte) && !matches!(byte, b'/' | b'?' | b'#'));
    let end = memrchr(b'@', &text[start..end]).map(|at| start + at).or_else(|| end_over_slashes(text, start, end))?;
    let colon = memchr(b':', &text[start..end]).map_or(end, |colon| start + colon);
    let is_web = ends_in(scheme, "http") || ends_in(scheme, "https");
    password_or_token(text, start..end, colon, |user| {
        let is_token = is_web && !matches!(user, b"" | b"git" | b"hg" | b"user") || is_random(user, SHORTEST);
        is_token && !is_placeholder(user)
    })
}

/// Where the `@` is if the password has a slash in it, which it should not. A port has no `@` after it.
fn end_over_slashes(text: &[u8], start: usize, end: usize) -> Option<usize> {
    let password = &text[start + memchr(b':', &text[start..end])? + 1..end];
    let more = near(text, end, is_login);
    let more = &more[..memmem::find(more, b"://").unwrap_or(more.len())];
    let is_port = is_number(password) || is_placeholder(password);
    memrchr(b'@', more).filter(|_| !is_port).map(|at| end + at)
}

/// What is secret in a login: the password, or all of it if there is none and the user is a token.
fn password_or_token(text: &[u8], login: Secret, colon: usize, is_token: impl FnOnce(&[u8]) -> bool) -> Option<Secret> {
    let password = (colon + 1).min(login.end)..login.end;
    match &text[password.clone()] {
        b"" | b"x-oauth-basic" => is_token(&text[login.start..colon]).then_some(login),
        secret => (!is_placeholder(secret)).then_some(password),
    }
}

fn is_number(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_digit)
}

/// A private key of several lines, from its first dash on. One that has no end line goes to the end of the text, for a text
/// may be cut anywhere. Certificates and public keys stay.
pub fn private_key(text: &[u8], at: usize) -> Option<Secret> {
    if at > 0 && text[at - 1] == b'-' {
        return None;
    }
    let label = run_end(text, run_end(text, at, is_dash), is_blank);
    let body = after_label(text, label, "BEGIN ")?;
    let end = memmem::find_iter(&text[body..], "END ").find_map(|end| after_label(text, body + end, "END "));
    let end = end.unwrap_or(text.len());
    looked(&text[body..end]);
    Some(at..end)
}

/// Over `BEGIN … PRIVATE KEY-----`.
fn after_label(text: &[u8], at: usize, word: &str) -> Option<usize> {
    let start = after(text, at, word)?;
    let label = near(text, start, |byte| is_capital(byte) || byte == b' ');
    let end = start + label.len();
    let over = run_end(text, end, is_dash);
    (memmem::find(label, b"PRIVATE KEY").is_some() && over - end >= 2).then_some(over)
}
