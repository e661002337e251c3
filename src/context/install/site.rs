//! One agent, for a user or in a project: where its files are, and what else there decides whether the hook runs.
//!
//! Everything that differs between agents comes from the `[install]` table of the descriptor; there is no agent's name
//! here. A descriptor of the user's never leads out of the home directory.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::files::{self, Trouble};
use super::hook::{self, Job, OurEntry};
use super::json::Json;
use super::status::{self, Ours};
use super::texts;
use session_core::env::Env;
use session_core::formats::AgentFormat;
use session_format::format::descriptor::{Hook, Pointer};
use session_format::format::install::{FileKind, Install, McpServers, SharedSkills, StatusLine};
use session_format::format::live::LiveHook;
use session_format::path::absolute;

const BACKUP: &str = ".before-session-context";
/// The name of the plugin and the package.
const NAME: &str = "session-monitor";
const SKILL: &str = "sessions/SKILL.md";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    User,
    Project,
}

#[derive(Clone, Copy)]
pub struct Site<'e> {
    pub known: &'e AgentFormat,
    pub install: &'e Install,
    hook: &'e Hook,
    pub level: Level,
    pub env: &'e Env,
}

impl<'e> Site<'e> {
    /// None if the descriptor does not say where the agent's hooks are.
    pub fn new(known: &'e AgentFormat, level: Level, env: &'e Env) -> Option<Site<'e>> {
        Some(Site {
            known,
            install: known.install()?,
            hook: known.hook()?,
            level,
            env,
        })
    }

    /// Fails if a user's own descriptor leads out of the home directory, through its variable; or if there is a link on the
    /// way to a file of a project: it came with a clone, and may lead to any file of the user.
    pub fn check_place(&self) -> Result<(), Trouble> {
        if self.level == Level::Project {
            self.env
                .check_cwd()
                .map_err(|why| Trouble::new(&self.file(), why))?;
            let files = [self.file(), self.own_skill(), self.shared_skill()].into_iter();
            for file in files.chain(self.statusline().map(|(file, _)| file)) {
                let below = file.ancestors().take_while(|path| **path != self.env.cwd);
                if let Some(link) = below.filter(|path| path.is_symlink()).last() {
                    return Err(Trouble::new(
                        link,
                        "is a link, which is not followed in a project; remove it",
                    ));
                }
            }
        }
        let dir = absolute(
            &self.env.home,
            &self.at(Level::User).dir().to_string_lossy(),
        );
        match &self.known.file {
            Some(file) if !dir.starts_with(&self.env.home) => Err(Trouble::new(
                file,
                format!("{} is not in your home directory", dir.display()),
            )),
            _ => Ok(()),
        }
    }

    pub fn at(&self, level: Level) -> Site<'e> {
        Site { level, ..*self }
    }

    pub fn others(&self, all: &'e [AgentFormat]) -> impl Iterator<Item = Site<'e>> {
        let Site {
            known, level, env, ..
        } = *self;
        all.iter()
            .filter(|other| other.name != known.name)
            .filter_map(move |other| Site::new(other, level, env))
    }

    /// The agent, as people call it.
    pub fn name(&self) -> &'e str {
        &self.known.head().agent
    }

    pub fn dir(&self) -> PathBuf {
        if self.level == Level::Project {
            return self.env.cwd.join(&self.install.project.0);
        }
        let install = self.install;
        let dir = match self.moved_to() {
            Some(dir) => self
                .env
                .expand(&dir.to_string_lossy())
                .join(&install.below.0),
            None => self.env.home.join(&install.dir.0),
        };
        // `components` drops a slash at the end.
        dir.components().collect()
    }

    /// The value of the variable that moves the agent's directory.
    fn moved_to(&self) -> Option<&'e OsStr> {
        self.env.var(self.install.env.as_deref()?)
    }

    pub fn file(&self) -> PathBuf {
        self.dir().join(&self.install.file.0)
    }

    pub fn owns_file(&self) -> bool {
        self.install.kind != FileKind::Settings
    }

    /// The file and key of the status line, if the agent has one for commands.
    pub fn statusline(&self) -> Option<(PathBuf, &'e StatusLine)> {
        let line = self.install.statusline.as_ref()?;
        Some((self.dir().join(&line.file.0), line))
    }

    /// The file and key of the MCP servers, if the agent has any.
    pub fn mcp(&self) -> Option<(PathBuf, &'e McpServers)> {
        let servers = self.install.mcp.as_ref()?;
        let is_home = servers.in_home && self.moved_to().is_none();
        let dir = if is_home {
            self.env.home.clone()
        } else {
            self.dir()
        };
        Some((dir.join(&servers.file.0), servers))
    }

    /// The skill that most agents read.
    pub fn shared_skill(&self) -> PathBuf {
        let base = match self.level {
            Level::User => &self.env.home,
            Level::Project => &self.env.cwd,
        };
        base.join(".agents/skills").join(SKILL)
    }

    pub fn own_skill(&self) -> PathBuf {
        self.install.skills.as_ref().map_or_else(
            || self.shared_skill(),
            |dir| self.dir().join(&dir.0).join(SKILL),
        )
    }

    pub fn shares_skill(&self) -> bool {
        match self.install.shared_skills {
            SharedSkills::No => false,
            SharedSkills::Yes => true,
            SharedSkills::UnlessMoved => self.level == Level::Project || self.moved_to().is_none(),
        }
    }

    /// The events that the hook runs at: a prompt, and the start of a session where there is an event for it.
    pub fn events(&self) -> impl Iterator<Item = &'e str> {
        [&self.hook.prompts, &self.hook.starts]
            .into_iter()
            .filter_map(|events| events.first())
            .map(String::as_str)
    }

    /// The same, and the events at which the agent tells what it is doing; each with what the hook does then.
    pub fn all_events(&self) -> impl Iterator<Item = (&'e str, Job)> {
        let live = self
            .known
            .live()
            .hook
            .iter()
            .flat_map(LiveHook::events)
            .map(|event| (event, Job::Live));
        self.events().map(|event| (event, Job::Tell)).chain(live)
    }

    pub fn events_of(&self, wanted: Job) -> impl Iterator<Item = &'e str> {
        let events = self.all_events();
        events.filter_map(move |(event, job)| (job == wanted).then_some(event))
    }

    pub fn tilde(&self, path: &Path) -> String {
        self.env.tilde(path)
    }

    /// Settings of the user and the level that switch all hooks off, and unreadable files that may do so.
    pub fn switched_off(&self) -> (Vec<String>, Vec<Trouble>) {
        let (mut off, mut unreadable) = (Vec::new(), Vec::new());
        let mut dirs = vec![self.at(Level::User).dir(), self.dir()];
        dirs.dedup();
        let switches = dirs
            .iter()
            .flat_map(|dir| self.install.off.iter().map(move |switch| (dir, switch)));
        for (file, switch) in switches.map(|(dir, switch)| (dir.join(&switch.file.0), switch)) {
            match parsed(&file) {
                Ok(settings) if at(&settings, &switch.key) == Some(&Value::Bool(switch.is)) => {
                    let key = switch.key.0.join(".");
                    let (quote, is) = if is_toml(&file) {
                        ("", " =")
                    } else {
                        ("\"", ":")
                    };
                    off.push(format!(
                        "{quote}{key}{quote}{is} {} in {}",
                        switch.is,
                        self.tilde(&file)
                    ));
                }
                // Problems of the hook's own file are reported elsewhere.
                Err(trouble) if file != self.file() => unreadable.push(trouble),
                _ => {}
            }
        }
        (off, unreadable)
    }

    /// Tells the user how to trust the hook, if the agent asks for that and the user has not done it.
    pub fn needs_trust(&self) -> Option<&'e str> {
        let trust = self.install.trust.as_ref()?;
        let settings = parsed(&self.at(Level::User).dir().join(&trust.file.0)).unwrap_or_default();
        let trusted = at(&settings, &trust.table).and_then(Value::as_object);
        let file = self.file();
        let is_this = |(name, hook): (&String, &Value)| {
            name.as_bytes()
                .starts_with(file.as_os_str().as_encoded_bytes())
                && hook.get(&trust.key).is_some()
        };
        (!trusted.into_iter().flatten().any(is_this)).then_some(&trust.how)
    }

    /// Other files from which the same sessions run the hook.
    pub fn also(&self) -> Vec<String> {
        let other = self.at(match self.level {
            Level::User => Level::Project,
            Level::Project => Level::User,
        });
        let file = other.file();
        let runs = file != self.file() && other.has_hook().unwrap_or(false);
        let other = runs.then(|| self.tilde(&file));
        other.into_iter().chain(self.packaged()).collect()
    }

    /// Our entries in one of the agent's files.
    pub fn entries(&self, path: &Path, json: &Json) -> Vec<OurEntry> {
        if path == self.file() {
            hook::entries(json, self.install)
        } else {
            Vec::new()
        }
    }

    /// Our status line in one of the agent's files.
    pub fn our_line(&self, path: &Path, json: &Json) -> Option<(&'e StatusLine, Ours)> {
        let (_, line) = self.statusline().filter(|(file, _)| file == path)?;
        Some((line, status::find(json, line)?))
    }

    pub fn has_hook(&self) -> Result<bool, Trouble> {
        let file = self.file();
        let bytes = files::read(&file)?.unwrap_or_default();
        if self.install.kind == FileKind::PiExtension {
            return Ok(texts::is_extension(&bytes));
        }
        Ok(!hook::entries(&Json::parse(&file, &bytes)?, self.install).is_empty())
    }

    /// The plugin or package that brings the hook and the skill to the same sessions.
    pub fn packaged(&self) -> Option<String> {
        let package = self.install.package.as_ref()?;
        [Level::User, Level::Project].iter().find_map(|level| {
            let file = self.at(*level).dir().join(&package.file.0);
            let settings = parsed(&file).unwrap_or_default();
            let found = match at(&settings, &package.at)? {
                Value::Object(names) => names
                    .iter()
                    .any(|(name, enabled)| *enabled == true && is_ours(name, &file)),
                Value::Array(list) => list.iter().any(|one| {
                    let source = one.get("source").unwrap_or(one).as_str();
                    source.is_some_and(|source| is_ours(source, &file))
                }),
                _ => false,
            };
            found.then(|| format!("{} {}", package.called, self.tilde(&file)))
        })
    }
}

/// The copies of a file that were made before each first install, in that order, without an end. There is more than one
/// if the user changed the file before uninstalling: then the copy of it is kept, and the next install needs another.
pub fn backups(path: &Path) -> impl Iterator<Item = PathBuf> {
    (1..).map(|number| {
        let mut name = path.as_os_str().to_owned();
        name.push(BACKUP);
        if number > 1 {
            name.push(format!("-{number}"));
        }
        name.into()
    })
}

/// The newest copy of a file, as it was before the install that is in it now.
pub fn backup(path: &Path) -> Option<PathBuf> {
    backups(path)
        .take_while(|backup| fs::symlink_metadata(backup).is_ok())
        .last()
}

/// True if a package is ours: by the name in its manifest if it is a directory, as seen from the settings that list it,
/// else by a part of its own name (`session-monitor@somewhere`, `git:github.com/a/session-monitor`).
fn is_ours(package: &str, settings: &Path) -> bool {
    let manifest =
        parsed(&settings.with_file_name(package).join("package.json")).unwrap_or_default();
    let mut parts = package
        .split(['@', '/', ':'])
        .map(|part| part.trim_end_matches(".git"));
    manifest["name"]
        .as_str()
        .map_or_else(|| parts.any(|part| part == NAME), |name| name == NAME)
}

fn at<'v>(value: &'v Value, pointer: &Pointer) -> Option<&'v Value> {
    pointer
        .0
        .iter()
        .try_fold(value, |value, key| value.get(key))
}

pub fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "toml")
}

/// Parses a JSON or TOML file; null if it is not there.
fn parsed(path: &Path) -> Result<Value, Trouble> {
    let Some(bytes) = files::read(path)? else {
        return Ok(Value::Null);
    };
    if is_toml(path) {
        return toml::from_slice(&bytes).map_err(|error| Trouble::new(path, error.message()));
    }
    Json::parse(path, &bytes).map(|json| json.value())
}
