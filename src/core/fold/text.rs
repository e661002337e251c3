//! What of a text somebody wrote themselves, and its sentences.
//!
//! Prompts carry pasted logs and code; answers carry headings, tables and code. Whoever quotes wants the words in
//! between. Only shapes decide here, never the meaning of a word.

use std::borrow::Cow;

use memchr::memmem;

use super::asked::content_words;
use super::one_of;
use super::words::{COURTESIES, PASTED};
pub use crate::secrets::cut;
use crate::secrets::redact;
use session_format::boundary::substr;

/// Limits for a long text: a request stands at its beginning or at its end.
const HEAD: usize = 4000;
const TAIL: usize = 2000;

/// The beginning and the end of a long text. Secrets go first, and from the whole: half of one would not be known as such.
pub fn ends_of(text: &str) -> String {
    if text.len() <= HEAD + TAIL {
        return text.to_owned();
    }
    // A huge text is searched only if there is a secret near its ends, or one that may be that long.
    const MARGIN: usize = 16 << 10;
    let head = substr(text, ..text.floor_char_boundary(HEAD + MARGIN));
    let tail = substr(
        text,
        text.ceil_char_boundary(text.len().saturating_sub(TAIL + MARGIN))..,
    );
    let has_secret = |part: &str| matches!(redact(part), Cow::Owned(_));
    let is_searched = has_secret(head)
        || has_secret(tail)
        || memmem::find(text.as_bytes(), b"PRIVATE KEY").is_some();
    let text = if is_searched {
        redact(text)
    } else {
        Cow::Borrowed(text)
    };
    let tail = text.ceil_char_boundary(text.len().saturating_sub(TAIL));
    let head = text.floor_char_boundary(HEAD).min(tail);
    format!("{}\n…\n{}", substr(&text, ..head), substr(&text, tail..))
}

/// The lines that somebody wrote: no code, no quotation or table, nothing pasted. Blank lines stay.
pub(crate) fn own_words(text: &str) -> String {
    let text = ends_of(text);
    let own = typed(&text);
    // What is left out may be what a secret is known by, like the first line of a private key.
    if own.len() < text.trim().len() {
        typed(&redact(&text))
    } else {
        own
    }
}

fn typed(text: &str) -> String {
    let lines = prose(text);
    // A single line that looks pasted may be all that somebody has to say.
    let alone = lines.iter().filter(|line| !line.is_empty()).count() == 1;
    let several_times = lines
        .iter()
        .filter(|line| is_clock(first_word(line)))
        .nth(1)
        .is_some();
    let is_pasted = |line: &str| {
        is_pasted(line) || several_times && is_clock(first_word(line)) || is_console(line, &lines)
    };
    let paragraphs: Vec<&[&str]> = lines
        .split(|line| line.is_empty())
        .filter(|lines| !lines.is_empty())
        .collect();
    let mut own = Vec::new();
    for (at, paragraph) in paragraphs.iter().enumerate() {
        // Whatever follows a line of a log without a gap is more of the log, but for a question at the very end.
        let (is_first, is_last) = (at == 0, at + 1 == paragraphs.len());
        let head = if is_output(paragraph) {
            usize::from(is_first && is_question(paragraph[0]))
        } else {
            paragraph
                .iter()
                .take_while(|line| !is_pasted(line) || alone && begins(line, SAID_TOO))
                .count()
        };
        let (before, after) = paragraph.split_at(head);
        let is_own = |line: &&&str| is_last && is_question(line) || is_foreign(line, after);
        let tail = after.iter().rev().take_while(is_own).count();
        let typed = before.iter().chain(&after[after.len() - tail..]);
        let known = own.len();
        own.extend(typed.filter(|line| !line.starts_with(['>', '|'])).copied());
        if own.len() > known {
            own.push("");
        }
    }
    own.join("\n").trim().to_owned()
}

/// A text without the marks of a quotation, if it is nothing else: whoever begins a prompt with `>` may have typed all of
/// it. npm marks its commands so, too.
pub fn unquoted(text: &str) -> Option<String> {
    let lines = prose(text);
    let bare = |line: &'_ str| line.trim_start_matches('>').trim_start().to_owned();
    let is_quoted =
        |line: &&str| line.is_empty() || line.starts_with('>') && !line.starts_with(">>>");
    let first = bare(lines.iter().find(|line| !line.is_empty())?);
    let (_, version) = first_word(&first).split_once('@').unwrap_or_default();
    let runs_script = version.starts_with(|char: char| char.is_ascii_digit());
    let all = || {
        lines
            .iter()
            .map(|line| bare(line))
            .collect::<Vec<_>>()
            .join("\n")
    };
    (!runs_script && lines.iter().all(is_quoted)).then(all)
}

/// True if a line asks something, and no program does so.
fn is_question(line: &str) -> bool {
    const SUGGESTS: &str = "did you mean";
    asks(line)
        && (line.contains(char::is_whitespace) || !line.is_ascii())
        && !is_pasted(line)
        && !line.to_lowercase().contains(SUGGESTS)
}

/// True if a line among lines of ASCII is in another script: no program changes its language.
fn is_foreign(line: &str, among: &[&str]) -> bool {
    let is_other = |line: &str| {
        let letters = line.chars().filter(|char| char.is_alphabetic());
        let (all, other) = letters.fold((0, 0), |(all, other), char| {
            (all + 1, other + usize::from(char > '\u{36f}'))
        });
        other * 2 > all
    };
    is_other(line)
        && among
            .iter()
            .all(|other| other.is_ascii() || is_other(other))
        && among[0].is_ascii()
}

fn first_word(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or_default()
}

/// A command after the prompt of a console: `me@host:~$ ls`, `mysql> select`, `PS C:\src> dir`, `Router#show version`.
fn is_console(line: &str, lines: &[&str]) -> bool {
    let line = line.strip_prefix("PS ").unwrap_or(line);
    let Some(at) = line.find(['#', '>', '$', '%']) else {
        return false;
    };
    let (name, rest) = (substr(line, ..at), substr(line, at + 1..));
    let is_apart = rest.is_empty() || rest.starts_with(' ');
    let is_drive = name.get(1..3) == Some(":\\");
    let is_user = name.contains('@') && (!name.contains(' ') || name.starts_with(['[', '(']));
    let is_word = |char: char| char.is_ascii_alphanumeric() || "-_.()".contains(char);
    let is_host = name.len() > 2
        && name.starts_with(|char: char| char.is_ascii_alphabetic())
        && name.chars().all(is_word);
    match line.as_bytes()[at] {
        _ if is_user => is_apart,
        b'>' if is_drive => true,
        b'>' if is_host && is_apart => true,
        // `String#format` is a name; a console has more of the same.
        b'#' | b'>' if is_host && !name.ends_with('-') => lines
            .iter()
            .filter(|other| other.starts_with(substr(line, ..=at)))
            .nth(1)
            .is_some(),
        _ => false,
    }
}

/// True if a paragraph is the output of a program: nobody types that many lines without an end of a sentence or an item.
fn is_output(paragraph: &[&str]) -> bool {
    const LINES: usize = 10;
    /// Prose that an editor wrapped has long lines.
    const WRAPPED: usize = 50;
    let ends = ['.', '!', '?', ':', ',', '。', '？', '！', '…'];
    let typed = |line: &&&str| {
        line.ends_with(ends) || list_item(line).is_some() || line.chars().count() >= WRAPPED
    };
    paragraph.len() >= LINES && paragraph.iter().filter(typed).count() * 3 < paragraph.len()
}

/// The lines outside of code fences, trimmed.
pub fn prose(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines().map(str::trim) {
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| line.starts_with(mark));
        match (fence, mark) {
            // What opens a block may name a language; what closes it names nothing.
            (Some(open), Some(mark))
                if open == mark && line.trim_start_matches(['`', '~']).is_empty() =>
            {
                fence = None;
            }
            (Some(_), _) => {}
            (None, Some(mark)) => {
                fence = (!substr(line, mark.len()..).contains(mark)).then_some(mark);
            }
            (None, None) => found.push(line),
        }
    }
    found
}

/// Beginnings of pasted lines that people begin a message with, too.
const SAID_TOO: &str = "error:;warning:;Error:;GET ;POST ;PUT ;PATCH ;DELETE ;HEAD ;OPTIONS ";
const LEVELS: &str = "ERROR WARN WARNING INFO DEBUG TRACE FATAL CRITICAL";
const METHODS: &str = "GET POST PUT PATCH DELETE HEAD OPTIONS";

/// True if a line was pasted: a place in a file, a stack trace, a log, HTTP, a shell prompt, a diff.
fn is_pasted(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let (first, second) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    match first {
        _ if line.starts_with("at ") => {
            second.contains('(') || line.contains(" (") || is_position(second)
        }
        _ if begins(line, PASTED) => true,
        "Run" => second.contains('='),
        _ if one_of(METHODS, first) => second.starts_with(['/', 'h']),
        _ => {
            let level = first.trim_matches(['[', ']', ':']);
            is_position(first) || is_time(first) || is_table(line) || one_of(LEVELS, level)
        }
    }
}

/// Columns with gaps between them.
fn is_table(line: &str) -> bool {
    line.split("   ")
        .filter(|column| !column.is_empty())
        .nth(2)
        .is_some()
        || line.split('\t').nth(2).is_some()
}

fn begins(line: &str, starts: &str) -> bool {
    starts.split(';').any(|start| line.starts_with(start))
}

/// `src/main.rs:12:5:`
fn is_position(word: &str) -> bool {
    let Some((path, line)) = word.split_once(':') else {
        return false;
    };
    let after = line.trim_start_matches(|char: char| char.is_ascii_digit());
    path.contains(['.', '/'])
        && after.len() < line.len()
        && (after.is_empty() || after.starts_with([':', ',', ')']))
}

/// `2026-01-02`, `[10:15:00]`
fn is_time(word: &str) -> bool {
    let date = word.trim_start_matches('[');
    let shape = shape(date);
    shape.starts_with("0000-00") && !shape.starts_with("0000-000")
        || date.len() < word.len() && is_clock(date)
}

/// `4:06:53`. By itself it may be anything that lasts so long.
fn is_clock(word: &str) -> bool {
    let shape = shape(word);
    shape.starts_with("00:00:0") || shape.starts_with("0:00:0")
}

/// The first characters of a word, with a zero for each digit.
fn shape(word: &str) -> String {
    word.chars()
        .take(8)
        .map(|char| if char.is_ascii_digit() { '0' } else { char })
        .collect()
}

/// The text of a heading.
pub fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    (text.len() < line.len() && text.starts_with(' ')).then(|| text.trim())
}

/// The text of a list item.
pub(crate) fn list_item(line: &str) -> Option<&str> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match substr(line, digits..) {
        rest if (1..=3).contains(&digits) => rest.strip_prefix(['.', ')'])?,
        rest => rest.strip_prefix(['-', '*', '•', '–'])?,
    };
    Some(rest.strip_prefix([' ', '\t'])?.trim_start())
}

/// The first sentence of a text, with the next one if it only leads to that ("Done.", "Perfect!", "Summary:"); its first
/// heading if there is no sentence.
pub(crate) fn first_sentence(text: &str) -> String {
    first_sentences(text).join(" ")
}

/// The same, sentence by sentence.
pub(crate) fn first_sentences(text: &str) -> Vec<String> {
    const LEADING: usize = 16;
    const EXCLAIMED: usize = 40;
    let leads = |sentence: &String| match sentence.chars().count() {
        count if sentence.ends_with(['!', '！', ':', '：']) => count < EXCLAIMED,
        count => count < LEADING,
    };
    let mut all = sentences(text);
    let leading = all
        .iter()
        .take(2)
        .take_while(|sentence| leads(sentence))
        .count();
    all.truncate(leading + 1);
    if all.is_empty() {
        all.extend(
            prose(&ends_of(text))
                .into_iter()
                .find_map(heading)
                .map(str::to_owned),
        );
    }
    all
}

/// The question that an answer ends with, if it says what the agent waits for. What follows it may be the options to choose
/// from, or the code it is about.
///
/// An offer ("Want me to commit this?") counts: whoever goes on learns what was left undone. That does not make it a
/// question that stands in the way. A courtesy ("Anything else?") is left out, as it fits any session, and so is a question
/// of hardly a word ("Shall I proceed?").
pub(crate) fn closing_question(answer: &str) -> Option<String> {
    const WORDS: usize = 2;
    const LETTERS: usize = 6;
    let answer = ends_of(answer);
    let lines = prose(&answer);
    let is_option = |line: &&&str| line.is_empty() || list_item(line).is_some() && !asks(line);
    let options = lines.iter().rev().take_while(is_option).count();
    let last = sentences(&lines[..lines.len() - options].join("\n"))
        .pop()
        .filter(|last| asks(last))?;
    let plain = last.to_lowercase().replace('’', "'");
    let letters = last
        .chars()
        .filter(|char| char.is_alphabetic() && *char > '\u{2e7f}')
        .count();
    let says_something = letters >= LETTERS || content_words(&last).nth(WORDS - 1).is_some();
    let is_courtesy = COURTESIES.iter().any(|courtesy| plain.contains(courtesy));
    (says_something && !is_courtesy).then_some(last)
}

/// True if a sentence ends as a question, and not with an address. The Greek mark is a semicolon, which ends much else.
fn asks(sentence: &str) -> bool {
    let is_address = sentence
        .rsplit(' ')
        .next()
        .is_some_and(|word| word.contains("://"));
    !is_address
        && sentence
            .trim_end_matches(['*', '_', ')', '）'])
            .ends_with(['?', '？', '؟'])
}

/// The sentences of a text, each on one line. What is left out may be what a secret is known by; then it is hidden first.
pub(crate) fn sentences(text: &str) -> Vec<String> {
    let text = ends_of(text);
    let all = sentences_of(&text);
    let Cow::Owned(hidden) = redact(&text) else {
        return all;
    };
    let safe = sentences_of(&hidden);
    let is_known = all.len() == safe.len()
        && all
            .iter()
            .zip(&safe)
            .all(|(said, safe)| redact(said) == *safe);
    if is_known { all } else { safe }
}

fn sentences_of(text: &str) -> Vec<String> {
    /// A shorter line was not broken because it was long.
    const WRAPPED: usize = 50;
    let mut found = Vec::new();
    let mut paragraph = String::new();
    let mut before = 0;
    for line in prose(text).into_iter().chain([""]) {
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
        let bare =
            bare.trim_matches(|char: char| char.is_whitespace() || matches!(char, '*' | '_'));
        found.extend(
            bare.contains(char::is_alphanumeric)
                .then(|| bare.to_owned()),
        );
    };
    let is_end = |char: char| matches!(char, '.' | '!' | '?' | '؟' | '…' | '。' | '？' | '！');
    let (mut from, mut in_code) = (0, false);
    let mut chars = paragraph.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        in_code ^= char == '`';
        if in_code || !is_end(char) {
            continue;
        }
        let mut to = at + char.len_utf8();
        while let Some((next, mark)) =
            chars.next_if(|(_, next)| is_end(*next) || ")]\"'*_»”’".contains(*next))
        {
            to = next + mark.len_utf8();
        }
        let apart = substr(paragraph, to..).starts_with(char::is_whitespace)
            || matches!(char, '。' | '？' | '！');
        if apart && !(char == '.' && abbreviates(substr(paragraph, from..at))) {
            push(substr(paragraph, from..to));
            from = to;
        }
    }
    push(substr(paragraph, from..));
}

/// True if a full stop after this ends no sentence: `(i.e.`
fn abbreviates(before: &str) -> bool {
    const ABBREVIATIONS: &str = "e.g i.e eg ie vs cf p.ex mr mrs dr approx fig incl";
    let word = before
        .rsplit(|char: char| char.is_whitespace() || char == '(')
        .next()
        .unwrap_or_default();
    one_of(ABBREVIATIONS, &word.to_ascii_lowercase())
}

#[cfg(test)]
#[allow(clippy::too_many_lines, reason = "a table of cases is long")]
mod tests {
    use super::*;

    /// Of a long text both ends are kept, without a blank in it, too. A secret is hidden wherever the cuts go.
    #[test]
    fn the_ends_of_a_long_text_have_no_part_of_a_secret() {
        let token = format!("/ghp_{}/", "16C7e42F292c6912".repeat(3));
        let block = format!(
            "-----BEGIN PRIVATE KEY-----{}-----END PRIVATE KEY-----",
            "16C7e42F292c6912/".repeat(1100)
        );
        for secret in [&token, &block] {
            for size in [6000, 20_000] {
                for before in (0..size)
                    .step_by(size / 20)
                    .chain((HEAD - 60..HEAD).step_by(9))
                {
                    let text = format!(
                        "{}{secret}{}",
                        "x/".repeat(before / 2),
                        "y/".repeat((size - before) / 2)
                    );
                    assert!(!ends_of(&text).contains("7e42"), "{before} of {size}");
                }
            }
        }
    }

    #[test]
    fn own_words_are_what_somebody_typed() {
        for (text, wanted) in [
            ("fix the login page", "fix the login page"),
            (
                "the build fails:\n```\nerror: x\n```\nwhy is that?",
                "the build fails:\nwhy is that?",
            ),
            ("~~~\nnever closed is code\nto the very end", ""),
            (
                "```inline fence``` stays out\nbut this stays in",
                "but this stays in",
            ),
            (
                "it broke\n\nerror: cannot find\nPlease run 'az provider register'",
                "it broke",
            ),
            ("error: cannot find\nPlease run 'az provider register'", ""),
            (
                "src/main.rs:12:5: unused variable\n\nlook at that",
                "look at that",
            ),
            (
                "$ cargo test\n\n2026-01-02 10:00:00 it began\n[10:15:00] x\n\nGET /index.html 200",
                "",
            ),
            (
                "Error: the save button does nothing",
                "Error: the save button does nothing",
            ),
            (
                "-remove the banner\n-make the footer sticky",
                "-remove the banner\n-make the footer sticky",
            ),
            ("<open-tag> is not closed", "<open-tag> is not closed"),
            ("> quoted\n| a | row |\nmine", "mine"),
            (
                "at Foo.bar (x.js:1:2)\n\nat the end it stops",
                "at the end it stops",
            ),
            ("- one\n- two", "- one\n- two"),
            (
                "10:15 is too early, and 2026 was better",
                "10:15 is too early, and 2026 was better",
            ),
            // The question stands behind the paste.
            (
                "error: cannot find\n  --> a.rs:1:2\nwhy does that happen?",
                "why does that happen?",
            ),
            (
                "[INFO] up\n[INFO] down\nwhat is it waiting for？",
                "what is it waiting for？",
            ),
            (
                "Traceback (most recent call last):\nKeyError: 'x'\nmüssen wir das abfangen?",
                "müssen wir das abfangen?",
            ),
            (
                "error: cannot find value `fo`\nhelp: did you mean `foo`?",
                "",
            ),
            ("error: cannot find value `fo`\nDid you mean `foo`?", ""),
            ("ERROR: file exists\nOverwrite? [y/N]", ""),
            ("error: timeout\n这个错误怎么解决", "这个错误怎么解决"),
            (
                "npm ERR! code ERESOLVE\nпочини это пожалуйста",
                "почини это пожалуйста",
            ),
            // A console of a shell, a database or a device.
            (
                "me@host:~/src$ ls\na.txt\nb.txt\n\nwhich one is old?",
                "which one is old?",
            ),
            (
                "Router#show ip route\nGateway is not set\nRouter#\n\nwhat is missing here?",
                "what is missing here?",
            ),
            ("Switch(config-if)# no shutdown\nSwitch(config-if)#", ""),
            ("mysql> select 1;\n1 row in set", ""),
            ("PS C:\\src> dir\nMode LastWriteTime", ""),
            ("C:\\src> dir\nVolume in drive C", ""),
            ("String#format is slow", "String#format is slow"),
            ("C# is what I want here", "C# is what I want here"),
            ("issue#12 is still open", "issue#12 is still open"),
            (
                "a->b is the wrong arrow, use x=>y",
                "a->b is the wrong arrow, use x=>y",
            ),
            (
                "$HOME is empty in the container",
                "$HOME is empty in the container",
            ),
            (
                "Interface   Address   State\nGi0/0   10.0.0.1   up\n\nwhy is it down?",
                "why is it down?",
            ),
            // A time alone makes no log, several do.
            (
                "4:06:53 is where the sound breaks",
                "4:06:53 is where the sound breaks",
            ),
            (
                "4:06:53 PM starting\n4:06:54 PM stopped\n\nit stops at once",
                "it stops at once",
            ),
            ("[4:06:53] starting", ""),
            ("> quoted", ""),
            (">>> import x", ""),
        ] {
            assert_eq!(own_words(text), wanted, "{text}");
        }
        let log = "1s\nRun docker build\nshell: /usr/bin/bash\n".repeat(4);
        assert_eq!(
            own_words(&format!("why is that?\n\n{log}\nplease look")),
            "why is that?\n\nplease look"
        );
        assert_eq!(own_words(&format!("why is that?\n{log}")), "why is that?");
        assert_eq!(own_words(&format!("{log}why is that?")), "why is that?");
        assert_eq!(own_words(&log), "");
        assert_eq!(
            own_words(&"- one thing\n".repeat(12)),
            "- one thing\n".repeat(12).trim()
        );
        let long = format!("fix this\n\n{}\n\nplease", "x y.\n".repeat(5000));
        let own = own_words(&long);
        assert!(own.starts_with("fix this\n") && own.ends_with("please") && own.len() < 6100);
    }

    #[test]
    fn sentences_end_where_they_end() {
        for (text, wanted) in [
            (
                "Fix the parser. Then run the tests!",
                &["Fix the parser.", "Then run the tests!"][..],
            ),
            (
                "Use `a. b` here, e.g. in main. And v1.2 works",
                &["Use `a. b` here, e.g. in main.", "And v1.2 works"],
            ),
            (
                "ask the knowledge base (i.e. the wiki) first. Plan B. Now",
                &[
                    "ask the knowledge base (i.e. the wiki) first.",
                    "Plan B.",
                    "Now",
                ],
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
            (
                "Perfect! Ok. It works now. Bye.",
                "Perfect! Ok. It works now.",
            ),
            (
                "The redirect is fixed. Shall I commit?",
                "The redirect is fixed.",
            ),
            (
                "## Summary\n\n**All tests** pass now. Good.",
                "All tests pass now.",
            ),
            ("# Only a heading", "Only a heading"),
            (
                "Should I run this?\n```\nrm -r x\n```",
                "Should I run this?",
            ),
            (
                "I fixed it: see https://x.y/?a",
                "I fixed it: see https://x.y/?a",
            ),
            ("", ""),
        ] {
            assert_eq!(first_sentence(answer), first, "{answer}");
        }
    }

    #[test]
    fn an_answer_may_end_with_a_question() {
        for (answer, question) in [
            (
                "The redirect is fixed. Shall I commit it?",
                "Shall I commit it?",
            ),
            (
                "Done.\n\nTwo ways are left. Which database should it be, PostgreSQL or SQLite?",
                "Which database should it be, PostgreSQL or SQLite?",
            ),
            (
                "Found it.\n\n**Should the old endpoint stay for a release?**",
                "Should the old endpoint stay for a release?",
            ),
            (
                "Which cache do you prefer?\n\n1. Redis\n2. Memory",
                "Which cache do you prefer?",
            ),
            (
                "Open points:\n- Is the file needed on Windows?\n- Does the cache expire at night?",
                "Does the cache expire at night?",
            ),
            (
                "Should I run this migration?\n```\nrm -r x\n```",
                "Should I run this migration?",
            ),
            (
                "Fixed (shall I push the branch too?)",
                "Fixed (shall I push the branch too?)",
            ),
            (
                "Would you like me to update the docs as well?",
                "Would you like me to update the docs as well?",
            ),
            // Several languages.
            (
                "Fertig. Soll ich den Import auch umbauen?",
                "Soll ich den Import auch umbauen?",
            ),
            (
                "C'est fait. Faut-il garder l'ancien format ?",
                "Faut-il garder l'ancien format ?",
            ),
            (
                "Listo. ¿Quieres que borre la tabla vieja?",
                "¿Quieres que borre la tabla vieja?",
            ),
            ("修好了。要不要同时更新文档？", "要不要同时更新文档？"),
            (
                "直しました。古い設定も削除しますか？",
                "古い設定も削除しますか？",
            ),
            (
                "수정했습니다. 이전 설정도 삭제할까요?",
                "이전 설정도 삭제할까요?",
            ),
            (
                "Готово. Удалить старую таблицу тоже?",
                "Удалить старую таблицу тоже?",
            ),
            ("تم الإصلاح. هل أحذف الجدول القديم؟", "هل أحذف الجدول القديم؟"),
            // Courtesies, and questions of hardly a word.
            ("All green. Anything else you want to tackle?", ""),
            ("Done. Is there anything else?", ""),
            ("Done. What would you like to do next?", ""),
            ("Fertig. Kann ich sonst noch etwas tun?", ""),
            ("完成了。还有什么需要我做的吗？", ""),
            ("Here is the plan. Shall I proceed?", ""),
            ("Ok?", ""),
            // No question of the agent's, or not at the end.
            ("Why did it fail? The cache was stale.", ""),
            (
                "Should I go on with the parser?\n\nI ran the tests in the meantime.",
                "",
            ),
            ("It calls `is_empty?`", ""),
            ("Look at https://example.org/?", ""),
            ("```\nwhat does this do?\n```", ""),
            ("> should this stay in the code?", ""),
            ("You asked: \"why does the import fail?\"", ""),
            ("Διόρθωσα το σφάλμα; θέλεις να συνεχίσω;", ""),
            ("", ""),
        ] {
            assert_eq!(
                closing_question(answer).unwrap_or_default(),
                question,
                "{answer}"
            );
        }
    }
}
