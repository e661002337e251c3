//! Everything that a look depends on, and since when there may be something new.

use std::path::Path;

use super::Observer;
use session_core::env::Env;
use session_core::file::Unreadable;
use session_core::formats::AgentFormat;
use session_core::session::{Session, find};
use session_core::settings::{Scope, Settings};
use session_core::state::cursors::View;
use session_core::state::seen::{Look, OthersSince, Seen};
use session_core::state::sessions::Record;
use session_format::budget::Deadline;
use session_format::entry::Id;
use session_format::time::{SECOND, Time};

/// The clock that stamps files may lag this far behind.
const LAG: i64 = 2 * SECOND;

pub struct Context<'s, 'f> {
    pub env: &'s Env,
    pub settings: &'s Settings,
    pub formats: &'f [AgentFormat],
    pub observer: &'s Observer<'f>,
    pub view: &'s View,
    pub deadline: &'s Deadline,
    /// Give a reason for every session, not only for those that changed.
    pub explain: bool,
    /// The position in the circle of other projects' directories. Without it, every look gets to all of them.
    pub position: Option<u64>,
}

impl<'s, 'f> Context<'s, 'f> {
    /// Hash of the user's home directory, the scope and the project; a change means that the observer moved.
    fn scope(&self) -> u32 {
        let home = self.env.home.as_os_str().as_encoded_bytes();
        Id::of(
            &[
                home,
                &[0, self.settings.scope as u8],
                self.observer.project.as_bytes(),
            ]
            .concat(),
        )
        .short()
    }

    pub(crate) fn is_first_look(&self) -> bool {
        let look = self.view.look.as_ref();
        look.and_then(Look::looked).is_none()
    }

    /// The last look, if it was at the same sessions.
    pub(crate) fn last_look_here(&self) -> Option<&'s Look> {
        self.view
            .look
            .as_ref()
            .filter(|look| look.scope == self.scope())
    }

    /// The moment before which nothing was ever news.
    pub fn since(&self) -> Time {
        let first = Time(self.env.now().0.saturating_sub(self.settings.first_look));
        // If the clock was set back, the first look is still to come.
        self.view
            .look
            .as_ref()
            .map_or(first, |look| look.since.min(first))
    }

    /// A record of the observer before it has looked at anything.
    pub(crate) fn new_look(&self) -> Look {
        let id = self
            .observer
            .home
            .is_some()
            .then(|| self.observer.id.clone());
        Look {
            scope: self.scope(),
            id,
            ..Look::new(self.since())
        }
    }

    /// Now, by the clock that stamps files.
    pub fn file_time(&self) -> Time {
        // A test lets time pass without waiting.
        let ahead = self
            .env
            .var("SESSION_CONTEXT_AHEAD")
            .filter(|_| cfg!(debug_assertions));
        let ahead = ahead
            .and_then(|seconds| seconds.to_str()?.parse::<i64>().ok())
            .unwrap_or_default();
        Time(Time::from_nanos(self.env.file_clock()).0 + ahead * SECOND)
    }

    /// The last look found everything that was written before then, by the clock that stamps files.
    pub(crate) fn seen_until(&self) -> Time {
        let now = self.file_time();
        // In a home, a session may get its name long after its words.
        let look = self
            .last_look_here()
            .filter(|_| self.observer.home.is_none());
        look.and_then(Look::looked)
            .filter(|looked| *looked <= now)
            .unwrap_or_else(|| {
                // A first look, or one from elsewhere, or the clock was set back: all that may be news.
                Time(
                    now.0
                        .saturating_sub(self.env.now().0.saturating_sub(self.since().0)),
                )
            })
    }

    /// A file that was never seen and not written since then has nothing new.
    pub(crate) fn horizon(&self) -> Time {
        lagging(self.seen_until())
    }

    /// The same for other projects' files: now, and once the circle of their directories is through.
    pub(crate) fn others_since(&self) -> OthersSince {
        let until = self.seen_until();
        let since = self
            .last_look_here()
            .and_then(|look| look.others_since)
            .unwrap_or((until, until));
        (since.0.min(until), since.1.min(until))
    }

    /// It matters which project a directory is of.
    pub fn tells_projects_apart(&self) -> bool {
        self.settings.scope == Scope::Project && !self.explain
    }

    /// A session counts wherever it is.
    pub(crate) fn takes_all(&self) -> bool {
        self.observer.home.is_some() || self.settings.scope == Scope::Machine
    }

    /// The session whose transcript is at a path, and whether it is a subagent's.
    pub fn at(&self, path: &str) -> Option<(Session<'f>, bool)> {
        let (path, home) = (Path::new(path), self.observer.home.as_ref());
        let session = find::at(self.formats, self.env, path);
        let session = session.or_else(|| home?.in_folder(path, self.formats));
        let subagent =
            || find::subagent_at(self.formats, self.env, path).map(|session| (session, true));
        session.map(|session| (session, false)).or_else(subagent)
    }

    /// The whole record. One that turns out to be broken is said, and its session counts as not yet read.
    pub fn seen(&self, record: Record, bad: &mut Vec<Unreadable>) -> Seen {
        record.seen().unwrap_or_else(|why| {
            let error = format!("no cursor of {} ({why}); taken as not there", record.path());
            bad.push(Unreadable::new(
                self.observer.cursor_file(self.env).path(),
                std::io::Error::other(error),
            ));
            Seen::untouched()
        })
    }
}

/// A time that is surely before what is stamped with it or later.
pub(crate) fn lagging(time: Time) -> Time {
    Time(time.0.saturating_sub(LAG))
}

#[cfg(test)]
mod tests {
    use super::*;
    use session_format::time::{DAY, HOUR};

    /// In a home, a session may be named long after its transcript was written, so what no look has seen may be news
    /// however many looks there were since. Elsewhere the last look has seen all files.
    #[test]
    fn a_name_may_come_later_than_its_transcript() {
        const NOW: Time = Time(100 * DAY);
        let dir = tempfile::tempdir().expect("a directory");
        let (settings, formats) = (
            Settings::default(),
            session_core::formats::known(Path::new("/nonexistent")).0,
        );
        let deadline = Deadline::after(settings.deadline);
        let env = Env::fixed(dir.path(), dir.path().join("work"), NOW);
        for (named, ago) in [(false, 0), (true, 5 * HOUR)] {
            if named {
                std::fs::create_dir_all(env.cwd.join(".volute/sessions")).expect("directories");
            }
            let observer = Observer::new(&formats[0], "me", None, &env, &settings);
            assert_eq!(observer.home.is_some(), named);
            let context = Context {
                env: &env,
                settings: &settings,
                formats: &formats,
                observer: &observer,
                view: &View::default(),
                deadline: &deadline,
                explain: false,
                position: None,
            };
            let new = context.new_look();
            let looked = Time::from_nanos(env.file_clock());
            let mut look = Look {
                since: Time(NOW.0 - 5 * HOUR),
                ..new
            };
            look.set_looked(looked);
            let view = &View {
                look: Some(look),
                ..View::default()
            };
            let distance = Context { view, ..context }.horizon().0 + LAG + ago - looked.0;
            assert!((0..HOUR).contains(&distance), "named: {named}, {distance}");
        }
    }
}
