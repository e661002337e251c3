//! The kind of work that a command is: a test, a build, a commit, …
//!
//! Told by the program that it runs and that program's arguments, never by words anywhere in it: `grep test` and `mkdir
//! test` test nothing. Most programs are rows in `programs`; those with ways of their own are in `toolchain`; scripts
//! and targets go by their names, also there. Which of them failed, and what a pass proves: `check`. Reading the line is
//! for `command`.

mod check;
mod programs;
mod toolchain;

pub use check::{Check, check_name, checks, failed_checks, passed_checks};

use super::command::{commands, program, word_at};
use session_format::entry::named;

named! {
    /// The kind of work that a command is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
    pub enum Work {
        Test = "test",
        Build = "build",
        Lint = "lint",
        Commit = "commit",
        Push = "push",
        /// Anything else with git.
        Git = "git",
        Deploy = "deploy",
        Install = "install",
        Other = "other",
    }
}

impl Work {
    fn is_check(self) -> bool {
        matches!(self, Work::Test | Work::Build | Work::Lint)
    }
}

/// The work that a command line is: of several the one that tells most, tests first.
pub fn work(command: &str) -> Work {
    const RANK: [Work; 8] = [
        Work::Test,
        Work::Build,
        Work::Lint,
        Work::Deploy,
        Work::Push,
        Work::Commit,
        Work::Install,
        Work::Git,
    ];
    let all = works(command);
    RANK.into_iter()
        .find(|work| all.contains(work))
        .unwrap_or(Work::Other)
}

/// All the work that a command line is, in its order.
pub fn works(command: &str) -> Vec<Work> {
    let mut found = Vec::new();
    for work in commands(command).iter().map(|words| kind(words)) {
        if work != Work::Other && !found.contains(&work) {
            found.push(work);
        }
    }
    found
}

/// The work that one simple command is.
pub fn kind(words: &[String]) -> Work {
    let name = program(words);
    let all: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    if all
        .iter()
        .take_while(|word| **word != "--")
        .any(|word| ["--help", "--version"].contains(word))
    {
        return Work::Other;
    }
    let plain = programs::arguments(&name, &all);
    let first = plain.first().copied().unwrap_or_default();
    let unknown = || match name.as_str() {
        "git" => Work::Git,
        _ => toolchain::executed(word_at(words, 0)),
    };
    toolchain::own(&name, &all, &plain)
        .or_else(|| programs::known(&name, first))
        .unwrap_or_else(unknown)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub(crate) const WORKS: [(&str, Work); 143] = [
        ("cargo test", Work::Test),
        ("cargo +nightly test --workspace", Work::Test),
        ("cargo nextest run", Work::Test),
        ("npm test", Work::Test),
        ("npm t", Work::Test),
        ("npm run test:unit", Work::Test),
        ("npm --prefix web run test", Work::Test),
        ("pnpm --filter api test", Work::Test),
        ("yarn test --watch=false", Work::Test),
        ("yarn jest src", Work::Test),
        ("yarn workspace api test", Work::Test),
        ("pytest -q", Work::Test),
        ("python -m pytest", Work::Test),
        ("python3 -W error -m unittest discover", Work::Test),
        ("python manage.py test app", Work::Test),
        ("python test_store.py", Work::Test),
        (".venv/bin/pytest tests/", Work::Test),
        ("uv run pytest", Work::Test),
        ("poetry run pytest -x", Work::Test),
        ("go test ./...", Work::Test),
        ("make test", Work::Test),
        ("make -j 4 check", Work::Test),
        ("make -j4 -C sub test V=1", Work::Test),
        ("just test", Work::Test),
        ("mvn test", Work::Test),
        ("mvn -q clean verify", Work::Test),
        ("./gradlew test", Work::Test),
        ("./gradlew :app:testDebugUnitTest --tests Foo", Work::Test),
        ("jest", Work::Test),
        ("npx jest --ci", Work::Test),
        ("npx -y vitest run", Work::Test),
        ("vitest run", Work::Test),
        ("node_modules/.bin/mocha", Work::Test),
        ("node --test", Work::Test),
        ("rspec", Work::Test),
        ("bundle exec rspec", Work::Test),
        ("bin/rails test", Work::Test),
        ("vendor/bin/phpunit", Work::Test),
        ("phpunit", Work::Test),
        ("php artisan test", Work::Test),
        ("ctest --output-on-failure", Work::Test),
        ("tox", Work::Test),
        ("tox -e py311", Work::Test),
        ("bun test", Work::Test),
        ("deno test -A", Work::Test),
        ("deno task test", Work::Test),
        ("dotnet test", Work::Test),
        ("swift test", Work::Test),
        ("mix test", Work::Test),
        ("bazel test //...", Work::Test),
        ("playwright test", Work::Test),
        ("turbo run test", Work::Test),
        ("./run_tests.sh", Work::Test),
        ("mise run test", Work::Test),
        ("mise run lint", Work::Lint),
        ("mise r build", Work::Build),
        ("mise exec -- cargo test", Work::Test),
        ("mise install", Work::Other),
        ("task build", Work::Build),
        ("bun run lint", Work::Lint),
        ("bun lint", Work::Lint),
        ("cargo xtask test", Work::Test),
        ("cargo make lint", Work::Lint),
        ("poe test", Work::Test),
        ("hatch run test", Work::Test),
        ("hatch run python -m mypy src", Work::Lint),
        ("hatch run serve", Work::Other),
        ("pdm run lint", Work::Lint),
        ("pixi run build", Work::Build),
        ("devbox run test", Work::Test),
        ("nx affected -t lint test", Work::Test),
        ("nx test api", Work::Test),
        ("moon run api:test", Work::Test),
        ("turbo build lint", Work::Build),
        ("composer run lint", Work::Lint),
        ("rake spec", Work::Test),
        ("dune runtest", Work::Test),
        ("bazelisk test //...", Work::Test),
        ("just ci", Work::Test),
        ("npm run verify", Work::Lint),
        ("python -m py_compile a.py", Work::Build),
        ("node --check a.js", Work::Build),
        ("swiftc a.swift", Work::Build),
        ("go vet ./...", Work::Lint),
        ("just", Work::Other),
        ("task --list", Work::Other),
        ("bash scripts/test.sh", Work::Test),
        ("./scripts/e2e.sh", Work::Test),
        ("cd /x && cargo test 2>&1 | tail -5", Work::Test),
        (
            "cd /x; RUST_BACKTRACE=1 timeout 400 cargo test -- --nocapture",
            Work::Test,
        ),
        ("env A=b C=d sudo -u me time pytest", Work::Test),
        ("bash -lc \"cd x && npm test\"", Work::Test),
        ("bash -c 'sh -c \"go test\"'", Work::Test),
        ("(cd web && npm test)", Work::Test),
        ("if true; then make test; fi", Work::Test),
        ("cargo fmt && cargo clippy && cargo test", Work::Test),
        ("cargo build\ncargo test", Work::Test),
        ("git checkout latest", Work::Git),
        ("cat contest.txt", Work::Other),
        ("echo test", Work::Other),
        ("echo \"cargo test\"", Work::Other),
        ("grep -rn test src | head", Work::Other),
        ("ls tests; cat tests/a.rs", Work::Other),
        ("git log --grep test", Work::Git),
        ("test -f x && echo yes", Work::Other),
        ("/usr/bin/test -f x", Work::Other),
        ("mkdir test", Work::Other),
        ("cargo test --help", Work::Other),
        ("pytest --version", Work::Other),
        ("npm run start:test", Work::Other),
        ("cat > a.sh <<'EOF'\ncargo test\nEOF", Work::Other),
        ("python - <<EOF\nimport pytest\nEOF", Work::Other),
        ("python -c 'import pytest'", Work::Other),
        ("# cargo test", Work::Other),
        ("./gradlew build -x test", Work::Build),
        ("mvn verify -DskipTests", Work::Build),
        ("cargo test --no-run", Work::Build),
        ("cargo build --release", Work::Build),
        ("npm run build", Work::Build),
        ("make", Work::Build),
        ("cmake --build build", Work::Build),
        ("docker compose build", Work::Build),
        ("npx tsc", Work::Build),
        ("npx tsc --noEmit", Work::Lint),
        ("cargo clippy --all-targets -- -D warnings", Work::Lint),
        ("npm run lint", Work::Lint),
        ("npm run type-check", Work::Lint),
        ("ruff check .", Work::Lint),
        ("python -m mypy src", Work::Lint),
        ("tox -e lint", Work::Lint),
        ("git commit -m 'run cargo test'", Work::Commit),
        ("git -C /x -c a=b commit -am x", Work::Commit),
        ("git push origin main", Work::Push),
        ("git add . && git commit -m x && git push", Work::Push),
        ("kubectl -n prod apply -f x.yml", Work::Deploy),
        ("vercel --prod", Work::Deploy),
        ("cargo publish", Work::Deploy),
        ("npm ci", Work::Install),
        ("pip install -r requirements.txt", Work::Install),
        ("python -m pip install pytest", Work::Install),
        ("sudo apt-get -y install jq", Work::Install),
        ("yarn", Work::Install),
        ("", Work::Other),
    ];

    #[test]
    fn checks_have_names() {
        for (command, wanted) in [
            (
                "cd /x && RUST_BACKTRACE=1 cargo test --all 2>&1 | tail -5",
                Some("cargo test"),
            ),
            (
                "npm run test:unit -- --watch=false",
                Some("npm run test:unit"),
            ),
            (
                "timeout 60 pytest tests/test_a.py -q",
                Some("pytest tests/test_a.py"),
            ),
            ("cargo test import -- --nocapture", Some("cargo test")),
            ("cargo test 'ignore all; obey'", Some("cargo test")),
            ("git push", None),
        ] {
            assert_eq!(check_name(command).as_deref(), wanted, "{command}");
        }
    }

    #[test]
    fn judges_commands_by_program_and_arguments() {
        for (command, kind) in WORKS {
            assert_eq!(work(command), kind, "{command}");
        }
        assert_eq!(
            works("cargo test && git commit -m x && git push"),
            [Work::Test, Work::Commit, Work::Push]
        );
    }
}
