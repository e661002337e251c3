//! The point at which a session stopped, and the command to go on.
//!
//! `session/digest.rs` knows the whole session, and the notes what the user wrote down about it.

use std::path::Path;

use super::pending::Beside;
use super::{Answer, Asker};
use crate::file::Unreadable;
use crate::fold::Continuity;
use crate::fold::continuity::{Blocker, Ending, Finding, Obstacle, Used};
use crate::session::beside::TitleIndex;
use crate::session::choose::{Resolved, looks_like_id};
use crate::session::live::Agents;
use crate::session::state::{Reason, Situation};
use crate::session::{self, Project, Session, State, StateKind, digest, stopped};
use crate::state::notes::{Kind, Marks, Notes};
use session_format::path::shell_word;
use session_format::time::Time;

/// A session and what is known beside its transcript.
pub struct Stop<'f> {
    pub continuity: Continuity,
    pub session: Session<'f>,
    /// The whole id, where the session may know only its beginning.
    pub id: String,
    pub project: String,
    pub subagent: bool,
    /// The agent's command to continue it, if there is one; or why none can be offered.
    pub command: Result<Option<String>, String>,
    /// The user's notes about the project and its sessions, and the mistakes in their file.
    pub notes: Notes,
    pub wrong: Vec<String>,
    pub now: Time,
    pub situation: Situation,
    /// The user marked it as done, and may have gone on with it since.
    pub done: bool,
    pub tags: Vec<String>,
    /// What it waits for, and where it runs.
    pub beside: Beside,
}

impl Stop<'_> {
    pub fn state(&self) -> State<'_> {
        let cwd = self.continuity.basics.first_cwd.as_deref();
        let state = self.situation.state(self.session.format.live(), self.now);
        state.within(cwd)
    }

    pub fn noted(&self, kind: Kind) -> impl Iterator<Item = &str> {
        self.notes
            .notes(kind, self.now)
            .map(|note| note.text.as_str())
    }

    /// Blockers, with the call that waits for permission, or that a killed agent left behind.
    pub fn blockers(&self) -> Vec<Blocker> {
        let kind = match self.state().reason {
            Some(Reason::Crashed(_)) => Some(Obstacle::Crashed),
            Some(Reason::Permission(_)) => Some(Obstacle::Permission),
            _ => None,
        };
        let open = kind.zip(self.continuity.open_call()).map(
            |(
                kind,
                Used {
                    tool,
                    subject,
                    time,
                    line,
                    ..
                },
            )| {
                let text = format!("{tool} {subject}").trim().to_owned();
                Blocker {
                    kind,
                    item: Finding::new(text, time, line),
                }
            },
        );
        self.continuity
            .blockers
            .iter()
            .cloned()
            .chain(open)
            .collect()
    }

    /// The ending of its transcript. Work that was going on is unfinished once nobody is at it.
    pub fn ending(&self) -> &'static str {
        match (self.continuity.ending, self.state().kind) {
            (ending, StateKind::Working | StateKind::NeedsYou) => ending.name(),
            (Ending::Working, _) => "unfinished",
            (ending, _) => ending.name(),
        }
    }

    /// True if a call of it is running, or may be.
    pub(crate) fn is_running(&self) -> bool {
        matches!(
            self.state().reason,
            Some(Reason::Running(_) | Reason::Pending(_))
        )
    }

    /// True if its agent is at work, or was until lately.
    pub fn is_active(&self) -> bool {
        matches!(
            self.state().kind,
            StateKind::Working | StateKind::NeedsYou | StateKind::Waiting
        )
    }

    pub fn pins(&self) -> impl Iterator<Item = &str> {
        self.notes
            .pins(self.now)
            .into_iter()
            .map(|pin| pin.text.as_str())
    }
}

pub fn stop<'f>(found: Resolved<'f>, asker: Asker<'_, 'f>) -> Result<Answer<Stop<'f>>, Unreadable> {
    let (
        env,
        Resolved {
            session, subagent, ..
        },
    ) = (asker.env, found);
    let failed = |error| Unreadable::new(&session.path, error);
    let beginning = session.open().and_then(|file| file.beginning());
    let subagent = subagent || beginning.map_err(failed)?.subagent;
    let mut all = digest::whole(&session, subagent, env, asker.formats).map_err(failed)?;
    let mut titles = TitleIndex::default();
    titles.complete(&mut all.basics, &session, env)?;
    let mut bad = Vec::new();
    if !subagent {
        bad = titles.bad;
        stopped::add_subagents(&mut all, &session, None, &mut bad);
    }
    all.finish();
    // The name of a file from anywhere may have nothing of the id; a subagent's lines have the session's.
    let inside = all
        .id
        .as_deref()
        .filter(|id| !subagent && session::is_id(id));
    let id = inside
        .filter(|_| session.root.is_none())
        .unwrap_or_else(|| session.whole_id(inside))
        .to_owned();
    let has_id =
        session.root.is_some() || session.name.is_some() || inside.is_some() || looks_like_id(&id);
    // The name of a copied file is no id that an agent knows.
    let command = if subagent {
        Ok(None)
    } else {
        command(&session, has_id.then_some(&id))
    };
    // Agents look for their sessions in the directory they are in.
    let away = all.first_cwd.as_deref().filter(|cwd| env.cwd != **cwd);
    let cd = away.map_or_else(String::new, |cwd| format!("cd {} && ", shell_word(cwd)));
    let command = command.map(|command| command.map(|command| cd + &command));
    // The notes of the session's project, wherever this runs.
    let project = Project::of(env, all.first_cwd.as_deref().map_or(&env.cwd, Path::new));
    let (notes, wrong) = Notes::read(env, project.dir());
    let (done, tags) = Marks::read(env, &mut bad).of(&id);
    let situation = Situation::of(
        &session,
        &all,
        done,
        Some(&Agents::look(env, asker.formats)),
    );
    let (project, now) = (project.name(), env.now());
    let state = situation.state(session.format.live(), now);
    let beside = Beside::of(&session, &state, &situation.presence);
    let stop = Stop {
        continuity: all,
        session,
        id,
        project,
        subagent,
        command,
        notes,
        wrong,
        now,
        situation,
        done,
        tags,
        beside,
    };
    Ok((stop, bad))
}

/// The agent's command that resumes a session, for the directory in which the session began; or the reason for none.
pub fn command(session: &Session, id: Option<&str>) -> Result<Option<String>, String> {
    let command = session.format.head().resume.as_ref();
    let Some(command) = command.filter(|command| id.is_some() || !command.contains("{id}")) else {
        return Ok(None);
    };
    let (id, path) = (id.unwrap_or_default(), session.path.display().to_string());
    if command.contains("{id}") && !session::is_id(id) {
        return Err(format!(
            "no command to resume this session: the id {}",
            session::NO_ID
        ));
    }
    Ok(Some(
        command
            .replace("{id}", id)
            .replace("{path}", &shell_word(&path)),
    ))
}

/// The same as a list of words, for whoever starts it without a shell. A command that is more than plain words needs one.
pub fn words(session: &Session, id: Option<&str>) -> Result<Option<Vec<String>>, String> {
    let Some(command) = command(session, id)? else {
        return Ok(None);
    };
    let (id, path) = (id.unwrap_or_default(), session.path.display().to_string());
    let template = session.format.head().resume.as_deref().unwrap_or_default();
    let bare = template.replace("{id}", "").replace("{path}", "");
    if bare
        .split(' ')
        .any(|word| !word.is_empty() && shell_word(word) != word)
    {
        return Ok(Some(vec!["sh".into(), "-c".into(), command]));
    }
    let word = |word: &str| word.replace("{id}", id).replace("{path}", &path);
    Ok(Some(template.split_whitespace().map(word).collect()))
}
