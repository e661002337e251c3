//! Go: `func` at the margin, with or without a receiver.
//!
//! Only functions are told, and only at the margin: what is indented is a value.

use super::Definition;
use super::head::{after, after_brackets, name};

pub fn definition<'a>(line: &'a str, _: &[&str]) -> Option<Definition<'a>> {
    let rest = after(line, "func")?;
    let rest = if rest.starts_with('(') { after_brackets(rest)?.trim_start() } else { rest };
    let found = name(rest)?;
    Definition::function(found).filter(|_| rest[found.len()..].starts_with(['(', '[']))
}
