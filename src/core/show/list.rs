//! The list of sessions as a table fitted to the terminal.
//!
//! Columns go when there is no room, the least important first, and the title gets what is left. Which sessions are listed,
//! and in which order, is up to `ask/list.rs`.

use std::borrow::Cow;
use std::path::Path;

use crate::env::Env;
use crate::session::State;
use crate::session::index::Listed;
use crate::show::figures::amount;
use crate::show::gate::Gate;
use crate::show::state::{self, reason};
use crate::show::terminal::{Style, Tone, cut, width};
use session_format::boundary::substr;
use session_format::time::Time;

/// One column: what it says, and how early it goes when the terminal is narrow (the highest first, 0 never). One that
/// `shrinks` becomes narrower before it goes.
struct Column {
    head: &'static str,
    right: bool,
    most: usize,
    goes: u8,
    shrinks: bool,
    cell: for<'l> fn(&Row<'l>) -> Cow<'l, str>,
}

/// A session, and what it takes to show it.
struct Row<'l> {
    listed: &'l Listed<'l>,
    state: State<'l>,
    env: &'l Env,
    now: Time,
}

const COLUMNS: [Column; 7] = [
    Column {
        head: "NAME",
        most: 40,
        cell: |row| row.listed.handle().into(),
        ..COLUMN
    },
    Column {
        head: "AGENT",
        goes: 3,
        cell: |row| row.listed.session.format.label().into(),
        ..COLUMN
    },
    Column {
        head: "STATE",
        goes: 1,
        cell: |row| state_name(row).into(),
        ..COLUMN
    },
    Column {
        head: "AGE",
        right: true,
        cell: |row| row.listed.age(row.now).into(),
        ..COLUMN
    },
    Column {
        head: "MSGS",
        right: true,
        goes: 5,
        cell: |row| row.listed.tally.messages.to_string().into(),
        ..COLUMN
    },
    Column {
        head: "TOKENS",
        right: true,
        goes: 6,
        cell: |row| tokens(row.listed),
        ..COLUMN
    },
    Column {
        head: "WHERE",
        most: 40,
        goes: 4,
        shrinks: true,
        cell: |row| {
            row.env
                .tilde(Path::new(row.listed.tally.cwd().unwrap_or("?")))
                .into()
        },
        ..COLUMN
    },
];
const COLUMN: Column = Column {
    head: "",
    right: false,
    most: 12,
    goes: 0,
    shrinks: false,
    cell: |_| Cow::Borrowed(""),
};

const GAP: &str = "  ";
/// Room for a title before a column goes; before the last one goes, less will do.
const TITLE: usize = 24;
const LEAST_TITLE: usize = 16;
const LEAST: usize = 12;
/// A longer name is cut before a column goes.
const NAME: usize = 16;

/// The rows, headings first. `anywhere`: sessions of several projects, so each says where it is.
pub fn table<'t>(
    sessions: &'t [Listed],
    env: &'t Env,
    gate: Gate,
    style: Style,
    anywhere: bool,
) -> impl Iterator<Item = String> + 't {
    let now = env.now();
    let row = move |listed: &'t Listed| Row {
        listed,
        state: listed.state(now),
        env,
        now,
    };
    let columns = COLUMNS
        .iter()
        .filter(|column| anywhere || column.head != "WHERE");
    let mut columns: Vec<(&Column, usize)> =
        columns.map(|column| (column, column.head.len())).collect();
    // No text is kept from here until it is printed, because there may be very many.
    for row in sessions.iter().map(row) {
        for (column, widest) in columns
            .iter_mut()
            .filter(|(column, widest)| *widest < column.most)
        {
            let text = (column.cell)(&row);
            // No text is wider than it has bytes, and only what hides a secret may be longer than it was.
            if text.len() > *widest || gate.hides_secrets() {
                *widest = width(&column.shown(text, gate, usize::MAX)).max(*widest);
            }
        }
    }
    let used = |columns: &[(&Column, usize)]| {
        columns
            .iter()
            .map(|(_, width)| width + GAP.len())
            .sum::<usize>()
    };
    let excess = style
        .width
        .map_or(0, |room| (used(&columns) + TITLE).saturating_sub(room));
    let name = &mut columns[0].1;
    *name = name.saturating_sub(excess).max(NAME.min(*name));
    while let Some(worst) = (0..columns.len()).max_by_key(|index| columns[*index].0.goes) {
        let (column, wide) = columns[worst];
        let title = if column.goes > 1 { TITLE } else { LEAST_TITLE };
        let excess = style
            .width
            .map_or(0, |room| (used(&columns) + title).saturating_sub(room));
        if excess == 0 || column.goes == 0 {
            break;
        }
        if column.shrinks && wide >= LEAST + excess {
            columns[worst].1 -= excess;
        } else {
            columns.remove(worst);
        }
    }
    let room = style
        .width
        .map_or(usize::MAX, |room| room.saturating_sub(used(&columns)));
    let mut heads = String::new();
    for (column, width) in &columns {
        column.fill(column.head, *width, &mut heads);
        heads += GAP;
    }
    let mut cell = String::new();
    let rows = sessions.iter().map(row).map(move |row| {
        let mut line = String::with_capacity(160);
        for (column, width) in &columns {
            cell.clear();
            column.fill(
                &column.shown((column.cell)(&row), gate, *width),
                *width,
                &mut cell,
            );
            line += &style.paint(tone(column, &row), &cell);
            line += GAP;
        }
        let (first, title) = title(&row);
        let mut first = gate.line(first).into_owned();
        if !first.is_empty() {
            first.push(' ');
        }
        let first = cut(&first, room);
        line += &first;
        let left = room.saturating_sub(width(&first));
        line += &style.paint(Tone::Strong, &cut(&gate.line(title), left));
        line.truncate(line.trim_end().len());
        line
    });
    std::iter::once(
        style
            .paint(Tone::Faint, &format!("{heads}TITLE"))
            .into_owned(),
    )
    .chain(rows)
}

/// What another put there is marked as that, whatever it says of itself.
fn state_name(row: &Row) -> &'static str {
    if row.listed.trust.is_own() {
        row.state.kind.name()
    } else {
        "foreign"
    }
}

impl Column {
    /// As much of a text as there is room for.
    fn shown<'l>(&self, text: Cow<'l, str>, gate: Gate, room: usize) -> Cow<'l, str> {
        let room = room.min(self.most);
        let text = gate.line(text);
        if width(&text) <= room {
            return text;
        }
        if !self.shrinks {
            return cut(&text, room).into_owned().into();
        }
        // The end of a path says more than its beginning.
        let starts = text.char_indices().rev().map(|(at, _)| at);
        let from = starts
            .take_while(|at| width(substr(&text, *at..)) < room)
            .last()
            .unwrap_or(text.len());
        format!("…{}", substr(&text, from..)).into()
    }

    /// Adds a text with blanks around it.
    fn fill(&self, text: &str, room: usize, out: &mut String) {
        const BLANKS: &str = "                                        ";
        let blanks = substr(BLANKS, ..room.saturating_sub(width(text)).min(BLANKS.len()));
        let [first, then] = if self.right {
            [blanks, text]
        } else {
            [text, blanks]
        };
        out.push_str(first);
        out.push_str(then);
    }
}

/// An id tells a person nothing: the title is what stands out.
fn tone(column: &Column, row: &Row) -> Tone {
    match column.head {
        "NAME" if row.listed.session.name.is_none() => Tone::Faint,
        "NAME" => Tone::Strong,
        "STATE" => state::tone(row.state.kind),
        _ => Tone::Plain,
    }
}

/// What the user should know first, and the title.
fn title<'l>(
    Row {
        listed, state, now, ..
    }: &Row<'l>,
) -> (String, &'l str) {
    let title = listed.tally.title().unwrap_or_default();
    let reason = state
        .concerns_user()
        .then(|| reason(state, Some(*now)))
        .flatten();
    let mut first = reason.map_or_else(String::new, |reason| format!("{reason} ·"));
    let tags = (!listed.tags.is_empty()).then(|| format!("[{}]", listed.tags.join(", ")));
    let origin = listed
        .continues
        .as_ref()
        .map(|origin| format!("← {origin}"));
    for part in tags.into_iter().chain(origin) {
        let blank = if first.is_empty() { "" } else { " " };
        first += &format!("{blank}{part}");
    }
    (first, title)
}

/// A title, after the session that this one continues.
pub fn with_origin<'t>(listed: &Listed, title: &'t str) -> Cow<'t, str> {
    match &listed.continues {
        Some(origin) => format!("← {origin} {title}").trim_end().to_owned().into(),
        None => title.into(),
    }
}

fn tokens(listed: &Listed) -> Cow<'static, str> {
    match listed.tally.input.saturating_add(listed.tally.output) {
        0 => "-".into(),
        count => amount(count).into(),
    }
}
