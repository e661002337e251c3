//! Which files a session touched, call by call, and what the user had asked for.
//!
//! A call that failed touched nothing, so a call counts once its result tells that it did not. A path is taken as seen from
//! where the session began. What a fork copied counts once, by [`Copies`].
//!
//! [`Knowledge`] has the one rule for conflicts: an edit by another session is in conflict with this one if this one read or
//! edited the file before, and has not read, edited or refreshed it since.

use std::borrow::Borrow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Fold;
use super::code::{self, GitEvent};
use session_format::entry::{Act, Call, Entry, Facts, Id, Role, What, named};
use session_format::hash::{HashMap, HashSet};
use session_format::path::absolute;
use session_format::time::Time;

named! {
    /// A way to touch a file.
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

/// The last look of a session at each file that it touched.
#[derive(Debug, Default)]
pub struct Knowledge {
    files: HashMap<PathBuf, LastSeen>,
    /// When it last brought all files up to date, by git.
    refreshed: Option<Time>,
}

#[derive(Debug, Clone, Copy)]
struct LastSeen {
    /// When it last read or edited the file.
    seen: Time,
    /// Its last edit; if it only read the file, when it did.
    deed: (Act, Time),
}

impl Knowledge {
    /// Takes in something that the session did. What nobody knows the time of is left out.
    pub fn add(&mut self, path: PathBuf, act: Act, time: Option<Time>) {
        let Some(time) = time else { return };
        let known = self.files.entry(path).or_insert(LastSeen {
            seen: time,
            deed: (act, time),
        });
        known.seen = known.seen.max(time);
        let is_better = (act == Act::Edit, time) >= (known.deed.0 == Act::Edit, known.deed.1);
        known.deed = if is_better { (act, time) } else { known.deed };
    }

    pub(crate) fn refresh(&mut self, time: Option<Time>) {
        self.refreshed = self.refreshed.max(time);
    }

    /// Takes in a call that was made in a directory.
    pub fn call(&mut self, call: &Call, time: Option<Time>, cwd: &Path) {
        let time = call.ended_at.or(time);
        match call.act {
            _ if !call.is_done(false) => {}
            Act::Edit | Act::Read => {
                call.subjects
                    .iter()
                    .for_each(|path| self.add(absolute(cwd, path), call.act, time));
            }
            Act::Run => {
                if call.subjects.iter().any(|command| refreshes(command)) {
                    self.refresh(time);
                }
                changed(call).for_each(|(path, _)| self.add(absolute(cwd, &path), Act::Edit, time));
            }
            _ => {}
        }
    }

    /// The session's last deed with a file that another one has edited since, if it has not seen that. Its knowledge
    /// may be so old at the most.
    pub fn overtaken(&self, path: &Path, edited: Option<Time>, window: i64) -> Option<(Act, Time)> {
        let (known, edited) = (self.files.get(path)?, edited?);
        let is_new = known.seen < edited && self.is_unseen(edited);
        (is_new && edited.0 - known.seen.0 <= window).then_some(known.deed)
    }

    /// True if something that was done to all files at that time is news for the session.
    pub fn is_unseen(&self, time: Time) -> bool {
        self.refreshed.is_none_or(|refreshed| refreshed < time)
    }
}

/// True if a command shows its session what others changed, or brings other files in their place.
fn refreshes(command: &str) -> bool {
    let shows = |event: &GitEvent| matches!(event, GitEvent::Switched(_) | GitEvent::Moved(_));
    command.contains("git")
        && (code::shows_changes(command) || code::git_events(command).iter().any(shows))
}

/// The files that a command changed by git.
fn changed(call: &Call) -> impl Iterator<Item = (String, Deed)> {
    call.subjects
        .iter()
        .filter(|_| call.act == Act::Run)
        .flat_map(|command| code::git_changed(command))
}

/// The calls of the sessions so far. A fork repeats those of the session that it was copied from, and they count once.
#[derive(Default)]
pub struct Copies(HashSet<(Id, Option<Time>)>);

impl Copies {
    /// The touches of one more session: those that none of the others made, and those that it copied. It knows of both.
    pub fn own<T: Borrow<Touch>>(&mut self, touches: impl Iterator<Item = T>) -> (Vec<T>, Vec<T>) {
        let is_copied = |touch: &T| {
            touch
                .borrow()
                .copy
                .is_some_and(|copy| self.0.contains(&copy))
        };
        let (copied, own): (Vec<T>, Vec<T>) = touches.partition(is_copied);
        self.0
            .extend(own.iter().filter_map(|touch| touch.borrow().copy));
        (own, copied)
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
    /// When the session brought its files up to date.
    refreshed: Vec<Time>,
    /// The user's prompts, with their times.
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
        Touched {
            cwd: cwd.map(str::to_owned),
            ..Touched::default()
        }
    }

    /// The touches so far.
    pub fn touches(&self) -> &[Touch] {
        &self.touches
    }

    /// When the session brought its files up to date, by git.
    pub(crate) fn refreshed(&self) -> &[Time] {
        &self.refreshed
    }

    pub fn finish(self) -> (Vec<Touch>, Vec<Time>) {
        (self.touches, self.refreshed)
    }

    /// Adds what a subagent did, whose transcript is this. Its prompts are the agent's; the user's is the one before it.
    pub(crate) fn absorb(&mut self, subagent: Touched, path: &Path) {
        let path: Arc<Path> = path.into();
        for touch in subagent.touches {
            let said = self
                .prompts
                .iter()
                .rev()
                .find(|(time, _)| *time <= touch.time);
            let prompt = said.map(|(_, prompt)| Arc::clone(prompt));
            self.touches.push(Touch {
                subagent: Some(Arc::clone(&path)),
                prompt,
                ..touch
            });
        }
    }

    fn ended(&mut self, open: Open, replaced: bool) {
        let Open {
            call,
            time,
            line,
            prompt,
            copy,
        } = open;
        let cwd = PathBuf::from(self.cwd.as_deref().unwrap_or_default());
        let touch = |path: PathBuf, deed: Deed| {
            let (tool, prompt) = (call.tool.to_string(), prompt.clone());
            Touch {
                path,
                deed,
                tool,
                time,
                line,
                subagent: None,
                prompt,
                copy,
            }
        };
        if call.act == Act::Run {
            if call.subjects.iter().any(|command| refreshes(command)) {
                self.refreshed.extend(time);
            }
            self.touches
                .extend(changed(&call).map(|(path, deed)| touch(absolute(&cwd, &path), deed)));
            return;
        }
        let is_patch = call
            .detail
            .as_deref()
            .is_some_and(|detail| !detail.changes.is_empty());
        for subject in call
            .subjects
            .iter()
            .filter(|subject| !subject.is_empty() && !subject.contains("://"))
        {
            let path = absolute(&cwd, subject);
            let is_new = self.seen.insert(path.clone());
            let deed = match call.change(subject, is_new, replaced) {
                _ if call.act == Act::Read => Deed::Read,
                Some((change, _)) if change.deleted => Deed::Deleted,
                Some((_, true)) => Deed::Created,
                // A patch that names it and does not change it moves it.
                None if is_patch => Deed::Moved,
                _ => Deed::Edited,
            };
            self.touches.push(touch(path, deed));
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
            (What::Text(text), Role::User) if entry.begins => {
                self.prompts.push((entry.time, text.trim().into()));
            }
            (What::Call(call), _) if is_touch(call) => {
                let prompt = self.prompts.last().map(|(_, prompt)| Arc::clone(prompt));
                let copy = entry.key.map(|key| (key, entry.time));
                let open = Open {
                    call: call.clone().into_owned(),
                    time: entry.time,
                    line,
                    prompt,
                    copy,
                };
                match call.id {
                    Some(id) => _ = self.open.insert(id, open),
                    // Nothing will ever tell how it ended.
                    None => self.ended(open, false),
                }
            }
            (
                What::Result {
                    call: Some(id),
                    failed,
                    replaced,
                    ..
                },
                _,
            ) => {
                if let Some(open) = self
                    .open
                    .remove(id)
                    .filter(|open| !failed && !open.call.failed)
                {
                    // What had to be allowed first was done long after it was called.
                    let time = entry.time.or(open.time);
                    self.ended(Open { time, ..open }, *replaced);
                }
            }
            _ => {}
        }
    }
}

fn is_touch(call: &Call) -> bool {
    match call.act {
        Act::Edit | Act::Read => true,
        Act::Run => {
            call.subjects.iter().any(|command| refreshes(command)) || changed(call).next().is_some()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use session_format::time::{DAY, MINUTE};

    /// Deeds of a session with a file, minute by minute, and another session's edit.
    #[test]
    fn an_edit_is_in_conflict_until_it_is_seen() {
        const FILE: &str = "/work/a.rs";
        type Deeds = &'static [(&'static str, i64)];
        type Case = (Deeds, i64, Option<(Act, i64)>);
        let cases: [Case; 12] = [
            (&[], 10, None),
            (&[("read", 1)], 10, Some((Act::Read, 1))),
            (&[("edit", 1)], 10, Some((Act::Edit, 1))),
            (&[("edit", 1), ("read", 5)], 10, Some((Act::Edit, 1))),
            (&[("edit", 1), ("edit", 5)], 10, Some((Act::Edit, 5))),
            (&[("read", 11)], 10, None),
            (&[("edit", 1), ("read", 11)], 10, None),
            (&[("read", 1), ("edit", 11)], 10, None),
            (&[("edit", 1), ("git", 11)], 10, None),
            (&[("edit", 1), ("git", 5)], 10, Some((Act::Edit, 1))),
            (&[("edit", 1)], 1 + 24 * 60, Some((Act::Edit, 1))),
            (&[("edit", 1)], 2 + 24 * 60, None),
        ];
        for (done, edited, wanted) in cases {
            let mut knowledge = Knowledge::default();
            for (what, minute) in done {
                let time = Some(Time(minute * MINUTE));
                match *what {
                    "read" => knowledge.add(FILE.into(), Act::Read, time),
                    "edit" => knowledge.add(FILE.into(), Act::Edit, time),
                    _ => knowledge.refresh(time),
                }
            }
            let found = knowledge.overtaken(Path::new(FILE), Some(Time(edited * MINUTE)), DAY);
            assert_eq!(
                found,
                wanted.map(|(act, minute)| (act, Time(minute * MINUTE))),
                "{done:?}, {edited}"
            );
        }
    }
}
