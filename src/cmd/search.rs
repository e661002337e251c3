//! `session-reader search`: where some words were said, in all sessions.
//!
//! The words are found in `search/`, and only the entries that are shown are read from their transcripts.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::PathBuf;

use super::args::SearchArgs;
use super::{Exit, Problem, Stage, log};
use crate::cursor::Buffer;
use crate::entry::Entry;
use crate::file::Unreadable;
use crate::fold::searched;
use crate::format::Known;
use crate::progress::Progress;
use crate::read::Transcript;
use crate::search::cache::{self, Contents, SaidCache, Source, Text};
use crate::search::sieve::Sieve;
use crate::search::sources::Sources;
use crate::search::{Found, Matches, Query, nearest};
use crate::session::index::{Listed, in_parallel, list_and_take, say_unless_gone};
use crate::session::{Session, subagent};
use crate::show::json;
use crate::show::log::Opener;
use crate::show::search::{SearchView, head};
use crate::show::terminal::{Tone, cut};

const MOST_WORDS: usize = 32;
/// How many entries of a session are shown, and how many sessions in a pipe.
const HITS: usize = 3;
const SESSIONS: usize = 20;
/// How much of a word is said again that was not found.
const WORD: usize = 60;

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
    let is_called = |known: &Known| args.agent.as_ref().is_none_or(|agent| known.is_called(agent));
    let cache = (!args.no_cache && !args.results).then(|| SaidCache::open(stage.env, stage.formats));
    let mut contents = cache.as_ref().map(SaidCache::contents);
    let mut sessions = match &contents {
        // All that the list has to read is searched, too.
        Some(contents) if args.all => stage.search(|env, formats, bad| {
            let take = |session: &Session, reached, said, once| contents.take(session, reached, said, once);
            list_and_take(env, formats, Some(&take), bad)
        }),
        _ => stage.sessions(),
    };
    let subagents = stage.search(subagent::all);
    let there = || sessions.iter().map(|listed| &listed.session).chain(&subagents);
    contents.iter_mut().for_each(|contents| contents.forget_gone(there()));
    let elsewhere = sessions.iter().filter(|listed| !listed.here && is_called(listed.session.format)).count();
    sessions.retain(|listed| (args.all || listed.here) && is_called(listed.session.format));
    if sessions.is_empty() {
        let elsewhere = if args.all { 0 } else { elsewhere };
        return Problem::nothing(super::none(args.all, args.agent.is_some(), elsewhere, "--all"));
    }
    let sources = Sources::of(sessions.iter().map(|listed| &listed.session), &subagents);
    let needed =
        args.limit.unwrap_or(if args.json { usize::MAX } else { SESSIONS.max(stage.style.height.unwrap_or(0)) });
    let (mut found, others, unsearched) = match &contents {
        Some(contents) => {
            let (found, others) = in_cache(contents, &sessions, &sources, &query, stage);
            (found, Some(others), 0)
        }
        None => {
            let (found, unsearched) = in_files(&sessions, &sources, &query, args.results, needed, stage);
            (found, None, unsearched)
        }
    };
    if found.is_empty() {
        let texts = others.unwrap_or_else(|| all_texts(&sources, stage));
        return Problem::nothing(nothing(&query, args, &texts, stage));
    }
    // They are the newest first already.
    found.sort_by_key(|hit| hit.found.rank);
    let shown = match args.json {
        true => show_json(&found, &query, args, stage),
        false => show(&found, &query, args, unsearched, &subagents, stage),
    };
    // The process ends here, and giving back all that takes longer than printing it.
    std::mem::forget((found, others));
    shown
}

/// The best line of a session.
pub struct BestLine<'f> {
    pub listed: Listed<'f>,
    /// The transcript of the subagent that it is in, if it is in one.
    pub subagent: Option<PathBuf>,
    pub number: u64,
    pub said: String,
}

/// The best lines of the sessions that have all words, the best session first.
pub fn best_lines<'f>(words: &str, most: usize, stage: &mut Stage<'_, 'f>) -> Vec<BestLine<'f>> {
    let words: Vec<String> = words.split_whitespace().take(MOST_WORDS).map(str::to_owned).collect();
    let query = Query::new(&words, None);
    if query.is_empty() {
        return Vec::new();
    }
    let sessions = stage.sessions();
    let cache = SaidCache::open(stage.env, stage.formats);
    let mut contents = cache.contents();
    let subagents = stage.search(subagent::all);
    contents.forget_gone(sessions.iter().map(|listed| &listed.session).chain(&subagents));
    let sources = Sources::of(sessions.iter().map(|listed| &listed.session), &subagents);
    let (mut hits, _) = in_cache(&contents, &sessions, &sources, &query, stage);
    hits.sort_by_key(|hit| hit.found.rank);
    hits.truncate(most);
    let mut bad = Vec::new();
    let lines = hits.iter().map(|hit| {
        let (listed, best) = (hit.listed, hit.matches(&query).best().first().map(|(_, source)| *source));
        let entries = best.map(|best| entries(hit.sources, best, false, &mut bad)).unwrap_or_default();
        let said = entries.iter().find(|entry| is_hit(entry, &query, false)).and_then(|entry| searched(entry, false));
        let said = said.map(|said| around(&said, &query)).unwrap_or_default();
        let subagent = best.filter(|best| best.file > 0).map(|best| hit.sources.get(best.file).path.to_path_buf());
        BestLine { listed: listed.clone(), subagent, number: best.map_or(1, |best| best.line.number.into()), said }
    });
    let lines = lines.collect();
    stage.say_unreadable(&bad);
    lines
}

/// A text from shortly before the first of the words on.
fn around(text: &str, query: &Query) -> String {
    const BEFORE: usize = 24;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let start = query.places_in(&text).first().map_or(0, |place| place.start);
    if start <= BEFORE {
        return text;
    }
    let from = text.floor_char_boundary(start - BEFORE);
    let from = text[from..start].find(' ').map_or(from, |blank| from + blank + 1);
    format!("…{}", &text[from..])
}

/// A session that has the words.
struct Hit<'s, 'f, 'm> {
    listed: &'s Listed<'f>,
    sources: &'s Sources<'s, 'f>,
    text: Text<'m>,
    found: Found,
}

impl Hit<'_, '_, '_> {
    fn matches(&self, query: &Query) -> &Matches {
        self.found.matches(query, &self.text, title(self.listed))
    }
}

fn title<'l>(listed: &'l Listed) -> &'l str {
    listed.tally.title().unwrap_or_default()
}

/// The sessions that have the words, the newest first, by the cache and what was written since; and the texts of the others.
fn in_cache<'s, 'f, 'm>(
    contents: &Contents<'m>,
    sessions: &'s [Listed<'f>],
    sources: &'s [Sources<'s, 'f>],
    query: &Query,
    stage: &mut Stage,
) -> (Vec<Hit<'s, 'f, 'm>>, Vec<Text<'m>>) {
    let look = |index: usize, text: &Text| query.find(text, title(&sessions[index]));
    let mut bad = Vec::new();
    let looked = contents.look(stage.env, sources, look, &mut bad);
    stage.say_unreadable(&bad);
    let texts: Vec<Option<&Text>> = looked.iter().map(|looked| looked.as_ref().map(|(text, _)| text)).collect();
    contents.keep(sources, &texts, stage.env.file_clock());
    let (mut hits, mut others) = (Vec::new(), Vec::new());
    for ((listed, sources), looked) in sessions.iter().zip(sources).zip(looked) {
        match looked {
            Some((text, Some(found))) => hits.push(Hit { listed, sources, text, found }),
            Some((text, None)) => others.push(text),
            None => {}
        }
    }
    (hits, others)
}

/// The same from the transcripts themselves. Those that cannot hold the words are told before anything is decoded, and once
/// there are as many as needed in which the words stand together, older ones cannot come before them: how many were left
/// out is the second result.
fn in_files<'s, 'f>(
    sessions: &'s [Listed<'f>],
    sources: &'s [Sources<'s, 'f>],
    query: &Query,
    results: bool,
    needed: usize,
    stage: &mut Stage,
) -> (Vec<Hit<'s, 'f, 'static>>, usize) {
    /// How many are looked through before they are counted; then twice as many, because threads wait for each other there.
    const FIRST: usize = 64;
    let sieve = query.sieve();
    let all: Vec<(&Listed, &Sources)> = sessions.iter().zip(sources).collect();
    let size = |(_, sources): &(&Listed, &Sources)| sources.size();
    let progress = Progress::of(stage.env, "searching", all.iter().map(size));
    let (mut hits, mut bad, mut searched) = (Vec::new(), Vec::new(), 0);
    while searched < all.len() {
        let some = &all[searched..all.len().min(2 * searched + FIRST)];
        let looked = in_parallel(some, &progress, size, |(listed, sources), buffer| {
            let mut bad = Vec::new();
            let may_be = may_be_in(sources, &sieve, !query.in_title(title(listed)), buffer, &mut bad);
            let text = may_be.and_then(|may_be| may_be.then(|| cache::text(sources, results, buffer)).transpose());
            let found = text.map(|text| {
                let (mut text, unreadable) = text?;
                bad.extend(unreadable);
                let found = query.search(&text, title(listed))?;
                // All that tools answered may be more than there is memory.
                text.forget_words();
                Some((text, found))
            });
            (found, bad)
        });
        for ((listed, sources), (found, unreadable)) in some.iter().zip(looked) {
            bad.extend(unreadable);
            let found = found.map_err(|error| say_unless_gone(error, &listed.session, &mut bad)).ok().flatten();
            hits.extend(found.map(|(text, found)| Hit { listed, sources, text, found: found.into() }));
        }
        searched += some.len();
        if hits.iter().filter(|hit: &&Hit| hit.found.rank == 0).count() >= needed {
            break;
        }
    }
    drop(progress);
    stage.say_unreadable(&bad);
    (hits, sessions.len() - searched)
}

/// Whether the transcripts of a session may hold all of some words, which are bits. A subagent's that cannot be read is named
/// in `bad`.
fn may_be_in(
    sources: &Sources,
    sieve: &Sieve,
    mut words: u64,
    buffer: &mut Buffer,
    bad: &mut Vec<Unreadable>,
) -> io::Result<bool> {
    for (file, session) in sources.iter().enumerate() {
        let transcript = Transcript::open(&session.path, session.format.format());
        match transcript.and_then(|transcript| sieve.missing(&transcript.file, words, buffer)) {
            Ok(0) => return Ok(true),
            Ok(missing) => words = missing,
            Err(error) if file == 0 => return Err(error),
            Err(error) => say_unless_gone(error, session, bad),
        }
    }
    Ok(false)
}

fn show(
    found: &[Hit],
    query: &Query,
    args: &SearchArgs,
    unsearched: usize,
    subagents: &[Session],
    stage: &mut Stage,
) -> Result<Exit, Problem> {
    // A line is left for the shell, and two for how many there are besides.
    let room = stage.style.height.map(|rows| rows.saturating_sub(3).max(6));
    let (mut rows, mut count) = (0, 0);
    for hit in found {
        let mut bad = Vec::new();
        let lines = lines(hit, query, args, subagents, stage, &mut bad);
        rows += lines.len() + usize::from(count > 0);
        let is_full = args.limit.map_or_else(|| room.is_some_and(|room| rows > room), |limit| count >= limit);
        if count > 0 && (is_full || args.limit.is_none() && room.is_none() && count >= SESSIONS) {
            break;
        }
        if count > 0 {
            writeln!(stage.out)?;
        }
        count += 1;
        stage.print_lines(lines)?;
        stage.say_unreadable(&bad);
    }
    let (more, all) = (found.len() - count, found.len() + unsearched);
    if more + unsearched > 0 {
        let more_sessions = if more == 1 { "1 more session".into() } else { format!("{more} more sessions") };
        let line = match (more, unsearched) {
            (_, 0) => format!("{more_sessions}: --limit {all} shows all"),
            (0, _) => format!("{unsearched} older sessions were not searched: --limit {all} searches all"),
            _ => format!("{more_sessions}, and {unsearched} older ones were not searched: --limit {all} shows all"),
        };
        match stage.style.height {
            Some(_) => writeln!(stage.out, "\n{}", stage.style.paint(Tone::Faint, &line))?,
            None => stage.say(line),
        }
    }
    Ok(Exit::Found)
}

/// A session, and the best of what it says: what stands in one transcript, then the command that opens it there.
fn lines(
    hit: &Hit,
    query: &Query,
    args: &SearchArgs,
    subagents: &[Session],
    stage: &Stage,
    bad: &mut Vec<Unreadable>,
) -> Vec<String> {
    let best = hit.matches(query).best();
    let shown = &best[..best.len().min(HITS)];
    let view = SearchView::new(stage.env.zone(), stage.gate, stage.style, query, args.context > 0);
    let origin = log::origin(&hit.listed.session, None, bad);
    let faint = |line: &str| stage.style.paint(Tone::Faint, line).into_owned();
    let mut lines = vec![head(hit.listed, stage.env.now(), stage.gate, stage.style)];
    let mut files = HashSet::new();
    for (_, first) in shown.iter().filter(|(_, source)| files.insert(source.file)) {
        let places = shown.iter().filter(|(_, source)| source.file == first.file).map(|(index, _)| *index);
        let mut gap = None;
        for block in blocks(&hit.text, places, args.context) {
            let (mut said, mut has_hit) = (Vec::new(), false);
            for source in block {
                for entry in entries(hit.sources, source, args.results, bad) {
                    if is_hit(&entry, query, args.results) {
                        has_hit = true;
                        said.push(view.hit(&entry, source, &origin));
                    } else if args.context > 0 {
                        said.push(view.context(&entry, source, &origin));
                    }
                }
            }
            // The transcript may have been written over since.
            if has_hit {
                lines.extend(gap.take());
                lines.append(&mut said);
                gap = (args.context > 0).then(|| "--".to_owned());
            }
        }
        lines.push(faint(&command(hit, Some(*first), subagents, stage)));
    }
    if shown.is_empty() {
        lines.push(faint(&command(hit, None, subagents, stage)));
    }
    if best.len() > shown.len() {
        lines.push(faint(&format!("  {} more here", best.len() - shown.len())));
    }
    lines
}

/// The lines of one transcript that are shown: each of these entries, in their order; with those around them, in the order of
/// the transcript, and what touches is one block.
fn blocks(text: &Text, places: impl Iterator<Item = usize>, context: usize) -> Vec<Vec<Source>> {
    if context == 0 {
        return places.map(|index| text.around(index, 0).into_iter().map(|(_, source)| source).collect()).collect();
    }
    let near: BTreeMap<usize, Source> = places.flat_map(|index| text.around(index, context)).collect();
    let near: Vec<(usize, Source)> = near.into_iter().collect();
    let of_block = |block: &[(usize, Source)]| {
        let mut sources: Vec<Source> = block.iter().map(|(_, source)| *source).collect();
        // Several entries may stand in one line.
        sources.dedup_by_key(|source| source.line.offset);
        sources
    };
    let touches =
        |(one, a): &(usize, Source), (next, b): &(usize, Source)| one + 1 == *next || a.line.offset == b.line.offset;
    near.chunk_by(touches).map(of_block).collect()
}

/// What to type to see an entry of a session. The name of a subagent must not be cut.
fn command(hit: &Hit, source: Option<Source>, subagents: &[Session], stage: &Stage) -> String {
    let opener = Opener { env: stage.env, gate: stage.gate, subagents };
    let subagent = source.filter(|source| source.file > 0).map(|source| &*hit.sources.get(source.file).path);
    let line = source.map(|source| source.line.number.into());
    let command = format!("  {}", opener.command(hit.listed, subagent, line));
    if subagent.is_some() { command } else { stage.style.fit(&command).into_owned() }
}

fn show_json(found: &[Hit], query: &Query, args: &SearchArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    for hit in found.iter().take(args.limit.unwrap_or(usize::MAX)) {
        let (listed, mut bad) = (hit.listed, Vec::new());
        for (_, source) in hit.matches(query).best() {
            let subagent = (source.file > 0).then(|| &*hit.sources.get(source.file).path);
            let entries = entries(hit.sources, source, args.results, &mut bad);
            for entry in entries.iter().filter(|entry| is_hit(entry, query, args.results)) {
                stage.print_json(&json::hit(entry, listed, subagent, source.line.number))?;
            }
        }
        stage.say_unreadable(&bad);
    }
    Ok(Exit::Found)
}

/// What a search looks at in a line of a transcript; nothing if that cannot be read now.
fn entries(sources: &Sources, source: Source, results: bool, bad: &mut Vec<Unreadable>) -> Vec<Entry<'static>> {
    let session = sources.get(source.file);
    let read = cache::open(session, source.file > 0, results)
        .and_then(|transcript| transcript.line_at(source.line.offset, &mut Buffer::default()));
    let read = read.map(Some).map_err(|error| Unreadable::new(&session.path, error));
    let mut entries = Unreadable::noted(read, bad).unwrap_or_default();
    entries.retain(|entry| searched(entry, results).is_some());
    entries
}

fn is_hit(entry: &Entry, query: &Query, results: bool) -> bool {
    searched(entry, results).is_some_and(|text| query.is_in(&text))
}

/// What was said in these sessions, without the cache. What cannot be read was said before.
fn all_texts(sources: &[Sources], stage: &Stage) -> Vec<Text<'static>> {
    let progress = Progress::of(stage.env, "searching", sources.iter().map(Sources::size));
    let texts = in_parallel(sources, &progress, Sources::size, |sources, buffer| cache::text(sources, false, buffer));
    texts.into_iter().flatten().map(|(text, _)| text).collect()
}

/// Why nothing was found, and what may be meant.
fn nothing(query: &Query, args: &SearchArgs, texts: &[Text], stage: &Stage) -> String {
    let hint = match (args.all, args.results) {
        (false, _) => "--all searches every session on this machine",
        (true, false) => "--results searches what tools answered, too",
        (true, true) => "",
    };
    let says_why = |why: String| match hint {
        "" => why,
        // A question ends a sentence.
        _ if why.ends_with('?') => format!("{why} {hint}"),
        _ => format!("{why}; {hint}"),
    };
    for (index, word) in query.words().enumerate() {
        let is_said =
            texts.iter().any(|text| text.parts().iter().any(|part| query.places(index, part.text).next().is_some()));
        if !is_said {
            // A word may be a secret, which only the words around it tell.
            let near = nearest(word, texts).filter(|_| !stage.gate.hides_secrets());
            let near = near.map(|near| format!("; did you mean '{near}'?")).unwrap_or_default();
            return says_why(format!("nothing says '{}'{near}", cut(word, WORD)));
        }
    }
    let anywhere = query.anywhere();
    let filters = [("--role", args.role.is_some()), ("--since", args.since.is_some()), ("--file", args.file.is_some())];
    let filters: Vec<&str> = filters.iter().filter(|(_, given)| *given).map(|(flag, _)| *flag).collect();
    if !filters.is_empty() && texts.iter().any(|text| anywhere.search(text, "").is_some()) {
        return says_why(format!("this was said, but nowhere that fits {}", filters.join(" and ")));
    }
    says_why("no session says all of these words".into())
}
