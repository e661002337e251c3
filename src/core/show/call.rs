//! A tool call in full: the whole command, the plan, the questions with their answers, an edit as a diff.
//!
//! Line by line, each with how it looks, so that a screen, a terminal and a program get the same.

use super::gate::Gate;
use super::object::{Object, object};
use super::terminal::{Tone, wrap};
use crate::ask::pending::Pending;
use serde_json::Value;
use session_format::entry::{Act, Asked, Call, Change, Detail, Task, TaskState};

/// So many lines of a file that is to be written are shown where nobody asked for all.
pub const HEAD: usize = 40;
/// Lines around a change.
const AROUND: usize = 2;
/// Longer texts are compared by their beginnings and ends only.
const COMPARED: usize = 400;

/// A line, and how it looks.
pub type CallLine = (Tone, String);

/// All that a call is about, cleaned: a text goes through the gate before it is cut into lines. `shown` makes a path one that the
/// reader would write; with `head`, a file that is written whole ends after so many lines.
pub fn lines(
    call: &Call,
    head: usize,
    gate: Gate,
    shown: &dyn Fn(&str) -> String,
) -> Vec<CallLine> {
    let none = Detail::default();
    let detail = call.detail.as_deref().unwrap_or(&none);
    let subject = call.subjects.first().map_or("", |subject| subject);
    let subject = &*gate.text(subject);
    if !detail.changes.is_empty() {
        let change = |change| changed(change, subject, head, gate, shown);
        let mut lines: Vec<CallLine> = detail.changes.iter().flat_map(change).collect();
        lines.extend(detail.input.iter().flat_map(|input| flags(input, gate)));
        return lines;
    }
    if let Some(plan) = &detail.plan {
        return markdown(&gate.text(plan));
    }
    if !detail.asked.is_empty() {
        return detail
            .asked
            .iter()
            .flat_map(|one| asked(one, gate))
            .collect();
    }
    if !detail.tasks.is_empty() {
        let task = |task: &Task| {
            let mark = task.state.unwrap_or(TaskState::Open).mark();
            let text = task.text.as_deref().or(task.id.as_deref());
            (
                Tone::Plain,
                format!("{mark} {}", gate.line(text.unwrap_or_default())),
            )
        };
        return detail.tasks.iter().map(task).collect();
    }
    match (&detail.input, call.act) {
        // The command itself, and then what else it is called with: a time-out, what it is for.
        (Some(input), Act::Run) => {
            let command = call.subjects.first().map_or("", |command| command);
            let mut lines = text(Tone::Plain, subject);
            lines.extend(values(input, Some(command), gate));
            lines
        }
        (Some(input), _) => values(input, None, gate),
        (None, _) => text(Tone::Plain, subject),
    }
}

/// The lines, no wider than there is room.
pub fn fitted(lines: &[CallLine], room: usize) -> Vec<CallLine> {
    let fit = |(tone, line): &CallLine| {
        let wrapped = wrap(line, room).into_iter();
        wrapped.map(|line| (*tone, line)).collect::<Vec<_>>()
    };
    lines.iter().flat_map(fit).collect()
}

/// What a session waits for, as a program reads it. Secrets are hidden: it is for whoever answers, wherever they are.
pub fn pending(pending: &Pending) -> Object {
    let Pending { kind, call } = pending;
    let gate = Gate::new(true);
    let all = lines(call, usize::MAX, gate, &|path| path.to_owned());
    let all: Vec<String> = all.into_iter().map(|(_, line)| line).collect();
    // A program may render a plan itself.
    let plan = call.detail.as_ref().and_then(|detail| detail.plan.as_ref());
    let detail = plan.map_or_else(|| all.join("\n"), |plan| gate.text(plan).into_owned());
    object! {
        tool: gate.line(&*call.tool),
        subject: call.subjects.first().map(|subject| gate.line(&**subject)),
        kind: kind.name(),
        detail,
    }
}

/// The members of an input that are no text: `replace_all: true`.
fn flags(input: &str, gate: Gate) -> Vec<CallLine> {
    let Ok(Value::Object(members)) = serde_json::from_str(input) else {
        return Vec::new();
    };
    let is_flag = |value: &Value| matches!(value, Value::Bool(true) | Value::Number(_));
    let flags = members.into_iter().filter(|(_, value)| is_flag(value));
    flags
        .map(|(name, value)| {
            (
                Tone::Faint,
                gate.line(format!("{name}: {value}")).into_owned(),
            )
        })
        .collect()
}

fn text(tone: Tone, text: &str) -> Vec<CallLine> {
    text.lines().map(|line| (tone, line.to_owned())).collect()
}

/// The members of an input, each with its name; one of several lines has its name before it.
fn values(input: &str, shown: Option<&str>, gate: Gate) -> Vec<CallLine> {
    let members = match serde_json::from_str(input) {
        Ok(Value::Object(members)) => members,
        Ok(Value::String(one)) => return text(Tone::Plain, &gate.text(&one)),
        _ => return text(Tone::Plain, &gate.text(input)),
    };
    let mut lines = Vec::new();
    for (name, value) in members {
        let value = match value {
            Value::String(text) if shown.is_some_and(|shown| shown.trim() == text.trim()) => {
                continue;
            }
            Value::String(text) => text,
            Value::Null => continue,
            other => serde_json::to_string_pretty(&other).unwrap_or_default(),
        };
        let (name, value) = (gate.line(name), value.trim_end());
        if value.contains('\n') {
            lines.push((Tone::Faint, format!("{name}:")));
            lines.extend(text(Tone::Plain, &gate.text(value)));
        } else if !value.is_empty() {
            // A name announces a secret: `password: hunter2`.
            let whole = format!("{name}: {value}");
            lines.push((Tone::Faint, gate.text(&whole).into_owned()));
        }
    }
    lines
}

fn asked(asked: &Asked, gate: Gate) -> Vec<CallLine> {
    let Asked {
        text: question,
        options,
    } = asked;
    let mut lines = text(Tone::Strong, &gate.text(question));
    for (number, (label, about)) in options.iter().enumerate() {
        let (label, about) = (gate.line(&**label), gate.line(&**about));
        let about = if about.is_empty() {
            String::new()
        } else {
            format!(": {about}")
        };
        lines.push((Tone::Plain, format!("  {}. {label}{about}", number + 1)));
    }
    lines
}

/// Markdown as it is read: headings stand out, code and quotes step back.
fn markdown(written: &str) -> Vec<CallLine> {
    let mut in_code = false;
    let mut lines = Vec::new();
    for line in written.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            lines.push((Tone::Faint, line.to_owned()));
            continue;
        }
        let heading = line.trim_start_matches('#');
        let is_heading = heading.len() < line.len() && heading.starts_with(' ');
        let (tone, line) = match is_heading {
            _ if in_code => (Tone::Plain, line.to_owned()),
            true => (Tone::Strong, heading.trim().to_owned()),
            false if line.starts_with('>') => (Tone::Faint, line.to_owned()),
            // As it is: a command in a plan may have any of these marks in it.
            false => (Tone::Plain, line.to_owned()),
        };
        lines.push((tone, line));
    }
    lines
}

/// A file: what goes and what comes, with a few lines around.
fn changed(
    change: &Change,
    subject: &str,
    head: usize,
    gate: Gate,
    shown: &dyn Fn(&str) -> String,
) -> Vec<CallLine> {
    let path = shown(change.path.as_deref().unwrap_or(subject));
    let path = gate.line(path);
    let (removed, added) = (gate.text(&change.removed), gate.text(&change.added));
    let what = match change {
        Change { deleted: true, .. } => "deletes ",
        Change { whole: true, .. } => "writes ",
        _ => "edits ",
    };
    let mut lines = vec![(Tone::Strong, format!("{what}{path}"))];
    let (old, new): (Vec<&str>, Vec<&str>) = (removed.lines().collect(), added.lines().collect());
    if change.whole && old.is_empty() {
        lines.extend(
            new.iter()
                .take(head)
                .map(|line| (Tone::User, format!("+{line}"))),
        );
        let more = new.len().saturating_sub(head);
        if more > 0 {
            lines.push((Tone::Faint, format!("… {more} more lines")));
        }
        return lines;
    }
    lines.extend(diff(&old, &new));
    lines
}

/// The difference of two texts, line by line.
fn diff(old: &[&str], new: &[&str]) -> Vec<CallLine> {
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(one, other)| one == other).count()
    };
    let start = same(&mut old.iter().zip(new));
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let end = same(&mut old_rest.iter().rev().zip(new_rest.iter().rev()));
    let (gone, come) = (
        &old_rest[..old_rest.len() - end],
        &new_rest[..new_rest.len() - end],
    );
    let kept = |line: &&str| (Tone::Faint, format!(" {line}"));
    let mut lines: Vec<CallLine> = old[start.saturating_sub(AROUND)..start]
        .iter()
        .map(kept)
        .collect();
    lines.extend(between(gone, come));
    lines.extend(old[old.len() - end..].iter().take(AROUND).map(kept));
    lines
}

/// The lines that two texts have in common stay, by their longest common subsequence.
fn between(gone: &[&str], come: &[&str]) -> Vec<CallLine> {
    let minus = |line: &&str| (Tone::Alarm, format!("-{line}"));
    let plus = |line: &&str| (Tone::User, format!("+{line}"));
    if gone.len() > COMPARED || come.len() > COMPARED {
        return gone
            .iter()
            .map(minus)
            .chain(come.iter().map(plus))
            .collect();
    }
    // The length of the longest common subsequence of what is left of both.
    let mut longest = vec![vec![0_u16; come.len() + 1]; gone.len() + 1];
    for at in (0..gone.len()).rev() {
        for other in (0..come.len()).rev() {
            longest[at][other] = if gone[at] == come[other] {
                longest[at + 1][other + 1] + 1
            } else {
                longest[at + 1][other].max(longest[at][other + 1])
            };
        }
    }
    let (mut at, mut other, mut lines) = (0, 0, Vec::new());
    while at < gone.len() || other < come.len() {
        if at < gone.len() && other < come.len() && gone[at] == come[other] {
            lines.push((Tone::Faint, format!(" {}", gone[at])));
            (at, other) = (at + 1, other + 1);
        } else if other == come.len()
            || at < gone.len() && longest[at + 1][other] >= longest[at][other + 1]
        {
            lines.push(minus(&gone[at]));
            at += 1;
        } else {
            lines.push(plus(&come[other]));
            other += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(call: &Call) -> String {
        let lines = lines(call, HEAD, Gate::new(true), &|path| {
            path.trim_start_matches("/work/").to_owned()
        });
        lines.into_iter().map(|(_, line)| line + "\n").collect()
    }

    fn edit(old: &str, new: &str) -> String {
        let change = Change {
            added: new.into(),
            removed: old.into(),
            whole: old.is_empty(),
            ..Change::default()
        };
        let detail = Detail {
            changes: vec![change],
            ..Detail::default()
        };
        shown(&Call {
            subjects: vec!["/work/src/a.rs".into()],
            detail: Some(Box::new(detail)),
            ..Call::default()
        })
    }

    #[test]
    fn an_edit_is_a_diff_with_what_is_around() {
        assert_eq!(
            edit("a\nb\nc\nd\ne\nf", "a\nb\nc\nD\nx\ne\nf"),
            "edits src/a.rs\n b\n c\n-d\n+D\n+x\n e\n f\n"
        );
        assert_eq!(
            edit("a\nb\nc", "b\nc\nd"),
            "edits src/a.rs\n-a\n b\n c\n+d\n"
        );
        assert_eq!(edit("", "one\ntwo\n"), "writes src/a.rs\n+one\n+two\n");
        let long: String = (0..50).map(|line| format!("{line}\n")).collect();
        assert!(edit("", &long).ends_with("+39\n… 10 more lines\n"));
    }

    /// Whatever the texts are, the lines that stay and go are the old text, and those that stay and come are the new one.
    #[test]
    fn a_diff_has_both_texts_in_it() {
        for seed in 0..500_u32 {
            let text = |salt: u32| -> Vec<String> {
                let length = (seed * 7 + salt * 13) % 9;
                (0..length)
                    .map(|line| ((seed * 31 + salt * 17 + line * line * 5) % 4).to_string())
                    .collect()
            };
            let (old, new) = (text(1), text(2));
            let all = between(
                &old.iter().map(String::as_str).collect::<Vec<_>>(),
                &new.iter().map(String::as_str).collect::<Vec<_>>(),
            );
            let side = |sign: char| -> Vec<&str> {
                let is_of = |line: &&CallLine| line.1.starts_with([' ', sign]);
                all.iter()
                    .filter(is_of)
                    .map(|(_, line)| line.get(1..).unwrap_or_default())
                    .collect()
            };
            assert_eq!(side('-'), old);
            assert_eq!(side('+'), new);
        }
    }

    #[test]
    fn a_question_has_its_answers_and_a_plan_its_headings() {
        let detail = Detail {
            asked: vec![Asked {
                text: "Which database?".into(),
                options: vec![
                    ("Postgres".into(), "as in\nproduction".into()),
                    ("SQLite".into(), String::new()),
                ],
            }],
            ..Detail::default()
        };
        let call = Call {
            detail: Some(Box::new(detail)),
            ..Call::default()
        };
        assert_eq!(
            shown(&call),
            "Which database?\n  1. Postgres: as in production\n  2. SQLite\n"
        );
        let plan = "# Plan\n\n1. **Move** `tax.rs`\n```sh\n# not a heading\n```\n#hash";
        assert_eq!(
            markdown(plan),
            [
                (Tone::Strong, "Plan"),
                (Tone::Plain, ""),
                (Tone::Plain, "1. **Move** `tax.rs`"),
                (Tone::Faint, "```sh"),
                (Tone::Plain, "# not a heading"),
                (Tone::Faint, "```"),
                (Tone::Plain, "#hash"),
            ]
            .map(|(tone, line)| (tone, line.to_owned()))
        );
    }

    #[test]
    fn a_command_is_whole_and_followed_by_what_else_is_said() {
        let command = "cargo test \\\n  --all";
        let input = serde_json::json!({"command": command, "description": "Run all tests", "timeout": 60000});
        let call = Call {
            act: Act::Run,
            subjects: vec![command.into()],
            detail: Some(Box::new(Detail {
                input: Some(input.to_string()),
                ..Detail::default()
            })),
            ..Call::default()
        };
        assert_eq!(
            shown(&call),
            "cargo test \\\n  --all\ndescription: Run all tests\ntimeout: 60000\n"
        );
    }
}
