//! Named homes: a `.volute/` or `.mind/` directory that gives sessions their names.
//!
//! A home may have come with a cloned repository, so no link leads out of it: a link instead of a directory or file is an
//! error, and so is a pipe or a device. A name file that is half written is an error, too: its session has a name, which
//! cannot be read yet.

use std::cell::RefCell;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use super::Session;
use super::find::ByIds;
use super::trust::{Judge, Why};
use crate::dir;
use crate::env::Env;
use crate::file::{self, Access, LINK, Stamp, Unreadable};
use crate::formats::AgentFormat;
use session_format::path::is_too_long;

/// Of so many that are none it is said why.
const MOST_REFUSED: usize = 8;
const OTHERS: &str = "belongs to another user, or everybody may write to it";

/// The file of the cursors in a home.
const CURSORS: &str = "session-cursors.json";
/// So many names are looked at, however little time there is.
pub const MANY_NAMES: usize = 32;

#[derive(Debug)]
pub struct Home {
    dir: PathBuf,
    judge: RefCell<Judge>,
}

impl Home {
    /// The nearest home above the working directory that is the user's own: nobody else gives names to their sessions, be
    /// it another user or whoever wrote the repository.
    pub fn above(env: &Env) -> Result<Option<Home>, Unreadable> {
        Home::look(env, &mut Vec::new())
    }

    /// The same. What looks like a home and is none is noted, with the reason.
    pub fn look(
        env: &Env,
        refused: &mut Vec<(PathBuf, &'static str)>,
    ) -> Result<Option<Home>, Unreadable> {
        let mut judge = Judge::new(env);
        if is_too_long(&env.cwd) {
            return Ok(None);
        }
        for dir in env
            .cwd
            .ancestors()
            .flat_map(|dir| [dir.join(".volute"), dir.join(".mind")])
        {
            // We write there, and a linked directory could be any of the user's.
            let Some(meta) = file::if_reachable(file::lstat(&dir))?.filter(Metadata::is_dir) else {
                continue;
            };
            // Another user's may not even be looked into.
            if !judge.is_own(Stamp::from(&meta).access) {
                refused.push((dir, OTHERS));
                continue;
            }
            let mut is_home = false;
            for below in ["sessions", "pi-sessions"] {
                is_home |= file::lstat(&dir.join(below))?
                    .is_some_and(|meta| meta.is_dir() || meta.is_symlink());
            }
            if !is_home {
                continue;
            }
            match Home::refused(&dir, &mut judge)? {
                // So many are nobody's mistake, and each takes time.
                Some(_) if refused.len() >= MOST_REFUSED => return Ok(None),
                Some((path, why)) => refused.push((path, why)),
                None => {
                    return Ok(Some(Home {
                        dir,
                        judge: RefCell::new(judge),
                    }));
                }
            }
        }
        Ok(None)
    }

    /// The path in a directory that is not the user's own, so that it is no home, and why.
    fn refused(
        dir: &Path,
        judge: &mut Judge,
    ) -> Result<Option<(PathBuf, &'static str)>, Unreadable> {
        for path in ["sessions", "pi-sessions", CURSORS].map(|below| dir.join(below)) {
            let Some(meta) = file::lstat(&path)? else {
                continue;
            };
            // The file of the cursors is replaced, whatever it is.
            let is_dir = !path.ends_with(CURSORS);
            let why = if is_dir && meta.is_symlink() {
                Some("is a link, which is not followed here")
            } else if is_dir && !judge.is_own(Stamp::from(&meta).access) {
                Some(OTHERS)
            } else {
                judge.tracks(&path)?.map(Why::as_str)
            };
            if let Some(why) = why {
                return Ok(Some((path, why)));
            }
        }
        Ok(None)
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The cursors of all its sessions.
    pub fn cursors(&self) -> PathBuf {
        self.dir.join(CURSORS)
    }

    /// The name here of the session with an id, or with a transcript; `before` is its last name. A name file that
    /// cannot be read, now or in time, may be the one that names it, so that is an error unless another file does.
    pub fn name_of(
        &self,
        id: &str,
        transcript: Option<&Path>,
        before: impl FnOnce() -> Option<String>,
        env: &Env,
    ) -> Result<Option<String>, Unreadable> {
        let folders = self.dir.join("pi-sessions");
        let folder =
            transcript.and_then(|path| path.parent()?.strip_prefix(folders).ok()?.to_str());
        if let Some(name) = folder.filter(|name| !name.is_empty() && !name.contains('/')) {
            return Ok(Some(name.to_owned()));
        }
        let mut unknown = None;
        let names = self.names()?;
        let is_it = |name: &String| matches!(self.id_of(name), Ok(Some(named)) if named == id);
        if let Some(name) = if names.len() > MANY_NAMES {
            before().filter(is_it)
        } else {
            None
        } {
            return Ok(Some(name));
        }
        for (number, name) in in_turn(&names, env).enumerate() {
            // Without its name there is nothing to read, so this may take all the time.
            if number >= MANY_NAMES && env.deadline.is_some_and(|deadline| deadline.is_over()) {
                let dir = self.dir.join("sessions");
                return Err(Unreadable::new(
                    &dir,
                    io::Error::other("too many names to read in time"),
                ));
            }
            match self.id_of(name) {
                Ok(named) if named.as_deref() == Some(id) => return Ok(Some(name.clone())),
                Ok(_) => {}
                Err(error) => unknown = unknown.or(Some(error)),
            }
        }
        unknown.map_or(Ok(None), Err)
    }

    /// `new-…` sessions are thrown away after use: they are no part of any list.
    pub fn is_throw_away(name: &str) -> bool {
        name.starts_with("new-")
    }

    /// The names in this home, with or without a transcript.
    pub fn names(&self) -> Result<Vec<String>, Unreadable> {
        let files = listed(&self.dir.join("sessions"))?;
        let by_file = files
            .iter()
            .filter_map(|name| Some(name.strip_suffix(".json")?.to_owned()));
        let mut names: Vec<String> = by_file
            .chain(listed(&self.dir.join("pi-sessions"))?)
            .collect();
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// The sessions that have a name and a transcript, as many as there is time for. A name file that is half written has
    /// none yet, which is no trouble.
    pub fn sessions<'f>(
        &self,
        formats: &'f [AgentFormat],
        env: &Env,
        bad: &mut Vec<Unreadable>,
    ) -> Vec<Session<'f>> {
        let names = Unreadable::noted(self.names().map(Some), bad).unwrap_or_default();
        let mut problems = Vec::new();
        let mut ids = ByIds::default();
        let session = |name: &String| {
            Unreadable::noted(
                self.session_among(name, formats, env, &mut ids),
                &mut problems,
            )
        };
        let in_time = |(number, _): &(usize, &String)| *number < MANY_NAMES || !env.is_late();
        let names = in_turn(&names, env)
            .enumerate()
            .take_while(in_time)
            .map(|(_, name)| name);
        let sessions = names.filter_map(session).collect();
        bad.extend(
            problems
                .into_iter()
                .filter(|problem| !Home::is_torn(problem)),
        );
        sessions
    }

    /// The session with a name, if it has a transcript yet.
    pub fn session<'f>(
        &self,
        name: &str,
        formats: &'f [AgentFormat],
        env: &Env,
    ) -> Result<Option<Session<'f>>, Unreadable> {
        self.session_among(name, formats, env, &mut ByIds::default())
    }

    /// The same, where many are asked for.
    pub fn session_among<'f>(
        &self,
        name: &str,
        formats: &'f [AgentFormat],
        env: &Env,
        ids: &mut ByIds<'f>,
    ) -> Result<Option<Session<'f>>, Unreadable> {
        if name.is_empty() || name.contains(['/', '\\', '\0']) || name == "." || name == ".." {
            return Ok(None);
        }
        let by_file = self
            .id_of(name)?
            .map_or(Ok(None), |id| ids.find(formats, env, &id))?;
        let session = by_file.map_or_else(
            || self.by_folder(name, formats),
            |session| Ok(Some(session)),
        )?;
        Ok(session.map(|session| Session {
            name: Some(name.into()),
            ..session
        }))
    }

    /// True if what went wrong is a name file that is empty or half written; its owner will write it again.
    pub fn is_torn(bad: &Unreadable) -> bool {
        bad.error.kind() == io::ErrorKind::InvalidData
    }

    /// True if no session has a name, for all that can be read.
    pub fn is_free(&self, name: &str) -> bool {
        matches!(self.id_of(name), Ok(None)) && !self.dir.join("pi-sessions").join(name).is_dir()
    }

    /// The id that a name stands for.
    fn id_of(&self, name: &str) -> Result<Option<String>, Unreadable> {
        let path = self.dir.join("sessions").join(format!("{name}.json"));
        const LONGEST_FILE: u64 = 64 << 10;
        // Whoever may write into the directory could leave a name there.
        let is_own = |meta: Metadata| {
            let access = Stamp::from(&meta).access;
            // Everybody may write to a link, by its mode.
            self.judge.borrow().is_own(Access {
                open: access.open && !meta.is_symlink(),
                ..access
            })
        };
        if !file::if_reachable(file::lstat(&path))?.is_some_and(is_own) {
            return Ok(None);
        }
        let Some(text) = file::there(&path, || file::read_own(&path, LONGEST_FILE))? else {
            return Ok(None);
        };
        let torn = "not a whole JSON object; its writer may not be done with it";
        let object: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&text)
            .map_err(|_| {
                Unreadable::new(&path, io::Error::new(io::ErrorKind::InvalidData, torn))
            })?;
        let id = object.get("sessionId").and_then(|id| id.as_str());
        Ok(id.filter(|id| !id.contains(['/', '\\'])).map(str::to_owned))
    }

    /// Pi keeps a folder for each name, and takes up the newest file in it.
    fn by_folder<'f>(
        &self,
        name: &str,
        formats: &'f [AgentFormat],
    ) -> Result<Option<Session<'f>>, Unreadable> {
        let Some(format) = formats.iter().find(|format| format.name == "pi") else {
            return Ok(None);
        };
        let folder = self.dir.join("pi-sessions").join(name);
        let meta = file::lstat(&folder)?;
        refuse_link(&folder, meta.as_ref())?;
        if meta.is_none() || self.judge.borrow_mut().tracks(&folder)?.is_some() {
            return Ok(None);
        }
        let mut newest = None;
        let mut no_file = None;
        for path in listed(&folder)?
            .iter()
            .filter(|name| name.ends_with(".jsonl"))
            .map(|name| folder.join(name))
        {
            match file::lstat(&path)? {
                Some(meta) if meta.is_file() => {
                    let stamp = Stamp::from(&meta);
                    if self.judge.borrow().is_own(stamp.access) {
                        newest = newest.max(Some((stamp.modified, path)));
                    }
                }
                Some(_) => no_file = Some(path),
                None => {}
            }
        }
        match (newest, no_file) {
            (Some((_, path)), _) => Ok(pi_session(format, path)),
            (None, Some(path)) => Err(Unreadable::new(&path, io::Error::other("not a file"))),
            (None, None) => Ok(None),
        }
    }

    /// The session of a file in one of those folders.
    pub fn in_folder<'f>(&self, path: &Path, formats: &'f [AgentFormat]) -> Option<Session<'f>> {
        let format = formats.iter().find(|format| format.name == "pi")?;
        path.starts_with(self.dir.join("pi-sessions"))
            .then(|| pi_session(format, path.into()))?
    }
}

/// Very many names, beginning with another one each time.
pub fn in_turn<'n>(names: &'n [String], env: &Env) -> impl Iterator<Item = &'n String> {
    let first = if names.len() > MANY_NAMES && env.deadline.is_some() {
        env.turn(names.len())
    } else {
        0
    };
    names.iter().cycle().skip(first).take(names.len())
}

fn refuse_link(path: &Path, meta: Option<&Metadata>) -> Result<(), Unreadable> {
    let is_link = meta.is_some_and(Metadata::is_symlink);
    if is_link {
        Err(Unreadable::new(path, io::Error::other(LINK)))
    } else {
        Ok(())
    }
}

/// The names in a directory; none if it is not there.
fn listed(dir: &Path) -> Result<Vec<String>, Unreadable> {
    let mut bad = Vec::new();
    let entries = dir::entries(dir, &mut bad);
    bad.into_iter().next().map_or(Ok(()), Err)?;
    Ok(entries
        .iter()
        .filter_map(|entry| entry.name.to_str().map(str::to_owned))
        .collect())
}

fn pi_session(format: &AgentFormat, path: PathBuf) -> Option<Session<'_>> {
    let stem = path.file_stem()?.to_string_lossy();
    let id = stem.split_once('_').map_or(&*stem, |(_, id)| id).to_owned();
    Some(Session::new(id, format, None, path))
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::disallowed_methods,
        reason = "tests read the files that they made"
    )]

    use super::*;
    use session_format::time::Time;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A directory with a home in it, and one beside it that a link may lead to.
    fn world() -> (tempfile::TempDir, Env) {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().canonicalize().expect("a path");
        for below in [
            "work/.volute/sessions",
            "work/.volute/pi-sessions/folder",
            "outside",
        ] {
            fs::create_dir_all(path.join(below)).expect("directories");
        }
        let env = Env::fixed(&path, path.join("work"), Time(0));
        (dir, env)
    }

    fn home(env: &Env) -> Home {
        Home::above(env).expect("readable").expect("a home")
    }

    fn write(env: &Env, below: &str, text: &str) {
        fs::write(env.cwd.join(".volute").join(below), text).expect("a file");
    }

    fn formats() -> Vec<AgentFormat> {
        crate::formats::known(Path::new("/nonexistent")).0
    }

    /// The error, without the directories before it.
    fn said<T: std::fmt::Debug>(result: Result<T, Unreadable>) -> (String, String) {
        let Unreadable { path, error } = result.expect_err("an error");
        (
            path.file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned(),
            error.to_string(),
        )
    }

    #[test]
    fn a_torn_name_file_is_not_a_missing_one() {
        let (_dir, env) = world();
        write(&env, "sessions/main.json", r#"{"sessionId":"one"}"#);
        for torn in ["", "{", r#"{"sessionId":"tw"#, "null", "[]"] {
            write(&env, "sessions/torn.json", torn);
            // Who is named by another file is not touched by it; who is not may be the one.
            assert_eq!(
                home(&env)
                    .name_of("one", None, || None, &env)
                    .expect("a name")
                    .as_deref(),
                Some("main"),
                "{torn:?}"
            );
            let bad = home(&env)
                .name_of("two", None, || None, &env)
                .expect_err("an error");
            assert!(
                Home::is_torn(&bad) && bad.path.ends_with("torn.json"),
                "{torn:?}: {bad:?}"
            );
            assert!(Home::is_torn(
                &home(&env).session("torn", &[], &env).expect_err("an error")
            ));
        }
        write(
            &env,
            "sessions/torn.json",
            &format!(r#"{{"sessionId":"{}"}}"#, "x".repeat(70_000)),
        );
        assert!(
            said(home(&env).session("torn", &[], &env))
                .1
                .starts_with("larger than 65536 bytes")
        );
        for whole in ["{}", r#"{"sessionId":null}"#, r#"{"sessionId":"../x"}"#] {
            write(&env, "sessions/torn.json", whole);
            assert_eq!(
                home(&env)
                    .name_of("two", None, || None, &env)
                    .expect("no name"),
                None,
                "{whole:?}"
            );
        }
        assert!(
            home(&env)
                .session("nobody", &[], &env)
                .expect("no error")
                .is_none()
        );
        assert_eq!(
            home(&env).names().expect("names"),
            ["folder", "main", "torn"]
        );
    }

    #[test]
    fn nothing_is_followed_out_of_a_home() {
        let (_dir, env) = world();
        let outside = env.home.join("outside");
        fs::write(outside.join("id.json"), r#"{"sessionId":"one"}"#).expect("a file");
        fs::write(outside.join("1_x.jsonl"), "{}").expect("a file");
        let volute = env.cwd.join(".volute");
        symlink(outside.join("id.json"), volute.join("sessions/name.json")).expect("a link");
        symlink(&outside, volute.join("pi-sessions/linked")).expect("a link");
        symlink(
            outside.join("1_x.jsonl"),
            volute.join("pi-sessions/folder/1_x.jsonl"),
        )
        .expect("a link");
        let formats = formats();
        assert_eq!(
            said(home(&env).name_of("one", None, || None, &env)),
            ("name.json".into(), LINK.into())
        );
        assert_eq!(
            said(home(&env).session("name", &formats, &env)),
            ("name.json".into(), LINK.into())
        );
        assert_eq!(
            said(home(&env).session("linked", &formats, &env)),
            ("linked".into(), LINK.into())
        );
        let no_file = ("1_x.jsonl".to_owned(), "not a file".to_owned());
        assert_eq!(said(home(&env).session("folder", &formats, &env)), no_file);
        // A transcript of its own is still the session.
        write(&env, "pi-sessions/folder/2_y.jsonl", "{}");
        let session = home(&env)
            .session("folder", &formats, &env)
            .expect("no error")
            .expect("a session");
        assert_eq!(
            (&*session.id, session.name.as_deref()),
            ("y", Some("folder"))
        );
        for below in ["sessions", "pi-sessions"] {
            fs::rename(volute.join(below), env.home.join(below)).expect("moved");
            symlink(env.home.join(below), volute.join(below)).expect("a link");
            let mut refused = Vec::new();
            assert!(Home::look(&env, &mut refused).expect("no error").is_none());
            assert_eq!(
                refused,
                [(volute.join(below), "is a link, which is not followed here")]
            );
            fs::remove_file(volute.join(below)).expect("removed");
        }
        assert!(Home::above(&env).expect("no error").is_none());
    }

    #[test]
    fn pipes_and_directories_in_the_place_of_files_are_errors() {
        let (_dir, env) = world();
        let formats = formats();
        let volute = env.cwd.join(".volute");
        fs::create_dir(volute.join("sessions/dir.json")).expect("a directory");
        fs::create_dir(volute.join("pi-sessions/folder/1_x.jsonl")).expect("a directory");
        let pipe =
            std::ffi::CString::new(volute.join("sessions/pipe.json").to_str().expect("UTF-8"))
                .expect("no NUL");
        // SAFETY: a call with a valid path.
        assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
        for (name, file, why) in [
            ("dir", "dir.json", "is a directory"),
            ("pipe", "pipe.json", "neither a file nor a directory"),
            ("folder", "1_x.jsonl", "not a file"),
        ] {
            assert_eq!(
                said(home(&env).session(name, &formats, &env)),
                (file.into(), why.into())
            );
        }
        // A directory in the place of a directory of names.
        fs::remove_dir_all(volute.join("sessions")).expect("removed");
        fs::write(volute.join("sessions"), "").expect("a file");
        assert_eq!(home(&env).names().expect("names"), ["folder"]);
    }
}
