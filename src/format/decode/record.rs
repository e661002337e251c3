//! From the values of a record to what it says: the rules of the format, applied.

use std::borrow::Cow;

use memchr::memmem;

use super::found::{Captures, Found};
use super::rules::{self, hold};
use super::text::Raw;
use super::walk::{self, Walker};
use super::{detail, verbs};
use crate::boundary::substr;
use crate::entry::{Act, Call, Entry, Facts, LongText, Mark, Role, TitleBy, Usage, What};
use crate::format::descriptor::{CallVerb, ResultVerb, ToolVerb};
use crate::format::prompt::{Said, begins};
use crate::format::templates::Extents;
use crate::format::{CallKeys, Format, ResultKeys, Rule, Tool};
use crate::path::is_too_long;
use crate::time::Time;

/// A part of a line: first what it says about the session, then its entries in order. Only a prompt of a helper says
/// something about the session as well.
pub enum Item<'i, 'a> {
    Facts(&'i mut Facts<'a>),
    Entry(Entry<'a>),
}

pub type Sink<'s> = &'s mut dyn FnMut(Item);

/// Rules that are known before the record is asked: its own, and those of its blocks if there are any.
#[derive(Clone, Copy)]
pub struct Settled<'s> {
    pub rule: Option<&'s Rule>,
    pub blocks: &'s [Option<usize>],
}

impl<'s> Settled<'s> {
    pub fn by(rule: Option<&'s Rule>) -> Settled<'s> {
        Settled { rule, blocks: &[] }
    }
}

/// Reads records of a format.
pub struct RecordReader<'f> {
    pub format: &'f Format,
    /// Decode what a log leaves out, too: thinking and results.
    pub full: bool,
    /// Decode results and long texts to their end.
    pub whole: bool,
    /// The file is a subagent's: its lines count.
    pub subagent: bool,
    /// Parts of the result of writing a file that had been there before, if details are asked for.
    pub replaced: Vec<memmem::Finder<'f>>,
}

impl RecordReader<'_> {
    /// Applies the rules to a record, or those that are known to fit; false if none does.
    pub fn record(
        &self,
        extents: &Extents,
        bytes: &[u8],
        settled: Settled,
        relisted: bool,
        sink: Sink,
    ) -> bool {
        let format = self.format;
        let found = extents.line(bytes);
        if !self.subagent
            && format
                .side
                .line
                .as_ref()
                .is_some_and(|tests| hold(tests, found))
        {
            return false;
        }
        if !relisted && let Some(list) = found.first(&format.keys.again) {
            return self.relist(list, sink);
        }
        let rule = settled
            .rule
            .or_else(|| rules::rule(&format.line, found, extents.first_block(bytes)));
        let Some(rule) = rule else { return false };
        let key = found.id(&format.keys.id);
        let mut facts = Facts {
            line: if format.leaves { key } else { None },
            ..self.facts(rule, found)
        };
        let mut said = Saying {
            reader: self,
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
            images: 0,
            counts: [0; 6],
        };
        // Nobody did anything when the client summed up what was done.
        if rule.mark == Some(Mark::Recap) {
            facts.time = None;
        }
        if !relisted {
            sink(Item::Facts(&mut facts));
        }
        for slot in rule.content.iter() {
            if let Some(text) = found.get(*slot).and_then(Raw::text) {
                said.text(text, sink);
            }
            for (index, _) in extents
                .blocks
                .iter()
                .enumerate()
                .filter(|(_, under)| *under == slot)
            {
                let block = extents.block(index, bytes);
                let rule = match settled.blocks.get(index) {
                    Some(rule) => rule.map(|rule| &format.block.rules[rule]),
                    None => rules::rule(&format.block, block, None),
                };
                if let Some(rule) = rule {
                    for text in rule
                        .content
                        .iter()
                        .filter_map(|slot| block.get(*slot)?.text())
                    {
                        said.text(text, sink);
                    }
                    said.parts(rule, block, sink);
                }
            }
        }
        said.parts(rule, found, sink);
        let images = said.images;
        said.finish(sink);
        if images > 0 {
            sink(Item::Facts(&mut Facts {
                images,
                ..Facts::default()
            }));
        }
        true
    }

    /// A line that lists earlier lines again. Whoever counts knows them by their keys.
    fn relist(&self, list: Raw, sink: Sink) -> bool {
        let Format { line, block, .. } = self.format;
        let mut captures = Captures::default();
        let mut matched = false;
        for Raw(element) in walk::elements(list) {
            let mut walker = Walker::new(element, false, captures, Some(block));
            let walked = walker.walk(&line.root, line.slots, None);
            matched |= walked.is_ok()
                && self.record(
                    &walker.captures.extents,
                    element,
                    Settled::by(None),
                    true,
                    sink,
                );
            captures = walker.captures;
        }
        matched
    }

    fn facts<'a>(&self, rule: &Rule, found: Found<'a>) -> Facts<'a> {
        let format = self.format;
        let text = |slots: &[usize]| found.first(slots).and_then(Raw::text);
        let sum = |slots: &[usize]| {
            slots
                .iter()
                .filter_map(|slot| found.get(*slot)?.count())
                .fold(0, u64::saturating_add)
        };
        let dir = |slots: &[usize]| text(slots).filter(|dir| !is_too_long(&**dir));
        let title = |by, slots: &[usize]| Some((by, text(slots)?));
        let usage = rule.usage.as_ref().and_then(|keys| {
            let any = keys
                .input
                .iter()
                .chain(keys.output.iter())
                .any(|slot| found.get(*slot).is_some());
            let [context, window] =
                [&keys.context, &keys.window].map(|keys| found.first(keys).and_then(Raw::count));
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
            title: title(TitleBy::Person, &rule.title.person)
                .or_else(|| title(TitleBy::Agent, &rule.title.agent)),
            leaf: found.id(&rule.title.leaf),
            model: text(&rule.model),
            usage,
            message: found.id(&rule.message),
            active: rule.active,
            subagent: format
                .side
                .file
                .as_ref()
                .is_some_and(|tests| hold(tests, found)),
            helper: false,
            images: 0,
        }
    }

    /// The number of images in what a tool answered, which is a list of blocks then.
    fn images(&self, keys: &ResultKeys, found: Found) -> u32 {
        let blocks = &self.format.block;
        let Some(output) = found
            .first(&keys.text)
            .filter(|raw| raw.0.starts_with(b"["))
        else {
            return 0;
        };
        let mut captures = Captures::default();
        let mut count = 0;
        for Raw(element) in walk::elements(output) {
            let mut walker = Walker::new(element, false, captures, None);
            let walked = walker.walk(&blocks.root, blocks.slots, None);
            let found = walker.captures.extents.line(element);
            let rule = rules::rule(blocks, found, None).filter(|rule| rule.image);
            count += u32::from(walked.is_ok() && rule.is_some());
            captures = walker.captures;
        }
        count
    }

    fn call<'a>(&self, keys: &CallKeys, found: Found<'a>) -> Option<Call<'a>> {
        let name = found.first(&keys.tool)?.text()?;
        let tool = self.format.tool(&name);
        let mut detail = None;
        let subjects = match (found.first(&keys.input), keys.verb) {
            (Some(input), Some(CallVerb::Changes)) => {
                let changes = verbs::changes(input);
                let paths = changes
                    .iter()
                    .flat_map(|change| [Some(&change.path), change.moved.as_ref()])
                    .flatten();
                let paths = paths.map(|path| Cow::Owned(path.clone())).collect();
                detail = self.format.detailed.then(|| detail::changed(changes));
                paths
            }
            (Some(input), verb) => {
                let text = if verb.is_some() { input.text() } else { None };
                let json = text.as_deref().map_or(input.0, str::as_bytes);
                let input = &self.format.input;
                let mut walker = Walker::over(json);
                // A cut-off input still has the subjects that come before the cut, but what it writes is of no use.
                let is_whole = walker.walk(&input.root, input.slots, None).is_ok();
                detail = (self.format.detailed && is_whole)
                    .then(|| detail::detail(tool, Raw(json)))
                    .flatten();
                if self.whole && is_whole {
                    detail.get_or_insert_default().input =
                        Some(String::from_utf8_lossy(json).into_owned());
                }
                let found = walker.captures.extents.line(json);
                let subjects = subjects(tool, |subject| found.get(subject));
                subjects
                    .into_iter()
                    .map(|subject| Cow::Owned(subject.into_owned()))
                    .collect()
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
        let id = found.id(&keys.id);
        let asks = tool.question.is_some() || tool.plan.is_some();
        Some(Call {
            id,
            tool: name,
            act,
            subjects,
            asks,
            detail: detail.map(Box::new),
            ..Call::default()
        })
    }

    fn result<'a>(&self, keys: &ResultKeys, found: Found<'a>) -> Option<What<'a>> {
        let call = found.id(&keys.id)?;
        let output = found.first(&keys.text);
        let failed = (!keys.failed.is_empty() && hold(&keys.failed, found))
            || output.is_some_and(|output| {
                let starts = |start: &String| {
                    first_text(output).is_some_and(|text| text.starts_with(start.as_bytes()))
                };
                keys.verb == Some(ResultVerb::Exit) && verbs::exit(output)
                    || verbs::ends_with_code(output, &keys.exit_code_after)
                    || keys.failed_starts.iter().any(starts)
            });
        let words = &self.format.words;
        let (mut denied, mut unclear, mut stopped) = (false, false, false);
        if failed && let Some(output) = output {
            let told = plain(beginning(output));
            let told = told.trim_start();
            denied = begins(told, &words.denied);
            let start = substr(told, ..told.floor_char_boundary(400));
            unclear = words
                .unclear
                .iter()
                .any(|part| start.contains(part.as_str()));
            stopped = begins(told, &words.stopped);
        }
        let says =
            |part: &memmem::Finder| output.is_some_and(|raw| part.find(beginning(raw).0).is_some());
        let replaced = !failed && self.replaced.iter().any(says);
        let kept = output.map(|output| {
            if self.whole {
                output
            } else {
                beginning(output)
            }
        });
        let written = |raw: Raw<'a>| LongText::Written(raw.0, |bytes| plain(Raw(bytes)));
        let text = if self.full { kept.map(written) } else { None };
        Some(What::Result {
            call: Some(call),
            failed,
            denied,
            unclear,
            stopped,
            replaced,
            text,
        })
    }
}

/// The entries of one record, one after another.
struct Saying<'d, 'f> {
    reader: &'d RecordReader<'f>,
    /// All that they have in common; its key is the line's id.
    entry: Entry<'static>,
    mark: Option<Mark>,
    /// Typed by a user: all of it is one prompt.
    typed: Vec<String>,
    /// Counted where whole texts are asked for.
    images: u32,
    /// The number of entries of each kind so far, to tell them apart.
    counts: [usize; 6],
}

impl Saying<'_, '_> {
    fn text(&mut self, text: Cow<str>, sink: Sink) {
        if let Some(mark) = self.mark {
            return self.mark(mark, text, sink);
        }
        if self.entry.role != Role::User {
            if self.entry.role == Role::Assistant && self.reader.format.words.is_silent(&text) {
                self.emit(0, Role::Assistant, What::Mark(Mark::Note, text), sink);
            } else if !text.trim().is_empty() {
                self.emit(1, self.entry.role, What::Text(text), sink);
            }
            return;
        }
        let prompt = &self.reader.format.prompt;
        if prompt.is_helper(&text) {
            sink(Item::Facts(&mut Facts {
                helper: true,
                ..Facts::default()
            }));
        }
        match prompt.sort(text) {
            Said::Typed(text) => self.typed.push(text.into_owned()),
            Said::Machine(mark, text) => self.mark(mark, text, sink),
            Said::Nothing => {}
        }
    }

    /// A mark, without what the client says around it.
    fn mark(&mut self, mark: Mark, text: Cow<str>, sink: Sink) {
        let words = &self.reader.format.words;
        let bare = matches!(mark, Mark::Compaction | Mark::Recap);
        let text = if bare {
            Cow::Borrowed(words.bare(&text))
        } else {
            text
        };
        self.entry.limit = mark == Mark::Error && words.is_limit(&text);
        // A note of the agent's is a turn that it ended without a word.
        let role = if mark == Mark::Note && self.mark == Some(mark) {
            self.entry.role
        } else {
            Role::System
        };
        self.emit(0, role, What::Mark(mark, text), sink);
        self.entry.limit = false;
    }

    /// Everything that a rule finds in a record or in a block, apart from its content.
    fn parts(&mut self, rule: &Rule, found: Found, sink: Sink) {
        let reader = self.reader;
        if reader.whole {
            let answered = rule.result.as_ref().map(|keys| reader.images(keys, found));
            self.images += u32::from(rule.image) + answered.unwrap_or(0);
        }
        if reader.full
            && let Some(raw) = found.first(&rule.thinking).filter(|raw| is_said(*raw))
        {
            let text = LongText::Written(raw.0, |bytes| Raw(bytes).text().unwrap_or_default());
            self.emit(2, self.entry.role, What::Thinking(text), sink);
        }
        if let Some(call) = rule.call.as_ref().and_then(|keys| reader.call(keys, found)) {
            self.emit(3, Role::Assistant, What::Call(call), sink);
        }
        if let Some(result) = rule
            .result
            .as_ref()
            .and_then(|keys| reader.result(keys, found))
        {
            self.emit(4, Role::System, result, sink);
        }
        let takes_back = found.first(&rule.takes_back).and_then(Raw::scalar);
        self.entry.takes_back = takes_back.and_then(|turns| turns.parse().ok()).unwrap_or(0);
        for (keys, mark) in [
            (&rule.error, Mark::Error),
            (&rule.interrupt, Mark::Interrupt),
        ] {
            if let Some(text) = found.first(keys).and_then(Raw::scalar) {
                self.mark(mark, text, sink);
            }
        }
        for (keys, waits) in [(&rule.waits, true), (&rule.goes_on, false)] {
            if let Some(call) = found.id(keys) {
                self.emit(5, Role::System, What::Permission { call, waits }, sink);
            }
        }
    }

    fn finish(mut self, sink: Sink) {
        let Some(mut text) = self.typed.pop() else {
            return;
        };
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
            What::Call(Call {
                id: Some(call),
                act,
                ..
            }) => {
                let kind = if *act == Act::Edit { b'e' } else { kind };
                Some(call.part(kind, line.map_or(0, |line| line.0 as usize)))
            }
            _ => line.map(|line| line.part(kind, self.counts[kind as usize])),
        };
        self.counts[kind as usize] += 1;
        sink(Item::Entry(Entry {
            role,
            what,
            key,
            ..self.entry.clone()
        }));
    }
}

fn time(raw: Raw) -> Option<Time> {
    match raw.inside() {
        Some(text) => Time::parse(text),
        None => Time::from_number(raw.number()?),
    }
}

/// The first of the tool's subjects that is there.
fn subjects<'a>(tool: &Tool, value: impl Fn(usize) -> Option<Raw<'a>>) -> Vec<Cow<'a, str>> {
    let Some(raw) = tool
        .subjects
        .iter()
        .filter_map(|subject| value(*subject))
        .find(|raw| raw.is_there())
    else {
        return Vec::new();
    };
    match tool.verb {
        Some(ToolVerb::Argv) => verbs::argv(raw).map(Cow::Owned).into_iter().collect(),
        Some(ToolVerb::Patch) => raw
            .text()
            .map(|text| verbs::patch(&text))
            .unwrap_or_default(),
        Some(ToolVerb::Script) => raw
            .text()
            .map(|text| verbs::script(&text))
            .unwrap_or_default(),
        _ => raw.scalar().into_iter().collect(),
    }
}

/// The text of a tool's output, or the first of the texts that it is a list of, as it is written in JSON.
fn first_text(raw: Raw<'_>) -> Option<&[u8]> {
    const KEY: &[u8] = b"\"text\":";
    let listed = || {
        memmem::find(raw.0, KEY)
            .and_then(|at| Raw(raw.0[at + KEY.len()..].trim_ascii_start()).inside())
    };
    raw.inside()
        .or_else(|| listed().filter(|_| raw.0.starts_with(b"[")))
}

/// As much of a tool's output as a quick look takes.
fn beginning(raw: Raw) -> Raw {
    Raw(&raw.0[..raw.0.len().min(Captures::RESULT_BYTES)])
}

/// The readable part of a tool's output.
fn plain(raw: Raw) -> Cow<str> {
    raw.text().unwrap_or_else(|| {
        let mut texts = Vec::new();
        collect(raw, 0, &mut texts);
        Cow::Owned(texts.join("\n"))
    })
}

/// True if there is something to read in a string. Nearly all begin with a letter.
fn is_said(raw: Raw) -> bool {
    let first = raw.inside().and_then(|inside| inside.first());
    first.is_some_and(u8::is_ascii_alphanumeric)
        || raw.text().is_some_and(|text| !text.trim().is_empty())
}

/// The texts in a list of blocks, which may be cut off anywhere: the elements, or what they have under `text`.
fn collect<'a>(raw: Raw<'a>, depth: usize, texts: &mut Vec<Cow<'a, str>>) {
    /// Deeper than any client nests texts; what a stranger nests must not eat the stack.
    const DEEPEST: usize = 8;
    if let Some(text) = raw.text() {
        return texts.push(text);
    }
    if depth < DEEPEST {
        let members = walk::members(raw)
            .into_iter()
            .find(|(key, _)| key == "text")
            .map(|(_, text)| text);
        walk::elements(raw)
            .into_iter()
            .chain(members)
            .for_each(|part| collect(part, depth + 1, texts));
    }
}
