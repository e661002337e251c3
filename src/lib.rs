//! What coding agents write to disk, read back: the library behind `session-reader`.
//!
//! One way, each arrow one step:
//!
//! ```text
//! Env ──locate──▶ Session ──cursor──▶ lines ──decode──▶ Entry* ──digest──▶ log, tally ──render──▶ text
//!                    ▲ Format (a compiled descriptor)
//! ```
//!
//! | layer | modules | knows |
//! |---|---|---|
//! | 8 | the programs in `bin/` | exit codes, stdout |
//! | 7 | [`cmd`] | the commands, where the layers meet |
//! | 6 | [`render`] | entries and lists, never JSON lines or files |
//! | 5 | [`catalog`] | all sessions with their tallies, the cache, names |
//! | 4 | [`transcript`] | one session's file, read through its format |
//! | 3 | [`digest`] | entries only: no format, no file, no clock |
//! | 2 | [`decode`], [`locate`], [`state`] | lines; directories; our own files |
//! | 1 | [`format`], [`cursor`], [`env`] | TOML; bytes; the process |
//! | 0 | [`entry`], [`time`] | the model |
//!
//! A module uses only layers below it, and a test holds it to that. Nothing but [`env`] asks the process for its
//! environment or the clock, and nothing but the programs prints, so everything here is a function of what it is given.
//!
//! Where a change belongs:
//! - an agent writes something new, or there is a new agent: `formats/*.toml`, and a case in `testdata/`; no Rust;
//! - what the keys of a descriptor cannot say: a verb in `decode/verbs.rs` (there are few on purpose);
//! - what counts as the same entry written twice: `digest/weave.rs`; what a list says: `digest/tally.rs`;
//! - how something looks: `render/`; what a command takes: `cmd/args.rs`.

pub mod catalog;
pub mod cmd;
pub mod cursor;
pub mod decode;
pub mod digest;
pub mod entry;
pub mod env;
pub mod format;
pub mod locate;
pub mod render;
pub mod state;
pub mod time;
pub mod transcript;
