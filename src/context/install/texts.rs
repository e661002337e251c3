//! The texts that are installed as whole files: the skill, and the extension for Pi.
//!
//! The last line of the skill has a hash of the rest, which tells an edited file from one of another release: an edited
//! one is kept. Where the files go is up to `site`.

use std::path::Path;

use super::files::{self, Trouble};
use session_format::entry::Id;

const SKILL: &str = include_str!("../../../skills/sessions/SKILL.md");
const SKILL_MARK: &str = "<!-- session-context install ";
const EXTENSION: &str = include_str!("../../../pi/session-context.ts");
const EXTENSION_MARK: &str = "// session-monitor: the Pi extension.";
const PROGRAM: &str = "const INSTALLED = \"\";";
const NOT_LIVE: &str = "const LIVE = false;";
const LIVE: &str = "const LIVE = true;";

/// The extension, with the path of the program in it, and whether it notes what the agent is doing.
pub fn extension(program: &str, live: bool) -> String {
    let text = EXTENSION.replacen(
        PROGRAM,
        &format!("const INSTALLED = {};", serde_json::Value::from(program)),
        1,
    );
    if live {
        text.replacen(NOT_LIVE, LIVE, 1)
    } else {
        text
    }
}

/// True if an extension notes what the agent is doing.
pub fn is_live(text: &[u8]) -> bool {
    memchr::memmem::find(text, LIVE.as_bytes()).is_some()
}

pub fn is_extension(text: &[u8]) -> bool {
    text.starts_with(EXTENSION_MARK.as_bytes())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillState {
    Absent,
    Current,
    /// As an earlier release wrote it.
    Older,
    /// Edited, or put there by somebody else.
    Theirs,
}

impl SkillState {
    pub fn is_ours(self) -> bool {
        matches!(self, SkillState::Current | SkillState::Older)
    }
}

pub fn skill() -> String {
    let hash = Id::of(SKILL.as_bytes()).0;
    format!("{SKILL}\n{SKILL_MARK}{hash:016x}: if you edit this file, it is kept as it is -->\n")
}

/// The state of the skill at a path, with its bytes.
pub fn skill_state(path: &Path) -> Result<(SkillState, Option<Vec<u8>>), Trouble> {
    let bytes = files::read(path)?;
    let state = match bytes.as_deref().map(std::str::from_utf8) {
        None => SkillState::Absent,
        Some(Ok(found)) if found == skill() => SkillState::Current,
        Some(Ok(found)) if is_unedited(found) => SkillState::Older,
        Some(_) => SkillState::Theirs,
    };
    Ok((state, bytes))
}

fn is_unedited(found: &str) -> bool {
    let Some((body, mark)) = found.rsplit_once(SKILL_MARK) else {
        return false;
    };
    let Some((hash, end)) = mark.split_once(':') else {
        return false;
    };
    let body = body.strip_suffix('\n').unwrap_or(body);
    end.ends_with("-->\n")
        && end.lines().count() == 1
        && hash == format!("{:016x}", Id::of(body.as_bytes()).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_the_program() {
        let text = extension("/a \"b\"/session-context", false);
        assert!(!is_live(text.as_bytes()) && is_live(extension("", true).as_bytes()));
        assert!(is_extension(text.as_bytes()));
        assert!(
            text.contains(r#"const INSTALLED = "/a \"b\"/session-context";"#),
            "{text}"
        );
        assert!(!text.contains(PROGRAM));
    }

    #[test]
    fn an_edit_shows() {
        assert!(is_unedited(&skill()));
        assert!(!is_unedited(&skill().replacen("session", "meeting", 1)));
        assert!(!is_unedited(&(skill() + "And always say please.\n")));
        assert!(!is_unedited(SKILL));
        let older = "An earlier release.\n";
        assert!(is_unedited(&format!(
            "{older}\n{SKILL_MARK}{:016x}: kept -->\n",
            Id::of(older.as_bytes()).0
        )));
    }

    #[test]
    fn it_is_short_and_has_what_agents_ask_for() {
        assert!(SKILL.starts_with("---\nname: sessions\ndescription: "));
        assert!(SKILL.lines().count() <= 70);
        let description = SKILL.lines().nth(2).unwrap_or_default();
        assert!(description.len() < 1024, "{}", description.len());
    }
}
