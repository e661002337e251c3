//! Which programming language a file is in, by its name.

use super::one_of;
use super::words::LANGUAGES;
use session_format::path::base_name;

/// The language of a file, if its name tells.
pub fn language(path: &str) -> Option<&'static str> {
    let name = base_name(path).to_lowercase();
    let ending = name.rsplit('.').next()?;
    LANGUAGES
        .iter()
        .find(|(_, endings)| one_of(endings, ending))
        .map(|(language, _)| *language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_languages() {
        for (path, expected) in [
            ("src/main.rs", Some("Rust")),
            ("/a/b.test.TS", Some("TypeScript")),
            ("C:\\x\\y.Py", Some("Python")),
            ("Dockerfile", Some("Dockerfile")),
            ("deploy/Makefile", Some("Make")),
            ("README.md", Some("Markdown")),
            ("notes.txt", None),
            ("rs/LICENSE", None),
            (".bashrc", None),
            ("", None),
        ] {
            assert_eq!(language(path), expected, "{path}");
        }
    }
}
