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
use crate::render::terminal::clean;
use agents::{Agent, Scope};
use files::{Changes, Trouble};
use site::Site;

pub use check::{Hook, check};

#[derive(Debug, Args)]
pub struct InstallArgs {
    /// claude, codex, copilot, gemini, pi or qwen
    pub agent: String,
    /// In the settings of this directory instead of the user's
    #[arg(long)]
    pub project: bool,
    /// Show what would be done, and do nothing
    #[arg(long)]
    pub print: bool,
}

pub fn install(args: &InstallArgs, stage: &mut Stage) -> io::Result<Exit> {
    run(args, stage, |site, plan| site.plan_install(plan))
}

pub fn uninstall(args: &InstallArgs, stage: &mut Stage) -> io::Result<Exit> {
    run(args, stage, |site, plan| site.plan_uninstall(plan))
}

fn run(
    args: &InstallArgs,
    stage: &mut Stage,
    make_plan: impl Fn(&Site, &mut Plan) -> Result<(), Trouble>,
) -> io::Result<Exit> {
    let known = stage.formats.iter().find(|format| format.is_called(&args.agent));
    let agent = known.and_then(|known| Some((Agent::of_format(&known.name)?, known.head().agent.clone())));
    // Its sessions are in Pi's format, but it has no place for Pi's extensions.
    let (Some((agent, name)), false) = (agent, args.agent.eq_ignore_ascii_case("openclaw")) else {
        let agents = "claude, codex, copilot, gemini, pi, qwen";
        stage.say(format_args!("there is no hook for '{}'; AGENT is one of {agents}", args.agent))?;
        return Ok(Exit::Trouble);
    };
    let scope = if args.project { Scope::Project } else { Scope::User };
    if args.project && agent.file(Scope::Project, stage.env) == agent.file(Scope::User, stage.env) {
        stage.say("in your home directory --project means the user's own settings; leave it out")?;
        return Ok(Exit::Trouble);
    }
    let site = Site { agent, name, called: &args.agent, scope, env: stage.env };
    let mut plan = Plan::default();
    let planned = make_plan(&site, &mut plan);
    if let Err(trouble) = &planned {
        stage.say(format_args!("{trouble}; nothing was changed"))?;
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
    for line in plan.done.iter().chain(&plan.notes).chain(&plan.next) {
        writeln!(stage.out, "{}", clean(line))?;
    }
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
    next: Option<String>,
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
