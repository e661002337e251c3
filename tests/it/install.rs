//! `session-context install` and `uninstall`: the hook and the skill in the settings of each agent, and every other byte
//! as it was.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::support::run::{in_a_terminal_of, program};
use crate::support::world::World;

/// How an agent is called, its format, the file with the hook, the skill, the events, and the time-out.
struct Agent {
    name: &'static str,
    called: &'static str,
    format: &'static str,
    file: &'static str,
    skill: &'static str,
    events: [&'static str; 2],
    timeout: u32,
}

/// Those that have their hooks in a file with other settings.
const SETTINGS: [Agent; 4] = [
    Agent {
        name: "Claude Code",
        called: "claude",
        format: "agent-sdk",
        file: ".claude/settings.json",
        skill: ".claude/skills/sessions/SKILL.md",
        events: ["UserPromptSubmit", "SessionStart"],
        timeout: 2,
    },
    Agent {
        name: "Codex",
        called: "codex",
        format: "codex",
        file: ".codex/hooks.json",
        skill: ".agents/skills/sessions/SKILL.md",
        events: ["UserPromptSubmit", "SessionStart"],
        timeout: 2,
    },
    Agent {
        name: "Gemini CLI",
        called: "gemini",
        format: "gemini",
        file: ".gemini/settings.json",
        skill: ".agents/skills/sessions/SKILL.md",
        events: ["BeforeAgent", "SessionStart"],
        timeout: 2000,
    },
    Agent {
        name: "Qwen Code",
        called: "qwen",
        format: "qwen",
        file: ".qwen/settings.json",
        skill: ".agents/skills/sessions/SKILL.md",
        events: ["UserPromptSubmit", "SessionStart"],
        timeout: 2000,
    },
];

const CLAUDE: &Agent = &SETTINGS[0];
const ALL: [&str; 6] = ["claude", "codex", "copilot", "gemini", "pi", "qwen"];
const BACKUP: &str = ".before-session-context";
const SKILL: &str = include_str!("../../skills/sessions/SKILL.md");
const TRUST: &str = "\
note   Codex runs a hook only after you trusted it: start `codex`, run `/hooks`, trust the entry
note   trust it again whenever its command changes; `codex exec` skips an untrusted hook silently
";
const NEXT: &str = "New sessions have it; `session-context doctor` checks it.\n";

/// The path as it stands in a command.
fn quoted() -> String {
    let plain = program()
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"/._-+,:@%=".contains(&byte));
    if plain {
        program()
    } else {
        format!("'{}'", program().replace('\'', r"'\''"))
    }
}

impl Agent {
    fn command(&self) -> String {
        format!("{} --agent {}", quoted(), self.format)
    }

    /// The settings if there were none before.
    fn fresh(&self) -> String {
        let settings = include_str!("fresh_settings.json").replace("PROMPT", self.events[0]);
        let settings = settings
            .replace("START", self.events[1])
            .replace("TIMEOUT", &self.timeout.to_string());
        settings.replace("COMMAND", &Value::from(self.command()).to_string())
    }

    fn notes(&self) -> &'static str {
        if self.called == "codex" { TRUST } else { "" }
    }

    fn shown(&self) -> String {
        self.events.join(", ")
    }
}

/// Everything below HOME but our own state: each file's bytes, mode and time, each directory, each link.
fn snapshot(world: &World) -> BTreeMap<PathBuf, String> {
    fn walk(dir: &Path, all: &mut BTreeMap<PathBuf, String>) {
        for entry in fs::read_dir(dir).expect("a directory").flatten() {
            let (path, found) = (entry.path(), entry.metadata().expect("metadata"));
            let what = match () {
                () if found.is_dir() => "directory".to_owned(),
                () if found.is_symlink() => format!("link to {:?}", fs::read_link(&path)),
                () => {
                    let bytes = fs::read(&path).expect("a file");
                    format!(
                        "{:o} {:?} {:?}",
                        found.permissions().mode(),
                        found.modified(),
                        String::from_utf8_lossy(&bytes)
                    )
                }
            };
            if found.is_dir() {
                walk(&path, all);
            }
            all.insert(path, what);
        }
    }
    let mut all = BTreeMap::new();
    walk(&world.path(""), &mut all);
    all.retain(|path, _| !path.starts_with(world.path(".state")));
    all
}

/// Makes all files old, so that a write shows in their time.
fn age(world: &World) {
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    for path in snapshot(world).into_keys().filter(|path| path.is_file()) {
        fs::File::options()
            .append(true)
            .open(&path)
            .and_then(|file| file.set_modified(old))
            .expect("an old file");
    }
}

#[test]
fn a_fresh_install_of_each_agent() {
    for agent in &SETTINGS {
        let world = World::new();
        let dir = agent.file.split('/').next().expect("a directory");
        world.context(&["install", agent.called]).run().success().stdout(&format!(
            "hook   added to ~/{} ({})\nskill  written to ~/{}\nnote   ~/{dir} was not there; is {} installed?\n{}{NEXT}",
            agent.file,
            agent.shown(),
            agent.skill,
            agent.name,
            agent.notes(),
        ));
        assert_eq!(world.read(agent.file), agent.fresh());
        let skill = world.read(agent.skill);
        assert!(skill.starts_with(SKILL), "{skill}");
        assert_eq!(
            skill[SKILL.len()..].lines().count(),
            2,
            "one line more, for its hash"
        );
        // Nothing else was made.
        let files = snapshot(&world)
            .into_keys()
            .filter(|path| path.is_file())
            .count();
        assert_eq!(files, 2);
    }
}

/// Without a name, what is found is shown and nothing is done where nobody can answer; `--all` takes it.
#[test]
fn without_a_name_nothing_is_done_unless_all_is_asked_for() {
    let world = World::new();
    world
        .context(&["install", "--all"])
        .run()
        .status(1)
        .stdout("")
        .stderr("session-context: no agent was found on this machine; name one: session-context install AGENT\n");
    for dir in [".claude", ".pi/agent", "work"] {
        std::fs::create_dir_all(world.path(dir)).expect("a directory");
    }
    let before = snapshot(&world);
    world
        .context(&["install"])
        .run()
        .status(2)
        .stdout(
            "\
Agents found on this machine:
claude
    would add to ~/.claude/settings.json (UserPromptSubmit, SessionStart)
    would write the skill to ~/.claude/skills/sessions/SKILL.md
pi
    would write ~/.pi/agent/extensions/session-context.ts
    would write the skill to ~/.agents/skills/sessions/SKILL.md
",
        )
        .stderr("session-context: choose: session-context install --all, or session-context install claude|pi\n");
    assert_eq!(snapshot(&world), before);
    let shown = "\
hook   added to ~/.claude/settings.json (UserPromptSubmit, SessionStart)
skill  written to ~/.claude/skills/sessions/SKILL.md
hook   written to ~/.pi/agent/extensions/session-context.ts
skill  written to ~/.agents/skills/sessions/SKILL.md
";
    world
        .context(&["install", "--all"])
        .run()
        .success()
        .stdout(&format!("{shown}{NEXT}"));
    let installed = snapshot(&world);
    world
        .context(&["uninstall"])
        .run()
        .status(2)
        .stderr_has("choose: session-context uninstall --all, or");
    assert_eq!(snapshot(&world), installed);
    world.context(&["uninstall", "--all"]).run().success();
    assert!(
        snapshot(&world).keys().all(|path| !path.is_file()),
        "nothing is left"
    );
    world.context(&["install", "pi", "claude"]).run().success();
    assert_eq!(snapshot(&world).len(), installed.len());
    world
        .context(&["install", "--all", "claude"])
        .run()
        .status(2)
        .stdout("");
}

/// On a terminal it asks.
#[test]
fn a_terminal_is_asked() {
    let world = World::new();
    std::fs::create_dir_all(world.path(".claude")).expect("a directory");
    let Some(shown) = in_a_terminal_of(24, &world, "session-context install", ("X", ""), "y\n")
    else {
        return;
    };
    assert!(shown.contains("Set up all of them? [y/N] "), "{shown}");
    assert!(
        shown.contains("hook   added to ~/.claude/settings.json"),
        "{shown}"
    );
    assert!(world.path(".claude/settings.json").is_file());
}

#[test]
fn a_fresh_install_for_copilot_is_a_file_of_our_own() {
    let world = World::new();
    fs::create_dir(world.path(".copilot")).expect("a directory");
    world
        .context(&["install", "copilot"])
        .run()
        .success()
        .stdout(&format!(
        "hook   added to ~/.copilot/hooks/session-monitor.json (userPromptSubmitted, sessionStart)
skill  written to ~/.agents/skills/sessions/SKILL.md
{NEXT}"
    ));
    let command = Value::from(format!("{} --agent copilot", quoted()));
    let expected = format!(
        r#"{{
  "version": 1,
  "hooks": {{
    "userPromptSubmitted": [
      {{
        "type": "command",
        "bash": {command},
        "timeoutSec": 2
      }}
    ],
    "sessionStart": [
      {{
        "type": "command",
        "bash": {command},
        "timeoutSec": 2
      }}
    ]
  }}
}}
"#
    );
    assert_eq!(world.read(".copilot/hooks/session-monitor.json"), expected);
}

#[test]
fn a_fresh_install_for_pi_is_an_extension() {
    let world = World::new();
    fs::create_dir_all(world.path(".pi/agent")).expect("a directory");
    world
        .context(&["install", "pi"])
        .run()
        .success()
        .stdout(&format!(
            "hook   written to ~/.pi/agent/extensions/session-context.ts
skill  written to ~/.agents/skills/sessions/SKILL.md
{NEXT}"
        ));
    let source = include_str!("../../pi/session-context.ts");
    let expected = source.replace(
        "const INSTALLED = \"\";",
        &format!("const INSTALLED = {};", Value::from(program())),
    );
    assert_ne!(source, expected);
    assert_eq!(
        world.read(".pi/agent/extensions/session-context.ts"),
        expected
    );
}

#[test]
fn agents_have_other_names_too() {
    for (called, file) in [
        ("agent-sdk", ".claude/settings.json"),
        ("claude-code", ".claude/settings.json"),
        ("Claude", ".claude/settings.json"),
        ("CODEX", ".codex/hooks.json"),
    ] {
        let world = World::new();
        world.context(&["install", called]).run().success();
        assert!(world.path(file).is_file(), "{called}");
    }
    for called in ["openclaw", "cursor", "", "claude "] {
        World::new().context(&["install", called]).run().status(2).stdout("").stderr(&format!(
            "session-context: there is no hook for '{called}'; AGENT is one of claude, codex, copilot, gemini, pi, qwen\n"
        ));
    }
}

/// Not a byte, not a time.
#[test]
fn a_second_run_changes_nothing() {
    for called in ALL {
        let world = World::new();
        world.write(".claude/settings.json", "{\"model\":\"opus\"}");
        world.context(&["install", called]).run().success();
        age(&world);
        let before = snapshot(&world);
        let done = world.context(&["install", called]).run().success();
        assert_eq!(snapshot(&world), before, "{called}");
        let lines: Vec<&str> = done.out().lines().collect();
        assert!(
            lines[0].starts_with("hook   already installed in ~/."),
            "{lines:?}"
        );
        assert!(
            lines[1].starts_with("skill  already installed in ~/."),
            "{lines:?}"
        );
        assert_eq!(
            lines.len(),
            if called == "codex" { 4 } else { 2 },
            "{lines:?}"
        );
    }
}

/// Uninstall brings back every byte from the backup; without it, or when the user changed something since, only ours is
/// cut out. What settings may look like is in the unit tests.
#[test]
fn uninstall_brings_back_what_was_there() {
    let world = World::new();
    let before = "\u{feff}\r\n{ // a\r\n    \"a\" : 1 ,\r\n\r\n    \"hooks\": {}  \r\n}\r\n\r\n";
    world.write(CLAUDE.file, before);
    world
        .context(&["install", "claude"])
        .run()
        .success()
        .stdout(&format!(
            "hook   added to ~/.claude/settings.json ({}; backup settings.json{BACKUP})
skill  written to ~/.claude/skills/sessions/SKILL.md
{NEXT}",
            CLAUDE.shown()
        ));
    assert_ne!(world.read(CLAUDE.file), before);
    assert_eq!(
        world.read(".claude/settings.json.before-session-context"),
        before
    );
    world.context(&["uninstall", "claude"]).run().success().stdout(
        "hook   removed from ~/.claude/settings.json (UserPromptSubmit, SessionStart), which is as it was before
skill  removed ~/.claude/skills/sessions/SKILL.md\n",
    );
    assert_eq!(world.read(CLAUDE.file), before);
    let files: Vec<_> = snapshot(&world)
        .into_keys()
        .filter(|path| path.is_file())
        .collect();
    assert_eq!(files, [world.path(CLAUDE.file)], "nothing is left");

    // Nothing but ours was in it.
    let world = World::new();
    world.write(CLAUDE.file, "{}");
    world.context(&["install", "claude"]).run().success();
    fs::remove_file(world.path(format!("{}{BACKUP}", CLAUDE.file))).expect("a backup");
    let gone = world.context(&["uninstall", "claude"]).run().success();
    assert!(
        gone.out()
            .starts_with("hook   removed ~/.claude/settings.json\n"),
        "{}",
        gone.out()
    );
    assert!(!world.path(CLAUDE.file).exists());

    let world = World::new();
    world.write(CLAUDE.file, "{\n  \"hooks\": {},\n  \"a\": 1\n}\n");
    world.context(&["install", "claude"]).run().success();
    let edited = world
        .read(CLAUDE.file)
        .replace("\"a\": 1", "\"a\": 2,\n  \"b\": 3");
    world.write(CLAUDE.file, &edited);
    world
        .context(&["uninstall", "claude"])
        .run()
        .success()
        .stdout(
            "hook   removed from ~/.claude/settings.json (UserPromptSubmit, SessionStart)
skill  removed ~/.claude/skills/sessions/SKILL.md\n",
        );
    assert_eq!(
        world.read(CLAUDE.file),
        "{\n  \"hooks\": {},\n  \"a\": 2,\n  \"b\": 3\n}\n"
    );
    assert!(
        world.path(format!("{}{BACKUP}", CLAUDE.file)).exists(),
        "what the user had is kept"
    );
}

/// Other hooks beside ours, before and after it, in the same group and in others.
#[test]
fn hooks_of_others_stay() {
    let theirs = |name: &str| format!(r#"{{"type":"command","command":"{name}"}}"#);
    let ours = r#"{"type":"command","command":"/old/session-context --agent agent-sdk"}"#;
    let wrapper = theirs("my-session-context-wrapper --agent agent-sdk");
    let [one, two, log] = [
        theirs("/x/one"),
        theirs("/x/two"),
        theirs("/x/session-context.log"),
    ];
    let with = |ours: &str| {
        let and = |first: &str, ours: &str| {
            if ours.is_empty() {
                first.to_owned()
            } else {
                format!("{first}, {ours}")
            }
        };
        let alone = if ours.is_empty() {
            String::new()
        } else {
            format!(r#", {{"matcher":"startup","hooks":[{ours}]}}"#)
        };
        format!(
            r#"{{"hooks":{{"UserPromptSubmit":[{{"matcher":"","hooks":[{}, {two}]}}, {{"hooks":[{wrapper}]}}], "SessionStart":[{{"hooks":[{log}]}}{alone}], "PreCompact":[{{"hooks":[{}]}}], "Odd":[1,{{"hooks":3}},{{"hooks":[null,{{"command":4}}]}}]}}}}"#,
            and(&one, ours),
            and(&two, ours),
        )
    };
    let world = World::new();
    world.write(CLAUDE.file, with(ours));
    let now = format!(
        r#"{{"type":"command","command":{}}}"#,
        Value::from(CLAUDE.command())
    );
    world.context(&["install", "claude"]).run().success().stdout(&format!(
        "hook   updated in ~/.claude/settings.json (UserPromptSubmit, SessionStart; was /old/session-context)
skill  written to ~/.claude/skills/sessions/SKILL.md
{NEXT}"
    ));
    assert_eq!(world.read(CLAUDE.file), with(&now));
    world
        .context(&["uninstall", "claude"])
        .run()
        .success()
        .stdout(
        "hook   removed from ~/.claude/settings.json (UserPromptSubmit, SessionStart, PreCompact)
skill  removed ~/.claude/skills/sessions/SKILL.md\n",
    );
    assert_eq!(world.read(CLAUDE.file), with(""));
}

/// The program moved: our old entry is replaced where it is, however it was quoted, and what the user wrote behind it
/// stays.
#[test]
fn a_moved_program_is_found_and_flags_are_kept() {
    let settings = |command: &str| {
        let group = json!([{"hooks": [{"type": "command", "command": command, "timeout": 7}]}]);
        json!({"hooks": {"UserPromptSubmit": group, "SessionStart": group}}).to_string()
    };
    for (old, was, rest) in [
        (
            "/old/session-context --agent agent-sdk",
            "/old/session-context",
            " --agent agent-sdk",
        ),
        (
            "session-context --agent agent-sdk",
            "session-context",
            " --agent agent-sdk",
        ),
        (
            "'/o l d/session-context'  --budget 300",
            "/o l d/session-context",
            "  --budget 300",
        ),
        (
            "\"$HOME/bin/session-context\" --agent agent-sdk || true",
            "$HOME/bin/session-context",
            " --agent agent-sdk || true",
        ),
        ("/old/session-context", "/old/session-context", ""),
    ] {
        let world = World::new();
        world.write(CLAUDE.file, settings(old));
        let kept = match rest.trim() {
            "" | "--agent agent-sdk" => String::new(),
            flags => format!("; your flags are kept: {flags}"),
        };
        world.context(&["install", "claude"]).run().success().stdout(&format!(
            "hook   updated in ~/.claude/settings.json (UserPromptSubmit, SessionStart; was {was}{kept})
skill  written to ~/.claude/skills/sessions/SKILL.md
{NEXT}"
        ));
        assert_eq!(
            world.read(CLAUDE.file),
            settings(&format!("{}{rest}", quoted()))
        );
        world.context(&["install", "claude"]).run().success().stdout(&format!(
            "hook   already installed in ~/.claude/settings.json (UserPromptSubmit, SessionStart{kept})
skill  already installed in ~/.claude/skills/sessions/SKILL.md\n"
        ));
    }
}

/// A command without a shell has its arguments elsewhere.
#[test]
fn a_command_with_separate_arguments_is_ours_too() {
    let world = World::new();
    let settings = |program: &str| {
        let group = json!([{"hooks": [{"type": "command", "command": program, "args": ["--budget", "9"]}]}]);
        json!({"hooks": {"UserPromptSubmit": group, "SessionStart": group}}).to_string()
    };
    world.write(CLAUDE.file, settings("/with blank/session-context"));
    world.context(&["install", "claude"]).run().success();
    assert_eq!(world.read(CLAUDE.file), settings(&program()));
}

#[test]
fn an_event_that_is_missing_is_added() {
    let world = World::new();
    let command = Value::from(CLAUDE.command());
    let first = format!(
        r#""UserPromptSubmit":[{{"hooks":[{{"type":"command","command":{command},"timeout":2}}]}}]"#
    );
    world.write(CLAUDE.file, format!("{{\"hooks\":{{{first}}}}}"));
    world
        .context(&["install", "claude"])
        .run()
        .success()
        .stdout(&format!(
            "hook   added to ~/.claude/settings.json (SessionStart)
skill  written to ~/.claude/skills/sessions/SKILL.md
{NEXT}"
        ));
    let second = first
        .replace("UserPromptSubmit", "SessionStart")
        .replace(":[", ": [")
        .replace("\":", "\": ");
    let second = second.replace(":  ", ": ").replace(",\"", ", \"");
    assert_eq!(
        world.read(CLAUDE.file),
        format!("{{\"hooks\":{{{first}, {second}}}}}")
    );
}

/// A path that a shell would take apart.
#[test]
fn the_path_of_the_program_is_quoted() {
    let world = World::new();
    let place = world.path("it's a $place/session-context");
    fs::create_dir(place.parent().expect("a parent")).expect("a directory");
    if fs::hard_link(program(), &place).is_err() {
        // Not by this process: one that is started meanwhile would have it open to write, and then nobody can run it.
        let done = Command::new("cp").arg(program()).arg(&place).status();
        assert!(done.expect("cp runs").success());
    }
    let run = Command::new(&place)
        .args(["install", "claude"])
        .env_clear()
        .env("HOME", world.path(""))
        .output();
    assert!(run.expect("it runs").status.success());
    let settings: Value = serde_json::from_str(&world.read(CLAUDE.file)).expect("JSON");
    let command = settings["hooks"]["SessionStart"][0]["hooks"][0]["command"]
        .as_str()
        .expect("a command")
        .to_owned();
    let start = place
        .parent()
        .expect("a parent")
        .parent()
        .expect("HOME")
        .display()
        .to_string();
    assert_eq!(
        command,
        format!(r"'{start}/it'\''s a $place/session-context' --agent agent-sdk")
    );
    // A shell reads it as it is meant.
    let shell = Command::new("/bin/sh")
        .args(["-c", &format!("printf %s, {command}")])
        .output()
        .expect("a shell");
    assert_eq!(
        String::from_utf8_lossy(&shell.stdout),
        format!("{},--agent,agent-sdk,", place.display())
    );
}

/// What cannot be read as settings is not touched, and nothing else is done either. What is refused, and where, is in
/// the unit tests.
#[test]
fn bad_files_are_refused() {
    for agent in &SETTINGS {
        let world = World::new();
        let path = world.write(agent.file, "{\n  \"a\": 1,,\n}\n");
        let before = snapshot(&world);
        let message = format!(
            "session-context: {}:2:10: not JSON: unexpected token in object; correct that and run this again, or write in by hand what `session-context install {} --print` shows; nothing was changed\n",
            path.display(),
            agent.called
        );
        world
            .context(&["install", agent.called])
            .run()
            .status(2)
            .stdout("")
            .stderr(&message);
        assert_eq!(snapshot(&world), before);
        // What to write by hand.
        world
            .context(&["install", agent.called, "--print"])
            .run()
            .status(2)
            .stderr(&message)
            .stdout(&format!(
                "would add to ~/{}:\n{}",
                agent.file,
                agent.fresh()
            ));
        assert_eq!(snapshot(&world), before);
    }
}

#[test]
fn uninstall_refuses_bad_files_too() {
    let world = World::new();
    let path = world.write(CLAUDE.file, "{\"hooks\": [}");
    let before = snapshot(&world);
    world.context(&["uninstall", "claude"]).run().status(2).stdout("").stderr(&format!(
        "session-context: {}:1:12: not JSON: unexpected close brace; correct that and run this again; nothing was changed\n",
        path.display()
    ));
    assert_eq!(snapshot(&world), before);
    let doctor = world.context(&["doctor"]).run();
    let fault = "~/.claude/settings.json:1:12: not JSON: unexpected close brace; correct that and install it again\n";
    assert!(doctor.out().contains(fault), "{}", doctor.out());
}

/// A file of our name that is not ours is not ours.
#[test]
fn files_of_our_name_that_are_not_ours_are_refused() {
    for (called, file, text) in [
        (
            "pi",
            ".pi/agent/extensions/session-context.ts",
            "export default function () {}\n",
        ),
        ("pi", ".pi/agent/extensions/session-context.ts", ""),
        ("copilot", ".copilot/hooks/session-monitor.json", "{}"),
        (
            "copilot",
            ".copilot/hooks/session-monitor.json",
            r#"{"version":1,"hooks":{"sessionStart":[{"bash":"x"}]}}"#,
        ),
    ] {
        let world = World::new();
        let path = world.write(file, text);
        let before = snapshot(&world);
        let message = format!(
            "session-context: {}: is there and is not ours; move it away and run this again; nothing was changed\n",
            path.display()
        );
        world
            .context(&["install", called])
            .run()
            .status(2)
            .stdout("")
            .stderr(&message);
        if called == "pi" {
            world
                .context(&["uninstall", called])
                .run()
                .status(2)
                .stdout("")
                .stderr(&message);
        } else {
            let none = format!("hook   not installed in ~/{file}\n");
            world
                .context(&["uninstall", called])
                .run()
                .success()
                .stdout(&none);
        }
        assert_eq!(snapshot(&world), before);
    }
}

#[test]
fn files_of_our_own_are_brought_up_to_date() {
    let world = World::new();
    let file = ".pi/agent/extensions/session-context.ts";
    world.context(&["install", "pi"]).run().success();
    let now = world.read(file);
    world.write(
        file,
        now.replace(&program(), "/old/session-context")
            .replace("2000", "3000"),
    );
    world.context(&["install", "pi"]).run().success().stdout(&format!(
        "hook   updated in ~/{file}\nskill  already installed in ~/.agents/skills/sessions/SKILL.md\n{NEXT}"
    ));
    assert_eq!(world.read(file), now);
    world
        .context(&["uninstall", "pi"])
        .run()
        .success()
        .stdout(&format!(
            "hook   removed ~/{file}\nskill  removed ~/.agents/skills/sessions/SKILL.md\n"
        ));
    assert_eq!(snapshot(&world).len(), 1, "only `work` is left");

    let file = ".copilot/hooks/session-monitor.json";
    let settings = |program: &str| {
        let hook = json!([{"type": "command", "bash": format!("{program} --budget 300"), "timeoutSec": 9}]);
        json!({"version": 1, "hooks": {"userPromptSubmitted": hook, "sessionStart": hook}})
            .to_string()
    };
    world.write(file, settings("/old/session-context"));
    world.context(&["install", "copilot"]).run().success().stdout(&format!(
        "hook   updated in ~/{file} (userPromptSubmitted, sessionStart; was /old/session-context; your flags are kept: --budget 300)
skill  written to ~/.agents/skills/sessions/SKILL.md
{NEXT}"
    ));
    assert_eq!(world.read(file), settings(&quoted()));
    world
        .context(&["uninstall", "copilot"])
        .run()
        .success()
        .stdout(&format!(
            "hook   removed ~/{file}\nskill  removed ~/.agents/skills/sessions/SKILL.md\n"
        ));
    // The test, not install, made `.copilot/hooks`.
    let left = ["work", ".copilot", ".copilot/hooks"].map(|below| world.path(below));
    assert_eq!(
        snapshot(&world).into_keys().collect::<BTreeSet<_>>(),
        BTreeSet::from(left)
    );
}

/// A directory where a file should be, or a file where a directory should be: said, and nothing is done by halves. It
/// stands for all that cannot be written, because root may write everything.
#[test]
fn what_cannot_be_written_changes_nothing() {
    for (called, blocked, why) in [
        (
            "claude",
            ".claude/settings.json/",
            "is a directory, not a file; nothing was changed",
        ),
        (
            "claude",
            ".claude/skills/sessions/SKILL.md/",
            "is a directory, not a file; nothing was changed",
        ),
        (
            "codex",
            ".agents/skills/sessions/SKILL.md/",
            "is a directory, not a file; nothing was changed",
        ),
        (
            "pi",
            ".pi/agent/extensions/session-context.ts/",
            "is a directory, not a file; nothing was changed",
        ),
        (
            "copilot",
            ".copilot/hooks/session-monitor.json/",
            "is a directory, not a file; nothing was changed",
        ),
    ] {
        let world = World::new();
        fs::create_dir_all(world.path(blocked)).expect("a directory");
        let before = snapshot(&world);
        let path = world.path(blocked.trim_end_matches('/'));
        let message = format!("session-context: {}: {why}\n", path.display());
        world
            .context(&["install", called])
            .run()
            .status(2)
            .stdout("")
            .stderr(&message);
        assert_eq!(snapshot(&world), before, "{called}");
        world
            .context(&["uninstall", called])
            .run()
            .status(2)
            .stdout("")
            .stderr(&message);
        assert_eq!(snapshot(&world), before, "{called}");
    }
    for (called, blocking, file) in [
        ("claude", ".claude", ".claude/settings.json"),
        (
            "claude",
            ".claude/skills",
            ".claude/skills/sessions/SKILL.md",
        ),
        ("gemini", ".gemini", ".gemini/settings.json"),
        (
            "copilot",
            ".copilot/hooks",
            ".copilot/hooks/session-monitor.json",
        ),
    ] {
        let world = World::new();
        world.write(blocking, "a file\n");
        let before = snapshot(&world);
        let path = world.path(file);
        world
            .context(&["install", called])
            .run()
            .status(2)
            .stdout("")
            .stderr(&format!(
                "session-context: {}: Not a directory (os error 20); nothing was changed\n",
                path.display()
            ));
        assert_eq!(snapshot(&world), before, "{called}");
    }
}

/// Everything is written beside its place before anything is put there: here the settings cannot be, so the skill, which
/// could, is not there either, nor are the directories for it.
#[test]
fn nothing_is_done_by_halves() {
    let world = World::new();
    fs::create_dir(world.path(".claude")).expect("a directory");
    symlink(
        "/proc/session-monitor/settings.json",
        world.path(CLAUDE.file),
    )
    .expect("a link");
    let before = snapshot(&world);
    let done = world
        .context(&["install", "claude"])
        .run()
        .status(2)
        .stdout("");
    let start = format!(
        "session-context: {}: cannot be written: ",
        world.path(CLAUDE.file).display()
    );
    assert!(done.err().starts_with(&start), "{}", done.err());
    assert!(
        done.err().ends_with("; nothing was changed\n"),
        "{}",
        done.err()
    );
    assert_eq!(snapshot(&world), before);

    // Where modes count: a directory that is not writable.
    let world = World::new();
    world.write(CLAUDE.file, "{}");
    let dir = world.path(".claude");
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o500)).expect("a mode");
    let before = snapshot(&world);
    let done = world
        .context(&["install", "claude"])
        .without_rights()
        .run()
        .status(2)
        .stdout("");
    assert!(
        done.err()
            .ends_with("cannot be written: Permission denied (os error 13); nothing was changed\n")
    );
    assert_eq!(snapshot(&world), before);
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o700)).expect("a mode");
}

/// A link to the settings stays one, a mode stays, and a backup is never written over.
#[test]
fn links_modes_and_backups_stay() {
    let world = World::new();
    let real = world.write("dotfiles/claude.json", "{\"a\":1}");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("a mode");
    fs::create_dir(world.path(".claude")).expect("a directory");
    symlink("../dotfiles/claude.json", world.path(CLAUDE.file)).expect("a link");
    let mode = |below: &str| {
        fs::metadata(world.path(below))
            .expect("a file")
            .permissions()
            .mode()
            & 0o777
    };
    let backup = format!("{}{BACKUP}", CLAUDE.file);

    world.context(&["install", "claude"]).run().success();
    assert_eq!(
        fs::read_link(world.path(CLAUDE.file)).expect("a link"),
        Path::new("../dotfiles/claude.json")
    );
    assert!(
        world
            .read("dotfiles/claude.json")
            .contains("session-context --agent agent-sdk")
    );
    assert_eq!((mode(CLAUDE.file), mode(&backup)), (0o640, 0o640));
    assert_eq!(world.read(&backup), "{\"a\":1}");
    assert!(!world.path(&backup).is_symlink());

    world.context(&["uninstall", "claude"]).run().success();
    assert_eq!(world.read("dotfiles/claude.json"), "{\"a\":1}");
    assert!(world.path(CLAUDE.file).is_symlink() && !world.path(&backup).exists());

    world.write(&backup, "older\n");
    world.context(&["install", "claude"]).run().success().stdout(&format!(
        "hook   added to ~/.claude/settings.json ({}; backup settings.json{BACKUP}-2)\nskill  written to ~/.claude/skills/sessions/SKILL.md\n{NEXT}",
        CLAUDE.shown()
    ));
    assert_eq!(world.read(&backup), "older\n");
    world.context(&["uninstall", "claude"]).run().success();
    assert_eq!(
        (world.read(&backup), world.read(CLAUDE.file)),
        ("older\n".into(), "{\"a\":1}".into())
    );

    // A link that leads nowhere yet.
    let world = World::new();
    fs::create_dir(world.path(".claude")).expect("a directory");
    symlink("../dotfiles/new.json", world.path(CLAUDE.file)).expect("a link");
    let before = snapshot(&world);
    world.context(&["install", "claude"]).run().success();
    assert_eq!(world.read("dotfiles/new.json"), CLAUDE.fresh());
    world.context(&["uninstall", "claude"]).run().success();
    assert_eq!(snapshot(&world), before);
}

#[test]
fn print_shows_and_does_nothing() {
    let world = World::new();
    world.write(CLAUDE.file, "{\"a\":1}");
    let before = snapshot(&world);
    for agent in &SETTINGS {
        let done = world
            .context(&["install", agent.called, "--print"])
            .run()
            .success();
        let there = if agent.called == "claude" {
            String::new()
        } else {
            let dir = agent.file.split('/').next().expect("a directory");
            format!(
                "note   ~/{dir} was not there; is {} installed?\n",
                agent.name
            )
        };
        done.stdout(&format!(
            "would add to ~/{} ({}):\n{}would write the skill to ~/{}\n{there}{}",
            agent.file,
            agent.shown(),
            agent.fresh(),
            agent.skill,
            agent.notes(),
        ));
    }
    let done = world.context(&["install", "pi", "--print"]).run().success();
    let (start, rest) = done.out().split_once(":\n").expect("two lines");
    assert_eq!(
        start,
        "would write ~/.pi/agent/extensions/session-context.ts"
    );
    assert!(
        rest.contains(&format!("const INSTALLED = {};\n", Value::from(program()))),
        "{rest}"
    );
    assert_eq!(snapshot(&world), before);

    world.context(&["install", "claude"]).run().success();
    let before = snapshot(&world);
    world.context(&["install", "claude", "--print"]).run().success().stdout(&format!(
        "already installed in ~/.claude/settings.json ({}):\n{}skill  already installed in ~/.claude/skills/sessions/SKILL.md\n",
        CLAUDE.shown(),
        CLAUDE.fresh(),
    ));
    world.context(&["uninstall", "claude", "--print"]).run().success().stdout(
        "would remove the hook from ~/.claude/settings.json (UserPromptSubmit, SessionStart), which is as it was before
would remove ~/.claude/skills/sessions/SKILL.md\n",
    );
    assert_eq!(snapshot(&world), before);
}

#[test]
fn project_settings_are_those_of_the_directory() {
    for (called, name, file, skill) in [
        (
            "claude",
            "Claude Code",
            ".claude/settings.json",
            ".claude/skills/sessions/SKILL.md",
        ),
        (
            "codex",
            "Codex",
            ".codex/hooks.json",
            ".agents/skills/sessions/SKILL.md",
        ),
        (
            "copilot",
            "Copilot CLI",
            ".github/hooks/session-monitor.json",
            ".github/skills/sessions/SKILL.md",
        ),
        (
            "gemini",
            "Gemini CLI",
            ".gemini/settings.json",
            ".gemini/skills/sessions/SKILL.md",
        ),
        (
            "pi",
            "Pi",
            ".pi/extensions/session-context.ts",
            ".pi/skills/sessions/SKILL.md",
        ),
        (
            "qwen",
            "Qwen Code",
            ".qwen/settings.json",
            ".qwen/skills/sessions/SKILL.md",
        ),
    ] {
        let world = World::new();
        let done = world
            .context(&["install", called, "--project"])
            .run()
            .success();
        let lines: Vec<&str> = done.out().lines().collect();
        assert!(lines[0].contains(&format!("~/work/{file}")), "{lines:?}");
        assert_eq!(lines[1], format!("skill  written to ~/work/{skill}"));
        let where_ = match called {
            "claude" => format!(
                "note   {name} reads it only in sessions that start in ~/work itself, not below it"
            ),
            _ => format!("note   {name} reads it only if you trust ~/work there"),
        };
        let committed = "note   it has a path of this machine in it, so it is better not committed";
        assert!(
            done.out()
                .contains(&format!("{where_}\n{committed}\n{NEXT}")),
            "{lines:?}"
        );
        let files: Vec<_> = snapshot(&world)
            .into_keys()
            .filter(|path| path.is_file())
            .collect();
        let mut expected = [
            world.path("work").join(file),
            world.path("work").join(skill),
        ];
        expected.sort();
        assert_eq!(files, expected);
        world
            .context(&["uninstall", called, "--project"])
            .run()
            .success();
        assert_eq!(snapshot(&world).len(), 1, "only `work` is left");
    }
}

#[test]
fn agents_that_live_elsewhere_are_found() {
    for (called, variable, file, skill) in [
        (
            "claude",
            "CLAUDE_CONFIG_DIR",
            "settings.json",
            "moved/skills/sessions/SKILL.md",
        ),
        (
            "codex",
            "CODEX_HOME",
            "hooks.json",
            ".agents/skills/sessions/SKILL.md",
        ),
        (
            "copilot",
            "COPILOT_HOME",
            "hooks/session-monitor.json",
            "moved/skills/sessions/SKILL.md",
        ),
        (
            "gemini",
            "GEMINI_CLI_HOME",
            ".gemini/settings.json",
            "moved/.gemini/skills/sessions/SKILL.md",
        ),
        (
            "pi",
            "PI_CODING_AGENT_DIR",
            "extensions/session-context.ts",
            ".agents/skills/sessions/SKILL.md",
        ),
        (
            "qwen",
            "QWEN_HOME",
            "settings.json",
            ".agents/skills/sessions/SKILL.md",
        ),
    ] {
        let world = World::new();
        fs::create_dir_all(world.path("moved/.gemini")).expect("a directory");
        let done = world
            .context(&["install", called])
            .env(variable, world.path("moved"))
            .run()
            .success();
        assert!(!done.out().contains("was not there"), "{}", done.out());
        assert!(
            world.path("moved").join(file).is_file() && world.path(skill).is_file(),
            "{}",
            done.out()
        );
    }
}

/// Hooks that the user switched off stay off.
#[test]
fn switched_off_hooks_are_said_and_stay_off() {
    for (called, file, text, what) in [
        (
            "claude",
            ".claude/settings.json",
            "{\"disableAllHooks\": true}",
            "\"disableAllHooks\": true",
        ),
        (
            "claude",
            ".claude/settings.local.json",
            "{\"disableAllHooks\": true}",
            "\"disableAllHooks\": true",
        ),
        (
            "copilot",
            ".copilot/settings.json",
            "{\"disableAllHooks\": true}",
            "\"disableAllHooks\": true",
        ),
        (
            "gemini",
            ".gemini/settings.json",
            "{\"hooksConfig\": {\"enabled\": false}}",
            "\"hooksConfig.enabled\": false",
        ),
        (
            "qwen",
            ".qwen/settings.json",
            "{\"disableAllHooks\": true}",
            "\"disableAllHooks\": true",
        ),
        (
            "codex",
            ".codex/config.toml",
            "[features]\nhooks = false\n",
            "features.hooks = false",
        ),
    ] {
        let world = World::new();
        world.write(file, text);
        let done = world.context(&["install", called]).run().success();
        let note = format!(
            "note   hooks are switched off by {what} in ~/{file}; ours will not run until that is changed\n"
        );
        assert!(done.out().contains(&note), "{}", done.out());
        assert!(
            world
                .read(file)
                .starts_with(text.trim_end_matches('}').trim_end()),
            "{}",
            world.read(file)
        );
        let done = world
            .context(&["install", called, "--project"])
            .run()
            .success();
        assert!(done.out().contains(&note), "{}", done.out());
    }
    let world = World::new();
    world.write(
        ".gemini/settings.json",
        "{\"hooksConfig\": {\"enabled\": true}, \"disableAllHooks\": true}",
    );
    let done = world.context(&["install", "gemini"]).run().success();
    assert!(!done.out().contains("note"), "{}", done.out());
}

#[test]
fn a_hook_that_runs_twice_is_said() {
    let world = World::new();
    world.write(
        ".claude/settings.json",
        "{\"enabledPlugins\": {\"session-monitor@somewhere\": true, \"other@x\": true}}",
    );
    let done = world.context(&["install", "claude"]).run().success();
    let plugin = "note   the plugin that is enabled in ~/.claude/settings.json runs the hook, too; harmless: the second finds nothing new\n";
    assert!(done.out().contains(plugin), "{}", done.out());
    let done = world
        .context(&["install", "claude", "--project"])
        .run()
        .success();
    let user = "note   ~/.claude/settings.json runs the hook, too; harmless: the second finds nothing new\n";
    assert!(
        done.out().contains(&format!("{user}{plugin}")),
        "{}",
        done.out()
    );
    world.context(&["uninstall", "claude"]).run().success().stdout(
        "hook   removed from ~/.claude/settings.json (UserPromptSubmit, SessionStart), which is as it was before
note   ~/work/.claude/settings.json still runs the hook
note   the plugin that is enabled in ~/.claude/settings.json still runs the hook\n",
    );

    let world = World::new();
    world.write(
        ".pi/agent/settings.json",
        r#"{"packages": ["npm:x", {"source": "git:github.com/a/session-monitor"}]}"#,
    );
    let done = world.context(&["install", "pi"]).run().success();
    let package = "note   the package in ~/.pi/agent/settings.json runs the hook, too; harmless: the second finds nothing new\n";
    assert!(done.out().contains(package), "{}", done.out());

    // A package by its path.
    let world = World::new();
    world.write(
        ".pi/agent/settings.json",
        r#"{"packages": ["../../elsewhere"]}"#,
    );
    world.write("elsewhere/package.json", include_str!("../../package.json"));
    let done = world.context(&["install", "pi"]).run().success();
    assert!(done.out().contains(package), "{}", done.out());

    // In HOME, the project's settings are the user's.
    let world = World::new();
    for command in ["install", "uninstall"] {
        world
            .context(&[command, "claude", "--project"])
            .dir(world.path(""))
            .run()
            .status(2)
            .stderr("session-context: in your home directory --project means the user's own settings; leave it out\n");
    }
}

#[test]
fn not_installed_is_said() {
    for (called, file) in [
        ("claude", ".claude/settings.json"),
        ("codex", ".codex/hooks.json"),
        ("copilot", ".copilot/hooks/session-monitor.json"),
        ("gemini", ".gemini/settings.json"),
        ("pi", ".pi/agent/extensions/session-context.ts"),
        ("qwen", ".qwen/settings.json"),
    ] {
        let world = World::new();
        let line = format!("hook   not installed in ~/{file}\n");
        world
            .context(&["uninstall", called])
            .run()
            .success()
            .stdout(&line);
        if file.ends_with("settings.json") {
            world.write(file, "{\"hooks\":{\"UserPromptSubmit\":[]}}");
            let before = snapshot(&world);
            world
                .context(&["uninstall", called])
                .run()
                .success()
                .stdout(&line);
            assert_eq!(snapshot(&world), before);
        }
    }
}

/// A skill that the user edited, or wrote, is the user's.
#[test]
fn an_edited_skill_is_kept() {
    let world = World::new();
    world.context(&["install", "claude"]).run().success();
    let edited = world
        .read(CLAUDE.skill)
        .replace("# Other sessions", "# Sessions of others");
    world.write(CLAUDE.skill, &edited);
    let kept =
        "skill  ~/.claude/skills/sessions/SKILL.md is not as it was installed, and is kept\n";
    let done = world.context(&["install", "claude"]).run().success();
    assert!(done.out().ends_with(kept), "{}", done.out());
    let done = world.context(&["uninstall", "claude"]).run().success();
    assert!(done.out().ends_with(kept), "{}", done.out());
    assert_eq!(world.read(CLAUDE.skill), edited);
}

/// One of an earlier release is not an edited one.
#[test]
fn an_older_skill_is_replaced() {
    let world = World::new();
    let fnv = |text: &str| {
        let step =
            |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
    };
    let older = "---\nname: sessions\ndescription: As it was.\n---\n";
    let marked = format!(
        "{older}\n<!-- session-context install {:016x}: kept -->\n",
        fnv(older)
    );
    world.write(CLAUDE.skill, &marked);
    let done = world.context(&["install", "claude"]).run().success();
    assert!(
        done.out()
            .contains("\nskill  updated in ~/.claude/skills/sessions/SKILL.md\n"),
        "{}",
        done.out()
    );
    assert!(world.read(CLAUDE.skill).starts_with(SKILL));
    world.write(CLAUDE.skill, &marked);
    world.context(&["uninstall", "claude"]).run().success();
    assert!(!world.path(CLAUDE.skill).exists());
}

/// Codex reads skills in `~/.agents` only, and the others there, too: they warn of a skill that they find twice.
#[test]
fn agents_that_read_the_same_place_share_one_skill() {
    let shared = ".agents/skills/sessions/SKILL.md";
    let skills = |world: &World| {
        let all = snapshot(world)
            .into_keys()
            .filter(|path| path.ends_with("sessions/SKILL.md"));
        all.map(|path| {
            path.strip_prefix(world.path(""))
                .expect("below HOME")
                .display()
                .to_string()
        })
        .collect::<Vec<_>>()
    };
    for order in [
        ["codex", "gemini", "pi"],
        ["gemini", "pi", "codex"],
        ["pi", "codex", "gemini"],
    ] {
        let world = World::new();
        for called in order {
            world.context(&["install", called]).run().success();
        }
        assert_eq!(skills(&world), [shared], "{order:?}");
        // The last one takes it away.
        for called in &order[..2] {
            world.context(&["uninstall", called]).run().success();
            assert_eq!(skills(&world), [shared], "{order:?}");
        }
        world.context(&["uninstall", order[2]]).run().success();
        assert_eq!(snapshot(&world).len(), 1, "{order:?}: only `work` is left");
    }
    // Two that do not read it where HOME is, if they live elsewhere.
    for (called, variable) in [("copilot", "COPILOT_HOME"), ("gemini", "GEMINI_CLI_HOME")] {
        let world = World::new();
        world.context(&["install", "codex"]).run().success();
        world
            .context(&["install", called])
            .env(variable, world.path("moved"))
            .run()
            .success();
        assert_eq!(skills(&world).len(), 2, "{called}");
    }
    // Claude Code does not read it.
    let world = World::new();
    world.context(&["install", "codex"]).run().success();
    world.context(&["install", "claude"]).run().success();
    assert_eq!(skills(&world), [shared, CLAUDE.skill]);
    let done = world.context(&["install", "pi"]).run().success();
    assert!(
        done.out()
            .contains("\nskill  already installed in ~/.agents/skills/sessions/SKILL.md\n"),
        "{}",
        done.out()
    );
    let done = world.context(&["uninstall", "codex"]).run().success();
    assert!(
        done.out()
            .ends_with("\nskill  ~/.agents/skills/sessions/SKILL.md is kept for pi\n"),
        "{}",
        done.out()
    );
}

/// What `--print` and the question announce is what is then done, for agents that share a skill, too.
#[test]
fn what_is_announced_is_done() {
    let world = World::new();
    for dir in [".codex", ".copilot", ".gemini", ".pi/agent", ".qwen"] {
        std::fs::create_dir_all(world.path(dir)).expect("a directory");
    }
    let shared = "~/.agents/skills/sessions/SKILL.md";
    let skills = |args: &[&str]| {
        let run = world.context(args).run();
        let lines = run.out().lines().filter(|line| line.contains("SKILL.md"));
        lines.map(|line| line.trim().to_owned()).collect::<Vec<_>>()
    };
    let expected = |first: &str, others: &str| {
        let others = vec![format!("{others} {shared}"); 4];
        [vec![format!("{first} {shared}")], others].concat()
    };
    // Nothing is installed yet.
    let would = expected("would write the skill to", "would use the skill in");
    assert_eq!(skills(&["install"]), would);
    assert_eq!(skills(&["install", "--all", "--print"]), would);
    assert_eq!(skills(&["install", "--all", "--dry-run"]), would);
    assert_eq!(
        skills(&["install", "--all"]),
        expected("skill  written to", "skill  already installed in")
    );
    assert_eq!(
        skills(&["uninstall", "codex", "pi", "--print"]),
        [format!("skill  {shared} is kept for copilot, gemini, qwen"),]
    );
    assert_eq!(
        skills(&["uninstall", "--all", "--print"]),
        [format!("would remove {shared}")]
    );
    assert_eq!(
        skills(&["uninstall", "--all"]),
        [format!("skill  removed {shared}")]
    );
    assert!(
        snapshot(&world).keys().all(|path| !path.is_file()),
        "nothing is left"
    );
}

/// Uninstall finds what is installed, whether the agent's own directory is there or not.
#[test]
fn uninstall_finds_agents_that_are_gone() {
    let world = World::new();
    std::fs::create_dir_all(world.path("work")).expect("a directory");
    for called in ALL {
        world
            .context(&["install", "--project", called])
            .run()
            .success();
    }
    assert!(world.path("work/.qwen/settings.json").is_file() && !world.path(".qwen").exists());
    let all = "claude|codex|copilot|gemini|pi|qwen";
    let choose =
        "choose: session-context uninstall --project --all, or session-context uninstall --project";
    world
        .context(&["uninstall", "--project"])
        .run()
        .status(2)
        .stderr(&format!("session-context: {choose} {all}\n"));
    world
        .context(&["uninstall", "--project", "--all"])
        .run()
        .success();
    assert!(
        snapshot(&world).keys().all(|path| !path.is_file()),
        "{:?}",
        snapshot(&world).keys()
    );
}

/// What the packages for Claude Code and Pi say is true of this repository.
#[test]
fn the_packages_fit_the_repository() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| -> Value {
        let text =
            fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
    };
    let (plugin, market, package) = (
        read(".claude-plugin/plugin.json"),
        read(".claude-plugin/marketplace.json"),
        read("package.json"),
    );
    let [portable, gemini, qwen] = [
        "plugin.json",
        "gemini-extension.json",
        "qwen-extension.json",
    ]
    .map(read);
    for manifest in [&plugin, &package, &portable, &gemini, &qwen] {
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(manifest["name"], env!("CARGO_PKG_NAME"));
    }
    // All of them start the same server.
    let servers = read("mcp.json")["mcpServers"].clone();
    let server = &servers["session-monitor"];
    for file in ["hooks", "mcpServers"] {
        let path = plugin[file].as_str().expect("a path");
        assert!(root.join(path).exists(), "{path}");
    }
    for extension in [&gemini, &qwen] {
        let same = &extension["mcpServers"]["session-monitor"];
        assert_eq!(
            (&same["command"], &same["args"]),
            (&server["command"], &server["args"])
        );
    }
    let registry = read("server.json");
    assert_eq!(registry["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(
        registry["packages"][0]["version"],
        env!("CARGO_PKG_VERSION")
    );
    let codex = &read(".agents/plugins/marketplace.json")["plugins"][0];
    assert_eq!(
        (&codex["name"], &codex["source"]),
        (&plugin["name"], &json!({"source": "local", "path": "./"}))
    );
    assert_eq!(
        (
            &market["plugins"][0]["name"],
            &market["plugins"][0]["source"]
        ),
        (&plugin["name"], &json!("./"))
    );
    for kind in ["extensions", "skills"] {
        let path = package["pi"][kind][0].as_str().expect("a path");
        assert!(root.join(path).exists(), "{path}");
    }
    let hooks = read("hooks/claude.json");
    let events: Vec<&String> = hooks["hooks"]
        .as_object()
        .expect("an object")
        .keys()
        .collect();
    assert_eq!(events, ["SessionStart", "UserPromptSubmit"]);
}

/// The plugin brings no program. Without one, prompts go through in silence, and the start of a session says what to do.
#[test]
fn the_plugin_without_the_program_harms_nothing() {
    let hooks: Value = serde_json::from_str(include_str!("../../hooks/claude.json")).expect("JSON");
    let world = World::new();
    let run = |event: &str, path: &str| {
        let hook = &hooks["hooks"][event][0]["hooks"][0];
        assert_eq!(hook["timeout"], 2);
        let output = Command::new("/bin/sh")
            .args(["-c", hook["command"].as_str().expect("a command")])
            .env_clear()
            .env("HOME", world.path(""))
            .env("PATH", path)
            .stdin(Stdio::null())
            .output()
            .expect("a shell");
        assert!(output.status.success(), "{output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert_eq!(run("UserPromptSubmit", "/nonexistent"), "");
    let said: Value = serde_json::from_str(&run("SessionStart", "/nonexistent")).expect("JSON");
    let keys: Vec<&String> = said.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["systemMessage"]);

    let fake = world.write(".cargo/bin/session-context", "#!/bin/sh\necho \"ran $*\"\n");
    fs::set_permissions(fake, fs::Permissions::from_mode(0o755)).expect("a mode");
    for event in ["UserPromptSubmit", "SessionStart"] {
        assert_eq!(run(event, "/nonexistent"), "ran --agent agent-sdk\n");
    }
}

/// Whatever mask the user has, nobody else may write what is installed.
#[test]
fn an_open_mask_opens_nothing() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let world = World::new();
    // SAFETY: one system call.
    let open = |command: &mut std::process::Command| unsafe {
        _ = command.pre_exec(|| Ok(_ = libc::umask(0)));
    };
    for args in [
        &["install", "claude", "codex", "pi"][..],
        &["install", "claude", "--project"],
        &["pin", "it is so"],
    ] {
        world.context(args).alter(open).run().success();
    }
    let mut made = 0;
    for entry in walkdir::WalkDir::new(world.path(""))
        .min_depth(1)
        .into_iter()
        .map(|entry| entry.expect("an entry"))
    {
        let mode = entry.metadata().expect("there").permissions().mode();
        if entry.path() != world.path("work") {
            assert_eq!(mode & 0o022, 0, "{mode:o} {}", entry.path().display());
            made += 1;
        }
    }
    assert!(made > 10, "{made}");
}

/// A link in a clone leads wherever its author wants.
#[test]
fn no_link_of_a_project_is_followed() {
    for link in [
        ".claude",
        ".claude/settings.json",
        ".claude/skills",
        ".agents",
    ] {
        let world = World::new();
        let (place, mine) = (world.path("work").join(link), world.path("mine"));
        std::fs::create_dir_all(place.parent().expect("a parent")).expect("directories");
        match link.ends_with("json") {
            true => drop(world.write("mine", "{}\n")),
            false => std::fs::create_dir(&mine).expect("a directory"),
        }
        std::os::unix::fs::symlink(&mine, &place).expect("a link");
        for command in ["install", "uninstall"] {
            let done = world
                .context(&[command, "claude", "--project"])
                .run()
                .status(2);
            assert!(
                done.err().contains(&format!(
                    "/work/{link}: is a link, which is not followed in a project"
                )),
                "{}",
                done.err()
            );
        }
        match link.ends_with("json") {
            true => assert_eq!(std::fs::read_to_string(&mine).expect("a file"), "{}\n"),
            false => assert_eq!(std::fs::read_dir(&mine).expect("a directory").count(), 0),
        }
    }
}
