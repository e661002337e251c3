//! session_monitor
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
