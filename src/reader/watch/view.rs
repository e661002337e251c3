//! Draws the [`Screen`] of `session-reader watch` into a buffer, which is a terminal's or a page of text.
//!
//! Everything it is given has been through the gate. Only the sixteen colours of the terminal are used, and never a
//! background, so that it can be read on light and dark ones. What is on the screen is up to `model.rs`.

use std::path::PathBuf;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style as CellStyle};

use session_core::search::typed::Typed;
use session_core::session::index::Listed;
use session_core::session::place::AgentPlace;
use session_core::session::state::{Group, Reason};
use session_core::session::{State, StateKind};
use session_core::show::call::CallLine;
use session_core::show::gate::of_known_width;
use session_core::show::log::Piece;
use session_core::show::state::{self, counted, reason};
use session_core::show::terminal::{Style, Tone, cut, pad, pad_left, width};
use session_format::boundary::substr;
use session_format::time::{DAY, Time};

/// A session, with all of its texts ready to be shown.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchRow {
    pub path: PathBuf,
    pub id: String,
    /// The word to type to get at it, and its name.
    pub handle: String,
    pub name: String,
    /// The format of its transcript, and what its agent is called.
    pub format: String,
    pub agent: String,
    pub project: String,
    /// The directory it is in, as it is and as it is shown.
    pub cwd: Option<PathBuf>,
    pub place: String,
    pub kind: StateKind,
    pub group: Group,
    pub section: Section,
    pub since: Option<Time>,
    pub started: Option<Time>,
    /// The time it has been in its state.
    pub time: String,
    /// The reason for its state, or the line that a search found.
    pub about: String,
    pub title: String,
    pub tags: String,
    /// The user marked it as done, whatever it is at.
    pub done: bool,
    /// It belongs to the project that this runs in.
    pub here: bool,
    /// An agent has it open.
    pub is_open: bool,
    /// Where that agent runs, if it is known.
    pub runs_in: Option<AgentPlace>,
    /// How full the model's context is, in per cent.
    pub context_used: Option<u8>,
    /// What it waits for, whole.
    pub waits_for: Vec<CallLine>,
    /// Another session edited the same file lately.
    pub conflicts: bool,
    /// The line of the transcript that a search found.
    pub at: Option<u64>,
    /// That transcript is one of its subagent's.
    pub is_subagent: bool,
}

/// A part of the list with a heading of its own. Those that want something of the user come first, then those at work; of
/// all others the newest, whatever their state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    NeedsYou,
    Failed,
    Working,
    Recent,
    Earlier,
}

impl Section {
    pub const ALL: [Section; 5] = [
        Section::NeedsYou,
        Section::Failed,
        Section::Working,
        Section::Recent,
        Section::Earlier,
    ];

    pub fn of(group: Group, since: Option<Time>, now: Time) -> Section {
        match group {
            Group::NeedsYou => Section::NeedsYou,
            Group::Failed => Section::Failed,
            Group::Working => Section::Working,
            Group::Waiting | Group::Inactive => {
                if since.is_some_and(|since| now.0 - since.0 <= DAY) {
                    Section::Recent
                } else {
                    Section::Earlier
                }
            }
        }
    }

    fn heading(self) -> (Tone, &'static str) {
        match self {
            Section::NeedsYou => (tone(Group::NeedsYou), "Needs you"),
            Section::Failed => (tone(Group::Failed), "Failed"),
            Section::Working => (tone(Group::Working), "Working"),
            Section::Recent => (Tone::Strong, "Recent"),
            Section::Earlier => (Tone::Faint, "Earlier"),
        }
    }

    /// Its sessions are in several states, so each row says in which.
    pub fn is_mixed(self) -> bool {
        self >= Section::Recent
    }
}

/// The reason for the state of a session, as far as its line does not say so by the word for the state and the time.
pub fn about(state: &State, updated: Option<Time>, now: Time) -> String {
    if let Some(silent) = state::silent(state, updated, now) {
        return silent;
    }
    match state.reason {
        Some(Reason::Answered | Reason::Ended(None, _)) => String::new(),
        // When a limit ends is nowhere else; how long ago the rest was is in its own column.
        Some(Reason::Trouble { .. }) => reason(state, Some(now)).unwrap_or_default(),
        _ => reason(state, None).unwrap_or_default(),
    }
}

/// The user's tags of a session. That it is done is said here where its state does not say so.
pub fn tags(listed: &Listed, kind: StateKind) -> String {
    let done = (listed.done && kind != StateKind::Done).then_some("done");
    done.into_iter()
        .chain(listed.tags.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The time a session has been in its state.
pub fn time_in(state: &State, now: Time) -> String {
    state
        .since
        .map(|since| since.short_age(now))
        .unwrap_or_default()
}

fn tone(group: Group) -> Tone {
    match group {
        Group::NeedsYou => Tone::Call,
        Group::Failed => Tone::Alarm,
        Group::Working => Tone::User,
        Group::Waiting => Tone::Strong,
        Group::Inactive => Tone::Faint,
    }
}

/// A line of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    Heading(Section, usize),
    /// The session with this number.
    Row(usize),
    /// What was said in the session with this number.
    Said(usize),
    /// So many more are not printed.
    More(usize),
    /// Between two sections.
    Gap,
}

/// The last line of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bottom<'s> {
    Keys(&'s [(&'s str, &'s str)]),
    Message(&'s str),
    Prompt { label: &'s str, text: &'s str },
}

/// What the user types to find a session.
pub struct FinderLine<'s> {
    pub text: &'s str,
    pub typed: &'s Typed,
    pub note: &'s str,
    pub scope: &'s str,
}

pub struct LogPane<'s> {
    pub title: String,
    /// The text at the right of the title.
    pub note: String,
    pub lines: &'s [Vec<Piece>],
    /// The number of lines below those that are shown.
    pub below: usize,
    /// The line that the user has found.
    pub found: Option<usize>,
}

pub struct Screen<'s> {
    pub layout: Layout,
    pub counts: [usize; Group::ALL.len()],
    /// Files that several sessions edited lately, with their names.
    pub conflicts: Vec<&'s str>,
    /// The scope of the list: `~/shop`, `all projects`.
    pub scope: &'s str,
    pub filter: &'s str,
    /// Instead of the counts and conflicts.
    pub finder: Option<FinderLine<'s>>,
    pub rows: &'s [WatchRow],
    pub items: &'s [Item],
    /// The number of the item that is selected, and of the first one that is shown.
    pub selected: Option<usize>,
    pub top: usize,
    /// Said if there are no items.
    pub nothing: &'s str,
    /// The command that shows the older ones that are not printed.
    pub older: &'s str,
    pub shows_projects: bool,
    pub log: Option<LogPane<'s>>,
    pub bottom: Bottom<'s>,
    pub help: &'s [(&'s str, &'s str)],
}

/// The parts of the screen. Parts for which there is no room are empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Layout {
    pub header: Rect,
    pub list: Rect,
    /// The log, with its title in the first line.
    pub log: Rect,
    pub bottom: Rect,
}

impl Layout {
    /// From this width on, the log is beside the list. Below it, a title would have no room there.
    const WIDE: u16 = 160;
    /// The least height with a log below the list, and the least with a line of keys.
    const TALL: u16 = 14;
    const LEAST: u16 = 6;
    const NARROWEST_LOG: u16 = 40;
    const NARROWEST_LIST: u16 = 60;
    const WIDEST_LIST: u16 = 100;

    /// `only_log`: the log has the whole screen.
    pub fn of(width: u16, height: u16, only_log: bool) -> Layout {
        let frame = u16::from(height >= Layout::LEAST);
        let header = Rect::new(0, 0, width, frame);
        let bottom = Rect::new(0, height - frame, width, frame);
        let main = Rect::new(0, frame, width, height - 2 * frame);
        let (mut list, mut log) = (main, Rect::default());
        if only_log {
            (list, log) = (Rect::default(), main);
        } else if width >= Layout::WIDE && height >= Layout::LEAST {
            list.width = (width * 9 / 20).clamp(Layout::NARROWEST_LIST, Layout::WIDEST_LIST);
            log = Rect {
                x: list.width + 2,
                width: width - list.width - 2,
                ..main
            };
        } else if height >= Layout::TALL && width >= Layout::NARROWEST_LOG {
            list.height = main.height.div_ceil(2);
            log = Rect {
                y: list.bottom(),
                height: main.height - list.height,
                ..main
            };
        }
        Layout {
            header,
            list,
            log,
            bottom,
        }
    }

    /// A page of text: all items of the list, and some lines of the log.
    pub fn page(width: u16, items: usize, log: u16) -> Layout {
        let list = Rect::new(0, 1, width, items.clamp(1, 1000) as u16);
        let log = if log > 0 {
            Rect::new(0, list.bottom() + 1, width, log + 1)
        } else {
            Rect::default()
        };
        Layout {
            header: Rect::new(0, 0, width, 1),
            list,
            log,
            bottom: Rect::default(),
        }
    }

    fn area(&self) -> Rect {
        [self.header, self.list, self.log, self.bottom]
            .into_iter()
            .reduce(Rect::union)
            .unwrap_or_default()
    }

    /// The lines and columns of a log that there is room for.
    pub fn log_room(&self) -> (usize, usize) {
        (
            self.log.height.saturating_sub(1).into(),
            self.log.width.saturating_sub(1).into(),
        )
    }
}

/// The style of a cell. Bold and dim are no colours, so they stay where colours are not wanted.
fn cell_style(tone: Tone, colour: bool) -> CellStyle {
    let style = CellStyle::new();
    let style = match tone {
        Tone::Plain | Tone::User | Tone::Alarm => style,
        Tone::Faint => style.add_modifier(Modifier::DIM),
        Tone::Strong | Tone::Call => style.add_modifier(Modifier::BOLD),
    };
    match tone {
        Tone::User if colour => style.fg(Color::Cyan),
        Tone::Alarm if colour => style.fg(Color::Red),
        Tone::Call if colour => style.fg(Color::Yellow),
        _ => style,
    }
}

struct Brush<'b> {
    buffer: &'b mut Buffer,
    colour: bool,
}

impl Brush<'_> {
    /// Writes pieces from left to right, as far as there is room. Says where they end.
    fn put<'p>(&mut self, line: Rect, pieces: impl IntoIterator<Item = (Tone, &'p str)>) -> u16 {
        // The terminal may have become smaller a moment ago.
        let line = line.intersection(self.buffer.area);
        let mut x = line.x;
        if line.is_empty() {
            return x;
        }
        for (tone, text) in pieces {
            let room = usize::from(line.right().saturating_sub(x));
            let text = of_known_width(text);
            let shown = cut(&text, room);
            (x, _) =
                self.buffer
                    .set_stringn(x, line.y, &shown, room, cell_style(tone, self.colour));
        }
        x
    }

    fn put_right(&mut self, line: Rect, tone: Tone, text: &str) {
        let wide = (width(text) as u16).min(line.width);
        self.put(
            Rect {
                x: line.right() - wide,
                width: wide,
                ..line
            },
            [(tone, text)],
        );
    }
}

/// The rest of an area, from so many columns on.
fn indented(area: Rect, by: u16) -> Rect {
    Rect {
        x: area.x + by,
        width: area.width.saturating_sub(by),
        ..area
    }
}

fn line_of(area: Rect, index: usize) -> Rect {
    Rect {
        y: area.y + index as u16,
        height: 1,
        ..area
    }
}

pub fn draw(screen: &Screen, buffer: &mut Buffer, colour: bool) {
    let mut brush = Brush { buffer, colour };
    let Layout {
        header,
        list,
        log,
        bottom,
    } = screen.layout;
    match &screen.finder {
        _ if header.height == 0 => {}
        Some(finder) => draw_finder(finder, header, &mut brush),
        None => draw_header(screen, header, &mut brush),
    }
    match screen.help {
        [] => draw_list(screen, list, &mut brush),
        help => return draw_help(help, list.union(log), bottom, &mut brush),
    }
    if let Some(pane) = screen.log.as_ref().filter(|_| log.height > 0) {
        draw_log(pane, log, &mut brush);
    }
    if bottom.height > 0 {
        draw_bottom(&screen.bottom, bottom, &mut brush);
    }
}

/// One frame as lines of text.
pub fn page(screen: &Screen, style: Style) -> Vec<String> {
    let area = screen.layout.area();
    let mut buffer = Buffer::empty(area);
    draw(screen, &mut buffer, true);
    let tones = [
        Tone::Faint,
        Tone::Strong,
        Tone::User,
        Tone::Alarm,
        Tone::Call,
    ];
    let tone = |cell: CellStyle| {
        let is_it = |tone: &Tone| {
            let style = cell_style(*tone, true);
            style.add_modifier == cell.add_modifier
                && style.fg.unwrap_or(Color::Reset) == cell.fg.unwrap_or(Color::Reset)
        };
        tones.into_iter().find(is_it).unwrap_or(Tone::Plain)
    };
    let line = |y: u16| {
        let (mut line, mut piece, mut piece_tone) = (String::new(), String::new(), Tone::Plain);
        let mut x = 0;
        while x < area.width {
            let cell = &buffer[(x, y)];
            let own = tone(cell.style());
            // A blank looks the same in all tones.
            if own != piece_tone && cell.symbol() != " " {
                line += &style.paint(piece_tone, &std::mem::take(&mut piece));
                piece_tone = own;
            }
            piece += cell.symbol();
            x += (width(cell.symbol()) as u16).max(1);
        }
        piece.truncate(piece.trim_end().len());
        line + &style.paint(piece_tone, &piece)
    };
    (0..area.height)
        .map(line)
        .map(|line| line.trim_end().to_owned())
        .collect()
}

fn draw_header(screen: &Screen, area: Rect, brush: &mut Brush) {
    let scope = match screen.filter {
        "" => screen.scope.to_owned(),
        filter => format!("/{filter}  {}", screen.scope),
    };
    let scope = cut(&scope, usize::from(area.width / 2)).into_owned();
    brush.put_right(
        Rect {
            width: area.width.saturating_sub(1),
            ..area
        },
        Tone::Faint,
        &scope,
    );
    let left = Rect {
        width: area.width.saturating_sub(width(&scope) as u16 + 3),
        ..area
    };
    let mut pieces = vec![(Tone::Plain, " ".to_owned())];
    // Those in which nothing goes on count only where there are no others.
    let mut counts: Vec<_> = Group::ALL
        .into_iter()
        .zip(screen.counts)
        .filter(|(_, count)| *count > 0)
        .collect();
    if counts.len() > 1 {
        counts.retain(|(group, _)| group.is_active());
    }
    for (group, count) in counts {
        if pieces.len() > 1 {
            pieces.push((Tone::Faint, " · ".into()));
        }
        pieces.push((tone(group), counted(group, count)));
    }
    if pieces.len() == 1 {
        pieces.push((Tone::Faint, "no sessions".into()));
    }
    if let [first, rest @ ..] = &screen.conflicts[..] {
        let more = if rest.is_empty() {
            String::new()
        } else {
            format!(", +{} more", rest.len())
        };
        pieces.push((Tone::Alarm, format!("   ! {first}{more}")));
    }
    brush.put(left, pieces.iter().map(|(tone, text)| (*tone, &**text)));
}

/// The widths of the columns of the list.
struct Columns {
    name: usize,
    agent: usize,
    project: usize,
    time: usize,
    /// How full the context is.
    context: usize,
    state: usize,
}

impl Columns {
    /// As wide as their texts need, within limits. They are taken from all items, so that they stay while one scrolls.
    fn of(screen: &Screen, room: u16) -> Columns {
        let widest = |text: fn(&WatchRow) -> &str, least: usize, most: usize| {
            let all = screen.items.iter().filter_map(|item| match item {
                Item::Row(index) => screen.rows.get(*index),
                _ => None,
            });
            all.map(|row| width(text(row)))
                .max()
                .unwrap_or(0)
                .clamp(least, most)
        };
        Columns {
            name: widest(|row| &row.name, 8, if room < 90 { 16 } else { 24 }),
            agent: if room < 44 {
                0
            } else {
                widest(|row| &row.agent, 6, 8)
            },
            project: if room < 56 || !screen.shows_projects {
                0
            } else {
                widest(|row| &row.project, 4, 14)
            },
            time: widest(|row| &row.time, 3, 4),
            context: if room < WIDE_LIST || !screen.knows_context() {
                0
            } else {
                "100%".len()
            },
            state: if room < 44 {
                0
            } else {
                StateKind::Waiting.name().len()
            },
        }
    }
}

impl Screen<'_> {
    fn knows_context(&self) -> bool {
        self.rows.iter().any(|row| row.context_used.is_some())
    }
}

fn draw_list(screen: &Screen, area: Rect, brush: &mut Brush) {
    if screen.items.is_empty() && area.height > 0 {
        brush.put(indented(area, 2), [(Tone::Faint, screen.nothing)]);
    }
    let columns = Columns::of(screen, area.width);
    let shown = screen
        .items
        .iter()
        .enumerate()
        .skip(screen.top)
        .take(area.height.into());
    for (line, (index, item)) in shown.enumerate() {
        let line = line_of(area, line);
        match item {
            Item::Heading(section, count) => {
                let count = format!("  {count}");
                brush.put(
                    line,
                    [(Tone::Plain, " "), section.heading(), (Tone::Faint, &count)],
                );
            }
            Item::More(count) => {
                let text = format!("  {count} older: {}", screen.older);
                brush.put(line, [(Tone::Faint, &*text)]);
            }
            Item::Row(row) | Item::Said(row) if screen.finder.is_some() => {
                if let (Some(row), Some(finder)) = (screen.rows.get(*row), &screen.finder) {
                    // What was said belongs to the row before it.
                    let is_said = matches!(item, Item::Said(_));
                    let is_selected = screen.selected == Some(index - usize::from(is_said));
                    draw_found(row, finder.typed, is_said, is_selected, line, brush);
                }
            }
            Item::Said(_) | Item::Gap => {}
            Item::Row(row) => {
                if let Some(row) = screen.rows.get(*row) {
                    draw_row(row, &columns, screen.selected == Some(index), line, brush);
                }
            }
        }
    }
}

/// The least room for a title behind a reason, and what it keeps on a wide screen.
const LEAST_TITLE: u16 = 12;
const WIDE_LIST: u16 = 118;
/// In per cent: from here on a context is nearly full.
const NEARLY_FULL: u8 = 80;
const BETWEEN: &str = " · ";
const WIDE_TITLE: usize = 40;

fn draw_row(row: &WatchRow, columns: &Columns, is_selected: bool, line: Rect, brush: &mut Brush) {
    let is_idle = !row.group.is_active() && row.at.is_none();
    let (quiet, name) = if is_idle && !is_selected {
        (Tone::Faint, Tone::Faint)
    } else {
        (Tone::Plain, Tone::Strong)
    };
    // An id tells a person nothing, so the title is what stands out then.
    let (name, title) = match name {
        Tone::Strong if row.id.starts_with(&*row.name) => (Tone::Faint, Tone::Strong),
        name => (name, quiet),
    };
    let reason = match row.group {
        _ if row.at.is_some() => Tone::Plain,
        group if group.is_urgent() => tone(group),
        _ => quiet,
    };
    let cell = |text: &str, room: usize| {
        if room == 0 {
            String::new()
        } else {
            pad(&cut(text, room), room + 2)
        }
    };
    let state = if row.section.is_mixed() && row.at.is_none() {
        row.kind.name()
    } else {
        ""
    };
    let state_room = if state.is_empty() { 0 } else { columns.state };
    let used = row.context_used.map(|used| format!("{used:>3}%"));
    let used = used.unwrap_or_default();
    let context = if row.context_used >= Some(NEARLY_FULL) {
        Tone::Alarm
    } else {
        Tone::Faint
    };
    let tags = if row.tags.is_empty() {
        String::new()
    } else {
        format!("[{}] ", row.tags)
    };
    let x = brush.put(
        line,
        [
            (Tone::User, if is_selected { "▌" } else { " " }),
            (Tone::Alarm, if row.conflicts { "!" } else { " " }),
            (name, &cell(&row.name, columns.name)),
            (Tone::Faint, &cell(&row.agent, columns.agent)),
            (quiet, &cell(&row.project, columns.project)),
            (
                Tone::Faint,
                &format!(
                    "{}  ",
                    pad_left(&cut(&row.time, columns.time), columns.time)
                ),
            ),
            (context, &cell(&used, columns.context)),
            (state::tone(row.kind), &cell(state, state_room)),
            (Tone::User, &tags),
        ],
    );
    let rest = indented(line, x - line.x);
    if row.about.is_empty() {
        brush.put(rest, [(title, &*row.title)]);
        return;
    }
    let kept = match row.title.is_empty() || line.width < WIDE_LIST {
        true => 0,
        false => width(&row.title).min(WIDE_TITLE) + width(BETWEEN),
    };
    let about = cut(&row.about, usize::from(rest.width).saturating_sub(kept));
    let x = brush.put(rest, [(reason, &*about)]);
    // A title of a few letters says nothing.
    let rest = indented(line, x - line.x);
    if !row.title.is_empty() && rest.width >= LEAST_TITLE {
        brush.put(rest, [(Tone::Faint, BETWEEN), (title, &row.title)]);
    }
}

/// From this width on, a session that was found is shown with its name.
const WITH_NAME: u16 = 72;

/// The title of a session that was found, and where it is; or what was said in it.
fn draw_found(
    row: &WatchRow,
    typed: &Typed,
    is_said: bool,
    is_selected: bool,
    line: Rect,
    brush: &mut Brush,
) {
    let bar = (Tone::User, if is_selected { "▌" } else { " " });
    if is_said {
        let pieces = marked(&row.about, typed, Tone::Plain);
        brush.put(line, [bar, (Tone::Plain, "  ")].into_iter().chain(pieces));
        return;
    }
    let is_named = !row.title.is_empty() && row.title != row.name;
    // A title says more than where it is, and a name that is only a part of an id least.
    let name = if is_named && line.width >= WITH_NAME {
        &*row.name
    } else {
        ""
    };
    let place: Vec<&str> = [name, &row.agent, &row.project]
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect();
    let time = format!("  {} ", pad_left(&row.time, 3));
    let room = usize::from(line.width * 2 / 5).saturating_sub(width(&time) + 2);
    let place = format!("  {}{time}", cut(&place.join(" · "), room));
    let left = Rect {
        width: line.width.saturating_sub(width(&place) as u16),
        ..line
    };
    let title = if is_named { &row.title } else { &row.name };
    let room = usize::from(left.width).saturating_sub(1);
    let title = cut(title, room);
    let pieces = marked(&title, typed, Tone::Strong);
    brush.put(left, [bar].into_iter().chain(pieces));
    brush.put_right(line, Tone::Faint, &place);
}

/// A text in which the words that were typed stand out.
fn marked<'t>(text: &'t str, typed: &Typed, tone: Tone) -> Vec<(Tone, &'t str)> {
    let (mut pieces, mut at) = (Vec::new(), 0);
    for place in typed.places_in(text) {
        pieces.push((tone, substr(text, at..place.start)));
        at = place.end;
        pieces.push((Tone::Call, substr(text, place)));
    }
    pieces.push((tone, substr(text, at..)));
    pieces
}

fn draw_finder(finder: &FinderLine, area: Rect, brush: &mut Brush) {
    let note: Vec<&str> = [finder.note, finder.scope]
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect();
    let note = note.join(" · ");
    let note = cut(&note, usize::from(area.width / 2)).into_owned();
    let right = Rect {
        width: area.width.saturating_sub(1),
        ..area
    };
    brush.put_right(right, Tone::Faint, &note);
    let left = Rect {
        width: area.width.saturating_sub(width(&note) as u16 + 3),
        ..area
    };
    let bottom = Bottom::Prompt {
        label: "find: ",
        text: finder.text,
    };
    draw_bottom(&bottom, left, brush);
}

fn draw_log(pane: &LogPane, area: Rect, brush: &mut Brush) {
    let title = format!("── {} ", pane.title);
    let rule = "─".repeat(usize::from(area.width).saturating_sub(width(&title)));
    let first = line_of(area, 0);
    let note = if pane.note.is_empty() {
        String::new()
    } else {
        format!(" {} ─", pane.note)
    };
    brush.put(
        first,
        [
            (Tone::Faint, &*cut(&title, usize::from(area.width))),
            (Tone::Faint, &rule),
        ],
    );
    brush.put_right(first, Tone::Faint, &note);
    let room = usize::from(area.height - 1);
    let end = pane.lines.len().saturating_sub(pane.below);
    let start = end.saturating_sub(room);
    for (index, line) in pane.lines[start..end].iter().enumerate() {
        let line_area = line_of(area, index + 1);
        if pane.found == Some(start + index) {
            brush.put(line_area, [(Tone::User, "▌")]);
        }
        let pieces = line.iter().map(|(tone, text)| (*tone, &**text));
        brush.put(indented(line_area, 1), pieces);
    }
}

fn draw_bottom(bottom: &Bottom, area: Rect, brush: &mut Brush) {
    match bottom {
        Bottom::Message(text) => _ = brush.put(area, [(Tone::Plain, " "), (Tone::Plain, text)]),
        Bottom::Prompt { label, text } => {
            // The end of a question is what must be seen, and the end of what is typed.
            const END: usize = 9;
            let most = usize::from(area.width).saturating_sub(3);
            let end = label
                .char_indices()
                .rev()
                .nth(END - 1)
                .map_or(0, |(at, _)| at);
            let label = if width(label) > most {
                cut(substr(label, ..end), most.saturating_sub(END)).into_owned()
                    + substr(label, end..)
            } else {
                (*label).to_owned()
            };
            let room = usize::from(area.width).saturating_sub(width(&label) + 4);
            let mut from = 0;
            while width(substr(text, from..)) > room {
                from += substr(text, from..)
                    .chars()
                    .next()
                    .map_or(1, char::len_utf8);
            }
            brush.put(
                area,
                [
                    (Tone::Call, " "),
                    (Tone::Call, &*label),
                    (Tone::Plain, substr(text, from..)),
                    (Tone::User, "▏"),
                ],
            );
        }
        Bottom::Keys(keys) => {
            let mut line = indented(area, 1);
            for (key, what) in *keys {
                // A key that does not fit is left out as a whole; `?` names them all.
                if width(key) + width(what) + 3 > usize::from(line.width) {
                    break;
                }
                let x = brush.put(
                    line,
                    [
                        (Tone::Strong, *key),
                        (Tone::Plain, " "),
                        (Tone::Faint, *what),
                        (Tone::Plain, "  "),
                    ],
                );
                line = indented(line, x - line.x);
            }
        }
    }
}

fn draw_help(help: &[(&str, &str)], area: Rect, bottom: Rect, brush: &mut Brush) {
    let keys = help.iter().map(|(key, _)| width(key)).max().unwrap_or(0);
    // In two columns if one is not enough and they fit; else the last lines are left out.
    let rows = help.len().min(usize::from(area.height)).max(1);
    let half = area.width / 2;
    let widest = help.iter().map(|(_, what)| width(what)).max().unwrap_or(0);
    let columns = if keys + 2 + widest + 2 <= usize::from(half) {
        2
    } else {
        1
    };
    for (index, (key, what)) in help.iter().enumerate() {
        let (column, row) = ((index / rows) as u16, index % rows);
        if column < columns {
            let line = indented(line_of(area, row), 2 + column * half);
            brush.put(
                line,
                [(Tone::Strong, &*pad(key, keys + 2)), (Tone::Plain, what)],
            );
        }
    }
    if bottom.height > 0 {
        brush.put(bottom, [(Tone::Faint, " any key goes back")]);
    }
}
