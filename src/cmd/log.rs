//! `session-reader log`

use std::borrow::Cow;
use std::io;

use super::args::{self, LogArgs};
use super::{Exit, Stage, follow};
use crate::catalog::{self, Resolved, Unresolved};
use crate::entry::{Entry, What};
use crate::locate::{self, Session, Unreadable};
use crate::render::json;
use crate::render::log::{LogView, Origin};
use crate::secrets::redact;
use crate::transcript::{Log, Transcript, Wanted};

/// How many entries a log shows if nobody says.
const LINES: u64 = 50;

pub fn wanted(args: &LogArgs, stage: &Stage) -> Wanted {
    let since = args.since.map(|since| since.time(stage.env));
    let count = args.lines.unwrap_or(if since.is_some() { u64::MAX } else { LINES });
    Wanted { count: count.try_into().unwrap_or(usize::MAX), since, full: args.full, unfinished: !args.follow }
}

pub fn run(args: &LogArgs, stage: &mut Stage) -> io::Result<Exit> {
    let Some(name) = &args.name else { return follow::many(args, stage) };
    let mut bad = Vec::new();
    let resolved = match catalog::resolve(stage.env, stage.formats, name, &mut bad) {
        Ok(resolved) => resolved,
        Err(Unresolved::Unknown(_) | Unresolved::None | Unresolved::Unrecognised(_))
            if args.follow && follow::may_appear(name, stage) =>
        {
            return follow::late(name, args, stage);
        }
        Err(Unresolved::Unknown(_) | Unresolved::None) if follow::is_named_here(name, stage) => {
            stage.say(format_args!("'{name}' has no transcript yet"))?;
            return Ok(Exit::Nothing);
        }
        Err(unresolved) => {
            stage.say_unreadable(&bad)?;
            let unknown = matches!(unresolved, Unresolved::Unknown(_));
            let exit = stage.say_unresolved(name, unresolved)?;
            if let Some(command) = args::command_like(name).filter(|_| unknown) {
                stage.say(format_args!("there is a command `session-reader {command}`"))?;
            }
            return Ok(exit);
        }
    };
    if args.follow {
        return follow::one(resolved, args, stage);
    }
    let log = match read(&resolved, wanted(args, stage)) {
        Ok(log) => log,
        Err(error) => return stage.say_unreadable(&[Unreadable { path: resolved.session.path, error }]),
    };
    if log.entries.is_empty() {
        let when = if args.since.is_some() { "since then" } else { "yet" };
        stage.say(format_args!("nothing was said in '{name}' {when}"))?;
        return Ok(Exit::Nothing);
    }
    let origin = origin(&resolved.session, None);
    let mut view = LogView::new(stage.env.zone(), stage.look);
    for entry in &log.entries {
        show(entry, &origin, args, &mut view, stage)?;
    }
    if log.broken > 0 && !args.json {
        let lines = if log.broken == 1 { "1 line" } else { &format!("{} lines", log.broken) };
        let path = resolved.session.path.display();
        stage.say(format_args!("{lines} could not be read: session-reader formats check {path}"))?;
    }
    Ok(Exit::Found)
}

pub fn read(resolved: &Resolved, wanted: Wanted) -> io::Result<Log> {
    let Resolved { session, subagent } = resolved;
    Transcript::open(&session.path, session.format.format())?.full(wanted.full).subagent(*subagent).last(wanted)
}

/// Where the entries of a session come from. The directory is the one it began in: wherever the agent went from there,
/// the log looks the same.
pub fn origin(session: &Session, label: Option<String>) -> Origin {
    let inside = Transcript::open(&session.path, session.format.format()).ok().and_then(|file| file.beginning().cwd);
    let cwd = inside.or_else(|| locate::beside(session).cwd);
    Origin { label, cwd }
}

pub fn show(entry: &Entry, origin: &Origin, args: &LogArgs, view: &mut LogView, stage: &mut Stage) -> io::Result<()> {
    let hidden = stage.settings.redact.then(|| without_secrets(entry));
    let entry = hidden.as_ref().unwrap_or(entry);
    let line = if args.json { json::entry(entry, origin.label.as_deref()) } else { view.entry(entry, origin) };
    writeln!(stage.out, "{line}")
}

/// An entry with `[redacted]` for every secret in it.
fn without_secrets(entry: &Entry) -> Entry<'static> {
    let mut entry = entry.clone().into_owned();
    let hide = |text: &mut Cow<'static, str>| *text = Cow::Owned(redact(text).into_owned());
    match &mut entry.what {
        What::Text(text) | What::Thinking(text) | What::Mark(_, text) | What::Result { text: Some(text), .. } => {
            hide(text)
        }
        What::Call(call) => call.subjects.iter_mut().for_each(hide),
        What::Result { text: None, .. } => {}
    }
    entry
}
