//! The session that a command of `session-context` is about: a named one, the one it runs in, or one that begins now.
//!
//! What such a session sees depends on where it is, so it comes with its own surroundings if it belongs to another project.

use std::io;
use std::path::PathBuf;

use super::{Exit, Stage, none};
use crate::catalog::{self, Resolved};
use crate::env::Env;
use crate::format::Known;
use crate::hook::Observer;
use crate::locate::Session;

/// The session that a command is about: by its name, or the one that the command runs in.
pub struct Subject<'f> {
    pub observer: Observer<'f>,
    /// Nothing says which; a session that begins now.
    pub is_new: bool,
    /// Where it is, if not in this project: what it sees depends on its directory, not on the user's.
    pub elsewhere: Option<Env>,
}

/// Finds that session, or has said why there is none.
pub fn subject<'f>(name: Option<&str>, stage: &mut Stage<'_, 'f>) -> io::Result<Result<Subject<'f>, Exit>> {
    let (env, settings) = (stage.env, stage.settings);
    let Some(name) = name else { return Ok(here(stage).ok_or(Exit::Trouble)) };
    if name == "last" {
        // Who looks may look elsewhere; who changes something means this project.
        let all = catalog::list(env, stage.formats, &mut Vec::new());
        if !all.iter().any(|listed| listed.here) {
            stage.say(none(false, false, all.len(), "`session-reader list --all`"))?;
            return Ok(Err(Exit::Nothing));
        }
    }
    match catalog::resolve(env, stage.formats, name, &mut Vec::new()) {
        Ok(Resolved { session, .. }) => {
            let elsewhere = elsewhere(&session, stage);
            let observer = Observer::of(session, elsewhere.as_ref().unwrap_or(env), settings);
            Ok(Ok(Subject { observer, is_new: false, elsewhere }))
        }
        Err(unresolved) => stage.say_unresolved(name, unresolved).map(Err),
    }
}

/// The session that this runs in, or one that begins now.
fn here<'f>(stage: &Stage<'_, 'f>) -> Option<Subject<'f>> {
    let (env, settings, formats) = (stage.env, stage.settings, stage.formats);
    let told = formats.iter().find_map(|format| Some((format, id_from(format, env)?)));
    let is_new = told.is_none();
    let claude = || formats.iter().find(|format| format.name == "agent-sdk").or(formats.first());
    let (format, id) = told.or_else(|| Some((claude()?, "new".into())))?;
    Some(Subject { observer: Observer::new(format, &id, None, env, settings), is_new, elsewhere: None })
}

/// Where a session is, if it belongs only to another project.
fn elsewhere(session: &Session, stage: &Stage) -> Option<Env> {
    let all = catalog::list(stage.env, stage.formats, &mut Vec::new());
    let listed = all.iter().find(|listed| listed.session.path == session.path && !listed.here)?;
    Some(stage.env.at(PathBuf::from(listed.tally.cwd()?)))
}

/// The id that an agent tells what it runs.
pub fn id_from(format: &Known, env: &Env) -> Option<String> {
    format.hook()?.env.iter().find_map(|name| Some(env.var(name)?.to_string_lossy().into_owned()))
}
