//! Which sessions there are, and which one is meant.
//!
//! Which file uses which:
//! ```text
//! beside, ids, subagent ──▶ find
//! called ──▶ index, live, row
//! digest ──▶ index
//! choose ──▶ called, find, home, ids, index, last, subagent, trust
//! conflicts ──▶ find, index
//! home ──▶ find, trust
//! index ──▶ beside, find, home, ids, live, project, row, state, trust
//! last ──▶ ids, index, project, stopped
//! live ──▶ find, ids
//! place ──▶ live
//! state ──▶ live
//! stopped, trust ──▶ find, project
//! ```
//!
//! An error of the file system is returned with its path. It never means "there is none".

pub mod beside;
pub mod called;
pub mod choose;
pub mod conflicts;
pub mod digest;
pub mod find;
pub mod home;
pub mod ids;
pub mod index;
pub mod last;
pub mod live;
pub mod place;
mod project;
mod row;
pub mod state;
pub mod stopped;
pub mod subagent;
pub mod trust;

pub use home::Home;
pub use ids::{NO_ID, is_id};
pub use project::{Members, Project, checkout, is_away};
pub use state::{State, StateKind};

use std::io;

use crate::dir::{ListedPath, ListedText};
use crate::file::Stamp;
use crate::formats::AgentFormat;
use crate::read::Transcript;
use session_format::format::descriptor::Root;

/// A session: where its transcript is, and what it is called.
#[derive(Debug, Clone)]
pub struct Session<'f> {
    pub id: ListedText,
    /// Its name in a named home.
    pub name: Option<String>,
    pub format: &'f AgentFormat,
    /// The root it was found under; none for a file given by path.
    pub root: Option<&'f Root>,
    pub path: ListedPath,
    /// The stamp of the file when it was found, if that was asked for.
    pub stamp: Option<Stamp>,
}

impl<'f> Session<'f> {
    pub fn new(
        id: impl Into<ListedText>,
        format: &'f AgentFormat,
        root: Option<&'f Root>,
        path: impl Into<ListedPath>,
    ) -> Session<'f> {
        Session {
            id: id.into(),
            name: None,
            format,
            root,
            path: path.into(),
            stamp: None,
        }
    }

    /// Opens the transcript.
    pub fn open(&self) -> io::Result<Transcript<'f>> {
        Transcript::open(&self.path, self.format.format())
    }

    /// The size of its file when it was found.
    pub fn size(&self) -> u64 {
        self.stamp.map_or(0, |stamp| stamp.size)
    }

    /// The roots that it may lie under.
    fn roots(&self) -> &'f [Root] {
        self.root
            .map_or(&self.format.head().roots, std::slice::from_ref)
    }

    /// True if an id is this session's.
    pub fn has_id(&self, id: &str) -> bool {
        ids::is_same(&self.id, id)
    }

    /// Its whole id: the one inside its file, of which the file name may have only the beginning.
    pub fn whole_id<'i>(&'i self, inside: Option<&'i str>) -> &'i str {
        inside
            .filter(|id| id.starts_with(&*self.id) && is_id(id))
            .unwrap_or_else(|| &self.id)
    }
}
