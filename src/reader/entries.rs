//! The entries of a log, as its command line asks for them.

use std::io;
use std::path::Path;

use super::args::LogArgs;
use super::{Exit, Problem, Stage};
use session_core::ask::log::Origin;
use session_core::read::{Log, Wanted};
use session_core::search::Query;
use session_core::session::{Session, index};
use session_core::show::json;
use session_core::show::log::{LogView, shortened};
use session_format::entry::Entry;

/// The default number of entries.
const LINES: usize = 50;
/// So many lines of a result tell why a call failed.
const WHY: usize = 6;

pub fn wanted<'a>(args: &'a LogArgs, stage: &Stage) -> Wanted<'a> {
    let since = args.since.map(|since| since.time(stage.env));
    let count = args
        .lines
        .unwrap_or(if since.is_some() { usize::MAX } else { LINES });
    let until = args.until.map(|until| until.end(stage.env));
    let results = args.full || args.results.is_some() || args.errors;
    Wanted {
        count,
        since,
        until,
        slice: args.slice.as_ref(),
        full: args.full,
        results,
        unfinished: !args.follow,
    }
}

pub fn view(args: &LogArgs, stage: &Stage) -> LogView {
    let marked = args
        .grep
        .as_ref()
        .map(|word| Query::new(std::slice::from_ref(word), None));
    LogView::new(stage.env.zone(), stage.gate, stage.style).marking(marked)
}

/// On a terminal, a line that says what is shown: session, agent, directory, and how much of it.
pub fn head(
    session: &Session,
    origin: &Origin,
    log: &Log,
    args: &LogArgs,
    stage: &mut Stage,
) -> io::Result<()> {
    if stage.style.height.is_none() || args.json {
        return Ok(());
    }
    let (shown, since) = (
        log.entries.len(),
        if args.since.is_some() {
            " since then"
        } else {
            ""
        },
    );
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
    let place = origin
        .cwd
        .as_ref()
        .map(|cwd| format!(" in {}", stage.env.tilde(Path::new(cwd))));
    let head = format!(
        "{handle} ({}){}, {part}",
        session.format.label(),
        place.unwrap_or_default()
    );
    let head = stage.gate.line(&head);
    super::print_faint(&head, stage)
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
