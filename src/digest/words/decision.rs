//! What the user decided, in so many words: a phrase at the start of a sentence, a numbered option, one thing instead
//! of another.
//!
//! A decision has a content: "let's use that then" is none. About nine in ten were right. Answered questions and
//! approved plans are better evidence and the caller's, and so is that a later decision replaces an earlier one.

use super::idle::acknowledges;
use super::opening::{is_imperative, starts};
use super::sentence::statement;
use super::word::{Word, cue};
use crate::digest::lexicon::one_of;

/// What the user decided in a prompt, if it says so.
pub fn decision(prompt: &str) -> Option<String> {
    statement(prompt, |sentence, words| starts(words).find_map(|at| decides(sentence, &words[at..])))
}

const DECISIONS: &str = "let us go with, let us go for, let us use, let us stick with, let us stick to, let us keep, \
    let us drop, let us not, let us skip, let us switch to, we will go with, we will use, we will keep, \
    we will stick with, i will go with, i will use, i will keep, i will stick with, going with, we are going with, \
    i am going with, decided to, decided on, i decided, we decided, i have decided, we have decided, i chose, \
    we chose, i have chosen, we have chosen, agreed on, agreed to, agreed that, we agreed, we have agreed, i prefer, \
    we prefer, i would prefer, we would prefer, i would rather, we would rather, on part sur, on garde, on utilise, \
    on prend, on reste sur, on abandonne, je prefere, je prefererais, on prefere, je ai decide, je ai choisi, \
    je ai retenu, on a decide, on a choisi, on a retenu";

/// Where the decision begins that words are, in their sentence.
fn decides(sentence: &str, words: &[Word]) -> Option<usize> {
    let first = words.first()?;
    let (from, content) = match first.text.as_str() {
        "decision" => labelled(sentence, words).map(|content| (content, content))?,
        "option" => return is_choice(sentence, words).then_some(first.at),
        _ => match cue(words, DECISIONS) {
            Some(phrase) => (first, object(phrase, words)?),
            None => (first, preferred(words)?),
        },
    };
    let content = &sentence[content.at..];
    (content.contains('`') || !acknowledges(content)).then_some(from.at)
}

/// The first word after `Decision:`.
fn labelled<'w>(sentence: &str, words: &'w [Word]) -> Option<&'w Word> {
    let [label, next, ..] = words else { return None };
    let colon = label.at + sentence[label.at..].find(':')?;
    (colon < next.at).then_some(next)
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

/// The first word after a phrase that decides, unless together they are only a manner of speaking.
fn object<'w>(phrase: &str, words: &'w [Word]) -> Option<&'w Word> {
    let next = words.get(phrase.split(' ').count())?;
    let idle = match phrase.rsplit(' ').next() {
        Some("not") => one_of("worry forget bother panic", &next.text),
        Some("keep") => next.text.ends_with("ing") || one_of("you me us at up", &next.text),
        _ => false,
    };
    (!idle).then_some(next)
}

/// The first word of what is to be used instead of something else: `use a BTreeMap instead of a HashMap`.
fn preferred(words: &[Word]) -> Option<&Word> {
    const OTHERWISE: &str = "instead of, rather than, plutot que, au lieu de, au lieu du, a la place";
    let chosen = (1..words.len()).any(|at| cue(&words[at..], OTHERWISE).is_some());
    words.get(1).filter(|_| chosen && is_imperative(words))
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub const DECIDED: [(&str, Option<&str>); 45] = [
        ("```\nlet x;\n```rust\nlet's use postgres here\n```", None),
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
}
