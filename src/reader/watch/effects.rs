//! Does what keys ask for outside of the screen: other programs, the clipboard, notes about a session.
//!
//! `done`, `name`, `tag`, `pin` and `mute` do what the commands of that name do, for the selected session; what comes of it is said in
//! the last line.

use std::cell::RefCell;
use std::process::Command;
use std::sync::atomic::Ordering;

use super::App;
use super::finder::Request;
use super::keys::{Effect, SessionEffect};
use super::model::Question;
use super::terminal::{self, Screen};
use crate::go::{Went, go};
use crate::watch::view::WatchRow;
use crate::{Problem, Stage, as_command, continued};
use session_context::tag::{self, TagArgs};
use session_context::{mute, notes};
use session_core::ask;
use session_core::ask::handover::startable;
use session_core::formats::AgentFormat;
use session_core::session::choose::Resolved;
use session_core::session::{NO_ID, Session, is_id};
use session_core::show::place::words;
use session_core::show::terminal::width;
use session_format::path::shell_word;

/// The transcript of a row.
pub fn transcript<'f>(row: &WatchRow, formats: &'f [AgentFormat]) -> Option<Resolved<'f>> {
    let format = formats.iter().find(|format| *format.name == *row.format)?;
    let session = Session::new(row.id.clone(), format, None, row.path.clone());
    Some(Resolved {
        subagent: row.is_subagent,
        ..session.into()
    })
}

/// What leads to a row's session and to no other: somebody may have given another session the id of this one for a title.
fn named_by(row: &WatchRow) -> String {
    match row.path.to_str() {
        Some(path) if !row.is_subagent => path.to_owned(),
        _ => row.id.clone(),
    }
}

impl App<'_, '_, '_> {
    /// Does what a key asked for. Says whether the program ends.
    pub fn perform(&mut self, effect: Effect, screen: &mut Screen) -> Result<bool, Problem> {
        match effect {
            Effect::Quit => return Ok(true),
            Effect::Suspend => screen.suspend(&mut self.display)?,
            Effect::Redraw => Screen::redraw(&mut self.display)?,
            Effect::Search { is_fresh } => self.search(is_fresh),
            Effect::Pick(row) => {
                self.picked = Some(row);
                return Ok(true);
            }
            Effect::MoreLog => self.more_log(),
            Effect::OpenCalls => self.open_calls(),
            Effect::Find { older } => self.find(older),
            Effect::With(row, effect) => self.perform_with(&row, effect, screen)?,
        }
        Ok(false)
    }

    fn perform_with(
        &mut self,
        row: &WatchRow,
        effect: SessionEffect,
        screen: &mut Screen,
    ) -> Result<(), Problem> {
        // A whole id leaves no room for a command that one may want to copy.
        let called = Some(&*row.handle);
        let own = named_by(row);
        match effect {
            SessionEffect::CopyId if is_id(&row.id) => self.copy(&row.id, "id")?,
            SessionEffect::CopyId => self.model.message = format!("not copied: the id {NO_ID}"),
            SessionEffect::CopyPath => self.copy(&row.path.to_string_lossy(), "path")?,
            SessionEffect::Edit => {
                let editor = ["VISUAL", "EDITOR"]
                    .iter()
                    .find_map(|name| self.stage.env.var(name));
                let editor =
                    editor.map_or("vi".into(), |editor| editor.to_string_lossy().into_owned());
                // The user's own variable may have flags in it, so a shell reads it.
                let command = format!("{editor} {}", shell_word(&row.path.to_string_lossy()));
                let mut shell = Command::new("sh");
                shell.args(["-c", &command]);
                self.lend_to(&mut shell, &command, screen)?;
            }
            SessionEffect::AskResume => match self.resumable(row) {
                Ok((command, _)) => {
                    let label = self.question(row, &command);
                    self.model.ask(
                        Question::Resume(Box::new(row.clone()), command),
                        label,
                        String::new(),
                    );
                }
                Err(why) => self.say(why),
            },
            // The directory may be gone by now.
            SessionEffect::Resume(command) => match self.resumable(row) {
                Ok((_, mut program)) => self.lend_to(&mut program, &command, screen)?,
                Err(why) => self.say(why),
            },
            SessionEffect::Go => self.go(row, screen)?,
            SessionEffect::AskContinue => match self.continuable(row) {
                Ok(agents) => {
                    let choices = agents.iter().zip(1..);
                    let choices: Vec<String> = choices
                        .map(|(agent, number)| format!("{number} {agent}"))
                        .collect();
                    let label = format!("continue {} with: {} ", row.name, choices.join("  "));
                    let question = Question::Continue(Box::new(row.clone()), agents);
                    self.model.ask(question, label, String::new());
                }
                Err(why) => self.say(why),
            },
            SessionEffect::Continue(agent) => self.go_on_in(row, &agent, screen)?,
            SessionEffect::Done => {
                self.model.leave();
                self.note(row, |stage| {
                    tag::set_done(Some(&own), !row.done, called, stage)
                });
            }
            SessionEffect::Name(text) => {
                let name = Some(&*text).filter(|text| !text.is_empty());
                self.note(row, |stage| tag::set_name(&own, name, called, stage));
            }
            SessionEffect::Tag(text) => {
                let (tag, remove) = text
                    .strip_prefix('-')
                    .map_or((&*text, false), |tag| (tag, true));
                let args = TagArgs {
                    tag: tag.into(),
                    session: Some(own),
                    remove,
                };
                self.note(row, |stage| tag::set_tag(&args, called, stage));
            }
            SessionEffect::Pin(text) => {
                self.note(row, |stage| Ok(notes::add_pin(text, stage)?.to_string()));
            }
            SessionEffect::Mute => {
                self.note(row, |stage| {
                    mute::change(Some(&own), "mute NAME", |muted| !muted, called, stage)
                });
            }
        }
        Ok(())
    }

    fn go(&mut self, row: &WatchRow, screen: &mut Screen) -> Result<(), Problem> {
        let Some(place) = &row.runs_in else {
            self.say(if row.is_open {
                "nobody knows where it runs"
            } else {
                "it is not open; r resumes it here"
            });
            return Ok(());
        };
        match go(place.clone(), self.stage.env) {
            Ok((Went::There, place)) => self.say(format_args!("it is in {}", words(&place))),
            Ok((Went::Elsewhere, place)) => self.say(format_args!(
                "it is in {}: nobody but you can go there",
                words(&place)
            )),
            Ok((Went::Attach(words), _)) => {
                self.lend_to(&mut as_command(&words), "tmux", screen)?;
            }
            Err(why) => self.say(why),
        }
        Ok(())
    }

    fn copy(&mut self, text: &str, what: &str) -> Result<(), Problem> {
        self.send(&terminal::copied(text))?;
        self.model.message = format!("copied the {what}: {}", self.stage.gate.line(text));
        Ok(())
    }

    /// The command that resumes a session, as it is shown and as it is run; or why there is none.
    fn resumable(&self, row: &WatchRow) -> Result<(String, Command), String> {
        let own = transcript(row, self.stage.formats).map(|own| own.session);
        let (words, command) = match &own {
            Some(own) => (
                ask::resume::words(own, Some(&row.id))?,
                ask::resume::command(own, Some(&row.id))?,
            ),
            None => (None, None),
        };
        let (Some(words), Some(command)) = (words, command) else {
            return Err(format!(
                "{} has no command that resumes a session",
                row.agent
            ));
        };
        if self.is_demo {
            return Err("there is nothing to resume in the demo".into());
        }
        if let Some(gone) = row.cwd.as_ref().filter(|cwd| !cwd.is_dir()) {
            return Err(format!(
                "its directory is gone: {}",
                self.stage.env.tilde(gone)
            ));
        }
        let Some(program) = self.stage.env.installed(&words[0]) else {
            return Err(format!("{} is not installed", words[0]));
        };
        let mut resumes = Command::new(program);
        resumes.args(&words[1..]);
        if let Some(cwd) = &row.cwd {
            resumes.current_dir(cwd);
        }
        Ok((command, resumes))
    }

    /// The other agents that could go on with a session, at most as many as there are digits; or why there is none.
    fn continuable(&self, row: &WatchRow) -> Result<Vec<String>, String> {
        if self.is_demo {
            return Err("there is nothing to continue in the demo".into());
        }
        let mut agents = startable(self.stage.env, self.stage.formats);
        agents.retain(|format| *format.name != *row.format);
        let agents: Vec<String> = agents
            .into_iter()
            .map(|format| self.stage.gate.line(format.label()).into_owned())
            .take(9)
            .collect();
        if agents.is_empty() {
            return Err("no other agent is installed that could go on with it".into());
        }
        Ok(agents)
    }

    /// Starts another agent with a note about a session, and gives it the terminal until it ends.
    fn go_on_in(
        &mut self,
        row: &WatchRow,
        agent: &str,
        screen: &mut Screen,
    ) -> Result<(), Problem> {
        let (trouble, stage) = (RefCell::default(), &mut *self.stage);
        let mut stage = Stage {
            out: stage.out,
            err: stage.err,
            trouble: &trouble,
            ..*stage
        };
        let found = stage.resolve(&named_by(row));
        match found.and_then(|found| continued::prepare(found, agent, &mut stage)) {
            Ok(mut command) => self.lend_to(&mut command, agent, screen),
            Err(problem) => {
                self.say(problem);
                Ok(())
            }
        }
    }

    /// Asks whether to run a command, with all of the id if there is room.
    fn question(&self, row: &WatchRow, command: &str) -> String {
        let gate = self.stage.gate;
        let open = if row.is_open {
            "it is open elsewhere; "
        } else {
            ""
        };
        let place = row
            .cwd
            .as_ref()
            .map(|cwd| format!(" in {}", self.stage.env.tilde(cwd)))
            .unwrap_or_default();
        let ask = |command: &str| {
            gate.line(format!("{open}run `{command}`{place}? (y/n) "))
                .into_owned()
        };
        let short: String = row.id.chars().take(8).chain(['…']).collect();
        let whole = ask(command);
        if width(&whole) + 2 <= self.model.width.into() {
            whole
        } else {
            ask(&command.replace(&row.id, &short))
        }
    }

    /// Runs a program with the terminal.
    fn lend_to(
        &mut self,
        program: &mut Command,
        command: &str,
        screen: &mut Screen,
    ) -> Result<(), Problem> {
        let ended = screen.lend(&mut self.display, || program.status())?;
        self.shared.look.store(true, Ordering::Relaxed);
        let message = match ended {
            Ok(status) if status.success() => String::new(),
            Ok(status) => format!("{command}: {status}"),
            Err(error) => format!("{command}: {error}"),
        };
        self.say(message);
        Ok(())
    }

    /// Changes what is noted about a session, in its project, and shows what comes of it.
    fn note(&mut self, row: &WatchRow, change: impl FnOnce(&mut Stage) -> Result<String, Problem>) {
        let elsewhere = row
            .cwd
            .as_ref()
            .filter(|_| !row.here)
            .map(|cwd| self.stage.env.at(cwd.clone()));
        let (trouble, stage) = (RefCell::default(), &mut *self.stage);
        let env = elsewhere.as_ref().unwrap_or(stage.env);
        let said = change(&mut Stage {
            env,
            out: stage.out,
            err: stage.err,
            trouble: &trouble,
            ..*stage
        });
        let said = said.unwrap_or_else(|problem| problem.to_string());
        self.say(said);
        self.shared.look.store(true, Ordering::Relaxed);
    }

    /// Asks for the sessions that fit what is typed now. The answer to what was asked before is void from here on.
    pub(super) fn search(&mut self, is_fresh: bool) {
        let Some(finder) = &self.model.finder else {
            return;
        };
        let number = self.shared.asked.fetch_add(1, Ordering::Relaxed) + 1;
        // If the thread is gone, the main loop says so.
        let _ = self.requests.send(Request {
            number,
            line: finder.text.clone(),
            all: finder.all,
            is_fresh,
        });
    }

    /// Goes to a line of the log with what the user looks for, and reads older lines until there is one.
    fn find(&mut self, older: bool) {
        // Marks the words.
        self.log_lines(0);
        if self.model.find.is_empty() {
            return;
        }
        while !self.model.find_line(older) {
            // Something that could not be read is said already.
            if !self.model.message.is_empty() {
                return;
            }
            if !older || self.model.log.is_whole {
                let is_all = self.log.as_ref().is_none_or(|log| log.is_all);
                self.say(self.model.not_found(older, is_all));
                return;
            }
            self.more_log();
        }
    }

    fn open_calls(&mut self) {
        let Some(log) = &mut self.log else { return };
        if let Err(bad) = log.open_calls() {
            self.say(bad);
        }
        self.log_lines(0);
    }

    fn more_log(&mut self) {
        let Some(log) = &mut self.log else { return };
        if let Err(bad) = log.more() {
            self.say(bad);
        }
        self.log_lines(0);
    }
}
