//! The walker: one pass over the bytes of a JSON value that descends only where a trie does and steps over the rest.
//!
//! It remembers where the wanted values are and decodes nothing. The line may come in pieces; then the wanted bytes, and
//! only they, are kept. It does not validate more than it must to find the end of a value: a wrong byte inside something
//! that nobody wants goes unseen.

use std::borrow::Cow;
use std::io;

use super::found::Captures;
use super::rules::Watch;
use super::scan;
use super::template::Seen;
use super::text::Raw;
use crate::cursor::Pieces;
use crate::format::Shape;
use crate::format::descriptor::Pointer;
use crate::format::templates::{Extent, Extents, NOTHING, Then};
use crate::format::trie::{Node, Slot, Trie};

/// Not JSON from here on, or not readable; the walker knows which.
#[derive(Debug)]
pub struct Broken;

type Walked = Result<(), Broken>;

/// Scalars of one JSON object by their pointers, as lenient as with transcripts: of each list the first that is there.
/// None if it is no object.
pub fn pick<const N: usize>(object: &[u8], wanted: [&[Pointer]; N]) -> Option<[Option<String>; N]> {
    let mut trie = Trie::default();
    let slots = wanted.map(|pointers| trie.all(pointers));
    let mut walker = Walker::over(object);
    let is_object = walker.seek().ok()? && object.get(walker.position()) == Some(&b'{');
    let whole = is_object
        && walker.walk(&trie.root, trie.slots, None).is_ok()
        && matches!(walker.seek(), Ok(false));
    let found = walker.captures.extents.line(object);
    whole.then(|| slots.map(|slots| found.first(&slots)?.scalar().map(Cow::into_owned)))
}

/// The elements of an array; none if it is something else. The last may be cut off.
pub fn elements(raw: Raw<'_>) -> Vec<Raw<'_>> {
    let mut walker = Walker::over(raw.0);
    let mut elements = Vec::new();
    if matches!(walker.skip_space(), Ok(b'[')) {
        let _ = walker.each(|walker, _| {
            let start = walker.at;
            let skipped = walker.skip();
            elements.push(Raw(&raw.0[start..walker.at]));
            skipped
        });
    }
    elements
}

/// The keys and values of an object; none if it is something else. The last may be cut off.
pub fn members(raw: Raw<'_>) -> Vec<(String, Raw<'_>)> {
    let mut walker = Walker::over(raw.0);
    let mut members = Vec::new();
    let mut next = |walker: &mut Walker<&[u8]>| -> Result<bool, Broken> {
        walker.at += 1;
        if walker.skip_space()? != b'"' {
            return Ok(false);
        }
        let start = walker.at;
        walker.string()?;
        let key = Raw(&raw.0[start..walker.at])
            .text()
            .unwrap_or_default()
            .into_owned();
        if walker.skip_space()? != b':' {
            return Err(Broken);
        }
        walker.at += 1;
        walker.skip_space()?;
        let start = walker.at;
        let skipped = walker.skip();
        members.push((key, Raw(&raw.0[start..walker.at])));
        skipped?;
        Ok(walker.skip_space()? == b',')
    };
    if matches!(walker.skip_space(), Ok(b'{')) {
        while matches!(next(&mut walker), Ok(true)) {}
    }
    members
}

pub struct Walker<'n, P> {
    pieces: P,
    at: usize,
    /// The line comes in pieces, so wanted values must be kept.
    keep: bool,
    /// The values that are being kept, each inside the one before it.
    keeping: Vec<Keeping>,
    /// So much is kept of what a tool answered, which is long and mostly of no interest.
    pub results: usize,
    pub captures: Captures,
    /// Why the next piece could not be read.
    pub error: Option<io::Error>,
    /// The values that were stepped over, if somebody wants to know.
    pub seen: Option<Vec<Seen>>,
    /// None if no elements of an array are walked as blocks.
    blocks: Option<&'n Shape>,
}

/// A value of a line in pieces, from its beginning to where the walker is.
struct Keeping {
    /// Its bytes in earlier pieces.
    bytes: Vec<u8>,
    /// It goes on here in the current piece.
    from: usize,
    /// So much of it is kept.
    most: usize,
}

/// Appends as much as there is room for.
fn fill(bytes: &mut Vec<u8>, most: usize, more: &[u8]) {
    let room = most.saturating_sub(bytes.len());
    bytes.extend_from_slice(&more[..more.len().min(room)]);
}

#[derive(Clone, Copy)]
enum Into {
    Line,
    /// The slots of a block begin with this index.
    Block(usize),
}

impl Into {
    fn index(self, slot: Slot) -> usize {
        match self {
            Into::Line => slot,
            Into::Block(start) => start + slot,
        }
    }
}

impl<'a> Walker<'a, &'a [u8]> {
    /// For a value that is at hand, without blocks.
    pub fn over(value: &'a [u8]) -> Walker<'a, &'a [u8]> {
        Walker::new(value, false, Captures::default(), None)
    }
}

impl<'n, P: Pieces> Walker<'n, P> {
    pub fn new(
        pieces: P,
        keep: bool,
        captures: Captures,
        blocks: Option<&'n Shape>,
    ) -> Walker<'n, P> {
        let results = Captures::RESULT_BYTES;
        Walker {
            pieces,
            at: 0,
            keep,
            keeping: Vec::new(),
            results,
            captures,
            error: None,
            seen: None,
            blocks,
        }
    }

    /// Goes to the next value on the line; false if there is none. NUL bytes, white space and a byte order mark before
    /// a value are what a crashed writer or an editor left.
    pub fn seek(&mut self) -> Result<bool, Broken> {
        loop {
            match self.peek()? {
                None => return Ok(false),
                Some(b' ' | b'\t' | b'\r' | b'\n' | 0 | 0xef | 0xbb | 0xbf) => self.at += 1,
                Some(_) => return Ok(true),
            }
        }
    }

    /// Walks one value. With a watch, the walk ends where the rest is of no interest; false says so.
    pub fn walk(
        &mut self,
        root: &Node,
        slots: usize,
        watch: Option<&mut Watch>,
    ) -> Result<bool, Broken> {
        self.captures
            .clear(slots, self.blocks.map_or(0, |blocks| blocks.slots));
        match (watch, self.skip_space()?) {
            (Some(watch), b'{') if !self.keep => self.members(root, Into::Line, &mut |walker| {
                walker.captures.has(watch.waits_for)
                    && watch.is_over(&walker.captures, walker.pieces.piece())
            }),
            _ => self.value(root, Into::Line).map(|()| true),
        }
    }

    /// In the current piece.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Goes back to a position in the current piece.
    pub fn rewind(&mut self, position: usize) {
        self.at = position;
    }

    /// The byte at hand, in this piece or the next.
    #[inline]
    fn peek(&mut self) -> Result<Option<u8>, Broken> {
        if let Some(&byte) = self.pieces.piece().get(self.at) {
            return Ok(Some(byte));
        }
        Ok(if self.more()? {
            Some(self.pieces.piece()[self.at])
        } else {
            None
        })
    }

    /// Goes on to the next piece; if there is none, stays at the end of this one.
    #[cold]
    fn more(&mut self) -> Result<bool, Broken> {
        for value in &mut self.keeping {
            fill(
                &mut value.bytes,
                value.most,
                &self.pieces.piece()[value.from..self.at],
            );
        }
        let more = self.pieces.advance().map_err(|error| {
            self.error = Some(error);
            Broken
        })?;
        if more {
            self.at = 0;
        }
        self.keeping
            .iter_mut()
            .for_each(|value| value.from = self.at);
        Ok(more)
    }

    /// Keeps a value from here on.
    #[cold]
    fn begin(&mut self, node: &Node, is_container: bool) {
        let most = match () {
            () if node.result => self.results,
            // A container that the trie enters is found in its parts; of itself it is enough that it is there.
            () if is_container && (node.blocks || !node.is_leaf()) => 1,
            // What a call writes is of use only as a whole.
            () if is_container && self.results >= Captures::VALUE_BYTES => Captures::LINE_BYTES,
            () => self.results.max(Captures::VALUE_BYTES),
        };
        self.keeping.push(Keeping {
            bytes: Vec::new(),
            from: self.at,
            most,
        });
    }

    /// The extent of the value that began last and ends here.
    #[cold]
    fn end(&mut self) -> Extent {
        let Some(value) = self.keeping.pop() else {
            return NOTHING;
        };
        let kept = &mut self.captures.kept;
        let start = kept.len();
        let most = Captures::LINE_BYTES.min(start + value.most);
        fill(kept, most, &value.bytes);
        fill(kept, most, &self.pieces.piece()[value.from..self.at]);
        // No more than `LINE_BYTES`.
        (start as u32, kept.len() as u32)
    }

    /// A line has no newline in it, but an object that a call carries as a text may.
    #[inline]
    fn skip_space(&mut self) -> Result<u8, Broken> {
        loop {
            match self.peek()? {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                Some(byte) => return Ok(byte),
                None => return Err(Broken),
            }
        }
    }

    fn value(&mut self, node: &Node, into: Into) -> Walked {
        // The first value of a key counts, as for whoever reads from the left.
        let known = node
            .slot
            .and_then(|slot| self.captures.extents.all.get(into.index(slot)));
        if known.is_some_and(|extent| *extent != NOTHING) {
            return self.skip();
        }
        let first = self.skip_space()?;
        let start = self.at;
        let keeps = self.keep && node.slot.is_some();
        if keeps {
            self.begin(node, matches!(first, b'{' | b'['));
        }
        match first {
            b'"' => self.text()?,
            b'{' if !node.is_leaf() => self.object(node, into)?,
            b'[' if node.blocks && matches!(into, Into::Line) => self.blocks(node)?,
            b'[' if !node.is_leaf() => self.elements(node, into)?,
            b'{' if node.blocks && matches!(into, Into::Line) => {
                self.block(node.slot.unwrap_or(0))?;
            }
            b'{' | b'[' => self.container()?,
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => self.scalar()?,
            _ => return Err(Broken),
        }
        if let Some(slot) = node.slot {
            // No piece is four gigabytes long: what does not fit the buffer comes in several.
            let extent = if keeps {
                self.end()
            } else {
                (start as u32, self.at as u32)
            };
            self.put(into, slot, extent);
        }
        Ok(())
    }

    fn put(&mut self, into: Into, slot: Slot, found: Extent) {
        if let Some(extent) = self.captures.extents.all.get_mut(into.index(slot)) {
            *extent = found;
            if let Into::Line = into
                && slot < 128
            {
                self.captures.filled |= 1 << slot;
            }
        }
    }

    fn object(&mut self, node: &Node, into: Into) -> Walked {
        self.members(node, into, &mut |_| false).map(|_| ())
    }

    /// The members of an object, until one after which it is over; false if it was.
    #[inline(always)]
    fn members(
        &mut self,
        node: &Node,
        into: Into,
        is_over: &mut dyn FnMut(&Self) -> bool,
    ) -> Result<bool, Broken> {
        self.at += 1;
        if self.skip_space()? == b'}' {
            self.at += 1;
            return Ok(true);
        }
        let mut below = node.below;
        loop {
            match self.member(node)? {
                Some(child) => {
                    self.value(child, into)?;
                    if is_over(self) {
                        return Ok(false);
                    }
                    let all = below != 0 && matches!(into, Into::Line) && self.captures.has(below);
                    if all && let Some(end) = scan::rest(self.pieces.piece(), self.at) {
                        self.leave(end);
                        return Ok(true);
                    }
                    if all {
                        // It does not end in this piece; looking again after every member would take long.
                        below = 0;
                    }
                }
                None => self.skip()?,
            }
            match self.skip_space()? {
                b',' => self.at += 1,
                b'}' => break,
                _ => return Err(Broken),
            }
        }
        self.at += 1;
        Ok(true)
    }

    /// Goes to the value of the next member, and says where its key leads.
    #[inline]
    fn member<'k>(&mut self, node: &'k Node) -> Result<Option<&'k Node>, Broken> {
        if self.skip_space()? != b'"' {
            return Err(Broken);
        }
        let child = self.key(node)?;
        if self.skip_space()? != b':' {
            return Err(Broken);
        }
        self.at += 1;
        Ok(child)
    }

    /// Reads a key and looks it up. A key that is cut in two by a piece's end, or written with escapes, is put
    /// together first, unless it gets longer than all that are looked for.
    #[inline]
    fn key<'k>(&mut self, node: &'k Node) -> Result<Option<&'k Node>, Broken> {
        let piece = self.pieces.piece();
        let start = self.at + 1;
        if let Some(length) = scan::key(&piece[start..]) {
            self.at = start + length + 1;
            return Ok(node.child(&piece[start..start + length]));
        }
        // Any character may be written in six: `\u0061`.
        let longest = 6 * node.longest_key() + 1;
        let mut key = vec![b'"'];
        self.at += 1;
        loop {
            match self.peek()? {
                None => return Err(Broken),
                Some(_) if key.len() > longest => return self.rest_of_string().map(|()| None),
                Some(b'"') => break,
                Some(byte) => {
                    key.push(byte);
                    self.at += 1;
                    if byte == b'\\' {
                        key.push(self.peek()?.ok_or(Broken)?);
                        self.at += 1;
                    }
                }
            }
        }
        self.at += 1;
        key.push(b'"');
        Ok(Raw(&key).text().and_then(|key| node.child(key.as_bytes())))
    }

    fn blocks(&mut self, node: &Node) -> Walked {
        self.each(|walker, _| walker.block(node.slot.unwrap_or(0)))
    }

    fn block(&mut self, under: Slot) -> Walked {
        let Extents {
            all, width, blocks, ..
        } = &mut self.captures.extents;
        let Some(shape) = self.blocks.filter(|_| blocks.len() < Captures::BLOCKS) else {
            return self.skip();
        };
        let start = all.len();
        all.resize(start + *width, NOTHING);
        blocks.push(under);
        self.value(&shape.root, Into::Block(start))
    }

    fn elements(&mut self, node: &Node, into: Into) -> Walked {
        self.each(
            |walker, index| match node.child(index.to_string().as_bytes()) {
                Some(child) => walker.value(child, into),
                None => walker.skip(),
            },
        )
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
                _ => return Err(Broken),
            }
        }
        self.at += 1;
        Ok(())
    }

    fn skip(&mut self) -> Walked {
        match self.skip_space()? {
            b'"' => self.text(),
            b'{' | b'[' => self.container(),
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => self.scalar(),
            _ => Err(Broken),
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
                return Err(Broken);
            }
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Walked {
        let start = self.at;
        while let Some(b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E') = self.peek()? {
            self.at += 1;
        }
        self.note(start, Then::Number);
        Ok(())
    }

    fn container(&mut self) -> Walked {
        let start = self.at + 1;
        if let Some(end) = scan::rest(self.pieces.piece(), start) {
            self.at = end;
            self.note(start, Then::Rest);
            return Ok(());
        }
        let mut depth = 0usize;
        loop {
            match self.peek()?.ok_or(Broken)? {
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

    /// A string that is a value.
    fn text(&mut self) -> Walked {
        let start = self.at + 1;
        self.string()?;
        self.note(start, Then::Text);
        Ok(())
    }

    /// Notes a value that varies from there to here.
    #[inline]
    fn note(&mut self, start: usize, then: Then) {
        if let Some(seen) = &mut self.seen {
            seen.push((start, self.at, then));
        }
    }

    /// Goes to where the object ends that it is in. If somebody wants to know the values there, and all is in order, each
    /// of them is noted, because most of them stay the same from line to line.
    fn leave(&mut self, end: usize) {
        let start = self.at;
        if let Some(known) = self.seen.as_ref().map(Vec::len)
            && !(self.finish().is_ok() && self.at == end)
            && let Some(seen) = &mut self.seen
        {
            seen.truncate(known);
            seen.push((start, end, Then::Rest));
        }
        self.at = end;
    }

    /// Walks to the end of an object of which nothing more is wanted.
    pub fn finish(&mut self) -> Walked {
        let nothing = Node::default();
        loop {
            match self.skip_space()? {
                b',' => self.at += 1,
                b'}' => break,
                _ => return Err(Broken),
            }
            self.member(&nothing)?;
            self.skip()?;
        }
        self.at += 1;
        Ok(())
    }

    fn string(&mut self) -> Walked {
        self.at += 1;
        self.rest_of_string()
    }

    fn rest_of_string(&mut self) -> Walked {
        if let Some(end) = scan::string(self.pieces.piece(), self.at) {
            self.at = end;
            return Ok(());
        }
        loop {
            // Not in this piece. Its last bytes may be backslashes that go with the next one.
            let rest = &self.pieces.piece()[self.at..];
            let escapes = rest.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
            self.at = self.pieces.piece().len();
            if !self.more()? {
                return Err(Broken);
            }
            self.at = usize::from(escapes);
            if let Some(end) = scan::string(self.pieces.piece(), self.at) {
                self.at = end;
                return Ok(());
            }
        }
    }
}
