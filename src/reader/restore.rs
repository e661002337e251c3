//! `session-reader restore`: the sessions that were open when the machine or a terminal went down, and opens them again.
//!
//! Tmux gets a directory and the words of an agent's own command as arguments, and no shell reads them. A window is marked
//! with the id of its session, so that none is opened twice while its agent is still starting.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;

use super::args::RestoreArgs;
use super::tmux::Tmux;
use super::{Exit, Problem, Stage};
use session_core::ask::restore::{Opening, Restorable, Restore, restore};
use session_core::show;
use session_core::show::terminal::Tone;
use session_format::hash::HashSet;
use session_format::time::{DAY, Time};

/// The session of tmux that they are opened in, where this does not run in one.
const RESTORED: &str = "restored";
/// What tmux says where no server runs.
const NO_SERVER: [&str; 2] = ["no server running", "error connecting to"];
/// The option of a window that has the id.
const MARK: &str = "@session_monitor_id";

pub fn run(args: &RestoreArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let day = || Time(stage.env.now().0 - DAY);
    let since = args.since.map_or_else(day, |since| since.time(stage.env));
    let Restore { sessions, older } = stage.heard(restore(since, stage.ask()));
    let before = match older {
        0 => String::new(),
        older => format!("; {older} before that: --since 30d"),
    };
    if sessions.is_empty() {
        return Problem::nothing(format_args!(
            "no session was open when its terminal or the machine went down{before}"
        ));
    }
    if args.print {
        return print(&sessions, stage);
    }
    if args.tmux {
        return open(&sessions, stage);
    }
    let table = show::restore::table(&sessions, stage.env, stage.gate, stage.style);
    stage.print_lines(table)?;
    let hint = format!("--tmux opens them, --print prints the commands{before}");
    match stage.style.height {
        Some(_) => stage.print_lines([stage.style.paint(Tone::Faint, &hint)]),
        None => {
            stage.say(hint);
            Ok(Exit::Found)
        }
    }
}

/// Those that can be opened; why the others cannot is said.
fn openings<'s, 'f>(
    sessions: &'s [Restorable<'f>],
    stage: &mut Stage,
) -> Vec<(&'s Restorable<'f>, &'s Opening)> {
    let mut all = Vec::new();
    for session in sessions {
        match &session.opening {
            Ok(opening) => all.push((session, opening)),
            Err(why) => {
                let why = stage.gate.line(why);
                stage.say(format_args!("{} left out: {why}", session.listed.handle()));
            }
        }
    }
    all
}

/// Prints a command for a shell for each.
fn print(sessions: &[Restorable], stage: &mut Stage) -> Result<Exit, Problem> {
    let mut exit = Exit::Nothing;
    for (session, opening) in openings(sessions, stage) {
        let line = opening.line();
        // What a terminal must not get would be missing in the command.
        if let Some(line) = stage.gate.as_it_is(&line) {
            exit = stage.print_lines([line])?;
        } else {
            stage.say(format_args!(
                "{} left out: its directory cannot be printed; --tmux opens it",
                session.listed.handle()
            ));
        }
    }
    Ok(exit)
}

/// Opens a window of tmux for each.
fn open(sessions: &[Restorable], stage: &mut Stage) -> Result<Exit, Problem> {
    let Some(program) = stage.env.installed("tmux") else {
        return Problem::trouble("tmux is not installed; --print prints the commands");
    };
    let windows = Windows {
        tmux: Tmux {
            program,
            socket: None,
        },
        is_inside: stage.env.var("TMUX").is_some_and(|tmux| !tmux.is_empty()),
    };
    let mut opened = windows.marked().map_err(Problem::Trouble)?;
    let mut exit = Exit::Nothing;
    for (session, opening) in openings(sessions, stage) {
        let (handle, id) = (
            session.listed.handle(),
            session.listed.session.id.to_string(),
        );
        if !opened.insert(id.clone()) {
            stage.say(format_args!("{handle} left out: tmux has a window for it"));
            continue;
        }
        match windows.open(&stage.gate.line(handle), &id, opening) {
            Ok(window) => {
                let dir = stage.env.tilde(&opening.dir);
                let line = format!("opened {handle} in {window}: {dir}: {}", opening.command);
                exit = stage.print_lines([stage.gate.line(line)])?;
            }
            Err(why) => {
                stage.say(format_args!("{handle} was not opened: {why}"));
                stage.trouble.borrow_mut().push(why);
            }
        }
    }
    if exit == Exit::Found && !windows.is_inside {
        stage.say(format_args!("tmux attach -t {RESTORED} shows them"));
    }
    Ok(exit)
}

/// The windows that sessions are opened in.
struct Windows {
    tmux: Tmux,
    is_inside: bool,
}

impl Windows {
    /// The ids of the sessions that windows were opened for.
    fn marked(&self) -> Result<HashSet<String>, String> {
        let format = format!("#{{{MARK}}}");
        let args = ["list-windows", "-a", "-F", &format].map(OsStr::new);
        let shown = match self.tmux.run(&args) {
            // Without a server there is no window.
            Err(why) if NO_SERVER.iter().any(|words| why.contains(words)) => String::new(),
            shown => shown?,
        };
        let ids = shown.lines().filter(|id| !id.is_empty());
        Ok(ids.map(str::to_owned).collect())
    }

    /// Opens a window, and says which.
    fn open(&self, name: &str, id: &str, opening: &Opening) -> Result<String, String> {
        let exact = format!("={RESTORED}");
        let has = ["has-session", "-t", &exact].map(OsStr::new);
        let target = format!("{exact}:");
        let place: &[&str] = if self.is_inside {
            &["new-window", "-d"]
        } else if self.tmux.run(&has).is_ok() {
            &["new-window", "-d", "-t", &target]
        } else {
            &["new-session", "-d", "-s", RESTORED]
        };
        let shown = "#{window_id} #{session_name}:#{window_index}";
        let mut args: Vec<OsString> = place.iter().map(OsString::from).collect();
        args.extend(["-P", "-F", shown, "-n"].map(OsString::from));
        args.extend([name.replace('#', "##").into(), "--".into()]);
        // Of a directory, tmux expands what it takes for a format, and where it cannot go, it stays.
        args.extend(["sh", "-c", r#"cd -- "$1" && shift && exec "$@""#, "sh"].map(OsString::from));
        // A server of tmux may have been started with another PATH.
        args.extend([opening.dir.clone().into(), opening.program.clone().into()]);
        args.extend(opening.words.iter().skip(1).map(OsString::from));
        let args: Vec<OsString> = args.into_iter().map(as_argument).collect();
        let opened = self.tmux.run(&args)?;
        let (window, place) = opened.split_once(' ').unwrap_or((&opened, ""));
        let marked = self.tmux.run(&["set-option", "-w", "-t", window, MARK, id]);
        marked.map_err(|_| format!("{} ended at once", opening.command))?;
        Ok(place.to_owned())
    }
}

/// A word that tmux takes as it is: a `;` at its end would begin another command.
fn as_argument(word: OsString) -> OsString {
    let mut bytes = word.into_vec();
    if bytes.ends_with(b";") {
        bytes.insert(bytes.len() - 1, b'\\');
    }
    OsString::from_vec(bytes)
}
