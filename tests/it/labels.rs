//! What is quoted of a session is what a careful reader would quote: every transcript in `testdata/` against labels that
//! were made by hand.

use serde::Deserialize;
use serde_json::Value;

use crate::world::{World, testdata};

#[derive(Deserialize)]
struct Labels {
    transcript: Vec<Label>,
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
    ended: String,
}

/// What `resume` says of it, in the same words.
fn told(world: &World, path: &str) -> Label {
    let file = testdata(path);
    let file = file.to_str().expect("UTF-8");
    let json = world.reader(&["resume", file, "--json"]).run();
    if json.out().is_empty() {
        return Label { path: path.into(), ended: "none".into(), ..Label::default() };
    }
    let all = json.json().remove(0);
    let text = world.reader(&["resume", file]).env("COLUMNS", "4000").run().status(0);
    let row = |label: &str| {
        let line = text.out().lines().find(|line| line.starts_with(&format!("{label:12}")))?;
        Some(line[12..].to_owned())
    };
    let work = &all["current_work"];
    let understood = work["is_directive"] == true;
    let asked = row("Asked last").filter(|_| work["intent"] != Value::Null);
    let blocker = |kind: &str| {
        let found = all["blockers"].as_array()?.iter().find(|blocker| blocker["kind"] == kind)?;
        Some(found["text"].as_str()?.to_owned())
    };
    Label {
        path: path.into(),
        then: if understood { row("Then") } else { asked.clone() },
        asked: asked.filter(|_| understood),
        said: row("Said last"),
        fails: blocker("failing"),
        open: blocker("question"),
        // A file cannot say whether its writer is still there; a label says only that nobody answered.
        ended: all["ending"].as_str().expect("an ending").replace("unfinished", "working"),
    }
}

/// All sessions in `testdata/`. What subagents wrote belongs to their sessions.
fn transcripts() -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![testdata("")];
    while let Some(dir) = open.pop() {
        for path in std::fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() && !path.ends_with("subagents") {
                open.push(path);
            } else if path.extension().is_some_and(|end| end == "jsonl") {
                found.push(path.strip_prefix(testdata("")).expect("below").to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

/// A text as it stands on one line.
fn flat(text: &str) -> String {
    let plain: String = text.chars().filter(|char| !char.is_control() || char.is_whitespace()).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_transcript_is_read_as_a_person_reads_it() {
    let labels = std::fs::read_to_string(testdata("labels.toml")).expect("labels");
    let labels: Labels = toml::from_str(&labels).expect("TOML");
    let mut labelled: Vec<String> = labels.transcript.iter().map(|label| label.path.clone()).collect();
    labelled.sort();
    assert_eq!(labelled, transcripts(), "every session has a label");
    let world = World::new();
    let mut wrong = Vec::new();
    for label in labels.transcript {
        let told = told(&world, &label.path);
        let one_line = |text: &Option<String>| text.as_deref().map(flat);
        let flat = |label: &Label| Label {
            path: label.path.clone(),
            asked: one_line(&label.asked),
            then: one_line(&label.then),
            said: one_line(&label.said),
            fails: label.fails.clone(),
            open: one_line(&label.open),
            ended: label.ended.clone(),
        };
        if flat(&told) != flat(&label) {
            wrong.push(format!("  label {:?}\n  told  {:?}", flat(&label), flat(&told)));
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}
