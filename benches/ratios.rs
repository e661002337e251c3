//! How fast the reader is, as ratios: CPU time of ours against CPU time of a tool everybody has,
//! over the same files, in one interleaved run (ours, theirs, ours, theirs, …; the least of each
//! counts), so that a busy machine slows both sides. A row is one entry of `ROWS`, a corpus one
//! constant; corpora are made once, the same on every machine, and kept until `clean`.
//!
//!     cargo bench                  all rows; exit 1 when one is over its bar or fails
//!     cargo bench -- tail jq       the rows with one of these words in their names
//!     cargo bench -- clean         delete the corpora (about 13 GB)

use std::error::Error;
use std::ffi::{CString, OsString};
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::mem::MaybeUninit;
use std::os::unix::{ffi::OsStrExt, process::ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, SystemTime};
use std::{env, iter};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const MB: u64 = 1 << 20;

// ---------------------------------------------------------------------------------------- rows

/// One comparison. In the command lines FILE stands for the first transcript of the corpus, FILES for
/// all, TREE for their directory, MARK for a file newer than any of them; in `stdin` FILE, SESSION
/// and CWD for path, id and directory of the first.
struct Row {
    name: &'static str,
    ours: &'static str,
    corpus: &'static Corpus,
    reference: &'static str,
    /// The corpus of the reference, if another.
    against: Option<&'static Corpus>,
    stdin: &'static str,
    /// Done before each run of ours, outside the measured time.
    before: fn(&Corpus) -> io::Result<()>,
    /// Lines ours must print at the least: a program that does nothing is fast.
    prints: usize,
    runs: usize,
    bar: f64,
    rss_mb: Option<u64>,
}

const ROW: Row = Row {
    name: "",
    ours: "",
    corpus: &SCAN,
    reference: "",
    against: None,
    stdin: "",
    before: |_| Ok(()),
    prints: 0,
    runs: 25,
    bar: 1.0,
    rss_mb: None,
};

const ROWS: &[Row] = &[
    Row {
        name: "tail 1 GB",
        ours: "session-reader log FILE --lines 50",
        reference: "tail -n 50 FILE",
        corpus: &GB1,
        prints: 50,
        bar: 2.0,
        rss_mb: Some(16),
        ..ROW
    },
    Row {
        name: "tail 10 GB",
        ours: "session-reader log FILE --lines 50",
        reference: "tail -n 50 FILE",
        corpus: &GB10,
        prints: 50,
        bar: 2.0,
        rss_mb: Some(16),
        ..ROW
    },
    // Both files end in the same bytes: what differs is only what must not matter.
    Row {
        name: "tail 10 GB vs 1 GB",
        ours: "session-reader log FILE --lines 50",
        reference: "session-reader log FILE --lines 50",
        corpus: &GB10,
        against: Some(&GB1),
        prints: 50,
        bar: 1.2,
        ..ROW
    },
    // Each line is one entry, so 50 entries and 50 lines are the same bytes.
    Row {
        name: "tail, 5 MB lines",
        ours: "session-reader log FILE --lines 50",
        reference: "tail -n 50 FILE",
        corpus: &LONG,
        prints: 50,
        runs: 7,
        rss_mb: Some(16),
        ..ROW
    },
    Row {
        name: "scan",
        ours: "session-reader list --all",
        reference: "rg -uu -j1 -c lighthouse TREE",
        before: forget,
        prints: 1000,
        runs: 7,
        bar: 1.5,
        ..ROW
    },
    Row {
        name: "scan vs jq",
        ours: "session-reader list --all",
        reference: r#"jq -n reduce(inputs|select(.type=="user"or.type=="assistant"))as$line(0;.+1) FILES"#,
        corpus: &SCAN_TENTH,
        before: forget,
        prints: 100,
        runs: 5,
        bar: 1.0 / 15.0,
        ..ROW
    },
    Row { name: "list cached", ours: "session-reader list --all", reference: "ls -lR TREE", prints: 1000, ..ROW },
];

/// A scan begins with no cache.
fn forget(corpus: &Corpus) -> io::Result<()> {
    absent(&corpus.dir().join("xdg/cache"))
}

// --------------------------------------------------------------------------------------- table

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).filter(|a| a != "--bench").collect();
    if words == ["clean"] {
        return match absent(&root()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(e) => trouble(&format!("{}: {e}", root().display())),
        };
    }
    let chosen = |row: &&Row| words.is_empty() || words.iter().any(|w| row.name.contains(w.as_str()));
    let rows: Vec<&Row> = ROWS.iter().filter(chosen).collect();
    if rows.is_empty() {
        return trouble(&format!("no row is named like {}", words.join(" or ")));
    }
    table(&rows)
}

fn trouble(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::from(2)
}

fn table(rows: &[&Row]) -> ExitCode {
    println!("{:<19} {:>9} {:>9} {:>7} {:>7}  {:<16}", "CPU time", "ours ms", "ref ms", "ratio", "bar", "peak RSS");
    let (mut ok, mut bad) = (0, 0);
    for row in rows {
        if let Some(why) = unmet(row) {
            println!("{:<19} not measured: {why}", row.name);
            continue;
        }
        let within = match measure(row) {
            Ok(measured) => measured.print(row),
            Err(e) => {
                println!("{:<19} FAILED: {e}", row.name);
                false
            }
        };
        if within { ok += 1 } else { bad += 1 }
    }
    println!("{ok} ok, {bad} over or failed, {} not measured", rows.len() - ok - bad);
    ExitCode::from(u8::from(bad > 0))
}

/// What this machine lacks for the row.
fn unmet(row: &Row) -> Option<String> {
    let missing = [row.ours, row.reference]
        .map(|line| line.split(' ').next().unwrap_or_default())
        .into_iter()
        .find(|name| program(name).is_none());
    if let Some(name) = missing {
        return Some(format!("{name} not found; {}", how_to_get(name)));
    }
    iter::once(row.corpus).chain(row.against).find_map(Corpus::lacks_room)
}

fn how_to_get(name: &str) -> String {
    let package = match name {
        "session-reader" => return "name the binary in $SESSION_READER".into(),
        "session-context" => return "name the binary in $SESSION_CONTEXT".into(),
        "rg" => "ripgrep",
        "ls" | "tail" | "true" => "coreutils",
        "find" => "findutils",
        other => other,
    };
    format!("install the package {package}")
}

// ------------------------------------------------------------------------------------- measure

#[derive(Clone, Copy)]
struct Cost {
    ms: f64,
    rss: u64,
}

struct Measured {
    ours: Cost,
    reference: Cost,
}

impl Measured {
    /// Prints the row's line of the table; true if the row is within its bars.
    fn print(&self, row: &Row) -> bool {
        let ratio = self.ours.ms / self.reference.ms;
        let fits = row.rss_mb.is_none_or(|mb| self.ours.rss <= mb * MB);
        let ok = ratio <= row.bar && fits;
        let rss = row.rss_mb.map_or(String::new(), |mb| format!("{:.1} of {mb} MB", self.ours.rss as f64 / MB as f64));
        println!(
            "{:<19} {:>9.2} {:>9.2} {ratio:>7.3} {:>7.3}  {rss:<16} {}",
            row.name,
            self.ours.ms,
            self.reference.ms,
            row.bar,
            if ok { "ok" } else { "OVER" }
        );
        ok
    }
}

fn measure(row: &Row) -> Result<Measured> {
    let against = row.against.unwrap_or(row.corpus);
    for corpus in [row.corpus, against] {
        corpus.ensure()?;
        absent(&corpus.dir().join("xdg"))?;
    }
    let mut ours = Side::new(row.ours, row.stdin, row.corpus)?;
    let mut reference = Side::new(row.reference, row.stdin, against)?;
    warm_up(row, &mut ours, &mut reference)?;

    let mut best = Measured { ours: Cost { ms: f64::INFINITY, rss: 0 }, reference: Cost { ms: f64::INFINITY, rss: 0 } };
    for _ in 0..row.runs {
        (row.before)(row.corpus)?;
        best.ours = best.ours.with(ours.run(Stdio::null())?);
        best.reference = best.reference.with(reference.run(Stdio::null())?);
    }
    Ok(best)
}

impl Cost {
    /// The least time, since all noise adds; the greatest memory, since it is a peak.
    fn with(self, other: Cost) -> Cost {
        Cost { ms: self.ms.min(other.ms), rss: self.rss.max(other.rss) }
    }
}

/// Runs each side once unmeasured: files come into the page cache, ours makes its own caches, and
/// its output is looked at.
fn warm_up(row: &Row, ours: &mut Side, reference: &mut Side) -> Result<()> {
    let out = row.corpus.dir().join("stdout");
    ours.run(File::create(&out)?.into())?;
    let bytes = BufReader::new(File::open(&out)?).bytes().map_while(io::Result::ok);
    let lines = bytes.filter(|&b| b == b'\n').count();
    fs::remove_file(&out)?;
    if lines < row.prints {
        return Err(format!("`{}` printed {lines} lines, not {}", row.ours, row.prints).into());
    }
    reference.run(Stdio::null())?;
    Ok(())
}

/// A command over a corpus, ready to be run again and again.
struct Side {
    line: &'static str,
    command: Command,
    stdin: PathBuf,
    stderr: PathBuf,
}

impl Side {
    fn new(line: &'static str, stdin: &str, corpus: &Corpus) -> Result<Side> {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        let mut command = Command::new(program(name).ok_or(how_to_get(name))?);
        command.args(words.flat_map(|word| corpus.expand(word)));
        command.env_clear().env("PATH", env::var_os("PATH").unwrap_or_default());
        command.env("TZ", "UTC").env("HOME", corpus.home()).current_dir(corpus.home());
        for kind in ["CACHE", "CONFIG", "STATE", "DATA"] {
            let dir = corpus.dir().join("xdg").join(kind.to_lowercase());
            command.env(format!("XDG_{kind}_HOME"), dir);
        }
        let file = corpus.dir().join("stdin");
        fs::write(&file, corpus.fill_in(stdin))?;
        Ok(Side { line, command, stdin: file, stderr: corpus.dir().join("stderr") })
    }

    fn run(&mut self, stdout: Stdio) -> Result<Cost> {
        let command = self.command.stdout(stdout);
        command.stdin(File::open(&self.stdin)?).stderr(File::create(&self.stderr)?);
        let (status, cost) = wait(command.spawn()?.id())?;
        // rg is asked for a word that is not there, and says so.
        if status.success() || self.line.starts_with("rg ") && status.code() == Some(1) {
            return Ok(cost);
        }
        let said = fs::read(&self.stderr)?;
        let said = String::from_utf8_lossy(&said);
        Err(format!("`{}`: {status}: {}", self.line, said.lines().next().unwrap_or_default()).into())
    }
}

/// Waits for a child; only wait4 tells what this one child used.
fn wait(pid: u32) -> io::Result<(ExitStatus, Cost)> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: both pointers are to live locals of the types wait4 writes.
    let waited = unsafe { libc::wait4(pid as libc::pid_t, &mut status, 0, usage.as_mut_ptr()) };
    if waited < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: wait4 has succeeded, so it has written the usage.
    let usage = unsafe { usage.assume_init() };
    let ms = |t: libc::timeval| t.tv_sec as f64 * 1e3 + t.tv_usec as f64 / 1e3;
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    let cost = Cost { ms: ms(usage.ru_utime) + ms(usage.ru_stime), rss: usage.ru_maxrss as u64 * unit };
    Ok((ExitStatus::from_raw(status), cost))
}

/// The full path of a program, so that neither side pays for a search in PATH.
fn program(name: &str) -> Option<PathBuf> {
    let (variable, built) = match name {
        "session-reader" => ("SESSION_READER", option_env!("CARGO_BIN_EXE_session-reader")),
        "session-context" => ("SESSION_CONTEXT", option_env!("CARGO_BIN_EXE_session-context")),
        _ => {
            let path = env::var_os("PATH").unwrap_or_default();
            return env::split_paths(&path).map(|dir| dir.join(name)).find(|p| p.is_file());
        }
    };
    let named = env::var_os(variable).map(PathBuf::from);
    let file = named.or(built.map(PathBuf::from)).filter(|p| p.is_file())?;
    file.canonicalize().ok()
}

// ------------------------------------------------------------------------------------- corpora

/// A home with transcripts in it. A change of what is written needs a new `VERSION`.
struct Corpus {
    name: &'static str,
    files: usize,
    /// Of each file, before it is repeated.
    bytes: u64,
    /// How often each file's content stands in it.
    repeat: u64,
    /// Lines of 5 MB at the end of each file.
    long_lines: u64,
}

const VERSION: &str = "1";
const LONG_LINE: u64 = 5 * MB;

const GB1: Corpus = Corpus { name: "gb1", files: 1, bytes: 16 * MB, repeat: 64, long_lines: 0 };
const GB10: Corpus = Corpus { name: "gb10", files: 1, bytes: 16 * MB, repeat: 640, long_lines: 0 };
const LONG: Corpus = Corpus { name: "long", files: 1, bytes: 16 * MB, repeat: 1, long_lines: 60 };
const SCAN: Corpus = Corpus { name: "scan", files: 1000, bytes: MB, repeat: 1, long_lines: 0 };
const SCAN_TENTH: Corpus = Corpus { name: "scan-tenth", files: 100, ..SCAN };

fn root() -> PathBuf {
    let tmp = option_env!("CARGO_TARGET_TMPDIR").map_or_else(env::temp_dir, PathBuf::from);
    tmp.join("session-monitor-bench")
}

fn absent(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

impl Corpus {
    fn dir(&self) -> PathBuf {
        root().join(self.name)
    }

    fn home(&self) -> PathBuf {
        self.dir().join("home")
    }

    fn tree(&self) -> PathBuf {
        self.home().join(".claude/projects")
    }

    fn mark(&self) -> PathBuf {
        self.dir().join("complete")
    }

    fn transcript(&self, number: usize) -> PathBuf {
        let who = Identity::of(number);
        self.tree().join(who.cwd.replace('/', "-")).join(who.id + ".jsonl")
    }

    fn expand(&self, word: &str) -> Vec<OsString> {
        match word {
            "FILES" => (0..self.files).map(|n| self.transcript(n).into()).collect(),
            "FILE" => vec![self.transcript(0).into()],
            "TREE" => vec![self.tree().into()],
            "MARK" => vec![self.mark().into()],
            other => vec![other.into()],
        }
    }

    fn fill_in(&self, text: &str) -> String {
        let who = Identity::of(0);
        let file = self.transcript(0);
        text.replace("FILE", &file.to_string_lossy()).replace("SESSION", &who.id).replace("CWD", &who.cwd)
    }

    fn is_complete(&self) -> bool {
        fs::read_to_string(self.mark()).is_ok_and(|version| version == VERSION)
    }

    fn lacks_room(&self) -> Option<String> {
        let size = self.files as u64 * (self.bytes * self.repeat + LONG_LINE * self.long_lines);
        let (needed, free) = (size / 2 * 3, free_space(&root())?);
        (!self.is_complete() && free < needed).then(|| {
            let (needed, free) = (needed / MB, free / MB);
            format!("needs {needed} MB of disk, {free} MB are free; set CARGO_TARGET_DIR elsewhere")
        })
    }

    fn ensure(&self) -> io::Result<()> {
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

    /// Streams, and lets the kernel copy: the peak memory of a child counts from that of the
    /// process it was spawned by, so this one must stay small.
    fn write(&self, number: usize, lines: &[String]) -> io::Result<()> {
        let path = self.transcript(number);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        let mut session = Session::new(number, lines, File::create(&path)?);
        session.converse(self.bytes)?;
        for _ in 0..self.long_lines {
            session.next_message();
            session.assistant(WRITE, LONG_LINE)?;
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
    Some(stat.f_bavail as u64 * stat.f_frsize as u64)
}

// ---------------------------------------------------------------------------------- transcripts

// Lines as Claude Code writes them, keys in its order. A name in angle brackets is filled in by
// `Session::fill`; line ends and indentation are not part of a template.

const COMMON: &str = r#""userType":"external","entrypoint":"cli","cwd":"<cwd>","sessionId":"<session>",
    "version":"2.1.325","gitBranch":"main"}"#;

const ENQUEUE: &str = r#"{"type":"queue-operation","operation":"enqueue","timestamp":"<time>",
    "sessionId":"<session>","content":"<asked>"}"#;

const DEQUEUE: &str =
    r#"{"type":"queue-operation","operation":"dequeue","timestamp":"<time>","sessionId":"<session>"}"#;

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
    "add", "the", "parser", "for", "session", "lines", "return", "buffer", "offset", "schema", "when", "value",
    "error", "read", "from", "cache", "index", "token", "quality", "request", "naïve", "match", "self", "write",
    "size", "default", "config", "and", "then", "check", "every", "naming", "zone", "queue", "join", "whole", "of",
    "file", "test", "that", "fails", "with", "key", "over", "first",
];

struct Identity {
    id: String,
    cwd: String,
    rng: Rng,
}

impl Identity {
    fn of(number: usize) -> Identity {
        let mut rng = Rng::new(number as u64);
        Identity { id: rng.uuid(), cwd: format!("/home/dev/src/{}", WORDS[number % 20]), rng }
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
    step: u64,
    /// Of the line being written: its content, that content's place in the message, and the
    /// length and seed of the text in it. One seed, so that a result and its twin are alike.
    block: &'static str,
    index: usize,
    size: u64,
    seed: u64,
}

impl<'a> Session<'a> {
    fn new(number: usize, lines: &'a [String], file: File) -> Session<'a> {
        let mut who = Identity::of(number);
        Session {
            out: BufWriter::with_capacity(MB as usize, file),
            lines,
            clock: who.rng.below(25 * 86_400_000),
            who,
            parent: "null".into(),
            uuid: String::new(),
            turn: String::new(),
            asked: 0,
            step: 0,
            block: "",
            index: 0,
            size: 0,
            seed: 0,
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
        let size = 640 << self.who.rng.below(6);
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
            "asked" => self.prose(self.asked, 120),
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
