//! The said text of all sessions, kept in one file of our own.
//!
//! `said.bin` has for each transcript what [`Said`] made of it, and how far that goes. It is mapped, not read, and replaced
//! as a whole, so that nobody sees half of it. It only saves time: each text is compared with the stamp of its transcript,
//! what grew is read on from there, and a transcript whose mark does not hold is read anew.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use memmap2::Mmap;

use super::sources::Sources;
use crate::cursor::{Buffer, Cursor};
use crate::entry::Role;
use crate::env::Env;
use crate::file::{self, Stamp, Unreadable};
use crate::fold::{Said, SaidLine};
use crate::format::Known;
use crate::progress::Progress;
use crate::read::Transcript;
use crate::read::kept::{Addition, Reached, Renewed, renew};
use crate::read::once::Once;
use crate::session::Session;
use crate::session::index::{in_parallel, is_gone, say_unless_gone, version};
use crate::state;
use crate::time::Time;

/// The cache is written again once so much had to be read, or an eighth of everything; until then it is read each time.
const MOST_READ: u64 = 8 << 20;

/// The mapped file.
pub struct SaidCache {
    path: PathBuf,
    /// What a file of this build begins with.
    head: Vec<u8>,
    map: Option<Mmap>,
}

/// The said text of a session: that of its own transcript, then those of its subagents'.
#[derive(Default)]
pub struct Text<'m> {
    files: Vec<FileText<'m>>,
}

/// The said text of a transcript: what the cache has, and what was written since.
#[derive(Default)]
struct FileText<'m> {
    kept: Option<KeptText<'m>>,
    new: Said,
    /// How far it goes.
    end: Option<Reached>,
    /// How many bytes of the transcript were read for it now, and what it takes to go on from there.
    read: u64,
    once: Option<Once>,
}

/// What the cache has of a transcript.
#[derive(Clone, Copy)]
struct KeptText<'m> {
    reached: Reached,
    /// What it takes to go on; empty if the file had been quiet for long.
    once: &'m [u8],
    lines: &'m [u8],
    text: &'m str,
}

/// How many bytes a [`SaidLine`] takes in the file.
const LINE: usize = 32;

/// A part of a text, with what tells where its lines come from.
pub struct Part<'t> {
    /// The number of the transcript, and that of its first line among those of all parts.
    pub file: usize,
    pub first: usize,
    pub text: &'t str,
    pub lines: Lookup<'t>,
}

/// Where an entry comes from: which transcript of the session, and which line of that.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    pub file: usize,
    pub line: SaidLine,
}

impl Text<'_> {
    pub fn parts(&self) -> Vec<Part<'_>> {
        let mut parts = Vec::with_capacity(2 * self.files.len());
        let mut first = 0;
        for (file, text) in self.files.iter().enumerate() {
            let kept = text.kept.map_or(("", Lookup::KeptText(&[])), |kept| (kept.text, Lookup::KeptText(kept.lines)));
            for (text, lines) in [kept, (&*text.new.text, Lookup::Addition(&text.new.lines))] {
                parts.push(Part { file, first, text, lines });
                first += lines.count();
            }
        }
        parts
    }

    /// How many bytes were said.
    pub fn length(&self) -> usize {
        self.files.iter().map(|text| text.kept.map_or(0, |kept| kept.text.len()) + text.new.text.len()).sum()
    }

    /// Keeps only where entries come from, for a text that was looked through and is not to be kept.
    pub fn forget_words(&mut self) {
        self.files.iter_mut().for_each(|text| text.new.text = String::new());
    }

    /// An entry, by its number in all parts, and so many before and after it in the same transcript.
    pub fn around(&self, index: usize, context: usize) -> Vec<(usize, Source)> {
        let parts = self.parts();
        let file = parts.iter().rfind(|part| part.first <= index).map(|part| part.file);
        let near = index.saturating_sub(context)..index.saturating_add(context).saturating_add(1);
        let of_part = |part: &Part| {
            let indices = near.start.max(part.first)..near.end.min(part.first + part.lines.count());
            let source = |index: usize| Source { file: part.file, line: part.lines.get(index - part.first) };
            indices.map(|index| (index, source(index))).collect::<Vec<_>>()
        };
        parts.iter().filter(|part| Some(part.file) == file).flat_map(of_part).collect()
    }
}

/// Where the lines of a text come from.
#[derive(Clone, Copy)]
pub enum Lookup<'t> {
    KeptText(&'t [u8]),
    Addition(&'t [SaidLine]),
}

impl Lookup<'_> {
    pub fn count(self) -> usize {
        match self {
            Lookup::KeptText(bytes) => bytes.len() / LINE,
            Lookup::Addition(lines) => lines.len(),
        }
    }

    pub fn get(self, index: usize) -> SaidLine {
        match self {
            Lookup::KeptText(bytes) => read_line(&bytes[index * LINE..][..LINE]),
            Lookup::Addition(lines) => lines[index],
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
    pub fn open(env: &Env, formats: &[Known]) -> SaidCache {
        let path = env.cache_dir().join("said.bin");
        let head = format!("session-monitor said text {}\n", version(formats)).into_bytes();
        // SAFETY: the file is ours, and is only ever replaced by another, never written to or cut.
        let file = file::open_own(OpenOptions::new().read(true), &path);
        let map = file.and_then(|file| unsafe { Mmap::map(&file) }).ok();
        SaidCache { map: map.filter(|map| map.starts_with(&head)), path, head }
    }

    /// What it has. All of it is checked, so this is done once.
    pub fn contents(&self) -> Contents<'_> {
        let mut kept = HashMap::new();
        let mut rest = self.map.as_deref().and_then(|map| map.get(self.head.len()..)).unwrap_or_default();
        while let Some((path, format, text)) = take_file(&mut rest) {
            kept.insert((path, format), text);
        }
        Contents { cache: self, kept, has_gone: false, just_read: Mutex::default() }
    }
}

/// What the cache has, by the path and the format of a transcript.
pub struct Contents<'m> {
    cache: &'m SaidCache,
    kept: HashMap<Key<'m>, KeptText<'m>>,
    /// Some of it was of files that are not there any more.
    has_gone: bool,
    /// The texts of files that were read whole for the list.
    just_read: Mutex<HashMap<Vec<u8>, FileText<'static>>>,
}

impl<'m> Contents<'m> {
    /// Takes the text of a whole file, so that it need not be read again.
    pub fn take(&self, session: &Session, reached: Reached, said: Said, once: Once) {
        let (end, read) = (Some(reached), reached.cursor.offset);
        let text = FileText { new: said, end, read, once: Some(once), ..FileText::default() };
        self.just_read().insert(own_key(session), text);
    }

    fn just_read(&self) -> MutexGuard<'_, HashMap<Vec<u8>, FileText<'static>>> {
        self.just_read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves out files that are gone: what somebody deleted must not be kept here. Those of these sessions are there.
    pub fn forget_gone<'s>(&mut self, there: impl Iterator<Item = &'s Session<'s>>) {
        let there: HashSet<Key> = there.map(key).collect();
        let known = self.kept.len();
        self.kept.retain(|key, _| there.contains(key) || !is_gone(Path::new(OsStr::from_bytes(key.0))));
        self.has_gone = self.kept.len() < known;
    }

    /// How many bytes of its transcripts have to be read for the text of a session.
    pub fn unread(&self, sources: &Sources) -> u64 {
        let unread = |session: &Session| {
            let read = self.kept.get(&key(session)).map_or(0, |kept| kept.reached.cursor.offset);
            session.size().saturating_sub(read)
        };
        sources.iter().map(unread).sum()
    }

    /// The texts of these sessions as their files are now, and what a look at each found, by the number of its session. Files
    /// that cannot be read are named in `bad`.
    pub fn look<R: Send>(
        &self,
        env: &Env,
        sessions: &[Sources],
        look: impl Fn(usize, &Text) -> R + Sync,
        bad: &mut Vec<Unreadable>,
    ) -> Vec<Option<(Text<'m>, R)>> {
        let indices: Vec<usize> = (0..sessions.len()).collect();
        let kept = |session: &Session| self.kept.get(&key(session)).copied();
        let size = |index: &usize| self.unread(&sessions[*index]);
        let (progress, now) = (Progress::of(env, "reading what was said", indices.iter().map(size)), env.file_clock());
        let any_read = !self.just_read().is_empty();
        let read = in_parallel(&indices, &progress, size, |index, buffer| {
            let text = Text::of(&sessions[*index], |session, subagent| {
                let just_read = if any_read { self.just_read().remove(&own_key(session)) } else { None };
                just_read.map_or_else(|| read(session, subagent, kept(session), now, buffer), Ok)
            });
            text.map(|(text, bad)| (look(*index, &text), text, bad))
        });
        let looked = read.into_iter().zip(sessions).map(|(looked, session)| {
            let (found, text, unreadable) = looked.map_err(|error| say_unless_gone(error, session.own, bad)).ok()?;
            bad.extend(unreadable);
            Some((text, found))
        });
        looked.collect()
    }

    /// Writes the texts, if that is worth it; those of other sessions stay. Without a cache the next search is slower and
    /// no different.
    pub fn keep(&self, sessions: &[Sources], texts: &[Option<&Text>], now: i64) {
        let files = || texts.iter().flatten().flat_map(|text| &text.files);
        let all: u64 = files().filter_map(|text| text.end).map(|end| end.cursor.offset).sum();
        if !self.has_gone && files().map(|text| text.read).sum::<u64>() <= MOST_READ.min(all / 8) {
            return;
        }
        let mut out = self.cache.head.clone();
        let mut others = self.kept.clone();
        for (session, text) in sessions.iter().zip(texts) {
            for session in session.iter() {
                others.remove(&key(session));
            }
            for (session, text) in session.iter().zip(text.iter().flat_map(|text| &text.files)) {
                if let Some(end) = text.end {
                    put_file(key(session), text, end, now, &mut out);
                }
            }
        }
        for (key, kept) in others {
            let text = FileText { kept: Some(kept), ..FileText::default() };
            put_file(key, &text, kept.reached, now, &mut out);
        }
        let _ = state::replace(&self.cache.path, &out);
    }
}

fn key<'s>(session: &'s Session) -> (&'s [u8], &'s [u8]) {
    (session.path.as_os_str().as_encoded_bytes(), session.format.name.as_bytes())
}

impl<'m> Text<'m> {
    /// The text of a session, file by file. A subagent's that cannot be read hides no other and is named beside it.
    fn of(
        sources: &Sources,
        mut read: impl FnMut(&Session, bool) -> io::Result<FileText<'m>>,
    ) -> io::Result<(Text<'m>, Vec<Unreadable>)> {
        let (mut files, mut bad) = (vec![read(sources.own, false)?], Vec::new());
        for subagent in sources.iter().skip(1) {
            let text = read(subagent, true).map_err(|error| say_unless_gone(error, subagent, &mut bad));
            files.push(text.unwrap_or_default());
        }
        Ok((Text { files }, bad))
    }
}

fn own_key(session: &Session) -> Vec<u8> {
    let (path, format) = key(session);
    [path, format].join(&0)
}

/// Opens a transcript of a session; with what tools answered, if it is wanted.
pub fn open<'f>(session: &Session<'f>, subagent: bool, results: bool) -> io::Result<Transcript<'f>> {
    let transcript = Transcript::open(&session.path, session.format.format())?;
    Ok(transcript.subagent(subagent).full(results).whole(results))
}

/// The text of a session, without a cache; with what tools answered, if it is wanted.
pub fn text(sources: &Sources, results: bool, buffer: &mut Buffer) -> io::Result<(Text<'static>, Vec<Unreadable>)> {
    Text::of(sources, |session, subagent| {
        let transcript = open(session, subagent, results)?;
        let Renewed { reached, new } = renew(&transcript, None, || None, || Said::new(results), 0, buffer)?;
        Ok(FileText { new: new.map(|new| new.fold).unwrap_or_default(), end: Some(reached), ..FileText::default() })
    })
}

/// The text of a transcript: what the cache has, and what was written since.
fn read<'m>(
    session: &Session,
    subagent: bool,
    kept: Option<KeptText<'m>>,
    now: i64,
    buffer: &mut Buffer,
) -> io::Result<FileText<'m>> {
    let known = |end: Reached| FileText { kept, end: Some(end), ..FileText::default() };
    if let Some(kept) = kept.filter(|kept| session.stamp == Some(kept.reached.stamp)) {
        return Ok(known(kept.reached));
    }
    let transcript = open(session, subagent, false)?;
    let new = || Said::new(false);
    let go_on = || Some((new(), postcard::from_bytes(kept?.once).ok()?));
    let renewed = renew(&transcript, kept.map(|kept| kept.reached), go_on, new, now, buffer)?;
    // What was written again does not count where it stood before, so all of it is read once more.
    let again = renewed.new.as_ref().is_some_and(|new| new.from > 0 && new.fold.renews_earlier);
    let renewed = if again { renew(&transcript, None, || None, new, now, buffer)? } else { renewed };
    let Renewed { reached, new } = renewed;
    let Some(Addition { from, fold, once, .. }) = new else { return Ok(known(reached)) };
    let (kept, read) = (kept.filter(|_| from > 0), reached.cursor.offset - from);
    Ok(FileText { kept, new: fold, end: Some(reached), read, once: Some(once) })
}

// ---------------------------------------------------------------------------------------- bytes

type Key<'k> = (&'k [u8], &'k [u8]);

fn put_file((path, format): Key, text: &FileText, end: Reached, now: i64, out: &mut Vec<u8>) {
    let once = text.once.as_ref().filter(|_| end.is_lately(now)).and_then(|once| postcard::to_stdvec(once).ok());
    let Reached { stamp, cursor, lines: count } = end;
    let kept_once = text.kept.filter(|_| text.once.is_none()).map_or(&[][..], |kept| kept.once);
    let kept = text.kept.map_or(("", &[][..]), |kept| (kept.text, kept.lines));
    let lines: Vec<u8> = text.new.lines.iter().flat_map(|line| line_bytes(*line, kept.0.len())).collect();
    let start = out.len();
    let numbers = [0, stamp.device, stamp.inode, stamp.size, stamp.modified as u64, cursor.offset, cursor.mark, count];
    numbers.iter().for_each(|number| out.extend(number.to_le_bytes()));
    let once = once.as_deref().unwrap_or(kept_once);
    for parts in
        [[path, &[]], [format, &[]], [once, &[]], [kept.1, &lines], [kept.0.as_bytes(), text.new.text.as_bytes()]]
    {
        out.extend((parts.iter().map(|part| part.len()).sum::<usize>() as u64).to_le_bytes());
        parts.iter().for_each(|part| out.extend(*part));
    }
    let sum = state::checksum(0, &out[start + 8..]);
    out[start..start + 8].copy_from_slice(&sum.to_le_bytes());
}

/// The next file, if it is there as a whole.
fn take_file<'m>(rest: &mut &'m [u8]) -> Option<(&'m [u8], &'m [u8], KeptText<'m>)> {
    fn number(rest: &mut &[u8]) -> Option<u64> {
        Some(u64::from_le_bytes(*rest.split_off(..8)?.first_chunk()?))
    }
    let whole = *rest;
    let sum = number(rest)?;
    let mut numbers = [0; 7];
    for place in &mut numbers {
        *place = number(rest)?;
    }
    let mut parts = [&[][..]; 5];
    for part in &mut parts {
        let length = usize::try_from(number(rest)?).ok()?;
        *part = rest.split_off(..length)?;
    }
    if state::checksum(0, &whole[8..whole.len() - rest.len()]) != sum {
        return None;
    }
    let [device, inode, size, modified, offset, mark, count] = numbers;
    let [path, format, once, lines, text] = parts;
    let stamp = Stamp::from((device, inode, size, modified as i64));
    let text = std::str::from_utf8(text).ok()?;
    // Every text is in some line, whoever wrote the file.
    if lines.is_empty() != text.is_empty() || lines.len() % LINE != 0 {
        return None;
    }
    let reached = Reached { stamp, cursor: Cursor { offset, mark }, lines: count };
    Some((path, format, KeptText { reached, once, lines, text }))
}

/// A line of a text that comes after so much other text.
fn line_bytes(line: SaidLine, after: usize) -> [u8; LINE] {
    let mut bytes = [0; LINE];
    bytes[..4].copy_from_slice(&(line.start + after as u32).to_le_bytes());
    bytes[4..8].copy_from_slice(&line.number.to_le_bytes());
    bytes[8..16].copy_from_slice(&line.offset.to_le_bytes());
    bytes[16..24].copy_from_slice(&line.time.map_or(i64::MIN, |time| time.0).to_le_bytes());
    bytes[24] = Role::ALL.iter().position(|role| *role == line.role).unwrap_or_default() as u8;
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
        offset: eight(8),
        time: (time != i64::MIN).then_some(Time(time)),
        role: Role::ALL.get(usize::from(bytes[24])).copied().unwrap_or(Role::System),
        is_call: bytes[25] != 0,
    }
}
