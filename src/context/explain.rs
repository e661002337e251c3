//! `session-context explain`: what a session would be told now, and why.
//!
//! It takes the same steps as the hook, so that it cannot say anything else; but it is read-only and marks nothing as seen.

use std::io;
use std::time::Duration;

use clap::Args;

use super::target_session::TargetSession;
use super::{Exit, Problem, Stage, label};
use crate::hook::ask::Source;
use crate::hook::candidate::{Reason, Why};
use crate::hook::context::Context;
use crate::hook::report::{Report, report};
use crate::hook::say::{Said, say};
use crate::hook::start::Beginning;
use session_core::session::ids::Shortener;
use session_core::show::activity::Block;
use session_core::show::terminal::aligned;
use session_core::state::cursors::{Cursors, View};
use session_core::state::notes::Notes;
use session_format::budget::Deadline;

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

pub fn run(args: &ExplainArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let target = TargetSession::find(args.session.as_deref().or(args.name.as_deref()), stage)?;
    let (observer, stage) = (&target.observer, &mut target.stage(stage));
    let settings = stage.settings;
    let mut problems = Vec::new();
    let file = observer.cursor_file(stage.env);
    let cursors = Cursors::read(file.clone(), observer.key(), &mut |what| {
        problems.push(what);
    });
    stage.say_all(&problems);
    let context = Context {
        env: stage.env,
        settings,
        formats: stage.formats,
        observer,
        view: &cursors.view,
        deadline: &Deadline::after(settings.deadline.max(Duration::from_secs(10))),
        explain: true,
        position: None,
    };
    let report = report(&context, false);
    let Said { block, bad } = say(&report, &context, settings.budget);
    stage.say_unreadable(&report.bad);
    let mut asks = match target.is_new {
        true => "A new session (--session NAME for another)".into(),
        false => format!(
            "{} ({})",
            stage.gate.line(observer.key()),
            observer.format.label()
        ),
    };
    if let Some(why) = silent(&cursors.view, observer.key(), stage) {
        writeln!(stage.out, "{asks} would be told nothing: {why}.")?;
        return Ok(Exit::Found);
    }
    if target.is_new {
        let (notes, wrong) = Notes::read(stage.env, observer.project.dir());
        stage.say_all(&wrong);
        let beginning = Beginning {
            start: Some((Source::New, &notes)),
            prompt: "",
            told: &[],
            ids: report.ids.as_ref(),
        };
        let start = beginning.say(&context);
        stage.say_unreadable(&start.bad);
        if !start.text.is_empty() {
            told_as(&asks, "when it begins", &start.text, stage)?;
            writeln!(stage.out)?;
            asks = "It".into();
        }
    }
    stage.say_unreadable(&report.own.bad);
    stage.say_unreadable(&bad);
    told_as(&asks, "with its next prompt", &block.text, stage)?;
    let seen = match &cursors.view.look {
        Some(_) => format!("seen so far: {}", stage.env.tilde(file.path())),
        None => {
            let span = Duration::from_millis(settings.first_look.unsigned_abs());
            format!(
                "it has not looked before, so only the last {} counts",
                humantime::format_duration(span)
            )
        }
    };
    writeln!(stage.out, "\nWhy ({}):", stage.gate.line(&seen))?;
    table(
        args.all,
        cursors.view.look.is_none(),
        &report,
        &block,
        stage,
    )?;
    Ok(Exit::Found)
}

/// Why the hook stays silent for a session, whatever happens.
fn silent(view: &View, key: &str, stage: &Stage) -> Option<String> {
    let unmute = format!(
        "it is muted; `session-context unmute {}` undoes that",
        stage.gate.line(key)
    );
    let reasons = [
        (stage.env.is_off(), "SESSION_CONTEXT=off is set".into()),
        (view.look.as_ref().is_some_and(|look| look.muted), unmute),
        (
            stage.settings.ignores(&stage.env.cwd),
            "`ignore` names this directory".into(),
        ),
    ];
    reasons
        .into_iter()
        .find(|(holds, _)| *holds)
        .map(|(_, why)| why)
}

fn told_as(who: &str, when: &str, text: &str, stage: &mut Stage) -> io::Result<()> {
    if text.is_empty() {
        return writeln!(stage.out, "{who} would be told nothing {when}.");
    }
    writeln!(stage.out, "{who} would be told {when}:\n")?;
    stage.print_indented(text)
}

/// A row for each session that matters; quiet ones and those of other projects are only counted.
fn table(
    all: bool,
    first: bool,
    report: &Report,
    block: &Block,
    stage: &mut Stage,
) -> io::Result<()> {
    // Sessions of other agents and those that are not in the table have ids, too.
    let ids = Shortener::of_files(stage.formats, stage.env, &mut Vec::new());
    let (formats, gate, out) = (stage.formats, stage.gate, &mut *stage.out);
    let quiet = |why: &&Why| {
        !all && matches!(
            why.reason,
            Reason::Old | Reason::Elsewhere | Reason::Unchanged
        )
    };
    let shown = |why: &Why| {
        block
            .shown
            .iter()
            .any(|index| report.news[*index].session.path == why.path)
    };
    let mut rows: Vec<&Why> = report.why().filter(|why| !quiet(why)).collect();
    // First the sessions that are told, in that order; then the others.
    let place = |why: &Why| {
        report
            .news
            .iter()
            .position(|news| news.session.path == why.path)
    };
    rows.sort_by_key(|why| (place(why).is_none(), !shown(why), place(why), why.reason));
    let handle = |why: &Why| {
        gate.line(if all || why.named {
            &why.handle
        } else {
            ids.short(&why.handle)
        })
        .into_owned()
    };
    let mut rows: Vec<[String; 5]> = rows
        .iter()
        .map(|why| {
            let reason = match why.reason {
                Reason::News if shown(why) => "told",
                reason => words(reason, first),
            };
            let from = why
                .offset
                .map_or_else(|| "-".into(), |offset| offset.number().to_string());
            [
                handle(why),
                gate.line(label(formats, &why.agent)).into_owned(),
                from,
                why.size.to_string(),
                reason.into(),
            ]
        })
        .collect();
    if !rows.is_empty() {
        let head = ["SESSION", "AGENT", "FROM BYTE", "OF", "WHY"].map(str::to_owned);
        rows.insert(0, head);
        aligned(&rows, &[2, 3])
            .iter()
            .try_for_each(|line| writeln!(out, "  {line}"))?;
    }
    for reason in [Reason::Unchanged, Reason::Old, Reason::Elsewhere] {
        let count = report
            .why()
            .filter(quiet)
            .filter(|why| why.reason == reason)
            .count();
        if count > 0 {
            writeln!(out, "  {count} more: {}", words(reason, first))?;
        }
    }
    if report.why().next().is_none() {
        writeln!(
            out,
            "  no session was found; `session-reader formats` shows where they are looked for"
        )?;
    }
    Ok(())
}

fn words(reason: Reason, first: bool) -> &'static str {
    match reason {
        Reason::Old | Reason::NothingSaid if first => "quiet for longer than that",
        Reason::News => "new, but there is no room: stays unread",
        Reason::Own => "the session itself",
        Reason::Unchanged => "nothing new since it was seen",
        Reason::Old => "quiet since before the last look, here or elsewhere",
        Reason::Elsewhere => "another project",
        Reason::Away => "another project, as it seems: its directory is not there now",
        Reason::Subagent => "a subagent's, part of its session",
        Reason::Ignored => "left alone (`ignore`)",
        Reason::NothingSaid => "written to, but nothing new was said",
        Reason::ThrowAway => "a throw-away session",
        Reason::Foreign(why) => why.as_str(),
        Reason::TooLong => "its last line is too long",
        Reason::Late => "not read in time",
        Reason::Unreadable => "could not be read",
    }
}
