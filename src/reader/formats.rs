//! `session-reader formats`: which formats are known, where they look, and how a file fits them.
//!
//! `format/` checks descriptors, and `read/` recognises the format of a transcript.

use std::path::Path;

use super::args::FormatsAction;
use super::{Exit, Problem, Stage};
use session_core::file::Unreadable;
use session_core::formats::AgentFormat;
use session_core::read;
use session_core::session::index::Listed;
use session_core::session::{Home, find};
use session_core::show::figures::counted;
use session_core::show::terminal::{Tone, pad};

pub fn run(action: Option<&FormatsAction>, stage: &mut Stage) -> Result<Exit, Problem> {
    let Some(FormatsAction::Check { file }) = action else {
        return list(stage);
    };
    match &stage.env.expand(file) {
        file if file.extension().is_some_and(|end| end == "toml") => check_descriptor(file, stage),
        file => check_transcript(file, stage),
    }
}

fn list(stage: &mut Stage) -> Result<Exit, Problem> {
    let sessions = stage.sessions();
    let gate = stage.gate;
    // `sessions` has reported its problems.
    let home = Home::above(stage.env).ok().flatten();
    let heading = format!("{}{}{}", pad("FORMAT", 12), pad("AGENT", 14), "WHERE");
    writeln!(stage.out, "{}", stage.style.paint(Tone::Faint, &heading))?;
    for format in stage.formats {
        let mut start = format!(
            "{}{}",
            pad(&gate.line(&format.name), 12),
            pad(&gate.line(&format.head().agent), 14)
        );
        for root in &format.head().roots {
            let Some(dir) = find::root_dir(root, stage.env) else {
                continue;
            };
            let of_root = |listed: &&Listed| {
                listed
                    .session
                    .root
                    .is_some_and(|own| std::ptr::eq(own, root))
            };
            let count = match sessions.iter().filter(of_root).count() {
                0 if !find::agent_dir(root, stage.env).is_some_and(|dir| dir.is_dir()) => {
                    "not there".to_owned()
                }
                found => counted(found as u64, "session"),
            };
            let moved = root
                .env
                .as_deref()
                .map(|name| format!(" (${name})"))
                .unwrap_or_default();
            writeln!(
                stage.out,
                "{start}{}{moved}: {count}",
                gate.line(stage.env.tilde(&dir))
            )?;
            start = " ".repeat(26);
        }
        // A named home keeps some sessions in its own directory.
        let of_home = |listed: &&Listed| {
            listed.session.root.is_none() && listed.session.format.name == format.name
        };
        let found = sessions.iter().filter(of_home).count();
        if let Some(home) = home.as_ref().filter(|_| found > 0) {
            let dir = gate.line(stage.env.tilde(home.dir())).into_owned();
            writeln!(
                stage.out,
                "{start}{dir}: {}",
                counted(found as u64, "session")
            )?;
        }
        if let Some(file) = &format.file {
            writeln!(
                stage.out,
                "{}from {}",
                " ".repeat(26),
                gate.line(stage.env.tilde(file))
            )?;
        }
    }
    stage.print_lines([format!(
        "User formats: {}",
        gate.line(stage.env.tilde(&stage.env.formats_dir()))
    )])
}

fn check_descriptor(file: &Path, stage: &mut Stage) -> Result<Exit, Problem> {
    let known = AgentFormat::read(file).map_err(|bad| Problem::Trouble(bad.to_string()))?;
    let format = known.format();
    let (rules, blocks) = (format.line.rules.len(), format.block.rules.len());
    let valid = format!(
        "{}: valid: {}, {rules} rules, {blocks} block rules",
        file.display(),
        known.head().agent
    );
    stage.print_lines([stage.gate.text(&valid)])
}

fn check_transcript(file: &Path, stage: &mut Stage) -> Result<Exit, Problem> {
    const SHOWN: usize = 10;
    let unreadable = |error| Unreadable::new(file, error);
    let Some((format, fit)) = read::recognise(file, stage.formats).map_err(unreadable)? else {
        return Problem::nothing(format!(
            "{}: no line of it fits a known format",
            file.display()
        ));
    };
    let subagent = fit.subagent;
    let fit = read::fit(file, format.format(), subagent).map_err(unreadable)?;
    let kind = if subagent { ", a subagent" } else { "" };
    let head = format!(
        "{}: {} ({}{kind})",
        file.display(),
        format.name,
        format.head().agent
    );
    writeln!(stage.out, "{}", stage.gate.text(&head))?;
    writeln!(
        stage.out,
        "{} lines matched, {} ignored, {} broken",
        fit.matched,
        fit.ignored,
        fit.broken.len()
    )?;
    for (line, offset) in fit.broken.iter().take(SHOWN) {
        writeln!(stage.out, "broken: line {line}, at byte {offset}")?;
    }
    if fit.broken.len() > SHOWN {
        writeln!(stage.out, "and {} more", fit.broken.len() - SHOWN)?;
    }
    Ok(Exit::Found)
}
