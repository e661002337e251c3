//! What only the user knows, written down and shown: `pin`, `note`, `done`, `tag`, `profile` and what belongs to them.

use std::io;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use serde::Serialize;

use super::explain::{Subject, subject};
use super::{Exit, Stage};
use crate::catalog;
use crate::env::{Env, iso};
use crate::hook::Observer;
use crate::locate::Project;
use crate::render::terminal::flat;
use crate::state::notes::{Kind, Note, Notes, Priority, Profile, Until};
use crate::time::{DAY, SECOND, Time};

const WHERE: &str = "\
The pins and notes of a project are lines in one text file, which all its worktrees share. You may edit it:
  $EDITOR \"$(session-context notes --path)\"
  pin 1 (high, until 2026-11-23): the API is frozen    the id and the parentheses may be left out";

#[derive(Debug, Args)]
#[command(after_help = WHERE)]
pub struct PinArgs {
    /// What to tell; several words need no quotes
    #[arg(required = true)]
    text: Vec<String>,
    #[command(flatten)]
    span: Span,
    /// Which pins come first
    #[arg(long, default_value = "normal", value_parser = priority())]
    priority: Priority,
}

#[derive(Debug, Args)]
#[command(after_help = WHERE)]
pub struct NoteArgs {
    /// What it is
    #[arg(value_parser = kind(&Kind::OF_PROJECT[1..]))]
    kind: Kind,
    /// What to write down; several words need no quotes
    #[arg(required = true)]
    text: Vec<String>,
    #[command(flatten)]
    span: Span,
}

#[derive(Debug, Args)]
struct Span {
    /// How long it holds: 30m, 2h, 7d [default: for ever]
    #[arg(long = "for", value_name = "SPAN", value_parser = span)]
    span: Option<i64>,
}

#[derive(Debug, Args)]
pub struct PinsArgs {
    /// Also those that are over
    #[arg(long)]
    all: bool,
    /// One JSON object per line
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
pub struct UnpinArgs {
    /// What `pins` and `notes` show after the first word
    #[arg(required = true, value_name = "ID")]
    ids: Vec<u32>,
}

#[derive(Debug, Args)]
pub struct DoneArgs {
    /// Which session: name, title, id, path or `last` [default: the one this runs in]
    #[arg(value_name = "NAME")]
    session: Option<String>,
    /// It is not complete after all
    #[arg(long)]
    undo: bool,
}

#[derive(Debug, Args)]
pub struct TagArgs {
    tag: String,
    /// Which session: name, title, id, path or `last` [default: the one this runs in]
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// Take the tag off the session
    #[arg(long)]
    remove: bool,
}

#[derive(Debug, Args)]
pub struct TagsArgs {
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Nothing is written here but what you set. It is kept in session-monitor/profile.md (see XDG_DATA_HOME), one line each:
  role 1: maintainer of the shop
  preference 2: language: English      setting another `language:` replaces it
  rule 3: simple solutions first"
)]
pub struct ProfileArgs {
    #[command(subcommand)]
    action: Option<ProfileAction>,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum ProfileAction {
    /// Set your role, or a preference
    Set {
        #[arg(value_parser = kind(&Kind::OF_USER[..2]))]
        what: Kind,
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// Add a rule
    Add {
        #[arg(value_parser = kind(&Kind::OF_USER[2..]))]
        what: Kind,
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// Remove a rule or a preference by its id, or your role
    Remove {
        #[arg(value_parser = kind(Kind::OF_USER))]
        what: Kind,
        /// What `profile` shows after the first word
        #[arg(required_if_eq_any = [("what", "preference"), ("what", "rule")])]
        id: Option<u32>,
    },
}

fn kind(kinds: &'static [Kind]) -> impl TypedValueParser<Value = Kind> {
    let names = PossibleValuesParser::new(kinds.iter().map(|kind| kind.name()));
    names.try_map(|name| Kind::named(&name).ok_or("no such kind"))
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

pub fn pin(args: &PinArgs, stage: &mut Stage) -> io::Result<Exit> {
    let note = Note { priority: args.priority, ..new(Kind::Pin, &args.text, args.span.span, stage.env) };
    put(note, stage)
}

pub fn note(args: &NoteArgs, stage: &mut Stage) -> io::Result<Exit> {
    put(new(args.kind, &args.text, args.span.span, stage.env), stage)
}

/// A note of today, on one line.
fn new(kind: Kind, text: &[String], span: Option<i64>, env: &Env) -> Note {
    let until = span.map(|span| {
        // To the second, and never too early.
        let end = Time((env.now().0 + span + SECOND - 1).div_euclid(SECOND) * SECOND);
        Until { written: iso(end).replace(".000Z", "Z"), end }
    });
    let text = flat(&text.join(" ")).into_owned();
    Note { id: 0, kind, text, priority: Priority::Normal, created: Some(today(env)), until }
}

fn today(env: &Env) -> String {
    env.zone().local(env.now()).0
}

fn put(note: Note, stage: &mut Stage) -> io::Result<Exit> {
    if note.text.is_empty() {
        stage.say("there is no text")?;
        return Ok(Exit::Trouble);
    }
    let project = Project::of(&stage.env.cwd);
    let Some(note) = changed(&project, stage, |notes| Ok(notes.put(note)))? else { return Ok(Exit::Trouble) };
    writeln!(stage.out, "{note}")?;
    Ok(Exit::Found)
}

/// Changes the notes of a project; none if they could not be changed, which has been said.
fn changed<T>(
    project: &Project,
    stage: &mut Stage,
    change: impl FnOnce(&mut Notes) -> Result<T, String>,
) -> io::Result<Option<T>> {
    let mut wrong = Vec::new();
    let result = Notes::change(stage.env, project.dir(), &mut wrong, change);
    said(result, wrong, stage)
}

fn said<T>(result: Result<T, String>, wrong: Vec<String>, stage: &mut Stage) -> io::Result<Option<T>> {
    wrong.iter().try_for_each(|wrong| stage.say(wrong))?;
    match result {
        Ok(done) => Ok(Some(done)),
        Err(error) => stage.say(error).map(|()| None),
    }
}

/// The notes of this project; none if they cannot be read, which has been said.
fn opened(stage: &mut Stage) -> io::Result<Option<Notes>> {
    let mut wrong = Vec::new();
    let result = Notes::open(stage.env, Project::of(&stage.env.cwd).dir(), &mut wrong);
    said(result, wrong, stage)
}

pub fn pins(args: &PinsArgs, stage: &mut Stage) -> io::Result<Exit> {
    let Some(notes) = opened(stage)? else { return Ok(Exit::Trouble) };
    let pins = notes.pins(stage.env.now());
    let over: Vec<&Note> = notes.all(Kind::Pin).filter(|pin| pin.is_expired(stage.env.now())).collect();
    show("pins", "pin TEXT", pins, over, args, stage)
}

pub fn notes(args: &NotesArgs, stage: &mut Stage) -> io::Result<Exit> {
    if args.path {
        // As it is, for a program.
        let path = Notes::path(stage.env, Project::of(&stage.env.cwd).dir());
        writeln!(stage.out, "{}", path.display())?;
        return Ok(Exit::Found);
    }
    let Some(notes) = opened(stage)? else { return Ok(Exit::Trouble) };
    let all = Kind::OF_PROJECT[1..].iter().flat_map(|kind| notes.all(*kind));
    let (over, held) = all.partition(|note| note.is_expired(stage.env.now()));
    show("notes", "note decision|blocker|next|fact TEXT", held, over, &args.shown, stage)
}

fn show<'n>(
    what: &str,
    how: &str,
    mut held: Vec<&'n Note>,
    over: Vec<&'n Note>,
    args: &PinsArgs,
    stage: &mut Stage,
) -> io::Result<Exit> {
    if args.all {
        held.extend(&over);
    }
    if held.is_empty() {
        let hint = match over.len() {
            0 => format!("`session-context {how}` adds one"),
            count => format!("{count} expired, which --all shows"),
        };
        stage.say(format_args!("no {what} in this project; {hint}"))?;
        return Ok(Exit::Nothing);
    }
    held.iter().try_for_each(|note| line(note, args.json, stage))?;
    Ok(Exit::Found)
}

fn line(note: &Note, json: bool, stage: &mut Stage) -> io::Result<()> {
    let expired = note.is_expired(stage.env.now());
    if json {
        return writeln!(stage.out, "{}", object(&Shown::of(note, expired)));
    }
    let over = if expired { "expired: " } else { "" };
    writeln!(stage.out, "{over}{}", flat(&note.to_string()))
}

fn object(shown: &impl Serialize) -> String {
    serde_json::to_string(shown).unwrap_or_default()
}

/// A note for a program; always all keys.
#[derive(Serialize)]
struct Shown<'n> {
    id: u32,
    kind: &'static str,
    text: &'n str,
    priority: &'static str,
    until: Option<String>,
    created: Option<&'n str>,
    expired: bool,
}

impl<'n> Shown<'n> {
    fn of(note: &'n Note, expired: bool) -> Shown<'n> {
        let until = note.until.as_ref().map(|until| match iso(until.end) {
            beyond if beyond.is_empty() => until.written.clone(),
            end => end,
        });
        let (kind, priority) = (note.kind.name(), note.priority.name());
        Shown { id: note.id, kind, text: &note.text, priority, until, created: note.created.as_deref(), expired }
    }
}

pub fn unpin(args: &UnpinArgs, stage: &mut Stage) -> io::Result<Exit> {
    let project = Project::of(&stage.env.cwd);
    let remove = |notes: &mut Notes| {
        notes.remove(&args.ids).map_err(|why| format!("{why} in this project; `session-context pins --all` and `session-context notes --all` show what there is"))
    };
    let Some(removed) = changed(&project, stage, remove)? else { return Ok(Exit::Trouble) };
    removed.iter().try_for_each(|note| writeln!(stage.out, "removed: {}", flat(&note.to_string())))?;
    Ok(Exit::Found)
}

pub fn done(args: &DoneArgs, stage: &mut Stage) -> io::Result<Exit> {
    let Some((observer, project)) = session(args.session.as_deref(), stage, "done NAME")? else {
        return Ok(Exit::Trouble);
    };
    let today = today(stage.env);
    let set = |notes: &mut Notes| {
        notes.set_done(&observer.id, !args.undo, &today);
        Ok(())
    };
    let Some(()) = changed(&project, stage, set)? else { return Ok(Exit::Trouble) };
    let now =
        if args.undo { "is not done" } else { "is done: no session is told any more that the work stopped there" };
    writeln!(stage.out, "{} {now}.", flat(observer.key()))?;
    Ok(Exit::Found)
}

/// The session that is meant, and the project whose page tells of it: this one, unless it belongs only to another.
fn session<'f>(
    name: Option<&str>,
    stage: &mut Stage<'_, 'f>,
    how: &str,
) -> io::Result<Option<(Observer<'f>, Project)>> {
    let observer = match subject(name, stage)? {
        Some(Subject::Session(observer)) => observer,
        Some(Subject::New(_)) => {
            stage.say(format_args!("which session? Run this inside one, or name it: session-context {how}"))?;
            return Ok(None);
        }
        None => return Ok(None),
    };
    if observer.id.contains(|char: char| char == ',' || char.is_control()) {
        stage.say(format_args!("'{}': the id of a session must not have a comma in it", observer.id))?;
        return Ok(None);
    }
    let mut project = Project::of(&stage.env.cwd);
    if name.is_some() {
        let all = catalog::list(stage.env, stage.formats, &mut Vec::new());
        let listed = all.iter().find(|listed| Some(&listed.session.path) == observer.transcript.as_ref());
        if let Some(cwd) = listed.filter(|listed| !listed.here).and_then(|listed| listed.tally.cwd()) {
            project = Project::of(std::path::Path::new(cwd));
        }
    }
    Ok(Some((observer, project)))
}

pub fn tag(args: &TagArgs, stage: &mut Stage) -> io::Result<Exit> {
    let tag = flat(&args.tag).into_owned();
    if tag.is_empty() || tag.contains(':') {
        stage.say(format_args!("'{}': not a tag, which is a word or a few without a colon", args.tag))?;
        return Ok(Exit::Trouble);
    }
    let found = session(args.session.as_deref(), stage, "tag TAG --session NAME")?;
    let Some((observer, project)) = found else { return Ok(Exit::Trouble) };
    let set = |notes: &mut Notes| {
        if args.remove {
            notes.remove_tag(&tag, &observer.id)
        } else {
            notes.add_tag(&tag, &observer.id)
        }
        Ok(notes.tags(&observer.id).join(", "))
    };
    let Some(tags) = changed(&project, stage, set)? else { return Ok(Exit::Trouble) };
    let tags = if tags.is_empty() { "no tags" } else { &*tags };
    writeln!(stage.out, "{}: {}", flat(observer.key()), flat(tags))?;
    Ok(Exit::Found)
}

pub fn tags(args: &TagsArgs, stage: &mut Stage) -> io::Result<Exit> {
    #[derive(Serialize)]
    struct Tagged<'n> {
        tag: &'n str,
        sessions: Vec<&'n str>,
    }
    let Some(notes) = opened(stage)? else { return Ok(Exit::Trouble) };
    let tags = notes.all_tags();
    if tags.is_empty() {
        stage.say("no tags in this project; `session-context tag TAG` adds one")?;
        return Ok(Exit::Nothing);
    }
    for (tag, sessions) in tags {
        if args.json {
            writeln!(stage.out, "{}", object(&Tagged { tag, sessions }))?;
        } else {
            writeln!(stage.out, "{}: {}", flat(tag), flat(&sessions.join(", ")))?;
        }
    }
    Ok(Exit::Found)
}

pub fn profile(args: &ProfileArgs, stage: &mut Stage) -> io::Result<Exit> {
    let env = stage.env;
    let mut wrong = Vec::new();
    match &args.action {
        None => view(args.json, stage),
        Some(ProfileAction::Set { what, text } | ProfileAction::Add { what, text }) => {
            let note = new(*what, text, None, env);
            if note.text.is_empty() {
                stage.say("there is no text")?;
                return Ok(Exit::Trouble);
            }
            let result = Profile::change(env, &mut wrong, |profile| Ok(profile.put(note)));
            let Some(note) = said(result, wrong, stage)? else { return Ok(Exit::Trouble) };
            writeln!(stage.out, "{note}")?;
            Ok(Exit::Found)
        }
        Some(ProfileAction::Remove { what, id }) => {
            let remove = |profile: &mut Profile| match profile.remove(*what, *id) {
                Ok(removed) if !removed.is_empty() => Ok(removed),
                _ => {
                    let id = id.map(|id| format!(" with the id {id}")).unwrap_or_default();
                    Err(format!("there is no {}{id}; `session-context profile` shows what there is", what.name()))
                }
            };
            let result = Profile::change(env, &mut wrong, remove);
            let Some(removed) = said(result, wrong, stage)? else { return Ok(Exit::Trouble) };
            removed.iter().try_for_each(|note| writeln!(stage.out, "removed: {}", flat(&note.to_string())))?;
            Ok(Exit::Found)
        }
    }
}

fn view(json: bool, stage: &mut Stage) -> io::Result<Exit> {
    let mut wrong = Vec::new();
    let result = Profile::open(stage.env, &mut wrong);
    let Some(profile) = said(result, wrong, stage)? else { return Ok(Exit::Trouble) };
    let now = stage.env.now();
    let all: Vec<&Note> =
        profile.role(now).into_iter().chain(profile.preferences(now)).chain(profile.rules(now)).collect();
    if all.is_empty() {
        stage.say("nothing is set; `session-context profile set role TEXT` begins it")?;
        return Ok(Exit::Nothing);
    }
    all.iter().try_for_each(|note| line(note, json, stage))?;
    Ok(Exit::Found)
}
