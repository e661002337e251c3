//! The sessions that were open when the machine or a terminal went down, as a table.

use crate::ask::restore::Restorable;
use crate::env::Env;
use crate::fold::Ending;
use crate::session::live::Presence;
use crate::session::state::Reason;
use crate::show::gate::Gate;
use crate::show::state::reason;
use crate::show::terminal::{Style, Tone, aligned, cut};
use session_format::format::live::Status;
use session_format::time::Time;

/// The rows, headings first: which session, where, what it was at, and its title.
pub fn table(sessions: &[Restorable], env: &Env, gate: Gate, style: Style) -> Vec<String> {
    let heads = ["NAME", "AGENT", "PROJECT", "AGE", "TITLE", "WAS"].map(str::to_owned);
    let now = env.now();
    // What it was at gets as much room as the title.
    let room = style.width.map(|width| width.saturating_sub(OTHERS) / 2);
    let room = room.unwrap_or(WIDEST).max(16);
    let row = |open: &Restorable| {
        let listed = &open.listed;
        let title = listed.tally.title().unwrap_or_default();
        [
            listed.handle(),
            listed.session.format.label(),
            &open.project,
            &listed.age(now),
            &cut(&gate.line(title), room),
            &was(open, now),
        ]
        .map(|text| cut(&gate.line(text), WIDEST).into_owned())
    };
    let rows: Vec<_> = std::iter::once(heads)
        .chain(sessions.iter().map(row))
        .collect();
    let mut lines = aligned(&rows, &[3]);
    for (index, line) in lines.iter_mut().enumerate() {
        let tone = if index == 0 { Tone::Faint } else { Tone::Plain };
        *line = style.paint(tone, &style.fit(line.trim_end())).into_owned();
    }
    lines
}

/// No column is wider.
const WIDEST: usize = 80;
/// The usual width of the other columns.
const OTHERS: usize = 34;

/// What it was at when its agent went away, in the words of every list.
fn was(open: &Restorable, now: Time) -> String {
    let state = open.listed.state(now);
    let said = match &open.listed.presence {
        Presence::Killed(report) => report.status,
        _ => None,
    };
    match state.reason {
        // Of what it said last, its transcript may have nothing yet.
        Some(Reason::Crashed(None)) => match said {
            Some(Status::Working) => "crashed while thinking".into(),
            Some(Status::Permission) => "crashed while waiting for permission".into(),
            Some(Status::Waiting | Status::Question) => "crashed before it was answered".into(),
            _ => "crashed".into(),
        },
        Some(Reason::Ended(None, _)) if open.listed.tally.ending == Ending::Answered => {
            "had answered".into()
        }
        Some(Reason::Ended(None, _)) if open.listed.tally.ending == Ending::Working => {
            "thinking".into()
        }
        Some(Reason::Ended(None, _)) => "waiting".into(),
        _ => reason(&state, None).unwrap_or_default(),
    }
}
