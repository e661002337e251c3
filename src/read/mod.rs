//! One transcript: what its lines say, each thing once.
//!
//! Which file uses which:
//! ```text
//! recognise, transcript ──▶ tail
//! transcript ──▶ once
//! ```

pub mod once;
mod recognise;
pub mod tail;
mod transcript;

pub use recognise::{Fit, fit, recognise};
pub use transcript::{Before, Beginning, Lines, Log, Part, Read, Target, Transcript, Wanted};
