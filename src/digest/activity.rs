//! What happened in a session since somebody last looked: a few numbers, one quotation, and the state it is in.

use std::collections::{HashMap, HashSet};

use super::asked::Asked;
use super::code;
use super::failing::Failing;
use crate::entry::{Act, Call, Entry, Id, Mark, Role, What};
use crate::time::Time;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Activity {
    /// The newest time of all that happened.
    pub time: Option<Time>,
    /// Messages that began since; a message that only went on is none.
    pub messages: u64,
    /// What the user asked, and the last thing that the agent said.
    pub asked: Asked<String>,
    pub answer: Option<String>,
    /// Distinct files in the order they were first edited, each with the last time.
    pub edited: Vec<(String, Option<Time>)>,
    pub reads: u64,
    pub runs: u64,
    pub fetches: u64,
    pub delegated: u64,
    /// Tests, builds and checks that fail.
    pub failing: Failing<String>,
    /// The agent asked something by a call, or proposed a plan, and waits.
    pub waits: bool,
    /// The last thing that happened is an error.
    pub failed: bool,
    /// Ids of the last messages, shortened, for the next look.
    pub last: Vec<u32>,
    /// Where each file stands among those that were edited.
    index: HashMap<String, usize>,
}

impl Activity {
    /// How many messages back a repetition is recognised.
    const RECENT: usize = 8;

    /// What a conversation amounts to; `last` are the messages that were counted before. None if nothing happened that
    /// is worth telling.
    pub fn of(entries: &[Entry], last: &[u32]) -> Option<Activity> {
        let mut activity = Activity { last: last.to_vec(), ..Activity::default() };
        let mut seen: HashSet<u32> = last.iter().copied().collect();
        let entries = without_dead_turns(entries);
        for (index, entry) in entries.iter().enumerate() {
            let stopped =
                entries.get(index + 1).is_some_and(|next| matches!(next.what, What::Mark(Mark::Interrupt, _)));
            activity.add(entry, stopped, &mut seen);
        }
        let excess = activity.last.len().saturating_sub(Activity::RECENT);
        activity.last.drain(..excess);
        let acted = activity.reads + activity.runs + activity.fetches + activity.delegated > 0;
        (activity.messages > 0 || acted || !activity.edited.is_empty()).then_some(activity)
    }

    /// Takes the next entry; `stopped` if the user broke it off.
    fn add(&mut self, entry: &Entry, stopped: bool, seen: &mut HashSet<u32>) {
        let said = matches!(entry.what, What::Text(_) | What::Call(_));
        let repeated = entry.key.is_some_and(|key| said && !seen.insert(key.short()));
        if repeated {
            return;
        }
        match (&entry.what, entry.role) {
            (What::Text(text), Role::User) => {
                self.messages += 1;
                self.remember(entry.key);
                self.asked.push(text, |own| own);
            }
            (What::Text(text), Role::Assistant) => {
                self.message(entry, seen);
                self.remember(entry.key);
                self.answer = Some(text.to_string());
            }
            (What::Call(call), _) => {
                if entry.message.is_some() {
                    self.message(entry, seen);
                }
                self.call(call, stopped, entry.time);
            }
            (What::Mark(Mark::Error, _), _) => {}
            _ => return,
        }
        self.failed = matches!(entry.what, What::Mark(..));
        self.waits = matches!(&entry.what, What::Call(call) if call.asks && !call.ended && !stopped);
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

    fn call(&mut self, call: &Call, stopped: bool, time: Option<Time>) {
        // Of several commands it is not known which failed; what the user refused or broke off did not fail by itself.
        let known = call.ended && !call.broken_off && !stopped && (!call.failed || call.subjects.len() == 1);
        for command in call.subjects.iter().filter(|_| known && call.act == Act::Run) {
            self.failing.ran(command, call.failed, || code::check_name(command).unwrap_or_default());
        }
        if call.failed {
            return;
        }
        match call.act {
            Act::Edit => {
                for path in &call.subjects {
                    match self.index.get(&**path).map(|index| &mut self.edited[*index]) {
                        Some((_, last)) => *last = (*last).max(time),
                        None => {
                            self.index.insert(path.to_string(), self.edited.len());
                            self.edited.push((path.to_string(), time));
                        }
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

/// Leaves out prompts that came to nothing because the user stopped the agent before it said or did anything. That it was
/// stopped stays.
fn without_dead_turns<'e, 'a>(entries: &'e [Entry<'a>]) -> Vec<&'e Entry<'a>> {
    let mut kept: Vec<&Entry> = Vec::with_capacity(entries.len());
    let mut alive = 0;
    for entry in entries {
        match (&entry.what, entry.role) {
            (What::Mark(Mark::Interrupt, _), _) => {
                kept.truncate(alive);
                kept.push(entry);
            }
            (What::Text(_), Role::Assistant) | (What::Call(_), _) => {
                kept.push(entry);
                alive = kept.len();
            }
            _ => kept.push(entry),
        }
    }
    kept
}
