//! `session-reader log`

use std::borrow::Cow;
use std::io;
use std::path::Path;

use super::args::{self, LogArgs};
use super::{Exit, Stage, follow};
use crate::catalog::{self, Resolved, Unresolved};
use crate::entry::{Entry, What};
use crate::locate::{self, Session, Unreadable};
use crate::render::json;
use crate::render::log::{LogView, Origin};
use crate::render::terminal::{Tone, cut, flat};
use crate::secrets::redact;
use crate::transcript::{Log, Transcript, Wanted};

/// How many entries a log shows if nobody says.
const LINES: usize = 50;

pub fn wanted(args: &LogArgs, stage: &Stage) -> Wanted {
    let since = args.since.map(|since| since.time(stage.env));
    let count = args.lines.unwrap_or(if since.is_some() { usize::MAX } else { LINES });
    let results = args.full || args.results.is_some();
    Wanted { count, since, full: args.full, results, unfinished: !args.follow }
}

pub fn run(args: &LogArgs, stage: &mut Stage) -> io::Result<Exit> {
    let name = match &args.name {
        None if args.follow => return follow::many(args, stage),
        name => name.as_deref().unwrap_or("last"),
    };
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
            let may_be_command = args.bare && name.chars().all(|char| char.is_ascii_alphabetic() || char == '-');
            let kind = if may_be_command { "command or session" } else { "session" };
            let unknown = matches!(unresolved, Unresolved::Unknown(_) | Unresolved::None);
            if let Some(command) = args::command_like(name).filter(|_| args.bare && unknown) {
                stage.say(format_args!("no {kind} is called '{name}'; did you mean `session-reader {command}`?"))?;
                return Ok(Exit::Trouble);
            }
            return stage.say_unresolved_as(kind, name, unresolved);
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
    show_head(&resolved.session, &origin, &log, args, stage)?;
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

/// The transcript of a session, to be read as far as somebody wants to see of it.
pub fn open<'f>(session: &Session<'f>, subagent: bool, wanted: Wanted) -> io::Result<Transcript<'f>> {
    let transcript = Transcript::open(&session.path, session.format.format())?.subagent(subagent);
    Ok(transcript.full(wanted.full || wanted.results).whole(wanted.results))
}

pub fn read(resolved: &Resolved, wanted: Wanted) -> io::Result<Log> {
    let Resolved { session, subagent } = resolved;
    open(session, *subagent, wanted)?.last(wanted)
}

/// Where the entries of a session come from. The directory is the one it began in: wherever the agent went from there,
/// the log looks the same.
pub fn origin(session: &Session, label: Option<String>) -> Origin {
    let inside = Transcript::open(&session.path, session.format.format()).ok().and_then(|file| file.beginning().cwd);
    let cwd = inside.or_else(|| locate::beside(session).cwd);
    Origin { label, cwd }
}

/// On a terminal, a line that says what is shown: session, agent, directory, and how much of it.
pub fn show_head(session: &Session, origin: &Origin, log: &Log, args: &LogArgs, stage: &mut Stage) -> io::Result<()> {
    if stage.look.height.is_none() || args.json {
        return Ok(());
    }
    let (shown, since) = (log.entries.len(), if args.since.is_some() { " since then" } else { "" });
    let part = match log.total {
        1 if log.exact && shown == 1 => format!("1 entry{since}"),
        total if log.exact && total == shown => format!("all {total} entries{since}"),
        total if log.exact => format!("last {shown} of {total}{since}"),
        _ if args.since.is_some() => format!("last {shown}"),
        total => {
            let unit = 10_usize.pow(total.checked_ilog10().unwrap_or(0).saturating_sub(1));
            format!("last {shown} of about {} entries", total.div_ceil(unit) * unit)
        }
    };
    let handle = catalog::handle(session, stage.env, stage.formats);
    let place = origin.cwd.as_ref().map(|cwd| format!(" in {}", stage.env.tilde(Path::new(cwd))));
    let head = format!("{handle} ({}){}, {part}", session.format.label(), place.unwrap_or_default());
    let head = cut(&flat(&head), stage.look.width.unwrap_or(usize::MAX)).into_owned();
    writeln!(stage.out, "{}", stage.look.paint(Tone::Faint, &head))
}

pub fn show(entry: &Entry, origin: &Origin, args: &LogArgs, view: &mut LogView, stage: &mut Stage) -> io::Result<()> {
    let hidden = stage.settings.redact.then(|| without_secrets(entry));
    let entry = hidden.as_ref().unwrap_or(entry);
    let short = args.results.map(|lines| shortened(entry, lines));
    let entry = short.as_ref().unwrap_or(entry);
    let line = if args.json { json::entry(entry, origin.label.as_deref()) } else { view.entry(entry, origin) };
    writeln!(stage.out, "{line}")
}

/// An entry with only the first lines of a result. A line may be a whole file, so it is shortened as well.
fn shortened(entry: &Entry, lines: usize) -> Entry<'static> {
    const LINE: usize = 500;
    let mut entry = entry.clone().into_owned();
    if let What::Result { text: Some(text), .. } = &mut entry.what {
        let mut shown: Vec<_> = text.trim().lines().take(lines).map(|line| cut(line, LINE)).collect();
        if text.trim().lines().count() > lines {
            shown.push("…".into());
        }
        *text = Cow::Owned(shown.join("\n"));
    }
    entry
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
