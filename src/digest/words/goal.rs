//! What a session is after: the last thing that the user told the agent to do.
//!
//! A goal can be understood on its own, so "make that change" is none and the prompt before it is looked at. Where
//! nobody told anything, the last subject stands for it and is not `sure`. Of 45 goals 42 were real instructions.

use super::idle::is_idle;
use super::keyword::keywords;
use super::opening::{is_french_verb, is_imperative, starts};
use super::prose::{Part, list_item};
use super::sentence::{asks, clean, matchable, sentences};
use super::word::{Word, cue, plain};

/// What a session is after.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    /// Which of the prompts says it.
    pub prompt: usize,
    pub text: String,
    /// The user told the agent to do it; otherwise it is what was last talked about.
    pub sure: bool,
}

/// The last thing that the user told the agent to do, from the prompts of a session, oldest first.
pub fn goal(prompts: &[&str]) -> Option<Goal> {
    let newest = || prompts.iter().enumerate().rev().filter(|(_, prompt)| !is_idle(prompt));
    let told = newest().find_map(|(prompt, text)| Some(Goal { prompt, text: instruction(text)?, sure: true }));
    told.or_else(|| newest().find_map(|(prompt, text)| Some(Goal { prompt, text: subject(text)?, sure: false })))
}

/// How many keywords it takes to be understood.
const CONTENT: usize = 3;

/// The first sentence of a prompt that tells what to do and can be understood.
fn instruction(prompt: &str) -> Option<String> {
    matchable(prompt).find_map(|part| {
        let words = plain(part.text);
        let directs = if asks(part.text) { requests } else { directs };
        let from = starts(&words).find(|at| directs(&words[*at..]))?;
        let text = with_next_line(prompt, part, words[from].at);
        (keywords(&text).len() >= CONTENT).then_some(text)
    })
}

/// The first sentence of a prompt that is about something.
fn subject(prompt: &str) -> Option<String> {
    let part = sentences(prompt).into_iter().find(|part| keywords(part.text).len() >= CONTENT)?;
    Some(with_next_line(prompt, part, 0))
}

/// A sentence from a place on; where it ends with a colon, what comes next belongs to it.
fn with_next_line(prompt: &str, part: Part, from: usize) -> String {
    let text = clean(&part.text[from..]);
    if !text.ends_with(':') {
        return text;
    }
    let bare = |line: &str| {
        let line = line.trim().trim_start_matches(['#', '>', '*', '_', ' ']);
        let line = list_item(line).unwrap_or(line);
        clean(&line.chars().take(300).collect::<String>())
    };
    let next = prompt[part.end()..].lines().map(bare).find(|line| line.contains(char::is_alphanumeric));
    next.map_or(text.clone(), |next| format!("{text} {next}"))
}

/// Whether words begin like a request, which may be put as a question.
fn requests(words: &[Word]) -> bool {
    const REQUESTS: &str = "can you, could you, would you, can we, could we, please, peux tu, tu peux, pouvez vous, \
        vous pouvez, pourrais tu, pourriez vous";
    cue(words, REQUESTS).is_some()
}

/// Whether words begin like an instruction.
fn directs(words: &[Word]) -> bool {
    const DIRECTIVES: &str = "let us, we need, we should, we must, i want, i need, i would like, do not, never, \
        make sure, il faut, il faudrait, il nous faut, on va, on doit, nous devons, je veux, je voudrais, je aimerais, \
        merci de";
    const WAVED_ASIDE: &str =
        "never mind, do not worry, do not bother, do not mind, do not panic, do not know, do not care";
    let forbids = || cue(words, "ne").is_some() && words.get(1).is_some_and(|word| is_french_verb(&word.text));
    let told = || cue(words, DIRECTIVES).is_some() && cue(words, WAVED_ASIDE).is_none();
    requests(words) || told() || is_imperative(words) || forbids()
}

#[cfg(test)]
pub mod tests {
    use super::*;

    type Found<'a> = Option<(usize, &'a str, bool)>;

    pub const GOALS: [(&[&str], Found); 35] = [
        (
            &["Add a cache for the pages", "Never mind, the parser works again today"],
            Some((0, "Add a cache for the pages", true)),
        ),
        (
            &["Add a cache for the pages", "Don't worry about the failing parser tests"],
            Some((0, "Add a cache for the pages", true)),
        ),
        (&["Don't forget to test the parser again"], Some((0, "Don't forget to test the parser again", true))),
        (&["List of users is wrong on the page"], Some((0, "List of users is wrong on the page", false))),
        (&["- **Add a cache** for the pages"], Some((0, "Add a cache for the pages", true))),
        (&["Fix the login bug in auth.rs."], Some((0, "Fix the login bug in auth.rs", true))),
        (&["Add a cache for the pages", "yes"], Some((0, "Add a cache for the pages", true))),
        (
            &["Add a cache for the pages", "ok, go ahead", "/compact", "lgtm thanks!"],
            Some((0, "Add a cache for the pages", true)),
        ),
        (
            &["Add a cache for the pages", "oui, vas-y", "d'accord, parfait merci", "c'est bon"],
            Some((0, "Add a cache for the pages", true)),
        ),
        (
            &["Add a cache for the pages", "make that change", "check those", "do it"],
            Some((0, "Add a cache for the pages", true)),
        ),
        (&["Add a cache for the pages", "address 8, 12"], Some((0, "Add a cache for the pages", true))),
        (
            &["Add a cache for the pages", "Now let's write documentation for it, with examples"],
            Some((1, "let's write documentation for it, with examples", true)),
        ),
        (
            &["Hello. The page is slow. We need to cache the rendered pages."],
            Some((0, "We need to cache the rendered pages", true)),
        ),
        (
            &["ok so now please refactor the http client retries"],
            Some((0, "please refactor the http client retries", true)),
        ),
        (
            &["Could you rename `user_id` to `account_id` everywhere?"],
            Some((0, "Could you rename `user_id` to `account_id` everywhere?", true)),
        ),
        (&["Don't touch the generated migration files"], Some((0, "Don't touch the generated migration files", true))),
        (
            &["Make sure the release notes mention Windows"],
            Some((0, "Make sure the release notes mention Windows", true)),
        ),
        (
            &["Implement the following plan:\n\n# Plan: move sessions into SQLite\n\nmore"],
            Some((0, "Implement the following plan: Plan: move sessions into SQLite", true)),
        ),
        (
            &["Fix this error:\n```\nerror[E0308]: mismatched types in parser\n```"],
            Some((0, "Fix this error: error[E0308]: mismatched types in parser", true)),
        ),
        (&["Il faut corriger l'affichage des dates"], Some((0, "Il faut corriger l'affichage des dates", true))),
        (
            &["Bon, maintenant ajoute un test pour l’analyseur de dates"],
            Some((0, "ajoute un test pour l’analyseur de dates", true)),
        ),
        (
            &["Peux-tu vérifier la configuration du serveur ?"],
            Some((0, "Peux-tu vérifier la configuration du serveur ?", true)),
        ),
        (
            &["Merci de supprimer les anciens fichiers journaux"],
            Some((0, "Merci de supprimer les anciens fichiers journaux", true)),
        ),
        (&["On va remplacer la base de données"], Some((0, "On va remplacer la base de données", true))),
        (&["Why does the parser drop the last line?"], Some((0, "Why does the parser drop the last line?", false))),
        (
            &["we have a problem here with session cursors"],
            Some((0, "we have a problem here with session cursors", false)),
        ),
        (
            &["Build fails with a linker error on Windows"],
            Some((0, "Build fails with a linker error on Windows", false)),
        ),
        (
            &["Test results are strange since yesterday evening"],
            Some((0, "Test results are strange since yesterday evening", false)),
        ),
        (
            &["The dates look wrong on the overview page", "hmm", "and now?"],
            Some((0, "The dates look wrong on the overview page", false)),
        ),
        (&["POST /api/users 500 failed\nRun A=b make all targets\n"], None),
        (&["/review src/main.rs carefully please"], None),
        (&["!ls -la some folder here"], None),
        (&["[Request interrupted by user]"], None),
        (&["yes", "ok", "", "continue", "👍"], None),
        (&[], None),
    ];

    #[test]
    fn finds_the_goal() {
        for (prompts, wanted) in GOALS {
            let found = goal(prompts);
            let found = found.as_ref().map(|goal| (goal.prompt, goal.text.as_str(), goal.sure));
            assert_eq!(found, wanted, "{prompts:?}");
        }
    }
}
