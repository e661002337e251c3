//! The kinds of secrets: what a row of `table.toml` says, in Rust. build.rs makes the constants of it.

use super::text::{
    Alphabet, Words, is_alphanumeric, is_capital, is_constant, is_digit, is_dotted, is_encoded,
    is_escaped, is_hex, is_login, is_path, is_uuid, is_word,
};

include!(concat!(env!("OUT_DIR"), "/secrets.rs"));

/// An alphabet, and the least and most characters of it.
pub type Stretch = (Alphabet, usize, usize);

pub(crate) const ANY: usize = usize::MAX;

/// The keys of one maker.
pub struct KeyKind {
    pub prefixes: &'static [&'static str],
    /// The part of the key before the prefix.
    pub before: Stretch,
    /// The runs after the prefix, with dots between them.
    pub body: &'static [Stretch],
    /// The prefix stays: it tells a reader what was there.
    pub shows_prefix: bool,
    /// It goes on over lines of Base64.
    pub is_block: bool,
}

/// The certainty of a name.
#[derive(Clone, Copy, PartialEq)]
pub enum Sure {
    /// Its value is a secret, and what follows it without more ado may be one: `password hunter2`.
    Password,
    /// Its value is a secret, unless it is plainly a word of code: `token: Comma`.
    Secret,
    /// Its value is a secret if it looks random.
    Maybe,
    /// The same; and it may be a user and a password: `credentials: bob / X`.
    Login,
    /// A maker whose keys have no prefix: its value is a key if it is as long as one.
    Vendor,
}

impl Sure {
    /// True if a value must look random.
    pub(crate) fn is_doubtful(self) -> bool {
        matches!(self, Sure::Maybe | Sure::Login | Sure::Vendor)
    }
}

/// Names of one kind, the longer first.
pub struct NameKind {
    pub names: &'static [&'static str],
    pub sure: Sure,
}

/// The name whose value is a list of pairs.
pub(crate) const COOKIE: &str = "cookie";
/// The name whose value begins with a scheme.
pub(crate) const AUTHORIZATION: &str = "authorization";
/// The name that is also said of other things.
pub(crate) const IDENTIFIED: &str = "identified by";
/// The name that is also a parser's word.
pub(crate) const TOKEN: &str = "token";
/// The name that needs a user before it if its value is a word.
pub(crate) const PASS: &str = "pass";

/// The way a program takes its password.
pub enum Form {
    /// `-pPASSWORD`, for `-p` alone asks.
    Attached,
    /// `-p PASSWORD`, and also attached.
    Argument,
    /// `-k PASSWORD`, never attached.
    Next,
    /// After this mark in the argument: `-U user%PASSWORD`.
    After(&'static str),
}

/// Programs that take a password, their flags for it, and how.
pub struct ProgramKind {
    /// One of several words has all of them.
    pub programs: Words,
    /// Split at blanks.
    pub flags: &'static str,
    /// A bit for the first letter of each flag.
    pub letters: u128,
    pub form: Form,
}

/// A program whose argument of this number is a password.
pub struct OperandKind {
    /// The beginning of the command.
    pub start: &'static str,
    /// A letter that one of its flags must have.
    pub flag: Option<u8>,
    /// From one on; a flag with an `n` takes one away.
    pub number: usize,
    /// The signs before and after it in the argument.
    pub open: &'static str,
    pub close: &'static str,
    /// It must look random, for the words may mean something else.
    pub is_doubtful: bool,
}

/// Programs that read a password from their input.
pub struct ReaderKind {
    pub programs: Words,
    /// The sign before it there.
    pub mark: &'static str,
}

#[cfg(test)]
mod tests {
    use toml::{Table, Value};

    use super::super::made_up::made_up;
    use super::super::{REDACTED, redact};
    use super::{KINDS, NAMES};

    fn table() -> Table {
        toml::from_str(include_str!("table.toml")).expect("build.rs has read it")
    }

    fn text<'r>(row: &'r Value, key: &str) -> &'r str {
        row.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    fn texts<'r>(row: &'r Value, key: &str) -> Vec<&'r str> {
        row[key]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    /// The problems of a row whose `~` is this.
    fn wrong(row: &Value, hides: &str, meant: &str) -> Vec<String> {
        let made = made_up(&hides.replace('~', meant));
        let (said, keeps) = (
            made.replace(['⟦', '⟧'], ""),
            made_up(&text(row, "keeps").replace('~', meant)),
        );
        let shown = made
            .split('⟦')
            .map(|part| part.split_once('⟧').map_or(part, |(_, after)| after));
        let expected = shown.collect::<Vec<_>>().join(REDACTED);
        let mut wrong = Vec::new();
        if !made.contains('⟦') || redact(&said) != expected {
            wrong.push(format!("{said}\n   is {}", redact(&said)));
        }
        if keeps.is_empty() || redact(&keeps) != keeps {
            wrong.push(format!("{keeps}\n   is {}", redact(&keeps)));
        }
        wrong
    }

    #[test]
    fn every_row_hides_its_secret_and_leaves_its_near_miss() {
        let table = table();
        let rows = |section: &str| table[section].as_array().cloned().unwrap_or_default();
        let mut all = Vec::new();
        for row in rows("key") {
            let (hides, is_marked) = (text(&row, "hides"), row.get("before").is_some());
            for prefix in texts(&row, "prefixes") {
                assert!(!prefix.is_empty());
                let hides = match text(&row, "is") {
                    _ if is_marked => format!("x ⟦{hides}⟧ y"),
                    "shown" => format!("x {prefix}⟦{hides}⟧ y"),
                    _ => format!("x ⟦{prefix}{hides}⟧ y"),
                };
                all.extend(wrong(&row, &hides, if is_marked { prefix } else { "~" }));
            }
        }
        for row in rows("name") {
            texts(&row, "names")
                .iter()
                .for_each(|name| all.extend(wrong(&row, text(&row, "hides"), name)));
        }
        for row in [rows("program"), rows("reader")].concat() {
            let programs = text(&row, "programs").split(';');
            programs.for_each(|program| all.extend(wrong(&row, text(&row, "hides"), program)));
        }
        for row in rows("operand") {
            all.extend(wrong(&row, text(&row, "hides"), text(&row, "start")));
        }
        for row in table["call"].as_table().expect("calls").values() {
            text(row, "words")
                .split(' ')
                .for_each(|call| all.extend(wrong(row, text(row, "hides"), call)));
        }
        assert!(
            all.is_empty(),
            "{} are wrong:\n{}",
            all.len(),
            all.join("\n")
        );
    }

    #[test]
    fn there_are_many_kinds() {
        let prefixes = KINDS.iter().map(|kind| kind.prefixes.len()).sum::<usize>();
        let names = NAMES.iter().map(|kind| kind.names.len()).sum::<usize>();
        assert!(KINDS.len() >= 120 && prefixes >= 200 && names >= 120);
    }
}
