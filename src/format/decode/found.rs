//! Where the values are that a walk found, and what they are.

use super::text::Raw;
use crate::entry::Id;
use crate::format::templates::{Extent, Extents, NOTHING};
use crate::format::trie::Slot;

/// The values that one walk found.
#[derive(Debug, Default)]
pub struct Captures {
    pub extents: Extents,
    /// A bit for each slot of the line that is filled, as far as there are bits.
    pub(super) filled: u128,
    /// Wanted values of a line that came in pieces.
    pub(super) kept: Vec<u8>,
}

impl Captures {
    /// More blocks than any real message has; a line of nothing but brackets must not eat the memory.
    pub(crate) const BLOCKS: usize = 1 << 16;
    /// The most that is kept of one value, and of one line, when it comes in pieces.
    pub(crate) const VALUE_BYTES: usize = 4 << 20;
    pub(crate) const LINE_BYTES: usize = 32 << 20;
    /// The beginning of what a tool answered is enough for whoever only looks for something in it.
    pub(crate) const RESULT_BYTES: usize = 4096;

    pub fn clear(&mut self, slots: usize, width: usize) {
        let Extents { all, blocks, .. } = &mut self.extents;
        all.clear();
        all.resize(slots, NOTHING);
        blocks.clear();
        (self.extents.slots, self.extents.width) = (slots, width);
        self.kept.clear();
        self.filled = 0;
    }

    /// The bytes that the values were found in: the line itself, or what was kept of it.
    pub fn bytes<'a>(&'a self, whole: Option<&'a [u8]>) -> &'a [u8] {
        whole.unwrap_or(&self.kept)
    }

    /// All slots of a set of bits are filled.
    pub fn has(&self, slots: u128) -> bool {
        self.filled & slots == slots
    }
}

impl Extents {
    pub fn line<'a>(&'a self, bytes: &'a [u8]) -> Found<'a> {
        Found {
            slots: &self.all[..self.slots],
            bytes,
        }
    }

    pub fn block<'a>(&'a self, index: usize, bytes: &'a [u8]) -> Found<'a> {
        Found {
            slots: &self.all[self.slots + index * self.width..][..self.width],
            bytes,
        }
    }

    pub(crate) fn first_block<'a>(&'a self, bytes: &'a [u8]) -> Option<Found<'a>> {
        (!self.blocks.is_empty()).then(|| self.block(0, bytes))
    }
}

/// The values found for a line or a block.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    slots: &'a [Extent],
    bytes: &'a [u8],
}

impl<'a> Found<'a> {
    pub fn get(self, slot: Slot) -> Option<Raw<'a>> {
        let &(start, end) = self.slots.get(slot)?;
        (end > start).then(|| Raw(&self.bytes[start as usize..end as usize]))
    }

    /// The first of some slots that has a value; null is none.
    pub fn first(self, slots: &[Slot]) -> Option<Raw<'a>> {
        slots
            .iter()
            .filter_map(|slot| self.get(*slot))
            .find(|raw| raw.0 != b"null")
    }

    /// The id that the first of them says.
    pub fn id(self, slots: &[Slot]) -> Option<Id> {
        self.first(slots).and_then(Raw::inside).map(Id::named)
    }
}
