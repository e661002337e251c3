//! What is told of a session is what a careful reader would tell: every transcript in `testdata/`, and some made-up sessions,
//! against labels that were made by hand.
//!
//! `cargo test --test it labels -- --nocapture` prints how many statements of each kind were told, and how many of them are
//! right.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::hook;
use crate::support::script::Script;
use crate::support::world::{ONE, World, testdata};

#[derive(Deserialize)]
struct Labels {
    transcript: Vec<Label>,
    session: Vec<MadeUp>,
}

/// What was done in a session, and what another one is told of it.
#[derive(Deserialize)]
struct MadeUp {
    did: Vec<String>,
    told: BTreeSet<String>,
}

/// What a reader found; what is absent must be absent.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Label {
    path: String,
    asked: Option<String>,
    then: Option<String>,
    said: Option<String>,
    fails: Option<String>,
    open: Option<String>,
    files: BTreeSet<String>,
    ended: String,
}

/// What `resume` says of it, in the same words.
fn told(world: &World, path: &str) -> Label {
    let file = testdata(path);
    let file = file.to_str().expect("UTF-8");
    let json = world.reader(&["resume", file, "--json"]).run();
    if json.out().is_empty() {
        return Label {
            path: path.into(),
            ended: "none".into(),
            ..Label::default()
        };
    }
    let all = json.json().remove(0);
    let text = world
        .reader(&["resume", file])
        .env("COLUMNS", "4000")
        .run()
        .status(0);
    let row = |label: &str| {
        let line = text
            .out()
            .lines()
            .find(|line| line.starts_with(&format!("{label:12}")))?;
        Some(line[12..].to_owned())
    };
    let work = &all["current_work"];
    let understood = work["is_directive"] == true;
    let asked = row("Asked last").filter(|_| work["intent"] != Value::Null);
    let blocker = |kind: &str| {
        let found = all["blockers"]
            .as_array()?
            .iter()
            .find(|blocker| blocker["kind"] == kind)?;
        Some(found["text"].as_str()?.to_owned())
    };
    let path_of = |file: &Value| file["path"].as_str().expect("a path").to_owned();
    let files = all["files_modified"]
        .as_array()
        .into_iter()
        .flatten()
        .map(path_of);
    Label {
        path: path.into(),
        files: files
            .map(|path| path.rsplit('/').next().unwrap_or_default().to_owned())
            .collect(),
        then: if understood {
            row("Then")
        } else {
            asked.clone()
        },
        asked: asked.filter(|_| understood),
        said: row("Said last"),
        fails: blocker("failing"),
        open: blocker("question"),
        // A file cannot say whether its writer is still there; a label says only that nobody answered.
        ended: all["ending"]
            .as_str()
            .expect("an ending")
            .replace("unfinished", "working"),
    }
}

/// All sessions in `testdata/`. What subagents wrote belongs to their sessions.
fn transcripts() -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![testdata("")];
    while let Some(dir) = open.pop() {
        for path in std::fs::read_dir(dir)
            .expect("a directory")
            .map(|entry| entry.expect("an entry").path())
        {
            if path.is_dir() && !path.ends_with("subagents") {
                open.push(path);
            } else if path.extension().is_some_and(|end| end == "jsonl") {
                found.push(
                    path.strip_prefix(testdata(""))
                        .expect("below")
                        .to_string_lossy()
                        .into_owned(),
                );
            }
        }
    }
    found.sort();
    found
}

/// A text as it stands on one line.
fn flat(text: &str) -> String {
    let plain: String = text
        .chars()
        .filter(|char| !char.is_control() || char.is_whitespace())
        .collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What is said of a session in a label: each statement begins with the word for its kind.
fn statements(label: &Label) -> BTreeSet<String> {
    let Label {
        path: _,
        asked,
        then,
        said,
        fails,
        open,
        files,
        ended,
    } = label;
    let said = [
        ("quote", asked),
        ("quote-after", then),
        ("answer", said),
        ("fails", fails),
        ("question", open),
    ]
    .into_iter();
    let said = said.filter_map(|(kind, text)| Some(format!("{kind} {}", flat(text.as_deref()?))));
    said.chain(files.iter().map(|file| format!("files {file}")))
        .chain([format!("state {ended}")])
        .collect()
}

/// What another session is told of one: the same, clause by clause.
fn told_of(did: &[String]) -> BTreeSet<String> {
    let world = World::new();
    let script = did.iter().fold(Script::of(&world).ago(9), |script, step| {
        let (how, what) = step.split_once(' ').expect("a word and what was done");
        match how {
            "user" => script.user(what),
            "say" => script.says(what),
            "run" | "fail" => script.runs(what, how == "fail"),
            "edit" => script.does(
                "Edit",
                json!({"file_path": world.path(format!("work/{what}"))}),
            ),
            "open" => script.calls("Bash", json!({"command": what})),
            _ => panic!("{step}"),
        }
    });
    script.save(&world, ONE);
    let told = hook::told(&world);
    let line = told.lines().last().unwrap_or_default();
    let (head, rest) = line
        .split_once(" -> ")
        .unwrap_or((line.split("; ").next().unwrap_or_default(), line));
    let quote = head
        .split_once(": ")
        .map(|(_, quote)| format!("quote {}", quote.trim_matches('"')));
    let clauses = rest
        .split("; ")
        .flat_map(|part| part.split(" and "))
        .flat_map(|part| part.split(", "));
    let clauses = clauses.filter_map(|clause| {
        let bare = |text: &str| text.trim_matches('"').to_owned();
        Some(match clause {
            "pushed" => "push".into(),
            _ if clause.starts_with("updated ") => {
                format!("files {}", bare(&clause["updated ".len()..]))
            }
            _ if clause.starts_with("committed ") => {
                format!("commit {}", bare(&clause["committed ".len()..]))
            }
            _ if clause.starts_with("switched to ") => {
                format!("branch {}", bare(&clause["switched to ".len()..]))
            }
            _ if clause.ends_with(" fails") => {
                format!("fails {}", clause.trim_end_matches(" fails"))
            }
            _ if clause.starts_with("no result yet") => format!("state {clause}"),
            _ => return None,
        })
    });
    quote.into_iter().chain(clauses).collect()
}

#[test]
fn every_session_is_told_as_a_person_reads_it() {
    let labels = std::fs::read_to_string(testdata("labels.toml")).expect("labels");
    let labels: Labels = toml::from_str(&labels).expect("TOML");
    let mut labelled: Vec<String> = labels
        .transcript
        .iter()
        .map(|label| label.path.clone())
        .collect();
    labelled.sort();
    assert_eq!(labelled, transcripts(), "every session has a label");
    let world = World::new();
    let read = labels.transcript.iter();
    let read = read.map(|label| {
        (
            label.path.clone(),
            statements(label),
            statements(&told(&world, &label.path)),
        )
    });
    let made_up = labels
        .session
        .into_iter()
        .map(|MadeUp { did, told }| (did.join("; "), told, told_of(&did)));
    // Of each kind: told, right, and not told though a reader does.
    let mut counts: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (what, label, told) in read.chain(made_up) {
        for statement in label.union(&told) {
            let kind = statement.split(' ').next().unwrap_or_default();
            let count = counts.entry(kind.to_owned()).or_default();
            let (is_told, is_right) = (told.contains(statement), label.contains(statement));
            count[0] += usize::from(is_told);
            count[1] += usize::from(is_told && is_right);
            count[2] += usize::from(!is_told);
        }
        if label != told {
            wrong.push(format!("{what}\n  label {label:?}\n  told  {told:?}"));
        }
    }
    println!(
        "{:12} {:>5} {:>5} {:>9} {:>6}",
        "statement", "told", "right", "precision", "missed"
    );
    for (kind, [told, right, missed]) in &counts {
        let precision = 100 * right / (*told).max(1);
        println!("{kind:12} {told:>5} {right:>5} {precision:>8}% {missed:>6}");
    }
    assert!(
        wrong.is_empty(),
        "{} differ\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
