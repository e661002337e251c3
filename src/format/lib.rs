//! How agents write their sessions, and how a line of a transcript becomes an entry.
//!
//! ```text
//! bytes ──cursor──▶ lines ──decode──▶ Entry*
//!                             ▲ Format (a descriptor, compiled)
//! ```
//!
//! | modules | own |
//! |---|---|
//! | [`decode`] | a line as entries: only what the format asks for is decoded |
//! | [`format`], [`cursor`] | descriptors and what they compile to; lines of a file, forwards and backwards, and where to go on |
//! | [`entry`], [`time`] | the model: what was said, called or marked, and when |
//! | [`boundary`], [`path`], [`hash`], [`budget`] | parts of texts; spellings of paths; hash maps; limits and deadlines |
//!
//! Nothing here knows which sessions there are, opens a file or asks the process for anything.

pub mod boundary;
pub mod budget;
pub mod cursor;
pub mod decode;
pub mod entry;
pub mod format;
pub mod hash;
pub mod path;
pub mod time;
