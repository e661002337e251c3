//! Sessions of strangers, with attacks in every place that a line is made from, and what must hold of all that is said.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::claude::prompt;
use crate::support::hook::{HEADER, told_to_with};
use crate::support::trouble::OBSERVER;
use crate::support::world::World;

const TIME: &str = "2026-11-16T02:50:00Z";
/// When the observer edited its files: before all others.
const OWN_TIME: &str = "2026-11-16T02:45:00Z";

/// A text, and how it stands in a JSON string.
#[derive(Debug, Clone)]
pub struct Text {
    pub plain: String,
    pub json: String,
}

pub fn escaped(plain: &str) -> Text {
    let json = Value::from(plain).to_string();
    Text {
        plain: plain.into(),
        json: json[1..json.len() - 1].into(),
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Place {
    Prompt,
    /// A few words after a prompt that can be understood without them.
    Then,
    Answer,
    Title,
    AgentTitle,
    File,
    /// A file whose edit has no result yet.
    OpenFile,
    /// A file that the observer edited as well.
    Conflict,
    Command,
    /// A command that has no result yet.
    OpenCommand,
    /// A test that fails, with the text as an argument.
    Check,
    Id,
    /// In a named home.
    Name,
    Folder,
}

/// Sessions that tell the observer something.
pub struct Strangers {
    pub world: World,
    pub named: bool,
    pub own: String,
    pub count: usize,
    pub conflicts: usize,
    /// What was said so far.
    pub said: String,
}

impl Strangers {
    pub fn new(named: bool) -> Strangers {
        let world = World::new();
        if named {
            fs::create_dir_all(world.path("work/.volute/sessions")).expect("a home");
        }
        let own = prompt(&world.path("work"), TIME, "my own");
        Strangers {
            world,
            named,
            own,
            count: 0,
            conflicts: 0,
            said: String::new(),
        }
    }

    /// A session with a text in some place, and with something harmless so that there is something to tell in any case.
    pub fn plant(&mut self, place: Place, text: &Text) {
        let number = self.count;
        self.count += 1;
        let json = &text.json;
        let cwd = self.world.path("work");
        let head = |kind: &str, key: &str| {
            let cwd = cwd.display();
            format!(
                r#"{{"type":"{kind}","uuid":"{key}{number}","cwd":"{cwd}","timestamp":"{TIME}""#
            )
        };
        let said_as = |key: &str, role: &str, content: &str| {
            let message = format!(
                r#","message":{{"id":"m{key}{number}","role":"{role}","content":"{content}"}}}}"#
            );
            head(role, key) + &message + "\n"
        };
        let said = |role: &str, content: &str| said_as(role, role, content);
        let call = |key: &str, tool: &str, field: &str, value: &str| {
            let block = format!(
                r#"{{"type":"tool_use","id":"{key}{number}","name":"{tool}","input":{{"{field}":"{value}"}}}}"#
            );
            head("assistant", key)
                + &format!(
                    r#","message":{{"id":"{key}{number}","role":"assistant","content":[{block}]}}}}"#
                )
                + "\n"
        };
        let result = |key: &str, failed: bool| {
            let block = format!(
                r#"{{"type":"tool_result","tool_use_id":"{key}{number}","is_error":{failed},"content":"out"}}"#
            );
            head("user", &format!("{key}-result"))
                + &format!(r#","message":{{"role":"user","content":[{block}]}}}}"#)
                + "\n"
        };
        let done = |key: &str, tool: &str, field: &str, value: &str| {
            call(key, tool, field, value) + &result(key, false)
        };
        let plain = said("user", "harmless");
        let path = format!("{}/{json}", cwd.display());
        let lines = match place {
            Place::Prompt => said("user", json) + &done("run", "Bash", "command", "ls"),
            Place::Then => said("user", "fix the login page") + &said_as("then", "user", json),
            Place::Answer => done("run", "Bash", "command", "ls") + &said("assistant", json),
            Place::Title => {
                format!("{{\"type\":\"custom-title\",\"customTitle\":\"{json}\"}}\n") + &plain
            }
            Place::AgentTitle => {
                format!("{{\"type\":\"ai-title\",\"aiTitle\":\"{json}\"}}\n") + &plain
            }
            Place::File => plain + &done("edit", "Edit", "file_path", &path),
            Place::OpenFile => plain + &call("edit", "Edit", "file_path", &path),
            Place::Conflict => {
                let path = path.replace(&format!("/{json}"), &format!("/both/{json}"));
                self.conflicts += 1;
                self.own += &done("own", "Write", "file_path", &path).replace(TIME, OWN_TIME);
                plain + &done("edit", "Edit", "file_path", &path)
            }
            Place::Command => plain + &done("run", "Bash", "command", json),
            Place::OpenCommand => plain + &call("run", "Bash", "command", json),
            Place::Check => {
                plain
                    + &call("run", "Bash", "command", &format!("cargo test {json}"))
                    + &result("run", true)
            }
            Place::Id | Place::Name | Place::Folder => plain,
        };
        let name: String = text
            .plain
            .replace(['/', '\\', '\0'], "")
            .chars()
            .take(40)
            .chain(number.to_string().chars())
            .collect();
        match place {
            Place::Id => drop(self.world.claude(&name, &lines)),
            Place::Folder => {
                let time = json!({"type": "session", "id": number.to_string(), "timestamp": TIME, "cwd": cwd});
                let message = json!({"type": "message", "id": number.to_string(), "timestamp": TIME, "message": {"role": "user", "content": "harmless"}});
                self.world.write(
                    format!("work/.volute/pi-sessions/{name}/1_{number}.jsonl"),
                    format!("{time}\n{message}\n"),
                );
            }
            _ => {
                let id = format!(
                    "{:08x}-0000-4000-8000-000000000000",
                    0x1000_0000 + number * 0x1111
                );
                if self.named {
                    let name = if place == Place::Name {
                        name
                    } else {
                        format!("s{number}")
                    };
                    self.world.write(
                        format!("work/.volute/sessions/{name}.json"),
                        json!({"sessionId": id}).to_string(),
                    );
                }
                self.world.claude(&id, &lines);
            }
        }
    }

    /// Runs the hook until there is nothing left to tell, and checks every word of it.
    #[track_caller]
    pub fn tell_all(&mut self, args: &[&str]) {
        self.world.claude(OBSERVER, &self.own);
        let most = if args.is_empty() { 500 } else { 9000 };
        let (mut left, mut conflicts) = (self.count, 0);
        while left > 0 {
            let text = told_to_with(&self.world, OBSERVER, args);
            let (told, warned) = check(&text, left, most);
            left -= told;
            conflicts += warned;
            self.said += &text;
            self.said += "\n";
        }
        assert_eq!(told_to_with(&self.world, OBSERVER, args), "");
        assert_eq!(conflicts, self.conflicts, "{}", self.said);
    }

    pub fn explain(&self) -> String {
        let explain = self
            .world
            .context(&["explain", "--all"])
            .env("CLAUDE_CODE_SESSION_ID", OBSERVER);
        explain
            .env("SESSION_CONTEXT_BUDGET", "9000")
            .run()
            .status(0)
            .out()
            .to_owned()
    }

    pub fn kept(&self) -> [PathBuf; 2] {
        let cursors = if self.named {
            self.world.path("work/.volute/session-cursors.json")
        } else {
            self.world.path(format!(
                ".state/session-monitor/cursors/agent-sdk-{OBSERVER}.bin"
            ))
        };
        [
            cursors,
            self.world.path(".state/session-monitor/journal.jsonl"),
        ]
    }
}

/// Characters that do something other than show.
fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{17b4}'
                | '\u{17b5}'
                | '\u{3164}'
        )
        || matches!(char, '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(char, '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}')
        || matches!(char, '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// What holds of everything that is ever said; `left` sessions had something to tell. How many were told, and how many
/// conflicts.
#[track_caller]
fn check(text: &str, left: usize, most: usize) -> (usize, usize) {
    assert!(
        text.encode_utf16().count() <= most,
        "{} units: {text}",
        text.encode_utf16().count()
    );
    assert!(!text.replace('\n', "").chars().any(is_hidden), "{text:?}");
    let lower = text.to_lowercase();
    for entity in [
        "&lt", "&gt", "&#", "&quot", "&amp", "＜", "＞", "﹤", "﹥", "＂",
    ] {
        assert!(!lower.contains(entity), "{entity}: {text}");
    }
    let mut lines: Vec<&str> = text.split('\n').collect();
    assert_eq!(lines.remove(0), HEADER, "{text}");
    for line in &lines {
        assert!(line.starts_with("- "), "{line:?}: {text}");
        let parts: Vec<&str> = line.split('"').collect();
        assert!(parts.len() % 2 == 1, "quotes: {line}");
        for (index, part) in parts.iter().enumerate() {
            let quoted = index % 2 == 1;
            let brackets = if quoted {
                (*part).to_owned()
            } else {
                part.replacen(" -> ", "", 1)
            };
            assert!(!brackets.contains(['<', '>']), "brackets: {line}");
            assert!(
                !quoted || part.encode_utf16().count() <= 98,
                "a long quotation: {line}"
            );
        }
        assert!(line.matches(" -> ").count() <= 1, "{line}");
    }
    let more = lines.last().and_then(|line| {
        line.strip_prefix("- +")?
            .strip_suffix(" more: session-reader list")
    });
    let more: usize = more.map_or(0, |more| more.parse().expect("a number"));
    let conflicts = lines.iter().filter(|line| line.starts_with("- ! ")).count();
    let told = lines.len() - conflicts - usize::from(more > 0);
    assert_eq!(told + more, left, "a line for each session: {text}");
    assert!(told > 0);
    (told, conflicts)
}
