//! `watch --demo`: made-up sessions of three agents in a throw-away home, which go on while somebody looks.
//!
//! They are written as the agents write them and read like all others. Each step of `script.txt` is a line of a transcript or
//! what an agent says of itself; steps up to 0 have happened before, and the others happen again and again.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use crate::env::{Env, iso};
use crate::hash::HashMap;
use crate::process;
use crate::time::{SECOND, Time};

/// Noon, for a picture that is always the same.
pub const NOON: &[u8] = b"2026-11-16T12:00:00Z";

/// Each session: what it is called in the script, agent, id, project, transcript, and the title that its user gave it.
const SESSIONS: &str = include_str!("sessions.txt");
/// When, in seconds from the start; which session; what happens.
const SCRIPT: &str = include_str!("script.txt");
/// The lines that agents write: the agent, what happens or the tool that it calls, and the line with its variables.
const LINES: &str = include_str!("lines.txt");

struct Step {
    at: i64,
    session: &'static str,
    /// What happens, or the tool that is called.
    kind: &'static str,
    text: &'static str,
}

fn script() -> impl Iterator<Item = Step> {
    SCRIPT.lines().filter_map(|line| {
        let [at, session, kind, text] = words(line);
        // A call goes by its tool.
        let (kind, text) = if kind == "call" { text.split_once(' ')? } else { (kind, text) };
        Some(Step { at: at.parse().ok()?, session, kind, text })
    })
}

/// The first words of a line, and then the rest of it.
fn words<const N: usize>(line: &'static str) -> [&'static str; N] {
    let mut words = line.splitn(N, ' ');
    [(); N].map(|()| words.next().unwrap_or_default())
}

/// A home with the sessions in it.
pub struct World {
    pub home: PathBuf,
    /// How many steps each transcript has.
    written: HashMap<&'static str, u32>,
}

impl World {
    pub fn make(home: &Path, now: Time) -> io::Result<World> {
        let mut world = World { home: home.into(), written: HashMap::default() };
        for project in ["shop", "site", "infra"] {
            std::fs::create_dir_all(home.join(project))?;
        }
        std::fs::create_dir_all(home.join(".claude/sessions"))?;
        for step in script().filter(|step| step.at <= 0) {
            world.step(&step, Time(now.0 + step.at * SECOND))?;
        }
        Ok(world)
    }

    /// An environment in which nothing but this home is there.
    pub fn env(&self, outer: &Env, is_still: bool) -> Env {
        let (home, cwd) = (&self.home, self.home.join("shop"));
        if is_still {
            return Env::fixed(home, cwd, Time::parse(NOON).unwrap_or_default());
        }
        let kept = ["TZ", "TERM", "TMUX", "VTE_VERSION", "VISUAL", "EDITOR", "PATH", "LANG", "LC_ALL"];
        let kept = kept.iter().filter_map(|name| Some(((*name).into(), outer.var(name)?.to_owned())));
        Env::given(kept.chain([("HOME".into(), home.clone().into_os_string())]), cwd, None)
    }

    /// Lets the sessions go on until somebody stops it. `pause` waits, and says whether to go on.
    pub fn play(mut self, env: &Env, mut pause: impl FnMut(Duration) -> bool) -> io::Result<()> {
        loop {
            let mut before = 0;
            for step in script().filter(|step| step.at > 0) {
                if !pause(Duration::from_secs((step.at - before) as u64)) {
                    return Ok(());
                }
                before = step.at;
                self.step(&step, env.now())?;
            }
        }
    }

    fn step(&mut self, step: &Step, time: Time) -> io::Result<()> {
        let made = SESSIONS.lines().map(words::<6>).find(|[name, ..]| *name == step.session);
        let [name, agent, id, project, path, title] = made.unwrap_or_default();
        let registry = self.home.join(format!(".claude/sessions/{name}.json"));
        if step.kind == "quits" {
            return std::fs::remove_file(registry);
        }
        if step.kind == "at" {
            let [status, waits_for] = words(step.text);
            return std::fs::write(registry, registered(id, status, waits_for, time));
        }
        let (path, cwd) = (self.home.join(path), self.home.join(project));
        let count = self.written.entry(name).or_default();
        let is_first = *count == 0;
        *count += 1;
        let count = *count;
        let line = |kind: &str, text: &str| {
            let all = LINES.lines().map(words).find(|[by, of, _]| (*by, *of) == (agent, kind));
            let [_, _, line] = all.unwrap_or_default();
            let variable = |name: &str| match name {
                "id" => id.to_owned(),
                "cwd" => cwd.to_string_lossy().into_owned(),
                "path" => cwd.join(text).to_string_lossy().into_owned(),
                "time" => iso(time),
                "count" => count.to_string(),
                "call" => format!("c{count}"),
                "before" => format!("c{}", count - 1),
                "this" => format!("{count:08x}"),
                "parent" => format!("{:08x}", count - 1),
                _ => text.to_owned(),
            };
            filled(line, variable)
        };
        let mut lines = String::new();
        if is_first {
            path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            lines += &line(if title.is_empty() { "begins" } else { "titled" }, title);
            if agent == "claude" {
                std::fs::write(&registry, registered(id, "busy", "", time))?;
            }
        }
        lines += &line(step.kind, step.text);
        std::fs::OpenOptions::new().append(true).create(true).open(path)?.write_all(lines.as_bytes())
    }
}

/// A line with its `$variables` in place, each as it stands in a string of JSON. Nothing if there is no line.
fn filled(line: &str, variable: impl Fn(&str) -> String) -> String {
    let mut parts = line.split('$');
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|char: char| !char.is_ascii_lowercase()).unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        let value = json!(variable(name)).to_string();
        whole += value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or_default();
        whole += rest;
    }
    if whole.is_empty() { whole } else { whole + "\n" }
}

/// What a Claude Code says of itself. It claims to be this very process, which surely runs.
fn registered(id: &str, status: &str, waits_for: &str, time: Time) -> String {
    let pid = std::process::id();
    let start = process::started(pid).unwrap_or(0).to_string();
    let namespace = format!("pid:[{}]", process::namespace().unwrap_or_default());
    let said = json!({
        "pid": pid, "procStart": start, "pidDomain": namespace, "sessionId": id, "status": status,
        "waitingFor": waits_for, "statusUpdatedAt": time.0,
    });
    said.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::MINUTE;

    /// Within the steps of a session nothing happens before what comes before it.
    #[test]
    fn the_script_is_in_order() {
        assert_eq!(script().count(), SCRIPT.lines().count());
        for [session, ..] in SESSIONS.lines().map(words::<2>) {
            let times: Vec<i64> = script().filter(|step| step.session == session).map(|step| step.at).collect();
            assert!(!times.is_empty() && times.is_sorted(), "{session}: {times:?}");
        }
        let later: Vec<i64> = script().map(|step| step.at).filter(|at| *at > 0).collect();
        assert!(later.is_sorted() && later.iter().all(|at| at * SECOND < 2 * MINUTE));
    }

    /// Each step of each agent has a line, and that is JSON.
    #[test]
    fn every_step_has_a_line() {
        for step in script().filter(|step| !["at", "quits"].contains(&step.kind)) {
            let agent =
                SESSIONS.lines().map(words::<3>).find(|[name, ..]| *name == step.session).map(|[_, agent, _]| agent);
            let line = LINES.lines().map(words::<3>).find(|[by, of, _]| Some(*by) == agent && *of == step.kind);
            let line = filled(line.map_or("", |[.., line]| line), |_| step.text.into());
            serde_json::from_str::<serde_json::Value>(&line).unwrap_or_else(|error| panic!("{}: {error}", step.text));
        }
    }
}
