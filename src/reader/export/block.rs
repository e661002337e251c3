//! What an export shows of a session, block by block: every text through the gate, shortened unless all is wanted.
//!
//! A page only lays the blocks out; it sees nothing that did not come through here.

use session_core::ask::log::Origin;
use session_core::env::Zone;
use session_core::read::Passage;
use session_core::show::call::{self, CallLine};
use session_core::show::figures::counted;
use session_core::show::gate::Gate;
use session_core::show::log::{call_subjects, first_lines};
use session_core::show::terminal::{Tone, cut};
use session_core::show::withheld::Withheld;
use session_format::entry::{Call, Detail, Entry, Mark, Role, What};

/// So many lines of a result tell what came of a call.
const RESULT: usize = 40;
/// So many lines of an edit are shown.
const DIFF: usize = 200;
/// The longest command or pattern in the line of a call.
const SUBJECT: usize = 160;
/// The longest prompt in a list of them.
const LISTED: usize = 80;

pub enum Block {
    Day(String),
    Prompt {
        number: usize,
        time: String,
        text: String,
    },
    /// Markdown.
    Answer {
        time: String,
        text: String,
    },
    Thinking {
        time: String,
        text: String,
    },
    Call(CallBlock),
    /// The answer to a call that is not near.
    Result {
        is_failed: bool,
        text: Shortened,
    },
    Mark {
        mark: Mark,
        time: String,
        text: String,
    },
    Images(u32),
    Unreadable(u64),
}

pub struct CallBlock {
    pub time: String,
    pub tool: String,
    pub subject: String,
    /// Why it did not do what it was made for.
    pub trouble: Option<&'static str>,
    pub body: Body,
    pub results: Vec<Shortened>,
}

pub enum Body {
    None,
    Lines(Vec<CallLine>),
    Diff {
        lines: Vec<CallLine>,
        added: usize,
        removed: usize,
    },
    /// Questions and plans are talk: they are not folded away.
    Question(Vec<CallLine>),
    /// Markdown.
    Plan(String),
}

/// A text, and how many of its lines are left out at the end.
pub struct Shortened {
    pub text: String,
    pub more: usize,
}

/// What the client put into the conversation, for people.
pub fn mark_name(mark: Mark) -> &'static str {
    match mark {
        Mark::Compaction => "Context summed up",
        Mark::Interrupt => "Stopped by the user",
        Mark::Error => "Error",
        Mark::Command => "Command",
        Mark::Recap => "Recap",
        Mark::Note => "Note",
    }
}

/// True for a text that needs not be folded away.
pub fn is_short(text: &str) -> bool {
    text.len() < 200 && !text.contains('\n')
}

#[derive(Default)]
pub struct Counts {
    pub shown: u64,
    pub prompts: u64,
    pub calls: u64,
    pub failed: u64,
    pub images: u64,
    pub unreadable: u64,
    /// The lines of images, and those that could not be read.
    pub images_at: Vec<u64>,
    pub unreadable_at: Vec<u64>,
}

/// Makes blocks of the passages of one session.
pub struct Blocks<'b> {
    pub gate: Gate,
    pub withheld: &'b Withheld,
    pub zone: Zone,
    pub origin: Origin,
    /// The same as the gate shows it.
    pub hidden: Origin,
    /// Also thinking and notes, and whole inputs and results.
    pub is_full: bool,
    pub only_prompts: bool,
    pub day: String,
    pub counts: Counts,
    /// The beginning of each prompt.
    pub prompts: Vec<String>,
    /// Day and time of the first entry and of the last.
    pub span: Option<[(String, String); 2]>,
}

impl Blocks<'_> {
    /// The blocks of a passage: none if it is not shown, two where a day begins.
    pub fn of(&mut self, passage: Passage) -> Vec<Block> {
        let (block, local) = match passage {
            Passage::Images { count, line } => {
                self.counts.images += u64::from(count);
                self.counts.images_at.push(line);
                (
                    Some(Block::Images(count)).filter(|_| !self.only_prompts),
                    None,
                )
            }
            Passage::Unreadable { line } => {
                self.counts.unreadable += 1;
                self.counts.unreadable_at.push(line);
                (Some(Block::Unreadable(line)), None)
            }
            Passage::Entry {
                entry,
                results,
                line,
            } => {
                self.withheld.at_line(line);
                let local = entry.time.map(|time| self.zone.local(time));
                let time = local.as_ref().map(|(_, time)| time.clone());
                (self.entry(entry, &results, time.unwrap_or_default()), local)
            }
        };
        let Some(block) = block else {
            return Vec::new();
        };
        self.counts.shown += 1;
        if let Some(local) = &local {
            let span = self
                .span
                .get_or_insert_with(|| [local.clone(), local.clone()]);
            span[1].clone_from(local);
        }
        match local.map(|(day, _)| day).filter(|day| *day != self.day) {
            Some(day) => {
                self.day.clone_from(&day);
                vec![Block::Day(day), block]
            }
            None => vec![block],
        }
    }

    fn entry(&mut self, entry: &Entry, results: &[Entry], time: String) -> Option<Block> {
        let is_prompt = entry.role == Role::User && matches!(entry.what, What::Text(_));
        if self.only_prompts && !is_prompt {
            return None;
        }
        match &entry.what {
            What::Text(text) if is_prompt => {
                let text = self.text(text);
                self.counts.prompts += 1;
                let first = text.lines().find(|line| !line.trim().is_empty());
                self.prompts
                    .push(cut(first.unwrap_or_default().trim(), LISTED).into_owned());
                let number = self.prompts.len();
                Some(Block::Prompt { number, time, text })
            }
            What::Text(text) => {
                let text = self.text(text);
                Some(Block::Answer { time, text })
            }
            What::Thinking(text) => self.is_full.then(|| Block::Thinking {
                time,
                text: self.text(&text.text()),
            }),
            What::Call(call) => Some(Block::Call(self.call(call, results, time))),
            What::Result { failed, .. } => Some(Block::Result {
                is_failed: *failed,
                text: self.result(entry)?,
            }),
            What::Mark(mark, text) => {
                let is_shown = self.is_full || *mark != Mark::Note;
                let text = is_shown.then(|| self.text(text))?;
                self.counts.failed += u64::from(*mark == Mark::Error);
                let is_empty = text.trim().is_empty() && *mark != Mark::Interrupt;
                (!is_empty).then_some(Block::Mark {
                    mark: *mark,
                    time,
                    text,
                })
            }
            What::Permission { .. } => None,
        }
    }

    fn text(&self, text: &str) -> String {
        self.gate.text(text.trim_end()).into_owned()
    }

    fn call(&mut self, call: &Call, results: &[Entry], time: String) -> CallBlock {
        let subject = self.gate.line(call_subjects(call, &self.origin));
        let trouble = match call {
            Call { denied: true, .. } => Some("denied"),
            Call {
                broken_off: true, ..
            } => Some("broken off"),
            Call { failed: true, .. } => Some("failed"),
            Call {
                id: Some(_),
                ended: false,
                ..
            } => Some("no result"),
            _ => None,
        };
        self.counts.calls += 1;
        self.counts.failed += u64::from(call.failed);
        let body = self.body(call, &subject);
        CallBlock {
            time,
            tool: self.gate.line(&*call.tool).into_owned(),
            subject: cut(&subject, SUBJECT).into_owned(),
            trouble,
            body,
            results: results
                .iter()
                .filter_map(|result| self.result(result))
                .collect(),
        }
    }

    /// What a call is about, if the line of the call does not say it all.
    fn body(&self, call: &Call, subject: &str) -> Body {
        let none = Detail::default();
        let detail = call.detail.as_deref().unwrap_or(&none);
        if let Some(plan) = &detail.plan {
            return Body::Plan(self.text(plan));
        }
        // The gate may have passed it already.
        let shown = |path: &str| self.hidden.relative(self.origin.relative(path)).to_owned();
        let lines = |call: &Call| call::lines(call, usize::MAX, self.gate, &shown);
        if !detail.changes.is_empty() {
            return self.diff(lines(call));
        }
        if !detail.asked.is_empty() {
            return Body::Question(lines(call));
        }
        let lines = if self.is_full || !detail.tasks.is_empty() {
            lines(call)
        } else {
            // All that it is called with is more than most want to know.
            lines(&Call {
                subjects: call.subjects.clone(),
                act: call.act,
                ..Call::default()
            })
        };
        let is_said = match &lines[..] {
            [] => true,
            [(_, one)] => shown(one.trim()) == subject && cut(subject, SUBJECT) == subject,
            _ => false,
        };
        if is_said {
            Body::None
        } else {
            Body::Lines(lines)
        }
    }

    fn diff(&self, mut lines: Vec<CallLine>) -> Body {
        let count = |tone| lines.iter().filter(|(of_line, _)| *of_line == tone).count();
        let (added, removed) = (count(Tone::User), count(Tone::Alarm));
        if let more @ 1.. = lines.len().saturating_sub(DIFF)
            && !self.is_full
        {
            lines.truncate(DIFF);
            lines.push((
                Tone::Faint,
                format!("… {}", counted(more as u64, "more line")),
            ));
        }
        Body::Diff {
            lines,
            added,
            removed,
        }
    }

    fn result(&self, entry: &Entry) -> Option<Shortened> {
        let What::Result {
            text: Some(text), ..
        } = &entry.what
        else {
            return None;
        };
        let text = text.text();
        let text = self
            .gate
            .text(text.trim_end().trim_start_matches(['\r', '\n']));
        if text.is_empty() {
            return None;
        }
        let most = if self.is_full { usize::MAX } else { RESULT };
        let (text, more) = first_lines(&text, most);
        Some(Shortened { text, more })
    }
}
