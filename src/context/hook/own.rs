//! The observer's own work: the end of its own transcript and of its subagents' transcripts.
//!
//! `say` finds conflicts by it, and `compare` copies. What cannot be read of it is said; the news of the others is told all the same. Most news has
//! nothing to do with it, which [`Overlap`] tells without decoding it.

use std::io;
use std::path::{Path, PathBuf};

use super::candidate::Candidate;
use super::context::Context;
use super::ids::Ids;
use super::overlap::Overlap;
use super::reader::New;
use session_core::file::{self, Unreadable};
use session_core::fold::Knowledge;
use session_core::read::{Part, Transcript};
use session_core::session::conflicts::SUBAGENTS;
use session_core::session::{Session, find};
use session_format::budget;
use session_format::cursor::Buffer;
use session_format::entry::{Act, Entry, Role, What};

/// The observer's own transcript.
#[derive(Default)]
pub struct Own<'f> {
    /// The observer as a session, if it has a transcript by now.
    session: Option<Session<'f>>,
    /// Its end; nothing if that has nothing in common with the news.
    pub part: Part,
    pub bad: Vec<Unreadable>,
}

/// The observer's transcript was found, where its client says or by its id. If not, its file has another name than its id, and it
/// takes the ids of all sessions to find it.
pub fn has_transcript(context: &Context) -> bool {
    context
        .observer
        .transcript
        .as_ref()
        .is_some_and(|path| path.is_file())
}

/// The observer as a session.
pub fn session<'f>(
    ids: Option<&Ids>,
    context: &Context<'_, 'f>,
    bad: &mut Vec<Unreadable>,
) -> Option<Session<'f>> {
    let observer = context.observer;
    let is_file = |path: &&PathBuf| {
        Unreadable::noted(file::stat(path), bad).is_some_and(|meta| meta.is_file())
    };
    let told = observer.transcript.as_ref().filter(is_file);
    let path = told.or_else(|| ids?.own.as_ref())?;
    Some(Session::new(
        &observer.id,
        observer.format,
        None,
        path.clone(),
    ))
}

impl<'f> Own<'f> {
    /// Reads it; with news, only if it may have something in common with that.
    pub fn read(
        news: Option<&[(Candidate, New)]>,
        ids: Option<&Ids>,
        buffer: &mut Buffer,
        context: &Context<'_, 'f>,
    ) -> Own<'f> {
        let mut bad = Vec::new();
        let session = session(ids, context, &mut bad);
        // What is wrong with the file is said when it is decoded.
        let mut is_needed = |own: &Session| {
            news.is_none_or(|news| overlaps(own, news, buffer, context).unwrap_or(true))
        };
        let needed = session
            .as_ref()
            .filter(|own| is_needed(own))
            .map(|own| own.path.to_path_buf());
        // Without it, only a conflict may go untold.
        let part = needed.and_then(|path| end_of(path, false, buffer, &mut bad, context));
        Own {
            session,
            part: part.unwrap_or_default(),
            bad,
        }
    }

    /// The observer has been prompted before.
    pub fn was_prompted(&self) -> bool {
        let is_prompt =
            |entry: &Entry| entry.role == Role::User && matches!(entry.what, What::Text(_));
        self.part.entries.iter().any(is_prompt)
    }

    /// The observer's knowledge of the files that it and its subagents touched lately.
    pub fn knowledge(&self, context: &Context, bad: &mut Vec<Unreadable>) -> Knowledge {
        let mut knowledge = Knowledge::default();
        let subagents = self
            .session
            .as_ref()
            .map(|session| subagents(session, context, bad));
        for entry in self.part.entries.iter().chain(subagents.iter().flatten()) {
            if let What::Call(call) = &entry.what {
                knowledge.call(call, entry.time, &context.env.cwd);
            }
        }
        knowledge
    }
}

/// The transcript may have something in common with what was read.
fn overlaps(
    own: &Session,
    news: &[(Candidate, New)],
    buffer: &mut Buffer,
    context: &Context,
) -> io::Result<bool> {
    let known = context.observer.format;
    // How a user's descriptor comes by times and paths is not known.
    if known.file.is_some() {
        return Ok(true);
    }
    let mut overlap = Overlap::default();
    for (candidate, New { part, if_told, .. }) in news {
        let cwd = if_told.cwd.as_deref().map_or(&*context.env.cwd, Path::new);
        overlap.add(&part.entries, if_told.title.as_deref(), cwd);
        // Its session has a title that is found out later.
        overlap.unclear |= candidate.subagent;
    }
    let format = known.format();
    let mut keys = Vec::new();
    format.line.root.names(&format.keys.time, &mut keys);
    let search = overlap.search(&keys, &context.env.cwd);
    if search.is_pointless() {
        return Ok(true);
    }
    let transcript = Transcript::open(&own.path, format)?;
    let Some(start) = transcript.source.newest(budget::OWN, context.deadline)? else {
        return Ok(true);
    };
    let mut chunks = transcript.source.chunks(start, buffer);
    while let Some(chunk) = chunks.next_chunk()? {
        if search.finds(chunk) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The end of a transcript of the observer, or of one of its subagents.
fn end_of(
    path: PathBuf,
    subagent: bool,
    buffer: &mut Buffer,
    bad: &mut Vec<Unreadable>,
    context: &Context,
) -> Option<Part> {
    let mut read = || {
        let transcript =
            Transcript::open(&path, context.observer.format.format())?.subagent(subagent);
        transcript.end_part(budget::OWN, context.deadline, buffer)
    };
    let part = read().map(Some).map_err(|error| Unreadable { path, error });
    Unreadable::noted(part, bad)
}

/// Recent edits of the observer's subagents, as far as there is time to look.
fn subagents(own: &Session, context: &Context, bad: &mut Vec<Unreadable>) -> Vec<Entry<'static>> {
    let mut files = find::subagents(own, &own.id, bad);
    files.truncate(SUBAGENTS);
    let (mut buffer, mut edits) = (Buffer::default(), Vec::new());
    for (path, _) in files
        .into_iter()
        .take_while(|_| !context.deadline.is_over())
    {
        let part = end_of(path, true, &mut buffer, bad, context).unwrap_or_default();
        // What it only read, its session does not know.
        let is_edit =
            |entry: &Entry| matches!(&entry.what, What::Call(call) if call.act == Act::Edit);
        edits.extend(part.entries.into_iter().filter(is_edit));
    }
    edits
}
