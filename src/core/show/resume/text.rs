//! Where a session stopped for people: a label and a line for each thing.
//!
//! A line is cut to the terminal, except the command to go on with, which is for copying.

use super::{About, Fitted, within};
use crate::ask::pending::Pending;
use crate::ask::resume::Stop;
use crate::env::Zone;
use crate::fold::continuity::Finding;
use crate::session::StateKind;
use crate::show::activity::ago;
use crate::show::call;
use crate::show::figures::{amount, number};
use crate::show::gate::Gate;
use crate::show::place::words;
use crate::show::state::reason;
use crate::show::terminal::{Style, Tone, cut, pad};
use crate::state::notes::Kind;
use session_format::entry::TaskState;
use session_format::time::Time;

/// Room for a label and for a text where nobody says how wide the terminal is.
const LABEL: usize = 10;
const WIDTH: usize = 160;
const COMMANDS: usize = 10;
const FILES: usize = 10;
const WAITS: &str = "Waits for";

/// The rows so far: what they are about, their label and their text, which is on one line.
struct Rows {
    gate: Gate,
    all: Vec<(About, &'static str, String)>,
}

impl Rows {
    fn put_all<'t>(
        &mut self,
        about: About,
        label: &'static str,
        texts: impl IntoIterator<Item = &'t str>,
    ) {
        texts
            .into_iter()
            .for_each(|text| self.put(about, label, &[text]));
    }

    /// Adds a row of parts, two blanks apart.
    fn put(&mut self, about: About, label: &'static str, parts: &[&str]) {
        let parts: Vec<_> = parts
            .iter()
            .map(|part| self.gate.line(*part))
            .filter(|part| !part.is_empty())
            .collect();
        self.all.push((about, label, parts.join("  ")));
    }
}

impl Stop<'_> {
    /// The lines, of which a budget of tokens may leave some out. `shown` makes a path of the session one that the reader
    /// would write.
    pub fn text(
        &self,
        zone: &Zone,
        gate: Gate,
        style: Style,
        budget: Option<usize>,
        shown: &dyn Fn(&str) -> String,
    ) -> Fitted {
        let rows = self.rows(zone, gate, shown).all;
        let room = style
            .width
            .unwrap_or(WIDTH)
            .saturating_sub(LABEL + 2)
            .max(20);
        let cell = |label: &str, text: &str| {
            if ["Go on", WAITS].contains(&label) {
                text.to_owned()
            } else {
                cut(text, room).into_owned()
            }
        };
        let lines = rows.iter().map(|(about, label, text)| {
            (
                *about,
                format!("{}  {}", pad(label, LABEL), cell(label, text)),
            )
        });
        let mut last = String::new();
        let mut fitted = within(budget.unwrap_or(usize::MAX), lines.collect());
        for line in &mut fitted.lines {
            let (label, text) = line.split_at(LABEL);
            let shown = if label == last {
                &pad("", LABEL)
            } else {
                label
            };
            let whole = format!("{}{text}", style.paint(Tone::Strong, shown))
                .trim_end()
                .to_owned();
            label.clone_into(&mut last);
            *line = whole;
        }
        fitted
    }

    fn rows(&self, zone: &Zone, gate: Gate, shown: &dyn Fn(&str) -> String) -> Rows {
        let all = &self.continuity;
        let mut rows = Rows {
            gate,
            all: Vec::new(),
        };
        self.put_head(&mut rows, zone, shown);
        rows.put_all(About::Head, "Pinned", self.pins());
        let asked = &all.asked;
        rows.put_all(About::Head, "Asked last", asked.best().map(text));
        let then = asked.then.as_ref().filter(|_| asked.substantive.is_some());
        rows.put_all(About::Head, "Then", then.map(text));
        rows.put_all(About::Head, "Recap", all.recap.as_ref().map(text));
        rows.put_all(About::Head, "Said last", all.said().as_deref());
        let files = all.newest_files();
        for file in files.iter().take(FILES) {
            let when = file
                .time
                .map_or_else(String::new, |time| self.clock(time, zone));
            rows.put(
                About::Files,
                "Files",
                &[&shown(&file.path), &file.summary(), &when],
            );
        }
        if files.len() > FILES {
            rows.put(
                About::Files,
                "Files",
                &[&format!("+{} more", number((files.len() - FILES) as u64))],
            );
        }
        self.put_work(&mut rows, shown);
        rows.put_all(About::Head, "Decisions", self.noted(Kind::Decision));
        let decisions = all.decisions.iter().filter(|item| !item.from_words);
        rows.put_all(About::Decisions, "Decisions", decisions.map(text));
        rows.put_all(About::Head, "Blockers", self.noted(Kind::Blocker));
        for blocker in self
            .blockers()
            .iter()
            .filter(|blocker| !blocker.item.from_words)
        {
            rows.put(
                About::Blockers,
                "Blockers",
                &[&format!("{}: {}", blocker.kind.name(), blocker.item.text)],
            );
        }
        rows.put_all(About::Head, "Next", self.noted(Kind::Next));
        rows.put_all(About::Head, "Facts", self.noted(Kind::Fact));
        if !self.tags.is_empty() {
            rows.put(About::Next, "Tags", &[&self.tags.join(", ")]);
        }
        rows.put_all(
            About::Decisions,
            "Summary",
            all.compaction.as_ref().map(text),
        );
        if all.input > 0 || all.output > 0 {
            rows.put(
                About::Next,
                "Tokens",
                &[&format!(
                    "{} in, {} out{}",
                    amount(all.input),
                    amount(all.output),
                    all.context_used()
                        .map_or_else(String::new, |used| format!(", context {used}% full"))
                )],
            );
        }
        rows.put_all(
            About::Head,
            "Go on",
            self.command.iter().flatten().map(|command| {
                // What a shell gets is whole or not there.
                let hidden = "its directory has something in its name that must not be shown";
                gate.as_it_is(command).unwrap_or(hidden)
            }),
        );
        rows
    }

    /// Which session it is, how it stopped, what it waits for and where it runs.
    fn put_head(&self, rows: &mut Rows, zone: &Zone, shown: &dyn Fn(&str) -> String) {
        let all = &self.continuity;
        let title = all
            .given_title()
            .map_or_else(String::new, |title| format!(", {title}"));
        let part = if self.subagent { ", a subagent's" } else { "" };
        let name = self
            .session
            .name
            .as_ref()
            .map_or_else(String::new, |name| format!("{name}, "));
        let agent = self.session.format.label();
        rows.put(
            About::Head,
            "Session",
            &[&format!("{name}{} ({agent}{part}){title}", self.id)],
        );
        let when = all.updated.map_or_else(String::new, |updated| {
            format!(", {}", self.clock(updated, zone))
        });
        let done = if self.done { "; marked done" } else { "" };
        let state = self.state();
        let (stopped, how) = match state.kind {
            StateKind::NeedsYou => ("Needs you", reason(&state, None)),
            StateKind::Working => ("At work", reason(&state, None)),
            StateKind::Gone | StateKind::Waiting => ("Stopped", reason(&state, None)),
            _ => ("Stopped", Some(self.ending().to_owned())),
        };
        let how = how.map_or_else(String::new, |how| format!("; {how}"));
        let ended = format!("{}{when}{how}{done}", ago(all.updated, self.now));
        rows.put(
            About::Head,
            stopped,
            &[ended.trim_start_matches([',', ';'])],
        );
        if let Some(Pending { call, .. }) = &self.beside.pending {
            for (_, line) in call::lines(call, call::HEAD, rows.gate, shown) {
                rows.all.push((About::Head, WAITS, line));
            }
        }
        if let Some(place) = &self.beside.place {
            rows.put(About::Head, "Where", &[&words(place)]);
        }
    }

    fn put_work(&self, rows: &mut Rows, shown: &dyn Fn(&str) -> String) {
        let all = &self.continuity;
        let mut files: Vec<(&str, Vec<&str>)> = Vec::new();
        for (file, function) in &all.functions {
            match files.iter_mut().find(|(known, _)| known == file) {
                Some((_, functions)) => functions.push(&function.text),
                None => files.push((file, vec![&function.text])),
            }
        }
        for (file, functions) in files {
            rows.put(
                About::Work,
                "Functions",
                &[&functions.join(", "), &shown(file)],
            );
        }
        let recent = all.commands.len().saturating_sub(COMMANDS);
        for ran in &all.commands[recent..] {
            rows.put(
                About::Work,
                "Commands",
                &[if ran.failed { "failed" } else { "ok" }, &ran.subject],
            );
        }
        for used in all.failed_edits() {
            rows.put(About::Work, "Failed", &[&used.tool, &shown(&used.subject)]);
        }
        rows.put_all(About::Work, "Commits", all.commits.iter().map(text));
        for task in &all.tasks {
            let about = match task.state {
                TaskState::Done => About::Work,
                TaskState::Dropped => continue,
                _ => About::Next,
            };
            let mark = task.state.mark();
            rows.put(about, "Tasks", &[&format!("{mark} {}", task.item.text)]);
        }
    }

    /// The time of day, with the date if that is not today.
    fn clock(&self, time: Time, zone: &Zone) -> String {
        let (day, clock) = zone.local(time);
        if day == zone.local(self.now).0 {
            clock
        } else {
            format!("{day} {clock}")
        }
    }
}

fn text(item: &Finding) -> &str {
    &item.text
}
