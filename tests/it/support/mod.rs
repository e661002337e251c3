//! What tests share. A file of tests holds tests and what only they need; a helper that a second file wants comes here.
//!
//! A test makes a [`world::World`], puts sessions into it (`script` for whole sessions of any client, `claude` for single
//! lines of Claude Code, `clients` for what the real clients wrote), runs a program in it (`run`, `hook`, `reader`), and says
//! what must come of it.

pub mod acme;
pub mod agents;
pub mod claude;
pub mod clients;
pub mod files;
pub mod history;
pub mod hook;
pub mod notes;
pub mod reader;
pub mod resume;
pub mod run;
pub mod script;
pub mod secrets;
pub mod source;
pub mod start;
pub mod strangers;
pub mod times;
pub mod trouble;
pub mod world;
