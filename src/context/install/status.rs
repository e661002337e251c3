//! Our command in the status line of an agent: put around the user's own, or where there was none, and taken out again.
//!
//! The user's own command stands behind ours, as one word: `session-context statusline -- 'COMMAND'`. So it is never lost,
//! and what the user has set beside it stays as it is.

use jsonc_parser::cst::{CstContainerNode, CstInputValue, CstObject, CstObjectProp, CstStringLit};
use serde_json::Value;

use super::files::Trouble;
use super::hook::{NAME, first_word};
use super::json::{Json, member};
use session_format::format::descriptor::Pointer;
use session_format::format::install::StatusLine;
use session_format::path::{base_name, shell_word};

const COMMAND: &str = "command";

/// Our status line, as it stands in a document.
#[derive(Debug)]
pub struct Ours {
    pub program: String,
    /// The user's own command.
    pub theirs: Option<String>,
    literal: CstStringLit,
}

pub fn command(program: &str, theirs: Option<&str>) -> String {
    let theirs = theirs.map(|theirs| format!(" -- {}", shell_word(theirs)));
    format!(
        "{} statusline{}",
        shell_word(program),
        theirs.unwrap_or_default()
    )
}

pub fn find(json: &Json, line: &StatusLine) -> Option<Ours> {
    let literal = literal(&at(json, &line.key)?.object_value()?)?;
    let command = literal.decoded_value().ok()?;
    let (program, rest) = first_word(&command)?;
    if base_name(&program) != NAME {
        return None;
    }
    let theirs = match rest.trim().strip_prefix("statusline")?.trim() {
        "" => None,
        // What somebody wrote around it by hand is theirs, and ours stays where it is in it.
        rest => match first_word(rest.strip_prefix("-- ")?) {
            Some((word, "")) => Some(word),
            _ => return None,
        },
    };
    Some(Ours {
        program,
        theirs,
        literal,
    })
}

/// Puts our command in, or brings the path of the program up to date.
pub fn put(json: &mut Json, line: &StatusLine, program: &str) -> Result<(), Trouble> {
    if let Some(Ours {
        theirs, literal, ..
    }) = find(json, line)
    {
        set(&literal, &command(program, theirs.as_deref()));
        return Ok(());
    }
    let every = || {
        line.every
            .iter()
            .map(|(key, number)| (key.clone(), CstInputValue::from(*number)))
    };
    let Some(found) = at(json, &line.key) else {
        let whole = [
            ("type".into(), COMMAND.into()),
            (COMMAND.into(), command(program, None).into()),
        ];
        return add(
            json,
            &line.key,
            CstInputValue::Object(whole.into_iter().chain(every()).collect()),
        );
    };
    let Some(literal) = found.object_value().and_then(|object| literal(&object)) else {
        let key = line.key.0.join(".");
        let why = format!("\"{key}\" has no command that ours could be put around; remove it");
        return Err(json.trouble(&found.into(), &why));
    };
    let theirs = literal.decoded_value().unwrap_or_default();
    set(&literal, &command(program, Some(&theirs)));
    for (key, number) in every() {
        // Adding one may read the document anew.
        let object = at(json, &line.key).and_then(|found| found.object_value());
        if let Some(object) = object.filter(|object| member(object, &key).is_none()) {
            json.add(&object.into(), Some(&key), number)?;
        }
    }
    Ok(())
}

/// Takes our command out, and leaves the user's and what was there before we came.
pub fn take_out(json: &mut Json, line: &StatusLine, before: &Value) -> Result<(), Trouble> {
    let (
        Some(Ours {
            theirs, literal, ..
        }),
        Some(found),
    ) = (find(json, line), at(json, &line.key))
    else {
        return Ok(());
    };
    let Some(theirs) = theirs else {
        return json.remove(found.into(), before);
    };
    set(&literal, &theirs);
    let theirs = line
        .key
        .0
        .iter()
        .try_fold(before, |value, key| value.get(key));
    for (key, number) in line
        .every
        .iter()
        .filter(|(key, _)| theirs.is_none_or(|theirs| theirs.get(key).is_none()))
    {
        let own = at(json, &line.key).and_then(|found| member(&found.object_value()?, key));
        let is_ours = |own: &CstObjectProp| {
            own.value()
                .is_some_and(|value| value.to_string() == number.to_string())
        };
        if let Some(own) = own.filter(is_ours) {
            json.remove(CstContainerNode::from(own), before)?;
        }
    }
    Ok(())
}

fn set(literal: &CstStringLit, command: &str) {
    literal.set_raw_value(Value::from(command).to_string());
}

/// The command of a status line that runs one.
fn literal(object: &CstObject) -> Option<CstStringLit> {
    member(object, COMMAND)?.value()?.as_string_lit()
}

/// The member that a key leads to.
pub fn at(json: &Json, key: &Pointer) -> Option<CstObjectProp> {
    let (last, above) = key.0.split_last()?;
    let around = above.iter().try_fold(json.top.clone(), |object, key| {
        member(&object, key)?.object_value()
    })?;
    member(&around, last)
}

/// Adds the member, and the objects around it that are not there.
pub fn add(json: &mut Json, key: &Pointer, value: CstInputValue) -> Result<(), Trouble> {
    let mut around = json.top.clone();
    for (depth, part) in key.0.iter().enumerate() {
        let Some(found) = member(&around, part) else {
            let rest = key.0[depth + 1..].iter().rev();
            let value = rest.fold(value, |value, key| {
                CstInputValue::Object(vec![(key.clone(), value)])
            });
            return json.add(&around.into(), Some(part), value);
        };
        let why = || format!("\"{part}\" is not an object: {{…}} is expected here");
        around = found
            .object_value()
            .ok_or_else(|| json.trouble(&found.clone().into(), &why()))?;
    }
    Ok(())
}
