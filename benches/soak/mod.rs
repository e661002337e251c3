//! A soak of the hook: sessions of several agents are written, cut, replaced, moved, deleted and restored at random, while
//! several observers look on; the [`model`] knows what each must be told.
//!
//! A run is a layout and a list of actions, each with a seed of its own, so that a part of the list is a run as well: when
//! a promise is broken, the shortest part that breaks it is looked for.

mod actions;
mod model;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

pub use actions::{Action, Kind};
use actions::{Layout, World};
pub use model::Counts;

use crate::scene::Chance;

/// What many runs came to.
#[derive(Default)]
pub struct Report {
    pub runs: usize,
    pub counts: Counts,
    pub actions: BTreeMap<Kind, usize>,
    pub failures: Vec<Failure>,
}

/// A promise that was broken.
pub struct Failure {
    pub seed: u64,
    pub why: String,
    /// The shortest list of actions found that breaks it; chance decides when a hook is killed, so it may not do so always.
    pub actions: Vec<Action>,
    pub layout: String,
    /// What happened in a run of these actions.
    log: Vec<String>,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        writeln!(f, "seed {} ({}): {}", self.seed, self.layout, self.why)?;
        self.actions
            .iter()
            .enumerate()
            .try_for_each(|(at, action)| writeln!(f, "  {at:>3} {action:?}"))?;
        self.log
            .iter()
            .try_for_each(|line| writeln!(f, "      {}", line.replace('\n', "\n        ")))
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Counts {
            looks,
            bullets,
            messages,
            repeats,
        } = self.counts;
        let (runs, broken) = (self.runs, self.failures.len());
        writeln!(
            f,
            "{runs} runs, {looks} looks, {bullets} bullets, {messages} messages told, {repeats} repeated after a kill, \
             {broken} runs broke a promise"
        )?;
        let actions: Vec<String> = self
            .actions
            .iter()
            .map(|(kind, count)| format!("{kind:?} {count}"))
            .collect();
        writeln!(f, "{}", actions.join(", "))?;
        self.failures
            .iter()
            .try_for_each(|failure| writeln!(f, "\n{failure}"))
    }
}

/// One run with a seed: `length` actions, less those of some kinds, and then everybody looks until there is nothing more to tell.
pub fn soak(seed: u64, length: usize, without: &[String], patience: Duration, report: &mut Report) {
    let mut chance = Chance::new(seed);
    let layout = Layout::of(&mut chance);
    let mut actions: Vec<Action> = (0..length).map(|_| Action::of(&mut chance)).collect();
    actions.retain(|action| !without.iter().any(|name| action.kind.is(name)));
    report.runs += 1;
    for action in &actions {
        *report.actions.entry(action.kind).or_default() += 1;
    }
    let Err(broken) = run(&layout, &actions, &mut report.counts) else {
        return;
    };
    let (actions, Broken { why, log, .. }) = shorten(&layout, &actions, broken, patience);
    report.failures.push(Failure {
        seed,
        why,
        actions,
        layout: format!("{layout:?}"),
        log,
    });
}

/// What is wrong, after how many actions, and what happened until then.
struct Broken {
    done: usize,
    why: String,
    log: Vec<String>,
}

impl Broken {
    /// What kind of promise it is.
    fn kind(&self) -> Option<usize> {
        ["LOST", "REPEAT", "FOREIGN", "WRONG NAME", "UNSAID"]
            .iter()
            .position(|kind| self.why.contains(kind))
    }
}

fn run(layout: &Layout, actions: &[Action], counts: &mut Counts) -> Result<(), Broken> {
    let broken = |done, why, log| Broken { done, why, log };
    let mut world = World::new(layout).map_err(|why| broken(0, why, Vec::new()))?;
    let result = actions.iter().enumerate().try_for_each(|(at, action)| {
        world
            .act(action)
            .map_err(|why| (at + 1, format!("action {at}, {action:?}: {why}")))
    });
    let result = result.and_then(|()| {
        world
            .settle()
            .map_err(|why| (actions.len(), format!("in the end: {why}")))
    });
    counts.add(&world.counts);
    result.map_err(|(done, why)| broken(done, why, world.log))
}

/// Leaves out what is not needed to break the same promise: halves, quarters, then single actions.
fn shorten(
    layout: &Layout,
    actions: &[Action],
    first: Broken,
    patience: Duration,
) -> (Vec<Action>, Broken) {
    let started = Instant::now();
    let mut shortest = actions[..first.done].to_vec();
    let mut broken = first;
    let mut size = shortest.len().div_ceil(2).max(1);
    loop {
        let mut at = 0;
        let mut shorter = false;
        while at < shortest.len() && started.elapsed() < patience {
            let end = (at + size).min(shortest.len());
            let rest = [&shortest[..at], &shortest[end..]].concat();
            match run(layout, &rest, &mut Counts::default()) {
                Err(same) if same.kind() == broken.kind() => {
                    shortest = rest;
                    shortest.truncate(same.done);
                    broken = same;
                    shorter = true;
                }
                _ => at = end,
            }
        }
        if started.elapsed() >= patience || size == 1 && !shorter {
            return (shortest, broken);
        }
        size = size.div_ceil(2);
    }
}

impl Counts {
    fn add(&mut self, other: &Counts) {
        self.looks += other.looks;
        self.bullets += other.bullets;
        self.messages += other.messages;
        self.repeats += other.repeats;
    }
}
