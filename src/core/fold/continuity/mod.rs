//! Where a session stopped: what was last asked, what it changed and ran, what is open, and how it ended.
//!
//! Everything comes from calls, their results and what was said word for word; nothing is guessed. What only a phrase
//! tells ([`phrases`](super::phrases)) is marked as such. Every item says on which line of the transcript it stands, so
//! that it can be checked.
//!
//! Entries come in one by one and are folded; calls wait for their results ([`call`]). When all were read, [`finish`] draws
//! the conclusions ([`open`]).
//!
//! [`finish`]: Continuity::finish

mod call;
mod found;
mod open;

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;

use call::{plan_title, used};
pub use found::{Blocker, FileChange, Finding, Obstacle, ToDo, Used};
use serde::{Deserialize, Serialize};

use super::basics::title;
use super::phrases::{self, Phrase};
use super::text::{cut, ends_of, first_sentence, own_words};
pub use super::turn::Ending;
use super::{Basics, Failing, Fold, LastAsked, OpenEnd, Turns};
use session_format::entry::{Act, Call, Entry, Facts, Id, Mark, Role, What};
use session_format::hash::{HashMap, HashSet};
use session_format::path::{absolute, base_name};
use session_format::time::{DAY, Time};

/// All of it.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Continuity {
    pub basics: Basics,
    pub messages: u64,
    /// The last few prompts and answers, the oldest first.
    pub prompts: Vec<Finding>,
    pub answers: Vec<Finding>,
    pub asked: LastAsked<Finding>,
    /// The client's own recap, if nobody said anything since.
    pub recap: Option<Finding>,
    pub files: Vec<FileChange>,
    pub functions: Vec<(String, Finding)>,
    pub commands: Vec<Used>,
    pub commits: Vec<Finding>,
    pub history: Vec<Used>,
    pub tasks: Vec<ToDo>,
    pub decisions: Vec<Finding>,
    /// Things the user told the agent not to do, after it had acted.
    pub corrections: Vec<Finding>,
    pub blockers: Vec<Blocker>,
    pub next: Vec<Finding>,
    pub compaction: Option<Finding>,
    pub ending: Ending,
    /// The last prompt has had no answer.
    pub unanswered: bool,
    /// Something was asked since the tasks were last brought up to date: they may be about something else.
    pub tasks_are_old: bool,
    /// The number of all prompts.
    pub prompted: u64,
    pub broken: u64,
    /// Only its end was read.
    pub partial: bool,
    so_far: SoFar,
}

impl Deref for Continuity {
    type Target = Basics;

    fn deref(&self) -> &Basics {
        &self.basics
    }
}

impl DerefMut for Continuity {
    fn deref_mut(&mut self) -> &mut Basics {
        &mut self.basics
    }
}

/// Needed only while it is put together.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct SoFar {
    turns: Turns,
    /// The last answer, of which a later version may come.
    answer: Option<Id>,
    /// Calls that have no result yet.
    pending: HashMap<Id, Pending>,
    /// In which order they were made, with some that have one by now.
    order: Vec<Id>,
    failing: Failing<Finding>,
    /// The agent did something since it was last prompted.
    acted: bool,
    denied: Vec<Finding>,
    /// The files that were read or edited, and where those that were edited stand in the list, by their paths.
    looked_at: HashSet<Id>,
    files: HashMap<Id, usize>,
    /// Functions by their files, and tasks by their numbers, likewise.
    functions: HashSet<(usize, String)>,
    tasks: HashMap<String, usize>,
    /// The error that came last, and whether it tells of a limit.
    error: Option<(Finding, bool)>,
    /// A plan that the user turned down, until the session goes on: whoever approves one and clears the context turns it
    /// down here, and goes on with it in another session.
    rejected: Option<Finding>,
    created: u64,
    /// Characters said by both sides.
    said: u64,
}

/// A call that has no result yet, and the round it was made in.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Pending {
    line: u64,
    time: Option<Time>,
    call: Call<'static>,
    round: u64,
}

impl Pending {
    fn used(&self) -> Used {
        used(&self.call, false, self.time, self.line)
    }
}

/// The end of an older session is of no interest.
pub const FRESH: i64 = 7 * DAY;

/// Limits for lists and texts that may be long.
const PROMPTS: usize = 60;
const HISTORY: usize = 50;
const DECISIONS: usize = 25;
const COMMITS: usize = 50;
const FUNCTIONS: usize = 1000;
const TASKS: usize = 500;
const LONGEST_TEXT: usize = 4000;

impl Fold for Continuity {
    fn facts(&mut self, facts: &Facts) {
        self.basics.facts(facts);
    }

    fn entry(&mut self, entry: &Entry, line: u64) {
        // From the middle of a file, nobody knows which line it is.
        let line = if self.partial { 0 } else { line };
        let item = |text: &str| Finding::new(ends_of(text), entry.time, line);
        if entry.renews {
            // Of what is written again, only the last answer matters: it may say more now.
            if let (What::Text(text), Some(last)) = (&entry.what, self.answers.last_mut())
                && entry.key == self.so_far.answer
            {
                *last = item(text);
            }
            return;
        }
        self.basics.entry(entry);
        self.so_far.turns.take(entry);
        self.messages += u64::from(entry.begins);
        if let What::Text(text) = &entry.what {
            self.so_far.said += text.chars().count() as u64;
        }
        match (&entry.what, entry.role) {
            (What::Text(text), Role::User) if entry.begins => self.prompt(item(text)),
            (What::Text(text), Role::Assistant) => {
                self.go_on();
                self.so_far.failing.went_on();
                self.so_far.answer = entry.key;
                keep(&mut self.answers, item(text), PROMPTS);
            }
            (What::Call(call), _) => {
                self.go_on();
                self.so_far.acted = true;
                self.call(line, entry.time, call);
            }
            (result @ What::Result { .. }, _) => self.result(result),
            (What::Mark(Mark::Compaction, text), _) => self.compaction = Some(item(text)),
            (What::Mark(Mark::Recap, text), _) => self.recap = Some(item(text)),
            (What::Mark(Mark::Interrupt, _), _) => self.so_far.failing.interrupted(),
            (What::Mark(Mark::Error, text), _) => {
                self.so_far.error = Some((item(text), entry.limit));
            }
            _ => {}
        }
    }
}

impl Continuity {
    /// The session goes on, whatever was in the way.
    fn go_on(&mut self) {
        self.so_far.error = None;
        self.recap = None;
        self.unanswered = false;
        // What was refused stands in the way only until something follows.
        self.so_far.denied.clear();
        if let Some(rejected) = self.so_far.rejected.take() {
            self.decide(rejected);
        }
    }

    fn prompt(&mut self, item: Finding) {
        self.go_on();
        self.prompted += 1;
        self.unanswered = true;
        self.tasks_are_old = true;
        self.asked.push(&item.text, |own| Finding {
            text: own,
            ..item.clone()
        });
        let own = own_words(&item.text);
        let said = |kind: Phrase| {
            let found = phrases::said(kind, &own).into_iter();
            found
                .map(|text| Finding {
                    text,
                    from_words: true,
                    ..item.clone()
                })
                .collect::<Vec<_>>()
        };
        said(Phrase::Decision)
            .into_iter()
            .for_each(|decision| self.decide(decision));
        if std::mem::take(&mut self.so_far.acted) {
            for correction in said(Phrase::Correction) {
                self.corrections
                    .retain(|known| known.text != correction.text);
                keep(&mut self.corrections, correction, DECISIONS);
            }
        }
        keep(&mut self.prompts, item, PROMPTS);
    }

    /// The newest word on a matter counts, but words do not outweigh an answered question or an approved plan.
    fn decide(&mut self, item: Finding) {
        let is_same =
            |known: &Finding| known.text == item.text || phrases::overlap(&known.text, &item.text);
        let replaces = |known: &Finding| known.from_words >= item.from_words && is_same(known);
        self.decisions.retain(|known| !replaces(known));
        self.decisions.push(item);
        // Of very many the last count; comparing each with each would take for ever.
        let excess = self.decisions.len().saturating_sub(DECISIONS);
        self.decisions.drain(..excess);
    }

    /// Draws the conclusions from all that was read.
    pub fn finish(&mut self) {
        self.ending = self.so_far.turns.ending();
        if !matches!(self.ending, Ending::Working | Ending::Asked) {
            // The agent went on without a result. Only calls that read something are sure to have been made.
            let looks = |used: &Used| {
                matches!(used.act, Act::Fetch | Act::Search | Act::Read) && !used.subject.is_empty()
            };
            let pending = self
                .so_far
                .order
                .iter()
                .filter_map(|id| self.so_far.pending.get(id))
                .map(Pending::used);
            self.history.extend(pending.filter(looks));
            self.history.sort_by_key(|used| used.line);
        }
        self.blockers = self.obstacles();
        self.next = self.open();
    }

    /// Its title: the one somebody gave it, else the last substantive prompt.
    pub fn title(&self) -> Option<&str> {
        title([
            self.given_title(),
            self.asked.best().map(|asked| asked.text.as_str()),
        ])
    }

    /// The first sentence of the last answer.
    pub fn said(&self) -> Option<String> {
        self.answers
            .last()
            .map(|answer| first_sentence(&answer.text))
            .filter(|said| !said.is_empty())
    }

    /// The tasks, unless something was asked since they were brought up to date.
    pub(crate) fn current_tasks(&self) -> impl Iterator<Item = &ToDo> {
        self.tasks.iter().filter(|_| !self.tasks_are_old)
    }

    /// The files that were changed, the newest first.
    pub(crate) fn newest_files(&self) -> Vec<&FileChange> {
        let mut files: Vec<&FileChange> = self.files.iter().collect();
        files.sort_by_key(|file| std::cmp::Reverse((file.time, file.line)));
        files
    }

    /// Its topics: the names of the files that it changed most. A file outside of the session's directory, one
    /// that is called like the project and one with a number for a name tell nothing.
    pub fn topics(&self) -> Vec<(&str, u64)> {
        const TOPICS: usize = 4;
        let cwd = PathBuf::from(self.first_cwd.as_deref().unwrap_or_default());
        let mut files: Vec<&FileChange> = self.files.iter().filter(|file| !file.deleted).collect();
        files.sort_by_key(|file| std::cmp::Reverse((file.edits, file.line)));
        let mut topics: Vec<(&str, u64)> = Vec::new();
        for file in files
            .into_iter()
            .filter(|file| absolute(&cwd, &file.path).starts_with(&cwd))
        {
            let name = base_name(&file.path);
            let stem = name
                .trim_start_matches('.')
                .split('.')
                .next()
                .unwrap_or_default();
            let is_hash = stem.len() >= 7
                && stem
                    .chars()
                    .all(|char| char.is_ascii_hexdigit() || char == '-');
            let is_project = cwd.file_name().is_some_and(|project| project == stem);
            if topics.len() < TOPICS
                && !is_hash
                && !is_project
                && topics.iter().all(|(known, _)| *known != name)
            {
                topics.push((name, file.line));
            }
        }
        topics
    }

    /// The last thing the agent did: a call that succeeded, and if there is one, one that did something to something.
    pub(crate) fn last_action(&self) -> Option<&Used> {
        let done = || self.history.iter().rev().filter(|used| !used.failed);
        let to_something =
            |used: &&Used| !used.subject.is_empty() && !matches!(used.act, Act::Plan | Act::Other);
        done()
            .find(to_something)
            .or(done().next())
            .or(self.history.last())
    }

    /// The commands that ran last.
    pub(crate) fn recent_commands(&self) -> &[Used] {
        &self.commands[self.commands.len().saturating_sub(HISTORY)..]
    }

    /// The call or error that it stopped at.
    pub fn open_end(&self) -> Option<OpenEnd> {
        self.so_far.turns.open_end()
    }

    /// The call that the agent waits for, if it has not ended.
    pub(crate) fn open_call(&self) -> Option<Used> {
        if self.ending == Ending::Working {
            self.open_calls().next().map(Pending::used)
        } else {
            None
        }
    }

    /// A question or a plan that the agent waits for the user's word on.
    fn open_question(&self) -> Option<Finding> {
        let Pending {
            line, time, call, ..
        } = self.open_calls().find(|pending| pending.call.asks)?;
        let detail = call.detail.as_deref();
        let plan = || {
            detail?
                .plan
                .as_deref()
                .map(|plan| format!("approve the plan {}", plan_title(plan)))
        };
        let bare = || {
            if call.act == Act::Plan {
                "approve the plan".to_owned()
            } else {
                call.tool.to_string()
            }
        };
        let text = detail
            .and_then(|detail| detail.question.clone())
            .or_else(plan)
            .unwrap_or_else(bare);
        Some(Finding::new(text, *time, *line))
    }

    /// Calls that have no result, the last first, unless the agent went on without them.
    fn open_calls(&self) -> impl Iterator<Item = &Pending> {
        let pending = self
            .so_far
            .order
            .iter()
            .rev()
            .filter_map(|id| self.so_far.pending.get(id));
        pending.take_while(|pending| pending.round == self.so_far.turns.round)
    }

    /// Tokens in the last context: as the client counted, else about a quarter of the characters said.
    pub fn context(&self) -> u64 {
        self.basics
            .context
            .filter(|context| *context > 0)
            .unwrap_or(self.so_far.said.div_ceil(4))
    }

    /// One prompt and nothing to show for it: a question in passing, or a helper's work. One that was at work and did not
    /// get to an answer is none.
    pub(crate) fn is_one_shot(&self) -> bool {
        let nothing_done =
            self.files.is_empty() && self.commits.is_empty() && self.tasks.is_empty();
        let works = |act: Act| matches!(act, Act::Run | Act::Edit | Act::Delegate);
        let worked = self.history.iter().any(|used| works(used.act))
            || self
                .so_far
                .pending
                .values()
                .any(|pending| works(pending.call.act));
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
    cut(text, LONGEST_TEXT).into_owned()
}
