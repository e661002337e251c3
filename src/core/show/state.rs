//! Why a session is in its state, in words: `permission: Bash rm -rf build`, `answered 3m ago`.
//!
//! Commands, questions and errors in them come from transcripts, so whoever shows the words puts them through the gate.

use std::path::Path;

use crate::env::iso;
use crate::fold::Doing;
use crate::session::live::Evidence;
use crate::session::state::{Group, Left, Reason, Stage};
use crate::session::{State, StateKind};
use crate::show::activity::ago;
use crate::show::terminal::Tone;
use session_format::entry::Act;
use session_format::time::{MINUTE, SECOND, Time};

/// A call that runs for so long without a line in the transcript is worth a look.
const SILENT: i64 = 5 * MINUTE;

/// The reason in words; none if there is nothing to say. With the time, how long ago it was is said, too.
pub fn reason(state: &State, now: Option<Time>) -> Option<String> {
    let ago = || now.map_or_else(String::new, |now| ago(state.since, now));
    // A transcript cannot say that its agent was killed.
    let seen = |doing: String| {
        if state.source == Evidence::Transcript {
            format!("last seen {doing}")
        } else {
            doing
        }
    };
    let call = |doing: &Doing| call(doing, state.cwd);
    Some(match state.reason? {
        Reason::Permission(doing) => with("permission", doing.map(call)),
        Reason::Question(question) => with("question", question.map(one_line)),
        Reason::Plan => "plan to approve".into(),
        Reason::Dialog => "a dialog is open".into(),
        Reason::Running(None) => seen("thinking".into()),
        Reason::Running(Some(doing)) => seen(format!("running {}", call(doing))),
        Reason::Pending(doing) => seen(format!(
            "running or waiting for permission: {}",
            call(doing)
        )),
        Reason::Answered => format!("answered{}", ago()),
        Reason::ThinkingOrCalling => {
            "thinking, interrupted, or a call is running or waiting for permission".into()
        }
        Reason::ThinkingOrInterrupted => "thinking, or interrupted".into(),
        Reason::AnsweredOrCalling => format!(
            "answered{}, or a call is running or waiting for permission",
            ago()
        ),
        Reason::Background => format!("answered{}; a background job is running", ago()),
        Reason::Interrupted => format!("interrupted{}", ago()),
        Reason::AnsweredOrInterrupted => format!("answered{}, or interrupted", ago()),
        Reason::Trouble { text, limit } => trouble(text, limit, now),
        Reason::Crashed(left) => format!(
            "crashed{}",
            left.map_or_else(String::new, |left| unfinished(left, call))
        ),
        Reason::Ended(Some(left), _) => format!("ended{}", unfinished(left, call)),
        Reason::Ended(None, Some(_)) => format!("ended{}", ago()),
        // Its last activity is not its end.
        Reason::Ended(None, None) => match ago() {
            when if when.is_empty() => "ended".into(),
            when => format!("ended; last active{when}"),
        },
    })
}

/// How many sessions of a group there are: `2 need you`.
pub fn counted(group: Group, count: usize) -> String {
    let words = match group {
        Group::NeedsYou if count == 1 => "needs you",
        Group::NeedsYou => "need you",
        Group::Failed => "failed",
        Group::Working => "working",
        Group::Waiting => "waiting",
        Group::Inactive => "inactive",
    };
    format!("{count} {words}")
}

/// How the word of a state looks.
pub fn tone(kind: StateKind) -> Tone {
    match kind {
        StateKind::NeedsYou => Tone::Call,
        StateKind::Error => Tone::Alarm,
        StateKind::Working => Tone::User,
        StateKind::Waiting => Tone::Plain,
        StateKind::Idle | StateKind::Done | StateKind::Gone => Tone::Faint,
    }
}

fn with(what: &str, of: Option<String>) -> String {
    of.map_or_else(|| what.to_owned(), |of| format!("{what}: {of}"))
}

/// How far the call had got that an agent left behind.
fn unfinished(Left { doing, stage }: Left, call: impl Fn(&Doing) -> String) -> String {
    match stage {
        Stage::Running => format!(" while running {}", call(doing)),
        Stage::Waiting if doing.asks => format!(" before it was answered: {}", call(doing)),
        Stage::Waiting => format!(" while waiting for permission: {}", call(doing)),
        Stage::Unknown => format!("; no result of {}", call(doing)),
    }
}

/// The call in a few words. A file of the project is named as a person in there would.
fn call(doing: &Doing, cwd: Option<&str>) -> String {
    let Doing { tool, subject, .. } = doing;
    let below = cwd
        .filter(|_| matches!(doing.act, Act::Edit | Act::Read))
        .and_then(|cwd| Path::new(subject).strip_prefix(cwd).ok()?.to_str())
        .filter(|below| !below.is_empty());
    one_line(&format!("{tool} {}", below.unwrap_or(subject)))
}

/// A call that runs, without a sign of life for a while: `silent 12m in cargo test`.
pub fn silent(state: &State, updated: Option<Time>, now: Time) -> Option<String> {
    let Some(Reason::Running(Some(doing))) = state.reason else {
        return None;
    };
    let heard = updated.max(state.since)?;
    let is_known = state.kind == StateKind::Working && state.source != Evidence::Transcript;
    let what = match doing.act {
        Act::Run if !doing.subject.is_empty() => one_line(&doing.subject),
        _ => call(doing, state.cwd),
    };
    (is_known && now.0 - heard.0 >= SILENT)
        .then(|| format!("silent {} in {what}", heard.short_age(now)))
}

/// What went wrong, in the client's words. That it is a limit is said if those words do not say so, and when it ends
/// if they have that as a number of seconds: `usage limit reached|1763305200`.
fn trouble(text: &str, limit: bool, now: Option<Time>) -> String {
    /// From 2001 on, until long after us.
    const SECONDS: std::ops::Range<i64> = 1_000_000_000..10_000_000_000;
    let mut text = one_line(text);
    let end = text
        .rsplit_once('|')
        .and_then(|(before, end)| Some((before.len(), end.trim().parse().ok()?)));
    if let Some((length, seconds)) = end.filter(|(_, seconds)| limit && SECONDS.contains(seconds)) {
        let when = Time(seconds * SECOND);
        // How long until then is how long ago now will have been.
        let when = match now.map(|now| now.short_age(when)) {
            None => iso(when),
            Some(age) if age == "now" => age,
            Some(age) => format!("in {age}"),
        };
        text.truncate(length);
        text += &format!(", resets {when}");
    }
    match limit && !text.to_lowercase().contains("limit") {
        true => format!("limit: {text}"),
        false if text.is_empty() => "failed".into(),
        false => text,
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
