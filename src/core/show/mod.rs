//! How everything looks: for people on a terminal, for a model in its prompt, for programs as JSON.
//!
//! Whatever somebody wrote goes through the [`gate`], whoever reads it.
//!
//! Which file uses which:
//! ```text
//! activity ──▶ figures, gate, untrusted
//! call ──▶ gate, object, terminal
//! files ──▶ figures, gate, json, log, terminal
//! find ──▶ gate, object, terminal
//! gate ──▶ characters, withheld
//! json ──▶ call, object, place, state
//! list ──▶ figures, gate, state, terminal
//! log ──▶ call, gate, terminal
//! place ──▶ gate, object
//! profile ──▶ figures, gate, json, terminal
//! recap ──▶ figures, gate, json, terminal
//! restore ──▶ gate, state, terminal
//! resume ──▶ activity, call, figures, gate, json, place, state, terminal, untrusted
//! search ──▶ gate, log, terminal
//! start ──▶ activity, gate, told, untrusted
//! state ──▶ activity, terminal
//! statusline ──▶ activity, gate, object, state, terminal
//! told ──▶ activity, gate, untrusted
//! untrusted ──▶ gate
//! ```

pub mod activity;
pub mod call;
mod characters;
pub mod figures;
pub mod files;
pub mod find;
pub mod gate;
pub mod json;
pub mod list;
pub mod log;
pub mod object;
pub mod place;
pub mod profile;
pub mod recap;
pub mod restore;
pub mod resume;
pub mod search;
pub mod start;
pub mod state;
pub mod statusline;
pub mod terminal;
pub mod told;
pub mod untrusted;
pub mod withheld;
