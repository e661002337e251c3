//! What was done since a time, per project and session: asked, changed, committed, what passed and what fails, and the time
//! it took.
//!
//! Only what a transcript proves counts, and only what happened since then. A fork repeats what was done before it left its
//! origin: of two sessions that have the same thing at the same moment, the older one has it.

use std::io;
use std::path::{Path, PathBuf};

use super::list::{ListQuery, Listing, sessions};
use super::{Answer, Asker};
use crate::file::Unreadable;
use crate::fold::code::{Check, checks, passed_checks};
use crate::fold::continuity::{Blocker, FileChange, Finding, Obstacle, Used};
use crate::fold::{Spent, substantive};
use crate::read::once::Once;
use crate::read::{Lines, Transcript};
use crate::session::index::Listed;
use crate::session::{Project, digest, stopped};
use session_format::cursor::Buffer;
use session_format::entry::Ids;
use session_format::hash::HashSet;
use session_format::time::Time;

pub struct Recap<'f> {
    /// The one in which something happened last first.
    pub projects: Vec<ProjectRecap<'f>>,
    /// The number of sessions of other projects that were left out.
    pub elsewhere: usize,
}

pub struct ProjectRecap<'f> {
    pub name: String,
    pub dir: PathBuf,
    /// The oldest first, as the work went.
    pub sessions: Vec<SessionRecap<'f>>,
}

impl ProjectRecap<'_> {
    pub fn spent(&self) -> i64 {
        self.sessions
            .iter()
            .map(|session| session.spent.total)
            .sum()
    }
}

pub struct SessionRecap<'f> {
    pub listed: Listed<'f>,
    /// The prompts that can be understood on their own, or else the last one.
    pub prompts: Vec<Finding>,
    pub files: Vec<FileChange>,
    pub commits: Vec<Finding>,
    /// Tests, builds and checks that passed last, and those that fail.
    pub passed: Vec<String>,
    pub fails: Vec<String>,
    pub spent: Spent,
}

pub fn recap<'f>(all: bool, since: Time, asker: Asker<'_, 'f>) -> Answer<Recap<'f>> {
    let (found, mut bad) = sessions(asker);
    let query = ListQuery {
        all,
        since: Some(since),
        ..ListQuery::default()
    };
    let Listing {
        sessions,
        elsewhere,
    } = query.pick(found, asker.env.now());
    let (mut projects, mut before) = (Vec::<ProjectRecap>::new(), Before::default());
    let mut sessions = sessions;
    sessions.sort_by_key(|listed| (listed.tally.started, listed.tally.updated));
    for listed in sessions {
        let path = listed.session.path.clone();
        let session = match session(listed, since, asker, &mut before, &mut bad) {
            Ok(session) => session,
            Err(error) => {
                bad.extend(Unreadable::unless_gone(&path, error));
                continue;
            }
        };
        let is_empty = session.prompts.is_empty()
            && session.files.is_empty()
            && session.commits.is_empty()
            && session.passed.is_empty()
            && session.fails.is_empty();
        if is_empty {
            continue;
        }
        let cwd = session
            .listed
            .tally
            .first_cwd()
            .map_or(&*asker.env.cwd, Path::new);
        let project = Project::of(asker.env, cwd);
        match projects.iter_mut().find(|known| known.dir == project.dir()) {
            Some(known) => known.sessions.push(session),
            None => projects.push(ProjectRecap {
                name: project.name(),
                dir: project.dir().to_path_buf(),
                sessions: vec![session],
            }),
        }
    }
    let last = |project: &ProjectRecap| project.sessions.iter().map(|one| one.spent.last).max();
    projects.sort_by_key(|project| std::cmp::Reverse(last(project)));
    for project in &mut projects {
        project.sessions.sort_by_key(|session| session.spent.first);
    }
    let recap = Recap {
        projects,
        elsewhere,
    };
    (recap, bad)
}

/// What older sessions did.
#[derive(Default)]
struct Before {
    said: Ids,
    done: HashSet<(Option<Time>, String)>,
}

impl Before {
    /// Takes something that was done, and says whether it is new and of the time that counts.
    fn is_new(&mut self, since: Time, time: Option<Time>, what: &str) -> bool {
        time >= Some(since) && self.done.insert((time, what.to_owned()))
    }
}

fn session<'f>(
    listed: Listed<'f>,
    since: Time,
    asker: Asker<'_, 'f>,
    before: &mut Before,
    bad: &mut Vec<Unreadable>,
) -> io::Result<SessionRecap<'f>> {
    let session = &listed.session;
    let mut all = digest::whole(session, false, asker.env, asker.formats)?;
    stopped::add_subagents(&mut all, session, None, bad);
    all.finish();
    let mut spent = Spent::since(since);
    let transcript = Transcript::open(&session.path, session.format.format())?;
    let mut once = Once::after(std::mem::take(&mut before.said));
    let mut buffer = Buffer::default();
    transcript.fold(Lines::default(), &mut once, &mut buffer, &mut spent)?;
    before.said = once.into_ids();
    let mut is_new = |time: Option<Time>, what: &str| before.is_new(since, time, what);
    let mut files: Vec<FileChange> = all.newest_files().into_iter().cloned().collect();
    files.retain(|file| is_new(file.time, &file.path));
    all.commits.retain(|one| is_new(one.time, &one.text));
    all.commands.retain(|ran| is_new(ran.time, &ran.subject));
    all.prompts.retain(|one| is_new(one.time, &one.text));
    // A command and its failure are two things that happened at the same moment.
    let mut is_failing = |one: &&Blocker| {
        let what = format!("fails: {}", one.item.text);
        one.kind == Obstacle::Failing && is_new(one.item.time, &what)
    };
    let failing = all.blockers.iter().filter(|one| is_failing(one));
    let fails: Vec<String> = failing.map(|one| one.item.text.clone()).collect();
    let passed = passed(&all.commands);
    let prompts = all.prompts.iter().filter_map(|prompt| {
        let text = substantive(&prompt.text)?;
        Some(Finding {
            text,
            ..prompt.clone()
        })
    });
    let mut prompts: Vec<Finding> = prompts.collect();
    // Where all of them lean on what was said before, the last one still says that somebody worked there.
    if prompts.is_empty() {
        prompts.extend(all.prompts.last().cloned());
    }
    Ok(SessionRecap {
        prompts,
        files,
        commits: all.commits,
        passed,
        fails,
        spent,
        listed,
    })
}

/// The commands that check something and passed, if nothing of the kind has run since; the last first.
fn passed(commands: &[Used]) -> Vec<String> {
    let (mut later, mut passed) = (Vec::<Check>::new(), Vec::new());
    for ran in commands.iter().rev() {
        let is_last = |check: &Check| !later.iter().any(|later| later.repeats(check));
        let proven = passed_checks(&ran.subject);
        if !ran.failed && !proven.is_empty() && proven.iter().all(is_last) {
            passed.push(ran.subject.clone());
        }
        later.extend(checks(&ran.subject));
    }
    passed
}
