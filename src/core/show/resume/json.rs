//! As JSON: one object whose keys are always all there. Everything that was found says on which line of the transcript.
//!
//! Texts stand here as they are; the [`gate`](crate::show::gate) writes the object.

use crate::ask::resume::Stop;
use crate::env::iso;
use crate::fold::code::{Work, work};
use crate::fold::continuity::{FileChange, Finding, ToDo, Used};
use crate::show::json::{Object, object};
use crate::show::{call, place, state};
use crate::state::notes::Kind;
use session_format::entry::{Act, TaskState};
use session_format::time::Time;

/// At most this many, the last ones.
const FILES: usize = 20;
const HISTORY: usize = 50;
const MESSAGES: usize = 20;

impl Stop<'_> {
    /// The user's limit wins over the model's, which few transcripts have.
    pub fn json(&self, limit: Option<usize>) -> Object {
        let all = &self.continuity;
        let (done, now_in) = (self.done, self.state());
        let is_pending = |task: &&ToDo| !matches!(task.state, TaskState::Done | TaskState::Dropped);
        let blockers = self.blockers();
        let blockers = blockers
            .iter()
            .map(|one| statement(None, Some(one.kind.name()), &one.item));
        object! {
            session_id: self.id,
            name: self.session.name,
            agent: self.session.format.label(),
            subagent: self.subagent,
            path: self.session.path.display().to_string(),
            title: all.title(),
            cwd: all.first_cwd.as_deref(),
            model: all.model.as_deref(),
            started_at: all.started.map(iso),
            last_activity_at: all.updated.map(iso),
            status: if self.is_active() { "active" } else { "idle" },
            state: now_in.kind.name(),
            reason: state::reason(&now_in, None),
            since: now_in.since.map(iso),
            source: now_in.source.name(),
            ending: self.ending(),
            pending: self.beside.pending.as_ref().map(call::pending),
            place: self.beside.place.as_ref().map(place::json),
            done,
            messages: all.messages,
            current_work: object! {
                thread_title: all.title(),
                intent: all.asked.best().map(of),
                is_directive: all.asked.substantive.is_some(),
                last_user_message: all.prompts.last().map(of),
                recap: all.recap.as_ref().map(of),
                last_agent_action: all.last_action().map(call),
                running: all.open_call().filter(|_| self.is_running()).as_ref().map(call),
            },
            files_modified: self.files_modified(),
            functions: (all.functions.iter())
                .map(|(path, one)| object! { name: one.text, path, line: one.line })
                .collect::<Vec<_>>(),
            commands: all.recent_commands().iter().map(command).collect::<Vec<_>>(),
            commits: said(&all.commits),
            pending_tasks: all.tasks.iter().filter(is_pending).map(task).collect::<Vec<_>>(),
            tasks: all.tasks.iter().map(task).collect::<Vec<_>>(),
            tool_history: newest(HISTORY, &all.history).iter().map(call).collect::<Vec<_>>(),
            summary: all.compaction.as_ref().or(all.answers.last()).map(of),
            pinned_facts: self.pins().chain(self.noted(Kind::Fact)).map(by_user).collect::<Vec<_>>(),
            decisions: self.with_noted(Kind::Decision, said(&all.decisions)),
            corrections: said(&all.corrections),
            blockers: self.with_noted(Kind::Blocker, blockers.collect()),
            open_tasks: self.with_noted(Kind::Next, said(&all.next)),
            files_touched: self.files_touched(),
            recent_messages: self.recent_messages(),
            topics: all.topics().into_iter().map(|(text, line)| object! { text, line }).collect::<Vec<_>>(),
            tags: &self.tags,
            tokens: object! { input: all.input, output: all.output },
            // How many tokens the model had before it last, and the most it may have.
            token_budget: object! { used: all.context(), limit: limit.map(|limit| limit as u64).or(all.window) },
            resume: self.command.iter().flatten().next(),
        }
    }

    fn with_noted(&self, kind: Kind, found: Vec<Object>) -> Vec<Object> {
        self.noted(kind).map(by_user).chain(found).collect()
    }

    /// The files that were changed last, in the order of their last changes.
    fn files_modified(&self) -> Vec<Object> {
        let mut files: Vec<&FileChange> = self.continuity.files.iter().collect();
        files.sort_by_key(|file| (file.time, file.line));
        newest(FILES, &files)
            .iter()
            .map(|file| modified(file))
            .collect()
    }

    /// The files read or edited in the history, and those changed before; each once.
    fn files_touched(&self) -> Vec<Object> {
        let all = &self.continuity;
        let used = all
            .history
            .iter()
            .filter(|used| matches!(used.act, Act::Edit | Act::Read) && !used.failed);
        let used = used.map(|used| (used.subject.as_str(), used.act, used.time, used.line));
        let changed = all
            .files
            .iter()
            .map(|file| (file.path.as_str(), Act::Edit, file.time, file.line));
        let mut files: Vec<(&str, Act, Option<Time>, u64)> = Vec::new();
        for file in used.chain(changed) {
            match files.iter_mut().find(|known| known.0 == file.0) {
                Some(known) if file.1 == Act::Edit => *known = file,
                Some(_) => {}
                None => files.push(file),
            }
        }
        let files = files.into_iter();
        files.map(|(path, act, time, line)| object! { path, act: act.name(), time: time.map(iso), line }).collect()
    }

    fn recent_messages(&self) -> Vec<Object> {
        let all = &self.continuity;
        let asked = all.prompts.iter().map(|item| ("user", item));
        let answered = all.answers.iter().map(|item| ("assistant", item));
        let mut messages: Vec<_> = asked.chain(answered).collect();
        messages.sort_by_key(|(_, item)| (item.line, item.time));
        newest(MESSAGES, &messages)
            .iter()
            .map(|(role, item)| statement(Some(role), None, item))
            .collect()
    }
}

fn statement(role: Option<&str>, kind: Option<&str>, item: &Finding) -> Object {
    let by = item.from_words.then_some("words");
    object! { role, kind, text: item.text, by, time: item.time.map(iso), line: item.line }
        .without_nulls()
}

fn of(item: &Finding) -> Object {
    statement(None, None, item)
}

/// Something that the user wrote down on purpose.
fn by_user(text: &str) -> Object {
    object! { text, by: "user" }
}

fn said(items: &[Finding]) -> Vec<Object> {
    items.iter().map(of).collect()
}

fn newest<T>(most: usize, all: &[T]) -> &[T] {
    &all[all.len().saturating_sub(most)..]
}

fn modified(file: &FileChange) -> Object {
    let action = match file {
        FileChange { deleted: true, .. } => "delete",
        FileChange { created: true, .. } => "create",
        _ => "edit",
    };
    let (timestamp, summary) = (file.time.map(iso), file.summary());
    object! { path: file.path, action, timestamp, summary, line: file.line }
}

fn command(
    Used {
        subject,
        failed,
        time,
        line,
        ..
    }: &Used,
) -> Object {
    object! { command: subject, failed, test: work(subject) == Work::Test, time: time.map(iso), line }
}

fn call(used: &Used) -> Object {
    let Used {
        tool,
        subject,
        failed,
        line,
        ..
    } = used;
    object! { tool, target: subject, at: used.time.map(iso), failed, line }
}

fn task(ToDo { state, item }: &ToDo) -> Object {
    object! { text: item.text, state: state.name(), time: item.time.map(iso), line: item.line }
}
