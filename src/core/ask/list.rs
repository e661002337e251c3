//! Which sessions there are, of this project or on the machine.

use super::{Answer, Asker};
use crate::session::StateKind;
use crate::session::index::{self, Indexed, Listed, Selection};
use session_format::time::Time;

#[derive(Debug, Default, Clone, Copy)]
pub struct ListQuery<'q> {
    /// Of every project.
    pub all: bool,
    pub agent: Option<&'q str>,
    /// Any state if there is none.
    pub states: &'q [StateKind],
    pub tag: Option<&'q str>,
    /// Only those in which something happened since then.
    pub since: Option<Time>,
}

#[derive(Debug)]
pub struct Listing<'f> {
    pub sessions: Vec<Listed<'f>>,
    /// The number of sessions that fit but are of other projects, and were not asked for.
    pub elsewhere: usize,
}

impl ListQuery<'_> {
    /// Some sessions were left out for another reason than their project.
    pub fn is_narrow(&self) -> bool {
        self.agent.is_some()
            || !self.states.is_empty()
            || self.tag.is_some()
            || self.since.is_some()
    }

    pub fn pick<'f>(&self, mut sessions: Vec<Listed<'f>>, now: Time) -> Listing<'f> {
        sessions.retain(|listed| self.fits(listed, now));
        let fitting = sessions.len();
        sessions.retain(|listed| self.all || listed.here);
        Listing {
            elsewhere: fitting - sessions.len(),
            sessions,
        }
    }

    /// What somebody else wrote is in no state but foreign: nobody who asks who needs the user shall be told of it.
    fn has_state(&self, listed: &Listed, now: Time) -> bool {
        listed.trust.is_own() && self.states.contains(&listed.state(now).kind)
    }

    fn fits(&self, listed: &Listed, now: Time) -> bool {
        self.agent
            .is_none_or(|agent| listed.session.format.is_called(agent))
            && (self.states.is_empty() || self.has_state(listed, now))
            && self.tag.is_none_or(|tag| listed.has_tag(tag))
            && self
                .since
                .is_none_or(|since| listed.tally.updated.is_some_and(|updated| updated >= since))
    }
}

impl Listing<'_> {
    /// Puts the user's own sessions first, and among them those of this project.
    pub fn here_first(&mut self) {
        self.sessions
            .sort_by_key(|listed| (!listed.trust.is_own(), !listed.here));
    }

    pub fn urgent_first(&mut self, now: Time) {
        let is_urgent = |listed: &Listed| {
            listed.trust.is_own() && listed.state(now).kind == StateKind::NeedsYou
        };
        self.sessions.sort_by_key(|listed| !is_urgent(listed));
    }
}

/// All sessions on the machine that are the user's own, the newest first.
pub fn sessions<'f>(asker: Asker<'_, 'f>) -> Answer<Vec<Listed<'f>>> {
    asker.look(index::list)
}

/// The sessions that fit, the newest first; of every project also those that are not the user's own.
pub fn list<'f>(query: &ListQuery, asker: Asker<'_, 'f>) -> Answer<Listing<'f>> {
    let selection = Selection {
        foreign: query.all,
        ..Selection::default()
    };
    let Indexed { listed, bad, .. } = index::select(asker.env, asker.formats, &selection);
    (query.pick(listed, asker.env.now()), bad)
}
