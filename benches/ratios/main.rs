//! How fast the programs are, as ratios: CPU time of ours against CPU time of a tool everybody has,
//! over the same files, in one interleaved run (ours, theirs, ours, theirs, …; the least of each
//! counts), so that a busy machine slows both sides. Where threads or waiting matter, a row says that
//! it measures time on the clock. A row is one entry of `ROWS`, a corpus one constant; corpora are
//! made once, the same on every machine, and kept until `clean`.
//!
//!     cargo ratios                  all rows; exit 1 when one is over its bar or fails
//!     cargo ratios -- tail jq       the rows with one of these words in their names
//!     cargo ratios -- vs            the rows that compare with other tools for the same files
//!     cargo ratios -- clean         delete the corpora (about 18 GB)

#![allow(clippy::disallowed_methods, clippy::string_slice)] // A program of its own, which has no `Env`.

mod corpus;

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::FromRawFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{env, iter, thread};

use corpus::{
    Corpus, GB1, GB10, GROWING, HOLE, HOOK_100, HOOK_1000, HOOK_10000, HOOK_10000_IN_50, LONG,
    MANY, SCAN, SCAN_TENTH, SHARED, SHARED_LONG, SHORT, TALK, TINY, absent, root,
};

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
    /// For ours.
    env: &'static [(&'static str, &'static str)],
    reference: &'static str,
    /// A time that ours is measured by, in place of what the reference takes.
    limit_ms: Option<f64>,
    /// The corpus of the reference, if another.
    against: Option<&'static Corpus>,
    stdin: &'static str,
    /// What the reference gets there, if something else.
    reference_stdin: Option<&'static str>,
    /// Ours is run until it prints nothing more, with all history as news: then everything is seen.
    settle: bool,
    /// Each run of either side begins without any cache.
    cold: bool,
    /// Done before each run of ours, outside the measured time.
    before: fn(&Corpus) -> io::Result<()>,
    /// Lines ours must print at the least: a program that does nothing is fast.
    prints: usize,
    runs: usize,
    gauge: Gauge,
    bar: f64,
    /// So little is enough, whatever the reference takes.
    enough_ms: Option<f64>,
    rss_mb: Option<u64>,
}

/// What is measured.
#[derive(Clone, Copy, PartialEq)]
enum Gauge {
    /// CPU time of a run.
    Cpu,
    /// Time on the clock: what threads gain.
    Wall,
    /// CPU time of a run that must find a word which FILE got right before it; the word is the last argument of ours.
    Fresh,
    /// Time on the clock until ours, which follows FILE, prints what was appended to it.
    Follow,
    /// Time on the clock until the screen of ours changes after something was appended to FILE.
    Screen,
    /// Time on the clock until the screen of ours changes after a key.
    Scroll,
    /// Time on the clock until the screen of ours is drawn for the last time after a letter of a word was typed: the slowest
    /// of its letters.
    Key,
    /// CPU time of ours in ten seconds in which nothing happens, on a terminal.
    Idle,
}

const ROW: Row = Row {
    name: "",
    ours: "",
    corpus: &SCAN,
    env: &[],
    reference: "",
    limit_ms: None,
    against: None,
    stdin: "",
    reference_stdin: None,
    settle: false,
    cold: false,
    before: |_| Ok(()),
    prints: 0,
    runs: 25,
    gauge: Gauge::Cpu,
    bar: 1.0,
    enough_ms: None,
    rss_mb: None,
};

/// A prompt in the first session of a corpus.
const PROMPT: &str = r#"{"session_id":"SESSION","transcript_path":"FILE","cwd":"CWD","hook_event_name":"UserPromptSubmit","prompt":"go on"}"#;

/// A session that begins in the same project.
const START: &str =
    r#"{"session_id":"new","cwd":"CWD","hook_event_name":"SessionStart","source":"startup"}"#;

const HOOK: Row = Row {
    ours: "session-context --agent agent-sdk",
    stdin: PROMPT,
    settle: true,
    ..ROW
};

/// An observer that has never looked, and all history as news.
const NEWS: Row = Row {
    ours: "session-context --agent agent-sdk --scope machine",
    stdin: PROMPT,
    env: &[
        ("SESSION_CONTEXT_FIRST_LOOK", "10000d"),
        ("SESSION_CONTEXT_DEADLINE", "300ms"),
    ],
    reference: "true",
    limit_ms: Some(300.0),
    before: unseen,
    prints: 1,
    runs: 5,
    bar: 1.2,
    ..ROW
};

/// A search that may take 10 ms, or a tenth of what `rg` takes with one thread.
const SEARCH: Row = Row {
    corpus: &SHORT,
    bar: 0.1,
    enough_ms: Some(10.0),
    rss_mb: Some(64),
    ..ROW
};

/// A key that is typed to find a session.
const FIND: Row = Row {
    ours: "session-reader find --all",
    reference: "true",
    corpus: &SHORT,
    gauge: Gauge::Key,
    runs: 3,
    rss_mb: Some(64),
    ..ROW
};

/// A search of sessions in which everything is searched: what it takes to hold their texts.
const EXPORT: Row = Row {
    ours: "session-reader export FILE",
    reference: "true",
    prints: 1000,
    rss_mb: Some(64),
    ..ROW
};

const TALK_SEARCH: Row = Row {
    ours: "session-reader search --all lighthouse",
    reference: "rg -uu -j1 -c lighthouse TREE",
    corpus: &TALK,
    prints: 3,
    runs: 3,
    bar: f64::INFINITY,
    rss_mb: Some(64),
    ..ROW
};

const SCAN_FLOOR: Row = Row {
    reference: "rg -uu -j1 -c lighthouse TREE",
    runs: 7,
    bar: f64::INFINITY,
    ..ROW
};

/// Other tools for the same files, where they are installed. There is no bar.
const VS: Row = Row {
    corpus: &SHORT,
    bar: f64::INFINITY,
    ..ROW
};
const SEARCH_VS: Row = Row {
    ours: "session-reader search --all lighthouse",
    prints: 3,
    ..VS
};
const LIST_VS: Row = Row {
    ours: "session-reader list --all",
    prints: 1000,
    ..VS
};

const ROWS: &[Row] = &[
    // All sessions of the machine, so that each of them has been seen and has a cursor.
    Row {
        name: "hook 100",
        ours: "session-context --agent agent-sdk --scope machine",
        reference: "true",
        corpus: &HOOK_100,
        runs: 100,
        bar: 1.7,
        ..HOOK
    },
    Row {
        name: "hook 1,000",
        reference: "find TREE -newer MARK",
        corpus: &HOOK_1000,
        runs: 50,
        bar: 0.6,
        ..HOOK
    },
    Row {
        name: "hook 10,000",
        reference: "find TREE -newer MARK",
        corpus: &HOOK_10000,
        runs: 15,
        bar: 1.1,
        ..HOOK
    },
    Row {
        name: "hook 10,000 in 50",
        reference: "true",
        corpus: &HOOK_10000_IN_50,
        runs: 50,
        bar: 4.0,
        ..HOOK
    },
    Row {
        name: "hook 100 KB new",
        ours: "session-context --agent agent-sdk --scope machine",
        reference: "true",
        corpus: &GROWING,
        before: Corpus::grow,
        prints: 1,
        runs: 50,
        bar: 3.0,
        ..HOOK
    },
    // The deadline is what the user set: with it as the reference, 1.2 means that it was kept.
    Row {
        name: "hook 10,000 news",
        corpus: &HOOK_10000,
        ..NEWS
    },
    Row {
        name: "hook 6 GB line",
        corpus: &HOLE,
        ..NEWS
    },
    Row {
        name: "start, 1 GB",
        ours: "session-context --agent agent-sdk",
        reference: "session-context --agent agent-sdk",
        stdin: START,
        reference_stdin: Some(PROMPT),
        settle: true,
        before: not_begun,
        prints: 1,
        runs: 50,
        bar: 5.0,
        ..ROW
    },
    // A megabyte read and put into codes, and a page written, in less than about five milliseconds each (004-P1 to 004-P3).
    Row {
        name: "resume, 1 MB",
        ours: "session-reader resume FILE --codes",
        reference: "true",
        prints: 2,
        runs: 50,
        bar: 8.0,
        ..ROW
    },
    Row {
        name: "resume 1 GB",
        ours: "session-reader resume FILE",
        reference: "tail -n 50 FILE",
        corpus: &GB1,
        prints: 2,
        bar: 20.0,
        rss_mb: Some(16),
        ..ROW
    },
    // What is kept of a session comes from one scan of it, which is as fast as that of the list.
    Row {
        name: "resume 1 GB, first",
        ours: "session-reader resume FILE",
        reference: "session-reader list --all",
        corpus: &GB1,
        cold: true,
        prints: 2,
        runs: 7,
        bar: 1.5,
        ..ROW
    },
    Row {
        name: "follow",
        ours: "session-reader log FILE --follow --lines 1",
        reference: "true",
        limit_ms: Some(20.0),
        corpus: &GROWING,
        gauge: Gauge::Follow,
        ..ROW
    },
    Row {
        name: "watch first frame",
        ours: "session-reader watch --once --all",
        reference: "true",
        limit_ms: Some(50.0),
        corpus: &HOOK_1000,
        prints: 10,
        rss_mb: Some(40),
        ..ROW
    },
    Row {
        name: "watch change",
        ours: "session-reader watch --all",
        reference: "true",
        limit_ms: Some(100.0),
        corpus: &SHORT,
        gauge: Gauge::Screen,
        rss_mb: Some(40),
        ..ROW
    },
    // The slowest of sixty frames.
    Row {
        name: "watch scroll, 10,000",
        ours: "session-reader watch --all",
        reference: "true",
        limit_ms: Some(50.0),
        corpus: &HOOK_10000,
        gauge: Gauge::Scroll,
        runs: 60,
        ..ROW
    },
    // A bar asks every few seconds.
    Row {
        name: "status",
        ours: "session-reader status --all --format json",
        reference: "true",
        corpus: &HOOK_100,
        prints: 1,
        runs: 100,
        bar: 3.0,
        ..ROW
    },
    // Half a percent of ten seconds.
    Row {
        name: "watch idle",
        ours: "session-reader watch --all",
        reference: "true",
        limit_ms: Some(50.0),
        corpus: &HOOK_1000,
        gauge: Gauge::Idle,
        runs: 2,
        rss_mb: Some(40),
        ..ROW
    },
    Row {
        name: "pin",
        ours: "session-context pin the API is frozen",
        reference: "true",
        corpus: &HOOK_100,
        before: unwritten,
        prints: 1,
        runs: 50,
        bar: 8.0,
        ..ROW
    },
    Row {
        name: "tail 1 GB",
        ours: "session-reader log FILE --lines 50",
        reference: "tail -n 50 FILE",
        corpus: &GB1,
        prints: 50,
        bar: 1.5,
        rss_mb: Some(16),
        ..ROW
    },
    Row {
        name: "tail 10 GB",
        ours: "session-reader log FILE --lines 50",
        reference: "tail -n 50 FILE",
        corpus: &GB10,
        prints: 50,
        bar: 1.5,
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
        bar: 0.6,
        rss_mb: Some(16),
        ..ROW
    },
    Row {
        name: "scan",
        ours: "session-reader list --all",
        reference: "rg -uu -j1 -c lighthouse TREE",
        cold: true,
        prints: 1000,
        runs: 7,
        ..ROW
    },
    Row {
        name: "scan, short lines",
        ours: "session-reader list --all",
        reference: "rg -uu -j1 -c lighthouse TREE",
        corpus: &SHORT,
        cold: true,
        prints: 1000,
        runs: 7,
        bar: 2.0,
        ..ROW
    },
    Row {
        name: "scan, all threads",
        ours: "session-reader list --all",
        reference: "rg -uu -c lighthouse TREE",
        corpus: &SHORT,
        cold: true,
        prints: 1000,
        runs: 15,
        gauge: Gauge::Wall,
        bar: 1.3,
        ..ROW
    },
    // What a list without a cache cannot do without: reading everything, and finding the lines. There is no bar.
    Row {
        name: "scan floor: read",
        ours: "cat FILES",
        ..SCAN_FLOOR
    },
    Row {
        name: "scan floor: lines",
        ours: "wc -l FILES",
        ..SCAN_FLOOR
    },
    Row {
        name: "scan vs jq",
        ours: "session-reader list --all",
        reference: r#"jq -n reduce(inputs|select(.type=="user"or.type=="assistant"))as$line(0;.+1) FILES"#,
        corpus: &SCAN_TENTH,
        cold: true,
        prints: 100,
        runs: 5,
        bar: 1.0 / 15.0,
        ..ROW
    },
    Row {
        name: "list 1,000",
        ours: "session-reader list --all",
        reference: "ls -lR TREE",
        prints: 1000,
        bar: 0.6,
        ..ROW
    },
    Row {
        name: "list 10,000",
        ours: "session-reader list --all",
        reference: "ls -lR TREE",
        corpus: &HOOK_10000,
        prints: 10_000,
        runs: 15,
        bar: 0.6,
        ..ROW
    },
    Row {
        name: "list 100,000",
        ours: "session-reader list --all",
        reference: "ls -lR TREE",
        corpus: &TINY,
        prints: 100_000,
        runs: 5,
        rss_mb: Some(60),
        ..ROW
    },
    // One session says the rare word, all say the common one.
    Row {
        name: "search rare",
        ours: "session-reader search --all lighthouse",
        reference: "rg -uu -j1 -c lighthouse TREE",
        prints: 3,
        ..SEARCH
    },
    Row {
        name: "search common",
        ours: "session-reader search --all schema",
        reference: "rg -uu -j1 -c schema TREE",
        prints: 60,
        ..SEARCH
    },
    Row {
        name: "search just said",
        ours: "session-reader search --all",
        reference: "rg -uu -j1 -c lighthouse TREE",
        gauge: Gauge::Fresh,
        ..SEARCH
    },
    Row {
        name: "search 10 GB",
        ours: "session-reader search --all lighthouse",
        reference: "rg -uu -j1 -c lighthouse TREE",
        corpus: &MANY,
        prints: 3,
        runs: 3,
        ..SEARCH
    },
    // A page has a line for each entry at the least.
    Row {
        name: "export",
        corpus: &SHARED,
        limit_ms: Some(50.0),
        ..EXPORT
    },
    Row {
        name: "export markdown",
        ours: "session-reader export FILE --md",
        corpus: &SHARED,
        limit_ms: Some(50.0),
        ..EXPORT
    },
    Row {
        name: "export 100 MB",
        corpus: &SHARED_LONG,
        limit_ms: Some(2000.0),
        runs: 3,
        ..EXPORT
    },
    Row {
        name: "export 100 MB, full",
        ours: "session-reader export FILE --full",
        corpus: &SHARED_LONG,
        limit_ms: Some(2000.0),
        runs: 3,
        ..EXPORT
    },
    // Every letter of a word that one session has, each with the best sessions and a log on the screen.
    Row {
        name: "find, a key",
        limit_ms: Some(20.0),
        ..FIND
    },
    Row {
        name: "find, a key, 10 GB",
        limit_ms: Some(50.0),
        corpus: &MANY,
        ..FIND
    },
    Row {
        name: "search talk, first",
        cold: true,
        rss_mb: Some(100),
        ..TALK_SEARCH
    },
    Row {
        name: "search talk",
        ..TALK_SEARCH
    },
    Row {
        name: "search talk, common",
        ours: "session-reader search --all schema",
        prints: 60,
        ..TALK_SEARCH
    },
    Row {
        name: "search talk, typo",
        ours: "session-reader search --all lighthuose",
        ..TALK_SEARCH
    },
    Row {
        name: "search raw, rare",
        ours: "session-reader search --no-cache --all lighthouse",
        reference: "rg -uu -j1 -c lighthouse TREE",
        corpus: &SHORT,
        prints: 3,
        runs: 7,
        bar: 1.1,
        ..ROW
    },
    Row {
        name: "search raw, common",
        ours: "session-reader search --no-cache --all schema",
        reference: "rg -uu -j1 -c schema TREE",
        corpus: &SHORT,
        prints: 60,
        runs: 7,
        bar: 1.2,
        ..ROW
    },
    // A process has as many threads as it has CPUs. The rare word is the one for which all files are read; a search for the
    // common one ends after 64 of them, and start-up, list and output, which are not shared, are a third of it.
    Row {
        name: "search raw, 2 CPUs",
        ours: "taskset -c 0,1 session-reader search --no-cache --all lighthouse",
        reference: "taskset -c 0 session-reader search --no-cache --all lighthouse",
        corpus: &SHORT,
        prints: 3,
        runs: 15,
        gauge: Gauge::Wall,
        bar: 0.6,
        ..ROW
    },
    Row {
        name: "search vs claudex",
        reference: "claudex search lighthouse",
        ..SEARCH_VS
    },
    Row {
        name: "search vs fr",
        reference: "fr --list lighthouse",
        ..SEARCH_VS
    },
    Row {
        name: "search vs cc-trans.",
        reference: "cc-transcript grep lighthouse --all",
        runs: 3,
        ..SEARCH_VS
    },
    // A search that makes the index first.
    Row {
        name: "index vs claudex",
        reference: "claudex index --force",
        cold: true,
        runs: 3,
        ..SEARCH_VS
    },
    Row {
        name: "index vs fr",
        reference: "fr --list lighthouse",
        cold: true,
        runs: 3,
        ..SEARCH_VS
    },
    Row {
        name: "list vs claudex",
        reference: "claudex sessions -l 1000",
        ..LIST_VS
    },
    Row {
        name: "list vs fr",
        reference: "fr --list --all",
        ..LIST_VS
    },
    Row {
        name: "list vs cc-trans.",
        reference: "cc-transcript list --all",
        ..LIST_VS
    },
    Row {
        name: "tail vs cc-trans.",
        ours: "session-reader log FILE --lines 50",
        reference: "cc-transcript show FILE --tail 50",
        corpus: &GB1,
        prints: 50,
        runs: 3,
        ..VS
    },
];

/// A session that begins is told once.
fn not_begun(corpus: &Corpus) -> io::Result<()> {
    absent_file(
        &corpus
            .dir()
            .join("xdg/state/session-monitor/cursors/agent-sdk-new.bin"),
    )
}

fn absent_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// Nobody has looked yet.
fn unseen(corpus: &Corpus) -> io::Result<()> {
    absent(&corpus.dir().join("xdg/state"))
}

/// Nothing is written down yet.
fn unwritten(corpus: &Corpus) -> io::Result<()> {
    absent(&corpus.dir().join("xdg/data"))
}

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
    let chosen =
        |row: &&Row| words.is_empty() || words.iter().any(|w| row.name.contains(w.as_str()));
    let rows: Vec<&Row> = ROWS.iter().filter(chosen).collect();
    if rows.is_empty() {
        return trouble(&format!("no row is named like {}", words.join(" or ")));
    }
    if let Err(e) = install() {
        return trouble(&format!("{}: {e}", installed("").display()));
    }
    table(&rows)
}

fn trouble(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::from(2)
}

fn table(rows: &[&Row]) -> ExitCode {
    println!(
        "{:<19} {:>9} {:>9} {:>7} {:>7}  {:<16}",
        "CPU time", "ours ms", "ref ms", "ratio", "bar", "peak RSS"
    );
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
    println!(
        "{ok} ok, {bad} over or failed, {} not measured",
        rows.len() - ok - bad
    );
    ExitCode::from(u8::from(bad > 0))
}

/// What this machine lacks for the row.
fn unmet(row: &Row) -> Option<String> {
    let missing = [row.ours, row.reference]
        .into_iter()
        .flat_map(|line| {
            line.split(' ')
                .enumerate()
                .filter(|(index, word)| *index == 0 || OURS.contains(word))
        })
        .map(|(_, name)| name)
        .find(|name| program(name).is_none());
    if let Some(name) = missing {
        return Some(format!("{name} not found; {}", how_to_get(name)));
    }
    iter::once(row.corpus)
        .chain(row.against)
        .find_map(Corpus::lacks_room)
}

fn how_to_get(name: &str) -> String {
    let package = match name {
        "session-reader" => return "name the binary in $SESSION_READER".into(),
        "session-context" => return "name the binary in $SESSION_CONTEXT".into(),
        "rg" => "ripgrep",
        "cat" | "ls" | "tail" | "true" | "wc" => "coreutils",
        "find" => "findutils",
        "taskset" => "util-linux",
        "claudex" => return "cargo install claudex-cli".into(),
        "fr" => return "pip install fast-resume".into(),
        "cc-transcript" => return "pip install cc-transcript".into(),
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
        let is_enough = row.enough_ms.is_some_and(|ms| self.ours.ms <= ms);
        let ok = (ratio <= row.bar || is_enough) && fits;
        let rss = row
            .rss_mb
            .map(|mb| format!("{:.1} of {mb} MB", self.ours.rss as f64 / MB as f64));
        let is_clock = matches!(
            row.gauge,
            Gauge::Wall | Gauge::Follow | Gauge::Screen | Gauge::Key
        );
        let clock = is_clock.then(|| "on the clock".to_owned());
        let note = rss.or(clock).unwrap_or_default();
        let bar = if row.bar.is_finite() {
            format!("{:.3}", row.bar)
        } else {
            String::new()
        };
        println!(
            "{:<19} {:>9.2} {:>9.2} {ratio:>7.3} {bar:>7}  {note:<16} {}",
            row.name,
            self.ours.ms,
            self.reference.ms,
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
    let mut ours = Side::new(row.ours, row.stdin, row.corpus, row.gauge)?;
    ours.command.envs(row.env.iter().copied());
    let mut reference = Side::new(
        row.reference,
        row.reference_stdin.unwrap_or(row.stdin),
        against,
        row.gauge,
    )?;
    if row.gauge == Gauge::Follow {
        return follow(row, ours);
    }
    if matches!(
        row.gauge,
        Gauge::Screen | Gauge::Scroll | Gauge::Key | Gauge::Idle
    ) {
        return watch(row, ours);
    }
    if row.settle {
        settle(row)?;
    }
    match row.gauge {
        Gauge::Fresh => drop(fresh(row)?),
        _ => warm_up(row, &mut ours)?,
    }
    reference.run(Stdio::null())?;

    let mut best = Measured {
        ours: Cost {
            ms: f64::INFINITY,
            rss: 0,
        },
        reference: Cost {
            ms: f64::INFINITY,
            rss: 0,
        },
    };
    for _ in 0..row.runs {
        prepare(row)?;
        best.ours = best.ours.with(if row.gauge == Gauge::Fresh {
            fresh(row)?
        } else {
            ours.run(Stdio::null())?
        });
        if row.cold {
            forget(row.corpus)?;
        }
        best.reference = best.reference.with(reference.run(Stdio::null())?);
    }
    best.reference.ms = row.limit_ms.unwrap_or(best.reference.ms);
    Ok(best)
}

impl Cost {
    /// The least time, since all noise adds; the greatest memory, since it is a peak.
    fn with(self, other: Cost) -> Cost {
        Cost {
            ms: self.ms.min(other.ms),
            rss: self.rss.max(other.rss),
        }
    }
}

/// Runs ours until it has told all there is.
fn settle(row: &Row) -> Result<()> {
    const ALL: [(&str, &str); 3] = [
        ("SESSION_CONTEXT_FIRST_LOOK", "10000d"),
        ("SESSION_CONTEXT_DEADLINE", "60s"),
        ("SESSION_CONTEXT_BUDGET", "9000"),
    ];
    let (line, stdin) = row
        .reference_stdin
        .map_or((row.ours, row.stdin), |stdin| (row.reference, stdin));
    let mut side = Side::new(line, stdin, row.corpus, row.gauge)?;
    side.command.envs(ALL);
    let out = row.corpus.dir().join("stdout");
    for _ in 0..1000 {
        side.run(File::create(&out)?.into())?;
        if fs::metadata(&out)?.len() == 0 {
            return Ok(fs::remove_file(&out)?);
        }
    }
    Err(format!("`{}` goes on telling", row.ours).into())
}

fn prepare(row: &Row) -> io::Result<()> {
    if row.cold {
        forget(row.corpus)?;
    }
    (row.before)(row.corpus)
}

/// Runs ours once unmeasured: files come into the page cache, ours makes its own caches, and its output is looked at.
fn warm_up(row: &Row, ours: &mut Side) -> Result<()> {
    let out = row.corpus.dir().join("stdout");
    prepare(row)?;
    ours.run(File::create(&out)?.into())?;
    let bytes = BufReader::new(File::open(&out)?)
        .bytes()
        .map_while(io::Result::ok);
    let lines = bytes.filter(|&b| b == b'\n').count();
    fs::remove_file(&out)?;
    if lines < row.prints {
        return Err(format!("`{}` printed {lines} lines, not {}", row.ours, row.prints).into());
    }
    Ok(())
}

/// One run that must find what was said right before it.
fn fresh(row: &Row) -> Result<Cost> {
    let out = row.corpus.dir().join("stdout");
    let (word, _) = row.corpus.say()?;
    let line = format!("{} {word}", row.ours);
    let cost =
        Side::new(&line, row.stdin, row.corpus, row.gauge)?.run(File::create(&out)?.into())?;
    let found = fs::read_to_string(&out)?.contains(&word);
    fs::remove_file(&out)?;
    if found {
        Ok(cost)
    } else {
        Err(format!("`{line}` does not find what was just said").into())
    }
}

/// How long it takes until a line is shown that was appended to FILE. The median, since whoever polls is lucky at times.
fn follow(row: &Row, mut ours: Side) -> Result<Measured> {
    let mut child = ours
        .command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (sender, shown) = mpsc::channel();
    let lines = BufReader::new(child.stdout.take().ok_or("no pipe")?).lines();
    let reader = thread::spawn(move || {
        lines
            .map_while(io::Result::ok)
            .try_for_each(|line| sender.send(line))
    });
    let wait_for = |text: &str| -> Result<()> {
        while !shown
            .recv_timeout(Duration::from_secs(10))
            .map_err(|_| "nothing is shown for 10 s")?
            .contains(text)
        {}
        Ok(())
    };
    let follow = || -> Result<Vec<f64>> {
        wait_for("")?;
        let once = |_| {
            // Until it has nothing to do any more.
            thread::sleep(Duration::from_millis(50));
            let (word, said) = row.corpus.say()?;
            wait_for(&word)?;
            Ok(said.elapsed().as_secs_f64() * 1e3)
        };
        (0..row.runs).map(once).collect()
    };
    let times = follow();
    child.kill()?;
    let (_, cost) = wait(child.id())?;
    let (mut times, limit) = (times?, row.limit_ms.unwrap_or_default());
    drop(reader);
    times.sort_by(f64::total_cmp);
    Ok(Measured {
        ours: Cost {
            ms: times[times.len() / 2],
            ..cost
        },
        reference: Cost { ms: limit, rss: 0 },
    })
}

/// What is typed to find something: one session has this word.
const KEYS: &str = "lighthouse";

/// Runs ours on a terminal of its own, and measures how soon its screen changes, or what it does while nothing happens.
fn watch(row: &Row, mut ours: Side) -> Result<Measured> {
    // The list is cached, as it is for everybody who has looked before.
    Side::new("session-reader list --all", "", row.corpus, Gauge::Cpu)?.run(Stdio::null())?;
    let (terminal, inside) = terminal()?;
    let keys = terminal.try_clone()?;
    let command = ours
        .command
        .env("TERM", "xterm-256color")
        .stdin(inside.try_clone()?)
        .stdout(inside);
    let mut child = command.stderr(Stdio::null()).spawn()?;
    // A command keeps its end of the terminal until it is run again.
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let (sender, shown) = mpsc::channel();
    let mut keyboard = terminal.try_clone()?;
    thread::spawn(move || {
        let (mut terminal, mut bytes) = (terminal, [0; 1 << 12]);
        while terminal.read(&mut bytes).is_ok_and(|read| read > 0)
            && sender.send(Instant::now()).is_ok()
        {}
    });
    // Until it has drawn all that there is, and has nothing to do any more.
    let settle = || -> Result<()> {
        shown
            .recv_timeout(Duration::from_secs(10))
            .map_err(|_| "nothing is drawn for 10 s")?;
        while shown.recv_timeout(Duration::from_millis(300)).is_ok() {}
        Ok(())
    };
    // The last time that something is drawn before it is silent for a while.
    let drawn = || -> Result<Instant> {
        let mut last = shown
            .recv_timeout(Duration::from_mins(1))
            .map_err(|_| "nothing is drawn for a minute")?;
        while let Ok(next) = shown.recv_timeout(Duration::from_millis(300)) {
            last = next;
        }
        Ok(last)
    };
    let mut type_word = || -> Result<f64> {
        let mut slowest = 0.0;
        for letter in KEYS.bytes() {
            let typed = Instant::now();
            keyboard.write_all(&[letter])?;
            slowest = f64::max(slowest, (drawn()? - typed).as_secs_f64() * 1e3);
        }
        // All of it is deleted.
        keyboard.write_all(b"\x15")?;
        drawn()?;
        Ok(slowest)
    };
    let measured = (|| -> Result<Vec<f64>> {
        settle()?;
        if row.gauge == Gauge::Key {
            // The first search reads what nobody has read yet.
            type_word()?;
            return (0..row.runs).map(|_| type_word()).collect();
        }
        let once = |_| {
            if row.gauge == Gauge::Idle {
                let before = cpu_ms(child.id())?;
                thread::sleep(Duration::from_secs(10));
                return Ok(cpu_ms(child.id())? - before);
            }
            let said = if row.gauge == Gauge::Scroll {
                // A page further, and the log of another session.
                let pressed = Instant::now();
                (&keys).write_all(b" ")?;
                pressed
            } else {
                row.corpus.say()?.1
            };
            shown
                .recv_timeout(Duration::from_secs(10))
                .map_err(|_| "no change is drawn for 10 s")?;
            let took = said.elapsed().as_secs_f64() * 1e3;
            while shown.recv_timeout(Duration::from_millis(300)).is_ok() {}
            Ok(took)
        };
        (0..row.runs).map(once).collect()
    })();
    child.kill()?;
    let (_, cost) = wait(child.id())?;
    let mut times = measured?;
    times.sort_by(f64::total_cmp);
    let reference = Cost {
        ms: row.limit_ms.unwrap_or_default(),
        rss: 0,
    };
    let told = if row.gauge == Gauge::Scroll {
        times.len() - 1
    } else {
        times.len() / 2
    };
    Ok(Measured {
        ours: Cost {
            ms: times[told],
            ..cost
        },
        reference,
    })
}

/// Both ends of a terminal of 60 rows and 200 columns.
fn terminal() -> io::Result<(File, File)> {
    let (mut outside, mut inside) = (0, 0);
    let mut size = libc::winsize {
        ws_row: 60,
        ws_col: 200,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let (name, settings) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the pointers are to live locals, or null where that is allowed.
    let opened = unsafe {
        libc::openpty(
            &raw mut outside,
            &raw mut inside,
            name,
            settings,
            &raw mut size,
        )
    };
    if opened < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: openpty has succeeded, so both are open and nobody else's.
    Ok(unsafe { (File::from_raw_fd(outside), File::from_raw_fd(inside)) })
}

/// How much CPU time a process has used so far.
#[cfg(not(target_os = "linux"))]
fn cpu_ms(_: u32) -> io::Result<f64> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "the CPU time of another process is known on Linux only",
    ))
}

/// How much CPU time a process has used so far.
#[cfg(target_os = "linux")]
fn cpu_ms(pid: u32) -> io::Result<f64> {
    let (mut clock, mut time) = (
        0,
        libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        },
    );
    // SAFETY: both pointers are to live locals of the types that are written.
    let failed = unsafe {
        libc::clock_getcpuclockid(pid as libc::pid_t, &raw mut clock) != 0
            || libc::clock_gettime(clock, &raw mut time) != 0
    };
    if failed {
        Err(io::Error::last_os_error())
    } else {
        Ok(time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6)
    }
}

/// The variables by which agents move their sessions.
const AGENTS: [&str; 6] = [
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "COPILOT_HOME",
    "GEMINI_CLI_HOME",
    "QWEN_HOME",
    "PI_CODING_AGENT_DIR",
];

/// A command over a corpus, ready to be run again and again.
struct Side {
    line: String,
    gauge: Gauge,
    command: Command,
    stdin: PathBuf,
    stderr: PathBuf,
}

impl Side {
    fn new(line: &str, stdin: &str, corpus: &Corpus, gauge: Gauge) -> Result<Side> {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        let mut command = Command::new(program(name).ok_or(how_to_get(name))?);
        command.args(words.flat_map(|word| match OURS.contains(&word) {
            true => program(word).into_iter().map(Into::into).collect(),
            false => corpus.expand(word),
        }));
        // Otherwise as in the user's own shell: a locale costs the reference something, too.
        for name in AGENTS {
            command.env_remove(name);
        }
        // Right after the last thing said in a corpus.
        command.env("SESSION_MONITOR_NOW", "2025-03-28T00:00:00Z");
        command
            .env("TZ", "UTC")
            .env("HOME", corpus.home())
            .current_dir(corpus.home());
        for kind in ["CACHE", "CONFIG", "STATE", "DATA"] {
            let dir = corpus.dir().join("xdg").join(kind.to_lowercase());
            command.env(format!("XDG_{kind}_HOME"), dir);
        }
        let file = corpus.dir().join(format!("stdin-{}", stdin.len()));
        fs::write(&file, corpus.fill_in(stdin))?;
        Ok(Side {
            line: line.into(),
            gauge,
            command,
            stdin: file,
            stderr: corpus.dir().join("stderr"),
        })
    }

    fn run(&mut self, stdout: Stdio) -> Result<Cost> {
        let command = self.command.stdout(stdout);
        command
            .stdin(File::open(&self.stdin)?)
            .stderr(File::create(&self.stderr)?);
        let started = Instant::now();
        let (status, mut cost) = wait(command.spawn()?.id())?;
        if self.gauge == Gauge::Wall {
            cost.ms = started.elapsed().as_secs_f64() * 1e3;
        }
        // rg is asked for a word that is not there, and says so.
        if status.success() || self.line.starts_with("rg ") && status.code() == Some(1) {
            return Ok(cost);
        }
        let said = fs::read(&self.stderr)?;
        let said = String::from_utf8_lossy(&said);
        Err(format!(
            "`{}`: {status}: {}",
            self.line,
            said.lines().next().unwrap_or_default()
        )
        .into())
    }
}

/// Waits for a child; only wait4 tells what this one child used.
fn wait(pid: u32) -> io::Result<(ExitStatus, Cost)> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: both pointers are to live locals of the types wait4 writes.
    let waited = unsafe { libc::wait4(pid as libc::pid_t, &raw mut status, 0, usage.as_mut_ptr()) };
    if waited < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: wait4 has succeeded, so it has written the usage.
    let usage = unsafe { usage.assume_init() };
    #[allow(clippy::cast_lossless)] // Systems differ in how wide these are.
    let ms = |t: libc::timeval| t.tv_sec as f64 * 1e3 + t.tv_usec as f64 / 1e3;
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    let cost = Cost {
        ms: ms(usage.ru_utime) + ms(usage.ru_stime),
        rss: usage.ru_maxrss as u64 * unit,
    };
    Ok((ExitStatus::from_raw(status), cost))
}

const OURS: [&str; 2] = ["session-reader", "session-context"];

/// Copies the programs that were built, as `cargo install` does for users. It matters: a linker leaves a file in memory in
/// many small pieces, which cost a fifth of what the hook takes to be mapped again at every start.
fn install() -> io::Result<()> {
    fs::create_dir_all(installed(""))?;
    let built = [
        option_env!("CARGO_BIN_EXE_session-reader"),
        option_env!("CARGO_BIN_EXE_session-context"),
    ];
    for (name, built) in OURS.iter().zip(built) {
        absent_file(&installed(name))?;
        built
            .map(|built| fs::copy(built, installed(name)))
            .transpose()?;
    }
    Ok(())
}

fn installed(name: &str) -> PathBuf {
    root().join("bin").join(name)
}

/// The full path of a program, so that neither side pays for a search in PATH.
fn program(name: &str) -> Option<PathBuf> {
    let variable = match name {
        "session-reader" => "SESSION_READER",
        "session-context" => "SESSION_CONTEXT",
        _ => {
            let path = env::var_os("PATH").unwrap_or_default();
            return env::split_paths(&path)
                .map(|dir| dir.join(name))
                .find(|p| p.is_file());
        }
    };
    let file = env::var_os(variable).map_or_else(|| installed(name), PathBuf::from);
    file.canonicalize().ok().filter(|p| p.is_file())
}
