//! One transcript: what its lines say, each thing once.
//!
//! Which file uses which:
//! ```text
//! recognise, transcript, tail ──▶ source
//! transcript ──▶ once, slice ──▶ once, transcript
//! kept ──▶ transcript, once, tail
//! ```

pub mod kept;
pub mod once;
mod recognise;
mod slice;
mod source;
pub mod tail;
mod transcript;

pub use recognise::{Fit, fit, recognise};
pub use slice::Slice;
pub use source::Source;
pub use transcript::{Before, Beginning, Lines, Log, Part, Read, Target, Transcript, Wanted};
