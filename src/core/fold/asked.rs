//! What the user last asked: the newest prompt that can be understood on its own.
//!
//! One rule for the hook, the start of a session, `resume` and the list. It goes by the amount of what was said, not by
//! verbs or languages. A newer prompt that is too short to be understood ("revert everything") is kept beside it, so
//! that it can never hide.

use serde::{Deserialize, Serialize};

use super::one_of;
use super::origin::origin;
use super::text::{ends_of, own_words, sentences, unquoted};
use super::words::SMALL;
use session_format::boundary::substr;
use session_format::hash::HashSet;

/// The newest substantive prompt, and what was said after it in a few words.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LastAsked<T> {
    pub substantive: Option<T>,
    pub then: Option<T>,
    /// Whatever was typed first, as long as there is nothing better.
    other: Option<T>,
}

impl<T> LastAsked<T> {
    /// Takes the next prompt. `keep` gets the words in it that somebody typed.
    pub fn push(&mut self, prompt: &str, keep: impl FnOnce(String) -> T) {
        // Nobody asked for a note.
        if origin(prompt).is_some() {
            return;
        }
        let own = typed(prompt);
        let weight = weight(&own);
        // Of a paste alone at least that can be shown.
        let own = if own.is_empty() {
            ends_of(prompt.trim())
        } else {
            own
        };
        match weight {
            Weight::Substantive => {
                *self = LastAsked {
                    substantive: Some(keep(own)),
                    then: None,
                    other: None,
                }
            }
            Weight::Short => self.then = Some(keep(own)),
            Weight::Nothing if self.best().is_none() => self.other = Some(keep(own)),
            Weight::Nothing => {}
        }
    }

    /// Takes several prompts at once, the oldest first. As a rule only the newest has to be looked at.
    pub(crate) fn push_all(&mut self, prompts: &[String], keep: impl Fn(String) -> T) {
        let substantive = prompts
            .iter()
            .rposition(|prompt| substantive(prompt).is_some());
        prompts[substantive.unwrap_or(0)..]
            .iter()
            .for_each(|prompt| self.push(prompt, &keep));
    }

    /// The best there is: the substantive prompt, else what was said in a few words, else whatever was typed.
    pub fn best(&self) -> Option<&T> {
        self.substantive
            .as_ref()
            .or(self.then.as_ref())
            .or(self.other.as_ref())
    }
}

/// The words of a prompt that can be understood on its own.
pub fn substantive(prompt: &str) -> Option<String> {
    let own = typed(prompt);
    (origin(prompt).is_none() && weight(&own) == Weight::Substantive).then_some(own)
}

/// The words of a prompt that somebody typed; those of a quotation if there are no others.
fn typed(prompt: &str) -> String {
    let own = own_words(prompt);
    if !own.is_empty() {
        return own;
    }
    unquoted(&ends_of(prompt))
        .map(|bare| own_words(&bare))
        .unwrap_or_default()
}

#[derive(Debug, PartialEq)]
enum Weight {
    /// It says what is wanted.
    Substantive,
    /// It wants something, but only who was there knows what.
    Short,
    /// An acknowledgement, a bare command to the client, or nothing that somebody typed.
    Nothing,
}

/// A prompt with this many different content words is substantive; a question needs fewer.
const WORDS: usize = 3;
const WORDS_OF_QUESTION: usize = 2;
/// Enough letters in a script that writes no blanks.
const LETTERS: usize = 12;

fn weight(own: &str) -> Weight {
    if let Some(said) = after_client_command(own) {
        // `/review` asks for nothing that could be quoted; `/review` with a task of its own does.
        return if weight(said) == Weight::Substantive {
            Weight::Substantive
        } else {
            Weight::Nothing
        };
    }
    if own.is_empty() {
        return Weight::Nothing;
    }
    // Chinese, Japanese and Thai are written without blanks, and Korean with few.
    let foreign = own
        .chars()
        .filter(|char| matches!(char, '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'));
    let enough = if own.trim_end().ends_with(['?', '？']) {
        WORDS_OF_QUESTION
    } else {
        WORDS
    };
    let mut content = HashSet::default();
    // A long prompt need not be read to its end.
    let mut is_enough =
        || content_words(own).any(|word| content.insert(word) && content.len() >= enough);
    if !is_manner(own) && (is_enough() || foreign.count() >= LETTERS) {
        return Weight::Substantive;
    }
    if content.is_empty() && only_small(own) {
        Weight::Nothing
    } else {
        Weight::Short
    }
}

/// The words that say something by themselves, in lower case.
pub(crate) fn content_words(text: &str) -> impl Iterator<Item = String> {
    let bare = |token: &str| {
        token
            .trim_matches(|char: char| !char.is_alphanumeric())
            .to_lowercase()
    };
    text.split_whitespace()
        .map(bare)
        .filter(|word| word.chars().nth(2).is_some() && !one_of(SMALL, word))
}

/// True if a text has only small words, numbers and signs in it.
fn only_small(text: &str) -> bool {
    let mut words = text
        .split(|char: char| !char.is_alphanumeric() && char != '\'')
        .filter(|word| !word.is_empty());
    words.all(|word| {
        one_of(SMALL, &word.to_lowercase())
            || word.chars().nth(1).is_none()
            || word.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The text after a command to the client: `/compact`, `!ls`. A path is none.
fn after_client_command(own: &str) -> Option<&str> {
    if own.starts_with('!') && own.len() > 1 && !own.contains('\n') {
        return Some("");
    }
    let (name, rest) = own
        .strip_prefix('/')?
        .split_once(char::is_whitespace)
        .unwrap_or((substr(own, 1..), ""));
    let is_name = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | ':');
    (!name.is_empty() && name.chars().all(is_name)).then_some(rest)
}

/// A short prompt that says how to work and not at what, known by a word that makes Claude Code think longer.
fn is_manner(own: &str) -> bool {
    const THINK: [&str; 3] = ["ultrathink", "megathink", "think harder"];
    const MANNER_WORDS: usize = 8;
    let lower = own.to_lowercase();
    if !THINK.iter().any(|think| lower.contains(think)) {
        return false;
    }
    let says_how = |sentence: &String| {
        THINK.iter().any(|think| sentence.contains(think))
            && sentence.split_whitespace().count() <= MANNER_WORDS
    };
    let all = sentences(&lower);
    !all.is_empty() && all.iter().all(says_how)
}

#[cfg(test)]
#[allow(clippy::too_many_lines, reason = "a table of cases is long")]
mod tests {
    use super::*;

    fn asked(prompts: &[&str]) -> (Option<String>, Option<String>) {
        let mut asked = LastAsked::default();
        prompts
            .iter()
            .for_each(|prompt| asked.push(prompt, |own| own));
        (asked.substantive, asked.then)
    }

    #[test]
    fn the_newest_prompt_that_can_be_understood_is_what_was_asked() {
        for (prompts, wanted, then) in [
            // The failures that were found on real sessions, in other words.
            (
                &[
                    "i want to keep it for API testing",
                    "still issues: login loops",
                    "still issues: now a 500",
                ][..],
                Some("still issues: now a 500"),
                None,
            ),
            (
                &["add a gitignore file", "help me apply for the grant"],
                Some("help me apply for the grant"),
                None,
            ),
            (
                &["check the health endpoint", "deploy this"],
                Some("check the health endpoint"),
                Some("deploy this"),
            ),
            (
                &[
                    "why does CI fail?\n\n[INFO] building\nvalidate: lib/server/auth.ts\nlib/server/db.ts ok",
                ],
                Some("why does CI fail?"),
                None,
            ),
            (
                &[
                    "rename the old parser",
                    "ERROR: not registered\nPlease run 'az provider register'",
                ],
                Some("rename the old parser"),
                None,
            ),
            (
                &[
                    "请把登录页面的错误提示改成中文",
                    "[INFO] Server started on port 8080",
                ],
                Some("请把登录页面的错误提示改成中文"),
                None,
            ),
            (
                &[
                    "find out why the import is slow",
                    "use serena for code analysis and ultrathink",
                ],
                Some("find out why the import is slow"),
                Some("use serena for code analysis and ultrathink"),
            ),
            // A dangerous last order never hides.
            (
                &["add a cache for the pages", "stop, revert everything"],
                Some("stop, revert everything"),
                None,
            ),
            (
                &["add a cache for the pages", "revert everything"],
                Some("add a cache for the pages"),
                Some("revert everything"),
            ),
            (
                &["add a cache for the pages", "stop"],
                Some("add a cache for the pages"),
                Some("stop"),
            ),
            (
                &[
                    "add a cache for the pages",
                    "stop and revert all my changes",
                ],
                Some("stop and revert all my changes"),
                None,
            ),
            // Acknowledgements ask for nothing.
            (
                &[
                    "add a cache for the pages",
                    "yes",
                    "ok go on",
                    "do it",
                    "push",
                    "2",
                    "👍",
                    "oui, merci",
                    "LGTM, thanks!",
                ],
                Some("add a cache for the pages"),
                None,
            ),
            (
                &[
                    "add a cache for the pages",
                    "yes, go ahead with that",
                    "looks good to me thanks",
                ],
                Some("add a cache for the pages"),
                None,
            ),
            // Neither do commands to the client, nor code alone.
            (
                &[
                    "add a cache for the pages",
                    "/compact",
                    "/review:all",
                    "/rename intro session",
                    "!ls -la src",
                    "```\nlet a = 1;\n```",
                ],
                Some("add a cache for the pages"),
                None,
            ),
            (
                &["how do I deploy this?"],
                Some("how do I deploy this?"),
                None,
            ),
            (&["and now?", "is it ready?"], None, Some("is it ready?")),
            (
                &["https://example.org/issues/12"],
                None,
                Some("https://example.org/issues/12"),
            ),
            (
                &["corrige l'affichage des dates"],
                Some("corrige l'affichage des dates"),
                None,
            ),
            (
                &["исправь ошибку входа на странице"],
                Some("исправь ошибку входа на странице"),
                None,
            ),
            (&["修复错误"], None, Some("修复错误")),
            (
                &["исправь ошибку входа", "да, спасибо большое"],
                Some("исправь ошибку входа"),
                Some("да, спасибо большое"),
            ),
            (
                &["/etc/nginx/nginx.conf has wrong upstream ports"],
                Some("/etc/nginx/nginx.conf has wrong upstream ports"),
                None,
            ),
            // Around a paste, wherever it stands.
            (
                &[
                    "add a cache for the pages",
                    "[INFO] up\n[WARN] disk full\nwhich setting limits the disk usage?",
                ],
                Some("which setting limits the disk usage?"),
                None,
            ),
            (
                &[
                    "rename the old parser",
                    "core-sw1#show vlan\n1 default active\ncore-sw1#exit",
                ],
                Some("rename the old parser"),
                None,
            ),
            (
                &["> move the footer below the form"],
                Some("move the footer below the form"),
                None,
            ),
            (
                &["> move the footer\n\n> below the form"],
                Some("move the footer\n\nbelow the form"),
                None,
            ),
            (
                &["> Should it move?\n\nyes, below the form and menu"],
                Some("yes, below the form and menu"),
                None,
            ),
            (
                &[
                    "rename the old parser",
                    "> app@1.0.0 build\n> tsc -p tsconfig.build.json",
                ],
                Some("rename the old parser"),
                None,
            ),
            (
                &["4:06:53 is where the sound breaks"],
                Some("4:06:53 is where the sound breaks"),
                None,
            ),
            (
                &["error: timeout\n登录页面的这个错误应该怎么解决呢"],
                Some("登录页面的这个错误应该怎么解决呢"),
                None,
            ),
            (&["", "   "], None, None),
        ] {
            assert_eq!(
                asked(prompts),
                (wanted.map(str::to_owned), then.map(str::to_owned)),
                "{prompts:?}"
            );
        }
    }
}
