//! `session-reader profile`: statistics about how the user works.

use super::args::ProfileArgs;
use super::{Exit, Problem, Stage};
use session_core::ask::profile::profile;
use session_core::show;

pub fn run(args: &ProfileArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let since = args.since.map(|since| since.time(stage.env));
    let profiled = stage.heard(profile(args.all, since, stage.ask()));
    if profiled.profile.sessions == 0 {
        return Problem::nothing(super::none(
            args.all,
            since.is_some(),
            profiled.elsewhere,
            "--all",
        ));
    }
    stage.say_all(&profiled.wrong);
    if args.json {
        return stage.print_json(&show::profile::json(&profiled));
    }
    stage.print_lines(show::profile::text(&profiled, stage.gate, stage.style))
}
