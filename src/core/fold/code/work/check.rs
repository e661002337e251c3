//! Tests, builds and linters: which of them a line ran, which of them failed with it, and what a pass proves.
//!
//! Told by structure alone. Where it is open which command of a line failed, nothing failed; where a pass may have been
//! of what failed before, it was: saying nothing beats telling of a failure that is over.

use serde::{Deserialize, Serialize};

use super::programs::arguments;
use super::toolchain::{executed, named, targets};
use super::{Work, kind};
use crate::fold::code::command::{Command, commands, commands_and_proof, linked_commands, program};
use crate::fold::code::line::Link;
use crate::fold::one_of;
use crate::fold::words::{FAMILIES, FILTERS, HARMLESS};
use session_format::path::base_name;

/// A test, a build or a linter, as far as it matters for which others it speaks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    kind: CheckKind,
    /// The programs it belongs to, like `rust`; none for a script or a target, which may run any.
    family: Option<String>,
    /// A script or a target that is known by its name only.
    by_name: bool,
    /// A target like `ci`: it runs whatever there is to run.
    runs_all: bool,
    /// It rewrites files instead of checking them.
    rewrites: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum CheckKind {
    Test,
    Build,
    Types,
    Lint,
    Format,
}

/// Families in which a test compiles all that a build does, and those in which a linter does so, too.
const COMPILED: &str = "rust go jvm dotnet swift c zig stack cabal";
const LINTED_AS_COMPILED: &str = "rust go";

const TYPES: &str = "tsc tsgo vue-tsc svelte-check mypy pyright basedpyright ty";
const TYPE_TARGETS: &str = "type types typecheck tsc mypy";
const FORMATTERS: &str = "prettier black isort rustfmt gofmt clang-format";
const FORMATS: &str = "fmt format prettier";
const RUNS_ALL: &str = "check checks ci verify validate all preflight precommit pre-commit";
/// Formatters with one of these leave the files alone.
const ONLY_CHECKS: &str =
    "--check -check --list-different -c -l -d --diff --dry-run --verify-no-changes";

/// With one of these, a program says what it would do, or passes whatever happens.
const CHECKS_NOTHING: &str = "-h --help --version -n --dry-run --just-print --recon -i --ignore-errors -k --keep-going --no-run \
     --list --list-tests --listTests -l --collect-only --co -DskipTests -DskipTests=true -Dmaven.test.skip=true \
     -Dmaven.test.failure.ignore=true -Dmaven.test.failure.ignore --passWithNoTests --noEmitOnError=false --exit-zero --no-fail";

impl Check {
    /// The checks that a simple command is: one, or as many as it names targets.
    fn all(words: &[String]) -> Vec<Check> {
        let work = kind(words);
        if !work.is_check() {
            return Vec::new();
        }
        let name = program(words);
        let all: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        let plain = arguments(&name, &all);
        let targets = targets(&name, &plain).unwrap_or_default();
        match targets[..] {
            [_, _, ..] => {
                let named = targets
                    .iter()
                    .map(|target| (named(target), *target))
                    .filter(|(work, _)| work.is_check());
                named
                    .map(|(work, target)| Check::new(work, &name, &all, Some(target)))
                    .collect()
            }
            _ => {
                let bare = || {
                    plain
                        .first()
                        .copied()
                        .filter(|_| one_of("pnpm yarn bun", &name))
                };
                let default = || one_of("make gmake ninja", &name).then_some("");
                let script = || bare().or_else(|| script(&name, words)).or_else(default);
                vec![Check::new(
                    work,
                    &name,
                    &all,
                    targets.first().copied().or_else(script),
                )]
            }
        }
    }

    fn new(work: Work, name: &str, all: &[&str], target: Option<&str>) -> Check {
        let family = FAMILIES
            .iter()
            .find(|(_, programs)| one_of(programs, name))
            .map(|(family, _)| (*family).to_owned());
        let program = if all.first() == Some(&"-m") {
            all.get(1).copied().unwrap_or_default()
        } else {
            name
        };
        let plain = arguments(name, all);
        let says = |list: &str| {
            target.is_some_and(|target| {
                target
                    .split([':', '-', '_', '.', '/'])
                    .any(|word| one_of(list, word))
            })
        };
        let has = |list: &str| all.iter().any(|word| one_of(list, word));
        let kind = match work {
            Work::Test => CheckKind::Test,
            _ if one_of(TYPES, program) => CheckKind::Types,
            Work::Build => CheckKind::Build,
            _ if says(TYPE_TARGETS) => CheckKind::Types,
            _ if one_of(FORMATTERS, program) || says(FORMATS) => CheckKind::Format,
            _ if plain.first().is_some_and(|first| one_of(FORMATS, first)) => CheckKind::Format,
            _ => CheckKind::Lint,
        };
        let runs_tests = family.as_deref() == Some("jvm")
            && has("build package install")
            && !has("-x -DskipTests");
        Check {
            kind,
            by_name: target.is_some(),
            // `check.sh`, but `test:ci` only tests.
            runs_all: runs_tests
                || target
                    .and_then(|name| name.split('.').next())
                    .is_some_and(|name| one_of(RUNS_ALL, name)),
            rewrites: kind == CheckKind::Format && !says("check") && !has(ONLY_CHECKS),
            family: family.or_else(|| target.is_none().then(|| name.to_owned())),
        }
    }

    /// True if it is of the same kind and may have run the same programs.
    pub fn repeats(&self, other: &Check) -> bool {
        self.kind == other.kind && self.may_run(other)
    }

    /// True if a later pass of this leaves it open that the other still fails.
    pub fn clears(&self, failed: &Check) -> bool {
        let compiles = failed.kind == CheckKind::Build || failed.kind == CheckKind::Types;
        // Of two targets nobody knows what they compile.
        let is_of = |list: &str| {
            failed
                .family
                .as_ref()
                .or(self.family.as_ref())
                .is_none_or(|family| one_of(list, family))
        };
        let clears_kind = match self.kind {
            kind if kind == failed.kind || self.runs_all => true,
            CheckKind::Test => compiles && is_of(COMPILED),
            CheckKind::Build => failed.kind == CheckKind::Types,
            CheckKind::Lint if compiles && is_of(LINTED_AS_COMPILED) => true,
            CheckKind::Lint => {
                self.by_name && matches!(failed.kind, CheckKind::Types | CheckKind::Format)
            }
            CheckKind::Types | CheckKind::Format => false,
        };
        clears_kind && self.may_run(failed)
    }

    fn may_run(&self, other: &Check) -> bool {
        self.family.is_none() || other.family.is_none() || self.family == other.family
    }
}

/// The checks that a line ran, in its order.
pub fn checks(command: &str) -> Vec<Check> {
    commands(command)
        .iter()
        .flat_map(|words| Check::all(words))
        .collect()
}

/// The checks that passed, given that the line did.
pub fn passed_checks(command: &str) -> Vec<Check> {
    let (all, proof) = commands_and_proof(command);
    let proves = |words: &[String]| {
        let mut flags = words.iter().skip(1);
        !flags.any(|word| one_of(CHECKS_NOTHING, word))
    };
    proof
        .proven(&|_, _| false)
        .into_iter()
        .filter_map(|index| all.get(index))
        .filter(|command| proves(&command.words))
        .flat_map(|command| Check::all(&command.words))
        .collect()
}

/// The checks of a line that failed, of which one failed. None where another command may have failed instead.
pub fn failed_checks(command: &str) -> Vec<Check> {
    failing_part(command)
        .into_iter()
        .flat_map(|(checks, _)| checks)
        .collect()
}

/// A name for the checks in a line that failed: `cargo test`, `npm run lint && npm test`. Plain words only, so that
/// it can stand in a sentence.
pub fn check_name(command: &str) -> Option<String> {
    let names: Option<Vec<String>> = failing_part(command)
        .iter()
        .map(|(_, words)| plain_name(words))
        .collect();
    names
        .filter(|names| !names.is_empty())
        .map(|names| names.join(" && "))
}

/// The checks of a line that may have made it fail, with their words.
fn failing_part(command: &str) -> Vec<(Vec<Check>, Vec<String>)> {
    let is_harmless = |command: &Command| {
        one_of(HARMLESS, &program(&command.words))
            || command.words.len() == 1 && one_of("} )", &command.words[0])
    };
    let is_filter = |command: &Command| one_of(FILTERS, &program(&command.words));
    let all = linked_commands(command);
    let is_strict = all.iter().any(|command| {
        program(&command.words) == "set"
            && command
                .words
                .iter()
                .any(|word| word == "errexit" || word.starts_with('-') && word.contains('e'))
    });
    // Of `a; b` only the last one's status is known, unless the first error ends it.
    let lists: Vec<&[Command]> = all
        .chunk_by(|_, next| is_strict || next.link != Link::Then)
        .collect();
    let ends = |list: &&&[Command]| {
        !list
            .iter()
            .all(|command| is_harmless(command) || is_filter(command))
    };
    let Some(list) = lists.iter().rev().find(ends) else {
        return Vec::new();
    };
    let mut found: Vec<(Vec<Check>, Vec<String>)> = Vec::new();
    // What follows `||` ran because what is before it failed.
    for command in list.iter().take_while(|command| command.link != Link::Or) {
        let checks = Check::all(&command.words);
        let passes = is_harmless(command) || command.link == Link::Pipe && is_filter(command);
        if command.conditional || checks.is_empty() && !passes {
            return Vec::new();
        }
        if !checks.is_empty() {
            found.push((checks, command.words.clone()));
        }
    }
    // `cargo fmt && cargo test`: what only rewrites files hardly ever fails.
    let only_rewrites = |checks: &[Check]| checks.iter().all(|check| check.rewrites);
    if !found.iter().all(|(checks, _)| only_rewrites(checks)) {
        found.retain(|(checks, _)| !only_rewrites(checks));
    }
    found
}

/// The name of a script that is run by its path.
fn script<'w>(name: &str, words: &'w [String]) -> Option<&'w str> {
    let path = if one_of("bash sh zsh", name) {
        words.get(1)
    } else {
        words.first()
    };
    path.filter(|path| executed(path) != Work::Other)
        .map(|path| base_name(path))
}

fn plain_name(words: &[String]) -> Option<String> {
    /// Options that make a check of a program.
    const TELLING: &str = "-m --test --check --noEmit";
    /// Programs whose arguments are all names of targets.
    const TARGETS: &str = "make gmake ninja just task rake mvn mvnw gradle gradlew turbo";
    const NAME_WORDS: usize = 4;
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "_-./:+@".contains(char);
    // Further words are arguments, which anybody may have chosen.
    let count = match words.get(1).map(String::as_str) {
        Some("run" | "-m" | "task" | "xtask") => 3,
        _ if one_of(TARGETS, &program(words)) => {
            1 + words
                .iter()
                .skip(1)
                .take_while(|word| named(word) != Work::Other)
                .count()
                .clamp(1, NAME_WORDS - 1)
        }
        _ => 2,
    };
    let is_name = |(at, word): &(usize, &String)| {
        (!word.starts_with('-') || *at == 1 && one_of(TELLING, word))
            && word.len() <= 24
            && word.chars().all(is_plain)
    };
    let plain = words.iter().enumerate().take_while(is_name).take(count);
    Some(
        plain
            .map(|(_, word)| word.as_str())
            .collect::<Vec<_>>()
            .join(" "),
    )
    .filter(|name| !name.is_empty())
}
