//! What an agent is told of another session after a semicolon: its state (`wants to run rm -rf build`, `running cargo test`),
//! what was broken off, and what it did to the repository (`committed "tax in totals"`).
//!
//! Only what has happened is told as done: a call without a result is wanted or running, or nobody knows which. The state
//! itself is up to `session/state.rs`. Commands, files and questions come from transcripts, so each is made harmless,
//! and quoted unless it is plain enough not to be mistaken for a fact of ours.

use super::activity::{called, file};
use super::gate::harmless_command;
use super::untrusted::quote;
use crate::fold::{Doing, GitEvent, is_well_known};
use crate::session::State;
use crate::session::live::Evidence;
use crate::session::state::{Left, Reason, Stage};
use session_format::entry::{Act, Call};

/// The longest command that is told without quotes, and the longest of all.
const COMMAND: usize = 40;
const LONG_COMMAND: usize = 60;
const QUESTION: usize = 100;
const PATH: usize = 60;
const SUBJECT: usize = 60;

/// Makes a path of the session one that the reader would write.
pub type Shown<'s> = &'s dyn Fn(&str) -> String;

/// What a session waits for or is doing, or how it went wrong; none if that is nothing special.
pub fn state(state: &State, shown: Shown) -> Option<String> {
    Some(match state.reason? {
        Reason::Permission(Some(doing)) => format!("wants to {}", deed(doing, shown)),
        Reason::Permission(None) | Reason::Question(None) => "waits for its user".into(),
        Reason::Question(Some(question)) => format!("asks {}", quote(question, QUESTION)),
        Reason::Plan => "wants its plan approved".into(),
        // A transcript cannot say that its agent is still there.
        Reason::Running(Some(doing)) if state.source == Evidence::Transcript => open(doing, shown),
        Reason::Running(Some(doing)) => running(doing, shown),
        Reason::Pending(doing) => open(doing, shown),
        Reason::Trouble { limit: true, .. } => "stopped by a limit".into(),
        Reason::Trouble { limit: false, .. } => "stopped by an error".into(),
        Reason::Crashed(None) => "crashed".into(),
        Reason::Crashed(Some(left)) => format!("crashed{}", unfinished(left, shown)),
        Reason::Ended(Some(left), _) => format!("ended{}", unfinished(left, shown)),
        _ => return None,
    })
}

/// How a call ended that was told as wanted or running before.
pub fn broken_off(call: &Call, shown: Shown) -> String {
    // The user stopped it, or it ran out of time.
    let how = if call.denied {
        "refused"
    } else {
        "did not finish"
    };
    format!(
        "{how}: {}",
        subject(
            call.act,
            &call.tool,
            call.subjects.first().map_or("", |first| first),
            shown
        )
    )
}

/// What was done to the repository, in one clause: the branch it is on now, the newest commit, and that it was pushed.
pub fn git(events: &[GitEvent]) -> Option<String> {
    let commits = events
        .iter()
        .filter(|event| matches!(event, GitEvent::Committed(_)))
        .count();
    let newest = events.iter().rev().find_map(|event| match event {
        // A message may set a variable, as the command that it stands in may.
        GitEvent::Committed(subject) => Some(quote(&harmless_command(subject), SUBJECT)),
        _ => None,
    });
    let committed = match (newest, commits) {
        (Some(subject), 1) if subject.len() > 2 => Some(format!("committed {subject}")),
        (Some(subject), _) if subject.len() > 2 => {
            Some(format!("committed {commits} times, last {subject}"))
        }
        (Some(_), _) => Some("committed".into()),
        (None, _) => None,
    };
    let pushed = events
        .contains(&GitEvent::Pushed)
        .then(|| "pushed".to_owned());
    let switched = events.iter().rev().find_map(|event| match event {
        GitEvent::Switched(branch) => Some(format!("switched to {}", called(branch))),
        _ => None,
    });
    let clauses: Vec<String> = switched
        .into_iter()
        .chain(committed)
        .chain(pushed)
        .collect();
    (!clauses.is_empty()).then(|| clauses.join(" and "))
}

/// `no result yet: cargo test`: it runs, or waits for permission.
fn open(doing: &Doing, shown: Shown) -> String {
    format!("no result yet: {}", subject_of(doing, shown))
}

/// How far the call had got that an agent left behind.
fn unfinished(Left { doing, stage }: Left, shown: Shown) -> String {
    match stage {
        Stage::Running => format!(" while {}", running(doing, shown)),
        Stage::Waiting if doing.asks => " before its question was answered".into(),
        Stage::Waiting => format!(" before it was allowed to {}", deed(doing, shown)),
        Stage::Unknown => format!("; no result of {}", subject_of(doing, shown)),
    }
}

fn running(doing: &Doing, shown: Shown) -> String {
    let [_, running] = verbs(doing.act);
    format!("{running} {}", subject_of(doing, shown))
}

fn deed(doing: &Doing, shown: Shown) -> String {
    let [run, _] = verbs(doing.act);
    format!("{run} {}", subject_of(doing, shown))
}

/// What a call does, and what it is doing.
fn verbs(act: Act) -> [&'static str; 2] {
    match act {
        Act::Run => ["run", "running"],
        Act::Edit => ["edit", "editing"],
        Act::Read => ["read", "reading"],
        Act::Search => ["search for", "searching for"],
        Act::Fetch => ["fetch", "fetching"],
        Act::Delegate => ["start the subagent", "running the subagent"],
        Act::Plan | Act::Other => ["use", "using"],
    }
}

fn subject_of(doing: &Doing, shown: Shown) -> String {
    subject(doing.act, &doing.tool, &doing.subject, shown)
}

/// What a call is about, in a line of facts; its tool if nothing is left of that.
fn subject(act: Act, tool: &str, subject: &str, shown: Shown) -> String {
    let says_something = |text: &String| text.chars().any(char::is_alphanumeric);
    let about = match act {
        Act::Edit | Act::Read if !subject.trim().is_empty() => file(&shown(subject), PATH),
        Act::Run => plain(&harmless_command(subject)),
        _ => quote(&harmless_command(subject), SUBJECT),
    };
    let about = Some(about).filter(says_something);
    let tool = Some(called(&harmless_command(tool)))
        .filter(says_something)
        .unwrap_or_else(|| "a tool".into());
    match (act, about) {
        (Act::Plan | Act::Other, Some(about)) => format!("{tool} {about}"),
        (_, about) => about.unwrap_or(tool),
    }
}

/// A command as it is if it is short and plain and calls a program that everybody knows, else quoted: what reads like a
/// sentence could pass for one of ours.
fn plain(text: &str) -> String {
    const WORDS: usize = 4;
    let is_plain = |char: char| char.is_ascii_alphanumeric() || " _./=@+-".contains(char);
    let text = text.trim();
    let words: Vec<&str> = text.split(' ').collect();
    let is_known = words.first().is_some_and(|program| is_well_known(program));
    let is_short = text.len() <= COMMAND && words.len() <= WORDS;
    let ends_a_sentence = words
        .iter()
        .any(|word| word.ends_with('.') && word.len() > 2);
    if is_known && is_short && !ends_a_sentence && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        quote(text, LONG_COMMAND)
    }
}
