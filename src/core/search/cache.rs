//! The said text of all sessions, kept in one file of our own.
//!
//! `said.bin` is a table that has for each transcript what [`Said`] made of it, and how far that goes. The text of one
//! session at a time is read from it, looked through and dropped: all texts may be more than there is memory. The file only
//! saves time: each text is compared with the stamp of its transcript, what grew is read on from there, and a transcript
//! whose mark does not hold is read anew, as is one whose text is not as it was written.

use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::signature::Signature;
use super::sources::Sources;
use crate::env::Env;
use crate::file::Unreadable;
use crate::fold::{Said, SaidLine};
use crate::formats::AgentFormat;
use crate::read::Transcript;
use crate::read::kept::{Addition, Reached, Renewed, renew};
use crate::read::once::Once;
use crate::session::Session;
use crate::session::index::{is_gone, key, path_of, version};
use crate::state::table::{Content, Place, Table};
use session_format::cursor::Buffer;
use session_format::entry::{Position, Role};
use session_format::hash::{HashMap, HashSet};
use session_format::time::Time;

/// A text is written again once so much of its transcript had to be read, or an eighth of it; until then that is read each
/// time.
const MOST_READ: u64 = 8 << 20;

/// The file.
pub struct SaidCache {
    path: PathBuf,
    version: String,
    table: Table,
    /// Its texts, by the keys of sessions, and what letters each has.
    heads: Mutex<HashMap<Vec<u8>, (RecordHead, Signature)>>,
    /// Memory to read texts into, which is used again.
    memory: Mutex<Vec<Vec<u8>>>,
    now: i64,
}

/// The head of a transcript's record, known before the text is read, as is its signature.
#[derive(Clone, Copy)]
struct RecordHead {
    reached: Reached,
    /// The lengths of the first parts of the record: what it takes to go on, which is nothing if the file had been
    /// quiet for long, and where lines come from. The text comes after them.
    once: usize,
    lines: usize,
    place: Place,
}

impl RecordHead {
    fn of(value: &[u8], place: Place) -> Option<(RecordHead, Signature)> {
        let (reached, once, lines, signature) =
            postcard::from_bytes::<(Reached, usize, usize, &[u8])>(value).ok()?;
        let text = place.rest_length().checked_sub(once.checked_add(lines)?)?;
        // Every text is in some line, whoever wrote the file.
        let fits = (lines == 0) == (text == 0) && lines.is_multiple_of(LINE);
        let head = RecordHead {
            reached,
            once,
            lines,
            place,
        };
        Some((head, Signature::read(signature)?)).filter(|_| fits)
    }
}

/// The text of a transcript: what the cache has, and what was written since.
#[derive(Default)]
struct FileText {
    /// With where it begins in memory.
    kept: Option<(RecordHead, usize)>,
    new: Said,
    /// The end of what was read; none if it cannot be read.
    end: Option<Reached>,
    /// The bytes of the transcript that were read for it now, and what it takes to go on from there.
    read: u64,
    once: Option<Once>,
}

impl FileText {
    /// The cached part: the lines, and the text.
    fn kept<'t>(&self, memory: &'t [u8]) -> (&'t [u8], &'t [u8]) {
        let part = |range: Range<usize>| memory.get(range).unwrap_or_default();
        self.kept.map_or((&[], &[]), |(head, start)| {
            let (lines, end) = (start + head.once, start + head.place.rest_length());
            (
                part(lines..lines + head.lines),
                part(lines + head.lines..end),
            )
        })
    }
}

/// The said text of a session: that of its own transcript, then those of its subagents'.
pub struct Text<'t> {
    pub parts: Vec<Part<'t>>,
}

/// A part of a text, with what tells where its lines come from.
pub struct Part<'t> {
    /// The number of the transcript, and that of its first line among those of all parts.
    pub file: usize,
    pub first: usize,
    pub text: &'t str,
    pub lines: Lookup<'t>,
}

/// The origin of an entry: a transcript of the session, and a line of that.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    pub file: usize,
    pub line: SaidLine,
}

impl<'t> Text<'t> {
    fn of(files: &'t [FileText], memory: &'t [u8]) -> Text<'t> {
        let mut parts = Vec::with_capacity(2 * files.len());
        let mut first = 0;
        for (file, text) in files.iter().enumerate() {
            let (lines, kept) = text.kept(memory);
            let kept = (
                std::str::from_utf8(kept).unwrap_or_default(),
                Lookup::Kept(lines),
            );
            for (text, lines) in [kept, (&*text.new.text, Lookup::New(&text.new.lines))] {
                parts.push(Part {
                    file,
                    first,
                    text,
                    lines,
                });
                first += lines.count();
            }
        }
        Text { parts }
    }

    /// The length of all that was said.
    pub fn length(&self) -> usize {
        self.parts.iter().map(|part| part.text.len()).sum()
    }

    /// An entry, by its number in all parts, and so many before and after it in the same transcript.
    pub fn around(&self, index: usize, context: usize) -> Vec<(usize, Source)> {
        let file = self
            .parts
            .iter()
            .rfind(|part| part.first <= index)
            .map(|part| part.file);
        let near = index.saturating_sub(context)..index.saturating_add(context).saturating_add(1);
        let of_part = |part: &Part| {
            let indices = near.start.max(part.first)..near.end.min(part.first + part.lines.count());
            let source = |index: usize| Source {
                file: part.file,
                line: part.lines.get(index - part.first),
            };
            indices
                .map(|index| (index, source(index)))
                .collect::<Vec<_>>()
        };
        self.parts
            .iter()
            .filter(|part| Some(part.file) == file)
            .flat_map(of_part)
            .collect()
    }
}

/// Looks up the lines of a text.
#[derive(Clone, Copy)]
pub enum Lookup<'t> {
    Kept(&'t [u8]),
    New(&'t [SaidLine]),
}

impl Lookup<'_> {
    pub fn count(self) -> usize {
        match self {
            Lookup::Kept(bytes) => bytes.len() / LINE,
            Lookup::New(lines) => lines.len(),
        }
    }

    pub fn get(self, index: usize) -> SaidLine {
        match self {
            Lookup::Kept(bytes) => read_line(&bytes[index * LINE..][..LINE]),
            Lookup::New(lines) => lines[index],
        }
    }

    /// The line that a position of the text is in.
    pub fn at(self, position: usize) -> usize {
        let (mut low, mut high) = (0, self.count());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.get(middle).start as usize <= position {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low.saturating_sub(1)
    }
}

impl SaidCache {
    /// Opens the cache; it has nothing if there is none, or none that this build wrote.
    pub fn open(env: &Env, formats: &[AgentFormat]) -> SaidCache {
        let (path, version) = (
            env.cache_dir().join("said.bin"),
            format!("said text 2 {}", version(formats)),
        );
        let mut cache = SaidCache {
            table: Table::open(path.clone(), &version),
            path,
            version,
            heads: Mutex::default(),
            memory: Mutex::default(),
            now: env.file_clock(),
        };
        cache.read_heads();
        cache.tidy(false);
        cache
    }

    fn read_heads(&mut self) {
        let mut heads = HashMap::default();
        self.table
            .each(|record| match RecordHead::of(record.value, record.place) {
                Some(head) => drop(heads.insert(record.key.to_vec(), head)),
                None => drop(heads.remove(record.key)),
            });
        self.heads = Mutex::new(heads);
    }

    /// Makes it ready to grow. `clean`: what is not known any more must not stay in it. Where that is not possible, the next
    /// search is slower and no different.
    fn tidy(&mut self, clean: bool) {
        let mut places: Vec<Place> = self.heads().values().map(|(head, _)| head.place).collect();
        places.sort_unstable();
        let content: Vec<Content> = places.into_iter().map(Content::Old).collect();
        if !self.table.can_grow(&content, clean) && self.table.update(&content, clean).is_ok() {
            self.table = Table::open(self.path.clone(), &self.version);
            self.read_heads();
        }
    }

    fn heads(&self) -> MutexGuard<'_, HashMap<Vec<u8>, (RecordHead, Signature)>> {
        self.heads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn memory(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the text of a whole file, so that it need not be read again.
    pub fn take(&self, session: &Session, reached: Reached, said: Said, once: Once) {
        let known = self
            .heads()
            .get(&key(session))
            .map(|(head, _)| head.reached);
        if known.is_none_or(|known| known.stamp != reached.stamp || known.cursor != reached.cursor)
        {
            let (end, read) = (Some(reached), reached.cursor.offset.since(Position::START));
            self.keep(
                session,
                &FileText {
                    kept: None,
                    new: said,
                    end,
                    read,
                    once: Some(once),
                },
                &[],
            );
        }
    }

    /// Leaves out files that are gone: what somebody deleted must not be kept here. Those of these sessions are there.
    pub fn forget_gone<'s>(&mut self, there: impl Iterator<Item = &'s Session<'s>>) {
        let there: HashSet<Vec<u8>> = there.map(key).collect();
        let mut heads = self.heads();
        let known = heads.len();
        heads.retain(|key, _| there.contains(key) || !is_gone(path_of(key)));
        let has_gone = heads.len() < known;
        drop(heads);
        if has_gone {
            self.tidy(true);
        }
    }

    /// The bytes of its transcripts that have to be read for the text of a session.
    pub fn unread(&self, sources: &Sources) -> u64 {
        let heads = self.heads();
        let unread = |session: &Session| {
            let read = heads
                .get(&key(session))
                .map_or(Position::START, |(head, _)| head.reached.cursor.offset);
            Position::new(session.size()).since(read)
        };
        sources.iter().map(unread).sum()
    }

    /// What letters the texts of a session have, one for each transcript; none if it has said something since.
    pub fn signatures(&self, sources: &Sources) -> Option<Vec<Signature>> {
        let heads = self.heads();
        let signature = |session: &Session| {
            let (head, signature) = heads.get(&key(session))?;
            (session.stamp == Some(head.reached.stamp)).then(|| signature.clone())
        };
        sources.iter().map(signature).collect()
    }

    /// The text of a transcript. What the cache has of it is read into memory, from some position on.
    fn read(
        &self,
        session: &Session,
        subagent: bool,
        memory: &mut Vec<u8>,
        at: usize,
        buffer: &mut Buffer,
    ) -> io::Result<FileText> {
        let head = self.heads().get(&key(session)).map(|(head, _)| *head);
        let head = head.filter(|head| self.table.rest_into(head.place, memory, at));
        let known = |end: Reached| FileText {
            kept: head.map(|head| (head, at)),
            end: Some(end),
            ..FileText::default()
        };
        if let Some(head) = head.filter(|head| session.stamp == Some(head.reached.stamp)) {
            return Ok(known(head.reached));
        }
        let transcript = open(session, subagent, false)?;
        let new = || Said::new(false);
        let go_on = || {
            Some((
                new(),
                postcard::from_bytes(memory.get(at..at + head?.once)?).ok()?,
            ))
        };
        let renewed = renew(
            &transcript,
            head.map(|head| head.reached),
            go_on,
            new,
            self.now,
            buffer,
        )?;
        // What was written again does not count where it stood before, so all of it is read once more.
        let again = renewed
            .new
            .as_ref()
            .is_some_and(|new| !new.from.is_start() && new.fold.renews_earlier);
        let renewed = if again {
            renew(&transcript, None, || None, new, self.now, buffer)?
        } else {
            renewed
        };
        let Renewed { reached, new } = renewed;
        let Some(Addition {
            from, fold, once, ..
        }) = new
        else {
            return Ok(known(reached));
        };
        let (kept, read) = (
            head.filter(|_| !from.is_start()).map(|head| (head, at)),
            reached.cursor.offset.since(from),
        );
        Ok(FileText {
            kept,
            new: fold,
            end: Some(reached),
            read,
            once: Some(once),
        })
    }

    /// Keeps a text, if that is worth it. Without it the next search is slower and no different.
    fn keep(&self, session: &Session, text: &FileText, memory: &[u8]) -> Option<()> {
        let (end, once) = (text.end?, text.once.as_ref()?);
        if text.kept.is_some()
            && text.read <= MOST_READ.min(end.cursor.offset.since(Position::START) / 8)
        {
            return None;
        }
        let once = if end.is_lately(self.now) {
            postcard::to_stdvec(once).ok()?
        } else {
            Vec::new()
        };
        let (kept_lines, kept_text) = text.kept(memory);
        let lines: Vec<u8> = text
            .new
            .lines
            .iter()
            .flat_map(|line| line_bytes(*line, kept_text.len()))
            .collect();
        let signature = Signature::of(&[kept_text, text.new.text.as_bytes()]);
        let value = (
            end,
            once.len(),
            kept_lines.len() + lines.len(),
            signature.bytes(),
        );
        let value = postcard::to_stdvec(&value).ok()?;
        let (key, rest) = (
            key(session),
            [
                &once,
                kept_lines,
                &lines,
                kept_text,
                text.new.text.as_bytes(),
            ],
        );
        let place = self.table.add(&self.table.record(&key, &value, &rest)?)?;
        self.heads().insert(key, RecordHead::of(&value, place)?);
        Some(())
    }
}

/// Opens a transcript of a session; with what tools answered, if it is wanted.
pub fn open<'f>(
    session: &Session<'f>,
    subagent: bool,
    results: bool,
) -> io::Result<Transcript<'f>> {
    Ok(session
        .open()?
        .subagent(subagent)
        .full(results)
        .whole(results))
}

/// Looks at the text of a session as its files are now: that of the cache and what was written since, or that of the
/// transcripts themselves, with what tools answered if it is wanted. A subagent's that cannot be read hides no other and is
/// named beside what was found.
pub fn look_at<R>(
    sources: &Sources,
    cache: Option<&SaidCache>,
    results: bool,
    buffer: &mut Buffer,
    look: impl FnOnce(&Text) -> R,
) -> io::Result<(R, Vec<Unreadable>)> {
    let mut memory = cache
        .and_then(|cache| cache.memory().pop())
        .unwrap_or_default();
    let (mut files, mut bad, mut used) = (Vec::new(), Vec::new(), 0);
    for (number, session) in sources.iter().enumerate() {
        let read = match cache {
            Some(cache) => cache.read(session, number > 0, &mut memory, used, buffer),
            None => read_whole(session, number > 0, results, buffer),
        };
        let text = match read {
            Err(error) if number == 0 => return Err(error),
            read => read.unwrap_or_else(|error| {
                bad.extend(Unreadable::unless_gone(&session.path, error));
                FileText::default()
            }),
        };
        cache.map(|cache| cache.keep(session, &text, &memory));
        used += text.kept.map_or(0, |(head, _)| head.place.rest_length());
        files.push(text);
    }
    let found = look(&Text::of(&files, &memory));
    if let Some(cache) = cache {
        cache.memory().push(memory);
    }
    Ok((found, bad))
}

fn read_whole(
    session: &Session,
    subagent: bool,
    results: bool,
    buffer: &mut Buffer,
) -> io::Result<FileText> {
    let transcript = open(session, subagent, results)?;
    let Renewed { reached, new } =
        renew(&transcript, None, || None, || Said::new(results), 0, buffer)?;
    Ok(FileText {
        new: new.map(|new| new.fold).unwrap_or_default(),
        end: Some(reached),
        ..FileText::default()
    })
}

// ---------------------------------------------------------------------------------------- bytes

/// The size of a [`SaidLine`] in the file.
const LINE: usize = 32;

/// A line of a text that comes after so much other text.
fn line_bytes(line: SaidLine, after: usize) -> [u8; LINE] {
    let mut bytes = [0; LINE];
    bytes[..4].copy_from_slice(&(line.start + after as u32).to_le_bytes());
    bytes[4..8].copy_from_slice(&line.number.to_le_bytes());
    bytes[8..16].copy_from_slice(&line.offset.number().to_le_bytes());
    bytes[16..24].copy_from_slice(&line.time.map_or(i64::MIN, |time| time.0).to_le_bytes());
    bytes[24] = Role::ALL
        .iter()
        .position(|role| *role == line.role)
        .unwrap_or_default() as u8;
    bytes[25] = u8::from(line.is_call);
    bytes
}

fn read_line(bytes: &[u8]) -> SaidLine {
    let four = |at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().unwrap_or(&[0; 4]));
    let eight = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().unwrap_or(&[0; 8]));
    let time = eight(16) as i64;
    SaidLine {
        start: four(0),
        number: four(4),
        offset: Position::new(eight(8)),
        time: (time != i64::MIN).then_some(Time(time)),
        role: Role::ALL
            .get(usize::from(bytes[24]))
            .copied()
            .unwrap_or(Role::System),
        is_call: bytes[25] != 0,
    }
}
