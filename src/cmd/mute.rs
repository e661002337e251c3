//! `session-context mute` and `unmute`: whether a session is told anything.

use std::io;

use clap::Args;

use super::explain::{Subject, subject};
use super::{Exit, Stage};
use crate::budget::Deadline;
use crate::state::cursors::{Cursors, Look, Refused};
use crate::time::Time;

#[derive(Debug, Args)]
pub struct MuteArgs {
    /// Which session: name, title, id, path or `last` [default: the one this runs in]
    #[arg(long)]
    pub session: Option<String>,
}

pub fn run(args: &MuteArgs, muted: bool, stage: &mut Stage) -> io::Result<Exit> {
    let settings = stage.settings;
    let observer = match subject(args.session.as_deref(), stage)? {
        Some(Subject::Session(observer)) => observer,
        Some(Subject::New(_)) => {
            stage.say("which session? Run this inside one, or name it: --session NAME")?;
            return Ok(Exit::Trouble);
        }
        None => return Ok(Exit::Trouble),
    };
    let mut problems = Vec::new();
    let deadline = Deadline::after(std::time::Duration::from_secs(5));
    let opened = Cursors::open(observer.cursors(stage.env), observer.key(), &deadline, &mut |what| problems.push(what));
    problems.iter().try_for_each(|problem| stage.say(problem))?;
    let mut cursors = match opened {
        Ok(cursors) if problems.is_empty() => cursors,
        Ok(_) => return Ok(Exit::Trouble),
        Err(Refused::Busy) => {
            stage.say("the cursors are in use; try again")?;
            return Ok(Exit::Trouble);
        }
    };
    let now = stage.env.now();
    let clock = stage.env.file_clock() / 1000 - settings.first_look * 1000;
    let first = Look::new(Time(now.0 - settings.first_look), clock);
    cursors.view.look.get_or_insert(first).muted = muted;
    cursors.save()?;
    let told = if muted { "is told nothing until `session-context unmute`" } else { "is told again" };
    writeln!(stage.out, "{} {told}.", observer.key())?;
    Ok(Exit::Found)
}
