//! The hook: on a prompt, what happened in the other sessions since this one last looked.
//!
//! ```text
//! stdin ──ask──▶ Observer ──cursors──▶ View ──survey──▶ News ──render──▶ text ──▶ stdout, then the cursors
//! ```
//!
//! It must never harm the prompt: whatever goes wrong is a line on stderr and in the journal, and stdout has the whole
//! reply or nothing. What was printed counts as seen; what did not fit, or could not be printed, does not.

pub mod ask;
mod reading;
mod start;
pub mod survey;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use ask::{Ask, Asked, Source};
use survey::{News, Survey, Surveyor};

use crate::budget::Deadline;
use crate::entry::Id;
use crate::env::Env;
use crate::format::{self, Known};
use crate::locate::{self, Home, Session};
use crate::render::activity::{Block, Bullet, Conflict, Name, block};
use crate::render::terminal::clean;
use crate::render::untrusted::length;
use crate::settings::{Scope, Settings};
use crate::state::cursors::{self, Cursors, Look};
use crate::state::journal::{Journal, Note};
use crate::state::notes::Notes;
use crate::transcript::Transcript;

/// The session that the hook runs for.
#[derive(Debug)]
pub struct Observer<'f> {
    pub format: &'f Known,
    pub id: String,
    /// The named home it is in, and its name there.
    pub home: Option<Home>,
    pub name: Option<String>,
    pub transcript: Option<PathBuf>,
}

impl<'f> Observer<'f> {
    pub fn new(
        format: &'f Known,
        id: &str,
        transcript: Option<PathBuf>,
        env: &Env,
        settings: &Settings,
    ) -> Observer<'f> {
        let home = Home::above(&env.cwd).filter(|_| settings.scope == Scope::Project);
        let name = home.as_ref().and_then(|home| home.name_of(id, transcript.as_deref()));
        let found = || locate::by_id(std::slice::from_ref(format), env, id, &env.cwd).map(|session| session.path);
        let there = transcript.clone().filter(|path| path.is_file());
        Observer { format, id: id.into(), home, name, transcript: there.or_else(found).or(transcript) }
    }

    /// A session as an observer. Its file name may have only the beginning of its id; the file itself has all of it.
    pub fn of(session: Session<'f>, env: &Env, settings: &Settings) -> Observer<'f> {
        let transcript = Transcript::open(&session.path, session.format.format()).ok();
        let whole = transcript.and_then(|transcript| transcript.beginning().session);
        let id = whole.filter(|id| id.starts_with(&session.id) && locate::is_id(id)).unwrap_or(session.id);
        Observer::new(session.format, &id, Some(session.path), env, settings)
    }

    /// What it is called among the observers.
    pub fn key(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.id)
    }

    /// Whether a session is the observer itself.
    pub fn is(&self, session: &Session) -> bool {
        // An id may be shortened in a file name.
        let same_id = session.id.len() >= 8 && self.id.starts_with(&session.id);
        session.name.is_some() && session.name == self.name
            || self.transcript.as_ref() == Some(&session.path)
            || session.format.name == self.format.name && (same_id || self.id == session.id)
    }

    /// Where its cursors are.
    pub fn cursors(&self, env: &Env) -> PathBuf {
        if let Some(home) = &self.home {
            return home.dir().join("session-cursors.json");
        }
        let plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
        let id = if self.id.len() <= 100 && self.id.chars().all(plain) {
            self.id.clone()
        } else {
            format!("{:016x}", Id::of(self.id.as_bytes()).0)
        };
        env.state_dir().join("cursors").join(format!("{}-{id}.json", self.format.name))
    }
}

/// What is to be told, out of what was found.
pub struct Told<'f> {
    pub survey: Survey<'f>,
    pub block: Block,
}

/// Puts what a survey found into words.
pub fn tell<'f>(survey: Survey<'f>, surveyor: &Surveyor<'_, 'f>, budget: usize) -> Told<'f> {
    let (env, settings) = (surveyor.env, surveyor.settings);
    let edits = survey.news.iter().any(|news| !news.edited.is_empty());
    let own = if edits { surveyor.own_files() } else { survey::Touched::new() };
    let bullets: Vec<Bullet> = survey.news.iter().map(|news| bullet(news, &survey, surveyor, &own)).collect();
    let block = block(&bullets, settings.scope, env.now(), budget);
    drop(bullets);
    Told { survey, block }
}

fn bullet<'n>(news: &'n News, survey: &Survey, surveyor: &Surveyor, own: &survey::Touched) -> Bullet<'n> {
    let session = &news.session;
    let title = news.after.title.as_deref().filter(|title| title.chars().count() <= 40);
    let name = match (&session.name, title) {
        (Some(name), _) => Name::Word(name),
        (None, Some(title)) if is_unique(title, news, survey, surveyor) => Name::Title(title),
        (None, _) => Name::Word(locate::short_id(&session.id, surveyor.shared_start(session))),
    };
    let shown = |path: &Path| surveyor.env.shown(path, news.after.cwd.as_deref());
    let mut shared: Vec<_> =
        news.edited.iter().filter_map(|(path, time)| own.get(path).map(|own| (path, *time, *own))).collect();
    shared.sort_by_key(|(_, time, _)| std::cmp::Reverse(*time));
    let conflict = shared.first().map(|(path, time, (act, own_time))| Conflict {
        file: shown(path),
        others: shared.len() - 1,
        time: *time,
        own: *act,
        own_time: *own_time,
    });
    Bullet {
        agent: (session.format.name != surveyor.observer.format.name).then_some(session.format.label()),
        name,
        activity: &news.activity,
        more: news.before.more,
        file: news.edited.first().map(|(path, _)| shown(path)),
        conflict,
    }
}

/// Whether no other session is known by a title.
fn is_unique(title: &str, news: &News, survey: &Survey, surveyor: &Surveyor) -> bool {
    let own = surveyor.own();
    let others = survey.news.iter().filter(|other| other.key != news.key).map(|other| &other.after.title);
    let seen = surveyor.view.sessions.iter().filter(|(key, _)| **key != news.key).map(|(_, seen)| &seen.title);
    let mut taken = others.chain(seen).chain([&own.person_title, &own.agent_title]).flatten();
    !taken.any(|taken| taken.trim() == title)
}

/// Notes in the journal that the program itself is at fault: nobody sees the stderr of a hook.
pub fn note_fault(fault: &str, env: &Env) {
    let note = Note { time: Some(env.now()), trouble: vec![fault.into()], ..Note::default() };
    let _ = Journal::in_dir(&env.state_dir()).append(&note);
}

/// A run of the hook, and all that goes wrong in it.
pub struct Run<'r> {
    out: &'r mut dyn Write,
    err: &'r mut dyn Write,
    deadline: Deadline,
    note: Note,
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
        Run { out, err, deadline, note: Note::default() }
    }

    /// Says what is wrong, once; the prompt goes on.
    fn trouble(&mut self, what: impl std::fmt::Display) {
        let what = clean(&what.to_string()).replace('\n', " ");
        // Looking for news and for what a prompt names may both fail at the same file.
        if self.note.trouble.contains(&what) {
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
        self.deadline = self.deadline.of(settings.deadline);
        let (formats, bad) = format::known(&env.formats_dir());
        bad.iter().for_each(|bad| self.trouble(bad));
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
        let is_first_look = look.is_none_or(|look| look.clock == 0);
        let is_first_prompt = source.is_none() && is_first_look && surveyor.is_first_prompt();
        let source = match source {
            Some(Source::New) if started => return String::new(),
            None if !is_first_prompt => return String::new(),
            None if ask.starts_with_prompt() && !started => Some(Source::New),
            source => source,
        };
        let (notes, wrong) = Notes::read(surveyor.env, surveyor.project_dir());
        wrong.iter().for_each(|wrong| self.trouble(wrong));
        let begun = match source {
            Some(source) => surveyor.start(source, &ask.prompt, news, &notes),
            None => surveyor.recalled(&ask.prompt, news, &notes),
        };
        for bad in &begun.bad {
            self.trouble(format_args!("{}: {}", bad.path.display(), bad.error));
        }
        begun.text
    }

    /// Prints what is told at the start, and remembers that it was.
    fn close_start(&mut self, ask: &Ask, text: &str, cursors: &mut Cursors, now: Look) -> Result<(), String> {
        if text.is_empty() {
            return Ok(());
        }
        self.print(ask, text)?;
        // What happened before counts as news for the first prompt still.
        let window = now.since;
        let look = cursors.view.look.get_or_insert_with(|| Look { clock: 0, place: 0, ..Look::new(window, 0) });
        look.started = true;
        self.save(cursors)
    }

    fn print(&mut self, ask: &Ask, text: &str) -> Result<(), String> {
        let reply = ask.reply(text) + "\n";
        let written = self.out.write_all(reply.as_bytes()).and_then(|()| self.out.flush());
        written.map_err(|error| format!("stdout: {error}; nothing counts as told"))?;
        self.note.text = text.to_owned();
        Ok(())
    }

    fn save(&mut self, cursors: &Cursors) -> Result<(), String> {
        let saved = cursors.save();
        saved.map_err(|error| format!("{}: {error}; this will be told again", cursors.path().display()))
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
        self.note.agent.clone_from(&ask.format.name);
        self.note.session = observer.key().to_owned();
        let deadline = self.deadline;
        let file = observer.cursors(env);
        let opened = Cursors::open(file, observer.key(), &deadline, &mut |what| self.trouble(what));
        let mut cursors = opened.ok_or("the cursors are in use; what is new will be told with the next prompt")?;
        if cursors.view.look.as_ref().is_some_and(|look| look.muted) {
            return Ok(());
        }
        let surveyor = Surveyor::new(env, settings, formats, &observer, &cursors.view, &deadline);
        let now = surveyor.look();
        if source.is_some() {
            let begun = self.begin(ask, source, &surveyor, &[]);
            return self.close_start(ask, &begun, &mut cursors, now);
        }
        let survey = surveyor.survey();
        let begun = self.begin(ask, None, &surveyor, &survey.news);
        let room = settings.budget.saturating_sub(if begun.is_empty() { 0 } else { length(&begun) + 1 });
        let Told { survey, block } = tell(survey, &surveyor, room);
        #[cfg(debug_assertions)]
        if env.var("SESSION_CONTEXT_FAULT").is_some_and(|fault| fault == "panic") {
            panic!("asked for by SESSION_CONTEXT_FAULT");
        }
        for bad in &survey.bad {
            self.trouble(format_args!("{}: {}", bad.path.display(), bad.error));
        }
        if survey.cut_short {
            self.trouble(format_args!("not everything was read within {:?}; the rest follows", settings.deadline));
        }
        if !survey.news.is_empty() && block.shown.is_empty() && begun.is_empty() {
            self.trouble(format_args!("nothing fits into {} characters; see --budget", settings.budget));
        }
        let text = [begun.as_str(), block.text.as_str()].into_iter().filter(|text| !text.is_empty());
        let text = text.collect::<Vec<_>>().join("\n");
        if !text.is_empty() {
            self.print(ask, &text)?;
        }
        // A session that was told where the work stopped has not looked yet.
        let is_first = cursors.view.look.as_ref().is_none_or(|look| look.clock == 0);
        if settle(&mut cursors, survey, &block, now) || !begun.is_empty() {
            if let (false, Some(look)) = (begun.is_empty(), &mut cursors.view.look) {
                look.started = true;
            }
            if is_first {
                forget(&mut cursors, &observer, env);
            }
            self.save(&cursors)?;
        }
        Ok(())
    }
}

/// A new observer is a good moment to forget those that have not looked for long.
fn forget(cursors: &mut Cursors, observer: &Observer, env: &Env) {
    const LONG: i64 = 90 * 24 * 3600;
    let before = env.file_clock() / 1_000_000_000 - LONG;
    match (&observer.home, cursors.path().parent()) {
        (Some(home), _) => cursors.forget_others(&home.names(), before),
        (None, Some(dir)) => cursors::forget(dir, before),
        (None, None) => {}
    }
}

/// Moves the cursors past what was told; says whether there is anything to write.
fn settle(cursors: &mut Cursors, survey: Survey, block: &Block, now: Look) -> bool {
    let view = &mut cursors.view;
    let changed = view.look.is_none() || survey.examined || !survey.gone.is_empty();
    for key in survey.gone {
        view.sessions.remove(&key);
    }
    view.sessions.extend(survey.passed);
    let first = Look { clock: now.clock - survey::LOST, ..now.clone() };
    let look = view.look.get_or_insert(first);
    for (index, news) in survey.news.into_iter().enumerate() {
        let told = block.shown.contains(&index);
        if told {
            look.remember(&news.prints);
        }
        let seen = news.parts.into_iter().map(|(key, before, after)| (key, if told { after } else { before }));
        view.sessions.extend(seen);
    }
    look.place = now.place;
    // What was not found must be found again; but a directory that can never be read must not hold it up for ever.
    look.clock = if survey.lost_sight { look.clock.max(now.clock - survey::LOST) } else { now.clock };
    changed
}
