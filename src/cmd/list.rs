//! `session-reader list`: which sessions there are, in this project or on the machine.
//!
//! It picks and orders the rows; the table is made by `show/list.rs`.

use super::args::ListArgs;
use super::{Exit, Problem, Stage};
use crate::show::terminal::Tone;
use crate::show::{json, list};

pub fn run(args: &ListArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    stage.known_agent(args.agent.as_deref())?;
    let mut all = stage.sessions();
    let now = stage.env.now();
    let since = args.since.map(|since| since.time(stage.env));
    all.retain(|listed| {
        args.agent.as_ref().is_none_or(|agent| listed.session.format.is_called(agent))
            && (args.state.is_empty() || args.state.contains(&listed.state(now)))
            && args.tag.as_ref().is_none_or(|tag| listed.has_tag(tag))
            && since.is_none_or(|since| listed.tally.updated.is_some_and(|updated| updated >= since))
    });
    let elsewhere = all.iter().filter(|listed| !listed.here).count();
    if args.all {
        all.sort_by_key(|listed| !listed.here);
    } else {
        all.retain(|listed| listed.here);
    }
    let narrowed = args.agent.is_some() || !args.state.is_empty() || args.tag.is_some() || args.since.is_some();
    if all.is_empty() {
        return Problem::nothing(super::none(args.all, narrowed, elsewhere, "--all"));
    }
    // On a terminal, the heading, the line about the others and the shell's next prompt need room, too.
    let screen = stage.style.height.filter(|rows| !args.json && all.len() + 2 > *rows).map(|rows| rows.max(8) - 3);
    let more = all.len().saturating_sub(args.limit.or(screen).unwrap_or(usize::MAX));
    let total = all.len();
    all.truncate(total - more);
    if args.json {
        all.iter().try_for_each(|listed| stage.print_json(&json::listed(listed, now)).map(drop))?;
    } else {
        stage.print_lines(list::table(&all, stage.env, stage.gate, stage.style, args.all))?;
        if more > 0 && stage.style.height.is_some() {
            let line = format!("{more} more: --limit {total} shows all");
            writeln!(stage.out, "{}", stage.style.paint(Tone::Faint, &line))?;
        }
    }
    // The process ends here, and giving back thousands of small strings takes longer than printing them.
    std::mem::forget(all);
    Ok(Exit::Found)
}
