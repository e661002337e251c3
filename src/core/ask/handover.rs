//! What another agent must know to go on with a session, and how that agent is started.

use std::path::PathBuf;

use super::resume::{Stop, stop};
use super::uncommitted::Uncommitted;
use super::{Answer, Asker};
use crate::env::Env;
use crate::file::Unreadable;
use crate::formats::AgentFormat;
use crate::session::choose::Resolved;
use crate::session::index;
use session_format::path::destination;

/// Where a session stopped, and what is beside it.
pub struct Handover<'f> {
    pub stop: Stop<'f>,
    /// What the user types to name it.
    pub handle: String,
    /// The directory that the work is in.
    pub dir: Option<PathBuf>,
    /// What is not committed there; none if nobody can tell.
    pub uncommitted: Option<Uncommitted>,
}

pub fn handover<'f>(
    found: Resolved<'f>,
    asker: Asker<'_, 'f>,
) -> Result<Answer<Handover<'f>>, Unreadable> {
    let (stop, bad) = stop(found, asker)?;
    let handle = index::handle(&stop.session, asker.env, asker.formats);
    let dir = stop.continuity.first_cwd.as_deref().and_then(destination);
    let dir = dir.map(PathBuf::from);
    let uncommitted = dir
        .as_deref()
        .and_then(|dir| Uncommitted::of(dir, asker.env));
    let handover = Handover {
        stop,
        handle,
        dir,
        uncommitted,
    };
    Ok((handover, bad))
}

/// The agents that can be started with a first prompt and are there to be started.
pub fn startable<'f>(env: &Env, formats: &'f [AgentFormat]) -> Vec<&'f AgentFormat> {
    let is_there = |format: &&AgentFormat| {
        let words = format.start("");
        words.is_some_and(|words| env.installed(&words[0]).is_some())
    };
    formats.iter().filter(is_there).collect()
}
