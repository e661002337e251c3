//! From lines to entries, by a format.
//!
//! A line is walked once ([`walk`]); then the rules of the format say what it is, and only the strings that are wanted are
//! decoded. A line that is not JSON costs itself: it is counted and, where a whole record follows a cut one on the same
//! line, that record is read.

mod detail;
mod rules;
mod scan;
mod template;
mod text;
mod verbs;
mod walk;

use std::borrow::Cow;
use std::io;

use memchr::memmem;

use crate::boundary::substr;
use crate::cursor::{Line, Pieces};
use crate::entry::{Act, Call, Entry, Facts, Id, LongText, Mark, Role, TitleBy, Usage, What};
use crate::format::descriptor::{CallVerb, Pointer, ResultVerb, ToolVerb};
use crate::format::prompt::Said;
use crate::format::templates::{Extents, Template, Templates};
use crate::format::trie::{Node, Trie};
use crate::format::{CallKeys, Format, ResultKeys, Rule, Shape, Tool};
use crate::path::is_too_long;
use crate::time::Time;
use rules::{Watch, hold};
use text::Raw;
use walk::{Captures, Found, Walker};

/// What came of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Matched,
    Ignored,
    Broken,
}

/// What a line holds: first what it says about the session, then its entries in order. Only a prompt of a helper says
/// something about the session as well.
pub enum Item<'i, 'a> {
    Facts(&'i mut Facts<'a>),
    Entry(Entry<'a>),
}

pub type Sink<'s> = &'s mut dyn FnMut(Item);

/// Scalars of one JSON object by their pointers, as lenient as with transcripts: of each list the first that is there.
/// None if it is no object.
pub fn pick<const N: usize>(object: &[u8], wanted: [&[Pointer]; N]) -> Option<[Option<String>; N]> {
    let mut trie = Trie::default();
    let slots = wanted.map(|pointers| trie.all(pointers));
    let nothing = Node::default();
    let mut walker = Walker::new(object, false, Captures::default(), &nothing);
    let is_object = walker.seek().ok()? && object.get(walker.position()) == Some(&b'{');
    let whole = is_object && walker.walk(&trie.root, trie.slots, 0, None).is_ok() && matches!(walker.seek(), Ok(false));
    let found = walker.captures.extents.line(object);
    whole.then(|| slots.map(|slots| found.first(&slots)?.scalar().map(Cow::into_owned)))
}

/// What is known of a record before the rules are asked: its own, and those of its blocks if there are any.
#[derive(Clone, Copy)]
struct Settled<'s> {
    rule: Option<&'s Rule>,
    blocks: &'s [Option<usize>],
}

impl<'s> Settled<'s> {
    fn by(rule: Option<&'s Rule>) -> Settled<'s> {
        Settled { rule, blocks: &[] }
    }
}

pub struct Decoder<'f> {
    format: &'f Format,
    /// Decode what a log leaves out, too: thinking and results.
    full: bool,
    /// Decode results and long texts to their end.
    whole: bool,
    /// The file is a subagent's: its lines count.
    subagent: bool,
    captures: Captures,
    /// Parts of the result of writing a file that had been there before, if details are asked for.
    replaced: Vec<memmem::Finder<'f>>,
    /// What lines looked like so far; none if each is to be walked.
    templates: Option<Templates>,
}

impl Drop for Decoder<'_> {
    fn drop(&mut self) {
        self.templates.take().into_iter().for_each(|templates| self.format.templates.give(templates));
    }
}

impl<'f> Decoder<'f> {
    pub fn new(format: &'f Format) -> Decoder<'f> {
        let words = format.words.replaced.iter().filter(|_| format.detailed);
        Decoder {
            format,
            full: false,
            whole: false,
            subagent: false,
            captures: Captures::default(),
            replaced: words.map(memmem::Finder::new).collect(),
            templates: Some(format.templates.take()),
        }
    }

    /// Walks each line, whatever it looks like.
    pub fn without_templates(mut self) -> Decoder<'f> {
        self.templates = None;
        self
    }

    pub fn whole(mut self, whole: bool) -> Decoder<'f> {
        self.whole = whole;
        self
    }

    pub fn full(mut self, full: bool) -> Decoder<'f> {
        self.full = full;
        self
    }

    pub fn subagent(mut self, subagent: bool) -> Decoder<'f> {
        self.subagent = subagent;
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

    /// What comes of a line that looks like one that was read before.
    fn known(&mut self, line: &[u8], sink: Sink) -> Option<Outcome> {
        let end = template::fit(self.templates.as_mut()?, line)?;
        let template = self.templates.as_ref()?.ends.get(end)?;
        let rule = template.rule.map(|index| &self.format.line.rules[index]);
        let settled = Settled { rule, blocks: &template.block_rules };
        Some(match !template.ignored && self.record(&template.extents, line, settled, false, sink) {
            true => Outcome::Matched,
            false => Outcome::Ignored,
        })
    }

    /// Remembers what a line looks like that is one record, and what became of it.
    fn learn<P: Pieces>(&mut self, walker: &mut Walker<P>, line: &[u8], rule: Option<&Rule>, settled: bool) {
        let (Some(templates), Some(seen)) = (&mut self.templates, walker.seen.take()) else { return };
        if walker.position() != line.len() {
            return;
        }
        let Format { line: shape, block, keys, .. } = self.format;
        let extents = &walker.captures.extents;
        let found = extents.line(line);
        let index = |shape: &Shape, rule: &Rule| shape.rules.iter().position(|known| std::ptr::eq(known, rule));
        let rule = rule.or_else(|| rules::rule(shape, found, extents.first_block(line)));
        let rule = rule.and_then(|rule| index(shape, rule));
        let of_block = |at| rules::rule(block, extents.block(at, line), None).and_then(|rule| index(block, rule));
        let block_rules = (0..extents.blocks.len()).map(of_block).collect();
        let ignored = !settled || rule.is_none() && found.first(&keys.again).is_none();
        let tested = |in_block: bool, slot| if in_block { &block.tested } else { &shape.tested }.contains(&slot);
        template::learn(
            templates,
            line,
            &seen,
            extents,
            tested,
            Template { rule, block_rules, ignored, ..Template::default() },
        );
    }

    /// All records on a line: one, or several where a newline got lost.
    pub fn records<P: Pieces>(&mut self, pieces: P, whole: Option<&[u8]>, sink: Sink) -> io::Result<Outcome> {
        let format = self.format;
        let mut walker = Walker::new(pieces, whole.is_none(), std::mem::take(&mut self.captures), &format.block.root);
        walker.results = match () {
            () if self.whole => Captures::MOST_OF_LINE,
            () if self.full => Captures::MOST_OF_VALUE,
            () => walker.results,
        };
        let learns = whole.is_some() && self.templates.as_mut().is_some_and(template::note_miss);
        walker.seen = learns.then(Vec::new);
        let mut outcome = Outcome::Ignored;
        let walked = loop {
            match walker.seek() {
                Ok(true) => {}
                Ok(false) => break Ok(outcome),
                Err(broken) => break Err(broken),
            }
            let start = walker.position();
            let mut watch = Watch::new(&format.line);
            let mut walked = walker.walk(&format.line.root, format.line.slots, format.block.slots, Some(&mut watch));
            // Nothing more of this record is wanted. But if the line does not end where the record does, another was
            // written into it, or it was cut off; then all of it counts.
            if let (Ok(false), Some(line)) = (&walked, whole)
                && !ends_in_order(line, walker.position())
            {
                walker.rewind(start);
                walker.seen = None;
                watch = Watch::new(&format.line);
                walked = walker.walk(&format.line.root, format.line.slots, format.block.slots, None);
            }
            match walked {
                Err(broken) => break Err(broken),
                Ok(to_the_end) => {
                    let settled = to_the_end || watch.rule.is_some();
                    let (extents, bytes) = (&walker.captures.extents, walker.captures.bytes(whole));
                    if settled && self.record(extents, bytes, Settled::by(watch.rule), false, sink) {
                        outcome = Outcome::Matched;
                    }
                    if let Some(line) = whole
                        && (to_the_end || walker.seen.is_some() && walker.finish().is_ok())
                    {
                        self.learn(&mut walker, line, watch.rule, settled);
                    }
                    if !to_the_end {
                        break Ok(outcome);
                    }
                }
            }
        };
        self.captures = walker.captures;
        match (walked, walker.error) {
            (Ok(outcome), _) => Ok(outcome),
            (Err(_), None) => Ok(Outcome::Broken),
            (Err(_), Some(error)) => Err(error),
        }
    }

    /// A record cut off in the middle, with the next one right behind it: finds the one that ends where the line does.
    fn recover(&mut self, line: &[u8], sink: Sink) -> io::Result<()> {
        let format = self.format;
        // What starts further inside a record ends before the line does, so the search goes backward; a line of nothing
        // but brackets must not make it long.
        let mut patience = 16 * line.len();
        for start in memmem::rfind_iter(line, b"{\"").take_while(|start| *start > 0) {
            let rest = &line[start..];
            let mut walker = Walker::new(rest, false, std::mem::take(&mut self.captures), &format.block.root);
            let walked = walker.walk(&format.line.root, format.line.slots, format.block.slots, None);
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

    /// Applies the rules to a record, or those that are known to fit; false if none does.
    fn record(&self, extents: &Extents, bytes: &[u8], settled: Settled, relisted: bool, sink: Sink) -> bool {
        let format = self.format;
        let found = extents.line(bytes);
        if !self.subagent && format.side.line.as_ref().is_some_and(|tests| hold(tests, found)) {
            return false;
        }
        if let Some(list) = found.first(&format.keys.again).filter(|_| !relisted) {
            return self.relist(list, sink);
        }
        let rule = settled.rule.or_else(|| rules::rule(&format.line, found, extents.first_block(bytes)));
        let Some(rule) = rule else { return false };
        let key = found.first(&format.keys.id).and_then(Raw::inside).map(Id::named);
        let mut facts = Facts { line: key.filter(|_| format.leaves), ..self.facts(rule, found) };
        let mut said = Saying {
            decoder: self,
            entry: Entry {
                time: facts.time,
                role: rule.role.unwrap_or(Role::System),
                what: What::Text(Cow::Borrowed("")),
                key,
                message: facts.message,
                queued: rule.queued,
                relisted,
                limit: false,
                takes_back: 0,
                begins: false,
                renews: false,
            },
            mark: rule.mark,
            typed: Vec::new(),
            counts: [0; 6],
        };
        // Nobody did anything when the client summed up what was done.
        facts.time = facts.time.filter(|_| rule.mark != Some(Mark::Recap));
        if !relisted {
            sink(Item::Facts(&mut facts));
        }
        for slot in rule.content.iter() {
            if let Some(text) = found.get(*slot).and_then(Raw::text) {
                said.text(text, sink);
            }
            for (index, _) in extents.blocks.iter().enumerate().filter(|(_, under)| *under == slot) {
                let block = extents.block(index, bytes);
                let rule = match settled.blocks.get(index) {
                    Some(rule) => rule.map(|rule| &format.block.rules[rule]),
                    None => rules::rule(&format.block, block, None),
                };
                if let Some(rule) = rule {
                    for text in rule.content.iter().filter_map(|slot| block.get(*slot)?.text()) {
                        said.text(text, sink);
                    }
                    said.parts(rule, block, sink);
                }
            }
        }
        said.parts(rule, found, sink);
        said.finish(sink);
        true
    }

    /// A line that lists lines again. Who has seen them already knows by their keys.
    fn relist(&self, list: Raw, sink: Sink) -> bool {
        let format = self.format;
        let mut walker = Walker::new(list.0, false, Captures::default(), &format.block.root);
        let mut captures = Captures::default();
        let mut matched = false;
        for range in walker.element_ranges() {
            let element = &list.0[range];
            let mut walker = Walker::new(element, false, captures, &format.block.root);
            let walked = walker.walk(&format.line.root, format.line.slots, format.block.slots, None);
            matched |= walked.is_ok() && self.record(&walker.captures.extents, element, Settled::by(None), true, sink);
            captures = walker.captures;
        }
        matched
    }

    fn facts<'a>(&self, rule: &Rule, found: Found<'a>) -> Facts<'a> {
        let format = self.format;
        let text = |slots: &[usize]| found.first(slots).and_then(Raw::text);
        let sum =
            |slots: &[usize]| slots.iter().filter_map(|slot| found.get(*slot)?.count()).fold(0, u64::saturating_add);
        let dir = |slots: &[usize]| text(slots).filter(|dir| !is_too_long(&**dir));
        let title = |by, slots: &[usize]| Some((by, text(slots)?));
        let usage = rule.usage.as_ref().and_then(|keys| {
            let any = keys.input.iter().chain(keys.output.iter()).any(|slot| found.get(*slot).is_some());
            let [context, window] = [&keys.context, &keys.window].map(|keys| found.first(keys).and_then(Raw::count));
            any.then(|| Usage {
                input: sum(&keys.input),
                output: sum(&keys.output),
                context,
                window,
                total: keys.total,
            })
        });
        Facts {
            line: None,
            time: found.first(&format.keys.time).and_then(time),
            session: text(&rule.session),
            cwd: dir(&rule.cwd).or_else(|| dir(&format.keys.cwd)),
            project: dir(&rule.project),
            title: title(TitleBy::Person, &rule.title.person).or_else(|| title(TitleBy::Agent, &rule.title.agent)),
            leaf: found.first(&rule.title.leaf).and_then(Raw::inside).map(Id::named),
            model: text(&rule.model),
            usage,
            message: found.first(&rule.message).and_then(Raw::inside).map(Id::named),
            active: rule.active,
            subagent: format.side.file.as_ref().is_some_and(|tests| hold(tests, found)),
            helper: false,
        }
    }

    fn call<'a>(&self, keys: &CallKeys, found: Found<'a>) -> Option<Call<'a>> {
        let name = found.first(&keys.tool)?.text()?;
        let tool = self.format.tool(&name);
        let mut detail = None;
        let subjects = match (found.first(&keys.input), keys.verb) {
            (Some(input), Some(CallVerb::Changes)) => {
                let changes = verbs::changes(input);
                let paths = changes.iter().flat_map(|change| [Some(&change.path), change.moved.as_ref()]).flatten();
                let paths = paths.map(|path| Cow::Owned(path.clone())).collect();
                detail = self.format.detailed.then(|| detail::changed(changes));
                paths
            }
            (Some(input), verb) => {
                let text = input.text().filter(|_| verb.is_some());
                let json = text.as_deref().map_or(input.0, str::as_bytes);
                let input = &self.format.input;
                let nothing = Node::default();
                let mut walker = Walker::new(json, false, Captures::default(), &nothing);
                // A cut-off input still has the subjects that come before the cut, but what it writes is of no use.
                let is_whole = walker.walk(&input.root, input.slots, 0, None).is_ok();
                detail = (self.format.detailed && is_whole).then(|| detail::detail(tool, Raw(json))).flatten();
                let found = walker.captures.extents.line(json);
                let subjects = subjects(tool, |subject| found.get(subject));
                subjects.into_iter().map(|subject| Cow::Owned(subject.into_owned())).collect()
            }
            // Where details are asked for, the subjects are read out of the whole input, and this call has none.
            (None, _) => subjects(tool, |subject| found.first(keys.subjects.get(subject)?)),
        };
        let command = tool.patched_by.as_ref().zip(subjects.first());
        let patch = command.and_then(|(program, command)| verbs::handed_patch(command, program));
        let (act, subjects) = match patch {
            Some(patch) => {
                detail = self.format.detailed.then(|| detail::handed(patch));
                (Act::Edit, verbs::patch(patch))
            }
            None => (tool.act, subjects),
        };
        let id = found.first(&keys.id).and_then(Raw::inside).map(Id::named);
        let asks = tool.question.is_some() || tool.plan.is_some();
        Some(Call {
            id,
            tool: name,
            act,
            subjects,
            failed: false,
            ended: false,
            ended_at: None,
            denied: false,
            broken_off: false,
            asks,
            waits: false,
            detail: detail.map(Box::new),
        })
    }

    fn result<'a>(&self, keys: &ResultKeys, found: Found<'a>) -> Option<What<'a>> {
        let call = found.first(&keys.id).and_then(Raw::inside).map(Id::named)?;
        let output = found.first(&keys.text);
        let failed = (!keys.failed.is_empty() && hold(&keys.failed, found))
            || output.is_some_and(|output| {
                let starts = |start: &String| first_text(output).is_some_and(|text| text.starts_with(start.as_bytes()));
                keys.verb == Some(ResultVerb::Exit) && verbs::exit(output)
                    || verbs::ends_with_code(output, &keys.exit_code_after)
                    || keys.failed_starts.iter().any(starts)
            });
        let words = &self.format.words;
        let (mut denied, mut unclear, mut stopped) = (false, false, false);
        if let Some(output) = output.filter(|_| failed) {
            let told = plain(beginning(output));
            let told = told.trim_start();
            denied = words.denied.iter().any(|start| told.starts_with(start.as_str()));
            let start = substr(told, ..told.floor_char_boundary(400));
            unclear = words.unclear.iter().any(|part| start.contains(part.as_str()));
            stopped = words.stopped.iter().any(|start| told.starts_with(start.as_str()));
        }
        let says = |part: &memmem::Finder| output.is_some_and(|raw| part.find(beginning(raw).0).is_some());
        let replaced = !failed && self.replaced.iter().any(says);
        let written = |raw: Raw<'a>| match self.whole {
            true => LongText::Written(raw.0, |bytes| plain(Raw(bytes))),
            false => LongText::Written(beginning(raw).0, |bytes| plain(Raw(bytes))),
        };
        let text = output.filter(|_| self.full).map(written);
        Some(What::Result { call: Some(call), failed, denied, unclear, stopped, replaced, text })
    }
}

/// The entries of one record, one after another.
struct Saying<'d, 'f> {
    decoder: &'d Decoder<'f>,
    /// What all of them have in common; its key is the line's id.
    entry: Entry<'static>,
    mark: Option<Mark>,
    /// What a user typed: all of it is one prompt.
    typed: Vec<String>,
    /// How many entries of each kind came before, to tell them apart.
    counts: [usize; 6],
}

impl Saying<'_, '_> {
    fn text(&mut self, text: Cow<str>, sink: Sink) {
        if let Some(mark) = self.mark {
            return self.mark(mark, text, sink);
        }
        if self.entry.role != Role::User {
            if self.entry.role == Role::Assistant && self.decoder.format.words.is_silent(&text) {
                self.emit(0, Role::Assistant, What::Mark(Mark::Note, text), sink);
            } else if !text.trim().is_empty() {
                self.emit(1, self.entry.role, What::Text(text), sink);
            }
            return;
        }
        let prompt = &self.decoder.format.prompt;
        if prompt.is_helper(&text) {
            sink(Item::Facts(&mut Facts { helper: true, ..Facts::default() }));
        }
        match prompt.sort(text) {
            Said::Typed(text) => self.typed.push(text.into_owned()),
            Said::Machine(mark, text) => self.mark(mark, text, sink),
            Said::Nothing => {}
        }
    }

    /// A mark, without what the client says around it.
    fn mark(&mut self, mark: Mark, text: Cow<str>, sink: Sink) {
        let words = &self.decoder.format.words;
        let bare = matches!(mark, Mark::Compaction | Mark::Recap);
        let text = if bare { Cow::Borrowed(words.bare(&text)) } else { text };
        self.entry.limit = mark == Mark::Error && words.is_limit(&text);
        // A note of the agent's is a turn that it ended without a word.
        let role = if mark == Mark::Note && self.mark == Some(mark) { self.entry.role } else { Role::System };
        self.emit(0, role, What::Mark(mark, text), sink);
        self.entry.limit = false;
    }

    /// What a rule finds in a record or in a block, apart from its content.
    fn parts(&mut self, rule: &Rule, found: Found, sink: Sink) {
        let decoder = self.decoder;
        if decoder.full
            && let Some(raw) = found.first(&rule.thinking).filter(|raw| is_said(*raw))
        {
            let text = LongText::Written(raw.0, |bytes| Raw(bytes).text().unwrap_or_default());
            self.emit(2, self.entry.role, What::Thinking(text), sink);
        }
        if let Some(call) = rule.call.as_ref().and_then(|keys| decoder.call(keys, found)) {
            self.emit(3, Role::Assistant, What::Call(call), sink);
        }
        if let Some(result) = rule.result.as_ref().and_then(|keys| decoder.result(keys, found)) {
            self.emit(4, Role::System, result, sink);
        }
        let takes_back = found.first(&rule.takes_back).and_then(Raw::scalar);
        self.entry.takes_back = takes_back.and_then(|turns| turns.parse().ok()).unwrap_or(0);
        for (keys, mark) in [(&rule.error, Mark::Error), (&rule.interrupt, Mark::Interrupt)] {
            if let Some(text) = found.first(keys).and_then(Raw::scalar) {
                self.mark(mark, text, sink);
            }
        }
        for (keys, waits) in [(&rule.waits, true), (&rule.goes_on, false)] {
            if let Some(call) = found.first(keys).and_then(Raw::inside).map(Id::named) {
                self.emit(5, Role::System, What::Permission { call, waits }, sink);
            }
        }
    }

    fn finish(mut self, sink: Sink) {
        let Some(mut text) = self.typed.pop() else { return };
        if !self.typed.is_empty() {
            self.typed.push(text);
            text = self.typed.join("\n");
        }
        self.emit(1, Role::User, What::Text(Cow::Owned(text)), sink);
    }

    fn emit(&mut self, kind: u8, role: Role, what: What, sink: Sink) {
        let line = self.entry.key;
        let key = match &what {
            // However often an outcome is written, it is that of one call.
            What::Result { call, .. } => call.map(|call| call.part(kind, 0)),
            // A client may report what a command edited under the id of the command: these are two.
            What::Call(Call { id: Some(call), act, .. }) => {
                let kind = if *act == Act::Edit { b'e' } else { kind };
                Some(call.part(kind, line.map_or(0, |line| line.0 as usize)))
            }
            _ => line.map(|line| line.part(kind, self.counts[kind as usize])),
        };
        self.counts[kind as usize] += 1;
        let Entry { time, message, queued, relisted, limit, takes_back, begins, renews, .. } = self.entry;
        let entry = Entry { time, role, what, key, message, queued, relisted, limit, takes_back, begins, renews };
        sink(Item::Entry(entry));
    }
}

/// Whether the object that a place is in ends at the end of the line.
fn ends_in_order(line: &[u8], place: usize) -> bool {
    scan::rest(line, place).is_some_and(|end| line[end..].iter().all(u8::is_ascii_whitespace))
}

fn time(raw: Raw) -> Option<Time> {
    match raw.inside() {
        Some(text) => Time::parse(text),
        None => Time::from_number(raw.number()?),
    }
}

/// What a call is about: the first of the tool's subjects that is there.
fn subjects<'a>(tool: &Tool, value: impl Fn(usize) -> Option<Raw<'a>>) -> Vec<Cow<'a, str>> {
    let Some(raw) = tool.subjects.iter().filter_map(|subject| value(*subject)).find(|raw| raw.is_there()) else {
        return Vec::new();
    };
    match tool.verb {
        Some(ToolVerb::Argv) => verbs::argv(raw).map(Cow::Owned).into_iter().collect(),
        Some(ToolVerb::Patch) => raw.text().map(|text| verbs::patch(&text)).unwrap_or_default(),
        Some(ToolVerb::Script) => raw.text().map(|text| verbs::script(&text)).unwrap_or_default(),
        _ => raw.scalar().into_iter().collect(),
    }
}

/// The text of a tool's output, or the first of the texts that it is a list of, as it is written in JSON.
fn first_text(raw: Raw<'_>) -> Option<&[u8]> {
    const KEY: &[u8] = b"\"text\":";
    let listed = || memmem::find(raw.0, KEY).and_then(|at| Raw(raw.0[at + KEY.len()..].trim_ascii_start()).inside());
    raw.inside().or_else(|| listed().filter(|_| raw.0.starts_with(b"[")))
}

/// As much of a tool's output as a quick look takes.
fn beginning(raw: Raw) -> Raw {
    Raw(&raw.0[..raw.0.len().min(Captures::MOST_OF_RESULT)])
}

/// The readable part of a tool's output.
fn plain(raw: Raw) -> Cow<str> {
    raw.text().unwrap_or_else(|| {
        let mut texts = Vec::new();
        collect(raw, 0, &mut texts);
        Cow::Owned(texts.join("\n"))
    })
}

/// Whether a string has something to read in it. Nearly all begin with a letter.
fn is_said(raw: Raw) -> bool {
    let first = raw.inside().and_then(|inside| inside.first());
    first.is_some_and(u8::is_ascii_alphanumeric) || raw.text().is_some_and(|text| !text.trim().is_empty())
}

/// The texts in a list of blocks, which may be cut off anywhere: the elements, or what they have under `text`.
fn collect<'a>(raw: Raw<'a>, depth: usize, texts: &mut Vec<Cow<'a, str>>) {
    /// Deeper than any client nests texts; what a stranger nests must not eat the stack.
    const DEEPEST: usize = 8;
    if let Some(text) = raw.text() {
        return texts.push(text);
    }
    let nothing = Node::default();
    let mut walker = Walker::new(raw.0, false, Captures::default(), &nothing);
    let mut ranges = walker.element_ranges();
    ranges.extend(walker.member_ranges().into_iter().find(|(key, _)| key == "text").map(|(_, range)| range));
    for range in ranges.into_iter().filter(|_| depth < DEEPEST) {
        collect(Raw(&raw.0[range]), depth + 1, texts);
    }
}
