//! What people and agents say, in English and French: goals, decisions, blockers, corrections, next steps, topics.
//!
//! Text in, facts out. Each rule was measured on real sessions and says something only where it is right about nine
//! times in ten, so most texts yield nothing. What tools and tasks say is better evidence; the caller prefers it.
//!
//! A rule is a file, with its phrases and its cases. What counts as said, for all of them: `prose`, `pasted`,
//! `sentence`; how words are compared: `word`, `keyword`, `identifier`; how an instruction begins: `opening`, `idle`.

mod blocker;
mod correction;
mod decision;
mod goal;
mod hint;
mod identifier;
mod idle;
mod keyword;
mod next;
mod opening;
mod overlap;
mod pasted;
mod prose;
mod sentence;
mod topics;
mod word;

pub use blocker::blocked;
pub use correction::correction;
pub use decision::decision;
pub use goal::{Goal, goal};
pub use hint::hint;
pub use next::next_steps;
pub use overlap::overlap;
pub use sentence::{first_sentence, is_question, last_sentence};
pub use topics::Topics;

#[cfg(test)]
mod tests {
    use super::blocker::tests::BLOCKED;
    use super::correction::tests::CORRECTED;
    use super::decision::tests::DECIDED;
    use super::goal::tests::GOALS;
    use super::next::tests::STEPS;
    use super::sentence::tests::{ANSWERS, TEXTS};
    use super::*;

    fn everything(text: &str) {
        first_sentence(text);
        is_question(text);
        goal(&[text, "ok"]);
        decision(text);
        blocked(text);
        correction(text);
        next_steps(text);
        overlap(text, "some other words");
        hint(text, &[text.to_owned(), "topic".to_owned()]);
        let mut topics = Topics::default();
        topics.add(text, 1);
        topics.add_file(text, 2);
        topics.top(&[&topics], 3);
    }

    #[test]
    fn no_prefix_of_anything_panics() {
        let texts = TEXTS
            .iter()
            .map(|(text, _)| *text)
            .chain(DECIDED.iter().chain(&BLOCKED).chain(&CORRECTED).map(|(text, _)| *text));
        let texts = texts.chain(STEPS.iter().map(|(text, _)| *text)).chain(ANSWERS.iter().map(|(text, ..)| *text));
        let texts = texts.chain(GOALS.iter().flat_map(|(prompts, _)| prompts.iter().copied()));
        for text in texts {
            for (at, _) in text.char_indices() {
                everything(&text[..at]);
                everything(&text[at..]);
                everything(&format!("{}é\u{301}`👩‍👩‍👧", &text[..at]));
            }
        }
    }

    #[test]
    fn long_texts_take_linear_time() {
        let started = std::time::Instant::now();
        for unit in [
            "`",
            ". ",
            "<a-b>\n",
            "</a-b>",
            "<a-b>\n</a-b>\n",
            "é",
            "word ",
            "- a\n",
            "'",
            "a:1",
            "a b. ",
            "aB",
            "```\n",
            "let's ",
        ] {
            everything(&unit.repeat(50_000 / unit.len()));
        }
        let wrapped = format!("{} and\n", "word ".repeat(12)).repeat(1_500);
        everything(&wrapped);
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    }
}
