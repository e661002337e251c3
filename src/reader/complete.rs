//! `session-reader __complete`: what may come next on the command line of either program. `session-reader completions` prints
//! the scripts for shells that ask this.
//!
//! Commands and flags come from the description of the command line, so no new one has to be added here. Sessions, tags and
//! agents come from what is there, where the name of a value says that it is one.

use clap::{Arg, Command};

use super::args::{
    CompleteArgs, CompletionsArgs, ReaderArgs, Shell, is_flag, takes_value, with_command,
};
use super::{Exit, Problem, Stage, command};
use session_core::session::index::Listed;
use session_core::show::terminal::cut;
use session_format::path::base_name;

/// As much of a title as tells a session.
const TITLE: usize = 60;

pub fn script(args: &CompletionsArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let script = match args.shell {
        Shell::Bash => include_str!("completions/bash"),
        Shell::Zsh => include_str!("completions/zsh"),
        Shell::Fish => include_str!("completions/fish"),
    };
    stage.out.write_all(script.as_bytes())?;
    Ok(Exit::Found)
}

pub fn run(args: CompleteArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    // bash takes `--state=idle` for three words.
    let words = args.words.into_iter().filter(|word| word != "=");
    let mut before: Vec<_> = words.collect();
    let typed = before.pop().unwrap_or_default();
    let typed = typed.to_string_lossy();
    let program = before.first().map(|word| word.to_string_lossy());
    let context = args.context.filter(|context| {
        program
            .as_deref()
            .is_some_and(|program| base_name(program) == context.get_name())
    });
    let mut command = match context {
        Some(context) => *context,
        None => {
            let reader = command::<ReaderArgs>(stage.env, false);
            // A name alone is the log of that session, and without one there may be flags of the list.
            let (written_out, name) = with_command(before.clone(), &reader);
            if name.is_some() || typed.starts_with('-') {
                before = written_out;
            }
            reader
        }
    };
    command.build();
    let before: Vec<_> = before
        .iter()
        .skip(1)
        .map(|word| word.to_string_lossy())
        .collect();
    let all = Place::after(&before, &command).candidates(&typed, stage);
    let fitting = all
        .into_iter()
        .filter(|candidate| candidate.word.starts_with(&*typed) && candidate.is_plain());
    let lines: Vec<String> = fitting
        .map(|Candidate { word, meaning }| format!("{word}\t{}", stage.gate.line(&meaning)))
        .collect();
    stage.print_lines(lines)
}

struct Candidate {
    word: String,
    meaning: String,
}

impl Candidate {
    fn new(word: impl Into<String>, meaning: impl ToString) -> Candidate {
        Candidate {
            word: word.into(),
            meaning: meaning.to_string(),
        }
    }

    /// No shell would take it for something else.
    fn is_plain(&self) -> bool {
        let is_plain = |char: char| char.is_alphanumeric() || "-_.,:=@%+/".contains(char);
        !self.word.is_empty() && self.word.chars().all(is_plain)
    }
}

/// A place on the command line.
struct Place<'c> {
    command: &'c Command,
    /// The flag whose value comes next.
    flag: Option<&'c Arg>,
    /// So many words were neither commands nor flags.
    words: usize,
}

impl<'c> Place<'c> {
    fn after(words: &[impl AsRef<str>], command: &'c Command) -> Place<'c> {
        let mut place = Place {
            command,
            flag: None,
            words: 0,
        };
        for word in words.iter().map(AsRef::as_ref) {
            let is_value = place.flag.take().is_some();
            let below = place.command.find_subcommand(word);
            match below.filter(|_| place.words == 0 && !is_value) {
                Some(below) => place.command = below,
                None if is_value => {}
                None if word.starts_with('-') => place.flag = place.flag(word),
                None => place.words += 1,
            }
        }
        place
    }

    /// The flag of that name, if its value comes next.
    fn flag(&self, word: &str) -> Option<&'c Arg> {
        let mut flags = self.command.get_arguments();
        flags.find(|arg| is_flag(arg, word) && takes_value(arg))
    }

    fn candidates(&self, typed: &str, stage: &mut Stage) -> Vec<Candidate> {
        if let Some(flag) = self.flag {
            return values(flag, typed, stage);
        }
        if let Some((flag, typed)) = typed.split_once('=')
            && let Some(arg) = self.flag(flag)
        {
            let mut all = values(arg, typed, stage);
            all.iter_mut()
                .for_each(|candidate| candidate.word = format!("{flag}={}", candidate.word));
            return all;
        }
        if typed.starts_with('-') {
            let flags = self
                .command
                .get_arguments()
                .filter(|arg| !arg.is_hide_set());
            let flag =
                |arg: &Arg| Some(Candidate::new(format!("--{}", arg.get_long()?), help(arg)));
            return flags.filter_map(flag).collect();
        }
        let commands = self.command.get_subcommands();
        let commands = commands.filter(|command| self.words == 0 && !command.is_hide_set());
        let about = |command: &Command| command.get_about().map(ToString::to_string);
        let mut all: Vec<_> = commands
            .map(|command| Candidate::new(command.get_name(), about(command).unwrap_or_default()))
            .collect();
        // The last one may take all that follow.
        let positionals: Vec<&Arg> = self.command.get_positionals().collect();
        let positional = positionals.get(self.words).or(positionals.last());
        match positional {
            Some(arg) => all.extend(values(arg, typed, stage)),
            // A name alone is the log of that session.
            None if self.command.get_name() == stage.program => all.extend(sessions(typed, stage)),
            None => {}
        }
        all
    }
}

fn help(arg: &Arg) -> String {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    help.lines().next().unwrap_or_default().to_owned()
}

/// The values that a flag or a word may have.
fn values(arg: &Arg, typed: &str, stage: &mut Stage) -> Vec<Candidate> {
    let possible = arg.get_possible_values();
    if !possible.is_empty() {
        // Of `idle,done` only the last is being typed.
        let before = arg
            .get_value_delimiter()
            .and_then(|delimiter| typed.rsplit_once(delimiter))
            .map(|(before, _)| format!("{before},"))
            .unwrap_or_default();
        let candidate = |name: &str| Candidate::new(format!("{before}{name}"), "");
        return possible
            .iter()
            .map(|value| candidate(value.get_name()))
            .collect();
    }
    match arg
        .get_value_names()
        .and_then(|names| names.first())
        .map(AsRef::as_ref)
    {
        Some("NAME" | "NAMES") => sessions(typed, stage),
        Some("TAG") => tags(stage),
        Some("AGENT") => {
            let name = |format: &str| Candidate::new(format, "");
            let formats = stage.formats.iter();
            formats.map(|format| name(format.label())).collect()
        }
        _ => Vec::new(),
    }
}

/// The sessions of this project; those of others where there are none, or once something is typed.
fn sessions(typed: &str, stage: &mut Stage) -> Vec<Candidate> {
    let mut all = stage.sessions();
    if typed.is_empty() && all.iter().any(|listed| listed.here) {
        all.retain(|listed| listed.here);
    }
    all.sort_by_key(|listed| !listed.here);
    let now = stage.env.now();
    let candidate = |listed: &Listed| {
        let title = cut(listed.tally.title().unwrap_or_default(), TITLE);
        let agent = listed.session.format.label();
        Candidate::new(
            listed.handle(),
            format_args!("{agent}, {}: {title}", listed.age(now)),
        )
    };
    let last =
        (!all.is_empty()).then(|| Candidate::new("last", "the last session of this project"));
    last.into_iter().chain(all.iter().map(candidate)).collect()
}

fn tags(stage: &mut Stage) -> Vec<Candidate> {
    let all = stage.sessions();
    let mut tags: Vec<&String> = all.iter().flat_map(|listed| &listed.tags).collect();
    tags.sort_unstable();
    tags.dedup();
    tags.into_iter()
        .map(|tag| Candidate::new(tag, ""))
        .collect()
}
