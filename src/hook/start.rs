//! At the start of a session: what the user pinned, and where the last session of the project stopped.

use super::ask::Source;
use super::survey::{News, Surveyor};
use crate::digest::Continuity;
use crate::digest::names::{Name, named};
use crate::digest::text::ends_of;
use crate::locate::{self, Home, Session, Stamp, Unreadable};
use crate::render::start::{Past, Recall, Start, full_name, start};
use crate::state::notes::{Kind, Notes};
use crate::transcript;

/// How many files are opened, at the most, to find the last session.
const TRIES: usize = 60;
/// How many sessions a first prompt is compared with.
const RECALLED: usize = 12;

impl<'s, 'f> Surveyor<'s, 'f> {
    /// What a session that begins is told, if there is anything. It begins with a prompt where the agent has no event for
    /// its start; `told` are the sessions that it hears of anyway.
    pub fn start(&self, source: Source, prompt: &str, told: &[News], notes: &Notes) -> Begun {
        let now = self.env.now();
        let pins = notes.pins(now);
        let pins = pins.iter().map(|pin| pin.text.as_str()).collect();
        let compacted = source == Source::Compacted;
        let cleared = source == Source::Cleared;
        let own = (compacted || cleared).then(|| self.own_continuity()).flatten();
        // After a `/clear` the session may be another, with a transcript of its own.
        let own = own.filter(|own| compacted || own.messages > 0);
        let count = if prompt.is_empty() { 1 } else { RECALLED };
        let earlier = if compacted { Earlier::default() } else { self.earlier(count, cleared, notes) };
        // The newest is told in full.
        let others = earlier.sessions.get(1..).unwrap_or_default();
        let recall = self.recall(prompt, others, told, notes);
        let past = match (&own, earlier.sessions.first()) {
            (Some(own), _) => Past::Own(own),
            (None, Some((session, last))) if cleared => Past::Cleared(self.full_name(session), last),
            (None, Some((session, last))) => Past::Last(self.full_name(session), last),
            (None, None) if earlier.any || compacted || cleared => Past::Old,
            (None, None) => Past::None,
        };
        let cwd = match &past {
            Past::Last(_, last) | Past::Cleared(_, last) | Past::Own(last) => last.cwd.clone(),
            _ => None,
        };
        let shown = |path: &str| self.env.shown_from(cwd.as_deref(), path);
        let noted = notes.notes(Kind::Decision, now).map(|note| note.text.as_str()).collect();
        Begun { text: start(&Start { pins, noted, past, recall }, now, self.settings.budget, &shown), bad: earlier.bad }
    }

    /// The end of the observer's own transcript.
    fn own_continuity(&self) -> Option<Continuity> {
        let there = self.observer.transcript.clone().filter(|path| path.is_file());
        let path = there.or_else(|| self.find(&self.observer.id))?;
        let session = Session {
            id: self.observer.id.clone(),
            name: None,
            format: self.observer.format,
            root: None,
            path,
            stamp: None,
        };
        transcript::stopped(&session, self.env.now(), self.deadline, None).ok()
    }

    /// The sessions that were at work last, the newest first; not those that are done, nor, as a rule, what was asked in
    /// passing.
    fn earlier(&self, count: usize, passing: bool, notes: &Notes) -> Earlier<'f> {
        let mut reader = self.reader();
        let mut earlier = Earlier::default();
        let mut tries = 0;
        for (session, stamp) in self.by_age(&mut earlier.bad) {
            // Whatever is older by its stamp cannot have been at work later.
            let found = &mut earlier.sessions;
            let enough = found.len() >= count && found.iter().all(|(_, last)| is_later(last, stamp));
            if enough || tries == TRIES {
                break;
            }
            if self.deadline.is_over() {
                // Who has not looked everywhere cannot say that there is none.
                earlier.any = true;
                break;
            }
            // What was cleared away was a session of the same agent.
            let other = passing && session.format.name != self.observer.format.name;
            if self.observer.is(&session) || other {
                continue;
            }
            let began_here = match reader.whereabouts(&session, session.name.is_some()) {
                Ok(Some(began_here)) => began_here,
                Ok(None) => continue,
                Err(error) => {
                    earlier.bad.push(Unreadable { path: session.path, error });
                    continue;
                }
            };
            if notes.is_done(&session.id) {
                earlier.any = true;
                continue;
            }
            tries += 1;
            let mut is_here = |cwd: &str| reader.is_here(cwd);
            let only = if began_here { None } else { Some(&mut is_here as &mut dyn FnMut(&str) -> bool) };
            match transcript::stopped(&session, self.env.now(), self.deadline, only) {
                Ok(mut last) => {
                    earlier.any |= last.messages > 0 || last.partial;
                    // What was cleared away was in the same directory, and may have been a question in passing.
                    let is_it = last.cwd.as_deref().is_some_and(|cwd| self.env.cwd == *cwd);
                    let counts = last.messages > 0 && if passing { is_it } else { !last.is_one_shot() };
                    if counts {
                        last.person_title = locate::indexed_title(&session, self.env).or(last.person_title);
                        found.push((session, last));
                    }
                }
                Err(error) => earlier.bad.push(Unreadable { path: session.path, error }),
            }
        }
        earlier.sessions.sort_by_key(|(_, last)| std::cmp::Reverse(last.updated));
        earlier
    }

    /// The agent of a session, if it is another than the observer's.
    fn agent<'a>(&self, session: &Session<'a>) -> Option<&'a str> {
        (session.format.name != self.observer.format.name).then(|| session.format.label())
    }

    /// What leads to a session: its name, or as much of its id as it takes.
    fn full_name(&self, session: &Session) -> String {
        let short = || locate::short_id(&session.id, self.shared_start(session));
        full_name(self.agent(session), session.name.as_deref().unwrap_or_else(short))
    }

    /// What a first prompt names of an earlier session, where the start of the session was told without it.
    pub fn recalled(&self, prompt: &str, told: &[News], notes: &Notes) -> Begun {
        let earlier = self.earlier(RECALLED, false, notes);
        let recall = self.recall(prompt, &earlier.sessions, told, notes);
        let text = start(&Start { recall, ..Start::default() }, self.env.now(), self.settings.budget, &str::to_owned);
        Begun { text, bad: earlier.bad }
    }

    /// The earlier session that a prompt names: the one that did most to what it names, else the newest. Not one that the
    /// observer hears of anyway.
    fn recall(&self, prompt: &str, earlier: &[(Session, Continuity)], told: &[News], notes: &Notes) -> Option<Recall> {
        // Of a long paste the beginning and the end are enough, and all that there is time for.
        let prompt = &ends_of(prompt);
        let untold = earlier.iter().filter(|(session, _)| !told.iter().any(|news| news.session.path == session.path));
        let found = untold.filter_map(|(session, last)| {
            let (name, weight, time) = named(prompt, last, &notes.tags(&session.id))?;
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
    fn by_age(&self, bad: &mut Vec<Unreadable>) -> Vec<(Session<'f>, Stamp)> {
        let mut all = Vec::new();
        match &self.observer.home {
            Some(home) => {
                for name in home.names().iter().filter(|name| !Home::is_throw_away(name)) {
                    let session = home.session(name, self.formats, self.env);
                    let stamp = session.as_ref().and_then(|session| std::fs::metadata(&session.path).ok());
                    all.extend(session.zip(stamp).map(|(session, meta)| (session, Stamp::from(&meta))));
                }
            }
            None => locate::each(self.formats, self.env, bad, &mut |file| {
                if let Some(stamp) = file.stamp() {
                    all.push((file.session(Some(stamp)), stamp));
                }
            }),
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
    bad: Vec<Unreadable>,
}

/// What a session that begins is told, and what could not be read for it.
pub struct Begun {
    pub text: String,
    pub bad: Vec<Unreadable>,
}

fn is_later(last: &Continuity, stamp: Stamp) -> bool {
    last.updated.is_some_and(|updated| updated.0 > stamp.modified / 1_000_000)
}
