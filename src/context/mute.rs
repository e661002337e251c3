//! `session-context mute` and `unmute`: whether the hook tells a session anything.
//!
//! The session's cursor file remembers it. What the session has seen stays as it is.

use clap::Args;

use super::target_session::TargetSession;
use super::{Exit, Problem, Stage};
use session_core::state::cursors::Cursors;
use session_core::state::seen::Look;
use session_core::state::sessions::Changes;
use session_format::budget::Deadline;
use session_format::time::Time;

#[derive(Debug, Args)]
pub struct MuteArgs {
    /// Name, title, id or file of a session, or `last` [default: the one this
    /// runs in]
    pub name: Option<String>,
    /// The same as NAME
    #[arg(long, value_name = "NAME", conflicts_with = "name")]
    pub session: Option<String>,
}

pub fn run(args: &MuteArgs, muted: bool, stage: &mut Stage) -> Result<Exit, Problem> {
    let name = args.session.as_deref().or(args.name.as_deref());
    let said = change(
        name,
        if muted { "mute NAME" } else { "unmute NAME" },
        |_| muted,
        None,
        stage,
    )?;
    stage.print_lines([stage.gate.line(said)])
}

/// Mutes a session or takes that back, as `muted` makes of whether it is muted, and says so. `called` is what it is called
/// there, if not as usual.
pub fn change(
    name: Option<&str>,
    usage: &str,
    muted: impl FnOnce(bool) -> bool,
    called: Option<&str>,
    stage: &mut Stage,
) -> Result<String, Problem> {
    let target = TargetSession::find(name, stage)?;
    target.must_exist(usage)?;
    stage.clear_read_errors();
    let (observer, stage) = (&target.observer, &mut target.stage(stage));
    let mut problems = Vec::new();
    let deadline = Deadline::after(stage.env.patience(std::time::Duration::from_secs(5)));
    let opened = Cursors::open(
        observer.cursor_file(stage.env),
        observer.key(),
        &deadline,
        &mut |what| problems.push(what),
    );
    let last = problems.pop();
    stage.say_all(&problems);
    let Some(cursors) = opened else {
        stage.say_all(last);
        return Problem::trouble("the cursors are in use; try again");
    };
    if let Some(problem) = last {
        return Problem::trouble(problem);
    }
    let first_look = stage.settings.first_look;
    let first = || Look::new(Time(stage.env.now().0.saturating_sub(first_look)));
    let look = cursors.view.look.clone().unwrap_or_else(first);
    let before = look.muted;
    let muted = muted(before);
    cursors.save(Look { muted, ..look }, Changes::new())?;
    let key = called.unwrap_or(observer.key());
    Ok(match (before, muted) {
        (true, false) => format!("{key} is told about the others again."),
        (false, false) => format!("{key} was not muted."),
        (_, true) => format!("{key} is muted; `session-context unmute {key}` undoes it."),
    })
}
