//! What becomes of settings when the hook is added and taken out again, without a file or a process.

use std::path::Path;

use serde_json::{Value, json};

use super::hook;
use super::json::Json;
use super::mcp;
use super::site::{Level, Site};
use super::status;
use session_core::env::Env;
use session_core::formats;
use session_format::boundary::substr;
use session_format::time::Time;

const EVENTS: [&str; 2] = ["UserPromptSubmit", "SessionStart"];
const PROGRAM: &str = "/p/session-context";

/// Runs a test with an agent, as the built-in descriptor has it.
fn with<T>(agent: &str, test: impl FnOnce(&Site) -> T) -> T {
    let (known, _) = formats::known(Path::new("/nonexistent"));
    let env = Env::fixed(Path::new("/home/x"), "/home/x/work".into(), Time(0));
    let known = known
        .iter()
        .find(|known| known.is_called(agent))
        .expect("a built-in agent");
    test(&Site::new(known, Level::User, &env).expect("an agent with hooks"))
}

fn parse(text: impl AsRef<[u8]>) -> Json {
    Json::parse(Path::new("x.json"), text.as_ref()).unwrap_or_else(|trouble| panic!("{trouble}"))
}

fn added(site: &Site, before: &str) -> String {
    let mut json = parse(before);
    hook::add(&mut json, site, PROGRAM, &[hook::Job::Tell])
        .unwrap_or_else(|trouble| panic!("{trouble}: {before}"));
    json.text()
}

fn taken_out(site: &Site, before: &str) -> String {
    let mut json = parse(before);
    hook::take_out(&mut json, site, &Value::Null)
        .unwrap_or_else(|trouble| panic!("{trouble}: {before}"));
    json.text()
}

/// Claude's settings if there were none before.
fn fresh() -> String {
    let settings =
        include_str!("../../../tests/it/fresh_settings.json").replace("PROMPT", EVENTS[0]);
    let settings = settings.replace("START", EVENTS[1]).replace("TIMEOUT", "2");
    settings.replace(
        "COMMAND",
        &Value::from(format!("{PROGRAM} --agent agent-sdk")).to_string(),
    )
}

/// Settings as people have them: the file, and the same with ours in it.
fn odd_settings() -> Vec<(String, String)> {
    let command = Value::from("/p/session-context --agent agent-sdk");
    let spaced =
        format!(r#"[{{"hooks": [{{"type": "command", "command": {command}, "timeout": 2}}]}}]"#);
    let element =
        format!(r#"{{"hooks": [{{"type": "command", "command": {command}, "timeout": 2}}]}}"#);
    // A group over several lines, its first line at `indent`.
    let lines = |newline: &str, indent: &str, unit: &str| {
        let at = |depth: usize| format!("{newline}{indent}{}", unit.repeat(depth));
        format!(
            r#"{{{}"hooks": [{}{{{}"type": "command",{}"command": {command},{}"timeout": 2{}}}{}]{}}}"#,
            at(1),
            at(2),
            at(3),
            at(3),
            at(3),
            at(2),
            at(1),
            at(0),
        )
    };
    let array = |newline: &str, indent: &str, unit: &str| {
        format!(
            "[{newline}{indent}{unit}{}{newline}{indent}]",
            lines(newline, &format!("{indent}{unit}"), unit)
        )
    };
    // The same in a file with trailing commas.
    let trailing = |text: &str| {
        text.replace("}\n", "},\n")
            .replace("]\n", "],\n")
            .replace("2\n", "2,\n")
    };
    let odd = r#""big": 12345678901234567890, "huge": 1e400, "tiny": -0.0E-0, "text": "ż\u00f3łw \ud83d\ude00 😀 \/ ]}", "big": 1"#;
    let tight = odd.replace(": ", ":");
    let pretty = |rest: &str| {
        format!(
            "{{\n  {odd},\n  \"permissions\": {{ \"allow\" : [\"Bash(ls:*)\",\"Read\" ] }},\n\n\n  \"hooks\": {rest}\n}}\n"
        )
    };
    vec![
        // One line, tight and spaced; nothing at the end.
        (
            format!(r#"{{{tight},"a":[]}}"#),
            format!(r#"{{{tight},"a":[], "hooks": {{"UserPromptSubmit": {spaced}, "SessionStart": {spaced}}}}}"#),
        ),
        (
            format!("{{{odd}}}\n"),
            format!(r#"{{{odd}, "hooks": {{"UserPromptSubmit": {spaced}, "SessionStart": {spaced}}}}}"#) + "\n",
        ),
        // Other hooks, over several lines, with tabs.
        (
            "{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t1\n\t\t]\n\t}\n}".into(),
            format!(
                "{{\n\t\"hooks\": {{\n\t\t\"Stop\": [\n\t\t\t1\n\t\t],\n\t\t\"UserPromptSubmit\": {0},\n\t\t\"SessionStart\": {0}\n\t}}\n}}",
                array("\n", "\t\t", "\t")
            ),
        ),
        // CRLF, four blanks, blank lines, blanks at the ends of lines.
        (
            "\r\n{\r\n    \"a\" : 1 ,\r\n\r\n    \"b\": {}  \r\n}\r\n\r\n".into(),
            format!(
                "\r\n{{\r\n    \"a\" : 1 ,\r\n\r\n    \"b\": {{}},\r\n    \"hooks\": {{\r\n        \"UserPromptSubmit\": {0},\r\n        \"SessionStart\": {0}\r\n    }}  \r\n}}\r\n\r\n",
                array("\r\n", "        ", "    ")
            ),
        ),
        // An event that is there, once on lines, once on one line.
        (
            pretty(
                "{\n    \"UserPromptSubmit\": [\n      {\"hooks\": []}\n    ],\n    \"SessionStart\": [ 1 , 2 ]\n  }",
            ),
            pretty(&format!(
                "{{\n    \"UserPromptSubmit\": [\n      {{\"hooks\": []}},\n      {}\n    ],\n    \"SessionStart\": [ 1 , 2, {element} ]\n  }}",
                lines("\n", "      ", "  ")
            )),
        ),
        // Keys that are there twice, and one in disguise: the last one counts.
        (
            "{\"hooks\":{\"UserPromptSubmit\":[1]},\"\\u0068ooks\":{\"SessionStart\":[2],\"SessionStart\":[3]}}".into(),
            format!(
                "{{\"hooks\":{{\"UserPromptSubmit\":[1]}},\"\\u0068ooks\":{{\"SessionStart\":[2],\"SessionStart\":[3, {element}], \"UserPromptSubmit\": {spaced}}}}}"
            ),
        ),
        // A mark at the beginning.
        (
            "\u{feff}{\"a\":1}".into(),
            format!("\u{feff}{{\"a\":1, \"hooks\": {{\"UserPromptSubmit\": {spaced}, \"SessionStart\": {spaced}}}}}"),
        ),
        // Empty in all the ways there are: laid out anew.
        (String::new(), fresh()),
        (" \r\n\t\n".into(), fresh()),
        ("{}".into(), fresh().trim_end().into()),
        ("{\n\n}\n".into(), fresh()),
        (
            "{\"hooks\":{ }}".into(),
            format!("{{\"hooks\":{{\"UserPromptSubmit\": {spaced}, \"SessionStart\": {spaced} }}}}"),
        ),
        // Comments and trailing commas: ours has a comma where the others have one, and no comment changes its owner.
        (
            "// a\n{\n  // \"b\": [\n  \"c\": 1, // d,\n  /* e */ \"f\": [1, 2,], // g\n  // h\n}\n/* i */".into(),
            format!(
                "// a\n{{\n  // \"b\": [\n  \"c\": 1, // d,\n  /* e */ \"f\": [1, 2,], // g\n  \"hooks\": {{\n    \"UserPromptSubmit\": {0},\n    \"SessionStart\": {0},\n  }},\n  // h\n}}\n/* i */",
                trailing(&array("\n", "    ", "  "))
            ),
        ),
        (
            "{\r\n\t\"a\": 1 // b \r\n}\r\n".into(),
            format!(
                "{{\r\n\t\"a\": 1, // b \r\n\t\"hooks\": {{\r\n\t\t\"UserPromptSubmit\": {0},\r\n\t\t\"SessionStart\": {0}\r\n\t}}\r\n}}\r\n",
                array("\r\n", "\t\t", "\t")
            ),
        ),
        (
            "{\"a\": 1 /* b */}".into(),
            format!(r#"{{"a": 1, "hooks": {{"UserPromptSubmit": {spaced}, "SessionStart": {spaced}}} /* b */}}"#),
        ),
        (
            "{\"a\": 1 // b\n}".into(),
            format!(
                "{{\"a\": 1, // b\n  \"hooks\": {{\n    \"UserPromptSubmit\": {0},\n    \"SessionStart\": {0}\n  }}\n}}",
                array("\n", "    ", "  ")
            ),
        ),
        ("{\n  // a\n}\n".into(), fresh().replacen('{', "{\n  // a", 1)),
        ("// a".into(), format!("// a\n{}", fresh())),
        (
            "{\"hooks\": {\"SessionStart\": [1, /* a */ 2, ], /* b */}}".into(),
            format!(
                "{{\"hooks\": {{\"SessionStart\": [1, /* a */ 2, {element}, ], \"UserPromptSubmit\": {spaced}, /* b */}}}}"
            ),
        ),
    ]
}

/// Every byte outside the insertion stays.
#[test]
fn settings_keep_every_other_byte() {
    with("claude", |site| {
        for (before, after) in odd_settings() {
            assert_eq!(added(site, &before), after);
        }
    });
}

/// Without a backup only ours is cut out; what was empty may be laid out anew.
#[test]
fn what_is_ours_is_cut_out() {
    with("claude", |site| {
        for (before, after) in odd_settings() {
            let left = taken_out(site, &after);
            match before.trim().trim_start_matches('\u{feff}') {
                "" | "{}" | "{\n\n}" | "{\"hooks\":{ }}" => assert_eq!(left.trim(), "{}"),
                "// a" => assert_eq!(left, "// a\n{}\n"),
                _ => assert_eq!(left, before),
            }
        }
    });
}

/// Wherever ours is: a comment is never taken out with it, and never swallows what follows.
#[test]
fn comments_beside_ours_stay() {
    let ours = r#"{"command": "session-context"}"#;
    with("claude", |site| {
        for (before, after) in [
            (
                "{\n  // a\n  \"hooks\": {\"E\": [{\"hooks\": [OURS]}]}, // b\n  \"c\": 1\n}",
                "{\n  // a\n  // b\n  \"c\": 1\n}",
            ),
            (
                "{\n  \"c\": 1, // a\n  \"hooks\": {\"E\": [{\"hooks\": [OURS]}]} // b\n}",
                "{\n  \"c\": 1 // a\n   // b\n}",
            ),
            (
                "{\"c\": 1, // a\n \"hooks\": {\"E\": [{\"hooks\": [OURS]}]}}",
                "{\"c\": 1 // a\n }",
            ),
            (
                "{\"c\": 1, // a\n \"hooks\": {\"E\": [{\"hooks\": [OURS]}]},}",
                "{\"c\": 1, // a\n }",
            ),
            (
                "{\"hooks\": {/* a */ \"E\": [{\"hooks\": [OURS]}]}}",
                "{\"hooks\": {/* a */}}",
            ),
            (
                "{\"hooks\": {\"E\": [{\"hooks\": [1, /* a */ OURS /* b */, 2]}]}}",
                "{\"hooks\": {\"E\": [{\"hooks\": [1, /* a */  /* b */2]}]}}",
            ),
        ] {
            assert_eq!(taken_out(site, &before.replace("OURS", ours)), after);
        }
    });
}

/// What cannot be read as settings is refused, with the line and column.
#[test]
fn bad_settings_are_refused() {
    const NOT_OBJECT: &str = "not an object: {…} is expected here";
    let hooks = |value: &str| format!("{{\n  \"hooks\": {value}\n}}").into_bytes();
    for (agent, event) in [("claude", "UserPromptSubmit"), ("gemini", "BeforeAgent")] {
        let no_array = format!("\"{event}\" is not an array: […] is expected here");
        let cases: Vec<(Vec<u8>, &str, &str)> = vec![
            (
                b"{\n  \"a\": 1, # x\n}".into(),
                "2:11",
                "not JSON: unexpected token",
            ),
            (
                b"{\n  \"a\": 1, /* x\n}".into(),
                "2:11",
                "not JSON: unterminated comment block",
            ),
            (
                b"{\n  \"a\": 1,,\n}\n".into(),
                "2:10",
                "not JSON: unexpected token in object",
            ),
            (b"{\"a\": [1 2]}".into(), "1:9", "not JSON: expected comma"),
            (b"{\"a\": 1".into(), "1:1", "not JSON: unterminated object"),
            (
                b"{\"a\": 1} {}".into(),
                "1:10",
                "not JSON: text cannot contain more than one JSON value",
            ),
            (
                b"{'a': 1}".into(),
                "1:2",
                "not JSON: single-quoted strings are not allowed",
            ),
            (
                b"{a: 1}".into(),
                "1:2",
                "not JSON: expected string for object property",
            ),
            (
                b"{\"\xc3\xa4\": x}".into(),
                "1:7",
                "not JSON: unexpected token",
            ),
            (
                b"{\"a\": 0x1}".into(),
                "1:7",
                "not JSON: hexadecimal numbers are not allowed",
            ),
            (b"{\"a\": \0}".into(), "1:7", "not JSON: unexpected token"),
            (b"\0\0\0\0".into(), "1:1", "not JSON: unexpected token"),
            (b"garbage".into(), "1:1", "not JSON: unexpected word"),
            (
                "[".repeat(100_000).into(),
                "1:513",
                "not JSON: maximum nesting depth exceeded",
            ),
            (b"{\"a\": \"\xff\xfe\"}".into(), "1:8", "not UTF-8 text"),
            (b"[]".into(), "1:1", NOT_OBJECT),
            (b"\n \"text\"".into(), "2:2", NOT_OBJECT),
            (b"null".into(), "1:1", NOT_OBJECT),
            (
                hooks("[]"),
                "2:12",
                "\"hooks\" is not an object: {…} is expected here",
            ),
            (
                hooks("null"),
                "2:12",
                "\"hooks\" is not an object: {…} is expected here",
            ),
            (
                hooks("\"off\""),
                "2:12",
                "\"hooks\" is not an object: {…} is expected here",
            ),
            (
                hooks(&format!("{{\"{event}\": {{}}}}")),
                if event.len() == 11 { "2:28" } else { "2:33" },
                &no_array,
            ),
            (
                hooks(&format!("{{\"{event}\": null}}")),
                if event.len() == 11 { "2:28" } else { "2:33" },
                &no_array,
            ),
        ];
        for (bytes, place, why) in cases {
            let refused = with(agent, |site| {
                let mut json = Json::parse(Path::new("x.json"), &bytes)?;
                hook::add(&mut json, site, PROGRAM, &[hook::Job::Tell])
            });
            assert_eq!(
                refused.expect_err(why).to_string(),
                format!("x.json:{place}: {why}")
            );
        }
    }
}

/// Whatever the order of installs, it shows whether somebody else has changed the settings since.
#[test]
fn settings_that_are_as_before_are_recognised() {
    let odd: Vec<String> = odd_settings()
        .into_iter()
        .map(|(before, _)| before)
        .collect();
    let random = (0..8).map(|seed| Random::new(seed, seed % 2 == 1).settings());
    let line = r#"{"type": "command", "command": "date \u0022x\u0022"}"#;
    let lines = [
        format!(r#"{{"statusLine":{line},"ui":{{"statusLine":{line}}}}}"#),
        format!("{{\n  \"ui\": {{}}, // a\n  \"statusLine\": {line},\n}}\n"),
        "{\n  \"mcpServers\": {}, // a\n}\n".to_owned(),
        r#"{"mcpServers": {"db": {"command": "db"}}}"#.to_owned(),
    ];
    let settings: Vec<String> = odd.into_iter().chain(lines).chain(random).collect();
    for agent in ["claude", "qwen"] {
        with(agent, |site| {
            settings
                .iter()
                .for_each(|before| is_recognised(site, before));
        });
    }
}

fn is_recognised(site: &Site, before: &str) {
    #[derive(Debug, Clone, Copy)]
    enum Install {
        Hook,
        Live,
        StatusLine,
        Server,
    }
    use Install::{Hook, Live, Server, StatusLine};
    let path = site.file();
    let apply = |mut json: Json, install: Install| {
        let jobs = if matches!(install, Live) {
            &[hook::Job::Tell, hook::Job::Live][..]
        } else {
            &[hook::Job::Tell]
        };
        let server = site.mcp().filter(|(file, _)| *file == path);
        let done = match (install, site.statusline(), server) {
            (StatusLine, Some((_, line)), _) => status::put(&mut json, line, PROGRAM),
            (Server, _, Some((_, servers))) => mcp::put(&mut json, servers, mcp::PROGRAM),
            _ => hook::add(&mut json, site, PROGRAM, jobs).map(drop),
        };
        done.map(|()| json)
    };
    for order in [
        &[Hook][..],
        &[Live],
        &[Hook, Live],
        &[Hook, StatusLine],
        &[Hook, StatusLine, Live],
        &[Hook, Live, StatusLine],
        &[Live, StatusLine],
        &[StatusLine, Hook],
        &[StatusLine, Live],
        &[Hook, Server],
        &[Server, Hook],
        &[Hook, StatusLine, Server],
        &[Server, StatusLine, Live],
    ] {
        let installed = order
            .iter()
            .try_fold(parse(before), |json, install| apply(json, *install));
        // By chance something else may be where ours goes.
        let Ok(installed) = installed else { continue };
        let text = installed.text();
        let is_as_before = |text: &str, backup: &str| {
            site.rest(&path, parse(text), Some(backup.as_bytes()))
                .expect("without ours")
                .is_as_before
        };
        assert!(is_as_before(&text, before), "{order:?}: {before}\n{text}");
        if order.len() == 3 {
            let mut edited = installed;
            edited
                .add(&edited.top.clone().into(), Some("added"), true.into())
                .expect("a member");
            assert!(
                !is_as_before(&edited.text(), before),
                "{order:?}: {before}\n{text}"
            );
        }
    }
}

/// xorshift64*: enough chance for a test, the same on every machine.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16) as usize % limit
    }
}

/// Documents by chance, as a hand or a program might have written them.
struct Random {
    chance: Chance,
    /// Newline and indentation, or neither.
    newline: &'static str,
    unit: &'static str,
    /// With `//c` and `/*c*/`, and trailing commas.
    comments: bool,
}

/// Random settings without their comments and trailing commas.
fn plain(text: &str) -> String {
    let text = text.replace("/*c*/", "").replace("//c", "");
    let is_trailing = |rest: &str| rest.trim_start().starts_with([']', '}']);
    text.char_indices()
        .filter(|(at, char)| *char != ',' || !is_trailing(substr(&text, at + 1..)))
        .map(|(_, char)| char)
        .collect()
}

impl Random {
    fn new(seed: u64, comments: bool) -> Random {
        let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let newline = ["", "\n", "\n", "\r\n"][chance.below(4)];
        let unit = ["  ", "    ", "\t", " ", ""][chance.below(5)];
        Random {
            chance,
            newline,
            unit,
            comments,
        }
    }

    fn settings(&mut self) -> String {
        let mut members = self.members(1);
        if self.chance.below(3) > 0 {
            let mut events = Vec::new();
            for event in ["Stop", "SessionStart", "UserPromptSubmit", "SessionStart"] {
                if self.chance.below(2) == 0 {
                    let groups: Vec<String> =
                        (0..self.chance.below(3)).map(|_| self.value(3)).collect();
                    let array = self.container('[', &groups, ']', 2);
                    events.push(format!("\"{event}\"{}{array}", self.colon()));
                }
            }
            let hooks = self.container('{', &events, '}', 1);
            let at = self.chance.below(members.len() + 1);
            members.insert(at, format!("\"hooks\"{}{hooks}", self.colon()));
        }
        let end = ["", "\n", "\r\n", " \n\n"][self.chance.below(4)];
        self.container('{', &members, '}', 0) + end
    }

    fn members(&mut self, depth: usize) -> Vec<String> {
        const KEYS: [&str; 8] = ["a", "a", "hook", "\\u0061", "ü", "", "}", "nested"];
        (0..self.chance.below(4))
            .map(|_| {
                format!(
                    "\"{}\"{}{}",
                    KEYS[self.chance.below(8)],
                    self.colon(),
                    self.value(depth)
                )
            })
            .collect()
    }

    fn value(&mut self, depth: usize) -> String {
        const SIMPLE: [&str; 12] = [
            "null",
            "true",
            "12345678901234567890",
            "-0.5e-7",
            "0",
            "\"\"",
            "\"]}{[,:\\\"\\\\\"",
            "\"\\u00e9 ü 😀\"",
            "\"session-context\"",
            "\"hooks\"",
            "{}",
            "[ ]",
        ];
        match self.chance.below(if depth > 5 { 1 } else { 3 }) {
            0 => SIMPLE[self.chance.below(12)].into(),
            1 => {
                let members = self.members(depth + 1);
                self.container('{', &members, '}', depth)
            }
            _ => {
                let values: Vec<String> = (0..self.chance.below(3))
                    .map(|_| self.value(depth + 1))
                    .collect();
                self.container('[', &values, ']', depth)
            }
        }
    }

    fn colon(&mut self) -> &'static str {
        [":", ": ", " : ", ": "][self.chance.below(4)]
    }

    fn container(&mut self, open: char, children: &[String], close: char, depth: usize) -> String {
        let lines = !self.newline.is_empty() && self.chance.below(5) > 0;
        let gap = |depth: usize| {
            if lines {
                format!("{}{}", self.newline, self.unit.repeat(depth))
            } else {
                String::new()
            }
        };
        let inner: Vec<String> = children
            .iter()
            .map(|child| format!("{}{child}", gap(depth + 1)))
            .collect();
        let (inner_gap, outer_gap) = (gap(depth + 1), gap(depth));
        let comma = [",", ", ", " ,"][self.chance.below(3)];
        if !self.comments {
            return format!("{open}{}{outer_gap}{close}", inner.join(comma));
        }
        let mut out = format!("{open}{}", self.comment());
        for (index, child) in children.iter().enumerate() {
            let (before, after) = (self.comment(), self.comment());
            let comma = if index + 1 < children.len() {
                comma
            } else {
                ["", ","][self.chance.below(2)]
            };
            out += &format!("{inner_gap}{before}{child}{after}{comma}{}", self.comment());
        }
        format!("{out}{outer_gap}{close}")
    }

    fn comment(&mut self) -> &'static str {
        ["", "", "", "/*c*/", " /*c*/", " //c\n"][self.chance.below(6)]
    }
}

/// Whatever the settings are: with ours they mean what they meant, and ours; without it they are what they were.
#[test]
fn any_settings_survive_the_round_trip() {
    with("claude", |site| {
        (0..300).for_each(|seed| survives(site, seed));
    });
}

fn survives(site: &Site, seed: u64) {
    let comments = seed % 2 == 1;
    let before = Random::new(seed, comments).settings();
    let after = added(site, &before);
    let meaning = |text: &str| -> Value {
        serde_json::from_str(&plain(text))
            .unwrap_or_else(|error| panic!("seed {seed}: {error}: {text}"))
    };
    let (original, mut expected) = (meaning(&before), meaning(&before));
    for event in EVENTS {
        let events = expected
            .as_object_mut()
            .expect("an object")
            .entry("hooks")
            .or_insert_with(|| json!({}));
        let groups = events
            .as_object_mut()
            .expect("an object")
            .entry(event)
            .or_insert_with(|| json!([]));
        let command = format!("{PROGRAM} --agent agent-sdk");
        let group = json!({"hooks": [{"type": "command", "command": command, "timeout": 2}]});
        groups.as_array_mut().expect("an array").push(group);
    }
    assert_eq!(meaning(&after), expected, "seed {seed}: {before}");
    assert!(is_within(&before, &after), "seed {seed}: {before}\n{after}");

    // Unless something was empty, which cannot be known any more.
    let is_empty = |value: &Value| value == &json!({}) || value == &json!([]);
    let hooks = &original["hooks"];
    if is_empty(&original) || is_empty(hooks) || EVENTS.iter().any(|event| is_empty(&hooks[event]))
    {
        return;
    }
    let left = taken_out(site, &after);
    if comments {
        // A comma may have gone before a comment or after it.
        let all = |text: &str| (text.matches("/*c*/").count(), text.matches("//c").count());
        assert_eq!(all(&left), all(&before), "seed {seed}: {before}");
        assert_eq!(meaning(&left), original, "seed {seed}: {before}");
    } else {
        assert_eq!(left, before, "seed {seed}");
    }
}

/// True if the first text is the second with something taken out; blanks in what was empty do not count.
fn is_within(part: &str, whole: &str) -> bool {
    let mut rest = whole.chars().filter(|char| !char.is_whitespace());
    part.chars()
        .filter(|char| !char.is_whitespace())
        .all(|char| rest.any(|other| other == char))
}
