//! What the user told the agent not to do.
//!
//! Only what forbids: "don't worry" and "it never works" correct nobody. Whether the agent had done anything yet that
//! could be corrected is for the caller to know.

use super::opening::starts;
use super::sentence::statement;
use super::word::Word;
use crate::digest::lexicon::one_of;

/// What the user told the agent not to do.
pub fn correction(prompt: &str) -> Option<String> {
    statement(prompt, |_, words| starts(words).find(|at| forbids(&words[*at..])).map(|at| words[at].at))
}

fn forbids(words: &[Word]) -> bool {
    const HARMLESS: &str = "worry bother mind forget know think care hesitate understand have want need like remember \
        see get feel believe seem panic";
    // What is not told to the agent, or not as something to leave undone.
    const REPORTS: &str = "marche marchent fonctionne fonctionnent sais comprends pense passe passent compile oublie \
        hesite inquiete vois te vous";
    let word = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let told = |at: usize| !word(at).is_empty() && !one_of(HARMLESS, word(at));
    match word(0) {
        "do" => word(1) == "not" && told(2),
        "never" => told(1) && word(1) != "again",
        "stop" => word(1).ends_with("ing"),
        "arrete" | "arretez" => word(1) == "de",
        "ne" => !one_of(REPORTS, word(1)) && (2..5).any(|at| one_of("pas jamais plus rien", word(at))),
        _ => false,
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub const CORRECTED: [(&str, Option<&str>); 24] = [
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
}
