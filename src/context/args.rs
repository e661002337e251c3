//! The command line of `session-context`, except the hook itself: commands, flags, help texts.
//!
//! A call without a command is the hook's ([`is_hook`]) and must never fail; everything else runs here. What a command does
//! is in its own file.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::Write;
use std::sync::atomic::AtomicBool;

use clap::{CommandFactory, Parser, Subcommand};

use super::explain::{self, ExplainArgs};
use super::install::{self, AgentArgs, InstallArgs};
use super::live::{self, LiveArgs};
use super::mute::{self, MuteArgs};
use super::notes::{self, NoteArgs, NotesArgs, PinArgs, PinsArgs, UnpinArgs};
use super::profile_set::{self, ProfileSetArgs};
use super::statusline::{self, StatuslineArgs};
use super::tag::{self, DoneArgs, NameArgs, TagArgs, TagsArgs};
use super::{Exit, demo, doctor, on_stage};
use session_core::env::Env;
use session_core::show::terminal::Style;
use session_core::stage::Colors;

const SHORT: &str = "  -h, --help     This summary; `--help` shows everything   -V, --version";

const LONG: &str = "\
Options:
      --color <WHEN>  Use colors: auto, always or never [default: auto]
  -h, --help          Everything; `-h` is a summary
  -V, --version       Print the version
  `session-context COMMAND --help` lists the flags of a command.

The hook:
  Without a command, session-context is the hook. It reads the agent's JSON from
  stdin and prints JSON with at most 500 characters of text for the prompt, or
  nothing if nothing happened. It always exits with 0; problems go to stderr and
  into the journal that `session-context doctor` shows.
  --agent A    the agent: claude, codex, copilot, gemini, pi or qwen
               [default: recognized by its JSON]
  --budget N   at most N characters [default: 500]
  --scope S    project: sessions of this git repository or directory;
               machine: all sessions [default: project]

The status line:
  `session-context install --statusline` adds one line to the status line of
  Claude Code, Copilot and Qwen: who needs you and why, who works, and files
  that another session edited (!). Your own status line stays above it.
  session-context statusline [-- COMMAND]   prints what COMMAND prints for the
               same input, then the line. One argument is a line for the shell.

Live state:
  Claude Code and Copilot say themselves that they wait for permission. For
  Codex, Gemini, Pi and Qwen, `session-context install --live` adds hooks that
  note it in session-monitor/live/ of XDG_STATE_HOME; what they run is
  `session-context live --agent A`.

Tools:
  `session-context install --mcp` registers `session-reader mcp`, a server of
  read-only tools, with Claude Code, Codex, Copilot, Gemini and Qwen.

Examples:
  session-context demo                    see what it does with made-up sessions
  session-context install                 set up the agents found here
  session-context explain last            what it would be told, and why
  session-context mute                    tell this session nothing more
  session-context pin --for 7d the API is frozen
  session-context note decision PostgreSQL instead of SQLite
  session-context done last               the last session is finished
  session-context name last checkout tax  what you call it
  session-context profile set rule simple solutions first

Settings:
  In session-monitor/config.toml (see XDG_CONFIG_HOME). A variable wins over the
  file, a flag over both.
  budget = 500            SESSION_CONTEXT_BUDGET
  scope = \"project\"       SESSION_CONTEXT_SCOPE
  first_look = \"1h\"       SESSION_CONTEXT_FIRST_LOOK
      how far back the first look of a session goes
  deadline = \"300ms\"      SESSION_CONTEXT_DEADLINE
      after that, the hook says what is ready
  conflict_window = \"1d\"  SESSION_MONITOR_CONFLICT_WINDOW
      an edit by another session is a conflict if you looked at the file
      at most so long before it
  ignore = [\"~/private\"]  SESSION_CONTEXT_IGNORE
      ignored directories: neither told nor mentioned
  redact = true           SESSION_READER_REDACT
      hide secrets in what session-reader shows, too

Exit status of the commands:
  0  done
  1  nothing to show
  2  an error

Environment:
  SESSION_CONTEXT=off  switches the hook off
  XDG_CONFIG_HOME      settings and your own formats: session-monitor/ in there
                       [default: ~/.config]
  XDG_DATA_HOME        pins, notes and profile: session-monitor/ in there
                       [default: ~/.local/share]
  XDG_STATE_HOME       what each session has seen, and the journal:
                       session-monitor/ in there [default: ~/.local/state]
  NO_COLOR, CLICOLOR_FORCE, COLUMNS, SESSION_MONITOR_NOW and the variables for
  the agents' directories: see `session-reader --help`";

/// Tell a coding agent, with every prompt, what happened in its other sessions
#[derive(Debug, Parser)]
#[command(
    name = "session-context",
    after_help = SHORT,
    after_long_help = LONG,
    override_usage = "session-context COMMAND   (without one: an agent's hook)"
)]
pub struct Context {
    #[command(subcommand)]
    pub command: ContextCommand,
    #[command(flatten)]
    pub colors: Colors,
}

#[derive(Debug, Subcommand)]
pub enum ContextCommand {
    /// Show what an agent is told, with made-up sessions
    Demo,
    /// Add the hook and the skill to your agents' settings
    Install(InstallArgs),
    /// Remove them from your agents' settings
    #[command(mut_arg("all", |all| all.help("Every agent it was installed for")))]
    Uninstall(AgentArgs),
    /// Show what a session would be told now, and why
    Explain(ExplainArgs),
    /// Check what is found, installed and working
    Doctor,
    /// Tell a session nothing about the others
    Mute(MuteArgs),
    /// Tell it about the others again
    Unmute(MuteArgs),
    /// Tell every new session of this project something
    Pin(PinArgs),
    /// List the pins of this project
    Pins(PinsArgs),
    /// Remove pins or notes by their ids
    #[command(alias = "forget")]
    Unpin(UnpinArgs),
    /// Write down a decision, blocker, next step or fact
    Note(NoteArgs),
    /// List the notes and finished sessions of this project
    Notes(NotesArgs),
    /// Mark a session as finished
    Done(DoneArgs),
    /// Give a session a title of your own
    Name(NameArgs),
    /// Give a session a tag
    Tag(TagArgs),
    /// List the tags of this project and their sessions
    Tags(TagsArgs),
    /// Show or set your role, preferences and rules
    Profile(ProfileSetArgs),
    /// Print one line about the other sessions, for an agent's status line
    #[command(hide = true)]
    Statusline(StatuslineArgs),
    /// Note what an agent is doing, from the JSON that its hook gets
    #[command(hide = true)]
    Live(LiveArgs),
}

/// True if an agent's hook line runs this: nothing or flags. A flag that is unknown is the hook's to ignore, because a
/// hook that fails would stop the prompt; a first word is a command, perhaps a mistyped one.
pub fn is_hook(args: &[OsString], terminal: bool) -> bool {
    let words: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
    let is_command = |word: &Cow<str>| Context::command().find_subcommand(&**word).is_some();
    match words.first().map(|word| &**word) {
        None => !terminal,
        Some("-h" | "--help" | "-V" | "--version") => false,
        Some(flag) if flag.starts_with("--color") => !words.iter().any(is_command),
        Some(word) => word.starts_with('-') && !terminal,
    }
}

/// Runs a command of `session-context`.
pub fn run(
    command: ContextCommand,
    env: &Env,
    style: Style,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Exit {
    let never = AtomicBool::new(false);
    on_stage(
        "session-context",
        env,
        style,
        out,
        err,
        &never,
        |stage, bad_formats, bad_settings| {
            // The doctor says it in its report.
            if !matches!(command, ContextCommand::Doctor) {
                stage.say_all(bad_settings);
                stage.say_all(bad_formats);
            }
            match command {
                ContextCommand::Demo => demo::run(stage),
                ContextCommand::Install(args) if args.shell => install::shell(stage),
                ContextCommand::Install(args) => {
                    install::run(&args.agents, Some(&args.extras), stage)
                }
                ContextCommand::Uninstall(args) => install::run(&args, None, stage),
                ContextCommand::Explain(args) => explain::run(&args, stage),
                ContextCommand::Doctor => doctor::run(bad_formats, bad_settings, stage),
                ContextCommand::Mute(args) => mute::run(&args, true, stage),
                ContextCommand::Unmute(args) => mute::run(&args, false, stage),
                ContextCommand::Pin(args) => notes::pin(&args, stage),
                ContextCommand::Pins(args) => notes::pins(&args, stage),
                ContextCommand::Unpin(args) => notes::unpin(&args, stage),
                ContextCommand::Note(args) => notes::note(&args, stage),
                ContextCommand::Notes(args) => notes::notes(&args, stage),
                ContextCommand::Done(args) => tag::done(&args, stage),
                ContextCommand::Name(args) => tag::name(&args, stage),
                ContextCommand::Tag(args) => tag::tag(&args, stage),
                ContextCommand::Tags(args) => tag::tags(&args, stage),
                ContextCommand::Profile(args) => profile_set::profile(&args, stage),
                ContextCommand::Statusline(args) => statusline::run(&args, stage),
                ContextCommand::Live(args) => Ok(live::run(&args, stage)),
            }
        },
    )
}
