//! `session-reader log`: what was said and done in a session, entry by entry.
//!
//! It finds the session and reads as much as is wanted; `show/log.rs` makes the lines, `follow` goes on from there.

use std::io;
use std::path::Path;

use super::args::{self, LogArgs, Point, Since};
use super::{Exit, Problem, Stage, follow};
use crate::entry::{Entry, Position, What};
use crate::file::Unreadable;
use crate::read::{self, Log, Slice, Transcript, Wanted};
use crate::search::Query;
use crate::session::choose::{Resolved, Unresolved};
use crate::session::{Home, Session, beside, choose, index};
use crate::show::json;
use crate::show::log::{LogView, Origin, shortened};
use crate::show::terminal::Tone;

/// The default number of entries.
const LINES: usize = 50;
/// The entries of a file of this size are counted for the header; reading more would take too long.
const COUNTED: Position = Position::new(1 << 20);

/// How many lines of a result tell why a call failed.
const WHY: usize = 6;

pub fn wanted<'a>(args: &'a LogArgs, stage: &Stage) -> Wanted<'a> {
    let since = args.since.map(|since| since.time(stage.env));
    let count = args.lines.unwrap_or(if since.is_some() { usize::MAX } else { LINES });
    let until = args.until.map(|until| until.end(stage.env));
    let results = args.full || args.results.is_some() || args.errors;
    Wanted { count, since, until, slice: args.slice.as_ref(), full: args.full, results, unfinished: !args.follow }
}

pub fn run(args: &LogArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let name = match &args.name {
        None if args.follow => return follow::many(args, stage),
        name => name.as_deref().unwrap_or("last"),
    };
    let mut bad = Vec::new();
    let typo = args::similar_command(name)
        .filter(|_| args.bare)
        .map(|command| format!("did you mean `session-reader {command}`?"));
    let resolved = match choose::resolve(stage.env, stage.formats, name, &mut bad) {
        Ok(Resolved { part: true, .. }) if args.bare && args::is_almost_command(name) => {
            let part = format!("`session-reader log {name}` reads a session with that in its title");
            return Problem::trouble(format_args!(
                "no command is called '{name}'; {} {part}",
                typo.unwrap_or_default()
            ));
        }
        Ok(resolved) => resolved,
        Err(Unresolved::Unknown(_) | Unresolved::None | Unresolved::Unrecognised(_))
            if args.follow && follow::may_appear(name, stage) =>
        {
            return follow::late(name, args, stage);
        }
        Err(Unresolved::Unreadable(unreadable)) if args.follow && Home::is_torn(&unreadable) => {
            return follow::late(name, args, stage);
        }
        Err(Unresolved::Unknown(_) | Unresolved::None) if follow::is_named_here(name, stage) => {
            return Problem::nothing(format_args!("'{name}' has no transcript yet"));
        }
        Err(unresolved) => {
            stage.say_unreadable(&bad);
            let may_be_command = args.bare && name.chars().all(|char| char.is_ascii_alphabetic() || char == '-');
            let kind = if may_be_command { "command or session" } else { "session" };
            let unknown = matches!(unresolved, Unresolved::Unknown(_) | Unresolved::None);
            if let Some(hint) = typo.filter(|_| unknown) {
                return Problem::trouble(format_args!("no {kind} is called '{name}'; {hint}"));
            }
            return Err(stage.unresolved(kind, name, unresolved));
        }
    };
    stage.say_part(name, &resolved);
    if args.follow {
        return follow::one(resolved, args, stage);
    }
    show_log(name, &resolved, args, stage)
}

/// The log of a session that was found by this name.
pub fn show_log(name: &str, resolved: &Resolved, args: &LogArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let mut log = read(resolved, args, stage)?;
    if let Some(point) = args.at.filter(|_| log.entries.is_empty()) {
        let lines = if log.lines == 1 { "1 line" } else { &format!("{} lines", log.lines) };
        let why = match point {
            Point::Id(_) => {
                const TAKES: &str = "--at takes a line like 120, a time like 14:25 or 2h, or an id of the transcript";
                return Problem::trouble(format_args!("nothing in '{name}' has that id; {TAKES}"));
            }
            Point::Line(line) if line > log.lines => format!(": it has only {lines}"),
            Point::Line(_) => " or after it".into(),
            Point::Time(_) => ": it ends before that".into(),
        };
        return Problem::nothing(format_args!("nothing was said there in '{name}'{why}"));
    }
    if log.entries.is_empty() && args.slice.is_some() {
        return Problem::nothing(format_args!("nothing in '{name}' fits"));
    }
    if log.entries.is_empty() {
        let when = if args.since.is_some() { "since then" } else { "yet" };
        return Problem::nothing(format_args!("nothing was said in '{name}' {when}"));
    }
    let mut bad = Vec::new();
    let origin = origin(&resolved.session, None, &mut bad);
    stage.say_unreadable(&bad);
    if stage.style.height.is_some() && !log.exact && log.end <= COUNTED && args.at.is_none() && args.slice.is_none() {
        let all = last(resolved, Wanted { count: usize::MAX, ..wanted(args, stage) })?;
        (log.total, log.exact) = (all.total, all.exact);
    }
    show_head(&resolved.session, &origin, &log, args, stage)?;
    let mut view = view(args, stage);
    let open = if args.at.is_none() && args.slice.is_none() { first_open(&log.entries) } else { log.entries.len() };
    for (index, entry) in log.entries.iter().enumerate() {
        if args.context.is_some() && !args.json && log.gaps.contains(&index) {
            writeln!(stage.out, "{}", stage.style.paint(Tone::Faint, "--"))?;
        }
        view.points_at_it = (args.at.is_some() || args.context.is_some()) && log.hits.binary_search(&index).is_ok();
        let is_open = index >= open && matches!(entry.what, What::Call(_));
        show(entry, &origin, is_open, args, &mut view, stage)?;
    }
    if log.broken > 0 && !args.json {
        let lines = if log.broken == 1 { "1 line" } else { &format!("{} lines", log.broken) };
        let path = resolved.session.path.display();
        stage.say(format_args!("{lines} could not be read: session-reader formats check {path}"));
    }
    Ok(Exit::Found)
}

/// Where the calls begin that the session ends with, and that have no result yet.
fn first_open(entries: &[Entry]) -> usize {
    let is_settled = |entry: &Entry| match &entry.what {
        What::Call(call) => call.ended || call.id.is_none(),
        What::Permission { .. } => false,
        _ => true,
    };
    entries.iter().rposition(is_settled).map_or(0, |last| last + 1)
}

pub fn view(args: &LogArgs, stage: &Stage) -> LogView {
    let marked = args.grep.as_ref().map(|word| Query::new(std::slice::from_ref(word), None));
    LogView::new(stage.env.zone(), stage.gate, stage.style).marking(marked)
}

pub fn open<'f>(Resolved { session, subagent, .. }: &Resolved<'f>, wanted: Wanted) -> io::Result<Transcript<'f>> {
    let transcript = Transcript::open(&session.path, session.format.format())?.subagent(*subagent);
    Ok(transcript.full(wanted.full || wanted.results).whole(wanted.results))
}

/// The entries that the command line asks for.
fn read(resolved: &Resolved, args: &LogArgs, stage: &Stage) -> Result<Log, Unreadable> {
    /// How many entries before and after a point.
    const AROUND: usize = 10;
    let Some(point) = args.at else { return last(resolved, wanted(args, stage)) };
    let newest = match point {
        Point::Time(Since::Clock(_)) => last(resolved, Wanted { count: 1, ..wanted(args, stage) })?.entries.pop(),
        _ => None,
    };
    let at = Some(point.target(stage.env, newest.and_then(|entry| entry.time)));
    let slice = Slice { at, context: args.context.unwrap_or(AROUND), ..Slice::default() };
    last(resolved, Wanted { count: usize::MAX, slice: Some(&slice), ..wanted(args, stage) })
}

pub fn last(resolved: &Resolved, wanted: Wanted) -> Result<Log, Unreadable> {
    let log = open(resolved, wanted).and_then(|transcript| read::log::last(&transcript, wanted));
    log.map_err(|error| Unreadable::new(&resolved.session.path, error))
}

/// Where the entries of a session come from. The directory is the one it began in: wherever the agent went from there,
/// the log looks the same.
pub fn origin(session: &Session, label: Option<String>, bad: &mut Vec<Unreadable>) -> Origin {
    let beginning = Transcript::open(&session.path, session.format.format()).and_then(|file| file.beginning());
    let beginning = beginning.map_err(|error| Unreadable::new(&session.path, error));
    let inside = Unreadable::noted(beginning.map(|beginning| beginning.cwd), bad);
    let cwd = inside.or_else(|| Unreadable::noted(beside::beside(session).map(|aside| aside.cwd), bad));
    Origin { label, cwd }
}

/// On a terminal, a line that says what is shown: session, agent, directory, and how much of it.
pub fn show_head(session: &Session, origin: &Origin, log: &Log, args: &LogArgs, stage: &mut Stage) -> io::Result<()> {
    if stage.style.height.is_none() || args.json {
        return Ok(());
    }
    let (shown, since) = (log.entries.len(), if args.since.is_some() { " since then" } else { "" });
    let is_part = args.slice.is_some() || args.at.is_some();
    let part = match log.total {
        1 if is_part => "1 entry".into(),
        _ if is_part => format!("{shown} entries"),
        1 if log.exact && shown == 1 => format!("1 entry{since}"),
        total if log.exact && total == shown => format!("all {total} entries{since}"),
        total if log.exact => format!("last {shown} of {total} entries{since}"),
        _ => format!("last {shown} entries{since}"),
    };
    let handle = index::handle(session, stage.env, stage.formats);
    let place = origin.cwd.as_ref().map(|cwd| format!(" in {}", stage.env.tilde(Path::new(cwd))));
    let head = format!("{handle} ({}){}, {part}", session.format.label(), place.unwrap_or_default());
    let head = stage.gate.line(&head);
    writeln!(stage.out, "{}", stage.style.paint(Tone::Faint, &stage.style.fit(&head)))
}

/// Shows an entry; a call that is open has no result yet.
pub fn show(
    entry: &Entry,
    origin: &Origin,
    is_open: bool,
    args: &LogArgs,
    view: &mut LogView,
    stage: &mut Stage,
) -> Result<Exit, Problem> {
    let lines = args.results.or((args.errors && !args.full).then_some(WHY));
    let short = lines.map(|lines| shortened(entry, lines, stage.gate));
    let entry = short.as_ref().unwrap_or(entry);
    if args.json {
        return stage.print_json(&json::entry(entry, origin.label.as_deref(), is_open));
    }
    stage.print_lines([view.entry(entry, origin)])
}
