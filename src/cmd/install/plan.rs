//! The plan of an install or uninstall: what changes in which file, and how that is told. `files` carries it out.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::files::{self, Changes, Trouble};
use super::json::{Json, member};
use super::site::{Level, Site};
use super::texts::{self, SkillState};
use super::{Stage, hook};
use crate::format::Known;
use crate::format::install::FileKind;

#[derive(Default)]
pub struct Plan {
    pub changes: Changes,
    /// The report after it is carried out.
    pub done: Vec<String>,
    /// The report of `--print`, with the text that would be written.
    pub would: Vec<(String, Option<String>)>,
    pub notes: Vec<String>,
}

impl Plan {
    fn step(&mut self, done: String, would: String, text: Option<String>) {
        self.done.push(done);
        self.would.push((would, text));
    }

    /// Reports something that does not change.
    fn stays(&mut self, line: String) {
        self.step(line.clone(), line, None);
    }

    fn note(&mut self, note: &str) {
        self.notes.push(format!("note   {note}"));
    }

    pub fn show(&self, stage: &mut Stage) -> io::Result<()> {
        for (line, text) in &self.would {
            writeln!(stage.out, "{}", stage.gate.text(line))?;
            stage.out.write_all(stage.gate.hide(text.as_deref().unwrap_or_default()).as_bytes())?;
        }
        self.notes.iter().try_for_each(|note| writeln!(stage.out, "{}", stage.gate.text(note)))
    }
}

/// The agents of one command, of which one is planned at a time. Where plans are only shown, a plan counts on those before
/// it, as if they were carried out.
pub struct Batch<'a> {
    pub all: &'a [Known],
    /// The agents that are still to come, the next one last.
    pub after: Vec<String>,
    /// The agents whose plans were shown, and whether the files in these plans would be there.
    before: Vec<String>,
    planned: BTreeMap<PathBuf, bool>,
}

impl<'a> Batch<'a> {
    pub fn new(agents: &[String], all: &'a [Known]) -> Batch<'a> {
        Batch { all, after: agents.iter().rev().cloned().collect(), before: Vec::new(), planned: BTreeMap::new() }
    }

    /// Counts a plan as carried out.
    pub fn assume(&mut self, agent: &str, plan: &Plan) {
        self.before.push(agent.into());
        self.planned.extend(plan.changes.outcome().map(|(path, there)| (path.into(), there)));
    }

    fn skill_state(&self, path: &Path) -> Result<(SkillState, Option<Vec<u8>>), Trouble> {
        match self.planned.get(path) {
            Some(true) => Ok((SkillState::Current, None)),
            Some(false) => Ok((SkillState::Absent, None)),
            None => texts::skill_state(path),
        }
    }
}

/// The content of a file, and its new content if that differs.
type Rewrite = (Option<Vec<u8>>, Option<String>);

impl Site<'_> {
    pub fn plan_install(&self, batch: &Batch, plan: &mut Plan) -> Result<(), Trouble> {
        let unknown = |error: io::Error| Trouble::new(Path::new("session-context"), error.to_string());
        let program = self.env.program().map_err(unknown)?;
        let not_text = || Trouble::new(&program, "this path of the program is not UTF-8 text, and settings are");
        let program = program.to_str().ok_or_else(not_text)?;
        let (before, after) = match self.install.kind {
            FileKind::PiExtension => self.plan_extension(program, plan)?,
            FileKind::Settings | FileKind::Own => self.plan_hook(program, plan)?,
        };
        self.plan_skill(batch, plan)?;
        if let Some(after) = after {
            plan.changes.write(&self.file(), before, after);
        }
        self.plan_notes(plan);
        Ok(())
    }

    fn plan_hook(&self, program: &str, plan: &mut Plan) -> Result<Rewrite, Trouble> {
        let path = self.file();
        let shown = self.tilde(&path);
        let by_hand = |trouble: Trouble| {
            let project = if self.level == Level::Project { " --project" } else { "" };
            let print = format!("session-context install {}{project} --print", self.known.label());
            trouble.with(&format!("correct that and run this again, or write in by hand what `{print}` shows"))
        };
        // If the file cannot be changed, `--print` still shows what to add.
        let usual = hook::fragment(self, |_| hook::command(self, program)).map_err(by_hand)?;
        plan.would.push((format!("would add to {shown}:"), Some(usual)));
        let before = files::read(&path)?;
        let mut json = Json::parse(&path, before.as_deref().unwrap_or_default()).map_err(by_hand)?;
        let blank = before.as_deref().is_none_or(|before| before.trim_ascii().is_empty());
        if self.owns_file() && !blank && hook::entries(&json, self.install).is_empty() {
            return Err(not_ours(&path));
        }
        let update = hook::add(&mut json, self, program).map_err(by_hand)?;
        plan.would.pop();

        let after = Some(json.text()).filter(|after| before.as_deref() != Some(after.as_bytes()));
        let entries = hook::entries(&json, self.install);
        let of_event = |event: &str| entries.iter().find(|entry| entry.event == event);
        let command = |event: &str| of_event(event).map(|entry| entry.command.clone()).unwrap_or_default();
        let fragment = hook::fragment(self, command).map_err(by_hand)?;
        let mut details = self.events().collect::<Vec<_>>().join(", ");
        if after.is_some() && update.moved.is_empty() {
            details = update.added.join(", ");
        }
        if !update.moved.is_empty() {
            details += &format!("; was {}", update.moved.join(" and "));
        }
        if !update.flags.is_empty() {
            details += &format!("; your flags are kept: {}", update.flags.join(" and "));
        }
        let (did, would) = match (&after, update.moved.is_empty()) {
            (None, _) => ("already installed in", "already installed in"),
            (Some(_), true) => ("added to", "would add to"),
            (Some(_), false) => ("updated in", "would update in"),
        };
        let would = format!("{would} {shown} ({details}):");
        let backup = self.backup();
        let has_backup = self.owns_file() || fs::symlink_metadata(&backup).is_ok();
        if let (Some(before), Some(_), false) = (&before, &after, has_backup) {
            plan.changes.copy(&path, before, &backup);
            details += &format!("; backup {}", backup.file_name().unwrap_or_default().to_string_lossy());
        }
        plan.step(format!("hook   {did} {shown} ({details})"), would, Some(fragment));
        Ok((before, after))
    }

    fn plan_extension(&self, program: &str, plan: &mut Plan) -> Result<Rewrite, Trouble> {
        let path = self.file();
        let (shown, text) = (self.tilde(&path), texts::extension(program));
        let before = files::read(&path)?;
        if before.as_deref().is_some_and(|before| !texts::is_extension(before)) {
            return Err(not_ours(&path));
        }
        // A link that the user made stays, and so does the file it leads to.
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

    fn plan_skill(&self, batch: &Batch, plan: &mut Plan) -> Result<(), Trouble> {
        let (own, shared) = (self.own_skill(), self.shared_skill());
        if let (Some(place), SkillState::Absent) = (self.packaged(), batch.skill_state(&own)?.0) {
            plan.stays(format!("skill  comes with {place}"));
            return Ok(());
        }
        let reads_shared = self.shares_skill() && own != shared && batch.skill_state(&shared)?.0.is_ours();
        self.plan_skill_at(if reads_shared { &shared } else { &own }, batch, plan)?;
        let copies: Vec<Site> = match (reads_shared, own == shared) {
            (true, _) => vec![*self],
            (_, true) => self.others(batch.all).filter(Site::shares_skill).collect(),
            _ => vec![],
        };
        for copy in copies.iter().map(Site::own_skill).filter(|copy| *copy != shared) {
            if batch.skill_state(&copy)?.0.is_ours() {
                self.plan_removal("skill", &copy, &format!(": {} is read instead", self.tilde(&shared)), plan);
            }
        }
        Ok(())
    }

    fn plan_skill_at(&self, path: &Path, batch: &Batch, plan: &mut Plan) -> Result<(), Trouble> {
        let shown = self.tilde(path);
        let (state, before) = batch.skill_state(path)?;
        match state {
            SkillState::Current => plan.stays(format!("skill  already installed in {shown}")),
            SkillState::Theirs => plan.stays(format!("skill  {shown} is not as it was installed, and is kept")),
            SkillState::Absent | SkillState::Older => {
                let did = if state == SkillState::Older { "updated in" } else { "written to" };
                plan.step(format!("skill  {did} {shown}"), format!("would write the skill to {shown}"), None);
                plan.changes.write(path, before, texts::skill());
            }
        }
        Ok(())
    }

    fn plan_notes(&self, plan: &mut Plan) {
        let name = self.name();
        let dir = self.at(Level::User).dir();
        if !dir.is_dir() {
            plan.note(&format!("{} was not there; is {name} installed?", self.tilde(&dir)));
        }
        let (off, unreadable) = self.switched_off();
        for place in off {
            plan.note(&format!("hooks are switched off by {place}; ours will not run until that is changed"));
        }
        for trouble in unreadable {
            plan.note(&format!("{trouble}; whether it switches hooks off is not known"));
        }
        self.install.notes.iter().for_each(|note| plan.note(note));
        if self.level == Level::Project {
            let here = self.tilde(&self.env.cwd);
            let note = self.install.project_note.as_deref().unwrap_or("reads it only if you trust {here} there");
            plan.note(&format!("{name} {}", note.replace("{here}", &here)));
            plan.note("it has a path of this machine in it, so it is better not committed");
        }
        for place in self.also() {
            plan.note(&format!("{place} runs the hook, too; harmless: the second finds nothing new"));
        }
    }

    pub fn plan_uninstall(&self, batch: &Batch, plan: &mut Plan) -> Result<(), Trouble> {
        let was_there = self.plan_hook_removal(plan)?;
        if !was_there {
            plan.stays(format!("hook   not installed in {}", self.tilde(&self.file())));
        }
        self.plan_skill_removal(was_there, batch, plan)?;
        for place in self.also() {
            plan.note(&format!("{place} still runs the hook"));
        }
        Ok(())
    }

    fn plan_hook_removal(&self, plan: &mut Plan) -> Result<bool, Trouble> {
        let (path, backup) = (self.file(), self.backup());
        let Some(before) = files::read(&path)? else { return Ok(false) };
        if self.install.kind == FileKind::PiExtension {
            if !texts::is_extension(&before) {
                return Err(not_ours(&path));
            }
            self.plan_removal("hook ", &path, "", plan);
            return Ok(true);
        }
        let refused = |trouble: Trouble| trouble.with("correct that and run this again");
        let mut json = Json::parse(&path, &before).map_err(refused)?;
        let entries = hook::entries(&json, self.install);
        if entries.is_empty() {
            return Ok(false);
        }
        let kept = if self.owns_file() { None } else { files::read(&backup)? };
        let original = kept.filter(|kept| hook::is_made_of(kept, &json.text(), self, &entries));
        let events = hook::take_out(&mut json, self).map_err(refused)?.join(", ");
        // Without a backup, install made the file.
        let empty = if self.owns_file() {
            member(&json.top, "hooks").is_none()
        } else {
            json.is_empty() && fs::symlink_metadata(&backup).is_err() && !path.is_symlink()
        };
        if empty {
            self.plan_removal("hook ", &path, "", plan);
            return Ok(true);
        }
        let mut from = format!("from {} ({events})", self.tilde(&path));
        if original.is_some() {
            from += ", which is as it was before";
            plan.changes.remove(&backup);
        }
        plan.step(format!("hook   removed {from}"), format!("would remove the hook {from}"), None);
        plan.changes.write(&path, Some(before), original.unwrap_or_else(|| json.text().into()));
        Ok(true)
    }

    fn plan_skill_removal(&self, had_hook: bool, batch: &Batch, plan: &mut Plan) -> Result<(), Trouble> {
        let (own, shared) = (self.own_skill(), self.shared_skill());
        let reads_shared = |other: &Site| {
            let copy = other.own_skill();
            // Unreadable settings may have the hook.
            other.shares_skill() && (copy == shared || !copy.exists()) && other.has_hook().unwrap_or(true)
        };
        let is_of = |agents: &[String], other: &Site| agents.iter().any(|agent| other.known.is_called(agent));
        let mut readers: Vec<Site> = self.others(batch.all).filter(reads_shared).collect();
        readers.retain(|other| !is_of(&batch.before, other));
        match batch.skill_state(&own)?.0 {
            SkillState::Absent => {}
            SkillState::Theirs => {
                plan.stays(format!("skill  {} is not as it was installed, and is kept", self.tilde(&own)));
            }
            SkillState::Current | SkillState::Older if own == shared && !readers.is_empty() => {
                // The last of those that are still to come takes it away.
                let stay = readers.iter().filter(|other| !is_of(&batch.after, other));
                let stay: Vec<&str> = stay.map(|other| other.known.label()).collect();
                if !stay.is_empty() {
                    plan.stays(format!("skill  {} is kept for {}", self.tilde(&own), stay.join(", ")));
                }
            }
            SkillState::Current | SkillState::Older => self.plan_removal("skill", &own, "", plan),
        }
        // The last agent that read the shared skill takes it away.
        let last = had_hook && self.shares_skill() && own != shared && readers.is_empty();
        if last && batch.skill_state(&shared)?.0.is_ours() {
            self.plan_removal("skill", &shared, "", plan);
        }
        Ok(())
    }

    /// Plans to remove a file of ours, and says why if that needs saying.
    fn plan_removal(&self, what: &str, path: &Path, why: &str, plan: &mut Plan) {
        let shown = self.tilde(path) + why;
        plan.step(format!("{what}  removed {shown}"), format!("would remove {shown}"), None);
        plan.changes.remove(path);
    }
}

fn not_ours(path: &Path) -> Trouble {
    Trouble::new(path, "is there and is not ours; move it away and run this again")
}
