//! What each observer must be told: every message once, in every session that it can see, and nothing else.
//!
//! The model knows the files as they should be and what was said before; it knows nothing of cursors. Where the contract
//! leaves a choice (a file was rewritten, a hook was killed after it had spoken), both ways are right.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::scene::HEADER;

/// Something that was said in a session.
#[derive(Debug, Clone)]
pub struct Message {
    pub number: usize,
    pub time: i64,
}

/// What an observer can see of a session at one look.
pub struct Visible<'s> {
    /// `s7`, which stands in every message of the session.
    pub tag: &'s str,
    /// What a bullet calls it, and what it may if there is no time to find out how much of an id is enough.
    pub handles: [String; 2],
    /// It belongs to the observer's project.
    pub here: bool,
    /// Which file it is: by its path, and by its inode.
    pub file: (PathBuf, u64),
    /// The messages whose lines are whole.
    pub messages: Vec<&'s Message>,
}

/// How sure a look is to tell everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Nothing is in its way.
    Quiet,
    /// Something is: it may tell less now, and must tell the rest later.
    Disturbed,
    /// It was killed: what it told may come once more.
    Killed,
}

#[derive(Debug, Default, Clone)]
pub struct Counts {
    pub looks: usize,
    pub bullets: usize,
    pub messages: usize,
    pub repeats: usize,
}

/// How far an observer has been told.
#[derive(Debug, Default, Clone)]
pub struct Observer {
    /// When it looked first, and the latest time that any look took for now.
    first: Option<i64>,
    latest: i64,
    sessions: BTreeMap<String, Told>,
}

/// What an observer was told of one session.
#[derive(Debug, Default, Clone)]
struct Told {
    numbers: BTreeSet<usize>,
    /// Told by a look that may not have saved it.
    doubtful: BTreeSet<usize>,
    /// The file was rewritten: what is not later than this need not be told.
    floor: i64,
    /// Something was told of it, so it has a cursor.
    known: bool,
    /// What was too old to be news when it became known: that need not be told.
    old: BTreeSet<usize>,
    /// Which file it was when it was looked at last, and whether it was rewritten since.
    file: Option<(PathBuf, u64)>,
    rewritten: bool,
}

/// A bullet, as far as it matters here.
struct Bullet<'t> {
    handle: &'t str,
    count: usize,
    tag: &'t str,
    newest: usize,
}

/// `- codex:s03 (2m ago, 4 messages): "s3 says 17 …"`
fn bullet(line: &str) -> Option<Bullet<'_>> {
    let (handle, rest) = line.strip_prefix("- ")?.split_once(" (")?;
    let (facts, quote) = rest.split_once("): ")?;
    let count = facts
        .split(", ")
        .find_map(|fact| fact.split_once(" message")?.0.parse().ok())?;
    let (before, after) = quote.rsplit_once(" says ")?;
    let tag = before.rsplit(['"', ' ']).next()?;
    let newest = after.split(' ').next()?.parse().ok()?;
    Some(Bullet {
        handle,
        count,
        tag,
        newest,
    })
}

const WINDOW: i64 = 55 * 60_000;

impl Observer {
    /// Old messages of a session, from before all of this.
    pub fn knows(&mut self, tag: &str, numbers: impl Iterator<Item = usize>) {
        self.sessions
            .entry(tag.into())
            .or_default()
            .numbers
            .extend(numbers);
    }

    /// The file of a session was rewritten.
    pub fn rewritten(&mut self, tag: &str) {
        let told = self.sessions.entry(tag.into()).or_default();
        told.floor = told.floor.max(self.latest);
        told.rewritten = true;
    }

    /// Takes in what one look said. An error is a promise broken.
    pub fn hear(
        &mut self,
        text: &str,
        now: i64,
        manner: Manner,
        sessions: &[Visible],
        counts: &mut Counts,
    ) -> Result<(), String> {
        let first = *self.first.get_or_insert(now);
        let mut lines = text.lines();
        if !text.is_empty() && lines.next() != Some(HEADER) {
            return Err(format!("no header: {text}"));
        }
        let (more, lines): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with("- +"));
        sessions
            .iter()
            .for_each(|session| self.recognise(session, manner));
        let mut heard = BTreeSet::new();
        for line in lines {
            let bullet = bullet(line).ok_or_else(|| format!("what is this? {line}"))?;
            let session = sessions.iter().find(|session| session.tag == bullet.tag);
            let session =
                session.ok_or_else(|| format!("UNSAID: its file is not there: {line}"))?;
            if !session.here {
                return Err(format!("FOREIGN: a session of another project: {line}"));
            }
            let allowed = if manner == Manner::Quiet { 1 } else { 2 };
            if !session.handles[..allowed]
                .iter()
                .any(|handle| handle == bullet.handle)
            {
                return Err(format!(
                    "WRONG NAME: {} is not {:?}: {line}",
                    bullet.handle, session.handles
                ));
            }
            if !heard.insert(bullet.tag) {
                return Err(format!("REPEAT: two bullets of one session: {text}"));
            }
            self.told(&bullet, session, now.min(first), manner, counts)
                .map_err(|why| format!("{why}: {line}"))?;
            counts.bullets += 1;
        }
        counts.looks += 1;
        for session in sessions
            .iter()
            .filter(|session| session.here && !heard.contains(session.tag))
        {
            let (must, _) = self.owed(session, now.min(first));
            let told = self.sessions.entry(session.tag.into()).or_default();
            if manner == Manner::Quiet && more.is_empty() {
                if !must.is_empty() {
                    return Err(format!(
                        "LOST: {} says {must:?}, and that was not told: {text}",
                        session.tag
                    ));
                }
                told.doubtful.clear();
            }
        }
        self.latest = self.latest.max(now);
        Ok(())
    }

    /// A file with another path is the same only if its inode and its content are: otherwise what it says may be told
    /// again.
    fn recognise(&mut self, session: &Visible, manner: Manner) {
        let told = self.sessions.entry(session.tag.into()).or_default();
        let (path, inode) = &session.file;
        let is_changed = told.rewritten;
        let is_other =
            |(old_path, old): &(PathBuf, u64)| old_path != path && (old != inode || is_changed);
        if told.file.as_ref().is_some_and(is_other) {
            told.doubtful.extend(&told.numbers);
            told.floor = told.floor.max(self.latest);
        }
        // A look that was killed or disturbed may not have kept what it saw.
        if manner == Manner::Quiet || told.file.is_none() {
            told.file = Some(session.file.clone());
            told.rewritten = false;
        }
    }

    /// What is to be told of a session; and what may be.
    fn owed(&self, session: &Visible, earliest: i64) -> (BTreeSet<usize>, BTreeSet<usize>) {
        let unknown = Told::default();
        let told = self.sessions.get(session.tag).unwrap_or(&unknown);
        let untold = session
            .messages
            .iter()
            .filter(|message| !told.numbers.contains(&message.number));
        let is_news = |message: &Message| match told.known {
            true => !told.old.contains(&message.number),
            false => message.time >= earliest - WINDOW,
        };
        let is_due = |message: &&&&Message| message.time > told.floor && is_news(message);
        let (must, may): (Vec<_>, Vec<_>) = untold.partition(|message| is_due(&message));
        let doubtful = session
            .messages
            .iter()
            .filter(|message| told.doubtful.contains(&message.number));
        let numbers = |messages: &mut dyn Iterator<Item = &&Message>| {
            messages.map(|message| message.number).collect()
        };
        (
            numbers(&mut must.into_iter()),
            numbers(&mut may.into_iter().chain(doubtful)),
        )
    }

    fn told(
        &mut self,
        bullet: &Bullet,
        session: &Visible,
        earliest: i64,
        manner: Manner,
        counts: &mut Counts,
    ) -> Result<(), String> {
        let (must, may) = self.owed(session, earliest);
        let told = self.sessions.entry(bullet.tag.into()).or_default();
        let newest = bullet.newest;
        if !must.contains(&newest) && !may.contains(&newest) {
            let kind = if told.numbers.contains(&newest) {
                "REPEAT"
            } else {
                "UNSAID"
            };
            return Err(format!(
                "{kind}: message {newest}, while {must:?} were to be told, and {may:?} could be"
            ));
        }
        // A look that is disturbed may have seen a part of the file, but from its beginning.
        let upto = |set: &BTreeSet<usize>| set.range(..=newest).count();
        let least = if manner == Manner::Disturbed {
            upto(&must).min(1)
        } else {
            must.len()
        };
        let most = upto(&must) + upto(&may);
        if bullet.count < least
            || manner != Manner::Disturbed && must.last().is_some_and(|last| *last > newest)
        {
            return Err(format!("LOST: {must:?} were to be told"));
        }
        if bullet.count > most {
            return Err(format!(
                "REPEAT: only {must:?} were to be told, and {may:?} could be"
            ));
        }
        // Of what it may tell, it told the newest; the others are still untold.
        let all: BTreeSet<usize> = must
            .union(&may)
            .copied()
            .filter(|number| *number <= newest)
            .collect();
        let newest_ones = all.iter().rev().take(bullet.count);
        let now: BTreeSet<usize> = newest_ones.chain(must.range(..=newest)).copied().collect();
        if !told.known {
            told.old.extend(
                session
                    .messages
                    .iter()
                    .map(|message| message.number)
                    .filter(|number| !must.contains(number)),
            );
        }
        counts.messages += bullet.count;
        counts.repeats += now
            .intersection(&told.doubtful)
            .count()
            .min(bullet.count.saturating_sub(upto(&must)));
        match manner {
            Manner::Killed => told.doubtful.extend(&now),
            // It may not have seen what comes later.
            Manner::Disturbed => told.doubtful.retain(|number| *number > newest),
            Manner::Quiet => told.doubtful.clear(),
        }
        told.numbers.extend(now);
        told.known = true;
        Ok(())
    }
}
