//! The program `session-context`: what an agent asks and is told, and what the user notes.
//!
//! [`hook`] answers an agent. Every other module is a command, which takes a [`Stage`] and returns how it ended; [`args`] is the
//! command line.
//!
//! Which file uses which:
//! ```text
//! args ──▶ demo, doctor, explain, install, live, mute, notes, profile_set, statusline, tag
//! doctor ──▶ install
//! profile_set, tag ──▶ notes
//! explain, mute, tag ──▶ target_session ──▶ hook
//! demo, explain, tag ──▶ hook
//! ```

pub mod args;
pub mod demo;
mod doctor;
mod explain;
pub mod hook;
mod install;
mod live;
pub mod mute;
pub mod notes;
mod profile_set;
mod statusline;
pub mod tag;
pub mod target_session;

use session_core::stage::{Exit, Problem, Stage, label, none, on_stage};
