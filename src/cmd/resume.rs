//! `session-reader resume`: where a session stopped, and how to go on.

use std::io;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::args::ResumeArgs;
use super::subject::id_from;
use super::{Exit, Stage, none};
use crate::budget::Deadline;
use crate::catalog::{self, Listed, Resolved, State};
use crate::digest::Continuity;
use crate::digest::continuity::FRESH;
use crate::locate::{self, Project, Session, Unreadable};
use crate::render::json::written;
use crate::render::resume::{Fitted, Stop};
use crate::secrets::redact;
use crate::state::notes::{Kind, Notes};
use crate::time::Time;
use crate::transcript::{self, Transcript};

/// Tokens that codes may cost if nobody says.
const TOKENS: usize = 1500;

pub fn run(args: &ResumeArgs, stage: &mut Stage) -> io::Result<Exit> {
    let mut bad = Vec::new();
    let resolved = match args.name.as_deref().filter(|name| *name != "last") {
        Some(name) => {
            catalog::resolve(stage.env, stage.formats, name, &mut bad).map_err(|unresolved| (name, unresolved))
        }
        None => {
            let since = args.since.map(|since| since.time(stage.env));
            match last(stage, since, false, &mut bad) {
                Ok(resolved) => Ok(resolved),
                Err(why) => {
                    let trouble = stage.say_unreadable(&bad)?;
                    stage.say(why)?;
                    return Ok(trouble.max(Exit::Nothing));
                }
            }
        }
    };
    let trouble = stage.say_unreadable(&bad)?;
    let Resolved { session, subagent } = match resolved {
        Ok(resolved) => resolved,
        Err((name, unresolved)) => return stage.say_unresolved(name, unresolved),
    };
    let subagent = subagent || is_subagent(&session);
    let mut unread = Vec::new();
    let mut all = match read(&session, subagent, stage, &mut unread) {
        Ok(all) => all,
        Err(error) => return stage.say_unreadable(&[Unreadable { path: session.path, error }]),
    };
    let trouble = trouble.max(stage.say_unreadable(&unread)?);
    let quiet = all.is_quiet(stage.env.now());
    all.finish(quiet);
    if all.messages == 0 {
        stage.say(format_args!("nothing was said in {}", session.path.display()))?;
        return Ok(trouble.max(Exit::Nothing));
    }
    let shown = show(args, &session, subagent, &all, stage)?;
    if all.broken > 0 && !args.json {
        let path = session.path.display();
        stage
            .say(format_args!("{} of its lines could not be read: session-reader formats check {path}", all.broken))?;
    }
    Ok(trouble.max(shown))
}

/// Whether a transcript says at its head that it is a subagent's.
fn is_subagent(session: &Session) -> bool {
    Transcript::open(&session.path, session.format.format()).is_ok_and(|file| file.beginning().subagent)
}

/// The whole session, with what lies beside its transcript.
fn read(session: &Session, subagent: bool, stage: &Stage, unread: &mut Vec<Unreadable>) -> io::Result<Continuity> {
    let file = Transcript::open(&session.path, session.format.detailed())?.full(true).subagent(subagent);
    let mut all = file.continuity(0, None, None)?.unwrap_or_default();
    let aside = locate::beside(session);
    all.cwd = all.cwd.take().or(aside.cwd);
    all.agent_title = all.agent_title.take().or(aside.title.filter(|_| !aside.by_person));
    all.person_title = locate::indexed_title(session, stage.env).or(all.person_title.take());
    if !subagent {
        transcript::add_subagents(&mut all, session, None, unread);
    }
    Ok(all)
}

fn show(args: &ResumeArgs, session: &Session, subagent: bool, all: &Continuity, stage: &mut Stage) -> io::Result<Exit> {
    let env = stage.env;
    let now = env.now();
    // A file name may have only the beginning of the id, and one from anywhere none of it; a subagent's lines have the
    // session's.
    let inside = all.session.as_deref().filter(|id| session.root.is_none() || id.starts_with(&session.id));
    let id = inside.filter(|id| !subagent && locate::is_id(id)).unwrap_or(&session.id);
    let command = session.format.head().resume.as_ref().filter(|_| !subagent);
    let command = command.map(|command| {
        let path = session.path.display().to_string();
        let command = command.replace("{id}", &quoted(id)).replace("{path}", &quoted(&path));
        // Agents look for their sessions in the directory they are in.
        let away = all.cwd.as_deref().filter(|cwd| env.cwd != **cwd);
        away.map_or(command.clone(), |cwd| format!("cd {} && {command}", quoted(cwd)))
    });
    // What the user wrote down belongs to the session's project, wherever this runs.
    let project = Project::of(all.cwd.as_deref().map_or(&env.cwd, Path::new));
    let (notes, wrong) = Notes::read(env, project.dir());
    wrong.iter().try_for_each(|wrong| stage.say(wrong))?;
    let text =
        |kind: &'_ Kind| notes.notes(*kind, now).map(|note| (note.kind.name(), note.text.clone())).collect::<Vec<_>>();
    let stop = Stop {
        id,
        name: session.name.as_deref(),
        agent: session.format.label(),
        path: session.path.display().to_string(),
        project: project.name(),
        state: State::of(all.ending.turn(), all.updated, notes.is_done(id), now).name(),
        status: if all.is_quiet(now) { "idle" } else { "active" },
        command,
        subagent,
        pins: notes.pins(now).iter().map(|pin| pin.text.clone()).collect(),
        notes: Kind::OF_PROJECT[1..].iter().flat_map(text).collect(),
        tags: notes.tags(id).into_iter().map(str::to_owned).collect(),
        done: notes.is_done(id),
        now,
        continuity: all,
    };
    let fitted = if args.json {
        Fitted { lines: vec![stop.json(args.budget)], left_out: 0 }
    } else if args.codes {
        stop.codes(args.budget.unwrap_or(TOKENS))
    } else {
        stop.text(&env.zone(), &stage.look, args.budget, &|path| env.shown_from(all.cwd.as_deref(), path))
    };
    let nothing = fitted.lines.is_empty();
    for line in fitted.lines {
        let line = if stage.settings.redact { hidden(line, args.json) } else { line };
        writeln!(stage.out, "{line}")?;
    }
    let budget = args.budget.unwrap_or(TOKENS);
    match fitted.left_out {
        0 => {}
        _ if nothing => stage.say(format_args!("nothing fits into {budget} tokens; see --budget"))?,
        1 => stage.say(format_args!("1 line does not fit into {budget} tokens; see --budget"))?,
        count => stage.say(format_args!("{count} lines do not fit into {budget} tokens; see --budget"))?,
    }
    Ok(if nothing { Exit::Nothing } else { Exit::Found })
}

/// A line without secrets. In JSON they are looked for in each text by itself.
fn hidden(line: String, json: bool) -> String {
    fn without_secrets(value: &mut Value) {
        match value {
            Value::String(text) => *text = redact(text).into_owned(),
            Value::Array(all) => all.iter_mut().for_each(without_secrets),
            Value::Object(all) => all.values_mut().for_each(without_secrets),
            _ => {}
        }
    }
    match json.then(|| serde_json::from_str::<Value>(&line)) {
        Some(Ok(mut value)) => {
            without_secrets(&mut value);
            written(&value)
        }
        _ => redact(&line).into_owned(),
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = word.chars().all(|char| char.is_ascii_alphanumeric() || "/._-+~@:".contains(char));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// The session of this project that was at work last: not the one that asks, nor one that is done, and not a question in
/// passing if there is anything else. Or why there is none. If none stopped in that time, an older one may do.
pub fn last<'f>(
    stage: &Stage<'_, 'f>,
    since: Option<Time>,
    or_older: bool,
    bad: &mut Vec<Unreadable>,
) -> Result<Resolved<'f>, String> {
    const TRIES: usize = 20;
    let env = stage.env;
    let now = env.now();
    // What is wrong with them is said by who shows them.
    let (notes, _) = Notes::read(env, Project::of(&env.cwd).dir());
    let mut all = catalog::list(env, stage.formats, bad);
    let elsewhere = all.iter().filter(|listed| !listed.here).count();
    let asks =
        |listed: &Listed| id_from(listed.session.format, env).is_some_and(|id| id.starts_with(&listed.session.id));
    // In a named home those without a name are nobody's.
    let named = all.iter().any(|listed| listed.here && listed.session.name.is_some());
    all.retain(|listed| listed.here && !asks(listed) && (!named || listed.session.name.is_some()));
    let Some(newest) = all.first().cloned() else {
        return Err(none(false, false, elsewhere, "`session-reader list --all`"));
    };
    let since = since.unwrap_or(Time(now.0.saturating_sub(FRESH)));
    let in_time = |listed: &Listed| listed.tally.updated.is_some_and(|updated| updated >= since);
    if !or_older || all.iter().any(in_time) {
        all.retain(in_time);
    }
    if all.is_empty() {
        let when = newest.tally.updated.map_or("at no known time".into(), |updated| updated.age(now) + " ago");
        return Err(format!(
            "no session of this project stopped in that time; {} stopped {when}: --since looks further back",
            newest.handle()
        ));
    }
    all.retain(|listed| !notes.is_done(&listed.session.id));
    let deadline = Deadline::after(Duration::from_secs(5));
    let worked = |listed: &&Listed| {
        transcript::stopped(&listed.session, now, &deadline, None).is_ok_and(|all| !all.is_one_shot())
    };
    let found = all.iter().take(TRIES).find(worked).or(all.first());
    found
        .map(|listed| Resolved { session: listed.session.clone(), subagent: false })
        .ok_or_else(|| "all sessions of this project in that time are done; `session-context done NAME --undo` takes that back, and `session-reader resume NAME` shows one".into())
}
