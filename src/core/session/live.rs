//! Which sessions have an agent that runs, and what it says it is doing: from the files that agents leave while they run, and
//! from what our own hook noted where the user wants that.
//!
//! A file that an agent left behind when it was killed says nothing but that it was killed: only one whose very process
//! runs, or that is locked, makes a session live. What cannot be read is as good as not there, because these files come
//! and go; `State` then falls back on the transcript. What a hook noted counts until the transcript goes on, because not
//! everything that happens runs a hook; and an agent that says itself what it is doing knows better.

use std::cmp::Reverse;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::time::Duration;

use serde_json::Value;

use super::{Session, find};
use crate::env::Env;
use crate::file::{self, Stamp};
use crate::fold::{Doing, OpenEnd, Tally};
use crate::formats::AgentFormat;
use crate::process::{self, Claim, Running};
use crate::read::Transcript;
use crate::state::live::{LiveNote, LiveNotes};
use session_format::budget::Deadline;
use session_format::entry::{Act, named};
use session_format::format::descriptor::{Pointer, Root};
use session_format::format::live::{Live, Status};
use session_format::format::pattern::Pattern;
use session_format::hash::{HashMap, HashSet};
use session_format::time::{DAY, HOUR, SECOND, Time};

/// A root of a format, and the directory it is in now.
type RootDir<'f> = (&'f AgentFormat, &'f Root, PathBuf);

/// The agent of a session, as far as it is known from elsewhere than its transcript.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Presence {
    /// Nothing.
    #[default]
    Unknown,
    Runs(Box<AgentReport>),
    /// It was killed while it said this.
    Killed(Box<AgentReport>),
    /// No agent has it open: if one had, there would be a file.
    Closed,
}

/// An agent's report about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentReport {
    pub status: Option<Status>,
    /// Since when it is doing that; or, if it does not say what it is doing, when it opened the session.
    pub since: Option<Time>,
    pub by: Evidence,
    /// Its call, where its own transcript does not say that: one of a subagent that must be allowed, or one that a hook noted.
    pub doing: Option<Doing>,
    /// Its process, if that is known.
    pub pid: Option<u32>,
    /// What its client calls the session.
    pub name: Option<String>,
    /// The pane of tmux that it is in, in its own words.
    pub pane: Option<String>,
}

named! {
    /// The source of a state. That an agent runs is known from the first three.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Evidence {
        Registry = "registry",
        Lock = "lock",
        Hook = "hook",
        Transcript = "transcript",
        User = "user",
    }
}

/// The sessions that running agents have, of all formats.
#[derive(Debug, Default)]
pub struct Agents<'f> {
    /// By format, and by the session's id.
    present: HashMap<&'f str, HashMap<String, Presence>>,
    /// Roots that have a file for each agent that runs, and where they are.
    complete: Vec<(&'f Root, PathBuf)>,
    /// The inodes of files that anybody keeps locked.
    locked: HashSet<u64>,
    /// The notes of hooks.
    notes: LiveNotes,
    now: Time,
}

/// If nothing tells whether an agent runs, its last word is believed for so long.
pub(crate) const BELIEVED: i64 = HOUR;

/// The longest file of an agent that is read.
const LONGEST_FILE: u64 = 64 * 1024;
/// A look waits so often for an agent that is writing its file.
const PAUSES: u32 = 4;
/// So many files are read in any order.
const SORTED_FROM: usize = 64;

impl<'f> Agents<'f> {
    pub fn look(env: &Env, formats: &'f [AgentFormat]) -> Agents<'f> {
        let never = Deadline::after(Duration::MAX);
        let agents = Agents::look_until(env, formats, env.deadline.as_ref().unwrap_or(&never));
        Agents {
            notes: agents.notes.listed(),
            ..agents
        }
    }

    /// The same, for a few sessions. What was not read before half of the time is over is not known.
    pub fn look_until(env: &Env, formats: &'f [AgentFormat], deadline: &Deadline) -> Agents<'f> {
        let deadline = &deadline.of(deadline.allowed() / 2);
        let mut agents = Agents {
            now: env.now(),
            notes: LiveNotes::in_dir(&env.state_dir()),
            ..Agents::default()
        };
        let places: Vec<RootDir> = find::roots(formats, env).collect();
        for place in &places {
            agents.read_registry(place, deadline);
        }
        if !deadline.is_over() {
            agents.read_locks(&places);
        }
        agents
    }

    fn read_registry(&mut self, place: &RootDir<'f>, deadline: &Deadline) {
        let (format, _, dir) = place;
        for pattern in &format.live().files {
            let (mut is_all, mut pauses, mut paths) = (true, PAUSES, Vec::new());
            find::each_file(dir, pattern, &mut |path| paths.push(path.to_path_buf()));
            // Agents that were killed leave theirs behind. If there is no time for all, the last that were written count.
            if paths.len() > SORTED_FROM {
                let written =
                    |path: &PathBuf| file::stamp(path).ok().flatten().map(|stamp| stamp.modified);
                paths.sort_by_cached_key(|path| Reverse(written(path)));
            }
            for path in paths {
                let said = if deadline.is_over() {
                    None
                } else {
                    parsed(&path, &mut pauses)
                };
                is_all &= said.is_some();
                if let Some((id, presence)) = said
                    .as_ref()
                    .and_then(|said| registered(format.live(), said))
                {
                    self.add(format, id, presence);
                }
            }
            if is_all {
                self.note(place, pattern);
            }
        }
    }

    fn read_locks(&mut self, places: &[RootDir<'f>]) {
        let with_locks = places
            .iter()
            .filter(|(format, ..)| !format.live().locks.is_empty());
        let with_locks =
            with_locks.filter_map(|place| Some((place, std::fs::canonicalize(&place.2).ok()?)));
        let with_locks: Vec<(&RootDir, PathBuf)> = with_locks.collect();
        let dirs: Vec<&Path> = with_locks.iter().map(|(_, dir)| &**dir).collect();
        if dirs.is_empty() {
            return;
        }
        let files = || {
            let mut files = Vec::new();
            for ((format, ..), dir) in &with_locks {
                for pattern in &format.live().locks {
                    find::each_file(dir, pattern, &mut |path| files.push(path.to_path_buf()));
                }
            }
            files
        };
        let mut locked = process::locked(&dirs, &files);
        self.locked = std::mem::take(&mut locked.inodes);
        for (place, dir) in &with_locks {
            for pattern in &place.0.live().locks {
                let below = locked.files.iter().filter_map(|(path, pid)| {
                    let path = path.strip_prefix(dir).ok()?;
                    Some((path, *pid, pattern.id(path)?))
                });
                for (path, pid, id) in below {
                    // It is made when it is locked, and nobody writes to it.
                    let meta = file::stat(&dir.join(path)).ok().flatten();
                    let made = meta.map(|meta| Stamp::from(&meta).modified_at());
                    self.add(
                        place.0,
                        id,
                        Presence::Runs(Box::new(AgentReport {
                            since: made,
                            pid: Some(pid),
                            ..AgentReport::new(Evidence::Lock)
                        })),
                    );
                }
                if locked.is_all {
                    self.note(place, pattern);
                }
            }
        }
    }

    /// Notes that there is a file of a pattern for every agent that runs, if that is so.
    fn note(&mut self, (format, root, dir): &RootDir<'f>, pattern: &Pattern) {
        let is_complete = format.live().complete && dir.join(pattern.dir()).is_dir();
        self.complete
            .extend(is_complete.then(|| (*root, dir.clone())));
    }

    /// Of two files for one session, the one of an agent that runs counts. If two run, nobody knows which one is meant.
    fn add(&mut self, format: &'f AgentFormat, id: String, presence: Presence) {
        let known = self
            .present
            .entry(&format.name)
            .or_default()
            .entry(id)
            .or_default();
        match (known, presence) {
            (Presence::Runs(known), Presence::Runs(other)) if known.pid != other.pid => {
                if other.since > known.since {
                    *known = other;
                }
                (known.pid, known.pane) = (None, None);
            }
            (Presence::Runs(_), _) | (_, Presence::Unknown) => {}
            (known, presence) => *known = presence,
        }
    }

    /// The presence of a session's agent: `open_end` is what the session is doing, and `updated` when something
    /// last happened in it. Where the agent waits for the user and the session itself does not say for what, one of its subagents does.
    pub fn of(
        &self,
        session: &Session,
        open_end: Option<&OpenEnd>,
        updated: Option<Time>,
    ) -> Presence {
        let is_own =
            |end: &OpenEnd| matches!(end, OpenEnd::Call(doing) if doing.act != Act::Delegate);
        match self.of_itself(session, open_end, updated) {
            Presence::Runs(said)
                if said.by == Evidence::Registry && !open_end.is_some_and(is_own) =>
            {
                let waits = matches!(said.status, Some(Status::Waiting | Status::Permission));
                let doing = if waits { subagent(session) } else { None };
                Presence::Runs(Box::new(AgentReport { doing, ..*said }))
            }
            presence => presence,
        }
    }

    /// The same without a look at its subagents.
    fn of_itself(
        &self,
        session: &Session,
        open_end: Option<&OpenEnd>,
        updated: Option<Time>,
    ) -> Presence {
        let noted = self.noted(session);
        let noted = noted.as_ref();
        let news = noted.filter(|noted| updated.is_none_or(|updated| noted.time >= updated));
        let complete = || {
            self.complete
                .iter()
                .find(|(root, _)| session.root.is_some_and(|own| ptr::eq(*root, own)))
        };
        let present = self.present(session);
        match (present.filter(|said| !said.is_outlived(updated)), noted) {
            (Some(Presence::Runs(said)), _) if said.status.is_none() => {
                let known = |news| AgentReport {
                    pid: said.pid,
                    name: said.name.clone(),
                    pane: said.pane.clone(),
                    ..said_by(news, session)
                };
                Presence::Runs(news.map_or_else(|| said.clone(), |news| Box::new(known(news))))
            }
            (Some(Presence::Killed(said)), Some(noted)) if said.status.is_none() => {
                self.as_noted(noted, news, session)
            }
            (Some(presence), _) => presence.clone(),
            (None, Some(noted)) if noted.running() == Running::No || complete().is_none() => {
                self.as_noted(noted, news, session)
            }
            (None, _) => complete().map_or(Presence::Unknown, |(_, dir)| {
                self.by_lock_file(session, dir, open_end, updated)
            }),
        }
    }

    /// True if something but its transcript says that its agent may run.
    pub(crate) fn may_run(&self, session: &Session) -> bool {
        matches!(self.present(session), Some(Presence::Runs(_)))
            || self.notes.has(&session.format.name, &session.id)
    }

    /// The presence that its agent's own files prove.
    fn present(&self, session: &Session) -> Option<&Presence> {
        self.present.get(&*session.format.name)?.get(&*session.id)
    }

    /// The last note of its hooks.
    fn noted(&self, session: &Session) -> Option<LiveNote> {
        let may_be = session.format.live().hook.is_some() && super::is_id(&session.id);
        may_be.then(|| self.notes.newest(&session.format.name, &session.id))?
    }

    /// Judges by a lock file of which no process is known that has it open. If its inode is locked, another user's process
    /// has it; else it was left behind, by an agent that was killed if it was doing something.
    fn by_lock_file(
        &self,
        session: &Session,
        dir: &Path,
        open_end: Option<&OpenEnd>,
        updated: Option<Time>,
    ) -> Presence {
        /// Nobody keeps a session open for long without doing something.
        const OPEN_FOR: i64 = DAY;
        let is_recent = updated.is_some_and(|updated| self.now.0 - updated.0 < OPEN_FOR);
        let calls = matches!(open_end, Some(OpenEnd::Call(_)));
        let files = if calls || is_recent {
            lock_files(session, dir)
        } else {
            Vec::new()
        };
        let report = Box::new(AgentReport::new(Evidence::Lock));
        if files.iter().any(|inode| self.locked.contains(inode)) {
            Presence::Runs(report)
        } else if calls && !files.is_empty() {
            Presence::Killed(report)
        } else {
            Presence::Closed
        }
    }

    /// Judges by the notes of hooks alone; `news` is a note since something last happened.
    fn as_noted(&self, noted: &LiveNote, news: Option<&LiveNote>, session: &Session) -> Presence {
        let nothing = AgentReport {
            pid: noted.pid(),
            ..AgentReport::new(Evidence::Hook)
        };
        let said = Box::new(news.map_or(nothing, |news| said_by(news, session)));
        let is_recent = |news: &LiveNote| self.now.0 - news.time.0 <= BELIEVED;
        match (noted.running(), noted.status == Status::Ended) {
            (Running::No, true) => Presence::Killed(Box::new(said_by(noted, session))),
            (Running::No, false) => Presence::Killed(said),
            // It has left this session for another one; if something happened here since, somebody else has it.
            (_, true) => news.map_or(Presence::Unknown, |_| Presence::Runs(said)),
            (Running::Yes, false) => Presence::Runs(said),
            // Unknown: trust the note for `BELIEVED`, as we do a transcript.
            (Running::Unknown, false) if news.is_some_and(is_recent) => Presence::Runs(said),
            (Running::Unknown, false) => Presence::Unknown,
        }
    }
}

impl Presence {
    /// An agent that was killed leaves its last word behind. If it was at rest then, and something has happened since, another
    /// one had the session open, and how that one ended is another matter.
    fn is_outlived(&self, updated: Option<Time>) -> bool {
        /// What an agent said last may be written a little later than that it came to rest.
        const LAG: i64 = 10 * SECOND;
        let Presence::Killed(said) = self else {
            return false;
        };
        let is_at_rest = said.status.is_some_and(|status| status != Status::Working);
        let since = said.since.filter(|_| is_at_rest);
        since.is_some_and(|since| updated.is_some_and(|updated| updated.0 - since.0 > LAG))
    }
}

impl AgentReport {
    /// When the agent left the session, if it said so.
    pub fn ended_at(&self) -> Option<Time> {
        if self.status == Some(Status::Ended) {
            self.since
        } else {
            None
        }
    }

    fn new(by: Evidence) -> AgentReport {
        AgentReport {
            status: None,
            since: None,
            by,
            doing: None,
            pid: None,
            name: None,
            pane: None,
        }
    }
}

/// The inodes of the lock files for a session, locked or not.
fn lock_files(session: &Session, dir: &Path) -> Vec<u64> {
    let mut found = Vec::new();
    for pattern in &session.format.live().locks {
        let own = Pattern(
            pattern
                .0
                .iter()
                .map(|segment| segment.bound(&session.id))
                .collect(),
        );
        find::each_file(dir, &own, &mut |path| {
            found.extend(file::stat(path).ok().flatten().map(|meta| meta.ino()));
        });
    }
    found
}

/// The report in a hook's note.
fn said_by(note: &LiveNote, session: &Session) -> AgentReport {
    let doing = (!note.tool.is_empty()).then(|| Doing {
        tool: note.tool.clone(),
        subject: note.subject.clone(),
        act: session.format.format().tool(&note.tool).act,
        ..Doing::default()
    });
    let is_answered =
        note.status == Status::Permission && note.running() == Running::Yes && note.is_answered();
    let status = if is_answered {
        Status::Working
    } else {
        note.status
    };
    AgentReport {
        status: Some(status),
        since: Some(note.time),
        doing,
        pid: note.pid(),
        ..AgentReport::new(Evidence::Hook)
    }
}

/// The format and id of the session whose agent started this program, or a program above it. Unlike a variable of the
/// environment, it is right even if the agent has begun another session since.
pub fn asking(env: &Env, formats: &[AgentFormat]) -> Option<(String, String)> {
    let above = process::above();
    let agents = Agents::look(env, formats);
    let by_format = |(format, all): (&&str, &HashMap<String, Presence>)| {
        let place = |presence: &Presence| match presence {
            Presence::Runs(said) => above.iter().position(|pid| Some(*pid) == said.pid),
            _ => None,
        };
        let of = |(id, presence)| Some((place(presence)?, (*format).to_owned(), String::clone(id)));
        all.iter().filter_map(of).min()
    };
    let (_, format, id) = agents.present.iter().filter_map(by_format).min()?;
    Some((format, id))
}

/// The directories in which files come and go when a session begins or its agent says something else.
pub fn dirs(env: &Env, formats: &[AgentFormat]) -> Vec<PathBuf> {
    let below = |(format, root, dir): RootDir| {
        let live = format.live();
        let patterns = root
            .files
            .iter()
            .chain(&live.files)
            .chain(&live.locks)
            .map(Pattern::dir);
        patterns
            .map(move |below| dir.join(below))
            .collect::<Vec<_>>()
    };
    let noted = std::iter::once(LiveNotes::in_dir(&env.state_dir()).dir);
    find::roots(formats, env)
        .flat_map(below)
        .chain(noted)
        .filter(|dir| dir.is_dir())
        .collect()
}

/// The open call of a subagent: of those that have one, the one that was written last.
fn subagent(session: &Session) -> Option<Doing> {
    /// As much of the end of a file as has the last call in it.
    const END: u64 = 1 << 20;
    let doing = |path: &Path| {
        let transcript = Transcript::open(path, session.format.format())
            .ok()?
            .subagent(true);
        let mut tally = Tally::default();
        transcript.fold_end(END, &mut tally).ok()?;
        if let Some(OpenEnd::Call(doing)) = tally.open_end() {
            Some(doing)
        } else {
            None
        }
    };
    find::subagents(session, &session.id, &mut Vec::new())
        .iter()
        .find_map(|(path, _)| doing(path))
}

/// Parses a file that an agent writes over and over, perhaps at this moment; then it is worth a few pauses, but not so
/// many for each of very many files. None if it cannot be told.
fn parsed(path: &Path, pauses: &mut u32) -> Option<Value> {
    const PAUSE: Duration = Duration::from_millis(3);
    loop {
        let bytes = file::there(path, || file::read_up_to(path, LONGEST_FILE)).ok()?;
        // An agent that has just ended took its file along.
        let Some(bytes) = bytes else {
            return Some(Value::Null);
        };
        let said = serde_json::from_slice(&bytes).ok();
        if said.is_some() || *pauses == 0 {
            return said;
        }
        *pauses -= 1;
        std::thread::sleep(PAUSE);
    }
}

/// The session in an agent's file, and the presence that the file proves.
fn registered(live: &Live, said: &Value) -> Option<(String, Presence)> {
    let at = |pointer: &Option<Pointer>| {
        pointer
            .as_ref()?
            .0
            .iter()
            .try_fold(said, |value, key| value.get(key))
    };
    let text = |pointer: &Option<Pointer>| match at(pointer) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let id = text(&live.session);
    let pid = text(&live.pid).parse().ok().filter(|_| super::is_id(&id))?;
    let (start, namespace) = (text(&live.start), text(&live.namespace));
    let meaning = |pointer: &Option<Pointer>| live.words.get(&text(pointer)).copied();
    let status = match meaning(&live.status) {
        Some(Status::Waiting) => meaning(&live.waits_for).or(Some(Status::Waiting)),
        status => status,
    };
    // Where a word is not known, nobody knows what is so since then.
    let since = at(&live.since).filter(|_| status.is_some() || live.status.is_none());
    let since = since.and_then(Value::as_f64).and_then(Time::from_number);
    let said = Box::new(AgentReport {
        status,
        since,
        pid: Some(pid),
        name: Some(text(&live.name)).filter(|name| !name.is_empty()),
        pane: Some(text(&live.tmux)).filter(|pane| !pane.is_empty()),
        ..AgentReport::new(Evidence::Registry)
    });
    let presence = match (Claim {
        pid,
        start: &start,
        namespace: &namespace,
    })
    .running()
    {
        Running::Yes => Presence::Runs(said),
        Running::No => Presence::Killed(said),
        Running::Unknown => Presence::Unknown,
    };
    Some((id, presence))
}
