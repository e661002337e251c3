//! The list of sessions as a table fitted to the terminal.

use std::borrow::Cow;
use std::path::Path;

use crate::catalog::{Listed, State};
use crate::env::Env;
use crate::render::figures::amount;
use crate::render::terminal::{Look, Tone, cut, flat, pad, pad_left, width};
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
    Column { head: "NAME", most: 40, cell: |listed, _, _| flat(listed.handle()), ..COLUMN },
    Column { head: "AGENT", goes: 3, cell: |listed, _, _| flat(listed.session.format.label()), ..COLUMN },
    Column { head: "STATE", goes: 1, cell: |listed, _, now| listed.state(now).name().into(), ..COLUMN },
    Column { head: "AGE", right: true, cell: |listed, _, now| listed.age(now).into(), ..COLUMN },
    Column {
        head: "MSGS",
        right: true,
        goes: 5,
        cell: |listed, _, _| listed.tally.messages.to_string().into(),
        ..COLUMN
    },
    Column { head: "TOKENS", right: true, goes: 6, cell: |listed, _, _| tokens(listed).into(), ..COLUMN },
    Column { head: "WHERE", most: 40, goes: 4, shrinks: true, cell: |listed, env, _| place(listed, env), ..COLUMN },
];
const COLUMN: Column =
    Column { head: "", right: false, most: 12, goes: 0, shrinks: false, cell: |_, _, _| Cow::Borrowed("") };

const GAP: &str = "  ";
/// Room for a title before a column goes; before the last one goes, less will do.
const TITLE: usize = 24;
const LEAST_TITLE: usize = 16;
/// How narrow a column may become.
const LEAST: usize = 12;

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
    while let Some(worst) = (0..columns.len()).max_by_key(|index| columns[*index].0.goes) {
        let (column, wide) = columns[worst];
        let title = if column.goes > 1 { TITLE } else { LEAST_TITLE };
        let excess = look.width.map_or(0, |room| (used(&columns) + title).saturating_sub(room));
        if excess == 0 || column.goes == 0 {
            break;
        }
        if column.shrinks && wide >= LEAST + excess {
            columns[worst].1 -= excess;
        } else {
            columns.remove(worst);
        }
    }
    let room = look.width.map_or(usize::MAX, |room| room.saturating_sub(used(&columns)));
    let heads: String = columns.iter().map(|(column, width)| column.fill(column.head, *width) + GAP).collect();
    let rows = sessions.iter().map(move |listed| {
        let state = listed.state(now);
        let mut line = String::with_capacity(128);
        for (column, width) in &columns {
            line += &look.paint(tone(column, state), &column.fill(&column.text(listed, env, now, *width), *width));
            line += GAP;
        }
        line += &cut(&title(listed), room);
        line.truncate(line.trim_end().len());
        line
    });
    std::iter::once(look.paint(Tone::Faint, &format!("{heads}TITLE")).into_owned()).chain(rows)
}

impl Column {
    fn text<'a>(&self, listed: &'a Listed, env: &Env, now: Time, room: usize) -> Cow<'a, str> {
        let text = (self.cell)(listed, env, now);
        match width(&text) <= room {
            true => text,
            // The end of a path says more than its beginning.
            false if self.shrinks => {
                let end: String = text.chars().rev().take(room.saturating_sub(1)).collect();
                format!("…{}", end.chars().rev().collect::<String>()).into()
            }
            false => cut(&text, room).into_owned().into(),
        }
    }

    fn width(&self, sessions: &[Listed], env: &Env, now: Time) -> usize {
        let widest = sessions.iter().map(|listed| width(&self.text(listed, env, now, self.most))).max();
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

/// The title, after the tags that the user gave it.
fn title<'a>(listed: &'a Listed) -> Cow<'a, str> {
    let title = flat(listed.tally.title().unwrap_or_default());
    if listed.tags.is_empty() { title } else { format!("[{}] {title}", flat(&listed.tags.join(", "))).into() }
}

fn tokens(listed: &Listed) -> String {
    match listed.tally.input.saturating_add(listed.tally.output) {
        0 => "-".into(),
        count => amount(count),
    }
}

fn place<'a>(listed: &'a Listed, env: &Env) -> Cow<'a, str> {
    flat(&env.tilde(Path::new(listed.tally.cwd().unwrap_or("?")))).into_owned().into()
}
