//! What a user sees, through the programs. One binary; a file per capability.

mod attacks;
mod cli;
mod faults;
mod follow;
mod hook;
mod hook_review;
mod install;
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
mod together;
mod transcripts;
mod world;
