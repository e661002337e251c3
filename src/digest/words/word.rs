//! The words of a text, lower-case and without accents, and whether they begin with a phrase.
//!
//! A `Word` knows where it begins, so that a rule can cut the sentence there. Rules match `plain` words: contractions
//! in full (`don't` is `do not`, `j'ai` is `je ai`) and a piece of code as one mark, so that phrases are written only
//! once.

/// A word, lower-case and without accents, and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Word {
    pub text: String,
    pub at: usize,
}

/// The words of a text; an apostrophe within one belongs to it.
pub fn words(text: &str) -> Vec<Word> {
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

/// The words of a sentence as rules match them.
pub fn plain(sentence: &str) -> Vec<Word> {
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

/// The words that a contraction stands for, without French articles and pronouns.
pub fn in_full(word: &str) -> Vec<&str> {
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

/// The phrase that words begin with, of a list with commas between them.
pub fn cue<'p>(words: &[Word], phrases: &'p str) -> Option<&'p str> {
    phrases.split(", ").find(|phrase| {
        let mut words = words.iter().map(|word| word.text.as_str());
        phrase.split(' ').all(|wanted| words.next() == Some(wanted))
    })
}

/// Whether a character belongs to a word.
pub fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_' || ('\u{300}'..='\u{36f}').contains(&char)
}

/// Adds a character in lower case and without its accent.
pub fn fold(char: char, into: &mut String) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_in_full_and_without_accents() {
        for (sentence, wanted) in [
            ("Don’t we'll it's John's", "do not we will it is john"),
            ("J'ai l’été d'accord n'est qu'un", "je ai ete d'accord ne est un"),
            ("Use `a b. c` here, `open", "use ` here open"),
            ("E\u{301}t\u{e9} \u{153}uvre", "ete oeuvre"),
        ] {
            let words = plain(sentence);
            let found: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
            assert_eq!(found.join(" "), wanted, "{sentence}");
            assert!(words.iter().all(|word| sentence.is_char_boundary(word.at)), "{sentence}");
        }
        assert_eq!(cue(&plain("Let's go with it"), "let us, let us go with"), Some("let us"));
        assert_eq!(cue(&plain("Let's"), "let us go"), None);
    }
}
