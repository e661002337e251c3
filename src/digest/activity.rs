//! What happened in a session since somebody last looked, in a few numbers and one quotation.

use std::collections::HashSet;

use crate::entry::{Act, Call, Entry, Id, Mark, Role, What};
use crate::time::Time;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Activity {
    /// The newest time of all that happened.
    pub time: Option<Time>,
    /// Messages that began since; a message that only went on is none.
    pub messages: u64,
    /// The first thing the user said, and the last thing the agent said.
    pub prompt: Option<String>,
    pub answer: Option<String>,
    /// Distinct files in the order they were first edited, each with the last time.
    pub edited: Vec<(String, Option<Time>)>,
    pub reads: u64,
    pub runs: u64,
    pub fetches: u64,
    pub delegated: u64,
    /// The last thing that happened is an error.
    pub failed: bool,
    /// Ids of the last messages, shortened, for the next look.
    pub last: Vec<u32>,
}

impl Activity {
    /// How many messages back a repetition is recognised.
    const RECENT: usize = 8;

    /// What a conversation amounts to; `last` are the messages that were counted before. None if nothing happened that
    /// is worth telling.
    pub fn of(entries: &[Entry], last: &[u32]) -> Option<Activity> {
        let mut activity = Activity { last: last.to_vec(), ..Activity::default() };
        let mut seen: HashSet<u32> = last.iter().copied().collect();
        for entry in without_dead_turns(entries) {
            activity.add(entry, &mut seen);
        }
        let excess = activity.last.len().saturating_sub(Activity::RECENT);
        activity.last.drain(..excess);
        let acted = activity.reads + activity.runs + activity.fetches + activity.delegated > 0;
        (activity.messages > 0 || acted || !activity.edited.is_empty()).then_some(activity)
    }

    fn add(&mut self, entry: &Entry, seen: &mut HashSet<u32>) {
        let said = matches!(entry.what, What::Text(_) | What::Call(_));
        let repeated = entry.key.is_some_and(|key| said && !seen.insert(key.short()));
        if repeated {
            return;
        }
        match (&entry.what, entry.role) {
            (What::Text(text), Role::User) => {
                self.messages += 1;
                self.remember(entry.key);
                self.prompt.get_or_insert_with(|| text.to_string());
                self.failed = false;
            }
            (What::Text(text), Role::Assistant) => {
                self.message(entry, seen);
                self.remember(entry.key);
                self.answer = Some(text.to_string());
                self.failed = false;
            }
            (What::Call(call), _) => {
                if entry.message.is_some() {
                    self.message(entry, seen);
                }
                self.call(call, entry.time);
                self.failed = false;
            }
            (What::Mark(Mark::Error, _), _) => self.failed = true,
            _ => return,
        }
        self.time = self.time.max(entry.time);
    }

    /// A message counts once, however many lines it has.
    fn message(&mut self, entry: &Entry, seen: &mut HashSet<u32>) {
        // Told apart from entries, whose keys may be made from the same id.
        let id = entry.message.map(|id| id.part(b'm', 0));
        if id.is_none_or(|id| seen.insert(id.short())) {
            self.messages += 1;
            self.remember(id);
        }
    }

    fn remember(&mut self, id: Option<Id>) {
        self.last.extend(id.map(Id::short));
    }

    fn call(&mut self, call: &Call, time: Option<Time>) {
        if call.failed {
            return;
        }
        match call.act {
            Act::Edit => {
                for path in &call.subjects {
                    match self.edited.iter_mut().find(|(known, _)| *known == **path) {
                        Some((_, last)) => *last = (*last).max(time),
                        None => self.edited.push((path.to_string(), time)),
                    }
                }
            }
            Act::Read | Act::Search => self.reads += 1,
            Act::Run => self.runs += 1,
            Act::Fetch => self.fetches += 1,
            Act::Delegate => self.delegated += 1,
            Act::Plan | Act::Other => {}
        }
    }
}

/// Leaves out prompts that came to nothing because the user stopped the agent before it said or did anything.
fn without_dead_turns<'e, 'a>(entries: &'e [Entry<'a>]) -> Vec<&'e Entry<'a>> {
    let mut kept: Vec<&Entry> = Vec::with_capacity(entries.len());
    let mut alive = 0;
    for entry in entries {
        match (&entry.what, entry.role) {
            (What::Mark(Mark::Interrupt, _), _) => kept.truncate(alive),
            (What::Text(_), Role::Assistant) | (What::Call(_), _) => {
                kept.push(entry);
                alive = kept.len();
            }
            _ => kept.push(entry),
        }
    }
    kept
}
