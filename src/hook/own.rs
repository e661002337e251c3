//! What the observer itself did: the end of its own transcript and of its subagents' transcripts.
//!
//! Conflicts are found by it. What cannot be read of it is said; the news of the others is told all the same.

use std::collections::HashMap;
use std::path::PathBuf;

use super::survey::Surveyor;
use crate::budget;
use crate::cursor::{Buffer, newest_lines};
use crate::entry::{Act, Entry, Role, What};
use crate::file::Unreadable;
use crate::path::absolute;
use crate::read::{Part, Transcript};
use crate::session::{Session, find};
use crate::time::Time;

/// How many of its own subagents an observer looks at.
const MOST_SUBAGENTS: usize = 20;

/// What a session has worked on: file, what it did, when.
pub type Touched = HashMap<PathBuf, (Act, Option<Time>)>;

impl Surveyor<'_, '_> {
    /// Whether the observer has not been prompted before.
    pub fn is_first_prompt(&self) -> bool {
        let is_prompt = |entry: &Entry| entry.role == Role::User && matches!(entry.what, What::Text(_));
        !self.own().entries.iter().any(is_prompt)
    }

    /// The end of the observer's own transcript.
    pub fn own(&self) -> &Part {
        // Without it, only a conflict may go untold.
        self.own.get_or_init(|| self.own_path().and_then(|path| self.end_of(path, false)).unwrap_or_default())
    }

    fn own_path(&self) -> Option<PathBuf> {
        let there = self.observer.transcript.clone().filter(|path| path.is_file());
        there.or_else(|| self.find(&self.observer.id))
    }

    /// The end of a transcript of the observer, or of one of its subagents.
    fn end_of(&self, path: PathBuf, subagent: bool) -> Option<Part> {
        let read = || {
            let transcript = Transcript::open(&path, self.observer.format.format())?.subagent(subagent);
            let size = transcript.meta.len();
            let start = newest_lines(&transcript.file, size, budget::OWN, self.deadline)?;
            transcript.part(start.unwrap_or(size), &[], &mut Buffer::default(), None)
        };
        match read() {
            Ok(part) => Some(part),
            Err(error) => {
                self.unreadable.borrow_mut().push(Unreadable { path, error });
                None
            }
        }
    }

    /// What the observer's subagents have edited lately, as far as there is time to look.
    fn own_subagents(&self) -> Vec<Entry<'static>> {
        let Some(path) = self.own_path() else { return Vec::new() };
        let (id, format) = (self.observer.id.clone(), self.observer.format);
        let own = Session { id, name: None, format, root: None, path, stamp: None };
        let mut files = find::subagents(&own, &own.id, &mut self.unreadable.borrow_mut());
        files.truncate(MOST_SUBAGENTS);
        let read = files.iter().take_while(|_| !self.deadline.is_over());
        let parts = read.filter_map(|(path, _)| self.end_of(path.clone(), true));
        let is_edit = |entry: &Entry| matches!(&entry.what, What::Call(call) if call.act == Act::Edit);
        parts.flat_map(|part| part.entries).filter(is_edit).collect()
    }

    /// The transcript of the observer's agent that has an id in its name.
    pub(super) fn find(&self, id: &str) -> Option<PathBuf> {
        let mut found = None;
        let format = std::slice::from_ref(self.observer.format);
        find::each(format, self.env, None, &mut self.unreadable.borrow_mut(), &mut |file, _| {
            if found.is_none() && file.id == Some(id) {
                found = Some(file.session(None).path);
            }
        });
        found
    }

    /// What the observer has read and edited lately.
    pub fn own_files(&self) -> Touched {
        let mut touched = Touched::new();
        for entry in self.own().entries.iter().chain(&self.own_subagents()) {
            let What::Call(call) = &entry.what else { continue };
            if call.failed || !matches!(call.act, Act::Edit | Act::Read) {
                continue;
            }
            for path in &call.subjects {
                let place = touched.entry(absolute(&self.env.cwd, path)).or_insert((call.act, entry.time));
                // That it edited a file says more than that it read it afterwards.
                if (call.act == Act::Edit && entry.time >= place.1) || place.0 != Act::Edit {
                    *place = (call.act, entry.time);
                }
            }
        }
        touched
    }
}
