//! Entries and lists as text for people and as JSON for programs.
//!
//! Everything from a transcript goes through [`terminal::clean`] on its way to a terminal.

pub mod activity;
pub mod json;
pub mod list;
pub mod log;
pub mod secrets;
pub mod terminal;
pub mod untrusted;
