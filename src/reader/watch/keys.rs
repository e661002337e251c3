//! Each key changes the [`Model`], and may leave an [`Effect`] to be done outside of it.

use super::finder::Finder;
use super::input::Key;
use super::model::{Model, Prompt, Question};
use crate::watch::view::WatchRow;
use session_core::search::typed::Typed;

/// A key asks for more than a change of the screen.
#[derive(Debug, PartialEq)]
pub enum Effect {
    Quit,
    Suspend,
    Redraw,
    /// What the user finds with has changed, or is to be looked for anew.
    Search {
        is_fresh: bool,
    },
    /// The program ends and prints this session.
    Pick(Box<WatchRow>),
    /// Older lines of the log are wanted.
    MoreLog,
    /// Calls are shown whole, or no longer.
    OpenCalls,
    /// The next line with the words that the user looks for is wanted, of the older ones or of the newer ones.
    Find {
        older: bool,
    },
    /// Something is done with the session that was selected when the user asked for it, whichever is selected by now.
    With(Box<WatchRow>, SessionEffect),
}

/// Something to do with a session.
#[derive(Debug, PartialEq, Eq)]
pub enum SessionEffect {
    /// Finds out how to resume it, and asks.
    AskResume,
    /// With the command that the user said yes to.
    Resume(String),
    /// To where it runs.
    Go,
    /// Finds out which agents could go on with it, and asks.
    AskContinue,
    /// In the agent that the user chose.
    Continue(String),
    Edit,
    CopyId,
    CopyPath,
    /// What the user calls it; nothing takes that back.
    Name(String),
    Tag(String),
    Pin(String),
    Done,
    Mute,
}

pub const IN_LIST: [(&str, &str); 14] = [
    ("?", "help"),
    ("q", "quit"),
    ("j/k", "move"),
    ("Enter", "log"),
    ("g", "go there"),
    ("/", "filter"),
    ("s", "search"),
    ("r", "resume"),
    ("a", "all projects"),
    ("o", "editor"),
    ("y", "copy id"),
    ("n", "name"),
    ("t", "tag"),
    ("d", "done"),
];
pub const IN_LOG: [(&str, &str); 10] = [
    ("Esc", "back"),
    ("?", "help"),
    ("j/k", "scroll"),
    ("/", "find"),
    ("g/G", "start, end"),
    ("x", "open calls"),
    ("f", "follow"),
    ("r", "resume"),
    ("o", "editor"),
    ("q", "quit"),
];
pub const IN_LOG_AFTER_FIND: [(&str, &str); 8] = [
    ("Esc", "back"),
    ("?", "help"),
    ("n/N", "next older, newer"),
    ("/", "find"),
    ("j/k", "scroll"),
    ("g/G", "start, end"),
    ("f", "follow"),
    ("q", "quit"),
];
pub const IN_FINDER: [(&str, &str); 7] = [
    ("Enter", "log"),
    ("Esc", "back"),
    ("↑↓", "move"),
    ("^G", "go there"),
    ("^R", "resume"),
    ("^Y", "copy id"),
    ("Tab", "all projects"),
];
pub const IN_PICKER: [(&str, &str); 4] = [
    ("Enter", "pick"),
    ("Esc", "quit"),
    ("↑↓", "move"),
    ("Tab", "all projects"),
];

/// As many lines as a terminal of 20 rows has room for.
pub const HELP: [(&str, &str); 18] = [
    ("j k ↓ ↑", "next, previous session"),
    ("PgDn PgUp", "a page further, back; Space, too"),
    ("Home End G", "first, last; in a log g is its start"),
    ("g", "go to the pane that it runs in"),
    ("Enter Esc", "the log on the whole screen; back"),
    ("f Ctrl-D Ctrl-U", "follow the end of the log; scroll it"),
    ("x Tab", "show calls with inputs and results"),
    ("/", "filter by name, agent, state, title"),
    ("/ n N", "in a log: find, next older, newer"),
    ("s", "find in all sessions as you type"),
    ("a", "all projects, or this one"),
    ("r c", "resume here; continue in another agent"),
    ("o y Y", "open in $EDITOR; copy the id, the path"),
    ("n t p", "name it, tag it (-TAG: untag), pin a text"),
    ("d m", "done, or not; mute the hook for it"),
    ("!", "another one edited the same file"),
    ("mouse", "a click selects, the wheel scrolls"),
    ("q Ctrl-Z Ctrl-L", "quit, suspend, draw again"),
];

/// Types a key into a text. Says whether it is such a key.
fn edit(text: &mut String, key: &Key) -> bool {
    match key {
        Key::Char(char) => text.push(*char),
        Key::Paste(pasted) => text.extend(
            pasted
                .chars()
                .map(|char| if char.is_control() { ' ' } else { char }),
        ),
        Key::Backspace => _ = text.pop(),
        Key::Ctrl('u') => text.clear(),
        Key::Ctrl('w') => {
            let rest = text.trim_end();
            let start = rest.rfind(' ').map_or(0, |blank| blank + 1);
            text.truncate(start);
        }
        _ => return false,
    }
    true
}

/// Lines per turn of the wheel.
const WHEEL: isize = 3;

impl Model {
    pub fn press(&mut self, key: Key) -> Option<Effect> {
        self.message.clear();
        match key {
            Key::Ctrl('c') => return Some(Effect::Quit),
            Key::Ctrl('z') => return Some(Effect::Suspend),
            Key::Ctrl('l') => return Some(Effect::Redraw),
            _ => {}
        }
        if std::mem::take(&mut self.shows_help) {
            return None;
        }
        if self.prompt.is_some() {
            return self.type_into_prompt(key);
        }
        if self.finder.is_some() && !self.only_log {
            return self.press_in_finder(&key);
        }
        match key {
            Key::Char('q') => return Some(Effect::Quit),
            Key::Char('?') => self.shows_help = true,
            Key::Char('a') => {
                self.all = !self.all;
                self.arrange();
            }
            Key::Char('/') if self.only_log => {
                self.ask(Question::Find, "find: ".into(), String::new());
            }
            Key::Char('/') => {
                self.ask(Question::Filter, "filter: ".into(), self.filter.clone());
            }
            Key::Char('s') => {
                let is_alone = self.finder.as_ref().is_some_and(|finder| finder.is_alone);
                return Some(self.open_finder(Finder {
                    all: true,
                    is_alone,
                    ..Finder::default()
                }));
            }
            Key::Esc => self.back(),
            Key::Click(x, y) => self.click_at(x, y),
            Key::WheelUp(x, y) => return self.wheel(x, y, true),
            Key::WheelDown(x, y) => return self.wheel(x, y, false),
            Key::Ctrl('d') => return self.scroll_log(-self.half_log()),
            Key::Ctrl('u') => return self.scroll_log(self.half_log()),
            Key::Char('x') | Key::Tab => return Some(Effect::OpenCalls),
            Key::Char('f') => {
                (self.log.follows, self.log.below, self.log.is_freed) = (true, 0, true);
            }
            key if self.only_log => return self.press_in_log(&key),
            key => return self.press_in_list(&key),
        }
        None
    }

    /// Opens the log of the selected session, or picks it.
    pub(super) fn enter(&mut self) -> Option<Effect> {
        let finder = self.finder.as_mut()?;
        finder.enters = !finder.is_answered;
        if finder.enters {
            return None;
        }
        let (picks, row) = (finder.picks, self.selected().cloned()?);
        if picks {
            return Some(Effect::Pick(Box::new(row)));
        }
        self.set_only_log(true);
        None
    }

    /// Something else is to be found.
    fn ask_again(&mut self) -> Option<Effect> {
        let finder = self.finder.as_mut()?;
        finder.typed = Typed::new(&finder.text);
        finder.is_answered = false;
        Some(Effect::Search { is_fresh: false })
    }

    fn press_in_finder(&mut self, key: &Key) -> Option<Effect> {
        let finder = self.finder.as_mut()?;
        finder.enters = false;
        let before = finder.text.clone();
        if edit(&mut finder.text, key) {
            return if before == finder.text {
                None
            } else {
                self.ask_again()
            };
        }
        match key {
            Key::Tab => {
                finder.all = !finder.all;
                return self.ask_again();
            }
            Key::Esc if finder.is_alone => return Some(Effect::Quit),
            Key::Esc => {
                let before = finder.before.take();
                self.finder = None;
                self.set_found(None);
                self.selected = before;
                self.arrange();
            }
            Key::Enter => return self.enter(),
            Key::Down | Key::Ctrl('n' | 'j') => self.go(1),
            Key::Up | Key::Ctrl('p' | 'k') => self.go(-1),
            Key::PageDown => self.go(self.page() / 2),
            Key::PageUp => self.go(-self.page() / 2),
            Key::Home => self.go(isize::MIN),
            Key::End => self.go(isize::MAX),
            Key::Click(x, y) => self.click_at(*x, *y),
            Key::WheelUp(x, y) => return self.wheel(*x, *y, true),
            Key::WheelDown(x, y) => return self.wheel(*x, *y, false),
            // What is picked goes into a pipe, and so would what another program prints.
            Key::Ctrl('r' | 'g') if finder.picks => {}
            Key::Ctrl('r') => return self.with_selected(SessionEffect::AskResume),
            Key::Ctrl('g') => return self.with_selected(SessionEffect::Go),
            Key::Ctrl('y') => return self.with_selected(SessionEffect::CopyId),
            _ => {}
        }
        None
    }

    fn with_selected(&self, effect: SessionEffect) -> Option<Effect> {
        Some(Effect::With(Box::new(self.selected()?.clone()), effect))
    }

    /// Keys that do something with the selected session.
    fn act(&mut self, key: &Key) -> Option<Effect> {
        let row = Box::new(self.selected()?.clone());
        let effect = match key {
            Key::Char('r') => SessionEffect::AskResume,
            Key::Char('g') => SessionEffect::Go,
            Key::Char('c') => SessionEffect::AskContinue,
            Key::Char('o') => SessionEffect::Edit,
            Key::Char('y') => SessionEffect::CopyId,
            Key::Char('Y') => SessionEffect::CopyPath,
            Key::Char('d') => SessionEffect::Done,
            Key::Char('m') => SessionEffect::Mute,
            Key::Char('n') => {
                let label = format!("name for {}: ", row.handle);
                let name = Some(row.name.clone()).filter(|name| *name != row.handle);
                self.ask(Question::Name(row), label, name.unwrap_or_default());
                return None;
            }
            Key::Char('t') => {
                let label = format!("tag for {}: ", row.name);
                self.ask(Question::Tag(row), label, String::new());
                return None;
            }
            Key::Char('p') => {
                let label = format!("pin for {}: ", row.project);
                self.ask(Question::Pin(row), label, String::new());
                return None;
            }
            _ => return None,
        };
        Some(Effect::With(row, effect))
    }

    fn press_in_list(&mut self, key: &Key) -> Option<Effect> {
        let by = match key {
            Key::Char('j') | Key::Down => 1,
            Key::Char('k') | Key::Up => -1,
            Key::PageDown | Key::Char(' ') => self.page(),
            Key::PageUp => -self.page(),
            Key::Home => isize::MIN,
            Key::Char('G') | Key::End => isize::MAX,
            Key::Enter | Key::Right => {
                self.set_only_log(self.selected().is_some());
                return None;
            }
            key => return self.act(key),
        };
        self.go(by);
        None
    }

    fn press_in_log(&mut self, key: &Key) -> Option<Effect> {
        let by = match key {
            Key::Char('j') | Key::Down | Key::Enter => -1,
            Key::Char('k') | Key::Up => 1,
            Key::PageDown | Key::Char(' ') => -self.page(),
            Key::PageUp | Key::Char('b') => self.page(),
            Key::Char('g') | Key::Home => isize::MAX,
            Key::Char('G') | Key::End => isize::MIN,
            Key::Left => {
                self.back();
                return None;
            }
            Key::Char(key @ ('n' | 'N')) => {
                return (!self.find.is_empty()).then_some(Effect::Find { older: *key == 'n' });
            }
            key => return self.act(key),
        };
        self.scroll_log(by)
    }

    fn scroll_log(&mut self, by: isize) -> Option<Effect> {
        // The next one is looked for from where the user is then.
        self.log.found = None;
        self.scroll(by).then_some(Effect::MoreLog)
    }

    fn half_log(&self) -> isize {
        (self.layout().log_room().0 as isize / 2).max(1)
    }

    fn back(&mut self) {
        if self.only_log {
            self.set_only_log(false);
            self.arrange();
            self.back_to_finder();
        } else {
            self.filter.clear();
            self.arrange();
        }
    }

    fn click_at(&mut self, x: u16, y: u16) {
        let list = self.layout().list;
        if list.contains((x, y).into()) {
            self.click(usize::from(y - list.y));
        }
    }

    fn wheel(&mut self, x: u16, y: u16, up: bool) -> Option<Effect> {
        let by = if up { WHEEL } else { -WHEEL };
        if self.layout().log.contains((x, y).into()) {
            return self.scroll_log(by);
        }
        self.go(-by.signum());
        None
    }

    pub fn ask(&mut self, question: Question, label: String, text: String) {
        self.prompt = Some(Prompt {
            question,
            label,
            text,
        });
    }

    fn type_into_prompt(&mut self, key: Key) -> Option<Effect> {
        let mut prompt = self.prompt.take()?;
        if let Question::Resume(row, command) = prompt.question {
            return (key == Key::Char('y'))
                .then_some(Effect::With(row, SessionEffect::Resume(command)));
        }
        if let Question::Continue(row, agents) = prompt.question {
            let Key::Char(key) = key else { return None };
            let number = key.to_digit(10)?.checked_sub(1)?;
            let agent = agents.into_iter().nth(number as usize)?;
            return Some(Effect::With(row, SessionEffect::Continue(agent)));
        }
        let is_filter = prompt.question == Question::Filter;
        match key {
            key if edit(&mut prompt.text, &key) => {}
            Key::Enter => {
                let text = prompt.text.trim().to_owned();
                return match prompt.question {
                    Question::Find => {
                        (self.find, self.log.found) = (text, None);
                        Some(Effect::Find { older: true })
                    }
                    Question::Name(row) => Some(Effect::With(row, SessionEffect::Name(text))),
                    _ if text.is_empty() => None,
                    Question::Tag(row) => Some(Effect::With(row, SessionEffect::Tag(text))),
                    Question::Pin(row) => Some(Effect::With(row, SessionEffect::Pin(text))),
                    Question::Filter | Question::Resume(..) | Question::Continue(..) => None,
                };
            }
            Key::Esc => {
                if is_filter {
                    self.filter.clear();
                    self.arrange();
                }
                return None;
            }
            // One can go on choosing while one types a filter. Everything else is about what was selected before.
            Key::Up if is_filter => self.go(-1),
            Key::Down if is_filter => self.go(1),
            _ => {}
        }
        if is_filter {
            self.filter.clone_from(&prompt.text);
            self.arrange();
        }
        self.prompt = Some(prompt);
        None
    }
}
