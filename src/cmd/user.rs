//! What holds for the user in every project, as the user set it: `session-context profile`.
//!
//! What the sessions tell about the user is `session-reader profile`, which shows this too.

use std::io;

use clap::{Args, Subcommand};

use super::page::{kind, note, said, show, show_note};
use super::{Exit, Stage};
use crate::state::notes::{Kind, Note, Profile};

const SET: &str = "\
Examples:
  session-context profile set role maintainer of the shop
  session-context profile set preference language: English
  session-context profile set rule simple solutions first";

const REMOVE: &str = "  session-context profile remove 3     what is shown as: rule 3 (2026-11-16): …
  session-context profile remove role";

const ONE: &str = "\
There is one role, and one preference per topic: a new `language:` replaces the
old one.";

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = format!("{SET}\n{REMOVE}

`session-reader profile` shows it, too; sessions are not told. Each setting is a
line in session-monitor/profile.md (see XDG_DATA_HOME in `session-context
--help`), which you can edit.")
)]
pub struct ProfileArgs {
    #[command(subcommand)]
    action: Option<ProfileAction>,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum ProfileAction {
    /// Write down your role, a preference or a rule
    #[command(visible_alias = "add", after_help = format!("{SET}\n\n{ONE}"))]
    Set {
        /// What it is
        #[arg(value_name = "role|preference|rule", value_parser = kind(Kind::OF_USER), hide_possible_values = true)]
        kind: Kind,
        /// What to write down; no quotes needed
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// Remove preferences or rules by their ids, or your role
    #[command(after_help = format!("Examples:\n{REMOVE}"))]
    Remove {
        /// The number that `profile` shows, or `role`
        #[arg(required = true, value_name = "ID", value_parser = which, allow_negative_numbers = true)]
        which: Vec<Which>,
    },
}

/// What to remove.
#[derive(Debug, Clone, Copy)]
enum Which {
    Role,
    Id(u32),
}

fn which(text: &str) -> Result<Which, &'static str> {
    match text {
        "role" => Ok(Which::Role),
        _ => text.parse().map(Which::Id).map_err(|_| "an id is the number that `session-context profile` shows"),
    }
}

pub fn profile(args: &ProfileArgs, stage: &mut Stage) -> io::Result<Exit> {
    match &args.action {
        None => view(args.json, stage),
        Some(ProfileAction::Set { kind, text }) => set(*kind, text, stage),
        Some(ProfileAction::Remove { which }) => remove(which, stage),
    }
}

fn view(json: bool, stage: &mut Stage) -> io::Result<Exit> {
    let mut wrong = Vec::new();
    let result = Profile::open(stage.env, &mut wrong);
    let Some(profile) = said(result, wrong, stage)? else { return Ok(Exit::Trouble) };
    let now = stage.env.now();
    let all: Vec<&Note> =
        profile.role(now).into_iter().chain(profile.preferences(now)).chain(profile.rules(now)).collect();
    if all.is_empty() {
        stage.say("nothing is set; `session-context profile set role TEXT` begins it")?;
        return Ok(Exit::Nothing);
    }
    all.iter().try_for_each(|note| show_note(note, json, stage))?;
    Ok(Exit::Found)
}

fn set(kind: Kind, text: &[String], stage: &mut Stage) -> io::Result<Exit> {
    let Some(note) = note(kind, text, stage.env) else {
        stage.say("there is no text to write down; `session-context profile remove` takes something away")?;
        return Ok(Exit::Trouble);
    };
    let mut wrong = Vec::new();
    let result = Profile::change(stage.env, &mut wrong, |profile| Ok(profile.put(note)));
    let Some(note) = said(result, wrong, stage)? else { return Ok(Exit::Trouble) };
    show(&note.to_string(), stage)?;
    Ok(Exit::Found)
}

/// All of them or, if one is not there, none.
fn remove(which: &[Which], stage: &mut Stage) -> io::Result<Exit> {
    let remove = |profile: &mut Profile| {
        let mut ids = Vec::new();
        for which in which {
            match which {
                Which::Id(id) => ids.push(*id),
                Which::Role => match profile.roles() {
                    none if none.is_empty() => return Err("no role is set".into()),
                    roles => ids.extend(roles),
                },
            }
        }
        profile.remove(&ids)
    };
    let mut wrong = Vec::new();
    let result = Profile::change(stage.env, &mut wrong, |profile| {
        remove(profile).map_err(|why| format!("{why}; `session-context profile` shows what there is"))
    });
    let Some(removed) = said(result, wrong, stage)? else { return Ok(Exit::Trouble) };
    removed.iter().try_for_each(|note| show(&format!("removed: {note}"), stage))?;
    Ok(Exit::Found)
}
