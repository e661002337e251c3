//! The `[install]` table of a descriptor: where an agent keeps its hooks and skills.
//!
//! A descriptor may come from a stranger. So every path here stays below the home directory or the project, and no
//! value becomes a command: the table decides where our own hook goes, never what runs. What the keys mean is in
//! `formats/README.md`; `session-context install` reads and changes the files.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

use super::written::{Pointer, two_forms};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Install {
    /// The agent's directory, in HOME.
    pub dir: SubPath,
    /// The variable that moves it, and where it is below that.
    pub env: Option<String>,
    #[serde(default)]
    pub below: SubPath,
    /// The agent's directory in a project.
    pub project: SubPath,
    /// The file with the hook, in the agent's directory.
    pub file: SubPath,
    #[serde(default)]
    pub kind: FileKind,
    /// An entry stands in a group: `{"hooks": [ENTRY]}`.
    #[serde(default)]
    pub grouped: bool,
    /// The key of the command in an entry.
    #[serde(default = "command")]
    pub command: String,
    /// Numbers beside the command: the time-out, as the agent spells it.
    #[serde(default)]
    pub timeout: BTreeMap<String, u32>,
    /// The version that a file of our own begins with.
    pub version: Option<u32>,
    /// The directory of skills; without it the agent reads only `.agents/skills`.
    pub skills: Option<SubPath>,
    #[serde(default)]
    pub shared_skills: SharedSkills,
    /// Settings that switch all hooks off.
    #[serde(default)]
    pub off: Vec<Switch>,
    /// The list of hooks that the user trusts.
    pub trust: Option<Approvals>,
    /// The list of plugins or packages, one of which may be ours.
    pub package: Option<Package>,
    /// The command of its status line.
    pub statusline: Option<StatusLine>,
    /// Where it lists its MCP servers.
    pub mcp: Option<McpServers>,
    /// Told to the user after each install.
    #[serde(default)]
    pub notes: Vec<String>,
    /// When the agent reads the settings of a project; `{here}` stands for the project.
    pub project_note: Option<String>,
    /// Aliases of the format that mean another program, without such a place for hooks.
    #[serde(default)]
    pub not_for: Vec<String>,
}

fn command() -> String {
    "command".into()
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// JSON with comments, in which the user keeps other settings, too.
    #[default]
    Settings,
    /// JSON with nothing but our hook in it.
    Own,
    /// Our extension for Pi.
    PiExtension,
}

/// Some agents read `.agents/skills`, too, and warn of a skill that is in both directories.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SharedSkills {
    #[default]
    No,
    Yes,
    /// Not the one in HOME if the variable moves its own directory.
    UnlessMoved,
}

/// A value in JSON or TOML that switches all hooks off.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    pub file: SubPath,
    pub key: Pointer,
    pub is: bool,
}

/// A table with an entry for each trusted hook. Its name begins with the path of the hook's file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approvals {
    pub file: SubPath,
    pub table: Pointer,
    /// The key that such an entry has.
    pub key: String,
    /// Tells the user how to trust a hook.
    pub how: String,
}

/// A list of packages, or an object with their names as keys.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    pub file: SubPath,
    pub at: Pointer,
    /// Its name, before the name of the file.
    pub called: String,
}

/// An object with the command of a status line, in JSON with other settings of the user.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatusLine {
    pub file: SubPath,
    pub key: Pointer,
    /// Numbers beside the command: how often it runs, as the agent spells it.
    #[serde(default)]
    pub every: BTreeMap<String, u32>,
}

/// An object or a table with the MCP servers of an agent by their names, in JSON or TOML with other settings of the user.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpServers {
    pub file: SubPath,
    pub key: Pointer,
    /// The file is in HOME, unless a variable moves the agent's directory.
    #[serde(default)]
    pub in_home: bool,
    /// The type of a server that is a program, where it has to be said, and the tools that may be used.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    #[serde(default)]
    pub tools: Vec<String>,
}

/// A path below a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct SubPath(pub String);

two_forms!(SubPath, written as String);

impl TryFrom<String> for SubPath {
    type Error = String;

    fn try_from(path: String) -> Result<SubPath, String> {
        let is_below = Path::new(&path)
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if is_below && !path.is_empty() {
            Ok(SubPath(path))
        } else {
            Err(format!("`{path}` is not a path below a directory"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(change: &str, to: &str) -> String {
        let table =
            "dir = \".x\"\nproject = \".x\"\nfile = \"settings.json\"\nskills = \"skills\"\n";
        assert!(toml::from_str::<Install>(table).is_ok());
        let changed = table.replacen(change, to, 1);
        assert_ne!(changed, table);
        toml::from_str::<Install>(&changed)
            .expect_err(to)
            .to_string()
    }

    #[test]
    fn a_path_that_leads_elsewhere_is_an_error_with_its_line() {
        for (line, right) in [
            (1, "dir = \".x\""),
            (2, "project = \".x\""),
            (3, "file = \"settings.json\""),
        ] {
            let key = right.split(' ').next().unwrap_or_default();
            for bad in ["/etc", "..", "../x", "a/../../x", "./x", "", "."] {
                let said = problem(right, &format!("{key} = \"{bad}\""));
                let expected = format!("`{bad}` is not a path below a directory");
                assert!(
                    said.contains(&format!("line {line},")) && said.contains(&expected),
                    "{said}"
                );
            }
        }
    }

    #[test]
    fn nothing_in_the_table_is_a_command() {
        for key in ["run", "program", "args", "entry"] {
            let said = problem("skills = ", &format!("{key} = "));
            assert!(
                said.contains("line 4") && said.contains(&format!("unknown field `{key}`")),
                "{said}"
            );
        }
        let said = problem("skills = \"skills\"", "timeout = { command = \"reboot\" }");
        assert!(
            said.contains("line 4") && said.contains("invalid type: string"),
            "{said}"
        );
    }
}
