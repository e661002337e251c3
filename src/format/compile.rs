//! From descriptor to [`Format`]: pointers become slots of tries, names become tables.

use std::collections::HashMap;

use super::descriptor::{self, Body, CallVerb, Expect, Pointer, ResultVerb, Tests, ToolVerb};
use super::trie::{Node, Slot, Trie};
use crate::entry::{Act, Mark, Role, TitleBy};

/// The body of a descriptor compiled: what `decode` runs.
#[derive(Debug)]
pub struct Format {
    pub name: String,
    pub line: Shape,
    pub block: Shape,
    /// The input of a call that is JSON inside a string; its slots are the subjects.
    pub input: Shape,
    pub time: Alternatives,
    pub id: Alternatives,
    pub cwd: Alternatives,
    pub again: Option<Slot>,
    pub side_line: Option<Vec<Test>>,
    pub side_file: Option<Vec<Test>>,
    pub detailed: bool,
    pub prompt: descriptor::Prompt,
    pub words: descriptor::Words,
    pub hook: Option<descriptor::Hook>,
    tools: HashMap<String, Tool>,
    other: Tool,
}

/// The rules for lines, or for blocks, and the trie of all their pointers.
#[derive(Debug, Default)]
pub struct Shape {
    pub root: Node,
    pub slots: usize,
    pub rules: Vec<Rule>,
    /// The slot by which most rules are told apart (`/type`), and for each of its values the rules that it leaves.
    pub kind: Option<Slot>,
    kinds: Vec<(String, Vec<usize>)>,
    /// The rules that do not ask for the kind.
    any_kind: Vec<usize>,
}

impl Shape {
    /// The rules, by index and in order, that are left once the kind is known.
    pub fn candidates(&self, is_kind: impl Fn(&str) -> bool) -> &[usize] {
        self.kinds.iter().find(|(kind, _)| is_kind(kind)).map_or(&self.any_kind, |(_, rules)| rules)
    }
}

/// Slots of which the first that is filled counts.
pub type Alternatives = Vec<Slot>;

#[derive(Debug)]
pub struct Test {
    pub slot: Slot,
    pub any: Vec<Expect>,
}

impl Test {
    /// Whether it asks for one of some texts, and for nothing else.
    pub fn is_text(&self) -> bool {
        self.any.iter().all(|expected| matches!(expected, Expect::Text(_)))
    }
}

#[derive(Debug)]
pub struct Rule {
    pub when: Vec<Test>,
    /// Tests of the first block of the content; their slots are those of blocks.
    pub first: Vec<Test>,
    /// The slots that a line of this rule has filled when nothing more of it is wanted, as bits; 0 if that cannot be told
    /// before its end. `[line] cwd` is not among them: lines that a person wrote tell it.
    pub enough: u128,
    /// The slots that its tests ask for a text, as bits: they can rule it out early.
    pub asked: u128,
    pub role: Option<Role>,
    pub mark: Option<Mark>,
    pub queued: bool,
    /// All that are filled count, in this order.
    pub content: Vec<Slot>,
    pub thinking: Alternatives,
    pub error: Alternatives,
    pub call: Option<CallKeys>,
    pub result: Option<ResultKeys>,
    pub message: Alternatives,
    pub session: Alternatives,
    pub cwd: Alternatives,
    pub project: Alternatives,
    pub title: Option<(TitleBy, Alternatives)>,
    pub model: Alternatives,
    pub usage: Option<UsageKeys>,
}

#[derive(Debug)]
pub struct CallKeys {
    pub id: Alternatives,
    pub tool: Alternatives,
    /// For each subject of the format, where it may be.
    pub subjects: Vec<Alternatives>,
    /// The input as a whole: where a verb reads it, and where details are asked for.
    pub whole: Alternatives,
    pub verb: Option<CallVerb>,
}

#[derive(Debug)]
pub struct ResultKeys {
    pub id: Alternatives,
    pub failed: Vec<Test>,
    pub failed_starts: Vec<String>,
    pub text: Alternatives,
    pub exit: bool,
}

#[derive(Debug)]
pub struct UsageKeys {
    pub input: Vec<Slot>,
    pub output: Vec<Slot>,
    /// These two only for who asks for details.
    pub context: Vec<Slot>,
    pub window: Vec<Slot>,
    pub total: bool,
}

#[derive(Debug, Clone)]
pub struct Tool {
    pub act: Act,
    /// Indices into the format's subjects.
    pub subjects: Vec<usize>,
    pub verb: Option<ToolVerb>,
    /// As written, for who asks for details.
    pub written: descriptor::Tool,
}

impl Tool {
    fn other() -> Tool {
        Tool { act: Act::Other, subjects: vec![], verb: None, written: descriptor::Tool::default() }
    }
}

impl Format {
    pub fn tool(&self, name: &str) -> &Tool {
        self.tools.get(name).unwrap_or(&self.other)
    }

    /// With details, the whole input of a call is kept, whatever its length.
    pub fn compile(name: &str, body: Body, detailed: bool) -> Format {
        let mut input = Trie::default();
        let mut tools: HashMap<String, Tool> = body
            .tools
            .into_iter()
            .map(|(name, tool)| {
                let subjects = tool.subject.0.iter().map(|path| input.slot(&Pointer::below(path))).collect();
                (name, Tool { act: tool.act, subjects, verb: tool.verb, written: tool })
            })
            .collect();
        let other = tools.remove("*").unwrap_or_else(Tool::other);
        let subjects = if detailed { vec![] } else { pointers(&input.root) };

        let mut block = Trie::default();
        let mut line = Trie::default();
        let time = line.all(&body.line.time.0);
        let id = line.all(&body.line.id.0);
        let cwd = line.all(&body.line.cwd.0);
        let again = body.line.again.as_ref().map(|pointer| line.slot(pointer));
        let side_line = body.subagent.line.map(|all| tests(all, &mut line));
        let side_file = body.subagent.file.map(|all| tests(all, &mut line));
        let always: Vec<_> = [&time[..], &id[..]].concat();
        Format {
            name: name.into(),
            line: shape(body.rules, line, &mut block, &subjects, &always, side_line.as_deref()),
            block: shape(
                body.blocks.into_iter().map(Into::into).collect(),
                block,
                &mut Trie::default(),
                &subjects,
                &[],
                None,
            ),
            input: Shape { root: input.root, slots: input.slots, ..Shape::default() },
            time,
            id,
            cwd,
            again,
            side_line,
            side_file,
            detailed,
            prompt: body.prompt,
            words: body.words,
            hook: body.hook,
            tools,
            other,
        }
    }
}

fn shape(
    rules: Vec<descriptor::Rule>,
    mut trie: Trie,
    blocks: &mut Trie,
    subjects: &[Pointer],
    always: &[Slot],
    side: Option<&[Test]>,
) -> Shape {
    let mut rules: Vec<_> = rules.into_iter().map(|written| rule(written, &mut trie, blocks, subjects)).collect();
    for rule in &mut rules {
        rule.enough = enough(rule, always, side.unwrap_or_default());
        let asked = rule.when.iter().filter(|test| test.is_text() && test.slot < 128);
        rule.asked = asked.fold(0, |bits, test| bits | 1 << test.slot);
    }
    let asks = |rule: &Rule, slot: Slot| rule.when.iter().position(|test| test.slot == slot && test.is_text());
    let kind = (0..trie.slots).max_by_key(|slot| rules.iter().filter(|rule| asks(rule, *slot).is_some()).count());
    let kind = kind.filter(|kind| rules.iter().any(|rule| asks(rule, *kind).is_some()));
    let allows = |rule: &Rule, value: &str| match kind.and_then(|kind| asks(rule, kind)) {
        Some(test) => rule.when[test].any.iter().any(|expected| *expected == Expect::Text(value.into())),
        None => true,
    };
    let mut values: Vec<String> = Vec::new();
    for expected in rules.iter().filter_map(|rule| Some(&rule.when[asks(rule, kind?)?].any)).flatten() {
        if let Expect::Text(value) = expected
            && !values.contains(value)
        {
            values.push(value.clone());
        }
    }
    let left = |value: &str| (0..rules.len()).filter(|rule| allows(&rules[*rule], value)).collect();
    let kinds = values.iter().map(|value| (value.clone(), left(value))).collect();
    let any_kind =
        (0..rules.len()).filter(|rule| kind.is_none_or(|kind| asks(&rules[*rule], kind).is_none())).collect();
    trie.root.sum_up();
    Shape { root: trie.root, slots: trie.slots, rules, kind, kinds, any_kind }
}

/// What a line of a rule must have filled before the rest of it can be left alone. A rule that asks for something not to
/// be there is never sure before the end.
fn enough(rule: &Rule, always: &[Slot], side: &[Test]) -> u128 {
    let sure = rule.when.iter().all(|test| test.is_text()) && rule.session.is_empty() && !rule.when.is_empty();
    let call = rule.call.iter().flat_map(|call| [&call.id, &call.tool, &call.whole]);
    let result = rule.result.iter().flat_map(|result| [&result.id, &result.text]);
    let usage = rule.usage.iter().flat_map(|usage| [&usage.input, &usage.output, &usage.context, &usage.window]);
    let more =
        rule.call.as_ref().is_some_and(|call| call.whole.is_empty()) || rule.result.is_some() || rule.title.is_some();
    let own = [&rule.content, &rule.thinking, &rule.error, &rule.message, &rule.model, &rule.cwd, &rule.project];
    let slots = own.into_iter().chain(call).chain(result).chain(usage).flatten().chain(always).copied();
    let slots: Vec<_> = slots.chain(rule.when.iter().chain(side).map(|test| test.slot)).collect();
    if !sure || more || slots.iter().any(|slot| *slot >= 128) {
        return 0;
    }
    slots.iter().fold(0, |bits, slot| bits | 1 << slot)
}

fn rule(written: descriptor::Rule, trie: &mut Trie, blocks: &mut Trie, subjects: &[Pointer]) -> Rule {
    let title = match (trie.all(&written.title.person.0), trie.all(&written.title.agent.0)) {
        (person, _) if !person.is_empty() => Some((TitleBy::Person, person)),
        (_, agent) if !agent.is_empty() => Some((TitleBy::Agent, agent)),
        _ => None,
    };
    Rule {
        when: tests(written.when, trie),
        first: tests(written.first, blocks),
        enough: 0,
        asked: 0,
        role: written.role,
        mark: written.mark,
        queued: written.queued,
        content: written.content.0.iter().map(|pointer| trie.blocks(pointer)).collect(),
        thinking: trie.all(&written.thinking.0),
        error: trie.all(&written.error.0),
        call: written.call.map(|call| CallKeys {
            id: trie.all(&call.id.0),
            tool: trie.all(&call.tool.0),
            verb: call.verb,
            whole: if call.verb.is_some() || subjects.is_empty() { trie.all(&call.input.0) } else { vec![] },
            subjects: subjects
                .iter()
                .filter(|_| call.verb.is_none())
                .map(|subject| {
                    let at = |input: &Pointer| Pointer([&input.0[..], &subject.0[..]].concat());
                    call.input.0.iter().map(|input| trie.slot(&at(input))).collect()
                })
                .collect(),
        }),
        result: written.result.map(|result| ResultKeys {
            id: trie.all(&result.id.0),
            failed: tests(result.failed, trie),
            failed_starts: result.failed_starts,
            text: result.text.0.iter().map(|pointer| trie.result(pointer)).collect(),
            exit: result.verb == Some(ResultVerb::Exit),
        }),
        message: trie.all(&written.message.0),
        session: trie.all(&written.session.0),
        cwd: trie.all(&written.cwd.0),
        project: trie.all(&written.project.0),
        title,
        model: trie.all(&written.model.0),
        usage: written.usage.map(|usage| UsageKeys {
            input: trie.all(&usage.input.0),
            output: trie.all(&usage.output.0),
            context: if subjects.is_empty() { trie.all(&usage.context.0) } else { vec![] },
            window: if subjects.is_empty() { trie.all(&usage.window.0) } else { vec![] },
            total: usage.total,
        }),
    }
}

fn tests(tests: Tests, trie: &mut Trie) -> Vec<Test> {
    let mut tests: Vec<_> = tests.0.into_iter().map(|(pointer, any)| Test { slot: trie.slot(&pointer), any }).collect();
    // What a value must be rules out more lines than what it must not be.
    tests.sort_by_key(|test| !test.is_text());
    tests
}

/// The pointers of a trie, in the order of their slots.
fn pointers(root: &Node) -> Vec<Pointer> {
    fn collect(node: &Node, path: &mut Vec<String>, all: &mut Vec<(Slot, Pointer)>) {
        all.extend(node.slot.map(|slot| (slot, Pointer(path.clone()))));
        for (key, child) in node.children() {
            path.push(String::from_utf8_lossy(key).into_owned());
            collect(child, path, all);
            path.pop();
        }
    }
    let mut all = Vec::new();
    collect(root, &mut Vec::new(), &mut all);
    all.sort_by_key(|(slot, _)| *slot);
    all.into_iter().map(|(_, pointer)| pointer).collect()
}
