//! What people and agents say, in English and French: goals, decisions, blockers, corrections, next steps, topics.
//!
//! Text in, facts out. Each rule was measured on real sessions and says something only where it is right about nine times
//! in ten, so most texts yield nothing. Rules look at how a sentence begins, never at words anywhere in it. What tools and
//! tasks say is better evidence; that is for the caller to prefer.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::lexicon::{ACK, FRENCH_STEMS, FRENCH_VERBS, HOST, LEAD, STOP, VERBS, has, one_of};

// ---- Sentences

/// A part of a text, and where it begins.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Part<'a> {
    at: usize,
    text: &'a str,
}

impl Part<'_> {
    fn end(&self) -> usize {
        self.at + self.text.len()
    }
}

/// The sentences that a person or an agent wrote, questions among them: no code, quotations, tables, headings and nothing
/// pasted, and none that is too short or too long to be matched.
pub fn sentences(text: &str) -> Vec<&str> {
    parts(text).into_iter().map(|part| part.text).filter(|text| fits(text)).collect()
}

fn fits(sentence: &str) -> bool {
    let length = sentence.chars().take(301).count();
    (12..=300).contains(&length)
}

/// The first sentence of a text, of any length; its first line if there is only a heading.
pub fn first_sentence(text: &str) -> &str {
    let line =
        || text.lines().map(|line| line.trim().trim_start_matches(['#', '>', '|', ' '])).find(|line| !line.is_empty());
    parts(text).first().map(|part| part.text).or_else(line).unwrap_or_default()
}

/// The last thing that an answer says is a question.
pub fn is_question(answer: &str) -> bool {
    parts(answer).last().is_some_and(|part| asks(part.text))
}

fn asks(sentence: &str) -> bool {
    let bare = sentence
        .trim_end_matches(|char: char| !char.is_alphanumeric() && !matches!(char, '?' | '？' | '`' | '.' | '!'));
    bare.ends_with(['?', '？'])
}

/// All sentences, of whatever length.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    let mut open: Option<Part> = None;
    for line in lines(text) {
        let said = strip_marker(line);
        let prose = !said.text.is_empty() && !is_set_apart(line.text) && !pasted(line.text);
        if let Some(before) = open.filter(|before| prose && said.at == line.at && goes_on(before.text, line.text)) {
            open = Some(Part { at: before.at, text: &text[before.at..line.end()] });
            continue;
        }
        open.take().into_iter().for_each(|part| split(part, &mut found));
        open = prose.then_some(said);
    }
    open.into_iter().for_each(|part| split(part, &mut found));
    found
}

/// The lines outside of code fences and of blocks that a client put in, trimmed; blank ones too.
fn lines(text: &str) -> Vec<Part<'_>> {
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
            fence = fence.filter(|_| mark != Some(open));
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

/// The line without what makes it a list item or emphasises it.
fn strip_marker(line: Part) -> Part {
    let mut text = line.text;
    if let Some(item) = list_item(text) {
        text = item;
    }
    text = text.trim_start_matches(['*', '_', ' ']);
    Part { at: line.at + line.text.len() - text.len(), text: text.trim_end_matches(['*', '_', ' ']) }
}

/// What a list item says.
fn list_item(line: &str) -> Option<&str> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match &line[digits..] {
        rest if (1..=3).contains(&digits) => rest.strip_prefix(['.', ')'])?,
        rest => rest.strip_prefix(['-', '*', '•', '–'])?,
    };
    let item = rest.strip_prefix([' ', '\t'])?.trim_start();
    let unchecked = ["[ ]", "[x]", "[X]"].into_iter().find_map(|mark| item.strip_prefix(mark));
    Some(unchecked.unwrap_or(item).trim_start())
}

/// A heading, a quotation, a row of a table.
fn is_set_apart(line: &str) -> bool {
    line.starts_with(['>', '|']) || heading(line).is_some() || !line.contains(char::is_alphanumeric)
}

fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    (text.len() < line.len() && text.starts_with(' ')).then(|| text.trim())
}

/// A machine wrote this line: a place in a file, a stack trace, a log, HTTP, a shell prompt, a diff.
fn pasted(line: &str) -> bool {
    const STARTS: &str = "$ ;% ;>>> ;+;---;@@;diff --git;File \";Traceback (;Caused by:;thread ';HTTP/;npm ERR!;npm error;error[;error:;\
        warning:;Error:;FAIL ;PASS ;FAILED ;✓;✗;✘;✔;[INFO];[WARN;[ERROR];[DEBUG];{;[Request interrupted";
    const LEVELS: &str = "ERROR WARN WARNING INFO DEBUG TRACE FATAL CRITICAL";
    const VERBS: &str = "GET POST PUT PATCH DELETE HEAD OPTIONS";
    let mut words = line.split_whitespace();
    let mut word = || words.next().unwrap_or_default();
    let (first, second, third) = (word(), word(), word());
    let called = second.contains('(') || third.starts_with('(') || is_place(second);
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let bare = first.trim_start_matches('[');
    let stamped = digits(bare) == 4 && bare.get(4..5) == Some("-") && digits(&bare[5..]) == 2
        || digits(bare) == 2 && bare.get(2..3) == Some(":") && digits(&bare[3..]) == 2 && bare.get(5..6) == Some(":");
    STARTS.split(';').any(|start| line.starts_with(start))
        || first == "at" && called
        || first == "index" && second.contains("..")
        || stamped
        || one_of(LEVELS, first.trim_matches(['[', ']', ':']))
        || one_of(VERBS, first) && (second.starts_with('/') || second.starts_with("http"))
        || first == "Run" && second.contains('=')
        || line.contains(" failed:")
        || line.starts_with('-') && !line.starts_with("- ") && !line.starts_with("--")
        || is_place(first)
}

/// `src/main.rs:12:5:`
fn is_place(word: &str) -> bool {
    !word.contains("://")
        && word.match_indices(':').take(8).any(|(at, _)| {
            let digits = word[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
            let after = word[at + 1 + digits..].chars().next();
            digits > 0 && matches!(after, None | Some(':' | ',' | ')')) && word[..at].contains(['.', '/'])
        })
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

fn abbreviates(before: &str) -> bool {
    let word = before.rsplit(|char: char| char.is_whitespace() || char == '(').next().unwrap_or_default();
    let short = ["e.g", "i.e", "eg", "ie", "vs", "cf", "p.ex", "ex", "mr", "mrs", "dr", "st", "approx", "fig", "incl"];
    let first = before.trim_start().len() == word.len();
    short.iter().any(|known| word.eq_ignore_ascii_case(known))
        || first && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// A sentence in one line, without its full stop.
fn clean(text: &str) -> String {
    let flat: Vec<&str> = text.split_whitespace().collect();
    let flat = flat.join(" ");
    let bare = flat.trim_end_matches(['*', '_', ' ', ';']);
    let bare = bare.strip_suffix('.').filter(|bare| !bare.ends_with('.')).unwrap_or(bare);
    bare.chars().take(400).collect()
}

// ---- Words

/// A word, lower-case and without accents, and where it begins.
#[derive(Debug, Clone, PartialEq)]
struct Word {
    text: String,
    at: usize,
}

fn fold(char: char, into: &mut String) {
    for char in char.to_lowercase() {
        match char {
            'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' => into.push('a'),
            'ç' => into.push('c'),
            'è' | 'é' | 'ê' | 'ë' => into.push('e'),
            'ì' | 'í' | 'î' | 'ï' => into.push('i'),
            'ñ' => into.push('n'),
            'ò' | 'ó' | 'ô' | 'õ' | 'ö' => into.push('o'),
            'ù' | 'ú' | 'û' | 'ü' => into.push('u'),
            'ý' | 'ÿ' => into.push('y'),
            'œ' => into.push_str("oe"),
            'æ' => into.push_str("ae"),
            '’' | 'ʼ' => into.push('\''),
            '\u{300}'..='\u{36f}' => {}
            other => into.push(other),
        }
    }
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_' || ('\u{300}'..='\u{36f}').contains(&char)
}

/// The words of a text; an apostrophe within one belongs to it.
fn words(text: &str) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
    let mut open = false;
    let mut chars = text.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let inner =
            open && matches!(char, '\'' | '’' | 'ʼ') && chars.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        if !is_word(char) && !inner {
            open = false;
            continue;
        }
        if !open {
            found.push(Word { text: String::new(), at });
            open = true;
        }
        if let Some(word) = found.last_mut() {
            fold(char, &mut word.text);
        }
    }
    found.retain(|word| !word.text.is_empty());
    found
}

/// The words of a sentence as rules match them: contractions in full, and a piece of code as one mark.
fn plain(sentence: &str) -> Vec<Word> {
    let mut found = Vec::new();
    let mut rest = sentence;
    while !rest.is_empty() {
        let start = sentence.len() - rest.len();
        let code = rest.find('`').and_then(|open| Some((open, open + 1 + rest[open + 1..].find('`')?)));
        let said = &rest[..code.map_or(rest.len(), |(open, _)| open)];
        for word in words(said) {
            for text in in_full(&word.text) {
                found.push(Word { text: text.to_owned(), at: start + word.at });
            }
        }
        found.extend(code.map(|(open, _)| Word { text: "`".to_owned(), at: start + open }));
        rest = code.map_or("", |(_, close)| &rest[close + 1..]);
    }
    found
}

fn in_full(word: &str) -> Vec<&str> {
    match word {
        "lets" | "let's" => return vec!["let", "us"],
        "dont" => return vec!["do", "not"],
        "im" => return vec!["i", "am"],
        "can't" | "cannot" | "cant" => return vec!["can", "not"],
        "won't" => return vec!["will", "not"],
        "d'accord" => return vec![word],
        _ => {}
    }
    let Some((before, after)) = word.split_once('\'') else { return vec![word] };
    match (before, after) {
        (_, "t") if before.len() > 2 => vec![before.strip_suffix('n').unwrap_or(before), "not"],
        (_, "m") => vec![before, "am"],
        (_, "re") => vec![before, "are"],
        (_, "ll") => vec![before, "will"],
        (_, "d") => vec![before, "would"],
        (_, "ve") => vec![before, "have"],
        ("it" | "that" | "this" | "he" | "she" | "what" | "there", "s") => vec![before, "is"],
        (_, "s") => vec![before],
        ("j", _) => vec!["je", after],
        ("n", _) => vec!["ne", after],
        ("c", _) => vec!["ce", after],
        ("l" | "d" | "s" | "t" | "m" | "qu", _) => vec![after],
        _ => vec![word],
    }
}

/// Whether words begin with a phrase.
fn begins(words: &[Word], phrase: &str) -> bool {
    let mut at = 0;
    phrase.split(' ').all(|wanted| {
        at += 1;
        words.get(at - 1).is_some_and(|word| word.text == wanted)
    })
}

/// The phrase of a list that words begin with.
fn cue<'p>(words: &[Word], phrases: &'p str) -> Option<&'p str> {
    phrases.split(", ").find(|phrase| begins(words, phrase))
}

/// The words that say something, each once: no stop words, no numbers.
fn keywords(text: &str) -> BTreeSet<String> {
    let all = words(text);
    let whole = all.iter().flat_map(|word| in_full(&word.text));
    let meant =
        whole.filter(|word| word.chars().nth(1).is_some() && word.contains(char::is_alphabetic) && !has(&STOP, word));
    meant.map(str::to_owned).collect()
}

/// What forms of a word have in common, roughly.
fn stem(word: &str) -> String {
    let mut stem = word.to_owned();
    let cut = [
        ("ies", "y"),
        ("ied", "y"),
        ("ements", ""),
        ("ement", ""),
        ("ments", "ment"),
        ("ings", ""),
        ("ing", ""),
        ("ions", ""),
    ];
    let more = [
        ("ion", ""),
        ("ees", ""),
        ("ers", ""),
        ("ed", ""),
        ("ee", ""),
        ("es", ""),
        ("er", ""),
        ("ez", ""),
        ("s", ""),
        ("e", ""),
    ];
    for (end, put) in cut.into_iter().chain(more) {
        let Some(rest) = word.strip_suffix(end).filter(|rest| rest.chars().nth(2).is_some()) else { continue };
        stem = format!("{rest}{put}");
        break;
    }
    if let Some(rest) = stem.strip_suffix("at").filter(|rest| rest.chars().nth(4).is_some()) {
        stem = rest.to_owned();
    }
    let mut last = stem.chars().rev();
    if let (Some(one), Some(two)) = (last.next(), last.next())
        && one == two
    {
        stem.pop();
    }
    stem
}

/// Two texts are about the same: most of the words of the shorter one are in the other.
pub fn overlap(a: &str, b: &str) -> bool {
    let stems = |text: &str| -> BTreeSet<String> { keywords(text).iter().map(|word| stem(word)).collect() };
    let (a, b) = (stems(a), stems(b));
    let smaller = a.len().min(b.len());
    smaller >= 2 && a.intersection(&b).count() * 10 >= smaller * 6
}

// ---- Goals

/// What a session is after.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    /// Which of the prompts says it.
    pub prompt: usize,
    pub text: String,
    /// The user told the agent to do it; otherwise it is what was last talked about.
    pub sure: bool,
}

/// The last thing that the user told the agent to do, from the prompts of a session, oldest first.
pub fn goal(prompts: &[&str]) -> Option<Goal> {
    let newest = || prompts.iter().enumerate().rev().filter(|(_, prompt)| !is_idle(prompt));
    let told = newest().find_map(|(prompt, text)| Some(Goal { prompt, text: instruction(text)?, sure: true }));
    told.or_else(|| newest().find_map(|(prompt, text)| Some(Goal { prompt, text: subject(text)?, sure: false })))
}

const CONTENT: usize = 3;

/// An acknowledgement, a command to the client, an interruption.
fn is_idle(prompt: &str) -> bool {
    let first = prompt.split_whitespace().next().unwrap_or_default();
    let command = first.strip_prefix('/').is_some_and(|name| {
        name.starts_with(|char: char| char.is_ascii_lowercase())
            && name.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | ':'))
    });
    command
        || first.starts_with('!') && first.len() > 1
        || prompt.trim_start().starts_with("[Request interrupted")
        || prompt.len() < 200 && keywords(prompt).iter().all(|word| has(&ACK, word))
}

/// The first sentence of a prompt that tells what to do and can be understood.
fn instruction(prompt: &str) -> Option<String> {
    parts(prompt).into_iter().filter(|part| fits(part.text)).find_map(|part| {
        let words = plain(part.text);
        let from = starts(&words).find(|at| {
            let words = &words[*at..];
            if asks(part.text) { cue(words, REQUESTS).is_some() } else { directs(words) }
        })?;
        let text = with_next_line(prompt, part, words[from].at);
        (keywords(&text).len() >= CONTENT).then_some(text)
    })
}

/// The first sentence of a prompt that is about something.
fn subject(prompt: &str) -> Option<String> {
    let part = parts(prompt).into_iter().find(|part| keywords(part.text).len() >= CONTENT)?;
    Some(with_next_line(prompt, part, 0))
}

/// A sentence from a place on; where it ends with a colon, what comes next belongs to it.
fn with_next_line(prompt: &str, part: Part, from: usize) -> String {
    let text = clean(&part.text[from..]);
    if !text.ends_with(':') {
        return text;
    }
    let bare = |line: &str| {
        let line = line.trim().trim_start_matches(['#', '>', '*', '_', ' ']);
        let line = list_item(line).unwrap_or(line);
        clean(&line.chars().take(300).collect::<String>())
    };
    let next = prompt[part.end()..].lines().map(bare).find(|line| line.contains(char::is_alphanumeric));
    next.map_or(text.clone(), |next| format!("{text} {next}"))
}

/// Requests, which may be put as questions.
const REQUESTS: &str = "can you, could you, would you, can we, could we, please, peux tu, tu peux, pouvez vous, vous pouvez, pourrais tu, \
    pourriez vous";

const DIRECTIVES: &str = "let us, we need, we should, we must, i want, i need, i would like, do not, make sure, il faut, il faudrait, \
    on va, on doit, je veux, je voudrais, je aimerais, merci de, can you, could you, would you, please, nous devons, \
    il nous faut, never";

/// Whether words begin like an instruction.
fn directs(words: &[Word]) -> bool {
    if cue(words, DIRECTIVES).is_some() || cue(words, REQUESTS).is_some() {
        return true;
    }
    let Some(first) = words.first() else { return false };
    let forbids = first.text == "ne" && words.get(1).is_some_and(|word| is_french_verb(&word.text));
    forbids || is_imperative(words)
}

/// Whether words begin with a verb that tells what to do, not with a noun that looks like it.
fn is_imperative(words: &[Word]) -> bool {
    const NOUNS: &str = "is are was were has have had fails failed failing fail passes passed does do did error errors succeeded \
        results result crashes crashed works still seems est";
    let Some(first) = words.first() else { return false };
    let verb = has(&VERBS, &first.text) || is_french_verb(&first.text);
    verb && !words.get(1).is_some_and(|word| one_of(NOUNS, &word.text))
}

fn is_french_verb(word: &str) -> bool {
    let ends = ["e", "er", "ez", "ons"];
    let regular = ends.iter().filter_map(|end| word.strip_suffix(end)).any(|stem| has(&FRENCH_STEMS, stem));
    regular || has(&FRENCH_VERBS, word)
}

// ---- Decisions, blockers, corrections

/// The first sentence of a prompt that is not a question and that a rule takes, from where it takes it.
fn sentence_by(prompt: &str, rule: impl Fn(&str, &[Word]) -> Option<usize>) -> Option<String> {
    let said = sentences(prompt).into_iter().filter(|sentence| !asks(sentence));
    said.filter_map(|sentence| Some(clean(&sentence[rule(sentence, &plain(sentence))?..]))).next()
}

/// Where what a sentence says begins: after each of the words that lead to it.
fn starts(words: &[Word]) -> impl Iterator<Item = usize> {
    (0..words.len()).take_while(|at| *at == 0 || has(&LEAD, &words[at - 1].text))
}

/// What the user decided in a prompt, if it says so.
pub fn decision(prompt: &str) -> Option<String> {
    sentence_by(prompt, |sentence, words| starts(words).find_map(|at| decides(sentence, &words[at..])))
}

const DECISIONS: &str = "let us go with, let us go for, let us use, let us stick with, let us stick to, let us keep, let us drop, \
    let us not, let us skip, let us switch to, we will go with, we will use, we will keep, we will stick with, \
    i will go with, i will use, i will keep, i will stick with, going with, we are going with, i am going with, \
    decided to, decided on, i decided, we decided, i have decided, we have decided, i chose, we chose, i have chosen, \
    we have chosen, agreed on, agreed to, agreed that, we agreed, we have agreed, i prefer, we prefer, \
    i would prefer, we would prefer, i would rather, we would rather, on part sur, on garde, on utilise, on prend, \
    on reste sur, on abandonne, je prefere, je prefererais, on prefere, je ai decide, je ai choisi, je ai retenu, \
    on a decide, on a choisi, on a retenu";

/// Where the decision begins that words are, in their sentence.
fn decides(sentence: &str, words: &[Word]) -> Option<usize> {
    let first = words.first()?;
    let named =
        |from: usize| sentence[from..].contains('`') || keywords(&sentence[from..]).iter().any(|word| !has(&ACK, word));
    if first.text == "decision" {
        let after = sentence[first.at..].find(':').map(|colon| first.at + colon + 1)?;
        let next = words.get(1).map(|word| word.at)?;
        return (after <= next && named(next)).then_some(next);
    }
    if first.text == "option" {
        return is_choice(sentence, words).then_some(first.at);
    }
    if let Some(phrase) = cue(words, DECISIONS) {
        let rest = &words[phrase.split(' ').count()..];
        let next = rest.first()?;
        let idle = match phrase.rsplit(' ').next() {
            Some("not") => ["worry", "forget", "bother", "panic"].contains(&next.text.as_str()),
            Some("keep") => next.text.ends_with("ing") || ["you", "me", "us", "at", "up"].contains(&next.text.as_str()),
            _ => false,
        };
        return (!idle && named(next.at)).then_some(first.at);
    }
    const OTHERWISE: &str = "instead of, rather than, plutot que, au lieu de, au lieu du, a la place";
    let chosen = (1..words.len()).any(|at| cue(&words[at..], OTHERWISE).is_some());
    (chosen && is_imperative(words) && named(words.get(1)?.at)).then_some(first.at)
}

/// `option 2, the smaller one`, but neither a list of options nor a remark about one.
fn is_choice(sentence: &str, words: &[Word]) -> bool {
    const REMARKS: &str = "not does do did would could can has was fails failed means requires will";
    let Some(which) = words.get(1) else { return false };
    let numbered = which.text.chars().all(|char| char.is_ascii_digit()) || which.text.chars().count() == 1;
    let listed = sentence[which.at..]
        .trim_start_matches(char::is_alphanumeric)
        .trim_start()
        .starts_with([':', ')', '-', '–', '—', '=']);
    let remark = words.iter().skip(2).take(2).any(|word| one_of(REMARKS, &word.text));
    numbered && which.text != "`" && !listed && !remark && words.len() <= 15
}

/// What the user says the work waits for.
pub fn blocked(prompt: &str) -> Option<String> {
    const UNTIL: &str = "by, on, until, till, because, par, tant que, parce que";
    sentence_by(prompt, |_, words| {
        let stuck = |at: usize| {
            let word = words[at].text.as_str();
            let named = word == "blocked" || ["bloque", "bloquee", "bloques", "bloquees"].contains(&word);
            named && words.len() > at + 2 && cue(&words[at + 1..], UNTIL).is_some() && is_ours(&words[..at])
        };
        (0..words.len()).any(stuck).then_some(0)
    })
}

/// Whether what comes before `blocked` speaks of the work, not of what the program does.
fn is_ours(before: &[Word]) -> bool {
    const ADVERBS: &str = "still currently now completely totally also again just all toujours encore actuellement completement \
        maintenant";
    const BE: &str = "am are is remain remains got been suis est sommes sont reste";
    const WORK: &str = "i we this it everything work progress task step ticket issue story pr prs merge release rollout deploy \
        deployment migration feature branch rest phase project review upgrade have je on nous ce ca cela tout travail \
        tache etape deploiement livraison projet suite fonctionnalite branche mise revue publication";
    let mut rest = before;
    let mut cut = |known: &str| {
        let kept = rest.iter().rposition(|word| !one_of(known, &word.text)).map_or(0, |last| last + 1);
        let any = kept < rest.len();
        rest = &rest[..kept];
        any
    };
    cut(ADVERBS);
    let be = cut(BE);
    cut(ADVERBS);
    match rest.last() {
        None => true,
        Some(word) if be => one_of(WORK, &word.text),
        Some(_) => rest.iter().all(|word| has(&LEAD, &word.text)),
    }
}

/// What the user told the agent not to do.
pub fn correction(prompt: &str) -> Option<String> {
    sentence_by(prompt, |_, words| starts(words).find(|at| forbids(&words[*at..])).map(|at| words[at].at))
}

fn forbids(words: &[Word]) -> bool {
    const HARMLESS: &str = "worry bother mind forget know think care hesitate understand have want need like remember see get feel \
        believe seem panic";
    const REPORTS: &str = "marche marchent fonctionne fonctionnent sais comprends pense passe passent compile oublie hesite inquiete vois";
    let word = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let told = |at: usize| !word(at).is_empty() && !one_of(HARMLESS, word(at));
    match word(0) {
        "do" => word(1) == "not" && told(2),
        "never" => told(1) && word(1) != "again",
        "stop" => word(1).ends_with("ing"),
        "arrete" | "arretez" => word(1) == "de",
        "ne" => {
            let denied = (2..5).any(|at| ["pas", "jamais", "plus", "rien"].contains(&word(at)));
            denied && !["te", "vous"].contains(&word(1)) && !one_of(REPORTS, word(1))
        }
        _ => false,
    }
}

// ---- Next steps

/// The items of lists under headings like "Next steps".
pub fn next_steps(answer: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut under: Option<Option<usize>> = None;
    for line in lines(answer) {
        if line.text.is_empty() {
            continue;
        }
        if announces(line.text) {
            under = Some(None);
            continue;
        }
        let Some(depth) = under else { continue };
        let indent = line.at - answer[..line.at].rfind('\n').map_or(0, |at| at + 1);
        match list_item(line.text).filter(|_| heading(line.text).is_none()) {
            Some(item) if depth.is_none_or(|depth| indent <= depth) => {
                under = Some(Some(indent));
                let done = line.text.contains("[x]")
                    || line.text.contains("[X]")
                    || item.starts_with("~~")
                    || item.starts_with('✅');
                let text = clean(&item.replace("**", ""));
                if !done && text.contains(char::is_alphanumeric) {
                    found.push(text);
                }
            }
            // What belongs to the item above it.
            Some(_) => {}
            None if depth.is_some_and(|depth| indent > depth) => {}
            None => under = None,
        }
    }
    found
}

/// A heading, a bold line or a line of its own that says that what is still to do comes next.
fn announces(line: &str) -> bool {
    const HEADS: &str = "next steps, next step, next actions, remaining, still open, to do, todo, todos, follow ups, follow up, \
        followups, prochaines etapes, prochaine etape, reste a faire, a faire";
    if line.len() > 100 || list_item(line).is_some() && !line.contains("**") {
        return false;
    }
    let bare = line.trim_end().trim_end_matches(['*', '_']).trim_end_matches(':').trim_end_matches(['*', '_']);
    let marked = heading(line).is_some() || line.starts_with("**") && (line.ends_with("**") || line.ends_with("**:"));
    let words = plain(bare);
    let head = (0..words.len()).find_map(|at| Some((at, cue(&words[at..], HEADS)?)));
    match head {
        Some((at, phrase)) if marked => words.len() <= at + phrase.split(' ').count() + 3 && at <= 2,
        Some((0, phrase)) => words.len() == phrase.split(' ').count(),
        _ => false,
    }
}

// ---- Topics

/// The words that a session is about, with how often they were said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Topics(BTreeMap<String, Count>);

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Count {
    weight: u32,
    times: u32,
    /// It is the name of a file or directory.
    file: bool,
}

impl Topics {
    const CODE: u32 = 2;
    const FILE: u32 = 3;

    /// Adds what was said; names in back-ticks count twice.
    pub fn add(&mut self, text: &str, weight: u32) {
        for line in lines(text).into_iter().filter(|line| !is_set_apart(line.text) && !pasted(line.text)) {
            let ticks = line.text.matches('`').count();
            for (at, piece) in line.text.split('`').enumerate() {
                let code = at % 2 == 1 && at < ticks;
                for word in words(piece) {
                    let original = &piece[word.at..];
                    let names = if code || is_identifier(original) { names(original) } else { in_text(&word.text) };
                    let weight = weight.saturating_mul(if code { Topics::CODE } else { 1 });
                    names.into_iter().for_each(|name| self.count(name, weight, false));
                }
            }
        }
    }

    /// Adds a file that was edited: its stem, and the directories that it is in.
    pub fn add_file(&mut self, path: &str) {
        let mut parts = path.rsplit(['/', '\\']).filter(|part| !part.is_empty());
        let Some(name) = parts.next() else { return };
        let stem = name.trim_start_matches('.').split('.').next().unwrap_or_default();
        let mut seen = BTreeSet::new();
        for part in std::iter::once(stem).chain(parts.take(2)) {
            for word in words(part) {
                seen.extend(names(&part[word.at..]));
            }
        }
        seen.into_iter().for_each(|name| self.count(name, Topics::FILE, true));
    }

    fn count(&mut self, name: String, weight: u32, file: bool) {
        let length = name.chars().take(41).count();
        if !(3..=40).contains(&length) || !name.contains(char::is_alphabetic) || has(&STOP, &name) || has(&HOST, &name)
        {
            return;
        }
        let count = self.0.entry(name).or_default();
        count.weight = count.weight.saturating_add(weight);
        count.times = count.times.saturating_add(1);
        count.file |= file;
    }

    pub fn merge(&mut self, other: &Topics) {
        for (name, more) in &other.0 {
            let count = self.0.entry(name.clone()).or_default();
            count.weight = count.weight.saturating_add(more.weight);
            count.times = count.times.saturating_add(more.times);
            count.file |= more.file;
        }
    }

    pub fn contains(&self, word: &str) -> bool {
        let mut folded = String::new();
        word.trim_matches(|char: char| !char.is_alphanumeric()).chars().for_each(|char| fold(char, &mut folded));
        self.0.contains_key(&folded)
    }

    /// The words that tell this session from the others, best first; equal ones by their letters.
    pub fn top(&self, others: &[&Topics], count: usize) -> Vec<String> {
        let all = (others.len() + 2) as f64;
        let mut scored: Vec<(f64, &String)> = Vec::new();
        for (name, said) in self.0.iter().filter(|(_, said)| said.file || said.times >= 2) {
            let with = others.iter().filter(|other| other.0.contains_key(name)).count() + 2;
            scored.push((f64::from(said.weight) * (1.0 + (all / with as f64).ln()), name));
        }
        scored.sort_by(|(a, name), (b, other)| b.total_cmp(a).then(name.cmp(other)));
        scored.into_iter().take(count).map(|(_, name)| name.clone()).collect()
    }
}

/// `getUser`, `user_id`: written like in a program, unlike `GitHub`.
fn is_identifier(text: &str) -> bool {
    let word = &text[..text.find(|char| !is_word(char)).unwrap_or(text.len())];
    word.contains('_') || word.starts_with(char::is_lowercase) && word.contains(char::is_uppercase)
}

/// A word of ordinary text, without its article or apostrophe.
fn in_text(word: &str) -> Vec<String> {
    in_full(word).into_iter().map(str::to_owned).collect()
}

/// The names in the identifier that a text begins with: `userStore` and `user_store` have two.
fn names(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut chars = text.chars().take_while(|char| is_word(*char)).peekable();
    let mut before: Option<char> = None;
    while let Some(char) = chars.next() {
        let after_small = before.is_some_and(|before| before.is_lowercase() || before.is_numeric());
        let begins_word =
            before.is_some_and(char::is_uppercase) && chars.peek().is_some_and(|next| next.is_lowercase());
        if char == '_' || char.is_uppercase() && (after_small || begins_word) {
            found.push(String::new());
        }
        if let Some(name) = found.last_mut().filter(|_| char != '_') {
            fold(char, name);
        }
        before = Some(char);
    }
    found.retain(|name| !name.is_empty());
    found
}

/// The first of the topics that a prompt mentions.
pub fn hint(prompt: &str, topics: &[String]) -> Option<String> {
    let whole = |text: &str| -> Vec<String> { words(text).into_iter().flat_map(|word| in_text(&word.text)).collect() };
    let taken_apart =
        |text: &str| -> Vec<String> { words(text).iter().flat_map(|word| names(&text[word.at..])).collect() };
    let prompts = [whole(prompt), taken_apart(prompt)].map(|words| format!(" {} ", words.join(" ")));
    let mentions = |topic: &&String| {
        let wanted = [whole(topic), taken_apart(topic)];
        let mut both = wanted.iter().filter(|words| !words.is_empty()).map(|words| format!(" {} ", words.join(" ")));
        both.any(|topic| prompts.iter().any(|prompt| prompt.contains(&topic)))
    };
    topics.iter().find(mentions).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [(&str, &[&str]); 16] = [
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

    #[test]
    fn finds_what_was_said() {
        for (text, wanted) in TEXTS {
            assert_eq!(sentences(text), wanted, "{text}");
        }
        assert_eq!(sentences(&"a".repeat(301)), [""; 0]);
        assert_eq!(sentences(&"é".repeat(300)).len(), 1);
    }

    type Found<'a> = Option<(usize, &'a str, bool)>;

    const GOALS: [(&[&str], Found); 30] = [
        (&["Fix the login bug in auth.rs."], Some((0, "Fix the login bug in auth.rs", true))),
        (&["Add a cache for the pages", "yes"], Some((0, "Add a cache for the pages", true))),
        (
            &["Add a cache for the pages", "ok, go ahead", "/compact", "lgtm thanks!"],
            Some((0, "Add a cache for the pages", true)),
        ),
        (
            &["Add a cache for the pages", "oui, vas-y", "d'accord, parfait merci", "c'est bon"],
            Some((0, "Add a cache for the pages", true)),
        ),
        (
            &["Add a cache for the pages", "make that change", "check those", "do it"],
            Some((0, "Add a cache for the pages", true)),
        ),
        (&["Add a cache for the pages", "address 8, 12"], Some((0, "Add a cache for the pages", true))),
        (
            &["Add a cache for the pages", "Now let's write documentation for it, with examples"],
            Some((1, "let's write documentation for it, with examples", true)),
        ),
        (
            &["Hello. The page is slow. We need to cache the rendered pages."],
            Some((0, "We need to cache the rendered pages", true)),
        ),
        (
            &["ok so now please refactor the http client retries"],
            Some((0, "please refactor the http client retries", true)),
        ),
        (
            &["Could you rename `user_id` to `account_id` everywhere?"],
            Some((0, "Could you rename `user_id` to `account_id` everywhere?", true)),
        ),
        (&["Don't touch the generated migration files"], Some((0, "Don't touch the generated migration files", true))),
        (
            &["Make sure the release notes mention Windows"],
            Some((0, "Make sure the release notes mention Windows", true)),
        ),
        (
            &["Implement the following plan:\n\n# Plan: move sessions into SQLite\n\nmore"],
            Some((0, "Implement the following plan: Plan: move sessions into SQLite", true)),
        ),
        (
            &["Fix this error:\n```\nerror[E0308]: mismatched types in parser\n```"],
            Some((0, "Fix this error: error[E0308]: mismatched types in parser", true)),
        ),
        (&["Il faut corriger l'affichage des dates"], Some((0, "Il faut corriger l'affichage des dates", true))),
        (
            &["Bon, maintenant ajoute un test pour l’analyseur de dates"],
            Some((0, "ajoute un test pour l’analyseur de dates", true)),
        ),
        (
            &["Peux-tu vérifier la configuration du serveur ?"],
            Some((0, "Peux-tu vérifier la configuration du serveur ?", true)),
        ),
        (
            &["Merci de supprimer les anciens fichiers journaux"],
            Some((0, "Merci de supprimer les anciens fichiers journaux", true)),
        ),
        (&["On va remplacer la base de données"], Some((0, "On va remplacer la base de données", true))),
        (&["Why does the parser drop the last line?"], Some((0, "Why does the parser drop the last line?", false))),
        (
            &["we have a problem here with session cursors"],
            Some((0, "we have a problem here with session cursors", false)),
        ),
        (
            &["Build fails with a linker error on Windows"],
            Some((0, "Build fails with a linker error on Windows", false)),
        ),
        (
            &["Test results are strange since yesterday evening"],
            Some((0, "Test results are strange since yesterday evening", false)),
        ),
        (
            &["The dates look wrong on the overview page", "hmm", "and now?"],
            Some((0, "The dates look wrong on the overview page", false)),
        ),
        (&["POST /api/users 500 failed\nRun A=b make all targets\n"], None),
        (&["/review src/main.rs carefully please"], None),
        (&["!ls -la some folder here"], None),
        (&["[Request interrupted by user]"], None),
        (&["yes", "ok", "", "continue", "👍"], None),
        (&[], None),
    ];

    #[test]
    fn finds_the_goal() {
        for (prompts, wanted) in GOALS {
            let found = goal(prompts);
            let found = found.as_ref().map(|goal| (goal.prompt, goal.text.as_str(), goal.sure));
            assert_eq!(found, wanted, "{prompts:?}");
        }
    }

    const DECIDED: [(&str, Option<&str>); 44] = [
        ("let's use PostgreSQL for storage.", Some("let's use PostgreSQL for storage")),
        ("Ok, let’s go with the second approach", Some("let’s go with the second approach")),
        ("Let's stick with serde here. Fine.", Some("Let's stick with serde here")),
        ("lets drop Windows support", Some("lets drop Windows support")),
        ("Let's not cache anything yet", Some("Let's not cache anything yet")),
        ("We'll keep the old endpoint for now", Some("We'll keep the old endpoint for now")),
        ("I'll go with sqlite", Some("I'll go with sqlite")),
        ("Going with the streaming parser", Some("Going with the streaming parser")),
        ("We decided to ship without telemetry", Some("We decided to ship without telemetry")),
        ("I've chosen the MIT license", Some("I've chosen the MIT license")),
        ("I prefer small modules over big ones", Some("I prefer small modules over big ones")),
        ("I'd rather have one binary", Some("I'd rather have one binary")),
        ("Decision: no network calls", Some("no network calls")),
        ("Option 2 please, the smaller one", Some("Option 2 please, the smaller one")),
        ("Use a BTreeMap instead of a HashMap", Some("Use a BTreeMap instead of a HashMap")),
        ("please store text rather than blobs", None),
        ("Please keep text rather than blobs", Some("keep text rather than blobs")),
        ("let's use `x` there", Some("let's use `x` there")),
        ("On part sur Rust avec une seule crate", Some("On part sur Rust avec une seule crate")),
        ("Bon, on garde le format JSON", Some("on garde le format JSON")),
        ("On abandonne le démon", Some("On abandonne le démon")),
        ("Je préfère un seul fichier", Some("Je préfère un seul fichier")),
        ("J'ai décidé de garder SQLite", Some("J'ai décidé de garder SQLite")),
        ("On a choisi la licence MIT", Some("On a choisi la licence MIT")),
        ("Décision : pas de réseau", Some("pas de réseau")),
        ("Utilise sqlite plutôt que postgres", Some("Utilise sqlite plutôt que postgres")),
        ("Utilise un tableau à la place", Some("Utilise un tableau à la place")),
        ("on part demain matin", None),
        ("we use ^ to mean ctl here", None),
        ("Let's not worry about performance", None),
        ("let's keep going with that", None),
        ("I'll keep you posted on it", None),
        ("Should we go with postgres?", None),
        ("Let's use postgres?", None),
        ("let's use that then", None),
        ("Let's go with the following:", None),
        ("I added a cache using redis", None),
        ("The team decided something else", None),
        ("Implemented and created the new module", None),
        ("Option A: use a database", None),
        ("Option 2 does not work for me", None),
        ("agreed, looks good to me", None),
        ("```\nlet's use this code now\n```", None),
        ("> let's use the quoted thing", None),
    ];

    #[test]
    fn finds_decisions_with_their_content() {
        for (prompt, wanted) in DECIDED {
            assert_eq!(decision(prompt).as_deref(), wanted, "{prompt}");
        }
    }

    const BLOCKED: [(&str, Option<&str>); 24] = [
        ("I'm blocked because the token expired", Some("I'm blocked because the token expired")),
        ("Ok. We are still blocked by the missing API key.", Some("We are still blocked by the missing API key")),
        ("Blocked on review from ops", Some("Blocked on review from ops")),
        (
            "The production deployment is blocked until ops approves",
            Some("The production deployment is blocked until ops approves"),
        ),
        ("it's blocked by the schema change", Some("it's blocked by the schema change")),
        ("We've been blocked on this ticket", Some("We've been blocked on this ticket")),
        ("Je suis bloqué par la clé manquante", Some("Je suis bloqué par la clé manquante")),
        ("On est bloqués tant que le serveur est en panne", Some("On est bloqués tant que le serveur est en panne")),
        ("Le déploiement est bloqué tant que la CI échoue", Some("Le déploiement est bloqué tant que la CI échoue")),
        ("I need a new button on the page", None),
        ("There is an issue with the parser", None),
        ("This is unclear to me, explain", None),
        ("The request is blocked by CORS", None),
        ("popups get blocked by the browser", None),
        ("We are no longer blocked by that", None),
        ("We are not blocked by that", None),
        ("We unblocked it by removing the lock", None),
        ("Are we blocked by the review?", None),
        ("a thread blocked on a mutex forever", None),
        ("the blocked list needs sorting", None),
        ("La requête est bloquée par le pare-feu", None),
        ("J'ai besoin d'un nouveau bouton", None),
        ("blocked by", None),
        ("", None),
    ];

    #[test]
    fn only_explicit_words_are_blockers() {
        for (prompt, wanted) in BLOCKED {
            assert_eq!(blocked(prompt).as_deref(), wanted, "{prompt}");
        }
    }

    const CORRECTED: [(&str, Option<&str>); 24] = [
        ("Don't commit without asking me", Some("Don't commit without asking me")),
        ("No, please don’t touch the lock file.", Some("don’t touch the lock file")),
        ("do not add comments like that", Some("do not add comments like that")),
        ("Never push to main directly!", Some("Never push to main directly!")),
        ("stop adding emojis everywhere", Some("stop adding emojis everywhere")),
        ("Good. But never use unwrap in there", Some("never use unwrap in there")),
        ("Ne modifie jamais ce fichier", Some("Ne modifie jamais ce fichier")),
        ("Non, n'utilise pas cette bibliothèque", Some("n'utilise pas cette bibliothèque")),
        ("Arrête de créer des fichiers", Some("Arrête de créer des fichiers")),
        ("I don't know what that means", None),
        ("don't worry about the warnings", None),
        ("Don't know, you choose", None),
        ("Don't you think it is slow?", None),
        ("Why don't you use a map?", None),
        ("never mind, it works now", None),
        ("Don't forget to run the tests", None),
        ("It never works on Windows", None),
        ("The tests don't pass anymore", None),
        ("don't have access to that one", None),
        ("Ne marche pas chez moi", None),
        ("Ne t'inquiète pas pour ça", None),
        ("Ne vous inquiétez pas pour ça", None),
        ("Je ne sais pas pourquoi", None),
        ("Stop the server please", None),
    ];

    #[test]
    fn finds_corrections() {
        for (prompt, wanted) in CORRECTED {
            assert_eq!(correction(prompt).as_deref(), wanted, "{prompt}");
        }
    }

    const STEPS: [(&str, &[&str]); 14] = [
        ("Done.\n\n## Next steps\n\n- Add tests.\n- **Write** docs\n\nBye", &["Add tests", "Write docs"]),
        ("**Next steps:**\n1. One thing\n2) Two things", &["One thing", "Two things"]),
        ("**Remaining work**:\n* [x] done already\n* [ ] still open", &["still open"]),
        ("Next steps:\n- plain line works", &["plain line works"]),
        ("### Suggested next steps (optional)\n- a1\n  - nested\n  goes on\n- b2", &["a1", "b2"]),
        ("## Prochaines étapes\n- écrire les tests\n## Fait\n- autre", &["écrire les tests"]),
        ("**Reste à faire :**\n- la doc", &["la doc"]),
        ("## À faire\n- la doc", &["la doc"]),
        ("## TODO\n- the list\nText ends it.\n- not this", &["the list"]),
        ("## Follow-ups\n- later\n## Still open\n- this too", &["later", "this too"]),
        ("## Changes\n- added next steps\n- fixed it", &[]),
        ("The next steps are clear to me and I will go on:\n- no", &[]),
        ("```\n## Next steps\n- in code\n```\n- out", &[]),
        ("- Next steps\n- no heading", &[]),
    ];

    #[test]
    fn finds_lists_of_next_steps() {
        for (answer, wanted) in STEPS {
            assert_eq!(next_steps(answer), wanted, "{answer}");
        }
    }

    const ANSWERS: [(&str, bool, &str); 12] = [
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

    #[test]
    fn overlaps_when_most_of_the_smaller_set_is_in_the_other() {
        let cases = [
            ("add tests for the parser", "Added parser tests", true),
            ("implement caching of pages", "page cache implementation", true),
            ("validate user inputs", "validated the input of users", true),
            ("écrire les tests de l'analyseur", "tests écrits pour analyseur", true),
            ("update the docs", "deploy to production", false),
            ("fix parser", "fix login", false),
            ("parser", "parser", false),
            ("", "", false),
            ("write release notes today", "write release script", true),
            ("migrate the database schema now", "fix database timeouts quickly", false),
        ];
        for (a, b, wanted) in cases {
            assert_eq!((overlap(a, b), overlap(b, a)), (wanted, wanted), "{a} | {b}");
        }
    }

    #[test]
    fn topics_are_what_tells_a_session_from_others() {
        let mut one = Topics::default();
        one.add("The solana wallet is slow. Why is the Solana wallet slow? `retryPolicy` of l’API", 1);
        one.add("```\nwallet wallet wallet\n```\nbanana `retryPolicy`", 1);
        one.add_file("/home/me/app/src/billing/invoice_store.rs");
        let mut other = Topics::default();
        other.add("wallet wallet banana", 1);
        assert_eq!(one.top(&[], 9), ["policy", "retry", "billing", "invoice", "store", "slow", "solana", "wallet"]);
        assert_eq!(one.top(&[&other, &other], 7), ["policy", "retry", "billing", "invoice", "store", "slow", "solana"]);
        assert_eq!(one.top(&[], 1), ["policy"]);
        assert!(one.contains("Solana?") && one.contains("banana") && !one.contains("the") && !one.contains(""));
        let mut merged = one.clone();
        merged.merge(&other);
        assert_eq!(merged.top(&[], 1), ["policy"]);
        merged.merge(&other);
        merged.merge(&other);
        assert_eq!(merged.top(&[], 1), ["wallet"]);
        assert_eq!(Topics::default().top(&[&one], 4), [""; 0]);
    }

    #[test]
    fn hints_at_the_first_topic_that_is_mentioned() {
        let topics = ["solana", "payment gateway", "déploiement", "user_store", "GitHub"].map(str::to_owned);
        let cases = [
            ("what about solana?", Some("solana")),
            ("(Solana) and the payment-gateway", Some("solana")),
            ("the payment  gateway, again", Some("payment gateway")),
            ("payment of the gateway", None),
            ("le deploiement est cassé", Some("déploiement")),
            ("l’Déploiement!", Some("déploiement")),
            ("look at UserStore please", Some("user_store")),
            ("github is down", Some("GitHub")),
            ("solanas", None),
            ("", None),
        ];
        for (prompt, wanted) in cases {
            assert_eq!(hint(prompt, &topics).as_deref(), wanted, "{prompt}");
        }
        assert_eq!(hint("anything", &[String::new(), "?".to_owned()]), None);
    }

    fn everything(text: &str) {
        sentences(text);
        first_sentence(text);
        is_question(text);
        goal(&[text, "ok"]);
        decision(text);
        blocked(text);
        correction(text);
        next_steps(text);
        overlap(text, "some other words");
        hint(text, &[text.to_owned(), "topic".to_owned()]);
        let mut topics = Topics::default();
        topics.add(text, u32::MAX);
        topics.add_file(text);
        topics.top(&[&topics], 3);
        topics.contains(text);
    }

    #[test]
    fn no_prefix_of_anything_panics() {
        let texts = TEXTS
            .iter()
            .map(|(text, _)| *text)
            .chain(DECIDED.iter().chain(&BLOCKED).chain(&CORRECTED).map(|(text, _)| *text));
        let texts = texts.chain(STEPS.iter().map(|(text, _)| *text)).chain(ANSWERS.iter().map(|(text, ..)| *text));
        let texts = texts.chain(GOALS.iter().flat_map(|(prompts, _)| prompts.iter().copied()));
        for text in texts {
            for (at, _) in text.char_indices() {
                everything(&text[..at]);
                everything(&text[at..]);
                everything(&format!("{}é\u{301}`👩‍👩‍👧", &text[..at]));
            }
        }
    }

    #[test]
    fn long_texts_take_linear_time() {
        let started = std::time::Instant::now();
        for unit in [
            "`",
            ". ",
            "<a-b>\n",
            "</a-b>",
            "<a-b>\n</a-b>\n",
            "é",
            "word ",
            "- a\n",
            "'",
            "a:1",
            "a b. ",
            "aB",
            "```\n",
            "let's ",
        ] {
            everything(&unit.repeat(50_000 / unit.len()));
        }
        let wrapped = format!("{} and\n", "word ".repeat(12)).repeat(1_500);
        everything(&wrapped);
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    }
}
