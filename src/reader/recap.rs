//! `session-reader recap`: what was done, per project and session.

use super::args::RecapArgs;
use super::{Exit, Problem, Stage};
use session_core::ask::recap::recap;
use session_format::time::{DAY, Time};

pub fn run(args: &RecapArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let day = || Time(stage.env.now().0 - DAY);
    let since = args.since.map_or_else(day, |since| since.time(stage.env));
    let recap = stage.heard(recap(args.all, since, stage.ask()));
    if recap.projects.is_empty() {
        return Problem::nothing(super::none(args.all, true, recap.elsewhere, "--all"));
    }
    if args.json {
        for object in recap.json(stage.env) {
            stage.print_json(&object)?;
        }
        return Ok(Exit::Found);
    }
    let lines = if args.md {
        recap.markdown(stage.env)
    } else {
        recap.text(stage.env, stage.gate, stage.style)
    };
    stage.print_lines(lines)
}
