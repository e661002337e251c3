//! Where each agent keeps its hooks and skills. What is proven about it is in the tests of the real clients; a new agent
//! is a line in a table here.

use std::path::PathBuf;

use crate::env::Env;

/// When the hook runs. One line: without `Start` nothing is installed for the start of a session.
pub const MOMENTS: [Moment; 2] = [Moment::Prompt, Moment::Start];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    Prompt,
    Start,
}

#[derive(Debug)]
pub struct Agent {
    /// The format that its sessions are in.
    pub format: &'static str,
    /// Where its files are: a variable, the default, and a directory below either.
    dir: (&'static str, &'static str, &'static str),
    /// The same in a project.
    project: &'static str,
    /// The file that the hook is in.
    file: &'static str,
    pub form: Form,
    prompt: &'static str,
    start: &'static str,
    /// How its settings switch hooks off: the file, the path of keys, and the value.
    pub off: &'static [(&'static str, &'static [&'static str], bool)],
    shares: Shares,
}

/// Whether an agent reads skills in `.agents`, too. Those that do warn of a skill that is in both places.
#[derive(Debug, PartialEq, Eq)]
enum Shares {
    No,
    Yes,
    /// Not in HOME if its own directory is elsewhere.
    UnlessMoved,
}

/// What a hook looks like in an agent's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `{"hooks": {EVENT: [{"hooks": [{"type": "command", "command": …, "timeout": …}]}]}}` in settings
    Groups { timeout: u32 },
    /// `{"version": 1, "hooks": {EVENT: [{"type": "command", "bash": …, "timeoutSec": …}]}}` in a file of our own
    Flat,
    /// A program in a file of our own
    Extension,
}

/// For one user, or for one directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    User,
    Project,
}

const AGENTS: [Agent; 6] = [
    Agent {
        format: "agent-sdk",
        dir: ("CLAUDE_CONFIG_DIR", "~/.claude", ""),
        project: ".claude",
        file: "settings.json",
        form: Form::Groups { timeout: 2 },
        prompt: "UserPromptSubmit",
        start: "SessionStart",
        off: &[("settings.json", &["disableAllHooks"], true), ("settings.local.json", &["disableAllHooks"], true)],
        shares: Shares::No,
    },
    Agent {
        format: "codex",
        dir: ("CODEX_HOME", "~/.codex", ""),
        project: ".codex",
        file: "hooks.json",
        form: Form::Groups { timeout: 2 },
        prompt: "UserPromptSubmit",
        start: "SessionStart",
        off: &[],
        shares: Shares::Yes,
    },
    Agent {
        format: "copilot",
        dir: ("COPILOT_HOME", "~/.copilot", ""),
        project: ".github",
        file: "hooks/session-monitor.json",
        form: Form::Flat,
        prompt: "userPromptSubmitted",
        start: "sessionStart",
        off: &[("settings.json", &["disableAllHooks"], true), ("config.json", &["disableAllHooks"], true)],
        shares: Shares::UnlessMoved,
    },
    Agent {
        format: "gemini",
        dir: ("GEMINI_CLI_HOME", "~", ".gemini"),
        project: ".gemini",
        file: "settings.json",
        form: Form::Groups { timeout: 2000 },
        prompt: "BeforeAgent",
        start: "SessionStart",
        off: &[("settings.json", &["hooksConfig", "enabled"], false)],
        shares: Shares::UnlessMoved,
    },
    Agent {
        format: "pi",
        dir: ("PI_CODING_AGENT_DIR", "~/.pi/agent", ""),
        project: ".pi",
        file: "extensions/session-context.ts",
        form: Form::Extension,
        prompt: "before_agent_start",
        start: "before_agent_start",
        off: &[],
        shares: Shares::Yes,
    },
    Agent {
        format: "qwen",
        dir: ("QWEN_HOME", "~/.qwen", ""),
        project: ".qwen",
        file: "settings.json",
        // Milliseconds in old versions; new ones take seconds, and 1000 or more for milliseconds.
        form: Form::Groups { timeout: 2000 },
        prompt: "UserPromptSubmit",
        start: "SessionStart",
        off: &[("settings.json", &["disableAllHooks"], true)],
        shares: Shares::Yes,
    },
];

impl Agent {
    pub fn all() -> &'static [Agent] {
        &AGENTS
    }

    pub fn of_format(format: &str) -> Option<&'static Agent> {
        AGENTS.iter().find(|agent| agent.format == format)
    }

    /// The directory of its settings.
    pub fn dir(&self, scope: Scope, env: &Env) -> PathBuf {
        let (variable, default, below) = self.dir;
        match scope {
            Scope::Project => env.cwd.join(self.project),
            Scope::User => {
                let dir =
                    env.var(variable).map_or_else(|| env.expand(default), |dir| env.expand(&dir.to_string_lossy()));
                if below.is_empty() { dir } else { dir.join(below) }
            }
        }
    }

    /// The directory that stays, whatever is removed in it.
    pub fn base(&self, scope: Scope, env: &Env) -> PathBuf {
        let dir = self.dir(scope, env);
        let home = if scope == Scope::User { &env.home } else { &env.cwd };
        if dir.starts_with(home) { home.clone() } else { dir }
    }

    /// The file that the hook is in.
    pub fn file(&self, scope: Scope, env: &Env) -> PathBuf {
        self.dir(scope, env).join(self.file)
    }

    /// Whether it reads skills in `.agents`, too.
    pub fn shares(&self, scope: Scope, env: &Env) -> bool {
        match self.shares {
            Shares::No => false,
            Shares::Yes => true,
            Shares::UnlessMoved => scope == Scope::Project || !env.is_set(self.dir.0),
        }
    }

    /// Whether the file with the hook is ours alone.
    pub fn owns_file(&self) -> bool {
        !matches!(self.form, Form::Groups { .. })
    }

    pub fn event(&self, moment: Moment) -> &'static str {
        match moment {
            Moment::Prompt => self.prompt,
            Moment::Start => self.start,
        }
    }

    /// The events that the hook runs at.
    pub fn events(&self) -> Vec<&'static str> {
        let mut events: Vec<_> = MOMENTS.iter().map(|moment| self.event(*moment)).collect();
        events.dedup();
        events
    }
}
