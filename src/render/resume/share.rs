//! Which lines a budget of tokens leaves: no group of them may starve the others.
//!
//! The head comes first. Then each group has a share that is its own, and what is left over goes to what did not fit: first
//! to what is open, then to what was done. What stays keeps its order.

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// Which session it is, and what the user wrote down.
    Head,
    Files,
    /// Functions, commands, tests, what was done.
    Work,
    Decisions,
    Blockers,
    Next,
}

struct Share {
    about: About,
    /// Of 1500 tokens.
    tokens: usize,
    /// What came last says more than what came first.
    last_first: bool,
}

/// Those that must not be missed first.
const SHARES: [Share; 5] = [
    Share { about: About::Blockers, tokens: 200, last_first: false },
    Share { about: About::Next, tokens: 200, last_first: false },
    Share { about: About::Decisions, tokens: 250, last_first: true },
    Share { about: About::Files, tokens: 450, last_first: true },
    Share { about: About::Work, tokens: 300, last_first: true },
];
const OF: usize = 1500;

/// How many tokens a line costs, rather too many than too few: dashes and names are cut into short pieces, and a line has
/// an end.
pub fn tokens(line: &str) -> usize {
    line.len().div_ceil(3) + 1
}

/// Lines that fit into a budget, and how many did not.
#[derive(Debug, Default, PartialEq)]
pub struct Fitted {
    pub lines: Vec<String>,
    pub left_out: usize,
}

/// The lines that fit. Without the first, which says what it is all about, none does.
pub fn within(budget: usize, lines: Vec<(About, String)>) -> Fitted {
    if lines.first().is_none_or(|(_, first)| tokens(first) > budget) {
        return Fitted { lines: Vec::new(), left_out: lines.len() };
    }
    let mut left = budget;
    let mut kept = vec![false; lines.len()];
    // What it costs to keep a line in this room: nothing if it is there already, or cannot be.
    let mut keep = |at: usize, room: usize| {
        let cost = tokens(&lines[at].1);
        if kept[at] || cost > room.min(left) {
            return 0;
        }
        kept[at] = true;
        left -= cost;
        cost
    };
    let of = |about: About| (0..lines.len()).filter(|at| lines[*at].0 == about).collect::<Vec<_>>();
    let ranked = |share: &Share| {
        let mut places = of(share.about);
        if share.last_first {
            places.reverse();
        }
        places
    };
    let shared = budget - of(About::Head).into_iter().map(|at| keep(at, usize::MAX)).sum::<usize>();
    for share in &SHARES {
        let mut room = shared.saturating_mul(share.tokens) / OF;
        for at in ranked(share) {
            room -= keep(at, room);
        }
    }
    for at in SHARES.iter().flat_map(ranked) {
        keep(at, usize::MAX);
    }
    let left_out = kept.iter().filter(|kept| !**kept).count();
    let lines = lines.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|((_, line), _)| line).collect();
    Fitted { lines, left_out }
}
