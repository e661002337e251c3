//! Where a session stopped, in full: for people ([`text`]), as compact codes ([`codes`]) as JSON ([`json`]), and as
//! a note for another agent ([`note`]).
//!
//! The first three say the same things; they differ in form, and in what a budget of tokens leaves out: no group of lines may
//! starve the others. The head comes first. Then each group has a share of its own, and what is left over goes to lines
//! that did not fit: first to what is open, then to what was done. The lines that stay keep their order.

mod codes;
mod json;
mod note;
mod text;

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
    if lines
        .first()
        .is_none_or(|(_, first)| tokens(first) > budget)
    {
        return Fitted {
            lines: Vec::new(),
            left_out: lines.len(),
        };
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
    let of = |about: About| {
        (0..lines.len())
            .filter(|index| lines[*index].0 == about)
            .collect::<Vec<_>>()
    };
    let ranked = |(about, _, last_first): &(About, usize, bool)| {
        let mut indices = of(*about);
        if *last_first {
            indices.reverse();
        }
        indices
    };
    let shared = budget
        - of(About::Head)
            .into_iter()
            .map(|index| keep(index, usize::MAX))
            .sum::<usize>();
    for portion in &PORTIONS {
        let mut room = shared.saturating_mul(portion.1) / OF;
        ranked(portion)
            .into_iter()
            .for_each(|index| room -= keep(index, room));
    }
    PORTIONS
        .iter()
        .flat_map(ranked)
        .for_each(|index| _ = keep(index, usize::MAX));
    let left_out = kept.iter().filter(|kept| !**kept).count();
    let lines = lines
        .into_iter()
        .zip(kept)
        .filter(|(_, kept)| *kept)
        .map(|((_, line), _)| line)
        .collect();
    Fitted { lines, left_out }
}
