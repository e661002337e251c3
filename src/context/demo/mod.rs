//! `session-context demo`: four made-up sessions in a throw-away directory, and what one of them would be told.
//!
//! The hook's own code says it, at a fixed time; nothing of the user's is read, and the directory is gone afterwards.

use std::path::{Path, PathBuf};

use super::{Exit, Problem, Stage};
use crate::hook::Observer;
use crate::hook::context::Context;
use crate::hook::report::report;
use crate::hook::say::say;
use session_core::ask::log::{Origin, last};
use session_core::env::Env;
use session_core::file::Unreadable;
use session_core::read::Wanted;
use session_core::settings::Settings;
use session_core::show::log::LogView;
use session_core::state::cursors::View;
use session_format::budget::Deadline;
use session_format::time::Time;

/// The path and text of each session, below a home directory. `/demo` in them is that directory.
const SESSIONS: [(&str, &str); 4] = [
    (
        ".claude/projects/shop/5e551011-0000-4000-8000-000000000001.jsonl",
        include_str!("own.jsonl"),
    ),
    (
        ".claude/projects/shop/a11ce000-0000-4000-8000-000000000002.jsonl",
        include_str!("claude.jsonl"),
    ),
    (
        ".codex/sessions/2026/11/16/rollout-2026-11-16T11-30-00-c0de8000-0000-7000-8000-000000000003.jsonl",
        include_str!("codex.jsonl"),
    ),
    (
        ".pi/agent/sessions/--shop--/2026-11-16T11-10-00-000Z_91000000-0000-7000-8000-000000000004.jsonl",
        include_str!("pi.jsonl"),
    ),
];
/// The session that is told, and the one whose log is shown.
const ASKS: &str = "5e551011-0000-4000-8000-000000000001";
const SHOWN: &str = "a11ce000";
/// Noon, when the last of them has been quiet for three minutes.
pub const NOW: &str = "2026-11-16T12:00:00Z";

pub fn run(stage: &mut Stage) -> Result<Exit, Problem> {
    let path = stage.env.temporary_dir("session-context-demo");
    let path = path.map_err(|error| Problem::Trouble(format!("a temporary directory: {error}")))?;
    let failed = |error| Unreadable {
        path: path.clone(),
        error,
    };
    let shown = path
        .canonicalize()
        .map_err(|error| failed(error).into())
        .and_then(|path| show(&path, stage));
    std::fs::remove_dir_all(&path).map_err(failed)?;
    shown
}

/// Writes the sessions below `home`, and returns the directory of their project. The README's examples read them, too.
pub fn write(home: &Path) -> Result<PathBuf, Unreadable> {
    for (path, text) in SESSIONS {
        let path = home.join(path);
        let made = std::fs::create_dir_all(path.parent().unwrap_or(home));
        let written = made
            .and_then(|()| std::fs::write(&path, text.replace("/demo", &home.to_string_lossy())));
        written.map_err(|error| Unreadable::new(&path, error))?;
    }
    let shop = home.join("shop");
    std::fs::create_dir_all(&shop).map_err(|error| Unreadable::new(&shop, error))?;
    Ok(shop)
}

fn show(home: &Path, stage: &mut Stage) -> Result<Exit, Problem> {
    let shop = write(home)?;
    let env = Env::fixed(home, shop, Time::parse(NOW.as_bytes()).unwrap_or(Time(0)));
    let settings = Settings::default();
    let Some(claude) = stage
        .formats
        .iter()
        .find(|format| format.name == "agent-sdk")
    else {
        return Ok(Exit::Nothing);
    };
    let observer = Observer::new(claude, ASKS, None, &env, &settings);
    let context = Context {
        env: &env,
        settings: &settings,
        formats: stage.formats,
        observer: &observer,
        view: &View::default(),
        deadline: &Deadline::after(settings.deadline),
        explain: false,
        position: None,
    };
    let told = say(&report(&context, false), &context, settings.budget).block;
    writeln!(
        stage.out,
        "Four sessions of three agents work in one project, ~/shop. This is what one of"
    )?;
    writeln!(
        stage.out,
        "them, a Claude Code session, is told with its next prompt:\n"
    )?;
    stage.print_indented(&told.text)?;
    writeln!(
        stage.out,
        "\nAnd this is what it, or you, can look up: session-reader {SHOWN}\n"
    )?;
    let mut there = stage.at(&env);
    let resolved = there.resolve(SHOWN)?;
    let all = Wanted {
        count: usize::MAX,
        ..Wanted::default()
    };
    let log = last(&resolved, all)?;
    let origin = there.heard(Origin::of(&resolved.session, None));
    let mut view = LogView::new(env.zone(), there.gate, there.style);
    let exit = there.print_lines(log.entries.iter().map(|entry| view.entry(entry, &origin)))?;
    writeln!(
        stage.out,
        "\nNext: `session-context install --all` (from a clone of the repository, `cargo setup` first)"
    )?;
    Ok(exit)
}
