//! What people say in set phrases: decisions, what blocks them, corrections, next steps, whose project it is.
//!
//! Words are weak evidence. What is found here is marked as taken from words and only shown where somebody asks for
//! everything (`resume --codes`, `--json`); no agent is told it. A phrase counts only where a short, plain sentence begins
//! with it. A new phrase is a word in `words.toml`.

use std::collections::BTreeSet;

use super::asked::content_words;
use super::one_of;
use super::text::{ends_of, heading, list_item, own_words, prose, sentences};
use super::words::{CLAIMS, HEADS, LEAD, PHRASES};

/// The kinds of phrases, in the order of [`PHRASES`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Phrase {
    Decision,
    Blocker,
    Correction,
}

/// Longer prompts are specifications or boilerplate: their "never" corrects nobody.
const SHORT_PROMPT: usize = 300;
const SHORT_SENTENCE: usize = 200;

/// The sentences that say something of a kind, of the words that somebody typed. A correction opens the prompt; further
/// down it would limit a task.
pub fn said(kind: Phrase, own: &str) -> Vec<String> {
    if own.len() > SHORT_PROMPT {
        return Vec::new();
    }
    let count = if kind == Phrase::Correction {
        1
    } else {
        usize::MAX
    };
    let is_it = |sentence: &String| sentence.len() <= SHORT_SENTENCE && says(kind, sentence);
    let clean = |sentence: String| sentence.trim_end_matches(['.', ';']).to_owned();
    sentences(own)
        .into_iter()
        .take(count)
        .filter(is_it)
        .map(clean)
        .collect()
}

fn says(kind: Phrase, sentence: &str) -> bool {
    let plain = sentence.to_lowercase().replace('’', "'");
    let mut rest = plain.as_str();
    while let Some(after) = begins(rest, LEAD) {
        rest = after;
    }
    let Some((_, phrases, not)) = PHRASES.get(kind as usize) else {
        return false;
    };
    let Some(content) = begins(rest, phrases) else {
        return false;
    };
    // French negates with two words.
    let negates = !rest.starts_with("ne ")
        || [" pas", " jamais", " plus"]
            .iter()
            .any(|no| content.contains(no));
    let is_question = plain.ends_with(['?', '？', ':']);
    !is_question
        && negates
        && content.contains(char::is_alphanumeric)
        && begins(content, not).is_none()
}

/// The rest of a text that begins with one of some phrases, in whole words.
fn begins<'t>(text: &'t str, phrases: &str) -> Option<&'t str> {
    phrases
        .split(", ")
        .filter(|phrase| !phrase.is_empty())
        .find_map(|phrase| {
            let rest = text.strip_prefix(phrase)?;
            let goes_on = rest.starts_with(|char: char| char.is_alphanumeric() || char == '\'');
            (!goes_on || phrase.ends_with(':')).then(|| {
                rest.trim_start_matches(|char: char| {
                    char.is_whitespace() || matches!(char, ',' | '.' | '!' | ':')
                })
            })
        })
}

/// True if whoever wrote a prompt says that the project is theirs.
pub(crate) fn claims_project(prompt: &str) -> bool {
    let plain = own_words(prompt).to_lowercase().replace('’', "'");
    let words: Vec<&str> = plain
        .split(|char: char| !char.is_alphanumeric() && char != '\'')
        .collect();
    let plain = format!(" {} ", words.join(" "));
    CLAIMS
        .split(", ")
        .any(|claim| plain.contains(&format!(" {claim} ")))
}

/// The items of lists under headings like "Next steps", unless they are checked off.
pub(crate) fn next_steps(answer: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut under = false;
    for line in prose(&ends_of(answer))
        .into_iter()
        .filter(|line| !line.is_empty())
    {
        let bare = heading(line)
            .unwrap_or(line)
            .trim_matches(['*', '_', ':', ' '])
            .to_lowercase();
        let marked = heading(line).is_some() || line.starts_with("**") || line.ends_with(':');
        if marked
            && HEADS.split(", ").any(|head| bare.starts_with(head))
            && bare.split(' ').count() <= 4
        {
            under = true;
            continue;
        }
        let Some(item) = list_item(line).filter(|_| under) else {
            under = false;
            continue;
        };
        let text = item.strip_prefix("[ ]").unwrap_or(item).replace("**", "");
        let done = ["[x]", "[X]", "~~", "✅"]
            .iter()
            .any(|mark| item.starts_with(mark));
        found.extend((!done).then(|| text.trim().trim_end_matches('.').to_owned()));
    }
    found
}

/// True if two texts are about the same: most of the content words of the shorter one are in the other. One word is never
/// enough, and those that any decision is put in do not say what it is about.
pub fn overlap(a: &str, b: &str) -> bool {
    const STEM: usize = 4;
    const FRAME: &str = "approved decided keep let plan prefer rejected use";
    let words = |text: &str| {
        content_words(&text.replace(['\'', '’', '-', '_', '/'], " ")).collect::<BTreeSet<_>>()
    };
    let about = |words: &BTreeSet<String>| -> BTreeSet<String> {
        words
            .iter()
            .filter(|word| !one_of(FRAME, word))
            .map(|word| word.chars().take(STEM).collect())
            .collect()
    };
    let (a, b) = (words(a), words(b));
    let is_enough = a.len().min(b.len()) >= 2;
    let (a, b) = (about(&a), about(&b));
    let smaller = a.len().min(b.len());
    is_enough && smaller > 0 && a.intersection(&b).count() * 10 >= smaller * 6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_explicit_sentences_count() {
        use Phrase::{Blocker, Correction, Decision};
        for (kind, prompt, wanted) in [
            (
                Decision,
                "let's use PostgreSQL for storage.",
                Some("let's use PostgreSQL for storage"),
            ),
            (
                Decision,
                "Ok, let’s go with the second approach",
                Some("Ok, let’s go with the second approach"),
            ),
            (
                Decision,
                "Fine. We'll keep the old endpoint for now",
                Some("We'll keep the old endpoint for now"),
            ),
            (
                Decision,
                "Decision: no network calls",
                Some("Decision: no network calls"),
            ),
            (
                Decision,
                "Bon, on garde le format JSON",
                Some("Bon, on garde le format JSON"),
            ),
            (Decision, "Let's not worry about performance", None),
            (Decision, "let's use that then", None),
            (Decision, "let's keep going", None),
            (Decision, "Let's use postgres?", None),
            (Decision, "Let's go with the following:", None),
            (Decision, "The team decided something else", None),
            (Decision, "I added a cache using redis", None),
            (Decision, "```\nlet's use this code now\n```", None),
            (
                Blocker,
                "I'm blocked because the token expired",
                Some("I'm blocked because the token expired"),
            ),
            (
                Blocker,
                "Ok. We are still blocked by the missing API key.",
                Some("We are still blocked by the missing API key"),
            ),
            (Blocker, "The request is blocked by CORS", None),
            (
                Blocker,
                "I need a new button; there is an issue with it",
                None,
            ),
            (Blocker, "Are we blocked by the review?", None),
            (
                Correction,
                "No, don’t touch the lock file",
                Some("No, don’t touch the lock file"),
            ),
            (
                Correction,
                "But never use unwrap in there",
                Some("But never use unwrap in there"),
            ),
            (
                Correction,
                "Write the notes. Do not create new files.",
                None,
            ),
            (
                Correction,
                "Ne modifie jamais ce fichier",
                Some("Ne modifie jamais ce fichier"),
            ),
            (Correction, "I don't know what that means", None),
            (Correction, "don't worry about the warnings", None),
            (Correction, "Why don't you use a map?", None),
            (Correction, "never mind, it works now", None),
            (Correction, "Ne marche pas chez moi", None),
            (Correction, "The tests don't pass anymore", None),
            (
                Correction,
                "Implement the plan as specified. Do NOT edit the plan file itself.",
                None,
            ),
        ] {
            assert_eq!(
                said(kind, &own_words(prompt)).first().map(String::as_str),
                wanted,
                "{prompt}"
            );
        }
        let boilerplate = format!(
            "{} Never push to main.",
            "A long specification of a thing. ".repeat(20)
        );
        assert_eq!(said(Correction, &boilerplate), [""; 0]);
    }

    /// 001-20
    #[test]
    fn some_say_whose_project_it_is() {
        for text in [
            "In my project the tests fail",
            "I created this crate",
            "dans mon projet",
            "j'ai créé un outil",
        ] {
            assert!(claims_project(text), "{text}");
        }
        for text in [
            "the project",
            "in your project",
            "my test fails",
            "I think",
            "who created this",
        ] {
            assert!(!claims_project(text), "{text}");
        }
    }

    #[test]
    fn lists_under_a_heading_are_next_steps() {
        for (answer, wanted) in [
            (
                "Done.\n\n## Next steps\n\n- Add tests.\n- **Write** docs\n\nBye",
                &["Add tests", "Write docs"][..],
            ),
            (
                "**Remaining work**:\n* [x] done already\n* [ ] still open",
                &["still open"],
            ),
            (
                "Next steps:\n1. One thing\n2) Two things\nText ends it.\n- not this",
                &["One thing", "Two things"],
            ),
            ("## Changes\n- added next steps\n- fixed it", &[]),
            ("```\n## Next steps\n- in code\n```\n- out", &[]),
        ] {
            assert_eq!(next_steps(answer), wanted, "{answer}");
        }
    }

    /// 004-T7
    #[test]
    fn overlaps_when_most_of_the_smaller_set_is_in_the_other() {
        for (a, b, wanted) in [
            ("add tests for the parser", "Added parser tests", true),
            (
                "implement caching of pages",
                "page cache implementation",
                true,
            ),
            ("validate user inputs", "validated the input of users", true),
            ("update the docs", "deploy to production", false),
            ("fix parser", "fix login", false),
            ("parser", "parser", false),
            (
                "migrate the database schema now",
                "fix database timeouts quickly",
                false,
            ),
            ("let's use redis there", "let's use sqlite there", false),
            ("let's use redis there", "let's not use redis there", true),
            (
                "approved the plan \"Tokio\"",
                "approved the plan \"Axum\"",
                false,
            ),
        ] {
            assert_eq!(
                (overlap(a, b), overlap(b, a)),
                (wanted, wanted),
                "{a} | {b}"
            );
        }
    }
}
