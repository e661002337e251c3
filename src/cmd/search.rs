//! `session-reader search`: where some words were said, in all sessions.
//!
//! The words are found in `search/`, and only the entries that are shown are read from their transcripts.

use std::collections::HashSet;

use super::args::SearchArgs;
use super::{Exit, Problem, Stage, log};
use crate::cursor::Buffer;
use crate::entry::Entry;
use crate::file::Unreadable;
use crate::fold::{SaidLine, searched};
use crate::format::Known;
use crate::read::Transcript;
use crate::search::cache::{Cache, Text};
use crate::search::{Found, Query, nearest};
use crate::session::Session;
use crate::session::index::Listed;
use crate::show::json;
use crate::show::search::{SearchView, head};
use crate::show::terminal::Tone;

const MOST_WORDS: usize = 32;
/// How many entries of a session are shown, and how many sessions in a pipe.
const HITS: usize = 3;
const SESSIONS: usize = 20;

pub fn run(args: &SearchArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    stage.known_agent(args.agent.as_deref())?;
    let mut query = Query::new(&args.words, args.file.as_deref());
    if query.is_empty() {
        return Problem::trouble("nothing to search for: give a word that has letters or digits in it");
    }
    if args.words.len() > MOST_WORDS {
        return Problem::trouble(format_args!("more than {MOST_WORDS} words; put a phrase in quotes"));
    }
    query.whole = args.word;
    query.role = args.role;
    query.since = args.since.map(|since| since.time(stage.env));
    let mut sessions = stage.sessions();
    let is_called = |known: &Known| args.agent.as_ref().is_none_or(|agent| known.is_called(agent));
    sessions.retain(|listed| (args.all || listed.here) && is_called(listed.session.format));
    if sessions.is_empty() {
        return Problem::nothing(super::none(args.all, args.agent.is_some(), 0, "--all"));
    }
    let cache = if args.no_cache || args.results { Cache::empty() } else { Cache::open(stage.env, stage.formats) };
    let texts = texts(args, &cache, &sessions, stage);
    let mut found: Vec<(&Listed, &Text, Found)> = (sessions.iter().zip(&texts))
        .filter_map(|(listed, text)| {
            let text = text.as_ref()?;
            Some((listed, text, query.search(text, listed.tally.title().unwrap_or_default())?))
        })
        .collect();
    if found.is_empty() {
        return Problem::nothing(nothing(&query, args, &texts.iter().flatten().collect::<Vec<_>>()));
    }
    // They are the newest first already.
    found.sort_by_key(|(_, _, found)| found.rank());
    let shown = if args.json { show_json(&found, &query, args, stage) } else { show(&found, &query, args, stage) };
    // The process ends here, and giving back all that takes longer than printing it.
    std::mem::forget(found);
    std::mem::forget(texts);
    shown
}

/// The texts of the sessions: from the cache, or from the transcripts themselves.
fn texts<'m>(args: &SearchArgs, cache: &'m Cache, sessions: &[Listed], stage: &mut Stage) -> Vec<Option<Text<'m>>> {
    let all: Vec<&Session> = sessions.iter().map(|listed| &listed.session).collect();
    let now = stage.env.file_clock();
    let mut bad = Vec::new();
    let texts = cache.texts(&all, args.results, now, &mut bad);
    if !args.no_cache && !args.results {
        cache.keep(&all, &texts, now);
    }
    stage.say_unreadable(&bad);
    texts
}

fn show(
    found: &[(&Listed, &Text, Found)],
    query: &Query,
    args: &SearchArgs,
    stage: &mut Stage,
) -> Result<Exit, Problem> {
    let now = stage.env.now();
    let room = stage.style.height.map(|rows| rows.saturating_sub(2).max(6));
    let (mut rows, mut count) = (0, 0);
    for (listed, text, found) in found {
        let best = found.best();
        let hits = best.len().min(HITS);
        rows += 2 + hits * (1 + 2 * args.context) + usize::from(count > 0);
        let is_full = args.limit.map_or_else(|| room.is_some_and(|room| rows > room), |limit| count >= limit);
        if count > 0 && (is_full || args.limit.is_none() && room.is_none() && count >= SESSIONS) {
            break;
        }
        if count > 0 {
            writeln!(stage.out)?;
        }
        count += 1;
        writeln!(stage.out, "{}", head(listed, now, stage.gate, stage.style))?;
        let view = SearchView::new(stage.env.zone(), stage.gate, stage.style, query);
        let mut bad = Vec::new();
        let origin = log::origin(&listed.session, None, &mut bad);
        let mut shown = HashSet::new();
        for index in best[..hits].iter().map(|(index, _)| *index) {
            let near = index.saturating_sub(args.context)..=index + args.context;
            for (near, line) in near.filter_map(|near| Some((near, text.line(near)?))) {
                // Several entries may stand in one line.
                if !shown.insert(line.offset) {
                    continue;
                }
                for entry in entries(&listed.session, line, args.results, &mut bad) {
                    match is_hit(&entry, query, args.results) {
                        true => stage.print_lines([view.hit(&entry, line.number, &origin)])?,
                        false if near != index => stage.print_lines([view.context(&entry, line.number, &origin)])?,
                        false => Exit::Found,
                    };
                }
            }
        }
        stage.say_unreadable(&bad);
        let more = best.len() - hits;
        let more = if more > 0 { format!("{more} more here; ") } else { String::new() };
        let at = best.first().map_or(String::new(), |(_, line)| format!(" --at {}", line.number));
        let open = format!("  {more}session-reader log {}{at}", stage.gate.line(listed.handle()));
        writeln!(stage.out, "{}", stage.style.paint(Tone::Faint, &stage.style.fit(&open)))?;
    }
    let more = found.len() - count;
    if more > 0 {
        let line = format!("{more} more sessions: --limit {} shows all", found.len());
        match stage.style.height {
            Some(_) => writeln!(stage.out, "\n{}", stage.style.paint(Tone::Faint, &line))?,
            None => stage.say(line),
        }
    }
    Ok(Exit::Found)
}

fn show_json(
    found: &[(&Listed, &Text, Found)],
    query: &Query,
    args: &SearchArgs,
    stage: &mut Stage,
) -> Result<Exit, Problem> {
    for (listed, _, found) in found.iter().take(args.limit.unwrap_or(usize::MAX)) {
        let mut bad = Vec::new();
        for (_, line) in found.best() {
            let entries = entries(&listed.session, line, args.results, &mut bad);
            for entry in entries.iter().filter(|entry| is_hit(entry, query, args.results)) {
                stage.print_json(&json::hit(entry, listed, line.number))?;
            }
        }
        stage.say_unreadable(&bad);
    }
    Ok(Exit::Found)
}

/// What a search looks at in a line of a transcript; nothing if that cannot be read now.
fn entries(session: &Session, line: SaidLine, results: bool, bad: &mut Vec<Unreadable>) -> Vec<Entry<'static>> {
    let read = Transcript::open(&session.path, session.format.format())
        .and_then(|transcript| transcript.full(results).whole(results).line_at(line.offset, &mut Buffer::default()));
    let read = read.map(Some).map_err(|error| Unreadable::new(&session.path, error));
    let mut entries = Unreadable::noted(read, bad).unwrap_or_default();
    entries.retain(|entry| searched(entry, results).is_some());
    entries
}

fn is_hit(entry: &Entry, query: &Query, results: bool) -> bool {
    searched(entry, results).is_some_and(|text| query.is_in(&text))
}

/// Why nothing was found, and what may be meant.
fn nothing(query: &Query, args: &SearchArgs, texts: &[&Text]) -> String {
    let hint = if args.all { "" } else { "; --all searches every session on this machine" };
    for (index, word) in query.words().enumerate() {
        let is_said =
            texts.iter().any(|text| text.parts().iter().any(|(text, _)| query.places(index, text).next().is_some()));
        if !is_said {
            let near = nearest(word, texts).map(|near| format!("; did you mean '{near}'?")).unwrap_or_default();
            return format!("nothing says '{word}'{near}{hint}");
        }
    }
    format!("no session says all of these words{hint}")
}
