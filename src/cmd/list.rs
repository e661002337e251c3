//! `session-reader list`

use std::io;

use super::args::ListArgs;
use super::{Exit, Stage};
use crate::catalog;
use crate::render::terminal::Tone;
use crate::render::{json, list};
use crate::secrets::redact;

pub fn run(args: &ListArgs, stage: &mut Stage) -> io::Result<Exit> {
    if let Some(agent) = &args.agent
        && !stage.formats.iter().any(|format| format.is_called(agent))
    {
        let known: Vec<_> = stage.formats.iter().map(|format| format.label()).collect();
        stage.say(format_args!("no agent is called '{agent}'; there are: {}", known.join(", ")))?;
        return Ok(Exit::Trouble);
    }
    let mut bad = Vec::new();
    let mut all = catalog::list(stage.env, stage.formats, &mut bad);
    let trouble = stage.say_unreadable(&bad)?;

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
        stage.say(super::none(args.all, narrowed, elsewhere, "--all"))?;
        return Ok(trouble.max(Exit::Nothing));
    }
    // On a terminal, the heading, the line about the others and the shell's next prompt need room, too.
    let screen = stage.look.height.filter(|rows| !args.json && all.len() + 2 > *rows).map(|rows| rows.max(8) - 3);
    let more = all.len().saturating_sub(args.limit.or(screen).unwrap_or(usize::MAX));
    let total = all.len();
    all.truncate(total - more);
    if stage.settings.redact {
        for tally in all.iter_mut().map(|listed| &mut listed.tally) {
            let given = [&mut tally.person_title, &mut tally.agent_title];
            let titles = given.into_iter().flatten().chain(tally.asked.all());
            titles.for_each(|title| *title = redact(title).into_owned());
        }
    }
    if args.json {
        for listed in &all {
            writeln!(stage.out, "{}", json::listed(listed, now))?;
        }
    } else {
        for line in list::table(&all, stage.env, stage.look, args.all) {
            writeln!(stage.out, "{line}")?;
        }
        if more > 0 && stage.look.height.is_some() {
            let line = format!("{more} more: --limit {total} shows all");
            writeln!(stage.out, "{}", stage.look.paint(Tone::Faint, &line))?;
        }
    }
    // The process ends here, and giving back thousands of small strings takes longer than printing them.
    std::mem::forget(all);
    Ok(trouble)
}
