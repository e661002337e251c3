//! One agent, for a user or in a project: where its files are, and what else there decides whether the hook runs.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::agents::{Agent, Form, Scope};
use super::edit::Json;
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
            for (file, path, off) in self.agent.off {
                let file = dir.join(file);
                if path.iter().fold(&parsed(&file), |value, key| &value[key]) == off {
                    found.push(format!("\"{}\": {off} in {}", path.join("."), self.tilde(&file)));
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
            let (json, shown) = (parsed(&settings), self.tilde(&settings));
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
        form => !hook::entries(&parsed(&path), form).is_empty(),
    }
}

/// Whether settings of Claude Code enable our plugin, from whatever marketplace.
fn has_plugin(settings: &Value) -> bool {
    let mut plugins = settings["enabledPlugins"].as_object().into_iter().flatten();
    plugins.any(|(key, enabled)| key.split('@').next() == Some(NAME) && *enabled == true)
}

/// Whether settings of Pi have our package, from wherever.
fn has_package(json: &Value, settings: &Path) -> bool {
    let is_ours = |package: &Value| {
        let Some(source) = package.get("source").unwrap_or(package).as_str() else { return false };
        // A directory is called by its path from here, whatever that is.
        let manifest = parsed(&settings.with_file_name(source).join("package.json"));
        manifest["name"].as_str().map_or_else(|| source.contains(NAME), |name| name == NAME)
    };
    json["packages"].as_array().is_some_and(|packages| packages.iter().any(is_ours))
}

/// What a file says; null if it cannot be read.
fn parsed(path: &Path) -> Value {
    let bytes = files::read(path).ok().flatten();
    bytes.and_then(|bytes| Json::parse(&bytes).ok()).map(|json| json.value).unwrap_or_default()
}

pub fn not_ours(path: &Path) -> Trouble {
    Trouble::new(path, "is there and is not ours; move it away and run this again")
}
