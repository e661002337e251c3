//! One transcript: what its lines say, each thing once.
//!
//! Which file uses which:
//! ```text
//! log ──▶ slice ──▶ wanted ──▶ once
//! log, kept ──▶ transcript ──▶ once, source
//! kept ──▶ tail ──▶ source
//! recognise ──▶ source
//! ```

pub mod kept;
pub mod log;
pub mod once;
mod recognise;
mod slice;
mod source;
pub mod tail;
mod transcript;
mod wanted;

pub use recognise::{Fit, fit, recognise};
pub use source::Source;
pub use transcript::{Before, Beginning, Lines, Part, Read, Transcript};
pub use wanted::{Log, Slice, Target, Wanted};
