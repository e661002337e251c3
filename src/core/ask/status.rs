//! News for a status line: who needs the user, who works, and which files of this session others edited.
//!
//! It is asked every few seconds, so only transcripts of sessions at work are opened, and those of conflicts are few.

use std::path::PathBuf;

use super::{Answer, Asker};
use crate::session::Session;
use crate::session::conflicts::RecentTouches;
use crate::session::index::{self, Indexed, Listed, Recent, Selection};
use crate::session::live::Presence;
use crate::settings::Scope;
use session_format::time::Time;

/// So many sessions are looked at for conflicts, the newest.
const CONFLICTING: usize = 16;

/// The session that asks, as far as it says.
#[derive(Debug, Default)]
pub struct Own {
    pub id: Option<String>,
    pub transcript: Option<PathBuf>,
}

impl Own {
    fn is(&self, session: &Session) -> bool {
        self.id.as_ref().is_some_and(|id| session.has_id(id))
            || self.transcript.as_deref() == Some(&*session.path)
    }
}

#[derive(Default)]
pub struct Status<'f> {
    /// The other sessions in which something goes on, or may.
    pub others: Vec<Listed<'f>>,
    /// Files that another session edited since this one looked at them, as they are shown, the newest edit first.
    pub conflicts: Vec<String>,
    /// The format of the session that asks, if it is known.
    pub format: Option<&'f str>,
    /// There was no time for all of it.
    pub cut_short: bool,
}

pub fn status<'f>(own: &Own, asker: Asker<'_, 'f>) -> Answer<Status<'f>> {
    let (env, settings, now) = (asker.env, asker.settings, asker.env.now());
    // What goes on elsewhere is of no concern to a session that is ignored; a bar has none.
    let is_session = own.id.is_some() || own.transcript.is_some();
    if is_session && settings.ignores(&env.cwd) {
        return Default::default();
    }
    let window = settings.conflict_window;
    let recent = Some(Recent {
        window,
        wanted: &|session| own.is(session),
    });
    let selection = Selection {
        recent,
        ..Selection::default()
    };
    let Indexed {
        listed: mut sessions,
        cut_short,
        mut bad,
    } = index::select(env, asker.formats, &selection);
    let is_own = |listed: &Listed| own.is(&listed.session);
    let is_meant = |listed: &Listed| {
        let is_ignored = settings.ignores_session(
            listed
                .tally
                .first_cwd()
                .into_iter()
                .chain(listed.tally.cwd()),
        );
        (listed.here || settings.scope == Scope::Machine) && !is_ignored
    };
    // Whoever may have edited a file since this session looked at it, whether or not it is still there.
    let may_conflict = |listed: &&Listed| {
        let is_lately = listed
            .tally
            .updated
            .is_some_and(|updated| now.0 - updated.0 <= window);
        is_own(listed) || is_lately && is_meant(listed)
    };
    let at_work: Vec<&Listed> = sessions
        .iter()
        .filter(may_conflict)
        .take(CONFLICTING)
        .collect();
    let mine = at_work.iter().position(|listed| is_own(listed));
    let conflicts = mine.map(|mine| RecentTouches::new(window).unseen_by(mine, &at_work, env));
    let (conflicts, unreadable) = conflicts.unwrap_or_default();
    bad.extend(unreadable);
    let conflicts = conflicts.iter().map(|path| env.shown(path, None)).collect();
    let format = sessions
        .iter()
        .find(|listed| is_own(listed))
        .map(|own| &*own.session.format.name);
    sessions.retain(|listed| !is_own(listed) && is_meant(listed) && is_lively(listed, now));
    (
        Status {
            others: sessions,
            conflicts,
            format,
            cut_short: cut_short || env.is_late(),
        },
        bad,
    )
}

/// Its agent runs, or something goes on in it or went wrong.
fn is_lively(listed: &Listed, now: Time) -> bool {
    matches!(listed.presence, Presence::Runs(_)) || listed.group(now).is_active()
}
