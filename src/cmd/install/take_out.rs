//! What `uninstall` does.

use std::fs;
use std::path::Path;

use super::agents::{Agent, Form, Scope};
use super::edit::{Fault, Json};
use super::files::{self, Trouble};
use super::site::{Site, has_hook, not_ours};
use super::skill::{self, State};
use super::{Plan, extension, hook};

impl Site<'_> {
    pub fn plan_uninstall(&self, plan: &mut Plan) -> Result<(), Trouble> {
        let was_there = match self.agent.form {
            Form::Extension => self.plan_extension_removal(plan)?,
            Form::Groups { .. } | Form::Flat => self.plan_hook_removal(plan)?,
        };
        if !was_there {
            plan.stays(format!("hook   not installed in {}", self.tilde(&self.file())));
        }
        self.plan_skill_removal(was_there, plan)?;
        for place in self.also() {
            plan.note(&format!("{place} still runs the hook"));
        }
        Ok(())
    }

    fn plan_extension_removal(&self, plan: &mut Plan) -> Result<bool, Trouble> {
        let path = self.file();
        match files::read(&path)? {
            None => Ok(false),
            Some(found) if !extension::is_ours(&found) => Err(not_ours(&path)),
            Some(_) => {
                self.plan_removal("hook ", &path, plan);
                Ok(true)
            }
        }
    }

    fn plan_hook_removal(&self, plan: &mut Plan) -> Result<bool, Trouble> {
        let (agent, path, backup) = (self.agent, self.file(), self.backup());
        let Some(before) = files::read(&path)? else { return Ok(false) };
        let refused = |mut fault: Fault| {
            fault.why += "; correct that and run this again";
            Trouble::at(&path, fault)
        };
        let mut json = Json::parse(&before).map_err(refused)?;
        let entries = hook::entries(&json.value, agent.form);
        if entries.is_empty() {
            return Ok(false);
        }
        let kept = if agent.owns_file() { None } else { files::read(&backup)? };
        let original = kept.filter(|kept| hook::is_made_of(kept, &json.text(), agent, &entries));
        let events = hook::take_out(&mut json, agent).map_err(refused)?.join(", ");
        // Without a backup there was nothing before.
        let empty = match agent.form {
            Form::Flat => json.value.get("hooks").is_none(),
            _ => json.is_empty() && fs::symlink_metadata(&backup).is_err() && !path.is_symlink(),
        };
        if empty {
            self.plan_removal("hook ", &path, plan);
            return Ok(true);
        }
        let mut from = format!("from {} ({events})", self.tilde(&path));
        if original.is_some() {
            from += ", which is as it was before";
            plan.changes.remove(&backup, &agent.base(self.scope, self.env));
        }
        plan.step(format!("hook   removed {from}"), format!("would remove the hook {from}"), None);
        plan.changes.write(&path, Some(before), original.unwrap_or_else(|| json.text().into()));
        Ok(true)
    }

    fn plan_skill_removal(&self, had_hook: bool, plan: &mut Plan) -> Result<(), Trouble> {
        let (agent, scope, env) = (self.agent, self.scope, self.env);
        let (own, shared) = (skill::own(agent, scope, env), skill::shared(scope, env));
        let needs_shared = |other: &&Agent| {
            let copy = skill::own(other, scope, env);
            let reads = other.shares(scope, env) && (copy == shared || !copy.exists());
            other.format != agent.format && reads && has_hook(other, scope, env)
        };
        let readers: Vec<&str> = Agent::all().iter().filter(needs_shared).map(|other| other.format).collect();
        match skill::state(&own)?.0 {
            State::Absent => {}
            State::Theirs => {
                plan.stays(format!("skill  {} is not as it was installed, and is kept", self.tilde(&own)));
            }
            State::Current | State::Older if own == shared && !readers.is_empty() => {
                plan.stays(format!("skill  {} is kept for {}", self.tilde(&own), readers.join(", ")));
            }
            State::Current | State::Older => self.plan_removal("skill", &own, plan),
        }
        // The last one to leave takes it away.
        let last = had_hook && agent.shares(scope, env) && own != shared && readers.is_empty();
        if last && skill::state(&shared)?.0.is_ours() {
            self.plan_removal("skill", &shared, plan);
        }
        Ok(())
    }

    /// Plans to remove a file of ours.
    fn plan_removal(&self, what: &str, path: &Path, plan: &mut Plan) {
        let shown = self.tilde(path);
        plan.step(format!("{what}  removed {shown}"), format!("would remove {shown}"), None);
        let shared = path == skill::shared(self.scope, self.env) && self.scope == Scope::User;
        let base = if shared { self.env.home.clone() } else { self.agent.base(self.scope, self.env) };
        plan.changes.remove(path, &base);
    }
}
