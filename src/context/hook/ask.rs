//! Reads an agent's question from stdin, by the `[hook]` table of its format, and writes the reply in the agent's form.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use session_core::env::Env;
use session_core::formats::AgentFormat;
use session_core::session::find;
use session_format::decode::pick;
use session_format::entry::Mark;
use session_format::format::descriptor::{Hook, Pointer};
use session_format::format::prompt::Said;
use session_format::path::is_too_long;

/// An agent asks what to add to a prompt.
#[derive(Debug)]
pub struct Ask<'f> {
    pub format: &'f AgentFormat,
    hook: &'f Hook,
    event: String,
    /// The id of the session that asks.
    pub session: String,
    pub transcript: Option<PathBuf>,
    pub cwd: Option<PathBuf>,
    pub prompt: String,
    /// None at a prompt.
    pub starts: Option<Source>,
}

/// The way a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    New,
    /// It goes on, and knows what it knew.
    Resumed,
    /// It goes on, and has forgotten most of it.
    Compacted,
    Cleared,
}

impl<'f> Ask<'f> {
    /// The agent's sessions begin with their first prompt, because it has no event for it.
    pub(crate) fn starts_with_prompt(&self) -> bool {
        self.hook.starts.is_empty()
    }

    /// Reads what the agent says; none if nobody typed anything, or it is another event. Without its name, the agent is
    /// told from what it says.
    pub fn read(
        stdin: &[u8],
        agent: Option<&str>,
        formats: &'f [AgentFormat],
        env: &Env,
    ) -> Result<Option<Ask<'f>>, String> {
        if stdin.trim_ascii().is_empty() {
            return Err("nothing on stdin; an agent's hook gives a JSON object there".into());
        }
        let is_meant = |format: &&AgentFormat| agent.is_none_or(|name| format.is_called(name));
        if let Some(agent) = agent
            && !formats.iter().any(|format| is_meant(&format))
        {
            return Err(format!("no agent is called '{agent}'"));
        }
        let mut said_who = false;
        let mut read = None;
        for format in formats.iter().filter(is_meant) {
            let Some(hook) = format.hook() else { continue };
            match Fields::read(stdin, hook) {
                None => return Err("stdin is not a JSON object".into()),
                Some(fields) if fields.session.is_none() => {}
                Some(fields) => {
                    said_who = true;
                    // A transcript lies where a format keeps them.
                    let is_at_home = |path: &String| {
                        find::at(std::slice::from_ref(format), env, Path::new(path)).is_some()
                    };
                    let sure =
                        agent.is_some() || fields.transcript.as_ref().is_some_and(is_at_home);
                    if sure || (fields.moment(hook).is_some() && read.is_none()) {
                        read = Some((format, hook, fields));
                    }
                    if sure {
                        break;
                    }
                }
            }
        }
        match read {
            Some((format, hook, fields)) => Ok(fields.ask(format, hook)),
            None if said_who => Ok(None),
            None => Err("stdin does not say which session asks".into()),
        }
    }

    /// The reply that puts a text into the prompt.
    pub fn reply(&self, text: &str) -> String {
        let reply = &self.hook.reply;
        let mut object = Value::Object(Map::new());
        if let Some(event) = &reply.event {
            put(&mut object, event, Value::from(self.event.as_str()));
        }
        for (pointer, value) in &reply.also {
            if let (Ok(pointer), Ok(value)) = (
                Pointer::try_from(pointer.clone()),
                serde_json::from_str(&value.0),
            ) {
                put(&mut object, &pointer, value);
            }
        }
        // Arrows are the only brackets there are: what comes from transcripts has none left.
        let text = if reply.escapes {
            text.replace("->", "→")
        } else {
            text.to_owned()
        };
        put(&mut object, &reply.text, Value::from(text));
        object.to_string()
    }
}

/// The values of a hook's input.
struct Fields {
    event: Option<String>,
    session: Option<String>,
    transcript: Option<String>,
    cwd: Option<String>,
    prompt: Option<String>,
    subagent: Option<String>,
    source: Option<String>,
    /// Something that only a client has which drops what a hook prints.
    deaf: Option<String>,
}

impl Fields {
    fn read(stdin: &[u8], hook: &Hook) -> Option<Fields> {
        let wanted = [
            &hook.event,
            &hook.session,
            &hook.transcript,
            &hook.cwd,
            &hook.prompt,
            &hook.subagent,
            &hook.source,
            &hook.unless,
        ]
        .map(|pointers| &*pointers.0);
        let [
            event,
            session,
            transcript,
            cwd,
            prompt,
            subagent,
            source,
            deaf,
        ] = pick(stdin, wanted)?;
        let session = session.filter(|session| !session.is_empty());
        Some(Fields {
            event,
            session,
            transcript,
            cwd,
            prompt,
            subagent,
            source,
            deaf,
        })
    }

    /// The moment that the event stands for. An event without a name is known by its prompt or source.
    fn moment(&self, hook: &Hook) -> Option<Moment> {
        let source = match self.source.as_deref() {
            Some("resume" | "fork") => Source::Resumed,
            Some("compact") => Source::Compacted,
            Some("clear") => Source::Cleared,
            _ => Source::New,
        };
        match &self.event {
            Some(event) if hook.prompts.contains(event) => Some(Moment::Prompt),
            Some(event) if hook.starts.contains(event) => Some(Moment::Start(source)),
            None if self.prompt.is_some() => Some(Moment::Prompt),
            None if self.source.is_some() => Some(Moment::Start(source)),
            _ => None,
        }
    }

    fn ask<'f>(self, format: &'f AgentFormat, hook: &'f Hook) -> Option<Ask<'f>> {
        if self.subagent.is_some() || self.deaf.is_some() {
            return None;
        }
        let moment = self.moment(hook)?;
        let said = self
            .prompt
            .as_deref()
            .map(|prompt| format.prompt().sort(prompt.into()));
        let (starts, usual) = match moment {
            Moment::Prompt => (None, &hook.prompts),
            Moment::Start(source) => (Some(source), &hook.starts),
        };
        let prompt = match said {
            Some(Said::Typed(text) | Said::Machine(Mark::Command, text)) => text.into_owned(),
            _ if starts.is_none() => return None,
            _ => String::new(),
        };
        let is_path = |path: &PathBuf| path.is_absolute() && !is_too_long(path);
        let path = |text: Option<String>| text.map(PathBuf::from).filter(is_path);
        let event = self.event.or_else(|| usual.first().cloned());
        Some(Ask {
            format,
            hook,
            event: event.unwrap_or_default(),
            session: self.session.unwrap_or_default(),
            transcript: path(self.transcript),
            cwd: path(self.cwd),
            prompt,
            starts,
        })
    }
}

enum Moment {
    Prompt,
    Start(Source),
}

/// Puts a value where a pointer points, making the objects on the way.
fn put(object: &mut Value, pointer: &Pointer, value: Value) {
    let mut value_at = object;
    for key in &pointer.0 {
        if !value_at.is_object() {
            *value_at = Value::Object(Map::new());
        }
        value_at = &mut value_at[key.as_str()];
    }
    *value_at = value;
}
