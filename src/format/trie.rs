//! The pointers of a descriptor as a trie: where a walker must descend, and what it must remember.
//!
//! A slot is a number for a pointer. Whatever is not on the way to a slot is stepped over.

use super::descriptor::Pointer;

pub type Slot = usize;

#[derive(Debug, Default, Clone)]
pub struct Node {
    /// Keys to look for in an object; in an array, `0` is the first element.
    pub keys: Vec<(Box<[u8]>, Node)>,
    pub slot: Option<Slot>,
    /// The elements of an array here are blocks, to be walked one by one.
    pub blocks: bool,
}

impl Node {
    pub fn child(&self, key: &[u8]) -> Option<&Node> {
        self.keys.iter().find(|(name, _)| **name == *key).map(|(_, node)| node)
    }

    fn at(&mut self, pointer: &Pointer) -> &mut Node {
        pointer.0.iter().fold(self, |node, key| {
            let found = node.keys.iter().position(|(name, _)| **name == *key.as_bytes());
            let index = found.unwrap_or_else(|| {
                node.keys.push((key.as_bytes().into(), Node::default()));
                node.keys.len() - 1
            });
            &mut node.keys[index].1
        })
    }
}

/// A trie under construction; the same pointer always gets the same slot.
#[derive(Debug, Default)]
pub struct Trie {
    pub root: Node,
    pub slots: usize,
}

impl Trie {
    pub fn slot(&mut self, pointer: &Pointer) -> Slot {
        let slots = &mut self.slots;
        *self.root.at(pointer).slot.get_or_insert_with(|| {
            *slots += 1;
            *slots - 1
        })
    }

    pub fn all(&mut self, pointers: &[Pointer]) -> Vec<Slot> {
        pointers.iter().map(|pointer| self.slot(pointer)).collect()
    }

    pub fn blocks(&mut self, pointer: &Pointer) -> Slot {
        self.root.at(pointer).blocks = true;
        self.slot(pointer)
    }
}
