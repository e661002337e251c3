//! The command line of `session-reader`: commands, flags, help texts.
//!
//! `-h` is one screen, `--help` is everything. No line written here is longer than 80 columns, except paragraphs, which
//! clap breaks at the width of the terminal.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgGroup, Args, ColorChoice, Command, Parser, Subcommand};
use session_core::stage::{Colors, one_of};

use session_core::env::Env;
use session_core::fold::folded;
use session_core::read::{Slice, Target};
use session_core::session::StateKind;
use session_format::entry::{Act, Id, Role, named};
use session_format::time::{DAY, MINUTE, Time};

const SHORT: &str = "\
NAME is the name, title, tag, id or file of a session, a part of it, or `last`.
`session-reader COMMAND -h` shows its flags, `session-reader --help` everything.";

const LONG: &str = "\
Options:
      --color <WHEN>  Use colors: auto, always or never [default: auto]
      --no-pager      Print long output at once, not page by page
  -h, --help          Everything; `-h` is a summary
  -V, --version       Print the version
  `session-reader COMMAND --help` lists the flags of a command.

Examples:
  session-reader                         the sessions of this project
  session-reader discord --lines 50      the last 50 entries of `discord`
  session-reader last --follow           the last session, live
  session-reader list --state needs-you  who cannot go on without you
  session-reader wait api && tput bel    a bell when `api` is done or needs you
  session-reader search webhook retry    where it was said
  session-reader find                    a session, as you type
  session-reader files src/auth.rs       who changed a file, when and why
  session-reader resume                  where the last session stopped
  session-reader continue api --with pi  go on with `api` in another agent
  session-reader restore --tmux          reopen all after a crash or reboot
  session-reader recap --since monday    what was done this week
  session-reader export api              one page to share, without secrets
  session-reader ~/some/transcript.jsonl any transcript of a known agent
  session-reader list --all --json       every session, for a program
  session-reader profile --since 90d     how you worked in the last 90 days

Names:
  NAME is looked up in this order; the sessions of this project go first:
    1. a name in a named home (.volute/ or .mind/ above this directory)
    2. `last`: the newest session of this project that is not done and was more
       than one question that changed nothing; else the newest there is
    3. a title, a tag, or the beginning of an id
    4. the path of a transcript
    5. the beginning of a name or title, then any part of one
  CODEX:NAME looks only among the sessions of that agent, and CODEX:last is the
  last one of them. `self` is the session that this runs in, if its agent says
  which. If several sessions fit, you get a list of them. A session that is
  called like a command, or almost, is reached with `session-reader log NAME`.

Exit status:
  0  found
  1  nothing found
  2  an error: a bad flag, an unknown name, an unreadable file

Environment:
  CLAUDE_CONFIG_DIR, CODEX_HOME, COPILOT_HOME, GEMINI_CLI_HOME, QWEN_HOME,
  QWEN_RUNTIME_DIR, PI_CODING_AGENT_DIR, PI_CODING_AGENT_SESSION_DIR,
  OPENCLAW_STATE_DIR   where the agents keep their sessions
  XDG_CONFIG_HOME      your own formats: session-monitor/formats/ in there
                       [default: ~/.config]
  XDG_CACHE_HOME       caches of list and search: session-monitor/ in there;
                       you may delete them [default: ~/.cache]
  PATH                 the agents that `continue` and `restore` can start
  TMUX                 if set, `restore --tmux` opens windows in that session
  TZ                   time zone of the times shown
  COLUMNS              width of the output, instead of the terminal's
  PAGER                shows what is longer than the screen; `cat` or nothing
                       for no pager [default: less]
  LESS                 options of less [default: FRX]
  NO_COLOR             if set, no colors
  CLICOLOR_FORCE       if set, and not 0, colors in a pipe, too
  SESSION_MONITOR_NOW  use this time as now (2026-11-16T12:00:00Z)";

const PROFILE: &str = "\
What it shows:
  Sessions   how many per day and per active day, and the median length; a
             pause of 30 minutes ends one
  Hours      when you type prompts, in local time (TZ), and on which weekdays
  Code       the languages of the files edited, each file once
  Runs       commands that test, build, lint, deploy or use version control
  Agents     sessions, messages and share of all messages
  Models     the same for the agents' messages

Only what you typed and what the agents did in answer counts: no subagents, no prompts a machine wrote, no failed edits. \
A fork counts from where it left its origin. Where there is too little data, it says so.

Examples:
  session-reader profile                    this project
  session-reader profile --all --since 90d  everything in the last 90 days
  session-reader profile --json | jq .hours";

/// Read the sessions of Claude Code, Codex, Copilot, Gemini, Pi and Qwen
#[derive(Debug, Parser)]
#[command(
    name = "session-reader",
    after_help = SHORT,
    after_long_help = LONG,
    override_usage = "session-reader [COMMAND | NAME] [FLAGS]"
)]
pub struct ReaderArgs {
    #[command(subcommand)]
    pub command: ReaderCommand,
    #[command(flatten)]
    pub colors: Colors,
    /// Print long output at once, not page by page
    #[arg(long, global = true, display_order = 901)]
    pub no_pager: bool,
}

impl ReaderArgs {
    /// A person reads the output from beginning to end.
    pub fn is_paged(&self) -> bool {
        let is_text = match &self.command {
            ReaderCommand::List(args) => !args.json && !args.watch,
            ReaderCommand::Log(args) => !args.json && !args.follow,
            ReaderCommand::Search(args) => !args.json,
            ReaderCommand::Files(args) => !args.json,
            ReaderCommand::Resume(args) => !args.json,
            ReaderCommand::Continue(args) => args.print,
            ReaderCommand::Recap(args) => !args.json,
            ReaderCommand::Restore(args) => !args.tmux,
            ReaderCommand::Profile(args) => !args.json,
            ReaderCommand::Export(args) => args.review,
            ReaderCommand::Find(_)
            | ReaderCommand::Wait(_)
            | ReaderCommand::Status(_)
            | ReaderCommand::Go(_)
            | ReaderCommand::Watch(_)
            | ReaderCommand::Mcp
            | ReaderCommand::Capabilities(_)
            | ReaderCommand::Completions(_)
            | ReaderCommand::Complete(_)
            | ReaderCommand::Formats { .. } => false,
        };
        is_text && !self.no_pager
    }
}

#[derive(Debug, Subcommand)]
pub enum ReaderCommand {
    /// List sessions, newest first; the default command
    List(ListArgs),
    /// Show a session as a readable log; short: session-reader NAME
    Log(LogArgs),
    /// Watch all sessions live: who needs you, and why
    Watch(WatchArgs),
    /// Find what was said and done, in all sessions of this project
    Search(SearchArgs),
    /// Find a session as you type, and open, resume or print it
    Find(FindArgs),
    /// Show who touched which file, or the history of one
    Files(FilesArgs),
    /// Show where a session stopped and how to go on
    Resume(ResumeArgs),
    /// Go to the terminal where a session runs
    Go(GoArgs),
    /// Go on with a session in another agent
    Continue(ContinueArgs),
    /// Open again what was open when the machine went down
    Restore(RestoreArgs),
    /// Show what was done, for a stand-up or a pull request
    Recap(RecapArgs),
    /// Write a session to one HTML or Markdown file, to share it
    Export(ExportArgs),
    /// Wait until a session needs you, has answered or is gone
    Wait(WaitArgs),
    /// Print one line for tmux, starship or another bar
    Status(StatusArgs),
    /// Statistics about how you work: hours, agents, tokens
    Profile(ProfileArgs),
    /// Show known formats and where they look; check a file
    Formats {
        #[command(subcommand)]
        action: Option<FormatsAction>,
    },
    /// Answer an agent's questions as tools: a server of MCP on stdio
    #[command(hide = true, after_help = MCP)]
    Mcp,
    /// Show what this version can do: commands, formats, tools
    #[command(hide = true)]
    Capabilities(CapabilitiesArgs),
    /// Print the script that completes commands, flags and names in a shell
    #[command(hide = true)]
    Completions(CompletionsArgs),
    /// Print what may come next on a command line, for those scripts
    #[command(hide = true, name = "__complete")]
    Complete(CompleteArgs),
}

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// bash, zsh or fish
    #[arg(value_parser = one_of(&Shell::ALL, Shell::name), hide_possible_values = true)]
    pub shell: Shell,
}

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Shell {
        Bash = "bash",
        Zsh = "zsh",
        Fish = "fish",
    }
}

#[derive(Debug, Args)]
pub struct CompleteArgs {
    /// The program and all words up to the one that is being typed
    #[arg(last = true)]
    pub words: Vec<OsString>,
    /// The command line of session-context, which this program does not have.
    #[arg(skip)]
    pub context: Option<Box<Command>>,
}

const MCP: &str = "\
Its tools do what list, log, search, files and resume do, and are read-only.
Secrets are always hidden. `session-context install --mcp` registers it; by hand
it is the command `session-reader mcp`, without arguments.";

const LOG: &str = "\
--grep, --act, --errors and --prompts go together: an entry must fit them all.
--lines N then shows the last N that fit. In --since and --until, a day like
`monday` or `2026-01-31` counts from its beginning to its end, and `14:25` is
the last time that it was 14:25. The kinds of calls are edit, read, search,
run, fetch, delegate, plan and other.

Examples:
  session-reader log api --prompts             what you asked
  session-reader log api --errors -C 2         what failed, and what came of it
  session-reader log api --act edit --since 2h
  session-reader log api --grep webhook --until yesterday
  session-reader log api --at 120              around line 120 of the file";

#[derive(Debug, Default, Args)]
#[command(after_long_help = LOG)]
#[command(group = ArgGroup::new("part").multiple(true).args(["at", "grep", "act", "errors", "prompts"]))]
pub struct LogArgs {
    /// Name, title, id or file of a session, or the id of a subagent [default: last]
    pub name: Option<String>,
    /// The last N entries [default: 50; all with --since]
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one)]
    pub lines: Option<usize>,
    /// Only entries since then: 2h, 14:25, today, 2026-01-31
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub since: Option<Since>,
    /// Only entries until then
    #[arg(long, value_name = "TIME", value_parser = since, conflicts_with = "follow")]
    pub until: Option<Since>,
    /// Only entries that say this
    #[arg(long, value_name = "WORD", value_parser = word)]
    pub grep: Option<String>,
    /// Only calls of a kind: edit, read, run, search, fetch
    #[arg(long, value_parser = one_of(&Act::ALL, Act::name), hide_possible_values = true)]
    pub act: Option<Act>,
    /// Only what failed, and the first lines of why
    #[arg(long)]
    pub errors: bool,
    /// Only what you typed
    #[arg(long)]
    pub prompts: bool,
    /// Only around a line of the transcript, a time or an id
    #[arg(
        long,
        value_name = "LINE|TIME|ID",
        value_parser = target,
        conflicts_with_all = ["lines", "since", "until", "follow", "grep", "act", "errors", "prompts"]
    )]
    pub at: Option<Point>,
    /// Also N entries around each [default: 10 with --at]
    #[arg(
        short = 'C',
        long,
        value_name = "N",
        requires = "part",
        conflicts_with = "follow"
    )]
    pub context: Option<usize>,
    /// Keep showing new entries; without NAME, of all here
    #[arg(short, long)]
    pub follow: bool,
    /// With --follow and no NAME: of all on this machine
    #[arg(
        long,
        hide_short_help = true,
        requires = "follow",
        conflicts_with = "name"
    )]
    pub all: bool,
    /// Also show thinking, marks, inputs and whole results
    #[arg(long)]
    pub full: bool,
    /// Also show the first N lines of each tool result
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = at_least_one)]
    pub results: Option<usize>,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
    /// The command was left out, so NAME may be a mistyped one.
    #[arg(skip)]
    pub bare: Option<BareWord>,
    /// The slice that --grep and the like ask for.
    #[arg(skip)]
    pub slice: Option<Slice>,
}

impl LogArgs {
    fn asked_slice(&self) -> Option<Slice> {
        let LogArgs {
            act,
            errors,
            prompts,
            ..
        } = *self;
        let (word, context) = (self.grep.clone(), self.context.unwrap_or(0));
        let is_asked = self.until.is_some() || word.is_some() || act.is_some() || errors || prompts;
        let only_reasons = errors && !self.full && self.results.is_none();
        is_asked.then_some(Slice {
            word,
            act,
            errors,
            prompts,
            at: None,
            context,
            only_reasons,
        })
    }
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Every session on this machine, this project's first
    #[arg(long)]
    pub all: bool,
    /// Only sessions of this agent
    #[arg(long)]
    pub agent: Option<String>,
    /// Only these: needs-you, error, working, waiting, idle, done, gone (or: a,b)
    #[arg(long, value_delimiter = ',', value_parser = one_of(&StateKind::ALL, StateKind::name), hide_possible_values = true)]
    pub state: Vec<StateKind>,
    /// Only sessions with this tag (see `session-context tag`)
    #[arg(long)]
    pub tag: Option<String>,
    /// Only sessions active since then: 2h, 7d, today, monday, 2026-01-31
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub since: Option<Since>,
    /// At most N sessions [default: what fits the screen; all in a pipe]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub limit: Option<usize>,
    /// Keep the table on the screen and up to date; Ctrl-C ends it
    #[arg(long, conflicts_with = "json")]
    pub watch: bool,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

const WATCH: &str = "\
Sessions that need you come first, with the reason. The log of the selected
one is beside or below the list. Press ? for the keys.

Examples:
  session-reader watch                    this project
  session-reader watch --all --notify     everything, with a bell
  session-reader watch --once             one frame as text, for scripts
  session-reader watch --demo             made-up sessions that change";

#[derive(Debug, Default, Clone, Copy, Args)]
#[command(after_help = WATCH)]
pub struct WatchArgs {
    /// Every session on this machine, not just this project's
    #[arg(long)]
    pub all: bool,
    /// Ring the bell and notify once when a session starts to need you
    #[arg(long)]
    pub notify: bool,
    /// Print one frame as text and exit
    #[arg(long)]
    pub once: bool,
    /// Show made-up sessions that change; reads nothing of yours
    #[arg(long)]
    pub demo: bool,
}

const SEARCH: &str = "\
What is searched: prompts, answers and titles, and the commands and file names
of calls, also those of subagents. Case and accents make no difference, and
`retry` finds `retries`. Sessions that have all words come first, then those
that lack some. A phrase in quotes must be there as it is: 'exact phrase'.

Examples:
  session-reader search webhook retry         both words, or else one of them
  session-reader search 'rate limit' --all    a phrase, on the whole machine
  session-reader search redis --role user     only what you typed
  session-reader search flaky --file tests/   only where such a file was touched
  session-reader search panicked --results    also what tools answered";

#[derive(Debug, Args)]
#[command(after_help = SEARCH)]
pub struct SearchArgs {
    /// Words you remember; 'a phrase' must be there as it is
    #[arg(required = true)]
    pub words: Vec<String>,
    /// Every session on this machine, not just this project's
    #[arg(long)]
    pub all: bool,
    /// Only what was said by: user or assistant
    #[arg(long, value_parser = one_of(&[Role::User, Role::Assistant], Role::name), hide_possible_values = true)]
    pub role: Option<Role>,
    /// Only sessions of this agent
    #[arg(long)]
    pub agent: Option<String>,
    /// Only sessions that read or changed a file with this in its path
    #[arg(long, value_name = "PATH")]
    pub file: Option<String>,
    /// Only what was said since then: 2h, 7d, today, monday, 2026-01-31
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub since: Option<Since>,
    /// At most N sessions [default: what fits the screen; 20 in a pipe]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub limit: Option<usize>,
    /// Also show N entries before and after each hit
    #[arg(short = 'C', long, value_name = "N", default_value_t = 0)]
    pub context: usize,
    /// Only whole words: `log` does not find `login`
    #[arg(short = 'w', long)]
    pub word: bool,
    /// Also search what tools answered (slower: nothing of it is cached)
    #[arg(long)]
    pub results: bool,
    /// Read the transcripts themselves instead of the cache
    #[arg(long)]
    pub no_cache: bool,
    /// Print one JSON object per hit
    #[arg(long)]
    pub json: bool,
}

const FIND: &str = "\
Type what you remember: the list changes with every key, and beside it is the
log at the line that fits. All words must fit, in any order: the title, name,
tags, directory, agent or id of a session, or something that was said in it.

  tax           whole words first, then parts: CheckoutTax
  chekout       one wrong letter in five or more
  CheTax        checkout_tax and CheckoutTax
  src/find      src/core/ask/find.rs
  'rate limit'  a phrase, as it is

Titles and names come before directories, these before what was said, and the
newest session first where several fit equally well. Sessions of other
projects are shown if none of this one fits, or with --all.

Keys:
  Enter  the log          Ctrl-R  resume it here     Ctrl-Y  copy its id
  ↑ ↓    another session  Tab     all projects       Esc     back, quit

In a pipe, or with --print, it prints the best as `NAME  TITLE`. With --print
or --cwd and no words, you pick one on the terminal first.

Examples:
  session-reader find                          pick one of this project
  session-reader find checkout tax             the same, with words to begin with
  cd \"$(session-reader find --cwd)\"            pick one, go to its directory
  cd \"$(session-reader find --cwd tax)\"        go where that was
  session-reader find tax --print | head -1    the best one
  session-reader find tax --json | jq .text    the lines that fit best

Exit status: 0 found, 1 nothing found or picked, 2 an error.";

#[derive(Debug, Args)]
#[command(after_long_help = FIND, after_help = "`--help` says what fits, and has the keys and examples.")]
pub struct FindArgs {
    /// Words to begin with; all must fit
    pub words: Vec<String>,
    /// Every session on this machine, not just this project's
    #[arg(long)]
    pub all: bool,
    /// Print the best sessions, or the one you pick
    #[arg(long, conflicts_with = "cwd")]
    pub print: bool,
    /// Print only the directory of the best one, or of the one you pick
    #[arg(long)]
    pub cwd: bool,
    /// Print one JSON object per session
    #[arg(long, conflicts_with_all = ["print", "cwd"])]
    pub json: bool,
}

impl FindArgs {
    /// The words as they would be typed.
    pub fn line(&self) -> String {
        let typed = |word: &String| match word.contains(char::is_whitespace) {
            true => format!("\"{word}\""),
            false => word.clone(),
        };
        self.words.iter().map(typed).collect::<Vec<_>>().join(" ")
    }
}

const FILES: &str = "\
PATH may be relative or absolute, a file name, or the end of a path; a
directory stands for everything below it. The history has every edit on this
machine, whoever made it, with the prompt that led to it.

A file is marked `!` and comes first if one session edited it after another had
read or edited it, and the other one hasn't looked at it since. What a
session's subagents did counts for the session. Calls that failed don't count.

Examples:
  session-reader files                      what was edited here this week
  session-reader files --since 1d --all     everywhere, since yesterday
  session-reader files src/auth.rs          who changed it, when and why
  session-reader files src --reads          all below src, also what was read

Keys of --json, if they apply:
  without PATH  path conflict time edits reads sessions: session handle name
                agent title acts edits reads time
  with PATH     session handle name agent title path act time tool prompt line
                subagent transcript; `session-reader log SESSION --at LINE`
                opens it, or TRANSCRIPT instead of SESSION for a subagent";

#[derive(Debug, Args)]
#[command(after_long_help = FILES, after_help = "`--help` explains PATH and `!`, and has examples.")]
pub struct FilesArgs {
    /// A file or directory, or the end of its path: show its history
    pub path: Option<String>,
    /// Only what was done since then [default: 7d without PATH]
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub since: Option<Since>,
    /// Without PATH: of every session on this machine
    #[arg(long)]
    pub all: bool,
    /// Also show what was only read
    #[arg(long)]
    pub reads: bool,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// Name, title, id or file of a session [default: last]
    pub name: Option<String>,
    /// Compact codes, one per line: proj: impl: test: done: dec: block: next:
    #[arg(long, conflicts_with = "json")]
    pub codes: bool,
    /// A note in Markdown for another agent, at most 4 KB (see `continue`)
    #[arg(long, conflicts_with_all = ["json", "codes", "budget"])]
    pub md: bool,
    /// Print one JSON object, each item with its line in the transcript
    #[arg(long)]
    pub json: bool,
    /// At most this many tokens [default: 1500 for codes]
    #[arg(long, value_name = "TOKENS", value_parser = at_least_one)]
    pub budget: Option<usize>,
    /// How far back to look for the last session [default: 7d]
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub since: Option<Since>,
}

const GO: &str = "\
Selects the pane of tmux that the session runs in. Inside tmux your terminal
switches there; outside it attaches. In any other terminal it says which one
it is. In `watch`, g does the same.

Examples:
  session-reader go api          to the session called api
  session-reader go              to the first one that needs you

Exit status: 0 it is open, 1 it is not, 2 an error.";

#[derive(Debug, Args)]
#[command(after_help = GO)]
pub struct GoArgs {
    /// Name, title or id of a session [default: the first that needs you]
    pub name: Option<String>,
}

const CONTINUE: &str = "\
Starts the other agent in the session's directory with a note as its first
prompt: what was asked and said last, which files were changed and are not
committed, what fails, open tasks and questions, and the command for the full
log. The note has at most 4 KB and no keys or passwords. Neither transcript is
changed, and the list shows where the new session came from: `← api`.

Examples:
  session-reader continue api --with codex   Claude is out of tokens: go on here
  session-reader continue --with pi          the last session of this project
  session-reader continue api --print        only the note; so does resume --md
  session-reader continue api --print | ssh box 'cat > note.md'";

#[derive(Debug, Args)]
#[command(after_help = CONTINUE)]
pub struct ContinueArgs {
    /// Name, title, id or file of a session [default: last]
    pub name: Option<String>,
    /// The agent to go on in: claude, codex, copilot, gemini, pi, qwen
    #[arg(long, value_name = "AGENT", required_unless_present = "print")]
    pub with: Option<String>,
    /// Only print the note; start nothing
    #[arg(long)]
    pub print: bool,
}

const RESTORE: &str = "\
A session was open if its agent is gone without having said goodbye: it left
its file of running sessions, a lock or the last note of our live hooks behind.
Sessions that you left or marked as done, and those that are open again, are
not listed. Nothing is started but the agents' own commands to resume.

Examples:
  session-reader restore                what was open, and what each was doing
  session-reader restore --tmux         a tmux window for each
  session-reader restore --print        the commands, for another terminal
  session-reader restore --since 7d     also what was last active days ago

Exit status: 0 found, 1 nothing was open, 2 an error.";

#[derive(Debug, Args)]
#[command(after_help = RESTORE)]
pub struct RestoreArgs {
    /// Only sessions that were active since then [default: 1d]
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub since: Option<Since>,
    /// Print a shell command for each
    #[arg(long, conflicts_with = "tmux")]
    pub print: bool,
    /// Open each in a window: of this tmux, or of a session `restored`
    #[arg(long)]
    pub tmux: bool,
}

const RECAP: &str = "\
For each session: the prompts that say what was wanted, the files it changed,
its commits, the tests and builds that passed last or fail, and the time spent:
pauses of more than five minutes don't count. Only what happened since then
counts, and only what a transcript proves.

Examples:
  session-reader recap                         here, in the last 24 hours
  session-reader recap --since monday --all    your week, everywhere
  session-reader recap --md | gh pr create -F - --title 'Round totals'
  session-reader recap --json | jq -s 'map(.spent) | add / 3600'";

#[derive(Debug, Args)]
#[command(after_help = RECAP)]
pub struct RecapArgs {
    /// Only what happened since then: 8h, today, monday [default: 1d]
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub since: Option<Since>,
    /// Every project on this machine
    #[arg(long)]
    pub all: bool,
    /// As Markdown, without keys and passwords
    #[arg(long, conflicts_with = "json")]
    pub md: bool,
    /// Print one JSON object per session
    #[arg(long)]
    pub json: bool,
}

const EXPORT: &str = "\
Writes one file that needs no other: it loads nothing from the network and is
readable without JavaScript. It has what was said, each call with the first
lines of its result, edits as diffs, and plans and questions in full.

Keys and passwords become `[redacted]`, home directories `~`, in titles and
file names, too; images are left out. The head of the file counts them. It
recognises secrets by their shape, so look before you share: --review lists
what it hides, each with the text around it, and writes nothing. What it can't
read is left out and counted.

Without -o, it writes NAME.html (or NAME.md) into this directory, or to stdout
in a pipe. It replaces an earlier export, and no other file.

Examples:
  session-reader export api                    api.html, to open or send
  session-reader export api --review           what it leaves out
  session-reader export api --md --since 2h | gh issue create -F - -t 'Crash'
  session-reader export --prompts -o how.md    only what you asked
  session-reader export api --full -o api.html with thinking and whole results";

#[derive(Debug, Args)]
#[command(after_long_help = EXPORT, after_help = "`--help` says what is left out and which file is written, and has examples.")]
pub struct ExportArgs {
    /// Name, title, id or file of a session, or the id of a subagent [default: last]
    pub name: Option<String>,
    /// One page of HTML [default, unless FILE ends with .md]
    #[arg(long, conflicts_with = "md")]
    pub html: bool,
    /// Markdown, for an issue or a pull request
    #[arg(long)]
    pub md: bool,
    /// Write to FILE; `-` is stdout [default: NAME.html; stdout in a pipe]
    #[arg(short, long, value_name = "FILE", conflicts_with = "review")]
    pub output: Option<String>,
    /// Only entries since then: 2h, 14:25, today, 2026-01-31
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub since: Option<Since>,
    /// Also thinking, notes, and whole inputs and results
    #[arg(long)]
    pub full: bool,
    /// Only what you typed
    #[arg(long, conflicts_with = "full")]
    pub prompts: bool,
    /// Hide nothing: secrets and home directories are written as they are
    #[arg(long)]
    pub reveal: bool,
    /// List what would be left out; write nothing
    #[arg(long)]
    pub review: bool,
}

impl ExportArgs {
    pub fn is_markdown(&self) -> bool {
        let ends = |end: &str| self.output.as_ref().is_some_and(|file| file.ends_with(end));
        self.md || !self.html && (ends(".md") || ends(".markdown"))
    }
}

const WAIT: &str = "\
Ends when a session needs you, has answered, failed or is gone, and prints
which one and why. A session that already is in such a state ends it at once;
with --next only one that changes to it from now on does.

--exec runs a command instead of printing, with what happened in its
environment: SESSION_NAME, SESSION_STATE, SESSION_REASON, SESSION_PLACE (a tmux
pane, say), SESSION_ID, SESSION_CWD and SESSION_AGENT. All that follows --exec
is the command. No shell reads it, so write `sh -c` and single quotes, as below:
then no text of a session can become a command. Secrets are hidden. With --each
the commands run one after the other, and one that fails is reported; without,
the exit status is that of the command.

Examples:
  session-reader wait api && notify-send 'api is ready'
  session-reader wait --until needs-you --timeout 10m
  session-reader wait --next --each | while read -r s; do echo \"$s\"; done

Be told of each session that needs you, on the desktop, a Mac, a phone by
ntfy.sh, or in tmux, which must not get a `#`: it would run what is in #(…).
  session-reader wait --all --next --each --until needs-you,error --exec \\
    sh -c 'notify-send -- \"$SESSION_NAME\" \"$SESSION_REASON\"'
  session-reader wait --all --next --each --until needs-you,error --exec \\
    osascript -e 'display notification (system attribute \"SESSION_REASON\") ¬
      with title (system attribute \"SESSION_NAME\")'
  session-reader wait --all --next --each --until needs-you,error --exec \\
    sh -c 'printf %s \"$SESSION_NAME: $SESSION_REASON\" |
      curl -s --data-binary @- https://ntfy.sh/YOUR-TOPIC'
  session-reader wait --all --next --each --until needs-you,error --exec \\
    sh -c 'tmux display-message \"$(printf %s \"$SESSION_NAME: $SESSION_REASON\" |
      tr -d \"#%\")\"'

Exit status: 0 it is so, 1 not in that time, 2 an error; the command's with
--exec and without --each.";

const WAIT_SHORT: &str = "\
Example: session-reader wait api && notify-send 'api is ready'
`--help` has the variables of --exec, and commands that notify you.
Exit status: 0 it is so, 1 not in that time, 2 an error.";

#[derive(Debug, Args)]
#[command(after_help = WAIT_SHORT, after_long_help = WAIT)]
pub struct WaitArgs {
    /// Names, titles, ids or files of sessions [default: any of this project]
    pub names: Vec<String>,
    /// Until one is: needs-you, error, working, waiting, idle, done, gone (or: a,b)
    #[arg(long, value_name = "STATE", value_delimiter = ',', value_parser = one_of(&StateKind::ALL, StateKind::name), hide_possible_values = true)]
    pub until: Vec<StateKind>,
    /// Give up after this time: 30s, 10m, 2h
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub timeout: Option<Duration>,
    /// Go on, and print a line for each session
    #[arg(long)]
    pub each: bool,
    /// Wait for a change: what is so already doesn't count
    #[arg(long)]
    pub next: bool,
    /// Without NAME: any session on this machine
    #[arg(long, conflicts_with = "names")]
    pub all: bool,
    /// Print one JSON object, as `list --json` does
    #[arg(long)]
    pub json: bool,
    /// Run a command instead, with what happened in its environment
    #[arg(long, value_name = "COMMAND", num_args = 1.., allow_hyphen_values = true, conflicts_with = "json")]
    pub exec: Vec<OsString>,
}

const STATUS: &str = "\
Counts the sessions that need you, that failed and that work, and names the
first one you should look at, with the reason. Prints nothing if nothing goes
on. It reads little and takes a few milliseconds.

  2 need you · 1 failed · 3 working · api: permission: Bash rm -rf build

tmux, in ~/.tmux.conf:
  set -g status-interval 5
  set -g status-right-length 80
  set -g status-right '#(session-reader status --all --format tmux)'

starship, in ~/.config/starship.toml:
  [custom.sessions]
  command = 'session-reader status'
  when = true

waybar, as a module:
  \"custom/sessions\": {\"exec\": \"session-reader status --all\", \"interval\": 5}

Keys of --format json:
  needs_you failed working urgent: id handle agent title cwd state reason since";

#[derive(Debug, Args)]
#[command(after_long_help = STATUS, after_help = "`--help` has the lines for tmux, starship and waybar.")]
pub struct StatusArgs {
    /// plain, tmux (with its colors) or json (one object)
    #[arg(long, default_value = "plain", value_parser = one_of(&StatusFormat::ALL, StatusFormat::name), hide_possible_values = true)]
    pub format: StatusFormat,
    /// Every session on this machine, not just this project's
    #[arg(long)]
    pub all: bool,
}

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum StatusFormat {
        Plain = "plain",
        Tmux = "tmux",
        Json = "json",
    }
}

#[derive(Debug, Args)]
#[command(after_long_help = PROFILE, after_help = "`--help` explains each line of the profile.")]
pub struct ProfileArgs {
    /// Every session on this machine
    #[arg(long)]
    pub all: bool,
    /// Only what happened since then: 90d, monday, 2026-01-31
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub since: Option<Since>,
    /// Print one JSON object that always has all keys
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CapabilitiesArgs {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum FormatsAction {
    /// Check a descriptor (.toml), or how the lines of a transcript fit
    Check {
        /// A descriptor or a transcript
        file: String,
    },
}

/// A point in a transcript.
#[derive(Debug, Clone, Copy)]
pub enum Point {
    Line(u64),
    Time(Since),
    Id(Id),
}

impl Point {
    /// A time of day is the last one before the newest entry.
    pub fn target(self, env: &Env, newest: Option<Time>) -> Target {
        match self {
            Point::Line(line) => Target::Line(line),
            Point::Time(since) => Target::Time(since.before(newest.unwrap_or(env.now()), env)),
            Point::Id(id) => Target::Id(id),
        }
    }
}

/// A number is a line; what is no time is an id.
fn target(text: &str) -> Result<Point, &'static str> {
    let line = text.parse().ok();
    if line == Some(0) {
        return Err("lines count from 1");
    }
    let time = || since(text).ok().map(Point::Time);
    let point = line.map(Point::Line).or_else(time);
    let id = (!text.is_empty() && !text.contains(char::is_whitespace))
        .then(|| Point::Id(Id::named(text.as_bytes())));
    point.or(id).ok_or("neither a line, a time nor an id")
}

#[derive(Debug, Clone, Copy)]
pub enum Since {
    Ago(i64),
    At(Time),
    /// The beginning of a day in local time, written as if it were UTC.
    Day(Time),
    /// A minute in local time, in the same way.
    Minute(Time),
    /// The time of day, as a log prints it: the last such time.
    Clock(i64),
    /// So many days before today.
    DaysBack(i64),
    /// The last such day of the week, from Monday as 0; it may be today.
    Weekday(i64),
}

impl Since {
    pub fn time(self, env: &Env) -> Time {
        self.before(env.now(), env)
    }

    /// The same; a time of day is the last one before a moment.
    fn before(self, moment: Time, env: &Env) -> Time {
        let zone = env.zone();
        let today = zone.wall_clock(env.now()).0.div_euclid(DAY);
        let midnight = |day: i64| zone.of_wall_clock(Time(day * DAY));
        match self {
            Since::Ago(ago) => Time(env.now().0 - ago),
            Since::At(time) => time,
            Since::Day(time) | Since::Minute(time) => zone.of_wall_clock(time),
            Since::Clock(clock) => {
                let days = (zone.wall_clock(moment).0 - clock).div_euclid(DAY);
                zone.of_wall_clock(Time(days * DAY + clock))
            }
            Since::DaysBack(days) => midnight(today - days),
            // 1970 began with a Thursday.
            Since::Weekday(weekday) => midnight(today - (today + 3 - weekday).rem_euclid(7)),
        }
    }

    /// The last moment that counts where this is an end: a day or a minute counts whole.
    pub fn end(self, env: &Env) -> Time {
        let time = self.time(env);
        match self {
            Since::Ago(_) | Since::At(_) => time,
            Since::Minute(_) | Since::Clock(_) => Time(time.0 + MINUTE - 1),
            Since::Day(_) | Since::DaysBack(_) | Since::Weekday(_) => {
                let zone = env.zone();
                Time(zone.of_wall_clock(Time(zone.wall_clock(time).0 + DAY)).0 - 1)
            }
        }
    }
}

/// A word to look for, made comparable.
fn word(text: &str) -> Result<String, &'static str> {
    match folded(text).trim_end() {
        "" => Err("nothing to look for: give a word that has letters or digits in it"),
        word => Ok(word.to_owned()),
    }
}

fn at_least_one(text: &str) -> Result<usize, &'static str> {
    let number = text
        .parse()
        .map(|number: u64| usize::try_from(number).unwrap_or(usize::MAX));
    number
        .ok()
        .filter(|count| *count > 0)
        .ok_or("expected a number, 1 or more")
}

fn since(text: &str) -> Result<Since, &'static str> {
    const WEEK: [&str; 7] = [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ];
    if let Ok(ago) = humantime::parse_duration(text) {
        return Ok(Since::Ago(
            i64::try_from(ago.as_millis()).unwrap_or(1000 * 365 * DAY),
        ));
    }
    let word = text.to_lowercase();
    let index = |days: &[&str]| Some(days.iter().position(|day| *day == word)? as i64);
    let named = index(&["today", "yesterday"])
        .map(Since::DaysBack)
        .or(index(&WEEK).map(Since::Weekday));
    let date = || {
        Time::parse(format!("{text}T00:00:00Z").as_bytes())
            .filter(|_| text.len() == 10)
            .map(Since::Day)
    };
    // `14:25` and `2026-01-31 14:25`, as a log prints them.
    let local = |text: &str| Time::parse(format!("{text}:00Z").as_bytes());
    let clock = || {
        local(&format!("1970-01-01T{text}"))
            .filter(|_| text.len() == 5)
            .map(|time| Since::Clock(time.0))
    };
    let is_minute = text.len() == 16 && text.as_bytes()[10] == b' ';
    let minute = || local(text).filter(|_| is_minute).map(Since::Minute);
    named
        .or_else(date)
        .or_else(clock)
        .or_else(minute)
        .or_else(|| Time::parse(text.as_bytes()).map(Since::At))
        .ok_or("not a time like 2h, 7d, today, yesterday, monday, 14:25 or 2026-01-31")
}

/// A first word that is no command: the name of a session, or a mistyped command.
#[derive(Debug)]
pub struct BareWord {
    /// The command that it is like, and whether one edit makes it that.
    pub like: Option<String>,
    pub is_almost: bool,
    /// The error in the flags, if the word is a session; otherwise the word is the mistake.
    pub error: Option<clap::Error>,
}

impl BareWord {
    fn new(word: &str, reader: &Command, error: Option<clap::Error>) -> BareWord {
        // A path is like no command, and it takes long to compare: longer than to read the end of a session.
        let commands = || {
            reader
                .get_subcommands()
                .map(Command::get_name)
                .filter(|_| word.len() <= 20 && word != "last")
        };
        let like = |name: &str| strsim::normalized_damerau_levenshtein(word, name);
        let nearest = commands()
            .max_by(|a, b| like(a).total_cmp(&like(b)))
            .filter(|name| like(name) > 0.6);
        let is_almost = commands().any(|name| strsim::damerau_levenshtein(word, name) == 1);
        BareWord {
            like: nearest.map(str::to_owned),
            is_almost,
            error,
        }
    }
}

/// Reads the command line. If the flags are wrong and the first word is no command, that word may be the mistake: whoever
/// looks for a session by that name will know.
pub fn parse(
    args: impl IntoIterator<Item = OsString>,
    env: &Env,
    terminal: bool,
) -> Result<ReaderArgs, clap::Error> {
    let mut reader = super::command::<ReaderArgs>(env, terminal);
    let (args, bare) = with_command(args, &reader);
    let (mut parsed, error) = match (super::parsed::<ReaderArgs>(&mut reader, args), &bare) {
        (Err(error), Some(_)) if error.use_stderr() => {
            let log = ReaderArgs {
                command: ReaderCommand::Log(LogArgs {
                    name: bare.clone(),
                    ..LogArgs::default()
                }),
                colors: Colors {
                    color: ColorChoice::Auto,
                },
                no_pager: false,
            };
            (log, Some(error))
        }
        (parsed, _) => (parsed?, None),
    };
    if let ReaderCommand::Log(args) = &mut parsed.command {
        args.bare = bare.map(|word| BareWord::new(&word, &reader, error));
        args.slice = args.asked_slice();
    }
    Ok(parsed)
}

/// True if a word like `--all` or `-n` is this flag.
pub(crate) fn is_flag(arg: &Arg, word: &str) -> bool {
    let short = |short: char| word.strip_prefix('-') == Some(short.encode_utf8(&mut [0; 4]));
    arg.get_long()
        .is_some_and(|long| word.strip_prefix("--") == Some(long))
        || arg.get_short().is_some_and(short)
}

pub(crate) fn takes_value(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

/// The command line with its command written out: nothing means `list`, and a first word that is no command is the
/// name of a session. That word, if there is one, comes back as well.
pub(crate) fn with_command(
    args: impl IntoIterator<Item = OsString>,
    reader: &Command,
) -> (Vec<OsString>, Option<String>) {
    let mut args: Vec<OsString> = args.into_iter().collect();
    let mut words: Vec<_> = args
        .iter()
        .skip(1)
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let asks = |word: &String| matches!(&**word, "-h" | "--help" | "-V" | "--version");
    let is_command = |word: &String| word == "help" || reader.find_subcommand(word).is_some();
    // `--help search` is about that command.
    if let [first, command, ..] = &words[..]
        && matches!(&**first, "-h" | "--help")
        && is_command(command)
    {
        words.swap(0, 1);
        args.swap(1, 2);
    }
    // Flags of all commands may come before the command.
    let mut start = words.iter();
    let first = loop {
        match start.next().map(String::as_str) {
            Some("--color") => _ = start.next(),
            Some(flag) if flag == "--no-pager" || flag.starts_with("--color=") => {}
            word => break word.map(str::to_owned),
        }
    };
    if first.as_ref().is_some_and(is_command) || !words.is_empty() && words.iter().all(asks) {
        return (args, None);
    }
    let flags = |command: &str| {
        reader
            .find_subcommand(command)
            .into_iter()
            .flat_map(Command::get_arguments)
    };
    let mut name = None;
    let mut of_log = false;
    let mut rest = words.into_iter();
    while let Some(word) = rest.next() {
        let flag = word.split('=').next().unwrap_or_default();
        let is = |arg: &&Arg| is_flag(arg, flag);
        let of_list = flags("list").chain(reader.get_arguments()).find(is);
        of_log |= of_list.is_none() && flags("log").any(|arg| is(&arg));
        if !word.starts_with('-') {
            name.get_or_insert(word);
        } else if flag == word
            && of_list
                .or_else(|| flags("log").find(is))
                .is_some_and(takes_value)
        {
            rest.next();
        }
    }
    let command = if of_log || name.is_some() {
        "log"
    } else {
        "list"
    };
    args.insert(1.min(args.len()), command.into());
    (args, name)
}
