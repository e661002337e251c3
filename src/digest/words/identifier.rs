//! Names as programs write them, taken apart: `userStore` and `user_store` are both "user" and "store".
//!
//! `GitHub` is no identifier but a name that people write, and stays one word unless somebody asks for its parts.

use super::word::{fold, is_word};

/// `getUser`, `user_id`: written like in a program, unlike `GitHub`.
pub fn is_identifier(text: &str) -> bool {
    let word = &text[..text.find(|char| !is_word(char)).unwrap_or(text.len())];
    word.contains('_') || word.starts_with(char::is_lowercase) && word.contains(char::is_uppercase)
}

/// The names in the identifier that a text begins with: `userStore` and `user_store` have two.
pub fn names(text: &str) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_taken_apart() {
        for (text, identifier, wanted) in [
            ("userStore, and", true, "user store"),
            ("user_id", true, "user id"),
            ("HTTPServer2Go", false, "http server2 go"),
            ("GitHub", false, "git hub"),
            ("plain", false, "plain"),
            ("__", true, ""),
        ] {
            assert_eq!((is_identifier(text), names(text).join(" ").as_str()), (identifier, wanted), "{text}");
        }
    }
}
