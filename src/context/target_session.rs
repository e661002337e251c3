//! The session that a command of `session-context` is about: a named one, the one it runs in, or one that begins now.
//!
//! What a session sees depends on its directory, so a session of another project comes with its own environment.

use std::path::PathBuf;

use super::{Problem, Stage, none};
use crate::hook::Observer;
use session_core::env::Env;
use session_core::session::choose::Resolved;
use session_core::session::ids;
use session_core::session::last::{self, Last, Standing};
use session_format::time::Time;

pub struct TargetSession<'f> {
    pub observer: Observer<'f>,
    /// The user named none and the command runs in none: a session that begins now.
    pub is_new: bool,
    /// Its environment, if it belongs to another project.
    pub elsewhere: Option<Env>,
}

impl<'f> TargetSession<'f> {
    pub fn find(
        name: Option<&str>,
        stage: &mut Stage<'_, 'f>,
    ) -> Result<TargetSession<'f>, Problem> {
        let session = match name {
            None => {
                return TargetSession::here(stage)
                    .ok_or(Problem::Trouble("no format is known".into()));
            }
            Some("last") => last_here(stage)?.listed.session,
            Some(name) => stage.resolve(name)?.session,
        };
        let all = stage.sessions();
        let elsewhere = all
            .iter()
            .find(|listed| listed.session.path == session.path && !listed.here);
        let elsewhere =
            elsewhere.and_then(|listed| Some(stage.env.at(PathBuf::from(listed.tally.cwd()?))));
        let observer = Observer::of(
            session,
            elsewhere.as_ref().unwrap_or(stage.env),
            stage.settings,
        );
        stage.say_unreadable(&observer.bad);
        Ok(TargetSession {
            observer,
            is_new: false,
            elsewhere,
        })
    }

    /// The session that this runs in, or one that begins now.
    fn here(stage: &Stage<'_, 'f>) -> Option<TargetSession<'f>> {
        let (env, formats) = (stage.env, stage.formats);
        let asking = formats
            .iter()
            .find_map(|format| Some((format, ids::asking(format, env)?)));
        let is_new = asking.is_none();
        let claude = || {
            formats
                .iter()
                .find(|format| format.name == "agent-sdk")
                .or(formats.first())
        };
        let (format, id) = asking.or_else(|| Some((claude()?, "new".into())))?;
        let observer = Observer::new(format, &id, None, env, stage.settings);
        Some(TargetSession {
            observer,
            is_new,
            elsewhere: None,
        })
    }

    /// The stage, in the environment of this session.
    pub fn stage<'t>(&'t self, stage: &'t mut Stage<'_, 'f>) -> Stage<'t, 'f> {
        let env = self.elsewhere.as_ref().unwrap_or(stage.env);
        stage.at(env)
    }

    /// Fails if no session was named and the command runs in none. `usage` is the command line that names one.
    pub(crate) fn must_exist(&self, usage: &str) -> Result<(), Problem> {
        if self.is_new {
            let hint = format!("Run this inside one, or name it: session-context {usage}");
            return Problem::trouble(format!("which session? {hint}"));
        }
        Ok(())
    }
}

/// The last session of this project, or the message that there is none.
pub(crate) fn last_here<'f>(stage: &mut Stage<'_, 'f>) -> Result<Last<'f>, Problem> {
    let last = stage.heard(stage.ask().look(last::last));
    let elsewhere = last.as_ref().map_or(0, |last| last.elsewhere);
    let here = last.filter(|last| last.standing != Standing::Elsewhere);
    here.ok_or_else(|| {
        Problem::Nothing(none(false, false, elsewhere, "`session-reader list --all`"))
    })
}

/// The last session of this project, if it is still open and stopped in that time; or why not.
pub fn last_open<'f>(
    stage: &mut Stage<'_, 'f>,
    since: Option<Time>,
) -> Result<Resolved<'f>, Problem> {
    let Last {
        listed, standing, ..
    } = last_here(stage)?;
    let updated = listed.tally.updated;
    if since.is_some_and(|since| updated.is_none_or(|updated| updated < since)) {
        let when = updated.map_or("at no known time".into(), |updated| {
            updated.age(stage.env.now()) + " ago"
        });
        let hint = format!(
            "{} stopped {when}, and --since looks further back",
            listed.handle()
        );
        return Problem::nothing(format!(
            "no session of this project stopped in that time; {hint}"
        ));
    }
    if standing == Standing::Done {
        let hint = "`session-context done NAME --undo` takes that back, and `session-reader resume NAME` shows one";
        return Problem::nothing(format!(
            "all sessions of this project in that time are done; {hint}"
        ));
    }
    Ok(listed.session.into())
}
