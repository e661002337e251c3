//! The command line of `session-context`, without the hook itself, and its commands.

use std::io::Write;
use std::sync::atomic::AtomicBool;

use clap::{CommandFactory, Parser, Subcommand};

use super::explain::{self, ExplainArgs};
use super::install::{self, InstallArgs};
use super::marks::{self, DoneArgs, TagArgs, TagsArgs};
use super::mute::{self, MuteArgs};
use super::notes::{self, NoteArgs, NotesArgs, PinArgs, PinsArgs, UnpinArgs};
use super::user::{self, ProfileArgs};
use super::{Exit, Stage, demo, doctor};
use crate::env::Env;
use crate::format;
use crate::render::terminal::Look;
use crate::settings::Settings;

const EXAMPLES: &str = "\
The hook reads the JSON that an agent gives its hooks from stdin and prints the agent's JSON, at most 500 characters of
text in it, or nothing when nothing happened. It always exits with 0, and says what is wrong on stderr and in its journal.
  --agent A     the agent that asks: claude, codex, gemini, qwen, copilot, pi [default: told from what it says]
  --budget N    the most characters to tell [default: 500]
  --scope S     project: sessions in the same git repository or directory; machine: all [default: project]

Examples:
  session-context demo                    see what it does, with made-up sessions
  session-context install claude          put the hook and the skill into Claude Code's settings
  session-context explain --session last  what that session would be told now, and why
  session-context mute                    stop telling the session this runs in
  session-context pin --for 7d the API is frozen    tell it every session of this project for a week
  session-context note decision PostgreSQL instead of SQLite
  session-context done last               the work of the newest session is finished
  session-context profile set rule simple solutions first

Settings are in session-monitor/config.toml (see XDG_CONFIG_HOME); a variable wins over the file, a flag over both:
  budget = 500           SESSION_CONTEXT_BUDGET
  scope = \"project\"      SESSION_CONTEXT_SCOPE
  first_look = \"1h\"      SESSION_CONTEXT_FIRST_LOOK   how far back the first look of a session goes
  deadline = \"300ms\"     SESSION_CONTEXT_DEADLINE     after that, what is ready is told
  ignore = [\"~/private\"] SESSION_CONTEXT_IGNORE       sessions there are told nothing, and of them nothing is told
  redact = true          SESSION_READER_REDACT        hide secrets in what session-reader shows, too

Exit status of the commands: 0 done, 1 nothing to show, 2 trouble. The hook's is always 0.

Environment:
  SESSION_CONTEXT=off   the hook says nothing
  XDG_CONFIG_HOME       settings and user formats are in session-monitor/ there (default ~/.config)
  XDG_DATA_HOME         pins, notes and profile are in session-monitor/ there (default ~/.local/share)
  XDG_STATE_HOME        what each session has seen, and the journal, are in session-monitor/ there (default ~/.local/state)
  SESSION_MONITOR_NOW   the time to take for now (2026-11-16T12:00:00Z), for output that stays the same
  and those of session-reader --help that say where the agents keep their sessions";

/// Tell a coding agent, with every prompt, what happened in its other sessions.
#[derive(Debug, Parser)]
#[command(name = "session-context", version, after_help = EXAMPLES, override_usage = "session-context [--agent A] [--budget N] [--scope project|machine]   (the hook)\n       session-context COMMAND")]
pub struct Context {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show with made-up sessions what an agent is told
    Demo,
    /// Put the hook and the skill into an agent's own settings
    Install(InstallArgs),
    /// Take the hook and the skill out of an agent's settings
    Uninstall(InstallArgs),
    /// Show what a session would be told now, and why; nothing counts as seen by it
    Explain(ExplainArgs),
    /// Check what is found, installed and working, and show what was told last
    Doctor,
    /// Stop telling a session about the others
    Mute(MuteArgs),
    /// Tell a session about the others again
    Unmute(MuteArgs),
    /// Tell every session that begins in this project something first
    Pin(PinArgs),
    /// List the pins of this project
    Pins(PinsArgs),
    /// Remove pins or notes by their ids
    #[command(visible_alias = "forget")]
    Unpin(UnpinArgs),
    /// Write down a decision, a blocker, a next step or a fact of this project
    Note(NoteArgs),
    /// List the notes of this project, and its sessions that are done
    Notes(NotesArgs),
    /// Call a session complete: it is no longer where the work stopped
    Done(DoneArgs),
    /// Give a session a tag
    Tag(TagArgs),
    /// List the tags of this project with their sessions
    Tags(TagsArgs),
    /// Show or set what holds for you in every project: role, preferences, rules
    Profile(ProfileArgs),
}

pub fn is_command(word: &str) -> bool {
    word == "help"
        || Context::command()
            .get_subcommands()
            .any(|command| command.get_name() == word || command.get_all_aliases().any(|alias| alias == word))
}

/// Runs a command of `session-context`.
pub fn run(command: Command, env: &Env, look: Look, out: &mut dyn Write, err: &mut dyn Write) -> Exit {
    let (formats, bad) = format::known(&env.formats_dir());
    let never = AtomicBool::new(false);
    let (settings, wrong) = Settings::read(env);
    let stop = &never;
    let mut stage =
        Stage { program: "session-context", env, look, out, err, formats: &formats, settings: &settings, stop };
    // The doctor says it in his report.
    let ask = !matches!(command, Command::Doctor);
    let said = wrong.iter().filter(|_| ask).try_for_each(|wrong| stage.say(wrong));
    let broken_formats = said.and_then(|()| bad.iter().filter(|_| ask).try_for_each(|bad| stage.say(bad)));
    let result = broken_formats.and_then(|()| match command {
        Command::Demo => demo::run(&mut stage),
        Command::Install(args) => install::install(&args, &mut stage),
        Command::Uninstall(args) => install::uninstall(&args, &mut stage),
        Command::Explain(args) => explain::run(&args, &mut stage),
        Command::Doctor => doctor::run(&bad, &wrong, &mut stage),
        Command::Mute(args) => mute::run(&args, true, &mut stage),
        Command::Unmute(args) => mute::run(&args, false, &mut stage),
        Command::Pin(args) => notes::pin(&args, &mut stage),
        Command::Pins(args) => notes::pins(&args, &mut stage),
        Command::Unpin(args) => notes::unpin(&args, &mut stage),
        Command::Note(args) => notes::note(&args, &mut stage),
        Command::Notes(args) => notes::notes(&args, &mut stage),
        Command::Done(args) => marks::done(&args, &mut stage),
        Command::Tag(args) => marks::tag(&args, &mut stage),
        Command::Tags(args) => marks::tags(&args, &mut stage),
        Command::Profile(args) => user::profile(&args, &mut stage),
    });
    stage.end(result)
}
