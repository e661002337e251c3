//! The plan of an install or uninstall: what changes in which file, and how that is told. `files` carries it out.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::files::{self, Changes, Created, Trouble};
use super::hook::{self, Job};
use super::json::Json;
use super::mcp::{self, Toml};
use super::site::{Level, Site, backup, backups, is_toml};
use super::texts::{self, SkillState};
use super::{Extras, Stage, status};
use session_core::formats::AgentFormat;
use session_format::format::install::{FileKind, McpServers};
use session_format::path::{base_name, shell_word};

/// Verbs of a report: after a step was carried out, and before.
const ALREADY: (&str, &str) = ("already installed in", "already installed in");
const ADDED: (&str, &str) = ("added to", "would add to");
const UPDATED: (&str, &str) = ("updated in", "would update in");

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
            stage.out.write_all(
                stage
                    .gate
                    .hide(text.as_deref().unwrap_or_default())
                    .as_bytes(),
            )?;
        }
        self.notes
            .iter()
            .try_for_each(|note| writeln!(stage.out, "{}", stage.gate.text(note)))
    }
}

/// The agents of one command, of which one is planned at a time. Where plans are only shown, a plan counts on those before
/// it, as if they were carried out.
pub struct Batch<'a> {
    pub all: &'a [AgentFormat],
    /// The agents that are still to come, the next one last.
    pub after: Vec<String>,
    /// The agents whose plans were shown, and whether the files in these plans would be there.
    before: Vec<String>,
    planned: BTreeMap<PathBuf, bool>,
}

impl<'a> Batch<'a> {
    pub fn new(agents: &[String], all: &'a [AgentFormat]) -> Batch<'a> {
        Batch {
            all,
            after: agents.iter().rev().cloned().collect(),
            before: Vec::new(),
            planned: BTreeMap::new(),
        }
    }

    /// Counts a plan as carried out.
    pub fn assume(&mut self, agent: &str, plan: &Plan) {
        self.before.push(agent.into());
        self.planned.extend(
            plan.changes
                .outcome()
                .map(|(path, there)| (path.into(), there)),
        );
    }

    fn skill_state(&self, path: &Path) -> Result<(SkillState, Option<Vec<u8>>), Trouble> {
        match self.planned.get(path) {
            Some(true) => Ok((SkillState::Current, None)),
            Some(false) => Ok((SkillState::Absent, None)),
            None => texts::skill_state(path),
        }
    }
}

/// A file that is changed: its content, and its new content if that differs.
struct Rewrite {
    path: PathBuf,
    before: Option<Vec<u8>>,
    after: Option<String>,
}

impl Rewrite {
    fn new(path: PathBuf, before: Option<Vec<u8>>, after: String) -> Rewrite {
        let is_new = before.as_deref() != Some(after.as_bytes());
        Rewrite {
            path,
            before,
            after: is_new.then_some(after),
        }
    }

    /// The content as planned so far.
    fn text(&self) -> &[u8] {
        self.after
            .as_deref()
            .map(str::as_bytes)
            .or(self.before.as_deref())
            .unwrap_or_default()
    }
}

/// What of ours a file has.
#[derive(Debug, Default, PartialEq)]
struct Ours {
    hook: bool,
    line: bool,
    server: bool,
}

/// The rest of a file without ours.
pub struct Rest {
    pub json: Json,
    /// The events that the hook was there for.
    events: Vec<String>,
    /// Nobody but us has changed the file since the copy of it was made.
    pub is_as_before: bool,
}

impl Site<'_> {
    pub fn plan_install(
        &self,
        extras: &Extras,
        batch: &Batch,
        plan: &mut Plan,
    ) -> Result<(), Trouble> {
        let program = self
            .env
            .program()
            .map_err(files::trouble(Path::new(hook::NAME)))?;
        let not_text = "this path of the program is not UTF-8 text, and settings are";
        let program = program
            .to_str()
            .ok_or_else(|| Trouble::new(&program, not_text))?;
        let hook = match self.install.kind {
            FileKind::PiExtension => self.plan_extension(program, extras.live, plan)?,
            FileKind::Settings | FileKind::Own => self.plan_hook(program, extras.live, plan)?,
        };
        let mut rewrites = vec![hook];
        self.plan_statusline(program, extras.statusline, &mut rewrites, plan)?;
        self.plan_mcp(program, extras.mcp, &mut rewrites, plan)?;
        self.plan_skill(batch, plan)?;
        for rewrite in rewrites {
            if let Some(after) = rewrite.after {
                plan.changes.write(&rewrite.path, rewrite.before, after);
            }
        }
        self.plan_notes(extras, plan);
        Ok(())
    }

    fn plan_hook(&self, program: &str, live: bool, plan: &mut Plan) -> Result<Rewrite, Trouble> {
        let path = self.file();
        let shown = self.tilde(&path);
        let by_hand = |trouble: Trouble| {
            let project = if self.level == Level::Project {
                " --project"
            } else {
                ""
            };
            let print = format!(
                "session-context install {}{project} --print",
                self.known.label()
            );
            trouble.with(&format!(
                "correct that and run this again, or write in by hand what `{print}` shows"
            ))
        };
        // If the file cannot be changed, `--print` still shows what to add.
        let usual = hook::command(self, program, Job::Tell);
        let usual = hook::fragment(self, Job::Tell, |_| usual.clone()).map_err(by_hand)?;
        plan.would
            .push((format!("would add to {shown}:"), Some(usual)));
        let before = files::read(&path)?;
        let mut json =
            Json::parse(&path, before.as_deref().unwrap_or_default()).map_err(by_hand)?;
        let entries = hook::entries(&json, self.install);
        if self.owns_file() && before.is_some() && entries.is_empty() {
            return Err(not_ours(&path));
        }
        let live = live || entries.iter().any(|entry| entry.job == Job::Live);
        let jobs = if live {
            &[Job::Tell, Job::Live][..]
        } else {
            &[Job::Tell]
        };
        let update = hook::add(&mut json, self, program, jobs).map_err(by_hand)?;
        plan.would.pop();

        let rewrite = Rewrite::new(path, before, json.text());
        let entries = hook::entries(&json, self.install);
        for job in jobs {
            let all: Vec<&str> = self.events_of(*job).collect();
            let added = update.added.iter().filter(|(_, of)| of == job);
            let added: Vec<&str> = added.map(|(event, _)| &**event).collect();
            let command = |event: &str| {
                let is_it = |entry: &&hook::OurEntry| entry.event == event && entry.job == *job;
                let entry = entries.iter().find(is_it);
                entry.map(|entry| entry.command.clone()).unwrap_or_default()
            };
            let fragment = hook::fragment(self, *job, command).map_err(by_hand)?;
            let is_moved = !update.moved.is_empty();
            let mut details = if added.is_empty() || is_moved {
                all.join(", ")
            } else {
                added.join(", ")
            };
            if is_moved {
                details += &format!("; was {}", update.moved.join(" and "));
            }
            if !update.flags.is_empty() {
                details += &format!("; your flags are kept: {}", update.flags.join(" and "));
            }
            let (did, would) = match (added.is_empty(), is_moved) {
                _ if all.is_empty() => continue,
                (true, false) => ALREADY,
                (false, false) => ADDED,
                (_, true) => UPDATED,
            };
            let would = format!("{would} {shown} ({details}):");
            if rewrite.after.is_some() && !self.owns_file() {
                details += &self.plan_backup(&rewrite, plan);
            }
            let name = if *job == Job::Tell { "hook" } else { "live" };
            plan.step(
                format!("{name}   {did} {shown} ({details})"),
                would,
                Some(fragment),
            );
        }
        Ok(rewrite)
    }

    /// Plans to keep a copy of the user's file, and says so. A file that has something of ours in it is not copied: it is
    /// not what uninstall has to bring back.
    fn plan_backup(&self, rewrite: &Rewrite, plan: &mut Plan) -> String {
        let path = &rewrite.path;
        let free = backups(path).find(|backup| fs::symlink_metadata(backup).is_err());
        let is_planned = |backup: &PathBuf| plan.changes.outcome().any(|(path, _)| path == backup);
        match (&rewrite.before, free) {
            (Some(before), Some(backup))
                if self.is_theirs(path, before) && !is_planned(&backup) =>
            {
                plan.changes.copy(path, before, &backup);
                format!("; backup {}", base_name(&backup.to_string_lossy()))
            }
            _ => String::new(),
        }
    }

    /// Puts our status line in if that is wanted, or brings it up to date.
    fn plan_statusline(
        &self,
        program: &str,
        wanted: bool,
        rewrites: &mut Vec<Rewrite>,
        plan: &mut Plan,
    ) -> Result<(), Trouble> {
        let Some((path, line)) = self.statusline().filter(|_| self.level == Level::User) else {
            return Ok(());
        };
        let by_hand = |trouble: Trouble| trouble.with("correct that and run this again");
        if rewrites.iter().all(|rewrite| rewrite.path != path) {
            let has_ours = |before: &Vec<u8>| {
                Json::parse(&path, before).is_ok_and(|json| status::find(&json, line).is_some())
            };
            // A file with nothing of ours need not be valid.
            let before = files::read(&path);
            if !wanted && !matches!(&before, Ok(Some(before)) if has_ours(before)) {
                return Ok(());
            }
            rewrites.push(Rewrite {
                before: before?,
                path: path.clone(),
                after: None,
            });
        }
        let Some(rewrite) = rewrites.iter_mut().find(|rewrite| rewrite.path == path) else {
            return Ok(());
        };
        let mut json = Json::parse(&path, rewrite.text()).map_err(by_hand)?;
        let was = status::find(&json, line);
        if !wanted && was.is_none() {
            return Ok(());
        }
        status::put(&mut json, line, program).map_err(by_hand)?;
        let theirs = status::find(&json, line).and_then(|ours| ours.theirs);
        let (did, would) = match &was {
            Some(ours) if ours.program == program => ALREADY,
            Some(_) => UPDATED,
            None => ADDED,
        };
        let shown = self.tilde(&path);
        let mut details = String::new();
        if theirs.is_some() {
            details += "; yours is shown above it";
        }
        if json.text().as_bytes() != rewrite.text() {
            details += &self.plan_backup(rewrite, plan);
            rewrite.after = Some(json.text());
        }
        let text = status::command(program, theirs.as_deref()) + "\n";
        plan.step(
            format!("status {did} {shown}{details}"),
            format!("status {would} {shown}:"),
            Some(text),
        );
        Ok(())
    }

    /// Puts our MCP server in if that is wanted, or brings it up to date.
    fn plan_mcp(
        &self,
        program: &str,
        wanted: bool,
        rewrites: &mut Vec<Rewrite>,
        plan: &mut Plan,
    ) -> Result<(), Trouble> {
        let Some((path, servers)) = self.mcp().filter(|_| self.level == Level::User) else {
            return Ok(());
        };
        let by_hand = |trouble: Trouble| trouble.with("correct that and run this again");
        let index = rewrites.iter().position(|rewrite| rewrite.path == path);
        let mut rewrite = match index {
            Some(index) => rewrites.remove(index),
            None => match files::read(&path) {
                // A file with nothing of ours need not be readable.
                Err(_) if !wanted => return Ok(()),
                before => Rewrite {
                    before: before?,
                    path: path.clone(),
                    after: None,
                },
            },
        };
        let planned = self.plan_server(program, wanted, servers, &mut rewrite, plan);
        rewrites.insert(index.unwrap_or(rewrites.len()), rewrite);
        match planned {
            Err(_) if !wanted && index.is_none() => Ok(()),
            planned => planned.map_err(by_hand),
        }
    }

    fn plan_server(
        &self,
        program: &str,
        wanted: bool,
        servers: &McpServers,
        rewrite: &mut Rewrite,
        plan: &mut Plan,
    ) -> Result<(), Trouble> {
        let reader = Path::new(program).with_file_name(mcp::PROGRAM);
        let (was, after) = server_in(&reader.to_string_lossy(), servers, rewrite)?;
        if !wanted && was.is_none() {
            return Ok(());
        }
        if wanted && !reader.is_file() {
            return Err(Trouble::new(
                &reader,
                "is not there; install it beside session-context",
            ));
        }
        let (did, would) = match &was {
            Some(was) if **was == *reader.to_string_lossy() => ALREADY,
            Some(_) => UPDATED,
            None => ADDED,
        };
        let shown = self.tilde(&rewrite.path);
        let mut details = String::new();
        if after.as_bytes() != rewrite.text() {
            // A file that the agent itself keeps writing would not be the same for long.
            if !servers.in_home && !is_toml(&rewrite.path) {
                details = self.plan_backup(rewrite, plan);
            }
            rewrite.after = Some(after);
        }
        plan.step(
            format!("mcp    {did} {shown}{details}"),
            format!("mcp    {would} {shown}:"),
            Some(format!("{} mcp\n", shell_word(&reader.to_string_lossy()))),
        );
        Ok(())
    }

    fn plan_extension(
        &self,
        program: &str,
        live: bool,
        plan: &mut Plan,
    ) -> Result<Rewrite, Trouble> {
        let path = self.file();
        let before = files::read(&path)?;
        let live = live || before.as_deref().is_some_and(texts::is_live);
        let (shown, text) = (self.tilde(&path), texts::extension(program, live));
        if matches!(&before, Some(before) if !texts::is_extension(before)) {
            return Err(not_ours(&path));
        }
        // A link that the user made stays, and so does the file it leads to.
        if path.is_symlink() && before.is_some() {
            plan.stays(format!("hook   already installed in {shown}, a link"));
            return Ok(Rewrite {
                path,
                before,
                after: None,
            });
        }
        let (did, would) = match &before {
            None => ("written to", "would write"),
            Some(before) if before == text.as_bytes() => ALREADY,
            Some(_) => ("updated in", "would replace"),
        };
        plan.step(
            format!("hook   {did} {shown}"),
            format!("{would} {shown}:"),
            Some(text.clone()),
        );
        Ok(Rewrite::new(path, before, text))
    }

    fn plan_skill(&self, batch: &Batch, plan: &mut Plan) -> Result<(), Trouble> {
        let (own, shared) = (self.own_skill(), self.shared_skill());
        if let (Some(place), SkillState::Absent) = (self.packaged(), batch.skill_state(&own)?.0) {
            plan.stays(format!("skill  comes with {place}"));
            return Ok(());
        }
        // In HOME, other agents than those that are known here read it, too.
        let in_shared = batch.skill_state(&shared)?.0;
        let is_there =
            in_shared.is_ours() || in_shared == SkillState::Absent && self.level == Level::User;
        let reads_shared = self.shares_skill() && own != shared && is_there;
        self.plan_skill_at(if reads_shared { &shared } else { &own }, batch, plan)?;
        let copies: Vec<Site> = match (reads_shared, own == shared) {
            (true, _) => vec![*self],
            (_, true) => self.others(batch.all).filter(Site::shares_skill).collect(),
            _ => vec![],
        };
        for copy in copies
            .iter()
            .map(Site::own_skill)
            .filter(|copy| *copy != shared)
        {
            if batch.skill_state(&copy)?.0.is_ours() {
                self.plan_removal(
                    "skill",
                    &copy,
                    &format!(": {} is read instead", self.tilde(&shared)),
                    plan,
                );
            }
        }
        Ok(())
    }

    fn plan_skill_at(&self, path: &Path, batch: &Batch, plan: &mut Plan) -> Result<(), Trouble> {
        let shown = self.tilde(path);
        let (state, before) = batch.skill_state(path)?;
        match state {
            // It is written for an agent before this one.
            SkillState::Current if batch.planned.contains_key(path) => {
                plan.stays(format!("would use the skill in {shown}"));
            }
            SkillState::Current => plan.stays(format!("skill  already installed in {shown}")),
            SkillState::Theirs => plan.stays(format!(
                "skill  {shown} is not as it was installed, and is kept"
            )),
            SkillState::Absent | SkillState::Older => {
                let did = if state == SkillState::Older {
                    "updated in"
                } else {
                    "written to"
                };
                plan.step(
                    format!("skill  {did} {shown}"),
                    format!("would write the skill to {shown}"),
                    None,
                );
                plan.changes.write(path, before, texts::skill());
            }
        }
        Ok(())
    }

    fn plan_notes(&self, extras: &Extras, plan: &mut Plan) {
        let name = self.name();
        if extras.statusline && self.install.statusline.is_none() {
            plan.note(&format!("{name} has no status line for commands"));
        }
        if extras.mcp && self.install.mcp.is_none() {
            plan.note(&format!(
                "{name} has no MCP servers; its skill runs session-reader"
            ));
        }
        if extras.live && self.known.live().hook.is_none() {
            plan.note(&format!(
                "{name} needs nothing for its live state: its own files tell it"
            ));
        }
        let dir = self.at(Level::User).dir();
        if !dir.is_dir() {
            plan.note(&format!(
                "{} was not there; is {name} installed?",
                self.tilde(&dir)
            ));
        }
        let (off, unreadable) = self.switched_off();
        for place in off {
            plan.note(&format!(
                "hooks are switched off by {place}; ours will not run until that is changed"
            ));
        }
        for trouble in unreadable {
            plan.note(&format!(
                "{trouble}; whether it switches hooks off is not known"
            ));
        }
        self.install.notes.iter().for_each(|note| plan.note(note));
        if self.level == Level::Project {
            let here = self.tilde(&self.env.cwd);
            let note = self
                .install
                .project_note
                .as_deref()
                .unwrap_or("reads it only if you trust {here} there");
            plan.note(&format!("{name} {}", note.replace("{here}", &here)));
            plan.note("it has a path of this machine in it, so it is better not committed");
        }
        for place in self.also() {
            plan.note(&format!(
                "{place} runs the hook, too; harmless: the second finds nothing new"
            ));
        }
    }

    pub fn plan_uninstall(&self, batch: &Batch, plan: &mut Plan) -> Result<(), Trouble> {
        let was_there = self.plan_removal_from(&self.file(), plan)?;
        if !was_there {
            plan.stays(format!(
                "hook   not installed in {}",
                self.tilde(&self.file())
            ));
        }
        if let Some((path, _)) = self.statusline().filter(|(path, _)| *path != self.file())
            && let Err(trouble) = self.plan_removal_from(&path, plan)
        {
            plan.note(&format!("{trouble}; our status line may still be in it"));
        }
        if let Some((path, servers)) = self.mcp().filter(|(path, _)| *path != self.file())
            && let Err(trouble) = self.plan_server_removal(&path, servers, plan)
        {
            plan.note(&format!("{trouble}; our MCP server may still be in it"));
        }
        self.plan_skill_removal(was_there, batch, plan)?;
        for place in self.also() {
            plan.note(&format!("{place} still runs the hook"));
        }
        Ok(())
    }

    /// Plans to take our MCP server out of a file that has nothing else of ours.
    fn plan_server_removal(
        &self,
        path: &Path,
        servers: &McpServers,
        plan: &mut Plan,
    ) -> Result<(), Trouble> {
        if !is_toml(path) {
            return self.plan_removal_from(path, plan).map(drop);
        }
        let Some(before) = files::read(path)? else {
            return Ok(());
        };
        let text = String::from_utf8_lossy(&before).into_owned();
        let toml = Toml {
            path,
            text: &text,
            servers,
        };
        if toml.find()?.is_none() {
            return Ok(());
        }
        let after = toml.without()?;
        if after.is_empty() && Created::new(self.env).has_made(path) {
            self.plan_removal("mcp  ", &files::followed(path), "", plan);
            return Ok(());
        }
        let shown = self.tilde(path);
        plan.step(
            format!("mcp    removed from {shown}"),
            format!("would remove the MCP server from {shown}"),
            None,
        );
        plan.changes.write(path, Some(before), after);
        Ok(())
    }

    /// Plans to take all that is ours out of a file, and says whether it has the hook.
    fn plan_removal_from(&self, path: &Path, plan: &mut Plan) -> Result<bool, Trouble> {
        let Some(before) = files::read(path)? else {
            return Ok(false);
        };
        let is_hook_file = path == self.file();
        if is_hook_file && self.install.kind == FileKind::PiExtension {
            if !texts::is_extension(&before) {
                return Err(not_ours(path));
            }
            self.plan_removal("hook ", path, "", plan);
            return Ok(true);
        }
        let refused = |trouble: Trouble| trouble.with("correct that and run this again");
        let json = Json::parse(path, &before).map_err(refused)?;
        let Ours {
            hook: has_hook,
            line: has_line,
            server: has_server,
        } = self.ours(path, &json);
        if !has_hook && !has_line && !has_server {
            return Ok(false);
        }
        let owns_file = is_hook_file && self.owns_file();
        let is_made = Created::new(self.env).has_made(path);
        let mut backup = None;
        if !owns_file && !is_made {
            backup = self.backup(path)?;
        }
        let copy = backup.as_ref().map(|(_, bytes)| &**bytes);
        let rest = self.rest(path, json, copy).map_err(refused)?;
        // Where nothing is known about it, a file without a backup is one that install made.
        let goes = is_made || owns_file || backup.is_none() && !path.is_symlink();
        if goes && (rest.json.is_empty() || owns_file && self.is_bare(&rest.json)) {
            let target = if is_made {
                files::followed(path)
            } else {
                path.into()
            };
            let what = if has_hook {
                "hook "
            } else if has_line {
                "status"
            } else {
                "mcp  "
            };
            self.plan_removal(what, &target, "", plan);
            return Ok(has_hook);
        }
        let shown = self.tilde(path);
        let original = backup.filter(|_| rest.is_as_before);
        let as_before = if original.is_some() {
            ", which is as it was before"
        } else {
            ""
        };
        if has_hook {
            let from = format!("from {shown} ({}){as_before}", rest.events.join(", "));
            plan.step(
                format!("hook   removed {from}"),
                format!("would remove the hook {from}"),
                None,
            );
        }
        if has_line {
            let from = format!("from {shown}{as_before}");
            plan.step(
                format!("status removed {from}"),
                format!("would remove the status line {from}"),
                None,
            );
        }
        if has_server {
            let from = format!("from {shown}{as_before}");
            plan.step(
                format!("mcp    removed {from}"),
                format!("would remove the MCP server {from}"),
                None,
            );
        }
        let after = match original {
            Some((backup, bytes)) => {
                plan.changes.remove(&backup);
                bytes
            }
            None => rest.json.text().into(),
        };
        plan.changes.write(path, Some(before), after);
        Ok(has_hook)
    }

    /// The copy of the user's file, and its path.
    fn backup(&self, path: &Path) -> Result<Option<(PathBuf, Vec<u8>)>, Trouble> {
        let Some(backup) = backup(path) else {
            return Ok(None);
        };
        let bytes = files::read(&backup)?.filter(|bytes| self.is_theirs(path, bytes));
        Ok(bytes.map(|bytes| (backup, bytes)))
    }

    /// True if a text of a file is the user's alone.
    fn is_theirs(&self, path: &Path, bytes: &[u8]) -> bool {
        Json::parse(path, bytes).is_ok_and(|json| self.ours(path, &json) == Ours::default())
    }

    /// Our MCP server in one of the agent's files: where it stands, and the program that it runs.
    fn our_server(&self, path: &Path, json: &Json) -> Option<(&McpServers, String)> {
        let (_, servers) = self.mcp().filter(|(file, _)| file == path)?;
        Some((servers, mcp::find(json, servers)?))
    }

    fn ours(&self, path: &Path, json: &Json) -> Ours {
        Ours {
            hook: !self.entries(path, json).is_empty(),
            line: self.our_line(path, json).is_some(),
            server: self.our_server(path, json).is_some(),
        }
    }

    /// True if a document has nothing but the version that we put beside our entries.
    fn is_bare(&self, json: &Json) -> bool {
        let text: String = json.text().split_whitespace().collect();
        self.install
            .version
            .is_some_and(|version| text == format!("{{\"version\":{version}}}"))
    }

    /// Takes ours out of a document, of which there may be a copy from before we came.
    pub fn rest(&self, path: &Path, json: Json, backup: Option<&[u8]>) -> Result<Rest, Trouble> {
        let copy = backup.and_then(|backup| Json::parse(path, backup).ok());
        let theirs = copy.as_ref().map(Json::value).unwrap_or_default();
        let line = self.our_line(path, &json).map(|(line, _)| line);
        let server = self.our_server(path, &json).map(|(servers, _)| servers);
        let jobs = self.entries(path, &json);
        let jobs: Vec<Job> = jobs.iter().map(|entry| entry.job).collect();
        let (json, events) = self.without_ours(path, json, &theirs)?;
        // The order of installs shows in the layout. So the copy is not compared with what there is, but what is left of
        // both, if ours is added to the copy and taken out again.
        let round_trip = |mut copy: Json| {
            if !jobs.is_empty() {
                hook::add(&mut copy, self, hook::NAME, &jobs)?;
            }
            line.map_or(Ok(()), |line| status::put(&mut copy, line, hook::NAME))?;
            server.map_or(Ok(()), |servers| mcp::put(&mut copy, servers, mcp::PROGRAM))?;
            self.without_ours(path, copy, &theirs)
        };
        let left = copy.map(round_trip);
        let is_as_before = matches!(left, Some(Ok((left, _))) if left.text() == json.text());
        Ok(Rest {
            json,
            events,
            is_as_before,
        })
    }

    /// A document without anything of ours, and the events that the hook was there for.
    fn without_ours(
        &self,
        path: &Path,
        mut json: Json,
        theirs: &Value,
    ) -> Result<(Json, Vec<String>), Trouble> {
        let mut events = Vec::new();
        if path == self.file() {
            events = hook::take_out(&mut json, self, theirs)?;
        }
        if let Some((line, _)) = self.our_line(path, &json) {
            status::take_out(&mut json, line, theirs)?;
        }
        if let Some((servers, _)) = self.our_server(path, &json) {
            mcp::take_out(&mut json, servers, theirs)?;
        }
        Ok((json, events))
    }

    fn plan_skill_removal(
        &self,
        had_hook: bool,
        batch: &Batch,
        plan: &mut Plan,
    ) -> Result<(), Trouble> {
        let (own, shared) = (self.own_skill(), self.shared_skill());
        let reads_shared = |other: &Site| {
            let copy = other.own_skill();
            // Unreadable settings may have the hook.
            other.shares_skill()
                && (copy == shared || !copy.exists())
                && other.has_hook().unwrap_or(true)
        };
        let is_of = |agents: &[String], other: &Site| {
            agents.iter().any(|agent| other.known.is_called(agent))
        };
        let mut readers: Vec<Site> = self.others(batch.all).filter(reads_shared).collect();
        readers.retain(|other| !is_of(&batch.before, other));
        match batch.skill_state(&own)?.0 {
            SkillState::Absent => {}
            SkillState::Theirs => {
                plan.stays(format!(
                    "skill  {} is not as it was installed, and is kept",
                    self.tilde(&own)
                ));
            }
            SkillState::Current | SkillState::Older if own == shared && !readers.is_empty() => {
                // The last of those that are still to come takes it away.
                let stay = readers.iter().filter(|other| !is_of(&batch.after, other));
                let stay: Vec<&str> = stay.map(|other| other.known.label()).collect();
                if !stay.is_empty() {
                    plan.stays(format!(
                        "skill  {} is kept for {}",
                        self.tilde(&own),
                        stay.join(", ")
                    ));
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
        plan.step(
            format!("{what}  removed {shown}"),
            format!("would remove {shown}"),
            None,
        );
        plan.changes.remove(path);
    }
}

fn not_ours(path: &Path) -> Trouble {
    Trouble::new(
        path,
        "is there and is not ours; move it away and run this again",
    )
}

/// The program that our server ran so far, and the file with our server in it.
fn server_in(
    reader: &str,
    servers: &McpServers,
    rewrite: &Rewrite,
) -> Result<(Option<String>, String), Trouble> {
    let path = &rewrite.path;
    if is_toml(path) {
        let text = String::from_utf8_lossy(rewrite.text()).into_owned();
        let toml = Toml {
            path,
            text: &text,
            servers,
        };
        return Ok((toml.find()?, toml.with(reader)?));
    }
    let mut json = Json::parse(path, rewrite.text())?;
    let was = mcp::find(&json, servers);
    mcp::put(&mut json, servers, reader)?;
    Ok((was, json.text()))
}
