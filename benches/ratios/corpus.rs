//! The transcripts that the ratios are measured on: like Claude Code's, the same on every machine, made once and kept.

#![allow(clippy::disallowed_methods)] // A program of its own, which has no `Env`.

use std::env;
use std::ffi::CString;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, Write};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::MB;

/// A home with transcripts in it. A change of what is written needs a new `VERSION`.
pub struct Corpus {
    name: &'static str,
    files: usize,
    projects: usize,
    /// Of each file, before it is repeated; with 0 it has a prompt and an answer only.
    bytes: u64,
    /// What the shortest results of tools have; the longest have 32 times as much.
    result: u64,
    /// Nothing but prompts and answers, so that all of it is searched.
    talk: bool,
    /// How often each file's content stands in it.
    repeat: u64,
    /// Lines of 5 MB at the end of each file.
    long_lines: u64,
    /// So many NULs, which take no room on disk, stand before the last turn of one file.
    hole: u64,
    /// One file ends in a prompt with this word, which stands nowhere else.
    rare: Option<&'static str>,
}

const VERSION: &str = "1";
const LONG_LINE: u64 = 5 * MB;

const ONE: Corpus = Corpus {
    name: "",
    files: 1,
    projects: 20,
    bytes: 16 * MB,
    result: 640,
    talk: false,
    repeat: 1,
    long_lines: 0,
    hole: 0,
    rare: None,
};
pub const GB1: Corpus = Corpus {
    name: "gb1",
    repeat: 64,
    ..ONE
};
pub const GB10: Corpus = Corpus {
    name: "gb10",
    repeat: 640,
    ..ONE
};
pub const SHARED: Corpus = Corpus {
    name: "shared",
    bytes: 5 * MB / 2,
    ..ONE
};
pub const SHARED_LONG: Corpus = Corpus {
    name: "shared-long",
    bytes: 100 * MB,
    ..ONE
};
pub const LONG: Corpus = Corpus {
    name: "long",
    long_lines: 60,
    ..ONE
};
pub const SCAN: Corpus = Corpus {
    name: "scan",
    files: 1000,
    bytes: MB,
    ..ONE
};
/// With half as much in a line: about 400 lines in a megabyte. The row that searches what was just said leaves it longer.
pub const SHORT: Corpus = Corpus {
    name: "short",
    result: 250,
    rare: Some("lighthouse"),
    ..SCAN
};
/// 10 GB.
pub const MANY: Corpus = Corpus {
    name: "many",
    files: 10_000,
    ..SHORT
};
pub const TALK: Corpus = Corpus {
    name: "talk",
    talk: true,
    ..SHORT
};
pub const SCAN_TENTH: Corpus = Corpus {
    name: "scan-tenth",
    files: 100,
    ..SCAN
};

pub const HOOK_100: Corpus = Corpus {
    name: "hook100",
    files: 100,
    bytes: MB / 4,
    ..SCAN
};
pub const HOOK_1000: Corpus = Corpus {
    name: "hook1000",
    files: 1000,
    bytes: MB / 16,
    ..SCAN
};
pub const HOOK_10000: Corpus = Corpus {
    name: "hook10000",
    files: 10_000,
    bytes: 1,
    ..SCAN
};
pub const HOOK_10000_IN_50: Corpus = Corpus {
    name: "hook10000in50",
    projects: 50,
    ..HOOK_10000
};
pub const TINY: Corpus = Corpus {
    name: "tiny",
    files: 100_000,
    bytes: 0,
    ..SCAN
};
/// Some sessions, one with a line of 6 GB before its last turn.
pub const HOLE: Corpus = Corpus {
    name: "hole",
    files: 41,
    bytes: 1,
    hole: 6 << 30,
    ..SCAN
};
/// Like the first of these; the rows that make it grow leave it longer.
pub const GROWING: Corpus = Corpus {
    name: "growing",
    ..HOOK_100
};

pub fn root() -> PathBuf {
    let tmp = option_env!("CARGO_TARGET_TMPDIR").map_or_else(env::temp_dir, PathBuf::from);
    tmp.join("session-monitor-bench")
}

pub fn absent(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

impl Corpus {
    /// In the same project as the first.
    const WITH_HOLE: usize = 20;

    pub fn dir(&self) -> PathBuf {
        root().join(self.name)
    }

    pub fn home(&self) -> PathBuf {
        self.dir().join("home")
    }

    fn tree(&self) -> PathBuf {
        self.home().join(".claude/projects")
    }

    fn mark(&self) -> PathBuf {
        self.dir().join("complete")
    }

    fn transcript(&self, number: usize) -> PathBuf {
        let who = Identity::of(number, self.projects);
        self.tree()
            .join(
                who.cwd
                    .replace(|char: char| !char.is_ascii_alphanumeric(), "-"),
            )
            .join(who.id + ".jsonl")
    }

    pub fn expand(&self, word: &str) -> Vec<OsString> {
        match word {
            "FILES" => (0..self.files).map(|n| self.transcript(n).into()).collect(),
            "FILE" => vec![self.transcript(0).into()],
            "TREE" => vec![self.tree().into()],
            "MARK" => vec![self.mark().into()],
            other => vec![other.into()],
        }
    }

    pub fn fill_in(&self, text: &str) -> String {
        let who = Identity::of(0, self.projects);
        let file = self.transcript(0);
        text.replace("FILE", &file.to_string_lossy())
            .replace("SESSION", &who.id)
            .replace("CWD", &who.cwd)
    }

    fn is_complete(&self) -> bool {
        fs::read_to_string(self.mark()).is_ok_and(|version| version == VERSION)
    }

    pub fn lacks_room(&self) -> Option<String> {
        let size = self.files as u64 * (self.bytes * self.repeat + LONG_LINE * self.long_lines);
        let (needed, free) = (size / 2 * 3, free_space(&root())?);
        (!self.is_complete() && free < needed).then(|| {
            let (needed, free) = (needed / MB, free / MB);
            format!("needs {needed} MB of disk, {free} MB are free; set CARGO_TARGET_DIR elsewhere")
        })
    }

    pub fn ensure(&self) -> io::Result<()> {
        if self.is_complete() {
            return Ok(());
        }
        eprintln!("writing corpus {} …", self.dir().display());
        absent(&self.dir())?;
        let lines = source_lines();
        for number in 0..self.files {
            self.write(number, &lines)?;
        }
        // Or the writing back would go on during the measuring.
        // SAFETY: sync takes and returns nothing.
        unsafe { libc::sync() };
        fs::write(self.mark(), VERSION)
    }

    /// 100 KB of new lines at the end of one session. What a writer counts begins at 0.
    pub fn grow(&self) -> io::Result<()> {
        self.append(1, |session| session.converse(100_000))
            .map(drop)
    }

    /// The first session gets one more prompt; returns a word in it that nobody has said before, and when it was said.
    pub fn say(&self) -> io::Result<(String, Instant)> {
        let word = format!("beacon{}", fs::metadata(self.transcript(0))?.len());
        let said = self.append(0, |session| session.ask(&word))?;
        Ok((word, said))
    }

    /// New lines at the end of a session, in one write, each with ids of its own; returns when that began.
    fn append(
        &self,
        number: usize,
        write: impl FnOnce(&mut Session) -> io::Result<()>,
    ) -> io::Result<Instant> {
        let path = self.transcript(number);
        let size = fs::metadata(&path)?.len();
        let lines = source_lines();
        let file = File::options().append(true).open(&path)?;
        let mut session = Session::new(Identity::of(number, self.projects), &lines, file);
        // Other ids than before, and than at the last time.
        session.who.rng = Rng::new(size);
        session.clock = 26 * 86_400_000 + size / 1000;
        write(&mut session)?;
        let began = Instant::now();
        session.out.flush()?;
        Ok(began)
    }

    /// Streams, and lets the kernel copy: the peak memory of a child counts from that of the
    /// process it was spawned by, so this one must stay small.
    fn write(&self, number: usize, lines: &[String]) -> io::Result<()> {
        let path = self.transcript(number);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        let mut session = Session::new(
            Identity::of(number, self.projects),
            lines,
            File::create(&path)?,
        );
        session.result = self.result;
        match self.talk {
            true => session.talk(self.bytes)?,
            false => session.converse(self.bytes)?,
        }
        if self.bytes == 0 {
            session.ask("")?;
            session.assistant(TEXT, 60)?;
        }
        if let Some(word) = self.rare.filter(|_| number == self.files / 2) {
            session.ask(word)?;
        }
        for _ in 0..self.long_lines {
            session.next_message();
            session.assistant(WRITE, LONG_LINE)?;
        }
        if self.hole > 0 && number == Corpus::WITH_HOLE {
            session.out.flush()?;
            let end = session.out.get_ref().metadata()?.len() + self.hole;
            session.out.get_ref().set_len(end)?;
            session.out.seek(io::SeekFrom::End(0))?;
            session.out.write_all(b"\n")?;
            session.converse(end + 1)?;
        }
        let modified = session.now();
        let mut file = session.out.into_inner()?;
        if self.repeat > 1 {
            let block = path.with_extension("block");
            fs::rename(&path, &block)?;
            file = File::create(&path)?;
            for _ in 0..self.repeat {
                io::copy(&mut File::open(&block)?, &mut file)?;
            }
            fs::remove_file(&block)?;
        }
        file.set_modified(modified)
    }
}

/// Bytes free where `path` is or will be.
fn free_space(path: &Path) -> Option<u64> {
    let there = path.ancestors().find(|p| p.exists())?;
    let name = CString::new(there.as_os_str().as_bytes()).ok()?;
    let mut stat = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the name ends in NUL, and the struct is read only after success.
    let stat = unsafe {
        if libc::statvfs(name.as_ptr(), stat.as_mut_ptr()) != 0 {
            return None;
        }
        stat.assume_init()
    };
    #[allow(clippy::cast_lossless)] // Systems differ in how wide these are.
    Some(stat.f_bavail as u64 * stat.f_frsize as u64)
}

// ---------------------------------------------------------------------------------- transcripts

// Lines as Claude Code writes them, keys in its order. A name in angle brackets is filled in by
// `Session::fill`; line ends and indentation are not part of a template.

const COMMON: &str = r#""userType":"external","entrypoint":"cli","cwd":"<cwd>","sessionId":"<session>",
    "version":"2.1.325","gitBranch":"main"}"#;

const ENQUEUE: &str = r#"{"type":"queue-operation","operation":"enqueue","timestamp":"<time>",
    "sessionId":"<session>","content":"<asked>"}"#;

const DEQUEUE: &str = r#"{"type":"queue-operation","operation":"dequeue","timestamp":"<time>","sessionId":"<session>"}"#;

const SNAPSHOT: &str = r#"{"type":"file-history-snapshot","messageId":"<turn>","snapshot":
    {"messageId":"<turn>","trackedFileBackups":{},"timestamp":"<time>"},"isSnapshotUpdate":false}"#;

const PROMPT: &str = r#"{"parentUuid":<parent>,"isSidechain":false,"promptId":"<turn>","type":"user",
    "message":{"role":"user","content":"<asked>"},"uuid":"<uuid>","timestamp":"<time>",
    "permissionMode":"default","origin":{"kind":"human"},"promptSource":"typed","turnOrigin":"human",
    "turnPosition":{"promptIndex":0,"turnIndex":1},<common>"#;

const ATTACHMENT: &str = r#"{"parentUuid":<parent>,"isSidechain":false,"attachment":
    {"type":"skill_listing","content":"<said>","skillCount":13,"isInitial":true},"type":"attachment",
    "uuid":"<uuid>","timestamp":"<time>","rendered":[{"content":"<said>"}],"renderedRole":"system",
    <common>"#;

const ASSISTANT: &str = r#"{"parentUuid":<parent>,"isSidechain":false,"message":{"id":"msg_<step>",
    "type":"message","role":"assistant","model":"claude-opus-5-5","content":[<block>],
    "stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":11794,
    "cache_creation_input_tokens":512,"cache_read_input_tokens":90210,"output_tokens":174,
    "output_tokens_details":{"thinking_tokens":0},"server_tool_use":{"web_search_requests":0,
    "web_fetch_requests":0},"service_tier":"standard","cache_creation":{"ephemeral_1h_input_tokens":0,
    "ephemeral_5m_input_tokens":512},"inference_geo":"","iterations":[],"speed":"standard",
    "fallback_credit":null},"stop_details":null},"apiBlockIndex":<index>,"requestId":"req_<step>",
    "requestRef":"<turn>","requestedModel":"claude-opus-5-5","promptCacheRequested":"5m",
    "type":"assistant","uuid":"<uuid>","timestamp":"<time>","effort":"medium",
    "perTurnEffort":"medium","madeBy":"model",<common>"#;

const THINKING: &str = r#"{"type":"thinking","thinking":"<said>","signature":"c3R1Yg=="}"#;
const TEXT: &str = r#"{"type":"text","text":"<said>"}"#;
const BASH: &str = r#"{"type":"tool_use","id":"toolu_<step>","name":"Bash","input":
    {"command":"cargo test --workspace --release","description":"Run the tests"}}"#;
const READ: &str = r#"{"type":"tool_use","id":"toolu_<step>","name":"Read","input":
    {"file_path":"<cwd>/src/<file>.rs"}}"#;
const WRITE: &str = r#"{"type":"tool_use","id":"toolu_<step>","name":"Write","input":
    {"file_path":"<cwd>/src/<file>.rs","content":"<code>"}}"#;

const RESULT: &str = r#"{"parentUuid":<parent>,"isSidechain":false,"promptId":"<turn>","type":"user",
    "message":{"role":"user","content":[{"tool_use_id":"toolu_<step>","type":"tool_result",<block>,
    "sourceToolAssistantUUID":<parent>,"permissionDecision":{"decision":"accept",
    "source":"user_permanent","reasonType":"rule","ruleSource":"userSettings"},<common>"#;

const BASH_RESULT: &str = r#""content":"<code>","is_error":false}]},"uuid":"<uuid>","timestamp":"<time>",
    "toolUseResult":{"stdout":"<code>","stderr":"","interrupted":false,"isImage":false,
    "noOutputExpected":false},"sandboxed":false"#;
const READ_RESULT: &str = r#""content":"<numbered>"}]},"uuid":"<uuid>","timestamp":"<time>",
    "toolUseResult":{"type":"text","file":{"filePath":"<cwd>/src/<file>.rs","content":"<code>",
    "numLines":90,"startLine":1,"totalLines":90}}"#;
const WRITE_RESULT: &str = r#""content":"File created successfully at: <cwd>/src/<file>.rs"}]},
    "uuid":"<uuid>","timestamp":"<time>","toolUseResult":{"type":"create",
    "filePath":"<cwd>/src/<file>.rs","content":"<code>","structuredPatch":[],"originalFile":null,
    "userModified":false}"#;

/// Calls and their results, as often as they are here.
const TOOLS: &[(&str, &str)] = &[
    (BASH, BASH_RESULT),
    (BASH, BASH_RESULT),
    (BASH, BASH_RESULT),
    (READ, READ_RESULT),
    (READ, READ_RESULT),
    (WRITE, WRITE_RESULT),
];

const DURATION: &str = r#"{"parentUuid":<parent>,"isSidechain":false,"type":"system",
    "subtype":"turn_duration","durationMs":5902,"messageCount":30,"timestamp":"<time>",
    "uuid":"<uuid>","isMeta":false,<common>"#;
const LAST_PROMPT: &str =
    r#"{"type":"last-prompt","lastPrompt":"<asked>","leafUuid":<parent>,"sessionId":"<session>"}"#;
const TITLE: &str = r#"{"type":"ai-title","aiTitle":"<said>","sessionId":"<session>"}"#;

const WORDS: &[&str] = &[
    "add", "the", "parser", "for", "session", "lines", "return", "buffer", "offset", "schema",
    "when", "value", "error", "read", "from", "cache", "index", "token", "quality", "request",
    "naïve", "match", "self", "write", "size", "default", "config", "and", "then", "check",
    "every", "naming", "zone", "queue", "join", "whole", "of", "file", "test", "that", "fails",
    "with", "key", "over", "first",
];

struct Identity {
    id: String,
    cwd: String,
    rng: Rng,
}

impl Identity {
    fn of(number: usize, projects: usize) -> Identity {
        let mut rng = Rng::new(number as u64);
        let project = number % projects;
        let again = if project < WORDS.len() { "" } else { "-2" };
        Identity {
            id: rng.uuid(),
            cwd: format!("/home/dev/src/{}{again}", WORDS[project % WORDS.len()]),
            rng,
        }
    }
}

/// A transcript being written.
struct Session<'a> {
    out: BufWriter<File>,
    lines: &'a [String],
    who: Identity,
    /// Milliseconds since the month began: all happens in March 2025, which spares a calendar.
    clock: u64,
    parent: String,
    uuid: String,
    turn: String,
    /// Seed of the prompt, which stands in several lines.
    asked: u64,
    /// The last word of the prompt.
    word: String,
    step: u64,
    /// Of the line being written: its content, that content's place in the message, and the
    /// length and seed of the text in it. One seed, so that a result and its twin are alike.
    block: &'static str,
    index: usize,
    size: u64,
    seed: u64,
    result: u64,
}

impl<'a> Session<'a> {
    fn new(mut who: Identity, lines: &'a [String], file: File) -> Session<'a> {
        Session {
            out: BufWriter::with_capacity(MB as usize, file),
            lines,
            clock: who.rng.below(25 * 86_400_000),
            who,
            parent: "null".into(),
            uuid: String::new(),
            turn: String::new(),
            asked: 0,
            word: String::new(),
            step: 0,
            block: "",
            index: 0,
            size: 0,
            seed: 0,
            result: SCAN.result,
        }
    }

    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(1_740_787_200_000 + self.clock)
    }

    /// Whole turns until there are that many bytes.
    fn converse(&mut self, bytes: u64) -> io::Result<()> {
        while self.out.stream_position()? < bytes {
            self.turn = self.who.rng.uuid();
            self.asked = self.who.rng.next();
            self.line(ENQUEUE, 0)?;
            self.line(DEQUEUE, 0)?;
            self.line(SNAPSHOT, 0)?;
            self.line(PROMPT, 0)?;
            self.line(ATTACHMENT, 1500)?;
            for _ in 0..4 + self.who.rng.below(12) {
                self.step()?;
            }
            self.next_message();
            self.assistant(TEXT, 600)?;
            self.line(DURATION, 0)?;
            self.line(LAST_PROMPT, 0)?;
            self.line(TITLE, 30)?;
        }
        Ok(())
    }

    /// Prompts, each with some answers, until there are that many bytes.
    fn talk(&mut self, bytes: u64) -> io::Result<()> {
        while self.out.stream_position()? < bytes {
            self.ask("")?;
            for _ in 0..9 {
                self.next_message();
                self.assistant(TEXT, 3000)?;
            }
        }
        Ok(())
    }

    /// A prompt that ends in this word.
    fn ask(&mut self, word: &str) -> io::Result<()> {
        (self.turn, self.asked, self.word) =
            (self.who.rng.uuid(), self.who.rng.next(), format!(" {word}"));
        self.line(PROMPT, 0)?;
        self.word.clear();
        Ok(())
    }

    /// One message of the assistant that ends in a call, and the result of the call.
    fn step(&mut self) -> io::Result<()> {
        self.next_message();
        if self.who.rng.below(3) == 0 {
            self.assistant(THINKING, 300)?;
        }
        if self.who.rng.below(3) == 0 {
            self.assistant(TEXT, 200)?;
        }
        let (call, result) = *self.who.rng.pick(TOOLS);
        // Most results are short, most bytes are in long ones.
        let size = self.result << self.who.rng.below(6);
        self.assistant(call, size)?;
        self.block = result;
        self.line(RESULT, size)
    }

    fn next_message(&mut self) {
        self.step = self.who.rng.next();
        self.index = 0;
    }

    fn assistant(&mut self, block: &'static str, size: u64) -> io::Result<()> {
        self.block = block;
        self.line(ASSISTANT, size)?;
        self.index += 1;
        Ok(())
    }

    fn line(&mut self, template: &str, size: u64) -> io::Result<()> {
        self.clock += 10 + self.who.rng.below(2500);
        self.uuid = self.who.rng.uuid();
        self.size = size;
        self.seed = self.who.rng.next();
        self.put(template)?;
        self.out.write_all(b"\n")?;
        if template.contains("<parent>,\"isSidechain") {
            self.parent = format!("\"{}\"", self.uuid);
        }
        Ok(())
    }

    fn put(&mut self, template: &str) -> io::Result<()> {
        for row in template.lines() {
            for (i, part) in row.trim_start().split(['<', '>']).enumerate() {
                match i % 2 {
                    0 => self.out.write_all(part.as_bytes())?,
                    _ => self.fill(part)?,
                }
            }
        }
        Ok(())
    }

    fn fill(&mut self, name: &str) -> io::Result<()> {
        match name {
            "code" => self.code(false),
            "numbered" => self.code(true),
            "said" => self.prose(self.seed, self.size),
            "asked" => {
                self.prose(self.asked, 120)?;
                self.out.write_all(self.word.as_bytes())
            }
            "block" => self.put(self.block),
            "common" => self.put(COMMON),
            "time" => self.time(),
            "step" => write!(self.out, "01{:022x}", self.step),
            "file" => write!(self.out, "{}", WORDS[self.step as usize % WORDS.len()]),
            "index" => write!(self.out, "{}", self.index),
            "parent" => self.out.write_all(self.parent.as_bytes()),
            "uuid" => self.out.write_all(self.uuid.as_bytes()),
            "turn" => self.out.write_all(self.turn.as_bytes()),
            "session" => self.out.write_all(self.who.id.as_bytes()),
            "cwd" => self.out.write_all(self.who.cwd.as_bytes()),
            other => unreachable!("no value for <{other}>"),
        }
    }

    fn time(&mut self) -> io::Result<()> {
        let (s, ms) = (self.clock / 1000, self.clock % 1000);
        let (day, h, m, s) = (s / 86_400 + 1, s / 3600 % 24, s / 60 % 60, s % 60);
        write!(self.out, "2025-03-{day:02}T{h:02}:{m:02}:{s:02}.{ms:03}Z")
    }

    fn code(&mut self, numbered: bool) -> io::Result<()> {
        let mut rng = Rng::new(self.seed);
        let (mut written, mut number) = (0, 0);
        while written < self.size {
            let line = rng.pick(self.lines);
            number += 1;
            if numbered {
                write!(self.out, "{number}\\t")?;
            }
            self.out.write_all(line.as_bytes())?;
            written += line.len() as u64;
        }
        Ok(())
    }

    fn prose(&mut self, seed: u64, size: u64) -> io::Result<()> {
        let mut rng = Rng::new(seed);
        let mut written = 0;
        while written < size {
            let word = rng.pick(WORDS);
            write!(self.out, "{word} ")?;
            written += word.len() as u64 + 1;
        }
        self.out.write_all(b"done.")
    }
}

/// Lines of code as they stand in a JSON string, about 40 bytes each with the escapes of code.
fn source_lines() -> Vec<String> {
    let mut rng = Rng::new(0);
    (0..4096).map(|_| source_line(&mut rng)).collect()
}

fn source_line(rng: &mut Rng) -> String {
    let indent = if rng.below(4) == 0 { "\\t" } else { "    " };
    let mut line = indent.repeat(rng.below(4) as usize);
    for _ in 0..rng.below(8) {
        line += *rng.pick(WORDS);
        line += *rng.pick(&[" ", "_", ".", "(", ") ", ", ", " = ", "::", "; ", " -> "]);
    }
    if rng.below(8) == 0 {
        line += &format!("\\\"{} {}\\\"", rng.pick(WORDS), rng.pick(WORDS));
    }
    line += *rng.pick(&[";", "", " {", "}", ","]);
    if rng.below(25) == 0 {
        line += " // →";
    }
    line + "\\n"
}

/// xorshift64*, which is enough to look unlike a pattern and is the same everywhere.
struct Rng(u64);

impl Rng {
    fn new(seed: u64) -> Rng {
        // Near seeds must not begin alike, and 0 would stay 0.
        Rng((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 32) % n
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }

    fn uuid(&mut self) -> String {
        let (a, b) = (self.next(), self.next());
        let (time, mid, low) = (a >> 32, a >> 16 & 0xffff, a & 0xfff);
        let (variant, node) = (0x8000 | b >> 50, b & 0xffff_ffff_ffff);
        format!("{time:08x}-{mid:04x}-4{low:03x}-{variant:04x}-{node:012x}")
    }
}
