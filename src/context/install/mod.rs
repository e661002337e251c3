//! `session-context install` and `uninstall`: the hook and the skill, in an agent's own settings.
//!
//! It reads everything first and makes a plan; a file that is not as expected ends it there, unchanged. Then it shows the
//! plan or carries it out, the settings last, so that an agent never finds a hook whose files are missing.

mod check;
mod files;
mod hook;
mod json;
mod mcp;
mod plan;
mod site;
mod status;
#[cfg(test)]
#[allow(clippy::too_many_lines, reason = "a table of cases is long")]
mod tests;
mod texts;

use std::io;

use clap::Args;

use super::{Exit, Problem, Stage};
use files::{Created, Trouble};
use plan::{Batch, Plan};
use session_core::env::Env;
use session_core::formats::AgentFormat;
use site::{Level, Site};

pub use check::{HookState, check, check_mcp, check_statusline, lacks_live};

#[derive(Debug, Args)]
pub struct InstallArgs {
    #[command(flatten)]
    pub agents: AgentArgs,
    #[command(flatten)]
    pub extras: Extras,
    /// Only show how your shell completes commands, flags and names
    #[arg(long, exclusive = true, display_order = 12)]
    pub shell: bool,
}

/// What `uninstall` takes, too.
#[derive(Debug, Args)]
pub struct AgentArgs {
    /// claude, codex, copilot, gemini, pi or qwen [default: ask]
    #[arg(value_name = "AGENT")]
    agents: Vec<String>,
    /// Every agent found on this machine
    #[arg(long, conflicts_with = "agents")]
    all: bool,
    /// Use the settings of this directory instead of yours
    #[arg(long, display_order = 10)]
    project: bool,
    /// Only show what would change
    #[arg(long, alias = "dry-run", display_order = 11)]
    print: bool,
}

/// What can only be added.
#[derive(Debug, Args)]
pub struct Extras {
    /// Show who needs you in the agent's status line, too
    #[arg(long, conflicts_with = "project")]
    statusline: bool,
    /// Note what the agent is doing, where its own files don't tell
    #[arg(long)]
    live: bool,
    /// Let the agent look into sessions with tools, too (MCP)
    #[arg(long, conflicts_with = "project")]
    mcp: bool,
}

impl AgentArgs {
    fn level(&self) -> Level {
        if self.project {
            Level::Project
        } else {
            Level::User
        }
    }
}

#[derive(Clone, Copy)]
struct Request<'a> {
    args: &'a AgentArgs,
    /// None to uninstall.
    install: Option<&'a Extras>,
}

const SHELL: &str = "\
Packages bring completions and man pages along. Otherwise add one line:
bash, in ~/.bashrc:
    source <(session-reader completions bash)
zsh, in ~/.zshrc after compinit:
    source <(session-reader completions zsh)
fish, in ~/.config/fish/config.fish:
    session-reader completions fish | source
";

/// Shows where completions go. Shells are set up by their users, so nothing is written.
pub fn shell(stage: &mut Stage) -> Result<Exit, Problem> {
    stage.out.write_all(SHELL.as_bytes())?;
    Ok(Exit::Found)
}

/// Installs; without extras, uninstalls.
pub fn run(args: &AgentArgs, install: Option<&Extras>, stage: &mut Stage) -> Result<Exit, Problem> {
    Request { args, install }.run(stage)
}

impl Request<'_> {
    fn command(self) -> &'static str {
        if self.install.is_some() {
            "session-context install"
        } else {
            "session-context uninstall"
        }
    }

    fn run(self, stage: &mut Stage) -> Result<Exit, Problem> {
        let args = self.args;
        let mut agents = args.agents.clone();
        if agents.is_empty() {
            agents = self.found(stage);
            if agents.is_empty() {
                let command = self.command();
                return Problem::nothing(format!(
                    "no agent was found on this machine; name one: {command} AGENT"
                ));
            }
            if !args.all
                && !args.print
                && let Some(refused) = self.confirm(&agents, stage)?
            {
                return Ok(refused);
            }
        }
        let (mut exit, mut changed) = (Exit::Found, false);
        let mut batch = Batch::new(&agents, stage.formats);
        while let Some(agent) = batch.after.pop() {
            let (one, did) = self.run_for(&agent, &mut batch, stage)?;
            (exit, changed) = (exit.max(one), changed || did);
        }
        if changed && self.install.is_some() {
            writeln!(
                stage.out,
                "New sessions have it; `session-context doctor` checks it."
            )?;
        }
        Ok(exit)
    }

    /// The agents whose directory is there, as they are called on screen; to uninstall, also those that have something of
    /// ours without it.
    fn found(self, stage: &Stage) -> Vec<String> {
        let is_found = |site: &Site| {
            let here = site.at(self.args.level());
            site.dir().is_dir()
                || self.install.is_none()
                    && (here.has_hook().unwrap_or(true) || here.own_skill().exists())
        };
        let sites = stage
            .formats
            .iter()
            .filter_map(|known| Site::new(known, Level::User, stage.env));
        sites
            .filter(is_found)
            .map(|site| site.known.label().to_owned())
            .collect()
    }

    /// Shows what would be done for each agent, and asks. Without a terminal to ask on, it says how to go on.
    fn confirm(self, found: &[String], stage: &mut Stage) -> io::Result<Option<Exit>> {
        writeln!(stage.out, "Agents found on this machine:")?;
        let mut batch = Batch::new(found, stage.formats);
        while let Some(name) = batch.after.pop() {
            let (plan, planned) = self.plan(&name, &batch, stage);
            batch.assume(&name, &plan);
            writeln!(stage.out, "{name}")?;
            let lines = plan
                .would
                .iter()
                .map(|(line, _)| line.trim_end_matches(':').to_owned());
            for line in lines.chain(planned.err()) {
                writeln!(stage.out, "    {}", stage.gate.text(&line))?;
            }
        }
        if stage.style.height.is_none() || !stage.env.has_terminal() {
            stage.out.flush()?;
            let project = if self.args.project { " --project" } else { "" };
            let command = self.command().to_owned() + project;
            stage.say(format_args!(
                "choose: {command} --all, or {command} {}",
                found.join("|")
            ));
            return Ok(Some(Exit::Trouble));
        }
        let verb = if self.install.is_some() {
            "Set up"
        } else {
            "Clean up"
        };
        write!(stage.out, "{verb} all of them? [y/N] ")?;
        stage.out.flush()?;
        Ok((!matches!(&*stage.env.answer(), "y" | "yes")).then_some(Exit::Nothing))
    }

    /// The plan for an agent, as far as it goes, and what stands against it.
    fn plan(self, called: &str, batch: &Batch, stage: &Stage) -> (Plan, Result<(), String>) {
        let mut plan = Plan::default();
        let planned = site(called, self.args, stage.formats, stage.env).and_then(|site| {
            let planned = match self.install {
                Some(extras) => site.plan_install(extras, batch, &mut plan),
                None => site.plan_uninstall(batch, &mut plan),
            };
            planned.map_err(unchanged)
        });
        (plan, planned)
    }

    /// Shows the plan for an agent, or carries it out and returns whether that changed anything.
    fn run_for(
        self,
        called: &str,
        batch: &mut Batch,
        stage: &mut Stage,
    ) -> io::Result<(Exit, bool)> {
        let (plan, planned) = self.plan(called, batch, stage);
        let failed = planned.is_err();
        stage.say_all(planned.err());
        if self.args.print {
            plan.show(stage)?;
            batch.assume(called, &plan);
        }
        if failed {
            return Ok((Exit::Trouble, false));
        }
        if self.args.print {
            return Ok((Exit::Found, false));
        }
        let changes = !plan.changes.is_empty();
        if let Err(trouble) = plan.changes.carry_out(&Created::new(stage.env)) {
            stage.say(trouble);
            return Ok((Exit::Trouble, false));
        }
        for line in plan.done.iter().chain(&plan.notes) {
            writeln!(stage.out, "{}", stage.gate.text(line))?;
        }
        Ok((Exit::Found, changes))
    }
}

fn unchanged(trouble: Trouble) -> String {
    format!("{trouble}; nothing was changed")
}

fn site<'s>(
    called: &str,
    args: &AgentArgs,
    formats: &'s [AgentFormat],
    env: &'s Env,
) -> Result<Site<'s>, String> {
    let is_meant = |site: &Site| {
        let mut excluded = site.install.not_for.iter();
        site.known.is_called(called) && !excluded.any(|name| name.eq_ignore_ascii_case(called))
    };
    let sites = || {
        formats
            .iter()
            .filter_map(|known| Site::new(known, args.level(), env))
    };
    let site = sites().find(is_meant).ok_or_else(|| {
        let agents: Vec<&str> = sites().map(|site| site.known.label()).collect();
        format!(
            "there is no hook for '{called}'; AGENT is one of {}",
            agents.join(", ")
        )
    })?;
    site.check_place().map_err(unchanged)?;
    if args.project && site.file() == site.at(Level::User).file() {
        return Err(
            "in your home directory --project means the user's own settings; leave it out".into(),
        );
    }
    Ok(site)
}
