//! Programs with ways of their own to say what they do: modules, goals, tasks, targets, scripts of a package.
//!
//! Of several targets the one that tells most counts, and what is switched off (`-x test`, `-DskipTests`) does not. A
//! program whose first argument says it all belongs into the tables of `programs`.

use super::Work;
use super::programs::{among, known};
use crate::fold::code::command::{base, is_assignment};
use crate::fold::one_of;
use crate::fold::words::{FLAGS, TARGET_NAMES, TARGET_RUNNERS};
use session_format::path::base_name;

/// The targets or scripts that a runner is told to run. None if it is no runner, or does something else.
pub fn targets<'a>(name: &str, plain: &[&'a str]) -> Option<Vec<&'a str>> {
    let first = plain.first().copied().unwrap_or_default();
    let row = |(names, verbs, _): &&(&str, &str, &str)| {
        one_of(names, name) && (verbs.is_empty() || one_of(verbs, first))
    };
    let (_, verbs, several) = TARGET_RUNNERS.iter().find(row)?;
    let names = plain
        .iter()
        .skip(usize::from(!verbs.is_empty()))
        .filter(|word| !is_assignment(word));
    // `nx run api:test`, `moon run api:test`, `turbo run web#test`; but `npm run test:unit`.
    let has_projects = one_of("turbo nx lerna moon", name);
    let bare = |word: &&'a str| {
        if has_projects {
            word.rsplit([':', '#']).next().unwrap_or(word)
        } else {
            word
        }
    };
    Some(
        names
            .map(bare)
            .take(if several.is_empty() { 1 } else { usize::MAX })
            .collect(),
    )
}

/// The work of a program with its own rules, by all its arguments and those that are no options.
pub fn own(name: &str, all: &[&str], plain: &[&str]) -> Option<Work> {
    if let Some((.., work)) = FLAGS
        .iter()
        .find(|(program, flag, _)| *program == name && all.contains(flag))
    {
        return Work::named(work);
    }
    let at = |index: usize| plain.get(index).copied().unwrap_or_default();
    let first_but = |skipped: &str| {
        plain
            .iter()
            .copied()
            .find(|word| !one_of(skipped, word))
            .unwrap_or_default()
    };
    Some(match name {
        "python" | "python2" | "python3" | "py" | "pypy3" => python(all),
        "npm" | "pnpm" | "yarn" | "bun" => package(name, plain),
        "make" | "gmake" | "ninja" if targets(name, plain)?.is_empty() => Work::Build,
        "make" | "gmake" if plain.contains(&"check") => Work::Test,
        "tox" | "nox" => environment(all),
        "mvn" | "mvnw" => maven(all, plain),
        "gradle" | "gradlew" => gradle(plain),
        "bash" | "sh" | "zsh" => executed(at(0)),
        "php" if at(0).ends_with("artisan") && at(1) == "test" => Work::Test,
        "uv" if at(0) == "pip" => Work::Install,
        "gh" if plain.starts_with(&["release", "create"]) => Work::Deploy,
        "gcloud" | "aws" | "az" | "cap" if plain.contains(&"deploy") => Work::Deploy,
        "docker" | "podman" | "docker-compose" => among(
            &[("build", "build bake"), ("deploy", "push")],
            first_but("compose buildx image"),
        )?,
        "hatch" | "pdm" | "pixi" | "devbox" | "rye" | "mise"
            if plain.len() > 1 && one_of("run r", at(0)) =>
        {
            // A program, else a script.
            let run: Vec<String> = all
                .iter()
                .skip_while(|word| **word != at(1))
                .map(|word| (*word).to_owned())
                .collect();
            Some(super::kind(&run))
                .filter(|work| *work != Work::Other)
                .unwrap_or_else(|| named(at(1)))
        }
        _ => targets(name, plain)?
            .into_iter()
            .map(named)
            .min()
            .unwrap_or(Work::Other),
    })
}

fn python(all: &[&str]) -> Work {
    let mut at = 0;
    while let Some(option) = all
        .get(at)
        .filter(|word| word.starts_with('-') && !["-m", "-c"].contains(word))
    {
        at += if ["-W", "-X"].contains(option) { 2 } else { 1 };
    }
    let is_test = |stem: &str| stem.starts_with("test_") || stem.ends_with("_test");
    match all.get(at..).unwrap_or_default() {
        ["-m", "build", ..] => Work::Build,
        ["-m", "tox" | "nox", ..] => Work::Test,
        ["-m", module, rest @ ..] => {
            known(module, rest.first().copied().unwrap_or_default()).unwrap_or(Work::Other)
        }
        ["-c", ..] | [] => Work::Other,
        [file, rest @ ..] => match (base(file).as_str(), rest.first().copied()) {
            ("manage.py" | "setup.py", Some("test")) => Work::Test,
            ("setup.py", Some("build")) => Work::Build,
            ("setup.py", Some("install")) => Work::Install,
            ("manage.py" | "setup.py", Some(_)) => Work::Other,
            (name, _) if name.strip_suffix(".py").is_some_and(is_test) => Work::Test,
            _ => executed(file),
        },
    }
}

/// The managers of node's packages, which run the scripts of a package too.
fn package(manager: &str, plain: &[&str]) -> Work {
    let at = |index: usize| plain.get(index).copied().unwrap_or_default();
    match at(0) {
        "test" | "t" | "tst" => Work::Test,
        "workspace" => named(at(2)),
        "run" | "run-script" => named(at(1)),
        "install" | "i" | "ci" | "add" => Work::Install,
        "" if manager == "yarn" => Work::Install,
        "publish" => Work::Deploy,
        "build" if manager == "bun" => Work::Build,
        name if manager == "bun" => named(name),
        // Only these two run a script, or a program of the project, by its bare name.
        name if manager == "yarn" || manager == "pnpm" => {
            known(name, at(1)).unwrap_or_else(|| named(name))
        }
        _ => Work::Other,
    }
}

/// `tox -e lint`; any other environment is a test.
fn environment(all: &[&str]) -> Work {
    let chosen = all
        .iter()
        .position(|word| ["-e", "-s"].contains(word))
        .and_then(|at| all.get(at + 1));
    chosen
        .map(|name| named(name))
        .filter(|work| *work != Work::Other)
        .unwrap_or(Work::Test)
}

fn maven(all: &[&str], goals: &[&str]) -> Work {
    let untested = all
        .iter()
        .any(|word| *word == "-DskipTests" || word.starts_with("-DskipTests=t"));
    let goal = |goal: &&str| match *goal {
        "test" | "verify" | "integration-test" if !untested => Work::Test,
        "test" | "verify" | "integration-test" | "compile" | "package" | "install"
        | "test-compile" => Work::Build,
        "deploy" => Work::Deploy,
        goal if goal.starts_with("surefire:test") => Work::Test,
        goal if ["checkstyle", "spotless", "spotbugs"]
            .iter()
            .any(|plugin| goal.starts_with(plugin)) =>
        {
            Work::Lint
        }
        _ => Work::Other,
    };
    goals.iter().map(goal).min().unwrap_or(Work::Other)
}

fn gradle(tasks: &[&str]) -> Work {
    let work = |path: &&str| {
        let task = path.rsplit(':').next().unwrap_or(path);
        let starts = |names: &[&str]| names.iter().any(|name| task.starts_with(name));
        match task {
            "check" | "test" | "allTests" => Work::Test,
            _ if starts(&["compile", "assemble", "build", "bundle", "jar"]) => Work::Build,
            _ if starts(&["test", "connected"]) || task.ends_with("Test") => Work::Test,
            _ if starts(&["lint", "spotless", "ktlint", "detekt", "checkstyle"]) => Work::Lint,
            _ if starts(&["publish", "deploy"]) => Work::Deploy,
            _ => Work::Other,
        }
    };
    tasks.iter().map(work).min().unwrap_or(Work::Other)
}

/// The work that a script or a target is, by its name.
pub fn named(name: &str) -> Work {
    const WHICH: &str = "run unit integration e2e ci all local quick full";
    if name == "ci" {
        return Work::Test;
    }
    let words = || name.split([':', '-', '_', '.', '/']);
    match words()
        .find(|word| !one_of(WHICH, word))
        .unwrap_or_default()
    {
        "" if words().any(|word| one_of("unit integration e2e", word)) => Work::Test,
        "type" if name.ends_with("check") => Work::Lint,
        word => among(TARGET_NAMES, word).unwrap_or(Work::Other),
    }
}

/// The work of a script that is run by its path.
pub(crate) fn executed(path: &str) -> Work {
    let name = base_name(path);
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
    let ours = ["./", "bin/", "script/", "scripts/", "tools/", "dev/", "ci/"]
        .iter()
        .any(|dir| path.starts_with(dir));
    match end {
        "sh" | "bash" | "ps1" | "bat" | "cmd" => named(stem),
        "" if ours => named(stem),
        "py" | "js" | "mjs" | "ts" | "rb" if ours && stem != "test" => named(stem),
        _ => Work::Other,
    }
}
