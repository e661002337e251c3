//! Orders the sessions that a search found.
//!
//! A rare word is worth more than a common one (BM25 over the entries of a session), a session that has most of the words
//! more than one that says a single word often, and words that stand together in a title, a prompt or a final answer are
//! worth something by themselves. Sessions with all words come first, whatever they are worth.

use super::query::{Hit, Query, Words, bits, in_any_form};

/// The worth of a word in another form.
const OTHER_FORM: f64 = 0.6;
/// The usual constants of BM25: how soon more of the same adds nothing, and how much a long session is held back.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;
/// A session that has less than this part of what the best one has is not shown.
const ENOUGH: f64 = 0.3;
/// Sessions whose worth is the same in so many steps up to the best are equal; then the newer one comes first.
const STEPS: f64 = 10.0;

/// The parts of a query that a session has. Its worth follows once the words of all sessions are counted.
pub struct Evidence {
    /// For each word, in how many entries it stands as it is, and in any form.
    counts: Vec<[u32; 2]>,
    /// Words that stand together in a title, a prompt or a final answer.
    passages: Vec<Words>,
    /// All words stand in one entry, or in the title.
    pub is_together: bool,
    length: usize,
}

impl Evidence {
    pub(super) fn new(terms: usize, length: usize, in_title: Words, hits: &[Hit]) -> Evidence {
        let all = (1 << terms) - 1;
        let mut evidence = Evidence {
            counts: vec![[0; 2]; terms],
            passages: Vec::new(),
            is_together: false,
            length,
        };
        let title = (in_title, in_title != 0);
        for (words, is_passage) in hits
            .iter()
            .map(|hit| (hit.words, hit.is_passage()))
            .chain([title])
        {
            for (index, [as_it_is, any]) in evidence.counts.iter_mut().enumerate() {
                *as_it_is += u32::from(words & 1 << index != 0);
                *any += u32::from(in_any_form(words) & 1 << index != 0);
            }
            evidence.is_together |= in_any_form(words) == all;
            if is_passage && !evidence.passages.iter().any(|known| known & words == words) {
                evidence.passages.retain(|known| known & words != *known);
                evidence.passages.push(words);
            }
        }
        evidence
    }

    /// The words that it has, in whatever form.
    pub fn has(&self) -> Words {
        bits(self.counts.iter().map(|[_, any]| *any > 0))
    }
}

/// The weight of each word: the fewer sessions have it, the more.
pub struct Weights {
    /// For each word, as it is and in any form.
    rarity: Vec<[f64; 2]>,
    /// The words that any session has.
    pub said: Words,
    mean_length: f64,
}

impl Weights {
    pub fn of<'e>(
        query: &Query,
        found: impl Iterator<Item = &'e Evidence>,
        sessions: usize,
    ) -> Weights {
        let mut having = vec![[0_usize; 2]; query.len()];
        let (mut count, mut length) = (0, 0);
        for evidence in found {
            count += 1;
            length += evidence.length;
            for (all, counts) in having.iter_mut().zip(&evidence.counts) {
                *all = [0, 1].map(|form| all[form] + usize::from(counts[form] > 0));
            }
        }
        let rarity = |having: usize| {
            let (having, others) = (having as f64, sessions.saturating_sub(having) as f64);
            (1.0 + (others + 0.5) / (having + 0.5)).ln()
        };
        Weights {
            said: bits(having.iter().map(|[_, any]| *any > 0)),
            rarity: having
                .into_iter()
                .map(|having| having.map(rarity))
                .collect(),
            mean_length: length as f64 / f64::from(count.max(1)),
        }
    }

    /// The worth of words that stand together.
    pub(crate) fn worth_of(&self, words: Words) -> f64 {
        let worth = |(index, [as_it_is, any]): (usize, &[f64; 2])| {
            let has = |words: Words| words & 1 << index != 0;
            if has(words) {
                return *as_it_is;
            }
            if has(in_any_form(words)) {
                any * OTHER_FORM
            } else {
                0.0
            }
        };
        self.rarity.iter().enumerate().map(worth).sum()
    }

    /// The share of all worth that a session has.
    fn share(&self, evidence: &Evidence) -> f64 {
        let sum = |words: Words| {
            let of = |(index, [_, any]): (usize, &[f64; 2])| {
                if words & 1 << index != 0 { *any } else { 0.0 }
            };
            self.rarity.iter().enumerate().map(of).sum::<f64>()
        };
        sum(evidence.has()) / sum(self.said)
    }

    fn worth(&self, evidence: &Evidence) -> f64 {
        let longer = evidence.length as f64 / self.mean_length.max(1.0);
        let often = |count: u32| {
            let count = f64::from(count);
            count * (SATURATION + 1.0) / (count + SATURATION * (1.0 - LENGTH + LENGTH * longer))
        };
        let word = |([as_it_is, any], counts): (&[f64; 2], &[u32; 2])| {
            (as_it_is * often(counts[0])).max(any * often(counts[1]) * OTHER_FORM)
        };
        let words: f64 = self.rarity.iter().zip(&evidence.counts).map(word).sum();
        let passage = evidence
            .passages
            .iter()
            .map(|words| self.worth_of(*words))
            .fold(0.0, f64::max);
        words * self.share(evidence).sqrt() + passage
    }

    /// The sessions that are worth showing, the best first; these are the newest first.
    pub fn order<S>(&self, found: Vec<S>, evidence: impl Fn(&S) -> &Evidence) -> Vec<S> {
        let mut order: Vec<(S, bool, f64, f64)> = found
            .into_iter()
            .map(|session| {
                let evidence = evidence(&session);
                let lacks_some = evidence.has() & self.said != self.said;
                let (worth, share) = (self.worth(evidence), self.share(evidence));
                (session, lacks_some, worth, share)
            })
            .collect();
        let (best, most) = order
            .iter()
            .fold((0.0, 0.0), |(best, most), (_, _, worth, share)| {
                (f64::max(best, *worth), f64::max(most, *share))
            });
        order.retain(|(_, _, _, share)| *share >= most * ENOUGH);
        order.sort_by_key(|(_, lacks_some, worth, _)| {
            (*lacks_some, -(worth / best * STEPS).round() as i64)
        });
        order.into_iter().map(|(session, ..)| session).collect()
    }

    /// The entries of a session to show, the best first: those with the most of the words, prompts before answers and
    /// answers before calls, the newest first. Where some have all words, the others say less. Of several that stand in
    /// one line of the transcript, one is enough to find them.
    pub fn best<'h>(&self, hits: &'h [Hit]) -> Vec<&'h Hit> {
        let has_all = |hit: &Hit| in_any_form(hit.words) & self.said == self.said;
        let is_together = hits.iter().any(has_all);
        let mut best: Vec<&Hit> = hits
            .iter()
            .rev()
            .filter(|hit| !is_together || has_all(hit))
            .collect();
        best.sort_by(|a, b| {
            let worth = self.worth_of(b.words).total_cmp(&self.worth_of(a.words));
            worth.then(a.kind().cmp(&b.kind()))
        });
        let mut offsets = session_format::hash::HashSet::default();
        best.retain(|hit| offsets.insert((hit.source.file, hit.source.line.offset)));
        best
    }
}
