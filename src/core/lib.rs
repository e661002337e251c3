//! What coding agents write to disk, read back: the library behind `session-context` and `session-reader`.
//!
//! One way, each arrow one step with one owner:
//!
//! ```text
//! Env ──session──▶ Session ──read──▶ Entry*, each once ──fold──▶ Tally, Activity, Continuity ──ask──▶ answers ──show──▶ text
//!                    ▲ Format (a compiled descriptor)
//! ```
//!
//! | layer | modules | owns |
//! |---|---|---|
//! | 10 | the programs in `bin/` | exit codes, stdout |
//! | 9 | [`cmd`] | a file per command: arguments, `ask`, `show` |
//! | 8 | [`hook`] | what an agent asks, and what it is told |
//! | 7 | [`show`] | how anything looks, and what must not be shown |
//! | 6 | [`ask`] | what is so: the answers that are shown |
//! | 5 | [`search`] | which sessions say some words |
//! | 4 | [`session`] | which sessions there are, and which one a name means |
//! | 3 | [`read`], [`parallel`] | one transcript: where to go on reading, and what counts once; many of them at a time |
//! | 2 | [`fold`], [`state`], [`settings`], [`decode`], [`progress`] | what entries amount to; our own files; what the user set; lines; how far long work is |
//! | 1 | [`format`], [`cursor`], [`env`] | TOML; bytes; the process |
//! | 0 | [`entry`], [`time`], [`file`], [`dir`], [`path`], [`boundary`], [`process`], [`budget`], [`secrets`], [`arena`], [`hash`] | the model; files that are files; directories; parts of texts; who runs; limits; secrets; memory; hash maps |
//!
//! A module uses only layers below it, and a test holds it to that. Nothing but [`env`] asks the process for its
//! environment or the clock, and nothing but the programs prints, so everything here is a function of what it is given.
//!
//! Where a change belongs:
//! - an agent writes something new, or there is a new agent: `formats/*.toml`, and a case in `testdata/`; no Rust;
//! - what the keys of a descriptor cannot say: a verb in `decode/verbs.rs` (there are few on purpose);
//! - which session a NAME means: `session/choose.rs`; what a subagent is called: `session/subagent.rs`; which one is `last`:
//!   `session/last.rs`; whose transcript may be told: `session/trust.rs`;
//! - what lines come from: `read/source.rs`; where to go on reading: `read/tail.rs`; what counts once: `read/once.rs`;
//!   what a list says: `fold/tally.rs`;
//! - how what a cache has of a transcript is brought up to date: `read/kept.rs`; the files of caches: `state/table.rs`;
//! - what state a session is in, and why: `session/state.rs`; whether its agent runs: `session/live.rs`, `process.rs`;
//! - whose turn it is: `fold/turn.rs`; titles, directories and tokens of a session: `fold/basics.rs`;
//! - which prompt is quoted as what the user last asked: `fold/asked.rs`; what of a text somebody wrote: `fold/text.rs`;
//! - what the hook finds worth telling: `fold/activity.rs`; which files it opens: `hook/observe.rs`;
//! - whether a test still fails: `fold/failing.rs`; which names a prompt has in common with earlier work: `fold/names.rs`;
//! - where a session stopped: `fold/continuity/`; what people say in set phrases: `fold/phrases.rs`; what commands
//!   and edits say: `fold/code/`; what a command did to the repository: `fold/code/git.rs`; which check failed and what a
//!   pass proves: `fold/code/work/check.rs`;
//! - which entries a log shows: `read/wanted.rs`, `read/slice.rs`; what counts as touching a file, and what is a conflict:
//!   `fold/touched.rs`; what goes through a pager: `cmd/args.rs`, `cmd/pager.rs`;
//! - what a search looks through: `fold/said.rs`, `search/sources.rs`; what fits: `search/query.rs`; in which order:
//!   `search/rank.rs`;
//! - what a profile tells and when it is too little: `fold/profile.rs`; what a command is for: `fold/code/work/`; which
//!   programs, phrases and languages there are: `fold/words.toml`;
//! - what is hidden from a model, a terminal or a program: `show/gate.rs`; which characters: `show/characters.rs`; which
//!   keys and passwords: `secrets/table.toml`;
//! - what a command, the screen or the status line finds out: `ask/`; how something looks: `show/`; what a command takes:
//!   `cmd/args.rs`, `cmd/context.rs`.

pub mod arena;
pub mod ask;
pub mod dir;
pub mod env;
pub mod file;
pub mod fold;
pub mod formats;
pub mod parallel;
pub mod process;
pub mod progress;
pub mod read;
pub mod search;
#[allow(
    clippy::string_slice,
    reason = "all positions there come from the text itself"
)]
pub mod secrets;
pub mod session;
pub mod settings;
pub mod show;
pub mod stage;
pub mod state;
