//! What the user says about a session: `done`, `tag`, `tags`, `name`.
//!
//! All are lines in the notes file of the session's project, with the session's id. An id may be shortened, and its
//! session may be gone: every id in the file is shown, whatever became of it.

use clap::Args;

use super::notes::{change_notes, missing, noted_sessions, notes_here, show, title, today};
use super::target_session::{TargetSession, last_here, last_open};
use super::{Exit, Problem, Stage};
use crate::hook::Observer;
use session_core::ask::noted::Noted;
use session_core::session::Project;
use session_core::session::last::Last;
use session_core::show::gate::Gate;
use session_core::show::json::object;
use session_core::show::terminal::{Tone, aligned, cut, width};
use session_core::state::notes::Notes;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  session-context done              inside a session: it is finished
  session-context done last         the last session is finished
  session-context done last --undo  take the last `done` back

`session-context notes` lists the finished sessions at its end.")]
pub struct DoneArgs {
    /// Name, title, id or file of a session, or `last` [default: the one this
    /// runs in]
    #[arg(value_name = "NAME")]
    pub session: Option<String>,
    /// Take it back
    #[arg(long)]
    pub undo: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  session-context tag release                inside a session
  session-context tag \"needs review\" --session last
  session-context tag release --session 4f2a9c11 --remove")]
pub struct TagArgs {
    /// A word, or several in quotes, without a colon
    pub tag: String,
    /// Name, title, id or file of a session, or `last` [default: this one]
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    /// Take the tag off the session
    #[arg(long)]
    pub remove: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The title is shown wherever a title is, before the agent's own, and finds the
session. It is a line in the notes file of the project.

Examples:
  session-context name 4f2a9c11 checkout tax
  session-context name last \"checkout tax\"
  session-context name \"checkout tax\" --clear")]
pub struct NameArgs {
    /// Name, title, id or file of a session, or `last`
    #[arg(value_name = "NAME")]
    pub session: String,
    /// What to call it
    #[arg(required_unless_present = "clear", conflicts_with = "clear")]
    pub title: Vec<String>,
    /// Take the title back that you gave it
    #[arg(long)]
    pub clear: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Each tag is followed by its sessions, newest first, with agent, age and title:
  release
    4f2a9c11  claude  3m  make the checkout total include tax
A session whose transcript was deleted is shown as (gone).")]
pub struct TagsArgs {
    /// Print one JSON object per line, with whole ids
    #[arg(long)]
    json: bool,
}

/// The session that `done`, `tag` or `name` is about, and the project whose notes file it is in.
struct Subject {
    /// What it is called here.
    key: String,
    id: String,
    project: Project,
}

pub fn done(args: &DoneArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let mut name = args.session.clone();
    if args.undo && name.as_deref() == Some("last") {
        name = notes_here(stage)?.done().last().map(ToString::to_string);
        if name.is_none() {
            return Problem::nothing("no session of this project is done");
        }
    }
    if !args.undo && name.as_deref() == Some("last") {
        let Last {
            listed, newer_done, ..
        } = last_here(stage)?;
        if let Some(done) = newer_done {
            let next = format!(
                "to finish the one before it: session-context done {}",
                listed.handle()
            );
            return show(&format!("{done} was done already; {next}"), stage);
        }
    }
    let said = set_done(name.as_deref(), !args.undo, None, stage)?;
    show(&said, stage)
}

/// Marks a session as done or takes that back, and says so. `called` is what it is called there, if not as usual.
pub fn set_done(
    name: Option<&str>,
    done: bool,
    called: Option<&str>,
    stage: &mut Stage,
) -> Result<String, Problem> {
    let Subject { key, id, project } = subject(name, !done, "done NAME", stage)?;
    let today = today(stage.env);
    let changed = change_notes(project.dir(), stage, |notes| {
        Ok(notes.set_done(&id, done, &today))
    })?;
    let now = match (changed, done) {
        (true, true) => "is done: new sessions are no longer told where it stopped",
        (false, true) => "was done already",
        (true, false) => "is no longer done",
        (false, false) => "was not done",
    };
    Ok(format!("{} {now}.", called.unwrap_or(&key)))
}

/// Finds the session. With `takes_back`, one that is gone but still in the notes file will do.
fn subject(
    name: Option<&str>,
    takes_back: bool,
    usage: &str,
    stage: &mut Stage,
) -> Result<Subject, Problem> {
    let project = Project::of(stage.env, &stage.env.cwd);
    if let Some(id) =
        name.filter(|id| takes_back && Notes::read(stage.env, project.dir()).0.marks(id))
    {
        return Ok(Subject {
            key: id.into(),
            id: id.into(),
            project,
        });
    }
    let (observer, elsewhere) = if name == Some("last") {
        // The session that `session-reader resume` shows.
        (
            Observer::of(last_open(stage, None)?.session, stage.env, stage.settings),
            None,
        )
    } else {
        let target = TargetSession::find(name, stage)?;
        target.must_exist(usage)?;
        (target.observer, target.elsewhere)
    };
    stage.clear_read_errors();
    if observer
        .id
        .contains(|char: char| char == ',' || char.is_whitespace() || char.is_control())
    {
        let why = "the id of a session must not have a comma or a blank in it";
        return Problem::trouble(format!("'{}': {why}", observer.id));
    }
    let project = elsewhere.map_or(project, |env| Project::of(&env, &env.cwd));
    Ok(Subject {
        key: observer.key().into(),
        id: observer.id,
        project,
    })
}

pub fn tag(args: &TagArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let said = set_tag(args, None, stage)?;
    show(&said, stage)
}

/// Gives a session a tag or takes it off, and says which ones it has. `called` is what it is called there, if not as usual.
pub fn set_tag(args: &TagArgs, called: Option<&str>, stage: &mut Stage) -> Result<String, Problem> {
    // Stored as it is; secrets are hidden when it is shown.
    let tag = Gate::new(false).line(&args.tag).into_owned();
    if width(&tag) == 0 || tag.contains(':') {
        let tags = "a tag is a word, or several in quotes, without a colon";
        return Problem::trouble(format!("'{tag}' is not a tag: {tags}"));
    }
    let Subject { key, id, project } = subject(
        args.session.as_deref(),
        args.remove,
        "tag TAG --session NAME",
        stage,
    )?;
    let (changed, tags) = change_notes(project.dir(), stage, |notes| {
        let changed = if args.remove {
            notes.remove_tag(&tag, &id)
        } else {
            notes.add_tag(&tag, &id)
        };
        Ok((changed, notes.tags(&id).join(", ")))
    })?;
    let key = called.unwrap_or(&key);
    match (changed, args.remove) {
        (true, _) if tags.is_empty() => Ok(format!("{key}: no tags")),
        (true, _) => Ok(format!("{key}: {tags}")),
        (false, false) => Ok(format!("{key} has the tag '{tag}' already.")),
        (false, true) => {
            let has = if tags.is_empty() {
                "nor any other".into()
            } else {
                format!("only: {tags}")
            };
            Problem::nothing(stage.gate.line(format!("{key} has no tag '{tag}', {has}")))
        }
    }
}

pub fn name(args: &NameArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let title = (!args.clear).then(|| args.title.join(" "));
    let said = set_name(&args.session, title.as_deref(), None, stage)?;
    show(&said, stage)
}

/// Gives a session a title or takes it back, and says so. `called` is what it is called there, if not as usual.
pub fn set_name(
    session: &str,
    title: Option<&str>,
    called: Option<&str>,
    stage: &mut Stage,
) -> Result<String, Problem> {
    // Stored as it is; secrets are hidden when it is shown.
    let title = title.map(|title| Gate::new(false).line(title).trim().to_owned());
    if title.as_ref().is_some_and(|title| width(title) == 0) {
        return Problem::trouble("a name has to have something in it; --clear takes one back");
    }
    let Subject { key, id, project } =
        subject(Some(session), title.is_none(), "name NAME TITLE", stage)?;
    if id.contains(':') {
        return Problem::trouble(format!(
            "'{id}': the id of a session must not have a colon in it"
        ));
    }
    let before = change_notes(project.dir(), stage, |notes| {
        Ok(notes.set_name(&id, title.as_deref()))
    })?;
    let key = called.unwrap_or(&key);
    Ok(match (title, before) {
        (Some(title), Some(before)) if title == before => {
            format!("{key} is called '{title}' already.")
        }
        (Some(title), _) => format!("{key} is called '{title}' now."),
        (None, Some(before)) => format!("{key} is no longer called '{before}'."),
        (None, None) => return Problem::nothing(format!("{key} has no name of yours")),
    })
}

pub fn tags(args: &TagsArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let notes = notes_here(stage)?;
    let tags = notes.all_tags();
    if tags.is_empty() {
        return Problem::nothing("no tags in this project; `session-context tag TAG` adds one");
    }
    if args.json {
        for (tag, sessions) in tags {
            stage.print_json(&object! { tag, sessions })?;
        }
        return Ok(Exit::Found);
    }
    let ids: Vec<&str> = tags.iter().flat_map(|(_, ids)| ids).copied().collect();
    let sessions = noted_sessions(&ids, stage);
    let tagged: Vec<_> = tags.iter().map(|(_, ids)| sessions.noted(ids)).collect();
    for ((tag, _), rows) in tags.iter().zip(tables(&tagged, stage)) {
        show(tag, stage)?;
        stage.print_lines(rows)?;
    }
    Ok(Exit::Found)
}

/// A table for each group, all with the same columns: name, agent, age and title.
fn tables(groups: &[Vec<Noted>], stage: &Stage) -> Vec<Vec<String>> {
    let (gate, style, now) = (stage.gate, stage.style, stage.env.now());
    let most = |text: &str, room: usize| cut(&gate.line(text), room).into_owned();
    let cells = |tagged: &Noted| {
        let listed = tagged.found.ok()?;
        Some([
            most(listed.handle(), 40),
            most(listed.session.format.label(), 12),
            listed.age(now),
            title(listed, gate).into_owned(),
        ])
    };
    let found: Vec<_> = groups.iter().flatten().filter_map(cells).collect();
    let mut lines = aligned(&found, &[2]).into_iter();
    let mut row = |Noted { id, found }: &Noted| match found {
        Ok(_) => style
            .fit(&format!("  {}", lines.next().unwrap_or_default()))
            .into_owned(),
        Err(why) => format!(
            "  {}  {}",
            gate.line(*id),
            style.paint(Tone::Faint, missing(*why))
        ),
    };
    groups
        .iter()
        .map(|group| group.iter().map(&mut row).collect())
        .collect()
}
