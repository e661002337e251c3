//! `export --review`: each thing that an export leaves out, with what stands around it.
//!
//! A person is to judge whether it is right to hide it, so its beginning and end are shown, and all of it only with
//! `--reveal`: a terminal has a history, and somebody may look over a shoulder.

use super::super::{Exit, Problem, Stage};
use super::About;
use session_core::show::figures::{counted, plural};
use session_core::show::gate::{Gate, REDACTED};
use session_core::show::terminal::Tone;
use session_core::show::withheld::{Item, Kind, Withheld};

pub fn show(
    withheld: &Withheld,
    about: &About,
    name: &str,
    is_revealed: bool,
    stage: &mut Stage,
) -> Result<Exit, Problem> {
    let items = withheld.take_items();
    let mut lines = Vec::new();
    for (kind, unit) in [(Kind::Secret, "secret"), (Kind::Home, "home path")] {
        let of_kind: Vec<&Item> = items.iter().filter(|item| item.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        lines.push(head(&counted(of_kind.len() as u64, unit), stage));
        let widest = of_kind
            .iter()
            .map(|item| place(item).len())
            .max()
            .unwrap_or(0);
        for item in of_kind {
            lines.push(format!(
                "  {:widest$}  {}",
                place(item),
                context(item, is_revealed, stage)
            ));
        }
    }
    for (lines_of, count, unit) in [
        (&about.counts.images_at, about.counts.images, "image"),
        (
            &about.counts.unreadable_at,
            about.counts.unreadable,
            "unreadable line",
        ),
    ] {
        if count > 0 {
            let at: Vec<_> = lines_of.iter().map(ToString::to_string).collect();
            lines.push(head(&counted(count, unit), stage));
            lines.push(format!("  {} {}", plural_word(at.len()), at.join(", ")));
        }
    }
    if lines.is_empty() {
        return Problem::nothing(format!("there is nothing to leave out in '{name}'"));
    }
    let last = format!("Nothing was written. `session-reader log {name} --at LINE` shows a line.");
    lines.push(
        stage
            .style
            .paint(Tone::Faint, &stage.gate.line(last))
            .into_owned(),
    );
    stage.print_lines(lines)
}

fn head(text: &str, stage: &Stage) -> String {
    stage.style.paint(Tone::Strong, text).into_owned()
}

fn plural_word(count: usize) -> &'static str {
    if count == 1 { "line" } else { "lines" }
}

/// `line 12`, `line 12, 3 times`; what stands in no line is shown in the head.
fn place(item: &Item) -> String {
    let line = match item.line {
        0 => "head".into(),
        line => format!("line {line}"),
    };
    match item.times {
        1 => line,
        times => format!("{line}, {}", plural(times, "time")),
    }
}

fn context(item: &Item, is_revealed: bool, stage: &Stage) -> String {
    let clean = Gate::new(false);
    let hides = stage.settings.redact && !is_revealed;
    let what = match item.kind {
        Kind::Secret if hides => REDACTED.into(),
        Kind::Secret if !is_revealed => masked(&item.text),
        _ => item.text.clone(),
    };
    let before = clean.line(&item.before);
    let blank = if item.before.ends_with(' ') && !before.is_empty() {
        " "
    } else {
        ""
    };
    let [what, after] = [&what, &item.after].map(|text| clean.text(text).replace('\n', " "));
    let shown = stage.style.paint(Tone::Alarm, &what);
    format!("{before}{blank}{shown}{}", after.trim_end())
}

/// Enough of a secret to know it again: `ghp_…45 (40 characters)`. Of a short one only how long it is.
fn masked(secret: &str) -> String {
    let chars: Vec<char> = secret.chars().collect();
    let length = chars.len();
    let (start, end): (String, String) = match length {
        0..20 => (String::new(), String::new()),
        _ => (
            chars[..4].iter().collect(),
            chars[length - 2..].iter().collect(),
        ),
    };
    format!("{start}…{end} ({})", plural(length, "character"))
}
