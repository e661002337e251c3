//! JavaScript and TypeScript: functions, classes, methods, and variables whose value is a function.
//!
//! A variable counts only if its value is a function itself, not something made by calling one with a function.

use super::Definition;
use super::head::{after, after_all, after_brackets, after_one, name};
use crate::digest::lexicon::one_of;

pub fn definition<'a>(line: &'a str, next: &[&str]) -> Option<Definition<'a>> {
    let text = after_all(line, "export default declare async abstract");
    if let Some(rest) = text.strip_prefix("function").filter(|rest| rest.starts_with([' ', '*'])) {
        return Definition::function(name(rest.trim_start_matches(['*', ' ']))?);
    }
    if let Some(rest) = after(text, "class") {
        return Definition::class(name(rest)?).filter(|class| class.name != "extends");
    }
    match after_one(text, "const let var") {
        Some(rest) => variable(rest, next),
        None => method(text),
    }
}

/// `add = (a, b) => a + b`
fn variable<'a>(text: &'a str, next: &[&str]) -> Option<Definition<'a>> {
    let variable = name(text)?;
    let tail = text[variable.len()..].trim_start();
    let (equals, _) = tail.match_indices('=').find(|(at, _)| !tail[at + 1..].starts_with('>'))?;
    let known = equals == 0 || tail.starts_with(':');
    Definition::function(variable).filter(|_| known && is_function(tail[equals + 1..].trim_start(), next))
}

/// `(a, b) => …`, `async x => …`, `function () {`, also over several lines.
fn is_function(value: &str, next: &[&str]) -> bool {
    let value = after_all(value, "async");
    let value = value.strip_prefix("async").filter(|rest| rest.starts_with('(')).unwrap_or(value);
    if value.starts_with("function") {
        return true;
    }
    let typed = value.strip_prefix('<').and_then(|rest| rest.find(">("));
    let value = typed.map_or(value, |at| &value[at + 2..]);
    if value.trim_end() == "(" {
        return next.iter().find(|line| line.trim_start().starts_with(')')).is_some_and(|line| line.contains("=>"));
    }
    let arrow = |rest: &str| {
        let rest = rest.trim_start();
        rest.starts_with("=>") || rest.starts_with(':') && rest.contains("=>")
    };
    match value.strip_prefix('(') {
        Some(_) => after_brackets(value).is_some_and(arrow),
        None => name(value).is_some_and(|argument| value[argument.len()..].trim_start().starts_with("=>")),
    }
}

/// `async load(id) {` in a class.
fn method(text: &str) -> Option<Definition<'_>> {
    const NEVER: &str = "if for while switch catch function constructor return with else do";
    let text = after_all(text, "public private protected static override readonly async get set");
    let text = text.trim_start_matches(['#', '*']);
    let method = name(text)?;
    let tail = after_brackets(&text[method.len()..])?.trim();
    let opens = tail == "{" || tail.starts_with(':') && tail.ends_with('{') && !tail.contains('?');
    Definition::function(method).filter(|_| opens && !one_of(NEVER, method))
}
