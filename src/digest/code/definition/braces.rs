//! Languages with a type before the name and braces after it: Java and C# by their modifiers, C and C++ by their
//! margin.
//!
//! What has no body is no definition, so that calls and prototypes are none; the brace may stand on the next line.

use super::Definition;
use super::head::{after, after_all, after_one, last_name, name};
use crate::digest::lexicon::one_of;

/// Members and classes with a modifier before them, as nearly all have.
pub fn member<'a>(line: &'a str, next: &[&str]) -> Option<Definition<'a>> {
    const MODIFIERS: &str = "public private protected internal static final abstract override virtual async sealed \
        synchronized partial default native readonly unsafe extern";
    const NEVER: &str = "if for while switch catch new return";
    let text = after_all(line, MODIFIERS);
    if let Some(rest) = after_one(text, "class interface enum record struct") {
        let whole = name(rest)?;
        let tail = rest[whole.len()..].trim_start();
        let heads =
            tail.is_empty() || ["{", "<", ":", "(", "extends", "implements"].iter().any(|next| tail.starts_with(next));
        return Definition::class(whole).filter(|_| heads);
    }
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
    Definition::function(found).filter(|_| opens && !called && !one_of(NEVER, found))
}

/// Functions that begin at the margin, with their type before the name and their body after.
pub fn at_margin<'a>(line: &'a str, next: &[&str]) -> Option<Definition<'a>> {
    const NEVER: &str = "if for while switch return else typedef using namespace case do sizeof template";
    const CLASSES: [&str; 5] = ["class", "struct", "enum class", "enum", "union"];
    if !line.starts_with(|char: char| char.is_alphabetic() || char == '_') {
        return None;
    }
    let tail = line.trim_end();
    let opens = tail.ends_with('{')
        || !tail.ends_with([';', ',', ':']) && next.first().is_some_and(|line| line.trim_end() == "{");
    if !opens || one_of(NEVER, name(line)?) {
        return None;
    }
    let Some((head, _)) = line.split_once('(') else {
        return Definition::class(name(CLASSES.iter().find_map(|word| after(line, word))?)?);
    };
    let (head, short) = (head.trim_end(), last_name(head)?);
    let whole = head.rsplit(char::is_whitespace).next()?.trim_start_matches(['*', '&']);
    let named = if whole.contains("::") && !whole.contains('<') { whole } else { short };
    let typed = named.len() < head.len() || named.contains("::");
    Definition::function(named).filter(|_| typed && !head.contains('=') && !one_of(NEVER, short))
}
