//! What of a text somebody wrote: its lines without code, and what makes a line a list item or a heading.
//!
//! A `Part` always knows where in the text it begins, so that a rule can look at what comes after it. Whether a line
//! was pasted is for `pasted` to say; where sentences end, for `sentence`.

use std::collections::HashMap;

use super::pasted::is_pasted;

/// A part of a text, and where it begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part<'a> {
    pub at: usize,
    pub text: &'a str,
}

impl Part<'_> {
    pub fn end(&self) -> usize {
        self.at + self.text.len()
    }
}

/// The lines outside of code fences and of blocks that a client put in, trimmed; blank ones too.
pub fn lines(text: &str) -> Vec<Part<'_>> {
    let closings = closings(text);
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    let mut at = 0;
    while at < text.len() {
        let end = memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |length| at + length);
        let line = text[at..end].trim_end();
        let part = Part { at: at + line.len() - line.trim_start().len(), text: line.trim_start() };
        at = end + 1;
        let mark = ["```", "~~~"].into_iter().find(|mark| part.text.starts_with(mark));
        if let Some(open) = fence {
            // What opens a block may say a language; what closes it says nothing.
            let closes = mark == Some(open) && part.text.trim_start_matches(['`', '~']).is_empty();
            fence = fence.filter(|_| !closes);
        } else if let Some(mark) = mark {
            fence = (!part.text[mark.len()..].contains(mark)).then_some(mark);
        } else if let Some(end) = block_end(text, part, &closings) {
            at = end;
        } else {
            found.push(part);
        }
    }
    found
}

/// Where each `</name>` stands last.
fn closings(text: &str) -> HashMap<&str, usize> {
    let tags = text.match_indices("</").filter_map(|(at, _)| {
        let name = tag_name(&text[at + 2..]);
        text[at + 2 + name.len()..].starts_with('>').then_some((name, at))
    });
    tags.collect()
}

fn tag_name(text: &str) -> &str {
    let end = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')).count();
    &text[..end]
}

/// Where the block ends that a line begins, if it is one of a client: their names are of several words.
fn block_end(text: &str, line: Part, closings: &HashMap<&str, usize>) -> Option<usize> {
    let name = tag_name(line.text.strip_prefix('<')?);
    // Looked for only where it is, so that many blocks without an end take no longer than one.
    if !name.contains(['-', '_']) || closings.get(name).is_none_or(|last| *last <= line.at) {
        return None;
    }
    let close = format!("</{name}>");
    text[line.at..].find(&close).map(|found| line.at + found + close.len())
}

/// Whether a line is part of what is said: no heading, quotation or row of a table, and not pasted.
pub fn is_said(line: &str) -> bool {
    let set_apart = line.starts_with(['>', '|']) || heading(line).is_some() || !line.contains(char::is_alphanumeric);
    !set_apart && !is_pasted(line)
}

/// What a heading says.
pub fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    (text.len() < line.len() && text.starts_with(' ')).then(|| text.trim())
}

/// What a list item says.
pub fn list_item(line: &str) -> Option<&str> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match &line[digits..] {
        rest if (1..=3).contains(&digits) => rest.strip_prefix(['.', ')'])?,
        rest => rest.strip_prefix(['-', '*', '•', '–'])?,
    };
    let item = rest.strip_prefix([' ', '\t'])?.trim_start();
    let unchecked = ["[ ]", "[x]", "[X]"].into_iter().find_map(|mark| item.strip_prefix(mark));
    Some(unchecked.unwrap_or(item).trim_start())
}
