//! The commands of both programs, a file each.

pub mod args;
pub mod context;
mod demo;
mod doctor;
mod explain;
mod follow;
mod formats;
mod install;
mod list;
mod log;
mod marked;
mod marks;
mod mute;
mod notes;
mod page;
mod profile;
mod resume;
mod subject;
mod user;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, Write};

use clap::{ColorChoice, Parser};

use crate::catalog::{Candidate, Unresolved};
use crate::env::Env;
use crate::format::{self, Known};
use crate::locate::Unreadable;
use crate::render::terminal::{Look, clean, cut, flat, pad, pad_left, width};
use crate::secrets::redact;
use crate::settings::Settings;
use args::Command;

/// How a command ended; the number is the exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    Found = 0,
    Nothing = 1,
    Trouble = 2,
}

/// Where a command runs and where it writes.
pub struct Stage<'s, 'f> {
    /// The program, as it is called in messages.
    pub program: &'static str,
    pub env: &'s Env,
    pub look: Look,
    pub out: &'s mut dyn Write,
    pub err: &'s mut dyn Write,
    pub formats: &'f [Known],
    pub settings: &'s Settings,
    /// Set when the user wants it to end.
    pub stop: &'s std::sync::atomic::AtomicBool,
}

impl<'f> Stage<'_, 'f> {
    /// A reader of our output that has gone away is no error.
    fn end(&mut self, result: io::Result<Exit>) -> Exit {
        match result.and_then(|exit| self.out.flush().map(|()| exit)) {
            Ok(exit) => exit,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Found,
            Err(error) => {
                let _ = self.say(error);
                Exit::Trouble
            }
        }
    }

    /// A copy of this stage with another environment.
    fn at<'t>(&'t mut self, env: &'t Env) -> Stage<'t, 'f> {
        let Stage { program, look, formats, settings, stop, .. } = *self;
        Stage { program, env, look, out: self.out, err: self.err, formats, settings, stop }
    }

    fn say(&mut self, problem: impl std::fmt::Display) -> io::Result<()> {
        // A file name is a stranger's text, too.
        // If nobody listens, what there is to show is still shown.
        let _ = writeln!(self.err, "{}: {}", self.program, clean(&problem.to_string()));
        Ok(())
    }

    /// Names files that could not be read; the others were.
    fn say_unreadable(&mut self, bad: &[Unreadable]) -> io::Result<Exit> {
        for Unreadable { path, error } in bad {
            self.say(format_args!("{}: {error}", path.display()))?;
        }
        Ok(if bad.is_empty() { Exit::Found } else { Exit::Trouble })
    }

    fn say_unresolved(&mut self, name: &str, unresolved: Unresolved) -> io::Result<Exit> {
        self.say_unresolved_as("session", name, unresolved)
    }

    /// Says why a name leads to no session. `kind` is what it could have been: a session, or a command as well.
    fn say_unresolved_as(&mut self, kind: &str, name: &str, unresolved: Unresolved) -> io::Result<Exit> {
        let none_is = format!("no {kind} is called '{name}'");
        let is_path = name.contains('/') || name.ends_with(".jsonl") || name == "." || name == "..";
        let (problem, candidates) = match unresolved {
            Unresolved::Nameless => {
                ("the name of the session is empty; `session-reader list --all` shows what there is".into(), vec![])
            }
            Unresolved::Unknown(_) | Unresolved::None if is_path => {
                let is_dir = self.env.expand(name).is_dir();
                let why = if is_dir { "is a directory, not a transcript" } else { "no such file" };
                (format!("{name}: {why}"), vec![])
            }
            Unresolved::None => {
                let hint = "no session was found at all; `session-reader formats` shows where we looked";
                (format!("{none_is}, and {hint}"), vec![])
            }
            Unresolved::Unknown(near) if near.is_empty() => {
                let hint = match kind {
                    "session" => "`session-reader list --all` shows what there is",
                    _ => "`session-reader --help` lists the commands, `session-reader list --all` the sessions",
                };
                (format!("{none_is}; {hint}"), near)
            }
            Unresolved::Unknown(near) => (format!("{none_is}; the nearest:"), near),
            Unresolved::Ambiguous(all) => (format!("'{name}' fits {} sessions; name one of them:", all.len()), all),
            Unresolved::Unreadable(Unreadable { path, error }) => (format!("{}: {error}", path.display()), vec![]),
            Unresolved::Unrecognised(path) => {
                let hint = "not a transcript of a known format; `session-reader formats` lists them";
                (format!("{}: {hint}", path.display()), vec![])
            }
        };
        self.say(problem)?;
        self.say_candidates(&candidates);
        Ok(Exit::Trouble)
    }

    fn say_candidates(&mut self, candidates: &[Candidate]) {
        const SHOWN: usize = 5;
        let shown: Vec<_> = candidates.iter().take(SHOWN).map(|row| row.each_ref().map(|cell| flat(cell))).collect();
        let rooms: [usize; 4] =
            std::array::from_fn(|column| shown.iter().map(|row| width(&row[column])).max().unwrap_or(0));
        for [handle, agent, age, cwd, title] in &shown {
            let start = format!("  {}  {}  ", pad(handle, rooms[0]), pad(agent, rooms[1]));
            let start = format!("{start}{}  {}  ", pad_left(age, rooms[2]), pad(cwd, rooms[3]));
            let title = if self.settings.redact { redact(title) } else { Cow::Borrowed(&**title) };
            let _ = writeln!(self.err, "{}", (start + &cut(&title, 60)).trim_end());
        }
        if candidates.len() > SHOWN {
            let _ = writeln!(self.err, "  and {} more", candidates.len() - SHOWN);
        }
    }
}

/// What people call the agent of a format; of one that is gone by now, its name.
fn label<'a>(formats: &'a [Known], name: &'a str) -> &'a str {
    formats.iter().find(|format| format.name == name).map_or(name, Known::label)
}

/// That there are no sessions, and where there may be some.
fn none(anywhere: bool, narrowed: bool, elsewhere: usize, shows: &str) -> String {
    let like = if narrowed { " like that" } else { "" };
    let place = if anywhere { "on this machine" } else { "in this project" };
    let hint = match elsewhere {
        0 if !narrowed => "; `session-reader formats` shows where they are looked for".into(),
        0 => String::new(),
        count => format!("; {count} elsewhere, which {shows} shows"),
    };
    format!("no sessions{like} {place}{hint}")
}

/// Reads a command line. Help is as wide as the terminal, or 80 columns where there is none.
pub fn parse<P: Parser>(args: impl IntoIterator<Item = OsString>, env: &Env, terminal: bool) -> Result<P, clap::Error> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    // `help` is no command of clap's, which would cost a line of the screen.
    if args.get(1).is_some_and(|word| word == "help") {
        args.remove(1);
        args.push("--help".into());
    }
    let mut command = P::command().term_width(env.width(terminal).unwrap_or(80));
    let matches = command.try_get_matches_from_mut(args)?;
    P::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// What `--color` asks for, if anything.
pub fn wanted_colour(color: ColorChoice) -> Option<bool> {
    (color != ColorChoice::Auto).then_some(color == ColorChoice::Always)
}

/// Runs a command of `session-reader`.
pub fn run(
    command: Command,
    env: &Env,
    look: Look,
    out: &mut dyn Write,
    err: &mut dyn Write,
    stop: &std::sync::atomic::AtomicBool,
) -> Exit {
    let (formats, bad) = format::known(&env.formats_dir());
    let (settings, wrong) = Settings::read(env);
    let mut stage =
        Stage { program: "session-reader", env, look, out, err, formats: &formats, settings: &settings, stop };
    // Who checks a file is told about that file.
    let checks = matches!(&command, Command::Formats(args) if args.action.is_some());
    let said = wrong.iter().try_for_each(|wrong| stage.say(wrong));
    let broken_formats = said.and_then(|()| bad.iter().filter(|_| !checks).try_for_each(|bad| stage.say(bad)));
    let result = broken_formats.and_then(|()| match command {
        Command::Log(args) => log::run(&args, &mut stage),
        Command::List(args) => list::run(&args, &mut stage),
        Command::Profile(args) => profile::run(&args, &mut stage),
        Command::Formats(args) => formats::run(&args, &mut stage),
        Command::Resume(args) => resume::run(&args, &mut stage),
    });
    stage.end(result)
}
