//! At the start of a session: what the user pinned, and where the last session of the project stopped.
//!
//! Only the ends of transcripts are read, the newest first, and no more of them once the deadline is over. Which session is
//! the last one is a rule of `session::last`.

use std::cell::OnceCell;
use std::io;
use std::path::Path;

use super::ask::Source;
use super::candidates::Ids;
use super::survey::{News, Surveyor};
use crate::file::{self, Stamp, Unreadable};
use crate::fold::Continuity;
use crate::fold::names::{Name, named};
use crate::fold::text::ends_of;
use crate::session::last::{self, Standing};
use crate::session::live::Agents;
use crate::session::state::Situation;
use crate::session::{Home, Session, find, stopped};
use crate::show::start::{Past, Recall, Start, full_name, start};
use crate::state::notes::{Kind, Marks, Notes};

/// How many sessions a first prompt is compared with.
const RECALLED: usize = 12;

impl<'f> Surveyor<'_, 'f> {
    /// What a session that begins is told, if there is anything. It begins with a prompt where the agent has no event for
    /// its start; `told` are the sessions that it hears of anyway.
    pub fn start(&self, source: Source, prompt: &str, told: &[News], notes: &Notes) -> String {
        let now = self.env.now();
        let pins = notes.pins(now);
        let pins = pins.iter().map(|pin| pin.text.as_str()).collect();
        let compacted = source == Source::Compacted;
        let cleared = source == Source::Cleared;
        let own = if compacted || cleared { self.own_continuity() } else { None };
        // After a `/clear` the session may be another, with a transcript of its own.
        let own = own.filter(|own| compacted || own.messages > 0);
        let count = if prompt.is_empty() { 1 } else { RECALLED };
        let earlier = if compacted { Earlier::default() } else { self.earlier(count, cleared) };
        // The newest is told in full.
        let others = earlier.sessions.get(1..).unwrap_or_default();
        let recall = self.recall(prompt, others, told, &earlier.marks);
        let situation = earlier.sessions.first().filter(|_| !cleared && own.is_none()).map(|(session, last)| {
            let agents = (!self.deadline.is_over()).then(|| Agents::look_until(self.env, self.formats, self.deadline));
            Situation::of(session, last, earlier.marks.of(&session.id).0, agents.as_ref())
        });
        let past = match (&own, earlier.sessions.first()) {
            (Some(own), _) => Past::Own(own),
            (None, Some((session, last))) => match &situation {
                Some(situation) => {
                    Past::Last(self.full_name(session), last, situation.state(session.format.live(), now))
                }
                None => Past::Cleared(self.full_name(session), last),
            },
            (None, None) if earlier.any || compacted || cleared => Past::Old,
            (None, None) => Past::None,
        };
        let cwd = match &past {
            Past::Last(_, last, _) | Past::Cleared(_, last) | Past::Own(last) => last.first_cwd.clone(),
            _ => None,
        };
        let shown = |path: &str| self.env.shown_from(cwd.as_deref(), path);
        let noted = notes.notes(Kind::Decision, now).map(|note| note.text.as_str()).collect();
        start(&Start { pins, noted, past, recall }, now, self.settings.budget, &shown)
    }

    /// Where the observer itself stopped.
    fn own_continuity(&self) -> Option<Continuity> {
        let own = self.own_session()?;
        self.noted(&own.path, stopped::stopped(own, &self.deadline.for_writing(), None))
    }

    /// What was read of a file, if it could be; if not, that is noted.
    fn noted<T>(&self, path: &Path, read: io::Result<T>) -> Option<T> {
        Unreadable::noted(
            read.map(Some).map_err(|error| Unreadable::new(path, error)),
            &mut self.cache.unreadable.borrow_mut(),
        )
    }

    /// The sessions that were at work last, the newest first; not those that are done, nor, as a rule, what was asked in
    /// passing.
    fn earlier(&self, count: usize, passing: bool) -> Earlier<'f> {
        let mut reader = self.reader();
        let marks = Marks::read(self.env, &mut self.cache.unreadable.borrow_mut());
        let mut earlier = Earlier { marks, ..Earlier::default() };
        let agents = OnceCell::new();
        let mut tries = 0;
        for (session, stamp) in self.by_age(&mut earlier) {
            // Whatever is older by its stamp cannot have been at work later.
            let found = &mut earlier.sessions;
            let enough = found.len() >= count && found.iter().all(|(_, last)| is_later(last, stamp));
            if enough || tries == last::TRIES {
                break;
            }
            if self.deadline.is_over() {
                // Not everything was looked at, so there may be one.
                earlier.any = true;
                break;
            }
            // What was cleared away was a session of the same agent.
            let other = passing && session.format.name != self.observer.format.name;
            if self.observer.is(&session) || other {
                continue;
            }
            let whereabouts = reader.whereabouts(&session, session.name.is_some());
            let Some(Some(began_here)) = self.noted(&session.path, whereabouts) else { continue };
            let mut is_in = None;
            let stop = || {
                tries += 1;
                let stop;
                (stop, is_in) = reader.stopped(&session, began_here)?;
                Ok(stop)
            };
            let done = earlier.marks.of(&session.id).0;
            let goes_on = |stop: &Continuity| {
                let agents = agents.get_or_init(|| Agents::look_until(self.env, self.formats, self.deadline));
                let situation = Situation::of(&session, stop, done, Some(agents));
                situation.state(session.format.live(), self.env.now()).goes_on()
            };
            let standing = last::standing(false, done, stop, goes_on);
            match self.noted(&session.path, reader.sure(standing)) {
                _ if self.settings.ignores_session(is_in.as_deref().into_iter()) => {}
                Some((standing, Some(mut stop))) => {
                    earlier.any |= stop.messages > 0 || stop.partial;
                    // What was cleared away was in the same directory, and may have been a question in passing.
                    let is_it = stop.messages > 0 && stop.first_cwd.as_deref().is_some_and(|cwd| self.env.cwd == *cwd);
                    let counts = if passing { is_it } else { standing == Standing::Worked };
                    if counts {
                        reader.titles.complete_or_note(&mut stop.basics, &session, self.env);
                        found.push((session, stop));
                    }
                }
                Some((_, None)) => earlier.any = true,
                None => {}
            }
        }
        self.cache.unreadable.borrow_mut().append(&mut reader.titles.bad);
        earlier.sessions.sort_by_key(|(_, last)| std::cmp::Reverse(last.updated));
        earlier
    }

    /// The agent of a session, if it is another than the observer's.
    fn agent<'a>(&self, session: &Session<'a>) -> Option<&'a str> {
        (session.format.name != self.observer.format.name).then(|| session.format.label())
    }

    /// What leads to a session: its name, or as much of its id as it takes.
    fn full_name(&self, session: &Session) -> String {
        full_name(self.agent(session), session.name.as_deref().unwrap_or_else(|| self.short_id(session)))
    }

    /// What a first prompt names of an earlier session, where the start of the session was told without it.
    pub fn recalled(&self, prompt: &str, told: &[News]) -> String {
        let earlier = self.earlier(RECALLED, false);
        let recall = self.recall(prompt, &earlier.sessions, told, &earlier.marks);
        start(&Start { recall, ..Start::default() }, self.env.now(), self.settings.budget, &str::to_owned)
    }

    /// The earlier session that a prompt names: the one that did most to what it names, else the newest. Not one that the
    /// observer hears of anyway.
    fn recall(&self, prompt: &str, earlier: &[(Session, Continuity)], told: &[News], marks: &Marks) -> Option<Recall> {
        // Of a long paste the beginning and the end are enough, and all that there is time for.
        let prompt = &ends_of(prompt);
        let untold = earlier.iter().filter(|(session, _)| !told.iter().any(|news| news.session.path == session.path));
        let found = untold.filter_map(|(session, last)| {
            let (_, tags) = marks.of(&session.id);
            let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
            let (name, weight, time) = named(prompt, last, &tags)?;
            let kind = match name {
                Name::File(_) => 3,
                Name::Function(_) => 2,
                Name::Tag(_) => 1,
                Name::Title(_) => 0,
            };
            Some(((kind, weight, last.updated), name, session, time))
        });
        let (_, name, session, time) = found.max_by_key(|(rank, ..)| *rank)?;
        Some(Recall { name, session: self.full_name(session), time })
    }

    /// All transcripts, the one that was written last first.
    fn by_age(&self, earlier: &mut Earlier<'f>) -> Vec<(Session<'f>, Stamp)> {
        let mut all = Vec::new();
        let mut bad = self.cache.unreadable.borrow_mut();
        match &self.observer.home {
            Some(home) => {
                let named = home.sessions(self.formats, self.env, &mut bad);
                earlier.any |= self.env.is_late();
                let is_lasting = |session: &Session| !session.name.as_deref().is_some_and(Home::is_throw_away);
                for session in named.into_iter().filter(is_lasting) {
                    let meta = Unreadable::noted(file::stat(&session.path), &mut bad);
                    all.extend(meta.map(|meta| (session, Stamp::from(&meta))));
                }
            }
            None => {
                let (mut count, mut late) = (0u32, false);
                let mut ids = Ids::default();
                let is_all = find::each(self.formats, self.env, &mut bad, &mut |file, bad| {
                    ids.add(&file, self.observer);
                    // Asking for the time is cheap, but not for each of thousands.
                    count += 1;
                    late = late || count % 256 == 0 && self.deadline.is_time_to_tell();
                    let stamp = if late { None } else { Unreadable::noted(file.stamp(), bad) };
                    all.extend(stamp.map(|stamp| (file.session(Some(stamp)), stamp)));
                });
                earlier.any |= late || !is_all;
                if is_all {
                    let _ = self.cache.ids.set(ids);
                }
            }
        }
        all.sort_by_key(|(_, stamp)| std::cmp::Reverse(stamp.modified));
        all
    }
}

/// The sessions before this one.
#[derive(Default)]
struct Earlier<'f> {
    sessions: Vec<(Session<'f>, Continuity)>,
    /// There is one at all, whether it matters or not.
    any: bool,
    marks: Marks,
}

fn is_later(last: &Continuity, stamp: Stamp) -> bool {
    last.updated.is_some_and(|updated| updated > stamp.modified_at())
}
