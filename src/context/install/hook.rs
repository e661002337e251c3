//! Our entry among the hooks in an agent's file: recognised, added, brought up to date, taken out.
//!
//! An entry is ours if the program that its command runs is called `session-context`, wherever that is. Nothing else is
//! touched, and of ours nothing but the path of the program: what stands after it may be the user's.

use std::collections::BTreeSet;

use jsonc_parser::cst::{
    CstArray, CstContainerNode, CstInputValue, CstNode, CstObject, CstStringLit,
};
use serde_json::Value;

use super::files::Trouble;
use super::json::{Json, member};
use super::site::Site;
use session_format::boundary::substr;
use session_format::format::install::Install;
use session_format::path::{base_name, shell_word};

pub const NAME: &str = "session-context";

/// The purpose of an entry of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Job {
    /// Tells the agent about its other sessions.
    Tell,
    /// Notes what the agent is doing.
    Live,
}

#[derive(Debug)]
pub struct OurEntry {
    pub event: String,
    pub job: Job,
    pub command: String,
    pub program: String,
    pub rest: String,
    /// The command is a program, not a shell line; its arguments are in `args`.
    bare: bool,
    literal: CstStringLit,
    /// The node to remove with the entry: its group, if nothing else is in it.
    whole: CstContainerNode,
}

#[derive(Debug, Default)]
pub struct Update {
    pub added: Vec<(String, Job)>,
    /// Programs that entries of ours ran before.
    pub moved: Vec<String>,
    /// The user's own flags.
    pub flags: Vec<String>,
}

fn flags(site: &Site, job: Job) -> String {
    let command = match job {
        Job::Tell => "",
        Job::Live => " live",
    };
    format!("{command} --agent {}", shell_word(&site.known.name))
}

pub fn command(site: &Site, program: &str, job: Job) -> String {
    shell_word(program) + &flags(site, job)
}

pub fn entries(json: &Json, install: &Install) -> Vec<OurEntry> {
    let mut found = Vec::new();
    let hooks = member(&json.top, "hooks").and_then(|hooks| hooks.object_value());
    let events = hooks
        .iter()
        .flat_map(CstObject::properties)
        .filter_map(|event| event.decoded_name());
    for event in events.collect::<BTreeSet<_>>() {
        let list = hooks
            .as_ref()
            .and_then(|hooks| member(hooks, &event)?.array_value());
        for element in list
            .iter()
            .flat_map(CstArray::elements)
            .filter_map(|element| element.as_object())
        {
            if !install.grouped {
                found.extend(entry(&event, &element, element.clone(), install));
                continue;
            }
            let group = member(&element, "hooks").and_then(|hooks| hooks.array_value());
            let hooks = group.map(|group| group.elements()).unwrap_or_default();
            for hook in hooks.iter().filter_map(CstNode::as_object) {
                let whole = if hooks.len() == 1 { &element } else { &hook };
                found.extend(entry(&event, &hook, whole.clone(), install));
            }
        }
    }
    found
}

fn entry(event: &str, hook: &CstObject, whole: CstObject, install: &Install) -> Option<OurEntry> {
    let text = |key: &str| member(hook, key)?.value()?.as_string_lit();
    let literal = text(&install.command).or_else(|| text("command"))?;
    let command = literal.decoded_value().ok()?;
    let bare = member(hook, "args").is_some();
    let (program, rest) = if bare {
        (command.clone(), "")
    } else {
        first_word(&command)?
    };
    if base_name(&program) != NAME {
        return None;
    }
    let job = match rest.split_whitespace().next() {
        Some("live") => Job::Live,
        _ => Job::Tell,
    };
    let (event, rest, whole) = (event.into(), rest.into(), whole.into());
    Some(OurEntry {
        event,
        job,
        command,
        program,
        rest,
        bare,
        literal,
        whole,
    })
}

/// Adds missing entries for these jobs, and updates the path of the program in existing ones.
pub fn add(json: &mut Json, site: &Site, program: &str, jobs: &[Job]) -> Result<Update, Trouble> {
    check(json, site)?;
    let mut update = Update::default();
    let entries = entries(json, site.install);
    for entry in &entries {
        let rest = entry.rest.trim();
        if !entry.bare && !rest.is_empty() && rest != flags(site, entry.job).trim() {
            update.flags.push(rest.into());
        }
        if entry.program != program {
            update.moved.push(entry.program.clone());
            let command = if entry.bare {
                program.into()
            } else {
                shell_word(program) + &entry.rest
            };
            entry
                .literal
                .set_raw_value(Value::from(command).to_string());
        }
    }
    for (event, job) in site.all_events().filter(|(_, job)| jobs.contains(job)) {
        if !entries
            .iter()
            .any(|entry| entry.event == event && entry.job == job)
        {
            put(json, site.install, event, &command(site, program, job))?;
            update.added.push((event.into(), job));
        }
    }
    for list in [&mut update.moved, &mut update.flags] {
        list.sort();
        list.dedup();
    }
    Ok(update)
}

/// Removes our entries, and returns their events. What was there before we came stays, even if it is empty.
pub fn take_out(json: &mut Json, site: &Site, before: &Value) -> Result<Vec<String>, Trouble> {
    let mut events = Vec::new();
    while let Some(entry) = entries(json, site.install).pop() {
        json.remove(entry.whole, before)?;
        events.insert(0, entry.event);
    }
    let usual: Vec<&str> = site.all_events().map(|(event, _)| event).collect();
    events.sort_by_key(|event| {
        usual
            .iter()
            .position(|usual| usual == event)
            .unwrap_or(usual.len())
    });
    events.dedup();
    Ok(events)
}

/// Our entries for a job alone, as a whole document.
pub fn fragment(
    site: &Site,
    wanted: Job,
    command: impl Fn(&str) -> String,
) -> Result<String, Trouble> {
    let mut json = Json::parse(&site.file(), b"")?;
    for event in site.events_of(wanted) {
        put(&mut json, site.install, event, &command(event))?;
    }
    Ok(json.text())
}

/// Adds an entry. Call [`check`] first.
fn put(json: &mut Json, install: &Install, event: &str, command: &str) -> Result<(), Trouble> {
    let object = |key: &str, value| CstInputValue::Object(vec![(key.into(), value)]);
    let command = [
        ("type".into(), "command".into()),
        (install.command.clone(), command.into()),
    ];
    let numbers = install
        .timeout
        .iter()
        .map(|(key, number)| (key.clone(), (*number).into()));
    let entry = CstInputValue::Object(command.into_iter().chain(numbers).collect());
    let entry = if install.grouped {
        object("hooks", vec![entry].into())
    } else {
        entry
    };
    if member(&json.top, "version").is_none()
        && let Some(version) = install.version
    {
        json.add(&json.top.clone().into(), Some("version"), version.into())?;
    }
    let Some(hooks) = member(&json.top, "hooks").and_then(|hooks| hooks.object_value()) else {
        return json.add(
            &json.top.clone().into(),
            Some("hooks"),
            object(event, vec![entry].into()),
        );
    };
    match member(&hooks, event).and_then(|list| list.array_value()) {
        Some(list) => json.add(&list.into(), None, entry),
        None => json.add(&hooks.into(), Some(event), vec![entry].into()),
    }
}

/// Fails if the document has something else where our entries go.
fn check(json: &Json, site: &Site) -> Result<(), Trouble> {
    let Some(hooks) = member(&json.top, "hooks").and_then(|hooks| hooks.value()) else {
        return Ok(());
    };
    let Some(lists) = hooks.as_object() else {
        return Err(json.trouble(&hooks, "\"hooks\" is not an object: {…} is expected here"));
    };
    for (event, _) in site.all_events() {
        if let Some(value) = member(&lists, event).and_then(|list| list.value())
            && value.as_array().is_none()
        {
            let why = format!("\"{event}\" is not an array: […] is expected here");
            return Err(json.trouble(&value, &why));
        }
    }
    Ok(())
}

/// The first word of a shell command, unquoted, and the rest.
pub fn first_word(command: &str) -> Option<(String, &str)> {
    let command = command.trim_start();
    let (mut word, mut quote) = (String::new(), None);
    let mut chars = command.char_indices();
    while let Some((at, char)) = chars.next() {
        match (quote, char) {
            (None, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')') => {
                return Some((word, substr(command, at..)));
            }
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
    use std::path::Path;

    use super::*;

    #[test]
    fn a_quoted_word_reads_back() {
        for word in [
            "/a/b",
            "/a b/c",
            "/it's/x",
            "/$HOME/`x`",
            "/ü/\"q\"",
            "/a\\b",
            "/tab\there",
        ] {
            let command = shell_word(word) + " --agent codex";
            assert_eq!(
                first_word(&command),
                Some((word.to_owned(), " --agent codex")),
                "{command}"
            );
        }
        assert_eq!(
            shell_word("/usr/local/bin/x-1.2_y"),
            "/usr/local/bin/x-1.2_y"
        );
    }

    #[test]
    fn the_program_is_the_first_word() {
        for (command, program, rest) in [
            ("session-context", "session-context", ""),
            (
                "  /a/session-context --budget 300",
                "/a/session-context",
                " --budget 300",
            ),
            ("\"/a b/session-context\" x", "/a b/session-context", " x"),
            (
                r"/a\ b/session-context||true",
                "/a b/session-context",
                "||true",
            ),
            ("/a/'b c'/session-context;x", "/a/b c/session-context", ";x"),
        ] {
            assert_eq!(
                first_word(command),
                Some((program.into(), rest)),
                "{command}"
            );
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
            let text = format!(r#"{{"hooks":{{"E":[{{"command":"{command}"}}]}}}}"#);
            let json = Json::parse(Path::new("x.json"), text.as_bytes()).expect("JSON");
            let install = toml::from_str(
                "dir = \"x\"\nproject = \"x\"\nfile = \"x.json\"\ncommand = \"command\"",
            )
            .expect("a table");
            assert!(entries(&json, &install).is_empty(), "{command}");
        }
    }
}
