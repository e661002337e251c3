//! From descriptor to [`Format`]: pointers become slots of tries, names become tables.

use std::collections::HashMap;

use super::descriptor::{self, Descriptor, Expect, Pointer, Tests, Verb};
use super::trie::{Node, Slot, Trie};
use crate::entry::{Act, Mark, Role, TitleBy};

/// A descriptor compiled: what `decode` runs.
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
    pub prompt: descriptor::Prompt,
    tools: HashMap<String, Tool>,
    other: Tool,
}

/// The rules for lines, or for blocks, and the trie of all their pointers.
#[derive(Debug, Default)]
pub struct Shape {
    pub root: Node,
    pub slots: usize,
    pub rules: Vec<Rule>,
}

/// Slots of which the first that is filled counts.
pub type Alternatives = Vec<Slot>;

#[derive(Debug)]
pub struct Test {
    pub slot: Slot,
    pub any: Vec<Expect>,
}

#[derive(Debug)]
pub struct Rule {
    pub when: Vec<Test>,
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
    /// The input is a string that holds JSON.
    pub json: Alternatives,
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
    pub total: bool,
}

#[derive(Debug, Clone)]
pub struct Tool {
    pub act: Act,
    /// Indices into the format's subjects.
    pub subjects: Vec<usize>,
    pub verb: Option<Verb>,
}

impl Format {
    pub fn tool(&self, name: &str) -> &Tool {
        self.tools.get(name).unwrap_or(&self.other)
    }

    pub fn compile(name: &str, descriptor: Descriptor) -> Format {
        let mut input = Trie::default();
        let mut tools: HashMap<String, Tool> = descriptor
            .tools
            .into_iter()
            .map(|(name, tool)| {
                let subjects = tool.subject.0.iter().map(|path| input.slot(&Pointer::below(path))).collect();
                (name, Tool { act: tool.act, subjects, verb: tool.verb })
            })
            .collect();
        let other = tools.remove("*").unwrap_or(Tool { act: Act::Other, subjects: vec![], verb: None });
        let subjects = pointers(&input.root);

        let mut line = Trie::default();
        let time = line.all(&descriptor.line.time.0);
        let id = line.all(&descriptor.line.id.0);
        let cwd = line.all(&descriptor.line.cwd.0);
        let again = descriptor.line.again.as_ref().map(|pointer| line.slot(pointer));
        let side_line = descriptor.subagent.line.map(|all| tests(all, &mut line));
        let side_file = descriptor.subagent.file.map(|all| tests(all, &mut line));
        Format {
            name: name.into(),
            line: shape(descriptor.rules, line, &subjects),
            block: shape(descriptor.blocks, Trie::default(), &subjects),
            input: Shape { root: input.root, slots: input.slots, rules: vec![] },
            time,
            id,
            cwd,
            again,
            side_line,
            side_file,
            prompt: descriptor.prompt,
            tools,
            other,
        }
    }
}

fn shape(rules: Vec<descriptor::Rule>, mut trie: Trie, subjects: &[Pointer]) -> Shape {
    let rules = rules.into_iter().map(|written| rule(written, &mut trie, subjects)).collect();
    Shape { root: trie.root, slots: trie.slots, rules }
}

fn rule(written: descriptor::Rule, trie: &mut Trie, subjects: &[Pointer]) -> Rule {
    let title = match (trie.all(&written.title.person.0), trie.all(&written.title.agent.0)) {
        (person, _) if !person.is_empty() => Some((TitleBy::Person, person)),
        (_, agent) if !agent.is_empty() => Some((TitleBy::Agent, agent)),
        _ => None,
    };
    Rule {
        when: tests(written.when, trie),
        role: written.role,
        mark: written.mark,
        queued: written.queued,
        content: written.content.0.iter().map(|pointer| trie.blocks(pointer)).collect(),
        thinking: trie.all(&written.thinking.0),
        error: trie.all(&written.error.0),
        call: written.call.map(|call| CallKeys {
            id: trie.all(&call.id.0),
            tool: trie.all(&call.tool.0),
            json: if call.verb == Some(Verb::Json) { trie.all(&call.input.0) } else { vec![] },
            subjects: subjects
                .iter()
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
            text: trie.all(&result.text.0),
            exit: result.verb == Some(Verb::Exit),
        }),
        message: trie.all(&written.message.0),
        session: trie.all(&written.session.0),
        cwd: trie.all(&written.cwd.0),
        title,
        model: trie.all(&written.model.0),
        usage: written.usage.map(|usage| UsageKeys {
            input: trie.all(&usage.input.0),
            output: trie.all(&usage.output.0),
            total: usage.total,
        }),
    }
}

fn tests(tests: Tests, trie: &mut Trie) -> Vec<Test> {
    tests.0.into_iter().map(|(pointer, any)| Test { slot: trie.slot(&pointer), any }).collect()
}

/// The pointers of a trie, in the order of their slots.
fn pointers(root: &Node) -> Vec<Pointer> {
    fn collect(node: &Node, path: &mut Vec<String>, all: &mut Vec<(Slot, Pointer)>) {
        all.extend(node.slot.map(|slot| (slot, Pointer(path.clone()))));
        for (key, child) in &node.keys {
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
