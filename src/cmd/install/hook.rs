//! Our entry among the hooks in an agent's file: recognised, added, brought up to date, taken out.
//!
//! An entry is ours if the program that its command runs is called `session-context`, wherever that is. Nothing else is
//! touched, and of ours nothing but the path of the program: what stands after it may be the user's.

use super::agents::{Agent, Form};
use super::edit::{Fault, Json, New, Span, Step};

const NAME: &str = "session-context";

/// An entry of ours.
#[derive(Debug)]
pub struct Entry {
    pub event: String,
    path: Vec<Step>,
    /// The command, and where it is.
    pub command: String,
    span: Span,
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

/// All entries of ours, in the order of the file.
pub fn entries(json: &Json, form: Form) -> Vec<Entry> {
    let mut found = Vec::new();
    let hooks = json.find(&["hooks"]).unwrap_or(0..0);
    for event in json.members(&hooks) {
        let Some(name) = event.key else { continue };
        for (index, element) in json.elements(&event.value).into_iter().enumerate() {
            let mut path = vec![Step::Key("hooks".into()), Step::Key(name.clone()), Step::Index(index)];
            if form == Form::Flat {
                found.extend(["bash", "command"].iter().find_map(|key| entry(json, &name, &path, &element, key)));
                continue;
            }
            let inner = json.member(&element, "hooks").map(|hooks| json.elements(&hooks)).unwrap_or_default();
            // A group with nothing else in it goes whole.
            let alone = inner.len() == 1;
            for (index, hook) in inner.iter().enumerate() {
                if !alone {
                    path.truncate(3);
                    path.extend([Step::Key("hooks".into()), Step::Index(index)]);
                }
                found.extend(entry(json, &name, &path, hook, "command"));
            }
        }
    }
    found.sort_by_key(|entry| entry.span.start);
    found
}

fn entry(json: &Json, event: &str, path: &[Step], hook: &Span, key: &str) -> Option<Entry> {
    let span = json.member(hook, key)?;
    let command = json.string(&span)?;
    let bare = json.member(hook, "args").is_some();
    let (program, rest) = if bare { (command.clone(), "") } else { first_word(&command)? };
    if program.rsplit('/').next() != Some(NAME) {
        return None;
    }
    Some(Entry { event: event.into(), path: path.into(), rest: rest.into(), program, span, bare, command })
}

/// Adds what is missing, and puts the program's path into what is there.
pub fn add(json: &mut Json, agent: &Agent, program: &str) -> Result<Outcome, Fault> {
    check(json, agent)?;
    let mut outcome = Outcome::default();
    let entries = entries(json, agent.form);
    // From the end, so that the places before stay where they are.
    for entry in entries.iter().rev() {
        if !entry.bare && entry.rest.trim() != flags(agent).trim() && !entry.rest.trim().is_empty() {
            outcome.flags.push(entry.rest.trim().into());
        }
        if entry.program != program {
            outcome.moved.push(entry.program.clone());
            let command = if entry.bare { program.into() } else { quoted(program) + &entry.rest };
            json.replace(&entry.span, &command);
        }
    }
    let command = command(agent, program);
    for event in agent.events() {
        if !entries.iter().any(|entry| entry.event == event) {
            put(json, agent.form, event, &command);
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
pub fn take_out(json: &mut Json, agent: &Agent) -> Vec<String> {
    let mut events = Vec::new();
    let mut left = usize::MAX;
    while let Some(entry) = entries(json, agent.form).pop().filter(|_| json.text().len() < left) {
        left = json.text().len();
        json.remove(&entry.path);
        events.insert(0, entry.event);
    }
    let usual = agent.events();
    events.sort_by_key(|event| usual.iter().position(|usual| usual == event).unwrap_or(usual.len()));
    events.dedup();
    events
}

/// Whether a text is what a backup becomes when these entries are added to it, so that nothing else was changed since.
pub fn is_made_of(backup: &[u8], now: &str, agent: &Agent, entries: &[Entry]) -> bool {
    let Ok(mut json) = Json::parse(backup) else { return false };
    let fits = check(&json, agent).is_ok() && self::entries(&json, agent.form).is_empty();
    for event in agent.events() {
        for entry in entries.iter().filter(|entry| fits && entry.event == event) {
            put(&mut json, agent.form, event, &entry.command);
        }
    }
    fits && json.text() == now
}

/// What is written, with nothing around it.
pub fn fragment(agent: &Agent, command: impl Fn(&str) -> String) -> String {
    let commands: Vec<_> = agent.events().into_iter().map(|event| (event, command(event))).collect();
    let hooks =
        commands.iter().map(|(event, command)| (*event, New::Array(vec![element(agent.form, command)]))).collect();
    let mut members = vec![("hooks", New::Object(hooks))];
    if agent.form == Form::Flat {
        members.insert(0, ("version", New::Number(1)));
    }
    New::Object(members).pretty() + "\n"
}

fn put(json: &mut Json, form: Form, event: &str, command: &str) {
    if form == Form::Flat && json.find(&["version"]).is_none() {
        json.add("version", &New::Number(1));
    }
    json.append(&["hooks", event], element(form, command));
}

fn element(form: Form, command: &str) -> New<'_> {
    let hook = |key, limit, seconds| {
        New::Object(vec![("type", New::Text("command")), (key, New::Text(command)), (limit, New::Number(seconds))])
    };
    match form {
        Form::Groups { timeout } => New::Object(vec![("hooks", New::Array(vec![hook("command", "timeout", timeout)]))]),
        Form::Flat | Form::Extension => hook("bash", "timeoutSec", 2),
    }
}

/// Whether there is room for an entry.
fn check(json: &Json, agent: &Agent) -> Result<(), Fault> {
    let Some(hooks) = json.find(&["hooks"]) else { return Ok(()) };
    if !json.is_object(&hooks) {
        return Err(json.fault(&hooks, "\"hooks\" is not an object: {…} is expected here"));
    }
    for event in agent.events() {
        if let Some(array) = json.member(&hooks, event).filter(|value| !json.is_array(value)) {
            return Err(json.fault(&array, &format!("\"{event}\" is not an array: […] is expected here")));
        }
    }
    Ok(())
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
            let json = Json::parse(text.as_bytes()).expect("JSON");
            assert!(entries(&json, Form::Groups { timeout: 2 }).is_empty(), "{command}");
        }
    }
}
