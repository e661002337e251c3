//! What coding agents write to disk, read back: the library behind `session-context` and `session-reader`.
//!
//! One way, each arrow one step:
//!
//! ```text
//! Env ──locate──▶ Session ──cursor──▶ lines ──decode──▶ Entry* ──digest──▶ log, tally, activity, … ──render──▶ text
//!                    ▲ Format (a compiled descriptor)
//! ```
//!
//! | layer | modules | knows |
//! |---|---|---|
//! | 9 | the programs in `bin/` | exit codes, stdout |
//! | 8 | [`cmd`] | the commands, where the layers meet |
//! | 7 | [`hook`] | what an agent asks, and what it is told |
//! | 6 | [`render`] | entries, lists and digests, never JSON lines or files |
//! | 5 | [`catalog`] | all sessions with their tallies, the cache, names |
//! | 4 | [`transcript`] | one session's file, read through its format |
//! | 3 | [`digest`] | entries only: no format, no file, no clock |
//! | 2 | [`decode`], [`locate`], [`settings`], [`state`] | lines; directories; what the user set; our own files |
//! | 1 | [`format`], [`cursor`], [`budget`], [`env`] | TOML; bytes; limits; the process |
//! | 0 | [`entry`], [`time`], [`file`], [`path`], [`secrets`] | the model; files that are files; what must not be shown |
//!
//! A module uses only layers below it, and a test holds it to that. Nothing but [`env`] asks the process for its
//! environment or the clock, and nothing but the programs prints, so everything here is a function of what it is given.
//!
//! Where a change belongs:
//! - an agent writes something new, or there is a new agent: `formats/*.toml`, and a case in `testdata/`; no Rust;
//! - what the keys of a descriptor cannot say: a verb in `decode/verbs.rs` (there are few on purpose);
//! - what counts as the same entry written twice: `digest/weave.rs`; what a list says: `digest/tally.rs`;
//! - which prompt is quoted as what the user last asked: `digest/asked.rs`; what of a text somebody wrote: `digest/text.rs`;
//! - what the hook finds worth telling: `digest/activity.rs`; which sessions it looks at: `hook/survey.rs`;
//! - whether a test still fails: `digest/failing.rs`; which names a prompt has in common with earlier work: `digest/names.rs`;
//! - where a session stopped: `digest/continuity/`; what people say in so many words: `digest/phrases.rs`; what commands
//!   and edits say: `digest/code/`;
//! - what a profile tells and when it is too little: `digest/profile.rs`; what a command is for: `digest/code/work/`;
//! - what a model or a terminal must never be given: `render/untrusted.rs`, `secrets/`, `render/terminal.rs`;
//! - how something looks: `render/`; what a command takes: `cmd/args.rs`, `cmd/context.rs`.

pub mod budget;
pub mod catalog;
pub mod cmd;
pub mod cursor;
pub mod decode;
pub mod digest;
pub mod entry;
pub mod env;
pub mod file;
pub mod format;
pub mod hook;
pub mod locate;
pub mod path;
pub mod render;
pub mod secrets;
pub mod settings;
pub mod state;
pub mod time;
pub mod transcript;
