//! The simple commands of a line, without what only starts them: `sudo`, `env A=b`, `npx`, `bash -lc "…"`.
//!
//! A command is a list of words that begins with the program that does the work, however it was started. Quotation
//! marks and redirections are for `line`; what the work is, for `work`.

use super::line::{Link, Simple, simple_commands};
use super::proof::{Effect, GroupKind, Proof};
use crate::fold::one_of;
use crate::fold::words::{ASIDE, RUNNERS, WRAPPERS};
use session_format::path::base_name;

/// A simple command in its line.
#[derive(Debug)]
pub struct Command {
    pub link: Link,
    /// The program that does the work, and its arguments.
    pub words: Vec<String>,
    /// The last of its words is a here-document.
    pub document: bool,
    /// Within `if`, `for`, `while`, `case` or a function, or negated: that the line succeeded does not say that this did.
    pub conditional: bool,
}

/// The simple commands of a line, each as its words, in their order.
pub fn commands(line: &str) -> Vec<Vec<String>> {
    linked_commands(line)
        .into_iter()
        .map(|command| command.words)
        .collect()
}

/// The simple commands of a line, in their order.
pub(crate) fn linked_commands(line: &str) -> Vec<Command> {
    commands_and_proof(line).0
}

/// The simple commands of a line, in their order, and what its success proves of them.
pub(crate) fn commands_and_proof(line: &str) -> (Vec<Command>, Proof) {
    /// Nobody writes a longer one by hand, and reading it takes time that a hook does not have.
    const LONGEST_LINE: usize = 64 << 10;
    const DEPTH: usize = 4;
    let mut found = Vec::new();
    let mut groups = Groups {
        proof: Proof::new(),
        is_function: false,
        link: None,
    };
    if line.len() > LONGEST_LINE {
        return (found, groups.proof);
    }
    // Simple commands that are still to be read, the next one last; none where the text for a shell ends.
    let read = |line: &str, depth: usize| {
        simple_commands(line)
            .into_iter()
            .rev()
            .map(move |one| Some((depth, one)))
    };
    let mut open: Vec<Option<(usize, Simple)>> = read(line, 0).collect();
    while let Some(next) = open.pop() {
        let Some((
            depth,
            Simple {
                link,
                mut words,
                document,
                background,
            },
        )) = next
        else {
            groups.proof.close_script();
            continue;
        };
        let outer = groups.link.take().unwrap_or(link);
        let (link, negated) = groups.take_marks(&mut words, link, outer, background);
        if words.is_empty() {
            continue;
        }
        groups.link = None;
        let effect = Effect::of(&words);
        let words = unwrapped(words);
        let proof = &mut groups.proof;
        if let (true, Some(script)) = (depth < DEPTH, inner_script(&words)) {
            proof.open(GroupKind::Script, link, negated, background);
            open.push(None);
            open.extend(read(script, depth + 1));
            groups.link = Some(outer);
        } else if !words.is_empty() {
            proof.command(found.len(), effect, link, negated, background);
            let conditional = negated || proof.is_unsure();
            found.push(Command {
                link: outer,
                words,
                document,
                conditional,
            });
        }
    }
    (found, groups.proof)
}

/// The groups around the command that is read.
struct Groups {
    proof: Proof,
    /// The next group is the body of a function.
    is_function: bool,
    /// The link of the group that has just begun; its first command has it, too.
    link: Option<Link>,
}

/// Groups, and the words that open and close them.
const GROUPS: [(GroupKind, &str, &str); 3] = [
    (GroupKind::Brackets, "(", ")"),
    (GroupKind::Braces, "{", "}"),
    (
        GroupKind::Block,
        "if for while until case select",
        "fi done esac",
    ),
];

impl Groups {
    /// Takes off the words before a command that open, close or negate something. Returns the command's link within its own
    /// group, and whether it is negated.
    fn take_marks(
        &mut self,
        words: &mut Vec<String>,
        link: Link,
        outer: Link,
        background: bool,
    ) -> (Link, bool) {
        let (mut link, mut negated, mut from) = (link, false, 0);
        while let Some(word) = words.get(from) {
            let closed = GROUPS.iter().find(|(_, _, closes)| one_of(closes, word));
            if let Some((kind, ..)) = GROUPS.iter().find(|(_, opens, _)| one_of(opens, word)) {
                let unsure = std::mem::take(&mut self.is_function) || *kind == GroupKind::Block;
                self.proof
                    .open(*kind, link, std::mem::take(&mut negated), unsure);
                (link, self.link) = (Link::Then, Some(outer));
            } else if let Some((kind, ..)) = closed {
                self.proof.close(*kind, background);
            } else if word == "!" {
                negated = true;
            } else if word == "function" || word.ends_with("()") {
                self.is_function = true;
                from += usize::from(word == "function");
            } else if !one_of("then else elif do", word) {
                break;
            }
            from += 1;
        }
        words.drain(..from.min(words.len()));
        (link, negated)
    }
}

/// The part that two runs of a command share: no directory, no environment, no filter for the output.
pub fn normalised(command: &str) -> String {
    let all = commands(command);
    let mut runs: Vec<&Vec<String>> = all
        .iter()
        .filter(|words| !one_of(ASIDE, &program(words)))
        .collect();
    if runs.is_empty() {
        runs = all.iter().collect();
    }
    let joined: Vec<String> = runs.iter().map(|words| words.join(" ")).collect();
    let joined = if joined.is_empty() {
        command.to_owned()
    } else {
        joined.join("; ")
    };
    joined.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The word of this number; nothing if there are fewer.
pub fn word_at(words: &[String], index: usize) -> &str {
    words.get(index).map(String::as_str).unwrap_or_default()
}

/// The name of the program that a command runs.
pub fn program(words: &[String]) -> String {
    base(word_at(words, 0))
}

/// The name of a program without its directory and ending.
pub fn base(word: &str) -> String {
    let name = base_name(word);
    let bare = [".exe", ".cmd", ".bat"]
        .into_iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name);
    bare.to_ascii_lowercase()
}

/// `RUST_BACKTRACE=1`
pub(crate) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// The text that a shell is told to run.
fn inner_script(words: &[String]) -> Option<&str> {
    if !one_of("bash sh zsh dash fish ksh", &program(words)) {
        return None;
    }
    let is_flag =
        |word: &String| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
    let flag = words.iter().take(5).position(is_flag)?;
    words.get(flag + 1).map(String::as_str)
}

/// The options of runners that take a value.
const RUNNER_OPTIONS: &str = "--with --extra --group --package -p --python --directory";

/// Without what comes before the program that does the work.
fn unwrapped(mut words: Vec<String>) -> Vec<String> {
    const CONTROL: &str = "if then else elif do while until ! { ( }";
    let mut from = 0;
    while let Some(word) = words.get(from) {
        let name = base(word);
        let second = word_at(&words, from + 1);
        if is_assignment(word) || one_of(CONTROL, word) {
            from += 1;
        } else if let Some((_, valued)) = WRAPPERS
            .iter()
            .find(|(wrappers, _)| one_of(wrappers, &name))
        {
            // `timeout 400 cargo test`
            from = after_options(&words, from + 1, valued) + usize::from(name == "timeout");
        } else if RUNNERS
            .iter()
            .any(|(runners, how)| one_of(runners, &name) && one_of(how, second))
        {
            from = after_options(&words, from + 2, RUNNER_OPTIONS);
        } else {
            break;
        }
    }
    words.drain(..from.min(words.len()));
    words
}

/// The index of the first word from `at` on that is neither an option nor the value of one.
fn after_options(words: &[String], mut at: usize, valued: &str) -> usize {
    while let Some(option) = words.get(at).filter(|word| word.starts_with('-')) {
        at += if one_of(valued, option) { 2 } else { 1 };
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_of_a_command_are_equal() {
        let same = [
            ("cargo test", "  cargo   test  "),
            ("cargo test", "cd /x && cargo test"),
            (
                "cargo test",
                "cd /x && RUST_BACKTRACE=1 cargo test 2>&1 | tail -20",
            ),
            ("cargo test", "bash -lc 'cargo test'"),
            ("cargo test", "timeout 100 cargo test; echo $?"),
            ("npm test", "env CI=1 npm test > out.txt"),
            ("npm test", "npm test &> \"my out.txt\""),
        ];
        for (one, other) in same {
            assert_eq!(normalised(one), normalised(other), "{one} | {other}");
        }
        let different = [
            ("cargo test", "cargo test a"),
            ("cargo build && cargo test", "cargo test"),
            ("python - <<EOF\n1\nEOF", "python - <<EOF\n2\nEOF"),
            ("cd a", "cd b"),
            ("echo a", "echo b"),
        ];
        for (one, other) in different {
            assert_ne!(normalised(one), normalised(other), "{one} | {other}");
        }
    }
}
