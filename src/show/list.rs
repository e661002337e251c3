//! The list of sessions as a table fitted to the terminal.
//!
//! Columns go when there is no room, the least important first, and the title gets what is left. Which sessions are listed,
//! and in which order, is up to `cmd/list.rs`.

use std::borrow::Cow;
use std::path::Path;

use crate::env::Env;
use crate::session::StateKind;
use crate::session::index::Listed;
use crate::show::figures::amount;
use crate::show::gate::Gate;
use crate::show::state::reason;
use crate::show::terminal::{Style, Tone, cut, width};
use crate::time::Time;

/// One column: what it says, and how early it goes when the terminal is narrow (the highest first, 0 never). One that
/// `shrinks` becomes narrower before it goes.
struct Column {
    head: &'static str,
    right: bool,
    most: usize,
    goes: u8,
    shrinks: bool,
    cell: fn(&Listed, &Env, Time, &mut String),
}

const COLUMNS: [Column; 7] = [
    Column { head: "NAME", most: 40, cell: |listed, _, _, out| out.push_str(listed.handle()), ..COLUMN },
    Column { head: "AGENT", goes: 3, cell: |listed, _, _, out| out.push_str(listed.session.format.label()), ..COLUMN },
    Column {
        head: "STATE",
        goes: 1,
        cell: |listed, _, now, out| out.push_str(listed.state(now).kind.name()),
        ..COLUMN
    },
    Column { head: "AGE", right: true, cell: |listed, _, now, out| out.push_str(&listed.age(now)), ..COLUMN },
    Column {
        head: "MSGS",
        right: true,
        goes: 5,
        cell: |row, _, _, out| *out += &row.tally.messages.to_string(),
        ..COLUMN
    },
    Column { head: "TOKENS", right: true, goes: 6, cell: |listed, _, _, out| *out += &tokens(listed), ..COLUMN },
    Column {
        head: "WHERE",
        most: 40,
        goes: 4,
        shrinks: true,
        cell: |listed, env, _, out| *out += &env.tilde(Path::new(listed.tally.cwd().unwrap_or("?"))),
        ..COLUMN
    },
];
const COLUMN: Column = Column { head: "", right: false, most: 12, goes: 0, shrinks: false, cell: |_, _, _, _| () };

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
    let columns: Vec<&Column> = columns.collect();
    let cells = Cells::of(sessions, &columns, env, now, gate);
    let mut columns: Vec<(usize, &Column, usize)> = (columns.into_iter().enumerate())
        .map(|(index, column)| (index, column, cells.widths[index].max(column.head.len())))
        .collect();
    let used =
        |columns: &[(usize, &Column, usize)]| columns.iter().map(|(_, _, width)| width + GAP.len()).sum::<usize>();
    let excess = style.width.map_or(0, |room| (used(&columns) + TITLE).saturating_sub(room));
    let name = &mut columns[0].2;
    *name = name.saturating_sub(excess).max(NAME.min(*name));
    while let Some(worst) = (0..columns.len()).max_by_key(|index| columns[*index].1.goes) {
        let (_, column, wide) = columns[worst];
        let title = if column.goes > 1 { TITLE } else { LEAST_TITLE };
        let excess = style.width.map_or(0, |room| (used(&columns) + title).saturating_sub(room));
        if excess == 0 || column.goes == 0 {
            break;
        }
        if column.shrinks && wide >= LEAST + excess {
            columns[worst].2 -= excess;
        } else {
            columns.remove(worst);
        }
    }
    let room = style.width.map_or(usize::MAX, |room| room.saturating_sub(used(&columns)));
    let mut heads = String::new();
    for (_, column, width) in &columns {
        column.fill(column.head, *width, &mut heads);
        heads += GAP;
    }
    let mut cell = String::new();
    let mut start = 0;
    let rows = sessions.iter().enumerate().map(move |(row, listed)| {
        let state = listed.state(now).kind;
        let mut line = String::with_capacity(160);
        let texts = cells.row(row, &mut start);
        for (index, column, width) in &columns {
            cell.clear();
            column.fill(&column.cut(texts[*index], *width), *width, &mut cell);
            line += &style.paint(tone(column, state), &cell);
            line += GAP;
        }
        line += &cut(&gate.line(title(listed, now)), room);
        line.truncate(line.trim_end().len());
        line
    });
    std::iter::once(style.paint(Tone::Faint, &format!("{heads}TITLE")).into_owned()).chain(rows)
}

/// The texts of all cells but the titles, row by row. They are in one piece, because there may be very many.
struct Cells {
    text: String,
    lengths: Vec<u16>,
    /// How wide each column is.
    widths: Vec<usize>,
}

impl Cells {
    fn of(sessions: &[Listed], columns: &[&Column], env: &Env, now: Time, gate: Gate) -> Cells {
        let mut cells =
            Cells { text: String::new(), lengths: Vec::with_capacity(sessions.len() * columns.len()), widths: vec![] };
        cells.widths.resize(columns.len(), 0);
        let mut text = String::new();
        for listed in sessions {
            for (column, widest) in columns.iter().zip(&mut cells.widths) {
                text.clear();
                (column.cell)(listed, env, now, &mut text);
                let shown = gate.line(&*text);
                let shown = column.cut(&shown, column.most);
                // Characters may be of no width, but nobody needs so many of them.
                let shown = &shown[..shown.floor_char_boundary(usize::from(u16::MAX))];
                *widest = width(shown).max(*widest);
                cells.lengths.push(shown.len() as u16);
                cells.text += shown;
            }
        }
        cells
    }

    /// The texts of a row, which begin at a place, and how far they go.
    fn row(&self, row: usize, start: &mut usize) -> Vec<&str> {
        let lengths = self.lengths.chunks(self.widths.len()).nth(row).unwrap_or_default();
        let text = |length: &u16| {
            let from = *start;
            *start += usize::from(*length);
            &self.text[from..*start]
        };
        lengths.iter().map(text).collect()
    }
}

impl Column {
    /// As much of a text as there is room for.
    fn cut<'t>(&self, text: &'t str, room: usize) -> Cow<'t, str> {
        match width(text) <= room {
            true => text.into(),
            // The end of a path says more than its beginning.
            false if self.shrinks => {
                let from =
                    text.char_indices().rev().take(room.saturating_sub(1)).last().map_or(text.len(), |(at, _)| at);
                format!("…{}", &text[from..]).into()
            }
            false => cut(text, room),
        }
    }

    /// Adds a text with blanks around it.
    fn fill(&self, text: &str, room: usize, out: &mut String) {
        const BLANKS: &str = "                                        ";
        let blanks = &BLANKS[..room.saturating_sub(width(text)).min(BLANKS.len())];
        let [first, then] = if self.right { [blanks, text] } else { [text, blanks] };
        out.push_str(first);
        out.push_str(then);
    }
}

fn tone(column: &Column, state: StateKind) -> Tone {
    match (column.head, state) {
        ("NAME", _) => Tone::Strong,
        ("STATE", StateKind::Error) => Tone::Alarm,
        ("STATE", StateKind::NeedsYou) => Tone::Call,
        ("STATE", StateKind::Working) => Tone::User,
        ("STATE", StateKind::Idle | StateKind::Done | StateKind::Gone) => Tone::Faint,
        _ => Tone::Plain,
    }
}

/// The title, after what the user should know first.
fn title<'a>(listed: &'a Listed, now: Time) -> Cow<'a, str> {
    let title = listed.tally.title().unwrap_or_default();
    let state = listed.state(now);
    let reason = state.is_urgent().then(|| reason(&state, Some(now))).flatten();
    match (reason, listed.tags.is_empty()) {
        (None, true) => title.into(),
        (None, false) => format!("[{}] {title}", listed.tags.join(", ")).into(),
        (Some(reason), true) => format!("{reason} · {title}").into(),
        (Some(reason), false) => format!("{reason} · [{}] {title}", listed.tags.join(", ")).into(),
    }
}

fn tokens(listed: &Listed) -> String {
    match listed.tally.input.saturating_add(listed.tally.output) {
        0 => "-".into(),
        count => amount(count),
    }
}
