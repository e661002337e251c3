//! From descriptor to [`Format`]: every pointer gets a slot in a trie, and rules are sorted by what they ask for.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::descriptor::{
    Descriptor, Expect, Keys, LineKeys, Pointer, Prompt, Rule, Subagent, Test, Tests, Tool, Words,
};
use super::templates::Pool;
use super::trie::{Node, Slot, Trie};

/// The body of a descriptor compiled: what `decode` runs.
#[derive(Debug, Serialize, Deserialize)]
pub struct Format {
    pub name: String,
    pub line: Shape,
    pub block: Shape,
    /// The input of a call that is JSON inside a string; its slots are the subjects.
    pub input: Trie,
    /// For any line.
    pub keys: LineKeys,
    pub side: Subagent,
    pub detailed: bool,
    /// Titles name the line they are about.
    pub leaves: bool,
    pub prompt: Prompt,
    pub words: Words,
    /// Learned from the lines that were read.
    #[serde(skip)]
    pub templates: Pool,
    tools: BTreeMap<String, Tool>,
    other: Tool,
}

/// The rules for lines, or for blocks, and the trie of all their pointers.
#[derive(Debug, Serialize, Deserialize)]
pub struct Shape {
    pub root: Node,
    pub slots: usize,
    pub rules: Vec<Rule>,
    /// The slot that most rules test (`/type`), and for each of its values the rules that can still fit.
    pub kind: Option<Slot>,
    kinds: Vec<(String, Vec<usize>)>,
    /// The rules that do not ask for the kind.
    any_kind: Vec<usize>,
    /// The slots that decide which rule a line or a block falls under.
    pub tested: BTreeSet<Slot>,
}

impl Shape {
    /// The rules, by index and in order, that are left once the kind is known.
    pub fn candidates(&self, is_kind: impl Fn(&str) -> bool) -> &[usize] {
        self.kinds
            .iter()
            .find(|(kind, _)| is_kind(kind))
            .map_or(&self.any_kind, |(_, rules)| rules)
    }
}

impl Format {
    pub fn tool(&self, name: &str) -> &Tool {
        self.tools.get(name).unwrap_or(&self.other)
    }

    /// With details, the whole input of a call is kept, whatever its length.
    pub fn compile(name: &str, written: &Descriptor, detailed: bool) -> Format {
        let mut tools = written.tools.clone();
        let mut input = Trie::default();
        // Of all tools, each once, in the order of their slots.
        let mut subjects = Vec::new();
        for tool in tools.values_mut() {
            for pointer in tool.subject.0.iter().map(|path| Pointer::below(path)) {
                let slot = input.slot(&pointer);
                tool.subjects.push(slot);
                subjects.extend((slot == subjects.len() && !detailed).then_some(pointer));
            }
        }
        let other = tools.remove("*").unwrap_or_default();

        let mut block = Trie::default();
        let mut line = Trie::default();
        let (mut keys, mut side) = (written.line.clone(), written.subagent.clone());
        bind(
            [&mut keys.time, &mut keys.id, &mut keys.cwd, &mut keys.again],
            &mut line,
        );
        [&mut side.line, &mut side.file]
            .into_iter()
            .flatten()
            .for_each(|tests| bind_tests(tests, &mut line));
        let always: Vec<Slot> = keys.time.iter().chain(keys.id.iter()).copied().collect();
        let blocks = written.blocks.iter().cloned().map(Into::into).collect();
        let line = shape(
            written.rules.clone(),
            line,
            &mut block,
            &subjects,
            &always,
            side.line.as_ref(),
        );
        let mut block = shape(blocks, block, &mut Trie::default(), &subjects, &[], None);
        block.tested.extend(
            line.rules
                .iter()
                .flat_map(|rule| rule.first.iter().map(|test| test.slot)),
        );
        Format {
            name: name.into(),
            leaves: line.rules.iter().any(|rule| !rule.title.leaf.is_empty()),
            line,
            block,
            input,
            keys,
            side,
            detailed,
            prompt: written.prompt.clone(),
            words: written.words.clone(),
            templates: Pool::default(),
            tools,
            other,
        }
    }
}

fn shape(
    mut rules: Vec<Rule>,
    mut trie: Trie,
    blocks: &mut Trie,
    subjects: &[Pointer],
    always: &[Slot],
    side: Option<&Tests>,
) -> Shape {
    rules
        .iter_mut()
        .for_each(|rule| bind_rule(rule, &mut trie, blocks, subjects));
    for rule in &mut rules {
        rule.enough = enough(rule, always, side);
        let asked = rule
            .when
            .iter()
            .filter(|test| test.is_text() && test.slot < 128);
        rule.asked = asked.fold(0, |bits, test| bits | 1 << test.slot);
    }
    let asks = |rule: &Rule, slot: Slot| {
        rule.when
            .iter()
            .position(|test| test.slot == slot && test.is_text())
    };
    let kind = (0..trie.slots).max_by_key(|slot| {
        rules
            .iter()
            .filter(|rule| asks(rule, *slot).is_some())
            .count()
    });
    let kind = kind.filter(|kind| rules.iter().any(|rule| asks(rule, *kind).is_some()));
    let allows = |rule: &Rule, value: &str| match kind.and_then(|kind| asks(rule, kind)) {
        Some(test) => rule.when[test]
            .any
            .iter()
            .any(|expected| *expected == Expect::Text(value.into())),
        None => true,
    };
    let texts = rules
        .iter()
        .filter_map(|rule| Some(&rule.when[asks(rule, kind?)?].any))
        .flatten();
    let values: BTreeSet<&String> = texts
        .filter_map(|expected| {
            if let Expect::Text(value) = expected {
                Some(value)
            } else {
                None
            }
        })
        .collect();
    let left = |value: &str| {
        (0..rules.len())
            .filter(|rule| allows(&rules[*rule], value))
            .collect()
    };
    let kinds = values
        .into_iter()
        .map(|value| (value.clone(), left(value)))
        .collect();
    let any_kind = (0..rules.len())
        .filter(|rule| kind.is_none_or(|kind| asks(&rules[*rule], kind).is_none()))
        .collect();
    let tested = rules
        .iter()
        .flat_map(|rule| rule.when.iter().map(|test| test.slot))
        .collect();
    trie.root.sum_up();
    Shape {
        root: trie.root,
        slots: trie.slots,
        rules,
        kind,
        kinds,
        any_kind,
        tested,
    }
}

/// The slots that a line of a rule must have filled before its rest can be left alone. A rule that asks for something not
/// to be there is never sure before the end.
fn enough(rule: &Rule, always: &[Slot], side: Option<&Tests>) -> u128 {
    let sure =
        rule.when.iter().all(Test::is_text) && rule.session.is_empty() && !rule.when.is_empty();
    let more = rule.call.as_ref().is_some_and(|call| call.input.is_empty())
        || rule.result.is_some()
        || !rule.title.person.is_empty()
        || !rule.title.agent.is_empty();
    let own = [
        &rule.content,
        &rule.thinking,
        &rule.error,
        &rule.interrupt,
        &rule.takes_back,
        &rule.waits,
        &rule.goes_on,
    ];
    let own = own
        .into_iter()
        .chain([&rule.message, &rule.model, &rule.cwd, &rule.project]);
    let call = rule
        .call
        .iter()
        .flat_map(|call| [&call.id, &call.tool, &call.input]);
    let usage = rule
        .usage
        .iter()
        .flat_map(|usage| [&usage.input, &usage.output, &usage.context, &usage.window]);
    let keys = own
        .chain(call)
        .chain(usage)
        .flat_map(|keys| keys.iter())
        .chain(always)
        .copied();
    let tests = rule
        .when
        .iter()
        .chain(side.into_iter().flat_map(|tests| tests.iter()));
    let slots: Vec<_> = keys.chain(tests.map(|test| test.slot)).collect();
    if !sure || more || slots.iter().any(|slot| *slot >= 128) {
        return 0;
    }
    slots.iter().fold(0, |bits, slot| bits | 1 << slot)
}

fn bind_rule(rule: &mut Rule, trie: &mut Trie, blocks: &mut Trie, subjects: &[Pointer]) {
    let detailed = subjects.is_empty();
    bind_tests(&mut rule.when, trie);
    bind_tests(&mut rule.first, blocks);
    rule.content.slots = rule
        .content
        .pointers
        .iter()
        .map(|pointer| trie.blocks(pointer))
        .collect();
    let Rule {
        thinking,
        error,
        interrupt,
        takes_back,
        waits,
        goes_on,
        message,
        session,
        cwd,
        project,
        title,
        model,
        ..
    } = rule;
    bind(
        [
            thinking, error, interrupt, takes_back, waits, goes_on, message, session, cwd, project,
            model,
        ],
        trie,
    );
    bind([&mut title.person, &mut title.agent, &mut title.leaf], trie);
    if let Some(call) = &mut rule.call {
        bind([&mut call.id, &mut call.tool], trie);
        if call.verb.is_some() || detailed {
            bind([&mut call.input], trie);
        }
        let at =
            |input: &Pointer, subject: &Pointer| Pointer([&input.0[..], &subject.0[..]].concat());
        let inputs = &call.input.pointers;
        let mut slots = |subject| {
            inputs
                .iter()
                .map(|input| trie.slot(&at(input, subject)))
                .collect()
        };
        call.subjects = subjects
            .iter()
            .filter(|_| call.verb.is_none())
            .map(&mut slots)
            .collect();
    }
    if let Some(result) = &mut rule.result {
        bind([&mut result.id], trie);
        bind_tests(&mut result.failed, trie);
        result.text.slots = result
            .text
            .pointers
            .iter()
            .map(|pointer| trie.result(pointer))
            .collect();
    }
    if let Some(usage) = &mut rule.usage {
        bind([&mut usage.input, &mut usage.output], trie);
        bind([&mut usage.context, &mut usage.window], trie);
    }
}

fn bind<const N: usize>(all: [&mut Keys; N], trie: &mut Trie) {
    all.into_iter()
        .for_each(|keys| keys.slots = trie.all(&keys.pointers));
}

fn bind_tests(tests: &mut Tests, trie: &mut Trie) {
    tests
        .0
        .iter_mut()
        .for_each(|test| test.slot = trie.slot(&test.pointer));
    // What a value must be rules out more lines than what it must not be.
    tests.0.sort_by_key(|test| !test.is_text());
}
