//! What holds for any bytes whatever, each as a function of the bytes.
//!
//! `cargo test` tries some thousand inputs, made from real transcripts by chance with a fixed seed; the targets in `fuzz/`
//! call the same functions with whatever reaches new code. A broken property is a panic. Nothing here knows what a text
//! means: that is what the other tests are for.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use serde_json::{Value, json};
use session_context::hook::Run;
use session_core::env::Env;
use session_core::fold::{Fold, Tally};
use session_core::formats::{self, AgentFormat};
use session_core::read::once::Once;
use session_core::read::{Lines, Transcript};
use session_core::secrets::{REDACTED, redact};
use session_core::state::cursors::{CursorFile, Cursors};
use session_format::cursor::{Backward, Buffer, Forward, Line, Pieces};
use session_format::decode::{Decoder, Item, Outcome};
use session_format::entry::{Entry, Facts, Position};
use session_format::time::Time;

/// The built-in formats.
fn formats() -> &'static [AgentFormat] {
    static FORMATS: OnceLock<Vec<AgentFormat>> = OnceLock::new();
    FORMATS.get_or_init(|| formats::known(Path::new("/nonexistent")).0)
}

/// The format that a byte chooses, and the bytes after it.
fn choose(data: &[u8]) -> Option<(&'static AgentFormat, &[u8])> {
    let (first, rest) = data.split_first()?;
    Some((&formats()[usize::from(*first) % formats().len()], rest))
}

// --------------------------------------------------------------------------------------- lines

/// A line that comes in pieces.
struct Cut<'l> {
    pieces: Vec<&'l [u8]>,
    at: usize,
}

impl<'l> Cut<'l> {
    fn new(line: &'l [u8], size: usize) -> Cut<'l> {
        // Before the first piece there is none, as with a line that is read from a file.
        let pieces = std::iter::once(&line[..0])
            .chain(line.chunks(size))
            .collect();
        Cut { pieces, at: 0 }
    }
}

impl Pieces for Cut<'_> {
    fn piece(&self) -> &[u8] {
        self.pieces[self.at]
    }

    fn advance(&mut self) -> io::Result<bool> {
        let more = self.at + 1 < self.pieces.len();
        self.at += usize::from(more);
        Ok(more)
    }
}

/// What a line holds: what it says about its session, each thing by itself, and its entries.
fn held(item: &Item, facts: &mut Vec<Option<String>>, entries: &mut Vec<String>) {
    #[allow(clippy::ref_option)] // So that all fields can be listed in one way.
    fn text<T: std::fmt::Debug>(fact: &Option<T>) -> Option<String> {
        fact.as_ref().map(|fact| format!("{fact:?}"))
    }
    match item {
        Item::Entry(entry) => entries.push(format!("{entry:?}")),
        Item::Facts(facts_of_line) => {
            let Facts {
                line,
                time,
                session,
                cwd,
                project,
                title,
                leaf,
                model,
                usage,
                message,
                ..
            } = facts_of_line;
            let Facts {
                active,
                subagent,
                helper,
                ..
            } = facts_of_line;
            facts.extend([
                text(line),
                text(time),
                text(session),
                text(cwd),
                text(project),
                text(title),
                text(leaf),
                text(model),
                text(usage),
                text(message),
                active.then(|| "active".into()),
                subagent.then(|| "subagent".into()),
                helper.then(|| "helper".into()),
            ]);
        }
    }
}

/// A line says the same in one piece and in many. The first byte chooses a format, the second the size of the pieces.
pub fn line(data: &[u8]) {
    let Some((known, rest)) = choose(data) else {
        return;
    };
    let Some((size, line)) = rest.split_first() else {
        return;
    };
    let line: Vec<u8> = line.iter().copied().filter(|byte| *byte != b'\n').collect();
    // As the programs read: a quick look, where a session stopped, a whole log, all details.
    let (plain, detailed) = (known.format(), known.detailed());
    for (format, full, whole) in [
        (plain, false, false),
        (detailed, true, false),
        (plain, true, true),
        (detailed, true, true),
    ] {
        let decoder = || Decoder::new(format).full(full).whole(whole).subagent(full);
        let (mut facts, mut entries) = (Vec::new(), Vec::new());
        let outcome = decoder().line(Line::Whole(0, &line), &mut |item| {
            held(&item, &mut facts, &mut entries);
        });
        looks_make_no_difference(&decoder, &line);
        let (mut facts_of_pieces, mut entries_of_pieces) = (Vec::new(), Vec::new());
        let cut = Cut::new(&line, usize::from(*size).max(1));
        let in_pieces = decoder().records(cut, None, &mut |item| {
            held(&item, &mut facts_of_pieces, &mut entries_of_pieces);
        });
        let (outcome, in_pieces) = (outcome.expect("in memory"), in_pieces.expect("in memory"));
        // What nobody wants is not looked at closely, and of a broken line in one piece more is saved.
        let is_sound = serde_json::from_slice::<serde::de::IgnoredAny>(&line).is_ok();
        if is_sound || ![outcome, in_pieces].contains(&Outcome::Broken) {
            let shown = String::from_utf8_lossy(&line);
            assert_eq!(
                (in_pieces, &entries_of_pieces),
                (outcome, &entries),
                "{shown}"
            );
            // A line in one piece is left as soon as it is known what it is: the rest may say more of the session.
            assert_eq!(facts.len(), facts_of_pieces.len(), "{shown}");
            let agree = facts
                .iter()
                .zip(&facts_of_pieces)
                .all(|(one, many)| one.is_none() || one == many);
            assert!(agree, "{facts:?} {facts_of_pieces:?} {shown}");
        }
    }
}

/// What is known of lines that looked alike says the same as a walk over the line.
fn looks_make_no_difference<'f>(decoder: &dyn Fn() -> Decoder<'f>, line: &[u8]) {
    let read = |mut decoder: Decoder| {
        let mut items = Vec::new();
        let take = &mut |item: Item| match item {
            Item::Facts(facts) => items.push(format!("{facts:?}")),
            Item::Entry(entry) => items.push(format!("{entry:?}")),
        };
        let outcome = decoder.line(Line::Whole(0, line), take).expect("in memory");
        (outcome, items)
    };
    let walked = read(decoder().without_templates());
    // At the second time it is known, if it was not before.
    for _ in 0..2 {
        assert_eq!(read(decoder()), walked, "{}", String::from_utf8_lossy(line));
    }
}

/// The same for each line, and for lines made from it, one after the other.
pub fn looks(known: &AgentFormat, lines: &mut dyn Iterator<Item = Vec<u8>>) {
    for line in lines {
        for format in [known.format(), known.detailed()] {
            looks_make_no_difference(&|| Decoder::new(format).full(true), &line);
        }
    }
}

// --------------------------------------------------------------------------------- transcripts

/// A file with some bytes in it.
fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), bytes).expect("written");
    file
}

fn bytes_of(line: Line) -> (u64, Vec<u8>) {
    match line {
        Line::Whole(offset, bytes) => (offset, bytes.to_vec()),
        Line::Long(mut line) => {
            let mut bytes = Vec::new();
            while line.advance().expect("the file stays as it is") {
                bytes.extend_from_slice(line.piece());
            }
            (line.offset, bytes)
        }
    }
}

/// Everything that reaches a fold.
#[derive(Debug, Default, PartialEq)]
struct All(Vec<String>);

impl Fold for All {
    fn facts(&mut self, facts: &Facts) {
        self.0.push(format!("{facts:?}"));
    }

    fn entry(&mut self, entry: &Entry, _: u64) {
        self.0.push(format!("{entry:?}"));
    }
}

/// How far a transcript has been read, and what it came to.
#[derive(Default)]
struct Counted {
    end: Position,
    broken: u64,
    all: All,
    tally: Tally,
    once: (Once, Once),
}

impl Counted {
    /// Reads on.
    fn read_on(&mut self, path: &Path, known: &AgentFormat) {
        let transcript = Transcript::open(path, known.format()).expect("a file");
        let from = self.end;
        let read = |once: &mut Once, fold: &mut dyn Fold| {
            // A list keeps it in its cache.
            *once = serde_json::from_value(serde_json::to_value(&*once).expect("JSON"))
                .expect("the same");
            let lines = Lines {
                from,
                ..Lines::default()
            };
            transcript
                .fold(lines, once, &mut Buffer::default(), fold)
                .expect("it can be read")
        };
        read(&mut self.once.0, &mut self.all);
        let part = read(&mut self.once.1, &mut self.tally);
        self.tally.settle();
        (self.end, self.broken) = (part.end, self.broken + part.broken);
    }
}

/// The lines of a file are the same forward and backward; a broken one costs only itself; and reading in steps comes to
/// the same as reading at once. The first byte chooses a format.
pub fn transcript(data: &[u8]) {
    let Some((known, bytes)) = choose(data) else {
        return;
    };
    let whole = file(bytes);
    let handle = File::open(whole.path()).expect("a file");
    let size = bytes.len() as u64;

    let mut buffer = Buffer::default();
    let mut forward = Forward::new(&handle, 0, size, &mut buffer);
    let mut lines = Vec::new();
    while let Some(line) = forward.next_line().expect("it can be read") {
        lines.push(bytes_of(line));
    }
    let mut backward = Backward::new(&handle, size).expect("it can be read");
    let mut back = Vec::new();
    while let Some((line, finished)) = backward.previous_line().expect("it can be read") {
        if finished {
            back.push(bytes_of(line));
        }
    }
    back.reverse();
    assert_eq!(lines, back);
    let written = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| line.ends_with(b"\n"));
    assert!(
        written
            .map(|line| &line[..line.len() - 1])
            .eq(lines.iter().map(|(_, line)| &**line))
    );

    let mut decoder = Decoder::new(known.format());
    let broken = lines.iter().filter(|(_, line)| {
        decoder
            .line(Line::Whole(0, line), &mut |_| {})
            .expect("bytes in memory can be read")
            == Outcome::Broken
    });
    let mut at_once = Counted::default();
    at_once.read_on(whole.path(), known);
    assert_eq!(at_once.broken, broken.count() as u64);
    let mut in_steps = Counted::default();
    let part = file(b"");
    for share in 1..=4 {
        fs::write(part.path(), &bytes[..bytes.len() * share / 4]).expect("written");
        in_steps.read_on(part.path(), known);
    }
    assert_eq!(
        (at_once.end, at_once.broken),
        (in_steps.end, in_steps.broken)
    );
    assert_eq!(at_once.all, in_steps.all);
    assert_eq!(at_once.tally, in_steps.tally);
}

// --------------------------------------------------------------------------------- descriptors

/// A descriptor is compiled, and then decodes any line; or it is refused with a message that names a line or a table.
pub fn descriptor(data: &[u8]) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("fuzzed.toml");
    fs::write(&path, data).expect("written");
    match AgentFormat::read(&path) {
        Ok(known) => {
            let lines =
                [&b"{\"type\":\"user\",\"message\":{\"content\":\"x\"},\"payload\":{\"type\":\"message\"}}"[..], data];
            for bytes in lines {
                let line: Vec<u8> = bytes
                    .iter()
                    .copied()
                    .filter(|byte| *byte != b'\n')
                    .collect();
                for format in [known.format(), known.detailed()] {
                    Decoder::new(format)
                        .line(Line::Whole(0, &line), &mut |_| {})
                        .expect("bytes in memory can be read");
                }
            }
            let _ = (known.head(), known.hook(), known.prompt(), known.label());
        }
        Err(bad) => {
            let is_text = std::str::from_utf8(data).is_ok();
            let why = bad.error.to_string();
            assert!(
                !is_text || why.contains("line") || why.contains('['),
                "names no line and no table: {bad}"
            );
        }
    }
}

// ---------------------------------------------------------------------------------------- hook

const OBSERVER: &str = "00000000-0000-4000-8000-000000000000";

const OTHER: &str = "aaaaaaaa-0000-4000-8000-00000000000a";
/// 2026-11-16T03:00:00Z.
const NOW: Time = Time(1_794_798_000_000);

/// A HOME with an observer and one other session.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new(transcript: &[u8]) -> Place {
        let place = Place {
            dir: tempfile::tempdir().expect("a directory"),
        };
        place.write("work/.keep", b"");
        // Nothing here is about time.
        place.write(
            ".config/session-monitor/config.toml",
            b"deadline = \"1h\"\n",
        );
        let own = place.prompt(OBSERVER, "2026-11-16T00:00:00Z", "what I asked myself");
        place.write(place.transcript(OBSERVER), own.as_bytes());
        place.write(place.transcript(OTHER), transcript);
        place
    }

    fn home(&self) -> PathBuf {
        self.dir.path().canonicalize().expect("HOME")
    }

    fn write(&self, below: impl AsRef<Path>, bytes: &[u8]) {
        let path = self.home().join(below);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, bytes).expect("written");
    }

    fn transcript(&self, id: &str) -> PathBuf {
        self.home()
            .join(format!(".claude/projects/-work/{id}.jsonl"))
    }

    fn prompt(&self, id: &str, time: &str, text: &str) -> String {
        let cwd = self.home().join("work");
        json!({"type": "user", "uuid": format!("{id}-{time}"), "cwd": cwd, "timestamp": time,
            "message": {"role": "user", "content": text}})
        .to_string()
            + "\n"
    }

    /// What Claude Code gives the hook of the observer.
    fn input(&self) -> Vec<u8> {
        let (transcript, cwd) = (self.transcript(OBSERVER), self.home().join("work"));
        json!({"session_id": OBSERVER, "transcript_path": transcript, "cwd": cwd,
            "hook_event_name": "UserPromptSubmit", "prompt": "go on"})
        .to_string()
        .into_bytes()
    }

    /// One look: what it said. The reply is whole or empty, short, and nothing in it can pass for more than it is.
    fn look(&self, input: &[u8]) -> (String, String) {
        let env = Env::fixed(&self.home(), self.home().join("work"), NOW);
        let (mut out, mut err) = (Vec::new(), Vec::new());
        with_stdin(input, || {
            Run::new(&mut out, &mut err).answer(std::iter::empty(), env);
        });
        let (out, err) = (
            String::from_utf8(out).expect("UTF-8"),
            String::from_utf8(err).expect("UTF-8"),
        );
        assert!(
            err.lines()
                .all(|line| line.starts_with("session-context: ")),
            "{err}"
        );
        if out.is_empty() {
            return (out, err);
        }
        assert!(
            out.ends_with('\n') && out.matches('\n').count() == 1,
            "{out}"
        );
        let reply: Value =
            serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"));
        let pointers = [
            "/hookSpecificOutput/additionalContext",
            "/additionalContext",
            "/message/content",
        ];
        let text = pointers
            .iter()
            .find_map(|pointer| reply.pointer(pointer)?.as_str());
        let text = text.unwrap_or_else(|| panic!("no text: {out}")).to_owned();
        assert!(text.chars().count() <= 500, "{text}");
        assert!(
            !text.chars().any(|char| char.is_control() && char != '\n'),
            "{text:?}"
        );
        (text, err)
    }
}

/// Runs something with some bytes on stdin. There is one stdin, so this happens to one at a time.
fn with_stdin(bytes: &[u8], run: impl FnOnce()) {
    static STDIN: Mutex<()> = Mutex::new(());
    let _one = STDIN.lock().unwrap_or_else(PoisonError::into_inner);
    let input = tempfile::tempfile().expect("a file");
    std::os::unix::fs::FileExt::write_all_at(&input, bytes, 0).expect("written");
    // SAFETY: plain system calls on descriptors that are open.
    unsafe {
        let before = libc::dup(0);
        assert!(libc::dup2(std::os::fd::AsRawFd::as_raw_fd(&input), 0) == 0);
        run();
        libc::dup2(before, 0);
        libc::close(before);
    }
}

/// Whatever an agent gives the hook, and whoever it seems to be.
pub fn hook_input(data: &[u8]) {
    let place = Place::new(b"");
    let news = place.prompt(OTHER, "2026-11-16T02:50:00Z", "alpha asks");
    place.write(place.transcript(OTHER), news.as_bytes());
    let home = place.home().to_string_lossy().into_owned();
    // What a fuzzer cannot guess.
    let input = String::from_utf8_lossy(data)
        .replace("HOME", &home)
        .into_bytes();
    place.look(&input);
}

/// Whatever another session writes: at most a line for it, and each thing once.
pub fn told(data: &[u8]) {
    let place = Place::new(b"");
    let home = place.home().to_string_lossy().into_owned();
    let text = String::from_utf8_lossy(data).replace("HOME", &home);
    let first = place.prompt(OTHER, "2026-11-16T02:50:00Z", "alpha asks");
    place.write(place.transcript(OTHER), (first + &text).as_bytes());
    let (text, err) = place.look(&place.input());
    // The header, a warning about a file that both edited, and the session itself.
    assert!(text.lines().count() <= 3, "{text}");
    assert!(
        text.lines().skip(1).all(|line| line.starts_with("- ")),
        "{text}"
    );
    let (again, err_again) = place.look(&place.input());
    assert_eq!(
        (again.as_str(), err_again.as_str()),
        ("", ""),
        "after {text}{err}"
    );
}

/// Whatever stands in the cursor file: it is read or refused, and afterwards it is in order.
pub fn cursor_file(data: &[u8]) {
    let place = Place::new(b"");
    let news = place.prompt(OTHER, "2026-11-16T02:50:00Z", "alpha asks");
    place.write(place.transcript(OTHER), news.as_bytes());
    let path = place.home().join(format!(
        ".local/state/session-monitor/cursors/agent-sdk-{OBSERVER}.bin"
    ));
    let text = String::from_utf8_lossy(data).replace("HOME", &place.home().to_string_lossy());
    // The file of this version, and what an earlier one left.
    for (end, content) in [("bin", data), ("json", text.as_bytes())] {
        let _ = fs::remove_file(&path);
        place.write(path.with_extension(end), content);
        let (told, err) = place.look(&place.input());
        let (again, err_again) = place.look(&place.input());
        assert_eq!(
            (again.as_str(), err_again.as_str()),
            ("", ""),
            "after {told}{err}"
        );
        let file = CursorFile::Own(path.clone());
        Cursors::read(file, OBSERVER, &mut |what| {
            assert!(!err.is_empty(), "{told}{what}");
        });
    }
}

// ------------------------------------------------------------------------------------- secrets

/// Keys of a few kinds, none of them real.
const KEYS: [&str; 4] = [
    "ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R",
    "sk-ant-api03-Zx8Yw7Vu6Ts5Rq4Po3Nm2Lk1Ji0Hg9Fe8Dc7Ba6-0a1b2c3d4e5f6g7h8i9j",
    "AKIAQ2W3E4R5T6Y7U8I9",
    "xoxb-123456789012-1234567890123-a1B2c3D4e5F6g7H8i9J0k1L2",
];

/// What is hidden stays hidden, hiding takes no more room than its own mark, and a key goes wherever it stands.
pub fn redaction(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let once = redact(&text);
    // Hiding once more may hide more, where what is left reads differently; nothing else changes.
    let twice = redact(&once);
    let mut rest = &*once;
    for piece in twice.split(REDACTED) {
        let Some(at) = rest.find(piece) else {
            panic!("{text:?}: {once:?}, {twice:?}")
        };
        rest = &rest[at + piece.len()..];
    }
    let marks = once.matches(REDACTED).count();
    assert!(once.len() <= text.len() + marks * REDACTED.len(), "{once}");
    let at = data.first().map_or(0, |byte| {
        text.floor_char_boundary(usize::from(*byte) % (text.len() + 1))
    });
    // Within a longer word it would be no key.
    for key in KEYS.into_iter().filter(|key| !text.contains(key)) {
        let planted = format!("{} {key} {}", &text[..at], &text[at..]);
        assert!(!redact(&planted).contains(key), "{planted:?}");
    }
}

// --------------------------------------------------------------------------------------- chance

#[cfg(test)]
mod tests {
    use session_format::entry::What;

    use super::*;
    use crate::scene::Chance;
    use crate::support::world::testdata;

    /// What breaks parsers, and what must not get through to a prompt.
    const TOKENS: [&[u8]; 22] = [
        b"{",
        b"}",
        b"[",
        b"]",
        b"\"",
        b"\\",
        b",",
        b":",
        b"null",
        b"0",
        b"-1e999",
        b"18446744073709551616",
        b"\\ud800",
        b"\\u0000",
        b"\0",
        b"\xff\xfe",
        b"\n",
        b"\r",
        b"</system-reminder>",
        "\u{202e}".as_bytes(),
        b"\x1b[31m",
        b"password=hunter2hunter2",
    ];

    /// Some bytes changed by chance.
    fn changed(bytes: &[u8], chance: &mut Chance) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..chance.below(4) {
            let at = chance.below(bytes.len() + 1);
            let end = (at + chance.below(24)).min(bytes.len());
            match chance.below(5) {
                0 if at < bytes.len() => bytes[at] ^= 1 << chance.below(8),
                1 => drop(bytes.drain(at..end)),
                2 => drop(bytes.splice(at..end, chance.pick::<&[u8]>(&TOKENS).iter().copied())),
                3 => bytes.truncate(at),
                _ => {
                    let copy = bytes[at..end].to_vec();
                    let to = chance.below(bytes.len() + 1);
                    drop(bytes.splice(to..to, copy));
                }
            }
        }
        bytes
    }

    /// The transcripts of `testdata/`, as lines of moderate length, each with the number of its format.
    fn samples() -> Vec<(u8, Vec<u8>)> {
        let mut samples = Vec::new();
        for (number, known) in (0..).zip(formats()) {
            let mut dirs = vec![testdata(&known.name)];
            while let Some(dir) = dirs.pop() {
                let mut entries: Vec<PathBuf> = fs::read_dir(dir)
                    .expect("a directory")
                    .map(|entry| entry.expect("an entry").path())
                    .collect();
                entries.sort();
                dirs.extend(entries.iter().filter(|path| path.is_dir()).cloned());
                for path in entries
                    .iter()
                    .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
                {
                    let content = fs::read(path).expect("a transcript");
                    let lines = content
                        .split(|byte| *byte == b'\n')
                        .filter(|line| (1..4000).contains(&line.len()));
                    samples.extend(lines.map(|line| (number, line.to_vec())));
                }
            }
        }
        assert!(samples.len() > 500, "there are samples of every format");
        samples
    }

    #[test]
    fn a_line_says_the_same_in_pieces() {
        let (samples, mut chance) = (samples(), Chance::new(1));
        for _ in 0..1500 {
            let (format, sample) = chance.pick(&samples).clone();
            let size = [1, 2, 3, 7, 64, 255][chance.below(6)];
            line(&[&[format, size], &*changed(&sample, &mut chance)].concat());
        }
    }

    /// Every line of every transcript, each with some changes: the walker judges.
    #[test]
    fn a_line_says_the_same_whatever_it_looks_like() {
        let (samples, mut chance) = (samples(), Chance::new(6));
        for (format, sample) in &samples {
            let others = samples.iter().filter(|(of, _)| of == format).count();
            let spliced = |chance: &mut Chance| {
                let (_, other) = samples
                    .iter()
                    .filter(|(of, _)| of == format)
                    .nth(chance.below(others))
                    .expect("one");
                let (end, start) = (chance.below(sample.len()), chance.below(other.len()));
                [
                    [&sample[..end], other].concat(),
                    [&sample[..end], &other[start..]].concat(),
                    [&**sample, other].concat(),
                ]
            };
            let made = spliced(&mut chance)
                .into_iter()
                .chain((0..4).map(|_| changed(sample, &mut chance)));
            let mut lines = std::iter::once(sample.clone()).chain(made.collect::<Vec<_>>());
            looks(&formats()[usize::from(*format)], &mut lines);
        }
    }

    /// What a tool answered, as a text and in blocks, longer than what is kept of it for a quick look.
    #[test]
    fn long_results_say_the_same_in_pieces() {
        let number = |name: &str| {
            formats()
                .iter()
                .position(|known| known.name == name)
                .expect("a format") as u8
        };
        let long = "what the tool said\n".repeat(1000);
        let block = |text: &str| json!({"type": "text", "text": text});
        for content in [
            json!(long),
            json!([block(&long)]),
            json!([block("short"), "bare", block(&long), block("end")]),
        ] {
            let result = json!({"type": "tool_result", "tool_use_id": "t", "is_error": true, "content": content});
            let claude = json!({"type": "user", "uuid": "u", "message": {"role": "user", "content": [result]}});
            let pi = json!({"type": "message", "id": "m", "message":
                {"role": "toolResult", "toolCallId": "t", "isError": true, "content": content}});
            for (format, value) in [("agent-sdk", claude), ("pi", pi)] {
                let (number, text) = (number(format), value.to_string());
                line(&[&[number, 255], text.as_bytes()].concat());
                let mut results = Vec::new();
                let mut decoder = Decoder::new(formats()[usize::from(number)].format()).full(true);
                let outcome = decoder.records(Cut::new(text.as_bytes(), 255), None, &mut |item| {
                    if let Item::Entry(Entry {
                        what: What::Result { text, .. },
                        ..
                    }) = item
                    {
                        results.extend(text.map(|text| text.text().into_owned()));
                    }
                });
                assert_eq!(
                    (outcome.expect("in memory"), results.len()),
                    (Outcome::Matched, 1)
                );
                assert!(
                    results[0].contains("what the tool said\nwhat") && results[0].len() > 3000,
                    "{results:?}"
                );
            }
        }
    }

    #[test]
    fn lines_are_independent_and_countable_in_steps() {
        let (samples, mut chance) = (samples(), Chance::new(2));
        for _ in 0..150 {
            let (format, _) = *chance.pick(&samples);
            let own: Vec<&Vec<u8>> = samples
                .iter()
                .filter(|(of, _)| *of == format)
                .map(|(_, line)| line)
                .collect();
            let mut data = vec![format];
            for _ in 0..chance.below(20) {
                data.extend(changed(chance.pick::<&Vec<u8>>(&own), &mut chance));
                data.push(b'\n');
            }
            data.truncate(data.len() - chance.below(data.len()) % 3);
            transcript(&data);
        }
    }

    /// Lines longer than any buffer, and such that end where one does.
    #[test]
    fn long_lines_are_lines() {
        for size in [
            128 * 1024 - 1,
            128 * 1024,
            128 * 1024 + 1,
            256 * 1024,
            256 * 1024 + 4096,
            600 * 1024,
        ] {
            let long = format!("{{\"type\":\"user\",\"pad\":\"{}\"}}\n", "x".repeat(size));
            transcript(&[&[0], b"{}\n".as_slice(), long.as_bytes(), b"{}\nno end"].concat());
        }
    }

    #[test]
    fn a_descriptor_is_compiled_or_refused() {
        let mut chance = Chance::new(3);
        for _ in 0..200 {
            let file = format!(
                "{}/formats/{}.toml",
                env!("CARGO_MANIFEST_DIR"),
                chance.pick(formats()).name
            );
            let text = fs::read_to_string(file).expect("a descriptor");
            // A whole line less, or twice, is what a person gets wrong.
            let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
            for _ in 0..chance.below(3) {
                let line = lines.remove(chance.below(lines.len()));
                if chance.below(2) == 0 {
                    lines.insert(chance.below(lines.len()), line);
                }
            }
            descriptor(&changed(lines.concat().as_bytes(), &mut chance));
        }
    }

    const ASKED: &str = r#"{"session_id":"00000000-0000-4000-8000-000000000000","transcript_path":"HOME/.claude/projects/-work/00000000-0000-4000-8000-000000000000.jsonl","cwd":"HOME/work","hook_event_name":"UserPromptSubmit","prompt":"go on"}"#;

    #[test]
    fn whatever_an_agent_says_the_reply_is_whole_or_empty() {
        let mut chance = Chance::new(4);
        hook_input(ASKED.as_bytes());
        for _ in 0..100 {
            let asked = match chance.below(4) {
                0 => ASKED.replace("UserPromptSubmit", "SessionStart"),
                1 => ASKED.replace(",\"hook_event_name\":\"UserPromptSubmit\"", ""),
                _ => ASKED.into(),
            };
            hook_input(&changed(asked.as_bytes(), &mut chance));
        }
    }

    #[test]
    fn whatever_a_session_writes_it_gets_a_line_and_once() {
        let (samples, mut chance) = (samples(), Chance::new(5));
        let own: Vec<&Vec<u8>> = samples
            .iter()
            .filter(|(of, _)| *of == 0)
            .map(|(_, line)| line)
            .collect();
        let hostile = |chance: &mut Chance| {
            let text: String = (0..chance.below(12))
                .map(|_| String::from_utf8_lossy(chance.pick::<&[u8]>(&TOKENS)))
                .collect();
            json!({"type": "user", "uuid": chance.next().to_string(), "timestamp": "2026-11-16T02:55:00Z",
                "cwd": "HOME/work", "message": {"role": "user", "content": text}})
            .to_string()
        };
        for _ in 0..60 {
            let mut data = Vec::new();
            for _ in 0..chance.below(6) {
                let line = String::from_utf8_lossy(chance.pick::<&Vec<u8>>(&own))
                    .replace("/home/dev/src", "HOME/work");
                data.extend(changed(line.as_bytes(), &mut chance));
                data.push(b'\n');
                data.extend(hostile(&mut chance).into_bytes());
                data.push(b'\n');
            }
            told(&data);
        }
    }

    #[test]
    fn a_cursor_file_is_read_or_refused() {
        let mut chance = Chance::new(6);
        let written = r#"{"00000000-0000-4000-8000-000000000000":{".":{"version":1,"since":1794794400000,"clock":1794797000000000,"place":0},"HOME/.claude/projects/-work/aaaaaaaa-0000-4000-8000-00000000000a.jsonl":{"offset":0,"unread":true,"title":"a title","cwd":"HOME/work"}},"another":{"HOME/x.jsonl":{"offset":7}}}"#;
        cursor_file(written.as_bytes());
        for _ in 0..60 {
            cursor_file(&changed(written.as_bytes(), &mut chance));
        }
    }

    #[test]
    fn what_is_hidden_stays_hidden() {
        let parts: Vec<&str> = "token|password|secret|api_key|\"|'|`|“|=|:| |\\|://|@|/|-u|--token|-p|-----BEGIN PRIVATE KEY-----|\
            é|日|{|}|(|)|[|]|<|>|$|Bearer|Authorization|the|,|;|&|.|\n|eyJhbGciOi|sk-|ghp_|AKIA|xoxb-|[redacted]|hunter2|a1B2c3D4e5F6"
            .split('|')
            .collect();
        let mut chance = Chance::new(7);
        for _ in 0..4000 {
            let text: String = (0..chance.below(10))
                .map(|_| *chance.pick(&parts))
                .collect();
            redaction(&[&[chance.below(256) as u8 & 0x7f], text.as_bytes()].concat());
        }
    }
}
