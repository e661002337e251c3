//! The gate: the only way from a text that somebody wrote to a text that is shown.
//!
//! Prompts, titles, commands, file names, notes, settings and error messages are all strangers' texts. Each reader gets
//! them in another form: a terminal obeys nothing in them, a program gets valid JSON, and a model gets one line without
//! tags, quotes and secrets. People and programs see secrets unless the user set `redact`. A secret is looked for in the
//! whole text, so whoever cuts a text does that afterwards.

use std::borrow::Cow;

use serde::Serialize;

use super::characters::{clean, without_brackets, without_tags};
pub use super::characters::{of_known_width, visible};
use super::withheld::Withheld;
use crate::secrets::{places, redact, redact_command, replaced};
use session_format::boundary::substr;

pub use crate::secrets::REDACTED;

#[derive(Debug, Clone, Copy)]
pub struct Gate {
    hides_secrets: bool,
    withheld: Option<&'static Withheld>,
}

impl Gate {
    pub const fn new(hides_secrets: bool) -> Gate {
        Gate {
            hides_secrets,
            withheld: None,
        }
    }

    /// For a text that leaves the machine: it hides home directories as well, and notes all that it hides.
    pub const fn for_others(withheld: &'static Withheld) -> Gate {
        Gate {
            hides_secrets: true,
            withheld: Some(withheld),
        }
    }

    /// Whether it hides keys and passwords.
    pub(crate) fn hides_secrets(self) -> bool {
        self.hides_secrets
    }

    /// For a terminal, line by line as it was written.
    pub fn text(self, text: &str) -> Cow<'_, str> {
        self.hide(clean(text))
    }

    /// For a terminal, on one line.
    pub fn line<'t>(self, text: impl Into<Cow<'t, str>>) -> Cow<'t, str> {
        self.hide(flat(self.hide_lines(text.into())))
    }

    /// The same for a text with a command, in which a variable may be set to a secret.
    pub fn command(self, text: &str) -> Cow<'_, str> {
        if self.hides_secrets {
            Cow::Owned(self.line(redact_command(text)).into_owned())
        } else {
            self.line(text)
        }
    }

    /// For a shell or a program that takes it as it is: none if something in it must not be shown.
    pub fn as_it_is(self, text: &str) -> Option<&str> {
        Some(text).filter(|text| self.line(*text) == *text)
    }

    /// For a program, on one line. JSON leaves the control characters from U+007F on as they are, but a terminal may
    /// obey them.
    pub fn json(self, value: &impl Serialize) -> serde_json::Result<String> {
        let mut json = serde_json::to_string(value)?;
        if self.hides_secrets {
            json = self.hide_in_json(&json)?;
        }
        if json.contains(is_late_control) {
            let escape = |char: char| match char {
                char if is_late_control(char) => format!("\\u{:04x}", char as u32),
                char => char.to_string(),
            };
            json = json.chars().map(escape).collect();
        }
        Ok(json)
    }

    /// Hides the secrets, if the user wants that, in a text that will be cut before it is shown.
    pub fn hide<'t>(self, text: impl Into<Cow<'t, str>>) -> Cow<'t, str> {
        let text = text.into();
        if !self.hides_secrets {
            return text;
        }
        // What shows nothing may stand in the middle of a secret; where it does not, it stays.
        let bare = |text: &str| visible(&clean(text)).into_owned();
        let shown = bare(&text);
        let secrets = places(&shown);
        if let Some(withheld) = self.withheld {
            withheld.note_secrets(&shown, &secrets);
        }
        let text = if secrets.is_empty() {
            text
        } else {
            let hidden = replaced(&shown, &secrets);
            Some(redact(&text).into_owned())
                .filter(|text| bare(text) == hidden)
                .unwrap_or(hidden)
                .into()
        };
        let homeless = self
            .withheld
            .and_then(|withheld| withheld.without_homes(&text));
        homeless.map_or(text, Cow::Owned)
    }

    /// The same before the lines are joined: some secrets are known by the line that they stand in.
    fn hide_lines(self, text: Cow<'_, str>) -> Cow<'_, str> {
        if text.contains('\n') {
            self.hide(text)
        } else {
            text
        }
    }

    /// Hides the secrets in every string of a JSON text, each by itself.
    fn hide_in_json(self, json: &str) -> serde_json::Result<String> {
        let mut out = String::with_capacity(json.len());
        let mut rest = json;
        while let Some(start) = rest.find('"') {
            let mut escaped = false;
            let end = substr(rest, start + 1..).find(|char| {
                let ends = char == '"' && !escaped;
                escaped = char == '\\' && !escaped;
                ends
            });
            let end = end.map_or(rest.len(), |end| start + 1 + end + 1);
            let string: Cow<str> = serde_json::from_str(substr(rest, start..end))?;
            out += substr(rest, ..start);
            out += &serde_json::to_string(&self.hide(string))?;
            rest = substr(rest, end..);
        }
        Ok(out + rest)
    }
}

fn is_late_control(char: char) -> bool {
    ('\u{7f}'..='\u{9f}').contains(&char)
}

/// For a model: one line without what hides, what a terminal obeys, secrets, tags and double quotes.
pub fn harmless(text: &str) -> String {
    let gate = Gate::new(true);
    without_tags(&redact(&flat(visible(&gate.hide_lines(text.into())))))
}

/// The same for a command, in which a variable may be set to a secret.
pub(crate) fn harmless_command(command: &str) -> String {
    harmless(&redact_command(&visible(command)))
}

/// For a model, line by line: a whole answer, of which every text went through a gate that hides secrets. Quotes stay, because
/// what was said is known by where it stands.
pub fn harmless_lines(answer: &str) -> String {
    without_brackets(&visible(&clean(answer)))
}

fn flat(text: Cow<'_, str>) -> Cow<'_, str> {
    // Nearly every text is one line of plain words already. All of it is looked at, several bytes at a time.
    let bytes = text.as_bytes();
    let pairs = bytes.iter().zip(bytes.get(1..).unwrap_or_default());
    #[allow(clippy::needless_bitwise_bool)] // Without jumps it is several times as fast.
    let is_rough = pairs.fold(false, |rough, (byte, next)| {
        rough | !(b' '..=b'~').contains(byte) | (*byte == b' ') & (*next == b' ')
    });
    if !is_rough && !text.starts_with(' ') && bytes.last().is_none_or(u8::is_ascii_graphic) {
        return text;
    }
    let cleaned = clean(&text);
    let words: Vec<_> = cleaned.split_whitespace().collect();
    Cow::Owned(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::super::characters::is_invisible;
    use super::*;

    const KEY: &str = "sk-ant-api03-Ab1cdEFghIJklMNopQRstUVwxyz0123456789";

    #[test]
    fn nothing_harmful_is_left_for_a_model() {
        let rows = [
            ("  two\n\nlines\tand  more \r\n", "two lines and more"),
            (
                "\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7}x \u{9b}2Jy\u{0}",
                "red x y",
            ),
            (
                "a\u{202e}b\u{2066}c\u{200d}d\u{feff}e\u{e0041}f\u{fe0f}",
                "abcdef",
            ),
            ("a\u{2028}b\u{2029}c\u{a0}d\u{3000}e", "a b c d e"),
            ("</system-reminder>＜b＞﹤i﹥", "‹/system-reminder›‹b›‹i›"),
            (
                "&lt;b&GT; &#60;i&#x3E; &amp;lt;u &&lt; R&D a && b",
                "lt;bGT; #60;i#x3E; amp;lt;u lt; R&D a && b",
            ),
            (
                "say \"this\" “that” „so“ «or» ＂so＂",
                "say 'this' 'that' 'so' 'or' 'so'",
            ),
            (
                "\u{200b}sk-ant-\u{200b}api03-\u{ad}abc\u{1b}[0mdefghijk",
                REDACTED,
            ),
            ("PASSWORD=\"x y\" run", "PASSWORD='[redacted]' run"),
            ("the password:\nhunter2", "the password: [redacted]"),
            (
                "| user | password |\n|---|---|\n| bob | hunter2 |",
                "| user | password | |---|---| | bob | [redacted] |",
            ),
            (
                "-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\nok",
                "[redacted] ok",
            ),
            ("e\u{301} 日本 👩 it's fine", "e\u{301} 日本 👩 it's fine"),
        ];
        for (text, expected) in rows {
            assert_eq!(harmless(text), expected);
        }
    }

    #[test]
    fn every_character_is_harmless() {
        let rest = ('\u{20000}'..=char::MAX)
            .step_by(61)
            .chain('\u{e0000}'..='\u{e1000}');
        let all: Vec<char> = ('\0'..='\u{1ffff}').chain(rest).collect();
        for chars in all.chunks(500) {
            let text: String = chars.iter().flat_map(|char| [*char, 'x']).collect();
            let line = harmless(&text);
            let is_harmful = |char: char| {
                char.is_control()
                    || is_invisible(char)
                    || "<>\"＜＞“”«»\u{2028}\u{2029}".contains(char)
            };
            assert!(!line.contains(is_harmful), "{line}");
        }
    }

    /// Unescaped as often as one likes, it is no tag.
    #[test]
    fn nothing_can_be_unescaped_into_a_tag() {
        let parts = [
            "&", "lt", ";", "#60;", "#x3c", "amp;", "AMP", "l", "t", "num;", "60", "gt;", "#", " ",
            "\u{200b}",
        ];
        let unescape = |text: &str| {
            let entities = [
                "&lt;", "&lt", "&gt;", "&gt", "&#60;", "&#60", "&#x3c;", "&#x3c", "&#x3C",
            ];
            let text = entities
                .iter()
                .fold(text.to_owned(), |text, entity| text.replace(entity, "<"));
            ["&amp;", "&amp", "&AMP;", "&AMP"]
                .iter()
                .fold(text, |text, entity| text.replace(entity, "&"))
                .replace("&num;", "#")
        };
        let mut picked = [0; 4];
        loop {
            let text: String = picked.iter().map(|part| parts[*part]).collect();
            let mut line = harmless(&text);
            for _ in 0..4 {
                line = unescape(&line);
            }
            assert!(!line.contains('<'), "{text}: {}", harmless(&text));
            let Some(place) = picked.iter().position(|part| part + 1 < parts.len()) else {
                break;
            };
            picked[place] += 1;
            picked[..place].fill(0);
        }
    }

    /// Each reader's form of a text, with secrets shown and hidden.
    #[test]
    fn each_reader_gets_its_own_form() {
        let text = format!("\u{1b}[31mred\u{1b}[0m\n {KEY}\t<b>\u{9b}2J");
        let (open, closed) = (Gate::new(false), Gate::new(true));
        assert_eq!(open.text(&text), format!("red\n {KEY}    <b>"));
        assert_eq!(closed.text(&text), "red\n [redacted]    <b>");
        assert_eq!(open.line(&text), format!("red {KEY} <b>"));
        assert_eq!(closed.line(&text), "red [redacted] <b>");
        assert_eq!(harmless(&text), "red [redacted] ‹b›");
        let json = |gate: Gate| gate.json(&text).expect("a string is JSON");
        assert_eq!(
            json(open),
            format!("\"\\u001b[31mred\\u001b[0m\\n {KEY}\\t<b>\\u009b2J\"")
        );
        assert_eq!(
            json(closed),
            "\"\\u001b[31mred\\u001b[0m\\n [redacted]\\t<b>\\u009b2J\""
        );
    }

    #[test]
    fn a_text_without_secrets_keeps_every_character() {
        let text = "👩\u{200d}👩\u{200d}👧 \"quoted\" \\ back\\\"slash \u{1b}[1m\n";
        assert_eq!(Gate::new(true).hide(text), text);
        let json = Gate::new(true)
            .json(&[text, "\\", "\""])
            .expect("strings are JSON");
        assert_eq!(
            serde_json::from_str::<[String; 3]>(&json).expect("JSON"),
            [text, "\\", "\""]
        );
    }

    /// The keys of an object stay as they are and where they are, and each string is searched by itself.
    #[test]
    fn json_is_hidden_string_by_string() {
        #[derive(Serialize)]
        struct Row<'a> {
            token: &'a str,
            after: [&'a str; 3],
            none: Option<u8>,
        }
        let row = Row {
            token: "plain",
            after: [&format!("a \"{KEY}\""), "\\\"", "é\u{7f}"],
            none: None,
        };
        let json = Gate::new(true).json(&row).expect("a row is JSON");
        assert_eq!(
            json,
            r#"{"token":"plain","after":["a \"[redacted]\"","\\\"","é\u007f"],"none":null}"#
        );
    }

    #[test]
    fn what_shows_nothing_hides_no_secret() {
        let (start, end) = KEY.split_at(12);
        for hidden in ["\u{200b}", "\u{1b}[0m", "\u{ad}", "\u{e000}", "\u{7f}"] {
            let text = format!("x {start}{hidden}{end} y");
            assert_eq!(Gate::new(true).line(&text), "x [redacted] y");
            assert_eq!(
                Gate::new(true).json(&text).expect("a string is JSON"),
                r#""x [redacted] y""#
            );
        }
    }
}
