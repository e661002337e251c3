//! Transcripts that the real clients wrote, each with what the reader must make of it.
//!
//! `testdata/<format>/<case>/` is a HOME. Beside every transcript `x.jsonl` lies the log expected of it, `x.log`; where
//! there is one, `x.log.json` is the log as JSON and `x.full.log` the log with everything. `list.json` is the list of the
//! case, with paths below its HOME. A case with a directory `cwd` is read from there, because that is a named home.
//!
//! The expected files were derived from the raw lines by other means than this program. A new agent needs a descriptor
//! and a case, no code here.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::support::clients::{Case, entries, name};
use crate::support::run::{Done, without_schema};
use crate::support::world::{World, testdata};

/// What lies beside a transcript, with this ending.
fn beside(transcript: &Path, ending: &str) -> Option<String> {
    std::fs::read_to_string(transcript.with_extension(ending)).ok()
}

/// Everything that is not as expected, so that one case does not hide the others.
#[derive(Default)]
struct Wrong(String);

impl Wrong {
    fn check(&mut self, what: &str, expected: &str, got: &str) {
        if expected == got {
            return;
        }
        let differs = |(_, (a, b)): &(usize, (Option<&str>, Option<&str>))| a != b;
        let pairs = (0..).map(|line| (expected.lines().nth(line), got.lines().nth(line)));
        let at = pairs.enumerate().find(differs).map_or(0, |(line, _)| line);
        let line = |text: &str| text.lines().nth(at).unwrap_or("(the end)").to_owned();
        writeln!(
            self.0,
            "{what}\n  line {}\n  expected: {}\n  got:      {}",
            at + 1,
            line(expected),
            line(got)
        )
        .expect("written");
    }

    /// All of stdout, and nothing on stderr.
    fn check_run(&mut self, what: &str, expected: &str, done: &Done) {
        self.check(what, expected, done.out());
        self.check(&format!("{what}: stderr"), "", done.err());
    }

    #[track_caller]
    fn none(self) {
        assert!(self.0.is_empty(), "\n{}", self.0);
    }
}

fn shown(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// Each format has a case, and each transcript an expectation: nothing is added without its proof.
#[test]
fn every_format_and_every_transcript_has_its_expectation() {
    let formats = entries(&Path::new(env!("CARGO_MANIFEST_DIR")).join("formats"));
    let described: Vec<_> = formats
        .iter()
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .map(|path| name(&path.with_extension("")))
        .collect();
    let tested: Vec<_> = entries(&testdata(""))
        .iter()
        .filter(|path| path.is_dir())
        .map(|path| name(path))
        .collect();
    assert_eq!(tested, described);

    let cases = Case::all();
    let bare: Vec<_> = cases
        .iter()
        .flat_map(Case::transcripts)
        .filter(|path| beside(path, "log").is_none())
        .collect();
    assert_eq!(bare, [""; 0].map(PathBuf::from));
    let of = |format: &str, ending: &str| {
        let own = cases
            .iter()
            .filter(|case| case.format == format)
            .flat_map(Case::transcripts);
        own.filter(|path| beside(path, ending).is_some()).count()
    };
    for format in &described {
        assert!(
            of(format, "log") > 0 && of(format, "log.json") > 0,
            "{format} lacks a case"
        );
    }
}

/// 003-19, 003-20, 003-T22, 003-T23: the whole log of each transcript, recognised from its lines alone. A subagent's
/// file is read as well when its path is given.
#[test]
fn every_log_is_as_expected() {
    let mut wrong = Wrong::default();
    let world = World::new();
    for path in Case::all().iter().flat_map(Case::transcripts) {
        let expected = beside(&path, "log").unwrap_or_default();
        let done = world.reader(&[shown(&path), "--lines", "1000"]).run();
        if expected.is_empty() {
            let nothing = format!(
                "session-reader: nothing was said in '{}' yet\n",
                path.display()
            );
            wrong.check(shown(&path), "", done.out());
            wrong.check(shown(&path), &nothing, done.err());
            done.status(1);
        } else {
            wrong.check_run(shown(&path), &expected, &done);
            done.status(0);
        }
    }
    wrong.none();
}

/// `--lines N` is the end of the whole log, whatever lies further up: working directory, failed calls and all.
#[test]
fn the_last_entries_are_the_end_of_the_log() {
    let mut wrong = Wrong::default();
    let world = World::new();
    for path in Case::all().iter().flat_map(Case::transcripts) {
        let whole = beside(&path, "log").unwrap_or_default();
        for count in [1, 2, 4] {
            let expected = last(&whole, count);
            if !expected.is_empty() {
                let done = world
                    .reader(&[shown(&path), "--lines", &count.to_string()])
                    .run();
                wrong.check(
                    &format!("{} --lines {count}", path.display()),
                    &expected,
                    done.out(),
                );
            }
        }
    }
    wrong.none();
}

/// The last entries of a log of one day. The first one shown has the date.
fn last(log: &str, count: usize) -> String {
    let is_first = |line: &&str| line.as_bytes().get(13) == Some(&b':');
    let lines: Vec<_> = log.split_inclusive('\n').collect();
    let starts: Vec<_> = (0..lines.len())
        .filter(|at| is_first(&lines[*at]))
        .collect();
    let Some(start) = starts.len().checked_sub(count).map(|at| starts[at]) else {
        return log.to_owned();
    };
    format!("{}{}", &log[..10], &lines[start..].concat()[10..])
}

/// The log for programs: exact lines.
#[test]
fn every_json_log_is_as_expected() {
    let mut wrong = Wrong::default();
    let world = World::new();
    for path in Case::all().iter().flat_map(Case::transcripts) {
        if let Some(expected) = beside(&path, "log.json") {
            let log = world
                .reader(&[shown(&path), "--lines", "1000", "--json"])
                .run();
            wrong.check(shown(&path), &expected, &without_schema(log.out()));
            wrong.check(shown(&path), "", log.err());
        }
    }
    wrong.none();
}

/// With `--full` also thinking, results (once per call, shortened) and marks, in the order of the conversation.
#[test]
fn every_full_log_is_as_expected() {
    let mut wrong = Wrong::default();
    let world = World::new();
    for path in Case::all().iter().flat_map(Case::transcripts) {
        if let Some(expected) = beside(&path, "full.log") {
            wrong.check_run(
                shown(&path),
                &expected,
                &world
                    .reader(&[shown(&path), "--lines", "1000", "--full"])
                    .run(),
            );
        }
    }
    wrong.none();
}

/// The list of each case, whole objects; and each session in it is found by its id. Subagents, and sessions in which
/// nothing was said, are not in it.
#[test]
fn every_list_is_as_expected() {
    let mut wrong = Wrong::default();
    for case in Case::all() {
        let (world, dir) = case.world();
        let expected = case
            .expected("list.json")
            .unwrap_or_else(|| panic!("{}: no list.json", case.path.display()));
        let done = world
            .reader(&["list", "--all", "--json"])
            .dir(world.path(dir))
            .run();
        let home = world.path("");
        let below = |line: &str| {
            line.replace(shown(&home), "")
                .replace(r#""path":"/"#, r#""path":""#)
        };
        // Why a session is in its state is what `state` and `state_agents` are about.
        let reason = |line: &str| {
            let start = line.find(r#","reason":"#).expect("a reason");
            format!(
                "{}{}\n",
                &line[..start],
                &line[line.find(r#","messages":"#).expect("a count")..]
            )
        };
        let out: String = without_schema(done.out()).lines().map(reason).collect();
        wrong.check(&case.path.display().to_string(), &expected, &below(&out));
        wrong.check(&case.path.display().to_string(), "", done.err());
        for row in expected
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"))
        {
            let (id, path) = (
                row["id"].as_str().expect("an id"),
                row["path"].as_str().expect("a path"),
            );
            // A named session is reached by its name: its file lies in no place that all projects share.
            let called = row["name"].as_str().unwrap_or(id);
            let log = beside(&case.path.join(path), "log").unwrap_or_default();
            let done = world
                .reader(&["log", called, "--lines", "1000"])
                .dir(world.path(dir))
                .run();
            wrong.check_run(
                &format!("{} log {called}", case.path.display()),
                &log,
                &done,
            );
        }
    }
    wrong.none();
}

/// Every transcript is recognised, and every line of it is accounted for: real clients wrote no broken line.
#[test]
fn every_line_of_every_transcript_is_accounted_for() {
    let mut wrong = Wrong::default();
    let world = World::new();
    for case in Case::all() {
        for path in case.transcripts() {
            let done = world.reader(&["formats", "check", shown(&path)]).run();
            let out = done.out();
            let head = format!("{}: {} (", path.display(), case.format);
            wrong.check(shown(&path), &head, &out[..head.len().min(out.len())]);
            let lines = std::fs::read_to_string(&path)
                .expect("UTF-8")
                .matches('\n')
                .count();
            let numbers: Vec<usize> = out
                .lines()
                .nth(1)
                .unwrap_or_default()
                .split(' ')
                .filter_map(|word| word.parse().ok())
                .collect();
            let counted = match numbers[..] {
                [matched, ignored, broken] => {
                    format!("{} lines, {broken} broken", matched + ignored)
                }
                _ => out.to_owned(),
            };
            wrong.check(shown(&path), &format!("{lines} lines, 0 broken"), &counted);
        }
    }
    wrong.none();
}
