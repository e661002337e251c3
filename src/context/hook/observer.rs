//! The session that the hook runs for: who it is, what it is called here, and where its cursors are.

use std::path::{Path, PathBuf};

use session_core::env::Env;
use session_core::file::Unreadable;
use session_core::formats::AgentFormat;
use session_core::read::Transcript;
use session_core::session::{Home, Project, Session, find};
use session_core::settings::{Scope, Settings};
use session_core::state::cursors::{self, CursorFile};
use session_format::entry::Id;

/// The session that the hook runs for.
#[derive(Debug)]
pub struct Observer<'f> {
    pub format: &'f AgentFormat,
    pub id: String,
    /// The named home it is in (a directory that has names for its sessions, `session/home.rs`), and its name there.
    pub home: Option<Home>,
    pub name: Option<String>,
    /// Where its client says, else found by its id; it may not be there yet.
    pub transcript: Option<PathBuf>,
    /// The project it is in.
    pub project: Project,
    /// Files that leave in doubt who it is: something told now could be told again under another name.
    pub bad: Vec<Unreadable>,
}

impl<'f> Observer<'f> {
    pub fn new(
        format: &'f AgentFormat,
        id: &str,
        transcript: Option<PathBuf>,
        env: &Env,
        settings: &Settings,
    ) -> Observer<'f> {
        let mut bad = Vec::new();
        let project = Project::noted(env, &env.cwd, &mut bad);
        let home = match settings.scope {
            Scope::Project => Unreadable::noted(Home::above(env), &mut bad),
            Scope::Machine => None,
        };
        let name = home.as_ref().and_then(|home| {
            Unreadable::noted(name(home, id, transcript.as_deref(), env), &mut bad)
        });
        let transcript = transcript
            .clone()
            .filter(|path| path.is_file())
            .or_else(|| {
                // What cannot be looked at now is said by whoever needs the file.
                let found = find::by_id(std::slice::from_ref(format), env, id)
                    .ok()
                    .flatten();
                found
                    .map(|session| session.path.to_path_buf())
                    .or(transcript)
            });
        Observer {
            format,
            id: id.into(),
            home,
            name,
            transcript,
            project,
            bad,
        }
    }

    /// A session as an observer.
    pub fn of(session: Session<'f>, env: &Env, settings: &Settings) -> Observer<'f> {
        let transcript = Transcript::open(&session.path, session.format.format()).ok();
        let inside = transcript.and_then(|transcript| transcript.beginning().ok()?.session);
        let id = session.whole_id(inside.as_deref()).to_owned();
        Observer::new(
            session.format,
            &id,
            Some(session.path.to_path_buf()),
            env,
            settings,
        )
    }

    /// Its name among the observers.
    pub fn key(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.id)
    }

    /// True if a session is the observer itself.
    pub fn is(&self, session: &Session) -> bool {
        session.name.is_some() && session.name == self.name
            || self
                .transcript
                .as_ref()
                .is_some_and(|own| session.path == *own)
            || session.format.name == self.format.name && session.has_id(&self.id)
    }

    /// The file with its cursors.
    pub fn cursor_file(&self, env: &Env) -> CursorFile {
        if let Some(home) = &self.home {
            return CursorFile::Shared(home.cursors());
        }
        let plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
        let id = if self.id.len() <= 100 && self.id.chars().all(plain) {
            self.id.clone()
        } else {
            format!("{:016x}", Id::of(self.id.as_bytes()).0)
        };
        CursorFile::Own(
            env.state_dir()
                .join("cursors")
                .join(format!("{}-{id}.bin", self.format.name)),
        )
    }
}

/// The name of a session in a home. It keeps its name while its name file is missing or half written.
fn name(
    home: &Home,
    id: &str,
    transcript: Option<&Path>,
    env: &Env,
) -> Result<Option<String>, Unreadable> {
    let before = || cursors::observer_with(&home.cursors(), id);
    match home.name_of(id, transcript, before, env) {
        // Unless the name is another session's by now.
        Ok(None) => Ok(before().filter(|name| home.is_free(name))),
        Err(bad) if Home::is_torn(&bad) => Ok(before()),
        name => name,
    }
}
