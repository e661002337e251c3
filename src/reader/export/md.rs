//! A page of Markdown for an issue, a pull request or a wiki: calls are folded, and no text of the session calls anybody.

use maud::html;

use super::block::{Block, Body, CallBlock, Shortened, is_short, mark_name};
use super::rendered::{fenced, to_markdown};
use super::{About, Page};
use session_core::show::call::CallLine;
use session_core::show::figures::counted;
use session_format::entry::Mark;

pub struct Markdown;

impl Page for Markdown {
    fn is_mine(&self, beginning: &str) -> bool {
        beginning.starts_with(&comment())
    }

    fn block(&self, block: &Block) -> String {
        match block {
            Block::Day(day) => format!("#### {day}\n\n"),
            Block::Prompt { time, text, .. } => {
                format!("**User** {time}\n\n{}\n", quoted(&to_markdown(text)))
            }
            Block::Answer { time, text } => {
                format!("**Assistant** {time}\n\n{}\n\n", to_markdown(text))
            }
            Block::Thinking { time, text } => details(
                &format!("Thinking {time}"),
                &format!("{}\n", to_markdown(text)),
            ),
            Block::Call(call) => self::call(call),
            Block::Result { text, .. } => details("Result", &result(text)),
            Block::Mark { mark, time, text } => self::mark(*mark, time, text),
            Block::Images(count) => {
                format!("*{} left out*\n\n", counted(u64::from(*count), "image"))
            }
            Block::Unreadable(line) => {
                format!("*Line {line} of the transcript could not be read*\n\n")
            }
        }
    }

    fn head(&self, about: &About) -> String {
        let [title, facts, left_out] =
            [&about.title, &about.facts, &about.left_out].map(|text| line(text));
        let left_out = if left_out.is_empty() {
            left_out
        } else {
            format!("*{left_out}*\n\n")
        };
        format!("{}### {title}\n\n{facts}\n\n{left_out}", comment())
    }

    fn foot(&self, about: &About) -> String {
        format!(
            "---\n*Written by {} on {}.*\n",
            about.program, about.written
        )
    }
}

/// Nobody sees it, and it says what made the page.
fn comment() -> String {
    format!("<!-- {} -->\n", super::GENERATOR)
}

/// A line of text that is nothing but text.
fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if "\\`*_[]<>#@|~&".contains(char) {
            out.push('\\');
        }
        out.push(char);
        if "#@".contains(char) {
            out += "<!-- -->";
        }
    }
    out
}

fn quoted(text: &str) -> String {
    text.lines()
        .map(|line| format!("> {line}").trim_end().to_owned() + "\n")
        .collect()
}

/// Folded away; the summary is HTML, the body Markdown.
fn details(summary: &str, body: &str) -> String {
    format!("<details><summary>{summary}</summary>\n\n{body}\n</details>\n\n")
}

fn call(call: &CallBlock) -> String {
    let line = html! {
        b { (call.tool) }
        @if !call.subject.is_empty() { " " code { (call.subject) } }
        @if let Body::Diff { added, removed, .. } = &call.body { " +" (added) " −" (removed) }
        @if let Some(trouble) = call.trouble { " – " (trouble) }
    };
    let line = line.into_string();
    let results: Vec<String> = call.results.iter().map(result).collect();
    let results = results.join("\n");
    let body = match &call.body {
        Body::None if results.is_empty() => return format!("{line}\n\n"),
        Body::None => String::new(),
        Body::Plan(plan) => {
            let folded = if results.is_empty() {
                results
            } else {
                details("Answer", &results)
            };
            return format!("{line}\n\n{}\n{folded}", quoted(&to_markdown(plan)));
        }
        Body::Question(lines) => {
            let folded = if results.is_empty() {
                results
            } else {
                details("Answer", &results)
            };
            return format!("{line}\n\n{}\n{folded}", fenced("text", &joined(lines)));
        }
        Body::Lines(lines) => fenced("text", &joined(lines)),
        Body::Diff { lines, .. } => fenced("diff", &joined(lines)),
    };
    let gap = if body.is_empty() || results.is_empty() {
        ""
    } else {
        "\n"
    };
    details(&line, &format!("{body}{gap}{results}"))
}

fn result(text: &Shortened) -> String {
    let more = match text.more {
        0 => String::new(),
        more => format!("\n… {}", counted(more as u64, "more line")),
    };
    fenced("text", &format!("{}{more}", text.text))
}

fn joined(lines: &[CallLine]) -> String {
    lines
        .iter()
        .map(|(_, line)| &**line)
        .collect::<Vec<_>>()
        .join("\n")
}

fn mark(mark: Mark, time: &str, text: &str) -> String {
    let name = mark_name(mark);
    if text.is_empty() || mark == Mark::Interrupt {
        return format!("*{name} {time}*\n\n");
    }
    if is_short(text) {
        return format!("*{name} {time}* {}\n\n", line(text));
    }
    details(&format!("{name} {time}"), &fenced("text", text))
}
