//! What a user types that asks for nothing new: "ok, go ahead", `/compact`, an interruption.
//!
//! A text that says anything besides is not idle, however much thanks there is in it.

use super::keyword::keywords;
use crate::digest::lexicon::Lexicon;

/// An acknowledgement, a command to the client, an interruption.
pub fn is_idle(prompt: &str) -> bool {
    let first = prompt.split_whitespace().next().unwrap_or_default();
    let command = first.strip_prefix('/').is_some_and(|name| {
        name.starts_with(|char: char| char.is_ascii_lowercase())
            && name.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | ':'))
    });
    command
        || first.starts_with('!') && first.len() > 1
        || prompt.trim_start().starts_with("[Request interrupted")
        || prompt.len() < 200 && acknowledges(prompt)
}

/// Whether a text has no other words than those of an acknowledgement.
pub fn acknowledges(text: &str) -> bool {
    keywords(text).iter().all(|word| ACKNOWLEDGEMENTS.has(word))
}

static ACKNOWLEDGEMENTS: Lexicon = Lexicon::of(
    "absolutely accord agreed ahead allez alright approve approved awesome bien bon c ca carry ce confirm confirmed
     continue continuer continuez cool correct d'accord do done ensuite entendu est exact exactly excellent fine
     follow go going good great is it job keep lgtm looks merci next nice now ok okay on ouais oui parfait perfect
     plait please poursuis poursuit proceed right s see seems si so sounds step super sure te thank thanks that thats
     the then this to top tres vas vous with work works y yeah yep yes you yup",
);
