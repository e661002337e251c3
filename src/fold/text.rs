//! What of a text somebody wrote themselves, and its sentences.
//!
//! Prompts carry pasted logs and code; answers carry headings, tables and code. Whoever quotes wants the words in
//! between. Only shapes decide here, never the meaning of a word.

use std::borrow::Cow;

use memchr::memmem;

use super::one_of;
use crate::secrets::redact;

/// How much of a long text counts: what is asked for stands at its beginning or at its end.
const HEAD: usize = 4000;
const TAIL: usize = 2000;

/// The beginning and the end of a long text. Secrets go first, and from the whole: half of one would not be known as such.
pub fn ends_of(text: &str) -> String {
    if text.len() <= HEAD + TAIL {
        return text.to_owned();
    }
    // A huge text is searched only if there is a secret near its ends, or one that may be that long.
    const MARGIN: usize = 16 << 10;
    let head = &text[..text.floor_char_boundary(HEAD + MARGIN)];
    let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(TAIL + MARGIN))..];
    let has_secret = |part: &str| matches!(redact(part), Cow::Owned(_));
    let is_searched = has_secret(head) || has_secret(tail) || memmem::find(text.as_bytes(), b"PRIVATE KEY").is_some();
    let text = if is_searched { redact(text) } else { Cow::Borrowed(text) };
    let tail = text.ceil_char_boundary(text.len().saturating_sub(TAIL));
    let head = text.floor_char_boundary(HEAD).min(tail);
    format!("{}\n…\n{}", &text[..head], &text[tail..])
}

/// The lines that somebody wrote: no code, no quotation or table, nothing pasted. Blank lines stay.
pub fn own_words(text: &str) -> String {
    let text = ends_of(text);
    let own = typed(&text);
    // What is left out may be what a secret is known by, like the first line of a private key.
    if own.len() < text.trim().len() { typed(&redact(&text)) } else { own }
}

fn typed(text: &str) -> String {
    let lines = prose(text);
    let mut own = Vec::new();
    // A single line that looks pasted may be all that somebody has to say.
    let alone = lines.iter().filter(|line| !line.is_empty()).count() == 1;
    for paragraph in lines.split(|line| line.is_empty()).filter(|paragraph| !is_output(paragraph)) {
        // Whatever follows a line of a log without a gap is more of the log.
        let typed = paragraph.iter().take_while(|line| !is_pasted(line) || alone && begins(line, SAID_TOO));
        own.extend(typed.filter(|line| !line.starts_with(['>', '|'])).copied());
        own.push("");
    }
    own.join("\n").trim().to_owned()
}

/// Whether a paragraph is the output of a program: nobody types that many lines without an end of a sentence or an item.
fn is_output(paragraph: &[&str]) -> bool {
    const LINES: usize = 10;
    /// Prose that an editor wrapped has long lines.
    const WRAPPED: usize = 50;
    let ends = ['.', '!', '?', ':', ',', '。', '？', '！', '…'];
    let typed = |line: &&&str| line.ends_with(ends) || list_item(line).is_some() || line.chars().count() >= WRAPPED;
    paragraph.len() >= LINES && paragraph.iter().filter(typed).count() * 3 < paragraph.len()
}

/// The lines outside of code fences, trimmed.
pub fn prose(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines().map(str::trim) {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        match (fence, mark) {
            // What opens a block may name a language; what closes it names nothing.
            (Some(open), Some(mark)) if open == mark && line.trim_start_matches(['`', '~']).is_empty() => fence = None,
            (Some(_), _) => {}
            (None, Some(mark)) => fence = (!line[mark.len()..].contains(mark)).then_some(mark),
            (None, None) => found.push(line),
        }
    }
    found
}

/// Beginnings of lines that a machine wrote, between semicolons because a blank may belong to one.
const PASTED: &str = "$ ;>>> ;---;@@;diff --git;File \";Traceback (;Caused by:;thread ';HTTP/;npm ERR!;npm error;\
    error[;error:;warning:;Error:;ERROR:;FAIL ;PASS ;FAILED ;✓;✗;✘;✔;[INFO];[WARN;[ERROR];[DEBUG];{";
/// Those of them that people begin a message with, too.
const SAID_TOO: &str = "error:;warning:;Error:;GET ;POST ;PUT ;PATCH ;DELETE ;HEAD ;OPTIONS ";
const LEVELS: &str = "ERROR WARN WARNING INFO DEBUG TRACE FATAL CRITICAL";
const METHODS: &str = "GET POST PUT PATCH DELETE HEAD OPTIONS";

/// Whether a line was pasted: a place in a file, a stack trace, a log, HTTP, a shell prompt, a diff.
fn is_pasted(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    match () {
        () if line.starts_with("at ") => second.contains('(') || line.contains(" (") || is_position(second),
        () if begins(line, PASTED) => true,
        () if first == "Run" => second.contains('='),
        () if one_of(METHODS, first) => second.starts_with(['/', 'h']),
        () => is_position(first) || is_time(first) || one_of(LEVELS, first.trim_matches(['[', ']', ':'])),
    }
}

fn begins(line: &str, starts: &str) -> bool {
    starts.split(';').any(|start| line.starts_with(start))
}

/// `src/main.rs:12:5:`
fn is_position(word: &str) -> bool {
    let Some((path, line)) = word.split_once(':') else { return false };
    let after = line.trim_start_matches(|char: char| char.is_ascii_digit());
    path.contains(['.', '/']) && after.len() < line.len() && (after.is_empty() || after.starts_with([':', ',', ')']))
}

/// `2026-01-02`, `[10:15:00]`
fn is_time(word: &str) -> bool {
    let start = word.trim_start_matches('[').chars().take(8);
    let shape: String = start.map(|char| if char.is_ascii_digit() { '0' } else { char }).collect();
    shape.starts_with("00:00:") || shape.starts_with("0000-00") && !shape.starts_with("0000-000")
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
    Some(rest.strip_prefix([' ', '\t'])?.trim_start())
}

/// The first sentence of a text, with the next one if it only leads to that ("Done.", "Perfect!", "Summary:"); its first
/// heading if there is no sentence.
pub fn first_sentence(text: &str) -> String {
    first_sentences(text).join(" ")
}

/// The same, sentence by sentence.
pub fn first_sentences(text: &str) -> Vec<String> {
    const SHORT: usize = 16;
    const EXCLAIMED: usize = 40;
    let leads = |sentence: &String| match sentence.chars().count() {
        count if sentence.ends_with(['!', '！', ':', '：']) => count < EXCLAIMED,
        count => count < SHORT,
    };
    let mut all = sentences(text);
    let leading = all.iter().take(2).take_while(|sentence| leads(sentence)).count();
    all.truncate(leading + 1);
    if all.is_empty() {
        all.extend(prose(&ends_of(text)).into_iter().find_map(heading).map(str::to_owned));
    }
    all
}

/// The sentences of a text, each on one line.
pub fn sentences(text: &str) -> Vec<String> {
    /// A shorter line was not broken because it was long.
    const WRAPPED: usize = 50;
    let mut found = Vec::new();
    let mut paragraph = String::new();
    let mut before = 0;
    let text = ends_of(text);
    for line in prose(&text).into_iter().chain([""]) {
        let item = list_item(line);
        let apart = line.is_empty() || line.starts_with(['|', '>']) || heading(line).is_some();
        if apart || item.is_some() || before < WRAPPED {
            split(&std::mem::take(&mut paragraph), &mut found);
        }
        before = line.chars().count();
        if !apart {
            paragraph += item.unwrap_or(line).trim_start_matches(['*', '_', ' ']);
            paragraph.push(' ');
        }
    }
    found
}

/// Cuts a paragraph into sentences.
fn split(paragraph: &str, found: &mut Vec<String>) {
    let mut push = |sentence: &str| {
        let bare = sentence.replace("**", "");
        let bare = bare.trim_matches(|char: char| char.is_whitespace() || matches!(char, '*' | '_'));
        found.extend(bare.contains(char::is_alphanumeric).then(|| bare.to_owned()));
    };
    let is_end = |char: char| matches!(char, '.' | '!' | '?' | '…' | '。' | '？' | '！');
    let (mut from, mut in_code) = (0, false);
    let mut chars = paragraph.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        in_code ^= char == '`';
        if in_code || !is_end(char) {
            continue;
        }
        let mut to = at + char.len_utf8();
        while let Some((next, mark)) = chars.next_if(|(_, next)| is_end(*next) || ")]\"'*_»”’".contains(*next)) {
            to = next + mark.len_utf8();
        }
        let apart = paragraph[to..].starts_with(char::is_whitespace) || matches!(char, '。' | '？' | '！');
        if apart && !(char == '.' && abbreviates(&paragraph[from..at])) {
            push(&paragraph[from..to]);
            from = to;
        }
    }
    push(&paragraph[from..]);
}

/// Whether a full stop after this ends no sentence: `(i.e.`
fn abbreviates(before: &str) -> bool {
    const SHORT: &str = "e.g i.e eg ie vs cf p.ex mr mrs dr approx fig incl";
    let word = before.rsplit(|char: char| char.is_whitespace() || char == '(').next().unwrap_or_default();
    one_of(SHORT, &word.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a long text both ends are kept, without a blank in it, too. A secret is hidden wherever the cuts go.
    #[test]
    fn the_ends_of_a_long_text_have_no_part_of_a_secret() {
        let token = format!("/ghp_{}/", "16C7e42F292c6912".repeat(3));
        let block = format!("-----BEGIN PRIVATE KEY-----{}-----END PRIVATE KEY-----", "16C7e42F292c6912/".repeat(1100));
        for secret in [&token, &block] {
            for size in [6000, 20_000] {
                for before in (0..size).step_by(size / 20).chain((HEAD - 60..HEAD).step_by(9)) {
                    let text = format!("{}{secret}{}", "x/".repeat(before / 2), "y/".repeat((size - before) / 2));
                    assert!(!ends_of(&text).contains("7e42"), "{before} of {size}");
                }
            }
        }
    }

    #[test]
    fn own_words_are_what_somebody_typed() {
        for (text, wanted) in [
            ("fix the login page", "fix the login page"),
            ("the build fails:\n```\nerror: x\n```\nwhy is that?", "the build fails:\nwhy is that?"),
            ("~~~\nnever closed is code\nto the very end", ""),
            ("```inline fence``` stays out\nbut this stays in", "but this stays in"),
            ("it broke\n\nerror: cannot find\nPlease run 'az provider register'", "it broke"),
            ("error: cannot find\nPlease run 'az provider register'", ""),
            ("src/main.rs:12:5: unused variable\n\nlook at that", "look at that"),
            ("$ cargo test\n\n2026-01-02 10:00:00 it began\n[10:15:00] x\n\nGET /index.html 200", ""),
            ("Error: the save button does nothing", "Error: the save button does nothing"),
            ("-remove the banner\n-make the footer sticky", "-remove the banner\n-make the footer sticky"),
            ("<open-tag> is not closed", "<open-tag> is not closed"),
            ("> quoted\n| a | row |\nmine", "mine"),
            ("at Foo.bar (x.js:1:2)\n\nat the end it stops", "at the end it stops"),
            ("- one\n- two", "- one\n- two"),
            ("10:15 is too early, and 2026 was better", "10:15 is too early, and 2026 was better"),
        ] {
            assert_eq!(own_words(text), wanted, "{text}");
        }
        let log = "1s\nRun docker build\nshell: /usr/bin/bash\n".repeat(4);
        assert_eq!(own_words(&format!("why is that?\n\n{log}\nplease look")), "why is that?\n\nplease look");
        assert_eq!(own_words(&"- one thing\n".repeat(12)), "- one thing\n".repeat(12).trim());
        let long = format!("fix this\n\n{}\n\nplease", "x y.\n".repeat(5000));
        let own = own_words(&long);
        assert!(own.starts_with("fix this\n") && own.ends_with("please") && own.len() < 6100);
    }

    #[test]
    fn sentences_end_where_they_end() {
        for (text, wanted) in [
            ("Fix the parser. Then run the tests!", &["Fix the parser.", "Then run the tests!"][..]),
            ("Use `a. b` here, e.g. in main. And v1.2 works", &["Use `a. b` here, e.g. in main.", "And v1.2 works"]),
            (
                "ask the knowledge base (i.e. the wiki) first. Plan B. Now",
                &["ask the knowledge base (i.e. the wiki) first.", "Plan B.", "Now"],
            ),
            (
                "# Heading\nThis line is long enough that it was wrapped by whoever\nwrote it. So\n- **item** one\n1. two\n| table |\nline\nbreak",
                &[
                    "This line is long enough that it was wrapped by whoever wrote it.",
                    "So",
                    "item one",
                    "two",
                    "line",
                    "break",
                ],
            ),
            ("どうしますか？はい。", &["どうしますか？", "はい。"]),
            ("Ça marche bien ? Oui !", &["Ça marche bien ?", "Oui !"]),
            ("", &[]),
        ] {
            assert_eq!(sentences(text), wanted, "{text}");
        }
    }

    #[test]
    fn the_first_sentence_says_something() {
        for (answer, first) in [
            ("Done. All 12 tests pass. Bye.", "Done. All 12 tests pass."),
            ("Perfect! Ok. It works now. Bye.", "Perfect! Ok. It works now."),
            ("The redirect is fixed. Shall I commit?", "The redirect is fixed."),
            ("## Summary\n\n**All tests** pass now. Good.", "All tests pass now."),
            ("# Only a heading", "Only a heading"),
            ("Should I run this?\n```\nrm -r x\n```", "Should I run this?"),
            ("I fixed it: see https://x.y/?a", "I fixed it: see https://x.y/?a"),
            ("", ""),
        ] {
            assert_eq!(first_sentence(answer), first, "{answer}");
        }
    }
}
