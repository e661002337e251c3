//! One transcript: what its lines say, each thing once.
//!
//! Which file uses which:
//! ```text
//! kept ──▶ once, tail, transcript
//! log ──▶ once, slice, transcript, wanted
//! recognise, tail ──▶ source
//! settled ──▶ once, wanted
//! slice ──▶ once, wanted
//! transcript ──▶ once, source
//! wanted ──▶ once
//! ```

pub mod kept;
pub mod log;
pub mod once;
mod recognise;
mod settled;
mod slice;
mod source;
pub mod tail;
mod transcript;
mod wanted;

pub use recognise::{Fit, fit, recognise};
pub use settled::{Passage, Settled};
pub use source::Source;
pub use transcript::{Before, Beginning, Lines, Part, Read, Transcript};
pub use wanted::{Log, Slice, Target, Wanted};
