//! The terminal while `watch` has it: raw, with a screen of its own, the mouse and a title; and as it was afterwards.
//!
//! Whatever ends the program gives the terminal back first: a key, a signal, an error, a panic. A signal only wakes the
//! main loop, which then does what is to be done.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::low_level::{emulate_default_handler, pipe};

use super::input::{self, Key};
use session_core::env::Env;

/// Keeps the title, then another screen, no cursor, clicks and the wheel, and pasted text as such.
const ENTER: &[u8] = b"\x1b[22;0t\x1b[?1049h\x1b[?25l\x1b[?1000h\x1b[?1006h\x1b[?2004h\x1b[2J";
const LEAVE: &[u8] = b"\x1b[?2004l\x1b[?1006l\x1b[?1000l\x1b[0m\x1b[?25h\x1b[?1049l\x1b[23;0t";
/// The wait for the rest of a sequence, before a lone escape is the key of that name.
const REST: Duration = Duration::from_millis(25);
/// A paste may pause so long, over a bad connection. After that its end is lost, and what comes then are keys.
const PASTE_REST: Duration = Duration::from_secs(10);
/// The main loop has so long to end the program after a signal. It may wait for a terminal that does not read.
const PATIENCE: Duration = Duration::from_millis(500);

/// The terminal is ours now; a panic gives it back from any thread.
static HELD: AtomicBool = AtomicBool::new(false);

/// Where the screen is if it is not where the output goes.
static TTY: OnceLock<File> = OnceLock::new();

/// True if somebody types, wherever the output goes.
pub fn is_at_terminal() -> bool {
    io::stdin().is_terminal()
}

/// Lets the screen be on the terminal itself, because the output goes somewhere else.
pub fn draw_on_tty() -> io::Result<File> {
    let tty = OpenOptions::new().write(true).open("/dev/tty")?;
    let _ = TTY.set(tty.try_clone()?);
    Ok(tty)
}

pub type Display<'o> = Terminal<CrosstermBackend<&'o mut dyn Write>>;

/// Gives the terminal back. It may be gone, and nothing can be done about that.
fn give_back() {
    if HELD.swap(false, Ordering::SeqCst) {
        // Not through the lock of stdout, which whoever panics may hold.
        let (stdout, mut rest) = (io::stdout(), LEAVE);
        let screen = TTY.get().map_or(stdout.as_fd(), AsFd::as_fd);
        while let Ok(written @ 1..) = rustix::io::write(screen, rest) {
            rest = &rest[written..];
        }
        let _ = disable_raw_mode();
    }
}

pub struct Screen {
    tty: OwnedFd,
    woken: UnixStream,
    waker: UnixStream,
    /// Bytes from the terminal that are not a whole key yet.
    held: Vec<u8>,
    /// The last time it sent something.
    heard: Instant,
    /// The signal that ends it.
    ended: Arc<AtomicUsize>,
    stopped: Arc<AtomicBool>,
    continued: Arc<AtomicBool>,
    /// Another program has the terminal.
    lent: Arc<AtomicBool>,
    /// The terminal was given back for good.
    closed: Arc<AtomicBool>,
}

/// The end of a wait.
pub struct Woken {
    pub keys: Vec<Key>,
    /// The terminal is gone.
    pub is_gone: bool,
}

impl Screen {
    /// Takes the terminal.
    pub fn open(display: &mut dyn Write) -> io::Result<Screen> {
        let stdin = io::stdin();
        let tty = if stdin.is_terminal() {
            stdin.as_fd().try_clone_to_owned()?
        } else {
            rustix::fs::open(
                "/dev/tty",
                rustix::fs::OFlags::RDONLY,
                rustix::fs::Mode::empty(),
            )?
        };
        let (woken, waker) = UnixStream::pair()?;
        woken.set_nonblocking(true)?;
        waker.set_nonblocking(true)?;
        let screen = Screen {
            tty,
            woken,
            held: Vec::new(),
            heard: Instant::now(),
            ended: Arc::default(),
            stopped: Arc::default(),
            continued: Arc::default(),
            lent: Arc::default(),
            closed: Arc::default(),
            waker,
        };
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            signal_hook::flag::register_usize(signal, Arc::clone(&screen.ended), signal as usize)?;
        }
        // Ctrl-Z in another program stops that one, and us with it: the shell waits until all of a job have stopped.
        signal_hook::flag::register_conditional_default(SIGTSTP, Arc::clone(&screen.lent))?;
        signal_hook::flag::register(SIGTSTP, Arc::clone(&screen.stopped))?;
        signal_hook::flag::register(SIGCONT, Arc::clone(&screen.continued))?;
        for signal in [SIGTERM, SIGINT, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH] {
            pipe::register(signal, screen.waker.try_clone()?)?;
        }
        screen.end_in_time()?;
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            hook(panic);
        }));
        Screen::take(display)?;
        Ok(screen)
    }

    /// Ends the program soon after a signal even if the main loop does not, because the terminal does not read what it
    /// writes, or it is at something long.
    fn end_in_time(&self) -> io::Result<()> {
        let (mut signalled, signal) = UnixStream::pair()?;
        for number in [SIGTERM, SIGINT, SIGHUP] {
            pipe::register(number, signal.try_clone()?)?;
        }
        let (ended, lent, closed) = (
            Arc::clone(&self.ended),
            Arc::clone(&self.lent),
            Arc::clone(&self.closed),
        );
        // Where no more threads can start, the main loop ends it alone.
        let _ = std::thread::Builder::new().spawn(move || {
            while let Ok(1..) = signalled.read(&mut [0]) {
                std::thread::sleep(PATIENCE);
                let number = ended.load(Ordering::Relaxed) as i32;
                if number != 0 && !lent.load(Ordering::SeqCst) && !closed.load(Ordering::SeqCst) {
                    let stdout = io::stdout();
                    let screen = TTY.get().map_or(stdout.as_fd(), AsFd::as_fd);
                    let mut fds = [PollFd::new(&screen, PollFlags::OUT)];
                    // Nothing can be written to a terminal that does not read.
                    if poll(
                        &mut fds,
                        Some(&Timespec {
                            tv_sec: 0,
                            tv_nsec: 0,
                        }),
                    )
                    .is_ok_and(|ready| ready > 0)
                    {
                        give_back();
                    }
                    let _ = disable_raw_mode();
                    end_by(number);
                }
            }
        });
        Ok(())
    }

    /// Wakes a wait, from another thread.
    pub fn waker(&self) -> io::Result<UnixStream> {
        self.waker.try_clone()
    }

    fn take(display: &mut dyn Write) -> io::Result<()> {
        enable_raw_mode()?;
        HELD.store(true, Ordering::SeqCst);
        display.write_all(ENTER)?;
        display.flush()
    }

    /// Waits until a key is pressed, a signal comes or somebody else wants something.
    pub fn wait(&mut self) -> io::Result<Woken> {
        loop {
            let silent = self.heard.elapsed();
            let wait = match self.held.is_empty() {
                true => None,
                false if silent < REST => Some(REST),
                false => input::is_in_paste(&self.held).then_some(PASTE_REST),
            };
            let left = wait.map(|wait| wait.saturating_sub(silent));
            let timeout = left.map(|left| Timespec {
                tv_sec: left.as_secs().cast_signed(),
                tv_nsec: left.subsec_nanos().into(),
            });
            let mut fds = [
                PollFd::new(&self.tty, PollFlags::IN),
                PollFd::new(&self.woken, PollFlags::IN),
            ];
            match poll(&mut fds, timeout.as_ref()) {
                Err(Errno::INTR) => continue,
                ready => ready?,
            };
            let [tty, woken] = [fds[0].revents(), fds[1].revents()];
            if woken.contains(PollFlags::IN) {
                let mut bytes = [0; 256];
                while matches!((&self.woken).read(&mut bytes), Ok(1..)) {}
            }
            let mut is_gone = tty.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL);
            if tty.contains(PollFlags::IN) {
                self.heard = Instant::now();
                self.held.reserve(4096);
                match rustix::io::read(&self.tty, spare_capacity(&mut self.held)) {
                    Ok(0) => is_gone = true,
                    Ok(_) | Err(Errno::INTR | Errno::AGAIN) => {}
                    Err(_) => is_gone = true,
                }
            }
            let silent = self.heard.elapsed();
            if silent >= PASTE_REST && input::is_in_paste(&self.held) {
                input::end_paste(&mut self.held);
            }
            let keys = input::take(&mut self.held, silent >= REST);
            if keys.is_empty()
                && !self.held.is_empty()
                && !is_gone
                && !woken.contains(PollFlags::IN)
            {
                continue;
            }
            return Ok(Woken { keys, is_gone });
        }
    }

    /// The signal that is to end the program, if one came.
    pub fn ended(&self) -> Option<i32> {
        Some(self.ended.load(Ordering::Relaxed) as i32).filter(|signal| *signal != 0)
    }

    /// Another program asked us to stop for a while.
    pub fn is_stopped(&self) -> bool {
        self.stopped.swap(false, Ordering::Relaxed)
    }

    /// The program goes on after it was stopped; the terminal may be in any state then.
    pub fn is_continued(&self) -> bool {
        self.continued.swap(false, Ordering::Relaxed)
    }

    /// Takes the terminal again after somebody else may have had it, and draws all of it.
    pub fn retake(display: &mut Display) -> io::Result<()> {
        HELD.store(false, Ordering::SeqCst);
        let _ = disable_raw_mode();
        Screen::take(display.backend_mut())?;
        Screen::redraw(display)
    }

    /// Lets the next frame draw all of the screen. `Terminal::clear` would ask the terminal where the cursor is, and not
    /// every one answers.
    pub fn redraw(display: &mut Display) -> io::Result<()> {
        let area = display.get_frame().area();
        display.resize(area)
    }

    /// Stops until the shell lets it go on.
    pub fn suspend(&self, display: &mut Display) -> io::Result<()> {
        self.lend(display, || {
            let _ = emulate_default_handler(SIGTSTP);
        })
    }

    /// Gives the terminal to somebody else for a while.
    pub fn lend<T>(&self, display: &mut Display, other: impl FnOnce() -> T) -> io::Result<T> {
        Write::flush(display.backend_mut())?;
        give_back();
        self.lent.store(true, Ordering::SeqCst);
        let result = other();
        self.lent.store(false, Ordering::SeqCst);
        // Ctrl-C and Ctrl-Z were meant for the other one.
        let _ =
            self.ended
                .compare_exchange(SIGINT as usize, 0, Ordering::Relaxed, Ordering::Relaxed);
        self.stopped.store(false, Ordering::Relaxed);
        Screen::take(display.backend_mut())?;
        self.continued.store(false, Ordering::Relaxed);
        Screen::redraw(display)?;
        Ok(result)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
        self.closed.store(true, Ordering::SeqCst);
    }
}

/// Ends the program as a signal does that nobody handles.
pub fn end_by(signal: i32) {
    let _ = emulate_default_handler(signal);
}

/// Sets the title of the terminal.
pub fn title(text: &str) -> String {
    format!("\x1b]2;{text}\x07")
}

/// Puts a text on the clipboard.
pub fn copied(text: &str) -> String {
    format!("\x1b]52;c;{}\x07", base64(text.as_bytes()))
}

/// A bell and a notification. There are three sequences for that, and one that knows two would notify twice.
pub fn notification(text: &str, env: &Env) -> String {
    // It must not end the sequence or be taken for another part of it.
    let text: String = text
        .chars()
        .map(|char| {
            if char == ';' || char.is_control() {
                ','
            } else {
                char
            }
        })
        .collect();
    let is_like_urxvt = env.var("VTE_VERSION").is_some()
        || env.var("TERM").is_some_and(|term| {
            ["rxvt", "foot"]
                .iter()
                .any(|name| term.to_string_lossy().starts_with(name))
        });
    // Kitty's own protocol also brings its window to the front when the user clicks. It knows the variable inside tmux, too.
    let is_kitty = env.var("KITTY_WINDOW_ID").is_some()
        || env.var("TERM").is_some_and(|term| term == "xterm-kitty");
    let note = if is_kitty {
        format!("\x1b]99;;{text}\x1b\\")
    } else if is_like_urxvt {
        format!("\x1b]777;notify;session-monitor;{text}\x1b\\")
    } else {
        format!("\x1b]9;{text}\x1b\\")
    };
    match env.var("TMUX") {
        // It passes on what it does not know only if it is asked to.
        Some(_) => format!("\x07\x1bPtmux;{}\x1b\\", note.replace('\x1b', "\x1b\x1b")),
        None => format!("\x07{note}"),
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let four = |three: &[u8]| {
        let number = (0..3).fold(0u32, |sum, index| {
            sum << 8 | u32::from(three.get(index).copied().unwrap_or(0))
        });
        let digit = |index: usize| {
            if index <= three.len() {
                char::from(DIGITS[(number >> (18 - 6 * index)) as usize & 63])
            } else {
                '='
            }
        };
        (0..4).map(digit).collect::<String>()
    };
    bytes.chunks(3).map(four).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_in_the_standard() {
        let cases = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
            ("é?>", "w6k/Pg=="),
        ];
        for (text, expected) in cases {
            assert_eq!(base64(text.as_bytes()), expected);
        }
    }

    #[test]
    fn nothing_ends_a_notification_but_its_end() {
        let env = |vars: &[(&str, &str)]| {
            Env::given(
                vars.iter().map(|(name, value)| (name.into(), value.into())),
                "/".into(),
                None,
            )
        };
        let text = "a; \u{1b}]0;x\u{7} b";
        assert_eq!(
            notification(text, &env(&[])),
            "\u{7}\u{1b}]9;a, ,]0,x, b\u{1b}\\"
        );
        assert_eq!(
            notification(text, &env(&[("TERM", "foot")])),
            "\u{7}\u{1b}]777;notify;session-monitor;a, ,]0,x, b\u{1b}\\"
        );
        for kitty in [("KITTY_WINDOW_ID", "3"), ("TERM", "xterm-kitty")] {
            assert_eq!(
                notification(text, &env(&[kitty, ("VTE_VERSION", "7600")])),
                "\u{7}\u{1b}]99;;a, ,]0,x, b\u{1b}\\"
            );
        }
        assert_eq!(
            notification("a", &env(&[("TMUX", "x"), ("KITTY_WINDOW_ID", "3")])),
            "\u{7}\u{1b}Ptmux;\u{1b}\u{1b}]99;;a\u{1b}\u{1b}\\\u{1b}\\"
        );
        assert_eq!(
            notification("a", &env(&[("TMUX", "x")])),
            "\u{7}\u{1b}Ptmux;\u{1b}\u{1b}]9;a\u{1b}\u{1b}\\\u{1b}\\"
        );
    }
}
