//! `session-reader log --follow`: new entries as they are written.
//!
//! Files are looked at a few times a second. A file that was replaced is read from its start; what was shown before is
//! known by its keys and not shown again.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::args::LogArgs;
use super::{Exit, Stage, log};
use crate::catalog::{self, Listed, Resolved};
use crate::cursor::{Buffer, Cursor};
use crate::decode::Item;
use crate::digest::{Weaver, Woven};
use crate::entry::{Call, Entry, Role, What};
use crate::locate::{Home, Session, Stamp};
use crate::render::log::{LogView, Origin};
use crate::transcript::{Transcript, Wanted};

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
    complained: bool,
}

impl<'f> Followed<'f> {
    fn new(resolved: Resolved<'f>, label: Option<String>, full: bool) -> Followed<'f> {
        Followed {
            origin: log::origin(&resolved.session, label),
            session: resolved.session,
            subagent: resolved.subagent,
            cursor: None,
            seen: None,
            weaver: Weaver::keeping_results(full),
            calls: HashMap::new(),
            count: 0,
            complained: false,
        }
    }

    /// Takes in an entry; what is to be shown of it comes back.
    fn take(&mut self, entry: Entry<'static>) -> Option<Entry<'static>> {
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

    /// Starts where the file ends now.
    fn skip(&mut self) -> io::Result<()> {
        let transcript = Transcript::open(&self.session.path, self.session.format.format())?;
        let end = transcript.end()?;
        self.cursor = Some(Cursor::at(&transcript.file, end)?);
        Ok(())
    }

    /// Entries that were written since the last look.
    fn news(&mut self, full: bool) -> io::Result<Vec<Entry<'static>>> {
        let meta = match std::fs::metadata(&self.session.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            meta => meta?,
        };
        let seen = Some(Stamp::from(&meta));
        if seen == self.seen {
            return Ok(vec![]);
        }
        let transcript =
            Transcript::open(&self.session.path, self.session.format.format())?.full(full).subagent(self.subagent);
        let from = self.cursor.filter(|cursor| cursor.holds(&transcript.file)).map_or(0, |cursor| cursor.offset);
        let mut entries = Vec::new();
        let (end, _) = transcript.from(from, &mut Buffer::default(), &mut |item| {
            if let Item::Entry(entry) = item {
                entries.push(entry.into_owned());
            }
        })?;
        self.cursor = Some(Cursor::at(&transcript.file, end)?);
        self.seen = seen;
        Ok(entries.into_iter().filter_map(|entry| self.take(entry)).collect())
    }
}

/// One session, from its last entries on.
pub fn one<'s>(resolved: Resolved<'s>, args: &LogArgs, stage: &mut Stage<'s>) -> io::Result<Exit> {
    let wanted = log::wanted(args, stage);
    let past = log::read(&resolved, wanted)?;
    let mut followed = Followed::new(resolved, None, args.full);
    let mut view = LogView::new(stage.env.zone(), stage.look);
    for entry in &past.entries {
        log::show(entry, &followed.origin, args, &mut view, stage)?;
    }
    past.entries.into_iter().for_each(|entry| drop(followed.take(entry)));
    let transcript = Transcript::open(&followed.session.path, followed.session.format.format())?;
    followed.cursor = Some(Cursor::at(&transcript.file, past.end)?);
    follow(vec![followed], args, view, stage, |_, _| Ok(vec![]))
}

/// A session whose transcript does not exist yet.
pub fn late(name: &str, args: &LogArgs, stage: &mut Stage) -> io::Result<Exit> {
    stage.say(format_args!("waiting for '{name}' to begin"))?;
    while !stage.stop.load(Ordering::Relaxed) {
        if let Ok(resolved) = catalog::resolve(stage.env, stage.formats, name, &mut Vec::new()) {
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
    let mut view = LogView::new(stage.env.zone(), stage.look);
    let mut followed = begun(args, stage)?;
    let mut past = Vec::new();
    for one in followed.values_mut() {
        let skipped = one.skip();
        if args.lines.is_some() || args.since.is_some() {
            let resolved = Resolved { session: one.session.clone(), subagent: false };
            let log = log::read(&resolved, wanted).unwrap_or_default();
            past.extend(log.entries.into_iter().map(|entry| (one.origin.clone(), entry)));
        }
        // A file that is gone, or cannot be read, may come back.
        drop(skipped);
    }
    past.sort_by_key(|(_, entry)| entry.time);
    let excess = past.len().saturating_sub(wanted.count);
    for (origin, entry) in &past[excess..] {
        log::show(entry, origin, args, &mut view, stage)?;
    }
    let sessions = if followed.len() == 1 { "session" } else { "sessions" };
    stage.say(format_args!("following {} {sessions}", followed.len()))?;
    let mut known: Vec<PathBuf> = followed.keys().cloned().collect();
    let all = std::mem::take(&mut followed).into_values().collect();
    follow(all, args, view, stage, |args, stage| {
        let new: Vec<_> = begun(args, stage)?.into_iter().filter(|(path, _)| !known.contains(path)).collect();
        known.extend(new.iter().map(|(path, _)| path.clone()));
        Ok(new.into_iter().map(|(_, followed)| followed).collect())
    })
}

fn begun<'s>(args: &LogArgs, stage: &mut Stage<'s>) -> io::Result<HashMap<PathBuf, Followed<'s>>> {
    let mut listed = catalog::list(stage.env, stage.formats, &mut Vec::new());
    listed.retain(|listed| args.all || listed.here);
    let start = |listed: Listed<'s>| {
        let label = listed.handle().to_owned();
        let path = listed.session.path.clone();
        (path, Followed::new(Resolved { session: listed.session, subagent: false }, Some(label), args.full))
    };
    Ok(listed.into_iter().map(start).collect())
}

/// Looks, shows and waits, until the user has had enough.
fn follow<'s>(
    mut all: Vec<Followed<'s>>,
    args: &LogArgs,
    mut view: LogView,
    stage: &mut Stage<'s>,
    mut begun: impl FnMut(&LogArgs, &mut Stage<'s>) -> io::Result<Vec<Followed<'s>>>,
) -> io::Result<Exit> {
    let wanted = Wanted { count: usize::MAX, since: None, full: args.full, unfinished: false };
    let mut searched = Instant::now();
    while !stage.stop.load(Ordering::Relaxed) {
        for one in &mut all {
            match one.news(args.full) {
                Ok(entries) => {
                    for entry in entries.iter().filter(|entry| wanted.shows(entry)) {
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
            all.extend(begun(args, stage)?);
            searched = Instant::now();
        }
    }
    Ok(Exit::Found)
}
