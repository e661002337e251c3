//! `watch --demo`: made-up sessions of three agents in a throw-away home, which go on while somebody looks.
//!
//! They are written as the agents write them and read like all others. Three files say what there is: `sessions.txt` (name,
//! agent, id, project, title), `script.txt` (seconds from the start, session, event, text) and `lines.txt` (agent, event, and
//! the line that the agent writes). Events up to second 0 have happened before; the others happen again and again.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use session_core::env::{Env, iso};
use session_core::process;
use session_format::hash::HashMap;
use session_format::time::{SECOND, Time};

/// Noon, for a picture that is always the same.
pub const NOON: &[u8] = b"2026-11-16T12:00:00Z";

/// The columns of a file. All but the last are words.
fn table<const COLUMNS: usize>(
    text: &'static str,
) -> impl Iterator<Item = [&'static str; COLUMNS]> {
    text.lines().map(|line| {
        let mut columns = line.splitn(COLUMNS, ' ');
        [(); COLUMNS].map(|()| columns.next().unwrap_or_default())
    })
}

struct Event {
    /// In seconds from the start.
    at: i64,
    session: &'static str,
    kind: &'static str,
    text: &'static str,
}

fn script() -> impl Iterator<Item = Event> {
    let event = |[at, session, kind, text]: [&'static str; 4]| {
        Some(Event {
            at: at.parse().ok()?,
            session,
            kind,
            text,
        })
    };
    table(include_str!("script.txt")).filter_map(event)
}

/// The line that an agent writes for an event, with `{names}` in it to be filled in.
fn template(agent: &str, event: &str) -> Option<&'static str> {
    let mut rows = table(include_str!("lines.txt"));
    rows.find(|[writer, kind, _]| *writer == agent && *kind == event)
        .map(|[.., line]| line)
}

/// A home with the sessions in it.
pub struct World {
    pub home: PathBuf,
    /// The number of steps in each transcript.
    written: HashMap<&'static str, u32>,
}

impl World {
    pub fn make(home: &Path, now: Time) -> io::Result<World> {
        let mut world = World {
            home: home.into(),
            written: HashMap::default(),
        };
        for project in ["shop", "site", "infra"] {
            std::fs::create_dir_all(home.join(project))?;
        }
        std::fs::create_dir_all(home.join(".claude/sessions"))?;
        for event in script().filter(|event| event.at <= 0) {
            world.step(&event, Time(now.0 + event.at * SECOND))?;
        }
        Ok(world)
    }

    /// An environment in which nothing but this home is there.
    pub fn env(&self, outer: &Env, is_still: bool) -> Env {
        let (home, cwd) = (&self.home, self.home.join("shop"));
        if is_still {
            return Env::fixed(home, cwd, Time::parse(NOON).unwrap_or_default());
        }
        let kept = [
            "TZ",
            "TERM",
            "TMUX",
            "VTE_VERSION",
            "VISUAL",
            "EDITOR",
            "PATH",
            "LANG",
            "LC_ALL",
        ];
        let kept = kept
            .iter()
            .filter_map(|name| Some(((*name).into(), outer.var(name)?.to_owned())));
        Env::given(
            kept.chain([("HOME".into(), home.clone().into_os_string())]),
            cwd,
            None,
        )
    }

    /// Lets the sessions go on until somebody stops it. `pause` waits, and says whether to go on.
    pub fn play(mut self, env: &Env, mut pause: impl FnMut(Duration) -> bool) -> io::Result<()> {
        loop {
            let mut before = 0;
            for event in script().filter(|event| event.at > 0) {
                if !pause(Duration::from_secs((event.at - before) as u64)) {
                    return Ok(());
                }
                before = event.at;
                self.step(&event, env.now())?;
            }
        }
    }

    fn step(&mut self, event: &Event, time: Time) -> io::Result<()> {
        let sessions = table(include_str!("sessions.txt"));
        let Some([session, agent, id, project, title]) =
            sessions.into_iter().find(|row| row[0] == event.session)
        else {
            return Ok(());
        };
        let registry = self.home.join(format!(".claude/sessions/{session}.json"));
        match event.kind {
            "quits" => return std::fs::remove_file(registry),
            "waiting" | "busy" | "idle" => {
                return std::fs::write(registry, registered(id, event.kind, event.text, time));
            }
            _ => {}
        }
        let count = self.written.entry(session).or_default();
        *count += 1;
        let is_first = *count == 1;
        // A result belongs to the step before it.
        let values = [
            ("{id}", id.to_owned()),
            ("{project}", project.to_owned()),
            ("{title}", title.to_owned()),
            (
                "{cwd}",
                self.home.join(project).to_string_lossy().into_owned(),
            ),
            ("{time}", iso(time)),
            ("{count}", count.to_string()),
            ("{before}", (*count - 1).to_string()),
            ("{event}", event.kind.to_owned()),
            ("{text}", event.text.to_owned()),
        ];
        let filled = |kind: &str| {
            let fill =
                |line: String, (name, value): &(&str, String)| line.replace(name, &in_json(value));
            template(agent, kind).map(|line| values.iter().fold(line.to_owned(), fill))
        };
        let path = self.home.join(filled("path").unwrap_or_default());
        let mut lines: Vec<String> = Vec::new();
        if is_first {
            if let Some(dir) = path.parent() {
                std::fs::create_dir_all(dir)?;
            }
            lines.extend(filled(if title.is_empty() { "first" } else { "title" }));
            if agent == "claude" {
                std::fs::write(&registry, registered(id, "busy", "", time))?;
            }
        }
        lines.extend(filled(event.kind));
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)?;
        file.write_all((lines.join("\n") + "\n").as_bytes())
    }
}

/// A text as it stands in a string of JSON.
fn in_json(text: &str) -> String {
    let quoted = json!(text).to_string();
    quoted
        .trim_start_matches('"')
        .trim_end_matches('"')
        .to_owned()
}

/// The report of a Claude Code about itself. It claims to be this very process, which surely runs.
fn registered(id: &str, status: &str, waits_for: &str, time: Time) -> String {
    let pid = std::process::id();
    let start = process::started(pid).unwrap_or(0).to_string();
    let namespace = process::namespace().unwrap_or_default();
    let said = json!({
        "pid": pid, "procStart": start, "pidDomain": namespace, "sessionId": id, "status": status,
        "waitingFor": waits_for, "statusUpdatedAt": time.0,
    });
    said.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use session_format::time::MINUTE;

    /// Within the steps of a session nothing happens before what comes before it, and every line of the files is used.
    #[test]
    fn the_files_fit_together() {
        let sessions: Vec<[&str; 5]> = table(include_str!("sessions.txt")).collect();
        for [session, agent, ..] in &sessions {
            let events: Vec<Event> = script().filter(|event| event.session == *session).collect();
            assert!(
                !events.is_empty() && events.iter().map(|event| event.at).is_sorted(),
                "{session}"
            );
            for event in events
                .iter()
                .filter(|event| !["waiting", "busy", "idle", "quits"].contains(&event.kind))
            {
                let line = template(agent, event.kind).expect(event.kind);
                assert!(
                    serde_json::from_str::<serde_json::Value>(line).is_ok(),
                    "{line}"
                );
                assert!(
                    !event.text.contains(['"', '\\']),
                    "{}: it stands in JSON within JSON",
                    event.text
                );
            }
        }
        assert!(script().all(|event| sessions.iter().any(|row| row[0] == event.session)));
        assert_eq!(
            script().count(),
            include_str!("script.txt").lines().count(),
            "every line begins with a number"
        );
        let later: Vec<i64> = script()
            .map(|event| event.at)
            .filter(|at| *at > 0)
            .collect();
        assert!(later.is_sorted() && later.iter().all(|at| at * SECOND < 2 * MINUTE));
    }
}
