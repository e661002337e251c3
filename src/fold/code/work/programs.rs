//! Which program does which work, as tables: a program that is missing is a row, or a word in one.
//!
//! What a first argument says counts only for the programs of its row. Programs whose work takes more than that to tell
//! are in `toolchain`.

use super::Work;
use crate::fold::one_of;

/// Programs that do one kind of work.
const PROGRAMS: [(Work, &str); 4] = [
    (
        Work::Test,
        "pytest py.test jest vitest mocha ava rspec phpunit pest paratest ctest nosetests nose2 unittest gotestsum bats \
         cargo-nextest karma jasmine minitest busted pytest-3",
    ),
    (
        Work::Build,
        "tsc webpack rollup esbuild gcc g++ clang clang++ cc c++ rustc javac kotlinc scalac swiftc \
         ghc tsgo py_compile compileall msbuild cmake meson ant swc parcel",
    ),
    (
        Work::Lint,
        "eslint prettier stylelint oxlint biome ruff mypy black isort flake8 pylint pyright shellcheck yamllint \
         markdownlint hadolint clang-format clang-tidy rustfmt gofmt golangci-lint staticcheck ktlint swiftlint tflint \
         rubocop pre-commit vue-tsc svelte-check actionlint basedpyright ty phpstan psalm phpcs cppcheck gosec detekt \
         luacheck sqlfluff knip cspell typos",
    ),
    (Work::Deploy, "ansible-playbook"),
];

/// Programs whose first argument says what they do.
const SUBCOMMANDS: [(&str, Work, &str); 45] = [
    ("cargo", Work::Test, "test t nextest llvm-cov tarpaulin miri"),
    ("cargo", Work::Build, "build b check c doc"),
    ("cargo", Work::Lint, "clippy fmt deny"),
    ("cargo", Work::Install, "install add fetch"),
    ("cargo", Work::Deploy, "publish"),
    ("go", Work::Test, "test"),
    ("go", Work::Build, "build"),
    ("go", Work::Lint, "vet fmt"),
    ("go", Work::Install, "install get mod"),
    ("deno", Work::Test, "test"),
    ("deno", Work::Lint, "lint fmt check"),
    ("deno", Work::Install, "install"),
    (TOOLCHAINS, Work::Test, "test spec"),
    (TOOLCHAINS, Work::Build, "build compile"),
    (TOOLCHAINS, Work::Lint, "analyze format fmt credo"),
    (TOOLCHAINS, Work::Install, "restore pub deps.get"),
    (TOOLCHAINS, Work::Deploy, "publish"),
    (SITES, Work::Test, "test test:unit"),
    (SITES, Work::Build, "build"),
    (SITES, Work::Lint, "lint check"),
    ("playwright rails", Work::Test, "test spec"),
    ("cypress", Work::Test, "run"),
    ("composer", Work::Test, "test"),
    ("composer", Work::Lint, "lint validate"),
    ("buck2 dune pants bazelisk rebar3 wasm-pack", Work::Test, "test runtest eunit ct"),
    ("buck2 dune pants bazelisk rebar3 wasm-pack", Work::Build, "build compile"),
    ("hatch rye", Work::Test, "test"),
    ("rye hatch", Work::Lint, "lint fmt"),
    ("composer", Work::Install, "install require update"),
    (INSTALLERS, Work::Install, "install add sync"),
    ("poetry uv pdm gem", Work::Build, "build"),
    ("poetry uv pdm", Work::Deploy, "publish"),
    ("gem", Work::Deploy, "push"),
    ("kubectl oc", Work::Deploy, "apply rollout"),
    ("helm", Work::Deploy, "install upgrade"),
    ("helm", Work::Lint, "lint"),
    ("terraform tofu terragrunt", Work::Deploy, "apply"),
    ("terraform tofu terragrunt", Work::Lint, "validate fmt"),
    ("pulumi railway", Work::Deploy, "up"),
    ("vercel netlify fly flyctl wrangler", Work::Deploy, "deploy publish --prod"),
    ("serverless sls cdk firebase eb", Work::Deploy, "deploy"),
    ("skaffold", Work::Deploy, "run"),
    ("twine", Work::Deploy, "upload"),
    ("git", Work::Commit, "commit"),
    ("git", Work::Push, "push"),
];

const TOOLCHAINS: &str = "dotnet swift flutter dart mix sbt lein stack cabal bazel xcodebuild zig forge gleam crystal";

const SITES: &str = "ng react-scripts next vite nuxt astro vue-cli-service expo";

const INSTALLERS: &str = "pip pip3 pipx brew apt apt-get dnf yum apk gem conda mamba bundle poetry pipenv uv pdm choco";

/// Programs with their options that take a value.
const VALUED: [(&str, &str); 11] = [
    ("git", "-C -c --git-dir --work-tree"),
    ("cargo", "--manifest-path -Z --config -C --color"),
    ("npm pnpm yarn bun", "--prefix -w --workspace -C --dir --filter -F --cwd"),
    ("make gmake ninja just task", "-C -f -j --directory --file --justfile"),
    ("mvn mvnw", "-pl -f -P --projects --file"),
    ("gradle gradlew", "-x --exclude-task --tests -p -b"),
    ("go", "-C"),
    ("kubectl helm oc", "-n --namespace --context"),
    ("docker docker-compose podman", "-f --file -p"),
    ("turbo nx lerna", "--filter --scope --projects -p"),
    ("xcodebuild", "-scheme -project -workspace -destination -configuration -sdk"),
];

/// What the tables say of a program and its first argument.
pub fn known(name: &str, first: &str) -> Option<Work> {
    let sub = || SUBCOMMANDS.iter().find(|(names, _, subs)| one_of(names, name) && one_of(subs, first));
    among(&PROGRAMS, name).or_else(|| sub().map(|(_, work, _)| *work))
}

/// The work in whose list a word is.
pub fn among(table: &[(Work, &str)], word: &str) -> Option<Work> {
    table.iter().find(|(_, words)| one_of(words, word)).map(|(work, _)| *work)
}

/// The arguments that are no options, and no values of options.
pub fn arguments<'a>(program: &str, all: &[&'a str]) -> Vec<&'a str> {
    let valued = VALUED.iter().find(|(programs, _)| one_of(programs, program)).map_or("", |(_, options)| options);
    let mut found = Vec::new();
    let mut words = all.iter().copied().peekable();
    while let Some(word) = words.next() {
        // `make -j 4 test`, but `make -j test`
        let is_number = |next: &&str| next.bytes().all(|byte| byte.is_ascii_digit());
        if one_of(valued, word) && (word != "-j" || words.peek().is_some_and(is_number)) {
            words.next();
        } else if word == "--prod" || !(word.starts_with('-') || program == "cargo" && word.starts_with('+')) {
            found.push(word);
        }
    }
    found
}
