//! What was done, for a person to read, as Markdown for a stand-up or a pull request, and as JSON.
//!
//! Markdown is made to be sent, so everything in it is harmless and without secrets.

use super::figures::{counted, duration};
use super::gate::{Gate, harmless, harmless_command};
use super::json::{Object, object};
use super::terminal::{Style, Tone};
use crate::ask::recap::{ProjectRecap, Recap, SessionRecap};
use crate::env::{Env, iso};
use session_format::time::{SECOND, Time};

/// So many files are named.
const FILES: usize = 12;

/// The facts about a session, each with its label, the same in all forms.
fn facts(session: &SessionRecap, env: &Env) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let asked = session.prompts.iter().map(|prompt| &prompt.text);
    facts.extend(asked.map(|text| ("asked", text.clone())));
    let mut files = files(session, env);
    if !files.is_empty() {
        let more = files.len().saturating_sub(FILES);
        files.truncate(FILES);
        let more = match more {
            0 => String::new(),
            more => format!(", +{more} more"),
        };
        facts.push(("files", files.join(", ") + &more));
    }
    let commits = session.commits.iter().map(|commit| &commit.text);
    facts.extend(commits.map(|text| ("commit", text.clone())));
    for (label, checks) in [("passed", &session.passed), ("fails", &session.fails)] {
        facts.extend(checks.iter().map(|check| (label, check.clone())));
    }
    facts
}

fn files(session: &SessionRecap, env: &Env) -> Vec<String> {
    let cwd = session.listed.tally.first_cwd();
    let files = session.files.iter();
    files.map(|file| env.shown_from(cwd, &file.path)).collect()
}

/// `1h 05m in 2 sessions`
fn total(project: &ProjectRecap) -> String {
    let sessions = counted(project.sessions.len() as u64, "session");
    format!("{} in {sessions}", duration(project.spent()))
}

impl Recap<'_> {
    /// A line for each fact, cut to the terminal.
    pub fn text(&self, env: &Env, gate: Gate, style: Style) -> Vec<String> {
        let (zone, mut lines) = (env.zone(), Vec::new());
        let today = zone.local(env.now()).0;
        for project in &self.projects {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            let name = gate.line(&*project.name);
            let rest = format!("{}, {}", env.tilde(&project.dir), total(project));
            lines.push(format!(
                "{}  {}",
                style.paint(Tone::Strong, &name),
                gate.line(rest)
            ));
            for session in &project.sessions {
                let clock = |time: Option<Time>| {
                    let (day, clock) = time.map(|time| zone.local(time)).unwrap_or_default();
                    if day == today {
                        clock
                    } else {
                        format!("{day} {clock}")
                    }
                };
                let (first, last) = (clock(session.spent.first), clock(session.spent.last));
                let (name, title) = session.listed.name_and_title();
                let spent = duration(session.spent.total);
                // Where only its subagents were at work, its own file has no time.
                let when = match session.spent.first {
                    Some(_) => format!("{first} to {last}, {spent}"),
                    None => spent,
                };
                let agent = session.listed.session.format.label();
                let head = [name, agent, &when, title.unwrap_or_default()]
                    .map(|part| gate.line(part).into_owned())
                    .join("  ");
                lines.push(style.fit(&format!("  {}", head.trim_end())).into_owned());
                for (label, text) in facts(session, env) {
                    let tone = if label == "fails" {
                        Tone::Alarm
                    } else {
                        Tone::Faint
                    };
                    let text = gate.line(text);
                    let room = Style {
                        width: style.width.map(|width| width.saturating_sub(12)),
                        ..style
                    };
                    let label = style.paint(tone, &format!("{label:<6}")).into_owned();
                    lines.push(format!("    {label}  {}", room.fit(&text)));
                }
            }
        }
        lines
    }

    pub fn markdown(&self, env: &Env) -> Vec<String> {
        let mut lines = Vec::new();
        for project in &self.projects {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.push(format!("## {} ({})", plain(&project.name), total(project)));
            for session in &project.sessions {
                let (name, title) = session.listed.name_and_title();
                let agent = harmless(session.listed.session.format.label());
                let spent = duration(session.spent.total);
                lines.push(String::new());
                let called = match title {
                    Some(title) if name == session.listed.handle() => plain(title),
                    Some(title) => format!("{}: {}", plain(name), plain(title)),
                    None => plain(name),
                };
                lines.push(format!("### {called} ({agent}, {spent})"));
                lines.push(String::new());
                for (label, text) in facts(session, env) {
                    let text = match label {
                        "passed" | "fails" => {
                            format!("`{}`", harmless_command(&text).replace('`', "'"))
                        }
                        _ => plain(&text),
                    };
                    let label = match label {
                        "asked" => "Asked",
                        "files" => "Files",
                        "commit" => "Commit",
                        "passed" => "Passed",
                        _ => "**Fails**",
                    };
                    lines.push(format!("- {label}: {text}"));
                }
            }
        }
        lines
    }

    /// An object for each session.
    pub fn json(&self, env: &Env) -> Vec<Object> {
        let row = |project: &ProjectRecap, session: &SessionRecap| {
            let listed = &session.listed;
            let texts = |items: &[crate::fold::continuity::Finding]| {
                let items = items.iter();
                items
                    .map(|item| object! { text: item.text, time: item.time.map(iso), line: item.line })
                    .collect::<Vec<_>>()
            };
            object! {
                session: listed.session.id,
                handle: listed.handle(),
                name: listed.session.name,
                agent: listed.session.format.label(),
                title: listed.tally.title(),
                project: project.name,
                cwd: listed.tally.first_cwd(),
                first: session.spent.first.map(iso),
                last: session.spent.last.map(iso),
                spent: session.spent.total / SECOND,
                prompts: texts(&session.prompts),
                files: files(session, env),
                commits: texts(&session.commits),
                passed: session.passed,
                fails: session.fails,
            }
        };
        let projects = self.projects.iter();
        projects
            .flat_map(|project| {
                project
                    .sessions
                    .iter()
                    .map(move |session| row(project, session))
            })
            .collect()
    }
}

/// A text of a session in Markdown: what would be markup or a mention is not.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for char in harmless(text).chars() {
        if matches!(
            char,
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '@' | '!'
        ) {
            out.push('\\');
        }
        out.push(char);
    }
    out
}
