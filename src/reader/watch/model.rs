//! The state behind the screen of `watch`, which each key changes (`keys.rs`). Pure data: no clock, file or terminal.
//!
//! A session stays selected wherever its line goes, and the log stays where the user scrolled it, whatever is added.

use std::cmp::Reverse;
use std::ops::Range;
use std::path::PathBuf;

use super::finder::{Answer, Finder};
use super::keys::{self, Effect};
use crate::watch::view::{Bottom, FinderLine, Item, Layout, LogPane, Screen, Section, WatchRow};
use session_core::fold::folded;
use session_core::search::Query;
use session_core::search::typed::Typed;
use session_core::session::state::Group;
use session_core::show::call::CallLine;
use session_core::show::log::Piece;
use session_core::show::state::counted;
use session_core::show::terminal::{Tone, width, wrap};

/// At most so many sessions of a section are printed where nobody can scroll.
const PRINTED: usize = 20;

/// A place in a transcript: its end, or the line that a search found.
pub type LogPlace = (PathBuf, Option<u64>);

#[derive(Debug, Default)]
pub struct Model {
    pub width: u16,
    pub height: u16,
    /// Sessions of all projects, not only of this one.
    pub all: bool,
    /// The name of this project.
    pub here: String,
    /// It is printed, so no key is there to be named.
    pub is_printed: bool,
    pub filter: String,
    /// The words last looked for in a log.
    pub find: String,
    pub prompt: Option<Prompt>,
    pub message: String,
    pub shows_help: bool,
    pub log: Log,
    /// The log has the whole screen.
    pub only_log: bool,
    rows: Vec<WatchRow>,
    conflicts: Vec<ConflictText>,
    /// What the user types to find a session, while they do.
    pub finder: Option<Finder>,
    /// What fits that.
    found: Option<Vec<WatchRow>>,
    items: Vec<Item>,
    counts: [usize; Group::ALL.len()],
    pub(super) selected: Option<LogPlace>,
    left: Option<PathBuf>,
    /// The number of the selected item, and of the first one that is shown.
    index: usize,
    top: usize,
}

/// A file that several sessions edited lately, with their names.
#[derive(Debug, Clone, PartialEq)]
pub struct ConflictText {
    pub text: String,
    /// One of them belongs to the project that this runs in.
    pub here: bool,
}

/// A question in the last line.
#[derive(Debug, PartialEq)]
pub struct Prompt {
    pub question: Question,
    pub label: String,
    pub text: String,
}

/// A question about a session keeps it: while the user thinks, another one may become the selected one.
#[derive(Debug, PartialEq)]
pub enum Question {
    Filter,
    /// Asks for words to look for in the log.
    Find,
    /// Asks what the user calls it.
    Name(Box<WatchRow>),
    Tag(Box<WatchRow>),
    Pin(Box<WatchRow>),
    /// In which of these agents to go on.
    Continue(Box<WatchRow>, Vec<String>),
    /// Asks for a yes to a command.
    Resume(Box<WatchRow>, String),
}

/// The log of the selected session.
#[derive(Debug, Default)]
pub struct Log {
    pub lines: Vec<Vec<Piece>>,
    /// The first line of each entry.
    pub starts: Vec<usize>,
    /// The width that its lines are laid out for; 0 before they are.
    pub width: usize,
    /// The number of lines below those on the screen.
    pub below: usize,
    pub follows: bool,
    /// Its first line is the first of the transcript.
    pub is_whole: bool,
    /// The user wants its end and not what a search found.
    pub is_freed: bool,
    /// The number of lines at the end about what the session waits for.
    pub waiting: usize,
    /// The number of lines below the one that was found in it.
    pub found: Option<usize>,
}

/// The lines of a log, laid out.
#[derive(Default)]
pub struct LogLines {
    pub lines: Vec<Vec<Piece>>,
    /// The first line of each entry.
    pub starts: Vec<usize>,
    pub hit: Option<usize>,
    pub added: usize,
    /// The number of lines at the end about what the session waits for.
    pub waiting: usize,
}

impl LogLines {
    /// The same, and below it what the session waits for.
    pub fn and_waiting(mut self, waits_for: &[CallLine], width: usize) -> LogLines {
        if waits_for.is_empty() {
            return self;
        }
        let before = self.lines.len();
        self.lines
            .extend([Vec::new(), vec![(Tone::Call, "waits for you".to_owned())]]);
        for (tone, line) in waits_for {
            let wrapped = wrap(line, width.saturating_sub(2).max(1)).into_iter();
            let indented = wrapped.map(|line| vec![(Tone::Plain, "  ".to_owned()), (*tone, line)]);
            self.lines.extend(indented);
        }
        self.waiting = self.lines.len() - before;
        self
    }
}

/// A line of a log, whatever width the log is laid out for: its entry, and how much of that entry ends with it.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    entry: usize,
    lines: usize,
    of: usize,
}

impl Log {
    fn entry_lines(&self, entry: usize) -> Range<usize> {
        let start = |entry: usize| self.starts.get(entry).copied().unwrap_or(self.lines.len());
        start(entry)..start(entry + 1)
    }

    /// The line with so many lines below it.
    fn anchor(&self, below: usize) -> Option<Anchor> {
        let line = self.lines.len().checked_sub(below + 1)?;
        let entry = self
            .starts
            .partition_point(|start| *start <= line)
            .checked_sub(1)?;
        let lines = self.entry_lines(entry);
        Some(Anchor {
            entry,
            lines: line - lines.start + 1,
            of: lines.len(),
        })
    }

    fn anchored_line(&self, Anchor { entry, lines, of }: Anchor) -> usize {
        let now = self.entry_lines(entry);
        (now.start + (lines * now.len()).div_ceil(of)).saturating_sub(1)
    }
}

impl Model {
    pub fn new(all: bool, here: String) -> Model {
        Model {
            all,
            here,
            log: Log {
                follows: true,
                ..Log::default()
            },
            ..Model::default()
        }
    }

    /// Takes the sessions as they are now.
    pub fn set_rows(&mut self, rows: Vec<WatchRow>, conflicts: Vec<ConflictText>) {
        if let Some(path) = &self.left {
            let find = |rows: &[WatchRow]| {
                rows.iter()
                    .find(|row| row.path == *path)
                    .map(|row| (row.section, row.done))
            };
            let (before, now) = (find(&self.rows), find(&rows));
            if before != now {
                self.left = None;
            }
            if before.map(|(section, _)| section) != now.map(|(section, _)| section) {
                self.selected = None;
            }
        }
        (self.rows, self.conflicts) = (rows, conflicts);
        self.arrange();
    }

    /// The user is through with the selected session: if it goes to another section, the cursor stays where it is.
    pub fn leave(&mut self) {
        self.left = self.selected.clone().map(|(path, _)| path);
    }

    pub fn set_found(&mut self, found: Option<Vec<WatchRow>>) {
        self.found = found;
        self.only_log = false;
        self.selected = None;
        (self.index, self.top) = (0, 0);
        self.arrange();
    }

    pub fn resize(&mut self, width: u16, height: u16) {
        (self.width, self.height) = (width, height);
        self.arrange();
        self.scroll(0);
    }

    /// Gives the log the whole screen, or takes it back.
    pub fn set_only_log(&mut self, only_log: bool) {
        self.only_log = only_log;
        self.scroll(0);
    }

    pub fn layout(&self) -> Layout {
        Layout::of(self.width, self.height, self.only_log)
    }

    /// The lines of the list, also while the log has the whole screen and the list only waits.
    fn list_room(&self) -> usize {
        Layout::of(self.width, self.height, false)
            .list
            .height
            .into()
    }

    fn list(&self) -> &[WatchRow] {
        self.found.as_deref().unwrap_or(&self.rows)
    }

    pub fn rows(&self) -> &[WatchRow] {
        &self.rows
    }

    /// Puts the sessions that are to be shown in order, and keeps the selection where it was.
    pub fn arrange(&mut self) {
        self.items = match &self.found {
            Some(found) => {
                let items = |(index, row): (usize, &WatchRow)| {
                    let said = (!row.about.is_empty()).then_some(Item::Said(index));
                    [Some(Item::Row(index)), said].into_iter().flatten()
                };
                found.iter().enumerate().flat_map(items).collect()
            }
            None => self.sections(),
        };
        let is_it = |item: &Item| {
            let row = self.row(item).zip(self.selected.as_ref());
            row.is_some_and(|(row, (path, at))| row.path == *path && row.at == *at)
        };
        let index = self.items.iter().position(is_it);
        self.select(index.or_else(|| self.near(self.index)).unwrap_or(0));
    }

    fn row(&self, item: &Item) -> Option<&WatchRow> {
        let Item::Row(index) = item else { return None };
        self.list().get(*index)
    }

    fn sections(&mut self) -> Vec<Item> {
        let words = folded(&self.filter);
        let fits = |row: &WatchRow| {
            let texts = [
                &*row.name,
                &row.agent,
                &row.project,
                &row.about,
                &row.title,
                &row.tags,
                &row.id,
                row.kind.name(),
            ];
            let text = folded(&texts.join(" "));
            words.split_whitespace().all(|word| text.contains(word))
        };
        let mut sections: [Vec<usize>; Section::ALL.len()] = Default::default();
        self.counts = [0; Group::ALL.len()];
        for (index, row) in self
            .rows
            .iter()
            .enumerate()
            .filter(|(_, row)| self.all || row.here)
        {
            self.counts[row.group as usize] += 1;
            if words.trim().is_empty() || fits(row) {
                sections[row.section as usize].push(index);
            }
        }
        let rows = &self.rows;
        let mut items = Vec::new();
        for (section, mut members) in Section::ALL
            .into_iter()
            .zip(sections)
            .filter(|(_, all)| !all.is_empty())
        {
            // In an order in which lines move as little as can be: whoever begins to wait comes last, and who works stays.
            match section {
                Section::NeedsYou | Section::Failed => {
                    members.sort_by_key(|index| rows[*index].since);
                }
                Section::Working => members.sort_by_key(|index| Reverse(rows[*index].started)),
                Section::Recent | Section::Earlier => {
                    members.sort_by_key(|index| Reverse(rows[*index].since));
                }
            }
            let is_cut = self.is_printed && section.is_mixed() && members.len() > PRINTED;
            let shown = if is_cut { PRINTED } else { members.len() };
            if !items.is_empty() {
                items.push(Item::Gap);
            }
            items.push(Item::Heading(section, members.len()));
            items.extend(members[..shown].iter().copied().map(Item::Row));
            items.extend(is_cut.then_some(Item::More(members.len() - shown)));
        }
        if items.len() > self.list_room() {
            items.retain(|item| *item != Item::Gap);
        }
        items
    }

    /// The row that is nearest to a place in the list.
    fn near(&self, index: usize) -> Option<usize> {
        let is_row = |index: &usize| matches!(self.items.get(*index), Some(Item::Row(_)));
        (index..self.items.len())
            .find(is_row)
            .or_else(|| (0..index.min(self.items.len())).rev().find(is_row))
    }

    fn select(&mut self, index: usize) {
        self.index = index;
        let target = self.selected().map(|row| (row.path.clone(), row.at));
        if target != self.selected {
            self.left = None;
            self.selected = target;
            self.log = Log {
                follows: true,
                ..Log::default()
            };
        }
        // The heading above the first row of a section is shown with it.
        let is_row = |item: &Item| matches!(item, Item::Row(_));
        let above = self.items[..index.min(self.items.len())]
            .iter()
            .rposition(is_row)
            .map_or(0, |before| before + 1);
        let room = self.list_room().max(1);
        // What was said comes with its row, if both fit.
        let said = matches!(self.items.get(index + 1), Some(Item::Said(_)));
        let last = index + usize::from(said && room > 1);
        self.top = self
            .top
            .min(above)
            .max((last + 1).saturating_sub(room))
            .min(self.items.len().saturating_sub(room));
    }

    /// Moves the selection by `by` rows; negative moves up.
    pub fn go(&mut self, by: isize) {
        let rows: Vec<usize> = (0..self.items.len())
            .filter(|index| matches!(self.items[*index], Item::Row(_)))
            .collect();
        let Some(now) = rows.iter().position(|index| *index == self.index) else {
            return;
        };
        let then = now.saturating_add_signed(by).min(rows.len() - 1);
        self.select(rows[then]);
    }

    /// Selects what is in a line of the list.
    pub fn click(&mut self, line: usize) {
        let mut index = self.top + line;
        if matches!(self.items.get(index), Some(Item::Said(_))) {
            index -= 1;
        }
        if matches!(self.items.get(index), Some(Item::Row(_))) {
            self.select(index);
        }
    }

    pub fn selected(&self) -> Option<&WatchRow> {
        self.row(self.items.get(self.index)?)
    }

    /// The place that the log has to show.
    pub fn log_target(&self) -> Option<LogPlace> {
        let (path, at) = self.selected.clone()?;
        Some((path, at.filter(|_| !self.log.is_freed)))
    }

    pub fn page(&self) -> isize {
        let area = if self.only_log {
            self.layout().log
        } else {
            self.layout().list
        };
        (area.height as isize - 2).max(1)
    }

    /// Scrolls the log by so many lines, upwards if the number is positive. Says whether older lines are wanted.
    pub fn scroll(&mut self, by: isize) -> bool {
        let most = self
            .log
            .lines
            .len()
            .saturating_sub(self.layout().log_room().0);
        let wanted = self.log.below.saturating_add_signed(by);
        self.log.below = wanted.min(most);
        self.log.follows = self.log.below == 0 && (self.log.follows || by < 0);
        wanted > most && !self.log.is_whole
    }

    /// Shows other lines, of which so many were added at the end.
    pub fn set_log(&mut self, lines: LogLines) {
        let LogLines {
            lines,
            starts,
            added,
            waiting,
            ..
        } = lines;
        let before = std::mem::replace(&mut self.log.waiting, waiting);
        let further = |below: usize| (below + added + waiting).saturating_sub(before);
        (self.log.lines, self.log.starts) = (lines, starts);
        if !self.log.follows {
            self.log.below = further(self.log.below);
        }
        self.log.found = self.log.found.map(further);
        self.scroll(0);
    }

    /// What a session waits for is read from its beginning, however long it is.
    pub fn show_waiting(&mut self) {
        let room = self.layout().log_room().0;
        if self.log.waiting > room && room > 0 {
            (self.log.follows, self.log.below) = (false, self.log.waiting - room);
        }
    }

    /// Shows the same log, laid out for another width: the user goes on reading where they were.
    pub fn rewrap_log(&mut self, lines: LogLines) {
        let (last, found) = (
            self.log.anchor(self.log.below),
            self.log.found.and_then(|below| self.log.anchor(below)),
        );
        self.log.waiting = lines.waiting;
        (self.log.lines, self.log.starts) = (lines.lines, lines.starts);
        let below = |line: usize| self.log.lines.len().saturating_sub(line + 1);
        let last = last
            .filter(|_| !self.log.follows)
            .map_or(0, |anchor| below(self.log.anchored_line(anchor)));
        let words = Query::new(std::slice::from_ref(&self.find), None);
        let found = found.and_then(|anchor| {
            let near = self.log.anchored_line(anchor);
            let lines = self
                .log
                .entry_lines(anchor.entry)
                .filter(|line| self.has_words(&words, *line));
            lines.min_by_key(|line| line.abs_diff(near)).map(below)
        });
        (self.log.below, self.log.found) = (last, found);
        self.scroll(0);
    }

    /// Goes to the nearest line of the log that has the words, above or below the one that was found last. At first, that
    /// is the last one on the screen. Says whether there is one.
    pub fn find_line(&mut self, older: bool) -> bool {
        let line = self.nearest_line(older);
        if let Some(line) = line {
            self.show_line(line);
            self.log.found = Some(self.log.lines.len() - line - 1);
        }
        line.is_some()
    }

    /// Says that there is none. `is_all`: the log is all that the transcript has.
    pub fn not_found(&self, older: bool, is_all: bool) -> String {
        let words = &self.find;
        let may_be_above = !older && !self.log.is_whole;
        match (older, may_be_above || self.nearest_line(!older).is_some()) {
            (true, true) => format!("no older line has '{words}'; N looks below"),
            (false, true) => format!("no newer line has '{words}'; n looks above"),
            _ if self.log.found.is_some() => format!("no other line has '{words}'"),
            _ if is_all => format!("nothing in this log has '{words}'"),
            _ => format!("nothing in this part of the log has '{words}'"),
        }
    }

    fn nearest_line(&self, older: bool) -> Option<usize> {
        let words = Query::new(std::slice::from_ref(&self.find), None);
        let fits = |line: &usize| self.has_words(&words, *line);
        let count = self.log.lines.len();
        let end = count.saturating_sub(self.log.below);
        let (above, below) = self.log.found.map_or((end, end), |below| {
            let found = count.saturating_sub(below + 1);
            (found, found + 1)
        });
        if older {
            (0..above).rev().find(fits)
        } else {
            (below..count).find(fits)
        }
    }

    fn has_words(&self, words: &Query, line: usize) -> bool {
        let line: String = self.log.lines[line]
            .iter()
            .map(|(_, text)| &**text)
            .collect();
        !words.places_in(&line).is_empty()
    }

    /// Scrolls to the line in the middle of which something was found.
    pub fn show_line(&mut self, line: usize) {
        self.log.follows = false;
        let after = self.log.lines.len().saturating_sub(line);
        self.log.below = after.saturating_sub(self.layout().log_room().0.div_ceil(2));
        self.scroll(0);
    }

    /// The words to mark in a log: those that were looked for in it, or else those that the user finds with.
    pub(crate) fn marks(&self) -> Option<Query> {
        let words = match (&*self.find, &self.finder) {
            ("", None) => return None,
            ("", Some(finder)) => finder.text.split_whitespace().map(str::to_owned).collect(),
            (find, _) => vec![find.to_owned()],
        };
        Some(Query::new(&words, None)).filter(|query| !query.is_empty())
    }

    /// Begins to find, with some words to begin with.
    pub(crate) fn open_finder(&mut self, finder: Finder) -> Effect {
        self.finder = Some(Finder {
            typed: Typed::new(&finder.text),
            before: self.selected.take(),
            ..finder
        });
        self.find.clear();
        self.set_found(Some(Vec::new()));
        Effect::Search { is_fresh: true }
    }

    /// Takes an answer to the newest question.
    pub(crate) fn take_answer(&mut self, answer: Answer) -> Option<Effect> {
        let finder = self.finder.as_mut()?;
        // The user reads what they have opened.
        if self.only_log {
            finder.late = Some(answer);
            return None;
        }
        finder.note = answer.note;
        finder.is_answered = true;
        let enters = std::mem::take(&mut finder.enters);
        self.message = answer.trouble.unwrap_or_default();
        self.set_found(Some(answer.rows));
        if enters { self.enter() } else { None }
    }

    /// Goes back to what was found from a log that had the whole screen.
    pub(super) fn back_to_finder(&mut self) {
        let late = self.finder.as_mut().and_then(|finder| finder.late.take());
        if let Some(late) = late {
            let _ = self.take_answer(late);
        }
    }

    /// The line that one types in, while one finds.
    fn finder_line(&self) -> Option<FinderLine<'_>> {
        let finder = self.finder.as_ref()?;
        Some(FinderLine {
            text: &finder.text,
            typed: &finder.typed,
            note: &finder.note,
            scope: if finder.all {
                "all projects"
            } else {
                &self.here
            },
        })
    }

    /// The title of the terminal.
    pub fn title(&self) -> String {
        match self.counts[Group::NeedsYou as usize] {
            0 => "session-monitor".into(),
            count => format!("{} · session-monitor", counted(Group::NeedsYou, count)),
        }
    }

    pub fn screen(&self) -> Screen<'_> {
        let layout = self.layout();
        Screen {
            layout,
            counts: self.counts,
            conflicts: self
                .conflicts
                .iter()
                .filter(|own| self.all || own.here)
                .map(|own| &*own.text)
                .collect(),
            scope: if self.all { "all projects" } else { &self.here },
            filter: &self.filter,
            finder: self.finder_line().filter(|_| !self.only_log),
            rows: self.list(),
            items: &self.items,
            selected: Some(self.index),
            top: self.top,
            nothing: self.nothing(),
            older: match self.all {
                false => "`session-reader list` shows them",
                true => "`session-reader list --all` shows them",
            },
            shows_projects: self.all || self.found.is_some(),
            log: self.selected().map(|row| self.log_pane(row)),
            bottom: self.bottom(),
            help: if self.shows_help {
                &keys::HELP[..]
            } else {
                &[]
            },
        }
    }

    fn nothing(&self) -> &'static str {
        match (self.found.is_some(), self.filter.is_empty(), self.all) {
            (true, ..) => "",
            (_, false, _) => "no session fits; Esc shows all",
            (_, _, all) if all || self.rows.is_empty() => {
                "no sessions yet; `session-reader formats` shows where they are looked for"
            }
            _ if self.is_printed => "no sessions in this project; --all shows all projects",
            _ => "no sessions in this project; a shows all projects",
        }
    }

    fn log_pane(&self, row: &WatchRow) -> LogPane<'_> {
        let mut title = vec![&*row.name, &row.agent];
        let used = row.context_used.map(|used| format!("ctx {used}%"));
        let used = used.unwrap_or_default();
        title.extend(
            [&*used, &row.place, &row.title]
                .into_iter()
                .filter(|text| !text.is_empty()),
        );
        let title = title.join(" · ");
        let note = match self.log.below {
            0 => String::new(),
            lines => format!("{lines} more below, f follows"),
        };
        // The note has its room.
        let room = self.layout().log_room().1.saturating_sub(width(&note) + 8);
        let title = session_core::show::terminal::cut(&title, room).into_owned();
        let found = self
            .log
            .found
            .and_then(|below| self.log.lines.len().checked_sub(below + 1));
        LogPane {
            title,
            note,
            lines: &self.log.lines,
            below: self.log.below,
            found,
        }
    }

    fn bottom(&self) -> Bottom<'_> {
        match &self.prompt {
            Some(Prompt { label, text, .. }) => Bottom::Prompt { label, text },
            None if !self.message.is_empty() => Bottom::Message(&self.message),
            None if self.only_log && !self.find.is_empty() => {
                Bottom::Keys(&keys::IN_LOG_AFTER_FIND)
            }
            None if self.only_log => Bottom::Keys(&keys::IN_LOG),
            None if self.finder.as_ref().is_some_and(|finder| finder.picks) => {
                Bottom::Keys(&keys::IN_PICKER)
            }
            None if self.finder.is_some() => Bottom::Keys(&keys::IN_FINDER),
            None => Bottom::Keys(&keys::IN_LIST),
        }
    }
}
