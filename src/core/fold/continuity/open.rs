//! What follows from all that was read: what stands in the way, and what is to be done next.

use super::found::{Blocker, Finding, Obstacle, Used};
use super::{Continuity, Ending, TASKS};
use crate::fold::phrases::{self, Phrase};
use crate::fold::text::own_words;
use session_format::entry::{Act, TaskState};
use session_format::hash::HashSet;

/// At most this many steps of an answer count.
const STEPS: usize = 20;

impl Continuity {
    pub(super) fn obstacles(&mut self) -> Vec<Blocker> {
        let blocker = |kind: Obstacle| move |item: Finding| Blocker { kind, item };
        // What failed last comes first.
        let failing = self.so_far.failing.newest().cloned();
        let mut all: Vec<Blocker> = failing.map(blocker(Obstacle::Failing)).collect();
        if self.ending == Ending::Asked {
            all.extend(self.open_question().map(blocker(Obstacle::Question)));
        }
        all.extend(self.so_far.denied.drain(..).map(blocker(Obstacle::Denied)));
        let error_kind = |limit| {
            if limit {
                Obstacle::Limit
            } else {
                Obstacle::Error
            }
        };
        all.extend(self.so_far.error.take().map(|(item, limit)| Blocker {
            kind: error_kind(limit),
            item,
        }));
        let tasks = self
            .current_tasks()
            .filter(|task| task.state == TaskState::Blocked);
        all.extend(
            tasks
                .map(|task| task.item.clone())
                .map(blocker(Obstacle::Task)),
        );
        if let Some(last) = self.prompts.last() {
            let said = phrases::said(Phrase::Blocker, &own_words(&last.text)).into_iter();
            all.extend(
                said.map(|text| Finding {
                    text,
                    from_words: true,
                    ..last.clone()
                })
                .map(blocker(Obstacle::Said)),
            );
        }
        all
    }

    /// The next things to do: tasks in progress, then open ones; then the steps of the last answer, unless they were done
    /// since, and a prompt that nobody answered.
    pub(super) fn open(&self) -> Vec<Finding> {
        let of = |state: TaskState| self.tasks.iter().filter(move |task| task.state == state);
        let current =
            |state: TaskState| self.current_tasks().filter(move |task| task.state == state);
        let tasks = current(TaskState::Active).chain(current(TaskState::Open));
        let mut next: Vec<Finding> = tasks.map(|task| task.item.clone()).collect();
        let listed = self.answers.last().into_iter().flat_map(|answer| {
            let steps = phrases::next_steps(&answer.text).into_iter();
            steps.map(|text| Finding {
                text,
                from_words: true,
                ..answer.clone()
            })
        });
        let done: Vec<&str> = of(TaskState::Done)
            .map(|task| &task.item)
            .chain(&self.commits)
            .map(|item| item.text.as_str())
            .rev()
            .take(TASKS / 5)
            .collect();
        let is_open = |item: &Finding| !done.iter().any(|done| phrases::overlap(done, &item.text));
        next.extend(listed.take(STEPS).filter(is_open));
        let asked = self.asked.then.as_ref().or(self.asked.substantive.as_ref());
        let is_last = |asked: &&Finding| {
            self.prompts
                .last()
                .is_some_and(|last| last.time == asked.time)
        };
        next.extend(asked.filter(|_| self.unanswered).filter(is_last).cloned());
        let mut known = HashSet::default();
        next.retain(|item| known.insert(item.text.clone()));
        next
    }

    /// Edits that failed since the last prompt, and did not succeed later.
    pub(crate) fn failed_edits(&self) -> impl Iterator<Item = &Used> {
        let prompt = self.prompts.last().map_or(0, |last| last.line);
        self.history
            .iter()
            .enumerate()
            .filter_map(move |(index, used)| {
                let redone = self.history[index..]
                    .iter()
                    .any(|later| !later.failed && later.subject == used.subject);
                (used.act == Act::Edit && used.failed && used.line > prompt && !redone)
                    .then_some(used)
            })
    }
}
