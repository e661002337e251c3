//! `session-reader status`: one line for a bar, which asks every few seconds.
//!
//! `ask/status.rs` finds out what goes on, as it does for the status line of an agent, and `show/statusline.rs` has the words.

use super::args::{StatusArgs, StatusFormat};
use super::{Exit, Problem, Stage};
use session_core::ask::Asker;
use session_core::ask::status::{Own, status};
use session_core::settings::{Scope, Settings};
use session_core::show::statusline::{BarMarks, StatusLine};
use session_format::budget::Deadline;

pub fn run(args: &StatusArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let scope = if args.all {
        Scope::Machine
    } else {
        Scope::Project
    };
    let settings = Settings {
        scope,
        ..stage.settings.clone()
    };
    // A bar stands still while it waits.
    let mut env = stage.env.clone();
    env.deadline = Some(Deadline::after(settings.deadline).by_test_clock(env.test_clock()));
    let asker = Asker {
        env: &env,
        settings: &settings,
        ..stage.ask()
    };
    let status = stage.heard(status(&Own::default(), asker));
    // A bar may show nothing of a program that fails.
    stage.clear_read_errors();
    if status.cut_short {
        stage.say(format_args!(
            "not everything was read within {:?}",
            settings.deadline
        ));
    }
    let now = env.now();
    let line = StatusLine {
        status: &status,
        now,
    };
    let line = match args.format {
        StatusFormat::Json => return stage.print_json(&line.object()),
        StatusFormat::Plain => line.bar(BarMarks::Plain),
        StatusFormat::Tmux => line.bar(BarMarks::Tmux),
    };
    stage.print_lines(Some(line).filter(|line| !line.is_empty()))
}
