//! What the observer itself did: the end of its own transcript and of its subagents' transcripts.
//!
//! Conflicts are found by it. What cannot be read of it is said; the news of the others is told all the same. Most news has
//! nothing to do with it, which [`Overlap`] tells without decoding it.

use std::io;
use std::path::{Path, PathBuf};

use super::news::{Candidate, New};
use super::overlap::Overlap;
use super::survey::Surveyor;
use crate::budget;
use crate::entry::{Act, Entry, Role, What};
use crate::file::{self, Unreadable};
use crate::fold::Knowledge;
use crate::read::{Part, Transcript};
use crate::session::conflicts::SUBAGENTS;
use crate::session::{Session, find};

impl<'f> Surveyor<'_, 'f> {
    /// Whether the observer has not been prompted before.
    pub fn is_first_prompt(&self) -> bool {
        let is_prompt = |entry: &Entry| entry.role == Role::User && matches!(entry.what, What::Text(_));
        !self.own().entries.iter().any(is_prompt)
    }

    /// The end of the observer's own transcript.
    pub fn own(&self) -> &Part {
        // Without it, only a conflict may go untold.
        let read = || self.own_session().and_then(|own| self.end_of(own.path.to_path_buf(), false));
        self.cache.own.get_or_init(|| read().unwrap_or_default())
    }

    /// The same, or nothing if it has nothing in common with the news.
    pub fn own_for_news(&self) -> &Part {
        if self.cache.overlaps.get() == Some(&false) { &self.cache.nothing } else { self.own() }
    }

    /// Finds out whether the observer's own transcript may have anything in common with what was read.
    pub(super) fn compare(&self, readings: &[(Candidate, New)]) {
        let mut overlap = Overlap::default();
        for (candidate, New { part, after, .. }) in readings {
            let cwd = after.cwd.as_deref().map_or(&*self.env.cwd, Path::new);
            overlap.add(&part.entries, after.title.as_deref(), cwd);
            // Its session has a title that is found out later.
            overlap.unclear |= candidate.subagent;
        }
        // What is wrong with the file is said by whoever decodes it.
        let _ = self.cache.overlaps.set(self.has(overlap).unwrap_or(true));
    }

    fn has(&self, overlap: Overlap) -> io::Result<bool> {
        let known = self.observer.format;
        // How a user's descriptor comes by times and paths is not known.
        let Some(own) = self.own_session().filter(|_| known.file.is_none()) else { return Ok(true) };
        let format = known.format();
        let mut keys = Vec::new();
        format.line.root.names(&format.keys.time, &mut keys);
        let search = overlap.search(&keys, &self.env.cwd);
        if search.is_pointless() {
            return Ok(true);
        }
        let transcript = Transcript::open(&own.path, format)?;
        let Some(start) = transcript.source.newest(budget::OWN, self.deadline)? else { return Ok(true) };
        let mut buffer = self.cache.buffer.borrow_mut();
        let mut chunks = transcript.source.chunks(start, &mut buffer);
        while let Some(chunk) = chunks.next_chunk()? {
            if search.finds(chunk) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The observer as a session, if it has a transcript by now.
    pub(super) fn own_session(&self) -> Option<&Session<'f>> {
        let is_file = |path: &&PathBuf| {
            let meta = Unreadable::noted(file::stat(path), &mut self.cache.unreadable.borrow_mut());
            meta.is_some_and(|meta| meta.is_file())
        };
        let path = || self.observer.transcript.as_ref().filter(is_file).or_else(|| self.ids().own.as_ref());
        let session = || Some(Session::new(&self.observer.id, self.observer.format, None, path()?.clone()));
        self.cache.own_session.get_or_init(session).as_ref()
    }

    /// The end of a transcript of the observer, or of one of its subagents.
    fn end_of(&self, path: PathBuf, subagent: bool) -> Option<Part> {
        let read = || {
            let transcript = Transcript::open(&path, self.observer.format.format())?.subagent(subagent);
            transcript.end_part(budget::OWN, self.deadline, &mut self.cache.buffer.borrow_mut())
        };
        match read() {
            Ok(part) => Some(part),
            Err(error) => {
                self.cache.unreadable.borrow_mut().push(Unreadable { path, error });
                None
            }
        }
    }

    /// What the observer's subagents have edited lately, as far as there is time to look.
    fn own_subagents(&self) -> Vec<Entry<'static>> {
        let Some(own) = self.own_session() else { return Vec::new() };
        let mut files = find::subagents(own, &own.id, &mut self.cache.unreadable.borrow_mut());
        files.truncate(SUBAGENTS);
        let read = files.iter().take_while(|_| !self.deadline.is_over());
        let parts = read.filter_map(|(path, _)| self.end_of(path.clone(), true));
        // What it only read, its session does not know.
        let is_edit = |entry: &Entry| matches!(&entry.what, What::Call(call) if call.act == Act::Edit);
        parts.flat_map(|part| part.entries).filter(is_edit).collect()
    }

    /// How up to date the observer is on the files that it and its subagents touched lately.
    pub fn own_knowledge(&self) -> Knowledge {
        let mut knowledge = Knowledge::default();
        for entry in self.own_for_news().entries.iter().chain(&self.own_subagents()) {
            if let What::Call(call) = &entry.what {
                knowledge.call(call, entry.time, &self.env.cwd);
            }
        }
        knowledge
    }
}
