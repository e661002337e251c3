//! What small files beside a transcript, an agent's index of titles and the user's notes say about a session.
//!
//! Such a file may be missing. One that is there and cannot be read is an error: it may say which project a session
//! belongs to.

use std::path::{Path, PathBuf};

use super::Session;
use super::find::root_dir;
use crate::env::Env;
use crate::file::{self, Stamp, Unreadable};
use crate::fold::Basics;
use crate::state::notes::Marks;
use session_format::format::descriptor::{Pointer, Root, Titles};
use session_format::hash::HashMap;
use session_format::path::is_too_long;

/// The titles that index files under roots and the user's notes give to sessions. Each file is read once.
#[derive(Debug, Default)]
pub struct TitleIndex {
    marks: Option<Marks>,
    by_root: HashMap<PathBuf, HashMap<String, String>>,
    /// Index files that could not be read.
    pub bad: Vec<Unreadable>,
}

/// An index has a line for each session, a file beside a transcript a few in all.
const LARGEST_INDEX: u64 = 64 << 20;
const LARGEST_ASIDE: u64 = 1 << 20;

impl TitleIndex {
    /// The user's notes of all projects.
    pub(super) fn marks(&mut self, env: &Env) -> &Marks {
        self.marks
            .get_or_insert_with(|| Marks::read(env, &mut self.bad))
    }

    /// The same, for whoever needs no more titles.
    pub(super) fn take_marks(&mut self, env: &Env) -> Marks {
        self.marks(env);
        self.marks.take().unwrap_or_default()
    }

    /// The title that the user gave to a session in the notes.
    pub(super) fn name(&mut self, session: &Session, env: &Env) -> Option<String> {
        self.marks(env).name(&session.id).map(str::to_owned)
    }

    /// The title of a session in the index of its root; the last of an id wins.
    fn title(&mut self, session: &Session, env: &Env) -> Option<String> {
        let (index, dir) = session
            .root
            .and_then(|root| root.titles.as_ref().zip(root_dir(root, env)))?;
        let path = dir.join(&index.file);
        if !self.by_root.contains_key(&path) {
            let is_own = |stamp: &Stamp| env.owners().own(stamp.access);
            let is_there = file::stamp(&path).map(|stamp| stamp.filter(is_own));
            let text = is_there.and_then(|there| match there {
                Some(_) => file::there(&path, || file::read_up_to(&path, LARGEST_INDEX)),
                None => Ok(None),
            });
            let text = Unreadable::noted(text, &mut self.bad).unwrap_or_default();
            let titles = String::from_utf8_lossy(&text)
                .lines()
                .filter_map(|line| title(index, line))
                .collect();
            self.by_root.insert(path.clone(), titles);
        }
        self.by_root.get(&path)?.get(&*session.id).cloned()
    }

    /// Adds what a transcript does not say and the files around it do. This is the one rule for titles: the one in the
    /// user's notes goes first, and a person's before the agent's; a person's that stands in a file goes before the
    /// transcript's, and an agent's after it.
    pub fn complete(
        &mut self,
        basics: &mut Basics,
        session: &Session,
        env: &Env,
    ) -> Result<(), Unreadable> {
        let Aside {
            cwd,
            title,
            by_person,
        } = beside(session)?;
        let (by_person, by_agent) = if by_person {
            (title, None)
        } else {
            (None, title)
        };
        basics.first_cwd = basics.first_cwd.take().or(cwd);
        basics.agent_title = basics.agent_title.take().or(by_agent);
        basics.person_title = self
            .name(session, env)
            .or(by_person)
            .or_else(|| self.title(session, env))
            .or(basics.person_title.take());
        Ok(())
    }

    /// The same, for whom a title is not worth an error: it is noted.
    pub fn complete_or_note(&mut self, basics: &mut Basics, session: &Session, env: &Env) {
        let bad = self.complete(basics, session, env).err();
        self.bad.extend(bad);
    }
}

fn title(index: &Titles, line: &str) -> Option<(String, String)> {
    let value: serde_json::Value = serde_json::from_str(line).ok()?;
    let text = |pointer: &Pointer| {
        let found = pointer
            .0
            .iter()
            .try_fold(&value, |value, key| value.get(key))?;
        found.as_str().map(str::to_owned)
    };
    Some((text(&index.id)?, text(&index.person)?))
}

/// The facts in a small file next to a transcript.
#[derive(Debug, Default, Clone)]
pub struct Aside {
    pub cwd: Option<String>,
    pub title: Option<String>,
    pub by_person: bool,
}

/// Reads the file beside a session's transcript; a transcript from anywhere may have brought it along.
pub fn beside(session: &Session) -> Result<Aside, Unreadable> {
    for root in session.roots() {
        // A subagent's transcript is in a directory of its own.
        for path in session.path.ancestors().take(2) {
            if let Some(aside) = aside(root, path)? {
                return Ok(aside);
            }
        }
    }
    Ok(Aside::default())
}

fn aside(root: &Root, transcript: &Path) -> Result<Option<Aside>, Unreadable> {
    let Some((beside, dir)) = root.beside.as_ref().zip(transcript.parent()) else {
        return Ok(None);
    };
    let path = dir.join(&beside.file);
    let Some(stamp) = file::stamp(&path)? else {
        return Ok(None);
    };
    // Who may write to it could move the session to another project.
    let owner = file::stamp(transcript)?.map(|stamp| stamp.access.owner);
    if !owner.is_some_and(|owner| stamp.access.is_only(owner)) {
        return Ok(None);
    }
    let Some(text) = file::there(&path, || file::read_up_to(&path, LARGEST_ASIDE))? else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&text);
    let value = |key: &Option<String>| match key.as_deref()? {
        "*" => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        key => text.lines().find_map(|line| {
            let value = line.strip_prefix(key)?.strip_prefix(':')?.trim();
            Some(value.trim_matches(['"', '\'']).to_owned()).filter(|value| !value.is_empty())
        }),
    };
    Ok(Some(Aside {
        cwd: value(&beside.cwd).filter(|cwd| !is_too_long(cwd)),
        title: value(&beside.title),
        by_person: value(&beside.by_person).as_deref() == Some("true"),
    }))
}
