//! Code and prose where a value without quotes might stand: `token = getToken()`, `the token: we get it`.
//!
//! Decided by the beginning alone, which is all that is given. Only what is plainly no secret is code; in quotes nothing is.
//! What stands for a whole value is for `placeholder` to tell.

use memchr::memchr;

use super::name::secret_name;
use super::text::{is_alphanumeric, is_dotted, is_listed, is_space, near};

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
    let is_name = is_letters && rest.first() == Some(&b':') && next_is(is_space);
    is_whole && is_listed(CODE, word) || is_name || is_expression(head)
}

/// Whether this is a sentence that goes on: `it is`, `it's`.
pub fn is_prose(head: &[u8]) -> bool {
    let (word, rest) = first_word(head);
    let goes_on = match rest {
        [b' ', next, ..] => next.is_ascii_alphabetic(),
        [b'\'', _, b' ', ..] | [b'\'', _, _, b' ', ..] => true,
        _ => false,
    };
    goes_on && is_listed(PROSE, word)
}

fn first_word(head: &[u8]) -> (&[u8], &[u8]) {
    let is_end = |byte: &u8| is_space(*byte) || b",;)]}<>|[=?(.:\"'".contains(byte);
    head.split_at(head.iter().position(is_end).unwrap_or(head.len()))
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
            is_over && path.contains(&b'.') && path.iter().all(|byte| is_dotted(*byte)) && secret_name(path).is_some()
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::secrets::check::assert_kept;

    #[test]
    fn code_stays() {
        assert_kept(&[
            "token = getToken()",
            "const token = req.headers.token",
            "const token = await getToken(user)",
            "token: jwt.sign({",
            "pub token: Option<String>,",
            "password: string;",
            "password?: string | null",
            "fn login(user: &str, password: &str) -> Token {",
            "token := os.Getenv(\"TOKEN\")",
            "password = os.environ[\"DB_PASSWORD\"]",
            "password: process.env.DB_PASSWORD,",
            "TOKEN=$(cat /run/token) curl",
            "secret: {",
            "credentials: username: bob",
        ]);
    }

    #[test]
    fn prose_stays() {
        assert_kept(&[
            "About the password: it is wrong",
            "About the password: it's wrong",
            "the token: we get it from the server",
            "Fix the password: don't store it",
            "`password`: the user's password",
        ]);
    }
}
