//! Tests, builds and checks that failed and have not passed since.
//!
//! A failure is over as soon as something makes it doubtful: a later pass of what may have been the same, or a commit. An
//! edit does not, as it proves nothing. Whether a command failed, and what its pass proves: `code::work`. A command that was
//! refused, broken off or ran out of time neither failed nor passed.

use serde::{Deserialize, Serialize};

use super::code::{Check, Work, checks, failed_checks, works};
use session_format::entry::{Act, Call};

/// The last failure of each kind, the newest last. Of a chain any of its checks may have failed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Failing<T> {
    all: Vec<(Vec<Check>, T)>,
    /// The newest is what happened last.
    just_now: bool,
}

impl<T> Failing<T> {
    /// Takes the next call that ended. A command that the user refused or broke off did not fail by itself.
    pub fn ended(&mut self, call: &Call, failed: bool, broken_off: bool, item: impl Fn(&str) -> T) {
        self.just_now = false;
        // Of several commands it is not known which failed.
        let is_known = !broken_off && (!failed || call.subjects.len() == 1);
        if is_known && call.act == Act::Run {
            call.subjects
                .iter()
                .for_each(|command| self.ran(command, failed, || item(command)));
        }
    }

    fn ran(&mut self, command: &str, failed: bool, item: impl FnOnce() -> T) {
        if failed {
            let failed = failed_checks(command);
            if !failed.is_empty() {
                self.all.retain(|(known, _)| {
                    !known
                        .iter()
                        .any(|known| failed.iter().any(|new| new.repeats(known)))
                });
                self.all.push((failed, item()));
                self.just_now = true;
            }
            return;
        }
        if self.all.is_empty() {
            return;
        }
        let passed = checks(command);
        let is_over = |known: &[Check]| {
            known
                .iter()
                .any(|known| passed.iter().any(|passed| passed.clears(known)))
        };
        let committed = works(command).contains(&Work::Commit);
        self.all.retain(|(known, _)| !committed && !is_over(known));
    }

    /// The agent said something: what failed before is not what the user stops from now on.
    pub fn went_on(&mut self) {
        self.just_now = false;
    }

    /// The user stopped the agent. What ran last did not fail by itself.
    pub fn interrupted(&mut self) {
        if std::mem::take(&mut self.just_now) {
            self.all.pop();
        }
    }

    /// The failures, the newest first.
    pub fn newest(&self) -> impl Iterator<Item = &T> {
        self.all.iter().rev().map(|(_, item)| item)
    }
}

#[cfg(test)]
#[allow(clippy::too_many_lines, reason = "a table of cases is long")]
mod tests {
    use super::*;
    use crate::fold::code::check_name;

    /// The failures after some commands, of which those with a `!` failed: the newest first.
    fn told(commands: &[&str]) -> String {
        let mut failing = Failing::default();
        for command in commands {
            let failed = command.strip_prefix("!! ");
            let line = failed.unwrap_or(command);
            failing.ran(line, failed.is_some(), || {
                check_name(line).unwrap_or_default()
            });
        }
        failing
            .newest()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", ")
    }

    #[test]
    fn a_failure_is_told_until_something_makes_it_doubtful() {
        let mut wrong = String::new();
        for (commands, wanted) in [
            (&["!! cargo test"][..], "cargo test"),
            (&["!! cargo test", "cargo test"], ""),
            (&["!! npm test", "npx vitest run"], ""),
            (&["!! cargo test a", "!! cargo test b"], "cargo test"),
            (&["!! ls missing", "!! false"], ""),
            // A commit ends it; an edit, a look or a commit that failed does not.
            (
                &["!! npm test", "git commit -am fixed", "npm run release"],
                "",
            ),
            (&["!! npm test", "!! git commit -am fixed"], "npm test"),
            (
                &["!! cargo test", "ls", "git status", "sed -i s/a/b/ x"],
                "cargo test",
            ),
            // Another kind of work, or other programs, prove nothing.
            (
                &["!! cargo test", "!! cargo clippy", "ls"],
                "cargo clippy, cargo test",
            ),
            (&["!! cargo test", "cargo build"], "cargo test"),
            (&["!! cargo test", "npm test"], "cargo test"),
            (&["!! npm test", "!! cargo test"], "cargo test, npm test"),
            (&["!! cargo clippy", "eslint ."], "cargo clippy"),
            (&["!! cargo clippy", "cargo fmt"], "cargo clippy"),
            (&["!! npm run build", "npx vitest run"], "npm run build"),
            (&["!! npx tsc --noEmit", "npx eslint src"], "tsc --noEmit"),
            (&["!! mypy src", "ruff check ."], "mypy src"),
            (&["!! mypy src", "python -m pytest"], "mypy src"),
            (&["!! python -m build", "pytest"], "python -m build"),
            (&["!! shellcheck a.sh", "eslint ."], "shellcheck a.sh"),
            // A target whose name says the kind may run any program.
            (&["!! golangci-lint run", "mise run lint"], ""),
            (
                &["!! golangci-lint run", "mise run test"],
                "golangci-lint run",
            ),
            (&["!! go test ./...", "mise run test"], ""),
            (&["!! cargo test", "just test"], ""),
            (&["!! cargo clippy", "make lint"], ""),
            (&["!! eslint .", "task lint"], ""),
            (&["!! pytest -q", "./scripts/test.sh"], ""),
            (&["!! pytest -q", "uv run poe test"], ""),
            (&["!! pytest -q", "hatch run test"], ""),
            (&["!! pytest -q", "pdm run pytest"], ""),
            (&["!! pytest -q", "tox -e py312"], ""),
            (&["!! ruff check .", "nox -s lint"], ""),
            (&["!! npx jest", "nx affected -t test"], ""),
            (&["!! npx jest", "nx run api:test"], ""),
            (&["!! npm run lint", "turbo run build lint"], ""),
            (&["!! npm run lint", "turbo run build"], "npm run lint"),
            (&["!! tsc", "pnpm typecheck"], ""),
            (&["!! npx tsc --noEmit", "npm run lint"], ""),
            (&["!! npx prettier --check .", "npm run lint"], ""),
            (&["!! bun test", "bun run test"], ""),
            (&["!! deno test", "deno task test"], ""),
            (&["!! cargo test", "cargo xtask test"], ""),
            (&["!! rspec", "rake spec"], ""),
            (&["!! phpunit", "composer test"], ""),
            (&["!! just test", "cargo test"], ""),
            (&["!! make lint", "make lint test"], ""),
            (&["!! cargo clippy", "make lint test"], ""),
            // A target that runs everything.
            (&["!! cargo test", "just ci"], ""),
            (&["!! npm run lint", "npm run verify"], ""),
            (&["!! cargo clippy", "make check"], ""),
            (&["!! cargo clippy", "./check.sh"], ""),
            (&["!! npm run lint", "npm run test:ci"], "npm run lint"),
            (&["!! mvn test", "mvn -q package"], ""),
            (&["!! mvn test", "mvn package -DskipTests"], "mvn test"),
            (&["!! ./gradlew test", "./gradlew build"], ""),
            (
                &["!! ./gradlew test", "./gradlew build -x test"],
                "./gradlew test",
            ),
            // Tests of a compiled language prove that it builds; so do its linters, if they compile.
            (&["!! cargo build", "cargo test"], ""),
            (&["!! cargo build", "cargo clippy"], ""),
            (&["!! cargo check", "cargo build"], ""),
            (&["!! cargo build", "cargo fmt"], "cargo build"),
            (&["!! go build ./...", "go test ./..."], ""),
            (&["!! go build ./...", "go vet ./..."], ""),
            (&["!! dotnet build", "dotnet test"], ""),
            (&["!! swift build", "swift test"], ""),
            (&["!! gcc main.c", "ctest"], ""),
            (&["!! rustc main.rs", "cargo test"], ""),
            (&["!! cargo build", "just test"], ""),
            (&["!! make", "make test"], ""),
            (&["!! npx tsc --noEmit", "npm run build"], ""),
            (&["!! cargo fmt --check", "cargo fmt"], ""),
            // Compilers that are called directly.
            (&["!! tsc -p ."], "tsc"),
            (&["!! javac Main.java"], "javac Main.java"),
            (&["!! python -m py_compile app.py"], "python -m py_compile"),
            (&["!! node --check app.js"], "node --check"),
            (&["!! swiftc main.swift"], "swiftc main.swift"),
            (&["!! zig build"], "zig build"),
            (&["!! clang -c a.c"], "clang"),
            (&["!! go vet ./..."], "go vet"),
            (&["!! pyright"], "pyright"),
            (&["!! ruff check src"], "ruff check"),
            // A chain of checks fails as a whole, until one of them passes or fails alone.
            (
                &["!! cargo build && cargo test"],
                "cargo build && cargo test",
            ),
            (
                &["!! cargo fmt && cargo clippy && cargo test"],
                "cargo clippy && cargo test",
            ),
            (
                &["!! (cd web && npm test) && (cd api && pytest)"],
                "npm test && pytest",
            ),
            (&["!! npm run lint && npm test", "npm test"], ""),
            (
                &[
                    "!! cargo clippy && cargo test",
                    "cargo clippy && cargo test",
                ],
                "",
            ),
            (
                &["!! cargo clippy && cargo test", "!! cargo test"],
                "cargo test",
            ),
            (&["!! make lint test"], "make lint test"),
            (&["!! cargo test", "cargo build && cargo test"], ""),
            // It is known which failed.
            (&["!! cargo clippy; cargo test"], "cargo test"),
            (&["!! cargo clippy\ncargo test"], "cargo test"),
            (
                &["!! set -e\ncargo clippy\ncargo test"],
                "cargo clippy && cargo test",
            ),
            (&["!! cargo test || exit 1"], "cargo test"),
            (&["!! cargo test || { echo broken; exit 1; }"], "cargo test"),
            (&["!! cd web && npm test 2>&1 | tail -5"], "npm test"),
            (&["!! mkdir -p out && echo go && cargo test"], "cargo test"),
            (&["!! timeout 60 cargo test"], "cargo test"),
            (&["!! bash -lc 'cd x && cargo test'"], "cargo test"),
            // It is not known whether it was the check.
            (&["!! cargo test && git push"], ""),
            (&["!! npm install && npm test"], ""),
            (&["!! cargo build && ./target/debug/app"], ""),
            (&["!! npm test 2>&1 | grep FAIL"], ""),
            (&["!! npm test; ls missing"], ""),
            (&["!! ! cargo test"], ""),
            (&["!! if cargo test; then ls; fi"], ""),
            (&["!! for i in 1 2; do cargo test; done"], ""),
            // A pass that nobody can be sure of is enough for silence.
            (&["!! cargo test", "cargo test 2>&1 | tail -3"], ""),
            (&["!! cargo test", "cargo test || true"], ""),
        ] {
            let got = told(commands);
            if got != wanted {
                wrong += &format!("{commands:?}\n  wanted {wanted:?}\n  told   {got:?}\n");
            }
        }
        assert!(wrong.is_empty(), "\n{wrong}");
    }

    /// A command that was refused, broken off, ran out of time or was stopped by the user is as if it had not run.
    #[test]
    fn what_did_not_end_by_itself_neither_failed_nor_passed() {
        let call = |command: &'static str| Call {
            act: Act::Run,
            subjects: std::iter::once(command.into()).collect(),
            ended: true,
            ..Call::default()
        };
        let name = |command: &str| command.to_owned();
        let mut failing = Failing::default();
        failing.ended(&call("cargo test"), true, true, name);
        assert_eq!(failing.newest().next(), None, "refused or out of time");
        failing.ended(&call("cargo test"), true, false, name);
        failing.interrupted();
        assert_eq!(failing.newest().next(), None, "stopped by the user");
        failing.ended(&call("cargo test"), true, false, name);
        failing.ended(&call("cargo test"), false, true, name);
        failing.interrupted();
        assert_eq!(
            failing.newest().collect::<Vec<_>>(),
            ["cargo test"],
            "a run that was broken off is no pass"
        );
    }
}
