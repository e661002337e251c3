//! Which files a session touched, call by call, and what the user had asked for.
//!
//! A call that failed touched nothing, so a call counts once its result tells that it did not. A path is taken as seen from
//! where the session began. Who else touched a file, and when two sessions are in conflict over it, is told from
//! the touches of all of them, by [`conflict`]; what a fork copied counts once, by [`Copies`].

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Fold;
use crate::entry::{Act, Call, Entry, Facts, Id, Role, What, named};
use crate::path::absolute;
use crate::time::{HOUR, Time};

/// Two sessions that edit one file within this time are in conflict: the time for which a silent session is thought to
/// be at work.
pub const TOGETHER: i64 = HOUR;

named! {
    /// What was done to a file.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Deed {
        Created = "created",
        Edited = "edited",
        /// To another path.
        Moved = "moved",
        Deleted = "deleted",
        Read = "read",
    }
}

impl Deed {
    pub fn is_edit(self) -> bool {
        self != Deed::Read
    }
}

/// One file in one call.
#[derive(Debug, Clone)]
pub struct Touch {
    pub path: PathBuf,
    pub deed: Deed,
    pub tool: String,
    pub time: Option<Time>,
    /// The line of the transcript, from 1.
    pub line: u64,
    /// The transcript, if it is a subagent's.
    pub subagent: Option<Arc<Path>>,
    /// The newest prompt before it.
    pub prompt: Option<Arc<str>>,
    /// The same for a call and its copy in a fork; none where the client writes no ids.
    pub copy: Option<(Id, Option<Time>)>,
}

impl Touch {
    /// Whether it may still be part of a conflict.
    pub fn is_lately(&self, now: Time) -> bool {
        self.time.is_some_and(|time| now.0 - time.0 <= TOGETHER)
    }
}

/// The calls of the sessions so far. A fork repeats those of the session that it was copied from, and they count once.
#[derive(Default)]
pub struct Copies(HashSet<(Id, Option<Time>)>);

impl Copies {
    /// Those touches of one more session that none of the others made.
    pub fn own<T: Borrow<Touch>>(&mut self, mut touches: Vec<T>) -> Vec<T> {
        touches.retain(|touch| touch.borrow().copy.is_none_or(|copy| !self.0.contains(&copy)));
        self.0.extend(touches.iter().filter_map(|touch| touch.borrow().copy));
        touches
    }
}

/// The touches of one transcript.
#[derive(Default)]
pub struct Touched {
    cwd: Option<String>,
    touches: Vec<Touch>,
    /// Calls whose result is still to come.
    open: HashMap<Id, Open>,
    seen: HashSet<PathBuf>,
    /// What the user said, and when.
    prompts: Vec<(Option<Time>, Arc<str>)>,
}

struct Open {
    call: Call<'static>,
    time: Option<Time>,
    line: u64,
    prompt: Option<Arc<str>>,
    copy: Option<(Id, Option<Time>)>,
}

impl Touched {
    /// For a session that began in a directory; without one, its lines tell.
    pub fn from(cwd: Option<&str>) -> Touched {
        Touched { cwd: cwd.map(str::to_owned), ..Touched::default() }
    }

    /// What was touched so far.
    pub fn touches(&self) -> &[Touch] {
        &self.touches
    }

    pub fn finish(self) -> Vec<Touch> {
        self.touches
    }

    /// Adds what a subagent did, whose transcript is this. Its prompts are the agent's; the user's is the one before it.
    pub fn absorb(&mut self, subagent: Touched, path: &Path) {
        let path: Arc<Path> = path.into();
        for touch in subagent.touches {
            let said = self.prompts.iter().rev().find(|(time, _)| *time <= touch.time);
            let prompt = said.map(|(_, prompt)| Arc::clone(prompt));
            self.touches.push(Touch { subagent: Some(Arc::clone(&path)), prompt, ..touch });
        }
    }

    fn ended(&mut self, open: Open, replaced: bool) {
        let Open { call, time, line, prompt, copy } = open;
        let is_patch = call.detail.as_deref().is_some_and(|detail| !detail.changes.is_empty());
        for subject in call.subjects.iter().filter(|subject| !subject.is_empty() && !subject.contains("://")) {
            let path = absolute(Path::new(self.cwd.as_deref().unwrap_or_default()), subject);
            let is_new = self.seen.insert(path.clone());
            let deed = match call.change(subject, is_new, replaced) {
                _ if call.act == Act::Read => Deed::Read,
                Some((change, _)) if change.deleted => Deed::Deleted,
                Some((_, true)) => Deed::Created,
                // A patch that names it and does not change it moves it.
                None if is_patch => Deed::Moved,
                _ => Deed::Edited,
            };
            let (tool, prompt) = (call.tool.to_string(), prompt.clone());
            self.touches.push(Touch { path, deed, tool, time, line, subagent: None, prompt, copy });
        }
    }
}

impl Fold for Touched {
    fn facts(&mut self, facts: &Facts) {
        if self.cwd.is_none() {
            self.cwd = facts.cwd.as_deref().map(str::to_owned);
        }
    }

    fn entry(&mut self, entry: &Entry, line: u64) {
        if entry.renews {
            return;
        }
        match (&entry.what, entry.role) {
            (What::Text(text), Role::User) if entry.begins => self.prompts.push((entry.time, text.trim().into())),
            (What::Call(call), _) if matches!(call.act, Act::Edit | Act::Read) => {
                let prompt = self.prompts.last().map(|(_, prompt)| Arc::clone(prompt));
                let copy = entry.key.map(|key| (key, entry.time));
                let open = Open { call: call.clone().into_owned(), time: entry.time, line, prompt, copy };
                match call.id {
                    Some(id) => _ = self.open.insert(id, open),
                    // Nothing will ever tell how it ended.
                    None => self.ended(open, false),
                }
            }
            (What::Result { call: Some(id), failed, replaced, .. }, _) => {
                if let Some(open) = self.open.remove(id).filter(|open| !failed && !open.call.failed) {
                    self.ended(open, *replaced);
                }
            }
            _ => {}
        }
    }
}

/// Whether two of these edits, each by the session with this number, were made by different sessions and close together.
pub fn conflict(edits: &[(usize, Option<Time>)]) -> bool {
    let mut edits: Vec<(Time, usize)> = edits.iter().filter_map(|(session, time)| Some(((*time)?, *session))).collect();
    edits.sort_unstable();
    // Between two that are close together there is a pair of neighbours that are.
    edits.windows(2).any(|pair| pair[0].1 != pair[1].1 && pair[1].0.0 - pair[0].0.0 <= TOGETHER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::MINUTE;

    #[test]
    fn a_conflict_is_two_sessions_within_an_hour() {
        let cases: [(&[(usize, i64)], bool); 6] = [
            (&[(0, 0), (0, 1)], false),
            (&[(0, 0), (1, 60)], true),
            (&[(0, 0), (1, 61)], false),
            (&[(1, 0), (0, 30), (0, 90), (0, 150)], true),
            (&[(0, 300), (1, 0), (0, 200), (1, 261)], true),
            (&[], false),
        ];
        for (edits, wanted) in cases {
            let edits: Vec<_> = edits.iter().map(|(session, at)| (*session, Some(Time(at * MINUTE)))).collect();
            assert_eq!(conflict(&edits), wanted, "{edits:?}");
        }
    }
}
