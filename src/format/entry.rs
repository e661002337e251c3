//! The model: what a transcript says, whoever wrote it.
//!
//! An [`Entry`] is something said, called or marked. It borrows from the line it was decoded from, where the line has it
//! as it is.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use serde::{Deserialize, Serialize};

use crate::time::Time;

/// A place between two lines of a transcript. Only what the lines come from knows what its number counts: bytes of a file.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Position(u64);

impl Position {
    pub const START: Position = Position(0);

    pub const fn new(number: u64) -> Position {
        Position(number)
    }

    /// For the source of the lines, and for files that keep it.
    pub const fn number(self) -> u64 {
        self.0
    }

    pub fn is_start(self) -> bool {
        self == Position::START
    }

    /// The amount between an earlier position and this one.
    pub fn since(self, earlier: Position) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Defines an enum whose variants have names that people and programs read: `name()`, `named()`, and `ALL` of them.
#[macro_export]
macro_rules! named {
    ($(#[$attribute:meta])* pub enum $type:ident {
        $($(#[$of_variant:meta])* $variant:ident = $name:literal,)*
    }) => {
        $(#[$attribute])*
        pub enum $type {
            $($(#[$of_variant])* $variant,)*
        }

        impl $type {
            pub const ALL: [$type; [$($name),*].len()] = [$($type::$variant),*];

            pub fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)*
                }
            }

            pub fn named(name: &str) -> Option<$type> {
                $type::ALL.into_iter().find(|known| known.name() == name)
            }
        }
    };
}
pub use named;

named! {
    /// The author of an entry.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Role {
        User = "user",
        Assistant = "assistant",
        System = "system",
    }
}

named! {
    /// The kind of a tool call, whatever the agent calls the tool.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Act {
        Edit = "edit",
        Read = "read",
        Search = "search",
        Run = "run",
        Fetch = "fetch",
        Delegate = "delegate",
        Plan = "plan",
        #[default]
        Other = "other",
    }
}

named! {
    /// A point in the conversation that is neither text nor call.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Mark {
        /// The agent summed up its context and went on with the summary.
        Compaction = "compaction",
        /// The user stopped the agent.
        Interrupt = "interrupt",
        /// The model, the network or the account failed.
        Error = "error",
        /// A command to the client: `/clear`, `!ls`.
        Command = "command",
        /// The client's own account of where the work stands, written for a user who was away.
        Recap = "recap",
        /// Anything else that a machine put into the conversation.
        Note = "note",
    }
}

/// The hash of an id that the client wrote (of a line, a message, a call). Ids are compared, never shown.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct Id(pub u64);

impl Id {
    /// FNV-1a: the same on every machine and in every release, because cursors and caches keep it.
    pub fn of(bytes: &[u8]) -> Id {
        Id(bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        }))
    }

    /// The id of what a client gave a name, eight bytes at a time: every line has some. Also the same on every machine.
    pub fn named(name: &[u8]) -> Id {
        let words = name.chunks(8).map(|chunk| match chunk.first_chunk() {
            Some(word) => u64::from_le_bytes(*word),
            None => chunk
                .iter()
                .rev()
                .fold(0, |word, byte| word << 8 | u64::from(*byte)),
        });
        Id(words.fold(mix(name.len() as u64), |hash, word| mix(hash ^ word)))
    }

    /// Half of it: enough to tell apart the few that are compared.
    pub fn short(self) -> u32 {
        self.0 as u32
    }

    /// The id of the `index`-th thing of a kind within the thing that has this id.
    pub fn part(self, kind: u8, index: usize) -> Id {
        Id(mix(mix(self.0 ^ u64::from(kind)) ^ index as u64))
    }
}

/// Spreads the bits of a number over all others.
fn mix(number: u64) -> u64 {
    let product = u128::from(number ^ 0xcbf2_9ce4_8422_2325) * 0x9e37_79b9_7f4a_7c15;
    (product >> 64) as u64 ^ product as u64
}

/// Ids are hashes already.
#[derive(Default)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, id: u64) {
        self.0 = id;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

pub type Ids = HashSet<Id, BuildHasherDefault<IdHasher>>;
pub type ById<T> = HashMap<Id, T, BuildHasherDefault<IdHasher>>;

#[derive(Debug, Clone, PartialEq)]
pub enum What<'a> {
    Text(Cow<'a, str>),
    Thinking(LongText<'a>),
    Call(Call<'a>),
    /// The outcome of the call whose id is `call`. No text: the line tells only how it ended.
    Result {
        call: Option<Id>,
        failed: bool,
        /// It failed because the user did not allow it.
        denied: bool,
        /// It failed, but the command never ran or was broken off.
        unclear: bool,
        /// The user stopped the agent with it.
        stopped: bool,
        /// The file that it wrote had been there before; known only where details are asked for.
        replaced: bool,
        text: Option<LongText<'a>>,
    },
    /// A call waits for the user to allow it, or waits no longer.
    Permission {
        call: Id,
        waits: bool,
    },
    Mark(Mark, Cow<'a, str>),
}

/// A tool's answer, or the agent's thoughts: long, and of interest to few. It stays as it is written until somebody
/// reads it.
#[derive(Clone)]
pub enum LongText<'a> {
    Written(&'a [u8], fn(&[u8]) -> Cow<str>),
    Read(Cow<'a, str>),
}

impl LongText<'_> {
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            LongText::Written(bytes, read) => read(bytes),
            LongText::Read(text) => Cow::Borrowed(text),
        }
    }

    pub fn into_owned(self) -> LongText<'static> {
        LongText::Read(Cow::Owned(self.text().into_owned()))
    }
}

impl PartialEq for LongText<'_> {
    fn eq(&self, other: &LongText) -> bool {
        self.text() == other.text()
    }
}

impl std::fmt::Debug for LongText<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.text().fmt(out)
    }
}

/// A tool call. `subjects` are the paths, the command or the pattern it is about: one as a rule, none for some tools,
/// several for a patch over several files.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Call<'a> {
    pub id: Option<Id>,
    pub tool: Cow<'a, str>,
    pub act: Act,
    pub subjects: Vec<Cow<'a, str>>,
    pub failed: bool,
    /// Its outcome is known, and since when.
    pub ended: bool,
    pub ended_at: Option<Time>,
    /// The user did not allow it.
    pub denied: bool,
    /// It did not run to its end: the user did not allow it, or something broke it off.
    pub broken_off: bool,
    /// It waits for the user: to answer a question, or to approve a plan.
    pub asks: bool,
    /// It waits for the user to allow it; set where the entries after it were read, too.
    #[serde(skip)]
    pub waits: bool,
    /// More that it carries, if that was asked for.
    pub detail: Option<Box<Detail>>,
}

/// The content of a call beside its subjects.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    /// File by file.
    pub changes: Vec<Change>,
    /// Tasks as they are from now on: all of them, or some that are created or changed.
    pub tasks: Vec<Task>,
    pub all_tasks: bool,
    /// A question to the user.
    pub question: Option<String>,
    /// The plan that the user is to approve.
    pub plan: Option<String>,
    /// The questions one by one, with what the user can answer.
    #[serde(skip)]
    pub asked: Vec<Asked>,
    /// All that the tool is called with, as JSON, where whole texts are asked for.
    #[serde(skip)]
    pub input: Option<String>,
}

/// A question to the user.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Asked {
    pub text: String,
    /// The answers to choose from, each with what it means if that is said.
    pub options: Vec<(String, String)>,
}

/// Text that is written to a file, and text that it replaces.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The file, if the call is about several.
    pub path: Option<String>,
    pub added: String,
    pub removed: String,
    /// The file is written whole; or as the patch says, for the first time.
    pub whole: bool,
    pub deleted: bool,
}

/// Something to be done, as an agent keeps it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub id: Option<String>,
    pub text: Option<String>,
    pub state: Option<TaskState>,
}

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum TaskState {
        Open = "open",
        Active = "active",
        Done = "done",
        Blocked = "blocked",
        Dropped = "dropped",
    }
}

impl TaskState {
    /// The box before a task in a list.
    pub fn mark(self) -> &'static str {
        match self {
            TaskState::Done => "[x]",
            TaskState::Active => "[>]",
            TaskState::Blocked => "[!]",
            TaskState::Open => "[ ]",
            TaskState::Dropped => "[-]",
        }
    }

    /// The states as agents spell them.
    pub fn parse(text: &str) -> Option<TaskState> {
        let plain: String = text.chars().filter(|char| char.is_alphanumeric()).collect();
        Some(match plain.to_lowercase().as_str() {
            "pending" | "open" | "todo" | "notstarted" => TaskState::Open,
            "inprogress" | "active" | "doing" => TaskState::Active,
            "completed" | "complete" | "done" => TaskState::Done,
            "blocked" => TaskState::Blocked,
            "deleted" | "cancelled" | "canceled" | "dropped" => TaskState::Dropped,
            _ => return None,
        })
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Entry<'a> {
    pub time: Option<Time>,
    pub role: Role,
    pub what: What<'a>,
    /// Equal for two entries that are the same one written twice; absent where the client gives no id.
    pub key: Option<Id>,
    /// Equal for all entries of one message, which a client may spread over several lines.
    pub message: Option<Id>,
    /// Typed while the agent was busy; some clients write it again as an ordinary prompt.
    pub queued: bool,
    /// Listed again by a line that repeats the whole conversation.
    pub relisted: bool,
    /// An error which says that nothing more is to be had for now: a limit of the account or of the context.
    pub limit: bool,
    /// The user took back so many turns before it.
    pub takes_back: u32,
    /// One more message begins with this entry. Set by `read::once`, as is `renews`.
    pub begins: bool,
    /// A later version of an entry that was read before, or the same again.
    pub renews: bool,
}

fn own(text: Cow<str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

impl Call<'_> {
    /// Its change of a file, and true if it creates it: it writes the file whole, and nobody knows of an earlier one.
    /// `is_new` says that the session did not look at it before, `replaced` that the result tells of an earlier one.
    pub fn change(&self, path: &str, is_new: bool, replaced: bool) -> Option<(&Change, bool)> {
        let changes = self
            .detail
            .as_deref()
            .map_or(&[][..], |detail| &detail.changes);
        let mut own = changes
            .iter()
            .rev()
            .filter(|change| change.path.as_ref().is_none_or(|own| own == path));
        let change = own.next()?;
        // A file that one patch deletes and adds is rewritten.
        let created = change.whole && is_new && !replaced && !own.any(|before| before.deleted);
        Some((change, created))
    }

    pub fn into_owned(self) -> Call<'static> {
        let Call {
            id,
            tool,
            act,
            subjects,
            failed,
            ended,
            ended_at,
            denied,
            broken_off,
            asks,
            waits,
            detail,
        } = self;
        let subjects = subjects.into_iter().map(own).collect();
        Call {
            id,
            tool: own(tool),
            act,
            subjects,
            failed,
            ended,
            ended_at,
            denied,
            broken_off,
            asks,
            waits,
            detail,
        }
    }

    /// Takes in how it ended, as its result tells.
    pub fn end(&mut self, time: Option<Time>, failed: bool, denied: bool, unclear: bool) {
        (self.ended, self.ended_at) = (true, time);
        self.failed |= failed;
        self.denied |= denied;
        self.broken_off |= denied || unclear;
    }

    /// It did what it was made for: its result is there, and is no failure. A call without an id never has a
    /// result. Where the agent went on without one, it is sure only of calls that look something up.
    pub fn is_done(&self, went_on: bool) -> bool {
        let looked_up = went_on
            && matches!(self.act, Act::Read | Act::Search | Act::Fetch)
            && !self.subjects.is_empty();
        !self.failed && (self.ended || self.id.is_none() || looked_up)
    }
}

impl What<'_> {
    pub fn into_owned(self) -> What<'static> {
        match self {
            What::Text(text) => What::Text(own(text)),
            What::Thinking(text) => What::Thinking(text.into_owned()),
            What::Call(call) => What::Call(call.into_owned()),
            What::Result {
                call,
                failed,
                denied,
                unclear,
                stopped,
                replaced,
                text,
            } => {
                let text = text.map(LongText::into_owned);
                What::Result {
                    call,
                    failed,
                    denied,
                    unclear,
                    stopped,
                    replaced,
                    text,
                }
            }
            What::Permission { call, waits } => What::Permission { call, waits },
            What::Mark(mark, text) => What::Mark(mark, own(text)),
        }
    }
}

impl<'a> Entry<'a> {
    /// The call that this entry is.
    pub fn call(&self) -> Option<&Call<'a>> {
        match &self.what {
            What::Call(call) => Some(call),
            _ => None,
        }
    }

    /// The call that this entry is, if its result is still to come.
    pub fn open_call(&self) -> Option<&Call<'a>> {
        self.call().filter(|call| call.id.is_some() && !call.ended)
    }

    /// A prompt that was said while the agent was busy, written again where the agent takes it up.
    pub fn is_taken_up(&self) -> bool {
        matches!(self.what, What::Text(_))
            && self.role == Role::User
            && !self.begins
            && !self.renews
    }

    /// A person or the agent said or did something. What a client notes for itself, long after the end
    /// perhaps, is none.
    pub fn is_activity(&self) -> bool {
        !matches!(self.what, What::Mark(mark, _) if !matches!(mark, Mark::Error | Mark::Interrupt))
    }

    /// The length of its text in bytes; thinking and results are read only if somebody wants them.
    pub fn size(&self) -> u64 {
        let length = match &self.what {
            What::Text(text) | What::Mark(_, text) => text.len(),
            What::Call(call) => {
                call.tool.len()
                    + call
                        .subjects
                        .iter()
                        .map(|subject| subject.len())
                        .sum::<usize>()
            }
            _ => 0,
        };
        length as u64
    }

    pub fn into_owned(self) -> Entry<'static> {
        let Entry {
            time,
            role,
            what,
            key,
            message,
            queued,
            relisted,
            limit,
            takes_back,
            begins,
            renews,
        } = self;
        let what = what.into_owned();
        Entry {
            time,
            role,
            what,
            key,
            message,
            queued,
            relisted,
            limit,
            takes_back,
            begins,
            renews,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TitleBy {
    Person,
    Agent,
}

/// Tokens as the client counted them; `total` says that the numbers cover the whole session so far. After `read::once`,
/// input and output are only what no earlier line counted. The context is how many the model had before it in the last
/// request, and the window how many it can have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    pub context: Option<u64>,
    pub window: Option<u64>,
    pub total: bool,
}

/// Said by a line about its session, beside the entries in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts<'a> {
    /// The line itself, where titles name the line they are about.
    pub line: Option<Id>,
    pub time: Option<Time>,
    pub session: Option<Cow<'a, str>>,
    pub cwd: Option<Cow<'a, str>>,
    /// Another directory of the project it belongs to.
    pub project: Option<Cow<'a, str>>,
    pub title: Option<(TitleBy, Cow<'a, str>)>,
    /// The line that the title is about. `read::once` drops a title about a line of another file.
    pub leaf: Option<Id>,
    pub model: Option<Cow<'a, str>>,
    pub usage: Option<Usage>,
    /// The message whose usage this is.
    pub message: Option<Id>,
    /// Somebody is at work, though nothing is said.
    pub active: bool,
    /// The line says that the whole file is a subagent's.
    pub subagent: bool,
    /// It begins a session that the client holds with itself, unless something was said before.
    pub helper: bool,
    /// So many images were in what it said; told only where whole texts are asked for, and after its entries.
    pub images: u32,
}
