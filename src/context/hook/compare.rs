//! Makes news of what was read: each thing once, for the session that said it first.

use std::path::{Path, PathBuf};

use super::candidate::{Candidate, Reason, Verdict, Why};
use super::context::Context;
use super::reader::New;
use session_core::fold::{Activity, OpenEnd};
use session_core::read::Part;
use session_core::read::once::fingerprint;
use session_core::read::tail::StartAt;
use session_core::session::{Session, find};
use session_core::state::seen::Seen;
use session_core::state::sessions::Record;
use session_format::boundary::substr;
use session_format::entry::{Entry, Id, Ids as IdSet, What};
use session_format::hash::HashMap;
use session_format::path::absolute;
use session_format::time::Time;

/// News of one session.
#[derive(Debug)]
pub struct News<'f> {
    /// The path by which its session is remembered.
    pub key: String,
    pub session: Session<'f>,
    pub activity: Activity,
    pub open_end: Option<OpenEnd>,
    /// There was more than could be read.
    pub more: bool,
    pub title: Option<String>,
    /// The directory it began in, and the one it is in.
    pub cwd: Option<String>,
    pub last_cwd: Option<String>,
    /// The files that it and its subagents edited, in full.
    pub edited: Vec<(PathBuf, Option<Time>)>,
    /// All that was read for it, its own transcript and those of its subagents. They count as seen together or not at all.
    pub parts: Vec<Records>,
    /// Fingerprints of what was said.
    pub fingerprints: Vec<u32>,
    pub why: Option<Box<Why>>,
}

/// The records of a file that was read, by its path: one if it is not told, and one if it is.
#[derive(Debug)]
pub struct Records {
    pub key: String,
    pub if_untold: Seen,
    pub if_told: Seen,
}

/// The news, newest first, and what becomes of files that have none.
#[derive(Default)]
pub struct Compared<'f> {
    pub news: Vec<News<'f>>,
    pub verdicts: Vec<Verdict>,
}

/// In another file, only what has an id is surely a copy.
fn in_other_files(entry: &Entry) -> Option<Id> {
    entry.key.and_then(|_| fingerprint(entry))
}

/// Makes news of the readings. Text copied from another session is that session's.
pub fn compare<'f>(
    mut readings: Vec<(Candidate<'f>, New)>,
    own: &Part,
    context: &Context<'_, 'f>,
) -> Compared<'f> {
    let mut all = Compared::default();
    let mut claimed: IdSet = own.entries.iter().filter_map(in_other_files).collect();
    let is_empty = readings.iter().all(|(_, new)| new.part.entries.is_empty());
    let reported = if is_empty {
        IdSet::default()
    } else {
        reported(context)
    };
    // Whoever was there first wrote it: sessions that are known, then by age of the file.
    readings.sort_by_key(|(candidate, new)| {
        (!candidate.is_known(), new.created, candidate.stamp.modified)
    });
    let mut subagents = Vec::new();
    for (candidate, mut new) in readings {
        // A file that is the same under another path is not missing.
        if let Some(old) = &candidate.moved_from
            && new.start != StartAt::First
        {
            all.verdicts.push(Verdict::forget(old));
        }
        drop_reported(&mut new, &candidate, &reported);
        let entries = &mut new.part.entries;
        entries.retain(|entry| in_other_files(entry).is_none_or(|id| !claimed.contains(&id)));
        claimed.extend(entries.iter().filter_map(in_other_files));
        match Activity::of(entries, new.part.ending) {
            Some(activity) if !candidate.subagent => {
                all.news.push(News::of(candidate, new, activity, context));
            }
            // Of all that a subagent does, its edits count, and what it does to the repository.
            Some(activity) if !activity.edited.is_empty() || !activity.git.is_empty() => {
                subagents.push((candidate, new, activity));
            }
            _ => all.verdicts.push(no_news(candidate, new)),
        }
    }
    for (candidate, new, activity) in subagents {
        let is_parent = |news: &News| is_parent(&news.session, &candidate.session);
        let parent = all.news.iter().position(is_parent).unwrap_or_else(|| {
            all.news.push(News::of_subagent(&candidate, &new, context));
            all.news.len() - 1
        });
        all.news[parent].credit(candidate, new, activity, context);
    }
    all.news
        .sort_by_key(|news| std::cmp::Reverse(news.activity.time));
    all
}

/// Short fingerprints of what was told before.
fn reported(context: &Context) -> IdSet {
    let view = context.view;
    let told = view
        .look
        .iter()
        .flat_map(|look| look.fingerprints.iter().copied());
    told.chain(view.sessions.iter().filter_map(Record::fingerprint))
        .map(|short| Id(short.into()))
        .collect()
}

/// Only new lines were read if reading went on. Else everything up to what was told last is old. So it is in a file that
/// was once rewritten: what it said before may come back bit by bit.
fn drop_reported(new: &mut New, candidate: &Candidate, reported: &IdSet) {
    let may_repeat = |seen: &Seen| seen.unread || seen.after.is_some();
    if matches!(new.start, StartAt::Resume(_)) && !candidate.seen.as_ref().is_none_or(may_repeat) {
        return;
    }
    let fingerprint = if candidate.is_known() {
        fingerprint
    } else {
        in_other_files
    };
    let was_reported = |entry: &Entry| {
        fingerprint(entry).is_some_and(|id| reported.contains(&Id(id.short().into())))
    };
    let entries = &mut new.part.entries;
    let old = entries
        .iter()
        .rposition(was_reported)
        .map_or(0, |last| last + 1);
    entries.drain(..old);
}

fn no_news(candidate: Candidate, new: New) -> Verdict {
    if !candidate.is_known() || new.start == StartAt::First {
        return candidate.leave(Reason::NothingSaid);
    }
    let why = Why::of(&candidate, Reason::NothingSaid);
    Verdict {
        why,
        ..Verdict::keep(candidate.key, new.if_told)
    }
}

impl<'f> News<'f> {
    fn of(
        candidate: Candidate<'f>,
        new: New,
        mut activity: Activity,
        context: &Context,
    ) -> News<'f> {
        let New {
            part,
            if_untold,
            if_told: mut after,
            ..
        } = new;
        let why = Why::of(&candidate, Reason::News);
        after.fingerprint = part
            .entries
            .iter()
            .rev()
            .find_map(fingerprint)
            .map(Id::short)
            .or(after.fingerprint);
        let cwd = after.cwd.as_deref().map_or(&*context.env.cwd, Path::new);
        let mut edited = Vec::new();
        add_edits(
            std::mem::take(&mut activity.edited),
            cwd,
            &mut activity,
            &mut edited,
        );
        let said = part
            .entries
            .iter()
            .filter(|entry| matches!(entry.what, What::Text(_)));
        let fingerprints = said.filter_map(fingerprint).map(Id::short).collect();
        let last_cwd = part
            .basics
            .cwd()
            .map(str::to_owned)
            .or_else(|| after.cwd.clone());
        News {
            key: candidate.key.clone(),
            session: candidate.session,
            activity,
            open_end: part.open_end,
            more: if_untold.more,
            title: after.title.clone(),
            cwd: after.cwd.clone(),
            last_cwd,
            edited,
            parts: vec![Records {
                key: candidate.key,
                if_untold,
                if_told: after,
            }],
            fingerprints,
            why,
        }
    }

    /// Of a session that has no news but what a subagent did.
    fn of_subagent(candidate: &Candidate<'f>, new: &New, context: &Context) -> News<'f> {
        let parent = parent(&candidate.session, context);
        News {
            key: parent.map_or(&*candidate.key, Record::path).to_owned(),
            session: candidate.session.clone(),
            activity: Activity::default(),
            open_end: None,
            more: new.if_untold.more,
            title: parent.and_then(Record::title).map(str::to_owned),
            cwd: new.if_told.cwd.clone(),
            last_cwd: new.part.basics.cwd().map(str::to_owned),
            edited: vec![],
            parts: vec![],
            fingerprints: vec![],
            why: Why::of(candidate, Reason::News),
        }
    }

    /// A subagent's edits are its session's, which may have other news or none.
    fn credit(&mut self, candidate: Candidate, new: New, done: Activity, context: &Context) {
        let (edited, git) = (done.edited, done.git);
        let times = edited
            .iter()
            .map(|(_, time)| *time)
            .chain(git.iter().map(|(_, time)| *time));
        self.activity.time = times.max().flatten().max(self.activity.time);
        self.activity.git.extend(git);
        let cwd = new
            .if_told
            .cwd
            .as_deref()
            .map_or(&*context.env.cwd, Path::new);
        add_edits(edited, cwd, &mut self.activity, &mut self.edited);
        self.parts.push(Records {
            key: candidate.key,
            if_untold: new.if_untold,
            if_told: new.if_told,
        });
    }
}

/// A subagent's transcript belongs to this session.
fn is_parent(session: &Session, subagent: &Session) -> bool {
    session.format.name == subagent.format.name && session.has_id(&subagent.id)
}

/// The record of the session that a subagent belongs to.
fn parent<'s>(subagent: &Session, context: &Context<'s, '_>) -> Option<Record<'s>> {
    let short = substr(&subagent.id, ..subagent.id.floor_char_boundary(8));
    let at = |path: &str| find::at(context.formats, context.env, Path::new(path));
    let is_it = |path: &str| {
        path.contains(short) && at(path).is_some_and(|other| is_parent(&other, subagent))
    };
    context
        .view
        .sessions
        .iter()
        .find(|record| is_it(record.path()))
}

/// Adds files to those that were edited. A file is one, however its path is written.
fn add_edits(
    more: Vec<(String, Option<Time>)>,
    cwd: &Path,
    activity: &mut Activity,
    edited: &mut Vec<(PathBuf, Option<Time>)>,
) {
    // There may be very many subagents that edited one file each.
    let few = more.len() < 8;
    let known = |(at, (path, _)): (usize, &(PathBuf, Option<Time>))| (path.clone(), at);
    let mut index: HashMap<PathBuf, usize> = if few {
        HashMap::default()
    } else {
        edited.iter().enumerate().map(known).collect()
    };
    for (path, time) in more {
        let whole = absolute(cwd, &path);
        let is_it = |(path, _): &(PathBuf, Option<Time>)| path.as_os_str() == whole.as_os_str();
        let at = if few {
            edited.iter().position(is_it)
        } else {
            index.get(&whole).copied()
        };
        match at.map(|at| &mut edited[at]) {
            Some((_, last)) => *last = (*last).max(time),
            None => {
                index.insert(whole.clone(), edited.len());
                edited.push((whole, time));
                activity.edited.push((path, time));
            }
        }
    }
}
