//! The `[live]` table of a descriptor: what an agent leaves on disk while it runs, which says that it runs, and perhaps
//! what it is doing.
//!
//! What the keys mean is in `formats/README.md`; `session/live.rs` reads the files.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::pattern::Pattern;
use super::written::{Many, Pointer};

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Live {
    /// JSON files below a root, one for each agent that runs.
    pub files: Vec<Pattern>,
    /// The id of the session in such a file, and the process: its number, when it started, and in which namespace it
    /// has that number.
    pub session: Option<Pointer>,
    pub pid: Option<Pointer>,
    pub start: Option<Pointer>,
    pub namespace: Option<Pointer>,
    /// The words for what it is doing and what it waits for, and since when.
    pub status: Option<Pointer>,
    pub waits_for: Option<Pointer>,
    pub since: Option<Pointer>,
    /// What it calls the session: `shop-1d`.
    pub name: Option<Pointer>,
    /// The pane of tmux that it is in: `main:@1.%3`.
    pub tmux: Option<Pointer>,
    /// The meaning of the words there.
    pub words: BTreeMap<String, Status>,
    /// Files below a root that an agent keeps locked while it runs; `{id}` is the session.
    pub locks: Vec<Pattern>,
    /// An agent that runs always has such a file, if the directory of these files is there.
    pub complete: bool,
    /// It has such a file only from the first prompt on: without one, nobody is at work, but the session may be open.
    pub late_files: bool,
    /// It never asks for permission, so a call without a result runs.
    pub no_permissions: bool,
    /// Its transcript says which calls wait for permission, so any other call without a result runs.
    pub told_permissions: bool,
    /// It writes nothing when it is stopped before it says something.
    pub silent_interrupts: bool,
    /// It writes a call only when it has ended.
    pub late_calls: bool,
    /// For its hooks, if `install --live` has put ours there.
    pub hook: Option<LiveHook>,
}

/// The events at which an agent runs a hook that notes what it is doing. `[hook]` says where in the hook's input the event and
/// the session are.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LiveHook {
    /// The meaning of the events; `EVENT/KIND` is an event of one kind.
    pub events: BTreeMap<String, Status>,
    /// The kind of an event.
    #[serde(default)]
    pub kind: Many<Pointer>,
    /// The tool that an event is about, and what it is called with; of several the first that is there.
    #[serde(default)]
    pub tool: Many<Pointer>,
    #[serde(default)]
    pub subject: Many<Pointer>,
}

impl LiveHook {
    /// The names of the events, each once.
    pub fn events(&self) -> impl Iterator<Item = &str> {
        let names = self
            .events
            .keys()
            .map(|event| event.split('/').next().unwrap_or_default());
        let mut last = "";
        // They are in order.
        names.filter(move |name| std::mem::replace(&mut last, name) != *name)
    }

    pub fn meaning(&self, event: &str, kind: &str) -> Option<Status> {
        self.events
            .get(&format!("{event}/{kind}"))
            .or_else(|| self.events.get(event))
            .copied()
    }
}

/// By its own account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Working,
    /// It has answered, and waits for the next prompt.
    Ready,
    /// The same, and a command of its own still runs.
    Background,
    /// It waits for the user to allow something, to answer, or to close a dialog.
    Waiting,
    Permission,
    Question,
    Dialog,
    /// It has left the session.
    Ended,
}
