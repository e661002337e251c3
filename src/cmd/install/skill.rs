//! The skill: a file in a place where the agent looks for skills.
//!
//! Its last line has a hash of the rest, by which a file that was edited is told from one of another release: an edited
//! one is kept. Agents that read `.agents`, too, warn of a skill that they find twice, so there it is only one file.

use std::path::{Path, PathBuf};

use super::agents::{Agent, Scope};
use super::files::{self, Trouble};
use crate::entry::Id;
use crate::env::Env;

const TEXT: &str = include_str!("../../../skills/sessions/SKILL.md");
const MARK: &str = "<!-- session-context install ";

/// What is in the place of the skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Absent,
    /// As it is now.
    Current,
    /// As an earlier release wrote it.
    Older,
    /// Edited, or put there by somebody else.
    Theirs,
}

impl State {
    /// Whether it may be replaced and removed.
    pub fn is_ours(self) -> bool {
        matches!(self, State::Current | State::Older)
    }
}

/// The skill as it is installed.
pub fn text() -> String {
    let hash = Id::of(TEXT.as_bytes()).0;
    format!("{TEXT}\n{MARK}{hash:016x}: if you edit this file, it is kept as it is -->\n")
}

/// What is there, and its bytes.
pub fn state(path: &Path) -> Result<(State, Option<Vec<u8>>), Trouble> {
    let bytes = files::read(path)?;
    let state = match bytes.as_deref().map(std::str::from_utf8) {
        None => State::Absent,
        Some(Ok(found)) if found == text() => State::Current,
        Some(Ok(found)) if is_unedited(found) => State::Older,
        Some(_) => State::Theirs,
    };
    Ok((state, bytes))
}

fn is_unedited(found: &str) -> bool {
    let Some((body, mark)) = found.rsplit_once(MARK) else { return false };
    let Some((hash, end)) = mark.split_once(':') else { return false };
    let body = body.strip_suffix('\n').unwrap_or(body);
    end.ends_with("-->\n") && end.lines().count() == 1 && hash == format!("{:016x}", Id::of(body.as_bytes()).0)
}

/// The agent's own place for it.
pub fn own(agent: &Agent, scope: Scope, env: &Env) -> PathBuf {
    match agent.format {
        // Its own directory for skills is deprecated.
        "codex" => shared(scope, env),
        _ => agent.dir(scope, env).join("skills/sessions/SKILL.md"),
    }
}

/// The place that most agents read.
pub fn shared(scope: Scope, env: &Env) -> PathBuf {
    let base = if scope == Scope::User { &env.home } else { &env.cwd };
    base.join(".agents/skills/sessions/SKILL.md")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_shows() {
        assert!(is_unedited(&text()));
        assert!(!is_unedited(&text().replacen("session", "meeting", 1)));
        assert!(!is_unedited(&(text() + "And always say please.\n")));
        assert!(!is_unedited(TEXT));
        let older = "An earlier release.\n";
        assert!(is_unedited(&format!("{older}\n{MARK}{:016x}: kept -->\n", Id::of(older.as_bytes()).0)));
    }

    #[test]
    fn it_is_short_and_has_what_agents_ask_for() {
        assert!(TEXT.starts_with("---\nname: sessions\ndescription: "));
        assert!(TEXT.lines().count() <= 70);
        let description = TEXT.lines().nth(2).unwrap_or_default();
        assert!(description.len() < 1024, "{}", description.len());
    }
}
