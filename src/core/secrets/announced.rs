//! Secrets that are known by what stands before them: a name, a flag, a program, an address, the first line of a key.
//!
//! A finder is given where such a thing may begin and says what is hidden, or nothing. The words are data (`table.toml`); where a
//! value ends, and what is none, is for `value` to say.

use std::cell::OnceCell;

use memchr::{memchr, memmem, memrchr};

use super::kinds::{SHORTEST, block_start, is_random};
use super::quote::Quote;
use super::table::{
    ARTICLES, ASKED_OR_NAMED, CALLS, DIRECTIVES, ENTERING, Form, IDENTIFIED, KNOWN_TO_ALL, LINKS,
    LINKS_AFTER_VERB, LINKS_ATTACHED, LINKS_BACK, LOGGING_IN, LOGINS, NOW, OperandKind, PASS,
    PROGRAMS, READERS, SETTERS, SUFFIXES, Sure, TOKEN, USERS, VERBS,
};
use super::text::{
    NEAR, Words, after, is_alphanumeric, is_blank, is_capital, is_dash, is_digit, is_dotted,
    is_graphic, is_line, is_login, is_space, is_word, length_at_end, line_before, looked, near,
    near_before, over, over_blanks, run, run_end,
};
use super::value::{self, Before, Needs, ends_in, is_code, is_placeholder, name_at_end, name_is};
use super::{REDACTED, Secret};

/// Signs between a name and its value; the longer first.
const SEPARATORS: &[&str] = &[
    "===", "==", "=>", ":=", ":-", ":**", "=", ":", "||", "??", "：", "＝", "%3D", "%3d", "%3A",
    "%3a", "\\u003d",
];

/// The value of a name that begins here.
pub fn named(text: &[u8], at: usize, name: &'static str, sure: Sure) -> Option<Secret> {
    let (end, sure) = after_name(text, at, name, sure)?;
    // `mysqladmin` is no user, but `PSCredential` is a credential.
    let is_part = at > 0 && is_alphanumeric(text[at - 1]) && !text[at].is_ascii_uppercase();
    if is_part && matches!(sure, Sure::Login | Sure::Vendor) {
        return None;
    }
    let has_user = || {
        let line = line_before(text, at).to_ascii_lowercase();
        let is_set = |end: usize| matches!(line.get(end), Some(b'=' | b':'));
        USERS
            .iter()
            .any(|user| memmem::find_iter(&line, user).any(|at| is_set(at + user.len())))
    };
    let sure = if name == PASS && !text.get(end).is_some_and(u8::is_ascii_alphabetic) && has_user()
    {
        Sure::Password
    } else {
        sure
    };
    let follows = |words: &[&str]| {
        words
            .iter()
            .any(|word| ends_in(&text[at.saturating_sub(NEAR)..at], word))
    };
    // Prose has it, too: `the row identified by `id``.
    let is_said_only = name == IDENTIFIED && !matches!(text[end..], [b' ', b'\'' | b'"', ..]);
    if is_said_only || follows(ASKED_OR_NAMED) || name.ends_with("key") && follows(KNOWN_TO_ALL) {
        return None;
    }
    // Its value is hidden already, so whatever follows is not.
    let signs = near(text, end, |byte| !is_alphanumeric(byte) && byte != b'[').len();
    if text[end + signs..].starts_with(REDACTED.as_bytes()) {
        return None;
    }
    let is_closer = |byte: u8| is_blank(byte) || b"\"'`]*\\?!+".contains(&byte);
    let closed = end + run(text, end, is_closer).len();
    assigned(text, at, end..closed, name, sure)
        .or_else(|| element(text, end, sure))
        .or_else(|| cell(text, closed, name).filter(|_| sure != Sure::Vendor))
        .or_else(|| flag_argument(text, at, end, name, sure))
        .or_else(|| in_call(text, at, end, name, sure))
        .or_else(|| attached(text, closed, name, sure))
        .or_else(|| login(text, closed, sure))
        .or_else(|| said(text, at, end, name, sure))
        .or_else(|| adjacent(text, at, end, name, sure))
        .or_else(|| said_before(text, at, sure))
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
    let is_number = text[end..more]
        .iter()
        .all(|byte| is_digit(*byte) || *byte == b'_');
    let is_apart = text.get(end) == Some(&b'_') && matches!(text.get(more), Some(b'=' | b':'));
    let suffix = near(text, end, is_word);
    if suffix
        .split_first()
        .is_some_and(|(first, rest)| matches!(first, b'_' | b'-') && SUFFIXES.has(rest))
    {
        return Some((end + suffix.len(), sure));
    }
    let is_more = is_number || is_apart;
    Some((
        if is_more { more } else { end },
        if is_apart && !is_number {
            Sure::Maybe
        } else {
            sure
        },
    ))
}

/// `PASSWORD=…`, `"api_key": "…"`, `db.password = …`, `token => '…'`, `"name": "TOKEN", "value": "…"`
fn assigned(
    text: &[u8],
    at: usize,
    closers: Secret,
    name: &'static str,
    sure: Sure,
) -> Option<Secret> {
    let position = value_word(text, closers.end).unwrap_or(closers.end);
    let separator = SEPARATORS
        .iter()
        .find(|separator| text[position..].starts_with(separator.as_bytes()))?;
    let mut next = position + separator.len();
    if *separator == ":" {
        // A path, an address, and `${NAME:?message}`.
        if [":", "//", "?", "+"]
            .iter()
            .any(|sign| text[next..].starts_with(sign.as_bytes()))
        {
            return None;
        }
        next = after_type(text, next).unwrap_or(next);
    }
    let is_prose = text.get(next).is_some_and(|byte| is_blank(*byte));
    let line_end = over_blanks(text, next);
    if let Some(line) = ["\n", "\\n"]
        .iter()
        .find_map(|newline| after(text, line_end, newline))
    {
        return hidden_if(text, line, name, Needs::Said);
    }
    let is_shell = *separator == "="
        && text[at..closers.end]
            .last()
            .is_some_and(|last| is_capital(*last))
        && !is_prose;
    let before = Before {
        name,
        is_quoted: text[closers]
            .iter()
            .any(|byte| matches!(byte, b'"' | b'\'')),
        wants_quotes: ["==", "||", "??"]
            .iter()
            .any(|start| separator.starts_with(start)),
        is_prose,
        is_shell,
        needs: match sure {
            Sure::Vendor => Needs::Long,
            sure if sure.is_doubtful() => Needs::Random(SHORTEST + usize::from(!is_shell)),
            // A parser compares it with words.
            Sure::Secret
                if name == TOKEN
                    && (separator.starts_with("==") || text[..position].ends_with(b"!")) =>
            {
                Needs::Random(SHORTEST)
            }
            Sure::Secret if name == TOKEN && is_prose => Needs::NoWord,
            Sure::Secret if is_prose => Needs::NoType,
            _ => Needs::Nothing,
        },
    };
    value::hidden(text, next, &before)
}

/// Over `, "value"` and the like, where a value has its own name.
fn value_word(text: &[u8], at: usize) -> Option<usize> {
    // An `n` for a newline that is escaped.
    let start = at
        + near(text, at, |byte| {
            is_space(byte) || b",\"'\\n".contains(&byte)
        })
        .len();
    let end = after(text, start, "value")?;
    Some(over(text, end, b" \t\"'\\"))
}

/// Over the type in `token: &str = "…"`.
fn after_type(text: &[u8], at: usize) -> Option<usize> {
    let start = over_blanks(text, at);
    let kind = near(text, start, |byte| {
        is_alphanumeric(byte) || b"_<>&'[]|?. ".contains(&byte)
    });
    let end = start + kind.len();
    let is_set = text.get(end) == Some(&b'=') && !matches!(text.get(end + 1), Some(b'=' | b'>'));
    (is_set && is_code(kind)).then_some(end + 1)
}

/// `<password>…</password>`
fn element(text: &[u8], end: usize, sure: Sure) -> Option<Secret> {
    let start = after(text, end, ">").filter(|_| !sure.is_doubtful())?;
    let inside = near(text, start, |byte| byte != b'<' && byte != b'\n');
    let end = start + inside.len();
    (text[end..].starts_with(b"</") && !is_placeholder(inside)).then_some(start..end)
}

/// `| password | … |`
fn cell(text: &[u8], closed: usize, name: &'static str) -> Option<Secret> {
    let next = after(text, closed, "|")
        .filter(|next| text.get(*next).is_some_and(|byte| is_blank(*byte)))?;
    hidden_if(text, next, name, Needs::Random(SHORTEST))
}

/// `--password …`, and `"--password", "…"` in a list of arguments. What begins with a dash is the next flag.
fn flag_argument(
    text: &[u8],
    at: usize,
    end: usize,
    name: &'static str,
    sure: Sure,
) -> Option<Secret> {
    let (start, wants_quotes) =
        argument_start(text, end).filter(|(start, _)| text.get(*start) != Some(&b'-'))?;
    let flag = &text[at - near_before(text, at, is_dotted).len()..end];
    if !flag.starts_with(b"-") || flag.starts_with(b"--no-") || flag.starts_with(b"--with-") {
        return None;
    }
    let needs = match sure {
        Sure::Vendor => Needs::Long,
        sure if sure.is_doubtful() => Needs::Random(SHORTEST),
        _ => Needs::Nothing,
    };
    value::hidden(
        text,
        start,
        &Before {
            wants_quotes,
            ..Before::plain(name, needs)
        },
    )
}

/// The start of a flag's argument, after the flag that ends here, and whether it is the next of a list.
fn argument_start(text: &[u8], at: usize) -> Option<(usize, bool)> {
    let closed = over(text, at, b"\\\"'");
    let is_list = closed > at && text.get(closed) == Some(&b',');
    let start = over_blanks(text, closed + usize::from(is_list));
    let is_set = text.get(at) == Some(&b'=');
    (is_list || is_set || start > closed).then_some((start + usize::from(is_set), is_list))
}

/// `the password for staging is …`: a few words, and one that links them to the value.
fn said(text: &[u8], at: usize, end: usize, name: &'static str, sure: Sure) -> Option<Secret> {
    const WORDS: usize = 6;
    let is_after_verb = || {
        let before = line_before(text, at);
        let words = before.rsplit(|byte| byte.is_ascii() && !byte.is_ascii_alphabetic());
        words.take(WORDS).any(|word| VERBS.has(word))
    };
    let mut next = over(text, end, b"\"'`*");
    let mut is_set = false;
    for _ in 0..WORDS {
        let start = over_blanks(text, next);
        let word = near(text, start, |byte| !is_space(byte));
        if start == next || word.last().is_none_or(|last| b".,;!?|)".contains(last)) {
            return None;
        }
        next = start + word.len();
        is_set |= VERBS.has(word);
        if word.ends_with(b":")
            || LINKS.has(word)
            || LINKS_AFTER_VERB.has(word) && (is_set || is_after_verb())
        {
            let next = after(text, over_blanks(text, next), ":").unwrap_or(next);
            let next = NOW
                .iter()
                .find_map(|now| after(text, next, now))
                .unwrap_or(next);
            if word == b"from"
                && let Some(old) = hidden_if(text, next, name, Needs::Said)
            {
                let new = after(text, old.end, " to ")
                    .and_then(|next| hidden_if(text, next, name, Needs::Said));
                return Some(old.start..new.map_or(old.end, |new| new.end));
            }
            let needs = match sure {
                sure if sure.is_doubtful() => Needs::Long,
                _ if name == TOKEN => Needs::Random(SHORTEST),
                _ => Needs::Said,
            };
            return hidden_if(text, next, name, needs);
        }
    }
    None
}

/// `password hunter2`, and a key after any name.
fn adjacent(text: &[u8], at: usize, end: usize, name: &'static str, sure: Sure) -> Option<Secret> {
    let next = over(text, end, b"\"'`*");
    let line = line_before(text, at);
    // The line before that of a password in a `.netrc`: `login bob`.
    let is_after_login = || {
        let before = line_before(text, (at - line.len()).saturating_sub(1));
        line.iter().all(|byte| is_blank(*byte)) && matches!(words(before)[..], [b"login", _, ..])
    };
    let is_directive = || {
        DIRECTIVES
            .iter()
            .any(|start| memmem::find(line, start.as_bytes()).is_some())
    };
    text.get(next).filter(|byte| is_blank(**byte))?;
    let needs = match sure {
        Sure::Password if is_directive() => Needs::Nothing,
        Sure::Password if is_after_login() => Needs::NoWord,
        Sure::Password => Needs::Said,
        Sure::Secret if name != TOKEN => Needs::Mixed,
        _ if name == PASS && tells_login(line) => Needs::Mixed,
        _ => Needs::Long,
    };
    hidden_if(text, next, name, needs)
}

/// `define('DB_PASSWORD', '…')`, `.setPassword("…")`, `find('#password').fill('…')`, `auth=('bob', '…')`
fn in_call(text: &[u8], at: usize, end: usize, name: &'static str, sure: Sure) -> Option<Secret> {
    let quoted = |at: usize, needs| {
        Quote::opened(text, at)?;
        hidden_if(text, at, name, needs)
    };
    if let Some(open) = after(text, end, "(") {
        let word = near_before(text, at, is_word);
        let is_setter = SETTERS.text.split(' ').any(|set| ends_in(word, set));
        return match sure {
            Sure::Password if word.is_empty() || is_setter => quoted(open, Needs::Said),
            Sure::Secret if is_setter => quoted(open, Needs::Random(SHORTEST)),
            _ => user_and_password(text, at, end),
        };
    }
    let closed = over(text, end, b"\"'`)]}\\");
    if closed == end {
        return user_and_password(text, at, end);
    }
    let entering = ENTERING
        .text
        .split(' ')
        .find_map(|call| after(text, closed, call));
    if let Some(open) = entering {
        return quoted(open, Needs::Said);
    }
    // `env('APP_KEY'), 'cipher'`: the call is over.
    let comma = after(text, closed, ",").filter(|_| !text[end..closed].contains(&b')'))?;
    let next = over_blanks(text, comma);
    let next = after(text, next, "with:").map_or(next, |with| over_blanks(text, with));
    let before = near_before(text, at, |byte| {
        is_word(byte) || b".#[]=@:*^$~ ".contains(&byte)
    });
    let opening = text[..at - before.len()]
        .strip_suffix(b"\"")
        .or_else(|| text[..at - before.len()].strip_suffix(b"'"))?;
    let opening = &opening[..opening.len()
        - near_before(opening, opening.len(), |byte| {
            is_blank(byte) || byte == b'('
        })
        .len()];
    let is_call = CALLS.has(near_before(opening, opening.len(), is_word));
    quoted(
        next,
        if is_call {
            Needs::Nothing
        } else {
            Needs::Random(SHORTEST + 2)
        },
    )
}

/// `HTTPBasicAuth('bob', '…')`, `auth=('bob', '…')`
fn user_and_password(text: &[u8], at: usize, end: usize) -> Option<Secret> {
    let next = over(text, end, b" \t=");
    let open = run_end(text, after(text, next, "(")?, is_blank);
    let word = &text[at - near_before(text, at, is_word).len()..end];
    if !LOGINS.has(word) {
        return None;
    }
    let user = Quote::opened(text, open)?;
    let user_end =
        user.inside + near(text, user.inside, |byte| is_login(byte) && byte != b',').len();
    let comma = over(text, user_end, b"\"'");
    let next = over_blanks(text, after(text, comma, ",")?);
    Quote::opened(text, next)?;
    hidden_if(text, next, PASS, Needs::Said)
}

/// `パスワードは…`, `密码是…`: such a value has ASCII characters only.
fn attached(text: &[u8], closed: usize, name: &'static str, sure: Sure) -> Option<Secret> {
    let next = LINKS_ATTACHED
        .iter()
        .find_map(|link| after(text, closed, link))?;
    let next = over_blanks(text, next);
    let needs = match sure {
        Sure::Password => Needs::Said,
        Sure::Secret => Needs::Random(SHORTEST),
        _ => Needs::Long,
    };
    match Quote::opened(text, next) {
        Some(_) => hidden_if(text, next, name, needs),
        None => hidden_if(&text[..run_end(text, next, is_graphic)], next, name, needs),
    }
}

/// The password in `credentials: bob / …`, `creds are bob:…`
fn login(text: &[u8], closed: usize, sure: Sure) -> Option<Secret> {
    if sure != Sure::Login {
        return None;
    }
    let next = over_blanks(text, closed);
    let word = near(text, next, |byte| is_alphanumeric(byte) || !byte.is_ascii());
    let linked = LINKS.has(word).then_some(next + word.len());
    let linked = linked.or_else(|| {
        [":", "=", "："]
            .iter()
            .find_map(|sign| after(text, closed, sign))
    });
    let start = over_blanks(text, linked.unwrap_or(next));
    let user = near(text, start, |byte| is_dotted(byte) || byte == b'@');
    let sign = [" / ", ":", "/"]
        .iter()
        .find_map(|sign| after(text, start + user.len(), sign));
    let needs = if linked.is_some() {
        Needs::Said
    } else {
        Needs::Mixed
    };
    hidden_if(text, sign.filter(|_| !user.is_empty())?, PASS, needs)
}

/// `admin / …` where somebody tells how to log in.
pub(crate) fn slashed(text: &[u8], at: usize) -> Option<Secret> {
    let next = after(text, at, " / ")?;
    let user = near_before(text, at, |byte| is_dotted(byte) || byte == b'@');
    let is_told = || tells_login(line_before(text, at)) || tells_login(near(text, at, is_line));
    if user.is_empty() || !is_told() {
        return None;
    }
    hidden_if(text, next, PASS, Needs::Mixed)
}

/// True if somebody tells in a line how to log in.
fn tells_login(line: &[u8]) -> bool {
    let line = line.to_ascii_lowercase();
    LOGGING_IN
        .iter()
        .any(|word| memmem::find(&line, word.as_bytes()).is_some())
}

/// `… is the password`, `… as the API key`, `… (password)`
fn said_before(text: &[u8], at: usize, sure: Sure) -> Option<Secret> {
    let line = line_before(text, at);
    let line = &line[..line.len() - near_before(line, line.len(), is_word).len()];
    let mut end = line.len();
    for _ in 0..4 {
        end -= length_at_end(&line[..end], is_blank);
        let word = length_at_end(&line[..end], |byte| !is_blank(byte));
        let (start, word) = (end - word, &line[end - word..end]);
        if LINKS_BACK.has(word) || word == b"(" {
            end = start - length_at_end(&line[..start], is_blank);
            let length = length_at_end(&line[..end], |byte| !is_space(byte));
            let offset = at - line_before(text, at).len();
            let value = offset + end - length..offset + end;
            let needs = if sure == Sure::Password {
                Needs::Mixed
            } else {
                Needs::Long
            };
            return hidden_if(&text[..value.end], value.start, PASS, needs);
        }
        let is_article = ARTICLES.has(word)
            || sure != Sure::Password && word.iter().all(u8::is_ascii_alphabetic);
        if word.is_empty() || !is_article {
            return None;
        }
        end = start;
    }
    None
}

/// The argument of a program that has no flag for its password: `htpasswd -b file bob …`
pub(crate) fn operand(text: &[u8], at: usize, kind: &OperandKind) -> Option<Secret> {
    let mut next = after(text, at, kind.start).filter(|_| at == 0 || !is_word(text[at - 1]))?;
    let (mut number, mut has_flag) = (kind.number, kind.flag.is_none());
    // More arguments than that belong to something else.
    for _ in 0..8 {
        next = over_blanks(text, next);
        let length = near(text, next, |byte| !is_space(byte)).len();
        let word = &text[next..next + length];
        match word {
            [] => return None,
            [b'-', flags @ ..] => {
                has_flag |= kind.flag.is_some_and(|wanted| flags.contains(&wanted));
                number -= usize::from(kind.flag.is_some() && flags.contains(&b'n') && number > 1);
            }
            _ if number > 1 => number -= 1,
            _ if !has_flag => return None,
            _ => {
                if !kind.open.is_empty() && matches!(word, [b'/' | b'@', ..]) {
                    return None;
                }
                let secret = value::secret_argument(text, next, kind.open)?;
                let inside = &text[secret.clone()];
                let end =
                    memmem::find(inside, kind.close.as_bytes()).filter(|_| !kind.close.is_empty());
                let secret = secret.start..end.map_or(secret.end, |end| secret.start + end);
                let is_one = !kind.is_doubtful || Needs::Said.are_met(&text[secret.clone()], false);
                return is_one.then_some(secret);
            }
        }
        next += length;
    }
    None
}

/// The password in a line of a `.pgpass` file: `host:port:database:user:…`
pub(crate) fn in_pgpass(text: &[u8], at: usize) -> Option<Secret> {
    let port = near(text, at + 1, |byte| is_digit(byte) || byte == b'*');
    let host = near_before(text, at, |byte| is_dotted(byte) || byte == b'*');
    if host.is_empty() || port != b"*" && !matches!(port.len(), 4 | 5) {
        return None;
    }
    let field = |at: usize| {
        let start = after(text, at, ":")?;
        let field = near(text, start, |byte| is_dotted(byte) || byte == b'*');
        let is_name = field
            .first()
            .is_some_and(|first| first.is_ascii_alphabetic() || matches!(first, b'*' | b'_'));
        is_name.then_some(start + field.len())
    };
    let user = field(field(at + 1 + port.len())?)?;
    let start = after(text, user, ":")?;
    let head = near(text, start, is_login);
    (!head.is_empty() && !is_placeholder(head) && !ends_in(head, "password"))
        .then(|| start..run_end(text, start, is_login))
}

/// The password in `user:…@tcp(host)/db`.
pub(crate) fn in_dsn(text: &[u8], at: usize) -> Option<Secret> {
    ["@tcp(", "@unix(", "@tcp4(", "@tcp6(", "@cloudsql("]
        .iter()
        .find_map(|sign| after(text, at, sign))?;
    let login = near_before(text, at, is_login);
    let start = at - login.len() + memchr(b':', login)? + 1;
    (!is_placeholder(&text[start..at])).then_some(start..at)
}

/// A value in a sentence, if it looks like a secret.
fn hidden_if(text: &[u8], at: usize, name: &'static str, needs: Needs) -> Option<Secret> {
    value::hidden(text, at, &Before::plain(name, needs))
}

/// The argument of a program's flag for its password, or the password in `-u user:password`.
pub(crate) fn flagged(text: &[u8], at: usize) -> Option<Secret> {
    if at > 0 && is_word(text[at - 1]) {
        return None;
    }
    let flag = near(text, at, |byte| is_dotted(byte) || b"/:".contains(&byte));
    let letter = flag
        .iter()
        .find(|byte| !matches!(byte, b'-' | b'/'))
        .map_or(0, |letter| 1u128 << letter);
    let command = OnceCell::new();
    let command_words = || words(near_before(text, at, |byte| !b"\n|;&`".contains(&byte)));
    let of_program = PROGRAMS.iter().filter(|kind| kind.letters & letter != 0).find_map(|kind| {
        let listed = kind
            .flags
            .split(' ')
            .filter(|listed| flag.starts_with(listed.as_bytes()))
            .max_by_key(|listed| listed.len())?;
        let end = at + listed.len();
        let may_attach = listed.len() <= 3 && !listed.starts_with("--") || listed.ends_with(':');
        let is_port =
            || matches!(near(text, end, is_alphanumeric), port if matches!(port.len(), 1..=5) && is_number(port));
        // `-password` is another flag than `-p`.
        let is_longer = || name_at_end(flag).is_some();
        let attached = Some(end).filter(|end| {
            may_attach && text.get(*end).is_some_and(|byte| !b" =,-\n".contains(byte)) && !is_port() && !is_longer()
        });
        let next = || argument_start(text, end).map(|(start, _)| start).filter(|start| text.get(*start) != Some(&b'-'));
        let (start, mark) = match &kind.form {
            Form::Attached => (attached?, ""),
            Form::Argument => (next().or(attached)?, ""),
            Form::Next => (next().filter(|_| flag == listed.as_bytes())?, ""),
            Form::After(mark) => (next().or(attached)?, *mark),
        };
        runs_one(command.get_or_init(command_words), &kind.programs)
            .then(|| value::secret_argument(text, start, mark))?
    });
    of_program.or_else(|| login_flag(text, at, near(text, at, is_dotted)))
}

/// The words of a command.
fn words(command: &[u8]) -> Vec<&[u8]> {
    looked(command)
        .split(|byte| !is_word(*byte))
        .filter(|word| !word.is_empty())
        .collect()
}

/// True if a command has all the words of one of these programs.
fn runs_one(command: &[&[u8]], programs: &Words) -> bool {
    let is_run = |program: &str| {
        program
            .split(' ')
            .all(|word| command.contains(&word.as_bytes()))
    };
    command.iter().any(|word| programs.may_have(word)) && programs.text.split(';').any(is_run)
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
    if password.starts_with(b"//")
        || password.starts_with(b":")
        || is_number(user) && is_number(near(password, 0, is_word))
    {
        return None;
    }
    password_or_token(text, value::argument(text, at), colon, |user| {
        is_random(user, SHORTEST)
    })
}

/// The password in `echo password | sudo -S`.
pub fn piped(text: &[u8], at: usize) -> Option<Secret> {
    let mark = mark_of_reader(near(text, at + 1, |byte| !b"\n|".contains(&byte)))?;
    let (text, line) = (&text[..at], line_before(text, at));
    let echo = |name: &str| {
        memmem::rfind(line, name.as_bytes()).map(|echo| at - line.len() + echo + name.len())
    };
    let mut next = over_blanks(text, echo("echo ").max(echo("printf "))?);
    // Flags, and the format of `printf`.
    while text.get(next) == Some(&b'-')
        || memchr(b'%', &text[value::argument(text, next)]).is_some()
    {
        let end = run_end(text, value::argument(text, next).end, |byte| {
            !is_space(byte)
        });
        next = over_blanks(text, end);
    }
    value::secret_argument(text, next, mark)
}

/// The password in `sudo -S <<< password`.
pub(crate) fn here_string(text: &[u8], at: usize) -> Option<Secret> {
    let next = after(text, at, "<<<").filter(|next| text.get(*next) != Some(&b'<'))?;
    let mark = mark_of_reader(line_before(text, at))?;
    value::secret_argument(text, over_blanks(text, next), mark)
}

/// The mark before the password that a command reads.
fn mark_of_reader(command: &[u8]) -> Option<&'static str> {
    let command = words(command);
    READERS
        .iter()
        .find(|kind| runs_one(&command, &kind.programs))
        .map(|kind| kind.mark)
}

/// The password in `scheme://user:password@host`, or the token in `scheme://token@host`.
pub(crate) fn in_address(text: &[u8], at: usize) -> Option<Secret> {
    let scheme = &text[..at];
    if !text[at..].starts_with(b"://") || !scheme.last().is_some_and(|last| is_alphanumeric(*last))
    {
        return None;
    }
    let start = at + 3;
    let end = run_end(text, start, |byte| {
        is_login(byte) && !matches!(byte, b'/' | b'?' | b'#')
    });
    let end = memrchr(b'@', &text[start..end])
        .map(|at| start + at)
        .or_else(|| end_over_slashes(text, start, end))?;
    let colon = memchr(b':', &text[start..end]).map_or(end, |colon| start + colon);
    let is_web = ends_in(scheme, "http") || ends_in(scheme, "https");
    let secret = password_or_token(text, start..end, colon, |user| {
        let is_token =
            is_web && !matches!(user, b"" | b"git" | b"hg" | b"user") || is_random(user, SHORTEST);
        is_token && !is_placeholder(user)
    });
    // `user:password@host` shows where they go.
    secret.filter(|secret| name_is(&text[secret.clone()]).is_none())
}

/// The position of the `@` if the password has a slash in it, which it should not. A port has no `@` after it.
fn end_over_slashes(text: &[u8], start: usize, end: usize) -> Option<usize> {
    let password = &text[start + memchr(b':', &text[start..end])? + 1..end];
    let more = near(text, end, is_login);
    let more = &more[..memmem::find(more, b"://").unwrap_or(more.len())];
    let is_port = is_number(password) || is_placeholder(password);
    memrchr(b'@', more).filter(|_| !is_port).map(|at| end + at)
}

/// The secret of a login: the password, or all of it if there is none and the user is a token.
fn password_or_token(
    text: &[u8],
    login: Secret,
    colon: usize,
    is_token: impl FnOnce(&[u8]) -> bool,
) -> Option<Secret> {
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
pub(crate) fn private_key(text: &[u8], at: usize) -> Option<Secret> {
    if at > 0 && text[at - 1] == b'-' {
        return None;
    }
    let label = over_blanks(text, run_end(text, at, is_dash));
    if let Some(end) = after_label(text, label, "END ") {
        // The first half was cut off.
        return Some(block_start(text, at)..end).filter(|half| half.start < at);
    }
    let body = after_label(text, label, "BEGIN ")?;
    let end = memmem::find_iter(&text[body..], "END ")
        .find_map(|end| after_label(text, body + end, "END "));
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
