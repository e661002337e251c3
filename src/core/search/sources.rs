//! The transcripts that are searched for a session: its own and those of its subagents.
//!
//! What a subagent said and did belongs to its session. `session/subagent.rs` finds all subagents at once: to ask for those
//! of each session would take longer than a search does.

use crate::session::{Session, find};
use session_format::hash::HashMap;

/// The transcripts of a session.
pub struct Sources<'s, 'f> {
    pub own: &'s Session<'f>,
    subagents: Vec<&'s Session<'f>>,
}

impl<'s, 'f> Sources<'s, 'f> {
    /// Of some sessions, each with its own of these subagents.
    pub fn of(
        sessions: impl Iterator<Item = &'s Session<'f>>,
        subagents: &'s [Session<'f>],
    ) -> Vec<Sources<'s, 'f>> {
        let mut all: Vec<Sources> = sessions
            .map(|own| Sources {
                own,
                subagents: Vec::new(),
            })
            .collect();
        let mut by_id: HashMap<(&str, &str), Vec<usize>> = HashMap::default();
        if !subagents.is_empty() {
            for (index, Sources { own, .. }) in all.iter().enumerate() {
                by_id
                    .entry((&*own.id, &*own.format.name))
                    .or_default()
                    .push(index);
            }
        }
        for subagent in subagents {
            let alike = |index: &&usize| {
                let both = all[**index]
                    .own
                    .path
                    .components()
                    .zip(subagent.path.components());
                both.take_while(|(own, other)| own == other).count()
            };
            let candidates = by_id
                .get(&(&*subagent.id, &*subagent.format.name))
                .into_iter()
                .flatten();
            let is_its = |index: &&usize| find::is_subagent_place(all[**index].own, &subagent.path);
            if let Some(index) = candidates.filter(is_its).max_by_key(alike) {
                all[*index].subagents.push(subagent);
            }
        }
        all
    }

    /// Its own transcript, then those of its subagents.
    pub fn iter(&self) -> impl Iterator<Item = &'s Session<'f>> {
        std::iter::once(self.own).chain(self.subagents.iter().copied())
    }

    /// One of them, by its number.
    pub fn get(&self, file: usize) -> &'s Session<'f> {
        file.checked_sub(1)
            .map_or(self.own, |subagent| self.subagents[subagent])
    }

    pub fn size(&self) -> u64 {
        self.iter().map(Session::size).sum()
    }
}
