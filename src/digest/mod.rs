//! What entries amount to. Entries only: no format, no file, no clock.

mod activity;
mod tally;
mod weave;

pub use activity::Activity;
pub use tally::{Seen, Tally, Turn};
pub use weave::{Weaver, Woven, weave};
