//! How everything looks: for people on a terminal, for a model in its prompt, for programs as JSON.
//!
//! Whatever somebody wrote goes through the [`gate`], whoever reads it.
//!
//! Which file uses which:
//! ```text
//! start ──▶ told
//! resume, start, told ──▶ activity ──▶ untrusted ──▶ gate ──▶ characters
//! profile, list, log ──▶ gate
//! search ──▶ gate, log, terminal
//! files ──▶ gate, json, log, terminal
//! untrusted ──▶ terminal
//! statusline ──▶ activity, state, terminal
//! resume, profile ──▶ json
//! resume, list, json ──▶ state ──▶ activity
//! resume, profile, list, files, activity ──▶ figures
//! profile, list, log ──▶ terminal
//! watch ──▶ log, state, terminal
//! ```

pub mod activity;
mod characters;
pub mod figures;
pub mod files;
pub mod gate;
pub mod json;
pub mod list;
pub mod log;
pub mod profile;
pub mod resume;
pub mod search;
pub mod start;
pub mod state;
pub mod statusline;
pub mod terminal;
pub mod told;
pub mod untrusted;
pub mod watch;
