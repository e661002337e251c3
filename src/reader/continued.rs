//! `session-reader continue`: goes on with a session in another agent, which gets a note as its first prompt.
//!
//! The agent takes the place of this program. Its command is a list of words from its descriptor, and no shell reads it.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::args::ContinueArgs;
use super::{Exit, Problem, Stage, resume};
use session_core::ask::handover::startable;
use session_core::formats::AgentFormat;
use session_core::session::choose::Resolved;

pub fn run(args: &ContinueArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    stage.known_agent(args.with.as_deref())?;
    let found = resume::found(args.name.as_deref(), None, stage)?;
    if args.print {
        return resume::print_note(found, stage);
    }
    let agent = args.with.as_deref().unwrap_or_default();
    let mut start = prepare(found, agent, stage)?;
    stage.out.flush()?;
    // Nothing comes after this unless it fails.
    let error = start.exec();
    Problem::trouble(format_args!("{}: {error}", start.get_program().display()))
}

/// The command that goes on with a session in another agent, ready to be run.
pub(super) fn prepare<'f>(
    found: Resolved<'f>,
    agent: &str,
    stage: &mut Stage<'_, 'f>,
) -> Result<Command, Problem> {
    let handover = resume::said(found, stage)?;
    let (words, program) = start(agent, &handover.note(stage.env), stage)?;
    let dir = match &handover.dir {
        Some(dir) if !dir.is_dir() => {
            return Problem::trouble(format_args!(
                "its directory is gone: {}; --print prints the note",
                stage.gate.line(stage.env.tilde(dir))
            ));
        }
        Some(dir) => dir.as_path(),
        None => Path::new("."),
    };
    let mut command = Command::new(program);
    command.args(words).current_dir(dir);
    Ok(command)
}

/// The program of an agent, and the words it gets.
fn start(agent: &str, note: &str, stage: &Stage) -> Result<(Vec<String>, PathBuf), Problem> {
    let mut known = stage.formats.iter();
    let words = known
        .find(|format| format.is_called(agent))
        .and_then(|format| format.start(note));
    let others = || {
        let there = startable(stage.env, stage.formats);
        let there: Vec<&str> = there.into_iter().map(AgentFormat::label).collect();
        match &there[..] {
            [] => "none that can be is installed".to_owned(),
            there => format!("installed: {}", there.join(", ")),
        }
    };
    let Some(mut words) = words else {
        return Problem::trouble(format_args!(
            "{agent} cannot be started with a prompt; {}",
            others()
        ));
    };
    let name = words.remove(0);
    match stage.env.installed(&name) {
        Some(program) => Ok((words, program)),
        None => Problem::trouble(format_args!("{name} is not installed; {}", others())),
    }
}
