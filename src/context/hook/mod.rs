//! The hook: on a prompt, what happened in the other sessions since this one last looked. Each step returns a value:
//!
//! ```text
//! stdin ──ask──▶ Ask ──observer──▶ Observer, Cursors
//!       ──observe──▶ Observed ──read──▶ Readings ──own──▶ Own ──compare──▶ Compared     (all of it: a Report)
//!       ──(start)──▶ ──say──▶ text ──deliver──▶ stdout, then the cursors
//! ```
//!
//! [`ask`] reads what the agent says, and wraps the reply in the agent's own JSON at the end. [`observer`] is the session that
//! asks; [`context`] has all that a look depends on. [`observe`] says which files to open: [`known`] of those that were seen
//! before, [`names`] of a home's, [`walk`] of all others, and [`round`] which directories it goes into. [`candidate`] is a file
//! that may have news, or the verdict on it; [`observed`] collects them, and [`ids`] are those of all sessions. [`read`] opens
//! them, and [`reader`] says what is new in one. [`own`] reads what the observer did itself, if [`overlap`] finds that it may
//! matter. [`compare`] makes news of it, without what is a copy. [`report`] has these steps in their order. [`start`] is for
//! the beginning of a session: at its first prompt, the earlier session that the prompt names. [`say`] finds the conflicts and
//! puts all into words. [`deliver`] prints it, and then the cursors are saved. `explain` and `demo` use the same steps without
//! the last.
//!
//! It must never harm the prompt: whatever goes wrong is a line on stderr and in the journal, and stdout has the whole
//! reply or nothing.
//!
//! Which file uses which:
//! ```text
//! candidate ──▶ context
//! compare, read, round ──▶ candidate, context, reader
//! context ──▶ observer
//! deliver ──▶ context, observed, observer, report
//! ids ──▶ context, observer
//! known ──▶ candidate, context, names, observed
//! names, reader ──▶ candidate, context
//! observe ──▶ context, known, names, observed, walk
//! observed ──▶ candidate, context, ids, round
//! own ──▶ candidate, context, ids, overlap, reader
//! report ──▶ candidate, compare, context, ids, observe, observed, own, read, reader, round
//! say ──▶ compare, context, ids, report
//! start ──▶ ask, compare, context, ids, own, reader
//! walk ──▶ candidate, context, ids, known, observed, round
//! ```

pub mod ask;
pub mod candidate;
mod compare;
pub mod context;
mod deliver;
mod ids;
mod known;
mod names;
mod observe;
mod observed;
mod observer;
mod overlap;
mod own;
mod read;
mod reader;
pub mod report;
mod round;
pub mod say;
pub mod start;
mod walk;

use std::ffi::OsString;
use std::io::Write;
use std::mem::ManuallyDrop;

use ask::{Ask, Source};
use context::Context;
use deliver::{Memory, remember};
pub use observer::Observer;
use report::{Report, report};
use say::{Said, say};
use start::{Beginning, Begun};

use session_core::env::Env;
use session_core::formats::{self, AgentFormat};
use session_core::settings::Settings;
use session_core::show::gate::Gate;
use session_core::show::untrusted::length;
use session_core::state::cursors::Cursors;
use session_core::state::journal::{HookRun, Journal};
use session_core::state::notes::Notes;
use session_core::state::seen::Look;
use session_core::state::sessions::Changes;
use session_format::budget::Deadline;

/// Notes in the journal that the program itself is at fault: nobody sees the stderr of a hook.
pub fn note_fault(fault: &str, env: &Env) {
    let note = HookRun {
        time: Some(env.now()),
        trouble: vec![fault.into()],
        ..HookRun::default()
    };
    let _ = Journal::in_dir(&env.state_dir()).append(&note);
}

/// A run of the hook, and all that goes wrong in it.
pub struct Run<'r> {
    out: &'r mut dyn Write,
    err: &'r mut dyn Write,
    deadline: Deadline,
    note: HookRun,
}

/// The hook's command line.
#[derive(Debug, Default)]
struct Flags {
    agent: Option<String>,
    /// Settings by their keys.
    set: Vec<(&'static str, String)>,
}

impl<'r> Run<'r> {
    pub fn new(out: &'r mut dyn Write, err: &'r mut dyn Write) -> Run<'r> {
        let deadline = Deadline::after(Settings::default().deadline);
        Run {
            out,
            err,
            deadline,
            note: HookRun::default(),
        }
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

    fn trouble_all<T: std::fmt::Display>(&mut self, all: impl IntoIterator<Item = T>) {
        all.into_iter().for_each(|what| self.trouble(what));
    }

    /// Answers one call of the hook.
    pub fn answer(mut self, args: impl Iterator<Item = OsString>, mut env: Env) {
        if env.is_off() {
            return;
        }
        let flags = self.flags(args);
        self.note.time = Some(env.now());
        if let Err(problem) = self.read_and_tell(&flags, &mut env) {
            self.trouble(problem);
        }
        if !self.note.text.is_empty() || !self.note.trouble.is_empty() {
            self.note.cwd = env.cwd.to_string_lossy().into_owned();
            self.note.micros = u64::try_from(self.deadline.taken().as_micros()).unwrap_or(u64::MAX);
            let note = std::mem::take(&mut self.note);
            if let Err(error) = Journal::in_dir(&env.state_dir()).append(&note) {
                self.trouble(format_args!(
                    "{}: {error}; not noted in the journal",
                    env.state_dir().display()
                ));
            }
        }
    }

    /// Flags that are wrong are said and passed over: a hook that fails would stop the prompt.
    fn flags(&mut self, args: impl Iterator<Item = OsString>) -> Flags {
        let mut flags = Flags::default();
        let mut args = args.map(|arg| arg.to_string_lossy().into_owned());
        while let Some(arg) = args.next() {
            let (name, value) = arg.split_once('=').map_or((&*arg, None), |(name, value)| {
                (name, Some(value.to_owned()))
            });
            let key = match name {
                "--agent" => None,
                "--budget" => Some("budget"),
                "--scope" => Some("scope"),
                _ => {
                    self.trouble(format_args!(
                        "unknown argument '{arg}', ignored; see session-context --help"
                    ));
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

    fn read_and_tell(&mut self, flags: &Flags, env: &mut Env) -> Result<(), String> {
        let (mut settings, wrong) = Settings::read(env);
        self.trouble_all(&wrong);
        for (key, text) in &flags.set {
            if let Err(why) = settings.set(key, text, env) {
                self.trouble(format_args!("--{key} {text}: {why}; ignored"));
            }
        }
        self.deadline = self
            .deadline
            .of(settings.deadline)
            .by_test_clock(env.test_clock());
        env.deadline = Some(self.deadline);
        let (formats, bad) = formats::known(&env.formats_dir());
        self.trouble_all(&bad);
        // The program ends when it has answered; taking the formats apart first would be for nothing.
        let formats = ManuallyDrop::new(formats);
        let stdin = env.stdin(self.deadline.left())?;
        let Some(ask) = Ask::read(&stdin, flags.agent.as_deref(), &formats, env)? else {
            return Ok(());
        };
        if let Some(cwd) = &ask.cwd {
            env.cwd.clone_from(cwd);
        }
        if ask.starts == Some(Source::Resumed) || settings.ignores(&env.cwd) {
            return Ok(());
        }
        self.look_and_tell(&ask, &settings, &formats, env)
    }

    fn look_and_tell(
        &mut self,
        ask: &Ask,
        settings: &Settings,
        formats: &[AgentFormat],
        env: &Env,
    ) -> Result<(), String> {
        let observer = Observer::new(
            ask.format,
            &ask.session,
            ask.transcript.clone(),
            env,
            settings,
        );
        if let Some(bad) = observer.bad.first() {
            return Err(format!(
                "{bad}; what is new will be told when it can be read"
            ));
        }
        self.note.agent.clone_from(&ask.format.name);
        observer.key().clone_into(&mut self.note.session);
        let deadline = self.deadline;
        let file = observer.cursor_file(env);
        let mut cursors = Cursors::open(file, observer.key(), &deadline, &mut |what| {
            self.trouble(what);
        })
        .ok_or("the cursors are in use; what is new will be told with the next prompt")?;
        if cursors.view.look.as_ref().is_some_and(|look| look.muted) {
            return Ok(());
        }
        let context = Context {
            env,
            settings,
            formats,
            observer: &observer,
            view: &cursors.view,
            deadline: &deadline,
            explain: false,
            position: cursors.position(),
        };
        let is_first_look = context.is_first_look();
        let memory = match ask.starts {
            Some(source) => self.at_start(ask, source, &context)?,
            None => self.at_prompt(ask, &context)?,
        };
        if memory.is_new {
            if ask.starts.is_none() && is_first_look {
                deliver::forget(&mut cursors, &observer, env);
            }
            deliver::save(&cursors, memory.look, memory.changes)?;
        }
        memory
            .position
            .map_or(Ok(()), |position| deliver::set_position(&cursors, position))
    }

    /// A session begins: it is told once where the work stopped.
    fn at_start(&mut self, ask: &Ask, source: Source, context: &Context) -> Result<Memory, String> {
        // What happened before counts as news for the first prompt still.
        let look = context
            .view
            .look
            .clone()
            .unwrap_or_else(|| Look::new(context.since()));
        let mut text = String::new();
        if source != Source::New || !look.started {
            text = self.begin(Some(source), &ask.prompt, context, None);
        }
        let is_new = !text.is_empty();
        self.deliver(ask, text)?;
        Ok(Memory {
            look: Look {
                started: true,
                ..look
            },
            changes: Changes::new(),
            is_new,
            position: None,
        })
    }

    /// A prompt: what is new in other sessions is told, and with the first one what it names of earlier work, or where the
    /// work stopped if the agent has no event for the start of a session.
    fn at_prompt(&mut self, ask: &Ask, context: &Context) -> Result<Memory, String> {
        let (settings, is_first_look) = (context.settings, context.is_first_look());
        let report = report(context, is_first_look);
        let started = context.view.look.as_ref().is_some_and(|look| look.started);
        let source = (ask.starts_with_prompt() && !started).then_some(Source::New);
        let is_first_prompt = is_first_look && !report.own.was_prompted();
        let mut begun = String::new();
        if is_first_prompt {
            self.trouble_all(&report.own.bad);
            begun = self.begin(source, &ask.prompt, context, Some(&report));
        }
        let has_begun = !begun.is_empty();
        let used = length(&begun) + usize::from(has_begun);
        let Said { block, bad } = say(&report, context, settings.budget.saturating_sub(used));
        fault_for_tests(context.env);
        self.trouble_all(report.bad.iter().chain(&report.own.bad).chain(&bad));
        if report.cut_short {
            self.trouble(format_args!(
                "not everything was read within {:?}; the rest follows",
                settings.deadline
            ));
        }
        if !report.news.is_empty() && block.shown.is_empty() && !has_begun {
            self.trouble(format_args!(
                "nothing fits into {} characters; see --budget",
                settings.budget
            ));
        }
        let mut text = begun;
        if has_begun && !block.text.is_empty() {
            text.push('\n');
        }
        text.push_str(&block.text);
        self.deliver(ask, text)?;
        let mut memory = remember(report, &block, context);
        memory.look.started |= has_begun;
        memory.is_new |= has_begun;
        Ok(memory)
    }

    /// The text for a session that begins.
    fn begin(
        &mut self,
        source: Option<Source>,
        prompt: &str,
        context: &Context,
        report: Option<&Report>,
    ) -> String {
        let notes = source.map(|source| {
            let (notes, wrong) = Notes::read(context.env, context.observer.project.dir());
            self.trouble_all(&wrong);
            (source, notes)
        });
        let beginning = Beginning {
            start: notes.as_ref().map(|(source, notes)| (*source, notes)),
            prompt,
            told: report.map(|report| &*report.news).unwrap_or_default(),
            ids: report.and_then(|report| report.ids.as_ref()),
        };
        let Begun { text, bad } = beginning.say(context);
        self.trouble_all(&bad);
        text
    }

    /// Prints what is told, if there is anything.
    fn deliver(&mut self, ask: &Ask, text: String) -> Result<(), String> {
        if !text.is_empty() {
            deliver::print(&ask.reply(&text), self.out)?;
            self.note.text = text;
        }
        Ok(())
    }
}

/// A test asks for a panic in the middle of the work.
fn fault_for_tests(env: &Env) {
    let fault = env
        .var("SESSION_CONTEXT_FAULT")
        .filter(|_| cfg!(debug_assertions));
    assert!(
        fault.is_none_or(|fault| fault != "panic"),
        "asked for by SESSION_CONTEXT_FAULT"
    );
}
