//! What the words of a prompt tell of whoever wrote it: the language, the kind of task, whose project it is.
//!
//! In many languages, and by single words, because a profile counts over many prompts and may err in one. What one
//! prompt says, to be told to somebody, is for `words`.

mod language;
mod prompt;
mod task;

pub use language::Language;
pub use prompt::Prompt;
pub use task::Task;
