//! `session-reader formats`

use std::io;
use std::path::Path;

use super::args::{FormatsAction, FormatsArgs};
use super::{Exit, Stage};
use crate::catalog::{self, Listed};
use crate::format::Known;
use crate::locate::{self, Home, Unreadable};
use crate::render::terminal::{Tone, clean, pad};
use crate::transcript;

pub fn run(args: &FormatsArgs, stage: &mut Stage) -> io::Result<Exit> {
    match &args.action {
        None => list(stage),
        Some(FormatsAction::Check { file }) => check(&stage.env.expand(file), stage),
    }
}

fn list(stage: &mut Stage) -> io::Result<Exit> {
    let mut bad = Vec::new();
    let sessions = catalog::list(stage.env, stage.formats, &mut bad);
    let home = Home::above(&stage.env.cwd);
    let heading = format!("{}{}{}", pad("FORMAT", 12), pad("AGENT", 14), "WHERE");
    writeln!(stage.out, "{}", stage.look.paint(Tone::Faint, &heading))?;
    for format in stage.formats {
        let mut start = format!("{}{}", pad(&format.name, 12), pad(&format.head().agent, 14));
        for root in &format.head().roots {
            let Some(dir) = locate::place(root, stage.env) else { continue };
            let of_root = |listed: &&Listed| listed.session.root.is_some_and(|own| std::ptr::eq(own, root));
            let count = match sessions.iter().filter(of_root).count() {
                0 if !dir.is_dir() => "not there".to_owned(),
                found => counted(found),
            };
            let moved = root.env.as_deref().map(|name| format!(" (${name})")).unwrap_or_default();
            writeln!(stage.out, "{start}{}{moved}: {count}", clean(&stage.env.tilde(&dir)))?;
            start = " ".repeat(26);
        }
        // A named home keeps some in its own directory.
        let of_home = |listed: &&Listed| listed.session.root.is_none() && listed.session.format.name == format.name;
        let found = sessions.iter().filter(of_home).count();
        if let Some(home) = home.as_ref().filter(|_| found > 0) {
            writeln!(stage.out, "{start}{}: {}", clean(&stage.env.tilde(home.dir())), counted(found))?;
        }
        if let Some(file) = &format.file {
            writeln!(stage.out, "{}from {}", " ".repeat(26), clean(&stage.env.tilde(file)))?;
        }
    }
    writeln!(stage.out, "User formats: {}", clean(&stage.env.tilde(&stage.env.formats_dir())))?;
    stage.say_unreadable(&bad)
}

fn counted(sessions: usize) -> String {
    format!("{sessions} session{}", if sessions == 1 { "" } else { "s" })
}

fn check(file: &Path, stage: &mut Stage) -> io::Result<Exit> {
    if file.extension().is_some_and(|end| end == "toml") {
        return check_descriptor(file, stage);
    }
    match transcript::recognise(file, stage.formats) {
        Err(error) => stage.say_unreadable(&[Unreadable { path: file.into(), error }]),
        Ok(None) => {
            stage.say(format_args!("{}: no line of it fits a known format", shown(file)))?;
            Ok(Exit::Nothing)
        }
        Ok(Some((format, fit))) => check_transcript(file, format, fit.subagent, stage),
    }
}

fn check_descriptor(file: &Path, stage: &mut Stage) -> io::Result<Exit> {
    match Known::read(file) {
        Ok(known) => {
            let format = known.format();
            let (rules, blocks) = (format.line.rules.len(), format.block.rules.len());
            writeln!(stage.out, "{}: valid: {}, {rules} rules, {blocks} block rules", shown(file), known.head().agent)?;
            Ok(Exit::Found)
        }
        Err(bad) => {
            stage.say(bad)?;
            Ok(Exit::Trouble)
        }
    }
}

fn check_transcript(file: &Path, format: &Known, subagent: bool, stage: &mut Stage) -> io::Result<Exit> {
    const SHOWN: usize = 10;
    let fit = match transcript::fit(file, format.format(), subagent) {
        Ok(fit) => fit,
        Err(error) => return stage.say_unreadable(&[Unreadable { path: file.into(), error }]),
    };
    let kind = if subagent { ", a subagent" } else { "" };
    writeln!(stage.out, "{}: {} ({}{kind})", shown(file), format.name, format.head().agent)?;
    writeln!(stage.out, "{} lines matched, {} ignored, {} broken", fit.matched, fit.ignored, fit.broken.len())?;
    for (line, offset) in fit.broken.iter().take(SHOWN) {
        writeln!(stage.out, "broken: line {line}, at byte {offset}")?;
    }
    if fit.broken.len() > SHOWN {
        writeln!(stage.out, "and {} more", fit.broken.len() - SHOWN)?;
    }
    Ok(Exit::Found)
}

fn shown(path: &Path) -> String {
    clean(&path.to_string_lossy()).into_owned()
}
