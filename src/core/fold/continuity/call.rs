//! Calls and their results: what was run, edited, planned, asked and refused.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::found::{FileChange, Finding, ToDo, Used};
use super::{COMMITS, Continuity, FUNCTIONS, HISTORY, Pending, SoFar, TASKS, keep, kept};
use crate::fold::code;
use crate::fold::text::first_sentence;
use session_format::boundary::substr;
use session_format::entry::{Act, Call, Change, Detail, Id, LongText, Task, TaskState, What};
use session_format::path::absolute;
use session_format::time::Time;

impl Continuity {
    pub(super) fn call(&mut self, line: u64, time: Option<Time>, call: &Call) {
        let Some(id) = call.id else {
            // Nothing will ever tell how it ended.
            let ended = EndedCall {
                call,
                failed: false,
                denied: false,
                replaced: false,
                result: None,
                time,
                line,
            };
            return self.ended(&ended);
        };
        let (call, round) = (call.clone().into_owned(), self.so_far.turns.round);
        self.so_far.pending.insert(
            id,
            Pending {
                line,
                time,
                call,
                round,
            },
        );
        self.so_far.order.push(id);
        // It must not grow with the session.
        if self.so_far.order.len() > 2 * self.so_far.pending.len() + 64 {
            let SoFar { order, pending, .. } = &mut self.so_far;
            order.retain(|id| pending.contains_key(id));
        }
    }

    pub(super) fn result(&mut self, result: &What) {
        let What::Result {
            call: Some(id),
            failed,
            denied,
            unclear,
            replaced,
            text,
            ..
        } = result
        else {
            return;
        };
        let Some(Pending {
            line, time, call, ..
        }) = self.so_far.pending.remove(id)
        else {
            return;
        };
        let (failed, denied, replaced) = (*failed || call.failed, *denied, *replaced);
        let result = text.as_ref();
        let ended = EndedCall {
            call: &call,
            failed,
            denied,
            replaced,
            result,
            time,
            line,
        };
        let failing_line = |command: &str| {
            let line = command
                .lines()
                .find(|line| code::check_name(line).is_some())
                .or(command.lines().next());
            ended.item(kept(line.unwrap_or_default()))
        };
        self.so_far
            .failing
            .ended(&call, failed, denied || *unclear, failing_line);
        self.ended(&ended);
    }

    fn ended(&mut self, done: &EndedCall) {
        let call = done.call;
        keep(
            &mut self.history,
            used(call, done.failed, done.time, done.line),
            HISTORY,
        );
        self.permission(done);
        match call.act {
            Act::Run if !done.denied => call
                .subjects
                .iter()
                .for_each(|command| self.ran(command, done)),
            Act::Edit if !done.failed => self.edited(done),
            Act::Read if !done.failed => {
                _ = self
                    .so_far
                    .looked_at
                    .insert(key(&self.resolved(first_subject(call))));
            }
            _ => {}
        }
        if let Some(detail) = call.detail.as_deref() {
            self.planned(done, detail);
            if !done.failed {
                self.answered(done, detail);
                self.tasks(done, detail);
            }
        }
    }

    /// A refused call stands in the way until it is done.
    fn permission(&mut self, done: &EndedCall) {
        let what = format!("{} {}", done.call.tool, first_subject(done.call))
            .trim()
            .to_owned();
        self.so_far.denied.retain(|denied| denied.text != what);
        let is_plan = done
            .call
            .detail
            .as_deref()
            .is_some_and(|detail| detail.plan.is_some());
        if done.denied && !is_plan {
            self.so_far.denied.push(done.item(what));
        }
    }

    fn planned(&mut self, done: &EndedCall, detail: &Detail) {
        let Some(plan) = detail.plan.as_deref().map(plan_title) else {
            return;
        };
        if done.denied {
            self.so_far.rejected = Some(done.item(format!("rejected the plan {plan}")));
        } else if !done.failed {
            self.decide(done.item(format!("approved the plan {plan}")));
        }
    }

    fn answered(&mut self, done: &EndedCall, detail: &Detail) {
        let Some(question) = &detail.question else {
            return;
        };
        let result = done.result();
        let mut answers = answers(&result);
        if answers.is_empty() {
            // `The user answered:`, and then the answer.
            let answer = result
                .split_once(":\n")
                .filter(|(start, _)| !start.contains('\n'));
            let answer = answer.map_or(&*result, |(_, answer)| answer.trim_start());
            answers.push((first_sentence(question), first_sentence(answer)));
        }
        for (question, answer) in answers {
            self.decide(done.item(format!("{question} {answer}")));
        }
    }

    fn ran(&mut self, subject: &str, done: &EndedCall) {
        // Refused by the client before anything ran.
        if subject.is_empty() {
            return;
        }
        let is_sure = |text: &String| {
            let commit = code::GitEvent::Committed(text.clone());
            !done.failed && code::git_events(subject).contains(&commit)
        };
        let committed = |text: &String| {
            if is_sure(text) {
                return !done.result().contains("nothing to commit");
            }
            // Git says so, whatever failed after it, or wherever its output went.
            done.result().contains(&format!("] {text}"))
        };
        for text in code::commit_subjects(subject).into_iter().filter(committed) {
            keep(&mut self.commits, done.item(text), COMMITS);
        }
        let ran = used(done.call, done.failed, done.time, done.line);
        keep(
            &mut self.commands,
            Used {
                subject: kept(subject),
                ..ran
            },
            HISTORY,
        );
    }

    fn edited(&mut self, done: &EndedCall) {
        for path in &done.call.subjects {
            let file = key(&self.resolved(path));
            let is_new = self.so_far.looked_at.insert(file);
            let unknown = Change::default();
            let (change, created) = done
                .call
                .change(path, is_new, done.replaced)
                .unwrap_or((&unknown, false));
            self.changed(path, file, change, created, done);
        }
    }

    fn changed(&mut self, path: &str, file: Id, change: &Change, created: bool, done: &EndedCall) {
        let Change {
            added,
            removed,
            deleted,
            ..
        } = change;
        let last = match change.whole {
            _ if *deleted => "deleted".into(),
            true => in_lines(if created { "new" } else { "rewritten" }, added),
            false => code::summary(path, added, removed),
        };
        let index = *self.so_far.files.entry(file).or_insert(self.files.len());
        if index == self.files.len() {
            self.files.push(FileChange {
                path: path.into(),
                created,
                ..FileChange::default()
            });
        }
        let file = &mut self.files[index];
        (file.last, file.deleted, file.edits) = (last, *deleted, file.edits + 1);
        (file.time, file.line) = (done.time, done.line);
        for name in code::functions(path, added) {
            if self.functions.len() < FUNCTIONS
                && self.so_far.functions.insert((index, name.clone()))
            {
                self.functions
                    .push((self.files[index].path.clone(), done.item(name)));
            }
        }
    }

    /// Takes in what a subagent edited. That stands in a transcript of its own, so it has no line here.
    pub(crate) fn absorb(&mut self, subagent: Continuity) {
        let cwd = subagent
            .first_cwd
            .as_deref()
            .or(self.first_cwd.as_deref())
            .unwrap_or_default()
            .to_owned();
        for file in subagent.files {
            let full = absolute(Path::new(&cwd), &file.path);
            let path = if self.resolved(&file.path) == full {
                file.path.clone()
            } else {
                full.display().to_string()
            };
            let index = *self
                .so_far
                .files
                .entry(key(&full))
                .or_insert(self.files.len());
            match self.files.get_mut(index) {
                None => self.files.push(FileChange {
                    path,
                    line: 0,
                    ..file
                }),
                Some(known) => {
                    known.edits += file.edits;
                    if file.time >= known.time {
                        (known.last, known.deleted, known.time, known.line) =
                            (file.last, file.deleted, file.time, 0);
                    }
                }
            }
        }
    }

    /// The absolute form of a path, so that two spellings of a file are one.
    fn resolved(&self, path: &str) -> PathBuf {
        absolute(
            Path::new(self.first_cwd.as_deref().unwrap_or_default()),
            path,
        )
    }

    fn tasks(&mut self, done: &EndedCall, detail: &Detail) {
        self.tasks_are_old &= detail.tasks.is_empty() && !detail.all_tasks;
        if detail.all_tasks {
            self.tasks.clear();
            self.so_far.tasks.clear();
        }
        detail
            .tasks
            .iter()
            .take(TASKS)
            .for_each(|task| self.task(task, done));
    }

    fn task(&mut self, task: &Task, done: &EndedCall) {
        let mut id = task.id.clone();
        if id.is_none() && task.state.is_none() {
            // Created: its number is in the answer, or the next one.
            self.so_far.created += 1;
            let told = done.result();
            let told = told.split_once('#').map(|(_, rest)| rest);
            let digits = told.map(|rest| {
                rest.chars()
                    .take_while(char::is_ascii_digit)
                    .collect::<String>()
            });
            id = Some(
                digits
                    .filter(|digits| !digits.is_empty())
                    .unwrap_or_else(|| self.so_far.created.to_string()),
            );
        }
        let known = id
            .as_ref()
            .and_then(|id| self.so_far.tasks.get(id))
            .map(|index| &mut self.tasks[*index]);
        match (known, &task.text) {
            (Some(known), text) => {
                known.state = task.state.unwrap_or(known.state);
                known.item = done.item(text.as_ref().unwrap_or(&known.item.text).clone());
            }
            (None, Some(text)) => {
                self.so_far
                    .tasks
                    .extend(id.map(|id| (id, self.tasks.len())));
                let state = task.state.unwrap_or(TaskState::Open);
                self.tasks.push(ToDo {
                    state,
                    item: done.item(text.clone()),
                });
            }
            (None, None) => {}
        }
    }
}

/// A call that is over.
struct EndedCall<'c> {
    call: &'c Call<'c>,
    failed: bool,
    /// The user did not allow it.
    denied: bool,
    /// It replaced something.
    replaced: bool,
    result: Option<&'c LongText<'c>>,
    time: Option<Time>,
    line: u64,
}

impl EndedCall<'_> {
    /// The answer of the tool.
    fn result(&self) -> Cow<'_, str> {
        self.result.map(LongText::text).unwrap_or_default()
    }

    fn item(&self, text: String) -> Finding {
        Finding::new(text, self.time, self.line)
    }
}

pub(super) fn used(call: &Call, failed: bool, time: Option<Time>, line: u64) -> Used {
    Used {
        tool: call.tool.to_string(),
        act: call.act,
        subject: kept(first_subject(call)),
        failed,
        time,
        line,
    }
}

fn key(path: &Path) -> Id {
    Id::of(path.as_os_str().as_encoded_bytes())
}

fn first_subject<'c>(call: &'c Call) -> &'c str {
    call.subjects.first().map_or("", |subject| subject)
}

/// `new, 12 lines`
fn in_lines(how: &str, text: &str) -> String {
    match text.lines().count() {
        1 => format!("{how}, 1 line"),
        count => format!("{how}, {count} lines"),
    }
}

/// The first heading or line of a plan.
pub(super) fn plan_title(plan: &str) -> String {
    let bare = |line: &'_ str| {
        line.trim()
            .trim_start_matches(['#', '*', '-', ' '])
            .to_owned()
    };
    format!(
        "\"{}\"",
        plan.lines()
            .map(bare)
            .find(|line| !line.is_empty())
            .unwrap_or_default()
    )
}

/// `"Which database?"="PostgreSQL"`: the questions and answers in a result.
fn answers(result: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = result;
    while let Some(at) = rest.find("\"=\"") {
        let question = substr(rest, ..at)
            .rsplit('"')
            .next()
            .unwrap_or_default()
            .to_owned();
        rest = substr(rest, at + 3..);
        let end = rest.find('"').unwrap_or(rest.len());
        found.push((question, substr(rest, ..end).to_owned()));
        rest = substr(rest, end..);
    }
    found
}
