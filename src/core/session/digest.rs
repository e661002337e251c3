//! Where a session stopped, from its whole transcript, of which only what is new is read.
//!
//! The table `resume.bin` keeps the fold of every session that was asked for, and what it takes to go on. A last line that
//! has no end yet counts, but is not kept. Without the table the result is the same, and takes one reading of the file.

use std::io;

use super::Session;
use super::index::{current, key, version};
use crate::env::Env;
use crate::fold::Continuity;
use crate::formats::AgentFormat;
use crate::read::kept::{Addition, Reached, Renewed, renew};
use crate::read::{Lines, Transcript};
use crate::state::table::{Content, Place, Table};
use session_format::cursor::Buffer;
use session_format::entry::Id;

/// So many sessions are kept; the first to go are those whose news were read longest ago.
const KEPT_SESSIONS: usize = 100;

/// Reads where a session stopped. A subagent's file is read as what it is.
pub fn whole(
    session: &Session,
    subagent: bool,
    env: &Env,
    formats: &[AgentFormat],
) -> io::Result<Continuity> {
    let transcript = Transcript::open(&session.path, session.format.detailed())?
        .full(true)
        .subagent(subagent);
    let mut table = Table::open(env.cache_dir().join("resume.bin"), &version(formats));
    let own = [key(session), vec![u8::from(subagent)]].concat();
    let (mut known, mut others) = (None, Vec::new());
    table.each(|record| {
        if record.key == own {
            known = postcard::from_bytes::<(Reached, Id)>(record.value)
                .ok()
                .map(|known| (known, record.place));
        } else {
            others.push((record.key.to_vec(), record.place));
        }
    });
    let known = known.filter(|((reached, known), _)| {
        transcript
            .source
            .sample(reached.cursor.offset)
            .is_ok_and(|now| now == *known)
    });
    let kept =
        known.and_then(|((reached, _), place)| Some((reached, Digest::read(&table, place)?)));
    let (before, mut kept) = kept.unzip();
    let go_on = || {
        kept.take().and_then(|kept| {
            Some((
                kept.fold,
                postcard::from_bytes(&kept.bytes[kept.once..]).ok()?,
            ))
        })
    };
    let mut buffer = Buffer::default();
    let Renewed { reached, new } = renew(
        &transcript,
        before,
        go_on,
        Continuity::default,
        env.file_clock(),
        &mut buffer,
    )?;
    let Some(Addition {
        mut fold,
        mut once,
        broken,
        ..
    }) = new
    else {
        return Ok(kept.map(|kept| kept.fold).unwrap_or_default());
    };
    fold.broken += broken;
    if before.is_none_or(|before| before.cursor != reached.cursor) {
        let value =
            postcard::to_stdvec(&(reached, transcript.source.sample(reached.cursor.offset)?));
        let rest = postcard::to_stdvec(&fold).and_then(|bytes| postcard::to_extend(&once, bytes));
        let record = value
            .ok()
            .zip(rest.ok())
            .and_then(|(value, rest)| table.record(&own, &value, &[&rest]));
        keep(&table, &others, record);
    }
    let unfinished = Lines {
        from: reached.cursor.offset,
        before: reached.lines,
        unfinished: true,
        ..Lines::default()
    };
    transcript.fold(unfinished, &mut once, &mut buffer, &mut fold)?;
    Ok(fold)
}

/// The record of a session in the table.
struct Digest {
    fold: Continuity,
    bytes: Vec<u8>,
    /// The start of the [`Once`](crate::read::once::Once) in the bytes. It is long, and needed only to go on.
    once: usize,
}

impl Digest {
    fn read(table: &Table, place: Place) -> Option<Digest> {
        let bytes = table.rest(place)?;
        let (fold, once) = postcard::take_from_bytes(&bytes).ok()?;
        Some(Digest {
            fold,
            once: bytes.len() - once.len(),
            bytes,
        })
    }
}

/// Without a table the next look is slower and no different.
fn keep(table: &Table, others: &[(Vec<u8>, Place)], record: Option<Content>) {
    let (mut others, has_gone) = current(others);
    others.drain(..others.len().saturating_sub(KEPT_SESSIONS - 1));
    let content: Vec<Content> = others.into_iter().map(Content::Old).chain(record).collect();
    let _ = table.update(&content, has_gone);
}
