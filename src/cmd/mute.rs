//! `session-context mute` and `unmute`: whether a session is told anything.

use std::io;

use clap::Args;

use super::subject::{Subject, subject};
use super::{Exit, Stage};
use crate::budget::Deadline;
use crate::hook::Observer;
use crate::render::terminal::flat;
use crate::state::cursors::{Cursors, Look};
use crate::time::Time;

#[derive(Debug, Args)]
pub struct MuteArgs {
    /// Name, title, id or file of a session, or `last` [default: the one this
    /// runs in]
    pub name: Option<String>,
    /// The same as NAME
    #[arg(long, value_name = "NAME", conflicts_with = "name")]
    pub session: Option<String>,
}

pub fn run(args: &MuteArgs, muted: bool, stage: &mut Stage) -> io::Result<Exit> {
    match subject(args.session.as_deref().or(args.name.as_deref()), stage)? {
        Ok(Subject { observer, elsewhere: Some(env), .. }) => mute(&observer, muted, &mut stage.at(&env)),
        Ok(Subject { observer, is_new: false, .. }) => mute(&observer, muted, stage),
        Ok(_) => {
            let command = if muted { "mute" } else { "unmute" };
            stage
                .say(format_args!("which session? Run this inside one, or name it: session-context {command} NAME"))?;
            Ok(Exit::Trouble)
        }
        Err(exit) => Ok(exit),
    }
}

fn mute(observer: &Observer, muted: bool, stage: &mut Stage) -> io::Result<Exit> {
    let settings = stage.settings;
    let mut problems = Vec::new();
    let deadline = Deadline::after(std::time::Duration::from_secs(5));
    let opened = Cursors::open(observer.cursors(stage.env), observer.key(), &deadline, &mut |what| problems.push(what));
    problems.iter().try_for_each(|problem| stage.say(problem))?;
    let Some(mut cursors) = opened else {
        stage.say("the cursors are in use; try again")?;
        return Ok(Exit::Trouble);
    };
    if !problems.is_empty() {
        return Ok(Exit::Trouble);
    }
    let now = stage.env.now();
    let clock = (stage.env.file_clock() / 1000).saturating_sub(settings.first_look.saturating_mul(1000));
    let first = Look::new(Time(now.0.saturating_sub(settings.first_look)), clock);
    let look = cursors.view.look.get_or_insert(first);
    let before = std::mem::replace(&mut look.muted, muted);
    cursors.save()?;
    let key = flat(observer.key());
    match (before, muted) {
        (true, false) => writeln!(stage.out, "{key} is told about the others again.")?,
        (false, false) => writeln!(stage.out, "{key} was not muted.")?,
        (_, true) => writeln!(stage.out, "{key} is muted; `session-context unmute {key}` undoes it.")?,
    }
    Ok(Exit::Found)
}
