//! `session-context explain`: what a session would be told now, and why. Read-only: it marks nothing as seen.

use std::io;
use std::time::Duration;

use clap::Args;

use super::subject::{Subject, subject};
use super::{Exit, Stage, label};
use crate::budget::Deadline;
use crate::hook::ask::Source;
use crate::hook::survey::{Reason, Surveyor, Why};
use crate::hook::{Told, tell};
use crate::locate;
use crate::render::terminal::{clean, flat, pad, pad_left, width};
use crate::state::cursors::{Cursors, View};
use crate::state::notes::Notes;

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Name, title, id or file of a session, or `last` [default: the one this
    /// runs in, else a new one]
    pub name: Option<String>,
    /// The same as NAME
    #[arg(long, value_name = "NAME", conflicts_with = "name")]
    pub session: Option<String>,
    /// Also list quiet sessions and those of other projects
    #[arg(long)]
    pub all: bool,
}

pub fn run(args: &ExplainArgs, stage: &mut Stage) -> io::Result<Exit> {
    let mut subject = match subject(args.session.as_deref().or(args.name.as_deref()), stage)? {
        Ok(subject) => subject,
        Err(exit) => return Ok(exit),
    };
    match subject.elsewhere.take() {
        Some(env) => explain(&subject, args.all, &mut stage.at(&env)),
        None => explain(&subject, args.all, stage),
    }
}

fn explain(subject: &Subject, all: bool, stage: &mut Stage) -> io::Result<Exit> {
    let settings = stage.settings;
    let observer = &subject.observer;
    let mut problems = Vec::new();
    let file = observer.cursors(stage.env);
    let cursors = Cursors::read(file.clone(), observer.key(), &mut |what| problems.push(what));
    problems.iter().try_for_each(|problem| stage.say(problem))?;
    let deadline = Deadline::after(settings.deadline.max(Duration::from_secs(10)));
    let mut surveyor = Surveyor::new(stage.env, settings, stage.formats, observer, &cursors.view, &deadline);
    surveyor.explain = true;
    let told = tell(surveyor.survey(), &surveyor, settings.budget);
    let exit = stage.say_unreadable(&told.survey.bad)?;
    let mut asks = match subject.is_new {
        true => "A new session (--session NAME for another)".into(),
        false => format!("{} ({})", flat(observer.key()), observer.format.label()),
    };
    if let Some(why) = silent(&cursors.view, stage) {
        writeln!(stage.out, "{asks} would be told nothing: {why}.")?;
        return Ok(exit);
    }
    if subject.is_new {
        let (notes, wrong) = Notes::read(stage.env, surveyor.project_dir());
        wrong.iter().try_for_each(|wrong| stage.say(wrong))?;
        let start = surveyor.start(Source::New, "", &[], &notes).text;
        if !start.is_empty() {
            told_as(&asks, "when it begins", &start, stage)?;
            writeln!(stage.out)?;
            asks = "It".into();
        }
    }
    told_as(&asks, "with its next prompt", &told.block.text, stage)?;
    let seen = match &cursors.view.look {
        Some(_) => format!("seen so far: {}", stage.env.tilde(&file)),
        None => {
            let span = Duration::from_millis(settings.first_look.unsigned_abs());
            format!("it has not looked before, so only the last {} counts", humantime::format_duration(span))
        }
    };
    writeln!(stage.out, "\nWhy ({}):", clean(&seen))?;
    table(all, &told, stage)?;
    Ok(exit)
}

/// Why a session is told nothing, whatever happens.
fn silent(view: &View, stage: &Stage) -> Option<&'static str> {
    let reasons = [
        (stage.env.is_off(), "SESSION_CONTEXT=off is set"),
        (view.look.as_ref().is_some_and(|look| look.muted), "it is muted; `session-context unmute` undoes that"),
        (stage.settings.ignores(&stage.env.cwd), "`ignore` names this directory"),
    ];
    reasons.into_iter().find(|(holds, _)| *holds).map(|(_, why)| why)
}

fn told_as(who: &str, when: &str, text: &str, stage: &mut Stage) -> io::Result<()> {
    if text.is_empty() {
        return writeln!(stage.out, "{who} would be told nothing {when}.");
    }
    writeln!(stage.out, "{who} would be told {when}:\n")?;
    text.lines().try_for_each(|line| writeln!(stage.out, "    {line}"))
}

/// A row for each session; what is merely quiet or elsewhere is counted.
fn table(all: bool, told: &Told, stage: &mut Stage) -> io::Result<()> {
    let (formats, out) = (stage.formats, &mut *stage.out);
    let quiet = |why: &&Why| !all && matches!(why.reason, Reason::Old | Reason::Elsewhere | Reason::Unchanged);
    let shown = |why: &Why| told.block.shown.iter().any(|index| told.survey.news[*index].session.path == why.path);
    let mut rows: Vec<&Why> = told.survey.why.iter().filter(|why| !quiet(why)).collect();
    // What is told first, as it is told; then what might have been.
    let place = |why: &Why| told.survey.news.iter().position(|news| news.session.path == why.path);
    rows.sort_by_key(|why| (place(why).is_none(), !shown(why), place(why), why.reason as u8));
    let handle = |why: &Why| {
        let others = rows.iter().filter(|other| other.handle != why.handle && !all);
        let shared = others.map(|other| locate::shared_start(&why.handle, &other.handle)).max().unwrap_or(0);
        let short = if all || why.named { &why.handle } else { locate::short_id(&why.handle, shared) };
        flat(short).into_owned()
    };
    let rows: Vec<[String; 5]> = rows
        .iter()
        .map(|why| {
            let reason = match why.reason {
                Reason::News if shown(why) => "told",
                reason => words(reason),
            };
            let from = why.offset.map_or_else(|| "-".into(), |offset| offset.to_string());
            [handle(why), label(formats, &why.agent).into(), from, why.size.to_string(), reason.into()]
        })
        .collect();
    if !rows.is_empty() {
        let head = ["SESSION", "AGENT", "FROM BYTE", "OF", "WHY"].map(str::to_owned);
        let room = |column: usize| rows.iter().chain([&head]).map(|row| width(&row[column])).max().unwrap_or(0);
        let rooms: [usize; 4] = std::array::from_fn(room);
        for [session, agent, from, size, why] in [&head].into_iter().chain(&rows) {
            let (session, agent) = (pad(session, rooms[0]), pad(agent, rooms[1]));
            writeln!(out, "  {session}  {agent}  {}  {}  {why}", pad_left(from, rooms[2]), pad_left(size, rooms[3]))?;
        }
    }
    for reason in [Reason::Unchanged, Reason::Old, Reason::Elsewhere] {
        let count = told.survey.why.iter().filter(quiet).filter(|why| why.reason == reason).count();
        if count > 0 {
            writeln!(out, "  {count} more: {}", words(reason))?;
        }
    }
    if told.survey.why.is_empty() {
        writeln!(out, "  no session was found; `session-reader formats` shows where they are looked for")?;
    }
    Ok(())
}

fn words(reason: Reason) -> &'static str {
    match reason {
        Reason::News => "new, but there is no room: stays unread",
        Reason::Own => "the session itself",
        Reason::Unchanged => "nothing new since it was seen",
        Reason::Old => "quiet since before the last look, here or elsewhere",
        Reason::Elsewhere => "another project",
        Reason::Subagent => "a subagent's, part of its session",
        Reason::Ignored => "left alone (`ignore`)",
        Reason::NothingSaid => "written to, but nothing new was said",
        Reason::ThrowAway => "a throw-away session",
        Reason::Late => "not read in time",
        Reason::Unreadable => "could not be read",
    }
}
