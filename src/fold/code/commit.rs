//! The subject of the commit that a command makes.
//!
//! Only a message that the command itself says: what comes from a variable, an editor or a file is not known. What a
//! message is quoted with is for `line` to take off.

use super::command::commands;
use super::work::{Work, kind};

/// The first line of each message that a command commits with.
pub fn commit_subjects(command: &str) -> Vec<String> {
    commands(command).iter().filter(|words| kind(words) == Work::Commit).filter_map(|words| commit(words)).collect()
}

fn commit(command: &[String]) -> Option<String> {
    let mut words = command.iter().skip_while(|word| *word != "commit").skip(1);
    while let Some(word) = words.next() {
        let message = match word.as_str() {
            "--message" => words.next()?,
            "-F-" | "--file=-" => command.last()?,
            "-F" | "--file" if words.clone().next().is_some_and(|file| file == "-") => command.last()?,
            word => match word.strip_prefix("--message=").or_else(|| glued(word)) {
                Some("") => words.next()?,
                Some(message) => message,
                None => continue,
            },
        };
        return subject(message);
    }
    None
}

/// The message in `-mFix` or `-am'Fix it'`, if the word is such a flag: empty where the message is the next word.
fn glued(word: &str) -> Option<&str> {
    /// Flags that take no value, so that another may follow.
    const FLAGS: &str = "aeinopqsv";
    let (flags, message) = word.strip_prefix('-')?.split_once('m')?;
    flags.chars().all(|flag| FLAGS.contains(flag)).then_some(message)
}

/// The first line of a message, also of one that `$(cat <<EOF …)` prints.
fn subject(message: &str) -> Option<String> {
    let message = message.trim();
    let body = match message.strip_prefix("$(") {
        Some(_) => message.split_once("<<").and_then(|(_, body)| Some(body.split_once('\n')?.1))?,
        None => message,
    };
    let first = body.lines().map(str::trim).find(|line| !line.is_empty())?;
    (!first.starts_with('$')).then(|| first.to_owned())
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub const COMMITS: [(&str, Option<&str>); 20] = [
        ("git commit -m\"Fix the form\" -q", Some("Fix the form")),
        ("git commit -mform", Some("form")),
        ("git commit -am\"Fix it\"", Some("Fix it")),
        ("git commit --amend -m", None),
        ("git commit -m \"Fix the \\\"parser\\\"\"", Some("Fix the \"parser\"")),
        ("git add -A && git commit -am 'One\n\nTwo'", Some("One")),
        ("git commit --message=Three", Some("Three")),
        ("git commit --message \"Four\" -m body", Some("Four")),
        ("git commit -mFive", Some("Five")),
        ("git commit -s -m Six", Some("Six")),
        (
            "cd x && git -C y commit -m \"$(cat <<'EOF'\nDon't (break: \"it\"\n\nBody )\nEOF\n)\" && git push",
            Some("Don't (break: \"it\""),
        ),
        ("git commit -m \"$(cat <<EOF\n\n  Indented\nEOF\n)\"", Some("Indented")),
        ("git commit -F - <<'EOF'\nFrom a file\nEOF", Some("From a file")),
        ("git commit -q -F- <<EOF\nFrom here\nmore\nEOF\ngit push", Some("From here")),
        ("bash -lc \"git commit -m 'Ünïcode ✓'\"", Some("Ünïcode ✓")),
        ("git commit --amend --no-edit", None),
        ("git commit -m \"$MSG\"", None),
        ("git commit -m", None),
        ("git log -m commit", None),
        ("echo git commit -m x", None),
    ];

    #[test]
    fn reads_the_subjects_of_several_commits() {
        let both = "git commit -m \"First thing\" a.rs && git commit -m 'Second thing' b.rs; git push";
        assert_eq!(commit_subjects(both), ["First thing", "Second thing"]);
    }

    #[test]
    fn reads_the_subject_of_a_commit() {
        for (command, wanted) in COMMITS {
            assert_eq!(
                commit_subjects(command),
                wanted.map(str::to_owned).into_iter().collect::<Vec<_>>(),
                "{command}"
            );
        }
    }
}
