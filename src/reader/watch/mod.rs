//! `session-reader watch`: all sessions on one screen, who needs the user first, with the log of the selected one.
//!
//! A thread keeps the sessions up to date (`feed`) and wakes the main loop, which reads keys, does what they ask for and
//! draws. It draws when a key was pressed or something on the screen is different, and is asleep otherwise.
//!
//! | file | owns |
//! |---|---|
//! | `model`, `keys` | what is shown, and what each key makes of it |
//! | `feed` | rows from sessions |
//! | `finder`, `searcher` | what one types to find a session; the thread that looks for it |
//! | `live_log` | the log of one session |
//! | `effects` | what keys do outside of the screen |
//! | `terminal`, `input` | the terminal, taken and given back; its keys |
//! | `demo` | made-up sessions |
//!
//! `view` draws it.

mod demo;
mod effects;
mod feed;
mod finder;
mod input;
mod keys;
mod live_log;
mod model;
mod searcher;
mod terminal;
#[cfg(test)]
mod tests;
mod view;

use std::io::{self, Write};
use std::mem::ManuallyDrop;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};

use super::args::{FindArgs, WatchArgs};
use super::monitor::Monitor;
use super::{Exit, Problem, Stage};
use feed::{Rows, Snapshot};
use finder::{Answer, Finder, Request};
use live_log::LiveLog;
use model::{LogLines, Model};
use session_core::ask::Asker;
use session_core::ask::handover::startable;
use session_core::env::Env;
use session_core::file::Unreadable;
use session_core::formats::AgentFormat;
use session_core::session::Project;
use session_core::session::state::Group;
use session_core::show::gate::Gate;
use session_format::hash::HashMap;
use session_format::path::destination;
use session_format::time::Time;
use terminal::{Display, Screen, Woken};
use view::{Layout, WatchRow};

/// More of a terminal is not used, whatever size it says it has.
const WIDEST: u16 = 1000;
const HIGHEST: u16 = 500;

pub fn run(args: WatchArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    if !args.once && stage.style.height.is_none() {
        return Problem::trouble(
            "watch needs a terminal; `session-reader watch --once` prints one frame as text",
        );
    }
    if !args.demo {
        let ended = watch(args, None, stage);
        return end(ended);
    }
    let home = stage.env.temporary_dir("session-reader-demo");
    let home = home.map_err(|error| Problem::Trouble(format!("a temporary directory: {error}")))?;
    let ended = watch_demo(args, &home, stage);
    std::fs::remove_dir_all(&home).map_err(|error| Unreadable::new(&home, error))?;
    end(ended)
}

/// The exit status, and the signal that ended it.
type Ended = Result<(Exit, Option<i32>), Problem>;

fn end(ended: Ended) -> Result<Exit, Problem> {
    let (exit, signal) = ended?;
    if let Some(signal) = signal {
        terminal::end_by(signal);
    }
    Ok(exit)
}

fn watch_demo(args: WatchArgs, home: &Path, stage: &mut Stage) -> Ended {
    let failed = |error| Problem::from(Unreadable::new(home, error));
    let real = home.canonicalize().map_err(failed)?;
    let now = if args.once {
        Time::parse(demo::NOON).unwrap_or_default()
    } else {
        stage.env.now()
    };
    let world = demo::World::make(&real, now).map_err(failed)?;
    let env = world.env(stage.env, args.once);
    watch(
        WatchArgs { all: true, ..args },
        Some(world),
        &mut stage.at(&env),
    )
}

fn watch(args: WatchArgs, demo: Option<demo::World>, stage: &mut Stage) -> Ended {
    let here = stage
        .env
        .tilde(Project::of(stage.env, &stage.env.cwd).dir());
    let here = stage.gate.line(here).into_owned();
    let model = Model::new(args.all, here);
    if args.once {
        once(model, stage).map(|exit| (exit, None))
    } else {
        interactive(args.notify, model, None, demo, stage)
    }
}

/// What is printed of a session that was picked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    Line,
    Cwd,
}

/// True if there is somebody who can pick a session, wherever the output goes.
pub fn is_at_terminal() -> bool {
    terminal::is_at_terminal()
}

/// Finds a session as somebody types, and prints it if it is wanted.
pub fn find(args: &FindArgs, wanted: Option<Wanted>, stage: &mut Stage) -> Result<Exit, Problem> {
    let here = stage
        .env
        .tilde(Project::of(stage.env, &stage.env.cwd).dir());
    let here = stage.gate.line(here).into_owned();
    let finder = Finder {
        text: args.line(),
        all: args.all,
        is_alone: true,
        picks: wanted.is_some(),
        ..Finder::default()
    };
    let mut model = Model::new(true, here);
    let _ = model.open_finder(finder);
    end(interactive(false, model, wanted, None, stage))
}

/// Prints one frame.
fn once(mut model: Model, stage: &mut Stage) -> Result<Exit, Problem> {
    /// Width without a terminal, and lines of the log.
    const WIDTH: usize = 80;
    const LOG: u16 = 10;
    let sessions = stage.sessions();
    let now = stage.env.now();
    let mut rows = Rows::new(stage.env, stage.gate, stage.settings.conflict_window);
    let mut all = rows.all(&sessions, now);
    let (conflicts, mut bad) = rows.conflicts(&sessions, &mut all, now);
    let width = stage.style.width.unwrap_or(WIDTH).clamp(20, 1000) as u16;
    model.is_printed = true;
    // As high as needed.
    model.resize(width, u16::MAX);
    model.set_rows(all, conflicts);
    let mut log = match model.selected() {
        Some(row) if row.group.is_active() => LOG,
        _ => 0,
    };
    if let Some(opened) = model
        .log_target()
        .filter(|_| log > 0)
        .and_then(|(path, _)| {
            let transcript = effects::transcript(model.selected()?, stage.formats)?;
            (*transcript.session.path == *path).then(|| {
                LiveLog::open(transcript, None)
                    .map_err(|error| bad.push(error))
                    .ok()
            })?
        })
    {
        let room = usize::from(width) - 1;
        let lines = opened.lines(stage.env, stage.gate, room, 0, None);
        let waits_for = model.selected().map(|row| row.waits_for.clone());
        let lines = lines.and_waiting(&waits_for.unwrap_or_default(), room);
        log = (log + lines.waiting as u16).min(lines.lines.len() as u16);
        model.set_log(lines);
    }
    stage.say_unreadable(&bad);
    let mut screen = model.screen();
    screen.layout = Layout::page(width, screen.items.len(), log);
    screen.selected = screen.selected.filter(|_| log > 0);
    let lines = view::page(&screen, stage.style);
    stage.print_lines(lines)
}

/// Flags between the threads.
#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    /// The sessions are to be looked at now.
    look: AtomicBool,
    /// The number of the newest question of the finder.
    asked: AtomicU64,
}

impl Shared {
    /// Whether to look now, unless it ends.
    fn goes_on(&self) -> Option<bool> {
        let ends = self.stop.load(Ordering::Relaxed);
        (!ends).then(|| self.look.swap(false, Ordering::Relaxed))
    }
}

fn interactive(
    notify: bool,
    model: Model,
    wanted: Option<Wanted>,
    demo: Option<demo::World>,
    stage: &mut Stage,
) -> Ended {
    let mut quiet = stage.env.clone();
    quiet.progress = None;
    let shared = Shared::default();
    let (answer, answers) = channel();
    let (requests, asked) = channel();
    let (sender, snapshots) = channel();
    let (env, formats, gate) = (stage.env, stage.formats, stage.gate);
    let window = stage.settings.conflict_window;
    let is_demo = demo.is_some();
    let agents = if is_demo {
        Vec::new()
    } else {
        startable(env, formats)
    };
    let named = |format: &AgentFormat| (format.name.clone(), format.label().to_owned());
    let others: Vec<(String, String)> = agents.into_iter().map(named).collect();
    std::thread::scope(|scope| {
        let (quiet, shared) = (&quiet, &shared);
        // Whatever happens, the threads end.
        let stop = StopOnDrop(shared);
        let (send_waker, waker) = channel();
        let (send_finder_waker, finder_waker) = channel();
        let feed = start(scope, move || {
            let mut outlet = Outlet::new(sender, waker);
            let monitor = Monitor::start(env, formats);
            let goes_on = || shared.goes_on();
            feed::run(gate, window, others, monitor, quiet, goes_on, |snapshot| {
                outlet.send(snapshot);
            });
        })?;
        let asker = Asker {
            env: quiet,
            ..stage.ask()
        };
        let finder = start(scope, move || {
            let mut outlet = Outlet::new(answer, finder_waker);
            searcher::answer_all(asker, gate, window, &asked, &shared.asked, |answer| {
                outlet.send(answer);
            });
        })?;
        if let Some(world) = demo {
            // Without a thread, the demo goes on without changes.
            let _ = start(scope, move || play(world, quiet, shared));
        }
        let show = move || -> Ended {
            // Counting very many sessions for the first time takes a while, and until then Ctrl-C just ends it.
            let Ok(Some(first)) = snapshots.recv() else {
                return Err(not_fed());
            };
            // What is picked goes where the output goes, and the screen to the terminal.
            let mut tty = wanted.map(|_| terminal::draw_on_tty()).transpose()?;
            let colour = stage.style.colour || wanted.is_some() && stage.env.colour(true);
            let stage = Stage {
                env: quiet,
                out: stage.out,
                err: stage.err,
                ..*stage
            };
            let out: &mut dyn Write = match &mut tty {
                Some(tty) => tty,
                None => &mut *stage.out,
            };
            let mut screen = Screen::open(out)?;
            for send in [send_waker, send_finder_waker] {
                let _ = screen.waker().map(|waker| send.send(waker));
            }
            let display = display(out)?;
            let mut silent = Stage {
                out: &mut std::io::sink(),
                err: &mut std::io::sink(),
                ..stage
            };
            let mut app = App {
                model,
                display,
                colour,
                log: None,
                notifies: notify.then(Notified::default),
                title: String::new(),
                bad: Vec::new(),
                is_demo,
                shared,
                requests,
                picked: None,
                stage: &mut silent,
            };
            app.take(first);
            app.search(true);
            let ended = app.run(&mut screen, &snapshots, &answers)?;
            let picked = app.picked.take();
            drop(screen);
            let Some(wanted) = wanted else {
                return Ok(ended);
            };
            let printed = print_picked(picked.as_deref(), wanted, gate, stage.out)?;
            Ok((printed, ended.1))
        };
        let ended = show();
        drop(stop);
        // Whoever panicked has said so.
        let ended = feed.join().map_err(|_| not_fed()).and(ended);
        finder.join().map_err(|_| not_fed()).and(ended)
    })
}

/// Dropping a display prints an error if the terminal is gone, and printing panics then. The screen gives all back.
fn display(out: &mut dyn Write) -> io::Result<ManuallyDrop<Display<'_>>> {
    let viewport = Viewport::Fixed(Rect::default());
    let options = TerminalOptions { viewport };
    Terminal::with_options(CrosstermBackend::new(out), options).map(ManuallyDrop::new)
}

/// Starts a thread that ends before the screen does.
fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    run: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, Problem> {
    let alone = |error| {
        let what = format!("no thread can be started: {error}; `watch --once` needs none");
        Problem::Trouble(what)
    };
    std::thread::Builder::new()
        .spawn_scoped(scope, run)
        .map_err(alone)
}

/// Changes the sessions of the demo until the screen is closed.
fn play(world: demo::World, quiet: &Env, shared: &Shared) {
    let pause = |wait: Duration| {
        let step = Duration::from_millis(50);
        for _ in 0..wait.as_millis() / step.as_millis() {
            if shared.stop.load(Ordering::Relaxed) {
                break;
            }
            std::thread::sleep(step);
        }
        !shared.stop.load(Ordering::Relaxed)
    };
    let _ = world.play(quiet, pause);
}

/// The thread that reads the sessions has ended before its time.
fn not_fed() -> Problem {
    Problem::Trouble("an error in this program: the sessions are no longer read".into())
}

/// Prints what was picked.
fn print_picked(
    row: Option<&WatchRow>,
    wanted: Wanted,
    gate: Gate,
    out: &mut dyn Write,
) -> Result<Exit, Problem> {
    let Some(row) = row else {
        return Ok(Exit::Nothing);
    };
    match wanted {
        Wanted::Line => writeln!(
            out,
            "{}",
            format!("{}  {}", row.handle, row.title).trim_end()
        )?,
        Wanted::Cwd => print_cwd(row.cwd.as_deref(), &row.handle, gate, out)?,
    }
    Ok(Exit::Found)
}

/// Prints the directory of a session. A shell goes there, so it is printed as it is or not at all.
pub fn print_cwd(
    cwd: Option<&Path>,
    handle: &str,
    gate: Gate,
    out: &mut dyn Write,
) -> Result<(), Problem> {
    let Some(cwd) = cwd else {
        return Problem::nothing(format!("{handle} does not say in which directory it is"));
    };
    let whole = cwd.to_str().filter(|cwd| destination(cwd).is_some());
    match whole.and_then(|cwd| gate.as_it_is(cwd)) {
        Some(cwd) => Ok(writeln!(out, "{cwd}")?),
        None => Problem::trouble(format!(
            "the directory of {handle} has something in its name that must not be shown"
        )),
    }
}

/// Where snapshots and answers go. The main loop is woken for each, and when no more will come.
struct Outlet<T> {
    sender: Option<Sender<T>>,
    /// Brings what wakes it, as soon as there is a screen.
    waker: Receiver<UnixStream>,
    wake: Option<UnixStream>,
}

impl<T> Outlet<T> {
    fn new(sender: Sender<T>, waker: Receiver<UnixStream>) -> Outlet<T> {
        Outlet {
            sender: Some(sender),
            waker,
            wake: None,
        }
    }

    fn send(&mut self, what: T) {
        let _ = self.sender.as_ref().map(|sender| sender.send(what));
        // Before the first snapshot nobody sleeps.
        self.wake = self.wake.take().or_else(|| self.waker.recv().ok());
        self.wake();
    }

    fn wake(&mut self) {
        let _ = self.wake.as_mut().map(|wake| wake.write(&[0]));
    }
}

impl<T> Drop for Outlet<T> {
    fn drop(&mut self) {
        self.sender = None;
        self.wake();
    }
}

/// Drains the channel; an error if the feed thread is gone.
fn sent<T>(receiver: &Receiver<T>) -> Result<Vec<T>, Problem> {
    let mut all = Vec::new();
    loop {
        match receiver.try_recv() {
            Ok(one) => all.push(one),
            Err(TryRecvError::Empty) => return Ok(all),
            Err(TryRecvError::Disconnected) => return Err(not_fed()),
        }
    }
}

struct StopOnDrop<'s>(&'s Shared);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
        // Nobody waits for an answer any more.
        self.0.asked.store(u64::MAX, Ordering::Relaxed);
    }
}

struct App<'a, 's, 'f> {
    model: Model,
    display: ManuallyDrop<Display<'a>>,
    colour: bool,
    log: Option<LiveLog<'f>>,
    notifies: Option<Notified>,
    title: String,
    /// The files that could not be read at the last look.
    bad: Vec<String>,
    is_demo: bool,
    shared: &'a Shared,
    /// To the thread that finds sessions.
    requests: Sender<Request>,
    picked: Option<Box<WatchRow>>,
    /// Nothing is printed here: the screen shows what there is.
    stage: &'a mut Stage<'s, 'f>,
}

impl App<'_, '_, '_> {
    fn run(
        &mut self,
        screen: &mut Screen,
        snapshots: &Receiver<Option<Snapshot>>,
        answers: &Receiver<Answer>,
    ) -> Ended {
        let mut is_stale = true;
        loop {
            let size = self.display.size()?;
            let (width, height) = (size.width.min(WIDEST), size.height.min(HIGHEST));
            if (width, height) != (self.model.width, self.model.height) {
                self.display.resize(Rect::new(0, 0, width, height))?;
                self.model.resize(width, height);
                is_stale = true;
            }
            is_stale |= self.renew_log();
            if is_stale {
                self.draw()?;
            }
            let Woken { keys, is_gone } = screen.wait()?;
            if screen.ended().is_some() || is_gone {
                return Ok((Exit::Found, screen.ended()));
            }
            is_stale = !keys.is_empty();
            if screen.is_stopped() {
                screen.suspend(&mut self.display)?;
                is_stale = true;
            }
            if screen.is_continued() {
                Screen::retake(&mut self.display)?;
                is_stale = true;
            }
            for snapshot in sent(snapshots)? {
                is_stale |= self.follow_log();
                if let Some(snapshot) = snapshot {
                    self.take(snapshot);
                    is_stale = true;
                }
            }
            for answer in sent(answers)? {
                if answer.number == self.shared.asked.load(Ordering::Relaxed) {
                    is_stale = true;
                    if let Some(effect) = self.model.take_answer(answer)
                        && self.perform(effect, screen)?
                    {
                        return Ok((Exit::Found, None));
                    }
                }
            }
            for key in keys {
                // What is selected decides what a key does, so another log need not be there yet. How far a key scrolls
                // depends on the lines that there are.
                self.fit_log();
                if let Some(act) = self.model.press(key)
                    && self.perform(act, screen)?
                {
                    return Ok((Exit::Found, None));
                }
            }
        }
    }

    fn draw(&mut self) -> Result<(), Problem> {
        let (model, colour) = (&self.model, self.colour);
        self.display
            .draw(|frame| view::draw(&model.screen(), frame.buffer_mut(), colour))?;
        let title = self.model.title();
        if title != self.title {
            self.send(&terminal::title(&title))?;
            self.title = title;
        }
        Ok(())
    }

    /// Says something in the last line.
    fn say(&mut self, what: impl ToString) {
        self.model.message = self.stage.gate.line(what.to_string()).into_owned();
    }

    /// Sends a sequence to the terminal.
    fn send(&mut self, sequence: &str) -> Result<(), Problem> {
        self.display.backend_mut().write_all(sequence.as_bytes())?;
        Ok(Write::flush(self.display.backend_mut())?)
    }

    fn take(
        &mut self,
        Snapshot {
            rows,
            conflicts,
            bad,
        }: Snapshot,
    ) {
        if let Some(message) = new_trouble(&mut self.bad, bad) {
            self.model.message = message;
        }
        let waited = self.model.selected().map(|row| row.waits_for.clone());
        self.model.set_rows(rows, conflicts);
        if self.model.selected().map(|row| &row.waits_for) != waited.as_ref() {
            self.log_lines(0);
            self.model.show_waiting();
        }
        for text in self
            .notifies
            .as_mut()
            .map(|notified| notified.news(&self.model))
            .unwrap_or_default()
        {
            let sequence = terminal::notification(&text, self.stage.env);
            // If the terminal is gone, the next frame finds out.
            let _ = self.send(&sequence);
        }
    }

    /// Opens the log of the selected session, if that is another one now, or lays it out for the room it has now. Says
    /// whether it did.
    fn renew_log(&mut self) -> bool {
        let target = self
            .model
            .log_target()
            .filter(|_| self.model.layout().log.height > 0);
        if self.log.as_ref().map(|log| &log.target) == target.as_ref() {
            return self.fit_log();
        }
        self.log = None;
        let transcript = target.and_then(|target| {
            let row = self.model.selected()?;
            Some((effects::transcript(row, self.stage.formats)?, target.1))
        });
        if let Some((transcript, at)) = transcript {
            match LiveLog::open(transcript, at) {
                Ok(log) => self.log = Some(log),
                Err(bad) => self.say(bad),
            }
        }
        self.model.log.width = 0;
        self.model.set_log(LogLines::default());
        self.fit_log();
        true
    }

    /// Lays the log out if its pane has another width now. Says whether it has.
    fn fit_log(&mut self) -> bool {
        let (before, width) = (self.model.log.width, self.model.layout().log_room().1);
        let is_open = self
            .log
            .as_ref()
            .is_some_and(|log| Some(&log.target) == self.model.log_target().as_ref());
        if before == width || !is_open {
            return false;
        }
        self.model.log.width = width;
        let lines = self.laid_out(0);
        if before > 0 {
            self.model.rewrap_log(lines);
            return true;
        }
        let hit = lines.hit;
        self.model.set_log(lines);
        match hit {
            Some(line) => self.model.show_line(line),
            None => self.model.show_waiting(),
        }
        true
    }

    fn follow_log(&mut self) -> bool {
        let Some(log) = &mut self.log else {
            return false;
        };
        match log.news(!self.model.log.follows) {
            Ok(0) => false,
            Ok(new) => {
                self.log_lines(new);
                true
            }
            Err(bad) => {
                self.say(bad);
                true
            }
        }
    }

    /// Shows the lines of the log, of which the last `new` entries were added.
    fn log_lines(&mut self, new: usize) {
        let lines = self.laid_out(new);
        self.model.set_log(lines);
    }

    fn laid_out(&mut self, new: usize) -> LogLines {
        self.model.log.is_whole = self.log.as_ref().is_none_or(|log| log.is_whole);
        let (Some(log), width @ 1..) = (&self.log, self.model.log.width) else {
            return LogLines::default();
        };
        let Stage { env, gate, .. } = *self.stage;
        let lines = log.lines(env, gate, width, new, self.model.marks());
        match self.model.selected() {
            Some(row) if row.at.is_none() => lines.and_waiting(&row.waits_for, width),
            _ => lines,
        }
    }
}

/// A message about files that cannot be read: once, and not again over what a key has said since.
fn new_trouble(known: &mut Vec<String>, bad: Vec<String>) -> Option<String> {
    let is_new = *known != bad;
    *known = bad;
    let (first, others) = known.split_first().filter(|_| is_new)?;
    Some(match others.len() {
        0 => first.clone(),
        1 => format!("{first} (and another file)"),
        others => format!("{first} (and {others} more files)"),
    })
}

/// Since when each session needs the user, of those that the user was told of.
#[derive(Default)]
struct Notified {
    since: Option<HashMap<PathBuf, Option<Time>>>,
}

impl Notified {
    /// What to tell of the sessions that have begun to need the user: each once, and none that they look at or that was so
    /// from the start.
    fn news(&mut self, model: &Model) -> Vec<String> {
        let selected = model.selected().map(|row| &row.path);
        let (mut now, mut texts) = (HashMap::default(), Vec::new());
        let rows = model.rows().iter().filter(|row| model.all || row.here);
        for row in rows.filter(|row| row.group.is_urgent()) {
            let is_told = |told: &HashMap<_, _>| told.get(&row.path) == Some(&row.since);
            if !self.since.as_ref().is_none_or(is_told) && selected != Some(&row.path) {
                let why = if row.about.is_empty() {
                    &row.title
                } else {
                    &row.about
                };
                let what = if row.group == Group::Failed {
                    "failed"
                } else {
                    "needs you"
                };
                // Others may see it, so secrets are hidden as they are from a model.
                texts.push(
                    Gate::new(true)
                        .line(format!("{} {what}: {why}", row.name))
                        .into_owned(),
                );
            }
            now.insert(row.path.clone(), row.since);
        }
        self.since = Some(now);
        texts
    }
}
