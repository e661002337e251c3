//! A descriptor as written: the TOML of `formats/*.toml`, checked key by key while it is read.
//!
//! Every type here refuses what it does not know, so that a typo is an error with file and line. What the keys mean is
//! in `formats/README.md`. `super::compile` fills in what is computed and makes a [`super::Format`] of the result.
//!
//! `build.rs` uses this file, too. It stores the parts of the built-in descriptors in a binary form that serde derives.

use std::collections::BTreeMap;
use std::ops::Deref;

use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

use super::install::Install;
use super::live::Live;
use super::pattern::{Pattern, Spelling};
use super::trie::Slot;
pub use super::written::Pointer;
use super::written::{Many, two_forms};
use crate::entry::{Act, Mark, Role};

/// Reads a field that is stored, but that nobody writes.
fn computed<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    if deserializer.is_human_readable() {
        return Err(D::Error::custom("this is computed; leave it out"));
    }
    T::deserialize(deserializer)
}

/// A whole file. The fields are those of its parts, which say what they mean.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Descriptor {
    agent: String,
    label: Option<String>,
    #[serde(default)]
    alias: Vec<String>,
    resume: Option<String>,
    #[serde(default)]
    start: Vec<String>,
    #[serde(rename = "root")]
    roots: Vec<Root>,
    pub(super) line: LineKeys,
    #[serde(default)]
    pub(super) subagent: Subagent,
    #[serde(rename = "rule")]
    pub(super) rules: Vec<Rule>,
    #[serde(rename = "block", default)]
    pub(super) blocks: Vec<BlockRule>,
    #[serde(default)]
    pub(super) words: Words,
    #[serde(default)]
    pub(super) tools: BTreeMap<String, Tool>,
    #[serde(default)]
    pub(super) prompt: Prompt,
    hook: Option<Hook>,
    #[serde(default)]
    live: Live,
    install: Option<Install>,
}

impl Descriptor {
    /// The parts beside the rules for lines, by when they are needed.
    pub fn parts(self) -> (Head, Talk, Live, Option<Install>) {
        let Descriptor {
            agent,
            label,
            alias,
            resume,
            start,
            roots,
            prompt,
            hook,
            live,
            install,
            ..
        } = self;

        let head = Head {
            agent,
            label,
            alias,
            resume,
            start,
            roots,
        };
        (head, Talk { prompt, hook }, live, install)
    }
}

/// Enough to find sessions.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Head {
    pub agent: String,
    /// The prefix of its sessions for other agents: `codex:fix-login`. The name of the format if there is none.
    pub label: Option<String>,
    pub alias: Vec<String>,
    pub resume: Option<String>,
    /// The words of the command that starts it with a first prompt, which takes the place of `{prompt}`.
    pub start: Vec<String>,
    pub roots: Vec<Root>,
}

/// Enough to answer a hook when there is nothing to tell.
#[derive(Debug, Serialize, Deserialize)]
pub struct Talk {
    pub prompt: Prompt,
    pub hook: Option<Hook>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Root {
    /// The variable that moves this root.
    pub env: Option<String>,
    /// Used if the variable is not set; without it the root exists only where the variable says.
    pub path: Option<String>,
    pub files: Vec<Pattern>,
    #[serde(default)]
    pub not: Vec<Pattern>,
    /// The spelling of `{cwd}` in `files`.
    pub cwd: Option<Spelling>,
    pub beside: Option<Beside>,
    pub titles: Option<Titles>,
    /// The transcripts of a session's subagents, from the directory that the session's own is in.
    #[serde(default)]
    pub subagents: Vec<Pattern>,
}

impl Root {
    /// The patterns of subagents' transcripts from the root on; `{id}` in them is the id of the session.
    pub fn subagent_patterns(&self) -> impl Iterator<Item = Pattern> {
        let below = |files: &Pattern, sub: &Pattern| {
            let up = sub
                .0
                .iter()
                .take_while(|segment| segment.literal() == Some(".."))
                .count();
            let kept = files.0.len().saturating_sub(1 + up);
            Pattern([&files.0[..kept], &sub.0[up..]].concat())
        };
        self.files
            .iter()
            .flat_map(move |files| self.subagents.iter().map(move |sub| below(files, sub)))
    }
}

/// A small file next to a transcript: `key: value` lines, or the value alone (`*`).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    pub file: String,
    pub cwd: Option<String>,
    pub title: Option<String>,
    /// The key that is `true` if a person gave the title.
    pub by_person: Option<String>,
}

/// A JSONL file under the root that names sessions by id; the last line of an id wins.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Titles {
    pub file: String,
    pub id: Pointer,
    pub person: Pointer,
}

/// For any line.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LineKeys {
    pub time: Keys,
    pub id: Keys,
    pub cwd: Keys,
    /// A list of lines inside a line, by which a client repeats what it wrote before.
    pub again: Keys,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Subagent {
    /// Lines of a subagent inside its parent's file.
    pub line: Option<Tests>,
    /// The line that says that the file is a subagent's.
    pub file: Option<Tests>,
}

/// Says what a line is. The first rule whose tests all hold is applied.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    pub when: Tests,
    /// Tests of the first block of the content.
    pub first: Tests,
    pub role: Option<Role>,
    pub mark: Option<Mark>,
    pub queued: bool,
    pub content: Keys,
    pub thinking: Keys,
    /// An error, or a stop by the user, beside what was said before.
    pub error: Keys,
    pub interrupt: Keys,
    /// The number of turns that the user took back, beside an `interrupt`.
    pub takes_back: Keys,
    pub call: Option<CallKeys>,
    pub result: Option<ResultKeys>,
    /// It is an image.
    pub image: bool,
    /// The call that waits for the user to allow it, or that waits no longer.
    pub waits: Keys,
    pub goes_on: Keys,
    pub message: Keys,
    pub session: Keys,
    pub cwd: Keys,
    /// Another directory of the project that the session belongs to.
    pub project: Keys,
    pub title: Title,
    /// Somebody is at work, though the line says nothing.
    pub active: bool,
    pub model: Keys,
    pub usage: Option<UsageKeys>,
    /// The slots that a line of this rule has filled when nothing more of it is wanted, as bits; 0 if that cannot be known
    /// before its end. `[line] cwd` is not among them: lines that a person wrote have it.
    #[serde(deserialize_with = "computed")]
    pub enough: u128,
    /// The slots that its tests ask for a text, as bits: they can rule it out early.
    #[serde(deserialize_with = "computed")]
    pub asked: u128,
}

/// Says what an item of a content list is.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BlockRule {
    pub when: Tests,
    pub content: Keys,
    pub thinking: Keys,
    pub error: Keys,
    pub call: Option<CallKeys>,
    pub result: Option<ResultKeys>,
    pub image: bool,
}

impl From<BlockRule> for Rule {
    fn from(block: BlockRule) -> Rule {
        let BlockRule {
            when,
            content,
            thinking,
            error,
            call,
            result,
            image,
        } = block;
        Rule {
            when,
            content,
            thinking,
            error,
            call,
            result,
            image,
            ..Rule::default()
        }
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Title {
    pub person: Keys,
    pub agent: Keys,
    /// The id of the line that the title is about. It counts only if that line is in the same file.
    pub leaf: Keys,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsageKeys {
    pub input: Keys,
    pub output: Keys,
    /// These two have slots only where details are asked for.
    #[serde(default)]
    pub context: Keys,
    #[serde(default)]
    pub window: Keys,
    #[serde(default)]
    pub total: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallKeys {
    #[serde(default)]
    pub id: Keys,
    pub tool: Keys,
    /// The input as a whole: has slots only where a verb reads it, or where details are asked for.
    #[serde(default)]
    pub input: Keys,
    pub verb: Option<CallVerb>,
    /// For each subject of the format, where it may be.
    #[serde(default, deserialize_with = "computed")]
    pub subjects: Vec<Vec<Slot>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultKeys {
    pub id: Keys,
    #[serde(default)]
    pub failed: Tests,
    #[serde(default)]
    pub failed_starts: Vec<String>,
    /// Texts near the end of the output, after the last of which its exit code stands.
    #[serde(default)]
    pub exit_code_after: Vec<String>,
    #[serde(default)]
    pub text: Keys,
    pub verb: Option<ResultVerb>,
}

/// User text that no user typed. Tags are named without brackets.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Prompt {
    /// Blocks cut out of a prompt; what is left is the prompt.
    pub strip: Vec<String>,
    /// A text that begins with such a block was written by the client.
    pub machine: Vec<String>,
    /// Likewise, and it is a command to the client.
    pub command: Vec<String>,
    /// Beginnings of texts that the client wrote.
    pub starts: Vec<String>,
    pub command_starts: Vec<String>,
    pub interrupt: Vec<String>,
    /// Text that the client puts around what was typed.
    pub wrapped: Vec<Wrapper>,
    /// Beginnings of the first prompt of a session that the client holds with itself: it is listed nowhere.
    pub helper: Vec<String>,
}

/// Text that a client puts around what was typed. Without `until` and `after`, only the beginning is the client's.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wrapper {
    /// Beginnings of a text that is wrapped like this.
    pub starts: Vec<String>,
    /// The typed text follows the first of these. Without one, the text is not wrapped; a line also ends with the text.
    pub until: Option<String>,
    /// The typed text follows the last line that begins like this, from its colon on. Without one, nothing was typed.
    pub after: Option<String>,
    /// A bracket at the end that begins like this is the client's, too.
    pub before: Option<String>,
    /// Several messages are wrapped, and each follows a line that begins like this.
    pub each: Option<String>,
    /// The text begins with the name of a skill. If nothing else was typed, that is a command: this, and the name.
    pub command: Option<String>,
}

/// Words of the client itself where a tool, a model or a user would speak.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Words {
    /// Beginnings of the result of a call that the user did not allow.
    pub denied: Vec<String>,
    /// Parts of the failed result of a command that never ran or was broken off: how it would have ended is not known.
    pub unclear: Vec<String>,
    /// Beginnings of the result of a call by which the user stopped the agent.
    pub stopped: Vec<String>,
    /// Parts of the result of writing a file that had been there before.
    pub replaced: Vec<String>,
    /// Answers that say nothing: the agent was asked by a machine and has nothing to report.
    pub silent: Vec<String>,
    /// Parts of an error which says that nothing more is to be had for now, in lower case.
    pub limit: Vec<String>,
    /// A compaction summary or recap that begins like this begins with a line of the client's.
    pub preamble: Vec<String>,
    /// From here to its end, a compaction summary or recap is the client's.
    pub closing: Vec<String>,
}

/// The agent's hook: its stdin, and the place for its reply.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hook {
    /// The events that bring a prompt, and those that begin a session.
    pub prompts: Vec<String>,
    #[serde(default)]
    pub starts: Vec<String>,
    /// The way it begins: anew, again, after a compaction.
    #[serde(default)]
    pub source: Many<Pointer>,
    /// The name of the event; an agent may not tell it.
    #[serde(default)]
    pub event: Many<Pointer>,
    pub session: Many<Pointer>,
    #[serde(default)]
    pub transcript: Many<Pointer>,
    #[serde(default)]
    pub cwd: Many<Pointer>,
    pub prompt: Many<Pointer>,
    /// There only when it is a subagent's.
    #[serde(default)]
    pub subagent: Many<Pointer>,
    /// There only in the input of another client, which runs this agent's hooks and drops what they print.
    #[serde(default)]
    pub unless: Many<Pointer>,
    /// Variables that tell the session's id to what the agent runs.
    #[serde(default)]
    pub env: Vec<String>,
    pub reply: Reply,
}

/// The places for the text and for what must stand beside it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    pub text: Pointer,
    /// Repeats the name of the event.
    pub event: Option<Pointer>,
    #[serde(default)]
    pub also: BTreeMap<String, Constant>,
    /// The client escapes angle brackets in the text, so there had better be none.
    #[serde(default)]
    pub escapes: bool,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    pub act: Act,
    /// Paths within the input, without the leading slash; the first that is there is the subject.
    #[serde(default)]
    pub subject: Many<String>,
    /// The same, as slots of the input.
    #[serde(default, deserialize_with = "computed")]
    pub subjects: Vec<Slot>,
    pub verb: Option<ToolVerb>,
    /// A program that takes patches: a command that hands it one is an edit of the files in it.
    pub patched_by: Option<String>,
    /// The text that it writes and the text that it replaces; `*` stands for all elements of a list.
    #[serde(default)]
    pub new: Many<String>,
    #[serde(default)]
    pub old: Many<String>,
    /// The list of all tasks, or the one task, that it sets.
    pub tasks: Option<TaskKeys>,
    pub task: Option<TaskKeys>,
    /// The question to the user, and the plan to be approved.
    pub question: Option<String>,
    pub plan: Option<String>,
    /// The answers that the user can choose from, and what each of them means.
    pub options: Option<String>,
    pub about: Option<String>,
}

/// A task, and its parts in it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TaskKeys {
    /// The list, within the input; the input itself if it is left out.
    pub list: String,
    pub id: Option<String>,
    pub text: Option<String>,
    pub state: Option<String>,
    /// A list that says what it waits for.
    pub blocked: Option<String>,
}

/// For what the keys of a call cannot say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallVerb {
    /// The input is a string that holds JSON.
    Json,
    /// The input is an object of changes by path, each of a `type`: `add`, `update` or `delete`.
    Changes,
}

/// For what the keys of a result cannot say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResultVerb {
    /// The text tells an exit code.
    Exit,
}

/// For what the keys of a tool cannot say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolVerb {
    /// The subject is a command as a list of words, perhaps wrapped in a shell.
    Argv,
    /// The subject is a patch; its files are the subjects.
    Patch,
    /// The subject is a script that runs commands; they are the subjects.
    Script,
}

/// Pointers to a value, and their slots once compiled. Of several the first that is filled counts.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Keys {
    #[serde(skip)]
    pub pointers: Vec<Pointer>,
    pub slots: Vec<Slot>,
}

two_forms!(Keys, written as Many<Pointer>);

impl From<Many<Pointer>> for Keys {
    fn from(pointers: Many<Pointer>) -> Keys {
        Keys {
            pointers: pointers.0,
            slots: Vec::new(),
        }
    }
}

impl Deref for Keys {
    type Target = [Slot];

    fn deref(&self) -> &[Slot] {
        &self.slots
    }
}

/// Tests for equality, all of which must hold.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Tests(pub Vec<Test>);

two_forms!(Tests, written as BTreeMap<Pointer, Many<Expect>>);

/// A value, and what it may be.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Test {
    #[serde(skip)]
    pub pointer: Pointer,
    pub slot: Slot,
    pub any: Vec<Expect>,
}

impl From<BTreeMap<Pointer, Many<Expect>>> for Tests {
    fn from(tests: BTreeMap<Pointer, Many<Expect>>) -> Tests {
        Tests(
            tests
                .into_iter()
                .map(|(pointer, any)| Test {
                    pointer,
                    slot: 0,
                    any: any.0,
                })
                .collect(),
        )
    }
}

impl Deref for Tests {
    type Target = [Test];

    fn deref(&self) -> &[Test] {
        &self.0
    }
}

impl Test {
    /// It asks for one of some texts, and for nothing else.
    pub fn is_text(&self) -> bool {
        self.any
            .iter()
            .all(|expected| matches!(expected, Expect::Text(_)))
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub enum Expect {
    /// `false`: false, null or not there.
    Absent,
    /// `"*"`: there, and neither false nor null.
    Present,
    True,
    Text(String),
    Number(i64),
}

two_forms!(Expect, written as toml::Value);

impl TryFrom<toml::Value> for Expect {
    type Error = &'static str;

    fn try_from(value: toml::Value) -> Result<Expect, &'static str> {
        match value {
            toml::Value::Boolean(yes) => Ok(if yes { Expect::True } else { Expect::Absent }),
            toml::Value::Integer(number) => Ok(Expect::Number(number)),
            toml::Value::String(text) if text == "*" => Ok(Expect::Present),
            toml::Value::String(text) => Ok(Expect::Text(text)),
            _ => Err("neither a string, a number, true, false nor a list of them"),
        }
    }
}

/// A value that is handed on as it is, kept as JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Constant(pub String);

two_forms!(Constant, written as toml::Value);

impl TryFrom<toml::Value> for Constant {
    type Error = serde_json::Error;

    fn try_from(value: toml::Value) -> Result<Constant, serde_json::Error> {
        serde_json::to_string(&value).map(Constant)
    }
}
