//! Formats: how each agent writes its sessions, as data.
//!
//! A descriptor is one TOML file per agent. It has parts: where sessions live, how the agent's hook talks, how to read
//! sessions, how to know that the agent runs, where it keeps its hooks. [`Format`] is the part that reads sessions, compiled.
//!
//! Which file uses which:
//! ```text
//! compile ──▶ descriptor, templates, trie
//! descriptor ──▶ install, live, pattern, trie, written
//! install, pattern, trie ──▶ written
//! live ──▶ pattern, written
//! prompt ──▶ descriptor
//! templates ──▶ trie
//! ```

mod compile;
pub mod descriptor;
pub mod install;
pub mod live;
pub mod pattern;
pub mod prompt;
pub mod templates;
pub mod trie;
mod written;

pub use compile::{Format, Shape};
pub use descriptor::{CallKeys, ResultKeys, Rule, Test, Tool};
