//! `session-reader resume`: where a session stopped, and how to go on.

use std::io;
use std::path::Path;

use serde_json::Value;

use super::args::ResumeArgs;
use super::{Exit, Stage};
use crate::budget::Deadline;
use crate::catalog::{self, Listed, Resolved};
use crate::cursor::Buffer;
use crate::hook::{digest, indexed_title, shown};
use crate::locate::{self, Project, Unreadable};
use crate::render::resume::Stop;
use crate::secrets::redact;
use crate::state::notes::{Kind, Notes};
use crate::time::{DAY, Time};
use crate::transcript::Transcript;

/// Tokens that codes may cost if nobody says.
const TOKENS: usize = 1500;
/// How long a session is taken up again without being asked for by name.
const WEEK: i64 = 7 * DAY;

pub fn run(args: &ResumeArgs, stage: &mut Stage) -> io::Result<Exit> {
    let env = stage.env;
    let (notes, wrong) = Notes::read(env, Project::of(&env.cwd).dir());
    wrong.iter().try_for_each(|wrong| stage.say(wrong))?;
    let since = args.since.map_or(Time(env.now().0.saturating_sub(WEEK)), |since| since.time(env));
    let mut bad = Vec::new();
    let resolved = match args.name.as_deref().filter(|name| *name != "last") {
        Some(name) => match catalog::resolve(env, stage.formats, name, &mut bad) {
            Ok(resolved) => Some(resolved),
            Err(unresolved) => return stage.say_unresolved(name, unresolved),
        },
        None => last(stage, since, &notes, &mut bad),
    };
    let trouble = stage.say_unreadable(&bad)?;
    let Some(Resolved { session, subagent }) = resolved else {
        stage
            .say("no session of this project stopped in that time; --since 30d looks further back, --help says more")?;
        return Ok(trouble.max(Exit::Nothing));
    };
    let read = Transcript::open(&session.path, session.format.detailed())
        .and_then(|file| file.full(true).subagent(subagent).continuity(0, &mut Buffer::default(), None));
    let mut all = match read {
        Ok(all) => all,
        Err(error) => return stage.say_unreadable(&[Unreadable { path: session.path, error }]),
    };
    all.cwd = all.cwd.take().or_else(|| locate::beside(session.root?, &session.path).cwd);
    all.person_title = indexed_title(&session, env).or(all.person_title.take());
    let quiet = all.is_quiet(env.now());
    all.finish(quiet);
    if all.messages == 0 {
        stage.say(format_args!("nothing was said in {}", session.path.display()))?;
        return Ok(trouble.max(Exit::Nothing));
    }
    // A file name may have only the beginning of the id, and one from anywhere none of it.
    let inside = all.session.clone().filter(|id| session.root.is_none() || id.starts_with(&session.id));
    let id = inside.unwrap_or_else(|| session.id.clone());
    let fill = |command: &String| command.replace("{id}", &id).replace("{path}", &quoted(&session.path));
    let project = Project::of(all.cwd.as_deref().map_or(&env.cwd, Path::new));
    // What the user wrote down belongs to the session's project, wherever this runs.
    let (notes, wrong) = Notes::read(env, project.dir());
    if project != Project::of(&env.cwd) {
        wrong.iter().try_for_each(|wrong| stage.say(wrong))?;
    }
    let text = |kind: Kind| notes.notes(kind, env.now()).map(move |note| (kind.name(), note.text.clone()));
    let kinds = [Kind::Decision, Kind::Blocker, Kind::Next, Kind::Fact];
    let stop = Stop {
        id: &id,
        agent: &session.format.name,
        path: session.path.display().to_string(),
        project: project.name(),
        status: if quiet { "idle" } else { "active" },
        command: session.format.head().resume.as_ref().map(fill),
        pins: notes.pins(env.now()).iter().map(|pin| pin.text.clone()).collect(),
        notes: kinds.into_iter().flat_map(text).collect(),
        tags: notes.tags(&id).into_iter().map(str::to_owned).collect(),
        now: env.now(),
        continuity: &all,
    };
    let hide = |text: String| if stage.settings.redact { redact(&text).into_owned() } else { text };
    if args.json {
        let mut json = stop.json(args.budget.unwrap_or(TOKENS));
        if stage.settings.redact {
            without_secrets(&mut json);
        }
        writeln!(stage.out, "{json}")?;
    } else if args.codes {
        for code in stop.codes(args.budget.unwrap_or(TOKENS)) {
            writeln!(stage.out, "{}", hide(code))?;
        }
    } else {
        let cwd = all.cwd.as_deref();
        let path = |path: &str| {
            let whole = crate::hook::survey::absolute(cwd.map_or(&*env.cwd, Path::new), path);
            shown(&whole, env, cwd)
        };
        for line in stop.text(&env.zone(), &stage.look, &path) {
            writeln!(stage.out, "{}", hide(line))?;
        }
    }
    if all.broken > 0 && !args.json {
        let path = session.path.display();
        stage
            .say(format_args!("{} of its lines could not be read: session-reader formats check {path}", all.broken))?;
    }
    Ok(trouble)
}

/// Hides secrets in every text of a value.
fn without_secrets(value: &mut Value) {
    match value {
        Value::String(text) => *text = redact(text).into_owned(),
        Value::Array(all) => all.iter_mut().for_each(without_secrets),
        Value::Object(all) => all.values_mut().for_each(without_secrets),
        _ => {}
    }
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let plain = path.chars().all(|char| char.is_ascii_alphanumeric() || "/._-+~@:".contains(char));
    if plain { path } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// The session of this project that was at work last, if not too long ago; not the one that asks, nor one that is done,
/// nor a question in passing if there is anything else.
fn last<'f>(stage: &Stage<'_, 'f>, since: Time, notes: &Notes, bad: &mut Vec<Unreadable>) -> Option<Resolved<'f>> {
    const TRIES: usize = 20;
    let env = stage.env;
    let deadline = Deadline::after(std::time::Duration::from_secs(5));
    let all = catalog::list(env, stage.formats, bad);
    let asks = |listed: &Listed| {
        let told = listed.session.format.hook().and_then(|hook| hook.env.iter().find_map(|name| env.var(name)));
        told.is_some_and(|id| id.to_string_lossy().starts_with(&listed.session.id))
    };
    let fits = |listed: &&Listed| {
        listed.here
            && listed.tally.updated.is_some_and(|updated| updated >= since)
            && !notes.is_done(&listed.session.id)
            && !asks(listed)
    };
    let worked =
        |listed: &&Listed| digest(&listed.session, env.now(), &deadline, None).is_ok_and(|all| !all.is_one_shot());
    let found = all.iter().filter(fits).take(TRIES).find(worked).or_else(|| all.iter().find(fits));
    found.map(|listed| Resolved { session: listed.session.clone(), subagent: false })
}
