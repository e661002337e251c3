//! Where a session stopped, in full: for people, as compact codes, and as JSON.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::terminal::{Look, Tone, cut, flat, pad, width};
use super::untrusted::harmless;
use crate::digest::Continuity;
use crate::digest::code::{Work, normalised, short_paths};
use crate::digest::continuity::{Item, Used};
use crate::entry::{Act, TaskState};
use crate::env::{Zone, iso};
use crate::time::Time;

/// A session and what is known beside its transcript.
pub struct Stop<'a> {
    pub continuity: &'a Continuity,
    pub id: &'a str,
    pub agent: &'a str,
    pub path: String,
    pub project: String,
    pub status: &'static str,
    /// The agent's own command that takes it up again.
    pub command: Option<String>,
    pub pins: Vec<String>,
    /// What the user noted: kind and text.
    pub notes: Vec<(&'static str, String)>,
    pub tags: Vec<String>,
    pub now: Time,
}

const LABEL: usize = 10;

impl Stop<'_> {
    fn noted(&self, kind: &str) -> impl Iterator<Item = &String> {
        self.notes.iter().filter(move |(known, _)| *known == kind).map(|(_, text)| text)
    }

    /// For people: a label and a line for each thing.
    pub fn text(&self, zone: &Zone, look: &Look, shown: &dyn Fn(&str) -> String) -> Vec<String> {
        let all = self.continuity;
        let mut rows: Vec<(&str, String)> = Vec::new();
        let when = super::activity::ago(all.updated, self.now);
        let title = all.title().map_or_else(String::new, |title| format!(", {}", flat(title)));
        rows.push(("Session", format!("{} ({}){title}", self.id, self.agent)));
        let how = all.ending.name();
        rows.push(("Stopped", format!("{}; {how}", when.trim_start())));
        rows.extend(self.pins.iter().map(|pin| ("Pinned", pin.clone())));
        if let Some(goal) = &all.goal {
            rows.push((if all.sure { "Goal" } else { "Topic" }, goal.text.clone()));
        }
        rows.extend(all.prompts.last().map(|last| ("Asked last", last.text.clone())));
        rows.extend(all.answers.last().map(|last| ("Said last", last.text.clone())));
        for file in &all.files {
            let time = file.time.map_or_else(String::new, |time| format!("  {}", zone.local(time).1));
            rows.push(("Files", format!("{}  {}{time}", shown(&file.path), file.summary)));
        }
        rows.extend(all.functions.iter().map(|(file, item)| ("Functions", format!("{}  {}", item.text, shown(file)))));
        let recent = all.commands.len().saturating_sub(10);
        for ran in &all.commands[recent..] {
            rows.push(("Commands", format!("{}  {}", if ran.failed { "failed" } else { "ok" }, ran.command)));
        }
        rows.extend(all.commits.iter().map(|commit| ("Commits", commit.text.clone())));
        for task in all.tasks.iter().filter(|task| task.state != TaskState::Dropped) {
            let mark = match task.state {
                TaskState::Done => "[x]",
                TaskState::Active => "[>]",
                TaskState::Blocked => "[!]",
                TaskState::Open | TaskState::Dropped => "[ ]",
            };
            rows.push(("Tasks", format!("{mark} {}", task.text)));
        }
        rows.extend(self.noted("decision").cloned().chain(texts(&all.decisions)).map(|text| ("Decisions", text)));
        rows.extend(texts(&all.corrections).map(|text| ("Corrected", text)));
        rows.extend(self.noted("blocker").map(|text| ("Blockers", text.clone())));
        rows.extend(all.blockers.iter().map(|one| ("Blockers", format!("{}: {}", one.kind.name(), one.item.text))));
        rows.extend(self.noted("next").cloned().chain(texts(&all.next)).map(|text| ("Next", text)));
        rows.extend(self.noted("fact").map(|text| ("Facts", text.clone())));
        let topics = all.topics.top(&[], 4);
        if !topics.is_empty() {
            rows.push(("Topics", topics.join(", ")));
        }
        rows.extend(all.compaction.as_ref().map(|summary| ("Summary", summary.text.clone())));
        if !self.tags.is_empty() {
            rows.push(("Tags", self.tags.join(", ")));
        }
        if all.input + all.output > 0 {
            rows.push(("Tokens", format!("{} in, {} out", all.input, all.output)));
        }
        rows.extend(self.command.iter().map(|command| ("Go on", command.clone())));

        let room = look.width.unwrap_or(160).saturating_sub(LABEL + 2).max(20);
        let mut last = "";
        let mut lines = Vec::new();
        for (label, text) in rows {
            let shown = if label == last { "" } else { label };
            let text = flat(&text);
            let text = if label == "Go on" { text.into_owned() } else { cut(&text, room).into_owned() };
            debug_assert!(label == "Go on" || width(&text) <= room);
            lines.push(format!("{}  {text}", look.paint(Tone::Strong, &pad(shown, LABEL))).trim_end().to_owned());
            last = label;
        }
        lines
    }

    /// As codes, one per line, no more than a number of tokens.
    pub fn codes(&self, budget: usize) -> Vec<String> {
        let all = self.continuity;
        let paths: Vec<&str> =
            all.files.iter().filter(|file| file.summary != "deleted").map(|file| file.path.as_str()).collect();
        let mut codes: Vec<String> = Vec::new();
        let mut put = |prefix: &str, text: &str| {
            let code = code(text);
            if !code.is_empty() {
                codes.push(format!("{prefix}:{code}"));
            }
        };
        put("proj", &self.project);
        short_paths(&paths).iter().for_each(|path| put("impl", path));
        all.functions.iter().for_each(|(_, item)| put("impl", &item.text));
        let tests = all.commands.iter().filter(|ran| ran.work == Work::Test && !ran.failed);
        tests.for_each(|ran| put("test", &normalised(&ran.command)));
        let done = all.tasks.iter().filter(|task| task.state == TaskState::Done).map(|task| &task.text);
        done.chain(all.commits.iter().map(|commit| &commit.text)).for_each(|text| put("done", text));
        self.noted("decision").cloned().chain(texts(&all.decisions)).for_each(|text| put("dec", &text));
        self.noted("blocker").for_each(|text| put("block:noted", text));
        all.blockers.iter().for_each(|one| put(&format!("block:{}", one.kind.name()), &one.item.text));
        self.noted("next").cloned().chain(texts(&all.next)).for_each(|text| put("next", &text));
        let mut seen = HashSet::new();
        codes.retain(|code| seen.insert(code.clone()));
        let mut left = budget;
        codes.retain(|code| {
            let cost = tokens(code) + 1;
            let fits = cost <= left;
            left -= if fits { cost } else { 0 };
            fits
        });
        codes
    }

    /// As JSON: the keys are always all there.
    pub fn json(&self, limit: usize) -> Value {
        let all = self.continuity;
        let time = |time: Option<Time>| time.map(iso);
        let item = |item: &Item| json!({"text": item.text, "time": time(item.time), "line": item.line});
        let items = |all: &[Item]| all.iter().map(item).collect::<Vec<_>>();
        let used = |used: &Used| json!({"tool": used.tool, "target": used.subject, "at": time(used.time), "failed": used.failed, "line": used.line});
        let task = |task: &crate::digest::continuity::ToDo| json!({"text": task.text, "state": task.state.name(), "line": task.line});
        let open = |state: TaskState| matches!(state, TaskState::Open | TaskState::Active | TaskState::Blocked);
        let noted = |kind: &str| self.noted(kind).map(|text| json!({"text": text, "by": "user"})).collect::<Vec<_>>();
        let with = |kind: &str, found: Vec<Value>| [noted(kind), found].concat();
        let blockers = all.blockers.iter().map(|one| {
            json!({"kind": one.kind.name(), "text": one.item.text, "time": time(one.item.time), "line": one.item.line})
        });
        let mut recent: Vec<_> = all.files.iter().collect();
        recent.sort_by_key(|file| (file.time, file.line));
        let files = recent.into_iter().rev().take(20).rev().map(|file| {
            let action = if file.created && file.edits == 1 { "create" } else { "edit" };
            json!({"path": file.path, "action": action, "timestamp": time(file.time), "summary": file.summary, "line": file.line})
        });
        let mut messages: Vec<(Option<Time>, u64, Value)> = Vec::new();
        for (role, said) in [("user", &all.prompts), ("assistant", &all.answers)] {
            messages.extend(said.iter().map(|said| {
                (
                    said.time,
                    said.line,
                    json!({"role": role, "text": said.text, "time": time(said.time), "line": said.line}),
                )
            }));
        }
        messages.sort_by_key(|(time, line, _)| (*line, *time));
        let recent: Vec<Value> = messages.into_iter().rev().take(20).rev().map(|(_, _, message)| message).collect();
        let summary = all.compaction.as_ref().or(all.answers.last());
        json!({
            "session_id": self.id,
            "agent": self.agent,
            "path": self.path,
            "title": all.title(),
            "cwd": all.cwd,
            "model": all.model,
            "started_at": time(all.started),
            "last_activity_at": time(all.updated),
            "status": self.status,
            "ending": all.ending.name(),
            "messages": all.messages,
            "current_work": {
                "thread_title": all.title(),
                "intent": all.goal.as_ref().map(item),
                "is_directive": all.sure,
                "last_user_message": all.prompts.last().map(item),
                "last_agent_action": all.last_action().map(used),
            },
            "files_modified": files.collect::<Vec<_>>(),
            "functions": all.functions.iter().map(|(file, one)| json!({"name": one.text, "path": file, "line": one.line})).collect::<Vec<_>>(),
            "commands": all.commands.iter().map(|ran| json!({"command": ran.command, "failed": ran.failed, "test": ran.work == Work::Test, "time": time(ran.time), "line": ran.line})).collect::<Vec<_>>(),
            "commits": items(&all.commits),
            "pending_tasks": all.tasks.iter().filter(|task| open(task.state)).map(task).collect::<Vec<_>>(),
            "tasks": all.tasks.iter().map(task).collect::<Vec<_>>(),
            "tool_history": all.history.iter().rev().take(50).rev().map(used).collect::<Vec<_>>(),
            "summary": summary.map(item),
            "pinned_facts": self.pins.iter().map(|pin| json!({"text": pin, "by": "user"})).chain(noted("fact")).collect::<Vec<_>>(),
            "decisions": with("decision", items(&all.decisions)),
            "corrections": items(&all.corrections),
            "blockers": with("blocker", blockers.collect()),
            "open_tasks": with("next", items(&all.next)),
            "files_touched": all.history.iter().filter(|used| matches!(used.act, Act::Edit | Act::Read) && !used.failed).map(|used| used.subject.as_str()).chain(all.files.iter().map(|file| file.path.as_str())).fold(Vec::new(), |mut all: Vec<&str>, path| { if !all.contains(&path) { all.push(path); } all }),
            "recent_messages": recent,
            "topics": all.topics.top(&[], 4),
            "tags": self.tags,
            "token_budget": {"used": all.input + all.output, "limit": limit},
            "resume": self.command,
        })
    }
}

fn texts(items: &[Item]) -> impl Iterator<Item = String> + '_ {
    items.iter().map(|item| item.text.clone())
}

/// A text as a code: one word, dashes for blanks.
fn code(text: &str) -> String {
    const MOST: usize = 80;
    let words: Vec<String> = harmless(text).split_whitespace().map(str::to_owned).collect();
    let code = words.join("-");
    code[..code.floor_char_boundary(MOST)].trim_matches('-').to_owned()
}

/// How many tokens a code costs, rather too many than too few: dashes and names are cut into short pieces.
fn tokens(text: &str) -> usize {
    text.len().div_ceil(3)
}
