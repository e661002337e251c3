//! Calls and their outcomes: what was run, edited, planned, asked and refused.

use super::client::{answers, heading, is_denied, was_there};
use super::found::{FileChange, Item, Ran, ToDo, Used};
use super::{Continuity, HISTORY, Pending, keep, kept};
use crate::digest::code::{self, Work};
use crate::digest::words;
use crate::entry::{Act, Call, Id, Task, TaskState, What};
use crate::secrets::redact;
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
            None => self.conclude(line, time, &owned, false, ""),
        }
    }

    pub(super) fn result(&mut self, id: Id, failed: bool, text: &str) {
        if let Some(Pending { line, time, call, .. }) = self.fold.pending.remove(&id) {
            self.conclude(line, time, &call, failed || call.failed, text);
        }
    }

    /// A call with its outcome.
    fn conclude(&mut self, line: u64, time: Option<Time>, call: &Call, failed: bool, result: &str) {
        let subject = call.subjects.first().map(|subject| subject.to_string()).unwrap_or_default();
        let item = |text: String| Item { text, time, line };
        let used = Used { tool: call.tool.to_string(), act: call.act, subject: kept(&subject), failed, time, line };
        keep(&mut self.history, used, HISTORY);
        let detail = call.detail.as_deref();
        let what = format!("{} {}", call.tool, subject).trim().to_owned();
        self.fold.denied.retain(|denied| denied.text != what);
        if failed && is_denied(result) && detail.is_none_or(|detail| detail.plan.is_none()) {
            self.fold.denied.push(item(what));
        }
        let rejected = failed && is_denied(result);
        let plan = detail.and_then(|detail| detail.plan.as_deref()).filter(|_| !failed || rejected);
        if let Some(plan) = plan {
            let verb = if failed { "rejected the plan" } else { "approved the plan" };
            self.decide(item(format!("{verb} {}", heading(plan))));
        }
        match call.act {
            Act::Run => self.ran(&subject, failed, item(String::new())),
            Act::Edit if !failed => self.edited(line, time, call, result),
            Act::Read if !failed => _ = self.fold.looked_at.insert(subject),
            _ => {}
        }
        let Some(detail) = detail.filter(|_| !failed) else { return };
        if let Some(question) = &detail.question {
            let answers = answers(result);
            if answers.is_empty() {
                self.decide(item(format!("{} {}", words::first_sentence(question), words::first_sentence(result))));
            }
            for (question, answer) in answers {
                self.decide(item(format!("{question} {answer}")));
            }
        }
        if detail.all_tasks {
            self.tasks.clear();
        }
        for task in &detail.tasks {
            self.task(task, time, line, result);
        }
    }

    fn ran(&mut self, subject: &str, failed: bool, item: Item) {
        // Refused by the client before anything ran.
        if subject.is_empty() {
            return;
        }
        let work = code::work(subject);
        if matches!(work, Work::Test | Work::Build | Work::Lint) {
            let what = code::normalised(subject);
            self.fold.failing.retain(|(known, _)| *known != what);
            if failed {
                let first = subject.lines().next().unwrap_or_default();
                self.fold.failing.push((what, Item { text: kept(first), ..item.clone() }));
            }
        }
        if let Some(text) = code::commit_subject(subject).filter(|_| !failed) {
            self.commits.push(Item { text, ..item.clone() });
        }
        let ran = Ran { command: kept(subject), work, failed, time: item.time, line: item.line };
        keep(&mut self.commands, ran, HISTORY);
    }

    fn edited(&mut self, line: u64, time: Option<Time>, call: &Call, result: &str) {
        let was_there = was_there(result);
        let changes = call.detail.as_deref().map_or(&[][..], |detail| &detail.changes);
        for path in &call.subjects {
            let below = self.cwd.as_deref().and_then(|cwd| path.strip_prefix(cwd)).unwrap_or(path);
            self.topics.add_file(&redact(below), line);
            let own = changes.iter().find(|change| change.path.as_ref().is_none_or(|own| *own == **path));
            let (added, removed) = own.map_or(("", ""), |change| (change.added.as_str(), change.removed.as_str()));
            let whole = own.is_some_and(|change| change.whole && !change.added.is_empty());
            // Written whole, and not looked at before.
            let seen = !self.fold.looked_at.insert(path.to_string()) || was_there;
            let deleted = own.is_some_and(|change| change.deleted);
            let last = match (whole, seen) {
                _ if deleted => "deleted".into(),
                (true, false) => in_lines("new", added),
                (true, true) => in_lines("rewritten", added),
                (false, _) => code::summary(path, added, removed, false),
            };
            let known = self.files.iter_mut().find(|file| file.path == **path);
            let (edits, created) = known.as_ref().map_or((1, whole && !seen), |file| (file.edits + 1, file.created));
            let file = FileChange { path: path.to_string(), last, created, deleted, edits, time, line };
            match known {
                Some(known) => *known = file,
                None => self.files.push(file),
            }
            for name in code::functions(path, added) {
                if self.fold.functions.insert((path.to_string(), name.clone())) {
                    self.functions.push((path.to_string(), Item { text: name, time, line }));
                }
            }
        }
    }

    fn task(&mut self, task: &Task, time: Option<Time>, line: u64, result: &str) {
        let mut id = task.id.clone();
        if id.is_none() && task.state.is_none() {
            // Created: its number is in the answer, or the next one.
            self.fold.created += 1;
            let told = result.split_once('#').map(|(_, rest)| rest);
            let digits = told.map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
            id = Some(digits.filter(|digits| !digits.is_empty()).unwrap_or_else(|| self.fold.created.to_string()));
        }
        let known = id.as_ref().and_then(|id| self.tasks.iter_mut().find(|known| known.id.as_ref() == Some(id)));
        match (known, &task.text) {
            (Some(known), text) => {
                known.state = task.state.unwrap_or(known.state);
                known.text = text.clone().unwrap_or_else(|| known.text.clone());
                (known.time, known.line) = (time, line);
            }
            (None, Some(text)) => {
                let state = task.state.unwrap_or(TaskState::Open);
                self.tasks.push(ToDo { id, text: text.clone(), state, time, line });
            }
            (None, None) => {}
        }
    }
}

/// `new, 12 lines`
fn in_lines(how: &str, text: &str) -> String {
    match text.lines().count() {
        1 => format!("{how}, 1 line"),
        count => format!("{how}, {count} lines"),
    }
}
