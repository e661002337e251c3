//! What follows from all that was read: what stands in the way, and what is to be done next.

use std::collections::HashSet;

use super::client::is_limit;
use super::found::{Blocker, Ending, Item, Obstacle, Used};
use super::{Continuity, FAILING, TASKS};
use crate::digest::words;
use crate::entry::{Act, TaskState};

/// How many steps of an answer count.
const STEPS: usize = 20;

impl Continuity {
    pub(super) fn obstacles(&mut self) -> Vec<Blocker> {
        let blocker = |kind: Obstacle| move |item: Item| Blocker { kind, item };
        // What failed last comes first.
        let failing = self.fold.failing.drain(..).rev().map(|(_, item)| item).take(FAILING);
        let mut all: Vec<Blocker> = failing.map(blocker(Obstacle::Failing)).collect();
        if self.ending == Ending::Asked {
            let said = self.answers.last().map(|answer| {
                let text = words::last_sentence(&answer.text).to_owned();
                Item { text, ..answer.clone() }
            });
            all.extend(self.open_question().or(said).map(blocker(Obstacle::Question)));
        }
        all.extend(self.fold.denied.drain(..).map(blocker(Obstacle::Denied)));
        all.extend(self.fold.error.take().map(|error| {
            let kind = if is_limit(&error.text) { Obstacle::Limit } else { Obstacle::Error };
            Blocker { kind, item: error }
        }));
        let tasks = self.tasks.iter().filter(|task| task.state == TaskState::Blocked);
        all.extend(tasks.map(|task| Blocker {
            kind: Obstacle::Task,
            item: Item { text: task.text.clone(), time: task.time, line: task.line },
        }));
        let crashed = self.open_call().filter(|_| self.ending == Ending::Unfinished);
        all.extend(crashed.map(|pending| {
            let Used { tool, subject, time, line, .. } = pending.used();
            let text = format!("{tool} {subject}").trim().to_owned();
            Blocker { kind: Obstacle::Crashed, item: Item { text, time, line } }
        }));
        let said = self.prompts.last().and_then(|last| Some((words::blocked(&last.text)?, last)));
        all.extend(said.map(|(text, last)| Blocker { kind: Obstacle::Said, item: Item { text, ..last.clone() } }));
        all
    }

    /// What is to be done next: tasks that are at work, then open ones; then what the agent and the user said, unless it was
    /// done since.
    pub(super) fn open(&self) -> Vec<Item> {
        let of = |state: TaskState| self.tasks.iter().filter(move |task| task.state == state);
        let tasks = of(TaskState::Active).chain(of(TaskState::Open));
        let mut next: Vec<Item> =
            tasks.map(|task| Item { text: task.text.clone(), time: task.time, line: task.line }).collect();
        let answer = self.answers.last().into_iter();
        let steps = answer
            .flat_map(|answer| words::next_steps(&answer.text).into_iter().map(|text| Item { text, ..answer.clone() }));
        let asks = |prompt: &&Item| self.unanswered && words::goal(&[&prompt.text]).is_some();
        let said = steps.take(STEPS).chain(self.prompts.last().filter(asks).cloned());
        // Comparing each with each would take for ever.
        let done: Vec<&str> = of(TaskState::Done)
            .map(|task| task.text.as_str())
            .chain(self.commits.iter().map(|commit| commit.text.as_str()))
            .rev()
            .take(TASKS / 5)
            .collect();
        next.extend(said.filter(|item| !done.iter().any(|done| words::overlap(done, &item.text))));
        let mut seen = HashSet::new();
        next.retain(|item| seen.insert(item.text.clone()));
        next
    }

    /// Edits that failed since the last prompt, and did not succeed later.
    pub fn failed_edits(&self) -> impl Iterator<Item = &Used> {
        let prompt = self.prompts.last().map_or(0, |last| last.line);
        self.history.iter().enumerate().filter_map(move |(at, used)| {
            let redone = self.history[at..].iter().any(|later| !later.failed && later.subject == used.subject);
            (used.act == Act::Edit && used.failed && used.line > prompt && !redone).then_some(used)
        })
    }
}
