//! What descriptor keys cannot say: the verbs, one function each.

use std::borrow::Cow;

use memchr::memmem;

use super::text::Raw;

/// `argv`: a command as a list of words, out of the shell it may be wrapped in.
pub fn argv(raw: Raw) -> Option<String> {
    if let Some(text) = raw.text() {
        return Some(text.into_owned());
    }
    let words: Vec<String> = serde_json::from_slice(raw.0).ok()?;
    match words.as_slice() {
        [shell, flag, script] if shell.ends_with("sh") && matches!(flag.as_str(), "-c" | "-lc") => Some(script.clone()),
        [] => None,
        words => Some(words.join(" ")),
    }
}

/// `patch`: the files a patch adds, updates, deletes or moves to.
pub fn patch(text: &str) -> Vec<Cow<'static, str>> {
    const MARKS: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let mut files: Vec<Cow<'static, str>> = Vec::new();
    for line in text.lines() {
        let file = MARKS.iter().find_map(|mark| line.strip_prefix(mark)).map(str::trim).filter(|file| !file.is_empty());
        if let Some(file) = file.filter(|file| !files.iter().any(|seen| seen == file)) {
            files.push(Cow::Owned(file.to_owned()));
        }
    }
    files
}

/// `exit`: whether a tool's output tells of an exit code other than 0. It stands in the first lines, or, where the output
/// is JSON in a string, near the end; what the tool printed in between is not looked at.
pub fn exit(raw: Raw) -> bool {
    const NEAR: usize = 300;
    let head = &raw.0[..raw.0.len().min(NEAR)];
    let tail = &raw.0[raw.0.len().saturating_sub(NEAR)..];
    let code = |bytes: &[u8], before: &str| {
        let at = memmem::find(bytes, before.as_bytes())? + before.len();
        let digits: Vec<u8> = bytes[at..]
            .iter()
            .copied()
            .skip_while(|byte| *byte == b' ')
            .take_while(|byte| byte.is_ascii_digit() || *byte == b'-')
            .collect();
        std::str::from_utf8(&digits).ok()?.parse::<i64>().ok()
    };
    let starts_json = raw.inside().is_some_and(|inside| inside.starts_with(b"{"));
    let stated = code(head, "Process exited with code ")
        .or_else(|| raw.inside()?.starts_with(b"Exit code: ").then(|| code(head, "Exit code: "))?)
        .or_else(|| starts_json.then(|| code(tail, "\\\"exit_code\\\":"))?);
    stated.is_some_and(|code| code != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn argv_forms() {
        let argv = |json: &str| argv(Raw(json.as_bytes()));
        assert_eq!(argv(r#"["bash","-lc","npm test"]"#).as_deref(), Some("npm test"));
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
    fn exit_codes() {
        let exit = |json: &str| exit(Raw(json.as_bytes()));
        assert!(exit(r#""Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 101\nOutput:\n""#));
        assert!(!exit(r#""Chunk ID: 1\nProcess exited with code 0\nOutput:\nExit code: 3""#));
        assert!(exit(r#""Exit code: 1\nWall time: 0""#));
        assert!(exit(r#""{\"output\":\"x\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.0}}""#));
        assert!(!exit(r#""{\"output\":\"x\",\"metadata\":{\"exit_code\":0}}""#));
        assert!(!exit(r#""the log says \"exit_code\": 7""#));
    }
}
