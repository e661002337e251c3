//! Calls and their outcomes: what was run, edited, planned, asked and refused.

use std::path::{Path, PathBuf};

use super::found::{FileChange, Item, Ran, ToDo, Used};
use super::{COMMITS, Continuity, FUNCTIONS, HISTORY, Pending, TASKS, keep, kept};
use crate::digest::code;
use crate::digest::text::first_sentence;
use crate::entry::{Act, Call, Change, Detail, Id, Task, TaskState, What};
use crate::path::absolute;
use crate::time::Time;

impl Continuity {
    pub(super) fn call(&mut self, line: u64, time: Option<Time>, call: &Call) {
        let owned = match What::Call(call.clone()).into_owned() {
            What::Call(call) => call,
            _ => return,
        };
        match call.id {
            Some(id) => {
                self.fold.pending.insert(id, Pending { line, time, call: owned, round: self.fold.round });
                self.fold.order.push(id);
            }
            // Nothing will ever tell how it ended.
            None => self.conclude(line, time, &owned, Outcome::default()),
        }
    }

    pub(super) fn result(&mut self, id: Id, outcome: Outcome) {
        if let Some(Pending { line, time, call, .. }) = self.fold.pending.remove(&id) {
            self.conclude(line, time, &call, Outcome { failed: outcome.failed || call.failed, ..outcome });
        }
    }

    /// A call with its outcome.
    fn conclude(&mut self, line: u64, time: Option<Time>, call: &Call, outcome: Outcome) {
        let subject = call.subjects.first().map(|subject| subject.to_string()).unwrap_or_default();
        let Outcome { failed, denied, unclear, replaced, text: result } = outcome;
        let done = Done { call, subject, failed, denied, unclear, replaced, result, time, line };
        keep(&mut self.history, done.used(), HISTORY);
        self.permission(&done);
        match call.act {
            Act::Run if !denied => call.subjects.iter().for_each(|command| self.ran(command, &done)),
            Act::Edit if !failed => self.edited(&done),
            Act::Read if !failed => _ = self.fold.looked_at.insert(self.place(&done.subject)),
            _ => {}
        }
        if let Some(detail) = call.detail.as_deref() {
            self.planned(&done, detail);
            if !failed {
                self.answered(&done, detail);
                self.tasks(&done, detail);
            }
        }
    }

    /// What was refused stands in the way until it is done.
    fn permission(&mut self, done: &Done) {
        let what = format!("{} {}", done.call.tool, done.subject).trim().to_owned();
        self.fold.denied.retain(|denied| denied.text != what);
        let is_plan = done.call.detail.as_deref().is_some_and(|detail| detail.plan.is_some());
        if done.denied && !is_plan {
            self.fold.denied.push(done.item(what));
        }
    }

    fn planned(&mut self, done: &Done, detail: &Detail) {
        let Some(plan) = detail.plan.as_deref().map(heading) else { return };
        match done {
            Done { denied: true, .. } => self.fold.rejected = Some(done.item(format!("rejected the plan {plan}"))),
            Done { failed: false, .. } => self.decide(done.item(format!("approved the plan {plan}"))),
            _ => {}
        }
    }

    fn answered(&mut self, done: &Done, detail: &Detail) {
        let Some(question) = &detail.question else { return };
        let answers = answers(done.result);
        if answers.is_empty() {
            let (question, answer) = (first_sentence(question), first_sentence(done.result));
            self.decide(done.item(format!("{question} {answer}")));
        }
        for (question, answer) in answers {
            self.decide(done.item(format!("{question} {answer}")));
        }
    }

    fn ran(&mut self, subject: &str, done: &Done) {
        let Done { failed, time, line, .. } = done;
        // Refused by the client before anything ran.
        if subject.is_empty() {
            return;
        }
        let first = || Item { text: kept(subject.lines().next().unwrap_or_default()), ..done.item(String::new()) };
        // Of several commands it is not known which failed.
        if !failed || done.call.subjects.len() == 1 && !done.unclear {
            self.fold.failing.ran(subject, *failed, first);
        }
        let work = code::work(subject);
        let committed = |text: &String| match failed {
            // Git says so, whatever failed after it.
            true => done.result.contains(&format!("] {text}")),
            false => !done.result.contains("nothing to commit"),
        };
        for text in code::commit_subjects(subject).into_iter().filter(committed) {
            keep(&mut self.commits, done.item(text), COMMITS);
        }
        let ran = Ran { command: kept(subject), work, failed: *failed, time: *time, line: *line };
        keep(&mut self.commands, ran, HISTORY);
    }

    fn edited(&mut self, done: &Done) {
        let changes = done.call.detail.as_deref().map_or(&[][..], |detail| &detail.changes);
        for path in &done.call.subjects {
            let is_it = |change: &&Change| change.path.as_ref().is_none_or(|own| *own == **path);
            // A file may be deleted and added again by one patch: then it is rewritten.
            let mut own = changes.iter().rev().filter(is_it);
            let change = own.next().cloned().unwrap_or_default();
            self.changed(path, &change, done.replaced || own.any(|before| before.deleted), done);
        }
    }

    fn changed(&mut self, path: &str, change: &Change, was_there: bool, done: &Done) {
        let Change { added, removed, deleted, .. } = change;
        let place = self.place(path);
        let whole = change.whole;
        // Written whole, and not looked at before.
        let seen = !self.fold.looked_at.insert(place.clone()) || was_there;
        let last = match (whole, seen) {
            _ if *deleted => "deleted".into(),
            (true, false) => in_lines("new", added),
            (true, true) => in_lines("rewritten", added),
            (false, _) => code::summary(path, added, removed),
        };
        let index = *self.fold.files.entry(place).or_insert(self.files.len());
        if index == self.files.len() {
            self.files.push(FileChange { path: path.into(), created: whole && !seen, ..FileChange::default() });
        }
        let file = &mut self.files[index];
        (file.last, file.deleted, file.edits) = (last, *deleted, file.edits + 1);
        (file.time, file.line) = (done.time, done.line);
        for name in code::functions(path, added) {
            let is_new = self.functions.len() < FUNCTIONS && self.fold.functions.insert((index, name.clone()));
            if is_new {
                self.functions.push((self.files[index].path.clone(), done.item(name)));
            }
        }
    }

    /// Takes in what a subagent edited. That stands in a transcript of its own, so it has no line here.
    pub fn absorb(&mut self, subagent: Continuity) {
        let cwd = subagent.cwd.as_deref().or(self.cwd.as_deref()).unwrap_or_default().to_owned();
        for file in subagent.files {
            let place = absolute(Path::new(&cwd), &file.path);
            let path = if self.place(&file.path) == place { file.path.clone() } else { place.display().to_string() };
            let index = *self.fold.files.entry(place).or_insert(self.files.len());
            match self.files.get_mut(index) {
                None => self.files.push(FileChange { path, line: 0, ..file }),
                Some(known) => {
                    known.edits += file.edits;
                    if file.time >= known.time {
                        (known.last, known.deleted, known.time, known.line) = (file.last, file.deleted, file.time, 0);
                    }
                }
            }
        }
    }

    /// A path, however it is written.
    fn place(&self, path: &str) -> PathBuf {
        absolute(Path::new(self.cwd.as_deref().unwrap_or_default()), path)
    }

    fn tasks(&mut self, done: &Done, detail: &Detail) {
        if detail.all_tasks {
            self.tasks.clear();
            self.fold.tasks.clear();
        }
        detail.tasks.iter().take(TASKS).for_each(|task| self.task(task, done));
    }

    fn task(&mut self, task: &Task, done: &Done) {
        let mut id = task.id.clone();
        if id.is_none() && task.state.is_none() {
            // Created: its number is in the answer, or the next one.
            self.fold.created += 1;
            let told = done.result.split_once('#').map(|(_, rest)| rest);
            let digits = told.map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
            id = Some(digits.filter(|digits| !digits.is_empty()).unwrap_or_else(|| self.fold.created.to_string()));
        }
        let known = id.as_ref().and_then(|id| self.fold.tasks.get(id)).map(|index| &mut self.tasks[*index]);
        match (known, &task.text) {
            (Some(known), text) => {
                known.state = task.state.unwrap_or(known.state);
                known.text = text.clone().unwrap_or_else(|| known.text.clone());
                (known.time, known.line) = (done.time, done.line);
            }
            (None, Some(text)) => {
                self.fold.tasks.extend(id.map(|id| (id, self.tasks.len())));
                let state = task.state.unwrap_or(TaskState::Open);
                self.tasks.push(ToDo { text: text.clone(), state, time: done.time, line: done.line });
            }
            (None, None) => {}
        }
    }
}

/// How a call ended.
#[derive(Default)]
pub(super) struct Outcome<'t> {
    pub failed: bool,
    pub denied: bool,
    pub unclear: bool,
    pub replaced: bool,
    pub text: &'t str,
}

/// A call that is over.
struct Done<'c> {
    call: &'c Call<'c>,
    subject: String,
    failed: bool,
    /// The user did not allow it.
    denied: bool,
    /// It never ran, or was broken off.
    unclear: bool,
    /// What it wrote had been there before.
    replaced: bool,
    result: &'c str,
    time: Option<Time>,
    line: u64,
}

impl Done<'_> {
    fn item(&self, text: String) -> Item {
        Item { text, time: self.time, line: self.line, from_words: false }
    }

    fn used(&self) -> Used {
        let Done { call, subject, failed, time, line, .. } = self;
        let (tool, subject) = (call.tool.to_string(), kept(subject));
        Used { tool, act: call.act, subject, failed: *failed, time: *time, line: *line }
    }
}

/// `new, 12 lines`
fn in_lines(how: &str, text: &str) -> String {
    match text.lines().count() {
        1 => format!("{how}, 1 line"),
        count => format!("{how}, {count} lines"),
    }
}

/// The first heading or line of a plan.
pub(super) fn heading(plan: &str) -> String {
    let bare = |line: &'_ str| line.trim().trim_start_matches(['#', '*', '-', ' ']).to_owned();
    format!("\"{}\"", plan.lines().map(bare).find(|line| !line.is_empty()).unwrap_or_default())
}

/// `"Which database?"="PostgreSQL"`: the questions and answers in a result.
fn answers(result: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = result;
    while let Some(at) = rest.find("\"=\"") {
        let question = rest[..at].rsplit('"').next().unwrap_or_default().to_owned();
        rest = &rest[at + 3..];
        let end = rest.find('"').unwrap_or(rest.len());
        found.push((question, rest[..end].to_owned()));
        rest = &rest[end..];
    }
    found
}
