//! Definitions that take more than a word to tell, a function for each family of languages.
//!
//! What has no body is no definition, so that calls and prototypes are none.

use super::Definition;
use super::head::{after, after_all, after_brackets, after_one, last_name, name};
use crate::fold::one_of;
use session_format::boundary::substr;

/// JavaScript and TypeScript: methods, and variables whose value is a function.
pub fn script<'a>(_: &'a str, text: &'a str, next: &[&str]) -> Option<Definition<'a>> {
    after_one(text, "const let var").map_or_else(|| method(text), |rest| variable(rest, next))
}

/// `add = (a, b) => a + b`
fn variable<'a>(text: &'a str, next: &[&str]) -> Option<Definition<'a>> {
    let variable = name(text)?;
    let tail = substr(text, variable.len()..).trim_start();
    let (equals, _) = tail
        .match_indices('=')
        .find(|(at, _)| !substr(tail, at + 1..).starts_with('>'))?;
    let known = equals == 0 || tail.starts_with(':');
    Definition::function(
        variable,
        known && is_function(substr(tail, equals + 1..).trim_start(), next),
    )
}

/// `(a, b) => …`, `async x => …`, `function () {`, also over several lines.
fn is_function(value: &str, next: &[&str]) -> bool {
    let value = after_all(value, "async");
    let value = value
        .strip_prefix("async")
        .filter(|rest| rest.starts_with('('))
        .unwrap_or(value);
    if value.starts_with("function") {
        return true;
    }
    let typed = value.strip_prefix('<').and_then(|rest| rest.find(">("));
    let value = typed.map_or(value, |at| substr(value, at + 2..));
    if value.trim_end() == "(" {
        return next
            .iter()
            .find(|line| line.trim_start().starts_with(')'))
            .is_some_and(|line| line.contains("=>"));
    }
    let arrow = |rest: &str| {
        let rest = rest.trim_start();
        rest.starts_with("=>") || rest.starts_with(':') && rest.contains("=>")
    };
    match value.strip_prefix('(') {
        Some(_) => after_brackets(value).is_some_and(arrow),
        None => name(value).is_some_and(|argument| {
            substr(value, argument.len()..)
                .trim_start()
                .starts_with("=>")
        }),
    }
}

/// `async load(id) {` in a class.
fn method(text: &str) -> Option<Definition<'_>> {
    const NEVER: &str = "if for while switch catch function constructor return with else do";
    let text = after_all(
        text,
        "public private protected static override readonly async get set",
    );
    let text = text.trim_start_matches(['#', '*']);
    let method = name(text)?;
    let tail = after_brackets(substr(text, method.len()..))?.trim();
    let opens = tail == "{" || tail.starts_with(':') && tail.ends_with('{') && !tail.contains('?');
    Definition::function(method, opens && !one_of(NEVER, method))
}

/// Java and C#: members with a modifier before them, as nearly all have.
pub fn member<'a>(line: &'a str, text: &'a str, next: &[&str]) -> Option<Definition<'a>> {
    const NEVER: &str = "if for while switch catch new return";
    if text.len() == line.trim_start().len() {
        return None;
    }
    let (head, _) = text.split_once('(')?;
    let found = last_name(head)?;
    let tail = line.trim_end();
    let opens = tail.ends_with('{')
        || tail.contains(") =>")
        || !tail.ends_with(';') && next.first().is_some_and(|line| line.trim() == "{");
    let called = head.contains('=') || head.contains(['.', '"']) && !head.contains('<');
    Definition::function(found, opens && !called && !one_of(NEVER, found))
}

/// C and C++: functions that begin at the margin, with their type before the name and their body after.
pub(crate) fn at_margin<'a>(line: &'a str, _: &'a str, next: &[&str]) -> Option<Definition<'a>> {
    const NEVER: &str =
        "if for while switch return else typedef using namespace case do sizeof template";
    const CLASSES: [&str; 5] = ["class", "struct", "enum class", "enum", "union"];
    if !line.starts_with(|char: char| char.is_alphabetic() || char == '_') {
        return None;
    }
    let tail = line.trim_end();
    let opens = tail.ends_with('{')
        || !tail.ends_with([';', ',', ':'])
            && next.first().is_some_and(|line| line.trim_end() == "{");
    if !opens || one_of(NEVER, name(line)?) {
        return None;
    }
    let Some((head, _)) = line.split_once('(') else {
        return Definition::class(
            name(CLASSES.iter().find_map(|word| after(line, word))?)?,
            true,
        );
    };
    let (head, short) = (head.trim_end(), last_name(head)?);
    let whole = head
        .rsplit(char::is_whitespace)
        .next()?
        .trim_start_matches(['*', '&']);
    let named = if whole.contains("::") && !whole.contains('<') {
        whole
    } else {
        short
    };
    let typed = named.len() < head.len() || named.contains("::");
    Definition::function(named, typed && !head.contains('=') && !one_of(NEVER, short))
}

/// Shell scripts: `build() {` and `function build {`.
pub fn shell<'a>(_: &'a str, text: &'a str, _: &[&str]) -> Option<Definition<'a>> {
    let (text, word) = after(text, "function").map_or((text, false), |rest| (rest, true));
    let end = text
        .find(|char: char| !char.is_alphanumeric() && !matches!(char, '_' | '-' | ':'))
        .unwrap_or(text.len());
    let rest = substr(text, end..).trim_start();
    let called = rest
        .strip_prefix('(')
        .is_some_and(|rest| rest.trim_start().starts_with(')'));
    let opens = called || word && (rest.is_empty() || rest.starts_with('{'));
    Definition::function(substr(text, ..end), end > 0 && opens)
}
