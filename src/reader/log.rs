//! `session-reader log`: what was said and done in a session, entry by entry.
//!
//! It finds the session and reads as much as is wanted; `show/log.rs` makes the lines, `follow` goes on from there.

use super::args::{LogArgs, Point, Since};
use super::{Exit, Problem, Stage, entries, follow};
use session_core::ask::follow::{is_named_here, may_appear};
use session_core::ask::log::{Origin, first_open, last};
use session_core::file::Unreadable;
use session_core::read::{Log, Slice, Wanted};
use session_core::session::choose::{Resolved, Unresolved};
use session_core::session::{Home, choose};
use session_core::show::figures::plural;
use session_core::show::terminal::Tone;
use session_format::entry::{Position, What};

/// The entries of a file of this size are counted for the header; reading more would take too long.
const COUNTED: Position = Position::new(1 << 20);

pub fn run(args: &LogArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let name = match &args.name {
        None if args.follow => return follow::many(args, stage),
        name => name.as_deref().unwrap_or("last"),
    };
    let (found, bad) = stage
        .ask()
        .look(|env, formats, bad| choose::resolve(env, formats, name, bad));
    let is_part = matches!(&found, Ok(Resolved { part: true, .. }));
    let is_unknown = matches!(&found, Err(Unresolved::Unknown(_) | Unresolved::None));
    let bare = args.bare.as_ref();
    let like = bare.and_then(|word| word.like.as_deref());
    let hint = like.map(|command| format!("did you mean `session-reader {command}`?"));
    if bare.is_some_and(|word| is_part && word.is_almost) {
        let part = format!("`session-reader log {name}` reads a session with that in its title");
        return Problem::trouble(format!(
            "no command is called '{name}'; {} {part}",
            hint.unwrap_or_default()
        ));
    }
    if let Some(error) = bare.and_then(|word| word.error.as_ref())
        && !is_unknown
    {
        let error = error.render();
        return Err(Problem::Usage(if stage.style.colour {
            error.ansi().to_string()
        } else {
            error.to_string()
        }));
    }
    let resolved = match found {
        Ok(resolved) => resolved,
        Err(Unresolved::Unknown(_) | Unresolved::None | Unresolved::Unrecognised(_))
            if args.follow && may_appear(name, stage.env) =>
        {
            return follow::late(name, args, stage);
        }
        Err(Unresolved::Unreadable(unreadable)) if args.follow && Home::is_torn(&unreadable) => {
            return follow::late(name, args, stage);
        }
        Err(_) if is_unknown && is_named_here(name, stage.env) => {
            return Problem::nothing(format!("'{name}' has no transcript yet"));
        }
        Err(unresolved) => {
            stage.say_unreadable(&bad);
            let is_word = name
                .chars()
                .all(|char| char.is_ascii_alphabetic() || char == '-');
            let kind = if bare.is_some() && is_word {
                "command or session"
            } else {
                "session"
            };
            return match hint {
                Some(hint) if is_unknown => {
                    Problem::trouble(format!("no {kind} is called '{name}'; {hint}"))
                }
                _ => Err(stage.unresolved(kind, name, unresolved)),
            };
        }
    };
    stage.say_part(name, &resolved);
    if args.follow {
        return follow::one(resolved, args, stage);
    }
    show_log(name, &resolved, args, stage)
}

/// The log of a session that was found by this name.
pub fn show_log(
    name: &str,
    resolved: &Resolved,
    args: &LogArgs,
    stage: &mut Stage,
) -> Result<Exit, Problem> {
    let mut log = read(resolved, args, stage)?;
    if let Some(point) = args.at
        && log.entries.is_empty()
    {
        let why = match point {
            Point::Id(_) => {
                const TAKES: &str = "--at takes a line like 120, a time like 14:25 or 2h, or an id of the transcript";
                return Problem::trouble(format!("nothing in '{name}' has that id; {TAKES}"));
            }
            Point::Line(line) if line > log.lines => {
                format!(": it has only {}", plural(log.lines, "line"))
            }
            Point::Line(_) => " or after it".into(),
            Point::Time(_) => ": it ends before that".into(),
        };
        return Problem::nothing(format!("nothing was said there in '{name}'{why}"));
    }
    if log.entries.is_empty() && args.slice.is_some() {
        return Problem::nothing(format!("nothing in '{name}' fits"));
    }
    if log.entries.is_empty() {
        let when = if args.since.is_some() {
            "since then"
        } else {
            "yet"
        };
        return Problem::nothing(format!("nothing was said in '{name}' {when}"));
    }
    let origin = stage.heard(Origin::of(&resolved.session, None));
    let is_end = args.at.is_none() && args.slice.is_none();
    if stage.style.height.is_some() && !log.exact && log.end <= COUNTED && is_end {
        let all = last(
            resolved,
            Wanted {
                count: usize::MAX,
                ..entries::wanted(args, stage)
            },
        )?;
        (log.total, log.exact) = (all.total, all.exact);
    }
    entries::head(&resolved.session, &origin, &log, args, stage)?;
    let mut view = entries::view(args, stage);
    let open = first_open(&log.entries);
    for (index, entry) in log.entries.iter().enumerate() {
        if args.context.is_some() && !args.json && log.gaps.contains(&index) {
            writeln!(stage.out, "{}", stage.style.paint(Tone::Faint, "--"))?;
        }
        view.points_at_it =
            (args.at.is_some() || args.context.is_some()) && log.hits.binary_search(&index).is_ok();
        let is_open = is_end && index >= open && matches!(entry.what, What::Call(_));
        entries::show(entry, &origin, is_open, args, &mut view, stage)?;
    }
    if log.broken > 0 && !args.json {
        let lines = plural(log.broken, "line");
        let path = resolved.session.path.display();
        stage.say(format_args!(
            "{lines} could not be read: session-reader formats check {path}"
        ));
    }
    Ok(Exit::Found)
}

/// The entries that the command line asks for.
fn read(resolved: &Resolved, args: &LogArgs, stage: &Stage) -> Result<Log, Unreadable> {
    /// The number of entries before and after a point.
    const AROUND: usize = 10;
    let Some(point) = args.at else {
        return last(resolved, entries::wanted(args, stage));
    };
    let wanted = |count, slice| Wanted {
        count,
        slice,
        ..entries::wanted(args, stage)
    };
    let newest = match point {
        Point::Time(Since::Clock(_)) => last(resolved, wanted(1, args.slice.as_ref()))?
            .entries
            .pop(),
        _ => None,
    };
    let slice = Slice {
        at: Some(point.target(stage.env, newest.and_then(|entry| entry.time))),
        context: args.context.unwrap_or(AROUND),
        ..Slice::default()
    };
    last(resolved, wanted(usize::MAX, Some(&slice)))
}
