//! Flags of a command line and what follows them: `--password …`, and `"--password", "…"` in a list of arguments.
//!
//! A flag begins after no letter, and what begins with a dash is the next flag, never a value. The name decides (`name`),
//! and `value` says what is hidden; `-u user:password` is for `login`.

use super::Secret;
use super::name::secret_name;
use super::text::{is_blank, is_dotted, is_word, near, run_end};
use super::value::{self, Before};

/// The value of a flag that has a secret.
pub fn with_secret(text: &[u8], at: usize) -> Option<Secret> {
    let flag = flag_name(text, at)?;
    let name = secret_name(flag).filter(|_| !flag.starts_with(b"--no-"))?;
    let (start, wants_quotes) = argument(text, at + flag.len())?;
    if text.get(start) == Some(&b'-') {
        return None;
    }
    value::hidden(text, start, &Before { name, is_quoted: true, wants_quotes, is_prose: true, is_shell: false })
}

/// The flag that begins here, with its dashes.
pub fn flag_name(text: &[u8], at: usize) -> Option<&[u8]> {
    (at == 0 || !is_word(text[at - 1])).then(|| near(text, at, is_dotted))
}

/// Where the argument of a flag is that ends here, and whether it is the next of a list.
pub fn argument(text: &[u8], at: usize) -> Option<(usize, bool)> {
    let closed = at + near(text, at, |byte| matches!(byte, b'\\' | b'"' | b'\'')).len();
    let is_list = closed > at && text.get(closed) == Some(&b',');
    let start = run_end(text, closed + usize::from(is_list), is_blank);
    let is_set = text.get(at) == Some(&b'=');
    (is_list || is_set || start > closed).then_some((start + usize::from(is_set), is_list))
}

#[cfg(test)]
mod tests {
    use crate::secrets::check::{assert_hidden, assert_kept};

    #[test]
    fn the_argument_of_a_flag_goes() {
        assert_hidden(&[
            "--password ⟦x⟧ --token=⟦x⟧ --api-key ⟦x⟧ rest",
            "--password '⟦x y⟧' rest",
            "[\"mysql\", \"--password\", \"⟦hunter2⟧\", \"-h\"]",
        ]);
    }

    #[test]
    fn a_flag_that_is_spoken_of_stays() {
        assert_kept(&[
            "use --password to set it",
            "the --token flag is required; --password, which is old",
            "--password <PASSWORD> --password --host x",
            "--no-password mydb",
            "reset-password x",
        ]);
    }
}
