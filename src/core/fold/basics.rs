//! What lines say about their session: its id, directories, titles and model, when it began, and the tokens it took.
//!
//! One fold for the list, `resume` and the hook, so that all of them call a session by the same title. What counts once
//! is `read::once`'s business: the tokens that arrive here are only added up.

use serde::{Deserialize, Serialize};

use super::origin::origin;
use session_format::entry::{Entry, Facts, Role, TitleBy, What};
use session_format::time::Time;

/// With texts of its own, or with those that a cache has.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Basics<S = String> {
    /// The id inside the file, which may be longer than the one in its name.
    pub id: Option<S>,
    /// The directory it began in.
    pub first_cwd: Option<S>,
    /// The directory it went to from there.
    pub last_cwd: Option<S>,
    /// Another directory of its project.
    pub project: Option<S>,
    pub person_title: Option<S>,
    pub agent_title: Option<S>,
    pub model: Option<S>,
    pub started: Option<Time>,
    /// When somebody last said or did something.
    pub updated: Option<Time>,
    pub input: u64,
    pub output: u64,
    /// Tokens in the last request, and the most that the model takes.
    pub context: Option<u64>,
    pub window: Option<u64>,
    pub subagent: bool,
    /// The session that this one continues, with its agent: `claude:1111…`.
    pub origin: Option<S>,
    /// Somebody or something has prompted it.
    pub prompted: bool,
}

impl<S> Basics<S> {
    /// The used part of the model's context in per cent, where the client says both.
    pub fn context_used(&self) -> Option<u8> {
        let (used, window) = (self.context?, self.window.filter(|window| *window > 0)?);
        u8::try_from(used.saturating_mul(100) / window)
            .ok()
            .filter(|part| *part > 0)
            .map(|part| part.min(100))
    }
}

impl Basics {
    pub fn facts(&mut self, facts: &Facts) {
        if let Some(time) = facts.time {
            self.started = Some(self.started.map_or(time, |started| started.min(time)));
        }
        if facts.active {
            self.updated = self.updated.max(facts.time);
        }
        if self.id.is_none() {
            set(&mut self.id, facts.session.as_deref());
        }
        match (&self.first_cwd, &facts.cwd) {
            (None, _) => set(&mut self.first_cwd, facts.cwd.as_deref()),
            (Some(first), Some(cwd)) if *first == **cwd => self.last_cwd = None,
            _ => set(&mut self.last_cwd, facts.cwd.as_deref()),
        }
        set(&mut self.project, facts.project.as_deref());
        set(&mut self.model, facts.model.as_deref());
        if let Some((by, title)) = &facts.title {
            let given = match by {
                TitleBy::Person => &mut self.person_title,
                TitleBy::Agent => &mut self.agent_title,
            };
            // An empty title takes the last one back.
            *given = Some(title.trim().to_owned()).filter(|title| !title.is_empty());
        }
        self.subagent |= facts.subagent || facts.helper && self.updated.is_none();
        if let Some(usage) = facts.usage {
            self.input = self.input.saturating_add(usage.input);
            self.output = self.output.saturating_add(usage.output);
            self.context = usage.context.or(self.context);
            self.window = usage.window.or(self.window);
        }
    }

    pub fn entry(&mut self, entry: &Entry) {
        if entry.is_activity() {
            self.updated = self.updated.max(entry.time);
        }
        if let (false, Role::User, What::Text(text)) = (self.prompted, entry.role, &entry.what)
            && entry.begins
        {
            self.prompted = true;
            self.origin = origin(text).map(str::to_owned);
        }
    }
}

impl<S: AsRef<str>> Basics<S> {
    /// The working directory: where the session is now, or was last.
    pub fn cwd(&self) -> Option<&str> {
        self.last_cwd
            .as_ref()
            .or(self.first_cwd.as_ref())
            .map(AsRef::as_ref)
    }

    /// All directories that say which project it belongs to: where it began, and where it is.
    pub fn cwds(&self) -> impl Iterator<Item = &str> {
        [&self.first_cwd, &self.last_cwd, &self.project]
            .into_iter()
            .flatten()
            .map(AsRef::as_ref)
    }

    /// The title that somebody gave it.
    pub fn given_title(&self) -> Option<&str> {
        title(
            [&self.person_title, &self.agent_title].map(|title| title.as_ref().map(AsRef::as_ref)),
        )
    }
}

/// The one rule for titles: a person's goes before the agent's, and both before what was last asked.
pub fn title<'t>(
    from_person_agent_asked: impl IntoIterator<Item = Option<&'t str>>,
) -> Option<&'t str> {
    from_person_agent_asked.into_iter().flatten().next()
}

/// Most lines say the same as the one before: nothing is copied then.
fn set(known: &mut Option<String>, value: Option<&str>) {
    let Some(value) = value.filter(|value| known.as_deref() != Some(value)) else {
        return;
    };
    let value = value.trim();
    if !value.is_empty() {
        *known = Some(value.to_owned());
    }
}
