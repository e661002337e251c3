//! Output that is longer than the screen goes through a pager, as git does it.
//!
//! A [`Pager`] holds output back until it is more than the terminal has rows; only then it starts `$PAGER`. What is shorter
//! is printed as it is. While the pager runs, it has the screen: messages wait until it ends, and Ctrl-C is its business.
//! `args` decides which commands are paged.

use std::cell::RefCell;
use std::io::{self, Write};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use session_core::env::Env;
use session_format::path::base_name;

pub struct Pager<'o> {
    out: &'o mut dyn Write,
    /// Shows the output once it is too long; none if it must not.
    command: Option<Command>,
    /// The user named the pager, so it must be there.
    is_chosen: bool,
    name: String,
    held: Vec<u8>,
    /// So many lines may still come before it is too long.
    room: usize,
    child: Option<Child>,
    messages: Rc<RefCell<Messages>>,
}

const DEFAULT: &str = "less";

/// Messages that wait while a pager runs.
#[derive(Default)]
struct Messages {
    is_waiting: bool,
    held: Vec<u8>,
}

/// Stands for stderr.
pub struct Stderr<'e> {
    err: &'e mut dyn Write,
    messages: Rc<RefCell<Messages>>,
}

impl<'o> Pager<'o> {
    /// For a terminal with so many rows; without a number there is no paging.
    pub fn new(out: &'o mut dyn Write, env: &Env, rows: Option<usize>) -> Pager<'o> {
        let set = env.pager();
        let name = set.clone().unwrap_or_else(|| DEFAULT.into());
        let is_off = name.is_empty() || name == "cat" || rows.is_none();
        let command = (!is_off).then(|| command(&name, env));
        let (held, child, messages) = Default::default();
        // A line is left for the shell.
        let room = rows.unwrap_or(0).saturating_sub(1);
        Pager {
            out,
            command,
            is_chosen: set.is_some(),
            name,
            held,
            room,
            child,
            messages,
        }
    }

    /// Stands in for stderr meanwhile.
    pub fn err<'e>(&self, err: &'e mut dyn Write) -> Stderr<'e> {
        Stderr {
            err,
            messages: Rc::clone(&self.messages),
        }
    }

    /// Waits until the user has read everything.
    pub fn finish(mut self, err: &mut dyn Write) {
        // Who quits a pager has seen enough, and a closed pipe is no error.
        let _ = self.flush();
        if let Some(mut child) = self.child.take() {
            drop(child.stdin.take());
            let _ = child.wait();
        }
        let _ = err.write_all(&self.messages.borrow().held);
    }

    /// Starts the pager, if there is one, and hands over what was held back.
    fn start(&mut self) -> io::Result<()> {
        let Some(mut command) = self.command.take() else {
            return Ok(());
        };
        match command.stdin(Stdio::piped()).spawn() {
            Ok(child) => {
                // Ctrl-C reaches us as well, and must not take the terminal from under the pager.
                let _ = signal_hook::flag::register(
                    signal_hook::consts::SIGINT,
                    Arc::new(AtomicBool::new(false)),
                );
                self.messages.borrow_mut().is_waiting = true;
                self.child = Some(child);
            }
            Err(error) if self.is_chosen => {
                let message = format!(
                    "session-reader: PAGER={}: {error}; printed without it\n",
                    self.name
                );
                self.messages.borrow_mut().held.extend(message.as_bytes());
            }
            // Not every system has less.
            Err(_) => {}
        }
        let held = std::mem::take(&mut self.held);
        self.write_all(&held)
    }

    fn target(&mut self) -> &mut dyn Write {
        match self.child.as_mut().and_then(|child| child.stdin.as_mut()) {
            Some(stdin) => stdin,
            None => self.out,
        }
    }
}

/// A pager with arguments, or a line for the shell.
fn command(pager: &str, env: &Env) -> Command {
    let mut words = pager.split_whitespace();
    let mut command = match words.next() {
        Some(program) if !pager.contains(|char| "|&;<>()$`\\\"'*?[#~=%".contains(char)) => {
            let mut command = Command::new(program);
            command.args(words);
            command
        }
        _ => {
            let mut command = Command::new("sh");
            command.args(["-c", pager]);
            command
        }
    };
    // Ends at once if all fits, keeps colours, leaves the text on the screen.
    if !env.sets_less() {
        command.env("LESS", "FRX");
    } else if base_name(&command.get_program().to_string_lossy()) == DEFAULT {
        // Whatever else the user has set: without it, less shows colours as codes.
        command.arg("-R");
    }
    command
}

impl Write for Pager<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.command.is_none() {
            return self.target().write(bytes);
        }
        self.held.extend_from_slice(bytes);
        let lines = memchr::memchr_iter(b'\n', bytes).count();
        match self.room.checked_sub(lines) {
            Some(room) => self.room = room,
            None => self.start()?,
        }
        Ok(bytes.len())
    }

    /// Prints what was held back: there is no more.
    fn flush(&mut self) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        self.target().write_all(&held)?;
        self.target().flush()
    }
}

impl Write for Stderr<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut messages = self.messages.borrow_mut();
        if messages.is_waiting {
            messages.held.extend_from_slice(bytes);
            return Ok(bytes.len());
        }
        drop(messages);
        self.err.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.err.flush()
    }
}
