//! What counts once: the only code that knows a repetition.
//!
//! Clients write one message over several lines, append it again in full, list the whole conversation again, copy the
//! beginning of another session, and write a queued prompt once more when the agent takes it up. [`Once`] reads all of
//! that in the order of the file and lets through what is new. Whoever counts what it lets through needs no memory of
//! its own, and all who count agree. [`Conversation`] keeps what was let through, each result with its call.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use session_format::entry::{
    ById, Call, Entry, Facts, Id, Ids, Mark, Position, Role, TitleBy, What,
};
use session_format::time::Time;

/// The memory of everything that may be repeated. It can be put away and taken up again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Once {
    /// The messages that were read, and the entries that belong to none. Not results: those are known by their calls.
    known: Ids,
    /// Calls that have no result yet.
    open: Ids,
    /// The last messages, which may go on.
    recent: VecDeque<Message>,
    /// Tokens that were counted where the client sums up those of the session.
    total: (u64, u64),
    /// Prompts that wait for the agent, the oldest first: hashes of what they say.
    queued: Vec<Id>,
    /// The last lines that were read, where titles name the line they are about: that is the last one at the time.
    lines: VecDeque<Id>,
    /// Titles about lines that have not come yet. Those of other sessions wait forever.
    titles: ById<String>,
    /// Something was said other than in a list of what was said.
    direct: bool,
    /// Reading began in the middle of the file, after messages with these short ids.
    #[serde(skip)]
    middle: bool,
    #[serde(skip)]
    before: Vec<u32>,
    /// Ids of everything that other sessions of the family said.
    #[serde(skip)]
    others: Ids,
    #[serde(skip)]
    family: Option<Family>,
}

/// A message, and what was counted of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Message {
    id: Id,
    /// It was written long ago, or in another session, and is written again: nothing more counts of it.
    again: bool,
    begun: bool,
    entries: Ids,
    /// Tokens.
    used: (u64, u64),
}

/// The first entry of a session. A fork begins with a copy of it, so both are of one family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Family(Id, Option<Time>);

impl Once {
    /// So many messages may be written in turns, and so many prompts may wait.
    const RECENT: usize = 16;
    const QUEUED: usize = 32;
    /// A title may be about a line so far back.
    const LINES: usize = 256;
    /// A look remembers so many messages for the next.
    const LAST: usize = 8;
    /// So many titles may wait for their lines.
    const TITLES: usize = 256;

    /// For a file that is read from a position on; `last` are the messages before it, as [`last_messages`] has them.
    pub fn from(position: Position, last: &[u32]) -> Once {
        Once {
            middle: !position.is_start(),
            before: last.to_vec(),
            ..Once::default()
        }
    }

    /// For a session of a family, of which others have said these things.
    pub fn after(others: Ids) -> Once {
        Once {
            others,
            ..Once::default()
        }
    }

    /// Ids of everything that this session and the others of its family said.
    pub fn into_ids(mut self) -> Ids {
        self.others.extend(self.known);
        self.others
    }

    pub fn family(&self) -> Option<Family> {
        self.family
    }

    /// Takes what a line says about the session. Leaves of its tokens what was not counted before, and a title only once the
    /// line that it is about was read.
    pub fn facts(&mut self, facts: &mut Facts) {
        self.title(facts);
        let Some(usage) = &mut facts.usage else {
            return;
        };
        let all = usage.input.saturating_add(usage.output);
        usage.context = usage.context.or(Some(all).filter(|_| !usage.total));
        let used = match facts.message {
            _ if usage.total => &mut self.total,
            Some(message) => &mut self.message(message).used,
            None => return,
        };
        // Lines of one message repeat its tokens, and early ones may hold less.
        let (input, output) = *used;
        *used = (usage.input.max(input), usage.output.max(output));
        (usage.input, usage.output) = (
            usage.input.saturating_sub(input),
            usage.output.saturating_sub(output),
        );
    }

    fn title(&mut self, facts: &mut Facts) {
        if let Some(line) = facts.line {
            if self.lines.len() == Once::LINES {
                self.lines.pop_front();
            }
            self.lines.push_back(line);
            let waiting = if self.titles.is_empty() {
                None
            } else {
                self.titles.remove(&line)
            };
            facts.title = facts
                .title
                .take()
                .or(waiting.map(|title| (TitleBy::Agent, title.into())));
        }
        // From the middle of a file, nobody knows which lines came before.
        if let Some(leaf) = facts
            .leaf
            .filter(|leaf| !self.middle && !self.lines.contains(leaf))
            && let Some((_, title)) = facts.title.take()
            && self.titles.len() < Once::TITLES
        {
            self.titles.insert(leaf, title.into_owned());
        }
    }

    fn message(&mut self, id: Id) -> &mut Message {
        let index = self
            .recent
            .iter()
            .rposition(|message| message.id == id)
            .unwrap_or_else(|| {
                let begun = !self.before.is_empty() && self.before.contains(&short_message(id));
                let again = self.others.contains(&id) || !self.known.insert(id);
                let used = if again { (u64::MAX, u64::MAX) } else { (0, 0) };
                // The memory of the oldest is used again.
                let oldest = if self.recent.len() == Once::RECENT {
                    self.recent.pop_front()
                } else {
                    None
                };
                let mut entries = oldest.unwrap_or_default().entries;
                entries.clear();
                self.recent.push_back(Message {
                    id,
                    again,
                    begun,
                    entries,
                    used,
                });
                self.recent.len() - 1
            });
        &mut self.recent[index]
    }

    /// Takes the first entry as the mark of the family; says whether an entry was copied from another session of it.
    pub(crate) fn find_copy(&mut self, entry: &Entry) -> bool {
        let Some(key) = entry.key else { return false };
        self.family.get_or_insert(Family(key, entry.time));
        self.others.contains(&entry.message.unwrap_or(key))
    }

    /// True if an entry counts; then it knows whether a message begins with it. A prompt that was queued, and is
    /// written again now that the agent takes it up, begins none.
    pub fn entry(&mut self, entry: &mut Entry) -> bool {
        // What a line lists again was said further up, unless this is all there is.
        if entry.relisted && (self.direct || self.middle) {
            return false;
        }
        self.direct |= !entry.relisted;
        if entry
            .key
            .is_some_and(|key| self.before.contains(&key.short()))
        {
            return false;
        }
        entry.renews = match entry.what {
            What::Result { call, .. } => {
                !call.is_some_and(|call| self.open.remove(&call)) && !self.middle
            }
            _ => !self.is_new(entry),
        };
        if entry.renews {
            return !entry.relisted;
        }
        entry.begins = match (&entry.what, entry.role) {
            (What::Text(text), Role::User) => !self.was_queued(entry.queued, text),
            (What::Text(_), Role::Assistant) => {
                entry.message.is_none_or(|message| self.is_first(message))
            }
            (What::Call(call), _) => {
                self.open.extend(call.id);
                // Where a call is no part of a message, it is none of its own.
                entry.message.is_some_and(|message| self.is_first(message))
            }
            _ => false,
        };
        true
    }

    fn is_new(&mut self, entry: &Entry) -> bool {
        let (again, known) = match entry.message.map(|id| self.message(id)) {
            Some(message) => (message.again, &mut message.entries),
            None => (false, &mut self.known),
        };
        !again && entry.key.is_none_or(|key| known.insert(key))
    }

    fn is_first(&mut self, message: Id) -> bool {
        !std::mem::replace(&mut self.message(message).begun, true)
    }

    /// Recognises a prompt that was queued before. Any other prompt means that the queue is done with.
    fn was_queued(&mut self, queued: bool, text: &str) -> bool {
        if !queued && self.queued.is_empty() {
            return false;
        }
        let prompt = Id::of(text.as_bytes());
        if queued {
            let excess = (self.queued.len() + 1).saturating_sub(Once::QUEUED);
            self.queued.drain(..excess);
            self.queued.push(prompt);
            return false;
        }
        let index = self.queued.iter().position(|known| *known == prompt);
        self.queued
            .drain(..index.map_or(self.queued.len(), |index| index + 1));
        index.is_some()
    }
}

/// The short id of a message, told apart from those of entries, whose keys may be made from the same id.
fn short_message(message: Id) -> u32 {
    message.part(b'm', 0).short()
}

/// The short ids of the last messages, for a look that goes on from here; `before` are those of the look before.
pub(crate) fn last_messages(before: &[u32], entries: &[Entry]) -> Vec<u32> {
    let said = entries.iter().flat_map(|entry| {
        let message = entry.message.filter(|_| entry.begins).map(short_message);
        let text = entry
            .key
            .filter(|_| matches!(entry.what, What::Text(_)) && entry.role != Role::System);
        [message, text.map(Id::short)].into_iter().flatten()
    });
    let mut last: Vec<u32> = before.iter().copied().chain(said).collect();
    last.drain(..last.len().saturating_sub(Once::LAST));
    last
}

/// Fingerprint of something said or called, or of an error, which only copies of it share, also in other files. Where a client writes no
/// ids, the time has to do. None for what has neither.
pub fn fingerprint(entry: &Entry) -> Option<Id> {
    let text = match &entry.what {
        What::Text(text) | What::Mark(Mark::Error, text) => text,
        What::Call(call) => &call.tool,
        _ => return None,
    };
    let id = entry.key.map(|key| key.0).or(entry.time.map(|_| 0))?;
    let time = entry.time.map_or(0, |time| time.0);
    Some(Id::of(
        &[&id.to_le_bytes(), &time.to_le_bytes(), text.as_bytes()].concat(),
    ))
}

/// Leaves out what is older; says whether there was any. What has no time has that of what came before it.
pub fn drop_old(entries: &mut Vec<Entry>, after: Time, otherwise: Time) -> bool {
    let count = entries.len();
    let mut time = None;
    entries.retain(|entry| {
        time = entry.time.or(time);
        // A call is as new as its result.
        let ended = if let What::Call(call) = &entry.what {
            call.ended_at
        } else {
            None
        };
        ended.max(time).unwrap_or(otherwise) >= after
    });
    entries.len() < count
}

/// All that was let through, in order. A result goes to its call, and a later version into the place of the first. A call
/// from before the first entry stands here once more, renewed, when its result comes.
#[derive(Debug, Default)]
pub struct Conversation {
    pub entries: Vec<Entry<'static>>,
    /// Keep results as entries of their own, too.
    results: bool,
    /// Calls from before the first entry that have no result yet.
    earlier: OpenCalls,
    /// Which of the entries has a key, and which is a call.
    by_key: ById<usize>,
    by_call: ById<usize>,
    /// Bytes of all texts.
    pub size: u64,
}

pub type OpenCalls = ById<Call<'static>>;

impl Conversation {
    pub fn new(results: bool, earlier: OpenCalls) -> Conversation {
        Conversation {
            results,
            earlier,
            ..Conversation::default()
        }
    }

    pub fn take(&mut self, entry: Entry<'static>) {
        match &entry.what {
            What::Result {
                call,
                failed,
                denied,
                unclear,
                text,
                ..
            } => {
                let id = call.unwrap_or_default();
                let keeps = self.results && text.is_some();
                let known = self
                    .by_call
                    .get(&id)
                    .and_then(|index| self.entries.get_mut(*index));
                if let Some(Entry {
                    what: What::Call(call),
                    ..
                }) = known
                {
                    call.end(entry.time, *failed, *denied, *unclear);
                } else if let Some(mut call) = self.earlier.remove(&id) {
                    call.end(entry.time, *failed, *denied, *unclear);
                    let what = What::Call(call);
                    let ended = Entry {
                        role: Role::Assistant,
                        what,
                        renews: true,
                        ..entry.clone()
                    };
                    self.size += ended.size();
                    self.entries.push(ended);
                }
                if !keeps {
                    return;
                }
            }
            What::Call(Call { id: Some(id), .. }) if !entry.renews => {
                // One that is known by its key goes into the place of the first.
                let known = entry.key.and_then(|key| self.by_key.get(&key).copied());
                self.by_call
                    .insert(*id, known.unwrap_or(self.entries.len()));
            }
            _ if entry.is_taken_up() => return,
            _ => {}
        }
        match entry.key.and_then(|key| self.by_key.get(&key)) {
            Some(index) => {
                let known = &mut self.entries[*index];
                self.size = self.size.saturating_sub(known.size());
                renew(&mut known.what, entry.what);
                self.size += known.size();
            }
            // It renews something from before the first entry here; but a first result may have had no text.
            None if entry.renews && !matches!(entry.what, What::Result { .. }) => {}
            None => {
                self.by_key
                    .extend(entry.key.map(|key| (key, self.entries.len())));
                self.size += entry.size();
                self.entries.push(entry);
            }
        }
    }

    /// Drops the oldest entries until no more than so many bytes of texts are left, but never the last entry; says whether
    /// there were any to drop.
    pub(crate) fn keep_newest(&mut self, most: u64) -> bool {
        let mut dropped = 0;
        while self.size > most && dropped + 1 < self.entries.len() {
            self.size = self.size.saturating_sub(self.entries[dropped].size());
            dropped += 1;
        }
        self.forget(dropped);
        dropped > 0
    }

    /// Drops so many of the oldest entries.
    pub(super) fn forget(&mut self, dropped: usize) {
        self.entries.drain(..dropped);
        for at in [&mut self.by_key, &mut self.by_call] {
            at.retain(|_, index| *index >= dropped);
            at.values_mut().for_each(|index| *index -= dropped);
        }
    }

    /// The entries, and the calls that have no result yet.
    pub fn finish(self) -> (Vec<Entry<'static>>, OpenCalls) {
        let mut open = self.earlier;
        open.extend(self.entries.iter().filter_map(|entry| match &entry.what {
            What::Call(call) if !call.ended => Some((call.id?, call.clone())),
            _ => None,
        }));
        (self.entries, open)
    }
}

/// The later version of an entry counts, but what was known stays known.
pub(super) fn renew(old: &mut What<'static>, mut new: What<'static>) {
    match (&mut *old, &mut new) {
        // The client's report of a call under another name: the call itself says more.
        (What::Call(old), What::Call(new)) if old.tool != new.tool => return,
        (What::Call(old), What::Call(new)) => {
            new.failed |= old.failed;
            new.ended |= old.ended;
            new.ended_at = new.ended_at.or(old.ended_at);
            new.denied |= old.denied;
            new.broken_off |= old.broken_off;
        }
        (
            What::Result {
                failed: old,
                text: before,
                ..
            },
            What::Result { failed, text, .. },
        ) => {
            *failed |= *old;
            *text = text.take().or(before.take());
        }
        _ => {}
    }
    *old = new;
}
