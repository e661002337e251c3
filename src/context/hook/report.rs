//! The steps of a look up to what there is to tell: which files changed, what is new in them, and what that amounts to.

use super::candidate::{Verdict, Why};
use super::compare::{News, compare};
use super::context::Context;
use super::ids::Ids;
use super::observe::observe;
use super::observed::{Observed, Progress};
use super::own::{self, Own};
use super::read::read;
use super::reader::Reader;
use super::round::OtherDirs;
use session_core::file::Unreadable;

/// The news, and all that is to be remembered.
pub struct Report<'f> {
    /// The sessions with news, newest first.
    pub news: Vec<News<'f>>,
    /// Verdicts on all other files, in the order in which they were found out.
    pub verdicts: Vec<Verdict>,
    pub own: Own<'f>,
    /// The ids of all sessions, if somebody needed them until now.
    pub ids: Option<Ids>,
    pub progress: Progress,
    pub other_dirs: OtherDirs,
    pub bad: Vec<Unreadable>,
    /// A file was opened: what is known of it has changed, or the clock has to move on.
    pub opened: bool,
    /// The deadline came first: not every file was read, or even found.
    pub cut_short: bool,
}

impl Report<'_> {
    /// The reasons for telling each session or leaving it out.
    pub fn why(&self) -> impl Iterator<Item = &Why> {
        let news = self.news.iter().filter_map(|news| news.why.as_deref());
        self.verdicts
            .iter()
            .filter_map(|verdict| verdict.why.as_deref())
            .chain(news)
    }
}

/// Looks at the other sessions. `always_own`: the end of the observer's own transcript is read even if nothing in it may
/// matter for the news, for a first look asks whether it was prompted before.
pub fn report<'f>(context: &Context<'_, 'f>, always_own: bool) -> Report<'f> {
    let Observed {
        candidates,
        mut verdicts,
        mut bad,
        cut_short,
        progress,
        round,
        mut ids,
    } = observe(context);
    let mut reader = Reader::new(context);
    let readings = read(candidates, &mut reader, context);
    let new = readings.new;
    bad.extend(readings.bad);
    bad.append(&mut reader.titles.bad);
    let any_entries = new.iter().any(|(_, new)| !new.part.entries.is_empty());
    if (always_own || any_entries) && ids.is_none() && !own::has_transcript(context) {
        ids = Some(Ids::list(context, &mut bad));
    }
    let mut own = Own::default();
    if always_own || any_entries {
        own = Own::read(
            (!always_own).then_some(&new),
            ids.as_ref(),
            &mut reader.buffer,
            context,
        );
    }
    let compared = compare(new, &own.part, context);
    verdicts.extend(readings.verdicts);
    verdicts.extend(compared.verdicts);
    // Last, because a directory with a quiet file of this project is not judged to be another's. There is no round in a home, nor
    // where the walk was cut short.
    let other_dirs = match round {
        Some(round) => round.close(&mut reader, &bad, &verdicts),
        None => OtherDirs {
            judged: context
                .last_look_here()
                .map(|look| look.judged.clone())
                .unwrap_or_default(),
            ..OtherDirs::default()
        },
    };
    Report {
        news: compared.news,
        verdicts,
        own,
        ids,
        progress,
        other_dirs,
        bad,
        opened: readings.opened,
        cut_short: cut_short || readings.cut_short,
    }
}
