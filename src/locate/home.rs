//! Named homes: a `.volute/` or `.mind/` directory that gives sessions their names.

use std::path::{Path, PathBuf};

use super::{Session, by_id};
use crate::env::Env;
use crate::format::Known;

#[derive(Debug)]
pub struct Home {
    dir: PathBuf,
}

impl Home {
    /// The nearest home above a directory.
    pub fn above(cwd: &Path) -> Option<Home> {
        let candidates = cwd.ancestors().flat_map(|dir| [dir.join(".volute"), dir.join(".mind")]);
        // We write there, and a linked directory could be any of the user's.
        let is_home =
            |dir: &PathBuf| !dir.is_symlink() && (dir.join("sessions").is_dir() || dir.join("pi-sessions").is_dir());
        candidates.into_iter().find(is_home).map(|dir| Home { dir })
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What the session with an id, or with a transcript, is called here.
    pub fn name_of(&self, id: &str, transcript: Option<&Path>) -> Option<String> {
        let folders = self.dir.join("pi-sessions");
        let folder = transcript.and_then(|path| path.parent()?.strip_prefix(folders).ok()?.to_str());
        let by_folder = folder.filter(|name| !name.is_empty() && !name.contains('/')).map(str::to_owned);
        by_folder.or_else(|| self.names().into_iter().find(|name| self.id_of(name).as_deref() == Some(id)))
    }

    /// `new-…` sessions are thrown away after use: they are no part of any list.
    pub fn is_throw_away(name: &str) -> bool {
        name.starts_with("new-")
    }

    /// The names in this home, with or without a transcript.
    pub fn names(&self) -> Vec<String> {
        let listed = |dir: &str| std::fs::read_dir(self.dir.join(dir)).into_iter().flatten().flatten();
        let by_id =
            listed("sessions").filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".json")?.to_owned()));
        let by_dir = listed("pi-sessions").filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<_> = by_id.chain(by_dir).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The session with a name, if it has a transcript yet.
    pub fn session<'f>(&self, name: &str, formats: &'f [Known], env: &Env) -> Option<Session<'f>> {
        let plain = !name.is_empty() && !name.contains(['/', '\\']) && name != "." && name != "..";
        let session = || self.by_file(name, formats, env).or_else(|| self.by_folder(name, formats));
        plain.then(session)?.map(|session| Session { name: Some(name.into()), ..session })
    }

    fn by_file<'f>(&self, name: &str, formats: &'f [Known], env: &Env) -> Option<Session<'f>> {
        by_id(formats, env, &self.id_of(name)?, &env.cwd)
    }

    fn id_of(&self, name: &str) -> Option<String> {
        let text = crate::file::read(&self.dir.join("sessions").join(format!("{name}.json"))).ok()?;
        let value: serde_json::Value = serde_json::from_slice(&text).ok()?;
        value.get("sessionId")?.as_str().filter(|id| !id.contains(['/', '\\'])).map(str::to_owned)
    }

    /// Pi keeps a folder for each name, and takes up the newest file in it.
    fn by_folder<'f>(&self, name: &str, formats: &'f [Known]) -> Option<Session<'f>> {
        let format = formats.iter().find(|format| format.name == "pi")?;
        let entries = std::fs::read_dir(self.dir.join("pi-sessions").join(name)).ok()?.flatten();
        let files = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
        let newest =
            files.max_by_key(|path| (std::fs::metadata(path).and_then(|meta| meta.modified()).ok(), path.clone()))?;
        pi_session(format, newest)
    }

    /// The session of a file in one of those folders.
    pub fn in_folder<'f>(&self, path: &Path, formats: &'f [Known]) -> Option<Session<'f>> {
        let format = formats.iter().find(|format| format.name == "pi")?;
        path.starts_with(self.dir.join("pi-sessions")).then(|| pi_session(format, path.into()))?
    }
}

fn pi_session(format: &Known, path: PathBuf) -> Option<Session<'_>> {
    let stem = path.file_stem()?.to_string_lossy();
    let id = stem.split_once('_').map_or(&*stem, |(_, id)| id).to_owned();
    Some(Session { id, name: None, format, root: None, path, stamp: None })
}
