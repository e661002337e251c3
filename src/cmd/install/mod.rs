//! `session-context install` and `uninstall`: the hook and the skill, in an agent's own settings.
//!
//! First everything is read and a plan is made; a file that is not as expected ends it there, untouched. Then the plan is
//! shown or carried out, the settings last, so that an agent never finds a hook without what belongs to it.

mod agents;
mod check;
mod edit;
mod extension;
mod files;
mod hook;
mod put_in;
mod site;
mod skill;
mod take_out;

use std::io;

use clap::Args;

use super::{Exit, Stage};
use crate::env::Env;
use crate::format::Known;
use crate::render::terminal::clean;
use agents::{Agent, Scope};
use files::{Changes, Trouble};
use site::Site;

pub use check::{Hook, check};

#[derive(Debug, Args)]
pub struct InstallArgs {
    /// claude, codex, copilot, gemini, pi or qwen [default: ask]
    #[arg(value_name = "AGENT")]
    pub agents: Vec<String>,
    /// Every agent found on this machine
    #[arg(long, conflicts_with = "agents")]
    pub all: bool,
    /// Use the settings of this directory instead of yours
    #[arg(long)]
    pub project: bool,
    /// Only show what would change
    #[arg(long)]
    pub print: bool,
}

type MakePlan = fn(&Site, &mut Plan) -> Result<(), Trouble>;

pub fn install(args: &InstallArgs, stage: &mut Stage) -> io::Result<Exit> {
    run("install", args, stage, |site, plan| site.plan_install(plan))
}

pub fn uninstall(args: &InstallArgs, stage: &mut Stage) -> io::Result<Exit> {
    run("uninstall", args, stage, |site, plan| site.plan_uninstall(plan))
}

fn run(command: &str, args: &InstallArgs, stage: &mut Stage, make_plan: MakePlan) -> io::Result<Exit> {
    let found: Vec<String>;
    let agents = if args.agents.is_empty() {
        found = found_here(stage);
        if found.is_empty() {
            stage.say(format_args!("no agent was found on this machine; name one: session-context {command} AGENT"))?;
            return Ok(Exit::Nothing);
        }
        if !args.all
            && !args.print
            && let Some(refused) = confirm(command, &found, args, stage, make_plan)?
        {
            return Ok(refused);
        }
        &found
    } else {
        &args.agents
    };
    let (mut exit, mut next) = (Exit::Found, None);
    for agent in agents {
        exit = exit.max(one(agent, args, stage, make_plan, &mut next)?);
    }
    if let Some(next) = next {
        writeln!(stage.out, "{next}")?;
    }
    Ok(exit)
}

/// The agents whose directory is there, as they are called on screen.
fn found_here(stage: &Stage) -> Vec<String> {
    let is_here = |agent: &&Agent| agent.dir(Scope::User, stage.env).is_dir();
    Agent::all().iter().filter(is_here).map(|agent| super::label(stage.formats, agent.format).to_owned()).collect()
}

/// Shows what would be done for each agent, and asks. Where nobody can answer, it says how to go on.
fn confirm(
    command: &str,
    found: &[String],
    args: &InstallArgs,
    stage: &mut Stage,
    make_plan: MakePlan,
) -> io::Result<Option<Exit>> {
    writeln!(stage.out, "Agents found on this machine:")?;
    for name in found {
        let (plan, planned) = plan(name, args, stage, make_plan);
        writeln!(stage.out, "{name}")?;
        let lines = plan.would.iter().map(|(line, _)| line.trim_end_matches(':').to_owned());
        for line in lines.chain(planned.err()) {
            writeln!(stage.out, "    {}", clean(&line))?;
        }
    }
    if stage.look.height.is_none() || !stage.env.has_terminal() {
        stage.out.flush()?;
        let names = found.join("|");
        stage.say(format_args!("choose: session-context {command} --all, or session-context {command} {names}"))?;
        return Ok(Some(Exit::Trouble));
    }
    write!(stage.out, "{} all of them? [y/N] ", if command == "install" { "Set up" } else { "Clean up" })?;
    stage.out.flush()?;
    Ok((!matches!(&*stage.env.answer(), "y" | "yes")).then_some(Exit::Nothing))
}

/// What is to be done for an agent, and what stands against it.
fn plan(called: &str, args: &InstallArgs, stage: &Stage, make_plan: MakePlan) -> (Plan, Result<(), String>) {
    let mut plan = Plan::default();
    let planned = site(called, args, stage.formats, stage.env)
        .and_then(|site| make_plan(&site, &mut plan).map_err(|trouble| format!("{trouble}; nothing was changed")));
    (plan, planned)
}

fn site<'s>(called: &'s str, args: &InstallArgs, formats: &[Known], env: &'s Env) -> Result<Site<'s>, String> {
    let known = formats.iter().find(|format| format.is_called(called));
    let agent = known.and_then(|known| Some((Agent::of_format(&known.name)?, known.head().agent.clone())));
    // Its sessions are in Pi's format, but it has no place for Pi's extensions.
    let (Some((agent, name)), false) = (agent, called.eq_ignore_ascii_case("openclaw")) else {
        let agents = "claude, codex, copilot, gemini, pi, qwen";
        return Err(format!("there is no hook for '{called}'; AGENT is one of {agents}"));
    };
    if args.project && agent.file(Scope::Project, env) == agent.file(Scope::User, env) {
        return Err("in your home directory --project means the user's own settings; leave it out".into());
    }
    let scope = if args.project { Scope::Project } else { Scope::User };
    Ok(Site { agent, name, called, scope, env })
}

fn one(
    called: &str,
    args: &InstallArgs,
    stage: &mut Stage,
    make_plan: MakePlan,
    next: &mut Option<&'static str>,
) -> io::Result<Exit> {
    let (plan, planned) = plan(called, args, stage, make_plan);
    if let Err(trouble) = &planned {
        stage.say(trouble)?;
    }
    if args.print {
        plan.show(stage)?;
    }
    if planned.is_err() || args.print {
        return Ok(if planned.is_err() { Exit::Trouble } else { Exit::Found });
    }
    if let Err(trouble) = plan.changes.carry_out() {
        stage.say(trouble)?;
        return Ok(Exit::Trouble);
    }
    for line in plan.done.iter().chain(&plan.notes) {
        writeln!(stage.out, "{}", clean(line))?;
    }
    *next = next.or(plan.next);
    Ok(Exit::Found)
}

/// What is to be done, and how it is told.
#[derive(Default)]
struct Plan {
    changes: Changes,
    /// What was done, once it is done.
    done: Vec<String>,
    /// What would be done, with the text that would be written.
    would: Vec<(String, Option<String>)>,
    notes: Vec<String>,
    /// What to do next, once it is done.
    next: Option<&'static str>,
}

impl Plan {
    fn step(&mut self, done: String, would: String, text: Option<String>) {
        self.done.push(done);
        self.would.push((would, text));
    }

    /// Something that is as it should be, or is left as it is.
    fn stays(&mut self, line: String) {
        self.step(line.clone(), line, None);
    }

    fn note(&mut self, note: &str) {
        self.notes.push(format!("note   {note}"));
    }

    fn show(&self, stage: &mut Stage) -> io::Result<()> {
        for (line, text) in &self.would {
            writeln!(stage.out, "{}", clean(line))?;
            stage.out.write_all(text.as_deref().unwrap_or_default().as_bytes())?;
        }
        self.notes.iter().try_for_each(|note| writeln!(stage.out, "{}", clean(note)))
    }
}
