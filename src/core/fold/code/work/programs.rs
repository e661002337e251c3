//! Which program does which work, by the tables of `fold/words.toml`: a program that is missing is a row there, or a word in one.
//!
//! What a first argument says counts only for the programs of its row. Programs whose work takes more than that to tell
//! are in `toolchain`.

use super::Work;
use crate::fold::one_of;
use crate::fold::words::{PROGRAMS, SUBCOMMANDS, VALUED};

/// The work of a program and its first argument, by the tables.
pub fn known(name: &str, first: &str) -> Option<Work> {
    let sub = || {
        SUBCOMMANDS
            .iter()
            .find(|(names, _, subs)| one_of(names, name) && one_of(subs, first))
    };
    among(PROGRAMS, name).or_else(|| sub().and_then(|(_, work, _)| Work::named(work)))
}

/// The work in whose list a word is.
pub fn among(table: &[(&str, &str)], word: &str) -> Option<Work> {
    table
        .iter()
        .find(|(_, words)| one_of(words, word))
        .and_then(|(work, _)| Work::named(work))
}

/// The arguments that are no options, and no values of options.
pub fn arguments<'a>(program: &str, all: &[&'a str]) -> Vec<&'a str> {
    let valued = VALUED
        .iter()
        .find(|(programs, _)| one_of(programs, program))
        .map_or("", |(_, options)| options);
    let mut found = Vec::new();
    let mut words = all.iter().copied().peekable();
    while let Some(word) = words.next() {
        // `make -j 4 test`, but `make -j test`
        let is_number = |next: &&str| next.bytes().all(|byte| byte.is_ascii_digit());
        if one_of(valued, word) && (word != "-j" || words.peek().is_some_and(is_number)) {
            words.next();
        } else if word == "--prod"
            || !(word.starts_with('-') || program == "cargo" && word.starts_with('+'))
        {
            found.push(word);
        }
    }
    found
}
