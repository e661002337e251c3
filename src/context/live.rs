//! `session-context live`: what an agent is doing, noted by a hook of `install --live`.
//!
//! It reads the hook's JSON, adds a line to a file of ours, and prints nothing: an agent must neither wait for it nor be
//! told anything. It always exits with 0, because another status may stop what the agent does; what goes wrong is a line on
//! stderr. Which event means what is in the `[live.hook]` table of the descriptor.

use std::time::Duration;

use clap::Args;

use super::{Exit, Stage};
use session_core::process;
use session_core::session::is_id;
use session_core::show::gate::Gate;
use session_core::show::terminal::cut;
use session_core::state::live::{LiveNote, LiveNotes};
use session_format::decode::pick;

#[derive(Debug, Args)]
pub struct LiveArgs {
    /// The agent whose hook this is
    #[arg(long, value_name = "AGENT")]
    pub agent: String,
}

/// How long the agent may take to say what happens.
const PATIENCE: Duration = Duration::from_millis(300);
/// How much is kept of the name of a tool, and of what it is called with.
const TOOL: usize = 60;
const SUBJECT: usize = 300;

pub fn run(args: &LiveArgs, stage: &mut Stage) -> Exit {
    if let Err(problem) = note(&args.agent, stage) {
        stage.say(problem);
    }
    stage.clear_read_errors();
    Exit::Found
}

fn note(agent: &str, stage: &Stage) -> Result<(), String> {
    let format = stage.formats.iter().find(|format| format.is_called(agent));
    let format = format.ok_or_else(|| format!("no agent is called '{agent}'"))?;
    let hooks = format.hook().zip(format.live().hook.as_ref());
    let (hook, live) =
        hooks.ok_or_else(|| format!("the format of '{agent}' has no [live.hook]"))?;
    let input = stage.env.stdin(stage.env.patience(PATIENCE))?;
    let wanted = [
        &hook.event,
        &hook.session,
        &live.kind,
        &live.tool,
        &live.subject,
    ];
    let values =
        pick(&input, wanted.map(|pointers| &*pointers.0)).ok_or("stdin is not a JSON object")?;
    let [event, session, kind, tool, subject] = values.map(Option::unwrap_or_default);
    if !is_id(&session) {
        return Err("stdin does not say which session it is".into());
    }
    let Some(status) = live.meaning(&event, &kind) else {
        return Ok(());
    };
    let (pid, start) =
        process::caller().map_or_else(Default::default, |(pid, start)| (pid, start.to_string()));
    // What is cut could be half a secret, so that comes last.
    let kept = |text: &str, most: usize| cut(&Gate::new(true).line(text), most).into_owned();
    let note = LiveNote {
        time: stage.env.now(),
        status,
        tool: kept(&tool, TOOL),
        subject: kept(&subject, SUBJECT),
        pid,
        start,
        namespace: process::namespace().unwrap_or_default(),
        ticks: process::started(std::process::id()).unwrap_or_default(),
    };
    let notes = LiveNotes::in_dir(&stage.env.state_dir());
    let now = stage.env.file_clock() / 1_000_000_000;
    notes
        .append(&format.name, &session, &note, now)
        .map_err(|error| format!("{}: {error}", notes.dir.display()))
}
