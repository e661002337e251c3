//! At the start of a session: what the user pinned, and where the last session of the project stopped; with a first prompt, also
//! the earlier session that it names.
//!
//! Only the ends of transcripts are read, the newest first, and no more of them once the deadline is over. Which session is
//! the last one is a rule of `session::last`.

use std::cell::OnceCell;
use std::io;
use std::path::Path;

use super::ask::Source;
use super::compare::News;
use super::context::Context;
use super::ids::{Ids, ShortIds};
use super::own;
use super::reader::Reader;
use session_core::file::{self, Stamp, Unreadable};
use session_core::fold::Continuity;
use session_core::fold::names::{Name, named};
use session_core::fold::text::ends_of;
use session_core::session::last::{self, Standing};
use session_core::session::live::Agents;
use session_core::session::state::Situation;
use session_core::session::{Home, Session, find, stopped};
use session_core::show::start::{self, Past, Recall, full_name};
use session_core::state::notes::{Kind, Marks, Notes};

/// A first prompt is compared with so many sessions.
const RECALLED: usize = 12;

/// A session that begins: how, with which prompt, and of which sessions it hears anyway.
pub struct Beginning<'b, 'f> {
    /// With the notes of the project. None at the first prompt of an agent that has an event for the start: there only what the
    /// prompt names is told.
    pub start: Option<(Source, &'b Notes)>,
    pub prompt: &'b str,
    pub told: &'b [News<'f>],
    /// The ids of all sessions, if they are known.
    pub ids: Option<&'b Ids>,
}

/// The text for a session that begins, if there is any.
pub struct Begun {
    pub text: String,
    pub bad: Vec<Unreadable>,
}

impl<'f> Beginning<'_, 'f> {
    /// All that is told at the start, or what a first prompt names.
    pub fn say(&self, context: &Context<'_, 'f>) -> Begun {
        let mut bad = Vec::new();
        let text = match self.start {
            Some((source, notes)) => self.start(source, notes, context, &mut bad),
            None => self.recalled(context, &mut bad),
        };
        Begun { text, bad }
    }

    fn start(
        &self,
        source: Source,
        notes: &Notes,
        context: &Context<'_, 'f>,
        bad: &mut Vec<Unreadable>,
    ) -> String {
        let now = context.env.now();
        let compacted = source == Source::Compacted;
        let cleared = source == Source::Cleared;
        let own = if compacted || cleared {
            self.own_continuity(context, bad)
        } else {
            None
        };
        // After a `/clear` the session may be another, with a transcript of its own.
        let own = own.filter(|own| compacted || own.messages > 0);
        let count = if self.prompt.is_empty() { 1 } else { RECALLED };
        let earlier = if compacted {
            Earlier::default()
        } else {
            Earlier::find(count, cleared, context, bad)
        };
        let names = earlier.names(self.ids, context, bad);
        // The newest is told in full.
        let others = earlier.sessions.get(1..).unwrap_or_default();
        let recall = self.recall(others, &earlier.marks, &names);
        let newest = earlier.sessions.first();
        let situation = newest
            .filter(|_| !cleared && own.is_none())
            .map(|(session, last)| {
                let in_time = !context.deadline.is_over();
                let agents = in_time
                    .then(|| Agents::look_until(context.env, context.formats, context.deadline));
                Situation::of(
                    session,
                    last,
                    earlier.marks.of(&session.id).0,
                    agents.as_ref(),
                )
            });
        let past = match (&own, newest) {
            (Some(own), _) => Past::Own(own),
            (None, Some((session, last))) => match &situation {
                Some(situation) => Past::Last(
                    names.of(session),
                    last,
                    situation.state(session.format.live(), now),
                ),
                None => Past::Cleared(names.of(session), last),
            },
            (None, None) if earlier.any || compacted || cleared => Past::Old,
            (None, None) => Past::None,
        };
        let cwd = match &past {
            Past::Last(_, last, _) | Past::Cleared(_, last) | Past::Own(last) => {
                last.first_cwd.clone()
            }
            _ => None,
        };
        let shown = |path: &str| context.env.shown_from(cwd.as_deref(), path);
        let pins = notes.pins(now);
        let pins = pins.iter().map(|pin| pin.text.as_str()).collect();
        let noted = notes
            .notes(Kind::Decision, now)
            .map(|note| note.text.as_str())
            .collect();
        start::start(
            &start::Start {
                pins,
                noted,
                past,
                recall,
            },
            now,
            context.settings.budget,
            &shown,
        )
    }

    /// The place the observer itself stopped at.
    fn own_continuity(
        &self,
        context: &Context<'_, 'f>,
        bad: &mut Vec<Unreadable>,
    ) -> Option<Continuity> {
        let listed =
            (self.ids.is_none() && !own::has_transcript(context)).then(|| Ids::list(context, bad));
        let own = own::session(self.ids.or(listed.as_ref()), context, bad)?;
        noted(
            &own.path,
            stopped::stopped(&own, &context.deadline.for_writing(), None),
            bad,
        )
    }

    /// The earlier session that a first prompt names, where the start of the session was told without it.
    fn recalled(&self, context: &Context<'_, 'f>, bad: &mut Vec<Unreadable>) -> String {
        let earlier = Earlier::find(RECALLED, false, context, bad);
        let names = earlier.names(self.ids, context, bad);
        let recall = self.recall(&earlier.sessions, &earlier.marks, &names);
        let start = start::Start {
            recall,
            ..start::Start::default()
        };
        start::start(
            &start,
            context.env.now(),
            context.settings.budget,
            &str::to_owned,
        )
    }

    /// The earlier session that a prompt names: the one that did most to what it names, else the newest. Not one that the
    /// observer hears of anyway.
    fn recall(
        &self,
        earlier: &[(Session<'f>, Continuity)],
        marks: &Marks,
        names: &FullNames,
    ) -> Option<Recall> {
        // Of a long paste the beginning and the end are enough, and all that there is time for.
        let prompt = &ends_of(self.prompt);
        let is_told = |session: &Session| {
            self.told
                .iter()
                .any(|news| news.session.path == session.path)
        };
        let found = earlier
            .iter()
            .filter(|(session, _)| !is_told(session))
            .filter_map(|(session, last)| {
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
        Some(Recall {
            name,
            session: names.of(session),
            time,
        })
    }
}

/// The content of a file; if it cannot be read, that is noted.
fn noted<T>(path: &Path, read: io::Result<T>, bad: &mut Vec<Unreadable>) -> Option<T> {
    Unreadable::noted(
        read.map(Some).map_err(|error| Unreadable::new(path, error)),
        bad,
    )
}

/// Names that lead to a session: its name, or as much of its id as it takes; with its agent, if that is another one.
struct FullNames<'n> {
    agent: &'n str,
    ids: ShortIds,
}

impl FullNames<'_> {
    fn of(&self, session: &Session) -> String {
        let agent = (session.format.name != self.agent).then(|| session.format.label());
        full_name(
            agent,
            session
                .name
                .as_deref()
                .unwrap_or_else(|| self.ids.short(&session.id)),
        )
    }
}

/// The sessions before this one.
#[derive(Default)]
struct Earlier<'f> {
    sessions: Vec<(Session<'f>, Continuity)>,
    /// There is one at all, whether it matters or not.
    any: bool,
    marks: Marks,
    /// The ids of all sessions, if all were found.
    ids: Option<Ids>,
}

impl<'f> Earlier<'f> {
    /// The sessions that were at work last, the newest first; not those that are done, nor, as a rule, what was asked in
    /// passing.
    fn find(
        count: usize,
        passing: bool,
        context: &Context<'_, 'f>,
        bad: &mut Vec<Unreadable>,
    ) -> Earlier<'f> {
        let mut reader = Reader::new(context);
        let mut earlier = Earlier {
            marks: Marks::read(context.env, bad),
            ..Earlier::default()
        };
        let agents = OnceCell::new();
        let mut tries = 0;
        for (session, stamp) in earlier.by_age(context, bad) {
            // Whatever is older by its stamp cannot have been at work later.
            let found = &mut earlier.sessions;
            let enough =
                found.len() >= count && found.iter().all(|(_, last)| is_later(last, stamp));
            if enough || tries == last::TRIES {
                break;
            }
            if context.deadline.is_over() {
                // Not everything was looked at, so there may be one.
                earlier.any = true;
                break;
            }
            // What was cleared away was a session of the same agent.
            let other = passing && session.format.name != context.observer.format.name;
            if context.observer.is(&session) || other {
                continue;
            }
            let whereabouts = reader.whereabouts(&session);
            let Some(Some(began_here)) = noted(&session.path, whereabouts, bad) else {
                continue;
            };
            let mut is_in = None;
            let stop = || {
                tries += 1;
                let stop;
                (stop, is_in) = reader.stopped(&session, began_here)?;
                Ok(stop)
            };
            let done = earlier.marks.of(&session.id).0;
            let goes_on = |stop: &Continuity| {
                let agents = agents.get_or_init(|| {
                    Agents::look_until(context.env, context.formats, context.deadline)
                });
                let situation = Situation::of(&session, stop, done, Some(agents));
                situation
                    .state(session.format.live(), context.env.now())
                    .goes_on()
            };
            let standing = last::standing(false, done, stop, goes_on);
            match noted(&session.path, reader.certain(()).and(standing), bad) {
                _ if context
                    .settings
                    .ignores_session(is_in.as_deref().into_iter()) => {}
                Some((standing, Some(mut stop))) => {
                    earlier.any |= stop.messages > 0 || stop.partial;
                    // What was cleared away was in the same directory, and may have been a question in passing.
                    let is_it = stop.messages > 0
                        && stop
                            .first_cwd
                            .as_deref()
                            .is_some_and(|cwd| context.env.cwd == *cwd);
                    let counts = if passing {
                        is_it
                    } else {
                        standing == Standing::Worked
                    };
                    if counts {
                        reader
                            .titles
                            .complete_or_note(&mut stop.basics, &session, context.env);
                        found.push((session, stop));
                    }
                }
                Some((_, None)) => earlier.any = true,
                None => {}
            }
        }
        bad.append(&mut reader.titles.bad);
        earlier
            .sessions
            .sort_by_key(|(_, last)| std::cmp::Reverse(last.updated));
        earlier
    }

    /// All transcripts, the one that was written last first.
    fn by_age(
        &mut self,
        context: &Context<'_, 'f>,
        bad: &mut Vec<Unreadable>,
    ) -> Vec<(Session<'f>, Stamp)> {
        let mut all = Vec::new();
        if let Some(home) = &context.observer.home {
            let named = home.sessions(context.formats, context.env, bad);
            self.any |= context.env.is_late();
            let is_lasting =
                |session: &Session| !session.name.as_deref().is_some_and(Home::is_throw_away);
            for session in named.into_iter().filter(is_lasting) {
                let stamp = Unreadable::noted(file::stamp(&session.path), bad);
                all.extend(stamp.map(|stamp| (session, stamp)));
            }
        } else {
            let (mut count, mut late) = (0u32, false);
            let mut ids = Ids::default();
            let is_all = find::each(context.formats, context.env, bad, &mut |file, bad| {
                ids.add(&file, context.observer);
                // Asking for the time is cheap, but not for each of thousands.
                count += 1;
                late = late || count % 256 == 0 && context.deadline.is_time_to_tell();
                let stamp = if late {
                    None
                } else {
                    Unreadable::noted(file.stamp(), bad)
                };
                all.extend(stamp.map(|stamp| (file.session(Some(stamp)), stamp)));
            });
            self.any |= late || !is_all;
            self.ids = is_all.then_some(ids);
        }
        all.sort_by_key(|(_, stamp)| std::cmp::Reverse(stamp.modified));
        all
    }

    /// Names for its sessions.
    fn names<'n>(
        &self,
        known: Option<&Ids>,
        context: &Context<'n, '_>,
        bad: &mut Vec<Unreadable>,
    ) -> FullNames<'n> {
        let agent = &*context.observer.format.name;
        if self
            .sessions
            .iter()
            .all(|(session, _)| session.name.is_some())
        {
            return FullNames {
                agent,
                ids: ShortIds::default(),
            };
        }
        let known = known.or(self.ids.as_ref());
        let listed = known.is_none().then(|| Ids::list(context, bad));
        FullNames {
            agent,
            ids: known
                .or(listed.as_ref())
                .map(Ids::shortener)
                .unwrap_or_default(),
        }
    }
}

fn is_later(last: &Continuity, stamp: Stamp) -> bool {
    last.updated
        .is_some_and(|updated| updated > stamp.modified_at())
}
