//! What can happen to sessions and to those who look, and the files as they must be afterwards.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::model::{self, Counts, Manner, Message, Visible};
use crate::scene::{Agent, BEGINNING, Chance, Scene, Stage, iso};

const CONTEXT: &str = env!("CARGO_BIN_EXE_session-context");
const SECOND: i64 = 1000;
const HOUR: i64 = 3600 * SECOND;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Whole lines.
    Append,
    /// Bytes that end within a line, or within a character.
    AppendCut,
    NewSession,
    /// In the middle of a line, or between lines.
    Truncate,
    /// By a rename, with the same content.
    ReplaceSame,
    /// By a rename, with the same messages in other bytes, or with new ones.
    ReplaceOther,
    /// To another directory of the agent.
    Move,
    Delete,
    /// What was deleted, as the same file or as a copy.
    Restore,
    /// Delete, and begin another session at once: it may get the same inode.
    Reuse,
    /// The clock of everybody goes back or forward.
    Clock,
    /// The times of all files become old, or future, or now.
    Times,
    Look,
    /// The hook is killed at some moment.
    KilledLook,
    /// The same observer twice at once.
    TwoLooks,
    /// All observers at once.
    AllLook,
    /// There is hardly any time.
    ShortLook,
    /// A directory is away meanwhile.
    AwayLook,
    /// A name file is empty, or cut, or away meanwhile.
    TornLook,
    /// A file shrinks and grows again meanwhile.
    ShrinkLook,
    /// A copy of the file takes its place, with the same time, as a file system does that copies on the first write.
    CopyUp,
    /// A directory of an agent gets another name, with a link under the old one or without.
    RenameDir,
    /// The worktree that some sessions are in is away meanwhile.
    WorktreeLook,
    /// The hook is stopped for a while, and something is written meanwhile.
    StoppedLook,
    /// Nobody gets to hear what the hook says: its stdout is closed, or full.
    UnheardLook,
}

/// How often each happens.
const KINDS: [(Kind, usize); 25] = [
    (Kind::Append, 24),
    (Kind::AppendCut, 10),
    (Kind::NewSession, 3),
    (Kind::Truncate, 3),
    (Kind::ReplaceSame, 3),
    (Kind::ReplaceOther, 3),
    (Kind::Move, 3),
    (Kind::Delete, 3),
    (Kind::Restore, 4),
    (Kind::Reuse, 2),
    (Kind::Clock, 2),
    (Kind::Times, 2),
    (Kind::Look, 20),
    (Kind::KilledLook, 5),
    (Kind::TwoLooks, 2),
    (Kind::AllLook, 2),
    (Kind::ShortLook, 2),
    (Kind::AwayLook, 3),
    (Kind::TornLook, 3),
    (Kind::ShrinkLook, 2),
    (Kind::CopyUp, 3),
    (Kind::RenameDir, 3),
    (Kind::WorktreeLook, 4),
    (Kind::StoppedLook, 3),
    (Kind::UnheardLook, 4),
];

#[derive(Debug, Clone)]
pub struct Action {
    pub kind: Kind,
    seed: u64,
}

impl Kind {
    /// Whether it is called that.
    pub fn is(self, name: &str) -> bool {
        format!("{self:?}").eq_ignore_ascii_case(name)
    }
}

impl Action {
    pub fn of(chance: &mut Chance) -> Action {
        let mut left = chance.below(KINDS.iter().map(|(_, often)| often).sum());
        let kind = KINDS
            .iter()
            .find(|(_, often)| left.checked_sub(*often).map(|rest| left = rest).is_none());
        Action {
            kind: kind.map_or(Kind::Look, |(kind, _)| *kind),
            seed: chance.next(),
        }
    }
}

/// What a run begins with.
#[derive(Debug)]
pub struct Layout {
    /// Sessions have names.
    named: bool,
    sessions: usize,
    seed: u64,
}

impl Layout {
    pub fn of(chance: &mut Chance) -> Layout {
        Layout {
            named: chance.below(2) == 0,
            sessions: 3 + chance.below(6),
            seed: chance.next(),
        }
    }
}

/// A session, and its file as it should be.
struct Session {
    agent: Agent,
    id: String,
    name: Option<String>,
    tag: String,
    here: bool,
    path: PathBuf,
    cwd: PathBuf,
    /// All that is written or will be, and how much of it is written.
    content: Vec<u8>,
    written: usize,
    head: usize,
    /// Each with where its line ends.
    messages: Vec<(usize, Message)>,
    next_number: usize,
    present: bool,
    /// Where the file is while it is deleted, to come back as the same.
    aside: PathBuf,
}

struct Observer {
    agent: Agent,
    id: String,
    name: Option<String>,
    transcript: PathBuf,
    model: model::Observer,
}

pub struct World {
    /// Deleted at the end.
    _stage: Stage,
    scene: Scene,
    named: bool,
    now: i64,
    sessions: Vec<Session>,
    observers: Vec<Observer>,
    pub counts: Counts,
    /// What happened, for whoever looks into a failure.
    pub log: Vec<String>,
    /// How long a look takes, for somebody who wants to kill one.
    typical: Duration,
}

type Result<T> = std::result::Result<T, String>;

impl World {
    /// Sessions with an old history, and observers that have looked once.
    pub fn new(layout: &Layout) -> Result<World> {
        let mut chance = Chance::new(layout.seed);
        let stage = Stage::new();
        let scene = stage.scene();
        fs::create_dir_all(scene.path("elsewhere")).expect("another project");
        scene.write("work/.git/HEAD", "ref: refs/heads/main\n");
        scene.write("work/.git/worktrees/tree/commondir", "../..\n");
        scene.write(
            "work/.git/worktrees/tree/gitdir",
            format!("{}\n", scene.path("tree/.git").display()),
        );
        scene.write("tree/.git", "gitdir: ../work/.git/worktrees/tree\n");
        if layout.named {
            fs::create_dir_all(scene.path("work/.volute/sessions")).expect("a home");
        }
        let mut world = World {
            _stage: stage,
            scene,
            named: layout.named,
            now: BEGINNING,
            sessions: Vec::new(),
            observers: Vec::new(),
            counts: Counts::default(),
            log: Vec::new(),
            typical: Duration::from_millis(5),
        };
        for number in 0..2 + chance.below(2) {
            world.observe(number);
        }
        for _ in 0..layout.sessions {
            world.begin(&mut chance);
        }
        for observer in 0..world.observers.len() {
            world.look(observer)?;
        }
        Ok(world)
    }

    fn observe(&mut self, number: usize) {
        let agent = if self.named || number != 1 {
            Agent::Claude
        } else {
            Agent::Codex
        };
        let id = format!("0b5e00{number:02x}-0000-4000-8000-000000000000");
        let name = (self.named && number != 2).then(|| format!("observer{number}"));
        let cwd = self.scene.work();
        let transcript = self.scene.path(agent.transcript(&id, &cwd));
        let then = BEGINNING - 48 * HOUR;
        let lines = agent.head(&id, &cwd, then)
            + &agent.prompt(&id, &cwd, then, &id, "what I asked myself long ago");
        self.scene.write(&transcript, lines);
        if let Some(name) = &name {
            self.name(name, &id);
        }
        self.observers.push(Observer {
            agent,
            id,
            name,
            transcript,
            model: model::Observer::default(),
        });
    }

    fn name_file(&self, name: &str) -> PathBuf {
        self.scene
            .path(format!("work/.volute/sessions/{name}.json"))
    }

    fn name(&self, name: &str, id: &str) {
        self.scene
            .write(self.name_file(name), json!({"sessionId": id}).to_string());
    }

    /// Begins a session, in this project or in another, with an old history or none.
    fn begin(&mut self, chance: &mut Chance) {
        let number = self.sessions.len();
        let tag = format!("s{number}");
        let here = chance.below(6) > 0;
        let agents: &[Agent] = if self.named && here {
            &[Agent::Claude, Agent::Claude, Agent::Pi]
        } else {
            &[Agent::Claude, Agent::Codex, Agent::Pi]
        };
        let agent = *chance.pick(agents);
        let id = format!(
            "{:08x}-{:04x}-4000-8000-{number:012x}",
            chance.next() as u32,
            number
        );
        let cwd = match here {
            true if chance.below(3) == 0 => self.scene.path("tree"),
            true => self.scene.work(),
            false => self.scene.path("elsewhere"),
        };
        let name = (self.named && here).then(|| format!("name{number}"));
        let path = match (&name, agent) {
            (Some(name), Agent::Pi) => self
                .scene
                .path(format!("work/.volute/pi-sessions/{name}/1_{id}.jsonl")),
            _ => self.scene.path(agent.transcript(&id, &cwd)),
        };
        if let (Some(name), Agent::Claude) = (&name, agent) {
            self.name(name, &id);
        }
        let content = agent.head(&id, &cwd, self.now).into_bytes();
        let (written, head, aside) = (content.len(), content.len(), path.with_extension("aside"));
        let messages = Vec::new();
        let present = true;
        self.sessions.push(Session {
            agent,
            id,
            name,
            tag,
            here,
            path,
            cwd,
            content,
            written,
            head,
            messages,
            next_number: 0,
            present,
            aside,
        });
        let session = self.sessions.last_mut().expect("just begun");
        for _ in 0..chance.below(3) {
            let number = session.say(BEGINNING - 48 * HOUR);
            self.observers
                .iter_mut()
                .for_each(|observer| observer.model.knows(&session.tag, [number].into_iter()));
        }
        if chance.below(2) == 0 {
            session.say(self.now);
        }
        session.written = session.content.len();
        self.scene.write(&session.path, &session.content);
        let state = session.state();
        self.note(format_args!("begin: {state}"));
    }

    pub fn act(&mut self, action: &Action) -> Result<()> {
        let mut chance = Chance::new(action.seed);
        self.now += (1 + chance.below(20)) as i64 * SECOND;
        let present: Vec<usize> = (0..self.sessions.len())
            .filter(|at| self.sessions[*at].present)
            .collect();
        let observer = chance.below(self.observers.len());
        if let (false, Some(&at)) = (present.is_empty(), present.get(chance.below(present.len()))) {
            let before = self.sessions[at].state();
            self.change(action.kind, at, &mut chance);
            let after = self.sessions[at].state();
            if before != after {
                self.note(format_args!("{:?}: {before} becomes {after}", action.kind));
            }
        }
        match action.kind {
            Kind::NewSession => self.begin(&mut chance),
            Kind::Restore => self.restore(&mut chance),
            Kind::Clock => {
                self.now += [-3, -1, 1, 3][chance.below(4)] * HOUR / (1 + chance.below(6) as i64);
            }
            Kind::Times => self.set_times(&mut chance),
            Kind::RenameDir => self.rename_dir(&mut chance),
            Kind::WorktreeLook => return self.worktree_look(observer),
            Kind::StoppedLook => return self.stopped_look(observer, &mut chance),
            Kind::UnheardLook => return self.unheard_look(observer, &mut chance),
            Kind::Look => return self.look(observer),
            Kind::KilledLook => return self.killed_look(observer, &mut chance),
            Kind::TwoLooks => return self.looks_at_once(&[observer, observer]),
            Kind::AllLook => {
                return self.looks_at_once(&(0..self.observers.len()).collect::<Vec<_>>());
            }
            Kind::ShortLook => return self.short_look(observer),
            Kind::AwayLook => return self.away_look(observer, &mut chance),
            Kind::TornLook => return self.torn_look(observer, &mut chance),
            Kind::ShrinkLook if !present.is_empty() => {
                return self.shrink_look(
                    observer,
                    present[chance.below(present.len())],
                    &mut chance,
                );
            }
            _ => {}
        }
        Ok(())
    }

    /// Everybody looks until there is nothing more to tell.
    pub fn settle(&mut self) -> Result<()> {
        for observer in 0..self.observers.len() {
            for _ in 0..self.sessions.len() + 2 {
                self.now += SECOND;
                let before = self.counts.bullets;
                self.look(observer)?;
                if self.counts.bullets == before {
                    break;
                }
            }
            self.now += SECOND;
            let before = self.counts.bullets;
            self.look(observer)?;
            if self.counts.bullets > before {
                return Err("REPEAT: it goes on telling although nothing happens".into());
            }
        }
        Ok(())
    }

    fn note(&mut self, what: impl std::fmt::Display) {
        self.log.push(format!("{} {what}", &iso(self.now)[11..19]));
    }

    // --------------------------------------------------------------------------------- files

    fn change(&mut self, kind: Kind, at: usize, chance: &mut Chance) {
        let now = self.now;
        let session = &mut self.sessions[at];
        match kind {
            Kind::Append => {
                for number in 0..=chance.below(3) {
                    session.say(now + number as i64);
                }
                session.write_to(session.content.len());
            }
            Kind::AppendCut => {
                if session.written == session.content.len() {
                    session.say(now);
                }
                let left = session.content.len() - session.written;
                session.write_to(session.written + 1 + chance.below(left));
            }
            Kind::Truncate => {
                session.truncate(chance);
                self.rewritten(at);
            }
            Kind::ReplaceSame => session.replace(),
            Kind::CopyUp => {
                let modified = fs::metadata(&session.path)
                    .and_then(|meta| meta.modified())
                    .expect("a time");
                session.replace();
                let file = fs::File::options()
                    .append(true)
                    .open(&session.path)
                    .expect("a transcript");
                file.set_modified(modified).expect("the same time");
            }
            Kind::ReplaceOther => {
                session.rewrite(now, chance);
                self.rewritten(at);
            }
            Kind::Move => session.go_elsewhere(chance),
            Kind::Delete => session.delete(chance),
            Kind::Reuse => {
                fs::remove_file(&session.path).expect("deleted");
                session.present = false;
                self.begin(chance);
            }
            _ => {}
        }
    }

    fn rewritten(&mut self, at: usize) {
        let tag = &self.sessions[at].tag;
        self.observers
            .iter_mut()
            .for_each(|observer| observer.model.rewritten(tag));
    }

    fn restore(&mut self, chance: &mut Chance) {
        let gone: Vec<usize> = (0..self.sessions.len())
            .filter(|at| !self.sessions[*at].present)
            .collect();
        if gone.is_empty() {
            return;
        }
        let session = &mut self.sessions[*chance.pick(&gone)];
        if session.aside.exists() {
            fs::rename(&session.aside, &session.path).expect("restored");
        } else {
            fs::write(&session.path, &session.content[..session.written]).expect("restored");
        }
        session.present = true;
        let state = session.state();
        self.note(format_args!("restore: {state}"));
    }

    fn set_times(&mut self, chance: &mut Chance) {
        const DAY: Duration = Duration::from_hours(24);
        let now = SystemTime::now();
        let which = chance.below(3);
        let time = [now - 2 * DAY, now + DAY, now][which];
        self.note(format_args!(
            "files are {}",
            ["old", "from the future", "touched"][which]
        ));
        for session in self.sessions.iter().filter(|session| session.present) {
            let file = fs::File::options()
                .append(true)
                .open(&session.path)
                .expect("a transcript");
            file.set_modified(time).expect("another time");
        }
    }

    /// Renames the directory of a session, or makes its old name a link to the new one.
    fn rename_dir(&mut self, chance: &mut Chance) {
        let is_in_agents =
            |session: &&Session| session.present && !session.path.starts_with(self.scene.work());
        let paths: Vec<&PathBuf> = self
            .sessions
            .iter()
            .filter(is_in_agents)
            .map(|session| &session.path)
            .collect();
        let Some(dir) = paths
            .get(chance.below(paths.len()))
            .and_then(|path| path.parent())
        else {
            return;
        };
        let dir = dir.to_path_buf();
        let is_link = fs::symlink_metadata(&dir).is_ok_and(|meta| meta.is_symlink());
        let to = dir.with_file_name(format!("-renamed-{}", chance.below(1000)));
        if is_link || to.exists() {
            return;
        }
        fs::rename(&dir, &to).expect("renamed");
        if chance.below(2) == 0 {
            std::os::unix::fs::symlink(&to, &dir).expect("a link");
            return self.note(format_args!(
                "{} is a link to {}",
                dir.display(),
                to.display()
            ));
        }
        self.note(format_args!("{} is {} now", dir.display(), to.display()));
        let moved = |path: &mut PathBuf| {
            if let Ok(name) = path.strip_prefix(&dir) {
                *path = to.join(name);
            }
        };
        for session in &mut self.sessions {
            moved(&mut session.path);
            moved(&mut session.aside);
        }
        self.observers
            .iter_mut()
            .for_each(|observer| moved(&mut observer.transcript));
    }

    // --------------------------------------------------------------------------------- looks

    fn hook(&self, observer: usize) -> Child {
        self.hook_with(observer, |_| {})
    }

    fn hook_with(&self, observer: usize, change: impl FnOnce(&mut Command)) -> Child {
        let Observer {
            agent,
            id,
            transcript,
            ..
        } = &self.observers[observer];
        let mut command = self
            .scene
            .command(CONTEXT, &["--agent", agent.format()], self.now);
        command.stdin(Stdio::piped());
        change(&mut command);
        let mut child = command.spawn().expect("the program starts");
        let input = agent.asks(id, &self.scene.work(), transcript).to_string();
        let mut stdin = child.stdin.take().expect("a pipe");
        // One that has no time left may not want to hear it.
        let _ = stdin.write_all(input.as_bytes());
        child
    }

    /// What a look said, which must be in order whatever happened.
    fn heard(&self, observer: usize, output: &Output, manner: Manner) -> Result<String> {
        let err = String::from_utf8_lossy(&output.stderr);
        let text = self.observers[observer].agent.told(&output.stdout)?;
        let is_orderly = err
            .lines()
            .all(|line| line.starts_with("session-context: "));
        if manner != Manner::Killed && output.status.code() != Some(0) || !is_orderly {
            return Err(format!("{}: {err}", output.status));
        }
        if manner == Manner::Quiet && !err.is_empty() {
            return Err(format!("stderr: {err}"));
        }
        if text.chars().count() > 500 {
            return Err(format!("{} characters: {text}", text.chars().count()));
        }
        Ok(text)
    }

    fn hear(
        &mut self,
        observer: usize,
        output: &Output,
        manner: Manner,
        hidden: &dyn Fn(&Session) -> bool,
    ) -> Result<()> {
        let text = self.heard(observer, output, manner)?;
        let agent = self.observers[observer].agent;
        let sessions: Vec<Visible> = self
            .sessions
            .iter()
            .filter(|session| session.present && !hidden(session))
            .map(|session| session.seen_by(agent))
            .collect();
        let who = self.observers[observer].id[..8].to_owned();
        self.log.push(format!(
            "{} {manner:?} look of {who}: {text}",
            &iso(self.now)[11..19]
        ));
        let model = &mut self.observers[observer].model;
        model
            .hear(&text, self.now, manner, &sessions, &mut self.counts)
            .map_err(|why| format!("observer {who}: {why}"))
    }

    fn look(&mut self, observer: usize) -> Result<()> {
        let started = std::time::Instant::now();
        let output = self
            .hook(observer)
            .wait_with_output()
            .expect("the program runs");
        self.typical = started.elapsed();
        self.hear(observer, &output, Manner::Quiet, &|_| false)
    }

    fn killed_look(&mut self, observer: usize, chance: &mut Chance) -> Result<()> {
        let mut child = self.hook(observer);
        let most = self.typical.as_micros() as usize * 5 / 4;
        std::thread::sleep(Duration::from_micros(chance.below(most) as u64));
        child.kill().expect("killed");
        let output = child.wait_with_output().expect("the program ran");
        let manner = if output.status.code().is_none() {
            Manner::Killed
        } else {
            Manner::Quiet
        };
        self.hear(observer, &output, manner, &|_| false)
    }

    fn looks_at_once(&mut self, observers: &[usize]) -> Result<()> {
        let children: Vec<Child> = observers
            .iter()
            .map(|observer| self.hook(*observer))
            .collect();
        let outputs: Vec<Output> = children
            .into_iter()
            .map(|child| child.wait_with_output().expect("the program runs"))
            .collect();
        // Of two looks of one observer, one tells what was too much for the other; a third must find that all was told.
        let is_same = observers.first() == observers.last();
        let manner = if is_same {
            Manner::Disturbed
        } else {
            Manner::Quiet
        };
        for (observer, output) in observers.iter().zip(&outputs) {
            self.hear(*observer, output, manner, &|_| false)?;
        }
        if is_same {
            self.look(observers[0])
        } else {
            Ok(())
        }
    }

    fn short_look(&mut self, observer: usize) -> Result<()> {
        let child = self.hook_with(observer, |command| {
            command.env("SESSION_CONTEXT_DEADLINE", "1ms");
        });
        let output = child.wait_with_output().expect("the program runs");
        self.hear(observer, &output, Manner::Disturbed, &|_| false)
    }

    fn away_look(&mut self, observer: usize, chance: &mut Chance) -> Result<()> {
        let dirs = [
            ".claude/projects",
            ".codex/sessions",
            ".pi/agent",
            "work/.volute/pi-sessions",
        ];
        let there: Vec<&str> = dirs
            .into_iter()
            .filter(|dir| self.scene.path(dir).is_dir())
            .collect();
        let dir = self.scene.path(chance.pick(&there));
        let away = dir.with_extension("away");
        self.note(format_args!("{} is away", dir.display()));
        fs::rename(&dir, &away).expect("away");
        let output = self
            .hook(observer)
            .wait_with_output()
            .expect("the program runs");
        fs::rename(&away, &dir).expect("back");
        self.hear(observer, &output, Manner::Disturbed, &|session| {
            session.path.starts_with(&dir)
        })
    }

    fn worktree_look(&mut self, observer: usize) -> Result<()> {
        let (tree, away) = (self.scene.path("tree"), self.scene.path("tree.away"));
        self.note("the worktree is away");
        fs::rename(&tree, &away).expect("away");
        let output = self
            .hook(observer)
            .wait_with_output()
            .expect("the program runs");
        fs::rename(&away, &tree).expect("back");
        self.hear(observer, &output, Manner::Disturbed, &|_| false)
    }

    fn stopped_look(&mut self, observer: usize, chance: &mut Chance) -> Result<()> {
        let child = self.hook(observer);
        let most = self.typical.as_micros() as usize;
        std::thread::sleep(Duration::from_micros(chance.below(most) as u64));
        let signal = |signal| {
            // SAFETY: it is our own child, and it has not been waited for.
            unsafe { libc::kill(child.id() as libc::pid_t, signal) };
        };
        signal(libc::SIGSTOP);
        let present: Vec<usize> = (0..self.sessions.len())
            .filter(|at| self.sessions[*at].present)
            .collect();
        if let Some(at) = present.get(chance.below(present.len())) {
            self.change(Kind::Append, *at, chance);
        }
        signal(libc::SIGCONT);
        let output = child.wait_with_output().expect("the program runs");
        self.hear(observer, &output, Manner::Disturbed, &|_| false)
    }

    fn unheard_look(&mut self, observer: usize, chance: &mut Chance) -> Result<()> {
        let full = chance.below(2) == 0;
        self.note(if full {
            "stdout is full"
        } else {
            "stdout is closed"
        });
        let child = self.hook_with(observer, |command| {
            let file = fs::File::options()
                .write(true)
                .open("/dev/full")
                .ok()
                .filter(|_| full);
            command.stdout(file.map_or_else(
                || Stdio::from(std::io::pipe().expect("a pipe").1),
                Stdio::from,
            ));
        });
        let output = child.wait_with_output().expect("the program runs");
        self.hear(observer, &output, Manner::Disturbed, &|_| false)
    }

    fn torn_look(&mut self, observer: usize, chance: &mut Chance) -> Result<()> {
        let names = self
            .sessions
            .iter()
            .filter(|session| session.agent == Agent::Claude)
            .filter_map(|session| session.name.clone());
        let names: Vec<String> = names.chain(self.observers[observer].name.clone()).collect();
        if names.is_empty() {
            return self.look(observer);
        }
        let file = self.name_file(chance.pick(&names).as_str());
        self.note(format_args!("{} is torn", file.display()));
        let content = fs::read(&file).expect("a name");
        match chance.below(3) {
            0 => fs::write(&file, "").expect("empty"),
            1 => fs::write(&file, &content[..content.len() / 2]).expect("cut"),
            _ => fs::remove_file(&file).expect("away"),
        }
        let output = self
            .hook(observer)
            .wait_with_output()
            .expect("the program runs");
        fs::write(&file, content).expect("a name");
        self.hear(observer, &output, Manner::Disturbed, &|_| false)
    }

    fn shrink_look(&mut self, observer: usize, at: usize, chance: &mut Chance) -> Result<()> {
        self.rewritten(at);
        self.note(format_args!(
            "{} shrinks and grows",
            self.sessions[at].state()
        ));
        let session = &self.sessions[at];
        let whole = &session.content[..session.written];
        let size = session.head + chance.below(whole.len() - session.head + 1);
        let done = AtomicBool::new(false);
        let output = std::thread::scope(|scope| {
            scope.spawn(|| {
                let file = fs::File::options()
                    .write(true)
                    .open(&session.path)
                    .expect("a transcript");
                while !done.load(Ordering::Relaxed) {
                    file.set_len(size as u64).expect("shorter");
                    std::thread::yield_now();
                    file.write_all_at(&whole[size..], size as u64)
                        .expect("whole again");
                    std::thread::sleep(Duration::from_micros(200));
                }
            });
            let output = self
                .hook(observer)
                .wait_with_output()
                .expect("the program runs");
            done.store(true, Ordering::Relaxed);
            output
        });
        self.hear(observer, &output, Manner::Disturbed, &|_| false)
    }
}

impl Session {
    /// Adds a message to what is to be written.
    fn say(&mut self, time: i64) -> usize {
        let number = self.next_number;
        self.next_number += 1;
        let text = format!("{} says {number} äß€𝄞", self.tag);
        let line = self.agent.prompt(
            &self.id,
            &self.cwd,
            time,
            &format!("{}-{number}", self.id),
            &text,
        );
        self.content.extend(line.bytes());
        self.messages
            .push((self.content.len(), Message { number, time }));
        number
    }

    /// Writes on, up to an offset.
    fn write_to(&mut self, end: usize) {
        let mut file = fs::OpenOptions::new()
            .append(true)
            .open(&self.path)
            .expect("a transcript");
        file.write_all(&self.content[self.written..end])
            .expect("appended");
        self.written = end;
    }

    /// Cuts the file; whoever writes on begins a new line, or does not.
    fn truncate(&mut self, chance: &mut Chance) {
        let mut size = self.head + chance.below(self.written - self.head + 1);
        // Without its newline alone, a message is still whole as soon as somebody writes on.
        if size < self.written && self.content[size] == b'\n' {
            size += 1;
        }
        let file = fs::File::options()
            .write(true)
            .open(&self.path)
            .expect("a transcript");
        file.set_len(size as u64).expect("shorter");
        self.content.truncate(size);
        self.written = size;
        self.messages.retain(|(end, _)| *end <= size);
        if self.content.last().is_some_and(|last| *last != b'\n') && chance.below(2) == 0 {
            self.content.push(b'\n');
        }
    }

    /// Puts the content in the place of the file, in one step.
    fn replace(&mut self) {
        let new = self.path.with_extension("new");
        fs::write(&new, &self.content[..self.written]).expect("a file");
        fs::rename(&new, &self.path).expect("replaced");
    }

    /// The same messages in other bytes; or none of them, and some new ones.
    fn rewrite(&mut self, now: i64, chance: &mut Chance) {
        let visible: Vec<Message> = self.visible().cloned().collect();
        self.content.truncate(self.head);
        self.messages.clear();
        let keep = chance.below(2) == 0;
        self.content
            .extend(format!("{{\"type\":\"padding\",\"at\":{now}}}\n").bytes());
        for message in visible.iter().filter(|_| keep) {
            let next = std::mem::replace(&mut self.next_number, message.number);
            self.say(message.time);
            self.next_number = next;
        }
        for number in 0..chance.below(3) {
            self.say(now + number as i64);
        }
        self.written = self.content.len();
        self.replace();
    }

    /// Moves the file to another directory of the agent, where it is a session as well.
    fn go_elsewhere(&mut self, chance: &mut Chance) {
        if self.name.is_some() && self.agent == Agent::Pi {
            return;
        }
        let dir = self.path.parent().expect("a directory");
        let to = match self.agent {
            Agent::Codex => dir.with_file_name(*chance.pick(&["16", "17"])),
            _ => dir.with_file_name(*chance.pick(&["-moved-one", "-moved-two"])),
        };
        fs::create_dir_all(&to).expect("a directory");
        let path = to.join(self.path.file_name().expect("a name"));
        fs::rename(&self.path, &path).expect("moved");
        self.path = path;
        self.aside = self.path.with_extension("aside");
    }

    /// Deletes the file; it may come back as the same, or as a copy.
    fn delete(&mut self, chance: &mut Chance) {
        match chance.below(2) {
            0 => fs::rename(&self.path, &self.aside).expect("put aside"),
            _ => fs::remove_file(&self.path).expect("deleted"),
        }
        self.present = false;
    }

    /// In a few words.
    fn state(&self) -> String {
        let numbers: Vec<usize> = self.visible().map(|message| message.number).collect();
        let place = if !self.present {
            "gone"
        } else if self.here {
            "here"
        } else {
            "elsewhere"
        };
        let dir = self
            .path
            .parent()
            .and_then(|dir| dir.file_name())
            .unwrap_or_default()
            .to_string_lossy();
        let file = format!("{:?} {} in {dir}", self.agent, &self.id[..8]);
        let inode = self.inode();
        format!(
            "{} {file} ({place}, inode {inode}, {} bytes, says {numbers:?})",
            self.tag, self.written
        )
    }

    fn inode(&self) -> u64 {
        fs::metadata(&self.path).map_or(0, |meta| meta.ino())
    }

    fn visible(&self) -> impl Iterator<Item = &Message> {
        self.messages
            .iter()
            .filter(|(end, _)| *end <= self.written)
            .map(|(_, message)| message)
    }

    fn seen_by(&self, agent: Agent) -> Visible<'_> {
        let label = if self.agent == Agent::Claude {
            "claude"
        } else {
            self.agent.format()
        };
        let handles = [&self.id[..8], &self.id].map(|id| {
            let name = self.name.as_deref().unwrap_or(id);
            if self.agent == agent {
                name.to_owned()
            } else {
                format!("{label}:{name}")
            }
        });
        let file = (self.path.clone(), self.inode());
        let messages = self.visible().collect();
        Visible {
            tag: &self.tag,
            handles,
            here: self.here,
            file,
            messages,
        }
    }
}
