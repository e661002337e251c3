//! Marks on sessions: `done`, `tag`, `tags`.

use std::io;

use clap::Args;
use serde::Serialize;

use super::marked::{Marked, Sessions, Widths};
use super::page::{changed, object, opened, show, today};
use super::{Exit, Stage, resume, subject};
use crate::hook::Observer;
use crate::locate::Project;
use crate::render::terminal::{cut, flat, width};
use crate::state::notes::Notes;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  session-context done              inside a session: it is finished
  session-context done last         the session that `resume` shows is finished
  session-context done last --undo  take the last `done` back

`session-context notes` lists the finished sessions at its end.")]
pub struct DoneArgs {
    /// Name, title, id or file of a session, or `last` [default: the one this
    /// runs in]
    #[arg(value_name = "NAME")]
    session: Option<String>,
    /// Take it back
    #[arg(long)]
    undo: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  session-context tag release                inside a session
  session-context tag \"needs review\" --session last
  session-context tag release --session 4f2a9c11 --remove")]
pub struct TagArgs {
    /// A word, or several in quotes, without a colon
    tag: String,
    /// Name, title, id or file of a session, or `last` [default: this one]
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// Take the tag off the session
    #[arg(long)]
    remove: bool,
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

/// The session that is meant, and the project whose page tells of it.
struct Subject {
    /// What it is called here.
    key: String,
    id: String,
    project: Project,
}

pub fn done(args: &DoneArgs, stage: &mut Stage) -> io::Result<Exit> {
    let mut name = args.session.clone();
    if args.undo && name.as_deref() == Some("last") {
        // What was done last.
        let Some(notes) = opened(stage)? else { return Ok(Exit::Trouble) };
        let Some(last) = notes.done().last().map(|id| id.to_string()) else {
            stage.say("no session of this project is done")?;
            return Ok(Exit::Nothing);
        };
        name = Some(last);
    }
    let Subject { key, id, project } = match marked_session(name.as_deref(), args.undo, "done NAME", stage)? {
        Ok(subject) => subject,
        Err(exit) => return Ok(exit),
    };
    let today = today(stage.env);
    let set = |notes: &mut Notes| Ok(notes.set_done(&id, !args.undo, &today));
    let Some(changed) = changed(&project, stage, set)? else { return Ok(Exit::Trouble) };
    let now = match (changed, args.undo) {
        (true, false) => "is done: no session is told any more that the work stopped there",
        (false, false) => "was done already",
        (true, true) => "is no longer done",
        (false, true) => "was not done",
    };
    show(&format!("{key} {now}."), stage)?;
    Ok(Exit::Found)
}

/// Finds that session, or has said why there is none. A mark can be taken off a session that is gone.
fn marked_session(
    name: Option<&str>,
    takes_off: bool,
    how: &str,
    stage: &mut Stage,
) -> io::Result<Result<Subject, Exit>> {
    let project = Project::of(&stage.env.cwd);
    if let Some(id) = name.filter(|id| takes_off && Notes::read(stage.env, project.dir()).0.marks(id)) {
        return Ok(Ok(Subject { key: id.into(), id: id.into(), project }));
    }
    let found = match name {
        // What `session-reader resume` shows.
        Some("last") => match resume::last(stage, None, true, &mut Vec::new()) {
            Ok(last) => (Observer::of(last.session, stage.env, stage.settings), None),
            Err(why) => return stage.say(why).map(|()| Err(Exit::Nothing)),
        },
        name => match subject::subject(name, stage)? {
            Ok(subject::Subject { observer, is_new: false, elsewhere }) => (observer, elsewhere),
            Ok(_) => {
                stage.say(format_args!("which session? Run this inside one, or name it: session-context {how}"))?;
                return Ok(Err(Exit::Trouble));
            }
            Err(exit) => return Ok(Err(exit)),
        },
    };
    let (observer, elsewhere) = found;
    if observer.id.contains(|char: char| char == ',' || char.is_whitespace() || char.is_control()) {
        stage.say(format_args!("'{}': the id of a session must not have a comma or a blank in it", observer.id))?;
        return Ok(Err(Exit::Trouble));
    }
    // What is said of a session is on the page of its project.
    let project = elsewhere.map_or(project, |env| Project::of(&env.cwd));
    Ok(Ok(Subject { key: observer.key().into(), id: observer.id, project }))
}

pub fn tag(args: &TagArgs, stage: &mut Stage) -> io::Result<Exit> {
    let tag = flat(&args.tag).into_owned();
    if width(&tag) == 0 || tag.contains(':') {
        stage.say(format_args!("'{tag}' is no tag, which is a word, or a few in quotes, without a colon"))?;
        return Ok(Exit::Trouble);
    }
    let found = marked_session(args.session.as_deref(), args.remove, "tag TAG --session NAME", stage)?;
    let Subject { key, id, project } = match found {
        Ok(subject) => subject,
        Err(exit) => return Ok(exit),
    };
    let set = |notes: &mut Notes| {
        let changed = if args.remove { notes.remove_tag(&tag, &id) } else { notes.add_tag(&tag, &id) };
        Ok((changed, notes.tags(&id).join(", ")))
    };
    let Some((changed, tags)) = changed(&project, stage, set)? else { return Ok(Exit::Trouble) };
    match (changed, args.remove) {
        (true, _) if tags.is_empty() => show(&format!("{key}: no tags"), stage)?,
        (true, _) => show(&format!("{key}: {tags}"), stage)?,
        (false, false) => show(&format!("{key} has the tag '{tag}' already."), stage)?,
        (false, true) => {
            let has = if tags.is_empty() { "nor any other".into() } else { format!("only: {}", flat(&tags)) };
            stage.say(format_args!("{} has no tag '{tag}', {has}", flat(&key)))?;
            return Ok(Exit::Nothing);
        }
    }
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
    if args.json {
        tags.into_iter().try_for_each(|(tag, sessions)| object(&Tagged { tag, sessions }, stage))?;
        return Ok(Exit::Found);
    }
    let ids: Vec<&str> = tags.iter().flat_map(|(_, ids)| ids).copied().collect();
    let (sessions, exit) = Sessions::read(&ids, stage)?;
    let (look, now) = (stage.look, stage.env.now());
    let tags: Vec<_> = tags.iter().map(|(tag, ids)| (tag, sessions.marked(ids))).collect();
    let widths = Widths::of(tags.iter().flat_map(|(_, marked)| marked), now);
    for (tag, marked) in &tags {
        show(tag, stage)?;
        sessions.rows(marked, &widths, look, now).iter().try_for_each(|row| writeln!(stage.out, "{row}"))?;
    }
    Ok(exit)
}

/// Shows the sessions that are done, a line each.
pub fn show_done(ids: &[&str], json: bool, stage: &mut Stage) -> io::Result<Exit> {
    #[derive(Serialize)]
    struct Done<'n> {
        kind: &'static str,
        session: &'n str,
        name: Option<&'n str>,
        agent: Option<&'n str>,
        title: Option<&'n str>,
    }
    let (sessions, exit) = Sessions::read(ids, stage)?;
    for marked in sessions.marked(ids) {
        match marked {
            Marked::Listed(listed) if json => {
                let (session, title) = (&listed.session, sessions.title(listed));
                let (name, agent) = (session.name.as_deref(), Some(session.format.label()));
                let title = Some(&*title).filter(|title| !title.is_empty());
                object(&Done { kind: "done", session: &session.id, name, agent, title }, stage)?;
            }
            Marked::Other(session, _) if json => {
                object(&Done { kind: "done", session, name: None, agent: None, title: None }, stage)?;
            }
            Marked::Listed(listed) => {
                let line = format!("done {}: {}", flat(listed.handle()), sessions.title(listed));
                writeln!(stage.out, "{}", cut(&line, stage.look.width.unwrap_or(usize::MAX)))?;
            }
            Marked::Other(id, matter) => writeln!(stage.out, "done {} {matter}", flat(id))?,
        }
    }
    Ok(exit)
}
