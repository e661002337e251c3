//! Puts a report into words: a name for each session, the conflicts, and as much as the budget holds.

use std::path::Path;

use super::compare::News;
use super::context::Context;
use super::ids::{Ids, ShortIds};
use super::report::Report;
use session_core::file::Unreadable;
use session_core::fold::{GitEvent, Knowledge};
use session_core::read::Part;
use session_core::session::called::is_short;
use session_core::session::checkout;
use session_core::session::live::Agents;
use session_core::session::state::Situation;
use session_core::show::activity::{Block, Bullet, Conflict, NAMED, SessionName, block};
use session_core::show::told;
use session_core::state::notes::Marks;
use session_core::state::sessions::Record;
use session_format::hash::{HashMap, HashSet};
use session_format::time::Time;

/// The text, and files that could not be read for it.
#[derive(Default)]
pub struct Said {
    pub block: Block,
    pub bad: Vec<Unreadable>,
}

/// Puts news into words.
pub fn say(report: &Report, context: &Context, budget: usize) -> Said {
    if report.news.is_empty() {
        return Said::default();
    }
    let mut bad = Vec::new();
    let changes = |news: &News| !news.edited.is_empty() || !news.activity.git.is_empty();
    let any_changes = report.news.iter().any(changes);
    let knowledge = if any_changes {
        report.own.knowledge(context, &mut bad)
    } else {
        Knowledge::default()
    };
    let names = Names::of(report, context, &mut bad);
    let situations = situations(&report.news, context, &mut bad);
    let own = OwnWork {
        part: &report.own.part,
        knowledge,
    };
    let bullets = report.news.iter().zip(&situations);
    let bullets: Vec<Bullet> = bullets
        .map(|(news, situation)| bullet(news, names.of_session(news), situation, &own, context))
        .collect();
    Said {
        block: block(&bullets, context.settings.scope, context.env.now(), budget),
        bad,
    }
}

/// The observer's own work, and its knowledge of files.
struct OwnWork<'o> {
    part: &'o Part,
    knowledge: Knowledge,
}

/// Names for sessions: by their names in a home, by titles that no other has, or by as much of their ids as it takes.
struct Names<'n> {
    titles: HashMap<&'n str, usize>,
    ids: ShortIds,
}

impl<'n> Names<'n> {
    fn of(report: &'n Report, context: &'n Context, bad: &mut Vec<Unreadable>) -> Names<'n> {
        let names = Names {
            titles: count_titles(report, context),
            ids: ShortIds::default(),
        };
        let is_clear = |news: &News| news.session.name.is_some() || names.title(news).is_some();
        if report.news.iter().all(is_clear) {
            return names;
        }
        let listed = report.ids.is_none().then(|| Ids::list(context, bad));
        Names {
            ids: report
                .ids
                .as_ref()
                .or(listed.as_ref())
                .map(Ids::shortener)
                .unwrap_or_default(),
            ..names
        }
    }

    fn title<'t>(&self, news: &'t News) -> Option<&'t str> {
        news.title
            .as_deref()
            .filter(|title| is_short(title) && self.titles.get(title) == Some(&1))
    }

    fn of_session<'t>(&self, news: &'t News) -> SessionName<'t> {
        let session = &news.session;
        match (&session.name, self.title(news)) {
            (Some(name), _) => SessionName::Word(name),
            (None, Some(title)) => SessionName::Title(title),
            (None, None) => SessionName::Word(self.ids.short(&session.id)),
        }
    }
}

/// Counts the sessions with each title.
fn count_titles<'t>(report: &'t Report, context: &'t Context) -> HashMap<&'t str, usize> {
    // A session that moved is still known by its old key.
    let gone = report
        .verdicts
        .iter()
        .flat_map(|verdict| &verdict.changes)
        .filter(|(_, seen)| seen.is_none());
    let told = report
        .news
        .iter()
        .map(|news| &*news.key)
        .chain(gone.map(|(key, _)| &**key));
    let told: HashSet<&str> = told.collect();
    let news = report.news.iter().map(|news| news.title.as_deref());
    let others = context
        .view
        .sessions
        .iter()
        .filter(|record| !told.contains(record.path()));
    let basics = &report.own.part.basics;
    let own = [&basics.person_title, &basics.agent_title].map(Option::as_deref);
    let mut count = HashMap::default();
    for title in news.chain(others.map(Record::title)).chain(own).flatten() {
        *count.entry(title.trim()).or_default() += 1;
    }
    count
}

/// The facts behind the state of each session with news. After the deadline, only what their transcripts say.
fn situations(news: &[News], context: &Context, bad: &mut Vec<Unreadable>) -> Vec<Situation> {
    let deadline = context.deadline;
    let agents =
        (!deadline.is_over()).then(|| Agents::look_until(context.env, context.formats, deadline));
    let marks = Marks::read(context.env, bad);
    let situation = |news: &News| {
        let (open_end, updated) = (news.open_end.clone(), news.activity.time);
        let presence = agents
            .as_ref()
            .map(|agents| agents.of(&news.session, open_end.as_ref(), updated));
        let (done, _) = marks.of(&news.session.id);
        Situation {
            ending: news.activity.ending,
            open_end,
            updated,
            done,
            presence: presence.unwrap_or_default(),
        }
    };
    news.iter().map(situation).collect()
}

fn bullet<'n>(
    news: &'n News,
    name: SessionName<'n>,
    situation: &Situation,
    own: &OwnWork,
    context: &Context,
) -> Bullet<'n> {
    let session = &news.session;
    let shown = |path: &Path| context.env.shown(path, news.cwd.as_deref());
    let window = context.settings.conflict_window;
    let overtaken = news.edited.iter().filter_map(|(path, time)| {
        Some((path, *time, own.knowledge.overtaken(path, *time, window)?))
    });
    let mut overtaken: Vec<_> = overtaken.collect();
    overtaken.sort_by_key(|(_, time, _)| std::cmp::Reverse(*time));
    let others = overtaken.len().saturating_sub(1);
    let edited = overtaken.first().map(|(path, time, own)| Conflict::Edit {
        file: shown(path),
        others,
        time: *time,
        own: *own,
    });
    let conflict = edited.or_else(|| moved(news, own, context));
    let as_written = |path: &str| context.env.shown_from(news.cwd.as_deref(), path);
    let state = situation.state(session.format.live(), context.env.now());
    let is_told = |event: &GitEvent| matches!(&conflict, Some(Conflict::Checkout { event: told, .. }) if told == event);
    let git: Vec<_> = news
        .activity
        .git
        .iter()
        .map(|(event, _)| event.clone())
        .filter(|one| !is_told(one))
        .collect();
    let broken_off = news
        .activity
        .broken_off
        .as_ref()
        .map(|call| told::broken_off(call, &as_written));
    let clauses = told::git(&git)
        .into_iter()
        .chain(broken_off)
        .chain(told::state(&state, &as_written));
    Bullet {
        agent: (session.format.name != context.observer.format.name)
            .then_some(session.format.label()),
        name,
        activity: &news.activity,
        clauses: clauses.collect(),
        more: news.more,
        files: news
            .edited
            .iter()
            .take(NAMED)
            .map(|(path, _)| shown(path))
            .collect(),
        conflict,
    }
}

/// That a session brought other files into the observer's checkout, if the observer has not looked since.
fn moved(news: &News, own: &OwnWork, context: &Context) -> Option<Conflict> {
    let moves = |event: &&(GitEvent, Option<Time>)| {
        matches!(event.0, GitEvent::Switched(_) | GitEvent::Moved(_))
    };
    let (event, time) = news.activity.git.iter().rev().find(moves)?;
    let is_same = checkout(context.env, &context.env.cwd)?
        == checkout(context.env, Path::new(news.last_cwd.as_deref()?))?;
    // Who began later has seen no other files.
    let began_before = own
        .part
        .entries
        .iter()
        .any(|entry| entry.time.is_some() && entry.time < *time);
    let is_news = time.is_some_and(|time| own.knowledge.is_unseen(time));
    (is_same && began_before && is_news).then(|| Conflict::Checkout {
        event: event.clone(),
        time: *time,
    })
}
