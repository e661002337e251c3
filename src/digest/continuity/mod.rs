//! Where a session stopped: what was last asked, what it changed and ran, what is open, and how it ended.
//!
//! Everything comes from calls, their results and what was said word for word; nothing is guessed. What people say in so
//! many words ([`phrases`](super::phrases)) is marked as such. Every item says on which line of the transcript it
//! stands, so that it can be checked.
//!
//! Entries come in one by one and are folded; calls wait for their results ([`call`]). When all were read, [`finish`] draws
//! the conclusions ([`open`]).
//!
//! [`finish`]: Continuity::finish

mod call;
mod found;
mod open;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use call::{Outcome, heading};
pub use found::{Blocker, Ending, FileChange, Item, Obstacle, Ran, ToDo, Used};

use super::asked::Asked;
use super::failing::Failing;
use super::names::base;
use super::phrases::{self, Kind};
use super::queue::Queue;
use super::text::{ends_of, first_sentence, own_words};
use crate::entry::{Act, Call, Entry, Facts, Id, Mark, Role, TitleBy, What};
use crate::path::absolute;
use crate::time::{DAY, MINUTE, Time};

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
    pub asked: Asked<Item>,
    /// What the client itself said of where the session stands, if nobody said anything since.
    pub recap: Option<Item>,
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
    pub compaction: Option<Item>,
    pub ending: Ending,
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
    /// Something was said that is no list of what was said before.
    direct: bool,
    seen: HashSet<Id>,
    counted: HashSet<Id>,
    used: HashMap<Id, (u64, u64)>,
    queued: Queue<String>,
    /// The last answer: what is written again is its later version.
    answer: Option<Id>,
    /// Calls that have no result yet.
    pending: HashMap<Id, Pending>,
    order: Vec<Id>,
    /// How often the agent went on after results, and whether there were any since.
    round: u64,
    answered: bool,
    failing: Failing<Item>,
    /// The agent did something since it was last prompted.
    acted: bool,
    denied: Vec<Item>,
    /// The files that were read or edited, and where those that were edited stand in the list.
    looked_at: HashSet<PathBuf>,
    files: HashMap<PathBuf, usize>,
    /// Functions by their files, and tasks by their numbers, likewise.
    functions: HashSet<(usize, String)>,
    tasks: HashMap<String, usize>,
    /// The error that came last, and whether it tells of a limit.
    error: Option<(Item, bool)>,
    /// A plan that the user turned down, until the session goes on: whoever approves one and clears the context turns it
    /// down here, and goes on with it in another session.
    rejected: Option<Item>,
    created: u64,
    /// Tokens of the last request, and characters said by both sides.
    context: u64,
    said: u64,
}

/// A call that has no result yet, and the round it was made in.
#[derive(Debug)]
struct Pending {
    line: u64,
    time: Option<Time>,
    call: Call<'static>,
    round: u64,
}

impl Pending {
    fn used(&self) -> Used {
        let subject = self.call.subjects.first().map(|subject| subject.to_string()).unwrap_or_default();
        let (tool, act) = (self.call.tool.to_string(), self.call.act);
        Used { tool, act, subject: kept(&subject), failed: false, time: self.time, line: self.line }
    }
}

/// How long it is of interest where a session stopped.
pub const FRESH: i64 = 7 * DAY;

/// How much is kept of what there may be much of.
const PROMPTS: usize = 60;
const HISTORY: usize = 50;
const DECISIONS: usize = 25;
const COMMITS: usize = 50;
const FUNCTIONS: usize = 1000;
const TASKS: usize = 500;
const TEXT: usize = 4000;

impl Continuity {
    pub fn facts(&mut self, facts: &Facts) {
        if let Some(time) = facts.time {
            self.started = Some(self.started.map_or(time, |started| started.min(time)));
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
        // What a line lists again was said further up, unless this is all there is.
        if entry.relisted && (self.fold.direct || self.partial) {
            return;
        }
        self.fold.direct |= !entry.relisted;
        let again = entry.key.is_some_and(|key| !self.fold.seen.insert(key));
        let renews = again && entry.key == self.fold.answer && matches!(entry.what, What::Text(_));
        if again && !renews && !matches!(entry.what, What::Result { .. }) {
            return;
        }
        if renews {
            self.answers.pop();
        }
        if entry.is_activity() {
            self.updated = self.updated.max(entry.time);
        }
        let item = |text: &str| Item { text: ends_of(text), time: entry.time, line, from_words: false };
        if let What::Text(text) = &entry.what {
            self.fold.said += text.chars().count() as u64;
        }
        match (&entry.what, entry.role) {
            (What::Text(text), Role::User) => {
                let is_twin = self.fold.queued.is_twin(entry.queued, text.to_string());
                if !is_twin {
                    self.prompt(item(text));
                }
            }
            (What::Text(text), Role::Assistant) => {
                self.go_on();
                self.message(entry);
                self.unanswered = false;
                self.fold.answer = entry.key;
                keep(&mut self.answers, item(text), PROMPTS);
                self.ending = Ending::Answered;
                self.fold.error = None;
                self.recap = None;
            }
            (What::Call(call), _) => {
                if entry.message.is_some() {
                    self.message(entry);
                }
                self.ending = Ending::Working;
                self.unanswered = false;
                self.fold.error = None;
                self.fold.acted = true;
                self.recap = None;
                self.go_on();
                self.call(line, entry.time, call);
            }
            (What::Result { call: Some(id), failed, denied, unclear, replaced, text }, _) => {
                if !matches!(self.ending, Ending::Interrupted) {
                    self.ending = Ending::Working;
                }
                self.fold.answered = true;
                let (failed, denied, unclear, replaced) = (*failed, *denied, *unclear, *replaced);
                let text = text.as_deref().unwrap_or_default();
                self.result(*id, Outcome { failed, denied, unclear, replaced, text });
            }
            (What::Mark(Mark::Compaction, text), _) => self.compaction = Some(item(text)),
            (What::Mark(Mark::Recap, text), _) => self.recap = Some(item(text)),
            (What::Mark(Mark::Interrupt, _), _) => {
                self.ending = Ending::Interrupted;
                // What the user broke off did not fail by itself.
                let last = self.history.last().map(|used| (used.line, used.time));
                self.fold.failing.forget(|item| Some((item.line, item.time)) == last);
            }
            (What::Mark(Mark::Error, text), _) => {
                self.ending = Ending::Failed;
                self.fold.error = Some((item(text), entry.limit));
            }
            _ => {}
        }
    }

    /// When the agent goes on, calls without a result are no longer open.
    fn go_on(&mut self) {
        self.fold.round += u64::from(std::mem::take(&mut self.fold.answered));
        if let Some(rejected) = self.fold.rejected.take() {
            self.decide(rejected);
        }
    }

    fn prompt(&mut self, item: Item) {
        self.go_on();
        self.fold.round += 1;
        self.messages += 1;
        self.prompted += 1;
        self.unanswered = true;
        // Whoever is prompted again goes on without what was refused.
        self.fold.denied.clear();
        self.ending = Ending::Working;
        self.fold.error = None;
        self.recap = None;
        self.asked.push(&item.text, |own| Item { text: own, ..item.clone() });
        let own = own_words(&item.text);
        let said = |kind: Kind| {
            let found = phrases::said(kind, &own).into_iter();
            found.map(|text| Item { text, from_words: true, ..item.clone() }).collect::<Vec<_>>()
        };
        said(Kind::Decision).into_iter().for_each(|decision| self.decide(decision));
        if std::mem::take(&mut self.fold.acted) {
            for correction in said(Kind::Correction) {
                self.corrections.retain(|known| known.text != correction.text);
                keep(&mut self.corrections, correction, DECISIONS);
            }
        }
        keep(&mut self.prompts, item, PROMPTS);
    }

    fn message(&mut self, entry: &Entry) {
        let id = entry.message.or(entry.key);
        self.messages += u64::from(id.is_none_or(|id| self.fold.counted.insert(id)));
    }

    /// The newest word on a matter counts, but words do not outweigh an answered question or an approved plan.
    fn decide(&mut self, item: Item) {
        let is_same = |known: &Item| known.text == item.text || phrases::overlap(&known.text, &item.text);
        let replaces = |known: &Item| known.from_words >= item.from_words && is_same(known);
        self.decisions.retain(|known| !replaces(known));
        self.decisions.push(item);
        // Of very many the last count; comparing each with each would take for ever.
        let excess = self.decisions.len().saturating_sub(DECISIONS);
        self.decisions.drain(..excess);
    }

    /// Nobody has written for a while.
    pub fn is_quiet(&self, now: Time) -> bool {
        self.updated.is_none_or(|updated| now.0 - updated.0 > 5 * MINUTE)
    }

    /// What follows from all that was read. `quiet` says that nobody has written for a while.
    pub fn finish(&mut self, quiet: bool) {
        if self.ending != Ending::Working {
            // The agent went on without a result, so none was to come.
            // Nothing is known of how it ended, so of most it is not even known whether they were begun.
            let looks =
                |used: &Used| matches!(used.act, Act::Fetch | Act::Search | Act::Read) && !used.subject.is_empty();
            let pending = self.fold.order.iter().filter_map(|id| self.fold.pending.get(id)).map(Pending::used);
            self.history.extend(pending.filter(looks));
            self.history.sort_by_key(|used| used.line);
        }
        // A question mark at the end of an answer was a courtesy or an offer too often; a call that waits is a fact.
        if self.ending == Ending::Working && self.open_question().is_some() {
            self.ending = Ending::Asked;
        }
        if quiet && self.ending == Ending::Working {
            self.ending = Ending::Unfinished;
        }
        self.blockers = self.obstacles();
        self.next = self.open();
    }

    /// The title that somebody gave it.
    pub fn given_title(&self) -> Option<&str> {
        self.person_title.as_deref().or(self.agent_title.as_deref())
    }

    /// What a person calls it: the title somebody gave it, else what was last asked.
    pub fn title(&self) -> Option<&str> {
        self.given_title().or_else(|| self.asked.best().map(|asked| asked.text.as_str()))
    }

    /// What the agent said last, in a sentence.
    pub fn said(&self) -> Option<String> {
        self.answers.last().map(|answer| first_sentence(&answer.text)).filter(|said| !said.is_empty())
    }

    /// The files that were changed, the newest first.
    pub fn newest_files(&self) -> Vec<&FileChange> {
        let mut files: Vec<&FileChange> = self.files.iter().collect();
        files.sort_by_key(|file| std::cmp::Reverse((file.time, file.line)));
        files
    }

    /// What it was about: the files that it changed most, by their names. A file outside of the session's directory, one
    /// that is called like the project and one with a number for a name tell nothing.
    pub fn topics(&self) -> Vec<(&str, u64)> {
        const MOST: usize = 4;
        let cwd = PathBuf::from(self.cwd.as_deref().unwrap_or_default());
        let mut files: Vec<&FileChange> = self.files.iter().filter(|file| !file.deleted).collect();
        files.sort_by_key(|file| std::cmp::Reverse((file.edits, file.line)));
        let mut topics: Vec<(&str, u64)> = Vec::new();
        for file in files.into_iter().filter(|file| absolute(&cwd, &file.path).starts_with(&cwd)) {
            let name = base(&file.path);
            let stem = name.trim_start_matches('.').split('.').next().unwrap_or_default();
            let is_hash = stem.len() >= 7 && stem.chars().all(|char| char.is_ascii_hexdigit() || char == '-');
            let is_project = cwd.file_name().is_some_and(|project| project == stem);
            if topics.len() < MOST && !is_hash && !is_project && topics.iter().all(|(known, _)| *known != name) {
                topics.push((name, file.line));
            }
        }
        topics
    }

    /// The last thing the agent did: a call that succeeded, and if there is one, one that did something to something.
    pub fn last_action(&self) -> Option<&Used> {
        let done = || self.history.iter().rev().filter(|used| !used.failed);
        let to_something = |used: &&Used| !used.subject.is_empty() && !matches!(used.act, Act::Plan | Act::Other);
        done().find(to_something).or(done().next()).or(self.history.last())
    }

    /// The commands that ran last.
    pub fn recent_commands(&self) -> &[Ran] {
        &self.commands[self.commands.len().saturating_sub(HISTORY)..]
    }

    /// The call that the agent waits for, if it is at work.
    pub fn running(&self) -> Option<Used> {
        self.open_call().filter(|_| self.ending == Ending::Working).map(Pending::used)
    }

    /// A question or a plan that the agent waits for the user's word on.
    fn open_question(&self) -> Option<Item> {
        let Pending { line, time, call, .. } = self.open_call().filter(|pending| pending.call.asks)?;
        let detail = call.detail.as_deref();
        let plan = || detail?.plan.as_deref().map(|plan| format!("approve the plan {}", heading(plan)));
        let bare = || if call.act == Act::Plan { "approve the plan".to_owned() } else { call.tool.to_string() };
        let text = detail.and_then(|detail| detail.question.clone()).or_else(plan).unwrap_or_else(bare);
        Some(Item { text, time: *time, line: *line, from_words: false })
    }

    /// The last call that has no result, unless the agent went on without it.
    fn open_call(&self) -> Option<&Pending> {
        let mut pending = self.fold.order.iter().rev().filter_map(|id| self.fold.pending.get(id));
        pending.next().filter(|pending| pending.round == self.fold.round)
    }

    /// How many tokens the model had before it last: as the client counted, else about a quarter of what was said.
    pub fn context(&self) -> u64 {
        if self.fold.context > 0 { self.fold.context } else { self.fold.said.div_ceil(4) }
    }

    /// One prompt and nothing to show for it: a question in passing, or a helper's work. One that was at work and did not
    /// get to an answer is none.
    pub fn is_one_shot(&self) -> bool {
        let nothing_done = self.files.is_empty() && self.commits.is_empty() && self.tasks.is_empty();
        let works = |act: Act| matches!(act, Act::Run | Act::Edit | Act::Delegate);
        let worked = self.history.iter().any(|used| works(used.act))
            || self.fold.pending.values().any(|pending| works(pending.call.act));
        let broke_off = worked && !matches!(self.ending, Ending::Answered | Ending::Asked);
        self.prompted <= 1 && nothing_done && !broke_off && !self.partial
    }
}

fn keep<T>(all: &mut Vec<T>, one: T, most: usize) {
    // Twice as many before the old ones go, so that not every one moves all others.
    all.push(one);
    if all.len() >= 2 * most {
        all.drain(..all.len() - most);
    }
}

fn kept(text: &str) -> String {
    text[..text.floor_char_boundary(TEXT)].to_owned()
}
