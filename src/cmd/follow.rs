//! `session-reader log --follow`: new entries as they are written.
//!
//! `events` tells when to look at which file. A file that was replaced is read from its start, and only what is later than
//! all that was shown before is news. What counts once, and which call failed, are rules of `read::once`.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::args::LogArgs;
use super::events::{Events, Happened, LOOK};
use super::{Exit, Problem, Stage, log};
use crate::cursor::{Buffer, Cursor};
use crate::entry::{Call, Entry, Id, Mark, Position, What};
use crate::file::{Stamp, Unreadable};
use crate::fold::Fold;
use crate::hash::{HashMap, HashSet};
use crate::read::once::{Conversation, Once, OpenCalls, drop_old, fingerprint};
use crate::read::tail::{self, StartAt};
use crate::read::{Lines, Log, Transcript, Wanted};
use crate::session::choose::Resolved;
use crate::session::{Home, choose, index};
use crate::show::log::{LogView, Origin};
use crate::time::Time;

/// How often to look for new sessions where nothing tells of them.
const SEARCH: Duration = Duration::from_secs(2);
/// How long to wait between two searches at the least: each lists all sessions, and many files may be made at once.
const PAUSE: Duration = Duration::from_millis(200);

pub struct Followed<'f> {
    pub resolved: Resolved<'f>,
    pub origin: Origin,
    cursor: Option<Cursor>,
    stamp: Option<Stamp>,
    once: Once,
    calls: OpenCalls,
    /// What is older was shown before, or is not to be shown; and of that very moment, what was shown.
    newest: Option<Time>,
    latest: Vec<Id>,
    complained: bool,
}

impl<'f> Followed<'f> {
    pub fn new(
        resolved: Resolved<'f>,
        label: Option<String>,
        newest: Option<Time>,
        bad: &mut Vec<Unreadable>,
    ) -> Followed<'f> {
        Followed {
            origin: log::origin(&resolved.session, label, bad),
            resolved,
            cursor: None,
            stamp: None,
            once: Once::default(),
            calls: OpenCalls::default(),
            newest,
            latest: Vec::new(),
            complained: false,
        }
    }

    /// Adds entries to those that are known, and returns what to show of them.
    fn take(&mut self, entries: Vec<Entry<'static>>, wanted: Wanted) -> Vec<Entry<'static>> {
        let mut conversation = Conversation::new(wanted.results, std::mem::take(&mut self.calls));
        for entry in entries {
            if entry.time >= self.newest {
                if entry.time > self.newest {
                    self.latest.clear();
                }
                self.newest = entry.time;
                self.latest.extend(fingerprint(&entry));
            }
            conversation.take(entry);
        }
        let (mut entries, calls) = conversation.finish();
        self.calls = calls;
        // A call that was shown before is shown once more only if it failed.
        entries.retain(|entry| !matches!(&entry.what, What::Call(call) if entry.renews && !call.failed));
        entries
    }

    /// Reads what was written so far; `news` goes on from there.
    pub fn past(&mut self, wanted: Wanted) -> Result<Log, Unreadable> {
        let mut log = log::last(&self.resolved, wanted)?;
        let session = &self.resolved.session;
        let transcript = Transcript::open(&session.path, session.format.format());
        let cursor = transcript.and_then(|transcript| transcript.source.cursor(log.end));
        self.cursor = Some(cursor.map_err(|error| Unreadable::new(&session.path, error))?);
        self.once = std::mem::take(&mut log.once);
        self.calls = std::mem::take(&mut log.open);
        self.take(log.entries.clone(), wanted);
        Ok(log)
    }

    /// The entries written since the last look.
    pub fn news(&mut self, wanted: Wanted) -> io::Result<Vec<Entry<'static>>> {
        let meta = match std::fs::metadata(&self.resolved.session.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            meta => meta?,
        };
        let stamp = Some(Stamp::from(&meta));
        if stamp == self.stamp {
            return Ok(vec![]);
        }
        let transcript = log::open(&self.resolved, wanted)?;
        let (from, known) = match tail::start(&transcript.source, self.cursor.map(Into::into))? {
            StartAt::Resume(offset) => (offset, None),
            StartAt::First | StartAt::Restart => (Position::START, self.newest),
        };
        let mut new: Vec<Entry> = Vec::new();
        let lines = Lines { from, ..Lines::default() };
        let end = transcript.fold(lines, &mut self.once, &mut Buffer::default(), &mut new)?.end;
        if let Some(known) = known {
            drop_old(&mut new, known, known);
            new.retain(|entry| fingerprint(entry).is_none_or(|print| !self.latest.contains(&print)));
        }
        self.cursor = Some(transcript.source.cursor(end)?);
        self.stamp = stamp;
        Ok(self.take(new, wanted))
    }
}

impl Fold for Vec<Entry<'static>> {
    fn entry(&mut self, entry: &Entry, _: u64) {
        self.push(entry.clone().into_owned());
    }
}

/// Follows one session, from its last entries on.
pub fn one<'s>(resolved: Resolved<'s>, args: &LogArgs, stage: &mut Stage<'_, 's>) -> Result<Exit, Problem> {
    let wanted = log::wanted(args, stage);
    let mut bad = Vec::new();
    let mut followed = Followed::new(resolved, None, None, &mut bad);
    stage.say_unreadable(&bad);
    let past = followed.past(wanted)?;
    let mut view = log::view(args, stage);
    log::show_head(&followed.resolved.session, &followed.origin, &past, args, stage)?;
    for entry in &past.entries {
        log::show(entry, &followed.origin, false, args, &mut view, stage)?;
    }
    follow(vec![followed], args, view, stage, |_, _| vec![])
}

/// Follows a session whose transcript does not exist yet, or is still empty.
pub fn late(name: &str, args: &LogArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    stage.say(format_args!("waiting for '{name}' to begin"));
    while !stage.stop.load(Ordering::Relaxed) {
        if let Some(resolved) = choose::begun(stage.env, stage.formats, name) {
            return one(resolved, args, stage);
        }
        std::thread::sleep(LOOK);
    }
    Ok(Exit::Found)
}

/// Whether a name that leads to nothing may lead to a session later.
pub fn may_appear(name: &str, stage: &Stage) -> bool {
    name.ends_with(".jsonl") || is_named_here(name, stage)
}

/// Whether this home knows a name, with or without a transcript.
pub fn is_named_here(name: &str, stage: &Stage) -> bool {
    // An unreadable home is reported where the sessions are listed.
    let names = Home::above(stage.env).and_then(|home| home.map(|home| home.names()).transpose());
    names.is_ok_and(|names| names.is_some_and(|names| names.iter().any(|known| known == name)))
}

/// Follows all sessions of the project or machine, also those that begin later.
pub fn many(args: &LogArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let wanted = log::wanted(args, stage);
    let shows_past = args.lines.is_some() || args.since.is_some();
    let mut search = Search::default();
    let mut followed = search.begun(args, stage);
    let mut past = Vec::new();
    for one in &mut followed {
        // A file that cannot be read now may be readable later.
        let entries = one.past(wanted).unwrap_or_default().entries;
        past.extend(entries.into_iter().filter(|_| shows_past).map(|entry| (one.origin.clone(), entry)));
    }
    past.sort_by_key(|(_, entry)| entry.time);
    let mut view = log::view(args, stage);
    for (origin, entry) in &past[past.len().saturating_sub(wanted.count)..] {
        log::show(entry, origin, false, args, &mut view, stage)?;
    }
    let sessions = if followed.len() == 1 { "session" } else { "sessions" };
    stage.say(format_args!("following {} {sessions}", followed.len()));
    follow(followed, args, view, stage, |args, stage| search.begun(args, stage))
}

/// Which sessions are followed, and which may be one day.
#[derive(Default)]
struct Search {
    followed: HashSet<PathBuf>,
    /// Until when the others were at work elsewhere. That is not shown if they come into the project.
    elsewhere: HashMap<PathBuf, Time>,
}

impl Search {
    /// The sessions that have to be followed from now on.
    fn begun<'s>(&mut self, args: &LogArgs, stage: &Stage<'_, 's>) -> Vec<Followed<'s>> {
        let mut begun = Vec::new();
        for listed in index::list(stage.env, stage.formats, &mut Vec::new()) {
            let path = listed.session.path.to_path_buf();
            if !args.all && !listed.here {
                let updated = listed.tally.updated.map(|updated| Time(updated.0.saturating_add(1)));
                self.elsewhere.extend(updated.map(|after| (path.clone(), after)));
            } else if self.followed.insert(path.clone()) {
                let (label, newest) = (listed.handle().to_owned(), self.elsewhere.remove(&path));
                begun.push(Followed::new(listed.session.into(), Some(label), newest, &mut Vec::new()));
            }
        }
        begun
    }
}

/// Shows new entries until the user stops it.
fn follow<'s>(
    mut all: Vec<Followed<'s>>,
    args: &LogArgs,
    mut view: LogView,
    stage: &mut Stage<'_, 's>,
    mut begun: impl FnMut(&LogArgs, &Stage<'_, 's>) -> Vec<Followed<'s>>,
) -> Result<Exit, Problem> {
    let wanted = Wanted { since: None, ..log::wanted(args, stage) };
    let shows = |entry: &Entry, all: &[Entry<'static>]| match wanted.slice {
        Some(slice) => wanted.shows(entry) && slice.fits(entry, call_of(entry, all)),
        None => shows_new(entry, wanted),
    };
    let (mut searched, mut is_new) = (Instant::now(), false);
    let mut events = (stage.events)();
    watch(&all, &mut *events);
    let mut happened = Happened::anything();
    while !stage.stop.load(Ordering::Relaxed) {
        for one in all.iter_mut().filter(|one| happened.to(&one.resolved.session.path)) {
            match one.news(wanted) {
                Ok(entries) => {
                    one.complained = false;
                    for entry in entries.iter().filter(|entry| shows(entry, &entries)) {
                        log::show(entry, &one.origin, false, args, &mut view, stage)?;
                    }
                }
                Err(error) if !one.complained => {
                    one.complained = true;
                    stage.say(format_args!("{}: {error}", one.resolved.session.path.display()));
                }
                Err(_) => {}
            }
        }
        stage.out.flush()?;
        happened = events.wait();
        is_new |= happened.is_new;
        if is_due(is_new, searched.elapsed()) {
            let new = begun(args, stage);
            happened.anything |= !new.is_empty();
            all.extend(new);
            (searched, is_new) = (Instant::now(), false);
        }
        // A directory may be there again.
        if happened.anything {
            watch(&all, &mut *events);
        }
    }
    Ok(Exit::Found)
}

/// Whether to search for new sessions, so long after the last search. A file that is new since then stays due until it is.
fn is_due(is_new: bool, since: Duration) -> bool {
    since > if is_new { PAUSE } else { SEARCH }
}

/// Whether a new entry is shown. An error may turn out to be the end.
pub fn shows_new(entry: &Entry, wanted: Wanted) -> bool {
    wanted.shows(entry) || matches!(entry.what, What::Mark(Mark::Error, _))
}

/// The call that a result belongs to, if it is among these entries.
fn call_of<'e>(result: &Entry, all: &'e [Entry<'static>]) -> Option<&'e Call<'static>> {
    let What::Result { call: Some(id), .. } = &result.what else { return None };
    all.iter().find_map(|entry| match &entry.what {
        What::Call(call) if call.id == Some(*id) => Some(call),
        _ => None,
    })
}

fn watch(all: &[Followed], events: &mut dyn Events) {
    all.iter().filter_map(|one| one.resolved.session.path.parent()).for_each(|dir| events.watch(dir));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is new is searched for at once, but not in a row, and what came in between is not forgotten.
    #[test]
    fn when_to_search() {
        let ms = Duration::from_millis;
        let due = |is_new| [0, 150, 201, 1999, 2001].map(|since| is_due(is_new, ms(since)));
        assert_eq!(due(true), [false, false, true, true, true]);
        assert_eq!(due(false), [false, false, false, false, true]);
    }
}
