//! Names that have a secret for a value: `DB_PASSWORD`, `apiKey`, `client secret`.
//!
//! Only the end of a name counts, in whatever case: `tokens` and `password_hint` are none, and nobody has to know where a
//! name begins. Where a name ends is for those to say that look for one: `assignment`, `flag`, `code`, `placeholder`.

pub const AUTHORIZATION: &str = "authorization";

/// What such a name ends in. A blank stands for `_`, `-`, `.`, a blank, or nothing.
const NAMES: &[&str] = &[
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

/// Names whose value is often a path.
const PLACES: &[&str] = &["pwd", "private key", "credential", "credentials"];
const PATHS: &[&str] = &["/", "~/", "./", "../", "C:\\"];

/// What a name ends in, if it has a secret for a value.
pub fn secret_name(name: &[u8]) -> Option<&'static str> {
    NAMES.iter().copied().find(|listed| ends_in(name, listed))
}

/// Whether this is such a name, and nothing before it.
pub fn is_bare_name(name: &str) -> bool {
    NAMES.contains(&name)
}

/// Whether the value of this name is only a path: `PWD=/home/me`.
pub fn is_path(name: &str, value: &[u8]) -> bool {
    PLACES.contains(&name) && PATHS.iter().any(|path| value.starts_with(path.as_bytes()))
}

/// Whether a name ends in this, in whatever case, with a blank as in [`NAMES`].
pub fn ends_in(name: &[u8], wanted: &str) -> bool {
    let mut rest = name;
    for wanted in wanted.bytes().rev() {
        rest = match rest {
            [before @ .., b'_' | b'-' | b'.' | b' '] if wanted == b' ' => before,
            _ if wanted == b' ' => rest,
            [before @ .., last] if last.to_ascii_lowercase() == wanted => before,
            _ => return false,
        };
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::check::{assert_hidden, assert_kept};

    #[test]
    fn the_end_of_a_name_tells() {
        let names = [
            ("password", Some("password")),
            ("PGPASSWORD", Some("password")),
            ("X-Api-Key", Some("api key")),
            ("apiKey", Some("api key")),
            ("my API key", Some("api key")),
            ("aws.secret.access.key", Some("access key")),
            ("Proxy-Authorization", Some(AUTHORIZATION)),
            ("tokens", None),
            ("password_hint", None),
            ("key", None),
            ("", None),
        ];
        for (name, found) in names {
            assert_eq!(secret_name(name.as_bytes()), found, "{name}");
        }
    }

    #[test]
    fn the_value_of_such_a_name_goes() {
        assert_hidden(&[
            "DB_PASS=⟦x⟧",
            "PGPASSWORD=⟦x⟧ psql",
            "clientSecret: ⟦abc⟧,",
            "private_key = '⟦abc⟧'",
            "passphrase=⟦abc⟧ credentials: ⟦abc⟧ passwd=⟦abc⟧ apikey=⟦abc⟧ secret-key: ⟦abc⟧",
            "my API key: ⟦abcdef⟧, client secret: ⟦xyz⟧",
            "X-Api-Key: ⟦abc⟧",
            "pwd=⟦x⟧",
        ]);
    }

    #[test]
    fn other_names_and_paths_stay() {
        assert_kept(&[
            "tokens: 500",
            "max_tokens=500",
            "\"max_tokens\": 500, \"input_tokens\": 12",
            "PWD=/home/me/project",
            "GOOGLE_APPLICATION_CREDENTIALS=/etc/key.json",
            "--private-key ~/.ssh/id_rsa",
        ]);
    }
}
