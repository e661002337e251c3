//! `session-context doctor`: what is found, installed and working, and what was told last.

use std::io;

use super::install::{self, Hook};
use super::{Exit, Stage};
use crate::catalog;
use crate::env::Env;
use crate::format::Bad;
use crate::locate::Project;
use crate::render::terminal::{clean, flat, pad};
use crate::state;
use crate::state::journal::{Journal, Note};
use crate::state::notes::{Notes, Profile};
use crate::time::Time;

/// A line of the report, with its mark.
struct Finding {
    mark: &'static str,
    topic: String,
    text: String,
}

const TROUBLE: &str = "!!";

impl Finding {
    fn good(topic: &str, text: String) -> Finding {
        Finding { mark: "ok", topic: topic.into(), text }
    }

    /// Something that could be, and is not.
    fn open(topic: &str, text: String) -> Finding {
        Finding { mark: "--", topic: topic.into(), text }
    }

    fn bad(topic: &str, text: String) -> Finding {
        Finding { mark: TROUBLE, topic: topic.into(), text }
    }
}

pub fn run(bad_formats: &[Bad], wrong_settings: &[String], stage: &mut Stage) -> io::Result<Exit> {
    let env = stage.env;
    let mut findings = agents(stage)?;
    findings.extend(bad_formats.iter().map(|bad| Finding::bad("formats", flat(&bad.to_string()).into_owned())));
    if bad_formats.is_empty() {
        findings.push(Finding::good("formats", format!("{} known, all valid", stage.formats.len())));
    }
    let config = env.config_dir().join("config.toml");
    findings.extend(wrong_settings.iter().map(|wrong| Finding::bad("settings", wrong.clone())));
    if wrong_settings.is_empty() {
        let from = if config.exists() { String::new() } else { "defaults; there is no ".into() };
        findings.push(Finding::good("settings", from + &env.tilde(&config)));
    }
    if env.is_off() {
        findings.push(Finding::bad("settings", "SESSION_CONTEXT=off: the hook says nothing".into()));
    }
    let (_, of_project) = Notes::read(env, Project::of(&env.cwd).dir());
    let (_, of_user) = Profile::read(env);
    findings.extend(of_project.into_iter().chain(of_user).map(|wrong| Finding::bad("notes", wrong)));
    findings.push(writable(env));
    let room = findings.iter().map(|finding| finding.topic.len()).max().unwrap_or(0);
    for finding in &findings {
        writeln!(stage.out, "{} {}  {}", finding.mark, pad(&finding.topic, room), clean(&finding.text))?;
    }
    journal(stage)?;
    let trouble = findings.iter().any(|finding| finding.mark == TROUBLE);
    Ok(if trouble { Exit::Trouble } else { Exit::Found })
}

/// The agents that are there, with their sessions and hooks.
fn agents(stage: &mut Stage) -> io::Result<Vec<Finding>> {
    let (env, mut bad) = (stage.env, Vec::new());
    let all = catalog::list(env, stage.formats, &mut bad);
    let mut findings = Vec::new();
    for format in stage.formats {
        let sessions: Vec<_> = all.iter().filter(|listed| listed.session.format.name == format.name).collect();
        let hook = install::check(&format.name, &format.head().agent, env);
        let newest = sessions.iter().filter_map(|listed| listed.tally.updated).max();
        let sessions = match (sessions.len(), newest) {
            (0, _) if matches!(hook, None | Some(Hook::Missing)) => continue,
            (0, _) => "no sessions".into(),
            (count, newest) => {
                let plural = if count == 1 { "" } else { "s" };
                format!(
                    "{count} session{plural}{}",
                    newest.map_or_else(String::new, |time| age(", the newest", time, env))
                )
            }
        };
        let agent = format.label();
        findings.push(match hook {
            None => Finding::open(agent, format!("{sessions}; no hook is known for it")),
            Some(Hook::Installed(places)) => Finding::good(agent, format!("{sessions}; hook in {}", places.join(", "))),
            Some(Hook::Missing) => {
                Finding::open(agent, format!("{sessions}; no hook: session-context install {agent}"))
            }
            Some(Hook::Broken(why)) => Finding::bad(agent, format!("{sessions}; {}", why.join("; "))),
        });
    }
    if findings.is_empty() {
        findings.push(Finding::bad(
            "agents",
            "none found; `session-reader formats` shows where they are looked for".into(),
        ));
    }
    for unreadable in bad {
        findings.push(Finding::bad("sessions", format!("{}: {}", env.tilde(&unreadable.path), unreadable.error)));
    }
    Ok(findings)
}

fn age(what: &str, time: Time, env: &Env) -> String {
    match time.age(env.now()).as_str() {
        "just now" => format!("{what} just now"),
        age => format!("{what} {age} ago"),
    }
}

/// Whether what sessions have seen can be kept.
fn writable(env: &Env) -> Finding {
    let dir = env.state_dir();
    let probe = dir.join("cursors").join("doctor.json");
    let tried = state::replace(&probe, b"{}").and_then(|()| std::fs::remove_file(&probe));
    match tried {
        Ok(()) => Finding::good("state", format!("{} can be written", env.tilde(&dir))),
        Err(error) => {
            Finding::bad("state", format!("{}: {error}; the same would be told again and again", env.tilde(&dir)))
        }
    }
}

/// What was told last, and what went wrong last.
fn journal(stage: &mut Stage) -> io::Result<()> {
    let notes = Journal::in_dir(&stage.env.state_dir()).read();
    let (env, formats) = (stage.env, stage.formats);
    let line = |note: &Note| {
        let when = note.time.map_or_else(String::new, |time| age("", time, env));
        let to = if note.session.is_empty() {
            String::new()
        } else {
            format!(" to {} ({})", flat(&note.session), super::label(formats, &note.agent))
        };
        (when, to)
    };
    match notes.iter().rfind(|note| !note.text.is_empty()) {
        None => writeln!(stage.out, "\nNothing has been told yet.")?,
        Some(note) => {
            let (when, to) = line(note);
            let (count, millis) = (note.text.chars().count(), note.micros as f64 / 1000.0);
            writeln!(stage.out, "\nLast told,{when}{to}, {count} characters in {millis:.1} ms:\n")?;
            note.text.lines().try_for_each(|line| writeln!(stage.out, "    {}", clean(line)))?;
        }
    }
    if let Some(note) = notes.iter().rfind(|note| !note.trouble.is_empty()) {
        let (when, _) = line(note);
        writeln!(stage.out, "\nLast problem,{when}:\n")?;
        note.trouble.iter().try_for_each(|line| writeln!(stage.out, "    {}", clean(line)))?;
    }
    Ok(())
}
