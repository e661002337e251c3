//! Our entry among the hooks in an agent's file: recognised, added, brought up to date, taken out.
//!
//! An entry is ours if the program that its command runs is called `session-context`, wherever that is. Nothing else is
//! touched, and of ours nothing but the path of the program: what stands after it may be the user's.

use serde_json::Value;

use super::agents::{Agent, Form};
use super::edit::{Fault, Json};

const NAME: &str = "session-context";

/// An entry of ours.
#[derive(Debug)]
pub struct Entry {
    pub event: String,
    /// Where the command is, and how much of this path goes when the entry is removed.
    path: Vec<String>,
    removed: usize,
    pub command: String,
    /// The program that it runs.
    pub program: String,
    /// What stands after the program.
    pub rest: String,
    /// Whether the command is the program alone, not for a shell: its arguments are elsewhere.
    bare: bool,
}

/// What came of bringing a file up to date.
#[derive(Debug, Default)]
pub struct Outcome {
    pub added: Vec<String>,
    /// Programs that entries of ours ran before.
    pub moved: Vec<String>,
    /// What the user wrote behind the program.
    pub flags: Vec<String>,
}

/// What is written behind the program.
pub fn flags(agent: &Agent) -> String {
    format!(" --agent {}", agent.format)
}

pub fn command(agent: &Agent, program: &str) -> String {
    quoted(program) + &flags(agent)
}

/// All entries of ours.
pub fn entries(settings: &Value, form: Form) -> Vec<Entry> {
    let mut found = Vec::new();
    for (event, elements) in settings["hooks"].as_object().into_iter().flatten() {
        for (index, element) in elements.as_array().into_iter().flatten().enumerate() {
            let path = ["hooks", event, &index.to_string()].map(String::from);
            if form == Form::Flat {
                found.extend(["bash", "command"].iter().find_map(|key| entry(&path, 3, element, key)));
                continue;
            }
            let hooks = element["hooks"].as_array().map_or(&[][..], Vec::as_slice);
            for (index, hook) in hooks.iter().enumerate() {
                let path = [&path[..], &["hooks".into(), index.to_string()]].concat();
                // A group with nothing else in it goes whole.
                found.extend(entry(&path, if hooks.len() == 1 { 3 } else { 5 }, hook, "command"));
            }
        }
    }
    found
}

fn entry(path: &[String], removed: usize, hook: &Value, key: &str) -> Option<Entry> {
    let command = hook[key].as_str()?.to_owned();
    let bare = hook.get("args").is_some();
    let (program, rest) = if bare { (command.clone(), "") } else { first_word(&command)? };
    if program.rsplit('/').next() != Some(NAME) {
        return None;
    }
    let (event, rest, path) = (path[1].clone(), rest.into(), [path, &[key.into()]].concat());
    Some(Entry { event, path, removed, rest, program, bare, command })
}

/// Adds what is missing, and puts the program's path into what is there.
pub fn add(json: &mut Json, agent: &Agent, program: &str) -> Result<Outcome, Fault> {
    check(json, agent)?;
    let mut outcome = Outcome::default();
    let entries = entries(&json.value, agent.form);
    for entry in &entries {
        if !entry.bare && entry.rest.trim() != flags(agent).trim() && !entry.rest.trim().is_empty() {
            outcome.flags.push(entry.rest.trim().into());
        }
        if entry.program != program {
            outcome.moved.push(entry.program.clone());
            let command = if entry.bare { program.into() } else { quoted(program) + &entry.rest };
            json.replace(&entry.path, &command)?;
        }
    }
    let command = command(agent, program);
    for event in agent.events() {
        if !entries.iter().any(|entry| entry.event == event) {
            put(json, agent.form, event, &command)?;
            outcome.added.push(event.into());
        }
    }
    for list in [&mut outcome.moved, &mut outcome.flags] {
        list.sort();
        list.dedup();
    }
    Ok(outcome)
}

/// Takes out all entries of ours, and names their events.
pub fn take_out(json: &mut Json, agent: &Agent) -> Result<Vec<String>, Fault> {
    let mut events = Vec::new();
    while let Some(entry) = entries(&json.value, agent.form).pop() {
        json.remove(&entry.path[..entry.removed])?;
        events.insert(0, entry.event);
    }
    let usual = agent.events();
    events.sort_by_key(|event| usual.iter().position(|usual| usual == event).unwrap_or(usual.len()));
    events.dedup();
    Ok(events)
}

/// Whether a text is what a backup becomes when these entries are added to it, so that nothing else was changed since.
pub fn is_made_of(backup: &[u8], now: &str, agent: &Agent, entries: &[Entry]) -> bool {
    let made = Json::parse(backup).and_then(|mut json| {
        check(&json, agent)?;
        let fits = self::entries(&json.value, agent.form).is_empty();
        for event in agent.events() {
            for entry in entries.iter().filter(|entry| entry.event == event) {
                put(&mut json, agent.form, event, &entry.command)?;
            }
        }
        Ok(fits && json.text() == now)
    });
    made.unwrap_or(false)
}

/// What is written, with nothing around it.
pub fn fragment(agent: &Agent, command: impl Fn(&str) -> String) -> Result<String, Fault> {
    let mut json = Json::parse(b"")?;
    for event in agent.events() {
        put(&mut json, agent.form, event, &command(event))?;
    }
    Ok(json.text())
}

fn put(json: &mut Json, form: Form, event: &str, command: &str) -> Result<(), Fault> {
    let command = Value::from(command);
    let element = match form {
        Form::Groups { timeout } => {
            format!(r#"{{"hooks":[{{"type":"command","command":{command},"timeout":{timeout}}}]}}"#)
        }
        Form::Flat | Form::Extension => format!(r#"{{"type":"command","bash":{command},"timeoutSec":2}}"#),
    };
    if form == Form::Flat && json.value.get("version").is_none() {
        json.insert(&[], r#""version":1"#)?;
    }
    match json.value.get("hooks").map(|hooks| hooks.get(event)) {
        None => json.insert(&[], &format!(r#""hooks":{{"{event}":[{element}]}}"#)),
        Some(None) => json.insert(&["hooks"], &format!(r#""{event}":[{element}]"#)),
        Some(Some(_)) => json.insert(&["hooks", event], &element),
    }
}

/// Whether there is room for an entry.
fn check(json: &Json, agent: &Agent) -> Result<(), Fault> {
    let Some(hooks) = json.value.get("hooks") else { return Ok(()) };
    if !hooks.is_object() {
        return Err(json.fault(&["hooks"], "\"hooks\" is not an object: {…} is expected here"));
    }
    match agent.events().into_iter().find(|event| hooks.get(event).is_some_and(|event| !event.is_array())) {
        Some(event) => {
            Err(json.fault(&["hooks", event], &format!("\"{event}\" is not an array: […] is expected here")))
        }
        None => Ok(()),
    }
}

/// A word for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+,:@%=".contains(&byte);
    if word.bytes().all(plain) { word.into() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// The first word of a shell command, unquoted, and what stands after it.
fn first_word(command: &str) -> Option<(String, &str)> {
    let command = command.trim_start();
    let (mut word, mut quote) = (String::new(), None);
    let mut chars = command.char_indices();
    while let Some((at, char)) = chars.next() {
        match (quote, char) {
            (None, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')') => return Some((word, &command[at..])),
            (None, '\'' | '"') => quote = Some(char),
            (Some(open), char) if open == char => quote = None,
            (None | Some('"'), '\\') => word.push(chars.next()?.1),
            (_, char) => word.push(char),
        }
    }
    quote.is_none().then_some((word, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_word_reads_back() {
        for word in ["/a/b", "/a b/c", "/it's/x", "/$HOME/`x`", "/ü/\"q\"", "/a\\b", "/tab\there"] {
            let command = quoted(word) + " --agent codex";
            assert_eq!(first_word(&command), Some((word.to_owned(), " --agent codex")), "{command}");
        }
        assert_eq!(quoted("/usr/local/bin/x-1.2_y"), "/usr/local/bin/x-1.2_y");
    }

    #[test]
    fn the_program_is_the_first_word() {
        for (command, program, rest) in [
            ("session-context", "session-context", ""),
            ("  /a/session-context --budget 300", "/a/session-context", " --budget 300"),
            ("\"/a b/session-context\" x", "/a b/session-context", " x"),
            (r"/a\ b/session-context||true", "/a b/session-context", "||true"),
            ("/a/'b c'/session-context;x", "/a/b c/session-context", ";x"),
        ] {
            assert_eq!(first_word(command), Some((program.into(), rest)), "{command}");
        }
        assert_eq!(first_word("'/open"), None);
    }

    #[test]
    fn a_name_that_is_merely_mentioned_is_not_ours() {
        for command in [
            "my-session-context-wrapper",
            "/a/my-session-context",
            "/a/session-context-wrapper",
            "/a/session-context/run.sh",
            "echo session-context",
            "env X=1 session-context",
            "sh -c 'session-context'",
            "/a/session-context.sh",
        ] {
            let text = format!(r#"{{"hooks":{{"E":[{{"hooks":[{{"command":"{command}"}}]}}]}}}}"#);
            let json = text.parse().expect("JSON");
            assert!(entries(&json, Form::Groups { timeout: 2 }).is_empty(), "{command}");
        }
    }
}
