//! The pointers of a descriptor as a trie: where a walker must descend, and what it must remember.
//!
//! A slot is a number for a pointer. Whatever is not on the way to a slot is stepped over.

use serde::{Deserialize, Serialize};

use super::written::Pointer;

pub type Slot = usize;

#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub struct Node {
    /// Keys to look for in an object; in an array, `0` is the first element.
    keys: Vec<(Key, Node)>,
    /// A bit for the length and first byte of each key: most keys of a line are told apart by that alone.
    filter: u64,
    pub slot: Option<Slot>,
    /// The slots further down, as bits: when all are filled, the rest can be skipped. 0 if a slot has no bit.
    pub below: u128,
    /// A tool's answer.
    pub result: bool,
    /// The elements of an array here are blocks, to be walked one by one.
    pub blocks: bool,
}

/// A key, with its first bytes as a number: most comparisons end there.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Key {
    head: u64,
    name: Box<str>,
}

/// The first eight bytes, or fewer with zeros after them.
#[inline]
fn head(name: &[u8]) -> u64 {
    match name.first_chunk::<8>() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => name
            .iter()
            .rev()
            .fold(0, |head, byte| head << 8 | u64::from(*byte)),
    }
}

#[inline]
fn bit(name: &[u8]) -> u64 {
    1 << ((name.len() * 7 + usize::from(name.first().copied().unwrap_or(0))) % 64)
}

impl Node {
    #[inline]
    pub fn child(&self, key: &[u8]) -> Option<&Node> {
        if self.filter & bit(key) == 0 {
            return None;
        }
        let wanted = head(key);
        let is = |known: &Key| {
            known.head == wanted
                && known.name.len() == key.len()
                && (key.len() <= 8 || known.name.as_bytes()[8..] == key[8..])
        };
        self.keys
            .iter()
            .find(|(known, _)| is(known))
            .map(|(_, node)| node)
    }

    /// The keys that some slots stand under, each once.
    pub fn names<'n>(&'n self, slots: &[Slot], names: &mut Vec<&'n str>) {
        for (key, node) in &self.keys {
            let is_new = |slot: &Slot| slots.contains(slot) && !names.contains(&&*key.name);
            names.extend(node.slot.filter(is_new).map(|_| &*key.name));
            node.names(slots, names);
        }
    }

    /// In bytes.
    pub(crate) fn longest_key(&self) -> usize {
        self.keys
            .iter()
            .map(|(key, _)| key.name.len())
            .max()
            .unwrap_or(0)
    }

    pub(crate) fn is_leaf(&self) -> bool {
        self.keys.is_empty()
    }

    /// Fills in `below` everywhere, once all slots are known.
    pub(crate) fn sum_up(&mut self) {
        let mut bits = Some(0u128);
        for (_, child) in &mut self.keys {
            child.sum_up();
            let own = child
                .slot
                .map_or(Some(0), |slot| (slot < 128).then(|| 1 << slot));
            let under = if child.is_leaf() {
                Some(0)
            } else {
                Some(child.below).filter(|bits| *bits != 0)
            };
            bits = bits
                .zip(own)
                .zip(under)
                .map(|((bits, own), under)| bits | own | under);
        }
        self.below = bits.unwrap_or(0);
    }

    fn at(&mut self, pointer: &Pointer) -> &mut Node {
        pointer.0.iter().fold(self, |node, key| {
            let found = node.keys.iter().position(|(known, _)| *known.name == **key);
            let index = found.unwrap_or_else(|| {
                node.filter |= bit(key.as_bytes());
                node.keys.push((
                    Key {
                        head: head(key.as_bytes()),
                        name: key.as_str().into(),
                    },
                    Node::default(),
                ));
                node.keys.len() - 1
            });
            &mut node.keys[index].1
        })
    }
}

/// A trie under construction; the same pointer always gets the same slot.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Trie {
    pub root: Node,
    pub slots: usize,
}

impl Trie {
    pub(crate) fn slot(&mut self, pointer: &Pointer) -> Slot {
        let slots = &mut self.slots;
        *self.root.at(pointer).slot.get_or_insert_with(|| {
            *slots += 1;
            *slots - 1
        })
    }

    pub fn all(&mut self, pointers: &[Pointer]) -> Vec<Slot> {
        pointers.iter().map(|pointer| self.slot(pointer)).collect()
    }

    pub fn result(&mut self, pointer: &Pointer) -> Slot {
        self.root.at(pointer).result = true;
        self.slot(pointer)
    }

    pub fn blocks(&mut self, pointer: &Pointer) -> Slot {
        self.root.at(pointer).blocks = true;
        self.slot(pointer)
    }
}
