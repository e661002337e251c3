//! What the user wrote down about a project: `pin`, `pins`, `unpin`, `note`, `notes`.

use std::io;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::marks::show_done;
use super::page::{changed, kind, note as written, opened, show, show_note};
use super::{Exit, Stage};
use crate::env::{Env, iso};
use crate::locate::Project;
use crate::render::start::PIN;
use crate::state::make_parent;
use crate::state::notes::{Kind, Note, Notes, Priority, Until};
use crate::time::{DAY, SECOND, Time};

const WHERE: &str = "\
Pins and notes are lines of one text file per project, shared by its worktrees.
You can edit it. You can leave out the id and the parentheses:
  $EDITOR \"$(session-context notes --path)\"
  pin 1 (high, until 2026-11-23): the API is frozen";

fn help(examples: &str) -> String {
    format!("Examples:\n{examples}\n\n{WHERE}")
}

#[derive(Debug, Args)]
#[command(after_help = help("  session-context pin --for 7d the API is frozen
  session-context pin --priority high never push to main"))]
pub struct PinArgs {
    /// What to tell; no quotes needed
    #[arg(required = true)]
    text: Vec<String>,
    #[command(flatten)]
    span: Span,
    /// high (told first), normal, low
    #[arg(long, value_name = "LEVEL", default_value = "normal", value_parser = priority(), hide_possible_values = true)]
    priority: Priority,
}

#[derive(Debug, Args)]
#[command(after_help = help("  session-context note decision PostgreSQL instead of SQLite
  session-context note blocker --for 2d waiting for the licence"))]
pub struct NoteArgs {
    /// What it is
    #[arg(value_name = "decision|blocker|next|fact", value_parser = kind(&Kind::OF_PROJECT[1..]), hide_possible_values = true)]
    kind: Kind,
    /// What to write down; no quotes needed
    #[arg(required = true)]
    text: Vec<String>,
    #[command(flatten)]
    span: Span,
}

#[derive(Debug, Args)]
struct Span {
    /// How long it holds: 30m, 2h, 7d [default: forever]
    #[arg(long = "for", value_name = "SPAN", value_parser = span)]
    span: Option<i64>,
}

#[derive(Debug, Args)]
pub struct PinsArgs {
    /// Also the expired ones
    #[arg(long)]
    all: bool,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = WHERE)]
pub struct NotesArgs {
    #[command(flatten)]
    shown: PinsArgs,
    /// Print where the file of this project is, there or not
    #[arg(long)]
    path: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  session-context unpin 3      what `pins` shows as: pin 3 (2026-11-16): …
  session-context unpin 4 7    all of them or, if one is not there, none")]
pub struct UnpinArgs {
    /// The number that `pins` and `notes` show after the first word
    #[arg(required = true, value_name = "ID", value_parser = id, allow_negative_numbers = true)]
    ids: Vec<u32>,
}

fn id(text: &str) -> Result<u32, &'static str> {
    text.parse().map_err(|_| "an id is the number that `session-context pins` or `session-context notes` shows")
}

fn priority() -> impl TypedValueParser<Value = Priority> {
    let names = PossibleValuesParser::new(Priority::ALL.map(Priority::name));
    names.try_map(|name| Priority::named(&name).ok_or("no such priority"))
}

/// A thousand years are as good as for ever, and are still a date.
fn span(text: &str) -> Result<i64, &'static str> {
    let span = humantime::parse_duration(text).ok().and_then(|span| i64::try_from(span.as_millis()).ok());
    span.filter(|span| (1..=1000 * 365 * DAY).contains(span)).ok_or("not a time span like 30m, 2h or 7d")
}

/// The moment at which a span that begins now is over: to the second, and never too early.
fn until(span: i64, env: &Env) -> Until {
    let end = Time((env.now().0 + span + SECOND - 1).div_euclid(SECOND) * SECOND);
    Until { written: iso(end).replace(".000Z", "Z"), end }
}

pub fn pin(args: &PinArgs, stage: &mut Stage) -> io::Result<Exit> {
    let note = written(Kind::Pin, &args.text, stage.env).map(|note| Note { priority: args.priority, ..note });
    let long = note.as_ref().is_some_and(|note| note.text.chars().count() > PIN);
    let exit = put(note, &args.span, stage)?;
    if long && exit == Exit::Found {
        stage.say(format_args!("it is long: sessions are told its first {PIN} characters"))?;
    }
    Ok(exit)
}

pub fn note(args: &NoteArgs, stage: &mut Stage) -> io::Result<Exit> {
    put(written(args.kind, &args.text, stage.env), &args.span, stage)
}

fn put(note: Option<Note>, Span { span }: &Span, stage: &mut Stage) -> io::Result<Exit> {
    let Some(note) = note else {
        stage.say("there is no text to write down")?;
        return Ok(Exit::Trouble);
    };
    let note = Note { until: span.map(|span| until(span, stage.env)), ..note };
    let project = Project::of(&stage.env.cwd);
    let Some(note) = changed(&project, stage, |notes| Ok(notes.put(note)))? else { return Ok(Exit::Trouble) };
    show(&note.to_string(), stage)?;
    Ok(Exit::Found)
}

pub fn pins(args: &PinsArgs, stage: &mut Stage) -> io::Result<Exit> {
    let Some(notes) = opened(stage)? else { return Ok(Exit::Trouble) };
    let mut pins = notes.pins(stage.env.now());
    let over: Vec<&Note> = notes.all(Kind::Pin).filter(|pin| pin.is_expired(stage.env.now())).collect();
    pins.extend(over.iter().filter(|_| args.all));
    if pins.is_empty() {
        return say_none("pins", "pin TEXT", over.len(), stage);
    }
    pins.iter().try_for_each(|pin| show_note(pin, args.json, stage))?;
    Ok(Exit::Found)
}

pub fn notes(args: &NotesArgs, stage: &mut Stage) -> io::Result<Exit> {
    if args.path {
        // As it is, for a program.
        let path = Notes::path(stage.env, Project::of(&stage.env.cwd).dir());
        // An editor makes no directories. If we cannot, either, it will say so.
        let _ = make_parent(&path);
        writeln!(stage.out, "{}", path.display())?;
        return Ok(Exit::Found);
    }
    let PinsArgs { all, json } = args.shown;
    let Some(notes) = opened(stage)? else { return Ok(Exit::Trouble) };
    let of_project = Kind::OF_PROJECT[1..].iter().flat_map(|kind| notes.all(*kind));
    let (over, mut held): (Vec<&Note>, Vec<&Note>) = of_project.partition(|note| note.is_expired(stage.env.now()));
    held.extend(over.iter().filter(|_| all));
    let done = notes.done();
    if held.is_empty() && done.is_empty() {
        return say_none("notes", "note decision|blocker|next|fact TEXT", over.len(), stage);
    }
    held.iter().try_for_each(|note| show_note(note, json, stage))?;
    // Only who has finished a session waits for the list of all sessions.
    if done.is_empty() { Ok(Exit::Found) } else { show_done(&done, json, stage) }
}

fn say_none(what: &str, how: &str, over: usize, stage: &mut Stage) -> io::Result<Exit> {
    let hint = match over {
        0 => format!("`session-context {how}` adds one"),
        count => format!("{count} expired, which --all shows"),
    };
    stage.say(format_args!("no {what} in this project; {hint}"))?;
    Ok(Exit::Nothing)
}

pub fn unpin(args: &UnpinArgs, stage: &mut Stage) -> io::Result<Exit> {
    let project = Project::of(&stage.env.cwd);
    let remove = |notes: &mut Notes| {
        notes.remove(&args.ids).map_err(|why| format!("{why} in this project; `session-context pins --all` and `session-context notes --all` show what there is"))
    };
    let Some(removed) = changed(&project, stage, remove)? else { return Ok(Exit::Trouble) };
    removed.iter().try_for_each(|note| show(&format!("removed: {note}"), stage))?;
    Ok(Exit::Found)
}
