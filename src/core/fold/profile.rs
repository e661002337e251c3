//! How somebody works: when, how long, on which files, with which commands, agents and models.
//!
//! A [`Reading`] takes the entries of one session and gives its [`Profile`]; profiles are merged into one. Counted is what
//! the user typed and what the agent did in answer. A profile says nothing for which there is too little evidence.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{self, Work};
use super::phrases::claims_project;
use super::{Basics, Fold, filetypes};
use session_format::entry::{Act, Call, Entry, Facts, Id, Role, What};
use session_format::hash::{HashMap, HashSet};
use session_format::time::{DAY, HOUR, MINUTE, Time};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profile {
    pub sessions: u64,
    /// Days on which something happened, counted from 1970, as the clock on the wall has them.
    days: BTreeSet<i64>,
    /// Length of each stretch of activity, in milliseconds.
    lengths: Vec<i64>,
    /// Prompts by the hour of the day, and by the day of the week, Monday first.
    pub hours: [u64; 24],
    pub weekdays: [u64; 7],
    /// Of each prompt how many words and characters it has.
    lengths_of_prompts: Vec<(u32, u32)>,
    /// Files that were edited, with what they are written in.
    files: HashMap<Id, Option<&'static str>>,
    commands: BTreeMap<Work, u64>,
    agents: BTreeMap<String, Amount>,
    models: BTreeMap<String, Amount>,
    pub input: u64,
    pub output: u64,
    /// Prompts that say whose project it is, and sessions with such prompts.
    claims: (u64, u64),
}

/// The share of an agent or a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amount {
    pub sessions: u64,
    pub messages: u64,
}

/// A part of a whole: what, how many, and the share from 0 to 1.
pub type Share<T> = (T, u64, f64);

/// A longer silence ends a stretch of activity.
const GAP: i64 = 30 * MINUTE;

/// The least evidence for each statement.
const PROMPTS_FOR_HOURS: u64 = 10;
const DAYS_FOR_HOURS: u64 = 3;
const DAYS_FOR_WEEKDAYS: u64 = 14;
const PROMPTS_FOR_LENGTH: usize = 5;
const SESSIONS: u64 = 3;
const STRETCHES: usize = 3;
const FILES: u64 = 3;
const COMMANDS: u64 = 5;
const CLAIMS: (u64, u64) = (2, 2);

impl Profile {
    pub fn merge(&mut self, other: Profile) {
        self.sessions += other.sessions;
        self.days.extend(other.days);
        self.lengths.extend(other.lengths);
        let hours = self.hours.iter_mut().zip(other.hours);
        let weekdays = self.weekdays.iter_mut().zip(other.weekdays);
        hours.chain(weekdays).for_each(|(sum, more)| *sum += more);
        self.lengths_of_prompts.extend(other.lengths_of_prompts);
        self.files.extend(other.files);
        other
            .commands
            .into_iter()
            .for_each(|(class, count)| *self.commands.entry(class).or_default() += count);
        for (all, more) in [
            (&mut self.agents, other.agents),
            (&mut self.models, other.models),
        ] {
            for (name, used) in more {
                let sum = all.entry(name).or_default();
                sum.sessions += used.sessions;
                sum.messages += used.messages;
            }
        }
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.claims.0 += other.claims.0;
        self.claims.1 += other.claims.1;
    }

    /// The first and the last day, counted from 1970.
    pub(crate) fn period(&self) -> Option<(i64, i64)> {
        self.days.first().copied().zip(self.days.last().copied())
    }

    pub fn days(&self) -> u64 {
        self.period()
            .map_or(0, |(first, last)| (last - first + 1).unsigned_abs())
    }

    pub fn active_days(&self) -> u64 {
        self.days.len() as u64
    }

    /// Sessions per day of the period, and per active day.
    pub fn rate(&self) -> Option<(f64, f64)> {
        let per = |days: u64| self.sessions as f64 / days as f64;
        (self.sessions >= SESSIONS && self.days() > 1)
            .then(|| (per(self.days()), per(self.active_days())))
    }

    /// Median length of a stretch of activity, in milliseconds.
    pub fn length(&self) -> Option<i64> {
        (self.lengths.len() >= STRETCHES)
            .then(|| median(self.lengths.iter().copied()))
            .flatten()
    }

    pub fn prompts(&self) -> u64 {
        self.lengths_of_prompts.len() as u64
    }

    /// Median length of a prompt, in words and characters.
    pub(crate) fn prompt_length(&self) -> Option<(u32, u32)> {
        let prompts = &self.lengths_of_prompts;
        if prompts.len() < PROMPTS_FOR_LENGTH {
            return None;
        }
        median(prompts.iter().map(|(words, _)| *words))
            .zip(median(prompts.iter().map(|(_, chars)| *chars)))
    }

    /// True if there are enough prompts, on enough days, to say at what time they are typed.
    pub(crate) fn tells_hours(&self) -> bool {
        self.hours.iter().sum::<u64>() >= PROMPTS_FOR_HOURS && self.active_days() >= DAYS_FOR_HOURS
    }

    /// True if there are enough weeks to say on which days.
    pub(crate) fn tells_weekdays(&self) -> bool {
        self.tells_hours() && self.days() >= DAYS_FOR_WEEKDAYS
    }

    /// The hours with at least a third as many prompts as the busiest, as spans from an hour up to another, round midnight
    /// too. None where all hours are like that.
    pub fn active_hours(&self) -> Vec<(usize, usize)> {
        let most = self.hours.iter().max().copied().unwrap_or(0);
        let is_active = |hour: usize| 3 * self.hours[hour % 24] >= most;
        if !self.tells_hours() || (0..24).all(is_active) {
            return vec![];
        }
        let starts = (0..24).filter(|hour| is_active(*hour) && !is_active(hour + 23));
        starts
            .map(|start| {
                (
                    start,
                    (start..start + 24)
                        .find(|hour| !is_active(*hour))
                        .unwrap_or(start)
                        % 24,
                )
            })
            .collect()
    }

    /// Languages of the files that were edited.
    pub fn code(&self) -> Vec<Share<&'static str>> {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        self.files
            .values()
            .flatten()
            .for_each(|language| *counts.entry(language).or_default() += 1);
        shares(counts.into_iter(), |count| (*count, 0), FILES)
    }

    pub fn commands(&self) -> Vec<Share<Work>> {
        shares(
            self.commands.clone().into_iter(),
            |count| (*count, 0),
            COMMANDS,
        )
    }

    /// The most used first, with the share of all messages.
    pub fn agents(&self) -> Vec<(&str, Amount, f64)> {
        by_use(&self.agents)
    }

    pub fn models(&self) -> Vec<(&str, Amount, f64)> {
        by_use(&self.models)
    }

    /// In how many prompts of how many sessions somebody says that the project is theirs, if it is more than a slip.
    pub fn owner(&self) -> Option<(u64, u64)> {
        (self.claims.0 >= CLAIMS.0 && self.claims.1 >= CLAIMS.1).then_some(self.claims)
    }
}

/// The most frequent first, each with its share, if there is enough of all. `count` gives how many there are, and what
/// decides between two that are equally many.
fn shares<T: Ord, C>(
    all: impl Iterator<Item = (T, C)>,
    count: fn(&C) -> (u64, u64),
    enough: u64,
) -> Vec<(T, C, f64)> {
    let mut shares: Vec<_> = all.map(|(what, used)| (what, used, 0.0)).collect();
    shares.sort_by(|(a, one, _), (b, other, _)| count(other).cmp(&count(one)).then(a.cmp(b)));
    let sum: u64 = shares.iter().map(|(_, used, _)| count(used).0).sum();
    shares
        .iter_mut()
        .for_each(|(_, used, share)| *share = count(used).0 as f64 / sum.max(1) as f64);
    if sum >= enough { shares } else { vec![] }
}

fn by_use(all: &BTreeMap<String, Amount>) -> Vec<(&str, Amount, f64)> {
    shares(
        all.iter().map(|(name, used)| (name.as_str(), *used)),
        |used| (used.messages, used.sessions),
        0,
    )
}

/// The middle one, or of two the lower.
fn median<T: Ord + Copy>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut values: Vec<T> = values.collect();
    let middle = values.len().checked_sub(1)? / 2;
    Some(*values.select_nth_unstable(middle).1)
}

/// Reads one session.
pub struct Reading<'r> {
    /// Only what happened since.
    since: Option<Time>,
    /// Local time, held as if it were UTC.
    wall: &'r (dyn Fn(Time) -> Time + Sync),
    profile: Profile,
    line: LineSoFar,
    basics: Basics,
    stretches: Vec<(i64, i64)>,
    /// Edits by their calls, until it is known that they did not fail.
    edits: Vec<(Option<Id>, Vec<String>)>,
    failed: HashSet<Id>,
    messages: u64,
}

/// The line being read. It counts only if its entries are no copies.
#[derive(Default)]
struct LineSoFar {
    time: Option<Time>,
    /// Its time, or that of the last line that had one.
    about: Option<Time>,
    input: u64,
    output: u64,
    copied: bool,
}

impl Fold for Reading<'_> {
    fn facts(&mut self, facts: &Facts) {
        self.end_line();
        let (input, output) = facts
            .usage
            .map_or((0, 0), |usage| (usage.input, usage.output));
        let about = facts.time.or(self.line.about);
        self.line = LineSoFar {
            time: facts.time,
            about,
            input,
            output,
            copied: false,
        };
        self.basics.facts(facts);
    }

    fn entry(&mut self, entry: &Entry, _: u64) {
        if !self.in_period() {
            return;
        }
        self.messages += u64::from(entry.begins);
        match (&entry.what, entry.role) {
            (What::Text(text), Role::User) if entry.begins => self.prompt(text, entry.time),
            (What::Call(call), _) if !entry.renews => self.call(call),
            (
                What::Result {
                    call: Some(call),
                    failed: true,
                    ..
                },
                _,
            ) => {
                self.failed.insert(*call);
            }
            _ => {}
        }
        if entry.begins
            && entry.role == Role::Assistant
            && let Some(model) = &self.basics.model
        {
            let used = self.profile.models.entry(model.clone()).or_default();
            used.sessions = 1;
            used.messages += 1;
        }
    }

    fn copied(&mut self) {
        self.line.copied = true;
    }
}

impl<'r> Reading<'r> {
    pub fn new(since: Option<Time>, wall: &'r (dyn Fn(Time) -> Time + Sync)) -> Reading<'r> {
        Reading {
            since,
            wall,
            profile: Profile::default(),
            line: LineSoFar::default(),
            basics: Basics::default(),
            stretches: Vec::new(),
            edits: Vec::new(),
            failed: HashSet::default(),
            messages: 0,
        }
    }

    fn in_period(&self) -> bool {
        self.since
            .is_none_or(|since| self.line.about.is_some_and(|time| time >= since))
    }

    fn end_line(&mut self) {
        if self.line.copied || !self.in_period() {
            return;
        }
        self.profile.input = self.profile.input.saturating_add(self.line.input);
        self.profile.output = self.profile.output.saturating_add(self.line.output);
        if let Some(Time(time)) = self.line.time {
            // Nearly always it goes on from the last one; what is missed here is joined in the end.
            let near =
                |stretch: &&mut (i64, i64)| stretch.0 - GAP <= time && time <= stretch.1 + GAP;
            match self.stretches.iter_mut().rev().take(8).find(near) {
                Some(stretch) => *stretch = (stretch.0.min(time), stretch.1.max(time)),
                None => self.stretches.push((time, time)),
            }
        }
    }

    fn prompt(&mut self, text: &str, time: Option<Time>) {
        let profile = &mut self.profile;
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        profile.lengths_of_prompts.push((
            count(text.split_whitespace().count()),
            count(text.trim().chars().count()),
        ));
        if let Some(time) = time {
            let Time(wall) = (self.wall)(time);
            profile.hours[(wall.rem_euclid(DAY) / HOUR) as usize] += 1;
            // 1970 began on a Thursday.
            profile.weekdays[(wall.div_euclid(DAY) + 3).rem_euclid(7) as usize] += 1;
        }
        profile.claims.0 += u64::from(claims_project(text));
    }

    fn call(&mut self, call: &Call) {
        match call.act {
            Act::Edit if !call.failed => {
                let full = |path: &str| match self.basics.cwd() {
                    Some(cwd) if !path.starts_with(['/', '~', '\\']) => {
                        format!("{cwd}/{}", path.trim_start_matches("./"))
                    }
                    _ => path.to_owned(),
                };
                self.edits.push((
                    call.id,
                    call.subjects.iter().map(|path| full(path)).collect(),
                ));
            }
            // A test that failed was run.
            Act::Run => {
                for class in call.subjects.iter().flat_map(|command| classes(command)) {
                    *self.profile.commands.entry(class).or_default() += 1;
                }
            }
            _ => {}
        }
    }

    /// The profile of the session, which belongs to this agent.
    pub fn finish(mut self, agent: &str) -> Profile {
        self.end_line();
        let mut profile = self.profile;
        if self.messages == 0 {
            return Profile::default();
        }
        profile.sessions = 1;
        profile.claims.1 = u64::from(profile.claims.0 > 0);
        self.stretches.sort_unstable();
        let mut stretches: Vec<(i64, i64)> = Vec::with_capacity(self.stretches.len());
        for (start, end) in self.stretches {
            match stretches.last_mut().filter(|last| start <= last.1 + GAP) {
                Some(last) => last.1 = last.1.max(end),
                None => stretches.push((start, end)),
            }
        }
        for (start, end) in stretches {
            profile.lengths.push(end - start);
            let day = |time| (self.wall)(Time(time)).0.div_euclid(DAY);
            profile.days.extend(day(start)..=day(end));
        }
        for (call, paths) in self.edits {
            if call.is_none_or(|call| !self.failed.contains(&call)) {
                profile.files.extend(
                    paths
                        .iter()
                        .map(|path| (Id::of(path.as_bytes()), filetypes::language(path))),
                );
            }
        }
        profile.agents.insert(
            agent.into(),
            Amount {
                sessions: 1,
                messages: self.messages,
            },
        );
        profile
    }
}

/// The kinds of work in a command line, each once; everything with git is one kind.
fn classes(line: &str) -> BTreeSet<Work> {
    let class = |work: Work| {
        if matches!(work, Work::Commit | Work::Push) {
            Work::Git
        } else {
            work
        }
    };
    code::works(line)
        .into_iter()
        .map(class)
        .filter(|work| *work != Work::Install)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_hours(hours: &[(usize, u64)]) -> Profile {
        let mut profile = Profile {
            days: (0..3).collect(),
            ..Profile::default()
        };
        hours
            .iter()
            .for_each(|(hour, count)| profile.hours[*hour] = *count);
        profile
    }

    #[test]
    fn active_hours_go_round_midnight() {
        assert_eq!(
            with_hours(&[(22, 9), (23, 9), (0, 9), (1, 3), (2, 2)]).active_hours(),
            [(22, 2)]
        );
        assert_eq!(
            with_hours(&[(9, 9), (10, 3), (11, 2), (14, 5)]).active_hours(),
            [(9, 11), (14, 15)]
        );
        assert_eq!(with_hours(&[(23, 10)]).active_hours(), [(23, 0)]);
        let always: Vec<_> = (0..24).map(|hour| (hour, 5)).collect();
        assert_eq!(with_hours(&always).active_hours(), []);
        assert_eq!(
            with_hours(&[(9, 9)]).active_hours(),
            [],
            "too little to tell"
        );
    }

    #[test]
    fn the_median_is_one_of_them() {
        assert_eq!(median([3, 1, 2].into_iter()), Some(2));
        assert_eq!(median([4, 1, 3, 2].into_iter()), Some(2));
        assert_eq!(median([0; 0].into_iter()), None);
    }
}
