//! The hook: on a prompt, what happened in the other sessions since this one last looked.
//!
//! ```text
//! stdin ──ask──▶ Ask ──survey──▶ Survey ──tell──▶ text ──deliver──▶ stdout, then the cursors
//! ```
//!
//! [`ask`] reads what the agent says. [`survey`] finds out what is new: [`candidates`] says which files to open, [`news`]
//! reads one, [`round`] which directories to look into, [`own`] what the observer did itself, [`overlap`] whether that matters. [`tell`] puts it into words, [`start`] at the beginning of a session.
//! [`deliver`] prints it and moves the cursors. `explain` and `demo` use the same steps without the last.
//!
//! It must never harm the prompt: whatever goes wrong is a line on stderr and in the journal, and stdout has the whole
//! reply or nothing.
//!
//! Which file uses which:
//! ```text
//! start ──▶ ask
//! tell, start, deliver ──▶ survey ──▶ news, observer
//! survey ──▶ candidates ──▶ round ──▶ news, survey
//! tell ──▶ own ──▶ survey, news, overlap
//! deliver ──▶ observer
//! ```

pub mod ask;
mod candidates;
pub mod deliver;
pub mod news;
mod observer;
mod overlap;
mod own;
mod round;
mod start;
pub mod survey;
mod tell;

use std::ffi::OsString;
use std::io::Write;
use std::mem::ManuallyDrop;

use ask::{Ask, Asked, Source};
pub use observer::Observer;
use survey::{News, Surveyor};
pub use tell::tell;

use crate::budget::Deadline;
use crate::env::Env;
use crate::format::{self, Known};
use crate::settings::Settings;
use crate::show::gate::Gate;
use crate::show::untrusted::length;
use crate::state::cursors::{Cursors, Look};
use crate::state::journal::{HookRun, Journal};
use crate::state::notes::Notes;

/// Notes in the journal that the program itself is at fault: nobody sees the stderr of a hook.
pub fn note_fault(fault: &str, env: &Env) {
    let note = HookRun { time: Some(env.now()), trouble: vec![fault.into()], ..HookRun::default() };
    let _ = Journal::in_dir(&env.state_dir()).append(&note);
}

/// A run of the hook, and all that goes wrong in it.
pub struct Run<'r> {
    out: &'r mut dyn Write,
    err: &'r mut dyn Write,
    deadline: Deadline,
    note: HookRun,
}

/// What the command line of the hook says.
#[derive(Debug, Default)]
struct Flags {
    agent: Option<String>,
    /// Settings by their keys.
    set: Vec<(&'static str, String)>,
}

impl<'r> Run<'r> {
    pub fn new(out: &'r mut dyn Write, err: &'r mut dyn Write) -> Run<'r> {
        let deadline = Deadline::after(Settings::default().deadline);
        Run { out, err, deadline, note: HookRun::default() }
    }

    /// Says what is wrong, once; the prompt goes on.
    fn trouble(&mut self, what: impl std::fmt::Display) {
        let what = Gate::new(true).line(what.to_string()).into_owned();
        // Looking for news and for what a prompt names may both fail at the same file.
        if self.note.trouble.iter().any(|said| said.starts_with(&what)) {
            return;
        }
        let _ = writeln!(self.err, "session-context: {what}");
        self.note.trouble.push(what);
    }

    /// Answers one call of the hook.
    pub fn answer(mut self, args: impl Iterator<Item = OsString>, mut env: Env) {
        if env.is_off() {
            return;
        }
        let flags = self.flags(args);
        self.note.time = Some(env.now());
        if let Err(problem) = self.ask(&flags, &mut env) {
            self.trouble(problem);
        }
        if !self.note.text.is_empty() || !self.note.trouble.is_empty() {
            self.note.cwd = env.cwd.to_string_lossy().into_owned();
            self.note.micros = u64::try_from(self.deadline.taken().as_micros()).unwrap_or(u64::MAX);
            let note = std::mem::take(&mut self.note);
            if let Err(error) = Journal::in_dir(&env.state_dir()).append(&note) {
                self.trouble(format_args!("{}: {error}; not noted in the journal", env.state_dir().display()));
            }
        }
    }

    /// Flags that are wrong are said and passed over: a hook that fails would stop the prompt.
    fn flags(&mut self, args: impl Iterator<Item = OsString>) -> Flags {
        let mut flags = Flags::default();
        let mut args = args.map(|arg| arg.to_string_lossy().into_owned());
        while let Some(arg) = args.next() {
            let (name, value) = match arg.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (&*arg, None),
            };
            let key = match name {
                "--agent" => None,
                "--budget" => Some("budget"),
                "--scope" => Some("scope"),
                _ => {
                    self.trouble(format_args!("unknown argument '{arg}', ignored; see session-context --help"));
                    continue;
                }
            };
            match (key, value.or_else(|| args.next())) {
                (_, None) => self.trouble(format_args!("{name} needs a value, ignored")),
                (None, agent) => flags.agent = agent,
                (Some(key), Some(value)) => flags.set.push((key, value)),
            }
        }
        flags
    }

    fn ask(&mut self, flags: &Flags, env: &mut Env) -> Result<(), String> {
        let (mut settings, wrong) = Settings::read(env);
        wrong.iter().for_each(|wrong| self.trouble(wrong));
        for (key, text) in &flags.set {
            if let Err(why) = settings.set(key, text, env) {
                self.trouble(format_args!("--{key} {text}: {why}; ignored"));
            }
        }
        self.deadline = self.deadline.of(settings.deadline).after_looks(env.looks());
        env.deadline = Some(self.deadline);
        let (formats, bad) = format::known(&env.formats_dir());
        bad.iter().for_each(|bad| self.trouble(bad));
        // The program ends when it has answered; taking the formats apart first would be for nothing.
        let formats = ManuallyDrop::new(formats);
        let stdin = env.stdin(self.deadline.left())?;
        let (ask, source) = match Ask::read(&stdin, flags.agent.as_deref(), &formats, env)? {
            Asked::Prompt(ask) => (ask, None),
            Asked::Start(_, Source::Resumed) | Asked::Nothing => return Ok(()),
            Asked::Start(ask, source) => (ask, Some(source)),
        };
        if let Some(cwd) = &ask.cwd {
            env.cwd.clone_from(cwd);
        }
        if settings.ignores(&env.cwd) {
            return Ok(());
        }
        self.reply(&ask, source, &settings, &formats, env)
    }

    /// What a session is told once: where the work stopped, when it begins, or with its first prompt where the agent has no
    /// event for that; and with the first prompt, what that names of earlier work.
    fn begin(&mut self, ask: &Ask, source: Option<Source>, surveyor: &Surveyor, news: &[News]) -> String {
        let look = surveyor.view.look.as_ref();
        let started = look.is_some_and(|look| look.started);
        let is_first_look = look.is_none_or(|look| look.looked().is_none());
        let is_first_prompt = source.is_none() && is_first_look && surveyor.is_first_prompt();
        let source = match source {
            Some(Source::New) if started => return String::new(),
            None if !is_first_prompt => return String::new(),
            None if ask.starts_with_prompt() && !started => Some(Source::New),
            source => source,
        };
        let begun = match source {
            Some(source) => {
                let (notes, wrong) = Notes::read(surveyor.env, surveyor.project_dir());
                wrong.iter().for_each(|wrong| self.trouble(wrong));
                surveyor.start(source, &ask.prompt, news, &notes)
            }
            None => surveyor.recalled(&ask.prompt, news),
        };
        surveyor.unreadable().iter().for_each(|bad| self.trouble(bad));
        begun
    }

    /// Prints what is told at the start, and remembers that it was.
    fn close_start(&mut self, ask: &Ask, text: &str, cursors: &mut Cursors, now: &Look) -> Result<(), String> {
        if text.is_empty() {
            return Ok(());
        }
        deliver::print(&ask.reply(text), self.out)?;
        text.clone_into(&mut self.note.text);
        // What happened before counts as news for the first prompt still.
        cursors.view.look.get_or_insert_with(|| Look::new(now.since)).started = true;
        deliver::save(cursors)
    }

    fn reply(
        &mut self,
        ask: &Ask,
        source: Option<Source>,
        settings: &Settings,
        formats: &[Known],
        env: &Env,
    ) -> Result<(), String> {
        let observer = Observer::new(ask.format, &ask.session, ask.transcript.clone(), env, settings);
        if let Some(bad) = observer.bad.first() {
            return Err(format!("{bad}; what is new will be told when it can be read"));
        }
        self.note.agent.clone_from(&ask.format.name);
        observer.key().clone_into(&mut self.note.session);
        let deadline = self.deadline;
        let file = observer.cursors(env);
        let opened = Cursors::open(file, observer.key(), &deadline, &mut |what| self.trouble(what));
        let mut cursors = opened.ok_or("the cursors are in use; what is new will be told with the next prompt")?;
        if cursors.view.look.as_ref().is_some_and(|look| look.muted) {
            return Ok(());
        }
        let position = cursors.position();
        let surveyor =
            Surveyor { position, ..Surveyor::new(env, settings, formats, &observer, &cursors.view, &deadline) };
        let now = surveyor.look();
        if source.is_some() {
            let begun = self.begin(ask, source, &surveyor, &[]);
            return self.close_start(ask, &begun, &mut cursors, &now);
        }
        let survey = surveyor.survey();
        let begun = self.begin(ask, None, &surveyor, &survey.news);
        let room = settings.budget.saturating_sub(if begun.is_empty() { 0 } else { length(&begun) + 1 });
        let block = tell(&survey, &surveyor, room);
        let fault = env.var("SESSION_CONTEXT_FAULT").filter(|_| cfg!(debug_assertions));
        assert!(fault.is_none_or(|fault| fault != "panic"), "asked for by SESSION_CONTEXT_FAULT");
        for bad in survey.bad.iter().chain(&*surveyor.unreadable()) {
            self.trouble(bad);
        }
        cursors.wrong().for_each(|wrong| self.trouble(wrong));
        if survey.cut_short {
            self.trouble(format_args!("not everything was read within {:?}; the rest follows", settings.deadline));
        }
        if !survey.news.is_empty() && block.shown.is_empty() && begun.is_empty() {
            self.trouble(format_args!("nothing fits into {} characters; see --budget", settings.budget));
        }
        let text = [begun.as_str(), block.text.as_str()].into_iter().filter(|text| !text.is_empty());
        let text = text.collect::<Vec<_>>().join("\n");
        if !text.is_empty() {
            deliver::print(&ask.reply(&text), self.out)?;
            self.note.text = text;
        }
        let position = survey.position;
        // A session that was told where the work stopped has not looked yet.
        let is_first = cursors.view.look.as_ref().is_none_or(|look| look.looked().is_none());
        if deliver::settle(&mut cursors, survey, &block, now) || !begun.is_empty() {
            if let (false, Some(look)) = (begun.is_empty(), &mut cursors.view.look) {
                look.started = true;
            }
            if is_first {
                deliver::forget(&mut cursors, &observer, env);
            }
            deliver::save(&cursors)?;
        }
        // As with the formats, nobody needs it any more. But the lock goes.
        std::mem::forget(std::mem::take(&mut cursors.view));
        position.map_or(Ok(()), |position| deliver::set_position(&cursors, position))
    }
}
