//! The sessions there are, with what is known about each: found by `find`, counted by [`Tally`], and remembered.
//!
//! Counting reads every transcript once. The table `list.bin` keeps the tallies by the file's identity (device, inode, size,
//! modification time), and for files that were written lately what it takes to count on. One changed file adds one record.
//! Without the table, or with one that is damaged, files are counted anew with the same result.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::hash::Hasher;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use super::beside::TitleIndex;
use super::ids::{Shortener, shortened};
use super::live::{Agents, BELIEVED, Presence};
use super::row::Row;
use super::state::{Group, History};
use super::trust::{Judge, Trust};
use super::{Home, Members, Session, State, find};
use crate::env::Env;
use crate::file::{self, Unreadable};
use crate::fold::{Said, Tally};
use crate::formats::AgentFormat;
use crate::parallel::in_parallel;
use crate::progress::Progress;
use crate::read::kept::{Addition, Reached, Renewed, renew};
use crate::read::once::Once;
use crate::state::table::{Content, Place, Record, Table};
use session_format::boundary::substr;
use session_format::budget::Deadline;
use session_format::cursor::Buffer;
use session_format::hash::{HashMap, HashSet};
use session_format::time::Time;

/// A session and what is known about it.
#[derive(Debug, Clone)]
pub struct Listed<'f> {
    pub session: Session<'f>,
    pub tally: Row,
    /// It belongs to the project, or to the named home, that the command runs in.
    pub here: bool,
    /// A session that is not the user's own is listed only on request.
    pub trust: Trust,
    pub presence: Presence,
    /// The user's notes about it.
    pub done: bool,
    pub tags: Box<[String]>,
    /// What the session is called that this one continues.
    pub continues: Option<Box<str>>,
    /// The length of the id that tells it from all others.
    short: u32,
    /// It is a session of its own, and somebody said something in it.
    counts: bool,
}

impl<'f> Listed<'f> {
    /// One of which nothing is known yet.
    fn new(session: Session<'f>) -> Listed<'f> {
        Listed {
            session,
            tally: Row::default(),
            here: false,
            trust: Trust::Own,
            presence: Presence::Unknown,
            done: false,
            tags: Box::default(),
            continues: None,
            short: 0,
            counts: false,
        }
    }

    /// As much of its id as tells it from all others.
    pub(super) fn short_id(&self) -> &str {
        substr(&self.session.id, ..self.short as usize)
    }

    /// The user types this to name it: its name here, else the beginning of its id.
    pub fn handle(&self) -> &str {
        self.session
            .name
            .as_deref()
            .unwrap_or_else(|| self.short_id())
    }

    /// The time since its last activity: `now`, `3m`, `2d`.
    pub fn age(&self, now: Time) -> String {
        self.tally
            .updated
            .map_or_else(|| "?".into(), |updated| updated.short_age(now))
    }

    pub fn group(&self, now: Time) -> Group {
        Group::of(&self.state(now), &self.presence, now)
    }

    /// True if something happened in it within the time that a silent agent is believed.
    pub fn is_recent(&self, now: Time) -> bool {
        self.tally
            .updated
            .is_some_and(|updated| now.0 - updated.0 <= BELIEVED)
    }

    /// Until when it was open: now, if its agent runs; else for as long as a silent agent is believed to be there.
    pub(crate) fn open_until(&self, now: Time) -> Option<Time> {
        match self.presence {
            Presence::Runs(_) => Some(now),
            _ => self
                .tally
                .updated
                .map(|updated| Time(updated.0.saturating_add(BELIEVED))),
        }
    }

    /// Sets what is known about its agent now, and says whether that is something else than before.
    pub fn set_presence(&mut self, agents: &Agents) -> bool {
        let presence = agents.of(&self.session, self.tally.open_end(), self.tally.updated);
        let changed = self.presence != presence;
        self.presence = presence;
        changed
    }

    pub(crate) fn has_tag(&self, name: &str) -> bool {
        self.tags
            .iter()
            .any(|tag| tag.to_lowercase() == name.to_lowercase())
    }

    pub fn state(&self, now: Time) -> State<'_> {
        let Row {
            ending, updated, ..
        } = self.tally;
        let history = History {
            ending,
            open_end: self.tally.open_end(),
            updated,
            done: self.done,
        };
        State::of(&history, self.session.format.live(), &self.presence, now)
            .within(self.tally.first_cwd())
    }
}

/// The version of the cache. The formats are part of it: another descriptor reads other entries.
pub fn version(formats: &[AgentFormat]) -> String {
    /// Raised whenever something else is counted, or kept in another form.
    const COUNTS: u32 = 14;
    let mut hasher = std::hash::DefaultHasher::new();
    formats
        .iter()
        .for_each(|format| hasher.write_u64(format.fingerprint.0));
    format!(
        "{}-{COUNTS}-{:x}",
        env!("CARGO_PKG_VERSION"),
        hasher.finish()
    )
}

/// Takes what was said in a whole file that had to be read for the list, so that a search need not read it again.
pub type TakeSaid<'t> = dyn Fn(&Session, Reached, Said, Once) + Sync + 't;

/// Which sessions are listed, and what is done on the way.
#[derive(Default)]
pub struct Selection<'w> {
    /// Also those that are not the user's own, after all others.
    pub foreign: bool,
    pub recent: Option<Recent<'w>>,
    pub take: Option<&'w TakeSaid<'w>>,
}

/// Only the sessions that may be at work, that were written to within a time, or that are wanted anyway: as many as there is
/// time for. Whoever waits for them need not wait until all others are counted.
pub struct Recent<'w> {
    pub window: i64,
    pub wanted: &'w dyn Fn(&Session) -> bool,
}

impl Recent<'_> {
    /// At most so many, the newest. Nobody has so many agents at work.
    const NEWEST: usize = 512;

    /// Leaves out the others. Says whether there were too many.
    fn retain(&self, sessions: &mut Vec<Session>, env: &Env, agents: &Agents) -> bool {
        let written = env.file_clock_at(Time(env.now().0 - self.window.max(BELIEVED)));
        let modified = |session: &Session| session.stamp.map_or(i64::MAX, |stamp| stamp.modified);
        let mut recent: Vec<(Reverse<i64>, usize)> = sessions
            .iter()
            .map(modified)
            .map(Reverse)
            .zip(0..)
            .collect();
        recent.retain(|(Reverse(modified), _)| *modified >= written);
        recent.sort_unstable();
        let too_many = recent.len() > Self::NEWEST;
        let newest: HashSet<usize> = recent
            .into_iter()
            .take(Self::NEWEST)
            .map(|(_, index)| index)
            .collect();
        let mut index = 0..;
        sessions.retain(|session| {
            let is_newest = index.next().is_some_and(|index| newest.contains(&index));
            is_newest || (self.wanted)(session) || agents.may_run(session)
        });
        too_many
    }
}

/// The sessions of a selection, the newest first.
pub struct Indexed<'f> {
    pub listed: Vec<Listed<'f>>,
    /// There was no time for all of them.
    pub cut_short: bool,
    /// Files that could not be read, and are left out.
    pub bad: Vec<Unreadable>,
}

/// All sessions on the machine that somebody said something in, the newest first. Files that cannot be read are named in
/// `bad` and left out.
pub fn list<'f>(
    env: &Env,
    formats: &'f [AgentFormat],
    bad: &mut Vec<Unreadable>,
) -> Vec<Listed<'f>> {
    let sessions = select(env, formats, &Selection::default());
    bad.extend(sessions.bad);
    sessions.listed
}

pub fn select<'f>(env: &Env, formats: &'f [AgentFormat], selection: &Selection) -> Indexed<'f> {
    let mut bad = Vec::new();
    let (mut sessions, is_all) = find::sessions(formats, env, true, &mut bad);
    if let Some(home) = Unreadable::noted(Home::above(env), &mut bad) {
        sessions.extend(home.sessions(formats, env, &mut bad));
        find::in_order(&mut sessions);
    }
    let agents = Agents::look(env, formats);
    let recent = selection.recent.as_ref();
    let ids = recent.map(|_| Shortener::new(sessions.iter().map(|session| session.id.to_string())));
    let too_many = recent.is_some_and(|recent| recent.retain(&mut sessions, env, &agents));
    let members = Members::around(env, &env.cwd);
    let mut around = Around {
        env,
        members,
        titles: TitleIndex::default(),
        cwd: None,
        bad,
    };
    let mut all = around.judged(sessions, selection.foreign);
    count(&mut all, formats, &mut around, selection);
    retain_sessions(&mut all);
    let marks = around.titles.take_marks(env);
    let Around {
        titles,
        members,
        mut bad,
        ..
    } = around;
    bad.extend(titles.bad.into_iter().chain(members.bad));
    for listed in &mut all {
        listed.set_presence(&agents);
        let (done, tags) = marks.of(&listed.session.id);
        (listed.done, listed.tags) = (done, tags.into());
    }
    match ids {
        Some(ids) => all
            .iter_mut()
            .for_each(|listed| listed.short = ids.short(&listed.session.id).len() as u32),
        None => shortened(
            &mut all,
            |listed| &listed.session.id,
            |listed, length| listed.short = length as u32,
        ),
    }
    name_origins(&mut all);
    // They are in the order of their paths, and stay so if they are of one time.
    all.sort_by_cached_key(|listed| (!listed.trust.is_own(), Reverse(listed.tally.updated)));
    Indexed {
        listed: all,
        cut_short: !is_all || too_many || env.is_late(),
        bad,
    }
}

/// Names the sessions that others continue. Few do.
fn name_origins(all: &mut [Listed]) {
    /// So much of an id names a session that is not there any more.
    const SHORT: usize = 8;
    for index in 0..all.len() {
        let Some((agent, id)) = all[index]
            .tally
            .origin()
            .and_then(|origin| origin.split_once(':'))
        else {
            continue;
        };
        let is_it =
            |other: &&Listed| other.session.format.is_called(agent) && other.session.has_id(id);
        let name = match all.iter().find(is_it) {
            Some(origin) => {
                let name = origin.session.name.as_deref();
                let name = name.or_else(|| origin.tally.person_name());
                name.unwrap_or_else(|| origin.short_id())
            }
            None => substr(id, ..id.floor_char_boundary(SHORT)),
        };
        all[index].continues = Some(name.into());
    }
}

/// So many of very many are dealt with at a time.
const BATCH: usize = 4096;

/// Facts from around a transcript.
struct Around<'e> {
    env: &'e Env,
    members: Members,
    titles: TitleIndex,
    /// The directory that the last one began in.
    cwd: Option<Arc<str>>,
    /// Files that could not be read.
    bad: Vec<Unreadable>,
}

impl Around<'_> {
    /// The sessions, of which nothing is known yet but whose they are. One that is gone by now is left out.
    fn judged<'f>(&mut self, mut sessions: Vec<Session<'f>>, foreign: bool) -> Vec<Listed<'f>> {
        let (env, bad) = (self.env, &mut self.bad);
        let mut all = Vec::with_capacity(sessions.len());
        let mut judge = Judge::new(env);
        sessions.reverse();
        while let Some(mut session) = sessions.pop() {
            if session.stamp.is_none() {
                session.stamp = Unreadable::noted(file::stamp(&session.path), bad);
            }
            match session
                .stamp
                .map(|stamp| judge.trust(&session, stamp.access, env))
            {
                Some(Ok(trust)) if foreign || trust.is_own() => all.push(Listed {
                    trust,
                    ..Listed::new(session)
                }),
                // What cannot be read may be around very many.
                Some(Err(error)) if bad.iter().all(|known| known.path != error.path) => {
                    bad.push(error);
                }
                _ => {}
            }
            // Very many of them must not be in memory twice.
            if sessions.len().is_multiple_of(BATCH) {
                sessions.shrink_to_fit();
            }
        }
        all
    }

    /// Sets what is known about a session, from how it was kept.
    fn set_kept(&mut self, listed: &mut Listed, tally: &[u8]) -> postcard::Result<()> {
        if listed
            .session
            .root
            .is_some_and(|root| root.beside.is_some() || root.titles.is_some())
            || self
                .titles
                .marks(self.env)
                .name(&listed.session.id)
                .is_some()
        {
            self.set(listed, postcard::from_bytes(tally)?);
        } else {
            self.set_as_is(listed, &postcard::from_bytes::<Tally<&str>>(tally)?);
        }
        Ok(())
    }

    fn set(&mut self, listed: &mut Listed, mut tally: Tally) {
        if listed.session.root.is_some() {
            self.titles
                .complete_or_note(&mut tally.basics, &listed.session, self.env);
        } else if let Some(name) = self.titles.name(&listed.session, self.env) {
            tally.basics.person_title = Some(name);
        }
        self.set_as_is(listed, &tally);
    }

    fn set_as_is<S: AsRef<str>>(&mut self, listed: &mut Listed, tally: &Tally<S>) {
        let session = &mut listed.session;
        listed.counts = tally.is_session();
        listed.here = session.name.is_some() || tally.cwds().any(|cwd| self.members.has(cwd));
        let inside = tally.id.as_ref().map(AsRef::as_ref);
        if let Some(id) = inside.filter(|id| **id != *session.id && session.whole_id(inside) == *id)
        {
            session.id = id.into();
        }
        listed.tally = Row::of(tally, &mut self.cwd);
    }
}

/// A session that has changed since the table was written.
struct Stale {
    index: usize,
    known: Option<(Reached, Tally, Place)>,
}

/// The records of a table, for a list of sessions.
struct Kept {
    /// Those of sessions that have not changed since.
    places: Vec<Option<Place>>,
    outdated: HashMap<usize, (Reached, Tally, Place)>,
    /// Those of sessions that are not in the list: they are of other homes, or gone.
    others: Vec<(Vec<u8>, Place)>,
}

/// Reads the table, and sets what is known about the sessions that have not changed since.
fn read_kept(all: &mut [Listed], table: &mut Table, around: &mut Around) -> Kept {
    let mut kept = Kept {
        places: vec![None; all.len()],
        outdated: HashMap::default(),
        others: Vec::new(),
    };
    let mut next = 0;
    table.each(|Record { key, value, place }| {
        let path = path_of(key).as_os_str().as_bytes();
        let is_it = |listed: &Listed| listed.session.path.cmp_bytes(path);
        // The table is in the same order as a rule.
        let is_next = all.get(next).is_some_and(|listed| is_it(listed).is_eq());
        let found = if is_next {
            Ok(next)
        } else {
            all.binary_search_by(is_it)
        };
        let Ok(index) = found else {
            return kept.others.push((key.to_vec(), place));
        };
        next = index + 1;
        let listed = &mut all[index];
        if listed.session.format.name.as_bytes() != key.get(path.len() + 1..).unwrap_or_default() {
            return;
        }
        let Ok((reached, tally)) = postcard::take_from_bytes::<Reached>(value) else {
            return;
        };
        let is_fresh =
            listed.session.stamp == Some(reached.stamp) && around.set_kept(listed, tally).is_ok();
        kept.places[index] = is_fresh.then_some(place);
        let outdated = if is_fresh {
            None
        } else {
            postcard::from_bytes(tally).ok()
        };
        match outdated {
            Some(tally) => drop(kept.outdated.insert(index, (reached, tally, place))),
            None => drop(kept.outdated.remove(&index)),
        }
    });
    kept
}

/// Counts all sessions, from the table where it knows them, and adds to it what is new.
fn count(all: &mut [Listed], formats: &[AgentFormat], around: &mut Around, selection: &Selection) {
    let (env, take) = (around.env, selection.take);
    let mut table = Table::open(env.cache_dir().join("list.bin"), &version(formats));
    let Kept {
        places,
        mut outdated,
        others,
    } = read_kept(all, &mut table, around);
    let mut stale: Vec<Stale> = (0..all.len())
        .filter(|index| places[*index].is_none())
        .map(|index| Stale {
            index,
            known: outdated.remove(&index),
        })
        .collect();
    let all_others = || others.iter().map(|(_, place)| *place).collect();
    let (others, has_gone) = if selection.recent.is_none() {
        current(&others)
    } else {
        (all_others(), false)
    };
    if stale.is_empty() && !has_gone {
        return;
    }
    // If there is no time for all, the one that was written last is counted on in any case.
    let written = |stale: &Stale| all[stale.index].session.stamp.map(|stamp| stamp.modified);
    stale.sort_by_key(|stale| env.deadline.and_then(|_| Some(Reverse(written(stale)?))));
    let first = stale.first().map(|stale| stale.index);
    let mut content: Vec<Option<Content>> = places
        .into_iter()
        .map(|place| place.map(Content::Old))
        .collect();
    let now = env.file_clock();
    let progress = Progress::of(
        env,
        "counting",
        stale.iter().map(|stale| all[stale.index].session.size()),
    );
    for some in stale.chunks(BATCH) {
        let size = |stale: &Stale| all[stale.index].session.size();
        let read = in_parallel(some, &progress, size, |stale, buffer| {
            if env.is_late() && Some(stale.index) != first {
                return Err(io::ErrorKind::TimedOut.into());
            }
            recount(
                &all[stale.index].session,
                stale,
                &table,
                take,
                env,
                now,
                buffer,
            )
        });
        for (Stale { index, .. }, read) in some.iter().zip(read) {
            match read {
                Ok((tally, record)) => {
                    tally
                        .into_iter()
                        .for_each(|tally| around.set(&mut all[*index], tally));
                    content[*index] = record;
                }
                Err(error) if Deadline::is_late(&error) => {}
                Err(error) => around
                    .bad
                    .extend(Unreadable::unless_gone(&all[*index].session.path, error)),
            }
        }
    }
    let content: Vec<Content> = content
        .into_iter()
        .flatten()
        .chain(others.into_iter().map(Content::Old))
        .collect();
    // Without a cache the next list is slower and no different.
    let _ = table.update(&content, has_gone);
}

/// Counts a file on from where it was counted to, if it is known what was read until then; else from its start. There is no
/// tally yet if there was not enough time.
fn recount(
    session: &Session,
    stale: &Stale,
    table: &Table,
    take: Option<&TakeSaid>,
    env: &Env,
    now: i64,
    buffer: &mut Buffer,
) -> io::Result<(Option<Tally>, Option<Content>)> {
    let mut transcript = session.open()?;
    // There is something to do after that.
    transcript.deadline = env.deadline.map(Deadline::for_writing);
    let known = stale.known.as_ref();
    let once = || table.rest(known?.2);
    let go_on = || {
        Some((
            (known?.1.clone(), None),
            postcard::from_bytes(&once()?).ok()?,
        ))
    };
    let fold = || (Tally::default(), take.map(|_| Said::new(false)));
    let kept = known.map(|(reached, ..)| *reached);
    let Renewed { reached, new } = renew(&transcript, kept, go_on, fold, now, buffer)?;
    let cut_short = new.as_ref().is_some_and(|new| new.cut_short);
    let (tally, once) = match new {
        None => (
            known.map(|(_, tally, _)| tally.clone()).unwrap_or_default(),
            once(),
        ),
        Some(Addition {
            fold: (mut tally, said),
            once,
            broken,
            ..
        }) => {
            tally.settle();
            tally.broken += broken;
            let kept_once = postcard::to_stdvec(&once).ok();
            if tally.is_session()
                && let Some((take, said)) = take.zip(said)
            {
                take(session, reached, said, once);
            }
            (tally, kept_once)
        }
    };
    // What it takes to count on is long, and of no use for a file that does not grow.
    let once = once.filter(|_| reached.is_lately(now)).unwrap_or_default();
    let value = postcard::to_stdvec(&reached).and_then(|value| postcard::to_extend(&tally, value));
    let record = value
        .ok()
        .and_then(|value| table.record(&key(session), &value, &[&once]));
    Ok(((!cut_short).then_some(tally), record))
}

/// The key of a session's record: its path and its format.
pub fn key(session: &Session) -> Vec<u8> {
    let [dir, name] = session.path.parts();
    [dir, name, b"\0", session.format.name.as_bytes()].concat()
}

/// Of some records in the order they were written, those to keep: the newest of each key whose file is there. Also says
/// whether a file is gone.
pub(super) fn current(records: &[(Vec<u8>, Place)]) -> (Vec<Place>, bool) {
    let newest: HashMap<&[u8], usize> = records.iter().map(|(key, _)| &**key).zip(0..).collect();
    let newest = (0..)
        .zip(records)
        .filter(|(index, (key, _))| newest.get(&**key) == Some(index));
    let (gone, there): (Vec<_>, Vec<_>) = newest
        .map(|(_, record)| record)
        .partition(|(key, _)| is_gone(path_of(key)));
    (
        there.into_iter().map(|(_, place)| *place).collect(),
        !gone.is_empty(),
    )
}

/// The path in a key.
pub fn path_of(key: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(
        key.split(|byte| *byte == 0).next().unwrap_or_default(),
    ))
}

/// True if a file is surely not there any more.
pub fn is_gone(path: &Path) -> bool {
    file::stat(path).is_ok_and(|meta| meta.is_none())
}

/// Leaves out files that are no sessions of their own. Of two paths to one file, the one with a name counts.
fn retain_sessions(all: &mut Vec<Listed>) {
    let file = |listed: &Listed| {
        listed
            .session
            .stamp
            .map(|stamp| (stamp.device, stamp.inode))
    };
    // Most files have one path only, and are not looked at again.
    let mut inodes: Vec<u64> = all
        .iter()
        .map(|listed| listed.session.stamp.map_or(0, |stamp| stamp.inode))
        .collect();
    inodes.sort_unstable();
    let again: HashSet<u64> = inodes
        .windows(2)
        .filter(|two| two[0] == two[1])
        .map(|two| two[0])
        .collect();
    drop(inodes);
    let may_be_linked = |listed: &Listed| {
        listed
            .session
            .stamp
            .is_some_and(|stamp| again.contains(&stamp.inode))
    };
    let linked = all.iter().filter(|listed| may_be_linked(listed));
    let named: HashSet<_> = linked
        .filter(|listed| listed.session.name.is_some())
        .map(file)
        .collect();
    let mut files = HashSet::default();
    all.retain(|listed| {
        let name = listed.session.name.as_deref();
        let is_named = || name.is_none() && named.contains(&file(listed));
        let is_again = may_be_linked(listed) && (is_named() || !files.insert(file(listed)));
        !is_again && listed.counts && !name.is_some_and(Home::is_throw_away)
    });
}

/// The word for a session that was not found in a list: its name here, its file where no agent keeps it, or as much
/// of its id as tells it from those of all other files.
pub fn handle(session: &Session, env: &Env, formats: &[AgentFormat]) -> String {
    match (&session.name, session.root) {
        (Some(name), _) => name.clone(),
        (None, None) => env.tilde(&session.path),
        (None, Some(_)) => Shortener::of_files(formats, env, &mut Vec::new())
            .short(&session.id)
            .into(),
    }
}
