//! What descriptor keys cannot say: the verbs, one function each.

use std::borrow::Cow;

use memchr::memmem;

use super::text::Raw;
use super::walk::{members, pick};
use crate::boundary::substr;
use crate::format::descriptor::Pointer;
use crate::hash::HashSet;

/// `argv`: a command as a list of words, out of the shell it may be wrapped in.
pub fn argv(raw: Raw) -> Option<String> {
    if let Some(text) = raw.text() {
        return Some(text.into_owned());
    }
    let words: Vec<String> = serde_json::from_slice(raw.0).ok()?;
    match words.as_slice() {
        [shell, flag, script] if shell.ends_with("sh") && matches!(flag.as_str(), "-c" | "-lc") => {
            Some(script.clone())
        }
        [] => None,
        words => Some(words.join(" ")),
    }
}

/// `patch`: the files a patch adds, updates, deletes or moves to.
pub fn patch(text: &str) -> Vec<Cow<'static, str>> {
    const MARKS: [&str; 4] = [
        "*** Add File: ",
        "*** Update File: ",
        "*** Delete File: ",
        "*** Move to: ",
    ];
    let mut files: Vec<Cow<'static, str>> = Vec::new();
    let mut seen = HashSet::default();
    for line in text.lines() {
        let file = MARKS
            .iter()
            .find_map(|mark| line.strip_prefix(mark))
            .map(str::trim)
            .filter(|file| !file.is_empty());
        if let Some(file) = file.filter(|file| seen.insert(*file)) {
            files.push(Cow::Owned(file.to_owned()));
        }
    }
    files
}

/// The patch that a command hands to a program: `apply_patch <<'EOF'`.
pub(crate) fn handed_patch<'c>(command: &'c str, program: &str) -> Option<&'c str> {
    let (call, _) = command.split_once("*** Begin Patch")?;
    call.contains(program)
        .then(|| substr(command, call.len()..))
}

/// A file that was changed, as the client reports it.
pub struct Changed {
    pub path: String,
    pub moved: Option<String>,
    pub kind: String,
    /// All of a file that was added or deleted, or what changed of it line by line.
    pub content: Option<String>,
    pub diff: Option<String>,
}

/// `changes`: `{"src/a.rs": {"type": "update", "unified_diff": "…"}}`. What comes before a cut counts.
pub fn changes(raw: Raw) -> Vec<Changed> {
    let keys = ["type", "move_path", "content", "unified_diff"].map(|key| [Pointer::below(key)]);
    let changed = |(path, change): (String, Raw)| {
        let [kind, moved, content, diff] = pick(change.0, keys.each_ref().map(<[_; 1]>::as_slice))?;
        Some(Changed {
            path,
            moved,
            kind: kind.unwrap_or_default(),
            content,
            diff,
        })
    };
    members(raw).into_iter().filter_map(changed).collect()
}

/// `script`: the commands that a script runs, `tools.exec_command({cmd: "cargo test"})`; its first line if there is none.
pub fn script(text: &str) -> Vec<Cow<'static, str>> {
    const KEYS: [&str; 2] = ["cmd", "command"];
    let mut commands: Vec<Cow<'static, str>> = Vec::new();
    // Whether a command may follow: its name came, or its name and what separates them.
    let (mut named, mut next) = (false, false);
    let mut rest = text.trim_start();
    while let Some(char) = rest.chars().next() {
        let mut token = substr(rest, ..char.len_utf8());
        let mut string = None;
        if let '"' | '\'' | '`' = char {
            let (length, value) = literal(rest, char);
            (token, string) = (substr(rest, ..length), Some(value));
        } else if rest.starts_with("//") {
            token = rest.split('\n').next().unwrap_or(rest);
        } else if rest.starts_with("/*") {
            token = substr(rest, ..rest.find("*/").map_or(rest.len(), |end| end + 2));
        } else if char.is_alphanumeric() || char == '_' {
            token = substr(
                rest,
                ..rest
                    .find(|char: char| !char.is_alphanumeric() && char != '_')
                    .unwrap_or(rest.len()),
            );
        }
        rest = substr(rest, token.len()..).trim_start();
        commands.extend(
            string
                .filter(|command| next && !command.trim().is_empty())
                .map(Cow::Owned),
        );
        next = named && matches!(token, ":" | "=");
        named = KEYS.contains(&token.trim_matches(['"', '\'']));
    }
    if commands.is_empty() {
        commands.extend(
            text.lines()
                .map(str::trim)
                .find(|line| !line.is_empty())
                .map(|line| line.to_owned().into()),
        );
    }
    commands
}

/// A string at the start of a script: its length there, and what it says.
fn literal(text: &str, quote: char) -> (usize, String) {
    // As JSON writes it: the escapes that JSON does not have are taken off.
    let mut json = String::from('"');
    let mut chars = text.char_indices().skip(1);
    let mut end = text.len();
    while let Some((at, char)) = chars.next() {
        match char {
            _ if char == quote => {
                end = at + 1;
                break;
            }
            '\\' => match chars.next().map(|(_, escaped)| escaped) {
                Some(escaped) if "ntrbfu\"\\/".contains(escaped) => json.extend(['\\', escaped]),
                // The line goes on.
                Some('\n') | None => {}
                Some(escaped) => json.push(escaped),
            },
            char => json.push(char),
        }
    }
    json.push('"');
    (
        end,
        Raw(json.as_bytes()).text().unwrap_or_default().into_owned(),
    )
}

/// An exit code stands no further from the beginning or the end of an output.
const NEAR: usize = 300;

/// The last of some texts near the end of a tool's output tells of an exit code other than 0.
pub(crate) fn ends_with_code(raw: Raw, after: &[String]) -> bool {
    // Of an output that was cut off, the end is not known.
    let Some(inside) = raw
        .inside()
        .filter(|_| raw.0.ends_with(b"\"") && !after.is_empty())
    else {
        return false;
    };
    let end = &inside[inside.len().saturating_sub(NEAR)..];
    let places = after
        .iter()
        .filter_map(|text| Some(memmem::rfind(end, text.as_bytes())? + text.len()));
    places
        .max()
        .and_then(|at| number(&end[at..]))
        .is_some_and(|code| code != 0)
}

/// The number that some bytes begin with.
fn number(bytes: &[u8]) -> Option<i64> {
    let digits = bytes.trim_ascii_start();
    let end = digits
        .iter()
        .position(|byte| !byte.is_ascii_digit() && *byte != b'-')
        .unwrap_or(digits.len());
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok()
}

/// `exit`: whether a tool's output tells of an exit code other than 0. It stands in the first lines, or, where the output
/// is JSON in a string, near the end; or near the beginning of the second of several texts, where a script says how the
/// command ended that it ran. What the tool printed is not looked at.
pub fn exit(raw: Raw) -> bool {
    const JSON: &str = "\\\"exit_code\\\":";
    let near = |bytes: &[u8]| bytes[..bytes.len().min(NEAR)].to_vec();
    let code = |bytes: &[u8], before: &str| {
        number(&bytes[memmem::find(bytes, before.as_bytes())? + before.len()..])
    };
    let stated = match raw.inside() {
        Some(inside) => {
            let tail = &raw.0[raw.0.len().saturating_sub(NEAR)..];
            code(&near(inside), "Process exited with code ")
                .or_else(|| {
                    inside
                        .starts_with(b"Exit code: ")
                        .then(|| code(inside, "Exit code: "))?
                })
                .or_else(|| inside.starts_with(b"{").then(|| code(tail, JSON))?)
        }
        None => {
            let head = near(raw.0);
            let json = memmem::rfind(&head, b"\"text\":\"{")
                .filter(|at| *at > 0)
                .map(|at| near(&raw.0[at..]));
            json.and_then(|json| code(&json, JSON))
        }
    };
    stated.is_some_and(|code| code != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn argv_forms() {
        let argv = |json: &str| argv(Raw(json.as_bytes()));
        assert_eq!(
            argv(r#"["bash","-lc","npm test"]"#).as_deref(),
            Some("npm test")
        );
        assert_eq!(argv(r#"["git","status"]"#).as_deref(), Some("git status"));
        assert_eq!(argv(r#""ls -l""#).as_deref(), Some("ls -l"));
        assert_eq!(argv("[]"), None);
        assert_eq!(argv("[1]"), None);
    }

    #[test]
    fn patch_files() {
        let text = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** Move to: src/b.rs\n*** Add File: c\n*** Update File: c\n*** End Patch";
        assert_eq!(patch(text), ["src/a.rs", "src/b.rs", "c"]);
    }

    #[test]
    fn commands_of_a_script() {
        assert_eq!(
            script(r#"const r = await tools.exec_command({cmd: "cargo test", workdir: "/p"});"#),
            ["cargo test"]
        );
        assert_eq!(
            script(r#"text(await tools.exec_command({ "cmd" : 'echo "a" \'b\'' }))"#),
            [r#"echo "a" 'b'"#]
        );
        assert_eq!(
            script("const cmd = `ls\n  -l \\`x\\` ${dir}`;\nawait tools.exec_command({cmd})"),
            ["ls\n  -l `x` ${dir}"]
        );
        assert_eq!(
            script(r#"f({cmd:"a \u00e9\u2026\n\$b"}); f({cmd:"c"})"#),
            ["a é…\n$b", "c"]
        );
        // What only looks like one.
        assert_eq!(
            script(
                r#"// cmd: "no"
            text("cmd: 'no'"); /* {cmd: "no"} */ if (cmd == "no") f({cmd: x, recmd: "no"})"#
            ),
            [r#"// cmd: "no""#]
        );
        assert_eq!(
            script("\n  text(await tools.apply_patch(patch));\nmore"),
            ["text(await tools.apply_patch(patch));"]
        );
        assert_eq!(script(r#"f({cmd: "cut"#), ["cut"]);
        assert!(script(" \n").is_empty());
    }

    #[test]
    fn changes_by_path() {
        let json = r#"{"a b":{"type":"update","unified_diff":"@@\n-x\n+y","move_path":"c"},"\u00e9":{"type":"add","content":"1"},"cut":{"type":"add","content":"2"#;
        let told = |json: &str| {
            changes(Raw(json.as_bytes()))
                .into_iter()
                .map(|one| (one.path, one.moved, one.kind))
                .collect::<Vec<_>>()
        };
        let expected = [("a b", Some("c"), "update"), ("é", None, "add")];
        assert_eq!(
            told(json),
            expected.map(|(path, moved, kind)| (
                path.to_owned(),
                moved.map(str::to_owned),
                kind.to_owned()
            ))
        );
        assert!(told("[]").is_empty() && told("{}").is_empty() && told(r#""text""#).is_empty());
    }

    #[test]
    fn codes_at_the_end() {
        let ends = |json: &str| {
            ends_with_code(
                Raw(json.as_bytes()),
                &["Exit Code: ".into(), "<exited with ".into()],
            )
        };
        assert!(ends(r#""Output: x\nExit Code: 1\nSignal: (none)""#));
        assert!(ends(r#""x\n<exited with -1>""#));
        // The last one counts, if there is one, and if it is near the end.
        assert!(!ends(r#""Exit Code: 1\n<exited with 0>""#));
        assert!(!ends(r#""Exit Code: (none)""#) && !ends(r#""x""#) && !ends(r#"["Exit Code: 1"]"#));
        assert!(!ends(&format!(r#""Exit Code: 1\n{}""#, "x".repeat(400))));
        assert!(!ends(r#""cut: Exit Code: 1"#));
    }

    #[test]
    fn patches_in_commands() {
        assert_eq!(
            handed_patch(
                "cd a && apply_patch <<'E'\n*** Begin Patch\nx",
                "apply_patch"
            ),
            Some("*** Begin Patch\nx")
        );
        assert_eq!(
            handed_patch("cat <<'E'\n*** Begin Patch\nx", "apply_patch"),
            None
        );
        assert_eq!(handed_patch("which apply_patch", "apply_patch"), None);
    }

    #[test]
    fn exit_codes() {
        let exit = |json: &str| exit(Raw(json.as_bytes()));
        assert!(exit(
            r#""Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 101\nOutput:\n""#
        ));
        assert!(!exit(
            r#""Chunk ID: 1\nProcess exited with code 0\nOutput:\nExit code: 3""#
        ));
        assert!(exit(r#""Exit code: 1\nWall time: 0""#));
        assert!(exit(
            r#""{\"output\":\"x\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.0}}""#
        ));
        assert!(!exit(
            r#""{\"output\":\"x\",\"metadata\":{\"exit_code\":0}}""#
        ));
        assert!(!exit(r#""the log says \"exit_code\": 7""#));
        let script = |second: &str| {
            format!(
                r#"[{{"type":"input_text","text":"Script completed\nOutput:\n"}},{{"type":"input_text","text":"{second}"}}]"#
            )
        };
        assert!(exit(&script(
            r#"{\"chunk_id\":\"1\",\"exit_code\":101,\"output\":\"x\"}"#
        )));
        assert!(!exit(&script(
            r#"{\"exit_code\":0,\"output\":\"exit_code\"}"#
        )));
        assert!(!exit(&script(r#"the log: {\"exit_code\":7}"#)));
    }
}
