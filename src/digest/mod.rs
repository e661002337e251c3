//! What entries amount to. Entries only: no format, no file, no clock.

mod activity;
pub mod code;
pub mod continuity;
mod filetypes;
mod lexicon;
mod profile;
mod queue;
mod speech;
mod tally;
mod weave;
pub mod words;

pub use activity::Activity;
pub use continuity::Continuity;
pub use profile::{Origin, Profile, Reading, Share, Used};
pub use speech::{Language, Task};
pub use tally::{Seen, Tally, Turn};
pub use weave::{Weaver, Woven, weave};
