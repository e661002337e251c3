//! What a user sees, through the programs. One binary; a file per capability.

#![allow(clippy::disallowed_methods, reason = "tests read the files that they made")]

mod attacks;
mod cli;
mod faults;
mod follow;
mod hook;
mod hook_review;
mod hostile;
mod install;
mod labels;
mod layers;
mod list;
mod log;
mod names;
mod notes;
mod profile;
mod quirks;
mod readme;
mod regressions;
mod resume;
mod resume_review;
mod robust;
mod start;
mod subagents;
mod together;
mod transcripts;
mod world;
