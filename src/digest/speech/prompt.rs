//! The words of a prompt, sentence by sentence, and whose project it says it is.
//!
//! Code, paths, addresses and names with signs in them are no words; of a long text the beginning counts, because what
//! follows was pasted.

use super::Language;
use super::language::{Script, is_sign};
use crate::digest::lexicon::one_of;

/// The words of a prompt, lower-case, sentence by sentence.
#[derive(Debug, Default)]
pub struct Prompt {
    pub sentences: Vec<Vec<String>>,
    /// A language that its letters alone tell.
    pub script: Option<Language>,
    /// How many words it has that count for a language.
    pub count: u64,
}

impl Prompt {
    /// More than that was pasted.
    const WORDS: usize = 400;

    pub fn of(text: &str) -> Prompt {
        let mut prompt = Prompt::default();
        let mut fenced = false;
        let mut left = Prompt::WORDS;
        let mut script = Script::default();
        for line in text.lines() {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
                continue;
            }
            if fenced || left == 0 {
                continue;
            }
            let mut sentence = Vec::new();
            for (index, part) in line.split('`').enumerate() {
                // Every other part is code.
                for token in part.split_whitespace().filter(|_| index % 2 == 0).take(left) {
                    left -= 1;
                    script.add(token);
                    sentence.extend(words(token));
                    if token.ends_with(['.', '!', '?', ':', ';']) {
                        prompt.sentences.push(std::mem::take(&mut sentence));
                    }
                }
            }
            prompt.sentences.push(sentence);
        }
        let count = prompt.words().count() as u64;
        prompt.script = script.language(count);
        // Languages without blanks: two signs are a word or so.
        prompt.count = if prompt.script.is_some() { count + script.signs() / 2 } else { count };
        prompt
    }

    pub fn words(&self) -> impl Iterator<Item = &String> {
        self.sentences.iter().flatten()
    }

    /// Whether whoever wrote it says that the project is theirs.
    pub fn claims(&self) -> bool {
        const THINGS: &str = "project repo repository app library package crate tool site website game codebase";
        const CLAIMS: [(&[&str], &str); 8] = [
            (&["my"], THINGS),
            (&["our"], "project repo repository codebase"),
            (&["i"], "created built wrote authored maintain"),
            (&["mon"], "projet dépôt application app site outil"),
            (&["j"], "maintiens"),
            (&["j", "ai"], "créé écrit développé"),
            (&["mein"], "projekt repo"),
            (&["mi"], "proyecto repositorio"),
        ];
        self.sentences.iter().any(|sentence| {
            CLAIMS.iter().any(|(start, ends)| {
                sentence.windows(start.len() + 1).any(|window| {
                    let (before, end) = window.split_at(start.len());
                    before.iter().zip(*start).all(|(word, start)| word == start) && one_of(ends, &end[0])
                })
            })
        })
    }
}

/// The words in what stands between two blanks: `j'ai` and `peux-tu` are two, a path or a name in code is none.
fn words(token: &str) -> impl Iterator<Item = String> {
    let bare = token.trim_matches(|char: char| !char.is_alphanumeric());
    let is_prose = |char: char| char.is_alphabetic() && !is_sign(char) || matches!(char, '\'' | '’' | '-' | ',');
    let prose = bare.chars().all(is_prose) && bare.len() < 40;
    let parts = bare.split(['\'', '’', '-', ',']).filter(move |part| prose && !part.is_empty());
    parts.map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_paths_are_no_words() {
        assert_eq!(Prompt::of("fix `a b c` in src/a.rs, it's broken: see x_y and 12 items").count, 8);
        assert_eq!(Prompt::of(&"word ".repeat(5000)).count, 400);
        assert_eq!(Prompt::of("日本語のテスト").count, 3);
    }

    /// 001-20
    #[test]
    fn some_say_whose_project_it_is() {
        for text in ["In my project the tests fail", "I created this crate", "dans mon projet", "j'ai créé un outil"]
        {
            assert!(Prompt::of(text).claims(), "{text}");
        }
        for text in ["the project", "in your project", "my test fails", "I think", "`my project`", "who created this"] {
            assert!(!Prompt::of(text).claims(), "{text}");
        }
    }
}
