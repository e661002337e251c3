//! A name and its value: `PASSWORD=…`, `"api_key": "…"`, `token => '…'`, `<password>…</password>`.
//!
//! The name and the separator stay. The name is what ends before the separator, so nothing is looked for further back than
//! what may close it. Whether something is a value, and where it ends, is for `value` to say.

use super::Secret;
use super::code::is_code;
use super::name::secret_name;
use super::placeholder::is_placeholder;
use super::text::{is_alphanumeric, is_blank, near, run_end};
use super::value::{self, Before};

/// What stands between a name and its value; the longer first.
pub const SEPARATORS: &[&str] = &["===", "==", "=>", ":=", ":-", ":**", "=", ":", "：", "＝"];

/// `PASSWORD=…`, `"api_key": "…"`, `db.password = …`, `token => '…'`
pub fn assigned(text: &[u8], at: usize) -> Option<Secret> {
    let separator = SEPARATORS.iter().find(|separator| text[at..].starts_with(separator.as_bytes()))?;
    let is_closer = |byte: &u8| is_blank(*byte) || b"\"'`[]*\\?!+".contains(byte);
    let name_end = text[..at].iter().rposition(|byte| !is_closer(byte)).map_or(0, |last| last + 1);
    let name = secret_name(&text[..name_end])?;
    let mut next = at + separator.len();
    if *separator == ":" {
        if text[next..].starts_with(b":") || text[next..].starts_with(b"//") {
            return None;
        }
        next = after_type(text, next).unwrap_or(next);
    }
    let is_prose = text.get(next).is_some_and(|byte| is_blank(*byte));
    let before = Before {
        name,
        is_quoted: text[name_end..at].iter().any(|byte| matches!(byte, b'"' | b'\'')),
        wants_quotes: separator.starts_with("=="),
        is_prose,
        is_shell: *separator == "=" && text[..at].last().is_some_and(u8::is_ascii_uppercase) && !is_prose,
    };
    value::hidden(text, next, &before)
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
pub fn element(text: &[u8], at: usize) -> Option<Secret> {
    secret_name(&text[..at])?;
    let start = at + 1;
    let inside = near(text, start, |byte| byte != b'<' && byte != b'\n');
    let end = start + inside.len();
    (text[end..].starts_with(b"</") && !is_placeholder(inside)).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use crate::secrets::check::{assert_hidden, assert_kept};

    #[test]
    fn a_value_goes_and_its_name_stays() {
        assert_hidden(&[
            "PASSWORD=⟦x⟧",
            "PASSWORD=⟦hunter2⟧ ./run",
            "password: ⟦x⟧",
            "db.password = ⟦x⟧",
            "\"api_key\": \"⟦x y⟧\"",
            "'api-key' : '⟦x y⟧'",
            "if password == \"⟦hunter2⟧\":",
            "password != '⟦hunter2⟧'",
            "config[\"token\"] = \"⟦abc⟧\"",
            "{ token => '⟦abc⟧' }",
            "token := \"⟦abc⟧\"",
            "${DB_PASSWORD:-⟦hunter2⟧}",
            "**Password:** ⟦hunter2⟧ and **Token**: ⟦abc⟧",
            "token：⟦abc⟧",
            "<password>⟦hunter2⟧</password>",
        ]);
    }

    #[test]
    fn a_type_may_stand_before_the_value() {
        assert_hidden(&[
            "let token: &str = \"⟦abc⟧\";",
            "token: &'static str = \"⟦abc⟧\"",
            "const password: string = '⟦x⟧'",
            "def f(token: str = \"⟦x⟧\"):",
        ]);
        assert_kept(&[
            "let token: String = String::new();",
            "def f(token: str = None, password: Optional[str] = None):",
        ]);
    }

    #[test]
    fn what_is_not_assigned_stays() {
        assert_kept(&[
            "",
            "the token is wrong",
            "secret santa",
            "password reset flow",
            "std::token::Token Token::new(x)",
            "feat(token): handle expiry",
            "SyntaxError: Unexpected token } in JSON at position 5",
            "INSERT INTO users (name, password) VALUES (?, ?)",
            "<input type=\"password\" name=\"password\">",
            "if token == null {",
            "if (token === undefined)",
        ]);
    }
}
