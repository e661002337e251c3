//! What the name of a script or a target says of its work: `test:unit`, `run_tests.sh`, `make lint`.
//!
//! Only its first word counts, after those that say which one it is: `start:test` starts something. Who runs the
//! script, and how, is for `toolchain`.

use super::Work;
use super::programs::among;
use crate::digest::lexicon::one_of;

const NAMES: [(Work, &str); 5] = [
    (Work::Test, "test tests spec specs pytest jest vitest unittest"),
    (Work::Build, "build compile bundle"),
    (Work::Lint, "lint eslint format fmt typecheck prettier check types tsc clippy"),
    (Work::Deploy, "deploy release publish"),
    (Work::Install, "install setup bootstrap"),
];

/// The work that a script or a target is, by its name.
pub fn named(name: &str) -> Work {
    const WHICH: &str = "run unit integration e2e ci all local quick full";
    let words = || name.split([':', '-', '_', '.', '/']);
    match words().find(|word| !one_of(WHICH, word)).unwrap_or_default() {
        "" if words().any(|word| one_of("unit integration e2e", word)) => Work::Test,
        "type" if name.ends_with("check") => Work::Lint,
        word => among(&NAMES, word).unwrap_or(Work::Other),
    }
}

/// The work of a script that is run by its path.
pub fn executed(path: &str) -> Work {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
    let ours = ["./", "bin/", "script/", "scripts/", "tools/", "dev/", "ci/"].iter().any(|dir| path.starts_with(dir));
    match end {
        "sh" | "bash" | "ps1" | "bat" | "cmd" => named(stem),
        "" if ours => named(stem),
        "py" | "js" | "mjs" | "ts" | "rb" if ours && stem != "test" => named(stem),
        _ => Work::Other,
    }
}
