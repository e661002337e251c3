//! Whether the hook is installed, and would run: what `doctor` asks.

use std::path::Path;

use super::agents::{Agent, Form, Moment, Scope};
use super::edit::Json;
use super::files;
use super::site::Site;
use super::{extension, hook};
use crate::env::Env;

/// What was found out about an agent's hook.
#[derive(Debug)]
pub enum Hook {
    /// It is there, for the reasons given.
    Installed(Vec<String>),
    /// It is there, but will not run as it should.
    Broken(Vec<String>),
    Missing,
}

/// Looks at the settings of an agent, the user's and this directory's.
pub fn check(format: &str, name: &str, env: &Env) -> Option<Hook> {
    let agent = Agent::of_format(format)?;
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    for scope in [Scope::User, Scope::Project] {
        let site = Site { agent, name: name.into(), called: name, scope, env };
        let found = in_file(&site);
        if !found.is_empty() || scope == Scope::User {
            bad.extend(site.switched_off().into_iter().map(|off| format!("hooks are switched off: {off}")));
        }
        for (is_good, what) in found {
            if is_good { good.push(what) } else { bad.push(what) }
        }
        if scope == Scope::User {
            good.extend(site.packaged());
        }
    }
    bad.dedup();
    Some(match (good.is_empty(), bad.is_empty()) {
        (true, true) => Hook::Missing,
        (false, true) => Hook::Installed(good),
        (_, false) if good.is_empty() && bad.iter().all(|bad| bad.starts_with("hooks are")) => Hook::Missing,
        _ => Hook::Broken(bad),
    })
}

/// What a file says, each with whether that is as it should be.
fn in_file(site: &Site) -> Vec<(bool, String)> {
    let path = site.file();
    let shown = site.tilde(&path);
    let bytes = match files::read(&path) {
        Ok(None) => return Vec::new(),
        Ok(Some(bytes)) => bytes,
        Err(trouble) => return vec![(false, trouble.to_string())],
    };
    if site.agent.form == Form::Extension {
        return if extension::is_ours(&bytes) { vec![(true, shown)] } else { Vec::new() };
    }
    let json = match Json::parse(&bytes) {
        Ok(json) => json,
        Err(fault) => {
            let place = format!("{shown}:{}:{}", fault.line, fault.column);
            return vec![(false, format!("{place}: {}; correct that and install it again", fault.why))];
        }
    };
    let entries = hook::entries(&json.value, site.agent.form);
    let mut found = Vec::new();
    for entry in &entries {
        let program = Path::new(&entry.program);
        if program.is_absolute() && !program.is_file() {
            found.push((false, format!("{shown} runs {}, which is not there; install it again", site.tilde(program))));
        }
    }
    let prompt = site.agent.event(Moment::Prompt);
    let at_prompt = entries.iter().any(|entry| entry.event == prompt);
    if found.is_empty() && !entries.is_empty() {
        let missing = format!("{shown} has the hook, but not for {prompt}; install it again");
        found.push(if at_prompt { (true, shown) } else { (false, missing) });
    }
    if site.agent.format == "codex" && at_prompt && !is_trusted(&path, site) {
        let how = "Codex does not trust the hook yet: start `codex`, type `/hooks`";
        found.push((false, how.into()));
    }
    found
}

/// Whether Codex has any hook of a file among those that the user trusts.
fn is_trusted(hooks: &Path, site: &Site) -> bool {
    let config = site.agent.dir(Scope::User, site.env).join("config.toml");
    let text = crate::file::read_to_string(&config).unwrap_or_default();
    let table = text.parse::<toml::Table>().unwrap_or_default();
    let states = table.get("hooks").and_then(|hooks| hooks.get("state")?.as_table());
    let path = hooks.to_string_lossy();
    states.is_some_and(|states| {
        states.iter().any(|(key, state)| key.starts_with(&*path) && state.get("trusted_hash").is_some())
    })
}
