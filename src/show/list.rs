//! The list of sessions as a table fitted to the terminal.
//!
//! Columns go when there is no room, the least important first, and the title gets what is left. Which sessions are listed,
//! and in which order, is up to `cmd/list.rs`.

use std::borrow::Cow;
use std::path::Path;

use crate::env::Env;
use crate::session::State;
use crate::session::index::Listed;
use crate::show::figures::amount;
use crate::show::gate::Gate;
use crate::show::terminal::{Style, Tone, cut, pad, pad_left, width};
use crate::time::Time;

/// One column: what it says, and how early it goes when the terminal is narrow (the highest first, 0 never). One that
/// `shrinks` becomes narrower before it goes.
struct Column {
    head: &'static str,
    right: bool,
    most: usize,
    goes: u8,
    shrinks: bool,
    cell: for<'a> fn(&'a Listed, &Env, Time) -> Cow<'a, str>,
}

const COLUMNS: [Column; 7] = [
    Column { head: "NAME", most: 40, cell: |listed, _, _| listed.handle().into(), ..COLUMN },
    Column { head: "AGENT", goes: 3, cell: |listed, _, _| listed.session.format.label().into(), ..COLUMN },
    Column { head: "STATE", goes: 1, cell: |listed, _, now| listed.state(now).name().into(), ..COLUMN },
    Column { head: "AGE", right: true, cell: |listed, _, now| listed.age(now).into(), ..COLUMN },
    Column { head: "MSGS", right: true, goes: 5, cell: |row, _, _| row.tally.messages.to_string().into(), ..COLUMN },
    Column { head: "TOKENS", right: true, goes: 6, cell: |listed, _, _| tokens(listed).into(), ..COLUMN },
    Column {
        head: "WHERE",
        most: 40,
        goes: 4,
        shrinks: true,
        cell: |listed, env, _| env.tilde(Path::new(listed.tally.cwd().unwrap_or("?"))).into(),
        ..COLUMN
    },
];
const COLUMN: Column =
    Column { head: "", right: false, most: 12, goes: 0, shrinks: false, cell: |_, _, _| Cow::Borrowed("") };

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
    let columns = COLUMNS.iter().filter(|column| anywhere || column.head != "WHERE");
    let mut columns: Vec<(&Column, usize)> =
        columns.map(|column| (column, column.width(sessions, env, gate))).collect();
    let used = |columns: &[(&Column, usize)]| columns.iter().map(|(_, width)| width + GAP.len()).sum::<usize>();
    let excess = style.width.map_or(0, |room| (used(&columns) + TITLE).saturating_sub(room));
    let name = &mut columns[0].1;
    *name = name.saturating_sub(excess).max(NAME.min(*name));
    while let Some(worst) = (0..columns.len()).max_by_key(|index| columns[*index].0.goes) {
        let (column, wide) = columns[worst];
        let title = if column.goes > 1 { TITLE } else { LEAST_TITLE };
        let excess = style.width.map_or(0, |room| (used(&columns) + title).saturating_sub(room));
        if excess == 0 || column.goes == 0 {
            break;
        }
        if column.shrinks && wide >= LEAST + excess {
            columns[worst].1 -= excess;
        } else {
            columns.remove(worst);
        }
    }
    let room = style.width.map_or(usize::MAX, |room| room.saturating_sub(used(&columns)));
    let heads: String = columns.iter().map(|(column, width)| column.fill(column.head, *width) + GAP).collect();
    let rows = sessions.iter().map(move |listed| {
        let state = listed.state(now);
        let mut line = String::with_capacity(128);
        for (column, width) in &columns {
            line += &style.paint(tone(column, state), &column.fill(&column.text(listed, env, gate, *width), *width));
            line += GAP;
        }
        line += &cut(&gate.line(title(listed)), room);
        line.truncate(line.trim_end().len());
        line
    });
    std::iter::once(style.paint(Tone::Faint, &format!("{heads}TITLE")).into_owned()).chain(rows)
}

impl Column {
    fn text<'a>(&self, listed: &'a Listed, env: &Env, gate: Gate, room: usize) -> Cow<'a, str> {
        let text = gate.line((self.cell)(listed, env, env.now()));
        match width(&text) <= room {
            true => text,
            // The end of a path says more than its beginning.
            false if self.shrinks => {
                let from =
                    text.char_indices().rev().take(room.saturating_sub(1)).last().map_or(text.len(), |(at, _)| at);
                format!("…{}", &text[from..]).into()
            }
            false => cut(&text, room).into_owned().into(),
        }
    }

    fn width(&self, sessions: &[Listed], env: &Env, gate: Gate) -> usize {
        let widest = sessions.iter().map(|listed| width(&self.text(listed, env, gate, self.most))).max();
        widest.unwrap_or(0).max(self.head.len())
    }

    fn fill(&self, text: &str, width: usize) -> String {
        if self.right { pad_left(text, width) } else { pad(text, width) }
    }
}

fn tone(column: &Column, state: State) -> Tone {
    match (column.head, state) {
        ("NAME", _) => Tone::Strong,
        ("STATE", State::Error) => Tone::Alarm,
        ("STATE", State::Waiting) => Tone::Call,
        ("STATE", State::Working) => Tone::User,
        ("STATE", State::Idle | State::Done) => Tone::Faint,
        _ => Tone::Plain,
    }
}

fn title<'a>(listed: &'a Listed) -> Cow<'a, str> {
    let title = listed.tally.title().unwrap_or_default();
    if listed.tags.is_empty() { title.into() } else { format!("[{}] {title}", listed.tags.join(", ")).into() }
}

fn tokens(listed: &Listed) -> String {
    match listed.tally.input.saturating_add(listed.tally.output) {
        0 => "-".into(),
        count => amount(count),
    }
}
