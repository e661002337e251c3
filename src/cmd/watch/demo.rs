//! `watch --demo`: made-up sessions of three agents in a throw-away home, which go on while somebody looks.
//!
//! They are written as the agents write them and read like all others. Each step of the script is a line of a transcript or
//! what an agent says of itself; steps up to 0 have happened before, and the others happen again and again.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::env::{Env, iso};
use crate::hash::HashMap;
use crate::process;
use crate::time::{SECOND, Time};

/// Noon, for a picture that is always the same.
pub const NOON: &[u8] = b"2026-11-16T12:00:00Z";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Agent {
    Claude,
    Codex,
    Pi,
}

struct MadeUp {
    agent: Agent,
    id: &'static str,
    project: &'static str,
    /// The title that its user gave it.
    title: Option<&'static str>,
}

const fn made(agent: Agent, id: &'static str, project: &'static str, title: Option<&'static str>) -> MadeUp {
    MadeUp { agent, id, project, title }
}

const MADE: [MadeUp; 8] = [
    made(Agent::Claude, "4f2a9c11-0000-4000-8000-000000000001", "shop", Some("checkout")),
    made(Agent::Claude, "91c3e07b-0000-4000-8000-000000000002", "shop", Some("order-events")),
    made(Agent::Claude, "b7d05a2e-0000-4000-8000-000000000003", "shop", Some("coupons")),
    made(Agent::Codex, "c0de8000-0000-7000-8000-000000000004", "shop", None),
    made(Agent::Pi, "61a9d3f0-0000-7000-8000-000000000005", "site", None),
    made(Agent::Claude, "e2f4b8c6-0000-4000-8000-000000000006", "site", Some("landing-page")),
    made(Agent::Claude, "0d9b3c55-0000-4000-8000-000000000007", "infra", None),
    made(Agent::Codex, "a5a5f00d-0000-7000-8000-000000000008", "shop", None),
];
const CHECKOUT: usize = 0;
const EVENTS: usize = 1;
const COUPONS: usize = 2;
const IMPORT: usize = 3;
const NOTES: usize = 4;
const LANDING: usize = 5;
const BACKUP: usize = 6;
const INVOICES: usize = 7;

#[derive(Clone, Copy)]
enum What {
    User(&'static str),
    Says(&'static str),
    /// A tool and what it is about.
    Call(&'static str, &'static str),
    Result(&'static str),
    Trouble(&'static str),
    /// What an agent says it is at, and what it waits for.
    At(&'static str, &'static str),
    Quits,
}
use What::{At, Call, Quits, Result, Says, Trouble, User};

const PERMISSION: What = At("waiting", "permission prompt");
const BUSY: What = At("busy", "");
const READY: What = At("idle", "");

/// When, in seconds from the start; which session; what happens.
const SCRIPT: [(i64, usize, What); 77] = [
    (-90_000, INVOICES, User("why do some invoices have no number?")),
    (-89_000, INVOICES, Says("Numbers were taken before the transaction; two of them could get the same one.")),
    (-14_000, BACKUP, User("move the nightly backup to the new bucket")),
    (-13_900, BACKUP, Call("Edit", "deploy/backup.tf")),
    (-13_890, BACKUP, Result("ok")),
    (-13_800, BACKUP, Says("The backup goes to the new bucket; the old one is kept for 30 days.")),
    (-13_700, BACKUP, Quits),
    (-2_700, LANDING, User("make the landing page load in under a second")),
    (-2_650, LANDING, Call("Edit", "src/index.html")),
    (-2_640, LANDING, Result("ok")),
    (-2_460, LANDING, Trouble("You've hit your usage limit · resets 3pm")),
    (-2_460, LANDING, READY),
    (-1_500, IMPORT, User("why is the nightly import slow?")),
    (-1_440, IMPORT, Call("exec_command", "rg -n 'INSERT INTO' src/import")),
    (-1_439, IMPORT, Result("src/import/rows.rs:41")),
    (-65, IMPORT, Call("exec_command", "cargo bench import")),
    (-1_100, EVENTS, User("pick a queue for the order events")),
    (-1_000, EVENTS, Call("Read", "src/events.rs")),
    (-999, EVENTS, Result("pub struct OrderPlaced")),
    (-845, EVENTS, Says("Both would do. NATS is one binary less to run; Redis is there already.")),
    (-840, EVENTS, Call("AskUserQuestion", "Redis Streams or NATS JetStream?")),
    (-840, EVENTS, At("waiting", "input needed")),
    (-700, CHECKOUT, User("make the checkout total include tax")),
    (-660, CHECKOUT, Call("Read", "src/checkout.rs")),
    (-659, CHECKOUT, Result("fn total(items: &[Item]) -> Money")),
    (-600, CHECKOUT, Call("Edit", "src/checkout.rs")),
    (-598, CHECKOUT, Result("ok")),
    (-560, CHECKOUT, Call("Bash", "cargo test checkout")),
    (-530, CHECKOUT, Result("test result: ok. 12 passed")),
    (-190, CHECKOUT, Says("The total includes tax now, and the 12 tests pass. I'll make a clean release build.")),
    (-185, CHECKOUT, Call("Bash", "rm -rf build && cargo build --release")),
    (-184, CHECKOUT, PERMISSION),
    (-540, NOTES, User("write the release notes for 2.4")),
    (-500, NOTES, Call("bash", "git log --oneline v2.3..HEAD")),
    (-499, NOTES, Result("14 commits")),
    (-430, NOTES, Call("write", "docs/release-2.4.md")),
    (-429, NOTES, Result("ok")),
    (-400, NOTES, Says("docs/release-2.4.md lists the 14 changes since 2.3.")),
    (-240, COUPONS, User("add a coupon field to the checkout")),
    (-200, COUPONS, Call("Edit", "src/checkout.rs")),
    (-198, COUPONS, Result("ok")),
    (-70, COUPONS, BUSY),
    (-20, COUPONS, Call("Bash", "cargo test coupon")),
    (3, COUPONS, Result("test result: ok. 9 passed")),
    (5, COUPONS, Says("The coupon field works; its 9 tests pass.")),
    (5, COUPONS, READY),
    (8, CHECKOUT, BUSY),
    (10, CHECKOUT, Result("Finished `release` profile")),
    (11, IMPORT, Result("import: 81 s")),
    (13, CHECKOUT, Call("Bash", "cargo test")),
    (14, IMPORT, Says("It commits after every row. One transaction for all of them takes 3 s instead of 81.")),
    (17, CHECKOUT, Result("test result: ok. 148 passed")),
    (19, CHECKOUT, Says("The release build is done, and all 148 tests pass.")),
    (19, CHECKOUT, READY),
    (22, EVENTS, Result("NATS JetStream")),
    (22, EVENTS, BUSY),
    (24, EVENTS, Call("Edit", "Cargo.toml")),
    (25, EVENTS, Result("ok")),
    (27, EVENTS, Call("Edit", "src/events.rs")),
    (28, EVENTS, Result("ok")),
    (29, NOTES, User("add the steps to upgrade")),
    (31, EVENTS, Call("Bash", "cargo test events")),
    (32, NOTES, Call("write", "docs/release-2.4.md")),
    (34, NOTES, Result("ok")),
    (36, NOTES, Says("The notes now say how to upgrade from 2.3.")),
    (38, EVENTS, Result("test result: ok. 6 passed")),
    (40, EVENTS, Says("Order events go through NATS JetStream.")),
    (40, EVENTS, READY),
    (43, COUPONS, User("refuse coupons that have expired")),
    (43, COUPONS, BUSY),
    (46, COUPONS, Call("Edit", "src/coupon.rs")),
    (47, COUPONS, Result("ok")),
    (50, COUPONS, Call("Bash", "git push --force")),
    (51, COUPONS, PERMISSION),
    (58, COUPONS, BUSY),
    (59, COUPONS, Result("main -> main")),
    (60, IMPORT, User("do it in one transaction")),
];

/// A home with the sessions in it.
pub struct World {
    pub home: PathBuf,
    /// How many steps each transcript has.
    written: HashMap<usize, u32>,
}

impl World {
    pub fn make(home: &Path, now: Time) -> io::Result<World> {
        let mut world = World { home: home.into(), written: HashMap::default() };
        for project in ["shop", "site", "infra"] {
            std::fs::create_dir_all(home.join(project))?;
        }
        std::fs::create_dir_all(home.join(".claude/sessions"))?;
        for (at, session, what) in SCRIPT.iter().filter(|(at, ..)| *at <= 0) {
            world.step(*session, *what, Time(now.0 + at * SECOND))?;
        }
        Ok(world)
    }

    /// An environment in which nothing but this home is there.
    pub fn env(&self, outer: &Env, is_still: bool) -> Env {
        let (home, cwd) = (&self.home, self.home.join("shop"));
        if is_still {
            return Env::fixed(home, cwd, Time::parse(NOON).unwrap_or_default());
        }
        let kept = ["TZ", "TERM", "TMUX", "VTE_VERSION", "VISUAL", "EDITOR", "PATH", "LANG", "LC_ALL"];
        let kept = kept.iter().filter_map(|name| Some(((*name).into(), outer.var(name)?.to_owned())));
        Env::given(kept.chain([("HOME".into(), home.clone().into_os_string())]), cwd, None)
    }

    /// Lets the sessions go on until somebody stops it. `pause` waits, and says whether to go on.
    pub fn play(mut self, env: &Env, mut pause: impl FnMut(Duration) -> bool) -> io::Result<()> {
        loop {
            let mut before = 0;
            for (at, session, what) in SCRIPT.iter().filter(|(at, ..)| *at > 0) {
                if !pause(Duration::from_secs((at - before) as u64)) {
                    return Ok(());
                }
                before = *at;
                self.step(*session, *what, env.now())?;
            }
        }
    }

    fn step(&mut self, session: usize, what: What, time: Time) -> io::Result<()> {
        let made = &MADE[session];
        let registry = self.home.join(format!(".claude/sessions/{session}.json"));
        match what {
            Quits => return std::fs::remove_file(registry),
            At(status, waits_for) => return std::fs::write(registry, World::registered(made, status, waits_for, time)),
            _ => {}
        }
        let path = self.home.join(path(made));
        let count = self.written.entry(session).or_default();
        let mut lines = Vec::new();
        if *count == 0 {
            if let Some(dir) = path.parent() {
                std::fs::create_dir_all(dir)?;
            }
            lines.extend(first(made, &self.home, time));
            if made.agent == Agent::Claude {
                std::fs::write(&registry, World::registered(made, "busy", "", time))?;
            }
        }
        *count += 1;
        lines.extend(written(made, &self.home, what, time, *count));
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path)?;
        file.write_all(lines.iter().map(|line| format!("{line}\n")).collect::<String>().as_bytes())
    }

    /// What a Claude Code says of itself. It claims to be this very process, which surely runs.
    fn registered(made: &MadeUp, status: &str, waits_for: &str, time: Time) -> String {
        let pid = std::process::id();
        let start = process::started(pid).unwrap_or(0).to_string();
        let namespace = format!("pid:[{}]", process::namespace().unwrap_or_default());
        let said = json!({
            "pid": pid, "procStart": start, "pidDomain": namespace, "sessionId": made.id, "status": status,
            "waitingFor": waits_for, "statusUpdatedAt": time.0,
        });
        said.to_string()
    }
}

fn path(made: &MadeUp) -> String {
    let MadeUp { agent, id, project, .. } = made;
    match agent {
        Agent::Claude => format!(".claude/projects/{project}/{id}.jsonl"),
        Agent::Codex => format!(".codex/sessions/2026/11/16/rollout-2026-11-16T11-30-00-{id}.jsonl"),
        Agent::Pi => format!(".pi/agent/sessions/--{project}--/2026-11-16T11-10-00-000Z_{id}.jsonl"),
    }
}

/// The lines that a transcript begins with.
fn first(made: &MadeUp, home: &Path, time: Time) -> Vec<Value> {
    let (id, cwd, time) = (made.id, home.join(made.project), iso(time));
    match made.agent {
        Agent::Claude => made
            .title
            .map(|title| json!({"type": "custom-title", "sessionId": id, "customTitle": title}))
            .into_iter()
            .collect(),
        Agent::Codex => {
            let meta = json!({"id": id, "timestamp": time, "cwd": cwd, "originator": "codex_cli_rs", "cli_version": "0.166.0", "source": "cli"});
            vec![json!({"timestamp": time, "type": "session_meta", "payload": meta})]
        }
        Agent::Pi => vec![json!({"type": "session", "version": 3, "id": id, "timestamp": time, "cwd": cwd})],
    }
}

/// The lines of one step. A result belongs to the step before it.
fn written(made: &MadeUp, home: &Path, what: What, time: Time, count: u32) -> Vec<Value> {
    let cwd = home.join(made.project);
    let at = iso(time);
    let (call, before) = (format!("c{count}"), format!("c{}", count - 1));
    let absolute = |path: &str| cwd.join(path);
    match made.agent {
        Agent::Claude => {
            let input = |tool: &str, subject: &str| match tool {
                "Bash" => json!({"command": subject}),
                "AskUserQuestion" => json!({"questions": [{"question": subject}]}),
                _ => json!({"file_path": absolute(subject), "old_string": "a", "new_string": "b"}),
            };
            let (role, content) = match what {
                User(text) => ("user", json!(text)),
                Says(text) | Trouble(text) => ("assistant", json!([{"type": "text", "text": text}])),
                Call(tool, subject) => (
                    "assistant",
                    json!([{"type": "tool_use", "id": call, "name": tool, "input": input(tool, subject)}]),
                ),
                Result(text) => ("user", json!([{"type": "tool_result", "tool_use_id": before, "content": text}])),
                At(..) | Quits => return vec![],
            };
            let is_trouble = matches!(what, Trouble(_));
            let mut message = json!({"role": role, "content": content});
            if role == "assistant" {
                message["id"] = json!(format!("msg_{count}_{}", made.id));
                message["model"] = json!(if is_trouble { "<synthetic>" } else { "claude-opus-5-5" });
                message["stop_reason"] = json!(if matches!(what, Says(_)) { "end_turn" } else { "tool_use" });
            }
            let mut line = json!({
                "type": role, "cwd": cwd, "sessionId": made.id, "version": "2.1.325", "isSidechain": false,
                "uuid": format!("{}-{count}", made.id), "timestamp": at, "message": message,
            });
            if is_trouble {
                line["isApiErrorMessage"] = json!(true);
                line["error"] = json!("rate_limit");
            }
            vec![line]
        }
        Agent::Codex => {
            let message = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
            let payload = match what {
                User(text) => message("user", "input_text", text),
                Says(text) | Trouble(text) => message("assistant", "output_text", text),
                Call(tool, subject) => {
                    let arguments = json!({"cmd": subject}).to_string();
                    json!({"type": "function_call", "name": tool, "arguments": arguments, "call_id": call})
                }
                Result(text) => {
                    let output = format!("Process exited with code 0\nOutput:\n{text}");
                    json!({"type": "function_call_output", "call_id": before, "output": output})
                }
                At(..) | Quits => return vec![],
            };
            vec![json!({"timestamp": at, "type": "response_item", "payload": payload})]
        }
        Agent::Pi => {
            let (role, kind, content) = match what {
                User(text) => ("user", "", json!([{"type": "text", "text": text}])),
                Says(text) | Trouble(text) => ("assistant", "stop", json!([{"type": "text", "text": text}])),
                Call(tool, subject) => {
                    let arguments = match tool {
                        "bash" => json!({"command": subject}),
                        _ => json!({"path": absolute(subject), "content": "# 2.4"}),
                    };
                    let call = json!({"type": "toolCall", "id": call, "name": tool, "arguments": arguments});
                    ("assistant", "toolUse", json!([call]))
                }
                Result(text) => ("toolResult", "", json!([{"type": "text", "text": text}])),
                At(..) | Quits => return vec![],
            };
            let mut message = json!({"role": role, "content": content});
            if role == "toolResult" {
                message["toolCallId"] = json!(before);
                message["isError"] = json!(false);
            }
            if role == "assistant" {
                message["model"] = json!("pi-model");
                message["stopReason"] = json!(kind);
            }
            let (id, parent) = (format!("{count:08x}"), format!("{:08x}", count - 1));
            vec![json!({"type": "message", "id": id, "parentId": parent, "timestamp": at, "message": message})]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::MINUTE;

    /// Within the steps of a session nothing happens before what comes before it.
    #[test]
    fn the_script_is_in_order() {
        for session in 0..MADE.len() {
            let times: Vec<i64> = SCRIPT.iter().filter(|(_, own, _)| *own == session).map(|(at, ..)| *at).collect();
            assert!(times.is_sorted(), "{session}: {times:?}");
        }
        let later: Vec<i64> = SCRIPT.iter().map(|(at, ..)| *at).filter(|at| *at > 0).collect();
        assert!(later.is_sorted() && later.iter().all(|at| at * SECOND < 2 * MINUTE));
    }
}
