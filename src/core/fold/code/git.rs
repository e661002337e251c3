//! What a command did to the repository: a commit, a push, another branch, other files in the working tree.
//!
//! Told by what the command says, given that it succeeded. Where that does not settle it (`git commit …; ls`, a
//! `git commit` within `if`), nothing is told: that is up to `proof`. Reading a commit's message is for `commit`.

use super::command::{Command, commands_and_proof, program, word_at};
use super::commit::subject;
use super::proof::Proof;
use crate::fold::filetypes::language;
use crate::fold::one_of;
use crate::fold::touched::Deed;
use crate::fold::words::MOVES;
use session_format::path::base_name;

/// Something that others who work in the same repository notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GitEvent {
    /// With the subject of the commit; empty if the command does not say it (`git commit --amend --no-edit`).
    Committed(String),
    Pushed,
    /// The working tree is on this branch now.
    Switched(String),
    /// This subcommand of git changed files that nobody edited.
    Moved(&'static str),
}

/// The events in its session's repository that a successful command proves.
///
/// A directory that the command names with `-C` counts only if it is within that one. After a `cd` to an absolute path,
/// which may be the session's own or another checkout, only commits and pushes count.
pub fn git_events(command: &str) -> Vec<GitEvent> {
    let (all, proof) = git_commands(command);
    let event = |(command, place): (&Command, RunsIn)| {
        let event = git(command).filter(GitCall::is_here)?.event()?;
        let counts = match place {
            RunsIn::Inside => true,
            RunsIn::Absolute => matches!(event, GitEvent::Committed(_) | GitEvent::Pushed),
            RunsIn::Outside => false,
        };
        counts.then_some(event)
    };
    sure(all.iter().zip(places(&all)).map(event).collect(), proof)
}

/// The files that a command which succeeded changed by git, with their paths as seen from where it began, and what was done
/// to each: `git checkout -- FILE`, `git restore FILE`, `git rm FILE`, `git mv A B`. Only where it names each file.
pub fn git_changed(command: &str) -> Vec<(String, Deed)> {
    let (all, proof) = git_commands(command);
    let mut dir = Some(String::new());
    let changed = |command: &Command| {
        if one_of("cd pushd popd", &program(&command.words)) {
            let to = word_at(&command.words, 1);
            dir = match dir.take() {
                _ if to.starts_with('/') => Some(format!("{to}/")),
                Some(dir) if is_within(to) => Some(format!("{dir}{to}/")),
                _ => None,
            };
        }
        let git = git(command).filter(|git| git.directory.is_none())?;
        let dir = dir.as_deref()?;
        let full = |path: &str| {
            if path.starts_with('/') {
                path.to_owned()
            } else {
                format!("{dir}{path}")
            }
        };
        Some(
            git.changed()?
                .into_iter()
                .map(|(path, deed)| (full(path), deed))
                .collect::<Vec<_>>(),
        )
    };
    sure(all.iter().map(changed).collect(), proof).concat()
}

/// The commands of a line that may call git; none of any other, for most lines are others.
fn git_commands(line: &str) -> (Vec<Command>, Proof) {
    commands_and_proof(if line.contains("git") { line } else { "" })
}

/// Keeps the effects of those commands that succeeded for sure.
fn sure<T: Clone + PartialEq>(found: Vec<Option<T>>, proof: Proof) -> Vec<T> {
    let sure = proof.proven(&|one, other| found[one].is_some() && found[one] == found[other]);
    sure.into_iter()
        .filter_map(|index| found[index].clone())
        .collect()
}

/// The directory of a command, as far as the `cd`s before it tell.
#[derive(Clone, Copy, PartialEq)]
enum RunsIn {
    Inside,
    /// In a directory that is named from the root on.
    Absolute,
    Outside,
}

/// The place of each command of a line.
fn places(all: &[Command]) -> Vec<RunsIn> {
    let mut place = RunsIn::Inside;
    let after = all.iter().map(|command| {
        if one_of("cd pushd", &program(&command.words)) {
            let dir = word_at(&command.words, 1);
            place = match place {
                _ if is_absolute(dir) => RunsIn::Absolute,
                place if is_within(dir) || is_above(dir) => place,
                _ => RunsIn::Outside,
            };
        }
        place
    });
    after.collect()
}

/// True if a command shows all that changed in the working tree.
pub fn shows_changes(command: &str) -> bool {
    /// These show less, or something else.
    const LESS: &str = "--cached --staged --stat --shortstat --numstat --name-only --name-status --quiet -q --check";
    let (all, _) = git_commands(command);
    let inside = all
        .iter()
        .zip(places(&all))
        .filter(|(_, place)| *place == RunsIn::Inside);
    inside.filter_map(|(command, _)| git(command)).any(|git| {
        git.subcommand == "diff"
            && git.is_here()
            && !git
                .options()
                .any(|option| one_of(LESS, option.split('=').next().unwrap_or_default()))
            && git.plain().all(|word| one_of("HEAD . :/", word))
    })
}

/// The subjects of the commits that a command makes, in whichever repository, if it succeeds.
pub fn commit_subjects(command: &str) -> Vec<String> {
    let commits =
        git_commands(command)
            .0
            .into_iter()
            .filter_map(|command| match git(&command)?.event()? {
                GitEvent::Committed(subject) => Some(subject),
                _ => None,
            });
    commits.filter(|subject| !subject.is_empty()).collect()
}

/// A call of git.
struct GitCall<'w> {
    directory: Option<&'w str>,
    subcommand: &'w str,
    arguments: &'w [String],
    /// The last of the arguments is a here-document.
    document: bool,
}

fn git(
    Command {
        words, document, ..
    }: &Command,
) -> Option<GitCall<'_>> {
    /// Options before the subcommand that take a value; these two say that the repository is somewhere else.
    const VALUED: &str = "-C -c --git-dir --work-tree --namespace --config-env --exec-path";
    const ELSEWHERE: &str = "--git-dir --work-tree";
    if program(words) != "git" {
        return None;
    }
    let mut directory = None;
    let mut at = 1;
    while let Some(option) = words.get(at).filter(|word| word.starts_with('-')) {
        let (name, glued) = option
            .split_once('=')
            .map_or((option.as_str(), None), |(name, value)| (name, Some(value)));
        let value = glued.or_else(|| words.get(at + 1).map(String::as_str));
        if name == "-C" || one_of(ELSEWHERE, name) {
            directory = value;
        }
        at += 1 + usize::from(glued.is_none() && one_of(VALUED, name));
    }
    let subcommand = words.get(at)?;
    Some(GitCall {
        directory,
        subcommand,
        arguments: &words[at + 1..],
        document: *document,
    })
}

impl<'w> GitCall<'w> {
    fn is_here(&self) -> bool {
        self.directory.is_none_or(is_within)
    }

    fn event(&self) -> Option<GitEvent> {
        if self.has("--help -h") {
            return None;
        }
        match self.subcommand {
            "commit" if self.has("--dry-run --short --porcelain --long") => None,
            "commit" => Some(GitEvent::Committed(
                subject(self.arguments, self.document).unwrap_or_default(),
            )),
            "push" if self.has("--dry-run -n --delete -d") => None,
            // `git push origin :old` deletes.
            "push" => (!self.plain().any(|word| word.starts_with(':'))).then_some(GitEvent::Pushed),
            "switch" => Some(self.switched()),
            "checkout" => self.checked_out(),
            name => {
                let (moved, with, without) = MOVES.iter().find(|(moving, ..)| *moving == name)?;
                let any = |list: &str| self.arguments.iter().any(|word| one_of(list, word));
                ((with.is_empty() || any(with)) && !any(without)).then_some(GitEvent::Moved(moved))
            }
        }
    }

    /// The files that it names and changes, and what it does to each.
    fn changed(&self) -> Option<Vec<(&'w str, Deed)>> {
        if self.has("--help -h -n --dry-run -p --patch --pathspec-from-file") {
            return None;
        }
        let after: Vec<&str> = self
            .arguments
            .iter()
            .map(String::as_str)
            .skip_while(|word| *word != "--")
            .skip(1)
            .collect();
        let source = self.value("-s --source");
        let plain = || {
            self.plain()
                .filter(|word| Some(*word) != source)
                .chain(after.iter().copied())
                .collect()
        };
        let (files, deed): (Vec<&str>, Deed) = match self.subcommand {
            "checkout" => (after, Deed::Edited),
            "restore" if !self.has("--staged -S") || self.has("--worktree -W") => {
                (plain(), Deed::Edited)
            }
            "rm" if !self.has("--cached") => (plain(), Deed::Deleted),
            "mv" => (plain(), Deed::Moved),
            _ => return None,
        };
        // To a directory the new path is another.
        let is_known = (self.subcommand != "mv" || files.len() == 2)
            && files.iter().all(|file| names_file(file));
        let deed = |at: usize| {
            if self.subcommand == "mv" && at == 1 {
                Deed::Edited
            } else {
                deed
            }
        };
        is_known.then(|| {
            files
                .into_iter()
                .enumerate()
                .map(|(at, file)| (file, deed(at)))
                .collect()
        })
    }

    /// The arguments before `--`.
    fn has(&self, list: &str) -> bool {
        self.options().any(|word| one_of(list, word))
    }

    fn options(&self) -> impl Iterator<Item = &'w str> {
        self.arguments
            .iter()
            .map(String::as_str)
            .take_while(|word| *word != "--")
    }

    fn plain(&self) -> impl Iterator<Item = &'w str> {
        self.options().filter(|word| !word.starts_with('-'))
    }

    /// The value of the first of some options.
    fn value(&self, options: &str) -> Option<&'w str> {
        let at = self
            .arguments
            .iter()
            .position(|word| one_of(options, word))?;
        self.arguments.get(at + 1).map(String::as_str)
    }

    fn switched(&self) -> GitEvent {
        let new = self.value("-c -C --create --force-create --orphan");
        let tracked = self
            .has("-t --track")
            .then(|| self.plain().next().and_then(without_remote))
            .flatten();
        let branch = new
            .or(tracked)
            .or_else(|| self.plain().next().filter(|_| !self.has("-d --detach")));
        branch
            .filter(|branch| is_branch(branch))
            .map_or(GitEvent::Moved("switch"), switched)
    }

    fn checked_out(&self) -> Option<GitEvent> {
        let moved = Some(GitEvent::Moved("checkout"));
        if let Some(branch) = self.value("-b -B --orphan") {
            return if is_branch(branch) {
                Some(switched(branch))
            } else {
                moved
            };
        }
        // Files, whatever is written before the two dashes. All of them are worth telling.
        let files = self
            .arguments
            .iter()
            .skip_while(|word| *word != "--")
            .skip(1);
        if self.arguments.iter().any(|word| word == "--") {
            return files
                .into_iter()
                .any(|file| is_whole_tree(file))
                .then_some(GitEvent::Moved("checkout"));
        }
        let plain: Vec<&str> = self.plain().collect();
        match plain[..] {
            _ if self.has("-p --patch --ours --theirs -m --merge --pathspec-from-file") => None,
            [] => (self
                .arguments
                .iter()
                .any(|word| one_of("- -f --force --detach", word)))
            .then_some(moved)
            .flatten(),
            [branch] if self.has("-t --track") => without_remote(branch).map(switched),
            [tree] if is_whole_tree(tree) => moved,
            [revision] if self.has("-d --detach") || is_revision(revision) => moved,
            [branch] if is_branch(branch) && !is_file(branch) => Some(switched(branch)),
            [_, tree] if is_whole_tree(tree) => moved,
            _ => None,
        }
    }
}

fn switched(branch: &str) -> GitEvent {
    GitEvent::Switched(branch.to_owned())
}

fn is_absolute(dir: &str) -> bool {
    dir.starts_with('/')
        || dir.starts_with("~/")
        || dir
            .get(1..3)
            .is_some_and(|drive| drive == ":\\" || drive == ":/")
}

/// True if a directory is this one or below it, as far as its name says.
fn is_within(dir: &str) -> bool {
    let is_plain = !dir.is_empty() && !dir.starts_with(['~', '$', '-']) && !is_absolute(dir);
    is_plain && !dir.split(['/', '\\']).any(|part| part == "..")
}

/// `..`, `../..`, the top of the repository.
fn is_above(dir: &str) -> bool {
    dir.trim_end_matches('/')
        .split('/')
        .all(|part| part == "..")
        || dir == "$(git rev-parse --show-toplevel)"
}

fn is_whole_tree(path: &str) -> bool {
    one_of(". ./ :/ * .. ../", path)
}

/// A commit and not a branch: then no branch has what is committed from now on.
fn is_revision(name: &str) -> bool {
    let is_hash =
        (7..=40).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash && name.bytes().any(|byte| byte.is_ascii_digit())
        || name.starts_with("HEAD")
        || name.starts_with('@')
        || name.contains(['~', '^'])
        || name.starts_with("origin/")
        || name.starts_with("tags/")
}

/// True if it can be the name of a branch; what a variable has in it is not known.
fn is_branch(name: &str) -> bool {
    let is_odd =
        |char: char| char.is_whitespace() || char.is_control() || "$`~^:?*[\\".contains(char);
    !name.is_empty() && !name.starts_with('-') && !name.contains(is_odd) && !is_revision(name)
}

/// `src/main.rs`, `LICENSE`, `./x`; but `release/1.2` and `v1.x` are branches.
fn is_file(name: &str) -> bool {
    let in_sources = name
        .split_once('/')
        .is_some_and(|(first, _)| one_of("src lib app packages crates . ..", first));
    looks_like_file(name) || in_sources || name.ends_with('/') || name.starts_with(['/', '.'])
}

/// True if the last part of a path is named as files are.
fn looks_like_file(path: &str) -> bool {
    let base = base_name(path);
    let ending = base.rsplit_once('.').map(|(_, ending)| ending);
    let has_ending = ending.is_some_and(|ending| {
        ending != "x" && ending.starts_with(|char: char| char.is_ascii_alphabetic())
    });
    let is_shouted = base.len() > 3 && base.bytes().all(|byte| byte.is_ascii_uppercase());
    has_ending || is_shouted || base.starts_with(char::is_uppercase) && language(base).is_some()
}

/// True if a path names one file: no pattern, no variable, no directory.
fn names_file(path: &str) -> bool {
    looks_like_file(path)
        && !path.starts_with([':', '~', '-'])
        && !path.contains(['*', '?', '[', '$', '`', '{', '\\'])
}

/// The branch that follows `origin/feature`.
fn without_remote(branch: &str) -> Option<&str> {
    branch
        .split_once('/')
        .map(|(_, name)| name)
        .filter(|name| is_branch(name))
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub(crate) const COMMITS: [(&str, Option<&str>); 23] = [
        ("git commit -m\"Fix the form\" -q", Some("Fix the form")),
        ("git commit -mform", Some("form")),
        ("git commit -am\"Fix it\"", Some("Fix it")),
        ("git commit --amend -m", None),
        (
            "git commit -m \"Fix the \\\"parser\\\"\"",
            Some("Fix the \"parser\""),
        ),
        ("git add -A && git commit -am 'One\n\nTwo'", Some("One")),
        ("git commit --message=Three", Some("Three")),
        ("git commit --message \"Four\" -m body", Some("Four")),
        ("git commit -mFive", Some("Five")),
        ("git commit -s -m Six", Some("Six")),
        (
            "cd x && git -C y commit -m \"$(cat <<'EOF'\nDon't (break: \"it\"\n\nBody )\nEOF\n)\" && git push",
            Some("Don't (break: \"it\""),
        ),
        (
            "git commit -m \"$(cat <<EOF\n\n  Indented\nEOF\n)\"",
            Some("Indented"),
        ),
        (
            "git commit -F - <<'EOF'\nFrom a file\nEOF",
            Some("From a file"),
        ),
        (
            "git commit -q -F- <<EOF\nFrom here\nmore\nEOF\ngit push",
            Some("From here"),
        ),
        ("bash -lc \"git commit -m 'Ünïcode ✓'\"", Some("Ünïcode ✓")),
        ("git commit --amend --no-edit", None),
        ("git commit -m \"$MSG\"", None),
        ("git commit -m", None),
        ("printf 'x' | git commit -F -", None),
        ("git commit -F message.txt", None),
        (
            "git commit -m @'\nFrom PowerShell\n\nBody\n'@",
            Some("From PowerShell"),
        ),
        ("git log -m commit", None),
        ("echo git commit -m x", None),
    ];

    #[test]
    fn reads_the_subjects_of_several_commits() {
        let both =
            "git commit -m \"First thing\" a.rs && git commit -m 'Second thing' b.rs; git push";
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

    /// One word per event: `+subject`, `push`, `>branch`, or what moved files.
    fn told(command: &str) -> String {
        let word = |event: GitEvent| match event {
            GitEvent::Committed(subject) => format!("+{subject}"),
            GitEvent::Pushed => "push".to_owned(),
            GitEvent::Switched(branch) => format!(">{branch}"),
            GitEvent::Moved(how) => how.to_owned(),
        };
        git_events(command)
            .into_iter()
            .map(word)
            .collect::<Vec<_>>()
            .join(", ")
    }

    pub const EVENTS: [(&str, &str); 174] = [
        // Commits.
        ("git commit -m 'Fix it'", "+Fix it"),
        ("git commit -am \"Fix it\"", "+Fix it"),
        ("git commit -m 'Fix it' -m 'Because it broke.'", "+Fix it"),
        // What goes through a pipe ends as the last command of it does.
        ("git add -A && git commit -q -m 'Fix it' 2>&1 | tail -3", ""),
        ("git switch main 2>&1 | tail -1", ""),
        ("git push | cat && git commit -m 'Fix it'", "+Fix it"),
        ("yes | git push", "push"),
        ("git commit -F - <<'EOF'\nFix it\n\nBody\nEOF", "+Fix it"),
        (
            "git commit -m \"$(cat <<'EOF'\nFix it\n\nBody\nEOF\n)\"",
            "+Fix it",
        ),
        (
            "git commit -m one a.rs && git commit -m two b.rs",
            "+one, +two",
        ),
        (
            "cargo test && git commit -m 'Fix it' && git push",
            "+Fix it, push",
        ),
        (
            "git add .\ngit commit -m 'Fix it'\ngit push -u origin main",
            "push",
        ),
        ("git add -A; git commit -m 'Fix it'; git push", "push"),
        ("bash -lc \"git commit -m 'Fix it'\"", "+Fix it"),
        ("(git add . && git commit -m 'Fix it')", "+Fix it"),
        (
            "git -c user.name=me commit --no-verify -m 'Fix it'",
            "+Fix it",
        ),
        ("git --no-pager commit -m 'Fix it'", "+Fix it"),
        ("git commit --amend --no-edit", "+"),
        ("git commit -m \"$MESSAGE\"", "+"),
        ("git commit -F message.txt", "+"),
        ("git commit --amend -m 'Fix it'", "+Fix it"),
        ("GIT_EDITOR=true git commit", "+"),
        ("git commit -m 'Fix it' || true", ""),
        ("git diff --cached --quiet || git commit -m 'Fix it'", ""),
        (
            "if ! git diff --quiet; then git commit -am 'Fix it'; fi",
            "",
        ),
        ("if true; then x; fi; git commit -am 'Fix it'", "+Fix it"),
        ("for i in 1 2; do git push && break; done", ""),
        ("! git commit -m 'Fix it'", ""),
        // A line ends as its last command does.
        ("git commit -m 'Fix it'; ls", ""),
        ("git commit -m 'Fix it'\ngit log -1", ""),
        ("git commit -m 'Fix it' && git log -1 | cat", "+Fix it"),
        ("git commit -m 'Fix it' && git push; echo done", ""),
        ("git push &", ""),
        ("git push & wait", ""),
        ("make && git push & ls", ""),
        ("sleep 9 & git push", "push"),
        ("(git push) &", ""),
        ("bash -c 'git push' &", ""),
        ("bash -c 'git commit -m x; git push' && ls", "push"),
        ("true || bash -c 'ls; git push'", ""),
        ("true || (ls; git push)", ""),
        ("(git commit -m x; ls) && git push", "push"),
        ("test -f a && { git add a; git commit -m x; }", "+x"),
        ("(git commit -m x && git push) | cat", ""),
        ("f() { git push; }", ""),
        ("f()\n{\n git push\n}\nls", ""),
        ("function f { git push; }", ""),
        ("function f() (git push)", ""),
        ("f(){ x; }; git push", "push"),
        ("exit 0; git push", ""),
        ("[ -f a ] || exit 0; git push", ""),
        ("if [ -f a ]; then exit; fi; git push", ""),
        ("(exit 0); git push", "push"),
        ("exec true; git push", ""),
        ("exec 2>&1; git push", "push"),
        ("cd web || exit 1; git push", "push"),
        ("git commit -m x || exit 1; git push", "+x, push"),
        ("false && git push; true", ""),
        ("case $x in a) git push;; esac", ""),
        ("(case $x in a) git push;; esac)", ""),
        ("if a; then if b; then c; fi; git push; fi", ""),
        ("while read x; do (git push); done", ""),
        ("set -e\ngit commit -m x\ngit push\nls", "+x, push"),
        ("set -euo pipefail\ngit commit -m x | cat\nls", "+x"),
        ("set -e; git commit -m x | cat; ls", ""),
        ("set -e; true && git commit -m x; ls", ""),
        ("set -e; set +e; git commit -m x; ls", ""),
        ("(set -e; git commit -m x; ls) && ls", ""),
        ("git commit -m x; set -e; ls", ""),
        // A message that comes from elsewhere.
        ("git commit -q -F - a.rs", "+"),
        ("git commit -F - -- a.rs <<'EOF'\nFix it\nEOF", "+Fix it"),
        ("git commit -F - < message.txt", "+"),
        ("echo \"git commit -m x\"", ""),
        ("echo git commit -m x", ""),
        ("git commit --dry-run -m x", ""),
        ("git commit --help", ""),
        ("git commit -h", ""),
        ("git log --grep commit", ""),
        ("git show --stat commit", ""),
        ("git config alias.ci commit", ""),
        ("cat > c.sh <<'EOF'\ngit commit -m x\nEOF", ""),
        ("# git commit -m x", ""),
        ("gh pr merge 12 --squash", ""),
        ("ssh host 'git commit -m x'", ""),
        ("git commit-tree abc", ""),
        ("git status", ""),
        ("git add -A", ""),
        // Whose repository it is.
        ("git -C ../other commit -m x", ""),
        ("git -C /abs/other commit -m x", ""),
        ("git -C . commit -m x", "+x"),
        ("git -C web commit -m x", "+x"),
        ("git -C \"$DIR\" commit -m x", ""),
        ("git --git-dir=/x/.git commit -m x", ""),
        ("git --git-dir /x/.git --work-tree /x commit -m x", ""),
        ("cd /abs/project && git commit -m x", "+x"),
        ("cd ~/project && git commit -m x", "+x"),
        ("cd C:/project && git commit -m x", "+x"),
        ("cd web && git commit -m x", "+x"),
        ("cd .. && git commit -m x", "+x"),
        ("cd ../other && git commit -m x", ""),
        ("cd ../other && cd sub && git commit -m x", ""),
        ("cd \"$(mktemp -d)\" && git commit -m x", ""),
        (
            "cd \"$(git rev-parse --show-toplevel)\" && git commit -m x",
            "+x",
        ),
        // Pushes.
        ("git push", "push"),
        ("git push origin main --force-with-lease", "push"),
        ("git push --tags", "push"),
        ("git push || git push --force", "push"),
        ("git push || git pull --rebase && git push", "push"),
        ("git push --dry-run", ""),
        ("git push -n", ""),
        ("git push origin --delete old", ""),
        ("git push origin :old", ""),
        ("git push --help", ""),
        ("git stash push -m wip", "stash"),
        ("git lfs push origin main", ""),
        ("git subtree push --prefix x origin y", ""),
        ("docker push image", ""),
        ("echo push", ""),
        // Branches.
        ("git switch main", ">main"),
        ("git switch -c fix/login", ">fix/login"),
        ("git switch -c fix/login origin/main", ">fix/login"),
        ("git switch --create fix origin/main", ">fix"),
        ("git switch -C fix", ">fix"),
        ("git switch --orphan pages", ">pages"),
        ("git switch --track origin/fix", ">fix"),
        ("git switch -", "switch"),
        ("git switch --detach v1.0", "switch"),
        ("git switch \"$BRANCH\"", "switch"),
        ("git checkout main", ">main"),
        ("git checkout -q main && git pull --ff-only", ">main, pull"),
        ("git checkout -b fix/login", ">fix/login"),
        ("git checkout -B fix/login origin/main", ">fix/login"),
        ("git checkout fix || git checkout -b fix", ">fix"),
        ("git checkout main || git checkout master", ""),
        ("git checkout --track origin/fix", ">fix"),
        ("git checkout release/1.2", ">release/1.2"),
        ("git checkout v1.x", ">v1.x"),
        ("git checkout swift", ">swift"),
        ("git checkout -- src/main.rs", ""),
        ("git checkout src/main.rs", ""),
        ("git checkout package.json", ""),
        ("git checkout Makefile", ""),
        ("git checkout LICENSE", ""),
        ("git checkout src/fold", ""),
        ("git checkout ./web", ""),
        ("git checkout main -- src/main.rs", ""),
        ("git checkout main src/main.rs", ""),
        ("git checkout a.rs b.rs c.rs", ""),
        ("git checkout --theirs a.rs", ""),
        ("git checkout $X", ""),
        ("git checkout .", "checkout"),
        ("git checkout -- .", "checkout"),
        ("git checkout abc1234", "checkout"),
        ("git checkout HEAD~2", "checkout"),
        ("git checkout -", "checkout"),
        ("git worktree add ../fix -b fix", ""),
        ("git branch -m old new", ""),
        // Files that change under others.
        ("git reset --hard HEAD~1", "reset"),
        ("git fetch && git reset --hard origin/main", "reset"),
        ("git reset HEAD a.rs", ""),
        ("git reset --soft HEAD~1", ""),
        ("git stash", "stash"),
        (
            "git stash && git rebase main && git stash pop",
            "stash, rebase, stash",
        ),
        ("git stash list", ""),
        ("git stash show -p", ""),
        ("git merge --no-ff fix", "merge"),
        ("git merge-base main HEAD", ""),
        ("git pull --rebase", "pull"),
        ("git restore .", "restore"),
        ("git restore --staged .", ""),
        ("git restore src/main.rs", ""),
        (
            "git revert --no-edit HEAD && git cherry-pick abc1234",
            "revert, cherry-pick",
        ),
        ("git clean -fd", "clean"),
        ("git clean -nd", ""),
    ];

    #[test]
    fn commands_change_repositories() {
        for (command, wanted) in EVENTS {
            assert_eq!(told(command), wanted, "{command}");
        }
    }

    #[test]
    fn commands_change_files_by_git() {
        for (command, wanted) in [
            (
                "git checkout -- src/a.rs b.md",
                "edited src/a.rs, edited b.md",
            ),
            ("git checkout main -- src/a.rs", "edited src/a.rs"),
            ("git checkout -- src", ""),
            ("git checkout -- '*.rs'", ""),
            ("git checkout -- $FILE", ""),
            ("git checkout src/a.rs", ""),
            ("git checkout main", ""),
            ("git restore src/a.rs", "edited src/a.rs"),
            ("git restore --source HEAD~1 -- src/a.rs", "edited src/a.rs"),
            ("git restore -s main.x src/a.rs", "edited src/a.rs"),
            ("git restore --staged src/a.rs", ""),
            (
                "git restore --staged --worktree src/a.rs",
                "edited src/a.rs",
            ),
            ("git restore -p src/a.rs", ""),
            ("git restore .", ""),
            ("git rm -q src/a.rs", "deleted src/a.rs"),
            ("git rm -r src", ""),
            ("git rm --cached src/a.rs", ""),
            (
                "git mv src/a.rs src/b.rs",
                "moved src/a.rs, edited src/b.rs",
            ),
            ("git mv src/a.rs lib", ""),
            ("git mv a.rs b.rs lib/c.rs", ""),
            ("git checkout -- a.rs; ls", ""),
            ("git checkout -- a.rs && cargo test", "edited a.rs"),
            ("git checkout -- a.rs &", ""),
            ("cd /p/web && git checkout -- a.rs", "edited /p/web/a.rs"),
            ("cd web && git checkout -- a.rs", "edited web/a.rs"),
            ("cd .. && git checkout -- a.rs", ""),
            ("git -C web checkout -- a.rs", ""),
            ("rm a.rs", ""),
        ] {
            let told: Vec<String> = git_changed(command)
                .iter()
                .map(|(path, deed)| format!("{} {path}", deed.name()))
                .collect();
            assert_eq!(told.join(", "), wanted, "{command}");
        }
    }
}
