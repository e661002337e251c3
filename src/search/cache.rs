//! The said text of all sessions, kept in one file of our own.
//!
//! `said.bin` has for each transcript what [`Said`] made of it, and how far that goes. It is mapped, not read, and replaced
//! as a whole, so that nobody sees half of it. It only saves time: each text is compared with the stamp of its transcript,
//! what grew is read on from there, and a transcript whose mark does not hold is read anew.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;

use memmap2::Mmap;

use crate::cursor::{Buffer, Cursor};
use crate::entry::Role;
use crate::env::Env;
use crate::file::{self, Stamp, Unreadable};
use crate::fold::{Said, SaidLine};
use crate::format::Known;
use crate::read::once::Once;
use crate::read::tail::{self, StartAt};
use crate::read::{Lines, Transcript};
use crate::session::Session;
use crate::session::index::{in_parallel, is_lately, say_unless_gone, to_remember, version};
use crate::state;
use crate::time::Time;

/// The cache is written again once so much had to be read, or an eighth of everything; until then it is read each time.
const MOST_READ: u64 = 8 << 20;

/// The mapped file.
pub struct Cache {
    path: PathBuf,
    /// What a file of this build begins with.
    head: Vec<u8>,
    map: Option<Mmap>,
}

/// The said text of a transcript: what the cache has, and what was written since.
#[derive(Default)]
pub struct Text<'m> {
    kept: Option<Kept<'m>>,
    new: Said,
    /// How far it goes, and what the file was like then.
    end: Option<(Cursor, Stamp)>,
    /// How many lines of the transcript it covers.
    count: u64,
    /// How many bytes of the transcript were read for it now, and what it takes to go on from there.
    read: u64,
    once: Option<Once>,
}

/// What the cache has of a transcript.
#[derive(Clone, Copy)]
struct Kept<'m> {
    stamp: Stamp,
    cursor: Cursor,
    count: u64,
    /// What it takes to go on, as JSON; empty if the file had been quiet for long.
    once: &'m [u8],
    lines: &'m [u8],
    text: &'m str,
}

/// How many bytes a [`SaidLine`] takes in the file.
const LINE: usize = 32;

impl Text<'_> {
    /// Both parts, each with what tells where its lines come from.
    pub fn parts(&self) -> [(&str, Lookup<'_>); 2] {
        let kept = self.kept.map_or(("", Lookup::Kept(&[])), |kept| (kept.text, Lookup::Kept(kept.lines)));
        [kept, (&self.new.text, Lookup::New(&self.new.lines))]
    }

    /// Where an entry comes from, by its number in both parts.
    pub fn line(&self, index: usize) -> Option<SaidLine> {
        let [(_, kept), (_, new)] = self.parts();
        let after = index.checked_sub(kept.count());
        let line = |lines: Lookup, index: usize| (index < lines.count()).then(|| lines.get(index));
        after.map_or_else(|| line(kept, index), |index| line(new, index))
    }
}

/// Where the lines of a text come from.
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

impl Cache {
    /// Opens the cache; it has nothing if there is none, or none that this build wrote.
    pub fn open(env: &Env, formats: &[Known]) -> Cache {
        let path = env.cache_dir().join("said.bin");
        let head = format!("session-monitor said text {}\n", version(formats)).into_bytes();
        // SAFETY: the file is ours, and is only ever replaced by another, never written to or cut.
        let map = file::open(&path).and_then(|file| unsafe { Mmap::map(&file) }).ok();
        Cache { map: map.filter(|map| map.starts_with(&head)), path, head }
    }

    /// One that has nothing.
    pub fn empty() -> Cache {
        Cache { path: PathBuf::new(), head: Vec::new(), map: None }
    }

    /// What it has, by the path and the format of a transcript.
    fn kept(&self) -> HashMap<(&[u8], &[u8]), Kept<'_>> {
        let mut all = HashMap::new();
        let mut rest = self.map.as_deref().and_then(|map| map.get(self.head.len()..)).unwrap_or_default();
        while let Some((path, format, kept)) = take_file(&mut rest) {
            all.insert((path, format), kept);
        }
        all
    }

    /// The texts of these sessions as their files are now, with or without what tools answered. Files that cannot be read
    /// are named in `bad`.
    pub fn texts<'m>(
        &'m self,
        sessions: &[&Session],
        results: bool,
        now: i64,
        bad: &mut Vec<Unreadable>,
    ) -> Vec<Option<Text<'m>>> {
        let kept = self.kept();
        let items: Vec<_> = sessions.iter().map(|session| (*session, kept.get(&key(session)).copied())).collect();
        let read = in_parallel(&items, |(session, kept), buffer| read(session, *kept, now, results, buffer));
        let noted = read.into_iter().zip(sessions);
        noted.map(|(text, session)| text.map_err(|error| say_unless_gone(error, session, bad)).ok()).collect()
    }

    /// Writes the texts, if that is worth it; those of other sessions stay. Without a cache the next search is slower and
    /// no different.
    pub fn keep(&self, sessions: &[&Session], texts: &[Option<Text>], now: i64) {
        let sum = |of: fn(&Text) -> u64| texts.iter().flatten().map(of).sum::<u64>();
        let all = sum(|text| text.end.map_or(0, |(cursor, _)| cursor.offset));
        if sum(|text| text.read) <= MOST_READ.min(all / 8) {
            return;
        }
        let mut out = self.head.clone();
        let mut others = self.kept();
        for (session, text) in sessions.iter().zip(texts) {
            others.remove(&key(session));
            if let Some((text, (cursor, stamp))) = text.as_ref().and_then(|text| Some((text, text.end?))) {
                put_file(key(session), text, cursor, stamp, now, &mut out);
            }
        }
        for (key, kept) in others {
            let text = Text { kept: Some(kept), count: kept.count, ..Text::default() };
            put_file(key, &text, kept.cursor, kept.stamp, now, &mut out);
        }
        let _ = state::replace(&self.path, &out);
    }
}

fn key<'s>(session: &'s Session) -> (&'s [u8], &'s [u8]) {
    (session.path.as_os_str().as_encoded_bytes(), session.format.name.as_bytes())
}

/// Reads a transcript on from where the cache ends, or from its start.
fn read<'m>(
    session: &Session,
    kept: Option<Kept<'m>>,
    now: i64,
    results: bool,
    buffer: &mut Buffer,
) -> io::Result<Text<'m>> {
    if let (Some(kept), Some(stamp)) = (kept, session.stamp)
        && kept.stamp == stamp
    {
        return Ok(Text { kept: Some(kept), end: Some((kept.cursor, stamp)), count: kept.count, ..Text::default() });
    }
    let transcript = Transcript::open(&session.path, session.format.format())?.full(results).whole(results);
    let stamp = to_remember(Stamp::from(&transcript.meta), now);
    let start = tail::start(&transcript.file, kept.map(|kept| kept.cursor.into()))?;
    let kept = kept.filter(|_| matches!(start, StartAt::Resume(_)));
    let resumed = kept.and_then(|kept| Some((kept, serde_json::from_slice::<Once>(kept.once).ok()?)));
    let (kept, mut once) = resumed.map_or((None, Once::default()), |(kept, once)| (Some(kept), once));
    let (from, before) = kept.map_or((0, 0), |kept| (kept.cursor.offset, kept.count));
    let mut new = Said::after(before, results);
    let read = transcript.fold(Lines { from, ..Lines::default() }, &mut once, buffer, &mut new)?;
    let cursor = Cursor::at(&transcript.file, read.end)?;
    let count = before + read.lines;
    Ok(Text { kept, new, end: Some((cursor, stamp)), count, read: read.end - from, once: Some(once) })
}

// ---------------------------------------------------------------------------------------- bytes

type Key<'k> = (&'k [u8], &'k [u8]);

fn put_file((path, format): Key, text: &Text, cursor: Cursor, stamp: Stamp, now: i64, out: &mut Vec<u8>) {
    let once = text.once.as_ref().filter(|_| is_lately(stamp, now)).and_then(|once| serde_json::to_vec(once).ok());
    let kept_once = text.kept.filter(|_| text.once.is_none()).map_or(&[][..], |kept| kept.once);
    let kept = text.kept.map_or(("", &[][..]), |kept| (kept.text, kept.lines));
    let lines: Vec<u8> = text.new.lines.iter().flat_map(|line| line_bytes(*line, kept.0.len())).collect();
    let numbers =
        [stamp.device, stamp.inode, stamp.size, stamp.modified as u64, cursor.offset, cursor.mark, text.count];
    numbers.iter().for_each(|number| out.extend(number.to_le_bytes()));
    let once = once.as_deref().unwrap_or(kept_once);
    for parts in
        [[path, &[]], [format, &[]], [once, &[]], [kept.1, &lines], [kept.0.as_bytes(), text.new.text.as_bytes()]]
    {
        out.extend((parts.iter().map(|part| part.len()).sum::<usize>() as u64).to_le_bytes());
        parts.iter().for_each(|part| out.extend(*part));
    }
}

/// The next file, if it is there as a whole.
fn take_file<'m>(rest: &mut &'m [u8]) -> Option<(&'m [u8], &'m [u8], Kept<'m>)> {
    fn number(rest: &mut &[u8]) -> Option<u64> {
        Some(u64::from_le_bytes(*rest.split_off(..8)?.first_chunk()?))
    }
    let mut numbers = [0; 7];
    for place in &mut numbers {
        *place = number(rest)?;
    }
    let mut parts = [&[][..]; 5];
    for part in &mut parts {
        let length = usize::try_from(number(rest)?).ok()?;
        *part = rest.split_off(..length)?;
    }
    let [device, inode, size, modified, offset, mark, count] = numbers;
    let [path, format, once, lines, text] = parts;
    let stamp = Stamp::from((device, inode, size, modified as i64));
    let text = std::str::from_utf8(text).ok()?;
    // Every text is in some line, whoever wrote the file.
    if lines.is_empty() != text.is_empty() || lines.len() % LINE != 0 {
        return None;
    }
    Some((path, format, Kept { stamp, cursor: Cursor { offset, mark }, count, once, lines, text }))
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
