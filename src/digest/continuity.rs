//! Where a session stopped: its goal, what it changed and ran, what is open, and how it ended.
//!
//! Structure beats words: tasks, answered questions, plans and outcomes of commands come from calls and their results.
//! Words count only where the rule was measured to be right nine times in ten (`words`). Every item says on which line of
//! the transcript it stands, so that it can be checked.

use std::collections::{HashMap, HashSet};

use super::Turn;
use super::code::{self, Work};
use super::words::{self, Topics};
use crate::entry::{Act, Call, Entry, Facts, Id, Mark, Role, Task, TaskState, TitleBy, What};
use crate::secrets::redact;
use crate::time::{DAY, MINUTE, Time};

/// Something that was said or found, and where.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Item {
    pub text: String,
    pub time: Option<Time>,
    /// The line of the transcript, counted from 1; 0 if only its end was read.
    pub line: u64,
}

/// A file that was changed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FileChange {
    pub path: String,
    /// The last change, in one line.
    pub last: String,
    pub created: bool,
    pub deleted: bool,
    pub edits: u64,
    pub time: Option<Time>,
    pub line: u64,
}

impl FileChange {
    /// What was done to it, in one line.
    pub fn summary(&self) -> String {
        match self.edits {
            0 | 1 => self.last.clone(),
            edits if self.created && !self.deleted => format!("new; {}, the last of {edits} edits", self.last),
            edits => format!("{}, the last of {edits} edits", self.last),
        }
    }
}

/// A command that ran.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    pub command: String,
    pub work: Work,
    pub failed: bool,
    pub time: Option<Time>,
    pub line: u64,
}

/// A call, for the history of tools.
#[derive(Debug, Clone, PartialEq)]
pub struct Used {
    pub tool: String,
    pub act: Act,
    pub subject: String,
    pub failed: bool,
    pub time: Option<Time>,
    pub line: u64,
}

/// Something to be done.
#[derive(Debug, Clone, PartialEq)]
pub struct ToDo {
    pub id: Option<String>,
    pub text: String,
    pub state: TaskState,
    pub time: Option<Time>,
    pub line: u64,
}

/// What stands in the way, by its kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocker {
    pub kind: Obstacle,
    pub item: Item,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// A test, build or check failed last.
    Failing,
    /// The agent asked, and nobody answered.
    Question,
    /// The user did not allow a call.
    Denied,
    /// There is no more to be had for now: of the account, or of the room that a model has.
    Limit,
    /// The model, the network or the client failed.
    Error,
    /// A task is marked as blocked.
    Task,
    /// A call has no result.
    Crashed,
    /// The user said so.
    Said,
}

impl Obstacle {
    pub fn name(self) -> &'static str {
        match self {
            Obstacle::Failing => "failing",
            Obstacle::Question => "question",
            Obstacle::Denied => "denied",
            Obstacle::Limit => "limit",
            Obstacle::Error => "error",
            Obstacle::Task => "task",
            Obstacle::Crashed => "crashed",
            Obstacle::Said => "said",
        }
    }
}

/// How a session ended, as far as it did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ending {
    /// Nobody said anything.
    #[default]
    None,
    /// The agent has answered.
    Answered,
    /// The agent has asked something.
    Asked,
    /// A prompt, a call or a result came last.
    Working,
    Interrupted,
    Failed,
    /// A prompt, a call or a result came last, and then nothing for a while.
    Unfinished,
}

impl Ending {
    /// Whose turn it is after that.
    pub fn turn(self) -> Turn {
        match self {
            Ending::None => Turn::None,
            Ending::Working | Ending::Unfinished => Turn::Agent,
            Ending::Answered | Ending::Asked | Ending::Interrupted => Turn::User,
            Ending::Failed => Turn::Failed,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Ending::None => "none",
            Ending::Answered => "answered",
            Ending::Asked => "asked",
            Ending::Working => "working",
            Ending::Interrupted => "interrupted",
            Ending::Failed => "failed",
            Ending::Unfinished => "unfinished",
        }
    }
}

/// All of it.
#[derive(Debug, Default)]
pub struct Continuity {
    pub session: Option<String>,
    pub cwd: Option<String>,
    pub person_title: Option<String>,
    pub agent_title: Option<String>,
    pub model: Option<String>,
    pub started: Option<Time>,
    pub updated: Option<Time>,
    pub input: u64,
    pub output: u64,
    /// How many tokens the model can have before it at once, if the transcript tells.
    pub window: Option<u64>,
    pub messages: u64,
    /// What the user typed, and what the agent said, the oldest first; of both the last few.
    pub prompts: Vec<Item>,
    pub answers: Vec<Item>,
    pub goal: Option<Item>,
    /// The goal is a directive, not only the topic.
    pub sure: bool,
    pub files: Vec<FileChange>,
    pub functions: Vec<(String, Item)>,
    pub commands: Vec<Ran>,
    pub commits: Vec<Item>,
    pub history: Vec<Used>,
    pub tasks: Vec<ToDo>,
    pub decisions: Vec<Item>,
    /// What the user told the agent not to do, after it had done something.
    pub corrections: Vec<Item>,
    pub blockers: Vec<Blocker>,
    pub next: Vec<Item>,
    pub topics: Topics,
    pub compaction: Option<Item>,
    pub ending: Ending,
    /// The first thing the user said, if it was read.
    pub first_prompt: Option<String>,
    /// The last prompt has had no answer.
    pub unanswered: bool,
    /// How many prompts there were in all.
    pub prompted: u64,
    pub broken: u64,
    /// Only its end was read.
    pub partial: bool,
    fold: Fold,
}

/// What is needed only while it is put together.
#[derive(Debug, Default)]
struct Fold {
    seen: HashSet<Id>,
    counted: HashSet<Id>,
    used: HashMap<Id, (u64, u64)>,
    queued: Option<String>,
    /// Calls that have no result yet.
    pending: HashMap<Id, (u64, Option<Time>, Call<'static>)>,
    order: Vec<Id>,
    /// Runs of tests, builds and checks that failed and have not succeeded since, by what was run.
    failing: Vec<(String, Item)>,
    denied: Vec<Item>,
    /// The files that were read or edited.
    looked_at: HashSet<String>,
    functions: HashSet<(String, String)>,
    error: Option<Item>,
    created: u64,
    /// Tokens of the last request, and characters said by both sides.
    context: u64,
    said: u64,
}

/// How long it is of interest where a session stopped.
pub const FRESH: i64 = 7 * DAY;

/// How much is kept of what there may be much of.
const PROMPTS: usize = 60;
const HISTORY: usize = 50;
const DECISIONS: usize = 25;
const TEXT: usize = 4000;

impl Continuity {
    pub fn facts(&mut self, facts: &Facts) {
        if let Some(time) = facts.time {
            self.started = Some(self.started.map_or(time, |started| started.min(time)));
            self.updated = Some(self.updated.map_or(time, |updated| updated.max(time)));
        }
        let set = |place: &mut Option<String>, value: &Option<std::borrow::Cow<str>>| {
            if let Some(value) = value {
                *place = Some(value.trim().to_owned()).filter(|value| !value.is_empty());
            }
        };
        if self.session.is_none() {
            set(&mut self.session, &facts.session);
        }
        if self.cwd.is_none() {
            set(&mut self.cwd, &facts.cwd);
        }
        set(&mut self.model, &facts.model);
        if let Some((by, title)) = &facts.title {
            let place = match by {
                TitleBy::Person => &mut self.person_title,
                TitleBy::Agent => &mut self.agent_title,
            };
            *place = Some(title.trim().to_owned()).filter(|title| !title.is_empty());
        }
        if let Some(usage) = facts.usage {
            self.window = usage.window.or(self.window);
            let own = Some(usage.input.saturating_add(usage.output)).filter(|_| !usage.total);
            self.fold.context = usage.context.or(own).unwrap_or(self.fold.context);
            if usage.total {
                self.input = self.input.max(usage.input);
                self.output = self.output.max(usage.output);
            } else {
                // Lines of one message repeat its usage, and early ones may hold less.
                let known = facts.message.map(|id| self.fold.used.entry(id).or_default());
                let (input, output) = known.as_deref().copied().unwrap_or_default();
                self.input = self.input.saturating_add(usage.input.saturating_sub(input));
                self.output = self.output.saturating_add(usage.output.saturating_sub(output));
                if let Some(known) = known {
                    *known = (usage.input.max(input), usage.output.max(output));
                }
            }
        }
    }

    pub fn entry(&mut self, line: u64, entry: &Entry) {
        let again = entry.key.is_some_and(|key| !self.fold.seen.insert(key));
        if entry.relisted || again && !matches!(entry.what, What::Result { .. }) {
            return;
        }
        let item = |text: &str| Item { text: ends_of(text), time: entry.time, line };
        if let What::Text(text) = &entry.what {
            self.fold.said += text.chars().count() as u64;
        }
        match (&entry.what, entry.role) {
            (What::Text(text), Role::User) => {
                let twin = self.fold.queued.take().as_deref() == Some(text) && !entry.queued;
                self.fold.queued = entry.queued.then(|| text.to_string());
                if !twin {
                    self.prompt(item(text));
                }
            }
            (What::Text(text), Role::Assistant) => {
                self.message(entry);
                self.unanswered = false;
                keep(&mut self.answers, item(text), PROMPTS);
                self.ending = if words::is_question(text) { Ending::Asked } else { Ending::Answered };
                self.fold.error = None;
            }
            (What::Call(call), _) => {
                if entry.message.is_some() {
                    self.message(entry);
                }
                self.ending = Ending::Working;
                self.unanswered = false;
                self.fold.error = None;
                self.call(line, entry.time, call);
            }
            (What::Result { call: Some(id), failed, text }, _) => {
                if !matches!(self.ending, Ending::Interrupted) {
                    self.ending = Ending::Working;
                }
                self.result(*id, *failed, text.as_deref().unwrap_or_default());
            }
            (What::Mark(Mark::Compaction, text), _) => self.compaction = Some(item(bare_summary(text))),
            (What::Mark(Mark::Interrupt, _), _) => self.ending = Ending::Interrupted,
            (What::Mark(Mark::Error, text), _) => {
                self.ending = Ending::Failed;
                self.fold.error = Some(item(text));
            }
            _ => {}
        }
    }

    fn prompt(&mut self, item: Item) {
        self.messages += 1;
        self.prompted += 1;
        self.unanswered = true;
        // Whoever is prompted again goes on without what was refused.
        self.fold.denied.clear();
        if self.first_prompt.is_none() && !self.partial {
            self.first_prompt = Some(item.text.clone());
        }
        self.ending = Ending::Working;
        self.fold.error = None;
        // A topic is told in lower case, where no secret would be known any more.
        self.topics.add(&redact(&item.text), 1);
        if let Some(text) = words::decision(&item.text) {
            self.decide(Item { text, ..item.clone() });
        }
        let acted = !self.history.is_empty() || !self.answers.is_empty();
        if let Some(text) = words::correction(&item.text).filter(|_| acted) {
            self.corrections.push(Item { text, ..item.clone() });
        }
        keep(&mut self.prompts, item, PROMPTS);
    }

    fn message(&mut self, entry: &Entry) {
        let id = entry.message.or(entry.key);
        self.messages += u64::from(id.is_none_or(|id| self.fold.counted.insert(id)));
    }

    /// The newest word on a matter counts.
    fn decide(&mut self, item: Item) {
        // Of very many the last count; comparing each with each would take for ever.
        let excess = (self.decisions.len() + 1).saturating_sub(DECISIONS);
        self.decisions.drain(..excess);
        self.decisions.retain(|known| !words::overlap(&known.text, &item.text));
        self.decisions.push(item);
    }

    fn call(&mut self, line: u64, time: Option<Time>, call: &Call) {
        let owned = match What::Call(call.clone()).into_owned() {
            What::Call(call) => call,
            _ => return,
        };
        match call.id {
            Some(id) => {
                self.fold.pending.insert(id, (line, time, owned));
                self.fold.order.push(id);
            }
            // Nothing will ever tell how it ended.
            None => self.conclude(line, time, &owned, false, ""),
        }
    }

    fn result(&mut self, id: Id, failed: bool, text: &str) {
        if let Some((line, time, call)) = self.fold.pending.remove(&id) {
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
        if let (Work::Commit, false, Some(text)) = (work, failed, code::commit_subject(subject)) {
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
            self.topics.add_file(&redact(below));
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

    /// Nobody has written for a while.
    pub fn is_quiet(&self, now: Time) -> bool {
        self.updated.is_none_or(|updated| now.0 - updated.0 > 5 * MINUTE)
    }

    /// What follows from all that was read. `quiet` says that nobody has written for a while.
    pub fn finish(&mut self, quiet: bool) {
        if self.ending != Ending::Working {
            // The agent went on without a result, so none was to come.
            for (line, time, call) in self.fold.order.iter().filter_map(|id| self.fold.pending.get(id)) {
                // Nothing is known of how it ended, so of most it is not even known whether they were begun.
                if let (Act::Fetch | Act::Search | Act::Read, Some(subject)) = (call.act, call.subjects.first()) {
                    let (tool, subject) = (call.tool.to_string(), subject.to_string());
                    let used = Used { tool, act: call.act, subject, failed: false, time: *time, line: *line };
                    self.history.push(used);
                }
            }
            self.history.sort_by_key(|used| used.line);
        }
        let prompts: Vec<&str> = self.prompts.iter().map(|item| item.text.as_str()).collect();
        if let Some(goal) = words::goal(&prompts) {
            let place = &self.prompts[goal.prompt];
            self.goal = Some(Item { text: goal.text, ..place.clone() });
            self.sure = goal.sure;
        }
        if quiet && self.ending == Ending::Working {
            self.ending = Ending::Unfinished;
        }
        self.blockers = self.obstacles();
        self.next = self.open();
    }

    fn obstacles(&mut self) -> Vec<Blocker> {
        let blocker = |kind: Obstacle| move |item: Item| Blocker { kind, item };
        let mut all: Vec<Blocker> =
            self.fold.failing.drain(..).map(|(_, item)| item).map(blocker(Obstacle::Failing)).collect();
        if self.ending == Ending::Asked
            && let Some(answer) = self.answers.last()
        {
            let text = last_sentence(&answer.text).to_owned();
            all.push(Blocker { kind: Obstacle::Question, item: Item { text, ..answer.clone() } });
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
        let mut open = self.fold.order.iter().filter_map(|id| self.fold.pending.get(id));
        let crashed = open.next_back().filter(|_| self.ending == Ending::Unfinished);
        all.extend(crashed.map(|(line, time, call)| {
            let subject = call.subjects.first().map(|subject| subject.to_string()).unwrap_or_default();
            let question = call.detail.as_deref().and_then(|detail| detail.question.clone());
            let (kind, text) = match question {
                Some(question) => (Obstacle::Question, question),
                None => (Obstacle::Crashed, format!("{} {subject}", call.tool).trim().to_owned()),
            };
            Blocker { kind, item: Item { text, time: *time, line: *line } }
        }));
        let said = self.prompts.last().and_then(|last| Some((words::blocked(&last.text)?, last)));
        all.extend(said.map(|(text, last)| Blocker { kind: Obstacle::Said, item: Item { text, ..last.clone() } }));
        all
    }

    /// What is to be done next: tasks that are at work, then open ones, then what the agent said, less what was done.
    fn open(&self) -> Vec<Item> {
        let of = |state: TaskState| self.tasks.iter().filter(move |task| task.state == state);
        let mut next: Vec<Item> = of(TaskState::Active)
            .chain(of(TaskState::Open))
            .map(|task| Item { text: task.text.clone(), time: task.time, line: task.line })
            .collect();
        if let Some(answer) = self.answers.last() {
            let said = words::next_steps(&answer.text).into_iter();
            next.extend(said.map(|text| Item { text, ..answer.clone() }));
        }
        let asks = |prompt: &&Item| self.unanswered && words::goal(&[&prompt.text]).is_some();
        next.extend(self.prompts.last().filter(asks).cloned());
        let done: Vec<&str> = of(TaskState::Done)
            .map(|task| task.text.as_str())
            .chain(self.commits.iter().map(|commit| commit.text.as_str()))
            .collect();
        next.retain(|item| !done.iter().any(|done| words::overlap(done, &item.text)));
        let mut seen = HashSet::new();
        next.retain(|item| seen.insert(item.text.clone()));
        next
    }

    /// What a person calls it, in the order of who gave the title.
    pub fn title(&self) -> Option<&str> {
        [&self.person_title, &self.agent_title, &self.first_prompt].into_iter().flatten().map(String::as_str).next()
    }

    /// The last thing the agent did: a call that succeeded, and if there is one, one that did something to something.
    pub fn last_action(&self) -> Option<&Used> {
        let done = || self.history.iter().rev().filter(|used| !used.failed);
        let to_something = |used: &&Used| !used.subject.is_empty() && !matches!(used.act, Act::Plan | Act::Other);
        done().find(to_something).or(done().next()).or(self.history.last())
    }

    /// Edits that failed since the last prompt, and did not succeed later.
    pub fn failed_edits(&self) -> impl Iterator<Item = &Used> {
        let prompt = self.prompts.last().map_or(0, |last| last.line);
        self.history.iter().enumerate().filter_map(move |(at, used)| {
            let redone = self.history[at..].iter().any(|later| !later.failed && later.subject == used.subject);
            (used.act == Act::Edit && used.failed && used.line > prompt && !redone).then_some(used)
        })
    }

    /// How many tokens the model had before it last: as the client counted, else about a quarter of what was said.
    pub fn context(&self) -> u64 {
        if self.fold.context > 0 { self.fold.context } else { self.fold.said.div_ceil(4) }
    }

    /// One prompt and nothing to show for it: a question in passing, or a helper's work.
    pub fn is_one_shot(&self) -> bool {
        self.prompted <= 1 && self.files.is_empty() && !self.partial
    }
}

fn keep<T>(all: &mut Vec<T>, one: T, most: usize) {
    // Twice as many before the old ones go, so that not every one moves all others.
    all.push(one);
    if all.len() >= 2 * most {
        all.drain(..all.len() - most);
    }
}

/// The beginning and the end of a long text: what is asked for, and what is to come, stands there.
fn ends_of(text: &str) -> String {
    if text.len() <= TEXT + TEXT / 2 {
        return text.to_owned();
    }
    let (head, tail) = (text.floor_char_boundary(TEXT), text.ceil_char_boundary(text.len() - TEXT / 2));
    format!("{}\n…\n{}", &text[..head], &text[tail..])
}

fn kept(text: &str) -> String {
    text[..text.floor_char_boundary(TEXT)].to_owned()
}

/// A summary without what a client says before and after each.
fn bare_summary(summary: &str) -> &str {
    const PREAMBLE: &str = "This session is being continued from a previous conversation";
    // What it tells the model to do with it.
    const ORDERS: [&str; 2] = ["Continue the conversation from where", "Please continue the conversation from where"];
    let rest = summary.trim_start().strip_prefix(PREAMBLE).and_then(|rest| rest.split_once('\n')).map(|(_, rest)| rest);
    let told = rest.map(str::trim_start).filter(|rest| !rest.is_empty()).unwrap_or(summary);
    let end = ORDERS.iter().filter_map(|order| told.rfind(order)).min().filter(|end| *end > 0);
    told[..end.unwrap_or(told.len())].trim_end()
}

/// What clients write in the place of a result that the user did not want.
fn is_denied(result: &str) -> bool {
    const DENIED: [&str; 5] = [
        "The user doesn't want to proceed with this tool use",
        "The user doesn't want to take this action",
        "Permission to use",
        "User rejected",
        "The user rejected",
    ];
    DENIED.iter().any(|start| result.trim_start().starts_with(start))
}

/// `new, 12 lines`
fn in_lines(how: &str, text: &str) -> String {
    match text.lines().count() {
        1 => format!("{how}, 1 line"),
        count => format!("{how}, {count} lines"),
    }
}

/// What clients write where a file was there before it was written.
fn was_there(result: &str) -> bool {
    const THERE: [&str; 3] = ["has been updated", "overwrote", "overwritten"];
    THERE.iter().any(|there| result.contains(there))
}

/// Whether an error says that there is no more to be had for now.
fn is_limit(error: &str) -> bool {
    const LIMITS: [&str; 10] = [
        "limit reached",
        "rate limit",
        "rate_limit",
        "usage limit",
        "session limit",
        "hit your limit",
        "quota",
        "too many requests",
        "prompt is too long",
        "context window",
    ];
    let error = error.to_lowercase();
    LIMITS.iter().any(|limit| error.contains(limit))
        || error.split(|char: char| !char.is_alphanumeric()).any(|word| word == "429")
}

/// The first heading or line of a plan.
fn heading(plan: &str) -> String {
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

fn last_sentence(text: &str) -> &str {
    let text = text.trim_end();
    let before = text.trim_end_matches(['.', '!', '?', '…', ' ', ')', '"']);
    let start = before.rfind(['\n', '.', '!', '?']).map_or(0, |at| at + 1);
    text[start..].trim()
}
