//! What a list says about a session, counted entry by entry. A tally can be put away and counted on from where it
//! stopped; the result is the same as counting in one go. A message that is written again counts once if it is one of the
//! last few; what was said long ago and is copied whole is counted as said again.

use serde::{Deserialize, Serialize};

use super::asked::Asked;
use super::queue::Queue;
use super::text::ends_of;
use crate::entry::{Entry, Facts, Id, Mark, Role, TitleBy, Usage, What};
use crate::time::Time;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    /// The id inside the file, which may be longer than the one in its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_cwd: Option<String>,
    /// Another directory of its project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Where it went from there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person_title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_title: Option<String>,
    /// What the user last asked.
    #[serde(skip_serializing_if = "is_default")]
    pub asked: Asked<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub started: Option<Time>,
    pub updated: Option<Time>,
    pub messages: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub input: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub output: u64,
    pub turn: Turn,
    #[serde(skip_serializing_if = "is_default")]
    pub subagent: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub broken: u64,
    /// Prompts that have not been looked at yet.
    #[serde(skip)]
    prompts: Vec<String>,
    /// Needed only to count on, so it is put away separately.
    #[serde(skip)]
    pub seen: Seen,
}

/// What was counted last, so that a message spread over several lines, or written again, counts once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    messages: Vec<u32>,
    /// What has been counted of the last messages that told their usage: id, input, output.
    used: Vec<(u32, u64, u64)>,
    #[serde(default, skip_serializing_if = "is_default")]
    queued: Queue<u32>,
    /// Something was said other than in a list of what was said.
    #[serde(default, skip_serializing_if = "is_default")]
    direct: bool,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Whose turn it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Turn {
    /// Nobody has said anything.
    #[default]
    None,
    /// The agent is at work: a prompt, a call or a result came last.
    Agent,
    /// The agent has answered, or was interrupted.
    User,
    /// The last thing that happened is an error.
    Failed,
}

impl Tally {
    /// How many messages back a repetition is recognised.
    const RECENT: usize = 6;
    const USED: usize = 2;
    const PROMPT: usize = 120;
    const PROMPTS: usize = 64;

    pub fn facts(&mut self, facts: &Facts) {
        if let Some(time) = facts.time {
            self.started = Some(self.started.map_or(time, |started| started.min(time)));
        }
        let set = |place: &mut Option<String>, value: &Option<std::borrow::Cow<str>>| {
            if let Some(value) = value.as_deref().filter(|value| place.as_deref() != Some(value)) {
                *place = Some(value.to_owned());
            }
        };
        if self.id.is_none() {
            set(&mut self.id, &facts.session);
        }
        match (&self.first_cwd, &facts.cwd) {
            (None, Some(_)) => set(&mut self.first_cwd, &facts.cwd),
            (Some(first), Some(cwd)) if *first == **cwd => self.last_cwd = None,
            _ => set(&mut self.last_cwd, &facts.cwd),
        }
        set(&mut self.project, &facts.project);
        set(&mut self.model, &facts.model);
        if let Some((by, title)) = &facts.title {
            let place = match by {
                TitleBy::Person => &mut self.person_title,
                TitleBy::Agent => &mut self.agent_title,
            };
            *place = Some(title.trim().to_owned()).filter(|title| !title.is_empty());
        }
        self.subagent |= facts.subagent;
        if let Some(usage) = facts.usage {
            self.usage(usage, facts.message);
        }
    }

    fn usage(&mut self, usage: Usage, message: Option<Id>) {
        if usage.total {
            self.input = self.input.max(usage.input);
            self.output = self.output.max(usage.output);
            return;
        }
        // Lines of one message repeat its usage, and early ones may hold less.
        let id = message.map(Id::short);
        let known = self.seen.used.iter().position(|(used, ..)| Some(*used) == id);
        let (_, input, output) = known.map(|index| self.seen.used.remove(index)).unwrap_or_default();
        self.input = self.input.saturating_add(usage.input.saturating_sub(input));
        self.output = self.output.saturating_add(usage.output.saturating_sub(output));
        if let Some(id) = id {
            self.seen.used.push((id, usage.input.max(input), usage.output.max(output)));
            let excess = self.seen.used.len().saturating_sub(Tally::USED);
            self.seen.used.drain(..excess);
        }
    }

    /// Whether something with this id has not been seen lately.
    fn remember(&mut self, id: u32) -> bool {
        if self.seen.messages.contains(&id) {
            return false;
        }
        if self.seen.messages.len() == Tally::RECENT {
            self.seen.messages.remove(0);
        }
        self.seen.messages.push(id);
        true
    }

    pub fn entry(&mut self, entry: &Entry) {
        // What is listed again was counted before, unless nothing was: then this is all there is.
        if entry.relisted && self.seen.direct {
            return;
        }
        self.seen.direct |= !entry.relisted;
        if entry.is_activity() {
            self.updated = self.updated.max(entry.time);
        }
        match (&entry.what, entry.role) {
            (What::Text(text), Role::User) => self.prompt(entry, text),
            (What::Text(_), Role::Assistant) => {
                self.count(entry.message.or(entry.key));
                self.turn = Turn::User;
            }
            (What::Call(call), _) => {
                // Where a call is no part of a message, it is none of its own.
                if entry.message.is_some() {
                    self.count(entry.message);
                }
                self.turn = if call.asks { Turn::User } else { Turn::Agent };
            }
            (What::Result { .. }, _) => self.turn = Turn::Agent,
            (What::Mark(Mark::Error, _), _) => self.turn = Turn::Failed,
            (What::Mark(Mark::Interrupt, _), _) => self.turn = Turn::User,
            _ => {}
        }
    }

    /// A message counts once, however many lines it has; one without an id is told from no other.
    fn count(&mut self, id: Option<Id>) {
        if id.is_none_or(|id| self.remember(id.short())) {
            self.messages += 1;
        }
    }

    fn prompt(&mut self, entry: &Entry, text: &str) {
        let words = Id::of(text.as_bytes()).short();
        // A queued prompt may be written once more as an ordinary one.
        if !self.seen.queued.is_twin(entry.queued, words) {
            self.count(entry.key);
            self.prompts.push(ends_of(text));
            if self.prompts.len() >= Tally::PROMPTS {
                self.settle();
            }
        }
        self.turn = Turn::Agent;
    }

    /// Finds out what was last asked. Done once after many prompts, because looking at each costs more than reading it.
    pub fn settle(&mut self) {
        let prompts = std::mem::take(&mut self.prompts);
        self.asked.push_all(&prompts, |own| match own.char_indices().nth(Tally::PROMPT) {
            Some((cut, _)) => format!("{}…", own[..cut].trim_end()),
            None => own,
        });
    }

    /// The working directory: where the session is now, or was last.
    pub fn cwd(&self) -> Option<&str> {
        self.last_cwd.as_deref().or(self.first_cwd.as_deref())
    }

    /// All directories that say which project it belongs to: where it began, and where it is.
    pub fn cwds(&self) -> impl Iterator<Item = &str> {
        [&self.first_cwd, &self.last_cwd, &self.project].into_iter().flatten().map(String::as_str)
    }

    /// What a person calls the session: the title somebody gave it, else what was last asked.
    pub fn title(&self) -> Option<&str> {
        let given = self.person_title.as_ref().or(self.agent_title.as_ref());
        given.or(self.asked.best()).map(String::as_str)
    }
}
