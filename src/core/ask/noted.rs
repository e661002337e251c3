//! The sessions that the user noted something about. An id in a notes file may be shortened, and its session may be gone.

use super::Asker;
use super::list::sessions;
use crate::file::Unreadable;
use crate::session::index::Listed;
use crate::session::{Session, find};
use crate::state::notes::is_same;

/// All sessions there are, to find noted ones among.
pub struct NotedSessions<'f> {
    listed: Vec<Listed<'f>>,
    /// Also sessions in which nobody said anything, and those that cannot be read.
    files: Vec<Session<'f>>,
    /// One that is missing may be in one of these.
    pub unreadable: Vec<Unreadable>,
}

/// A session that an id in the notes file stands for, or why there is nothing to show.
pub struct Noted<'m, 'f> {
    /// As it is written.
    pub id: &'m str,
    pub found: Result<&'m Listed<'f>, Missing>,
}

impl<'f> NotedSessions<'f> {
    pub fn read(asker: Asker<'_, 'f>) -> NotedSessions<'f> {
        let (listed, unreadable) = sessions(asker);
        // The list has already found what is wrong with the directories.
        let (files, _) = find::sessions(asker.formats, asker.env, false, &mut Vec::new());
        NotedSessions {
            listed,
            files,
            unreadable,
        }
    }

    /// The sessions that some ids stand for, the newest first. A shortened id may stand for several.
    pub fn noted<'m>(&'m self, ids: &[&'m str]) -> Vec<Noted<'m, 'f>> {
        let is = |id: &str, listed: &Listed| is_same(id, &listed.session.id);
        let known = self
            .listed
            .iter()
            .filter(|listed| ids.iter().any(|id| is(id, listed)));
        let known = known.map(|listed| Noted {
            id: &listed.session.id,
            found: Ok(listed),
        });
        let others = ids
            .iter()
            .filter(|id| !self.listed.iter().any(|listed| is(id, listed)));
        known
            .chain(others.map(|id| Noted {
                id,
                found: Err(self.why_missing(id)),
            }))
            .collect()
    }

    fn why_missing(&self, id: &str) -> Missing {
        match self.files.iter().find(|file| is_same(id, &file.id)) {
            None => Missing::Gone,
            Some(file)
                if self
                    .unreadable
                    .iter()
                    .any(|unreadable| file.path == unreadable.path) =>
            {
                Missing::Unreadable
            }
            Some(_) => Missing::Silent,
        }
    }
}

/// Why there is nothing to show of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    Gone,
    Unreadable,
    /// Nothing was said in it.
    Silent,
}
