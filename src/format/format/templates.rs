//! What the lines of a format look like, learned from lines that were read.
//!
//! A client writes the same keys in the same order over and over. A template has the bytes that stand between the values
//! of a line, and says which values are wanted. Templates that begin alike share their first steps. This is the data;
//! `decode` learns and compares. A format keeps it, so that what was learned in one file serves in the next.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};

use super::trie::Slot;
use crate::entry::Id;
use crate::hash::HashMap;

/// A tree of steps, in the order in which they were learned: what follows a step stands beside it as a rule.
#[derive(Debug, Default)]
pub struct Templates {
    /// The first steps of all lines, as [`Step::next`].
    pub first: Option<NonZero<u32>>,
    pub steps: Vec<Step>,
    /// The bytes of all steps.
    pub literals: Vec<u8>,
    pub ends: Vec<Template>,
    /// The beginnings of the steps in the last line.
    pub starts: Vec<u32>,
    /// The values that follow some bytes, as long as it was always the same one; none if it varies. Both are hashes.
    pub values: HashMap<Id, Option<Id>>,
    /// The number of lines that looked like one of them, and of those that did not.
    pub hits: usize,
    pub misses: usize,
}

/// Some bytes as they must stand in a line, and what comes after them.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// The range of the bytes among the literals.
    pub literal: (u32, u32),
    pub then: Then,
    /// The first of the steps that may come after this one, and the next that may come in its place; counted from 1.
    pub next: Option<NonZero<u32>>,
    pub other: Option<NonZero<u32>>,
}

/// After the bytes of a step comes a value that differs from line to line, or the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// The rest of a string, with its closing quote.
    Text,
    Number,
    /// The rest of an object or an array, with its closing bracket.
    Rest,
    /// Which of the ends it is.
    End(u32),
}

/// Known of a whole line that fits.
#[derive(Debug, Default)]
pub struct Template {
    /// The rule it falls under; none if that is still to be found out.
    pub rule: Option<usize>,
    /// The rule that each of its blocks falls under, if any.
    pub block_rules: Vec<Option<usize>>,
    /// Nothing in it is wanted.
    pub ignored: bool,
    /// The values of the last line that fits. Their places differ for these, by their indices.
    pub extents: Extents,
    pub spots: Vec<(usize, Spot, Spot)>,
}

/// The places of the values of a line, and of the blocks in it.
#[derive(Debug, Clone, Default)]
pub struct Extents {
    /// By slot: first those of the line, then those of each block.
    pub all: Vec<Extent>,
    /// The number of slots of a line, and of a block.
    pub slots: usize,
    pub width: usize,
    /// For each block, under which slot it was found.
    pub blocks: Vec<Slot>,
}

/// Start and end of a value. The part of a line that is held is never long enough for more than 32 bits.
pub type Extent = (u32, u32);

pub const NOTHING: Extent = (0, 0);

/// A place in a line: so many bytes after the beginning of a step.
#[derive(Debug, Clone, Copy)]
pub struct Spot {
    pub step: u32,
    pub offset: u32,
}

/// The templates that are not in use: each decoder takes some, and gives them back.
#[derive(Debug, Default)]
pub struct Pool(Mutex<Vec<Templates>>);

impl Pool {
    pub fn take(&self) -> Templates {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
            .unwrap_or_default()
    }

    pub fn give(&self, templates: Templates) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(templates);
    }
}
