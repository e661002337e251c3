//! What an agent's hook is given on stdin, read by the `[hook]` table of its format, and the reply in the agent's form.

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
}

/// What came of reading stdin.
pub enum Asked<'f> {
    Prompt(Ask<'f>),
    /// A session begins.
    Start(Ask<'f>, Source),
    /// Nobody typed anything, or it is another event: there is nothing to say.
    Nothing,
}

/// How a session begins.
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
    /// Whether the agent's sessions begin with their first prompt, because it has no event for it.
    pub(crate) fn starts_with_prompt(&self) -> bool {
        self.hook.starts.is_empty()
    }

    /// Reads what the agent says. Without its name, the agent is told from what it says.
    pub fn read(
        stdin: &[u8],
        agent: Option<&str>,
        formats: &'f [AgentFormat],
        env: &Env,
    ) -> Result<Asked<'f>, String> {
        if stdin.trim_ascii().is_empty() {
            return Err("nothing on stdin; an agent's hook gives a JSON object there".into());
        }
        let mut candidates = formats
            .iter()
            .filter(|format| agent.is_none_or(|name| format.is_called(name)))
            .peekable();
        if candidates.peek().is_none() {
            return Err(format!(
                "no agent is called '{}'",
                agent.unwrap_or_default()
            ));
        }
        let mut said_who = false;
        let mut read = None;
        for format in candidates {
            let Some(hook) = format.hook() else { continue };
            match Fields::read(stdin, hook) {
                None => return Err("stdin is not a JSON object".into()),
                Some(fields) if fields.session.is_none() => {}
                Some(fields) => {
                    said_who = true;
                    let sure = agent.is_some()
                        || fields
                            .transcript
                            .as_deref()
                            .is_some_and(|path| is_at_home(path, format, env));
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
            None if said_who => Ok(Asked::Nothing),
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

/// Whether a transcript lies where a format keeps them.
fn is_at_home(transcript: &str, format: &AgentFormat, env: &Env) -> bool {
    find::at(std::slice::from_ref(format), env, Path::new(transcript)).is_some()
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
        let Hook {
            event,
            session,
            transcript,
            cwd,
            prompt,
            subagent,
            source,
            unless,
            ..
        } = hook;
        let wanted = [
            event, session, transcript, cwd, prompt, subagent, source, unless,
        ]
        .map(|all| &*all.0);
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

    /// What the event is about. Where it has no name, a prompt is enough, or how a session begins.
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

    fn ask<'f>(self, format: &'f AgentFormat, hook: &'f Hook) -> Asked<'f> {
        let said = self
            .prompt
            .as_deref()
            .map(|prompt| format.prompt().sort(prompt.into()));
        let typed = match said {
            Some(Said::Typed(text) | Said::Machine(Mark::Command, text)) => Some(text.into_owned()),
            _ => None,
        };
        let hears = self.subagent.is_none() && self.deaf.is_none();
        let Some(moment) = self.moment(hook).filter(|_| hears) else {
            return Asked::Nothing;
        };
        let is_path = |path: &PathBuf| path.is_absolute() && !is_too_long(path);
        let path = |text: Option<String>| text.map(PathBuf::from).filter(is_path);
        let usual = match moment {
            Moment::Prompt => hook.prompts.first(),
            Moment::Start(_) => hook.starts.first(),
        };
        let ask = Ask {
            format,
            hook,
            event: self.event.or_else(|| usual.cloned()).unwrap_or_default(),
            session: self.session.unwrap_or_default(),
            transcript: path(self.transcript),
            cwd: path(self.cwd),
            prompt: typed.clone().unwrap_or_default(),
        };
        match moment {
            Moment::Prompt if typed.is_some() => Asked::Prompt(ask),
            Moment::Prompt => Asked::Nothing,
            Moment::Start(source) => Asked::Start(ask, source),
        }
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
