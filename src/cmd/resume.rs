//! `session-reader resume`: where a session stopped, and how to go on.
//!
//! `session/digest.rs` knows the whole session, and the notes what the user wrote down about it; `show/resume` says it.

use std::path::Path;

use super::args::ResumeArgs;
use super::target_session::last_here;
use super::{Exit, Problem, Stage};
use crate::file::Unreadable;
use crate::fold::Continuity;
use crate::fold::continuity::FRESH;
use crate::path::shell_word;
use crate::read::Transcript;
use crate::session::beside::TitleIndex;
use crate::session::choose::{Resolved, looks_like_id};
use crate::session::last::{Last, Standing};
use crate::session::live::Agents;
use crate::session::state::Situation;
use crate::session::{self, Project, Session, digest, stopped};
use crate::show::resume::{Fitted, Stop};
use crate::state::notes::{Marks, Notes};
use crate::time::Time;

/// The default budget of codes.
const TOKENS: usize = 1500;

pub fn run(args: &ResumeArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let Resolved { session, subagent, .. } = match args.name.as_deref().filter(|name| *name != "last") {
        Some(name) => stage.resolve(name)?,
        None => {
            let week = || Time(stage.env.now().0.saturating_sub(FRESH));
            let since = args.since.map_or_else(week, |since| since.time(stage.env));
            last(stage, Some(since))?
        }
    };
    let beginning = Transcript::open(&session.path, session.format.format()).and_then(|file| file.beginning());
    let subagent = subagent || beginning.map_err(|error| Unreadable::new(&session.path, error))?.subagent;
    let mut all = read(&session, subagent, stage)?;
    all.finish();
    if all.messages == 0 {
        return Problem::nothing(format_args!("nothing was said in {}", session.path.display()));
    }
    let shown = show(args, &session, subagent, &all, stage)?;
    if all.broken > 0 && !args.json {
        let path = session.path.display();
        stage.say(format_args!("{} of its lines could not be read: session-reader formats check {path}", all.broken));
    }
    Ok(shown)
}

/// The whole session, with what is kept beside its transcript. Unreadable subagents are reported.
fn read(session: &Session, subagent: bool, stage: &mut Stage) -> Result<Continuity, Problem> {
    let whole = digest::whole(session, subagent, stage.env, stage.formats);
    let mut all = whole.map_err(|error| Unreadable::new(&session.path, error))?;
    let mut titles = TitleIndex::default();
    titles.complete(&mut all.basics, session, stage.env)?;
    if !subagent {
        let mut unreadable = titles.bad;
        stopped::add_subagents(&mut all, session, None, &mut unreadable);
        stage.say_unreadable(&unreadable);
    }
    Ok(all)
}

fn show(
    args: &ResumeArgs,
    session: &Session,
    subagent: bool,
    all: &Continuity,
    stage: &mut Stage,
) -> Result<Exit, Problem> {
    let env = stage.env;
    // The name of a file from anywhere may have nothing of the id; a subagent's lines have the session's.
    let inside = all.id.as_deref().filter(|id| !subagent && session::is_id(id));
    let id = inside.filter(|_| session.root.is_none()).unwrap_or_else(|| session.whole_id(inside));
    let has_id = session.root.is_some() || session.name.is_some() || inside.is_some() || looks_like_id(id);
    // The name of a copied file is no id that an agent knows.
    let command = if subagent { Ok(None) } else { command(session, has_id.then_some(id)) };
    let command = command.unwrap_or_else(|why| {
        stage.say(why);
        None
    });
    let command = command.map(|command| {
        // Agents look for their sessions in the directory they are in.
        let away = all.first_cwd.as_deref().filter(|cwd| env.cwd != **cwd);
        away.map_or(command.clone(), |cwd| format!("cd {} && {command}", shell_word(cwd)))
    });
    // The notes of the session's project, wherever this runs.
    let project = Project::of(env, all.first_cwd.as_deref().map_or(&env.cwd, Path::new));
    let (notes, wrong) = Notes::read(env, project.dir());
    stage.say_wrong(&wrong);
    let mut bad = Vec::new();
    let (done, tags) = Marks::read(env, &mut bad).of(id);
    stage.say_unreadable(&bad);
    let agents = Agents::look(env, stage.formats);
    let situation = Situation::of(session, all, done, Some(&agents));
    let state = situation.state(session.format.live(), env.now());
    let stop = Stop {
        continuity: all,
        session,
        id,
        project: project.name(),
        subagent,
        command,
        notes: &notes,
        now: env.now(),
        state,
        done,
        tags,
    };
    if args.json {
        return stage.print_json(&stop.json(args.budget));
    }
    let shown = |path: &str| env.shown_from(all.first_cwd.as_deref(), path);
    let Fitted { lines, left_out } = match args.codes {
        true => stop.codes(args.budget.unwrap_or(TOKENS)),
        false => stop.text(&env.zone(), stage.gate, stage.style, args.budget, &shown),
    };
    let budget = args.budget.unwrap_or(TOKENS);
    if lines.is_empty() {
        return Problem::nothing(format_args!("nothing fits into {budget} tokens; see --budget"));
    }
    let exit = stage.print_lines(lines)?;
    if left_out > 0 {
        let lines = if left_out == 1 { "1 line does" } else { &format!("{left_out} lines do") };
        stage.say(format_args!("{lines} not fit into {budget} tokens; see --budget"));
    }
    Ok(exit)
}

/// What an agent goes on with a session by, in the directory in which the session began; or why there is nothing to offer.
pub fn command(session: &Session, id: Option<&str>) -> Result<Option<String>, String> {
    let command = session.format.head().resume.as_ref();
    let Some(command) = command.filter(|command| id.is_some() || !command.contains("{id}")) else { return Ok(None) };
    let (id, path) = (id.unwrap_or_default(), session.path.display().to_string());
    if command.contains("{id}") && !session::is_id(id) {
        return Err(format!("no command to resume this session: the id {}", session::NO_ID));
    }
    Ok(Some(command.replace("{id}", id).replace("{path}", &shell_word(&path))))
}

/// The last session of this project, if it is still open and stopped in that time; or why not.
pub fn last<'f>(stage: &mut Stage<'_, 'f>, since: Option<Time>) -> Result<Resolved<'f>, Problem> {
    let Last { listed, standing, .. } = last_here(stage)?;
    let updated = listed.tally.updated;
    if since.is_some_and(|since| updated.is_none_or(|updated| updated < since)) {
        let when = updated.map_or("at no known time".into(), |updated| updated.age(stage.env.now()) + " ago");
        let hint = format!("{} stopped {when}, and --since looks further back", listed.handle());
        return Problem::nothing(format_args!("no session of this project stopped in that time; {hint}"));
    }
    if standing == Standing::Done {
        let hint = "`session-context done NAME --undo` takes that back, and `session-reader resume NAME` shows one";
        return Problem::nothing(format_args!("all sessions of this project in that time are done; {hint}"));
    }
    Ok(listed.session.into())
}
