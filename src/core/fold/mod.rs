//! What entries amount to: pure folds, without a file, a format or a clock.
//!
//! A [`Fold`] is given what a transcript says in the order it was written, each thing once: `read::once` has sorted out
//! what is repeated, so a fold counts what it is given and remembers no ids for that.

mod activity;
mod asked;
mod basics;
pub mod code;
pub mod continuity;
mod failing;
mod filetypes;
pub mod names;
pub mod origin;
mod phrases;
mod profile;
mod said;
mod spent;
mod tally;
pub mod text;
mod touched;
mod turn;
/// The tables of `words.toml`.
mod words {
    include!(concat!(env!("OUT_DIR"), "/words.rs"));
}

pub use activity::Activity;
pub use asked::{LastAsked, substantive};
pub use basics::{Basics, title};
pub use code::GitEvent;
pub use continuity::Continuity;
pub use failing::Failing;
pub use profile::{Amount, Profile, Reading, Share};
pub use said::{Said, SaidLine, fold_each, folded, searched};
pub use spent::Spent;
pub use tally::Tally;
pub use touched::{Copies, Deed, Knowledge, Touch, Touched};
pub use turn::{Doing, Ending, OpenEnd, Turns};

use memchr::memmem;

use session_format::entry::{Entry, Facts, Position};

/// True if a list of words has this one. A list is a text with blanks between the words: a short one beside the rule that
/// uses it, a long one in `words.toml`.
fn one_of(list: &str, word: &str) -> bool {
    let (list, word) = (list.as_bytes(), word.as_bytes());
    let is_blank = |at: Option<&u8>| at.is_none_or(u8::is_ascii_whitespace);
    let mut from = 0;
    // Most lists do not have most words, and looking for one is faster than taking the list apart.
    while !word.is_empty()
        && let Some(found) = memmem::find(&list[from..], word)
    {
        let (start, end) = (from + found, from + found + word.len());
        if is_blank(start.checked_sub(1).and_then(|before| list.get(before)))
            && is_blank(list.get(end))
        {
            return !word.iter().any(u8::is_ascii_whitespace);
        }
        from = start + 1;
    }
    false
}

/// True for a program that everybody knows by its name.
pub(crate) fn is_well_known(program: &str) -> bool {
    one_of(words::WELL_KNOWN, program)
}

/// Takes in a transcript: of each line what it says about the session, then its entries.
pub trait Fold {
    /// A line of the transcript begins here.
    fn line(&mut self, _: Position) {}

    fn facts(&mut self, _: &Facts) {}

    fn entry(&mut self, entry: &Entry, line: u64);

    /// An entry of this line was copied from another session.
    fn copied(&mut self) {}

    /// This line could not be read.
    fn unreadable(&mut self, _: u64) {}
}

/// Two folds of the same entries; the second only if it is wanted.
impl<A: Fold, B: Fold> Fold for (A, Option<B>) {
    fn line(&mut self, position: Position) {
        self.0.line(position);
        self.1.iter_mut().for_each(|second| second.line(position));
    }

    fn facts(&mut self, facts: &Facts) {
        self.0.facts(facts);
        self.1.iter_mut().for_each(|second| second.facts(facts));
    }

    fn entry(&mut self, entry: &Entry, line: u64) {
        self.0.entry(entry, line);
        self.1
            .iter_mut()
            .for_each(|second| second.entry(entry, line));
    }

    fn copied(&mut self) {
        self.0.copied();
        self.1.iter_mut().for_each(Fold::copied);
    }

    fn unreadable(&mut self, line: u64) {
        self.0.unreadable(line);
        self.1.iter_mut().for_each(|second| second.unreadable(line));
    }
}

#[cfg(test)]
mod tests {
    use super::one_of;

    #[test]
    fn only_whole_words_of_a_list_are_in_it() {
        let list = "go gone ago \
            to forgo";
        for (word, wanted) in [
            ("go", true),
            ("gone", true),
            ("forgo", true),
            ("to", true),
            ("on", false),
            ("", false),
            ("go gone", false),
        ] {
            assert_eq!(one_of(list, word), wanted, "{word}");
            assert_eq!(
                list.split_ascii_whitespace().any(|known| known == word),
                wanted,
                "{word}"
            );
        }
    }
}
