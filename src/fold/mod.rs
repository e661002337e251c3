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
mod phrases;
mod profile;
mod said;
mod tally;
pub mod text;
mod turn;

pub use activity::Activity;
pub use asked::LastAsked;
pub use basics::Basics;
pub use continuity::Continuity;
pub use failing::{Failing, open_check};
pub use profile::{Amount, Profile, Reading, Share};
pub use said::{Said, SaidLine, fold_each, folded, searched};
pub use tally::Tally;
pub use turn::{Ending, Turns};

use crate::entry::{Entry, Facts};

/// Whether a list of words has this one. A list is a text with blanks between the words, beside the rule that uses it.
fn one_of(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// Takes in a transcript: of each line what it says about the session, then its entries.
pub trait Fold {
    /// A line of the transcript begins at this offset.
    fn line(&mut self, _: u64) {}

    fn facts(&mut self, _: &Facts) {}

    fn entry(&mut self, entry: &Entry, line: u64);

    /// An entry of this line was copied from another session.
    fn copied(&mut self) {}
}
