//! Whether a prompt mentions one of the topics of another session, word for word.
//!
//! Case, accents and punctuation do not count, and `UserStore` is `user_store`; but "solanas" is not "solana". Which
//! topics are worth a hint is for `Topics` to say.

use super::identifier::names;
use super::word::{in_full, words};

/// The first of the topics that a prompt mentions.
pub fn hint(prompt: &str, topics: &[String]) -> Option<String> {
    let said = spellings(prompt);
    let mentioned = |topic: &&String| {
        let topic = spellings(topic);
        let mut named = topic.iter().filter(|words| *words != " ");
        named.any(|topic| said.iter().any(|said| said.contains(topic)))
    };
    topics.iter().find(mentioned).cloned()
}

/// The words of a text between blanks, as they are and with identifiers taken apart.
fn spellings(text: &str) -> [String; 2] {
    let (mut whole, mut taken_apart) = (" ".to_owned(), " ".to_owned());
    for word in words(text) {
        in_full(&word.text).iter().for_each(|word| whole.extend([word, " "]));
        names(&text[word.at..]).iter().for_each(|name| taken_apart.extend([name, " "]));
    }
    [whole, taken_apart]
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
