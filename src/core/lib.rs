//! Which sessions there are, what they say, what is so, and how that looks: all that both programs share.
//!
//! One way, each arrow one step with one owner:
//!
//! ```text
//! Env ──session──▶ Session ──read──▶ Entry*, each once ──fold──▶ Tally, Activity, Continuity ──ask──▶ answers ──show──▶ text
//!                    ▲ Format (a compiled descriptor)
//! ```
//!
//! | layer | modules | own |
//! |---|---|---|
//! | 8 | [`stage`] | how a command runs and ends |
//! | 7 | [`show`] | how anything looks, and what must not be shown |
//! | 6 | [`ask`] | what is so: the answers that are shown |
//! | 5 | [`search`] | which sessions say some words |
//! | 4 | [`session`] | which sessions there are, which one a name means, what state it is in |
//! | 3 | [`read`], [`parallel`] | one transcript: where to go on reading, and what counts once; many of them at a time |
//! | 2 | [`fold`], [`state`], [`settings`], [`progress`] | what entries amount to; our own files; what the user set; how far long work is |
//! | 1 | [`env`], [`formats`] | the process; the formats that are known |
//! | 0 | [`file`], [`dir`], [`process`], [`secrets`], [`arena`] | files that are files; directories; who runs; secrets; memory |
//!
//! A module uses only layers below it, and a test holds it to that. Nothing but [`env`] asks the process for its environment or
//! the clock, and nothing but the programs prints, so everything here is a function of what it is given. `AGENTS.md` says where a
//! change belongs.

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
