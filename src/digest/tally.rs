//! What a list says about a session, counted entry by entry. A tally can be put away and counted on from where it
//! stopped; the result is the same as counting in one go.

use serde::{Deserialize, Serialize};

use crate::entry::{Entry, Facts, Id, Mark, Role, TitleBy, Usage, What};
use crate::time::Time;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    /// The id inside the file, which may be longer than the one in its name.
    pub id: Option<String>,
    pub first_cwd: Option<String>,
    pub last_cwd: Option<String>,
    pub person_title: Option<String>,
    pub agent_title: Option<String>,
    pub first_prompt: Option<String>,
    pub model: Option<String>,
    pub started: Option<Time>,
    pub updated: Option<Time>,
    pub messages: u64,
    pub input: u64,
    pub output: u64,
    pub turn: Turn,
    pub subagent: bool,
    pub broken: u64,
    /// The last messages, so that a message spread over several lines, or written again, counts once.
    recent: Vec<(u64, u64, u64)>,
    queued: Option<u64>,
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
    const RECENT: usize = 64;
    const PROMPT: usize = 200;

    pub fn facts(&mut self, facts: &Facts) {
        if let Some(time) = facts.time {
            self.started = Some(self.started.map_or(time, |started| started.min(time)));
            self.updated = Some(self.updated.map_or(time, |updated| updated.max(time)));
        }
        let set = |place: &mut Option<String>, value: &Option<std::borrow::Cow<str>>| {
            if let Some(value) = value.as_deref().filter(|value| place.as_deref() != Some(value)) {
                *place = Some(value.to_owned());
            }
        };
        if self.id.is_none() {
            set(&mut self.id, &facts.session);
        }
        if self.first_cwd.is_none() {
            set(&mut self.first_cwd, &facts.cwd);
        }
        set(&mut self.last_cwd, &facts.cwd);
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
        let (input, output) = match message {
            None => (0, 0),
            Some(Id(id)) => {
                self.remember(id);
                let seen = self.recent.iter_mut().rev().find(|(seen, ..)| *seen == id);
                seen.map_or((0, 0), |(_, input, output)| {
                    let before = (*input, *output);
                    *input = usage.input.max(*input);
                    *output = usage.output.max(*output);
                    before
                })
            }
        };
        self.input += usage.input.saturating_sub(input);
        self.output += usage.output.saturating_sub(output);
    }

    /// Whether something with this id has not been seen lately.
    fn remember(&mut self, id: u64) -> bool {
        if self.recent.iter().any(|(seen, ..)| *seen == id) {
            return false;
        }
        if self.recent.len() == Tally::RECENT {
            self.recent.remove(0);
        }
        self.recent.push((id, 0, 0));
        true
    }

    pub fn entry(&mut self, entry: &Entry) {
        if entry.relisted {
            return;
        }
        match (&entry.what, entry.role) {
            (What::Text(text), Role::User) => self.prompt(entry, text),
            (What::Text(_), Role::Assistant) => {
                self.count(entry);
                self.turn = Turn::User;
            }
            (What::Call(_), _) => {
                if entry.message.is_some() {
                    self.count(entry);
                }
                self.turn = Turn::Agent;
            }
            (What::Result { .. }, _) => self.turn = Turn::Agent,
            (What::Mark(Mark::Error, _), _) => self.turn = Turn::Failed,
            (What::Mark(Mark::Interrupt, _), _) => self.turn = Turn::User,
            _ => {}
        }
    }

    /// A message counts once, however many lines it has.
    fn count(&mut self, entry: &Entry) {
        let id = entry.message.map(|Id(message)| Id(message).part(b'm', 0)).or(entry.key);
        if id.is_none_or(|Id(id)| self.remember(id)) {
            self.messages += 1;
        }
    }

    fn prompt(&mut self, entry: &Entry, text: &str) {
        let words = Id::of(text.as_bytes()).0;
        // A queued prompt may be written once more as an ordinary one.
        let twin = self.queued == Some(words) && !entry.queued;
        self.queued = entry.queued.then_some(words);
        if !twin {
            self.count(entry);
            self.first_prompt.get_or_insert_with(|| text.chars().take(Tally::PROMPT).collect());
        }
        self.turn = Turn::Agent;
    }

    /// What a person calls the session, in the order of who gave the title.
    pub fn title(&self) -> Option<&str> {
        let titles = [&self.person_title, &self.agent_title, &self.first_prompt];
        titles.into_iter().flatten().map(String::as_str).next()
    }
}
