//! Puts what a survey found into words: a name for each session, the conflicts, and as much as the budget holds.

use std::path::Path;

use super::survey::{News, Survey, Surveyor};
use crate::fold::{GitEvent, Knowledge};
use crate::hash::{HashMap, HashSet};
use crate::session::called::is_short;
use crate::session::checkout;
use crate::session::live::Agents;
use crate::session::state::Situation;
use crate::show::activity::{Block, Bullet, Conflict, NAMED, SessionName, block};
use crate::show::told;
use crate::state::notes::Marks;
use crate::time::Time;

/// Puts what a survey found into words.
pub fn tell(survey: &Survey, surveyor: &Surveyor, budget: usize) -> Block {
    if survey.news.is_empty() {
        return Block::default();
    }
    let changes = |news: &News| !news.edited.is_empty() || !news.activity.git.is_empty();
    let any_changes = survey.news.iter().any(changes);
    let own = if any_changes { surveyor.own_knowledge() } else { Knowledge::default() };
    let titles = count_titles(survey, surveyor);
    let situations = situations(survey, surveyor);
    let bullets = survey.news.iter().zip(&situations);
    let bullets: Vec<Bullet> =
        bullets.map(|(news, situation)| bullet(news, situation, &titles, surveyor, &own)).collect();
    block(&bullets, surveyor.settings.scope, surveyor.env.now(), budget)
}

/// What the state of each session with news is made of. After the deadline, only what their transcripts say.
fn situations(survey: &Survey, surveyor: &Surveyor) -> Vec<Situation> {
    let deadline = surveyor.deadline;
    let agents = (!deadline.is_over()).then(|| Agents::look_until(surveyor.env, surveyor.formats, deadline));
    let marks = Marks::read(surveyor.env, &mut surveyor.cache.unreadable.borrow_mut());
    let situation = |news: &News| {
        let (open_end, updated) = (news.open_end.clone(), news.activity.time);
        let presence = agents.as_ref().map(|agents| agents.of(&news.session, open_end.as_ref(), updated));
        let (done, _) = marks.of(&news.session.id);
        Situation { ending: news.activity.ending, open_end, updated, done, presence: presence.unwrap_or_default() }
    };
    survey.news.iter().map(situation).collect()
}

fn bullet<'n>(
    news: &'n News,
    situation: &Situation,
    titles: &HashMap<&str, usize>,
    surveyor: &Surveyor,
    own: &Knowledge,
) -> Bullet<'n> {
    let session = &news.session;
    let title = news.title.as_deref().filter(|title| is_short(title));
    let name = match (&session.name, title) {
        (Some(name), _) => SessionName::Word(name),
        (None, Some(title)) if titles.get(title) == Some(&1) => SessionName::Title(title),
        (None, _) => SessionName::Word(surveyor.short_id(session)),
    };
    let shown = |path: &Path| surveyor.env.shown(path, news.cwd.as_deref());
    let window = surveyor.settings.conflict_window;
    let overtaken =
        news.edited.iter().filter_map(|(path, time)| Some((path, *time, own.overtaken(path, *time, window)?)));
    let mut overtaken: Vec<_> = overtaken.collect();
    overtaken.sort_by_key(|(_, time, _)| std::cmp::Reverse(*time));
    let others = overtaken.len().saturating_sub(1);
    let edited =
        overtaken.first().map(|(path, time, own)| Conflict::Edit { file: shown(path), others, time: *time, own: *own });
    let conflict = edited.or_else(|| moved(news, surveyor, own));
    let as_written = |path: &str| surveyor.env.shown_from(news.cwd.as_deref(), path);
    let state = situation.state(session.format.live(), surveyor.env.now());
    let is_told = |event: &GitEvent| matches!(&conflict, Some(Conflict::Checkout { event: told, .. }) if told == event);
    let git: Vec<_> = news.activity.git.iter().map(|(event, _)| event.clone()).filter(|one| !is_told(one)).collect();
    let broken_off = news.activity.broken_off.as_ref().map(|call| told::broken_off(call, &as_written));
    let clauses = told::git(&git).into_iter().chain(broken_off).chain(told::state(&state, &as_written));
    Bullet {
        agent: (session.format.name != surveyor.observer.format.name).then_some(session.format.label()),
        name,
        activity: &news.activity,
        clauses: clauses.collect(),
        more: news.more,
        files: news.edited.iter().take(NAMED).map(|(path, _)| shown(path)).collect(),
        conflict,
    }
}

/// That a session brought other files into the observer's checkout, if the observer has not looked since.
fn moved(news: &News, surveyor: &Surveyor, own: &Knowledge) -> Option<Conflict> {
    let moves = |event: &&(GitEvent, Option<Time>)| matches!(event.0, GitEvent::Switched(_) | GitEvent::Moved(_));
    let (event, time) = news.activity.git.iter().rev().find(moves)?;
    let is_same =
        checkout(surveyor.env, &surveyor.env.cwd)? == checkout(surveyor.env, Path::new(news.last_cwd.as_deref()?))?;
    // Who began later has seen no other files.
    let began_before = surveyor.own_for_news().entries.iter().any(|entry| entry.time.is_some() && entry.time < *time);
    let is_news = time.is_some_and(|time| own.is_unseen(time));
    (is_same && began_before && is_news).then(|| Conflict::Checkout { event: event.clone(), time: *time })
}

/// How many sessions have each title.
fn count_titles<'t>(survey: &'t Survey, surveyor: &'t Surveyor) -> HashMap<&'t str, usize> {
    let own = surveyor.own_for_news();
    // A session that moved is still known by its old key.
    let told = survey.news.iter().map(|news| &*news.key).chain(survey.forgotten.iter().map(|key| &**key));
    let told: HashSet<&str> = told.collect();
    let news = survey.news.iter().map(|news| news.title.as_deref());
    let others = surveyor.view.sessions.iter().filter(|(key, _)| !told.contains(&***key)).map(|(_, seen)| seen.title());
    let mut count = HashMap::default();
    for title in
        news.chain(others).chain([&own.basics.person_title, &own.basics.agent_title].map(Option::as_deref)).flatten()
    {
        *count.entry(title.trim()).or_default() += 1;
    }
    count
}
