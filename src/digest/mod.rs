//! What entries amount to. Entries only: no format, no file, no clock.

mod activity;
mod asked;
pub mod code;
pub mod continuity;
mod failing;
mod filetypes;
mod lexicon;
pub mod names;
mod phrases;
mod profile;
mod queue;
mod tally;
pub mod text;
mod weave;

pub use activity::Activity;
pub use asked::Asked;
pub use continuity::Continuity;
pub use failing::Failing;
pub use profile::{Origin, Profile, Reading, Share, Used};
pub use tally::{Seen, Tally, Turn};
pub use weave::{Weaver, Woven, weave};
