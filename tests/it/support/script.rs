//! Sessions written by hand, as each client writes them:
//! `Script::of(&world).user("fix the login page").edits("src/a.rs").runs("cargo test", true).says("It fails.").save(&world, ONE)`.
//!
//! A line, or a call with its result, takes a minute, from one o'clock on, unless a time is given. Lines whose exact form
//! is what a test is about are not made here.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::times::{ago, at};
use crate::support::world::{World, encoded};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Client {
    Claude,
    Codex,
    Pi,
}

/// A session of one client.
pub struct Script {
    client: Client,
    id: String,
    pub cwd: PathBuf,
    pub lines: Vec<String>,
    /// How many minutes were gone when it began.
    pub from: usize,
    /// The time of what follows, if it is given.
    time: Option<String>,
    /// Results that share the minute of their call.
    results: usize,
    /// The call just made was one of free text, in Codex.
    custom: bool,
}

impl Script {
    fn by(client: Client, cwd: &Path, id: &str) -> Script {
        let (cwd, id, lines) = (cwd.to_path_buf(), id.to_owned(), Vec::new());
        Script {
            client,
            id,
            cwd,
            lines,
            from: 0,
            time: None,
            results: 0,
            custom: false,
        }
    }

    /// A Claude session in a directory.
    pub fn new(cwd: PathBuf) -> Script {
        Script::by(Client::Claude, &cwd, "")
    }

    /// A Claude session in the working directory.
    pub fn of(world: &World) -> Script {
        Script::new(world.path("work"))
    }

    /// A Codex session in the working directory.
    pub fn codex(world: &World, id: &str) -> Script {
        Script::by(Client::Codex, &world.path("work"), id)
    }

    /// A Pi session in a directory.
    pub fn pi(cwd: &Path, id: &str) -> Script {
        Script::by(Client::Pi, cwd, id)
    }

    /// The time of what follows, and of its head.
    pub fn at(mut self, time: &str) -> Script {
        self.time = Some(time.to_owned());
        self
    }

    /// What follows was so many minutes before the time it is.
    pub fn ago(self, minutes: i64) -> Script {
        self.at(&ago(minutes))
    }

    fn now(&self) -> String {
        // The head of a file takes the first minute.
        let head = usize::from(self.client != Client::Claude);
        self.time
            .clone()
            .unwrap_or_else(|| at(self.from + head + self.lines.len() - self.results))
    }

    /// A line of Claude's.
    pub fn line(self, kind: &str, message: Value) -> Script {
        let id = format!("u{}-{}", self.from, self.lines.len());
        let line = json!({"type": kind, "uuid": id, "cwd": self.cwd, "timestamp": self.now(), "message": message});
        self.raw(line)
    }

    /// A line of Codex's.
    pub fn item(self, kind: &str, payload: Value) -> Script {
        let line = json!({"timestamp": self.now(), "type": kind, "payload": payload});
        self.raw(line)
    }

    /// A line of Pi's.
    pub fn message(self, role: &str, mut message: Value) -> Script {
        message["role"] = json!(role);
        let id = format!("p{}", self.lines.len());
        let line =
            json!({"type": "message", "id": id, "timestamp": self.now(), "message": message});
        self.raw(line)
    }

    pub fn user(self, text: &str) -> Script {
        match self.client {
            Client::Claude => self.line("user", json!({"role": "user", "content": text})),
            Client::Codex => {
                let content = [json!({"type": "input_text", "text": text})];
                self.item(
                    "response_item",
                    json!({"type": "message", "role": "user", "content": content}),
                )
            }
            Client::Pi => {
                self.message("user", json!({"content": [{"type": "text", "text": text}]}))
            }
        }
    }

    pub fn says(self, text: &str) -> Script {
        match self.client {
            Client::Claude => {
                let id = format!("m{}", self.lines.len());
                let usage = json!({"input_tokens": 1000, "output_tokens": 10});
                let content = [json!({"type": "text", "text": text})];
                self.line(
                    "assistant",
                    json!({"id": id, "role": "assistant", "model": "claude-opus", "content": content, "usage": usage}),
                )
            }
            Client::Codex => {
                let content = [json!({"type": "output_text", "text": text})];
                self.item(
                    "response_item",
                    json!({"type": "message", "role": "assistant", "content": content}),
                )
            }
            Client::Pi => self.message(
                "assistant",
                json!({"content": [{"type": "text", "text": text}]}),
            ),
        }
    }

    /// A call that has no result.
    pub fn calls(mut self, tool: &str, input: Value) -> Script {
        let id = format!("t{}", self.lines.len());
        self.custom = input.is_string();
        match self.client {
            Client::Claude => {
                let message = format!("m{}", self.lines.len());
                let content = [json!({"type": "tool_use", "id": id, "name": tool, "input": input})];
                self.line(
                    "assistant",
                    json!({"id": message, "role": "assistant", "content": content}),
                )
            }
            Client::Codex => {
                let call = match input.as_str() {
                    Some(text) => {
                        json!({"type": "custom_tool_call", "call_id": id, "name": tool, "input": text})
                    }
                    None => {
                        json!({"type": "function_call", "call_id": id, "name": tool, "arguments": input.to_string()})
                    }
                };
                self.item("response_item", call)
            }
            Client::Pi => {
                let usage = json!({"input": 10, "cacheRead": 5, "cacheWrite": 0, "output": 1});
                let content =
                    [json!({"type": "toolCall", "id": id, "name": tool, "arguments": input})];
                self.message(
                    "assistant",
                    json!({"content": content, "model": "stub", "usage": usage}),
                )
            }
        }
    }

    /// What came of the call just made. In Codex the text alone says whether it failed.
    pub fn result(mut self, failed: bool, text: &str) -> Script {
        let id = format!("t{}", self.lines.len() - 1);
        if self.client != Client::Claude {
            self.results += 1;
        }
        match self.client {
            Client::Claude => {
                let content = [
                    json!({"type": "tool_result", "tool_use_id": id, "is_error": failed, "content": text}),
                ];
                self.line("user", json!({"role": "user", "content": content}))
            }
            Client::Codex => {
                let kind = if self.custom {
                    "custom_tool_call_output"
                } else {
                    "function_call_output"
                };
                self.item(
                    "response_item",
                    json!({"type": kind, "call_id": id, "output": text}),
                )
            }
            Client::Pi => {
                let content = [json!({"type": "text", "text": text})];
                self.message(
                    "toolResult",
                    json!({"toolCallId": id, "isError": failed, "content": content}),
                )
            }
        }
    }

    pub fn does(self, tool: &str, input: Value) -> Script {
        self.calls(tool, input).result(false, "ok")
    }

    pub fn runs(self, command: &str, failed: bool) -> Script {
        match self.client {
            Client::Claude => self
                .calls("Bash", json!({"command": command}))
                .result(failed, "out"),
            Client::Codex => {
                let output = format!(
                    "Chunk ID: a\nProcess exited with code {}\nOutput:\nx",
                    u8::from(failed)
                );
                self.calls("exec_command", json!({"cmd": command}))
                    .result(failed, &output)
            }
            Client::Pi => self
                .calls("bash", json!({"command": command}))
                .result(failed, "out"),
        }
    }

    pub fn writes(self, path: &str, content: &str) -> Script {
        match self.client {
            Client::Pi => self.does("write", json!({"path": path, "content": content})),
            _ => self.does("Write", json!({"file_path": path, "content": content})),
        }
    }

    /// A patch of Codex's, without its first and last line.
    pub fn patches(self, lines: &str) -> Script {
        let patch = format!("*** Begin Patch\n{lines}*** End Patch\n");
        self.calls("apply_patch", json!(patch))
            .result(false, "Exit code: 0\n")
    }

    pub fn raw(mut self, line: Value) -> Script {
        self.lines.push(line.to_string());
        self
    }

    /// The line that a file of this client begins with, if any.
    pub fn head(&self) -> String {
        let time = self.time.clone().unwrap_or_else(|| at(self.from));
        let line = match self.client {
            Client::Claude => return String::new(),
            Client::Codex => {
                json!({"timestamp": time, "type": "session_meta", "payload": {"id": self.id, "cwd": self.cwd}})
            }
            Client::Pi => {
                json!({"type": "session", "version": 3, "id": self.id, "timestamp": time, "cwd": self.cwd})
            }
        };
        line.to_string() + "\n"
    }

    pub fn body(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    pub fn text(&self) -> String {
        self.head() + &self.body()
    }

    /// Writes it where the client would.
    pub fn save(&self, world: &World, id: &str) -> PathBuf {
        let cwd = self.cwd.to_str().expect("UTF-8");
        let path = match self.client {
            Client::Claude => {
                format!(".claude/projects/{}/{id}.jsonl", encoded(&self.cwd))
            }
            Client::Codex => {
                format!(".codex/sessions/2026/11/16/rollout-2026-11-16T01-00-00-{id}.jsonl")
            }
            Client::Pi => {
                let dir = cwd.trim_start_matches('/').replace('/', "-");
                format!(".pi/agent/sessions/--{dir}--/2026-11-16T01-00-00-000Z_{id}.jsonl")
            }
        };
        world.write(path, self.text())
    }
}
