//! Markdown that somebody else wrote: as HTML in which nothing runs and nothing is fetched, and as Markdown that does no more
//! than say something.
//!
//! Tags are text. A link leads to http, https or mail, or is none. An image is a note that there was one.

use std::ops::Range;

use pulldown_cmark::{Alignment, CowStr, Event, Options, Parser, Tag, TagEnd, html};
use session_format::boundary::substr;

fn parser(text: &str) -> Parser<'_> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    Parser::new_ext(text, options)
}

fn is_harmless(address: &str) -> bool {
    let scheme = address
        .split_once(':')
        .map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https" | "mailto"))
}

/// The HTML of a text.
pub fn to_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    // Whether each link that is open is one.
    let mut links = Vec::new();
    let shown = parser(text).filter_map(|event| match event {
        Event::Html(tag) | Event::InlineHtml(tag) => Some(Event::Text(tag)),
        Event::Start(Tag::Link {
            link_type,
            dest_url,
            id,
            ..
        }) => {
            let is_harmless = is_harmless(&dest_url);
            links.push(is_harmless);
            let title = CowStr::Borrowed("");
            is_harmless.then_some(Event::Start(Tag::Link {
                link_type,
                dest_url,
                title,
                id,
            }))
        }
        Event::End(TagEnd::Link) => links
            .pop()
            .unwrap_or(false)
            .then_some(Event::End(TagEnd::Link)),
        Event::Start(Tag::Image { .. }) => Some(Event::Text("[image: ".into())),
        Event::End(TagEnd::Image) => Some(Event::Text("]".into())),
        // How a column is aligned would be a style of its own, which the page does not allow.
        Event::Start(Tag::Table(columns)) => Some(Event::Start(Tag::Table(vec![
            Alignment::None;
            columns.len()
        ]))),
        // They are headings within an answer, not of the page.
        Event::Start(Tag::Heading { .. }) => Some(Event::Start(Tag::Heading {
            level: pulldown_cmark::HeadingLevel::H4,
            id: None,
            classes: Vec::new(),
            attrs: Vec::new(),
        })),
        Event::End(TagEnd::Heading(_)) => Some(Event::End(TagEnd::Heading(
            pulldown_cmark::HeadingLevel::H4,
        ))),
        event => Some(event),
    });
    html::push_html(&mut out, shown);
    out
}

/// The text for a page that others render: tags are text, images and doubtful links are not loaded or followed, nobody is
/// mentioned, and no code block is left open.
pub fn to_markdown(text: &str) -> String {
    // A text goes in at a place, and may take that of what stands there.
    let mut edits: Vec<(Range<usize>, &str)> = Vec::new();
    // Within code and links, nothing calls anybody.
    let mut apart = 0_usize;
    for (event, range) in parser(text).into_offset_iter() {
        match event {
            Event::Html(_) | Event::InlineHtml(_) => {
                let tags = substr(text, range.clone()).match_indices('<');
                edits.extend(tags.map(|(at, _)| (range.start + at..range.start + at + 1, "&lt;")));
            }
            Event::Start(Tag::Image { .. }) => edits.push((range.start..range.start, "\\")),
            Event::Start(Tag::Link { dest_url, .. }) => {
                apart += 1;
                if !is_harmless(&dest_url) {
                    edits.push((range.start..range.start, "\\"));
                }
            }
            Event::Start(Tag::CodeBlock(_)) => apart += 1,
            Event::End(TagEnd::CodeBlock | TagEnd::Link) => apart -= 1,
            Event::Text(_) if apart == 0 => {
                let said = substr(text, range.clone());
                let calls = said.match_indices(['@', '#']).filter(|(at, sign)| {
                    let before = substr(said, ..*at).chars().next_back();
                    let next = substr(said, at + 1..).chars().next();
                    let is_name = |next: char| match *sign {
                        "#" => next.is_ascii_digit(),
                        _ => next.is_ascii_alphanumeric(),
                    };
                    next.is_some_and(is_name)
                        && !before
                            .is_some_and(|before| before.is_alphanumeric() || "/&".contains(before))
                });
                // Between the two, a mention is none and a number leads nowhere.
                edits.extend(calls.map(|(at, _)| {
                    let after = range.start + at + 1;
                    (after..after, "<!-- -->")
                }));
            }
            _ => {}
        }
    }
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    edits.dedup();
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for (range, instead) in edits {
        out += substr(text, copied..range.start);
        out += instead;
        copied = range.end;
    }
    out += substr(text, copied..);
    out + &open_fence(text)
}

/// What closes the code block that a text ends in, if it does.
fn open_fence(text: &str) -> String {
    let mut open: Option<&str> = None;
    for line in text.lines() {
        let line = line.trim_start();
        let sign = line.chars().next().filter(|sign| "`~".contains(*sign));
        let length = sign.map_or(0, |sign| line.len() - line.trim_start_matches(sign).len());
        let (fence, rest) = line.split_at(length);
        open = match open {
            None if length >= 3 && !rest.contains('`') => Some(fence),
            Some(start) if fence.starts_with(start) && rest.trim().is_empty() => None,
            open => open,
        };
    }
    open.map_or_else(String::new, |fence| format!("\n{fence}"))
}

/// A code block around a text, whatever fences there are in it.
pub fn fenced(language: &str, text: &str) -> String {
    let longest = text
        .split(|char| char != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}{language}\n{text}\n{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_text_and_harmless_links_is_left() {
        for (text, expected) in [
            (
                "a <script>alert(1)</script> b",
                "<p>a &lt;script&gt;alert(1)&lt;/script&gt; b</p>\n",
            ),
            (
                "<img src=x onerror=alert(1)>",
                "&lt;img src=x onerror=alert(1)&gt;",
            ),
            ("[x](javascript:alert(1))", "<p>x</p>\n"),
            (
                "[x](JaVa\tScript:alert(1))",
                "<p>[x](JaVa\tScript:alert(1))</p>\n",
            ),
            (
                "[x](data:text/html,x) <javascript:x>",
                "<p>x javascript:x</p>\n",
            ),
            ("[x](//example.com) [y](/z)", "<p>x y</p>\n"),
            ("![a](https://e.com/x.png \"t\")", "<p>[image: a]</p>\n"),
            (
                "[x](https://e.com/?a=1&b=\"c\" \"t\")",
                "<p><a href=\"https://e.com/?a=1&amp;b=%22c%22\">x</a></p>\n",
            ),
            ("# T", "<h4>T</h4>\n"),
            (
                "```\"><b>\nx</code>\n",
                "<pre><code class=\"language-&quot;&gt;&lt;b&gt;\">x&lt;/code&gt;\n</code></pre>\n",
            ),
        ] {
            assert_eq!(to_html(text), expected, "{text}");
        }
    }

    #[test]
    fn markdown_for_others_calls_nobody_and_ends_what_it_begins() {
        for (text, expected) in [
            (
                "ask @octocat about #12",
                "ask @<!-- -->octocat about #<!-- -->12",
            ),
            ("`@x` and me@ # 1 a@b.c", "`@x` and me@ # 1 a@b.c"),
            ("https://e.com/@x/#1 &#35;", "https://e.com/@x/#1 &#35;"),
            ("a <b>\n\n</details>", "a &lt;b>\n\n&lt;/details>"),
            ("![a](https://e.com/x.png)", "\\![a](https://e.com/x.png)"),
            ("[x](javascript:alert(1))", "\\[x](javascript:alert(1))"),
            ("```sh\n@x <b>", "```sh\n@x <b>\n```"),
            ("~~~~\n~~~\nx", "~~~~\n~~~\nx\n~~~~"),
            ("```\nx\n```", "```\nx\n```"),
        ] {
            assert_eq!(to_markdown(text), expected, "{text}");
        }
        assert_eq!(fenced("diff", "````\n"), "`````diff\n````\n\n`````\n");
    }
}
