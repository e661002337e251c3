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

use std::io::{self, Write};

use crate::catalog::Unresolved;
use crate::env::Env;
use crate::format::{self, Known};
use crate::locate::Unreadable;
use crate::render::terminal::{Look, clean, cut, flat, pad, width};
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

    /// The same, as it would be elsewhere.
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
        let candidates = match unresolved {
            Unresolved::Nameless => {
                self.say("the name of the session is empty; `session-reader list --all` shows what there is")?;
                vec![]
            }
            Unresolved::Unknown(_) | Unresolved::None
                if (name.contains('/') || name == "." || name == "..") && self.env.expand(name).is_dir() =>
            {
                self.say(format_args!("{name}: is a directory, not a transcript"))?;
                vec![]
            }
            Unresolved::Unknown(_) | Unresolved::None if name.contains('/') || name.ends_with(".jsonl") => {
                self.say(format_args!("{name}: no such file"))?;
                vec![]
            }
            Unresolved::None => {
                self.say(format_args!("no session is called '{name}', and no session was found at all; `session-reader formats` shows where they are looked for"))?;
                vec![]
            }
            Unresolved::Unknown(near) if near.is_empty() => {
                self.say(format_args!(
                    "no session is called '{name}'; `session-reader list --all` shows what there is"
                ))?;
                vec![]
            }
            Unresolved::Unknown(near) => {
                self.say(format_args!("no session is called '{name}'; the nearest:"))?;
                near
            }
            Unresolved::Ambiguous(several) => {
                self.say(format_args!("'{name}' fits several sessions; take one by its id:"))?;
                several
            }
            Unresolved::Unreadable(Unreadable { path, error }) => {
                self.say(format_args!("{}: {error}", path.display()))?;
                vec![]
            }
            Unresolved::Unrecognised(path) => {
                self.say(format_args!(
                    "{}: not a transcript of a known format; `session-reader formats` lists them",
                    path.display()
                ))?;
                vec![]
            }
        };
        const SHOWN: usize = 10;
        let room = candidates.iter().take(SHOWN).map(|(handle, _)| width(handle)).max().unwrap_or(0);
        for (handle, title) in candidates.iter().take(SHOWN) {
            let _ = writeln!(self.err, "  {}  {}", pad(&flat(handle), room), cut(&flat(title), 60));
        }
        if candidates.len() > SHOWN {
            let _ = writeln!(self.err, "  and {} more", candidates.len() - SHOWN);
        }
        Ok(Exit::Trouble)
    }
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
