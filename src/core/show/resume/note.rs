//! Where a session stopped, as a note that another agent gets as its first prompt: Markdown, at most 4 KB.
//!
//! It begins with a line that says what it is (`fold/origin.rs`). Everything that somebody wrote is one line in quotes, made
//! harmless by the gate. A line is there whole or not at all.

use std::path::Path;

use super::{About, within};
use crate::ask::handover::Handover;
use crate::ask::pending::Pending;
use crate::env::Env;
use crate::fold::continuity::{FileChange, Obstacle};
use crate::fold::origin::first_line;
use crate::session::is_id;
use crate::show::activity::ago;
use crate::show::call;
use crate::show::figures::plural;
use crate::show::gate::{Gate, harmless, harmless_command};
use crate::show::state::reason;
use crate::show::untrusted::{path, quote};
use crate::state::notes::Kind;
use session_format::entry::{Act, Call, TaskState};
use session_format::path::{absolute, shell_path};

/// The most bytes of a note.
pub const MOST: usize = 4096;
/// A token stands for at most three bytes, with the end of the line.
const TOKENS: usize = (MOST - LEFT_OUT) / 3;
/// Room for the line that says that there is more.
const LEFT_OUT: usize = 64;

/// Characters of a text that says the most, of any other, and of a path.
const LONG: usize = 400;
const SHORT: usize = 160;
const PATH: usize = 120;
const FILES: usize = 40;

impl Handover<'_> {
    /// The note, with a line end after each line. Paths are as seen from the session's directory.
    pub fn note(&self, env: &Env) -> String {
        let fitted = within(TOKENS, self.lines(env));
        let mut note: String = fitted
            .lines
            .iter()
            .map(|line| format!("{line}\n"))
            .collect();
        if fitted.left_out > 0 {
            note += &format!(
                "- {} more in the full log\n",
                plural(fitted.left_out, "line")
            );
        }
        note
    }

    fn lines(&self, env: &Env) -> Vec<(About, String)> {
        let (stop, all) = (&self.stop, &self.stop.continuity);
        let agent = stop.session.format.label();
        let agent: String = agent
            .chars()
            .map(|char| {
                if char.is_ascii_alphanumeric() {
                    char
                } else {
                    '-'
                }
            })
            .collect();
        let id = if is_id(&stop.id) { &stop.id } else { "unnamed" };
        // Whoever reads the note may run it, so what is quoted for a shell must stay as it is.
        let command = format!("session-reader log {}", shell_path(&self.handle));
        let is_sound = still(&harmless_command(&command)) == command && !command.contains('`');
        let log = if is_sound {
            command
        } else {
            format!("session-reader log {id}")
        };
        let mut lines = vec![
            (About::Head, first_line(&agent, id)),
            (About::Head, String::new()),
            (
                About::Head,
                still(&format!(
                    "The user goes on with this work here. Full log: `{log}`"
                )),
            ),
            (About::Head, String::new()),
        ];
        let mut put = |about: About, label: &str, text: &str| {
            lines.push((about, format!("- {label}: {}", still(text))));
        };
        let title = all
            .given_title()
            .map_or_else(String::new, |title| format!("{}, ", quote(title, SHORT)));
        let place = self.dir.as_deref().map_or_else(String::new, |dir| {
            format!(" in \"{}\"", path(&env.tilde(dir), PATH))
        });
        let state = stop.state();
        let how = reason(&state, None).map_or_else(String::new, |how| {
            format!(", {}", quote(&harmless_command(&how), SHORT))
        });
        let active = ago(all.updated, stop.now);
        put(
            About::Head,
            "Session",
            &format!(
                "{title}{agent}{place}; last active{active}; {}{how}",
                state.kind.name()
            ),
        );
        let asked = &all.asked;
        if let Some(asked) = asked.best() {
            put(About::Head, "Asked last", &quote(&asked.text, LONG));
        }
        if let Some(then) = asked.then.as_ref().filter(|_| asked.substantive.is_some()) {
            put(About::Head, "Then", &quote(&then.text, SHORT));
        }
        if let Some(recap) = &all.recap {
            put(About::Head, "Recap", &quote(&recap.text, LONG));
        }
        if let Some(said) = all.answers.last() {
            put(About::Head, "Said last", &quote(&said.text, LONG));
        }
        let there = env.at(self.dir.clone().unwrap_or_else(|| env.cwd.clone()));
        let shown = |path: &str| there.shown_from(all.first_cwd.as_deref(), path);
        if let Some(Pending { kind, call }) = &stop.beside.pending {
            let whole = waits_for(call, &shown);
            let label = format!("Waits for ({})", kind.name());
            put(About::Head, &label, &quote(&whole, LONG));
        }
        let blockers = stop.blockers();
        for blocker in blockers.iter().filter(|blocker| !blocker.item.from_words) {
            let label = obstacle(blocker.kind);
            let text = quote(&harmless_command(&blocker.item.text), SHORT);
            put(About::Blockers, label, &text);
        }
        for (kind, label) in [(Kind::Blocker, "Blocker"), (Kind::Next, "Next")] {
            stop.noted(kind)
                .for_each(|text| put(About::Next, label, &quote(text, SHORT)));
        }
        for task in &all.tasks {
            let mark = match task.state {
                TaskState::Active => "Task, begun",
                TaskState::Open => "Task, open",
                _ => continue,
            };
            put(About::Next, mark, &quote(&task.item.text, SHORT));
        }
        for file in all.newest_files().into_iter().take(FILES) {
            put(About::Files, "File", &self.file(file, &shown));
        }
        for commit in all.commits.iter().rev() {
            put(About::Work, "Commit", &quote(&commit.text, SHORT));
        }
        let decisions = all.decisions.iter().filter(|item| !item.from_words);
        decisions.for_each(|item| put(About::Decisions, "Decided", &quote(&item.text, SHORT)));
        lines
    }

    fn file(&self, file: &FileChange, shown: &dyn Fn(&str) -> String) -> String {
        let dir = self.dir.as_deref().unwrap_or(Path::new(""));
        let whole = absolute(dir, &file.path);
        let is_open = self
            .uncommitted
            .as_ref()
            .is_some_and(|uncommitted| uncommitted.has(&whole));
        let what = harmless(&file.summary());
        let open = if is_open { "; not committed" } else { "" };
        format!("\"{}\", {what}{open}", path(&shown(&file.path), PATH))
    }
}

/// Clients read a file where a prompt has `@file`, some also within a word, and a quote must not make them do so.
fn still(text: &str) -> String {
    text.replace('@', "＠")
}

/// All that a call is about, in which a variable of a command may be set to a secret.
fn waits_for(call: &Call, shown: &dyn Fn(&str) -> String) -> String {
    let lines = call::lines(call, call::HEAD, Gate::new(true), shown);
    let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    let whole = lines.join("\n");
    if call.act == Act::Run {
        harmless_command(&whole)
    } else {
        whole
    }
}

fn obstacle(kind: Obstacle) -> &'static str {
    match kind {
        Obstacle::Failing => "Fails",
        Obstacle::Question => "Open question",
        Obstacle::Denied => "Not allowed by the user",
        Obstacle::Limit => "Limit",
        Obstacle::Error => "Error",
        Obstacle::Task => "Blocked task",
        Obstacle::Crashed => "Not finished when it crashed",
        Obstacle::Permission => "Waits for permission",
        Obstacle::Said => "Blocker",
    }
}
