//! Which tests, builds and linters are said to fail, by the hook and by `resume`: only those that nothing later makes doubtful.

use crate::support::claude::{calls, prompt};
use crate::support::hook::{REQUEST, told_to};
use crate::support::resume::kinds;
use crate::support::script::Script;
use crate::support::times::ago;
use crate::support::world::{ONE, World};

/// Commands of a session, those that failed with a `!`, and what is said of them: what fails, and the line it stands in.
const SESSIONS: [(&[&str], &str, &str); 12] = [
    (
        &["!golangci-lint run"],
        "golangci-lint run",
        "golangci-lint run",
    ),
    (&["!golangci-lint run", "mise run lint"], "", ""),
    (
        &["!golangci-lint run", "mise run test"],
        "golangci-lint run",
        "golangci-lint run",
    ),
    (&["!cargo build", "cargo test"], "", ""),
    (&["!cargo test", "npm test"], "cargo test", "cargo test"),
    (&["!npm run build", "just ci"], "", ""),
    (
        &["!cargo fmt && cargo clippy && cargo test"],
        "cargo clippy && cargo test",
        "cargo fmt && cargo clippy && cargo test",
    ),
    (&["!npm run lint && npm test", "npm run lint"], "", ""),
    (
        &["!cd api\npython -m py_compile app.py"],
        "python -m py_compile",
        "python -m py_compile app.py",
    ),
    (
        &["!npm run lint; npm test"],
        "npm test",
        "npm run lint; npm test",
    ),
    (&["!npm install && npm test"], "", ""),
    (&["!tsc --noEmit", "git commit -am x"], "", ""),
];

#[test]
fn a_failure_that_is_over_is_not_told() {
    let world = World::new();
    for (number, (commands, fails, line)) in SESSIONS.into_iter().enumerate() {
        let tool = |command: &&str| match command.strip_prefix('!') {
            Some(command) => format!("!Bash {command}"),
            None => format!("Bash {command}"),
        };
        let all: Vec<String> = commands.iter().map(tool).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        world.claude(
            ONE,
            &(prompt(&world.path("work"), &ago(5), REQUEST) + &calls(4, "c1", &all)),
        );
        let told = told_to(&world, &format!("o{number}"));
        let state = told
            .rsplit_once("; ")
            .map(|(_, state)| state)
            .filter(|state| state.ends_with(" fails"));
        assert_eq!(
            state.unwrap_or_default(),
            if fails.is_empty() {
                String::new()
            } else {
                format!("{fails} fails")
            },
            "{told}"
        );
        let start = Script::of(&world).user(REQUEST);
        let script =
            commands
                .iter()
                .fold(start, |script, command| match command.strip_prefix('!') {
                    Some(command) => script.runs(command, true),
                    None => script.runs(command, false),
                });
        let wanted: Vec<(&str, &str)> = [("failing", line)]
            .into_iter()
            .filter(|_| !line.is_empty())
            .collect();
        assert_eq!(kinds(&script.json()), wanted, "{commands:?}");
    }
}
