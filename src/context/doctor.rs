//! `session-context doctor`: what is found, installed and working, and what was told last.
//!
//! A finding is one line with a mark, and one finding with `!!` makes the exit status 2. It only looks: what it finds broken
//! stays as it is.

use std::collections::BTreeMap;

use super::install::{self, HookState};
use super::{Exit, Problem, Stage};
use session_core::env::Env;
use session_core::file::Unreadable;
use session_core::formats::AgentFormat;
use session_core::session::index::{self, Indexed, Listed, Selection};
use session_core::session::trust::{Trust, Why};
use session_core::session::{Home, Project, find};
use session_core::show::activity::ago;
use session_core::show::figures::counted;
use session_core::show::terminal::aligned;
use session_core::state;
use session_core::state::journal::Journal;
use session_core::state::notes::{Notes, Owner};

/// A line of the report: its mark, topic and text.
type Finding = (&'static str, String, String);

const GOOD: &str = "ok";
/// Not wrong, but could be improved.
const OPEN: &str = "--";
const BAD: &str = "!!";

fn finding(mark: &'static str, topic: &str, text: impl Into<String>) -> Finding {
    (mark, topic.into(), text.into())
}

pub fn run(
    bad_formats: &[Unreadable],
    wrong_settings: &[String],
    stage: &mut Stage,
) -> Result<Exit, Problem> {
    let env = stage.env;
    let mut findings = agents(stage);
    for bad in bad_formats {
        findings.push(finding(BAD, "formats", bad.to_string()));
    }
    if bad_formats.is_empty() {
        let known = format!("{} known, all valid", stage.formats.len());
        findings.push(finding(GOOD, "formats", known));
    }
    for wrong in wrong_settings {
        findings.push(finding(BAD, "settings", wrong));
    }
    if wrong_settings.is_empty() {
        let config = env.config_dir().join("config.toml");
        let from = if config.exists() {
            ""
        } else {
            "defaults; there is no "
        };
        let from = format!("{from}{}", env.tilde(&config));
        findings.push(finding(GOOD, "settings", from));
    }
    if env.is_off() {
        let off = "SESSION_CONTEXT=off: the hook says nothing";
        findings.push(finding(BAD, "settings", off));
    }
    let (_, of_project) = Notes::read(env, Project::of(env, &env.cwd).dir());
    let (_, of_user) = Notes::read(env, Owner::User);
    for wrong in of_project.into_iter().chain(of_user) {
        findings.push(finding(BAD, "notes", wrong));
    }
    findings.push(writable(env));
    let gate = stage.gate;
    let row = |(mark, topic, text): &Finding| {
        [
            format!("{mark} {}", gate.line(topic)),
            gate.line(text).into_owned(),
        ]
    };
    stage.print_lines(aligned(&findings.iter().map(row).collect::<Vec<_>>(), &[]))?;
    journal(stage)?;
    Ok(if findings.iter().any(|(mark, ..)| *mark == BAD) {
        Exit::Trouble
    } else {
        Exit::Found
    })
}

fn agents(stage: &Stage) -> Vec<Finding> {
    let env = stage.env;
    let selection = Selection {
        foreign: true,
        ..Selection::default()
    };
    let Indexed {
        listed: mut all,
        bad,
        ..
    } = index::select(env, stage.formats, &selection);
    let foreign = all.split_off(all.partition_point(|listed| listed.trust.is_own()));
    let mut findings = Vec::new();
    let is_unreadable = |format: &AgentFormat| {
        let mut places = format
            .head()
            .roots
            .iter()
            .filter_map(|root| find::agent_dir(root, env));
        places.any(|dir| {
            bad.iter()
                .any(|unreadable| unreadable.path.starts_with(&dir))
        })
    };
    for format in stage.formats {
        let sessions: Vec<_> = all
            .iter()
            .filter(|listed| listed.session.format.name == format.name)
            .collect();
        let hook = install::check(format, env);
        let newest = sessions
            .iter()
            .filter_map(|listed| listed.tally.updated)
            .max();
        let count = counted(sessions.len() as u64, "session");
        let sessions = match newest {
            _ if sessions.is_empty() && is_unreadable(format) => {
                "its sessions cannot be read".into()
            }
            _ if sessions.is_empty() && matches!(hook, None | Some(HookState::Missing(_))) => {
                continue;
            }
            _ if sessions.is_empty() => "no sessions".into(),
            None => count,
            newest => format!("{count}, the newest{}", ago(newest, env.now())),
        };
        let agent = format.label();
        let has_hook = matches!(hook, Some(HookState::Installed(_)));
        let (mark, text) = match hook {
            None => (OPEN, "no hook is known for it".into()),
            Some(HookState::Installed(files)) => (GOOD, format!("hook in {}", files.join(", "))),
            Some(HookState::Missing(None)) => {
                (OPEN, format!("no hook: session-context install {agent}"))
            }
            Some(HookState::Missing(Some(dir))) => (OPEN, format!("no hook; there is no {dir}")),
            Some(HookState::Broken(why)) => (BAD, why.join("; ")),
        };
        findings.push(finding(mark, agent, format!("{sessions}; {text}")));
        findings.extend(extras(format, env, has_hook));
    }
    if findings.is_empty() {
        let none = "none found; `session-reader formats` shows where they are looked for";
        findings.push(finding(BAD, "agents", none));
    }
    findings.extend(not_told(&foreign, env));
    for unreadable in bad {
        let text = format!("{}: {}", env.tilde(&unreadable.path), unreadable.error);
        findings.push(finding(BAD, "sessions", text));
    }
    findings
}

/// What is there and nobody is told of, because it may not be the user's own.
fn not_told(foreign: &[Listed], env: &Env) -> Vec<Finding> {
    let mut counts: BTreeMap<Why, u64> = BTreeMap::new();
    for listed in foreign {
        if let Trust::Foreign(why) = listed.trust {
            *counts.entry(why).or_default() += 1;
        }
    }
    let mut findings = Vec::new();
    for (why, count) in counts {
        let (sessions, why) = (counted(count, "session"), why.as_str());
        findings.push(finding(
            OPEN,
            "foreign",
            format!("{sessions} not told: {why}"),
        ));
    }
    let mut refused = Vec::new();
    if let Err(bad) = Home::look(env, &mut refused) {
        findings.push(finding(BAD, "home", bad.to_string()));
    }
    for (path, why) in refused {
        let text = format!("{} {why}; it gives no names here", env.tilde(&path));
        findings.push(finding(OPEN, "home", text));
    }
    findings
}

/// What is installed for an agent beside the hook. What could be added is said if there is a hook.
fn extras(format: &AgentFormat, env: &Env, has_hook: bool) -> Vec<Finding> {
    let agent = format.label();
    let lacks = |what: &str, flag: &str| {
        (
            OPEN,
            format!("no {what}: session-context install {agent} {flag}"),
        )
    };
    let line = match install::check_statusline(format, env) {
        Some(HookState::Installed(files)) => {
            Some((GOOD, format!("status line in {}", files.join(", "))))
        }
        Some(HookState::Broken(why)) => Some((BAD, format!("status line: {}", why.join("; ")))),
        Some(HookState::Missing(_)) if has_hook => Some(lacks("status line", "--statusline")),
        Some(HookState::Missing(_)) | None => None,
    };
    let live =
        (has_hook && install::lacks_live(format, env)).then(|| lacks("live state", "--live"));
    let tools = match install::check_mcp(format, env) {
        Some(HookState::Installed(files)) => Some((GOOD, format!("tools in {}", files.join(", ")))),
        Some(HookState::Broken(why)) => Some((BAD, format!("tools: {}", why.join("; ")))),
        Some(HookState::Missing(_)) | None => None,
    };
    line.into_iter()
        .chain(live)
        .chain(tools)
        .map(|(mark, text)| finding(mark, agent, text))
        .collect()
}

/// Whether the hook can save what sessions have seen.
fn writable(env: &Env) -> Finding {
    let dir = env.state_dir();
    let probe = dir.join("cursors").join("doctor.bin");
    let dir = env.tilde(&dir);
    match state::replace(&probe, b"{}").and_then(|()| std::fs::remove_file(&probe)) {
        Ok(()) => finding(GOOD, "state", format!("{dir} can be written")),
        Err(error) => finding(
            BAD,
            "state",
            format!("{dir}: {error}; the same would be told again and again"),
        ),
    }
}

fn journal(stage: &mut Stage) -> Result<(), Problem> {
    let notes = Journal::in_dir(&stage.env.state_dir()).read()?;
    let (now, gate) = (stage.env.now(), stage.gate);
    match notes.iter().rfind(|note| !note.text.is_empty()) {
        None => writeln!(stage.out, "\nNothing has been told yet.")?,
        Some(note) => {
            let (when, label) = (
                ago(note.time, now),
                super::label(stage.formats, &note.agent),
            );
            let to = match &*note.session {
                "" => String::new(),
                session => format!(" to {} ({label})", gate.line(session)),
            };
            let (count, millis) = (note.text.chars().count(), note.micros as f64 / 1000.0);
            writeln!(
                stage.out,
                "\nLast told,{when}{to}, {count} characters in {millis:.1} ms:\n"
            )?;
            stage.print_indented(&gate.text(&note.text))?;
        }
    }
    if let Some(note) = notes.iter().rfind(|note| !note.trouble.is_empty()) {
        writeln!(stage.out, "\nLast problem,{}:\n", ago(note.time, now))?;
        stage.print_indented(&gate.text(&note.trouble.join("\n")))?;
    }
    Ok(())
}
