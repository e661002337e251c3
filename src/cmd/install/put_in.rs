//! What `install` does.

use std::fs;
use std::path::Path;

use super::agents::{Agent, Form, Scope};
use super::edit::{Fault, Json};
use super::files::{self, Trouble};
use super::site::{Site, not_ours};
use super::skill::{self, State};
use super::{Plan, extension, hook};

/// What a file is, and what it shall be if that is something else.
type Change = (Option<Vec<u8>>, Option<String>);

impl Site<'_> {
    pub fn plan_install(&self, plan: &mut Plan) -> Result<(), Trouble> {
        let program =
            self.env.program().map_err(|error| Trouble::new(Path::new("session-context"), error.to_string()))?;
        let not_text = || Trouble::new(&program, "this path of the program is not UTF-8 text, and settings are");
        let program = program.to_str().ok_or_else(not_text)?;
        let (before, after) = match self.agent.form {
            Form::Extension => self.plan_extension(program, plan)?,
            Form::Groups { .. } | Form::Flat => self.plan_hook(program, plan)?,
        };
        self.plan_skill(plan)?;
        if let Some(after) = after {
            plan.changes.write(&self.file(), before, after);
        }
        self.plan_notes(plan);
        if !plan.changes.is_empty() {
            plan.next = Some("New sessions have it; `session-context doctor` checks it.");
        }
        Ok(())
    }

    fn plan_hook(&self, program: &str, plan: &mut Plan) -> Result<Change, Trouble> {
        let (agent, path) = (self.agent, self.file());
        let shown = self.tilde(&path);
        let by_hand = |mut fault: Fault| {
            let project = if self.scope == Scope::Project { " --project" } else { "" };
            let print = format!("session-context install {}{project} --print", self.called);
            fault.why += &format!("; correct that and run this again, or write in by hand what `{print}` shows");
            Trouble::at(&path, fault)
        };
        // Where it cannot be done, it can still be shown.
        let usual = hook::fragment(agent, |_| hook::command(agent, program)).map_err(by_hand)?;
        plan.would.push((format!("would add to {shown}:"), Some(usual)));
        let before = files::read(&path)?;
        let mut json = Json::parse(before.as_deref().unwrap_or_default()).map_err(by_hand)?;
        let blank = before.as_deref().is_none_or(|before| before.trim_ascii().is_empty());
        if agent.owns_file() && !blank && hook::entries(&json.value, agent.form).is_empty() {
            return Err(not_ours(&path));
        }
        let outcome = hook::add(&mut json, agent, program).map_err(by_hand)?;
        plan.would.pop();

        let after = Some(json.text()).filter(|after| before.as_deref() != Some(after.as_bytes()));
        let entries = hook::entries(&json.value, agent.form);
        let of_event = |event: &str| entries.iter().find(|entry| entry.event == event);
        let command = |event: &str| of_event(event).map(|entry| entry.command.clone()).unwrap_or_default();
        let fragment = hook::fragment(agent, command).map_err(by_hand)?;
        let mut details = agent.events().join(", ");
        if after.is_some() && outcome.moved.is_empty() {
            details = outcome.added.join(", ");
        }
        if !outcome.moved.is_empty() {
            details += &format!("; was {}", outcome.moved.join(" and "));
        }
        if !outcome.flags.is_empty() {
            details += &format!("; your flags are kept: {}", outcome.flags.join(" and "));
        }
        let (did, would) = match (&after, outcome.moved.is_empty()) {
            (None, _) => ("already installed in", "already installed in"),
            (Some(_), true) => ("added to", "would add to"),
            (Some(_), false) => ("updated in", "would update in"),
        };
        let would = format!("{would} {shown} ({details}):");
        let backup = self.backup();
        let has_backup = agent.owns_file() || fs::symlink_metadata(&backup).is_ok();
        if let (Some(before), Some(_), false) = (&before, &after, has_backup) {
            plan.changes.copy(&path, before, &backup);
            details += &format!("; backup {}", backup.file_name().unwrap_or_default().to_string_lossy());
        }
        plan.step(format!("hook   {did} {shown} ({details})"), would, Some(fragment));
        Ok((before, after))
    }

    fn plan_extension(&self, program: &str, plan: &mut Plan) -> Result<Change, Trouble> {
        let path = self.file();
        let (shown, text) = (self.tilde(&path), extension::text(program));
        let before = files::read(&path)?;
        if before.as_deref().is_some_and(|before| !extension::is_ours(before)) {
            return Err(not_ours(&path));
        }
        // Who made a link to it keeps it where the link leads.
        if path.is_symlink() && before.is_some() {
            plan.stays(format!("hook   already installed in {shown}, a link"));
            return Ok((before, None));
        }
        let (did, would) = match &before {
            None => ("written to", "would write"),
            Some(before) if before == text.as_bytes() => ("already installed in", "already installed in"),
            Some(_) => ("updated in", "would replace"),
        };
        plan.step(format!("hook   {did} {shown}"), format!("{would} {shown}:"), Some(text.clone()));
        let after = Some(text).filter(|text| before.as_deref() != Some(text.as_bytes()));
        Ok((before, after))
    }

    fn plan_skill(&self, plan: &mut Plan) -> Result<(), Trouble> {
        let (agent, scope, env) = (self.agent, self.scope, self.env);
        let (own, shared) = (skill::own(agent, scope, env), skill::shared(scope, env));
        if let (Some(place), State::Absent) = (self.packaged(), skill::state(&own)?.0) {
            plan.stays(format!("skill  comes with {place}"));
            return Ok(());
        }
        let reads_shared = agent.shares(scope, env) && own != shared && skill::state(&shared)?.0.is_ours();
        self.plan_skill_at(if reads_shared { &shared } else { &own }, plan)?;
        // Copies that are not needed any more.
        let copies: Vec<&Agent> = match (reads_shared, own == shared) {
            (true, _) => vec![agent],
            (_, true) => {
                Agent::all().iter().filter(|other| other.shares(scope, env) && other.format != agent.format).collect()
            }
            _ => vec![],
        };
        for other in copies {
            let copy = skill::own(other, scope, env);
            if matches!(skill::state(&copy), Ok((state, _)) if state.is_ours()) {
                let why = format!("{}: {} is read instead", self.tilde(&copy), self.tilde(&shared));
                plan.step(format!("skill  removed {why}"), format!("would remove {why}"), None);
                plan.changes.remove(&copy, &other.base(scope, env));
            }
        }
        Ok(())
    }

    fn plan_skill_at(&self, path: &Path, plan: &mut Plan) -> Result<(), Trouble> {
        let shown = self.tilde(path);
        let (state, before) = skill::state(path)?;
        let did = match state {
            State::Absent => "written to",
            State::Older => "updated in",
            State::Current => {
                plan.stays(format!("skill  already installed in {shown}"));
                return Ok(());
            }
            State::Theirs => {
                plan.stays(format!("skill  {shown} is not as it was installed, and is kept"));
                return Ok(());
            }
        };
        plan.step(format!("skill  {did} {shown}"), format!("would write the skill to {shown}"), None);
        plan.changes.write(path, before, skill::text());
        Ok(())
    }

    fn plan_notes(&self, plan: &mut Plan) {
        let (agent, name, env) = (self.agent, &self.name, self.env);
        let dir = agent.dir(Scope::User, env);
        if !dir.is_dir() {
            plan.note(&format!("{} was not there; is {name} installed?", self.tilde(&dir)));
        }
        for place in self.switched_off() {
            plan.note(&format!("hooks are switched off by {place}; ours will not run until that is changed"));
        }
        if agent.format == "codex" {
            plan.note("Codex runs a hook only after you trusted it: start `codex`, run `/hooks`, trust the entry");
            plan.note("trust it again whenever its command changes; `codex exec` skips an untrusted hook silently");
        }
        if self.scope == Scope::Project {
            let here = self.tilde(&env.cwd);
            plan.note(&match agent.format {
                "agent-sdk" => format!("{name} reads it only in sessions that start in {here} itself, not below it"),
                _ => format!("{name} reads it only if you trust {here} there"),
            });
            plan.note("the path of the program on this machine is in it: better not committed");
        }
        for place in self.also() {
            plan.note(&format!("{place} runs the hook, too; harmless: the second finds nothing new"));
        }
    }
}
