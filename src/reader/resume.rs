//! `session-reader resume`: where a session stopped, and how to go on.

use super::args::{ResumeArgs, Since};
use super::{Exit, Problem, Stage};
use session_context::target_session::last_open;
use session_core::ask::handover::{Handover, handover};
use session_core::ask::resume::{Stop, stop};
use session_core::fold::continuity::FRESH;
use session_core::session::choose::Resolved;
use session_core::show::figures::plural;
use session_core::show::resume::Fitted;
use session_format::time::Time;

/// The default budget of codes.
const TOKENS: usize = 1500;

pub fn run(args: &ResumeArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let found = found(args.name.as_deref(), args.since, stage)?;
    if args.md {
        return print_note(found, stage);
    }
    let stop = stage.heard(stop(found, stage.ask())?);
    let (path, broken) = (stop.session.path.display(), stop.continuity.broken);
    if stop.continuity.messages == 0 {
        return Problem::nothing(format!("nothing was said in {path}"));
    }
    stage.say_all(stop.command.as_ref().err());
    stage.say_wrong(&stop.wrong);
    let shown = show(args, &stop, stage)?;
    if broken > 0 && !args.json {
        stage.say(format_args!(
            "{broken} of its lines could not be read: session-reader formats check {path}"
        ));
    }
    Ok(shown)
}

/// The session that is meant: by default the last one of this week in which something is open.
pub(super) fn found<'f>(
    name: Option<&str>,
    since: Option<Since>,
    stage: &mut Stage<'_, 'f>,
) -> Result<Resolved<'f>, Problem> {
    match name.filter(|name| *name != "last") {
        Some(name) => stage.resolve(name),
        None => {
            let week = || Time(stage.env.now().0.saturating_sub(FRESH));
            let since = since.map_or_else(week, |since| since.time(stage.env));
            last_open(stage, Some(since))
        }
    }
}

/// Where it stopped, told by whoever asked, and that something was said at all.
pub(super) fn said<'f>(
    found: Resolved<'f>,
    stage: &mut Stage<'_, 'f>,
) -> Result<Handover<'f>, Problem> {
    let handover = stage.heard(handover(found, stage.ask())?);
    if handover.stop.continuity.messages == 0 {
        let path = handover.stop.session.path.display();
        return Problem::nothing(format_args!("nothing was said in {path}"));
    }
    Ok(handover)
}

/// Prints the note alone.
pub(super) fn print_note<'f>(
    found: Resolved<'f>,
    stage: &mut Stage<'_, 'f>,
) -> Result<Exit, Problem> {
    let note = said(found, stage)?.note(stage.env);
    write!(stage.out, "{note}")?;
    Ok(Exit::Found)
}

fn show(args: &ResumeArgs, stop: &Stop, stage: &mut Stage) -> Result<Exit, Problem> {
    if args.json {
        return stage.print_json(&stop.json(args.budget));
    }
    let (env, budget) = (stage.env, args.budget.unwrap_or(TOKENS));
    let shown = |path: &str| env.shown_from(stop.continuity.first_cwd.as_deref(), path);
    let Fitted { lines, left_out } = if args.codes {
        stop.codes(budget)
    } else {
        stop.text(&env.zone(), stage.gate, stage.style, args.budget, &shown)
    };
    if lines.is_empty() {
        return Problem::nothing(format!("nothing fits into {budget} tokens; see --budget"));
    }
    let exit = stage.print_lines(lines)?;
    if left_out > 0 {
        let (lines, verb) = (
            plural(left_out, "line"),
            if left_out == 1 { "does" } else { "do" },
        );
        stage.say(format_args!(
            "{lines} {verb} not fit into {budget} tokens; see --budget"
        ));
    }
    Ok(exit)
}
