//! `session-reader search`: where some words were said, in all sessions.
//!
//! The words are found and the sessions ordered in `search/`, and only the entries that are shown are read from their
//! transcripts.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::args::SearchArgs;
use super::{Exit, Problem, Stage, log};
use crate::boundary::substr;
use crate::cursor::Buffer;
use crate::entry::Entry;
use crate::env::{Env, iso};
use crate::file::Unreadable;
use crate::fold::searched;
use crate::format::Known;
use crate::hash::HashSet;
use crate::path::shell_word;
use crate::progress::Progress;
use crate::read::Transcript;
use crate::search::Query;
use crate::search::cache::{self, SaidCache, Source, Text};
use crate::search::query::{Hit, MOST_WORDS, Words, in_any_form};
use crate::search::rank::{Evidence, Weights};
use crate::search::sieve::Sieve;
use crate::search::sources::Sources;
use crate::search::spelling::{Others, Unsaid};
use crate::session::index::{Listed, in_parallel, list_and_take, say_unless_gone};
use crate::session::{Session, subagent};
use crate::show::json;
use crate::show::log::Opener;
use crate::show::search::{SearchView, WORD, head};
use crate::show::terminal::{Tone, cut};

/// How many entries of a session are shown, and how many sessions in a pipe.
const HITS: usize = 3;
const SESSIONS: usize = 20;
/// Where nothing is found here, other projects are searched, too, unless so much of them has never been read.
const MOST_UNREAD: u64 = 512 << 20;
/// As many hits are kept from the search until they are shown; more are looked for again, session by session.
const MOST_HITS: usize = 300_000;

pub fn run(args: &SearchArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    stage.known_agent(args.agent.as_deref())?;
    let mut query = Query::new(&args.words, args.file.as_deref());
    if query.is_empty() {
        return Problem::trouble("nothing to search for: give a word that has letters or digits in it");
    }
    if args.words.len() > MOST_WORDS {
        return Problem::trouble(format_args!("more than {MOST_WORDS} words; put a phrase in quotes"));
    }
    if args.file.is_some() && !query.has_file() {
        return Problem::trouble("--file: give a path, or a part of one that has letters or digits in it");
    }
    query.whole = args.word;
    query.role = args.role;
    query.since = args.since.map(|since| since.time(stage.env));
    let query = query.with_forms();
    let is_called = |known: &Known| args.agent.as_ref().is_none_or(|agent| known.is_called(agent));
    let mut cache = (!args.no_cache && !args.results).then(|| SaidCache::open(stage.env, stage.formats));
    let mut sessions = match &cache {
        // All that the list has to read is searched, too.
        Some(cache) if args.all => stage.search(|env, formats, bad| {
            let take = |session: &Session, reached, said, once| cache.take(session, reached, said, once);
            list_and_take(env, formats, Some(&take), bad)
        }),
        _ => stage.sessions(),
    };
    let subagents = stage.search(subagent::all);
    let there = || sessions.iter().map(|listed| &listed.session).chain(&subagents);
    cache.iter_mut().for_each(|cache| cache.forget_gone(there()));
    sessions.retain(|listed| is_called(listed.session.format));
    let here: Vec<&Listed> = sessions.iter().filter(|listed| args.all || listed.here).collect();
    let elsewhere = sessions.len() - here.len();
    if here.is_empty() {
        return Problem::nothing(super::none(args.all, args.agent.is_some(), elsewhere, "--all"));
    }
    let needed =
        args.limit.unwrap_or(if args.json { usize::MAX } else { SESSIONS.max(stage.style.height.unwrap_or(0)) });
    let scope = |sessions| Scope::of(sessions, &subagents, cache.as_ref());
    let here = Scope { results: args.results, needed, ..scope(here) };
    let found = here.search(query.clone(), stage);
    if found.sessions.is_empty() {
        let everywhere = scope(if elsewhere > 0 { sessions.iter().collect() } else { Vec::new() });
        let is_read = elsewhere == 0 || everywhere.unread().is_some_and(|unread| unread <= MOST_UNREAD);
        let everywhere = is_read.then(|| everywhere.find(query, stage));
        return Problem::nothing(nothing(&found, args, everywhere.as_ref(), stage));
    }
    let shown = match args.json {
        true => show_json(&found, args, stage),
        false => show(&found, args, &subagents, stage),
    };
    // The process ends here, and giving back all that takes longer than printing it.
    std::mem::forget(found);
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

/// The best lines of the sessions that have the words, the best session first. A phrase stands in double quotes.
pub fn best_lines<'f>(words: &str, most: usize, stage: &mut Stage<'_, 'f>) -> Vec<BestLine<'f>> {
    let query = Query::new(&split(words), None).with_forms();
    if query.is_empty() {
        return Vec::new();
    }
    let sessions = stage.sessions();
    let mut cache = SaidCache::open(stage.env, stage.formats);
    let subagents = stage.search(subagent::all);
    cache.forget_gone(sessions.iter().map(|listed| &listed.session).chain(&subagents));
    let scope = Scope::of(sessions.iter().collect(), &subagents, Some(&cache));
    let found = scope.search(query, stage);
    let mut bad = Vec::new();
    let lines = found.sessions.iter().take(most).map(|session| {
        let best = found.weights.best(&found.hits(session)).first().map(|hit| hit.source);
        let entries = best.map(|best| entries(session.sources, best, false, &mut bad)).unwrap_or_default();
        let said = entries.iter().find(|entry| is_hit(entry, &found.query, false));
        let said = said.and_then(|entry| searched(entry, false));
        let said = said.map(|said| around(&stage.gate.line(said), &found.query)).unwrap_or_default();
        let subagent = best.filter(|best| best.file > 0).map(|best| session.sources.get(best.file).path.to_path_buf());
        let number = best.map_or(1, |best| best.line.number.into());
        BestLine { listed: session.listed.clone(), subagent, number, said }
    });
    let lines: Vec<BestLine> = lines.collect();
    stage.say_unreadable(&bad);
    if !lines.is_empty() {
        stage.say_all(&found.corrections);
    }
    lines
}

/// The words of a line, with phrases in quotes as a shell would pass them on.
fn split(line: &str) -> Vec<String> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    // While the user types, the other quotation mark may be missing.
    if line.matches('"').count() % 2 == 1 {
        return words(line);
    }
    let parts = line.split('"').enumerate();
    parts.flat_map(|(index, part)| if index % 2 == 1 { vec![part.to_owned()] } else { words(part) }).collect()
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
    let from = substr(&text, from..start).find(' ').map_or(from, |blank| from + blank + 1);
    format!("…{}", substr(&text, from..))
}

/// Sessions that are searched together.
struct Scope<'s, 'f> {
    sessions: Vec<&'s Listed<'f>>,
    sources: Vec<Sources<'s, 'f>>,
    /// None if the transcripts themselves are read.
    cache: Option<&'s SaidCache>,
    /// Also what tools answered.
    results: bool,
    /// How many sessions are shown.
    needed: usize,
}

/// A session that was looked through.
struct Looked<'s, 'f> {
    listed: &'s Listed<'f>,
    sources: &'s Sources<'s, 'f>,
    evidence: Evidence,
    /// The entries that have the words, unless all sessions have too many.
    hits: Option<Box<[Hit]>>,
}

struct Found<'s, 'f> {
    scope: &'s Scope<'s, 'f>,
    /// With the words that were corrected.
    query: Query,
    weights: Weights,
    /// The sessions to show, the best first.
    sessions: Vec<Looked<'s, 'f>>,
    corrections: Vec<String>,
    /// The words that nobody says, neither here nor where the filters don't look.
    unsaid: Words,
    /// How many older sessions were left out.
    unsearched: usize,
}

impl Found<'_, '_> {
    /// The entries of a session that have the words.
    fn hits<'l>(&self, session: &'l Looked) -> Cow<'l, [Hit]> {
        match &session.hits {
            Some(hits) => Cow::Borrowed(hits),
            None => Cow::Owned(self.scope.again(session, |text| self.query.hits(text))),
        }
    }

    fn lacks(&self, session: &Looked) -> Words {
        self.query.all() & !session.evidence.has()
    }

    /// The words that a session lacks, as the user typed them.
    fn missing(&self, session: &Looked) -> Vec<&str> {
        self.query.typed(self.lacks(session))
    }
}

impl<'s, 'f> Scope<'s, 'f> {
    fn of(sessions: Vec<&'s Listed<'f>>, subagents: &'s [Session<'f>], cache: Option<&'s SaidCache>) -> Scope<'s, 'f> {
        let sources = Sources::of(sessions.iter().map(|listed| &listed.session), subagents);
        Scope { sessions, sources, cache, results: false, needed: usize::MAX }
    }

    /// How much of it is not in the cache, if there is one.
    fn unread(&self) -> Option<u64> {
        let cache = self.cache?;
        Some(self.sources.iter().map(|sources| cache.unread(sources)).sum())
    }

    /// Looks at what was said in each session, by its number. Of those that cannot be read there is nothing.
    fn each<R: Send>(&self, env: &Env, bad: &mut Vec<Unreadable>, look: impl Fn(usize, &Text) -> R + Sync) -> Vec<R> {
        let size = |index: &usize| {
            let sources = &self.sources[*index];
            self.cache.map_or_else(|| sources.size(), |cache| cache.unread(sources))
        };
        let indices: Vec<usize> = (0..self.sources.len()).collect();
        let progress = Progress::of(env, "reading what was said", indices.iter().map(size));
        let looked = in_parallel(&indices, &progress, size, |index, buffer| {
            cache::look_at(&self.sources[*index], self.cache, false, buffer, |text| look(*index, text))
        });
        let looked = looked.into_iter().zip(&self.sources).filter_map(|(looked, sources)| {
            let (found, unreadable) = looked.map_err(|error| say_unless_gone(error, sources.own, bad)).ok()?;
            bad.extend(unreadable);
            Some(found)
        });
        looked.collect()
    }

    /// Looks at a session once more; at nothing if it cannot be read now.
    fn again<R: Default>(&self, session: &Looked, look: impl FnOnce(&Text) -> R) -> R {
        let looked = cache::look_at(session.sources, self.cache, self.results, &mut Buffer::default(), look);
        looked.map(|(found, _)| found).unwrap_or_default()
    }

    /// Finds the words, and others in place of those that nobody says.
    fn search(&self, query: Query, stage: &mut Stage) -> Found<'_, 'f> {
        let mut found = self.find(query, stage);
        let query = &found.query;
        let mut unsaid = query.all() & !found.weights.said;
        if unsaid == 0 {
            return found;
        }
        // Whoever wants whole words knows which.
        let instead = |word| if query.whole { None } else { Unsaid::new(word) };
        let words: Vec<(usize, &str, Option<Unsaid>)> =
            query.words(unsaid).map(|(index, word)| (index, word, instead(word))).collect();
        // What cannot be read was said before.
        let said = self.each(stage.env, &mut Vec::new(), |_, text| {
            let others =
                words.iter().map(|(.., unsaid)| unsaid.as_ref().map(|it| it.others_in(text)).unwrap_or_default());
            (query.said_in(text), others.collect::<Vec<Others>>())
        });
        unsaid &= !said.iter().fold(0, |all, (said, _)| all | said);
        let (mut replaced, mut corrections) = (Vec::new(), Vec::new());
        for (number, (index, word, instead)) in words.iter().enumerate().filter(|(_, word)| unsaid & 1 << word.0 != 0) {
            let others = || said.iter().filter_map(|(_, others)| others.get(number));
            let other = instead.as_ref().and_then(|instead| instead.best(others()));
            corrections.push(correction(word, other.as_deref(), stage));
            replaced.extend(other.map(|other| (*index, other)));
        }
        if !replaced.is_empty() {
            found = self.find(query.with(&replaced), stage);
        }
        Found { unsaid: if replaced.is_empty() { unsaid } else { 0 }, corrections, ..found }
    }

    fn find(&self, query: Query, stage: &mut Stage) -> Found<'_, 'f> {
        let kept = AtomicUsize::new(0);
        let look = |index: usize, text: &Text| {
            let hits = query.hits(text);
            let evidence = query.evidence(&hits, text, title(self.sessions[index]))?;
            let is_kept = kept.fetch_add(hits.len(), Ordering::Relaxed) + hits.len() <= MOST_HITS;
            let (listed, sources) = (self.sessions[index], &self.sources[index]);
            Some(Looked { listed, sources, evidence, hits: is_kept.then(|| hits.into()) })
        };
        let mut bad = Vec::new();
        let (looked, unsearched) = match self.cache {
            Some(_) => (self.each(stage.env, &mut bad, look).into_iter().flatten().collect(), 0),
            None => self.in_files(&query, stage.env, &mut bad, look),
        };
        stage.say_unreadable(&bad);
        let weights =
            Weights::of(&query, looked.iter().map(|looked| &looked.evidence), self.sessions.len() - unsearched);
        let sessions = weights.order(looked, |looked| &looked.evidence);
        Found { scope: self, query, weights, sessions, corrections: Vec::new(), unsaid: 0, unsearched }
    }

    /// Those that have some of the words, from the transcripts themselves. Those that cannot hold any are told before
    /// anything is decoded. Once as many as are shown have all words in one entry, older ones are left out: how many, is
    /// the second result.
    fn in_files<'l>(
        &'l self,
        query: &Query,
        env: &Env,
        bad: &mut Vec<Unreadable>,
        look: impl Fn(usize, &Text) -> Option<Looked<'l, 'f>> + Sync,
    ) -> (Vec<Looked<'l, 'f>>, usize) {
        /// How many are looked through before they are counted; then twice as many, because threads wait for each other.
        const FIRST: usize = 64;
        let sieve = query.sieve();
        let all: Vec<usize> = (0..self.sources.len()).collect();
        let size = |index: &usize| self.sources[*index].size();
        let progress = Progress::of(env, "searching", all.iter().map(size));
        let (mut found, mut searched) = (Vec::new(), 0);
        while searched < all.len() {
            let some = &all[searched..all.len().min(2 * searched + FIRST)];
            let looked = in_parallel(some, &progress, size, |index, buffer| {
                let (sources, mut bad) = (&self.sources[*index], Vec::new());
                let may_be = may_be_in(sources, query, &sieve, title(self.sessions[*index]), buffer, &mut bad);
                let looked = may_be.and_then(|may_be| match may_be {
                    true => cache::look_at(sources, None, self.results, buffer, |text| look(*index, text)),
                    false => Ok((None, Vec::new())),
                });
                let looked = looked.map(|(looked, unreadable)| {
                    bad.extend(unreadable);
                    looked
                });
                (looked, bad)
            });
            for (index, (looked, unreadable)) in some.iter().zip(looked) {
                bad.extend(unreadable);
                let looked = looked.map_err(|error| say_unless_gone(error, self.sources[*index].own, bad));
                found.extend(looked.ok().flatten());
            }
            searched += some.len();
            if found.iter().filter(|looked: &&Looked| looked.evidence.is_together).count() >= self.needed {
                break;
            }
        }
        (found, self.sessions.len() - searched)
    }
}

fn title<'l>(listed: &'l Listed) -> &'l str {
    listed.tally.title().unwrap_or_default()
}

/// Says that nobody says a word, and what is shown instead.
fn correction(word: &str, other: Option<&str>, stage: &Stage) -> String {
    let unsaid = format!("no session says \"{}\"", cut(word, WORD));
    match other {
        None => unsaid,
        // It may be a secret, which only the words around it tell.
        Some(_) if stage.gate.hides_secrets() => format!("{unsaid}; showing the nearest word"),
        Some(other) => format!("{unsaid}; showing \"{other}\""),
    }
}

/// Whether the transcripts of a session may hold what it must have, and one of the other words. A subagent's that cannot be
/// read is named in `bad`.
fn may_be_in(
    sources: &Sources,
    query: &Query,
    sieve: &Sieve,
    title: &str,
    buffer: &mut Buffer,
    bad: &mut Vec<Unreadable>,
) -> io::Result<bool> {
    let in_title = in_any_form(query.in_title(title));
    let any = query.all() & !query.phrases();
    // With a phrase, a session needs none of the other words.
    let needs_any = query.phrases() == 0 && any & in_title == 0;
    let mut words = query.required() & !in_title | if needs_any { any } else { 0 };
    for (file, session) in sources.iter().enumerate() {
        let transcript = Transcript::open(&session.path, session.format.format());
        match transcript.and_then(|transcript| sieve.missing(&transcript.source, words, any, buffer)) {
            Ok(0) => return Ok(true),
            Ok(missing) => words = missing,
            Err(error) if file == 0 => return Err(error),
            Err(error) => say_unless_gone(error, session, bad),
        }
    }
    Ok(false)
}

fn show(found: &Found, args: &SearchArgs, subagents: &[Session], stage: &mut Stage) -> Result<Exit, Problem> {
    // A line is left for the shell, and two for how many there are besides.
    let mut used = 3;
    match stage.style.height {
        Some(_) if !found.corrections.is_empty() => {
            used += found.corrections.len() + 1;
            for note in &found.corrections {
                let note = stage.gate.line(note);
                writeln!(stage.out, "{}", stage.style.paint(Tone::Faint, &stage.style.fit(&note)))?;
            }
            writeln!(stage.out)?;
        }
        _ => stage.say_all(&found.corrections),
    }
    let room = stage.style.height.map(|rows| rows.saturating_sub(used).max(6));
    let (mut rows, mut count) = (0, 0);
    for session in &found.sessions {
        let mut bad = Vec::new();
        let lines = lines(session, found, args, subagents, stage, &mut bad);
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
    if let Some(line) = besides(found, count) {
        match stage.style.height {
            Some(_) => writeln!(stage.out, "\n{}", stage.style.paint(Tone::Faint, &line))?,
            None => stage.say(line),
        }
    }
    Ok(Exit::Found)
}

/// How many sessions there are besides those that are shown, if any.
fn besides(found: &Found, shown: usize) -> Option<String> {
    let has_all = |session: &&Looked| found.lacks(session) == 0;
    let all = found.sessions.iter().skip(shown).filter(has_all).count();
    let some = found.sessions.len() - shown - all;
    let mut parts = Vec::new();
    match all {
        0 => {}
        1 => parts.push("1 more session".to_owned()),
        _ => parts.push(format!("{all} more sessions")),
    }
    if some > 0 {
        parts.push(format!("{some} with only some of the words"));
    }
    let (limit, unsearched) = (found.sessions.len() + found.unsearched, found.unsearched);
    let verb = match (parts.is_empty(), unsearched) {
        (true, 0) => return None,
        (true, _) => {
            parts.push(format!("{unsearched} older sessions were not searched"));
            "searches"
        }
        (false, 0) => "shows",
        (false, _) => {
            parts.push(format!("{unsearched} older ones were not searched"));
            "shows"
        }
    };
    Some(format!("{}: --limit {limit} {verb} all", parts.join(", and ")))
}

/// A session, and the best of what it says: what stands in one transcript, then the command that opens it there.
fn lines(
    session: &Looked,
    found: &Found,
    args: &SearchArgs,
    subagents: &[Session],
    stage: &Stage,
    bad: &mut Vec<Unreadable>,
) -> Vec<String> {
    let hits = found.hits(session);
    let best = found.weights.best(&hits);
    let shown = &best[..best.len().min(HITS)];
    let view = SearchView::new(stage.env.zone(), stage.gate, stage.style, &found.query, args.context > 0);
    let origin = log::origin(&session.listed.session, None, bad);
    let faint = |line: &str| stage.style.paint(Tone::Faint, line).into_owned();
    let mut lines =
        vec![head(session.listed, &found.query, &found.missing(session), stage.env.now(), stage.gate, stage.style)];
    let near: BTreeMap<usize, Source> = match args.context {
        0 => BTreeMap::new(),
        context => {
            found.scope.again(session, |text| shown.iter().flat_map(|hit| text.around(hit.index, context)).collect())
        }
    };
    let mut files = HashSet::default();
    for first in shown.iter().map(|hit| hit.source).filter(|source| files.insert(source.file)) {
        let hits = shown.iter().map(|hit| hit.source).filter(|source| source.file == first.file);
        let blocks = if args.context == 0 { hits.map(|hit| vec![hit]).collect() } else { blocks(&near, first.file) };
        let mut gap = None;
        for block in blocks {
            let (mut said, mut has_hit) = (Vec::new(), false);
            for source in block {
                for entry in entries(session.sources, source, args.results, bad) {
                    if is_hit(&entry, &found.query, args.results) {
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
        lines.push(faint(&command(session, Some(first), subagents, stage)));
    }
    if shown.is_empty() {
        lines.push(faint(&command(session, None, subagents, stage)));
    }
    if best.len() > shown.len() {
        lines.push(faint(&format!("  {} more here", best.len() - shown.len())));
    }
    lines
}

/// The lines of one transcript that are shown, in its order; those that touch are one block.
fn blocks(near: &BTreeMap<usize, Source>, file: usize) -> Vec<Vec<Source>> {
    let near: Vec<(usize, Source)> =
        near.iter().map(|(index, source)| (*index, *source)).filter(|(_, source)| source.file == file).collect();
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
fn command(session: &Looked, source: Option<Source>, subagents: &[Session], stage: &Stage) -> String {
    let opener = Opener { env: stage.env, gate: stage.gate, subagents };
    let subagent = source.filter(|source| source.file > 0).map(|source| &*session.sources.get(source.file).path);
    let line = source.map(|source| source.line.number.into());
    let command = format!("  {}", opener.command(session.listed, subagent, line));
    if subagent.is_some() { command } else { stage.style.fit(&command).into_owned() }
}

fn show_json(found: &Found, args: &SearchArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    stage.say_all(&found.corrections);
    for session in found.sessions.iter().take(args.limit.unwrap_or(usize::MAX)) {
        let (missing, mut bad) = (found.missing(session), Vec::new());
        let hits = found.hits(session);
        for Hit { source, .. } in found.weights.best(&hits) {
            let subagent = (source.file > 0).then(|| &*session.sources.get(source.file).path);
            let entries = entries(session.sources, *source, args.results, &mut bad);
            for entry in entries.iter().filter(|entry| is_hit(entry, &found.query, args.results)) {
                stage.print_json(&json::hit(entry, session.listed, subagent, source.line.number, &missing))?;
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

/// Why nothing was found, and commands that may find more. `elsewhere` is what other projects have, if it is known.
fn nothing(found: &Found, args: &SearchArgs, elsewhere: Option<&Found>, stage: &Stage) -> String {
    let query = &found.query;
    let is_anywhere = args.all || elsewhere.is_some_and(|elsewhere| elsewhere.sessions.is_empty());
    let place = if is_anywhere { "on this machine" } else { "in this project" };
    let filters = [("--role", args.role.is_some()), ("--since", args.since.is_some()), ("--file", args.file.is_some())];
    let filters: Vec<&str> = filters.iter().filter(|(_, given)| *given).map(|(flag, _)| *flag).collect();
    let anywhere = query.anywhere();
    let is_said = |_, text: &Text| anywhere.evidence(&anywhere.hits(text), text, "").is_some();
    let unsaid: Vec<String> = query.typed(found.unsaid).iter().map(|word| format!("\"{}\"", cut(word, WORD))).collect();
    let mut lines = vec![match &unsaid[..] {
        _ if !filters.is_empty() && found.scope.each(stage.env, &mut Vec::new(), is_said).contains(&true) => {
            format!("this was said, but nowhere that fits {}", filters.join(" and "))
        }
        [] => format!("no session {place} says all of this"),
        [word] => format!("no session {place} says {word}"),
        _ => format!("no session {place} says any of these words"),
    }];
    let mut propose = |why: String, all: bool, results: bool| {
        lines.extend([why, format!("  {}", command_line(args, all, results, stage))]);
    };
    if !is_anywhere {
        let count = |elsewhere: &Found| {
            let with_all = elsewhere.sessions.iter().filter(|session| elsewhere.lacks(session) == 0).count();
            let (count, says) = match with_all {
                0 => (elsewhere.sessions.len(), ["says some of it", "say some of it"]),
                _ => (with_all, ["does", "do"]),
            };
            let (sessions, says) = if count == 1 { ("session", says[0]) } else { ("sessions", says[1]) };
            format!("{count} {sessions} elsewhere {says}:")
        };
        propose(elsewhere.map_or_else(|| "to search every session on this machine:".into(), count), true, args.results);
    }
    if !args.results {
        propose("to search what tools answered, too:".into(), is_anywhere, true);
    }
    lines.join("\n")
}

/// The command that was given, with another scope. What nobody would type again stays out.
fn command_line(args: &SearchArgs, all: bool, results: bool, stage: &Stage) -> String {
    const LONGEST: usize = 400;
    let mut words = vec!["session-reader".to_owned(), "search".to_owned()];
    let is_long = args.words.iter().map(String::len).sum::<usize>() > LONGEST;
    let given = if is_long { &["WORD…".to_owned()][..] } else { &args.words };
    let starts_with_dash = given.iter().any(|word| word.starts_with('-'));
    let said = given.iter().map(|word| if is_long { word.into() } else { shell_word(word) });
    if !starts_with_dash {
        words.extend(said.clone());
    }
    let mut flag = |flag: &str, is_given: bool| words.extend(is_given.then(|| flag.to_owned()));
    flag("--all", all);
    flag("-w", args.word);
    flag("--results", results);
    flag("--no-cache", args.no_cache);
    flag("--json", args.json);
    let mut option = |name: &str, value: Option<String>| {
        words.extend(value.map(|value| format!("{name} {}", shell_word(&value))));
    };
    option("--role", args.role.map(|role| role.name().to_owned()));
    option("--agent", args.agent.clone());
    option("--file", args.file.clone().filter(|file| file.len() <= LONGEST));
    option("--since", args.since.map(|since| iso(since.time(stage.env))));
    option("--limit", args.limit.map(|limit| limit.to_string()));
    option("-C", Some(args.context).filter(|context| *context > 0).map(|context| context.to_string()));
    if starts_with_dash {
        words.push("--".into());
        words.extend(said);
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_line_is_split_into_words_and_phrases() {
        for (line, words) in [
            ("retry  webhook", &["retry", "webhook"][..]),
            ("\"rate limit\" retry", &["rate limit", "retry"]),
            ("say \"hi", &["say", "\"hi"]),
            (" ", &[]),
        ] {
            assert_eq!(super::split(line), words, "{line}");
        }
    }
}
