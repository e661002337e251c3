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
use super::{Exit, Stage, log};
use crate::catalog::{self, Resolved};
use crate::cursor::{Buffer, Cursor};
use crate::decode::Item;
use crate::digest::{Weaver, Woven};
use crate::entry::{Call, Entry, Mark, Role, What};
use crate::locate::{Home, Session, Stamp, Unreadable};
use crate::render::log::{LogView, Origin};
use crate::time::Time;
use crate::transcript::{Log, Transcript, Wanted};

const LOOK: Duration = Duration::from_millis(150);
/// How often to look for sessions that have begun since.
const SEARCH: Duration = Duration::from_secs(2);

struct Followed<'f> {
    session: Session<'f>,
    subagent: bool,
    origin: Origin,
    cursor: Option<Cursor>,
    /// What the file was like when it was last read.
    seen: Option<Stamp>,
    weaver: Weaver,
    calls: HashMap<usize, Call<'static>>,
    count: usize,
    /// The time of the newest entry so far, and all that was said then.
    newest: Option<Time>,
    latest: Vec<What<'static>>,
    complained: bool,
}

impl<'f> Followed<'f> {
    fn new(resolved: Resolved<'f>, label: Option<String>, results: bool) -> Followed<'f> {
        Followed {
            origin: log::origin(&resolved.session, label),
            session: resolved.session,
            subagent: resolved.subagent,
            cursor: None,
            seen: None,
            weaver: Weaver::keeping_results(results),
            calls: HashMap::new(),
            count: 0,
            newest: None,
            latest: Vec::new(),
            complained: false,
        }
    }

    /// Takes in an entry; what is to be shown of it comes back.
    fn take(&mut self, entry: Entry<'static>) -> Option<Entry<'static>> {
        if entry.relisted {
            return None;
        }
        if entry.time >= self.newest {
            if entry.time > self.newest {
                self.latest.clear();
            }
            self.newest = entry.time;
            self.latest.push(entry.what.clone());
        }
        match self.weaver.push(entry) {
            Woven::New(entry) => {
                if let What::Call(call) = &entry.what {
                    self.calls.insert(self.count, call.clone());
                }
                self.count += 1;
                Some(entry)
            }
            Woven::Failed { place, entry } => {
                let call = self.calls.remove(&place)?;
                Some(Entry { role: Role::Assistant, what: What::Call(Call { failed: true, ..call }), ..entry })
            }
            Woven::Again(..) | Woven::Nothing => None,
        }
    }

    /// Takes in what was written so far, and goes on from there; what is wanted of it comes back.
    fn past(&mut self, wanted: Wanted) -> io::Result<Log> {
        let resolved = Resolved { session: self.session.clone(), subagent: self.subagent };
        let log = log::read(&resolved, wanted)?;
        let transcript = Transcript::open(&self.session.path, self.session.format.format())?;
        self.cursor = Some(Cursor::at(&transcript.file, log.end)?);
        log.entries.iter().for_each(|entry| drop(self.take(entry.clone())));
        Ok(log)
    }

    /// Entries that were written since the last look.
    fn news(&mut self, wanted: Wanted) -> io::Result<Vec<Entry<'static>>> {
        let meta = match std::fs::metadata(&self.session.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            meta => meta?,
        };
        let seen = Some(Stamp::from(&meta));
        if seen == self.seen {
            return Ok(vec![]);
        }
        let transcript = log::open(&self.session, self.subagent, wanted)?;
        let held = self.cursor.filter(|cursor| cursor.holds(&transcript.file));
        let from = held.map_or(0, |cursor| cursor.offset);
        let known = self.newest.filter(|_| held.is_none());
        let mut entries = Vec::new();
        let (end, _) = transcript.from(from, &mut Buffer::default(), &mut |item| {
            if let Item::Entry(entry) = item
                && known.is_none_or(|known| is_news(&entry, known, &self.latest))
            {
                entries.push(entry.into_owned());
            }
        })?;
        self.cursor = Some(Cursor::at(&transcript.file, end)?);
        self.seen = seen;
        Ok(entries.into_iter().filter_map(|entry| self.take(entry)).collect())
    }
}

/// Whether an entry of a file that was replaced is later than what was shown of the old one.
fn is_news(entry: &Entry, known: Time, latest: &[What]) -> bool {
    entry.time.is_none_or(|time| time > known || time == known && !latest.contains(&entry.what))
}

/// One session, from its last entries on.
pub fn one<'s>(resolved: Resolved<'s>, args: &LogArgs, stage: &mut Stage<'_, 's>) -> io::Result<Exit> {
    let wanted = log::wanted(args, stage);
    let mut followed = Followed::new(resolved, None, wanted.results);
    let past = match followed.past(wanted) {
        Ok(past) => past,
        Err(error) => return stage.say_unreadable(&[Unreadable { path: followed.session.path, error }]),
    };
    let mut view = LogView::new(stage.env.zone(), stage.look);
    log::show_head(&followed.session, &followed.origin, &past, args, stage)?;
    for entry in &past.entries {
        log::show(entry, &followed.origin, args, &mut view, stage)?;
    }
    follow(vec![followed], args, view, stage, |_, _| vec![])
}

/// A session whose transcript does not exist yet, or is still empty.
pub fn late(name: &str, args: &LogArgs, stage: &mut Stage) -> io::Result<Exit> {
    stage.say(format_args!("waiting for '{name}' to begin"))?;
    while !stage.stop.load(Ordering::Relaxed) {
        if let Some(resolved) = catalog::begun(stage.env, stage.formats, name) {
            return one(resolved, args, stage);
        }
        std::thread::sleep(LOOK);
    }
    Ok(Exit::Found)
}

/// Whether a name that leads to nothing may do so later: a session of this home, or a file.
pub fn may_appear(name: &str, stage: &Stage) -> bool {
    name.ends_with(".jsonl") || is_named_here(name, stage)
}

/// Whether this home knows a name, be there a transcript or not.
pub fn is_named_here(name: &str, stage: &Stage) -> bool {
    Home::above(&stage.env.cwd).is_some_and(|home| home.names().iter().any(|known| known == name))
}

/// All sessions of the project, or of the machine, also those that begin later.
pub fn many(args: &LogArgs, stage: &mut Stage) -> io::Result<Exit> {
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
    let mut view = LogView::new(stage.env.zone(), stage.look);
    for (origin, entry) in &past[past.len().saturating_sub(wanted.count)..] {
        log::show(entry, origin, args, &mut view, stage)?;
    }
    let sessions = if followed.len() == 1 { "session" } else { "sessions" };
    stage.say(format_args!("following {} {sessions}", followed.len()))?;
    follow(followed, args, view, stage, |args, stage| begun(args, stage, &mut known))
}

/// The sessions that have begun and are not known yet.
fn begun<'s>(args: &LogArgs, stage: &Stage<'_, 's>, known: &mut HashSet<PathBuf>) -> Vec<Followed<'s>> {
    let listed = catalog::list(stage.env, stage.formats, &mut Vec::new());
    let new =
        listed.into_iter().filter(|listed| (args.all || listed.here) && known.insert(listed.session.path.clone()));
    new.map(|listed| {
        let label = listed.handle().to_owned();
        Followed::new(
            Resolved { session: listed.session, subagent: false },
            Some(label),
            log::wanted(args, stage).results,
        )
    })
    .collect()
}

/// Looks, shows and waits, until the user has had enough.
fn follow<'s>(
    mut all: Vec<Followed<'s>>,
    args: &LogArgs,
    mut view: LogView,
    stage: &mut Stage<'_, 's>,
    mut begun: impl FnMut(&LogArgs, &Stage<'_, 's>) -> Vec<Followed<'s>>,
) -> io::Result<Exit> {
    let wanted = Wanted { since: None, ..log::wanted(args, stage) };
    // Nobody knows yet whether an error is the end.
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
                    stage.say(format_args!("{}: {error}", one.session.path.display()))?;
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
