//! Puts what a survey found into words: a name for each session, the conflicts, and as much as the budget holds.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::own::OwnFiles;
use super::survey::{News, Survey, Surveyor};
use crate::fold::Activity;
use crate::session::live::Agents;
use crate::session::state::{History, Reason};
use crate::session::{State, StateKind};
use crate::show::activity::{Block, Bullet, Conflict, Plight, SessionName, block};

/// Puts what a survey found into words.
pub fn tell(survey: &Survey, surveyor: &Surveyor, budget: usize) -> Block {
    if survey.news.is_empty() {
        return Block::default();
    }
    let edits = survey.news.iter().any(|news| !news.edited.is_empty());
    let own = if edits { surveyor.own_files() } else { OwnFiles::new() };
    let titles = count_titles(survey, surveyor);
    let states = states(survey, surveyor);
    let bullets = survey.news.iter().zip(states).map(|(news, state)| bullet(news, state, &titles, surveyor, &own));
    let bullets: Vec<Bullet> = bullets.collect();
    block(&bullets, surveyor.settings.scope, surveyor.env.now(), budget)
}

/// What state each session with news is in. After the deadline, only what their transcripts say.
fn states(survey: &Survey, surveyor: &Surveyor) -> Vec<Plight> {
    let deadline = surveyor.deadline;
    let agents = (!deadline.is_over()).then(|| Agents::look_until(surveyor.env, surveyor.formats, deadline));
    let state = |news: &News| {
        let Activity { ending, time: updated, .. } = news.activity;
        let open_end = news.open_end.as_ref();
        let presence = agents.as_ref().map(|agents| agents.of_itself(&news.session, open_end, updated));
        let history = History { ending, open_end, updated, done: false };
        let presence = presence.unwrap_or_default();
        let state = State::of(&history, news.session.format.live(), &presence, surveyor.env.now());
        match (state.kind, state.reason) {
            (StateKind::NeedsYou, _) => Plight::Waits,
            (StateKind::Error, _) => Plight::Failed,
            (_, Some(Reason::Crashed(_))) => Plight::Crashed,
            _ => Plight::None,
        }
    };
    survey.news.iter().map(state).collect()
}

fn bullet<'n>(
    news: &'n News,
    plight: Plight,
    titles: &HashMap<&str, usize>,
    surveyor: &Surveyor,
    own: &OwnFiles,
) -> Bullet<'n> {
    let session = &news.session;
    let title = news.title.as_deref().filter(|title| title.chars().count() <= 40);
    let name = match (&session.name, title) {
        (Some(name), _) => SessionName::Word(name),
        (None, Some(title)) if titles.get(title) == Some(&1) => SessionName::Title(title),
        (None, _) => SessionName::Word(surveyor.short_id(session)),
    };
    let shown = |path: &Path| surveyor.env.shown(path, news.cwd.as_deref());
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
        plight,
        more: news.more,
        file: news.edited.first().map(|(path, _)| shown(path)),
        conflict,
    }
}

/// How many sessions have each title.
fn count_titles<'t>(survey: &'t Survey, surveyor: &'t Surveyor) -> HashMap<&'t str, usize> {
    let own = surveyor.own_for_news();
    // A session that moved is still known by its old key.
    let told = survey.news.iter().map(|news| &*news.key).chain(survey.forgotten.iter().map(|key| &**key));
    let told: HashSet<&str> = told.collect();
    let news = survey.news.iter().map(|news| news.title.as_deref());
    let others = surveyor.view.sessions.iter().filter(|(key, _)| !told.contains(&***key)).map(|(_, seen)| seen.title());
    let mut count = HashMap::new();
    for title in
        news.chain(others).chain([&own.basics.person_title, &own.basics.agent_title].map(Option::as_deref)).flatten()
    {
        *count.entry(title.trim()).or_default() += 1;
    }
    count
}
