//! The list of sessions as a table fitted to the terminal.

use crate::catalog::{Listed, State};
use crate::env::Env;
use crate::render::terminal::{Look, Tone, cut, flat, pad, width};
use crate::time::Time;

/// One column: what it says, and how early it goes when the terminal is narrow (the highest first, 0 never).
struct Column {
    head: &'static str,
    right: bool,
    most: usize,
    goes: u8,
    cell: fn(&Listed, &Env, Time) -> String,
}

const COLUMNS: [Column; 7] = [
    Column { head: "NAME", right: false, most: 24, goes: 0, cell: |listed, _, _| flat(listed.handle()) },
    Column { head: "AGENT", right: false, most: 12, goes: 3, cell: |listed, _, _| flat(&listed.session.format.name) },
    Column { head: "STATE", right: false, most: 8, goes: 1, cell: |listed, _, now| listed.state(now).name().into() },
    Column { head: "AGE", right: true, most: 8, goes: 0, cell: |listed, _, now| age(listed, now) },
    Column { head: "MSGS", right: true, most: 6, goes: 4, cell: |listed, _, _| listed.tally.messages.to_string() },
    Column { head: "TOKENS", right: true, most: 7, goes: 5, cell: |listed, _, _| tokens(listed) },
    Column { head: "WHERE", right: false, most: 24, goes: 6, cell: place },
];

const GAP: &str = "  ";
const TITLE: usize = 24;

/// The rows, headings first. `anywhere`: sessions of several projects, so each says where it is.
pub fn table(sessions: &[Listed], env: &Env, look: Look, anywhere: bool) -> Vec<String> {
    let now = env.now();
    let mut columns: Vec<&Column> = COLUMNS.iter().filter(|column| anywhere || column.head != "WHERE").collect();
    let cells = |columns: &[&Column]| -> Vec<Vec<String>> {
        sessions.iter().map(|listed| columns.iter().map(|column| cut(&(column.cell)(listed, env, now), column.most).into_owned()).collect()).collect()
    };
    let mut rows = cells(&columns);
    let mut widths = widths(&columns, &rows);
    while let Some(room) = look.width.filter(|room| used(&widths) + TITLE > *room) {
        let Some(worst) = columns.iter().map(|column| column.goes).max().filter(|goes| *goes > 0) else { break };
        let _ = room;
        columns.retain(|column| column.goes != worst);
        rows = cells(&columns);
        widths = self::widths(&columns, &rows);
    }
    let room = look.width.map_or(usize::MAX, |room| room.saturating_sub(used(&widths)).max(8));
    let heads: Vec<_> = columns.iter().map(|column| column.head.to_owned()).collect();
    let mut lines = vec![look.paint(Tone::Faint, &format!("{}TITLE", row(&columns, &widths, &heads, |_, text| text)))];
    for (listed, cells) in sessions.iter().zip(&rows) {
        let state = listed.state(now);
        let start = row(&columns, &widths, cells, |column, text| look.paint(tone(column, state), &text));
        let title = flat(listed.tally.title().unwrap_or_default());
        lines.push(format!("{start}{}", cut(&title, room)).trim_end().to_owned());
    }
    lines
}

fn tone(column: &Column, state: State) -> Tone {
    match (column.head, state) {
        ("NAME", _) => Tone::Strong,
        ("STATE", State::Error) => Tone::Alarm,
        ("STATE", State::Working | State::Waiting) => Tone::User,
        _ => Tone::Plain,
    }
}

fn widths(columns: &[&Column], rows: &[Vec<String>]) -> Vec<usize> {
    let widest = |index: usize| rows.iter().map(|row| width(&row[index])).max().unwrap_or(0);
    columns.iter().enumerate().map(|(index, column)| widest(index).max(column.head.len())).collect()
}

fn used(widths: &[usize]) -> usize {
    widths.iter().map(|width| width + GAP.len()).sum()
}

fn row(columns: &[&Column], widths: &[usize], cells: &[String], paint: impl Fn(&Column, String) -> String) -> String {
    let mut line = String::new();
    for ((column, room), cell) in columns.iter().zip(widths).zip(cells) {
        let blank = " ".repeat(room.saturating_sub(width(cell)));
        let text = if column.right { format!("{blank}{cell}") } else { pad(cell, *room) };
        line += &paint(column, text);
        line += GAP;
    }
    line
}

fn age(listed: &Listed, now: Time) -> String {
    listed.tally.updated.map_or("?".into(), |updated| updated.age(now).replace("just now", "now"))
}

/// `850`, `12k`, `3.4M`
fn tokens(listed: &Listed) -> String {
    match listed.tally.input + listed.tally.output {
        0 => "-".into(),
        count @ 1..1_000 => count.to_string(),
        count @ 1_000..1_000_000 => format!("{}k", count / 1_000),
        count => format!("{:.1}M", count as f64 / 1e6),
    }
}

fn place(listed: &Listed, env: &Env, _: Time) -> String {
    let cwd = listed.tally.last_cwd.as_deref().unwrap_or("?");
    let place = flat(&env.tilde(std::path::Path::new(cwd)));
    // The end of a path says more than its beginning.
    let count = place.chars().count();
    if count <= 24 { place } else { format!("…{}", place.chars().skip(count - 23).collect::<String>()) }
}
