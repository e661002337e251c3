//! What the user says the work waits for.
//!
//! Only `blocked by`, `on`, `until` and the like, and only of the work: requests and threads are blocked too. All other
//! words for trouble were wrong nineteen times in twenty. What stands in the way by structure, a failing test or an
//! open question, is the caller's.

use super::opening::LEAD;
use super::sentence::statement;
use super::word::{Word, cue};
use crate::digest::lexicon::one_of;

/// What the user says the work waits for.
pub fn blocked(prompt: &str) -> Option<String> {
    const BLOCKED: &str = "blocked bloque bloquee bloques bloquees";
    const UNTIL: &str = "by, on, until, till, because, par, tant que, parce que";
    statement(prompt, |_, words| {
        let stuck = |at: usize| {
            let (before, after) = (&words[..at], &words[at + 1..]);
            one_of(BLOCKED, &words[at].text) && after.len() > 1 && cue(after, UNTIL).is_some() && is_ours(before)
        };
        (0..words.len()).any(stuck).then_some(0)
    })
}

/// Whether what comes before `blocked` speaks of the work, not of what the program does.
fn is_ours(before: &[Word]) -> bool {
    const ADVERBS: &str = "still currently now completely totally also again just all toujours encore actuellement \
        completement maintenant";
    const BE: &str = "am are is remain remains got been suis est sommes sont reste";
    const WORK: &str = "i we this it everything work progress task step ticket issue story pr prs merge release \
        rollout deploy deployment migration feature branch rest phase project review upgrade have je on nous ce ca \
        cela tout travail tache etape deploiement livraison projet suite fonctionnalite branche mise revue publication";
    let said = without_last(before, ADVERBS);
    let subject = without_last(said, BE);
    match without_last(subject, ADVERBS) {
        [] => true,
        [.., last] if subject.len() < said.len() => one_of(WORK, &last.text),
        lead => lead.iter().all(|word| LEAD.has(&word.text)),
    }
}

/// Words up to the last that is not in a list.
fn without_last<'w>(words: &'w [Word], list: &str) -> &'w [Word] {
    let kept = words.iter().rposition(|word| !one_of(list, &word.text)).map_or(0, |last| last + 1);
    &words[..kept]
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub const BLOCKED: [(&str, Option<&str>); 24] = [
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
}
