//! How far a session has been seen, as it stands in the file of cursors.
//!
//! The file is read at every prompt, and of most sessions a look needs the stamp alone. So an entry as this program writes it
//! is only cut out of the text, and decoded when more of it is needed. Whatever looks different in any way is left to serde
//! at once, with everything that is wrong in it. What turns out to be wrong only later is said then, and the session counts
//! as not yet read.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::{Deref, Range};
use std::rc::Rc;

use memchr::memmem;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::cursors::Seen;
use crate::boundary::substr;
use crate::file::Stamp;

/// How far one other session has been seen; decoded when it is asked.
#[derive(Debug)]
pub enum LazySeen {
    Seen(Box<Seen>),
    Written(Written),
}

/// An entry in the text of the file, of a session that was read and is where it was.
#[derive(Debug)]
pub struct Written {
    text: Rc<String>,
    at: Range<usize>,
    stamp: Stamp,
    /// With what is wrong with it, if anything is.
    seen: OnceCell<Box<(Seen, Option<String>)>>,
}

/// How every entry begins.
const START: &str = "{\"offset\":";

/// Cuts the entries of sessions out of a text, from the end of the look on. None if it is not what this program writes.
pub fn cut(text: &Rc<String>, mut rest: Range<usize>) -> Option<BTreeMap<String, LazySeen>> {
    // A quote within a string has a backslash before it, so these are keys, or at worst a title of one word. Most files have
    // none of them.
    let mut unlike = vec!["\"unread\"", "\"absent\""];
    unlike.retain(|key| find(substr(text, rest.clone()), key).is_some());
    // None is shorter.
    let mut all = Vec::with_capacity(rest.len() / 256);
    rest.end -= text.get(rest.clone())?.ends_with('}').then_some(1)?;
    while !rest.is_empty() {
        let key = substr(text, rest.clone()).strip_prefix(",\"")?;
        let (key, entries) = key.split_at(find_byte(key, b'"')?);
        let entries = entries.strip_prefix("\":").filter(|_| find_byte(key, b'\\').is_none())?;
        // A brace in a title may look like the end. Then what follows is no entry, and all of it is left to serde.
        let mut end = 0;
        while let Some(brace) = find_byte(substr(entries, end..), b'}') {
            end += brace + 1;
            if substr(entries, end..).starts_with(",\"") {
                break;
            }
        }
        let entry = Some(substr(entries, ..end))
            .filter(|_| end == entries.len() || substr(entries, end..).starts_with(",\""))?;
        let at = rest.end - entries.len()..rest.end - entries.len() + end;
        let rests = || unlike.iter().all(|key| find(entry, key).is_none());
        let kept = match stamp(entry).filter(|_| rests()) {
            Some(stamp) => {
                LazySeen::Written(Written { text: text.clone(), at: at.clone(), stamp, seen: OnceCell::new() })
            }
            None => serde_json::from_str::<Seen>(entry).ok()?.into(),
        };
        all.push((key.to_owned(), kept));
        rest.start = at.end;
    }
    Some(all.into_iter().collect())
}

/// The stamp of an entry that begins with an offset, a mark and a stamp.
fn stamp(entry: &str) -> Option<Stamp> {
    let (_, mark) = number(entry.strip_prefix(START)?)?;
    let stamp = mark.strip_prefix(",\"mark\":\"")?.get(16..)?.strip_prefix("\",\"stamp\":[")?;
    let (device, rest) = number(stamp)?;
    let (inode, rest) = number(rest.strip_prefix(',')?)?;
    let (size, rest) = number(rest.strip_prefix(',')?)?;
    let rest = rest.strip_prefix(',')?;
    let after = rest.strip_prefix('-');
    let (modified, rest) = number(after.unwrap_or(rest))?;
    let modified = i64::try_from(modified).ok()?;
    rest.starts_with(']').then(|| (device, inode, size, if after.is_some() { -modified } else { modified }).into())
}

/// The number that a text begins with, and the rest.
fn number(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit);
    let (number, len) = digits.fold((0_u64, 0), |(number, len), digit| {
        (number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')), len + 1)
    });
    // All of so many digits are less than the largest number there is.
    matches!(len, 1..=19).then(|| (number, substr(text, len..)))
}

/// Where some bytes are in a text. In their usual form, `memmem` and its like ask the processor first what it can do, which
/// takes as long as everything else that a hook does with this file.
pub fn find(text: &str, wanted: &str) -> Option<usize> {
    let (text, wanted) = (text.as_bytes(), wanted.as_bytes());
    #[cfg(target_arch = "x86_64")]
    if let Some(finder) = memchr::arch::x86_64::sse2::packedpair::Finder::new(wanted)
        && text.len() >= finder.min_haystack_len()
    {
        return finder.find(text, wanted);
    }
    memmem::find(text, wanted)
}

/// The same for one byte, which is no part of a longer character.
pub fn find_byte(text: &str, wanted: u8) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if let Some(finder) = memchr::arch::x86_64::sse2::memchr::One::new(wanted) {
        return finder.find(text.as_bytes());
    }
    memchr::memchr(wanted, text.as_bytes())
}

impl LazySeen {
    /// Whether the session has been read and its file is as it was then.
    pub fn rests(&self, stamp: Stamp) -> bool {
        match self {
            LazySeen::Written(Written { stamp: last, .. }) => *last == stamp,
            LazySeen::Seen(seen) => !seen.unread && seen.absent.is_none() && seen.stamp == Some(stamp.into()),
        }
    }

    pub fn fingerprint(&self) -> Option<u32> {
        self.part("\"print\":", |seen| seen.fingerprint)
    }

    pub fn title(&self) -> Option<&str> {
        self.part("\"title\":", |seen| seen.title.as_deref())
    }

    /// One value by its key, from the text if that is easy.
    fn part<'a, T: Deserialize<'a>>(&'a self, key: &str, of: impl Fn(&'a Seen) -> Option<T>) -> Option<T> {
        let Some(entry) = self.undecoded() else { return of(self) };
        let value = substr(entry, memmem::find(entry.as_bytes(), key.as_bytes())? + key.len()..);
        T::deserialize(&mut serde_json::Deserializer::from_str(value)).ok().or_else(|| of(self))
    }

    fn undecoded(&self) -> Option<&str> {
        match self {
            LazySeen::Written(Written { text, at, seen, .. }) if seen.get().is_none() => Some(substr(text, at.clone())),
            _ => None,
        }
    }

    pub fn to_json(&self) -> serde_json::Result<Cow<'_, str>> {
        self.undecoded().map_or_else(|| Ok(serde_json::to_string(&**self)?.into()), |entry| Ok(entry.into()))
    }

    /// What was wrong with it when it was decoded.
    pub fn wrong(&self) -> Option<&str> {
        match self {
            LazySeen::Written(Written { seen, .. }) => seen.get()?.1.as_deref(),
            LazySeen::Seen(_) => None,
        }
    }
}

impl From<Seen> for LazySeen {
    fn from(seen: Seen) -> LazySeen {
        LazySeen::Seen(Box::new(seen))
    }
}

impl PartialEq for LazySeen {
    fn eq(&self, other: &LazySeen) -> bool {
        **self == **other
    }
}

impl Deref for LazySeen {
    type Target = Seen;

    fn deref(&self) -> &Seen {
        match self {
            LazySeen::Seen(seen) => seen,
            LazySeen::Written(Written { text, at, seen, .. }) => {
                let decode = || serde_json::from_str(substr(text, at.clone())).map(|seen| (seen, None));
                let wrong = |error: serde_json::Error| (Seen::untouched(), Some(error.to_string()));
                &seen.get_or_init(|| Box::new(decode().unwrap_or_else(wrong))).0
            }
        }
    }
}

/// The last of many numbers, as they stand in the file. What is no number there is none of them.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(from = "Box<RawValue>")]
pub struct Ring(Box<str>);

impl Ring {
    /// How many are kept.
    const MOST: usize = 512;

    /// As they stand in the file.
    pub fn written(numbers: &str) -> Ring {
        Ring(numbers.into())
    }

    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        let digit = |number: u32, digit: &u8| number.checked_mul(10)?.checked_add(u32::from(digit - b'0'));
        let runs = self.0.as_bytes().split(|byte| !byte.is_ascii_digit()).filter(|run| !run.is_empty());
        runs.filter_map(move |run| run.iter().try_fold(0, digit))
    }

    pub fn is_empty(&self) -> bool {
        self.numbers().next().is_none()
    }

    pub fn push(&mut self, more: &[u32]) {
        if !more.is_empty() {
            let all: Vec<u32> = self.numbers().chain(more.iter().copied()).collect();
            let last = all[all.len().saturating_sub(Ring::MOST)..].iter();
            self.0 = last.fold(String::new(), |text, number| text + &number.to_string() + ",").into();
        }
    }
}

impl From<Box<RawValue>> for Ring {
    fn from(numbers: Box<RawValue>) -> Ring {
        Ring(numbers.into())
    }
}

impl Serialize for Ring {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.numbers())
    }
}
