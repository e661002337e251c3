//! Where a session stopped, in full: for people ([`text`]), as compact codes ([`codes`]) and as JSON ([`json`]).
//!
//! All three say the same things; they differ in form, and in what a budget of tokens leaves out: no group of lines may
//! starve the others. The head comes first. Then each group has a share of its own, and what is left over goes to lines
//! that did not fit: first to what is open, then to what was done. The lines that stay keep their order.

mod codes;
mod json;
mod text;

use crate::fold::Continuity;
use crate::fold::continuity::{Blocker, Ending, Finding, Obstacle, Used};
use crate::session::state::Reason;
use crate::session::{Session, State, StateKind};
use crate::state::notes::{Kind, Notes};
use crate::time::Time;

/// A session and what is known beside its transcript.
pub struct Stop<'a> {
    pub continuity: &'a Continuity,
    pub session: &'a Session<'a>,
    /// The whole id, where the session may know only its beginning.
    pub id: &'a str,
    pub project: String,
    pub subagent: bool,
    /// The agent's command to continue it.
    pub command: Option<String>,
    /// What the user wrote down about the project and its sessions.
    pub notes: &'a Notes,
    pub now: Time,
    pub state: State<'a>,
    /// The user marked it as done, and may have gone on with it since.
    pub done: bool,
    pub tags: Vec<String>,
}

impl Stop<'_> {
    fn noted(&self, kind: Kind) -> impl Iterator<Item = &str> {
        self.notes.notes(kind, self.now).map(|note| note.text.as_str())
    }

    /// What stands in the way, with the call that waits for permission, or that a killed agent left behind.
    fn blockers(&self) -> Vec<Blocker> {
        let kind = match self.state.reason {
            Some(Reason::Crashed(_)) => Some(Obstacle::Crashed),
            Some(Reason::Permission(_)) => Some(Obstacle::Permission),
            _ => None,
        };
        let open = kind.zip(self.continuity.open_call()).map(|(kind, Used { tool, subject, time, line, .. })| {
            let text = format!("{tool} {subject}").trim().to_owned();
            Blocker { kind, item: Finding::new(text, time, line) }
        });
        self.continuity.blockers.iter().cloned().chain(open).collect()
    }

    /// How its transcript ends. What was going on is unfinished once nobody is at work.
    fn ending(&self) -> &'static str {
        match (self.continuity.ending, self.state.kind) {
            (ending, StateKind::Working | StateKind::NeedsYou) => ending.name(),
            (Ending::Working, _) => "unfinished",
            (ending, _) => ending.name(),
        }
    }

    /// Whether a call of it is running, or may be.
    fn is_running(&self) -> bool {
        matches!(self.state.reason, Some(Reason::Running(_) | Reason::Pending(_)))
    }

    /// Whether its agent is at work, or was until lately.
    fn is_active(&self) -> bool {
        matches!(self.state.kind, StateKind::Working | StateKind::NeedsYou | StateKind::Waiting)
    }

    fn pins(&self) -> impl Iterator<Item = &str> {
        self.notes.pins(self.now).into_iter().map(|pin| pin.text.as_str())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// Which session it is, and what the user wrote down.
    Head,
    Files,
    /// Functions, commands, tests, what was done.
    Work,
    Decisions,
    Blockers,
    Next,
}

/// The groups, those that must not be missed first: tokens of each [`OF`], and whether the last lines say the most.
const PORTIONS: [(About, usize, bool); 5] = [
    (About::Blockers, 200, false),
    (About::Next, 200, false),
    (About::Decisions, 250, true),
    (About::Files, 450, true),
    (About::Work, 300, true),
];
const OF: usize = 1500;

/// How many tokens a line costs, with its end: rather too many than too few, as names and dashes become short pieces.
fn tokens(line: &str) -> usize {
    line.len().div_ceil(3) + 1
}

/// Lines that fit into a budget, and how many did not.
#[derive(Debug, Default, PartialEq)]
pub struct Fitted {
    pub lines: Vec<String>,
    pub left_out: usize,
}

/// The lines that fit. The first one names the session, so without it none does.
fn within(budget: usize, lines: Vec<(About, String)>) -> Fitted {
    if lines.first().is_none_or(|(_, first)| tokens(first) > budget) {
        return Fitted { lines: Vec::new(), left_out: lines.len() };
    }
    let mut left = budget;
    let mut kept = vec![false; lines.len()];
    // Keeps a line if there is room, and returns what that costs: nothing if it was kept before or doesn't fit.
    let mut keep = |index: usize, room: usize| {
        let cost = tokens(&lines[index].1);
        if kept[index] || cost > room.min(left) {
            return 0;
        }
        kept[index] = true;
        left -= cost;
        cost
    };
    let of = |about: About| (0..lines.len()).filter(|index| lines[*index].0 == about).collect::<Vec<_>>();
    let ranked = |(about, _, last_first): &(About, usize, bool)| {
        let mut indices = of(*about);
        if *last_first {
            indices.reverse();
        }
        indices
    };
    let shared = budget - of(About::Head).into_iter().map(|index| keep(index, usize::MAX)).sum::<usize>();
    for portion in &PORTIONS {
        let mut room = shared.saturating_mul(portion.1) / OF;
        ranked(portion).into_iter().for_each(|index| room -= keep(index, room));
    }
    PORTIONS.iter().flat_map(ranked).for_each(|index| _ = keep(index, usize::MAX));
    let left_out = kept.iter().filter(|kept| !**kept).count();
    let lines = lines.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|((_, line), _)| line).collect();
    Fitted { lines, left_out }
}
