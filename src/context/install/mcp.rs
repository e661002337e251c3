//! Our server among the MCP servers of an agent: an object in JSON, or a table at the end of a TOML file.
//!
//! It is ours if it has our name and runs `session-reader`. In TOML it is text that is added and taken out, so all else stays
//! as it is; what the whole file says is compared before and after.

use std::path::Path;

use jsonc_parser::cst::{CstInputValue, CstObjectProp, CstStringLit};
use serde_json::Value;

use super::files::Trouble;
use super::json::{Json, member};
use super::site::is_toml;
use super::status::{add, at};
use session_format::boundary::substr;
use session_format::format::descriptor::Pointer;
use session_format::format::install::McpServers;
use session_format::path::base_name;

/// What the server is called in an agent's settings.
pub const NAME: &str = "session-monitor";
/// The program that it runs.
pub const PROGRAM: &str = "session-reader";
const ARGUMENT: &str = "mcp";
const COMMAND: &str = "command";

fn key(servers: &McpServers) -> Pointer {
    let keys = servers.key.0.iter().cloned().chain([NAME.to_owned()]);
    Pointer(keys.collect())
}

/// The program that our server runs in a file, if that is there.
pub fn find_in(path: &Path, bytes: &[u8], servers: &McpServers) -> Result<Option<String>, Trouble> {
    if is_toml(path) {
        let text = &String::from_utf8_lossy(bytes);
        return Toml {
            path,
            text,
            servers,
        }
        .find();
    }
    Ok(find(&Json::parse(path, bytes)?, servers))
}

/// The program that our server runs in a JSON document, if that is there.
pub fn find(json: &Json, servers: &McpServers) -> Option<String> {
    ours(json, servers).map(|(program, ..)| program)
}

fn ours(json: &Json, servers: &McpServers) -> Option<(String, CstStringLit, CstObjectProp)> {
    let found = at(json, &key(servers))?;
    let literal = member(&found.object_value()?, COMMAND)?
        .value()?
        .as_string_lit()?;
    let program = literal.decoded_value().ok()?;
    (base_name(&program) == PROGRAM).then_some((program, literal, found))
}

/// Puts our server in, or brings the path of its program up to date.
pub fn put(json: &mut Json, servers: &McpServers, program: &str) -> Result<(), Trouble> {
    if let Some((_, literal, _)) = ours(json, servers) {
        literal.set_raw_value(Value::from(program).to_string());
        return Ok(());
    }
    if let Some(theirs) = at(json, &key(servers)) {
        let why = format!("there is another server called \"{NAME}\"; rename it");
        return Err(json.trouble(&theirs.into(), &why));
    }
    let kind = servers
        .kind
        .iter()
        .map(|kind| ("type", kind.as_str().into()));
    let command = [
        (COMMAND, program.into()),
        ("args", CstInputValue::Array(vec![ARGUMENT.into()])),
    ];
    let tools = servers
        .tools
        .iter()
        .map(|tool| CstInputValue::from(tool.as_str()));
    let tools: Vec<CstInputValue> = tools.collect();
    let tools = (!tools.is_empty()).then_some(("tools", CstInputValue::Array(tools)));
    let members = kind.chain(command).chain(tools);
    let members = members.map(|(key, value)| (key.to_owned(), value));
    add(
        json,
        &key(servers),
        CstInputValue::Object(members.collect()),
    )
}

/// Takes our server out, and leaves what was there before we came.
pub fn take_out(json: &mut Json, servers: &McpServers, before: &Value) -> Result<(), Trouble> {
    match ours(json, servers) {
        Some((_, _, found)) => json.remove(found.into(), before),
        None => Ok(()),
    }
}

/// Our server as it is written into TOML.
fn table(servers: &McpServers, program: &str) -> String {
    let (head, program) = (head(servers), Value::from(program));
    format!("{head}\n{COMMAND} = {program}\nargs = [\"{ARGUMENT}\"]\n")
}

fn head(servers: &McpServers) -> String {
    format!("[{}]", key(servers).0.join("."))
}

/// A TOML file, as far as it is about our server.
pub struct Toml<'t> {
    pub path: &'t Path,
    pub text: &'t str,
    pub servers: &'t McpServers,
}

impl Toml<'_> {
    fn parse(&self, text: &str) -> Result<Value, Trouble> {
        toml::from_str(text).map_err(|error: toml::de::Error| {
            let start = error.span().map_or(0, |span| span.start);
            Trouble::at(self.path, text, start, error.message())
        })
    }

    /// The program that our server runs, if that is there.
    pub fn find(&self) -> Result<Option<String>, Trouble> {
        let all = self.parse(self.text)?;
        let keys = key(self.servers);
        let server = keys.0.iter().try_fold(&all, |value, key| value.get(key));
        let program = server.and_then(|server| server[COMMAND].as_str());
        Ok(program
            .filter(|program| base_name(program) == PROGRAM)
            .map(str::to_owned))
    }

    /// The lines of our server, with the tables below it, and the lines before and after them.
    fn parts(&self) -> Option<(&str, &str, &str)> {
        let head = head(self.servers);
        let below = format!("{}.", head.trim_end_matches(']'));
        let mut start = 0;
        let starts = self.text.split_inclusive('\n').map(|line| {
            start += line.len();
            (start - line.len(), line.trim())
        });
        let mut lines = starts.skip_while(|(_, line)| *line != head);
        let (start, _) = lines.next()?;
        let is_other = |line: &str| line.starts_with('[') && !line.starts_with(&below);
        let end = lines.find(|(_, line)| is_other(line));
        let end = end.map_or(self.text.len(), |(start, _)| start);
        Some((
            substr(self.text, ..start),
            substr(self.text, start..end),
            substr(self.text, end..),
        ))
    }

    /// The text with our server in it, or with the path of its program brought up to date.
    pub fn with(&self, program: &str) -> Result<String, Trouble> {
        let after = match (self.find()?, self.parts()) {
            (Some(old), _) if old == program => return Ok(self.text.to_owned()),
            (Some(old), Some((before, ours, after))) => {
                let [old, new] =
                    [&*old, program].map(|program| format!("{COMMAND} = {}", Value::from(program)));
                format!("{before}{}{after}", ours.replacen(&old, &new, 1))
            }
            _ => {
                let gap = match self.text {
                    "" => "",
                    text if text.ends_with('\n') => "\n",
                    _ => "\n\n",
                };
                format!("{}{gap}{}", self.text, table(self.servers, program))
            }
        };
        let put = Toml {
            text: &after,
            ..*self
        }
        .find();
        if matches!(put, Ok(Some(found)) if found == program) {
            return Ok(after);
        }
        let why = format!(
            "our server cannot be added to what is there; write in by hand:\n{}",
            table(self.servers, program)
        );
        Err(Trouble::new(self.path, why.trim_end()))
    }

    /// The text without our server. All else that it says is the same.
    pub fn without(&self) -> Result<String, Trouble> {
        let left = self.parts().map(|(before, _, after)| {
            let before = if after.is_empty() {
                before
                    .strip_suffix("\n\n")
                    .map_or(before, |_| before.trim_end_matches('\n'))
            } else {
                before
            };
            let end = if after.is_empty() && !before.is_empty() && !before.ends_with('\n') {
                "\n"
            } else {
                ""
            };
            format!("{before}{end}{after}")
        });
        let mut all = self.parse(self.text)?;
        remove(&mut all, &key(self.servers).0);
        left.filter(|left| self.parse(left).is_ok_and(|left| left == all))
            .ok_or_else(|| {
                Trouble::new(
                    self.path,
                    format!("take {} out by hand", head(self.servers)),
                )
            })
    }
}

/// Removes a value, and the tables that it leaves empty.
fn remove(value: &mut Value, keys: &[String]) {
    if let ([first, rest @ ..], Some(table)) = (keys, value.as_object_mut()) {
        if let Some(below) = table.get_mut(first).filter(|_| !rest.is_empty()) {
            remove(below, rest);
        }
        let is_empty = table
            .get(first)
            .and_then(Value::as_object)
            .is_some_and(serde_json::Map::is_empty);
        if rest.is_empty() || is_empty {
            table.remove(first);
        }
    }
}
