//! What a user sees, through the programs. One binary; a file per capability.

#![allow(
    clippy::disallowed_methods,
    reason = "tests read the files that they made"
)]
#![allow(clippy::string_slice, reason = "what is wrong with a test fails it")]
#![allow(clippy::too_many_lines, reason = "a table of cases is long")]

mod acceptance;
mod agreement;
mod browser;
mod budget;
mod bytes;
mod cache;
mod claude;
mod cli;
mod codex;
mod commands;
mod compaction;
mod completions;
mod conflicts;
#[path = "continue.rs"]
mod continued;
mod cursors;
mod damage;
mod deadline;
mod exit_codes;
mod export;
mod failures;
#[cfg(target_os = "linux")]
#[path = "../../benches/faults/mod.rs"]
mod fault_matrix;
mod files;
mod find;
mod follow;
mod gate;
mod gemini_qwen_copilot;
mod go;
mod grok;
mod hook;
mod images;
mod input;
mod install;
mod install_mcp;
mod labels;
mod last;
mod layers;
mod list;
mod list_watch;
mod live_hook;
mod log;
mod looks;
mod made_up;
mod marks;
mod mcp;
mod memory;
mod named_by_user;
mod names;
mod new_agent;
mod news;
mod notes;
mod once;
mod pager;
mod pastes;
mod pending;
mod pi;
mod problems;
mod profile;
mod proof;
mod properties;
mod readme;
mod recall;
mod recap;
mod redaction;
mod restore;
mod resume;
mod resume_budget;
mod resume_counts;
mod resume_endings;
mod resume_files;
mod resume_session;
mod resume_tasks;
mod rotation;
#[path = "../../benches/scene/mod.rs"]
mod scene;
mod schemas;
mod scope;
mod search;
mod search_ranking;
mod search_subagents;
mod secrets;
mod settings;
mod shared;
mod silent_work;
mod slices;
#[path = "../../benches/soak/mod.rs"]
mod soak;
mod start;
mod start_facts;
mod start_limits;
mod start_session;
mod state;
mod state_agents;
mod status;
mod statusline;
mod subagents;
mod support;
mod surroundings;
mod titles;
mod together;
mod transcripts;
mod trust;
mod uninstall;
mod untrusted;
mod wait;
mod waits_for;
mod watch;
mod watch_tmux;
mod wrapped;
