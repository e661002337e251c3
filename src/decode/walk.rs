//! The walker: one pass over the bytes of a JSON value that descends only where a trie does and steps over the rest.
//!
//! It remembers where the wanted values are and decodes nothing. The line may come in pieces; then the wanted bytes, and
//! only they, are kept. It does not validate more than it must to find the end of a value: a wrong byte inside something
//! that nobody wants goes unseen.

use std::io;
use std::ops::Range;

use crate::cursor::Pieces;
use crate::decode::text::Raw;
use crate::format::trie::{Node, Slot};

/// Why a walk ended early.
#[derive(Debug)]
pub enum Stop {
    /// Not JSON from here on.
    Broken,
    Io(io::Error),
}

type Walked = Result<(), Stop>;

/// What one walk found: for each slot the value's place, and the blocks found under content slots.
#[derive(Debug, Default)]
pub struct Captures {
    slots: Vec<Range<usize>>,
    /// The slots of all blocks, one after another.
    block_slots: Vec<Range<usize>>,
    /// For each block, under which slot it was found.
    pub blocks: Vec<Slot>,
    width: usize,
    /// Wanted values of a line that came in pieces.
    kept: Vec<u8>,
}

const NOTHING: Range<usize> = 0..0;

impl Captures {
    /// More blocks than any real message has; a line of nothing but brackets must not eat the memory.
    const MOST_BLOCKS: usize = 1 << 16;
    /// The most that is kept of one value, and of one line, when it comes in pieces.
    const MOST_OF_VALUE: usize = 4 << 20;
    const MOST_OF_LINE: usize = 32 << 20;

    fn clear(&mut self, slots: usize, width: usize) {
        self.slots.clear();
        self.slots.resize(slots, NOTHING);
        self.block_slots.clear();
        self.blocks.clear();
        self.kept.clear();
        self.width = width;
    }

    /// The values of the line, over the bytes they were found in: the line itself, or what was kept of it.
    pub fn line<'a>(&'a self, whole: Option<&'a [u8]>) -> Found<'a> {
        Found { slots: &self.slots, bytes: whole.unwrap_or(&self.kept) }
    }

    pub fn block<'a>(&'a self, index: usize, whole: Option<&'a [u8]>) -> Found<'a> {
        let slots = &self.block_slots[index * self.width..(index + 1) * self.width];
        Found { slots, bytes: whole.unwrap_or(&self.kept) }
    }
}

/// The values found for a line or a block.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    slots: &'a [Range<usize>],
    bytes: &'a [u8],
}

impl<'a> Found<'a> {
    pub fn get(self, slot: Slot) -> Option<Raw<'a>> {
        let range = self.slots.get(slot)?;
        (range.end > range.start).then(|| Raw(&self.bytes[range.clone()]))
    }

    /// The first of some slots that has a value; null is none.
    pub fn first(self, slots: &[Slot]) -> Option<Raw<'a>> {
        slots.iter().filter_map(|slot| self.get(*slot)).find(|raw| raw.0 != b"null")
    }
}

pub struct Walker<'n, P> {
    pieces: P,
    at: usize,
    /// Whether the line comes in pieces, so that wanted values must be kept.
    keep: bool,
    /// The value that is being kept: where it starts in `kept`, and in the current piece.
    keeping: Option<(usize, usize)>,
    pub captures: Captures,
    block_root: &'n Node,
}

/// Where a walk puts what it finds.
#[derive(Clone, Copy)]
enum Into {
    Line,
    Block(usize),
}

impl<'n, P: Pieces> Walker<'n, P> {
    pub fn new(pieces: P, keep: bool, captures: Captures, block_root: &'n Node) -> Walker<'n, P> {
        Walker { pieces, at: 0, keep, keeping: None, captures, block_root }
    }

    /// Goes to the next value on the line; false if there is none. NUL bytes, white space and a byte order mark before
    /// a value are what a crashed writer or an editor left.
    pub fn seek(&mut self) -> Result<bool, Stop> {
        loop {
            match self.peek()? {
                None => return Ok(false),
                Some(b' ' | b'\t' | b'\r' | 0 | 0xef | 0xbb | 0xbf) => self.at += 1,
                Some(_) => return Ok(true),
            }
        }
    }

    /// Walks one value.
    pub fn walk(&mut self, root: &Node, slots: usize, block_width: usize) -> Walked {
        self.captures.clear(slots, block_width);
        self.value(root, Into::Line)
    }

    /// Where each element of an array is, if this is one.
    pub fn element_places(&mut self) -> Result<Vec<Range<usize>>, Stop> {
        let mut places = Vec::new();
        if self.skip_space()? == b'[' {
            self.each(|walker, _| {
                let start = walker.at;
                walker.skip()?;
                places.push(start..walker.at);
                Ok(())
            })?;
        }
        Ok(places)
    }

    /// The byte at hand, in this piece or the next.
    #[inline]
    fn peek(&mut self) -> Result<Option<u8>, Stop> {
        if let Some(&byte) = self.pieces.piece().get(self.at) {
            return Ok(Some(byte));
        }
        Ok(if self.more()? { Some(self.pieces.piece()[self.at]) } else { None })
    }

    #[cold]
    fn more(&mut self) -> Result<bool, Stop> {
        self.save();
        self.at = 0;
        let more = self.pieces.advance().map_err(Stop::Io)?;
        if let Some((_, from)) = &mut self.keeping {
            *from = 0;
        }
        Ok(more)
    }

    /// Copies what has been walked of the value that is being kept.
    fn save(&mut self) {
        if let Some((start, from)) = self.keeping {
            let kept = &mut self.captures.kept;
            let room = Captures::MOST_OF_VALUE.saturating_sub(kept.len() - start);
            let room = room.min(Captures::MOST_OF_LINE.saturating_sub(kept.len()));
            let piece = &self.pieces.piece()[from..self.at];
            kept.extend_from_slice(&piece[..piece.len().min(room)]);
        }
    }

    #[inline]
    fn skip_space(&mut self) -> Result<u8, Stop> {
        loop {
            match self.peek()? {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(byte) => return Ok(byte),
                None => return Err(Stop::Broken),
            }
        }
    }

    fn value(&mut self, node: &Node, into: Into) -> Walked {
        let first = self.skip_space()?;
        let container = matches!(first, b'{' | b'[');
        // A container that the trie enters is found in its parts; it is not kept as a whole.
        let enters = container && (node.blocks || !node.keys.is_empty());
        let start = self.at;
        if self.keep && node.slot.is_some() && !enters {
            self.keeping = Some((self.captures.kept.len(), start));
        }
        match first {
            b'"' => self.string()?,
            b'{' if !node.keys.is_empty() => self.object(node, into)?,
            b'[' if node.blocks && matches!(into, Into::Line) => self.blocks(node)?,
            b'[' if !node.keys.is_empty() => self.elements(node, into)?,
            b'{' if node.blocks && matches!(into, Into::Line) => self.block(node.slot.unwrap_or(0))?,
            b'{' | b'[' => self.container()?,
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => self.scalar()?,
            _ => return Err(Stop::Broken),
        }
        if let Some(slot) = node.slot {
            let range = match self.keeping {
                Some((start, _)) => {
                    self.save();
                    start..self.captures.kept.len()
                }
                None if self.keep => NOTHING,
                None => start..self.at,
            };
            self.keeping = None;
            self.put(into, slot, range);
        }
        Ok(())
    }

    /// The first value of a key counts, as for whoever reads from the left.
    fn put(&mut self, into: Into, slot: Slot, range: Range<usize>) {
        let place = match into {
            Into::Line => self.captures.slots.get_mut(slot),
            Into::Block(start) => self.captures.block_slots.get_mut(start + slot),
        };
        if let Some(place) = place.filter(|place| **place == NOTHING) {
            *place = range;
        }
    }

    fn object(&mut self, node: &Node, into: Into) -> Walked {
        self.at += 1;
        if self.skip_space()? == b'}' {
            self.at += 1;
            return Ok(());
        }
        loop {
            if self.skip_space()? != b'"' {
                return Err(Stop::Broken);
            }
            let child = self.key(node)?;
            if self.skip_space()? != b':' {
                return Err(Stop::Broken);
            }
            self.at += 1;
            match child {
                Some(child) => self.value(child, into)?,
                None => self.skip()?,
            }
            match self.skip_space()? {
                b',' => self.at += 1,
                b'}' => break,
                _ => return Err(Stop::Broken),
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Reads a key and looks it up. A key that is cut in two by a piece's end, or written with escapes, is put
    /// together first.
    fn key<'k>(&mut self, node: &'k Node) -> Result<Option<&'k Node>, Stop> {
        let start = self.at;
        let piece = self.pieces.piece();
        let end = piece[start + 1..].iter().position(|byte| matches!(byte, b'"' | b'\\')).map(|at| start + 1 + at);
        if let Some(end) = end
            && piece[end] == b'"'
        {
            self.at = end + 1;
            return Ok(node.child(&self.pieces.piece()[start + 1..end]));
        }
        let mut key = vec![b'"'];
        self.at += 1;
        loop {
            match self.peek()? {
                None => return Err(Stop::Broken),
                Some(b'"') => break,
                Some(byte) => {
                    key.push(byte);
                    self.at += 1;
                    if byte == b'\\' {
                        key.extend(self.peek()?);
                        self.at += 1;
                    }
                }
            }
        }
        self.at += 1;
        Ok(Raw(&key).text().and_then(|key| node.child(key.as_bytes())))
    }

    fn blocks(&mut self, node: &Node) -> Walked {
        self.each(|walker, _| walker.block(node.slot.unwrap_or(0)))
    }

    fn block(&mut self, under: Slot) -> Walked {
        if self.captures.blocks.len() >= Captures::MOST_BLOCKS {
            return self.skip();
        }
        let start = self.captures.block_slots.len();
        self.captures.block_slots.resize(start + self.captures.width, NOTHING);
        self.captures.blocks.push(under);
        let root = self.block_root;
        self.value(root, Into::Block(start))
    }

    fn elements(&mut self, node: &Node, into: Into) -> Walked {
        self.each(|walker, index| match node.child(index.to_string().as_bytes()) {
            Some(child) => walker.value(child, into),
            None => walker.skip(),
        })
    }

    fn each(&mut self, mut element: impl FnMut(&mut Self, usize) -> Walked) -> Walked {
        self.at += 1;
        if self.skip_space()? == b']' {
            self.at += 1;
            return Ok(());
        }
        for index in 0.. {
            self.skip_space()?;
            element(self, index)?;
            match self.skip_space()? {
                b',' => self.at += 1,
                b']' => break,
                _ => return Err(Stop::Broken),
            }
        }
        self.at += 1;
        Ok(())
    }

    fn skip(&mut self) -> Walked {
        match self.skip_space()? {
            b'"' => self.string(),
            b'{' | b'[' => self.container(),
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => self.scalar(),
            _ => Err(Stop::Broken),
        }
    }

    fn scalar(&mut self) -> Walked {
        let word: &[u8] = match self.peek()? {
            Some(b't') => b"true",
            Some(b'f') => b"false",
            Some(b'n') => b"null",
            _ => return self.number(),
        };
        for byte in word {
            if self.peek()? != Some(*byte) {
                return Err(Stop::Broken);
            }
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Walked {
        while let Some(b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E') = self.peek()? {
            self.at += 1;
        }
        Ok(())
    }

    /// Steps over an object or an array by counting brackets outside strings.
    fn container(&mut self) -> Walked {
        let mut depth = 0usize;
        loop {
            match self.peek()?.ok_or(Stop::Broken)? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Steps over a string. Only quotes are looked for: whether one is escaped is told by the backslashes before it,
    /// which is cheaper than stopping at every `\n` of a tool's output.
    fn string(&mut self) -> Walked {
        self.at += 1;
        // Whether the piece before ended in an odd number of backslashes.
        let mut escaped = false;
        loop {
            let piece = self.pieces.piece();
            let mut from = self.at;
            if escaped && from < piece.len() {
                from += 1;
                escaped = false;
            }
            let mut search = from;
            while let Some(found) = super::scan::quote(&piece[search..]) {
                let quote = search + found;
                if backslashes(&piece[from..quote]).is_multiple_of(2) {
                    self.at = quote + 1;
                    return Ok(());
                }
                search = quote + 1;
                from = search;
            }
            if from < piece.len() {
                escaped = !backslashes(&piece[from..]).is_multiple_of(2);
            }
            self.at = piece.len();
            if !self.more()? {
                return Err(Stop::Broken);
            }
        }
    }
}

fn backslashes(before: &[u8]) -> usize {
    before.iter().rev().take_while(|byte| **byte == b'\\').count()
}
