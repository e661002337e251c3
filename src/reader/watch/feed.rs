//! The sessions as rows of the screen, made anew whenever something may be different.
//!
//! It runs in a thread of its own and sends a [`Snapshot`] only if that differs from the last one, so that nothing is drawn
//! that is on the screen already. Times are told in minutes, so they are made anew once a minute.

use std::path::{Path, PathBuf};

use super::model::ConflictText;
use crate::monitor::Monitor;
use crate::watch::view::{Section, WatchRow, about, tags, time_in};
use session_core::ask::Answer;
use session_core::ask::pending::pending;
use session_core::env::Env;
use session_core::session::conflicts::RecentTouches;
use session_core::session::index::Listed;
use session_core::session::live::Presence;
use session_core::session::place::place;
use session_core::session::state::{Group, Reason};
use session_core::session::{Project, State, StateKind};
use session_core::show::call;
use session_core::show::gate::Gate;
use session_core::show::list::with_origin;
use session_format::hash::HashMap;
use session_format::time::{MINUTE, Time};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snapshot {
    pub rows: Vec<WatchRow>,
    pub conflicts: Vec<ConflictText>,
    /// Files that cannot be read.
    pub bad: Vec<String>,
}

/// Makes rows of sessions.
pub struct Rows<'e> {
    env: &'e Env,
    gate: Gate,
    projects: HashMap<String, String>,
    recent: RecentTouches,
    /// The agents that a session at its limit can be continued in: their formats and what they are called.
    pub others: Vec<(String, String)>,
}

impl<'e> Rows<'e> {
    pub fn new(env: &'e Env, gate: Gate, conflict_window: i64) -> Rows<'e> {
        Rows {
            env,
            gate,
            projects: HashMap::default(),
            recent: RecentTouches::new(conflict_window),
            others: Vec::new(),
        }
    }

    pub fn row(&mut self, listed: &Listed, now: Time) -> WatchRow {
        let (gate, env) = (self.gate, self.env);
        let state = listed.state(now);
        let State { kind, since, .. } = state;
        let group = Group::of(&state, &listed.presence, now);
        let cwd = listed.tally.cwd();
        let project = cwd.map(|cwd| match self.projects.get(cwd) {
            Some(name) => name.clone(),
            None => {
                let name = gate
                    .line(Project::of(env, Path::new(cwd)).name())
                    .into_owned();
                self.projects.insert(cwd.to_owned(), name.clone());
                name
            }
        });
        let shown = |path: &str| env.shown_from(listed.tally.first_cwd(), path);
        let pending = pending(&listed.session, &state);
        let waits_for = pending.map_or_else(Vec::new, |pending| {
            call::lines(&pending.call, call::HEAD, gate, &shown)
        });
        let (name, title) = listed.name_and_title();
        WatchRow {
            path: listed.session.path.to_path_buf(),
            id: listed.session.id.to_string(),
            handle: gate.line(listed.handle()).into_owned(),
            name: gate.line(name).into_owned(),
            format: listed.session.format.name.clone(),
            agent: gate.line(listed.session.format.label()).into_owned(),
            project: project.unwrap_or_default(),
            cwd: listed.tally.first_cwd().or(cwd).map(PathBuf::from),
            place: cwd
                .map(|cwd| gate.line(env.tilde(Path::new(cwd))).into_owned())
                .unwrap_or_default(),
            kind,
            group,
            section: Section::of(group, since, now),
            // The end of a transcript moves with every line, and nothing on the screen depends on it.
            since: since.filter(|_| kind != StateKind::Working),
            started: listed.tally.started,
            time: time_in(&state, now),
            about: gate.line(self.offer(listed, &state, now)).into_owned(),
            title: gate
                .line(with_origin(listed, title.unwrap_or_default()))
                .into_owned(),
            tags: gate.line(tags(listed, kind)).into_owned(),
            done: listed.done,
            here: listed.here,
            is_open: matches!(listed.presence, Presence::Runs(_)),
            runs_in: place(&listed.presence),
            context_used: listed.tally.context_used,
            waits_for,
            conflicts: false,
            at: None,
            is_subagent: false,
        }
    }

    /// What it is about, with the key that goes on in another agent where this one has reached a limit.
    fn offer(&self, listed: &Listed, state: &State, now: Time) -> String {
        let about = about(state, listed.tally.updated, now);
        let own = &listed.session.format.name;
        let mut others = self.others.iter().filter(|(format, _)| format != own);
        match (state.reason, others.next()) {
            (Some(Reason::Trouble { limit: true, .. }), Some((_, agent))) => {
                format!("{about}; c continues in {agent}")
            }
            _ => about,
        }
    }

    pub fn all(&mut self, sessions: &[Listed], now: Time) -> Vec<WatchRow> {
        sessions
            .iter()
            .map(|listed| self.row(listed, now))
            .collect()
    }

    /// Marks the rows of sessions that are in conflict, and says over which files.
    pub fn conflicts(
        &mut self,
        sessions: &[Listed],
        rows: &mut [WatchRow],
        now: Time,
    ) -> Answer<Vec<ConflictText>> {
        let is_lately = |listed: &Listed| listed.is_recent(now);
        let in_use = sessions.iter().zip(&*rows).enumerate();
        let in_use = in_use.filter(|(_, (listed, row))| row.group.is_active() && is_lately(listed));
        let (numbers, in_use): (Vec<usize>, Vec<&Listed>) =
            in_use.map(|(number, (listed, _))| (number, listed)).unzip();
        let (contested, bad) = self.recent.contested(&in_use, self.env);
        let mut texts = Vec::new();
        for conflict in contested {
            let numbers: Vec<usize> = conflict
                .sessions
                .iter()
                .map(|index| numbers[*index])
                .collect();
            let names: Vec<&str> = numbers.iter().map(|number| &*rows[*number].name).collect();
            let cwd = sessions[numbers[0]].tally.first_cwd();
            let path = self
                .gate
                .line(self.env.shown(&conflict.path, cwd))
                .into_owned();
            let text = format!("{path}: {}", names.join(", "));
            texts.push(ConflictText {
                text,
                here: numbers.iter().any(|number| rows[*number].here),
            });
            numbers
                .iter()
                .for_each(|number| rows[*number].conflicts = true);
        }
        (texts, bad)
    }
}

/// Sends snapshots for as long as `goes_on` says so, which also tells whether to look at once. `send` is called with none
/// where a file may have changed and all rows are as they were.
pub fn run(
    gate: Gate,
    conflict_window: i64,
    others: Vec<(String, String)>,
    monitor: Monitor,
    quiet: &Env,
    mut goes_on: impl FnMut() -> Option<bool>,
    mut send: impl FnMut(Option<Snapshot>),
) {
    let mut monitor = monitor.quietly(quiet);
    let mut rows = Rows::new(quiet, gate, conflict_window);
    rows.others = others;
    let mut last = Snapshot::default();
    // The first frame does not wait for conflicts.
    let now = quiet.now();
    let first = Snapshot {
        rows: rows.all(monitor.sessions(), now),
        ..Snapshot::default()
    };
    send(Some(first));
    let (mut minute, mut is_different) = (now.0 / MINUTE, true);
    while let Some(looks_now) = goes_on() {
        if looks_now {
            monitor.look_at_all();
        }
        let now = quiet.now();
        if is_different || looks_now || now.0 / MINUTE != minute {
            minute = now.0 / MINUTE;
            let mut all = rows.all(monitor.sessions(), now);
            let (conflicts, bad) = rows.conflicts(monitor.sessions(), &mut all, now);
            let bad = monitor
                .bad
                .iter()
                .chain(&bad)
                .map(|bad| gate.line(bad.to_string()).into_owned())
                .collect();
            let snapshot = Snapshot {
                rows: all,
                conflicts,
                bad,
            };
            if snapshot == last {
                send(None);
            } else {
                send(Some(snapshot.clone()));
                last = snapshot;
            }
        }
        is_different = monitor.wait();
    }
}
