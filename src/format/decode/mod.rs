//! From lines to entries, by a format.
//!
//! A line is walked once ([`walk`]); then the rules of the format say what it is, and only the strings that are wanted are
//! decoded. A line that is not JSON costs itself: it is counted and, where a whole record follows a cut one on the same
//! line, that record is read.
//!
//! Which file uses which:
//! ```text
//! detail ──▶ text, verbs, walk
//! found ──▶ text
//! record ──▶ detail, found, rules, text, verbs, walk
//! rules ──▶ found, text
//! template, text ──▶ scan
//! verbs ──▶ text, walk
//! walk ──▶ found, rules, scan, template, text
//! ```

mod detail;
mod found;
mod record;
mod rules;
mod scan;
mod template;
mod text;
mod verbs;
mod walk;

use std::io;

use memchr::memmem;

use crate::cursor::{Line, Pieces};
use crate::format::templates::{Template, Templates};
use crate::format::{Format, Rule, Shape};
use found::Captures;
pub use record::{Item, Sink};
use record::{RecordReader, Settled};
use rules::Watch;
pub use walk::pick;
use walk::{Broken, Walker};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Matched,
    Ignored,
    Broken,
}

pub struct Decoder<'f> {
    format: &'f Format,
    reader: RecordReader<'f>,
    captures: Captures,
    /// Templates of the lines so far; none if each is to be walked.
    templates: Option<Templates>,
}

impl Drop for Decoder<'_> {
    fn drop(&mut self) {
        self.templates
            .take()
            .into_iter()
            .for_each(|templates| self.format.templates.give(templates));
    }
}

impl<'f> Decoder<'f> {
    pub fn new(format: &'f Format) -> Decoder<'f> {
        let words = format.words.replaced.iter().filter(|_| format.detailed);
        let replaced = words.map(memmem::Finder::new).collect();
        let reader = RecordReader {
            format,
            full: false,
            whole: false,
            subagent: false,
            replaced,
        };
        Decoder {
            format,
            reader,
            captures: Captures::default(),
            templates: Some(format.templates.take()),
        }
    }

    /// Walks each line, whatever it looks like.
    pub fn without_templates(mut self) -> Decoder<'f> {
        self.templates = None;
        self
    }

    pub fn whole(mut self, whole: bool) -> Decoder<'f> {
        self.reader.whole = whole;
        self
    }

    pub fn full(mut self, full: bool) -> Decoder<'f> {
        self.reader.full = full;
        self
    }

    pub fn subagent(mut self, subagent: bool) -> Decoder<'f> {
        self.reader.subagent = subagent;
        self
    }

    pub fn line(&mut self, line: Line, sink: Sink) -> io::Result<Outcome> {
        match line {
            Line::Long(line) => self.records(line, None, sink),
            Line::Whole(_, bytes) => {
                if let Some(outcome) = self.known(bytes, sink) {
                    return Ok(outcome);
                }
                let outcome = self.records(bytes, Some(bytes), sink)?;
                if outcome == Outcome::Broken {
                    self.recover(bytes, sink)?;
                }
                Ok(outcome)
            }
        }
    }

    /// Decodes a line that looks like one that was read before.
    fn known(&mut self, line: &[u8], sink: Sink) -> Option<Outcome> {
        let end = template::fit(self.templates.as_mut()?, line)?;
        let template = self.templates.as_ref()?.ends.get(end)?;
        let rule = template.rule.map(|index| &self.format.line.rules[index]);
        let settled = Settled {
            rule,
            blocks: &template.block_rules,
        };
        let matched = !template.ignored
            && self
                .reader
                .record(&template.extents, line, settled, false, sink);
        Some(if matched {
            Outcome::Matched
        } else {
            Outcome::Ignored
        })
    }

    /// Remembers what a line looks like that is one record, and what became of it.
    fn learn<P: Pieces>(
        &mut self,
        walker: &mut Walker<P>,
        line: &[u8],
        rule: Option<&Rule>,
        settled: bool,
    ) {
        let (Some(templates), Some(seen)) = (&mut self.templates, walker.seen.take()) else {
            return;
        };
        if walker.position() != line.len() {
            return;
        }
        let Format {
            line: shape,
            block,
            keys,
            ..
        } = self.format;
        let extents = &walker.captures.extents;
        let found = extents.line(line);
        let index = |shape: &Shape, rule: &Rule| {
            shape
                .rules
                .iter()
                .position(|known| std::ptr::eq(known, rule))
        };
        let rule = rule.or_else(|| rules::rule(shape, found, extents.first_block(line)));
        let rule = rule.and_then(|rule| index(shape, rule));
        let of_block = |at| {
            rules::rule(block, extents.block(at, line), None).and_then(|rule| index(block, rule))
        };
        let block_rules = (0..extents.blocks.len()).map(of_block).collect();
        let ignored = !settled || rule.is_none() && found.first(&keys.again).is_none();
        let tested = |in_block: bool, slot| {
            if in_block {
                &block.tested
            } else {
                &shape.tested
            }
            .contains(&slot)
        };
        template::learn(
            templates,
            line,
            &seen,
            extents,
            tested,
            Template {
                rule,
                block_rules,
                ignored,
                ..Template::default()
            },
        );
    }

    /// All records on a line: one, or several where a newline got lost.
    pub fn records<P: Pieces>(
        &mut self,
        pieces: P,
        whole: Option<&[u8]>,
        sink: Sink,
    ) -> io::Result<Outcome> {
        let captures = std::mem::take(&mut self.captures);
        let mut walker = Walker::new(pieces, whole.is_none(), captures, Some(&self.format.block));
        walker.results = match &self.reader {
            RecordReader { whole: true, .. } => Captures::LINE_BYTES,
            RecordReader { full: true, .. } => Captures::VALUE_BYTES,
            _ => walker.results,
        };
        let learns = whole.is_some() && self.templates.as_mut().is_some_and(template::note_miss);
        walker.seen = learns.then(Vec::new);
        let walked = self.each_record(&mut walker, whole, sink);
        self.captures = walker.captures;
        match (walked, walker.error) {
            (Ok(outcome), _) => Ok(outcome),
            (Err(_), None) => Ok(Outcome::Broken),
            (Err(_), Some(error)) => Err(error),
        }
    }

    fn each_record<P: Pieces>(
        &mut self,
        walker: &mut Walker<P>,
        whole: Option<&[u8]>,
        sink: Sink,
    ) -> Result<Outcome, Broken> {
        let shape = &self.format.line;
        let mut outcome = Outcome::Ignored;
        while walker.seek()? {
            let start = walker.position();
            let mut watch = Watch::new(shape);
            let mut to_the_end = walker.walk(&shape.root, shape.slots, Some(&mut watch))?;
            // Nothing more of this record is wanted. But if the line does not end where the record does, another was
            // written into it, or it was cut off; then all of it counts.
            if !to_the_end
                && let Some(line) = whole
                && !ends_in_order(line, walker.position())
            {
                walker.rewind(start);
                walker.seen = None;
                watch = Watch::new(shape);
                to_the_end = walker.walk(&shape.root, shape.slots, None)?;
            }
            let settled = to_the_end || watch.rule.is_some();
            let (extents, bytes) = (&walker.captures.extents, walker.captures.bytes(whole));
            if settled
                && self
                    .reader
                    .record(extents, bytes, Settled::by(watch.rule), false, sink)
            {
                outcome = Outcome::Matched;
            }
            if let Some(line) = whole
                && (to_the_end || walker.seen.is_some() && walker.finish().is_ok())
            {
                self.learn(walker, line, watch.rule, settled);
            }
            if !to_the_end {
                break;
            }
        }
        Ok(outcome)
    }

    /// A record cut off in the middle, with the next one right behind it: finds the one that ends where the line does.
    fn recover(&mut self, line: &[u8], sink: Sink) -> io::Result<()> {
        let Format {
            line: shape, block, ..
        } = self.format;
        // What starts further inside a record ends before the line does, so the search goes backward; a line of nothing
        // but brackets must not make it long.
        let mut patience = 16 * line.len();
        for start in memmem::rfind_iter(line, b"{\"").take_while(|start| *start > 0) {
            let rest = &line[start..];
            let mut walker =
                Walker::new(rest, false, std::mem::take(&mut self.captures), Some(block));
            let walked = walker.walk(&shape.root, shape.slots, None);
            let whole = walked.is_ok() && matches!(walker.seek(), Ok(false));
            let effort = walker.position() + 1;
            self.captures = walker.captures;
            if whole {
                self.records(rest, Some(rest), sink)?;
                break;
            }
            if effort > patience {
                break;
            }
            patience -= effort;
        }
        Ok(())
    }
}

/// The object around a place ends at the end of the line.
fn ends_in_order(line: &[u8], place: usize) -> bool {
    scan::rest(line, place).is_some_and(|end| line[end..].iter().all(u8::is_ascii_whitespace))
}
