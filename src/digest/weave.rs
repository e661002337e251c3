//! Entries in the order they were written become the conversation: what was written twice counts once, and a result goes
//! to its call.

use std::collections::HashMap;

use super::queue::Queue;
use crate::entry::{Call, Entry, Id, Role, What};

/// What an entry did to the conversation.
#[derive(Debug, PartialEq)]
pub enum Woven {
    /// It is new: append it.
    New(Entry<'static>),
    /// It is the same as an earlier one, now with this content.
    Again(usize, What<'static>),
    /// The call at this place failed, as this entry says.
    Failed { place: usize, entry: Entry<'static> },
    /// It says nothing new.
    Nothing,
}

/// Weaves entries one by one; places count the new ones.
#[derive(Debug, Default)]
pub struct Weaver {
    keys: HashMap<Id, usize>,
    calls: HashMap<Id, usize>,
    /// Prompts that were typed while the agent was busy: a client may write them once more when it takes them up.
    queued: Queue<String>,
    count: usize,
    /// Keep results as entries of their own.
    results: bool,
}

impl Weaver {
    pub fn keeping_results(results: bool) -> Weaver {
        Weaver { results, ..Weaver::default() }
    }

    pub fn push(&mut self, entry: Entry<'static>) -> Woven {
        if let Some(place) = entry.key.and_then(|key| self.keys.get(&key)) {
            return if entry.relisted { Woven::Nothing } else { Woven::Again(*place, entry.what) };
        }
        if self.is_queued_twin(&entry) {
            return Woven::Nothing;
        }
        match &entry.what {
            What::Result { call, failed, text, .. } if !self.results || text.is_none() => {
                return match call.and_then(|call| self.calls.get(&call)) {
                    Some(place) if *failed => Woven::Failed { place: *place, entry },
                    _ => Woven::Nothing,
                };
            }
            What::Call(Call { id: Some(id), .. }) => {
                self.calls.insert(*id, self.count);
            }
            _ => {}
        }
        self.keys.extend(entry.key.map(|key| (key, self.count)));
        self.count += 1;
        Woven::New(entry)
    }

    /// The place of the call that an entry is the outcome of, whether it failed, and whether it did not run to its end.
    fn outcome(&self, entry: &Entry) -> Option<(usize, bool, bool)> {
        match &entry.what {
            What::Result { call: Some(call), failed, denied, unclear, .. } => {
                Some((*self.calls.get(call)?, *failed, *denied || *unclear))
            }
            _ => None,
        }
    }

    fn is_queued_twin(&mut self, entry: &Entry) -> bool {
        let (What::Text(text), Role::User) = (&entry.what, entry.role) else { return false };
        self.queued.is_twin(entry.queued, text.to_string())
    }
}

/// The conversation that a sequence of entries is.
pub fn weave(entries: impl IntoIterator<Item = Entry<'static>>, results: bool) -> Vec<Entry<'static>> {
    let mut weaver = Weaver::keeping_results(results);
    let mut woven: Vec<Entry<'static>> = Vec::new();
    for entry in entries {
        let outcome = weaver.outcome(&entry);
        match weaver.push(entry) {
            Woven::New(entry) => woven.push(entry),
            Woven::Again(place, what) => renew(&mut woven[place].what, what),
            Woven::Failed { .. } | Woven::Nothing => {}
        }
        if let Some((place, failed, broken_off)) = outcome
            && let What::Call(call) = &mut woven[place].what
        {
            call.ended = true;
            call.failed |= failed;
            call.broken_off |= broken_off;
        }
    }
    woven
}

/// The later version of an entry counts, but what was known stays known.
fn renew(old: &mut What<'static>, mut new: What<'static>) {
    match (&mut *old, &mut new) {
        // The client's report of a call under another name: the call itself says more.
        (What::Call(old), What::Call(new)) if old.tool != new.tool => return,
        (What::Call(old), What::Call(new)) => {
            new.failed |= old.failed;
            new.ended |= old.ended;
            new.broken_off |= old.broken_off;
        }
        (What::Result { failed: old, text: before, .. }, What::Result { failed, text, .. }) => {
            *failed |= *old;
            *text = text.take().or(before.take());
        }
        _ => {}
    }
    *old = new;
}
