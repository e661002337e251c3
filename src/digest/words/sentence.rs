//! The sentences of a text, and what can be said of one without knowing its words.
//!
//! A sentence keeps its place and its letters as they were written; only `clean` changes any, for whoever shows it.
//! What is no sentence of somebody's own is left out by `prose`.

use super::prose::{Part, is_said, lines, list_item};
use super::word::{Word, plain};
use crate::digest::lexicon::one_of;

/// The first sentence of a text, of any length; its first line if there is only a heading.
pub fn first_sentence(text: &str) -> &str {
    let line =
        || text.lines().map(|line| line.trim().trim_start_matches(['#', '>', '|', ' '])).find(|line| !line.is_empty());
    sentences(text).first().map(|part| part.text).or_else(line).unwrap_or_default()
}

/// The last sentence of a text.
pub fn last_sentence(text: &str) -> &str {
    sentences(text).last().map_or(text, |part| part.text)
}

/// The last thing that an answer says is a question.
pub fn is_question(answer: &str) -> bool {
    sentences(answer).last().is_some_and(|part| asks(part.text))
}

/// The first sentence of a prompt that is not a question and that a rule takes, from where it takes it.
pub fn statement(prompt: &str, rule: impl Fn(&str, &[Word]) -> Option<usize>) -> Option<String> {
    let mut said = matchable(prompt).filter(|part| !asks(part.text));
    said.find_map(|part| Some(clean(&part.text[rule(part.text, &plain(part.text))?..])))
}

/// The sentences that are neither too short nor too long for a rule, questions among them.
pub fn matchable(text: &str) -> impl Iterator<Item = Part<'_>> {
    sentences(text).into_iter().filter(|part| (12..=300).contains(&part.text.chars().take(301).count()))
}

pub fn asks(sentence: &str) -> bool {
    let bare = sentence
        .trim_end_matches(|char: char| !char.is_alphanumeric() && !matches!(char, '?' | '？' | '`' | '.' | '!'));
    bare.ends_with(['?', '？'])
}

/// A sentence in one line, without its full stop.
pub fn clean(text: &str) -> String {
    let flat: Vec<&str> = text.split_whitespace().collect();
    let flat = flat.join(" ");
    // In code two stars are no emphasis.
    let flat = if flat.contains('`') { flat } else { flat.replace("**", "") };
    let bare = flat.trim_end_matches(['*', '_', ' ', ';']);
    let bare = bare.strip_suffix('.').filter(|bare| !bare.ends_with('.')).unwrap_or(bare);
    bare.chars().take(400).collect()
}

/// All sentences, of whatever length.
pub fn sentences(text: &str) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    let mut open: Option<Part> = None;
    for line in lines(text) {
        let bare = unmarked(line);
        let said = !bare.text.is_empty() && is_said(line.text);
        if let Some(before) = open.filter(|before| said && bare.at == line.at && goes_on(before.text, line.text)) {
            open = Some(Part { at: before.at, text: &text[before.at..line.end()] });
            continue;
        }
        open.take().into_iter().for_each(|part| split(part, &mut found));
        open = said.then_some(bare);
    }
    open.into_iter().for_each(|part| split(part, &mut found));
    found
}

/// The line without what makes it a list item or emphasises it.
fn unmarked(line: Part) -> Part {
    let text = list_item(line.text).unwrap_or(line.text).trim_start_matches(['*', '_', ' ']);
    Part { at: line.at + line.text.len() - text.len(), text: text.trim_end_matches(['*', '_', ' ']) }
}

/// A line that was broken because it was long.
fn goes_on(before: &str, line: &str) -> bool {
    let long = before.rsplit('\n').next().is_some_and(|last| last.chars().count() >= 50);
    long && !before.ends_with(['.', '!', '?', ':', ';', '…', '|'])
        && line.chars().next().is_some_and(char::is_lowercase)
}

/// Cuts a paragraph into sentences.
fn split<'a>(paragraph: Part<'a>, found: &mut Vec<Part<'a>>) {
    let text = paragraph.text;
    let mut push = |from: usize, to: usize| {
        let piece = &text[from..to];
        let bare = piece.trim_start_matches(|char: char| char.is_whitespace() || matches!(char, '*' | '_'));
        if bare.contains(char::is_alphanumeric) {
            found.push(Part { at: paragraph.at + from + piece.len() - bare.len(), text: bare.trim_end() });
        }
    };
    let (mut from, mut code_until, mut ticks) = (0, 0, true);
    let mut chars = text.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        if at < code_until {
            continue;
        }
        if char == '`' && ticks {
            match text[at + 1..].find('`') {
                Some(length) => code_until = at + 1 + length + 1,
                None => ticks = false,
            }
        }
        if !is_end(char) {
            continue;
        }
        let mut to = at + char.len_utf8();
        while let Some((next, mark)) = chars.next_if(|(_, next)| is_end(*next) || ")]\"'*_»”’".contains(*next)) {
            to = next + mark.len_utf8();
        }
        let apart = text[to..].chars().next().is_none_or(char::is_whitespace) || matches!(char, '。' | '？' | '！');
        if apart && !(char == '.' && to == at + 1 && abbreviates(&text[from..at])) {
            push(from, to);
            from = to;
        }
    }
    push(from, text.len());
}

fn is_end(char: char) -> bool {
    matches!(char, '.' | '!' | '?' | '…' | '。' | '？' | '！')
}

/// `e.g.`, and the number of a list item.
fn abbreviates(before: &str) -> bool {
    const SHORT: &str = "e.g i.e eg ie vs cf p.ex ex mr mrs dr st approx fig incl";
    let word = before.rsplit(|char: char| char.is_whitespace() || char == '(').next().unwrap_or_default();
    let first = before.trim_start().len() == word.len();
    one_of(SHORT, &word.to_ascii_lowercase()) || first && word.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub const TEXTS: [(&str, &[&str]); 16] = [
        ("Fix the parser. Then run the tests!", &["Fix the parser.", "Then run the tests!"]),
        (
            "Use `a. b` here, e.g. in main. Short. And v1.2 of it works",
            &["Use `a. b` here, e.g. in main.", "And v1.2 of it works"],
        ),
        ("# A heading is not said\nThis is said\n> this is quoted by me\n| a | table row |", &["This is said"]),
        ("Look at this:\n```\nlet code = 1;\n```\nand explain it to me", &["Look at this:", "and explain it to me"]),
        ("```inline fence``` stays out\nbut this one stays in", &["but this one stays in"]),
        ("~~~\nnever closed is code\nto the very end", &[]),
        (
            "src/main.rs:12:5: unused variable\nat Foo.bar (x.js:1:2)\nat the end it stops working",
            &["at the end it stops working"],
        ),
        (
            "$ cargo test --all\n+ added line here\n@@ -1,2 +1,3 @@ fn\n2026-01-02 10:00:00 it began\nGET /index.html 200 ok",
            &[],
        ),
        (
            "ERROR something is broken\nTraceback (most recent call last)\nRun FOO=bar ./x.sh now\nstep two failed: timeout",
            &[],
        ),
        ("<system-reminder>Never say this to anybody</system-reminder> Fix the login page", &["Fix the login page"]),
        ("<ide_selection>\nlots of selected text\n</ide_selection>\nExplain the selection", &["Explain the selection"]),
        ("<open-tag> and never closed", &["<open-tag> and never closed"]),
        (
            "- **Add a cache** for pages\n2. Remove the old one\n* [ ] Write it down",
            &["Add a cache** for pages", "Remove the old one", "Write it down"],
        ),
        (
            "Please look at the parser which drops the last line of\neach file and fix that. Thanks a lot!",
            &["Please look at the parser which drops the last line of\neach file and fix that.", "Thanks a lot!"],
        ),
        (
            "Corrige l’analyseur s'il te plaît ! Ça marche bien ?",
            &["Corrige l’analyseur s'il te plaît !", "Ça marche bien ?"],
        ),
        ("too short\n", &[]),
    ];

    fn said(text: &str) -> Vec<&str> {
        matchable(text).map(|part| part.text).collect()
    }

    #[test]
    fn finds_what_was_said() {
        for (text, wanted) in TEXTS {
            assert_eq!(said(text), wanted, "{text}");
        }
        assert_eq!(said(&"a".repeat(301)), [""; 0]);
        assert_eq!(said(&"é".repeat(300)).len(), 1);
    }

    pub const ANSWERS: [(&str, bool, &str); 12] = [
        ("Done. Shall I commit?", true, "Done."),
        ("Voulez-vous continuer ?\n", true, "Voulez-vous continuer ?"),
        ("**Which one (A or B)?**", true, "Which one (A or B)?"),
        ("Should I run this?\n```\nrm -r x\n```", true, "Should I run this?"),
        ("Why? Because it is slow.", false, "Why?"),
        ("I fixed it: see https://x.y/?a", false, "I fixed it: see https://x.y/?a"),
        ("Ready? Let me know.", false, "Ready?"),
        ("It ends with `what?`", false, "It ends with `what?`"),
        ("どうしますか？", true, "どうしますか？"),
        ("## Summary\n\nAll tests pass now. Good.", false, "All tests pass now."),
        ("# Only a heading", false, "Only a heading"),
        ("", false, ""),
    ];

    #[test]
    fn tells_questions_and_first_sentences() {
        for (answer, question, first) in ANSWERS {
            assert_eq!((is_question(answer), first_sentence(answer)), (question, first), "{answer}");
        }
    }
}
