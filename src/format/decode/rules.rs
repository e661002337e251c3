//! Which rule a record falls under, as early as that can be told.

use super::found::{Captures, Found};
use super::text::Raw;
use crate::format::descriptor::Expect;
use crate::format::{Rule, Shape, Test};

/// The first rule that fits a block, or a line with its first block.
pub fn rule<'s>(shape: &'s Shape, found: Found, first: Option<Found>) -> Option<&'s Rule> {
    candidates(shape, found)
        .iter()
        .map(|index| &shape.rules[*index])
        .find(|rule| fits(rule, found, first))
}

fn candidates<'s>(shape: &'s Shape, found: Found) -> &'s [usize] {
    let kind = shape.kind.and_then(|slot| found.get(slot));
    shape.candidates(|text| kind.is_some_and(|raw| raw.is_text(text)))
}

fn fits(rule: &Rule, found: Found, first: Option<Found>) -> bool {
    hold(&rule.when, found)
        && (rule.first.is_empty() || first.is_some_and(|first| hold(&rule.first, first)))
}

pub fn hold(tests: &[Test], found: Found) -> bool {
    tests.iter().all(|test| holds(test, found.get(test.slot)))
}

#[inline]
fn holds(test: &Test, value: Option<Raw>) -> bool {
    test.any.iter().any(|expected| match expected {
        Expect::Text(text) => value.is_some_and(|raw| raw.is_text(text)),
        Expect::Absent => !value.is_some_and(Raw::is_there),
        Expect::Present => value.is_some_and(Raw::is_there),
        Expect::True => value.is_some_and(|raw| raw.0 == b"true"),
        Expect::Number(number) => value.and_then(Raw::number) == Some(*number as f64),
    })
}

/// Tells when the rest of a record can be left alone: no rule is left for it, or the one it falls under has all it wants.
pub struct Watch<'s> {
    shape: &'s Shape,
    left: Option<&'s [usize]>,
    /// Nothing can be told before these slots are filled.
    pub waits_for: u128,
    /// The rule, if it was settled.
    pub rule: Option<&'s Rule>,
}

impl<'s> Watch<'s> {
    pub fn new(shape: &'s Shape) -> Watch<'s> {
        let waits_for = shape
            .kind
            .filter(|kind| *kind < 128)
            .map_or(u128::MAX, |kind| 1 << kind);
        Watch {
            shape,
            left: None,
            waits_for,
            rule: None,
        }
    }

    /// To be asked when what it waits for is there.
    pub fn is_over(&mut self, captures: &Captures, line: &[u8]) -> bool {
        let found = captures.extents.line(line);
        let mut left = self.left.unwrap_or_else(|| candidates(self.shape, found));
        while let Some(rule) = left.first().map(|index| &self.shape.rules[*index]) {
            let ruled_out = |test: &Test| {
                test.is_text()
                    && found
                        .get(test.slot)
                        .is_some_and(|raw| !holds(test, Some(raw)))
            };
            if !rule.when.iter().any(ruled_out) {
                self.left = Some(left);
                self.waits_for = if rule.enough == 0 {
                    rule.asked & !captures.filled
                } else {
                    rule.enough
                };
                if self.waits_for == 0 {
                    // Only the end of the record can tell.
                    self.waits_for = u128::MAX;
                }
                if rule.enough == 0 || !captures.has(rule.enough) {
                    return false;
                }
                if fits(rule, found, captures.extents.first_block(line)) {
                    self.rule = Some(rule);
                    return true;
                }
            }
            left = &left[1..];
        }
        true
    }
}
