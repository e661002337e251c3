//! Sessions that are kept up to date while somebody looks: for `watch`, `wait` and `list --watch`.
//!
//! It wakes when a file of an agent changes, and looks at everything again. An agent that is killed changes no file, so
//! those that run are looked for every second, which is cheap; the whole list is made anew now and then, as often as that
//! takes little of the time.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::events::{self, FileEvents, Happened};
use session_core::env::Env;
use session_core::file::Unreadable;
use session_core::formats::AgentFormat;
use session_core::session::index::{self, Listed};
use session_core::session::live::{self, Agents};
use session_format::hash::HashSet;

/// The time between two looks for agents that run.
const LOOK: Duration = Duration::from_secs(1);
/// Everything is looked at this often even if nothing seems to have happened, but never more than one part in so many of
/// the time.
const LOOK_AT_ALL: Duration = Duration::from_secs(5);
const REST: u32 = 400;
/// The same where something has happened.
const PAUSE: u32 = 5;
/// Directories of sessions that did nothing for so long are not watched; the look at everything finds them.
const LATELY: i64 = 7 * 24 * session_format::time::HOUR;
/// More directories than this are not watched: the system has only so many watches for everybody.
const DIRS: usize = 1000;

pub struct Monitor<'e, 'f> {
    env: &'e Env,
    formats: &'f [AgentFormat],
    events: FileEvents,
    watched: HashSet<PathBuf>,
    sessions: Vec<Listed<'f>>,
    /// Files that could not be read at the last look.
    pub bad: Vec<Unreadable>,
    looked: Instant,
    looked_at_all: Instant,
    took: Duration,
    /// Something has happened to a file since.
    is_told: bool,
}

impl<'e, 'f> Monitor<'e, 'f> {
    pub fn start(env: &'e Env, formats: &'f [AgentFormat]) -> Monitor<'e, 'f> {
        let now = Instant::now();
        let mut monitor = Monitor {
            env,
            formats,
            events: FileEvents::start(),
            watched: HashSet::default(),
            sessions: Vec::new(),
            bad: Vec::new(),
            looked: now,
            looked_at_all: now,
            took: Duration::ZERO,
            is_told: false,
        };
        monitor.look_at_all();
        monitor
    }

    /// All sessions on the machine, the newest first.
    pub fn sessions(&self) -> &[Listed<'f>] {
        &self.sessions
    }

    /// Waits a moment at the most, and says whether something may be different now.
    pub fn wait(&mut self) -> bool {
        // While an agent writes line after line, most of the time is left to others.
        let pause = (self.took * PAUSE).saturating_sub(self.looked_at_all.elapsed());
        let happened = if self.is_told {
            std::thread::sleep(pause.min(events::LOOK));
            Happened::default()
        } else {
            self.events.wait()
        };
        let since = self.looked_at_all.elapsed();
        self.is_told |= happened.is_told();
        // Where no events are to be had, somebody has to look, but not all the time.
        let is_due = since >= self.took * REST && (happened.anything || since >= LOOK_AT_ALL);
        if is_due || self.is_told && since >= self.took * PAUSE {
            self.look_at_all();
            return true;
        }
        if self.looked.elapsed() < LOOK {
            return false;
        }
        self.looked = Instant::now();
        let agents = Agents::look(self.env, self.formats);
        let mut changed = false;
        for listed in &mut self.sessions {
            changed |= listed.set_presence(&agents);
        }
        changed
    }

    /// Goes on in an environment that says the same but shows no progress.
    pub fn quietly(mut self, env: &'e Env) -> Monitor<'e, 'f> {
        self.env = env;
        self
    }

    pub fn look_at_all(&mut self) {
        let started = Instant::now();
        self.is_told = false;
        // First the watch, then the look: what happens in between is seen.
        self.watch();
        self.bad.clear();
        self.sessions = index::list(self.env, self.formats, &mut self.bad);
        self.watch();
        let now = Instant::now();
        (self.took, self.looked, self.looked_at_all) = (now - started, now, now);
    }

    /// Watches the directories in which something happens when a session begins, goes on or changes its state.
    fn watch(&mut self) {
        let since = self.env.now().0 - LATELY;
        let lately = self
            .sessions
            .iter()
            .filter(|listed| listed.tally.updated.is_some_and(|time| time.0 >= since));
        let dirs = lately.filter_map(|listed| listed.session.path.parent().map(PathBuf::from));
        let dirs = live::dirs(self.env, self.formats).into_iter().chain(dirs);
        for dir in dirs {
            if self.watched.len() < DIRS && !self.watched.contains(&dir) {
                self.events.watch(&dir);
                self.watched.insert(dir);
            }
        }
    }
}
