//! `session-reader go`: to the terminal where a session runs.
//!
//! In tmux its pane is selected, from inside or outside. Elsewhere nobody can be sent there, and it is said where that is.
//! Every argument is one word of a list, and ids are checked (`session/place.rs`): nothing from a transcript reaches a shell.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use super::args::GoArgs;
use super::tmux::Tmux;
use super::{Exit, Problem, Stage, as_command};
use session_core::env::Env;
use session_core::session::index::Listed;
use session_core::session::place::{AgentPlace, Pane, place};
use session_core::session::state::Group;
use session_core::show::place::words;

/// What came of it.
#[derive(Debug, PartialEq)]
pub enum Went {
    /// The terminal shows it now.
    There,
    /// The pane is selected, and this command shows it.
    Attach(Vec<OsString>),
    /// Nobody but the user can go there.
    Elsewhere,
}

pub fn run(args: &GoArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let wanted = match &args.name {
        Some(name) => Some(stage.resolve(name)?.session.path.to_path_buf()),
        None => None,
    };
    let (sessions, now) = (stage.sessions(), stage.env.now());
    let listed = match &wanted {
        Some(path) => sessions.iter().find(|listed| listed.session.path == *path),
        None => {
            let waiting = sessions.iter();
            let waiting: Vec<&Listed> = waiting
                .filter(|listed| listed.group(now) == Group::NeedsYou)
                .collect();
            // As on the screen of `watch`: those of this project, and who has waited longest.
            let order = |listed: &&&Listed| {
                let is_nowhere = place(&listed.presence).is_none();
                (is_nowhere, !listed.here, listed.state(now).since)
            };
            let first = waiting.iter().min_by_key(order);
            let Some(first) = first else {
                return Problem::nothing(
                    "no session needs you; `session-reader go NAME` goes to any that is open",
                );
            };
            Some(*first)
        }
    };
    let handle = listed.map_or(args.name.as_deref().unwrap_or_default(), Listed::handle);
    let place = listed.and_then(|listed| place(&listed.presence));
    let handle = stage.gate.line(handle).into_owned();
    let Some(place) = place else {
        return Problem::nothing(format_args!(
            "{handle} is not open, or nobody knows where; `session-reader resume {handle}` says how to open it"
        ));
    };
    let (went, place) = go(place, stage.env).map_err(Problem::Trouble)?;
    stage.print_lines([format!("{handle} is in {}", words(&place))])?;
    if let Went::Attach(command) = went {
        let is_terminal = stage.style.height.is_some();
        return if is_terminal {
            stage.out.flush()?;
            let failed = as_command(&command).exec();
            Problem::trouble(format_args!("tmux cannot be started: {failed}"))
        } else {
            Ok(Exit::Found)
        };
    }
    Ok(Exit::Found)
}

/// Goes to a place, as far as that is possible from here, and says where it is.
pub fn go(place: AgentPlace, env: &Env) -> Result<(Went, AgentPlace), String> {
    let server = place.pane.as_ref().and_then(Pane::socket);
    let (Some(server), Some(pane)) = (server, &place.pane) else {
        return Ok((Went::Elsewhere, place));
    };
    let tmux = Tmux {
        program: "tmux".into(),
        socket: Some(server.clone()),
    };
    let Some(session) = select(&tmux, pane, place.tty.as_deref())? else {
        let elsewhere = AgentPlace {
            pane: None,
            ..place
        };
        return Ok((Went::Elsewhere, elsewhere));
    };
    let went = match env.var("TMUX") {
        None => Went::Attach(tmux.words(&["attach-session", "-t", &session])),
        Some(own) if is_own(&server, &own.to_string_lossy()) => {
            match tmux.run(&["switch-client", "-t", &session]) {
                Ok(_) => Went::There,
                // Nobody looks at that server; whoever attaches next sees it.
                Err(_) => Went::Elsewhere,
            }
        }
        // One server does not show the panes of another.
        Some(_) => Went::Elsewhere,
    };
    Ok((went, place))
}

/// Makes a pane the one that its session shows, and returns that session. None if the agent has another terminal: one that
/// was opened from this pane hands its variables down.
fn select(
    tmux: &Tmux,
    Pane { id, .. }: &Pane,
    tty: Option<&str>,
) -> Result<Option<String>, String> {
    let asked = "#{session_id} #{window_id} #{pane_tty}";
    let pane = tmux.run(&["display-message", "-p", "-t", id, asked])?;
    let [session, window, pane_tty] = pane.split(' ').collect::<Vec<_>>()[..] else {
        return Err("tmux does not say which pane that is".into());
    };
    if tty.is_some_and(|tty| tty != pane_tty) {
        return Ok(None);
    }
    tmux.run(&["select-window", "-t", window])?;
    tmux.run(&["select-pane", "-t", id])?;
    Ok(Some(session.to_owned()))
}

/// True if `TMUX` names this server: `/tmp/tmux-1000/default,4242,0`.
fn is_own(server: &Path, variable: &str) -> bool {
    let path = variable.split(',').next().unwrap_or_default();
    let real = |path: PathBuf| path.canonicalize().ok();
    real(path.into()).is_some_and(|own| Some(own) == real(server.into()))
}
