//! Reads lines that look like one that was read before, without walking them.
//!
//! [`fit`] compares what must be the same and steps over what differs. If a line fits, the walker would find the same
//! values under the same rule, so nobody asks it. [`learn`] makes a template from what the walker found. Values
//! that a rule tests are part of what must be the same. Any other line takes the walker, which is the judge: a test runs
//! both over every transcript and over changed ones.

use std::num::NonZero;

use super::scan;
use crate::entry::Id;
use crate::format::templates::{Extents, NOTHING, Spot, Step, Template, Templates, Then};
use crate::format::trie::Slot;

/// A value that a walker stepped over: where it varies, and how.
pub type Seen = (usize, usize, Then);

/// The most steps that a line may have, that may come in one place, and that all templates have together; and the most
/// bytes of all of them.
const LINE: usize = 128;
const OTHERS: usize = 16;
const ALL: usize = 1 << 14;
const BYTES: usize = 1 << 20;
/// The most bytes of a line that must be the same, and of a value that may be.
const SAME: usize = 1 << 13;
const VALUE: usize = 128;
/// The most values that are watched.
const VALUES: usize = 1 << 10;

/// Which template a line fits, if any. That then knows where the values of the line are.
pub fn fit(templates: &mut Templates, line: &[u8]) -> Option<usize> {
    // Asking what the CPU can do for the first time takes longer than a hook's few lines, of which none is learned.
    templates.first?;
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn fit(templates: &mut Templates, line: &[u8]) -> Option<usize> {
            fit_with(templates, line, |bytes, start| {
                scan::avx2::string(bytes, start)
            })
        }
        // SAFETY: the CPU has what the function is compiled for.
        return unsafe { fit(templates, line) };
    }
    fit_with(templates, line, scan::string)
}

/// The same, compiled for each way to step over a string.
#[inline(always)]
fn fit_with(
    templates: &mut Templates,
    line: &[u8],
    string: impl Fn(&[u8], usize) -> Option<usize>,
) -> Option<usize> {
    let Templates {
        first,
        steps,
        literals,
        ends,
        starts,
        hits,
        ..
    } = templates;
    starts.clear();
    let (mut at, mut parent) = (0, None);
    let mut next = *first;
    loop {
        let mut before = None;
        let (index, step, end) = loop {
            let index = next?.get() as usize - 1;
            let step = steps[index];
            let literal = &literals[step.literal.0 as usize..step.literal.1 as usize];
            if scan::begins(&line[at..], literal)
                && let Some(end) = end_of(step.then, line, at + literal.len(), &string)
            {
                break (index, step, end);
            }
            (before, next) = (Some(index), step.other);
        };
        if let Some(before) = before {
            // What came last is tried first.
            steps[before].other = step.other;
            let first = parent.map_or(&mut *first, |parent: usize| &mut steps[parent].next);
            let others = std::mem::replace(first, number(index));
            steps[index].other = others;
        }
        // A whole line fits the buffer.
        starts.push(at as u32);
        if let Then::End(index) = step.then {
            *hits += 1;
            let Template { extents, spots, .. } = &mut ends[index as usize];
            let at = |spot: &Spot| starts[spot.step as usize] + spot.offset;
            spots
                .iter()
                .for_each(|(index, start, end)| extents.all[*index] = (at(start), at(end)));
            return Some(index as usize);
        }
        (at, parent, next) = (end, Some(index), step.next);
    }
}

/// The end of what comes after a place; none if something else comes there.
#[inline(always)]
fn end_of(
    then: Then,
    line: &[u8],
    at: usize,
    string: impl Fn(&[u8], usize) -> Option<usize>,
) -> Option<usize> {
    match then {
        Then::Text => string(line, at),
        Then::Number => scan::number(line, at),
        Then::Rest => scan::rest_with(line, at, string),
        Then::End(_) => (at == line.len()).then_some(at),
    }
}

/// The number of a step, from 1. There are no more than `ALL`.
fn number(index: usize) -> Option<NonZero<u32>> {
    NonZero::new(index as u32 + 1)
}

/// Counts a line that fits none, and says whether it is worth a template of its own. The first few are not, because there may
/// be no more; nor is any where hardly one looks like another.
pub(crate) fn note_miss(templates: &mut Templates) -> bool {
    templates.misses += 1;
    (100..2000 + templates.hits / 4).contains(&templates.misses)
        && templates.steps.len() < ALL
        && templates.literals.len() < BYTES
}

/// Makes a template of a line. `seen` are the values that were stepped over, in order; `tested` says which slots of lines
/// and of blocks a rule tests; `known` has the rules.
pub(crate) fn learn(
    templates: &mut Templates,
    line: &[u8],
    seen: &[Seen],
    extents: &Extents,
    tested: impl Fn(bool, Slot) -> bool,
    known: Template,
) {
    let Extents {
        all, slots, width, ..
    } = extents;
    let is_fixed = |index: usize| match index.checked_sub(*slots) {
        None => tested(false, index),
        Some(index) => tested(true, index % width.max(&1)),
    };
    let there: Vec<_> = all
        .iter()
        .enumerate()
        .filter(|(_, extent)| **extent != NOTHING)
        .collect();
    let fixed: Vec<usize> = there
        .iter()
        .filter(|(index, _)| is_fixed(*index))
        .map(|(_, extent)| extent.0 as usize)
        .collect();
    let mut before = 0;
    let mut is_varying = |(start, end, kind): &&Seen| {
        let key = &line[std::mem::replace(&mut before, *end)..*start];
        !fixed.contains(&(start - usize::from(*kind == Then::Text)))
            && varies(templates, key, &line[*start..*end])
    };
    let varying: Vec<&Seen> = seen.iter().filter(&mut is_varying).collect();
    let values = varying
        .iter()
        .map(|(start, end, _)| end - start)
        .sum::<usize>();
    if varying.len() >= LINE || line.len() - values > SAME {
        return;
    }
    // What is the same: from the end of each value to the beginning of the next.
    let starts = std::iter::once(0).chain(varying.iter().map(|(_, end, _)| *end));
    let ends = varying.iter().map(|(start, ..)| *start).chain([line.len()]);
    let same: Vec<_> = starts.zip(ends).collect();
    let place = |at: u32| {
        let step = same
            .iter()
            .position(|(start, end)| (*start..=*end).contains(&(at as usize)))?;
        Some(Spot {
            step: step as u32,
            offset: at - same[step].0 as u32,
        })
    };
    let spots = there
        .iter()
        .map(|(index, (start, end))| Some((*index, place(*start)?, place(*end)?)));
    let Some(spots) = (if known.ignored {
        Some(Vec::new())
    } else {
        spots.collect::<Option<Vec<_>>>()
    }) else {
        return;
    };
    let template = Template {
        spots,
        extents: extents.clone(),
        ..known
    };
    let mut parent: Option<usize> = None;
    for (index, (start, end)) in same.iter().enumerate() {
        let kind = varying.get(index).map(|(.., kind)| *kind);
        parent = step_after(templates, parent, &line[*start..*end], kind);
        if parent.is_none() {
            return;
        }
    }
    templates.ends.push(template);
}

/// The step with these bytes that comes after another one, or at the start of a line; it is added if it is new. None if too
/// many others may come there: each is compared with every line that comes this far.
fn step_after(
    templates: &mut Templates,
    parent: Option<usize>,
    literal: &[u8],
    kind: Option<Then>,
) -> Option<usize> {
    let Templates {
        first,
        steps,
        literals,
        ends,
        ..
    } = templates;
    let before = parent.map_or(*first, |parent| steps[parent].next);
    let (mut next, mut others) = (before, 0);
    while let Some(index) = next.map(|next| next.get() as usize - 1) {
        let Step {
            literal: (start, end),
            then,
            other,
            ..
        } = steps[index];
        if Some(then) == kind && literals[start as usize..end as usize] == *literal {
            return Some(index);
        }
        (next, others) = (other, others + 1);
    }
    if others >= OTHERS {
        return None;
    }
    // `ALL` and `BYTES` keep these numbers small.
    let start = literals.len() as u32;
    literals.extend_from_slice(literal);
    let then = kind.unwrap_or(Then::End(ends.len() as u32));
    let new = number(steps.len());
    steps.push(Step {
        literal: (start, literals.len() as u32),
        then,
        next: None,
        other: before,
    });
    *parent.map_or(first, |parent| &mut steps[parent].next) = new;
    Some(steps.len() - 1)
}

/// True if the value after some bytes differs from line to line, as far as is known. Templates take a value that never
/// differs for a part of the line; when one turns out to differ, all of them are dropped and learned again.
fn varies(templates: &mut Templates, before: &[u8], value: &[u8]) -> bool {
    let before = Id::named(before);
    if templates.values.len() >= VALUES && !templates.values.contains_key(&before) {
        return true;
    }
    let new = if value.len() <= VALUE {
        Some(Id::named(value))
    } else {
        None
    };
    let known = templates.values.entry(before).or_insert(new);
    if *known != new && known.take().is_some() {
        templates.first = None;
        templates.steps.clear();
        templates.literals.clear();
        templates.ends.clear();
    }
    known.is_none()
}

#[cfg(test)]
mod tests {
    use super::super::{Decoder, Outcome};
    use crate::cursor::Line;
    use crate::format::Format;
    use crate::format::descriptor::Descriptor;
    use crate::format::templates::Then;

    fn line(number: usize, said: &str) -> String {
        format!(
            r#"{{"parentUuid":"p{number}","isSidechain":false,"type":"assistant","message":{{"id":"m{number}","model":"m","content":[{{"type":"text","text":"{said}"}}],"usage":{{"input_tokens":{number},"cache_creation_input_tokens":1,"cache_read_input_tokens":1,"output_tokens":1,"tools":{{"web":0}},"left":{number}}}}},"uuid":"u{number}","timestamp":"2026-01-01T00:00:00Z"}}"#
        )
    }

    /// Lines are walked until enough of them were seen; then those that look alike are not walked any more.
    #[test]
    fn what_looks_alike_is_not_walked() {
        let descriptor: Descriptor =
            toml::from_str(include_str!("../../../formats/agent-sdk.toml")).expect("sound");
        let claude = Format::compile("agent-sdk", &descriptor, false);
        let mut decoder = Decoder::new(&claude);
        for number in 0..1000 {
            let said = if number % 7 == 0 {
                "a \\\"quote\\\" and more of it".repeat(number % 50)
            } else {
                "x".into()
            };
            let line = line(number, &said);
            let outcome = decoder
                .line(Line::Whole(0, line.as_bytes()), &mut |_| {})
                .expect("in memory");
            assert_eq!(outcome, Outcome::Matched);
        }
        let templates = decoder.templates.as_ref().expect("templates");
        assert!(
            templates.hits > 780 && templates.ends.len() < 3,
            "{} {}",
            templates.hits,
            templates.ends.len()
        );
        // Neither what is wanted of an object nor what stays the same in it is stepped over bracket by bracket.
        assert!(
            !templates.steps.iter().any(|step| step.then == Then::Rest),
            "{:?}",
            templates.steps
        );
    }
}
