//! A page of HTML that needs nothing else and may do nothing: it loads nothing, runs only its own script, and is readable
//! without it.

use maud::{Markup, PreEscaped, Render, html};
use pulldown_cmark_escape::escape_html_body_text;

use super::block::{Block, Body, CallBlock, Shortened, is_short, mark_name};
use super::rendered::to_html;
use super::{About, Page};
use session_core::show::call::CallLine;
use session_core::show::figures::counted;
use session_core::show::terminal::Tone;
use session_format::entry::Mark;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// The only style and script that a browser takes from the page. A test says what they must be.
const STYLE_HASH: &str = "sha256-QcWZGfYEKfujpnd6vV2PHtt5xo0toZB2ilO6+JoDFaU=";
const SCRIPT_HASH: &str = "sha256-KyXGMPvK+XlmLISJp7o/W42U6oWQXOOjcOXMFgPWs9o=";

/// A text between tags: a quotation mark is none of its business, and code is full of them.
struct Text<'t>(&'t str);

impl Render for Text<'_> {
    fn render_to(&self, out: &mut String) {
        // A string takes all that is written to it.
        let _ = escape_html_body_text(out, self.0);
    }
}

pub struct Html;

const BEGINNING: &str = "<!DOCTYPE html>\n<html lang=\"en\">";

impl Page for Html {
    fn is_mine(&self, beginning: &str) -> bool {
        let generator = html! { meta name="generator" content=(super::GENERATOR); };
        beginning.starts_with(BEGINNING) && beginning.contains(&generator.into_string())
    }

    fn block(&self, block: &Block) -> String {
        shown(block).into_string()
    }

    fn head(&self, about: &About) -> String {
        let csp = format!(
            "default-src 'none'; style-src '{STYLE_HASH}'; script-src '{SCRIPT_HASH}'; base-uri 'none'; form-action 'none'"
        );
        let head = html! {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(csp);
                meta name="generator" content=(super::GENERATOR);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                title { (about.title) }
                style { (PreEscaped(STYLE)) }
            }
        };
        let (head, top) = (head.into_string(), top(about).into_string());
        format!("{BEGINNING}{head}\n<body>{top}<main>\n")
    }

    fn foot(&self, about: &About) -> String {
        let foot = html! {
            footer { "Written by " (about.program) " on " (about.written) "." }
            script { (PreEscaped(SCRIPT)) }
        };
        format!("</main>\n{}</body></html>\n", foot.into_string())
    }
}

fn top(about: &About) -> Markup {
    html! {
        header {
            h1 { (Text(&about.title)) }
            p { (Text(&about.facts)) }
            @if !about.left_out.is_empty() { p.left { (Text(&about.left_out)) } }
        }
        div #tools hidden {
            input #find type="search" placeholder="Search ( / )" aria-label="Search" autocomplete="off";
            output #hits {}
            @if about.counts.failed > 0 {
                button #error { "Next error ( e )" }
            }
            button #fold { "Unfold all ( o )" }
        }
        @if about.prompts.len() > 1 {
            nav {
                details open {
                    summary { (counted(about.prompts.len() as u64, "prompt")) }
                    ol {
                        @for (index, prompt) in about.prompts.iter().enumerate() {
                            li { a href={ "#p" (index + 1) } { (Text(prompt)) } }
                        }
                    }
                }
            }
        }
    }
}

fn shown(block: &Block) -> Markup {
    match block {
        Block::Day(day) => html! { h2 { (day) } "\n" },
        Block::Prompt { number, time, text } => html! {
            article.u id={ "p" (number) } { (stamp(time)) p { (Text(text)) } } "\n"
        },
        Block::Answer { time, text } => html! {
            article.a { (stamp(time)) (PreEscaped(to_html(text))) } "\n"
        },
        Block::Thinking { time, text } => html! {
            details { summary { (stamp(time)) "Thinking" } div { (PreEscaped(to_html(text))) } } "\n"
        },
        Block::Call(call) => self::call(call),
        Block::Result { is_failed, text } => html! {
            details class=[failed(*is_failed)] { summary { "Result" } (result(text)) } "\n"
        },
        Block::Mark { mark, time, text } => self::mark(*mark, time, text),
        Block::Images(count) => html! {
            p.o { (counted(u64::from(*count), "image")) " left out" } "\n"
        },
        Block::Unreadable(line) => html! {
            p.o { "Line " (line) " of the transcript could not be read" } "\n"
        },
    }
}

/// The class of what went wrong.
fn failed(is_failed: bool) -> Option<&'static str> {
    is_failed.then_some("x")
}

fn stamp(time: &str) -> Markup {
    html! { @if !time.is_empty() { time { (time) } } }
}

fn call(call: &CallBlock) -> Markup {
    let is_failed = call.trouble.is_some_and(|trouble| trouble != "no result");
    let is_talk = matches!(call.body, Body::Plan(_) | Body::Question(_));
    let is_empty = matches!(call.body, Body::None) && call.results.is_empty();
    let line = html! {
        (stamp(&call.time))
        b { (Text(&call.tool)) }
        " " (Text(&call.subject))
        @if let Body::Diff { added, removed, .. } = &call.body { " " small { "+" (added) " −" (removed) } }
        @if let Some(trouble) = call.trouble { " " em { (trouble) } }
    };
    html! {
        @if is_empty {
            p class=[failed(is_failed)] { (line) } "\n"
        } @else {
            details class=[failed(is_failed)] open[is_talk] {
                summary { (line) }
                @match &call.body {
                    Body::None => {}
                    Body::Plan(plan) => div { (PreEscaped(to_html(plan))) },
                    Body::Lines(lines) | Body::Diff { lines, .. } | Body::Question(lines) => pre { (self::lines(lines)) },
                }
                @for text in &call.results { (result(text)) }
            }
            "\n"
        }
    }
}

fn result(text: &Shortened) -> Markup {
    html! {
        samp {
            (Text(&text.text))
            @if text.more > 0 { "\n" i { "… " (counted(text.more as u64, "more line")) } }
        }
    }
}

/// Lines in their tones. Those that follow each other in one tone are one piece.
fn lines(lines: &[CallLine]) -> Markup {
    let pieces = lines.chunk_by(|(one, _), (next, _)| one == next);
    html! {
        @for piece in pieces {
            @let text = piece.iter().map(|(_, line)| &**line).collect::<Vec<_>>().join("\n");
            @match piece[0].0 {
                Tone::User => ins { (Text(&text)) },
                Tone::Alarm => del { (Text(&text)) },
                Tone::Strong => b { (Text(&text)) },
                Tone::Faint => i { (Text(&text)) },
                _ => (Text(&text)),
            }
        }
    }
}

fn mark(mark: Mark, time: &str, text: &str) -> Markup {
    let name = mark_name(mark);
    let is_error = mark == Mark::Error;
    html! {
        @if mark == Mark::Interrupt || text.is_empty() {
            p { (stamp(time)) b { (name) } }
        } @else if is_short(text) || is_error {
            p class=[failed(is_error)] { (stamp(time)) b { (name) } " " (Text(text)) }
        } @else {
            details { summary { (stamp(time)) b { (name) } } div { (PreEscaped(to_html(text))) } }
        }
        "\n"
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use sha2::{Digest, Sha256};

    use super::*;

    /// A browser refuses a style or a script that is not what the page says of it.
    #[test]
    fn the_hashes_are_those_of_the_style_and_the_script() {
        for (text, hash) in [(STYLE, STYLE_HASH), (SCRIPT, SCRIPT_HASH)] {
            let digest = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text));
            assert_eq!(hash, format!("sha256-{digest}"));
        }
    }
}
