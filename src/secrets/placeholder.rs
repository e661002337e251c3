//! What stands for a secret without being one: `$TOKEN`, `<password>`, `********`, `%s`, nothing.
//!
//! Decided by the whole value, wherever it was found, and only for short ones. It is what keeps `[redacted]` as it is the
//! second time. Code that computes a value is for `code` to tell.

use super::name::{is_bare_name, secret_name};
use super::text::{NEAR, is_alphanumeric, is_capital};

/// What a placeholder is wrapped in.
const WRAPS: &[(&str, &str)] = &[("${", "}"), ("$(", ")"), ("#{", "}"), ("{", "}"), ("<", ">"), ("[", "]"), ("%", "%")];

/// Whether a whole value stands for something else.
pub fn is_placeholder(value: &[u8]) -> bool {
    if value.len() > NEAR {
        return false;
    }
    let Ok(text) = std::str::from_utf8(value) else { return false };
    is_row(text) || is_wrapped(text) || is_variable(text) || matches!(value, [b'%', _])
}

/// `********`, or nothing.
fn is_row(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_none_or(|first| !first.is_alphanumeric() && chars.all(|char| char == first))
}

/// `<password>`
fn is_wrapped(text: &str) -> bool {
    WRAPS.iter().any(|(open, close)| text.strip_prefix(open).is_some_and(|inside| inside.ends_with(close)))
}

/// `$DB_HOST`, `$token`, but not `$ecret`; and `:token` or `@token` in a query.
fn is_variable(text: &str) -> bool {
    let is_name = |name: &str| {
        name.bytes().all(|byte| is_capital(byte) || byte == b'_')
            || name.bytes().all(|byte| is_alphanumeric(byte) || byte == b'_') && secret_name(name.as_bytes()).is_some()
    };
    text.strip_prefix('$').is_some_and(is_name) || text.strip_prefix([':', '@']).is_some_and(is_bare_name)
}

#[cfg(test)]
mod tests {
    use crate::secrets::check::{assert_hidden, assert_kept};

    #[test]
    fn what_stands_for_a_value_stays() {
        assert_kept(&[
            "PASSWORD=$DB_PASSWORD ./run",
            "PASSWORD=\"$DB_PASSWORD\" ./run",
            "printf(\"token: %s\\n\", token)",
            "unexpected token: `;`",
            "\"secret\": null, \"token\": \"\"",
            "password: ********",
            "token: ... token: … token: [redacted]",
            "UPDATE users SET password = ?, token = :token WHERE id = $1",
        ]);
    }

    #[test]
    fn what_only_begins_like_it_goes() {
        assert_hidden(&["password=⟦$ecret⟧", "password=\"⟦$ecretP4⟧\""]);
    }
}
