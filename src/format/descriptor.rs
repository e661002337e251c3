//! A descriptor as written: the TOML of `formats/*.toml`, checked key by key while it is read.
//!
//! Every type here refuses what it does not know, so that a typo is an error with file and line. What the keys mean is
//! in `formats/README.md`; `super::compile` turns the result into a [`super::Format`].

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};

use super::pattern::{Pattern, Spelling};
use crate::entry::{Act, Mark, Role};

/// What is needed to find sessions. It stands before everything else in the file, so that it can be read alone.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    pub agent: String,
    /// How its sessions are called where other agents' are told of them; the name of the format if there is none.
    pub label: Option<String>,
    #[serde(default)]
    pub alias: Vec<String>,
    #[serde(default)]
    pub resume: Option<String>,
    #[serde(rename = "root")]
    pub roots: Vec<Root>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Root {
    /// The variable that moves this root.
    pub env: Option<String>,
    /// Where it is if the variable is not set; without it the root exists only where the variable says.
    pub path: Option<String>,
    pub files: Vec<Pattern>,
    #[serde(default)]
    pub not: Vec<Pattern>,
    /// How `{cwd}` is spelt in `files`.
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
            let up = sub.0.iter().take_while(|segment| segment.literal() == Some("..")).count();
            let kept = files.0.len().saturating_sub(1 + up);
            Pattern([&files.0[..kept], &sub.0[up..]].concat())
        };
        self.files.iter().flat_map(move |files| self.subagents.iter().map(move |sub| below(files, sub)))
    }
}

/// A small file next to a transcript: `key: value` lines, or the value alone (`*`).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    pub file: String,
    pub cwd: Option<String>,
    pub title: Option<String>,
    /// The key that is `true` if a person gave the title.
    pub by_person: Option<String>,
}

/// A JSONL file under the root that names sessions by id; the last line of an id wins.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Titles {
    pub file: String,
    pub id: Pointer,
    pub person: Pointer,
}

/// What is needed to read them: the rest of the file, from `[line]` on.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    pub line: Line,
    #[serde(default)]
    pub subagent: Subagent,
    #[serde(rename = "rule")]
    pub rules: Vec<Rule>,
    #[serde(rename = "block", default)]
    pub blocks: Vec<Block>,
    #[serde(default)]
    pub prompt: Prompt,
    #[serde(default)]
    pub words: Words,
    pub hook: Option<Hook>,
    #[serde(default)]
    pub tools: BTreeMap<String, Tool>,
}

/// What any line may carry.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    #[serde(default)]
    pub time: Pointers,
    #[serde(default)]
    pub id: Pointers,
    #[serde(default)]
    pub cwd: Pointers,
    /// A list of lines inside a line, by which a client repeats what it wrote before.
    pub again: Option<Pointer>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subagent {
    /// Lines of a subagent inside its parent's file.
    pub line: Option<Tests>,
    /// The line that says that the file is a subagent's.
    pub file: Option<Tests>,
}

/// What a line is. The first rule whose tests all hold is applied.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    #[serde(default)]
    pub when: Tests,
    /// Tests of the first block of the content.
    #[serde(default)]
    pub first: Tests,
    #[serde(default, deserialize_with = "role")]
    pub role: Option<Role>,
    #[serde(default, deserialize_with = "mark")]
    pub mark: Option<Mark>,
    #[serde(default)]
    pub queued: bool,
    #[serde(default)]
    pub content: Pointers,
    #[serde(default)]
    pub thinking: Pointers,
    #[serde(default)]
    pub error: Pointers,
    pub call: Option<Call>,
    pub result: Option<Outcome>,
    #[serde(default)]
    pub message: Pointers,
    #[serde(default)]
    pub session: Pointers,
    #[serde(default)]
    pub cwd: Pointers,
    /// Another directory of the project that the session belongs to.
    #[serde(default)]
    pub project: Pointers,
    #[serde(default)]
    pub title: Title,
    #[serde(default)]
    pub model: Pointers,
    pub usage: Option<Usage>,
}

/// What an item of a content list is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    #[serde(default)]
    pub when: Tests,
    #[serde(default)]
    pub content: Pointers,
    #[serde(default)]
    pub thinking: Pointers,
    #[serde(default)]
    pub error: Pointers,
    pub call: Option<Call>,
    pub result: Option<Outcome>,
}

impl From<Block> for Rule {
    fn from(block: Block) -> Rule {
        let Block { when, content, thinking, error, call, result } = block;
        Rule { when, content, thinking, error, call, result, ..Rule::default() }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Title {
    #[serde(default)]
    pub person: Pointers,
    #[serde(default)]
    pub agent: Pointers,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    pub input: Pointers,
    pub output: Pointers,
    #[serde(default)]
    pub context: Pointers,
    #[serde(default)]
    pub window: Pointers,
    #[serde(default)]
    pub total: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    #[serde(default)]
    pub id: Pointers,
    pub tool: Pointers,
    #[serde(default)]
    pub input: Pointers,
    pub verb: Option<CallVerb>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    pub id: Pointers,
    #[serde(default)]
    pub failed: Tests,
    #[serde(default)]
    pub failed_starts: Vec<String>,
    #[serde(default)]
    pub text: Pointers,
    pub verb: Option<ResultVerb>,
}

/// User text that no user typed. Tags are named without brackets.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prompt {
    /// Blocks cut out of a prompt; what is left is the prompt.
    #[serde(default)]
    pub strip: Vec<String>,
    /// A text that begins with such a block was written by the client.
    #[serde(default)]
    pub machine: Vec<String>,
    /// Likewise, and it is a command to the client.
    #[serde(default)]
    pub command: Vec<String>,
    /// Beginnings of texts that the client wrote.
    #[serde(default)]
    pub starts: Vec<String>,
    #[serde(default)]
    pub command_starts: Vec<String>,
    #[serde(default)]
    pub interrupt: Vec<String>,
}

/// What the client itself writes where a tool, a model or a user would speak.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// Beginnings of the result of a call that the user did not allow.
    #[serde(default)]
    pub denied: Vec<String>,
    /// Parts of the failed result of a command that never ran or was broken off: how it would have ended is not known.
    #[serde(default)]
    pub unclear: Vec<String>,
    /// Parts of the result of writing a file that had been there before.
    #[serde(default)]
    pub replaced: Vec<String>,
    /// Parts of an error which says that nothing more is to be had for now, in lower case.
    #[serde(default)]
    pub limit: Vec<String>,
    /// A compaction summary or recap that begins like this begins with a line of the client's.
    #[serde(default)]
    pub preamble: Vec<String>,
    /// From here to its end, a compaction summary or recap is the client's.
    #[serde(default)]
    pub closing: Vec<String>,
}

/// How the agent's hook talks: what it is given on stdin, and where its reply goes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hook {
    /// The events that bring a prompt, and those that begin a session.
    pub prompts: Vec<String>,
    #[serde(default)]
    pub starts: Vec<String>,
    /// How it begins: anew, again, after a compaction.
    #[serde(default)]
    pub source: Pointers,
    /// Where the name of the event is; an agent may not tell it.
    #[serde(default)]
    pub event: Pointers,
    pub session: Pointers,
    #[serde(default)]
    pub transcript: Pointers,
    #[serde(default)]
    pub cwd: Pointers,
    pub prompt: Pointers,
    /// There only when it is a subagent's.
    #[serde(default)]
    pub subagent: Pointers,
    /// Variables that tell the session's id to what the agent runs.
    #[serde(default)]
    pub env: Vec<String>,
    pub reply: Reply,
}

/// Where the text goes in the reply, and what must stand beside it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    pub text: Pointer,
    /// Where the name of the event is repeated.
    pub event: Option<Pointer>,
    #[serde(default)]
    pub also: BTreeMap<String, toml::Value>,
    /// The client escapes angle brackets in the text, so there had better be none.
    #[serde(default)]
    pub escapes: bool,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    #[serde(deserialize_with = "act")]
    pub act: Act,
    /// Paths within the input, without the leading slash; the first that is there is the subject.
    #[serde(default)]
    pub subject: Many<String>,
    pub verb: Option<ToolVerb>,
    /// The text that it writes and the text that it replaces; `*` stands for all elements of a list.
    #[serde(default)]
    pub new: Many<String>,
    #[serde(default)]
    pub old: Many<String>,
    /// The list of all tasks, or the one task, that it sets.
    pub tasks: Option<TaskKeys>,
    pub task: Option<TaskKeys>,
    /// What the user is asked, and the plan to be approved.
    pub question: Option<String>,
    pub plan: Option<String>,
}

/// Where a task is, and its parts in it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskKeys {
    /// The list, within the input; the input itself if it is left out.
    #[serde(default)]
    pub list: String,
    pub id: Option<String>,
    pub text: Option<String>,
    pub state: Option<String>,
    /// A list that says what it waits for.
    pub blocked: Option<String>,
}

/// What the keys of a call cannot say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallVerb {
    /// The input is a string that holds JSON.
    Json,
    /// The input is an object of changes by path, each of a `type`: `add`, `update` or `delete`.
    Changes,
}

/// What the keys of a result cannot say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResultVerb {
    /// The text tells an exit code.
    Exit,
}

/// What the keys of a tool cannot say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolVerb {
    /// The subject is a command as a list of words, perhaps wrapped in a shell.
    Argv,
    /// The subject is a patch; its files are the subjects.
    Patch,
    /// The subject is a script that runs commands; they are the subjects.
    Script,
}

/// A JSON pointer (RFC 6901), split at its slashes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Pointer(pub Vec<String>);

impl TryFrom<String> for Pointer {
    type Error = String;

    fn try_from(text: String) -> Result<Pointer, String> {
        match text.strip_prefix('/') {
            Some(path) => Ok(Pointer::below(path)),
            None => Err(format!("a JSON pointer starts with a slash: \"/{text}\"")),
        }
    }
}

impl Pointer {
    /// A pointer without its leading slash.
    pub fn below(path: &str) -> Pointer {
        let keys = path.split('/').filter(|_| !path.is_empty());
        Pointer(keys.map(|key| key.replace("~1", "/").replace("~0", "~")).collect())
    }
}

pub type Pointers = Many<Pointer>;

/// One value or a list of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Many<T>(pub Vec<T>);

impl<T> Default for Many<T> {
    fn default() -> Many<T> {
        Many(Vec::new())
    }
}

impl<'de, T> Deserialize<'de> for Many<T>
where
    T: Deserialize<'de> + TryFrom<String>,
    T::Error: fmt::Display,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Many<T>, D::Error> {
        struct One<T>(std::marker::PhantomData<T>);
        impl<'de, T> Visitor<'de> for One<T>
        where
            T: Deserialize<'de> + TryFrom<String>,
            T::Error: fmt::Display,
        {
            type Value = Many<T>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a string or a list of strings")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Many<T>, E> {
                T::try_from(text.to_owned()).map(|one| Many(vec![one])).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Many<T>, A::Error> {
                let mut all = Vec::new();
                while let Some(one) = seq.next_element()? {
                    all.push(one);
                }
                Ok(Many(all))
            }
        }
        deserializer.deserialize_any(One(std::marker::PhantomData))
    }
}

/// Tests for equality: pointer and the values it may have.
#[derive(Debug, Default, Deserialize)]
#[serde(try_from = "BTreeMap<String, Expected>")]
pub struct Tests(pub Vec<(Pointer, Vec<Expect>)>);

impl TryFrom<BTreeMap<String, Expected>> for Tests {
    type Error = String;

    fn try_from(tests: BTreeMap<String, Expected>) -> Result<Tests, String> {
        tests
            .into_iter()
            .map(|(key, expected)| Ok((Pointer::try_from(key)?, expected.0)))
            .collect::<Result<_, _>>()
            .map(Tests)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Expect {
    /// `false`: false, null or not there.
    Absent,
    /// `"*"`: there, and neither false nor null.
    Present,
    True,
    Text(String),
    Number(i64),
}

#[derive(Debug)]
pub struct Expected(Vec<Expect>);

impl<'de> Deserialize<'de> for Expected {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Expected, D::Error> {
        struct Value;
        impl<'de> Visitor<'de> for Value {
            type Value = Expected;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a string, a number, true, false or a list of them")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Expected, E> {
                Ok(Expected(vec![if text == "*" { Expect::Present } else { Expect::Text(text.into()) }]))
            }

            fn visit_bool<E: de::Error>(self, yes: bool) -> Result<Expected, E> {
                Ok(Expected(vec![if yes { Expect::True } else { Expect::Absent }]))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Expected, E> {
                Ok(Expected(vec![Expect::Number(number)]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Expected, A::Error> {
                let mut all = Vec::new();
                while let Some(Expected(some)) = seq.next_element()? {
                    all.extend(some);
                }
                Ok(Expected(all))
            }
        }
        deserializer.deserialize_any(Value)
    }
}

/// A word of the model by its name, or an error that lists the words there are.
fn word<'de, D: Deserializer<'de>, T: Copy>(
    deserializer: D,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    all.iter().copied().find(|&one| name(one) == text).ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|&one| name(one)).collect();
        de::Error::custom(format!("unknown word `{text}`, expected one of {}", names.join(", ")))
    })
}

fn act<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Act, D::Error> {
    word(deserializer, &Act::ALL, Act::name)
}

fn mark<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Mark>, D::Error> {
    word(deserializer, &Mark::ALL, Mark::name).map(Some)
}

fn role<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Role>, D::Error> {
    word(deserializer, &[Role::User, Role::Assistant, Role::System], Role::name).map(Some)
}
