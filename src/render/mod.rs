//! Entries and lists as text for people and as JSON for programs.
//!
//! Everything from a transcript goes through [`terminal::clean`] on its way to a terminal.

pub mod activity;
mod figures;
pub mod json;
pub mod list;
pub mod log;
pub mod profile;
pub mod resume;
pub mod start;
pub mod terminal;
pub mod untrusted;
