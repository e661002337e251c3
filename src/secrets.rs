//! Secrets in a text, replaced by `[redacted]`.
//!
//! One pass over the bytes that stops where a secret may begin, and asks the finders; what they know is in the tables.
//! In doubt a value goes: better a word hidden too many than a password shown. What is plainly code (a call, a
//! variable, a type) or prose stays.
//!
//! The time is linear whatever the text says: a finder that finds nothing has looked no further than [`NEAR`], or over
//! a run of characters in which no finder of its kind begins. Escape sequences and invisible characters can hide a
//! secret, so they have to go first.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr2_iter, memmem, memrchr};

pub const REDACTED: &str = "[redacted]";

/// How far a finder looks to tell a secret from something else.
const NEAR: usize = 128;

type Alphabet = fn(u8) -> bool;

/// Keys that are known by their beginning, with what they consist of and how much of it there is at least.
const KEYS: &[(Alphabet, usize, &[&str])] = &[
    (is_word, 6, &["sk-ant-"]),
    (is_word, 8, &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-", "xapp-"]),
    (is_capital, 16, &["AKIA", "ASIA"]),
    (is_dotted, 16, &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "ya29.", "hvs.", "hvb.", "dp.st.", "dp.pt.", "1//0"]),
    (is_dotted, 16, &["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glft-", "glagent-"]),
    (is_word, 16, &["github_pat_", "dckr_pat_", "pypi-AgE", "ATATT3", "sntrys_", "sntryu_", "glsa_", "tskey-"]),
    (is_cookie, 8, &["xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxp-", "xoxr-", "xoxs-"]),
    (is_word, 30, &["AIza"]),
    (is_dotted, 20, &["SG."]),
    (is_alphanumeric, 10, &["sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_", "sb_secret_"]),
    (is_alphanumeric, 20, &["npm_", "hf_", "dop_v1_", "doo_v1_", "dor_v1_", "gsk_", "sbp_", "r8_", "rubygems_"]),
    (is_alphanumeric, 20, &["shpat_", "shpca_", "shppa_", "shpss_", "lin_api_", "xai-", "ntn_", "secret_"]),
    (is_word, 20, &["nvapi-", "pplx-", "tvly-", "figd_", "sq0atp-", "sq0csp-", "PMAK-", "NRAK-", "AGE-SECRET-KEY-1"]),
];

/// Addresses that are secret from there on.
const HOOKS: &[&str] = &[
    "hooks.slack.com/services/",
    "hooks.slack.com/workflows/",
    "hooks.slack.com/triggers/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "api.telegram.org/bot",
];

/// What a name ends in that has a secret for a value. A blank stands for `_`, `-`, `.`, a blank, or nothing.
const NOUNS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "api key",
    "access key",
    "secret key",
    "private key",
    "account key",
    "auth key",
    "signing key",
    "encryption key",
    "master key",
    "credential",
    "credentials",
    "db pass",
    "user pass",
    "admin pass",
    "root pass",
    "smtp pass",
    "mail pass",
    "redis pass",
    "mysql pass",
    "ssh pass",
    "ftp pass",
    "bearer",
    AUTHORIZATION,
];
const AUTHORIZATION: &str = "authorization";

/// Names whose value is often a path.
const PLACES: &[&str] = &["pwd", "private key", "credential", "credentials"];
const PATHS: &[&str] = &["/", "~/", "./", "../", "C:\\"];

/// What stands between a name and its value; the longer first.
const SEPARATORS: &[&str] = &["===", "==", "=>", ":=", ":-", ":**", "=", ":", "：", "＝"];

const QUOTES: &[(&str, &str)] = &[("\"", "\""), ("'", "'"), ("`", "`"), ("“", "”"), ("‘", "’"), ("„", "“"), ("«", "»")];

/// What the value of `Authorization` begins with, and what follows that where people talk about it.
const SCHEMES: &str = "bearer basic token apikey api-key key bot";
const TALK: &str = "token tokens auth authentication authorization header headers scheme";

/// What may stand for a value without being one: nothing, formats, types, statements, and flags spoken of.
const CODE: &str = "null none nil undefined true false empty %s %v %d %q %r %w %@ \
    string str &str &string &mut & bytes bytearray char varchar text int integer number bool boolean any unknown void \
    object option optional vec box required readonly const static secretstr secretstring impl dyn \
    await async new function fn func lambda return break throw typeof yield !ref !sub !getatt !vault !secret !env \
    flag flags options argument arguments parameter missing expired invalid";

/// How prose goes on: a value that is one of these, with another word after it, is none.
const PROSE: &str = "a an the this that these those it its they he she i we you my your our their there here \
    is are was were be been has have had do does did don doesn isn can cannot could will would won should must may \
    might not no never only just also still now then so or and but if when while where which who what why how because \
    since before after until in on at by to of for from with without into as than all any each every some one two both \
    please let add fix use make check update remove refresh rotate change set get see expected unexpected found got";

/// What a placeholder is wrapped in.
const WRAPS: &[(&str, &str)] = &[("${", "}"), ("$(", ")"), ("#{", "}"), ("{", "}"), ("<", ">"), ("[", "]"), ("%", "%")];

/// The other words at which a secret may begin: web tokens, and `Bearer` as people write it.
const WORDS: &[&str] = &["eyJ", "sk-", "Bearer", "bearer", "BEARER"];

/// For each of the first three places, and each byte there, a bit per row of [`KEYS`] and list that has it in that
/// place: three bytes without a common bit begin nothing known.
const BEGINNINGS: [[u32; 256]; 3] = {
    let mut bits = [[0; 256]; 3];
    let mut row = 0;
    while row < KEYS.len() {
        bits = begun(bits, KEYS[row].2, row);
        row += 1;
    }
    begun(begun(bits, HOOKS, row), WORDS, row + 1)
};

const fn begun(mut bits: [[u32; 256]; 3], starts: &[&str], row: usize) -> [[u32; 256]; 3] {
    let mut index = 0;
    while index < starts.len() {
        let start = starts[index].as_bytes();
        let mut place = 0;
        while place < bits.len() {
            bits[place][start[place] as usize] |= 1 << row;
            place += 1;
        }
        index += 1;
    }
    bits
}

/// The bytes at which a secret may begin.
const STOPS: [bool; 256] = {
    let mut stops = [false; 256];
    let mut byte = 0;
    while byte < stops.len() {
        stops[byte] = BEGINNINGS[0][byte] != 0;
        byte += 1;
    }
    let mut index = 0;
    while index < SEPARATORS.len() {
        stops[SEPARATORS[index].as_bytes()[0] as usize] = true;
        index += 1;
    }
    stops[b'-' as usize] = true;
    stops[b'>' as usize] = true;
    stops
};

/// The text with every secret replaced; borrowed if there is none.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut found = Vec::new();
    secrets(text.as_bytes(), 0, text.len(), &mut found);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for secret in found {
        // One that begins within the last only goes on with it.
        if secret.start >= copied {
            out.push_str(&text[copied..secret.start]);
            out.push_str(REDACTED);
        }
        copied = copied.max(secret.end);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// The secrets that begin in a stretch of the text, by their beginnings.
fn secrets(text: &[u8], mut at: usize, end: usize, found: &mut Vec<Range<usize>>) {
    let next = |at: usize| text[..end].get(at..)?.iter().position(|byte| STOPS[*byte as usize]);
    while let Some(skipped) = next(at) {
        at += skipped;
        match secret(text, at).filter(|secret| secret.start < end) {
            Some(secret) => {
                secrets(text, at + 1, secret.start, found);
                at = secret.end;
                found.push(secret);
            }
            None => at += 1,
        }
    }
}

/// The secret that this byte announces: not empty, not before the byte, and whole characters.
fn secret(text: &[u8], at: usize) -> Option<Range<usize>> {
    match text[at] {
        b'-' => block(text, at).or_else(|| flag(text, at)).or_else(|| login(text, at)),
        b'>' => element(text, at),
        byte if is_alphanumeric(byte) => {
            let rows = beginning(&text[at..]);
            if rows == 0 || !is_start(text, at) {
                return None;
            }
            key(text, at, rows).or_else(|| web_token(text, at)).or_else(|| hook(text, at)).or_else(|| bearer(text, at))
        }
        _ => url(text, at).or_else(|| assigned(text, at)),
    }
}

/// The rows that may have what begins here.
fn beginning(rest: &[u8]) -> u32 {
    BEGINNINGS.iter().zip(rest).fold(u32::MAX, |rows, (bits, byte)| rows & bits[*byte as usize])
}

/// Whether a word begins here, also after an escaped newline (`\n`), `%3D` or `\u003d`.
fn is_start(text: &[u8], at: usize) -> bool {
    let is_hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    match &text[..at] {
        [.., last] if !is_alphanumeric(*last) => true,
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', a, b] if is_hex(&[*a, *b]) => true,
        [.., b'\\', b'u', a, b, c, d] if is_hex(&[*a, *b, *c, *d]) => true,
        before => before.is_empty(),
    }
}

fn key(text: &[u8], at: usize, rows: u32) -> Option<Range<usize>> {
    let body = |start: &str| text[at..].starts_with(start.as_bytes()).then_some(at + start.len());
    for (_, (alphabet, least, starts)) in KEYS.iter().enumerate().filter(|(row, _)| rows & 1 << row != 0) {
        if let Some(body) = starts.iter().find_map(|start| body(start)) {
            let end = sentence_end(text, body, *alphabet);
            if end >= body + least {
                return Some(at..end);
            }
        }
    }
    // The beginning alone says too little, as in `sk-estimator-link`.
    let body = body("sk-")?;
    is_random(near(text, body, is_word)).then(|| at..run(text, body, is_word))
}

/// A JSON web token: `eyJ….….…`.
fn web_token(text: &[u8], at: usize) -> Option<Range<usize>> {
    if !text[at..].starts_with(b"eyJ") {
        return None;
    }
    let header = run(text, at, is_word);
    if header - at < 10 || text.get(header) != Some(&b'.') {
        return None;
    }
    let payload = run(text, header + 1, is_word);
    (payload - header > 6).then(|| at..sentence_end(text, payload, is_dotted))
}

/// An address that is as good as a password: `https://hooks.slack.com/services/…`.
fn hook(text: &[u8], at: usize) -> Option<Range<usize>> {
    let start = at + HOOKS.iter().find(|hook| text[at..].starts_with(hook.as_bytes()))?.len();
    let end = run(text, start, |byte| is_word(byte) || matches!(byte, b'/' | b':'));
    (end - start >= 8).then_some(start..end)
}

/// `Bearer …` on its own.
fn bearer(text: &[u8], at: usize) -> Option<Range<usize>> {
    let start = after_scheme(text, at, "bearer")?;
    let end = sentence_end(text, start, |byte| is_cookie(byte) || matches!(byte, b'.' | b'~'));
    let is_call = text.get(end) == Some(&b'(');
    (!is_call && is_random(&text[start..end])).then_some(start..end)
}

/// Over the scheme and the blanks in `Bearer …`.
fn after_scheme(text: &[u8], at: usize, schemes: &str) -> Option<usize> {
    let word = near(text, at, is_word);
    let end = at + word.len();
    let start = run(text, end, is_blank);
    (start > end && is_listed(schemes, word)).then_some(start)
}

/// A private key: `-----BEGIN … PRIVATE KEY-----`, up to its end line or the end of the text.
fn block(text: &[u8], at: usize) -> Option<Range<usize>> {
    if at > 0 && text[at - 1] == b'-' {
        return None;
    }
    let label = run(text, run(text, at, is_dash), is_blank);
    let body = after_label(text, label, "BEGIN ")?;
    let end = memmem::find_iter(&text[body..], "END ").find_map(|end| after_label(text, body + end, "END "));
    Some(at..end.unwrap_or(text.len()))
}

/// Over `BEGIN … PRIVATE KEY-----`.
fn after_label(text: &[u8], at: usize, word: &str) -> Option<usize> {
    let start = at + text[at..].starts_with(word.as_bytes()).then_some(word.len())?;
    let label = near(text, start, |byte| is_capital(byte) || byte == b' ');
    let end = start + label.len();
    let after = run(text, end, is_dash);
    (memmem::find(label, b"PRIVATE KEY").is_some() && after - end >= 2).then_some(after)
}

/// The password in `scheme://user:password@host`, or the token in `scheme://token@host`.
fn url(text: &[u8], at: usize) -> Option<Range<usize>> {
    let scheme = &text[..at];
    if !text[at..].starts_with(b"://") || !scheme.last().is_some_and(|last| is_alphanumeric(*last)) {
        return None;
    }
    let start = at + 3;
    let end = run(text, start, |byte| is_login(byte) && !matches!(byte, b'/' | b'?' | b'#'));
    let end = memrchr(b'@', &text[start..end]).map(|at| start + at).or_else(|| slashed(text, start, end))?;
    let colon = memchr(b':', &text[start..end]).map_or(end, |colon| start + colon);
    let (user, password) = (&text[start..colon], (colon + 1).min(end)..end);
    if !password.is_empty() && text[password.clone()] != *b"x-oauth-basic" {
        return (!is_reference(&text[password.clone()])).then_some(password);
    }
    let is_web = ends_in(scheme, "http") || ends_in(scheme, "https");
    let is_token = is_web && !matches!(user, b"" | b"git" | b"hg" | b"user") || is_random(user);
    (is_token && !is_reference(user)).then_some(start..end)
}

/// Where the `@` is if the password has a slash in it, which it should not. A port has no `@` after it.
fn slashed(text: &[u8], start: usize, end: usize) -> Option<usize> {
    let password = &text[start + memchr(b':', &text[start..end])? + 1..end];
    let more = near(text, end, is_login);
    let more = &more[..memmem::find(more, b"://").unwrap_or(more.len())];
    let is_port = password.iter().all(u8::is_ascii_digit) || is_reference(password);
    memrchr(b'@', more).filter(|_| !is_port).map(|at| end + at)
}

/// `<password>…</password>`
fn element(text: &[u8], at: usize) -> Option<Range<usize>> {
    noun(&text[..at])?;
    let start = at + 1;
    let inside = near(text, start, |byte| byte != b'<' && byte != b'\n');
    let end = start + inside.len();
    (text[end..].starts_with(b"</") && !is_reference(inside)).then_some(start..end)
}

/// What is known of a value from what stands before it.
struct Before {
    noun: &'static str,
    /// The name is in quotes, so that a quote after it opens the value and closes nothing.
    is_quoted: bool,
    wants_quotes: bool,
    /// It may be a sentence that goes on.
    is_prose: bool,
    /// `NAME=value`, where a value is taken as it is.
    is_shell: bool,
}

/// `PASSWORD=…`, `"api_key": "…"`, `db.password = …`, `token => '…'`
fn assigned(text: &[u8], at: usize) -> Option<Range<usize>> {
    let separator = SEPARATORS.iter().find(|separator| text[at..].starts_with(separator.as_bytes()))?;
    let is_closer = |byte: &u8| is_blank(*byte) || b"\"'`[]*\\?!+".contains(byte);
    let name = text[..at].iter().rposition(|byte| !is_closer(byte)).map_or(0, |last| last + 1);
    let noun = noun(&text[..name])?;
    let mut next = at + separator.len();
    if *separator == ":" {
        if text[next..].starts_with(b":") || text[next..].starts_with(b"//") {
            return None;
        }
        next = after_type(text, next).unwrap_or(next);
    }
    let is_prose = text.get(next).is_some_and(|byte| is_blank(*byte));
    let before = Before {
        noun,
        is_quoted: text[name..at].iter().any(|byte| matches!(byte, b'"' | b'\'')),
        wants_quotes: separator.starts_with("=="),
        is_prose,
        is_shell: *separator == "=" && text[..at].last().is_some_and(u8::is_ascii_uppercase) && !is_prose,
    };
    value(text, next, &before)
}

/// Over the type in `token: &str = "…"`.
fn after_type(text: &[u8], at: usize) -> Option<usize> {
    let start = run(text, at, is_blank);
    let kind = near(text, start, |byte| is_alphanumeric(byte) || b"_<>&'[]|?. ".contains(&byte));
    let end = start + kind.len();
    let is_set = text.get(end) == Some(&b'=') && !matches!(text.get(end + 1), Some(b'=' | b'>'));
    (is_set && is_code(kind, false)).then_some(end + 1)
}

/// `--password …`, and `"--password", "…"` in a list of arguments.
fn flag(text: &[u8], at: usize) -> Option<Range<usize>> {
    let name = option(text, at)?;
    let noun = noun(name).filter(|_| !name.starts_with(b"--no-"))?;
    let (start, wants_quotes) = argument(text, at + name.len())?;
    if text.get(start) == Some(&b'-') {
        return None;
    }
    value(text, start, &Before { noun, is_quoted: true, wants_quotes, is_prose: true, is_shell: false })
}

/// The password in `-u user:password`, or the token in `-u token:`.
fn login(text: &[u8], at: usize) -> Option<Range<usize>> {
    let name = option(text, at)?;
    let is_short = matches!(name, [b'-', letters @ .., b'u' | b'U'] if letters.iter().all(u8::is_ascii_alphabetic));
    if !is_short && !matches!(name, b"--user" | b"--proxy-user") {
        return None;
    }
    let (start, _) = argument(text, at + name.len())?;
    let quote = opened(text, start);
    let start = quote.as_ref().map_or(start, |quote| quote.inside);
    let user = near(text, start, |byte| byte != b':' && is_login(byte));
    let colon = start + user.len();
    let password = text[colon..].strip_prefix(b":")?;
    let is_number = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    if password.starts_with(b"//") || is_number(user) && is_number(near(password, 0, is_word)) {
        return None;
    }
    let end = quote.map_or_else(|| bare_end(text, colon + 1), |quote| quote.end(text, colon + 1));
    let password = &text[colon + 1..end];
    match password {
        b"" | b"x-oauth-basic" => is_random(user).then_some(start..end),
        _ => (!is_reference(password)).then_some(colon + 1..end),
    }
}

/// A command line option that begins here.
fn option(text: &[u8], at: usize) -> Option<&[u8]> {
    (at == 0 || !is_word(text[at - 1])).then(|| near(text, at, is_dotted))
}

/// Where the argument of an option is, and whether it is the next of a list.
fn argument(text: &[u8], at: usize) -> Option<(usize, bool)> {
    let closed = at + near(text, at, |byte| matches!(byte, b'\\' | b'"' | b'\'')).len();
    let is_list = closed > at && text.get(closed) == Some(&b',');
    let start = run(text, closed + usize::from(is_list), is_blank);
    let is_set = text.get(at) == Some(&b'=');
    (is_list || is_set || start > closed).then_some((start + usize::from(is_set), is_list))
}

fn value(text: &[u8], at: usize, before: &Before) -> Option<Range<usize>> {
    let schemes = if before.noun == AUTHORIZATION { SCHEMES } else { "bearer" };
    let first = run(text, at, is_blank);
    let bare = after_scheme(text, first, schemes).unwrap_or(first);
    let quote = opened(text, bare);
    let inside = quote.as_ref().map_or(bare, |quote| quote.inside);
    let start = after_scheme(text, inside, schemes).unwrap_or(inside);
    let has_scheme = bare > first || start > inside;
    let head = near(text, start, |byte| byte != b'\n');
    let is_none = match &quote {
        Some(quote) => !before.is_quoted && quote.is_end(text),
        None if before.is_shell => head.starts_with(b"$("),
        None => before.wants_quotes || is_code(head, before.is_prose),
    };
    let is_path = PLACES.contains(&before.noun) && PATHS.iter().any(|path| head.starts_with(path.as_bytes()));
    let word = near(text, start, |byte| is_login(byte) && byte != b',');
    let is_talk = has_scheme && is_listed(TALK, word);
    let is_role = before.noun == AUTHORIZATION && !has_scheme && !is_random(word);
    if is_none || is_path || is_talk || is_role {
        return None;
    }
    let end = quote.map_or_else(|| bare_end(text, start), |quote| quote.end(text, start));
    if is_reference(&text[start..end]) {
        return None;
    }
    // A private key in it may be longer than the value seems to be.
    let block = memmem::find(&text[start..end], b"-----BEGIN").and_then(|at| block(text, start + at));
    Some(start..block.map_or(end, |block| block.end.max(end)))
}

struct Quote {
    inside: usize,
    close: &'static str,
    /// How many backslashes are before the quote, as in JSON within JSON.
    escapes: usize,
    /// Three quotes, which go over lines.
    is_triple: bool,
}

/// A quote that opens here, also `b"…"` or `$'…'`.
fn opened(text: &[u8], at: usize) -> Option<Quote> {
    let prefix = near(text, at, |byte| b"bBcCfFrRuUL$@".contains(&byte)).len();
    let at = if prefix > 2 { at } else { at + prefix };
    let escapes = near(text, at, |byte| byte == b'\\').len();
    let (open, close) = QUOTES.iter().find(|(open, _)| text[at + escapes..].starts_with(open.as_bytes()))?;
    let length = escapes + open.len();
    let is_triple = is_thrice(&text[at..], length);
    let inside = at + if is_triple { 3 * length } else { length };
    (escapes < 8).then_some(Quote { inside, close, escapes, is_triple })
}

fn is_thrice(text: &[u8], length: usize) -> bool {
    text.len() >= 3 * length
        && text[..length] == text[length..2 * length]
        && text[..length] == text[2 * length..3 * length]
}

impl Quote {
    /// Whether it ends what began before, as in `"Enter password: ")`.
    fn is_end(&self, text: &[u8]) -> bool {
        let before = &text[self.inside.saturating_sub(NEAR)..self.inside];
        let line = &before[memrchr(b'\n', before).map_or(0, |newline| newline + 1)..];
        let mark = &line[line.len().saturating_sub(self.escapes + self.close.len())..];
        let marks = memmem::find_iter(line, mark).filter(|at| *at == 0 || line[at - 1] != b'\\');
        let is_even = self.close.is_ascii() && marks.count() % 2 == 0;
        is_even && text.get(self.inside).is_none_or(|byte| is_space(*byte) || b",;)]}+".contains(byte))
    }

    /// Where it is closed; at the end of the line if it is not.
    fn end(&self, text: &[u8], from: usize) -> usize {
        let rest = &text[from..];
        let first = self.close.as_bytes()[0];
        for at in memchr2_iter(first, if self.is_triple { first } else { b'\n' }, rest) {
            if rest[at] == b'\n' {
                return from + at;
            }
            let slashes = rest[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
            let start = at - slashes.min(self.escapes);
            let is_escaped = slashes > self.escapes && (self.escapes > 0 || slashes % 2 == 1);
            let is_whole = !self.is_triple || is_thrice(&rest[start..], at + self.close.len() - start);
            if !is_escaped && is_whole && rest[at..].starts_with(self.close.as_bytes()) {
                return from + start;
            }
        }
        text.len()
    }
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
        [b'"' | b'\'' | b'`', next, ..] => !is_alphanumeric(*next),
        [b'\\', b'n' | b'r' | b't', next @ ..] => is_next(next),
        [b'&' | b';' | b',' | b'|', next @ ..] => next.first() == rest.first() || is_next(next),
        [b'"' | b'\'' | b'`'] => true,
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

/// Whether a value without quotes is plainly none, by its beginning.
fn is_code(head: &[u8], is_prose: bool) -> bool {
    let is_end = |byte: &u8| is_space(*byte) || b",;)]}<>|[=?(.:\"'".contains(byte);
    let end = head.iter().position(is_end).unwrap_or(head.len());
    let (word, rest) = head.split_at(end);
    let next_is = |is: fn(u8) -> bool| rest.get(1).is_some_and(|next| is(*next));
    let is_over = match rest.first() {
        Some(b'.') => !next_is(is_alphanumeric),
        Some(b'(' | b':') => false,
        _ => true,
    };
    // `it is`, `it's`
    let goes_on = match rest {
        [b' ', next, ..] => next.is_ascii_alphabetic(),
        [b'\'', _, b' ', ..] | [b'\'', _, _, b' ', ..] => true,
        _ => false,
    };
    let is_key = rest.first() == Some(&b':') && next_is(is_space) && word.iter().all(u8::is_ascii_alphabetic);
    is_over && is_listed(CODE, word)
        || is_prose && goes_on && is_listed(PROSE, word)
        || is_key && !word.is_empty()
        || is_expression(head)
}

/// A call, an index, a path that ends in a name as it ends in here, something in brackets, a substitution.
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
        (_, [b'[', b'"' | b'\'' | b':' | b'$', ..]) => true,
        (_, rest) => {
            let is_over = rest.first().is_none_or(|byte| is_space(*byte) || b",;)]}".contains(byte));
            is_over && path.contains(&b'.') && path.iter().all(|byte| is_dotted(*byte)) && noun(path).is_some()
        }
    }
}

/// Whether a whole value stands for something else: a placeholder, a variable, a row of asterisks, nothing.
fn is_reference(value: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(value) else { return false };
    let is_wrapped =
        |(open, close): &(&str, &str)| text.strip_prefix(open).is_some_and(|inside| inside.ends_with(close));
    let is_name = |name: &str| {
        name.bytes().all(|byte| is_capital(byte) || byte == b'_')
            || name.bytes().all(|byte| is_alphanumeric(byte) || byte == b'_') && noun(name.as_bytes()).is_some()
    };
    let mut chars = text.chars();
    let is_row = match chars.next() {
        Some(first) => !first.is_alphanumeric() && chars.all(|char| char == first),
        None => true,
    };
    value.len() <= NEAR
        && (is_row
            || WRAPS.iter().any(is_wrapped)
            || text.strip_prefix('$').is_some_and(is_name)
            || text.strip_prefix([':', '@']).is_some_and(|name| NOUNS.contains(&name))
            || matches!(value, [b'%', _]))
}

/// Whether this may be a key rather than a word: letters with digits in them, or no end of letters.
fn is_random(text: &[u8]) -> bool {
    text[..text.len().min(NEAR)].split(|byte| !is_alphanumeric(*byte)).any(|run| {
        let has_digit = run.iter().any(u8::is_ascii_digit);
        let has_letter = run.iter().any(u8::is_ascii_alphabetic);
        run.len() >= 6 && has_digit && has_letter || run.len() >= 20
    })
}

fn noun(name: &[u8]) -> Option<&'static str> {
    NOUNS.iter().copied().find(|noun| ends_in(name, noun))
}

fn ends_in(name: &[u8], noun: &str) -> bool {
    let mut rest = name;
    for wanted in noun.bytes().rev() {
        rest = match rest {
            [before @ .., b'_' | b'-' | b'.' | b' '] if wanted == b' ' => before,
            _ if wanted == b' ' => rest,
            [before @ .., last] if last.to_ascii_lowercase() == wanted => before,
            _ => return false,
        };
    }
    true
}

fn is_listed(words: &str, word: &[u8]) -> bool {
    words.split(' ').any(|listed| listed.as_bytes().eq_ignore_ascii_case(word))
}

/// Where a run of characters ends.
fn run(text: &[u8], at: usize, alphabet: Alphabet) -> usize {
    text[at..].iter().position(|byte| !alphabet(*byte)).map_or(text.len(), |length| at + length)
}

/// The same, without the dots that end a sentence.
fn sentence_end(text: &[u8], at: usize, alphabet: Alphabet) -> usize {
    let run = &text[at..run(text, at, alphabet)];
    at + run.iter().rposition(|byte| *byte != b'.').map_or(0, |last| last + 1)
}

/// A run of characters, or the beginning of it.
fn near(text: &[u8], at: usize, alphabet: impl Fn(u8) -> bool) -> &[u8] {
    let rest = &text[at..];
    let rest = &rest[..rest.len().min(NEAR)];
    &rest[..rest.iter().position(|byte| !alphabet(*byte)).unwrap_or(rest.len())]
}

fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_capital(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn is_word(byte: u8) -> bool {
    is_alphanumeric(byte) || matches!(byte, b'_' | b'-')
}

fn is_dotted(byte: u8) -> bool {
    is_word(byte) || byte == b'.'
}

fn is_cookie(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'%' | b'+' | b'/' | b'=')
}

/// What may be in `user:password@`.
fn is_login(byte: u8) -> bool {
    !is_space(byte) && !matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\')
}

fn is_dash(byte: u8) -> bool {
    byte == b'-'
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    const KEY: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

    const EXAMPLES: &[&str] = &[
        KEY,
        "sk-ant-api03-Ab1_cd-EFghIJklMNopQRstUVwx-yz0123456789AA",
        "sk-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV",
        "sk-proj-abc_DEF-123456ghijklmn",
        "sk-or-v1-0123456789abcdef0123456789abcdef",
        "sk-abc123",
        "AKIAIOSFODNN7EXAMPLE",
        "ASIAIOSFODNN7EXAMPLE",
        "gho_16C7e42F292c6912E7710c838347Ae178B4a",
        "ghu_16C7e42F292c6912E7710c838347Ae178B4a",
        "ghs_16C7e42F292c6912E7710c838347Ae178B4a",
        "ghr_16C7e42F292c6912E7710c838347Ae178B4a",
        "github_pat_11ABCDEFG0abcdefghijkl_MNOPQRSTUVWXYZ",
        "glpat-abcdefghij0123456789",
        "xoxb-123456789012-1234567890123-abcdefABCDEF",
        "xoxp-123456789012-abcdefABCDEF",
        "xapp-1-A0123456789-1234567890123-abcdef",
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
        "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "rk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "sk_test_4eC39HqLyjWDarjtT1zdp7dc",
        "npm_abcdefghijklmnopqrstuvwxyz0123456789",
        "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
        "ya29.a0AfH6SMBx-abc_def.ghi012345",
        "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",
        "dop_v1_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    ];

    /// What is between `⟦` and `⟧` has to go, and nothing else.
    const HIDDEN: &[&str] = &[
        "PASSWORD=⟦x⟧",
        "PASSWORD=⟦hunter2⟧ ./run",
        "password: ⟦x⟧",
        "password: ⟦hunter2⟧.",
        "password: ⟦Summer2024!⟧ ok",
        "password: ⟦don't4get⟧ ok",
        "Password: ⟦the⟧",
        "\"api_key\": \"⟦x y⟧\"",
        "'api-key' : '⟦x y⟧'",
        "{\"password\":\"⟦a\\\"b⟧\",\"user\":\"me\"}",
        "{\\\"password\\\":\\\"⟦a\\\\\\\"b⟧\\\",\\\"user\\\":\\\"me\\\"}",
        "export AWS_SECRET_ACCESS_KEY='⟦wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY⟧'",
        "aws_secret_access_key = ⟦/JalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY⟧",
        "K_TOKEN=⟦abc⟧; curl x",
        "K_TOKEN=⟦abc⟧&&curl x",
        "K_TOKEN=⟦abc⟧ curl -H \"Authorization: Bearer $K_TOKEN\" x",
        "db.password = ⟦x⟧",
        "pwd=⟦x⟧",
        "Server=x;Password=⟦abc⟧;Database=y",
        "AccountKey=⟦abc+/==⟧;EndpointSuffix=core",
        "https://h/?access_token=⟦abc⟧&user=me",
        "f(token=⟦abc⟧, user=1)",
        "token=⟦abc⟧,user=bob",
        "PASSWORD=⟦P4ss&w0rd,x;y!⟧ x",
        "PASSWORD=⟦hunter2⟧\\nUSER=bob",
        "password = b\"⟦hunter2⟧\"",
        "password = \"\"\"⟦hunter2⟧\"\"\" + x",
        "let token: &str = \"⟦abc⟧\";",
        "token: &'static str = \"⟦abc⟧\"",
        "const password: string = '⟦x⟧'",
        "def f(token: str = \"⟦x⟧\"):",
        "if password == \"⟦hunter2⟧\":",
        "password != '⟦hunter2⟧'",
        "config[\"token\"] = \"⟦abc⟧\"",
        "{ token => '⟦abc⟧' }",
        "token := \"⟦abc⟧\"",
        "${DB_PASSWORD:-⟦hunter2⟧}",
        "DB_PASS=⟦x⟧",
        "PGPASSWORD=⟦x⟧ psql",
        "clientSecret: ⟦abc⟧,",
        "private_key = '⟦abc⟧'",
        "passphrase=⟦abc⟧ credentials: ⟦abc⟧ passwd=⟦abc⟧ apikey=⟦abc⟧ secret-key: ⟦abc⟧",
        "my API key: ⟦abcdef⟧, client secret: ⟦xyz⟧",
        "**Password:** ⟦hunter2⟧ and **Token**: ⟦abc⟧",
        "password: “⟦hunter 2⟧” x",
        "token：⟦abc⟧",
        "das Paßwort, password: ⟦pässwörd⟧ wörks",
        "password: ⟦{x9kq!⟧",
        "password=⟦$ecret⟧",
        "password=\"⟦$ecretP4⟧\"",
        "password=⟦new-pass⟧",
        "password=⟦x.secret-2⟧",
        "secret = \"⟦correct horse battery⟧\"",
        "PASSWORD=\"⟦)abc⟧\" x",
        "PASSWORD=⟦Ab(9z⟧ run (now)",
        "token: \"⟦unclosed",
        "<password>⟦hunter2⟧</password>",
        "X-Api-Key: ⟦abc⟧",
        "Authorization: Bearer ⟦abc⟧",
        "curl -H 'Authorization: Basic ⟦dXNlcjpwYXNz⟧' x",
        "Authorization: Token ⟦9944b09199c62bcf⟧",
        "Authorization: ⟦9944b09199c62bcf⟧",
        "\"Authorization\": \"Bearer ⟦abc.def-ghi⟧\", \"x\": 1",
        "Bearer ⟦a1b2c3d4e5f6⟧.",
        "token: Bearer ⟦abc⟧",
        "--password ⟦x⟧ --token=⟦x⟧ --api-key ⟦x⟧ rest",
        "--password '⟦x y⟧' rest",
        "[\"mysql\", \"--password\", \"⟦hunter2⟧\", \"-h\"]",
        "curl -u user:⟦pass⟧ https://x",
        "curl --user 'user:⟦pa ss⟧' x",
        "curl --user=me:⟦pw⟧ x",
        "curl -sku \"me:⟦pw⟧\" x",
        "curl -u ⟦0123456789abcdef:⟧ x",
        "[\"curl\",\"-u\",\"me:⟦pw⟧\"]",
        "postgres://user:⟦hunter2⟧@db.host/x",
        "redis://:⟦hunter2⟧@localhost:6379",
        "postgres://u:⟦p@ss⟧@h/db",
        "https://⟦ghp_16C7e42F292c6912E7710c838347Ae178B4a⟧:⟦x⟧@github.com",
        "mongodb+srv://u:⟦p/s?s#⟧@h/db",
        "https://⟦abcdef⟧@host/x",
        "https://⟦abc:x-oauth-basic⟧@github.com/",
        "git clone https://x-access-token:⟦abc⟧@github.com/me/repo",
        "https://hooks.slack.com/services/⟦T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX⟧",
        "token%3D⟦ghp_16C7e42F292c6912E7710c838347Ae178B4a⟧",
        "⟦-----BEGIN RSA PRIVATE KEY----- MIIEpAIBAAKCAQEA abc== -----END RSA PRIVATE KEY-----⟧ after",
        "⟦-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----⟧\nafter",
        "⟦-----BEGIN PGP PRIVATE KEY BLOCK-----\nMIIE\n-----END PGP PRIVATE KEY BLOCK-----⟧\nafter",
        "⟦-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNzaC1rZXk\\n",
        "private_key: \"⟦-----BEGIN PRIVATE KEY-----\\nMII\\n-----END PRIVATE KEY-----\\n⟧\", x",
        "private_key: ⟦-----BEGIN PRIVATE KEY----- MII abc -----END PRIVATE KEY-----⟧ rest",
        "KEY_SECRET=\"⟦-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----⟧\"",
    ];

    const HARMLESS: &[&str] = &[
        "",
        "tokens: 500",
        "max_tokens=500",
        "\"max_tokens\": 500, \"input_tokens\": 12",
        "the token is wrong",
        "secret santa",
        "task-ant-farm",
        "risk-free",
        "sk- alone, sk-SK",
        "sk-estimator-doc-link sk-container-id-1 sk-toggleable__label-arrow",
        "password reset flow",
        "token = getToken()",
        "const token = req.headers.token",
        "const token = await getToken(user)",
        "token: jwt.sign({",
        "let token: String = String::new();",
        "pub token: Option<String>,",
        "password: string;",
        "password?: string | null",
        "fn login(user: &str, password: &str) -> Token {",
        "def f(token: str = None, password: Optional[str] = None):",
        "if token == null {",
        "if (token === undefined)",
        "token := os.Getenv(\"TOKEN\")",
        "password = os.environ[\"DB_PASSWORD\"]",
        "password: process.env.DB_PASSWORD,",
        "PASSWORD=$DB_PASSWORD ./run",
        "PASSWORD=\"$DB_PASSWORD\" ./run",
        "TOKEN=$(cat /run/token) curl",
        "curl -H \"Authorization: Bearer $TOKEN\" https://x",
        "headers: { Authorization: `Bearer ${token}` }",
        "\"Authorization\": f\"Bearer {token}\"",
        "\"Authorization\": \"Bearer \" + token",
        "Authorization: Bearer token required",
        "Authorization: Basic auth is off",
        "authorization: admins only",
        "bearer of bad news; a bearer token; Bearer authentication",
        "About the password: it is wrong",
        "About the password: it's wrong",
        "the token: we get it from the server",
        "Fix the password: don't store it",
        "grep \"password:\" file.txt",
        "grep 'token=' src -r | head",
        "set `PASSWORD=` in `.env`",
        "print('token:'+t) print(\"x\", \"token: \" + t)",
        "printf(\"token: %s\\n\", token)",
        "password = input(\"Enter password: \")",
        "`password`: the user's password",
        "use --password to set it",
        "the --token flag is required; --password, which is old",
        "--password <PASSWORD> --password --host x",
        "--no-password mydb",
        "reset-password x",
        "PWD=/home/me/project",
        "GOOGLE_APPLICATION_CREDENTIALS=/etc/key.json",
        "--private-key ~/.ssh/id_rsa",
        "docker run -u 1000:1000 -it x",
        "docker run --user $(id -u):$(id -g) x",
        "git push -u origin main:main",
        "curl -u https://host:80/x",
        "https://github.com/me/repo@v1",
        "ssh://git@github.com/me/repo.git",
        "https://medium.com/@user/x",
        "http://localhost:3000/@vite/client",
        "postgres://postgres@localhost/db",
        "https://${USER}:${PASS}@host https://$TOKEN@github.com",
        "std::token::Token Token::new(x)",
        "feat(token): handle expiry",
        "SyntaxError: Unexpected token } in JSON at position 5",
        "unexpected token: `;`",
        "npm_config_registry npm_package_version hf_hub_download",
        "secret: {",
        "\"secret\": null, \"token\": \"\"",
        "password: ********",
        "token: ... token: … token: [redacted]",
        "INSERT INTO users (name, password) VALUES (?, ?)",
        "UPDATE users SET password = ?, token = :token WHERE id = $1",
        "<input type=\"password\" name=\"password\">",
        "the AKIA prefix and AIza keys, ghp_ tokens, eyJ… tokens, xoxb- ones",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----",
        "credentials: username: bob",
    ];

    /// The text of a row, and what has to become of it.
    fn row(row: &str) -> (String, String) {
        let mut expected = String::new();
        for (index, part) in row.split('⟦').enumerate() {
            let after = part.split_once('⟧').map_or("", |(_, after)| after);
            expected += &if index == 0 { part.to_owned() } else { format!("{REDACTED}{after}") };
        }
        (row.replace(['⟦', '⟧'], ""), expected)
    }

    #[test]
    fn a_key_goes_wherever_it_stands() {
        let places = [
            ("", ""),
            ("", " is mine"),
            ("use ", " now"),
            ("the key is ", "."),
            ("is it ", "?"),
            ("curl -H 'X-Thing: ", "' https://x"),
            ("K=", "; curl"),
            ("PASSWORD=", " ./run"),
            ("https://", "@host/x"),
            ("key%3D", "&x=1"),
            ("{\"a\": \"", "\"}"),
            ("{\\\"a\\\":\\\"", "\\\"}"),
            ("a\\n", "\\nb"),
            ("a\n", "\nb"),
            ("(", ")"),
            ("`", "`"),
            ("é", "é"),
            ("日本", "語"),
            ("👩‍👩‍👧", "👩‍👩‍👧"),
        ];
        for key in EXAMPLES {
            for (before, after) in places {
                assert_eq!(redact(&format!("{before}{key}{after}")), format!("{before}{REDACTED}{after}"));
            }
        }
    }

    #[test]
    fn a_value_goes_and_its_name_stays() {
        for line in HIDDEN {
            let (text, expected) = row(line);
            assert_eq!(redact(&text), expected);
            assert_eq!(redact(&expected), expected, "a second time");
            assert_eq!(redact(&format!("Then “run” this: {text}")), format!("Then “run” this: {expected}"));
            if line.contains('⟧') {
                assert_eq!(redact(&format!("{text} - and so on")), format!("{expected} - and so on"));
                assert_eq!(redact(&format!("{text}\nand so on")), format!("{expected}\nand so on"));
            }
            let json = |text: &str| serde_json::to_string(&[text, "next"]).unwrap();
            if line.contains('⟧') {
                assert_eq!(redact(&json(&text)), json(&expected));
            }
        }
    }

    #[test]
    fn prose_and_code_stay() {
        for text in HARMLESS {
            assert_eq!(redact(text), *text);
            assert!(matches!(redact(text), Cow::Borrowed(_)));
        }
    }

    #[test]
    fn no_part_of_a_text_makes_it_panic() {
        let rows = HIDDEN.iter().map(|line| row(line).0);
        for text in rows.chain(EXAMPLES.iter().chain(HARMLESS).map(|text| text.to_string())) {
            for (at, _) in text.char_indices() {
                redact(&text[..at]);
                redact(&text[at..]);
                redact(&format!("{}é{}", &text[..at], &text[at..]));
                redact(&format!("{} {}", &text[..at], &text[at..]));
            }
        }
    }

    /// Whatever stands around a key, it goes; and nothing of it panics.
    #[test]
    fn no_neighbour_saves_a_key() {
        let parts: Vec<_> = "token|password|\"|'|`|“|”|=|:| |\\|\\\"|://|@|/|-u|--token|-|-----BEGIN PRIVATE KEY-----|\
            é|日|{|}|(|)|[|]|<|>|$|Bearer|Authorization|the|,|;|&|.|\n|eyJ|sk-|api|key|\\n|1|str|='''|*"
            .split('|')
            .collect();
        let mut seed = 1_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        for _ in 0..30_000 {
            let mut text = String::new();
            for _ in 0..random(8) {
                text += parts[random(parts.len())];
            }
            text = format!("{text} {KEY} ");
            for _ in 0..random(8) {
                text += parts[random(parts.len())];
            }
            assert!(!redact(&text).contains(KEY), "{text:?}");
        }
    }

    #[test]
    fn the_time_is_linear() {
        let units = [
            ("sk-", 1 << 20),
            ("://a:b", 1 << 20),
            ("sk-_", 1 << 16),
            ("http://a:b/", 1 << 16),
            ("token=a(", 1 << 16),
            ("token={", 1 << 16),
            ("token='{", 1 << 16),
            ("password:“", 1 << 16),
            ("password:“\n", 1 << 16),
            ("token=\\\\\\\\\"", 1 << 16),
            ("\"token\": \"\", ", 1 << 16),
            ("token=a&b", 1 << 16),
            ("pwd=/", 1 << 16),
            ("authorization=", 1 << 16),
            ("authorization: “", 1 << 16),
            ("-u “a:// ", 1 << 16),
            ("-u “a: ", 1 << 16),
            ("--token ", 1 << 16),
            ("eyJ-", 1 << 16),
            ("eyJ.", 1 << 16),
            ("eyJaaaaaaaaaa.", 1 << 16),
            ("-----BEGIN PRIVATE KEY", 1 << 16),
            ("-----BEGIN PRIVATE KEY----- END ", 1 << 16),
            ("<password>", 1 << 16),
            ("=", 1 << 16),
            ("-", 1 << 16),
            (" ", 1 << 16),
        ];
        for (unit, size) in units {
            for end in ["", "}'”.a@b"] {
                let text = unit.repeat(size / unit.len()) + end;
                let start = Instant::now();
                redact(&text);
                assert!(start.elapsed() < Duration::from_secs(10), "{unit} {end}: {:?}", start.elapsed());
            }
        }
    }
}
