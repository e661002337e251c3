//! The user's notes about a project: `pin`, `pins`, `unpin`, `note`, `notes`.
//!
//! Each is a line in the project's notes file. Expired ones stay there and show with `--all`; only `unpin` deletes.
//! How the file is written safely is up to `state/notes`.

use std::borrow::Cow;

use clap::Args;

use super::{Exit, Problem, Stage};
use session_core::ask::noted::{Missing, Noted, NotedSessions};
use session_core::env::{Env, iso};
use session_core::file::Unreadable;
use session_core::session::Project;
use session_core::session::index::Listed;
use session_core::show::gate::Gate;
use session_core::show::json::object;
use session_core::show::start::PIN;
use session_core::show::terminal::{width, wrap};
use session_core::stage::one_of;
use session_core::state::make_parent;
use session_core::state::notes::{Kind, Note, Notes, Owner, Priority, Until};
use session_format::time::{DAY, SECOND, Time};

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
    #[arg(long, value_name = "LEVEL", default_value = "normal", value_parser = one_of(&Priority::ALL, Priority::name), hide_possible_values = true)]
    priority: Priority,
}

#[derive(Debug, Args)]
#[command(after_help = help("  session-context note decision PostgreSQL instead of SQLite
  session-context note blocker --for 2d waiting for the licence"))]
pub struct NoteArgs {
    /// What it is
    #[arg(value_name = "decision|blocker|next|fact", value_parser = one_of(&Kind::OF_PROJECT[1..], Kind::name), hide_possible_values = true)]
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
    /// Print the path of this project's notes file, even if there is none yet
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
    text.parse().map_err(
        |_| "an id is the number that `session-context pins` or `session-context notes` shows",
    )
}

/// At most a thousand years, so that its end is still a date.
fn span(text: &str) -> Result<i64, &'static str> {
    let span = humantime::parse_duration(text)
        .ok()
        .and_then(|span| i64::try_from(span.as_millis()).ok());
    span.filter(|span| (1..=1000 * 365 * DAY).contains(span))
        .ok_or("not a time span like 30m, 2h or 7d")
}

/// The end of a span that begins now, rounded up to the second.
fn until(span: i64, env: &Env) -> Until {
    let end = Time((env.now().0 + span + SECOND - 1).div_euclid(SECOND) * SECOND);
    Until {
        written: iso(end).replace(".000Z", "Z"),
        end,
    }
}

pub fn pin(args: &PinArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let note = new_note(Kind::Pin, &args.text, stage.env).map(|note| Note {
        priority: args.priority,
        ..note
    });
    let note = put(note, args.span.span, stage)?;
    show(&note.to_string(), stage)?;
    if note.text.chars().count() > PIN {
        stage.say(format_args!(
            "it is long: sessions are told its first {PIN} characters"
        ));
    }
    Ok(Exit::Found)
}

/// Pins a text for good, and returns the pin.
pub fn add_pin(text: String, stage: &mut Stage) -> Result<Note, Problem> {
    put(new_note(Kind::Pin, &[text], stage.env), None, stage)
}

pub fn note(args: &NoteArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let note = put(
        new_note(args.kind, &args.text, stage.env),
        args.span.span,
        stage,
    )?;
    show(&note.to_string(), stage)
}

fn put(note: Option<Note>, span: Option<i64>, stage: &mut Stage) -> Result<Note, Problem> {
    let Some(note) = note else {
        return Problem::trouble("there is no text to write down");
    };
    let note = Note {
        until: span.map(|span| until(span, stage.env)),
        ..note
    };
    change_notes(here(stage)?.dir(), stage, |notes| Ok(notes.put(note)))
}

pub fn pins(args: &PinsArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let notes = notes_here(stage)?;
    let mut pins = notes.pins(stage.env.now());
    let is_expired = |pin: &&Note| pin.is_expired(stage.env.now());
    let expired: Vec<&Note> = notes.all(Kind::Pin).filter(is_expired).collect();
    if args.all {
        pins.extend(&expired);
    }
    if pins.is_empty() {
        return none("pins", "pin TEXT", expired.len());
    }
    show_notes(&pins, args.json, stage)
}

pub fn notes(args: &NotesArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    if args.path {
        // As it is, for a program.
        let path = Notes::path(stage.env, here(stage)?.dir());
        // An editor makes no directories.
        make_parent(&path).map_err(|error| Unreadable::new(&path, error))?;
        return stage.print_lines([path.display()]);
    }
    let PinsArgs { all, json } = args.shown;
    let notes = notes_here(stage)?;
    let of_project = Kind::OF_PROJECT[1..]
        .iter()
        .flat_map(|kind| notes.all(*kind));
    let (expired, mut shown): (Vec<&Note>, Vec<&Note>) =
        of_project.partition(|note| note.is_expired(stage.env.now()));
    if all {
        shown.extend(&expired);
    }
    let done = notes.done();
    if shown.is_empty() && done.is_empty() {
        return none(
            "notes",
            "note decision|blocker|next|fact TEXT",
            expired.len(),
        );
    }
    show_notes(&shown, json, stage)?;
    // Listing all sessions takes time, so it is left out if none is done.
    if done.is_empty() {
        Ok(Exit::Found)
    } else {
        show_done(&done, json, stage)
    }
}

fn none(what: &str, usage: &str, expired: usize) -> Result<Exit, Problem> {
    let hint = match expired {
        0 => format!("`session-context {usage}` adds one"),
        count => format!("{count} expired: --all shows them"),
    };
    Problem::nothing(format!("no {what} in this project; {hint}"))
}

pub fn unpin(args: &UnpinArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let all = "`session-context pins --all` and `session-context notes --all` show what there is";
    let remove = |notes: &mut Notes| {
        notes
            .remove(&args.ids)
            .map_err(|why| format!("{why} in this project; {all}"))
    };
    let removed = change_notes(here(stage)?.dir(), stage, remove)?;
    show_removed(&removed, stage)
}

/// The project that notes are about.
fn here(stage: &Stage) -> Result<Project, Problem> {
    stage
        .env
        .check_cwd()
        .map_err(|why| Problem::Trouble(why.into()))?;
    Ok(Project::of(stage.env, &stage.env.cwd))
}

/// A note of today, on one line; none if nothing in its words is visible.
pub(crate) fn new_note(kind: Kind, words: &[String], env: &Env) -> Option<Note> {
    // Stored as it is; secrets are hidden when it is shown.
    let text = Gate::new(false).line(words.join(" ")).into_owned();
    let created = Some(today(env));
    (width(&text) > 0).then_some(Note {
        id: 0,
        kind,
        text,
        priority: Priority::Normal,
        created,
        until: None,
    })
}

pub fn today(env: &Env) -> String {
    env.zone().local(env.now()).0
}

/// Changes a notes file, and reports the lines that were skipped.
pub(crate) fn change_notes<'p, T>(
    owner: impl Into<Owner<'p>>,
    stage: &mut Stage,
    change: impl FnOnce(&mut Notes) -> Result<T, String>,
) -> Result<T, Problem> {
    let mut skipped = Vec::new();
    let changed = Notes::change(stage.env, owner, &mut skipped, change);
    stage.say_all(&skipped);
    changed.map_err(Problem::Trouble)
}

/// Reads a notes file, and reports the lines that were skipped.
pub(crate) fn open_notes<'p>(
    owner: impl Into<Owner<'p>>,
    stage: &mut Stage,
) -> Result<Notes, Problem> {
    let mut skipped = Vec::new();
    let notes = Notes::open(stage.env, owner, &mut skipped);
    stage.say_all(&skipped);
    notes.map_err(Problem::Trouble)
}

/// The notes of this project.
pub(crate) fn notes_here(stage: &mut Stage) -> Result<Notes, Problem> {
    open_notes(here(stage)?.dir(), stage)
}

/// Shows a whole line: what does not fit the terminal continues below, indented.
pub fn show(line: &str, stage: &mut Stage) -> Result<Exit, Problem> {
    const INDENT: &str = "    ";
    const LEAST: usize = 16;
    let line = stage.gate.line(line);
    let Some(room) = stage.style.width.filter(|room| *room < width(&line)) else {
        return stage.print_lines([line]);
    };
    let lines = wrap(&line, room.saturating_sub(INDENT.len()).max(LEAST));
    stage.print_lines([lines.join(&format!("\n{INDENT}"))])
}

pub(crate) fn show_notes(notes: &[&Note], json: bool, stage: &mut Stage) -> Result<Exit, Problem> {
    for note in notes {
        let expired = note.is_expired(stage.env.now());
        let mark = if expired { "expired: " } else { "" };
        if json {
            print_json(note, expired, stage)?
        } else {
            show(&format!("{mark}{note}"), stage)?
        };
    }
    Ok(Exit::Found)
}

pub(crate) fn show_removed(notes: &[Note], stage: &mut Stage) -> Result<Exit, Problem> {
    for note in notes {
        show(&format!("removed: {note}"), stage)?;
    }
    Ok(Exit::Found)
}

/// A note for a program; always all keys.
fn print_json(note: &Note, expired: bool, stage: &mut Stage) -> Result<Exit, Problem> {
    let until = note.until.as_ref().map(|until| match iso(until.end) {
        beyond if beyond.is_empty() => until.written.clone(),
        end => end,
    });
    let (kind, priority) = (note.kind.name(), note.priority.name());
    stage.print_json(&object! { id: note.id, kind, text: note.text, priority, until, created: note.created, expired })
}

/// All sessions, for some ids of a notes file. If one of them is not found, it may be in an unreadable file, so these are
/// named.
pub(crate) fn noted_sessions<'f>(ids: &[&str], stage: &mut Stage<'_, 'f>) -> NotedSessions<'f> {
    let sessions = NotedSessions::read(stage.ask());
    if sessions.noted(ids).iter().any(|noted| noted.found.is_err()) {
        stage.say_unreadable(&sessions.unreadable);
    }
    sessions
}

/// What is said in the place of a session that is not there.
pub fn missing(why: Missing) -> &'static str {
    match why {
        Missing::Gone => "(gone)",
        Missing::Unreadable => "(cannot be read)",
        Missing::Silent => "(nothing was said in it)",
    }
}

/// Shows the sessions that are done, a line each.
fn show_done(ids: &[&str], json: bool, stage: &mut Stage) -> Result<Exit, Problem> {
    for Noted { id, found } in noted_sessions(ids, stage).noted(ids) {
        let session = found.ok().map(|listed| &listed.session);
        let id = session.map_or(id, |session| &session.id);
        let title = found.map_or_else(
            |why| missing(why).into(),
            |listed| title(listed, stage.gate),
        );
        if json {
            let (name, agent) = (
                session.map(|one| one.name.as_deref()),
                session.map(|one| one.format.label()),
            );
            let title = session.map(|_| title).filter(|title| !title.is_empty());
            stage.print_json(&object! { kind: "done", session: id, name, agent, title })?;
            continue;
        }
        let line = match found {
            Ok(listed) => format!("done {}: {title}", stage.gate.line(listed.handle())),
            Err(why) => format!("done {} {}", stage.gate.line(id), missing(why)),
        };
        stage.print_lines([stage.style.fit(&line)])?;
    }
    Ok(Exit::Found)
}

pub fn title<'m>(listed: &'m Listed, gate: Gate) -> Cow<'m, str> {
    gate.line(listed.tally.title().unwrap_or_default())
}
