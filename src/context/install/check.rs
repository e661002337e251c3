//! Whether the hook is installed, and would run: what `doctor` asks.

use std::path::Path;

use super::files;
use super::hook::{self, Job};
use super::json::Json;
use super::site::{Level, Site};
use super::{mcp, status, texts};
use session_core::env::Env;
use session_core::formats::AgentFormat;
use session_format::format::install::FileKind;

#[derive(Debug)]
pub enum HookState {
    /// In these files.
    Installed(Vec<String>),
    /// It will not run, for these reasons.
    Broken(Vec<String>),
    /// With the agent's directory, if that is not there: the agent is not installed, as it seems.
    Missing(Option<String>),
}

const LIVE: &str = " (with live state)";

/// Checks the settings of the user and of this directory. None if no hook is known for the agent.
pub fn check(known: &AgentFormat, env: &Env) -> Option<HookState> {
    let user = Site::new(known, Level::User, env)?;
    if let Err(trouble) = user.check_place() {
        return Some(HookState::Broken(vec![trouble.shown(env)]));
    }
    // In the home directory, the project's settings are the user's.
    let project =
        Site::new(known, Level::Project, env).filter(|project| project.file() != user.file());
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    let (mut off, mut unreadable) = user.switched_off();
    for site in [Some(user), project].into_iter().flatten() {
        for (is_good, what) in in_file(&site) {
            let list = if is_good { &mut good } else { &mut bad };
            list.push(what);
            if site.level == Level::Project {
                (off, unreadable) = site.switched_off();
            }
        }
    }
    good.extend(user.packaged());
    if good.is_empty() && bad.is_empty() {
        let dir = Some(user.dir()).filter(|dir| !dir.is_dir());
        return Some(HookState::Missing(dir.map(|dir| env.tilde(&dir))));
    }
    let off = off
        .into_iter()
        .map(|off| format!("hooks are switched off: {off}"));
    bad.splice(
        0..0,
        off.chain(unreadable.into_iter().map(|trouble| trouble.shown(env))),
    );
    Some(if bad.is_empty() {
        HookState::Installed(good)
    } else {
        HookState::Broken(bad)
    })
}

/// Checks the status line of the user. None if the agent has none for commands.
pub fn check_statusline(known: &AgentFormat, env: &Env) -> Option<HookState> {
    let user = Site::new(known, Level::User, env).filter(|user| user.check_place().is_ok())?;
    let (path, line) = user.statusline()?;
    let found = files::read(&path).and_then(|bytes| Json::parse(&path, &bytes.unwrap_or_default()));
    let ours = match found.map(|json| status::find(&json, line)) {
        Ok(ours) => ours,
        // Problems of the hook's own file are reported with the hook.
        Err(_) if path == user.file() => return None,
        Err(trouble) => return Some(HookState::Broken(vec![trouble.shown(env)])),
    };
    Some(match ours {
        None => HookState::Missing(None),
        Some(ours) => match missing(&ours.program, &path, &user) {
            None => HookState::Installed(vec![env.tilde(&path)]),
            Some(why) => HookState::Broken(vec![why]),
        },
    })
}

/// Checks our MCP server. None if the agent has none of ours, or its file cannot be read, which may not be about us.
pub fn check_mcp(known: &AgentFormat, env: &Env) -> Option<HookState> {
    let user = Site::new(known, Level::User, env).filter(|user| user.check_place().is_ok())?;
    let (path, servers) = user.mcp()?;
    let program = mcp::find_in(&path, &files::read(&path).ok()??, servers).ok()??;
    Some(match missing(&program, &path, &user) {
        None => HookState::Installed(vec![env.tilde(&path)]),
        Some(why) => HookState::Broken(vec![why]),
    })
}

/// True if what the agent is doing should be noted by a hook and is not. Where it is noted, [`check`] says so.
pub fn lacks_live(known: &AgentFormat, env: &Env) -> bool {
    let is_noted = |site: Site| {
        let Ok(Some(bytes)) = files::read(&site.file()) else {
            return false;
        };
        match site.install.kind {
            FileKind::PiExtension => texts::is_live(&bytes),
            _ => Json::parse(&site.file(), &bytes).is_ok_and(|json| {
                hook::entries(&json, site.install)
                    .iter()
                    .any(|entry| entry.job == Job::Live)
            }),
        }
    };
    let sites = [Level::User, Level::Project]
        .into_iter()
        .filter_map(|level| Site::new(known, level, env));
    known.live().hook.is_some() && !sites.into_iter().any(is_noted)
}

/// The problem with a file that runs a program that is not there.
fn missing(program: &str, file: &Path, site: &Site) -> Option<String> {
    let path = Path::new(program);
    let why = || {
        format!(
            "{} runs {}, which is not there; install it again",
            site.tilde(file),
            site.tilde(path)
        )
    };
    (path.is_absolute() && !path.is_file()).then(why)
}

/// The findings in one file, each with whether it is good.
fn in_file(site: &Site) -> Vec<(bool, String)> {
    let path = site.file();
    let shown = site.tilde(&path);
    let bytes = match files::read(&path) {
        Ok(None) => return Vec::new(),
        Ok(Some(bytes)) => bytes,
        Err(trouble) => return vec![(false, trouble.shown(site.env))],
    };
    if site.install.kind == FileKind::PiExtension {
        let shown = if texts::is_live(&bytes) {
            shown + LIVE
        } else {
            shown
        };
        return if texts::is_extension(&bytes) {
            vec![(true, shown)]
        } else {
            Vec::new()
        };
    }
    let json = match Json::parse(&path, &bytes) {
        Ok(json) => json,
        Err(trouble) => {
            return vec![(
                false,
                trouble
                    .with("correct that and install it again")
                    .shown(site.env),
            )];
        }
    };
    let entries = hook::entries(&json, site.install);
    let gone = entries
        .iter()
        .filter_map(|entry| missing(&entry.program, &path, site));
    let mut found: Vec<(bool, String)> = gone.map(|why| (false, why)).collect();
    let prompt = site.events().next().unwrap_or_default();
    let at_prompt = entries
        .iter()
        .any(|entry| entry.event == prompt && entry.job == Job::Tell);
    if found.is_empty() && !entries.is_empty() {
        let missing = format!("{shown} has the hook, but not for {prompt}; install it again");
        let is_live = entries.iter().any(|entry| entry.job == Job::Live);
        found.push(if at_prompt {
            (true, shown + if is_live { LIVE } else { "" })
        } else {
            (false, missing)
        });
    }
    if at_prompt && let Some(how) = site.needs_trust() {
        found.push((
            false,
            format!("{} does not trust the hook yet: {how}", site.name()),
        ));
    }
    found
}
