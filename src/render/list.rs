//! The list of sessions as a table fitted to the terminal.

use std::borrow::Cow;

use crate::catalog::{Listed, State};
use crate::env::Env;
use crate::render::terminal::{Look, Tone, cut, flat, pad, pad_left, width};
use crate::time::Time;

/// One column: what it says, and how early it goes when the terminal is narrow (the highest first, 0 never).
struct Column {
    head: &'static str,
    right: bool,
    most: usize,
    goes: u8,
    cell: for<'a> fn(&'a Listed, &Env, Time) -> Cow<'a, str>,
}

const COLUMNS: [Column; 7] = [
    Column { head: "NAME", right: false, most: 40, goes: 0, cell: |listed, _, _| flat(listed.handle()) },
    Column { head: "AGENT", right: false, most: 12, goes: 3, cell: |listed, _, _| flat(&listed.session.format.name) },
    Column { head: "STATE", right: false, most: 8, goes: 1, cell: |listed, _, now| listed.state(now).name().into() },
    Column { head: "AGE", right: true, most: 8, goes: 0, cell: |listed, _, now| age(listed, now).into() },
    Column {
        head: "MSGS",
        right: true,
        most: 6,
        goes: 4,
        cell: |listed, _, _| listed.tally.messages.to_string().into(),
    },
    Column { head: "TOKENS", right: true, most: 7, goes: 5, cell: |listed, _, _| tokens(listed).into() },
    Column { head: "WHERE", right: false, most: 40, goes: 6, cell: |listed, env, _| place(listed, env).into() },
];

const GAP: &str = "  ";
/// Room for a title before a column goes; before the last one goes, less will do.
const TITLE: usize = 24;
const LEAST_TITLE: usize = 16;

/// The rows, headings first. `anywhere`: sessions of several projects, so each says where it is.
pub fn table<'t>(
    sessions: &'t [Listed],
    env: &'t Env,
    look: Look,
    anywhere: bool,
) -> impl Iterator<Item = String> + 't {
    let now = env.now();
    let columns = COLUMNS.iter().filter(|column| anywhere || column.head != "WHERE");
    let mut columns: Vec<(&Column, usize)> = columns.map(|column| (column, column.width(sessions, env, now))).collect();
    let used = |columns: &[(&Column, usize)]| columns.iter().map(|(_, width)| width + GAP.len()).sum::<usize>();
    while let Some(worst) = columns.iter().map(|(column, _)| column.goes).max().filter(|goes| *goes > 0) {
        let title = if worst > 1 { TITLE } else { LEAST_TITLE };
        if look.width.is_none_or(|room| used(&columns) + title <= room) {
            break;
        }
        columns.retain(|(column, _)| column.goes != worst);
    }
    let room = look.width.map_or(usize::MAX, |room| room.saturating_sub(used(&columns)));
    let heads: String = columns.iter().map(|(column, width)| column.fill(column.head, *width) + GAP).collect();
    let rows = sessions.iter().map(move |listed| {
        let state = listed.state(now);
        let mut line = String::with_capacity(128);
        for (column, width) in &columns {
            line += &look.paint(tone(column, state), &column.fill(&column.text(listed, env, now), *width));
            line += GAP;
        }
        line += &cut(&title(listed), room);
        line.truncate(line.trim_end().len());
        line
    });
    std::iter::once(look.paint(Tone::Faint, &format!("{heads}TITLE")).into_owned()).chain(rows)
}

impl Column {
    fn text<'a>(&self, listed: &'a Listed, env: &Env, now: Time) -> Cow<'a, str> {
        let text = (self.cell)(listed, env, now);
        if width(&text) <= self.most { text } else { Cow::Owned(cut(&text, self.most).into_owned()) }
    }

    fn width(&self, sessions: &[Listed], env: &Env, now: Time) -> usize {
        let widest = sessions.iter().map(|listed| width(&self.text(listed, env, now))).max();
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
        ("STATE", State::Working | State::Waiting) => Tone::User,
        _ => Tone::Plain,
    }
}

/// The title, after the tags that the user gave it.
fn title<'a>(listed: &'a Listed) -> Cow<'a, str> {
    let title = flat(listed.tally.title().unwrap_or_default());
    if listed.tags.is_empty() { title } else { format!("[{}] {title}", flat(&listed.tags.join(", "))).into() }
}

fn age(listed: &Listed, now: Time) -> String {
    listed.tally.updated.map_or("?".into(), |updated| updated.age(now).replace("just now", "now"))
}

/// `850`, `12k`, `3.4M`
fn tokens(listed: &Listed) -> String {
    match listed.tally.input.saturating_add(listed.tally.output) {
        0 => "-".into(),
        count @ 1..1_000 => count.to_string(),
        count @ 1_000..1_000_000 => format!("{}k", count / 1_000),
        count => format!("{}.{}M", count / 1_000_000, count / 100_000 % 10),
    }
}

fn place(listed: &Listed, env: &Env) -> String {
    let place = env.tilde(std::path::Path::new(listed.tally.cwd().unwrap_or("?")));
    let place = flat(&place).into_owned();
    // The end of a path says more than its beginning.
    let count = place.chars().count();
    if count <= 40 { place } else { format!("…{}", place.chars().skip(count - 39).collect::<String>()) }
}
