//! A user and a password with a colon between them: in an address, and after `-u`.
//!
//! The password goes and the user stays, unless there is no password and the user is the secret: `https://token@host`,
//! `-u token:`. Where the argument of a flag is, `flag` says; addresses that are secret by themselves are for `webhook`.

use memchr::{memchr, memmem, memrchr};

use super::Secret;
use super::flag::{argument, flag_name};
use super::key::is_random;
use super::name::ends_in;
use super::placeholder::is_placeholder;
use super::quote::Quote;
use super::text::{is_alphanumeric, is_login, is_word, near, run_end};
use super::value;

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
        let is_token = is_web && !matches!(user, b"" | b"git" | b"hg" | b"user") || is_random(user);
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

/// The password in `-u user:password`, or the token in `-u token:`.
pub fn after_flag(text: &[u8], at: usize) -> Option<Secret> {
    let name = flag_name(text, at)?;
    let is_short = matches!(name, [b'-', letters @ .., b'u' | b'U'] if letters.iter().all(u8::is_ascii_alphabetic));
    if !is_short && !matches!(name, b"--user" | b"--proxy-user") {
        return None;
    }
    let (start, _) = argument(text, at + name.len())?;
    let quote = Quote::opened(text, start);
    let start = quote.as_ref().map_or(start, |quote| quote.inside);
    let user = near(text, start, |byte| byte != b':' && is_login(byte));
    let colon = start + user.len();
    let password = text[colon..].strip_prefix(b":")?;
    if password.starts_with(b"//") || is_number(user) && is_number(near(password, 0, is_word)) {
        return None;
    }
    let end = value::end(text, colon + 1, quote.as_ref());
    password_or_token(text, start..end, colon, is_random)
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

#[cfg(test)]
mod tests {
    use crate::secrets::check::{assert_hidden, assert_kept};

    #[test]
    fn a_password_in_an_address_goes() {
        assert_hidden(&[
            "postgres://user:⟦hunter2⟧@db.host/x",
            "redis://:⟦hunter2⟧@localhost:6379",
            "postgres://u:⟦p@ss⟧@h/db",
            "https://⟦ghp_16C7e42F292c6912E7710c838347Ae178B4a⟧:⟦x⟧@github.com",
            "mongodb+srv://u:⟦p/s?s#⟧@h/db",
            "https://⟦abcdef⟧@host/x",
            "https://⟦abc:x-oauth-basic⟧@github.com/",
            "git clone https://x-access-token:⟦abc⟧@github.com/me/repo",
        ]);
    }

    #[test]
    fn an_address_without_a_password_stays() {
        assert_kept(&[
            "https://github.com/me/repo@v1",
            "ssh://git@github.com/me/repo.git",
            "https://medium.com/@user/x",
            "http://localhost:3000/@vite/client",
            "postgres://postgres@localhost/db",
            "https://${USER}:${PASS}@host https://$TOKEN@github.com",
        ]);
    }

    #[test]
    fn a_password_after_a_flag_goes() {
        assert_hidden(&[
            "curl -u user:⟦pass⟧ https://x",
            "curl --user 'user:⟦pa ss⟧' x",
            "curl --user=me:⟦pw⟧ x",
            "curl -sku \"me:⟦pw⟧\" x",
            "curl -u ⟦0123456789abcdef:⟧ x",
            "[\"curl\",\"-u\",\"me:⟦pw⟧\"]",
        ]);
    }

    #[test]
    fn other_things_after_the_same_flag_stay() {
        assert_kept(&[
            "docker run -u 1000:1000 -it x",
            "docker run --user $(id -u):$(id -g) x",
            "git push -u origin main:main",
            "curl -u https://host:80/x",
        ]);
    }
}
