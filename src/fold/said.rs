//! What was said and done in a session, as a text that a search can look through.
//!
//! Each entry is a line of it: lower case, without accents, each run of white space as one blank. A search word is made
//! alike in the same way, so that comparing bytes is enough. What only a machine said is left out: reminders, notes of the
//! client and, unless they are asked for, the answers of tools.

use std::collections::HashMap;

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use super::Fold;
use crate::entry::{Entry, Id, Role, What};
use crate::time::Time;

/// The text of a transcript, or of a part of one.
#[derive(Debug, Clone, Default)]
pub struct Said {
    pub text: String,
    pub lines: Vec<SaidLine>,
    /// Also what tools answered.
    results: bool,
    offset: u64,
    /// How many lines of the transcript came before this part.
    before: u64,
    /// Where each entry is, because it may be written again, and the tool of a call.
    lines_by_key: HashMap<Id, (usize, Id)>,
}

/// Where a line of the text comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SaidLine {
    /// Where it begins in the text.
    pub start: u32,
    /// The line of the transcript, from 1, and where that begins.
    pub number: u32,
    pub offset: u64,
    pub time: Option<Time>,
    pub role: Role,
    pub is_call: bool,
}

impl Said {
    /// The text of what comes after so many lines.
    pub fn after(before: u64, results: bool) -> Said {
        Said { results, before, ..Said::default() }
    }
}

/// What of an entry is searched: what somebody said, the subjects of a call, and perhaps the answer of a tool.
pub fn searched(entry: &Entry, results: bool) -> Option<String> {
    match &entry.what {
        What::Text(text) => Some(text.to_string()),
        What::Call(call) => Some(format!("{} {}", call.tool, call.subjects.join(" "))),
        What::Result { text: Some(text), .. } if results => Some(text.to_string()),
        _ => None,
    }
}

impl Fold for Said {
    fn line(&mut self, offset: u64) {
        self.offset = offset;
    }

    fn entry(&mut self, entry: &Entry, line: u64) {
        let Some(text) = searched(entry, self.results).filter(|_| !entry.is_taken_up()) else { return };
        let tool = if let What::Call(call) = &entry.what { Id::of(call.tool.as_bytes()) } else { Id::default() };
        match entry.key.and_then(|key| self.lines_by_key.get(&key).copied()) {
            // The client's report of a call under another name: the call itself says more.
            Some((_, earlier)) if earlier != tool => return,
            Some((line, _)) => self.blank(line),
            None => {}
        }
        self.lines_by_key.extend(entry.key.map(|key| (key, (self.lines.len(), tool))));
        self.lines.push(SaidLine {
            start: self.text.len() as u32,
            number: (self.before + line) as u32,
            offset: self.offset,
            time: entry.time,
            role: entry.role,
            is_call: matches!(entry.what, What::Call(_)),
        });
        fold_into(&text, &mut self.text);
        self.text.push('\n');
    }
}

impl Said {
    /// Leaves nothing to find in a line.
    fn blank(&mut self, line: usize) {
        let start = self.lines[line].start as usize;
        let end = self.lines.get(line + 1).map_or(self.text.len(), |next| next.start as usize) - 1;
        self.text.replace_range(start..end, &" ".repeat(end - start));
    }
}

/// A text made comparable.
pub fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    fold_into(text, &mut out);
    out
}

fn fold_into(text: &str, out: &mut String) {
    fold_each(text, &mut |char, _| out.push(char));
}

/// The characters of a text made comparable, each with where it stands in the text as it is.
pub fn fold_each(text: &str, take: &mut dyn FnMut(char, usize)) {
    let mut blank = true;
    for (at, char) in text.char_indices() {
        match char {
            _ if char.is_whitespace() => {
                if !blank {
                    take(' ', at);
                }
                blank = true;
                continue;
            }
            _ if char.is_ascii() => take(char.to_ascii_lowercase(), at),
            // At the end of a word, Greek writes it differently.
            'ς' => take('σ', at),
            _ => decompose_compatible(char, |part| {
                if !is_combining_mark(part) {
                    part.to_lowercase().filter(|part| !is_combining_mark(*part)).for_each(|part| take(part, at));
                }
            }),
        }
        blank = false;
    }
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn texts_that_people_take_for_the_same_are_the_same() {
        let cases = [
            ("Résumé  of\n\tthe\u{a0}plan", "resume of the plan"),
            ("re\u{301}sume\u{301}", "resume"),
            ("ÅNGSTRÖM", "angstrom"),
            ("ΛΌΓΟΣ", "λογος"),
            ("日本語 ﾃｽﾄ", "日本語 テスト"),
            ("ﬁnal", "final"),
            ("İstanbul", "istanbul"),
            ("👩‍👩‍👧 ok", "👩‍👩‍👧 ok"),
        ];
        for (text, same) in cases {
            assert_eq!(folded(text), folded(same), "{text}");
        }
        assert_eq!(folded("Größe ΛΌΓΟΣ"), "große λογοσ");
    }
}
