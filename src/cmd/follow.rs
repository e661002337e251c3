//! `session-reader log --follow`: new entries as they are written.
//!
//! Files are looked at a few times a second. A file that was replaced is read from its start, and only what is later than
//! all that was shown before is news.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::args::LogArgs;
use super::{Exit, Problem, Stage, log};
use crate::cursor::{Buffer, Cursor};
use crate::entry::{Call, Entry, Id, Mark, Role, What};
use crate::file::{Stamp, Unreadable};
use crate::fold::Fold;
use crate::read::once::Once;
use crate::read::tail::{self, StartAt};
use crate::read::{Lines, Log, Transcript, Wanted};
use crate::session::choose::Resolved;
use crate::session::{Home, choose, index};
use crate::show::log::{LogView, Origin};
use crate::time::Time;

const LOOK: Duration = Duration::from_millis(150);
/// How often to look for new sessions.
const SEARCH: Duration = Duration::from_secs(2);

struct Followed<'f> {
    resolved: Resolved<'f>,
    origin: Origin,
    cursor: Option<Cursor>,
    seen: Option<Stamp>,
    once: Once,
    /// Calls that have no result yet.
    calls: HashMap<Id, Call<'static>>,
    /// The time of the newest entry so far, and all that was said then.
    newest: Option<Time>,
    latest: Vec<What<'static>>,
    complained: bool,
}

impl<'f> Followed<'f> {
    fn new(resolved: Resolved<'f>, label: Option<String>) -> Followed<'f> {
        Followed {
            origin: log::origin(&resolved.session, label),
            resolved,
            cursor: None,
            seen: None,
            once: Once::default(),
            calls: HashMap::new(),
            newest: None,
            latest: Vec::new(),
            complained: false,
        }
    }

    /// Remembers an entry, and returns what to show of it.
    fn take(&mut self, entry: Entry<'static>, wanted: Wanted) -> Option<Entry<'static>> {
        if entry.time >= self.newest {
            if entry.time > self.newest {
                self.latest.clear();
            }
            self.newest = entry.time;
            self.latest.push(entry.what.clone());
        }
        match &entry.what {
            _ if entry.renews => None,
            // It was shown when it was queued.
            What::Text(_) if entry.role == Role::User && !entry.begins => None,
            What::Call(call) => {
                self.calls.extend(call.id.filter(|_| !call.ended).map(|id| (id, call.clone())));
                Some(entry)
            }
            What::Result { text: Some(_), .. } if wanted.results => Some(entry),
            What::Result { call, failed, .. } => {
                let call = self.calls.remove(&(*call)?).filter(|_| *failed)?;
                Some(Entry { role: Role::Assistant, what: What::Call(Call { failed: true, ..call }), ..entry })
            }
            _ => Some(entry),
        }
    }

    /// Reads what was written so far; `news` goes on from there.
    fn past(&mut self, wanted: Wanted) -> Result<Log, Unreadable> {
        let mut log = log::read(&self.resolved, wanted)?;
        let session = &self.resolved.session;
        let transcript = Transcript::open(&session.path, session.format.format());
        let cursor = transcript.and_then(|transcript| Cursor::at(&transcript.file, log.end));
        self.cursor = Some(cursor.map_err(|error| Unreadable::new(&session.path, error))?);
        self.once = std::mem::take(&mut log.once);
        log.entries.iter().for_each(|entry| drop(self.take(entry.clone(), wanted)));
        Ok(log)
    }

    /// The entries written since the last look.
    fn news(&mut self, wanted: Wanted) -> io::Result<Vec<Entry<'static>>> {
        let meta = match std::fs::metadata(&self.resolved.session.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            meta => meta?,
        };
        let seen = Some(Stamp::from(&meta));
        if seen == self.seen {
            return Ok(vec![]);
        }
        let transcript = log::open(&self.resolved, wanted)?;
        let (from, known) = match tail::start(&transcript.file, self.cursor.map(Into::into))? {
            StartAt::Resume(offset) => (offset, None),
            StartAt::First | StartAt::Restart => (0, self.newest),
        };
        let mut new: Vec<Entry> = Vec::new();
        let lines = Lines { from, ..Lines::default() };
        let end = transcript.fold(lines, &mut self.once, &mut Buffer::default(), &mut new)?.end;
        new.retain(|entry| known.is_none_or(|known| is_news(entry, known, &self.latest)));
        self.cursor = Some(Cursor::at(&transcript.file, end)?);
        self.seen = seen;
        Ok(new.into_iter().filter_map(|entry| self.take(entry, wanted)).collect())
    }
}

impl Fold for Vec<Entry<'static>> {
    fn entry(&mut self, entry: &Entry, _: u64) {
        self.push(entry.clone().into_owned());
    }
}

/// Whether an entry of a file that was replaced is later than what was shown of the old one.
fn is_news(entry: &Entry, known: Time, latest: &[What]) -> bool {
    entry.time.is_none_or(|time| time > known || time == known && !latest.contains(&entry.what))
}

/// Follows one session, from its last entries on.
pub fn one<'s>(resolved: Resolved<'s>, args: &LogArgs, stage: &mut Stage<'_, 's>) -> Result<Exit, Problem> {
    let wanted = log::wanted(args, stage);
    let mut followed = Followed::new(resolved, None);
    let past = followed.past(wanted)?;
    let mut view = LogView::new(stage.env.zone(), stage.gate, stage.style);
    log::show_head(&followed.resolved.session, &followed.origin, &past, args, stage)?;
    for entry in &past.entries {
        log::show(entry, &followed.origin, args, &mut view, stage)?;
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
    let names = Home::above(&stage.env.cwd).and_then(|home| home.map(|home| home.names()).transpose());
    names.is_ok_and(|names| names.is_some_and(|names| names.iter().any(|known| known == name)))
}

/// Follows all sessions of the project or machine, also those that begin later.
pub fn many(args: &LogArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let wanted = log::wanted(args, stage);
    let shows_past = args.lines.is_some() || args.since.is_some();
    let mut known = HashSet::new();
    let mut followed = begun(args, stage, &mut known);
    let mut past = Vec::new();
    for one in &mut followed {
        // A file that cannot be read now may be readable later.
        let entries = one.past(wanted).unwrap_or_default().entries;
        past.extend(entries.into_iter().filter(|_| shows_past).map(|entry| (one.origin.clone(), entry)));
    }
    past.sort_by_key(|(_, entry)| entry.time);
    let mut view = LogView::new(stage.env.zone(), stage.gate, stage.style);
    for (origin, entry) in &past[past.len().saturating_sub(wanted.count)..] {
        log::show(entry, origin, args, &mut view, stage)?;
    }
    let sessions = if followed.len() == 1 { "session" } else { "sessions" };
    stage.say(format_args!("following {} {sessions}", followed.len()));
    follow(followed, args, view, stage, |args, stage| begun(args, stage, &mut known))
}

fn begun<'s>(args: &LogArgs, stage: &Stage<'_, 's>, known: &mut HashSet<PathBuf>) -> Vec<Followed<'s>> {
    let listed = index::list(stage.env, stage.formats, &mut Vec::new());
    let new =
        listed.into_iter().filter(|listed| (args.all || listed.here) && known.insert(listed.session.path.clone()));
    new.map(|listed| {
        let label = listed.handle().to_owned();
        Followed::new(Resolved { session: listed.session, subagent: false }, Some(label))
    })
    .collect()
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
    // An error may turn out to be the end.
    let shows = |entry: &&Entry| wanted.shows(entry) || matches!(entry.what, What::Mark(Mark::Error, _));
    let mut searched = Instant::now();
    while !stage.stop.load(Ordering::Relaxed) {
        for one in &mut all {
            match one.news(wanted) {
                Ok(entries) => {
                    for entry in entries.iter().filter(shows) {
                        log::show(entry, &one.origin, args, &mut view, stage)?;
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
        std::thread::sleep(LOOK);
        if searched.elapsed() > SEARCH {
            all.extend(begun(args, stage));
            searched = Instant::now();
        }
    }
    Ok(Exit::Found)
}
