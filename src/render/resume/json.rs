//! As JSON: one object whose keys are always all there. Everything that was found says on which line of the transcript.

use serde::Serialize;

use super::Stop;
use crate::digest::code::Work;
use crate::digest::continuity::{FileChange, Item, Ran, ToDo, Used};
use crate::entry::{Act, TaskState};
use crate::env::iso;
use crate::render::json::{Tokens, written};
use crate::time::Time;

/// How much is shown of what there may be much of, the last ones.
const FILES: usize = 20;
const HISTORY: usize = 50;
const MESSAGES: usize = 20;

#[derive(Serialize)]
struct Whole<'a> {
    session_id: &'a str,
    name: Option<&'a str>,
    agent: &'a str,
    subagent: bool,
    path: &'a str,
    title: Option<&'a str>,
    cwd: Option<&'a str>,
    model: Option<&'a str>,
    started_at: Option<String>,
    last_activity_at: Option<String>,
    status: &'static str,
    state: &'static str,
    ending: &'static str,
    done: bool,
    messages: u64,
    current_work: CurrentWork<'a>,
    files_modified: Vec<Modified<'a>>,
    functions: Vec<Function<'a>>,
    commands: Vec<Command<'a>>,
    commits: Vec<Said<'a>>,
    pending_tasks: Vec<Task<'a>>,
    tasks: Vec<Task<'a>>,
    tool_history: Vec<Call<'a>>,
    summary: Option<Said<'a>>,
    pinned_facts: Vec<Said<'a>>,
    decisions: Vec<Said<'a>>,
    corrections: Vec<Said<'a>>,
    blockers: Vec<Said<'a>>,
    open_tasks: Vec<Said<'a>>,
    files_touched: Vec<Touched<'a>>,
    recent_messages: Vec<Said<'a>>,
    topics: Vec<Topic<'a>>,
    tags: &'a [String],
    tokens: Tokens,
    token_budget: TokenBudget,
    resume: Option<&'a str>,
}

#[derive(Serialize)]
struct CurrentWork<'a> {
    thread_title: Option<&'a str>,
    intent: Option<Said<'a>>,
    is_directive: bool,
    last_user_message: Option<Said<'a>>,
    recap: Option<Said<'a>>,
    last_agent_action: Option<Call<'a>>,
    running: Option<Call<'a>>,
}

/// Something that was said or found, or that the user wrote down.
#[derive(Serialize, Default)]
struct Said<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    text: &'a str,
    /// `user`: written down on purpose; `words`: taken from what somebody said in so many words.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
}

impl<'a> Said<'a> {
    fn of(item: &'a Item) -> Said<'a> {
        let by = item.from_words.then_some("words");
        Said { text: &item.text, by, time: item.time.map(iso), line: Some(item.line), ..Said::default() }
    }

    fn by_user(text: &'a str) -> Said<'a> {
        Said { text, by: Some("user"), ..Said::default() }
    }
}

#[derive(Serialize)]
struct Modified<'a> {
    path: &'a str,
    action: &'static str,
    timestamp: Option<String>,
    summary: String,
    line: u64,
}

#[derive(Serialize)]
struct Touched<'a> {
    path: &'a str,
    act: &'static str,
    time: Option<String>,
    line: u64,
}

#[derive(Serialize)]
struct Topic<'a> {
    text: &'a str,
    line: u64,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    path: &'a str,
    line: u64,
}

#[derive(Serialize)]
struct Command<'a> {
    command: &'a str,
    failed: bool,
    test: bool,
    time: Option<String>,
    line: u64,
}

#[derive(Serialize)]
struct Task<'a> {
    text: &'a str,
    state: &'static str,
    time: Option<String>,
    line: u64,
}

#[derive(Serialize)]
struct Call<'a> {
    tool: &'a str,
    target: &'a str,
    at: Option<String>,
    failed: bool,
    line: u64,
}

/// How many tokens the model had before it last, and the most it may have, as far as that is known.
#[derive(Serialize)]
struct TokenBudget {
    used: u64,
    limit: Option<u64>,
}

impl Stop<'_> {
    /// The object. A limit that the user gives counts before the one of the model, which few transcripts tell.
    pub fn json(&self, limit: Option<usize>) -> String {
        let all = self.continuity;
        let running = all.running();
        written(&Whole {
            session_id: self.id,
            name: self.name,
            agent: self.agent,
            subagent: self.subagent,
            path: &self.path,
            title: all.title(),
            cwd: all.cwd.as_deref(),
            model: all.model.as_deref(),
            started_at: all.started.map(iso),
            last_activity_at: all.updated.map(iso),
            status: self.status,
            state: self.state,
            ending: all.ending.name(),
            done: self.done,
            messages: all.messages,
            current_work: CurrentWork {
                thread_title: all.title(),
                intent: all.asked.best().map(Said::of),
                is_directive: all.asked.substantive.is_some(),
                last_user_message: all.prompts.last().map(Said::of),
                recap: all.recap.as_ref().map(Said::of),
                last_agent_action: all.last_action().map(call),
                running: running.as_ref().map(call),
            },
            files_modified: self.files_modified(),
            functions: all
                .functions
                .iter()
                .map(|(path, one)| Function { name: &one.text, path, line: one.line })
                .collect(),
            commands: all.recent_commands().iter().map(command).collect(),
            commits: said(&all.commits),
            pending_tasks: all.tasks.iter().filter(|task| is_pending(task)).map(task).collect(),
            tasks: all.tasks.iter().map(task).collect(),
            tool_history: newest(HISTORY, &all.history).iter().map(call).collect(),
            summary: all.compaction.as_ref().or(all.answers.last()).map(Said::of),
            pinned_facts: self
                .pins
                .iter()
                .map(|pin| Said::by_user(pin))
                .chain(self.noted("fact").map(Said::by_user))
                .collect(),
            decisions: self.with_noted("decision", said(&all.decisions)),
            corrections: said(&all.corrections),
            blockers: self.with_noted("blocker", self.blockers()),
            open_tasks: self.with_noted("next", said(&all.next)),
            files_touched: self.files_touched(),
            recent_messages: self.recent_messages(),
            topics: all.topics().into_iter().map(|(text, line)| Topic { text, line }).collect(),
            tags: &self.tags,
            tokens: Tokens { input: all.input, output: all.output },
            token_budget: TokenBudget { used: all.context(), limit: limit.map(|limit| limit as u64).or(all.window) },
            resume: self.command.as_deref(),
        })
    }

    /// What the user noted of a kind, then what was found.
    fn with_noted<'s>(&'s self, kind: &'s str, found: Vec<Said<'s>>) -> Vec<Said<'s>> {
        self.noted(kind).map(Said::by_user).chain(found).collect()
    }

    fn blockers(&self) -> Vec<Said<'_>> {
        let all =
            self.continuity.blockers.iter().map(|one| Said { kind: Some(one.kind.name()), ..Said::of(&one.item) });
        all.collect()
    }

    /// The files that were changed last, in the order of their last changes.
    fn files_modified(&self) -> Vec<Modified<'_>> {
        let mut files: Vec<&FileChange> = self.continuity.files.iter().collect();
        files.sort_by_key(|file| (file.time, file.line));
        newest(FILES, &files).iter().map(|file| modified(file)).collect()
    }

    /// What was read or edited, as far as the history goes, and what was changed before; each once.
    fn files_touched(&self) -> Vec<Touched<'_>> {
        let all = self.continuity;
        let used = all.history.iter().filter(|used| matches!(used.act, Act::Edit | Act::Read) && !used.failed);
        let used = used.map(|used| touched(&used.subject, used.act, used.time, used.line));
        let changed = all.files.iter().map(|file| touched(&file.path, Act::Edit, file.time, file.line));
        let mut files: Vec<Touched> = Vec::new();
        for file in used.chain(changed) {
            match files.iter_mut().find(|known| known.path == file.path) {
                Some(known) if file.act == Act::Edit.name() => *known = file,
                Some(_) => {}
                None => files.push(file),
            }
        }
        files
    }

    fn recent_messages(&self) -> Vec<Said<'_>> {
        let all = self.continuity;
        let asked = all.prompts.iter().map(|item| ("user", item));
        let answered = all.answers.iter().map(|item| ("assistant", item));
        let mut messages: Vec<_> = asked.chain(answered).collect();
        messages.sort_by_key(|(_, item)| (item.line, item.time));
        newest(MESSAGES, &messages).iter().map(|(role, item)| Said { role: Some(role), ..Said::of(item) }).collect()
    }
}

fn said(items: &[Item]) -> Vec<Said<'_>> {
    items.iter().map(Said::of).collect()
}

fn newest<T>(most: usize, all: &[T]) -> &[T] {
    &all[all.len().saturating_sub(most)..]
}

fn modified(file: &FileChange) -> Modified<'_> {
    let action = match file {
        FileChange { deleted: true, .. } => "delete",
        FileChange { created: true, .. } => "create",
        _ => "edit",
    };
    Modified { path: &file.path, action, timestamp: file.time.map(iso), summary: file.summary(), line: file.line }
}

fn touched(path: &str, act: Act, time: Option<Time>, line: u64) -> Touched<'_> {
    Touched { path, act: act.name(), time: time.map(iso), line }
}

fn command(ran: &Ran) -> Command<'_> {
    let Ran { command, work, failed, time, line } = ran;
    Command { command, failed: *failed, test: *work == Work::Test, time: time.map(iso), line: *line }
}

fn call(used: &Used) -> Call<'_> {
    Call { tool: &used.tool, target: &used.subject, at: used.time.map(iso), failed: used.failed, line: used.line }
}

fn task(task: &ToDo) -> Task<'_> {
    Task { text: &task.text, state: task.state.name(), time: task.time.map(iso), line: task.line }
}

fn is_pending(task: &ToDo) -> bool {
    matches!(task.state, TaskState::Open | TaskState::Active | TaskState::Blocked)
}
