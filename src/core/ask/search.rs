//! The sessions of this project or of the machine that say some words, and their entries that do.
//!
//! The words are found and the sessions ordered in `search/`. Only the entries that somebody wants to see are read from their
//! transcripts.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::log::Origin;
use super::{Answer, Asker};
use crate::env::Env;
use crate::file::Unreadable;
use crate::fold::searched;
use crate::parallel::in_parallel;
use crate::progress::Progress;
use crate::search::Query;
use crate::search::cache::{self, SaidCache, Source, Text};
use crate::search::query::{Hit, Words, in_any_form};
use crate::search::rank::{Evidence, Weights};
use crate::search::sieve::Sieve;
use crate::search::sources::Sources;
use crate::search::spelling::{Others, Unsaid};
use crate::session::index::{self, Indexed, Listed, Selection, TakeSaid};
use crate::session::{Session, subagent};
use session_format::cursor::Buffer;
use session_format::entry::Entry;
use session_format::hash::HashSet;

/// If nothing is found here, other projects are searched, too, unless so much of them has never been read.
const MOST_UNREAD: u64 = 512 << 20;
/// As many hits are kept from the search until they are shown; more are looked for again, session by session.
const MOST_HITS: usize = 300_000;

pub struct SearchQuery<'q> {
    pub words: Query,
    /// In every project.
    pub all: bool,
    pub agent: Option<&'q str>,
    /// Also what tools answered.
    pub results: bool,
    /// The transcripts themselves are read.
    pub no_cache: bool,
    /// No more sessions than this are of use.
    pub needed: usize,
}

impl SearchQuery<'_> {
    /// All sessions that say these words.
    pub fn of(words: Query) -> Self {
        SearchQuery {
            words,
            all: true,
            agent: None,
            results: false,
            no_cache: false,
            needed: usize::MAX,
        }
    }
}

/// All that can be searched.
pub struct Library<'f> {
    sessions: Vec<Listed<'f>>,
    pub subagents: Vec<Session<'f>>,
    /// None if the transcripts themselves are read.
    pub(super) cache: Option<SaidCache>,
}

impl<'f> Library<'f> {
    pub fn open(query: &SearchQuery, asker: Asker<'_, 'f>) -> Answer<Library<'f>> {
        let is_cached = !query.no_cache && !query.results;
        let mut cache = is_cached.then(|| SaidCache::open(asker.env, asker.formats));
        let take = |session: &Session, reached, said, once| {
            if let Some(cache) = &cache {
                cache.take(session, reached, said, once);
            }
        };
        // All that the list has to read is searched, too.
        let take: Option<&TakeSaid> = if query.all && is_cached {
            Some(&take)
        } else {
            None
        };
        let selection = Selection {
            take,
            ..Selection::default()
        };
        let Indexed {
            listed: mut sessions,
            mut bad,
            ..
        } = index::select(asker.env, asker.formats, &selection);
        let (subagents, unreadable) = asker.look(subagent::all);
        bad.extend(unreadable);
        if let Some(cache) = &mut cache {
            cache.forget_gone(
                sessions
                    .iter()
                    .map(|listed| &listed.session)
                    .chain(&subagents),
            );
        }
        sessions.retain(|listed| {
            query
                .agent
                .is_none_or(|agent| listed.session.format.is_called(agent))
        });
        (
            Library {
                sessions,
                subagents,
                cache,
            },
            bad,
        )
    }

    /// The sessions of this project or of all.
    pub fn sessions(&self, all: bool) -> Vec<&Listed<'f>> {
        self.sessions
            .iter()
            .filter(|listed| all || listed.here)
            .collect()
    }

    /// Finds the words, and others in place of those that nobody says.
    pub fn search(&self, query: &SearchQuery, env: &Env) -> Answer<Found<'_, 'f>> {
        let scope = self.scope(self.sessions(query.all));
        Scope {
            results: query.results,
            needed: query.needed,
            ..scope
        }
        .search(query.words.clone(), env)
    }

    /// Counts the sessions of other projects that have the words, if none of this project does; none if that takes too long.
    pub fn elsewhere(&self, query: &SearchQuery, env: &Env) -> Answer<Option<Elsewhere>> {
        let all = if query.all || self.sessions.iter().all(|listed| listed.here) {
            Vec::new()
        } else {
            self.sessions(true)
        };
        let (is_alone, everywhere) = (all.is_empty(), self.scope(all));
        if !is_alone
            && everywhere
                .unread()
                .is_none_or(|unread| unread > MOST_UNREAD)
        {
            return (None, Vec::new());
        }
        let (found, bad) = everywhere.find(query.words.clone(), env);
        let with_all = found
            .sessions
            .iter()
            .filter(|session| found.lacks(session) == 0)
            .count();
        (
            Some(Elsewhere {
                sessions: found.sessions.len(),
                with_all,
            }),
            bad,
        )
    }

    fn scope<'l>(&'l self, sessions: Vec<&'l Listed<'f>>) -> Scope<'l, 'f> {
        let sources = Sources::of(
            sessions.iter().map(|listed| &listed.session),
            &self.subagents,
        );
        Scope {
            sessions,
            sources,
            cache: self.cache.as_ref(),
            results: false,
            needed: usize::MAX,
        }
    }
}

/// The number of sessions of other projects that have some of the words, and of those that have all.
#[derive(Debug, Clone, Copy)]
pub struct Elsewhere {
    pub sessions: usize,
    pub with_all: usize,
}

/// Sessions that are searched together.
struct Scope<'l, 'f> {
    sessions: Vec<&'l Listed<'f>>,
    sources: Vec<Sources<'l, 'f>>,
    cache: Option<&'l SaidCache>,
    results: bool,
    needed: usize,
}

/// A session that has some of the words.
pub struct FoundSession {
    /// Its number in the scope.
    index: usize,
    evidence: Evidence,
    /// The entries that have the words, unless all sessions have too many.
    hits: Option<Box<[Hit]>>,
}

/// A word that nobody says, and what was searched for instead, if anything.
pub struct Correction {
    pub word: String,
    pub instead: Option<String>,
}

pub struct Found<'l, 'f> {
    scope: Scope<'l, 'f>,
    /// With the words that were corrected.
    pub query: Query,
    weights: Weights,
    /// The sessions that have the words, the best first.
    pub sessions: Vec<FoundSession>,
    pub corrections: Vec<Correction>,
    /// The words that nobody says, neither here nor where the filters don't look.
    unsaid: Words,
    /// The number of older sessions that were left out.
    pub unsearched: usize,
}

/// A session, and the best of what it says.
pub struct Excerpt<'e, 'f> {
    pub listed: &'e Listed<'f>,
    pub origin: Origin,
    /// The words that it lacks, as the user typed them.
    pub missing: Vec<&'e str>,
    /// Its transcripts that have hits, the best first.
    pub files: Vec<FileExcerpt>,
    /// The number of other entries that have the words.
    pub more: usize,
}

pub struct FileExcerpt {
    /// The transcript, if it is a subagent's.
    pub subagent: Option<PathBuf>,
    /// The line of the best hit.
    pub line: u32,
    /// Entries that stand together.
    pub blocks: Vec<Vec<FoundEntry>>,
}

pub struct FoundEntry {
    pub entry: Entry<'static>,
    pub source: Source,
    /// It has the words; the others stand around it.
    pub is_hit: bool,
}

impl<'l, 'f> Found<'l, 'f> {
    pub fn listed(&self, session: &FoundSession) -> &'l Listed<'f> {
        self.scope.sessions[session.index]
    }

    fn sources(&self, session: &FoundSession) -> &Sources<'l, 'f> {
        &self.scope.sources[session.index]
    }

    /// The entries of a session that have the words, the best first.
    fn hits(&self, session: &FoundSession) -> Vec<Hit> {
        let hits = match &session.hits {
            Some(hits) => Cow::Borrowed(&**hits),
            None => Cow::Owned(self.again(session, |text| self.query.hits(text))),
        };
        self.weights.best(&hits).into_iter().cloned().collect()
    }

    fn lacks(&self, session: &FoundSession) -> Words {
        self.query.all() & !session.evidence.has()
    }

    pub fn has_all(&self, session: &FoundSession) -> bool {
        self.lacks(session) == 0
    }

    /// The words that a session lacks, as the user typed them.
    pub fn missing(&self, session: &FoundSession) -> Vec<&str> {
        self.query.typed(self.lacks(session))
    }

    /// The words that nobody says, as the user typed them.
    pub fn unsaid(&self) -> Vec<&str> {
        self.query.typed(self.unsaid)
    }

    /// True if somebody says the words outside of the filters.
    pub fn is_said_anyhow(&self, env: &Env) -> bool {
        let anywhere = self.query.anywhere();
        let is_said = |_, text: &Text| anywhere.evidence(&anywhere.hits(text), text, "").is_some();
        self.scope.each(env, is_said).0.contains(&true)
    }

    /// Looks at a session once more; at nothing if it cannot be read now.
    fn again<R: Default>(&self, session: &FoundSession, look: impl FnOnce(&Text) -> R) -> R {
        let Scope { cache, results, .. } = self.scope;
        let looked = cache::look_at(
            self.sources(session),
            cache,
            results,
            &mut Buffer::default(),
            look,
        );
        looked.map(|(found, _)| found).unwrap_or_default()
    }

    /// The lines in which a session has the words, the best first.
    pub fn lines(&self, session: &FoundSession) -> Vec<Source> {
        self.hits(session).iter().map(|hit| hit.source).collect()
    }

    /// The transcript that a line is in, if it is a subagent's.
    pub fn subagent(&self, session: &FoundSession, source: Source) -> Option<PathBuf> {
        (source.file > 0).then(|| self.sources(session).get(source.file).path.to_path_buf())
    }

    /// The entries of a line that a search looks at; none if it cannot be read now.
    pub fn entries(&self, session: &FoundSession, source: Source) -> Answer<Vec<FoundEntry>> {
        let (transcript, results) = (self.sources(session).get(source.file), self.scope.results);
        let read = cache::open(transcript, source.file > 0, results)
            .and_then(|transcript| transcript.line_at(source.line.offset, &mut Buffer::default()));
        let (entries, bad) = match read {
            Ok(entries) => (entries, Vec::new()),
            Err(error) => (Vec::new(), vec![Unreadable::new(&transcript.path, error)]),
        };
        let found = entries.into_iter().filter_map(|entry| {
            let is_hit = self.query.is_in(&searched(&entry, results)?);
            Some(FoundEntry {
                entry,
                source,
                is_hit,
            })
        });
        (found.collect(), bad)
    }

    /// The best entries of a session, so many of them and so many around each.
    pub fn excerpt(
        &self,
        session: &FoundSession,
        most: usize,
        context: usize,
    ) -> Answer<Excerpt<'_, 'f>> {
        let hits = self.hits(session);
        let shown = &hits[..hits.len().min(most)];
        let (origin, mut bad) = Origin::of(&self.listed(session).session, None);
        let near: BTreeMap<usize, Source> = match context {
            0 => BTreeMap::new(),
            _ => self.again(session, |text| {
                shown
                    .iter()
                    .flat_map(|hit| text.around(hit.index, context))
                    .collect()
            }),
        };
        let (mut files, mut known) = (Vec::new(), HashSet::default());
        for first in shown
            .iter()
            .map(|hit| hit.source)
            .filter(|source| known.insert(source.file))
        {
            let hits = shown
                .iter()
                .map(|hit| hit.source)
                .filter(|source| source.file == first.file);
            let blocks = if context == 0 {
                hits.map(|hit| vec![hit]).collect()
            } else {
                blocks(&near, first.file)
            };
            let mut read = Vec::new();
            for block in blocks {
                let mut found = Vec::new();
                for source in block {
                    let (entries, unreadable) = self.entries(session, source);
                    found.extend(
                        entries
                            .into_iter()
                            .filter(|entry| entry.is_hit || context > 0),
                    );
                    bad.extend(unreadable);
                }
                // The transcript may have been written over since.
                if found.iter().any(|entry| entry.is_hit) {
                    read.push(found);
                }
            }
            let subagent = self.subagent(session, first);
            files.push(FileExcerpt {
                subagent,
                line: first.line.number,
                blocks: read,
            });
        }
        let (listed, missing, more) = (
            self.listed(session),
            self.missing(session),
            hits.len() - shown.len(),
        );
        (
            Excerpt {
                listed,
                origin,
                missing,
                files,
                more,
            },
            bad,
        )
    }
}

/// The lines of one transcript that are shown, in its order; those that touch are one block.
fn blocks(near: &BTreeMap<usize, Source>, file: usize) -> Vec<Vec<Source>> {
    let near: Vec<(usize, Source)> = near
        .iter()
        .map(|(index, source)| (*index, *source))
        .filter(|(_, source)| source.file == file)
        .collect();
    let of_block = |block: &[(usize, Source)]| {
        let mut sources: Vec<Source> = block.iter().map(|(_, source)| *source).collect();
        // Several entries may stand in one line.
        sources.dedup_by_key(|source| source.line.offset);
        sources
    };
    let touches = |(one, a): &(usize, Source), (next, b): &(usize, Source)| {
        one + 1 == *next || a.line.offset == b.line.offset
    };
    near.chunk_by(touches).map(of_block).collect()
}

impl<'l, 'f> Scope<'l, 'f> {
    /// The bytes that are not in the cache, if there is one.
    fn unread(&self) -> Option<u64> {
        let cache = self.cache?;
        Some(
            self.sources
                .iter()
                .map(|sources| cache.unread(sources))
                .sum(),
        )
    }

    /// Looks at what was said in each session, by its number. Of those that cannot be read there is nothing.
    fn each<R: Send>(&self, env: &Env, look: impl Fn(usize, &Text) -> R + Sync) -> Answer<Vec<R>> {
        self.each_of((0..self.sources.len()).collect(), env, look)
    }

    /// The same of some sessions.
    fn each_of<R: Send>(
        &self,
        indices: Vec<usize>,
        env: &Env,
        look: impl Fn(usize, &Text) -> R + Sync,
    ) -> Answer<Vec<R>> {
        let size = |index: &usize| {
            let sources = &self.sources[*index];
            self.cache
                .map_or_else(|| sources.size(), |cache| cache.unread(sources))
        };
        let progress = Progress::of(env, "reading what was said", indices.iter().map(size));
        let looked = in_parallel(&indices, &progress, size, |index, buffer| {
            cache::look_at(&self.sources[*index], self.cache, false, buffer, |text| {
                look(*index, text)
            })
        });
        read_of(looked, &self.sources)
    }

    fn search(self, query: Query, env: &Env) -> Answer<Found<'l, 'f>> {
        let (mut found, mut bad) = self.find(query, env);
        let query = &found.query;
        let mut unsaid = query.all() & !found.weights.said;
        if unsaid == 0 {
            return (found, bad);
        }
        // Whoever wants whole words knows which.
        let instead = |word| if query.whole { None } else { Unsaid::new(word) };
        let words: Vec<(usize, &str, Option<Unsaid>)> = query
            .words(unsaid)
            .map(|(index, word)| (index, word, instead(word)))
            .collect();
        // What cannot be read was named before.
        let (said, _) = found.scope.each(env, |_, text| {
            let others = words.iter().map(|(.., unsaid)| {
                unsaid
                    .as_ref()
                    .map(|it| it.others_in(text))
                    .unwrap_or_default()
            });
            (query.said_in(text), others.collect::<Vec<Others>>())
        });
        unsaid &= !said.iter().fold(0, |all, (said, _)| all | said);
        let (mut replaced, mut corrections) = (Vec::new(), Vec::new());
        for (number, (index, word, instead)) in words
            .iter()
            .enumerate()
            .filter(|(_, word)| unsaid & 1 << word.0 != 0)
        {
            let others = || said.iter().filter_map(|(_, others)| others.get(number));
            let other = instead.as_ref().and_then(|instead| instead.best(others()));
            replaced.extend(other.clone().map(|other| (*index, other)));
            corrections.push(Correction {
                word: (*word).to_owned(),
                instead: other,
            });
        }
        if !replaced.is_empty() {
            let query = query.with(&replaced);
            let (again, unreadable) = found.scope.find(query, env);
            bad.extend(unreadable);
            (found, unsaid) = (again, 0);
        }
        (
            Found {
                corrections,
                unsaid,
                ..found
            },
            bad,
        )
    }

    fn find(self, query: Query, env: &Env) -> Answer<Found<'l, 'f>> {
        let kept = AtomicUsize::new(0);
        let look = |index: usize, text: &Text| {
            let hits = query.hits(text);
            let evidence = query.evidence(&hits, text, self.title(index))?;
            let is_kept = kept.fetch_add(hits.len(), Ordering::Relaxed) + hits.len() <= MOST_HITS;
            Some(FoundSession {
                index,
                evidence,
                hits: is_kept.then(|| hits.into()),
            })
        };
        let ((found, searched), bad) = match self.cache {
            Some(cache) => {
                let may_be = |index: &usize| {
                    let signatures = cache.signatures(&self.sources[*index]);
                    signatures.is_none_or(|all| query.may_be_evident(&all, self.title(*index)))
                };
                let candidates = (0..self.sources.len()).filter(may_be).collect();
                let (looked, bad) = self.each_of(candidates, env, look);
                (
                    (looked.into_iter().flatten().collect(), self.sessions.len()),
                    bad,
                )
            }
            None => self.in_files(&query, env, look),
        };
        let weights = Weights::of(&query, found.iter().map(|found| &found.evidence), searched);
        let sessions = weights.order(found, |found| &found.evidence);
        let unsearched = self.sessions.len() - searched;
        (
            Found {
                scope: self,
                query,
                weights,
                sessions,
                corrections: Vec::new(),
                unsaid: 0,
                unsearched,
            },
            bad,
        )
    }

    /// Those that have some of the words, from the transcripts themselves, and how many were searched. Those that cannot hold
    /// any are told before anything is decoded. Once as many as are needed have all words in one entry, older ones are left
    /// out.
    fn in_files(
        &self,
        query: &Query,
        env: &Env,
        look: impl Fn(usize, &Text) -> Option<FoundSession> + Sync,
    ) -> Answer<(Vec<FoundSession>, usize)> {
        /// So many are looked through before hits are counted; then twice as many, because threads wait for each other.
        const FIRST: usize = 64;
        let sieve = query.sieve();
        let all: Vec<usize> = (0..self.sources.len()).collect();
        let size = |index: &usize| self.sources[*index].size();
        let progress = Progress::of(env, "searching", all.iter().map(size));
        let (mut found, mut searched, mut bad) = (Vec::new(), 0, Vec::new());
        while searched < all.len() {
            let some = &all[searched..all.len().min(2 * searched + FIRST)];
            let looked = in_parallel(some, &progress, size, |index, buffer| {
                let sources = &self.sources[*index];
                let (may_be, mut bad) =
                    may_be_in(sources, query, &sieve, self.title(*index), buffer)?;
                if !may_be {
                    return Ok((None, bad));
                }
                let (looked, unreadable) =
                    cache::look_at(sources, None, self.results, buffer, |text| {
                        look(*index, text)
                    })?;
                bad.extend(unreadable);
                Ok((looked, bad))
            });
            let (looked, unreadable) = read_of(looked, &self.sources[searched..]);
            found.extend(looked.into_iter().flatten());
            bad.extend(unreadable);
            searched += some.len();
            if found
                .iter()
                .filter(|found: &&FoundSession| found.evidence.is_together)
                .count()
                >= self.needed
            {
                break;
            }
        }
        ((found, searched), bad)
    }

    fn title(&self, index: usize) -> &str {
        self.sessions[index].tally.title().unwrap_or_default()
    }
}

/// What was found in the files that could be read.
fn read_of<R>(looked: Vec<io::Result<Answer<R>>>, sources: &[Sources]) -> Answer<Vec<R>> {
    let (mut all, mut bad) = (Vec::with_capacity(looked.len()), Vec::new());
    for (looked, sources) in looked.into_iter().zip(sources) {
        match looked {
            Ok((found, unreadable)) => {
                all.push(found);
                bad.extend(unreadable);
            }
            Err(error) => bad.extend(Unreadable::unless_gone(&sources.own.path, error)),
        }
    }
    (all, bad)
}

/// True if the transcripts of a session may hold what it must have, and one of the other words. A subagent's that cannot be
/// read hides no other.
fn may_be_in(
    sources: &Sources,
    query: &Query,
    sieve: &Sieve,
    title: &str,
    buffer: &mut Buffer,
) -> io::Result<Answer<bool>> {
    let in_title = in_any_form(query.in_title(title));
    let any = query.all() & !query.phrases();
    // With a phrase, a session needs none of the other words.
    let needs_any = query.phrases() == 0 && any & in_title == 0;
    let mut words = query.required() & !in_title | if needs_any { any } else { 0 };
    let mut bad = Vec::new();
    for (file, session) in sources.iter().enumerate() {
        let looked = session
            .open()
            .and_then(|transcript| sieve.missing(&transcript.source, words, any, buffer));
        match looked {
            Ok(0) => return Ok((true, bad)),
            Ok(missing) => words = missing,
            Err(error) if file == 0 => return Err(error),
            Err(error) => bad.extend(Unreadable::unless_gone(&session.path, error)),
        }
    }
    Ok((false, bad))
}
