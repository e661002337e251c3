//! `session-context profile`: the role, preferences and rules that the user sets, for every project.
//!
//! They are lines of the user's profile file. What the sessions say about the user is `session-reader profile`, which shows
//! this too.

use clap::{Args, Subcommand};

use super::notes::{change_notes, new_note, open_notes, show, show_notes, show_removed};
use super::{Exit, Problem, Stage};
use session_core::stage::one_of;
use session_core::state::notes::{Kind, Note, Notes, Owner};

const SET: &str = "\
Examples:
  session-context profile set role maintainer of the shop
  session-context profile set preference language: English
  session-context profile set rule simple solutions first";

const REMOVE: &str =
    "  session-context profile remove 3     what is shown as: rule 3 (2026-11-16): …
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
pub struct ProfileSetArgs {
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
        #[arg(value_name = "role|preference|rule", value_parser = one_of(Kind::OF_USER, Kind::name), hide_possible_values = true)]
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
        _ => text
            .parse()
            .map(Which::Id)
            .map_err(|_| "an id is the number that `session-context profile` shows"),
    }
}

pub fn profile(args: &ProfileSetArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    match &args.action {
        None => view(args.json, stage),
        Some(ProfileAction::Set { kind, text }) => set(*kind, text, stage),
        Some(ProfileAction::Remove { which }) => remove(which, stage),
    }
}

fn view(json: bool, stage: &mut Stage) -> Result<Exit, Problem> {
    let profile = open_notes(Owner::User, stage)?;
    let all: Vec<&Note> = profile.about_user(stage.env.now()).collect();
    if all.is_empty() {
        return Problem::nothing(
            "nothing is set; `session-context profile set role TEXT` begins it",
        );
    }
    show_notes(&all, json, stage)
}

fn set(kind: Kind, text: &[String], stage: &mut Stage) -> Result<Exit, Problem> {
    let Some(note) = new_note(kind, text, stage.env) else {
        let hint = "`session-context profile remove` takes something away";
        return Problem::trouble(format!("there is no text to write down; {hint}"));
    };
    let note = change_notes(Owner::User, stage, |profile| Ok(profile.put(note)))?;
    show(&note.to_string(), stage)
}

/// Removes all of them or, if one is not there, none.
fn remove(which: &[Which], stage: &mut Stage) -> Result<Exit, Problem> {
    let remove = |profile: &mut Notes| {
        let mut ids = Vec::new();
        for which in which {
            match which {
                Which::Id(id) => ids.push(*id),
                Which::Role if profile.all(Kind::Role).next().is_none() => {
                    return Err("no role is set".into());
                }
                Which::Role => ids.extend(profile.all(Kind::Role).map(|role| role.id)),
            }
        }
        profile.remove(&ids)
    };
    let hinted = |why: String| format!("{why}; `session-context profile` shows what there is");
    let removed = change_notes(Owner::User, stage, |profile| {
        remove(profile).map_err(hinted)
    })?;
    show_removed(&removed, stage)
}
