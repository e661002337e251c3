//! Slices of a log: the last entries that fit what the user asked for, and what stands around them.
//!
//! [`Slice`] says what fits. [`Sliced`] goes through a transcript and keeps the last entries that do, so memory depends on
//! how many are wanted and not on the size of the file. Entries that are shown have numbers; a result has none, because it
//! comes and goes with its call. What a later line says about an entry that was dropped already is noted as missed, and
//! `log`, which says which lines are read, then reads them again.

use std::collections::{BTreeMap, BTreeSet};

use super::once::{OpenCalls, renew};
use super::wanted::{Log, Slice, Target, Wanted, failed};
use crate::fold::Fold;
use session_format::entry::{ById, Call, Entry, Id, Position, What};

/// A result, with the last number before it and how many results there are up to it.
type Ordered = ((usize, usize), Entry<'static>);

/// The last entries that fit.
#[derive(Default)]
pub struct Sliced<'w> {
    wanted: Wanted<'w>,
    slice: Slice,
    /// Entries by their numbers.
    kept: BTreeMap<usize, Entry<'static>>,
    /// Results by the numbers of their calls.
    results: BTreeMap<usize, Vec<Ordered>>,
    fits: BTreeSet<usize>,
    shown: usize,
    taken_results: usize,
    by_key: ById<usize>,
    by_call: ById<usize>,
    /// Calls from before the time that is wanted.
    early: ById<Entry<'static>>,
    /// Results whose calls are not known; they have numbers of their own.
    orphans: BTreeSet<usize>,
    /// The entries at the target.
    chosen: BTreeSet<usize>,
    target: Option<Target>,
    lines: u64,
    /// The beginning of the line that is the target.
    pub position: Option<Position>,
    /// Entries that would be shown, but were dropped; and those that are not to be.
    missed: BTreeSet<usize>,
    held: BTreeSet<usize>,
    /// The number of entries that were older than wanted.
    past: usize,
}

impl<'w> Sliced<'w> {
    pub fn new(wanted: Wanted<'w>, slice: &Slice) -> Sliced<'w> {
        Sliced {
            wanted,
            slice: slice.clone(),
            target: slice.at,
            ..Sliced::default()
        }
    }

    /// For the same lines once more, if they have to be read again. `listed` are the entries that the target line lists,
    /// which may be known from other lines.
    pub fn again(&self, listed: &[Entry]) -> Option<Sliced<'w>> {
        let known = listed
            .iter()
            .filter_map(|entry| self.by_key.get(&entry.key?).copied());
        let chosen: BTreeSet<usize> = known.collect();
        let first = self
            .fits
            .first()
            .filter(|_| self.fits.len() >= self.wanted.count);
        let first = first.map_or(0, |first| first.saturating_sub(self.slice.context));
        let held: BTreeSet<usize> = self.missed.range(first..).copied().collect();
        let is_needed = !held.is_empty() || !chosen.is_subset(&self.fits);
        is_needed.then(|| Sliced {
            chosen,
            held,
            ..Sliced::new(self.wanted, &self.slice)
        })
    }

    /// Lines further up could not change anything.
    pub fn is_enough(&self) -> bool {
        let first = self.fits.first().copied().unwrap_or_default();
        let is_full = self.fits.len() >= self.wanted.count && first >= self.slice.context;
        self.past > Wanted::PAST || is_full && self.fits.is_disjoint(&self.orphans)
    }

    pub fn finish(self) -> Log {
        let mut log = Log {
            open: self.open_calls(),
            ..Log::default()
        };
        let Sliced {
            kept,
            results,
            fits,
            slice,
            ..
        } = self;
        let is_shown = |at: &usize| is_near(&fits, *at, slice.context);
        let mut all: Vec<_> = kept
            .into_iter()
            .map(|(at, entry)| (at, (at, 0), entry))
            .collect();
        for (call, results) in results {
            let tells = |entry: &Entry| !slice.only_reasons || failed(entry);
            all.extend(
                results
                    .into_iter()
                    .filter(|(_, entry)| tells(entry))
                    .map(|(order, entry)| (call, order, entry)),
            );
        }
        all.retain(|(at, ..)| is_shown(at));
        all.sort_by_key(|(_, order, _)| *order);
        let mut last = None;
        for (at, order, entry) in all {
            if order.1 == 0 {
                if last.is_some_and(|last| last + 1 != at) {
                    log.gaps.push(log.entries.len());
                }
                last = Some(at);
            }
            if fits.contains(&at) {
                log.hits.push(log.entries.len());
            }
            log.entries.push(entry);
        }
        log.total = log.entries.len();
        log
    }

    /// The calls that have no result yet.
    fn open_calls(&self) -> OpenCalls {
        let all = self.kept.values().chain(self.early.values());
        let open = all.filter_map(Entry::open_call);
        open.filter_map(|call| Some((call.id?, call.clone())))
            .collect()
    }

    /// True for an entry that the target means. Where nothing is shown of a line, the next one is meant.
    fn is_target(&mut self, entry: &Entry, line: u64) -> bool {
        let is_result = matches!(entry.what, What::Result { .. });
        let is_later = match self.target {
            None => false,
            Some(Target::Line(number)) if line == number => return true,
            Some(Target::Line(number)) => line > number && self.chosen.is_empty(),
            Some(Target::Time(time)) => entry.time.is_some_and(|at| at >= time),
            Some(Target::Id(id)) => {
                // An entry is a part of its line.
                let is_part =
                    |key: Id| (0..8).any(|kind| (0..16).any(|index| id.part(kind, index) == key));
                let of_call = match &entry.what {
                    What::Call(Call { id, .. }) | What::Result { call: id, .. } => *id,
                    _ => None,
                };
                return [entry.message, of_call].contains(&Some(id))
                    || entry.key.is_some_and(is_part);
            }
        };
        if is_later && !is_result {
            self.target = Some(Target::Line(line));
        }
        is_later && !is_result
    }

    /// Adds an entry that is shown, and returns its number.
    fn add(&mut self, entry: Entry<'static>) -> usize {
        let at = self.shown;
        self.shown += 1;
        self.by_key.extend(entry.key.map(|key| (key, at)));
        if let What::Call(Call { id: Some(id), .. }) = &entry.what {
            self.by_call.insert(*id, at);
        }
        self.kept.insert(at, entry);
        at
    }

    /// Notes whether an entry fits, by itself or by its results.
    fn judge(&mut self, at: usize) {
        let Some(entry) = self.kept.get(&at) else {
            return;
        };
        let call = entry.call();
        let mut results = self.results.get(&at).into_iter().flatten();
        let fits = self.chosen.contains(&at)
            || self.target.is_none()
                && (self.slice.fits(entry, None)
                    || results.any(|(_, result)| self.slice.fits(result, call)));
        if !fits {
            self.fits.remove(&at);
        } else if self.fits.insert(at) {
            let context = self.slice.context;
            let around = at.saturating_sub(context)
                ..at.saturating_add(context).saturating_add(1).min(self.shown);
            self.missed
                .extend(around.filter(|at| !self.kept.contains_key(at)));
        }
    }

    /// Takes the result of a call: it tells how that ended, and is shown with it.
    fn result(&mut self, entry: &Entry, line: u64) {
        let What::Result {
            call,
            failed,
            denied,
            unclear,
            text,
            ..
        } = &entry.what
        else {
            return;
        };
        let id = call.unwrap_or_default();
        let is_shown = self.wanted.shows(entry) && text.is_some();
        let is_target = self.is_target(entry, line);
        let early = self
            .early
            .remove(&id)
            .filter(|_| is_shown)
            .map(|call| self.add(call));
        let Some(at) = early.or(self.by_call.get(&id).copied()) else {
            if is_shown {
                let at = self.add(entry.clone().into_owned());
                self.orphans.insert(at);
                self.chosen.extend(is_target.then_some(at));
                self.judge(at);
            }
            return;
        };
        self.chosen.extend(is_target.then_some(at));
        let Some(Entry {
            what: What::Call(call),
            ..
        }) = self.kept.get_mut(&at)
        else {
            let fits =
                is_target || self.target.is_none() && is_shown && self.slice.fits(entry, None);
            self.missed.extend(fits.then_some(at));
            return;
        };
        call.end(entry.time, *failed, *denied, *unclear);
        if is_shown {
            let order = (self.shown - 1, self.taken_results + 1);
            self.taken_results += 1;
            let results = self.results.entry(at).or_default();
            let known = results
                .iter_mut()
                .find(|(_, known)| known.key.is_some() && known.key == entry.key);
            match known {
                Some((_, known)) => renew(&mut known.what, entry.what.clone().into_owned()),
                None => results.push((order, entry.clone().into_owned())),
            }
        }
        self.judge(at);
        self.prune(Some(at));
    }

    /// Drops what is neither wanted nor may become so.
    fn prune(&mut self, settled: Option<usize>) {
        while self.fits.len() > self.wanted.count {
            self.fits.pop_first();
        }
        if let Some(first) = self
            .fits
            .first()
            .filter(|_| self.fits.len() == self.wanted.count)
        {
            let gone = first.saturating_sub(self.slice.context);
            while let Some((at, _)) = self.kept.first_key_value().filter(|(at, _)| **at < gone) {
                let at = *at;
                self.drop(at);
            }
        }
        // Too far up to stand around an entry to come.
        let passed = self.shown.checked_sub(self.slice.context.saturating_add(1));
        let settled = settled.filter(|at| passed.is_some_and(|passed| *at < passed));
        for at in [passed, settled].into_iter().flatten() {
            let is_held = self.held.contains(&at) || is_near(&self.fits, at, self.slice.context);
            if !is_held
                && self
                    .kept
                    .get(&at)
                    .is_some_and(|entry| entry.open_call().is_none())
            {
                self.drop(at);
            }
        }
    }

    fn drop(&mut self, at: usize) {
        self.kept.remove(&at);
        self.results.remove(&at);
    }
}

impl Fold for Sliced<'_> {
    fn line(&mut self, position: Position) {
        self.lines += 1;
        if matches!(self.slice.at, Some(Target::Line(number)) if number == self.lines) {
            self.position = Some(position);
        }
    }

    fn entry(&mut self, entry: &Entry, line: u64) {
        self.past += usize::from(self.wanted.is_past(entry.time));
        if matches!(entry.what, What::Result { .. }) {
            return self.result(entry, line);
        }
        if !self.wanted.shows(entry) || entry.is_taken_up() {
            if let What::Call(Call {
                id: Some(id),
                ended: false,
                ..
            }) = entry.what
            {
                self.early.insert(id, entry.clone().into_owned());
            }
            return;
        }
        let known = entry.key.and_then(|key| self.by_key.get(&key).copied());
        if known.is_none() && entry.renews {
            return;
        }
        let is_target = self.is_target(entry, line);
        let at = known.unwrap_or_else(|| self.add(entry.clone().into_owned()));
        self.chosen.extend(is_target.then_some(at));
        match self.kept.get_mut(&at) {
            Some(kept) if known.is_some() => renew(&mut kept.what, entry.what.clone().into_owned()),
            None if is_target || self.target.is_none() && self.slice.fits(entry, None) => {
                _ = self.missed.insert(at);
            }
            _ => {}
        }
        self.judge(at);
        self.prune(None);
    }
}

fn is_near(fits: &BTreeSet<usize>, at: usize, context: usize) -> bool {
    fits.range(at.saturating_sub(context)..=at.saturating_add(context))
        .next()
        .is_some()
}
