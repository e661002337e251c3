//! The sessions that fit what somebody types, with every key: the best of them, each with the line that fits best.
//!
//! The newest first where nothing is typed or they fit equally well. All words must fit, in any order: the title, the name,
//! the id, the tags, the directory or the agent of a session, or something that was said in it. What is known without
//! looking at what was said decides in which order the texts are looked at, so that most of them need not be.

use std::cmp::Reverse;
use std::path::PathBuf;
use std::sync::OnceLock;

use super::Answer;
use super::search::Library;
use crate::env::Env;
use crate::file::Unreadable;
use crate::fold::{folded, searched};
use crate::parallel::in_parallel;
use crate::progress::Progress;
use crate::search::cache::{self, Source, Text};
use crate::search::query::kind;
use crate::search::signature::Signature;
use crate::search::sources::Sources;
use crate::search::typed::{Fit, Typed, TypedWord};
use crate::session::index::Listed;
use session_format::boundary::substr;
use session_format::cursor::Buffer;
use session_format::hash::HashMap;

/// Words with a wrong letter in them count only where fewer sessions than this have the right ones.
const ENOUGH: usize = 20;
/// The fewest letters of an id that are taken for one.
const SHORTEST_ID: usize = 4;

pub struct FindQuery<'q> {
    pub typed: &'q Typed,
    /// In every project. If nothing fits in this one, every project is searched all the same.
    pub all: bool,
    /// No more sessions than this are of use.
    pub most: usize,
}

pub struct Finds<'l, 'f> {
    /// The best first.
    pub hits: Vec<FoundHit<'l, 'f>>,
    /// Nothing fits in this project, so these are of others.
    pub elsewhere: bool,
}

pub struct FoundHit<'l, 'f> {
    pub listed: &'l Listed<'f>,
    /// None if nothing is typed, or nothing that was said fits.
    pub line: Option<FoundLine>,
}

pub struct FoundLine {
    /// The transcript, if it is a subagent's.
    pub subagent: Option<PathBuf>,
    /// From 1.
    pub number: u64,
    pub said: String,
}

/// Everything that can be found, made ready to be looked through often.
pub struct Shelf<'l, 'f> {
    library: &'l Library<'f>,
    books: Vec<Book<'l, 'f>>,
}

/// A session.
struct Book<'l, 'f> {
    listed: &'l Listed<'f>,
    sources: Sources<'l, 'f>,
    /// What it is called, and where it is and with whom: folded.
    called: Box<str>,
    place: Box<str>,
    /// Which letters its texts have, once that is known.
    signatures: OnceLock<Vec<Signature>>,
}

/// How well a word fits a session, the best first: what it is called counts more than where it is, that more than what was
/// said in it, and a wrong letter least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Grade {
    Called,
    CalledInPart,
    Place,
    Said,
    SaidInPart,
    CalledWrongly,
    SaidWrongly,
}

/// How well all words fit a session: the worst of them first, then all together, then whether they stand together.
type Worth = (Grade, usize, bool);

fn worth(grades: &[Option<Grade>], is_apart: bool) -> Worth {
    let grades = || grades.iter().map(|grade| grade.unwrap_or(Grade::Said));
    (
        grades().max().unwrap_or(Grade::Called),
        grades().map(|grade| grade as usize).sum(),
        is_apart,
    )
}

/// What a session may be worth if all words that are not known to fit do. With `typos`, one of them has a wrong letter.
fn at_best(grades: &[Option<Grade>], typos: bool) -> Worth {
    let mut grades = grades.to_vec();
    let is_wrong = |grade: &Option<Grade>| *grade >= Some(Grade::CalledWrongly);
    if typos
        && !grades.iter().any(is_wrong)
        && let Some(unknown) = grades.iter_mut().find(|grade| grade.is_none())
    {
        *unknown = Some(Grade::SaidWrongly);
    }
    worth(&grades, false)
}

impl<'l, 'f> Shelf<'l, 'f> {
    pub fn new(library: &'l Library<'f>) -> Shelf<'l, 'f> {
        let sessions = library.sessions(true);
        let sources = Sources::of(
            sessions.iter().map(|listed| &listed.session),
            &library.subagents,
        );
        let book = |(listed, sources): (&'l Listed<'f>, Sources<'l, 'f>)| {
            let Listed { session, tally, .. } = listed;
            let called = [
                session.name.as_deref(),
                tally.title(),
                tally
                    .person_title()
                    .filter(|own| tally.title() != Some(own)),
            ];
            let called = called
                .into_iter()
                .flatten()
                .chain(listed.tags.iter().map(String::as_str));
            let place = [tally.cwd(), Some(session.format.label())];
            let lines = |texts: Vec<&str>| {
                let lines: Vec<String> = texts.into_iter().map(folded).collect();
                lines.join("\n").into_boxed_str()
            };
            Book {
                listed,
                sources,
                called: lines(called.collect()),
                place: lines(place.into_iter().flatten().collect()),
                signatures: OnceLock::new(),
            }
        };
        Shelf {
            library,
            books: sessions.into_iter().zip(sources).map(book).collect(),
        }
    }

    /// The best sessions; none if the answer is not wanted any more.
    pub fn find(
        &self,
        query: &FindQuery,
        env: &Env,
        is_void: &(dyn Fn() -> bool + Sync),
    ) -> Option<Answer<Finds<'l, 'f>>> {
        let of = |all: bool| {
            let books = self.books.iter().filter(|book| all || book.listed.here);
            self.find_in(books.collect(), query, env, is_void)
        };
        let (mut hits, mut bad) = of(query.all)?;
        let elsewhere = !query.all && hits.is_empty();
        if elsewhere {
            (hits, bad) = of(true)?;
        }
        Some((Finds { hits, elsewhere }, bad))
    }

    fn find_in(
        &self,
        books: Vec<&Book<'l, 'f>>,
        FindQuery { typed, most, .. }: &FindQuery,
        env: &Env,
        is_void: &(dyn Fn() -> bool + Sync),
    ) -> Option<Answer<Vec<FoundHit<'l, 'f>>>> {
        if typed.is_empty() {
            let hit = |book: &&Book<'l, 'f>| FoundHit {
                listed: book.listed,
                line: None,
            };
            return Some((books.iter().take(*most).map(hit).collect(), Vec::new()));
        }
        let (found, mut bad) = self.ranked(&books, typed, *most, false, env, is_void)?;
        let mut found: Vec<(&Book<'l, 'f>, bool)> = found
            .into_iter()
            .map(|index| (books[index], false))
            .collect();
        let may_be_wrong = typed.words.iter().any(TypedWord::may_be_wrong);
        if found.len() < ENOUGH.min(*most) && may_be_wrong {
            // Whatever has all the right words is found.
            let is_other =
                |book: &&Book| !found.iter().any(|(known, _)| std::ptr::eq(*known, *book));
            let others: Vec<&Book> = books.iter().copied().filter(is_other).collect();
            let left = most - found.len();
            let (wrong, unreadable) = self.ranked(&others, typed, left, true, env, is_void)?;
            found.extend(wrong.into_iter().map(|index| (others[index], true)));
            bad.extend(unreadable);
        }
        let hits = in_parallel(
            &found,
            &Progress::of(env, "", std::iter::empty()),
            |_| 0,
            |(book, typos), buffer| {
                let (line, bad) = self.line(book, typed, *typos, buffer);
                let listed = book.listed;
                (FoundHit { listed, line }, bad)
            },
        );
        let (hits, unreadable): (Vec<_>, Vec<_>) = hits.into_iter().unzip();
        bad.extend(unreadable.into_iter().flatten());
        (!is_void()).then_some((hits, bad))
    }

    /// The numbers of the sessions that all words fit, the best first. `typos`: those that take a word with a wrong letter
    /// in it, which all of these do.
    fn ranked(
        &self,
        books: &[&Book<'l, 'f>],
        typed: &Typed,
        most: usize,
        typos: bool,
        env: &Env,
        is_void: &(dyn Fn() -> bool + Sync),
    ) -> Option<Answer<Vec<usize>>> {
        /// So many are looked through before hits are counted; then twice as many, because threads wait for each other.
        const FIRST: usize = 128;
        let mut candidates: Vec<(Worth, usize, Vec<Option<Grade>>)> = Vec::new();
        for (index, book) in books.iter().enumerate() {
            let grades: Vec<_> = typed
                .words
                .iter()
                .map(|word| book.known(word, typos))
                .collect();
            if self.may_be_said(book, typed, &grades, typos) {
                candidates.push((at_best(&grades, typos), index, grades));
            }
        }
        // They are the newest first.
        candidates.sort_by_key(|(worth, index, _)| (*worth, *index));
        let unread = |index: usize| {
            let cache = self.library.cache.as_ref();
            cache.map_or(0, |cache| cache.unread(&books[index].sources))
        };
        let size = |(_, index, _): &(Worth, usize, Vec<Option<Grade>>)| unread(*index);
        let progress = Progress::of(env, "reading what was said", candidates.iter().map(size));
        let (mut found, mut bad): (Vec<(Worth, usize)>, Vec<Unreadable>) = <_>::default();
        let mut looked = 0;
        while looked < candidates.len() {
            let some = &candidates[looked..candidates.len().min(2 * looked + FIRST)];
            let graded = in_parallel(some, &progress, size, |(best, index, grades), buffer| {
                if is_void() {
                    return Ok((None, Vec::new()));
                }
                if grades.iter().all(Option::is_some) {
                    return Ok((Some(*best), Vec::new()));
                }
                let look = |text: &Text| said(text, typed, grades, typos);
                self.look_at(books[*index], buffer, look)
            });
            for ((_, index, _), graded) in some.iter().zip(graded) {
                match graded {
                    Ok((worth, unreadable)) => {
                        found.extend(worth.map(|worth| (worth, *index)));
                        bad.extend(unreadable);
                    }
                    Err(error) => bad.extend(Unreadable::unless_gone(
                        &books[*index].sources.own.path,
                        error,
                    )),
                }
            }
            if is_void() {
                return None;
            }
            looked += some.len();
            found.sort_unstable();
            // The others can be no better than that.
            let next = candidates
                .get(looked)
                .map(|(worth, index, _)| (*worth, *index));
            if found.get(most - 1).is_some_and(|last| Some(*last) < next) {
                break;
            }
        }
        found.truncate(most);
        Some((found.into_iter().map(|(_, index)| index).collect(), bad))
    }

    /// False if what was said in a session lacks a word that it must have.
    fn may_be_said(
        &self,
        book: &Book,
        typed: &Typed,
        grades: &[Option<Grade>],
        typos: bool,
    ) -> bool {
        let mut unknown = typed
            .words
            .iter()
            .zip(grades)
            .filter(|(_, grade)| grade.is_none())
            .peekable();
        if unknown.peek().is_none() {
            return true;
        }
        let Some(signatures) = book.signatures(self.library) else {
            return true;
        };
        unknown.all(|(word, _)| {
            signatures
                .iter()
                .any(|signature| word.may_be_in(signature, typos))
        })
    }

    fn look_at<R>(
        &self,
        book: &Book,
        buffer: &mut Buffer,
        look: impl FnOnce(&Text) -> R,
    ) -> std::io::Result<(R, Vec<Unreadable>)> {
        cache::look_at(
            &book.sources,
            self.library.cache.as_ref(),
            false,
            buffer,
            look,
        )
    }

    /// The line of a session that fits best.
    fn line(
        &self,
        book: &Book,
        typed: &Typed,
        typos: bool,
        buffer: &mut Buffer,
    ) -> (Option<FoundLine>, Vec<Unreadable>) {
        let best = self.look_at(book, buffer, |text| best_line(text, typed, typos));
        // What cannot be read was named before.
        let Some(source) = best.ok().and_then(|(source, _)| source) else {
            return (None, Vec::new());
        };
        let session = book.sources.get(source.file);
        let read = cache::open(session, source.file > 0, false)
            .and_then(|transcript| transcript.line_at(source.line.offset, buffer));
        let entries = match read {
            Ok(entries) => entries,
            Err(error) => return (None, vec![Unreadable::new(&session.path, error)]),
        };
        // Several entries may stand in one line of a transcript.
        let texts: Vec<String> = entries
            .iter()
            .filter_map(|entry| searched(entry, false))
            .collect();
        let fitting = |text: &&String| {
            let text = folded(text);
            let fits = |word: &&TypedWord| word.fit(&text, typos).is_some();
            typed.words.iter().filter(fits).count()
        };
        let said = texts.iter().rev().max_by_key(fitting);
        let line = said.map(|said| FoundLine {
            subagent: (source.file > 0).then(|| session.path.to_path_buf()),
            number: source.line.number.into(),
            said: said.clone(),
        });
        (line, Vec::new())
    }
}

impl Book<'_, '_> {
    /// How well a word fits what is known of a session without looking at what was said.
    fn known(&self, word: &TypedWord, typos: bool) -> Option<Grade> {
        let id = &*self.listed.session.id;
        if word.len() >= SHORTEST_ID && id.to_ascii_lowercase().starts_with(word.as_str()) {
            return Some(Grade::Called);
        }
        let called = match word.fit(&self.called, typos) {
            Some(Fit::Exact) => return Some(Grade::Called),
            Some(Fit::Part) => return Some(Grade::CalledInPart),
            Some(Fit::Typo) => Some(Grade::CalledWrongly),
            None => None,
        };
        let place = word.fit(&self.place, false).map(|_| Grade::Place);
        place.or(called)
    }

    fn signatures(&self, library: &Library) -> Option<&[Signature]> {
        if let Some(known) = self.signatures.get() {
            return Some(known);
        }
        let signatures = library.cache.as_ref()?.signatures(&self.sources)?;
        Some(self.signatures.get_or_init(|| signatures))
    }
}

/// How well all words fit a session, with what was said in it; none if one does not.
fn said(text: &Text, typed: &Typed, known: &[Option<Grade>], typos: bool) -> Option<Worth> {
    let mut grades = known.to_vec();
    for (word, grade) in typed.words.iter().zip(&mut grades) {
        if grade.is_none() {
            let fits = text
                .parts
                .iter()
                .filter_map(|part| word.fit(part.text, typos));
            *grade = Some(match fits.min()? {
                // Of one or two letters, the beginning of a word is as good.
                Fit::Part if word.is_short() => Grade::Said,
                Fit::Exact => Grade::Said,
                Fit::Part => Grade::SaidInPart,
                Fit::Typo => Grade::SaidWrongly,
            });
        }
    }
    let needed: Vec<&TypedWord> = typed
        .words
        .iter()
        .zip(known)
        .filter(|(_, known)| known.is_none())
        .map(|(word, _)| word)
        .collect();
    let is_apart = match &needed[..] {
        [first, others @ ..] if !others.is_empty() => !text
            .parts
            .iter()
            .any(|part| is_together(part.text, first, others, typos)),
        _ => false,
    };
    Some(worth(&grades, is_apart))
}

/// True if one line has all of the words.
fn is_together(text: &str, first: &TypedWord, others: &[&TypedWord], typos: bool) -> bool {
    let mut is_together = false;
    first.each(text, typos, |place, _| {
        let start = substr(text, ..place.start)
            .rfind('\n')
            .map_or(0, |at| at + 1);
        let end = memchr::memchr(b'\n', &text.as_bytes()[place.end..])
            .map_or(text.len(), |at| place.end + at);
        let line = substr(text, start..end);
        is_together = others.iter().all(|word| word.fit(line, typos).is_some());
        (!is_together).then_some(end)
    });
    is_together
}

/// The line with the most of the words, and the best of them; of several a prompt before an answer, an answer before a call,
/// and the newest.
fn best_line(text: &Text, typed: &Typed, typos: bool) -> Option<Source> {
    let mut best = None;
    for part in &text.parts {
        let mut lines: HashMap<usize, (usize, usize)> = HashMap::default();
        for (number, word) in typed.words.iter().enumerate() {
            word.each(part.text, typos, |place, fit| {
                let line = part.lines.at(place.start);
                let (words, sum) = lines.entry(line).or_default();
                // How often a line has it makes no difference.
                if *words & 1 << number == 0 {
                    *words |= 1 << number;
                    *sum += fit as usize;
                }
                let is_last = line + 1 >= part.lines.count();
                Some(if is_last {
                    part.text.len()
                } else {
                    (part.lines.get(line + 1).start as usize).max(place.end)
                })
            });
        }
        for (line, (words, sum)) in lines {
            let source = Source {
                file: part.file,
                line: part.lines.get(line),
            };
            let count = words.count_ones() as usize;
            let rank = (
                Reverse(count),
                sum,
                kind(source),
                Reverse(part.first + line),
            );
            if best.is_none_or(|(best, _)| rank < best) {
                best = Some((rank, source));
            }
        }
    }
    best.map(|(_, source)| source)
}
