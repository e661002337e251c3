//! Tells what a user, a model or a tool said from what the client wrote in their place.

use std::borrow::Cow;
use std::ops::Range;

use super::descriptor::{Prompt, Words, Wrapper};
use crate::boundary::substr;
use crate::entry::Mark;

/// A text in the user's name.
#[derive(Debug, PartialEq)]
pub enum Said<'a> {
    /// The user typed this.
    Typed(Cow<'a, str>),
    /// The client wrote it.
    Machine(Mark, Cow<'a, str>),
    /// Nothing is left.
    Nothing,
}

impl Prompt {
    /// Sorts a text. A tag counts only as a whole block, from `<tag>` to `</tag>`: a prompt that merely quotes a tag
    /// stays a prompt.
    pub fn sort<'a>(&self, text: Cow<'a, str>) -> Said<'a> {
        self.sort_at(text, 0)
    }

    /// The same for a text that so many others were wrapped around.
    fn sort_at<'a>(&self, text: Cow<'a, str>, depth: usize) -> Said<'a> {
        let text = self.stripped(text);
        let start = text.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']);
        if start.is_empty() {
            return Said::Nothing;
        }
        if let Some((wrapper, inside)) = self
            .wrapped
            .iter()
            .find_map(|wrapper| Some((wrapper, wrapper.inside(start)?)))
        {
            return self.unwrapped(wrapper, inside, start, depth);
        }
        let begins = |all: &[String]| begins(start, all);
        let first = start
            .strip_prefix('<')
            .and_then(|rest| rest.split(['>', ' ', '\n']).next());
        // `*-event` is the tag that the text begins with, if it ends like that.
        let meant = |tag: &'_ str| match tag.strip_prefix('*') {
            Some(end) => first
                .filter(|first| first.len() > end.len() && first.ends_with(end))
                .map(str::to_owned),
            None => Some(tag.to_owned()),
        };
        let wrapped = |all: &[String]| {
            let is_whole = |tag: String| block(start, &tag).is_some_and(|block| block.start == 0);
            first.is_some() && all.iter().any(|tag| meant(tag).is_some_and(is_whole))
        };
        if wrapped(&self.command) {
            Said::Machine(Mark::Command, Cow::Owned(untagged(start)))
        } else if wrapped(&self.machine) || begins(&self.starts) || begins(&self.helper) {
            Said::Machine(Mark::Note, Cow::Owned(untagged(start)))
        } else if begins(&self.interrupt) {
            Said::Machine(Mark::Interrupt, Cow::Owned(start.to_owned()))
        } else if begins(&self.command_starts) {
            Said::Machine(Mark::Command, Cow::Owned(start.to_owned()))
        } else {
            Said::Typed(text)
        }
    }

    /// A client writes this at the beginning of a session that it holds with itself.
    pub(crate) fn is_helper(&self, text: &str) -> bool {
        begins(text.trim_start(), &self.helper)
    }

    /// Sorts what was found inside a wrapper, which may be wrapped a few times more.
    fn unwrapped(
        &self,
        wrapper: &Wrapper,
        inside: &str,
        whole: &str,
        depth: usize,
    ) -> Said<'static> {
        /// No client wraps a text more often; somebody who does must not use up the stack.
        const DEEPEST: usize = 4;
        let sort = |text: &str| {
            if depth < DEEPEST {
                self.sort_at(Cow::Owned(text.to_owned()), depth + 1)
            } else {
                Said::Machine(Mark::Note, untagged(text).into())
            }
        };
        if let Some(each) = &wrapper.each {
            let messages = inside
                .split(each.as_str())
                .filter_map(|message| Some(message.split_once('\n')?.1.trim()));
            let typed = messages.filter_map(|message| match sort(message) {
                Said::Typed(text) => Some(text),
                _ => None,
            });
            let typed = typed.collect::<Vec<_>>().join("\n");
            return if typed.is_empty() {
                Said::Machine(Mark::Note, untagged(whole).into())
            } else {
                Said::Typed(typed.into())
            };
        }
        match wrapper.name(whole).filter(|_| inside.is_empty()) {
            Some(name) => Said::Machine(Mark::Command, name.into()),
            None if inside.is_empty() => Said::Machine(Mark::Note, untagged(whole).into()),
            None => sort(inside),
        }
    }

    fn stripped<'a>(&self, text: Cow<'a, str>) -> Cow<'a, str> {
        if !text.contains('<') {
            return text;
        }
        let mut blocks: Vec<Blocks> = self.strip.iter().map(|tag| Blocks::of(tag)).collect();
        let mut kept = String::new();
        let mut at = 0;
        // The next block of each tag, until it has been passed.
        while let Some(cut) = blocks
            .iter_mut()
            .filter_map(|tag| tag.next(&text, at))
            .min_by_key(|cut| cut.start)
        {
            kept += substr(&text, at..cut.start);
            let rest = substr(&text, cut.end..).trim_start_matches(['\n', '\r']);
            at = text.len() - rest.len();
            // Words on both sides of it stay two.
            if kept.ends_with(char::is_alphanumeric) && rest.starts_with(char::is_alphanumeric) {
                kept.push(' ');
            }
        }
        if at == 0 {
            return text;
        }
        Cow::Owned(kept + substr(&text, at..))
    }
}

impl Wrapper {
    /// The typed text, perhaps empty; None if the text is not wrapped like this.
    fn inside<'t>(&self, text: &'t str) -> Option<&'t str> {
        let mut rest = self.after_start(text)?;
        if let Some(until) = &self.until {
            let end = rest.find(until.as_str()).map(|at| at + until.len());
            rest = substr(rest, end.or((until == "\n").then_some(rest.len()))?..);
        }
        if let Some(heading) = &self.after {
            let starts = rest
                .match_indices(heading.as_str())
                .filter(|(at, _)| substr(rest, ..*at).ends_with('\n'));
            rest = starts
                .last()
                .and_then(|(at, _)| substr(rest, at..).split_once(':'))
                .map_or("", |(_, typed)| typed);
        }
        let rest = rest.trim();
        let bracket = self
            .before
            .as_ref()
            .and_then(|start| rest.rfind(start.as_str()));
        let bracket = bracket.filter(|at| {
            substr(rest, *at..)
                .find(']')
                .is_some_and(|end| at + end + 1 == rest.len())
        });
        Some(substr(rest, ..bracket.unwrap_or(rest.len())).trim_end())
    }

    fn after_start<'t>(&self, text: &'t str) -> Option<&'t str> {
        self.starts
            .iter()
            .find_map(|start| text.strip_prefix(start.as_str()))
    }

    /// The command that a text begins with, if it is one.
    fn name(&self, text: &str) -> Option<String> {
        let name = self
            .after_start(text)?
            .split(['"', ']', ' ', '\n'])
            .next()?;
        Some(format!("{}{name}", self.command.as_ref()?))
    }
}

impl Words {
    /// An answer that says nothing.
    pub fn is_silent(&self, answer: &str) -> bool {
        !self.silent.is_empty()
            && self
                .silent
                .iter()
                .any(|silent| answer.trim_matches([' ', '\n', '*']) == silent)
    }

    /// A summary without what the client says before and after it.
    pub fn bare<'t>(&self, text: &'t str) -> &'t str {
        let begins = begins(text.trim_start(), &self.preamble);
        let rest = text
            .trim_start()
            .split_once('\n')
            .filter(|_| begins)
            .map(|(_, rest)| rest.trim_start());
        let body = rest.filter(|rest| !rest.is_empty()).unwrap_or(text);
        let end = self
            .closing
            .iter()
            .filter_map(|closing| body.rfind(closing.as_str()))
            .min()
            .filter(|end| *end > 0);
        substr(body, ..end.unwrap_or(body.len())).trim_end()
    }

    /// An error that says that nothing more is to be had for now. A number must stand by itself.
    pub(crate) fn is_limit(&self, error: &str) -> bool {
        let error = error.to_lowercase();
        let digit = |char: Option<char>| char.is_some_and(|char| char.is_ascii_digit());
        self.limit.iter().any(|part| {
            error.match_indices(part.as_str()).any(|(at, _)| {
                !digit(substr(&error, ..at).chars().next_back())
                    && !digit(substr(&error, at + part.len()..).chars().next())
            })
        })
    }
}

/// True if the text begins with one of these.
pub(crate) fn begins(text: &str, starts: &[String]) -> bool {
    starts.iter().any(|start| text.starts_with(start.as_str()))
}

/// The first whole block of a tag.
fn block(text: &str, tag: &str) -> Option<Range<usize>> {
    Blocks::of(tag).next(text, 0)
}

/// The whole blocks of a tag, one after the other. What was found is kept until it has been passed: otherwise thousands of
/// tags would each be looked for from the beginning.
struct Blocks {
    open: String,
    close: String,
    /// The next block, and the next closing tag; the end of the text if there is none.
    start: Option<usize>,
    end: Option<usize>,
}

impl Blocks {
    fn of(tag: &str) -> Blocks {
        Blocks {
            open: format!("<{tag}"),
            close: format!("</{tag}>"),
            start: None,
            end: None,
        }
    }

    /// The first block from a position on, which is no smaller than the last time.
    fn next(&mut self, text: &str, at: usize) -> Option<Range<usize>> {
        if self.start.is_none_or(|start| start < at) {
            let is_whole = |found: &usize| {
                matches!(
                    text.as_bytes().get(at + found + self.open.len()),
                    Some(b'>' | b' ' | b'\n')
                )
            };
            let found = substr(text, at..)
                .match_indices(&self.open)
                .map(|(found, _)| found)
                .find(is_whole);
            self.start = Some(found.map_or(text.len(), |found| at + found));
        }
        let start = self.start.filter(|start| *start < text.len())?;
        if self.end.is_none_or(|end| end < start) {
            self.end = Some(
                substr(text, start..)
                    .find(&self.close)
                    .map_or(text.len(), |end| start + end),
            );
        }
        self.end
            .filter(|end| *end < text.len())
            .map(|end| start..end + self.close.len())
    }
}

/// The text without its tags, on one line: `/compact keep the important parts`.
fn untagged(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest
        .split_once('<')
        .and_then(|(before, tag)| Some((before, tag.split_once('>')?.1)))
    {
        out += before;
        out.push(' ');
        rest = after;
    }
    (out + rest)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sort(text: &str) -> Said<'_> {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
        Prompt {
            strip: words(&["system-reminder", "ide_opened_file"]),
            machine: words(&["task-notification", "*-event", "two words"]),
            command: words(&["command-name", "command-message"]),
            starts: words(&["Caveat: "]),
            command_starts: vec![],
            interrupt: words(&["[Request interrupted"]),
            ..Prompt::default()
        }
        .sort(Cow::Borrowed(text))
    }

    #[test]
    fn what_was_typed() {
        let typed = |text: &str| match sort(text) {
            Said::Typed(text) => Some(text.into_owned()),
            _ => None,
        };
        assert_eq!(typed("fix it").as_deref(), Some("fix it"));
        assert_eq!(
            typed("<command-name> is what tag?").as_deref(),
            Some("<command-name> is what tag?")
        );
        assert_eq!(
            typed("see <task-notification>x</task-notification>").as_deref(),
            Some("see <task-notification>x</task-notification>")
        );
        assert_eq!(
            typed("<system-reminder>date changed</system-reminder>\ncontinue").as_deref(),
            Some("continue")
        );
        assert_eq!(
            typed("<ide_opened_file>a</ide_opened_file>\nrename <b> this").as_deref(),
            Some("rename <b> this")
        );
        assert_eq!(
            typed("a <system-reminder>x</system-reminder> b").as_deref(),
            Some("a  b")
        );
        assert_eq!(
            typed("<system-reminders are fun").as_deref(),
            Some("<system-reminders are fun")
        );
        assert_eq!(
            typed("<ci-event> is what?").as_deref(),
            Some("<ci-event> is what?")
        );
        assert_eq!(
            typed("<-event>x</-event>").as_deref(),
            Some("<-event>x</-event>")
        );
        assert_eq!(
            typed("<events>x</events>").as_deref(),
            Some("<events>x</events>")
        );
    }

    /// As many tags as nobody writes are still read once, not once for each of them.
    #[test]
    fn many_tags_take_linear_time() {
        let many = |unit: &str| unit.repeat(200_000);
        let left = |text: String| match sort(&text) {
            Said::Typed(text) => text.len(),
            _ => 0,
        };
        assert_eq!(
            left(many("<system-reminder>x</system-reminder>") + "end"),
            3
        );
        assert_eq!(left(many("<system-reminder>") + "end"), 200_000 * 17 + 3);
        // The blocks of one tag hide the beginnings of another, which is closed at the very end.
        let hidden =
            many("<system-reminder><ide_opened_file></system-reminder>") + "a</ide_opened_file>";
        assert_eq!(left(hidden), "a</ide_opened_file>".len());
        assert_eq!(
            left(many("<system-reminder> <") + "</system-reminder>end"),
            3
        );
    }

    #[test]
    fn what_was_not() {
        assert_eq!(sort("<system-reminder>x</system-reminder>"), Said::Nothing);
        assert_eq!(sort(" \n"), Said::Nothing);
        assert_eq!(
            sort(
                "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>src</command-args>"
            ),
            Said::Machine(Mark::Command, "review /review src".into())
        );
        assert_eq!(
            sort("[Request interrupted by user]"),
            Said::Machine(Mark::Interrupt, "[Request interrupted by user]".into())
        );
        assert!(matches!(
            sort("<task-notification>\n<id>1</id></task-notification>\nsee file"),
            Said::Machine(Mark::Note, _)
        ));
        assert!(matches!(
            sort("\u{feff}Caveat: x"),
            Said::Machine(Mark::Note, _)
        ));
        assert!(matches!(
            sort("<ci-monitor-event id=\"1\">failed</ci-monitor-event>\nsee"),
            Said::Machine(Mark::Note, _)
        ));
        assert!(matches!(
            sort("<two words>x</two words>"),
            Said::Machine(Mark::Note, _)
        ));
    }
}
