//! The command line of `session-reader`.

use std::ffi::OsString;

use clap::{Args, Parser, Subcommand};

use crate::env::Env;
use crate::time::{DAY, Time};

const EXAMPLES: &str = "\
Examples:
  session-reader                          the sessions of this project
  session-reader discord --lines 50       the last 50 entries of the session 'discord'
  session-reader last --follow            the newest session, live
  session-reader resume                   where the last session of this project stopped
  session-reader ~/some/transcript.jsonl  any transcript, whatever agent wrote it
  session-reader list --all --json        every session on this machine, for a program
  session-reader profile --since 90d      how you have worked here in the last 90 days

A session is called by its name (.volute/, .mind/), its title or a part of it, a tag, the beginning of its id, the path of
its file, or as session-context calls it (codex:01a1e236-2011). 'last' is the newest session of this project (if it has none,
of all); for resume the newest of this project that did some work and is not done.
One that is named like a command is reached by `session-reader log NAME`.

Exit status: 0 found, 1 nothing found, 2 trouble (a wrong flag, an unknown name, a file that cannot be read).

Environment:
  CLAUDE_CONFIG_DIR, CODEX_HOME, COPILOT_HOME, GEMINI_CLI_HOME, QWEN_HOME, QWEN_RUNTIME_DIR, PI_CODING_AGENT_DIR,
  PI_CODING_AGENT_SESSION_DIR, OPENCLAW_STATE_DIR   where the agents keep their sessions
  XDG_CONFIG_HOME   user formats are in session-monitor/formats/ there (default ~/.config)
  XDG_CACHE_HOME    the cache of the list is in session-monitor/ there (default ~/.cache); it may be deleted
  TZ                time zone of the times shown
  NO_COLOR          no colours
  COLUMNS           width of the output, instead of the terminal's
  SESSION_MONITOR_NOW   the time to take for now (2026-11-16T12:00:00Z), for output that stays the same";

const PROFILE: &str = "\
What it shows:
  Sessions   how many per day, from the first day to the last, and per day on which there were any; how long one lasts
             before nothing happens for 30 minutes (the median)
  Hours      when you type prompts, in local time (TZ), and on which days of the week
  Writes in  languages of your prompts, by their small words; at least 30 words of each
  Code       languages of the files that were edited, by their names, each file once
  Asks to    what prompts ask for, by their verbs
  Runs       commands the agents ran that test, build, lint, deploy or use version control
  Agents     sessions, messages and share of all messages; Models likewise, of the agents' messages

It is about what you typed and what the agents did in answer: not about subagents, prompts that a machine wrote, or edits
that failed. A forked session counts from where it left the other one. What too few prompts, files or commands tell is not
told.

Examples:
  session-reader profile                    of this project
  session-reader profile --all --since 90d  of everything you did in the last 90 days
  session-reader profile --json | jq .hours";

/// Read the sessions of coding agents: Claude Code, Codex, Copilot, Gemini, Pi, Qwen.
#[derive(Debug, Parser)]
#[command(name = "session-reader", version, after_help = EXAMPLES, override_usage = "session-reader [COMMAND]\n       session-reader NAME [--lines N]")]
pub struct Reader {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show a session as a readable log (`session-reader NAME` is short for this)
    Log(LogArgs),
    /// List sessions, the newest first (this is what the bare command does)
    List(ListArgs),
    /// Show where a session stopped, and how to go on
    Resume(ResumeArgs),
    /// Show how you work, as the sessions tell: hours, languages, tasks, agents, models, tokens
    Profile(ProfileArgs),
    /// Show which formats are known, where they look and what they find; or check a file
    Formats(FormatsArgs),
}

impl Command {
    /// Whether it goes on until the user ends it.
    pub fn follows(&self) -> bool {
        matches!(self, Command::Log(args) if args.follow)
    }
}

#[derive(Debug, Default, Args)]
pub struct LogArgs {
    /// Name, title, id, path of a transcript, or `last`
    #[arg(required_unless_present = "follow")]
    pub name: Option<String>,
    /// How many entries to show, counted from the end [default: 50, or all with --since]
    #[arg(short = 'n', long, value_parser = at_least_one)]
    pub lines: Option<u64>,
    /// Only entries since then: 30m, 2h, 7d, or a date like 2026-01-31
    #[arg(long, value_parser = since)]
    pub since: Option<Since>,
    /// Keep printing new entries as they are written; without NAME those of all sessions of this project
    #[arg(short, long)]
    pub follow: bool,
    /// With --follow and no NAME: all sessions on this machine
    #[arg(long, requires = "follow", conflicts_with = "name")]
    pub all: bool,
    /// Also what a log leaves out: thinking, results (shortened), marks
    #[arg(long)]
    pub full: bool,
    /// One JSON object per line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// All sessions on this machine, those of this project first
    #[arg(long)]
    pub all: bool,
    /// Only sessions of this agent
    #[arg(long)]
    pub agent: Option<String>,
    /// Only sessions with this tag (`session-context tag`)
    #[arg(long)]
    pub tag: Option<String>,
    /// Only sessions active since then: 30m, 2h, 7d, or a date like 2026-01-31
    #[arg(long, value_parser = since)]
    pub since: Option<Since>,
    /// One JSON object per line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// Name, title, id, path of a transcript, or `last` [default: the last session of this project]
    pub name: Option<String>,
    /// As compact codes, one per line: proj: impl: test: done: dec: block: next:
    #[arg(long, conflicts_with = "json")]
    pub codes: bool,
    /// One JSON object, with the line of the transcript for every item
    #[arg(long)]
    pub json: bool,
    /// The most tokens to print [default: 1500 for codes]; with --json, the limit in token_budget
    #[arg(long, value_name = "TOKENS", value_parser = tokens)]
    pub budget: Option<usize>,
    /// How far back to look for the last session [default: 7d]
    #[arg(long, value_parser = since)]
    pub since: Option<Since>,
}

#[derive(Debug, Args)]
#[command(after_help = PROFILE)]
pub struct ProfileArgs {
    /// All sessions on this machine
    #[arg(long)]
    pub all: bool,
    /// Only what happened since then: 12h, 90d, or a date like 2026-01-31
    #[arg(long, value_parser = since)]
    pub since: Option<Since>,
    /// One JSON object; all keys are always there
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct FormatsArgs {
    #[command(subcommand)]
    pub action: Option<FormatsAction>,
}

#[derive(Debug, Subcommand)]
pub enum FormatsAction {
    /// Check a descriptor (.toml), or say which format a transcript has and how its lines fit
    Check { file: String },
}

#[derive(Debug, Clone, Copy)]
pub enum Since {
    Ago(i64),
    At(Time),
    /// The beginning of a day, as the clock on the wall has it; held as if it were UTC.
    Day(Time),
}

impl Since {
    pub fn time(self, env: &Env) -> Time {
        match self {
            Since::Ago(ago) => Time(env.now().0 - ago),
            Since::At(time) => time,
            Since::Day(day) => env.zone().of_wall_clock(day),
        }
    }
}

fn at_least_one(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| "not a number of entries, 1 or more".into())
}

fn tokens(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| "not a number of tokens, 1 or more".into())
}

fn since(text: &str) -> Result<Since, String> {
    if let Ok(ago) = humantime::parse_duration(text) {
        return Ok(Since::Ago(i64::try_from(ago.as_millis()).unwrap_or(1000 * 365 * DAY)));
    }
    let day = Time::parse(format!("{text}T00:00:00Z").as_bytes()).filter(|_| text.len() == 10).map(Since::Day);
    day.or_else(|| Time::parse(text.as_bytes()).map(Since::At))
        .ok_or_else(|| "not a time span like 30m, 2h, 7d, nor a date like 2026-01-31".into())
}

const COMMANDS: [&str; 6] = ["log", "list", "resume", "profile", "formats", "help"];

/// The command that somebody may have meant by a name that leads nowhere.
pub fn command_like(name: &str) -> Option<&'static str> {
    let near = |command: &&&str| name.len() > 2 && name != "last" && distance(name, command) <= 2;
    COMMANDS.iter().filter(near).min_by_key(|command| distance(name, command)).copied()
}

/// How many letters must change, come or go to make one word of another.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (above, from) in a.bytes().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], above + 1);
        for (left, to) in b.bytes().enumerate() {
            let least = (corner + usize::from(from != to)).min(row[left] + 1).min(row[left + 1] + 1);
            corner = std::mem::replace(&mut row[left + 1], least);
        }
    }
    row[b.len()]
}

/// Flags that only `log` has, and flags that are followed by a value.
const OF_LOG: [&str; 5] = ["-f", "--follow", "-n", "--lines", "--full"];
const WITH_VALUE: [&str; 5] = ["-n", "--lines", "--since", "--agent", "--tag"];

/// The command line with its command written out: nothing means `list`, and a first word that is no command is the
/// name of a session.
pub fn spelt_out(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    let is = |arg: &OsString, words: &[&str]| words.iter().any(|word| arg == word);
    let asks = args.iter().skip(1).all(|arg| is(arg, &["-h", "--help", "-V", "--version"])) && args.len() > 1;
    let has_command = args.get(1).is_some_and(|arg| is(arg, &COMMANDS));
    if !asks && !has_command {
        let mut words = args.iter().skip(1);
        let mut of_log = false;
        while let Some(word) = words.next() {
            of_log |= !word.to_string_lossy().starts_with('-') || is(word, &OF_LOG);
            if is(word, &WITH_VALUE) {
                words.next();
            }
        }
        args.insert(1.min(args.len()), if of_log { "log" } else { "list" }.into());
    }
    args
}
