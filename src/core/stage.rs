//! How a command runs and ends: where it writes, how it finds a session by its name, what it says if something is wrong.
//!
//! A command of either program takes a [`Stage`] and returns how it ended, or the [`Problem`] that stopped it: arguments become
//! a question, the question is answered (`ask/`), and the answer is shown (`show/`).

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, Write};
use std::mem::ManuallyDrop;
use std::sync::atomic::AtomicBool;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ColorChoice, Parser};
use serde::Serialize;

use crate::ask::{self, Answer, Asker};
use crate::env::Env;
use crate::file::Unreadable;
use crate::formats::{self, AgentFormat};
use crate::session::choose::{self, Resolved, Suggestion, Unresolved};
use crate::session::ids;
use crate::session::index::{self, Listed};
use crate::settings::Settings;
use crate::show::gate::Gate;
use crate::show::terminal::{Style, aligned, cut};

/// The number of the JSON Schemas in `docs/schemas/`. Keys are only added; one that changes its meaning raises it.
pub const SCHEMA: u32 = 1;

/// How a command ended; the number is the exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    Found = 0,
    Nothing = 1,
    Trouble = 2,
}

/// Why a command did not do what it was asked to do, as a whole message: what is wrong, with the file, and what to do.
/// [`Stage::end`] prints it once and turns it into the exit status.
#[derive(Debug)]
pub enum Problem {
    /// Something is wrong: a flag, a name, a file.
    Trouble(String),
    /// Nothing is wrong, but there is nothing to show.
    Nothing(String),
    /// The flags are wrong; this is all that there is to say.
    Usage(String),
    /// The output could not be written.
    Output(io::Error),
}

impl Problem {
    pub fn trouble<T>(message: impl ToString) -> Result<T, Problem> {
        Err(Problem::Trouble(message.to_string()))
    }

    pub fn nothing<T>(message: impl ToString) -> Result<T, Problem> {
        Err(Problem::Nothing(message.to_string()))
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Problem::Trouble(message) | Problem::Nothing(message) | Problem::Usage(message) => {
                f.write_str(message)
            }
            Problem::Output(error) => error.fmt(f),
        }
    }
}

/// Commands write with `?`. An error of any other file must come with its path, as an [`Unreadable`].
impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Problem {
        Problem::Output(error)
    }
}

impl From<Unreadable> for Problem {
    fn from(unreadable: Unreadable) -> Problem {
        Problem::Trouble(unreadable.to_string())
    }
}

/// Where a command runs and where it writes.
pub struct Stage<'s, 'f> {
    /// The program, as it is called in messages.
    pub program: &'static str,
    pub env: &'s Env,
    pub gate: Gate,
    pub style: Style,
    pub out: &'s mut dyn Write,
    pub err: &'s mut dyn Write,
    pub formats: &'f [AgentFormat],
    pub settings: &'s Settings,
    /// Set when the user wants it to end.
    pub stop: &'s AtomicBool,
    /// The program goes on after the command.
    pub goes_on: bool,
    /// The files that could not be read so far, as they were named. The command goes on, but does not end well.
    pub trouble: &'s RefCell<Vec<String>>,
}

impl<'s, 'f> Stage<'s, 'f> {
    /// Reports the problem, if there is one, and returns the exit status.
    pub fn end(&mut self, result: Result<Exit, Problem>) -> Exit {
        let flushed = self.out.flush().map_err(Problem::from);
        let exit = match result.and_then(|exit| flushed.map(|()| exit)) {
            Ok(exit) => exit,
            // The reader of our output went away, which is no problem.
            Err(Problem::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                return Exit::Found;
            }
            Err(Problem::Usage(message)) => {
                let _ = self.err.write_all(message.as_bytes());
                Exit::Trouble
            }
            Err(problem) => {
                self.say(&problem);
                if matches!(problem, Problem::Nothing(_)) {
                    Exit::Nothing
                } else {
                    Exit::Trouble
                }
            }
        };
        if self.trouble.borrow().is_empty() {
            exit
        } else {
            Exit::Trouble
        }
    }

    /// A copy of this stage with another environment.
    pub fn at<'t>(&'t mut self, env: &'t Env) -> Stage<'t, 'f> {
        Stage {
            env,
            out: self.out,
            err: self.err,
            ..*self
        }
    }

    /// Writes a message to stderr. If that fails, the command still goes on.
    pub fn say(&mut self, message: impl std::fmt::Display) {
        let _ = writeln!(
            self.err,
            "{}: {}",
            self.program,
            self.gate.text(&message.to_string())
        );
    }

    pub fn say_all(&mut self, messages: impl IntoIterator<Item: std::fmt::Display>) {
        messages.into_iter().for_each(|message| self.say(message));
    }

    /// Names files that could not be read; the others were.
    pub fn say_unreadable(&mut self, files: &[Unreadable]) {
        for file in files.iter().map(ToString::to_string) {
            // Another search may have come across it before.
            if !self.trouble.borrow().contains(&file) {
                self.say(&file);
                self.trouble.borrow_mut().push(file);
            }
        }
    }

    /// The session is found, and what the command does from here on needs no other file: one that could not be read is no
    /// failure of it.
    pub fn clear_read_errors(&self) {
        self.trouble.borrow_mut().clear();
    }

    /// Reports what is wrong with a notes file. The list of sessions may have named it as unreadable.
    pub fn say_wrong(&mut self, wrong: &[String]) {
        let trouble = self.trouble;
        let is_named = |wrong: &&String| {
            trouble
                .borrow()
                .iter()
                .any(|named| wrong.starts_with(named))
        };
        self.say_all(wrong.iter().filter(|wrong| !is_named(wrong)));
    }

    pub fn ask(&self) -> Asker<'s, 'f> {
        Asker {
            env: self.env,
            formats: self.formats,
            settings: self.settings,
        }
    }

    /// Takes an answer, and names the files that could not be read for it.
    pub fn heard<T>(&mut self, (value, bad): Answer<T>) -> T {
        self.say_unreadable(&bad);
        value
    }

    /// All sessions on the machine, the newest first.
    pub fn sessions(&mut self) -> Vec<Listed<'f>> {
        self.heard(ask::list::sessions(self.ask()))
    }

    /// The session that a name leads to.
    pub fn resolve(&mut self, name: &str) -> Result<Resolved<'f>, Problem> {
        let resolved = self.heard(
            self.ask()
                .look(|env, formats, bad| choose::resolve(env, formats, name, bad)),
        );
        let resolved =
            resolved.map_err(|unresolved| self.unresolved("session", name, unresolved))?;
        self.say_part(name, &resolved);
        Ok(resolved)
    }

    /// A session of another project may not be the one that is meant: it merely has the name in its title, or is the last
    /// one because this project has none.
    pub fn say_part(
        &mut self,
        name: &str,
        Resolved {
            session,
            part,
            elsewhere,
            ..
        }: &Resolved,
    ) {
        if let Some(cwd) = elsewhere {
            let handle = index::handle(session, self.env, self.formats);
            if *part {
                self.say(format_args!(
                    "'{name}' is in the title of {handle}, a session in {cwd}"
                ));
            } else {
                self.say(format_args!(
                    "'{name}' is {handle}, a session in {cwd}; this project has none"
                ));
            }
        }
    }

    /// Refuses the name of an agent that nobody knows.
    pub fn known_agent(&self, agent: Option<&str>) -> Result<(), Problem> {
        match agent.filter(|agent| !self.formats.iter().any(|format| format.is_called(agent))) {
            Some(agent) => {
                let known: Vec<_> = self.formats.iter().map(AgentFormat::label).collect();
                Problem::trouble(format_args!(
                    "no agent is called '{agent}'; there are: {}",
                    known.join(", ")
                ))
            }
            None => Ok(()),
        }
    }

    /// Done with something large. Where the program ends anyway, giving back thousands of small strings would take longer than
    /// printing them.
    pub fn leave<T>(&self, value: T) {
        if !self.goes_on {
            std::mem::forget(value);
        }
    }

    /// Prints an object for a program. Its last key says which schema it keeps to.
    pub fn print_json(&mut self, object: &impl Serialize) -> Result<Exit, Problem> {
        let json = self.gate.json(object).map_err(io::Error::from)?;
        let members = json.strip_suffix('}').unwrap_or(&json);
        self.print_lines([format!("{members},\"schema\":{SCHEMA}}}")])
    }

    pub fn print_lines(
        &mut self,
        lines: impl IntoIterator<Item: std::fmt::Display>,
    ) -> Result<Exit, Problem> {
        lines
            .into_iter()
            .try_for_each(|line| writeln!(self.out, "{line}"))?;
        Ok(Exit::Found)
    }

    /// A text that the gate has passed, indented.
    pub fn print_indented(&mut self, text: &str) -> io::Result<()> {
        text.lines()
            .try_for_each(|line| writeln!(self.out, "    {line}"))
    }

    /// Why a name leads to no session. `kind` is what it could have been: a session, or a command as well.
    pub fn unresolved(&self, kind: &str, name: &str, unresolved: Unresolved) -> Problem {
        let none_is = format!("no {kind} is called '{name}'");
        let is_path = name.contains('/') || name.ends_with(".jsonl") || name == "." || name == "..";
        let list = "`session-reader list --all` shows what there is";
        Problem::Trouble(match unresolved {
            Unresolved::Nameless => format!("the name of the session is empty; {list}"),
            Unresolved::Unknown(_) | Unresolved::None if is_path => {
                let is_dir = self.env.expand(name).is_dir();
                format!(
                    "{name}: {}",
                    if is_dir {
                        "is a directory, not a transcript"
                    } else {
                        "no such file"
                    }
                )
            }
            Unresolved::Unknown(_) | Unresolved::None if name == "self" => {
                let mut formats = self.formats.iter();
                if formats.any(|format| ids::asking(format, self.env).is_some()) {
                    "this session has written nothing yet".into()
                } else {
                    format!("which session this runs in is not known, so name it; {list}")
                }
            }
            Unresolved::None if name == "last" => {
                return Problem::Nothing(none(false, false, 0, ""));
            }
            Unresolved::None => {
                format!(
                    "{none_is}, and no session was found at all; `session-reader formats` shows where we looked"
                )
            }
            Unresolved::Unknown(near) if near.is_empty() && kind == "session" => {
                format!("{none_is}; {list}")
            }
            Unresolved::Unknown(near) if near.is_empty() => {
                let hint = "`session-reader --help` lists the commands, `session-reader list --all` the sessions";
                format!("{none_is}; {hint}")
            }
            Unresolved::Unknown(near) => {
                format!("{none_is}; the nearest:{}", self.candidates(&near))
            }
            Unresolved::Ambiguous(all) => {
                format!(
                    "'{name}' fits {} sessions; name one of them:{}",
                    all.len(),
                    self.candidates(&all)
                )
            }
            Unresolved::Unreadable(unreadable) => return unreadable.into(),
            Unresolved::Unrecognised(path) => {
                let hint =
                    "not a transcript of a known format; `session-reader formats` lists them";
                format!("{}: {hint}", path.display())
            }
        })
    }

    /// A line for each session that may be meant.
    pub fn candidates(&self, all: &[Suggestion]) -> String {
        const SHOWN: usize = 5;
        let rows: Vec<_> = (all.iter().take(SHOWN))
            .map(|row| {
                let [handle, agent, age, cwd, title] =
                    row.each_ref().map(|cell| self.gate.line(cell).into_owned());
                [handle, agent, age, cwd, cut(&title, 60).into_owned()]
            })
            .collect();
        let mut lines: String = aligned(&rows, &[2])
            .iter()
            .map(|line| format!("\n  {line}"))
            .collect();
        if all.len() > SHOWN {
            lines += &format!(
                "\n  and {} more: session-reader list --all",
                all.len() - SHOWN
            );
        }
        lines
    }
}

/// What people call the agent of a format, or the name of a format that is no longer known.
pub fn label<'a>(formats: &'a [AgentFormat], name: &'a str) -> &'a str {
    formats
        .iter()
        .find(|format| format.name == name)
        .map_or(name, AgentFormat::label)
}

/// The message that there are no sessions, with a hint where there are some.
pub fn none(anywhere: bool, narrowed: bool, elsewhere: usize, shows: &str) -> String {
    let like = if narrowed { " like that" } else { "" };
    let scope = if anywhere {
        "on this machine"
    } else {
        "in this project"
    };
    let hint = match elsewhere {
        0 if !narrowed => "; `session-reader formats` shows where they are looked for".into(),
        0 => String::new(),
        count => format!("; {count} elsewhere: {shows} shows them"),
    };
    format!("no sessions{like} {scope}{hint}")
}

/// Reads a command line.
pub fn parse<P: Parser>(
    args: impl IntoIterator<Item = OsString>,
    env: &Env,
    terminal: bool,
) -> Result<P, clap::Error> {
    parsed(&mut command::<P>(env, terminal), args.into_iter().collect())
}

/// With the commit, where `cargo setup` or a release was built from a clone: `0.1.0 (7c7991100)`.
const VERSION: &str = match option_env!("SESSION_MONITOR_VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};

/// All that a program takes. Help is as wide as the terminal, or 80 columns where there is none.
pub fn command<P: Parser>(env: &Env, terminal: bool) -> clap::Command {
    const TEMPLATE: &str =
        "{about}\n\n{usage-heading} {usage}\n\nCommands:\n{subcommands}{after-help}";
    let command = P::command()
        .version(VERSION)
        .help_template(TEMPLATE)
        .disable_help_subcommand(true);
    command.term_width(env.width(terminal).unwrap_or(80))
}

pub fn parsed<P: Parser>(
    command: &mut clap::Command,
    mut args: Vec<OsString>,
) -> Result<P, clap::Error> {
    // We don't use clap's own `help` command, which would take a line of the screen.
    if args.get(1).is_some_and(|word| word == "help") {
        args.remove(1);
        args.push("--help".into());
    }
    let matches = command.try_get_matches_from_mut(args)?;
    P::from_arg_matches(&matches).map_err(|error| error.format(command))
}

/// What `--color` asks for, if anything.
pub fn wanted_colour(color: ColorChoice) -> Option<bool> {
    (color != ColorChoice::Auto).then_some(color == ColorChoice::Always)
}

/// Reads formats and settings, and passes them to a command together with the problems in them.
pub fn on_stage(
    program: &'static str,
    env: &Env,
    style: Style,
    out: &mut dyn Write,
    err: &mut dyn Write,
    stop: &AtomicBool,
    command: impl FnOnce(&mut Stage, &[Unreadable], &[String]) -> Result<Exit, Problem>,
) -> Exit {
    let (formats, bad_formats) = formats::known(&env.formats_dir());
    // The program ends with the command; taking the formats apart first would be for nothing.
    let formats = ManuallyDrop::new(formats);
    let (settings, mut bad_settings) = Settings::read(env);
    bad_settings.extend(env.problems());
    let (gate, trouble) = (Gate::new(settings.redact), RefCell::default());
    let (formats, settings, trouble) = (&formats[..], &settings, &trouble);
    let mut stage = Stage {
        program,
        env,
        gate,
        style,
        out,
        err,
        formats,
        settings,
        stop,
        goes_on: false,
        trouble,
    };
    let result = command(&mut stage, &bad_formats, &bad_settings);
    stage.end(result)
}

/// The flag that both programs have.
#[derive(Debug, Args)]
pub struct Colors {
    /// Use colors: auto, always or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        display_order = 900
    )]
    pub color: ColorChoice,
}

/// A parser for one of a few named values.
pub fn one_of<T>(all: &'static [T], name: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let names = PossibleValuesParser::new(all.iter().map(|value| name(*value)));
    names.try_map(move |given| {
        all.iter()
            .copied()
            .find(|value| name(*value) == given)
            .ok_or("unknown")
    })
}
