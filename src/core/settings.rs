//! What the user has set: `config.toml`, then variables, then flags; the last word counts.
//!
//! A wrong value is reported and ignored. Nothing here stops a program.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::env::Env;
use session_format::boundary::substr;
use session_format::entry::named;
use session_format::time::{DAY, HOUR};

#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The most characters that a prompt is given.
    pub budget: usize,
    pub scope: Scope,
    /// How far back the first look of a session goes, in milliseconds.
    pub first_look: i64,
    /// After this long the hook prints what is ready.
    pub deadline: Duration,
    /// An edit by another session is a conflict if this one looked at the file so long before it, in milliseconds.
    pub conflict_window: i64,
    /// Hide secrets in what the reader shows, too.
    pub redact: bool,
    /// Directories whose sessions are neither told anything nor mentioned.
    pub ignore: Vec<PathBuf>,
}

named! {
    /// Which sessions the hook mentions.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Scope {
        Project = "project",
        Machine = "machine",
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            budget: 500,
            scope: Scope::Project,
            first_look: HOUR,
            deadline: Duration::from_millis(300),
            conflict_window: DAY,
            redact: false,
            ignore: Vec::new(),
        }
    }
}

type Set = fn(&mut Settings, &str, &Env) -> Result<(), &'static str>;

/// A setting: its key in the file, its variable, and how a text becomes its value.
const KEYS: [(&str, &str, Set); 7] = [
    ("budget", "SESSION_CONTEXT_BUDGET", |settings, text, _| {
        let number = text
            .parse()
            .ok()
            .filter(|number| (1..=9000).contains(number));
        number
            .map(|number| settings.budget = number)
            .ok_or("not a number of characters from 1 to 9000")
    }),
    ("scope", "SESSION_CONTEXT_SCOPE", |settings, text, _| {
        Scope::named(text)
            .map(|scope| settings.scope = scope)
            .ok_or("neither project nor machine")
    }),
    (
        "first_look",
        "SESSION_CONTEXT_FIRST_LOOK",
        |settings, text, _| {
            span(text)
                .map(|span| settings.first_look = span)
                .ok_or("not a time span like 30m or 2h")
        },
    ),
    (
        "conflict_window",
        "SESSION_MONITOR_CONFLICT_WINDOW",
        |settings, text, _| {
            span(text)
                .map(|span| settings.conflict_window = span)
                .ok_or("not a time span like 2h or 1d")
        },
    ),
    (
        "deadline",
        "SESSION_CONTEXT_DEADLINE",
        |settings, text, _| {
            let span = humantime::parse_duration(text)
                .ok()
                .filter(|span| !span.is_zero());
            span.map(|span| settings.deadline = span)
                .ok_or("not a time span like 300ms or 1s")
        },
    ),
    ("redact", "SESSION_READER_REDACT", |settings, text, _| {
        let value = match text {
            "true" | "on" | "1" => Some(true),
            "false" | "off" | "0" => Some(false),
            _ => None,
        };
        value
            .map(|value| settings.redact = value)
            .ok_or("neither true nor false")
    }),
    ("ignore", "SESSION_CONTEXT_IGNORE", |settings, text, env| {
        let dirs: Vec<_> = text.split(':').filter(|dir| !dir.is_empty()).collect();
        let whole = dirs.iter().all(|dir| dir.starts_with(['/', '~']));
        settings.ignore = dirs
            .iter()
            .filter(|_| whole)
            .map(|dir| env.expand(dir))
            .collect();
        if whole {
            Ok(())
        } else {
            Err("not a list of directories from / or ~ on")
        }
    }),
];

/// A time span in milliseconds.
fn span(text: &str) -> Option<i64> {
    let span = humantime::parse_duration(text).ok()?;
    i64::try_from(span.as_millis()).ok()
}

impl Settings {
    /// The settings of the user, and what is wrong with them.
    pub fn read(env: &Env) -> (Settings, Vec<String>) {
        let mut settings = Settings::default();
        let mut wrong = Vec::new();
        let file = env.config_dir().join("config.toml");
        match crate::file::read_to_string(&file) {
            Ok(text) => settings.take_file(&text, &file, env, &mut wrong),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => wrong.push(format!("{}: {error}; taken as empty", file.display())),
        }
        for (_, variable, set) in KEYS {
            if let Some(text) = env.var(variable).map(|text| text.to_string_lossy())
                && let Err(why) = set(&mut settings, &text, env)
            {
                wrong.push(format!("{variable}={text}: {why}; ignored"));
            }
        }
        (settings, wrong)
    }

    fn take_file(&mut self, text: &str, file: &Path, env: &Env, wrong: &mut Vec<String>) {
        let table: toml::Table = match toml::from_str(text) {
            Ok(table) => table,
            Err(error) => {
                let line = error.span().map_or(1, |span| {
                    substr(text, ..span.start).matches('\n').count() + 1
                });
                return wrong.push(format!(
                    "{}:{line}: {}; taken as empty",
                    file.display(),
                    error.message()
                ));
            }
        };
        for (key, value) in table {
            let text = match value {
                toml::Value::String(text) => text,
                toml::Value::Array(all) => {
                    let texts: Vec<_> = all.iter().filter_map(toml::Value::as_str).collect();
                    texts.join(":")
                }
                other => other.to_string(),
            };
            if let Err(why) = self.set(&key, &text, env) {
                wrong.push(format!(
                    "{}: {key} = {text}: {why}; ignored",
                    file.display()
                ));
            }
        }
    }

    /// Sets one value by its key.
    pub fn set(&mut self, key: &str, text: &str, env: &Env) -> Result<(), &'static str> {
        let known = KEYS.iter().find(|(name, ..)| *name == key);
        known.map_or(Err("no such setting"), |(_, _, set)| set(self, text, env))
    }

    /// Whether a directory is to be left alone.
    pub fn ignores(&self, dir: &Path) -> bool {
        self.ignore.iter().any(|ignored| dir.starts_with(ignored))
    }

    /// Whether a session is to be left alone: where it began, and where it is.
    pub fn ignores_session<'d>(&self, mut cwds: impl Iterator<Item = &'d str>) -> bool {
        cwds.any(|cwd| self.ignores(Path::new(cwd)))
    }
}
