//! One agent, for a user or in a project: where its files are, and what else there decides whether the hook runs.

use std::path::{Path, PathBuf};

use super::agents::{Agent, Form, Scope};
use super::edit::{Child, Json, Span};
use super::files::{self, Trouble};
use super::{extension, hook};
use crate::env::Env;

const BACKUP: &str = ".before-session-context";
/// What the plugin and the package are called.
const NAME: &str = "session-monitor";

pub struct Site<'e> {
    pub agent: &'static Agent,
    /// The agent, as people call it.
    pub name: String,
    /// The same, as this user did.
    pub called: &'e str,
    pub scope: Scope,
    pub env: &'e Env,
}

impl Site<'_> {
    /// The file that the hook is in.
    pub fn file(&self) -> PathBuf {
        self.agent.file(self.scope, self.env)
    }

    /// Where that file is kept as it was.
    pub fn backup(&self) -> PathBuf {
        let mut name = self.file().into_os_string();
        name.push(BACKUP);
        name.into()
    }

    pub fn tilde(&self, path: &Path) -> String {
        self.env.tilde(path)
    }

    /// Settings that switch all hooks off.
    pub fn switched_off(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut dirs: Vec<_> = [Scope::User, self.scope].iter().map(|scope| self.agent.dir(*scope, self.env)).collect();
        dirs.dedup();
        for dir in dirs {
            for (file, path, word) in self.agent.off {
                let file = dir.join(file);
                let off = parsed(&file).is_some_and(|json| json.find(path).is_some_and(|value| json.is(&value, word)));
                if off {
                    found.push(format!("\"{}\": {word} in {}", path.join("."), self.tilde(&file)));
                }
            }
            let config = dir.join("config.toml");
            let codex = if self.agent.format == "codex" { crate::file::read_to_string(&config).ok() } else { None };
            let table = codex.and_then(|text| text.parse::<toml::Table>().ok());
            if table.and_then(|table| table.get("features")?.get("hooks")?.as_bool()) == Some(false) {
                found.push(format!("features.hooks = false in {}", self.tilde(&config)));
            }
        }
        found
    }

    /// Other places from which the same sessions run the hook.
    pub fn also(&self) -> Vec<String> {
        let mut found = Vec::new();
        let other = if self.scope == Scope::User { Scope::Project } else { Scope::User };
        let file = self.agent.file(other, self.env);
        if file != self.file() && has_hook(self.agent, other, self.env) {
            found.push(self.tilde(&file));
        }
        found.extend(self.packaged());
        found
    }

    /// The plugin or package that brings the hook and the skill to the same sessions.
    pub fn packaged(&self) -> Option<String> {
        [Scope::User, Scope::Project].iter().find_map(|scope| {
            let settings = self.agent.dir(*scope, self.env).join("settings.json");
            let (json, shown) = (parsed(&settings)?, self.tilde(&settings));
            match self.agent.format {
                "agent-sdk" if has_plugin(&json) => Some(format!("the plugin that is enabled in {shown}")),
                "pi" if has_package(&json, &settings) => Some(format!("the package in {shown}")),
                _ => None,
            }
        })
    }
}

pub fn has_hook(agent: &Agent, scope: Scope, env: &Env) -> bool {
    let path = agent.file(scope, env);
    match agent.form {
        Form::Extension => files::read(&path).ok().flatten().is_some_and(|text| extension::is_ours(&text)),
        form => parsed(&path).is_some_and(|json| !hook::entries(&json, form).is_empty()),
    }
}

/// Whether settings of Claude Code enable our plugin, from whatever marketplace.
fn has_plugin(json: &Json) -> bool {
    let is_ours = |key: &str| key.split('@').next() == Some(NAME);
    let enabled = |plugin: &Child| plugin.key.as_deref().is_some_and(is_ours) && json.is(&plugin.value, "true");
    json.find(&["enabledPlugins"]).is_some_and(|plugins| json.members(&plugins).iter().any(enabled))
}

/// Whether settings of Pi have our package, from wherever.
fn has_package(json: &Json, settings: &Path) -> bool {
    let is_ours = |package: &Span| {
        let source = json.member(package, "source").unwrap_or_else(|| package.clone());
        let Some(source) = json.string(&source) else { return false };
        // A directory is called by its path from here, whatever that is.
        let manifest = parsed(&settings.with_file_name(&source).join("package.json"));
        let named = manifest.and_then(|manifest| manifest.string(&manifest.find(&["name"])?));
        named.map_or_else(|| source.contains(NAME), |name| name == NAME)
    };
    json.find(&["packages"]).is_some_and(|packages| json.elements(&packages).iter().any(is_ours))
}

fn parsed(path: &Path) -> Option<Json> {
    Json::parse(&files::read(path).ok()??).ok()
}

pub fn not_ours(path: &Path) -> Trouble {
    Trouble::new(path, "is there and is not ours; move it away and run this again")
}
