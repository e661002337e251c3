//! The sessions that were open when the machine or a terminal went down, and the commands that open them again.
//!
//! Whether an agent was killed is known in one place (`session/live.rs`). But an agent whose terminal goes away may end as if it
//! was left: then several end in the same moment, and one of them in the middle of something, which nobody does by hand. A
//! session that its agent left, that somebody has open again or that the user is done with was not open.

use std::path::{Path, PathBuf};

use super::list::sessions;
use super::resume;
use super::{Answer, Asker};
use crate::env::Env;
use crate::fold::Ending;
use crate::session::index::Listed;
use crate::session::live::{AgentReport, Evidence, Presence};
use crate::session::{NO_ID, Project, is_id};
use session_format::format::live::Status;
use session_format::hash::HashSet;
use session_format::path::{destination, shell_word};
use session_format::time::{SECOND, Time};

/// A session that was open.
pub struct Restorable<'f> {
    pub listed: Listed<'f>,
    pub project: String,
    /// What opens it again, or why it cannot be opened.
    pub opening: Result<Opening, String>,
}

/// How a session is opened again: the agent's own command, in the directory that the session began in.
pub struct Opening {
    pub dir: PathBuf,
    /// The program of the first word.
    pub program: PathBuf,
    pub words: Vec<String>,
    pub command: String,
}

impl Opening {
    /// For a shell.
    pub fn line(&self) -> String {
        let dir = shell_word(&self.dir.to_string_lossy());
        format!("cd {dir} && {}", self.command)
    }
}

pub struct Restore<'f> {
    /// The newest first.
    pub sessions: Vec<Restorable<'f>>,
    /// The number of those that were last active before the time that was asked for.
    pub older: usize,
}

pub fn restore<'f>(since: Time, asker: Asker<'_, 'f>) -> Answer<Restore<'f>> {
    let (mut all, bad) = sessions(asker);
    all.retain(|listed| !listed.done);
    let fallen = fallen(&all);
    all.retain(|listed| was_open(listed) || fallen.contains(&listed.session.path.to_path_buf()));
    let found = all.len();
    all.retain(|listed| last_sign(listed) >= Some(since));
    let older = found - all.len();
    let sessions = all
        .into_iter()
        .map(|listed| Restorable {
            project: listed
                .tally
                .cwd()
                .map(|cwd| Project::of(asker.env, Path::new(cwd)).name())
                .unwrap_or_default(),
            opening: opening(&listed, asker.env),
            listed,
        })
        .collect();
    (Restore { sessions, older }, bad)
}

fn report<'l>(listed: &'l Listed) -> Option<&'l AgentReport> {
    if let Presence::Killed(report) = &listed.presence {
        Some(report)
    } else {
        None
    }
}

/// Its agent was killed while it had the session open.
fn was_open(listed: &Listed) -> bool {
    let Some(report) = report(listed) else {
        return false;
    };
    let tells_end = || {
        let hook = listed.session.format.live().hook.as_ref();
        hook.is_some_and(|hook| hook.events.values().any(|status| *status == Status::Ended))
    };
    match (report.by, report.status) {
        (_, Some(Status::Ended)) => false,
        // Where no hook tells that an agent was left, one at rest may have been.
        (Evidence::Hook, None | Some(Status::Ready | Status::Background)) => tells_end(),
        _ => true,
    }
}

/// The sessions that ended together: their transcripts were last written in the same moment, and no agent has them now. One of
/// them was at work or had asked something; where all had answered, they may just have been through.
fn fallen(all: &[Listed]) -> HashSet<PathBuf> {
    /// In milliseconds from one to the next.
    const TOGETHER: i64 = 2 * SECOND;
    /// More are files that somebody copied.
    const MOST: usize = 64;
    let ended = all
        .iter()
        .filter(|listed| listed.presence == Presence::Closed);
    let mut ended: Vec<(Time, &Listed)> = ended
        .filter_map(|listed| Some((listed.session.stamp?.modified_at(), listed)))
        .collect();
    ended.sort_by_key(|(time, _)| *time);
    let groups = ended.chunk_by(|(one, _), (next, _)| next.0 - one.0 <= TOGETHER);
    let at_work = |listed: &Listed| matches!(listed.tally.ending, Ending::Working | Ending::Asked);
    groups
        .filter(|group| (2..=MOST).contains(&group.len()))
        .filter(|group| group.iter().any(|(_, listed)| at_work(listed)))
        .flatten()
        .map(|(_, listed)| listed.session.path.to_path_buf())
        .collect()
}

/// When the session or its agent last gave a sign of life.
fn last_sign(listed: &Listed) -> Option<Time> {
    listed
        .tally
        .updated
        .max(report(listed).and_then(|report| report.since))
}

fn opening(listed: &Listed, env: &Env) -> Result<Opening, String> {
    let session = &listed.session;
    let id = Some(&*session.id);
    if !is_id(&session.id) {
        return Err(format!("the id {NO_ID}"));
    }
    let (Some(words), Some(command)) = (resume::words(session, id)?, resume::command(session, id)?)
    else {
        return Err(format!(
            "{} has no command that resumes a session",
            session.format.label()
        ));
    };
    let dir = listed.tally.first_cwd().and_then(destination);
    let Some(dir) = dir.map(Path::to_path_buf) else {
        return Err("nobody knows in which directory it was".into());
    };
    if !dir.is_dir() {
        return Err(format!("its directory is gone: {}", env.tilde(&dir)));
    }
    let Some(program) = env.installed(&words[0]) else {
        return Err(format!("{} is not installed", words[0]));
    };
    Ok(Opening {
        dir,
        program,
        words,
        command,
    })
}
