//! Each key changes the [`Model`], and may leave an [`Effect`] to be done outside of it.

use super::input::Key;
use super::model::{Model, Prompt, Question};
use crate::watch::view::WatchRow;

/// A key asks for more than a change of the screen.
#[derive(Debug, PartialEq)]
pub enum Effect {
    Quit,
    Suspend,
    Redraw,
    Search(String),
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
pub const IN_FOUND: [(&str, &str); 5] = [
    ("Esc", "back"),
    ("?", "help"),
    ("j/k", "move"),
    ("Enter", "log"),
    ("s", "search again"),
];

/// As many lines as a terminal of 20 rows has room for.
pub const HELP: [(&str, &str); 18] = [
    ("j k ↓ ↑", "next, previous session"),
    ("PgDn PgUp", "a page further, back; Space, too"),
    ("Home End G", "first, last; in a log g is its start"),
    ("g", "go to the pane that it runs in"),
    ("Enter Esc", "the log on the whole screen; back"),
    ("f Ctrl-D Ctrl-U", "follow the end of the log; scroll it"),
    ("x Tab", "calls with their whole input and result"),
    ("/", "filter by name, agent, state, title"),
    ("/ n N", "in a log: find, next older, newer"),
    ("s", "search in all sessions"),
    ("a", "all projects, or this one"),
    ("r", "resume in this terminal"),
    ("o y Y", "open in $EDITOR; copy the id, the path"),
    ("n t p", "name it, tag it (-TAG: untag), pin a text"),
    ("d m", "done, or not; mute the hook for it"),
    ("!", "another one edited the same file"),
    ("mouse", "a click selects, the wheel scrolls"),
    ("q Ctrl-Z Ctrl-L", "quit, suspend, draw again"),
];

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
                if self.has_found() {
                    self.set_found(None);
                }
                self.ask(Question::Filter, "filter: ".into(), self.filter.clone());
            }
            Key::Char('s') => self.ask(Question::Search, "search: ".into(), String::new()),
            Key::Esc => self.back(),
            Key::Click(x, y) => {
                let list = self.layout().list;
                if list.contains((x, y).into()) {
                    self.click(usize::from(y - list.y));
                }
            }
            Key::WheelUp(x, y) => return self.wheel(x, y, WHEEL),
            Key::WheelDown(x, y) => return self.wheel(x, y, -WHEEL),
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

    /// Keys that do something with the selected session.
    fn act(&mut self, key: &Key) -> Option<Effect> {
        let row = Box::new(self.selected()?.clone());
        let effect = match key {
            Key::Char('r') => SessionEffect::AskResume,
            Key::Char('g') => SessionEffect::Go,
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
        } else if self.has_found() {
            self.set_found(None);
        } else {
            self.filter.clear();
            self.arrange();
        }
    }

    fn wheel(&mut self, x: u16, y: u16, by: isize) -> Option<Effect> {
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
        let is_filter = prompt.question == Question::Filter;
        match key {
            Key::Char(char) => prompt.text.push(char),
            Key::Paste(text) => prompt.text.extend(
                text.chars()
                    .map(|char| if char.is_control() { ' ' } else { char }),
            ),
            Key::Backspace => _ = prompt.text.pop(),
            Key::Ctrl('u') => prompt.text.clear(),
            Key::Ctrl('w') => {
                let rest = prompt.text.trim_end();
                let start = rest.rfind(' ').map_or(0, |blank| blank + 1);
                prompt.text.truncate(start);
            }
            Key::Enter => {
                let text = prompt.text.trim().to_owned();
                return match prompt.question {
                    Question::Find => {
                        (self.find, self.log.found) = (text, None);
                        Some(Effect::Find { older: true })
                    }
                    Question::Name(row) => Some(Effect::With(row, SessionEffect::Name(text))),
                    _ if text.is_empty() => None,
                    Question::Search => Some(Effect::Search(text)),
                    Question::Tag(row) => Some(Effect::With(row, SessionEffect::Tag(text))),
                    Question::Pin(row) => Some(Effect::With(row, SessionEffect::Pin(text))),
                    Question::Filter | Question::Resume(..) => None,
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
